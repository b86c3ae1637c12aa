/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Whose turn it is: the lists of the bands, and the flows that wait for their time. All of it under
 * the qdisc's lock.
 */
#ifndef _SCH_ONRAMP_TURN_H
#define _SCH_ONRAMP_TURN_H

#include <linux/rbtree.h>

#include "onramp.h"

struct onramp_list *onramp_next_band(struct onramp_sched *q);
void onramp_rounds(struct onramp_sched *q, struct onramp_band *band);
void onramp_throttle(struct onramp_sched *q, struct onramp_flow *f, u64 until_ns);
void onramp_unthrottle(struct onramp_sched *q, struct onramp_flow *f);
void onramp_recheck_all(struct Qdisc *sch);
void onramp_wake(struct onramp_sched *q, u64 now);

/* onramp_list_add() - add a flow to the end of a list */
static inline void onramp_list_add(struct onramp_list *list, struct onramp_flow *f)
{
	f->state = ONRAMP_LISTED;
	f->next = NULL;
	if (list->first)
		list->last->next = f;
	else
		list->first = f;
	list->last = f;
}

/* onramp_list_pop() - take the first flow of a list */
static inline struct onramp_flow *onramp_list_pop(struct onramp_list *list)
{
	struct onramp_flow *f = list->first;

	list->first = f->next;
	return f;
}

/* onramp_turn() - return the list whose first flow has its turn; NULL: none may send for now */
static inline struct onramp_list *onramp_turn(struct onramp_sched *q)
{
	struct onramp_band *band = &q->bands[q->turn];

	if (likely(band->credit > 0)) {
		if (band->new_flows.first)
			return &band->new_flows;
		if (likely(band->old_flows.first))
			return &band->old_flows;
	}
	return onramp_next_band(q);
}

/* onramp_exhausted() - the flow at the head of the list has no packet */
static inline void onramp_exhausted(struct onramp_sched *q, struct onramp_list *list)
{
	struct onramp_flow *f = onramp_list_pop(list);

	if (list == &q->bands[q->turn].new_flows) {
		onramp_list_add(&q->bands[f->band].old_flows, f);
		return;
	}
	f->state = ONRAMP_IDLE;
	f->idle_ns = q->now_ns;
}

/* onramp_refill() - the flow at the head of the list has used up its credit */
static inline void onramp_refill(struct onramp_sched *q, struct onramp_list *list)
{
	struct onramp_band *band = &q->bands[q->turn];
	struct onramp_flow *f = list->first;

	if (q->rounds_skip)
		q->rounds_skip--;
	else if (list == &band->old_flows)
		onramp_rounds(q, band);
	f->credit += q->cfg.quantum;
	onramp_list_pop(list);
	onramp_list_add(&q->bands[f->band].old_flows, f);
}

#endif /* _SCH_ONRAMP_TURN_H */
