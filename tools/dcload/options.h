/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_OPTIONS_H
#define DCLOAD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "parse.h"

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
	int dscp;		/* -1: left alone */
	bool rtt_from_qdisc;
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

void client_options_parse(struct client_options *o, int argc, char **argv);
void server_options_parse(struct server_options *o, int argc, char **argv);
void usage(FILE *f);

#endif /* DCLOAD_OPTIONS_H */
