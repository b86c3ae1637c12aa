// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of labnet's text and paths, in KTAP: topologies with closed forms, random
 * ones against another algorithm, and texts that must be refused.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ktap.h"
#include "labnet.h"

/* A program reads one topology and ends; there is nothing to free. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}

static char error[256];

static struct topo *read_text(const char *text)
{
	FILE *f = fmemopen((void *)text, strlen(text), "r");
	struct topo *t;

	error[0] = '\0';
	t = topo_read(f, error, sizeof(error));
	fclose(f);
	return t;
}

/* Must be good. */
static struct topo *good(const char *text)
{
	struct topo *t = read_text(text);

	if (t)
		return t;
	printf("Bail out! refused: %s\n", error);
	exit(1);
}

static struct topo *good_file(FILE *f, char **text)
{
	struct topo *t;

	fclose(f);
	t = good(*text);
	free(*text);
	return t;
}

static unsigned int at(const struct topo *t, const char *name)
{
	const struct node *node = topo_find(t, name);

	if (node)
		return (unsigned int)(node - t->nodes);
	printf("Bail out! no node %s\n", name);
	exit(1);
}

/* Shortest paths between two nodes, and links of each. */
static void check_paths(const struct topo *t, const char *a, const char *b,
			unsigned int hops, uint64_t count)
{
	struct paths *p = paths_new(t);

	ktap_row = b;
	paths_find(t, at(t, b), MIN_MTU, p);
	CHECK_EQ(p->hops[at(t, a)], hops);
	CHECK_EQ(p->count[at(t, a)], count);
	paths_free(p);
	ktap_row = NULL;
}

/* How many ports of @node lead to @to. */
static unsigned int next_hops(const struct topo *t, const char *node, const char *to)
{
	unsigned int ports[64], n;
	struct paths *p = paths_new(t);

	paths_find(t, at(t, to), MIN_MTU, p);
	n = paths_next(t, p, at(t, node), ports);
	paths_free(p);
	return n;
}

/* Each port knows the other end of its link. */
static void check_ports(const struct topo *t)
{
	unsigned int i, j;

	for (i = 0; i < t->n_nodes; i++) {
		for (j = 0; j < t->nodes[i].n_ports; j++) {
			const struct port *port = &t->nodes[i].ports[j];
			const struct link *link = &t->links[port->link];
			const struct port *other = &t->nodes[port->peer].ports[port->peer_port];

			CHECK_EQ(port->node, i);
			CHECK_EQ(link->node[port->side], i);
			CHECK_EQ(link->port[port->side], j);
			CHECK_EQ(other->peer, i);
			CHECK_EQ(other->peer_port, j);
			CHECK_EQ(other->link, port->link);
			CHECK_EQ(other->side, !port->side);
		}
	}
}

/* Text --------------------------------------------------------------------- */

static void text__options_and_defaults(void)
{
	const struct topo *t = good("# a comment\n"
				    "seed 7\n"
				    "host before\n"
				    "default host qdisc \"fq limit 5\" nic \"rx_usecs 3\" queues 64\n"
				    "default link rate 25gbit delay 1.5us mtu 9000 # another\n"
				    "default switch labq \"buffer 512k\"\n"
				    "\n"
				    "switch s nic \"tx_ring 64\"\n"
				    "switch fifo queue 7\n"
				    "host after nic \"\"\n"
				    "link before s\n"
				    "link s after rate 1mbit mtu 1280 a \"loss 1%\"\n"
				    "link s fifo delay 0s b \"loss 2%\"\n");

	CHECK_EQ(t->seed, 7);
	CHECK_EQ(t->n_hosts, 2);
	CHECK_EQ(t->n_switches, 2);
	CHECK_EQ(t->n_links, 3);
	CHECK(!strcmp(topo_find(t, "before")->qdisc, "fq"));
	CHECK(topo_find(t, "before")->queues == 1 && topo_find(t, "after")->queues == 64);
	CHECK(!strcmp(topo_find(t, "before")->nic, ""));
	CHECK(!strcmp(topo_find(t, "after")->qdisc, "fq limit 5"));
	CHECK(!strcmp(topo_find(t, "after")->nic, ""));
	CHECK_EQ(topo_find(t, "after")->number, 2);
	CHECK(!strcmp(topo_find(t, "s")->nic, "tx_ring 64"));
	CHECK(!strcmp(topo_find(t, "s")->labq, "buffer 512k"));
	CHECK(!topo_find(t, "fifo")->labq);
	CHECK_EQ(topo_find(t, "fifo")->queue, 7);
	CHECK_EQ(t->links[0].rate_bit, 25000000000);
	CHECK_EQ(t->links[0].delay_ns, 1500);
	CHECK_EQ(t->links[0].mtu, 9000);
	CHECK_EQ(t->links[1].rate_bit, 1000000);
	CHECK_EQ(t->links[1].mtu, 1280);
	CHECK(!strcmp(t->links[1].nic[0], "loss 1%"));
	CHECK(!strcmp(t->links[1].nic[1], ""));
	CHECK_EQ(t->links[2].delay_ns, 0);
	CHECK(!strcmp(t->links[2].nic[1], "loss 2%"));
	check_ports(t);
}

static void text__names_of_ports(void)
{
	const struct topo *t = good("switch s\nswitch u\nhost h\nlink s u\nlink u s\n"
				    "link h s\nlink s u\n");
	const struct node *s = topo_find(t, "s"), *u = topo_find(t, "u");

	CHECK_EQ(s->n_ports, 4);
	CHECK(!strcmp(s->ports[0].dev, "u"));
	CHECK(!strcmp(s->ports[1].dev, "u.2"));
	CHECK(!strcmp(s->ports[2].dev, "h"));
	CHECK(!strcmp(s->ports[3].dev, "u.3"));
	CHECK(!strcmp(u->ports[2].dev, "s.3"));
	CHECK(!strcmp(topo_find(t, "h")->ports[0].dev, "eth0"));
	check_ports(t);
}

static void text__bad_ones_are_refused(void)
{
	static const struct {
		const char *text;
		const char *says;
	} bad[] = {
		{ "", "no host" },
		{ "switch s\n", "no host" },
		{ "\nhots h\n", "line 2: unknown statement 'hots'" },
		{ "host\n", "needs a name" },
		{ "host a/b\n", "'a/b' can't be a name" },
		{ "host -a\n", "'-a' can't be a name" },
		{ "host \"\"\n", "can't be a name" },
		{ "host abcdefghijklmnop\n", "can't be a name" },
		{ "host lo\n", "the kernel uses it" },
		{ "host h\nswitch h\n", "line 2: 'h' was declared in line 1 already" },
		{ "host h nic\n", "'nic' needs a value" },
		{ "host h queue 5\n", "a host has no option 'queue'" },
		{ "switch s qdisc fq\n", "a switch has no option 'qdisc'" },
		{ "switch s queues 2\n", "a switch has no option 'queues'" },
		{ "host h queues 0\n", "queues" },
		{ "host h queues 257\n", "queues" },
		{ "switch s queue 0\n", "queue must be a number from 1" },
		{ "switch s queue x\n", "not 'x'" },
		{ "switch s queue 32768\n", "from 1 to 32767" },
		{ "switch s labq buffer\n", "pairs of name and value" },
		{ "host h qdisc \"\"\n", "what tc takes" },
		{ "host h nic loss\n", "pairs of name and value" },
		{ "host h nic \"lost 1%\"\n", "no parameter 'lost'" },
		{ "host h nic \"rate 1gbit\"\n", "use the link's rate" },
		{ "host h nic \"seed 1\"\n", "use the statement seed" },
		{ "host h nic \"loss 1% # peer\"\n", "without #" },
		{ "host h nic \"loss 1%\n", "quote is not closed" },
		{ "host h nic \"loss 1%\"x\n", "blank is missing" },
		{ "host a\nhost b\nlink a\n", "line 3: a link needs the names of two" },
		{ "host a\nhost b\nlink a c\n", "'c' has not been declared" },
		{ "switch s\nlink s s\n", "two different nodes" },
		{ "host a\nhost b\nlink a b rate 10\n", "rate must be like" },
		{ "host a\nhost b\nlink a b rate 2000gbit\n", "rate must be like" },
		{ "host a\nhost b\nlink a b delay 5\n", "delay must be like" },
		{ "host a\nhost b\nlink a b delay 2s\n", "delay must be like" },
		{ "host a\nhost b\nlink a b delay -1us\n", "delay must be like" },
		{ "host a\nhost b\nlink a b mtu 1279\n", "mtu must be a number from 1280" },
		{ "host a\nhost b\nlink a b speed 1\n", "no option 'speed'" },
		{ "host a\nhost b\nlink a b\nlink b a\n", "'b' has a link already" },
		{ "host a\nhost b\nswitch s\nlink a s\n", "line 2: 'b' is not connected to 'a'" },
		{ "host a\nswitch s\n", "line 2: 's' is not connected" },
		{ "switch s\nswitch abcdefghijklmno\nlink s abcdefghijklmno\n"
		  "link s abcdefghijklmno\n", "too long for a second link" },
		{ "default\n", "default needs" },
		{ "default port queue 1\n", "not of 'port'" },
		{ "default link rate\n", "'rate' needs a value" },
		{ "seed\n", "seed must be" },
		{ "seed 9223372036854775808\n", "seed must be" },
	};
	char row[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(row, sizeof(row), "%zu: %s", i, bad[i].says);
		ktap_row = row;
		CHECK(!read_text(bad[i].text));
		CHECK(strstr(error, bad[i].says));
		if (!strstr(error, bad[i].says))
			printf("# said: %s\n", error);
	}
	ktap_row = NULL;
}

static void text__delays(void)
{
	static const struct {
		const char *text;
		int64_t ns;		/* -1: refused */
	} delays[] = {
		{ "0ns", 0 }, { "1ns", 1 }, { "1.5us", 1500 }, { "0.001us", 1 },
		{ "1000000.000us", 1000000000 }, { "1s", 1000000000 }, { "20ms", 20000000 },
		{ "0.000000001s", 1 }, { "1.000000001s", -1 }, { "0.5ns", -1 },
		{ "1.0001us", -1 }, { "1", -1 }, { "us", -1 }, { ".us", -1 }, { "1.us", -1 },
		{ "", -1 }, { "1 us", -1 }, { "1e3ns", -1 }, { "99999999999999999999s", -1 },
		{ "1..5us", -1 }, { "+1us", -1 }, { "1us ", -1 },
	};
	uint64_t ns;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		ktap_row = delays[i].text;
		ns = 4711;
		CHECK_EQ(parse_delay(delays[i].text, &ns), delays[i].ns >= 0);
		CHECK_EQ(ns, delays[i].ns >= 0 ? delays[i].ns : 4711);
	}
	ktap_row = NULL;
}

/* Times -------------------------------------------------------------------- */

static void times__of_a_link(void)
{
	static const struct {
		uint64_t rate_bit;
		unsigned int bytes;
		uint64_t ns;
	} links[] = {
		/* 1500 + 14 + 4 bytes and a preamble of 8: 12208 bits */
		{ 10000000000ULL, 1500, 1221 + 100 },
		{ 40000000000ULL, 1500, 306 + 100 },
		{ 1000000000ULL, 1500, 12208 + 100 },
		{ 1000, 1500, 12208000000ULL + 100 },
		/* The least frame has 60 bytes, and takes 576 bits. */
		{ 10000000000ULL, 1, 58 + 100 },
		{ 10000000000ULL, 46, 58 + 100 },
		{ 10000000000ULL, 47, 59 + 100 },
		{ 100000000000ULL, 9000, 723 + 100 },
		{ 1600000000000ULL, 65535, 328 + 100 },
	};
	struct link link = { .delay_ns = 100 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(links); i++) {
		link.rate_bit = links[i].rate_bit;
		CHECK_EQ(link_ns(&link, links[i].bytes), links[i].ns);
	}
}

static void times__of_a_round_trip(void)
{
	const struct topo *t = good("default link delay 5us\nswitch s\nswitch u\n"
				    "host a\nhost b\nlink a s\nlink b u delay 2us\n"
				    "link s u rate 1gbit delay 1ms\n");

	/* 1500 bytes there, 52 back: 624 bits */
	CHECK_EQ(base_rtt_ns(t, at(t, "a"), at(t, "b"), 1500, 52),
		 2 * (5000 + 1000000 + 2000) + 1221 + 12208 + 1221 + 63 + 624 + 63);
	CHECK_EQ(base_rtt_ns(t, at(t, "a"), at(t, "a"), 1500, 52), 0);
}

static void times__the_fastest_of_equal_paths(void)
{
	const struct topo *t = good("switch s\nswitch u\nswitch x\nswitch y\nhost a\nhost b\n"
				    "default link delay 1us\n"
				    "link a s\nlink b u\nlink s x delay 9us\nlink x u\n"
				    "link s y\nlink y u delay 3us\n");
	struct paths *p = paths_new(t);

	paths_find(t, at(t, "b"), 1500, p);
	CHECK_EQ(p->ns[at(t, "a")], 4 * 1221 + 1000 + 1000 + 3000 + 1000);
	CHECK_EQ(p->most_ns[at(t, "a")], 4 * 1221 + 1000 + 9000 + 1000 + 1000);
	CHECK_EQ(p->count[at(t, "a")], 2);
	paths_free(p);
}

/* Topologies --------------------------------------------------------------- */

static void topology__star(void)
{
	char *text, name[16];
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	const struct topo *t;

	fputs("switch sw\n", f);
	for (i = 1; i <= 1000; i++)
		fprintf(f, "host h%zu\nlink sw h%zu\n", i, i);
	t = good_file(f, &text);
	CHECK_EQ(t->n_links, 1000);
	check_ports(t);
	for (i = 2; i <= 1000; i += 333) {
		snprintf(name, sizeof(name), "h%zu", i);
		check_paths(t, "h1", name, 2, 1);
		CHECK_EQ(next_hops(t, "sw", name), 1);
	}
}

static void topology__dumbbell(void)
{
	const struct topo *t = good("switch left\nswitch right\nlink left right\n"
				    "host h1\nhost h2\nhost h3\nhost h4\n"
				    "link h1 left\nlink h2 left\nlink h3 right\nlink right h4\n");

	check_paths(t, "h1", "h2", 2, 1);
	check_paths(t, "h1", "h3", 3, 1);
	check_paths(t, "h4", "h1", 3, 1);
	CHECK_EQ(next_hops(t, "left", "h4"), 1);
	CHECK_EQ(next_hops(t, "h1", "h4"), 1);
}

/* Links side by side are paths of their own. */
static void topology__racks(void)
{
	char *text;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);
	const struct topo *t;

	fputs("switch core\n", f);
	for (i = 0; i < 6 * 4; i++) {
		if (i % 4 == 0)
			fprintf(f, "switch rack%zu\nhost h%zu\nlink rack%zu h%zu\n", i / 4,
				i / 4, i / 4, i / 4);
		fprintf(f, "link core rack%zu\n", i / 4);
	}
	t = good_file(f, &text);
	check_ports(t);
	check_paths(t, "h0", "h5", 4, 16);
	CHECK_EQ(next_hops(t, "rack0", "h5"), 4);
	CHECK_EQ(next_hops(t, "core", "h5"), 4);
}

static void topology__leafspine(void)
{
	char *text;
	size_t size, i, j;
	FILE *f = open_memstream(&text, &size);
	const struct topo *t;

	for (i = 0; i < 5; i++)
		fprintf(f, "switch spine%zu\n", i);
	for (i = 0; i < 7; i++) {
		fprintf(f, "switch leaf%zu\n", i);
		for (j = 0; j < 3; j++)
			fprintf(f, "host h%zu\nlink h%zu leaf%zu\n", 3 * i + j, 3 * i + j, i);
		for (j = 0; j < 5; j++)
			fprintf(f, "link leaf%zu spine%zu\n", i, j);
	}
	t = good_file(f, &text);
	check_ports(t);
	check_paths(t, "h0", "h2", 2, 1);
	check_paths(t, "h0", "h20", 4, 5);
	CHECK_EQ(next_hops(t, "leaf0", "h20"), 5);
	CHECK_EQ(next_hops(t, "spine3", "h20"), 1);
	/* The way from spine to spine is down and up through any leaf. */
	check_paths(t, "spine0", "spine1", 2, 7);
}

static const struct topo *fattree(unsigned int k)
{
	unsigned int half = k / 2, p, i, j, host = 1;
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (i = 1; i <= half * half; i++)
		fprintf(f, "switch c%u\n", i);
	for (p = 1; p <= k; p++) {
		for (i = 1; i <= half; i++) {
			fprintf(f, "switch a%u-%u\n", p, i);
			for (j = 1; j <= half; j++)
				fprintf(f, "link a%u-%u c%u\n", p, i, (i - 1) * half + j);
		}
		for (i = 1; i <= half; i++) {
			fprintf(f, "switch e%u-%u\n", p, i);
			for (j = 1; j <= half; j++)
				fprintf(f, "link e%u-%u a%u-%u\n", p, i, p, j);
			for (j = 1; j <= half; j++, host++)
				fprintf(f, "host h%u\nlink e%u-%u h%u\n", host, p, i, host);
		}
	}
	return good_file(f, &text);
}

static void topology__fattree(void)
{
	unsigned int k, half;
	char name[16];

	for (k = 4; k <= 12; k += 2) {
		const struct topo *t = fattree(k);

		half = k / 2;
		CHECK_EQ(t->n_hosts, k * k * k / 4);
		CHECK_EQ(t->n_switches, 5 * k * k / 4);
		CHECK_EQ(t->n_links, 3 * k * k * k / 4);
		check_ports(t);
		check_paths(t, "h1", "h2", 2, 1);
		snprintf(name, sizeof(name), "h%u", half + 1);
		check_paths(t, "h1", name, 4, half);
		snprintf(name, sizeof(name), "h%u", half * half + 1);
		check_paths(t, "h1", name, 6, half * half);
		snprintf(name, sizeof(name), "h%u", t->n_hosts);
		check_paths(t, "h1", name, 6, half * half);
		CHECK_EQ(next_hops(t, "e1-1", name), half);
		CHECK_EQ(next_hops(t, "a1-1", name), half);
		CHECK_EQ(next_hops(t, "c1", name), 1);
		snprintf(name, sizeof(name), "a%u-1", k);
		CHECK_EQ(next_hops(t, name, "h1"), half);
	}
}

/* Random switches, one host each, against Floyd and Warshall. */
static void paths__random_networks(void)
{
	enum { N = 24, LINKS = 40 };
	unsigned int hops[N][N], links[N][N], round, i, j, k, rng = 1;
	uint64_t count;

	for (round = 0; round < 200; round++) {
		char *text;
		size_t size;
		FILE *f = open_memstream(&text, &size);
		struct paths *p;
		struct topo *t;

		memset(links, 0, sizeof(links));
		for (i = 0; i < N; i++)
			for (j = 0; j < N; j++)
				hops[i][j] = i == j ? 0 : 1000;
		for (i = 0; i < N; i++)
			fprintf(f, "switch s%u\n", i);
		for (i = 0; i < LINKS + N - 1; i++) {
			/* A tree first, so that it is connected. */
			rng = rng * 1664525 + 1013904223;
			j = i < N - 1 ? i + 1 : (rng >> 8) % N;
			rng = rng * 1664525 + 1013904223;
			k = (rng >> 8) % (i < N - 1 ? i + 1 : N);
			if (j == k)
				continue;
			fprintf(f, "link s%u s%u\n", j, k);
			links[j][k]++;
			links[k][j]++;
			hops[j][k] = 1;
			hops[k][j] = 1;
		}
		fprintf(f, "host h\nlink h s0\n");
		t = good_file(f, &text);
		for (k = 0; k < N; k++)
			for (i = 0; i < N; i++)
				for (j = 0; j < N; j++)
					if (hops[i][k] + hops[k][j] < hops[i][j])
						hops[i][j] = hops[i][k] + hops[k][j];
		p = paths_new(t);
		for (i = 0; i < N; i++) {
			paths_find(t, i, 1500, p);
			for (j = 0; j < N; j++) {
				CHECK_EQ(p->hops[j], hops[j][i]);
				/* Paths go on at all neighbours that are nearer. */
				count = i == j;
				for (k = 0; k < N; k++)
					if (links[j][k] && hops[k][i] + 1 == hops[j][i])
						count += links[j][k] * p->count[k];
				CHECK_EQ(p->count[j], count);
				CHECK_EQ(p->ns[j], hops[j][i] * (1221 + 1000));
			}
		}
		paths_free(p);
	}
}

/* Doubled links in a row double the paths each: more than 64 bits of them. */
static void paths__too_many_to_count(void)
{
	char *text;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	fputs("switch s0\nhost a\nlink a s0\n", f);
	for (i = 1; i <= 70; i++)
		fprintf(f, "switch s%zu\nlink s%zu s%zu\nlink s%zu s%zu\n", i, i, i - 1, i, i - 1);
	fputs("host b\nlink b s70\n", f);
	check_paths(good_file(f, &text), "a", "b", 72, UINT64_MAX);
}

static void addresses__of_nodes(void)
{
	static const struct {
		unsigned int number;
		bool is_switch;
		const char *addr, *addr6;
	} nodes[] = {
		{ 1, false, "10.0.0.2", "fd00::1" },
		{ 249, false, "10.0.0.250", "fd00::f9" },
		{ 250, false, "10.0.1.1", "fd00::fa" },
		{ 8192, false, "10.0.32.193", "fd00::2000" },
		{ 1, true, "10.128.0.2", "fd00::8000:1" },
	};
	struct node node = { 0 };
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nodes); i++) {
		node.number = nodes[i].number;
		node.is_switch = nodes[i].is_switch;
		node_addr(&node, text);
		CHECK(!strcmp(text, nodes[i].addr));
		node_addr6(&node, text);
		CHECK(!strcmp(text, nodes[i].addr6));
	}
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(text__options_and_defaults),
		KTAP_CASE(text__names_of_ports),
		KTAP_CASE(text__bad_ones_are_refused),
		KTAP_CASE(text__delays),
		KTAP_CASE(times__of_a_link),
		KTAP_CASE(times__of_a_round_trip),
		KTAP_CASE(times__the_fastest_of_equal_paths),
		KTAP_CASE(topology__star),
		KTAP_CASE(topology__dumbbell),
		KTAP_CASE(topology__racks),
		KTAP_CASE(topology__leafspine),
		KTAP_CASE(topology__fattree),
		KTAP_CASE(paths__random_networks),
		KTAP_CASE(paths__too_many_to_count),
		KTAP_CASE(addresses__of_nodes),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
