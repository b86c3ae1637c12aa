/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parameters net.or_acker.*: the one place that names them.
 *
 * OR_ACKER_PARAM(id, name, min, max, default, unit, what, source)
 *
 * The sysctl table, the range checks and the tables of the documentation come
 * from this list. A value outside its range is refused and changes nothing.
 */
#ifndef _OR_ACKER_PARAMS_H
#define _OR_ACKER_PARAMS_H

#define OR_ACKER_PARAMS \
OR_ACKER_PARAM(MODE, mode, 0, 1, 0, "subscribed|all", \
	       "receivers of OR-ACKs: subscribers, or all senders of data", \
	       "On-Ramp 4.1 is all") \
OR_ACKER_PARAM(STAMPS, stamps, 0, 1, 0, "software|hardware", \
	       "clock of the timestamps: the host's, or the NIC's where it has one", \
	       "On-Ramp 4.1") \
OR_ACKER_PARAM(ACK_PACKETS, ack_packets, 1, 255, 32, "packets", \
	       "send an OR-ACK after this many packets of a flow", "On-Ramp 4.1: 10") \
OR_ACKER_PARAM(ACK_BYTES, ack_bytes, 1, 16777216, 65536, "bytes", \
	       "or after this many bytes", "one TSO batch; not in the paper") \
OR_ACKER_PARAM(ACK_DELAY, ack_delay_ns, 1000, 10000000, 50000, "ns", \
	       "or when the first unacknowledged one is this old; not from TUN, WireGuard, xfrm", \
	       "T of On-Ramp 5.1; not in the paper") \
OR_ACKER_PARAM(PATH_INTERVAL, path_interval_ns, 0, 1000000000, 10000000, "ns", \
	       "or at once if the sender got none this long; 0: no rule for ends and new paths", \
	       "not in the paper") \
OR_ACKER_PARAM(CLOCK_ERROR, clock_error_ns, 0, 8000000000ULL, 0, "ns", \
	       "error bound of the synchronised clock; 0: not synchronised", \
	       "On-Ramp 7.1") \
OR_ACKER_PARAM(CLOCK_ERROR_FOR, clock_error_s, 0, 86400, 0, "s", \
	       "clock_error_ns counts for this long after it was written; 0: for ever", \
	       "not in the paper") \
OR_ACKER_PARAM(MAX_SUBSCRIBERS, max_subscribers, 1, 1048576, 4096, "subscribers", \
	       "subscribers at most; host limit", "256 bytes each") \
OR_ACKER_PARAM(MAX_FLOWS, max_flows, 1, 4194304, 65536, "flows", \
	       "flows at most; host limit", \
	       "256 bytes each, of the cgroup of the socket") \
OR_ACKER_PARAM(FLOW_AGE, flow_age_s, 1, 3600, 30, "s", \
	       "remove a flow after this long without data", \
	       "it comes back with its next packet") \
OR_ACKER_PARAM(SUBSCRIBER_RATE, subscriber_rate, 1, 10000000, 1000000, "1/s", \
	       "OR-ACKs to one subscriber at most", "8 packets each, 100 Gbit/s") \
OR_ACKER_PARAM(CHALLENGE_RATE, challenge_rate, 1, 10000000, 10000, "1/s", \
	       "CHALLENGEs at most, to all unproven addresses together", \
	       "hosts of a datacenter in a few seconds; not in the paper") \
OR_ACKER_PARAM(CPU_RATE, cpu_rate, 1, 10000000, 1000000, "1/s", \
	       "OR-ACKs from one CPU for this namespace at most; host limit", \
	       "8 packets each, 100 Gbit/s") \
OR_ACKER_PARAM(BUSY_SHARE, busy_share, 0, 65536, 512, "1/n", \
	       "OR-ACKs for batches and own packets: at most 1/n of a busy CPU; 0: no limit", \
	       "not in the paper") \
OR_ACKER_PARAM(FORWARD, forward, 0, 1, 0, "off|on", \
	       "OR-ACKs also about connections that this host translates (NAT): off or on", \
	       "not in the paper") \
OR_ACKER_PARAM(DRAIN, drain, 0, 1, 1, "", \
	       "1: have senders drain their paths now and then, so that they know the empty path", \
	       "not in the paper")

enum or_acker_param_id {
#define OR_ACKER_PARAM(id, name, min, max, def, unit, what, source) OR_ACKER_P_##id,
	OR_ACKER_PARAMS
#undef OR_ACKER_PARAM
	OR_ACKER_P_MAX
};

#endif /* _OR_ACKER_PARAMS_H */
