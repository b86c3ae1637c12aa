// SPDX-License-Identifier: GPL-2.0
/*
 * The text that declares a topology. One statement a line, words apart by blanks,
 * "words in quotes" count as one, # begins a comment:
 *
 *	seed N					of ECMP and of all that links do by chance
 *	host NAME [nic "..."] [qdisc "..."] [queues N]
 *	switch NAME [nic "..."] [queue N | labq "..."]
 *	link A B [rate R] [delay D] [mtu M] [a "..."] [b "..."]
 *	default host|switch|link OPTION...	for later declarations
 *
 * nic, a and b are parameters of labnic: of all ends of a node, of A's end and of B's.
 * queues counts those of a host's NIC. queue counts packets, labq has parameters of the qdisc labq:
 * each is the queue of a switch's port. A host has one link; all hosts can reach each other.
 */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parse.h"
#include "../labnic/labnic_params.h"
#include "labnet.h"

/**
 * struct reader - state of reading a text
 * @line: number of the line; 0: no single line
 * @host, @sw, @link: defaults, which later declarations copy
 */
struct reader {
	struct topo *t;
	unsigned int line;
	struct node host;
	struct node sw;
	struct link link;
	char *error;
	size_t error_size;
	jmp_buf failed;
};

static void __printf(2, 3) __attribute__((noreturn))
fail(struct reader *r, const char *format, ...)
{
	size_t used = 0;
	va_list ap;

	if (r->line)
		used = (size_t)snprintf(r->error, r->error_size, "line %u: ", r->line);
	va_start(ap, format);
	vsnprintf(r->error + used, r->error_size - used, format, ap);
	va_end(ap);
	longjmp(r->failed, 1);
}

/**
 * parse_delay() - a time with its unit
 * @text: such as "500ns", "1.5us", "2ms", "0s": whole nanoseconds, up to a second
 * @out_ns: result, untouched on error
 *
 * Return: true if @text is such a time.
 */
bool parse_delay(const char *text, uint64_t *out_ns)
{
	static const struct {
		const char *name;
		unsigned int digits;	/* after the point that are nanoseconds */
	} units[] = { { "ns", 0 }, { "us", 3 }, { "ms", 6 }, { "s", 9 } };
	uint64_t whole = 0, scale = 1;
	unsigned int digits = 0;
	bool point = false;
	const char *p;
	size_t i;

	for (p = text; isdigit((unsigned char)*p) || (*p == '.' && !point); p++) {
		if (*p == '.') {
			point = true;
			continue;
		}
		/* Beyond a second in ns anyway, whatever the unit. */
		if (whole > UINT64_MAX / 100)
			return false;
		whole = whole * 10 + (uint64_t)(*p - '0');
		digits += point;
	}
	if (p == text || !isdigit((unsigned char)p[-1]))
		return false;
	for (i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(p, units[i].name))
			break;
	if (i == ARRAY_SIZE(units) || digits > units[i].digits)
		return false;
	for (; digits < units[i].digits; digits++)
		scale *= 10;
	if (whole > NSEC_PER_SEC / scale)
		return false;
	*out_ns = whole * scale;
	return true;
}

/* Words -------------------------------------------------------------------- */

/* Cut @line into words, which stay part of it. */
static unsigned int split(struct reader *r, char *line, char **words)
{
	unsigned int n = 0;
	char *p = line;

	for (;;) {
		while (isspace((unsigned char)*p))
			p++;
		if (!*p || *p == '#')
			return n;
		if (n == MAX_WORDS)
			fail(r, "more than %d words", MAX_WORDS);
		if (*p == '"') {
			words[n++] = ++p;
			p = strchr(p, '"');
			if (!p)
				fail(r, "a quote is not closed");
			if (p[1] && !isspace((unsigned char)p[1]))
				fail(r, "a blank is missing after a quote");
			*p++ = '\0';
		} else {
			words[n++] = p;
			while (*p && !isspace((unsigned char)*p) && *p != '#')
				p++;
			if (*p == '#')
				*p = '\0';
			else if (*p)
				*p++ = '\0';
		}
	}
}

/* Parameters of labnic that labnet sets itself, and the words to use instead. */
static const char * const own_nic_params[][2] = {
	{ "rate", "the link's rate" }, { "delay", "the link's delay" },
	{ "seed", "the statement seed" },
};

static bool is_nic_param(const char *name)
{
	static const char * const names[] = {
#define LABNIC_X(NAME, ...)	#NAME,
		LABNIC_PARAMS
#undef LABNIC_X
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcasecmp(name, names[i]))
			return true;
	return false;
}

/* A value that another program takes apart, in words of which # begins a comment. */
static unsigned int split_value(struct reader *r, const char *text, char **words)
{
	if (strpbrk(text, "#\""))
		fail(r, "the value '%s' must be without # and quotes", text);
	return split(r, xstrdup(text), words);
}

/* Names only: the values are labnic's to check, before it asks the kernel. */
static const char *nic_params(struct reader *r, const char *text)
{
	char *words[MAX_WORDS];
	unsigned int n = split_value(r, text, words), i;
	size_t j;

	if (n % 2)
		fail(r, "parameters are pairs of name and value, unlike '%s'", text);
	for (i = 0; i < n; i += 2) {
		for (j = 0; j < ARRAY_SIZE(own_nic_params); j++)
			if (!strcasecmp(words[i], own_nic_params[j][0]))
				fail(r, "labnic's '%s' follows from the topology: use %s",
				     words[i], own_nic_params[j][1]);
		if (!is_nic_param(words[i]))
			fail(r, "labnic has no parameter '%s': see 'labnic params'", words[i]);
	}
	return xstrdup(text);
}

static const char *labq_params(struct reader *r, const char *text)
{
	char *words[MAX_WORDS];

	if (split_value(r, text, words) % 2)
		fail(r, "parameters are pairs of name and value, unlike '%s'", text);
	return xstrdup(text);
}

static const char *qdisc_words(struct reader *r, const char *text)
{
	char *words[MAX_WORDS];

	if (!split_value(r, text, words))
		fail(r, "qdisc needs what tc takes after 'root', such as fq");
	return xstrdup(text);
}

static unsigned int parse_number(struct reader *r, const char *name, const char *text,
				 unsigned int min, unsigned int max)
{
	uint64_t value;

	if (!parse_u64(text, min, max, &value))
		fail(r, "%s must be a number from %u to %u, not '%s'", name, min, max, text);
	return (unsigned int)value;
}

/* Statements --------------------------------------------------------------- */

/* Both kinds of node take options of the other's with an error that says so. */
static void node_option(struct reader *r, struct node *node, const char *name,
			const char *value)
{
	if (!strcmp(name, "nic")) {
		node->nic = nic_params(r, value);
	} else if (!node->is_switch && !strcmp(name, "qdisc")) {
		node->qdisc = qdisc_words(r, value);
	} else if (!node->is_switch && !strcmp(name, "queues")) {
		node->queues = parse_number(r, name, value, 1, MAX_QUEUES);
	} else if (node->is_switch && !strcmp(name, "queue")) {
		node->queue = parse_number(r, name, value, 1, MAX_QUEUE);
		node->labq = NULL;
	} else if (node->is_switch && !strcmp(name, "labq")) {
		node->labq = labq_params(r, value);
	} else {
		fail(r, "a %s has no option '%s': %s are allowed",
		     node->is_switch ? "switch" : "host", name,
		     node->is_switch ? "nic, queue and labq" : "nic, qdisc and queues");
	}
}

static void link_option(struct reader *r, struct link *link, const char *name,
			const char *value)
{
	if (!strcmp(name, "rate")) {
		if (!parse_bitrate(value, &link->rate_bit) || link->rate_bit < 1000 ||
		    link->rate_bit > 1600000000000ULL)
			fail(r, "rate must be like 10gbit, from 1kbit to 1600gbit, not '%s'",
			     value);
	} else if (!strcmp(name, "delay")) {
		if (!parse_delay(value, &link->delay_ns))
			fail(r, "delay must be like 500ns or 1.5us, up to 1s, not '%s'", value);
	} else if (!strcmp(name, "mtu")) {
		link->mtu = parse_number(r, name, value, MIN_MTU, MAX_MTU);
	} else if (!strcmp(name, "a") || !strcmp(name, "b")) {
		link->nic[*name - 'a'] = nic_params(r, value);
	} else {
		fail(r, "a link has no option '%s': rate, delay, mtu, a and b are allowed",
		     name);
	}
}

static void check_pairs(struct reader *r, char **words, unsigned int n)
{
	if (n % 2)
		fail(r, "'%s' needs a value", words[n - 1]);
}

static int find(const struct topo *t, const char *name)
{
	unsigned int i;

	for (i = 0; i < t->n_nodes; i++)
		if (!strcmp(t->nodes[i].name, name))
			return (int)i;
	return -1;
}

/**
 * topo_find() - node by name
 *
 * Return: the node, or NULL.
 */
const struct node *topo_find(const struct topo *t, const char *name)
{
	int i = find(t, name);

	return i < 0 ? NULL : &t->nodes[i];
}

/* A name becomes a device's, a file's and a directory's. */
static void check_name(struct reader *r, const char *name)
{
	const char *p;

	for (p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !(p != name && strchr("-_", *p)))
			break;
	if (*p || p == name || p - name >= IFNAMSIZ)
		fail(r, "'%s' can't be a name: 1 to %d letters, digits, - and _", name,
		     IFNAMSIZ - 1);
	if (!strcmp(name, "lo") || !strcmp(name, "all") || !strcmp(name, "default"))
		fail(r, "'%s' can't be a name: the kernel uses it", name);
}

static void declare_node(struct reader *r, const struct node *model, char **words,
			 unsigned int n)
{
	struct topo *t = r->t;
	struct node *node;
	unsigned int i;
	int other;

	if (!n)
		fail(r, "a %s needs a name", model->is_switch ? "switch" : "host");
	check_name(r, words[0]);
	other = find(t, words[0]);
	if (other >= 0)
		fail(r, "'%s' was declared in line %u already", words[0],
		     t->nodes[other].line);
	if (t->n_nodes == TOPO_NODES)
		fail(r, "more than %d hosts and switches", TOPO_NODES);
	check_pairs(r, words + 1, n - 1);
	t->nodes = xrealloc(t->nodes, t->n_nodes + 1, sizeof(*t->nodes));
	node = &t->nodes[t->n_nodes];
	*node = *model;
	snprintf(node->name, sizeof(node->name), "%s", words[0]);
	node->line = r->line;
	for (i = 1; i < n; i += 2)
		node_option(r, node, words[i], words[i + 1]);
	node->number = node->is_switch ? ++t->n_switches : ++t->n_hosts;
	t->n_nodes++;
}

/* Links that the two nodes have between them already. */
static unsigned int links_between(const struct node *node, unsigned int peer)
{
	unsigned int i, n = 0;

	for (i = 0; i < node->n_ports; i++)
		n += node->ports[i].peer == peer;
	return n;
}

/* Several links to one neighbour are NAME, NAME.2, NAME.3 ... */
static void name_port(struct reader *r, struct port *port, const struct node *node,
		      const struct node *peer)
{
	unsigned int before = links_between(node, port->peer);
	int length;

	if (!node->is_switch) {
		snprintf(port->dev, sizeof(port->dev), "eth0");
		return;
	}
	if (!before) {
		snprintf(port->dev, sizeof(port->dev), "%s", peer->name);
		return;
	}
	length = snprintf(port->dev, sizeof(port->dev), "%.*s.%u", IFNAMSIZ - 1, peer->name,
			  before + 1);
	if (length >= IFNAMSIZ)
		fail(r, "the name '%s' is too long for a second link to it", peer->name);
}

static void add_port(struct reader *r, unsigned int side)
{
	struct topo *t = r->t;
	struct link *link = &t->links[t->n_links];
	struct node *node = &t->nodes[link->node[side]];
	struct port port = {
		.node = link->node[side], .peer = link->node[!side], .link = t->n_links,
		.side = side, .peer_port = t->nodes[link->node[!side]].n_ports - side,
	};

	name_port(r, &port, node, &t->nodes[port.peer]);
	link->port[side] = node->n_ports;
	node->ports = xrealloc(node->ports, node->n_ports + 1, sizeof(port));
	node->ports[node->n_ports++] = port;
}

static void declare_link(struct reader *r, char **words, unsigned int n)
{
	struct topo *t = r->t;
	struct link *link;
	unsigned int i;
	int node;

	if (n < 2)
		fail(r, "a link needs the names of two nodes");
	if (t->n_links == TOPO_LINKS)
		fail(r, "more than %d links", TOPO_LINKS);
	check_pairs(r, words + 2, n - 2);
	t->links = xrealloc(t->links, t->n_links + 1, sizeof(*t->links));
	link = &t->links[t->n_links];
	*link = r->link;
	for (i = 0; i < 2; i++) {
		node = find(t, words[i]);
		if (node < 0)
			fail(r, "'%s' has not been declared", words[i]);
		link->node[i] = (unsigned int)node;
		if (!t->nodes[node].is_switch && t->nodes[node].n_ports)
			fail(r, "the host '%s' has a link already", words[i]);
	}
	if (link->node[0] == link->node[1])
		fail(r, "a link needs two different nodes, not '%s' twice", words[0]);
	for (i = 2; i < n; i += 2)
		link_option(r, link, words[i], words[i + 1]);
	add_port(r, 0);
	add_port(r, 1);
	t->n_links++;
}

static void set_default(struct reader *r, char **words, unsigned int n)
{
	unsigned int i;

	if (!n)
		fail(r, "default needs host, switch or link");
	check_pairs(r, words + 1, n - 1);
	for (i = 1; i < n; i += 2) {
		if (!strcmp(words[0], "host"))
			node_option(r, &r->host, words[i], words[i + 1]);
		else if (!strcmp(words[0], "switch"))
			node_option(r, &r->sw, words[i], words[i + 1]);
		else if (!strcmp(words[0], "link"))
			link_option(r, &r->link, words[i], words[i + 1]);
		else
			fail(r, "there are defaults of host, switch and link, not of '%s'",
			     words[0]);
	}
}

static void read_statement(struct reader *r, char **words, unsigned int n)
{
	if (!strcmp(words[0], "host"))
		declare_node(r, &r->host, words + 1, n - 1);
	else if (!strcmp(words[0], "switch"))
		declare_node(r, &r->sw, words + 1, n - 1);
	else if (!strcmp(words[0], "link"))
		declare_link(r, words + 1, n - 1);
	else if (!strcmp(words[0], "default"))
		set_default(r, words + 1, n - 1);
	else if (strcmp(words[0], "seed"))
		fail(r, "unknown statement '%s': host, switch, link, default and seed are allowed",
		     words[0]);
	else if (n != 2 || !parse_u64(words[1], 0, INT64_MAX, &r->t->seed))
		fail(r, "seed must be one number from 0 to 2^63-1");
}

/* Check rules that concern the whole topology. */
static void check_whole(struct reader *r)
{
	struct topo *t = r->t;
	struct paths *p;
	unsigned int i;

	r->line = 0;
	if (!t->n_hosts)
		fail(r, "the topology has no host");
	p = paths_new(t);
	for (i = 0; i < t->n_nodes && t->nodes[i].is_switch; i++)
		;
	paths_find(t, i, MIN_MTU, p);
	for (i = 0; i < t->n_nodes; i++)
		if (p->hops[i] == NO_PATH)
			break;
	if (i < t->n_nodes) {
		r->line = t->nodes[i].line;
		fail(r, "'%s' is not connected to '%s'", t->nodes[i].name,
		     t->nodes[p->to].name);
	}
	paths_free(p);
}

/**
 * topo_read() - read a topology, and check it as far as possible without making it
 * @f: the text
 * @error: result: the fault and its line
 * @size: of @error
 *
 * Return: the topology, or NULL. Nothing is ever freed: a program reads one.
 */
struct topo *topo_read(FILE *f, char *error, size_t size)
{
	struct reader *r = xcalloc(1, sizeof(*r));
	char *words[MAX_WORDS], *line = NULL;
	unsigned int n;
	size_t room = 0;

	r->t = xcalloc(1, sizeof(*r->t));
	r->t->seed = 1;
	r->error = error;
	r->error_size = size;
	r->host = (struct node){ .nic = "", .qdisc = "fq", .queues = 1 };
	r->sw = (struct node){ .nic = "", .qdisc = "", .queue = 1000, .is_switch = true };
	r->link = (struct link){ .rate_bit = 10000000000ULL, .delay_ns = 1000, .mtu = 1500,
				 .nic = { "", "" } };
	if (setjmp(r->failed))
		return NULL;
	while (getline(&line, &room, f) >= 0) {
		r->line++;
		n = split(r, line, words);
		if (n)
			read_statement(r, words, n);
	}
	if (ferror(f)) {
		r->line = 0;
		fail(r, "cannot be read: %s", strerror(errno));
	}
	check_whole(r);
	return r->t;
}
