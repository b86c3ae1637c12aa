/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters net.ipv4.dcqcn.*: the one place that names them.
 *
 * CC_PARAM(id, name, min, max, default, unit, what, source)
 *
 * The sysctl table, the range checks and the tables of the documentation come from this
 * list. A value outside its range is refused and changes nothing.
 */
#ifndef _DCQCN_PARAMS_H
#define _DCQCN_PARAMS_H

#define CC_PARAM_LIST \
CC_PARAM(LINE_RATE, line_rate_mbit, 0, 1600000, 0, "Mbit/s", \
	 "NIC line rate, where flows start; 0 asks the device, 10000 if it has no speed", \
	 "DCQCN 3.1") \
CC_PARAM(MIN_RATE, min_rate_kbit, 100, 100000000, 10000, "kbit/s", \
	 "lowest rate of a flow", "choice") \
CC_PARAM(CNP, cnp_interval_ns, 0, 1000000000, 50000, "ns", \
	 "time after a CNP in which marks do not count; 0 counts each ACK with marks", \
	 "DCQCN 3.1: N = 50 us") \
CC_PARAM(G, alpha_gain_log2, 1, 16, 8, "", \
	 "-log2 of g, the gain of alpha", "DCQCN 5.2: g = 1/256") \
CC_PARAM(ALPHA, alpha_timer_ns, 1000, 1000000000, 55000, "ns", \
	 "time without a CNP after which alpha falls", "DCQCN 3.1: K = 55 us") \
CC_PARAM(TIMER, increase_timer_ns, 1000, 1000000000, 55000, "ns", \
	 "increase timer", "DCQCN 5.2: 55 us") \
CC_PARAM(BYTES, byte_counter, 1000, 1000000000, 10000000, "bytes", \
	 "bytes sent from one increase to the next", "DCQCN 5.2: 10 MB") \
CC_PARAM(STAGES, recovery_stages, 1, 100, 5, "", \
	 "F, fast recoveries before the target rate rises", \
	 "DCQCN 3.1: F = 5") \
CC_PARAM(AI, additive_mbit, 1, 100000, 40, "Mbit/s", \
	 "R_AI, step of the target rate in additive increase", "DCQCN 3.1: 40") \
CC_PARAM(HAI, hyper_mbit, 1, 100000, 200, "Mbit/s", \
	 "R_HAI, step of the target rate in hyper increase", "Mercury; QCN") \
CC_PARAM(WINDOW, window_packets, 0, 65535, 0, "packets", \
	 "window; 0 is none", "DCQCN has none") \
CC_PARAM(BASE_RTT, base_rtt_ns, 0, 1000000000, 0, "ns", \
	 "mercury: RTT of an idle path, for the window without a CNP; 0: none then", \
	 "Mercury, algorithm 2") \
CC_PARAM(SEGMENT, segment_bytes, 536, 524288, 16384, "bytes", \
	 "bytes that leave in one go at the line rate; in proportion less at lower rates", \
	 "TIMELY 6; a NIC has one packet")

#endif /* _DCQCN_PARAMS_H */
