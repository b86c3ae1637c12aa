/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tcp_lipd: what cc_ecn_types.h makes its types of.
 *
 * lipd_core.h	the laws, integers only
 * lipd_tcp.c	the laws as cc_ecn.h takes them: marks in, pacing rate out
 * lipd_trace.h	tracepoints
 * cc_ecn.h	(include/) all the rest of a congestion control that counts marks
 */
#ifndef _LIPD_H
#define _LIPD_H

#include <linux/types.h>

#include "lipd_params.h"

#define CC_NAME		"lipd"
#define cc_net_id	lipd_net_id

/* Counters of /proc/net/lipd. */
#define CC_STAT_LIST \
	CC_STAT(STARTS, Starts, "flows that sent their first data, at Rmax") \
	CC_STAT(IDLE_RESETS, IdleResets, "flows that started over after idle_reset_ns") \
	CC_STAT(MARKED, PacketsMarked, "acknowledged packets that came with CE") \
	CC_STAT(UNMARKED, PacketsUnmarked, "acknowledged packets that came without CE") \
	CC_STAT(DECREASES, Decreases, "ACKs with marks that counted and lowered a rate") \
	CC_STAT(AT_RMIN, MarkedAtRmin, \
		  "ACKs with marks that counted and found the rate at Rmin") \
	CC_STAT(INCREASES, Increases, "ACKs without marks that raised a rate") \
	CC_STAT(ECHO_CE, PacketsWithCE, "received batches of data with CE, echoed by ECE") \
	CC_STAT(ECHO_NO_CE, PacketsWithoutCE, "received batches of data without CE") \
	CC_STAT(ECHO_FIRST, EchoFirst, \
		  "ACKs sent first, because CE changed while an ACK was delayed") \
	CC_STAT(LOSS_CUTS, LossCuts, \
		  "rates halved by packet loss, at most once per round trip and flow") \
	CC_STAT(TIMEOUT_CUTS, TimeoutCuts, "rates halved by a retransmission timeout") \
	CC_STAT(UNDOS, Undos, "rates restored because TCP found a recovery to be spurious") \
	CC_STAT(UNPACED, PacedByTcp, \
		  "times that packets left before their departure time, and TCP took over pacing") \
	CC_STAT(DEFAULT_LINE, LineRateUnknown, \
		  "starts at the default line rate, because the device reports no speed") \
	CC_STAT(NO_ECN, FallbackNoEcn, "connections without ECN, which run lipd-reno") \
	CC_STAT(MPTCP, FallbackMptcp, "MPTCP subflows, which run lipd-reno")

/* Values of the parameter rates. */
enum lipd_rates {
	LIPD_RATES_CONTINUOUS,
	LIPD_RATES_DISCRETE,
};

/* Values of the parameter departures. */
enum lipd_departures {
	LIPD_DEPARTURES_FIXED,
	LIPD_DEPARTURES_MOVED,
};

/**
 * struct cc_law_conf - the laws' part of a configuration
 * @idle_reset_ns:	idle time after which a flow starts over, ns; 0: never
 * @marks_per_rtt:	marks of a round trip that count; 0: all
 * @levels:		log2 of N
 * @discrete:		rates are of whole delays
 * @moved:		the rate of an ACK applies to the packet that waits for its departure
 */
struct cc_law_conf {
	u64	idle_reset_ns;
	u32	marks_per_rtt;
	u8	levels;
	u8	discrete;
	u8	moved;
};

struct cc_law_net {
};

#include <cc_ecn_types.h>

#endif /* _LIPD_H */
