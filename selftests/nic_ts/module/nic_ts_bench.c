// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_bench: what the timestamp bus costs a packet
 *
 * A network device, "bench0", that gives packets to the stack and takes them from
 * it, as fast as it can:
 *
 *	rx   NAPI poll: napi_gro_receive() of ACKs of one connection, each a packet
 *	     of its own, up to an rx_handler that takes it
 *	tx   dev_queue_xmit() of its segments, without a qdisc
 *	data the same as rx, with segments of "flows" connections, "train" of each in turn,
 *	     for receivers of data: GRO off, and sockets that take it are made elsewhere.
 *	     Sequence numbers come again, so that they stay in a window
 *
 * All packets are made before, and come again: no memory is allocated, and no
 * protocol runs. So the time of a packet is that of its way through the stack's
 * lowest layer, with the bus on it or not:
 *
 *	modprobe nic_ts_bench			# and nic_ts, or not
 *	cd /sys/module/nic_ts_bench/parameters
 *	echo hit >flow				# none, hit: theirs is attached to the
 *						# bus; miss: another one is
 *	echo 1 >driver				# a patched driver: it calls the bus itself
 *	echo rx >run; cat run			# MEDIAN FIRST-QUARTILE THIRD-QUARTILE MEAN
 *
 * The results are ns of one packet times 1000, of batches of packets of which each is
 * timed as a whole. They are of the machine's clock: CLOCK_MONOTONIC.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/tcp.h>
#include <net/inet_sock.h>
#include <net/tcp.h>

/* A patched driver of PREEMPT_RT, too. */
#define NIC_TS_DRIVER_RX	1
#include <nic_ts.h>

/* Packets that are timed together, and how often: a batch is over in 0.1 ms. */
#define BENCH_BATCH	256
#define BENCH_BATCHES	63

/* Of data, packets of one poll: softirqs follow. */
#define BENCH_POLL	32

/* Batches before the first that is timed: caches, branches. */
#define BENCH_WARMUP	4

#define BENCH_PAYLOAD	1448
#define BENCH_HEADERS	(ETH_HLEN + sizeof(struct iphdr) + sizeof(struct tcphdr) + 12)

/* In skb->mark of the packets made here; IPv6 has its own to send. */
#define BENCH_MARK	0x6e746273

/* 198.18.0.0/15 is for benchmarks, RFC 2544. */
#define BENCH_LOCAL	htonl(0xc6120001)
#define BENCH_REMOTE	htonl(0xc6120002)
#define BENCH_LPORT	5001
#define BENCH_RPORT	40000

/* Sequence numbers of data: from here on, this many segments. 45 KB are in any window. */
#define BENCH_SEQ	1000000
#define BENCH_SEGMENTS	32

/* What a run plays. */
enum bench_kind {
	BENCH_RX,
	BENCH_TX,
	BENCH_DATA,
	BENCH_CLOCK,
};

static const char * const bench_kind_names[] = { "rx", "tx", "data", "clock" };

enum bench_flow {
	BENCH_FLOW_NONE,
	BENCH_FLOW_HIT,
	BENCH_FLOW_MISS,
};

static const char * const bench_flow_names[] = { "none", "hit", "miss" };

/**
 * struct bench - the device's private part
 * @napi:	its only one
 * @skbs:	packets, which come again
 * @data:	where each one's network header is, and so @len
 * @seq:	of the next packet: first byte, or what it acknowledges; of data: its number
 * @kind:	what is played
 * @left:	packets of this batch that are not yet received
 * @done:	none is left, and the stack has all of them
 * @taken:	packets that reached the other end
 */
struct bench {
	struct napi_struct	napi;
	struct sk_buff		*skbs[BENCH_BATCH];
	unsigned char		*data[BENCH_BATCH];
	u32			seq;
	enum bench_kind		kind;
	u32			left;
	struct completion	done;
	u64			taken;
};

static DEFINE_MUTEX(bench_mutex);	/* all below */
static struct net_device *bench_dev;
static struct nic_ts_flow *bench_attached;
static enum bench_flow bench_flow;
static bool bench_driver;
static uint bench_flows = 1;
static uint bench_train = 1;
static u64 bench_ns[BENCH_BATCHES];
static u64 bench_result[4];

/* Packets ------------------------------------------------------------------ */

static void bench_headers(struct sk_buff *skb, bool rx, u32 payload)
{
	struct ethhdr *eth = skb_put_zero(skb, ETH_HLEN);
	struct iphdr *iph = skb_put_zero(skb, sizeof(*iph));
	struct tcphdr *th = skb_put_zero(skb, sizeof(*th));

	/* Timestamps, as on any connection; their values do not matter. */
	put_unaligned_be32(0x0101080a, skb_put_zero(skb, 12));
	skb_put_zero(skb, payload);

	ether_addr_copy(eth->h_dest, bench_dev->dev_addr);
	eth->h_proto = htons(ETH_P_IP);
	iph->version = 4;
	iph->ihl = 5;
	iph->ttl = 64;
	iph->protocol = IPPROTO_TCP;
	iph->tot_len = htons(skb->len - ETH_HLEN);
	iph->saddr = rx ? BENCH_REMOTE : BENCH_LOCAL;
	iph->daddr = rx ? BENCH_LOCAL : BENCH_REMOTE;
	iph->check = ip_fast_csum(iph, iph->ihl);
	th->source = htons(rx ? BENCH_RPORT : BENCH_LPORT);
	th->dest = htons(rx ? BENCH_LPORT : BENCH_RPORT);
	th->doff = 8;
	th->ack = 1;
}

static void bench_free(struct bench *b)
{
	int i;

	for (i = 0; i < BENCH_BATCH; i++) {
		kfree_skb(b->skbs[i]);
		b->skbs[i] = NULL;
	}
}

static int bench_alloc(struct bench *b)
{
	u32 payload = b->kind == BENCH_RX ? 0 : BENCH_PAYLOAD;
	bool rx = b->kind != BENCH_TX;
	struct sk_buff *skb;
	int i;

	for (i = 0; i < BENCH_BATCH; i++) {
		skb = alloc_skb(NET_SKB_PAD + BENCH_HEADERS + payload, GFP_KERNEL);
		if (!skb) {
			bench_free(b);
			return -ENOMEM;
		}
		b->skbs[i] = skb;
		skb_reserve(skb, NET_SKB_PAD);
		skb->dev = bench_dev;
		skb->mark = BENCH_MARK;
		bench_headers(skb, rx, payload);
		skb_reset_mac_header(skb);
		skb_set_network_header(skb, ETH_HLEN);
		skb_set_transport_header(skb, ETH_HLEN + sizeof(struct iphdr));
		skb->protocol = htons(ETH_P_IP);
		skb->ip_summed = rx ? CHECKSUM_UNNECESSARY : CHECKSUM_NONE;
		if (rx)
			__skb_pull(skb, ETH_HLEN);
		b->data[i] = skb->data;
	}
	return 0;
}

/* Make it the next segment of data: of the connection whose turn it is. */
static void bench_number(struct bench *b, struct tcphdr *th)
{
	u32 train = max(READ_ONCE(bench_train), 1U), n = b->seq++;

	th->source = htons(BENCH_RPORT + n / train % max(READ_ONCE(bench_flows), 1U));
	th->seq = htonl(BENCH_SEQ + n % BENCH_SEGMENTS * BENCH_PAYLOAD);
}

/* The packet as it was made, with the next number. */
static struct sk_buff *bench_next(struct bench *b, u32 i)
{
	struct sk_buff *skb = b->skbs[i];
	struct tcphdr *th;

	skb->len += skb->data - b->data[i];
	skb->data = b->data[i];
	skb->dev = bench_dev;
	skb->next = NULL;
	th = (struct tcphdr *)(skb->head + skb->transport_header);
	if (b->kind == BENCH_DATA) {
		bench_number(b, th);
		return skb;
	}
	if (b->kind == BENCH_RX)
		th->ack_seq = htonl(b->seq);
	else
		th->seq = htonl(b->seq);
	b->seq += BENCH_PAYLOAD;
	return skb;
}

/* The device --------------------------------------------------------------- */

static rx_handler_result_t bench_take(struct sk_buff **pskb)
{
	struct bench *b = netdev_priv((*pskb)->dev);

	b->taken++;
	return RX_HANDLER_CONSUMED;
}

static int bench_poll(struct napi_struct *napi, int budget)
{
	struct bench *b = container_of(napi, struct bench, napi);
	bool driver = READ_ONCE(bench_driver);
	struct sk_buff *skb;
	int n = 0;

	while (n < budget && b->left) {
		b->left--;
		skb = bench_next(b, b->kind == BENCH_DATA ? n : b->left);
		if (driver)
			nic_ts_driver_rx(skb, 0);
		napi_gro_receive(napi, skb);
		n++;
	}
	if (n < budget && napi_complete_done(napi, n))
		complete(&b->done);
	return n;
}

static netdev_tx_t bench_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct bench *b = netdev_priv(dev);

	if (unlikely(skb->mark != BENCH_MARK)) {
		dev_kfree_skb(skb);
		return NETDEV_TX_OK;
	}
	if (READ_ONCE(bench_driver))
		nic_ts_driver_tx(skb, 0);
	b->taken++;
	return NETDEV_TX_OK;
}

static int bench_open(struct net_device *dev)
{
	struct bench *b = netdev_priv(dev);

	napi_enable(&b->napi);
	return 0;
}

static int bench_stop(struct net_device *dev)
{
	struct bench *b = netdev_priv(dev);

	napi_disable(&b->napi);
	return 0;
}

static const struct net_device_ops bench_ops = {
	.ndo_open	= bench_open,
	.ndo_stop	= bench_stop,
	.ndo_start_xmit	= bench_xmit,
};

static void bench_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &bench_ops;
	dev->priv_flags |= IFF_NO_QUEUE;
	dev->features |= NETIF_F_GRO;
	dev->flags |= IFF_NOARP;
	eth_hw_addr_random(dev);
}

/* Runs --------------------------------------------------------------------- */

static u64 bench_batch_rx(struct bench *b)
{
	u32 each = b->kind == BENCH_DATA ? BENCH_POLL : BENCH_BATCH, n;
	u64 start_ns;

	start_ns = ktime_get_ns();
	for (n = 0; n < BENCH_BATCH; n += each) {
		reinit_completion(&b->done);
		b->left = each;
		local_bh_disable();
		napi_schedule(&b->napi);
		/* Polled here, with the softirq. */
		local_bh_enable();
		wait_for_completion(&b->done);
	}
	return ktime_get_ns() - start_ns;
}

static u64 bench_batch_tx(struct bench *b)
{
	u64 start_ns;
	u32 i;

	start_ns = ktime_get_ns();
	local_bh_disable();
	for (i = 0; i < BENCH_BATCH; i++)
		dev_queue_xmit(bench_next(b, i));
	local_bh_enable();
	return ktime_get_ns() - start_ns;
}

static u64 bench_batch_clock(void)
{
	u64 start_ns = ktime_get_ns(), ns = 0;
	u32 i;

	for (i = 0; i < BENCH_BATCH; i++)
		ns = ktime_get_ns();
	return ns - start_ns;
}

static int bench_compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static void bench_sort(void)
{
	u64 sum_ns = 0;
	int i;

	for (i = 0; i < BENCH_BATCHES; i++)
		sum_ns += bench_ns[i];
	bench_result[3] = sum_ns * 1000 / (BENCH_BATCHES * BENCH_BATCH);
	sort(bench_ns, BENCH_BATCHES, sizeof(bench_ns[0]), bench_compare, NULL);
	bench_result[0] = bench_ns[BENCH_BATCHES / 2] * 1000 / BENCH_BATCH;
	bench_result[1] = bench_ns[BENCH_BATCHES / 4] * 1000 / BENCH_BATCH;
	bench_result[2] = bench_ns[BENCH_BATCHES * 3 / 4] * 1000 / BENCH_BATCH;
}

static int bench_run(enum bench_kind kind)
{
	struct bench *b = netdev_priv(bench_dev);
	u64 taken = b->taken, ns;
	int i, err;

	lockdep_assert_held(&bench_mutex);
	if (!netif_running(bench_dev))
		return -ENETDOWN;
	b->kind = kind;
	err = bench_alloc(b);
	if (err)
		return err;
	for (i = -BENCH_WARMUP; i < BENCH_BATCHES; i++) {
		ns = kind == BENCH_TX ? bench_batch_tx(b) : bench_batch_rx(b);
		if (i >= 0)
			bench_ns[i] = ns;
		cond_resched();
	}
	bench_free(b);
	if (b->taken - taken != (BENCH_BATCHES + BENCH_WARMUP) * BENCH_BATCH) {
		pr_err("%llu packets arrived, not %d\n", b->taken - taken,
		       (BENCH_BATCHES + BENCH_WARMUP) * BENCH_BATCH);
		return -EIO;
	}
	bench_sort();
	return 0;
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	int kind = sysfs_match_string(bench_kind_names, val);
	int i, err = 0;

	if (kind < 0)
		return kind;
	mutex_lock(&bench_mutex);
	if (kind == BENCH_CLOCK) {
		for (i = 0; i < BENCH_BATCHES; i++)
			bench_ns[i] = bench_batch_clock();
		bench_sort();
	} else {
		err = bench_run(kind);
	}
	mutex_unlock(&bench_mutex);
	return err;
}

static int run_get(char *buf, const struct kernel_param *kp)
{
	int n;

	mutex_lock(&bench_mutex);
	n = sysfs_emit(buf, "%llu %llu %llu %llu\n", bench_result[0], bench_result[1],
		       bench_result[2], bench_result[3]);
	mutex_unlock(&bench_mutex);
	return n;
}

static const struct kernel_param_ops run_ops = { .set = run_set, .get = run_get };
module_param_cb(run, &run_ops, NULL, 0600);
module_param_named(driver, bench_driver, bool, 0600);
module_param_named(flows, bench_flows, uint, 0600);
module_param_named(train, bench_train, uint, 0600);

/* The bus ------------------------------------------------------------------ */

/* Attaching looks at the addresses of a socket only, so those are all there is. */
static struct nic_ts_flow *bench_attach(enum bench_flow flow)
{
	struct tcp_sock *tp = kzalloc(sizeof(*tp), GFP_KERNEL);
	struct sock *sk = (struct sock *)tp;
	struct nic_ts_flow *attached;

	if (!tp)
		return NULL;
	sk->sk_family = AF_INET;
	write_pnet(&sk->sk_net, &init_net);
	sk->sk_rcv_saddr = BENCH_LOCAL;
	sk->sk_daddr = BENCH_REMOTE;
	inet_sk(sk)->inet_num = BENCH_LPORT;
	inet_sk(sk)->inet_dport = htons(flow == BENCH_FLOW_HIT ? BENCH_RPORT :
								 BENCH_RPORT + 1);
	attached = nic_ts_flow_attach(sk, GFP_KERNEL);
	kfree(tp);
	return attached;
}

static int flow_set(const char *val, const struct kernel_param *kp)
{
	int flow = sysfs_match_string(bench_flow_names, val);
	int err = 0;

	if (flow < 0)
		return flow;
	mutex_lock(&bench_mutex);
	nic_ts_flow_detach(bench_attached);
	bench_attached = NULL;
	bench_flow = flow;
	if (flow != BENCH_FLOW_NONE) {
		bench_attached = bench_attach(flow);
		if (!bench_attached)
			err = -ENODEV;
	}
	mutex_unlock(&bench_mutex);
	return err;
}

static int flow_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%s\n", bench_flow_names[READ_ONCE(bench_flow)]);
}

static const struct kernel_param_ops flow_ops = { .set = flow_set, .get = flow_get };
module_param_cb(flow, &flow_ops, NULL, 0600);

static int __init bench_init(void)
{
	struct bench *b;
	int err;

	bench_dev = alloc_netdev(sizeof(*b), "bench%d", NET_NAME_ENUM, bench_setup);
	if (!bench_dev)
		return -ENOMEM;
	b = netdev_priv(bench_dev);
	init_completion(&b->done);
	netif_napi_add(bench_dev, &b->napi, bench_poll);

	rtnl_lock();
	err = register_netdevice(bench_dev);
	if (err)
		goto free;
	err = netdev_rx_handler_register(bench_dev, bench_take, NULL);
	if (err)
		goto unregister;
	rtnl_unlock();
	return 0;

unregister:
	unregister_netdevice(bench_dev);
free:
	rtnl_unlock();
	free_netdev(bench_dev);
	return err;
}

static void __exit bench_exit(void)
{
	nic_ts_flow_detach(bench_attached);
	rtnl_lock();
	netdev_rx_handler_unregister(bench_dev);
	unregister_netdevice(bench_dev);
	rtnl_unlock();
	free_netdev(bench_dev);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("Cost of the timestamp bus");
MODULE_LICENSE("GPL");
