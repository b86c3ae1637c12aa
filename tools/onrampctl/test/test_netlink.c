// SPDX-License-Identifier: GPL-2.0
/* Tests of what onrampctl makes of the kernel's messages. */
#include <linux/gen_stats.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <string.h>

#include "collect.h"
#include "uapi/onramp.h"
#undef ARRAY_SIZE
#include "ktap.h"

void unknown(const char *fmt, ...)
{
	printf("Bail out! it would have ended: %s\n", fmt);
	abort();
}

static uint64_t seed = 20260923;

static uint32_t random_u32(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 32);
}

static struct nl_msg *link_message(void)
{
	struct ifinfomsg info = {
		.ifi_index = 7, .ifi_type = ARPHRD_ETHER, .ifi_flags = IFF_UP,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWLINK, 0);

	nlmsg_append(msg, &info, sizeof(info), NLMSG_ALIGNTO);
	nla_put_string(msg, IFLA_IFNAME, "eth7");
	nla_put_string(msg, IFLA_PARENT_DEV_NAME, "0000:00:03.0");
	nla_put_u32(msg, IFLA_MTU, 1500);
	nla_put_u32(msg, IFLA_GSO_MAX_SIZE, 65536);
	nla_put_u8(msg, IFLA_CARRIER, 1);
	return msg;
}

/* As the module fills it, with an attribute and a statistic of a release to come. */
static struct nl_msg *qdisc_message(void)
{
	struct gnet_stats_basic basic = { .bytes = 5000, .packets = 50 };
	struct gnet_stats_queue queue = { .qlen = 3, .backlog = 300, .drops = 2 };
	struct tcmsg tc = {
		.tcm_ifindex = 7, .tcm_handle = 0x80010000, .tcm_parent = 0x00010002,
	};
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWQDISC, 0);
	struct nlattr *nest, *inner;

	nlmsg_append(msg, &tc, sizeof(tc), NLMSG_ALIGNTO);
	nla_put_string(msg, TCA_KIND, "onramp");
	nest = nla_nest_start(msg, TCA_OPTIONS);
	nla_put_u32(msg, TCA_ONRAMP_VERSION, ONRAMP_UAPI_VERSION);
	nla_put_u64(msg, TCA_ONRAMP_LIMIT, 10000);
	nla_put_u64(msg, TCA_ONRAMP_WEIGHT0, 589824);
	nla_put_u64(msg, TCA_ONRAMP_MODE, 2);
	nla_put_u64(msg, TCA_ONRAMP_OWD, 99);
	nla_put_u64(msg, TCA_ONRAMP_THRESHOLD, 50000);
	nla_put_u64(msg, TCA_ONRAMP_LINE_RATE, 1250000000);
	nla_put_u64(msg, TCA_ONRAMP_GAIN, 62500);
	nla_put_u64(msg, TCA_ONRAMP_BOUND, 1);
	nla_put_u64(msg, TCA_ONRAMP_MAX + 1, 1);
	nla_nest_end(msg, nest);
	nest = nla_nest_start(msg, TCA_STATS2);
	nla_put(msg, TCA_STATS_BASIC, sizeof(basic), &basic);
	nla_put(msg, TCA_STATS_QUEUE, sizeof(queue), &queue);
	inner = nla_nest_start(msg, TCA_STATS_APP);
	nla_put_u64(msg, ONRAMP_STATS_PAUSES, 12);
	nla_put_u64(msg, ONRAMP_STATS_OWD_BASELINE_NS, (uint64_t)-5);
	nla_put_u64(msg, ONRAMP_STATS_SWING_NS, 9);
	nla_put_u64(msg, ONRAMP_STATS_MAX + 1, 1);
	nla_put_u32(msg, ONRAMP_STATS_ACKS, 1);
	nla_nest_end(msg, inner);
	nla_nest_end(msg, nest);
	return msg;
}

static void qdiscs_are_read(void)
{
	struct nl_msg *link = link_message(), *qdisc = qdisc_message();
	json_t *devices = json_object(), *dev, *q;

	/* Of a device that is not there. */
	rtnl_add(nlmsg_hdr(qdisc), devices);
	CHECK_EQ(json_object_size(devices), 0);
	rtnl_add(nlmsg_hdr(link), devices);
	rtnl_add(nlmsg_hdr(qdisc), devices);
	dev = json_object_get(devices, "eth7");
	CHECK(j_true(dev, "up") && j_true(dev, "wire") && j_true(dev, "carrier"));
	CHECK_EQ(j_int_or(dev, "gso_max_bytes", 0), 65536);
	q = json_object_get(json_object_get(dev, "qdiscs"), "1:2");
	CHECK(j_is(q, "kind", "onramp") && j_is(q, "handle", "8001:"));
	CHECK_EQ(j_int_or(q, "interface", 0), ONRAMP_UAPI_VERSION);
	CHECK_EQ(j_int_or(q, "options/limit_packets", 0), 10000);
	CHECK_EQ(j_int_or(q, "options/weight0_bytes", 0), 589824);
	CHECK_EQ(j_int_or(q, "options/threshold_ns", 0), 50000);
	CHECK_EQ(j_int_or(q, "options/line_rate_bytes_s", 0), 1250000000);
	CHECK_EQ(j_int_or(q, "options/gain_ppm", 0), 62500);
	CHECK(j_is(q, "options/mode", "off") && j_is(q, "options/owd", "unknown"));
	CHECK(j_true(q, "options/bound"));
	CHECK_EQ(json_object_size(j_get(q, "options")), 8);
	CHECK_EQ(j_int_or(q, "stats/pauses", 0), 12);
	CHECK_EQ(j_int_or(q, "stats/owd_baseline_ns", 0), -5);
	CHECK_EQ(j_int_or(q, "stats/swing_ns", 0), 9);
	CHECK(!j_get(q, "stats/acks"));
	CHECK_EQ(j_int_or(q, "stats/sent_bytes", 0), 5000);
	CHECK_EQ(j_int_or(q, "stats/dropped_packets", 0), 2);
	json_decref(devices);
	nlmsg_free(link);
	nlmsg_free(qdisc);
}

/* Whatever a kernel may say, as long as its length is right. */
static void random_messages_do_no_harm(void)
{
	struct nl_msg *link = link_message(), *qdisc = qdisc_message();
	json_t *devices = json_object();
	size_t i, k, n;

	rtnl_add(nlmsg_hdr(link), devices);
	for (i = 0; i < 30000; i++) {
		const struct nlmsghdr *from = nlmsg_hdr(i % 2 ? link : qdisc);
		struct nlmsghdr *hdr = malloc(from->nlmsg_len);
		json_t *copy = i % 4 < 2 ? json_incref(devices) : json_object();

		memcpy(hdr, from, from->nlmsg_len);
		n = 1 + random_u32() % 8;
		for (k = 0; k < n; k++)
			((uint8_t *)hdr)[NLMSG_HDRLEN + random_u32() %
					 (from->nlmsg_len - NLMSG_HDRLEN)] = (uint8_t)random_u32();
		if (i % 8 == 7)
			hdr->nlmsg_len = NLMSG_HDRLEN + random_u32() %
					 (from->nlmsg_len - NLMSG_HDRLEN);
		rtnl_add(hdr, copy);
		json_decref(copy);
		free(hdr);
	}
	CHECK(json_object_size(devices) >= 1);
	json_decref(devices);
	nlmsg_free(link);
	nlmsg_free(qdisc);
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(qdiscs_are_read),
		KTAP_CASE(random_messages_do_no_harm),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
