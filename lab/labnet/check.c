// SPDX-License-Identifier: GPL-2.0
/*
 * Check that a network behaves as it was declared.
 *
 *	times	one UDP packet at a time from host to host, with nothing else in the
 *		network, takes the sum of the times of its links
 *	spread	many flows between two hosts use each of the equal ports of every
 *		switch on their way as often as an even choice would, and no other port
 *
 * Times are compared to the nanosecond, so this is for virtual time, and for hosts
 * without interrupt moderation or jitter.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "json.h"
#include "labnet.h"

#define CHECK_PORT	7	/* echo: nobody else has it */
#define UDP_HEADER	8

/* Faults to show; all are counted. */
#define MAX_SHOWN	10

/* Longest wait for a packet: five links of a second. */
#define WAIT_MS		5000

static const int families[2] = { AF_INET, AF_INET6 };
static const unsigned int ip_header[2] = { 20, 40 };

/**
 * struct check - a check under way
 * @hosts: nodes that are hosts
 * @socks: of each host, for each family
 */
struct check {
	const struct topo *t;
	unsigned int *hosts;
	int (*socks)[2];
	unsigned int packets;
	unsigned int lost;
	unsigned int wrong;		/* arrived too early or too late */
	double worst_sigma;		/* of how often a port was used */
	unsigned int uneven;		/* ports used too often or not often enough */
	unsigned int ports;
};

static void __printf(2, 3) show(unsigned int nr, const char *format, ...)
{
	va_list ap;

	if (nr > MAX_SHOWN)
		return;
	fputs("labnet: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static socklen_t socket_addr(const struct node *node, int family, uint16_t port,
			     struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *in6 = (void *)ss;
	struct sockaddr_in *in = (void *)ss;
	char text[64];

	memset(ss, 0, sizeof(*ss));
	ss->ss_family = (sa_family_t)family;
	if (family == AF_INET) {
		node_addr(node, text);
		inet_pton(family, text, &in->sin_addr);
		in->sin_port = htons(port);
		return sizeof(*in);
	}
	node_addr6(node, text);
	inet_pton(family, text, &in6->sin6_addr);
	in6->sin6_port = htons(port);
	return sizeof(*in6);
}

/* In the namespace that this process is in. */
static int open_socket(const struct node *node, int family, uint16_t port)
{
	int sock = socket(family, SOCK_DGRAM | SOCK_CLOEXEC, 0), on = 1;
	struct sockaddr_storage ss;
	socklen_t len = socket_addr(node, family, port, &ss);

	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof(on)) ||
	    bind(sock, (void *)&ss, len))
		die("no socket at '%s': %s", node->name, strerror(errno));
	return sock;
}

static void open_sockets(struct check *c)
{
	struct rlimit files;
	unsigned int i, f, n = 0;

	if (!getrlimit(RLIMIT_NOFILE, &files)) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	c->hosts = xcalloc(c->t->n_hosts, sizeof(*c->hosts));
	c->socks = xcalloc(c->t->n_hosts, sizeof(*c->socks));
	for (i = 0; i < c->t->n_nodes; i++) {
		if (c->t->nodes[i].is_switch)
			continue;
		enter_node(&c->t->nodes[i]);
		c->hosts[n] = i;
		for (f = 0; f < 2; f++)
			c->socks[n][f] = open_socket(&c->t->nodes[i], families[f], CHECK_PORT);
		n++;
	}
}

static int64_t real_ns(const struct timespec *ts)
{
	return (int64_t)ts->tv_sec * (int64_t)NSEC_PER_SEC + ts->tv_nsec;
}

/* Return the time at which @sock received its packet, ns; -1: it received none. */
static int64_t receive(int sock)
{
	char data[1], control[256];
	struct iovec iov = { .iov_base = data, .iov_len = sizeof(data) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct pollfd pfd = { .fd = sock, .events = POLLIN };
	struct cmsghdr *cmsg;
	struct timespec ts;

	if (poll(&pfd, 1, WAIT_MS) != 1 || recvmsg(sock, &msg, MSG_DONTWAIT) < 0)
		return -1;
	for (cmsg = CMSG_FIRSTHDR(&msg); cmsg; cmsg = CMSG_NXTHDR(&msg, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(cmsg), sizeof(ts));
		return real_ns(&ts);
	}
	return -1;
}

/* One way time of an IP packet of @bytes from @sock to host @to; -1: lost. */
static int64_t send_one(struct check *c, int sock, unsigned int to, unsigned int f,
			unsigned int bytes)
{
	static char data[MAX_MTU];
	struct sockaddr_storage ss;
	socklen_t len = socket_addr(&c->t->nodes[c->hosts[to]], families[f], CHECK_PORT, &ss);
	struct timespec ts;
	int64_t at;

	c->packets++;
	clock_gettime(CLOCK_REALTIME, &ts);
	if (sendto(sock, data, bytes - ip_header[f] - UDP_HEADER, 0, (void *)&ss, len) < 0)
		return -1;
	at = receive(c->socks[to][f]);
	return at < 0 ? -1 : at - real_ns(&ts);
}

/* Times -------------------------------------------------------------------- */

static void check_pair(struct check *c, unsigned int from, unsigned int to, unsigned int f,
		       const struct paths *p, unsigned int bytes)
{
	const char *a = c->t->nodes[c->hosts[from]].name, *b = c->t->nodes[c->hosts[to]].name;
	int64_t ns = send_one(c, c->socks[from][f], to, f, bytes);
	int64_t least = (int64_t)p->ns[c->hosts[from]];
	int64_t most = (int64_t)p->most_ns[c->hosts[from]];

	if (ns < 0) {
		show(++c->lost, "IPv%d packet from %s to %s is lost", f ? 6 : 4, a, b);
	} else if (ns < least || ns > most) {
		show(++c->wrong, "IPv%d packet from %s to %s took %" PRId64 " ns, not %" PRId64,
		     f ? 6 : 4, a, b, ns, least);
	}
}

/* All ordered pairs of hosts, or evenly spread ones of them. */
static unsigned int check_times(struct check *c, unsigned int max_pairs, unsigned int bytes)
{
	uint64_t n = c->t->n_hosts, all = n * (n - 1), pair, i;
	uint64_t pairs = all < max_pairs ? all : max_pairs;
	struct paths *p = paths_new(c->t);
	unsigned int from, to, f, last = UINT32_MAX;

	for (i = 0; i < pairs; i++) {
		pair = i * all / pairs;
		to = (unsigned int)(pair / (n - 1));
		from = (unsigned int)(pair % (n - 1));
		from += from >= to;
		if (to != last)
			paths_find(c->t, c->hosts[to], bytes, p);
		last = to;
		for (f = 0; f < 2; f++)
			check_pair(c, from, to, f, p, bytes);
	}
	paths_free(p);
	return (unsigned int)pairs;
}

/* Spread ------------------------------------------------------------------- */

/* Packets sent by the ports of a node, in @sent in their order. */
static void read_ports(const struct node *node, uint64_t *sent)
{
	char line[512], dev[IFNAMSIZ];
	uint64_t packets;
	unsigned int i;
	FILE *f;

	enter_node(node);
	f = fopen("/proc/thread-self/net/dev", "re");
	if (!f)
		die("cannot read /proc/thread-self/net/dev: %s", strerror(errno));
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %15[^:]: %*u %*u %*u %*u %*u %*u %*u %*u %*u %" SCNu64,
			   dev, &packets) != 2)
			continue;
		for (i = 0; i < node->n_ports; i++)
			if (!strcmp(node->ports[i].dev, dev))
				sent[i] = packets;
	}
	fclose(f);
}

/* Counters of all nodes, one after the other. */
static uint64_t *read_all(const struct topo *t)
{
	uint64_t *sent = xcalloc(2 * (size_t)t->n_links, sizeof(*sent)), *at = sent;
	unsigned int i;

	for (i = 0; i < t->n_nodes; i++) {
		read_ports(&t->nodes[i], at);
		at += t->nodes[i].n_ports;
	}
	return sent;
}

/* Of @flows, a port got @got, where each comes with the chance @share. */
static void judge_port(struct check *c, const struct port *port, uint64_t got,
		       unsigned int flows, double share)
{
	double expected = flows * share, sigma = sqrt(expected * (1 - share)), off;

	c->ports += share > 0;
	/* A choice that is none has no deviation. */
	off = fabs((double)got - expected) / (sigma > 0 ? sigma : 0.01);
	if (off > c->worst_sigma)
		c->worst_sigma = off;
	/* One in 1.7 million, if the hash is good. */
	if (off > 5)
		show(++c->uneven, "%s of %s sent %" PRIu64 " of %u flows, expected %.1f +- %.1f",
		     port->dev, c->t->nodes[port->node].name, got, flows, expected, sigma);
}

/* Compare the packets of each port since @before with even choices on the way to p->to. */
static void judge_ports(struct check *c, unsigned int from, const struct paths *p,
			unsigned int flows, const uint64_t *before, const uint64_t *after)
{
	double *share = xcalloc(c->t->n_nodes, sizeof(*share)), out;
	const uint64_t *first = before;
	unsigned int *next, at, i, j, n;
	bool is_next;

	share[from] = 1;
	for (i = p->n_order; i-- > 1;) {
		at = p->order[i];
		next = xcalloc(c->t->nodes[at].n_ports, sizeof(*next));
		n = paths_next(c->t, p, at, next);
		for (j = 0; j < n; j++)
			share[c->t->nodes[at].ports[next[j]].peer] += share[at] / n;
		free(next);
	}
	for (at = 0; at < c->t->n_nodes; at++) {
		next = xcalloc(c->t->nodes[at].n_ports, sizeof(*next));
		n = paths_next(c->t, p, at, next);
		for (i = 0; i < c->t->nodes[at].n_ports; i++) {
			is_next = false;
			for (j = 0; j < n; j++)
				is_next |= next[j] == i;
			out = is_next ? share[at] / n : 0;
			judge_port(c, &c->t->nodes[at].ports[i],
				   after[before - first] - *before, flows, out);
			before++;
		}
		free(next);
	}
	free(share);
}

/* The host that most paths lead to from the first one; of several the one declared first. */
static uint64_t find_most_paths(const struct topo *t, const unsigned int *hosts,
				unsigned int *to)
{
	struct paths *p = paths_new(t);
	uint64_t most = 0;
	unsigned int i;

	*to = 0;
	paths_find(t, hosts[0], MIN_MTU, p);
	for (i = 1; i < t->n_hosts; i++) {
		if (p->count[hosts[i]] > most) {
			most = p->count[hosts[i]];
			*to = i;
		}
	}
	paths_free(p);
	return most;
}

static void check_spread(struct check *c, unsigned int from, unsigned int to, unsigned int f,
			 unsigned int flows)
{
	const struct node *node = &c->t->nodes[c->hosts[from]];
	uint64_t *before = read_all(c->t), *after;
	struct paths *p = paths_new(c->t);
	unsigned int i;
	int sock;

	enter_node(node);
	for (i = 0; i < flows; i++) {
		sock = open_socket(node, families[f], (uint16_t)(30000 + i));
		if (send_one(c, sock, to, f, 200) < 0)
			show(++c->lost, "IPv%d packet from %s is lost", f ? 6 : 4, node->name);
		close(sock);
	}
	after = read_all(c->t);
	paths_find(c->t, c->hosts[to], MIN_MTU, p);
	judge_ports(c, c->hosts[from], p, flows, before, after);
	paths_free(p);
	free(before);
	free(after);
}

static void report(const struct check *c, unsigned int pairs, unsigned int bytes,
		   unsigned int flows, uint64_t paths)
{
	struct json_writer w;

	json_begin(&w, stdout);
	json_open(&w, NULL, '{', false);
	json_u64(&w, "hosts", c->t->n_hosts);
	json_u64(&w, "switches", c->t->n_switches);
	json_u64(&w, "links", c->t->n_links);
	json_u64(&w, "pairs", pairs);
	json_u64(&w, "packet_bytes", bytes);
	json_u64(&w, "packets", c->packets);
	json_u64(&w, "lost", c->lost);
	json_u64(&w, "wrong_times", c->wrong);
	json_u64(&w, "flows", flows);
	json_u64(&w, "paths", paths);
	json_u64(&w, "ports", c->ports);
	json_u64(&w, "uneven_ports", c->uneven);
	json_double(&w, "worst_sigma", c->worst_sigma);
	json_close(&w, '}');
	json_finish(&w);
}

/**
 * topo_check() - check a network that is up, and report on stdout
 * @max_pairs: pairs of hosts whose times are checked at most
 * @flows: how many are spread over equal paths, for each of IPv4 and IPv6
 *
 * Return: true if it behaves as declared.
 */
bool topo_check(const struct topo *t, unsigned int max_pairs, unsigned int flows)
{
	struct check c = { .t = t };
	unsigned int to, f, i, bytes = MAX_MTU, pairs;
	uint64_t paths;

	if (t->n_hosts < 2)
		die("one host alone has nothing to check");
	for (i = 0; i < t->n_links; i++)
		if (t->links[i].mtu < bytes)
			bytes = t->links[i].mtu;
	open_sockets(&c);
	pairs = check_times(&c, max_pairs, bytes);
	paths = find_most_paths(t, c.hosts, &to);
	for (f = 0; f < 2; f++)
		check_spread(&c, 0, to, f, flows);
	report(&c, pairs, bytes, flows, paths);
	return !c.lost && !c.wrong && !c.uneven;
}
