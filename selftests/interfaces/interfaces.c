// SPDX-License-Identifier: GPL-2.0
/*
 * Print what programs, scripts and other hosts depend on, a line each: see ./list.
 */
#include <inttypes.h>
#include <stdio.h>

#include "or_proto.h"
#include "or_acker_params.h"
#include "timely_params.h"
#include "uapi/onramp.h"

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

struct range {
	const char *name;
	u64 min;
	u64 max;
};

static void print_ranges(const char *of, const struct range *range, size_t n)
{
	for (; n; n--, range++)
		printf("range %s%s %" PRIu64 " %" PRIu64 "\n", of, range->name, range->min,
		       range->max);
}

/* By its number; its kind says how all who have it read it. */
struct number {
	int number;
	const char *name;
	const char *kind;
};

static void print_numbers(const char *of, const struct number *number, size_t n)
{
	for (; n; n--, number++)
		printf("tc %s %d %s %s\n", of, number->number, number->name, number->kind);
}

static void tc_attributes(void)
{
#define ONRAMP_X(NAME, field, KIND, ...)	{ TCA_ONRAMP_##NAME, #NAME, #KIND },
	static const struct number attributes[] = {
		{ TCA_ONRAMP_PAD, "PAD", "-" },
		{ TCA_ONRAMP_VERSION, "VERSION", "-" },
		{ TCA_ONRAMP_PRIOMAP, "PRIOMAP", "-" },
		ONRAMP_PARAMS
	};
#undef ONRAMP_X
#define ONRAMP_X(NAME, field, KIND, min, max, ...)	{ #NAME, min, max },
	static const struct range ranges[] = { ONRAMP_PARAMS };
#undef ONRAMP_X

	print_numbers("attribute", attributes, ARRAY_SIZE(attributes));
	print_ranges("tc.", ranges, ARRAY_SIZE(ranges));
}

/* Versions of the settings, by the first one that each has. Fails if the newest is another one. */
static int tc_versions(void)
{
	static const struct {
		int version;
		const char *first;
	} steps[] = {
#define ONRAMP_V(version, NAME)		{ version, #NAME },
		ONRAMP_UAPI_STEPS
#undef ONRAMP_V
	};
	int version = ONRAMP_UAPI_OLDEST;
	size_t i;

	printf("tc version %d\n", version);
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		version = steps[i].version;
		printf("tc version %d %s\n", version, steps[i].first);
	}
	if (version == ONRAMP_UAPI_VERSION)
		return 0;
	fprintf(stderr, "include/uapi/onramp.h: ONRAMP_UAPI_VERSION is %d, the last row of ONRAMP_UAPI_STEPS has %d\n",
		ONRAMP_UAPI_VERSION, version);
	return 1;
}

static void tc_words(const char *of, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf("tc word %s %zu %s\n", of, i, words[i]);
}

static void tc_statistics(void)
{
#define ONRAMP_X(NAME, field, KIND, help)	{ ONRAMP_STATS_##NAME, #NAME, #KIND },
	static const struct number statistics[] = { ONRAMP_STATS };
#undef ONRAMP_X

	print_numbers("statistic", statistics, ARRAY_SIZE(statistics));
}

static void sysctls(void)
{
#define TIMELY_PARAM(id, name, min, max, ...)	{ "net.ipv4.timely." #name, min, max },
#define OR_ACKER_PARAM(id, name, min, max, ...)	{ "net.or_acker." #name, min, max },
	static const struct range ranges[] = {
		TIMELY_PARAMS OR_ACKER_PARAMS
	};

	print_ranges("", ranges, ARRAY_SIZE(ranges));
}

static void messages(void)
{
	printf("protocol version %d\n", OR_VERSION);
	printf("protocol port %d\n", OR_PORT);
	printf("protocol type %d SUBSCRIBE %d\n", OR_TYPE_SUBSCRIBE, OR_SUBSCRIBE_LEN);
	printf("protocol type %d OR-ACK %d\n", OR_TYPE_ACK, OR_ACK_LEN);
	printf("protocol type %d CHALLENGE %d\n", OR_TYPE_CHALLENGE, OR_CHALLENGE_LEN);
}

int main(void)
{
	static const char *const mode[] = { ONRAMP_MODE_WORDS };
	static const char *const owd[] = { ONRAMP_OWD_WORDS };
	static const char *const clock[] = { ONRAMP_CLOCK_WORDS };
	static const char *const forward[] = { ONRAMP_FORWARD_WORDS };

	tc_attributes();
	tc_words("mode", mode, ARRAY_SIZE(mode));
	tc_words("owd", owd, ARRAY_SIZE(owd));
	tc_words("clock", clock, ARRAY_SIZE(clock));
	tc_words("forward", forward, ARRAY_SIZE(forward));
	tc_statistics();
	sysctls();
	messages();
	return tc_versions();
}
