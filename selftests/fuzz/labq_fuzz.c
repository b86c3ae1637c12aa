// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the cores of a switch, labq_marks.h and labq_mercury.h, fed with any
 * sequence of packets that come, leave and are transmitted, pauses, and waits.
 *
 * The first bytes are the parameters, then each event has an operation and two operands.
 * What must hold, whatever comes:
 *
 *	- the counters of marks are those of a count of packets
 *	- at most as many packets are to be marked as wait
 *	- a flow's bytes are those of its packets
 *	- a window is between 1 and its bound, and the sum of all windows is at most that bound,
 *	  but for the bytes that rounding up to 1 adds
 *	- a flow is told at most one window a period
 *	- a paused port is never congested
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labq_marks.h"
#include "labq_mercury.h"
#include "fuzz.h"

#define PORTS	4
#define PACKETS	64
#define KEYS	8
#define PLACES	6

struct packet {
	bool there;
	bool sent;
	u8 in;
	u8 out;
	u8 key;
	u16 at;
	u32 bytes;
};

static struct labq_marks marks;
static struct mercury_port port;
static struct mercury_table table;
static struct mercury_flow flows[PLACES];
static struct packet packets[PACKETS];
static u16 buckets[2];
static u64 told_ns[KEYS];
static bool told[KEYS];

/* Each counter is a number of packets. */
static void check_marks(void)
{
	u32 in, out, i;

	for (in = 0; in < PORTS; in++) {
		u32 used = 0;

		for (i = 0; i < PACKETS; i++)
			used += packets[i].there && packets[i].in == in;
		REQUIRE(marks.used[in] == used);
		REQUIRE(used <= marks.slots);
	}
	for (out = 0; out < PORTS; out++) {
		u32 waiting = 0;

		for (i = 0; i < PACKETS; i++)
			waiting += packets[i].there && !packets[i].sent && packets[i].out == out;
		REQUIRE(marks.output[out].waiting == waiting);
		REQUIRE(marks.output[out].to_mark <= waiting);
		for (in = 0; in < PORTS; in++)
			REQUIRE(marks.pair[in][out].to_mark <= marks.pair[in][out].waiting);
	}
}

/* Shares of the port that is output 0. */
static void check_shares(u32 bdp)
{
	u64 data = 0, windows = 0;
	u32 key, i, busy = 0;

	for (key = 0; key < KEYS; key++) {
		u16 at = MERCURY_NO_FLOW;
		u32 bytes = 0;

		for (i = 0; i < PACKETS; i++) {
			if (!packets[i].there || packets[i].sent || packets[i].out ||
			    packets[i].key != key || packets[i].at == MERCURY_NO_FLOW)
				continue;
			/* All packets of a flow are counted in one place. */
			REQUIRE(at == MERCURY_NO_FLOW || at == packets[i].at);
			at = packets[i].at;
			bytes += packets[i].bytes;
		}
		if (at == MERCURY_NO_FLOW)
			continue;
		REQUIRE(table.flows[at].key == key);
		REQUIRE(table.flows[at].data == bytes);
		REQUIRE(mercury_window(&table, at, bdp) >= 1);
		windows += mercury_window(&table, at, bdp);
		data += bytes;
		busy++;
	}
	REQUIRE(table.data == data);
	REQUIRE(busy <= table.places);
	REQUIRE(windows <= (u64)bdp + busy);
}

static void come(struct input *in, u64 now, u64 period_ns)
{
	struct packet *p;
	u32 value = take(in, 2);

	for (p = packets; p < packets + PACKETS && p->there; p++)
		;
	if (p == packets + PACKETS || !labq_marks_room(&marks, value & 3))
		return;
	*p = (struct packet){ .there = true, .in = value & 3, .out = value >> 2 & 3,
			      .key = value >> 4 & 7, .bytes = 1 + (value >> 7),
			      .at = MERCURY_NO_FLOW };
	REQUIRE(labq_marks_arrive(&marks, p->in, p->out) ==
		!labq_marks_room(&marks, p->in));
	if (p->out)
		return;
	mercury_arrive(&port, p->bytes);
	p->at = mercury_flow_arrive(&table, p->key, p->bytes);
	if (!mercury_flow_due(&table, p->at, now, period_ns))
		return;
	/* While a flow has a place, it is told once a period. */
	REQUIRE(!told[p->key] || table.free == table.places ||
		now - told_ns[p->key] >= period_ns);
	told[p->key] = true;
	told_ns[p->key] = now;
}

static void leave(struct input *in, const struct mercury_params *params, u64 now)
{
	struct packet *p = &packets[take(in, 1) % PACKETS];

	if (!p->there || p->sent)
		return;
	p->sent = true;
	labq_marks_leave(&marks, p->in, p->out, now & 1);
	if (p->out)
		return;
	mercury_flow_depart(&table, p->at, p->bytes);
	mercury_depart(&port, params, now, table.data);
}

static void end(struct input *in)
{
	struct packet *p = &packets[take(in, 1) % PACKETS];

	if (!p->there || !p->sent)
		return;
	p->there = false;
	labq_marks_end(&marks, p->in);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct mercury_params params;
	u32 steps = 0, bdp;
	u64 now = 0;

	memset(&marks, 0, sizeof(marks));
	memset(&port, 0, sizeof(port));
	memset(packets, 0, sizeof(packets));
	memset(told, 0, sizeof(told));
	marks.mode = take(&in, 1) & 3;
	marks.ports = PORTS;
	marks.slots = 1 + take(&in, 1) % 8;
	marks.threshold = take(&in, 1);
	params.rate = (u64)take(&in, 4) << (take(&in, 1) % 7);
	params.k_bytes = take(&in, 2);
	params.period_ns = take(&in, 2);
	bdp = 1 + take(&in, 3);
	mercury_table_init(&table, flows, (u16)(1 + take(&in, 1) % PLACES), buckets, 1);

	while (in.left && steps++ < 256) {
		u32 op = take(&in, 1);

		switch (op & 7) {
		case 0:
		case 1:
			come(&in, now, params.period_ns);
			break;
		case 2:
		case 3:
			leave(&in, &params, now);
			break;
		case 4:
			end(&in);
			break;
		case 5:
			mercury_pause(&port, now);
			break;
		case 6:
			mercury_resume(&port, &params, now, table.data);
			break;
		default:
			now += (u64)take(&in, 2) << (op >> 3);
		}
		check_marks();
		check_shares(bdp);
		REQUIRE(!port.paused || !mercury_congested(&port, &params, ~0ULL));
		REQUIRE(!mercury_congested(&port, &params, 0));
	}
	return 0;
}
