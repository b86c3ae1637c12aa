# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash disable=SC2034 # for the programs of lib/cc_ecn

# Names of congestion controls; the first one is that of the module.
ccs=(dcqcn mercury)
# The one that counts marks that lowered a rate.
decreases=Cnps
# Parameters with other values than their defaults.
some=(alpha_gain_log2 10 additive_mbit 5 segment_bytes 8192)
# PARAMETER VALUE what the kernel's log says that it expected
refusals="alpha_gain_log2 17 1 to 16
window_packets 65536 0 to 65535, in packets"
# The i-th change of parameters under traffic; also, the lowest rate above the line rate.
writer='echo $((i % 16 + 1)) >alpha_gain_log2
	echo $((i % 2 * 99000000 + 1000)) >min_rate_kbit
	echo $((i % 3 * 1000000 + 1000)) >increase_timer_ns
	echo $((i % 4 * 10000 + 1000)) >byte_counter'
