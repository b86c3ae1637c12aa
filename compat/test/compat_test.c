// SPDX-License-Identifier: GPL-2.0
/*
 * Uses every shim once, as the modules do. It is compiled for each supported
 * kernel by `make compat-check`, and never loaded.
 */
#include <linux/ethtool.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/net_tstamp.h>
#include <linux/netdevice.h>
#include <linux/rbtree.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <linux/sockios.h>
#include <linux/sysctl.h>
#include <linux/timekeeping.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/unaligned.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/inet6_hashtables.h>
#include <net/netdev_lock.h>
#include <net/pkt_sched.h>
#include <net/rtnetlink.h>
#include <net/sch_generic.h>
#include <net/tcp.h>
#include <net/udp_tunnel.h>

#include <onramp_version.h>

#define CREATE_TRACE_POINTS
#include "compat_test_trace.h"

struct compat_test {
	struct rb_node		node;
	struct timer_list	timer;
	struct hrtimer		hrtimer;
	u32			fired;
};

static struct ctl_table_header *compat_test_header;
static struct compat_test compat_test;

COMPAT_DEV_HWTSTAMP(compat_test_hwtstamp);

static int compat_test_coalesce(struct net_device *dev)
{
	struct ethtool_coalesce coalesce = {};

	return dev->ethtool_ops->get_coalesce ? compat_get_coalesce(dev, &coalesce) : 0;
}

static void compat_test_stamp(struct net_device *dev, struct sk_buff *skb)
{
	struct kernel_hwtstamp_config config = {};

	if (!compat_test_coalesce(dev) && !compat_test_hwtstamp(dev, &config, false) &&
	    config.tx_type)
		skb_shinfo(skb)->tx_flags |= SKBTX_HW_TSTAMP_NOBPF;
	if (skb_shinfo(skb)->tx_flags & SKBTX_HW_TSTAMP_NETDEV)
		skb->tstamp = netdev_get_tstamp(dev, skb_hwtstamps(skb), false);
}

static void compat_test_tx_start(struct sock *sk)
{
	struct dst_entry *dst __uninitialized;
	struct net_device *dev;

	rcu_read_lock();
	dst = __sk_dst_get(sk);
	dev = dst ? dst_dev_rcu(dst) : NULL;
	trace_compat_test_name(dev && dst_dev(dst) ? dev->name : "");
	if (dev && tcp_rtx_queue_head(sk))
		compat_test_stamp(dev, tcp_rtx_queue_head(sk));
	rcu_read_unlock();
}

COMPAT_CWND_EVENT_TX_START(compat_test_tx_start);

static void compat_test_sent(struct sock *sk)
{
	if (sk_is_tcp(sk) && tcp_snd_cwnd(tcp_sk(sk)) && tcp_ecn_mode_any(tcp_sk(sk)))
		tcp_snd_cwnd_set(tcp_sk(sk), TCP_INIT_CWND);
}

static void compat_test_event(struct sock *sk, enum tcp_ca_event event)
{
	if (event == CA_EVENT_ECN_IS_CE && tcp_ecn_mode_rfc3168(tcp_sk(sk)))
		compat_send_ack(sk, tcp_sk(sk)->rcv_nxt);
}

COMPAT_CWND_EVENTS(compat_test_event, compat_test_sent);

static void compat_test_cong_control(struct sock *sk, u32 ack, int flag,
				     const struct rate_sample *rs)
{
	if (!before(ack, tcp_sk(sk)->snd_una) && !rs->is_ack_delayed)
		tcp_snd_cwnd_set(tcp_sk(sk), TCP_INIT_CWND);
}

COMPAT_CONG_CONTROL(compat_test_cong_control);

static u32 compat_test_min_tso_segs(struct sock *sk)
{
	return sk->sk_gso_max_segs;
}

COMPAT_MIN_TSO_SEGS(compat_test_min_tso_segs);

static struct tcp_congestion_ops compat_test_ops __read_mostly = {
	.flags		= TCP_CONG_NON_RESTRICTED,
	.name		= "compat_test",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_control	= compat_cong_control(compat_test_cong_control),
	compat_min_tso_segs(compat_test_min_tso_segs),
	compat_cwnd_event_tx_start(compat_test_tx_start),
};

static struct tcp_congestion_ops compat_test_ecn_ops __read_mostly = {
	.flags		= TCP_CONG_NEEDS_ECN,
	.name		= "compat_test_ecn",
	.owner		= THIS_MODULE,
	.ssthresh	= tcp_reno_ssthresh,
	.undo_cwnd	= tcp_reno_undo_cwnd,
	.cong_avoid	= tcp_reno_cong_avoid,
	compat_cwnd_events(compat_test_event, compat_test_sent),
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

	test->fired = get_unaligned(&test->fired) + in_hardirq();
}

static bool compat_test_less(struct rb_node *node, const struct rb_node *other)
{
	return rb_entry(node, struct compat_test, node)->fired <
	       rb_entry(other, struct compat_test, node)->fired;
}

static int compat_test_cmp(const void *key, const struct rb_node *node)
{
	return *(const u32 *)key - rb_entry(node, struct compat_test, node)->fired;
}

static bool compat_test_tree(struct compat_test *test)
{
	struct rb_root_cached cached = RB_ROOT_CACHED;
	struct rb_root root = RB_ROOT;

	rb_add_cached(&test->node, &cached, compat_test_less);
	rb_erase_cached(&test->node, &cached);
	rb_add(&test->node, &root, compat_test_less);
	return rb_find(&test->fired, &root, compat_test_cmp);
}

static enum hrtimer_restart compat_test_hrtimer(struct hrtimer *hrtimer)
{
	return HRTIMER_NORESTART;
}

static int compat_test_hwtstamp_get(struct net_device *dev,
				    struct kernel_hwtstamp_config *config)
{
	config->tx_type = HWTSTAMP_TX_OFF;
	return 0;
}

static int compat_test_hwtstamp_set(struct net_device *dev,
				    struct kernel_hwtstamp_config *config,
				    struct netlink_ext_ack *extack)
{
	return config->tx_type == HWTSTAMP_TX_OFF ? 0 : -ERANGE;
}

COMPAT_NDO_HWTSTAMP(compat_test_hwtstamp_get, compat_test_hwtstamp_set);

static const struct net_device_ops compat_test_netdev_ops = {
	compat_ndo_hwtstamp(compat_test_hwtstamp_get, compat_test_hwtstamp_set),
};

static int compat_test_get_ts_info(struct net_device *dev,
				   struct kernel_ethtool_ts_info *info)
{
	struct system_device_crosststamp xts = {};
	ktime_t mono, raw;

	compat_snapshot_mono(&mono, &raw);
	compat_crosststamp(&xts);
	return xts.sys_monoraw < raw || !mono ? -EIO : 0;
}

static const struct ethtool_ops compat_test_ethtool_ops = {
	.get_ts_info	= compat_test_get_ts_info,
};

static void compat_test_setup(struct net_device *dev)
{
	dev->netdev_ops = &compat_test_netdev_ops;
	dev->ethtool_ops = &compat_test_ethtool_ops;
}

static int compat_test_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			       struct netlink_ext_ack *extack)
{
	if (!params->tb || !params->data || rtnl_newlink_peer_net(params) == &init_net)
		return -EINVAL;
	return register_netdevice(dev);
}

COMPAT_RTNL_NEWLINK(compat_test_newlink, 1);

static struct rtnl_link_ops compat_test_link_ops __read_mostly = {
	.kind		= "compat_test",
	.setup		= compat_test_setup,
	.maxtype	= 1,
	compat_rtnl_newlink(compat_test_newlink, 1),
};

static int compat_test_enqueue(struct sk_buff *skb, struct Qdisc *sch,
			       struct sk_buff **to_free)
{
	if (!skb->priority)
		return compat_qdisc_drop(skb, sch, to_free, FLOW_LIMIT);
	compat_qdisc_skb_len(skb, skb->len);
	qdisc_qlen_inc(sch);
	return NET_XMIT_SUCCESS;
}

static struct sk_buff *compat_test_dequeue(struct Qdisc *sch)
{
	qdisc_qlen_dec(sch);
	return NULL;
}

static struct Qdisc_ops compat_test_qdisc_ops __read_mostly = {
	.id		= "compat_test",
	.enqueue	= compat_test_enqueue,
	.dequeue	= compat_test_dequeue,
	.peek		= qdisc_peek_dequeued,
	.owner		= THIS_MODULE,
};

static bool compat_test_lookup(struct net *net, const struct in6_addr *addr)
{
	struct sock *sk;

	sk = compat_inet_lookup_established(net, 0, 0, 0, 0, 0, 0) ?:
	     compat_inet6_lookup_established(net, addr, 0, addr, 0, 0, 0);
	if (sk)
		sock_gen_put(sk);
	return sk && compat_tcp_hashinfo(net)->ehash;
}

static const struct genl_multicast_group compat_test_group = {
	.name	= "compat_test",
	.flags	= GENL_MCAST_CAP_NET_ADMIN,
};

static int compat_test_doit(struct sk_buff *skb, struct genl_info *info)
{
	return GENL_REQ_ATTR_CHECK(info, 1) ? -EINVAL : 0;
}

static int compat_test_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return compat_genl_dump_attrs(cb)[1] ? -EINVAL : 0;
}

static const struct genl_ops compat_test_genl_ops = {
	.cmd	= 1,
	.doit	= compat_test_doit,
	.dumpit	= compat_test_dumpit,
};

static struct genl_family compat_test_family = {
	.name		= "compat_test",
	.version	= 1,
	.maxattr	= 1,
	.module		= THIS_MODULE,
	.ops		= &compat_test_genl_ops,
	.n_ops		= 1,
	.mcgrps		= &compat_test_group,
	.n_mcgrps	= 1,
};

static int compat_test_bind(void)
{
	struct sockaddr_storage addr = { .ss_family = AF_INET };
	struct socket *sock;
	int err;

	err = sock_create_kern(&init_net, AF_INET, SOCK_DGRAM, IPPROTO_UDP, &sock);
	if (err)
		return err;
	compat_udp_tunnel_encap_enable(sock->sk);
	err = kernel_bind(sock, (struct sockaddr_unsized *)&addr, sizeof(addr));
	sock_release(sock);
	return err;
}

static void compat_test_work_fn(struct work_struct *work)
{
}

static DECLARE_WORK(compat_test_work, compat_test_work_fn);

static int __init compat_test_init(void)
{
	int err;

	err = genl_register_family(&compat_test_family);
	if (!err)
		err = genl_unregister_family(&compat_test_family);
	if (!err)
		err = compat_test_bind();
	if (err || !compat_test_tree(&compat_test) ||
	    compat_test_lookup(&init_net, &in6addr_loopback))
		return err;

	compat_test_header = register_net_sysctl_sz(&init_net, "net/compat_test",
						    compat_test_table, 1);
	if (!compat_test_header)
		return -ENOMEM;

	err = tcp_register_congestion_control(&compat_test_ops);
	if (err)
		goto unregister_sysctl;

	err = tcp_register_congestion_control(&compat_test_ecn_ops);
	if (err)
		goto unregister_cc;

	err = rtnl_link_register(&compat_test_link_ops);
	if (err)
		goto unregister_ecn;

	err = register_qdisc(&compat_test_qdisc_ops);
	if (err)
		goto unregister_link;

	hrtimer_setup(&compat_test.hrtimer, compat_test_hrtimer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL);
	timer_setup(&compat_test.timer, compat_test_fire, 0);
	mod_timer(&compat_test.timer, jiffies + HZ);
	queue_work(system_percpu_wq, &compat_test_work);
	return 0;

unregister_link:
	rtnl_link_unregister(&compat_test_link_ops);
unregister_ecn:
	tcp_unregister_congestion_control(&compat_test_ecn_ops);
unregister_cc:
	tcp_unregister_congestion_control(&compat_test_ops);
unregister_sysctl:
	unregister_net_sysctl_table(compat_test_header);
	return err;
}

static void __exit compat_test_exit(void)
{
	cancel_work_sync(&compat_test_work);
	timer_delete_sync(&compat_test.timer);
	timer_shutdown_sync(&compat_test.timer);
	unregister_qdisc(&compat_test_qdisc_ops);
	rtnl_link_unregister(&compat_test_link_ops);
	tcp_unregister_congestion_control(&compat_test_ecn_ops);
	tcp_unregister_congestion_control(&compat_test_ops);
	unregister_net_sysctl_table(compat_test_header);
}

module_init(compat_test_init);
module_exit(compat_test_exit);

MODULE_DESCRIPTION("Compile test of the compatibility shims");
MODULE_VERSION(ONRAMP_VERSION);
MODULE_LICENSE("GPL");
