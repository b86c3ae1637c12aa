// SPDX-License-Identifier: GPL-2.0
/*
 * Distributions of flow sizes, sampled by inverting the cumulative distribution
 * function: draw p uniform in (0, 1], find the knots around it, interpolate.
 *
 * Where the numbers are from:
 *
 *	websearch	M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010,
 *			figure 4: flows of a web search cluster; up to 30 MB, with
 *			the knots that HPCC's evaluation (Y. Li et al., SIGCOMM 2019)
 *			made customary
 *	fb-hadoop	A. Roy et al., "Inside the Social Network's (Datacenter)
 *			Network", SIGCOMM 2015, figure 6: Hadoop, coarse, up to
 *			10 MB, again with HPCC's knots; On-Ramp's FB_Hadoop
 *	webserver	the same figure: web servers, within a cluster
 *	cachefollower	the same figure: cache followers, within a cluster
 *	hadoop		the same figure: Hadoop, all destinations; with the finer
 *			knots used by Homa's evaluation
 *	googlerpc	B. Montazeri et al., "Homa", SIGCOMM 2018, workload W2: RPCs
 *			of a search application at Google; On-Ramp's
 *			GoogleSearchRPC. Counted by powers of two.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "dcload.h"
#include "dist.h"
#include "parse.h"

static const struct dist_knot websearch[] = {
	{ 0, 0 }, { 10e3, 0.15 }, { 20e3, 0.20 }, { 30e3, 0.30 },
	{ 50e3, 0.40 }, { 80e3, 0.53 }, { 200e3, 0.60 }, { 1e6, 0.70 },
	{ 2e6, 0.80 }, { 5e6, 0.90 }, { 10e6, 0.97 }, { 30e6, 1 },
};

static const struct dist_knot fb_hadoop[] = {
	{ 0, 0 }, { 100, 0.01 }, { 200, 0.02 }, { 300, 0.05 },
	{ 350, 0.15 }, { 400, 0.20 }, { 500, 0.30 }, { 600, 0.40 },
	{ 700, 0.50 }, { 1e3, 0.60 }, { 2e3, 0.67 }, { 7e3, 0.70 },
	{ 30e3, 0.72 }, { 50e3, 0.82 }, { 80e3, 0.87 }, { 120e3, 0.90 },
	{ 300e3, 0.95 }, { 1e6, 0.975 }, { 2e6, 0.99 }, { 10e6, 1 },
};

static const struct dist_knot webserver[] = {
	{ 50, 0 }, { 120, 0.1 }, { 153, 0.126 }, { 301, 0.215 },
	{ 500, 0.226 }, { 800, 0.2537 }, { 900, 0.2667 }, { 1085, 0.313 },
	{ 1391, 0.33816 }, { 1534, 0.35 }, { 1769, 0.38666 },
	{ 1873, 0.3989 }, { 3270, 0.49349 }, { 5186, 0.56818 },
	{ 7094, 0.61259 }, { 9487, 0.6463 }, { 14140, 0.6852 },
	{ 24018, 0.72983 }, { 35668, 0.75926 }, { 41486, 0.76946 },
	{ 46098, 0.77702 }, { 60932, 0.79334 }, { 72861, 0.80222 },
	{ 80e3, 0.8074 }, { 100e3, 0.8148 }, { 144310, 0.8241 },
	{ 200e3, 0.8574 }, { 260573, 0.8944 }, { 358105, 0.95745 },
	{ 404069, 0.97502 }, { 442606, 0.9833 }, { 565213, 0.9907 },
	{ 797780, 0.99667 }, { 1e6, 1 },
};

static const struct dist_knot cachefollower[] = {
	{ 50, 0 }, { 68, 0.0204 }, { 144, 0.0409 }, { 266, 0.0539 },
	{ 340, 0.1803 }, { 490, 0.277 }, { 589, 0.3074 }, { 639, 0.3178 },
	{ 707, 0.3532 }, { 900, 0.3643 }, { 1042, 0.3773 }, { 1110, 0.3996 },
	{ 1303, 0.4052 }, { 1414, 0.4126 }, { 1440, 0.4238 },
	{ 2000, 0.4368 }, { 2450, 0.4461 }, { 3000, 0.4535 },
	{ 4373, 0.4632 }, { 5186, 0.46726 }, { 6355, 0.4714 },
	{ 8000, 0.4758 }, { 10e3, 0.4777 }, { 13855, 0.4833 },
	{ 17765, 0.48844 }, { 19352, 0.48992 }, { 25531, 0.4944 },
	{ 28270, 0.5 }, { 36101, 0.5037 }, { 73965, 0.52304 },
	{ 94071, 0.53046 }, { 102060, 0.5335 }, { 113930, 0.5405 },
	{ 127700, 0.5465 }, { 159136, 0.56694 }, { 199933, 0.5923 },
	{ 229647, 0.61336 }, { 248136, 0.62266 }, { 276998, 0.6394 },
	{ 338223, 0.66172 }, { 391670, 0.6766 }, { 531696, 0.6952 },
	{ 588724, 0.7138 }, { 1385460, 0.72 }, { 1503110, 0.723 },
	{ 1787360, 0.7787 }, { 1842840, 0.7974 }, { 1991200, 0.81972 },
	{ 2125370, 0.8346 }, { 2305850, 0.868 }, { 2605730, 0.93688 },
	{ 2827010, 0.974 }, { 3006220, 0.9888 }, { 3260430, 0.9944 },
	{ 3837700, 1 },
};

static const struct dist_knot hadoop[] = {
	{ 50, 0 }, { 92, 0.0074 }, { 217, 0.0149 }, { 300, 0.052 },
	{ 326, 0.1375 }, { 376, 0.2026 }, { 425, 0.223 }, { 480, 0.2639 },
	{ 607, 0.46486 }, { 743, 0.55442 }, { 808, 0.5777 },
	{ 900, 0.59305 }, { 1063, 0.61155 }, { 1303, 0.63044 },
	{ 1460, 0.64236 }, { 1534, 0.6468 }, { 1664, 0.6673 },
	{ 2214, 0.6747 }, { 5210, 0.6933 }, { 7830, 0.7082 },
	{ 31946, 0.7212 }, { 36844, 0.7305 }, { 39973, 0.7398 },
	{ 44531, 0.76044 }, { 47823, 0.78624 }, { 51046, 0.816 },
	{ 62583, 0.8234 }, { 70722, 0.8327 }, { 75180, 0.842 },
	{ 81565, 0.8717 }, { 118669, 0.89964 }, { 141975, 0.91076 },
	{ 192343, 0.92846 }, { 220484, 0.93769 }, { 240177, 0.9442 },
	{ 288520, 0.9535 }, { 470507, 0.9628 }, { 754877, 0.96877 },
	{ 1769240, 0.9814 }, { 2169120, 0.987 }, { 10e6, 1 },
};

static const struct dist_knot googlerpc[] = {
	{ 2, 0.0756034 }, { 3, 0.1323059 }, { 4, 0.1512068 },
	{ 8, 0.1701076 }, { 32, 0.1890085 }, { 64, 0.3264360 },
	{ 128, 0.3417032 }, { 256, 0.4638395 }, { 512, 0.9104006 },
	{ 1024, 0.9581101 }, { 2048, 0.9810107 }, { 4096, 0.9953236 },
	{ 8192, 0.9984247 }, { 16384, 0.9989018 }, { 32768, 0.9991403 },
	{ 65536, 0.9993491 }, { 131072, 0.9998709 }, { 262144, 0.9999752 },
	{ 524288, 0.9999827 }, { 3529904, 1 },
};

static const struct dist builtins[] = {
	{ "websearch", websearch, ARRAY_SIZE(websearch), DIST_LINEAR, NULL },
	{ "fb-hadoop", fb_hadoop, ARRAY_SIZE(fb_hadoop), DIST_LINEAR, NULL },
	{ "googlerpc", googlerpc, ARRAY_SIZE(googlerpc), DIST_HARMONIC, NULL },
	{ "webserver", webserver, ARRAY_SIZE(webserver), DIST_LOG, NULL },
	{ "cachefollower", cachefollower, ARRAY_SIZE(cachefollower), DIST_LOG, NULL },
	{ "hadoop", hadoop, ARRAY_SIZE(hadoop), DIST_LOG, NULL },
};

/**
 * dist_names() - names of the built-in distributions, for messages
 */
const char *dist_names(void)
{
	return "websearch, fb-hadoop, googlerpc, webserver, cachefollower, hadoop";
}

/**
 * dist_builtin() - find a distribution by name, upper or lower case
 * @d: result
 * @name: one of dist_names(), or On-Ramp's FB_Hadoop and GoogleSearchRPC
 *
 * Return: false if there is none of this name.
 */
bool dist_builtin(struct dist *d, const char *name)
{
	size_t i;

	if (!strcasecmp(name, "FB_Hadoop"))
		name = "fb-hadoop";
	if (!strcasecmp(name, "GoogleSearchRPC"))
		name = "googlerpc";
	for (i = 0; i < ARRAY_SIZE(builtins); i++) {
		if (!strcasecmp(name, builtins[i].name)) {
			*d = builtins[i];
			return true;
		}
	}
	return false;
}

/**
 * dist_uniform() - every size of a range with the same probability
 * @d: result, to be given to dist_free()
 * @min_bytes: smallest size
 * @max_bytes: largest size; @min_bytes for a fixed one
 */
void dist_uniform(struct dist *d, uint64_t min_bytes, uint64_t max_bytes)
{
	memset(d, 0, sizeof(*d));
	d->name = min_bytes == max_bytes ? "fixed" : "uniform";
	d->n = 2;
	d->own = xcalloc(d->n, sizeof(*d->own));
	d->own[0] = (struct dist_knot){ (double)min_bytes, 0 };
	d->own[1] = (struct dist_knot){ (double)max_bytes, 1 };
	d->knots = d->own;
}

void dist_free(struct dist *d)
{
	free(d->own);
	d->own = NULL;
}

static double between(const struct dist *d, const struct dist_knot *a,
		      const struct dist_knot *b, double share)
{
	if (d->between == DIST_LOG)
		return a->bytes * pow(b->bytes / a->bytes, share);
	if (d->between == DIST_HARMONIC)
		return 1 / ((1 - share) / a->bytes + share / b->bytes);
	return a->bytes + (b->bytes - a->bytes) * share;
}

static double mean_between(const struct dist *d, const struct dist_knot *a,
			   const struct dist_knot *b)
{
	double ratio;

	if (d->between == DIST_LINEAR || a->bytes == b->bytes)
		return (a->bytes + b->bytes) / 2;
	ratio = log(b->bytes / a->bytes);
	if (d->between == DIST_LOG)
		return (b->bytes - a->bytes) / ratio;
	return a->bytes * b->bytes / (b->bytes - a->bytes) * ratio;
}

/**
 * dist_mean() - mean size in bytes, before rounding to whole ones
 * @d: distribution
 */
double dist_mean(const struct dist *d)
{
	double mean = d->knots[0].bytes * d->knots[0].cumulative;
	size_t i;

	for (i = 1; i < d->n; i++)
		mean += (d->knots[i].cumulative - d->knots[i - 1].cumulative) *
			mean_between(d, &d->knots[i - 1], &d->knots[i]);
	return mean;
}

/**
 * dist_quantile() - size that is not exceeded with a given probability
 * @d: distribution
 * @p: probability, 0 to 1
 *
 * Return: the size in bytes, not rounded.
 */
double dist_quantile(const struct dist *d, double p)
{
	const struct dist_knot *a, *b;
	size_t low = 0, high = d->n - 1;

	if (p <= d->knots[0].cumulative)
		return d->knots[0].bytes;
	/* The first knot that reaches p. */
	while (high - low > 1) {
		size_t mid = (low + high) / 2;

		if (d->knots[mid].cumulative < p)
			low = mid;
		else
			high = mid;
	}
	a = &d->knots[high - 1];
	b = &d->knots[high];
	return between(d, a, b, (p - a->cumulative) /
		       (b->cumulative - a->cumulative));
}

/**
 * dist_sample() - draw a size
 * @d: distribution
 * @r: generator, one number of which is taken
 *
 * Return: whole bytes, at least 1.
 */
uint64_t dist_sample(const struct dist *d, struct rng *r)
{
	double bytes = dist_quantile(d, rng_uniform(r));

	return bytes < 1 ? 1 : (uint64_t)llround(bytes);
}

static bool parse_knot(const char *line, struct dist_knot *k)
{
	char *end;

	k->bytes = strtod(line, &end);
	if (end == line)
		return false;
	line = end;
	k->cumulative = strtod(line, &end);
	return end != line && !end[strspn(end, " \t\r")];
}

static bool next_line(const char **text, char *line, size_t len)
{
	size_t n = strcspn(*text, "\n");

	if (!**text)
		return false;
	snprintf(line, len, "%.*s", (int)(n < len ? n : len - 1), *text);
	*text += n + ((*text)[n] == '\n');
	return true;
}

static const char *check_knot(const struct dist_knot *knots, size_t n)
{
	const struct dist_knot *k = &knots[n];

	if (!(k->bytes >= 0 && k->bytes <= (double)DIST_MAX_BYTES))
		return "a size must be from 0 to 2^40 bytes";
	if (!(k->cumulative >= 0 && k->cumulative <= 100))
		return "a probability must be from 0 to 1 (or all in percent)";
	if (n && k->bytes <= k[-1].bytes)
		return "sizes must rise from line to line";
	if (n && k->cumulative < k[-1].cumulative)
		return "cumulative probabilities must not fall";
	if (n + 1 == DIST_MAX_KNOTS)
		return "too many lines, 10000 are allowed";
	return NULL;
}

/**
 * dist_parse_text() - read a distribution
 * @d: result, to be given to dist_free()
 * @text: lines "BYTES CUMULATIVE"; empty lines and comments from # on are ignored; the
 *	last probability is 1, or 100 if they are in percent; between two lines
 *	all sizes are equally probable
 * @err: result: the error
 * @err_len: its length
 *
 * Return: false if @text is no distribution.
 */
bool dist_parse_text(struct dist *d, const char *text, char *err, size_t err_len)
{
	struct dist_knot *knots = xcalloc(DIST_MAX_KNOTS, sizeof(*knots));
	unsigned int number = 0;
	const char *wrong;
	char line[256];
	size_t n = 0, i;
	double last;

	while (next_line(&text, line, sizeof(line))) {
		number++;
		line[strcspn(line, "#")] = '\0';
		if (!line[strspn(line, " \t\r")])
			continue;
		wrong = parse_knot(line, &knots[n]) ? check_knot(knots, n) :
			"expected a size and a cumulative probability";
		if (wrong) {
			snprintf(err, err_len, "line %u: %s", number, wrong);
			goto bad;
		}
		n++;
	}
	last = n ? knots[n - 1].cumulative : 0;
	if (last != 1 && last != 100) {
		snprintf(err, err_len, "the last line's probability must be 1 (or 100, in percent)");
		goto bad;
	}
	for (i = 0; i < n; i++)
		knots[i].cumulative /= last;
	memset(d, 0, sizeof(*d));
	d->name = "file";
	d->own = knots;
	d->knots = knots;
	d->n = n;
	return true;
bad:
	free(knots);
	return false;
}

static bool dist_read(struct dist *d, const char *path, char *err, size_t err_len)
{
	char *text = xcalloc(DIST_MAX_KNOTS, 64), what[128];
	bool ok = false;
	size_t n;
	FILE *f;

	f = fopen(path, "re");
	if (!f) {
		snprintf(err, err_len, "cannot read %s: %s", path, strerror(errno));
		goto out;
	}
	n = fread(text, 1, DIST_MAX_KNOTS * 64 - 1, f);
	if (ferror(f) || n == DIST_MAX_KNOTS * 64 - 1)
		snprintf(err, err_len, "cannot read %s: %s", path,
			 ferror(f) ? strerror(errno) : "it is too large");
	else if (!dist_parse_text(d, text, what, sizeof(what)))
		snprintf(err, err_len, "%s: %s", path, what);
	else
		ok = true;
	fclose(f);
out:
	free(text);
	return ok;
}

static bool parse_range(struct dist *d, const char *s)
{
	const char *dash = strchr(s, '-');
	uint64_t min, max;
	char first[32];

	if (!dash) {
		if (!parse_size(s, &min))
			return false;
		max = min;
	} else {
		snprintf(first, sizeof(first), "%.*s", (int)(dash - s), s);
		if (!parse_size(first, &min) || !parse_size(dash + 1, &max))
			return false;
	}
	if (min > max || max > DIST_MAX_BYTES)
		return false;
	dist_uniform(d, min, max);
	return true;
}

/**
 * dist_parse() - distribution as written on the command line
 * @d: result, to be given to dist_free()
 * @s: name of a built-in one, size, range MIN-MAX, or path with a slash
 * @err: result: the error
 * @err_len: its length
 *
 * Return: false if @s is none of these.
 */
bool dist_parse(struct dist *d, const char *s, char *err, size_t err_len)
{
	if (strchr(s, '/'))
		return dist_read(d, s, err, err_len);
	if (dist_builtin(d, s) || parse_range(d, s))
		return true;
	snprintf(err, err_len, "%s is no size (2000, 64K), range (16K-128K), file (with a slash in its path) or distribution: %s",
		 s, dist_names());
	return false;
}
