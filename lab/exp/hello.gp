# SPDX-License-Identifier: GPL-2.0
name = 'load'
title = 'One cubic flow, 10 Gbit/s, fq'
load lab . '/plot.gp'
