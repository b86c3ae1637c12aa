/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters net.ipv4.timely.*: the one place that names them.
 *
 * TIMELY_PARAM(id, name, min, max, default, unit, what, source)
 *
 * The sysctl table, the range checks and the tables of the documentation come
 * from this list; "make check" compares the documentation with it. A value
 * outside its range, or one that contradicts another (timely_conf_build() in
 * timely_net.c), is refused and changes nothing.
 */
#ifndef _TIMELY_PARAMS_H
#define _TIMELY_PARAMS_H

#define TIMELY_PARAMS \
TIMELY_PARAM(PROFILE, profile, 0, 1, 0, "auto|paper", \
	     "where the law's parameters come from: the path, or this directory", \
	     "measured; see Profiles") \
TIMELY_PARAM(MODE, mode, 0, 1, 0, "original|patched", \
	     "rate law between Tlow and Thigh", "TIMELY Alg. 1; Zhu et al. Alg. 2") \
TIMELY_PARAM(LINE_RATE, line_rate_mbit, 0, 1600000, 0, "Mbit/s", \
	     "NIC line rate, cap of every flow; 0 asks the device, 10000 at first if it has no " \
	     "speed", \
	     "TIMELY 5") \
TIMELY_PARAM(T_LOW, t_low_ns, 0, 10000000000ULL, 50000, "ns", \
	     "Tlow at 16 KB segments, larger ones scale it up", "TIMELY 4.3, 6") \
TIMELY_PARAM(T_HIGH, t_high_ns, 0, 10000000000ULL, 500000, "ns", \
	     "Thigh", "TIMELY 4.3, 6") \
TIMELY_PARAM(MIN_RTT, min_rtt_ns, 1000, 10000000000ULL, 20000, "ns", \
	     "minRTT, normalises the gradient and scales updates", "TIMELY 4.3, 5") \
TIMELY_PARAM(RTT_FLOOR, rtt_floor_ns, 0, 10000000000ULL, 1000, "ns", \
	     "shorter samples count as this: no queue", "no path is shorter") \
TIMELY_PARAM(DELTA, delta_kbit, 1, 100000000, 10000, "kbit/s", \
	     "additive step delta", "TIMELY 6") \
TIMELY_PARAM(MIN_RATE, min_rate_kbit, 8, 100000000, 10000, "kbit/s", \
	     "rate floor of a flow", "one step of delta; not in the paper") \
TIMELY_PARAM(ALPHA, alpha_permille, 1, 1000, 125, "1/1000", \
	     "EWMA weight of the newest RTT difference", "measured; not stated in TIMELY") \
TIMELY_PARAM(BETA, beta_permille, 1, 1000, 800, "1/1000", \
	     "multiplicative decrease beta", "TIMELY 6") \
TIMELY_PARAM(BETA_PATCHED, beta_patched_permille, 1, 1000, 8, "1/1000", \
	     "beta between Tlow and Thigh in patched mode", "Zhu et al.") \
TIMELY_PARAM(HAI_THRESH, hai_thresh, 1, 255, 5, "completions", \
	     "negative gradients in a row that start hyperactive increase", "TIMELY Alg. 1") \
TIMELY_PARAM(HAI_FACTOR, hai_factor, 1, 100, 5, "", \
	     "N, steps per update in hyperactive increase", "TIMELY Alg. 1") \
TIMELY_PARAM(SEGMENT, segment_bytes, 536, 524288, 16384, "bytes", \
	     "segment, in whole pairs of packets: unit of pacing and of RTT samples", "TIMELY 6") \
TIMELY_PARAM(MAX_OUTSTANDING, max_outstanding_bytes, 0, 1073741824, 0, "bytes", \
	     "limit on outstanding data; 0 is line rate x 2 Thigh", "TIMELY 3.3") \
TIMELY_PARAM(APP_LIMITED, app_limited_percent, 0, 100, 80, "%", \
	     "target rises only for a flow that sends at least this share of it", "TIMELY 5") \
TIMELY_PARAM(LOSS_BETA, loss_beta_permille, 0, 1000, 500, "1/1000", \
	     "share of the rate that a timeout takes, and a loss at most", \
	     "TCP fallback, not in the paper") \
TIMELY_PARAM(IDLE_RESTART, idle_restart_ns, 0, 10000000000ULL, 10000000, "ns", \
	     "idle time after which a flow starts over at C/(N+1) at most; 0 is never", \
	     "20 x Thigh; not in the paper") \
TIMELY_PARAM(RTT_SOURCE, rtt_source, 0, 1, 0, "auto|tcp", \
	     "clock of RTTs: nic_ts where it has timestamps, or always TCP's own", \
	     "TIMELY 3.1, 5") \
TIMELY_PARAM(SIGNAL, signal, 0, 1, 0, "rtt|owd", \
	     "what counts as a queue: the RTT above D, or the delay that On-Ramp knows of the way " \
	     "there", \
	     "measured; see Signal") \
TIMELY_PARAM(RX_WAIT, rx_wait_ns, 0, 1000000, 0, "ns", \
	     "profile auto: how much longer waiting interrupts make an RTT; 0 asks the device", \
	     "measured; see Profiles") \
TIMELY_PARAM(PACING, pacing, 0, 1, 1, "qdisc|tcp", \
	     "pacing by the qdisc, at the rate at handover; or by TCP, at the newest rate", \
	     "TIMELY 5; measured")

#endif /* _TIMELY_PARAMS_H */
