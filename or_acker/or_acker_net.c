// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker, per network namespace: net.or_acker.*, /proc/net/or_acker, the port,
 * and the devices whose packets are captured.
 *
 * A namespace without subscribers looks at none. Else it looks at those at the
 * bottom of its devices, once each: below VLANs, bonds and bridges, also where these
 * are in another namespace than the devices below. A tunnel's device is at the bottom:
 * below it its packets are in other ones. Addresses show the owner of a packet.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/if_arp.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/proc_fs.h>
#include <linux/rtnetlink.h>
#include <linux/seq_file.h>
#include <linux/slab.h>

#include <dev_tunnel.h>
#include <net_params.h>
#include <percpu_sum.h>

#include "or_acker.h"

/* Between two attempts to open the port. */
#define OR_ACKER_RETRY		(10 * HZ)

/*
 * Between two runs of the aging, and while it is in the middle of a table: 65,536 entries of each
 * in a second.
 */
#define OR_ACKER_AGE		HZ
#define OR_ACKER_AGE_MORE	(HZ / 16)

/* Devices on top of each other, as deep as the kernel allows. */
#define OR_ACKER_MAX_NEST	8

unsigned int or_acker_net_id __read_mostly;

/* Namespaces, for events of devices that may be below those of another one. */
static LIST_HEAD(or_acker_nets);
static DEFINE_SPINLOCK(or_acker_nets_lock);

/* Devices that are looked at. The lock is taken before RTNL. */
static LIST_HEAD(or_acker_taps);
static DEFINE_MUTEX(or_acker_taps_lock);

/* Parameters --------------------------------------------------------------- */

struct or_acker_host or_acker_host __read_mostly;

/* The rows of or_acker_params.h. */
static const struct net_param or_acker_params[OR_ACKER_P_MAX] = {
#define OR_ACKER_PARAM(id, name, min, max, def, unit, what, source) \
	[OR_ACKER_P_##id] = { __stringify(name), unit, min, max, def },
	OR_ACKER_PARAMS
#undef OR_ACKER_PARAM
};

/* Parameters that are one of two words. */
static const char * const or_acker_words[OR_ACKER_P_MAX][2] = {
	[OR_ACKER_P_MODE] = {
		[OR_ACKER_MODE_SUBSCRIBED]	= "subscribed",
		[OR_ACKER_MODE_ALL]		= "all",
	},
	[OR_ACKER_P_STAMPS] = {
		[OR_ACKER_STAMPS_SOFTWARE]	= "software",
		[OR_ACKER_STAMPS_HARDWARE]	= "hardware",
	},
	[OR_ACKER_P_FORWARD] = { "off", "on" },
};

/* Derive the settings from conf->raw, whose values are in their ranges. */
static void or_acker_conf_build(struct or_acker_conf *conf)
{
	const u64 *raw = conf->raw;

	conf->rules = (struct or_acker_rules) {
		.ack_packets = raw[OR_ACKER_P_ACK_PACKETS],
		.ack_bytes = raw[OR_ACKER_P_ACK_BYTES],
		.ack_delay_ns = raw[OR_ACKER_P_ACK_DELAY],
		.path_interval_ns = raw[OR_ACKER_P_PATH_INTERVAL],
		.sub_interval_ns = NSEC_PER_SEC / (u32)raw[OR_ACKER_P_SUBSCRIBER_RATE],
	};
	conf->cpu_interval_ns = NSEC_PER_SEC / (u32)raw[OR_ACKER_P_CPU_RATE];
	conf->challenge_interval_ns = NSEC_PER_SEC / (u32)raw[OR_ACKER_P_CHALLENGE_RATE];
	conf->clock_error = raw[OR_ACKER_P_CLOCK_ERROR] ?
			    or_clock_encode(raw[OR_ACKER_P_CLOCK_ERROR]) :
			    OR_CLOCK_UNSYNCED;
	conf->all = raw[OR_ACKER_P_MODE] == OR_ACKER_MODE_ALL;
	conf->hardware = raw[OR_ACKER_P_STAMPS] == OR_ACKER_STAMPS_HARDWARE;
	conf->forward = raw[OR_ACKER_P_FORWARD];
	conf->drain = raw[OR_ACKER_P_DRAIN];
}

/* A program that writes it again and again may end: what it said shall not outlive it. */
static u64 or_acker_clock_until(const struct or_acker_conf *conf)
{
	u64 s = conf->raw[OR_ACKER_P_CLOCK_ERROR_FOR];

	/* A suspend counts: afterwards the clock is that of the RTC. */
	return s ? ktime_get_coarse_boottime_ns() + s * NSEC_PER_SEC : 0;
}

/* The initial namespace's values are those of the host. */
static void or_acker_host_set(const struct or_acker_conf *conf)
{
	unsigned int id;

	for (id = 0; id < OR_ACKER_P_MAX; id++)
		if (or_acker_limits_host(id))
			WRITE_ONCE(or_acker_host.value[id], conf->raw[id]);
	WRITE_ONCE(or_acker_host.cpu_interval_ns, conf->cpu_interval_ns);
}

/* Return whether the writer administers the host, and not only a namespace. */
static bool or_acker_may_grant(const struct or_acker_net *an)
{
	return net_eq(an->net, &init_net) || capable(CAP_NET_ADMIN);
}

static int or_acker_param_set(struct net_params *params, unsigned int id, u64 value,
			      bool quiet)
{
	struct or_acker_net *an = container_of(params, struct or_acker_net, params);
	struct or_acker_conf *old, *conf;
	bool grant = false;
	u32 most;

	if (or_acker_limits_host(id)) {
		grant = or_acker_may_grant(an);
		most = READ_ONCE(or_acker_host.value[id]);
		if (!grant && value > most) {
			if (!quiet)
				pr_info_ratelimited("%s '%llu': expected at most %u, the value of the initial network namespace; only the host's administrator may set more\n",
						    params->param[id].name, value, most);
			return -EPERM;
		}
	}
	conf = kmalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	if (!conf)
		return -ENOMEM;

	mutex_lock(&an->conf_lock);
	old = rcu_dereference_protected(an->conf, lockdep_is_held(&an->conf_lock));
	memcpy(conf->raw, old->raw, sizeof(conf->raw));
	conf->raw[id] = value;
	conf->granted = old->granted & ~BIT(id);
	if (grant)
		conf->granted |= BIT(id);
	or_acker_conf_build(conf);
	conf->clock_until = old->clock_until;
	if (id == OR_ACKER_P_CLOCK_ERROR || id == OR_ACKER_P_CLOCK_ERROR_FOR)
		conf->clock_until = or_acker_clock_until(conf);
	rcu_assign_pointer(an->conf, conf);
	if (net_eq(an->net, &init_net))
		or_acker_host_set(conf);
	WRITE_ONCE(an->all, conf->all);
	mutex_unlock(&an->conf_lock);
	kfree_rcu(old, rcu);

	/* Both modes, and both kinds of timestamps, need other devices. */
	if (id == OR_ACKER_P_MODE || id == OR_ACKER_P_STAMPS)
		or_acker_sync_soon(an);
	mod_delayed_work(system_percpu_wq, &an->age_work, 0);
	/* Senders that have come while it was off know nothing. */
	if (id == OR_ACKER_P_DRAIN) {
		spin_lock_bh(&an->lock);
		or_acker_drain_new(an);
		spin_unlock_bh(&an->lock);
	}
	return 0;
}

static u64 or_acker_param_get(struct net_params *params, unsigned int id)
{
	struct or_acker_net *an = container_of(params, struct or_acker_net, params);
	u64 value;

	rcu_read_lock();
	value = or_acker_value(rcu_dereference(an->conf), id);
	rcu_read_unlock();
	return value;
}

/* Counters ----------------------------------------------------------------- */

static const char * const or_acker_stat_names[OR_ACKER_STAT_MAX] = {
#define OR_ACKER_STAT(id, name, what) #name,
	OR_ACKER_STATS
#undef OR_ACKER_STAT
};

static int or_acker_stats_show(struct seq_file *seq, void *v)
{
	struct or_acker_net *an = or_acker_net(seq_file_single_net(seq));
	int i;

	for (i = 0; i < OR_ACKER_STAT_MAX; i++)
		seq_printf(seq, "%s %lu\n", or_acker_stat_names[i], percpu_sum(&an->stats->cnt[i]));
	/* Current numbers, read locklessly. */
	seq_printf(seq, "Subscribers %u\n", READ_ONCE(an->nsubs));
	seq_printf(seq, "Flows %u\n", READ_ONCE(an->nflows));
	seq_printf(seq, "Devices %u\n", READ_ONCE(an->ndevs));
	seq_printf(seq, "PortOpen %u\n", READ_ONCE(an->open));
	return 0;
}

/* or_acker_put_stats() - write a namespace's counters, for the family "onramp"; 0 or -EMSGSIZE */
int or_acker_put_stats(struct sk_buff *msg, struct net *net)
{
	struct or_acker_net *an = or_acker_net(net);
	int i, err = 0;

	for (i = 0; i < OR_ACKER_STAT_MAX && !err; i++)
		err = or_genl_put_stat(msg, or_acker_stat_names[i],
				       percpu_sum(&an->stats->cnt[i]));
	/* As in /proc/net/or_acker. */
	return err ?: or_genl_put_stat(msg, "Subscribers", READ_ONCE(an->nsubs)) ?:
	       or_genl_put_stat(msg, "Flows", READ_ONCE(an->nflows)) ?:
	       or_genl_put_stat(msg, "Devices", READ_ONCE(an->ndevs)) ?:
	       or_genl_put_stat(msg, "PortOpen", READ_ONCE(an->open));
}

/* Devices ------------------------------------------------------------------ */

static bool or_acker_wants_packets(struct or_acker_net *an)
{
	bool all;

	rcu_read_lock();
	all = rcu_dereference(an->conf)->all;
	rcu_read_unlock();
	return READ_ONCE(an->open) && !READ_ONCE(an->exiting) &&
	       (all || READ_ONCE(an->nsubs));
}

static bool or_acker_wants_hardware(struct or_acker_net *an)
{
	bool hardware;

	rcu_read_lock();
	hardware = rcu_dereference(an->conf)->hardware;
	rcu_read_unlock();
	return hardware;
}

/* Return whether the bus still knows the device. It forgets unregistered ones. */
static bool or_acker_tap_lives(const struct or_acker_tap *tap)
{
	return !hlist_unhashed(&tap->receiver.node);
}

static void or_acker_dev_free(struct or_acker_dev *ad)
{
	list_del(&ad->list);
	or_acker_link_put(ad->link);
	kfree(ad);
}

/* Return a device that is on no list yet; NULL: no memory. */
static struct or_acker_dev *or_acker_dev_alloc(void)
{
	struct or_acker_dev *ad = kzalloc(sizeof(*ad), GFP_KERNEL);

	if (!ad)
		return NULL;
	ad->link = or_acker_link_alloc();
	if (ad->link)
		return ad;
	kfree(ad);
	return NULL;
}

/* A device of its own: keep it, or put it on the list, not registered yet. */
static void or_acker_want_dev(struct or_acker_net *an, struct net_device *dev)
{
	struct or_acker_dev *ad;

	ASSERT_RTNL();
	list_for_each_entry(ad, &an->devs, list) {
		if (ad->net != dev_net(dev) || ad->ifindex != dev->ifindex)
			continue;
		/* Away and back again. */
		if (ad->tap && !or_acker_tap_lives(ad->tap))
			continue;
		ad->keep = true;
		return;
	}
	ad = or_acker_dev_alloc();
	if (!ad) {
		or_acker_count(an, OR_ACKER_DEVICE_MEMORY);
		an->incomplete = true;
		return;
	}
	ad->an = an;
	ad->keep = true;
	ad->soft = !dev->dev.parent;
	ad->costly = dev->type == ARPHRD_NONE;
	ad->net = dev_net(dev);
	ad->ifindex = dev->ifindex;
	list_add(&ad->list, &an->devs);
}

/* Packets of such a device are captured: they are IP, behind an Ethernet header or none. */
static bool or_acker_has_packets(const struct net_device *dev)
{
	switch (dev->type) {
	case ARPHRD_ETHER:
	case ARPHRD_LOOPBACK:
	case ARPHRD_NONE:	/* WireGuard, TUN, xfrm */
	case ARPHRD_TUNNEL:	/* IPIP, VTI */
	case ARPHRD_TUNNEL6:
	case ARPHRD_SIT:
	case ARPHRD_IPGRE:
	case ARPHRD_IP6GRE:
		return true;
	}
	return false;
}

/*
 * Down to where there is nothing below, or only a tunnel's packets. A device with a driver has
 * packets of its own besides: netvsc, if its virtual function is down, or a port of a switch (DSA).
 */
static void or_acker_want_below(struct or_acker_net *an, struct net_device *dev,
				int depth)
{
	struct net_device *lower;
	struct list_head *iter;
	bool bottom = true;

	if (!dev_is_tunnel(dev)) {
		netdev_for_each_lower_dev(dev, lower, iter) {
			bottom = false;
			if (depth < OR_ACKER_MAX_NEST)
				or_acker_want_below(an, lower, depth + 1);
		}
	}
	if ((bottom || dev->dev.parent) && or_acker_has_packets(dev))
		or_acker_want_dev(an, dev);
}

/* Have a device looked at, for its first namespace. It may be going. */
static struct or_acker_tap *or_acker_tap_add(struct net *net, int ifindex)
{
	struct or_acker_tap *tap;
	int err;

	lockdep_assert_held(&or_acker_taps_lock);
	if (!rcu_access_pointer(nic_ts_bus))
		return ERR_PTR(-EOPNOTSUPP);
	tap = kzalloc(sizeof(*tap), GFP_KERNEL);
	if (!tap)
		return ERR_PTR(-ENOMEM);
	tap->receiver.rx = or_acker_rx;
	tap->receiver.skip = or_acker_skip;
	tap->receiver.skips = or_acker_skips();
	tap->receiver.net = net;
	tap->receiver.ifindex = ifindex;
	err = nic_ts_rx_register(&tap->receiver);
	if (err) {
		kfree(tap);
		return ERR_PTR(err);
	}
	list_add(&tap->list, &or_acker_taps);
	return tap;
}

static struct or_acker_tap *or_acker_tap_find(const struct net *net, int ifindex)
{
	struct or_acker_tap *tap;

	lockdep_assert_held(&or_acker_taps_lock);
	list_for_each_entry(tap, &or_acker_taps, list)
		if (tap->receiver.net == net && tap->receiver.ifindex == ifindex &&
		    or_acker_tap_lives(tap))
			return tap;
	return or_acker_tap_add((struct net *)net, ifindex);
}

static int or_acker_dev_register(struct or_acker_dev *ad)
{
	struct or_acker_tap *tap;

	mutex_lock(&or_acker_taps_lock);
	tap = or_acker_tap_find(ad->net, ad->ifindex);
	if (!IS_ERR(tap)) {
		ad->tap = tap;
		hlist_add_head_rcu(&ad->node, &tap->devs);
	}
	mutex_unlock(&or_acker_taps_lock);
	return PTR_ERR_OR_ZERO(tap);
}

/* Stop capture on a device for the namespace. No packet is under way on return. */
static void or_acker_dev_leave(struct or_acker_dev *ad)
{
	struct or_acker_tap *tap = ad->tap;

	mutex_lock(&or_acker_taps_lock);
	hlist_del_rcu(&ad->node);
	if (hlist_empty(&tap->devs)) {
		list_del(&tap->list);
		/* It waits for packets itself. */
		nic_ts_rx_unregister(&tap->receiver);
		kfree(tap);
	} else {
		synchronize_rcu();
	}
	mutex_unlock(&or_acker_taps_lock);
}

static void or_acker_dev_hardware(struct or_acker_dev *ad, bool on)
{
	struct net *net = ad->net;

	/* The administrator of the namespace below decides there. */
	if (ad->hw == on || net != ad->an->net)
		return;
	if (!on)
		nic_ts_hw_release(net, ad->ifindex);
	else if (nic_ts_hw_request(net, ad->ifindex))
		return or_acker_count(ad->an, OR_ACKER_NO_HARDWARE);
	ad->hw = on;
}

static void or_acker_dev_unregister(struct or_acker_dev *ad)
{
	or_acker_dev_hardware(ad, false);
	if (ad->tap)
		or_acker_dev_leave(ad);
	or_acker_dev_free(ad);
}

/* Register at a device that was found, and put the reference to its namespace. */
static int or_acker_sync_dev(struct or_acker_net *an, struct or_acker_dev *ad)
{
	struct net *net = ad->net;
	int err = or_acker_dev_register(ad);

	put_net(net);
	if (err == -EOPNOTSUPP) {
		or_acker_count(an, OR_ACKER_NO_STAMPS);
		pr_notice_once("no timestamps before GRO, so no OR-ACKs: nic_ts is not loaded, or this kernel lacks its tracepoints\n");
	} else if (err) {
		/* -ENODEV: it is gone, or nic_ts lacked memory for it. */
		if (err == -ENOMEM)
			or_acker_count(an, OR_ACKER_DEVICE_MEMORY);
		an->incomplete = true;
	}
	return err;
}

/**
 * or_acker_sync() - register at the wanted devices, and at no others
 * @an:		namespace
 *
 * Context: process, may sleep; takes RTNL. One at a time for each namespace.
 */
void or_acker_sync(struct or_acker_net *an)
{
	bool wanted = or_acker_wants_packets(an);
	struct or_acker_dev *ad, *next;
	struct net_device *dev;
	unsigned int n = 0;

	list_for_each_entry(ad, &an->devs, list)
		ad->keep = false;
	an->incomplete = false;
	or_acker_count(an, OR_ACKER_SEARCHES);
	rtnl_lock();
	if (wanted)
		for_each_netdev(an->net, dev)
			or_acker_want_below(an, dev, 0);
	/* So that they are still there when we get to them. */
	list_for_each_entry(ad, &an->devs, list)
		if (ad->keep && !ad->tap && !maybe_get_net(ad->net))
			ad->keep = false;
	rtnl_unlock();

	/* First: a device that was away and is back has the same name, and requests stamps anew. */
	list_for_each_entry_safe(ad, next, &an->devs, list)
		if (!ad->keep)
			or_acker_dev_unregister(ad);
	list_for_each_entry_safe(ad, next, &an->devs, list) {
		if (!ad->tap && or_acker_sync_dev(an, ad)) {
			or_acker_dev_free(ad);
			continue;
		}
		or_acker_dev_hardware(ad, or_acker_wants_hardware(an));
		n++;
	}
	/* For /proc. */
	WRITE_ONCE(an->ndevs, n);
	/* No event announces free memory. No effect if a search is due sooner. */
	if (an->incomplete)
		schedule_delayed_work(&an->sync_work, OR_ACKER_RETRY);
}

static void or_acker_sync_work(struct work_struct *work)
{
	or_acker_sync(container_of(to_delayed_work(work), struct or_acker_net, sync_work));
}

/* Devices changed, or the bus was loaded: each namespace that captures searches again. */
static void or_acker_sync_all(void)
{
	struct or_acker_net *an;

	spin_lock(&or_acker_nets_lock);
	list_for_each_entry(an, &or_acker_nets, list)
		if (or_acker_wants_packets(an) || READ_ONCE(an->ndevs))
			or_acker_sync_soon(an);
	spin_unlock(&or_acker_nets_lock);
}

static int or_acker_netdev_event(struct notifier_block *nb, unsigned long event,
				 void *ptr)
{
	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_UNREGISTER:
	case NETDEV_CHANGEUPPER:
		or_acker_sync_all();
		break;
	}
	return NOTIFY_DONE;
}

static struct notifier_block or_acker_netdev_nb = {
	.notifier_call = or_acker_netdev_event,
};

static int or_acker_bus_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	if (event == NIC_TS_BUS_UP)
		or_acker_sync_all();
	return NOTIFY_DONE;
}

static struct notifier_block or_acker_bus_nb = {
	.notifier_call = or_acker_bus_event,
};

/* Namespaces --------------------------------------------------------------- */

static void or_acker_open(struct or_acker_net *an)
{
	/* A parameter that is set starts @age_work, also while the namespace is set up. */
	mutex_lock(&an->conf_lock);
	if (!an->open) {
		/* Read locklessly by the other work. */
		WRITE_ONCE(an->open, !or_port_open(an->net));
		if (!an->open)
			or_acker_count(an, OR_ACKER_NO_PORT);
	}
	mutex_unlock(&an->conf_lock);
}

static void or_acker_age_work(struct work_struct *work)
{
	struct or_acker_net *an = container_of(to_delayed_work(work),
					       struct or_acker_net, age_work);
	bool more;

	or_acker_open(an);
	or_acker_tracker_get(an);
	more = or_acker_age(an);
	if (READ_ONCE(an->nsubs) || READ_ONCE(an->nflows))
		schedule_delayed_work(&an->age_work, more ? OR_ACKER_AGE_MORE : OR_ACKER_AGE);
	else if (!an->open)
		schedule_delayed_work(&an->age_work, OR_ACKER_RETRY);
	if (or_acker_wants_packets(an) != !!READ_ONCE(an->ndevs))
		or_acker_sync_soon(an);
}

/* Allocate the default settings of a new namespace; NULL: no memory. */
static __net_init struct or_acker_conf *or_acker_conf_default(struct net *net)
{
	struct or_acker_conf *conf = kzalloc(sizeof(*conf), GFP_KERNEL_ACCOUNT);
	int i;

	if (!conf)
		return NULL;
	for (i = 0; i < OR_ACKER_P_MAX; i++)
		conf->raw[i] = or_acker_params[i].def;
	conf->granted = net_eq(net, &init_net) ? ~0UL : 0;
	or_acker_conf_build(conf);
	/* The first namespace there is. */
	if (net_eq(net, &init_net))
		or_acker_host_set(conf);
	return conf;
}

static int __net_init or_acker_net_init(struct net *net)
{
	struct or_acker_net *an = or_acker_net(net);
	struct or_acker_conf *conf;
	int err = -ENOMEM;

	an->net = net;
	mutex_init(&an->conf_lock);
	INIT_LIST_HEAD(&an->devs);
	INIT_DELAYED_WORK(&an->sync_work, or_acker_sync_work);
	INIT_DELAYED_WORK(&an->age_work, or_acker_age_work);
	INIT_DELAYED_WORK(&an->drain_work, or_acker_drain_work);

	conf = or_acker_conf_default(net);
	if (!conf)
		return -ENOMEM;
	RCU_INIT_POINTER(an->conf, conf);

	an->stats = alloc_percpu_gfp(struct or_acker_stats,
				     GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!an->stats)
		goto free_conf;
	err = or_acker_tables_init(an);
	if (err)
		goto free_stats;
	an->params = (struct net_params) {
		.param = or_acker_params, .words = or_acker_words, .count = OR_ACKER_P_MAX,
		.get = or_acker_param_get, .set = or_acker_param_set,
	};
	err = -ENOMEM;
	if (!proc_create_net_single("or_acker", 0444, net->proc_net,
				    or_acker_stats_show, NULL))
		goto tables_exit;
	/* Last: a write of a parameter replaces an->conf, and starts the works. */
	err = net_params_register(&an->params, net, "net/or_acker");
	if (err)
		goto remove_proc;

	spin_lock(&or_acker_nets_lock);
	list_add(&an->list, &or_acker_nets);
	spin_unlock(&or_acker_nets_lock);
	/* Whose port is taken works all the same, and tries again. */
	or_acker_open(an);
	if (!an->open)
		schedule_delayed_work(&an->age_work, OR_ACKER_RETRY);
	return 0;

remove_proc:
	remove_proc_entry("or_acker", net->proc_net);
tables_exit:
	or_acker_tables_exit(an);
free_stats:
	free_percpu(an->stats);
free_conf:
	kfree(conf);
	return err;
}

static void __net_exit or_acker_net_exit(struct net *net)
{
	struct or_acker_net *an = or_acker_net(net);

	spin_lock(&or_acker_nets_lock);
	list_del(&an->list);
	spin_unlock(&or_acker_nets_lock);
	remove_proc_entry("or_acker", net->proc_net);
	net_params_unregister(&an->params);
	/*
	 * No more SUBSCRIBEs: either the type is unregistered, or all devices of
	 * the namespace are gone. Packets can come still, from devices below them.
	 * When the work has left these, only the aging starts works.
	 */
	WRITE_ONCE(an->exiting, true);
	or_acker_sync_soon(an);
	flush_delayed_work(&an->sync_work);
	cancel_delayed_work_sync(&an->age_work);
	cancel_delayed_work_sync(&an->sync_work);
	cancel_delayed_work_sync(&an->drain_work);
	if (an->open)
		or_port_close(net);
}

static void __net_exit or_acker_net_exit_batch(struct list_head *nets)
{
	struct or_acker_net *an;
	struct net *net;

	or_acker_trains_void();
	list_for_each_entry(net, nets, exit_list)
		or_acker_tables_exit(or_acker_net(net));
	/* or_acker_flow_free(): the route of its subscriber is of the namespace. */
	rcu_barrier();
	list_for_each_entry(net, nets, exit_list) {
		an = or_acker_net(net);
		free_percpu(an->stats);
		kfree(rcu_dereference_protected(an->conf, true));
	}
}

static struct pernet_operations or_acker_net_ops = {
	.init	= or_acker_net_init,
	.exit	= or_acker_net_exit,
	.exit_batch = or_acker_net_exit_batch,
	.id	= &or_acker_net_id,
	.size	= sizeof(struct or_acker_net),
};

/* or_acker_net_register() - set up all namespaces, present and future; 0 or an error; may sleep */
int __init or_acker_net_register(void)
{
	int err;

	err = register_pernet_subsys(&or_acker_net_ops);
	if (err)
		return err;
	err = register_netdevice_notifier(&or_acker_netdev_nb);
	if (err)
		goto unregister_pernet;
	err = nic_ts_notifier_register(&or_acker_bus_nb);
	if (err)
		goto unregister_netdev;
	return 0;

unregister_netdev:
	unregister_netdevice_notifier(&or_acker_netdev_nb);
unregister_pernet:
	unregister_pernet_subsys(&or_acker_net_ops);
	return err;
}

/* or_acker_net_unregister() - undo that; no SUBSCRIBE comes any more; may sleep */
void or_acker_net_unregister(void)
{
	nic_ts_notifier_unregister(&or_acker_bus_nb);
	unregister_netdevice_notifier(&or_acker_netdev_nb);
	unregister_pernet_subsys(&or_acker_net_ops);
}
