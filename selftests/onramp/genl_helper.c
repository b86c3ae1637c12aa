// SPDX-License-Identifier: GPL-2.0
/*
 * The netlink families "onramp", "timely" and "nic_ts", as a user of them that has no library.
 *
 *	genl_helper [OPTION...] info|path|conn|sub|dev|clock [NAME=VALUE...]	one object
 *	genl_helper [OPTION...] seed NAME=VALUE...	the baseline of a path
 *	genl_helper [OPTION...] dump stats|path|conn|sub|sock|dev|clock [NAME=VALUE...]	that match
 *	genl_helper [OPTION...] listen		events, until it is killed
 *
 * NAME is an attribute: family, local, remote, scope, local_prefix, remote_prefix, lport,
 * rport, ifindex, state, cookie, those of a seed; or raw=TYPE:HEX for any. Prints a line for each
 * object, NAME=VALUE of all attributes in it. Options:
 *
 *	-n NAMESPACE	in there
 *	-u		as a user without privileges
 *	-c		print "N objects N bytes N us" instead
 *	-w MS		wait that long after the first part of a dump
 *	-t MS		again and again for that long, whatever is answered
 *	-r BYTES	receive buffer (32768), and so the parts that a dump comes in
 *
 * A refused request prints "error NUMBER MESSAGE [at OFFSET]" on stdout, and exits with 1. A dump
 * that the kernel says is inconsistent has a line "interrupted".
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "../lib/netns.h"
#include "uapi/nic_ts.h"
#include "uapi/onramp_genl.h"
#include "uapi/timely.h"
#include "user/core_user.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

enum kind { U8, U16, U32, S32, U64, S64, BE16, ADDR, STRING, NEST, LIST };

struct attr {
	const char *name;
	int type;
	enum kind kind;
	const struct attr *nest;
};

static const struct attr module_attrs[], stat_attrs[], stats_attrs[];

static const struct attr stat_attrs[] = {
	{ "name", ONRAMP_A_MODULE_STAT_NAME, STRING, NULL },
	{ "value", ONRAMP_A_MODULE_STAT_VALUE, U64, NULL },
	{ NULL, 0, U8, NULL },
};

static const struct attr stats_attrs[] = {
	{ "stat", ONRAMP_A_MODULE_STAT, LIST, stat_attrs },
	{ NULL, 0, U8, NULL },
};

static const struct attr module_attrs[] = {
	{ "name", ONRAMP_A_MODULE_NAME, STRING, NULL },
	{ "version", ONRAMP_A_MODULE_VERSION, STRING, NULL },
	{ "stats", ONRAMP_A_MODULE_STATS, NEST, stats_attrs },
	{ NULL, 0, U8, NULL },
};

static const struct attr info_attrs[] = {
	{ "interface", ONRAMP_A_INFO_INTERFACE, U32, NULL },
	{ "features", ONRAMP_A_INFO_FEATURES, U64, NULL },
	{ "port", ONRAMP_A_INFO_PORT, U16, NULL },
	{ "port_open", ONRAMP_A_INFO_PORT_OPEN, U8, NULL },
	{ "protocol", ONRAMP_A_INFO_PROTOCOL, U8, NULL },
	{ "module", ONRAMP_A_INFO_MODULE, NEST, module_attrs },
	{ NULL, 0, U8, NULL },
};

static const struct attr path_attrs[] = {
	{ "family", ONRAMP_A_PATH_FAMILY, U16, NULL },
	{ "local", ONRAMP_A_PATH_LOCAL, ADDR, NULL },
	{ "remote", ONRAMP_A_PATH_REMOTE, ADDR, NULL },
	{ "scope", ONRAMP_A_PATH_SCOPE, U32, NULL },
	{ "local_prefix", ONRAMP_A_PATH_LOCAL_PREFIX, U8, NULL },
	{ "remote_prefix", ONRAMP_A_PATH_REMOTE_PREFIX, U8, NULL },
	{ "state", ONRAMP_A_PATH_STATE, U8, NULL },
	{ "connections", ONRAMP_A_PATH_CONNECTIONS, U32, NULL },
	{ "rtt_us", ONRAMP_A_PATH_RTT_US, U32, NULL },
	{ "unanswered", ONRAMP_A_PATH_UNANSWERED, U32, NULL },
	{ "heard_ms", ONRAMP_A_PATH_HEARD_MS, U64, NULL },
	{ "acks", ONRAMP_A_PATH_ACKS, U64, NULL },
	{ "acks_counted", ONRAMP_A_PATH_ACKS_COUNTED, U64, NULL },
	{ "paused_ns", ONRAMP_A_PATH_PAUSED_NS, U64, NULL },
	{ "owd_ns", ONRAMP_A_PATH_OWD_NS, U64, NULL },
	{ "owd_age_ns", ONRAMP_A_PATH_OWD_AGE_NS, U64, NULL },
	{ "owd_error_ns", ONRAMP_A_PATH_OWD_ERROR_NS, U64, NULL },
	{ "threshold_ns", ONRAMP_A_PATH_THRESHOLD_NS, U64, NULL },
	{ "slack_ns", ONRAMP_A_PATH_SLACK_NS, U64, NULL },
	{ "swing_ns", ONRAMP_A_PATH_SWING_NS, U64, NULL },
	{ "coexist_share", ONRAMP_A_PATH_COEXIST_SHARE, U32, NULL },
	{ "owd_p50_ns", ONRAMP_A_PATH_OWD_P50_NS, U64, NULL },
	{ "owd_p99_ns", ONRAMP_A_PATH_OWD_P99_NS, U64, NULL },
	{ "baseline", ONRAMP_A_PATH_BASELINE, U8, NULL },
	{ "owd_baseline_ns", ONRAMP_A_PATH_OWD_BASELINE_NS, S64, NULL },
	{ "line_rate", ONRAMP_A_PATH_LINE_RATE, U64, NULL },
	{ "event", ONRAMP_A_PATH_EVENT, U8, NULL },
	{ "time_ns", ONRAMP_A_PATH_TIME_NS, U64, NULL },
	{ "ifindex", ONRAMP_A_PATH_IFINDEX, U32, NULL },
	{ "proof_age_ns", ONRAMP_A_PATH_PROOF_AGE_NS, U64, NULL },
	{ "empty_rtt_ns", ONRAMP_A_PATH_EMPTY_RTT_NS, U32, NULL },
	{ "empty_error_ns", ONRAMP_A_PATH_EMPTY_ERROR_NS, U32, NULL },
	{ "empty_age_ns", ONRAMP_A_PATH_EMPTY_AGE_NS, U64, NULL },
	{ "empty_how", ONRAMP_A_PATH_EMPTY_HOW, U8, NULL },
	{ "empty_kind", ONRAMP_A_PATH_EMPTY_KIND, U8, NULL },
	{ "empty_longer", ONRAMP_A_PATH_EMPTY_LONGER, U32, NULL },
	{ "empty_shorter", ONRAMP_A_PATH_EMPTY_SHORTER, U32, NULL },
	{ "domain", ONRAMP_A_PATH_DOMAIN, U8, NULL },
	{ "baseline_ns", ONRAMP_A_PATH_BASELINE_NS, S64, NULL },
	{ "baseline_at_ns", ONRAMP_A_PATH_BASELINE_AT_NS, U64, NULL },
	{ "baseline_slope", ONRAMP_A_PATH_BASELINE_SLOPE, S32, NULL },
	{ "baseline_error_ns", ONRAMP_A_PATH_BASELINE_ERROR_NS, U64, NULL },
	{ "support_age_ns", ONRAMP_A_PATH_SUPPORT_AGE_NS, U64, NULL },
	{ "payload", ONRAMP_A_PATH_PAYLOAD, U32, NULL },
	{ "seed_left_ns", ONRAMP_A_PATH_SEED_LEFT_NS, U64, NULL },
	{ "baseline_least_ns", ONRAMP_A_PATH_BASELINE_LEAST_NS, S64, NULL },
	{ "slow_rate", ONRAMP_A_PATH_SLOW_RATE, U64, NULL },
	{ NULL, 0, U8, NULL },
};

static const struct attr verdict_attrs[] = {
	{ "below", ONRAMP_A_VERDICT_BELOW, U64, NULL },
	{ "paused", ONRAMP_A_VERDICT_PAUSED, U64, NULL },
	{ "capped", ONRAMP_A_VERDICT_CAPPED, U64, NULL },
	{ "progress", ONRAMP_A_VERDICT_PROGRESS, U64, NULL },
	{ "off", ONRAMP_A_VERDICT_OFF, U64, NULL },
	{ "stale", ONRAMP_A_VERDICT_STALE, U64, NULL },
	{ "duplicate", ONRAMP_A_VERDICT_DUPLICATE, U64, NULL },
	{ "implausible", ONRAMP_A_VERDICT_IMPLAUSIBLE, U64, NULL },
	{ "learning", ONRAMP_A_VERDICT_LEARNING, U64, NULL },
	{ "unsynced", ONRAMP_A_VERDICT_UNSYNCED, U64, NULL },
	{ "no_map", ONRAMP_A_VERDICT_NO_MAP, U64, NULL },
	{ "not_in_flight", ONRAMP_A_VERDICT_NOT_IN_FLIGHT, U64, NULL },
	{ "ambiguous", ONRAMP_A_VERDICT_AMBIGUOUS, U64, NULL },
	{ "replay", ONRAMP_A_VERDICT_REPLAY, U64, NULL },
	{ "old", ONRAMP_A_VERDICT_OLD, U64, NULL },
	{ NULL, 0, U8, NULL },
};

static const struct attr conn_attrs[] = {
	{ "family", ONRAMP_A_CONN_FAMILY, U16, NULL },
	{ "local", ONRAMP_A_CONN_LOCAL, ADDR, NULL },
	{ "remote", ONRAMP_A_CONN_REMOTE, ADDR, NULL },
	{ "scope", ONRAMP_A_CONN_SCOPE, U32, NULL },
	{ "local_prefix", ONRAMP_A_CONN_LOCAL_PREFIX, U8, NULL },
	{ "remote_prefix", ONRAMP_A_CONN_REMOTE_PREFIX, U8, NULL },
	{ "lport", ONRAMP_A_CONN_LPORT, BE16, NULL },
	{ "rport", ONRAMP_A_CONN_RPORT, BE16, NULL },
	{ "ifindex", ONRAMP_A_CONN_IFINDEX, U32, NULL },
	{ "pause_left_ns", ONRAMP_A_CONN_PAUSE_LEFT_NS, U64, NULL },
	{ "waiting", ONRAMP_A_CONN_WAITING, U8, NULL },
	{ "beta", ONRAMP_A_CONN_BETA, U32, NULL },
	{ "owd_ns", ONRAMP_A_CONN_OWD_NS, U64, NULL },
	{ "acked_ms", ONRAMP_A_CONN_ACKED_MS, U64, NULL },
	{ "sent_ns", ONRAMP_A_CONN_SENT_NS, U64, NULL },
	{ "pauses", ONRAMP_A_CONN_PAUSES, U64, NULL },
	{ "paused_ns", ONRAMP_A_CONN_PAUSED_NS, U64, NULL },
	{ "verdicts", ONRAMP_A_CONN_VERDICTS, NEST, verdict_attrs },
	{ "mss", ONRAMP_A_CONN_MSS, U32, NULL },
	{ "line_rate", ONRAMP_A_CONN_LINE_RATE, U64, NULL },
	{ "records", ONRAMP_A_CONN_RECORDS, U32, NULL },
	{ NULL, 0, U8, NULL },
};

static const struct attr sub_attrs[] = {
	{ "family", ONRAMP_A_SUB_FAMILY, U16, NULL },
	{ "local", ONRAMP_A_SUB_LOCAL, ADDR, NULL },
	{ "remote", ONRAMP_A_SUB_REMOTE, ADDR, NULL },
	{ "scope", ONRAMP_A_SUB_SCOPE, U32, NULL },
	{ "local_prefix", ONRAMP_A_SUB_LOCAL_PREFIX, U8, NULL },
	{ "remote_prefix", ONRAMP_A_SUB_REMOTE_PREFIX, U8, NULL },
	{ "ifindex", ONRAMP_A_SUB_IFINDEX, U32, NULL },
	{ "caps", ONRAMP_A_SUB_CAPS, U16, NULL },
	{ "lifetime_s", ONRAMP_A_SUB_LIFETIME_S, U64, NULL },
	{ "flows", ONRAMP_A_SUB_FLOWS, U32, NULL },
	{ "acked_ns", ONRAMP_A_SUB_ACKED_NS, U64, NULL },
	{ "acks", ONRAMP_A_SUB_ACKS, U64, NULL },
	{ "domain", ONRAMP_A_SUB_DOMAIN, U8, NULL },
	{ "clock_ns", ONRAMP_A_SUB_CLOCK_NS, S64, NULL },
	{ "phc_ns", ONRAMP_A_SUB_PHC_NS, S64, NULL },
	{ NULL, 0, U8, NULL },
};

static const struct attr sock_attrs[] = {
	{ "family", TIMELY_A_SOCK_FAMILY, U16, NULL },
	{ "local", TIMELY_A_SOCK_LOCAL, ADDR, NULL },
	{ "remote", TIMELY_A_SOCK_REMOTE, ADDR, NULL },
	{ "lport", TIMELY_A_SOCK_LPORT, BE16, NULL },
	{ "rport", TIMELY_A_SOCK_RPORT, BE16, NULL },
	{ "cookie", TIMELY_A_SOCK_COOKIE, U64, NULL },
	{ "rate", TIMELY_A_SOCK_RATE, U64, NULL },
	{ "rtt_ns", TIMELY_A_SOCK_RTT_NS, U64, NULL },
	{ "min_rtt_ns", TIMELY_A_SOCK_MIN_RTT_NS, U64, NULL },
	{ "rtts", TIMELY_A_SOCK_RTTS, U32, NULL },
	{ "gradient", TIMELY_A_SOCK_GRADIENT, S32, NULL },
	{ "source", TIMELY_A_SOCK_SOURCE, U8, NULL },
	{ "auto", TIMELY_A_SOCK_AUTO, U8, NULL },
	{ "app_limited", TIMELY_A_SOCK_APP_LIMITED, U8, NULL },
	{ "line_rate", TIMELY_A_SOCK_LINE_RATE, U64, NULL },
	{ NULL, 0, U8, NULL },
};

static const struct attr counter_attrs[] = {
	{ "name", NIC_TS_A_STAT_NAME, STRING, NULL },
	{ "value", NIC_TS_A_STAT_VALUE, U64, NULL },
	{ NULL, 0, U8, NULL },
};

static const struct attr counters_attrs[] = {
	{ "stat", NIC_TS_A_STAT, LIST, counter_attrs },
	{ NULL, 0, U8, NULL },
};

static const struct attr dev_attrs[] = {
	{ "ifindex", NIC_TS_A_IFINDEX, U32, NULL },
	{ "ifname", NIC_TS_A_IFNAME, STRING, NULL },
	{ "hw", NIC_TS_A_HW, U8, NULL },
	{ "phc", NIC_TS_A_PHC, U32, NULL },
	{ "rx_source", NIC_TS_A_RX_SOURCE, U8, NULL },
	{ "tx_source", NIC_TS_A_TX_SOURCE, U8, NULL },
	{ "users", NIC_TS_A_USERS, U32, NULL },
	{ "tx_slots", NIC_TS_A_TX_SLOTS, U32, NULL },
	{ "stats", NIC_TS_A_STATS, NEST, counters_attrs },
	{ NULL, 0, U8, NULL },
};

static const struct attr clock_attrs[] = {
	{ "domain", NIC_TS_A_DOMAIN, U32, NULL },
	{ "ref_clock_ns", NIC_TS_A_REF_CLOCK_NS, U64, NULL },
	{ "ref_host_ns", NIC_TS_A_REF_HOST_NS, U64, NULL },
	{ "rate_ppt", NIC_TS_A_RATE_PPT, S64, NULL },
	{ "error_ns", NIC_TS_A_ERROR_NS, U32, NULL },
	{ "drift_ppb", NIC_TS_A_DRIFT_PPB, U32, NULL },
	{ "max_age_ns", NIC_TS_A_MAX_AGE_NS, U64, NULL },
	{ "state", NIC_TS_A_CLOCK_STATE, U8, NULL },
	{ "age_ns", NIC_TS_A_AGE_NS, U64, NULL },
	{ NULL, 0, U8, NULL },
};

static const char onramp[] = ONRAMP_GENL_NAME;
static const char timely[] = TIMELY_GENL_NAME;
static const char nic_ts[] = NIC_TS_GENL_NAME;

static const struct command {
	const char *name;
	const char *family;
	int cmd;
	const struct attr *attrs;
} commands[] = {
	{ "info", onramp, ONRAMP_CMD_INFO_GET, info_attrs },
	{ "stats", onramp, ONRAMP_CMD_STATS_GET, module_attrs },
	{ "path", onramp, ONRAMP_CMD_PATH_GET, path_attrs },
	{ "conn", onramp, ONRAMP_CMD_CONN_GET, conn_attrs },
	{ "sub", onramp, ONRAMP_CMD_SUB_GET, sub_attrs },
	{ "seed", onramp, ONRAMP_CMD_PATH_SEED, path_attrs },
	{ "path_ntf", onramp, ONRAMP_CMD_PATH_NTF, path_attrs },
	{ "dev_ntf", onramp, ONRAMP_CMD_DEV_NTF, path_attrs },
	{ "sock", timely, TIMELY_CMD_SOCK_GET, sock_attrs },
	{ "dev", nic_ts, NIC_TS_CMD_DEV_GET, dev_attrs },
	{ "clock", nic_ts, NIC_TS_CMD_CLOCK_GET, clock_attrs },
};

struct request {
	struct nlmsghdr nlh;
	struct genlmsghdr genl;
	char attrs[1024];
};

static int sock;
static int count_only, wait_ms, again_ms;
static size_t room = 32768;
static unsigned long objects, bytes;
static const char *family = onramp;
static u16 family_id;
static u32 group_id;

static void die(const char *what)
{
	fprintf(stderr, "genl_helper: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* Requests ----------------------------------------------------------------- */

static void put(struct request *r, int type, const void *data, size_t len)
{
	struct nlattr *nla = (struct nlattr *)((char *)r + NLMSG_ALIGN(r->nlh.nlmsg_len));

	nla->nla_type = type;
	nla->nla_len = NLA_HDRLEN + len;
	memcpy((char *)nla + NLA_HDRLEN, data, len);
	r->nlh.nlmsg_len = NLMSG_ALIGN(r->nlh.nlmsg_len) + NLA_ALIGN(nla->nla_len);
}

/* TYPE:HEX */
static void put_raw(struct request *r, const char *text)
{
	unsigned char data[256];
	const char *hex = strchr(text, ':');
	size_t n = 0;
	unsigned int byte;

	for (hex = hex ? hex + 1 : ""; sscanf(hex, "%2x", &byte) == 1; hex += 2)
		data[n++] = byte;
	put(r, atoi(text), data, n);
}

static void put_value(struct request *r, const struct attr *a, const char *text)
{
	u64 value = strtoull(text, NULL, 0);
	u16 be16 = htons(value);
	u8 addr[16];

	switch (a->kind) {
	case ADDR:
		if (inet_pton(AF_INET, text, addr) == 1)
			put(r, a->type, addr, 4);
		else if (inet_pton(AF_INET6, text, addr) == 1)
			put(r, a->type, addr, 16);
		else
			die(text);
		break;
	case BE16:
		put(r, a->type, &be16, sizeof(be16));
		break;
	case U8:
		put(r, a->type, &value, 1);
		break;
	case U16:
		put(r, a->type, &value, 2);
		break;
	case U32:
	case S32:
		put(r, a->type, &value, 4);
		break;
	default:
		put(r, a->type, &value, 8);
	}
}

static void put_arg(struct request *r, const struct attr *attrs, const char *arg)
{
	const char *value = strchr(arg, '=');
	const struct attr *a;

	if (!value)
		die(arg);
	if (!strncmp(arg, "raw=", 4)) {
		put_raw(r, arg + 4);
		return;
	}
	for (a = attrs; a->name; a++)
		if (strlen(a->name) == (size_t)(value - arg) &&
		    !strncmp(a->name, arg, value - arg)) {
			put_value(r, a, value + 1);
			return;
		}
	die(arg);
}

static void request(struct request *r, u16 type, u16 flags, u8 cmd)
{
	memset(r, 0, sizeof(*r));
	r->nlh.nlmsg_len = NLMSG_LENGTH(GENL_HDRLEN);
	r->nlh.nlmsg_type = type;
	r->nlh.nlmsg_flags = NLM_F_REQUEST | flags;
	r->nlh.nlmsg_seq = 1;
	r->genl.cmd = cmd;
	r->genl.version = 1;
}

static void transmit(const struct request *r)
{
	if (send(sock, r, r->nlh.nlmsg_len, 0) < 0)
		die("send");
}

/* Answers ------------------------------------------------------------------ */

static void print_attrs(const struct nlattr *nla, int len, const struct attr *attrs,
			const char *prefix);

static void print_value(const struct nlattr *nla, const struct attr *a, const char *prefix)
{
	const void *data = (const char *)nla + NLA_HDRLEN;
	int len = nla->nla_len - NLA_HDRLEN;
	char text[INET6_ADDRSTRLEN];
	u64 value = 0;

	if (a->kind == NEST || a->kind == LIST) {
		char inner[128];

		snprintf(inner, sizeof(inner), "%s%s.", prefix, a->name);
		print_attrs(data, len, a->nest, a->kind == LIST ? "" : inner);
		return;
	}
	if (a->kind == ADDR) {
		inet_ntop(len == 4 ? AF_INET : AF_INET6, data, text, sizeof(text));
		printf("%s%s=%s ", prefix, a->name, text);
		return;
	}
	if (a->kind == STRING) {
		printf("%s%s=%s ", prefix, a->name, (const char *)data);
		return;
	}
	if ((a->kind == U8 && len != 1) || ((a->kind == U16 || a->kind == BE16) && len != 2) ||
	    ((a->kind == U32 || a->kind == S32) && len != 4) ||
	    ((a->kind == U64 || a->kind == S64) && len != 8)) {
		printf("%s%s=BAD-LENGTH-%d ", prefix, a->name, len);
		return;
	}
	memcpy(&value, data, len);
	if (a->kind == BE16)
		value = ntohs(value);
	if (a->kind == S32)
		printf("%s%s=%d ", prefix, a->name, (int)value);
	else if (a->kind == S64)
		printf("%s%s=%lld ", prefix, a->name, (long long)value);
	else
		printf("%s%s=%llu ", prefix, a->name, (unsigned long long)value);
}

static void print_attrs(const struct nlattr *nla, int len, const struct attr *attrs,
			const char *prefix)
{
	while (len >= (int)sizeof(*nla) && nla->nla_len >= sizeof(*nla) && nla->nla_len <= len) {
		const struct attr *a = attrs;

		while (a->name && a->type != (nla->nla_type & NLA_TYPE_MASK))
			a++;
		if (a->name)
			print_value(nla, a, prefix);
		else
			printf("%sUNKNOWN-%d=? ", prefix, nla->nla_type & NLA_TYPE_MASK);
		len -= NLA_ALIGN(nla->nla_len);
		nla = (const struct nlattr *)((const char *)nla + NLA_ALIGN(nla->nla_len));
	}
}

/* One message with an object. */
static void print_object(const struct nlmsghdr *nlh)
{
	const struct genlmsghdr *genl = NLMSG_DATA(nlh);
	const struct command *c = commands;

	objects++;
	if (count_only)
		return;
	while (c->family != family || c->cmd != genl->cmd)
		if (++c == commands + ARRAY_SIZE(commands))
			die("a command that nobody knows");
	printf("%s ", c->name);
	print_attrs((const struct nlattr *)((const char *)genl + GENL_HDRLEN),
		    nlh->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN), c->attrs, "");
	putchar('\n');
}

/* An ACK, an error, or the end of a dump, which may be one too. */
static int finish(const struct nlmsghdr *nlh, int error)
{
	const struct nlmsgerr *err = NLMSG_DATA(nlh);
	size_t skip = nlh->nlmsg_type == NLMSG_DONE ? sizeof(int) : sizeof(*err);
	const struct nlattr *nla;
	const char *why = "";
	int len, at = 0;

	if (!error)
		return 0;
	if (nlh->nlmsg_type == NLMSG_ERROR && !(nlh->nlmsg_flags & NLM_F_CAPPED))
		skip += err->msg.nlmsg_len - sizeof(struct nlmsghdr);
	nla = (const struct nlattr *)((const char *)NLMSG_DATA(nlh) + NLMSG_ALIGN(skip));
	len = nlh->nlmsg_flags & NLM_F_ACK_TLVS ?
	      (int)(nlh->nlmsg_len - NLMSG_LENGTH(NLMSG_ALIGN(skip))) : 0;
	while (len >= (int)sizeof(*nla) && nla->nla_len >= sizeof(*nla)) {
		if (nla->nla_type == NLMSGERR_ATTR_MSG)
			why = (const char *)nla + NLA_HDRLEN;
		if (nla->nla_type == NLMSGERR_ATTR_OFFS)
			at = *(const u32 *)((const char *)nla + NLA_HDRLEN);
		len -= NLA_ALIGN(nla->nla_len);
		nla = (const struct nlattr *)((const char *)nla + NLA_ALIGN(nla->nla_len));
	}
	printf("error %d %s", error, why);
	if (at)
		printf(" at %d", at);
	putchar('\n');
	return 1;
}

static ssize_t receive(char *buffer)
{
	ssize_t len = recv(sock, buffer, room, MSG_TRUNC);

	if (len < 0)
		die("recv");
	if ((size_t)len > room) {
		errno = EMSGSIZE;
		die("recv");
	}
	bytes += len;
	return len;
}

/* Until the end of the answer. */
static int answer(void)
{
	static char *buffer;
	int interrupted = 0, pause_ms = wait_ms;

	if (!buffer)
		buffer = malloc(room);
	for (;;) {
		int len = receive(buffer);
		struct nlmsghdr *nlh;

		for (nlh = (struct nlmsghdr *)buffer; NLMSG_OK(nlh, len);
		     nlh = NLMSG_NEXT(nlh, len)) {
			if ((nlh->nlmsg_flags & NLM_F_DUMP_INTR) && !interrupted++)
				puts("interrupted");
			if (nlh->nlmsg_type == NLMSG_ERROR || nlh->nlmsg_type == NLMSG_DONE)
				return finish(nlh, *(int *)NLMSG_DATA(nlh));
			if (nlh->nlmsg_type == family_id)
				print_object(nlh);
		}
		usleep(pause_ms * 1000);
		pause_ms = 0;
	}
}

static void listen_events(void)
{
	char *buffer = malloc(room);

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (setsockopt(sock, SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, &group_id, sizeof(group_id))) {
		printf("error %d\n", -errno);
		exit(1);
	}
	puts("listening");
	for (;;) {
		int len = receive(buffer);
		struct nlmsghdr *nlh;

		for (nlh = (struct nlmsghdr *)buffer; NLMSG_OK(nlh, len);
		     nlh = NLMSG_NEXT(nlh, len))
			print_object(nlh);
	}
}

/* Family ------------------------------------------------------------------- */

static void find_group(const struct nlattr *groups)
{
	const struct nlattr *g = (const struct nlattr *)((const char *)groups + NLA_HDRLEN), *a;
	int len;

	/* The first one is all there are. */
	a = (const struct nlattr *)((const char *)g + NLA_HDRLEN);
	for (len = g->nla_len - NLA_HDRLEN; len > 0;
	     a = (const struct nlattr *)((const char *)a + NLA_ALIGN(a->nla_len))) {
		if (a->nla_type == CTRL_ATTR_MCAST_GRP_ID)
			memcpy(&group_id, (const char *)a + NLA_HDRLEN, sizeof(group_id));
		len -= NLA_ALIGN(a->nla_len);
	}
}

static void find_family(void)
{
	const struct nlattr *nla;
	struct nlmsghdr *nlh;
	struct request r;
	char buffer[8192];
	int len;

	request(&r, GENL_ID_CTRL, 0, CTRL_CMD_GETFAMILY);
	put(&r, CTRL_ATTR_FAMILY_NAME, family, strlen(family) + 1);
	transmit(&r);
	/* The kernel notes the largest one, for parts of dumps. */
	len = recv(sock, buffer, room < sizeof(buffer) ? room : sizeof(buffer), 0);
	nlh = (struct nlmsghdr *)buffer;
	if (len < 0 || !NLMSG_OK(nlh, len) || nlh->nlmsg_type == NLMSG_ERROR) {
		puts("error no family");
		exit(1);
	}
	len = nlh->nlmsg_len - NLMSG_LENGTH(GENL_HDRLEN);
	for (nla = (const struct nlattr *)((const char *)NLMSG_DATA(nlh) + GENL_HDRLEN); len > 0;
	     nla = (const struct nlattr *)((const char *)nla + NLA_ALIGN(nla->nla_len))) {
		if (nla->nla_type == CTRL_ATTR_FAMILY_ID)
			memcpy(&family_id, (const char *)nla + NLA_HDRLEN, sizeof(family_id));
		if ((nla->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_MCAST_GROUPS)
			find_group(nla);
		len -= NLA_ALIGN(nla->nla_len);
	}
}

static long long now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000LL + ts.tv_nsec / 1000;
}

static void open_socket(void)
{
	int one = 1;

	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	if (sock < 0)
		die("socket");
	if (setsockopt(sock, SOL_NETLINK, NETLINK_EXT_ACK, &one, sizeof(one)))
		die("NETLINK_EXT_ACK");
	find_family();
}

int main(int argc, char **argv)
{
	const struct command *c = commands;
	struct request r;
	long long from;
	int opt, dump, err, user = 0;

	while ((opt = getopt(argc, argv, "+n:ucw:t:r:")) != -1) {
		switch (opt) {
		case 'n':
			netns_enter(optarg);
			break;
		case 'u':
			user = 1;
			break;
		case 'c':
			count_only = 1;
			break;
		case 'w':
			wait_ms = atoi(optarg);
			break;
		case 't':
			again_ms = atoi(optarg);
			break;
		case 'r':
			room = atoi(optarg);
			break;
		default:
			return 2;
		}
	}
	if (user && (setgid(65534) || setuid(65534)))
		die("setuid");
	if (optind >= argc)
		return 2;
	dump = !strcmp(argv[optind], "dump");
	if (optind + dump >= argc)
		return 2;
	if (!strcmp(argv[optind], "listen")) {
		open_socket();
		listen_events();
	}
	optind += dump;
	while (strcmp(c->name, argv[optind]))
		if (++c == commands + ARRAY_SIZE(commands))
			return 2;
	family = c->family;
	open_socket();
	request(&r, family_id, dump ? NLM_F_DUMP : NLM_F_ACK, c->cmd);
	while (++optind < argc)
		put_arg(&r, c->attrs, argv[optind]);
	from = now_us();
	do {
		transmit(&r);
		err = answer();
		if (err && again_ms)
			usleep(1000);
	} while (now_us() - from < again_ms * 1000LL);
	if (count_only)
		printf("%lu objects %lu bytes %lld us\n", objects, bytes, now_us() - from);
	return err;
}
