// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>

#include "collect.h"

struct dump {
	netlink_fn fn;
	void *arg;
};

static int on_valid(struct nl_msg *msg, void *arg)
{
	const struct dump *d = arg;

	d->fn(nlmsg_hdr(msg), d->arg);
	return NL_OK;
}

static int request(int protocol, int type, int flags, const void *header, size_t len,
		   netlink_fn fn, void *arg)
{
	struct dump d = { fn, arg };
	struct nl_sock *sk = nl_socket_alloc();
	int err;

	if (!sk)
		return -ENOMEM;
	err = nl_connect(sk, protocol);
	if (err < 0)
		goto out;
	/* 100,000 connections. */
	nl_socket_set_buffer_size(sk, 1 << 20, 0);
	nl_socket_set_msg_buf_size(sk, 1 << 16);
	nl_socket_disable_auto_ack(sk);
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_valid, &d);
	err = nl_send_simple(sk, type, flags, (void *)header, len);
	if (err >= 0)
		err = nl_recvmsgs_default(sk);
	/* What came before the change has been handed out; keys make it one. */
	if (err == -NLE_DUMP_INTR)
		err = 0;
out:
	nl_socket_free(sk);
	return err < 0 ? -EIO : 0;
}

/**
 * netlink_dump() - ask for all objects of a kind
 * @protocol: NETLINK_ROUTE and the like
 * @type: of the request
 * @header: its header behind that of netlink
 * @len: length of that
 * @fn: called with each object
 * @arg: for @fn
 *
 * Return: 0; -errno if the kernel has no such protocol, or refuses.
 */
int netlink_dump(int protocol, int type, const void *header, size_t len, netlink_fn fn, void *arg)
{
	return request(protocol, type, NLM_F_DUMP, header, len, fn, arg);
}

/* netlink_get() - the same for one object, which the header names */
int netlink_get(int protocol, int type, const void *header, size_t len, netlink_fn fn, void *arg)
{
	return request(protocol, type, 0, header, len, fn, arg);
}
