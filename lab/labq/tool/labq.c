// SPDX-License-Identifier: GPL-2.0
/*
 * labnic labq: buffers of switch ports.
 */
#include <inttypes.h>
#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "labq_params.h"
#include "tool.h"

static const struct param params[] = {
#define LABQ_X(NAME, field, KIND, min, max, def, SCOPE, help) \
	{ #NAME, #field, KIND, TCA_LABQ_##NAME, min, max, def, help },
	LABQ_PARAMS
#undef LABQ_X
	{ .name = NULL }
};

/* Names of statistics, in the order of their attributes: prio is the first. */
#define LABQ_X(NAME, field)	#field,
static const char * const queue_fields[] = { LABQ_QUEUE_STATS NULL };
static const char * const ingress_fields[] = { LABQ_INGRESS_STATS NULL };
#undef LABQ_X

/* Attributes of either: prio, and as many as there are names. */
#define FIRST	LABQ_QUEUE_PRIO
_Static_assert((int)LABQ_INGRESS_PRIO == FIRST, "both kinds of statistics are alike");
_Static_assert(ARRAY_SIZE(queue_fields) == LABQ_QUEUE_MAX - FIRST + 2, "a name for each");
_Static_assert(ARRAY_SIZE(ingress_fields) == LABQ_INGRESS_MAX - FIRST + 2, "a name for each");

static struct nl_msg *new_request(int type, int flags, unsigned int index)
{
	struct tcmsg tcm = {
		.tcm_family = AF_UNSPEC,
		.tcm_ifindex = index,
		.tcm_parent = TC_H_ROOT,
	};

	return new_message(type, flags, &tcm, sizeof(tcm));
}

/* The device in "dev DEV ...": the first two of @words. */
static const char *device(const char *what, char **words, int n)
{
	if (n < 2 || strcmp(words[0], "dev"))
		die("labq %s needs dev DEV", what);
	return words[1];
}

static void configure(const char *what, int flags, char **words, int n)
{
	const char *dev = device(what, words, n);
	struct nlattr *options;
	struct nl_msg *msg;
	int i;

	if (n & 1)
		die("%s needs a value", words[n - 1]);
	msg = new_request(RTM_NEWQDISC, NLM_F_REQUEST | NLM_F_ACK | flags, index_of(dev));
	MUST(nla_put_string(msg, TCA_KIND, "labq"));
	options = nla_nest_start(msg, TCA_OPTIONS);
	for (i = 2; i < n; i += 2)
		put_param(msg, params, words[i], words[i + 1], "labnic labq params");
	nla_nest_end(msg, options);
	finish(transact(msg, NULL, NULL), what, dev);
}

static void reset_port(char **words, int n)
{
	const char *dev = device("reset", words, n);
	struct nlattr *options;
	struct nl_msg *msg;

	if (n != 2)
		die("labq reset takes no more than dev DEV");
	msg = new_request(RTM_NEWQDISC, NLM_F_REQUEST | NLM_F_ACK, index_of(dev));
	MUST(nla_put_string(msg, TCA_KIND, "labq"));
	options = nla_nest_start(msg, TCA_OPTIONS);
	MUST(nla_put_flag(msg, TCA_LABQ_RESET));
	nla_nest_end(msg, options);
	finish(transact(msg, NULL, NULL), "reset", dev);
}

/* One member for each attribute of @nest, up to @max, named in @fields. */
static void show_fields(struct nlattr *nest, const char * const *fields, int max)
{
	struct nlattr *tb[LABQ_QUEUE_MAX + LABQ_INGRESS_MAX];
	const char *before = "      {";
	int i;

	if (nla_parse_nested(tb, max, nest, NULL))
		die("malformed statistics from the kernel");
	for (i = 0; fields[i]; i++) {
		if (!tb[FIRST + i])
			continue;
		printf("%s \"%s\": %" PRIu64, before, fields[i],
		       (uint64_t)get_s64(tb[FIRST + i]));
		before = ",";
	}
	printf(" }");
}

/* An array with an object for each attribute @type in @stats. */
static void show_array(struct nlattr *stats, int type, const char *name,
		       const char * const *fields, int max)
{
	const char *before = "\n";
	struct nlattr *nest;
	int left;

	printf(",\n    \"%s\": [", name);
	nla_for_each_nested(nest, stats, left) {
		if (nla_type(nest) != type)
			continue;
		fputs(before, stdout);
		show_fields(nest, fields, max);
		before = ",\n";
	}
	printf("%s]", *before == ',' ? "\n    " : "");
}

static void show_stats(struct nlattr *stats)
{
	struct nlattr *tb[LABQ_STATS_MAX + 1];

	if (nla_parse_nested(tb, LABQ_STATS_MAX, stats, NULL))
		die("malformed statistics from the kernel");
	printf(",\n    \"since_ns\": %" PRIu64, (uint64_t)get_s64(tb[LABQ_STATS_SINCE_NS]));
	printf(",\n    \"shared_bytes\": %" PRIu64,
	       (uint64_t)get_s64(tb[LABQ_STATS_SHARED_BYTES]));
	printf(",\n    \"shared_size_bytes\": %" PRIu64,
	       (uint64_t)get_s64(tb[LABQ_STATS_SHARED_SIZE]));
	printf(",\n    \"cnps_sent\": %" PRIu64, (uint64_t)get_s64(tb[LABQ_STATS_CNPS_SENT]));
	printf(",\n    \"cnps_unsent\": %" PRIu64,
	       (uint64_t)get_s64(tb[LABQ_STATS_CNPS_UNSENT]));
	show_array(stats, LABQ_STATS_QUEUE, "queues", queue_fields, LABQ_QUEUE_MAX);
	show_array(stats, LABQ_STATS_INGRESS, "ingress", ingress_fields, LABQ_INGRESS_MAX);
}

struct wanted {
	unsigned int index;		/* of a device, 0 for all */
	int shown;
};

static int show_qdisc(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[TCA_MAX + 1], *options[TCA_LABQ_MAX + 1];
	struct nlattr *stats[TCA_STATS_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct tcmsg *tcm = nlmsg_data(head);
	struct wanted *wanted = arg;
	const struct param *p;
	char name[IF_NAMESIZE];

	if (head->nlmsg_type != RTM_NEWQDISC ||
	    nlmsg_parse(head, sizeof(*tcm), tb, TCA_MAX, NULL) || !tb[TCA_KIND] ||
	    strcmp(nla_get_string(tb[TCA_KIND]), "labq") || !tb[TCA_OPTIONS] ||
	    (wanted->index && wanted->index != (unsigned int)tcm->tcm_ifindex) ||
	    nla_parse_nested(options, TCA_LABQ_MAX, tb[TCA_OPTIONS], NULL) ||
	    !if_indextoname(tcm->tcm_ifindex, name))
		return NL_SKIP;
	printf("%s  {\n    \"ifname\": \"%s\",\n    \"ifindex\": %d",
	       wanted->shown++ ? ",\n" : "", name, tcm->tcm_ifindex);
	for (p = params; p->name; p++) {
		printf(",\n    ");
		print_param(p, get_s64(options[p->attr]));
	}
	if (tb[TCA_STATS2] && !nla_parse_nested(stats, TCA_STATS_MAX, tb[TCA_STATS2], NULL) &&
	    stats[TCA_STATS_APP])
		show_stats(stats[TCA_STATS_APP]);
	printf("\n  }");
	return NL_OK;
}

static void show_ports(char **words, int n)
{
	const char *dev = n ? device("show", words, n) : NULL;
	struct wanted wanted = { .index = dev ? index_of(dev) : 0 };
	int err;

	if (n > 2)
		die("labq show takes dev DEV or nothing");
	/* A dump has room for more than the answer about a single one. */
	printf("[\n");
	err = transact(new_request(RTM_GETQDISC, NLM_F_REQUEST | NLM_F_DUMP, wanted.index),
		       show_qdisc, &wanted);
	printf("%s]\n", wanted.shown ? "\n" : "");
	finish(err, "show", dev ?: "buffers");
	if (dev && !wanted.shown)
		die("'%s' has no labq", dev);
}

void command_labq(char **words, int n)
{
	const char *what = n ? words[0] : "";

	if (!strcmp(what, "add"))
		configure(what, NLM_F_CREATE | NLM_F_EXCL, words + 1, n - 1);
	else if (!strcmp(what, "set"))
		configure(what, 0, words + 1, n - 1);
	else if (!strcmp(what, "show"))
		show_ports(words + 1, n - 1);
	else if (!strcmp(what, "reset"))
		reset_port(words + 1, n - 1);
	else if (!strcmp(what, "params") && n == 1)
		list_params(params);
	else
		die("unknown command 'labq %s': see 'labnic help'", what);
}
