// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: the module, its namespaces, and who calls it
 */
#include <linux/module.h>
#include <linux/proc_fs.h>

#include <onramp_version.h>
#include <or_delay.h>

#include "onramp_conn.h"
#include "onramp_event.h"
#include "onramp_flow.h"
#include "onramp_fwd_table.h"

unsigned int onramp_net_id __read_mostly;

static int __net_init onramp_net_init(struct net *net)
{
	struct onramp_net *onet = onramp_net(net);
	int err;

	onet->net = net;
	spin_lock_init(&onet->lock);
	INIT_LIST_HEAD(&onet->list);
	INIT_LIST_HEAD(&onet->evicted);
	INIT_LIST_HEAD(&onet->qdiscs);
	INIT_DELAYED_WORK(&onet->age_work, onramp_conn_age);
	onet->stats = alloc_percpu_gfp(struct onramp_net_stats, GFP_KERNEL_ACCOUNT);
	if (!onet->stats)
		return -ENOMEM;
	err = rhashtable_init(&onet->peers, &onramp_peer_table);
	if (err)
		goto free_stats;
	err = rhashtable_init(&onet->conns, &onramp_conn_table);
	if (err)
		goto destroy_peers;
	err = onramp_fwd_net_init(onet);
	if (err)
		goto destroy_conns;
	err = -ENOMEM;
	/*
	 * It has addresses of others' connections, also of those that are forwarded. Netlink asks
	 * for CAP_NET_ADMIN for the same, and so does nf_conntrack, whose file has this mode.
	 */
	if (!proc_create_net_single("onramp_peers", 0440, net->proc_net, onramp_peers_show, NULL))
		goto exit_forward;
	return 0;

exit_forward:
	onramp_fwd_net_exit(onet);
destroy_conns:
	rhashtable_destroy(&onet->conns);
destroy_peers:
	rhashtable_destroy(&onet->peers);
free_stats:
	free_percpu(onet->stats);
	return err;
}

/* The devices are gone, and qdiscs and connections with them: only peers are left. */
static void __net_exit onramp_net_exit(struct net *net)
{
	struct onramp_net *onet = onramp_net(net);

	remove_proc_entry("onramp_peers", net->proc_net);
	cancel_delayed_work_sync(&onet->age_work);
	onramp_fwd_net_exit(onet);
	onramp_peers_exit(onet);
	rhashtable_destroy(&onet->conns);
	rhashtable_destroy(&onet->peers);
	free_percpu(onet->stats);
}

static struct pernet_operations onramp_net_ops = {
	.init	= onramp_net_init,
	.exit	= onramp_net_exit,
	.id	= &onramp_net_id,
	.size	= sizeof(struct onramp_net),
};

static const struct or_port_user onramp_port_acks = {
	.type	= OR_TYPE_ACK,
	.owner	= THIS_MODULE,
	.rcv	= onramp_conn_rcv,
};

static const struct or_port_user onramp_port_challenges = {
	.type	= OR_TYPE_CHALLENGE,
	.owner	= THIS_MODULE,
	.rcv	= onramp_peer_rcv,
};

static struct Qdisc_ops onramp_qdisc_ops __read_mostly = {
	.id		= "onramp",
	.priv_size	= sizeof(struct onramp_sched),
	.enqueue	= onramp_enqueue,
	.dequeue	= onramp_dequeue,
	.peek		= onramp_peek,
	.init		= onramp_init,
	.reset		= onramp_reset,
	.destroy	= onramp_destroy,
	.change		= onramp_change,
	.dump		= onramp_dump,
	.dump_stats	= onramp_dump_stats,
	.owner		= THIS_MODULE,
};

static int __init onramp_module_init(void)
{
	int err = onramp_flow_cache_create();

	if (err)
		return err;
	err = onramp_conn_cache_create();
	if (err)
		goto destroy_flows;
	err = onramp_link_module_init();
	if (err)
		goto destroy_conns;
	err = onramp_peer_cache_create();
	if (err)
		goto exit_links;
	err = register_pernet_subsys(&onramp_net_ops);
	if (err)
		goto destroy_peers;
	err = or_port_register(&onramp_port_acks);
	if (err)
		goto unregister_net;
	err = or_port_register(&onramp_port_challenges);
	if (err)
		goto unregister_acks;
	err = register_qdisc(&onramp_qdisc_ops);
	if (err)
		goto unregister_challenges;
	onramp_genl_init();
	or_delay_register(onramp_conn_delay);
	return 0;

unregister_challenges:
	or_port_unregister(&onramp_port_challenges);
unregister_acks:
	or_port_unregister(&onramp_port_acks);
unregister_net:
	unregister_pernet_subsys(&onramp_net_ops);
destroy_peers:
	onramp_peer_cache_destroy();
exit_links:
	onramp_link_module_exit();
destroy_conns:
	onramp_conn_cache_destroy();
destroy_flows:
	onramp_flow_cache_destroy();
	return err;
}

static void __exit onramp_module_exit(void)
{
	or_delay_unregister();
	onramp_genl_exit();
	unregister_qdisc(&onramp_qdisc_ops);
	or_port_unregister(&onramp_port_challenges);
	or_port_unregister(&onramp_port_acks);
	unregister_pernet_subsys(&onramp_net_ops);
	onramp_peer_cache_destroy();
	onramp_link_module_exit();
	onramp_conn_cache_destroy();
	onramp_flow_cache_destroy();
}

/* Built in, after or_port. */
late_initcall_sync(onramp_module_init);
module_exit(onramp_module_exit);

/* Kernels before 6.8 ask for sch_onramp, which is the name of the module. */
MODULE_ALIAS("net-sch-onramp");
MODULE_AUTHOR("The onramp authors");
MODULE_DESCRIPTION("On-Ramp sender: fair queueing, pacing, pauses");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
