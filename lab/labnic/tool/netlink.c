// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: one netlink socket, in the network namespace that is asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tool.h"

static struct nl_sock *sock;

/* What the kernel says about a request that it refused. */
static char complaint[512];

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct nlmsghdr *head = (void *)((char *)error - NLMSG_HDRLEN);
	int left = NLMSG_PAYLOAD(head, sizeof(*error));
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	char *at = (char *)(error + 1);

	(void)from;
	*(int *)arg = error->error;
	complaint[0] = '\0';
	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return NL_STOP;
	if (!(head->nlmsg_flags & NLM_F_CAPPED)) {
		at += error->msg.nlmsg_len - sizeof(error->msg);
		left -= error->msg.nlmsg_len - sizeof(error->msg);
	}
	if (left > 0 && !nla_parse(tb, NLMSGERR_ATTR_MAX, (void *)at, left, NULL) &&
	    tb[NLMSGERR_ATTR_MSG])
		snprintf(complaint, sizeof(complaint), "%.*s", nla_len(tb[NLMSGERR_ATTR_MSG]),
			 (char *)nla_data(tb[NLMSGERR_ATTR_MSG]));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	(void)msg;
	*(int *)arg = 0;
	return NL_STOP;
}

static void open_socket(void)
{
	int on = 1;

	sock = nl_socket_alloc();
	if (!sock)
		die("no memory");
	if (nl_connect(sock, NETLINK_ROUTE) < 0)
		die("no netlink socket: %s", strerror(errno));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	nl_socket_set_buffer_size(sock, 262144, 65536);
}

/*
 * Send @msg and wait for the end of what comes back, each message to @valid.
 * Returns 0 or a negative errno; the kernel's words are in complaint.
 */
int transact(struct nl_msg *msg, nl_recvmsg_msg_cb_t valid, void *arg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int result = 1, err;

	if (!cb)
		die("no memory");
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &result);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &result);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_ack, &result);
	if (valid)
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, valid, arg);
	err = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	if (err < 0)
		die("cannot send: %s", nl_geterror(err));
	while (result > 0) {
		err = nl_recvmsgs(sock, cb);
		if (err < 0 && result > 0)
			die("cannot receive: %s", nl_geterror(err));
	}
	nl_cb_put(cb);
	return result;
}

int open_netns(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("network namespace '%s': %s", name, strerror(errno));
	return fd;
}

/*
 * All sockets and names from now on are those of the namespace; NULL is the one the
 * process was started in.
 */
void enter_netns(const char *name)
{
	static char current[256];
	static int first = -1;
	int fd;

	if (sock && !strcmp(name ?: "", current))
		return;
	if (first < 0 && name)
		first = open_netns("/proc/self/ns/net");
	if (name || first >= 0) {
		fd = name ? open_netns(name) : first;
		if (setns(fd, CLONE_NEWNET))
			die("cannot enter the network namespace '%s': %s", name ?: "",
			    strerror(errno));
		if (name)
			close(fd);
	}
	snprintf(current, sizeof(current), "%s", name ?: "");
	if (sock)
		nl_socket_free(sock);
	open_socket();
}

void finish(int err, const char *what, const char *name)
{
	if (err)
		die("cannot %s '%s': %s", what, name,
		    complaint[0] ? complaint : strerror(-err));
}

/* A request that begins with @body. */
struct nl_msg *new_message(int type, int flags, const void *body, size_t size)
{
	struct nl_msg *msg = nlmsg_alloc_size(16384);

	if (!msg || !nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type, size, flags))
		die("no memory");
	memcpy(nlmsg_data(nlmsg_hdr(msg)), body, size);
	return msg;
}

unsigned int index_of(const char *name)
{
	unsigned int index = if_nametoindex(name);

	if (!index)
		die("unknown device '%s'", name);
	return index;
}

int64_t get_s64(struct nlattr *attr)
{
	int64_t value = 0;

	if (attr && nla_len(attr) == sizeof(value))
		memcpy(&value, nla_data(attr), sizeof(value));
	return value;
}
