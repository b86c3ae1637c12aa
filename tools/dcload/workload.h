/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One workload of a mesh: senders, receivers, sizes and times.
 *
 * A client host starts exchanges. An exchange is either
 *
 *	one way		one flow of random size to one random server, or
 *	a request	of fixed size to "fanout" servers at once, each of which
 *			answers with a flow of random size
 *
 * Arrivals are open loop (Poisson or at fixed intervals, whatever is still under
 * way) or closed loop (each client has "depth" exchanges under way, always).
 */
#ifndef DCLOAD_WORKLOAD_H
#define DCLOAD_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dist.h"

#define MAX_HOSTS	1024
#define MAX_WORKLOADS	32
#define ENDLESS_BYTES	(1ULL << 60)	/* a flow that outlasts every run */

enum workload_kind {
	WORKLOAD_POISSON,
	WORKLOAD_INCAST,
	WORKLOAD_RPC,
	WORKLOAD_STORAGE,
	WORKLOAD_LONG,
	N_WORKLOAD_KINDS,
};

enum arrivals {
	ARRIVALS_POISSON,
	ARRIVALS_FIXED,
	ARRIVALS_CLOSED,
};

/* Hosts by their number, from 0. */
struct host_set {
	uint16_t *host;
	size_t n;
};

struct workload {
	char *name;
	enum workload_kind kind;
	bool request;		/* request and response; else one way */
	enum arrivals arrivals;
	struct dist size;	/* of the flow, or of each response */
	uint64_t request_bytes;
	uint64_t fanout;
	double load;		/* share of the link rate, 0: by interval_ns */
	bool load_at_to;	/* the link is that of a host in "to" */
	double interval_ns;	/* mean time between arrivals at a client */
	uint64_t depth;		/* of a closed loop */
	uint64_t count;		/* exchanges of each client, 0: no limit */
	uint64_t start_ns;	/* after the run's start */
	uint64_t stop_ns;	/* 0: with the run */
	struct host_set from;
	struct host_set to;
	bool each;		/* a connection for each flow; else a pool */
	uint64_t pool;		/* connections for a pair of hosts, 0: no limit */
	char **cc;		/* taken in turn; one NULL for the default */
	size_t n_cc;
	int dscp;		/* -1: left alone */
};

struct ideal {
	struct host_set src, dst;
	double bit_s;		/* payload */
	double rtt_ns;
};

const char *workload_kind_name(enum workload_kind kind);
bool host_set_parse(struct host_set *set, const char *s, size_t n_hosts);
bool host_set_has(const struct host_set *set, size_t host);
bool workload_parse(struct workload *w, const char *spec, size_t n_hosts,
		    char *err, size_t err_len);
void workload_free(struct workload *w);
bool workload_finish(struct workload *w, uint64_t link_bit_s, char *err,
		     size_t err_len);
double workload_mean_bytes(const struct workload *w);
size_t workload_pick(const struct workload *w, size_t client, struct rng *r,
		     uint16_t *servers);
bool ideal_parse(struct ideal *ideal, const char *s, size_t n_hosts);
double ideal_ns(const struct ideal *ideal, const struct workload *w,
		uint64_t bytes, bool acked);

#endif /* DCLOAD_WORKLOAD_H */
