/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What this host and its peers know of their paths, and what follows from it: pure, without
 * sockets.
 *
 *	cluster_begin(), cluster_path(), cluster_clock()	the kernel's state, each round
 *	cluster_report()	a peer's lines came
 *	cluster_solve()		what each own path's baseline is; seeds for those that lack it
 *	cluster_fill()		lines for a peer
 *
 * Hosts are known by their addresses. A host's address is one that the kernel has a path to, or a
 * subscriber at; no message of another counts. At most CLUSTER_HOSTS, others are left alone.
 */
#ifndef ONRAMPD_CLUSTER_H
#define ONRAMPD_CLUSTER_H

#include "baseline_core.h"
#include "floors.h"
#include "huygens.h"
#include "probe.h"
#include "report.h"

/* Peers; host 0 of baseline_core.h is this one. */
#define CLUSTER_HOSTS	(BASELINE_HOSTS - 1)

/* A report counts for this time, ns. */
#define CLUSTER_REPORT_NS	3000000000LL

/* A path without a new OR-ACK for this time is idle, ns, or with fewer in it: 4 for each bucket. */
#define CLUSTER_IDLE_NS		1000000000LL
#define CLUSTER_FEW		240

/*
 * The rate of the own receive clock is known from two readings that are this far apart, ns, and
 * followed over this time. A reading that differs by more than any clock drifts, and by this, is of
 * another clock.
 */
#define CLUSTER_CLOCK_MIN_NS	5000000LL
#define CLUSTER_CLOCK_NS	200000000LL
#define CLUSTER_CLOCK_JUMP_NS	2000LL

/* Software sees a message this long after the NIC, at most, ns. */
#define CLUSTER_LATE_NS		1000000LL

/* The reference's CLOCK_REALTIME counts for this time, ns. */
#define CLUSTER_UTC_NS		200000000LL

/* What a path's baseline has to be above another one by, ns, to be mended: noise of software. */
#define CLUSTER_MARGIN_NS	2000LL

/* Payload of full packets, about: the difference counts as error, on this many links at least. */
#define CLUSTER_PAYLOAD	1400
#define CLUSTER_LINKS	3

/* A bound of a clock is wrong by this more in each of its millionths: its line has noise. */
#define CLUSTER_WANDER_PPM	8

/* A line's error is by how much it may be too low. It may be too high by this: support is near. */
#define CLUSTER_HIGH_NS		1024LL

/* Floors in a message, at most: hosts have few classes, and lines are of more use. */
#define CLUSTER_FLOORS	4

/* enum onramp_baseline_state, for code that has no header of the kernel's interface */
enum cluster_state {
	CLUSTER_UNKNOWN, CLUSTER_LEARNING, CLUSTER_UNSUPPORTED, CLUSTER_SUPPORTED, CLUSTER_LOST,
	CLUSTER_SEEDED,
};

/**
 * struct cluster_path - a path, as the kernel has it
 * @local: address, IPv4 mapped
 * @remote: address, likewise
 * @scope: device of a link-local address
 * @known: a baseline is known; else nothing below
 * @data: it is of data
 * @baseline_ns: at @at_ns, by the receiver's clock less CLOCK_MONOTONIC
 * @at_ns: CLOCK_MONOTONIC
 * @slope: Q32
 * @error_ns: of it
 * @least_ns: no baseline is below that, likewise
 * @rate_mbit: of the link
 * @payload: bytes
 * @acks: OR-ACKs so far
 * @domain: of the receiver's clock
 * @state: enum cluster_state
 */
struct cluster_path {
	uint8_t local[16];
	uint8_t remote[16];
	uint32_t scope;
	bool known;
	bool data;
	int64_t baseline_ns;
	int64_t at_ns;
	int32_t slope;
	int64_t error_ns;
	int64_t least_ns;
	uint32_t rate_mbit;
	uint32_t payload;
	uint64_t acks;
	uint8_t domain;
	uint8_t state;
};

/**
 * struct cluster_seed - what is known of an own path
 * @known: that is anything
 * @predicted: from before
 * @wanted: the kernel knows less
 * @value_ns: baseline now, by the receiver's clock less CLOCK_MONOTONIC
 * @least_ns: lower bound of it; BASELINE_NONE: none
 * @error_ns: it may be too low by this
 * @slope: Q32
 */
struct cluster_seed {
	bool known;
	bool predicted;
	bool wanted;
	int64_t value_ns;
	int64_t least_ns;
	int64_t error_ns;
	int32_t slope;
};

/**
 * struct cluster_clock - the receive clock of a host, less the own one
 * @known: it was known at @at_ns
 * @ns: it was not below the first one, and not above the second one
 * @slope: by which these grow, Q32
 * @mean_ns: its best estimate, within these
 * @mean_slope: by which that grows, Q32
 * @at_ns: CLOCK_MONOTONIC
 */
struct cluster_clock {
	bool known;
	int64_t ns[2];
	int32_t slope[2];
	int64_t mean_ns;
	int32_t mean_slope;
	int64_t at_ns;
};

/**
 * struct cluster_host - a peer
 * @addr: its address, IPv4 mapped; all 0: a free place
 * @local: that of this host which it is reached by
 * @seen: round in which the kernel last knew it
 * @has_path: @path is valid
 * @path: to it
 * @first_ns: when there was an OR-ACK of it for the first time
 * @acks_ns: when there last was a new one
 * @acks_from: OR-ACKs until @from_ns, which begins a second
 * @from_ns: CLOCK_MONOTONIC
 * @few: in the second before that there were less than CLUSTER_FEW, or there was none, and so it is
 *	since then
 * @probe: PROBEs to it and from it
 * @probed: path to it, as PROBEs have it
 * @seed: for that
 * @before: last answer that was no prediction, at @before_ns; 0: none
 * @clock: its receive clock, by @clock_domain
 * @clock_domain: of that one, and of the own one
 * @peer: for replays
 * @report: its last lines, which came @report_ns; 0: none
 * @refuted: they do not agree with the round trip to it
 * @hops: routers between, as its TTL says; REPORT_HOPS_UNKNOWN
 */
struct cluster_host {
	uint8_t addr[16];
	uint8_t local[16];
	uint64_t seen;
	bool has_path;
	struct cluster_path path;
	int64_t first_ns;
	int64_t acks_ns;
	uint64_t acks_from;
	int64_t from_ns;
	bool few;
	struct probe_way probe;
	struct cluster_path probed;
	struct cluster_seed seed;
	struct baseline_answer before;
	int64_t before_ns;
	struct cluster_clock clock;
	uint16_t clock_domain;
	struct report_peer peer;
	struct report report;
	int64_t report_ns;
	bool refuted;
	uint8_t hops;
};

/**
 * struct cluster - this host and its peers
 * @host: peers
 * @huygens: PROBEs alone count, by huygens.h
 * @reference: host that CLOCK_REALTIME is compared with; all 0: none
 * @pairs: count that no host's pairs of PROBEs are above, of those that were forgotten
 * @round: of the kernel's state
 * @clocked: the own receive clock is known
 * @clock_read: it was read in this round, but its rate may not be known
 * @other_read: another one was; @other_domain and the rest are of that
 * @domain: its domain
 * @clock_ns: it less CLOCK_MONOTONIC, at @clock_at_ns
 * @clock_at_ns: CLOCK_MONOTONIC
 * @clock_slope: by which that grows, Q32
 * @phc: it is by a NIC's clock
 * @phc_ns: it less that one
 * @base_ns: reading that @clock_slope is from, at @base_at_ns; 0: none
 * @base_at_ns: CLOCK_MONOTONIC
 * @rated: @clock_slope is known
 * @class: what makes a class, by its number
 * @n_classes: how many
 * @floors: that were known before, by seconds of CLOCK_MONOTONIC
 * @kept: those of the classes of the last solution
 * @line: of the last solution
 * @n_lines: how many
 * @solution: the last one
 * @mean: clocks by the least squares of its clean lines, by host
 */
struct cluster {
	struct cluster_host host[CLUSTER_HOSTS];
	bool huygens;
	uint8_t reference[16];
	uint64_t pairs;
	uint64_t round;
	bool clocked;
	bool clock_read;
	bool other_read;
	uint8_t other_domain;
	int64_t other_ns;
	int64_t other_at_ns;
	uint8_t domain;
	int64_t clock_ns;
	int64_t clock_at_ns;
	int32_t clock_slope;
	bool phc;
	int64_t phc_ns;
	int64_t base_ns;
	int64_t base_at_ns;
	bool rated;
	uint64_t class[BASELINE_CLASSES];
	unsigned int n_classes;
	struct floors floors;
	struct baseline_floor kept[BASELINE_CLASSES];
	struct baseline_line line[BASELINE_LINES];
	unsigned int n_lines;
	struct baseline_solution solution;
	struct huygens_clock mean[BASELINE_HOSTS];
};

static inline int64_t cluster_at(int64_t value_ns, int32_t slope, int64_t age_ns)
{
	return value_ns + ((age_ns * slope) >> 32);
}

/* The baseline of a path at a time of CLOCK_MONOTONIC. */
static inline int64_t cluster_baseline(const struct cluster_path *p, int64_t now_ns)
{
	return cluster_at(p->baseline_ns, p->slope, now_ns - p->at_ns);
}

/* The kernel's state -------------------------------------------------------- */

/* Of no host. */
static inline bool cluster_no_addr(const uint8_t *addr)
{
	static const uint8_t none[16];

	return !memcmp(addr, none, 16);
}

static inline struct cluster_host *cluster_find(struct cluster *c, const uint8_t *addr)
{
	unsigned int i;

	if (cluster_no_addr(addr))
		return NULL;
	for (i = 0; i < CLUSTER_HOSTS; i++)
		if (!memcmp(c->host[i].addr, addr, 16))
			return &c->host[i];
	return NULL;
}

/* cluster_begin() - forget paths: those that the kernel still has come next */
static inline void cluster_begin(struct cluster *c)
{
	unsigned int i;

	c->round++;
	c->clocked = false;
	c->clock_read = false;
	c->other_read = false;
	c->phc = false;
	for (i = 0; i < CLUSTER_HOSTS; i++)
		c->host[i].has_path = false;
}

/**
 * cluster_host() - find or add a host that the kernel knows
 * @c: cluster
 * @addr: its address
 * @local: own address
 *
 * Return: NULL if there is no place.
 */
static inline struct cluster_host *cluster_host(struct cluster *c, const uint8_t *addr,
						const uint8_t *local)
{
	struct cluster_host *host = cluster_find(c, addr);
	unsigned int i;

	for (i = 0; !host && i < CLUSTER_HOSTS; i++) {
		if (c->host[i].seen)
			continue;
		host = &c->host[i];
		memcpy(host->addr, addr, 16);
		host->hops = REPORT_HOPS_UNKNOWN;
		host->probe.count = c->pairs;
	}
	if (!host)
		return NULL;
	host->seen = c->round;
	memcpy(host->local, local, 16);
	return host;
}

/* cluster_path() - add a path; false: no place */
static inline bool cluster_path(struct cluster *c, const struct cluster_path *path)
{
	struct cluster_host *host = cluster_host(c, path->remote, path->local);

	if (!host)
		return false;
	if (path->acks && !host->path.acks)
		host->first_ns = path->at_ns;
	if (path->acks != host->path.acks)
		host->acks_ns = path->at_ns;
	if (path->acks < host->acks_from || path->at_ns - host->from_ns >= CLUSTER_IDLE_NS) {
		/* Of a new path nobody knows yet. */
		host->few = !host->from_ns || path->acks - host->acks_from < CLUSTER_FEW;
		host->acks_from = path->acks;
		host->from_ns = path->at_ns;
	}
	if (path->acks - host->acks_from >= CLUSTER_FEW)
		host->few = false;
	/* Two own addresses: the one whose path is known. */
	if (host->has_path && host->path.known)
		return true;
	host->has_path = true;
	host->path = *path;
	memcpy(host->local, path->local, 16);
	return true;
}

/* A reading of the clock that is the own one. */
static inline void cluster_clock_take(struct cluster *c, uint8_t domain, int64_t clock_ns,
				      int64_t at_ns)
{
	int64_t age_ns = at_ns - c->base_at_ns, grown_ns = clock_ns - c->base_ns, most_ns = 0;

	if (c->base_at_ns && age_ns <= BASELINE_PREDICT_NS)
		most_ns = (age_ns * BASELINE_SLOPE_MAX >> 32) + CLUSTER_CLOCK_JUMP_NS;
	if (c->domain != domain || grown_ns >= most_ns || grown_ns <= -most_ns) {
		c->rated = false;
		c->clock_slope = 0;
		c->base_ns = clock_ns;
		c->base_at_ns = at_ns;
	} else if (age_ns >= (c->rated ? CLUSTER_CLOCK_NS : CLUSTER_CLOCK_MIN_NS)) {
		c->clock_slope = (int32_t)(grown_ns * (1LL << 32) / age_ns);
		/* Soon there is a better one. */
		if (c->rated || age_ns >= CLUSTER_CLOCK_NS) {
			c->base_ns = clock_ns;
			c->base_at_ns = at_ns;
		}
		c->rated = true;
	}
	c->clock_read = true;
	c->clocked = c->rated;
	c->domain = domain;
	c->clock_ns = clock_ns;
	c->clock_at_ns = at_ns;
}

/**
 * cluster_clock() - take the own receive clock, which a subscriber's OR-ACKs have
 * @c: cluster
 * @domain: of the clock
 * @clock_ns: it less CLOCK_MONOTONIC
 * @at_ns: CLOCK_MONOTONIC
 *
 * Subscribers may have several: one by the NIC's clock, one by the host's. The one of the round
 * before stays as long as one has it, else the first of the round is the own one.
 *
 * Return: whether it is that of the round before.
 */
static inline bool cluster_clock(struct cluster *c, uint8_t domain, int64_t clock_ns,
				 int64_t at_ns)
{
	if (c->clock_at_ns && domain != c->domain) {
		if (!c->other_read) {
			c->other_domain = domain;
			c->other_ns = clock_ns;
			c->other_at_ns = at_ns;
		}
		c->other_read = true;
		return false;
	}
	cluster_clock_take(c, domain, clock_ns, at_ns);
	return true;
}

/* cluster_end() - all is read: forget hosts that the kernel no longer knows, and their clock */
static inline void cluster_end(struct cluster *c)
{
	unsigned int i;

	for (i = 0; i < CLUSTER_HOSTS; i++) {
		struct cluster_host *host = &c->host[i];

		if (!host->seen || host->seen == c->round)
			continue;
		/* The other end may still know it, and its count. */
		if (c->pairs < host->probe.count)
			c->pairs = host->probe.count;
		*host = (struct cluster_host) { .seen = 0 };
	}
	if (!c->clock_read && c->other_read)
		cluster_clock_take(c, c->other_domain, c->other_ns, c->other_at_ns);
}

/* cluster_own_clock() - take CLOCK_MONOTONIC and an offset for the own receive clock */
static inline void cluster_own_clock(struct cluster *c, uint8_t domain, int64_t clock_ns)
{
	c->clocked = true;
	c->rated = false;
	c->base_at_ns = 0;
	c->domain = domain;
	c->clock_ns = clock_ns;
	c->clock_slope = 0;
}

/* cluster_clock_at() - return the own receive clock less CLOCK_MONOTONIC, at a time of that */
static inline int64_t cluster_clock_at(const struct cluster *c, int64_t at_ns)
{
	return c->clocked ? cluster_at(c->clock_ns, c->clock_slope, at_ns - c->clock_at_ns) : 0;
}

/**
 * cluster_arrived() - return when a message arrived, CLOCK_MONOTONIC
 * @c: cluster
 * @arrived_ns: as software saw it
 * @phc_ns: as the NIC saw it, by its clock; 0: not known
 *
 * Interrupts may be late. The NIC's time is taken if it is one: not after that of software, by more
 * than the map of its clock may be off, and not long before. No time at all is long before.
 */
static inline int64_t cluster_arrived(const struct cluster *c, int64_t arrived_ns, int64_t phc_ns)
{
	int64_t nic_ns;

	if (!c->phc)
		return arrived_ns;
	nic_ns = (int64_t)((uint64_t)phc_ns + (uint64_t)c->phc_ns -
			   (uint64_t)cluster_clock_at(c, arrived_ns));
	return nic_ns > arrived_ns + CLUSTER_CLOCK_JUMP_NS ||
	       nic_ns < arrived_ns - CLUSTER_LATE_NS ? arrived_ns : nic_ns;
}

/* The slope of a line by the own receive clock. */
static inline int32_t cluster_by_clock(const struct cluster *c, int32_t slope)
{
	return c->clocked ? slope - c->clock_slope : slope;
}

/* cluster_youngest() - return how long ago a path had its first OR-ACK, ns: the last one of them */
static inline int64_t cluster_youngest(const struct cluster *c, int64_t now_ns)
{
	int64_t age_ns = INT64_MAX;
	unsigned int i;

	for (i = 0; i < CLUSTER_HOSTS; i++)
		if (c->host[i].has_path && c->host[i].path.acks &&
		    now_ns - c->host[i].first_ns < age_ns)
			age_ns = now_ns - c->host[i].first_ns;
	return age_ns > 0 ? age_ns : 0;
}

/* Lines --------------------------------------------------------------------- */

/* The number of a class, 0 if there are too many. */
static inline uint16_t cluster_class(struct cluster *c, uint8_t hops, uint32_t rate_mbit)
{
	uint64_t class = (uint64_t)hops << 32 | rate_mbit;
	unsigned int i;

	for (i = 0; i < c->n_classes; i++)
		if (c->class[i] == class)
			return (uint16_t)i;
	if (i == BASELINE_CLASSES)
		return 0;
	c->class[c->n_classes++] = class;
	return (uint16_t)i;
}

/* A smaller packet takes less time on each link that stores and forwards. */
static inline int64_t cluster_error(int64_t error_ns, uint32_t payload, uint32_t rate_mbit,
				    uint8_t hops)
{
	int64_t links = hops == REPORT_HOPS_UNKNOWN || hops < CLUSTER_LINKS ? CLUSTER_LINKS : hops;

	if (payload >= CLUSTER_PAYLOAD || !rate_mbit)
		return error_ns;
	return error_ns + (CLUSTER_PAYLOAD - payload) * 8000LL / rate_mbit * links;
}

/*
 * Has a path no data that tell how long it is? A kernel's support is of then, not of now; and if
 * few packets came, interrupts may have delayed all of them.
 */
static inline bool cluster_idle(const struct cluster_host *host, int64_t now_ns)
{
	const struct cluster_path *p = &host->path;

	return !host->has_path || !p->known || p->state <= CLUSTER_LEARNING || host->few ||
	       now_ns - host->acks_ns > CLUSTER_IDLE_NS;
}

/* Do data alone say that the path was empty, and not the way back? */
static inline bool cluster_unsure(const struct cluster *c, const struct cluster_host *host)
{
	return host->path.data && !c->solution.checked[host - c->host + 1];
}

/* Do PROBEs say the same? Their line is less exact. */
static inline bool cluster_vouched(const struct cluster_host *host, int64_t now_ns)
{
	const struct cluster_path *probed = &host->probed;

	return probed->known && probed->state == CLUSTER_SUPPORTED &&
	       cluster_baseline(&host->path, now_ns) <=
	       cluster_baseline(probed, now_ns) + CLUSTER_MARGIN_NS;
}

/*
 * What this host knows of its path to another one; NULL: nothing. A seed is no evidence: this
 * daemon has told it.
 */
static inline const struct cluster_path *cluster_evidence(const struct cluster *c,
							  const struct cluster_host *host,
							  int64_t now_ns)
{
	bool clean = host->probed.state == CLUSTER_SUPPORTED;
	bool unsure = host->path.state != CLUSTER_SUPPORTED || cluster_idle(host, now_ns) ||
		      (cluster_unsure(c, host) && !cluster_vouched(host, now_ns));
	bool none = !host->has_path || !host->path.known || host->path.state <= CLUSTER_LEARNING;

	if (c->huygens)
		return host->probed.known ? &host->probed : NULL;
	/* PROBEs met no queue before the path had data: that counts more than data in a queue. */
	if (host->probed.known && (none || (clean && unsure)))
		return &host->probed;
	return host->has_path && host->path.known && host->path.state != CLUSTER_SEEDED ?
	       &host->path : NULL;
}

/*
 * A line of such a path, by the own receive clock. It is of when the path last had data, or PROBEs.
 * A clean one counts as that for a while after that. One that is not clean has no slope: it rises
 * by the most that clocks may drift.
 */
static inline struct baseline_line cluster_now(const struct cluster *c,
					       const struct cluster_host *host,
					       const struct cluster_path *p, int64_t now_ns)
{
	int64_t of_ns = p == &host->path && host->acks_ns < p->at_ns ? host->acks_ns : p->at_ns;
	int64_t value_ns = cluster_baseline(p, of_ns);
	struct baseline_line line = {
		.clean = p->state == CLUSTER_SUPPORTED && now_ns - of_ns <= BASELINE_PREDICT_NS,
		.slope = p->slope,
		.data = p->data && !cluster_vouched(host, now_ns),
		.error_ns = p->error_ns + (now_ns - of_ns) / 1000000 * BASELINE_WANDER_PPM,
	};

	if (!line.clean && p->state != CLUSTER_LOST)
		line.slope = BASELINE_DRIFT_MAX;
	line.value_ns = cluster_at(value_ns, line.slope, now_ns - of_ns) -
			cluster_clock_at(c, now_ns);
	line.slope = cluster_by_clock(c, line.slope);
	return line;
}

static inline void cluster_line(struct cluster *c, const struct baseline_line *line)
{
	unsigned int i;

	if (!baseline_valid(line) || c->n_lines == BASELINE_LINES)
		return;
	/* A host's address may be given twice. */
	for (i = 0; i < c->n_lines; i++)
		if (c->line[i].from == line->from && c->line[i].to == line->to)
			return;
	c->line[c->n_lines++] = *line;
}

/* The line of an own path, by the own receive clock. */
static inline void cluster_own(struct cluster *c, unsigned int i, int64_t now_ns)
{
	const struct cluster_host *host = &c->host[i];
	const struct cluster_path *p = cluster_evidence(c, host, now_ns);
	struct baseline_line line;

	if (!p)
		return;
	line = cluster_now(c, host, p, now_ns);
	line.to = (uint16_t)(i + 1);
	line.class = cluster_class(c, host->hops, p->rate_mbit);
	line.error_ns = cluster_error(line.error_ns, p->payload, p->rate_mbit, host->hops);
	cluster_line(c, &line);
}

/* Is it the clock that the lines of all others are by? */
static inline bool cluster_same_clock(const struct cluster_host *host, uint8_t domain)
{
	if (host->has_path && host->path.known)
		return host->path.domain == domain;
	return host->report_ns && host->report.clocked && host->report.domain == domain;
}

/* The host of an address that a peer names: 0 this one, -1 unknown. */
static inline int cluster_named(struct cluster *c, const uint8_t *addr)
{
	const struct cluster_host *host = cluster_find(c, addr);
	unsigned int i;

	if (host)
		return (int)(host - c->host) + 1;
	for (i = 0; i < CLUSTER_HOSTS; i++)
		if (c->host[i].seen && !memcmp(c->host[i].local, addr, 16))
			return 0;
	return -1;
}

/* cluster_reports() - return whether a host's last lines are recent */
static inline bool cluster_reports(const struct cluster_host *host, int64_t now_ns)
{
	return host->report_ns && now_ns - host->report_ns < CLUSTER_REPORT_NS;
}

static inline bool cluster_usable(const struct cluster_host *host, int64_t now_ns)
{
	return cluster_reports(host, now_ns) && host->report.clocked &&
	       cluster_same_clock(host, host->report.domain);
}

/* A line that peer @i has told. */
static inline void cluster_told(struct cluster *c, unsigned int i, const struct report_line *l,
				int64_t now_ns)
{
	const struct cluster_host *host = &c->host[i];
	int to = cluster_named(c, l->addr);
	struct baseline_line line = {
		.from = (uint16_t)(i + 1), .to = (uint16_t)to, .clean = l->clean,
		.data = l->data,
		.value_ns = l->value_ns, .slope = l->slope,
		.error_ns = cluster_error(l->error_ns, l->payload, l->rate_mbit, l->hops),
	};

	if (to < 0 || (to ? !cluster_same_clock(&c->host[to - 1], l->domain) :
			    !c->clocked || l->domain != c->domain) || !baseline_valid(&line))
		return;
	/* The way back has the same hops, also if only this host has counted them. */
	line.class = cluster_class(c, to ? l->hops : host->hops, l->rate_mbit);
	line.value_ns = cluster_at(l->value_ns, l->slope, now_ns - host->report_ns);
	cluster_line(c, &line);
}

/* What no baseline of a path is below now, at any drift of the clocks. */
static inline int64_t cluster_least(const struct cluster_path *p, int64_t now_ns)
{
	return cluster_at(p->least_ns, -BASELINE_SLOPE_MAX, now_ns - p->at_ns);
}

/*
 * Does what a peer tells of the way to this host agree with the OR-ACKs that came by it? They show
 * by how much its clock is ahead at least: a clean line can be higher only by what a full packet
 * takes longer. And no sum of two ways is below 0.
 */
static inline bool cluster_agrees(struct cluster *c, unsigned int i, int64_t now_ns)
{
	const struct cluster_host *host = &c->host[i];
	const struct cluster_path *p = &host->path;
	int64_t clock_ns = cluster_clock_at(c, now_ns);
	unsigned int k;

	if (!host->has_path || !p->known)
		return true;
	for (k = 0; k < host->report.n; k++) {
		const struct report_line *l = &host->report.line[k];
		int64_t back_ns;

		if (cluster_named(c, l->addr) || !c->clocked || l->domain != c->domain)
			continue;
		if (l->value_ns >= BASELINE_MAX_NS || l->value_ns <= -BASELINE_MAX_NS ||
		    l->slope > BASELINE_SLOPE_MAX || l->slope < -BASELINE_SLOPE_MAX)
			return false;
		back_ns = cluster_at(l->value_ns, l->slope, now_ns - host->report_ns) - clock_ns;
		if (l->clean && cluster_least(p, now_ns) + back_ns >
				cluster_error(l->error_ns + CLUSTER_MARGIN_NS, 0, p->rate_mbit,
					      host->hops))
			return false;
		/* A seed is no evidence for the lines that it was computed from. */
		return p->state == CLUSTER_SEEDED ||
		       cluster_baseline(p, now_ns) + back_ns +
		       p->error_ns + l->error_ns >= 0;
	}
	return true;
}

/* Probes -------------------------------------------------------------------- */

/* The rate of a path's link, Mbit/s: of the way back, as the host says, if the kernel has none. */
static inline uint32_t cluster_rate(struct cluster *c, const struct cluster_host *host)
{
	unsigned int k;

	if (host->has_path && host->path.rate_mbit)
		return host->path.rate_mbit;
	for (k = 0; k < host->report.n; k++)
		if (!cluster_named(c, host->report.line[k].addr))
			return host->report.line[k].rate_mbit;
	return 0;
}

/**
 * cluster_wants_probes() - return whether to send PROBEs to a host
 * @c: cluster
 * @host: that is there, and has no path whose data tell how long it is
 * @now_ns: CLOCK_MONOTONIC
 */
static inline bool cluster_wants_probes(struct cluster *c, const struct cluster_host *host,
					int64_t now_ns)
{
	bool wanted = c->huygens || cluster_idle(host, now_ns) || cluster_unsure(c, host) ||
		      host->path.state != CLUSTER_SUPPORTED ||
		      !memcmp(host->addr, c->reference, 16);

	return host->seen && host->peer.session && cluster_reports(host, now_ns) && wanted &&
	       cluster_rate(c, host);
}

/* Samples of a way as huygens.h has them, less @base_ns; return how many. */
static inline unsigned int cluster_samples(const struct probe_points *points, int64_t now_ns,
					   int64_t base_ns, struct huygens_point *out)
{
	unsigned int i, n = 0;

	for (i = 0; i < points->n; i++) {
		const struct probe_point *p = &points->point[i];

		if (now_ns - p->t_ns <= PROBE_WINDOW_NS && p->t_ns <= now_ns)
			out[n++] = (struct huygens_point) {
				(double)(p->t_ns - now_ns), (double)(p->d_ns - base_ns),
			};
	}
	return n;
}

/* The line of the way to a host that Huygens finds between the samples of both ways. */
static inline bool cluster_svm(const struct probe_way *w, int64_t now_ns,
			       struct baseline_line *line)
{
	int64_t base_ns = w->to.point[0].d_ns;
	struct huygens_point there[PROBE_POINTS], back[PROBE_POINTS];
	unsigned int n = cluster_samples(&w->to, now_ns, base_ns, there);
	unsigned int m = cluster_samples(&w->from, now_ns, base_ns, back);
	struct huygens_fit fit;

	if (n < PROBE_MIN || m < PROBE_MIN)
		return false;
	huygens_svm(there, n, back, m, &fit);
	*line = (struct baseline_line) {
		.clean = true, .value_ns = base_ns + llround(fit.there),
		.slope = (int32_t)llround(fit.slope * 4294967296.0), .error_ns = PROBE_NOISE_NS,
	};
	return true;
}

/* Is a line of the path to a host, now, below what its OR-ACKs allow? */
static inline bool cluster_too_low(const struct cluster_host *host,
				   const struct baseline_line *line, int64_t now_ns)
{
	const struct cluster_path *p = &host->path;

	return host->has_path && p->known && line->value_ns + line->error_ns <
	       cluster_least(p, now_ns);
}

/* What PROBEs say of the path to a host; a clean line of before stays for a while. */
static inline void cluster_probed(struct cluster *c, struct cluster_host *host, int64_t now_ns)
{
	struct baseline_line line;

	if (host->probed.domain != host->probe.domain ||
	    !cluster_same_clock(host, host->probe.domain) ||
	    host->probed.state != CLUSTER_SUPPORTED ||
	    now_ns - host->probed.at_ns > BASELINE_PREDICT_NS)
		host->probed.known = false;
	if (!cluster_same_clock(host, host->probe.domain) ||
	    !(c->huygens ? cluster_svm(&host->probe, now_ns, &line) :
	      probe_line(&host->probe, now_ns, PROBE_NOISE_NS, &line)) ||
	    (host->probed.known && !line.clean) || cluster_too_low(host, &line, now_ns))
		return;
	host->probed = (struct cluster_path) {
		.known = true, .baseline_ns = line.value_ns, .at_ns = now_ns, .slope = line.slope,
		.error_ns = line.error_ns, .rate_mbit = cluster_rate(c, host),
		.payload = PROBE_LEN, .domain = host->probe.domain,
		.state = line.clean ? CLUSTER_SUPPORTED : CLUSTER_UNSUPPORTED,
	};
}

/* Floors -------------------------------------------------------------------- */

/* What others say of a class: a line of no host is a floor. */
static inline const struct floor *cluster_told_floor(const struct cluster *c, uint8_t hops,
						     uint32_t rate_mbit, int64_t now_ns,
						     struct floor *told)
{
	unsigned int i, k, n = 0;

	for (i = 0; i < CLUSTER_HOSTS; i++) {
		const struct cluster_host *host = &c->host[i];

		if (!host->seen || host->refuted || !cluster_reports(host, now_ns))
			continue;
		for (k = 0; k < host->report.n; k++) {
			const struct report_line *l = &host->report.line[k];
			struct floor f = {
				.hops = l->hops, .rate_mbit = l->rate_mbit, .ns = l->value_ns,
				.error_ns = l->error_ns,
			};

			if (!cluster_no_addr(l->addr) || l->hops != hops ||
			    l->rate_mbit != rate_mbit || !floors_valid(&f))
				continue;
			told[n++] = f;
			break;
		}
	}
	return floors_median(told, n);
}

/* What was known before of the classes of all lines. */
static inline void cluster_kept(struct cluster *c, int64_t now_ns)
{
	struct floor told[CLUSTER_HOSTS];
	unsigned int i;

	for (i = 0; i < BASELINE_CLASSES; i++) {
		uint8_t hops = (uint8_t)(c->class[i] >> 32);
		uint32_t rate_mbit = (uint32_t)c->class[i];
		const struct floor *f;

		c->kept[i] = (struct baseline_floor) { .ns = BASELINE_NONE };
		if (i >= c->n_classes || hops == REPORT_HOPS_UNKNOWN)
			continue;
		f = cluster_told_floor(c, hops, rate_mbit, now_ns, told);
		if (!f)
			f = floors_find(&c->floors, hops, rate_mbit, now_ns / 1000000000);
		if (f)
			c->kept[i] = (struct baseline_floor) {
				.ns = f->ns, .error_ns = f->error_ns, .firm = true,
			};
	}
}

/* The floor of class @i that two hosts know now; false: none do. */
static inline bool cluster_floor(const struct cluster *c, unsigned int i, int64_t now_ns,
				 struct floor *f)
{
	const struct baseline_floor *floor = &c->solution.floor[i];

	*f = (struct floor) {
		.hops = (uint8_t)(c->class[i] >> 32), .rate_mbit = (uint32_t)c->class[i],
		.ns = floor->ns, .error_ns = floor->error_ns, .at_s = now_ns / 1000000000,
	};
	/* With too many classes the first one has what is left over. */
	return floor->clean && (i || c->n_classes < BASELINE_CLASSES) && floors_valid(f);
}

/* Clocks -------------------------------------------------------------------- */

enum { CLUSTER_LEAST, CLUSTER_MOST };

/* No bound: above all clocks, and the difference of two is within 64 bits. */
#define CLUSTER_NONE_NS		(BASELINE_SUM_NS - (1LL << 40))

/* A bound of before, at another time. */
static inline int64_t cluster_bound(const struct cluster_clock *k, unsigned int which,
				    int64_t now_ns)
{
	int64_t age_ns = now_ns - k->at_ns, wander_ns = age_ns / 1000000 * CLUSTER_WANDER_PPM;

	return cluster_at(k->ns[which], k->slope[which], age_ns) +
	       (which == CLUSTER_MOST ? wander_ns : -wander_ns);
}

/* A bound of now, or none. */
static inline void cluster_bounded(struct cluster_clock *k, unsigned int which,
				   const struct baseline_bound *bound)
{
	int64_t error_ns = which == CLUSTER_MOST ? bound->error_ns : -bound->error_ns;
	int64_t none_ns = which == CLUSTER_MOST ? CLUSTER_NONE_NS : -CLUSTER_NONE_NS;

	k->ns[which] = bound->ns >= CLUSTER_NONE_NS || bound->ns <= -CLUSTER_NONE_NS ?
		       none_ns : bound->ns + error_ns;
	if (bound->slope <= BASELINE_SLOPE_MAX && bound->slope >= -BASELINE_SLOPE_MAX)
		k->slope[which] = (int32_t)bound->slope;
}

/*
 * The weight of two clean lines whose sum is above the floor of their class: that much of a queue
 * no packet found empty, on one way or on both.
 */
static inline double cluster_weight(const struct baseline_floor *floor, int64_t sum_ns)
{
	double over;

	if (!floor->firm)
		return 1;
	over = (double)(sum_ns - floor->ns + floor->error_ns) / CLUSTER_HIGH_NS;
	return over <= 0 ? 1 : 1 / (1 + over * over);
}

/* A bound is the lowest of several, with the noise of each. The mean of clean lines has less. */
static inline void cluster_means(struct cluster *c)
{
	struct huygens_edge edges[BASELINE_LINES];
	unsigned int i, k = 0, hosts = 1;

	for (i = 0; i < c->n_lines; i++) {
		const struct baseline_line *l = &c->line[i], *back;

		if (l->from > l->to || !l->clean || !baseline_counts(l, &c->solution))
			continue;
		back = baseline_back(c->line, c->n_lines, l);
		if (!back || !back->clean || baseline_far(l, back, c->solution.floor))
			continue;
		edges[k] = huygens_edge(l, back);
		edges[k++].weight = cluster_weight(&c->solution.floor[l->class],
						   l->value_ns + back->value_ns);
		hosts = l->to >= hosts ? l->to + 1U : hosts;
	}
	for (i = 0; i < BASELINE_HOSTS; i++)
		c->mean[i].known = false;
	huygens_clocks(edges, k, c->mean, hosts);
}

/* A value within two bounds. */
static inline int64_t cluster_within(int64_t ns, int64_t least_ns, int64_t most_ns)
{
	return ns < least_ns ? least_ns : ns > most_ns ? most_ns : ns;
}

/*
 * The receive clock of a host: what is known now, and what was known before, as far as both agree.
 * Ways by which it is known may go one by one, and clocks wander slowly.
 */
static inline void cluster_clock_of(struct cluster *c, unsigned int i, int64_t now_ns)
{
	struct cluster_host *host = &c->host[i];
	struct cluster_clock *k = &host->clock, now = { .known = true, .at_ns = now_ns };
	uint8_t domain = host->has_path && host->path.known ? host->path.domain :
			 host->report.domain;
	uint16_t both = (uint16_t)(c->domain << 8 | domain);
	const struct huygens_clock *mean = &c->mean[i + 1];
	int64_t least_ns, most_ns;

	if (!c->clocked || both != host->clock_domain ||
	    now_ns - k->at_ns > BASELINE_PREDICT_NS)
		k->known = false;
	host->clock_domain = both;
	if (!c->clocked)
		return;
	cluster_bounded(&now, CLUSTER_LEAST, &c->solution.lower[i + 1]);
	cluster_bounded(&now, CLUSTER_MOST, &c->solution.upper[i + 1]);
	/* Huygens says nothing of the errors of single lines. */
	if (!c->huygens) {
		now.ns[CLUSTER_LEAST] -= CLUSTER_HIGH_NS;
		now.ns[CLUSTER_MOST] += CLUSTER_HIGH_NS;
	}
	least_ns = cluster_bound(k, CLUSTER_LEAST, now_ns);
	most_ns = cluster_bound(k, CLUSTER_MOST, now_ns);
	/*
	 * If they contradict each other, a clock was set, or a line was wrong: now counts. So it
	 * does if it is about as good: noise of both would make it better than it is.
	 */
	if (k->known && !c->huygens && now.ns[CLUSTER_MOST] >= least_ns &&
	    most_ns >= now.ns[CLUSTER_LEAST] &&
	    now.ns[CLUSTER_MOST] - now.ns[CLUSTER_LEAST] > 2 * (most_ns - least_ns)) {
		if (most_ns < now.ns[CLUSTER_MOST]) {
			now.ns[CLUSTER_MOST] = most_ns;
			now.slope[CLUSTER_MOST] = k->slope[CLUSTER_MOST];
		}
		if (least_ns > now.ns[CLUSTER_LEAST]) {
			now.ns[CLUSTER_LEAST] = least_ns;
			now.slope[CLUSTER_LEAST] = k->slope[CLUSTER_LEAST];
		}
	}
	if (now.ns[CLUSTER_MOST] >= BASELINE_MAX_NS || now.ns[CLUSTER_LEAST] <= -BASELINE_MAX_NS ||
	    now.ns[CLUSTER_MOST] < now.ns[CLUSTER_LEAST])
		return;
	now.mean_ns = now.ns[CLUSTER_LEAST] +
		      (now.ns[CLUSTER_MOST] - now.ns[CLUSTER_LEAST]) / 2;
	now.mean_slope = now.slope[CLUSTER_LEAST];
	if (mean->known) {
		now.mean_ns = cluster_within(mean->ns, now.ns[CLUSTER_LEAST], now.ns[CLUSTER_MOST]);
		now.mean_slope = (int32_t)llround(mean->slope);
	}
	*k = now;
}

/**
 * cluster_ahead() - return by how much the receive clock of a host is ahead of the own one, ns
 * @host: its clock is known
 * @now_ns: CLOCK_MONOTONIC
 * @error_ns: largest error, if all that hosts told is true
 */
static inline int64_t cluster_ahead(const struct cluster_host *host, int64_t now_ns,
				    int64_t *error_ns)
{
	int64_t most_ns = cluster_bound(&host->clock, CLUSTER_MOST, now_ns);
	int64_t least_ns = cluster_bound(&host->clock, CLUSTER_LEAST, now_ns);
	int64_t ns = cluster_within(cluster_at(host->clock.mean_ns, host->clock.mean_slope,
					       now_ns - host->clock.at_ns), least_ns, most_ns);

	*error_ns = most_ns - ns > ns - least_ns ? most_ns - ns : ns - least_ns;
	return ns;
}

/**
 * cluster_utc() - compare CLOCK_REALTIME with that of the reference
 * @c: cluster
 * @now_ns: CLOCK_MONOTONIC
 * @utc_ns: own CLOCK_REALTIME less CLOCK_MONOTONIC
 * @offset_ns: set to by how much the reference is ahead
 * @error_ns: set to the largest error, if all that hosts told is true
 *
 * Return: false if it is not known.
 */
static inline bool cluster_utc(struct cluster *c, int64_t now_ns, int64_t utc_ns,
			       int64_t *offset_ns, int64_t *error_ns)
{
	const struct cluster_host *host = cluster_find(c, c->reference);
	int64_t age_ns = host ? now_ns - host->probe.utc_at_ns : 0;

	if (!host || !host->seen || !c->clocked || !host->clock.known || host->refuted ||
	    !cluster_reports(host, now_ns) || !host->probe.utc_at_ns ||
	    host->probe.domain != (uint8_t)host->clock_domain ||
	    age_ns > CLUSTER_UTC_NS || age_ns < 0)
		return false;
	*offset_ns = host->probe.utc_ns + cluster_ahead(host, now_ns, error_ns) +
		     cluster_clock_at(c, now_ns) - utc_ns;
	/* Its two clocks may drift: one may be a NIC's. */
	*error_ns += age_ns * BASELINE_DRIFT_MAX >> 32;
	return true;
}

/* Answers ------------------------------------------------------------------- */

static inline void cluster_answer(struct cluster *c, unsigned int i, int64_t now_ns)
{
	struct cluster_host *host = &c->host[i];
	const struct cluster_path *p = &host->path;
	struct baseline_answer answer;
	struct baseline_line own = {
		.to = (uint16_t)(i + 1), .class = cluster_class(c, host->hops, p->rate_mbit),
	};
	int64_t clock_ns = cluster_clock_at(c, now_ns), age_ns = now_ns - host->before_ns;
	struct cluster_seed *seed = &host->seed;
	bool known;

	*seed = (struct cluster_seed) { .known = false };
	if (!host->has_path || !p->known)
		return;
	known = baseline_answer(&c->solution, &own, &answer);
	if (host->before_ns && age_ns < BASELINE_PREDICT_NS)
		seed->predicted = baseline_predict(&host->before, age_ns, known, &answer);
	if (!known && !seed->predicted)
		return;
	seed->known = true;
	seed->value_ns = answer.line.value_ns + clock_ns;
	seed->least_ns = answer.least_ns;
	if (answer.least_ns != BASELINE_NONE)
		seed->least_ns += clock_ns;
	seed->error_ns = answer.line.error_ns;
	seed->slope = answer.line.slope + (c->clocked ? c->clock_slope : 0);
	/* The kernel takes none for a path with support. */
	seed->wanted = p->state == CLUSTER_SEEDED ||
		       (p->state != CLUSTER_SUPPORTED &&
			seed->value_ns + seed->error_ns + CLUSTER_MARGIN_NS <
			cluster_baseline(p, now_ns));
	/* A bound by the own line alone is nothing to predict by. */
	if (seed->wanted && !seed->predicted) {
		host->before = answer;
		host->before_ns = now_ns;
	}
}

/**
 * cluster_solve() - compute seeds
 * @c: cluster
 * @now_ns: CLOCK_MONOTONIC
 */
static inline void cluster_solve(struct cluster *c, int64_t now_ns)
{
	struct floor f;
	unsigned int i, k;

	c->n_lines = 0;
	c->n_classes = 0;
	for (i = 0; i < CLUSTER_HOSTS; i++) {
		if (!c->host[i].seen)
			continue;
		cluster_probed(c, &c->host[i], now_ns);
		cluster_own(c, i, now_ns);
	}
	for (i = 0; i < CLUSTER_HOSTS; i++) {
		struct cluster_host *host = &c->host[i];

		if (!host->seen || !cluster_usable(host, now_ns))
			continue;
		host->refuted = !cluster_agrees(c, i, now_ns);
		if (host->refuted)
			host->before_ns = 0;
		for (k = 0; !host->refuted && k < host->report.n; k++)
			cluster_told(c, i, &host->report.line[k], now_ns);
	}
	/* A path without a line has a class as well. */
	for (i = 0; i < CLUSTER_HOSTS; i++)
		if (c->host[i].has_path)
			cluster_class(c, c->host[i].hops, c->host[i].path.rate_mbit);
	cluster_kept(c, now_ns);
	if (c->huygens)
		huygens_solve(c->line, c->n_lines, c->kept, &c->solution);
	else
		baseline_solve(c->line, c->n_lines, c->kept, &c->solution);
	cluster_means(c);
	for (i = 0; i < c->n_classes; i++)
		if (cluster_floor(c, i, now_ns, &f))
			floors_keep(&c->floors, &f);
	for (i = 0; i < CLUSTER_HOSTS; i++) {
		if (!c->host[i].seen)
			continue;
		cluster_answer(c, i, now_ns);
		cluster_clock_of(c, i, now_ns);
	}
}

/* Reports ------------------------------------------------------------------- */

/**
 * cluster_report() - take a message of a host, whose MAC is right
 * @host: that it came from
 * @r: message
 * @session: own
 * @hops: as its TTL says
 * @now_ns: CLOCK_MONOTONIC
 */
static inline enum report_verdict cluster_report(struct cluster_host *host,
						 const struct report *r, uint64_t session,
						 uint8_t hops, int64_t now_ns)
{
	enum report_verdict verdict = report_accept(&host->peer, r, session);

	if (verdict == REPORT_FRESH) {
		host->report = *r;
		host->report_ns = now_ns;
		host->hops = hops;
	}
	return verdict;
}

static inline bool cluster_put(const struct cluster *c, const struct cluster_host *host,
			       int64_t now_ns, struct report *r)
{
	const struct cluster_path *p = cluster_evidence(c, host, now_ns);
	struct report_line *l = &r->line[r->n];
	struct baseline_line line;

	if (r->n == REPORT_LINES || !host->seen || !p || p->state <= CLUSTER_LEARNING)
		return false;
	line = cluster_now(c, host, p, now_ns);
	*l = (struct report_line) {
		.value_ns = line.value_ns, .slope = line.slope, .rate_mbit = p->rate_mbit,
		.domain = p->domain,
		.error_ns = (uint32_t)(line.error_ns < UINT32_MAX ? line.error_ns : UINT32_MAX),
		.payload = (uint16_t)(p->payload < 65535 ? p->payload : 65535),
		.hops = host->hops, .clean = line.clean, .data = line.data,
	};
	memcpy(l->addr, host->addr, 16);
	r->n++;
	return true;
}

/* The floors of classes that two hosts know now, in turn if they are many. */
static inline void cluster_put_floors(const struct cluster *c, struct report *r)
{
	unsigned int i, put = 0;
	struct floor f;

	for (i = 0; i < c->n_classes && put < CLUSTER_FLOORS; i++) {
		unsigned int class = (unsigned int)((r->count + i) % c->n_classes);

		if (!cluster_floor(c, class, 0, &f))
			continue;
		r->line[r->n++] = (struct report_line) {
			.value_ns = f.ns, .error_ns = (uint32_t)f.error_ns,
			.rate_mbit = f.rate_mbit, .hops = f.hops, .clean = true,
		};
		put++;
	}
}

/**
 * cluster_fill() - write the lines for a host: that to it, floors, and others in turn
 * @c: cluster
 * @to: the host
 * @now_ns: CLOCK_MONOTONIC, of sending
 * @turn: number of this message to it
 * @r: message; session and count are the caller's
 */
static inline void cluster_fill(const struct cluster *c, const struct cluster_host *to,
				int64_t now_ns, uint64_t turn, struct report *r)
{
	unsigned int i, from = (unsigned int)(turn * (REPORT_LINES - 1) % CLUSTER_HOSTS);

	r->n = 0;
	r->echo = report_echo(&to->peer, turn);
	r->clocked = c->clocked;
	r->domain = c->domain;
	/* By CLOCK_MONOTONIC they would tell for how long it is up, and be of no use. */
	if (!c->clocked)
		return;
	cluster_put(c, to, now_ns, r);
	cluster_put_floors(c, r);
	for (i = 0; i < CLUSTER_HOSTS && r->n < REPORT_LINES; i++) {
		const struct cluster_host *host = &c->host[(from + i) % CLUSTER_HOSTS];

		if (host != to)
			cluster_put(c, host, now_ns, r);
	}
}

#endif /* ONRAMPD_CLUSTER_H */
