// SPDX-License-Identifier: GPL-2.0
/*
 * or_acker, the packet path: flows, OR-ACKs.
 *
 *	packet with data, before GRO:
 *		several in one, or from this very host, and the CPU has no time for an
 *			OR-ACK? skip it, unparsed where possible
 *		flow of its connection; none: is its sender a subscriber, and
 *			is there a socket that takes it, or does this host translate it
 *			for one elsewhere? then make one
 *		outside the receive window? ask again
 *		or_acker_track_packet()				-> due, or wait
 *
 *	by the timer: or_acker_track_waited()			-> due, wait on, or none
 *
 *	behind the driver's poll, or by the timer, for each flow that is due:
 *		subscription over?			-> end the flow
 *		or_acker_admit()			-> not now
 *		OR-ACK with the newest packet's timestamp, signed, sent
 *
 * or_acker_core.h has the decisions. A packet costs one lookup and the lock of its flow, or
 * neither if it continues the train of the packet before it: see struct or_acker_cpu_train.
 * The socket is looked up once per flow, and then about once per receive window of data. So
 * forged data neither makes flows nor causes OR-ACKs, nor replaces the connection's own data
 * in them. A packet that no socket accepts costs one lookup, as in TCP.
 *
 * Packets are seen inside of drivers' polls, and on loopback inside of a
 * transmission, where queues are locked: nothing can be sent from there. A tasklet
 * runs next in the same softirq, when the poll has delivered all of its packets: the
 * OR-ACK is about the newest one.
 *
 * Timers: a flow is on its namespace's waiting list of the CPU where its first packet was
 * seen, and stays on it while packets arrive. When it gets to the head of the list, its
 * packets are acknowledged if they are old enough, or it moves to the tail. So it is added
 * to the list once in ack_delay_ns and not with each OR-ACK, and an OR-ACK can be late by
 * another ack_delay_ns.
 */
#include <linux/if_vlan.h>
#include <linux/jiffies.h>
#include <linux/kernel_stat.h>
#include <linux/math64.h>
#include <linux/slab.h>
#include <linux/tick.h>
#include <linux/timekeeping.h>
#include <net/inet6_hashtables.h>
#include <net/inet_hashtables.h>
#if IS_ENABLED(CONFIG_NF_CONNTRACK)
#include <net/netfilter/nf_conntrack.h>
#include <net/netfilter/nf_conntrack_core.h>
#include <net/netfilter/nf_conntrack_zones.h>
#endif
#include <net/route.h>
#include <net/tcp.h>

#include "nic_ts_key.h"
#include "or_acker.h"
#include "or_acker_trace.h"
#include "sock_charge.h"
#include "test_delay.h"

/* IP lengths: of an OR-ACK, and of a packet before its payload, at least. */
#define OR_ACKER_COST4		(20 + 8 + OR_ACK_LEN)
#define OR_ACKER_COST6		(40 + 8 + OR_ACK_LEN)
#define OR_ACKER_HEADERS4	(20 + 20)
#define OR_ACKER_HEADERS6	(40 + 20)

/* As or_acker_params.h says. RT and lockdep have larger locks. */
static_assert(sizeof(struct or_acker_flow) <= 256 || sizeof(spinlock_t) > 4);

static struct kmem_cache *or_acker_flow_cache __read_mostly;

/* CLOCK_TAI less CLOCK_MONOTONIC as last seen, ns; and how often it was stepped. */
static atomic64_t or_acker_tai_offset = ATOMIC64_INIT(0);
static atomic_t or_acker_tai_steps = ATOMIC_INIT(0);

static __always_inline int or_acker_flow_differs(struct rhashtable_compare_arg *arg,
						 const void *obj)
{
	const struct or_acker_flow *f = obj;

	return nic_ts_key_differs(arg->key, &f->key);
}

static const struct rhashtable_params or_acker_flow_params = {
	.head_offset		= offsetof(struct or_acker_flow, node),
	.key_offset		= offsetof(struct or_acker_flow, key),
	.key_len		= sizeof(struct nic_ts_key),
	.hashfn			= nic_ts_key_hash,
	.obj_cmpfn		= or_acker_flow_differs,
	.automatic_shrinking	= true,
};

/* Packets of this host ------------------------------------------------------ */

/*
 * Return whether a connection of this host has sent the packet and still owns it. Then its
 * path had no wire and no router: drivers and forwarding orphan packets, and netem keeps only
 * a reference on the socket. TCP's limit on the data of a socket in queues (TSQ) holds until
 * here, so the path had no long queue, either. Loopback has no other packets. A packet that a
 * program or a VM sends through a tun device has the socket of that device.
 */
static __always_inline bool or_acker_local(const struct sk_buff *skb)
{
	const struct sock *sk = skb->sk;

	if (skb->dev->flags & IFF_LOOPBACK)
		return true;
	return sk && skb->destructor != sock_efree && sk_fullsock(sk) && sk_is_tcp(sk);
}

/* Shares of the data of a device ------------------------------------------- */

/* or_acker_link_alloc() - allocate the shares of a device, or NULL; one reference; may sleep */
struct or_acker_link *or_acker_link_alloc(void)
{
	struct or_acker_link *link = kzalloc(sizeof(*link), GFP_KERNEL);

	if (!link)
		return NULL;
	link->data = alloc_percpu(struct or_acker_data);
	if (!link->data) {
		kfree(link);
		return NULL;
	}
	refcount_set(&link->ref, 1);
	spin_lock_init(&link->lock);
	return link;
}

/**
 * or_acker_link_put() - drop a reference
 * @link:	shares of a device
 *
 * Flows use theirs under their locks, and packets that of their device, which waits for them.
 *
 * Context: any.
 */
void or_acker_link_put(struct or_acker_link *link)
{
	if (!refcount_dec_and_test(&link->ref))
		return;
	free_percpu(link->data);
	kfree(link);
}

/* Return whether a large part of the data in a queue is from hosts without On-Ramp. */
static bool or_acker_others(struct or_acker_link *link, u32 class, u64 now_ns)
{
	struct or_acker_share *share = &link->share[class];
	const struct or_acker_data *data;
	u32 with = 0, without = 0;
	int cpu;

	if (!or_acker_share_ages(share, now_ns) || !spin_trylock(&link->lock))
		return READ_ONCE(share->others);
	for_each_possible_cpu(cpu) {
		data = per_cpu_ptr(link->data, cpu);
		/* Of other CPUs; a late increment is in the next sum. */
		with += READ_ONCE(data->with[class]);
		without += READ_ONCE(data->without[class]);
	}
	or_acker_share_update(share, now_ns, with, without);
	spin_unlock(&link->lock);
	return READ_ONCE(share->others);
}

static u32 or_acker_class(const struct sk_buff *skb, u8 tos)
{
	u32 pcp = skb_vlan_tag_present(skb) ?
		  (skb_vlan_tag_get(skb) & VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT : 0;

	return or_acker_class_of(pcp, tos);
}

/* Flows -------------------------------------------------------------------- */

static void or_acker_flow_free(struct rcu_head *rcu)
{
	struct or_acker_flow *f = container_of(rcu, struct or_acker_flow, rcu);

	if (f->link)
		or_acker_link_put(f->link);
	or_acker_sub_put(f->sub);
	kmem_cache_free(or_acker_flow_cache, f);
}

/*
 * The sequence numbers that a socket takes. Read without its lock, see
 * or_acker_window_of().
 */
static bool or_acker_socket_window(struct sock *sk, struct or_acker_window *window)
{
	const struct request_sock *req;
	const struct tcp_sock *tp;

	/* TCP_SYN_SENT: it does not know any, and expects no data. */
	if ((1 << sk->sk_state) & (TCPF_TIME_WAIT | TCPF_SYN_SENT | TCPF_CLOSE))
		return false;
	if (sk->sk_state == TCP_NEW_SYN_RECV) {
		req = inet_reqsk(sk);
		*window = or_acker_window_of(tcp_rsk(req)->rcv_nxt,
					     READ_ONCE(req->rsk_rcv_wnd));
		return true;
	}
	tp = tcp_sk(sk);
	*window = or_acker_window_of(READ_ONCE(tp->rcv_nxt), READ_ONCE(tp->rcv_wnd));
	return true;
}

/* Are the addresses of a connection link-local ones? */
static bool or_acker_link_local(const struct nic_ts_key *key)
{
	return key->family == AF_INET6 &&
	       ipv6_addr_type((const struct in6_addr *)key->raddr) & IPV6_ADDR_LINKLOCAL;
}

/*
 * Return the device for the lookup of the socket. The receiving device may be below the one
 * that the socket is bound to. The device of a link-local address is right, and so is the
 * one that the SUBSCRIBE came through. Read locklessly: any of them is valid. A socket may be
 * bound to a VRF, and to the device in it, @sdif; 0: there is no VRF.
 */
static int or_acker_ifindex(const struct or_acker_sub *sub, const struct nic_ts_key *key,
			    int ifindex, int *sdif)
{
	*sdif = 0;
	if (!sub)
		return ifindex;
	ifindex = READ_ONCE(sub->ifindex) ?: ifindex;
	if (sub->scope && !or_acker_link_local(key))
		*sdif = ifindex;
	return sub->scope ?: ifindex;
}

/*
 * The socket of this host that has the connection, with a reference for sock_gen_put(),
 * and its window. NULL: none takes data.
 */
static struct sock *or_acker_ask_socket(struct net *net, const struct nic_ts_key *key,
					const struct or_acker_sub *sub, int ifindex,
					struct or_acker_window *window)
{
	const struct in6_addr __maybe_unused *laddr = (const void *)key->laddr;
	const struct in6_addr __maybe_unused *raddr = (const void *)key->raddr;
	int sdif, dif = or_acker_ifindex(sub, key, ifindex, &sdif);
	struct sock *sk = NULL;

	if (key->family == AF_INET)
		sk = compat_inet_lookup_established(net, key->raddr[0], key->rport,
						    key->laddr[0],
						    ntohs(key->lport), dif, sdif);
#if IS_ENABLED(CONFIG_IPV6)
	else
		sk = compat_inet6_lookup_established(net, raddr, key->rport, laddr,
						     ntohs(key->lport), dif, sdif);
#endif
	if (!sk || or_acker_socket_window(sk, window))
		return sk;
	sock_gen_put(sk);
	return NULL;
}

#if IS_ENABLED(CONFIG_NF_CONNTRACK)

/*
 * nf_conntrack's lookup, from when a namespace first needs it until this module goes. So
 * or_acker works without that module, and the module stays while it may be asked.
 */
static typeof(nf_conntrack_find_get) *or_acker_tracker __read_mostly;
static DEFINE_MUTEX(or_acker_tracker_lock);

/* or_acker_tracker_get() - find connection tracking, if it is needed and loaded; may sleep */
void or_acker_tracker_get(struct or_acker_net *an)
{
	bool forward;

	rcu_read_lock();
	forward = rcu_dereference(an->conf)->forward;
	rcu_read_unlock();
	if (!forward || READ_ONCE(or_acker_tracker))
		return;
	mutex_lock(&or_acker_tracker_lock);
	if (!or_acker_tracker)
		WRITE_ONCE(or_acker_tracker, symbol_get(nf_conntrack_find_get));
	mutex_unlock(&or_acker_tracker_lock);
}

/* No packet is processed any more. */
static void or_acker_tracker_put(void)
{
	if (or_acker_tracker)
		symbol_put(nf_conntrack_find_get);
}

/*
 * Return whether to believe data of a tracked connection, and set the sequence numbers that its
 * receiver takes. Both ends have been seen, and no hardware or flowtable bypasses the checks.
 * Read without its lock, as with a socket.
 */
static bool or_acker_tracked_window(const struct nf_conn *ct, enum ip_conntrack_dir dir,
				    struct or_acker_window *window)
{
	const struct ip_ct_tcp_state *to = &ct->proto.tcp.seen[!dir];
	unsigned long status = READ_ONCE(ct->status);
	u32 nxt, end;

	/* Without translation it has a socket here, or another address than this host's. */
	if (!(status & IPS_NAT_MASK) || !(status & IPS_ASSURED) || status & IPS_OFFLOAD)
		return false;
	switch (READ_ONCE(ct->proto.tcp.state)) {
	case TCP_CONNTRACK_ESTABLISHED:
	case TCP_CONNTRACK_FIN_WAIT:
	case TCP_CONNTRACK_CLOSE_WAIT:
		break;
	default:
		return false;
	}
	if (!(to->flags & IP_CT_TCP_FLAG_MAXACK_SET))
		return false;
	nxt = READ_ONCE(to->td_maxack);
	end = READ_ONCE(ct->proto.tcp.seen[dir].td_maxend);
	*window = or_acker_window_of(nxt, max_t(s32, end - nxt, 0));
	return true;
}

/* The same as or_acker_ask_socket() for a connection that this host translates. */
static bool or_acker_ask_tracker(struct net *net, const struct nic_ts_key *key,
				 struct or_acker_window *window)
{
	typeof(nf_conntrack_find_get) *find = READ_ONCE(or_acker_tracker);
	struct nf_conntrack_tuple_hash *h;
	struct nf_conntrack_tuple tuple;
	struct nf_conn *ct;
	bool known;

	if (!find)
		return false;
	memset(&tuple, 0, sizeof(tuple));
	tuple.src.l3num = key->family;
	tuple.dst.protonum = IPPROTO_TCP;
	memcpy(tuple.src.u3.all, key->raddr, sizeof(tuple.src.u3.all));
	memcpy(tuple.dst.u3.all, key->laddr, sizeof(tuple.dst.u3.all));
	tuple.src.u.tcp.port = key->rport;
	tuple.dst.u.tcp.port = key->lport;
	h = find(net, &nf_ct_zone_dflt, &tuple);
	if (!h)
		return false;
	ct = nf_ct_tuplehash_to_ctrack(h);
	known = or_acker_tracked_window(ct, NF_CT_DIRECTION(h), window);
	/* nf_ct_put() would need the module. */
	nf_conntrack_put(&ct->ct_general);
	return known;
}
#else
void or_acker_tracker_get(struct or_acker_net *an)
{
}

static void or_acker_tracker_put(void)
{
}

static bool or_acker_ask_tracker(struct net *net, const struct nic_ts_key *key,
				 struct or_acker_window *window)
{
	return false;
}
#endif

/*
 * Return whether a receiver takes data of the connection. @skp: its socket, with a reference for
 * sock_gen_put(), or NULL.
 */
static bool or_acker_ask(struct or_acker_net *an, const struct nic_ts_key *key,
			 const struct or_acker_sub *sub, int ifindex,
			 struct or_acker_window *window, struct sock **skp)
{
	*skp = or_acker_ask_socket(an->net, key, sub, ifindex, window);
	return *skp || (rcu_dereference(an->conf)->forward &&
			or_acker_ask_tracker(an->net, key, window));
}

/* sock_gen_put(), if there is a socket. */
static void or_acker_sock_put(struct sock *sk)
{
	if (sk)
		sock_gen_put(sk);
}

static void or_acker_refuse(struct or_acker_net *an, const struct nic_ts_key *key,
			    enum or_acker_stat_id id, enum or_acker_flow_event event)
{
	or_acker_count(an, id);
	trace_or_acker_flow(key, event, READ_ONCE(an->nflows));
}

/* The way of OR-ACKs to the other end of a socket: that of its ACKs. */
static void or_acker_via(const struct sock *sk, const struct nic_ts_key *key, struct or_via *via)
{
	*via = (struct or_via) {
		.uid = sock_net_uid(sock_net(sk), NULL), .sport = key->lport, .dport = key->rport,
	};
	if (sk->sk_state == TCP_NEW_SYN_RECV) {
		via->oif = inet_rsk(inet_reqsk(sk))->ir_iif;
		via->mark = inet_rsk(inet_reqsk(sk))->ir_mark;
		return;
	}
	via->oif = READ_ONCE(sk->sk_bound_dev_if);
	via->mark = READ_ONCE(sk->sk_mark);
	via->uid = sock_net_uid(sock_net(sk), sk);
}

/* The owner of a packet, for or_acker_owner_find(). */
struct or_acker_owner {
	struct or_acker_net	*an;
	const struct nic_ts_key	*key;	/* the connection */
	bool			all;	/* mode all: it needs no subscriber */
	bool			known;	/* there is a subscriber, or it needs none */
	bool			link;	/* its addresses are link-local ones */
	struct nic_ts_key	pair;	/* key of the subscriber */
	struct sock		*sk;	/* with a reference; NULL: it has none here */
	struct or_acker_window	window;
};

/* Return whether a subscriber and a receiver own it. @ifindex: if the subscriber names none. */
static bool or_acker_owner_try(struct or_acker_owner *o, u32 scope, int ifindex)
{
	struct or_acker_sub *sub;

	o->pair = or_acker_pair(o->key, scope);
	sub = or_acker_sub_find(o->an, &o->pair);
	if (!sub && !o->all)
		return false;
	o->known = true;
	return or_acker_ask(o->an, o->key, sub, ifindex, &o->window, &o->sk);
}

static int or_acker_owner_above(struct net_device *dev, struct netdev_nested_priv *priv)
{
	struct or_acker_owner *o = priv->data;

	return net_eq(dev_net(dev), o->an->net) && (o->link || netif_is_l3_master(dev)) &&
	       or_acker_owner_try(o, dev->ifindex, dev->ifindex);
}

/*
 * A link-local address belongs to @dev, or to a VLAN, bridge, bond or macvlan on top of it; any
 * other may belong to a VRF of one of these. It is the one with both a subscriber and a socket.
 */
static bool or_acker_owner_find(struct or_acker_owner *o, struct net_device *dev)
{
	struct netdev_nested_priv priv = { .data = o };

	o->link = or_acker_link_local(o->key);
	if (!o->link && or_acker_owner_try(o, 0, dev->ifindex))
		return true;
	/* Nobody has subscribed in a VRF. */
	if (!o->link && !o->all && !READ_ONCE(o->an->nscoped))
		return false;
	return or_acker_owner_above(dev, &priv) ||
	       netdev_walk_all_upper_dev_rcu(dev, or_acker_owner_above, &priv);
}

/*
 * Return whether the socket of a flow accepts a packet outside of the window that was read
 * last. Not inlined: most packets do not get here.
 */
static noinline bool or_acker_flow_takes(struct or_acker_flow *f,
					 const struct nic_ts_packet *packet, int ifindex)
{
	struct or_acker_window window;
	struct sock *sk;

	if (!or_acker_ask(f->an, &f->key, f->sub, ifindex, &window, &sk)) {
		or_acker_refuse(f->an, &f->key, OR_ACKER_NO_SOCKET,
				OR_ACKER_FLOW_NO_SOCKET);
		return false;
	}
	or_acker_sock_put(sk);
	spin_lock(&f->lock);
	or_acker_track_set_window(&f->track, &window);
	spin_unlock(&f->lock);
	if (or_acker_window_has(&window, packet->seq))
		return true;
	or_acker_refuse(f->an, &f->key, OR_ACKER_OUTSIDE, OR_ACKER_FLOW_OUTSIDE);
	return false;
}

/* A flow of the connection that was found, in no table yet; NULL: no memory. */
static struct or_acker_flow *or_acker_flow_make(struct or_acker_net *an,
						const struct or_acker_owner *owner)
{
	struct or_acker_flow *f = sock_charged_zalloc(or_acker_flow_cache, owner->sk);

	if (!f)
		return NULL;
	f->key = *owner->key;
	f->an = an;
	spin_lock_init(&f->lock);
	INIT_LIST_HEAD(&f->due_node);
	INIT_LIST_HEAD(&f->wait_node);
	f->last_packet = jiffies;
	/* See struct or_replay. The connection's secret number hides the uptime. */
	or_acker_track_init(&f->track, &owner->window,
			    (u32)(div_u64(ktime_get_ns(), NSEC_PER_USEC) +
				  siphash(&f->key, sizeof(f->key), &an->secret)));
	return f;
}

/*
 * Put a flow into the table, and to its subscriber. Returns the flow of the connection, which is
 * not @f if another CPU had a packet of it; -ENOSPC: the table is full; -ENOENT: no
 * subscriber; or another error of the table.
 */
static struct or_acker_flow *or_acker_flow_insert(struct or_acker_net *an,
						  const struct or_acker_conf *conf,
						  const struct or_acker_owner *owner,
						  struct or_acker_flow *f)
{
	struct or_acker_flow *old;
	struct or_acker_sub *sub;

	lockdep_assert_held(&an->lock);
	if (an->nflows >= or_acker_value(conf, OR_ACKER_P_MAX_FLOWS))
		return ERR_PTR(-ENOSPC);
	/* Under the lock it stays in the table. */
	sub = or_acker_sub_find(an, &owner->pair);
	if (!sub && conf->all)
		sub = or_acker_sub_add(an, &owner->pair);
	if (!sub)
		return ERR_PTR(-ENOENT);
	f->sub = sub;
	old = rhashtable_lookup_get_insert_fast(&an->flows, &f->node,
						or_acker_flow_params);
	if (old)
		return old;
	refcount_inc(&sub->ref);
	if (!sub->nflows++)
		list_del_init(&sub->unused);
	WRITE_ONCE(an->nflows, an->nflows + 1);
	return f;
}

/*
 * A packet is of a sender that has not subscribed. This host's own data was in no queue. Once a
 * tick the share is updated: the first OR-ACK after a rest has to know it.
 */
static void or_acker_count_without(const struct or_acker_dev *ad, const struct sk_buff *skb,
				   const struct nic_ts_packet *packet)
{
	struct or_acker_link *link = ad->link;
	u32 class, tick = (u32)jiffies;

	or_acker_count(ad->an, OR_ACKER_NO_SUBSCRIBER);
	or_acker_add(ad->an, OR_ACKER_BYTES_WITHOUT, packet->payload);
	if (or_acker_local(skb))
		return;
	class = or_acker_class(skb, packet->tos);
	this_cpu_add(link->data->without[class], or_acker_share_units(packet->payload));
	if (READ_ONCE(link->tick[class]) == tick)
		return;
	WRITE_ONCE(link->tick[class], tick);
	or_acker_others(link, class, ktime_get_ns());
}

/*
 * Find the subscriber and the socket of a packet, the latter with a reference. False: it has
 * none, which is counted.
 */
static bool or_acker_owner_get(struct or_acker_owner *o, const struct or_acker_dev *ad,
			       const struct sk_buff *skb, const struct nic_ts_packet *packet)
{
	if (or_acker_owner_find(o, skb->dev)) {
		if (or_acker_window_has(&o->window, packet->seq))
			return true;
		or_acker_sock_put(o->sk);
		or_acker_refuse(o->an, &packet->key, OR_ACKER_OUTSIDE, OR_ACKER_FLOW_OUTSIDE);
	} else if (o->known) {
		or_acker_refuse(o->an, &packet->key, OR_ACKER_NO_SOCKET,
				OR_ACKER_FLOW_NO_SOCKET);
	} else {
		or_acker_count_without(ad, skb, packet);
	}
	return false;
}

/* Count a connection that gets no flow, by the error of or_acker_flow_insert(). */
static void or_acker_flow_refused(struct or_acker_net *an, const struct nic_ts_key *key,
				  int err)
{
	switch (err) {
	case -ENOSPC:
		or_acker_refuse(an, key, OR_ACKER_FLOW_FULL, OR_ACKER_FLOW_NO_ROOM);
		break;
	case -ENOENT:
		or_acker_count(an, OR_ACKER_NO_SUBSCRIBER);
		break;
	default:
		or_acker_refuse(an, key, OR_ACKER_FLOW_MEMORY, OR_ACKER_FLOW_NO_MEMORY);
		break;
	}
}

/*
 * Add a flow for @packet, whose connection has none. Returns it, in the table and without a
 * reference, or NULL. Not inlined: most packets do not get here.
 */
static noinline struct or_acker_flow *
or_acker_flow_add(const struct or_acker_dev *ad, const struct or_acker_conf *conf,
		  const struct sk_buff *skb, const struct nic_ts_packet *packet)
{
	struct or_acker_net *an = ad->an;
	struct or_acker_owner owner = { .an = an, .key = &packet->key, .all = conf->all };
	struct or_acker_flow *f, *found;
	struct or_via via;

	if (!or_acker_owner_get(&owner, ad, skb, packet))
		return NULL;
	f = or_acker_flow_make(an, &owner);
	if (owner.sk)
		or_acker_via(owner.sk, owner.key, &via);
	or_acker_sock_put(owner.sk);
	if (!f) {
		or_acker_flow_refused(an, &packet->key, -ENOMEM);
		return NULL;
	}
	spin_lock(&an->lock);
	found = or_acker_flow_insert(an, conf, &owner, f);
	spin_unlock(&an->lock);
	if (found == f) {
		or_acker_count(an, OR_ACKER_FLOW_NEW);
		if (owner.sk)
			or_port_route_via(&f->sub->route, &via);
		else
			or_acker_count(an, OR_ACKER_FLOW_FORWARD);
		trace_or_acker_flow(&f->key, OR_ACKER_FLOW_IS_NEW, READ_ONCE(an->nflows));
		return f;
	}
	kmem_cache_free(or_acker_flow_cache, f);
	if (!IS_ERR(found))
		return found;
	or_acker_flow_refused(an, &packet->key, PTR_ERR(found));
	return NULL;
}

/* End a flow, unless a CPU has it in a list: then later. */
static void or_acker_flow_end(struct or_acker_flow *f, enum or_acker_stat_id id,
			      enum or_acker_flow_event event)
{
	struct or_acker_net *an = f->an;
	struct or_acker_sub *sub = f->sub;
	bool busy;

	spin_lock_bh(&f->lock);
	busy = f->dead || f->track.due || f->track.waiting;
	if (!busy) {
		f->dead = true;
		spin_lock(&sub->lock);
		if (rcu_access_pointer(sub->newest) == f)
			RCU_INIT_POINTER(sub->newest, NULL);
		spin_unlock(&sub->lock);
	}
	spin_unlock_bh(&f->lock);
	if (busy)
		return;

	spin_lock_bh(&an->lock);
	rhashtable_remove_fast(&an->flows, &f->node, or_acker_flow_params);
	WRITE_ONCE(an->nflows, an->nflows - 1);
	if (!--sub->nflows && !sub->dead)
		list_add_tail(&sub->unused, &an->unused);
	spin_unlock_bh(&an->lock);
	or_acker_count(an, id);
	trace_or_acker_flow(&f->key, event, READ_ONCE(an->nflows));
	call_rcu(&f->rcu, or_acker_flow_free);
}

/* Load of this CPU --------------------------------------------------------- */

/*
 * Load of a CPU, for all namespaces: @load under @lock, which only this CPU takes, apart from
 * timers that moved here from a CPU that went offline.
 */
struct or_acker_cpu_load {
	spinlock_t		lock;	/* load; round and busy_tat_ns of or_acker_cpu */
	struct or_acker_load	load;
};

static DEFINE_PER_CPU(struct or_acker_cpu_load, or_acker_cpu_loads) = {
	.lock = __SPIN_LOCK_UNLOCKED(or_acker_cpu_loads.lock),
};

/* Idle time of this CPU since it is up, ns; without NO_HZ as of the last tick. */
static u64 or_acker_idle_ns(void)
{
	int cpu = smp_processor_id();
	u64 idle_us = get_cpu_idle_time_us(cpu, NULL);

	if (idle_us != -1ULL)
		return (idle_us + get_cpu_iowait_time_us(cpu, NULL)) * NSEC_PER_USEC;
	return kcpustat_cpu(cpu).cpustat[CPUTIME_IDLE] +
	       kcpustat_cpu(cpu).cpustat[CPUTIME_IOWAIT];
}

/* Return whether this CPU has no idle time. Read locklessly: one OR-ACK does not matter. */
static bool or_acker_cpu_busy(void)
{
	return this_cpu_read(or_acker_cpu_loads.load.each_ns);
}

/*
 * Return whether this CPU has no time for an OR-ACK of the namespace. Batches that arrive as
 * one packet, and packets of this host, are then ignored: the lookup of a flow costs, too.
 */
static bool or_acker_busy(const struct or_acker_net *an, u64 now_ns)
{
	return or_acker_cpu_busy() &&
	       !or_acker_bucket_has(READ_ONCE(this_cpu_ptr(an->cpus)->busy_tat_ns), now_ns) &&
	       or_acker_value(rcu_dereference(an->conf), OR_ACKER_P_BUSY_SHARE);
}

/* Return whether or_acker_busy() applies to the packet. */
static __always_inline bool or_acker_limits(const struct sk_buff *skb)
{
	return skb_is_gso(skb) || or_acker_local(skb);
}

/* An OR-ACK took the time from @from_ns until now. */
static void or_acker_spent(struct or_acker_cpu *ac, const struct or_acker_conf *conf,
			   u64 from_ns, bool local)
{
	struct or_acker_cpu_load *cl = this_cpu_ptr(&or_acker_cpu_loads);
	u32 share = or_acker_value(conf, OR_ACKER_P_BUSY_SHARE);
	u64 now_ns, tat_ns;
	u32 cost_ns;

	if (!share)
		return;
	now_ns = ktime_get_ns();
	cost_ns = or_acker_cost_ns(now_ns - from_ns, local);
	spin_lock(&cl->lock);
	or_acker_load_spent(&cl->load, cost_ns, &ac->round);
	WRITE_ONCE(ac->time_tat_ns, or_acker_time_take(ac->time_tat_ns, now_ns, cost_ns));
	if (or_acker_load_ages(&cl->load, now_ns))
		or_acker_load_update(&cl->load, now_ns, or_acker_idle_ns());
	tat_ns = ac->busy_tat_ns;
	/* Those of single packets are not limited, and must not add up. */
	if (or_acker_bucket_has(tat_ns, now_ns))
		WRITE_ONCE(ac->busy_tat_ns,
			   or_acker_bucket_take(tat_ns, now_ns,
						or_acker_load_gap(&cl->load, share)));
	spin_unlock(&cl->lock);
}

/* Packets ------------------------------------------------------------------ */

/* Set the timer of this CPU, also one that is on another CPU since this one was off. */
static void or_acker_arm(struct or_acker_cpu *ac, ktime_t at)
{
	lockdep_assert_held(&ac->lock);
	ac->armed = true;
	ac->away = false;
	hrtimer_start(&ac->timer, at, HRTIMER_MODE_ABS_PINNED_SOFT);
}

static void or_acker_queue(struct or_acker_flow *f, enum or_acker_next next, u64 wait_ns)
{
	struct or_acker_cpu *ac = this_cpu_ptr(f->an->cpus);

	spin_lock(&ac->lock);
	if (next == OR_ACKER_NEXT_SEND) {
		list_add_tail(&f->due_node, &ac->due);
		tasklet_schedule(&ac->tasklet);
	} else {
		f->wait_ns = wait_ns;
		list_add_tail(&f->wait_node, &ac->waiting);
		if (!ac->armed)
			or_acker_arm(ac, ns_to_ktime(wait_ns));
		else if (unlikely(ac->away))
			or_acker_arm(ac, hrtimer_get_expires(&ac->timer));
	}
	spin_unlock(&ac->lock);
}

/* Note the timestamp of the newest packet, and its time for the aging. */
static void or_acker_flow_stamp(struct or_acker_flow *f, const struct nic_ts_stamp *stamp)
{
	unsigned long now = jiffies;

	lockdep_assert_held(&f->lock);
	f->hw_ns = stamp->hw_ns;
	f->hw_domain = stamp->hw_domain;
	f->hw_epoch = stamp->hw_epoch;
	if (f->last_packet != now)
		/* The aging reads it locklessly. */
		WRITE_ONCE(f->last_packet, now);
}

/* The newest packet of a flow came from another device than the one before it. */
static noinline void or_acker_flow_link(struct or_acker_flow *f, struct or_acker_link *link)
{
	lockdep_assert_held(&f->lock);
	if (f->link)
		or_acker_link_put(f->link);
	if (link)
		refcount_inc(&link->ref);
	f->link = link;
}

/* Note the fields of the newest packet that an OR-ACK needs. */
static void or_acker_flow_note(struct or_acker_flow *f, const struct or_acker_dev *ad,
			       const struct sk_buff *skb, const struct nic_ts_packet *packet,
			       const struct nic_ts_stamp *stamp)
{
	struct or_acker_link *link;

	or_acker_flow_stamp(f, stamp);
	f->tos = packet->tos;
	f->class = or_acker_class(skb, packet->tos);
	f->local = or_acker_local(skb);
	f->track.costly = ad->costly;
	link = f->local ? NULL : ad->link;
	if (unlikely(f->link != link))
		or_acker_flow_link(f, link);
	f->priority = skb_vlan_tag_present(skb) ?
		      (skb_vlan_tag_get(skb) & VLAN_PRIO_MASK) >> VLAN_PRIO_SHIFT :
		      rt_tos2priority(packet->tos);
}

/* Account for a packet, or for several as one; under the lock. Return what to queue it for. */
static enum or_acker_next or_acker_flow_packet(struct or_acker_flow *f,
					       const struct or_acker_conf *conf,
					       const struct or_acker_packet *p, u64 *wait_ns)
{
	enum or_acker_next next;

	lockdep_assert_held(&f->lock);
	if (f->link)
		this_cpu_add(f->link->data->with[f->class], or_acker_share_units(p->payload));
	next = or_acker_track_packet(&f->track, &conf->rules, &f->sub->path, p);
	if (next == OR_ACKER_NEXT_WAIT) {
		f->wait_cpu = smp_processor_id();
		*wait_ns = or_acker_track_wait_ns(&f->track, &conf->rules);
	}
	return next;
}

/* Count @payload, and do what or_acker_flow_packet() has returned. */
static void or_acker_flow_next(struct or_acker_flow *f, enum or_acker_next next, u64 wait_ns,
			       u32 payload)
{
	or_acker_add(f->an, OR_ACKER_BYTES_WITH, payload);
	if (next == OR_ACKER_NEXT_QUIET)
		or_acker_count(f->an, OR_ACKER_ACK_NOT_AT_END);
	else if (next != OR_ACKER_NEXT_NOTHING)
		or_acker_queue(f, next, wait_ns);
}

static u32 or_acker_headers(const struct nic_ts_key *key)
{
	return key->family == AF_INET ? OR_ACKER_HEADERS4 : OR_ACKER_HEADERS6;
}

/* A packet, as the decisions take it. */
static struct or_acker_packet or_acker_packet_of(const struct sk_buff *skb,
						 const struct nic_ts_packet *packet,
						 const struct nic_ts_stamp *stamp)
{
	return (struct or_acker_packet) {
		.stamp_ns = stamp->ns,
		.seq = packet->seq,
		.payload = packet->payload,
		.headers = or_acker_headers(&packet->key),
		.segs = skb_is_gso(skb) ? max_t(u32, skb_shinfo(skb)->gso_segs, 1) : 1,
		.end = packet->flags & (NIC_TS_TCP_PSH | NIC_TS_TCP_FIN),
	};
}

/* Trains ------------------------------------------------------------------- */

/**
 * struct or_acker_cpu_train - packets of one flow that come in on a CPU in a row
 * @f:		their flow; NULL: there is no train
 * @last:	flow of the last packet that was looked up; compared only. A train begins behind the
 *		second packet in a row, as it costs more than it saves if there is no third
 * @receiver:	tap that they come from
 * @voided:	or_acker_trains_voided when it began
 * @train:	these packets
 * @stamp:	of the newest
 * @tag:	of the VLAN, and whether there is one, as all of them have it
 * @tos:	of all of them
 *
 * Most packets of a busy flow come right behind another one of it. They are compared with that
 * one, and added up here without a lookup and without the lock of the flow. They are accounted for
 * when the train ends: by a packet that does not continue it, when it is full, and before an
 * OR-ACK is decided on.
 *
 * It is this CPU's alone, with BH disabled. @f is in the list of waiting flows of this CPU, and a
 * flow that waits does not end: so it is there as long as the train. What takes it from that list
 * ends the train. If that is another CPU, as this one went offline, it declares all trains
 * void by or_acker_trains_voided: they are dropped, and @f is not looked at. It is freed a grace
 * period later, so that a reader under RCU who finds the former number may still look.
 */
struct or_acker_cpu_train {
	struct or_acker_flow	*f;
	const struct or_acker_flow *last;
	struct nic_ts_receiver	*receiver;
	u64			voided;
	struct or_acker_train	train;
	struct nic_ts_stamp	stamp;
	u32			tag;
	u8			tos;
};

static DEFINE_PER_CPU(struct or_acker_cpu_train, or_acker_trains);
static atomic64_t or_acker_trains_voided = ATOMIC64_INIT(0);

static bool or_acker_train_valid(const struct or_acker_cpu_train *ct)
{
	return ct->voided == atomic64_read(&or_acker_trains_voided);
}

/* End a train: account for its packets. Under RCU. */
static void or_acker_train_end(struct or_acker_cpu_train *ct)
{
	struct or_acker_flow *f = ct->f;
	const struct or_acker_conf *conf;
	struct or_acker_packet p;
	enum or_acker_next next;
	u64 wait_ns = 0;

	ct->f = NULL;
	if (!ct->train.segs || !or_acker_train_valid(ct))
		return;
	test_delay_atomic();
	conf = rcu_dereference(f->an->conf);
	spin_lock(&f->lock);
	if (unlikely(f->dead)) {
		spin_unlock(&f->lock);
		return;
	}
	p = or_acker_train_packet(&ct->train, &f->track, or_acker_headers(&f->key));
	if (p.stamp_ns == ct->train.stamp_ns)
		or_acker_flow_stamp(f, &ct->stamp);
	next = or_acker_flow_packet(f, conf, &p, &wait_ns);
	spin_unlock(&f->lock);
	or_acker_flow_next(f, next, wait_ns, p.payload);
}

/* End the train of a flow on this CPU, if there is one. */
static void or_acker_train_end_of(const struct or_acker_flow *f)
{
	struct or_acker_cpu_train *ct = this_cpu_ptr(&or_acker_trains);

	if (ct->f == f)
		or_acker_train_end(ct);
}

/* A flow was taken from the list of waiting flows of @ac. */
static void or_acker_train_leave(const struct or_acker_cpu *ac, const struct or_acker_flow *f)
{
	if (likely(ac == this_cpu_ptr(f->an->cpus)))
		or_acker_train_end_of(f);
	else
		atomic64_inc(&or_acker_trains_voided);
}

static u32 or_acker_tag(const struct sk_buff *skb)
{
	return skb_vlan_tag_present(skb) ? skb_vlan_tag_get(skb) | 1U << 16 : 0;
}

/*
 * Begin a train behind a packet of a flow. Not on RT, where another context may run on this CPU
 * meanwhile.
 */
static void or_acker_train_start(struct or_acker_flow *f, const struct or_acker_conf *conf,
				 struct nic_ts_receiver *receiver, const struct sk_buff *skb)
{
	struct or_acker_cpu_train *ct = this_cpu_ptr(&or_acker_trains);

	lockdep_assert_held(&f->lock);
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		return;
	if (ct->last != f) {
		ct->last = f;
		return;
	}
	if (!f->track.waiting || f->wait_cpu != smp_processor_id())
		return;
	ct->f = f;
	ct->receiver = receiver;
	ct->voided = atomic64_read(&or_acker_trains_voided);
	ct->tag = or_acker_tag(skb);
	ct->tos = f->tos;
	or_acker_train_begin(&ct->train, &f->track, &conf->rules);
}

/*
 * Add a packet to the train of this CPU if it continues that, else end the train. Return whether
 * it was added.
 */
static __always_inline bool or_acker_train_take(struct nic_ts_receiver *receiver,
						const struct sk_buff *skb,
						const struct nic_ts_packet *packet,
						const struct nic_ts_stamp *stamp)
{
	struct or_acker_cpu_train *ct = this_cpu_ptr(&or_acker_trains);
	struct or_acker_flow *f = ct->f;

	if (!f)
		return false;
	/* Of a void train the flow is not looked at. */
	if (ct->train.next_seq != packet->seq || ct->receiver != receiver ||
	    !or_acker_train_valid(ct) || nic_ts_key_differs(&packet->key, &f->key) ||
	    !or_acker_train_continues(&ct->train, &f->track.window, packet->seq) ||
	    ct->tos != packet->tos || ct->tag != or_acker_tag(skb) || or_acker_limits(skb)) {
		if (ct->train.segs)
			or_acker_train_end(ct);
		else
			ct->f = NULL;
		return false;
	}
	ct->stamp = *stamp;
	if (or_acker_train_add(&ct->train, stamp->ns, packet->payload,
			       packet->flags & (NIC_TS_TCP_PSH | NIC_TS_TCP_FIN)))
		or_acker_train_end(ct);
	return true;
}

/* OR-ACKs ------------------------------------------------------------------ */

/* Why an OR-ACK is sent now. */
enum or_acker_how {
	OR_ACKER_HOW_DUE,	/* the flow was in the list of flows that are due */
	OR_ACKER_HOW_WAITED,	/* its time has come */
	OR_ACKER_HOW_TELL,	/* a drain begins */
};

/*
 * Decide whether the flow may have an OR-ACK. If so, its tokens are taken, and @key and
 * @caps are set by or_acker_sub_key().
 */
static enum or_acker_verdict or_acker_allows(struct or_acker_cpu *ac,
					     struct or_acker_flow *f,
					     const struct or_acker_conf *conf,
					     enum or_acker_why why, u64 now_ns, u8 *key,
					     u16 *caps)
{
	u32 cost = f->key.family == AF_INET ? OR_ACKER_COST4 : OR_ACKER_COST6;
	enum or_acker_verdict verdict = OR_ACKER_NO_SUB;
	struct or_acker_sub *sub = f->sub;

	lockdep_assert_held(&f->lock);
	/* Read locklessly: one OR-ACK too many does not matter. */
	if (READ_ONCE(sub->dead))
		return verdict;
	if (!or_acker_bucket_has(READ_ONCE(ac->time_tat_ns), now_ns) &&
	    or_acker_value(conf, OR_ACKER_P_BUSY_SHARE))
		return OR_ACKER_HELD_TIME;
	spin_lock(&sub->lock);
	if (or_acker_sub_key(sub, conf->all, key, caps)) {
		spin_lock(&ac->lock);
		verdict = or_acker_admit(&f->track, &sub->path, &conf->rules, &ac->tat_ns,
					 or_acker_cpu_interval_ns(conf), cost, now_ns);
		spin_unlock(&ac->lock);
		if (verdict == OR_ACKER_ADMITTED) {
			sub->acks++;
			if (rcu_access_pointer(sub->newest) != f)
				rcu_assign_pointer(sub->newest, f);
			if (why == OR_ACKER_WHY_SILENCE)
				or_acker_path_probed(&sub->path);
		}
	}
	spin_unlock(&sub->lock);
	return verdict;
}

/*
 * Convert a timestamp to CLOCK_TAI. If the offset from CLOCK_MONOTONIC changed, the clock was
 * stepped: slewing changes both alike. The stamp is by the offset that belongs to @steps: no
 * CPU may send one by the new offset with the former number. Two CPUs that notice a step at
 * once may count it twice, which costs a receiver nothing.
 */
static u64 or_acker_tai(u64 stamp_ns, u32 *steps)
{
	s64 offset;
	u64 tai_ns;
	int before;

	do {
		/* Before the clock is read; pairs with the cmpxchg below, which is after that. */
		before = atomic_read_acquire(&or_acker_tai_steps);
		tai_ns = ktime_to_ns(ktime_mono_to_any(ns_to_ktime(stamp_ns), TK_OFFS_TAI));
		offset = tai_ns - stamp_ns;
		/* A CPU that finds the new offset here finds its step below. */
		if (likely(offset == atomic64_read_acquire(&or_acker_tai_offset)))
			continue;
		if (atomic_cmpxchg(&or_acker_tai_steps, before, before + 1) != before)
			continue;
		/* Pairs with the second acquire. */
		atomic64_set_release(&or_acker_tai_offset, offset);
		before++;
	} while (unlikely(atomic_read(&or_acker_tai_steps) != before));
	*steps = before;
	return tai_ns;
}

/* 0, odd, even: three kinds of clock never have the same domain. */
static u32 or_acker_tai_which(u32 steps)
{
	return 1 + 2 * (steps & 127);
}

static u32 or_acker_nic_which(u32 domain, u16 epoch, u8 error)
{
	/* Those that are not synchronised are hidden: another clock. */
	return 2 + 2 * ((2 * (domain * 31 + epoch) + (error == OR_CLOCK_UNSYNCED)) % 127);
}

/* The error of the configured clock now. */
static u8 or_acker_clock_error(const struct or_acker_conf *conf)
{
	return conf->clock_until && ktime_get_coarse_boottime_ns() >= conf->clock_until ?
	       OR_CLOCK_UNSYNCED : conf->clock_error;
}

/* Write the timestamp of the newest packet, in the configured clock. */
static void or_acker_stamp(const struct or_acker_net *an,
			   const struct or_acker_conf *conf,
			   const struct or_acker_flow *f, bool synced,
			   struct or_ack *ack)
{
	u8 error = or_acker_clock_error(conf);
	u32 steps, which;

	lockdep_assert_held(&f->lock);
	/* The configured clock has the error. */
	if (conf->hardware && f->hw_ns) {
		ack->rx_ns = f->hw_ns;
		ack->nic = true;
		ack->clock_error = error;
		which = or_acker_nic_which(f->hw_domain, f->hw_epoch, error);
		or_acker_count(an, OR_ACKER_STAMP_HARDWARE);
	} else if (!conf->hardware && synced && error != OR_CLOCK_UNSYNCED) {
		ack->rx_ns = or_acker_tai(f->track.stamp_ns, &steps);
		ack->clock_error = error;
		which = or_acker_tai_which(steps);
		or_acker_count(an, OR_ACKER_STAMP_TAI);
	} else {
		ack->rx_ns = f->track.stamp_ns;
		ack->clock_error = OR_CLOCK_UNSYNCED;
		which = 0;
		or_acker_count(an, OR_ACKER_STAMP_SOFTWARE);
	}
	/* Only compared with itself, so it need not reveal how long this host has been up. */
	if (ack->clock_error == OR_CLOCK_UNSYNCED)
		ack->rx_ns = or_acker_hide_ns(ack->rx_ns, an->rx_random);
	ack->domain = (u8)(an->domain_base + which);
	/* Netlink shows it. It hardly ever changes. */
	if (READ_ONCE(f->sub->clock) != (OR_ACKER_CLOCK | ack->domain))
		WRITE_ONCE(f->sub->clock, OR_ACKER_CLOCK | ack->domain);
}

/**
 * or_acker_clock_read() - return whether a domain is that of a clock whose time is known now
 * @an: namespace
 * @domain: of its OR-ACKs
 * @ifindex: device that they are about; the clock of its NIC needs a map
 * @clock: set
 *
 * Context: any.
 */
bool or_acker_clock_read(const struct or_acker_net *an, u8 domain, int ifindex,
			 struct or_acker_clock *clock)
{
	u8 which = domain - an->domain_base;
	u64 now_ns = ktime_get_ns();
	struct nic_ts_stamp nic;
	u8 error = OR_CLOCK_UNSYNCED;
	u32 steps, error_ns;
	bool known;

	*clock = (struct or_acker_clock){ .nic = which && which % 2 == 0 };
	if (which % 2) {
		clock->ns = (s64)(or_acker_tai(now_ns, &steps) - now_ns);
		return which == or_acker_tai_which(steps);
	}
	if (which) {
		rcu_read_lock();
		error = or_acker_clock_error(rcu_dereference(an->conf));
		known = !nic_ts_dev_clock(dev_get_by_index_rcu(an->net, ifindex), now_ns, &nic,
					  &error_ns) &&
			which == or_acker_nic_which(nic.hw_domain, nic.hw_epoch, error);
		rcu_read_unlock();
		if (!known)
			return false;
		clock->ns = (s64)(nic.hw_ns - now_ns);
	}
	if (error == OR_CLOCK_UNSYNCED) {
		clock->ns = (s64)or_acker_hide_ns((u64)clock->ns, an->rx_random);
		clock->phc_ns = (s64)or_acker_hide_ns(0, an->rx_random);
	}
	return true;
}

static int or_acker_transmit(const struct or_acker_flow *f, const struct or_ack *ack,
			     const u8 *key, u8 tos, u32 priority)
{
	struct or_addrs addrs = {
		.family = f->key.family,
		.scope = f->sub->scope,
	};
	u8 msg[OR_ACK_LEN];

	memcpy(addrs.laddr, f->key.laddr, sizeof(addrs.laddr));
	memcpy(addrs.raddr, f->key.raddr, sizeof(addrs.raddr));
	or_ack_encode(ack, msg);
	or_sign(msg, sizeof(msg), key);
	return or_port_send_on(f->an->net, &addrs, &f->sub->route, msg, sizeof(msg), tos, priority);
}

/*
 * Return whether the sender of a flow is told to drain its path. If others fill the queue, its
 * silence would only leave the link to them.
 */
static bool or_acker_drains(struct or_acker_flow *f, u64 now_ns)
{
	lockdep_assert_held(&f->lock);
	return !f->dead && f->link && now_ns <= f->track.stamp_ns + OR_ACKER_DRAIN_DATA_NS &&
	       !or_acker_others(f->link, f->class, now_ns);
}

/* The OR-ACK of a flow that may be sent. */
static void or_acker_fill(struct or_acker_net *an, const struct or_acker_conf *conf,
			  struct or_acker_flow *f, u16 caps, u32 packets,
			  u64 now_ns, struct or_ack *ack, struct or_acker_report *report)
{
	lockdep_assert_held(&f->lock);
	or_acker_stamp(an, conf, f, caps & OR_CAP_SYNCED, ack);
	*report = or_acker_track_report(&f->track, now_ns);
	ack->hold_ns = report->hold_ns;
	ack->count = report->count;
	/* One that tells of a drain may cover none, but not say so. */
	ack->packets = clamp_t(u32, packets, 1, 255);
	ack->sport = ntohs(f->key.rport);
	ack->dport = ntohs(f->key.lport);
	ack->protocol = OR_PROTO_TCP;
	ack->others = f->link && or_acker_others(f->link, f->class, now_ns);
	ack->drain = or_acker_drain_on(&an->drain, now_ns) && caps & OR_CAP_DRAIN &&
		     or_acker_drains(f, now_ns);
	/* Beside a writer: one packet more or less does not matter. */
	if (ack->drain)
		or_acker_path_drains(&f->sub->path);
}

/* An OR-ACK to be sent, with the values of the flow that need its lock. */
struct or_acker_out {
	struct or_ack		ack;
	struct or_acker_report	report;
	enum or_acker_why	why;	/* what made it due */
	u32			packets;
	u32			credit;
	u32			priority;
	u8			tos;
	bool			local;
	u8			key[OR_KEY_LEN];
};

/* Decide on an OR-ACK for the packets since the last one. False: there are none. */
static bool or_acker_decide(struct or_acker_cpu *ac, struct or_acker_flow *f,
			    const struct or_acker_conf *conf, enum or_acker_how how, u64 now_ns,
			    struct or_acker_out *out, enum or_acker_verdict *verdict)
{
	struct or_acker_track *t = &f->track;
	u16 caps = 0;
	bool any;

	spin_lock(&f->lock);
	out->why = how == OR_ACKER_HOW_DUE ? t->why :
		   how == OR_ACKER_HOW_WAITED ? OR_ACKER_WHY_TIME : OR_ACKER_WHY_DRAIN;
	if (how == OR_ACKER_HOW_DUE)
		t->due = false;
	/* A flow that has gone meanwhile must not be the newest one of its subscriber. */
	any = !f->dead && (how != OR_ACKER_HOW_TELL || or_acker_drains(f, now_ns));
	/* A drain is told of without packets, too. */
	if (any)
		any = or_acker_track_take(t) || how == OR_ACKER_HOW_TELL;
	if (!any)
		goto unlock;
	out->ack.seq = t->seq;
	out->packets = t->packets;
	*verdict = or_acker_allows(ac, f, conf, out->why, now_ns, out->key, &caps);
	if (*verdict == OR_ACKER_ADMITTED)
		or_acker_fill(f->an, conf, f, caps, out->packets, now_ns, &out->ack,
			      &out->report);
	out->tos = f->tos;
	out->priority = f->priority;
	out->local = f->local;
	out->credit = t->credit;
unlock:
	spin_unlock(&f->lock);
	return any;
}

/* Send an OR-ACK that was admitted, and count it. Returns 0 or an error of the stack. */
static int or_acker_send(const struct or_acker_flow *f, const struct or_acker_out *out)
{
	struct or_acker_net *an = f->an;
	int err;

	err = or_acker_transmit(f, &out->ack, out->key, out->tos, out->priority);
	if (err) {
		or_acker_count(an, OR_ACKER_SEND_FAILED);
		return err;
	}
	or_acker_count(an, OR_ACKER_ACK);
	or_acker_count(an, OR_ACKER_ACK_BY_COUNT + out->why);
	if (out->ack.drain)
		or_acker_count(an, OR_ACKER_ACK_DRAIN);
	or_acker_add(an, OR_ACKER_ACK_PACKETS, out->packets);
	or_acker_add(an, OR_ACKER_ACK_IN_BYTES, out->report.bytes);
	or_acker_add(an, OR_ACKER_ACK_OUT_BYTES,
		     f->key.family == AF_INET ? OR_ACKER_COST4 : OR_ACKER_COST6);
	return 0;
}

/* Send an OR-ACK for the packets since the last one, if one may be sent. Return whether it was. */
static bool or_acker_ack(struct or_acker_cpu *ac, struct or_acker_flow *f, enum or_acker_how how)
{
	static const enum or_acker_stat_id held[] = {
		[OR_ACKER_HELD_CREDIT]	= OR_ACKER_NO_CREDIT,
		[OR_ACKER_HELD_SUB]	= OR_ACKER_LIMIT_SUBSCRIBER,
		[OR_ACKER_HELD_CPU]	= OR_ACKER_LIMIT_CPU,
		[OR_ACKER_HELD_TIME]	= OR_ACKER_LIMIT_TIME,
	};
	const struct or_acker_conf *conf = rcu_dereference(f->an->conf);
	enum or_acker_verdict verdict;
	u64 now_ns = ktime_get_ns();
	struct or_acker_out out = {};
	int err = 0;

	or_acker_train_end_of(f);
	if (!or_acker_decide(ac, f, conf, how, now_ns, &out, &verdict))
		return false;
	switch (verdict) {
	case OR_ACKER_ADMITTED:
		err = or_acker_send(f, &out);
		or_acker_spent(ac, conf, now_ns, out.local);
		verdict = err ? OR_ACKER_NOT_SENT : OR_ACKER_SENT;
		break;
	case OR_ACKER_NO_SUB:
		or_acker_flow_end(f, OR_ACKER_FLOW_UNSUBSCRIBED, OR_ACKER_FLOW_LOST_SUB);
		break;
	default:
		or_acker_count(f->an, held[verdict]);
		break;
	}
	trace_or_acker_ack(&f->key, &out.ack, verdict, out.packets, out.credit, err);
	return verdict == OR_ACKER_SENT;
}

/**
 * or_acker_notify() - tell a sender of data that a drain has begun
 * @sub:	subscriber that takes OR_DRAIN
 *
 * It has an OR-ACK about its flow that had the last one, if that had data lately.
 *
 * Context: process, RCU.
 * Return: it was sent.
 */
bool or_acker_notify(struct or_acker_sub *sub)
{
	struct or_acker_flow *f = rcu_dereference(sub->newest);
	bool sent;

	if (!f)
		return false;
	local_bh_disable();
	sent = or_acker_ack(this_cpu_ptr(f->an->cpus), f, OR_ACKER_HOW_TELL);
	local_bh_enable();
	return sent;
}

/* Sends for all that is due; nothing gets due on this CPU meanwhile. */
static void or_acker_tasklet(struct tasklet_struct *t)
{
	struct or_acker_cpu *ac = from_tasklet(ac, t, tasklet);
	struct or_acker_flow *f;

	rcu_read_lock();
	for (;;) {
		spin_lock(&ac->lock);
		f = list_first_entry_or_null(&ac->due, struct or_acker_flow, due_node);
		if (f)
			list_del_init(&f->due_node);
		spin_unlock(&ac->lock);
		if (!f)
			break;
		or_acker_ack(ac, f, OR_ACKER_HOW_DUE);
	}
	rcu_read_unlock();
}

/* A flow was first in the waiting list. Does it wait on, and until when? */
static bool or_acker_waited(struct or_acker_cpu *ac, struct or_acker_flow *f, u64 now_ns)
{
	const struct or_acker_conf *conf = rcu_dereference(f->an->conf);
	enum or_acker_next next;

	or_acker_train_leave(ac, f);
	spin_lock(&f->lock);
	next = or_acker_track_waited(&f->track, &conf->rules, &f->sub->path, now_ns);
	f->wait_ns = or_acker_track_wait_ns(&f->track, &conf->rules);
	spin_unlock(&f->lock);
	if (next == OR_ACKER_NEXT_QUIET)
		or_acker_count(f->an, OR_ACKER_ACK_NOT_AT_END);
	if (next == OR_ACKER_NEXT_SEND)
		or_acker_ack(ac, f, OR_ACKER_HOW_WAITED);
	return next == OR_ACKER_NEXT_WAIT;
}

static enum hrtimer_restart or_acker_timer(struct hrtimer *timer)
{
	struct or_acker_cpu *ac = container_of(timer, struct or_acker_cpu, timer);
	enum hrtimer_restart restart = HRTIMER_NORESTART;
	u64 now_ns = ktime_get_ns();
	struct or_acker_flow *f;

	rcu_read_lock();
	spin_lock(&ac->lock);
	/* Nobody else sets the timer meanwhile. */
	ac->away = false;
	for (;;) {
		f = list_first_entry_or_null(&ac->waiting, struct or_acker_flow,
					     wait_node);
		if (!f)
			break;
		if (f->wait_ns > now_ns) {
			hrtimer_set_expires(timer, ns_to_ktime(f->wait_ns));
			restart = HRTIMER_RESTART;
			ac->away = ac != this_cpu_ptr(f->an->cpus);
			break;
		}
		list_del_init(&f->wait_node);
		spin_unlock(&ac->lock);
		if (or_acker_waited(ac, f, now_ns)) {
			spin_lock(&ac->lock);
			list_add_tail(&f->wait_node, &ac->waiting);
		} else {
			spin_lock(&ac->lock);
		}
	}
	ac->armed = restart == HRTIMER_RESTART;
	spin_unlock(&ac->lock);
	rcu_read_unlock();
	return restart;
}

/* Received packets --------------------------------------------------------- */

/*
 * A packet with data may be one of a subscriber of the namespace of @ad. @receiver: a train may
 * follow it; NULL: other namespaces want to see each packet, too.
 */
static void or_acker_rx_net(const struct or_acker_dev *ad, struct nic_ts_receiver *receiver,
			    const struct sk_buff *skb, const struct nic_ts_packet *packet,
			    const struct nic_ts_stamp *stamp)
{
	struct or_acker_net *an = ad->an;
	const struct or_acker_conf *conf = rcu_dereference(an->conf);
	struct or_acker_packet p;
	enum or_acker_next next;
	struct or_acker_flow *f;
	u64 wait_ns = 0;

	f = rhashtable_lookup(&an->flows, &packet->key, or_acker_flow_params);
	if (!f) {
		f = or_acker_flow_add(ad, conf, skb, packet);
		if (!f)
			return;
	} else if (unlikely(!or_acker_window_has(&f->track.window, packet->seq)) &&
		   !or_acker_flow_takes(f, packet, skb->dev->ifindex)) {
		return;
	}
	p = or_acker_packet_of(skb, packet, stamp);

	spin_lock(&f->lock);
	if (unlikely(f->dead)) {
		/* The next packet makes a new one. */
		spin_unlock(&f->lock);
		return;
	}
	/* A device on top of the one that had it may have it again, as a port of Open vSwitch. */
	if (unlikely(f->link && ad->link != f->link && ad->soft && !or_acker_local(skb) &&
		     (s32)(packet->seq + packet->payload - f->track.seq) <= 0)) {
		spin_unlock(&f->lock);
		return;
	}
	or_acker_flow_note(f, ad, skb, packet, stamp);
	next = or_acker_flow_packet(f, conf, &p, &wait_ns);
	if (receiver)
		or_acker_train_start(f, conf, receiver, skb);
	spin_unlock(&f->lock);
	or_acker_flow_next(f, next, wait_ns, packet->payload);
}

/* or_acker_skips() - return the word of each CPU that is not 0 while the CPU is busy */
u32 __percpu *or_acker_skips(void)
{
	return &or_acker_cpu_loads.load.each_ns;
}

/**
 * or_acker_skip() - return whether a packet need not be parsed, because the CPU is busy
 * @receiver:	of a struct or_acker_tap
 * @skb:	the packet, before GRO; of any protocol
 *
 * Called while or_acker_cpu_busy(), see or_acker_skips().
 *
 * Context: as struct nic_ts_receiver.skip.
 */
bool or_acker_skip(struct nic_ts_receiver *receiver, const struct sk_buff *skb)
{
	const struct or_acker_tap *tap = container_of(receiver, struct or_acker_tap,
						      receiver);
	const struct or_acker_dev *ad;
	u64 now_ns;

	if (!or_acker_limits(skb))
		return false;
	now_ns = ktime_get_ns();
	hlist_for_each_entry_rcu(ad, &tap->devs, node)
		if (!or_acker_busy(ad->an, now_ns))
			return false;
	hlist_for_each_entry_rcu(ad, &tap->devs, node)
		or_acker_count(ad->an, OR_ACKER_BUSY);
	return true;
}

/* Return whether one namespace sees the packets of a device. */
static bool or_acker_tap_alone(const struct or_acker_tap *tap)
{
	const struct hlist_node *first = rcu_dereference(hlist_first_rcu(&tap->devs));

	return first && !rcu_access_pointer(hlist_next_rcu(first));
}

/*
 * The same as or_acker_rx(), for a packet with data that continues no train. Not inlined: a test
 * counts the calls.
 */
static noinline void or_acker_rx_any(struct nic_ts_receiver *receiver, const struct sk_buff *skb,
				     const struct nic_ts_packet *packet,
				     const struct nic_ts_stamp *stamp)
{
	const struct or_acker_tap *tap = container_of(receiver, struct or_acker_tap,
						      receiver);
	unsigned int bit = or_acker_laddr_bit(&packet->key);
	const struct or_acker_dev *ad;

	hlist_for_each_entry_rcu(ad, &tap->devs, node) {
		if (!test_bit(bit, ad->an->laddrs) && !READ_ONCE(ad->an->all))
			continue;
		if (or_acker_limits(skb) && or_acker_busy(ad->an, stamp->ns))
			or_acker_count(ad->an, OR_ACKER_BUSY);
		else
			or_acker_rx_net(ad, or_acker_tap_alone(tap) ? receiver : NULL,
					skb, packet, stamp);
	}
}

/**
 * or_acker_rx() - receive a TCP packet
 * @receiver:	of a struct or_acker_tap
 * @skb:	the packet, before GRO
 * @packet:	its headers
 * @stamp:	its timestamp
 *
 * Namespaces that have no subscriber at its local address cost a few instructions each. A packet
 * that continues a train is compared with the one before it, and no more.
 *
 * Context: as struct nic_ts_receiver.rx.
 */
void or_acker_rx(struct nic_ts_receiver *receiver, const struct sk_buff *skb,
		 const struct nic_ts_packet *packet, const struct nic_ts_stamp *stamp)
{
	/* A pure ACK says nothing about the path of data. */
	if (packet->payload && !or_acker_train_take(receiver, skb, packet, stamp))
		or_acker_rx_any(receiver, skb, packet, stamp);
}

/* Ends --------------------------------------------------------------------- */

static void or_acker_flow_look(struct or_acker_net *an, void *entry)
{
	unsigned long age = rcu_dereference(an->conf)->raw[OR_ACKER_P_FLOW_AGE] * HZ;
	struct or_acker_flow *f = entry;

	if (READ_ONCE(f->sub->dead))
		or_acker_flow_end(f, OR_ACKER_FLOW_UNSUBSCRIBED, OR_ACKER_FLOW_LOST_SUB);
	else if (time_after(jiffies, READ_ONCE(f->last_packet) + age))
		or_acker_flow_end(f, OR_ACKER_FLOW_AGED, OR_ACKER_FLOW_HAS_AGED);
}

/**
 * or_acker_age() - end some of the expired subscriptions and flows
 * @an:		namespace
 *
 * A call takes less than some ms. Calls that follow one another come to all.
 *
 * Context: process, may sleep; one at a time for each namespace.
 * Return: there are more to look at, which should be soon.
 */
bool or_acker_age(struct or_acker_net *an)
{
	bool subs = or_acker_sub_age(an);
	bool flows = or_acker_walk(&an->flow_walk, &an->flows, or_acker_flow_look, an);

	return !subs || !flows;
}

static void or_acker_cpus_init(struct or_acker_net *an)
{
	struct or_acker_cpu *ac;
	int cpu;

	for_each_possible_cpu(cpu) {
		ac = per_cpu_ptr(an->cpus, cpu);
		spin_lock_init(&ac->lock);
		INIT_LIST_HEAD(&ac->due);
		INIT_LIST_HEAD(&ac->waiting);
		tasklet_setup(&ac->tasklet, or_acker_tasklet);
		hrtimer_setup(&ac->timer, or_acker_timer, CLOCK_MONOTONIC,
			      HRTIMER_MODE_ABS_PINNED_SOFT);
	}
}

/* Stop timers and tasklets. The lists stay as they are, and are not read again. */
static void or_acker_cpus_stop(struct or_acker_net *an)
{
	struct or_acker_cpu *ac;
	int cpu;

	for_each_possible_cpu(cpu) {
		ac = per_cpu_ptr(an->cpus, cpu);
		hrtimer_cancel(&ac->timer);
		tasklet_kill(&ac->tasklet);
	}
}

/**
 * or_acker_trains_void() - end all trains, before flows that wait are freed
 *
 * A packet of another namespace that comes in on the same CPU ends a train, and may then start the
 * timer or the tasklet of its flow.
 *
 * Context: process, waits for RCU readers.
 */
void or_acker_trains_void(void)
{
	atomic64_inc(&or_acker_trains_voided);
	synchronize_rcu();
}

/* or_acker_tables_init() - make the tables, and the part of each CPU; return 0 or -ENOMEM */
int or_acker_tables_init(struct or_acker_net *an)
{
	int err;

	an->cpus = alloc_percpu_gfp(struct or_acker_cpu, GFP_KERNEL_ACCOUNT);
	if (!an->cpus)
		return -ENOMEM;
	or_acker_cpus_init(an);
	err = or_acker_sub_init(an);
	if (err)
		goto free_cpus;
	err = rhashtable_init(&an->flows, &or_acker_flow_params);
	if (err)
		goto sub_exit;
	return 0;

sub_exit:
	or_acker_sub_exit(an);
free_cpus:
	free_percpu(an->cpus);
	return err;
}

static void or_acker_flow_release(void *ptr, void *arg)
{
	struct or_acker_flow *f = ptr;

	call_rcu(&f->rcu, or_acker_flow_free);
}

/**
 * or_acker_tables_exit() - undo or_acker_tables_init()
 * @an:		namespace; no packet and no SUBSCRIBE comes any more, and it has no train
 *
 * Context: process, may sleep.
 */
void or_acker_tables_exit(struct or_acker_net *an)
{
	or_acker_cpus_stop(an);
	or_acker_walk_exit(&an->flow_walk);
	rhashtable_free_and_destroy(&an->flows, or_acker_flow_release, NULL);
	or_acker_sub_exit(an);
	free_percpu(an->cpus);
}

/* or_acker_flow_init() - make the state that all namespaces share; return 0 or -ENOMEM */
int __init or_acker_flow_init(void)
{
	or_acker_flow_cache = KMEM_CACHE(or_acker_flow, SLAB_HWCACHE_ALIGN);
	if (!or_acker_flow_cache)
		return -ENOMEM;
	return 0;
}

/** or_acker_flow_exit() - undo or_acker_flow_init(); no namespace is left */
void or_acker_flow_exit(void)
{
	or_acker_tracker_put();
	/* or_acker_flow_free() */
	rcu_barrier();
	kmem_cache_destroy(or_acker_flow_cache);
}
