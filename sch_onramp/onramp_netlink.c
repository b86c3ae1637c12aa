// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: settings and statistics as netlink has them, see uapi/onramp.h
 */
#include <linux/log2.h>
#include <net/netlink.h>

#include "onramp.h"

/* An MTU of a device that has none, or an absurd one, is in this range, bytes. */
#define ONRAMP_MTU_MIN		128
#define ONRAMP_MTU_MAX		(1 << 19)

static const struct {
	u16 offset;
	u64 min, max, def;
	const char *complaint;
} onramp_params[TCA_ONRAMP_MAX + 1] = {
#define ONRAMP_X(NAME, field, KIND, min, max, def, help)		\
	[TCA_ONRAMP_##NAME] = {						\
		offsetof(struct onramp_config, field),			\
		min##ULL, max##ULL, def##ULL,				\
		#field " must be " #min " to " #max,			\
	},
	ONRAMP_PARAMS
#undef ONRAMP_X
};

static const struct nla_policy onramp_policy[TCA_ONRAMP_MAX + 1] = {
	[TCA_ONRAMP_VERSION]	= { .type = NLA_U32 },
	[TCA_ONRAMP_PRIOMAP]	= NLA_POLICY_EXACT_LEN(ONRAMP_PRIOS),
#define ONRAMP_X(NAME, ...)						\
	[TCA_ONRAMP_##NAME]	= { .type = NLA_U64 },
	ONRAMP_PARAMS
#undef ONRAMP_X
};

static const u16 onramp_stats_offset[ONRAMP_STATS_MAX + 1] = {
#define ONRAMP_X(NAME, field, KIND, help)				\
	[ONRAMP_STATS_##NAME]	= offsetof(struct onramp_stats, field),
	ONRAMP_STATS
#undef ONRAMP_X
};

/* The bands of priorities 0 to 15, as pfifo_fast has them. */
static const u8 onramp_priomap[ONRAMP_PRIOS] = {
	1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
};

/* The setting that an attribute is for. */
static u64 *onramp_config_value(struct onramp_config *cfg, int attr)
{
	return (void *)cfg + onramp_params[attr].offset;
}

/* Bands of all priorities, two bits each. */
static u32 onramp_priomap_pack(const u8 *bands)
{
	u32 map = 0;
	int prio;

	for (prio = 0; prio < ONRAMP_PRIOS; prio++)
		map |= (u32)bands[prio] << (2 * prio);
	return map;
}

static void onramp_priomap_unpack(u32 map, u8 *bands)
{
	int prio;

	for (prio = 0; prio < ONRAMP_PRIOS; prio++)
		bands[prio] = (map >> (2 * prio)) & 3;
}

/* Settings ---------------------------------------------------------------- */

static void onramp_defaults(const struct Qdisc *sch, struct onramp_config *cfg)
{
	u64 mtu = clamp_t(u64, psched_mtu(qdisc_dev(sch)), ONRAMP_MTU_MIN, ONRAMP_MTU_MAX);
	int attr;

	for (attr = TCA_ONRAMP_FIRST; attr <= TCA_ONRAMP_MAX; attr++)
		*onramp_config_value(cfg, attr) = onramp_params[attr].def;
	cfg->quantum = 2 * mtu;
	cfg->initial_quantum = min_t(u64, 10 * mtu,
				     onramp_params[TCA_ONRAMP_INITIAL_QUANTUM].max);
	cfg->priomap = onramp_priomap_pack(onramp_priomap);
}

static int onramp_parse_version(const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (!attr || nla_get_u32(attr) <= ONRAMP_UAPI_VERSION)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "tc's plugin is newer than the module sch_onramp: load the module that belongs to it");
	return -EPROTONOSUPPORT;
}

static int onramp_parse_priomap(const struct nlattr *attr, struct onramp_config *cfg,
				struct netlink_ext_ack *extack)
{
	const u8 *bands;
	int prio;

	if (!attr)
		return 0;
	bands = nla_data(attr);
	for (prio = 0; prio < ONRAMP_PRIOS; prio++) {
		if (bands[prio] >= ONRAMP_BANDS) {
			NL_SET_ERR_MSG_ATTR(extack, attr, "priomap: bands must be 0 to 2");
			return -ERANGE;
		}
	}
	cfg->priomap = onramp_priomap_pack(bands);
	return 0;
}

static int onramp_parse_params(struct nlattr *tb[], struct onramp_config *cfg,
			       struct netlink_ext_ack *extack)
{
	int attr;

	for (attr = TCA_ONRAMP_FIRST; attr <= TCA_ONRAMP_MAX; attr++) {
		u64 value;

		if (!tb[attr])
			continue;
		value = nla_get_u64(tb[attr]);
		if (value < onramp_params[attr].min || value > onramp_params[attr].max) {
			/* NL_SET_ERR_MSG() takes literals only. */
			NL_SET_BAD_ATTR(extack, tb[attr]);
			if (extack)
				extack->_msg = onramp_params[attr].complaint;
			return -ERANGE;
		}
		*onramp_config_value(cfg, attr) = value;
	}
	if (!is_power_of_2(cfg->buckets)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ONRAMP_BUCKETS],
				    "buckets must be a power of two");
		return -EINVAL;
	}
	return 0;
}

/* Attributes on top of the settings in @cfg, which are not in use. */
static int onramp_parse(struct nlattr *opt, struct onramp_config *cfg,
			struct netlink_ext_ack *extack)
{
	struct nlattr *tb[TCA_ONRAMP_MAX + 1];
	int err;

	if (!opt)
		return 0;
	err = nla_parse_nested(tb, TCA_ONRAMP_MAX, opt, onramp_policy, extack);
	if (!err)
		err = onramp_parse_version(tb[TCA_ONRAMP_VERSION], extack);
	if (!err)
		err = onramp_parse_priomap(tb[TCA_ONRAMP_PRIOMAP], cfg, extack);
	if (!err)
		err = onramp_parse_params(tb, cfg, extack);
	return err;
}

/* Settings that have been checked take effect; nothing has if there is no memory. */
static int onramp_commit(struct Qdisc *sch, const struct onramp_config *cfg,
			 struct netlink_ext_ack *extack)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct rb_root *table = NULL;

	if (!q->table || cfg->buckets != q->cfg.buckets) {
		table = onramp_table_alloc(sch, cfg->buckets);
		if (!table) {
			NL_SET_ERR_MSG(extack, "no memory for so many buckets");
			return -ENOMEM;
		}
	}
	sch_tree_lock(sch);
	if (table)
		table = onramp_table_swap(q, table, cfg->buckets);
	q->cfg = *cfg;
	/* For who asks any qdisc for its length. */
	WRITE_ONCE(sch->limit, cfg->limit);
	onramp_trim(sch);
	sch_tree_unlock(sch);
	onramp_table_free(table);
	return 0;
}

/**
 * onramp_change() - settings, under traffic
 * @sch: the qdisc
 * @opt: attributes, see uapi/onramp.h
 * @extack: says what is wrong with them
 *
 * Context: RTNL.
 * Return: 0, or an error and nothing has changed.
 */
int onramp_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_config cfg = q->cfg;
	int err;

	err = onramp_parse(opt, &cfg, extack);
	return err ?: onramp_commit(sch, &cfg, extack);
}

/**
 * onramp_init() - a qdisc is made
 * @sch: the qdisc
 * @opt: attributes, see uapi/onramp.h, or NULL for defaults
 * @extack: says what is wrong with them
 *
 * Context: RTNL. The qdisc is destroyed if this fails.
 * Return: 0 or an error.
 */
int onramp_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_config cfg;
	int err;

	qdisc_watchdog_init_clockid(&q->watchdog, sch, CLOCK_MONOTONIC);
	q->waiting = RB_ROOT_CACHED;
	q->wake_ns = U64_MAX;
	onramp_defaults(sch, &cfg);
	err = onramp_parse(opt, &cfg, extack);
	return err ?: onramp_commit(sch, &cfg, extack);
}

/**
 * onramp_dump() - settings
 * @sch: the qdisc
 * @skb: where they go
 *
 * Context: RTNL.
 * Return: length or -EMSGSIZE.
 */
int onramp_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	struct onramp_sched *q = qdisc_priv(sch);
	u8 bands[ONRAMP_PRIOS];
	int attr;

	if (!nest)
		return -EMSGSIZE;
	onramp_priomap_unpack(q->cfg.priomap, bands);
	if (nla_put_u32(skb, TCA_ONRAMP_VERSION, ONRAMP_UAPI_VERSION) ||
	    nla_put(skb, TCA_ONRAMP_PRIOMAP, sizeof(bands), bands))
		goto full;
	for (attr = TCA_ONRAMP_FIRST; attr <= TCA_ONRAMP_MAX; attr++)
		if (nla_put_u64_64bit(skb, attr, *onramp_config_value(&q->cfg, attr),
				      TCA_ONRAMP_PAD))
			goto full;
	return nla_nest_end(skb, nest);

full:
	nla_nest_cancel(skb, nest);
	return -EMSGSIZE;
}

/* Statistics -------------------------------------------------------------- */

/**
 * onramp_dump_stats() - statistics, as uapi/onramp.h describes them
 * @sch: the qdisc
 * @d: where they go
 *
 * Context: RTNL.
 * Return: 0 or -EMSGSIZE.
 */
int onramp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct onramp_sched *q = qdisc_priv(sch);
	struct onramp_stats stats;
	struct nlattr *nest;
	u64 now, wake_ns;
	int attr;

	sch_tree_lock(sch);
	stats = q->stats;
	wake_ns = q->wake_ns;
	sch_tree_unlock(sch);
	now = ktime_get_ns();
	stats.next_flow_ns = wake_ns != U64_MAX && wake_ns > now ? wake_ns - now : 0;

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	for (attr = ONRAMP_STATS_FIRST; attr <= ONRAMP_STATS_MAX; attr++) {
		if (nla_put_u64_64bit(d->skb, attr,
				      *(u64 *)((void *)&stats + onramp_stats_offset[attr]),
				      ONRAMP_STATS_PAD)) {
			nla_nest_cancel(d->skb, nest);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(d->skb, nest);
	return 0;
}
