// SPDX-License-Identifier: GPL-2.0
/* Devices and qdiscs, by rtnetlink. */
#include <inttypes.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "uapi/onramp.h"

#include "collect.h"

/* IFLA_PARENT_DEV_NAME and _BUS_NAME of Linux 5.14, which the headers of Debian 11 lack. */
enum { LINK_PARENT_NAME = 56, LINK_PARENT_BUS, LINK_MAX = IFLA_MAX > 57 ? IFLA_MAX : 57 };

enum kind { COUNT, PACKETS, BYTES, RATE, TIME, US, NS, MASK, BOOL, PPM, WORD, GAUGE, SIGNED };

struct value {
	const char *name;
	enum kind kind;
};

static const struct value params[TCA_ONRAMP_MAX + 1] = {
#define ONRAMP_X(NAME, field, kind, ...)	\
	[TCA_ONRAMP_##NAME] = { #field, kind },
	ONRAMP_PARAMS
#undef ONRAMP_X
};

static const struct value stats[ONRAMP_STATS_MAX + 1] = {
#define ONRAMP_X(NAME, name, kind, ...)	\
	[ONRAMP_STATS_##NAME] = { #name, kind },
	ONRAMP_STATS
#undef ONRAMP_X
};

static const char * const mode_words[] = { ONRAMP_MODE_WORDS };
static const char * const owd_words[] = { ONRAMP_OWD_WORDS };
static const char * const clock_words[] = { ONRAMP_CLOCK_WORDS };
static const char * const forward_words[] = { ONRAMP_FORWARD_WORDS };

static json_t *word(const char * const *words, size_t n, uint64_t value)
{
	return json_string(value < n ? words[value] : "unknown");
}

/* The name of a setting with its unit. */
static void option_key(char *key, size_t size, const struct value *v)
{
	static const char * const units[] = {
		[PACKETS] = "_packets", [BYTES] = "_bytes", [RATE] = "_bytes_s", [TIME] = "_ns",
		[US] = "_ns", [NS] = "_ns", [PPM] = "_ppm", [SIGNED] = NULL,
	};
	const char *p;
	size_t n = 0;

	/* weight[0] is weight0. */
	for (p = v->name; *p && n + 1 < size; p++)
		if (*p != '[' && *p != ']')
			key[n++] = *p;
	snprintf(key + n, size - n, "%s", units[v->kind] ? units[v->kind] : "");
}

/*
 * onramp_options() - settings of a qdisc onramp
 * @options: TCA_OPTIONS
 * @interface: set to the version of the module's interface, if it tells one
 *
 * Return: an object, owned by the caller. Attributes that this program does not know are left out.
 */
static json_t *onramp_options(struct nlattr *options, int64_t *interface)
{
	json_t *o = json_object();
	struct nlattr *a;
	char key[64];
	int rest;

	nla_for_each_nested(a, options, rest) {
		const struct value *v;
		uint64_t value;
		json_t *shown;

		if (nla_type(a) == TCA_ONRAMP_VERSION && nla_len(a) >= 4)
			*interface = nla_get_u32(a);
		if (nla_type(a) < TCA_ONRAMP_FIRST || nla_type(a) > TCA_ONRAMP_MAX ||
		    nla_len(a) < (int)sizeof(value))
			continue;
		v = &params[nla_type(a)];
		value = nla_get_u64(a);
		option_key(key, sizeof(key), v);
		switch (nla_type(a)) {
		case TCA_ONRAMP_MODE:
			shown = word(mode_words, ARRAY_SIZE(mode_words), value);
			break;
		case TCA_ONRAMP_OWD:
			shown = word(owd_words, ARRAY_SIZE(owd_words), value);
			break;
		case TCA_ONRAMP_CLOCK:
			shown = word(clock_words, ARRAY_SIZE(clock_words), value);
			break;
		case TCA_ONRAMP_FORWARD:
			shown = word(forward_words, ARRAY_SIZE(forward_words), value);
			break;
		default:
			shown = v->kind == BOOL ? json_boolean(value) :
				json_integer((int64_t)value);
		}
		j_set(o, key, shown);
	}
	return o;
}

/*
 * onramp_stats() - statistics of a qdisc onramp
 * @nest: TCA_STATS_APP
 *
 * Return: an object, owned by the caller. Attributes that this program does not know are left out.
 */
static json_t *onramp_stats(struct nlattr *nest)
{
	json_t *o = json_object();
	struct nlattr *a;
	int rest;

	nla_for_each_nested(a, nest, rest) {
		const struct value *v;

		if (nla_type(a) < ONRAMP_STATS_FIRST || nla_type(a) > ONRAMP_STATS_MAX ||
		    nla_len(a) < 8)
			continue;
		v = &stats[nla_type(a)];
		if (v->kind == SIGNED)
			j_set(o, v->name, json_integer((int64_t)nla_get_u64(a)));
		else
			j_set_u64(o, v->name, nla_get_u64(a));
	}
	return o;
}

/* Kind of a device without hardware, and where it is in a stack of devices. */
static void link_place(json_t *dev, struct nlattr **tb)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];
	char kind[32];

	if (tb[IFLA_LINKINFO] &&
	    !nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) &&
	    info[IFLA_INFO_KIND]) {
		j_clean(kind, sizeof(kind), nla_data(info[IFLA_INFO_KIND]),
			(size_t)nla_len(info[IFLA_INFO_KIND]));
		j_set(dev, "kind", json_string(kind));
	}
	if (tb[LINK_PARENT_BUS]) {
		j_clean(kind, sizeof(kind), nla_data(tb[LINK_PARENT_BUS]),
			(size_t)nla_len(tb[LINK_PARENT_BUS]));
		j_set(dev, "bus", json_string(kind));
	}
	if (tb[IFLA_MASTER] && nla_len(tb[IFLA_MASTER]) >= 4)
		j_set(dev, "master", json_integer(nla_get_u32(tb[IFLA_MASTER])));
	/* The one below; a number of another namespace says nothing here. */
	if (tb[IFLA_LINK] && nla_len(tb[IFLA_LINK]) >= 4 && !tb[IFLA_LINK_NETNSID])
		j_set(dev, "link", json_integer(nla_get_u32(tb[IFLA_LINK])));
}

static void link_sent(json_t *dev, struct nlattr *a)
{
	struct rtnl_link_stats64 stats;

	/* Newer kernels append members. */
	if (!a || nla_len(a) < (int)offsetof(struct rtnl_link_stats64, rx_errors))
		return;
	memset(&stats, 0, sizeof(stats));
	memcpy(&stats, nla_data(a), offsetof(struct rtnl_link_stats64, rx_errors));
	j_set_u64(dev, "sent_packets", stats.tx_packets);
	j_set_u64(dev, "sent_bytes", stats.tx_bytes);
}

static void add_link(struct nlmsghdr *hdr, json_t *devices)
{
	const struct ifinfomsg *info;
	struct nlattr *tb[LINK_MAX + 1];
	json_t *dev;
	char name[IFNAMSIZ];

	if (hdr->nlmsg_len < NLMSG_LENGTH(sizeof(*info)) ||
	    nlmsg_parse(hdr, sizeof(*info), tb, LINK_MAX, NULL) < 0 || !tb[IFLA_IFNAME])
		return;
	info = nlmsg_data(hdr);
	j_clean(name, sizeof(name), nla_data(tb[IFLA_IFNAME]), (size_t)nla_len(tb[IFLA_IFNAME]));
	dev = json_object();
	j_set(dev, "ifindex", json_integer(info->ifi_index));
	j_set(dev, "up", json_boolean(info->ifi_flags & IFF_UP));
	j_set(dev, "loopback", json_boolean(info->ifi_type == ARPHRD_LOOPBACK));
	j_set(dev, "ether", json_boolean(info->ifi_type == ARPHRD_ETHER));
	j_set(dev, "wire",
	      json_boolean(tb[LINK_PARENT_NAME] && info->ifi_type == ARPHRD_ETHER));
	if (tb[IFLA_CARRIER] && nla_len(tb[IFLA_CARRIER]) >= 1)
		j_set(dev, "carrier", json_boolean(nla_get_u8(tb[IFLA_CARRIER])));
	if (tb[IFLA_MTU] && nla_len(tb[IFLA_MTU]) >= 4)
		j_set_u64(dev, "mtu_bytes", nla_get_u32(tb[IFLA_MTU]));
	if (tb[IFLA_GSO_MAX_SIZE] && nla_len(tb[IFLA_GSO_MAX_SIZE]) >= 4)
		j_set_u64(dev, "gso_max_bytes", nla_get_u32(tb[IFLA_GSO_MAX_SIZE]));
	link_place(dev, tb);
	link_sent(dev, tb[IFLA_STATS64]);
	j_set(dev, "qdiscs", json_object());
	j_set(devices, name, dev);
}

static void handle_text(char *s, size_t size, uint32_t handle)
{
	if (handle == TC_H_ROOT)
		snprintf(s, size, "root");
	else if (TC_H_MAJ(handle) && TC_H_MIN(handle))
		snprintf(s, size, "%x:%x", TC_H_MAJ(handle) >> 16, TC_H_MIN(handle));
	else if (!TC_H_MIN(handle))
		snprintf(s, size, "%x:", TC_H_MAJ(handle) >> 16);
	else
		snprintf(s, size, ":%x", TC_H_MIN(handle));
}

static json_t *device_of(json_t *devices, int ifindex)
{
	const char *name;
	json_t *dev;

	json_object_foreach(devices, name, dev)
		if (j_int_or(dev, "ifindex", 0) == ifindex)
			return dev;
	return NULL;
}

static void qdisc_stats(json_t *q, struct nlattr *nest)
{
	struct nlattr *tb[TCA_STATS_MAX + 1];
	struct gnet_stats_basic basic;
	struct gnet_stats_queue queue;
	json_t *o = NULL;

	if (nla_parse_nested(tb, TCA_STATS_MAX, nest, NULL) < 0)
		return;
	if (tb[TCA_STATS_APP] && j_is(q, "kind", "onramp"))
		o = onramp_stats(tb[TCA_STATS_APP]);
	if (!o)
		o = json_object();
	if (tb[TCA_STATS_BASIC] && nla_len(tb[TCA_STATS_BASIC]) >= 12) {
		memcpy(&basic, nla_data(tb[TCA_STATS_BASIC]), 12);
		j_set_u64(o, "sent_bytes", basic.bytes);
		/* 32 bits, and wraps; newer kernels have all of it beside. */
		if (tb[TCA_STATS_PKT64] && nla_len(tb[TCA_STATS_PKT64]) >= 8)
			j_set_u64(o, "sent_packets", nla_get_u64(tb[TCA_STATS_PKT64]));
		else
			j_set_u64(o, "sent_packets", basic.packets);
	}
	if (tb[TCA_STATS_QUEUE] && nla_len(tb[TCA_STATS_QUEUE]) >= (int)sizeof(queue)) {
		memcpy(&queue, nla_data(tb[TCA_STATS_QUEUE]), sizeof(queue));
		j_set_u64(o, "queued_packets", queue.qlen);
		j_set_u64(o, "queued_bytes", queue.backlog);
		j_set_u64(o, "dropped_packets", queue.drops);
		j_set_u64(o, "requeued_packets", queue.requeues);
	}
	j_set(q, "stats", o);
}

static void add_qdisc(struct nlmsghdr *hdr, json_t *devices)
{
	const struct tcmsg *tc;
	struct nlattr *tb[TCA_MAX + 1];
	json_t *dev, *q;
	char text[32];
	int64_t interface = 0;

	if (hdr->nlmsg_len < NLMSG_LENGTH(sizeof(*tc)) ||
	    nlmsg_parse(hdr, sizeof(*tc), tb, TCA_MAX, NULL) < 0 || !tb[TCA_KIND])
		return;
	tc = nlmsg_data(hdr);
	dev = device_of(devices, tc->tcm_ifindex);
	if (!dev)
		return;
	q = json_object();
	j_clean(text, sizeof(text), nla_data(tb[TCA_KIND]), (size_t)nla_len(tb[TCA_KIND]));
	j_set(q, "kind", json_string(text));
	handle_text(text, sizeof(text), tc->tcm_handle);
	j_set(q, "handle", json_string(text));
	if (tb[TCA_OPTIONS] && j_is(q, "kind", "onramp"))
		j_set(q, "options", onramp_options(tb[TCA_OPTIONS], &interface));
	if (interface)
		j_set(q, "interface", json_integer(interface));
	if (tb[TCA_STATS2])
		qdisc_stats(q, tb[TCA_STATS2]);
	handle_text(text, sizeof(text), tc->tcm_parent);
	j_set(json_object_get(dev, "qdiscs"), text, q);
}

/**
 * rtnl_add() - add the facts of a message to the devices
 * @hdr: RTM_NEWLINK, or RTM_NEWQDISC of a device that is there already; others change nothing
 * @devices: name -> facts
 */
void rtnl_add(struct nlmsghdr *hdr, json_t *devices)
{
	if (hdr->nlmsg_type == RTM_NEWLINK)
		add_link(hdr, devices);
	else if (hdr->nlmsg_type == RTM_NEWQDISC)
		add_qdisc(hdr, devices);
}

static void on_message(struct nlmsghdr *hdr, void *arg)
{
	rtnl_add(hdr, arg);
}

bool rtnl_devices(json_t *devices)
{
	struct ifinfomsg link = { .ifi_family = AF_UNSPEC };
	struct tcmsg qdisc = { .tcm_family = AF_UNSPEC };

	return !netlink_dump(NETLINK_ROUTE, RTM_GETLINK, &link, sizeof(link), on_message,
			     devices) &&
	       !netlink_dump(NETLINK_ROUTE, RTM_GETQDISC, &qdisc, sizeof(qdisc), on_message,
			     devices);
}
