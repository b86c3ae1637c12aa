/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The receiver's decisions, written from Documentation/or_acker.md: what or_acker_core.h
 * is compared with. It shares no code with it. A flow is the list of all its packets and
 * of what was done about them, and each question is answered by going through the list;
 * a token bucket is a level that drains.
 *
 * Times are whole ns below 2^53: sums and differences of them are exact.
 */
#ifndef _OR_ACKER_MODEL_H
#define _OR_ACKER_MODEL_H

#include <stdbool.h>

struct model_rules {
	double packets, bytes, delay, path;	/* ack_* and path_interval_ns */
	double sub_interval, cpu_interval;
};

/* A token bucket of 1 ms: what is in it drains by 1 ns each ns. */
struct model_bucket {
	double level, at;
};

/* A sender of data. */
struct model_host {
	struct model_bucket bucket;
	double told;				/* < 0: never */
	double first_told;
};

struct model_packet {
	double at, bytes, headers, segs, seq;
	bool end;
};

#define MODEL_PACKETS	4096

struct model_flow {
	struct model_packet p[MODEL_PACKETS];
	int n;
	int decided;		/* packets that an OR-ACK was decided on for */
	int skipped;		/* and those for which none is to come by time */
	int acked;		/* packets that an OR-ACK covered */
	double limit;		/* ack_packets when the first of the rest came */
	double credit;
	double acks;
	bool queued, waiting;
	bool costly;		/* OR-ACKs go through a program or a cipher */
};

enum model_todo { MODEL_NOTHING, MODEL_SEND, MODEL_WAIT, MODEL_NONE_AT_END };
enum model_reason { MODEL_PACKETS_DUE, MODEL_BYTES_DUE, MODEL_PATH_DUE, MODEL_NO_REASON };
enum model_answer { MODEL_YES, MODEL_NO_CREDIT, MODEL_NO_SUB, MODEL_NO_CPU, MODEL_IDLE };

struct model_ack {
	enum model_answer answer;
	double packets, bytes, seq, hold, count;
};

void model_start(struct model_flow *f);
void model_host_start(struct model_host *h);
enum model_todo model_packet(struct model_flow *f, const struct model_rules *r,
			     const struct model_host *h, struct model_packet p,
			     enum model_reason *reason);
enum model_todo model_waited(struct model_flow *f, const struct model_rules *r,
			     const struct model_host *h, double now, double *until);
struct model_ack model_due(struct model_flow *f, const struct model_rules *r,
			   struct model_host *h, struct model_bucket *cpu, double cost,
			   double now);

#endif /* _OR_ACKER_MODEL_H */
