// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker: subscribers for the generic netlink family "onramp". or_port walks their table.
 */
#include <linux/ktime.h>

#include <onramp_version.h>

#include "or_acker.h"

/* A consistent copy of a subscriber, for netlink. */
struct or_acker_sub_snapshot {
	u64	left_s;
	u64	acked_ns;
	u64	acks;
	int	ifindex;
	u16	caps;
	bool	lives;
};

static void or_acker_sub_snapshot(struct or_acker_sub *sub, struct or_acker_sub_snapshot *snap)
{
	u64 now_s = or_acker_now_s();

	spin_lock_bh(&sub->lock);
	*snap = (struct or_acker_sub_snapshot) {
		.lives = now_s < sub->s.until_s, .left_s = sub->s.until_s - now_s,
		.acked_ns = sub->path.acked_ns, .acks = sub->acks, .ifindex = sub->ifindex,
		.caps = sub->caps,
	};
	spin_unlock_bh(&sub->lock);
}

static int or_acker_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, ONRAMP_A_SUB_PAD);
}

/* The clock of its OR-ACKs, if its time is known. */
static int or_acker_put_clock(struct sk_buff *msg, struct net *net, const struct or_acker_sub *sub,
			      int ifindex)
{
	u16 domain = READ_ONCE(sub->clock);
	struct or_acker_clock clock;

	if (!domain || !or_acker_clock_read(or_acker_net(net), (u8)domain, ifindex, &clock))
		return 0;
	return nla_put_u8(msg, ONRAMP_A_SUB_DOMAIN, (u8)domain) ||
	       nla_put_s64(msg, ONRAMP_A_SUB_CLOCK_NS, clock.ns, ONRAMP_A_SUB_PAD) ||
	       (clock.nic && nla_put_s64(msg, ONRAMP_A_SUB_PHC_NS, clock.phc_ns,
					 ONRAMP_A_SUB_PAD)) ? -EMSGSIZE : 0;
}

static int or_acker_put_sub(struct sk_buff *msg, struct net *net, const struct or_acker_sub *sub,
			    const struct or_acker_sub_snapshot *snap)
{
	u64 now_ns = ktime_get_ns(), acked_ns = min(snap->acked_ns, now_ns);

	if (or_genl_put_name(msg, sub->key.family, sub->key.laddr, sub->key.raddr, sub->scope) ||
	    (snap->ifindex && nla_put_u32(msg, ONRAMP_A_SUB_IFINDEX, snap->ifindex)) ||
	    (snap->lives && (nla_put_u16(msg, ONRAMP_A_SUB_CAPS, snap->caps) ||
			     or_acker_put_u64(msg, ONRAMP_A_SUB_LIFETIME_S, snap->left_s))) ||
	    nla_put_u32(msg, ONRAMP_A_SUB_FLOWS, READ_ONCE(sub->nflows)) ||
	    (acked_ns && or_acker_put_u64(msg, ONRAMP_A_SUB_ACKED_NS, now_ns - acked_ns)) ||
	    or_acker_put_u64(msg, ONRAMP_A_SUB_ACKS, snap->acks) ||
	    or_acker_put_clock(msg, net, sub, snap->ifindex))
		return -EMSGSIZE;
	return 0;
}

static struct rhashtable *or_acker_genl_subs(struct net *net)
{
	return &or_acker_net(net)->subs;
}

static const void *or_acker_genl_find(struct net *net, const struct or_genl_filter *filter)
{
	struct nic_ts_key key = { .family = filter->family };

	memcpy(key.laddr, filter->laddr, sizeof(key.laddr));
	memcpy(key.raddr, filter->raddr, sizeof(key.raddr));
	key = or_acker_pair(&key, or_genl_scope(net, filter));
	return or_acker_sub_find(or_acker_net(net), &key);
}

static int or_acker_genl_put(struct net *net, struct sk_buff *msg, const void *object,
			     const struct or_genl_filter *filter)
{
	struct or_acker_sub *sub = (struct or_acker_sub *)object;
	struct or_acker_sub_snapshot snap;

	if (filter && !or_genl_matches(filter, sub->key.family, sub->key.laddr, sub->key.raddr,
				       sub->scope))
		return OR_GENL_SKIP;
	or_acker_sub_snapshot(sub, &snap);
	if (filter && filter->ifindex && filter->ifindex != snap.ifindex)
		return OR_GENL_SKIP;
	return or_acker_put_sub(msg, net, sub, &snap);
}

static const struct or_genl_object or_acker_genl_objects[] = {
	{
		.cmd	= ONRAMP_CMD_SUB_GET,
		.table	= or_acker_genl_subs,
		.find	= or_acker_genl_find,
		.put	= or_acker_genl_put,
	}, { },
};

static struct or_genl_user or_acker_genl_user = {
	.owner		= THIS_MODULE,
	.name		= KBUILD_MODNAME,
	.version	= ONRAMP_VERSION,
	.stats		= or_acker_put_stats,
	.objects	= or_acker_genl_objects,
};

/* or_acker_genl_init() - show subscribers and counters; nothing fails after that */
void or_acker_genl_init(void)
{
	or_genl_register(&or_acker_genl_user);
}

/* or_acker_genl_exit() - undo or_acker_genl_init() */
void or_acker_genl_exit(void)
{
	or_genl_unregister(&or_acker_genl_user);
}
