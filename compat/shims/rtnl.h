/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Link kinds:
 *  - 6.15, commit 69c7be1b903f: newlink() is given a rtnl_newlink_params, in
 *    which the core has put the namespace of the other end of a pair, once the
 *    rtnl_link_ops name the attribute that describes that end.
 *
 * Write newlink() as the newest kernel wants it, put COMPAT_RTNL_NEWLINK(fn, attr)
 * after it, where attr is that attribute, and initialize the rtnl_link_ops with
 *
 *	compat_rtnl_newlink(fn, attr),
 */
#ifndef _ONRAMP_COMPAT_RTNL_H
#define _ONRAMP_COMPAT_RTNL_H

#ifdef COMPAT_HAS_RTNL_NEWLINK_PARAMS

#define COMPAT_RTNL_NEWLINK(fn, attr)	static_assert(true)
#define compat_rtnl_newlink(fn, attr)	.newlink = fn, .peer_type = attr

#else

struct rtnl_newlink_params {
	struct net *src_net;
	struct net *peer_net;
	struct nlattr **tb;
	struct nlattr **data;
};

#define rtnl_newlink_peer_net(params)	((params)->peer_net)

#define COMPAT_RTNL_NEWLINK(fn, attr)					\
	static int fn##_compat(struct net *src_net, struct net_device *dev, \
			       struct nlattr *tb[], struct nlattr *data[], \
			       struct netlink_ext_ack *extack)		\
	{								\
		struct rtnl_newlink_params params = {			\
			.src_net = src_net, .tb = tb, .data = data,	\
		};							\
		const struct nlattr *peer = data ? data[attr] : NULL;	\
		struct nlattr *peer_tb[IFLA_MAX + 1] = {};		\
		int err;						\
									\
		if (peer) {						\
			err = rtnl_nla_parse_ifinfomsg(peer_tb, peer, extack); \
			if (err)					\
				return err;				\
		}							\
		params.peer_net = rtnl_link_get_net(src_net, peer_tb);	\
		if (IS_ERR(params.peer_net))				\
			return PTR_ERR(params.peer_net);		\
		err = fn(dev, &params, extack);				\
		put_net(params.peer_net);				\
		return err;						\
	}								\
	static_assert(true)
#define compat_rtnl_newlink(fn, attr)	.newlink = fn##_compat

#endif

#endif /* _ONRAMP_COMPAT_RTNL_H */
