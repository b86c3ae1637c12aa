// SPDX-License-Identifier: GPL-2.0
/*
 * qdisc_bench: what it costs to take a packet through a qdisc
 *
 *	echo "DEVICE FLOWS BATCHES [forwarded]" >/sys/module/qdisc_bench/parameters/run
 *	cat /sys/module/qdisc_bench/parameters/run	nanoseconds, packets, bytes of memory
 *	cat /sys/module/qdisc_bench/parameters/clock	nanoseconds, of the clock below
 *
 * It plays TCP with FLOWS established connections; "forwarded": of other hosts, for which this one
 * routes, so packets have neither a socket nor an EDT. A batch is QDISC_BENCH_BATCH packets of
 * random flows, which are queued and then taken out again; nothing is sent. Only these
 * two calls are measured, of the qdisc that the device has at that time, under its lock
 * and with softirqs off, as the stack makes them.
 *
 *	first	one packet of each flow, so that all of them are known
 *	then	BATCHES times: build, clock, enqueue all, dequeue all, clock
 *
 * The clock is that of bench_clock.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/nsproxy.h>
#include <linux/tcp.h>
#include <linux/vmalloc.h>
#include <net/pkt_sched.h>
#include <net/sock.h>
#include <net/tcp.h>

#include "bench_clock.h"

#define QDISC_BENCH_BATCH	64
/* Sockets have 2.4 KB each. */
#define QDISC_BENCH_FLOWS	2000000
#define QDISC_BENCH_BYTES	1448

static DEFINE_MUTEX(qdisc_bench_lock);
static u64 spent_ns;
static u64 packets;
static u64 lost;
static s64 bytes;

static struct sock *qdisc_bench_sock(struct net *net, u32 i)
{
	struct sock *sk = sk_alloc(net, PF_INET, GFP_KERNEL, &tcp_prot, 0);

	if (!sk)
		return NULL;
	sock_init_data(NULL, sk);
	sk->sk_type = SOCK_STREAM;
	sk->sk_protocol = IPPROTO_TCP;
	sk->sk_state = TCP_ESTABLISHED;
	sk->sk_hash = i * 2654435761U;
	sk->sk_pacing_rate = ~0UL;
	sk->sk_rcv_saddr = htonl(0x0a000001);
	inet_sk(sk)->inet_saddr = sk->sk_rcv_saddr;
	/* Ten thousand connections to each of the receivers. */
	sk->sk_daddr = htonl(0x0a000100 + i / 10000);
	sk->sk_num = 10000 + i % 10000;
	inet_sk(sk)->inet_sport = htons(sk->sk_num);
	sk->sk_dport = htons(5001);
	return sk;
}

static struct sk_buff *qdisc_bench_skb(struct net_device *dev)
{
	u32 headers = ETH_HLEN + sizeof(struct iphdr) + sizeof(struct tcphdr);
	struct sk_buff *skb = alloc_skb(headers + QDISC_BENCH_BYTES, GFP_KERNEL);
	struct iphdr *ip;

	if (!skb)
		return NULL;
	skb_put_zero(skb, headers + QDISC_BENCH_BYTES);
	skb_reset_mac_header(skb);
	skb_set_network_header(skb, ETH_HLEN);
	skb_set_transport_header(skb, ETH_HLEN + sizeof(*ip));
	skb->protocol = htons(ETH_P_IP);
	eth_hdr(skb)->h_proto = skb->protocol;
	ether_addr_copy(eth_hdr(skb)->h_source, dev->dev_addr);
	skb->dev = dev;
	/* By which a forwarded packet has come in: not this one. */
	skb->skb_iif = LOOPBACK_IFINDEX;
	ip = ip_hdr(skb);
	ip->version = 4;
	ip->ihl = 5;
	ip->ttl = 64;
	ip->protocol = IPPROTO_TCP;
	ip->tot_len = htons(skb->len - ETH_HLEN);
	tcp_hdr(skb)->doff = 5;
	tcp_hdr(skb)->ack = 1;
	return skb;
}

/* Make a packet that was in a qdisc the next one of a flow; not @forwarded: with an EDT. */
static void qdisc_bench_address(struct sk_buff *skb, struct sock *sk, u32 *seq, bool forwarded)
{
	struct tcphdr *th = tcp_hdr(skb);

	skb->next = NULL;
	skb->prev = NULL;
	skb->tstamp = forwarded ? 0 : ktime_get_ns();
	skb->sk = forwarded ? NULL : sk;
	skb_set_hash(skb, sk->sk_hash, PKT_HASH_TYPE_L4);
	ip_hdr(skb)->saddr = sk->sk_rcv_saddr;
	ip_hdr(skb)->daddr = sk->sk_daddr;
	th->source = inet_sk(sk)->inet_sport;
	th->dest = sk->sk_dport;
	th->seq = htonl(*seq);
	*seq += QDISC_BENCH_BYTES;
	compat_qdisc_skb_len(skb, skb->len);
}

static void qdisc_bench_batch(struct Qdisc *q, struct sk_buff **skbs, u32 n)
{
	struct sk_buff *to_free = NULL, *skb;
	u64 from;
	u32 i;

	spin_lock_bh(qdisc_lock(q));
	from = bench_clock();
	for (i = 0; i < n; i++)
		q->enqueue(skbs[i], q, &to_free);
	for (i = 0; i < n; i++) {
		skb = q->dequeue(q);
		if (!skb)
			break;
		skbs[i] = skb;
	}
	spent_ns += bench_clock() - from;
	packets += i;
	spin_unlock_bh(qdisc_lock(q));
	/* A qdisc that drops or delays is not what is measured here. */
	lost += n - i;
}

static int qdisc_bench(struct net_device *dev, u32 flows, u32 batches, bool forwarded)
{
	struct sk_buff *skbs[QDISC_BENCH_BATCH] = {};
	struct net *net = dev_net(dev);
	struct sock **sk;
	int err = -ENOMEM;
	struct sysinfo before, after;
	struct Qdisc *q;
	u32 *seq, i, n;

	sk = kvcalloc(flows, sizeof(*sk), GFP_KERNEL);
	seq = kvcalloc(flows, sizeof(*seq), GFP_KERNEL);
	if (!sk || !seq)
		goto free;
	for (i = 0; i < flows; i++) {
		sk[i] = qdisc_bench_sock(net, i);
		if (!sk[i])
			goto free;
		cond_resched();
	}
	for (n = 0; n < QDISC_BENCH_BATCH; n++) {
		skbs[n] = qdisc_bench_skb(dev);
		if (!skbs[n])
			goto free;
	}

	spent_ns = 0;
	packets = 0;
	lost = 0;
	bench_random_begin();
	err = 0;
	rtnl_lock();
	q = rtnl_dereference(netdev_get_tx_queue(dev, 0)->qdisc);
	si_meminfo(&before);
	for (i = 0; i < flows && !lost; i += n) {
		for (n = 0; n < QDISC_BENCH_BATCH && i + n < flows; n++)
			qdisc_bench_address(skbs[n], sk[i + n], &seq[i + n], forwarded);
		qdisc_bench_batch(q, skbs, n);
		cond_resched();
	}
	si_meminfo(&after);
	bytes = ((s64)before.freeram - (s64)after.freeram) * PAGE_SIZE;
	spent_ns = 0;
	packets = 0;
	while (batches-- && !lost) {
		for (n = 0; n < QDISC_BENCH_BATCH; n++) {
			i = bench_random(flows);
			qdisc_bench_address(skbs[n], sk[i], &seq[i], forwarded);
		}
		qdisc_bench_batch(q, skbs, n);
		cond_resched();
	}
	rtnl_unlock();

free:
	/* What a qdisc has kept it frees by itself. */
	for (n = 0; n < QDISC_BENCH_BATCH && skbs[n] && !lost; n++) {
		skbs[n]->sk = NULL;
		kfree_skb(skbs[n]);
	}
	for (i = 0; sk && i < flows && sk[i]; i++)
		sk_free(sk[i]);
	kvfree(seq);
	kvfree(sk);
	return err ? err : lost ? -EIO : 0;
}

static int qdisc_bench_run(const char *val, const struct kernel_param *kp)
{
	struct net_device *dev;
	char name[IFNAMSIZ], kind[16] = "";
	u32 flows, batches;
	int err;

	if (sscanf(val, "%15s %u %u %15s", name, &flows, &batches, kind) < 3 || !flows ||
	    flows > QDISC_BENCH_FLOWS || (*kind && strcmp(kind, "forwarded")))
		return -EINVAL;
	dev = dev_get_by_name(current->nsproxy->net_ns, name);
	if (!dev)
		return -ENODEV;
	mutex_lock(&qdisc_bench_lock);
	err = qdisc_bench(dev, flows, batches, *kind);
	mutex_unlock(&qdisc_bench_lock);
	dev_put(dev);
	return err;
}

static int qdisc_bench_show(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu %llu %lld\n", spent_ns, packets, bytes);
}

static const struct kernel_param_ops qdisc_bench_ops = {
	.set = qdisc_bench_run,
	.get = qdisc_bench_show,
};

static int qdisc_bench_show_clock(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu\n", bench_clock());
}

static const struct kernel_param_ops qdisc_bench_clock_ops = {
	.get = qdisc_bench_show_clock,
};

module_param_cb(run, &qdisc_bench_ops, NULL, 0600);
MODULE_PARM_DESC(run, "DEVICE FLOWS BATCHES [forwarded]; read: nanoseconds, packets, bytes of memory");
module_param_cb(clock, &qdisc_bench_clock_ops, NULL, 0400);
MODULE_PARM_DESC(clock, "nanoseconds");

MODULE_DESCRIPTION("Cost of a qdisc per packet");
MODULE_LICENSE("GPL");
