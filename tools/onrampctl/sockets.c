// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "collect.h"
#include "sockets.h"

/* States of the kernel that carry data: ESTABLISHED, FIN_WAIT1, CLOSE_WAIT. */
#define STATES		(1 << 1 | 1 << 4 | 1 << 8)
/* A connection that has sent this much counts as one that fills queues, bytes. */
#define BULK_BYTES	1000000

/* Of all connections, as bits of a request. */
#define EXTENSIONS	(1 << (INET_DIAG_INFO - 1) | 1 << (INET_DIAG_CONG - 1) | \
			 1 << (INET_DIAG_VEGASINFO - 1))

/* A connection whose timer has ended this often, with nothing acknowledged, is stalled. */
#define STALLED_TIMEOUTS	3

struct each {
	flow_fn fn;
	void *arg;
};

/* Copy the addresses of both ends. An IPv6 socket may carry IPv4. */
static void read_ends(struct flow *f, const struct inet_diag_msg *diag)
{
	memcpy(f->local, diag->id.idiag_src, sizeof(f->local));
	memcpy(f->remote, diag->id.idiag_dst, sizeof(f->remote));
	f->lport = ntohs(diag->id.idiag_sport);
	f->rport = ntohs(diag->id.idiag_dport);
	if (f->family == AF_INET6 &&
	    IN6_IS_ADDR_V4MAPPED((const struct in6_addr *)f->remote)) {
		f->family = AF_INET;
		memmove(f->local, f->local + 12, 4);
		memmove(f->remote, f->remote + 12, 4);
	}
	if (f->family == AF_INET) {
		memset(f->local + 4, 0, 12);
		memset(f->remote + 4, 0, 12);
	}
}

static void read_attribute(struct flow *f, const struct rtattr *a)
{
	size_t len = RTA_PAYLOAD(a);
	struct tcpvegas_info v;

	switch (a->rta_type & ~NLA_F_NESTED) {
	case INET_DIAG_CONG:
		j_clean(f->cc, sizeof(f->cc), RTA_DATA(a), len);
		break;
	case INET_DIAG_MARK:
		if (len >= sizeof(f->mark))
			memcpy(&f->mark, RTA_DATA(a), sizeof(f->mark));
		break;
	case INET_DIAG_INFO:
		memcpy(&f->info, RTA_DATA(a), len < sizeof(f->info) ? len : sizeof(f->info));
		f->has_info = true;
		break;
	case INET_DIAG_VEGASINFO:
		if (len < sizeof(v))
			break;
		memcpy(&v, RTA_DATA(a), sizeof(v));
		f->rtt_count = v.tcpv_rttcnt;
		f->rtt_us = v.tcpv_rtt;
		f->min_rtt_us = v.tcpv_minrtt;
		break;
	}
}

static void on_socket(struct nlmsghdr *hdr, void *arg)
{
	const struct inet_diag_msg *diag = NLMSG_DATA(hdr);
	const struct each *e = arg;
	const struct rtattr *a;
	struct flow f;
	int rest;

	if (hdr->nlmsg_len < NLMSG_LENGTH(sizeof(*diag)))
		return;
	memset(&f, 0, sizeof(f));
	f.family = diag->idiag_family;
	f.diag_family = diag->idiag_family;
	f.diag_id = diag->id;
	f.ifindex = diag->id.idiag_if;
	f.cookie = diag->id.idiag_cookie[0] | (uint64_t)diag->id.idiag_cookie[1] << 32;
	read_ends(&f, diag);
	rest = (int)(hdr->nlmsg_len - NLMSG_LENGTH(sizeof(*diag)));
	for (a = (const struct rtattr *)((const char *)diag + NLMSG_ALIGN(sizeof(*diag)));
	     RTA_OK(a, rest); a = RTA_NEXT(a, rest))
		read_attribute(&f, a);
	e->fn(&f, e->arg);
}

/**
 * sockets_each() - call a function with each connection that can carry data
 * @fn: called
 * @arg: for @fn
 *
 * Return: 0; -errno if the kernel does not tell.
 */
int sockets_each(flow_fn fn, void *arg)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	struct each e = { fn, arg };
	size_t i;
	int err;

	for (i = 0; i < ARRAY_SIZE(families); i++) {
		struct inet_diag_req_v2 req = {
			.sdiag_family = families[i], .sdiag_protocol = IPPROTO_TCP,
			.idiag_ext = EXTENSIONS, .idiag_states = STATES,
		};

		err = netlink_dump(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, &req, sizeof(req),
				   on_socket, &e);
		/* IPv6 may be turned off. */
		if (err && families[i] == AF_INET)
			return err;
	}
	return 0;
}

static void copy_flow(const struct flow *f, void *arg)
{
	*(struct flow *)arg = *f;
}

/**
 * sockets_again() - look at a connection again
 * @f: connection, of sockets_each()
 *
 * Return: 0; -errno if it is closed, or the kernel does not tell.
 */
int sockets_again(struct flow *f)
{
	struct each e = { copy_flow, f };
	struct inet_diag_req_v2 req = {
		.sdiag_family = f->diag_family, .sdiag_protocol = IPPROTO_TCP,
		.idiag_ext = EXTENSIONS, .idiag_states = ~0U, .id = f->diag_id,
	};
	uint64_t cookie = f->cookie;
	int err;

	err = netlink_get(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, &req, sizeof(req), on_socket,
			  &e);
	return err ? err : f->cookie == cookie ? 0 : -ENOENT;
}

/* flow_key() - the name that On-Ramp has for a connection */
struct flow_key flow_key(const struct flow *f)
{
	struct flow_key key = { .family = f->family, .lport = f->lport, .rport = f->rport };

	memcpy(key.local, f->local, sizeof(key.local));
	memcpy(key.remote, f->remote, sizeof(key.remote));
	/* The device that the socket is bound to: of a link-local address, or in a VRF. */
	key.scope = f->ifindex;
	return key;
}

bool flow_is_loopback(const struct flow *f)
{
	if (f->family == AF_INET)
		return f->remote[0] == 127;
	return IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)f->remote);
}

struct count {
	json_t *tcp;
	int64_t min_rate_kbit;
};

static void add(json_t *o, const char *key)
{
	j_set(o, key, json_integer(j_int_or(o, key, 0) + 1));
}

/* Its timer sends the same packet again and again; the receiver's window is open. */
static bool is_stalled(const struct flow *f)
{
	return f->has_info && f->info.tcpi_retransmits >= STALLED_TIMEOUTS &&
	       !f->info.tcpi_probes && f->info.tcpi_unacked;
}

static void on_count(const struct flow *f, void *arg)
{
	const struct count *c = arg;
	bool busy = f->info.tcpi_unacked || f->info.tcpi_notsent_bytes;
	json_t *o;

	if (!*f->cc || flow_is_loopback(f))
		return;
	o = json_object_get(c->tcp, f->cc);
	if (!o) {
		o = json_pack("{s:i, s:i, s:i, s:i}", "connections", 0, "bulk", 0, "busy", 0,
			      "at_floor", 0);
		j_set(c->tcp, f->cc, o);
	}
	add(o, "connections");
	if (busy && f->info.tcpi_bytes_sent >= BULK_BYTES)
		add(o, "bulk");
	if (!busy)
		return;
	add(o, "busy");
	if (is_stalled(f)) {
		add(o, "stalled");
		j_set(o, "stalled_packet_bytes", json_integer((json_int_t)f->info.tcpi_pmtu));
	}
	/* Rates of the kernel are bytes/s, and a little off by rounding. */
	if (c->min_rate_kbit > 0 &&
	    f->info.tcpi_pacing_rate <= (uint64_t)c->min_rate_kbit * 125 * 101 / 100)
		add(o, "at_floor");
}

/**
 * sockets_read() - count connections by congestion control
 * @tcp: cc -> { connections, busy: with data under way or waiting, bulk: busy and large,
 *	at_floor: busy and at the rate @min_rate_kbit, stalled: busy, and nothing arrives }
 * @min_rate_kbit: lowest rate of timely, or 0
 *
 * Connections to this host itself are left out.
 *
 * Return: false if the kernel does not tell.
 */
bool sockets_read(json_t *tcp, int64_t min_rate_kbit)
{
	struct count c = { tcp, min_rate_kbit };

	return !sockets_each(on_count, &c);
}
