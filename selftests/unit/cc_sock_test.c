// SPDX-License-Identifier: GPL-2.0
/*
 * cc_sock.h: when TCP takes over pacing, and what it finds then; sizes, rates and windows. The
 * kernel's sockets are those of stub/net/tcp.h. Expected values are worked out by hand.
 */
#include <math.h>

#include "ktap.h"

#include "cc_sock.h"

#define MS	1000000ULL
#define PACKETS	4

static const struct inet_connection_sock_af_ops ipv4 = { .net_header_len = 20 };

static struct tcp_sock tp;
static struct sk_buff skbs[PACKETS];
static u64 clock_ns;

/* What each look at the clock or at the charge takes. */
static u64 look_ns;

/* Packets that are due leave the qdisc, which obeys departure times. */
static bool obeyed;

static struct sock *const sk = (struct sock *)&tp;

static void look(void)
{
	int i;

	clock_ns += look_ns;
	for (i = 0; obeyed && i < PACKETS; i++) {
		if (skbs[i].len && skbs[i].skb_mstamp_ns > clock_ns - look_ns &&
		    skbs[i].skb_mstamp_ns <= clock_ns)
			sk->sk_wmem_alloc.refs -= skbs[i].len;
	}
}

u64 tcp_clock_ns(void)
{
	look();
	return clock_ns;
}

int refcount_read(const struct refcount *r)
{
	look();
	return r->refs;
}

/* A flow at a second, whose packets of 1000 bytes depart at these times, ms after it. */
static void flow(const double *departs)
{
	struct list_head *head = &tp.tsorted_sent_queue;
	int i;

	tp = (struct tcp_sock){
		.icsk.icsk_af_ops = &ipv4, .tcp_header_len = 32, .mss_cache = 1448,
		.icsk.sk.sk_pacing_status = SK_PACING_FQ,
	};
	clock_ns = 1000 * MS;
	look_ns = 0;
	obeyed = false;
	tp.tcp_clock_cache = clock_ns;
	head->next = head;
	head->prev = head;
	for (i = 0; i < PACKETS; i++) {
		struct list_head *at = &skbs[i].tcp_tsorted_anchor;

		skbs[i].len = 1000;
		skbs[i].skb_mstamp_ns = clock_ns + (s64)(departs[i] * MS);
		at->prev = head->prev;
		at->next = head;
		head->prev->next = at;
		head->prev = at;
	}
	tp.tcp_wstamp_ns = skbs[PACKETS - 1].skb_mstamp_ns;
	tp.rack.mstamp = 900 * MS / NSEC_PER_USEC;
}

static const double past[] = { -4, -3, -2, -1 }, future[] = { -1, 2, 4, 6 };

static void take_pacing__departures_are_those_of_the_clock(void)
{
	u64 ahead_ns = 0;

	/* Nothing is charged: all have left. */
	flow(future);
	CHECK(cc_take_pacing(sk, NULL, &ahead_ns));
	CHECK_EQ(ahead_ns, 6 * MS);
	/* The next segment may leave now. */
	CHECK_EQ(tp.tcp_wstamp_ns, clock_ns);
	CHECK_EQ(sk->sk_pacing_status, SK_PACING_NEEDED);
	/* What left did so no later than now, and what left earlier did. */
	CHECK_EQ(skbs[0].skb_mstamp_ns, clock_ns - MS);
	CHECK_EQ(skbs[1].skb_mstamp_ns, clock_ns);
	CHECK_EQ(skbs[2].skb_mstamp_ns, clock_ns);
	CHECK_EQ(skbs[3].skb_mstamp_ns, clock_ns);
	CHECK_EQ(tp.rack.mstamp, 900 * MS / NSEC_PER_USEC);
}

static void take_pacing__seconds_ahead(void)
{
	static const double late[] = { 1000, 2000, 3000, 4000 };
	u64 ahead_ns = 0;

	flow(late);
	tp.rack.mstamp = 2000 * MS / NSEC_PER_USEC;
	CHECK(cc_take_pacing(sk, NULL, &ahead_ns));
	CHECK_EQ(ahead_ns, 4000 * MS);
	CHECK_EQ(tp.tcp_wstamp_ns, clock_ns);
	CHECK_EQ(skbs[0].skb_mstamp_ns, clock_ns);
	/* Loss detection has seen none that leaves later than now. */
	CHECK_EQ(tp.rack.mstamp, clock_ns / NSEC_PER_USEC);
}

static void take_pacing__again_when_a_qdisc_has_taken_it(void)
{
	u64 ahead_ns;

	flow(future);
	CHECK(cc_take_pacing(sk, NULL, &ahead_ns));
	CHECK(!cc_take_pacing(sk, NULL, &ahead_ns));
	flow(future);
	sk->sk_pacing_status = SK_PACING_NONE;
	CHECK(cc_take_pacing(sk, NULL, &ahead_ns));
	CHECK_EQ(sk->sk_pacing_status, SK_PACING_NONE);
}

static void take_pacing__the_clock_has_caught_up(void)
{
	u64 ahead_ns = 1;

	/* The departure time is later than the clock that TCP has, but not than the clock. */
	flow(future);
	clock_ns += 10 * MS;
	CHECK(cc_take_pacing(sk, &(struct rate_sample){ .rtt_us = 0 }, &ahead_ns));
	CHECK_EQ(ahead_ns, 0);
	CHECK_EQ(tp.tcp_wstamp_ns, 1006 * MS);
	CHECK_EQ(skbs[3].skb_mstamp_ns, 1006 * MS);
}

static void take_pacing__packets_that_wait(void)
{
	struct rate_sample rs = { .rtt_us = 30 };
	u64 ahead_ns;

	/* Three are due later, and three are charged. */
	flow(future);
	sk->sk_wmem_alloc.refs = 3000;
	CHECK(!cc_take_pacing(sk, NULL, &ahead_ns));
	CHECK(!cc_take_pacing(sk, &rs, &ahead_ns));
	CHECK_EQ(sk->sk_pacing_status, SK_PACING_FQ);
	CHECK_EQ(tp.tcp_wstamp_ns, 1006 * MS);
	CHECK_EQ(skbs[3].skb_mstamp_ns, 1006 * MS);
	/* One byte less: one has left. */
	sk->sk_wmem_alloc.refs = 2999;
	CHECK(cc_take_pacing(sk, &rs, &ahead_ns));
	/* An RTT of 0 is one below zero. -1 is none. */
	flow(future);
	sk->sk_wmem_alloc.refs = 3000;
	rs.rtt_us = -1;
	CHECK(!cc_take_pacing(sk, &rs, &ahead_ns));
	rs.rtt_us = 0;
	CHECK(cc_take_pacing(sk, &rs, &ahead_ns));
	/* None is due later. */
	flow(past);
	CHECK(!cc_take_pacing(sk, &rs, &ahead_ns));
	CHECK(!cc_take_pacing(sk, NULL, &ahead_ns));
	/* The next one is: the last one's departure and its length at the rate. */
	flow(past);
	tp.tcp_wstamp_ns = clock_ns + MS;
	CHECK(!cc_take_pacing(sk, NULL, &ahead_ns));
}

/* A qdisc that obeys, and packets that leave while we look. */
static void take_pacing__packets_that_leave_in_between(void)
{
	static const double soon[] = { -1, 0.0015, 4, 6 };
	u64 ahead_ns;
	int us;

	for (us = 0; us < 4; us++) {
		flow(soon);
		sk->sk_wmem_alloc.refs = 3000;
		obeyed = true;
		look_ns = us * NSEC_PER_USEC;
		CHECK(!cc_take_pacing(sk, NULL, &ahead_ns));
	}
}

static void sizes__of_full_packets(void)
{
	flow(past);
	/* 1448 of 1538 bytes, with a timestamp. */
	CHECK_EQ(cc_wire_bytes(sk, 1448), 1448 + 32 + 20 + 14 + 24);
	CHECK_EQ(cc_wire_bytes(sk, 1449), 1449 + 2 * 90);
	CHECK_EQ(cc_cap(sk, 1250000000), 1250000000ULL * 1448 / 1538);
	/* 512 MB of memory; TCP has no mss yet. */
	CHECK_EQ(cc_max_packets(sk), (512U << 20) / (1448 + 2048));
	tp.mss_cache = 0;
	CHECK_EQ(cc_mss(sk), 1);
}

static void repair__a_packet_in_an_rtt(void)
{
	flow(past);
	tp.rack.rtt_us = 100;
	tp.icsk.icsk_ca_state = TCP_CA_CWR;
	CHECK_EQ(cc_repair_bps(sk), 0);
	tp.icsk.icsk_ca_state = TCP_CA_Recovery;
	CHECK_EQ(cc_repair_bps(sk), 14480000);
	tp.icsk.icsk_ca_state = TCP_CA_Loss;
	CHECK_EQ(cc_repair_bps(sk), 14480000);
	tp.rack.rtt_us = 0;
	CHECK_EQ(cc_repair_bps(sk), 0);
}

static void segments__those_of_the_device(void)
{
	struct net_device dev = { .ifindex = 3, .gso_max_segs = 40 };
	struct dst_entry dst = { .dev = &dev };

	flow(past);
	sk->sk_gso_max_segs = 64;
	CHECK_EQ(cc_egress(sk), 0);
	cc_bound_segment(sk, 10);
	CHECK_EQ(sk->sk_gso_max_segs, 64);
	sk->can_gso = true;
	sk->dst = &dst;
	CHECK_EQ(cc_egress(sk), 3);
	cc_bound_segment(sk, 10);
	CHECK_EQ(sk->sk_gso_max_segs, 10);
	cc_bound_segment(sk, 100);
	CHECK_EQ(sk->sk_gso_max_segs, 40);
	cc_bound_segment(sk, 1);
	CHECK_EQ(sk->sk_gso_max_segs, 1);
	cc_unbound_segment(sk);
	CHECK_EQ(sk->sk_gso_max_segs, 40);
	dev.gso_max_segs = 0;
	cc_unbound_segment(sk);
	CHECK_EQ(sk->sk_gso_max_segs, 1);
}

static void leave__the_data_of_a_round_trip(void)
{
	flow(past);
	/* 144.8 MB/s and 1 ms: 100 packets. */
	tp.srtt_us = 1000 << 3;
	tp.snd_cwnd = 100000;
	cc_leave_window(sk, 144800000);
	CHECK_EQ(tp.snd_cwnd, 100);
	CHECK_EQ(tp.snd_ssthresh, 100);
	/* It grows no window. */
	tp.snd_cwnd = 20;
	cc_leave_window(sk, 144800000);
	CHECK_EQ(tp.snd_cwnd, 20);
	CHECK_EQ(tp.snd_ssthresh, 100);
	/* The bounds: TCP's first window, and what an int holds. */
	tp.snd_cwnd = 100000;
	cc_leave_window(sk, 14480);
	CHECK_EQ(tp.snd_cwnd, 10);
	tp.snd_cwnd = 100000;
	tp.srtt_us = U32_MAX;
	tp.mss_cache = 1;
	cc_leave_window(sk, (1ULL << 38) - 1);
	CHECK_EQ(tp.snd_ssthresh, S32_MAX);
	CHECK_EQ(tp.snd_cwnd, 100000);
}

static void wait__by_the_rates(void)
{
	static const struct {
		const char *name;
		u64 wait_ns, old_bps, new_bps, want;
	} rows[] = {
		{ "no change", 262144, 62500000, 62500000, 262144 },
		{ "no time", 0, 62500000, 1, 0 },
		{ "half the rate", 100000, 62500000, 31250000, 200000 },
		{ "twice the rate", 100000, 31250000, 62500000, 50000 },
		{ "rounded down", 1000, 2, 3, 666 },
		{ "1/1024", 1024, 1 << 30, 1 << 20, 1048576 },
		{ "1024 times", 1048576, 1 << 20, 1 << 30, 1024 },
		{ "1.6 Tbit/s, to half", 81920, 200000000000, 100000000000, 163840 },
		{ "1.6 Tbit/s, from half", 163840, 100000000000, 200000000000, 81920 },
		{ "1.6 Tbit/s, to 1/256", 2068, 200000000000, 781250000, 529408 },
		{ "1.6 Tbit/s, from 1/256", 529408, 781250000, 200000000000, 2068 },
		{ "8 kbit/s to 1.6 Tbit/s", CC_MAX_WAIT_NS, 1000, 200000000000, 50 },
	};
	double want;
	size_t i;
	u64 old;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ktap_row = rows[i].name;
		CHECK_EQ(cc_wait_ns(rows[i].wait_ns, rows[i].old_bps, rows[i].new_bps),
			 rows[i].want);
	}
	ktap_row = NULL;
	/* Within 1e-4 and 1 ns while rates differ by less than 1,000. */
	for (old = 1000; old < 200000000; old = old * 3 / 2 + 1) {
		for (i = 1; i < 1000; i += 7) {
			want = 12345678.0 / i;
			CHECK(fabs((double)cc_wait_ns(12345678, old, old * i) - want) <
			      want * 1e-4 + 1);
			want = 12345.0 * i;
			CHECK(fabs((double)cc_wait_ns(12345, old * i, old) - want) <
			      want * 1e-4 + 1);
		}
	}
}

static void wait__bounds(void)
{
	/* What is no rate changes nothing. */
	CHECK_EQ(cc_wait_ns(1000, 0, 5), 1000);
	CHECK_EQ(cc_wait_ns(1000, (1ULL << 38) + 1, 5), 1000);
	CHECK_EQ(cc_wait_ns(1000, ~0ULL, 5), 1000);
	/* 10 s before and after; none is the lowest rate. */
	CHECK_EQ(cc_wait_ns(~0ULL, 4, 8), 5000000000ULL);
	CHECK_EQ(cc_wait_ns(~0ULL, 1ULL << 38, 0), 10000000000ULL);
	CHECK_EQ(cc_wait_ns(1000, 7, 0), 7000);
	/* The longest time at the largest rate, of 29 bits and of all: no overflow. */
	CHECK_EQ(cc_wait_ns(10000000000ULL, (1 << 29) - 1, (1 << 29) - 1), 10000000000ULL);
	CHECK_EQ(cc_wait_ns(10000000000ULL, 1ULL << 38, 1ULL << 38), 10000000000ULL);
}

/* 10 us are left of a wait. TCP's timer ends at expires_ns; 0: it does not run. */
static void reset_departure(u64 expires_ns)
{
	tp = (struct tcp_sock) {
		.tcp_clock_cache = 1000000,
		.tcp_wstamp_ns = 1010000,
		.pacing_timer = {
			.expires_ns = expires_ns, .waits = !!expires_ns, .cancels = 1,
		},
	};
}

static void move__departure_and_timer(void)
{
	const struct hrtimer *timer = &tp.pacing_timer;

	/* Later: it would fire for nothing. */
	reset_departure(1010000);
	cc_move_departure(sk, 1000, 500, 9999);
	CHECK_EQ(tp.tcp_wstamp_ns, 1020000);
	CHECK_EQ(timer->expires_ns, 1020000);
	CHECK_EQ(timer->set, 1);
	/* Within the slack it stays. */
	reset_departure(1010000);
	cc_move_departure(sk, 1000, 500, 10000);
	CHECK_EQ(tp.tcp_wstamp_ns, 1020000);
	CHECK_EQ(timer->cancelled, 0);
	/* Earlier: it would fire too late. */
	reset_departure(1010000);
	cc_move_departure(sk, 1000, 2000, 4999);
	CHECK_EQ(tp.tcp_wstamp_ns, 1005000);
	CHECK_EQ(timer->expires_ns, 1005000);
	CHECK_EQ(timer->set, 1);
	/* Within the slack it stays. */
	reset_departure(1010000);
	cc_move_departure(sk, 1000, 2000, 5000);
	CHECK_EQ(tp.tcp_wstamp_ns, 1005000);
	CHECK_EQ(timer->cancelled, 0);
	/* It fires at this moment, on another CPU: TCP sets it by the new time. */
	reset_departure(1010000);
	tp.pacing_timer.cancels = -1;
	cc_move_departure(sk, 1000, 2000, 0);
	CHECK_EQ(tp.tcp_wstamp_ns, 1005000);
	CHECK_EQ(timer->cancelled, 1);
	CHECK_EQ(timer->set, 0);
}

static void move__nothing_waits(void)
{
	/* No timer, but one that was set: TCP starts it when it has data. */
	reset_departure(0);
	tp.pacing_timer.expires_ns = 1010000;
	cc_move_departure(sk, 1000, 2000, 0);
	CHECK_EQ(tp.tcp_wstamp_ns, 1005000);
	CHECK_EQ(tp.pacing_timer.set, 0);
	/* The departure is past, or now. */
	reset_departure(1010000);
	tp.tcp_clock_cache = 1010000;
	cc_move_departure(sk, 1000, 2000, 0);
	CHECK_EQ(tp.tcp_wstamp_ns, 1010000);
	tp.tcp_clock_cache = 1010001;
	cc_move_departure(sk, 1000, 2000, 0);
	CHECK_EQ(tp.tcp_wstamp_ns, 1010000);
	CHECK_EQ(tp.pacing_timer.cancelled, 0);
}

/* 2^-shift s cover the device's wait and 61 us, and are a millisecond at most. */
static void shift__of_the_device(void)
{
	CHECK_EQ(cc_pacing_shift(0), 14);
	CHECK_EQ(cc_pacing_shift(1), 13);
	CHECK_EQ(cc_pacing_shift(61), 13);
	CHECK_EQ(cc_pacing_shift(62), 12);
	CHECK_EQ(cc_pacing_shift(183), 12);
	CHECK_EQ(cc_pacing_shift(184), 11);
	CHECK_EQ(cc_pacing_shift(256), 11);
	CHECK_EQ(cc_pacing_shift(427), 11);
	CHECK_EQ(cc_pacing_shift(428), 10);
	CHECK_EQ(cc_pacing_shift(UINT32_MAX), 10);
}

static void shift__found_stays(void)
{
	sk->sk_pacing_shift = 12;
	cc_set_pacing_shift(sk, 0);
	CHECK_EQ(sk->sk_pacing_shift, 12);
	cc_set_pacing_shift(sk, 256);
	CHECK_EQ(sk->sk_pacing_shift, 11);
}

/* 16384000 bytes a second: 2^-14 s of it are 1000. */
static void waits(u8 shift, int charged, u32 packets, u8 then)
{
	sk->sk_pacing_shift = shift;
	sk->sk_wmem_alloc.refs = charged;
	tp.packets_out = packets;
	cc_check_pacing_shift(sk);
	CHECK_EQ(sk->sk_pacing_shift, then);
}

static void shift__longer_where_completions_are_late(void)
{
	flow(past);
	sk->sk_pacing_rate = 16384000;
	/* More than twice what is not acknowledged, and more than may wait. */
	waits(14, 2 * 1448 + 2, 1, 13);
	waits(14, 2 * 1448 + 1, 1, 14);
	waits(14, 1001, 0, 13);
	waits(14, 1000, 0, 14);
	waits(13, 2000, 0, 13);
	waits(13, 2001, 0, 12);
	/* The longest. */
	waits(10, 1000000, 0, 10);
	/* In a queue before the wire: not acknowledged. */
	waits(14, 100 * 1448, 100, 14);
}

/* A segment has 14480 bytes. Return the limit of TCP. */
static u64 next_limit(unsigned long bps, int charged, int shift)
{
	int next;

	sk->sk_gso_max_segs = 10;
	sk->sk_pacing_rate = bps;
	sk->sk_wmem_alloc.refs = charged;
	next = cc_next_shift(sk, shift);
	CHECK(next >= shift && next <= 31);
	if (next > shift)
		CHECK(bps >> next >= (u64)charged + 14480);
	return bps >> next;
}

static void shift__of_the_next_segment(void)
{
	const unsigned long bps = 3000000000;
	int charged, i;

	flow(past);
	/* A segment beside what waits already, and less than twice that. */
	for (charged = 0; charged < 160000; charged += 7)
		CHECK(next_limit(bps, charged, 14) < 2 * ((u64)charged + 14480));
	/* Not more than the limit of the device. */
	for (i = 10; i <= 14; i++) {
		CHECK_EQ(next_limit(bps, (bps >> i) - 14480, i), bps >> i);
		CHECK_EQ(next_limit(bps, (bps >> i) - 14479, i), bps >> i);
	}
	CHECK_EQ(next_limit(1, 1 << 30, 14), 0);
	/* No rate limits the flow. */
	CHECK(next_limit(~0UL, 1, 14) >= 14481);
}

static const struct ktap_case cases[] = {
	KTAP_CASE(wait__by_the_rates),
	KTAP_CASE(wait__bounds),
	KTAP_CASE(move__departure_and_timer),
	KTAP_CASE(move__nothing_waits),
	KTAP_CASE(take_pacing__departures_are_those_of_the_clock),
	KTAP_CASE(take_pacing__seconds_ahead),
	KTAP_CASE(take_pacing__again_when_a_qdisc_has_taken_it),
	KTAP_CASE(take_pacing__the_clock_has_caught_up),
	KTAP_CASE(take_pacing__packets_that_wait),
	KTAP_CASE(take_pacing__packets_that_leave_in_between),
	KTAP_CASE(sizes__of_full_packets),
	KTAP_CASE(repair__a_packet_in_an_rtt),
	KTAP_CASE(segments__those_of_the_device),
	KTAP_CASE(leave__the_data_of_a_round_trip),
	KTAP_CASE(shift__of_the_device),
	KTAP_CASE(shift__found_stays),
	KTAP_CASE(shift__longer_where_completions_are_late),
	KTAP_CASE(shift__of_the_next_segment),
};

int main(void)
{
	return ktap_run(cases, ARRAY_SIZE(cases));
}
