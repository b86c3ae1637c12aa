/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Floors of classes of paths: what a host knows of paths that it has not used yet.
 *
 * A class is all paths with as many routers, over links of one rate. Its floor is the time there
 * and back while they are empty, without clocks (baseline_core.h). It comes from three places, the
 * first of which that has it counts:
 *
 *	1. two hosts whose lines are both clean, now
 *	2. what others say, in their REPORTs: the median of at least two, the higher one of two
 *	3. a file, by which it outlives a reboot, for 30 days
 *
 * A lowest sum of lines that are not clean is lower than (2) or (3) only if these are wrong, and
 * counts in place of them. Another link or route makes another class, mostly; where it does not,
 * (1) replaces what was kept.
 *
 * The file has a line "onrampd floors 1", and a line for each class:
 *
 *	ROUTERS MBIT_PER_SECOND FLOOR_NS ERROR_NS UNIX_SECONDS
 *
 * Pure functions, without files.
 */
#ifndef ONRAMPD_FLOORS_H
#define ONRAMPD_FLOORS_H

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "baseline_core.h"

/* How long one that was kept counts, s: a machine may be off over a holiday. */
#define FLOORS_AGE_S		(30LL * 24 * 3600)
/* No path is longer, ns: to the other side of the world and back. */
#define FLOORS_MAX_NS		400000000LL
/* Routers, at most: the TTL of messages is 64. */
#define FLOORS_HOPS_MAX		63
#define FLOORS_HEAD		"onrampd floors 1\n"
/* Bytes of the file, at most: five numbers a line. */
#define FLOORS_TEXT		(64 + BASELINE_CLASSES * 80)

/**
 * struct floor - of a class
 * @hops: routers
 * @rate_mbit: of the links of its hosts
 * @ns: there and back
 * @error_ns: paths of the class may be longer by this
 * @at_s: when it was last seen, seconds of any clock that all of a table have
 */
struct floor {
	uint8_t hops;
	uint32_t rate_mbit;
	int64_t ns;
	int64_t error_ns;
	int64_t at_s;
};

struct floors {
	struct floor floor[BASELINE_CLASSES];
	unsigned int n;
};

static inline bool floors_valid(const struct floor *f)
{
	return f->hops <= FLOORS_HOPS_MAX && f->rate_mbit && f->ns >= 0 &&
	       f->ns <= FLOORS_MAX_NS && f->error_ns >= 0 && f->error_ns <= BASELINE_ERROR_MAX_NS;
}

/* floors_find() - return the floor of a class, NULL if it is not known, or too old */
static inline const struct floor *floors_find(const struct floors *all, uint8_t hops,
					      uint32_t rate_mbit, int64_t now_s)
{
	unsigned int i;

	for (i = 0; i < all->n; i++)
		if (all->floor[i].hops == hops && all->floor[i].rate_mbit == rate_mbit)
			return now_s - all->floor[i].at_s <= FLOORS_AGE_S ? &all->floor[i] : NULL;
	return NULL;
}

/* floors_keep() - keep a floor, in place of that of its class, or of the oldest one */
static inline void floors_keep(struct floors *all, const struct floor *f)
{
	unsigned int i, oldest = 0;

	if (!floors_valid(f))
		return;
	for (i = 0; i < all->n; i++) {
		if (all->floor[i].hops == f->hops && all->floor[i].rate_mbit == f->rate_mbit)
			break;
		if (all->floor[i].at_s < all->floor[oldest].at_s)
			oldest = i;
	}
	if (i == BASELINE_CLASSES)
		i = oldest;
	else if (i == all->n)
		all->n++;
	all->floor[i] = *f;
}

/**
 * floors_print() - write the file's text
 * @all: floors, by a clock of which it is @now_s now
 * @now_s: seconds
 * @unix_s: and CLOCK_REALTIME
 * @text: FLOORS_TEXT bytes
 */
static inline void floors_print(const struct floors *all, int64_t now_s, int64_t unix_s,
				char *text)
{
	size_t len = (size_t)snprintf(text, FLOORS_TEXT, FLOORS_HEAD);
	unsigned int i;

	for (i = 0; i < all->n; i++) {
		const struct floor *f = &all->floor[i];

		if (now_s - f->at_s > FLOORS_AGE_S)
			continue;
		len += (size_t)snprintf(text + len, FLOORS_TEXT - len,
					"%u %" PRIu32 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
					f->hops, f->rate_mbit, f->ns, f->error_ns,
					unix_s - (now_s - f->at_s));
	}
}

/* The next number of a line, from 0 on, and what follows it. */
static inline bool floors_number(const char **at, int64_t max, char end, int64_t *out)
{
	char *behind;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*out = strtoll(*at, &behind, 10);
	if (errno || *out > max || *behind != end)
		return false;
	*at = behind + 1;
	return true;
}

/**
 * floors_parse() - read the file's text
 * @text: it, with a 0 behind
 * @now_s: seconds, by the clock that @all will be by
 * @unix_s: and CLOCK_REALTIME; one that is newer than now is of now
 * @all: result
 *
 * Return: 0, or the number of the line that is wrong; @all is empty then.
 */
static inline unsigned int floors_parse(const char *text, int64_t now_s, int64_t unix_s,
					struct floors *all)
{
	static const char head[] = FLOORS_HEAD;
	unsigned int line = 1;

	*all = (struct floors) { .n = 0 };
	if (strncmp(text, head, sizeof(head) - 1))
		return line;
	for (text += sizeof(head) - 1; *text; ) {
		int64_t hops, rate, at;
		struct floor f;

		line++;
		if (!floors_number(&text, FLOORS_HOPS_MAX, ' ', &hops) ||
		    !floors_number(&text, UINT32_MAX, ' ', &rate) ||
		    !floors_number(&text, FLOORS_MAX_NS, ' ', &f.ns) ||
		    !floors_number(&text, BASELINE_ERROR_MAX_NS, ' ', &f.error_ns) ||
		    !floors_number(&text, INT64_MAX, '\n', &at) || !rate ||
		    all->n == BASELINE_CLASSES) {
			*all = (struct floors) { .n = 0 };
			return line;
		}
		f.hops = (uint8_t)hops;
		f.rate_mbit = (uint32_t)rate;
		f.at_s = at > unix_s ? now_s : now_s - (unix_s - at);
		floors_keep(all, &f);
	}
	return 0;
}

/**
 * floors_median() - what several hosts say of one class
 * @told: floors, sorted here
 * @n: how many
 *
 * One who lies low makes all paths of a class look shorter than they are: one alone is no evidence,
 * and of two the higher one counts.
 *
 * Return: NULL if there are fewer than two.
 */
static inline const struct floor *floors_median(struct floor *told, unsigned int n)
{
	unsigned int i, k;

	for (i = 1; i < n; i++) {
		struct floor f = told[i];

		for (k = i; k && told[k - 1].ns > f.ns; k--)
			told[k] = told[k - 1];
		told[k] = f;
	}
	return n < 2 ? NULL : &told[n / 2];
}

#endif /* ONRAMPD_FLOORS_H */
