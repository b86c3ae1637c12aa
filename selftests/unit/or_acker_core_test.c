// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker_core.h: expected values are worked out by hand from Documentation/or_acker.md;
 * windows are compared with sequence numbers of 64 bits, which do not wrap.
 */
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "or_acker_core.h"
#include "random.h"

#define MS	1000000ULL
#define SEC	1000000000ULL
#define NOW	(5 * SEC)

static const struct or_acker_rules rules = {
	.ack_packets = 32, .ack_bytes = 65536, .ack_delay_ns = 50000,
	.path_interval_ns = 10 * MS, .sub_interval_ns = 1000,
};

static struct or_acker_track track;
static struct or_acker_path path;
static u64 cpu_tat;

/* A flow whose sender has had an OR-ACK just now, and knows the path. */
static void start(void)
{
	struct or_acker_window any = { 0, ~0U };

	or_acker_track_init(&track, &any, 7);
	path = (struct or_acker_path) { .acked_ns = NOW };
	cpu_tat = 0;
}

static enum or_acker_next packet_at(u64 ns, u32 payload, bool end)
{
	struct or_acker_packet p = {
		.stamp_ns = ns, .seq = 1000, .payload = payload, .headers = 40,
		.segs = 1, .end = end,
	};

	return or_acker_track_packet(&track, &rules, &path, &p);
}

static enum or_acker_verdict admit(u64 now)
{
	return or_acker_admit(&track, &path, &rules, &cpu_tat, 2000, 64, now);
}

static void track__due_by_packets(void)
{
	int i;

	start();
	CHECK_EQ(packet_at(NOW, 100, false), OR_ACKER_NEXT_WAIT);
	for (i = 2; i < 32; i++)
		CHECK_EQ(packet_at(NOW + i, 100, false), OR_ACKER_NEXT_NOTHING);
	CHECK_EQ(packet_at(NOW + 32, 100, false), OR_ACKER_NEXT_SEND);
	CHECK_EQ(track.why, OR_ACKER_WHY_PACKETS);
	/* Once, until it has been decided on. */
	CHECK_EQ(packet_at(NOW + 33, 100, false), OR_ACKER_NEXT_NOTHING);
	track.due = false;
	CHECK(or_acker_track_take(&track));
	CHECK(!or_acker_track_take(&track));
	CHECK_EQ(track.packets, 33);
	/* It waits still, from the first time. */
	CHECK_EQ(packet_at(NOW + 34, 100, false), OR_ACKER_NEXT_NOTHING);
	CHECK_EQ(track.first_ns, NOW + 34);
}

static void track__due_by_bytes(void)
{
	start();
	CHECK_EQ(packet_at(NOW, 65535, false), OR_ACKER_NEXT_WAIT);
	CHECK_EQ(packet_at(NOW, 1, false), OR_ACKER_NEXT_SEND);
	CHECK_EQ(track.why, OR_ACKER_WHY_BYTES);
}

/* A TSO batch that the stack splits is as many packets as it would be on a wire. */
static void track__due_by_segments(void)
{
	struct or_acker_packet p = {
		.stamp_ns = NOW, .payload = 32, .headers = 40, .segs = 32,
	};

	start();
	CHECK_EQ(or_acker_track_packet(&track, &rules, &path, &p), OR_ACKER_NEXT_SEND);
	CHECK_EQ(track.why, OR_ACKER_WHY_PACKETS);
	CHECK_EQ(track.packets, 32);
}

static void track__due_at_once_on_a_new_path(void)
{
	start();
	/* The last OR-ACK to this sender was 10 ms ago, less 1 ns. */
	CHECK_EQ(packet_at(NOW + 10 * MS - 1, 100, false), OR_ACKER_NEXT_WAIT);
	start();
	CHECK_EQ(packet_at(NOW + 10 * MS, 100, false), OR_ACKER_NEXT_SEND);
	CHECK_EQ(track.why, OR_ACKER_WHY_PATH);
	/* The first packet only. */
	track.due = false;
	CHECK_EQ(packet_at(NOW + 10 * MS, 100, false), OR_ACKER_NEXT_WAIT);
}

static void track__ten_packets_while_the_path_is_learned(void)
{
	int i;

	start();
	path = (struct or_acker_path) { 0 };
	CHECK_EQ(packet_at(NOW, 1000, false), OR_ACKER_NEXT_SEND);
	track.due = false;
	CHECK(or_acker_track_take(&track));
	CHECK_EQ(admit(NOW), OR_ACKER_ADMITTED);
	CHECK_EQ(path.learned_ns, NOW + 250 * MS);
	for (i = 1; i < 10; i++)
		CHECK_EQ(packet_at(NOW + i, 100, false), i > 1 ? OR_ACKER_NEXT_NOTHING :
								 OR_ACKER_NEXT_WAIT);
	CHECK_EQ(packet_at(NOW + 10, 100, false), OR_ACKER_NEXT_SEND);
	track.due = false;
	CHECK(or_acker_track_take(&track));
	path.acked_ns = NOW + 250 * MS - 1;
	packet_at(NOW + 250 * MS - 1, 100, false);
	CHECK_EQ(track.limit, 10);
	CHECK(or_acker_track_take(&track));
	packet_at(NOW + 250 * MS, 100, false);
	CHECK_EQ(track.limit, 32);
}

static void track__waits(void)
{
	start();
	CHECK_EQ(packet_at(NOW, 100, false), OR_ACKER_NEXT_WAIT);
	CHECK_EQ(or_acker_track_wait_ns(&track, &rules), NOW + 50000);
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + 49999),
		 OR_ACKER_NEXT_WAIT);
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + 50000),
		 OR_ACKER_NEXT_SEND);
	CHECK(or_acker_track_take(&track));
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + 50000),
		 OR_ACKER_NEXT_NOTHING);
	/* What is due is sent by somebody else. */
	start();
	packet_at(NOW, 100, false);
	packet_at(NOW, 65536, false);
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + 50000),
		 OR_ACKER_NEXT_NOTHING);
	CHECK(!track.waiting);
}

static void track__quiet_at_the_end(void)
{
	struct or_acker_rules each = rules;

	each.path_interval_ns = 0;
	start();
	CHECK_EQ(packet_at(NOW, 100, false), OR_ACKER_NEXT_WAIT);
	CHECK_EQ(packet_at(NOW, 100, true), OR_ACKER_NEXT_NOTHING);
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + 50000),
		 OR_ACKER_NEXT_QUIET);
	/* The next packet counts on, and waits from when it came. */
	CHECK_EQ(packet_at(NOW + MS, 100, false), OR_ACKER_NEXT_WAIT);
	CHECK_EQ(track.since, 3);
	CHECK_EQ(or_acker_track_wait_ns(&track, &rules), NOW + MS + 50000);
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + MS + 50000),
		 OR_ACKER_NEXT_SEND);
	/* Without path_interval_ns each burst has its OR-ACK, whoever was told just now. */
	start();
	packet_at(NOW, 100, false);
	packet_at(NOW, 100, true);
	path.acked_ns = NOW + 50001;
	CHECK_EQ(or_acker_track_waited(&track, &each, &path, NOW + 50000),
		 OR_ACKER_NEXT_SEND);
	/* Its sender does not know the path. */
	start();
	packet_at(NOW, 100, false);
	packet_at(NOW, 100, true);
	path.acked_ns = NOW - 10 * MS;
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + 50000),
		 OR_ACKER_NEXT_SEND);
}

/*
 * What goes through a program or a cipher: an OR-ACK for ten packets, none by time, but that of a
 * sender that had none for 10 ms. While its path is new, by time as well.
 */
static void track__costly(void)
{
	struct or_acker_rules few = rules;
	int i;

	start();
	track.costly = true;
	for (i = 1; i < 10; i++)
		CHECK_EQ(packet_at(NOW + i * MS / 2, 1000, i == 5),
			 i == 5 ? OR_ACKER_NEXT_QUIET : OR_ACKER_NEXT_NOTHING);
	CHECK(!track.waiting);
	CHECK_EQ(packet_at(NOW + 5 * MS, 1000, false), OR_ACKER_NEXT_SEND);
	CHECK_EQ(track.why, OR_ACKER_WHY_PACKETS);
	track.due = false;
	CHECK(or_acker_track_take(&track));
	CHECK_EQ(packet_at(NOW + 10 * MS - 1, 1000, false), OR_ACKER_NEXT_NOTHING);
	CHECK_EQ(packet_at(NOW + 10 * MS, 1000, false), OR_ACKER_NEXT_SEND);
	CHECK_EQ(track.why, OR_ACKER_WHY_PATH);

	start();
	track.costly = true;
	path.learned_ns = NOW + 1;
	CHECK_EQ(packet_at(NOW, 1000, false), OR_ACKER_NEXT_WAIT);
	/* What waits when it is over does so no longer. */
	CHECK_EQ(or_acker_track_waited(&track, &rules, &path, NOW + 50000),
		 OR_ACKER_NEXT_NOTHING);
	CHECK(track.quiet && !track.waiting);
	CHECK_EQ(packet_at(NOW + MS, 1000, false), OR_ACKER_NEXT_NOTHING);

	/* Fewer than ten stay fewer; without path_interval_ns each burst has its OR-ACK. */
	start();
	track.costly = true;
	few.ack_packets = 3;
	CHECK_EQ(or_acker_limit(&track, &path, &few, NOW), 3);
	few.path_interval_ns = 0;
	track.end = true;
	CHECK(!or_acker_track_ends(&track, &few, &path, NOW));
}

/* A message of one packet: nobody has to wait to know that it ends there. */
static void track__quiet_at_once(void)
{
	struct or_acker_packet p = {
		.stamp_ns = NOW, .payload = 100, .headers = 40, .segs = 1, .end = true,
	};
	struct or_acker_rules each = rules;
	int i;

	start();
	for (i = 1; i < 32; i++)
		CHECK_EQ(packet_at(NOW + i, 100, true), OR_ACKER_NEXT_QUIET);
	CHECK(!track.waiting);
	/* All count, and more of them wait from when they come. */
	CHECK_EQ(track.since, 31);
	CHECK_EQ(packet_at(NOW + 32, 100, true), OR_ACKER_NEXT_SEND);
	start();
	CHECK_EQ(packet_at(NOW, 100, true), OR_ACKER_NEXT_QUIET);
	CHECK_EQ(packet_at(NOW + MS, 100, false), OR_ACKER_NEXT_WAIT);
	CHECK_EQ(or_acker_track_wait_ns(&track, &rules), NOW + MS + 50000);
	/* One that ends what others wait for leaves that to the wait. */
	CHECK_EQ(packet_at(NOW + MS, 100, true), OR_ACKER_NEXT_NOTHING);
	CHECK(!track.quiet);
	/* Nor is there a wait that it ends, when all before it were acknowledged. */
	CHECK(or_acker_track_take(&track));
	CHECK_EQ(packet_at(NOW + MS, 100, true), OR_ACKER_NEXT_NOTHING);
	CHECK(track.waiting && !track.quiet);
	/* Its sender does not know the path, or each burst has its OR-ACK. */
	start();
	CHECK_EQ(packet_at(NOW + 10 * MS, 100, true), OR_ACKER_NEXT_SEND);
	start();
	/* The clock of a driver may be a little behind. */
	path.acked_ns = NOW + 1;
	each.path_interval_ns = 0;
	CHECK_EQ(or_acker_track_packet(&track, &each, &path, &p), OR_ACKER_NEXT_WAIT);
}

static void admit__credit(void)
{
	start();
	packet_at(NOW, 23, false);
	CHECK_EQ(track.credit, 63);
	CHECK_EQ(admit(NOW), OR_ACKER_HELD_CREDIT);
	packet_at(NOW, 1, false);
	CHECK_EQ(track.credit, 104);
	CHECK_EQ(admit(NOW), OR_ACKER_ADMITTED);
	CHECK_EQ(track.credit, 40);
	/* All of it may be spent. */
	track.credit = 64;
	CHECK_EQ(admit(NOW), OR_ACKER_ADMITTED);
	CHECK_EQ(track.credit, 0);
	packet_at(NOW, 10000, false);
	CHECK_EQ(track.credit, 4096);
}

/* 1 us and 2 us between two: 1 ms at the rate fits in, and the one that fills it up. */
static void admit__buckets(void)
{
	int n;

	start();
	packet_at(NOW, 10000, false);
	for (n = 0; n < 5000 && admit(NOW) == OR_ACKER_ADMITTED; n++)
		track.credit = 4096;
	CHECK_EQ(n, 501);
	CHECK_EQ(admit(NOW), OR_ACKER_HELD_CPU);
	CHECK_EQ(admit(NOW + 1999), OR_ACKER_HELD_CPU);
	CHECK_EQ(admit(NOW + 2000), OR_ACKER_ADMITTED);
	start();
	packet_at(NOW, 10000, false);
	for (n = 0; n < 5000 && admit(NOW) == OR_ACKER_ADMITTED; n++) {
		track.credit = 4096;
		cpu_tat = 0;
	}
	CHECK_EQ(n, 1001);
	CHECK_EQ(admit(NOW), OR_ACKER_HELD_SUB);
	/* After a pause there are no more than that. */
	CHECK_EQ(path.tat_ns, NOW + 1001000);
	admit(NOW + SEC);
	CHECK_EQ(path.tat_ns, NOW + SEC + 1000);
}

/* An OR-ACK that one limit holds back costs nothing of the others. */
static void admit__takes_all_or_nothing(void)
{
	start();
	packet_at(NOW, 10000, false);
	cpu_tat = NOW + 2 * MS;
	CHECK_EQ(admit(NOW), OR_ACKER_HELD_CPU);
	CHECK_EQ(path.tat_ns, 0);
	CHECK_EQ(path.acked_ns, NOW);
	CHECK_EQ(track.credit, 4096);
	CHECK_EQ(cpu_tat, NOW + 2 * MS);
	cpu_tat = 0;
	path.tat_ns = NOW + 2 * MS;
	CHECK_EQ(admit(NOW), OR_ACKER_HELD_SUB);
	CHECK_EQ(cpu_tat, 0);
	CHECK_EQ(track.credit, 4096);
	track.credit = 1;
	path.tat_ns = 0;
	CHECK_EQ(admit(NOW), OR_ACKER_HELD_CREDIT);
	CHECK_EQ(path.tat_ns | cpu_tat, 0);
}

static void report__covers_each_packet_once(void)
{
	struct or_acker_report report;

	start();
	packet_at(NOW, 100, false);
	packet_at(NOW + 5, 200, false);
	report = or_acker_track_report(&track, NOW + 1005);
	CHECK_EQ(report.seq, 1200);
	CHECK_EQ(report.hold_ns, 1000);
	CHECK_EQ(report.count, 7);
	CHECK_EQ(report.packets, 2);
	CHECK_EQ(report.bytes, 300);
	packet_at(NOW + 2000, 10, false);
	report = or_acker_track_report(&track, NOW + 2000 + SEC);
	CHECK_EQ(report.hold_ns, 0xffffff);
	CHECK_EQ(report.count, 8);
	CHECK_EQ(report.packets, 1);
	CHECK_EQ(report.bytes, 10);
}

static void report__stamp_ahead_of_the_clock(void)
{
	start();
	packet_at(NOW + 1, 100, false);
	CHECK_EQ(or_acker_track_report(&track, NOW).hold_ns, 0);
}

static void window__of_a_socket(void)
{
	struct or_acker_window w = or_acker_window_of(1000000, 200000);

	CHECK(or_acker_window_has(&w, 1000000));
	/* A probe of a window that is full begins at its right edge. */
	CHECK(or_acker_window_has(&w, 1200000));
	CHECK(!or_acker_window_has(&w, 1200001));
	CHECK(or_acker_window_has(&w, 800000));
	CHECK(!or_acker_window_has(&w, 799999));
	/* Small ones, none, and more than there can be. */
	w = or_acker_window_of(1000000, 0);
	CHECK(or_acker_window_has(&w, 1065536));
	CHECK(!or_acker_window_has(&w, 1065537));
	w = or_acker_window_of(0, ~0U);
	CHECK(or_acker_window_has(&w, 1U << 30));
	CHECK(!or_acker_window_has(&w, (1U << 30) + 1));
}

static void window__wraps(void)
{
	u64 nxt, seq, wnd, miss = 0, hit = 0;
	struct or_acker_window w;
	bool want;
	int i;

	random_state = 1;
	for (i = 0; i < 100000; i++) {
		nxt = (1ULL << 32) + (chance(0.5) ? random_u64() % 100000 :
						    0xffff0000ULL + random_u64() % 131072);
		wnd = 65536 + random_u64() % 1000000;
		seq = nxt + random_u64() % (4 * wnd) - 2 * wnd;
		want = seq + wnd >= nxt && seq <= nxt + wnd;
		w = or_acker_window_of((u32)nxt, (u32)wnd);
		hit += want;
		miss += !want;
		if (or_acker_window_has(&w, (u32)seq) != want) {
			CHECK_EQ(seq - nxt, wnd);
			return;
		}
	}
	CHECK(hit > 10000 && miss > 10000);
	start();
	w = or_acker_window_of(5, 70000);
	or_acker_track_set_window(&track, &w);
	CHECK(!memcmp(&track.window, &w, sizeof(w)));
}

/* In each of @times intervals so many bytes with On-Ramp, and without. */
static bool share_after(struct or_acker_share *s, int times, u64 with, u64 without)
{
	while (times--)
		or_acker_share_update(s, s->at_ns + (1ULL << OR_ACKER_SHARE_SHIFT),
				      s->with + with, s->without + without);
	return s->others;
}

static void share__of_others(void)
{
	struct or_acker_share s = { .at_ns = 0 };

	/* What was there before it was looked at does not count. */
	or_acker_share_update(&s, 1ULL << 40, 1000, 1000000);
	CHECK(!s.others);
	CHECK(!share_after(&s, 100, 0, 0));
	/* 3 of 16 from below, 2 of 16 from above. */
	CHECK(!share_after(&s, 100, 132000, 30000));
	CHECK(share_after(&s, 100, 129000, 31000));
	CHECK(share_after(&s, 100, 139000, 20000));
	CHECK(!share_after(&s, 100, 141000, 20000));
	/* 29 ms of it are remembered. */
	CHECK(!share_after(&s, 2, 120000, 41000));
	CHECK(share_after(&s, 1, 120000, 41000));
	CHECK(share_after(&s, 1, 161000, 0));
	CHECK(!share_after(&s, 1, 161000, 0));
	/* A pause of the senders. */
	CHECK(share_after(&s, 40, 0, 161000));
	or_acker_share_update(&s, s.at_ns + (16ULL << OR_ACKER_SHARE_SHIFT),
			      s.with + 161000, s.without);
	CHECK(!s.others);
	/* After a silence, what came in it is old. */
	CHECK(share_after(&s, 40, 0, 161000));
	or_acker_share_update(&s, s.at_ns + (17ULL << OR_ACKER_SHARE_SHIFT),
			      s.with + 1000, s.without + 1000000);
	CHECK(!s.others);
	/* Not looked at more often. */
	CHECK(share_after(&s, 40, 0, 161000));
	or_acker_share_update(&s, s.at_ns + (1ULL << OR_ACKER_SHARE_SHIFT) - 1,
			      s.with + (1 << 30), s.without);
	CHECK(s.others);
	CHECK(share_after(&s, 1, 0, 0));
}

/* Counters wrap. */
static void share__wraps(void)
{
	struct or_acker_share s = { .at_ns = 0 };

	or_acker_share_update(&s, 1ULL << 40, -5000U, -5000U);
	CHECK(share_after(&s, 1, 5000, 5000));
	CHECK_EQ(s.with, 0);
	CHECK_EQ(s.with_now, 5000);
	CHECK(share_after(&s, 1, 5000, 5000));
	CHECK(s.with_now < 10000 && s.without_now < 10000);
}

/* Queues of a switch: by the tag's priority if it has one, else by the class selector. */
static void share__class(void)
{
	u32 tos, pcp;

	for (tos = 0; tos < 256; tos++) {
		CHECK_EQ(or_acker_class_of(0, (u8)tos), tos / 32);
		for (pcp = 1; pcp < 8; pcp++)
			CHECK_EQ(or_acker_class_of(pcp, (u8)tos), pcp);
	}
}

/* Units are rounded up, so that small packets count. */
static void share__units(void)
{
	CHECK_EQ(or_acker_share_units(0), 0);
	CHECK_EQ(or_acker_share_units(1), 1);
	CHECK_EQ(or_acker_share_units(16), 1);
	CHECK_EQ(or_acker_share_units(17), 2);
	CHECK_EQ(or_acker_share_units(1 << 24), 1 << 20);
}

#define LOOK	(1ULL << OR_ACKER_LOAD_SHIFT)

/* Some looks at a CPU that is idle for so much of 64, and then sends some OR-ACKs. */
static u32 load_after(struct or_acker_load *l, int looks, u32 idle, u32 acks, u32 cost_ns)
{
	u32 round = 0, i;

	while (looks--) {
		or_acker_load_update(l, l->at_ns + LOOK, l->idle_ns + LOOK / 64 * idle);
		for (i = 0; i < acks; i++)
			or_acker_load_spent(l, or_acker_cost_ns(cost_ns, false), &round);
	}
	return or_acker_load_gap(l, 512);
}

static void load_start(struct or_acker_load *l)
{
	*l = (struct or_acker_load) { .at_ns = 0 };
	or_acker_load_update(l, NOW, SEC);
}

/* 3/64 is below a 16th; what it idled before the first look does not count. */
static void load__busy(void)
{
	struct or_acker_load l;

	load_start(&l);
	CHECK(!l.busy);
	CHECK_EQ(load_after(&l, 10, 4, 10, 1000), 0);
	CHECK_EQ(load_after(&l, 1, 3, 10, 1000), 512000);
	/* An 8th makes it no longer busy. */
	CHECK_EQ(load_after(&l, 10, 7, 10, 1000), 512000);
	CHECK_EQ(load_after(&l, 1, 8, 10, 1000), 0);
	CHECK_EQ(load_after(&l, 10, 4, 10, 1000), 0);
	/* Without OR-ACKs the cost is what it was. */
	CHECK_EQ(load_after(&l, 10, 0, 0, 0), 512000);
	CHECK_EQ(or_acker_load_gap(&l, 0), 0);
	CHECK_EQ(or_acker_load_gap(&l, 1), 1000);
	/* Virtual time, in which nothing takes any: no limit. */
	load_start(&l);
	CHECK_EQ(load_after(&l, 10, 0, 10, 0), 0);
}

static void load__cost(void)
{
	struct or_acker_load l;

	load_start(&l);
	load_after(&l, 2, 0, 10, 1000);
	/* The first one has 1000, those of after that count for a quarter. */
	load_after(&l, 1, 0, 10, 5000);
	CHECK_EQ(load_after(&l, 1, 0, 10, 5000), 512 * 2000);
	CHECK_EQ(load_after(&l, 1, 0, 10, 5000), 512 * 2750);
	/* At most 50 ms; what interrupted it counts for 1 ms. */
	CHECK_EQ(load_after(&l, 100, 0, 10, 100000), OR_ACKER_GAP_MAX_NS);
	load_start(&l);
	load_after(&l, 2, 0, 1, 100 * MS);
	CHECK_EQ(l.cost_ns, MS);
}

/* To receive it takes this host twice as much as to send it. */
static void cost__local(void)
{
	CHECK_EQ(or_acker_cost_ns(1000, false), 1000);
	CHECK_EQ(or_acker_cost_ns(1000, true), 3000);
	/* What interrupted it counts for 1 ms. */
	CHECK_EQ(or_acker_cost_ns(100 * MS, true), MS);
}

/* After a burst of 1 ms, an eighth of the time. */
static void time__an_eighth(void)
{
	u64 tat_ns = 0, now_ns = NOW, spent_ns = 0;

	while (now_ns < NOW + SEC) {
		if (or_acker_bucket_has(tat_ns, now_ns)) {
			spent_ns += 2000;
			now_ns += 2000;
			tat_ns = or_acker_time_take(tat_ns, now_ns, 2000);
		} else {
			now_ns += 1000;
		}
	}
	CHECK(spent_ns >= SEC / 8);
	CHECK(spent_ns <= SEC / 8 + MS);
	/* The longest that one can take holds the next one for 7 ms. */
	tat_ns = or_acker_time_take(0, NOW, MS);
	CHECK(!or_acker_bucket_has(tat_ns, NOW + 7 * MS - 1));
	CHECK(or_acker_bucket_has(tat_ns, NOW + 7 * MS));
}

/* Namespaces have equal shares of it. */
static void load__namespaces(void)
{
	u32 round[3] = { 0, 0, 0 }, i, n;
	struct or_acker_load l;

	load_start(&l);
	for (i = 0; i < 20; i++) {
		for (n = 0; n < 30; n++)
			or_acker_load_spent(&l, 1000, &round[n % 3]);
		or_acker_load_update(&l, l.at_ns + LOOK, l.idle_ns);
	}
	CHECK_EQ(or_acker_load_gap(&l, 512), 3 * 512000);
	for (n = 0; n < 30; n++)
		or_acker_load_spent(&l, 1000, &round[1]);
	or_acker_load_update(&l, l.at_ns + LOOK, l.idle_ns);
	CHECK_EQ(or_acker_load_gap(&l, 512), 512000);
}

/* Not looked at more often; after a silence the load is unknown. */
static void load__ages(void)
{
	struct or_acker_load l, was;

	load_start(&l);
	load_after(&l, 3, 0, 10, 1000);
	was = l;
	or_acker_load_update(&l, l.at_ns + LOOK - 1, l.idle_ns + LOOK);
	CHECK(!memcmp(&l, &was, sizeof(l)));
	or_acker_load_update(&l, l.at_ns - 1, l.idle_ns);
	CHECK(!memcmp(&l, &was, sizeof(l)));
	or_acker_load_update(&l, l.at_ns + 17 * LOOK - 1, l.idle_ns);
	CHECK(l.busy);
	or_acker_load_update(&l, l.at_ns + 17 * LOOK, l.idle_ns);
	CHECK(!l.busy);
	CHECK_EQ(or_acker_load_gap(&l, 512), 0);
	/* An idle time that steps back is none. */
	CHECK_EQ(load_after(&l, 1, 0, 1, 1000), 512000);
	or_acker_load_update(&l, l.at_ns + LOOK, 0);
	CHECK(l.busy);
	CHECK_EQ(l.idle_ns, 0);
}

/* A packet in the order of its flow, which waits. */
static struct or_acker_packet next_packet(u32 *seq, u64 ns, u32 payload, bool end)
{
	struct or_acker_packet p = {
		.stamp_ns = ns, .seq = *seq, .payload = payload, .headers = 40, .segs = 1,
		.end = end,
	};

	*seq += payload;
	return p;
}

/* Packets one by one, and as trains of any length, lead to the same. */
static void train__is_its_packets(void)
{
	struct or_acker_track one;
	u32 seq = 0xfffff000, due = 0, trains = 0, payload, i, j, n;
	struct or_acker_train train;
	struct or_acker_packet p;
	bool full, end;

	random_state = 17;
	start();
	p = next_packet(&seq, NOW, 100, false);
	CHECK_EQ(or_acker_track_packet(&track, &rules, &path, &p), OR_ACKER_NEXT_WAIT);
	for (i = 1; i < 1000; i++) {
		one = track;
		or_acker_train_begin(&train, &track, &rules);
		n = 1 + random_u64() % 12;
		full = false;
		for (j = 0; j < n && !full; j++) {
			CHECK(or_acker_train_continues(&train, &track.window, seq));
			payload = 1 + random_u64() % 9000;
			/* Now and then ack_bytes to the byte. */
			if (chance(0.05) && one.bytes < rules.ack_bytes &&
			    rules.ack_bytes - one.bytes <= 9000)
				payload = rules.ack_bytes - one.bytes;
			end = chance(0.1);
			p = next_packet(&seq, NOW + i * 100 + j, payload, end);
			CHECK(!one.due || track.due);
			full = or_acker_train_add(&train, p.stamp_ns, p.payload, p.end);
			or_acker_track_packet(&one, &rules, &path, &p);
		}
		/* It ends with the packet that makes an OR-ACK due, and not before. */
		CHECK_EQ(full, one.due && !track.due);
		p = or_acker_train_packet(&train, &track, 40);
		CHECK_EQ(p.headers, train.segs * 40);
		or_acker_track_packet(&track, &rules, &path, &p);
		CHECK_EQ(track.stamp_ns, one.stamp_ns);
		CHECK_EQ(track.first_ns, one.first_ns);
		CHECK_EQ(track.seq, one.seq);
		CHECK_EQ(track.since, one.since);
		CHECK_EQ(track.bytes, one.bytes);
		CHECK_EQ(track.packets, one.packets);
		CHECK_EQ(track.in_bytes, one.in_bytes);
		CHECK_EQ(track.credit, one.credit);
		CHECK_EQ(track.due, one.due);
		CHECK_EQ(track.end, one.end);
		if (track.due)
			CHECK_EQ(track.why, one.why);
		if (track.due && chance(0.5)) {
			due++;
			track.due = false;
			CHECK(or_acker_track_take(&track));
			/* The first one behind an OR-ACK is no part of a train. */
			p = next_packet(&seq, NOW + i * 100 + 99, 100, false);
			CHECK_EQ(or_acker_track_packet(&track, &rules, &path, &p),
				 OR_ACKER_NEXT_NOTHING);
		}
		trains++;
	}
	CHECK(due > 100);
	CHECK_EQ(trains, 999);
}

static void train__continues(void)
{
	struct or_acker_window window = { .from = 900, .size = 1000 };
	struct or_acker_train train;
	struct or_acker_packet p;
	u32 seq = 1000;

	start();
	p = next_packet(&seq, NOW, 100, false);
	or_acker_track_packet(&track, &rules, &path, &p);
	or_acker_train_begin(&train, &track, &rules);
	CHECK(or_acker_train_continues(&train, &window, 1100));
	/* Lost, or sent again. */
	CHECK(!or_acker_train_continues(&train, &window, 1101));
	CHECK(!or_acker_train_continues(&train, &window, 1000));
	p = next_packet(&seq, NOW, 50, false);
	CHECK(!or_acker_train_add(&train, p.stamp_ns, p.payload, p.end));
	CHECK(or_acker_train_continues(&train, &window, 1150));
	window.size = 249;
	CHECK(!or_acker_train_continues(&train, &window, 1150));
}

/* Another CPU had a newer packet, which has reached the flow before the train. */
static void train__not_the_newest(void)
{
	struct or_acker_train train;
	struct or_acker_packet p;
	u32 seq = 1000;

	start();
	p = next_packet(&seq, NOW, 100, false);
	or_acker_track_packet(&track, &rules, &path, &p);
	or_acker_train_begin(&train, &track, &rules);
	p = next_packet(&seq, NOW + 10, 100, false);
	CHECK(!or_acker_train_add(&train, p.stamp_ns, p.payload, p.end));
	p = next_packet(&seq, NOW + 20, 100, true);
	or_acker_track_packet(&track, &rules, &path, &p);
	p = or_acker_train_packet(&train, &track, 40);
	or_acker_track_packet(&track, &rules, &path, &p);
	CHECK_EQ(track.stamp_ns, NOW + 20);
	CHECK_EQ(track.seq, 1300);
	CHECK(track.end);
	CHECK_EQ(track.since, 3);
	CHECK_EQ(track.in_bytes, 300);
}

/* Behind a packet that made an OR-ACK due, until that is sent. */
static void train__while_due(void)
{
	struct or_acker_train train;
	struct or_acker_packet p;
	u32 seq = 1000, i;

	start();
	for (i = 0; i < 32; i++) {
		p = next_packet(&seq, NOW, 1448, false);
		or_acker_track_packet(&track, &rules, &path, &p);
	}
	CHECK(track.due);
	or_acker_train_begin(&train, &track, &rules);
	for (i = 1; i < OR_ACKER_TRAIN_MAX; i++) {
		p = next_packet(&seq, NOW, 65535, false);
		CHECK(!or_acker_train_add(&train, p.stamp_ns, p.payload, p.end));
	}
	p = next_packet(&seq, NOW, 65535, false);
	CHECK(or_acker_train_add(&train, p.stamp_ns, p.payload, p.end));
	CHECK_EQ(train.payload, 255 * 65535);
}

/* A sender comes at NOW, all have data: drains until the age of 30 s. */
static void drain__schedule(void)
{
	static const u32 at_ms[] = {
		50, 160, 320, 640, 1280, 2280, 3280, 4280, 5280, 6280, 7280, 8280, 9315,
		10479, 11789, 13262, 14920, 16785, 18884, 21244, 23900, 26887, 30248,
	};
	struct or_acker_drain d = {};
	u64 from;
	size_t i;

	CHECK(or_acker_drain_sender(&d, NOW));
	for (i = 0; i < ARRAY_SIZE(at_ms); i++) {
		CHECK_EQ((d.next_ns - NOW) / MS, at_ms[i]);
		from = d.next_ns;
		or_acker_drain_run(&d, from, true);
		CHECK(or_acker_drain_ran(&d, from, 2, 2));
	}
	/* 8 s at most. */
	or_acker_drain_run(&d, NOW + 3600 * SEC, true);
	CHECK(or_acker_drain_ran(&d, NOW + 3600 * SEC, 2, 2));
	CHECK_EQ(d.next_ns, NOW + 3608 * SEC);
	/* The next sender does not wait for that. */
	CHECK(or_acker_drain_sender(&d, NOW + 3601 * SEC));
	CHECK_EQ(d.next_ns, NOW + 3601 * SEC + 50 * MS);
}

/* Two that come together wait for 20 ms; a single one, and one that comes after a drain, for 50. */
static void drain__senders_together(void)
{
	struct or_acker_drain d = {};

	CHECK(or_acker_drain_sender(&d, NOW));
	CHECK_EQ(d.next_ns, NOW + 50 * MS);
	CHECK(or_acker_drain_sender(&d, NOW + 5 * MS));
	CHECK_EQ(d.next_ns, NOW + 25 * MS);
	CHECK(!or_acker_drain_sender(&d, NOW + 6 * MS));
	or_acker_drain_run(&d, NOW + 25 * MS, true);
	CHECK(or_acker_drain_ran(&d, NOW + 25 * MS, 3, 3));
	/* The others know their paths. */
	CHECK(!or_acker_drain_sender(&d, NOW + 26 * MS));
	CHECK_EQ(d.next_ns, NOW + 135 * MS);
	/* 50 ms apart is not together; nor is a time that another CPU has read before. */
	d = (struct or_acker_drain) {};
	CHECK(or_acker_drain_sender(&d, NOW));
	or_acker_drain_run(&d, NOW + 50 * MS, true);
	CHECK(or_acker_drain_ran(&d, NOW + 50 * MS, 1, 0));
	CHECK(or_acker_drain_sender(&d, NOW + 50 * MS));
	CHECK_EQ(d.next_ns, NOW + 100 * MS);
	CHECK(or_acker_drain_sender(&d, NOW + 50 * MS - 1));
	CHECK_EQ(d.next_ns, NOW + 70 * MS - 1);
}

/* A sender each ms for ten seconds: neither more often than each 110 ms, nor never. */
static void drain__senders_without_end(void)
{
	struct or_acker_drain d = {};
	u64 now, last = 0;
	int drains = 0;

	for (now = NOW; now < NOW + 10 * SEC; now += MS) {
		if (d.next_ns && now >= d.next_ns) {
			CHECK(!last || now >= last + 110 * MS);
			last = now;
			drains++;
			or_acker_drain_run(&d, now, true);
			/* One comes meanwhile. */
			or_acker_drain_sender(&d, now);
			CHECK(or_acker_drain_ran(&d, now, 1, 1));
		}
		or_acker_drain_sender(&d, now);
	}
	CHECK_EQ(drains, 91);
}

static void drain__on(void)
{
	struct or_acker_drain d = {};

	CHECK(!or_acker_drain_on(&d, NOW));
	or_acker_drain_sender(&d, NOW);
	CHECK(!or_acker_drain_on(&d, NOW));
	or_acker_drain_run(&d, NOW, true);
	CHECK(or_acker_drain_on(&d, NOW));
	CHECK(or_acker_drain_ran(&d, NOW, 3, 1));
	CHECK(or_acker_drain_on(&d, NOW + 5 * MS - 1));
	CHECK(!or_acker_drain_on(&d, NOW + 5 * MS));
	/* Nobody has data: none has begun, and the next one is not later for it. */
	or_acker_drain_run(&d, NOW + SEC, true);
	CHECK(or_acker_drain_ran(&d, NOW + SEC, 3, 0));
	CHECK(!or_acker_drain_on(&d, NOW + SEC));
	CHECK_EQ(d.last_ns, NOW);
	/* Nobody would take it, or they are off: no more, until a sender comes. */
	or_acker_drain_run(&d, NOW + 2 * SEC, true);
	CHECK(!or_acker_drain_ran(&d, NOW + 2 * SEC, 0, 0));
	CHECK(or_acker_drain_sender(&d, NOW + 3 * SEC));
	or_acker_drain_run(&d, NOW + 4 * SEC, false);
	CHECK(!or_acker_drain_on(&d, NOW + 4 * SEC));
	CHECK(or_acker_drain_sender(&d, NOW + 5 * SEC));
}

/* After a drain the first packet behind a silence has an OR-ACK at once, a few times. */
static void drain__silence(void)
{
	struct or_acker_packet train = {
		.stamp_ns = NOW + 100000, .payload = 100, .headers = 40, .segs = 1, .train = true,
	};
	int i;

	start();
	packet_at(NOW, 100, false);
	CHECK_EQ(packet_at(NOW + 20000, 100, false), OR_ACKER_NEXT_NOTHING);
	or_acker_path_drains(&path);
	CHECK_EQ(path.probes, OR_ACKER_DRAIN_PROBES);
	CHECK_EQ(packet_at(NOW + 39999, 100, false), OR_ACKER_NEXT_NOTHING);
	/* In a train there was none. */
	CHECK_EQ(or_acker_track_packet(&track, &rules, &path, &train), OR_ACKER_NEXT_NOTHING);
	CHECK_EQ(packet_at(NOW + 120000, 100, false), OR_ACKER_NEXT_SEND);
	CHECK_EQ(track.why, OR_ACKER_WHY_SILENCE);
	/* Also of a flow that has waited in vain: its packets before it have none yet. */
	CHECK(or_acker_track_take(&track));
	CHECK_EQ(track.packets, 5);
	track.due = false;
	path.probes = 8;
	for (i = 0; i < 8; i++) {
		CHECK_EQ(packet_at(NOW + (i + 1) * MS, 100, false), OR_ACKER_NEXT_SEND);
		or_acker_path_probed(&path);
		track.due = false;
		or_acker_track_take(&track);
	}
	CHECK_EQ(packet_at(NOW + 9 * MS, 100, false), OR_ACKER_NEXT_NOTHING);
	or_acker_path_probed(&path);
	CHECK_EQ(path.probes, 0);
}

/* Hosts that are up for no time and for ten years, and NICs that have TAI from 2024 to 2060. */
static void hide__within_what_a_sender_takes(void)
{
	static const u64 year_ns = 31557600000000000ULL;
	const u64 clocks[] = { 0, 10 * year_ns, 54 * year_ns, 57 * year_ns, 90 * year_ns };
	const u64 randoms[] = { 0, 1, 1ULL << 62, 1ULL << 63, ~0ULL };
	size_t i, j;
	s64 apart;

	for (i = 0; i < ARRAY_SIZE(clocks); i++)
		for (j = 0; j < ARRAY_SIZE(randoms); j++) {
			/* From a sender that has just begun, and one that is up for ten years. */
			apart = (s64)or_acker_hide_ns(clocks[i], randoms[j]);
			CHECK(apart < OR_CLOCKS_APART_NS);
			CHECK(apart - (s64)clocks[1] > -OR_CLOCKS_APART_NS);
		}
	/* The time that is unknown is longer than a host is up. */
	CHECK(or_acker_hide_ns(0, 0) - or_acker_hide_ns(0, ~0ULL) > 30 * year_ns);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(track__due_by_packets),
		KTAP_CASE(track__due_by_bytes),
		KTAP_CASE(track__due_by_segments),
		KTAP_CASE(track__due_at_once_on_a_new_path),
		KTAP_CASE(track__ten_packets_while_the_path_is_learned),
		KTAP_CASE(track__waits),
		KTAP_CASE(track__quiet_at_the_end),
		KTAP_CASE(track__costly),
		KTAP_CASE(track__quiet_at_once),
		KTAP_CASE(train__is_its_packets),
		KTAP_CASE(train__continues),
		KTAP_CASE(train__not_the_newest),
		KTAP_CASE(train__while_due),
		KTAP_CASE(admit__credit),
		KTAP_CASE(admit__buckets),
		KTAP_CASE(admit__takes_all_or_nothing),
		KTAP_CASE(report__covers_each_packet_once),
		KTAP_CASE(report__stamp_ahead_of_the_clock),
		KTAP_CASE(window__of_a_socket),
		KTAP_CASE(window__wraps),
		KTAP_CASE(share__of_others),
		KTAP_CASE(share__wraps),
		KTAP_CASE(share__class),
		KTAP_CASE(share__units),
		KTAP_CASE(load__busy),
		KTAP_CASE(load__cost),
		KTAP_CASE(cost__local),
		KTAP_CASE(time__an_eighth),
		KTAP_CASE(load__namespaces),
		KTAP_CASE(load__ages),
		KTAP_CASE(drain__schedule),
		KTAP_CASE(drain__senders_together),
		KTAP_CASE(drain__senders_without_end),
		KTAP_CASE(drain__on),
		KTAP_CASE(drain__silence),
		KTAP_CASE(hide__within_what_a_sender_takes),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
