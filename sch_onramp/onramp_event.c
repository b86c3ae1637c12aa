// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: a peer as netlink and /proc/net/onramp_peers show it, and its events
 */
/* Before seq_file_net.h, which takes netns_tracker for known in RHEL 9.3. */
#include <linux/netdevice.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/rhashtable.h>
#include <linux/seq_file_net.h>

#include <or_path.h>

#include "onramp_event.h"

static_assert((int)ONRAMP_EMPTY_SEEN == (int)OR_PATH_SEEN);
static_assert((int)ONRAMP_EMPTY_PROOF == (int)OR_PATH_PROOF);
static_assert((int)ONRAMP_EMPTY_CHANGED == (int)OR_PATH_CHANGED);
static_assert((int)ONRAMP_EMPTY_TCP == (int)OR_PATH_TCP);
static_assert((int)ONRAMP_EMPTY_OR_ACK == (int)OR_PATH_ACK);

/* onramp_put_u64() - write a number; 0 or -EMSGSIZE */
int onramp_put_u64(struct sk_buff *msg, int attr, u64 value)
{
	/* That of each kind of objects is the same. */
	return nla_put_u64_64bit(msg, attr, value, ONRAMP_A_PATH_PAD);
}

/* onramp_put_addrs() - write the name of a peer or of its connections; 0 or -EMSGSIZE */
int onramp_put_addrs(struct sk_buff *msg, const struct or_addrs *addrs)
{
	return or_genl_put_name(msg, addrs->family, addrs->laddr, addrs->raddr, addrs->scope);
}

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

/* onramp_path_state() - return ONRAMP_PATH_*; any context */
u8 onramp_path_state(const struct onramp_peer *peer)
{
	if (READ_ONCE(peer->silent))
		return ONRAMP_PATH_SILENT;
	return READ_ONCE(peer->answered) ? ONRAMP_PATH_SUBSCRIBED : ONRAMP_PATH_ASKED;
}

/* A peer without its lock; rtt_us: U32_MAX: unknown; heard_ms: if it has answered. */
struct onramp_peer_now {
	u8	state;
	bool	answered;
	u32	connections;
	u32	rtt_us;
	u32	unanswered;
	u32	heard_ms;
};

static void onramp_peer_read(const struct onramp_peer *peer, struct onramp_peer_now *now)
{
	now->answered = READ_ONCE(peer->answered);
	now->state = onramp_path_state(peer);
	now->connections = refcount_read(&peer->refs) - 1;
	now->rtt_us = READ_ONCE(peer->rtt_us);
	now->unanswered = READ_ONCE(peer->tries);
	now->heard_ms = jiffies_to_msecs(jiffies - READ_ONCE(peer->heard_at));
}

static int onramp_put_peer(struct sk_buff *msg, const struct onramp_peer *peer)
{
	struct onramp_peer_now now;

	onramp_peer_read(peer, &now);
	if (onramp_put_addrs(msg, &peer->addrs) ||
	    nla_put_u8(msg, ONRAMP_A_PATH_STATE, now.state) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_CONNECTIONS, now.connections) ||
	    (now.rtt_us != U32_MAX && nla_put_u32(msg, ONRAMP_A_PATH_RTT_US, now.rtt_us)) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_UNANSWERED, now.unanswered) ||
	    (now.answered && onramp_put_u64(msg, ONRAMP_A_PATH_HEARD_MS, now.heard_ms)))
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
	    nla_put_u32(msg, ONRAMP_A_PATH_COEXIST_SHARE, onramp_ppm(peer->path.coexist_share)) ||
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

/* The baseline as a line; the peer's lock. */
static int onramp_put_baseline(struct sk_buff *msg, const struct onramp_peer *peer, u64 now)
{
	const struct onramp_owd *owd = &peer->owd;

	if (!peer->has_domain || !owd->samples || peer->last_absolute)
		return 0;
	if (nla_put_u8(msg, ONRAMP_A_PATH_DOMAIN, peer->domain) ||
	    nla_put_s64(msg, ONRAMP_A_PATH_BASELINE_NS, onramp_owd_baseline(owd, now),
			ONRAMP_A_PATH_PAD) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_BASELINE_AT_NS, now) ||
	    nla_put_s32(msg, ONRAMP_A_PATH_BASELINE_SLOPE, owd->slope) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_BASELINE_ERROR_NS, onramp_owd_error(owd, now)) ||
	    (owd->supported && onramp_put_u64(msg, ONRAMP_A_PATH_SUPPORT_AGE_NS,
					      onramp_since_ns(now, owd->support_ns))) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_PAYLOAD, owd->payload) ||
	    nla_put_s64(msg, ONRAMP_A_PATH_BASELINE_LEAST_NS, onramp_owd_least(owd, now),
			ONRAMP_A_PATH_PAD) ||
	    (onramp_owd_seeded(owd) &&
	     onramp_put_u64(msg, ONRAMP_A_PATH_SEED_LEFT_NS,
			    onramp_since_ns(owd->seed_until_ns, now))))
		return -EMSGSIZE;
	return 0;
}

/* State of the path, under its lock. */
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
	    (peer->path.slow_bps &&
	     onramp_put_u64(msg, ONRAMP_A_PATH_SLOW_RATE, peer->path.slow_bps)) ||
	    (peer->owd.proof_ns &&
	     onramp_put_u64(msg, ONRAMP_A_PATH_PROOF_AGE_NS,
			    onramp_since_ns(now, peer->owd.proof_ns))) ||
	    onramp_put_empty(msg, peer, now) ||
	    onramp_put_baseline(msg, peer, now))
		return -EMSGSIZE;
	return 0;
}

/* onramp_put_path() - write a peer, without its lock; 0 or -EMSGSIZE */
int onramp_put_path(struct sk_buff *msg, struct onramp_peer *peer)
{
	int err = onramp_put_peer(msg, peer);

	if (err)
		return err;
	spin_lock_bh(&peer->lock);
	err = onramp_put_known(msg, peer);
	spin_unlock_bh(&peer->lock);
	return err;
}

/* /proc/net/onramp_peers --------------------------------------------------- */

static void onramp_peers_addr(struct seq_file *seq, const struct or_addrs *addrs, bool remote)
{
	const void *addr = remote ? addrs->raddr : addrs->laddr;

	if (addrs->family == AF_INET)
		seq_printf(seq, "%pI4", addr);
	else
		seq_printf(seq, "%pI6c", addr);
	if (remote && addrs->scope)
		seq_printf(seq, "%%%u", addrs->scope);
	seq_putc(seq, ' ');
}

static void onramp_peers_line(struct seq_file *seq, const struct onramp_peer *peer)
{
	static const char *const states[] = {
		[ONRAMP_PATH_ASKED] = "asked", [ONRAMP_PATH_SUBSCRIBED] = "subscribed",
		[ONRAMP_PATH_SILENT] = "silent",
	};
	struct onramp_peer_now now;

	onramp_peer_read(peer, &now);
	onramp_peers_addr(seq, &peer->addrs, false);
	onramp_peers_addr(seq, &peer->addrs, true);
	seq_printf(seq, "%s %u ", states[now.state], now.connections);
	if (now.rtt_us == U32_MAX)
		seq_puts(seq, "- ");
	else
		seq_printf(seq, "%u ", now.rtt_us);
	seq_printf(seq, "%u ", now.unanswered);
	if (now.answered)
		seq_printf(seq, "%u\n", now.heard_ms);
	else
		seq_puts(seq, "-\n");
}

/* onramp_peers_show() - write the file; again from the start if it is longer than the buffer */
int onramp_peers_show(struct seq_file *seq, void *v)
{
	struct rhashtable_iter iter;
	struct onramp_peer *peer;

	seq_puts(seq, "local remote state connections rtt_us unanswered heard_ms\n");
	rhashtable_walk_enter(&onramp_net(seq_file_single_net(seq))->peers, &iter);
	rhashtable_walk_start(&iter);
	while (!seq_has_overflowed(seq) && (peer = onramp_walk_next(&iter))) {
		/* The table grows: some come twice. */
		if (!IS_ERR(peer))
			onramp_peers_line(seq, peer);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return 0;
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

/* __onramp_peer_notify() - call onramp_peer_notify() for a peer with events */
void __onramp_peer_notify(struct onramp_peer *peer)
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
	const struct onramp_qdisc_shared *shared = arg;

	if (nla_put_u8(msg, ONRAMP_A_PATH_EVENT, ONRAMP_EVENT_MAP_LOST) ||
	    onramp_put_u64(msg, ONRAMP_A_PATH_TIME_NS, ktime_get_ns()) ||
	    nla_put_u32(msg, ONRAMP_A_PATH_IFINDEX, shared->ifindex))
		return -EMSGSIZE;
	return 0;
}

/* __onramp_shared_notify() - tell once that the map of the NIC's clock was lost; no hard IRQ */
void __onramp_shared_notify(struct onramp_qdisc_shared *shared)
{
	if (test_and_clear_bit(ONRAMP_SHARED_MAP_LOST, &shared->flags))
		or_genl_notify(shared->onet->net, ONRAMP_CMD_DEV_NTF, onramp_put_map_lost, shared);
}
