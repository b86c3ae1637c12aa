# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # for the programs of lib/cc_ecn

# Names of congestion controls; the first one is that of the module.
ccs=(lipd fimd ibaimd)
# The one that counts marks that lowered a rate.
decreases=Decreases
# Parameters with other values than their defaults.
some=(rate_levels_log2 10 rates discrete segment_bytes 8192)
# PARAMETER VALUE what the kernel's log says that it expected
refusals="rate_levels_log2 13 1 to 12
window_packets 65536 0 to 65535, in packets
rates any continuous or discrete"
# The i-th change of parameters under traffic: N becomes less in mid-flow.
writer='echo $((i % 12 + 1)) >rate_levels_log2
	[ $((i % 2)) = 1 ] && echo discrete >rates || echo continuous >rates'
