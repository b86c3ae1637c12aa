// SPDX-License-Identifier: GPL-2.0
/* The model of onramp_loop.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "onramp_loop.h"
#include "random.h"

#define MSS		1448
#define FRAME		1538	/* with preamble, check sequence and gap */
#define RECORDS		64
#define T0		1000000000000ULL	/* the sender's clock at the start */
#define LOSS_NS		1e6	/* until a loss is noticed, at least */

struct flow {
	int host;
	double cwnd, inflight, ssthresh, recovery_until, srtt;
	double edt, next_tx, rate, rate_at;	/* rates in bytes per ns */
	double extra_ns, trip;
	u32 seq, una;
	struct onramp_ctrl ctrl;
	struct onramp_txring ring;
	struct onramp_tx rec[RECORDS];
	struct onramp_conn_path path;
};

struct host {
	bool onramp;
	double nic_free;
	u64 fifo_q;
	double wake;
	int turn;
	struct onramp_owd owd;
	struct onramp_path path;
	struct onramp_drain drain;
	u64 drained;		/* as in struct onramp_peer */
};

enum event_type { EV_WAKE, EV_ACK, EV_LOSS, EV_DRAIN, EV_DRAINED };

struct event {
	double at;
	enum event_type type;
	int id;			/* host of EV_WAKE and EV_DRAINED, else flow */
	u32 seq;
	double bytes;
	double sent;
	u64 rx_ns;
	bool others;
};

struct loop {
	const struct loop_net *net;
	struct loop_result *res;
	double now, link_free, back_last, stall_next;
	double queue_sum, queue_n, drain_ns;
	unsigned long with, without;	/* bytes received */
	struct or_acker_share share;
	u64 byte_q, line_q;
	struct event *heap;
	int events, room;
	int n_flows;
	struct flow flow[LOOP_FLOWS];
	struct host host[LOOP_HOSTS];
};

/* Events ------------------------------------------------------------------- */

static void push(struct loop *l, struct event e)
{
	int i = l->events++;

	if (l->events > l->room) {
		l->room = 2 * l->room + 64;
		l->heap = realloc(l->heap, l->room * sizeof(*l->heap));
		if (!l->heap)
			abort();
	}
	for (; i && l->heap[(i - 1) / 2].at > e.at; i = (i - 1) / 2)
		l->heap[i] = l->heap[(i - 1) / 2];
	l->heap[i] = e;
}

static struct event pop(struct loop *l)
{
	struct event top = l->heap[0], last = l->heap[--l->events];
	int i = 0, child;

	while ((child = 2 * i + 1) < l->events) {
		if (child + 1 < l->events && l->heap[child + 1].at < l->heap[child].at)
			child++;
		if (l->heap[child].at >= last.at)
			break;
		l->heap[i] = l->heap[child];
		i = child;
	}
	l->heap[i] = last;
	return top;
}

/* What the scenario does ------------------------------------------------------ */

static u64 sender_ns(double at)
{
	return T0 + (u64)at;
}

static u64 receiver_ns(const struct loop_net *net, double at)
{
	double t = at * (1 + net->rx_ppm * 1e-6);

	if (at > net->slew_from_ns)
		t += (fmin(at, net->slew_to_ns) - net->slew_from_ns) * net->slew_ppm * 1e-6;
	if (net->step_at_ns && at >= net->step_at_ns)
		t += net->step_ns;
	return (u64)(17e12 + t + uniform(0, net->noise_ns));
}

static double route_ns(const struct loop_net *net, double at)
{
	if (!net->route_ns || at < net->route_from_ns || at >= net->route_to_ns)
		return 0;
	if (net->route_flap_ns &&
	    (long)((at - net->route_from_ns) / net->route_flap_ns) % 2)
		return 0;
	return net->route_ns;
}

static double back_ns(struct loop *l, double at)
{
	const struct loop_net *net = l->net;
	double ns = net->rtt_ns / 2 + route_ns(net, at);

	if (net->reverse_ns)
		ns += net->reverse_ns * (0.5 + 0.5 * fmod(at, net->reverse_period_ns) /
					 net->reverse_period_ns);
	l->back_last = fmax(l->back_last, at + ns);
	return l->back_last;
}

static void stall(struct loop *l, double at)
{
	const struct loop_net *net = l->net;

	if (!net->stall_every_ns)
		return;
	while (l->stall_next <= at) {
		l->link_free = fmax(l->link_free, l->stall_next + exponential(net->stall_ns));
		l->stall_next += exponential(net->stall_every_ns);
	}
}

/* Sending ------------------------------------------------------------------ */

static double wire(double bytes)
{
	return bytes * FRAME / MSS;
}

static void set_line(struct loop *l)
{
	const struct loop_net *net = l->net;
	double bps = net->says_bps;

	if (net->says_late_bps && l->now >= net->says_until_ns)
		bps = net->says_late_bps;
	l->byte_q = onramp_byte_time((u64)(bps / 8), MSS, FRAME);
	l->line_q = onramp_byte_time((u64)(bps / 8), 1, 1);
}

static void send_batch(struct loop *l, struct host *h, struct flow *f, double bytes)
{
	const struct loop_net *net = l->net;
	double nic_bps = net->nic_bps * (1 + net->nic_ppm * 1e-6), start, end, at, leaves;
	double queue, room;
	u32 end_seq = f->seq + (u32)bytes;
	u64 now = sender_ns(l->now), start_q, time_q, tx_ns;
	struct event e = {
		.type = EV_ACK, .id = f - l->flow, .seq = end_seq, .bytes = bytes, .sent = l->now,
	};

	if (h->onramp) {
		time_q = onramp_fifo_time(l->line_q, (u32)wire(bytes));
		start_q = onramp_fifo_start(h->fifo_q, now);
		h->fifo_q = start_q + time_q;
		tx_ns = onramp_fifo_ns(start_q, now) +
			onramp_fifo_rest(time_q, onramp_own_ns(l->byte_q, f->seq, end_seq));
		onramp_tx_append(&f->ring, f->seq, end_seq, now, tx_ns,
				 onramp_ctrl_cum_pause(&f->ctrl, now), l->byte_q, &f->una);
	}
	start = fmax(l->now, h->nic_free);
	end = start + wire(bytes) * 8e9 / nic_bps;
	h->nic_free = end;
	at = end + net->rtt_ns / 4;

	stall(l, at);
	room = net->buffer - (net->tail ? uniform(0, net->tail) : 0);
	queue = fmax(0, l->link_free - (start + net->rtt_ns / 4));
	if (queue * net->link_bps / 8e9 > room) {
		l->res->lost++;
		e.type = EV_LOSS;
		e.at = at + fmax(LOSS_NS, 2 * net->rtt_ns);
	} else {
		leaves = fmax(fmax(l->link_free, start + net->rtt_ns / 4) +
			      wire(bytes) * 8e9 / net->link_bps, at);
		l->link_free = leaves;
		if (l->now > net->end_ns / 2) {
			l->queue_sum += queue;
			l->queue_n++;
		}
		leaves += net->rtt_ns / 4 + route_ns(net, leaves) + f->extra_ns;
		e.at = back_ns(l, leaves) + f->extra_ns;
		e.rx_ns = receiver_ns(net, leaves);
		*(h->onramp ? &l->with : &l->without) += bytes;
		or_acker_share_update(&l->share, sender_ns(leaves), l->with, l->without);
		e.others = l->share.others;
	}
	push(l, e);
	f->seq = end_seq;
	f->inflight += bytes;
}

static double sendable(const struct loop *l, const struct flow *f)
{
	double most = fmax(MSS, fmin(l->net->batch, floor(f->cwnd / 2 / MSS) * MSS));
	/* At first each host sends little, so that the path is seen empty. */
	double cwnd = l->now < l->net->warm_ns + l->net->start_ns * f->host ?
		      fmin(most, f->cwnd) : f->cwnd;

	if (l->now < l->net->warm_ns && (&l->flow[0] + f->host * l->net->flows) != f)
		return 0;
	return f->inflight + most <= fmax(cwnd, MSS) ? most : 0;
}

static double pacing_rate(const struct flow *f)
{
	return f->srtt ? (f->cwnd < f->ssthresh ? 2 : 1.2) * f->cwnd / f->srtt : INFINITY;
}

/* TCP's departure times, and the rate after a pause, as in onramp_pace.c. */
static void pace(struct loop *l, struct flow *f, double bytes, double until, bool late)
{
	double own = pacing_rate(f), limit = own * 1.25, average, aim, more;

	if (!f->srtt)
		return;
	f->edt = fmax(f->edt, l->now - bytes / own) + bytes / own;
	f->next_tx = 0;
	if (!late) {
		f->rate = 0;
		return;
	}
	if (f->rate) {
		const struct host *h = &l->host[f->host];
		u64 elapsed = (u64)(l->now - f->rate_at);

		elapsed -= onramp_drain_part_ns(h->drained, h->drain.silent_ns, sender_ns(l->now),
						elapsed);
		average = fmin(fmax(f->trip, 1 << 18), 1 << 27);
		f->rate = (f->rate * average + bytes) / (average + elapsed);
	} else {
		f->rate = fmin(own, f->cwnd / f->srtt);
	}
	f->rate_at = l->now;
	aim = l->net->says_bps <= 1e9 ? fmax(own, l->net->says_bps / 8e9) : own;
	more = fmax(f->rate / 8, (aim - f->rate) / 16);
	f->next_tx = fmax(l->now, until + bytes / fmin(f->rate + more, limit));
}

/* Until when the host's data waits for a drain. */
static double drained_ns(const struct host *h)
{
	return h->drained > T0 ? (double)(h->drained - T0) : 0;
}

/* Hand the NIC as much as it takes: two batches. */
static void send_host(struct loop *l, struct host *h)
{
	const struct loop_net *net = l->net;
	double room = 2 * wire(net->batch) * 8e9 / net->nic_bps, wake, bytes = 0, until = 0;
	struct flow *f = NULL;
	int i;

	for (;;) {
		wake = INFINITY;
		if (h->nic_free - l->now > room) {
			wake = h->nic_free - room + 1;
			break;
		}
		for (i = 0; i < net->flows; i++) {
			f = &l->flow[(h - l->host) * net->flows + (h->turn + i) % net->flows];
			bytes = sendable(l, f);
			if (!bytes)
				continue;
			until = f->edt;
			if (h->onramp) {
				until = fmax(until, f->next_tx);
				until = fmax(until, drained_ns(h));
				if (f->ctrl.until_ns > T0)
					until = fmax(until, (double)(f->ctrl.until_ns - T0));
			}
			if (until <= l->now)
				break;
			wake = fmin(wake, until);
		}
		if (i == net->flows)
			break;
		h->turn = (h->turn + i + 1) % net->flows;
		if (h->onramp && !(h->drained & ONRAMP_DRAIN_PROBED)) {
			h->drained = (h->drained + h->drain.rest_ns) | ONRAMP_DRAIN_PROBED;
			bytes = MSS;
		}
		send_batch(l, h, f, bytes);
		pace(l, f, bytes, until, h->onramp && until > f->edt);
	}
	if (wake < h->wake) {
		h->wake = wake;
		push(l, (struct event) { .at = wake, .type = EV_WAKE, .id = h - l->host });
	}
}

/* OR-ACKs ------------------------------------------------------------------ */

static void or_ack(struct loop *l, struct host *h, struct flow *f, const struct event *e)
{
	const struct loop_net *net = l->net;
	struct onramp_ctrl_params core = {
		.mode = ONRAMP_MODE_FINAL, .gain = ONRAMP_GAIN_DEFAULT,
		.max_pause_ns = 20000000, .stale_ns = 100000000,
		.threshold_ns = (u64)net->threshold_ns,
	};
	struct onramp_sample s = { .now_ns = sender_ns(l->now), .seq = e->seq };
	struct onramp_delay d = {
		.error_ns = 1000, .byte_ns = l->byte_q, .absolute = net->synced,
		.is_auto = !net->threshold_ns, .bound = true, .others = e->others,
		.trip.now_ns = s.now_ns, .rx_ns = e->rx_ns,
	};
	const struct onramp_tx *tx = onramp_tx_covering(&f->ring, e->seq);
	struct onramp_result r;
	struct onramp_path_result path_res;
	bool known, longer, proof;
	int i;
	u8 says;

	if (!tx || !tx->tx_ns)
		return;
	if (l->now < net->quiet_until_ns) {
		core.threshold_ns = 10000000000ULL;
		d.is_auto = false;
	}
	s.tx_ns = tx->tx_ns + onramp_own_ns(l->byte_q, tx->start, e->seq);
	s.tx_cum_ns = tx->cum_ns;
	s.sent_ns = f->ring.sent_ns;
	d.trip.tx_ns = s.tx_ns;
	d.trip.out_ns = tx->tx_ns - tx->wait_ns;
	f->trip = s.now_ns - d.trip.out_ns;
	if (!onramp_trip_possible(&d.trip)) {
		l->res->implausible++;
		return;
	}
	d.owd_ns = (s64)(e->rx_ns - s.tx_ns);
	says = onramp_drain_acked(&h->drain, s.tx_ns);
	if (says)
		for (i = 0; i < net->flows; i++)
			onramp_ctrl_forget(&l->flow[(h - l->host) * net->flows + i].ctrl);
	d.probe = says;
	proof = says && onramp_path_probe(&h->path, &h->owd, &d, d.owd_ns, MSS, &longer);
	if (proof) {
		onramp_drain_end(&h->drain, (u64)onramp_path_proven(&h->path, &d.trip));
		l->res->proofs++;
	} else if (says) {
		onramp_drain_end(&h->drain, 0);
	}
	h->drain.rtt_ns = onramp_trip_rtt_ns(&d.trip);
	s.idle_ns = onramp_drain_after_ns(&h->drain, s.tx_ns);
	known = onramp_owd_sample(&h->owd, s.tx_ns, d.owd_ns, MSS, &d.learned_ns);
	d.learned = known && onramp_owd_state(&h->owd, s.tx_ns, ONRAMP_BASELINE_UNKNOWN) ==
			     ONRAMP_BASELINE_SUPPORTED;
	if (!net->synced) {
		if (!known)
			return;
		d.owd_ns = d.learned_ns;
		d.error_ns = onramp_owd_error(&h->owd, s.tx_ns);
	}
	d.proven = h->drain.voids < ONRAMP_DRAIN_VOIDS && onramp_owd_proven(&h->owd, s.tx_ns);
	onramp_path_update(&h->path, &f->path, &f->ctrl, &core, &s, &d, &path_res, &r);
	l->res->paused += r.pause_ns > 0;
	l->res->limited += path_res.limited;
	l->res->longer += path_res.stretch_ns > 0;
	l->res->slack = fmax(l->res->slack, h->path.slack_ns);
	l->res->returns += path_res.returned;
	l->res->empty += path_res.empty;
}

/* The receiver has all senders drain the path, at first as below, and then as or_acker does. */
static void drain_begins(struct loop *l)
{
	int i;

	for (i = 0; i < l->net->hosts; i++)
		push(l, (struct event) {
			.at = l->now + l->net->rtt_ns / 2 + uniform(0, 20e3),
			.type = EV_DRAINED, .id = i,
		});
	l->drain_ns = fmin(fmax(l->now, 110e6), 1e9);
	push(l, (struct event) { .at = l->now + l->drain_ns, .type = EV_DRAIN });
}

static void drained(struct loop *l, struct host *h)
{
	u64 most_ns = onramp_path_drain_ns(&h->path, &h->owd, h->drain.rtt_ns);

	if (!h->onramp || l->share.others ||
	    !onramp_drain_begin(&h->drain, sender_ns(l->now), most_ns))
		return;
	h->drained = h->drain.probe_ns;
}

static void acked(struct loop *l, struct flow *f, const struct event *e)
{
	int window = fmin(LOOP_WINDOWS - 1, l->now / l->net->end_ns * LOOP_WINDOWS);

	f->inflight -= e->bytes;
	if ((s32)(e->seq - f->una) > 0)
		f->una = e->seq;
	if (e->type == EV_LOSS) {
		if (l->host[f->host].onramp)
			onramp_path_lost(&l->host[f->host].path, sender_ns(l->now));
		if (l->now >= f->recovery_until) {
			f->cwnd = fmax(2 * MSS, f->cwnd * 0.7);
			f->ssthresh = f->cwnd;
			f->recovery_until = l->now + LOSS_NS + l->net->rtt_ns;
		}
		return;
	}
	f->srtt = f->srtt ? f->srtt + (l->now - e->sent - f->srtt) / 8 : l->now - e->sent;
	l->res->bytes[f->host][window] += e->bytes;
	if (l->now < f->recovery_until)
		return;
	/* Not when the window is no limit. */
	if (f->inflight + 2 * l->net->batch < f->cwnd / 2)
		return;
	f->cwnd += f->cwnd < f->ssthresh ? e->bytes : e->bytes * MSS / f->cwnd;
}

/* loop_run() - run @net, with random numbers from @seed */
void loop_run(const struct loop_net *net, uint64_t seed, struct loop_result *res)
{
	static struct loop loop;
	struct loop *l = &loop;
	struct event e;
	struct flow *f;
	int i;

	memset(res, 0, sizeof(*res));
	free(loop.heap);
	memset(&loop, 0, sizeof(loop));
	random_state = seed;
	loop.net = net;
	loop.res = res;
	loop.stall_next = exponential(net->stall_every_ns);
	for (i = 0; i < net->hosts; i++) {
		loop.host[i].onramp = i < net->with && !net->off;
		loop.host[i].drained = ONRAMP_DRAIN_PROBED;
		onramp_owd_init(&loop.host[i].owd);
	}
	for (i = 0; i < net->hosts * net->flows; i++) {
		f = &loop.flow[i];
		f->host = i / net->flows;
		f->cwnd = 10 * MSS;
		f->ssthresh = INFINITY;
		f->seq = (u32)random_u64();
		f->una = f->seq;
		f->extra_ns = net->flows > 1 ?
			      net->ecmp_ns * (i % net->flows) / (net->flows - 1) : 0;
		onramp_ctrl_init(&f->ctrl);
		f->ring.rec = f->rec;
		f->ring.mask = RECORDS - 1;
	}
	/* One by one, so that each sees the path empty, or nearly so. */
	for (i = 0; i < net->hosts; i++) {
		loop.host[i].wake = 1e3 + i * net->start_ns;
		push(l, (struct event) { .at = loop.host[i].wake, .type = EV_WAKE, .id = i });
	}
	if (!net->no_drains)
		push(l, (struct event) { .at = net->hosts > 1 ? 20e6 : 50e6, .type = EV_DRAIN });
	while (l->events) {
		e = pop(l);
		if (e.at >= net->end_ns)
			break;
		l->now = e.at;
		set_line(l);
		i = e.id;
		if (e.type == EV_DRAIN) {
			drain_begins(l);
			continue;
		}
		if (e.type == EV_DRAINED) {
			drained(l, &l->host[i]);
		} else if (e.type != EV_WAKE) {
			f = &l->flow[e.id];
			i = f->host;
			if (e.type == EV_ACK && l->host[i].onramp)
				or_ack(l, &l->host[i], f, &e);
			acked(l, f, &e);
		} else if (e.at >= l->host[i].wake) {
			l->host[i].wake = INFINITY;
		}
		send_host(l, &l->host[i]);
	}
	res->queue_ns = l->queue_n ? l->queue_sum / l->queue_n : 0;
	free(loop.heap);
	loop.heap = NULL;
}
