// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: or_acker_core.h fed with any sequence of packets, waits and OR-ACKs of
 * two flows of one sender, under any parameters.
 *
 * The first bytes are the parameters, then each event has an operation and two operands.
 * What must hold, whatever comes:
 *
 *	- each packet is covered by one OR-ACK, or by none yet
 *	- a flow with packets is due, waits, or was left quiet: none is forgotten
 *	- at most as many bytes go out as came in
 *	- a bucket gives out at most what it holds and what it got
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "or_acker_core.h"
#include "fuzz.h"

#define FLOWS	2

static struct or_acker_rules rules;
static u32 cpu_interval;

static struct flow {
	struct or_acker_track t;
	u64 in, out;		/* bytes */
	u64 packets, covered;	/* and what OR-ACKs said of them */
	u64 payload, reported;
	u32 acks;
	u32 end;		/* sequence number behind the newest packet */
	bool quiet;
} flows[FLOWS];

static struct or_acker_path path;
static u64 cpu_tat, now, began, admitted;

static void invariants(const struct flow *f)
{
	const struct or_acker_track *t = &f->t;

	REQUIRE(t->credit <= OR_ACKER_CREDIT_MAX);
	REQUIRE(f->out <= f->in && t->credit <= f->in - f->out);
	REQUIRE(f->packets - f->covered == t->packets);
	REQUIRE((u32)(f->payload - f->reported) == t->in_bytes);
	REQUIRE(t->since <= t->packets);
	REQUIRE(!t->since || t->due || t->waiting || f->quiet);
	REQUIRE(t->due || t->since < rules.ack_packets);
	REQUIRE(t->due || t->bytes < rules.ack_bytes);
}

static void packet(struct flow *f, u32 a, u32 b)
{
	struct or_acker_packet p = {
		.stamp_ns = now, .seq = f->end - a % 3 * 700, .payload = 1 + b,
		.headers = 40, .segs = 1 + a % 45, .end = a & 0x80,
	};
	bool due = f->t.due, waiting = f->t.waiting;
	enum or_acker_next next;

	next = or_acker_track_packet(&f->t, &rules, &path, &p);
	REQUIRE((next == OR_ACKER_NEXT_SEND) == (!due && f->t.due));
	REQUIRE((next == OR_ACKER_NEXT_WAIT) == (!waiting && f->t.waiting));
	if (next == OR_ACKER_NEXT_QUIET)
		REQUIRE(p.end && !f->t.due && !f->t.waiting && rules.path_interval_ns &&
			path.acked_ns);
	f->end = p.seq + p.payload;
	f->in += p.payload + p.headers;
	f->packets += p.segs;
	f->payload += p.payload;
	f->quiet = next == OR_ACKER_NEXT_QUIET;
}

static void due(struct flow *f, u32 cost)
{
	u64 credit = f->t.credit, tat = path.tat_ns, cpu = cpu_tat, most;
	enum or_acker_verdict verdict;
	struct or_acker_report report;

	if (!or_acker_track_take(&f->t)) {
		REQUIRE(!f->t.since);
		return;
	}
	f->quiet = false;
	verdict = or_acker_admit(&f->t, &path, &rules, &cpu_tat, cpu_interval, cost, now);
	if (verdict != OR_ACKER_ADMITTED) {
		REQUIRE(f->t.credit == credit && path.tat_ns == tat && cpu_tat == cpu);
		return;
	}
	REQUIRE(path.acked_ns == now && path.learned_ns);
	f->out += cost;
	admitted++;
	/* One more than the depth allows: the one that fills it up. */
	most = (now - began + OR_ACKER_BURST_NS) / rules.sub_interval_ns + 1;
	REQUIRE(admitted <= most);
	most = (now - began + OR_ACKER_BURST_NS) / cpu_interval + 1;
	REQUIRE(admitted <= most);
	report = or_acker_track_report(&f->t, now);
	REQUIRE(report.hold_ns <= OR_HOLD_MAX_NS);
	REQUIRE(report.seq == f->end);
	REQUIRE(report.count == 1000 + f->acks++);
	f->covered += report.packets;
	f->reported += report.bytes;
	REQUIRE(f->covered == f->packets);
}

static void waited(struct flow *f)
{
	enum or_acker_next next;

	next = or_acker_track_waited(&f->t, &rules, &path, now);
	REQUIRE((next == OR_ACKER_NEXT_WAIT) == f->t.waiting);
	switch (next) {
	case OR_ACKER_NEXT_WAIT:
		REQUIRE(or_acker_track_wait_ns(&f->t, &rules) > now);
		break;
	case OR_ACKER_NEXT_SEND:
		REQUIRE(f->t.since && !f->t.due);
		REQUIRE(or_acker_track_wait_ns(&f->t, &rules) <= now);
		due(f, 64);
		break;
	case OR_ACKER_NEXT_QUIET:
		REQUIRE(f->t.end && rules.path_interval_ns && path.acked_ns);
		f->quiet = true;
		break;
	case OR_ACKER_NEXT_NOTHING:
		REQUIRE(!f->t.since || f->t.due);
		break;
	}
}

static void window(u32 nxt, u32 wnd, u32 seq)
{
	struct or_acker_window w = or_acker_window_of(nxt, wnd);
	u32 size = wnd < 65536 ? 65536 : wnd > 1U << 30 ? 1U << 30 : wnd;
	s64 ahead = (s32)(seq - nxt);

	REQUIRE(or_acker_window_has(&w, nxt));
	REQUIRE(or_acker_window_has(&w, nxt + size));
	/* The distance of 2^31 has no sign. */
	if (ahead != -0x80000000LL)
		REQUIRE(or_acker_window_has(&w, seq) == (ahead >= -(s64)size &&
							 ahead <= (s64)size));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct or_acker_window any = { 0, ~0U };
	struct input in = { data, size };
	struct flow *f;
	u32 op, a, b;
	int i;

	rules = (struct or_acker_rules) {
		.ack_packets = 1 + take(&in, 1) % 255,
		.ack_bytes = 1 + take(&in, 3),
		.ack_delay_ns = 1000 + take(&in, 3) % 9999001,
		.path_interval_ns = take(&in, 4) % 1000000001,
		.sub_interval_ns = 100 + take(&in, 4) % 999999901,
	};
	cpu_interval = 100 + take(&in, 4) % 999999901;
	now = 2000000000ULL;
	began = now;
	memset(&path, 0, sizeof(path));
	cpu_tat = 0;
	admitted = 0;
	memset(flows, 0, sizeof(flows));
	for (i = 0; i < FLOWS; i++)
		or_acker_track_init(&flows[i].t, &any, 1000);
	while (in.left >= 4) {
		op = take(&in, 1);
		a = take(&in, 1);
		b = take(&in, 2);
		f = &flows[op >> 7];
		switch (op & 7) {
		case 0:
			now += b;
			break;
		case 1:
			now += (u64)b << (a & 15);
			break;
		case 2:
			if (f->t.due) {
				f->t.due = false;
				due(f, a & 1 ? 84 : 64);
			}
			break;
		case 3:
			if (f->t.waiting) {
				now = max_t(u64, now,
					    a & 1 ? or_acker_track_wait_ns(&f->t, &rules) :
						    now);
				waited(f);
			}
			break;
		case 4:
			window((a * 0x01010101U) ^ b << 8, b << (a & 15), b * 0x10001U);
			break;
		default:
			packet(f, a, b & (op & 8 ? 0xffff : 0xff));
			break;
		}
		invariants(f);
	}
	return 0;
}
