// SPDX-License-Identifier: GPL-2.0
/*
 * Make a topology:
 *
 *	for each node:	namespace, its sysctls, `lo`
 *	all links:	one `labnic batch`
 *	for each node:	its ports up, addresses; the default qdiscs come up with them
 *	for each node:	neighbours, next hops, routes
 *	all labqs:	another `labnic batch`
 *	hosts with a qdisc that takes options: one `tc` each
 *
 * Only the experiment sends packets: the devices are NOARP and have no link-local address, so
 * there is neither ARP, nor neighbour or duplicate address detection, nor a router
 * solicitation or multicast report. A port sends to its only neighbour: fe80::1 on each
 * device stands for the other end, and no host has this address. It is the gateway of IPv4
 * routes as well, so each port is one next hop, and each set of equal ports is one group.
 *
 * A hash of addresses and ports chooses among equal ports. Its key follows from the
 * seed, and differs from switch to switch: with one key for all, the second of two
 * switches would only see flows for which the hash has chosen already.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../labnic/labnic_params.h"
#include "batch.h"
#include "labnet.h"

#define NETNS_DIR	"/run/netns"
#define DEFAULT_QDISC	"/proc/sys/net/core/default_qdisc"

/* Next hops of single ports have the number of the port, from 1. */
#define FIRST_GROUP	65536

/* Network namespace in which this program began. */
static int home_netns = -1;

/* State to undo unless all went well. */
static const struct topo *unfinished;
static unsigned int n_made;
static char default_qdisc[64];

/* Small things ------------------------------------------------------------- */

static void netns_path(const struct node *node, char *path, size_t size)
{
	snprintf(path, size, "%s/%s", NETNS_DIR, node->name);
}

static void enter_netns(int fd)
{
	if (setns(fd, CLONE_NEWNET))
		die("cannot enter a network namespace: %s", strerror(errno));
}

/**
 * enter_node() - from now on, sockets and names are those of the node
 */
void enter_node(const struct node *node)
{
	char path[64];
	int fd;

	netns_path(node, path, sizeof(path));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("cannot open %s: %s", path, strerror(errno));
	enter_netns(fd);
	close(fd);
}

/* Write a file of /proc/sys, which shows the namespace of the writer. */
static void __printf(2, 3) put(const char *path, const char *format, ...)
{
	char text[64];
	va_list ap;
	int fd, n;

	va_start(ap, format);
	n = vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, (size_t)n) != n)
		die("cannot write '%s' to %s: %s", text, path, strerror(errno));
	close(fd);
}

static void undo(void)
{
	char path[64];

	if (unfinished && default_qdisc[0]) {
		enter_netns(home_netns);
		put(DEFAULT_QDISC, "%s", default_qdisc);
	}
	while (unfinished && n_made) {
		netns_path(&unfinished->nodes[--n_made], path, sizeof(path));
		umount2(path, MNT_DETACH);
		unlink(path);
	}
}

/* SplitMix64: one number after the other from seed and place. */
static uint64_t mix(uint64_t seed, uint64_t place)
{
	uint64_t z = seed + (place + 1) * 0x9e3779b97f4a7c15ULL;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
	return z ^ z >> 31;
}

/*
 * Return the seed of one end of a link; labnic gives the second end the next number. Never
 * 0, which stands for the number of the device.
 */
static unsigned long long port_seed(const struct topo *t, const struct port *port)
{
	return (mix(~t->seed, port->link) >> 2 | 1) + port->side;
}

/* Locally administered, unicast: of the link's first or second end. */
static void port_mac(unsigned int link, unsigned int side, unsigned char *mac)
{
	const unsigned char bytes[6] = { 2, 0, 0, (unsigned char)(link >> 8),
					 (unsigned char)link, (unsigned char)side };

	memcpy(mac, bytes, sizeof(bytes));
}

/* Namespaces --------------------------------------------------------------- */

/* As `ip netns` does it, which makes its own in the same place. */
static void prepare_netns_dir(void)
{
	if (mkdir(NETNS_DIR, 0755) && errno != EEXIST)
		die("cannot make %s: %s", NETNS_DIR, strerror(errno));
	if (!mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL))
		return;
	if (errno != EINVAL || mount(NETNS_DIR, NETNS_DIR, "none", MS_BIND | MS_REC, NULL) ||
	    mount("", NETNS_DIR, "none", MS_SHARED | MS_REC, NULL))
		die("cannot mount %s: %s", NETNS_DIR, strerror(errno));
}

/* Refuse names that exist, before anything is made. */
static void refuse_existing(const struct topo *t)
{
	unsigned int i;
	char path[64];

	for (i = 0; i < t->n_nodes; i++) {
		netns_path(&t->nodes[i], path, sizeof(path));
		if (!access(path, F_OK))
			die("there is a network namespace '%s' already", t->nodes[i].name);
	}
}

static void make_netns(const struct topo *t, unsigned int i)
{
	char path[64];
	int fd;

	netns_path(&t->nodes[i], path, sizeof(path));
	fd = open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
	if (fd < 0)
		die("cannot make %s: %s", path, strerror(errno));
	close(fd);
	n_made = i + 1;
	if (unshare(CLONE_NEWNET) ||
	    mount("/proc/self/ns/net", path, "none", MS_BIND, NULL))
		die("cannot make the network namespace '%s': %s", t->nodes[i].name,
		    strerror(errno));
}

/* Set sysctls before there are devices, which start with these values. */
static void set_sysctls(const struct topo *t, const struct node *node)
{
	/* No link-local addresses. */
	put("/proc/sys/net/ipv6/conf/default/addr_gen_mode", "1");
	/* Connections start alike, whatever went over the same path before. */
	put("/proc/sys/net/ipv4/tcp_no_metrics_save", "1");
	if (!node->is_switch)
		return;
	put("/proc/sys/net/ipv4/ip_forward", "1");
	/* Addresses, protocol and ports. The seed is one for both families. */
	put("/proc/sys/net/ipv4/fib_multipath_hash_policy", "1");
	put("/proc/sys/net/ipv6/fib_multipath_hash_policy", "1");
	put("/proc/sys/net/ipv4/fib_multipath_hash_seed", "%u",
	    (uint32_t)mix(t->seed, node->number) | 1);
}

/* Links -------------------------------------------------------------------- */

/* The process of `labnic batch`, and the stream of its input. */
struct child {
	FILE *in;
	pid_t pid;
};

static struct child labnic_batch(void)
{
	struct child c;
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		die("no pipe: %s", strerror(errno));
	c.pid = fork();
	if (c.pid < 0)
		die("cannot start labnic: %s", strerror(errno));
	if (!c.pid) {
		dup2(fds[0], STDIN_FILENO);
		execlp("labnic", "labnic", "batch", "-", (char *)NULL);
		fprintf(stderr, "labnet: cannot start labnic: %s\n", strerror(errno));
		_exit(127);
	}
	close(fds[0]);
	c.in = fdopen(fds[1], "w");
	return c;
}

static void wait_for(pid_t pid, const char *name)
{
	int status;

	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		die("%s failed", name);
}

static void finish_batch(struct child *c)
{
	fclose(c->in);
	wait_for(c->pid, "labnic");
}

/* @name is one of the words that come first in their pairs. */
static bool has_param(const char *text, const char *name)
{
	size_t n = strlen(name), length;
	bool is_name = true;

	for (; *text; text += length, is_name = !is_name) {
		text += strspn(text, " \t");
		length = strcspn(text, " \t");
		if (is_name && length == n && !strncasecmp(text, name, n))
			return true;
	}
	return false;
}

/*
 * Write an end of a link, in words for labnic. A peer copies parameters that it is not given
 * from this end, so a parameter of one end only is given to the other end with its
 * default.
 */
static void put_end(FILE *f, const struct topo *t, const struct link *link,
		    unsigned int side)
{
	static const struct {
		const char *name;
		const char *value;
	} defaults[] = {
#define DEFAULT_DIST(def)	"const"
#define DEFAULT_BIT(def)	#def
#define DEFAULT_NS(def)		#def
#define DEFAULT_US(def)		#def
#define DEFAULT_COUNT(def)	#def
#define DEFAULT_BYTES(def)	#def
#define DEFAULT_PPB(def)	#def "ppb"
#define DEFAULT_SNS(def)	#def
#define DEFAULT_RATIO(def)	#def
#define DEFAULT_BOOL(def)	#def
#define LABNIC_X(NAME, field, KIND, min, max, def, help) { #NAME, DEFAULT_##KIND(def) },
		LABNIC_PARAMS
#undef LABNIC_X
	};
	const struct node *node = &t->nodes[link->node[side]];
	const struct node *other = &t->nodes[link->node[!side]];
	unsigned char mac[6];
	size_t i;

	port_mac((unsigned int)(link - t->links), side, mac);
	fprintf(f, " %s netns %s mtu %u address %02x:%02x:%02x:%02x:%02x:%02x",
		node->ports[link->port[side]].dev, node->name, link->mtu,
		mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
	if (node->queues > 1)
		fprintf(f, " queues %u", node->queues);
	for (i = 0; i < ARRAY_SIZE(defaults); i++)
		if (has_param(other->nic, defaults[i].name) ||
		    has_param(link->nic[!side], defaults[i].name))
			fprintf(f, " %s %s", defaults[i].name, defaults[i].value);
	/*
	 * A switch keeps packets as they came, and all but the one on the wire in the
	 * port's qdisc. Of two values of one parameter the last one holds.
	 */
	fprintf(f, " %s %s %s",
		node->is_switch ? "phc off gro off tx_limit 0" : "phc on",
		node->nic, link->nic[side]);
}

static void make_links(const struct topo *t)
{
	struct child c = labnic_batch();
	const struct link *link;

	for (link = t->links; link < t->links + t->n_links; link++) {
		fputs("add", c.in);
		put_end(c.in, t, link, 0);
		/* The other end takes rate and delay from this one, and the next seed. */
		fprintf(c.in, " rate %llu delay %lluns seed %llu peer",
			(unsigned long long)link->rate_bit,
			(unsigned long long)link->delay_ns,
			port_seed(t, &t->nodes[link->node[0]].ports[link->port[0]]));
		put_end(c.in, t, link, 1);
		fputc('\n', c.in);
	}
	finish_batch(&c);
}

static void make_labqs(const struct topo *t)
{
	const struct node *node;
	struct child c = { 0 };
	unsigned int i;

	for (node = t->nodes; node < t->nodes + t->n_nodes; node++) {
		if (!node->labq)
			continue;
		if (!c.in)
			c = labnic_batch();
		for (i = 0; i < node->n_ports; i++) {
			fprintf(c.in, "-n %s labq add dev %s %s", node->name,
				node->ports[i].dev, node->labq);
			if (!has_param(node->labq, "seed"))
				fprintf(c.in, " seed %llu", port_seed(t, &node->ports[i]));
			fputc('\n', c.in);
		}
	}
	if (c.in)
		finish_batch(&c);
}

/* Devices and addresses ---------------------------------------------------- */

static void add_address(struct batch *b, const struct node *node, int family, int ifindex)
{
	struct ifaddrmsg ifa = {
		.ifa_family = (unsigned char)family,
		.ifa_prefixlen = family == AF_INET ? 32 : 128,
		.ifa_flags = family == AF_INET ? 0 : IFA_F_NODAD,
		.ifa_index = (unsigned int)ifindex,
	};
	size_t size = family == AF_INET ? 4 : 16;
	unsigned char addr[16];
	struct nl_msg *msg;
	char text[64];

	if (family == AF_INET)
		node_addr(node, text);
	else
		node_addr6(node, text);
	inet_pton(family, text, addr);
	msg = batch_new(RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &ifa, sizeof(ifa));
	if (family == AF_INET)
		MUST(nla_put(msg, IFA_LOCAL, (int)size, addr));
	MUST(nla_put(msg, IFA_ADDRESS, (int)size, addr));
	batch_add(b, msg, "add an address to", node->name);
}

static void set_link(struct batch *b, const char *dev, int ifindex, unsigned int flags,
		     unsigned int change)
{
	struct ifinfomsg ifm = {
		.ifi_index = ifindex,
		.ifi_flags = flags,
		.ifi_change = change,
	};

	batch_add(b, batch_new(RTM_NEWLINK, 0, &ifm, sizeof(ifm)), "set up", dev);
}

/* Set the length that a FIFO made later takes as its limit: a request sets flags up first. */
static void set_queue(struct batch *b, const char *dev, int ifindex, unsigned int packets)
{
	struct ifinfomsg ifm = { .ifi_index = ifindex };
	struct nl_msg *msg = batch_new(RTM_NEWLINK, 0, &ifm, sizeof(ifm));

	MUST(nla_put_u32(msg, IFLA_TXQLEN, packets));
	batch_add(b, msg, "set the queue of", dev);
}

static void ask_ethtool(int sock, const char *dev, uint32_t command, uint32_t value)
{
	struct ethtool_value ev = { .cmd = command, .data = value };
	struct ifreq ifr = { .ifr_data = (void *)&ev };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", dev);
	if (ioctl(sock, SIOCETHTOOL, &ifr))
		die("cannot ask '%s' for ethtool command %u: %s", dev, command,
		    strerror(errno));
}

static int open_udp(void)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (sock < 0)
		die("no socket: %s", strerror(errno));
	return sock;
}

/* The addresses of a switch are for traces. */
static void bring_up(const struct node *node)
{
	struct batch *b = batch_open(node->name);
	int lo = 1;
	unsigned int i, ifindex = 0;

	set_link(b, "lo", lo, IFF_UP, IFF_UP);
	for (i = 0; i < node->n_ports; i++) {
		const char *dev = node->ports[i].dev;

		ifindex = if_nametoindex(dev);
		if (node->is_switch) {
			set_queue(b, dev, (int)ifindex, node->queue);
			set_link(b, dev, (int)ifindex, IFF_UP | IFF_NOARP,
				 IFF_UP | IFF_NOARP | IFF_MULTICAST);
		} else {
			set_link(b, dev, (int)ifindex, IFF_UP | IFF_NOARP, IFF_UP | IFF_NOARP);
		}
	}
	if (node->is_switch)
		ifindex = (unsigned int)lo;
	add_address(b, node, AF_INET, (int)ifindex);
	add_address(b, node, AF_INET6, (int)ifindex);
	batch_close(b);
}

/* A device takes the default qdisc, which is one for all namespaces, as it comes up. */
static void bring_up_all(const struct topo *t)
{
	const struct node *node;
	FILE *f;

	f = fopen(DEFAULT_QDISC, "re");
	if (!f || fscanf(f, "%63s", default_qdisc) != 1)
		die("cannot read %s", DEFAULT_QDISC);
	fclose(f);
	for (node = t->nodes; node < t->nodes + t->n_nodes; node++) {
		enter_netns(home_netns);
		/* One with options is tc's to make. */
		put(DEFAULT_QDISC, "%s", node->is_switch ? "pfifo" :
		    strpbrk(node->qdisc, " \t") ? "pfifo_fast" : node->qdisc);
		enter_node(node);
		bring_up(node);
	}
	enter_netns(home_netns);
	put(DEFAULT_QDISC, "%s", default_qdisc);
}

/* In place of this process. */
static void __attribute__((noreturn)) exec_tc(const struct node *node)
{
	char *words[MAX_WORDS + 10] = { "tc", "-n", (char *)node->name, "qdisc", "replace",
					"dev", "eth0", "root" };
	char *text = xstrdup(node->qdisc);
	unsigned int n;

	/* Its number of words was checked as it was read. */
	for (n = 8; (words[n] = strtok(text, " \t")); n++)
		text = NULL;
	execvp("tc", words);
	fprintf(stderr, "labnet: cannot start tc: %s\n", strerror(errno));
	_exit(127);
}

static void host_qdiscs(const struct topo *t)
{
	const struct node *node;
	pid_t pid;

	for (node = t->nodes; node < t->nodes + t->n_nodes; node++) {
		if (node->is_switch || !strpbrk(node->qdisc, " \t"))
			continue;
		pid = fork();
		if (pid < 0)
			die("cannot start tc: %s", strerror(errno));
		if (!pid)
			exec_tc(node);
		wait_for(pid, "tc");
	}
}

/* Routes ------------------------------------------------------------------- */

static const unsigned char gateway[16] = { 0xfe, 0x80, [15] = 1 };

static void add_neighbour(struct batch *b, const struct port *port, int ifindex)
{
	struct ndmsg ndm = {
		.ndm_family = AF_INET6, .ndm_ifindex = ifindex, .ndm_state = NUD_PERMANENT,
	};
	struct nl_msg *msg = batch_new(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_EXCL, &ndm,
				       sizeof(ndm));
	unsigned char mac[6];

	port_mac(port->link, !port->side, mac);
	MUST(nla_put(msg, NDA_DST, sizeof(gateway), gateway));
	MUST(nla_put(msg, NDA_LLADDR, sizeof(mac), mac));
	batch_add(b, msg, "add the neighbour of", port->dev);
}

static void add_nexthop(struct batch *b, const struct port *port, unsigned int id,
			int ifindex)
{
	struct nhmsg nhm = { .nh_family = AF_INET6, .nh_protocol = RTPROT_STATIC };
	struct nl_msg *msg = batch_new(RTM_NEWNEXTHOP, NLM_F_CREATE | NLM_F_EXCL, &nhm,
				       sizeof(nhm));

	MUST(nla_put_u32(msg, NHA_ID, id));
	MUST(nla_put_u32(msg, NHA_OIF, (uint32_t)ifindex));
	MUST(nla_put(msg, NHA_GATEWAY, sizeof(gateway), gateway));
	batch_add(b, msg, "add the next hop of", port->dev);
}

static void add_group(struct batch *b, unsigned int id, const unsigned int *ports,
		      unsigned int n)
{
	struct nexthop_grp *members = xcalloc(n, sizeof(*members));
	struct nhmsg nhm = { .nh_family = AF_UNSPEC, .nh_protocol = RTPROT_STATIC };
	struct nl_msg *msg = batch_new(RTM_NEWNEXTHOP, NLM_F_CREATE | NLM_F_EXCL, &nhm,
				       sizeof(nhm));
	unsigned int i;

	for (i = 0; i < n; i++)
		members[i].id = ports[i] + 1;
	MUST(nla_put_u32(msg, NHA_ID, id));
	MUST(nla_put(msg, NHA_GROUP, (int)(n * sizeof(*members)), members));
	free(members);
	batch_add(b, msg, "add a group of", "next hops");
}

/* To @to, or NULL for all that has no route of its own. */
static void add_route(struct batch *b, const struct node *to, int family, unsigned int id)
{
	struct rtmsg rtm = {
		.rtm_family = (unsigned char)family,
		.rtm_dst_len = !to ? 0 : family == AF_INET ? 32 : 128,
		.rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC,
		.rtm_scope = RT_SCOPE_UNIVERSE,
		.rtm_type = RTN_UNICAST,
	};
	struct nl_msg *msg = batch_new(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &rtm,
				       sizeof(rtm));
	unsigned char addr[16];
	char text[64];

	if (to) {
		if (family == AF_INET)
			node_addr(to, text);
		else
			node_addr6(to, text);
		inet_pton(family, text, addr);
		MUST(nla_put(msg, RTA_DST, family == AF_INET ? 4 : 16, addr));
	}
	MUST(nla_put_u32(msg, RTA_NH_ID, id));
	batch_add(b, msg, "add a route to", to ? to->name : "default");
}

/**
 * struct groups - sets of equal ports that a switch has used so far
 * @ports: of each set its ports, n_ports of the switch apart
 * @sizes: how many those are
 */
struct groups {
	unsigned int *ports;
	unsigned int *sizes;
	unsigned int n;
};

/* Number of the next hop that stands for these ports, made if need be. */
static unsigned int group_id(struct batch *b, const struct node *node, struct groups *g,
			     const unsigned int *ports, unsigned int n)
{
	unsigned int *set, i;

	if (n == 1)
		return ports[0] + 1;
	for (i = 0; i < g->n; i++)
		if (g->sizes[i] == n &&
		    !memcmp(g->ports + i * node->n_ports, ports, n * sizeof(*ports)))
			return FIRST_GROUP + i;
	g->sizes = xrealloc(g->sizes, g->n + 1, sizeof(*g->sizes));
	g->ports = xrealloc(g->ports, (size_t)(g->n + 1) * node->n_ports, sizeof(*g->ports));
	set = g->ports + g->n * node->n_ports;
	memcpy(set, ports, n * sizeof(*ports));
	g->sizes[g->n] = n;
	add_group(b, FIRST_GROUP + g->n, ports, n);
	return FIRST_GROUP + g->n++;
}

/* @paths has one entry for each host, in order. */
static void switch_routes(struct batch *b, const struct topo *t, const struct node *node,
			  struct paths **paths)
{
	unsigned int *ports = xcalloc(node->n_ports, sizeof(*ports));
	unsigned int at = (unsigned int)(node - t->nodes), i, n, id;
	struct groups g = { 0 };

	for (i = 0; i < t->n_hosts; i++) {
		n = paths_next(t, paths[i], at, ports);
		id = group_id(b, node, &g, ports, n);
		add_route(b, &t->nodes[paths[i]->to], AF_INET, id);
		add_route(b, &t->nodes[paths[i]->to], AF_INET6, id);
	}
	free(ports);
	free(g.ports);
	free(g.sizes);
}

static void connect_node(const struct topo *t, const struct node *node,
			 struct paths **paths)
{
	struct batch *b = batch_open(node->name);
	unsigned int i, ifindex;
	int sock = open_udp();

	for (i = 0; i < node->n_ports; i++) {
		const struct port *port = &node->ports[i];

		/* Both ends are up: to ask for the link makes the kernel see it now. */
		ask_ethtool(sock, port->dev, ETHTOOL_GLINK, 0);
		ifindex = if_nametoindex(port->dev);
		add_neighbour(b, port, (int)ifindex);
		add_nexthop(b, port, i + 1, (int)ifindex);
	}
	if (node->is_switch) {
		/* A router joins groups, and reports it, on devices that can multicast. */
		put("/proc/sys/net/ipv6/conf/all/forwarding", "1");
		switch_routes(b, t, node, paths);
	} else {
		add_route(b, NULL, AF_INET, 1);
		add_route(b, NULL, AF_INET6, 1);
	}
	batch_close(b);
	close(sock);
}

static void connect_all(const struct topo *t)
{
	struct paths **paths = xcalloc(t->n_hosts, sizeof(*paths));
	unsigned int i, n = 0;

	for (i = 0; i < t->n_nodes; i++) {
		if (t->nodes[i].is_switch)
			continue;
		paths[n] = paths_new(t);
		paths_find(t, i, MIN_MTU, paths[n++]);
	}
	for (i = 0; i < t->n_nodes; i++) {
		enter_node(&t->nodes[i]);
		connect_node(t, &t->nodes[i], paths);
	}
	enter_netns(home_netns);
	while (n)
		paths_free(paths[--n]);
	free(paths);
}

/**
 * topo_make() - make a topology, or exit with a message and without a trace
 */
void topo_make(const struct topo *t)
{
	unsigned int i;

	home_netns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (home_netns < 0)
		die("cannot open /proc/self/ns/net: %s", strerror(errno));
	prepare_netns_dir();
	refuse_existing(t);
	unfinished = t;
	atexit(undo);
	for (i = 0; i < t->n_nodes; i++) {
		make_netns(t, i);
		set_sysctls(t, &t->nodes[i]);
	}
	enter_netns(home_netns);
	make_links(t);
	bring_up_all(t);
	connect_all(t);
	make_labqs(t);
	host_qdiscs(t);
	unfinished = NULL;
	close(home_netns);
}
