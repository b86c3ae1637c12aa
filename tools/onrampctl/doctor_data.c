// SPDX-License-Identifier: GPL-2.0
/*
 * Checks of onrampctl doctor: does On-Ramp, or TIMELY, act on the data that leaves? If not, name
 * the reason. Does it know the paths that it acts on?
 */
#include <inttypes.h>
#include <string.h>

#include "doctor.h"

/* A device that sent less between two looks, or smaller packets, sends no data, bytes. */
#define DATA_LEAST	100000
#define DATA_PACKET	300
/* Void drains between two looks, and for each proof, that are no chance. */
#define VOIDS_LEAST	4
/* Devices in a stack of them, at most. */
#define STACK_MAX	8

static bool is_data(int64_t bytes, int64_t packets)
{
	return bytes >= DATA_LEAST && packets > 0 && bytes / packets >= DATA_PACKET;
}

/**
 * data_leaves() - tell whether a device sent data, not ACKs alone, between the two looks
 * @d: run
 * @device: its name
 */
bool data_leaves(const struct doctor *d, const char *device)
{
	char bytes[64], packets[64];

	snprintf(bytes, sizeof(bytes), "devices/%s/sent_bytes", device);
	snprintf(packets, sizeof(packets), "devices/%s/sent_packets", device);
	return is_data(grown(d, bytes), grown(d, packets));
}

static const json_t *device(const struct doctor *d, const char *name)
{
	return name ? json_object_get(j_get(d->now, "devices"), name) : NULL;
}

/* Kinds of devices that put packets into packets, so that no qdisc below sees TCP. */
static bool is_tunnel(const json_t *dev)
{
	static const char * const kinds[] = {
		"vxlan", "geneve", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan",
		"ipip", "ip6tnl", "sit", "wireguard", "vti", "vti6", "xfrm", "tun", "bareudp",
		"gtp",
	};
	size_t i;

	/* A tap is of the kind of a TUN device, and passes frames as they are. */
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (j_is(dev, "kind", kinds[i]))
			return strcmp(kinds[i], "tun") || !j_true(dev, "ether");
	return false;
}

/*
 * reaches() - tell whether packets that leave by a device pass @to; NULL: a qdisc onramp
 *
 * It may be on a device below: of a VLAN, a bond, a bridge.
 */
static bool reaches(const struct doctor *d, const json_t *dev, const json_t *to, unsigned int depth)
{
	int64_t ifindex = num_or(dev, "ifindex", 0), link = num_or(dev, "link", 0);
	const json_t *other;
	const char *name;

	if (!dev || depth > STACK_MAX)
		return false;
	if (to ? dev == to : onramps(dev))
		return true;
	if (is_tunnel(dev))
		return false;
	each_device(d, name, other) {
		int64_t index = num_or(other, "ifindex", 0);

		if (index == ifindex || (index != link && num_or(other, "master", 0) != ifindex))
			continue;
		if (reaches(d, other, to, depth + 1))
			return true;
	}
	return false;
}

/**
 * other_way_now() - tell whether no route for SUBSCRIBEs leads by the device of their data
 * @d: run
 *
 * Modules that count it send messages the way of the data, or not at all. If others failed between
 * the two looks, and none of these, it is not the reason any more.
 */
bool other_way_now(const struct doctor *d)
{
	if (num_or(d->now, "or_port/TxOtherWay", 0) <= 0)
		return false;
	return grown(d, "or_port/TxOtherWay") || !net_grown(d, "subscribe_errors");
}

/**
 * way_differs() - tell whether messages to a peer leave by another device than data
 * @d: run
 * @peer: of the list of peers
 *
 * Return: the way of the data, if they do, or have no route there; NULL if not, or if it is not
 * known.
 */
const json_t *way_differs(const struct doctor *d, const json_t *peer)
{
	const char *remote = j_str(peer, "remote"), *local = j_str(peer, "local");
	bool takes = j_get(d->now, "or_port/TxOtherWay");
	const json_t *row, *from, *to;
	size_t i;

	if (takes && !other_way_now(d))
		return NULL;
	json_array_foreach((json_t *)j_get(d->now, "data"), i, row) {
		if (!remote || !local || !j_is(row, "remote", remote) || !j_is(row, "local", local))
			continue;
		from = device(d, j_str(row, "message_device"));
		to = device(d, j_str(row, "device"));
		if (takes && to)
			return row;
		if (from && to && !reaches(d, from, to, 0) && !reaches(d, to, from, 0))
			return row;
	}
	return NULL;
}

/* The first device with the qdisc, for a sentence. */
static const char *with_onramp(const struct doctor *d)
{
	const json_t *dev;
	const char *name;

	each_device(d, name, dev)
		if (onramps(dev))
			return name;
	return "none";
}

/* An option of the qdiscs of a device has this word, or is not known. */
static bool option_is(const json_t *dev, const char *option, const char *word)
{
	const char *parent;
	const json_t *q;
	char key[64];

	snprintf(key, sizeof(key), "options/%s", option);
	each_qdisc(dev, parent, q)
		if (is_onramp(q))
			return j_is(q, key, word);
	return false;
}

/* Hosts with a longer RTT are left alone, us; 0: none is. */
static int64_t far_us(const struct doctor *d)
{
	const char *name, *parent;
	const json_t *dev, *q;
	int64_t most = 0, ns;

	each_device(d, name, dev)
		each_qdisc(dev, parent, q) {
			if (!num(q, "options/peers_ns", &ns))
				continue;
			if (ns <= 0)
				return 0;
			if (ns > most)
				most = ns;
		}
	return most / 1000;
}

/**
 * struct sums - connections of this host that send
 * @followed:	number of those to near hosts that On-Ramp follows
 * @unseen:	it is not known which ones are followed
 * @most:	the way of the most data that is not followed
 */
struct sums {
	int64_t followed;
	bool unseen;
	const json_t *most;
};

static struct sums sum_up(const struct doctor *d)
{
	int64_t far = far_us(d), most = -1;
	struct sums s = { 0 };
	const json_t *row;
	size_t i;

	json_array_foreach((json_t *)j_get(d->now, "data"), i, row) {
		const char *name = j_str(row, "device");
		int64_t n = num_or(row, "connections", 0);

		if (!name || j_true(device(d, name), "loopback") || n <= 0 ||
		    (far && num_or(row, "min_rtt_us", 0) >= far))
			continue;
		s.unseen |= !j_get(row, "followed");
		if (j_true(row, "followed")) {
			s.followed += n;
		} else if (data_leaves(d, name) && num_or(row, "sent_bytes", 0) > most) {
			s.most = row;
			most = num_or(row, "sent_bytes", 0);
		}
	}
	return s;
}

/* Report a reason for which On-Ramp acts on nothing. */
static void nothing(struct doctor *d, const char *name, const char *summary, const char *why,
		    const char *action, json_t *evidence)
{
	found(d, &(struct found) {
		.subject = name, .evidence = evidence, .summary = summary, .why = why,
		.action = action,
	});
}

/* Connections of this host, none of which On-Ramp follows. */
static void local_data(struct doctor *d, const struct sums *s)
{
	const char *name = j_str(s->most, "device"), *remote = j_str(s->most, "remote");
	const json_t *dev = device(d, name);
	struct text summary = text("data to %s leaves by %s, and On-Ramp follows none of it",
				   remote ? remote : "?", name);
	struct text why, action = text("onramp-qdisc %s", name);

	if (onramps(dev)) {
		/* The qdisc sees it: other checks name the reasons that it has. */
		if (s->unseen || option_is(dev, "mode", "off") ||
		    net_grown(d, "connections_full") || net_grown(d, "no_connection"))
			return;
		why = text("the qdisc of %s sees no TCP packets of a socket", name);
		action = text("tc -s qdisc show dev %s; see GUESTS in the documentation", name);
	} else if (is_tunnel(dev)) {
		why = text("%s is a tunnel: the qdisc of %s only sees packets that are in it",
			   name, with_onramp(d));
	} else if (!reaches(d, dev, NULL, 0)) {
		why = text("%s has the qdisc onramp, and %s has not", with_onramp(d), name);
	} else {
		if (s->unseen)
			return;
		why = text("the qdisc onramp below %s sees no TCP packets of a socket", name);
		action = text("tc -s qdisc show; see GUESTS in the documentation");
	}
	nothing(d, name, summary.s, why.s, action.s,
		json_pack("{s:O}", "way", (json_t *)s->most));
}

/* A tunnel that sent at least half of what a device sent. */
static const char *tunnel_of(const struct doctor *d, const char *name)
{
	const json_t *dev;
	const char *other;
	char key[64];
	int64_t all;

	snprintf(key, sizeof(key), "devices/%s/sent_bytes", name);
	all = grown(d, key);
	each_device(d, other, dev) {
		snprintf(key, sizeof(key), "devices/%s/sent_bytes", other);
		if (is_tunnel(dev) && !onramps(dev) && data_leaves(d, other) &&
		    grown(d, key) >= all / 2)
			return other;
	}
	return NULL;
}

static bool in_bridge(const struct doctor *d, const json_t *dev)
{
	int64_t master = num_or(dev, "master", 0);
	const json_t *other;
	const char *name;

	if (master > 0)
		each_device(d, name, other)
			if (num_or(other, "ifindex", 0) == master && j_is(other, "kind", "bridge"))
				return true;
	return false;
}

/* Packets of others that pass a device with the qdisc: of containers, of hosts behind this one. */
static void passing_data(struct doctor *d, const char *name, const json_t *dev)
{
	int64_t forwarded = grown(d, "ip/forwarded");
	bool bridged = in_bridge(d, dev);
	const char *tunnel = tunnel_of(d, name);
	struct text summary = text("data leaves by %s, and On-Ramp follows none of it", name);

	if (tunnel) {
		nothing(d, name, summary.s,
			text("it is in the tunnel %s when the qdisc sees it", tunnel).s,
			text("onramp-qdisc %s forward on; fq on %s", tunnel, name).s,
			json_pack("{s:s}", "tunnel", tunnel));
		return;
	}
	if (forwarded < ENOUGH && !bridged)
		return;
	if (option_is(dev, "forward", "off"))
		nothing(d, name, summary.s,
			bridged ? "packets of containers, with forward off" :
			text("%" PRId64 " forwarded packets, as those of containers, with forward off",
			     forwarded).s,
			text("onramp-qdisc %s forward on", name).s,
			json_pack("{s:I, s:b, s:s}", "forwarded_packets", (json_int_t)forwarded,
				  "bridge", (int)bridged, "forward", "off"));
	else if (option_is(dev, "forward", "on") && !net_now(d, "forwarded"))
		nothing(d, name, summary.s, "no forwarded packet is of a TCP connection that it can follow",
			"if forward_strays grows, see THE SENDER in Documentation/guests.md",
			json_pack("{s:I, s:b, s:I, s:I}", "forwarded_packets",
				  (json_int_t)forwarded, "bridge", (int)bridged, "forward_strays",
				  net_grown(d, "forward_strays"), "forward_full",
				  net_grown(d, "forward_full")));
}

/*
 * Verdicts on OR-ACKs that no other check is about. Those of a path that is being learned, or of
 * its start, are no fault.
 */
static const struct {
	const char *counter, *meaning;
	bool net;	/* of the namespace: each qdisc shows the same */
} unused[] = {
	{ "acks_not_in_flight", "about data that is not in flight" },
	{ "acks_ambiguous", "about data that was sent more than once" },
	{ "acks_stale", "older than others, or than ack_timeout" },
	{ "acks_duplicate", "about the same packet as the one before" },
	{ "acks_replay", "replayed" },
	{ "acks_old", "too old to tell whether they are replayed" },
	{ "acks_no_flow", "about unknown connections", true },
	{ "acks_no_peer", "of unknown hosts", true },
	{ "acks_protocol", "about another protocol than TCP", true },
};

/* OR-ACKs come, and On-Ramp can use none. Returns false if there are none. */
static bool unused_acks(struct doctor *d)
{
	int64_t all = 0, most = 0, n;
	json_t *evidence = json_object();
	const char *meaning = NULL, *counter = NULL, *name;
	const json_t *dev;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unused); i++) {
		n = unused[i].net ? net_grown(d, unused[i].counter) : 0;
		if (!unused[i].net)
			each_device(d, name, dev)
				n += qdiscs_grown(d, name, unused[i].counter);
		if (n <= 0)
			continue;
		all += n;
		j_set(evidence, unused[i].counter, json_integer(n));
		if (n > most) {
			most = n;
			meaning = unused[i].meaning;
			counter = unused[i].counter;
		}
	}
	if (all < ENOUGH) {
		json_decref(evidence);
		return all > 0;
	}
	nothing(d, NULL, text("data leaves, and none of %" PRId64 " OR-ACKs is used", all).s,
		text("most are %s: %s", meaning, counter).s,
		"look at the path for what changes, joins or repeats packets, and for a second qdisc onramp on the way",
		evidence);
	return true;
}

/* On-Ramp got an OR-ACK that it used, or is about to, between the two looks. */
static bool onramp_acts(const struct doctor *d)
{
	static const char * const used[] = {
		"acks", "acks_learning",
		/* These have checks of their own. */
		"acks_implausible", "acks_unsynced", "acks_no_map",
	};
	const json_t *dev;
	const char *name;
	size_t i;

	each_device(d, name, dev)
		for (i = 0; i < ARRAY_SIZE(used); i++)
			if (qdiscs_grown(d, name, used[i]) > 0)
				return true;
	return false;
}

/* On-Ramp is not turned off everywhere, which another check is about. */
static bool any_mode(const struct doctor *d)
{
	const json_t *dev;
	const char *name;

	each_device(d, name, dev)
		if (onramps(dev) && !option_is(dev, "mode", "off"))
			return true;
	return false;
}

void check_not_followed(struct doctor *d)
{
	const json_t *dev;
	const char *name;
	struct sums s;

	if (!need_onramp(d) || !need_two(d) || !need(d, "data", "the list of connections"))
		return;
	if (!any_mode(d) || onramp_acts(d) || unused_acks(d))
		return;
	s = sum_up(d);
	if (s.followed)
		return;
	if (s.most) {
		local_data(d, &s);
		return;
	}
	each_device(d, name, dev)
		if (onramps(dev) && !j_true(dev, "loopback") && data_leaves(d, name) &&
		    !option_is(dev, "mode", "off"))
			passing_data(d, name, dev);
}

/* A peer in an earlier list: mostly at the same place. */
static const json_t *peer_before(const struct doctor *d, const json_t *peer, size_t at)
{
	const char *remote = j_str(peer, "remote"), *local = j_str(peer, "local");
	const json_t *list = j_get(d->before, "peers"), *other;
	size_t n = json_array_size(list), i;

	for (i = 0; remote && local && i < n; i++) {
		other = json_array_get(list, (at + i) % n);
		if (j_is(other, "remote", remote) && j_is(other, "local", local))
			return other;
	}
	return NULL;
}

/* How much a counter of a peer grew between the two looks; 0 without netlink, which has it. */
static int64_t peer_grown(const json_t *before, const json_t *peer, const char *counter)
{
	return before ? num_or(peer, counter, 0) - num_or(before, counter, 0) : 0;
}

/* Reasons for which the delay of an empty path is unknown. */
enum unseen { SEEN, NOT_KEPT, BEGINS_ANEW, NEVER_EMPTY };

/* @learning: OR-ACKs between the two looks that were used to learn a delay, and not refused */
static enum unseen unseen(const json_t *before, const json_t *peer, int64_t learning)
{
	const char *state = j_str(peer, "baseline");

	if (!j_str(peer, "empty_how"))
		return NOT_KEPT;
	/* With synchronised clocks nothing is learned. */
	if (!state || !j_is(before, "baseline", state))
		return SEEN;
	if (!strcmp(state, "learning"))
		return learning * 2 >= peer_grown(before, peer, "acks") ? BEGINS_ANEW : SEEN;
	if (strcmp(state, "unsupported") && strcmp(state, "lost"))
		return SEEN;
	return peer_grown(before, peer, "acks_counted") >= ENOUGH ? NEVER_EMPTY : SEEN;
}

/*
 * Few packets, or slow ones, support no baseline either: only drains that do not empty a path show
 * that others keep a queue there.
 */
static bool drains_are_void(const struct doctor *d)
{
	int64_t proofs = 0, voids = 0;
	const json_t *dev;
	const char *name;

	each_device(d, name, dev) {
		proofs += qdiscs_grown(d, name, "drain_proofs");
		voids += qdiscs_grown(d, name, "drain_voids");
	}
	return voids >= VOIDS_LEAST && voids > VOIDS_LEAST * proofs;
}

/* The delay of an empty path is what all delays are compared with. */
void check_empty_path(struct doctor *d)
{
	struct list hosts[NEVER_EMPTY + 1] = { 0 };
	const char *name;
	unsigned int busy = 0, kept = 0;
	const json_t *peer, *dev;
	int64_t learning = 0;
	size_t i;

	if (!need_peers(d) || !need_two(d))
		return;
	each_device(d, name, dev)
		learning += qdiscs_grown(d, name, "acks_learning");
	json_array_foreach((json_t *)j_get(d->now, "peers"), i, peer) {
		const json_t *before = peer_before(d, peer, i);

		kept += !!j_str(peer, "empty_how");
		if (peer_grown(before, peer, "acks") < ENOUGH)
			continue;
		busy++;
		list_add(&hosts[unseen(before, peer, learning)], j_str(peer, "remote"));
	}
	for (i = NOT_KEPT; i <= NEVER_EMPTY; i++) {
		const struct list *l = &hosts[i];
		const char *why, *action;

		if (!l->n || (i == NEVER_EMPTY && !drains_are_void(d)))
			continue;
		if (i == NOT_KEPT) {
			why = "or_port keeps no RTT of it: max_paths is too low, or no memory";
			action = "echo N >/sys/module/or_port/parameters/max_paths";
		} else if (i == BEGINS_ANEW) {
			why = "it is learned for one rate, and data leaves by links of several";
			action = "set the same line_rate for all qdiscs that lead there";
		} else {
			why = "drains do not empty it: others keep a queue there";
			action = "set On-Ramp on all hosts that share the queue, or run onrampd";
		}
		found(d, &(struct found) {
			.evidence = json_pack("{s:i, s:i, s:i}", "paths", (int)l->n, "busy_paths",
					      (int)busy, "paths_kept", (int)kept),
			.summary = text("the delay of the empty path is unknown to %u of %u hosts with data: %s",
					l->n, busy, l->s).s,
			.why = why, .action = action,
		});
	}
}

/* The congestion control, other than timely, of the most connections; NULL if there are none. */
static const char *other_cc(const struct doctor *d, int64_t *connections)
{
	const char *cc, *best = NULL;
	const json_t *o;

	*connections = 0;
	json_object_foreach((json_t *)j_get(d->now, "tcp"), cc, o) {
		int64_t n = num_or(o, "connections", 0);

		if (strcmp(cc, "timely") && n > *connections) {
			*connections = n;
			best = cc;
		}
	}
	return best;
}

/* Data of connections of this namespace leaves by a device. */
static bool own_data_leaves(const struct doctor *d)
{
	const json_t *row;
	const char *name;
	size_t i;

	json_array_foreach((json_t *)j_get(d->now, "data"), i, row) {
		name = j_str(row, "device");
		if (name && !j_true(device(d, name), "loopback") && data_leaves(d, name))
			return true;
	}
	return false;
}

void check_timely_unused(struct doctor *d)
{
	static const char * const dropped[] = {
		"DropRetransmitted", "DropSacked", "DropDelayedAck", "DropOtherSource",
	};
	int64_t starts = 0, n, none = 0;
	const char *cc;
	char key[64];
	size_t i;

	if (!need_module(d, "tcp_timely") || !need(d, "tcp", "the list of connections") ||
	    !need(d, "timely", "/proc/net/timely"))
		return;
	num(d->now, "timely/Starts", &starts);
	if (!starts && !uses_timely(d)) {
		if (!need_two(d))
			return;
		cc = other_cc(d, &n);
		if (!cc || !own_data_leaves(d))
			return;
		found(d, &(struct found) {
			.evidence = json_pack("{s:I, s:I, s:s}", "Starts", (json_int_t)0,
					      "connections", (json_int_t)n, "congestion_control",
					      cc),
			.summary = text("tcp_timely is loaded, and no connection has ever used it: %"
					PRId64 " with %s", n, cc).s,
			.why = "a congestion control has to be chosen",
			.action = "sysctl net.ipv4.tcp_congestion_control=timely, and restart programs; or rmmod tcp_timely",
		});
		return;
	}
	if (num_or(d->now, "tcp/timely/busy", 0) <= 0 || !d->before ||
	    grown(d, "timely/Completions"))
		return;
	for (i = 0; i < ARRAY_SIZE(dropped); i++) {
		snprintf(key, sizeof(key), "timely/%s", dropped[i]);
		none += grown(d, key);
	}
	if (none < ENOUGH)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I, s:I}", "busy", num_or(d->now, "tcp/timely/busy", 0),
				      "dropped_rtts", (json_int_t)none),
		.summary = text("timely uses none of %" PRId64 " RTTs", none).s,
		.why = "they are of lost or delayed packets, or of another clock than before",
		.action = "onrampctl show timely; onrampctl why",
	});
}
