# SPDX-License-Identifier: GPL-2.0
name = 'load'
title = 'Four timely flows, 10 Gbit/s, fq'
load lab . '/plot.gp'
