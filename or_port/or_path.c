// SPDX-License-Identifier: GPL-2.0
/*
 * or_port: the RTTs of empty paths, from all who measure some, for all who need one
 *
 *	or_path_report()	find or create the path, which becomes the last of the list;
 *			a new one may evict the first
 *	or_path_rtt()	RCU
 *	or_path_lower()	a copy, under the lock
 *	device goes	its paths go
 *
 * One lock for each namespace serialises all changes: users tell of an RTT when a connection
 * begins, when a drain shows it, and some times a minute.
 */
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>

#include <or_path.h>

#include "or_port_priv.h"

#define CREATE_TRACE_POINTS
#include "or_path_trace.h"

/* A path takes 192 bytes. */
static unsigned int or_max_paths = 1 << 14;
module_param_named(max_paths, or_max_paths, uint, 0644);
MODULE_PARM_DESC(max_paths, "paths of a network namespace whose RTT is kept, at most (16384)");

static unsigned int or_path_net_id __read_mostly;

/**
 * struct or_path - a path
 * @node:	in or_path_net.paths
 * @key:	its addresses; scope is the index of its device
 * @list:	in or_path_net.list
 * @rtt:	by enum or_path_kind
 * @rcu:	to free it
 */
struct or_path {
	struct rhash_head	node;
	struct or_addrs		key;
	struct list_head	list;
	struct or_path_rtt	rtt[OR_PATH_KINDS];
	struct rcu_head		rcu;
};

/**
 * struct or_path_net - the paths of a namespace
 * @paths:	by their keys
 * @lock:	of all changes
 * @list:	all paths, that of the last RTT last
 * @count:	how many
 * @there:	false once the namespace goes; sockets of the kernel may outlive it. Read under RCU
 */
struct or_path_net {
	struct rhashtable	paths;
	spinlock_t		lock;		/* of all changes */
	struct list_head	list;
	unsigned int		count;
	bool			there;
};

static const struct rhashtable_params or_path_table = {
	.key_len		= sizeof(struct or_addrs),
	.key_offset		= offsetof(struct or_path, key),
	.head_offset		= offsetof(struct or_path, node),
	.automatic_shrinking	= true,
};

/* RCU, or the lock. */
static struct or_path *or_path_find(struct or_path_net *pn, const struct or_addrs *addrs,
				    int ifindex, struct or_addrs *key)
{
	*key = *addrs;
	key->scope = ifindex;
	return READ_ONCE(pn->there) ? rhashtable_lookup(&pn->paths, key, or_path_table) : NULL;
}

static void or_path_remove(struct or_path_net *pn, struct or_path *path)
{
	lockdep_assert_held(&pn->lock);
	rhashtable_remove_fast(&pn->paths, &path->node, or_path_table);
	list_del(&path->list);
	pn->count--;
	kfree_rcu(path, rcu);
}

/* It belongs to no cgroup: it may be there for years. */
static struct or_path *or_path_create(struct or_path_net *pn, const struct or_addrs *key)
{
	unsigned int most = READ_ONCE(or_max_paths);
	struct or_path *path;

	lockdep_assert_held(&pn->lock);
	if (!pn->there || !most)
		return NULL;
	while (pn->count >= most)
		or_path_remove(pn, list_first_entry(&pn->list, struct or_path, list));
	path = kzalloc(sizeof(*path), GFP_NOWAIT | __GFP_NOWARN);
	if (!path)
		return NULL;
	path->key = *key;
	if (rhashtable_insert_fast(&pn->paths, &path->node, or_path_table)) {
		kfree(path);
		return NULL;
	}
	list_add_tail(&path->list, &pn->list);
	pn->count++;
	return path;
}

/**
 * or_path_rtt() - return the RTT of a path when it is empty
 * @net:	namespace
 * @addrs:	its addresses; their scope does not count
 * @ifindex:	of the device that it begins with
 * @kind:	of the RTT
 *
 * Context: any but hard interrupts.
 * Return: ns, 0: unknown.
 */
u32 or_path_rtt(const struct net *net, const struct or_addrs *addrs, int ifindex,
		enum or_path_kind kind)
{
	const struct or_path *path;
	struct or_addrs key;
	u32 rtt_ns = 0;

	rcu_read_lock();
	path = or_path_find(net_generic(net, or_path_net_id), addrs, ifindex, &key);
	if (path)
		rtt_ns = READ_ONCE(path->rtt[kind].rtt_ns);
	rcu_read_unlock();
	return rtt_ns;
}
EXPORT_SYMBOL_GPL(or_path_rtt);

/**
 * or_path_report() - tell of an RTT of a path
 * @net:	namespace
 * @addrs:	its addresses; their scope does not count
 * @ifindex:	of the device that it begins with
 * @kind:	of the RTT
 * @rtt_ns:	the RTT, ns; 0, and 2^32 or more, do not count
 * @how:	how it is known
 *
 * Context: any but hard interrupts.
 */
void or_path_report(const struct net *net, const struct or_addrs *addrs, int ifindex,
		    enum or_path_kind kind, u64 rtt_ns, enum or_path_how how)
{
	struct or_path_net *pn = net_generic(net, or_path_net_id);
	struct or_path *path;
	struct or_addrs key;
	u32 before_ns;

	if (!rtt_ns || rtt_ns > U32_MAX)
		return;
	rcu_read_lock();
	spin_lock_bh(&pn->lock);
	path = or_path_find(pn, addrs, ifindex, &key) ?: or_path_create(pn, &key);
	if (path) {
		list_move_tail(&path->list, &pn->list);
		before_ns = path->rtt[kind].rtt_ns;
		if (or_path_add(&path->rtt[kind], ktime_get_ns(), (u32)rtt_ns, how))
			trace_or_path(&key, kind, before_ns, path->rtt[kind].rtt_ns, how);
	}
	spin_unlock_bh(&pn->lock);
	rcu_read_unlock();
}
EXPORT_SYMBOL_GPL(or_path_report);

/**
 * or_path_lower() - copy the empty RTT of a path
 * @net:	namespace
 * @addrs:	its addresses; their scope does not count
 * @ifindex:	of the device that it begins with
 * @rtt:	the lower RTT of both kinds, all of one moment; written if true
 * @kind:	its kind; likewise
 *
 * Context: any but hard interrupts; takes a lock of the namespace, so not for each packet.
 * Return: whether an RTT of the path is known.
 */
bool or_path_lower(const struct net *net, const struct or_addrs *addrs, int ifindex,
		   struct or_path_rtt *rtt, enum or_path_kind *kind)
{
	struct or_path_net *pn = net_generic(net, or_path_net_id);
	const struct or_path *path;
	struct or_addrs key;

	rcu_read_lock();
	spin_lock_bh(&pn->lock);
	path = or_path_find(pn, addrs, ifindex, &key);
	if (path) {
		*kind = or_path_lower_kind(path->rtt);
		*rtt = path->rtt[*kind];
	}
	spin_unlock_bh(&pn->lock);
	rcu_read_unlock();
	return path;
}
EXPORT_SYMBOL_GPL(or_path_lower);

/* Namespaces, module ------------------------------------------------------- */

static int or_path_netdev_event(struct notifier_block *nb, unsigned long event, void *ptr)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(ptr);
	struct or_path_net *pn = net_generic(dev_net(dev), or_path_net_id);
	struct or_path *path, *next;

	if (event != NETDEV_UNREGISTER)
		return NOTIFY_DONE;
	spin_lock_bh(&pn->lock);
	list_for_each_entry_safe(path, next, &pn->list, list)
		if (path->key.scope == dev->ifindex)
			or_path_remove(pn, path);
	spin_unlock_bh(&pn->lock);
	return NOTIFY_DONE;
}

static struct notifier_block or_path_netdev_nb = {
	.notifier_call = or_path_netdev_event,
};

static int __net_init or_path_net_init(struct net *net)
{
	struct or_path_net *pn = net_generic(net, or_path_net_id);

	spin_lock_init(&pn->lock);
	INIT_LIST_HEAD(&pn->list);
	pn->there = true;
	return rhashtable_init(&pn->paths, &or_path_table);
}

/* The caller waits for RCU readers before it calls any exit method. */
static void __net_exit or_path_net_pre_exit(struct net *net)
{
	struct or_path_net *pn = net_generic(net, or_path_net_id);

	spin_lock_bh(&pn->lock);
	WRITE_ONCE(pn->there, false);
	spin_unlock_bh(&pn->lock);
}

static void or_path_free(void *path, void *arg)
{
	kfree(path);
}

static void __net_exit or_path_net_exit(struct net *net)
{
	struct or_path_net *pn = net_generic(net, or_path_net_id);

	rhashtable_free_and_destroy(&pn->paths, or_path_free, NULL);
}

static struct pernet_operations or_path_net_ops = {
	.init	= or_path_net_init,
	.pre_exit = or_path_net_pre_exit,
	.exit	= or_path_net_exit,
	.id	= &or_path_net_id,
	.size	= sizeof(struct or_path_net),
};

/* or_path_init() - set up all namespaces, present and future; 0 or an error */
int __init or_path_init(void)
{
	int err = register_pernet_subsys(&or_path_net_ops);

	if (err)
		return err;
	err = register_netdevice_notifier(&or_path_netdev_nb);
	if (err)
		unregister_pernet_subsys(&or_path_net_ops);
	return err;
}

/* or_path_exit() - undo or_path_init(); nobody uses it any more */
void or_path_exit(void)
{
	unregister_netdevice_notifier(&or_path_netdev_nb);
	unregister_pernet_subsys(&or_path_net_ops);
}
