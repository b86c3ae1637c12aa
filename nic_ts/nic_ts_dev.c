// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, the timestamp bus: devices.
 *
 * Each network device has a struct nic_ts_dev, from its registration to its end: counters,
 * receivers, hardware timestamps, and which device below it sees the same packets. It is in
 * a hash table by the address of struct net_device. nic_ts_netdev.c makes and ends it.
 */
#include <linux/hashtable.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>

#include "nic_ts_priv.h"

/* struct nic_ts_dev by struct net_device; written under RTNL, read under RCU. */
DEFINE_HASHTABLE(nic_ts_devs, NIC_TS_DEVS_BITS);

static const char * const nic_ts_dev_stat_names[] = {
#define NIC_TS_STAT(id, name, what) #name,
	NIC_TS_DEV_STATS
#undef NIC_TS_STAT
};

static const char * const nic_ts_parse_names[NIC_TS_PARSE_MAX] = {
#define NIC_TS_PARSE(id, name, what) #name,
	NIC_TS_PARSE_RESULTS
#undef NIC_TS_PARSE
};

/**
 * nic_ts_dev_stat_name() - return the name of a device's counter
 * @id:		enum nic_ts_dev_stat
 * @buf:	for names with a prefix
 * @size:	of @buf, 32 is enough
 */
const char *nic_ts_dev_stat_name(unsigned int id, char *buf, size_t size)
{
	if (id < NIC_TS_DEV_RX_PARSE)
		return nic_ts_dev_stat_names[id];
	if (id < NIC_TS_DEV_TX_PARSE)
		snprintf(buf, size, "Rx%s", nic_ts_parse_names[id - NIC_TS_DEV_RX_PARSE]);
	else
		snprintf(buf, size, "Tx%s", nic_ts_parse_names[id - NIC_TS_DEV_TX_PARSE]);
	return buf;
}

/* nic_ts_dev_find() - return the nic_ts_dev of a device, which is only compared, or NULL; RCU */
struct nic_ts_dev *nic_ts_dev_find(const struct net_device *dev)
{
	struct nic_ts_dev *nd;

	hash_for_each_possible_rcu(nic_ts_devs, nd, node, (unsigned long)dev)
		if (nd->dev == dev)
			return nd;
	return NULL;
}

/* nic_ts_dev_by_index() - return a device of a namespace by its index, or NULL; RTNL */
struct nic_ts_dev *nic_ts_dev_by_index(struct net *net, int ifindex)
{
	struct nic_ts_dev *nd = NULL;
	struct net_device *dev;

	ASSERT_RTNL();
	rcu_read_lock();
	dev = __dev_get_by_index(net, ifindex);
	if (dev)
		nd = nic_ts_dev_find(dev);
	rcu_read_unlock();
	return nd;
}

static void nic_ts_dev_free(struct rcu_head *rcu)
{
	struct nic_ts_dev *nd = container_of(rcu, struct nic_ts_dev, rcu);

	free_percpu(nd->cpu);
	kfree(nd);
}

/* nic_ts_dev_put() - drop a reference; any context */
void nic_ts_dev_put(struct nic_ts_dev *nd)
{
	if (refcount_dec_and_test(&nd->ref))
		call_rcu(&nd->rcu, nic_ts_dev_free);
}

/* The device of the NIC below a stack of devices; NULL: there is none, or several. */
static const struct nic_ts_dev *nic_ts_dev_bottom(const struct net_device *dev)
{
	const struct net_device *below;
	const struct nic_ts_dev *nd;
	int level;

	for (level = 0; level <= MAX_NEST_DEV; level++) {
		nd = nic_ts_dev_find(dev);
		below = nd ? READ_ONCE(nd->below) : NULL;
		if (!below)
			return nd;
		if (below == dev)
			return NULL;
		dev = below;
	}
	return NULL;
}

/**
 * nic_ts_dev_from_host() - return the time that the clock of a device's NIC shows
 * @dev:	device, or one that is stacked on it
 * @host_ns:	at this time of CLOCK_MONOTONIC
 * @clock:	the result, a hardware timestamp
 * @error_ns:	its error bound, ns
 *
 * Context: any; takes the RCU read lock.
 * Return: 0, or -ENODATA: there is no clock, or no map of it that holds.
 */
int nic_ts_dev_from_host(const struct net_device *dev, u64 host_ns, struct nic_ts_stamp *clock,
			 u32 *error_ns)
{
	const struct nic_ts_dev *nd;
	int err = -ENODATA;

	rcu_read_lock();
	nd = nic_ts_dev_bottom(dev);
	if (nd)
		err = nic_ts_clock_from_host(READ_ONCE(nd->domain), host_ns, clock, error_ns);
	rcu_read_unlock();
	return err;
}
