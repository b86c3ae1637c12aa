// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: onramp_core.h, onramp_ring.h and onramp_owd.h under any sequence of events.
 *
 * Input: struct fuzz_head, then struct fuzz_event each; what is missing at the end is
 * 0. Parameters are mapped into their ranges; times and delays are what a peer or a
 * broken clock may say. What must hold after each event is checked here; the
 * sanitizers watch the arithmetic.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "onramp_owd.h"
#include "onramp_ring.h"
#include "fuzz.h"

#define MAX_EVENTS	512
#define RING		16

struct fuzz_head {
	u8 mode;
	u32 gain;
	u64 threshold, max_pause, stale, now;
} __attribute__((packed));

struct fuzz_event {
	u8 what;
	u8 scale;	/* how far values are shifted down */
	u64 elapsed;
	u64 value;
	u32 seq;
} __attribute__((packed));

static struct onramp_ctrl_params p;
static struct onramp_ctrl f;
static struct onramp_owd owd;
static struct onramp_tx rec[RING];
static struct onramp_txring ring;
static u64 now, cum, cum_at, until;
static u32 next_seq;

static void check_flow(void)
{
	u64 c = onramp_ctrl_cum_pause(&f, now), paused_to;

	REQUIRE(f.until_ns >= f.from_ns);
	REQUIRE(f.beta <= ONRAMP_ONE);
	/* Since the last look, what lay before the end that was set then. */
	paused_to = min_t(u64, now, until);
	REQUIRE(c - cum == (paused_to > cum_at ? paused_to - cum_at : 0));
	cum = c;
	cum_at = now;
	until = f.until_ns;
	/* Nobody is held for longer than max_pause. */
	if (onramp_ctrl_paused(&f, now))
		REQUIRE(f.until_ns <= f.hold_ns + p.max_pause_ns);
}

static void fuzz_send(const struct fuzz_event *e)
{
	u32 length = e->seq & 0xffff, start = next_seq;
	u32 una = next_seq - (u32)e->value;

	if (e->scale & 0x80)
		start -= (e->seq >> 16) & 0xffff;
	if (e->scale & 0x40)
		start = e->seq;
	onramp_tx_add(&ring, start, start + length, now,
		      onramp_ctrl_cum_pause(&f, now), &una);
	REQUIRE(ring.count <= RING);
	REQUIRE(ring.shift <= ONRAMP_TX_SHIFT_MAX);
	REQUIRE(!ring.skipped || ring.skipped < 1U << ring.shift);
	if ((s32)(start + length - next_seq) > 0 || e->scale & 0x40)
		next_seq = start + length;
}

static void fuzz_ack(const struct fuzz_event *e)
{
	u32 seq = next_seq - (e->seq & 0xfffff);
	const struct onramp_tx *t = onramp_tx_covering(&ring, seq);
	struct onramp_ctrl old = f;
	struct onramp_result r;
	struct onramp_sample s;

	if (!t || !t->tx_ns)
		return;
	REQUIRE(seq - t->start <= t->end - t->start && seq != t->start);
	s = (struct onramp_sample) {
		.now_ns = now, .tx_ns = t->tx_ns, .tx_cum_ns = t->cum_ns,
		.sent_ns = ring.sent_ns, .seq = seq,
		.owd_ns = (s64)e->value >> (e->scale & 63),
	};
	onramp_ctrl_update(&f, &p, &s, &r);
	REQUIRE(r.verdict < ONRAMP_VERDICTS);
	if (old.acked && s.tx_ns < old.last_tx_ns)
		REQUIRE(r.verdict == ONRAMP_STALE || r.verdict == ONRAMP_IMPLAUSIBLE);
	REQUIRE(r.beta_m <= ONRAMP_ONE);
	REQUIRE(r.pause_ns <= p.max_pause_ns);
	switch (r.verdict) {
	case ONRAMP_PAUSED:
	case ONRAMP_CAPPED:
		REQUIRE(f.until_ns == now + r.pause_ns);
		REQUIRE(r.pause_ns && r.owd_ns > p.threshold_ns);
		REQUIRE(r.pause_ns <= r.owd_ns - p.threshold_ns);
		break;
	case ONRAMP_PROGRESS:
		REQUIRE(!onramp_ctrl_paused(&f, now));
		break;
	case ONRAMP_BELOW:
	case ONRAMP_IS_OFF:
		REQUIRE(f.until_ns == old.until_ns);
		break;
	default:
		REQUIRE(!memcmp(&f, &old, sizeof(f)));
	}
}

static void fuzz_owd(const struct fuzz_event *e)
{
	s64 d = (s64)e->value >> (e->scale & 63), excess;
	u64 t = e->seq & 1 ? now - min_t(u64, now, e->seq) : now;
	u32 payload = 1 + (e->seq >> 8) % 65535;
	bool known;

	/* Two clocks: offsets of up to 73 years are what they can have. */
	d >>= 2;
	known = onramp_owd_sample(&owd, t, d, payload, &excess);
	REQUIRE(excess >= 0);
	REQUIRE(known || !excess);
	REQUIRE(owd.count <= ONRAMP_OWD_POINTS && owd.head < ONRAMP_OWD_POINTS);
	REQUIRE(owd.slope <= ONRAMP_OWD_SLOPE_MAX);
	REQUIRE(owd.slope >= -ONRAMP_OWD_SLOPE_MAX);
	REQUIRE(onramp_owd_error(&owd, t) < 40000);
	/* The same again is on or above the baseline, and changes nothing. */
	if (known && excess)
		REQUIRE(d - onramp_owd_baseline(&owd, t) == excess);
}

static void one_event(const struct fuzz_event *e)
{
	now += e->elapsed >> (16 + (e->scale & 47));
	check_flow();
	switch (e->what % 6) {
	case 0:
		if (!onramp_ctrl_paused(&f, now))
			fuzz_send(e);
		break;
	case 1:
	case 2:
		fuzz_ack(e);
		break;
	case 3:
		fuzz_owd(e);
		break;
	case 4:
		onramp_ctrl_inherit(&f, &p, e->value >> (e->scale & 63),
				    now - min_t(u64, now, e->seq), now);
		break;
	case 5:
		onramp_ctrl_forget(&f);
		break;
	}
	check_flow();
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct fuzz_head head = { 0 };
	struct fuzz_event e;
	size_t n;
	int i;

	n = size < sizeof(head) ? size : sizeof(head);
	memcpy(&head, data, n);
	data += n;
	size -= n;
	p = (struct onramp_ctrl_params) {
		.mode = head.mode % 4, .gain = head.gain % (ONRAMP_ONE + 1),
		.threshold_ns = head.threshold % (ONRAMP_MAX_NS + 1),
		.max_pause_ns = head.max_pause % (ONRAMP_MAX_NS + 1),
		.stale_ns = head.stale % (ONRAMP_MAX_NS + 1),
	};
	now = 1 + (head.now >> 2);
	cum = 0;
	cum_at = now;
	until = 0;
	next_seq = (u32)head.now;
	ring = (struct onramp_txring) { .rec = rec, .mask = RING - 1 };
	onramp_ctrl_init(&f);
	onramp_owd_init(&owd);

	for (i = 0; i < MAX_EVENTS && size; i++) {
		memset(&e, 0, sizeof(e));
		n = size < sizeof(e) ? size : sizeof(e);
		memcpy(&e, data, n);
		data += n;
		size -= n;
		one_event(&e);
	}
	return 0;
}
