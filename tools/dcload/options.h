/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_OPTIONS_H
#define DCLOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "parse.h"
#include "workload.h"

enum client_mode {
	MODE_BULK,		/* long flows */
	MODE_ROUNDS,		/* incast: everybody sends a request, repeat */
	MODE_CHURN,		/* connect, send, close, repeat */
};

struct client_options {
	enum client_mode mode;
	struct endpoint *to;
	size_t n_to;
	char **netns;		/* one NULL if none was given */
	size_t n_netns;
	const char *cc;		/* NULL: whatever the namespace's default is */
	const char *json;	/* NULL: none */
	const char *csv;	/* NULL: none */
	const char *rtt_csv;	/* NULL: none */
	uint64_t flows;
	uint64_t port;
	uint64_t duration_ns;	/* measured part, 0: no limit (churn) */
	uint64_t warmup_ns;
	uint64_t start_gap_ns;
	bool connect_first;
	uint64_t connect_timeout_ns;
	uint64_t interval_ns;	/* of the time series, 0: none */
	uint64_t rate_limit_bit_s;	/* per flow, 0: none */
	uint64_t size;		/* bytes per request or cycle, 0: endless */
	uint64_t chunk;		/* bytes per write */
	uint64_t rtt_sample_ns;	/* mean time between samples of a flow, 0: none */
	uint64_t churn;		/* cycles */
	uint64_t seed;
	uint64_t *phases_ns;	/* send, idle, send, ... */
	size_t n_phases;
	uint64_t on_ns;		/* mean of a flow's ON times, 0: always ON */
	uint64_t off_ns;	/* and of its OFF times */
	const char *on_cc;	/* NULL, or set for a moment before each ON time */
	int dscp;		/* -1: left alone */
	bool rtt_from_qdisc;
	bool zerocopy;
	bool sendfile;
	bool ktls;
	bool flows_given;
	bool parallel_given;
	bool progress;
};

struct server_options {
	struct endpoint bind;	/* family 0: every address */
	const char *netns;
	const char *cc;
	const char *json;
	uint64_t port;
	uint64_t lowat;
	bool progress;
};

#define MAX_IDEALS	64
#define MAX_BINS	8

struct mesh_options {
	struct endpoint *hosts;
	size_t n_hosts;
	char **netns;		/* NULL: of the process */
	size_t n_netns;
	uint64_t self;		/* host of this process, from 1; 0: all */
	const char *specs[MAX_WORKLOADS];
	struct workload *workloads;
	size_t n_workloads;
	const char *ideal_specs[MAX_IDEALS];
	struct ideal *ideals;	/* the first that fits a pair */
	size_t n_ideals;
	uint64_t ideal_bit_s;
	double ideal_rtt_ns;
	bool ideal_rtt_given;
	uint64_t link_bit_s;	/* 0: not known */
	uint64_t bins[MAX_BINS];	/* upper bounds; one more bin is above */
	size_t n_bins;
	uint64_t start_at_ns;	/* CLOCK_REALTIME, 0: at once */
	uint64_t duration_ns;
	uint64_t warmup_ns;
	uint64_t drain_ns;
	uint64_t connect_timeout_ns;
	uint64_t interval_ns;	/* of the time series, 0: none */
	uint64_t csv_min_bytes;
	uint64_t max_pending;
	uint64_t chunk;
	uint64_t lowat;
	uint64_t port;		/* of the first class of connections */
	uint64_t seed;
	const char *json;	/* NULL: none */
	const char *csv;
	const char *flows_csv;
	bool connect_first;
	bool progress;
};

void client_options_parse(struct client_options *o, int argc, char **argv);
void server_options_parse(struct server_options *o, int argc, char **argv);
void mesh_options_parse(struct mesh_options *o, int argc, char **argv);
void usage(FILE *f);

#endif /* DCLOAD_OPTIONS_H */
