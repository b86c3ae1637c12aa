// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_timely, per network namespace: net.ipv4.timely.*, the line rates of the
 * egress devices with their active flows, and /proc/net/timely.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <net/tcp.h>

#include <line_rate.h>
#include <net_params.h>
#include <percpu_sum.h>

#include "timely.h"

unsigned int timely_net_id __read_mostly;

/* What sockets have of a namespace that is gone: the defaults, and no bus to ask. */
static struct timely_conf timely_gone_conf __ro_after_init;
static DEFINE_PER_CPU(struct timely_stats, timely_gone_stats);

/* The rows of timely_params.h. */
static const struct net_param timely_params[TIMELY_P_MAX] = {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) \
	[TIMELY_P_##id] = { __stringify(name), unit, min, max, def },
	TIMELY_PARAMS
#undef TIMELY_PARAM
};

/* Parameters that are one of two words. */
static const char * const timely_words[TIMELY_P_MAX][2] = {
	[TIMELY_P_PROFILE] = {
		[TIMELY_PROFILE_AUTO]	= "auto",
		[TIMELY_PROFILE_PAPER]	= "paper",
	},
	[TIMELY_P_MODE] = {
		[TIMELY_MODE_ORIGINAL]	= "original",
		[TIMELY_MODE_PATCHED]	= "patched",
	},
	[TIMELY_P_RTT_SOURCE] = {
		[TIMELY_RTT_AUTO]	= "auto",
		[TIMELY_RTT_TCP]	= "tcp",
	},
	[TIMELY_P_PACING] = {
		[TIMELY_PACING_QDISC]	= "qdisc",
		[TIMELY_PACING_TCP]	= "tcp",
	},
};

/* Parameters that profile auto computes. */
static bool timely_by_rule(unsigned int id)
{
	switch (id) {
	case TIMELY_P_MODE:
	case TIMELY_P_T_LOW:
	case TIMELY_P_T_HIGH:
	case TIMELY_P_MIN_RTT:
	case TIMELY_P_DELTA:
	case TIMELY_P_MIN_RATE:
	case TIMELY_P_ALPHA:
	case TIMELY_P_BETA:
	case TIMELY_P_BETA_PATCHED:
	case TIMELY_P_HAI_THRESH:
	case TIMELY_P_HAI_FACTOR:
	case TIMELY_P_IDLE_RESTART:
		return true;
	}
	return false;
}

/*
 * Derive everything from conf->raw, whose values are in their ranges. Returns
 * NULL, or why the combination cannot be used.
 */
static const char *timely_conf_build(struct timely_conf *conf)
{
	struct timely_params *p = &conf->core;
	const u64 *raw = conf->raw;

	conf->profile = raw[TIMELY_P_PROFILE];
	p->mode = raw[TIMELY_P_MODE];
	p->hai_thresh = raw[TIMELY_P_HAI_THRESH];
	p->hai_factor = raw[TIMELY_P_HAI_FACTOR];
	p->app_limited_percent = raw[TIMELY_P_APP_LIMITED];
	p->segment_bytes = raw[TIMELY_P_SEGMENT];
	p->t_low_ns = timely_t_low_ns(raw[TIMELY_P_T_LOW], p->segment_bytes);
	p->t_high_ns = raw[TIMELY_P_T_HIGH];
	p->min_rtt_ns = raw[TIMELY_P_MIN_RTT];
	p->rtt_floor_ns = raw[TIMELY_P_RTT_FLOOR];
	p->delta_q = timely_bps_to_rate(raw[TIMELY_P_DELTA] * LINE_RATE_MBIT / 1000);
	p->min_rate_q = timely_bps_to_rate(raw[TIMELY_P_MIN_RATE] * LINE_RATE_MBIT / 1000);
	p->alpha = timely_permille(raw[TIMELY_P_ALPHA]);
	p->beta = timely_permille(raw[TIMELY_P_BETA]);
	p->beta_patched = timely_permille(raw[TIMELY_P_BETA_PATCHED]);
	p->loss_beta = timely_permille(raw[TIMELY_P_LOSS_BETA]);
	conf->line_rate_bps = raw[TIMELY_P_LINE_RATE] * LINE_RATE_MBIT;
	conf->max_outstanding = raw[TIMELY_P_MAX_OUTSTANDING];
	conf->idle_restart_ns = raw[TIMELY_P_IDLE_RESTART];
	conf->rtt_source = raw[TIMELY_P_RTT_SOURCE];
	conf->pacing = raw[TIMELY_P_PACING];

	if (p->t_low_ns > p->t_high_ns)
		return "t_low_ns, scaled by segment_bytes / 16384, must not exceed t_high_ns";
	if (p->rtt_floor_ns > p->t_high_ns)
		return "rtt_floor_ns must not exceed t_high_ns";
	if (p->mode == TIMELY_MODE_PATCHED && p->t_low_ns < 1000)
		return "mode patched divides by t_low_ns, which must be at least 1000";
	if (conf->line_rate_bps &&
	    raw[TIMELY_P_MIN_RATE] > raw[TIMELY_P_LINE_RATE] * 1000)
		return "min_rate_kbit must not exceed line_rate_mbit";
	if (conf->max_outstanding && conf->max_outstanding < 2 * p->segment_bytes)
		return "max_outstanding_bytes must be 0 or at least two segments";
	if (!conf->max_outstanding &&
	    timely_outstanding(conf->line_rate_bps, p->t_high_ns) > TIMELY_MAX_OUTSTANDING)
		return "line_rate_mbit x 2 t_high_ns is above 1 GB: set max_outstanding_bytes";
	return NULL;
}

static int timely_param_set(struct net_params *params, unsigned int id, u64 value,
			    bool quiet)
{
	struct timely_net *tn = container_of(params, struct timely_net, params);
	struct timely_conf *old, *conf;
	const char *why;

	conf = kmalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	if (!conf)
		return -ENOMEM;

	mutex_lock(&tn->lock);
	old = rcu_dereference_protected(tn->conf, lockdep_is_held(&tn->lock));
	memcpy(conf->raw, old->raw, sizeof(conf->raw));
	conf->raw[id] = value;
	/* A value that would have no effect is worse than a refusal. */
	if (old->profile == TIMELY_PROFILE_AUTO && timely_by_rule(id) && value != old->raw[id])
		why = "profile auto computes it; set profile to paper first";
	else
		why = timely_conf_build(conf);
	if (!why)
		rcu_assign_pointer(tn->conf, conf);
	mutex_unlock(&tn->lock);

	if (why) {
		if (!quiet)
			pr_info_ratelimited("%s: %llu refused: %s\n",
					    timely_params[id].name, value, why);
		kfree(conf);
		return -EINVAL;
	}
	kfree_rcu(old, rcu);
	return 0;
}

static u64 timely_param_get(struct net_params *params, unsigned int id)
{
	struct timely_net *tn = container_of(params, struct timely_net, params);
	u64 value;

	rcu_read_lock();
	value = rcu_dereference(tn->conf)->raw[id];
	rcu_read_unlock();
	return value;
}

static const char * const timely_stat_names[TIMELY_STAT_MAX] = {
#define TIMELY_STAT(id, name) #name,
	TIMELY_STATS
#undef TIMELY_STAT
};

static int timely_stats_show(struct seq_file *seq, void *v)
{
	struct timely_net *tn = timely_net(seq_file_single_net(seq));
	int i;

	for (i = 0; i < TIMELY_STAT_MAX; i++)
		seq_printf(seq, "%s %lu\n", timely_stat_names[i], percpu_sum(&tn->stats->cnt[i]));
	return 0;
}

/**
 * timely_dev_get() - find the egress device of a flow
 * @tn: namespace of the socket
 * @ifindex: device in that namespace
 *
 * Return: the device with a reference, or NULL if it is not known (any more).
 */
struct line_dev *timely_dev_get(struct timely_net *tn, int ifindex)
{
	return line_dev_find(&tn->rates, ifindex);
}

/**
 * timely_dev_put() - drop the reference of timely_dev_get()
 * @dev: device
 */
void timely_dev_put(struct line_dev *dev)
{
	line_dev_drop(dev);
}

static int timely_netdev_event(struct notifier_block *nb, unsigned long event,
			       void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	line_rates_event(&timely_net(dev_net(dev))->rates, event, dev);
	return NOTIFY_DONE;
}

static struct notifier_block timely_netdev_nb = {
	.notifier_call = timely_netdev_event,
};

/* Returns NULL, or why they cannot be used. */
static const char *timely_conf_defaults(struct timely_conf *conf)
{
	int i;

	for (i = 0; i < TIMELY_P_MAX; i++)
		conf->raw[i] = timely_params[i].def;
	return timely_conf_build(conf);
}

static int __net_init timely_net_init(struct net *net)
{
	struct timely_net *tn = timely_net(net);
	struct timely_conf *conf;
	int err = -ENOMEM;

	mutex_init(&tn->lock);
	line_rates_init(&tn->rates, net);

	conf = kmalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	if (!conf)
		return -ENOMEM;
	/* Usable, or the module would not be loaded. */
	timely_conf_defaults(conf);
	RCU_INIT_POINTER(tn->conf, conf);

	tn->stats = alloc_percpu_gfp(struct timely_stats,
				     GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!tn->stats)
		goto free_conf;
	tn->count = tn->stats;

	tn->params = (struct net_params) {
		.param = timely_params, .words = timely_words, .count = TIMELY_P_MAX,
		.get = timely_param_get, .set = timely_param_set,
	};
	if (!proc_create_net_single("timely", 0444, net->proc_net,
				    timely_stats_show, NULL))
		goto free_stats;
	/* Last: who sets a parameter replaces tn->conf. */
	err = net_params_register(&tn->params, net, "net/ipv4/timely");
	if (err)
		goto remove_proc;
	return 0;

remove_proc:
	remove_proc_entry("timely", net->proc_net);
free_stats:
	free_percpu(tn->stats);
free_conf:
	kfree(conf);
	return err;
}

/*
 * Sockets of users are closed by now, those of the kernel perhaps not: from here on they
 * have what stays. The caller waits for RCU readers before it calls any exit method.
 */
static void __net_exit timely_net_pre_exit(struct net *net)
{
	struct timely_net *tn = timely_net(net);
	struct timely_conf *old;

	remove_proc_entry("timely", net->proc_net);
	/* Nobody sets a parameter any more. */
	net_params_unregister(&tn->params);
	mutex_lock(&tn->lock);
	old = rcu_replace_pointer(tn->conf, &timely_gone_conf, lockdep_is_held(&tn->lock));
	mutex_unlock(&tn->lock);
	WRITE_ONCE(tn->count, &timely_gone_stats);
	kfree_rcu(old, rcu);
}

/* What a socket may still read is @tn itself, which is freed after all exit methods. */
static void __net_exit timely_net_exit(struct net *net)
{
	struct timely_net *tn = timely_net(net);

	line_rates_exit(&tn->rates);
	free_percpu(tn->stats);
}

static struct pernet_operations timely_net_ops = {
	.init		= timely_net_init,
	.pre_exit	= timely_net_pre_exit,
	.exit		= timely_net_exit,
	.id		= &timely_net_id,
	.size		= sizeof(struct timely_net),
};

/**
 * timely_net_register() - set up all namespaces, present and future
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int __init timely_net_register(void)
{
	const char *why;
	int err;

	why = timely_conf_defaults(&timely_gone_conf);
	if (WARN_ONCE(why, "defaults refused: %s", why))
		return -EINVAL;
	timely_gone_conf.rtt_source = TIMELY_RTT_TCP;

	err = register_pernet_subsys(&timely_net_ops);
	if (err)
		return err;

	/* Replays NETDEV_REGISTER and NETDEV_UP of the devices there are. */
	err = register_netdevice_notifier(&timely_netdev_nb);
	if (err)
		goto unregister_pernet;
	return 0;

unregister_pernet:
	unregister_pernet_subsys(&timely_net_ops);
	return err;
}

/**
 * timely_net_unregister() - undo timely_net_register()
 *
 * Context: process, may sleep; no socket uses the module any more.
 */
void timely_net_unregister(void)
{
	/* Replays NETDEV_UNREGISTER, which empties all namespaces. */
	unregister_netdevice_notifier(&timely_netdev_nb);
	unregister_pernet_subsys(&timely_net_ops);
}
