// SPDX-License-Identifier: GPL-2.0
/*
 * or_port: the UDP port of the OR protocol in each network namespace
 *
 * or_port_udp.c has the port, or_port_guard.c what keeps forwarded datagrams from it, or_port_key.c
 * its keys, or_port_genl.c the netlink family of all modules of On-Ramp, and or_path.c the RTTs of
 * empty paths.
 */
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include <onramp_version.h>
#include <or_genl.h>
#include <or_port.h>
#include <percpu_sum.h>

#include "or_port_priv.h"

unsigned int or_port_net_id __read_mostly;

static const char * const or_port_stat_names[OR_PORT_STAT_MAX] = {
#define OR_PORT_STAT(id, name, what) #name,
	OR_PORT_STATS
#undef OR_PORT_STAT
};

static int or_port_put_stats(struct sk_buff *msg, struct net *net)
{
	struct or_port_net *pn = or_port_net(net);
	int i, err = 0;

	for (i = 0; i < OR_PORT_STAT_MAX && !err; i++)
		err = or_genl_put_stat(msg, or_port_stat_names[i], percpu_sum(&pn->stats->cnt[i]));
	/* As in /proc/net/or_port. */
	return err ?: or_genl_put_stat(msg, "ForwardGuard", READ_ONCE(pn->guarded));
}

static int or_port_stats_show(struct seq_file *seq, void *v)
{
	struct or_port_net *pn = or_port_net(seq_file_single_net(seq));
	int i;

	for (i = 0; i < OR_PORT_STAT_MAX; i++)
		seq_printf(seq, "%s %lu\n", or_port_stat_names[i], percpu_sum(&pn->stats->cnt[i]));
	/* Of now, read locklessly. */
	seq_printf(seq, "ForwardGuard %u\n", READ_ONCE(pn->guarded));
	return 0;
}

static int __net_init or_port_net_init(struct net *net)
{
	struct or_port_net *pn = or_port_net(net);
	int err = -ENOMEM;

	pn->net = net;
	mutex_init(&pn->lock);
	mutex_init(&pn->fabric_set);
	mutex_init(&pn->guard_lock);
	seqlock_init(&pn->key_lock);
	pn->stats = alloc_percpu_gfp(struct or_port_stats,
				     GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!pn->stats)
		return -ENOMEM;
	if (!proc_create_net_single("or_port", 0444, net->proc_net,
				    or_port_stats_show, NULL))
		goto free_stats;
	err = or_port_sysctl_register(pn);
	if (err)
		goto remove_proc;
	return 0;

remove_proc:
	remove_proc_entry("or_port", net->proc_net);
free_stats:
	free_percpu(pn->stats);
	return err;
}

/*
 * The port that a key has opened may get datagrams until now. The caller waits for RCU readers
 * before it calls any exit method.
 */
static void __net_exit or_port_net_pre_exit(struct net *net)
{
	struct or_port_net *pn = or_port_net(net);

	/* No key can be set any more. */
	or_port_sysctl_unregister(pn);
	if (pn->fabric_open)
		or_port_close(net);
}

static void __net_exit or_port_net_exit(struct net *net)
{
	struct or_port_net *pn = or_port_net(net);

	remove_proc_entry("or_port", net->proc_net);
	/* Users were there after us, and have closed it before. */
	WARN_ON_ONCE(pn->users);
	WARN_ON_ONCE(pn->guards);
	or_port_release(pn);
	/* No datagram is on its way: RCU has passed since, or all devices are gone. */
	free_percpu(pn->stats);
}

static struct pernet_operations or_port_net_ops = {
	.init	= or_port_net_init,
	.pre_exit = or_port_net_pre_exit,
	.exit	= or_port_net_exit,
	.id	= &or_port_net_id,
	.size	= sizeof(struct or_port_net),
};

static struct or_genl_user or_genl_self = {
	.owner		= THIS_MODULE,
	.name		= KBUILD_MODNAME,
	.version	= ONRAMP_VERSION,
	.stats		= or_port_put_stats,
};

static int __init or_port_init(void)
{
	int err;

	err = register_pernet_subsys(&or_port_net_ops);
	if (err)
		return err;
	err = or_path_init();
	if (err)
		goto unregister_net;
	/* The first module of the family. */
	or_genl_register(&or_genl_self);
	err = or_genl_init();
	if (err)
		goto exit_path;
	return 0;

exit_path:
	or_path_exit();
unregister_net:
	unregister_pernet_subsys(&or_port_net_ops);
	return err;
}

static void __exit or_port_exit(void)
{
	or_genl_exit();
	or_path_exit();
	/* Users link against this module: there is none, all ports are closed. */
	unregister_pernet_subsys(&or_port_net_ops);
}

/* Built in, after IPv6, whose part of a namespace has to outlive the port's sockets. */
late_initcall(or_port_init);
module_exit(or_port_exit);

MODULE_DESCRIPTION("The UDP port of the OR protocol");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
