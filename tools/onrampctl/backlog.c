// SPDX-License-Identifier: GPL-2.0
/* The device that a connection leaves by, and whether packets wait for it. */
#include <arpa/inet.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <string.h>
#include <sys/socket.h>

#include "collect.h"
#include "uapi/onramp.h"

static void on_route(struct nlmsghdr *hdr, void *arg)
{
	struct nlattr *tb[RTA_MAX + 1];

	if (hdr->nlmsg_type == RTM_NEWROUTE &&
	    !nlmsg_parse(hdr, sizeof(struct rtmsg), tb, RTA_MAX, NULL) && tb[RTA_OIF] &&
	    nla_len(tb[RTA_OIF]) >= 4)
		*(uint32_t *)arg = nla_get_u32(tb[RTA_OIF]);
}

/**
 * route_device() - tell which device packets leave by
 * @r: packets
 *
 * Return: its index; 0 if there is no route, or it is not known.
 */
uint32_t route_device(const struct route *r)
{
	uint8_t len = r->family == AF_INET ? 4 : 16;
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_GETROUTE, 0);
	struct rtmsg route = {
		.rtm_family = (uint8_t)r->family, .rtm_dst_len = len * 8,
		.rtm_src_len = r->local ? len * 8 : 0,
	};
	uint32_t ifindex = 0;

	if (!msg)
		die_unknown("out of memory");
	nlmsg_append(msg, &route, sizeof(route), NLMSG_ALIGNTO);
	nla_put(msg, RTA_DST, len, r->remote);
	if (r->local)
		nla_put(msg, RTA_SRC, len, r->local);
	if (r->oif)
		nla_put_u32(msg, RTA_OIF, r->oif);
	if (r->mark)
		nla_put_u32(msg, RTA_MARK, r->mark);
	if (r->protocol) {
		nla_put_u8(msg, RTA_IP_PROTO, r->protocol);
		nla_put_u16(msg, RTA_SPORT, htons(r->lport));
		nla_put_u16(msg, RTA_DPORT, htons(r->rport));
	}
	netlink_get(NETLINK_ROUTE, RTM_GETROUTE, nlmsg_data(nlmsg_hdr(msg)),
		    (size_t)nlmsg_datalen(nlmsg_hdr(msg)), on_route, &ifindex);
	nlmsg_free(msg);
	return ifindex;
}

/* backlog_route() - the same for packets of any kind to a host */
uint32_t backlog_route(int family, const uint8_t *remote)
{
	return route_device(&(struct route) { .family = family, .remote = remote });
}

/* Flows with packets whose time to send has come. */
static uint64_t ready_flows(uint64_t flows, uint64_t inactive, uint64_t throttled)
{
	return flows > inactive + throttled ? flows - inactive - throttled : 0;
}

/**
 * backlog_add() - add a qdisc to what is known of its device
 * @hdr: RTM_NEWQDISC; others, and those of other devices, change nothing
 * @b: device
 */
void backlog_add(struct nlmsghdr *hdr, struct backlog *b)
{
	struct nlattr *tb[TCA_MAX + 1], *st[TCA_STATS_MAX + 1], *app[ONRAMP_STATS_MAX + 1];
	struct gnet_stats_queue queue;
	const struct tcmsg *tc;

	if (hdr->nlmsg_type != RTM_NEWQDISC || hdr->nlmsg_len < NLMSG_LENGTH(sizeof(*tc)))
		return;
	tc = nlmsg_data(hdr);
	if ((uint32_t)tc->tcm_ifindex != b->ifindex ||
	    nlmsg_parse(hdr, sizeof(*tc), tb, TCA_MAX, NULL) || !tb[TCA_KIND] ||
	    !tb[TCA_STATS2] || nla_parse_nested(st, TCA_STATS_MAX, tb[TCA_STATS2], NULL))
		return;
	if (tc->tcm_parent == TC_H_ROOT && st[TCA_STATS_QUEUE] &&
	    nla_len(st[TCA_STATS_QUEUE]) >= (int)sizeof(queue)) {
		memcpy(&queue, nla_data(st[TCA_STATS_QUEUE]), sizeof(queue));
		b->packets += queue.qlen;
	}
	if (!st[TCA_STATS_APP])
		return;
	if (!nla_strcmp(tb[TCA_KIND], "fq") &&
	    nla_len(st[TCA_STATS_APP]) >= (int)sizeof(struct tc_fq_qd_stats)) {
		struct tc_fq_qd_stats fq;

		memcpy(&fq, nla_data(st[TCA_STATS_APP]), sizeof(fq));
		b->paced = true;
		b->ready += ready_flows(fq.flows, fq.inactive_flows, fq.throttled_flows);
	} else if (!nla_strcmp(tb[TCA_KIND], "onramp") &&
		   !nla_parse_nested(app, ONRAMP_STATS_MAX, st[TCA_STATS_APP], NULL)) {
		static const int attrs[] = {
			ONRAMP_STATS_FLOWS, ONRAMP_STATS_INACTIVE, ONRAMP_STATS_FLOWS_THROTTLED,
		};
		uint64_t v[ARRAY_SIZE(attrs)] = { 0 };
		size_t i;

		for (i = 0; i < ARRAY_SIZE(attrs); i++)
			if (app[attrs[i]] && nla_len(app[attrs[i]]) >= 8)
				v[i] = nla_get_u64(app[attrs[i]]);
		b->paced = true;
		b->ready += ready_flows(v[0], v[1], v[2]);
	}
}

/* backlog_waits() - packets wait for the device, not for their own time to send */
bool backlog_waits(const struct backlog *b)
{
	return b->packets && (!b->paced || b->ready);
}

static void on_qdisc(struct nlmsghdr *hdr, void *arg)
{
	backlog_add(hdr, arg);
}

/**
 * backlog_now() - tell whether packets wait in the qdisc of a device for the device
 * @ifindex: device; 0 has none
 *
 * Packets that wait for their time to send, as fq and onramp hold them, do not count.
 */
bool backlog_now(uint32_t ifindex)
{
	struct tcmsg tc = { .tcm_family = AF_UNSPEC, .tcm_ifindex = (int)ifindex };
	struct backlog b = { .ifindex = ifindex };

	return ifindex &&
	       !netlink_dump(NETLINK_ROUTE, RTM_GETQDISC, &tc, sizeof(tc), on_qdisc, &b) &&
	       backlog_waits(&b);
}
