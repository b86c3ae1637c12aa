/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An ideal star, in closed loop with timely_auto.h: what the law does, and no host.
 *
 * Flows on hosts send through one port. A FIFO for each host and one for the port, packet
 * by packet, with exact departures at the newest rate. Packets that a full buffer would drop
 * are counted, and delivered all the same.
 */
#ifndef _TIMELY_STAR_H
#define _TIMELY_STAR_H

#include <stdbool.h>

#define STAR_FLOWS_MAX	1024

/**
 * struct star - a case
 * @host_bit_s:	rate of the hosts
 * @port_bit_s:	rate of the port
 * @flows:	how many, 1 to STAR_FLOWS_MAX
 * @hosts:	on how many hosts
 * @base_us:	RTT without queues and without serialisation
 * @base2_us:	the same of the second half of the flows, if it is not 0
 * @segment:	largest segment, bytes
 * @noise_us:	an RTT is longer by a random time, up to that
 * @spike_us:	and a part of them by this
 * @spikes:	that part, 0 to 1
 * @irq_us:	NICs of both ends wait that long before an interrupt, and it is what W is set from
 * @acks_us:	ACKs wait behind data in the other direction, for a random time of half of that to
 *		all of it
 * @burst:	bytes that others send at the hosts' rate to the port, again and again
 * @burst_s:	mean time from one burst to the next, of a Poisson process
 * @gaps:	the receiver acknowledges each second packet, and flows see how far apart these left
 * @at_once:	all flows start at once; else they begin at their fair share
 * @known:	flows know the RTT of the empty path, as they do if they start at once
 * @joiners:	so many of the flows start at @join_s
 * @leavers:	so many stop at @join_s
 * @join_s:	see there
 * @route_us:	RTTs without queues are longer by that, or shorter, from @route_s to @back_s
 * @route_s:	see there
 * @back_s:	see there; 0: to the end
 * @unwired:	flows know of no wire of their hosts, as in a container
 * @cap_bit_s:	what flows take for the rate of their hosts; 0: @host_bit_s
 * @low_us:	the first RTT of each flow after @route_s is shorter than the path by that
 * @from_s:	time from which on to measure
 * @until_s:	end
 * @seed:	of all randomness
 *
 * The results:
 * @goodput:	share of what fits
 * @jain:	Jain's index of the flows' goodput
 * @joined:	goodput of the joiners, as a share of the fair one
 * @second:	goodput of the second half of the flows, as a share of the fair one
 * @mean_us:	mean RTT, without serialisation
 * @p99_us:	99th percentile
 * @buffer:	longest queue of the port, bytes
 * @probes:	how often a flow learnt its path anew
 */
struct star {
	double host_bit_s, port_bit_s;
	int flows, hosts;
	double base_us, base2_us;
	double cap_bit_s;
	bool unwired, gaps;
	unsigned int segment;
	double noise_us, spike_us, spikes, irq_us, acks_us;
	double burst, burst_s;
	bool at_once, known;
	int joiners, leavers;
	double join_s, route_us, route_s, back_s, low_us, from_s, until_s;
	unsigned int seed;

	double goodput, jain, joined, second;
	double mean_us, p99_us, buffer;
	int probes;
};

void star_run(struct star *s);

#endif /* _TIMELY_STAR_H */
