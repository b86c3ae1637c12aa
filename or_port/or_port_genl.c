// SPDX-License-Identifier: GPL-2.0
/*
 * or_port: generic netlink family "onramp", for all modules of On-Ramp
 *
 *	request -> policy -> name or filter -> module of the command, which stays loaded until
 *		the reply, or the end of the dump
 *	seed:	the same, for one path; the module checks it against what it knows, then takes it
 *	dump:	walk the module's hash table; some objects at a time under RCU
 *
 * A dump has each object that is there from its begin to its end, once. Only if the table is
 * resized meanwhile, some come twice or not at all, and NLM_F_DUMP_INTR says so.
 *
 * No lock is held but those of one object, by the module, while its values are copied. A dump
 * runs beside all else, other dumps too.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/sock.h>

#include <or_genl.h>
#include <or_proto.h>

#include "or_port_priv.h"

/* Objects that are looked at under RCU without a break: some ten microseconds. */
#define OR_GENL_LOOKS		64

/* A reply with one object, and one with the counters of a module, bytes at most. */
#define OR_GENL_REPLY		1024
#define OR_GENL_STATS		8192

/* The name of an object is the same attributes for all kinds. */
#define OR_GENL_SAME(attr)						\
	static_assert((int)ONRAMP_A_PATH_##attr == (int)ONRAMP_A_CONN_##attr &&	\
		      (int)ONRAMP_A_PATH_##attr == (int)ONRAMP_A_SUB_##attr)
OR_GENL_SAME(PAD);
OR_GENL_SAME(FAMILY);
OR_GENL_SAME(LOCAL);
OR_GENL_SAME(REMOTE);
OR_GENL_SAME(SCOPE);
OR_GENL_SAME(LOCAL_PREFIX);
OR_GENL_SAME(REMOTE_PREFIX);

#define OR_GENL_NAME_POLICY						\
	[ONRAMP_A_PATH_FAMILY]		= { .type = NLA_U16 },		\
	[ONRAMP_A_PATH_LOCAL]		= NLA_POLICY_RANGE(NLA_BINARY, 4, 16), \
	[ONRAMP_A_PATH_REMOTE]		= NLA_POLICY_RANGE(NLA_BINARY, 4, 16), \
	[ONRAMP_A_PATH_SCOPE]		= NLA_POLICY_MIN(NLA_U32, 1),	\
	[ONRAMP_A_PATH_LOCAL_PREFIX]	= NLA_POLICY_MAX(NLA_U8, 128),	\
	[ONRAMP_A_PATH_REMOTE_PREFIX]	= NLA_POLICY_MAX(NLA_U8, 128)

/* The last attribute of each is the highest one that a request may have. */
static const struct nla_policy or_genl_path_policy[ONRAMP_A_PATH_STATE + 1] = {
	OR_GENL_NAME_POLICY,
	[ONRAMP_A_PATH_STATE]		= NLA_POLICY_MAX(NLA_U8, ONRAMP_PATH_SILENT),
};

/*
 * A seed names all; its limits are those of sch_onramp/onramp_owd.h. A policy of older kernels
 * points to ranges that are not constant.
 */
static struct netlink_range_validation or_genl_seed_error = { .max = 10 * NSEC_PER_MSEC };
static struct netlink_range_validation or_genl_seed_left = {
	.min = NSEC_PER_MSEC, .max = 10ULL * NSEC_PER_SEC,
};

static const struct nla_policy or_genl_seed_policy[ONRAMP_A_PATH_SEED_LEFT_NS + 1] = {
	OR_GENL_NAME_POLICY,
	[ONRAMP_A_PATH_DOMAIN]		= { .type = NLA_U8 },
	[ONRAMP_A_PATH_BASELINE_NS]	= { .type = NLA_S64 },
	[ONRAMP_A_PATH_BASELINE_AT_NS]	= { .type = NLA_U64 },
	[ONRAMP_A_PATH_BASELINE_SLOPE]	= { .type = NLA_S32 },
	[ONRAMP_A_PATH_BASELINE_ERROR_NS] = NLA_POLICY_FULL_RANGE(NLA_U64, &or_genl_seed_error),
	[ONRAMP_A_PATH_SEED_LEFT_NS]	= NLA_POLICY_FULL_RANGE(NLA_U64, &or_genl_seed_left),
};

static const struct nla_policy or_genl_conn_policy[ONRAMP_A_CONN_IFINDEX + 1] = {
	OR_GENL_NAME_POLICY,
	[ONRAMP_A_CONN_LPORT]		= { .type = NLA_U16 },
	[ONRAMP_A_CONN_RPORT]		= { .type = NLA_U16 },
	[ONRAMP_A_CONN_IFINDEX]		= NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy or_genl_sub_policy[ONRAMP_A_SUB_IFINDEX + 1] = {
	OR_GENL_NAME_POLICY,
	[ONRAMP_A_SUB_IFINDEX]		= NLA_POLICY_MIN(NLA_U32, 1),
};

static struct genl_family or_genl_family;

/* Modules ------------------------------------------------------------------ */

static LIST_HEAD(or_genl_users);
static DEFINE_MUTEX(or_genl_mutex);	/* or_genl_users */

/**
 * or_genl_register() - have a module's objects and counters shown
 * @user:	not to be changed until or_genl_unregister()
 *
 * The last thing that a module does in its init function: from then on it may be kept.
 *
 * Context: process, may sleep.
 */
void or_genl_register(struct or_genl_user *user)
{
	mutex_lock(&or_genl_mutex);
	list_add_tail(&user->list, &or_genl_users);
	mutex_unlock(&or_genl_mutex);
}
EXPORT_SYMBOL_GPL(or_genl_register);

/**
 * or_genl_unregister() - undo or_genl_register()
 * @user:	not used any more when this returns, since its module is going
 *
 * Context: process, may sleep.
 */
void or_genl_unregister(struct or_genl_user *user)
{
	mutex_lock(&or_genl_mutex);
	list_del(&user->list);
	mutex_unlock(&or_genl_mutex);
}
EXPORT_SYMBOL_GPL(or_genl_unregister);

static const struct or_genl_object *or_genl_object_of(const struct or_genl_user *user, u8 cmd)
{
	const struct or_genl_object *object = user->objects;

	while (object && object->table) {
		if (object->cmd == cmd)
			return object;
		object++;
	}
	return NULL;
}

/* Return the object of a command, with a reference of its module; NULL: that is not loaded. */
static const struct or_genl_object *or_genl_object_get(u8 cmd, struct module **owner,
						       struct netlink_ext_ack *extack)
{
	const struct or_genl_object *object = NULL;
	struct or_genl_user *user;

	mutex_lock(&or_genl_mutex);
	list_for_each_entry(user, &or_genl_users, list) {
		object = or_genl_object_of(user, cmd);
		if (object && try_module_get(user->owner)) {
			*owner = user->owner;
			break;
		}
		object = NULL;
	}
	mutex_unlock(&or_genl_mutex);
	if (!object && cmd == ONRAMP_CMD_SUB_GET)
		NL_SET_ERR_MSG(extack, "the module or_acker is not loaded");
	else if (!object)
		NL_SET_ERR_MSG(extack, "the module sch_onramp is not loaded");
	return object;
}

/* Requests ----------------------------------------------------------------- */

static int or_genl_parse_addr(const struct nlattr *attr, const struct nlattr *prefix,
			      struct or_genl_filter *f, __be32 *addr, u8 *bits,
			      struct netlink_ext_ack *extack)
{
	u32 family;

	if (!attr && prefix) {
		NL_SET_ERR_MSG_ATTR(extack, prefix, "prefix length without its address");
		return -EINVAL;
	}
	if (!attr)
		return 0;
	if (nla_len(attr) != 4 && nla_len(attr) != 16) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "address: expected 4 or 16 bytes");
		return -EINVAL;
	}
	family = nla_len(attr) == 4 ? AF_INET : AF_INET6;
	if (f->family && f->family != family) {
		NL_SET_ERR_MSG_ATTR(extack, attr, "address: expected the family of the other address");
		return -EINVAL;
	}
	f->family = family;
	nla_memcpy(addr, attr, 16);
	*bits = 8 * nla_len(attr);
	if (!prefix)
		return 0;
	if (nla_get_u8(prefix) > *bits) {
		NL_SET_ERR_MSG_ATTR(extack, prefix, "prefix length: expected at most 32 for IPv4, 128 for IPv6");
		return -EINVAL;
	}
	*bits = nla_get_u8(prefix);
	return 0;
}

/* Attributes of a request, and those of addresses. */
static int or_genl_parse_addrs(struct nlattr **attrs, unsigned int max, struct or_genl_filter *f,
			       struct netlink_ext_ack *extack)
{
	unsigned int i;
	int err;

	for (i = 1; attrs && i <= max; i++)
		if (attrs[i])
			f->has |= BIT_ULL(i);
	if (!f->has)
		return 0;
	if (attrs[ONRAMP_A_PATH_FAMILY]) {
		f->family = nla_get_u16(attrs[ONRAMP_A_PATH_FAMILY]);
		if (f->family != AF_INET && f->family != AF_INET6) {
			NL_SET_ERR_MSG_ATTR(extack, attrs[ONRAMP_A_PATH_FAMILY],
					    "expected the family AF_INET or AF_INET6");
			return -EAFNOSUPPORT;
		}
	}
	if (attrs[ONRAMP_A_PATH_SCOPE])
		f->scope = nla_get_u32(attrs[ONRAMP_A_PATH_SCOPE]);
	err = or_genl_parse_addr(attrs[ONRAMP_A_PATH_LOCAL], attrs[ONRAMP_A_PATH_LOCAL_PREFIX], f,
				 f->laddr, &f->lbits, extack);
	return err ?: or_genl_parse_addr(attrs[ONRAMP_A_PATH_REMOTE],
					 attrs[ONRAMP_A_PATH_REMOTE_PREFIX], f, f->raddr,
					 &f->rbits, extack);
}

/* The attributes of a request, which the policy has accepted. */
static int or_genl_parse(u8 cmd, struct nlattr **attrs, struct or_genl_filter *f,
			 struct netlink_ext_ack *extack)
{
	int err;

	*f = (struct or_genl_filter) { .has = 0 };
	switch (cmd) {
	case ONRAMP_CMD_PATH_GET:
		err = or_genl_parse_addrs(attrs, ONRAMP_A_PATH_STATE, f, extack);
		if (!err && or_genl_has(f, ONRAMP_A_PATH_STATE))
			f->state = nla_get_u8(attrs[ONRAMP_A_PATH_STATE]);
		return err;
	case ONRAMP_CMD_PATH_SEED:
		return or_genl_parse_addrs(attrs, ONRAMP_A_PATH_REMOTE_PREFIX, f, extack);
	case ONRAMP_CMD_CONN_GET:
		err = or_genl_parse_addrs(attrs, ONRAMP_A_CONN_IFINDEX, f, extack);
		if (!err && or_genl_has(f, ONRAMP_A_CONN_LPORT))
			f->lport = nla_get_be16(attrs[ONRAMP_A_CONN_LPORT]);
		if (!err && or_genl_has(f, ONRAMP_A_CONN_RPORT))
			f->rport = nla_get_be16(attrs[ONRAMP_A_CONN_RPORT]);
		if (!err && or_genl_has(f, ONRAMP_A_CONN_IFINDEX))
			f->ifindex = nla_get_u32(attrs[ONRAMP_A_CONN_IFINDEX]);
		return err;
	case ONRAMP_CMD_SUB_GET:
		err = or_genl_parse_addrs(attrs, ONRAMP_A_SUB_IFINDEX, f, extack);
		if (!err && or_genl_has(f, ONRAMP_A_SUB_IFINDEX))
			f->ifindex = nla_get_u32(attrs[ONRAMP_A_SUB_IFINDEX]);
		return err;
	}
	return -EOPNOTSUPP;
}

/* Does a request name one object? */
static int or_genl_check_name(u8 cmd, const struct or_genl_filter *f,
			      struct netlink_ext_ack *extack)
{
	u64 needs = BIT_ULL(ONRAMP_A_PATH_LOCAL) | BIT_ULL(ONRAMP_A_PATH_REMOTE);
	u64 may = needs | BIT_ULL(ONRAMP_A_PATH_FAMILY) | BIT_ULL(ONRAMP_A_PATH_SCOPE);

	if (cmd == ONRAMP_CMD_CONN_GET)
		needs |= BIT_ULL(ONRAMP_A_CONN_LPORT) | BIT_ULL(ONRAMP_A_CONN_RPORT);
	if ((f->has & needs) != needs) {
		NL_SET_ERR_MSG(extack, "expected a local and a remote address, and for a flow both ports");
		return -EINVAL;
	}
	if (f->has & ~(needs | may)) {
		NL_SET_ERR_MSG(extack, "this attribute is a filter: use it in dumps only");
		return -EINVAL;
	}
	return 0;
}

/* Messages ----------------------------------------------------------------- */

/* or_genl_put_stat() - write a counter, in or_genl_user.stats(); return 0 or -EMSGSIZE */
int or_genl_put_stat(struct sk_buff *msg, const char *name, u64 value)
{
	struct nlattr *nest = nla_nest_start(msg, ONRAMP_A_MODULE_STAT);

	if (!nest || nla_put_string(msg, ONRAMP_A_MODULE_STAT_NAME, name) ||
	    nla_put_u64_64bit(msg, ONRAMP_A_MODULE_STAT_VALUE, value, ONRAMP_A_MODULE_PAD))
		return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}
EXPORT_SYMBOL_GPL(or_genl_put_stat);

/**
 * or_genl_put_name() - write the addresses of an object
 * @msg:	message
 * @family:	AF_INET or AF_INET6
 * @laddr:	local address, as in struct or_genl_filter
 * @raddr:	remote address
 * @scope:	device of a link-local address, or 0
 *
 * Return: 0 or -EMSGSIZE.
 */
int or_genl_put_name(struct sk_buff *msg, u32 family, const __be32 *laddr, const __be32 *raddr,
		     u32 scope)
{
	int len = family == AF_INET ? 4 : 16;

	if (nla_put_u16(msg, ONRAMP_A_PATH_FAMILY, family) ||
	    nla_put(msg, ONRAMP_A_PATH_LOCAL, len, laddr) ||
	    nla_put(msg, ONRAMP_A_PATH_REMOTE, len, raddr) ||
	    (scope && nla_put_u32(msg, ONRAMP_A_PATH_SCOPE, scope)))
		return -EMSGSIZE;
	return 0;
}
EXPORT_SYMBOL_GPL(or_genl_put_name);

static int or_genl_put_module(struct sk_buff *msg, const struct or_genl_user *user)
{
	if (nla_put_string(msg, ONRAMP_A_MODULE_NAME, user->name) ||
	    nla_put_string(msg, ONRAMP_A_MODULE_VERSION, user->version))
		return -EMSGSIZE;
	return 0;
}

/* INFO_GET ----------------------------------------------------------------- */

static int or_genl_put_modules(struct sk_buff *msg)
{
	struct or_genl_user *user;
	struct nlattr *nest;
	int err = 0;

	mutex_lock(&or_genl_mutex);
	list_for_each_entry(user, &or_genl_users, list) {
		nest = nla_nest_start(msg, ONRAMP_A_INFO_MODULE);
		err = nest ? or_genl_put_module(msg, user) : -EMSGSIZE;
		if (err)
			break;
		nla_nest_end(msg, nest);
	}
	mutex_unlock(&or_genl_mutex);
	return err;
}

static int or_genl_info_doit(struct sk_buff *skb, struct genl_info *info)
{
	const u64 features = ONRAMP_FEATURE_PATH_P99 | ONRAMP_FEATURE_CONN_VERDICTS |
			     ONRAMP_FEATURE_EVENTS | ONRAMP_FEATURE_SEEDS;
	struct sk_buff *msg = genlmsg_new(OR_GENL_REPLY, GFP_KERNEL);
	void *hdr;

	if (!msg)
		return -ENOMEM;
	hdr = genlmsg_put_reply(msg, info, &or_genl_family, 0, ONRAMP_CMD_INFO_GET);
	if (!hdr ||
	    nla_put_u32(msg, ONRAMP_A_INFO_INTERFACE, ONRAMP_GENL_VERSION) ||
	    nla_put_u64_64bit(msg, ONRAMP_A_INFO_FEATURES, features, ONRAMP_A_INFO_PAD) ||
	    nla_put_u16(msg, ONRAMP_A_INFO_PORT, OR_PORT) ||
	    nla_put_u8(msg, ONRAMP_A_INFO_PORT_OPEN, or_port_is_open(genl_info_net(info))) ||
	    nla_put_u8(msg, ONRAMP_A_INFO_PROTOCOL, OR_VERSION) ||
	    or_genl_put_modules(msg)) {
		nlmsg_free(msg);
		return -EMSGSIZE;
	}
	genlmsg_end(msg, hdr);
	return genlmsg_reply(msg, info);
}

/* STATS_GET ---------------------------------------------------------------- */

static int or_genl_stats_start(struct netlink_callback *cb)
{
	cb->min_dump_alloc = OR_GENL_STATS;
	return 0;
}

static int or_genl_put_stats(struct sk_buff *msg, const struct or_genl_user *user,
			     struct net *net)
{
	struct nlattr *nest;
	int err;

	err = or_genl_put_module(msg, user);
	if (err)
		return err;
	nest = nla_nest_start(msg, ONRAMP_A_MODULE_STATS);
	err = nest ? user->stats(msg, net) : -EMSGSIZE;
	if (!err)
		nla_nest_end(msg, nest);
	return err;
}

static int or_genl_stats_one(struct sk_buff *skb, struct netlink_callback *cb,
			     const struct or_genl_user *user)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&or_genl_family, NLM_F_MULTI, ONRAMP_CMD_STATS_GET);

	if (!hdr)
		return -EMSGSIZE;
	if (or_genl_put_stats(skb, user, sock_net(cb->skb->sk))) {
		genlmsg_cancel(skb, hdr);
		return -EMSGSIZE;
	}
	genlmsg_end(skb, hdr);
	return 0;
}

/* A message for each module. The lock keeps them loaded. */
static int or_genl_stats_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct or_genl_user *user;
	long n = 0;

	mutex_lock(&or_genl_mutex);
	list_for_each_entry(user, &or_genl_users, list) {
		if (n++ < cb->args[0])
			continue;
		if (or_genl_stats_one(skb, cb, user)) {
			n--;
			break;
		}
	}
	mutex_unlock(&or_genl_mutex);
	cb->args[0] = n;
	return skb->len;
}

/* PATH_GET, CONN_GET, SUB_GET ---------------------------------------------- */

static int or_genl_get(struct sk_buff *msg, struct genl_info *info,
		       const struct or_genl_object *object, const struct or_genl_filter *filter)
{
	const void *found;
	int err = -ENOENT;

	rcu_read_lock();
	found = object->find(genl_info_net(info), filter);
	if (found)
		err = object->put(genl_info_net(info), msg, found, NULL);
	rcu_read_unlock();
	if (!found)
		NL_SET_ERR_MSG(info->extack, "unknown path, connection or subscriber");
	return err;
}

static int or_genl_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct or_genl_object *object;
	u8 cmd = info->genlhdr->cmd;
	struct or_genl_filter filter;
	struct module *owner;
	struct sk_buff *msg;
	void *hdr;
	int err;

	err = or_genl_parse(cmd, info->attrs, &filter, info->extack);
	if (!err)
		err = or_genl_check_name(cmd, &filter, info->extack);
	if (err)
		return err;
	object = or_genl_object_get(cmd, &owner, info->extack);
	if (!object)
		return -EOPNOTSUPP;
	err = -ENOMEM;
	msg = genlmsg_new(OR_GENL_REPLY, GFP_KERNEL);
	if (!msg)
		goto put_owner;
	hdr = genlmsg_put_reply(msg, info, &or_genl_family, 0, cmd);
	err = hdr ? or_genl_get(msg, info, object, &filter) : -EMSGSIZE;
	if (!err)
		genlmsg_end(msg, hdr);
	else
		nlmsg_free(msg);
put_owner:
	module_put(owner);
	return err ?: genlmsg_reply(msg, info);
}

/* PATH_SEED ---------------------------------------------------------------- */

/* Return the first attribute that a seed needs and has not, or 0. */
static u32 or_genl_seed_lacks(struct nlattr **attrs)
{
	static const u8 needs[] = {
		ONRAMP_A_PATH_DOMAIN, ONRAMP_A_PATH_BASELINE_NS, ONRAMP_A_PATH_BASELINE_AT_NS,
		ONRAMP_A_PATH_BASELINE_SLOPE, ONRAMP_A_PATH_BASELINE_ERROR_NS,
		ONRAMP_A_PATH_SEED_LEFT_NS,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(needs); i++)
		if (!attrs[needs[i]])
			return needs[i];
	return 0;
}

static int or_genl_seed_doit(struct sk_buff *skb, struct genl_info *info)
{
	const struct or_genl_object *object;
	struct nlattr **attrs = info->attrs;
	struct or_genl_filter filter;
	struct or_genl_seed seed;
	struct module *owner;
	const void *found;
	int err;

	err = or_genl_parse(ONRAMP_CMD_PATH_SEED, attrs, &filter, info->extack);
	if (!err)
		err = or_genl_check_name(ONRAMP_CMD_PATH_SEED, &filter, info->extack);
	if (err)
		return err;
	if (or_genl_seed_lacks(attrs)) {
		NL_SET_ERR_MSG(info->extack, "a seed needs domain, baseline-ns, baseline-at-ns, baseline-slope, baseline-error-ns and seed-left-ns");
		return -EINVAL;
	}
	seed = (struct or_genl_seed) {
		.domain = nla_get_u8(attrs[ONRAMP_A_PATH_DOMAIN]),
		.baseline_ns = nla_get_s64(attrs[ONRAMP_A_PATH_BASELINE_NS]),
		.at_ns = nla_get_u64(attrs[ONRAMP_A_PATH_BASELINE_AT_NS]),
		.slope = nla_get_s32(attrs[ONRAMP_A_PATH_BASELINE_SLOPE]),
		.error_ns = nla_get_u64(attrs[ONRAMP_A_PATH_BASELINE_ERROR_NS]),
		.left_ns = nla_get_u64(attrs[ONRAMP_A_PATH_SEED_LEFT_NS]),
	};
	object = or_genl_object_get(ONRAMP_CMD_PATH_GET, &owner, info->extack);
	if (!object)
		return -EOPNOTSUPP;
	rcu_read_lock();
	found = object->find(genl_info_net(info), &filter);
	if (found) {
		err = object->seed(genl_info_net(info), found, &seed, info->extack);
	} else {
		err = -ENOENT;
		NL_SET_ERR_MSG(info->extack, "unknown path");
	}
	rcu_read_unlock();
	module_put(owner);
	return err;
}

/**
 * struct or_genl_walk - a dump
 * @object:	kind of objects
 * @owner:	module of @object, with a reference
 * @filter:	of the request
 * @iter:	where it is in the table
 */
struct or_genl_walk {
	const struct or_genl_object	*object;
	struct module			*owner;
	struct or_genl_filter		filter;
	struct rhashtable_iter		iter;
};

static int or_genl_dump_start(struct netlink_callback *cb)
{
	struct or_genl_walk *w = kzalloc(sizeof(*w), GFP_KERNEL);
	u8 cmd = ((struct genlmsghdr *)nlmsg_data(cb->nlh))->cmd;
	int err;

	if (!w)
		return -ENOMEM;
	err = or_genl_parse(cmd, compat_genl_dump_attrs(cb), &w->filter, cb->extack);
	if (err)
		goto free_walk;
	err = -EOPNOTSUPP;
	w->object = or_genl_object_get(cmd, &w->owner, cb->extack);
	if (!w->object)
		goto free_walk;
	rhashtable_walk_enter(w->object->table(sock_net(cb->skb->sk)), &w->iter);
	cb->args[0] = (long)w;
	/* Grows with each resize of the table. */
	cb->seq = 1;
	return 0;

free_walk:
	kfree(w);
	return err;
}

static int or_genl_dump_done(struct netlink_callback *cb)
{
	struct or_genl_walk *w = (struct or_genl_walk *)cb->args[0];

	rhashtable_walk_exit(&w->iter);
	module_put(w->owner);
	kfree(w);
	return 0;
}

static int or_genl_dump_one(struct sk_buff *skb, struct netlink_callback *cb,
			    const struct or_genl_walk *w, const void *object)
{
	void *hdr;
	int err;

	hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq, &or_genl_family,
			  NLM_F_MULTI, w->object->cmd);
	if (!hdr)
		return -EMSGSIZE;
	err = w->object->put(sock_net(cb->skb->sk), skb, object, &w->filter);
	if (err) {
		genlmsg_cancel(skb, hdr);
		return err;
	}
	genl_dump_check_consistent(cb, hdr);
	genlmsg_end(skb, hdr);
	return 0;
}

static void or_genl_walk_start(struct or_genl_walk *w, struct netlink_callback *cb)
	__acquires(RCU)
{
	if (rhashtable_walk_start_check(&w->iter))
		cb->seq++;
}

static int or_genl_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	struct or_genl_walk *w = (struct or_genl_walk *)cb->args[0];
	unsigned int looks = 0;
	void *object;

	or_genl_walk_start(w, cb);
	/* The walk stopped at the object that did not fit. */
	object = rhashtable_walk_peek(&w->iter);
	while (object) {
		if (IS_ERR(object))
			cb->seq++;
		else if (or_genl_dump_one(skb, cb, w, object) == -EMSGSIZE)
			break;
		object = rhashtable_walk_next(&w->iter);
		/* Filters may leave out all of a large table. */
		if (++looks % OR_GENL_LOOKS)
			continue;
		rhashtable_walk_stop(&w->iter);
		cond_resched();
		or_genl_walk_start(w, cb);
		/* The same one. If it has gone meanwhile, next() would miss the one behind it. */
		object = rhashtable_walk_peek(&w->iter);
	}
	rhashtable_walk_stop(&w->iter);
	return skb->len;
}

/* Events ------------------------------------------------------------------- */

static const struct genl_multicast_group or_genl_groups[] = {
	{ .name = ONRAMP_MCGRP_EVENTS, .flags = GENL_MCAST_CAP_NET_ADMIN },
};

/* or_genl_has_listeners() - return whether anybody would get an event; any context */
bool or_genl_has_listeners(struct net *net)
{
	return genl_has_listeners(&or_genl_family, net, 0);
}
EXPORT_SYMBOL_GPL(or_genl_has_listeners);

/**
 * or_genl_notify() - tell of an event
 * @net:	namespace
 * @cmd:	ONRAMP_CMD_*_NTF
 * @put:	write its attributes; 0 or -EMSGSIZE
 * @event:	for @put
 *
 * An event that there is no memory for is lost; listeners get ENOBUFS.
 *
 * Context: any but NMI and hard interrupts.
 */
void or_genl_notify(struct net *net, u8 cmd,
		    int (*put)(struct sk_buff *msg, const void *event), const void *event)
{
	struct sk_buff *msg;
	void *hdr;

	if (!or_genl_has_listeners(net))
		return;
	msg = genlmsg_new(OR_GENL_REPLY, GFP_ATOMIC);
	if (!msg)
		goto lost;
	hdr = genlmsg_put(msg, 0, 0, &or_genl_family, 0, cmd);
	if (!hdr || put(msg, event)) {
		nlmsg_free(msg);
		goto lost;
	}
	genlmsg_end(msg, hdr);
	genlmsg_multicast_netns(&or_genl_family, net, msg, 0, 0, GFP_ATOMIC);
	return;

lost:
	genl_set_err(&or_genl_family, net, 0, 0, -ENOBUFS);
}
EXPORT_SYMBOL_GPL(or_genl_notify);

/* Family ------------------------------------------------------------------- */

#define OR_GENL_OBJECTS(command, attrs, max) {				\
		.cmd	= command,					\
		.flags	= GENL_UNS_ADMIN_PERM,				\
		.policy	= attrs,					\
		.maxattr = max,						\
		.doit	= or_genl_doit,					\
		.start	= or_genl_dump_start,				\
		.dumpit	= or_genl_dumpit,				\
		.done	= or_genl_dump_done,				\
	}

static const struct genl_ops or_genl_ops[] = {
	{
		.cmd	= ONRAMP_CMD_INFO_GET,
		.doit	= or_genl_info_doit,
	}, {
		.cmd	= ONRAMP_CMD_STATS_GET,
		.start	= or_genl_stats_start,
		.dumpit	= or_genl_stats_dumpit,
	},
	OR_GENL_OBJECTS(ONRAMP_CMD_PATH_GET, or_genl_path_policy, ONRAMP_A_PATH_STATE),
	OR_GENL_OBJECTS(ONRAMP_CMD_CONN_GET, or_genl_conn_policy, ONRAMP_A_CONN_IFINDEX),
	OR_GENL_OBJECTS(ONRAMP_CMD_SUB_GET, or_genl_sub_policy, ONRAMP_A_SUB_IFINDEX),
	{
		.cmd	= ONRAMP_CMD_PATH_SEED,
		.flags	= GENL_UNS_ADMIN_PERM,
		.policy	= or_genl_seed_policy,
		.maxattr = ONRAMP_A_PATH_SEED_LEFT_NS,
		.doit	= or_genl_seed_doit,
	},
};

static struct genl_family or_genl_family __ro_after_init = {
	.name		= ONRAMP_GENL_NAME,
	.version	= ONRAMP_GENL_VERSION,
	.netnsok	= true,
	.parallel_ops	= true,
	.module		= THIS_MODULE,
	.ops		= or_genl_ops,
	.n_ops		= ARRAY_SIZE(or_genl_ops),
	.mcgrps		= or_genl_groups,
	.n_mcgrps	= ARRAY_SIZE(or_genl_groups),
};

/* or_genl_init() - register the family */
int __init or_genl_init(void)
{
	return genl_register_family(&or_genl_family);
}

/* or_genl_exit() - undo or_genl_init(); no module is registered but or_port */
void or_genl_exit(void)
{
	genl_unregister_family(&or_genl_family);
}
