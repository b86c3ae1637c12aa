// SPDX-License-Identifier: GPL-2.0
/* Devices, clocks and counters of nic_ts, by its generic netlink. */
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>

#include "uapi/nic_ts.h"

#include "collect.h"

static const char * const sources[] = { "none", "stack", "driver", "hardware" };
static const char * const states[] = {
	"unset", "valid", "expired", "stepped", "suspended", "vanished", "withdrawn",
};

struct bus {
	json_t *devices, *clocks, *stats;
	int cmd;
};

static void put_word(json_t *o, const char *key, const char * const *words, size_t n,
		     struct nlattr *a)
{
	unsigned int value;

	if (!a || nla_len(a) < 1)
		return;
	value = nla_get_u8(a);
	j_set(o, key, json_string(value < n ? words[value] : "unknown"));
}

static void put_u32(json_t *o, const char *key, struct nlattr *a)
{
	if (a && nla_len(a) >= 4)
		j_set_u64(o, key, nla_get_u32(a));
}

static void put_u64(json_t *o, const char *key, struct nlattr *a)
{
	if (a && nla_len(a) >= 8)
		j_set_u64(o, key, nla_get_u64(a));
}

static void put_stats(json_t *o, struct nlattr *nest)
{
	struct nlattr *a, *tb[NIC_TS_A_MAX + 1];
	char name[64];
	int rest;

	if (!nest)
		return;
	nla_for_each_nested(a, nest, rest) {
		if (nla_parse_nested(tb, NIC_TS_A_MAX, a, NULL) || !tb[NIC_TS_A_STAT_NAME] ||
		    !tb[NIC_TS_A_STAT_VALUE])
			continue;
		j_clean(name, sizeof(name), nla_data(tb[NIC_TS_A_STAT_NAME]),
			(size_t)nla_len(tb[NIC_TS_A_STAT_NAME]));
		put_u64(o, name, tb[NIC_TS_A_STAT_VALUE]);
	}
}

static void put_device(json_t *devices, struct nlattr *tb[])
{
	json_t *o;
	char name[64];

	if (!tb[NIC_TS_A_IFNAME])
		return;
	o = json_object();
	put_u32(o, "ifindex", tb[NIC_TS_A_IFINDEX]);
	put_u32(o, "users", tb[NIC_TS_A_USERS]);
	put_u32(o, "phc", tb[NIC_TS_A_PHC]);
	put_u32(o, "tx_slots", tb[NIC_TS_A_TX_SLOTS]);
	put_word(o, "rx_source", sources, ARRAY_SIZE(sources), tb[NIC_TS_A_RX_SOURCE]);
	put_word(o, "tx_source", sources, ARRAY_SIZE(sources), tb[NIC_TS_A_TX_SOURCE]);
	put_word(o, "hw", (const char * const []){ "off", "on" }, 2, tb[NIC_TS_A_HW]);
	put_stats(o, tb[NIC_TS_A_STATS]);
	j_clean(name, sizeof(name), nla_data(tb[NIC_TS_A_IFNAME]),
		(size_t)nla_len(tb[NIC_TS_A_IFNAME]));
	j_set(devices, name, o);
}

static void put_clock(json_t *clocks, struct nlattr *tb[])
{
	json_t *o;
	uint32_t domain;
	char name[16];

	if (!tb[NIC_TS_A_DOMAIN] || nla_len(tb[NIC_TS_A_DOMAIN]) < 4)
		return;
	o = json_object();
	domain = nla_get_u32(tb[NIC_TS_A_DOMAIN]);
	if (domain >= NIC_TS_DOMAIN_PHC0)
		snprintf(name, sizeof(name), "phc%u", domain - NIC_TS_DOMAIN_PHC0);
	else
		snprintf(name, sizeof(name), "%s", domain == NIC_TS_DOMAIN_REAL ? "real" :
			 domain == NIC_TS_DOMAIN_RAW ? "raw" : "mono");
	put_word(o, "state", states, ARRAY_SIZE(states), tb[NIC_TS_A_CLOCK_STATE]);
	put_u64(o, "age_ns", tb[NIC_TS_A_AGE_NS]);
	put_u64(o, "max_age_ns", tb[NIC_TS_A_MAX_AGE_NS]);
	put_u32(o, "error_ns", tb[NIC_TS_A_ERROR_NS]);
	put_u32(o, "drift_ppb", tb[NIC_TS_A_DRIFT_PPB]);
	if (tb[NIC_TS_A_RATE_PPT] && nla_len(tb[NIC_TS_A_RATE_PPT]) >= 8)
		j_set(o, "rate_ppt", json_integer(nla_get_s64(tb[NIC_TS_A_RATE_PPT])));
	j_set(clocks, name, o);
}

static int on_object(struct nl_msg *msg, void *arg)
{
	const struct bus *b = arg;
	struct nlattr *tb[NIC_TS_A_MAX + 1];

	if (genlmsg_parse(nlmsg_hdr(msg), 0, tb, NIC_TS_A_MAX, NULL) < 0)
		return NL_OK;
	switch (b->cmd) {
	case NIC_TS_CMD_DEV_GET:
		put_device(b->devices, tb);
		break;
	case NIC_TS_CMD_CLOCK_GET:
		put_clock(b->clocks, tb);
		break;
	case NIC_TS_CMD_STATS_GET:
		put_stats(b->stats, tb[NIC_TS_A_STATS]);
		break;
	}
	return NL_OK;
}

bool bus_read(json_t *devices, json_t *clocks, json_t *stats)
{
	static const int cmds[] = {
		NIC_TS_CMD_DEV_GET, NIC_TS_CMD_CLOCK_GET, NIC_TS_CMD_STATS_GET,
	};
	struct bus b = { devices, clocks, stats, 0 };
	struct nl_sock *sk = nl_socket_alloc();
	bool ok = false;
	size_t i;
	int family;

	if (!sk || genl_connect(sk) < 0)
		goto out;
	family = genl_ctrl_resolve(sk, NIC_TS_GENL_NAME);
	if (family < 0)
		goto out;
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_object, &b);
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		b.cmd = cmds[i];
		if (genl_send_simple(sk, family, b.cmd, NIC_TS_GENL_VERSION, NLM_F_DUMP) < 0 ||
		    nl_recvmsgs_default(sk) < 0)
			goto out;
	}
	ok = true;
out:
	nl_socket_free(sk);
	return ok;
}
