// SPDX-License-Identifier: GPL-2.0
/*
 * Paths, connections, subscribers and events by the generic netlink family "onramp", and sockets
 * of timely by its own. Attributes that are newer than this program are skipped, and those that
 * an older module lacks are absent.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netlink/attr.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdio.h>
#include <string.h>

#include "attr.h"
#include "uapi/onramp_genl.h"
#include "uapi/timely.h"

#include "family.h"

/* Rates are bytes/s in the kernel and bit/s here, millionths are shares of 1. */
enum kind { NONE, FLAG, U16, U32, S32, U64, S64, RATE, PPM, SPPM, BE16, ADDRESS, WORD, NEST };

/* A dump that a resize of the table interrupts is made again, this many times. */
#define DUMP_TRIES	4
/* Bytes of a part of a dump: the largest that the kernel sends. */
#define DUMP_BYTES	(1 << 15)

/**
 * struct attr - how an attribute becomes a member
 * @key:	its name, with its unit
 * @kind:	what it holds
 * @words:	of WORD, NULL behind the last one
 * @nest:	of NEST: attributes in there
 * @max:	of NEST: highest of them
 */
struct attr {
	const char *key;
	enum kind kind;
	const char * const *words;
	const struct attr *nest;
	int max;
};

static const char * const path_states[] = { "asked", "subscribed", "silent", NULL };
static const char * const baselines[] = {
	"unknown", "learning", "unsupported", "supported", "lost", "seeded", NULL,
};

static const char * const empty_hows[] = { "seen", "proof", "changed", NULL };
static const char * const empty_kinds[] = { "tcp", "or_ack", NULL };

static const char * const events[] = {
	"none", "silent", "heard", "learned", "support_lost", "map_lost", NULL,
};

static const struct attr paths[ONRAMP_A_PATH_MAX + 1] = {
	[ONRAMP_A_PATH_LOCAL]		= { "local", ADDRESS },
	[ONRAMP_A_PATH_REMOTE]		= { "remote", ADDRESS },
	[ONRAMP_A_PATH_SCOPE]		= { "scope", U32 },
	[ONRAMP_A_PATH_STATE]		= { "state", WORD, path_states },
	[ONRAMP_A_PATH_CONNECTIONS]	= { "connections", U32 },
	[ONRAMP_A_PATH_RTT_US]		= { "rtt_us", U32 },
	[ONRAMP_A_PATH_UNANSWERED]	= { "unanswered", U32 },
	[ONRAMP_A_PATH_HEARD_MS]	= { "heard_ms", U64 },
	[ONRAMP_A_PATH_ACKS]		= { "acks", U64 },
	[ONRAMP_A_PATH_ACKS_COUNTED]	= { "acks_counted", U64 },
	[ONRAMP_A_PATH_PAUSED_NS]	= { "paused_ns", U64 },
	[ONRAMP_A_PATH_OWD_NS]		= { "delay_ns", U64 },
	[ONRAMP_A_PATH_OWD_AGE_NS]	= { "delay_age_ns", U64 },
	[ONRAMP_A_PATH_OWD_ERROR_NS]	= { "delay_error_ns", U64 },
	[ONRAMP_A_PATH_THRESHOLD_NS]	= { "threshold_ns", U64 },
	[ONRAMP_A_PATH_SLACK_NS]	= { "slack_ns", U64 },
	[ONRAMP_A_PATH_SWING_NS]	= { "swing_ns", U64 },
	[ONRAMP_A_PATH_COEXIST_SHARE]		= { "let_go_share", PPM },
	[ONRAMP_A_PATH_OWD_P50_NS]	= { "delay_p50_ns", U64 },
	[ONRAMP_A_PATH_OWD_P99_NS]	= { "delay_p99_ns", U64 },
	[ONRAMP_A_PATH_BASELINE]	= { "baseline", WORD, baselines },
	[ONRAMP_A_PATH_OWD_BASELINE_NS]	= { "baseline_ns", S64 },
	[ONRAMP_A_PATH_LINE_RATE]	= { "line_rate_bit_s", RATE },
	[ONRAMP_A_PATH_EVENT]		= { "event", WORD, events },
	[ONRAMP_A_PATH_TIME_NS]		= { "time_ns", U64 },
	[ONRAMP_A_PATH_IFINDEX]		= { "ifindex", U32 },
	[ONRAMP_A_PATH_PROOF_AGE_NS]	= { "proof_age_ns", U64 },
	[ONRAMP_A_PATH_EMPTY_RTT_NS]	= { "empty_rtt_ns", U32 },
	[ONRAMP_A_PATH_EMPTY_ERROR_NS]	= { "empty_error_ns", U32 },
	[ONRAMP_A_PATH_EMPTY_AGE_NS]	= { "empty_age_ns", U64 },
	[ONRAMP_A_PATH_EMPTY_HOW]	= { "empty_how", WORD, empty_hows },
	[ONRAMP_A_PATH_EMPTY_KIND]	= { "empty_kind", WORD, empty_kinds },
	[ONRAMP_A_PATH_EMPTY_LONGER]	= { "empty_longer", U32 },
	[ONRAMP_A_PATH_EMPTY_SHORTER]	= { "empty_shorter", U32 },
	[ONRAMP_A_PATH_BASELINE_ERROR_NS] = { "baseline_error_ns", U64 },
	[ONRAMP_A_PATH_SUPPORT_AGE_NS]	= { "support_age_ns", U64 },
	[ONRAMP_A_PATH_SEED_LEFT_NS]	= { "seed_left_ns", U64 },
	[ONRAMP_A_PATH_SLOW_RATE]	= { "slow_rate_bit_s", RATE },
};

static const struct attr verdicts[ONRAMP_A_VERDICT_MAX + 1] = {
	[ONRAMP_A_VERDICT_BELOW]	= { "below", U64 },
	[ONRAMP_A_VERDICT_PAUSED]	= { "paused", U64 },
	[ONRAMP_A_VERDICT_CAPPED]	= { "capped", U64 },
	[ONRAMP_A_VERDICT_PROGRESS]	= { "progress", U64 },
	[ONRAMP_A_VERDICT_OFF]		= { "off", U64 },
	[ONRAMP_A_VERDICT_STALE]	= { "stale", U64 },
	[ONRAMP_A_VERDICT_DUPLICATE]	= { "duplicate", U64 },
	[ONRAMP_A_VERDICT_IMPLAUSIBLE]	= { "implausible", U64 },
	[ONRAMP_A_VERDICT_LEARNING]	= { "learning", U64 },
	[ONRAMP_A_VERDICT_UNSYNCED]	= { "unsynced", U64 },
	[ONRAMP_A_VERDICT_NO_MAP]	= { "no_map", U64 },
	[ONRAMP_A_VERDICT_NOT_IN_FLIGHT] = { "not_in_flight", U64 },
	[ONRAMP_A_VERDICT_AMBIGUOUS]	= { "ambiguous", U64 },
	[ONRAMP_A_VERDICT_REPLAY]	= { "replay", U64 },
	[ONRAMP_A_VERDICT_OLD]		= { "old", U64 },
};

static const struct attr flows[ONRAMP_A_CONN_MAX + 1] = {
	[ONRAMP_A_CONN_LOCAL]		= { "local", ADDRESS },
	[ONRAMP_A_CONN_REMOTE]		= { "remote", ADDRESS },
	[ONRAMP_A_CONN_SCOPE]		= { "scope", U32 },
	[ONRAMP_A_CONN_LPORT]		= { "local_port", BE16 },
	[ONRAMP_A_CONN_RPORT]		= { "remote_port", BE16 },
	[ONRAMP_A_CONN_IFINDEX]		= { "ifindex", U32 },
	[ONRAMP_A_CONN_PAUSE_LEFT_NS]	= { "pause_left_ns", U64 },
	[ONRAMP_A_CONN_WAITING]		= { "waiting", FLAG },
	[ONRAMP_A_CONN_BETA]		= { "beta", PPM },
	[ONRAMP_A_CONN_OWD_NS]		= { "delay_ns", U64 },
	[ONRAMP_A_CONN_ACKED_MS]	= { "acked_age_ms", U64 },
	[ONRAMP_A_CONN_SENT_NS]		= { "sent_age_ns", U64 },
	[ONRAMP_A_CONN_PAUSES]		= { "pauses", U64 },
	[ONRAMP_A_CONN_PAUSED_NS]	= { "paused_ns", U64 },
	[ONRAMP_A_CONN_VERDICTS]	= { "verdicts", NEST, NULL, verdicts,
					    ONRAMP_A_VERDICT_MAX },
	[ONRAMP_A_CONN_MSS]		= { "mss_bytes", U32 },
	[ONRAMP_A_CONN_LINE_RATE]	= { "line_rate_bit_s", RATE },
	[ONRAMP_A_CONN_RECORDS]		= { "records", U32 },
};

static const struct attr subscribers[ONRAMP_A_SUB_MAX + 1] = {
	[ONRAMP_A_SUB_LOCAL]		= { "local", ADDRESS },
	[ONRAMP_A_SUB_REMOTE]		= { "remote", ADDRESS },
	[ONRAMP_A_SUB_SCOPE]		= { "scope", U32 },
	[ONRAMP_A_SUB_IFINDEX]		= { "ifindex", U32 },
	[ONRAMP_A_SUB_CAPS]		= { "capabilities", U16 },
	[ONRAMP_A_SUB_LIFETIME_S]	= { "lifetime_s", U64 },
	[ONRAMP_A_SUB_FLOWS]		= { "flows", U32 },
	[ONRAMP_A_SUB_ACKED_NS]		= { "acked_age_ns", U64 },
	[ONRAMP_A_SUB_ACKS]		= { "acks", U64 },
};

static const char * const sources[] = {
	"none", "tcp", "stack", "driver", "mapped", "hardware", NULL,
};

static const struct attr sockets[TIMELY_A_SOCK_MAX + 1] = {
	[TIMELY_A_SOCK_LOCAL]		= { "local", ADDRESS },
	[TIMELY_A_SOCK_REMOTE]		= { "remote", ADDRESS },
	[TIMELY_A_SOCK_LPORT]		= { "local_port", BE16 },
	[TIMELY_A_SOCK_RPORT]		= { "remote_port", BE16 },
	[TIMELY_A_SOCK_COOKIE]		= { "cookie", U64 },
	[TIMELY_A_SOCK_RATE]		= { "rate_bit_s", RATE },
	[TIMELY_A_SOCK_RTT_NS]		= { "rtt_ns", U64 },
	[TIMELY_A_SOCK_MIN_RTT_NS]	= { "min_rtt_ns", U64 },
	[TIMELY_A_SOCK_RTTS]		= { "rtts", U32 },
	[TIMELY_A_SOCK_GRADIENT]	= { "gradient", SPPM },
	[TIMELY_A_SOCK_SOURCE]		= { "source", WORD, sources },
	[TIMELY_A_SOCK_AUTO]		= { "auto", FLAG },
	[TIMELY_A_SOCK_APP_LIMITED]	= { "application_limited", FLAG },
	[TIMELY_A_SOCK_LINE_RATE]	= { "line_rate_bit_s", RATE },
};

static const struct family {
	const char *name;
	int version, cmd;
	const struct attr *table;
	int max;
} families[] = {
	[FAMILY_PATHS] = { ONRAMP_GENL_NAME, ONRAMP_GENL_VERSION, ONRAMP_CMD_PATH_GET, paths,
			   ONRAMP_A_PATH_MAX },
	[FAMILY_FLOWS] = { ONRAMP_GENL_NAME, ONRAMP_GENL_VERSION, ONRAMP_CMD_CONN_GET, flows,
			   ONRAMP_A_CONN_MAX },
	[FAMILY_SUBSCRIBERS] = { ONRAMP_GENL_NAME, ONRAMP_GENL_VERSION, ONRAMP_CMD_SUB_GET,
				 subscribers, ONRAMP_A_SUB_MAX },
	[FAMILY_TIMELY] = { TIMELY_GENL_NAME, TIMELY_GENL_VERSION, TIMELY_CMD_SOCK_GET, sockets,
			    TIMELY_A_SOCK_MAX },
};

static json_t *object(const struct attr *table, int max, struct nlattr *first, int len);

/* NULL for what has another length than it should. */
static json_t *value(const struct attr *t, struct nlattr *a)
{
	char text[INET6_ADDRSTRLEN];
	unsigned int i, n;
	uint64_t v;

	switch (t->kind) {
	case FLAG:
		return nla_len(a) < 1 ? NULL : json_boolean(nla_get_u8(a));
	case U16:
		return nla_len(a) < 2 ? NULL : json_integer(nla_get_u16(a));
	case BE16:
		return nla_len(a) < 2 ? NULL : json_integer(ntohs(nla_get_u16(a)));
	case U32:
		return nla_len(a) < 4 ? NULL : json_integer(nla_get_u32(a));
	case S32:
		return nla_len(a) < 4 ? NULL : json_integer((int32_t)nla_get_u32(a));
	case PPM:
		return nla_len(a) < 4 ? NULL : json_real(nla_get_u32(a) / 1e6);
	case SPPM:
		return nla_len(a) < 4 ? NULL : json_real((int32_t)nla_get_u32(a) / 1e6);
	case U64:
	case S64:
	case RATE:
		if (nla_len(a) < 8)
			return NULL;
		v = nla_get_u64(a);
		if (t->kind == RATE)
			v = v > UINT64_MAX / 8 ? UINT64_MAX : v * 8;
		if (t->kind != S64 && v > INT64_MAX)
			v = INT64_MAX;
		return json_integer((json_int_t)v);
	case ADDRESS:
		if (nla_len(a) != 4 && nla_len(a) != 16)
			return NULL;
		inet_ntop(nla_len(a) == 4 ? AF_INET : AF_INET6, nla_data(a), text, sizeof(text));
		return json_string(text);
	case WORD:
		if (nla_len(a) < 1)
			return NULL;
		n = nla_get_u8(a);
		for (i = 0; t->words[i]; i++)
			if (i == n)
				return json_string(t->words[i]);
		return json_string("unknown");
	case NEST:
		return object(t->nest, t->max, nla_data(a), nla_len(a));
	default:
		return NULL;
	}
}

static json_t *object(const struct attr *table, int max, struct nlattr *first, int len)
{
	json_t *o = json_object(), *v;
	struct nlattr *a;
	int rest;

	nla_for_each_attr(a, first, len, rest) {
		if (nla_type(a) > max || !table[nla_type(a)].key)
			continue;
		v = value(&table[nla_type(a)], a);
		if (v)
			j_set(o, table[nla_type(a)].key, v);
	}
	return o;
}

/**
 * family_row() - an object of a message
 * @what: kind
 * @first: its first attribute
 * @len: of all of them
 *
 * Return: the object, owned by the caller.
 */
json_t *family_row(enum family_what what, struct nlattr *first, int len)
{
	return object(families[what].table, families[what].max, first, len);
}

static bool address(struct nlattr *a, uint8_t *out, int *family)
{
	if (!a || (nla_len(a) != 4 && nla_len(a) != 16))
		return false;
	*family = nla_len(a) == 4 ? AF_INET : AF_INET6;
	memcpy(out, nla_data(a), (size_t)nla_len(a));
	return true;
}

/**
 * family_pauses() - read what On-Ramp knows of a connection
 * @out: result
 * @first: first attribute of the message
 * @len: of all attributes
 *
 * Return: false if the message has no addresses and ports.
 */
bool family_pauses(struct pauses *out, struct nlattr *first, int len)
{
	struct nlattr *tb[ONRAMP_A_CONN_MAX + 1];
	int local, remote;

	memset(out, 0, sizeof(*out));
	if (nla_parse(tb, ONRAMP_A_CONN_MAX, first, len, NULL) ||
	    !address(tb[ONRAMP_A_CONN_LOCAL], out->key.local, &local) ||
	    !address(tb[ONRAMP_A_CONN_REMOTE], out->key.remote, &remote) || local != remote ||
	    !tb[ONRAMP_A_CONN_LPORT] || nla_len(tb[ONRAMP_A_CONN_LPORT]) < 2 ||
	    !tb[ONRAMP_A_CONN_RPORT] || nla_len(tb[ONRAMP_A_CONN_RPORT]) < 2)
		return false;
	out->key.family = local;
	out->key.lport = ntohs(nla_get_u16(tb[ONRAMP_A_CONN_LPORT]));
	out->key.rport = ntohs(nla_get_u16(tb[ONRAMP_A_CONN_RPORT]));
	out->key.scope = (uint32_t)attr_number(tb[ONRAMP_A_CONN_SCOPE], 0);
	out->pauses = attr_number(tb[ONRAMP_A_CONN_PAUSES], 0);
	out->paused_ns = attr_number(tb[ONRAMP_A_CONN_PAUSED_NS], 0);
	out->pause_left_ns = attr_number(tb[ONRAMP_A_CONN_PAUSE_LEFT_NS], 0);
	out->waiting = attr_number(tb[ONRAMP_A_CONN_WAITING], 0);
	out->has_delay = tb[ONRAMP_A_CONN_OWD_NS];
	out->delay_ns = attr_number(tb[ONRAMP_A_CONN_OWD_NS], 0);
	out->ifindex = (uint32_t)attr_number(tb[ONRAMP_A_CONN_IFINDEX], 0);
	return true;
}

/* 0, or -errno of the kernel's answer as far as callers tell them apart. */
static int error_of(int err)
{
	switch (err < 0 ? -err : 0) {
	case 0:
		return 0;
	case NLE_PERM:
		return -EPERM;
	case NLE_OBJ_NOTFOUND:
		return -ENOENT;
	case NLE_NOMEM:
		return -ENOBUFS;
	case NLE_INTR:
	case NLE_AGAIN:
		return -EINTR;
	case NLE_OPNOTSUPP:
		return -EOPNOTSUPP;
	default:
		return -EIO;
	}
}

/* A socket, and the number of the family; NULL if no loaded module has it. */
static struct nl_sock *connected(const char *name, int *family)
{
	struct nl_sock *sk = nl_socket_alloc();

	if (sk && genl_connect(sk) >= 0) {
		nl_socket_disable_auto_ack(sk);
		nl_socket_set_msg_buf_size(sk, DUMP_BYTES);
		*family = genl_ctrl_resolve(sk, name);
		if (*family >= 0)
			return sk;
	}
	nl_socket_free(sk);
	return NULL;
}

/* Attributes that name a connection, or its peer. */
static bool put_name(struct nl_msg *msg, const struct flow_key *key, bool all)
{
	int len = key->family == AF_INET ? 4 : 16;

	if (key->scope && nla_put_u32(msg, ONRAMP_A_CONN_SCOPE, key->scope))
		return false;
	return !nla_put(msg, ONRAMP_A_CONN_REMOTE, len, key->remote) &&
	       (!all || (!nla_put(msg, ONRAMP_A_CONN_LOCAL, len, key->local) &&
			 !nla_put_u16(msg, ONRAMP_A_CONN_LPORT, htons(key->lport)) &&
			 !nla_put_u16(msg, ONRAMP_A_CONN_RPORT, htons(key->rport))));
}

static int ask(struct nl_sock *sk, int family, int cmd, int version, int flags,
	       const struct flow_key *key, bool all)
{
	struct nl_msg *msg = nlmsg_alloc();
	int err = -NLE_NOMEM;

	if (msg && genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, family, 0, flags, cmd, version) &&
	    (!key || put_name(msg, key, all)))
		err = nl_send_auto(sk, msg);
	nlmsg_free(msg);
	return err < 0 ? err : nl_recvmsgs_default(sk);
}

struct reading {
	enum family_what what;
	json_t *rows;
	row_fn each;
	pauses_fn fn;
	void *arg;
};

static int on_object(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *hdr = genlmsg_hdr(nlmsg_hdr(msg));
	const struct reading *r = arg;
	struct pauses p;

	if (r->rows)
		json_array_append_new(r->rows, family_row(r->what, genlmsg_attrdata(hdr, 0),
							  genlmsg_attrlen(hdr, 0)));
	else if (r->each)
		r->each(family_row(r->what, genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0)),
			r->arg);
	else if (family_pauses(&p, genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0)))
		r->fn(&p, r->arg);
	return NL_OK;
}

static int dump(struct reading *r, const struct flow_key *key, bool all)
{
	const struct family *f = &families[r->what];
	int family, err, tries = all ? 1 : DUMP_TRIES;
	struct nl_sock *sk;

	do {
		sk = connected(f->name, &family);
		if (!sk)
			return -EOPNOTSUPP;
		if (r->rows)
			json_array_clear(r->rows);
		nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_object, r);
		err = ask(sk, family, f->cmd, f->version, all ? 0 : NLM_F_DUMP, key, all);
		nl_socket_free(sk);
	} while (err == -NLE_DUMP_INTR && --tries);
	/* Some may be missing, or be there twice. */
	return error_of(err == -NLE_DUMP_INTR ? 0 : err);
}

/**
 * family_dump() - read all objects of a kind
 * @what: kind
 * @rows: array, which is replaced by them
 *
 * Return: 0; -EOPNOTSUPP: no loaded module has the family, or this part of it; -EPERM: it takes
 * CAP_NET_ADMIN.
 */
int family_dump(enum family_what what, json_t *rows)
{
	return dump(&(struct reading) { .what = what, .rows = rows }, NULL, false);
}

/**
 * family_each() - read all objects of a kind, without keeping them
 * @what: kind
 * @fn: called with each, and owns it; an object may come twice
 * @arg: for @fn
 *
 * Return: as family_dump().
 */
int family_each(enum family_what what, row_fn fn, void *arg)
{
	return dump(&(struct reading) { .what = what, .each = fn, .arg = arg }, NULL, false);
}

/**
 * family_pauses_each() - read what On-Ramp knows of connections
 * @peer: of connections to this host only, NULL for all
 * @fn: called with each; a connection may come twice
 * @arg: for @fn
 *
 * Return: as family_dump().
 */
int family_pauses_each(const struct flow_key *peer, pauses_fn fn, void *arg)
{
	return dump(&(struct reading) { .what = FAMILY_FLOWS, .fn = fn, .arg = arg }, peer, false);
}

static void copy_pauses(const struct pauses *p, void *arg)
{
	*(struct pauses *)arg = *p;
}

/**
 * family_pauses_of() - read what On-Ramp knows of one connection
 * @key: connection
 * @out: result
 *
 * Return: as family_dump(); -ENOENT: On-Ramp does not follow this connection.
 */
int family_pauses_of(const struct flow_key *key, struct pauses *out)
{
	struct reading r = { .what = FAMILY_FLOWS, .fn = copy_pauses, .arg = out };

	return dump(&r, key, true);
}

static int on_stats(struct nl_msg *msg, void *arg)
{
	struct nlattr *a, *b, *info[ONRAMP_A_INFO_MAX + 1], *tb[ONRAMP_A_MODULE_MAX + 1];
	json_t *stats = arg, *o;
	char name[64];
	int rest, more;

	if (genlmsg_parse(nlmsg_hdr(msg), 0, info, ONRAMP_A_INFO_MAX, NULL) ||
	    !info[ONRAMP_A_INFO_MODULE])
		return NL_OK;
	if (nla_parse_nested(tb, ONRAMP_A_MODULE_MAX, info[ONRAMP_A_INFO_MODULE], NULL) ||
	    !tb[ONRAMP_A_MODULE_NAME] || !tb[ONRAMP_A_MODULE_STATS])
		return NL_OK;
	o = json_object();
	j_clean(name, sizeof(name), nla_data(tb[ONRAMP_A_MODULE_NAME]),
		(size_t)nla_len(tb[ONRAMP_A_MODULE_NAME]));
	j_set(stats, name, o);
	nla_for_each_nested(a, tb[ONRAMP_A_MODULE_STATS], rest) {
		struct nlattr *stat[ONRAMP_A_MODULE_MAX + 1];

		if (nla_parse_nested(stat, ONRAMP_A_MODULE_MAX, a, NULL))
			continue;
		b = stat[ONRAMP_A_MODULE_STAT_NAME];
		if (!b || !stat[ONRAMP_A_MODULE_STAT_VALUE])
			continue;
		more = nla_len(b);
		j_clean(name, sizeof(name), nla_data(b), (size_t)more);
		j_set_u64(o, name, attr_number(stat[ONRAMP_A_MODULE_STAT_VALUE], 0));
	}
	return NL_OK;
}

/**
 * family_stats() - read the counters of or_port, or_acker and sch_onramp
 * @stats: module -> counters
 *
 * Return: as family_dump().
 */
int family_stats(json_t *stats)
{
	int family, err;
	struct nl_sock *sk = connected(ONRAMP_GENL_NAME, &family);

	if (!sk)
		return -EOPNOTSUPP;
	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_stats, stats);
	err = ask(sk, family, ONRAMP_CMD_STATS_GET, ONRAMP_GENL_VERSION, NLM_F_DUMP, NULL, false);
	nl_socket_free(sk);
	return error_of(err == -NLE_DUMP_INTR ? 0 : err);
}

/* Events -------------------------------------------------------------------- */

struct listening {
	event_fn fn;
	void *arg;
	bool gone;	/* the module was unloaded */
};

/* Is this the controller's message that the family is gone? */
static bool is_end(struct nl_msg *msg)
{
	struct nlattr *tb[CTRL_ATTR_MAX + 1];

	return nlmsg_hdr(msg)->nlmsg_type == GENL_ID_CTRL &&
	       genlmsg_hdr(nlmsg_hdr(msg))->cmd == CTRL_CMD_DELFAMILY &&
	       !genlmsg_parse(nlmsg_hdr(msg), 0, tb, CTRL_ATTR_MAX, NULL) &&
	       tb[CTRL_ATTR_FAMILY_NAME] && nla_len(tb[CTRL_ATTR_FAMILY_NAME]) > 0 &&
	       !strncmp(nla_data(tb[CTRL_ATTR_FAMILY_NAME]), ONRAMP_GENL_NAME,
			(size_t)nla_len(tb[CTRL_ATTR_FAMILY_NAME]));
}

static int on_event(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *hdr = genlmsg_hdr(nlmsg_hdr(msg));
	struct listening *l = arg;

	if (nlmsg_hdr(msg)->nlmsg_type == GENL_ID_CTRL)
		l->gone |= is_end(msg);
	else if (hdr->cmd == ONRAMP_CMD_PATH_NTF || hdr->cmd == ONRAMP_CMD_DEV_NTF)
		l->fn(family_row(FAMILY_PATHS, genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0)),
		      l->arg);
	return NL_OK;
}

/**
 * family_listen() - join the group of events
 * @out: socket, for family_event() and nl_socket_free()
 *
 * Return: as family_dump().
 */
int family_listen(struct nl_sock **out)
{
	int family, group, err;
	struct nl_sock *sk = connected(ONRAMP_GENL_NAME, &family);

	if (!sk)
		return -EOPNOTSUPP;
	group = genl_ctrl_resolve_grp(sk, ONRAMP_GENL_NAME, ONRAMP_MCGRP_EVENTS);
	nl_socket_disable_seq_check(sk);
	err = group < 0 ? -NLE_OPNOTSUPP : nl_socket_add_membership(sk, group);
	/* The group that tells of families that go. */
	if (err >= 0)
		err = nl_socket_add_membership(sk, GENL_ID_CTRL);
	if (err < 0) {
		nl_socket_free(sk);
		return error_of(err);
	}
	*out = sk;
	return 0;
}

/**
 * family_event() - wait for events
 * @sk: of family_listen()
 * @fn: called with each, and owns it
 * @arg: for @fn
 *
 * Return: 0; -ENOBUFS: some were lost; -EOPNOTSUPP: the module was unloaded.
 */
int family_event(struct nl_sock *sk, event_fn fn, void *arg)
{
	struct listening l = { fn, arg, false };
	int err;

	nl_socket_modify_cb(sk, NL_CB_VALID, NL_CB_CUSTOM, on_event, &l);
	err = error_of(nl_recvmsgs_default(sk));
	return l.gone ? -EOPNOTSUPP : err;
}
