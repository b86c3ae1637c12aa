// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: peers and connections for the generic netlink family "onramp", and events
 *
 * or_port walks the tables. Here an object is written into a message, under its own lock: all
 * its values are of one moment.
 */
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include <or_path.h>

#include "onramp_conn.h"

static_assert(ONRAMP_A_VERDICT_OLD - ONRAMP_A_VERDICT_BELOW == ONRAMP_CONN_VERDICTS - 1);
static_assert(ONRAMP_A_VERDICT_IMPLAUSIBLE - ONRAMP_A_VERDICT_BELOW == ONRAMP_IMPLAUSIBLE);
static_assert((int)ONRAMP_EMPTY_SEEN == (int)OR_PATH_SEEN);
static_assert((int)ONRAMP_EMPTY_PROOF == (int)OR_PATH_PROOF);
static_assert((int)ONRAMP_EMPTY_CHANGED == (int)OR_PATH_CHANGED);
static_assert((int)ONRAMP_EMPTY_TCP == (int)OR_PATH_TCP);
static_assert((int)ONRAMP_EMPTY_OR_ACK == (int)OR_PATH_ACK);

static int onramp_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	/* That of each kind of objects is the same. */
	return nla_put_u64_64bit(msg, attr, value, ONRAMP_A_PATH_PAD);
}

/* A fraction in millionths. */
static u32 onramp_ppm(u32 fraction)
{
	return ((u64)fraction * 1000000) >> ONRAMP_FRAC_SHIFT;
}

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

static int onramp_put_addrs(struct sk_buff *msg, const struct or_addrs *addrs)
{
	return or_genl_put_name(msg, addrs->family, addrs->laddr, addrs->raddr, addrs->scope);
}

/* Peers -------------------------------------------------------------------- */

/* A quantile of a peer's delays: the upper end of its class. */
static u64 onramp_path_quantile(const struct onramp_peer *peer, u32 percent)
{
	u32 i, sum = 0, wanted = DIV_ROUND_UP(peer->n_owds * percent, 100);

	for (i = 0; i < ONRAMP_OWD_CLASSES; i++) {
		sum += peer->owds[i];
		if (sum && sum >= wanted)
			break;
	}
	return onramp_owd_class_end(min_t(u32, i, ONRAMP_OWD_CLASSES - 1));
}

static u8 onramp_path_state(const struct onramp_peer *peer)
{
	if (READ_ONCE(peer->silent))
		return ONRAMP_PATH_SILENT;
	return READ_ONCE(peer->answered) ? ONRAMP_PATH_SUBSCRIBED : ONRAMP_PATH_ASKED;
}

/* As /proc/net/onramp_peers shows it, without a lock. */
static int onramp_put_peer(struct sk_buff *msg, const struct onramp_peer *peer)
{
	u32 rtt_us = READ_ONCE(peer->rtt_us);

	if (onramp_put_addrs(msg, &peer->addrs) ||
	    nla_put_u8(msg, ONRAMP_A_PATH_STATE, onramp_path_state(peer)) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_CONNECTIONS, refcount_read(&peer->refs) - 1) ||
	    (rtt_us != U32_MAX && nla_put_u32(msg, ONRAMP_A_PATH_RTT_US, rtt_us)) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_UNANSWERED, READ_ONCE(peer->tries)) ||
	    (READ_ONCE(peer->answered) &&
	     onramp_put_u64(msg, ONRAMP_A_PATH_HEARD_MS,
			    jiffies_to_msecs(jiffies - READ_ONCE(peer->heard_at)))))
		return -EMSGSIZE;
	return 0;
}

/* Of the last OR-ACK that counted; the peer's lock. */
static int onramp_put_owd(struct sk_buff *msg, const struct onramp_peer *peer, u64 now)
{
	if (onramp_put_u64(msg, ONRAMP_A_PATH_OWD_NS, peer->last_owd_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_OWD_AGE_NS,
			   onramp_since_ns(now, peer->last_owd_at_ns)) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_OWD_ERROR_NS, peer->last_error_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_THRESHOLD_NS, peer->last_threshold_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_SLACK_NS, peer->path.slack_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_SWING_NS, peer->last_swing_ns) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_LET_GO, onramp_ppm(peer->path.let_go)) ||
	    (!peer->last_absolute &&
	     nla_put_s64(msg, ONRAMP_A_PATH_OWD_BASELINE_NS, peer->last_baseline_ns,
			 ONRAMP_A_PATH_PAD)))
		return -EMSGSIZE;
	return 0;
}

/* The RTT of the empty path that is kept, with which a peer begins after a rest; its lock. */
static int onramp_put_empty(struct sk_buff *msg, const struct onramp_peer *peer, u64 now)
{
	struct or_path_rtt empty;
	enum or_path_kind kind;

	if (or_path_lower(peer->onet->net, &peer->addrs, peer->via.ifindex, &empty, &kind) &&
	    (nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_RTT_NS, empty.rtt_ns) ||
	     nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_ERROR_NS, or_path_error(&empty)) ||
	     onramp_put_u64(msg, ONRAMP_A_PATH_EMPTY_AGE_NS,
			    onramp_since_ns(now, empty.seen_ns)) ||
	     nla_put_u8(msg, ONRAMP_A_PATH_EMPTY_HOW, empty.how) ||
	     nla_put_u8(msg, ONRAMP_A_PATH_EMPTY_KIND, kind) ||
	     nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_LONGER, empty.longer) ||
	     nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_SHORTER, empty.shorter)))
		return -EMSGSIZE;
	return 0;
}

/* What is known of the path; its lock. */
static int onramp_put_known(struct sk_buff *msg, const struct onramp_peer *peer)
{
	u64 now = ktime_get_ns();

	if (onramp_put_u64(msg, ONRAMP_A_PATH_ACKS, peer->acks) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_ACKS_COUNTED, peer->acks_counted) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_PAUSED_NS, peer->paused_ns) ||
	    (peer->last_owd_at_ns && onramp_put_owd(msg, peer, now)) ||
	    (peer->n_owds &&
	     (onramp_put_u64(msg, ONRAMP_A_PATH_OWD_P50_NS, onramp_path_quantile(peer, 50)) ||
	      onramp_put_u64(msg, ONRAMP_A_PATH_OWD_P99_NS, onramp_path_quantile(peer, 99)))) ||
	    (!peer->last_absolute && nla_put_u8(msg, ONRAMP_A_PATH_BASELINE, peer->baseline)) ||
	    (peer->line_bps && onramp_put_u64(msg, ONRAMP_A_PATH_LINE_RATE, peer->line_bps)) ||
	    (peer->owd.proof_ns &&
	     onramp_put_u64(msg, ONRAMP_A_PATH_PROOF_AGE_NS,
			    onramp_since_ns(now, peer->owd.proof_ns))) ||
	    onramp_put_empty(msg, peer, now))
		return -EMSGSIZE;
	return 0;
}

static int onramp_put_path(struct sk_buff *msg, struct onramp_peer *peer)
{
	int err = onramp_put_peer(msg, peer);

	if (err)
		return err;
	spin_lock_bh(&peer->lock);
	err = onramp_put_known(msg, peer);
	spin_unlock_bh(&peer->lock);
	return err;
}

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

static int onramp_genl_put_peer(struct sk_buff *msg, const void *object,
				const struct or_genl_filter *filter)
{
	struct onramp_peer *peer = (struct onramp_peer *)object;

	if (filter && (!onramp_addrs_match(filter, &peer->addrs) ||
		       (or_genl_has(filter, ONRAMP_A_PATH_STATE) &&
			filter->state != onramp_path_state(peer))))
		return OR_GENL_SKIP;
	return onramp_put_path(msg, peer);
}

/* Connections -------------------------------------------------------------- */

static int onramp_put_verdicts(struct sk_buff *msg, const u64 *verdicts)
{
	struct nlattr *nest = nla_nest_start(msg, ONRAMP_A_FLOW_VERDICTS);
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
	    nla_put_be16(msg, ONRAMP_A_FLOW_LPORT, htons(conn->key.sport)) ||
	    nla_put_be16(msg, ONRAMP_A_FLOW_RPORT, htons(conn->key.dport)) ||
	    (conn->qref && nla_put_u32(msg, ONRAMP_A_FLOW_IFINDEX, conn->qref->ifindex)) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_PAUSE_LEFT_NS,
			   onramp_since_ns(ctrl->until_ns, now)) ||
	    nla_put_u8(msg, ONRAMP_A_FLOW_WAITING, !!conn->waiter) ||
	    nla_put_u32(msg, ONRAMP_A_FLOW_BETA, onramp_ppm(ctrl->beta)) ||
	    (ctrl->acked && onramp_put_u64(msg, ONRAMP_A_FLOW_OWD_NS, ctrl->last_owd_ns)) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_ACKED_MS, jiffies_to_msecs(jiffies - conn->acked)) ||
	    (conn->ring.sent_ns && onramp_put_u64(msg, ONRAMP_A_FLOW_SENT_NS,
						  onramp_since_ns(now, conn->ring.sent_ns))) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_PAUSES, conn->pauses) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_PAUSED_NS, onramp_ctrl_cum_pause(ctrl, now)) ||
	    onramp_put_verdicts(msg, conn->verdicts) ||
	    (conn->mss && nla_put_u32(msg, ONRAMP_A_FLOW_MSS, conn->mss)) ||
	    (conn->line_bps && onramp_put_u64(msg, ONRAMP_A_FLOW_LINE_RATE, conn->line_bps)) ||
	    nla_put_u32(msg, ONRAMP_A_FLOW_RECORDS, conn->ring.count))
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
	       (!or_genl_has(filter, ONRAMP_A_FLOW_LPORT) ||
		ntohs(filter->lport) == conn->key.sport) &&
	       (!or_genl_has(filter, ONRAMP_A_FLOW_RPORT) ||
		ntohs(filter->rport) == conn->key.dport);
}

static int onramp_genl_put_conn(struct sk_buff *msg, const void *object,
				const struct or_genl_filter *filter)
{
	struct onramp_conn *conn = (struct onramp_conn *)object;
	int err = OR_GENL_SKIP;

	if (filter && !onramp_flow_matches(conn, filter))
		return OR_GENL_SKIP;
	spin_lock_bh(&conn->lock);
	if (!filter || !filter->ifindex ||
	    (conn->qref && filter->ifindex == conn->qref->ifindex))
		err = onramp_put_flow(msg, conn);
	spin_unlock_bh(&conn->lock);
	return err;
}

/* Events ------------------------------------------------------------------- */

/* A path with an event. */
struct onramp_path_event {
	struct onramp_peer	*peer;
	u64			time_ns;
	u8			event;
};

static int onramp_put_path_event(struct sk_buff *msg, const void *arg)
{
	const struct onramp_path_event *e = arg;

	if (onramp_put_path(msg, e->peer) ||
	    nla_put_u8(msg, ONRAMP_A_PATH_EVENT, e->event) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_TIME_NS, e->time_ns))
		return -EMSGSIZE;
	return 0;
}

/* __onramp_peer_tell() - call onramp_peer_tell() for a peer with events */
void __onramp_peer_tell(struct onramp_peer *peer)
{
	struct onramp_path_event e = { .peer = peer, .time_ns = ktime_get_ns() };
	unsigned long events;

	spin_lock_bh(&peer->lock);
	events = peer->events;
	WRITE_ONCE(peer->events, 0);
	spin_unlock_bh(&peer->lock);
	for (e.event = ONRAMP_EVENT_SILENT; e.event <= ONRAMP_EVENT_SUPPORT_LOST; e.event++)
		if (events & BIT(e.event))
			or_genl_notify(peer->onet->net, ONRAMP_CMD_PATH_NTF,
				       onramp_put_path_event, &e);
}

static int onramp_put_map_lost(struct sk_buff *msg, const void *arg)
{
	const struct onramp_qref *qref = arg;

	if (nla_put_u8(msg, ONRAMP_A_PATH_EVENT, ONRAMP_EVENT_MAP_LOST) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_TIME_NS, ktime_get_ns()) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_IFINDEX, qref->ifindex))
		return -EMSGSIZE;
	return 0;
}

/**
 * __onramp_qref_tell() - tell that the map of the NIC's clock was lost, once
 * @qref: of a qdisc on the device, with ONRAMP_QREF_MAP_LOST
 *
 * Context: any but hard interrupts.
 */
void __onramp_qref_tell(struct onramp_qref *qref)
{
	if (test_and_clear_bit(ONRAMP_QREF_MAP_LOST, &qref->flags))
		or_genl_notify(qref->onet->net, ONRAMP_CMD_DEV_NTF, onramp_put_map_lost, qref);
}

/* Module ------------------------------------------------------------------- */

static const struct or_genl_object onramp_genl_objects[] = {
	{
		.cmd	= ONRAMP_CMD_PATH_GET,
		.table	= onramp_genl_peers,
		.find	= onramp_genl_find_peer,
		.put	= onramp_genl_put_peer,
	}, {
		.cmd	= ONRAMP_CMD_FLOW_GET,
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
