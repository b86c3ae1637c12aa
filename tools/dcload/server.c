// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "dcload.h"
#include "json.h"
#include "loop.h"
#include "net.h"
#include "options.h"
#include "server.h"

#define DRAIN_SIZE	(1 << 20)	/* bytes taken from a socket at a time */
#define DRAIN_ROUNDS	8		/* before others get their turn */
#define MAX_RECORDS	65536		/* connections listed in the result */

struct server;

struct conn {
	struct watch watch;
	struct server *server;
	struct conn *next, **prev;	/* list of open ones */
	struct sockaddr_storage peer;
	uint64_t start_ns;
	uint64_t bytes;
};

struct record {
	char peer[INET6_ADDRSTRLEN];
	uint16_t port;
	uint64_t start_ns;	/* since the server began */
	uint64_t end_ns;
	uint64_t bytes;
	bool reset;		/* ended by RST, or still open at the end */
	bool open;
};

struct server {
	struct loop loop;
	struct watch listener;
	struct timer tick;
	const struct server_options *opt;
	struct conn *conns;
	struct record *records;
	size_t n_records;
	uint64_t accepted, open, unlisted, bytes, bytes_at_tick;
	uint64_t start_ns;
};

static void record(struct conn *c, bool reset, bool open)
{
	struct server *s = c->server;
	struct record *r;

	if (s->n_records == MAX_RECORDS) {
		s->unlisted++;
		return;
	}
	if (!(s->n_records & (s->n_records + 1)) || !s->records)
		s->records = xrealloc(s->records, 2 * s->n_records + 2,
				      sizeof(*s->records));
	r = &s->records[s->n_records++];
	memset(r, 0, sizeof(*r));
	if (c->peer.ss_family == AF_INET) {
		const struct sockaddr_in *sin = (const void *)&c->peer;

		inet_ntop(AF_INET, &sin->sin_addr, r->peer, sizeof(r->peer));
		r->port = ntohs(sin->sin_port);
	} else {
		const struct sockaddr_in6 *sin6 = (const void *)&c->peer;

		inet_ntop(AF_INET6, &sin6->sin6_addr, r->peer, sizeof(r->peer));
		r->port = ntohs(sin6->sin6_port);
	}
	r->start_ns = c->start_ns - s->start_ns;
	r->end_ns = now_ns() - s->start_ns;
	r->bytes = c->bytes;
	r->reset = reset;
	r->open = open;
}

static void conn_end(struct conn *c, bool reset)
{
	record(c, reset, false);
	close(c->watch.fd);
	*c->prev = c->next;
	if (c->next)
		c->next->prev = c->prev;
	c->server->open--;
	free(c);
}

static void conn_ready(struct watch *w, uint32_t events)
{
	struct conn *c = container_of(w, struct conn, watch);
	int i;

	(void)events;
	for (i = 0; i < DRAIN_ROUNDS; i++) {
		/* TCP discards the data instead of copying it. */
		ssize_t n = recv(w->fd, NULL, DRAIN_SIZE,
				 MSG_TRUNC | MSG_DONTWAIT);

		if (n > 0) {
			c->bytes += (uint64_t)n;
			c->server->bytes += (uint64_t)n;
		}
		if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
			conn_end(c, n < 0);
			return;
		}
		if (n < DRAIN_SIZE)
			return;
	}
}

static void listener_ready(struct watch *w, uint32_t events)
{
	struct server *s = container_of(w, struct server, listener);
	struct sockaddr_storage peer;
	int fd;

	(void)events;
	while ((fd = accept_next(w->fd, &peer)) >= 0) {
		struct conn *c = xcalloc(1, sizeof(*c));

		c->server = s;
		c->watch.fd = fd;
		c->watch.ready = conn_ready;
		c->peer = peer;
		c->start_ns = now_ns();
		c->next = s->conns;
		c->prev = &s->conns;
		if (c->next)
			c->next->prev = &c->next;
		s->conns = c;
		s->accepted++;
		s->open++;
		loop_add(&s->loop, &c->watch, EPOLLIN);
	}
}

static void tick(struct timer *t)
{
	struct server *s = container_of(t, struct server, tick);

	warning("%llu connections open, %.1f Mbit/s",
		(unsigned long long)s->open,
		(double)(s->bytes - s->bytes_at_tick) * 8 / 1e6);
	s->bytes_at_tick = s->bytes;
	timer_arm(&s->loop, t, t->at_ns + NSEC_PER_SEC);
}

static int try_listen(const struct endpoint *ep, const struct server_options *o)
{
	struct sockaddr_storage ss;
	socklen_t len;
	int fd;

	fd = socket(ep->family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
		    IPPROTO_TCP);
	if (fd < 0)
		return -1;
	len = endpoint_sockaddr(ep, (uint16_t)o->port, &ss);
	set_option(fd, SOL_SOCKET, SO_RCVLOWAT, (int)o->lowat, "SO_RCVLOWAT");
	if (ep->family == AF_INET6)
		set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0, "IPV6_V6ONLY");
	if (o->cc)
		set_cc(fd, o->cc);
	if (!listen_at(fd, &ss, len)) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static int open_listener(const struct server_options *o)
{
	struct endpoint any6 = { .family = AF_INET6 };
	struct endpoint any4 = { .family = AF_INET };
	int fd;

	if (o->bind.family) {
		fd = try_listen(&o->bind, o);
	} else {
		fd = try_listen(&any6, o);
		/* No IPv6 in this kernel or namespace. */
		if (fd < 0 && (errno == EAFNOSUPPORT || errno == EADDRNOTAVAIL))
			fd = try_listen(&any4, o);
	}
	if (fd < 0)
		die("cannot listen on %s port %u: %s",
		    o->bind.family ? o->bind.text : "any address",
		    (unsigned int)o->port, strerror(errno));
	return fd;
}

static void write_result(struct server *s)
{
	struct json_writer w;
	struct conn *c;
	size_t i;
	FILE *f;

	for (c = s->conns; c; c = c->next)
		record(c, false, true);
	f = json_file_open(s->opt->json);
	json_begin(&w, f);
	json_open(&w, NULL, '{', false);
	json_string(&w, "tool", "dcload server");
	json_string(&w, "version", DCLOAD_VERSION);
	json_double(&w, "duration_s", (double)(now_ns() - s->start_ns) / 1e9);
	json_u64(&w, "accepted", s->accepted);
	json_u64(&w, "bytes", s->bytes);
	json_u64(&w, "connections_not_listed", s->unlisted);
	json_open(&w, "connections", '[', false);
	for (i = 0; i < s->n_records; i++) {
		const struct record *r = &s->records[i];

		json_open(&w, NULL, '{', true);
		json_string(&w, "peer", r->peer);
		json_u64(&w, "port", r->port);
		json_double(&w, "start_s", (double)r->start_ns / 1e9);
		json_double(&w, "end_s", (double)r->end_ns / 1e9);
		json_u64(&w, "bytes", r->bytes);
		json_bool(&w, "reset", r->reset);
		json_bool(&w, "open", r->open);
		json_close(&w, '}');
	}
	json_close(&w, ']');
	json_close(&w, '}');
	json_finish(&w);
	json_file_close(f, s->opt->json);
}

/**
 * server_run() - accept and discard until a signal
 * @o: options
 *
 * Return: exit status.
 */
int server_run(const struct server_options *o)
{
	struct server s = { .opt = o };
	struct rlimit rl;
	struct netns ns;

	if (!getrlimit(RLIMIT_NOFILE, &rl)) {
		rl.rlim_cur = rl.rlim_max;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	netns_open(&ns, o->netns);
	netns_enter(&ns);
	loop_init(&s.loop);
	s.start_ns = now_ns();
	s.listener.fd = open_listener(o);
	s.listener.ready = listener_ready;
	loop_add(&s.loop, &s.listener, EPOLLIN);
	s.tick.expired = tick;
	if (o->progress)
		timer_arm(&s.loop, &s.tick, s.start_ns + NSEC_PER_SEC);

	loop_run(&s.loop);

	if (o->json)
		write_result(&s);
	return 0;
}
