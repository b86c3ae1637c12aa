// SPDX-License-Identifier: GPL-2.0
/*
 * labq: the buffer of a switch, as the root qdisc of its ports; labq_sch.c describes it.
 */
#include <linux/module.h>
#include <net/netns/generic.h>

#include <onramp_version.h>

#include "labq.h"

#define CREATE_TRACE_POINTS
#include "labq_trace.h"

unsigned int labq_net_id __read_mostly;

static struct Qdisc_ops labq_qdisc_ops __read_mostly = {
	.id		= "labq",
	.priv_size	= sizeof(struct labq_port),
	.enqueue	= labq_enqueue,
	.dequeue	= labq_dequeue,
	.peek		= qdisc_peek_dequeued,
	.init		= labq_init,
	.reset		= labq_reset,
	.destroy	= labq_destroy,
	.change		= labq_change,
	.dump		= labq_dump,
	.dump_stats	= labq_dump_stats,
	.owner		= THIS_MODULE,
};

static int __net_init labq_net_init(struct net *net)
{
	struct labq_switch *sw = net_generic(net, labq_net_id);
	unsigned int i;

	spin_lock_init(&sw->lock);
	INIT_LIST_HEAD(&sw->ports);
	for (i = 0; i < ARRAY_SIZE(sw->ingress); i++)
		INIT_HLIST_HEAD(&sw->ingress[i]);
	labq_defaults(&sw->cfg);
	sw->shared.size = sw->cfg.buffer_bytes;
	labq_signal_init(sw, net);
	return 0;
}

static void __net_exit labq_net_exit(struct net *net)
{
	struct labq_switch *sw = net_generic(net, labq_net_id);

	labq_signal_exit(sw);
	kvfree(sw->marks);
}

static struct pernet_operations labq_net_ops = {
	.init	= labq_net_init,
	.exit	= labq_net_exit,
	.id	= &labq_net_id,
	.size	= sizeof(struct labq_switch),
};

static int __init labq_module_init(void)
{
	int err = register_pernet_subsys(&labq_net_ops);

	if (err)
		return err;
	err = register_qdisc(&labq_qdisc_ops);
	if (err)
		unregister_pernet_subsys(&labq_net_ops);
	return err;
}

static void __exit labq_module_exit(void)
{
	unregister_qdisc(&labq_qdisc_ops);
	unregister_pernet_subsys(&labq_net_ops);
	labq_telemetry_exit();
}

module_init(labq_module_init);
module_exit(labq_module_exit);

/* The name that kernels ask for has changed with 6.8. */
MODULE_ALIAS("net-sch-labq");
MODULE_ALIAS("sch_labq");
MODULE_AUTHOR("The onramp authors");
MODULE_DESCRIPTION("Shared buffer of a switch for tests: ECN, RED, PFC, Mercury");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
