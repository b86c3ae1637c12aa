/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which packets an input-buffered switch marks: pure functions on integers.
 *
 * Each input has a buffer of some slots, and each packet in it waits for an output. When a
 * buffer becomes full, it blocks the switch before it, and that is the event:
 *
 *	full:	each output with a packet in that buffer is congested. All packets in the
 *		switch that wait for it are marked, whatever buffer they are in:
 *		cnt2 = cnt1 of the output
 *	naive:	the packets in that buffer are marked:
 *		cnt2 = cnt1 of each pair of that input and an output
 *	root:	without events. A packet is marked that leaves an output with more than a
 *		threshold waiting, if the output was not short of credits
 *
 *	cnt1	packets that wait
 *	cnt2	packets still to be marked, of those that leave next
 *
 * Source: Santos, Turner, Janakiraman, "End-to-End Congestion Control for InfiniBand",
 * INFOCOM 2003, section IV-A and footnotes 4, 5 and 10. For root: the InfiniBand Architecture
 * Specification, annex A10. A port that has credits is the root of its congestion; one that
 * has none is a victim.
 *
 * The counters need no scan. A packet that bypasses others may be marked in place of one of
 * them: as many are marked, the first ones to leave, which tells senders sooner.
 *
 * Where the paper is silent, here:
 *  - A packet whose transmission has begun holds its slot, but waits no longer: it is neither
 *    marked (footnote 10) nor makes its output congested.
 *  - An event sets cnt2, whatever is left of the last one: it never adds.
 *  - A packet that cuts through never waits.
 *  - A packet that cannot carry a mark (not ECT) takes one of cnt2 all the same.
 *
 * Nothing in here depends on the kernel but fixed-size integers, so that a qdisc can have
 * it as it is. The caller has the memory, serialises all access, and says in what order
 * packets leave.
 */
#ifndef _LABQ_MARKS_H
#define _LABQ_MARKS_H

#include <linux/types.h>

/* Ports of a switch at most. */
#define LABQ_MARKS_PORTS	64

enum labq_marks_mode {
	LABQ_MARKS_NONE,
	LABQ_MARKS_NAIVE,
	LABQ_MARKS_FULL,
	LABQ_MARKS_ROOT,
};

/**
 * struct labq_marks_count - packets for an output, of one input or of all
 * @waiting: cnt1
 * @to_mark: cnt2, at most @waiting
 */
struct labq_marks_count {
	u32 waiting;
	u32 to_mark;
};

/**
 * struct labq_marks - a switch
 * @mode:	enum labq_marks_mode
 * @ports:	inputs, and outputs as well, up to LABQ_MARKS_PORTS
 * @slots:	packets that an input's buffer holds, 1 or more
 * @threshold:	root: packets that may wait for an output without a mark
 * @used:	of each input: slots in use, transmissions included
 * @pair:	[input][output]: naive
 * @output:	of each output: full and root
 */
struct labq_marks {
	u8			mode;
	u8			ports;
	u32			slots;
	u32			threshold;
	u32			used[LABQ_MARKS_PORTS];
	struct labq_marks_count	pair[LABQ_MARKS_PORTS][LABQ_MARKS_PORTS];
	struct labq_marks_count	output[LABQ_MARKS_PORTS];
};

/* labq_marks_room() - may a packet be sent to an input? With credits nothing else is */
static inline bool labq_marks_room(const struct labq_marks *m, u8 in)
{
	return m->used[in] < m->slots;
}

/* labq_marks_trigger() - the event: the buffer of an input has become full */
static inline void labq_marks_trigger(struct labq_marks *m, u8 in)
{
	u8 out;

	for (out = 0; out < m->ports; out++) {
		struct labq_marks_count *pair = &m->pair[in][out];

		if (m->mode == LABQ_MARKS_NAIVE)
			pair->to_mark = pair->waiting;
		else if (m->mode == LABQ_MARKS_FULL && pair->waiting)
			m->output[out].to_mark = m->output[out].waiting;
	}
}

/**
 * labq_marks_come() - a packet came in; the caller triggers
 * @m: switch
 * @in: input, where there is room
 * @out: output that it goes to
 *
 * A packet that can leave at once waits for nothing. Where packets may do so, the caller calls
 * labq_marks_trigger() once it knows: after labq_marks_leave() of a packet that cuts through.
 *
 * Return: whether that filled the buffer.
 */
static inline bool labq_marks_come(struct labq_marks *m, u8 in, u8 out)
{
	m->used[in]++;
	m->pair[in][out].waiting++;
	m->output[out].waiting++;
	return m->used[in] >= m->slots;
}

/**
 * labq_marks_arrive() - a packet came in, which waits
 * @m: switch
 * @in: input, where there is room
 * @out: output that it goes to
 *
 * Return: whether that filled the buffer.
 */
static inline bool labq_marks_arrive(struct labq_marks *m, u8 in, u8 out)
{
	bool full = labq_marks_come(m, in, out);

	if (full)
		labq_marks_trigger(m, in);
	return full;
}

static inline bool labq_marks_take(struct labq_marks_count *count)
{
	if (!count->to_mark)
		return false;
	count->to_mark--;
	return true;
}

/**
 * labq_marks_leave() - the transmission of a packet begins
 * @m: switch
 * @in: input that it came from
 * @out: output that it goes to
 * @starved: root: the output waited for credits since the last packet left
 *
 * It holds its slot until labq_marks_end().
 *
 * Return: whether it is to be marked.
 */
static inline bool labq_marks_leave(struct labq_marks *m, u8 in, u8 out, bool starved)
{
	struct labq_marks_count *pair = &m->pair[in][out], *output = &m->output[out];
	bool above = output->waiting > m->threshold;

	pair->waiting--;
	output->waiting--;
	switch (m->mode) {
	case LABQ_MARKS_NAIVE:
		return labq_marks_take(pair);
	case LABQ_MARKS_FULL:
		return labq_marks_take(output);
	case LABQ_MARKS_ROOT:
		return above && !starved;
	default:
		return false;
	}
}

/* labq_marks_end() - a transmission ends: its slot is free, and its credit goes back */
static inline void labq_marks_end(struct labq_marks *m, u8 in)
{
	m->used[in]--;
}

#endif /* _LABQ_MARKS_H */
