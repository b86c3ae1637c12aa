// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, generic netlink: clock maps in; devices, counters and flows out. The
 * messages are described in include/uapi/nic_ts.h.
 */
#include <linux/rtnetlink.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include <percpu_sum.h>

#include "nic_ts_priv.h"

static struct genl_family nic_ts_family;

static const struct nla_policy nic_ts_policy[NIC_TS_A_MAX + 1] = {
	[NIC_TS_A_DOMAIN]	= { .type = NLA_U32 },
	[NIC_TS_A_REF_CLOCK_NS]	= { .type = NLA_U64 },
	[NIC_TS_A_REF_HOST_NS]	= { .type = NLA_U64 },
	[NIC_TS_A_RATE_PPT]	= { .type = NLA_S64 },
	[NIC_TS_A_ERROR_NS]	= { .type = NLA_U32 },
	[NIC_TS_A_DRIFT_PPB]	= { .type = NLA_U32 },
	[NIC_TS_A_MAX_AGE_NS]	= { .type = NLA_U64 },
	[NIC_TS_A_IFINDEX]	= { .type = NLA_U32 },
	[NIC_TS_A_HW]		= NLA_POLICY_MAX(NLA_U8, 1),
	[NIC_TS_A_TX_SLOTS]	= NLA_POLICY_MAX(NLA_U32, 64),
};

/* A reason that is only known at run time; it is a literal nevertheless. */
static void nic_ts_explain(struct genl_info *info, const char *why)
{
	if (why && info->extack)
		info->extack->_msg = why;
}

static int nic_ts_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	return nla_put_u64_64bit(msg, attr, value, NIC_TS_A_PAD);
}

/* A reply to a request for one thing; filled in by @fill. */
static int nic_ts_reply(struct genl_info *info, u8 cmd,
			int (*fill)(struct sk_buff *msg, const void *what),
			const void *what)
{
	struct sk_buff *msg;
	void *hdr;
	int err = -EMSGSIZE;

	msg = genlmsg_new(GENLMSG_DEFAULT_SIZE, GFP_KERNEL);
	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &nic_ts_family, 0, cmd);
	if (!hdr)
		goto free_msg;
	err = fill(msg, what);
	if (err)
		goto free_msg;
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);

free_msg:
	nlmsg_free(msg);
	return err;
}

/* One message of a dump. */
static int nic_ts_dump_one(struct sk_buff *msg, struct netlink_callback *cb, u8 cmd,
			   int (*fill)(struct sk_buff *msg, const void *what),
			   const void *what)
{
	void *hdr = genlmsg_put(msg, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&nic_ts_family, NLM_F_MULTI, cmd);

	if (!hdr)
		return -EMSGSIZE;
	if (fill(msg, what)) {
		genlmsg_cancel(msg, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return 0;
}

/* Clocks ------------------------------------------------------------------- */

static int nic_ts_clock_fill(struct sk_buff *msg, const void *what)
{
	u32 domain = *(const u32 *)what;
	enum nic_ts_clock_state state;
	struct nic_ts_map map = {};
	u64 now_ns = ktime_get_ns();
	s64 ppt;

	state = nic_ts_clock_show(domain, &map);
	if (nla_put_u32(msg, NIC_TS_A_DOMAIN, domain) ||
	    nla_put_u8(msg, NIC_TS_A_CLOCK_STATE, state))
		return -EMSGSIZE;
	if (!map.ref_clock_ns)
		return 0;
	/* |rate| < 2^30: 10^12 / 2^40 = 5^12 / 2^28 is applied in 58 bits. */
	ppt = ((s64)map.rate_q40 * 244140625) >> 28;
	if (nic_ts_put_u64(msg, NIC_TS_A_REF_CLOCK_NS, map.ref_clock_ns) ||
	    nic_ts_put_u64(msg, NIC_TS_A_REF_HOST_NS, map.ref_host_ns) ||
	    nla_put_s64(msg, NIC_TS_A_RATE_PPT, ppt, NIC_TS_A_PAD) ||
	    nla_put_u32(msg, NIC_TS_A_ERROR_NS, map.error_ns) ||
	    nla_put_u32(msg, NIC_TS_A_DRIFT_PPB,
			(u64)map.drift_q32 * 1000000000 >> 32) ||
	    nic_ts_put_u64(msg, NIC_TS_A_MAX_AGE_NS, map.max_age_ns) ||
	    nic_ts_put_u64(msg, NIC_TS_A_AGE_NS, now_ns > map.ref_host_ns ?
			   now_ns - map.ref_host_ns : 0))
		return -EMSGSIZE;
	return 0;
}

/* The clock that a request names; 0: it does not exist. */
static u32 nic_ts_clock_of(struct genl_info *info)
{
	u32 domain;

	if (GENL_REQ_ATTR_CHECK(info, NIC_TS_A_DOMAIN)) {
		NL_SET_ERR_MSG(info->extack, "expected the number of a clock");
		return 0;
	}
	domain = nla_get_u32(info->attrs[NIC_TS_A_DOMAIN]);
	if (nic_ts_clock_known(domain))
		return domain;
	NL_SET_ERR_MSG(info->extack,
		       "unknown clock: expected 2 (CLOCK_MONOTONIC_RAW), 3 (CLOCK_REALTIME) or 256 to 511 (/dev/ptp0 to /dev/ptp255)");
	return 0;
}

static bool nic_ts_clock_may_set(struct genl_info *info)
{
	if (net_eq(genl_info_net(info), &init_net))
		return true;
	NL_SET_ERR_MSG(info->extack,
		       "clocks belong to the machine: set them from the initial network namespace");
	return false;
}

static int nic_ts_clock_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **a = info->attrs;
	struct nic_ts_map map;
	const char *why;
	u32 domain;

	if (!nic_ts_clock_may_set(info))
		return -EPERM;
	domain = nic_ts_clock_of(info);
	if (!domain)
		return -EINVAL;
	if (GENL_REQ_ATTR_CHECK(info, NIC_TS_A_REF_CLOCK_NS) ||
	    GENL_REQ_ATTR_CHECK(info, NIC_TS_A_REF_HOST_NS) ||
	    GENL_REQ_ATTR_CHECK(info, NIC_TS_A_ERROR_NS)) {
		NL_SET_ERR_MSG(info->extack,
			       "map: expected a reading of the clock, one of CLOCK_MONOTONIC, and an error bound");
		return -EINVAL;
	}
	why = nic_ts_map_init(&map, nla_get_u64(a[NIC_TS_A_REF_CLOCK_NS]),
			      nla_get_u64(a[NIC_TS_A_REF_HOST_NS]),
			      a[NIC_TS_A_RATE_PPT] ?
			      nla_get_s64(a[NIC_TS_A_RATE_PPT]) : 0,
			      nla_get_u32(a[NIC_TS_A_ERROR_NS]),
			      a[NIC_TS_A_DRIFT_PPB] ?
			      nla_get_u32(a[NIC_TS_A_DRIFT_PPB]) : 0,
			      a[NIC_TS_A_MAX_AGE_NS] ?
			      nla_get_u64(a[NIC_TS_A_MAX_AGE_NS]) :
			      NIC_TS_DEFAULT_AGE_NS);
	if (why) {
		nic_ts_explain(info, why);
		return -ERANGE;
	}
	return nic_ts_clock_set(domain, &map);
}

static int nic_ts_clock_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 domain;
	int err;

	if (!nic_ts_clock_may_set(info))
		return -EPERM;
	domain = nic_ts_clock_of(info);
	if (!domain)
		return -EINVAL;
	err = nic_ts_clock_invalidate(domain, NIC_TS_CLOCK_WITHDRAWN);
	if (err == -ENODATA)
		NL_SET_ERR_MSG(info->extack, "this clock has no map");
	return err;
}

static int nic_ts_clock_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	u32 domain = nic_ts_clock_of(info);

	if (!domain)
		return -EINVAL;
	return nic_ts_reply(info, NIC_TS_CMD_CLOCK_GET, nic_ts_clock_fill, &domain);
}

static int nic_ts_clock_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct nic_ts_map map;
	u32 domain;

	for (domain = cb->args[0]; domain <= NIC_TS_DOMAIN_PHC(NIC_TS_DOMAIN_PHC_MAX);
	     domain++) {
		if (!nic_ts_clock_known(domain) ||
		    nic_ts_clock_show(domain, &map) == NIC_TS_CLOCK_UNSET)
			continue;
		if (nic_ts_dump_one(skb, cb, NIC_TS_CMD_CLOCK_GET, nic_ts_clock_fill,
				    &domain))
			break;
	}
	cb->args[0] = domain;
	return skb->len;
}

/* Devices ------------------------------------------------------------------ */

static int nic_ts_stat_fill(struct sk_buff *msg, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(msg, NIC_TS_A_STAT);

	if (!nest)
		return -EMSGSIZE;
	if (nla_put_string(msg, NIC_TS_A_STAT_NAME, name) ||
	    nic_ts_put_u64(msg, NIC_TS_A_STAT_VALUE, value))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int nic_ts_dev_stats_fill(struct sk_buff *msg, const struct nic_ts_dev *nd)
{
	struct nlattr *nest = nla_nest_start(msg, NIC_TS_A_STATS);
	char name[32];
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < NIC_TS_DEV_STAT_MAX; i++) {
		if (nic_ts_stat_fill(msg, nic_ts_dev_stat_name(i, name, sizeof(name)),
				     percpu_sum(&nd->cpu->cnt[i])))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int nic_ts_dev_fill(struct sk_buff *msg, const void *what)
{
	const struct nic_ts_dev *nd = what;
	const struct nic_ts_receiver *r;
	u32 users = 0;

	ASSERT_RTNL();
	hlist_for_each_entry(r, &nd->receivers, node)
		users++;
	if (nla_put_u32(msg, NIC_TS_A_IFINDEX, nd->ifindex) ||
	    nla_put_string(msg, NIC_TS_A_IFNAME, nd->dev->name) ||
	    nla_put_u32(msg, NIC_TS_A_USERS, users) ||
	    nla_put_u8(msg, NIC_TS_A_RX_SOURCE, READ_ONCE(nd->rx_source)) ||
	    nla_put_u8(msg, NIC_TS_A_TX_SOURCE, READ_ONCE(nd->tx_source)) ||
	    nla_put_u8(msg, NIC_TS_A_HW, nd->hw_users != 0) ||
	    nla_put_u32(msg, NIC_TS_A_TX_SLOTS, nd->hw_tx ? nd->max_slots : 0) ||
	    (nd->domain != NIC_TS_DOMAIN_NONE &&
	     nla_put_u32(msg, NIC_TS_A_PHC, nd->domain - NIC_TS_DOMAIN_PHC0)))
		return -EMSGSIZE;
	return nic_ts_dev_stats_fill(msg, nd);
}

/* The device that a request names; RTNL. */
static struct nic_ts_dev *nic_ts_dev_of(struct genl_info *info)
{
	struct nic_ts_dev *nd;

	if (GENL_REQ_ATTR_CHECK(info, NIC_TS_A_IFINDEX)) {
		NL_SET_ERR_MSG(info->extack, "expected the index or name of a device");
		return NULL;
	}
	nd = nic_ts_dev_by_index(genl_info_net(info),
				 nla_get_u32(info->attrs[NIC_TS_A_IFINDEX]));
	if (!nd)
		NL_SET_ERR_MSG(info->extack, "unknown device in this namespace");
	return nd;
}

static int nic_ts_dev_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nic_ts_dev *nd;
	int err = -ENODEV;

	rtnl_lock();
	nd = nic_ts_dev_of(info);
	if (nd)
		err = nic_ts_reply(info, NIC_TS_CMD_DEV_GET, nic_ts_dev_fill, nd);
	rtnl_unlock();
	return err;
}

static int nic_ts_dev_change(struct nic_ts_dev *nd, struct genl_info *info)
{
	struct nlattr *hw = info->attrs[NIC_TS_A_HW];
	struct nlattr *slots = info->attrs[NIC_TS_A_TX_SLOTS];
	const char *why = NULL;
	int err;

	if (!hw && !slots) {
		NL_SET_ERR_MSG(info->extack, "expected the hardware switch or TX slots");
		return -EINVAL;
	}
	if (hw && nla_get_u8(hw)) {
		err = nic_ts_hw_get(nd, true, &why);
		if (err) {
			nic_ts_explain(info, why);
			return err;
		}
	} else if (hw) {
		nic_ts_hw_put(nd, true);
	}
	if (slots) {
		/* Read locklessly with each packet. */
		WRITE_ONCE(nd->max_slots, nla_get_u32(slots));
		clear_bit(0, &nd->hw_yielded);
		if (nd->hw_users)
			WRITE_ONCE(nd->hw_tx, nd->max_slots && nd->hw_tx_on);
	}
	return 0;
}

static int nic_ts_dev_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nic_ts_dev *nd;
	int err = -ENODEV;

	rtnl_lock();
	nd = nic_ts_dev_of(info);
	if (nd)
		err = nic_ts_dev_change(nd, info);
	rtnl_unlock();
	return err;
}

static int nic_ts_dev_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct net *net = sock_net(skb->sk);
	struct net_device *dev;
	struct nic_ts_dev *nd;
	long n = 0;

	rtnl_lock();
	for_each_netdev(net, dev) {
		if (n++ < cb->args[0])
			continue;
		nd = nic_ts_dev_by_index(net, dev->ifindex);
		if (nd && nic_ts_dump_one(skb, cb, NIC_TS_CMD_DEV_GET,
					  nic_ts_dev_fill, nd)) {
			n--;
			break;
		}
	}
	rtnl_unlock();
	cb->args[0] = n;
	return skb->len;
}

/* Counters and flows ------------------------------------------------------- */

static int nic_ts_net_fill(struct sk_buff *msg, const void *what)
{
	struct nlattr *nest = nla_nest_start(msg, NIC_TS_A_STATS);
	const struct nic_ts_net *nn = what;
	int i;

	if (!nest)
		return -EMSGSIZE;
	if (nic_ts_stat_fill(msg, "Flows", atomic_read(&nn->nflows)))
		return -EMSGSIZE;
	for (i = 0; i < NIC_TS_NET_STAT_MAX; i++) {
		if (nic_ts_stat_fill(msg, nic_ts_net_stat_names[i],
				     percpu_sum(&nn->stats->cnt[i])))
			return -EMSGSIZE;
	}
	nla_nest_end(msg, nest);
	return 0;
}

static int nic_ts_stats_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	if (cb->args[0])
		return 0;
	if (!nic_ts_dump_one(skb, cb, NIC_TS_CMD_STATS_GET, nic_ts_net_fill,
			     nic_ts_net(sock_net(skb->sk))))
		cb->args[0] = 1;
	return skb->len;
}

static int nic_ts_flow_stats_fill(struct sk_buff *msg, const struct nic_ts_entry *e)
{
	struct nlattr *nest = nla_nest_start(msg, NIC_TS_A_STATS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < NIC_TS_FLOW_STATS; i++)
		if (nic_ts_stat_fill(msg, nic_ts_net_stat_names[NIC_TS_NET_RTT_NO_TX + i],
				     atomic_long_read(&e->stats[i])))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

static int nic_ts_flow_fill(struct sk_buff *msg, const void *what)
{
	const struct nic_ts_entry *e = what;
	int len = e->key.family == AF_INET ? 4 : 16;

	/* Numbers as they are at the moment, without the flow's locks. */
	if (nla_put_u16(msg, NIC_TS_A_FAMILY, e->key.family) ||
	    nla_put(msg, NIC_TS_A_LOCAL, len, e->key.laddr) ||
	    nla_put(msg, NIC_TS_A_REMOTE, len, e->key.raddr) ||
	    nla_put_be16(msg, NIC_TS_A_LPORT, e->key.lport) ||
	    nla_put_be16(msg, NIC_TS_A_RPORT, e->key.rport) ||
	    nla_put_u32(msg, NIC_TS_A_USERS, READ_ONCE(e->users)) ||
	    nla_put_u32(msg, NIC_TS_A_TX_RECORDS, READ_ONCE(e->tx.head)) ||
	    nla_put_u32(msg, NIC_TS_A_ACKS, READ_ONCE(e->ack.head)) ||
	    nic_ts_put_u64(msg, NIC_TS_A_IDLE_NS,
			   jiffies64_to_nsecs(jiffies - READ_ONCE(e->last_packet))) ||
	    nla_put_u8(msg, NIC_TS_A_TX_SOURCE, READ_ONCE(e->tx_source)) ||
	    nla_put_u8(msg, NIC_TS_A_RX_SOURCE, READ_ONCE(e->rx_source)))
		return -EMSGSIZE;
	return nic_ts_flow_stats_fill(msg, e);
}

static int nic_ts_flow_dump_start(struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = kmalloc(sizeof(*iter), GFP_KERNEL);

	if (!iter)
		return -ENOMEM;
	rhashtable_walk_enter(&nic_ts_net(sock_net(cb->skb->sk))->flows, iter);
	cb->args[0] = (long)iter;
	return 0;
}

static int nic_ts_flow_dump_done(struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = (struct rhashtable_iter *)cb->args[0];

	if (iter)
		rhashtable_walk_exit(iter);
	kfree(iter);
	return 0;
}

static int nic_ts_flow_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct rhashtable_iter *iter = (struct rhashtable_iter *)cb->args[0];
	struct nic_ts_entry *e;

	rhashtable_walk_start(iter);
	/* The walk stopped at the entry that did not fit. */
	for (e = rhashtable_walk_peek(iter); e; e = rhashtable_walk_next(iter)) {
		/* The table is resized: some may come twice. */
		if (IS_ERR(e))
			continue;
		if (nic_ts_dump_one(skb, cb, NIC_TS_CMD_FLOW_GET, nic_ts_flow_fill, e))
			break;
	}
	rhashtable_walk_stop(iter);
	return skb->len;
}

static const struct genl_ops nic_ts_ops[] = {
	{
		.cmd	= NIC_TS_CMD_CLOCK_SET,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nic_ts_clock_set_doit,
	}, {
		.cmd	= NIC_TS_CMD_CLOCK_GET,
		.doit	= nic_ts_clock_get_doit,
		.dumpit	= nic_ts_clock_dumpit,
	}, {
		.cmd	= NIC_TS_CMD_CLOCK_DEL,
		.flags	= GENL_ADMIN_PERM,
		.doit	= nic_ts_clock_del_doit,
	}, {
		.cmd	= NIC_TS_CMD_DEV_GET,
		.doit	= nic_ts_dev_get_doit,
		.dumpit	= nic_ts_dev_dumpit,
	}, {
		.cmd	= NIC_TS_CMD_DEV_SET,
		.flags	= GENL_UNS_ADMIN_PERM,
		.doit	= nic_ts_dev_set_doit,
	}, {
		.cmd	= NIC_TS_CMD_STATS_GET,
		.dumpit	= nic_ts_stats_dumpit,
	}, {
		.cmd	= NIC_TS_CMD_FLOW_GET,
		.flags	= GENL_UNS_ADMIN_PERM,
		.start	= nic_ts_flow_dump_start,
		.dumpit	= nic_ts_flow_dumpit,
		.done	= nic_ts_flow_dump_done,
	},
};

static struct genl_family nic_ts_family __ro_after_init = {
	.name		= NIC_TS_GENL_NAME,
	.version	= NIC_TS_GENL_VERSION,
	.maxattr	= NIC_TS_A_MAX,
	.policy		= nic_ts_policy,
	.netnsok	= true,
	.module		= THIS_MODULE,
	.ops		= nic_ts_ops,
	.n_ops		= ARRAY_SIZE(nic_ts_ops),
};

/** nic_ts_genl_init() - register the family */
int __init nic_ts_genl_init(void)
{
	return genl_register_family(&nic_ts_family);
}

/** nic_ts_genl_exit() - unregister the family; no request is under way any more */
void nic_ts_genl_exit(void)
{
	genl_unregister_family(&nic_ts_family);
}
