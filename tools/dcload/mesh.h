/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A mesh: hosts that all send to each other
 *
 *	source		starts the exchanges of one workload at one client host
 *	exchange	one of them: one part (one way), or a part for each server
 *	part		what goes over one connection: a flow, or request and response
 *	conn		a connection; carries one part at a time
 *	side		one end of it
 *	class		all connections of a workload with the same congestion control;
 *			each has a port of its own, so that listeners can run it, too
 *
 * A process plays all hosts, or one (--self).
 *
 * All hosts: both ends are in the same process. Only the flows' own bytes are on the wire.
 * A flow is complete when the receiver has read its last byte, by the same clock.
 *
 * One host: the data of a client begins with a header of 16 bytes, which counts as part of
 * its size (less than 16 bytes become 16). The server answers a one-way flow with one byte
 * when it has read all of it: then the flow is complete.
 */
#ifndef DCLOAD_MESH_H
#define DCLOAD_MESH_H

#include <netinet/in.h>
#include <stdio.h>

#include "hist.h"
#include "loop.h"
#include "net.h"
#include "options.h"
#include "stats.h"
#include "workload.h"

#define HEADER_BYTES	16

struct mesh;
struct conn;

struct host {
	const struct endpoint *addr;
	const struct netns *ns;		/* NULL: elsewhere */
	struct counters measured;	/* of its ends of all connections */
};

struct side {
	struct watch watch;		/* fd -1: closed, or elsewhere */
	struct conn *conn;
	struct host *host;
	uint64_t to_write;
	uint64_t to_read;
	int lowat;			/* SO_RCVLOWAT as it is set */
	struct counters seen;		/* by the last side_account() */
};

struct conn {
	struct side client, server;
	struct class *class;
	struct part *part;		/* NULL: idle */
	struct conn *next_idle;
	struct conn *next_expected;	/* not accepted yet */
	struct conn *next, **prev;	/* all of them */
	struct timer retry;
	uint64_t connect_ns;
	uint64_t response;		/* bytes, as the header said */
	unsigned int header_len;	/* of it read */
	uint16_t port;			/* of the client */
	bool up;
	unsigned char header[HEADER_BYTES];
};

struct part {
	struct exchange *exchange;
	struct part *next;		/* of those waiting for a connection */
	uint64_t bytes;			/* one way: the flow; else the response */
	struct counters before[2];	/* client's and server's at its start */
	uint64_t sampled_acked;		/* time series */
	uint64_t number;		/* of the run, from 0 */
	uint16_t server;
};

struct exchange {
	struct source *source;
	uint64_t start_ns;
	uint64_t bytes;			/* of all parts */
	uint32_t open;			/* parts not done */
	bool measured;			/* began in the measured interval */
	struct part parts[];
};

struct source {
	struct timer timer;
	struct mesh *mesh;
	struct load *load;
	struct host *host;
	struct rng rng;
	double next_ns;			/* arrival, since the run's start */
	uint64_t started;
};

/* Connections between two hosts, of a class. */
struct pair {
	struct conn *idle;
	struct part *waiting, **waiting_end;
	uint32_t conns;
};

struct listener {
	struct watch watch;
	struct class *class;
	struct host *host;
};

struct class {
	struct mesh *mesh;
	struct load *load;
	const char *cc;			/* NULL: the default */
	char found_cc[CC_NAME_MAX];	/* of its first connection */
	uint16_t port;
	struct listener *listeners;	/* of each host */
	struct pair *pairs;		/* client * n_hosts + server; pools only */
};

/* Completion times of flows of similar size. */
struct bin {
	struct hist fct;		/* ns */
	struct hist slowdown;		/* thousandths */
};

/* A workload as it runs. */
struct load {
	const struct workload *w;
	struct source *sources;		/* of the hosts in "from" */
	struct class *classes;		/* of each congestion control */
	struct bin all;
	struct bin bins[MAX_BINS + 1];
	struct bin request;		/* of exchanges with several parts or responses */
	uint64_t arrived, arrived_bytes;	/* measured: parts */
	uint64_t exchanges, exchanges_done;	/* measured */
	uint64_t done, done_bytes;		/* measured: parts */
	uint64_t retrans_flows, timeout_flows;	/* measured: parts, with --flows-csv */
	struct counters measured, total;
};

#define EXPECTED_BUCKETS	4096

struct mesh {
	struct loop loop;
	const struct mesh_options *opt;
	struct netns *netns;
	struct host *hosts;
	size_t *by_addr;		/* hosts, sorted by address */
	unsigned char *ideal_of;	/* client * n_hosts + server, NULL: no ideals */
	struct load *loads;
	struct conn *conns;
	struct conn *expected[EXPECTED_BUCKETS];
	char *buf;			/* zeros, one chunk */

	struct timer start_timer, measure_timer, end_timer, drain_timer;
	struct timer step_timer, progress_timer;
	uint64_t start_ns;		/* of the load, 0: not yet */
	uint64_t start_boot_ns;		/* of the measured interval, CLOCK_BOOTTIME */
	uint64_t base_ns, end_ns;	/* measured interval */
	bool measuring;
	bool ending;			/* nothing starts any more */
	bool failed;

	bool waiting_start;		/* for --start-at */
	size_t to_connect;		/* of --connect-first, not up yet */
	size_t max_conns;
	uint64_t conns_open, conns_made;
	uint64_t parts;			/* started, ever */
	uint64_t pending;		/* exchanges under way */
	uint64_t pending_measured;
	uint64_t wakeups;		/* of connections */
	FILE *csv, *flows_csv;
};

static inline bool mesh_is_local(const struct mesh *m)
{
	return !m->opt->self;
}

/* mesh.c */
int mesh_run(const struct mesh_options *o);
void __printf(2, 3) mesh_fail(struct mesh *m, const char *fmt, ...);
void part_done(struct conn *c);
void mesh_conn_up(struct conn *c);
const struct ideal *mesh_ideal(const struct mesh *m, const struct host *client,
			       const struct host *server);
struct side *conn_sender(struct conn *c);

/* mesh_conn.c */
void mesh_listen(struct mesh *m);
struct conn *conn_open(struct class *class, struct host *client,
		       struct host *server);
void conn_start(struct conn *c, struct part *p);
void side_account(struct side *s);
void conns_account(struct mesh *m);
void conns_abort(struct mesh *m);

/* mesh_result.c */
void mesh_csv_open(struct mesh *m);
void mesh_csv_step(struct mesh *m);
void mesh_csv_flow(struct mesh *m, const struct conn *c, uint64_t fct_ns,
		   double slowdown, const struct counters *tcp);
void mesh_result_write(struct mesh *m);

#endif /* DCLOAD_MESH_H */
