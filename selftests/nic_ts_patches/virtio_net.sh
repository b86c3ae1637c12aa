#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# The patched driver virtio_net: see wire_lib.sh.
. "$(dirname "$0")/wire_lib.sh"
wire_test virtio_net no-tso
