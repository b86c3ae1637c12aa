// SPDX-License-Identifier: GPL-2.0
/*
 * labq: in-band telemetry of TCP over IPv4, see labq_telemetry.h.
 *
 *	data leaves the port of a switch with `telemetry`:
 *		record of (addresses, ports, sequence number after it) += the port
 *	ACK(number) arrives at the sender:
 *		take the record of this connection and number
 *
 * A record's place is a hash of its key. Another packet may take the place, and the ACK finds none
 * then. The TTL says which switch a packet has come to, so that one which is sent again does not
 * add to the record of its first transmission.
 */
#include <linux/jhash.h>
#include <linux/ip.h>
#include <linux/module.h>
#include <linux/spinlock.h>
#include <linux/tcp.h>
#include <linux/vmalloc.h>
#include <net/inet_sock.h>
#include <net/ip.h>

#include "labq.h"
#include "labq_telemetry.h"

/* Places of records: 17 MB, once a port has `telemetry`. */
#define LABQ_RECORDS_BITS	17

/* Check sequence, preamble and gap, which lengths of frames are without. */
#define LABQ_WIRE_BYTES		(4 + 8 + 12)

struct labq_record_key {
	__be32 saddr;
	__be32 daddr;
	__be16 sport;
	__be16 dport;
	u32 end_seq;
};

struct labq_record {
	struct labq_record_key key;
	struct labq_telemetry telemetry;
};

static DEFINE_SPINLOCK(labq_records_lock);
static struct labq_record *labq_records;

static struct labq_record *labq_record_of(const struct labq_record_key *key)
{
	BUILD_BUG_ON(sizeof(*key) != 16);
	return &labq_records[jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), 0) >>
			     (32 - LABQ_RECORDS_BITS)];
}

/* labq_telemetry_init() - have room for records; RTNL */
int labq_telemetry_init(void)
{
	if (!labq_records)
		labq_records = vzalloc(sizeof(*labq_records) << LABQ_RECORDS_BITS);
	return labq_records ? 0 : -ENOMEM;
}

/* labq_telemetry_exit() - no port is left, and no congestion control that takes records */
void labq_telemetry_exit(void)
{
	vfree(labq_records);
}

/* The key of a packet's record, and the switches before this one. False: not data of TCP. */
static bool labq_record_key(const struct sk_buff *skb, struct labq_record_key *key, u32 *hop)
{
	u32 offset = skb_network_offset(skb), len;
	const struct tcphdr *th;
	const struct iphdr *ip;
	struct tcphdr _th;
	struct iphdr _ip;

	ip = skb_header_pointer(skb, offset, sizeof(_ip), &_ip);
	if (!ip || ip->version != 4 || ip->protocol != IPPROTO_TCP)
		return false;
	th = skb_header_pointer(skb, offset + 4 * ip->ihl, sizeof(_th), &_th);
	if (!th)
		return false;
	len = ntohs(ip->tot_len) - 4 * ip->ihl - 4 * th->doff;
	if (!len)
		return false;
	*key = (struct labq_record_key) {
		ip->saddr, ip->daddr, th->source, th->dest, ntohl(th->seq) + len,
	};
	*hop = IPDEFTTL - 1 - ip->ttl;
	return *hop < LABQ_TELEMETRY_HOPS;
}

/* labq_telemetry_leave() - a packet has left its queue, whose length is without it; switch.lock */
void labq_telemetry_leave(struct labq_port *port, const struct sk_buff *skb)
{
	const struct labq_cb *cb = labq_cb((struct sk_buff *)skb);
	struct labq_record_key key;
	struct labq_record *record;
	u32 hop;

	port->tx_bytes += cb->bytes + LABQ_WIRE_BYTES;
	if (!port->cfg.telemetry || !labq_record_key(skb, &key, &hop))
		return;
	spin_lock(&labq_records_lock);
	record = labq_record_of(&key);
	record->key = key;
	record->telemetry.hops = hop + 1;
	record->telemetry.hop[hop] = (struct labq_hop) {
		.bps = labnic_rate_bytes(port->dev),
		.ns = (u32)ktime_get_ns(),
		.tx_bytes = port->tx_bytes,
		.queue_bytes = (u32)port->queues[cb->prio].length.bytes,
	};
	spin_unlock(&labq_records_lock);
}

/**
 * labq_telemetry_take() - what the ports said in the packet that an ACK is for
 * @sk: the sender's socket
 * @ack: number of the ACK
 * @to: becomes what they said
 *
 * Context: socket lock.
 *
 * Return: whether there is a record.
 */
bool labq_telemetry_take(const struct sock *sk, u32 ack, struct labq_telemetry *to)
{
	const struct inet_sock *inet = inet_sk(sk);
	struct labq_record_key key = {
		inet->inet_saddr, inet->inet_daddr, inet->inet_sport, inet->inet_dport, ack,
	};
	struct labq_record *record;
	bool found;

	if (!READ_ONCE(labq_records))
		return false;
	spin_lock_bh(&labq_records_lock);
	record = labq_record_of(&key);
	found = !memcmp(&record->key, &key, sizeof(key));
	if (found)
		*to = record->telemetry;
	spin_unlock_bh(&labq_records_lock);
	return found;
}
EXPORT_SYMBOL_GPL(labq_telemetry_take);
