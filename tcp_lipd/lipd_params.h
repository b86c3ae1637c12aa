/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters net.ipv4.lipd.*: the one place that names them.
 *
 * CC_PARAM(id, name, min, max, default, unit, what, source)
 *
 * The sysctl table, the range checks and the tables of the documentation come from this
 * list. A value outside its range is refused and changes nothing.
 */
#ifndef _LIPD_PARAMS_H
#define _LIPD_PARAMS_H

#define CC_PARAM_LIST \
CC_PARAM(LINE_RATE, line_rate_mbit, 0, 1600000, 0, "Mbit/s", \
	 "NIC line rate, Rmax of every flow; 0 asks the device, 10000 if it has no speed", \
	 "Santos V") \
CC_PARAM(LEVELS, rate_levels_log2, 1, 12, 8, "", \
	 "log2 of N = Rmax / Rmin", "Santos VI-B: N = 256") \
CC_PARAM(RATES, rates, 0, 1, 0, "continuous|discrete", \
	 "rates between Rmin and Rmax: any, or Rmax / (1 + ipd) with a whole ipd", \
	 "Santos VI-B, figure 6") \
CC_PARAM(DEPARTURES, departures, 0, 1, 0, "fixed|moved", \
	 "delay before the next packet: of the rate when the last one left, or of the newest", \
	 "Santos V-A, condition 3: the next ACK comes 1/r after the change to r") \
CC_PARAM(MARKS, marks_per_rtt, 0, 65535, 1, "packets", \
	 "marked packets of one round trip that count; 0 is all", \
	 "Santos IV-B: a window of 1 has one") \
CC_PARAM(WINDOW, window_packets, 0, 65535, 0, "packets", \
	 "window; 0 is line rate x lowest RTT, and two segments", "Santos IV-B: 1") \
CC_PARAM(SEGMENT, segment_bytes, 536, 524288, 16384, "bytes", \
	 "bytes that leave in one go at Rmax; in proportion less at lower rates", \
	 "TIMELY 6; Santos has one packet") \
CC_PARAM(IDLE_RESET, idle_reset_ns, 0, 10000000000ULL, 100000000, "ns", \
	 "idle time after which a flow starts over at Rmax; 0 is never", \
	 "Santos VI-B.2: state persists")

#endif /* _LIPD_PARAMS_H */
