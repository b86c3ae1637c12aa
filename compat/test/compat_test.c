// SPDX-License-Identifier: GPL-2.0
/*
 * Uses every shim once, as the modules do. It is compiled for each supported
 * kernel by `make compat-check`, and never loaded.
 */
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/slab.h>
#include <linux/sysctl.h>
#include <linux/timer.h>
#include <linux/unaligned.h>
#include <net/tcp.h>

#define CREATE_TRACE_POINTS
#include "compat_test_trace.h"

struct compat_test {
	struct timer_list	timer;
	u32			fired;
};

static struct ctl_table_header *compat_test_header;
static struct compat_test compat_test;

static void compat_test_tx_start(struct sock *sk)
{
	struct dst_entry *dst;
	struct net_device *dev;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	dev = dst ? dst_dev_rcu(dst) : NULL;
	trace_compat_test_name(dev && dst_dev(dst) ? dev->name : "");
	rcu_read_unlock();
}

COMPAT_CWND_EVENT_TX_START(compat_test_tx_start);

static void compat_test_cong_control(struct sock *sk, u32 ack, int flag,
				     const struct rate_sample *rs)
{
	if (!before(ack, tcp_sk(sk)->snd_una) && !rs->is_ack_delayed)
		tcp_snd_cwnd_set(tcp_sk(sk), TCP_INIT_CWND);
}

COMPAT_CONG_CONTROL(compat_test_cong_control);

static struct tcp_congestion_ops compat_test_ops __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "compat_test",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_control	= compat_cong_control(compat_test_cong_control),
	compat_cwnd_event_tx_start(compat_test_tx_start),
};

static int compat_test_handler(const struct ctl_table *ctl, int write,
			       void *buffer, size_t *lenp, loff_t *ppos)
{
	struct ctl_table copy = *ctl;

	return proc_dointvec(&copy, write, buffer, lenp, ppos);
}

COMPAT_PROC_HANDLER(compat_test_handler);

static struct ctl_table compat_test_table[] = {
	{
		.procname	= "fired",
		.data		= &compat_test.fired,
		.maxlen		= sizeof(compat_test.fired),
		.mode		= 0444,
		.proc_handler	= compat_proc_handler(compat_test_handler),
	},
	{ }
};

static void compat_test_fire(struct timer_list *timer)
{
	struct compat_test *test = timer_container_of(test, timer, timer);

	test->fired = get_unaligned(&test->fired) + 1;
}

static int __init compat_test_init(void)
{
	int err;

	compat_test_header = register_net_sysctl_sz(&init_net, "net/compat_test",
						    compat_test_table, 1);
	if (!compat_test_header)
		return -ENOMEM;

	err = tcp_register_congestion_control(&compat_test_ops);
	if (err)
		goto unregister_sysctl;

	timer_setup(&compat_test.timer, compat_test_fire, 0);
	mod_timer(&compat_test.timer, jiffies + HZ);
	return 0;

unregister_sysctl:
	unregister_net_sysctl_table(compat_test_header);
	return err;
}

static void __exit compat_test_exit(void)
{
	timer_delete_sync(&compat_test.timer);
	timer_shutdown_sync(&compat_test.timer);
	tcp_unregister_congestion_control(&compat_test_ops);
	unregister_net_sysctl_table(compat_test_header);
}

module_init(compat_test_init);
module_exit(compat_test_exit);

MODULE_DESCRIPTION("Compile test of the compatibility shims");
MODULE_VERSION(ONRAMP_VERSION);
MODULE_LICENSE("GPL");
