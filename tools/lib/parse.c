// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util.h"
#include "parse.h"

struct suffix {
	const char *name;
	double factor;
};

/**
 * parse_u64() - decimal number in a range
 * @s: text: digits only, no sign, no blanks
 * @min: smallest value allowed
 * @max: largest value allowed
 * @out: result, untouched on error
 *
 * Return: true if @s is such a number.
 */
bool parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)*s))
		return false;
	errno = 0;
	v = strtoull(s, &end, 10);
	if (errno || *end || v < min || v > max)
		return false;
	*out = v;
	return true;
}

/* Plain decimal with an optional fraction: no exponent, hex, "inf" or "nan". */
static bool parse_decimal(const char *s, double *out, const char **end)
{
	const char *p = s;
	bool digits = false;

	for (; isdigit((unsigned char)*p); p++)
		digits = true;
	if (*p == '.')
		for (p++; isdigit((unsigned char)*p); p++)
			digits = true;
	if (!digits)
		return false;
	/* What follows the digits may look like an exponent to strtod(). */
	if (*p == 'e' || *p == 'E' || *p == 'x' || *p == 'X')
		return false;
	*out = strtod(s, NULL);
	*end = p;
	return true;
}

/**
 * parse_seconds() - time in seconds, with fraction
 * @s: text, such as "10" or "0.25"
 * @min_s: smallest value allowed
 * @max_s: largest value allowed, at most 10^9
 * @out_ns: result in nanoseconds, untouched on error
 *
 * Return: true if @s is such a time.
 */
bool parse_seconds(const char *s, double min_s, double max_s, uint64_t *out_ns)
{
	const char *end;
	double v;

	if (!parse_decimal(s, &v, &end) || *end || v < min_s || v > max_s)
		return false;
	*out_ns = (uint64_t)llround(v * (double)NSEC_PER_SEC);
	return true;
}

static bool parse_scaled(const char *s, const struct suffix *suffixes, size_t n,
			 uint64_t *out)
{
	const char *end;
	double v;
	size_t i;

	if (!parse_decimal(s, &v, &end))
		return false;
	for (i = 0; i < n; i++)
		if (!strcasecmp(end, suffixes[i].name))
			break;
	if (i == n)
		return false;
	v *= suffixes[i].factor;
	/* 2^53: beyond it a double no longer holds every integer. */
	if (v < 1 || v > 9007199254740992.0)
		return false;
	*out = (uint64_t)llround(v);
	return true;
}

/**
 * parse_size() - amount of data
 * @s: bytes, or with suffix K, M, G (powers of 1024)
 * @out: result in bytes, 1 to 2^53, untouched on error
 *
 * Return: true if @s is such a size.
 */
bool parse_size(const char *s, uint64_t *out)
{
	static const struct suffix suffixes[] = {
		{ "", 1 }, { "k", 1024 }, { "m", 1048576 }, { "g", 1073741824 },
	};

	return parse_scaled(s, suffixes, ARRAY_SIZE(suffixes), out);
}

/**
 * parse_bitrate() - bit rate, with the suffixes tc takes
 * @s: bit/s, or with suffix bit, kbit, mbit, gbit (powers of 1000)
 * @out_bit_s: result in bit/s, 1 to 2^53, untouched on error
 *
 * Return: true if @s is such a rate.
 */
bool parse_bitrate(const char *s, uint64_t *out_bit_s)
{
	static const struct suffix suffixes[] = {
		{ "", 1 }, { "bit", 1 }, { "kbit", 1e3 }, { "mbit", 1e6 },
		{ "gbit", 1e9 },
	};

	return parse_scaled(s, suffixes, ARRAY_SIZE(suffixes), out_bit_s);
}

/**
 * parse_endpoint() - numeric address with optional port and scope
 * @s: "192.0.2.1", "192.0.2.1:5001", "2001:db8::1", "[2001:db8::1]:5001",
 *	"fe80::1%eth0"
 * @out: result, port 0 if none was given
 *
 * Return: true if @s is such an address. @out is undefined otherwise.
 */
bool parse_endpoint(const char *s, struct endpoint *out)
{
	const char *host = s, *port = NULL, *scope;
	size_t len = strlen(s);
	uint64_t v;

	memset(out, 0, sizeof(*out));
	if (*s == '[') {
		const char *close = strchr(s, ']');

		if (!close || (close[1] && close[1] != ':'))
			return false;
		host = s + 1;
		len = (size_t)(close - host);
		if (close[1])
			port = close + 2;
	} else {
		const char *colon = strchr(s, ':');

		/* More than one colon: an IPv6 address without port. */
		if (colon && !strchr(colon + 1, ':')) {
			len = (size_t)(colon - s);
			port = colon + 1;
		}
	}
	if (port) {
		if (!parse_u64(port, 1, 65535, &v))
			return false;
		out->port = (uint16_t)v;
	}

	scope = memchr(host, '%', len);
	if (scope) {
		size_t n = len - (size_t)(scope - host) - 1;

		if (!n || n >= sizeof(out->scope))
			return false;
		memcpy(out->scope, scope + 1, n);
		len = (size_t)(scope - host);
	}
	if (!len || len >= sizeof(out->text))
		return false;
	memcpy(out->text, host, len);

	if (inet_pton(AF_INET6, out->text, &out->v6) == 1)
		out->family = AF_INET6;
	else if (*s != '[' && !scope &&
		 inet_pton(AF_INET, out->text, &out->v4) == 1)
		out->family = AF_INET;
	else
		return false;
	return true;
}

/**
 * parse_list() - cut a text at a separator
 * @s: text
 * @sep: separator
 * @n: number of items, at least 1
 *
 * Return: the items, allocated; NULL if one is empty.
 */
char **parse_list(const char *s, char sep, size_t *n)
{
	char **items = NULL;
	size_t count = 0;

	for (;;) {
		const char *end = strchrnul(s, sep);
		char *item;

		if (end == s) {
			while (count)
				free(items[--count]);
			free(items);
			return NULL;
		}
		item = xcalloc((size_t)(end - s) + 1, 1);
		memcpy(item, s, (size_t)(end - s));
		items = xrealloc(items, count + 1, sizeof(*items));
		items[count++] = item;
		if (!*end)
			break;
		s = end + 1;
	}
	*n = count;
	return items;
}
