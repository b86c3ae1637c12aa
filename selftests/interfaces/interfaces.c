// SPDX-License-Identifier: GPL-2.0
/*
 * Print what programs, scripts and other hosts depend on, a line each: see ./list.
 */
#include <inttypes.h>
#include <stdio.h>

#include "user/core_user.h"
#include "user/siphash_user.h"
#include "or_proto.h"
#include "or_acker_params.h"
#include "timely_params.h"
#include "lipd_params.h"
#include "uapi/onramp.h"

/* tc: a value of this kind is read by all, so kinds are part of the interface. */
static void tc_attributes(void)
{
	printf("tc attribute %d PAD\n", TCA_ONRAMP_PAD);
	printf("tc attribute %d VERSION\n", TCA_ONRAMP_VERSION);
	printf("tc attribute %d PRIOMAP\n", TCA_ONRAMP_PRIOMAP);
#define ONRAMP_X(NAME, field, KIND, min, max, ...) \
	printf("tc attribute %d " #NAME " " #KIND "\n", TCA_ONRAMP_##NAME);
	ONRAMP_PARAMS
#undef ONRAMP_X
#define ONRAMP_X(NAME, field, KIND, min, max, ...) \
	printf("range tc." #NAME " %" PRIu64 " %" PRIu64 "\n", (u64)(min), (u64)(max));
	ONRAMP_PARAMS
#undef ONRAMP_X
}

static void tc_words(const char *of, const char *const *words, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		printf("tc word %s %zu %s\n", of, i, words[i]);
}

static void tc_statistics(void)
{
#define ONRAMP_X(NAME, field, KIND, help) \
	printf("tc statistic %d " #NAME " " #KIND "\n", ONRAMP_STATS_##NAME);
	ONRAMP_STATS
#undef ONRAMP_X
}

struct range {
	const char *name;
	u64 min;
	u64 max;
};

static void sysctls(void)
{
#define TIMELY_PARAM(id, name, min, max, ...)	{ "net.ipv4.timely." #name, min, max },
#define LIPD_PARAM(id, name, min, max, ...)	{ "net.ipv4.lipd." #name, min, max },
#define OR_ACKER_PARAM(id, name, min, max, ...)	{ "net.or_acker." #name, min, max },
	static const struct range ranges[] = {
		TIMELY_PARAMS
		LIPD_PARAMS
		OR_ACKER_PARAMS
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		printf("range %s %" PRIu64 " %" PRIu64 "\n", ranges[i].name, ranges[i].min,
		       ranges[i].max);
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

	tc_attributes();
	tc_words("mode", mode, sizeof(mode) / sizeof(*mode));
	tc_words("owd", owd, sizeof(owd) / sizeof(*owd));
	tc_words("clock", clock, sizeof(clock) / sizeof(*clock));
	tc_statistics();
	sysctls();
	messages();
	return 0;
}
