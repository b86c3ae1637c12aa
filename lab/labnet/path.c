// SPDX-License-Identifier: GPL-2.0
/*
 * Shortest paths by number of links, as switches route: at each of them, all ports
 * whose neighbour is one link nearer. Hosts end paths, as they have one link.
 */
#include <stdlib.h>
#include <string.h>

#include "labnet.h"

/* Ethernet, as labnic has it: header, least frame, preamble and check sequence. */
#define ETH_HEADER	14
#define ETH_LEAST	60
#define ETH_AROUND	(8 + 4)

/**
 * link_ns() - time from the start of a packet at one end to its arrival at the other
 * @link: idle link
 * @bytes: IP packet
 *
 * Return: ns, rounded up as labnic does.
 */
uint64_t link_ns(const struct link *link, unsigned int bytes)
{
	uint64_t frame = bytes + ETH_HEADER;

	if (frame < ETH_LEAST)
		frame = ETH_LEAST;
	/* Below 2^16 * 2^3 * 2^30. */
	frame = (frame + ETH_AROUND) * 8 * NSEC_PER_SEC;
	return (frame + link->rate_bit - 1) / link->rate_bit + link->delay_ns;
}

struct paths *paths_new(const struct topo *t)
{
	struct paths *p = xcalloc(1, sizeof(*p));

	p->hops = xcalloc(t->n_nodes, sizeof(*p->hops));
	p->ns = xcalloc(t->n_nodes, sizeof(*p->ns));
	p->most_ns = xcalloc(t->n_nodes, sizeof(*p->most_ns));
	p->count = xcalloc(t->n_nodes, sizeof(*p->count));
	p->order = xcalloc(t->n_nodes, sizeof(*p->order));
	return p;
}

void paths_free(struct paths *p)
{
	free(p->hops);
	free(p->ns);
	free(p->most_ns);
	free(p->count);
	free(p->order);
	free(p);
}

/* @from is at the end of a path that goes on from @port. */
static void extend(const struct topo *t, const struct port *port, unsigned int bytes,
		   struct paths *p)
{
	uint64_t ns = link_ns(&t->links[port->link], bytes);
	unsigned int from = port->node, via = port->peer;

	if (!p->count[from] || p->ns[via] + ns < p->ns[from])
		p->ns[from] = p->ns[via] + ns;
	if (!p->count[from] || p->most_ns[via] + ns > p->most_ns[from])
		p->most_ns[from] = p->most_ns[via] + ns;
	if (__builtin_add_overflow(p->count[from], p->count[via], &p->count[from]))
		p->count[from] = UINT64_MAX;
}

/**
 * paths_find() - breadth-first search from @to
 * @t: topology
 * @to: node that paths lead to
 * @bytes: size of the IP packet that is timed
 * @p: result, from paths_new() for the same topology
 */
void paths_find(const struct topo *t, unsigned int to, unsigned int bytes, struct paths *p)
{
	const struct node *node;
	unsigned int at, i;

	for (i = 0; i < t->n_nodes; i++)
		p->hops[i] = NO_PATH;
	memset(p->count, 0, t->n_nodes * sizeof(*p->count));
	p->to = to;
	p->hops[to] = 0;
	p->ns[to] = 0;
	p->most_ns[to] = 0;
	p->count[to] = 1;
	p->order[0] = to;
	p->n_order = 1;
	for (at = 0; at < p->n_order; at++) {
		node = &t->nodes[p->order[at]];
		for (i = 0; i < node->n_ports; i++) {
			const struct port *port = &node->ports[i];
			const struct node *next = &t->nodes[port->peer];

			if (p->hops[port->peer] == NO_PATH) {
				p->hops[port->peer] = p->hops[port->node] + 1;
				p->order[p->n_order++] = port->peer;
			}
			/* All that is nearer than the neighbour is done. */
			if (p->hops[port->peer] == p->hops[port->node] + 1)
				extend(t, &next->ports[port->peer_port], bytes, p);
		}
	}
}

/**
 * paths_next() - find the ports through which a node sends to p->to
 * @ports: result: indices into the node's ports, room for all of them
 *
 * Return: the number of ports.
 */
unsigned int paths_next(const struct topo *t, const struct paths *p, unsigned int from,
			unsigned int *ports)
{
	const struct node *node = &t->nodes[from];
	unsigned int i, n = 0;

	for (i = 0; i < node->n_ports; i++)
		if (p->hops[from] != NO_PATH &&
		    p->hops[node->ports[i].peer] + 1 == p->hops[from])
			ports[n++] = i;
	return n;
}

/**
 * base_rtt_ns() - time of a packet to @b and of its answer, with idle queues
 * @bytes: IP packet from @a to @b
 * @ack_bytes: IP packet from @b to @a
 */
uint64_t base_rtt_ns(const struct topo *t, unsigned int a, unsigned int b,
		     unsigned int bytes, unsigned int ack_bytes)
{
	struct paths *p = paths_new(t);
	uint64_t ns;

	paths_find(t, b, bytes, p);
	ns = p->ns[a];
	paths_find(t, a, ack_bytes, p);
	ns += p->ns[b];
	paths_free(p);
	return ns;
}
