// SPDX-License-Identifier: GPL-2.0
/*
 * forward_bench: what it costs to forward a packet
 *
 *	cd /sys/module/forward_bench/parameters
 *	echo "CONNECTIONS DATA" >begin
 *	echo "TRAIN BUSY ROUNDS" >run; cat run	nanoseconds and packets, of data and of ACKs;
 *						and of data, packets that the driver was given
 *	echo 1 >conntrack			track connections from now on
 *
 * The host forwards between two devices, which this module makes in the initial namespace: "in0"
 * to containers, 198.18.0.0/16, and "out0", a NIC of 100 Gbit/s, to the world, 198.19.0.0/16. A
 * packet goes its whole way: a poll of the driver allocates and gives it to the stack, it is
 * routed, leaves by the other device's qdisc, and the driver frees it.
 *
 * With GRO, as ethtool sets it, the stack merges packets of a connection that come in one poll, and
 * the devices take what it makes of them (TSO). A run fails if trains of 16 were not merged, or if
 * without GRO any were. One of more than 17 packets would have a list of buffers, which most NICs
 * can't send, so that it is segmented in software: GRO makes packets of 16 at most here.
 *
 * Besides, a few connections of containers to another host send data that nobody answers, one of
 * them before each run: as on any host with far peers, an RTT is being measured all the time.
 *
 * DATA "out": containers send, so data leaves by out0, and ACKs come in there; "in": they receive.
 * Data comes in polls of 32 packets, TRAIN of each connection in a row; there is an ACK for two
 * packets. BUSY 1: the device by which packets leave takes none during a poll, so that all of them
 * wait in the qdisc; 0: it takes them at once.
 *
 *	begin	two packets of each connection and their ACKs, so that all are known
 *	run	ROUNDS times: choose connections at random, clock, data, clock, ACKs, clock
 *
 * The clock is that of bench_clock.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <linux/vmalloc.h>
#include <net/ip.h>
#include <net/pkt_sched.h>

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#endif

#include "bench_clock.h"

/* Packets of a poll, and of a round; an ACK for two of these. */
#define BENCH_POLL	32
#define BENCH_ROUND	(4 * BENCH_POLL)
#define BENCH_ACKS	(BENCH_ROUND / 2)

/* Packets that GRO makes one of, at most. */
#define BENCH_MERGED	16

#define BENCH_CONNS_MAX	1000000
/* Connections of a container to a host: ports from here on. */
#define BENCH_PORTS	10000
#define BENCH_PORT	10000
#define BENCH_PAYLOAD	1448
#define BENCH_HEADERS	(ETH_HLEN + sizeof(struct iphdr) + sizeof(struct tcphdr))
#define BENCH_ROOM	(NET_SKB_PAD + NET_IP_ALIGN)
#define BENCH_TRUESIZE	(SKB_DATA_ALIGN(BENCH_ROOM + BENCH_HEADERS + BENCH_PAYLOAD) + \
			 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))

/* 198.18.0.0/15 is for benchmarks, RFC 2544. */
#define BENCH_INSIDE	0xc6120100
#define BENCH_OUTSIDE	0xc6130100

/* Connections that nobody answers, as numbers from here on: a host of their own. */
#define BENCH_FARS	8
#define BENCH_FAR	1990000

/* In skb->mark of the packets made here, which has to arrive; others send, too. */
#define BENCH_MARK	0x6f726662

enum bench_side {
	BENCH_IN,
	BENCH_OUT,
	BENCH_SIDES,
};

static const char * const bench_names[BENCH_SIDES] = { "in%d", "out%d" };

/* struct bench_packet - of one that will come in: its headers, which its device writes */
struct bench_packet {
	u8	headers[BENCH_HEADERS];
	u32	payload;
	u32	hash;
};

/**
 * struct bench_dev - a device's private part
 * @napi: its only one
 * @packets: those of the next polls
 * @left: how many there are
 * @done: packets that this device has taken, each of TSO counted as those on the wire
 * @given: the same, as the stack gave them
 * @wanted: @all completes at so many
 * @all: it has
 */
struct bench_dev {
	struct napi_struct	napi;
	const struct bench_packet *packets;
	u32			left;
	u64			done;
	u64			given;
	u64			wanted;
	struct completion	all;
};

static DEFINE_MUTEX(bench_lock);	/* all below */
static struct net_device *bench_devs[BENCH_SIDES];
static struct bench_packet bench_data[BENCH_ROUND], bench_acks[BENCH_ACKS];
static u32 *bench_seq;
static u32 bench_far_seq[BENCH_FARS];
static u32 bench_fars;
static u32 bench_conns;
static enum bench_side bench_from;
static u64 bench_result[5];

/* The devices -------------------------------------------------------------- */

static void bench_receive(struct net_device *dev, const struct bench_packet *p)
{
	struct bench_dev *b = netdev_priv(dev);
	void *data = napi_alloc_frag(BENCH_TRUESIZE);
	struct sk_buff *skb;

	if (!data)
		return;
	skb = napi_build_skb(data, BENCH_TRUESIZE);
	if (!skb) {
		skb_free_frag(data);
		return;
	}
	skb_reserve(skb, BENCH_ROOM);
	/* The payload is nobody's here: no CPU reads it. */
	memcpy(skb_put(skb, BENCH_HEADERS), p->headers, BENCH_HEADERS);
	skb_put(skb, p->payload);
	skb->protocol = eth_type_trans(skb, dev);
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->mark = BENCH_MARK;
	/* NICs and sockets of containers tell it. */
	skb_set_hash(skb, p->hash, PKT_HASH_TYPE_L4);
	napi_gro_receive(&b->napi, skb);
}

static int bench_poll(struct napi_struct *napi, int budget)
{
	struct bench_dev *b = container_of(napi, struct bench_dev, napi);
	int n = 0;

	while (n < budget && b->left) {
		b->left--;
		bench_receive(napi->dev, b->packets++);
		n++;
	}
	if (n < budget)
		napi_complete_done(napi, n);
	return n;
}

static netdev_tx_t bench_xmit(struct sk_buff *skb, struct net_device *dev)
{
	struct bench_dev *b = netdev_priv(dev);
	u32 packets = skb->mark == BENCH_MARK ? skb_shinfo(skb)->gso_segs ?: 1 : 0;

	/* As a driver's clean-up in its poll. */
	napi_consume_skb(skb, 1);
	if (!packets)
		return NETDEV_TX_OK;
	b->given++;
	b->done += packets;
	if (b->done == b->wanted)
		complete(&b->all);
	return NETDEV_TX_OK;
}

static int bench_open(struct net_device *dev)
{
	struct bench_dev *b = netdev_priv(dev);

	napi_enable(&b->napi);
	netif_start_queue(dev);
	return 0;
}

static int bench_stop(struct net_device *dev)
{
	struct bench_dev *b = netdev_priv(dev);

	netif_stop_queue(dev);
	napi_disable(&b->napi);
	return 0;
}

static const struct net_device_ops bench_ops = {
	.ndo_open	= bench_open,
	.ndo_stop	= bench_stop,
	.ndo_start_xmit	= bench_xmit,
};

static int bench_get_link_ksettings(struct net_device *dev, struct ethtool_link_ksettings *settings)
{
	settings->base.duplex = DUPLEX_FULL;
	settings->base.speed = SPEED_100000;
	return 0;
}

static const struct ethtool_ops bench_ethtool_ops = {
	.get_link_ksettings	= bench_get_link_ksettings,
};

static void bench_setup(struct net_device *dev)
{
	ether_setup(dev);
	dev->netdev_ops = &bench_ops;
	dev->ethtool_ops = &bench_ethtool_ops;
	dev->flags |= IFF_NOARP;
	dev->hw_features = NETIF_F_SG | NETIF_F_HW_CSUM | NETIF_F_ALL_TSO;
	dev->features |= dev->hw_features;
	dev->gro_ipv4_max_size = BENCH_HEADERS - ETH_HLEN + BENCH_MERGED * BENCH_PAYLOAD + 1;
	eth_hw_addr_random(dev);
}

/* Packets ------------------------------------------------------------------ */

/* The next packet of connection @i, or an ACK of all of its data. */
static void bench_make(struct bench_packet *p, u32 i, enum bench_side from, bool ack)
{
	u32 *seq = i < BENCH_FAR ? &bench_seq[i] : &bench_far_seq[i - BENCH_FAR];
	struct ethhdr *eth = (struct ethhdr *)p->headers;
	struct iphdr *iph = (struct iphdr *)(p->headers + ETH_HLEN);
	struct tcphdr *th = (struct tcphdr *)(p->headers + ETH_HLEN + sizeof(*iph));
	__be32 in = htonl(BENCH_INSIDE + i / BENCH_PORTS);
	__be32 out = htonl(BENCH_OUTSIDE + i / BENCH_PORTS);
	u16 port = BENCH_PORT + i % BENCH_PORTS, server = 5001;
	/* The container has the port that differs. */
	u16 sport = from == BENCH_IN ? port : server, dport = from == BENCH_IN ? server : port;

	memset(p->headers, 0, sizeof(p->headers));
	p->payload = ack ? 0 : BENCH_PAYLOAD;
	p->hash = (i + 1) * 2654435761U + from;
	ether_addr_copy(eth->h_dest, bench_devs[from]->dev_addr);
	ether_addr_copy(eth->h_source, bench_devs[from]->dev_addr);
	eth->h_source[5] ^= 1;
	eth->h_proto = htons(ETH_P_IP);
	iph->version = 4;
	iph->ihl = 5;
	iph->ttl = 64;
	iph->protocol = IPPROTO_TCP;
	iph->tot_len = htons(BENCH_HEADERS - ETH_HLEN + p->payload);
	iph->frag_off = htons(IP_DF);
	iph->saddr = from == BENCH_IN ? in : out;
	iph->daddr = from == BENCH_IN ? out : in;
	iph->check = ip_fast_csum(iph, iph->ihl);
	th->source = htons(sport);
	th->dest = htons(dport);
	th->doff = sizeof(*th) / 4;
	th->ack = 1;
	th->window = htons(0xffff);
	if (ack) {
		th->seq = htonl(1);
		th->ack_seq = htonl(*seq);
		return;
	}
	th->ack_seq = htonl(1);
	th->seq = htonl(*seq);
	*seq += BENCH_PAYLOAD;
}

/* Runs --------------------------------------------------------------------- */

/* Have @n packets come in at one device and leave by the other; -EIO if some do not. */
static int bench_pass(enum bench_side from, const struct bench_packet *packets, u32 n, bool busy)
{
	struct bench_dev *in = netdev_priv(bench_devs[from]);
	struct bench_dev *out = netdev_priv(bench_devs[!from]);
	struct netdev_queue *txq = netdev_get_tx_queue(bench_devs[!from], 0);
	u32 some;

	for (; n; n -= some, packets += some) {
		some = min_t(u32, n, BENCH_POLL);
		in->packets = packets;
		in->left = some;
		reinit_completion(&out->all);
		out->wanted = out->done + some;
		if (busy)
			netif_tx_stop_queue(txq);
		local_bh_disable();
		napi_schedule(&in->napi);
		/* Polled here, with the softirq. */
		local_bh_enable();
		if (busy) {
			local_bh_disable();
			netif_tx_wake_queue(txq);
			local_bh_enable();
		}
		if (!wait_for_completion_timeout(&out->all, HZ)) {
			pr_err("%llu of %u packets did not leave by %s\n", out->wanted - out->done,
			       some, bench_devs[!from]->name);
			return -EIO;
		}
	}
	return 0;
}

/* Data of the next connection that nobody answers. */
static int bench_ask_far(void)
{
	bench_make(&bench_data[0], BENCH_FAR + bench_fars++ % BENCH_FARS, BENCH_IN, false);
	return bench_pass(BENCH_IN, bench_data, 1, false);
}

/* Two packets and their ACKs of each connection; those that nobody answers come first. */
static int bench_introduce(void)
{
	enum bench_side from = bench_from;
	u32 conns = bench_conns, i, n, k;
	int err;

	for (i = 0; i < BENCH_FARS; i++) {
		err = bench_ask_far();
		if (err)
			return err;
	}
	for (i = 0; i < conns; i += n) {
		for (k = 0; k < 2; k++) {
			for (n = 0; n < BENCH_POLL && i + n < conns; n++) {
				bench_make(&bench_data[n], i + n, from, false);
				bench_make(&bench_acks[n], i + n, !from, true);
			}
			err = bench_pass(from, bench_data, n, false);
			if (!err)
				err = bench_pass(!from, bench_acks, n, false);
			if (err)
				return err;
		}
		cond_resched();
	}
	return 0;
}

static int bench_begin(u32 conns, enum bench_side from)
{
	kvfree(bench_seq);
	bench_conns = 0;
	bench_seq = kvcalloc(conns, sizeof(*bench_seq), GFP_KERNEL);
	if (!bench_seq)
		return -ENOMEM;
	bench_conns = conns;
	bench_from = from;
	bench_random_begin();
	return bench_introduce();
}

static int begin_set(const char *val, const struct kernel_param *kp)
{
	char data[4];
	u32 conns;
	int err;

	if (sscanf(val, "%u %3s", &conns, data) != 2 || !conns || conns > BENCH_CONNS_MAX ||
	    (strcmp(data, "in") && strcmp(data, "out")))
		return -EINVAL;
	mutex_lock(&bench_lock);
	err = bench_begin(conns, strcmp(data, "in") ? BENCH_IN : BENCH_OUT);
	mutex_unlock(&bench_lock);
	return err;
}

static const struct kernel_param_ops begin_ops = { .set = begin_set };
module_param_cb(begin, &begin_ops, NULL, 0200);
MODULE_PARM_DESC(begin, "CONNECTIONS in|out");

/* Has GRO merged trains, and nothing if it is off? */
static int bench_check(u32 train)
{
	bool gro = bench_devs[bench_from]->features & NETIF_F_GRO;
	u64 packets = bench_result[1], given = bench_result[4];

	if (gro ? train % BENCH_MERGED || given == packets / BENCH_MERGED : given == packets)
		return 0;
	pr_err("%llu packets in trains of %u left as %llu, GRO %s\n", packets, train, given,
	       gro ? "on" : "off");
	return -EIO;
}

static int bench_run(u32 train, bool busy, u32 rounds)
{
	enum bench_side from = bench_from;
	struct bench_dev *out = netdev_priv(bench_devs[!from]);
	u64 start_ns, data_ns, given;
	u32 n, i = 0;
	int err;

	memset(bench_result, 0, sizeof(bench_result));
	err = bench_ask_far();
	if (err)
		return err;
	while (rounds--) {
		for (n = 0; n < BENCH_ROUND; n++) {
			if (!(n % train))
				i = bench_random(bench_conns);
			bench_make(&bench_data[n], i, from, false);
			if (n & 1)
				bench_make(&bench_acks[n / 2], i, !from, true);
		}
		given = out->given;
		start_ns = bench_clock();
		err = bench_pass(from, bench_data, BENCH_ROUND, busy);
		data_ns = bench_clock();
		bench_result[4] += out->given - given;
		if (!err)
			err = bench_pass(!from, bench_acks, BENCH_ACKS, busy);
		if (err)
			return err;
		bench_result[2] += bench_clock() - data_ns;
		bench_result[0] += data_ns - start_ns;
		bench_result[1] += BENCH_ROUND;
		bench_result[3] += BENCH_ACKS;
		cond_resched();
	}
	return bench_check(train);
}

static int run_set(const char *val, const struct kernel_param *kp)
{
	u32 train, busy, rounds;
	int err = -ENODATA;

	if (sscanf(val, "%u %u %u", &train, &busy, &rounds) != 3 || !train)
		return -EINVAL;
	mutex_lock(&bench_lock);
	if (bench_conns)
		err = bench_run(train, busy, rounds);
	mutex_unlock(&bench_lock);
	return err;
}

static int run_get(char *buf, const struct kernel_param *kp)
{
	return sysfs_emit(buf, "%llu %llu %llu %llu %llu\n", bench_result[0], bench_result[1],
			  bench_result[2], bench_result[3], bench_result[4]);
}

static const struct kernel_param_ops run_ops = { .set = run_set, .get = run_get };
module_param_cb(run, &run_ops, NULL, 0600);
MODULE_PARM_DESC(run, "TRAIN BUSY ROUNDS; read: ns and packets of data, and of ACKs; data as it was given to the driver");

/* Connection tracking ------------------------------------------------------ */

#if IS_ENABLED(CONFIG_NF_CONNTRACK)
static bool bench_tracks;

static int conntrack_set(const char *val, const struct kernel_param *kp)
{
	int err = 0;
	bool on;

	if (kstrtobool(val, &on))
		return -EINVAL;
	mutex_lock(&bench_lock);
	if (on && !bench_tracks)
		err = nf_ct_netns_get(&init_net, NFPROTO_IPV4);
	else if (!on && bench_tracks)
		nf_ct_netns_put(&init_net, NFPROTO_IPV4);
	if (!err)
		bench_tracks = on;
	mutex_unlock(&bench_lock);
	return err;
}

static const struct kernel_param_ops conntrack_ops = { .set = conntrack_set };
module_param_cb(conntrack, &conntrack_ops, NULL, 0200);
MODULE_PARM_DESC(conntrack, "track connections");

static void bench_untrack(void)
{
	if (bench_tracks)
		nf_ct_netns_put(&init_net, NFPROTO_IPV4);
}
#else
static void bench_untrack(void)
{
}
#endif

static void bench_remove(void)
{
	enum bench_side i;

	for (i = 0; i < BENCH_SIDES; i++) {
		if (!bench_devs[i])
			continue;
		unregister_netdev(bench_devs[i]);
		free_netdev(bench_devs[i]);
	}
}

static int bench_add(enum bench_side i)
{
	struct net_device *dev = alloc_netdev(sizeof(struct bench_dev), bench_names[i],
					      NET_NAME_ENUM, bench_setup);
	struct bench_dev *b;
	int err;

	if (!dev)
		return -ENOMEM;
	b = netdev_priv(dev);
	init_completion(&b->all);
	netif_napi_add(dev, &b->napi, bench_poll);
	err = register_netdev(dev);
	if (err)
		free_netdev(dev);
	else
		bench_devs[i] = dev;
	return err;
}

static int __init bench_init(void)
{
	enum bench_side i;
	int err;

	for (i = 0; i < BENCH_SIDES; i++) {
		err = bench_add(i);
		if (err) {
			bench_remove();
			return err;
		}
	}
	return 0;
}

static void __exit bench_exit(void)
{
	bench_untrack();
	bench_remove();
	kvfree(bench_seq);
}

module_init(bench_init);
module_exit(bench_exit);

MODULE_DESCRIPTION("Cost of a packet that is forwarded");
MODULE_LICENSE("GPL");
