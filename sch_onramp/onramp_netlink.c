// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: settings and statistics as netlink has them, see uapi/onramp.h
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include <net/netlink.h>
#include <percpu_sum.h>

#include "onramp_flow.h"
#include "onramp_turn.h"

/* Units for error messages. */
#define ONRAMP_UNIT_COUNT	""
#define ONRAMP_UNIT_PACKETS	" packets"
#define ONRAMP_UNIT_BYTES	" bytes"
#define ONRAMP_UNIT_RATE	" bytes/s"
#define ONRAMP_UNIT_TIME	" ns"
#define ONRAMP_UNIT_US		" ns"
#define ONRAMP_UNIT_NS		" ns"
#define ONRAMP_UNIT_MASK	""
#define ONRAMP_UNIT_BOOL	""
#define ONRAMP_UNIT_PPM		" millionths"
#define ONRAMP_UNIT_WORD	""

static const struct {
	u16 offset;
	u64 min, max, def;
	const char *complaint;
} onramp_limits[TCA_ONRAMP_MAX + 1] = {
#define ONRAMP_X(NAME, field, KIND, min, max, def, help)		\
	[TCA_ONRAMP_##NAME] = {						\
		offsetof(struct onramp_config, field),			\
		min##ULL, max##ULL, def##ULL,				\
		#field " must be " #min " to " #max ONRAMP_UNIT_##KIND,	\
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

/* The bands of priorities 0 to 15, as pfifo_fast has them. */
static const u8 onramp_priomap[ONRAMP_PRIOS] = {
	1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1
};

/* The setting that an attribute is for. */
static u64 *onramp_config_value(struct onramp_config *cfg, int attr)
{
	return (void *)cfg + onramp_limits[attr].offset;
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

/* Settings ----------------------------------------------------------------- */

static void onramp_defaults(const struct Qdisc *sch, struct onramp_config *cfg)
{
	u64 mtu = psched_mtu(qdisc_dev(sch)) ?: 1;
	int attr;

	for (attr = TCA_ONRAMP_FIRST; attr <= TCA_ONRAMP_MAX; attr++)
		*onramp_config_value(cfg, attr) = onramp_limits[attr].def;
	cfg->quantum = clamp(2 * mtu, onramp_limits[TCA_ONRAMP_QUANTUM].min,
			     onramp_limits[TCA_ONRAMP_QUANTUM].max);
	cfg->initial_quantum = min(10 * mtu, onramp_limits[TCA_ONRAMP_INITIAL_QUANTUM].max);
	cfg->priomap = onramp_priomap_pack(onramp_priomap);
}

/* Before all other attributes, of which this module may not know some. */
static int onramp_parse_version(const struct nlattr *opt, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = nla_find_nested(opt, TCA_ONRAMP_VERSION);

	/* The policy refuses a shorter attribute. */
	if (!attr || nla_len(attr) < sizeof(u32) || nla_get_u32(attr) <= ONRAMP_UAPI_VERSION)
		return 0;
	NL_SET_ERR_MSG_ATTR(extack, attr, "tc's plugin is newer than the module sch_onramp: load the module of the same release");
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
			NL_SET_ERR_MSG_ATTR(extack, attr, "priomap: expected bands 0 to 2");
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
		if (value < onramp_limits[attr].min || value > onramp_limits[attr].max) {
			/* NL_SET_ERR_MSG() takes literals only. */
			NL_SET_BAD_ATTR(extack, tb[attr]);
			if (extack)
				extack->_msg = onramp_limits[attr].complaint;
			return -ERANGE;
		}
		*onramp_config_value(cfg, attr) = value;
	}
	if (!is_power_of_2(cfg->buckets)) {
		NL_SET_ERR_MSG_ATTR(extack, tb[TCA_ONRAMP_BUCKETS],
				    "buckets: expected a power of two");
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
	err = onramp_parse_version(opt, extack);
	if (!err)
		err = nla_parse_nested(tb, TCA_ONRAMP_MAX, opt, onramp_policy, extack);
	if (!err)
		err = onramp_parse_priomap(tb[TCA_ONRAMP_PRIOMAP], cfg, extack);
	if (!err)
		err = onramp_parse_params(tb, cfg, extack);
	return err;
}

/* The settings that connections use. */
static struct onramp_settings *onramp_settings_create(const struct onramp_config *cfg)
{
	struct onramp_settings *s = kzalloc(sizeof(*s), GFP_KERNEL);

	if (!s)
		return NULL;
	s->core = (struct onramp_ctrl_params) {
		.mode = cfg->mode,
		/* 10^6 << 30 is below 2^50. */
		.gain = div_u64(cfg->gain << ONRAMP_FRAC_SHIFT, 1000000),
		.threshold_ns = cfg->threshold,
		.max_pause_ns = cfg->max_pause,
		.stale_ns = cfg->ack_timeout,
	};
	s->owd = cfg->owd;
	s->clock = cfg->clock;
	s->inherit = cfg->inherit;
	s->bound = cfg->bound;
	s->clock_error_ns = cfg->clock_error;
	return s;
}

/*
 * Connections without a socket are charged to no cgroup, so they are not for root of a container
 * that has the qdisc in its own namespace.
 */
static int onramp_may_forward(struct Qdisc *sch, const struct onramp_config *cfg,
			      struct netlink_ext_ack *extack)
{
	const struct onramp_sched *q = qdisc_priv(sch);

	if (!cfg->forward || q->cfg.forward || capable(CAP_NET_ADMIN))
		return 0;
	NL_SET_ERR_MSG(extack, "forward on needs CAP_NET_ADMIN in the initial user namespace");
	return -EPERM;
}

/* Apply settings that have been checked, all of them or, for lack of memory, none. */
static int onramp_commit(struct Qdisc *sch, const struct onramp_config *cfg,
			 struct netlink_ext_ack *extack)
{
	struct onramp_settings *settings = onramp_settings_create(cfg);
	struct onramp_sched *q = qdisc_priv(sch);
	struct rb_root *table = NULL;
	u64 peers, forward;
	u8 followed;
	int err;

	if (!settings) {
		NL_SET_ERR_MSG(extack, "no memory for settings");
		return -ENOMEM;
	}
	if (!q->table || cfg->buckets != q->cfg.buckets) {
		table = onramp_table_alloc(sch, cfg->buckets);
		if (!table) {
			NL_SET_ERR_MSG(extack, "no memory for this many buckets");
			kfree(settings);
			return -ENOMEM;
		}
	}
	forward = q->cfg.forward;
	if (cfg->forward && !forward) {
		err = onramp_fwd_start(q->shared, q->link);
		if (err) {
			NL_SET_ERR_MSG(extack, "forward on needs netfilter's ingress hook, and memory for it");
			onramp_table_free(table);
			kfree(settings);
			return err;
		}
	}
	sch_tree_lock(sch);
	if (table)
		table = onramp_table_swap(q, table, cfg->buckets);
	peers = q->cfg.peers;
	/* The next packet sets up the model of the wire. */
	if (cfg->line_rate != q->cfg.line_rate)
		q->line_bps = ~0ULL;
	q->cfg = *cfg;
	/* The highest threshold is for none. */
	q->marks = cfg->ce_threshold < onramp_limits[TCA_ONRAMP_CE_THRESHOLD].max;
	q->precise = q->marks || cfg->mode != ONRAMP_MODE_OFF;
	/* A jiffy must not matter. */
	q->rough = q->precise && !q->marks && cfg->refill_delay >= 4 * jiffies_to_nsecs(1);
	q->forwards = cfg->forward && cfg->mode != ONRAMP_MODE_OFF;
	onramp_shared_set(q->shared, settings);
	if (cfg->mode == ONRAMP_MODE_OFF || cfg->peers != peers || cfg->forward != forward)
		onramp_flows_release(q);
	onramp_recheck_all(sch);
	/* For code that asks any qdisc for its length. */
	WRITE_ONCE(sch->limit, cfg->limit);
	onramp_trim(sch);
	sch_tree_unlock(sch);
	followed = q->follows;
	q->follows = (cfg->mode != ONRAMP_MODE_OFF ? ONRAMP_FOLLOWS_SOCKETS : 0) |
		     (q->forwards ? ONRAMP_FOLLOWS_FORWARDED : 0);
	onramp_link_follow(q->link, followed, q->follows);
	if (forward && !cfg->forward)
		onramp_fwd_stop(q->shared->onet, q->link);
	onramp_table_free(table);
	return 0;
}

/**
 * onramp_change() - change settings, under traffic
 * @sch: the qdisc
 * @opt: attributes, see uapi/onramp.h
 * @extack: names the error in them
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
	err = err ?: onramp_may_forward(sch, &cfg, extack);
	err = err ?: onramp_commit(sch, &cfg, extack);
	if (err)
		return err;
	/* Flows that may go on by the new settings do so now. */
	rcu_read_lock();
	__netif_schedule(qdisc_root(sch));
	rcu_read_unlock();
	return 0;
}

/**
 * onramp_init() - make a qdisc
 * @sch: the qdisc
 * @opt: attributes, see uapi/onramp.h, or NULL for defaults
 * @extack: names the error in them
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
	q->delayed = RB_ROOT_CACHED;
	q->wake_ns = U64_MAX;
	q->last = &q->fast;
	q->fast_flow = &q->fast;
	/* If something fails, onramp_destroy() releases these. */
	q->link = onramp_link_find_or_create(qdisc_dev(sch));
	q->shared = onramp_shared_create(qdisc_dev(sch));
	if (!q->link || !q->shared)
		return -ENOMEM;
	onramp_defaults(sch, &cfg);
	err = onramp_parse(opt, &cfg, extack);
	err = err ?: onramp_may_forward(sch, &cfg, extack);
	return err ?: onramp_commit(sch, &cfg, extack);
}

/* onramp_dump() - dump the settings; return the length or -EMSGSIZE. RTNL */
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

/* Statistics --------------------------------------------------------------- */

/* The statistics that counters of a qdisc and of a namespace are added to, 0: none. */
static const u8 onramp_shared_attr[ONRAMP_Q_STATS] = {
	[ONRAMP_BELOW] = ONRAMP_STATS_ACKS_BELOW,
	[ONRAMP_PAUSED] = ONRAMP_STATS_ACKS_PAUSED,
	[ONRAMP_CAPPED] = ONRAMP_STATS_ACKS_CAPPED,
	[ONRAMP_PROGRESS] = ONRAMP_STATS_ACKS_PROGRESS,
	[ONRAMP_STALE] = ONRAMP_STATS_ACKS_STALE,
	[ONRAMP_DUPLICATE] = ONRAMP_STATS_ACKS_DUPLICATE,
	[ONRAMP_IMPLAUSIBLE] = ONRAMP_STATS_ACKS_IMPLAUSIBLE,
#define ONRAMP_SHARED_STAT(id, stat)					\
	[ONRAMP_Q_##id] = ONRAMP_STATS_##stat,
	ONRAMP_SHARED_STATS
#undef ONRAMP_SHARED_STAT
};

static const u8 onramp_net_attr[ONRAMP_N_STATS] = {
	[OR_ERR_SHORT] = ONRAMP_STATS_ACKS_SHORT,
	[OR_ERR_LONG] = ONRAMP_STATS_ACKS_LONG,
	[OR_ERR_VERSION] = ONRAMP_STATS_ACKS_VERSION,
	[OR_ERR_TYPE] = ONRAMP_STATS_ACKS_TYPE,
	[OR_ERR_RESERVED] = ONRAMP_STATS_ACKS_RESERVED,
	[OR_ERR_PROTOCOL] = ONRAMP_STATS_ACKS_PROTOCOL,
	[OR_ERR_VALUE] = ONRAMP_STATS_ACKS_VALUE,
	[OR_ERR_UNSUPPORTED] = ONRAMP_STATS_ACKS_UNSUPPORTED,
	[OR_ERR_TAG] = ONRAMP_STATS_ACKS_TAG,
#define ONRAMP_NET_STAT(id, stat)					\
	[ONRAMP_N_##id] = ONRAMP_STATS_##stat,
	ONRAMP_NET_STATS
#undef ONRAMP_NET_STAT
};

/* A quantile of the delays, @total of them or more by now: the upper end of its class. */
static u64 onramp_owd_quantile(const atomic64_t *classes, u64 total, u32 percent)
{
	u64 sum = 0, wanted = div_u64(total * percent + 99, 100);
	u32 i;

	for (i = 0; i < ONRAMP_OWD_CLASSES; i++) {
		sum += atomic64_read(&classes[i]);
		if (sum && sum >= wanted)
			return onramp_owd_class_end(i);
	}
	return 0;
}

/* Counters of a qdisc, to statistics by ONRAMP_STATS_*. */
static void onramp_collect_shared(const struct onramp_qdisc_shared *shared, u64 *stats)
{
	const struct onramp_shared_stats *from = &shared->stats;
	u64 acks = 0;
	int i;

	for (i = 0; i < ONRAMP_Q_STATS; i++)
		stats[onramp_shared_attr[i]] += atomic64_read(&from->n[i]);
	stats[ONRAMP_STATS_PAUSE_MAX_NS] = atomic64_read(&from->pause_max_ns);
	stats[ONRAMP_STATS_HELD_LATE_MAX_NS] = atomic64_read(&from->held_late_max_ns);
	for (i = 0; i < ONRAMP_OWD_CLASSES; i++)
		acks += atomic64_read(&from->owd[i]);
	stats[ONRAMP_STATS_ACKS] =
		stats[ONRAMP_STATS_ACKS_BELOW] + stats[ONRAMP_STATS_ACKS_PAUSED] +
		stats[ONRAMP_STATS_ACKS_CAPPED] + stats[ONRAMP_STATS_ACKS_PROGRESS];
	if (stats[ONRAMP_STATS_HELD])
		stats[ONRAMP_STATS_HELD_LATE_NS] =
			div64_u64(atomic64_read(&from->n[ONRAMP_Q_HELD_LATE_NS]),
				  stats[ONRAMP_STATS_HELD]);
	stats[ONRAMP_STATS_OWD_P50_NS] = onramp_owd_quantile(from->owd, acks, 50);
	stats[ONRAMP_STATS_OWD_P99_NS] = onramp_owd_quantile(from->owd, acks, 99);
	stats[ONRAMP_STATS_OWD_NS] = READ_ONCE(shared->last_owd_ns);
	stats[ONRAMP_STATS_OWD_BASELINE_NS] = READ_ONCE(shared->last_baseline_ns);
	stats[ONRAMP_STATS_OWD_ERROR_NS] = READ_ONCE(shared->last_error_ns);
	stats[ONRAMP_STATS_THRESHOLD_NS] = READ_ONCE(shared->last_threshold_ns);
	stats[ONRAMP_STATS_SLACK_NS] = READ_ONCE(shared->last_slack_ns);
	stats[ONRAMP_STATS_BETA] = onramp_ppm(READ_ONCE(shared->last_beta));
}

static void onramp_collect_net(const struct onramp_net *onet, u64 *stats)
{
	int i;

	for (i = 0; i < ONRAMP_N_STATS; i++)
		stats[onramp_net_attr[i]] += percpu_sum(&onet->stats->n[i]);
	stats[ONRAMP_STATS_PEERS] = atomic_read(&onet->n_peers);
	stats[ONRAMP_STATS_CONNECTIONS] = atomic_read(&onet->n_conns);
	stats[ONRAMP_STATS_FORWARDED] = atomic_read(&onet->n_forwarded);
}

static const char * const onramp_stat_names[ONRAMP_STATS_MAX + 1] = {
#define ONRAMP_X(NAME, name, ...)					\
	[ONRAMP_STATS_##NAME] = #name,
	ONRAMP_STATS
#undef ONRAMP_X
};

static int onramp_put_stat(struct sk_buff *msg, unsigned int attr, const u64 *stats)
{
	return or_genl_put_stat(msg, onramp_stat_names[attr], stats[attr]);
}

/* onramp_put_stats() - write a namespace's statistics, for the family "onramp"; 0 or -EMSGSIZE */
int onramp_put_stats(struct sk_buff *msg, struct net *net)
{
	u64 stats[ONRAMP_STATS_MAX + 1] = {};
	int i, err;

	onramp_collect_net(onramp_net(net), stats);
	err = onramp_put_stat(msg, ONRAMP_STATS_PEERS, stats) ?:
	      onramp_put_stat(msg, ONRAMP_STATS_CONNECTIONS, stats);
	for (i = 0; i < ONRAMP_N_STATS && !err; i++)
		if (onramp_net_attr[i])
			err = onramp_put_stat(msg, onramp_net_attr[i], stats);
	return err;
}

/* onramp_dump_stats() - dump the statistics, see uapi/onramp.h; return 0 or -EMSGSIZE. RTNL */
int onramp_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct onramp_sched *q = qdisc_priv(sch);
	u64 stats[ONRAMP_STATS_MAX + 1];
	struct nlattr *nest;
	u64 now, wake_ns;
	int attr;

	sch_tree_lock(sch);
	memcpy(stats, q->stats, sizeof(stats));
	wake_ns = q->wake_ns;
	sch_tree_unlock(sch);
	onramp_collect_shared(q->shared, stats);
	onramp_collect_net(onramp_net(dev_net(qdisc_dev(sch))), stats);
	now = ktime_get_ns();
	stats[ONRAMP_STATS_NEXT_PACKET_DELAY] =
		wake_ns != U64_MAX && wake_ns > now ? wake_ns - now : 0;

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	for (attr = ONRAMP_STATS_FIRST; attr <= ONRAMP_STATS_MAX; attr++) {
		if (nla_put_u64_64bit(d->skb, attr, stats[attr], ONRAMP_STATS_PAD)) {
			nla_nest_cancel(d->skb, nest);
			return -EMSGSIZE;
		}
	}
	nla_nest_end(d->skb, nest);
	return 0;
}
