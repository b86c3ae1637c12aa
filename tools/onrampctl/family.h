/* SPDX-License-Identifier: GPL-2.0 */
/* The generic netlink families "onramp" and "timely", see Documentation/netlink.md. */
#ifndef ONRAMPCTL_FAMILY_H
#define ONRAMPCTL_FAMILY_H

#include "ctl.h"

/* Kinds of objects. */
enum family_what {
	FAMILY_PATHS,
	FAMILY_FLOWS,
	FAMILY_SUBSCRIBERS,
	FAMILY_TIMELY,
};

/**
 * struct flow_key - the name of a connection
 * @family:	AF_INET or AF_INET6
 * @local:	address, 4 or 16 bytes, the rest 0; @remote likewise
 * @lport:	port, host order; @rport likewise
 * @scope:	device of a link-local address, otherwise 0
 */
struct flow_key {
	int family;
	uint8_t local[16], remote[16];
	uint16_t lport, rport;
	uint32_t scope;
};

/**
 * struct pauses - a connection as On-Ramp knows it
 * @key:	its name
 * @pauses:	number of pauses since On-Ramp follows it
 * @paused_ns:	sum of their lengths so far
 * @pause_left_ns: time to the end of the pause, 0: none
 * @waiting:	packets wait for that end
 * @has_delay:	@delay_ns is known
 * @delay_ns:	of its last OR-ACK that counted
 * @ifindex:	device of the qdisc that sent last, 0: none yet
 */
struct pauses {
	struct flow_key key;
	uint64_t pauses, paused_ns, pause_left_ns, delay_ns;
	bool waiting, has_delay;
	uint32_t ifindex;
};

struct nlattr;
struct nl_sock;

typedef void (*pauses_fn)(const struct pauses *p, void *arg);
typedef void (*row_fn)(json_t *row, void *arg);
typedef void (*event_fn)(json_t *event, void *arg);

json_t *family_row(enum family_what what, struct nlattr *first, int len);
bool family_pauses(struct pauses *out, struct nlattr *first, int len);
int family_dump(enum family_what what, json_t *rows);
int family_each(enum family_what what, row_fn fn, void *arg);
int family_stats(json_t *stats);
int family_pauses_each(const struct flow_key *peer, pauses_fn fn, void *arg);
int family_pauses_of(const struct flow_key *key, struct pauses *out);
int family_listen(struct nl_sock **out);
int family_event(struct nl_sock *sk, event_fn fn, void *arg);

#endif /* ONRAMPCTL_FAMILY_H */
