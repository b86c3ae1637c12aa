// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, the timestamp bus: namespaces, the module.
 *
 *	  RX                                           TX
 *	wire -> NIC -> driver -> GRO -> TCP       TCP -> qdisc -> driver -> NIC -> wire
 *	        (1)     (2)  (3)                              (3)  (2)      (1)
 *
 *	(1) the NIC's clock; (2) patched driver; (3) tracepoints, any driver
 *
 * Of a packet that is seen in several places, nic_ts keeps the best timestamp, with its clock.
 * include/nic_ts.h describes the users of timestamps.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include <onramp_version.h>

#include "nic_ts_priv.h"

#define CREATE_TRACE_POINTS
#include "nic_ts_trace.h"

unsigned int nic_ts_net_id __read_mostly;

const char * const nic_ts_net_stat_names[NIC_TS_NET_STAT_MAX] = {
#define NIC_TS_STAT(id, name, what) #name,
	NIC_TS_NET_STATS
#undef NIC_TS_STAT
};

static const struct nic_ts_bus nic_ts_this_bus = {
	.owner		= THIS_MODULE,
	.flow_attach	= nic_ts_entry_attach,
	.flow_detach	= nic_ts_entry_detach,
	.flow_rtt	= nic_ts_entry_rtt,
	.rx_register	= nic_ts_dev_rx_register,
	.rx_unregister	= nic_ts_dev_rx_unregister,
	.hw_request	= nic_ts_dev_hw_request,
	.hw_release	= nic_ts_dev_hw_release,
	.clock_map	= nic_ts_clock_to_host,
	.dev_clock	= nic_ts_dev_from_host,
	.driver_rx	= nic_ts_driver_saw_rx,
	.driver_tx	= nic_ts_driver_sent,
	.driver_tx_done	= nic_ts_driver_done,
};

/* Flows of a namespace that is gone count here. */
static DEFINE_PER_CPU(struct nic_ts_net_stats, nic_ts_gone_stats);

static int __net_init nic_ts_net_init(struct net *net)
{
	struct nic_ts_net *nn = nic_ts_net(net);
	int err;

	nn->net = net;
	nn->stats = alloc_percpu_gfp(struct nic_ts_net_stats,
				     GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!nn->stats)
		return -ENOMEM;
	nn->count = nn->stats;
	err = nic_ts_flow_net_init(nn);
	if (err)
		goto free_stats;
	return 0;

free_stats:
	free_percpu(nn->stats);
	return err;
}

/*
 * A socket of the kernel holds no reference on its namespace. It may be closed in a later exit
 * method than this one. From here on it gets no flow, and its counts are lost. The caller waits
 * for RCU readers before it calls any exit method.
 */
static void __net_exit nic_ts_net_pre_exit(struct net *net)
{
	struct nic_ts_net *nn = nic_ts_net(net);

	WRITE_ONCE(nn->gone, true);
	WRITE_ONCE(nn->count, &nic_ts_gone_stats);
}

static void __net_exit nic_ts_net_exit(struct net *net)
{
	struct nic_ts_net *nn = nic_ts_net(net);

	nic_ts_flow_net_exit(nn);
	free_percpu(nn->stats);
}

static struct pernet_operations nic_ts_net_ops = {
	.init	= nic_ts_net_init,
	.pre_exit = nic_ts_net_pre_exit,
	.exit	= nic_ts_net_exit,
	.id	= &nic_ts_net_id,
	.size	= sizeof(struct nic_ts_net),
};

static int __init nic_ts_module_init(void)
{
	int err;

	nic_ts_capture_init();
	err = nic_ts_flow_init();
	if (err)
		return err;
	err = nic_ts_clock_init();
	if (err)
		goto flow_exit;
	err = nic_ts_hw_init();
	if (err)
		goto clock_exit;
	err = register_pernet_subsys(&nic_ts_net_ops);
	if (err)
		goto hw_exit;
	err = nic_ts_dev_init();
	if (err)
		goto unregister_pernet;
	err = nic_ts_genl_init();
	if (err)
		goto dev_exit;
	err = nic_ts_bus_register(&nic_ts_this_bus);
	if (err)
		goto genl_exit;
	return 0;

genl_exit:
	nic_ts_genl_exit();
dev_exit:
	nic_ts_dev_exit();
unregister_pernet:
	unregister_pernet_subsys(&nic_ts_net_ops);
	/* nic_ts_dev_free() */
	rcu_barrier();
hw_exit:
	nic_ts_hw_exit();
clock_exit:
	nic_ts_clock_exit();
flow_exit:
	nic_ts_flow_exit();
	return err;
}

static void __exit nic_ts_module_exit(void)
{
	nic_ts_bus_unregister(&nic_ts_this_bus);
	nic_ts_genl_exit();
	nic_ts_capture_exit();
	nic_ts_dev_exit();
	unregister_pernet_subsys(&nic_ts_net_ops);
	/* nic_ts_dev_free() */
	rcu_barrier();
	nic_ts_hw_exit();
	nic_ts_clock_exit();
	nic_ts_flow_exit();
}

module_init(nic_ts_module_init);
module_exit(nic_ts_module_exit);

MODULE_DESCRIPTION("Timestamps of packets at the NIC");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
