// SPDX-License-Identifier: GPL-2.0
/*
 * labq_marks.h: cases counted by hand, and random switches against a model that has every
 * packet and scans all buffers.
 */
#include <string.h>

#include "draw.h"
#include "ktap.h"
#include "labq_marks.h"

static struct labq_marks m;

static void setup(u8 mode, u8 ports, u32 slots)
{
	memset(&m, 0, sizeof(m));
	m.mode = mode;
	m.ports = ports;
	m.slots = slots;
}

/* The transmission of a packet, as a whole. */
static bool send(u8 in, u8 out)
{
	bool mark = labq_marks_leave(&m, in, out, false);

	labq_marks_end(&m, in);
	return mark;
}

static void none__marks_nothing(void)
{
	setup(LABQ_MARKS_NONE, 2, 2);
	CHECK(!labq_marks_arrive(&m, 0, 1));
	CHECK(labq_marks_arrive(&m, 0, 1));
	CHECK(!labq_marks_room(&m, 0));
	CHECK(!send(0, 1));
	CHECK(labq_marks_room(&m, 0));
	CHECK(!send(0, 1));
}

static void full__no_buffer_fills(void)
{
	u32 i;

	setup(LABQ_MARKS_FULL, 3, 4);
	for (i = 0; i < 3; i++)
		CHECK(!labq_marks_arrive(&m, 0, 2));
	CHECK(!labq_marks_arrive(&m, 1, 2));
	for (i = 0; i < 3; i++)
		CHECK(!send(0, 2));
	CHECK(!send(1, 2));
}

/*
 * The trunk (0) fills with two packets to the root (3); local inputs 1 and 2 have one each
 * for it. All four are marked, and the one that came behind the event is not.
 */
static void full__all_that_wait_for_the_root(void)
{
	setup(LABQ_MARKS_FULL, 4, 2);
	labq_marks_arrive(&m, 1, 3);
	labq_marks_arrive(&m, 2, 3);
	CHECK(!labq_marks_arrive(&m, 0, 3));
	CHECK(labq_marks_arrive(&m, 0, 3));
	CHECK_EQ(m.output[3].to_mark, 4);
	/* This fills input 1 as well: five wait, and all of them are to be marked. */
	CHECK(labq_marks_arrive(&m, 1, 3));
	CHECK_EQ(m.output[3].to_mark, 5);
	CHECK(!labq_marks_arrive(&m, 3, 3));
	CHECK(send(1, 3));
	CHECK(send(2, 3));
	CHECK(send(0, 3));
	CHECK(send(0, 3));
	CHECK(send(1, 3));
	CHECK(!send(3, 3));
}

/* The victim's output (2) has nothing in the buffer that is full. */
static void full__not_the_victims_output(void)
{
	setup(LABQ_MARKS_FULL, 4, 2);
	labq_marks_arrive(&m, 1, 2);
	labq_marks_arrive(&m, 0, 3);
	CHECK(labq_marks_arrive(&m, 0, 3));
	CHECK(!send(1, 2));
	CHECK(send(0, 3));
	CHECK(send(0, 3));
}

/* A victim that waits in the full buffer is marked, and one elsewhere for its output too. */
static void full__a_victim_in_the_full_buffer(void)
{
	setup(LABQ_MARKS_FULL, 4, 2);
	labq_marks_arrive(&m, 1, 2);
	labq_marks_arrive(&m, 0, 2);
	CHECK(labq_marks_arrive(&m, 0, 3));
	CHECK(send(1, 2));
	CHECK(send(0, 2));
	CHECK(send(0, 3));
}

/* Footnote 10: what is being transmitted holds a slot, and is not marked. */
static void full__a_packet_in_transmission(void)
{
	setup(LABQ_MARKS_FULL, 4, 2);
	labq_marks_arrive(&m, 0, 2);
	CHECK(!labq_marks_leave(&m, 0, 2, false));
	/* Its slot is still taken: this one fills the buffer. */
	CHECK(labq_marks_arrive(&m, 0, 3));
	CHECK_EQ(m.output[2].to_mark, 0);
	CHECK_EQ(m.output[3].to_mark, 1);
	labq_marks_end(&m, 0);
	CHECK(send(0, 3));
}

/* A packet that leaves when it comes waits for nothing: those that wait are marked. */
static void full__a_packet_that_cuts_through(void)
{
	setup(LABQ_MARKS_FULL, 4, 2);
	CHECK(!labq_marks_come(&m, 0, 3));
	CHECK(labq_marks_come(&m, 0, 2));
	CHECK(!labq_marks_leave(&m, 0, 2, false));
	labq_marks_trigger(&m, 0);
	CHECK_EQ(m.output[2].to_mark, 0);
	CHECK_EQ(m.output[3].to_mark, 1);
	labq_marks_end(&m, 0);
	CHECK(send(0, 3));
}

/* A second event before cnt2 is 0: cnt2 is cnt1, not the sum. */
static void full__triggered_again(void)
{
	setup(LABQ_MARKS_FULL, 3, 2);
	labq_marks_arrive(&m, 0, 2);
	CHECK(labq_marks_arrive(&m, 0, 2));
	CHECK_EQ(m.output[2].to_mark, 2);
	CHECK(send(0, 2));
	CHECK(labq_marks_arrive(&m, 0, 2));
	CHECK_EQ(m.output[2].to_mark, 2);
	CHECK(send(0, 2));
	CHECK(send(0, 2));
	CHECK_EQ(m.output[2].to_mark, 0);
	labq_marks_arrive(&m, 0, 2);
	CHECK(!send(0, 2));
}

/* Only what is in the full buffer, and not the locals that compete with it. */
static void naive__only_the_full_buffer(void)
{
	setup(LABQ_MARKS_NAIVE, 4, 2);
	labq_marks_arrive(&m, 1, 3);
	labq_marks_arrive(&m, 2, 3);
	labq_marks_arrive(&m, 0, 3);
	CHECK(labq_marks_arrive(&m, 0, 3));
	CHECK(!send(1, 3));
	CHECK(send(0, 3));
	CHECK(!send(2, 3));
	CHECK(send(0, 3));
	labq_marks_arrive(&m, 0, 3);
	CHECK(!send(0, 3));
}

static void naive__of_all_outputs(void)
{
	setup(LABQ_MARKS_NAIVE, 4, 3);
	labq_marks_arrive(&m, 0, 3);
	labq_marks_arrive(&m, 0, 2);
	CHECK(labq_marks_arrive(&m, 0, 3));
	CHECK(send(0, 2));
	CHECK(send(0, 3));
	CHECK(send(0, 3));
}

/* More than two wait: the first of four and the second. An output without credits: none. */
static void root__above_the_threshold(void)
{
	u32 i;

	setup(LABQ_MARKS_ROOT, 2, 8);
	m.threshold = 2;
	for (i = 0; i < 4; i++)
		labq_marks_arrive(&m, 0, 1);
	CHECK(send(0, 1));
	CHECK(send(0, 1));
	CHECK(!send(0, 1));
	CHECK(!send(0, 1));
	for (i = 0; i < 4; i++)
		labq_marks_arrive(&m, 0, 1);
	CHECK(!labq_marks_leave(&m, 0, 1, true));
	CHECK(labq_marks_leave(&m, 0, 1, false));
}

/* The model: every packet, in the order in which it came. */
#define PACKETS	512

struct packet {
	u32 arrived;
	u8 in;
	u8 out;
	bool there;
	bool waits;
	bool marked;
};

static struct packet packets[PACKETS];

static u32 held(u8 in)
{
	u32 i, n = 0;

	for (i = 0; i < PACKETS; i++)
		n += packets[i].there && packets[i].in == in;
	return n;
}

/* Step two and three of section IV-A, by a scan. */
static void scan(u8 mode, u8 in)
{
	bool congested[LABQ_MARKS_PORTS] = { false };
	u32 i;

	for (i = 0; i < PACKETS; i++)
		if (packets[i].there && packets[i].waits && packets[i].in == in)
			congested[packets[i].out] = true;
	for (i = 0; i < PACKETS; i++)
		if (packets[i].there && packets[i].waits &&
		    (mode == LABQ_MARKS_FULL ? congested[packets[i].out] : packets[i].in == in))
			packets[i].marked = true;
}

/* The one that came first for an output, of one input if that is not -1. */
static struct packet *oldest(int in, u8 out)
{
	struct packet *p, *first = NULL;

	for (p = packets; p < packets + PACKETS; p++)
		if (p->there && p->waits && p->out == out && (in < 0 || p->in == in) &&
		    (!first || p->arrived < first->arrived))
			first = p;
	return first;
}

/*
 * Where an output serves in the order of arrival, the counters mark exactly the packets that
 * a scan marks. Naive marks need that only within an input.
 */
static void compare(u8 mode)
{
	u32 step, marks = 0, events = 0;

	setup(mode, (u8)(2 + draw(7)), 1 + draw(8));
	memset(packets, 0, sizeof(packets));
	for (step = 1; step < 3000 && !ktap_failures; step++) {
		u8 in = (u8)draw(m.ports), out = (u8)(draw(2) ? 0 : draw(m.ports));
		struct packet *p;

		switch (draw(3)) {
		case 0:
			CHECK_EQ(labq_marks_room(&m, in), held(in) < m.slots);
			if (held(in) == m.slots)
				break;
			for (p = packets; p->there; p++)
				;
			*p = (struct packet){ .arrived = step, .in = in, .out = out,
					      .there = true, .waits = true };
			if (held(in) == m.slots) {
				scan(mode, in);
				events++;
			}
			CHECK_EQ(labq_marks_arrive(&m, in, out), held(in) == m.slots);
			break;
		case 1:
			p = oldest(mode == LABQ_MARKS_NAIVE ? in : -1, out);
			if (!p)
				break;
			p->waits = false;
			marks += p->marked;
			CHECK_EQ(labq_marks_leave(&m, p->in, out, false), p->marked);
			break;
		default:
			for (p = packets; p < packets + PACKETS; p++)
				if (p->there && !p->waits)
					break;
			if (p == packets + PACKETS)
				break;
			p->there = false;
			labq_marks_end(&m, p->in);
		}
	}
	CHECK(events && marks);
}

static void full__as_a_scan(void)
{
	u32 i;

	seed = 2003;
	for (i = 0; i < 60 && !ktap_failures; i++)
		compare(LABQ_MARKS_FULL);
}

static void naive__as_a_scan(void)
{
	u32 i;

	seed = 41;
	for (i = 0; i < 60 && !ktap_failures; i++)
		compare(LABQ_MARKS_NAIVE);
}

/* Out of order: as many as a scan marks, the first ones to leave. */
static void full__bypassed_packets_are_marked_in_place(void)
{
	setup(LABQ_MARKS_FULL, 3, 2);
	labq_marks_arrive(&m, 1, 2);
	labq_marks_arrive(&m, 0, 2);
	CHECK(labq_marks_arrive(&m, 0, 2));
	/* Three wait. A fourth comes and leaves first: it is marked, the last one is not. */
	CHECK(!labq_marks_arrive(&m, 2, 2));
	CHECK(send(2, 2));
	CHECK(send(0, 2));
	CHECK(send(1, 2));
	CHECK(!send(0, 2));
}

static const struct ktap_case cases[] = {
	KTAP_CASE(none__marks_nothing),
	KTAP_CASE(full__no_buffer_fills),
	KTAP_CASE(full__all_that_wait_for_the_root),
	KTAP_CASE(full__not_the_victims_output),
	KTAP_CASE(full__a_victim_in_the_full_buffer),
	KTAP_CASE(full__a_packet_in_transmission),
	KTAP_CASE(full__a_packet_that_cuts_through),
	KTAP_CASE(full__triggered_again),
	KTAP_CASE(full__bypassed_packets_are_marked_in_place),
	KTAP_CASE(full__as_a_scan),
	KTAP_CASE(naive__only_the_full_buffer),
	KTAP_CASE(naive__of_all_outputs),
	KTAP_CASE(naive__as_a_scan),
	KTAP_CASE(root__above_the_threshold),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
