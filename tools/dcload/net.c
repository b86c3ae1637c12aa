// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/tls.h>

#include "dcload.h"
#include "net.h"

#define LISTEN_BACKLOG	4096

#define NETNS_DIR	"/run/netns"	/* where ip-netns(8) keeps them */

/**
 * netns_open() - find a network namespace
 * @ns: result
 * @name: name as in "ip netns", or a path if it has a slash, or NULL for the
 *	namespace the process is in
 */
void netns_open(struct netns *ns, const char *name)
{
	char path[4096];

	if (!name)
		snprintf(path, sizeof(path), "/proc/self/ns/net");
	else if (strchr(name, '/'))
		snprintf(path, sizeof(path), "%s", name);
	else
		snprintf(path, sizeof(path), NETNS_DIR "/%s", name);

	ns->name = name;
	ns->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (ns->fd < 0)
		die("cannot open network namespace %s: %s", path,
		    strerror(errno));
}

/**
 * netns_enter() - make the namespace that of sockets to come
 * @ns: namespace
 *
 * Sockets already open stay where they are.
 */
void netns_enter(const struct netns *ns)
{
	static const struct netns *current;

	if (ns == current)
		return;
	/* Unprivileged users are fine as long as they never leave their own. */
	if (!current && !ns->name) {
		current = ns;
		return;
	}
	if (setns(ns->fd, CLONE_NEWNET))
		die("cannot enter network namespace %s: %s",
		    ns->name ? ns->name : "of this process", strerror(errno));
	current = ns;
}

/**
 * endpoint_sockaddr() - socket address of an endpoint
 * @ep: endpoint
 * @default_port: port if the endpoint names none
 * @ss: result
 *
 * A scope is looked up in the current network namespace.
 *
 * Return: length of the address.
 */
socklen_t endpoint_sockaddr(const struct endpoint *ep, uint16_t default_port,
			    struct sockaddr_storage *ss)
{
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;
	uint16_t port = htons(ep->port ? ep->port : default_port);

	memset(ss, 0, sizeof(*ss));
	if (ep->family == AF_INET) {
		struct sockaddr_in *sin = (struct sockaddr_in *)ss;

		sin->sin_family = AF_INET;
		sin->sin_addr = ep->v4;
		sin->sin_port = port;
		return sizeof(*sin);
	}

	sin6->sin6_family = AF_INET6;
	sin6->sin6_addr = ep->v6;
	sin6->sin6_port = port;
	if (*ep->scope) {
		sin6->sin6_scope_id = if_nametoindex(ep->scope);
		if (!sin6->sin6_scope_id)
			die("address %s%%%s: unknown device %s", ep->text,
			    ep->scope, ep->scope);
	}
	return sizeof(*sin6);
}

/**
 * listen_at() - accept connections from now on
 * @fd: TCP socket
 * @ss: where, with its port
 * @len: length of the address
 *
 * Return: false, and errno, if that is not possible.
 */
bool listen_at(int fd, const struct sockaddr_storage *ss, socklen_t len)
{
	set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1, "SO_REUSEADDR");
	return !bind(fd, (const struct sockaddr *)ss, len) && !listen(fd, LISTEN_BACKLOG);
}

/**
 * accept_next() - the next connection that waits
 * @fd: listening socket that does not block
 * @peer: where it is from
 *
 * Return: its socket, which does not block, or -1 if there is none.
 */
int accept_next(int fd, struct sockaddr_storage *peer)
{
	for (;;) {
		socklen_t len = sizeof(*peer);
		int conn = accept4(fd, (struct sockaddr *)peer, &len,
				   SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (conn >= 0 || errno == EAGAIN)
			return conn;
		if (errno != EINTR && errno != ECONNABORTED)
			die("cannot accept a connection: %s", strerror(errno));
	}
}

void set_option(int fd, int level, int name, int value, const char *what)
{
	if (setsockopt(fd, level, name, &value, sizeof(value)))
		die("cannot set %s to %d: %s", what, value, strerror(errno));
}

/**
 * set_cc() - choose a socket's congestion control, or exit saying why not
 * @fd: TCP socket
 * @cc: name
 */
void set_cc(int fd, const char *cc)
{
	char available[512] = "unknown";
	FILE *f;

	if (!setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc,
			(socklen_t)strlen(cc)))
		return;
	if (errno == EPERM)
		die("congestion control %s is only for root here: add it to net.ipv4.tcp_allowed_congestion_control",
		    cc);
	if (errno != ENOENT)
		die("cannot set congestion control %s: %s", cc,
		    strerror(errno));
	f = fopen("/proc/sys/net/ipv4/tcp_available_congestion_control", "re");
	if (f) {
		if (fgets(available, sizeof(available), f))
			available[strcspn(available, "\n")] = '\0';
		fclose(f);
	}
	die("the kernel has no congestion control %s, or its module tcp_%s is not loaded; available: %s",
	    cc, cc, available);
}

/**
 * set_ktls() - have the kernel encrypt what is sent, TLS 1.2 with AES-GCM-128
 * @fd: TCP socket, connected
 *
 * The key is known to everybody: the receiver discards what it gets.
 */
void set_ktls(int fd)
{
	struct tls12_crypto_info_aes_gcm_128 info = {
		.info = {
			.version = TLS_1_2_VERSION,
			.cipher_type = TLS_CIPHER_AES_GCM_128,
		},
	};

	if (setsockopt(fd, IPPROTO_TCP, TCP_ULP, "tls", sizeof("tls")))
		die("cannot turn on kTLS: %s; is the module tls loaded?", strerror(errno));
	if (setsockopt(fd, SOL_TLS, TLS_TX, &info, sizeof(info)))
		die("cannot give kTLS its key: %s", strerror(errno));
}

void get_cc(int fd, char cc[CC_NAME_MAX])
{
	socklen_t len = CC_NAME_MAX;

	memset(cc, 0, CC_NAME_MAX);
	if (getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, cc, &len))
		die("cannot read a socket's congestion control: %s",
		    strerror(errno));
	cc[CC_NAME_MAX - 1] = '\0';
}

/**
 * get_tcp_info() - read a connection's counters
 * @fd: TCP socket
 * @info: result; fields the kernel does not know are 0
 *
 * Return: false if the socket has none to give.
 */
bool get_tcp_info(int fd, struct tcp_info *info)
{
	socklen_t len = sizeof(*info);

	memset(info, 0, sizeof(*info));
	return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, info, &len);
}

/*
 * tcpi_total_rto (Linux 6.7) by its place, as older headers have no name for it:
 * after tcpi_rcv_wnd and tcpi_rehash, 16 bits.
 */
#define TOTAL_RTO_AT	(offsetof(struct tcp_info, tcpi_snd_wnd) + 3 * sizeof(uint32_t))

static bool kernel_counts_timeouts;

/**
 * get_counters() - read TCP's counters
 * @fd: TCP socket
 * @out: result
 * @info: if not NULL, all there is
 *
 * Return: false if the socket has none to give.
 */
bool get_counters(int fd, struct counters *out, struct tcp_info *info)
{
	union {
		struct tcp_info info;
		unsigned char room[512];
	} u;
	socklen_t len = sizeof(u);
	uint16_t timeouts;

	memset(&u, 0, sizeof(u));
	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &u, &len))
		return false;
	kernel_counts_timeouts = len >= TOTAL_RTO_AT + sizeof(timeouts);
	memcpy(&timeouts, u.room + TOTAL_RTO_AT, sizeof(timeouts));
	out->bytes_acked = u.info.tcpi_bytes_acked;
	out->bytes_received = u.info.tcpi_bytes_received;
	out->bytes_retrans = u.info.tcpi_bytes_retrans;
	out->segs_out = u.info.tcpi_segs_out;
	out->retrans_segs = u.info.tcpi_total_retrans;
	out->timeouts = timeouts;
	out->delivered = u.info.tcpi_delivered;
	out->delivered_ce = u.info.tcpi_delivered_ce;
	if (info)
		*info = u.info;
	return true;
}

/**
 * counters_timeouts() - whether the kernel counts timeouts
 *
 * Return: false if it does not, or no counters were read yet.
 */
bool counters_timeouts(void)
{
	return kernel_counts_timeouts;
}

/**
 * counters_add() - add the difference of two readings
 * @sum: sum
 * @now: later
 * @then: earlier
 */
void counters_add(struct counters *sum, const struct counters *now,
		  const struct counters *then)
{
	sum->bytes_acked += now->bytes_acked - then->bytes_acked;
	sum->bytes_received += now->bytes_received - then->bytes_received;
	sum->bytes_retrans += now->bytes_retrans - then->bytes_retrans;
	sum->segs_out += now->segs_out - then->segs_out;
	sum->retrans_segs += now->retrans_segs - then->retrans_segs;
	/* The kernel's counter has 16 bits. */
	sum->timeouts += (uint16_t)(now->timeouts - then->timeouts);
	sum->delivered += now->delivered - then->delivered;
	sum->delivered_ce += now->delivered_ce - then->delivered_ce;
}

#define SPARE_FDS	32	/* standard streams, epoll, timers, files */

/**
 * need_fds() - raise the limit of open files as far as it goes
 * @n: descriptors that will be needed
 * @what: user of them, for the error with which the process exits; NULL: continue with fewer
 *
 * Return: descriptors that may be opened.
 */
size_t need_fds(size_t n, const char *what)
{
	struct rlimit rl, more;
	rlim_t want;

	if (getrlimit(RLIMIT_NOFILE, &rl))
		return n;
	/* Root may raise the hard limit as well, up to fs.nr_open. */
	for (want = n + SPARE_FDS; want > rl.rlim_max; want /= 2) {
		more = (struct rlimit){ want, want };
		if (!setrlimit(RLIMIT_NOFILE, &more))
			break;
	}
	if (want <= rl.rlim_max) {
		want = rl.rlim_max;
		rl.rlim_cur = want;
		setrlimit(RLIMIT_NOFILE, &rl);
	}
	if (what && want < n + SPARE_FDS)
		die("%s need more file descriptors than the limit of %llu; raise it with ulimit -n",
		    what, (unsigned long long)want);
	return want - SPARE_FDS;
}
