// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: make, change and show links of the test NIC.
 *
 * iproute2 knows neither the attributes of this kind nor their units. What it
 * does know, like names, addresses and up or down, stays with it, except for what
 * a link is made with. The parameters come from the table that the module is
 * built from.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <math.h>
#include <net/if.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "labnic_params.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define MAX_WORDS	256

enum kind { BIT, NS, US, COUNT, BYTES, PPB, SNS, RATIO, BOOL, DIST };

struct param {
	const char *name;		/* as it is typed */
	const char *field;		/* the same with its unit, as it is shown */
	enum kind kind;
	int attr;
	int64_t min, max, def;
	const char *help;
};

static const struct param params[] = {
#define LABNIC_X(NAME, field, KIND, min, max, def, help) \
	{ #NAME, #field, KIND, IFLA_LABNIC_##NAME, min, max, def, help },
	LABNIC_PARAMS
#undef LABNIC_X
};

struct unit {
	const char *name;
	double factor;
};

static const struct unit rate_units[] = {
	{ "", 1 }, { "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 },
	{ "gbit", 1e9 }, { "tbit", 1e12 }, { NULL, 0 },
};

static const struct unit time_units[] = {
	{ "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
};

static const struct unit plain_units[] = {
	{ "", 1 }, { "k", 1024 }, { "m", 1048576 }, { NULL, 0 },
};

static const struct unit probability_units[] = {
	{ "", 1e9 }, { "%", 1e7 }, { "ppm", 1e3 }, { "ppb", 1 }, { NULL, 0 },
};

static const struct unit ratio_units[] = {
	{ "", 1 }, { "ppb", 1 }, { "ppm", 1e3 }, { NULL, 0 },
};

static const char * const dists[] = {
	[LABNIC_DIST_CONST] = "const",
	[LABNIC_DIST_UNIFORM] = "uniform",
	[LABNIC_DIST_EXPONENTIAL] = "exponential",
	[LABNIC_DIST_NORMAL] = "normal",
};

static void __attribute__((format(printf, 1, 2), noreturn)) die(const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("labnic: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static const struct unit *units_of(enum kind kind)
{
	switch (kind) {
	case BIT:
		return rate_units;
	case NS:
	case US:
	case SNS:
		return time_units;
	case PPB:
		return probability_units;
	case RATIO:
		return ratio_units;
	default:
		return plain_units;
	}
}

static const char *unit_help(enum kind kind)
{
	static const char * const help[] = {
		[BIT] = "bit, kbit, mbit, gbit", [NS] = "ns, us, ms, s",
		[US] = "us, ms, s", [COUNT] = "number", [BYTES] = "bytes",
		[PPB] = "0 to 1, %, ppm, ppb", [SNS] = "ns, us, ms, s",
		[RATIO] = "ppb, ppm", [BOOL] = "on, off",
		[DIST] = "const, uniform, exponential, normal",
	};

	return help[kind];
}

static int64_t parse_value(const struct param *p, const char *text)
{
	const struct unit *unit;
	int64_t whole, divisor;
	double value;
	char *end;
	size_t i;

	if (p->kind == DIST) {
		for (i = 0; i < ARRAY_SIZE(dists); i++)
			if (!strcmp(text, dists[i]))
				return i;
		die("%s must be one of %s, not '%s'", p->name, unit_help(DIST), text);
	}
	if (p->kind == BOOL) {
		if (!strcmp(text, "on") || !strcmp(text, "1"))
			return 1;
		if (!strcmp(text, "off") || !strcmp(text, "0"))
			return 0;
		die("%s must be on or off, not '%s'", p->name, text);
	}
	/* Whole numbers are exact; the others are rounded where that makes sense. */
	errno = 0;
	whole = strtoll(text, &end, 10);
	value = whole;
	if (*end == '.' || *end == 'e')
		value = strtod(text, &end);
	if (end == text || errno || !isfinite(value))
		die("%s needs a number, not '%s'", p->name, text);
	for (unit = units_of(p->kind); unit->name; unit++)
		if (!strcasecmp(end, unit->name))
			break;
	if (!unit->name)
		die("%s takes %s, not '%s'", p->name, unit_help(p->kind), end);
	/* Bare numbers are in the unit of the attribute. */
	divisor = p->kind == US && *end ? 1000 : 1;
	/* All limits below this one are the kernel's to explain. */
	if (fabs(value * unit->factor) >= 0x1p63)
		die("%s is out of any range: '%s'", p->name, text);
	if (value == (double)whole && whole * (int64_t)unit->factor % divisor == 0)
		return whole * (int64_t)unit->factor / divisor;
	value *= unit->factor / divisor;
	if (fabs(value - round(value)) > 1e-6)
		die("%s is not a whole number of %s: '%s'", p->name, p->field, text);
	return llround(value);
}

static const struct param *find_param(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(params); i++)
		if (!strcasecmp(name, params[i].name))
			return &params[i];
	return NULL;
}

/* Netlink ----------------------------------------------------------------- */

static struct nl_sock *sock;

/* What the kernel says about a request that it refused. */
static char complaint[512];

static int on_error(struct sockaddr_nl *from, struct nlmsgerr *error, void *arg)
{
	struct nlmsghdr *head = (void *)((char *)error - NLMSG_HDRLEN);
	int left = NLMSG_PAYLOAD(head, sizeof(*error));
	struct nlattr *tb[NLMSGERR_ATTR_MAX + 1];
	char *at = (char *)(error + 1);

	(void)from;
	*(int *)arg = error->error;
	complaint[0] = '\0';
	if (!(head->nlmsg_flags & NLM_F_ACK_TLVS))
		return NL_STOP;
	if (!(head->nlmsg_flags & NLM_F_CAPPED)) {
		at += error->msg.nlmsg_len - sizeof(error->msg);
		left -= error->msg.nlmsg_len - sizeof(error->msg);
	}
	if (left > 0 && !nla_parse(tb, NLMSGERR_ATTR_MAX, (void *)at, left, NULL) &&
	    tb[NLMSGERR_ATTR_MSG])
		snprintf(complaint, sizeof(complaint), "%.*s", nla_len(tb[NLMSGERR_ATTR_MSG]),
			 (char *)nla_data(tb[NLMSGERR_ATTR_MSG]));
	return NL_STOP;
}

static int on_ack(struct nl_msg *msg, void *arg)
{
	(void)msg;
	*(int *)arg = 0;
	return NL_STOP;
}

static void open_socket(void)
{
	int on = 1;

	sock = nl_socket_alloc();
	if (!sock)
		die("no memory");
	if (nl_connect(sock, NETLINK_ROUTE) < 0)
		die("no netlink socket: %s", strerror(errno));
	setsockopt(nl_socket_get_fd(sock), SOL_NETLINK, NETLINK_EXT_ACK, &on, sizeof(on));
	nl_socket_set_buffer_size(sock, 262144, 65536);
}

/*
 * Send @msg and wait for the end of what comes back, each message to @valid.
 * Returns 0 or a negative errno; the kernel's words are in complaint.
 */
static int transact(struct nl_msg *msg, nl_recvmsg_msg_cb_t valid, void *arg)
{
	struct nl_cb *cb = nl_cb_alloc(NL_CB_DEFAULT);
	int result = 1, err;

	if (!cb)
		die("no memory");
	nl_cb_err(cb, NL_CB_CUSTOM, on_error, &result);
	nl_cb_set(cb, NL_CB_ACK, NL_CB_CUSTOM, on_ack, &result);
	nl_cb_set(cb, NL_CB_FINISH, NL_CB_CUSTOM, on_ack, &result);
	if (valid)
		nl_cb_set(cb, NL_CB_VALID, NL_CB_CUSTOM, valid, arg);
	err = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	if (err < 0)
		die("cannot send: %s", nl_geterror(err));
	while (result > 0) {
		err = nl_recvmsgs(sock, cb);
		if (err < 0 && result > 0)
			die("cannot receive: %s", nl_geterror(err));
	}
	nl_cb_put(cb);
	return result;
}

static int open_netns(const char *name)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s%s", strchr(name, '/') ? "" : "/run/netns/", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("network namespace '%s': %s", name, strerror(errno));
	return fd;
}

/* All sockets and names from now on are those of the namespace. */
static void enter_netns(const char *name)
{
	int fd = open_netns(name);

	if (setns(fd, CLONE_NEWNET))
		die("cannot enter the network namespace '%s': %s", name, strerror(errno));
	close(fd);
	if (sock)
		nl_socket_free(sock);
	open_socket();
}

/* Commands ---------------------------------------------------------------- */

#define MUST(call)	do { if ((call) < 0) die("the request is too long"); } while (0)

static void put_address(struct nl_msg *msg, const char *text)
{
	unsigned char mac[6];
	int used = 0;

	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		   &mac[3], &mac[4], &mac[5], &used) != 6 || text[used])
		die("address must be like 02:00:00:00:00:01, not '%s'", text);
	MUST(nla_put(msg, IFLA_ADDRESS, sizeof(mac), mac));
}

static uint32_t parse_u32(const char *what, const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (end == text || *end || errno || value > UINT32_MAX)
		die("%s must be a number, not '%s'", what, text);
	return value;
}

static void put_param(struct nl_msg *msg, const char *name, const char *text)
{
	const struct param *p = find_param(name);
	int64_t value;

	if (!p)
		die("unknown parameter '%s': see 'labnic params'", name);
	value = parse_value(p, text);
	MUST(nla_put(msg, p->attr, sizeof(value), &value));
}

/*
 * One end of a link to make: NAME, then pairs of words up to "peer" or the end.
 * What any link has comes before its IFLA_LINKINFO, so pairs are walked twice.
 */
static int put_end(struct nl_msg *msg, char **words, int n, bool is_peer,
		   int (*peer)(struct nl_msg *msg, char **words, int n))
{
	static const char * const common[] = { "netns", "address", "mtu", "queues" };
	struct nlattr *info, *data;
	int i, end, netns;
	uint32_t queues;
	size_t j;

	for (end = 1; end < n && strcmp(words[end], "peer"); end += 2)
		if (end + 1 >= n)
			die("%s needs a value", words[end]);
	if (is_peer && end < n)
		die("there is only one peer");
	if (strlen(words[0]) >= IFNAMSIZ)
		die("the name '%s' is too long", words[0]);
	MUST(nla_put_string(msg, IFLA_IFNAME, words[0]));
	for (i = 1; i < end; i += 2) {
		if (!strcmp(words[i], "netns")) {
			netns = open_netns(words[i + 1]);
			MUST(nla_put_u32(msg, IFLA_NET_NS_FD, netns));
		} else if (!strcmp(words[i], "address")) {
			put_address(msg, words[i + 1]);
		} else if (!strcmp(words[i], "mtu")) {
			MUST(nla_put_u32(msg, IFLA_MTU, parse_u32("mtu", words[i + 1])));
		} else if (!strcmp(words[i], "queues")) {
			queues = parse_u32("queues", words[i + 1]);
			MUST(nla_put_u32(msg, IFLA_NUM_TX_QUEUES, queues));
			MUST(nla_put_u32(msg, IFLA_NUM_RX_QUEUES, queues));
		}
	}
	info = nla_nest_start(msg, IFLA_LINKINFO);
	MUST(nla_put_string(msg, IFLA_INFO_KIND, "labnic"));
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	for (i = 1; i < end; i += 2) {
		for (j = 0; j < ARRAY_SIZE(common); j++)
			if (!strcmp(words[i], common[j]))
				break;
		if (j == ARRAY_SIZE(common))
			put_param(msg, words[i], words[i + 1]);
	}
	if (peer && end < n) {
		if (end + 1 >= n)
			die("peer needs a name");
		peer(msg, words + end + 1, n - end - 1);
	}
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	return 0;
}

static int put_peer(struct nl_msg *msg, char **words, int n)
{
	struct nlattr *nest = nla_nest_start(msg, IFLA_LABNIC_PEER);
	struct ifinfomsg *ifm = nlmsg_reserve(msg, sizeof(*ifm), NLMSG_ALIGNTO);

	if (!nest || !ifm)
		die("the request is too long");
	memset(ifm, 0, sizeof(*ifm));
	put_end(msg, words, n, true, NULL);
	nla_nest_end(msg, nest);
	return 0;
}

static struct nl_msg *new_request(int type, int flags, const char *name)
{
	struct ifinfomsg ifm = { .ifi_family = AF_UNSPEC };
	struct nl_msg *msg = nlmsg_alloc_size(16384);

	if (!msg || !nlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, type, sizeof(ifm), flags))
		die("no memory");
	if (name) {
		ifm.ifi_index = if_nametoindex(name);
		if (!ifm.ifi_index)
			die("there is no device '%s'", name);
	}
	memcpy(nlmsg_data(nlmsg_hdr(msg)), &ifm, sizeof(ifm));
	return msg;
}

static void finish(int err, const char *what, const char *name)
{
	if (err)
		die("cannot %s '%s': %s", what, name,
		    complaint[0] ? complaint : strerror(-err));
}

static void command_add(char **words, int n)
{
	struct nl_msg *msg;

	if (n < 1)
		die("add needs a name");
	msg = new_request(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
			  NULL);
	put_end(msg, words, n, false, put_peer);
	finish(transact(msg, NULL, NULL), "add", words[0]);
}

static void command_set(char **words, int n)
{
	struct nlattr *info, *data;
	struct nl_msg *msg;
	int i;

	if (n < 3 || !(n & 1))
		die("set needs a name, and pairs of parameter and value");
	msg = new_request(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, words[0]);
	info = nla_nest_start(msg, IFLA_LINKINFO);
	MUST(nla_put_string(msg, IFLA_INFO_KIND, "labnic"));
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	for (i = 1; i < n; i += 2)
		put_param(msg, words[i], words[i + 1]);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	finish(transact(msg, NULL, NULL), "set", words[0]);
}

static int64_t get_s64(struct nlattr *attr)
{
	int64_t value = 0;

	if (attr && nla_len(attr) == sizeof(value))
		memcpy(&value, nla_data(attr), sizeof(value));
	return value;
}

static int show_link(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct nlattr *data[IFLA_LABNIC_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct ifinfomsg *ifm = nlmsg_data(head);
	int *shown = arg;
	size_t i;

	if (head->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(head, sizeof(*ifm), tb, IFLA_MAX, NULL) || !tb[IFLA_IFNAME] ||
	    !tb[IFLA_LINKINFO] || nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) ||
	    !info[IFLA_INFO_KIND] || strcmp(nla_get_string(info[IFLA_INFO_KIND]), "labnic") ||
	    !info[IFLA_INFO_DATA] ||
	    nla_parse_nested(data, IFLA_LABNIC_MAX, info[IFLA_INFO_DATA], NULL))
		return NL_SKIP;
	printf("%s  {\n    \"ifname\": \"%s\",\n    \"ifindex\": %d,\n",
	       (*shown)++ ? ",\n" : "", nla_get_string(tb[IFLA_IFNAME]), ifm->ifi_index);
	if (tb[IFLA_LINK])
		printf("    \"peer_ifindex\": %u,\n", nla_get_u32(tb[IFLA_LINK]));
	printf("    \"carrier\": %s,\n",
	       tb[IFLA_CARRIER] && nla_get_u8(tb[IFLA_CARRIER]) ? "true" : "false");
	printf("    \"phc_index\": %" PRId64, get_s64(data[IFLA_LABNIC_PHC_INDEX]));
	for (i = 0; i < ARRAY_SIZE(params); i++) {
		int64_t value = get_s64(data[params[i].attr]);

		printf(",\n    \"%s\": ", params[i].field);
		if (params[i].kind == BOOL)
			printf("%s", value ? "true" : "false");
		else if (params[i].kind == DIST && value >= 0 &&
			 value < (int64_t)ARRAY_SIZE(dists))
			printf("\"%s\"", dists[value]);
		else
			printf("%" PRId64, value);
	}
	printf("\n  }");
	return NL_OK;
}

static void command_show(char **words, int n)
{
	struct nl_msg *msg;
	int shown = 0, err;

	if (n > 1)
		die("show takes one name or none");
	/* One device is answered and acknowledged, a dump only finished. */
	msg = new_request(RTM_GETLINK, NLM_F_REQUEST | (n ? NLM_F_ACK : NLM_F_DUMP),
			  n ? words[0] : NULL);
	printf("[\n");
	err = transact(msg, show_link, &shown);
	printf("%s]\n", shown ? "\n" : "");
	finish(err, "show", n ? words[0] : "links");
	if (n && !shown)
		die("'%s' is not a labnic", words[0]);
}

static void command_params(void)
{
	char name[32];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		for (j = 0; params[i].name[j] && j < sizeof(name) - 1; j++)
			name[j] = params[i].name[j] >= 'A' && params[i].name[j] <= 'Z' ?
				  params[i].name[j] + 32 : params[i].name[j];
		name[j] = '\0';
		printf("%-17s %s\n%-17s %s; %" PRId64 " to %" PRId64 ", default %" PRId64 "\n",
		       name, params[i].help, "", unit_help(params[i].kind), params[i].min,
		       params[i].max, params[i].def);
	}
}

static void usage(FILE *to)
{
	fputs("labnic [-n NETNS] COMMAND\n\n"
	      "  add NAME [END] [PARAMETER VALUE]... [peer NAME [END] [PARAMETER VALUE]...]\n"
	      "        make a link; the other end has the same parameters unless given its own\n"
	      "  set NAME PARAMETER VALUE...   change one end, all at once or not at all\n"
	      "  show [NAME]                   as JSON\n"
	      "  params                        list parameters: units, range, default\n"
	      "  batch FILE                    one command a line, # comments; '-' is stdin\n\n"
	      "END: [netns NETNS] [address MAC] [mtu BYTES] [queues N]\n", to);
}

static void run(char **words, int n);

static void command_batch(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *words[MAX_WORDS], line[8192], *word, *rest;
	int n;

	if (!file)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = '\0';
		n = 0;
		for (word = strtok_r(line, " \t", &rest); word && n < MAX_WORDS;
		     word = strtok_r(NULL, " \t", &rest))
			words[n++] = word;
		if (n == MAX_WORDS)
			die("a line has more than %d words", MAX_WORDS - 1);
		if (n)
			run(words, n);
	}
	if (file != stdin)
		fclose(file);
}

static void run(char **words, int n)
{
	if (!strcmp(words[0], "add"))
		command_add(words + 1, n - 1);
	else if (!strcmp(words[0], "set"))
		command_set(words + 1, n - 1);
	else if (!strcmp(words[0], "show"))
		command_show(words + 1, n - 1);
	else if (!strcmp(words[0], "params") && n == 1)
		command_params();
	else if (!strcmp(words[0], "batch") && n == 2)
		command_batch(words[1]);
	else
		die("unknown command '%s': see 'labnic help'", words[0]);
}

int main(int argc, char **argv)
{
	const char *netns = NULL;
	int at = 1;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		netns = argv[2];
		at = 3;
	}
	if (at >= argc) {
		usage(stderr);
		return 1;
	}
	if (!strcmp(argv[at], "help") || !strcmp(argv[at], "--help")) {
		usage(stdout);
		return 0;
	}
	if (netns)
		enter_netns(netns);
	else
		open_socket();
	run(argv + at, argc - at);
	return fflush(stdout) ? 1 : 0;
}
