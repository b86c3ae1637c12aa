/* SPDX-License-Identifier: GPL-2.0 */
/*
 * On-Ramp's closed loop: the cores of sender and receiver as they are, between a model of
 * hosts, wires, clocks and a path, in virtual time.
 *
 *	window of each flow (Reno) -> pause? -> model of the wire, record -> NIC of the
 *	host, with a limit on what it is handed -> FIFO queue of the path, which may stall
 *	-> receiver's clock -> OR-ACK and ACK -> way back, with a queue of its own
 *
 * Batches are the smallest unit. All flows always have data. Nothing here knows what the
 * cores make of it.
 */
#ifndef _ONRAMP_LOOP_H
#define _ONRAMP_LOOP_H

#include <stdint.h>

#include "onramp_core.h"
#include "onramp_drain.h"
#include "onramp_fifo.h"
#include "onramp_owd.h"
#include "onramp_path.h"
#include "onramp_ring.h"
#include "or_acker_core.h"

#define LOOP_HOSTS	32
#define LOOP_FLOWS	64
#define LOOP_WINDOWS	64	/* of goodput */

/**
 * struct loop_net - a scenario; times in ns, rates in bits/s
 * @hosts: that send, each with an address of its own
 * @flows: of each host
 * @start_ns: hosts start to send this long after one another
 * @with: hosts that use On-Ramp, the first ones
 * @link_bps: of the path's queue
 * @nic_bps: of the senders' NICs
 * @says_bps: what they say; 0: unknown
 * @says_late_bps: what they say after @says_until_ns; 0: the same
 * @says_until_ns: see above
 * @nic_ppm: their clocks in relation to the hosts' clocks
 * @warm_ns: at first they send little for this long, so that the path is seen empty
 * @rtt_ns: of the empty path, as long there as back
 * @ecmp_ns: flows of a host have paths that are up to this much longer
 * @route_ns: a route is this much longer, each way,
 * @route_from_ns, @route_to_ns: between these times,
 * @route_flap_ns: every other time of this length; 0: all the time
 * @buffer: bytes
 * @tail: as much as that is sometimes taken by short-lived traffic, uniform, bytes
 * @batch: bytes, at most
 * @rx_ppm: receiver's clock
 * @slew_ppm: how much it is slewed by, in addition,
 * @slew_from_ns, @slew_to_ns: between these times
 * @step_ns: it is stepped by this
 * @step_at_ns: at this time, if not 0
 * @stall_ns: the queue stands still for this time on average,
 * @stall_every_ns: this often on average; 0: never
 * @reverse_ns: the longest queue of the way back, a saw tooth
 * @reverse_period_ns: of the saw tooth
 * @noise_ns: of the receiver's timestamps, up to this
 * @synced: one-way delays are absolute
 * @threshold_ns: T, set by hand; 0: auto
 * @quiet_until_ns: On-Ramp pauses nothing until then
 * @no_drains: the receiver never has its senders drain the path
 * @end_ns: end of the run
 * @off: mode off
 */
struct loop_net {
	int hosts, flows, with;
	double link_bps, nic_bps, says_bps, says_late_bps, says_until_ns, nic_ppm;
	double start_ns, warm_ns, rtt_ns, ecmp_ns;
	double route_ns, route_from_ns, route_to_ns, route_flap_ns;
	double buffer, tail, batch;
	double rx_ppm, slew_ppm, slew_from_ns, slew_to_ns, step_ns, step_at_ns;
	double stall_ns, stall_every_ns;
	double reverse_ns, reverse_period_ns;
	double noise_ns, threshold_ns, quiet_until_ns;
	bool synced, off, no_drains;
	double end_ns;
};

/**
 * struct loop_result - of a run
 * @bytes: of payload, by each host, in each of LOOP_WINDOWS parts of the run
 * @queue_ns: mean delay of batches in the queue, in the second half of the run
 * @lost: batches
 * @paused: decisions
 * @implausible: OR-ACKs that were refused
 * @limited: OR-ACKs whose delay was cut to what the round trip allows
 * @slack: most, ns
 * @returns: ends of pauses that were looked at
 * @empty: those that found an empty queue
 * @proofs: that drains have given
 * @longer: OR-ACKs whose delay was less by what the path has become longer by
 */
struct loop_result {
	double bytes[LOOP_HOSTS][LOOP_WINDOWS];
	double queue_ns;
	double lost, paused, implausible, limited, slack, returns, empty;
	double longer, proofs;
};

void loop_run(const struct loop_net *net, uint64_t seed, struct loop_result *res);

#endif /* _ONRAMP_LOOP_H */
