// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: turns of bands and flows, see onramp_sch.c
 */
#include "onramp_turn.h"

/* Flows of a band at most that are looked at together, in onramp_rounds(). */
#define ONRAMP_ROUNDS_FLOWS	16

/* Share of a new sample in the average of latency: 2^-3. */
#define ONRAMP_LATE_SHIFT	3

/* onramp_next_band() - do what onramp_turn() does, if the band being served is not the one */
struct onramp_list *onramp_next_band(struct onramp_sched *q)
{
	unsigned int empty = 0;

	/*
	 * A band with flows may have to be passed by for some rounds, until its weight
	 * makes up for the packet that was longer than its credit.
	 */
	while (empty < ONRAMP_BANDS) {
		struct onramp_band *band = &q->bands[q->turn];
		bool idle = !band->new_flows.first && !band->old_flows.first;

		if (!idle && band->credit > 0)
			return band->new_flows.first ? &band->new_flows : &band->old_flows;
		empty = idle ? empty + 1 : 0;
		q->turn = (q->turn + 1) % ONRAMP_BANDS;
		band = &q->bands[q->turn];
		/* An idle band saves no credit for later. */
		band->credit = min_t(s64, band->credit, 0) + q->cfg.weight[q->turn];
	}
	return NULL;
}

static bool onramp_earlier(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct onramp_flow, rate_node)->throttled_until <
	       rb_entry(other, struct onramp_flow, rate_node)->throttled_until;
}

/* onramp_throttle() - have a flow, which is in no list any longer, wait until its time */
void onramp_throttle(struct onramp_sched *q, struct onramp_flow *f, u64 until_ns)
{
	f->state = ONRAMP_THROTTLED;
	f->throttled_until = until_ns;
	rb_add_cached(&f->rate_node, &q->delayed, onramp_earlier);
	q->wake_ns = min(q->wake_ns, until_ns);
	q->stats[ONRAMP_STATS_FLOWS_THROTTLED]++;
	q->stats[ONRAMP_STATS_THROTTLED]++;
}

/* onramp_unthrottle() - list a throttled flow that no longer has to wait; the qdisc's lock */
void onramp_unthrottle(struct onramp_sched *q, struct onramp_flow *f)
{
	struct rb_node *next;

	rb_erase_cached(&f->rate_node, &q->delayed);
	next = rb_first_cached(&q->delayed);
	q->wake_ns = next ? rb_entry(next, struct onramp_flow, rate_node)->throttled_until :
			    U64_MAX;
	q->stats[ONRAMP_STATS_FLOWS_THROTTLED]--;
	onramp_list_add(&q->bands[f->band].old_flows, f);
}

/* onramp_recheck_all() - look at all throttled flows after a change of settings; qdisc's lock */
void onramp_recheck_all(struct Qdisc *sch)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct rb_node *node;

	while ((node = rb_first_cached(&q->delayed)))
		onramp_unthrottle(q, rb_entry(node, struct onramp_flow, rate_node));
}

/* onramp_wake() - list all flows whose time has come */
void onramp_wake(struct onramp_sched *q, u64 now)
{
	u64 *late_ns = &q->stats[ONRAMP_STATS_LATENCY];

	*late_ns += ((now - q->wake_ns) >> ONRAMP_LATE_SHIFT) - (*late_ns >> ONRAMP_LATE_SHIFT);
	while (q->wake_ns <= now)
		onramp_unthrottle(q, rb_entry(rb_first_cached(&q->delayed),
					      struct onramp_flow, rate_node));
}

/**
 * onramp_rounds() - do many rounds of a band at once
 * @q: the qdisc
 * @band: the band, without new flows
 *
 * A batch may have twenty times the quantum. Rounds in which no flow of the band, which has
 * no new ones, gets enough credit change nothing else: do all of them at once.
 *
 * Context: the qdisc's lock.
 */
void onramp_rounds(struct onramp_sched *q, struct onramp_band *band)
{
	u32 quantum = q->cfg.quantum, flows = 0;
	s32 most = S32_MIN, credit;
	struct onramp_flow *f;

	for (f = band->old_flows.first; f; f = f->next) {
		flows++;
		if (f->credit > -(s32)quantum || f->band != q->turn ||
		    flows > ONRAMP_ROUNDS_FLOWS) {
			/* So that each refill costs one more step at most. */
			q->rounds_skip = flows;
			return;
		}
		most = max(most, f->credit);
	}
	credit = (u32)-most / quantum * quantum;
	for (f = band->old_flows.first; f; f = f->next)
		f->credit += credit;
}
