/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A congestion control in each network namespace: its configuration behind sysctls, its
 * counters in /proc/net, and the line rates of the egress devices.
 *
 *	namespace begins	defaults, counters at 0, net.ipv4.NAME, /proc/net/NAME
 *	sysctl is written	copy the configuration, derive the rest, replace it under RCU
 *	namespace goes		sockets of the kernel may outlive it: they get the defaults,
 *				and counters that nobody reads
 *
 * This is a template, so that each module has types of its own. The one file of a module that
 * includes it defines these before:
 *
 *	CC_NAME			NAME, as a string
 *	cc_net			tag of the struct of a namespace, with conf, lock, count, stats,
 *				rates and params; and the function that returns it
 *	cc_net_id		its pernet id
 *	cc_conf			tag of the struct of a configuration, with raw and rcu
 *	cc_stats		tag of the struct of counters, with cnt
 *	cc_params, cc_words	struct net_param of each parameter, and its words
 *	CC_PARAMS, CC_STATS	number of parameters, and of counters
 *	cc_stat_names		names of the counters
 *	cc_gone_conf		configuration of namespaces that are gone
 *	cc_conf_build(conf)	derive all from conf->raw; NULL, or why it cannot be used
 *	cc_conf_refuse(old, id, value)
 *				NULL, or why a parameter cannot be set to a value in its range
 *	cc_more_init(cn), cc_more_exit(cn)
 *				optional: further state of the module in a namespace; init
 *				cannot fail
 */
#ifndef _CC_NET_H
#define _CC_NET_H

#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <line_rate.h>
#include <net_params.h>
#include <percpu_sum.h>

#ifndef cc_more_init
#define cc_more_init(cn)	do { } while (0)
#define cc_more_exit(cn)	do { } while (0)
#endif

static DEFINE_PER_CPU(struct cc_stats, cc_gone_stats);

static int cc_param_set(struct net_params *params, unsigned int id, u64 value, bool quiet)
{
	struct cc_net *cn = container_of(params, struct cc_net, params);
	struct cc_conf *old, *conf;
	const char *why;

	conf = kmalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	if (!conf)
		return -ENOMEM;

	mutex_lock(&cn->lock);
	old = rcu_dereference_protected(cn->conf, lockdep_is_held(&cn->lock));
	memcpy(conf->raw, old->raw, sizeof(conf->raw));
	conf->raw[id] = value;
	why = cc_conf_refuse(old, id, value) ?: cc_conf_build(conf);
	if (!why)
		rcu_assign_pointer(cn->conf, conf);
	mutex_unlock(&cn->lock);

	if (why) {
		if (!quiet)
			pr_info_ratelimited("%s: %llu refused: %s\n", cc_params[id].name,
					    value, why);
		kfree(conf);
		return -EINVAL;
	}
	kfree_rcu(old, rcu);
	return 0;
}

static u64 cc_param_get(struct net_params *params, unsigned int id)
{
	struct cc_net *cn = container_of(params, struct cc_net, params);
	u64 value;

	rcu_read_lock();
	value = rcu_dereference(cn->conf)->raw[id];
	rcu_read_unlock();
	return value;
}

static int cc_stats_show(struct seq_file *seq, void *v)
{
	struct cc_net *cn = cc_net(seq_file_single_net(seq));
	int i;

	for (i = 0; i < CC_STATS; i++)
		seq_printf(seq, "%s %lu\n", cc_stat_names[i], percpu_sum(&cn->stats->cnt[i]));
	return 0;
}

static int cc_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	struct net_device *dev = netdev_notifier_info_to_dev(ptr);

	line_rates_event(&cc_net(dev_net(dev))->rates, event, dev);
	return NOTIFY_DONE;
}

static struct notifier_block cc_netdev_nb = {
	.notifier_call = cc_netdev_event,
};

/* cc_conf_defaults() - set all parameters to their defaults; NULL, or why that cannot be used */
static const char *cc_conf_defaults(struct cc_conf *conf)
{
	int i;

	for (i = 0; i < CC_PARAMS; i++)
		conf->raw[i] = cc_params[i].def;
	return cc_conf_build(conf);
}

static int __net_init cc_net_init(struct net *net)
{
	struct cc_net *cn = cc_net(net);
	struct cc_conf *conf;
	int err = -ENOMEM;

	mutex_init(&cn->lock);
	cc_more_init(cn);
	line_rates_init(&cn->rates, net);

	conf = kmalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	if (!conf)
		return -ENOMEM;
	/* Usable, or the module would not be loaded. */
	cc_conf_defaults(conf);
	RCU_INIT_POINTER(cn->conf, conf);

	cn->stats = alloc_percpu_gfp(struct cc_stats, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!cn->stats)
		goto free_conf;
	cn->count = cn->stats;

	cn->params = (struct net_params) {
		.param = cc_params, .words = cc_words, .count = CC_PARAMS,
		.get = cc_param_get, .set = cc_param_set,
	};
	if (!proc_create_net_single(CC_NAME, 0444, net->proc_net, cc_stats_show, NULL))
		goto free_stats;
	/* Last: setting a parameter replaces cn->conf. */
	err = net_params_register(&cn->params, net, "net/ipv4/" CC_NAME);
	if (err)
		goto remove_proc;
	return 0;

remove_proc:
	remove_proc_entry(CC_NAME, net->proc_net);
free_stats:
	free_percpu(cn->stats);
free_conf:
	kfree(conf);
	return err;
}

/*
 * Sockets of users are closed by now, those of the kernel perhaps not: from here on they
 * use the defaults. The caller waits for RCU readers before it calls any exit method.
 */
static void __net_exit cc_net_pre_exit(struct net *net)
{
	struct cc_net *cn = cc_net(net);
	struct cc_conf *old;

	remove_proc_entry(CC_NAME, net->proc_net);
	/* No parameter can be set any more. */
	net_params_unregister(&cn->params);
	mutex_lock(&cn->lock);
	old = rcu_replace_pointer(cn->conf, &cc_gone_conf, lockdep_is_held(&cn->lock));
	mutex_unlock(&cn->lock);
	WRITE_ONCE(cn->count, &cc_gone_stats);
	line_rates_stop(&cn->rates);
	kfree_rcu(old, rcu);
}

/* A socket may still read @cn itself, which is freed after all exit methods. */
static void __net_exit cc_net_exit(struct net *net)
{
	struct cc_net *cn = cc_net(net);

	line_rates_exit(&cn->rates);
	cc_more_exit(cn);
	free_percpu(cn->stats);
}

static struct pernet_operations cc_net_ops = {
	.init		= cc_net_init,
	.pre_exit	= cc_net_pre_exit,
	.exit		= cc_net_exit,
	.id		= &cc_net_id,
	.size		= sizeof(struct cc_net),
};

/**
 * cc_net_register() - set up all namespaces, present and future
 *
 * cc_gone_conf is set.
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
static int __init cc_net_register(void)
{
	int err;

	err = register_pernet_subsys(&cc_net_ops);
	if (err)
		return err;

	/* Replays NETDEV_REGISTER and NETDEV_UP of the devices there are. */
	err = register_netdevice_notifier(&cc_netdev_nb);
	if (err)
		goto unregister_pernet;
	return 0;

unregister_pernet:
	unregister_pernet_subsys(&cc_net_ops);
	return err;
}

/*
 * cc_net_unregister() - undo cc_net_register(). Process context, may sleep; no socket uses the
 * module any more.
 */
static void cc_net_unregister(void)
{
	/* Replays NETDEV_UNREGISTER, which empties all namespaces. */
	unregister_netdevice_notifier(&cc_netdev_nb);
	unregister_pernet_subsys(&cc_net_ops);
}

#endif /* _CC_NET_H */
