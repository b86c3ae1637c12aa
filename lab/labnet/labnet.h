/* SPDX-License-Identifier: GPL-2.0 */
/*
 * labnet: networks of hosts and switches over the test NIC, from a few lines of text
 *
 *	text.c		text -> struct topo, with every check
 *	path.c		shortest paths: next hops, times, how many there are
 *	describe.c	the topology as JSON, and its hosts as a table
 *	batch.c		many netlink requests in one system call
 *	make.c		struct topo -> namespaces, links, addresses, routes
 *	check.c		does it behave as declared? packets tell
 *	main.c		command line
 *
 * Units are in the names: _ns times, _bit bit/s, the rest bytes and counts.
 */
#ifndef LABNET_H
#define LABNET_H

#include <net/if.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "util.h"

/* MAC addresses have 16 bits for the number of the link. */
#define TOPO_NODES	8192
#define TOPO_LINKS	32768

/* Of a line, and of a value in quotes. */
#define MAX_WORDS	64

/* Bytes of an IPv4 packet with a pure ACK: TCP's header has the timestamp option. */
#define ACK_BYTES	52

/* Limits that the kernel has: IPv6's least MTU, and an Ethernet device's most. */
#define MIN_MTU		1280
#define MAX_MTU		65535

/* Length of a FIFO: all that IFLA_TXQLEN takes. */
#define MAX_QUEUE	32767
#define MAX_QUEUES	256

/**
 * struct port - one end of a link
 * @dev: name of the device: "eth0" at a host, the neighbour's name at a switch
 * @node: its node
 * @peer: node at the other end
 * @peer_port: index of the other end in that node's ports
 * @link: index into topo.links
 * @side: 0: that link's first end, 1: its second
 */
struct port {
	char dev[IFNAMSIZ];
	unsigned int node;
	unsigned int peer;
	unsigned int peer_port;
	unsigned int link;
	unsigned int side;
};

/**
 * struct node - a host or a switch
 * @name: of the node and of its network namespace
 * @line: that declared it
 * @number: of the host or switch, from 1: its addresses follow from it
 * @nic: parameters of labnic for all its ends of links
 * @qdisc: of a host, as tc takes it
 * @queues: of a host's NIC, TX and RX
 * @labq: of a switch's ports, parameters of labq; NULL: a FIFO of @queue packets
 */
struct node {
	char name[IFNAMSIZ];
	unsigned int line;
	unsigned int number;
	bool is_switch;
	const char *nic;
	const char *qdisc;
	unsigned int queues;
	const char *labq;
	unsigned int queue;
	struct port *ports;
	unsigned int n_ports;
};

/**
 * struct link - between two nodes; both directions have the same rate and delay
 * @node: the two, in the order in which they were written
 * @port: index of the end in that node's ports
 * @nic: parameters of labnic for one end, after those of its node
 */
struct link {
	unsigned int node[2];
	unsigned int port[2];
	uint64_t rate_bit;
	uint64_t delay_ns;
	unsigned int mtu;
	const char *nic[2];
};

struct topo {
	struct node *nodes;
	unsigned int n_nodes;
	struct link *links;
	unsigned int n_links;
	unsigned int n_hosts;
	unsigned int n_switches;
	uint64_t seed;
};

/* text.c */
struct topo *topo_read(FILE *f, char *error, size_t size);
const struct node *topo_find(const struct topo *t, const char *name);
bool parse_delay(const char *text, uint64_t *out_ns);

/* path.c */

/**
 * struct paths - shortest paths from every node to one, by number of links
 * @to: that one
 * @hops: links to go, from each node; NO_PATH: it can't be reached
 * @ns: time that a packet of the given size takes over an idle network: each link
 *	its serialisation, rounded up, and its delay; the least of all shortest paths
 * @most_ns: the most of them
 * @count: shortest paths, at most UINT64_MAX
 * @order: nodes, nearest first; the first @n_order can reach it
 */
struct paths {
	unsigned int to;
	unsigned int *hops;
	uint64_t *ns;
	uint64_t *most_ns;
	uint64_t *count;
	unsigned int *order;
	unsigned int n_order;
};

#define NO_PATH		UINT32_MAX

struct paths *paths_new(const struct topo *t);
void paths_free(struct paths *p);
void paths_find(const struct topo *t, unsigned int to, unsigned int bytes, struct paths *p);
unsigned int paths_next(const struct topo *t, const struct paths *p, unsigned int from,
			unsigned int *ports);
uint64_t link_ns(const struct link *link, unsigned int bytes);
uint64_t base_rtt_ns(const struct topo *t, unsigned int a, unsigned int b,
		     unsigned int bytes, unsigned int ack_bytes);

/* describe.c */
void node_addr(const struct node *node, char *text);
void node_addr6(const struct node *node, char *text);
void describe_json(const struct topo *t, const char *path);
void describe_hosts(const struct topo *t, const char *path);

/* make.c */
void topo_make(const struct topo *t);
void enter_node(const struct node *node);

/* check.c */
bool topo_check(const struct topo *t, unsigned int max_pairs, unsigned int flows);

#endif /* LABNET_H */
