// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "client.h"
#include "dcload.h"

#define WRITES_PER_TURN		8	/* before other flows get theirs */
#define CONNECT_RETRY_NS	(20 * NSEC_PER_MSEC)
#define STAMPS_PER_TURN		64

/*
 * Data waiting in the socket beyond the window: four writes, but at least this. The
 * default write is enough for TCP to build full-sized packets at any rate; smaller ones
 * are sooner on the wire, and give more RTT samples.
 */
#define NOTSENT_LOWAT_MIN	8192

static void flow_watch(struct flow *f)
{
	bool want = f->state == FLOW_CONNECTING ||
		    (f->state == FLOW_UP && !f->paused && f->written < f->limit);

	if (f->state == FLOW_IDLE || want == f->want_out)
		return;
	f->want_out = want;
	loop_modify(&f->client->loop, &f->watch,
		    EPOLLIN | (want ? EPOLLOUT : 0));
}

/**
 * flow_allow() - let a flow write more
 * @f: flow
 * @limit: total bytes of the connection it may have written
 */
void flow_allow(struct flow *f, uint64_t limit)
{
	f->limit = limit;
	flow_watch(f);
}

/**
 * flow_pause() - begin or end an idle phase
 * @f: flow
 * @paused: true to write nothing until further notice
 */
void flow_pause(struct flow *f, bool paused)
{
	f->paused = paused;
	flow_watch(f);
}

/**
 * flow_counters() - return TCP's counters so far
 * @f: flow
 * @out: sum over all its connections
 * @info: if not NULL, all there is about the current connection
 *
 * Return: false if the flow has no connection now; @out is valid in any case.
 */
bool flow_counters(struct flow *f, struct counters *out, struct tcp_info *info)
{
	static const struct counters zero;
	struct counters now;
	bool live;

	live = f->state == FLOW_UP && get_counters(f->watch.fd, &now, info);
	*out = f->closed;
	if (live)
		counters_add(out, &now, &zero);
	return live;
}

/**
 * flow_close() - end a connection
 * @f: flow
 * @abort: discard undelivered data, so that nothing of this run is left on the network
 */
void flow_close(struct flow *f, bool abort)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 0 };

	if (f->state == FLOW_IDLE)
		return;
	flow_counters(f, &f->closed, NULL);
	if (abort)
		setsockopt(f->watch.fd, SOL_SOCKET, SO_LINGER, &linger,
			   sizeof(linger));
	close(f->watch.fd);
	timer_cancel(&f->client->loop, &f->timer);
	timer_cancel(&f->client->loop, &f->on_off);
	f->connect_ns = 0;
	f->state = FLOW_IDLE;
}

static void sample(struct rtt_counters *r, uint64_t rtt_ns)
{
	if (!r->count || rtt_ns < r->min_ns)
		r->min_ns = rtt_ns;
	if (rtt_ns > r->max_ns)
		r->max_ns = rtt_ns;
	r->count++;
	r->sum_ns += (double)rtt_ns;
}

static void flow_acked(struct flow *f, const struct rtt_event *ev)
{
	struct client *c = f->client;
	enum rtt_verdict verdict;
	struct rtt_sample s;
	unsigned int lost;

	verdict = rtt_acked(&f->tracker, ev, &s, &lost);
	if (verdict == RTT_VALID)
		sample(&f->rtt_step, s.rtt_ns);
	if (c->measuring) {
		c->rtt_lost += lost;
		switch (verdict) {
		case RTT_VALID:
			sample(&f->rtt, s.rtt_ns);
			hist_add(&c->rtt, s.rtt_ns);
			if (c->rtt_csv)
				result_rtt(f, ev, &s);
			break;
		case RTT_RETRANS:
			c->rtt_retrans++;
			break;
		case RTT_NO_TX:
			c->rtt_no_tx++;
			break;
		case RTT_UNKNOWN:
			c->rtt_lost++;
			break;
		}
	}
	if (c->mode->acked)
		c->mode->acked(f, ev->id, ev->real_ns);
}

static void flow_zerocopied(struct client *c, const struct rtt_event *ev)
{
	c->zerocopy.done += ev->id;
	if (ev->type == RTT_EV_COPIED)
		c->zerocopy.copied += ev->id;
}

/* Return: true if the queue held anything. */
static bool flow_stamps(struct flow *f)
{
	struct rtt_event ev;
	int i, got;

	for (i = 0; i < STAMPS_PER_TURN; i++) {
		got = tstamp_read(f->watch.fd, &ev);
		if (got < 0)
			break;
		if (!got)
			continue;
		if (ev.type == RTT_EV_TX)
			rtt_transmitted(&f->tracker, &ev);
		else if (ev.type == RTT_EV_ACK)
			flow_acked(f, &ev);
		else
			flow_zerocopied(f->client, &ev);
	}
	return i;
}

static bool sample_due(struct flow *f)
{
	uint64_t mean = f->client->opt->rtt_sample_ns, now;

	if (!mean || !rtt_room(&f->tracker))
		return false;
	now = now_ns();
	if (now < f->next_sample_ns)
		return false;
	f->next_sample_ns = now + mean / 2 +
			    rng_below(&f->rng, mean + 1);
	return true;
}

static long flow_send_flags(struct flow *f, uint64_t len, bool stamp, int flags)
{
	struct client *c = f->client;

	flags |= MSG_DONTWAIT | MSG_NOSIGNAL;
	if (stamp)
		return tstamp_send(f->watch.fd, c->buf, len, c->opt->rtt_from_qdisc, flags);
	return send(f->watch.fd, c->buf, len, flags);
}

/* Write once, in the way that the options say. Return: as send(2). */
static long flow_send(struct flow *f, uint64_t len, bool stamp)
{
	struct client *c = f->client;
	off_t from = 0;
	long n;

	if (c->opt->sendfile)
		return sendfile(f->watch.fd, c->file, &from, len);
	if (!c->opt->zerocopy)
		return flow_send_flags(f, len, stamp, 0);
	n = flow_send_flags(f, len, stamp, MSG_ZEROCOPY);
	if (n >= 0)
		c->zerocopy.writes++;
	if (n >= 0 || errno != ENOBUFS)
		return n;
	/* Too many writes of this socket have not ended (net.core.optmem_max): copy. */
	n = flow_send_flags(f, len, stamp, 0);
	if (n >= 0)
		c->zerocopy.refused++;
	return n;
}

static void flow_write(struct flow *f)
{
	struct client *c = f->client;
	int i;

	for (i = 0; i < WRITES_PER_TURN && f->written < f->limit; i++) {
		uint64_t len = f->limit - f->written;
		bool last, stamp;
		long n;

		if (len > c->opt->chunk)
			len = c->opt->chunk;
		last = f->stamp_last && f->written + len == f->limit;
		stamp = last || sample_due(f);
		n = flow_send(f, len, stamp);
		if (n < 0) {
			if (errno == EAGAIN || errno == EINTR)
				break;
			client_fail(c, "flow %u: cannot write: %s", f->index,
				    strerror(errno));
			return;
		}
		f->written += (uint64_t)n;
		if (stamp && (uint64_t)n < len) {
			/* TCP may have sent all of it before it could be marked. */
			f->next_sample_ns = 0;
		} else if (stamp) {
			unsigned int lost;

			lost = rtt_expect(&f->tracker,
					  (uint32_t)(f->written - 1));
			if (c->measuring) {
				c->rtt_asked++;
				c->rtt_lost += lost;
			}
		}
	}
	if (f->written == f->limit && c->mode->written)
		c->mode->written(f);
	flow_watch(f);
}

static void check_cc(struct flow *f)
{
	const char *want = f->client->opt->cc;

	get_cc(f->watch.fd, f->cc);
	if (want && strcmp(f->cc, want))
		die("flow %u uses congestion control %s, although %s was set",
		    f->index, f->cc, want);
}

static void flow_refused(struct flow *f, int err)
{
	struct client *c = f->client;
	uint64_t now = now_ns();

	close(f->watch.fd);
	f->state = FLOW_IDLE;
	if (err == ECONNREFUSED &&
	    now - f->connect_ns < c->opt->connect_timeout_ns) {
		timer_arm(&c->loop, &f->timer, now + CONNECT_RETRY_NS);
		return;
	}
	if (c->opt->mode == MODE_CHURN)
		c->cycles_failed++;
	client_fail(c, "flow %u: cannot connect to %s port %u: %s", f->index,
		    f->to->text,
		    f->to->port ? f->to->port : (unsigned int)c->opt->port,
		    strerror(err));
}

static void flow_connected(struct flow *f)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof(ss);
	struct client *c = f->client;

	f->state = FLOW_UP;
	f->up_ns = now_ns();
	c->n_up++;
	check_cc(f);
	tstamp_enable(f->watch.fd);
	if (c->opt->zerocopy)
		set_option(f->watch.fd, SOL_SOCKET, SO_ZEROCOPY, 1, "SO_ZEROCOPY");
	if (c->opt->ktls)
		set_ktls(f->watch.fd);
	if (!getsockname(f->watch.fd, (struct sockaddr *)&ss, &len))
		f->local_port = ntohs(ss.ss_family == AF_INET ?
				      ((struct sockaddr_in *)&ss)->sin_port :
				      ((struct sockaddr_in6 *)&ss)->sin6_port);
	c->mode->up(f);
	flow_watch(f);
}

static void flow_ready(struct watch *w, uint32_t events)
{
	struct flow *f = container_of(w, struct flow, watch);
	struct client *c = f->client;
	int err = 0;
	socklen_t len = sizeof(err);
	ssize_t n;
	char buf[64];

	if (f->state == FLOW_IDLE)
		return;
	if (f->state == FLOW_CONNECTING) {
		if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
			return;
		getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err)
			flow_refused(f, err);
		else
			flow_connected(f);
		return;
	}

	if ((events & EPOLLERR) && !flow_stamps(f)) {
		getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err) {
			client_fail(c, "flow %u: connection lost: %s", f->index,
				    strerror(err));
			return;
		}
	}
	if (events & EPOLLIN) {
		n = recv(w->fd, buf, sizeof(buf), MSG_DONTWAIT);
		if (!n && c->mode->closed) {
			c->mode->closed(f);
			return;
		}
		if (!n || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			client_fail(c, "flow %u: connection lost: %s", f->index,
				    n ? strerror(errno) : "closed by the receiver");
			return;
		}
	}
	if ((events & EPOLLOUT) && f->state == FLOW_UP && !f->paused)
		flow_write(f);
}

static void flow_expired(struct timer *t)
{
	struct flow *f = container_of(t, struct flow, timer);

	if (f->state == FLOW_IDLE)
		flow_connect(f);
	else if (f->client->mode->expired)
		f->client->mode->expired(f);
}

/**
 * flow_connect() - open a new connection in the flow's namespace
 * @f: flow without a connection
 *
 * A refused connection is tried again until the connect timeout; the mode is
 * told when it is up.
 */
void flow_connect(struct flow *f)
{
	const struct client_options *o = f->client->opt;
	uint64_t lowat = 4 * o->chunk;
	struct sockaddr_storage ss;
	socklen_t len;
	int fd;

	netns_enter(f->ns);
	fd = socket(f->to->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    IPPROTO_TCP);
	if (fd < 0)
		die("cannot open a socket: %s", strerror(errno));
	if (o->cc)
		set_cc(fd, o->cc);
	if (o->dscp >= 0 && f->to->family == AF_INET)
		set_option(fd, IPPROTO_IP, IP_TOS, o->dscp << 2, "IP_TOS");
	else if (o->dscp >= 0)
		set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, o->dscp << 2,
			   "IPV6_TCLASS");
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	if (lowat < NOTSENT_LOWAT_MIN)
		lowat = NOTSENT_LOWAT_MIN;
	/* What waits in the socket is sent after the ON time. */
	if (o->on_ns)
		lowat = o->chunk;
	set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, (int)lowat,
		   "TCP_NOTSENT_LOWAT");
	len = endpoint_sockaddr(f->to, (uint16_t)o->port, &ss);

	if (!f->connect_ns)
		f->connect_ns = now_ns();
	f->state = FLOW_CONNECTING;
	f->want_out = true;
	f->written = 0;
	f->limit = 0;
	memset(&f->tracker, 0, sizeof(f->tracker));
	f->watch.fd = fd;
	loop_add(&f->client->loop, &f->watch, EPOLLIN | EPOLLOUT);
	if (connect(fd, (struct sockaddr *)&ss, len) && errno != EINPROGRESS)
		flow_refused(f, errno);
}

/**
 * flow_init() - give a flow its place
 * @f: flow, zeroed
 * @c: client
 * @index: number; decides namespace and receiver
 */
void flow_init(struct flow *f, struct client *c, unsigned int index)
{
	const struct client_options *o = c->opt;

	f->client = c;
	f->index = index;
	f->ns = &c->netns[index % o->n_netns];
	f->to = &o->to[index / o->n_netns % o->n_to];
	f->watch.ready = flow_ready;
	f->timer.expired = flow_expired;
	f->rng.state = o->seed + ((uint64_t)index << 32);
	rng_seed(&f->on_off_rng, o->seed, index, 0);
}
