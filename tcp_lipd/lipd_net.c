// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_lipd, per network namespace: net.ipv4.lipd.*, the line rates of the egress
 * devices, and /proc/net/lipd.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <line_rate.h>
#include <net_params.h>
#include <percpu_sum.h>

#include "lipd.h"

unsigned int lipd_net_id __read_mostly;

/* Sockets of a namespace that is gone use these: the defaults. */
static struct lipd_conf lipd_gone_conf __ro_after_init;
static DEFINE_PER_CPU(struct lipd_stats, lipd_gone_stats);

/* The rows of lipd_params.h. */
static const struct net_param lipd_params[LIPD_P_MAX] = {
#define LIPD_PARAM(id, name, min, max, def, unit, what, source) \
	[LIPD_P_##id] = { __stringify(name), unit, min, max, def },
	LIPD_PARAMS
#undef LIPD_PARAM
};

/* Parameters that are one of two words. */
static const char * const lipd_words[LIPD_P_MAX][2] = {
	[LIPD_P_RATES] = {
		[LIPD_RATES_CONTINUOUS]	= "continuous",
		[LIPD_RATES_DISCRETE]	= "discrete",
	},
};

/* Any combination of values that are in their ranges can be used. */
static void lipd_conf_build(struct lipd_conf *conf)
{
	const u64 *raw = conf->raw;

	conf->line_rate_bps = raw[LIPD_P_LINE_RATE] * LINE_RATE_MBIT;
	conf->levels = raw[LIPD_P_LEVELS];
	conf->discrete = raw[LIPD_P_RATES] == LIPD_RATES_DISCRETE;
	conf->marks_per_rtt = raw[LIPD_P_MARKS];
	conf->window_packets = raw[LIPD_P_WINDOW];
	conf->segment_bytes = raw[LIPD_P_SEGMENT];
	conf->idle_reset_ns = raw[LIPD_P_IDLE_RESET];
}

static void lipd_conf_defaults(struct lipd_conf *conf)
{
	int i;

	for (i = 0; i < LIPD_P_MAX; i++)
		conf->raw[i] = lipd_params[i].def;
	lipd_conf_build(conf);
}

static int lipd_param_set(struct net_params *params, unsigned int id, u64 value, bool quiet)
{
	struct lipd_net *ln = container_of(params, struct lipd_net, params);
	struct lipd_conf *old, *conf;

	conf = kmalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	if (!conf)
		return -ENOMEM;

	mutex_lock(&ln->lock);
	old = rcu_dereference_protected(ln->conf, lockdep_is_held(&ln->lock));
	memcpy(conf->raw, old->raw, sizeof(conf->raw));
	conf->raw[id] = value;
	lipd_conf_build(conf);
	rcu_assign_pointer(ln->conf, conf);
	mutex_unlock(&ln->lock);

	kfree_rcu(old, rcu);
	return 0;
}

static u64 lipd_param_get(struct net_params *params, unsigned int id)
{
	struct lipd_net *ln = container_of(params, struct lipd_net, params);
	u64 value;

	rcu_read_lock();
	value = rcu_dereference(ln->conf)->raw[id];
	rcu_read_unlock();
	return value;
}

static const char * const lipd_stat_names[LIPD_STAT_MAX] = {
#define LIPD_STAT(id, name, what) #name,
	LIPD_STATS
#undef LIPD_STAT
};

static int lipd_stats_show(struct seq_file *seq, void *v)
{
	struct lipd_net *ln = lipd_net(seq_file_single_net(seq));
	int i;

	for (i = 0; i < LIPD_STAT_MAX; i++)
		seq_printf(seq, "%s %lu\n", lipd_stat_names[i], percpu_sum(&ln->stats->cnt[i]));
	return 0;
}

/**
 * lipd_dev_get() - the egress device of a flow
 * @ln: namespace of the socket
 * @ifindex: device in that namespace
 *
 * Return: the device with a reference, or NULL if it is not known (any more).
 */
struct line_dev *lipd_dev_get(struct lipd_net *ln, int ifindex)
{
	return line_dev_find(&ln->rates, ifindex);
}

/**
 * lipd_dev_put() - drop the reference of lipd_dev_get()
 * @dev: device
 */
void lipd_dev_put(struct line_dev *dev)
{
	line_dev_drop(dev);
}

static int lipd_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	line_rates_event(&lipd_net(dev_net(dev))->rates, event, dev);
	return NOTIFY_DONE;
}

static struct notifier_block lipd_netdev_nb = {
	.notifier_call = lipd_netdev_event,
};

static int __net_init lipd_net_init(struct net *net)
{
	struct lipd_net *ln = lipd_net(net);
	struct lipd_conf *conf;
	int err = -ENOMEM;

	mutex_init(&ln->lock);
	line_rates_init(&ln->rates, net);

	conf = kmalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	if (!conf)
		return -ENOMEM;
	lipd_conf_defaults(conf);
	RCU_INIT_POINTER(ln->conf, conf);

	ln->stats = alloc_percpu_gfp(struct lipd_stats, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!ln->stats)
		goto free_conf;
	ln->count = ln->stats;

	ln->params = (struct net_params) {
		.param = lipd_params, .words = lipd_words, .count = LIPD_P_MAX,
		.get = lipd_param_get, .set = lipd_param_set,
	};
	if (!proc_create_net_single("lipd", 0444, net->proc_net, lipd_stats_show, NULL))
		goto free_stats;
	/* Last: setting a parameter replaces ln->conf. */
	err = net_params_register(&ln->params, net, "net/ipv4/lipd");
	if (err)
		goto remove_proc;
	return 0;

remove_proc:
	remove_proc_entry("lipd", net->proc_net);
free_stats:
	free_percpu(ln->stats);
free_conf:
	kfree(conf);
	return err;
}

/*
 * Sockets of users are closed by now, those of the kernel perhaps not: from here on they
 * use the defaults. The caller waits for RCU readers before it calls any exit method.
 */
static void __net_exit lipd_net_pre_exit(struct net *net)
{
	struct lipd_net *ln = lipd_net(net);
	struct lipd_conf *old;

	remove_proc_entry("lipd", net->proc_net);
	/* Nobody sets a parameter any more. */
	net_params_unregister(&ln->params);
	mutex_lock(&ln->lock);
	old = rcu_replace_pointer(ln->conf, &lipd_gone_conf, lockdep_is_held(&ln->lock));
	mutex_unlock(&ln->lock);
	WRITE_ONCE(ln->count, &lipd_gone_stats);
	kfree_rcu(old, rcu);
}

/* A socket may still read @ln itself, which is freed after all exit methods. */
static void __net_exit lipd_net_exit(struct net *net)
{
	struct lipd_net *ln = lipd_net(net);

	line_rates_exit(&ln->rates);
	free_percpu(ln->stats);
}

static struct pernet_operations lipd_net_ops = {
	.init		= lipd_net_init,
	.pre_exit	= lipd_net_pre_exit,
	.exit		= lipd_net_exit,
	.id		= &lipd_net_id,
	.size		= sizeof(struct lipd_net),
};

/**
 * lipd_net_register() - set up all namespaces, present and future
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int __init lipd_net_register(void)
{
	int err;

	lipd_conf_defaults(&lipd_gone_conf);

	err = register_pernet_subsys(&lipd_net_ops);
	if (err)
		return err;

	/* Replays NETDEV_REGISTER and NETDEV_UP of the devices there are. */
	err = register_netdevice_notifier(&lipd_netdev_nb);
	if (err)
		goto unregister_pernet;
	return 0;

unregister_pernet:
	unregister_pernet_subsys(&lipd_net_ops);
	return err;
}

/**
 * lipd_net_unregister() - undo lipd_net_register()
 *
 * Context: process, may sleep; no socket uses the module any more.
 */
void lipd_net_unregister(void)
{
	/* Replays NETDEV_UNREGISTER, which empties all namespaces. */
	unregister_netdevice_notifier(&lipd_netdev_nb);
	unregister_pernet_subsys(&lipd_net_ops);
}
