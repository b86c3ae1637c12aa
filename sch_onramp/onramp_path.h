/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far the delays of a path are believed, and T: pure functions on integers. "Limits of a
 * pause", "threshold auto" and the sections after it, in Documentation/sch_onramp.md, say why, and
 * what each mechanism is for.
 *
 * A one-way delay depends on two clocks and on a model of the sender's own wire, each of which can
 * be wrong by any amount. A round trip needs one clock and no model. So on every OR-ACK
 *
 *	rtt   = now - out - hold	from the qdisc to the driver, until the OR-ACK
 *	wire  = now - tx - hold		from the wire, by the model of it
 *	limit = min(rtt - lowest rtt, wire - lowest wire + error)	of 30 to 60 s; after a rest
 *						both begin with the path's RTT, or_path.h,
 *						wire until a drain proves the path
 *	O     = min(delay above the baseline, limit)
 *
 * A flow that fills its own link waits there for a record of up to 128 KB: this is in rtt, but not
 * in wire. A wrong model changes wire and the one-way delay by the same amount, so the limit by
 * wire is never too low. Where a model has made the lowest wire too low, rtt is the limit.
 *
 * Connections between two addresses can take different routes, with one baseline. Each keeps the
 * lowest O of its last 67 to 134 ms, and so does the path:
 *
 *	O = O - (lowest O of the connection - lowest O of the path)
 *
 * A route that has become much longer looks like a queue until onramp_owd.h knows it. But both ways
 * become longer at once:
 *
 *	both = min(O, wire - lowest wire - O)
 *
 *	both above 4 * (unit + lowest rtt), and four times the lowest both of the last 67 to 134 ms:
 *		longer = both
 *	then, while both is above 3/4 of it:
 *		longer = min(longer, both)
 *		O = O - longer
 *
 * The first packet after a drain meets no queue of this receiver's senders. If it is no proof:
 *
 *	there = rx - tx - baseline
 *	back  = wire - lowest wire - there
 *
 *	there + back above 2 * T without slack, neither more than three times the other:
 *		baseline = baseline + there
 *		lowest rtt, lowest wire = lowest rtt + there + back, lowest wire + there + back
 *
 * threshold auto:
 *
 *	unit = 64 KB on the link, but not less than 20 us, and not more than 0.6 ms or, if that is
 *	       longer, 16 KB; on a slow path the same on its slowest link, if that is more;
 *	       if the speed of the link is unknown, the same on the slowest link of the path, and
 *	       twice the mean step of O at least, up to 150 us; 150 us before that link is known;
 *	       twice the mean step of O from one OR-ACK of the connection to the next, if that is
 *	       more and the queue is compared with it
 *	trip = max(lowest rtt / 2, min(lowest rtt, 20 us))
 *	T    = unit + trip + 2 * longer + slack
 *
 * A pause shows in the queue one round trip late, and the queue has to last until then. Half of
 * the lowest rtt is enough: with a quarter of it two rows of the closed loop lose throughput, and
 * with all of it the queue is longer for nothing. If the first packet after the pause finds the
 * queue empty, the pause has cost throughput: a CPU stalled, a timer was late, the way back was
 * congested, or the route has become longer.
 *
 *	first packet of the path after a pause of P, at least half of T
 *	  level: O of it and of five before it are within unit / 8, each of the last one
 *	  near:  level, or O within unit / 8 of the lowest of the last 16 to 32 such O
 *	  no queue, by one of these:
 *		O was above the limit by unit / 2 and its error
 *		level, and beta < 1/64: pauses do not move it
 *	p = min(beta * P, 4 * T), or min(P, 4 * T) if it is no queue; T at most while beta is one
 *	  level: slack = slack + p / 2
 *	  near, or O below unit / 2: slack = slack + p / 4
 *	  else: slack = slack - p / 12
 *	  but if a drain has proved the baseline, and O is above T without slack, it is level or
 *	  near only if it is no queue, or the way back is longer by at least O / 2
 *	and slack = slack - slack / 16 in 268 ms
 *
 * The speed of the sender's link may be unknown, and a later one may be slower. A batch leaves at
 * once, and arrives no faster than the slowest link takes it:
 *
 *	two OR-ACKs about one batch, 32 KB or more apart:
 *		byte = time between the arrivals of their packets / bytes
 *	lowest byte of 30 to 60 s: that of the slowest link
 *	it is 8 ns or more, up to 1 Gbit/s: the path is slow
 *
 * A buffer may be too small for T. Data that is sent again was lost there, if the delays of just
 * before show a queue:
 *
 *	data is sent again, and peak, the highest O of the last 0.26 to 0.52 ms, >= lowest rtt:
 *		for 4.3 s: unit <= max(0, peak / 2 - trip)
 *			   unit + slack, if a drain has proved the baseline, and neither
 *			   link nor path is slow; slack above peak counts in any case
 *
 * Hosts without On-Ramp may fill the queue, as the receiver says in its OR-ACKs:
 *
 *	let go = 0 to 1, more while OR-ACKs say so, else less, all in 34 ms
 *	pause  = pause * (1 - let go)
 *
 * A path may never have been empty since its first packet, and only a seed of onramp_owd.h knows
 * how long it is. Its lowest round trip then contains a queue, too, which may be shorter than
 * that of any packet since the seed:
 *
 *	rest  = lowest (wire - delay above the seed + its error), of 30 to 60 s
 *	stood = lowest wire - rest
 *	lowest rtt, lowest wire = lowest rtt - stood, lowest wire - stood
 *
 * Synchronised clocks: the lowest delay of 30 s does not know that a route has become longer, so
 * the excess of onramp_owd.h counts if it is less and has support:
 *
 *	delay = min(one-way delay - lowest one, one-way delay - baseline)
 *
 * Source: Liu et al., NSDI 2021, has T = 16 us in a NIC, 50 us on bare metal and 150 us in VMs
 * (section 5.1.4), and 2 sigma + min OWD where clocks are bad (section 7.1). Limit, routes, slack
 * and letting go are not in the paper, in which all hosts have On-Ramp. With a threshold that is
 * set by hand only the limit and the routes differ from it; the setting nobound removes the
 * limit, and then delays by synchronised clocks count as they are.
 */
#ifndef _ONRAMP_PATH_H
#define _ONRAMP_PATH_H

#include "onramp_core.h"
#include "onramp_drain.h"
#include "onramp_owd.h"

/* Lowest round trip, lowest absolute delay: half the time that they are kept for, ns. */
#define ONRAMP_PATH_LOW_NS	30000000000ULL

/* Lowest delays of connections: the same, 67 ms. */
#define ONRAMP_ROUTE_LOW_NS	(1ULL << 26)

/*
 * The receiver's clock may be fast, and its hold time too long, by less than this share, as a
 * shift. 2^-9 is 1953 ppm; adjtime() slews by 500.
 */
#define ONRAMP_HOLD_SHIFT	9

/* threshold auto: the unit on a fast link, and on one whose speed is unknown, ns. */
#define ONRAMP_AUTO_MIN_NS	20000ULL
#define ONRAMP_AUTO_UNKNOWN_NS	150000ULL

/*
 * The unit is that of a batch of 64 KB up to this, ns. With less, the bursts of 16 hosts that
 * answer one used 0.91 of 1 Gbit/s. On slower links, where batches are cut, it is that of so many
 * bytes, if that is more.
 */
#define ONRAMP_AUTO_BATCH	(1U << 16)
#define ONRAMP_AUTO_SLOW_NS	600000ULL
#define ONRAMP_AUTO_SLOW_BATCH	(1U << 14)

/*
 * Bytes of a batch over which its arrival is timed, at least: 32 KB. At 1 Gbit/s that is 0.26 ms,
 * more than interrupts wait. Time of a byte of payload at ONRAMP_SLOW_LINK_BPS, Q20 ns: 8 ns.
 */
#define ONRAMP_TRAIN_BYTES	(1 << 15)
#define ONRAMP_SLOW_BYTE	(8ULL << ONRAMP_BYTE_SHIFT)

/*
 * Half the time over which the highest O is kept, ns: a loss is noticed about a round trip later.
 * For how long a loss counts, ns.
 */
#define ONRAMP_PEAK_NS		(1ULL << 18)
#define ONRAMP_LOST_NS		(1ULL << 32)

/* Most slack, ns: more than the longest pause by default. */
#define ONRAMP_SLACK_MAX_NS	40000000ULL

/* The slack is less by a 16th after this time, ns: half of it is gone in 3 s. */
#define ONRAMP_SLACK_AGE_NS	(1ULL << 28)
#define ONRAMP_SLACK_AGE_SHIFT	4

/* Number of ends of pauses over which the lowest delay is kept; and from which on it counts. */
#define ONRAMP_RETURNS		16
#define ONRAMP_RETURNS_MIN	4

/* Number of O in a row that have to be near one another for a level delay. */
#define ONRAMP_LEVEL_MIN	4

/* A pause moves O by this share of its length, as a shift, or not at all: one of 64 senders. */
#define ONRAMP_MOVED_SHIFT	6

/* Share of a new step of O in the mean, as a shift. */
#define ONRAMP_STEP_SHIFT	4

/* A path has become longer by at least the unit and the lowest round trip, times 2^2. */
#define ONRAMP_STRETCH_SHIFT	2

/* By the first packet after a drain, one way by at most this times what the other one has. */
#define ONRAMP_LONGER_WAYS	3

/*
 * While others fill the queue pauses become shorter, and longer again when they no longer do:
 * from all to nothing in this time, ns, as a shift: 33.6 ms.
 */
#define ONRAMP_COEXIST_SHIFT	25

/* No value yet: above any, also if it is raised. */
#define ONRAMP_LOW_NONE		(S64_MAX / 2)

/**
 * struct onramp_low - lowest value of the last one to two times of a given length
 * @from_ns: when the younger half began; 0: there is no value
 * @now: lowest since then
 * @before: lowest of the half before
 */
struct onramp_low {
	u64	from_ns;
	s64	now;
	s64	before;
};

/* onramp_low() - return the lowest value; there is one */
static inline s64 onramp_low(const struct onramp_low *l)
{
	return min_t(s64, l->now, l->before);
}

/* onramp_low_old() - return whether there is no value, or the next one replaces all */
static inline bool onramp_low_old(const struct onramp_low *l, u64 half_ns, u64 at_ns)
{
	return !l->from_ns || onramp_since_ns(at_ns, l->from_ns) >= 2 * half_ns;
}

/**
 * onramp_low_add() - add a value
 * @l: lowest so far
 * @half_ns: length of a half
 * @at_ns: time of the value, > 0; one before @l->from_ns counts as that
 * @value: the value
 */
static inline void onramp_low_add(struct onramp_low *l, u64 half_ns, u64 at_ns, s64 value)
{
	if (onramp_low_old(l, half_ns, at_ns)) {
		*l = (struct onramp_low) { .from_ns = at_ns, .now = value, .before = value };
		return;
	}
	if (onramp_since_ns(at_ns, l->from_ns) >= half_ns) {
		l->before = l->now;
		l->now = value;
		l->from_ns = at_ns;
	}
	l->now = min_t(s64, l->now, value);
}

/**
 * onramp_low_start() - begin with a value of before
 * @l: written
 * @at_ns: current time, > 0
 * @value: the lowest so far; it is forgotten after one half
 */
static inline void onramp_low_start(struct onramp_low *l, u64 at_ns, s64 value)
{
	*l = (struct onramp_low) { .from_ns = at_ns, .now = ONRAMP_LOW_NONE, .before = value };
}

/**
 * struct onramp_trip - a packet's way there, and its OR-ACK's way back; sender's clock, ns
 * @now_ns:  the OR-ACK is here
 * @out_ns:  the qdisc handed the packet, or the first of its batch, to the driver
 * @tx_ns:   the packet was on the wire, by the model of it
 * @hold_ns: the receiver held the OR-ACK for this time, by its clock
 */
struct onramp_trip {
	u64	now_ns;
	u64	out_ns;
	u64	tx_ns;
	u64	hold_ns;
};

/* The shortest time that the receiver has held the OR-ACK for. */
static inline u64 onramp_trip_hold_ns(const struct onramp_trip *t)
{
	return t->hold_ns - (t->hold_ns >> ONRAMP_HOLD_SHIFT);
}

/* The round trip: from the qdisc to the driver, until the OR-ACK, without the hold time. */
static inline u64 onramp_trip_rtt_ns(const struct onramp_trip *t)
{
	return t->now_ns - t->out_ns - onramp_trip_hold_ns(t);
}

/* The same from the wire on. */
static inline s64 onramp_trip_wire_ns(const struct onramp_trip *t)
{
	return (s64)onramp_trip_rtt_ns(t) - (s64)(t->tx_ns - t->out_ns);
}

/**
 * onramp_trip_possible() - return whether the OR-ACK can have come by now
 * @t: times
 *
 * Return: false if the packet left too late for it, which refutes the model of the wire,
 * the hold time, or the record.
 */
static inline bool onramp_trip_possible(const struct onramp_trip *t)
{
	return t->out_ns <= t->tx_ns && t->tx_ns <= t->now_ns &&
	       t->now_ns - t->tx_ns >= onramp_trip_hold_ns(t);
}

/**
 * struct onramp_path - round trips, delays and slack of a path
 * @rtt: round trips
 * @wire: the same without the wait for the own link
 * @synced: one-way delays by synchronised clocks, as they are
 * @owd: O of all connections
 * @rest: @wire without the delay above a seed, while that is the baseline
 * @last_tx_ns: when the newest packet left that an OR-ACK counted for
 * @both: lesser one of both ways' delays
 * @peak: O of all connections, negative
 * @byte: time of a byte of payload on the slowest link, Q20 ns
 * @lost_peak_ns: the highest O when the path last lost packets
 * @lost_at_ns: when that was; 0: never
 * @slack_ns: slack of T, <= ONRAMP_SLACK_MAX_NS
 * @slack_at_ns: when it was last aged
 * @stretch_ns: by how much each way has become longer, 0: not so
 * @coexist_share: share by which pauses are shortened, Q30, <= 1
 * @coexist_at_ns: when that was last changed
 * @slow_bps: payload that the slowest link takes, bytes/s, if the path is slow; else 0. May be read
 *	beside updates
 */
struct onramp_path {
	struct onramp_low	rtt;
	struct onramp_low	wire;
	struct onramp_low	synced;
	struct onramp_low	owd;
	struct onramp_low	rest;
	struct onramp_low	both;
	struct onramp_low	peak;
	struct onramp_low	byte;
	u64			lost_peak_ns;
	u64			lost_at_ns;
	u64			last_tx_ns;
	u64			slack_ns;
	u64			slack_at_ns;
	u64			stretch_ns;
	u64			coexist_at_ns;
	u32			coexist_share;
	u32			slow_bps;
};

/**
 * struct onramp_conn_path - measurements of a path by one connection
 * @owd: its O
 * @since_ns: when the first of them came, 0: none yet
 * @step_ns: mean step from one O to the next, if there was no pause between them
 * @train_out_ns: when the batch left that an OR-ACK was about last
 * @train_rx_ns: when the packet of its first OR-ACK arrived, receiver's clock
 * @train_seq: sequence number of that
 * @return_now: lowest O after a pause, of the last @n_returns pauses
 * @return_before: the same of the ONRAMP_RETURNS pauses before those
 * @n_returns: < ONRAMP_RETURNS
 * @returned: there were ONRAMP_RETURNS_MIN
 * @level: how many O in a row have been near the one before, <= ONRAMP_LEVEL_MIN
 */
struct onramp_conn_path {
	struct onramp_low	owd;
	u64			since_ns;
	u64			step_ns;
	u64			train_out_ns;
	u64			train_rx_ns;
	u32			train_seq;
	u64			return_now;
	u64			return_before;
	u8			n_returns;
	bool			returned;
	u8			level;
};

/**
 * struct onramp_delay - a delay, from an OR-ACK and the record of its packet
 * @trip: times, onramp_trip_possible()
 * @owd_ns: delay that the threshold applies to
 * @learned_ns: with @learned: delay above the baseline of onramp_owd.h, which knows new routes
 * @baseline_ns: baseline that @owd_ns is above, for statistics
 * @error_ns: error bound of @owd_ns: it may be too high by this much
 * @byte_ns: time on the wire per byte of payload, Q20 ns, < 2^41, of
 *	     onramp_byte_time(); 0: unknown
 * @rx_ns: when the packet arrived, receiver's clock
 * @absolute: @owd_ns is by synchronised clocks, not above a baseline
 * @learned: @absolute, and that baseline has support
 * @seeded: the baseline is a seed
 * @is_auto: threshold auto
 * @bound: limit the delay to what its round trip allows
 * @probe: its packet is the first one after a drain of the path: enum onramp_drain_says
 * @proven: the last drain was a proof, and no longer ago than ONRAMP_OWD_PROVEN_NS
 * @others: much of the receiver's data is of hosts without On-Ramp
 */
struct onramp_delay {
	struct onramp_trip	trip;
	s64			owd_ns;
	s64			learned_ns;
	s64			baseline_ns;
	u64			error_ns;
	u64			byte_ns;
	u64			rx_ns;
	bool			absolute;
	bool			learned;
	bool			seeded;
	bool			is_auto;
	bool			bound;
	u8			probe;
	bool			proven;
	bool			others;
};

/**
 * struct onramp_path_result - how far a delay was believed, and T for it
 * @limit_ns: longest delay that the round trip allows
 * @detour_ns: extra delay of the connection's route, against others of the path
 * @threshold_ns: T
 * @back_ns: delay of the way back, above the lowest one; 0: not known
 * @stretch_ns: what the path has become longer by, each way, which O is without
 * @over_ns: the delay was above the limit by this
 * @limited: by more than its error
 * @returned: the packet was the first one after a pause
 * @empty: it found an empty queue
 * @coexist_share: share by which the pause was shortened, Q30, <= 1; 0 if the delay is not above T
 */
struct onramp_path_result {
	u64	limit_ns;
	u64	detour_ns;
	u64	threshold_ns;
	u64	back_ns;
	u64	stretch_ns;
	u64	over_ns;
	bool	limited;
	bool	returned;
	bool	empty;
	u32	coexist_share;
};

/**
 * onramp_auto_unit() - return the unit of threshold auto
 * @byte_ns: see struct onramp_delay
 *
 * Return: ns, < 2^38
 */
static inline u64 onramp_auto_unit(u64 byte_ns)
{
	u64 batch_ns = (byte_ns * ONRAMP_AUTO_BATCH) >> ONRAMP_BYTE_SHIFT;
	u64 slow_ns = (byte_ns * ONRAMP_AUTO_SLOW_BATCH) >> ONRAMP_BYTE_SHIFT;

	if (!byte_ns)
		return ONRAMP_AUTO_UNKNOWN_NS;
	return clamp_t(u64, batch_ns, ONRAMP_AUTO_MIN_NS, max_t(u64, slow_ns, ONRAMP_AUTO_SLOW_NS));
}

/* Time the arrival of the packets of a batch. */
static inline void onramp_path_train(struct onramp_path *p, struct onramp_conn_path *v,
				     const struct onramp_sample *s, const struct onramp_delay *d)
{
	u64 took_ns = d->rx_ns - v->train_rx_ns, byte;
	s32 len = (s32)(s->seq - v->train_seq);

	if (v->train_out_ns != d->trip.out_ns) {
		v->train_out_ns = d->trip.out_ns;
		v->train_rx_ns = d->rx_ns;
		v->train_seq = s->seq;
		return;
	}
	/* Below 2^34 ns. */
	if (len < ONRAMP_TRAIN_BYTES || took_ns > ONRAMP_MAX_NS)
		return;
	onramp_low_add(&p->byte, ONRAMP_PATH_LOW_NS, s->now_ns,
		       (s64)div_u64(took_ns << ONRAMP_BYTE_SHIFT, (u32)len));
	byte = (u64)onramp_low(&p->byte);
	WRITE_ONCE(p->slow_bps, byte < ONRAMP_SLOW_BYTE ? 0 :
		   (u32)div64_u64(ONRAMP_SLOW_LINK_BPS * ONRAMP_SLOW_BYTE, byte));
}

/* Return the unit of a path from a link with @byte_ns, ns. @step_ns: mean step of O. */
static inline u64 onramp_path_unit(const struct onramp_path *p, u64 byte_ns, u64 step_ns)
{
	bool measured = p->byte.from_ns && (!byte_ns || p->slow_bps);
	/* Packets that an interrupt stamps together seem to take no time. */
	u64 path_byte_ns = measured ? max_t(u64, (u64)onramp_low(&p->byte), 1) : 0;
	u64 unit_ns = onramp_auto_unit(max_t(u64, byte_ns, path_byte_ns));

	return byte_ns ? unit_ns :
			 max_t(u64, unit_ns, min_t(u64, 2 * step_ns, ONRAMP_AUTO_UNKNOWN_NS));
}

/**
 * onramp_path_stood() - return the queue that the lowest round trip contains, ns
 * @p: path
 *
 * No delay is as long as its round trip: a seed that says so is wrong.
 */
static inline s64 onramp_path_stood(const struct onramp_path *p)
{
	if (!p->rest.from_ns || onramp_low(&p->rest) <= 0)
		return 0;
	return max_t(s64, onramp_low(&p->wire) - onramp_low(&p->rest), 0);
}

/* Note a round trip without its delay above a seed, or forget all: the path knows its baseline. */
static inline void onramp_path_stand(struct onramp_path *p, const struct onramp_delay *d,
				     s64 wire_ns)
{
	if (d->seeded)
		onramp_low_add(&p->rest, ONRAMP_PATH_LOW_NS, d->trip.now_ns,
			       wire_ns - d->owd_ns + (s64)d->error_ns);
	else
		p->rest.from_ns = 0;
}

/*
 * Return the part of T for the lowest round trip, ns: half of it, but all of one that is shorter
 * than the shortest unit.
 */
static inline u64 onramp_auto_trip(const struct onramp_path *p)
{
	u64 rtt_ns = (u64)(onramp_low(&p->rtt) - onramp_path_stood(p));

	return max_t(u64, rtt_ns / 2, min_t(u64, rtt_ns, ONRAMP_AUTO_MIN_NS));
}

static inline void onramp_low_raise(struct onramp_low *l, s64 by_ns)
{
	l->now += by_ns;
	l->before += by_ns;
}

/*
 * The way there is longer than the empty path by @there_ns, the way back by @back_ns. Return by
 * how much the path itself has become longer.
 */
static inline u64 onramp_path_stretch(struct onramp_path *p, const struct onramp_delay *d,
				      u64 there_ns, u64 back_ns)
{
	u64 now_ns = d->trip.now_ns, both_ns = min_t(u64, there_ns, back_ns);
	u64 much_ns = (onramp_auto_unit(d->byte_ns) + (u64)onramp_low(&p->rtt))
		      << ONRAMP_STRETCH_SHIFT;
	bool sudden = p->both.from_ns &&
		      onramp_since_ns(now_ns, p->both.from_ns) < 2 * ONRAMP_ROUTE_LOW_NS &&
		      (u64)onramp_low(&p->both) <= both_ns / 4;

	onramp_low_add(&p->both, ONRAMP_ROUTE_LOW_NS, now_ns, (s64)both_ns);
	if (!p->stretch_ns) {
		p->stretch_ns = sudden && both_ns >= much_ns ? both_ns : 0;
	} else if (both_ns >= p->stretch_ns / 4 * 3) {
		p->stretch_ns = min_t(u64, p->stretch_ns, both_ns);
	} else {
		/* It is known, or shorter again, or it was a queue: not twice the same. */
		p->both.now = (s64)both_ns;
		p->both.before = (s64)both_ns;
		p->stretch_ns = 0;
	}
	return p->stretch_ns;
}

/* onramp_path_trip() - add a round trip to the lowest ones, and return it, ns */
static inline s64 onramp_path_trip(struct onramp_path *p, const struct onramp_trip *t)
{
	s64 rtt_ns = (s64)onramp_trip_rtt_ns(t);

	onramp_low_add(&p->rtt, ONRAMP_PATH_LOW_NS, t->now_ns, rtt_ns);
	onramp_low_add(&p->wire, ONRAMP_PATH_LOW_NS, t->now_ns, onramp_trip_wire_ns(t));
	return rtt_ns;
}

/**
 * onramp_path_proven() - add the round trip of a proof to the lowest ones
 * @p: path
 * @t: the round trip
 *
 * What @p began with may be of small packets, which take less time on a slow link. Compared with
 * that, the way back of a full one seems longer than it is.
 *
 * Return: it, ns
 */
static inline s64 onramp_path_proven(struct onramp_path *p, const struct onramp_trip *t)
{
	s64 rtt_ns = onramp_path_trip(p, t);

	p->wire.before = p->wire.now;
	return rtt_ns;
}

/**
 * onramp_path_longer() - look whether the path has become longer, by the first packet after a drain
 * @p: path
 * @o: its baseline; raised, as the lowest round trips are, if it has
 * @d: its delay, which is no proof; @owd_ns is not used
 * @d_ns: rx - tx of it
 *
 * The senders to this receiver are silent. A queue of others is mostly on one way, and not longer
 * than T if they have On-Ramp as well.
 *
 * Return: whether it has
 */
static inline bool onramp_path_longer(struct onramp_path *p, struct onramp_owd *o,
				      const struct onramp_delay *d, s64 d_ns)
{
	s64 there_ns = d_ns - onramp_owd_baseline(o, d->trip.tx_ns), back_ns;
	u64 threshold_ns;

	if (onramp_low_old(&p->wire, ONRAMP_PATH_LOW_NS, d->trip.now_ns))
		return false;
	threshold_ns = onramp_path_unit(p, d->byte_ns, 0) + onramp_auto_trip(p);
	back_ns = onramp_trip_wire_ns(&d->trip) - onramp_low(&p->wire) - there_ns;
	if (there_ns + back_ns <= (s64)(2 * threshold_ns) ||
	    there_ns / ONRAMP_LONGER_WAYS > back_ns || back_ns / ONRAMP_LONGER_WAYS > there_ns)
		return false;
	onramp_owd_raise(o, (u64)there_ns);
	onramp_low_raise(&p->rtt, there_ns + back_ns);
	onramp_low_raise(&p->wire, there_ns + back_ns);
	return true;
}

/**
 * onramp_path_probe() - judge the first packet after a drain
 * @p: path
 * @o: its baseline
 * @d: its delay; @probe says whether it left in the silence, and @owd_ns is not used
 * @d_ns: rx - tx of it
 * @payload: its bytes
 * @longer: the path has become longer
 *
 * Return: whether it has the delay of the empty path
 */
static inline bool onramp_path_probe(struct onramp_path *p, struct onramp_owd *o,
				     const struct onramp_delay *d, s64 d_ns, u32 payload,
				     bool *longer)
{
	bool first = d->probe == ONRAMP_DRAIN_PROOF;

	*longer = false;
	if (first && onramp_owd_proof(o, d->trip.tx_ns, d_ns, payload))
		return true;
	*longer = onramp_path_longer(p, o, d, d_ns);
	return *longer && first && onramp_owd_proof(o, d->trip.tx_ns, d_ns, payload);
}

/**
 * onramp_path_drain_ns() - return the longest silence that a drain may have, ns
 * @p: path
 * @o: its baseline
 * @rtt_ns: round trip, with the queue in it
 *
 * While it is silent a long path is idle, and a short one works off its queue.
 */
static inline u64 onramp_path_drain_ns(const struct onramp_path *p, const struct onramp_owd *o,
				       u64 rtt_ns)
{
	return p->rtt.from_ns && !o->supported && 8 * (u64)onramp_low(&p->rtt) <= rtt_ns ?
	       ONRAMP_DRAIN_FIRST_NS : ONRAMP_DRAIN_MAX_NS;
}

/* Limit the delay to what the round trip allows, and subtract the detour. */
static inline s64 onramp_path_believe(struct onramp_path *p, struct onramp_conn_path *v,
				      const struct onramp_delay *d,
				      struct onramp_path_result *path_res)
{
	u64 now_ns = d->trip.now_ns;
	s64 rtt_ns = onramp_path_trip(p, &d->trip);
	s64 wire_ns = onramp_trip_wire_ns(&d->trip);
	s64 owd_ns = d->owd_ns, limit_ns = S64_MAX, back_ns, stood_ns;

	onramp_path_stand(p, d, wire_ns);
	stood_ns = onramp_path_stood(p);
	if (d->absolute)
		onramp_low_add(&p->synced, ONRAMP_PATH_LOW_NS, now_ns, owd_ns);
	/* With nobound, a threshold that is set by hand applies to the whole delay. */
	if (d->absolute && (d->is_auto || d->bound)) {
		owd_ns -= onramp_low(&p->synced);
		if (d->learned)
			owd_ns = min_t(s64, owd_ns, d->learned_ns);
	}
	if (d->bound)
		limit_ns = min_t(s64, rtt_ns - onramp_low(&p->rtt),
				 wire_ns - onramp_low(&p->wire) + (s64)d->error_ns) + stood_ns;
	path_res->limit_ns = (u64)limit_ns;
	if (owd_ns > limit_ns)
		path_res->over_ns = (u64)(owd_ns - limit_ns);
	path_res->limited = path_res->over_ns > d->error_ns;
	owd_ns = clamp_t(s64, owd_ns, 0, limit_ns);
	if (d->bound) {
		back_ns = max_t(s64, wire_ns - onramp_low(&p->wire) + stood_ns - owd_ns, 0);
		path_res->back_ns = (u64)back_ns;
		path_res->stretch_ns = onramp_path_stretch(p, d, (u64)owd_ns, (u64)back_ns);
		owd_ns -= (s64)path_res->stretch_ns;
	}

	if (!v->since_ns)
		v->since_ns = now_ns;
	onramp_low_add(&v->owd, ONRAMP_ROUTE_LOW_NS, now_ns, owd_ns);
	onramp_low_add(&p->owd, ONRAMP_ROUTE_LOW_NS, now_ns, owd_ns);
	/* Both have to cover the same time. */
	if (onramp_since_ns(now_ns, v->since_ns) >= ONRAMP_ROUTE_LOW_NS)
		path_res->detour_ns = (u64)max_t(s64, onramp_low(&v->owd) - onramp_low(&p->owd), 0);
	return owd_ns - (s64)path_res->detour_ns;
}

static inline bool onramp_near(u64 a_ns, u64 b_ns, u64 near_ns)
{
	return a_ns <= b_ns + near_ns && b_ns <= a_ns + near_ns;
}

/* Add O at the end of a pause. Was it near the lowest of those before? */
static inline bool onramp_conn_path_return(struct onramp_conn_path *v, u64 owd_ns, u64 near_ns)
{
	u64 low_ns = min_t(u64, v->return_now, v->return_before);
	bool near = v->returned && onramp_near(owd_ns, low_ns, near_ns);

	v->return_now = v->n_returns ? min_t(u64, v->return_now, owd_ns) : owd_ns;
	v->n_returns++;
	if (!v->returned) {
		v->return_before = v->return_now;
		v->returned = v->n_returns == ONRAMP_RETURNS_MIN;
	}
	if (v->n_returns == ONRAMP_RETURNS) {
		v->return_before = v->return_now;
		v->n_returns = 0;
	}
	return near;
}

/* Has O been level for a while? @near: it is near the one before. */
static inline bool onramp_conn_path_level(struct onramp_conn_path *v, bool near)
{
	bool level = near && v->level == ONRAMP_LEVEL_MIN;

	if (!near)
		v->level = 0;
	else if (!level)
		v->level++;
	return level;
}

/*
 * The first packet of the path after a pause, which took @took_ns from the queue. @level: the pause
 * has not changed the delay.
 */
static inline void onramp_path_return(struct onramp_path *p, u64 took_ns, bool empty,
				      bool level)
{
	if (empty)
		p->slack_ns = min_t(u64, p->slack_ns + took_ns / (level ? 2 : 4),
				    ONRAMP_SLACK_MAX_NS);
	else
		p->slack_ns -= min_t(u64, p->slack_ns, took_ns / 12);
}

/* Time passes. */
static inline void onramp_path_age(struct onramp_path *p, u64 now_ns)
{
	if (onramp_since_ns(now_ns, p->slack_at_ns) < ONRAMP_SLACK_AGE_NS)
		return;
	p->slack_ns -= p->slack_ns >> ONRAMP_SLACK_AGE_SHIFT;
	p->slack_at_ns = now_ns;
}

/* Do others fill the queue? The step is at most one, 2^25 << 5. */
static inline void onramp_path_others(struct onramp_path *p, u64 now_ns, bool others)
{
	u64 since_ns = onramp_since_ns(now_ns, p->coexist_at_ns);
	u64 step = min_t(u64, since_ns, 1ULL << ONRAMP_COEXIST_SHIFT)
		   << (ONRAMP_FRAC_SHIFT - ONRAMP_COEXIST_SHIFT);

	if (others)
		p->coexist_share += min_t(u32, (u32)step, ONRAMP_ONE - p->coexist_share);
	else
		p->coexist_share -= min_t(u32, (u32)step, p->coexist_share);
	/* Not back: the same time would count twice. */
	p->coexist_at_ns += since_ns;
}

/**
 * onramp_path_lost() - note that data is sent again
 * @p: path
 * @now_ns: current time, > 0
 *
 * Return: whether a queue explains its loss.
 */
static inline bool onramp_path_lost(struct onramp_path *p, u64 now_ns)
{
	s64 peak_ns;

	if (onramp_low_old(&p->peak, 2 * ONRAMP_PEAK_NS, now_ns))
		return false;
	peak_ns = -onramp_low(&p->peak);
	if (peak_ns < onramp_low(&p->rtt))
		return false;
	p->lost_peak_ns = (u64)peak_ns;
	p->lost_at_ns = now_ns;
	return true;
}

/* Return the part of the unit, or of it and slack, that the buffer has room for. */
static inline u64 onramp_path_room(const struct onramp_path *p, u64 unit_ns, u64 now_ns)
{
	u64 trip_ns = onramp_auto_trip(p), half_ns = p->lost_peak_ns / 2;

	if (!p->lost_at_ns || onramp_since_ns(now_ns, p->lost_at_ns) >= ONRAMP_LOST_NS)
		return unit_ns;
	return half_ns > trip_ns ? min_t(u64, unit_ns, half_ns - trip_ns) : 0;
}

/* Return T of threshold auto, without the error of the clocks, ns. */
static inline u64 onramp_auto_threshold(const struct onramp_path *p, const struct onramp_delay *d,
					const struct onramp_path_result *path_res, u64 unit_ns)
{
	u64 within_ns = 0;

	/*
	 * The part of slack that the buffer has to have room for: none where the delay may be no
	 * queue, and no more than the queue at the loss. With more slack than that it ran empty for
	 * another reason. On slow links requests would take twice as long.
	 */
	if (d->proven && d->byte_ns < ONRAMP_SLOW_BYTE && !p->slow_bps)
		within_ns = min_t(u64, p->slack_ns, p->lost_peak_ns);
	return onramp_path_room(p, unit_ns + within_ns, d->trip.now_ns) + onramp_auto_trip(p) +
	       p->slack_ns - within_ns + 2 * path_res->stretch_ns;
}

/**
 * onramp_path_update() - process one OR-ACK, from its delay to the decision
 * @p: path
 * @v: connection
 * @f: its controller
 * @core: parameters; those of T are written
 * @s: measurements; owd_ns is written
 * @d: its delay
 * @path_res: how far the delay was believed
 * @res: the decision
 *
 * The caller serialises updates of a path.
 */
static inline void onramp_path_update(struct onramp_path *p, struct onramp_conn_path *v,
				      struct onramp_ctrl *f, struct onramp_ctrl_params *core,
				      struct onramp_sample *s, const struct onramp_delay *d,
				      struct onramp_path_result *path_res,
				      struct onramp_result *res)
{
	u64 unit_ns = core->threshold_ns, last_owd_ns = f->last_owd_ns, paused_ns, step_ns, most_ns;
	bool acked = f->acked, level, near, refuted;

	*path_res = (struct onramp_path_result) { .limit_ns = 0 };
	onramp_path_age(p, s->now_ns);
	onramp_path_others(p, s->now_ns, d->others);
	onramp_path_train(p, v, s, d);
	core->coexist_share = p->coexist_share;
	s->owd_ns = onramp_path_believe(p, v, d, path_res);
	onramp_low_add(&p->peak, ONRAMP_PEAK_NS, s->now_ns, -max_t(s64, s->owd_ns, 0));
	if (d->is_auto) {
		unit_ns = onramp_path_unit(p, d->byte_ns, v->step_ns);
		core->threshold_ns = onramp_auto_threshold(p, d, path_res, unit_ns);
		unit_ns = max_t(u64, unit_ns, 2 * v->step_ns);
	}
	core->empty_ns = unit_ns / 2 + d->error_ns;
	core->threshold_ns = onramp_threshold_ns(core->threshold_ns, d->error_ns);
	path_res->threshold_ns = core->threshold_ns;
	paused_ns = s->tx_cum_ns - f->last_cum_ns;
	onramp_ctrl_update(f, core, s, res);
	if (res->verdict <= ONRAMP_PROGRESS && res->owd_ns > core->threshold_ns)
		path_res->coexist_share = p->coexist_share;
	if (res->verdict > ONRAMP_IS_OFF || !acked)
		goto out;

	level = onramp_conn_path_level(v, onramp_near(res->owd_ns, last_owd_ns, unit_ns / 8));
	if (!paused_ns) {
		step_ns = res->owd_ns > last_owd_ns ? res->owd_ns - last_owd_ns :
						      last_owd_ns - res->owd_ns;
		if (step_ns > v->step_ns)
			v->step_ns += (step_ns - v->step_ns) >> ONRAMP_STEP_SHIFT;
		else
			v->step_ns -= (v->step_ns - step_ns) >> ONRAMP_STEP_SHIFT;
	} else if (res->p_bg_ns && s->tx_ns > p->last_tx_ns &&
		   s->tx_ns - p->last_tx_ns >= paused_ns / 2) {
		path_res->returned = true;
		near = onramp_conn_path_return(v, res->owd_ns, unit_ns / 8) || level;
		/* No queue: neither it nor beta says what the pause has taken. */
		refuted = path_res->over_ns > core->empty_ns ||
			  (level && f->beta < ONRAMP_ONE >> ONRAMP_MOVED_SHIFT);
		near = near && (!d->proven || refuted || path_res->back_ns >= res->owd_ns / 2 ||
				res->owd_ns + p->slack_ns < core->threshold_ns);
		path_res->empty = near || res->owd_ns < core->empty_ns;
		/* A beta of one may be none: nothing has been measured. */
		most_ns = (f->beta < ONRAMP_ONE ? 4 : 1) * core->threshold_ns;
		onramp_path_return(p, min_t(u64, q30_mul(paused_ns,
							 refuted ? ONRAMP_ONE : f->beta),
					    most_ns), path_res->empty, level);
	}
out:
	p->last_tx_ns = max_t(u64, p->last_tx_ns, s->tx_ns);
}

#endif /* _ONRAMP_PATH_H */
