// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: peers and connections for the generic netlink family "onramp"
 *
 * or_port walks the tables. An object is written into a message under its own lock: all its values
 * are of one moment. onramp_event.c writes peers.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>

#include <onramp_version.h>

#include "onramp_conn.h"
#include "onramp_event.h"
#include "onramp_trace.h"

static_assert(ONRAMP_A_VERDICT_OLD - ONRAMP_A_VERDICT_BELOW == ONRAMP_CONN_VERDICTS - 1);
static_assert(ONRAMP_A_VERDICT_IMPLAUSIBLE - ONRAMP_A_VERDICT_BELOW == ONRAMP_IMPLAUSIBLE);

static void onramp_filter_addrs(struct net *net, const struct or_genl_filter *filter,
				struct or_addrs *addrs)
{
	*addrs = (struct or_addrs) {
		.family = filter->family, .scope = or_genl_scope(net, filter),
	};
	memcpy(addrs->laddr, filter->laddr, sizeof(addrs->laddr));
	memcpy(addrs->raddr, filter->raddr, sizeof(addrs->raddr));
}

static bool onramp_addrs_match(const struct or_genl_filter *filter, const struct or_addrs *addrs)
{
	return or_genl_matches(filter, addrs->family, addrs->laddr, addrs->raddr, addrs->scope);
}

/* Peers -------------------------------------------------------------------- */

static struct rhashtable *onramp_genl_peers(struct net *net)
{
	return &onramp_net(net)->peers;
}

static const void *onramp_genl_find_peer(struct net *net, const struct or_genl_filter *filter)
{
	struct or_addrs addrs;

	onramp_filter_addrs(net, filter, &addrs);
	return onramp_peer_find(onramp_net(net), &addrs);
}

static int onramp_genl_put_peer(struct net *net, struct sk_buff *msg, const void *object,
				const struct or_genl_filter *filter)
{
	struct onramp_peer *peer = (struct onramp_peer *)object;

	if (filter && (!onramp_addrs_match(filter, &peer->addrs) ||
		       (or_genl_has(filter, ONRAMP_A_PATH_STATE) &&
			filter->state != onramp_path_state(peer))))
		return OR_GENL_SKIP;
	return onramp_put_path(msg, peer);
}

/* Take a seed, if the path needs one; its lock. Return 0 or -errno, and a text. */
static int onramp_peer_seed(struct onramp_peer *peer, u64 now, const struct or_genl_seed *seed,
			    struct netlink_ext_ack *extack)
{
	struct onramp_owd_point at = { .t_ns = seed->at_ns, .d_ns = seed->baseline_ns };
	bool seeded = onramp_owd_seeded(&peer->owd);

	lockdep_assert_held(&peer->lock);
	if (peer->last_absolute) {
		NL_SET_ERR_MSG(extack, "the path has owd synced, which knows no baseline");
		return -EOPNOTSUPP;
	}
	if (!peer->has_domain || !peer->owd.samples) {
		NL_SET_ERR_MSG(extack, "no OR-ACK of the path has come yet");
		return -ENODATA;
	}
	if (peer->domain != seed->domain) {
		NL_SET_ERR_MSG(extack, "the receiver has another clock now: another domain");
		return -ESTALE;
	}
	if (!onramp_owd_seed(&peer->owd, now, &at, seed->slope, seed->error_ns, seed->left_ns)) {
		NL_SET_ERR_MSG(extack, "the path's own baseline is lower or has support, or OR-ACKs came sooner");
		return -EEXIST;
	}
	/* Delays of before are above another baseline. */
	peer->epoch += !seeded;
	return 0;
}

static int onramp_genl_seed_peer(struct net *net, const void *object,
				 const struct or_genl_seed *seed, struct netlink_ext_ack *extack)
{
	struct onramp_peer *peer = (struct onramp_peer *)object;
	s64 before_ns;
	u64 now;
	int err;

	if (seed->slope > ONRAMP_OWD_SLOPE_MAX || seed->slope < -ONRAMP_OWD_SLOPE_MAX) {
		NL_SET_ERR_MSG(extack, "baseline-slope: expected -858993 to 858993, 200 ppm");
		return -ERANGE;
	}
	if (seed->baseline_ns > OR_CLOCKS_APART_NS || seed->baseline_ns < -OR_CLOCKS_APART_NS) {
		NL_SET_ERR_MSG(extack, "baseline-ns: expected less than 2^61 ns");
		return -ERANGE;
	}
	spin_lock_bh(&peer->lock);
	now = ktime_get_ns();
	if (seed->at_ns > now + NSEC_PER_SEC || now > seed->at_ns + NSEC_PER_SEC) {
		NL_SET_ERR_MSG(extack, "baseline-at-ns: expected a time within 1 s of now");
		err = -ERANGE;
		goto unlock;
	}
	before_ns = onramp_owd_baseline(&peer->owd, now);
	err = onramp_peer_seed(peer, now, seed, extack);
	onramp_net_count(onramp_net(net), err ? ONRAMP_N_SEEDS_REFUSED : ONRAMP_N_SEEDS);
	trace_onramp_seed(&peer->addrs, now, seed, before_ns,
			  onramp_owd_baseline(&peer->owd, now), err);
unlock:
	spin_unlock_bh(&peer->lock);
	return err;
}

/* Connections -------------------------------------------------------------- */

static int onramp_put_verdicts(struct sk_buff *msg, const u64 *verdicts)
{
	struct nlattr *nest = nla_nest_start(msg, ONRAMP_A_CONN_VERDICTS);
	int i;

	if (!nest)
		return -EMSGSIZE;
	for (i = 0; i < ONRAMP_CONN_VERDICTS; i++)
		if (verdicts[i] && onramp_put_u64(msg, ONRAMP_A_VERDICT_BELOW + i, verdicts[i]))
			return -EMSGSIZE;
	nla_nest_end(msg, nest);
	return 0;
}

/* The connection's lock. */
static int onramp_put_flow(struct sk_buff *msg, const struct onramp_conn *conn)
{
	const struct onramp_ctrl *ctrl = &conn->ctrl;
	u64 now = ktime_get_ns();

	if (onramp_put_addrs(msg, &conn->peer->addrs) ||
	    nla_put_be16(msg, ONRAMP_A_CONN_LPORT, htons(conn->key.sport)) ||
	    nla_put_be16(msg, ONRAMP_A_CONN_RPORT, htons(conn->key.dport)) ||
	    (conn->shared && nla_put_u32(msg, ONRAMP_A_CONN_IFINDEX, conn->shared->ifindex)) ||
	    onramp_put_u64(msg, ONRAMP_A_CONN_PAUSE_LEFT_NS,
			   onramp_since_ns(ctrl->until_ns, now)) ||
	    nla_put_u8(msg, ONRAMP_A_CONN_WAITING, !!conn->waiter) ||
	    nla_put_u32(msg, ONRAMP_A_CONN_BETA, onramp_ppm(ctrl->beta)) ||
	    (ctrl->acked && onramp_put_u64(msg, ONRAMP_A_CONN_OWD_NS, ctrl->last_owd_ns)) ||
	    onramp_put_u64(msg, ONRAMP_A_CONN_ACKED_MS, jiffies_to_msecs(jiffies - conn->acked)) ||
	    (conn->ring.sent_ns && onramp_put_u64(msg, ONRAMP_A_CONN_SENT_NS,
						  onramp_since_ns(now, conn->ring.sent_ns))) ||
	    onramp_put_u64(msg, ONRAMP_A_CONN_PAUSES, conn->pauses) ||
	    onramp_put_u64(msg, ONRAMP_A_CONN_PAUSED_NS, onramp_ctrl_cum_pause(ctrl, now)) ||
	    onramp_put_verdicts(msg, conn->verdicts) ||
	    (conn->mss && nla_put_u32(msg, ONRAMP_A_CONN_MSS, conn->mss)) ||
	    (conn->line_bps && onramp_put_u64(msg, ONRAMP_A_CONN_LINE_RATE, conn->line_bps)) ||
	    nla_put_u32(msg, ONRAMP_A_CONN_RECORDS, conn->ring.count))
		return -EMSGSIZE;
	return 0;
}

static struct rhashtable *onramp_genl_conns(struct net *net)
{
	return &onramp_net(net)->conns;
}

static const void *onramp_genl_find_conn(struct net *net, const struct or_genl_filter *filter)
{
	const struct onramp_peer *peer = onramp_genl_find_peer(net, filter);

	if (!peer)
		return NULL;
	return onramp_conn_find(onramp_net(net), peer, ntohs(filter->lport), ntohs(filter->rport));
}

static bool onramp_flow_matches(const struct onramp_conn *conn,
				const struct or_genl_filter *filter)
{
	return onramp_addrs_match(filter, &conn->peer->addrs) &&
	       (!or_genl_has(filter, ONRAMP_A_CONN_LPORT) ||
		ntohs(filter->lport) == conn->key.sport) &&
	       (!or_genl_has(filter, ONRAMP_A_CONN_RPORT) ||
		ntohs(filter->rport) == conn->key.dport);
}

static int onramp_genl_put_conn(struct net *net, struct sk_buff *msg, const void *object,
				const struct or_genl_filter *filter)
{
	struct onramp_conn *conn = (struct onramp_conn *)object;
	int err = OR_GENL_SKIP;

	if (filter && !onramp_flow_matches(conn, filter))
		return OR_GENL_SKIP;
	spin_lock_bh(&conn->lock);
	if (!filter || !filter->ifindex ||
	    (conn->shared && filter->ifindex == conn->shared->ifindex))
		err = onramp_put_flow(msg, conn);
	spin_unlock_bh(&conn->lock);
	return err;
}

/* Module ------------------------------------------------------------------- */

static const struct or_genl_object onramp_genl_objects[] = {
	{
		.cmd	= ONRAMP_CMD_PATH_GET,
		.table	= onramp_genl_peers,
		.find	= onramp_genl_find_peer,
		.put	= onramp_genl_put_peer,
		.seed	= onramp_genl_seed_peer,
	}, {
		.cmd	= ONRAMP_CMD_CONN_GET,
		.table	= onramp_genl_conns,
		.find	= onramp_genl_find_conn,
		.put	= onramp_genl_put_conn,
	}, { },
};

static struct or_genl_user onramp_genl_user = {
	.owner		= THIS_MODULE,
	.name		= KBUILD_MODNAME,
	.version	= ONRAMP_VERSION,
	.stats		= onramp_put_stats,
	.objects	= onramp_genl_objects,
};

/* onramp_genl_init() - show peers, connections and counters; nothing fails after that */
void onramp_genl_init(void)
{
	or_genl_register(&onramp_genl_user);
}

/* onramp_genl_exit() - undo onramp_genl_init() */
void onramp_genl_exit(void)
{
	or_genl_unregister(&onramp_genl_user);
}
