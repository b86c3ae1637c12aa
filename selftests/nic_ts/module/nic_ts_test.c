// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_test: a user of the timestamp bus, for its kselftests
 *
 * As a congestion control, "nic_ts_test", it is reno with a flow attached: each
 * ACK asks for the RTT, and checks what has to hold for every answer:
 *
 *	both stamps are of one domain; by the NIC's clock both or none are;
 *	software's are not from the future; the segment ends at or before snd_una
 *
 * As a receiver it counts the packets of a device:
 *
 *	echo IFINDEX >/sys/module/nic_ts_test/parameters/watch	0: give all up
 *	echo IFINDEX >/sys/module/nic_ts_test/parameters/hardware	the same
 *	cat /sys/module/nic_ts_test/parameters/counts
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#include <nic_ts.h>

#define NIC_TS_TEST_COUNTS \
	NIC_TS_TEST(packets) NIC_TS_TEST(bytes) NIC_TS_TEST(hardware) \
	NIC_TS_TEST(driver) NIC_TS_TEST(mapped) \
	NIC_TS_TEST(attached) NIC_TS_TEST(refused) NIC_TS_TEST(aged) \
	NIC_TS_TEST(asked) NIC_TS_TEST(ok) NIC_TS_TEST(no_tx) \
	NIC_TS_TEST(no_ack) NIC_TS_TEST(ambiguous) NIC_TS_TEST(invalid) \
	NIC_TS_TEST(of_hardware) NIC_TS_TEST(of_map) NIC_TS_TEST(of_software) \
	NIC_TS_TEST(bad_domain) NIC_TS_TEST(bad_future) NIC_TS_TEST(bad_segment) \
	NIC_TS_TEST(bad_rtt)

enum nic_ts_test_count {
#define NIC_TS_TEST(name) C_##name,
	NIC_TS_TEST_COUNTS
#undef NIC_TS_TEST
	C_MAX
};

static const char * const nic_ts_test_names[C_MAX] = {
#define NIC_TS_TEST(name) #name,
	NIC_TS_TEST_COUNTS
#undef NIC_TS_TEST
};

static atomic64_t counts[C_MAX];
static atomic64_t min_rtt_ns = ATOMIC64_INIT(S64_MAX);
static atomic64_t max_rtt_ns;

static void count(enum nic_ts_test_count c)
{
	atomic64_inc(&counts[c]);
}

/* Receivers ---------------------------------------------------------------- */

struct nic_ts_test_watch {
	struct nic_ts_receiver receiver;
	struct list_head list;
};

static LIST_HEAD(watches);
static DEFINE_MUTEX(watch_mutex);	/* watches, hardware_* */

static void nic_ts_test_rx(struct nic_ts_receiver *receiver, const struct sk_buff *skb,
			   const struct nic_ts_packet *packet,
			   const struct nic_ts_stamp *stamp)
{
	u64 host_ns;
	u32 error_ns;

	count(C_packets);
	atomic64_add(packet->payload, &counts[C_bytes]);
	if (stamp->hw_ns)
		count(C_hardware);
	if (stamp->source == NIC_TS_SRC_DRIVER)
		count(C_driver);
	if (!nic_ts_clock_map(stamp, &host_ns, &error_ns))
		count(C_mapped);
}

static void nic_ts_test_unwatch(void)
{
	struct nic_ts_test_watch *watch, *next;

	lockdep_assert_held(&watch_mutex);
	list_for_each_entry_safe(watch, next, &watches, list) {
		list_del(&watch->list);
		nic_ts_rx_unregister(&watch->receiver);
		put_net(watch->receiver.net);
		kfree(watch);
	}
}

static int nic_ts_test_watch(int ifindex)
{
	struct nic_ts_test_watch *watch;
	int err;

	watch = kzalloc(sizeof(*watch), GFP_KERNEL);
	if (!watch)
		return -ENOMEM;
	watch->receiver.rx = nic_ts_test_rx;
	watch->receiver.net = get_net(current->nsproxy->net_ns);
	watch->receiver.ifindex = ifindex;
	err = nic_ts_rx_register(&watch->receiver);
	if (err) {
		put_net(watch->receiver.net);
		kfree(watch);
		return err;
	}
	list_add(&watch->list, &watches);
	return 0;
}

static int watch_set(const char *val, const struct kernel_param *kp)
{
	int ifindex, err;

	err = kstrtoint(val, 10, &ifindex);
	if (err)
		return err;
	mutex_lock(&watch_mutex);
	if (ifindex)
		err = nic_ts_test_watch(ifindex);
	else
		nic_ts_test_unwatch();
	mutex_unlock(&watch_mutex);
	return err;
}

static const struct kernel_param_ops watch_ops = { .set = watch_set };
module_param_cb(watch, &watch_ops, NULL, 0200);

static struct net *hardware_net;
static int hardware_ifindex;

static void nic_ts_test_soft(void)
{
	lockdep_assert_held(&watch_mutex);
	if (!hardware_net)
		return;
	nic_ts_hw_release(hardware_net, hardware_ifindex);
	put_net(hardware_net);
	hardware_net = NULL;
}

static int hardware_set(const char *val, const struct kernel_param *kp)
{
	struct net *net = current->nsproxy->net_ns;
	int ifindex, err;

	err = kstrtoint(val, 10, &ifindex);
	if (err)
		return err;
	mutex_lock(&watch_mutex);
	nic_ts_test_soft();
	if (ifindex) {
		err = nic_ts_hw_request(net, ifindex);
		if (!err) {
			hardware_net = get_net(net);
			hardware_ifindex = ifindex;
		}
	}
	mutex_unlock(&watch_mutex);
	return err;
}

static const struct kernel_param_ops hardware_ops = { .set = hardware_set };
module_param_cb(hardware, &hardware_ops, NULL, 0200);

/* Reading sets them to zero. */
static int counts_get(char *buf, const struct kernel_param *kp)
{
	int i, n = 0;

	for (i = 0; i < C_MAX; i++)
		n += sysfs_emit_at(buf, n, "%s %lld\n", nic_ts_test_names[i],
				   atomic64_xchg(&counts[i], 0));
	n += sysfs_emit_at(buf, n, "min_rtt_ns %lld\n",
			   atomic64_xchg(&min_rtt_ns, S64_MAX));
	n += sysfs_emit_at(buf, n, "max_rtt_ns %lld\n", atomic64_xchg(&max_rtt_ns, 0));
	return n;
}

static const struct kernel_param_ops counts_ops = { .get = counts_get };
module_param_cb(counts, &counts_ops, NULL, 0400);

/* Flows -------------------------------------------------------------------- */

struct nic_ts_test_sock {
	struct nic_ts_flow *flow;
};

static void nic_ts_test_init(struct sock *sk)
{
	struct nic_ts_test_sock *ts = inet_csk_ca(sk);

	ts->flow = nic_ts_flow_attach(sk, GFP_ATOMIC);
	count(ts->flow ? C_attached : C_refused);
}

static void nic_ts_test_release(struct sock *sk)
{
	struct nic_ts_test_sock *ts = inet_csk_ca(sk);

	nic_ts_flow_detach(ts->flow);
	ts->flow = NULL;
}

static void nic_ts_test_check(const struct nic_ts_rtt *rtt, u32 una)
{
	bool tx_hw = rtt->tx_source == NIC_TS_SRC_HW;
	bool rx_hw = rtt->rx_source == NIC_TS_SRC_HW;
	s64 ns = rtt->rx_ns - rtt->tx_ns;
	u64 now_ns = ktime_get_ns();

	if (rtt->domain >= NIC_TS_DOMAIN_PHC0) {
		count(C_of_hardware);
		if (!tx_hw || !rx_hw || rtt->error_ns)
			count(C_bad_domain);
	} else if (rtt->domain == NIC_TS_DOMAIN_MONO) {
		count(tx_hw || rx_hw ? C_of_map : C_of_software);
		if ((tx_hw || rx_hw) != !!rtt->error_ns)
			count(C_bad_domain);
		if (rtt->rx_ns > now_ns + rtt->error_ns + NSEC_PER_USEC)
			count(C_bad_future);
	} else {
		count(C_bad_domain);
	}
	if (after(rtt->end_seq, una) || before(rtt->ack_seq, rtt->end_seq))
		count(C_bad_segment);
	if (ns < 0 || ns > 10 * NSEC_PER_SEC) {
		count(C_bad_rtt);
		return;
	}
	if (ns < atomic64_read(&min_rtt_ns))
		atomic64_set(&min_rtt_ns, ns);
	if (ns > atomic64_read(&max_rtt_ns))
		atomic64_set(&max_rtt_ns, ns);
}

static void nic_ts_test_cong_avoid(struct sock *sk, u32 ack, u32 acked)
{
	struct nic_ts_test_sock *ts = inet_csk_ca(sk);
	struct nic_ts_rtt rtt;
	enum nic_ts_verdict v;

	tcp_reno_cong_avoid(sk, ack, acked);
	if (!ts->flow)
		return;
	if (nic_ts_flow_aged(ts->flow)) {
		count(C_aged);
		nic_ts_test_release(sk);
		nic_ts_test_init(sk);
		return;
	}
	count(C_asked);
	v = nic_ts_flow_rtt(ts->flow, tcp_sk(sk)->snd_una, &rtt);
	count(C_ok + v);
	if (v == NIC_TS_RTT_OK)
		nic_ts_test_check(&rtt, tcp_sk(sk)->snd_una);
}

static struct tcp_congestion_ops nic_ts_test_cc = {
	.name		= "nic_ts_test",
	.owner		= THIS_MODULE,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.init		= nic_ts_test_init,
	.release	= nic_ts_test_release,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= nic_ts_test_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init nic_ts_test_module_init(void)
{
	BUILD_BUG_ON(sizeof(struct nic_ts_test_sock) > ICSK_CA_PRIV_SIZE);
	return tcp_register_congestion_control(&nic_ts_test_cc);
}

static void __exit nic_ts_test_module_exit(void)
{
	tcp_unregister_congestion_control(&nic_ts_test_cc);
	mutex_lock(&watch_mutex);
	nic_ts_test_unwatch();
	nic_ts_test_soft();
	mutex_unlock(&watch_mutex);
}

module_init(nic_ts_test_module_init);
module_exit(nic_ts_test_module_exit);

MODULE_DESCRIPTION("Test of the timestamp bus");
MODULE_LICENSE("GPL");
