// SPDX-License-Identifier: GPL-2.0
/*
 * Netlink requests, many to a system call: the kernel answers those that fail, and
 * the last one in any case. A failed one ends the program.
 */
#include <errno.h>
#include <linux/netlink.h>
#include <netlink/netlink.h>
#include <stdlib.h>
#include <string.h>

#include "labnet.h"
#include "batch.h"

/* Answers to failed requests carry them along: all must fit the receive buffer. */
#define BATCH_BYTES	32768
#define BATCH_MSGS	512

struct batch {
	struct nl_sock *sock;
	const char *where;		/* whose network, for messages */
	char bytes[BATCH_BYTES];
	size_t used;
	size_t last;			/* where the last request begins */
	uint32_t seq;			/* of the first request */
	unsigned int n;
	struct {
		const char *what;
		const char *which;
	} names[BATCH_MSGS];
	int error;			/* errno of the first that failed */
	uint32_t answered;		/* last request that was answered */
	uint32_t failed;
};

static void answer(struct batch *b, uint32_t seq, int error)
{
	b->answered = seq;
	if (error && !b->error) {
		b->error = error;
		b->failed = seq;
	}
}

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	(void)from;
	answer(arg, error->msg.nlmsg_seq, -error->error);
	return NL_SKIP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	answer(arg, nlmsg_hdr(msg)->nlmsg_seq, 0);
	return NL_SKIP;
}

/* Accept any sequence number: on_error() and on_ack() find the request. */
static int any_seq(struct nl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return NL_OK;
}

static void flush(struct batch *b)
{
	struct nlmsghdr *last = (struct nlmsghdr *)(b->bytes + b->last);
	int err;

	if (!b->n)
		return;
	last->nlmsg_flags |= NLM_F_ACK;
	err = nl_sendto(b->sock, b->bytes, b->used);
	while (err >= 0 && b->answered != last->nlmsg_seq)
		err = nl_recvmsgs_default(b->sock);
	if (err < 0)
		die("%s: netlink: %s", b->where, nl_geterror(err));
	if (b->error)
		die("%s: cannot %s '%s': %s", b->where, b->names[b->failed - b->seq].what,
		    b->names[b->failed - b->seq].which, strerror(b->error));
	b->seq += b->n;
	b->used = 0;
	b->n = 0;
}

/**
 * batch_open() - begin with requests to the network namespace that this process is in
 * @where: its name
 */
struct batch *batch_open(const char *where)
{
	struct batch *b = xcalloc(1, sizeof(*b));

	b->where = where;
	b->seq = 1;
	b->sock = nl_socket_alloc();
	if (!b->sock || nl_connect(b->sock, NETLINK_ROUTE) < 0)
		die("%s: no netlink socket: %s", where, strerror(errno));
	nl_socket_set_buffer_size(b->sock, 4 * BATCH_BYTES, 2 * BATCH_BYTES);
	nl_socket_modify_cb(b->sock, NL_CB_SEQ_CHECK, NL_CB_CUSTOM, any_seq, NULL);
	nl_socket_modify_cb(b->sock, NL_CB_ACK, NL_CB_CUSTOM, on_ack, b);
	nl_socket_modify_err_cb(b->sock, NL_CB_CUSTOM, on_error, b);
	return b;
}

/**
 * batch_new() - a request to fill with attributes, for batch_add()
 * @head: header of the family, after the netlink header
 * @size: of @head, bytes
 */
struct nl_msg *batch_new(int type, int flags, const void *head, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !nlmsg_put(msg, 0, 0, type, 0, NLM_F_REQUEST | flags))
		die("out of memory");
	MUST(nlmsg_append(msg, (void *)head, size, NLMSG_ALIGNTO));
	return msg;
}

/**
 * batch_add() - send a request, at the latest by batch_close()
 * @msg: request; is freed
 * @what: the action, as a verb
 * @which: its object; both strings must stay valid until batch_close()
 */
void batch_add(struct batch *b, struct nl_msg *msg, const char *what, const char *which)
{
	struct nlmsghdr *head = nlmsg_hdr(msg);

	if (b->used + NLMSG_ALIGN(head->nlmsg_len) > BATCH_BYTES || b->n == BATCH_MSGS)
		flush(b);
	head->nlmsg_seq = b->seq + b->n;
	b->names[b->n].what = what;
	b->names[b->n].which = which;
	b->n++;
	memcpy(b->bytes + b->used, head, head->nlmsg_len);
	b->last = b->used;
	b->used += NLMSG_ALIGN(head->nlmsg_len);
	nlmsg_free(msg);
}

void batch_close(struct batch *b)
{
	flush(b);
	nl_socket_free(b->sock);
	free(b);
}
