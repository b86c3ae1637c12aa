// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: OR-ACKs, and the pauses that they decide
 *
 *	OR-ACK, the cheap checks first:
 *	  decode -> peer of the addresses -> tag -> connection of the ports -> count
 *	  record of the sequence number, or it is not in flight
 *	  impossible by now: refuse it
 *	  delay = received - started on the wire - own batch before it
 *	    relative: above the baseline of the path (onramp_owd.h)
 *	    synced: as it is, by CLOCK_TAI or the NIC's clock; T is widened by the errors
 *	      of both hosts' clocks, and of the map to the NIC's; above the lowest one, or the
 *	      baseline if it knows of a longer route
 *	  bound it by the round trip, choose T (onramp_path.h)
 *	  decide (onramp_core.h), publish the end of the pause
 *	  shorter than before, and a flow waits for it: its qdisc looks again
 *
 * An OR-ACK that fails a check changes nothing. Each reason has a counter. A pause that is
 * not renewed ends by itself, so after any failure a fair queue is left.
 *
 * OR-ACKs about data that was sent again are ambiguous and do nothing: they do not tell which
 * transmission was received.
 *
 * Source: Liu et al., NSDI 2021, sections 3 and 4.1.
 */
#include <linux/ktime.h>

#include "onramp_conn.h"
#include "onramp_event.h"
#include "onramp_trace.h"

/*
 * After this time without an OR-ACK the counts of a connection start over, jiffies: half of
 * the time in which they wrap, see struct or_replay.
 */
#define ONRAMP_REPLAY_AGE	(30 * 60 * HZ)

/* A path is nearly empty if a packet waits for less than a share of T: 1/4. */
#define ONRAMP_EMPTY_SHIFT	2

/*
 * The path has no lowest round trip of its own, as for its first minute after a rest of another:
 * begin with the kept RTT. It is told to nobody again, as nobody has seen it here.
 */
static void onramp_peer_recall(struct onramp_peer *peer, u64 now_ns)
{
	struct or_path_rtt kept;
	enum or_path_kind kind;

	lockdep_assert_held(&peer->lock);
	if (!or_path_lower(peer->onet->net, &peer->addrs, peer->via.ifindex, &kept, &kind))
		return;
	onramp_low_start(&peer->path.rtt, now_ns, kept.rtt_ns);
	peer->path.wire = peer->path.rtt;
}

/* Note that more or less is known of the delay of the empty path than before. */
static void onramp_peer_baseline(struct onramp_peer *peer, u64 t_ns)
{
	u8 state = onramp_owd_state(&peer->owd, t_ns, peer->baseline), events = peer->events;

	lockdep_assert_held(&peer->lock);
	if (likely(state == peer->baseline))
		return;
	if (state == ONRAMP_BASELINE_LOST)
		events |= BIT(ONRAMP_EVENT_SUPPORT_LOST);
	else if (state > ONRAMP_BASELINE_LEARNING && peer->baseline <= ONRAMP_BASELINE_LEARNING)
		events |= BIT(ONRAMP_EVENT_LEARNED);
	peer->baseline = state;
	/* Read without the lock, after it. */
	WRITE_ONCE(peer->events, events);
}

/* Count a step of a drain, and trace it; the path's lock. */
static void onramp_drain_note(struct onramp_conn *conn, u64 now_ns, u8 says, s64 d_ns,
			      s64 before_ns)
{
	static const u8 stats[] = {
		[ONRAMP_DRAIN_NOTHING] = ONRAMP_Q_DRAINS,
		[ONRAMP_DRAIN_PROOF] = ONRAMP_Q_PROOFS,
		[ONRAMP_DRAIN_VOID] = ONRAMP_Q_VOIDS,
	};

	lockdep_assert_held(&conn->peer->lock);
	onramp_shared_add(conn->shared, stats[says], 1);
	trace_onramp_drain(conn, now_ns, says, d_ns, before_ns,
			   onramp_owd_baseline(&conn->peer->owd, now_ns));
}

/* The first packet after a drain, or one that claims to be: does it show the empty path? */
static void onramp_conn_proof(struct onramp_conn *conn, const struct onramp_delay *d, s64 d_ns,
			      u32 payload)
{
	struct onramp_peer *peer = conn->peer;
	s64 before_ns = onramp_owd_baseline(&peer->owd, d->trip.tx_ns), rtt_ns = 0;
	bool longer, proof = onramp_path_probe(&peer->path, &peer->owd, d, d_ns, payload, &longer);

	if (longer)
		onramp_peer_report_rtt(peer, onramp_low(&peer->path.rtt), OR_PATH_CHANGED);
	if (d->probe != ONRAMP_DRAIN_PROOF)
		return;
	/* Also while the baseline is learned, when no other round trip counts. */
	if (proof) {
		rtt_ns = onramp_path_proven(&peer->path, &d->trip);
		onramp_peer_report_rtt(peer, rtt_ns, OR_PATH_PROOF);
	}
	onramp_drain_end(&peer->drain, (u64)rtt_ns);
	onramp_drain_note(conn, d->trip.now_ns, proof ? ONRAMP_DRAIN_PROOF : ONRAMP_DRAIN_VOID,
			  d_ns, before_ns);
}

/*
 * Give a delay to the filter of the empty path. Return ONRAMP_UNDECIDED and the excess over that,
 * or the reason for which there is none.
 */
static u8 onramp_learn(struct onramp_conn *conn, const struct or_ack *ack, u32 payload,
		       const struct onramp_delay *d, s64 *excess_ns)
{
	struct onramp_peer *peer = conn->peer;
	u64 tx_ns = d->trip.tx_ns;
	s64 d_ns = (s64)(ack->rx_ns - tx_ns);
	bool ready;

	if (d_ns > OR_CLOCKS_APART_NS || d_ns < -OR_CLOCKS_APART_NS)
		return ONRAMP_IMPLAUSIBLE;
	lockdep_assert_held(&peer->lock);
	if (!peer->has_domain || peer->domain != ack->domain) {
		onramp_owd_init(&peer->owd);
		peer->has_domain = true;
		peer->domain = ack->domain;
		peer->last_owd_at_ns = 0;
		peer->epoch++;
	}
	if (conn->epoch != peer->epoch) {
		conn->epoch = peer->epoch;
		onramp_ctrl_forget(&conn->ctrl);
	}
	if (unlikely(d->probe))
		onramp_conn_proof(conn, d, d_ns, payload);
	ready = onramp_owd_sample(&peer->owd, tx_ns, d_ns, payload, excess_ns);
	onramp_owd_acked(&peer->owd, d->trip.now_ns, d->trip.now_ns - tx_ns, d_ns);
	if (!ready)
		return ONRAMP_Q_LEARNING;
	return ONRAMP_UNDECIDED;
}

/*
 * Compute the excess over the delay of the empty path; return ONRAMP_UNDECIDED, or the reason
 * for which there is none.
 */
static u8 onramp_delay_relative(struct onramp_conn *conn, const struct or_ack *ack,
				u32 payload, struct onramp_delay *d)
{
	struct onramp_peer *peer = conn->peer;
	u64 tx_ns = d->trip.tx_ns;
	u8 verdict = onramp_learn(conn, ack, payload, d, &d->owd_ns);

	if (verdict != ONRAMP_IMPLAUSIBLE)
		onramp_peer_baseline(peer, tx_ns);
	d->baseline_ns = onramp_owd_baseline(&peer->owd, tx_ns);
	d->error_ns = onramp_owd_error(&peer->owd, tx_ns);
	d->seeded = onramp_owd_seeded(&peer->owd);
	return verdict;
}

/*
 * Compute the delay itself, by the time to which both clocks are synchronised; return
 * ONRAMP_UNDECIDED, or the reason for which there is none.
 *
 * The receiver's clock error is that of CLOCK_TAI or, with a timestamp of its NIC, that of the
 * NIC's clock. PTP synchronises the latter to TAI too, unless all NICs share another time. So
 * CLOCK_TAI is compared with both kinds of timestamps, and the NIC's clock only with timestamps
 * of NICs.
 */
static u8 onramp_delay_synced(struct onramp_qdisc_shared *shared,
			      const struct onramp_settings *settings,
			      const struct or_ack *ack, struct onramp_delay *d)
{
	u64 tx_ns = d->trip.tx_ns, at_ns;
	struct nic_ts_stamp clock;
	u32 map_error_ns = 0;

	if (ack->clock_error == OR_CLOCK_UNSYNCED)
		return ONRAMP_Q_UNSYNCED;
	if (settings->clock == ONRAMP_CLOCK_SYSTEM) {
		at_ns = ktime_to_ns(ktime_mono_to_any(ns_to_ktime(tx_ns), TK_OFFS_TAI));
	} else {
		if (!ack->nic)
			return ONRAMP_Q_UNSYNCED;
		/* Without a lock: the qdisc may be going. */
		if (nic_ts_dev_clock(READ_ONCE(shared->dev), tx_ns, &clock, &map_error_ns)) {
			if (test_and_clear_bit(ONRAMP_SHARED_MAPPED, &shared->flags))
				set_bit(ONRAMP_SHARED_MAP_LOST, &shared->flags);
			return ONRAMP_Q_NO_MAP;
		}
		if (!test_bit(ONRAMP_SHARED_MAPPED, &shared->flags))
			set_bit(ONRAMP_SHARED_MAPPED, &shared->flags);
		at_ns = clock.hw_ns;
	}
	d->owd_ns = (s64)(ack->rx_ns - at_ns);
	d->error_ns = or_clock_decode(ack->clock_error) + settings->clock_error_ns +
		      map_error_ns;
	return ONRAMP_UNDECIDED;
}

/* A synchronised delay has a second excess: over the learned baseline, if that has support. */
static void onramp_delay_learned(struct onramp_conn *conn, const struct or_ack *ack, u32 payload,
				 struct onramp_delay *d)
{
	u64 tx_ns = d->trip.tx_ns;

	d->learned = conn->line_bps == conn->peer->line_bps &&
		     onramp_learn(conn, ack, payload, d, &d->learned_ns) == ONRAMP_UNDECIDED &&
		     onramp_owd_state(&conn->peer->owd, tx_ns, ONRAMP_BASELINE_UNKNOWN) ==
		     ONRAMP_BASELINE_SUPPORTED;
}

static bool onramp_counted(u8 verdict)
{
	return verdict <= ONRAMP_IS_OFF;
}

/* Add an OR-ACK that counted to the statistics of its path. */
static void onramp_peer_note(struct onramp_conn *conn, const struct onramp_result *res)
{
	struct onramp_peer *peer = conn->peer;
	u32 i;

	lockdep_assert_held(&peer->lock);
	peer->acks_counted++;
	peer->paused_ns += conn->accounted_ns - conn->peer_ns;
	conn->peer_ns = conn->accounted_ns;
	peer->owds[onramp_owd_class(res->owd_ns)]++;
	if (likely(++peer->n_owds < ONRAMP_PEER_OWDS_MAX))
		return;
	peer->n_owds = 0;
	for (i = 0; i < ONRAMP_OWD_CLASSES; i++) {
		peer->owds[i] /= 2;
		peer->n_owds += peer->owds[i];
	}
}

/* Bursts of all connections to the host follow the delay, too. */
static void onramp_conn_window(struct onramp_conn *conn, const struct onramp_delay *d,
			       const struct onramp_sample *s, bool above)
{
	struct onramp_peer *peer = conn->peer;
	u64 rtt_bytes = 0;

	lockdep_assert_held(&peer->lock);
	if (above || !peer->window.least) {
		if (conn->byte_ns)
			rtt_bytes = div64_u64((u64)onramp_low(&peer->path.rtt) << ONRAMP_BYTE_SHIFT,
					      conn->byte_ns);
		peer->window.least = max_t(u64, ONRAMP_WINDOW_LEAST, rtt_bytes);
	}
	onramp_window_ack(&peer->window, &conn->burst, s->seq, d->trip.out_ns, s->now_ns, above);
	conn->counts = conn->burst.open;
}

/*
 * The receiver has its senders drain the path: from now on all data to it is silent. Not if nobody
 * uses the delay of the empty path: pauses are off, or a threshold set by hand applies to the whole
 * delay. The path's lock.
 */
static void onramp_conn_drain(struct onramp_conn *conn, const struct onramp_settings *settings,
			      u64 now_ns)
{
	struct onramp_peer *peer = conn->peer;
	bool awaits = peer->drain.awaits;

	lockdep_assert_held(&peer->lock);
	if (settings->core.mode == ONRAMP_MODE_OFF ||
	    (settings->owd == ONRAMP_OWD_SYNCED && !settings->bound &&
	     settings->core.threshold_ns) ||
	    !onramp_drain_begin(&peer->drain, now_ns,
				onramp_path_drain_ns(&peer->path, &peer->owd, peer->drain.rtt_ns)))
		return;
	/*
	 * A qdisc reads it before each packet, so that no flow has to be told. Pairs with
	 * onramp_conn_probe(), which reads the length of the rest after it.
	 */
	atomic64_set_release(&peer->drained, (s64)peer->drain.probe_ns);
	/* No OR-ACK about data after the last one ever came. */
	if (awaits) {
		onramp_drain_end(&peer->drain, 0);
		onramp_shared_add(conn->shared, ONRAMP_Q_VOIDS, 1);
	}
	onramp_drain_note(conn, now_ns, ONRAMP_DRAIN_NOTHING, 0,
			  onramp_owd_baseline(&peer->owd, now_ns));
}

/*
 * The OR-ACK's part in a drain. Delays of before are no part of what a pause has done,
 * and a pause for those would be for a queue that is gone.
 */
static void onramp_conn_drained(struct onramp_conn *conn, const struct onramp_settings *settings,
				const struct or_ack *ack, struct onramp_sample *s,
				struct onramp_delay *d)
{
	struct onramp_drain *drain = &conn->peer->drain;
	u8 says = onramp_drain_acked(drain, s->tx_ns);

	lockdep_assert_held(&conn->peer->lock);
	d->probe = says;
	if (unlikely(says))
		conn->peer->epoch++;
	if (unlikely(says == ONRAMP_DRAIN_VOID)) {
		onramp_drain_end(drain, 0);
		onramp_drain_note(conn, s->now_ns, says, 0,
				  onramp_owd_baseline(&conn->peer->owd, s->tx_ns));
	}
	drain->rtt_ns = onramp_trip_rtt_ns(&d->trip);
	if (unlikely(ack->drain))
		onramp_conn_drain(conn, settings, s->now_ns);
	s->idle_ns = max(s->idle_ns, onramp_drain_after_ns(drain, s->tx_ns));
}

/*
 * Compute the delay and decide for the connection; return an enum onramp_verdict, or the reason
 * for which there is no delay. The path is locked all the time: the effect of a pause is
 * compared with the packets that have left since.
 */
static u8 onramp_conn_path(struct onramp_conn *conn, const struct onramp_settings *settings,
			   const struct or_ack *ack, u32 payload, struct onramp_ctrl_params *core,
			   struct onramp_sample *s, struct onramp_delay *d,
			   struct onramp_path_result *path_res, struct onramp_result *res)
{
	struct onramp_peer *peer = conn->peer;
	u8 verdict;

	lockdep_assert_held(&peer->lock);
	if (!onramp_trip_possible(&d->trip))
		return ONRAMP_IMPLAUSIBLE;
	if (unlikely(onramp_low_old(&peer->path.rtt, ONRAMP_PATH_LOW_NS, s->now_ns)))
		onramp_peer_recall(peer, s->now_ns);
	onramp_conn_drained(conn, settings, ack, s, d);
	if (d->absolute)
		verdict = onramp_delay_synced(conn->shared, settings, ack, d);
	else if (conn->line_bps != peer->line_bps)
		/* Another connection has already noticed the new rate. */
		verdict = ONRAMP_Q_LEARNING;
	else
		verdict = onramp_delay_relative(conn, ack, payload, d);
	if (verdict != ONRAMP_UNDECIDED)
		return verdict;
	if (d->absolute)
		onramp_delay_learned(conn, ack, payload, d);
	d->proven = peer->drain.voids < ONRAMP_DRAIN_VOIDS &&
		    onramp_owd_proven(&peer->owd, s->tx_ns);
	onramp_path_update(&peer->path, &conn->path, &conn->ctrl, core, s, d, path_res, res);
	verdict = res->verdict;
	if (onramp_counted(verdict)) {
		onramp_peer_note(conn, res);
		onramp_conn_window(conn, d, s, res->owd_ns > path_res->threshold_ns);
	}
	/* New connections inherit the newest delay. */
	if ((s64)(s->tx_ns - peer->last_owd_tx_ns) > 0) {
		peer->last_owd_ns = max_t(s64, s->owd_ns, 0);
		peer->last_owd_tx_ns = s->tx_ns;
		peer->last_owd_at_ns = s->now_ns;
		peer->last_error_ns = d->error_ns;
		peer->last_threshold_ns = path_res->threshold_ns;
		peer->last_baseline_ns = d->baseline_ns;
		peer->last_absolute = d->absolute;
	}
	WRITE_ONCE(conn->shared->last_slack_ns, peer->path.slack_ns);
	return verdict;
}

/* Add an OR-ACK that counted to the statistics. */
static void onramp_conn_note(struct onramp_conn *conn, const struct onramp_delay *d,
			     const struct onramp_path_result *path_res,
			     const struct onramp_result *res)
{
	struct onramp_qdisc_shared *shared = conn->shared;

	WRITE_ONCE(shared->last_owd_ns, res->owd_ns);
	WRITE_ONCE(shared->last_baseline_ns, d->baseline_ns);
	WRITE_ONCE(shared->last_error_ns, d->error_ns);
	WRITE_ONCE(shared->last_threshold_ns, path_res->threshold_ns);
	WRITE_ONCE(shared->last_beta, conn->ctrl.beta);
	atomic64_inc(&shared->stats.owd[onramp_owd_class(res->owd_ns)]);
	onramp_shared_add(shared, ONRAMP_Q_LIMITED, path_res->limited);
	onramp_shared_add(shared, ONRAMP_Q_COEXIST, path_res->coexist_share > 0);
	onramp_shared_add(shared, ONRAMP_Q_LONGER, path_res->stretch_ns > 0);
	onramp_shared_add(shared, ONRAMP_Q_PAUSE_ENDS, path_res->returned);
	onramp_shared_add(shared, ONRAMP_Q_PAUSE_ENDS_EMPTY, path_res->empty);
}

/*
 * Payload of the packet that ends at @seq: in a batch only the last one is not full. In a
 * record of several batches others may be short as well. Full ones then count as smaller
 * ones, see onramp_tx_append().
 */
static u32 onramp_conn_payload(const struct onramp_conn *conn, const struct onramp_tx *tx,
			       u32 seq)
{
	return conn->mss ? ((seq - tx->start - 1) % conn->mss) + 1 : 1;
}

/* Return the record of the data that ends at @seq; NULL: it has none, or is not in flight. */
static const struct onramp_tx *onramp_conn_tx(struct onramp_conn *conn, u32 seq)
{
	const struct onramp_tx *tx = onramp_tx_covering(&conn->ring, seq);

	if (!READ_ONCE(conn->forwarded))
		return tx;
	/* It has no snd_una by which a ring forgets data that was ACKed. */
	if (!onramp_fwd_in_flight(conn->una, conn->ring.next, seq))
		return NULL;
	/* It was sent, and not recorded. */
	if (!tx)
		conn->una = seq;
	return tx;
}

/*
 * Take the measurements of an OR-ACK about the data of @tx. Its path is locked, so that the times
 * of a path's OR-ACKs are in the order in which they are processed.
 */
static void onramp_conn_measure(struct onramp_conn *conn, const struct or_ack *ack,
				const struct onramp_tx *tx, struct onramp_sample *s,
				struct onramp_delay *d)
{
	lockdep_assert_held(&conn->peer->lock);
	s->now_ns = ktime_get_ns();
	s->tx_ns = tx->tx_ns + onramp_own_ns(conn->byte_ns, tx->start, ack->seq);
	s->tx_cum_ns = tx->cum_ns;
	s->sent_ns = conn->ring.sent_ns;
	s->idle_ns = onramp_tx_idle_ns(&conn->ring, s->now_ns);
	d->trip = (struct onramp_trip) {
		.now_ns = s->now_ns, .out_ns = tx->tx_ns - tx->wait_ns, .tx_ns = s->tx_ns,
		.hold_ns = ack->hold_ns,
	};
}

/* The delay above that of the empty path, for congestion controls. The path's lock. */
static s64 onramp_conn_excess(const struct onramp_conn *conn, const struct onramp_delay *d,
			      const struct onramp_sample *s)
{
	if (!d->absolute)
		return d->owd_ns;
	/* A threshold that is set by hand, with nobound, applies to the whole delay. */
	return d->is_auto || d->bound ? s->owd_ns :
					s->owd_ns - onramp_low(&conn->peer->path.synced);
}

/* Decide by an OR-ACK whose tag and count are right. */
static u8 onramp_conn_decide(struct onramp_conn *conn, const struct or_ack *ack)
{
	struct onramp_delay d = {
		.byte_ns = conn->byte_ns, .others = ack->others, .rx_ns = ack->rx_ns,
	};
	struct onramp_sample s = { .seq = ack->seq };
	const struct onramp_settings *settings;
	struct onramp_path_result path_res = {};
	struct onramp_result res = {};
	struct onramp_ctrl_params core;
	const struct onramp_tx *tx;
	s64 excess_ns;
	u8 verdict;

	settings = rcu_dereference(conn->shared->settings);
	core = settings->core;
	tx = onramp_conn_tx(conn, ack->seq);
	if (!tx || !tx->tx_ns) {
		verdict = tx ? ONRAMP_Q_AMBIGUOUS : ONRAMP_Q_NOT_IN_FLIGHT;
		s.now_ns = ktime_get_ns();
		/* Its data has been ACKed, but its delay is news. */
		if (unlikely(ack->drain)) {
			spin_lock(&conn->peer->lock);
			onramp_conn_drain(conn, settings, s.now_ns);
			spin_unlock(&conn->peer->lock);
		}
		goto out;
	}
	d.absolute = settings->owd == ONRAMP_OWD_SYNCED;
	d.is_auto = !core.threshold_ns;
	d.bound = settings->bound;
	spin_lock(&conn->peer->lock);
	onramp_conn_measure(conn, ack, tx, &s, &d);
	onramp_conn_account(conn, s.now_ns);
	verdict = onramp_conn_path(conn, settings, ack, onramp_conn_payload(conn, tx, ack->seq),
				   &core, &s, &d, &path_res, &res);
	excess_ns = onramp_conn_excess(conn, &d, &s);
	spin_unlock(&conn->peer->lock);
	if (READ_ONCE(conn->forwarded) && verdict != ONRAMP_IMPLAUSIBLE)
		conn->una = ack->seq;
	onramp_conn_publish(conn, s.now_ns);
	if (!onramp_counted(verdict))
		goto out;
	atomic64_set(&conn->delay, (s64)(s.tx_ns >> ONRAMP_DELAY_SHIFT << 32 |
					 clamp_t(s64, excess_ns, 1, U32_MAX)));
	WRITE_ONCE(conn->trip_ns, (u32)min_t(u64, s.now_ns - d.trip.out_ns, U32_MAX));
	/* The data that left last found the path empty, or nearly so. */
	if (tx->end == conn->ring.next &&
	    res.owd_ns < max(core.empty_ns, path_res.threshold_ns >> ONRAMP_EMPTY_SHIFT))
		atomic64_set(&conn->empty_ns, s.now_ns);
	onramp_conn_note(conn, &d, &path_res, &res);
	if (path_res.returned)
		trace_onramp_pause_end(conn, s.now_ns, path_res.empty, res.owd_ns,
				       READ_ONCE(conn->shared->last_slack_ns));
out:
	trace_onramp_ack(conn, ack, &s, &d, &path_res, &res, verdict);
	return verdict;
}

/* An OR-ACK with the right tag for this connection. */
static void onramp_conn_ack(struct onramp_conn *conn, const struct or_ack *ack)
{
	struct onramp_qdisc_shared *recheck = NULL, *shared;
	enum or_error error;
	u64 until_ns, empty_ns;
	u8 verdict;
	u32 anew;

	spin_lock(&conn->lock);
	/* Nothing was ever sent, or the last flow is gone. */
	if (!conn->shared) {
		spin_unlock(&conn->lock);
		onramp_net_count(conn->peer->onet, ONRAMP_N_NO_FLOW);
		return;
	}
	/* A receiver that sent a CHALLENGE may have been restarted, and start at any count. */
	anew = READ_ONCE(conn->peer->anew);
	if (conn->anew != anew || time_after(jiffies, conn->acked + ONRAMP_REPLAY_AGE))
		conn->replay = (struct or_replay) { .newest = 0 };
	error = or_replay_accept(&conn->replay, ack->count);
	if (error) {
		struct onramp_sample s = { .now_ns = ktime_get_ns() };
		struct onramp_path_result path_res = {};
		struct onramp_delay d = {};
		struct onramp_result res = {};

		verdict = error == OR_ERR_REPLAY ? ONRAMP_Q_REPLAY : ONRAMP_Q_OLD;
		trace_onramp_ack(conn, ack, &s, &d, &path_res, &res, verdict);
	} else {
		conn->acked = jiffies;
		conn->stale = false;
		conn->anew = anew;
		until_ns = conn->ctrl.until_ns;
		empty_ns = atomic64_read(&conn->empty_ns);
		verdict = onramp_conn_decide(conn, ack);
		if (conn->waiter && conn->ctrl.until_ns < until_ns) {
			recheck = conn->shared;
			trace_onramp_shorter(conn, until_ns, conn->ctrl.until_ns);
		} else if (conn->waiter && atomic64_read(&conn->empty_ns) != empty_ns) {
			recheck = conn->shared;
			empty_ns = atomic64_read(&conn->empty_ns);
			if (conn->ctrl.until_ns < empty_ns)
				trace_onramp_go_on(conn, empty_ns, conn->ctrl.until_ns);
		}
	}
	conn->verdicts[verdict]++;
	shared = conn->shared;
	onramp_shared_add(shared, verdict, 1);
	spin_unlock(&conn->lock);
	/* RCU keeps both, even if the connection is dropped now. */
	if (recheck)
		onramp_shared_recheck(recheck, conn);
	if (unlikely(test_bit(ONRAMP_SHARED_MAP_LOST, &shared->flags)))
		__onramp_shared_notify(shared);
}

/**
 * onramp_conn_take() - take an OR-ACK, if it is of a peer
 * @onet: namespace
 * @addrs: ends of the message
 * @msg: its first OR_MSG_MAX bytes, or all if it has fewer
 * @len: its length
 *
 * Context: RCU, BH disabled.
 * Return: whether its tag is right.
 */
bool onramp_conn_take(struct onramp_net *onet, const struct or_addrs *addrs, const u8 *msg,
		      unsigned int len)
{
	struct onramp_peer *peer;
	struct onramp_conn *conn;
	unsigned int reason;
	struct or_ack ack;

	reason = or_ack_decode(msg, len, &ack);
	if (reason)
		goto reject;
	reason = ONRAMP_N_NO_PEER;
	peer = onramp_peer_find(onet, addrs);
	if (!peer)
		goto reject;
	reason = OR_ERR_TAG;
	if (!onramp_peer_verify(peer, msg))
		goto reject;
	reason = ONRAMP_N_NO_FLOW;
	conn = onramp_conn_find(onet, peer, ack.sport, ack.dport);
	if (conn)
		onramp_conn_ack(conn, &ack);
	else
		onramp_peer_unwanted(peer);
	onramp_peer_notify(peer);
	if (!conn)
		goto reject;
	return true;

reject:
	onramp_net_count(onet, reason);
	trace_onramp_reject(addrs, len, reason);
	return reason == ONRAMP_N_NO_FLOW;
}

/**
 * onramp_conn_rcv() - receive an OR-ACK
 * @net: namespace
 * @addrs: ends of the message
 * @ifindex: of the device that it came in on
 * @mark: for an answer
 * @msg: its first OR_MSG_MAX bytes, or all if it has fewer
 * @len: its length
 *
 * Context: RCU, BH disabled.
 */
void onramp_conn_rcv(struct net *net, const struct or_addrs *addrs, int ifindex, u32 mark,
		     const u8 *msg, unsigned int len)
{
	onramp_conn_take(onramp_net(net), addrs, msg, len);
}
