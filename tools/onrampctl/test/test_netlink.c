// SPDX-License-Identifier: GPL-2.0
/* Tests of what onrampctl makes of the kernel's messages. */
#include <arpa/inet.h>
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
#include "family.h"
#include "monitor.h"
#include "uapi/onramp.h"
#include "uapi/onramp_genl.h"
#include "uapi/timely.h"
#undef ARRAY_SIZE
#include "ktap.h"

void die_unknown(const char *fmt, ...)
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

static const uint8_t here[4] = { 10, 0, 1, 2 }, there[16] = { 0x20, 0x01, 0xd, 0xb8, [15] = 9 };

/* A connection, with an attribute of a release to come. */
static struct nl_msg *flow_message(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);
	struct nlattr *nest;

	nla_put_u16(msg, ONRAMP_A_CONN_FAMILY, AF_INET);
	nla_put(msg, ONRAMP_A_CONN_LOCAL, 4, here);
	nla_put(msg, ONRAMP_A_CONN_REMOTE, 4, (uint8_t[]){ 10, 0, 3, 9 });
	nla_put_u16(msg, ONRAMP_A_CONN_LPORT, htons(51044));
	nla_put_u16(msg, ONRAMP_A_CONN_RPORT, htons(443));
	nla_put_u32(msg, ONRAMP_A_CONN_IFINDEX, 7);
	nla_put_u64(msg, ONRAMP_A_CONN_PAUSE_LEFT_NS, 1500);
	nla_put_u8(msg, ONRAMP_A_CONN_WAITING, 1);
	nla_put_u32(msg, ONRAMP_A_CONN_BETA, 250000);
	nla_put_u64(msg, ONRAMP_A_CONN_OWD_NS, 74000);
	nla_put_u64(msg, ONRAMP_A_CONN_PAUSES, 212);
	nla_put_u64(msg, ONRAMP_A_CONN_PAUSED_NS, UINT64_MAX);
	nest = nla_nest_start(msg, ONRAMP_A_CONN_VERDICTS);
	nla_put_u64(msg, ONRAMP_A_VERDICT_NOT_IN_FLIGHT, 3);
	nla_put_u64(msg, ONRAMP_A_VERDICT_MAX + 1, 3);
	nla_nest_end(msg, nest);
	nla_put_u64(msg, ONRAMP_A_CONN_LINE_RATE, 1250000000);
	/* Of another length than it should have. */
	nla_put_u16(msg, ONRAMP_A_CONN_MSS, 1448);
	nla_put_u64(msg, ONRAMP_A_CONN_MAX + 1, 1);
	return msg;
}

static struct nl_msg *path_message(void)
{
	struct nl_msg *msg = nlmsg_alloc_simple(0, 0);

	nla_put(msg, ONRAMP_A_PATH_LOCAL, 16, there);
	nla_put(msg, ONRAMP_A_PATH_REMOTE, 16, there);
	nla_put_u8(msg, ONRAMP_A_PATH_STATE, ONRAMP_PATH_SILENT);
	nla_put_u8(msg, ONRAMP_A_PATH_BASELINE, 99);
	nla_put_u8(msg, ONRAMP_A_PATH_EVENT, ONRAMP_EVENT_SUPPORT_LOST);
	nla_put_u32(msg, ONRAMP_A_PATH_COEXIST_SHARE, 125000);
	nla_put_u64(msg, ONRAMP_A_PATH_OWD_BASELINE_NS, (uint64_t)-5);
	nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_RTT_NS, UINT32_MAX);
	nla_put_u64(msg, ONRAMP_A_PATH_EMPTY_AGE_NS, 86400000000000);
	nla_put_u8(msg, ONRAMP_A_PATH_EMPTY_HOW, ONRAMP_EMPTY_CHANGED);
	nla_put_u8(msg, ONRAMP_A_PATH_EMPTY_KIND, ONRAMP_EMPTY_OR_ACK);
	nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_LONGER, 3);
	return msg;
}

static json_t *row_of(enum family_what what, struct nl_msg *msg)
{
	return family_row(what, nlmsg_attrdata(nlmsg_hdr(msg), 0),
			  nlmsg_attrlen(nlmsg_hdr(msg), 0));
}

static void objects_are_read(void)
{
	struct nl_msg *flow = flow_message(), *path = path_message(),
		      *sock = nlmsg_alloc_simple(0, 0);
	struct pauses p;
	json_t *row;

	row = row_of(FAMILY_FLOWS, flow);
	CHECK(j_is(row, "local", "10.0.1.2") && j_is(row, "remote", "10.0.3.9"));
	CHECK_EQ(j_int_or(row, "local_port", 0), 51044);
	CHECK_EQ(j_int_or(row, "remote_port", 0), 443);
	CHECK_EQ(j_int_or(row, "pause_left_ns", 0), 1500);
	CHECK(j_true(row, "waiting"));
	CHECK(json_real_value(j_get(row, "beta")) == 0.25);
	CHECK_EQ(j_int_or(row, "paused_ns", 0), INT64_MAX);
	CHECK_EQ(j_int_or(row, "verdicts/not_in_flight", 0), 3);
	CHECK_EQ(json_object_size(j_get(row, "verdicts")), 1);
	CHECK_EQ(j_int_or(row, "line_rate_bit_s", 0), 10000000000);
	CHECK(!j_get(row, "mss_bytes"));
	CHECK_EQ(json_object_size(row), 13);
	json_decref(row);
	CHECK(family_pauses(&p, nlmsg_attrdata(nlmsg_hdr(flow), 0),
			    nlmsg_attrlen(nlmsg_hdr(flow), 0)));
	CHECK(p.key.family == AF_INET && !memcmp(p.key.local, here, 4));
	CHECK(p.key.lport == 51044 && p.key.rport == 443 && p.ifindex == 7);
	CHECK(p.pauses == 212 && p.pause_left_ns == 1500 && p.waiting && p.has_delay);
	CHECK_EQ(p.delay_ns, 74000);
	row = row_of(FAMILY_PATHS, path);
	CHECK(j_is(row, "remote", "2001:db8::9") && j_is(row, "state", "silent"));
	/* Of a release to come. */
	CHECK(j_is(row, "baseline", "unknown"));
	CHECK(j_is(row, "event", "support_lost"));
	CHECK(json_real_value(j_get(row, "let_go_share")) == 0.125);
	CHECK_EQ(j_int_or(row, "baseline_ns", 0), -5);
	CHECK_EQ(j_int_or(row, "empty_rtt_ns", 0), UINT32_MAX);
	CHECK_EQ(j_int_or(row, "empty_age_ns", 0), 86400000000000);
	CHECK(j_is(row, "empty_how", "changed") && j_is(row, "empty_kind", "or_ack"));
	CHECK_EQ(j_int_or(row, "empty_longer", 0), 3);
	CHECK(!j_get(row, "empty_shorter"));
	json_decref(row);
	/* Without ports. */
	CHECK(!family_pauses(&p, nlmsg_attrdata(nlmsg_hdr(path), 0),
			     nlmsg_attrlen(nlmsg_hdr(path), 0)));
	nla_put_u64(sock, TIMELY_A_SOCK_RATE, 125000000);
	nla_put_u32(sock, TIMELY_A_SOCK_GRADIENT, (uint32_t)-500000);
	nla_put_u8(sock, TIMELY_A_SOCK_SOURCE, TIMELY_SRC_MAPPED);
	row = row_of(FAMILY_TIMELY, sock);
	CHECK_EQ(j_int_or(row, "rate_bit_s", 0), 1000000000);
	CHECK(json_real_value(j_get(row, "gradient")) == -0.5);
	CHECK(j_is(row, "source", "mapped"));
	json_decref(row);
	nlmsg_free(flow);
	nlmsg_free(path);
	nlmsg_free(sock);
}

/* The queue of device 7: at its root @kind, with that many packets; flows of fq or onramp. */
static bool waits(const char *kind, uint32_t packets, uint32_t flows, uint32_t inactive,
		  uint32_t throttled)
{
	struct gnet_stats_queue queue = { .qlen = packets };
	struct tc_fq_qd_stats fq = {
		.flows = flows, .inactive_flows = inactive, .throttled_flows = throttled,
	};
	struct tcmsg tc = { .tcm_ifindex = 7, .tcm_parent = TC_H_ROOT };
	struct nl_msg *msg = nlmsg_alloc_simple(RTM_NEWQDISC, 0);
	struct backlog b = { .ifindex = 7 }, other = { .ifindex = 8 };
	struct nlattr *nest, *inner;

	nlmsg_append(msg, &tc, sizeof(tc), NLMSG_ALIGNTO);
	nla_put_string(msg, TCA_KIND, kind);
	nest = nla_nest_start(msg, TCA_STATS2);
	nla_put(msg, TCA_STATS_QUEUE, sizeof(queue), &queue);
	if (!strcmp(kind, "fq")) {
		nla_put(msg, TCA_STATS_APP, sizeof(fq), &fq);
	} else if (!strcmp(kind, "onramp")) {
		inner = nla_nest_start(msg, TCA_STATS_APP);
		nla_put_u64(msg, ONRAMP_STATS_FLOWS, flows);
		nla_put_u64(msg, ONRAMP_STATS_INACTIVE, inactive);
		nla_put_u64(msg, ONRAMP_STATS_FLOWS_THROTTLED, throttled);
		nla_nest_end(msg, inner);
	}
	nla_nest_end(msg, nest);
	backlog_add(nlmsg_hdr(msg), &b);
	backlog_add(nlmsg_hdr(msg), &other);
	CHECK(!backlog_waits(&other));
	nlmsg_free(msg);
	return backlog_waits(&b);
}

static void queues_of_a_device(void)
{
	CHECK(waits("pfifo_fast", 1, 0, 0, 0));
	CHECK(!waits("pfifo_fast", 0, 0, 0, 0));
	CHECK(waits("fq", 5, 10, 8, 1));
	/* All that wait do so for their time to send. */
	CHECK(!waits("fq", 5, 10, 8, 2));
	CHECK(waits("onramp", 5, 10, 8, 1));
	CHECK(!waits("onramp", 5, 10, 8, 2));
	CHECK(!waits("onramp", 0, 10, 8, 1));
	/* Counters are read one after the other. */
	CHECK(!waits("onramp", 5, 10, 9, 2));
}

/* A line each, with or without words for it. */
static void events_are_lines(void)
{
	static const struct {
		const char *event, *line;
	} cases[] = {
		{ "{\"local\": \"10.0.1.2\", \"remote\": \"10.0.3.9\", \"event\": \"heard\"}",
		  " 10.0.1.2 -> 10.0.3.9  heard: OR-ACKs come\n" },
		{ "{\"ifindex\": 999999, \"event\": \"map_lost\"}",
		  " device 999999  map_lost: no valid map of the NIC's clock any more\n" },
		{ "{\"remote\": \"::1\", \"event\": \"now\", \"state\": \"silent\"}",
		  " ? -> ::1  now: after lost events: its state silent\n" },
		{ "{\"remote\": \"::1\", \"event\": \"unknown\"}", " ? -> ::1  unknown\n" },
		{ "{}", " device 0  unknown\n" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		json_t *event = json_loads(cases[i].event, 0, NULL);
		char *text = NULL;
		size_t size;
		FILE *f = open_memstream(&text, &size);

		j_set(event, "time_ms", json_integer(1800000000123));
		monitor_line(f, event);
		fclose(f);
		ktap_row = cases[i].event;
		CHECK(strlen(text) > 12 && !memcmp(text + 8, ".123", 4));
		CHECK(!strcmp(text + 12, cases[i].line));
		ktap_row = NULL;
		free(text);
		json_decref(event);
	}
}

/* An event of a path with all attributes that there are, each of a length that is right for it. */
static json_t *full_event(uint8_t event)
{
	static const int lengths[] = { 1, 2, 4, 8, 16 };
	static const uint8_t value[16] = { 1 };
	json_t *all = json_object(), *row;
	struct nl_msg *msg;
	int attr, i;

	for (attr = 1; attr <= ONRAMP_A_PATH_MAX; attr++)
		for (i = 0; i < (int)ARRAY_SIZE(lengths); i++) {
			msg = nlmsg_alloc_simple(0, 0);
			nla_put(msg, attr, lengths[i], value);
			if (attr == ONRAMP_A_PATH_EVENT)
				*(uint8_t *)nla_data(nlmsg_attrdata(nlmsg_hdr(msg), 0)) = event;
			row = row_of(FAMILY_PATHS, msg);
			json_object_update(all, row);
			json_decref(row);
			nlmsg_free(msg);
		}
	j_set(all, "time_ms", json_integer(1800000000123));
	return all;
}

/* Write such events as monitor does, for test/cli. Return the exit status. */
static int write_events(void)
{
	int event;

	for (event = 1; event <= ONRAMP_EVENT_MAP_LOST + 1; event++) {
		json_t *row = full_event((uint8_t)event);

		if (json_dumpf(row, stdout, JSON_COMPACT | JSON_ENSURE_ASCII))
			return 1;
		putchar('\n');
		json_decref(row);
	}
	return 0;
}

static void random_objects_do_no_harm(void)
{
	struct nl_msg *flow = flow_message(), *path = path_message();
	size_t i, k, n;

	for (i = 0; i < 30000; i++) {
		struct nlmsghdr *from = nlmsg_hdr(i % 2 ? flow : path);
		int len = nlmsg_attrlen(from, 0);
		uint8_t *data = malloc((size_t)len);
		struct pauses p;
		json_t *row;

		memcpy(data, nlmsg_attrdata(from, 0), (size_t)len);
		n = 1 + random_u32() % 8;
		for (k = 0; k < n; k++)
			data[random_u32() % (uint32_t)len] = (uint8_t)random_u32();
		if (i % 8 == 7)
			len = (int)(random_u32() % (uint32_t)len);
		for (k = 0; k <= FAMILY_TIMELY; k++) {
			row = family_row((enum family_what)k, (struct nlattr *)data, len);
			CHECK(json_is_object(row));
			json_decref(row);
		}
		family_pauses(&p, (struct nlattr *)data, len);
		free(data);
	}
	nlmsg_free(flow);
	nlmsg_free(path);
}

int main(int argc, char **argv)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(qdiscs_are_read),
		KTAP_CASE(random_messages_do_no_harm),
		KTAP_CASE(objects_are_read),
		KTAP_CASE(random_objects_do_no_harm),
		KTAP_CASE(events_are_lines),
		KTAP_CASE(queues_of_a_device),
	};

	if (argc == 2 && !strcmp(argv[1], "events"))
		return write_events();
	return ktap_run(cases, ARRAY_SIZE(cases));
}
