// SPDX-License-Identifier: GPL-2.0
/* Connections that send data: the devices they leave by, and whether On-Ramp follows them. */
#include <arpa/inet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

#include "collect.h"
#include "sockets.h"

/* A connection that has sent in this time sends, ms. */
#define RECENT_MS	1000
/* Ways that are told apart: each takes two lookups of a route. */
#define WAYS_MAX	64
/* UDP port of the OR protocol, at both ends. */
#define OR_PORT		299

/* Connections that On-Ramp follows, by name. */
struct known {
	struct pauses *all;
	size_t n, room;
};

/**
 * struct way - connections of one host to another by the same way
 * @key:	addresses; ports of the first connection
 * @oif:	device that their sockets are bound to, or 0
 * @mark:	of their packets
 * @ifindex:	device of the qdisc that follows them, 0: none does
 * @connections: number of them; @bytes is the data that they have sent
 * @min_rtt_us:	smallest RTT of all, 0: unknown
 */
struct way {
	struct flow_key key;
	uint32_t oif, mark, ifindex;
	uint64_t connections, bytes;
	uint32_t min_rtt_us;
};

struct ways {
	const struct known *known;
	struct way all[WAYS_MAX];
	size_t n;
};

static void on_pauses(const struct pauses *p, void *arg)
{
	struct known *k = arg;

	if (k->n == k->room) {
		k->room = MAX(2 * k->room, 64U);
		k->all = xrealloc(k->all, k->room, sizeof(*k->all));
	}
	k->all[k->n++] = *p;
}

static int by_key(const void *a, const void *b)
{
	const struct flow_key *x = &((const struct pauses *)a)->key;
	const struct flow_key *y = &((const struct pauses *)b)->key;
	int order = memcmp(x->remote, y->remote, sizeof(x->remote));

	if (!order)
		order = memcmp(x->local, y->local, sizeof(x->local));
	if (!order)
		order = x->lport - y->lport;
	return order ? order : x->rport - y->rport;
}

static const struct pauses *known_as(const struct known *k, const struct flow_key *key)
{
	struct pauses name = { .key = *key };

	return k->n ? bsearch(&name, k->all, k->n, sizeof(*k->all), by_key) : NULL;
}

static bool sends(const struct flow *f)
{
	return f->has_info && f->info.tcpi_bytes_sent &&
	       (f->info.tcpi_unacked || f->info.tcpi_notsent_bytes ||
		f->info.tcpi_last_data_sent < RECENT_MS);
}

static void on_flow(const struct flow *f, void *arg)
{
	struct flow_key key = flow_key(f);
	struct ways *ways = arg;
	const struct pauses *p;
	struct way *w;

	if (flow_is_loopback(f) || !sends(f))
		return;
	p = known_as(ways->known, &key);
	for (w = ways->all; w < ways->all + ways->n; w++)
		if (w->oif == f->ifindex && w->mark == f->mark &&
		    w->ifindex == (p ? p->ifindex : 0) &&
		    !memcmp(w->key.remote, key.remote, sizeof(key.remote)) &&
		    !memcmp(w->key.local, key.local, sizeof(key.local)))
			break;
	if (w == ways->all + WAYS_MAX)
		return;
	if (w == ways->all + ways->n) {
		*w = (struct way) {
			.key = key, .oif = f->ifindex, .mark = f->mark,
			.ifindex = p ? p->ifindex : 0, .min_rtt_us = UINT32_MAX,
		};
		ways->n++;
	}
	w->connections++;
	w->bytes += f->info.tcpi_bytes_sent;
	w->min_rtt_us = MIN(w->min_rtt_us, f->info.tcpi_min_rtt);
}

static void put_device(json_t *o, const char *key, uint32_t ifindex)
{
	char name[IF_NAMESIZE], clean[IF_NAMESIZE];

	if (ifindex && if_indextoname(ifindex, name))
		j_set(o, key, json_string(j_clean(clean, sizeof(clean), name, sizeof(name))));
}

static void put_address(json_t *o, const char *key, int family, const uint8_t *address)
{
	char text[INET6_ADDRSTRLEN];

	j_set(o, key, json_string(inet_ntop(family, address, text, sizeof(text))));
}

static void put_way(json_t *rows, const struct way *w, bool seen)
{
	struct route data = {
		.family = w->key.family, .local = w->key.local, .remote = w->key.remote,
		.oif = w->oif ? w->oif : w->key.scope, .mark = w->mark, .protocol = IPPROTO_TCP,
		.lport = w->key.lport, .rport = w->key.rport,
	}, message = {
		.family = w->key.family, .local = w->key.local, .remote = w->key.remote,
		.oif = w->key.scope, .protocol = IPPROTO_UDP, .lport = OR_PORT, .rport = OR_PORT,
	};
	json_t *o = json_object();

	put_address(o, "local", w->key.family, w->key.local);
	put_address(o, "remote", w->key.family, w->key.remote);
	j_set_u64(o, "connections", w->connections);
	j_set_u64(o, "sent_bytes", w->bytes);
	if (w->min_rtt_us && w->min_rtt_us != UINT32_MAX)
		j_set_u64(o, "min_rtt_us", w->min_rtt_us);
	if (seen)
		j_set(o, "followed", json_boolean(w->ifindex));
	put_device(o, "device", w->ifindex ? w->ifindex : route_device(&data));
	put_device(o, "message_device", route_device(&message));
	json_array_append_new(rows, o);
}

/**
 * data_read() - read the ways that data takes
 * @rows: one for each way is added: { "local", "remote", "device", "connections", "sent_bytes",
 *	"min_rtt_us"; "followed" by On-Ramp, absent if that cannot be seen;
 *	"message_device": which messages of the OR protocol leave by }
 *
 * Connections that send nothing, and those to this host itself, are left out.
 *
 * Return: false if the kernel does not tell.
 */
bool data_read(json_t *rows)
{
	struct known known = { 0 };
	struct ways ways = { .known = &known };
	bool seen, good;
	size_t i;

	seen = !family_pauses_each(NULL, on_pauses, &known);
	if (known.n)
		qsort(known.all, known.n, sizeof(*known.all), by_key);
	good = !sockets_each(on_flow, &ways);
	for (i = 0; i < ways.n && good; i++)
		put_way(rows, &ways.all[i], seen);
	free(known.all);
	return good;
}
