// SPDX-License-Identifier: GPL-2.0
/*
 * Tests of tools/tc/q_onramp.c with a tc that has no other functions than that of iproute2 5.10,
 * which Debian 11 has: if the plugin needs a newer one, this does not link. The kselftests of
 * sch_onramp have the functions of newer ones.
 */
/* Those of tc's functions that nobody calls. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

#include <stdarg.h>

#include "../../tools/tc/q_onramp.c"

#include "ktap.h"

/* What is printed, and whether tc was called with -json. */
static char out[512];
static bool json;

static void add(const char *format, ...)
{
	size_t used = strlen(out);
	va_list args;

	va_start(args, format);
	vsnprintf(out + used, sizeof(out) - used, format, args);
	va_end(args);
}

static bool wanted(enum output_type type)
{
	return type & (json ? PRINT_JSON : PRINT_FP) || type == PRINT_ANY;
}

int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen)
{
	return -1;
}

int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta, int len,
		       unsigned short flags)
{
	memset(tb, 0, sizeof(*tb) * (max + 1));
	for (; RTA_OK(rta, len); rta = RTA_NEXT(rta, len))
		if ((rta->rta_type & ~flags) <= max)
			tb[rta->rta_type & ~flags] = rta;
	return 0;
}

int get_size(unsigned int *size, const char *str)
{
	return -1;
}

int get_rate64(__u64 *rate, const char *str)
{
	return -1;
}

int get_percent_rate64(__u64 *rate, const char *str, const char *dev)
{
	return -1;
}

int get_time(unsigned int *time, const char *str)
{
	return -1;
}

int get_time64(__s64 *time, const char *str)
{
	return -1;
}

static void add_value(const char *key, const char *format, ...)
{
	char value[64];
	va_list args;

	va_start(args, format);
	vsnprintf(value, sizeof(value), format, args);
	va_end(args);
	if (json)
		add("%s=%s;", key ?: "", value);
	else
		add("%s", value);
}

void print_color_u64(enum output_type type, enum color_attr color, const char *key,
		     const char *fmt, uint64_t value)
{
	if (wanted(type))
		add_value(key, json ? "%" PRIu64 : fmt, value);
}

void print_color_s64(enum output_type type, enum color_attr color, const char *key,
		     const char *fmt, int64_t value)
{
	if (wanted(type))
		add_value(key, json ? "%" PRId64 : fmt, value);
}

void print_color_string(enum output_type type, enum color_attr color, const char *key,
			const char *fmt, const char *value)
{
	if (wanted(type))
		add_value(key, json ? "%s" : fmt, value);
}

void print_color_bool(enum output_type type, enum color_attr color, const char *key,
		      const char *fmt, bool value)
{
	if (wanted(type))
		add_value(key, json ? "%d" : fmt, value);
}

void print_color_null(enum output_type type, enum color_attr color, const char *key,
		      const char *fmt, const char *value)
{
	if (wanted(type))
		add_value(key, json ? "null" : fmt);
}

/* With the buffer of iproute2 5.10. */
#define SPRINT_BSIZE	64

char *sprint_size(__u32 size, char *buf)
{
	snprintf(buf, SPRINT_BSIZE, "%ub", size);
	return buf;
}

char *sprint_rate(__u64 rate, char *buf)
{
	snprintf(buf, SPRINT_BSIZE, "%" PRIu64 "bit", (uint64_t)rate * 8);
	return buf;
}

char *sprint_time(__u32 time, char *buf)
{
	snprintf(buf, SPRINT_BSIZE, "%uus", time);
	return buf;
}

char *sprint_time64(__s64 time, char *buf)
{
	snprintf(buf, SPRINT_BSIZE, "%" PRId64 "ns", (int64_t)time);
	return buf;
}

void print_nl(void)
{
	add("\n");
}

void open_json_array(enum output_type type, const char *delim)
{
}

void close_json_array(enum output_type type, const char *delim)
{
}

bool is_json_context(void)
{
	return json;
}

/* The settings of a qdisc that has these two. */
static const char *printed(__u64 quantum, __u64 maxrate)
{
	struct {
		struct rtattr nest;
		struct {
			struct rtattr attr;
			__u64 value;
		} __attribute__((packed)) of[2];
	} request = {
		{ sizeof(request), NLA_F_NESTED },
		{
			{ { RTA_LENGTH(8), TCA_ONRAMP_QUANTUM }, quantum },
			{ { RTA_LENGTH(8), TCA_ONRAMP_MAXRATE }, maxrate },
		},
	};

	out[0] = '\0';
	CHECK_EQ(onramp_qdisc_util.print_qopt(&onramp_qdisc_util, stdout, &request.nest), 0);
	return out;
}

static void old__text(void)
{
	json = false;
	CHECK(strstr(printed(3028, 125000000000), "quantum 3028b maxrate 1000000000000bit "));
}

static void old__json(void)
{
	json = true;
	CHECK(strstr(printed(3028, 125000000000), "quantum=3028;maxrate=125000000000;"));
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(old__text),
		KTAP_CASE(old__json),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
