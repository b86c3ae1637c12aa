// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: peers and connections for the generic netlink family "onramp", and events
 *
 * or_port walks the tables. Here an object is copied under its own lock, and written into a
 * message after that.
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

/* The values of a peer that are shown, all of one moment. */
struct onramp_path_view {
	u64	acks;
	u64	acks_counted;
	u64	paused_ns;
	u64	owd_ns;
	u64	owd_at_ns;
	u64	error_ns;
	u64	threshold_ns;
	u64	slack_ns;
	u64	swing_ns;
	s64	baseline_ns;
	u64	proof_ns;
	u64	line_bps;
	u32	let_go;
	u32	n_owds;
	u16	owds[ONRAMP_OWD_CLASSES];
	int	ifindex;
	u8	baseline;
	bool	absolute;
};

static void onramp_path_view(struct onramp_peer *peer, struct onramp_path_view *view)
{
	spin_lock_bh(&peer->lock);
	*view = (struct onramp_path_view) {
		.acks = peer->acks, .acks_counted = peer->acks_counted,
		.paused_ns = peer->paused_ns, .owd_ns = peer->last_owd_ns,
		.owd_at_ns = peer->last_owd_at_ns, .error_ns = peer->last_error_ns,
		.threshold_ns = peer->last_threshold_ns, .slack_ns = peer->path.slack_ns,
		.swing_ns = peer->last_swing_ns, .baseline_ns = peer->last_baseline_ns,
		.proof_ns = peer->owd.proof_ns,
		.line_bps = peer->line_bps, .let_go = peer->path.let_go,
		.n_owds = peer->n_owds, .ifindex = peer->via.ifindex, .baseline = peer->baseline,
		.absolute = peer->last_absolute,
	};
	memcpy(view->owds, peer->owds, sizeof(view->owds));
	spin_unlock_bh(&peer->lock);
}

/* A quantile of a peer's delays: the upper end of its class. */
static u64 onramp_path_quantile(const struct onramp_path_view *view, u32 percent)
{
	u32 i, sum = 0, wanted = DIV_ROUND_UP(view->n_owds * percent, 100);

	for (i = 0; i < ONRAMP_OWD_CLASSES; i++) {
		sum += view->owds[i];
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

/* Of the last OR-ACK that counted. */
static int onramp_put_owd(struct sk_buff *msg, const struct onramp_path_view *view)
{
	u64 now = ktime_get_ns();

	if (onramp_put_u64(msg, ONRAMP_A_PATH_OWD_NS, view->owd_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_OWD_AGE_NS,
			   onramp_since_ns(now, view->owd_at_ns)) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_OWD_ERROR_NS, view->error_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_THRESHOLD_NS, view->threshold_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_SLACK_NS, view->slack_ns) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_SWING_NS, view->swing_ns) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_LET_GO, onramp_ppm(view->let_go)) ||
	    (!view->absolute &&
	     nla_put_s64(msg, ONRAMP_A_PATH_OWD_BASELINE_NS, view->baseline_ns,
			 ONRAMP_A_PATH_PAD)))
		return -EMSGSIZE;
	return 0;
}

/* The RTT of the empty path that is kept, with which a peer begins after a rest. */
static int onramp_put_empty(struct sk_buff *msg, const struct onramp_peer *peer, int ifindex)
{
	struct or_path_rtt empty;
	enum or_path_kind kind;

	if (or_path_lower(peer->onet->net, &peer->addrs, ifindex, &empty, &kind) &&
	    (nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_RTT_NS, empty.rtt_ns) ||
	     nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_ERROR_NS, or_path_error(&empty)) ||
	     onramp_put_u64(msg, ONRAMP_A_PATH_EMPTY_AGE_NS,
			    onramp_since_ns(ktime_get_ns(), empty.seen_ns)) ||
	     nla_put_u8(msg, ONRAMP_A_PATH_EMPTY_HOW, empty.how) ||
	     nla_put_u8(msg, ONRAMP_A_PATH_EMPTY_KIND, kind) ||
	     nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_LONGER, empty.longer) ||
	     nla_put_u32(msg, ONRAMP_A_PATH_EMPTY_SHORTER, empty.shorter)))
		return -EMSGSIZE;
	return 0;
}

static int onramp_put_path(struct sk_buff *msg, struct onramp_peer *peer)
{
	struct onramp_path_view view;

	onramp_path_view(peer, &view);
	if (onramp_put_peer(msg, peer) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_ACKS, view.acks) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_ACKS_COUNTED, view.acks_counted) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_PAUSED_NS, view.paused_ns) ||
	    (view.owd_at_ns && onramp_put_owd(msg, &view)) ||
	    (view.n_owds &&
	     (onramp_put_u64(msg, ONRAMP_A_PATH_OWD_P50_NS, onramp_path_quantile(&view, 50)) ||
	      onramp_put_u64(msg, ONRAMP_A_PATH_OWD_P99_NS, onramp_path_quantile(&view, 99)))) ||
	    (!view.absolute && nla_put_u8(msg, ONRAMP_A_PATH_BASELINE, view.baseline)) ||
	    (view.line_bps && onramp_put_u64(msg, ONRAMP_A_PATH_LINE_RATE, view.line_bps)) ||
	    (view.proof_ns &&
	     onramp_put_u64(msg, ONRAMP_A_PATH_PROOF_AGE_NS,
			    onramp_since_ns(ktime_get_ns(), view.proof_ns))) ||
	    onramp_put_empty(msg, peer, view.ifindex))
		return -EMSGSIZE;
	return 0;
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

/* The values of a connection that are shown, all of one moment. */
struct onramp_flow_view {
	u64	now;
	u64	until_ns;
	u64	paused_ns;
	u64	pauses;
	u64	owd_ns;
	u64	sent_ns;
	u64	line_bps;
	u64	verdicts[ONRAMP_CONN_VERDICTS];
	unsigned long acked;
	u32	beta;
	u32	mss;
	u32	records;
	int	ifindex;
	bool	has_owd;
	bool	waiting;
};

static void onramp_flow_view(struct onramp_conn *conn, struct onramp_flow_view *view)
{
	spin_lock_bh(&conn->lock);
	*view = (struct onramp_flow_view) {
		.now = ktime_get_ns(), .until_ns = conn->ctrl.until_ns, .pauses = conn->pauses,
		.has_owd = conn->ctrl.acked, .owd_ns = conn->ctrl.last_owd_ns,
		.sent_ns = conn->ring.sent_ns, .line_bps = conn->line_bps,
		.acked = conn->acked, .beta = conn->ctrl.beta, .mss = conn->mss,
		.records = conn->ring.count, .waiting = conn->waiter,
		.ifindex = conn->qref ? conn->qref->ifindex : 0,
	};
	view->paused_ns = onramp_ctrl_cum_pause(&conn->ctrl, view->now);
	memcpy(view->verdicts, conn->verdicts, sizeof(view->verdicts));
	spin_unlock_bh(&conn->lock);
}

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

static int onramp_put_flow(struct sk_buff *msg, const struct onramp_conn *conn,
			   const struct onramp_flow_view *view)
{
	u64 left_ns = view->until_ns > view->now ? view->until_ns - view->now : 0;

	if (onramp_put_addrs(msg, &conn->peer->addrs) ||
	    nla_put_be16(msg, ONRAMP_A_FLOW_LPORT, htons(conn->key.sport)) ||
	    nla_put_be16(msg, ONRAMP_A_FLOW_RPORT, htons(conn->key.dport)) ||
	    (view->ifindex && nla_put_u32(msg, ONRAMP_A_FLOW_IFINDEX, view->ifindex)) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_PAUSE_LEFT_NS, left_ns) ||
	    nla_put_u8(msg, ONRAMP_A_FLOW_WAITING, view->waiting) ||
	    nla_put_u32(msg, ONRAMP_A_FLOW_BETA, onramp_ppm(view->beta)) ||
	    (view->has_owd && onramp_put_u64(msg, ONRAMP_A_FLOW_OWD_NS, view->owd_ns)) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_ACKED_MS, jiffies_to_msecs(jiffies - view->acked)) ||
	    (view->sent_ns && onramp_put_u64(msg, ONRAMP_A_FLOW_SENT_NS,
					     onramp_since_ns(view->now, view->sent_ns))) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_PAUSES, view->pauses) ||
	    onramp_put_u64(msg, ONRAMP_A_FLOW_PAUSED_NS, view->paused_ns) ||
	    onramp_put_verdicts(msg, view->verdicts) ||
	    (view->mss && nla_put_u32(msg, ONRAMP_A_FLOW_MSS, view->mss)) ||
	    (view->line_bps && onramp_put_u64(msg, ONRAMP_A_FLOW_LINE_RATE, view->line_bps)) ||
	    nla_put_u32(msg, ONRAMP_A_FLOW_RECORDS, view->records))
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
	struct onramp_flow_view view;

	if (filter && !onramp_flow_matches(conn, filter))
		return OR_GENL_SKIP;
	onramp_flow_view(conn, &view);
	if (filter && filter->ifindex && filter->ifindex != view.ifindex)
		return OR_GENL_SKIP;
	return onramp_put_flow(msg, conn, &view);
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
