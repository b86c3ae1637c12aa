// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "attr.h"
#include "uapi/onramp_genl.h"
#include "util.h"

#include "kernel.h"

_Static_assert((int)CLUSTER_LEARNING == (int)ONRAMP_BASELINE_LEARNING, "states of a baseline");
_Static_assert((int)CLUSTER_SEEDED == (int)ONRAMP_BASELINE_SEEDED, "states of a baseline");

/* Bytes of a part of a dump: the largest that the kernel sends. */
#define DUMP_BYTES	(1 << 15)
/* A dump is asked for so often, if a table is resized meanwhile. */
#define DUMP_TRIES	3

/**
 * struct kernel - sockets of the family
 * @sk: for requests
 * @events: in the group of events
 * @next: what the dumps say, until they are whole
 * @family: its number
 */
struct kernel {
	struct nl_sock *sk;
	struct nl_sock *events;
	struct cluster *next;
	int family;
};

/* The attributes of a message; false: malformed. */
static bool attributes(struct nl_msg *msg, struct nlattr **tb, int max)
{
	struct genlmsghdr *hdr = genlmsg_hdr(nlmsg_hdr(msg));

	return !nla_parse(tb, max, genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0), NULL);
}

/* Read an address as IPv6, mapped if it is IPv4. */
static bool address(struct nlattr *a, uint8_t *out)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (!a)
		return false;
	if (nla_len(a) == 16) {
		memcpy(out, nla_data(a), 16);
		return true;
	}
	memcpy(out, mapped, 12);
	memcpy(out + 12, nla_data(a), 4);
	return nla_len(a) == 4;
}

static int on_path(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[ONRAMP_A_PATH_MAX + 1];
	struct cluster_path p = { .known = false };
	struct cluster *c = arg;

	if (!attributes(msg, tb, ONRAMP_A_PATH_MAX) ||
	    !address(tb[ONRAMP_A_PATH_LOCAL], p.local) ||
	    !address(tb[ONRAMP_A_PATH_REMOTE], p.remote))
		return NL_OK;
	p.scope = (uint32_t)attr_number(tb[ONRAMP_A_PATH_SCOPE], 0);
	p.known = tb[ONRAMP_A_PATH_DOMAIN];
	p.data = true;
	p.domain = (uint8_t)attr_number(tb[ONRAMP_A_PATH_DOMAIN], 0);
	p.baseline_ns = (int64_t)attr_number(tb[ONRAMP_A_PATH_BASELINE_NS], 0);
	p.at_ns = (int64_t)attr_number(tb[ONRAMP_A_PATH_BASELINE_AT_NS], now_ns());
	p.slope = (int32_t)attr_number(tb[ONRAMP_A_PATH_BASELINE_SLOPE], 0);
	/* The kernel's errors leave out that of the slope. */
	p.error_ns = (int64_t)(attr_number(tb[ONRAMP_A_PATH_BASELINE_ERROR_NS], 0) +
			       attr_number(tb[ONRAMP_A_PATH_SUPPORT_AGE_NS], 0) / 1000000 *
			       BASELINE_SLOPE_PPM);
	p.payload = (uint32_t)attr_number(tb[ONRAMP_A_PATH_PAYLOAD], 0);
	p.acks = attr_number(tb[ONRAMP_A_PATH_ACKS], 0);
	p.state = (uint8_t)attr_number(tb[ONRAMP_A_PATH_BASELINE], 0);
	p.rate_mbit = (uint32_t)(attr_number(tb[ONRAMP_A_PATH_LINE_RATE], 0) / 125000);
	p.least_ns = (int64_t)attr_number(tb[ONRAMP_A_PATH_BASELINE_LEAST_NS],
					  (uint64_t)-BASELINE_MAX_NS);
	cluster_path(c, &p);
	return NL_OK;
}

static int on_subscriber(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[ONRAMP_A_SUB_MAX + 1];
	uint8_t local[16], remote[16];
	struct cluster *c = arg;

	if (!attributes(msg, tb, ONRAMP_A_SUB_MAX) ||
	    !address(tb[ONRAMP_A_SUB_LOCAL], local) || !address(tb[ONRAMP_A_SUB_REMOTE], remote))
		return NL_OK;
	cluster_host(c, remote, local);
	if (tb[ONRAMP_A_SUB_CLOCK_NS] &&
	    cluster_clock(c, (uint8_t)attr_number(tb[ONRAMP_A_SUB_DOMAIN], 0),
			  (int64_t)attr_number(tb[ONRAMP_A_SUB_CLOCK_NS], 0),
			  (int64_t)now_ns()) && tb[ONRAMP_A_SUB_PHC_NS]) {
		c->phc = true;
		c->phc_ns = (int64_t)attr_number(tb[ONRAMP_A_SUB_PHC_NS], 0);
	}
	return NL_OK;
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *hdr = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *tb[ONRAMP_A_PATH_MAX + 1];
	bool *heard = arg;

	if (hdr->cmd == ONRAMP_CMD_PATH_NTF && attributes(msg, tb, ONRAMP_A_PATH_MAX) &&
	    attr_number(tb[ONRAMP_A_PATH_EVENT], 0) == ONRAMP_EVENT_HEARD)
		*heard = true;
	return NL_OK;
}

static int dump(struct kernel *k, int cmd, nl_recvmsg_msg_cb_t fn, struct cluster *c)
{
	struct nl_msg *msg = nlmsg_alloc();
	int err = -NLE_NOMEM;

	nl_socket_modify_cb(k->sk, NL_CB_VALID, NL_CB_CUSTOM, fn, c);
	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, k->family, 0, NLM_F_DUMP, cmd,
			       ONRAMP_GENL_VERSION))
		err = nl_send_auto(k->sk, msg);
	nlmsg_free(msg);
	return err < 0 ? err : nl_recvmsgs_default(k->sk);
}

/* kernel_open() - connect; NULL: no module has the family, or it is too old for seeds */
struct kernel *kernel_open(void)
{
	struct kernel *k = xcalloc(1, sizeof(*k));
	int group;

	k->next = xcalloc(1, sizeof(*k->next));
	k->sk = nl_socket_alloc();
	k->events = nl_socket_alloc();
	if (!k->sk || !k->events || genl_connect(k->sk) < 0 || genl_connect(k->events) < 0)
		goto close;
	nl_socket_disable_auto_ack(k->sk);
	nl_socket_set_msg_buf_size(k->sk, DUMP_BYTES);
	k->family = genl_ctrl_resolve(k->sk, ONRAMP_GENL_NAME);
	group = genl_ctrl_resolve_grp(k->sk, ONRAMP_GENL_NAME, ONRAMP_MCGRP_EVENTS);
	if (k->family < 0 || group < 0 || nl_socket_add_membership(k->events, group) < 0)
		goto close;
	nl_socket_disable_seq_check(k->events);
	nl_socket_set_nonblocking(k->events);
	return k;
close:
	kernel_close(k);
	return NULL;
}

void kernel_close(struct kernel *k)
{
	nl_socket_free(k->sk);
	nl_socket_free(k->events);
	free(k->next);
	free(k);
}

/* kernel_events_fd() - return what to poll for kernel_events() */
int kernel_events_fd(const struct kernel *k)
{
	return nl_socket_get_fd(k->events);
}

/* kernel_events() - read events; return whether a path has had its first OR-ACK */
bool kernel_events(struct kernel *k)
{
	bool heard = false;
	int err;

	nl_socket_modify_cb(k->events, NL_CB_VALID, NL_CB_CUSTOM, on_event, &heard);
	do {
		err = nl_recvmsgs_default(k->events);
	} while (err >= 0);
	/* Some were lost. */
	return heard || err == -NLE_NOMEM;
}

static int read_once(struct kernel *k, struct cluster *c)
{
	int err;

	cluster_begin(c);
	err = dump(k, ONRAMP_CMD_PATH_GET, on_path, c);
	if (err >= 0) {
		err = dump(k, ONRAMP_CMD_SUB_GET, on_subscriber, c);
		/* Without or_acker this host has no clock, and learns from others. */
		if (err == -NLE_OPNOTSUPP)
			err = 0;
	}
	cluster_end(c);
	return err;
}

/**
 * kernel_read() - read all paths, and the own clock
 * @k: kernel
 * @c: cluster; as it was if the dumps fail: who is missing in half a dump is not gone
 *
 * Return: 0, or an error of libnl.
 */
int kernel_read(struct kernel *k, struct cluster *c)
{
	int err, tries = DUMP_TRIES;

	do {
		*k->next = *c;
		err = read_once(k, k->next);
	} while (err == -NLE_DUMP_INTR && --tries);
	/* Without sch_onramp there are no paths. */
	if (err >= 0 || err == -NLE_OPNOTSUPP)
		*c = *k->next;
	return err < 0 ? err : 0;
}

static bool put_address(struct nl_msg *msg, int attr, const uint8_t *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (memcmp(addr, mapped, 12))
		return !nla_put(msg, attr, 16, addr);
	return !nla_put(msg, attr, 4, addr + 12);
}

/**
 * kernel_seed() - tell the kernel a baseline
 * @k: kernel
 * @path: of which
 * @seed: the baseline
 * @now_ns: CLOCK_MONOTONIC, for which it was computed
 * @left_ns: until it expires
 *
 * Return: 0, or an error of libnl: the path knows better, or is gone.
 */
int kernel_seed(struct kernel *k, const struct cluster_path *path,
		const struct cluster_seed *seed, int64_t now_ns, int64_t left_ns)
{
	struct nl_msg *msg = nlmsg_alloc();
	int err = -NLE_NOMEM;

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, k->family, 0, NLM_F_ACK,
			       ONRAMP_CMD_PATH_SEED, ONRAMP_GENL_VERSION) &&
	    put_address(msg, ONRAMP_A_PATH_LOCAL, path->local) &&
	    put_address(msg, ONRAMP_A_PATH_REMOTE, path->remote) &&
	    (!path->scope || !nla_put_u32(msg, ONRAMP_A_PATH_SCOPE, path->scope)) &&
	    !nla_put_u8(msg, ONRAMP_A_PATH_DOMAIN, path->domain) &&
	    !nla_put_u64(msg, ONRAMP_A_PATH_BASELINE_NS, (uint64_t)seed->value_ns) &&
	    !nla_put_u64(msg, ONRAMP_A_PATH_BASELINE_AT_NS, (uint64_t)now_ns) &&
	    !nla_put_u32(msg, ONRAMP_A_PATH_BASELINE_SLOPE, (uint32_t)seed->slope) &&
	    !nla_put_u64(msg, ONRAMP_A_PATH_BASELINE_ERROR_NS, (uint64_t)seed->error_ns) &&
	    !nla_put_u64(msg, ONRAMP_A_PATH_SEED_LEFT_NS, (uint64_t)left_ns))
		err = nl_send_auto(k->sk, msg);
	nlmsg_free(msg);
	return err < 0 ? err : nl_wait_for_ack(k->sk);
}
