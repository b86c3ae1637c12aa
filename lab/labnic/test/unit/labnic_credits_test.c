// SPDX-License-Identifier: GPL-2.0
/*
 * labnic_credits.h: cases counted by hand, and random frames against a model that knows where
 * each of them is. labnic_core.h: when a frame can be passed on.
 */
#include <string.h>

#include "ktap.h"
#include "labnic_core.h"
#include "labnic_credits.h"

static struct labnic_credits c;

static void setup(u32 slots)
{
	memset(&c, 0, sizeof(c));
	c.slots = slots;
}

static void no_limit__counts_nothing(void)
{
	setup(0);
	CHECK(labnic_credits_left(&c, 0));
	CHECK(!labnic_credits_take(&c));
	CHECK_EQ(c.used, 0);
	labnic_credits_give(&c, 5);
	CHECK_EQ(labnic_credits_next(&c), U64_MAX);
	CHECK(labnic_credits_left(&c, 10));
	CHECK_EQ(c.used, 0);
}

static void take__until_none_is_left(void)
{
	setup(2);
	CHECK(labnic_credits_left(&c, 0));
	CHECK(labnic_credits_take(&c));
	CHECK(labnic_credits_left(&c, 0));
	CHECK(labnic_credits_take(&c));
	CHECK(!labnic_credits_left(&c, 0));
	CHECK(!labnic_credits_left(&c, ~0ULL));
}

/* A slot counts from the nanosecond on at which the sender learns of it. */
static void give__at_its_time(void)
{
	setup(1);
	labnic_credits_take(&c);
	labnic_credits_give(&c, 1000);
	CHECK_EQ(labnic_credits_next(&c), 1000);
	CHECK(!labnic_credits_left(&c, 999));
	CHECK(labnic_credits_left(&c, 1000));
	CHECK_EQ(c.used, 0);
	CHECK_EQ(labnic_credits_next(&c), U64_MAX);
}

static void give__in_any_order(void)
{
	setup(3);
	labnic_credits_take(&c);
	labnic_credits_take(&c);
	labnic_credits_take(&c);
	labnic_credits_give(&c, 300);
	labnic_credits_give(&c, 100);
	labnic_credits_give(&c, 200);
	CHECK_EQ(labnic_credits_next(&c), 100);
	CHECK(labnic_credits_left(&c, 150));
	CHECK_EQ(c.used, 2);
	CHECK_EQ(labnic_credits_next(&c), 200);
	CHECK(labnic_credits_left(&c, 300));
	CHECK_EQ(c.used, 0);
}

/* More than was taken never comes back. */
static void give__no_more_than_taken(void)
{
	u32 i;

	setup(2);
	labnic_credits_take(&c);
	labnic_credits_give(&c, 1);
	labnic_credits_give(&c, 2);
	CHECK(labnic_credits_left(&c, 5));
	CHECK_EQ(c.used, 0);
	setup(LABNIC_CREDITS_MAX);
	for (i = 0; i < LABNIC_CREDITS_MAX; i++)
		labnic_credits_take(&c);
	for (i = 0; i < LABNIC_CREDITS_MAX + 1; i++)
		labnic_credits_give(&c, i);
	CHECK(labnic_credits_left(&c, 100));
	CHECK_EQ(c.used, 0);
}

/* With fewer slots than are taken none is left until enough of them came back. */
static void slots__made_fewer(void)
{
	setup(3);
	labnic_credits_take(&c);
	labnic_credits_take(&c);
	labnic_credits_take(&c);
	c.slots = 1;
	labnic_credits_give(&c, 1);
	labnic_credits_give(&c, 2);
	CHECK(!labnic_credits_left(&c, 2));
	labnic_credits_give(&c, 3);
	CHECK(labnic_credits_left(&c, 3));
}

static u64 seed;

static u32 draw(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(seed >> 33) % below;
}

static void random__as_a_list_of_frames(void)
{
	/* When the sender knows that its slot is free; 0: no frame, 1: not given back yet */
	u64 frames[LABNIC_CREDITS_MAX], now = 2;
	u32 step, i, blocked = 0;

	seed = 2003;
	setup(4);
	memset(frames, 0, sizeof(frames));
	for (step = 0; step < 100000 && !ktap_failures; step++) {
		u32 used = 0;

		now += draw(3);
		for (i = 0; i < LABNIC_CREDITS_MAX; i++) {
			if (frames[i] > 1 && frames[i] <= now)
				frames[i] = 0;
			used += frames[i] != 0;
		}
		CHECK_EQ(labnic_credits_left(&c, now), used < 4);
		CHECK_EQ(c.used, used);
		i = draw(4);
		if (draw(2) && used < 4) {
			for (i = 0; frames[i]; i++)
				;
			frames[i] = 1;
			CHECK(labnic_credits_take(&c));
		} else if (frames[i] == 1) {
			frames[i] = now + 1 + draw(20);
			labnic_credits_give(&c, frames[i]);
		}
		blocked += used == 4;
	}
	CHECK(blocked > 1000);
}

/* 2056 bytes at 8 Gbit/s, from 1000 on. */
static void cut_through__not_after_the_end(void)
{
	struct labnic_time wire = { .ns = 500 };
	struct labnic_slot slot = labnic_wire_send(&wire, 1000, 2044, 8000000000ULL);

	CHECK_EQ(slot.begin_ns, 1000);
	CHECK_EQ(labnic_cut_through_ns(&slot, 0), 3056);
	CHECK_EQ(labnic_cut_through_ns(&slot, 40), 1040);
	CHECK_EQ(labnic_cut_through_ns(&slot, 2055), 3055);
	CHECK_EQ(labnic_cut_through_ns(&slot, 2056), 3056);
	CHECK_EQ(labnic_cut_through_ns(&slot, 5000), 3056);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(no_limit__counts_nothing),
	KTAP_CASE(take__until_none_is_left),
	KTAP_CASE(give__at_its_time),
	KTAP_CASE(give__in_any_order),
	KTAP_CASE(give__no_more_than_taken),
	KTAP_CASE(slots__made_fewer),
	KTAP_CASE(random__as_a_list_of_frames),
	KTAP_CASE(cut_through__not_after_the_end),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
