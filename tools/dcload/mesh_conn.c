// SPDX-License-Identifier: GPL-2.0
/*
 * Connections of a mesh. To wake up seldom:
 *
 *   - sockets are watched edge-triggered, once, for everything;
 *   - a receiver asks for the rest of its flow (SO_RCVLOWAT), up to --rcvlowat,
 *     and has TCP discard it unread (MSG_TRUNC);
 *   - a sender writes until the socket buffer is full, in large pieces.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dcload.h"
#include "mesh.h"

#define CONNECT_RETRY_NS	(20 * NSEC_PER_MSEC)
#define HEADER_MAGIC		0x6463316dU
#define READ_MAX		(1 << 30)	/* an int, for recv() */

/* A low-water mark costs a system call; for less than a few packets it saves none. */
#define LOWAT_MIN		4096

#define WATCH_EVENTS	(EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

/* First bytes of a client whose server is in another process. Big endian. */
struct header {
	uint32_t magic;
	uint32_t response;	/* bytes, 0: one way */
	uint64_t bytes;		/* all the client sends, this included */
};

_Static_assert(sizeof(struct header) == HEADER_BYTES, "header on the wire");

static void side_ready(struct watch *w, uint32_t events);
static void conn_connect(struct conn *c);

static const struct workload *workload_of(const struct conn *c)
{
	return c->class->load->w;
}

static bool is_client(const struct side *s)
{
	return s == &s->conn->client;
}

/* Accounting --------------------------------------------------------------- */

/**
 * side_account() - add TCP's counters since the last call
 * @s: end of a connection; nothing is done if it is closed
 */
void side_account(struct side *s)
{
	struct load *load = s->conn->class->load;
	struct counters now;

	if (s->watch.fd < 0 || !get_counters(s->watch.fd, &now, NULL))
		return;
	counters_add(&load->total, &now, &s->seen);
	if (load->classes->mesh->measuring) {
		counters_add(&load->measured, &now, &s->seen);
		counters_add(&s->host->measured, &now, &s->seen);
	}
	s->seen = now;
}

void conns_account(struct mesh *m)
{
	struct conn *c;

	for (c = m->conns; c; c = c->next) {
		side_account(&c->client);
		side_account(&c->server);
	}
}

/* Making and ending connections -------------------------------------------- */

static uint16_t *sockaddr_port(struct sockaddr_storage *ss)
{
	if (ss->ss_family == AF_INET)
		return &((struct sockaddr_in *)ss)->sin_port;
	return &((struct sockaddr_in6 *)ss)->sin6_port;
}

static struct conn **expected_bucket(struct mesh *m, const struct host *host,
				     uint16_t port)
{
	size_t i = (size_t)(host - m->hosts) * 40503 + port;

	return &m->expected[i % EXPECTED_BUCKETS];
}

static void expected_remove(struct conn *c)
{
	struct conn **p = expected_bucket(c->class->mesh, c->client.host, c->port);

	for (; *p; p = &(*p)->next_expected) {
		if (*p == c) {
			*p = c->next_expected;
			return;
		}
	}
}

static struct conn *conn_new(struct class *class, struct host *client,
			     struct host *server)
{
	struct conn *c = xcalloc(1, sizeof(*c));
	struct mesh *m = class->mesh;

	c->class = class;
	c->client = (struct side){ .watch.fd = -1, .conn = c, .host = client };
	c->server = (struct side){ .watch.fd = -1, .conn = c, .host = server };
	c->client.watch.ready = side_ready;
	c->server.watch.ready = side_ready;
	c->client.lowat = 1;
	c->server.lowat = 1;
	c->next = m->conns;
	c->prev = &m->conns;
	if (c->next)
		c->next->prev = &c->next;
	m->conns = c;
	if (++m->conns_open > m->max_conns)
		die("%llu connections are open: no file descriptors are left; raise the limit with ulimit -n, or use pool=",
		    (unsigned long long)m->conns_open);
	m->conns_made++;
	return c;
}

static void side_close(struct side *s)
{
	struct conn *c = s->conn;
	struct mesh *m = c->class->mesh;

	side_account(s);
	watch_close(&s->watch);
	if (c->client.watch.fd >= 0 || c->server.watch.fd >= 0)
		return;
	/* Both ends of it are gone, or there was but one in this process. */
	timer_cancel(&m->loop, &c->retry);
	*c->prev = c->next;
	if (c->next)
		c->next->prev = c->prev;
	m->conns_open--;
	free(c);
}

static void conn_lost(struct conn *c, const char *why)
{
	struct mesh *m = c->class->mesh;

	/* Hosts elsewhere may end before this one. */
	if (m->ending && !mesh_is_local(m))
		return;
	mesh_fail(m, "workload %s: connection from host %zu to host %zu lost: %s",
		  workload_of(c)->name, (size_t)(c->client.host - m->hosts) + 1,
		  (size_t)(c->server.host - m->hosts) + 1, why);
}

static int open_socket(const struct class *class, int family)
{
	const struct workload *w = class->load->w;
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC,
			IPPROTO_TCP);

	if (fd < 0)
		die("cannot open a socket: %s", strerror(errno));
	if (class->cc)
		set_cc(fd, class->cc);
	if (w->dscp >= 0 && family == AF_INET)
		set_option(fd, IPPROTO_IP, IP_TOS, w->dscp << 2, "IP_TOS");
	else if (w->dscp >= 0)
		set_option(fd, IPPROTO_IPV6, IPV6_TCLASS, w->dscp << 2,
			   "IPV6_TCLASS");
	set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1, "TCP_NODELAY");
	return fd;
}

static void conn_refused(struct conn *c, int err)
{
	struct mesh *m = c->class->mesh;
	uint64_t now = loop_now(&m->loop);

	watch_close(&c->client.watch);
	if (mesh_is_local(m))
		expected_remove(c);
	if (err == ECONNREFUSED &&
	    now - c->connect_ns < m->opt->connect_timeout_ns)
		timer_arm(&m->loop, &c->retry, now + CONNECT_RETRY_NS);
	else
		conn_lost(c, strerror(err));
}

static void conn_retry(struct timer *t)
{
	conn_connect(container_of(t, struct conn, retry));
}

static void conn_connect(struct conn *c)
{
	struct mesh *m = c->class->mesh;
	struct sockaddr_storage ss;
	struct conn **bucket;
	socklen_t len;
	int fd;

	netns_enter(c->client.host->ns);
	fd = open_socket(c->class, c->server.host->addr->family);
	c->client.watch.fd = fd;
	/* The source address says which host this is; connect() takes the port. */
	set_option(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1,
		   "IP_BIND_ADDRESS_NO_PORT");
	len = endpoint_sockaddr(c->client.host->addr, 0, &ss);
	*sockaddr_port(&ss) = 0;
	if (bind(fd, (struct sockaddr *)&ss, len))
		die("cannot send from %s: %s", c->client.host->addr->text,
		    strerror(errno));
	len = endpoint_sockaddr(c->server.host->addr, c->class->port, &ss);
	loop_add(&m->loop, &c->client.watch, WATCH_EVENTS);
	if (connect(fd, (struct sockaddr *)&ss, len) && errno != EINPROGRESS) {
		conn_refused(c, errno);
		return;
	}
	if (!mesh_is_local(m))
		return;
	len = sizeof(ss);
	if (getsockname(fd, (struct sockaddr *)&ss, &len))
		die("a socket has no name: %s", strerror(errno));
	c->port = ntohs(*sockaddr_port(&ss));
	bucket = expected_bucket(m, c->client.host, c->port);
	c->next_expected = *bucket;
	*bucket = c;
}

/**
 * conn_open() - begin to make a connection
 * @class: class
 * @client: host of this process
 * @server: any other host
 *
 * A part may be started on it at once.
 */
struct conn *conn_open(struct class *class, struct host *client,
		       struct host *server)
{
	struct conn *c = conn_new(class, client, server);

	c->retry.expired = conn_retry;
	c->connect_ns = loop_now(&class->mesh->loop);
	conn_connect(c);
	return c;
}

static int compare_addr(const struct endpoint *a, const struct endpoint *b)
{
	if (a->family != b->family)
		return a->family < b->family ? -1 : 1;
	if (a->family == AF_INET)
		return memcmp(&a->v4, &b->v4, sizeof(a->v4));
	return memcmp(&a->v6, &b->v6, sizeof(a->v6));
}

static const struct mesh *sorted_mesh;

static int compare_hosts(const void *a, const void *b)
{
	return compare_addr(sorted_mesh->hosts[*(const size_t *)a].addr,
			    sorted_mesh->hosts[*(const size_t *)b].addr);
}

static void sort_hosts(struct mesh *m)
{
	size_t i;

	m->by_addr = xcalloc(m->opt->n_hosts, sizeof(*m->by_addr));
	for (i = 0; i < m->opt->n_hosts; i++)
		m->by_addr[i] = i;
	sorted_mesh = m;
	qsort(m->by_addr, m->opt->n_hosts, sizeof(*m->by_addr), compare_hosts);
	for (i = 1; i < m->opt->n_hosts; i++)
		if (!compare_hosts(&m->by_addr[i - 1], &m->by_addr[i]))
			die_usage("--hosts: %s is there twice",
				  m->hosts[m->by_addr[i]].addr->text);
}

static struct host *host_of(struct mesh *m, const struct sockaddr_storage *ss)
{
	struct endpoint ep = { .family = ss->ss_family };
	size_t low = 0, high = m->opt->n_hosts;

	if (ep.family == AF_INET)
		ep.v4 = ((const struct sockaddr_in *)ss)->sin_addr;
	else
		ep.v6 = ((const struct sockaddr_in6 *)ss)->sin6_addr;
	while (low < high) {
		size_t mid = (low + high) / 2;
		struct host *host = &m->hosts[m->by_addr[mid]];
		int order = compare_addr(&ep, host->addr);

		if (!order)
			return host;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

/* The connection an end that was just accepted belongs to, or NULL. */
static struct conn *conn_accepted(struct class *class, struct host *server,
				  struct sockaddr_storage *peer)
{
	struct mesh *m = class->mesh;
	struct host *client = host_of(m, peer);
	uint16_t port = ntohs(*sockaddr_port(peer));
	struct conn *c;

	if (!client)
		return NULL;
	if (!mesh_is_local(m))
		return client->ns ? NULL : conn_new(class, client, server);
	for (c = *expected_bucket(m, client, port); c; c = c->next_expected)
		if (c->client.host == client && c->port == port &&
		    c->server.host == server && c->class == class)
			break;
	if (c)
		expected_remove(c);
	return c;
}

static void set_lowat(struct side *s)
{
	const struct mesh *m = s->conn->class->mesh;
	uint64_t want = s->to_read;

	if (want > m->opt->lowat)
		want = m->opt->lowat;
	if (want < LOWAT_MIN)
		want = 1;
	if (s->watch.fd < 0 || (uint64_t)s->lowat == want)
		return;
	s->lowat = (int)want;
	set_option(s->watch.fd, SOL_SOCKET, SO_RCVLOWAT, s->lowat, "SO_RCVLOWAT");
}

static void listener_ready(struct watch *w, uint32_t events)
{
	struct listener *l = container_of(w, struct listener, watch);
	struct mesh *m = l->class->mesh;
	struct sockaddr_storage peer;
	int fd;

	(void)events;
	while ((fd = accept_next(w->fd, &peer)) >= 0) {
		struct conn *c = conn_accepted(l->class, l->host, &peer);

		if (!c) {
			close(fd);
			continue;
		}
		c->server.watch.fd = fd;
		set_lowat(&c->server);
		loop_add(&m->loop, &c->server.watch, WATCH_EVENTS);
	}
}

/**
 * mesh_listen() - accept connections at every host of this process
 * @m: mesh, its classes known
 */
void mesh_listen(struct mesh *m)
{
	const struct mesh_options *o = m->opt;
	struct sockaddr_storage ss;
	size_t i, k, h;

	sort_hosts(m);
	for (i = 0; i < o->n_workloads; i++) {
		for (k = 0; k < o->workloads[i].n_cc; k++) {
			struct class *class = &m->loads[i].classes[k];

			class->listeners = xcalloc(o->n_hosts,
						   sizeof(*class->listeners));
			for (h = 0; h < o->n_hosts; h++) {
				struct listener *l = &class->listeners[h];
				struct host *host = &m->hosts[h];
				socklen_t len;

				if (!host->ns)
					continue;
				netns_enter(host->ns);
				l->class = class;
				l->host = host;
				l->watch.ready = listener_ready;
				l->watch.fd = open_socket(class, host->addr->family);
				len = endpoint_sockaddr(host->addr, class->port, &ss);
				*sockaddr_port(&ss) = htons(class->port);
				if (!listen_at(l->watch.fd, &ss, len))
					die("cannot listen on %s port %u: %s",
					    host->addr->text, class->port,
					    strerror(errno));
				loop_add(&m->loop, &l->watch, EPOLLIN | EPOLLET);
			}
		}
	}
}

/* Reading and writing ------------------------------------------------------ */

static void side_failed(struct side *s, const char *why)
{
	conn_lost(s->conn, why);
	side_account(s);
	watch_close(&s->watch);
}

static void side_write(struct side *s)
{
	const struct mesh *m = s->conn->class->mesh;
	const struct workload *w = workload_of(s->conn);

	while (s->to_write) {
		uint64_t len = s->to_write;
		ssize_t n;

		if (len > m->opt->chunk)
			len = m->opt->chunk;
		n = send(s->watch.fd, m->buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				side_failed(s, strerror(errno));
			return;
		}
		s->to_write -= (uint64_t)n;
	}
	if (w->each && !w->request && is_client(s) && s->conn->part)
		shutdown(s->watch.fd, SHUT_WR);
}

static void write_header(struct conn *c, uint64_t bytes)
{
	struct header h = {
		.magic = htobe32(HEADER_MAGIC),
		.response = workload_of(c)->request ?
			    htobe32((uint32_t)c->part->bytes) : 0,
		.bytes = htobe64(bytes),
	};

	/* The socket is empty, so there is room. */
	if (send(c->client.watch.fd, &h, sizeof(h), MSG_DONTWAIT | MSG_NOSIGNAL |
		 (bytes > sizeof(h) ? MSG_MORE : 0)) != sizeof(h)) {
		side_failed(&c->client, strerror(errno));
		return;
	}
	c->client.to_write -= sizeof(h);
	side_write(&c->client);
}

static void begin_writing(struct conn *c)
{
	if (mesh_is_local(c->class->mesh))
		side_write(&c->client);
	else
		write_header(c, c->client.to_write);
}

/**
 * conn_start() - send a part
 * @c: idle connection; it need not be up yet
 * @p: part; part_done() will be called when it is complete
 */
void conn_start(struct conn *c, struct part *p)
{
	const struct workload *w = workload_of(c);
	bool local = mesh_is_local(c->class->mesh);

	c->part = p;
	p->before[0] = c->client.seen;
	p->before[1] = c->server.seen;
	c->client.to_write = w->request ? w->request_bytes : p->bytes;
	c->client.to_read = w->request ? p->bytes : !local;
	if (local)
		c->server.to_read = c->client.to_write;
	set_lowat(&c->client);
	set_lowat(&c->server);
	if (c->up)
		begin_writing(c);
}

static void conn_connected(struct conn *c)
{
	struct class *class = c->class;

	c->up = true;
	if (!*class->found_cc) {
		get_cc(c->client.watch.fd, class->found_cc);
		if (class->cc && strcmp(class->cc, class->found_cc))
			die("workload %s: a connection has congestion control %s, although %s was set",
			    workload_of(c)->name, class->found_cc, class->cc);
	}
	mesh_conn_up(c);
	if (c->part)
		begin_writing(c);
}

/* Take from the complete header the sizes of request and response. */
static bool header_done(struct conn *c)
{
	struct header h;

	memcpy(&h, c->header, sizeof(h));
	c->response = be32toh(h.response);
	if (be32toh(h.magic) != HEADER_MAGIC || be64toh(h.bytes) < HEADER_BYTES ||
	    be64toh(h.bytes) > ENDLESS_BYTES) {
		side_failed(&c->server, "its client does not speak dcload mesh");
		return false;
	}
	c->server.to_read = be64toh(h.bytes) - HEADER_BYTES;
	return true;
}

/*
 * All that was to come has come. Return: false if the end of the connection was
 * closed, and may be gone.
 */
static bool side_received(struct side *s)
{
	struct conn *c = s->conn;
	const struct workload *w = workload_of(c);
	bool local = mesh_is_local(c->class->mesh);

	if (is_client(s)) {
		part_done(c);
		if (!w->each || !w->request)
			return true;
		side_close(s);
		return false;
	}
	if (local && !w->request) {
		part_done(c);
		return true;
	}
	c->header_len = 0;
	s->to_write = !w->request ? 1 : local ? c->part->bytes : c->response;
	side_write(s);
	return true;
}

/* Return: bytes read, or as recv(). */
static ssize_t side_read_some(struct side *s, bool header)
{
	struct conn *c = s->conn;
	ssize_t n;
	char none;

	if (header) {
		n = recv(s->watch.fd, c->header + c->header_len,
			 HEADER_BYTES - c->header_len, MSG_DONTWAIT);
		if (n > 0)
			c->header_len += (unsigned int)n;
		return n;
	}
	/* TCP discards the data instead of copying it. */
	if (s->to_read)
		n = recv(s->watch.fd, NULL,
			 s->to_read < READ_MAX ? s->to_read : READ_MAX,
			 MSG_TRUNC | MSG_DONTWAIT);
	else
		n = recv(s->watch.fd, &none, 1, MSG_DONTWAIT);
	if (n > 0 && (uint64_t)n > s->to_read) {
		errno = EPROTO;
		return -1;
	}
	if (n > 0)
		s->to_read -= (uint64_t)n;
	return n;
}

/* The peer will send no more. */
static void side_ended(struct side *s)
{
	struct conn *c = s->conn;
	bool idle = !s->to_read && !s->to_write && !c->header_len;

	if (workload_of(c)->each ? idle && (!is_client(s) || !c->part) :
	    idle && !is_client(s) && !mesh_is_local(c->class->mesh))
		side_close(s);
	else
		side_failed(s, "closed by the peer");
}

/*
 * A short read emptied the socket, and later data is an event of its own: another recv() is
 * not needed. @hup: read up to the end of the stream.
 */
static void side_read(struct side *s, bool hup)
{
	struct conn *c = s->conn;
	bool remote_server = !is_client(s) && !mesh_is_local(c->class->mesh);

	for (;;) {
		bool header = remote_server && c->header_len < HEADER_BYTES;
		ssize_t n;

		if (!header && !s->to_read && !hup)
			return;
		n = side_read_some(s, header);
		if (!n) {
			side_ended(s);
			return;
		}
		if (n < 0) {
			if (errno != EAGAIN && errno != EINTR)
				side_failed(s, strerror(errno));
			else
				set_lowat(s);
			return;
		}
		if (header) {
			if (c->header_len < HEADER_BYTES)
				continue;
			if (!header_done(c))
				return;
		}
		if (!s->to_read) {
			if (!side_received(s))
				return;
		} else if (!header && !hup) {
			set_lowat(s);
			return;
		}
	}
}

static void side_ready(struct watch *w, uint32_t events)
{
	struct side *s = container_of(w, struct side, watch);
	struct conn *c = s->conn;
	socklen_t len = sizeof(int);
	int err = 0;

	if (w->fd < 0)
		return;
	c->class->mesh->wakeups++;
	if (is_client(s) && !c->up) {
		if (!(events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
			return;
		getsockopt(w->fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err)
			conn_refused(c, err);
		else
			conn_connected(c);
		return;
	}
	if ((events & EPOLLOUT) && s->to_write)
		side_write(s);
	if (w->fd >= 0 && (events & ~(uint32_t)EPOLLOUT))
		side_read(s, events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR));
}

/**
 * conn_sender() - the end of a connection that sends its flows
 * @c: connection
 */
struct side *conn_sender(struct conn *c)
{
	return workload_of(c)->request ? &c->server : &c->client;
}

/**
 * conns_abort() - discard data under way, so that nothing of this run is left on the
 *	network
 * @m: mesh, its run over
 */
void conns_abort(struct mesh *m)
{
	struct linger linger = { .l_onoff = 1, .l_linger = 0 };
	struct side *sides[2];
	struct conn *c;
	size_t i;

	for (c = m->conns; c; c = c->next) {
		sides[0] = &c->client;
		sides[1] = &c->server;
		for (i = 0; i < ARRAY_SIZE(sides); i++) {
			if (sides[i]->watch.fd >= 0)
				setsockopt(sides[i]->watch.fd, SOL_SOCKET,
					   SO_LINGER, &linger, sizeof(linger));
			watch_close(&sides[i]->watch);
		}
	}
}
