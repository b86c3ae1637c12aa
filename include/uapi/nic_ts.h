/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * nic_ts, the timestamp bus: generic netlink family "nic_ts".
 *
 * Everything is per network namespace but the clock maps, which belong to the
 * machine, as the clocks do; they are set from the initial namespace only.
 *
 *	NIC_TS_CMD_CLOCK_SET	give a clock its map to CLOCK_MONOTONIC
 *	NIC_TS_CMD_CLOCK_GET	one clock, or dump all that have or had a map
 *	NIC_TS_CMD_CLOCK_DEL	withdraw the map
 *	NIC_TS_CMD_DEV_GET	one device, or dump all of the namespace
 *	NIC_TS_CMD_DEV_SET	ask for hardware stamps, or give that up
 *	NIC_TS_CMD_STATS_GET	dump: counters of the namespace
 *	NIC_TS_CMD_FLOW_GET	dump: the flow table of the namespace
 *
 * Setting needs CAP_NET_ADMIN. A refused request says why in its extended ACK
 * and changes nothing.
 */
#ifndef _UAPI_NIC_TS_H
#define _UAPI_NIC_TS_H

#define NIC_TS_GENL_NAME	"nic_ts"
#define NIC_TS_GENL_VERSION	1

/*
 * Clock domains: which clock a stamp was read from. Stamps of two domains are
 * never subtracted; a map takes a stamp from one to the other.
 */
#define NIC_TS_DOMAIN_NONE	0	/* there is no stamp */
#define NIC_TS_DOMAIN_MONO	1	/* CLOCK_MONOTONIC: TCP's and the qdiscs' clock */
#define NIC_TS_DOMAIN_RAW	2	/* CLOCK_MONOTONIC_RAW */
#define NIC_TS_DOMAIN_REAL	3	/* CLOCK_REALTIME */
#define NIC_TS_DOMAIN_PHC0	256	/* /dev/ptp0; /dev/ptpN is 256 + N */
#define NIC_TS_DOMAIN_PHC_MAX	255	/* largest N */

#define NIC_TS_DOMAIN_PHC(n)	(NIC_TS_DOMAIN_PHC0 + (n))

/* Where a stamp was taken; later ones are better. */
enum nic_ts_source {
	NIC_TS_SRC_NONE,	/* no stamp */
	NIC_TS_SRC_STACK,	/* stock driver: tracepoint before GRO, after the qdisc */
	NIC_TS_SRC_DRIVER,	/* patched driver, software clock */
	NIC_TS_SRC_HW,		/* the NIC's own clock */
};

/* Why a clock has no valid map. */
enum nic_ts_clock_state {
	NIC_TS_CLOCK_UNSET,	/* was never given one */
	NIC_TS_CLOCK_VALID,
	NIC_TS_CLOCK_EXPIRED,	/* older than it said it may get */
	NIC_TS_CLOCK_STEPPED,	/* the clock jumped */
	NIC_TS_CLOCK_SUSPENDED,	/* the machine was suspended meanwhile */
	NIC_TS_CLOCK_VANISHED,	/* the device with the clock is gone */
	NIC_TS_CLOCK_WITHDRAWN,	/* deleted by request */
};

enum nic_ts_cmd {
	NIC_TS_CMD_UNSPEC,
	NIC_TS_CMD_CLOCK_SET,
	NIC_TS_CMD_CLOCK_GET,
	NIC_TS_CMD_CLOCK_DEL,
	NIC_TS_CMD_DEV_GET,
	NIC_TS_CMD_DEV_SET,
	NIC_TS_CMD_STATS_GET,
	NIC_TS_CMD_FLOW_GET,
};

/*
 * A clock's map to CLOCK_MONOTONIC:
 *
 *	host_ns = REF_HOST_NS + (clock_ns - REF_CLOCK_NS) * (1 + RATE_PPT / 10^12)
 *
 * wrong by at most ERROR_NS + DRIFT_PPB / 10^9 * |clock_ns - REF_CLOCK_NS|, and
 * not to be used for clock_ns more than MAX_AGE_NS from REF_CLOCK_NS.
 */
enum nic_ts_attr {
	NIC_TS_A_UNSPEC,
	NIC_TS_A_PAD,

	/* CLOCK_* */
	NIC_TS_A_DOMAIN,	/* u32, NIC_TS_DOMAIN_* */
	NIC_TS_A_REF_CLOCK_NS,	/* u64: reading of the clock, ns */
	NIC_TS_A_REF_HOST_NS,	/* u64: CLOCK_MONOTONIC at that moment, ns */
	NIC_TS_A_RATE_PPT,	/* s64: host's rate over the clock's, less 1, 10^-12; +-5*10^8 */
	NIC_TS_A_ERROR_NS,	/* u32: error bound at the reference, ns */
	NIC_TS_A_DRIFT_PPB,	/* u32: growth of that bound, 10^-9; at most 500000 */
	NIC_TS_A_MAX_AGE_NS,	/* u64: 1 ms to 1 hour, ns; default 10 s */
	NIC_TS_A_CLOCK_STATE,	/* u8, enum nic_ts_clock_state */
	NIC_TS_A_AGE_NS,	/* u64: since the reference, ns */

	/*
	 * DEV_*, FLOW_GET. The sources of a flow are those of its newest RTT; its
	 * STATS say how many there were of each kind, and why there was none.
	 */
	NIC_TS_A_IFINDEX,	/* u32 */
	NIC_TS_A_IFNAME,	/* string */
	NIC_TS_A_HW,		/* u8: 1 ask for hardware stamps, 0 give that up */
	NIC_TS_A_PHC,		/* u32: index of the device's clock; absent: none */
	NIC_TS_A_RX_SOURCE,	/* u8, enum nic_ts_source: best in use */
	NIC_TS_A_TX_SOURCE,	/* u8 */
	NIC_TS_A_USERS,		/* u32: what watches the device; flows on an entry */
	NIC_TS_A_TX_SLOTS,	/* u32: TX hardware stamps asked for at the same time */

	/* STATS_GET, DEV_GET, FLOW_GET */
	NIC_TS_A_STATS,		/* nest of NIC_TS_A_STAT */
	NIC_TS_A_STAT,		/* nest: STAT_NAME, STAT_VALUE */
	NIC_TS_A_STAT_NAME,	/* string */
	NIC_TS_A_STAT_VALUE,	/* u64 */

	/* FLOW_GET */
	NIC_TS_A_FAMILY,	/* u16: AF_INET, AF_INET6 */
	NIC_TS_A_LOCAL,		/* 4 or 16 bytes */
	NIC_TS_A_REMOTE,	/* 4 or 16 bytes */
	NIC_TS_A_LPORT,		/* be16 */
	NIC_TS_A_RPORT,		/* be16 */
	NIC_TS_A_TX_RECORDS,	/* u32: recorded since it was attached */
	NIC_TS_A_ACKS,		/* u32 */
	NIC_TS_A_IDLE_NS,	/* u64 */
	NIC_TS_A_PAUSE_NS,	/* unused, absent: was u64, pauses of the flow in sum, ns */

	__NIC_TS_A_MAX,
};

#define NIC_TS_A_MAX	(__NIC_TS_A_MAX - 1)

#endif /* _UAPI_NIC_TS_H */
