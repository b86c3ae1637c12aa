/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * Generic netlink family "onramp": what On-Ramp's modules know, for tools that show it.
 *
 *	ONRAMP_CMD_INFO_GET	the interface and the modules behind it; no privilege
 *	ONRAMP_CMD_STATS_GET	dump: counters of each module in this namespace; no privilege
 *	ONRAMP_CMD_PATH_GET	sch_onramp: one peer, or dump them
 *	ONRAMP_CMD_CONN_GET	sch_onramp: one connection, or dump them
 *	ONRAMP_CMD_SUB_GET	or_acker: one subscriber, or dump them
 *	ONRAMP_CMD_PATH_NTF	event of a peer: group ONRAMP_MCGRP_EVENTS
 *	ONRAMP_CMD_DEV_NTF	event of a device: the same group
 *	ONRAMP_CMD_PATH_SEED	sch_onramp: tell the baseline of one peer that it does not know
 *
 * PATH, CONN, SUB and the group take CAP_NET_ADMIN in the user namespace that owns the network
 * namespace. PATH_SEED alone changes anything. All is of the socket's own network namespace.
 *
 * One object: name it by its addresses, and a connection by its ports too. Dump: the same
 * attributes are filters. An address alone has to be equal; with *_PREFIX that many of its first
 * bits have to.
 *
 * or_port has the family. A command whose module is not loaded fails with EOPNOTSUPP.
 * Numbers, names and units stay. Commands, attributes and features are added at the end, and
 * readers skip those that they do not know. Documentation/netlink/specs/onramp.yaml has the same
 * in YAML, Documentation/netlink.md in words.
 *
 * Integers in the byte order of the host, except for ports. An attribute is absent if its value
 * is not known.
 */
#ifndef _UAPI_ONRAMP_GENL_H
#define _UAPI_ONRAMP_GENL_H

#define ONRAMP_GENL_NAME	"onramp"
#define ONRAMP_GENL_VERSION	1
#define ONRAMP_MCGRP_EVENTS	"events"

enum onramp_genl_cmd {
	ONRAMP_CMD_UNSPEC,
	ONRAMP_CMD_INFO_GET,
	ONRAMP_CMD_STATS_GET,
	ONRAMP_CMD_PATH_GET,
	ONRAMP_CMD_CONN_GET,
	ONRAMP_CMD_SUB_GET,
	ONRAMP_CMD_PATH_NTF,
	ONRAMP_CMD_DEV_NTF,
	ONRAMP_CMD_PATH_SEED,

	__ONRAMP_CMD_MAX,
};

#define ONRAMP_CMD_MAX		(__ONRAMP_CMD_MAX - 1)

/* Does the peer send OR-ACKs? As in /proc/net/onramp_peers. */
enum onramp_path_state {
	ONRAMP_PATH_ASKED,	/* "asked": it never sent a message with the right tag yet */
	ONRAMP_PATH_SUBSCRIBED,	/* "subscribed": it did */
	ONRAMP_PATH_SILENT,	/* "silent": no answer to the last SUBSCRIBEs; no pauses */
};

/* States of the estimate of the empty path's delay, with owd relative. */
enum onramp_baseline_state {
	ONRAMP_BASELINE_UNKNOWN,	/* no OR-ACK yet */
	ONRAMP_BASELINE_LEARNING,	/* too few OR-ACKs: no pauses */
	ONRAMP_BASELINE_UNSUPPORTED,	/* the lowest delay so far */
	ONRAMP_BASELINE_SUPPORTED,	/* enough packets found the queue empty */
	ONRAMP_BASELINE_LOST,		/* none did for 10 s: the lowest delay since */
	ONRAMP_BASELINE_SEEDED,		/* told by PATH_SEED, since none of the others was known */
};

/* How the RTT of an empty path is known. */
enum onramp_empty_how {
	ONRAMP_EMPTY_SEEN,	/* measured, with the queue of that moment */
	ONRAMP_EMPTY_PROOF,	/* a drain showed it */
	ONRAMP_EMPTY_CHANGED,	/* a sender noticed that the route is longer than before */
};

/* Where an RTT begins and ends. */
enum onramp_empty_kind {
	ONRAMP_EMPTY_TCP,	/* by TCP's clock, from socket to socket */
	ONRAMP_EMPTY_OR_ACK,	/* from the sender's qdisc to its OR-ACK */
};

/* Rare events. */
enum onramp_event {
	ONRAMP_EVENT_UNSPEC,
	ONRAMP_EVENT_SILENT,		/* path: the last SUBSCRIBEs had no answer */
	ONRAMP_EVENT_HEARD,		/* path: the first OR-ACK, or the first after silence */
	ONRAMP_EVENT_LEARNED,		/* path: its baseline is known now */
	ONRAMP_EVENT_SUPPORT_LOST,	/* path: its baseline had no support for 10 s */
	ONRAMP_EVENT_MAP_LOST,		/* device: no valid map of the NIC's clock, clock nic */
};

/* Bits of ONRAMP_A_INFO_FEATURES. */
#define ONRAMP_FEATURE_PATH_P99		0x1	/* ONRAMP_A_PATH_OWD_P99_NS */
#define ONRAMP_FEATURE_CONN_VERDICTS	0x2	/* ONRAMP_A_CONN_VERDICTS */
#define ONRAMP_FEATURE_EVENTS		0x4	/* ONRAMP_MCGRP_EVENTS */
#define ONRAMP_FEATURE_SEEDS		0x8	/* ONRAMP_CMD_PATH_SEED, and what it needs */

/* INFO_GET; STATS_GET has the module's nest, with counters */
enum onramp_info_attr {
	ONRAMP_A_INFO_UNSPEC,
	ONRAMP_A_INFO_PAD,
	ONRAMP_A_INFO_INTERFACE,	/* u32: ONRAMP_GENL_VERSION of the module */
	ONRAMP_A_INFO_FEATURES,		/* u64: ONRAMP_FEATURE_* */
	ONRAMP_A_INFO_PORT,		/* u16: UDP port of the OR protocol */
	ONRAMP_A_INFO_PORT_OPEN,	/* u8: 1 the port is open in this namespace */
	ONRAMP_A_INFO_PROTOCOL,		/* u8: version of the OR protocol */
	ONRAMP_A_INFO_MODULE,		/* nest, one for each module: ONRAMP_A_MODULE_* */

	__ONRAMP_A_INFO_MAX,
};

#define ONRAMP_A_INFO_MAX	(__ONRAMP_A_INFO_MAX - 1)

enum onramp_module_attr {
	ONRAMP_A_MODULE_UNSPEC,
	ONRAMP_A_MODULE_PAD,
	ONRAMP_A_MODULE_NAME,		/* string: or_port, sch_onramp, or_acker */
	ONRAMP_A_MODULE_VERSION,	/* string: as modinfo shows it */
	ONRAMP_A_MODULE_STATS,		/* nest of ONRAMP_A_MODULE_STAT; STATS_GET only */
	ONRAMP_A_MODULE_STAT,		/* nest: STAT_NAME, STAT_VALUE */
	ONRAMP_A_MODULE_STAT_NAME,	/* string */
	ONRAMP_A_MODULE_STAT_VALUE,	/* u64 */

	__ONRAMP_A_MODULE_MAX,
};

#define ONRAMP_A_MODULE_MAX	(__ONRAMP_A_MODULE_MAX - 1)

/* PATH_GET, PATH_SEED, PATH_NTF, DEV_NTF */
enum onramp_path_attr {
	ONRAMP_A_PATH_UNSPEC,
	ONRAMP_A_PATH_PAD,

	/* The name of a path; in a dump filters. */
	ONRAMP_A_PATH_FAMILY,		/* u16: AF_INET, AF_INET6 */
	ONRAMP_A_PATH_LOCAL,		/* 4 or 16 bytes */
	ONRAMP_A_PATH_REMOTE,		/* 4 or 16 bytes */
	ONRAMP_A_PATH_SCOPE,		/* u32: device of a link-local address */
	ONRAMP_A_PATH_LOCAL_PREFIX,	/* u8, requests: bits of LOCAL */
	ONRAMP_A_PATH_REMOTE_PREFIX,	/* u8, requests: bits of REMOTE */

	ONRAMP_A_PATH_STATE,		/* u8, enum onramp_path_state; in a dump a filter */
	ONRAMP_A_PATH_CONNECTIONS,	/* u32: connections that On-Ramp follows */
	ONRAMP_A_PATH_RTT_US,		/* u32: shortest RTT of these when they began, us */
	ONRAMP_A_PATH_UNANSWERED,	/* u32: SUBSCRIBEs since the last OR-ACK */
	ONRAMP_A_PATH_HEARD_MS,		/* u64: since the last message with the right tag, ms */

	/* Counters, since the peer was added. */
	ONRAMP_A_PATH_ACKS,		/* u64: OR-ACKs with the right tag */
	ONRAMP_A_PATH_ACKS_COUNTED,	/* u64: of those, with a delay that a decision used */
	ONRAMP_A_PATH_PAUSED_NS,	/* u64: sum of the pauses of all connections, ns */

	/* The OR-ACK of the packet that left last, even if it came too late for a decision. */
	ONRAMP_A_PATH_OWD_NS,		/* u64: delay above the empty path, or synced: delay, ns */
	ONRAMP_A_PATH_OWD_AGE_NS,	/* u64: since it came, ns */
	ONRAMP_A_PATH_OWD_ERROR_NS,	/* u64: error bound of the delay, ns */
	ONRAMP_A_PATH_THRESHOLD_NS,	/* u64: T, with error and slack, ns */
	ONRAMP_A_PATH_SLACK_NS,		/* u64: slack, a part of the threshold, ns */
	ONRAMP_A_PATH_SWING_NS,		/* unused, absent: was u64, a part of the threshold, ns */
	ONRAMP_A_PATH_COEXIST_SHARE,	/* u32: share by which pauses are shorter, millionths */

	/* The last 16,000 to 32,000 OR-ACKs that a decision used. OWD_NS may be above P99. */
	ONRAMP_A_PATH_OWD_P50_NS,	/* u64: median of their delays, in steps of a quarter, ns */
	ONRAMP_A_PATH_OWD_P99_NS,	/* u64: 99th percentile likewise, ns */

	ONRAMP_A_PATH_BASELINE,		/* u8, enum onramp_baseline_state; absent with owd synced */
	ONRAMP_A_PATH_OWD_BASELINE_NS,	/* s64: baseline, with the offset of the clocks, ns */
	ONRAMP_A_PATH_LINE_RATE,	/* u64: of the link to it, bytes/s */

	/* PATH_NTF, DEV_NTF */
	ONRAMP_A_PATH_EVENT,		/* u8, enum onramp_event */
	ONRAMP_A_PATH_TIME_NS,		/* u64: CLOCK_MONOTONIC of the event, ns */
	ONRAMP_A_PATH_IFINDEX,		/* u32: DEV_NTF, the device */

	/* Since a drain has shown the empty path; absent: none has. */
	ONRAMP_A_PATH_PROOF_AGE_NS,	/* u64: ns */

	/* The RTT of the empty path that or_port keeps for as long as the route; absent: none. */
	ONRAMP_A_PATH_EMPTY_RTT_NS,	/* u32: the lower one of both kinds, ns */
	ONRAMP_A_PATH_EMPTY_ERROR_NS,	/* u32: it may be too low by this, ns */
	ONRAMP_A_PATH_EMPTY_AGE_NS,	/* u64: since an RTT was within 1/8 of it, ns */
	ONRAMP_A_PATH_EMPTY_HOW,	/* u8, enum onramp_empty_how */
	ONRAMP_A_PATH_EMPTY_KIND,	/* u8, enum onramp_empty_kind */
	ONRAMP_A_PATH_EMPTY_LONGER,	/* u32: how often a longer RTT replaced it */
	ONRAMP_A_PATH_EMPTY_SHORTER,	/* u32: how often one shorter by more than 1/8 did */

	/*
	 * The baseline, a line: rx - tx of the empty path, by the receiver's clock and
	 * CLOCK_MONOTONIC. PATH_SEED takes the first five and the last one, all of them. Absent
	 * while no OR-ACK with a delay has come.
	 */
	ONRAMP_A_PATH_DOMAIN,		/* u8: of the receiver's clock */
	ONRAMP_A_PATH_BASELINE_NS,	/* s64: at BASELINE_AT_NS, ns */
	ONRAMP_A_PATH_BASELINE_AT_NS,	/* u64: CLOCK_MONOTONIC, ns */
	ONRAMP_A_PATH_BASELINE_SLOPE,	/* s32: its growth in 2^32 ns, ns */
	ONRAMP_A_PATH_BASELINE_ERROR_NS, /* u64: it may be too low by this, ns */
	ONRAMP_A_PATH_SUPPORT_AGE_NS,	/* u64: since it had support, ns; absent: it never had */
	ONRAMP_A_PATH_PAYLOAD,		/* u32: of the packets that it is of, bytes */
	ONRAMP_A_PATH_SEED_LEFT_NS,	/* u64: until the seed expires, ns; absent: no seed */
	ONRAMP_A_PATH_BASELINE_LEAST_NS, /* s64: no baseline is below that at BASELINE_AT_NS, ns */

	ONRAMP_A_PATH_SLOW_RATE,	/* u64: of a slow path, bytes/s; absent: not known as one */

	__ONRAMP_A_PATH_MAX,
};

#define ONRAMP_A_PATH_MAX	(__ONRAMP_A_PATH_MAX - 1)

/* CONN_GET */
enum onramp_conn_attr {
	ONRAMP_A_CONN_UNSPEC,
	ONRAMP_A_CONN_PAD,

	/* The name of a connection; in a dump filters. */
	ONRAMP_A_CONN_FAMILY,		/* u16: AF_INET, AF_INET6 */
	ONRAMP_A_CONN_LOCAL,		/* 4 or 16 bytes */
	ONRAMP_A_CONN_REMOTE,		/* 4 or 16 bytes */
	ONRAMP_A_CONN_SCOPE,		/* u32: device of a link-local address */
	ONRAMP_A_CONN_LOCAL_PREFIX,	/* u8, requests: bits of LOCAL */
	ONRAMP_A_CONN_REMOTE_PREFIX,	/* u8, requests: bits of REMOTE */
	ONRAMP_A_CONN_LPORT,		/* be16 */
	ONRAMP_A_CONN_RPORT,		/* be16 */

	ONRAMP_A_CONN_IFINDEX,		/* u32: device of the qdisc that sent last; a filter */

	/* The controller. */
	ONRAMP_A_CONN_PAUSE_LEFT_NS,	/* u64: t_next_pkt - now, ns; 0: no pause */
	ONRAMP_A_CONN_WAITING,		/* u8: 1 packets wait for the end of the pause */
	ONRAMP_A_CONN_BETA,		/* u32: effect of a pause on the delay, millionths */
	ONRAMP_A_CONN_OWD_NS,		/* u64: delay of its last OR-ACK that was counted, ns */
	ONRAMP_A_CONN_ACKED_MS,		/* u64: since its last OR-ACK or its begin, ms */
	ONRAMP_A_CONN_SENT_NS,		/* u64: since data last left, ns; absent: none has */

	/* Counters, since On-Ramp follows it. */
	ONRAMP_A_CONN_PAUSES,		/* u64 */
	ONRAMP_A_CONN_PAUSED_NS,	/* u64: sum of their lengths so far, ns */
	ONRAMP_A_CONN_VERDICTS,		/* nest of ONRAMP_A_VERDICT_*: its OR-ACKs by verdict */

	/* Its transmission records. */
	ONRAMP_A_CONN_MSS,		/* u32: payload of full packets, bytes */
	ONRAMP_A_CONN_LINE_RATE,	/* u64: of the link that they are for, bytes/s */
	ONRAMP_A_CONN_RECORDS,		/* u32 */

	__ONRAMP_A_CONN_MAX,
};

#define ONRAMP_A_CONN_MAX	(__ONRAMP_A_CONN_MAX - 1)

/* u64 each; those that are 0 are absent. Named as the statistics acks_* of tc -s. */
enum onramp_verdict_attr {
	ONRAMP_A_VERDICT_UNSPEC,
	ONRAMP_A_VERDICT_PAD,
	ONRAMP_A_VERDICT_BELOW,
	ONRAMP_A_VERDICT_PAUSED,
	ONRAMP_A_VERDICT_CAPPED,
	ONRAMP_A_VERDICT_PROGRESS,
	ONRAMP_A_VERDICT_OFF,
	ONRAMP_A_VERDICT_STALE,
	ONRAMP_A_VERDICT_DUPLICATE,
	ONRAMP_A_VERDICT_IMPLAUSIBLE,
	ONRAMP_A_VERDICT_LEARNING,
	ONRAMP_A_VERDICT_UNSYNCED,
	ONRAMP_A_VERDICT_NO_MAP,
	ONRAMP_A_VERDICT_NOT_IN_FLIGHT,
	ONRAMP_A_VERDICT_AMBIGUOUS,
	ONRAMP_A_VERDICT_REPLAY,
	ONRAMP_A_VERDICT_OLD,

	__ONRAMP_A_VERDICT_MAX,
};

#define ONRAMP_A_VERDICT_MAX	(__ONRAMP_A_VERDICT_MAX - 1)

/* SUB_GET */
enum onramp_sub_attr {
	ONRAMP_A_SUB_UNSPEC,
	ONRAMP_A_SUB_PAD,

	/* The name of a subscriber; in a dump filters. */
	ONRAMP_A_SUB_FAMILY,		/* u16: AF_INET, AF_INET6 */
	ONRAMP_A_SUB_LOCAL,		/* 4 or 16 bytes */
	ONRAMP_A_SUB_REMOTE,		/* 4 or 16 bytes */
	ONRAMP_A_SUB_SCOPE,		/* u32: device of a link-local address */
	ONRAMP_A_SUB_LOCAL_PREFIX,	/* u8, requests: bits of LOCAL */
	ONRAMP_A_SUB_REMOTE_PREFIX,	/* u8, requests: bits of REMOTE */

	ONRAMP_A_SUB_IFINDEX,		/* u32: device that its SUBSCRIBE came in on; a filter */
	ONRAMP_A_SUB_CAPS,		/* u16: OR_CAP_* of its SUBSCRIBE */
	ONRAMP_A_SUB_LIFETIME_S,	/* u64: seconds left; absent: no subscription, mode all */
	ONRAMP_A_SUB_FLOWS,		/* u32: connections with data from it */
	ONRAMP_A_SUB_ACKED_NS,		/* u64: since the last OR-ACK to it, ns */
	ONRAMP_A_SUB_ACKS,		/* u64: OR-ACKs to it, since it was added */

	/* The clock of the timestamps in these; absent: that of a NIC, or none was sent. */
	ONRAMP_A_SUB_DOMAIN,		/* u8: its domain */
	ONRAMP_A_SUB_CLOCK_NS,		/* s64: it less CLOCK_MONOTONIC, ns */
	ONRAMP_A_SUB_PHC_NS,		/* s64: it less the NIC's clock that it is by, ns */

	__ONRAMP_A_SUB_MAX,
};

#define ONRAMP_A_SUB_MAX	(__ONRAMP_A_SUB_MAX - 1)

/* Names of 0.1.0, for one release. */
#define ONRAMP_CMD_FLOW_GET		ONRAMP_CMD_CONN_GET
#define ONRAMP_FEATURE_FLOW_VERDICTS	0x2
#define ONRAMP_A_PATH_LET_GO		ONRAMP_A_PATH_COEXIST_SHARE
#define ONRAMP_A_FLOW_UNSPEC		ONRAMP_A_CONN_UNSPEC
#define ONRAMP_A_FLOW_PAD		ONRAMP_A_CONN_PAD
#define ONRAMP_A_FLOW_FAMILY		ONRAMP_A_CONN_FAMILY
#define ONRAMP_A_FLOW_LOCAL		ONRAMP_A_CONN_LOCAL
#define ONRAMP_A_FLOW_REMOTE		ONRAMP_A_CONN_REMOTE
#define ONRAMP_A_FLOW_SCOPE		ONRAMP_A_CONN_SCOPE
#define ONRAMP_A_FLOW_LOCAL_PREFIX	ONRAMP_A_CONN_LOCAL_PREFIX
#define ONRAMP_A_FLOW_REMOTE_PREFIX	ONRAMP_A_CONN_REMOTE_PREFIX
#define ONRAMP_A_FLOW_LPORT		ONRAMP_A_CONN_LPORT
#define ONRAMP_A_FLOW_RPORT		ONRAMP_A_CONN_RPORT
#define ONRAMP_A_FLOW_IFINDEX		ONRAMP_A_CONN_IFINDEX
#define ONRAMP_A_FLOW_PAUSE_LEFT_NS	ONRAMP_A_CONN_PAUSE_LEFT_NS
#define ONRAMP_A_FLOW_WAITING		ONRAMP_A_CONN_WAITING
#define ONRAMP_A_FLOW_BETA		ONRAMP_A_CONN_BETA
#define ONRAMP_A_FLOW_OWD_NS		ONRAMP_A_CONN_OWD_NS
#define ONRAMP_A_FLOW_ACKED_MS		ONRAMP_A_CONN_ACKED_MS
#define ONRAMP_A_FLOW_SENT_NS		ONRAMP_A_CONN_SENT_NS
#define ONRAMP_A_FLOW_PAUSES		ONRAMP_A_CONN_PAUSES
#define ONRAMP_A_FLOW_PAUSED_NS		ONRAMP_A_CONN_PAUSED_NS
#define ONRAMP_A_FLOW_VERDICTS		ONRAMP_A_CONN_VERDICTS
#define ONRAMP_A_FLOW_MSS		ONRAMP_A_CONN_MSS
#define ONRAMP_A_FLOW_LINE_RATE		ONRAMP_A_CONN_LINE_RATE
#define ONRAMP_A_FLOW_RECORDS		ONRAMP_A_CONN_RECORDS
#define ONRAMP_A_FLOW_MAX		ONRAMP_A_CONN_MAX

#endif /* _UAPI_ONRAMP_GENL_H */
