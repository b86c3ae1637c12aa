// SPDX-License-Identifier: GPL-2.0
/* ecn_echo.h: a receiver and a sender, mark for mark. Expected values are worked out by hand. */
#include "ecn_echo.h"
#include "ktap.h"
#include "random.h"

static struct ecn_echo e;
static u32 first, marked, unmarked;

static void receive__the_first_packet(void)
{
	ecn_echo_start(&e, 1000, 0, 0);
	CHECK_EQ(ecn_echo_receive(&e, false, 2000, false, &first), ECN_ECHO_SAME);
	CHECK_EQ(e.ce, 0);

	/* Before it nothing had CE. */
	ecn_echo_start(&e, 1000, 0, 0);
	CHECK_EQ(ecn_echo_receive(&e, true, 2000, false, &first), ECN_ECHO_CHANGED);
	CHECK_EQ(e.ce, 1);
}

static void receive__a_delayed_ack_goes_first(void)
{
	ecn_echo_start(&e, 1000, 0, 0);
	ecn_echo_receive(&e, false, 2000, true, &first);
	CHECK_EQ(ecn_echo_receive(&e, true, 3000, true, &first), ECN_ECHO_FIRST);
	CHECK_EQ(first, 2000);
	CHECK_EQ(ecn_echo_receive(&e, true, 4000, true, &first), ECN_ECHO_SAME);
	CHECK_EQ(ecn_echo_receive(&e, false, 5000, true, &first), ECN_ECHO_FIRST);
	CHECK_EQ(first, 4000);
	CHECK_EQ(ecn_echo_receive(&e, true, 6000, false, &first), ECN_ECHO_CHANGED);
}

static void take__differences(void)
{
	ecn_echo_start(&e, 0, 100, 7);
	ecn_echo_take(&e, 100, 7, &marked, &unmarked);
	CHECK_EQ(marked, 0);
	CHECK_EQ(unmarked, 0);
	ecn_echo_take(&e, 103, 7, &marked, &unmarked);
	CHECK_EQ(marked, 0);
	CHECK_EQ(unmarked, 3);
	ecn_echo_take(&e, 105, 9, &marked, &unmarked);
	CHECK_EQ(marked, 2);
	CHECK_EQ(unmarked, 0);
	/* AccECN: some of those acknowledged. */
	ecn_echo_take(&e, 110, 10, &marked, &unmarked);
	CHECK_EQ(marked, 1);
	CHECK_EQ(unmarked, 4);
}

static void take__more_marks_than_packets(void)
{
	ecn_echo_start(&e, 0, 100, 7);
	ecn_echo_take(&e, 101, 10, &marked, &unmarked);
	CHECK_EQ(marked, 3);
	CHECK_EQ(unmarked, 0);
	/* A mark that no packet was counted for yet. */
	ecn_echo_take(&e, 101, 11, &marked, &unmarked);
	CHECK_EQ(marked, 1);
	CHECK_EQ(unmarked, 0);
}

static void take__counters_wrap(void)
{
	ecn_echo_start(&e, 0, 0xfffffffeU, 0xffffffffU);
	ecn_echo_take(&e, 3, 1, &marked, &unmarked);
	CHECK_EQ(marked, 2);
	CHECK_EQ(unmarked, 3);
}

/*
 * Both ends: packets with and without CE at random, some of whose ACKs the receiver would
 * delay. The sender counts exactly the marks that there were, and so it knows the packets.
 */
static void both_ends__every_mark_is_counted_once(void)
{
	struct ecn_echo rx, tx;
	u32 sent = 0, marks = 0, acked = 0, delivered = 0, delivered_ce = 0;
	u32 sum_marked = 0, sum_unmarked = 0, i, newest;
	bool delayed = false, was;

	random_state = 8257;
	ecn_echo_start(&rx, 0, 0, 0);
	ecn_echo_start(&tx, 0, 0, 0);
	for (i = 0; i < 100000; i++) {
		bool ce = chance(0.3), echo;

		was = rx.ce;
		sent++;
		marks += ce;
		/* Sequence numbers are packets here. */
		if (ecn_echo_receive(&rx, ce, sent, delayed, &first) == ECN_ECHO_FIRST) {
			delivered += first - acked;
			delivered_ce += was ? first - acked : 0;
			acked = first;
			ecn_echo_take(&tx, delivered, delivered_ce, &marked, &unmarked);
			sum_marked += marked;
			sum_unmarked += unmarked;
		}
		/* A stack that would not acknowledge at once, whatever it is asked. */
		delayed = rx.ce == was && chance(0.5);
		if (delayed)
			continue;
		newest = sent;
		echo = rx.ce;
		delivered += newest - acked;
		delivered_ce += echo ? newest - acked : 0;
		acked = newest;
		ecn_echo_take(&tx, delivered, delivered_ce, &marked, &unmarked);
		sum_marked += marked;
		sum_unmarked += unmarked;
	}
	CHECK_EQ(sum_marked + sum_unmarked, acked);
	/* At most the last packet is not acknowledged yet. */
	CHECK(marks - sum_marked <= sent - acked);
	CHECK(sent - acked < 100);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(receive__the_first_packet),
	KTAP_CASE(receive__a_delayed_ack_goes_first),
	KTAP_CASE(take__differences),
	KTAP_CASE(take__more_marks_than_packets),
	KTAP_CASE(take__counters_wrap),
	KTAP_CASE(both_ends__every_mark_is_counted_once),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
