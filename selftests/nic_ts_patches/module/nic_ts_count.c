// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts_count: a bus that only counts, to see what patched drivers tell it
 *
 *	driver       rx(skb) -----.         tx(skb) <-----.
 *	                          | same packet,          | same packet,
 *	                          v later                 | earlier
 *	stack    *_entry(skb)                net_dev_start_xmit(skb)
 *
 * The driver's RX call has to come right before the stack's first tracepoint
 * with the same packet, its TX call between the tracepoints around
 * ndo_start_xmit(). On one CPU nothing can come in between, so one packet per
 * CPU and direction is remembered.
 *
 * /proc/nic_ts_count has a line "DEVICE COUNTER VALUE" for each counter. Two have no
 * device, and - in its place: packets told of without a device, and whether the hooks
 * are on. They are on while the parameter "on" is set.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/tracepoint.h>

#include <nic_ts.h>

enum counter {
	C_RX,		/* calls of the driver */
	C_RX_FRAGS,	/* of these, all in fragments */
	C_RX_FIRST,	/* the stack saw it next */
	C_RX_LATE,	/* ... but earlier, by the clock */
	C_RX_ENTRY,	/* packets before GRO */
	C_RX_STACK,	/* packets after GRO */
	C_RX_BAD,	/* not as the API wants it */
	C_TX,		/* calls of the driver */
	C_TX_INSIDE,	/* ... inside ndo_start_xmit(), for its packet */
	C_TX_EARLY,	/* ... but before it, by the clock */
	C_TX_START,	/* packets given to the driver */
	C_TX_BAD,	/* not as the API wants it */
	C_TX_DONE,	/* completions with a stamp */
	NR_COUNTERS
};

static const char * const counter_name[NR_COUNTERS] = {
	[C_RX]		= "rx",
	[C_RX_FRAGS]	= "rx_frags",
	[C_RX_FIRST]	= "rx_first",
	[C_RX_LATE]	= "rx_late",
	[C_RX_ENTRY]	= "rx_entry",
	[C_RX_STACK]	= "rx_stack",
	[C_RX_BAD]	= "rx_bad",
	[C_TX]		= "tx",
	[C_TX_INSIDE]	= "tx_inside",
	[C_TX_EARLY]	= "tx_early",
	[C_TX_START]	= "tx_start",
	[C_TX_BAD]	= "tx_bad",
	[C_TX_DONE]	= "tx_done",
};

#define MAX_DEVICES 8

static struct device_counts {
	const struct net_device	*dev;	/* compared, not dereferenced */
	char			name[IFNAMSIZ];
	atomic64_t		n[NR_COUNTERS];
} devices[MAX_DEVICES];

static atomic64_t no_device;

struct last {
	const struct sk_buff	*rx;
	const struct sk_buff	*tx;
	u64			rx_ns;
	u64			tx_ns;
};

static DEFINE_PER_CPU(struct last, last);

static struct device_counts *counts_of(const struct net_device *dev)
{
	const struct net_device *found;
	int i;

	for (i = 0; i < MAX_DEVICES; i++) {
		found = READ_ONCE(devices[i].dev);
		if (!found) {
			/* Whoever comes first has the slot. */
			found = cmpxchg(&devices[i].dev, NULL, dev);
			if (!found) {
				strscpy(devices[i].name, dev->name, IFNAMSIZ);
				return &devices[i];
			}
		}
		if (found == dev)
			return &devices[i];
	}
	return NULL;
}

static void count(const struct net_device *dev, enum counter id)
{
	struct device_counts *counts;

	if (dev->flags & IFF_LOOPBACK)
		return;
	counts = counts_of(dev);
	if (counts)
		atomic64_inc(&counts->n[id]);
}

/*
 * is_ip: an IP header begins at @offset, if that is what the packet has. It need
 * not be in the linear part: virtio_net leaves that to GRO.
 */
static bool is_ip(const struct sk_buff *skb, int offset)
{
	u8 byte, *first = skb_header_pointer(skb, offset, 1, &byte);

	switch (skb->protocol) {
	case htons(ETH_P_IP):	return first && *first >> 4 == 4;
	case htons(ETH_P_IPV6):	return first && *first >> 4 == 6;
	case 0:			return false;
	default:		return true;
	}
}

/* The driver's side -------------------------------------------------------- */

static void count_driver_rx(struct sk_buff *skb, u64 ns, bool frags)
{
	struct last *l = this_cpu_ptr(&last);

	if (!skb->dev) {
		/* Before eth_type_trans(), which is too early. */
		atomic64_inc(&no_device);
		return;
	}
	l->rx = skb;
	l->rx_ns = ns ?: ktime_get_ns();
	count(skb->dev, C_RX);
	if (frags)
		count(skb->dev, C_RX_FRAGS);
	if (frags ? skb_headlen(skb) != 0 : !is_ip(skb, 0))
		count(skb->dev, C_RX_BAD);
}

static void count_driver_tx(struct sk_buff *skb, u64 ns)
{
	struct last *l = this_cpu_ptr(&last);

	count(skb->dev, C_TX);
	if (l->tx == skb) {
		count(skb->dev, C_TX_INSIDE);
		if ((ns ?: ktime_get_ns()) < l->tx_ns)
			count(skb->dev, C_TX_EARLY);
		l->tx = NULL;
	}
	if (skb_headlen(skb) < ETH_HLEN ||
	    ((struct ethhdr *)skb->data)->h_proto != skb->protocol ||
	    !is_ip(skb, ETH_HLEN))
		count(skb->dev, C_TX_BAD);
}

static void count_driver_tx_done(struct sk_buff *skb, u64 hw_ns)
{
	count(skb->dev, C_TX_DONE);
}

static const struct nic_ts_bus count_bus = {
	.owner		= THIS_MODULE,
	.driver_rx	= count_driver_rx,
	.driver_tx	= count_driver_tx,
	.driver_tx_done	= count_driver_tx_done,
};

/* The stack's side --------------------------------------------------------- */

static void on_rx_entry(void *data, const struct sk_buff *skb)
{
	struct last *l = this_cpu_ptr(&last);

	count(skb->dev, C_RX_ENTRY);
	if (l->rx == skb) {
		count(skb->dev, C_RX_FIRST);
		if (ktime_get_ns() < l->rx_ns)
			count(skb->dev, C_RX_LATE);
		l->rx = NULL;
	}
}

static void on_rx_stack(void *data, struct sk_buff *skb)
{
	count(skb->dev, C_RX_STACK);
}

static void on_tx_start(void *data, const struct sk_buff *skb,
			const struct net_device *dev)
{
	struct last *l = this_cpu_ptr(&last);

	count(dev, C_TX_START);
	l->tx = skb;
	l->tx_ns = ktime_get_ns();
}

static void on_tx_end(void *data, struct sk_buff *skb, int rc,
		      struct net_device *dev, unsigned int len)
{
	this_cpu_ptr(&last)->tx = NULL;
}

static struct probe {
	const char		*name;
	void			*func;
	struct tracepoint	*tp;
} probes[] = {
	{ "napi_gro_receive_entry",	on_rx_entry },
	{ "napi_gro_frags_entry",	on_rx_entry },
	{ "netif_receive_skb_entry",	on_rx_entry },
	{ "netif_receive_skb",		on_rx_stack },
	{ "net_dev_start_xmit",		on_tx_start },
	{ "net_dev_xmit",		on_tx_end },
};

static void find_tracepoint(struct tracepoint *tp, void *priv)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(probes); i++)
		if (!strcmp(tp->name, probes[i].name))
			probes[i].tp = tp;
}

static void disconnect(int n)
{
	while (n--)
		tracepoint_probe_unregister(probes[n].tp, probes[n].func, NULL);
	tracepoint_synchronize_unregister();
}

static int connect(void)
{
	int i, err;

	for_each_kernel_tracepoint(find_tracepoint, NULL);
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		err = probes[i].tp ?
		      tracepoint_probe_register(probes[i].tp, probes[i].func, NULL) :
		      -ENOENT;
		if (err) {
			pr_err("no tracepoint %s\n", probes[i].name);
			disconnect(i);
			return err;
		}
	}
	return 0;
}

/* Control ------------------------------------------------------------------ */

static bool on;
static bool counted;	/* the key has been incremented */

/* Parameters are written under a lock of the module's. */
static void set_key(void)
{
	if (on == counted)
		return;
	if (on)
		static_branch_inc(&nic_ts_driver_key);
	else
		static_branch_dec(&nic_ts_driver_key);
	counted = on;
}

static bool ready;

static int on_set(const char *val, const struct kernel_param *kp)
{
	int err = param_set_bool(val, kp);

	/* On the command line of the module it is too early. */
	if (!err && ready)
		set_key();
	return err;
}

static const struct kernel_param_ops on_ops = {
	.set = on_set,
	.get = param_get_bool,
};
module_param_cb(on, &on_ops, &on, 0644);
MODULE_PARM_DESC(on, "whether drivers' hooks are on");

static int counts_show(struct seq_file *seq, void *unused)
{
	int i, id;

	for (i = 0; i < MAX_DEVICES; i++)
		for (id = 0; devices[i].dev && id < NR_COUNTERS; id++)
			seq_printf(seq, "%s %s %lld\n", devices[i].name,
				   counter_name[id],
				   atomic64_read(&devices[i].n[id]));
	seq_printf(seq, "- no_device %lld\n", atomic64_read(&no_device));
	seq_printf(seq, "- key %d\n", static_key_enabled(&nic_ts_driver_key));
	return 0;
}

static int __init count_init(void)
{
	int err;

	err = connect();
	if (err)
		return err;
	err = -ENOMEM;
	if (!proc_create_single("nic_ts_count", 0444, NULL, counts_show))
		goto err_connect;
	err = nic_ts_bus_register(&count_bus);
	if (err)
		goto err_proc;
	ready = true;
	set_key();
	return 0;

err_proc:
	remove_proc_entry("nic_ts_count", NULL);
err_connect:
	disconnect(ARRAY_SIZE(probes));
	return err;
}

static void __exit count_exit(void)
{
	on = false;
	set_key();
	nic_ts_bus_unregister(&count_bus);
	remove_proc_entry("nic_ts_count", NULL);
	disconnect(ARRAY_SIZE(probes));
}

module_init(count_init);
module_exit(count_exit);

MODULE_DESCRIPTION("A bus that counts what patched drivers tell it");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
