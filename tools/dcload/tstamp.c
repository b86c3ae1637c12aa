// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <linux/errqueue.h>
#include <linux/net_tstamp.h>
#include <linux/netlink.h>
#include <linux/tcp.h>

#include "dcload.h"
#include "tstamp.h"

/* Since Linux 6.2; older C library headers lack it. */
#define OPT_ID_TCP	(1 << 16)

/**
 * rtt_room() - can one more sample be under way
 * @t: tracker
 */
bool rtt_room(const struct rtt_tracker *t)
{
	return t->count < RTT_PENDING;
}

static struct rtt_pending *pending(struct rtt_tracker *t, unsigned int i)
{
	return &t->ring[(t->head + i) % RTT_PENDING];
}

static void forget_oldest(struct rtt_tracker *t)
{
	t->head = (t->head + 1) % RTT_PENDING;
	t->count--;
}

/**
 * rtt_expect() - a stamped write was made
 * @t: tracker; without room, the oldest sample is forgotten
 * @id: offset of the write's last byte
 *
 * Return: number of samples forgotten.
 */
unsigned int rtt_expect(struct rtt_tracker *t, uint32_t id)
{
	unsigned int lost = 0;

	if (!rtt_room(t)) {
		forget_oldest(t);
		lost = 1;
	}
	*pending(t, t->count++) = (struct rtt_pending){ .id = id };
	return lost;
}

/**
 * rtt_transmitted() - process a transmit timestamp
 * @t: tracker
 * @ev: the timestamp
 */
void rtt_transmitted(struct rtt_tracker *t, const struct rtt_event *ev)
{
	unsigned int i;

	for (i = 0; i < t->count; i++) {
		struct rtt_pending *p = pending(t, i);

		if (p->id != ev->id)
			continue;
		if (!p->n_tx++) {
			p->tx_ns = ev->real_ns;
			p->tx = ev->stats;
		}
		return;
	}
}

/**
 * rtt_acked() - process an ACK timestamp
 * @t: tracker
 * @ev: the timestamp
 * @sample: result, if the verdict is RTT_VALID
 * @lost: samples older than this one that will never get their ACK timestamp:
 *	TCP reports them in order
 *
 * Return: the verdict about the sample.
 */
enum rtt_verdict rtt_acked(struct rtt_tracker *t, const struct rtt_event *ev,
			   struct rtt_sample *sample, unsigned int *lost)
{
	struct rtt_pending p;
	unsigned int i;

	*lost = 0;
	for (i = 0; i < t->count; i++)
		if (pending(t, i)->id == ev->id)
			break;
	if (i == t->count)
		return RTT_UNKNOWN;

	p = *pending(t, i);
	*lost = i;
	for (i++; i; i--)
		forget_oldest(t);

	if (!p.n_tx)
		return RTT_NO_TX;
	if (p.n_tx > 1 || p.tx.retrans != ev->stats.retrans)
		return RTT_RETRANS;
	/* A stepped real time clock. */
	if (ev->real_ns < p.tx_ns)
		return RTT_UNKNOWN;
	*sample = (struct rtt_sample){
		.rtt_ns = ev->real_ns - p.tx_ns,
		.delivered = ev->stats.delivered - p.tx.delivered,
		.delivered_ce = ev->stats.delivered_ce - p.tx.delivered_ce,
	};
	return RTT_VALID;
}

/**
 * tstamp_enable() - have a socket report timestamps
 * @fd: TCP socket, connected, nothing written yet: ids count from here
 */
void tstamp_enable(int fd)
{
	int flags = SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_OPT_ID |
		    SOF_TIMESTAMPING_OPT_TSONLY | SOF_TIMESTAMPING_OPT_STATS;
	int with_tcp = flags | OPT_ID_TCP;

	if (!setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &with_tcp,
			sizeof(with_tcp)))
		return;
	/*
	 * Before 6.2 ids count from the oldest byte not acknowledged, which is
	 * the same as long as nothing was written.
	 */
	if (setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags)))
		die("cannot turn on transmit timestamps: %s", strerror(errno));
}

/**
 * tstamp_send() - write, and request a timestamp of the last byte
 * @fd: socket given to tstamp_enable()
 * @buf: data
 * @len: bytes
 * @from_qdisc: timestamp at the qdisc, not at the driver
 * @flags: of sendmsg(2)
 *
 * Return: as send(2).
 */
long tstamp_send(int fd, const void *buf, unsigned long len, bool from_qdisc, int flags)
{
	union {
		char buf[CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control;
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control.buf),
	};
	uint32_t want = SOF_TIMESTAMPING_TX_ACK;
	struct cmsghdr *cm;

	want |= from_qdisc ? SOF_TIMESTAMPING_TX_SCHED :
			     SOF_TIMESTAMPING_TX_SOFTWARE;
	memset(&control, 0, sizeof(control));
	cm = CMSG_FIRSTHDR(&msg);
	cm->cmsg_level = SOL_SOCKET;
	cm->cmsg_type = SO_TIMESTAMPING;
	cm->cmsg_len = CMSG_LEN(sizeof(want));
	memcpy(CMSG_DATA(cm), &want, sizeof(want));
	return sendmsg(fd, &msg, flags);
}

/**
 * rtt_read_stats() - find the counters among the attributes of a timestamp
 * @attrs: netlink attributes, as SCM_TIMESTAMPING_OPT_STATS has them
 * @len: bytes
 * @out: result; what is missing is 0
 */
void rtt_read_stats(const void *attrs, size_t len, struct rtt_stats *out)
{
	const char *p = attrs;

	memset(out, 0, sizeof(*out));
	while (len >= NLA_HDRLEN) {
		uint32_t *to = NULL;
		struct nlattr nla;
		size_t step;

		memcpy(&nla, p, sizeof(nla));
		if (nla.nla_len < NLA_HDRLEN || nla.nla_len > len)
			break;
		if (nla.nla_type == TCP_NLA_TOTAL_RETRANS)
			to = &out->retrans;
		else if (nla.nla_type == TCP_NLA_DELIVERED)
			to = &out->delivered;
		else if (nla.nla_type == TCP_NLA_DELIVERED_CE)
			to = &out->delivered_ce;
		if (to && nla.nla_len >= NLA_HDRLEN + sizeof(*to))
			memcpy(to, p + NLA_HDRLEN, sizeof(*to));
		step = (size_t)NLA_ALIGN(nla.nla_len);
		if (step > len)
			break;
		len -= step;
		p += step;
	}
}

/**
 * tstamp_read() - take one message from a socket's error queue
 * @fd: socket
 * @ev: result
 *
 * Return: 1 for a timestamp or the end of zero-copy writes, 0 for another message, -1 if the
 * queue is empty.
 */
int tstamp_read(int fd, struct rtt_event *ev)
{
	union {
		char buf[1024];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_control = &control,
		.msg_controllen = sizeof(control.buf),
	};
	const struct sock_extended_err *ee = NULL;
	const struct scm_timestamping *ts = NULL;
	struct cmsghdr *cm;

	if (recvmsg(fd, &msg, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return -1;

	memset(&ev->stats, 0, sizeof(ev->stats));
	for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm)) {
		if (cm->cmsg_level == SOL_SOCKET &&
		    cm->cmsg_type == SO_TIMESTAMPING)
			ts = (const void *)CMSG_DATA(cm);
		else if (cm->cmsg_level == SOL_SOCKET &&
			 cm->cmsg_type == SCM_TIMESTAMPING_OPT_STATS)
			rtt_read_stats(CMSG_DATA(cm), cm->cmsg_len - CMSG_LEN(0),
				       &ev->stats);
		else if ((cm->cmsg_level == SOL_IP &&
			  cm->cmsg_type == IP_RECVERR) ||
			 (cm->cmsg_level == SOL_IPV6 &&
			  cm->cmsg_type == IPV6_RECVERR))
			ee = (const void *)CMSG_DATA(cm);
	}
	if (ee && ee->ee_origin == SO_EE_ORIGIN_ZEROCOPY) {
		/* Of the first and the last write, inclusive; numbers wrap. */
		ev->type = ee->ee_code & SO_EE_CODE_ZEROCOPY_COPIED ?
			   RTT_EV_COPIED : RTT_EV_ZEROCOPY;
		ev->id = ee->ee_data - ee->ee_info + 1;
		return 1;
	}
	if (!ts || !ee || ee->ee_origin != SO_EE_ORIGIN_TIMESTAMPING)
		return 0;

	ev->type = ee->ee_info == SCM_TSTAMP_ACK ? RTT_EV_ACK : RTT_EV_TX;
	ev->id = ee->ee_data;
	ev->real_ns = (uint64_t)ts->ts[0].tv_sec * NSEC_PER_SEC +
		      (uint64_t)ts->ts[0].tv_nsec;
	return 1;
}
