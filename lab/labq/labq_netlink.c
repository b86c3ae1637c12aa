// SPDX-License-Identifier: GPL-2.0
/*
 * labq: settings, ports that come and go, and statistics as netlink has them.
 */
#include <linux/bitops.h>
#include <net/netlink.h>
#include <net/pkt_sched.h>

#include "labq.h"

/* The largest frame of the usual MTU fits into the shared buffer. */
#define LABQ_SHARED_MIN		1514

static const struct {
	u16 offset;
	bool of_switch;
	s64 min, max, def;
	const char *complaint;
} labq_params[TCA_LABQ_MAX + 1] = {
#define LABQ_SCOPE_SWITCH	true
#define LABQ_SCOPE_PORT		false
#define LABQ_X(NAME, field, KIND, min, max, def, SCOPE, help)		\
	[TCA_LABQ_##NAME] = {						\
		offsetof(struct labq_config, field), LABQ_SCOPE_##SCOPE,	\
		min, max, def, #field " must be " #min " to " #max,	\
	},
	LABQ_PARAMS
#undef LABQ_X
};

static const struct nla_policy labq_policy[TCA_LABQ_MAX + 1] = {
	[TCA_LABQ_RESET]	= { .type = NLA_FLAG },
#define LABQ_X(NAME, ...)						\
	[TCA_LABQ_##NAME]	= { .type = NLA_S64 },
	LABQ_PARAMS
#undef LABQ_X
};

/* The setting that an attribute is for. */
static s64 *labq_config_value(struct labq_config *cfg, int attr)
{
	return (void *)cfg + labq_params[attr].offset;
}

/* Settings ----------------------------------------------------------------- */

/* labq_defaults() - default settings */
void labq_defaults(struct labq_config *cfg)
{
	int attr;

	for (attr = TCA_LABQ_FIRST; attr <= TCA_LABQ_MAX; attr++)
		*labq_config_value(cfg, attr) = labq_params[attr].def;
}

/* Settings of the switch, which all ports have copies of. */
static void labq_copy_switch(struct labq_config *to, struct labq_config *from)
{
	int attr;

	for (attr = TCA_LABQ_FIRST; attr <= TCA_LABQ_MAX; attr++)
		if (labq_params[attr].of_switch)
			*labq_config_value(to, attr) = *labq_config_value(from, attr);
}

/* Bytes of the buffer that a port reserves. */
static u64 labq_set_aside(const struct labq_config *cfg)
{
	u64 bytes = cfg->reserved_bytes * LABNIC_PRIOS;

	if (cfg->pfc)
		bytes += cfg->headroom_bytes * hweight8(cfg->pfc_prio);
	return bytes;
}

/*
 * Bytes of the buffer left for all, if @port had the settings @cfg; with NULL,
 * if it were not there. Not positive if nothing is.
 */
static s64 labq_shared_size(const struct labq_switch *sw, const struct labq_port *port,
			    const struct labq_config *cfg)
{
	s64 size = cfg ? cfg->buffer_bytes : sw->cfg.buffer_bytes;
	const struct labq_port *other;

	ASSERT_RTNL();
	list_for_each_entry(other, &sw->ports, list)
		if (other != port)
			size -= labq_set_aside(&other->cfg);
	return cfg ? size - labq_set_aside(cfg) : size;
}

/* Whether all ports of the switch, and @port, can have input buffers. */
static bool labq_may_have_slots(const struct labq_port *port, const struct labq_switch *sw)
{
	const struct labq_port *other;
	u32 ports = !port->sw;

	list_for_each_entry(other, &sw->ports, list) {
		if (!other->labnic || other->index == LABQ_MARKS_PORTS)
			return false;
		ports++;
	}
	return port->labnic && ports <= LABQ_MARKS_PORTS;
}

/* Whether no frame that @port passes on early, or is given early, leaves too fast. */
static bool labq_may_cut_through(const struct labq_port *port, const struct labq_switch *sw)
{
	const struct labq_port *other;

	if (!port->labnic)
		return true;
	list_for_each_entry(other, &sw->ports, list)
		if (other->labnic && other != port &&
		    !(labnic_may_cut_through(port->dev, other->dev) &&
		      labnic_may_cut_through(other->dev, port->dev)))
			return false;
	return true;
}

static int labq_check(const struct labq_port *port, const struct labq_switch *sw,
		      const struct labq_config *cfg, struct netlink_ext_ack *extack)
{
	if (cfg->red_max_bytes && cfg->red_min_bytes >= cfg->red_max_bytes) {
		NL_SET_ERR_MSG(extack, "red_min: expected a value below red_max");
		return -EINVAL;
	}
	if (cfg->xoff_bytes && cfg->xon_bytes > cfg->xoff_bytes) {
		NL_SET_ERR_MSG(extack, "xon: expected at most xoff");
		return -EINVAL;
	}
	if (cfg->pfc && !port->labnic) {
		NL_SET_ERR_MSG(extack, "pfc needs a device of kind labnic");
		return -EOPNOTSUPP;
	}
	if (cfg->slots && !labq_may_have_slots(port, sw)) {
		NL_SET_ERR_MSG(extack, "slots need devices of kind labnic, and 64 ports at most");
		return -EOPNOTSUPP;
	}
	if (!labq_may_cut_through(port, sw)) {
		NL_SET_ERR_MSG(extack, "cut_through needs links of one rate");
		return -EINVAL;
	}
	if (labq_shared_size(sw, port, cfg) < LABQ_SHARED_MIN) {
		NL_SET_ERR_MSG(extack,
			       "reserved bytes and headroom of all ports leave nothing of the buffer");
		return -ENOSPC;
	}
	return 0;
}

/* Attributes on top of the settings in @cfg. */
static int labq_parse(struct nlattr *opt, struct nlattr *tb[], struct labq_config *cfg,
		      struct netlink_ext_ack *extack)
{
	int attr, err;

	memset(tb, 0, sizeof(*tb) * (TCA_LABQ_MAX + 1));
	if (!opt)
		return 0;
	err = nla_parse_nested(tb, TCA_LABQ_MAX, opt, labq_policy, extack);
	if (err)
		return err;
	for (attr = TCA_LABQ_FIRST; attr <= TCA_LABQ_MAX; attr++) {
		s64 value;

		if (!tb[attr])
			continue;
		value = nla_get_s64(tb[attr]);
		if (value < labq_params[attr].min || value > labq_params[attr].max) {
			/* NL_SET_ERR_MSG() takes literals only. */
			NL_SET_BAD_ATTR(extack, tb[attr]);
			if (extack)
				extack->_msg = labq_params[attr].complaint;
			return -ERANGE;
		}
		*labq_config_value(cfg, attr) = value;
	}
	return 0;
}

static void labq_seed(struct labq_port *port)
{
	int prio;

	for (prio = 0; prio < LABNIC_PRIOS; prio++)
		labnic_rng_seed(&port->queues[prio].rng,
				port->cfg.seed ?: port->dev->ifindex, prio);
}

/* Apply pfc, pfc_prio and headroom to the ingress port. */
static void labq_ingress_config(struct labq_switch *sw, struct labq_ingress *in)
{
	const struct labq_config *cfg = &in->port->cfg;
	int prio;

	lockdep_assert_held(&sw->lock);
	if (in->port->labnic && cfg->pfc)
		labnic_pfc_enable(in->port->dev, true);
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		in->prios[prio].held.headroom_size =
			cfg->pfc && cfg->pfc_prio & BIT(prio) ? cfg->headroom_bytes : 0;
		labq_pause_check(sw, in, prio);
	}
	if (in->port->labnic && !cfg->pfc)
		labnic_pfc_enable(in->port->dev, false);
}

/* Memory for the marks of a switch, once it has slots, and for telemetry. */
static int labq_alloc(struct labq_switch *sw, const struct labq_config *cfg)
{
	ASSERT_RTNL();
	if (cfg->telemetry && labq_telemetry_init())
		return -ENOMEM;
	if (!cfg->slots || sw->marks)
		return 0;
	sw->marks = kvcalloc(LABNIC_PRIOS, sizeof(*sw->marks), GFP_KERNEL);
	return sw->marks ? 0 : -ENOMEM;
}

/* Apply slots and marks. */
static void labq_slots_config(struct labq_switch *sw)
{
	const struct labq_config *cfg = &sw->cfg;
	struct labq_port *port;
	int prio;

	lockdep_assert_held(&sw->lock);
	for (prio = 0; prio < LABNIC_PRIOS && sw->marks; prio++) {
		struct labq_marks *m = &sw->marks[prio];

		m->mode = cfg->marks;
		m->ports = LABQ_MARKS_PORTS;
		m->slots = cfg->slots;
		m->threshold = cfg->marks_threshold;
	}
	list_for_each_entry(port, &sw->ports, list)
		if (port->labnic)
			labnic_credit_set(port->dev, cfg->slots);
}

/* Settings that have been checked take effect. */
static void labq_commit(struct labq_port *port, struct labq_switch *sw,
			struct labq_config *cfg, bool seed)
{
	s64 size = labq_shared_size(sw, port, cfg);
	struct labq_port *other;

	lockdep_assert_held(&sw->lock);
	port->cfg = *cfg;
	labq_copy_switch(&sw->cfg, cfg);
	list_for_each_entry(other, &sw->ports, list)
		labq_copy_switch(&other->cfg, cfg);
	sw->shared.size = size;
	if (seed)
		labq_seed(port);
	labq_ingress_config(sw, port->ingress);
	labq_slots_config(sw);
}

/* Statistics --------------------------------------------------------------- */

static void labq_queue_restart(struct labq_queue *q)
{
	int i;

	for (i = 0; i < LABQ_HIST_CHUNKS; i++)
		if (q->hist[i])
			memset(q->hist[i], 0, LABQ_HIST_BINS * sizeof(*q->hist[i]));
	memset(&q->area, 0, sizeof(q->area));
	q->max_bytes = q->length.bytes;
	q->max_packets = q->length.packets;
	q->lost_ns = 0;
	q->enqueued_bytes = 0;
	q->dequeued_packets = 0;
	q->dequeued_bytes = 0;
	q->purged_packets = 0;
	memset(q->verdicts, 0, sizeof(q->verdicts));
	memset(q->marks, 0, sizeof(q->marks));
	q->marked_buffer = 0;
	q->unmarked_buffer = 0;
	q->bypasses = 0;
	q->pauses = 0;
	q->undetermined = 0;
	q->resumed_congested = 0;
	q->told = 0;
	q->untold = 0;
	q->table.full = 0;
	q->marked_tcd = 0;
	q->unmarked_tcd = 0;
	/* Packets in the queue stay. */
	q->verdicts[LABQ_ENQUEUE] = q->length.packets;
	q->enqueued_bytes = q->length.bytes;
}

/* Slots of a priority that packets hold. */
static u32 labq_slots_used(const struct labq_switch *sw, const struct labq_ingress *in, int prio)
{
	return sw->marks && in->index < LABQ_MARKS_PORTS ? sw->marks[prio].used[in->index] : 0;
}

static void labq_stats_restart(struct labq_port *port)
{
	struct labq_ingress *in = port->ingress;
	int prio;

	lockdep_assert_held(&port->sw->lock);
	port->since_ns = ktime_get_ns();
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		struct labq_ingress_prio *p = &in->prios[prio];

		port->queues[prio].changed_ns = port->since_ns;
		labq_queue_restart(&port->queues[prio]);
		p->max_held_bytes = p->held.bytes;
		p->max_headroom_bytes = p->held.headroom;
		p->pauses = 0;
		p->max_slots = labq_slots_used(port->sw, in, prio);
	}
}

/* The length not exceeded for @permille of the @ns that are in the histogram. */
static u64 labq_rank(const struct labq_queue *q, u64 ns, u32 permille)
{
	return labq_percentile(q->hist, DIV_ROUND_UP_ULL(ns * permille, 1000));
}

static int labq_put_queue(struct sk_buff *skb, struct labq_queue *q, int prio, u64 since_ns)
{
	u64 now = ktime_get_ns(), ns = now - since_ns;
	u64 values[LABQ_QUEUE_MAX + 1] = {};
	struct nlattr *nest;
	int attr;

	labq_settle(q, now);
	values[LABQ_QUEUE_PRIO] = prio;
	values[LABQ_QUEUE_BYTES] = q->length.bytes;
	values[LABQ_QUEUE_PACKETS] = q->length.packets;
	values[LABQ_QUEUE_SHARED_BYTES] = q->length.shared;
	values[LABQ_QUEUE_ENQUEUED_PACKETS] = q->verdicts[LABQ_ENQUEUE];
	values[LABQ_QUEUE_ENQUEUED_BYTES] = q->enqueued_bytes;
	values[LABQ_QUEUE_DEQUEUED_PACKETS] = q->dequeued_packets;
	values[LABQ_QUEUE_DEQUEUED_BYTES] = q->dequeued_bytes;
	values[LABQ_QUEUE_PURGED_PACKETS] = q->purged_packets;
	values[LABQ_QUEUE_DROPPED_LIMIT] = q->verdicts[LABQ_DROP_LIMIT];
	values[LABQ_QUEUE_DROPPED_DYNAMIC] = q->verdicts[LABQ_DROP_DYNAMIC];
	values[LABQ_QUEUE_DROPPED_FULL] = q->verdicts[LABQ_DROP_FULL];
	values[LABQ_QUEUE_DROPPED_HEADROOM] = q->verdicts[LABQ_DROP_HEADROOM];
	values[LABQ_QUEUE_DROPPED_RED] = q->verdicts[LABQ_DROP_RED];
	values[LABQ_QUEUE_DROPPED_STEP] = q->verdicts[LABQ_DROP_STEP];
	values[LABQ_QUEUE_MARKED_STEP] = q->marks[LABQ_MARK_STEP];
	values[LABQ_QUEUE_MARKED_RED] = q->marks[LABQ_MARK_RED];
	values[LABQ_QUEUE_MAX_BYTES] = q->max_bytes;
	values[LABQ_QUEUE_MAX_PACKETS] = q->max_packets;
	values[LABQ_QUEUE_MEAN_MILLIBYTES] = labq_area_mean(&q->area, ns);
	values[LABQ_QUEUE_P50_BYTES] = labq_rank(q, ns - q->lost_ns, 500);
	values[LABQ_QUEUE_P90_BYTES] = labq_rank(q, ns - q->lost_ns, 900);
	values[LABQ_QUEUE_P99_BYTES] = labq_rank(q, ns - q->lost_ns, 990);
	values[LABQ_QUEUE_P999_BYTES] = labq_rank(q, ns - q->lost_ns, 999);
	values[LABQ_QUEUE_LOST_NS] = q->lost_ns;
	values[LABQ_QUEUE_MARKED_BUFFER] = q->marked_buffer;
	values[LABQ_QUEUE_UNMARKED_BUFFER] = q->unmarked_buffer;
	values[LABQ_QUEUE_BYPASSES] = q->bypasses;
	values[LABQ_QUEUE_PAUSES_MET] = q->pauses;
	values[LABQ_QUEUE_UNDETERMINED] = q->undetermined;
	values[LABQ_QUEUE_RESUMED_CONGESTED] = q->resumed_congested;
	values[LABQ_QUEUE_TOLD] = q->told;
	values[LABQ_QUEUE_UNTOLD] = q->untold;
	values[LABQ_QUEUE_FLOWS_FULL] = q->table.full;
	values[LABQ_QUEUE_MARKED_TCD] = q->marked_tcd;
	values[LABQ_QUEUE_UNMARKED_TCD] = q->unmarked_tcd;

	nest = nla_nest_start(skb, LABQ_STATS_QUEUE);
	if (!nest)
		return -EMSGSIZE;
	for (attr = LABQ_QUEUE_PRIO; attr <= LABQ_QUEUE_MAX; attr++)
		if (nla_put_u64_64bit(skb, attr, values[attr], LABQ_QUEUE_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int labq_put_ingress(struct sk_buff *skb, const struct labq_port *port, int prio)
{
	const struct labq_ingress_prio *p = &port->ingress->prios[prio];
	u64 values[LABQ_INGRESS_MAX + 1] = {
		[LABQ_INGRESS_PRIO] = prio,
		[LABQ_INGRESS_HELD_BYTES] = p->held.bytes,
		[LABQ_INGRESS_HEADROOM_BYTES] = p->held.headroom,
		[LABQ_INGRESS_MAX_HELD_BYTES] = p->max_held_bytes,
		[LABQ_INGRESS_MAX_HEADROOM_BYTES] = p->max_headroom_bytes,
		[LABQ_INGRESS_PAUSED] = p->held.paused,
		[LABQ_INGRESS_PAUSES] = p->pauses,
		[LABQ_INGRESS_SLOTS_USED] = labq_slots_used(port->sw, port->ingress, prio),
		[LABQ_INGRESS_MAX_SLOTS] = p->max_slots,
	};
	struct nlattr *nest;
	int attr;

	nest = nla_nest_start(skb, LABQ_STATS_INGRESS);
	if (!nest)
		return -EMSGSIZE;
	for (attr = LABQ_INGRESS_PRIO; attr <= LABQ_INGRESS_MAX; attr++)
		if (nla_put_u64_64bit(skb, attr, values[attr], LABQ_INGRESS_PAD))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int labq_put_stats(struct sk_buff *skb, struct labq_port *port)
{
	const struct labq_switch *sw = port->sw;
	int prio, err = 0;

	if (nla_put_u64_64bit(skb, LABQ_STATS_SINCE_NS, ktime_get_ns() - port->since_ns,
			      LABQ_STATS_PAD) ||
	    nla_put_u64_64bit(skb, LABQ_STATS_SHARED_BYTES, sw->shared.used,
			      LABQ_STATS_PAD) ||
	    nla_put_u64_64bit(skb, LABQ_STATS_SHARED_SIZE, sw->shared.size, LABQ_STATS_PAD) ||
	    nla_put_u64_64bit(skb, LABQ_STATS_CNPS_SENT, sw->cnps_sent, LABQ_STATS_PAD) ||
	    nla_put_u64_64bit(skb, LABQ_STATS_CNPS_UNSENT, sw->cnps_unsent, LABQ_STATS_PAD))
		return -EMSGSIZE;
	for (prio = 0; prio < LABNIC_PRIOS && !err; prio++) {
		struct labq_queue *q = &port->queues[prio];
		u64 arrived = 0;
		int i;

		for (i = 0; i < LABQ_VERDICTS; i++)
			arrived += q->verdicts[i];
		if (arrived)
			err = labq_put_queue(skb, q, prio, port->since_ns);
	}
	for (prio = 0; prio < LABNIC_PRIOS && !err; prio++)
		if (port->ingress->prios[prio].max_held_bytes)
			err = labq_put_ingress(skb, port, prio);
	return err;
}

/* labq_dump_stats() - dump the statistics of labq_params.h; return 0 or -EMSGSIZE. RTNL */
int labq_dump_stats(struct Qdisc *sch, struct gnet_dump *d)
{
	struct labq_port *port = qdisc_priv(sch);
	struct nlattr *nest;
	int err;

	nest = nla_nest_start(d->skb, TCA_STATS_APP);
	if (!nest)
		return -EMSGSIZE;
	spin_lock_bh(&port->sw->lock);
	err = labq_put_stats(d->skb, port);
	spin_unlock_bh(&port->sw->lock);
	if (err)
		nla_nest_cancel(d->skb, nest);
	else
		nla_nest_end(d->skb, nest);
	return err;
}

/* labq_dump() - dump the settings; return the length or -EMSGSIZE. RTNL */
int labq_dump(struct Qdisc *sch, struct sk_buff *skb)
{
	struct labq_port *port = qdisc_priv(sch);
	struct nlattr *nest = nla_nest_start(skb, TCA_OPTIONS);
	int attr;

	if (!nest)
		return -EMSGSIZE;
	for (attr = TCA_LABQ_FIRST; attr <= TCA_LABQ_MAX; attr++) {
		if (nla_put_s64(skb, attr, *labq_config_value(&port->cfg, attr),
				TCA_LABQ_PAD)) {
			nla_nest_cancel(skb, nest);
			return -EMSGSIZE;
		}
	}
	return nla_nest_end(skb, nest);
}

/* Ports -------------------------------------------------------------------- */

/**
 * labq_change() - new settings for a port and its switch, or statistics anew
 * @sch: the qdisc
 * @opt: attributes, see labq_params.h
 * @extack: says what is wrong with them
 *
 * Context: RTNL.
 * Return: 0, or an error and nothing has changed.
 */
int labq_change(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct labq_port *port = qdisc_priv(sch);
	struct labq_config cfg = port->cfg;
	struct nlattr *tb[TCA_LABQ_MAX + 1];
	int err;

	err = labq_parse(opt, tb, &cfg, extack);
	if (err)
		return err;
	err = labq_check(port, port->sw, &cfg, extack);
	if (err)
		return err;
	err = labq_alloc(port->sw, &cfg);
	if (err)
		return err;
	spin_lock_bh(&port->sw->lock);
	labq_commit(port, port->sw, &cfg, tb[TCA_LABQ_SEED]);
	if (tb[TCA_LABQ_RESET])
		labq_stats_restart(port);
	spin_unlock_bh(&port->sw->lock);
	return 0;
}

static bool labq_is_port(const struct labq_switch *sw, const struct net_device *dev)
{
	const struct labq_port *port;

	list_for_each_entry(port, &sw->ports, list)
		if (port->dev == dev)
			return true;
	return false;
}

/**
 * labq_init() - a device becomes a port of its namespace's switch
 * @sch: the qdisc
 * @opt: attributes, see labq_params.h, or NULL for defaults
 * @extack: says what is wrong with them
 *
 * Context: RTNL.
 * Return: 0 or an error.
 */
int labq_init(struct Qdisc *sch, struct nlattr *opt, struct netlink_ext_ack *extack)
{
	struct net_device *dev = qdisc_dev(sch);
	struct labq_switch *sw = labq_switch_of(dev);
	struct labq_port *port = qdisc_priv(sch);
	struct nlattr *tb[TCA_LABQ_MAX + 1];
	struct labq_ingress *in;
	struct labq_config cfg;
	int err;

	if (sch->parent != TC_H_ROOT || dev->real_num_tx_queues != 1) {
		NL_SET_ERR_MSG(extack, "labq can only be the root of a device with one TX queue");
		return -EOPNOTSUPP;
	}
	if (labq_is_port(sw, dev)) {
		NL_SET_ERR_MSG(extack, "the device already has a labq: change it");
		return -EEXIST;
	}
	labq_defaults(&cfg);
	labq_copy_switch(&cfg, &sw->cfg);
	port->dev = dev;
	port->labnic = labnic_is(dev);
	qdisc_watchdog_init(&port->watchdog, sch);
	err = labq_parse(opt, tb, &cfg, extack);
	if (err)
		return err;
	err = labq_check(port, sw, &cfg, extack);
	if (err)
		return err;
	err = labq_alloc(sw, &cfg);
	if (err)
		return err;
	in = kzalloc(sizeof(*in), GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	in->port = port;
	in->ifindex = dev->ifindex;
	port->ingress = in;

	spin_lock_bh(&sw->lock);
	port->index = find_first_zero_bit(sw->indices, LABQ_MARKS_PORTS);
	if (port->index < LABQ_MARKS_PORTS)
		__set_bit(port->index, sw->indices);
	in->index = port->index;
	port->sw = sw;
	list_add_tail(&port->list, &sw->ports);
	hlist_add_head(&in->node, &sw->ingress[in->ifindex % ARRAY_SIZE(sw->ingress)]);
	labq_commit(port, sw, &cfg, true);
	labq_stats_restart(port);
	spin_unlock_bh(&sw->lock);
	return 0;
}

/**
 * labq_destroy() - a device is no port any longer
 * @sch: the qdisc; empty. It may be that labq_init() has failed
 *
 * Packets that came in by the port may still be queued at others.
 *
 * Context: RTNL.
 */
void labq_destroy(struct Qdisc *sch)
{
	struct labq_port *port = qdisc_priv(sch);
	struct labq_switch *sw = port->sw;
	struct labq_ingress *in;
	int prio, i;

	if (!sw)
		return;
	in = port->ingress;
	spin_lock_bh(&sw->lock);
	if (port->labnic) {
		labnic_pfc_enable(port->dev, false);
		labnic_credit_set(port->dev, 0);
	}
	hlist_del(&in->node);
	list_del(&port->list);
	in->port = NULL;
	if (!in->packets)
		labq_ingress_free(sw, in);
	sw->shared.size = labq_shared_size(sw, NULL, NULL);
	spin_unlock_bh(&sw->lock);
	port->sw = NULL;
	for (prio = 0; prio < LABNIC_PRIOS; prio++) {
		for (i = 0; i < LABQ_HIST_CHUNKS; i++)
			kfree(port->queues[prio].hist[i]);
		kfree(port->queues[prio].flows);
	}
}
