// SPDX-License-Identifier: GPL-2.0
/* An ideal star; see timely_star.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "timely_auto.h"
#include "timely_star.h"

#define WIRE		1538.0	/* bytes on the wire */
#define PAYLOAD		1448	/* of them */
#define INITIAL		10	/* packets of the first window */
#define EVENTS		(1 << 20)

enum event_type { DEPART, AT_HOST, ACKED, BURST, AT_PORT };	/* AT_PORT + k: packet k */

struct event {
	double t, sent;
	int flow, type, packets, version;
};

struct star_flow {
	struct timely_flow f;
	double next, base, got, window, last_pair;
	int in_flight, version;
	bool waits, joiner, stopped, lied;
};

static struct event heap[EVENTS];
static int events;
static struct star_flow flows[STAR_FLOWS_MAX];
static double host_free[STAR_FLOWS_MAX], host_irq[STAR_FLOWS_MAX], port_irq, back_free;
static unsigned long long random_state;

static double uniform(void)
{
	random_state = random_state * 6364136223846793005ULL + 1442695040888963407ULL;
	return ((double)(random_state >> 33) + 0.5) / 2147483648.0;
}

static void push(double t, int flow, int type, int packets, int version, double sent)
{
	struct event e = { t, sent, flow, type, packets, version };
	int i = events++;

	if (events >= EVENTS)
		abort();
	for (; i && heap[(i - 1) / 2].t > e.t; i = (i - 1) / 2)
		heap[i] = heap[(i - 1) / 2];
	heap[i] = e;
}

static struct event pop(void)
{
	struct event first = heap[0], last = heap[--events];
	int i = 0, c;

	while ((c = 2 * i + 1) < events) {
		if (c + 1 < events && heap[c + 1].t < heap[c].t)
			c++;
		if (heap[c].t >= last.t)
			break;
		heap[i] = heap[c];
		i = c;
	}
	heap[i] = last;
	return first;
}

static int by_value(const void *a, const void *b)
{
	double d = *(const double *)a - *(const double *)b;

	return (d > 0) - (d < 0);
}

/* C, payload, bytes/s. */
static u64 star_cap_bps(const struct star *s)
{
	double cap = (s->cap_bit_s ? s->cap_bit_s : s->host_bit_s) / 8;

	return (u64)(cap * PAYLOAD / WIRE);
}

/* As the module has it: whole pairs of packets. */
static int segment_packets(const struct star *s, const struct star_flow *fl)
{
	u32 packets = (timely_auto_segment(&fl->f, s->segment) / PAYLOAD) & ~1U;

	return (int)max_t(u32, packets, timely_auto_least(&fl->f, PAYLOAD, star_cap_bps(s)));
}

static void depart(const struct star *s, int i, double now)
{
	struct star_flow *fl = &flows[i];
	int packets = segment_packets(s, fl);

	if (fl->in_flight && (fl->in_flight + packets) * PAYLOAD > fl->window + 1) {
		fl->waits = true;
		return;
	}
	fl->waits = false;
	fl->in_flight += packets;
	push(now, i, AT_HOST, packets, 0, now);
	fl->next = now + packets * PAYLOAD / (double)timely_rate_bps(&fl->f);
	push(fl->next, i, DEPART, 0, fl->version, 0);
}

/* Return the RTT without queues of a packet that leaves the port at @t. */
static double path_s(const struct star *s, const struct star_flow *fl, double t)
{
	bool other = s->route_us && t >= s->route_s && (!s->back_s || t < s->back_s);

	return fl->base + (other ? s->route_us * 1e-6 : 0);
}

/* Return when the packets that arrive at @t are seen: with the interrupt that is due, or next. */
static double seen(double *irq, double t, double wait_us)
{
	if (t > *irq)
		*irq = t + wait_us * 1e-6;
	return *irq;
}

static void acked(struct star *s, int i, const struct event *e, double rtt_s, u64 cap_bps)
{
	struct star_flow *fl = &flows[i];
	u64 old_bps = timely_rate_bps(&fl->f);
	struct timely_event event = {
		.rtt_ns = (u64)(fmax(rtt_s, 0) * 1e9), .now_ns = (u64)(e->t * 1e9) + 1,
		.bytes = (u32)(e->packets * PAYLOAD),
		.window = (u32)fl->window,
	};
	struct timely_result res;
	u64 limit;

	fl->in_flight -= e->packets;
	timely_auto_update(&fl->f, &event, s->segment, cap_bps, &res);
	s->probes += res.branch == TIMELY_BRANCH_PROBE;
	limit = timely_auto_window(&fl->f, s->segment, cap_bps);
	fl->window += PAYLOAD * (double)timely_auto_opening(&res, (u32)e->packets,
							    (u32)fmin(fl->window / PAYLOAD, 1e9));
	if (fl->window >= (double)limit)
		timely_auto_started(&fl->f);
	fl->window = fmin((double)limit, fl->window);
	if (!fl->waits && timely_rate_bps(&fl->f) == old_bps)
		return;
	fl->next = e->t + fmax(fl->next - e->t, 0) * (double)old_bps /
			  (double)timely_rate_bps(&fl->f);
	push(fl->next, i, DEPART, 0, ++fl->version, 0);
}

static void begin(const struct star *s, u64 cap_bps)
{
	int old = s->flows - s->joiners, i;
	u32 path_ns;
	double fair = s->port_bit_s / 8 * PAYLOAD / WIRE / old;

	events = 0;
	memset(flows, 0, sizeof(flows));
	memset(host_free, 0, sizeof(host_free));
	memset(host_irq, 0, sizeof(host_irq));
	port_irq = 0;
	back_free = 0;
	random_state = s->seed * 2654435761ULL + 1;
	for (i = 0; i < s->flows; i++) {
		struct star_flow *fl = &flows[i];
		bool starts = s->at_once || i >= old;

		fl->joiner = i >= old;
		fl->base = (s->base2_us && i >= s->flows / 2 ? s->base2_us : s->base_us) * 1e-6;
		path_ns = s->at_once || s->known ? (u32)(fl->base * 1e9 + s->irq_us * 2e3) : 0;
		timely_auto_set_wait(&fl->f, (u64)(s->irq_us * 1500));
		timely_auto_set_wired(&fl->f, !s->unwired);
		timely_auto_start(&fl->f, starts ? cap_bps / (u64)(i / s->hosts + 1) : (u64)fair,
				  cap_bps, path_ns, 1);
		fl->window = INITIAL * PAYLOAD;
		if (!starts) {
			fl->f.starting = 0;
			fl->window = 1e18;
		}
		fl->next = (fl->joiner ? s->join_s : 0) + uniform() * (starts ? 1e-5 : 1e-3);
		push(fl->next, i, DEPART, 0, 0, 0);
	}
}

/* Return when the ACK is seen of the packet that leaves the port at @t. */
static double arrival(const struct star *s, const struct event *e, double t, double host,
		      double port)
{
	double path = path_s(s, &flows[e->flow], e->t) - WIRE / host - WIRE / port;

	if (s->acks_us) {
		/* In their order. */
		t = fmax(back_free, t + (1 + uniform()) / 2 * s->acks_us * 1e-6);
		back_free = t;
	}
	if (!s->irq_us)
		return t + path;
	t = seen(&port_irq, t + path / 2, s->irq_us);
	return seen(&host_irq[e->flow % s->hosts], t + path / 2, s->irq_us);
}

/* One of so many packets of a burst of others is at the port: when is the next one? */
static void burst(const struct star *s, const struct event *e)
{
	int left = e->packets > 1 ? e->packets - 1 : (int)(s->burst / PAYLOAD);
	double next = e->packets > 1 ? WIRE * 8 / s->host_bit_s : -log(uniform()) * s->burst_s;

	push(e->t + next, 0, BURST, left, 0, 0);
}

/* The ACK of packets that left the port at @t, behind those of the pair before. */
static void pair_acked(struct star_flow *fl, int packet, double t, u64 cap_bps)
{
	if (fl->last_pair && packet > 2)
		timely_auto_gap(&fl->f, 2 * PAYLOAD, (u64)((t - fl->last_pair) * 1e9),
				(u64)(t * 1e9), cap_bps);
	fl->last_pair = t;
}

void star_run(struct star *s)
{
	double host = s->host_bit_s / 8, port = s->port_bit_s / 8, port_free = 0, start, rtt;
	double sum = 0, squares = 0, joined = 0, second = 0, seconds = s->until_s - s->from_s;
	double cap = (s->cap_bit_s ? s->cap_bit_s : s->host_bit_s) / 8;
	u64 cap_bps = star_cap_bps(s);
	size_t n = 0, room = (size_t)(port * seconds / PAYLOAD / 2) + 1000;
	double *rtts = malloc(room * sizeof(*rtts));
	int i, active = 0;

	if (!rtts)
		abort();
	begin(s, cap_bps);
	s->buffer = 0;
	s->mean_us = 0;
	s->probes = 0;
	if (s->burst)
		push(s->burst_s, 0, BURST, 1, 0, 0);
	while (events) {
		struct event e = pop();
		struct star_flow *fl = &flows[e.flow];

		if (e.t > s->until_s)
			break;
		switch (e.type) {
		case DEPART:
			if (e.flow < s->leavers && e.t > s->join_s)
				fl->stopped = true;
			if (e.version == fl->version && !fl->stopped)
				depart(s, e.flow, e.t);
			break;
		case AT_HOST:
			i = e.flow % s->hosts;
			start = fmax(e.t, host_free[i]);
			host_free[i] = start + e.packets * WIRE / host;
			push(start + WIRE / host, e.flow, AT_PORT, e.packets, 0, e.sent);
			break;
		case ACKED:
			rtt = e.t - e.sent + uniform() * s->noise_us * 1e-6;
			if (!s->unwired)
				rtt -= e.packets * WIRE / cap;
			if (s->spikes && uniform() < s->spikes)
				rtt += s->spike_us * 1e-6;
			if (s->low_us && e.t >= s->route_s && !fl->lied) {
				fl->lied = true;
				rtt = path_s(s, fl, e.t) - s->low_us * 1e-6;
			}
			if (e.t >= s->from_s) {
				if (n < room)
					rtts[n++] = rtt * 1e6;
				fl->got += e.packets * PAYLOAD;
			}
			acked(s, e.flow, &e, rtt, cap_bps);
			break;
		case BURST:
			port_free = fmax(e.t, port_free) + WIRE / port;
			burst(s, &e);
			break;
		default:
			s->buffer = fmax(s->buffer, (port_free - e.t) * port);
			port_free = fmax(e.t, port_free) + WIRE / port;
			if (s->gaps && (e.type - AT_PORT) % 2)
				pair_acked(fl, e.type - AT_PORT, port_free, cap_bps);
			if (e.type - AT_PORT < e.packets - 1)
				push(e.t + WIRE / host, e.flow, e.type + 1, e.packets, 0,
				     e.sent);
			else
				push(arrival(s, &e, port_free, host, port), e.flow, ACKED,
				     e.packets, 0, e.sent);
		}
	}
	for (i = 0; i < s->flows; i++) {
		if (flows[i].stopped)
			continue;
		active++;
		sum += flows[i].got;
		squares += flows[i].got * flows[i].got;
		joined += flows[i].joiner ? flows[i].got : 0;
		second += i >= s->flows / 2 ? flows[i].got : 0;
	}
	qsort(rtts, n, sizeof(*rtts), by_value);
	for (i = 0; i < (int)n; i++)
		s->mean_us += rtts[i] / (double)n;
	s->p99_us = n ? rtts[n * 99 / 100] : 0;
	s->goodput = sum / seconds / (port * PAYLOAD / WIRE);
	s->jain = squares ? sum * sum / active / squares : 0;
	s->joined = s->joiners ? joined / s->joiners * s->flows / sum : 0;
	s->second = 2 * second / sum;
	free(rtts);
}
