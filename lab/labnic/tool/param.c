// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: parameters with units, from words to attributes and from values to JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "labnic_params.h"
#include "tool.h"

struct unit {
	const char *name;
	double factor;
};

static const struct unit rate_units[] = {
	{ "", 1 }, { "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 },
	{ "gbit", 1e9 }, { "tbit", 1e12 }, { NULL, 0 },
};

static const struct unit time_units[] = {
	{ "", 1 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 },
};

static const struct unit plain_units[] = {
	{ "", 1 }, { "k", 1024 }, { "m", 1048576 }, { NULL, 0 },
};

static const struct unit probability_units[] = {
	{ "", 1e9 }, { "%", 1e7 }, { "ppm", 1e3 }, { "ppb", 1 }, { NULL, 0 },
};

static const struct unit factor_units[] = {
	{ "", 1e9 }, { NULL, 0 },
};

static const struct unit ratio_units[] = {
	{ "", 1 }, { "ppb", 1 }, { "ppm", 1e3 }, { NULL, 0 },
};

static const char * const dists[] = {
	[LABNIC_DIST_CONST] = "const",
	[LABNIC_DIST_UNIFORM] = "uniform",
	[LABNIC_DIST_EXPONENTIAL] = "exponential",
	[LABNIC_DIST_NORMAL] = "normal",
};

void die(const char *format, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("labnic: ", stderr);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(1);
}

static const struct unit *units_of(enum kind kind)
{
	switch (kind) {
	case BIT:
		return rate_units;
	case NS:
	case US:
	case SNS:
		return time_units;
	case PPB:
		return probability_units;
	case RATIO:
		return ratio_units;
	case FACTOR:
		return factor_units;
	default:
		return plain_units;
	}
}

static const char *unit_help(enum kind kind)
{
	static const char * const help[] = {
		[BIT] = "bit, kbit, mbit, gbit", [NS] = "ns, us, ms, s",
		[US] = "us, ms, s", [COUNT] = "number", [BYTES] = "bytes",
		[PPB] = "0 to 1, %, ppm, ppb", [SNS] = "ns, us, ms, s",
		[RATIO] = "ppb, ppm", [BOOL] = "on, off",
		[DIST] = "const, uniform, exponential, normal", [FACTOR] = "number",
	};

	return help[kind];
}

static int64_t parse_value(const struct param *p, const char *text)
{
	const struct unit *unit;
	int64_t whole, divisor;
	double value;
	char *end;
	size_t i;

	if (p->kind == DIST) {
		for (i = 0; i < ARRAY_SIZE(dists); i++)
			if (!strcmp(text, dists[i]))
				return i;
		die("%s '%s': expected one of %s", p->name, text, unit_help(DIST));
	}
	if (p->kind == BOOL) {
		if (!strcmp(text, "on") || !strcmp(text, "1"))
			return 1;
		if (!strcmp(text, "off") || !strcmp(text, "0"))
			return 0;
		die("%s '%s': expected on or off", p->name, text);
	}
	/* Whole numbers are exact; the others are rounded where that makes sense. */
	errno = 0;
	whole = strtoll(text, &end, 10);
	value = whole;
	if (*end == '.' || *end == 'e')
		value = strtod(text, &end);
	if (end == text || errno || !isfinite(value))
		die("%s '%s': expected a number", p->name, text);
	for (unit = units_of(p->kind); unit->name; unit++)
		if (!strcasecmp(end, unit->name))
			break;
	if (!unit->name)
		die("%s: unknown unit '%s': expected %s", p->name, end, unit_help(p->kind));
	/* Bare numbers are in the unit of the attribute. */
	divisor = p->kind == US && *end ? 1000 : 1;
	/* All limits below this one are the kernel's to explain. */
	if (fabs(value * unit->factor) >= 0x1p63)
		die("%s '%s': out of range", p->name, text);
	if (value == (double)whole && whole * (int64_t)unit->factor % divisor == 0)
		return whole * (int64_t)unit->factor / divisor;
	value *= unit->factor / divisor;
	if (fabs(value - round(value)) > 1e-6)
		die("%s is not a whole number of %s: '%s'", p->name, p->field, text);
	return llround(value);
}

static const struct param *find_param(const struct param *params, const char *name)
{
	const struct param *p;

	for (p = params; p->name; p++)
		if (!strcasecmp(name, p->name))
			return p;
	return NULL;
}

uint32_t parse_u32(const char *what, const char *text)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (end == text || *end || errno || value > UINT32_MAX)
		die("%s '%s': expected a number", what, text);
	return value;
}

/* An attribute for the parameter @name; @list is the command that lists them. */
void put_param(struct nl_msg *msg, const struct param *params, const char *name,
	       const char *text, const char *list)
{
	const struct param *p = find_param(params, name);
	int64_t value;

	if (!p)
		die("unknown parameter '%s': see '%s'", name, list);
	value = parse_value(p, text);
	MUST(nla_put(msg, p->attr, sizeof(value), &value));
}

/* As a member of a JSON object. */
void print_param(const struct param *p, int64_t value)
{
	printf("\"%s\": ", p->field);
	if (p->kind == BOOL)
		printf("%s", value ? "true" : "false");
	else if (p->kind == DIST && value >= 0 && value < (int64_t)ARRAY_SIZE(dists))
		printf("\"%s\"", dists[value]);
	else
		printf("%" PRId64, value);
}

void list_params(const struct param *params)
{
	const struct param *p;
	char name[32];
	size_t i;

	for (p = params; p->name; p++) {
		for (i = 0; p->name[i] && i < sizeof(name) - 1; i++)
			name[i] = p->name[i] >= 'A' && p->name[i] <= 'Z' ?
				  p->name[i] + 32 : p->name[i];
		name[i] = '\0';
		printf("%-17s %s\n%-17s %s; %" PRId64 " to %" PRId64 ", default %" PRId64 "\n",
		       name, p->help, "", unit_help(p->kind), p->min, p->max, p->def);
	}
}
