// SPDX-License-Identifier: GPL-2.0
/*
 * What profile auto does with a network, in the ideal star of timely_star.c: each case is a
 * row of the table in Documentation/results/timely.md, with bounds that the constants of
 * TIMELY's paper do not meet.
 *
 *	timely_star_test [SEED]
 */
#include <stdlib.h>

#include "timely_star.h"
#include "ktap.h"

#define G	1e9

static unsigned int seed = 1;

/**
 * struct bounds - what a case has to be
 * @goodput:	at least, share of what fits
 * @jain:	at least
 * @mean_us:	RTT, at most; 0: any
 * @p99_us:	RTT, at most; 0: any
 * @buffer:	at most, bytes; 0: any
 * @low:	the joiners' or the second half's share is at least that, and at most
 *		1 / low; 0: any
 */
struct bounds {
	double goodput, jain, mean_us, p99_us, buffer, low;
};

static void check_star(struct star s, struct bounds b)
{
	double share;

	s.seed = seed;
	s.segment = s.segment ?: 16384;
	s.base_us = s.base_us ?: 17;
	s.hosts = s.hosts ?: (s.flows < 16 ? s.flows : 16);
	star_run(&s);
	share = s.joiners ? s.joined : s.second;
	printf("# goodput %.1f %%, Jain %.3f, RTT %.1f, %.1f us, buffer %.0f kB, share %.2f, %d probes\n",
	       100 * s.goodput, s.jain, s.mean_us, s.p99_us, s.buffer / 1e3, share, s.probes);
	CHECK(s.goodput >= b.goodput);
	CHECK(s.jain >= b.jain);
	CHECK(!b.mean_us || s.mean_us <= b.mean_us);
	CHECK(!b.p99_us || s.p99_us <= b.p99_us);
	CHECK(!b.buffer || s.buffer <= b.buffer);
	CHECK(!b.low || (share >= b.low && share <= 1 / b.low));
}

/* Rate of the hosts, of the port, flows, hosts. */
static void star__table_1(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.from_s = .1, .until_s = .3,
	}, (struct bounds){ .98, .97, 68, 100 });
}

static void star__segments_of_32_kb(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.segment = 32768, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .96, .85, 0, 130 });
}

static void star__segments_of_64_kb(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.segment = 65536, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .96, .98, 0, 250 });
}

static void star__at_1_gbit(void)
{
	check_star((struct star){
		1 * G, 2 * G, 40, 10,
		.from_s = .5, .until_s = 1,
	}, (struct bounds){ .96, .95, 0, 1070 });
}

/* A start at once leads to the same state. */
static void star__at_1_gbit_from_a_start(void)
{
	check_star((struct star){
		1 * G, 2 * G, 40, 10,
		.at_once = true, .from_s = .5, .until_s = 1,
	}, (struct bounds){ .98, .98, 280, 350 });
}

static void star__at_25_gbit(void)
{
	check_star((struct star){
		25 * G, 50 * G, 40, 10,
		.from_s = .1, .until_s = .2,
	}, (struct bounds){ .96, .93, 0, 77 });
}

static void star__at_100_gbit(void)
{
	check_star((struct star){
		100 * G, 200 * G, 40, 10,
		.from_s = .06, .until_s = .09,
	}, (struct bounds){ .96, .95, 0, 77 });
}

static void star__at_400_gbit(void)
{
	check_star((struct star){
		400 * G, 400 * G, 40, 10,
		.from_s = .035, .until_s = .045,
	}, (struct bounds){ .96, .95, 0, 77 });
}

static void star__two_flows(void)
{
	check_star((struct star){
		10 * G, 10 * G, 2,
		.from_s = .1, .until_s = .25,
	}, (struct bounds){ .98, .98, 0, 77 });
}

static void star__two_at_100_gbit(void)
{
	check_star((struct star){
		100 * G, 100 * G, 2,
		.from_s = .08, .until_s = .12,
	}, (struct bounds){ .98, .98, 0, 77 });
}

static void star__two_at_1_gbit(void)
{
	check_star((struct star){
		1 * G, 1 * G, 2,
		.from_s = .5, .until_s = 1,
	}, (struct bounds){ .98, .97, 0, 1070 });
}

static void star__flows_16(void)
{
	check_star((struct star){
		10 * G, 10 * G, 16,
		.from_s = .1, .until_s = .25,
	}, (struct bounds){ .95, .85, 0, 120 });
}

static void star__flows_64(void)
{
	check_star((struct star){
		10 * G, 10 * G, 64,
		.from_s = .2, .until_s = .4,
	}, (struct bounds){ .96, .9, 0, 150 });
}

static void star__flows_256(void)
{
	check_star((struct star){
		10 * G, 10 * G, 256,
		.from_s = .25, .until_s = .5,
	}, (struct bounds){ .95, .97, 0, 300 });
}

static void star__rtt_5_us(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.base_us = 5, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .96, .97, 0, 100 });
}

static void star__rtt_200_us(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.base_us = 200, .from_s = .2, .until_s = .5,
	}, (struct bounds){ .95, .97, 0, 450 });
}

static void star__noise_20_us(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.noise_us = 20, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .96, .85, 0, 120 });
}

static void star__noise_20_us_on_two(void)
{
	check_star((struct star){
		10 * G, 10 * G, 2,
		.noise_us = 20, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .9, .75, 0, 77 });
}

static void star__noise_20_us_at_100_gbit(void)
{
	check_star((struct star){
		100 * G, 100 * G, 4,
		.noise_us = 20, .from_s = .08, .until_s = .12,
	}, (struct bounds){ .96, .97, 0, 100 });
}

/* A first guess of 10 Gbit/s on a link of 100: nothing but noise, which cost 97 % of it. */
static void star__noise_100_us_on_one(void)
{
	check_star((struct star){
		100 * G, 100 * G, 1, .cap_bit_s = 10 * G,
		.noise_us = 100, .from_s = .3, .until_s = .6,
	}, (struct bounds){ .05, 1, 0, 150 });
}

static void star__noise_100_us_on_two(void)
{
	check_star((struct star){
		10 * G, 10 * G, 2,
		.noise_us = 100, .from_s = .3, .until_s = .6,
	}, (struct bounds){ .5, .5, 0, 150 });
}

static void star__noise_100_us_on_16(void)
{
	check_star((struct star){
		10 * G, 10 * G, 16,
		.noise_us = 100, .from_s = .3, .until_s = .6,
	}, (struct bounds){ .65, .6, 0, 160 });
}

/* A slow link makes v long as well, and that is no noise. */
static void star__slower_port_is_no_noise(void)
{
	check_star((struct star){
		10 * G, 1 * G, 16, 10,
		.base_us = 60, .from_s = .5, .until_s = 1.5,
	}, (struct bounds){ .95, .98, 230, 450 });
}

static void star__two_groups(void)
{
	check_star((struct star){
		10 * G, 10 * G, 8,
		.base_us = 10, .base2_us = 105, .from_s = .2, .until_s = .5,
	}, (struct bounds){ .95, .9, .low = .7 });
}

static void star__forty_start(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.at_once = true, .from_s = .005, .until_s = .02,
	}, (struct bounds){ .9, .9, 0, 0, .6e6 });
}

static void star__one_joins_39(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.joiners = 1, .join_s = .05, .from_s = .08, .until_s = .1,
	}, (struct bounds){ .96, .97, .low = .75 });
}

static void star__ten_join_two_at_100_gbit(void)
{
	check_star((struct star){
		100 * G, 100 * G, 12, 12,
		.joiners = 10, .join_s = .05, .from_s = .065, .until_s = .075,
	}, (struct bounds){ .9, .99, .low = .9 });
}

static void star__nine_of_ten_leave(void)
{
	check_star((struct star){
		10 * G, 20 * G, 100, 10,
		.leavers = 90, .join_s = .1, .from_s = .12, .until_s = .15,
	}, (struct bounds){ .96, .9 });
}

static void star__a_shaped_link_and_late_timers(void)
{
	check_star((struct star){
		10 * G, 0.5 * G, 1,
		.base_us = 400, .noise_us = 200, .from_s = .5, .until_s = 1,
	}, (struct bounds){ .75 });
}

static void star__four_on_a_shaped_link(void)
{
	check_star((struct star){
		10 * G, 0.5 * G, 4, 1,
		.base_us = 400, .noise_us = 300, .from_s = .5, .until_s = 1,
	}, (struct bounds){ .9, .95 });
}

/* Flows of virtual machines and of containers, which know of no wire, on hosts that have one. */
static void star__no_wire_is_known(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.unwired = true, .from_s = .3, .until_s = .6,
	}, (struct bounds){ .98, .8, 90, 115 });
}

static void star__two_flows_and_no_wire_is_known(void)
{
	check_star((struct star){
		10 * G, 10 * G, 2,
		.unwired = true, .from_s = .3, .until_s = .6,
	}, (struct bounds){ .9, .95 });
}

static void star__no_wire_is_known_of_100_gbit(void)
{
	check_star((struct star){
		100 * G, 100 * G, 40, 10,
		.unwired = true, .cap_bit_s = 10 * G, .from_s = .3, .until_s = .6,
	}, (struct bounds){ .9, .9, 80, 95 });
}

/* A far host behind a slow link, whose own segments make RTTs that D does not explain. */
static void star__far_and_slow(void)
{
	check_star((struct star){
		10 * G, 0.1 * G, 1,
		.base_us = 20000, .at_once = true, .from_s = 2, .until_s = 6,
	}, (struct bounds){ .9 });
}

/* A slow link behind it, which makes v of many flows longer. */
static void star__forty_flows_and_no_wire_is_known_of_1_gbit(void)
{
	check_star((struct star){
		1 * G, 1 * G, 40, 10,
		.base_us = 60, .unwired = true, .cap_bit_s = 10 * G,
		.from_s = .3, .until_s = .6,
	}, (struct bounds){ .93, .9, 600, 1200 });
}

static void star__no_wire_is_known_of_1_gbit(void)
{
	check_star((struct star){
		1 * G, 1 * G, 4,
		.base_us = 60, .unwired = true, .cap_bit_s = 10 * G,
		.from_s = .3, .until_s = .6,
	}, (struct bounds){ .95, .9 });
}

/* What limits it is a machine that is busy, and is late once in a while. */
static void star__a_machine_that_is_busy(void)
{
	check_star((struct star){
		10 * G, 3 * G, 1,
		.base_us = 12, .noise_us = 6, .spike_us = 60, .spikes = .12,
		.from_s = .1, .until_s = .3,
	}, (struct bounds){ .85 });
}

static void star__a_busy_machine_beside_another(void)
{
	check_star((struct star){
		10 * G, 10 * G, 2,
		.base_us = 12, .noise_us = 6, .spike_us = 60, .spikes = .12,
		.from_s = .1, .until_s = .3,
	}, (struct bounds){ .9, .75 });
}

static void star__a_machine_that_is_often_late(void)
{
	check_star((struct star){
		10 * G, 3 * G, 1,
		.base_us = 12, .noise_us = 6, .spike_us = 300, .spikes = .3,
		.from_s = .1, .until_s = .3,
	}, (struct bounds){ .7 });
}

static void star__spikes_on_40_flows(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.spike_us = 100, .spikes = .05, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .95, .75 });
}

/* Without W these have 42, 17, 35 and 17 % of the link. */
static void star__one_flow_and_nics_that_wait_20_us(void)
{
	check_star((struct star){
		10 * G, 10 * G, 1,
		.irq_us = 20, .at_once = true, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .98, 0, 0, 120 });
}

static void star__four_flows_and_nics_that_wait_50_us(void)
{
	check_star((struct star){
		10 * G, 10 * G, 4,
		.irq_us = 50, .at_once = true, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .94, .9, 0, 300 });
}

static void star__two_flows_and_nics_that_wait_100_us(void)
{
	check_star((struct star){
		10 * G, 10 * G, 2,
		.irq_us = 100, .at_once = true, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .9, .95, 0, 600 });
}

static void star__four_at_100_gbit_and_nics_that_wait_50_us(void)
{
	check_star((struct star){
		100 * G, 100 * G, 4,
		.irq_us = 50, .at_once = true, .from_s = .1, .until_s = .15,
	}, (struct bounds){ .9, .95, 0, 300 });
}

static void star__forty_flows_and_nics_that_wait_50_us(void)
{
	check_star((struct star){
		10 * G, 20 * G, 40, 10,
		.irq_us = 50, .at_once = true, .from_s = .1, .until_s = .3,
	}, (struct bounds){ .95, .93, 0, 400 });
}

static void star__nics_that_wait_for_ten_seconds(void)
{
	check_star((struct star){
		1 * G, 1 * G, 2,
		.irq_us = 100, .at_once = true, .from_s = 5, .until_s = 10,
	}, (struct bounds){ .93, .85, 0, 1070 });
}

/* Bounds of the first 50 ms on the longer path, and of what follows. */
static void star__a_route_50_us_longer(void)
{
	struct star s = {
		10 * G, 10 * G, 8,
		.route_us = 50, .route_s = .1, .from_s = .1, .until_s = .15,
	};

	check_star(s, (struct bounds){ .45, .2 });
	s.from_s = .2;
	s.until_s = .3;
	check_star(s, (struct bounds){ .97, .2 });
}

/* So little that Thigh soon allows for it, if flows have less of the link. */
static void star__a_route_15_us_longer(void)
{
	check_star((struct star){
		10 * G, 10 * G, 2, 2,
		.route_us = 15, .route_s = .05, .from_s = .15, .until_s = .25,
	}, (struct bounds){ .8, .7 });
}

/* Data of a host that paces segments of 16 KB, and of one that has two of 32 KB in its ring. */
static void star__acks_that_wait_20_us(void)
{
	check_star((struct star){
		10 * G, 10 * G, 1, 1,
		.acks_us = 20, .at_once = true, .from_s = .1, .until_s = .2,
	}, (struct bounds){ .95, 1 });
	check_star((struct star){
		10 * G, 10 * G, 4, 4,
		.acks_us = 20, .at_once = true, .from_s = .1, .until_s = .2,
	}, (struct bounds){ .9, .9 });
}

static void star__acks_that_wait_50_us(void)
{
	check_star((struct star){
		10 * G, 10 * G, 1, 1,
		.acks_us = 50, .at_once = true, .from_s = .2, .until_s = .4,
	}, (struct bounds){ .9, 1 });
	check_star((struct star){
		10 * G, 10 * G, 4, 4,
		.acks_us = 50, .at_once = true, .from_s = .2, .until_s = .4,
	}, (struct bounds){ .65, .3 });
}

static void star__a_route_1_ms_longer(void)
{
	struct star s = {
		10 * G, 20 * G, 40, 10,
		.route_us = 1000, .route_s = .1, .from_s = .1, .until_s = .15,
	};

	check_star(s, (struct bounds){ .4, .7 });
	s.from_s = .2;
	s.until_s = .4;
	check_star(s, (struct bounds){ .94, .95 });
}

static void star__a_route_that_flaps(void)
{
	check_star((struct star){
		25 * G, 25 * G, 4,
		.route_us = 100, .route_s = .1, .back_s = .15, .from_s = .1, .until_s = .2,
	}, (struct bounds){ .93, .9 });
}

/* An RTT that was measured too short, on a link that is a 500th of the device's. */
static void star__one_short_rtt(void)
{
	check_star((struct star){
		10 * G, .02 * G, 1,
		.base_us = 5000, .low_us = 1000, .route_s = .5, .from_s = .5, .until_s = 2,
	}, (struct bounds){ .85 });
}

static void star__for_12_seconds(void)
{
	check_star((struct star){
		1 * G, 1 * G, 2,
		.from_s = 6, .until_s = 12,
	}, (struct bounds){ .98, .95, 0, 1070 });
}

/* D is old every 4.3 s. Flows that halve their rates one after another take queues for the path. */
static void star__clocks_of_hosts_1_ms_apart(void)
{
	check_star((struct star){
		10 * G, 10 * G, 40, 10,
		.apart_us = 1000, .at_once = true, .from_s = 16, .until_s = 20,
	}, (struct bounds){ .98, .98, 80, 100 });
}

static const struct ktap_case cases[] = {
	KTAP_CASE(star__table_1),
	KTAP_CASE(star__segments_of_32_kb),
	KTAP_CASE(star__segments_of_64_kb),
	KTAP_CASE(star__at_1_gbit),
	KTAP_CASE(star__at_1_gbit_from_a_start),
	KTAP_CASE(star__at_25_gbit),
	KTAP_CASE(star__at_100_gbit),
	KTAP_CASE(star__at_400_gbit),
	KTAP_CASE(star__two_flows),
	KTAP_CASE(star__two_at_100_gbit),
	KTAP_CASE(star__two_at_1_gbit),
	KTAP_CASE(star__flows_16),
	KTAP_CASE(star__flows_64),
	KTAP_CASE(star__flows_256),
	KTAP_CASE(star__rtt_5_us),
	KTAP_CASE(star__rtt_200_us),
	KTAP_CASE(star__noise_20_us),
	KTAP_CASE(star__noise_20_us_on_two),
	KTAP_CASE(star__noise_20_us_at_100_gbit),
	KTAP_CASE(star__noise_100_us_on_one),
	KTAP_CASE(star__noise_100_us_on_two),
	KTAP_CASE(star__noise_100_us_on_16),
	KTAP_CASE(star__slower_port_is_no_noise),
	KTAP_CASE(star__two_groups),
	KTAP_CASE(star__forty_start),
	KTAP_CASE(star__one_joins_39),
	KTAP_CASE(star__ten_join_two_at_100_gbit),
	KTAP_CASE(star__nine_of_ten_leave),
	KTAP_CASE(star__a_shaped_link_and_late_timers),
	KTAP_CASE(star__four_on_a_shaped_link),
	KTAP_CASE(star__no_wire_is_known),
	KTAP_CASE(star__two_flows_and_no_wire_is_known),
	KTAP_CASE(star__no_wire_is_known_of_100_gbit),
	KTAP_CASE(star__far_and_slow),
	KTAP_CASE(star__forty_flows_and_no_wire_is_known_of_1_gbit),
	KTAP_CASE(star__no_wire_is_known_of_1_gbit),
	KTAP_CASE(star__a_machine_that_is_busy),
	KTAP_CASE(star__a_busy_machine_beside_another),
	KTAP_CASE(star__a_machine_that_is_often_late),
	KTAP_CASE(star__spikes_on_40_flows),
	KTAP_CASE(star__one_flow_and_nics_that_wait_20_us),
	KTAP_CASE(star__four_flows_and_nics_that_wait_50_us),
	KTAP_CASE(star__two_flows_and_nics_that_wait_100_us),
	KTAP_CASE(star__four_at_100_gbit_and_nics_that_wait_50_us),
	KTAP_CASE(star__forty_flows_and_nics_that_wait_50_us),
	KTAP_CASE(star__nics_that_wait_for_ten_seconds),
	KTAP_CASE(star__a_route_50_us_longer),
	KTAP_CASE(star__a_route_15_us_longer),
	KTAP_CASE(star__acks_that_wait_20_us),
	KTAP_CASE(star__acks_that_wait_50_us),
	KTAP_CASE(star__a_route_1_ms_longer),
	KTAP_CASE(star__a_route_that_flaps),
	KTAP_CASE(star__one_short_rtt),
	KTAP_CASE(star__for_12_seconds),
	KTAP_CASE(star__clocks_of_hosts_1_ms_apart),
};

int main(int argc, char **argv)
{
	if (argc > 1)
		seed = (unsigned int)strtoul(argv[1], NULL, 10);
	return ktap_run(cases, ARRAY_SIZE(cases));
}
