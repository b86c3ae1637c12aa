// SPDX-License-Identifier: GPL-2.0
/*
 * Describe a topology, for experiments and plots.
 */
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "labnet.h"

/* Hosts of a subnet, numbered by the last byte of the address. */
#define PER_SUBNET	250

/**
 * node_addr() - a node's IPv4 address
 * @text: room for INET_ADDRSTRLEN
 *
 * Hosts are 10.0.0.2 to 10.0.0.250, 10.0.1.1 to 10.0.1.250 and so on, switches the
 * same in 10.128.0.0/9.
 */
void node_addr(const struct node *node, char *text)
{
	sprintf(text, "10.%u.%u.%u", node->is_switch ? 128 : 0, node->number / PER_SUBNET,
		node->number % PER_SUBNET + 1);
}

/**
 * node_addr6() - a node's IPv6 address: fd00::N, at a switch fd00::8000:N
 * @text: room for INET6_ADDRSTRLEN
 */
void node_addr6(const struct node *node, char *text)
{
	sprintf(text, "fd00::%s%x", node->is_switch ? "8000:" : "", node->number);
}

/**
 * describe_hosts() - write a line for each node: IPv4 address, IPv6 address, name
 */
void describe_hosts(const struct topo *t, const char *path)
{
	FILE *f = json_file_open(path);
	char addr[64], addr6[64];
	unsigned int i;

	for (i = 0; i < t->n_nodes; i++) {
		node_addr(&t->nodes[i], addr);
		node_addr6(&t->nodes[i], addr6);
		fprintf(f, "%s %s %s\n", addr, addr6, t->nodes[i].name);
	}
	json_file_close(f, path);
}

/* Pairs of hosts that are equally far apart, and the first of them. */
struct pair {
	uint32_t hops;
	uint64_t there_ns;
	uint64_t back_ns;
	uint32_t a, b;
};

/* Equal keys stay in the order of the hosts. */
static int compare_pairs(const void *x, const void *y)
{
	const struct pair *p = x, *q = y;

	if (p->hops != q->hops)
		return p->hops < q->hops ? -1 : 1;
	if (p->there_ns != q->there_ns)
		return p->there_ns < q->there_ns ? -1 : 1;
	if (p->back_ns != q->back_ns)
		return p->back_ns < q->back_ns ? -1 : 1;
	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return p->b < q->b ? -1 : p->b > q->b;
}

static bool same_class(const struct pair *p, const struct pair *q)
{
	return p->hops == q->hops && p->there_ns == q->there_ns && p->back_ns == q->back_ns;
}

/*
 * Each pair once. The way back takes as long as the way there would, as both
 * directions of a link are alike.
 */
static struct pair *all_pairs(const struct topo *t, unsigned int bytes, size_t *n)
{
	struct pair *pairs = xcalloc((size_t)t->n_hosts * t->n_hosts / 2, sizeof(*pairs));
	struct paths *there = paths_new(t), *back = paths_new(t);
	unsigned int a, b;

	*n = 0;
	for (b = 0; b < t->n_nodes; b++) {
		if (t->nodes[b].is_switch)
			continue;
		paths_find(t, b, bytes, there);
		paths_find(t, b, ACK_BYTES, back);
		for (a = 0; a < b; a++)
			if (!t->nodes[a].is_switch)
				pairs[(*n)++] = (struct pair){
					.hops = there->hops[a], .there_ns = there->ns[a],
					.back_ns = back->ns[a], .a = a, .b = b,
				};
	}
	paths_free(there);
	paths_free(back);
	qsort(pairs, *n, sizeof(*pairs), compare_pairs);
	return pairs;
}

static void put_pairs(struct json_writer *w, const struct topo *t)
{
	unsigned int mtu = MAX_MTU, i;
	struct pair *pairs;
	size_t n, at, end;

	for (i = 0; i < t->n_links; i++)
		if (t->links[i].mtu < mtu)
			mtu = t->links[i].mtu;
	pairs = all_pairs(t, mtu, &n);
	json_u64(w, "packet_bytes", mtu);
	json_u64(w, "ack_bytes", ACK_BYTES);
	json_u64(w, "diameter_links", n ? pairs[n - 1].hops : 0);
	json_open(w, "pairs", '[', false);
	for (at = 0; at < n; at = end) {
		for (end = at; end < n && same_class(&pairs[at], &pairs[end]); end++)
			;
		json_open(w, NULL, '{', true);
		json_u64(w, "links", pairs[at].hops);
		json_u64(w, "count", end - at);
		json_u64(w, "one_way_ns", pairs[at].there_ns);
		json_u64(w, "base_rtt_ns", pairs[at].there_ns + pairs[at].back_ns);
		json_open(w, "first", '[', true);
		json_string(w, NULL, t->nodes[pairs[at].a].name);
		json_string(w, NULL, t->nodes[pairs[at].b].name);
		json_close(w, ']');
		json_close(w, '}');
	}
	json_close(w, ']');
	free(pairs);
}

static void put_ports(struct json_writer *w, const struct topo *t, const struct node *node)
{
	unsigned int i;

	json_open(w, "ports", '[', false);
	for (i = 0; i < node->n_ports; i++) {
		const struct port *port = &node->ports[i];
		const struct link *link = &t->links[port->link];

		json_open(w, NULL, '{', true);
		json_string(w, "dev", port->dev);
		json_string(w, "peer", t->nodes[port->peer].name);
		json_string(w, "peer_dev", t->nodes[port->peer].ports[port->peer_port].dev);
		json_u64(w, "rate_bit_s", link->rate_bit);
		json_u64(w, "delay_ns", link->delay_ns);
		json_u64(w, "mtu", link->mtu);
		json_close(w, '}');
	}
	json_close(w, ']');
}

static void put_nodes(struct json_writer *w, const struct topo *t, bool switches)
{
	char addr[64];
	unsigned int i;

	json_open(w, switches ? "switches" : "hosts", '[', false);
	for (i = 0; i < t->n_nodes; i++) {
		const struct node *node = &t->nodes[i];

		if (node->is_switch != switches)
			continue;
		json_open(w, NULL, '{', false);
		json_string(w, "name", node->name);
		node_addr(node, addr);
		json_string(w, "addr", addr);
		node_addr6(node, addr);
		json_string(w, "addr6", addr);
		if (!switches)
			json_string(w, "qdisc", node->qdisc);
		else if (node->labq)
			json_string(w, "labq", node->labq);
		else
			json_u64(w, "queue_packets", node->queue);
		json_string(w, "nic", node->nic);
		put_ports(w, t, node);
		json_close(w, '}');
	}
	json_close(w, ']');
}

/**
 * describe_json() - write the topology, and the values that follow from it
 *
 * Times are of a packet of packet_bytes, the least MTU of all links, and of an ACK
 * of ack_bytes on the way back, over the fastest of the shortest paths.
 */
void describe_json(const struct topo *t, const char *path)
{
	FILE *f = json_file_open(path);
	struct json_writer w;

	json_begin(&w, f);
	json_open(&w, NULL, '{', false);
	json_u64(&w, "seed", t->seed);
	put_pairs(&w, t);
	put_nodes(&w, t, false);
	put_nodes(&w, t, true);
	json_close(&w, '}');
	json_finish(&w);
	json_file_close(f, path);
}
