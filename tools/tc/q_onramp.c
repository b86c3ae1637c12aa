// SPDX-License-Identifier: GPL-2.0
/*
 * Plugin of tc for the qdisc "onramp", which tc loads when that kind is named.
 *
 * A script can use onramp in place of fq: settings and statistics of fq are parsed and
 * printed as by tc for fq, in fq's words, units, order and JSON keys. Those of On-Ramp follow.
 * The table of settings and their units is uapi/onramp.h.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uapi/onramp.h>

#include "tc_abi.h"

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

#define TEXT_OF(x)		#x
#define VALUE_OF(x)		TEXT_OF(x)

/* Read from the file by onrampctl, which compares it with the version of the module. */
__attribute__((used)) static const char plugin_interface[] =
	"onramp-plugin-interface:" VALUE_OF(ONRAMP_UAPI_VERSION);

/* Size of the request with all attributes, bytes. */
#define ONRAMP_REQUEST_MAX	2048

enum kind {
	COUNT, PACKETS, BYTES, RATE, TIME, US, NS, MASK, BOOL, PPM, WORD, GAUGE, SIGNED
};

struct param {
	const char *name;
	enum kind kind;
	uint64_t min, max, def;
	const char *help;
};

static const struct param params[TCA_ONRAMP_MAX + 1] = {
#define ONRAMP_X(NAME, field, KIND, min, max, def, help)		\
	[TCA_ONRAMP_##NAME] = { #field, KIND, min, max, def, help },
	ONRAMP_PARAMS
#undef ONRAMP_X
};

static const struct {
	const char *name;
	enum kind kind;
} stats[ONRAMP_STATS_MAX + 1] = {
#define ONRAMP_X(NAME, name, KIND, help)				\
	[ONRAMP_STATS_##NAME] = { #name, KIND },
	ONRAMP_STATS
#undef ONRAMP_X
};

/* The words of a setting, NULL after the last one; NULL if it has none. */
static const char *const *words_of(int attr)
{
	static const char *const mode[] = { ONRAMP_MODE_WORDS, NULL };
	static const char *const owd[] = { ONRAMP_OWD_WORDS, NULL };
	static const char *const clock[] = { ONRAMP_CLOCK_WORDS, NULL };
	static const char *const forward[] = { ONRAMP_FORWARD_WORDS, NULL };

	switch (attr) {
	case TCA_ONRAMP_MODE:	return mode;
	case TCA_ONRAMP_OWD:	return owd;
	case TCA_ONRAMP_CLOCK:	return clock;
	case TCA_ONRAMP_FORWARD: return forward;
	default:		return NULL;
	}
}

/* "a|b|c" */
static void join_words(const char *const *words, char *text, size_t size)
{
	size_t used = 0;

	for (; *words && used < size; words++)
		used += snprintf(text + used, size - used, "%s%s", used ? "|" : "", *words);
}

static void explain(void)
{
	static const char *const units[] = {
		[COUNT] = "NUMBER",
		[PACKETS] = "PACKETS",
		[BYTES] = "BYTES",
		[RATE] = "RATE",
		[TIME] = "TIME",
		[US] = "TIME",
		[NS] = "TIME",
		[MASK] = "MASK",
		[PPM] = "FRACTION",
	};
	int attr;

	fprintf(stderr, "Usage: ... onramp [WORD VALUE]...\n");
	for (attr = TCA_ONRAMP_FIRST; attr <= TCA_ONRAMP_MAX; attr++) {
		const struct param *p = &params[attr];
		char text[96], words[64];

		if (p->kind == BOOL || strchr(p->name, '['))
			continue;
		if (p->kind == WORD)
			join_words(words_of(attr), words, sizeof(words));
		snprintf(text, sizeof(text), "%s %s", p->name,
			 p->kind == WORD ? words : units[p->kind]);
		fprintf(stderr, "  %-25s %s\n", text, p->help);
	}
	fprintf(stderr, "  TIME is a number with s, ms, us or ns; without a unit it is in us, of timer_slack in ns\n");
	fprintf(stderr,
		"  %-25s %s\n  %-25s %s\n  %-25s %s\n  %-25s %s\n  %-25s %s\n  %-25s %s\n",
		"[no]pacing", params[TCA_ONRAMP_PACING].help,
		"[no]inherit", params[TCA_ONRAMP_INHERIT].help,
		"[no]bound", params[TCA_ONRAMP_BOUND].help,
		"horizon_drop|horizon_cap", "packets beyond the horizon: drop, or send at it",
		"bands 3 priomap P0..P15", "the band, 0 to 2, of each priority",
		"weights W0 W1 W2", "bytes that each band may send per round");
}

/* The command line --------------------------------------------------------- */

/* The rate that is no limit in fq's interface, bytes/s. */
#define FQ_NO_MAXRATE		UINT32_MAX

/* Print an error, as tc does. */
static int wrong(const char *word, const char *value, const char *why)
{
	fprintf(stderr, "onramp: %s \"%s\": %s\n", word, value, why);
	return -1;
}

static int parse_number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 0);
	return !*text || *end || *text == '-' || errno ? -1 : 0;
}

/* A number, with a "p" behind it or not: tc prints it so. */
static int parse_packets(const char *text, uint64_t *value)
{
	char number[24];
	size_t len = strlen(text);

	if (!len || len >= sizeof(number) || text[len - 1] != 'p')
		return parse_number(text, value);
	snprintf(number, sizeof(number), "%.*s", (int)len - 1, text);
	return parse_number(number, value);
}

/* A fraction: 0.0625 or 1/16, in millionths. */
static int parse_fraction(const char *text, uint64_t *value)
{
	double number, divisor = 1;
	char *end;

	number = strtod(text, &end);
	if (end != text && *end == '/') {
		text = end + 1;
		divisor = strtod(text, &end);
	}
	if (end == text || *end || !(divisor > 0) || !(number >= 0) ||
	    number / divisor > 1e12)
		return -1;
	*value = number / divisor * 1e6 + 0.5;
	return 0;
}

/* In ns; @unit_ns: of a number without a unit. */
static int parse_time(const char *text, unsigned int unit_ns, uint64_t *value)
{
	__s64 time;
	char *end;

	if (get_time64(&time, text) || time < 0)
		return -1;
	strtod(text, &end);
	*value = *end ? time : time * unit_ns;
	return 0;
}

static int parse_bytes(const char *text, uint64_t *value)
{
	unsigned int size;

	if (!parse_number(text, value))
		return 0;
	if (get_size(&size, text))
		return -1;
	*value = size;
	return 0;
}

static int parse_rate(const char *text, const char *dev, uint64_t *value)
{
	__u64 rate;

	if (strchr(text, '%') ? get_percent_rate64(&rate, text, dev) : get_rate64(&rate, text))
		return -1;
	*value = rate;
	return 0;
}

static int parse_value(enum kind kind, const char *text, const char *dev, uint64_t *value)
{
	unsigned int us;

	/* tc would read negative numbers as large ones, and accepts numbers of any size. */
	if (*text == '-' || strtod(text, NULL) >= 0x1p63)
		return -1;
	switch (kind) {
	case PACKETS:
		return parse_packets(text, value);
	case BYTES:
		return parse_bytes(text, value);
	case RATE:
		return parse_rate(text, dev, value);
	case TIME:
		return parse_time(text, 1000, value);
	case US:
		/* tc's parser of such times has no ns, but 32 bits without a check. */
		if (get_time(&us, text) || parse_time(text, 1000, value))
			return -1;
		*value -= *value % 1000;
		return 0;
	case NS:
		return parse_time(text, 1, value);
	case PPM:
		return parse_fraction(text, value);
	default:
		return parse_number(text, value);
	}
}

/* A number alone is in us or, as in fq, ns: say which. */
static void note_unit(enum kind kind, const char *word, const char *text)
{
	char *end;

	if ((kind == TIME || kind == US || kind == NS) && strtod(text, &end) > 0 && !*end)
		fprintf(stderr, "onramp: %s %s: no unit, taken as %s%s\n", word, text, text,
			kind == NS ? "ns" : "us");
}

static int put_u64(struct nlmsghdr *n, int attr, uint64_t value)
{
	return addattr_l(n, ONRAMP_REQUEST_MAX, attr, &value, sizeof(value));
}

/* fq's number for no limit is one here too; tc rounds buckets up for it. */
static uint64_t as_fq(int attr, uint64_t value)
{
	uint64_t buckets = 1;

	if (attr == TCA_ONRAMP_MAXRATE && value == FQ_NO_MAXRATE)
		return 0;
	if (attr != TCA_ONRAMP_BUCKETS || value > params[attr].max)
		return value;
	while (buckets < value)
		buckets <<= 1;
	return buckets;
}

/* One setting; the limits are the module's to check, it may know others. */
static int parse_param(struct nlmsghdr *n, int attr, const char *word, const char *text,
		       const char *dev)
{
	static const char *const wanted[] = {
		[COUNT] = "expected a number",
		[PACKETS] = "expected a number of packets",
		[BYTES] = "expected a size, such as 3000 or 15k",
		[RATE] = "expected a rate, such as 100mbit",
		[TIME] = "expected a time, such as 40ms",
		[US] = "expected a time in s, ms or us, such as 40ms",
		[NS] = "expected a time, such as 40us",
		[MASK] = "expected a bit mask",
		[PPM] = "expected a fraction, such as 0.0625 or 1/16",
	};
	const char *const *words = words_of(attr);
	char list[64], why[96];
	uint64_t value;

	if (attr == TCA_ONRAMP_THRESHOLD && !strcmp(text, "auto"))
		return put_u64(n, attr, 0);
	if (attr == TCA_ONRAMP_PEERS && !strcmp(text, "all"))
		return put_u64(n, attr, 0);
	if (attr == TCA_ONRAMP_PEERS && !strcmp(text, "near"))
		return put_u64(n, attr, params[attr].def);
	if (words) {
		for (value = 0; words[value]; value++)
			if (!strcmp(words[value], text))
				return put_u64(n, attr, value);
		join_words(words, list, sizeof(list));
		snprintf(why, sizeof(why), "expected one of %s", list);
		return wrong(word, text, why);
	}
	if (parse_value(params[attr].kind, text, dev, &value))
		return wrong(word, text, attr == TCA_ONRAMP_PEERS ?
			     "expected near, all, or a time such as 5ms" :
			     wanted[params[attr].kind]);
	note_unit(params[attr].kind, word, text);
	/* For fq that leaves their number as it is. */
	if (attr == TCA_ONRAMP_BUCKETS && !value)
		return 0;
	return put_u64(n, attr, as_fq(attr, value));
}

/* Words of more than one value: how many arguments they take up, or -1. */

static int parse_priomap(struct nlmsghdr *n, int argc, char **argv)
{
	uint8_t bands[ONRAMP_PRIOS];
	int i;

	if (argc < ONRAMP_PRIOS + 1)
		return wrong("priomap", "", "expected 16 bands, one for each priority");
	for (i = 0; i < ONRAMP_PRIOS; i++) {
		uint64_t band;

		if (parse_number(argv[i + 1], &band) || band > UINT8_MAX)
			return wrong("priomap", argv[i + 1], "expected a band, 0 to 2");
		bands[i] = band;
	}
	if (addattr_l(n, ONRAMP_REQUEST_MAX, TCA_ONRAMP_PRIOMAP, bands, sizeof(bands)))
		return -1;
	return ONRAMP_PRIOS + 1;
}

static int parse_weights(struct nlmsghdr *n, int argc, char **argv)
{
	int i;

	if (argc < ONRAMP_BANDS + 1)
		return wrong("weights", "", "expected 3 weights, one for each band");
	for (i = 0; i < ONRAMP_BANDS; i++)
		if (parse_param(n, TCA_ONRAMP_WEIGHT0 + i, "weights", argv[i + 1], NULL))
			return -1;
	return ONRAMP_BANDS + 1;
}

static int parse_bands(struct nlmsghdr *n, int argc, char **argv)
{
	int used;

	if (argc < 2 || strcmp(argv[1], "3"))
		return wrong("bands", argc < 2 ? "" : argv[1], "expected 3");
	if (argc < 3 || strcmp(argv[2], "priomap"))
		return wrong("bands", "3", "expected priomap to follow");
	used = parse_priomap(n, argc - 2, argv + 2);
	return used < 0 ? -1 : used + 2;
}

/* Words that fq takes, and that ask for nothing that could be done here. */

static int parse_defrate(int argc, char **argv, const char *dev)
{
	uint64_t rate;

	if (argc < 2 || parse_value(RATE, argv[1], dev, &rate))
		return wrong("defrate", argc < 2 ? "" : argv[1],
			     "expected a rate, such as 100mbit");
	fprintf(stderr, "onramp: defrate \"%s\": ignored, as by fq; maxrate limits the rate of flows\n",
		argv[1]);
	return 2;
}

static int parse_offload_horizon(int argc, char **argv)
{
	uint64_t horizon;

	if (argc < 2 || parse_value(US, argv[1], NULL, &horizon))
		return wrong("offload_horizon", argc < 2 ? "" : argv[1],
			     "expected a time in s, ms or us, such as 40ms");
	if (horizon)
		return wrong("offload_horizon", argv[1],
			     "not supported, the qdisc paces and not the NIC: expected 0");
	return 2;
}

static int find_param(const char *word)
{
	int attr;

	for (attr = TCA_ONRAMP_FIRST; attr <= TCA_ONRAMP_MAX; attr++)
		if (params[attr].kind != BOOL && !strcmp(params[attr].name, word))
			return attr;
	return 0;
}

static int parse_flag(struct nlmsghdr *n, const char *word)
{
	static const struct {
		const char *word;
		int attr, value;
	} flags[] = {
		{ "pacing", TCA_ONRAMP_PACING, 1 },
		{ "nopacing", TCA_ONRAMP_PACING, 0 },
		{ "inherit", TCA_ONRAMP_INHERIT, 1 },
		{ "noinherit", TCA_ONRAMP_INHERIT, 0 },
		{ "bound", TCA_ONRAMP_BOUND, 1 },
		{ "nobound", TCA_ONRAMP_BOUND, 0 },
		{ "horizon_drop", TCA_ONRAMP_HORIZON_DROP, 1 },
		{ "horizon_cap", TCA_ONRAMP_HORIZON_DROP, 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (!strcmp(word, flags[i].word))
			return put_u64(n, flags[i].attr, flags[i].value) ? -1 : 1;
	return 0;
}

static int parse_word(struct nlmsghdr *n, int argc, char **argv, const char *dev)
{
	int attr, used = parse_flag(n, argv[0]);

	if (used)
		return used;
	if (!strcmp(argv[0], "priomap"))
		return parse_priomap(n, argc, argv);
	if (!strcmp(argv[0], "weights"))
		return parse_weights(n, argc, argv);
	if (!strcmp(argv[0], "bands"))
		return parse_bands(n, argc, argv);
	if (!strcmp(argv[0], "defrate"))
		return parse_defrate(argc, argv, dev);
	if (!strcmp(argv[0], "offload_horizon"))
		return parse_offload_horizon(argc, argv);
	attr = find_param(argv[0]);
	if (!attr) {
		if (strcmp(argv[0], "help"))
			fprintf(stderr, "onramp: unknown option \"%s\"\n", argv[0]);
		explain();
		return -1;
	}
	if (argc < 2)
		return wrong(argv[0], "", "expected a value");
	return parse_param(n, attr, argv[0], argv[1], dev) ? -1 : 2;
}

/* The lowest version of the interface that has all attributes from @attr to the end of @n. */
static uint32_t version_needed(const struct nlmsghdr *n, const struct rtattr *attr)
{
	static const struct {
		uint32_t version;
		uint16_t first;
	} steps[] = {
#define ONRAMP_V(version, NAME)		{ version, TCA_ONRAMP_##NAME },
		ONRAMP_UAPI_STEPS
#undef ONRAMP_V
	};
	int len = (char *)n + NLMSG_ALIGN(n->nlmsg_len) - (char *)attr;
	uint32_t version = ONRAMP_UAPI_OLDEST;
	size_t i;

	for (; RTA_OK(attr, len); attr = RTA_NEXT(attr, len))
		for (i = 0; i < ARRAY_SIZE(steps); i++)
			if (attr->rta_type >= steps[i].first && version < steps[i].version)
				version = steps[i].version;
	return version;
}

static int onramp_parse(const struct qdisc_util *qu, int argc, char **argv,
			struct nlmsghdr *n, const char *dev)
{
	struct rtattr *nest;
	uint32_t version;
	int used;

	(void)qu;
	nest = (struct rtattr *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));
	if (addattr_l(n, ONRAMP_REQUEST_MAX, TCA_OPTIONS | NLA_F_NESTED, NULL, 0))
		return -1;
	for (; argc > 0; argc -= used, argv += used) {
		used = parse_word(n, argc, argv, dev);
		if (used < 0)
			return -1;
	}
	/* A module of an earlier release takes what it knows, too. */
	version = version_needed(n, RTA_DATA(nest));
	if (addattr_l(n, ONRAMP_REQUEST_MAX, TCA_ONRAMP_VERSION, &version, sizeof(version)))
		return -1;
	nest->rta_len = (char *)n + NLMSG_ALIGN(n->nlmsg_len) - (char *)nest;
	return 0;
}

/* Output ------------------------------------------------------------------- */

static uint64_t get_u64_attr(const struct rtattr *attr)
{
	uint64_t value;

	memcpy(&value, RTA_DATA(attr), sizeof(value));
	return value;
}

/* Attributes of a nest that are 64 bits long, or NULL. */
static void parse_nest(struct rtattr *tb[], int max, struct rtattr *nest)
{
	parse_rtattr_flags(tb, max, RTA_DATA(nest), RTA_PAYLOAD(nest), NLA_F_NESTED);
}

static bool has_u64(const struct rtattr *attr)
{
	return attr && RTA_PAYLOAD(attr) >= sizeof(uint64_t);
}

/* Print a string in text only. */
static void print_text(const char *format, const char *value)
{
	print_color_string(PRINT_FP, COLOR_NONE, NULL, format, value);
}

/* fq's times are whole microseconds in JSON, all others nanoseconds. */
static void print_time(int attr, uint64_t value, const char *format)
{
	const struct param *p = &params[attr];
	char text[TC_TEXT];

	if (p->kind == US) {
		value /= 1000;
		sprint_time(value, text);
	} else {
		sprint_time64(value, text);
	}
	print_color_u64(PRINT_JSON, COLOR_NONE, p->name, NULL, value);
	if (attr == TCA_ONRAMP_THRESHOLD && !value)
		print_text(format, "auto");
	else if (attr == TCA_ONRAMP_PEERS && !value)
		print_text(format, "all");
	else
		print_text(format, text);
}

static void print_rate(const char *name, const char *format, uint64_t value)
{
	char text[TC_TEXT];

	if (tc_print_rate) {
		tc_print_rate(PRINT_ANY, name, format, value);
		return;
	}
	print_color_u64(PRINT_JSON, COLOR_NONE, name, NULL, value);
	print_text(format, sprint_rate(value, text));
}

static void print_size(const char *name, const char *format, uint64_t value)
{
	char text[TC_TEXT];

	if (print_color_size) {
		print_color_size(PRINT_ANY, COLOR_NONE, name, format, value);
		return;
	}
	print_color_u64(PRINT_JSON, COLOR_NONE, name, NULL, value);
	print_text(format, sprint_size(value, text));
}

/* "word value " for text, "word": value for JSON, where rates are bytes/s. */
static void print_param(int attr, uint64_t value)
{
	const char *const *words = words_of(attr);
	const struct param *p = &params[attr];
	char format[64], text[TC_TEXT];

	snprintf(format, sizeof(format), "%s %%s ", p->name);
	switch (p->kind) {
	case WORD:
		/* A module to come may have more. */
		if (value <= p->max)
			print_color_string(PRINT_ANY, COLOR_NONE, p->name, format, words[value]);
		return;
	case PPM:
		print_color_u64(PRINT_JSON, COLOR_NONE, p->name, NULL, value);
		snprintf(text, sizeof(text), "%.6g", value / 1e6);
		print_text(format, text);
		return;
	case RATE:
		print_rate(p->name, format, value);
		return;
	case BYTES:
		print_size(p->name, format, value);
		return;
	case TIME:
	case US:
	case NS:
		print_time(attr, value, format);
		return;
	default:
		snprintf(format, sizeof(format), "%s %%" PRIu64 "%s ", p->name,
			 p->kind == PACKETS ? "p" : "");
		print_color_u64(PRINT_ANY, COLOR_NONE, p->name, format, value);
	}
}

/* As for fq neither text nor JSON has pacing that is on, or a limit that there is not. */
static bool worth_printing(int attr, uint64_t value)
{
	switch (attr) {
	case TCA_ONRAMP_MAXRATE:
	case TCA_ONRAMP_LOW_RATE_THRESHOLD:
		return value;
	case TCA_ONRAMP_CE_THRESHOLD:
		return value != params[attr].max;
	case TCA_ONRAMP_PACING:
		return !value;
	case TCA_ONRAMP_LINE_RATE:
	case TCA_ONRAMP_CLOCK_ERROR:
		return value || is_json_context();
	case TCA_ONRAMP_INHERIT:
	case TCA_ONRAMP_BOUND:
		return !value || is_json_context();
	default:
		return true;
	}
}

/* Print a flag, such as "nopacing". */
static void print_flag(int attr, uint64_t value)
{
	const char *word = value ? "horizon_drop" : "horizon_cap";
	const char *name = params[attr].name;
	char text[32];

	if (attr == TCA_ONRAMP_HORIZON_DROP) {
		snprintf(text, sizeof(text), "%s ", word);
		print_color_null(PRINT_ANY, COLOR_NONE, word, text, NULL);
		return;
	}
	snprintf(text, sizeof(text), "no%s ", name);
	print_color_bool(PRINT_JSON, COLOR_NONE, name, NULL, value);
	print_text("%s", text);
}

static void print_setting(struct rtattr *tb[], int attr)
{
	uint64_t value;

	if (!has_u64(tb[attr]))
		return;
	value = get_u64_attr(tb[attr]);
	if (!worth_printing(attr, value))
		return;
	if (params[attr].kind == BOOL)
		print_flag(attr, value);
	else
		print_param(attr, value);
}

/* The keys of JSON have a blank at their end, as those of fq. */
static void print_bands(struct rtattr *tb[])
{
	const uint8_t *bands;
	int i;

	print_color_u64(PRINT_ANY, COLOR_NONE, "bands", "bands %" PRIu64 " ", ONRAMP_BANDS);
	if (tb[TCA_ONRAMP_PRIOMAP] && RTA_PAYLOAD(tb[TCA_ONRAMP_PRIOMAP]) >= ONRAMP_PRIOS) {
		bands = RTA_DATA(tb[TCA_ONRAMP_PRIOMAP]);
		open_json_array(PRINT_ANY, "priomap ");
		for (i = 0; i < ONRAMP_PRIOS; i++)
			print_color_u64(PRINT_ANY, COLOR_NONE, NULL, "%" PRIu64 " ", bands[i]);
		close_json_array(PRINT_ANY, "");
	}
	open_json_array(PRINT_ANY, "weights ");
	for (i = 0; i < ONRAMP_BANDS; i++)
		if (has_u64(tb[TCA_ONRAMP_WEIGHT0 + i]))
			print_color_u64(PRINT_ANY, COLOR_NONE, NULL, "%" PRIu64 " ",
					get_u64_attr(tb[TCA_ONRAMP_WEIGHT0 + i]));
	close_json_array(PRINT_ANY, "");
}

/* In the order of fq, with the bands before quantum. */
static const int fq_order[] = {
	TCA_ONRAMP_LIMIT, TCA_ONRAMP_FLOW_LIMIT, TCA_ONRAMP_BUCKETS, TCA_ONRAMP_ORPHAN_MASK,
	TCA_ONRAMP_PACING, TCA_ONRAMP_QUANTUM, TCA_ONRAMP_INITIAL_QUANTUM, TCA_ONRAMP_MAXRATE,
	TCA_ONRAMP_LOW_RATE_THRESHOLD, TCA_ONRAMP_REFILL_DELAY, TCA_ONRAMP_CE_THRESHOLD,
	TCA_ONRAMP_TIMER_SLACK, TCA_ONRAMP_HORIZON, TCA_ONRAMP_HORIZON_DROP,
};

static int onramp_print(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_ONRAMP_MAX + 1];
	uint32_t version = 0;
	size_t i;
	int attr;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	parse_nest(tb, TCA_ONRAMP_MAX, opt);
	if (tb[TCA_ONRAMP_VERSION] && RTA_PAYLOAD(tb[TCA_ONRAMP_VERSION]) >= sizeof(version))
		memcpy(&version, RTA_DATA(tb[TCA_ONRAMP_VERSION]), sizeof(version));
	if (version > ONRAMP_UAPI_VERSION)
		fprintf(stderr, "onramp: the module's interface is version %u, this plugin knows %u: newer settings and statistics are not shown\n",
			version, ONRAMP_UAPI_VERSION);
	for (i = 0; i < ARRAY_SIZE(fq_order); i++) {
		if (fq_order[i] == TCA_ONRAMP_QUANTUM)
			print_bands(tb);
		print_setting(tb, fq_order[i]);
	}
	for (attr = TCA_ONRAMP_MODE; attr <= TCA_ONRAMP_MAX; attr++)
		print_setting(tb, attr);
	return 0;
}

/* Statistics --------------------------------------------------------------- */

/*
 * Statistics of fq, as tc prints them for fq: on three lines. The last line is left out if all
 * of its values are 0. highprio of fq is always 0.
 */
enum fq_stat_flags {
	ALWAYS = 1,	/* in text even if it is 0 */
	ELAPSED = 2,	/* ns */
};

static const struct fq_stat {
	int line;
	int attr;
	const char *key, *format;
	int flags;
} fq_stats[] = {
	{ 0, ONRAMP_STATS_FLOWS, "flows", "  flows %s", ALWAYS },
	{ 0, ONRAMP_STATS_INACTIVE, "inactive", " (inactive %s", ALWAYS },
	{ 0, ONRAMP_STATS_FLOWS_THROTTLED, "throttled", " throttled %s)", ALWAYS },
	{ 0, ONRAMP_STATS_BAND0_PKTS, "band0_pkts", " band0_pkts %s", ALWAYS },
	{ 0, ONRAMP_STATS_BAND1_PKTS, "band1_pkts", " band1_pkts %s", ALWAYS },
	{ 0, ONRAMP_STATS_BAND2_PKTS, "band2_pkts", " band2_pkts %s", ALWAYS },
	{ 0, ONRAMP_STATS_NEXT_PACKET_DELAY, "next_packet_delay", " next_packet_delay %s",
	  ELAPSED },
	{ 1, ONRAMP_STATS_GC, "gc", "  gc %s", ALWAYS },
	{ 1, ONRAMP_STATS_UNSPEC, "highprio", " highprio %s", ALWAYS },
	{ 1, ONRAMP_STATS_FASTPATH, "fastpath", " fastpath %s", 0 },
	{ 1, ONRAMP_STATS_THROTTLED, "throttled", " throttled %s", ALWAYS },
	{ 1, ONRAMP_STATS_LATENCY, "latency", " latency %s", ELAPSED },
	{ 1, ONRAMP_STATS_CE_MARK, "ce_mark", " ce_mark %s", 0 },
	{ 1, ONRAMP_STATS_FLOWS_PLIMIT, "flows_plimit", " flows_plimit %s", 0 },
	{ 2, ONRAMP_STATS_ALLOC_ERRORS, "alloc_errors", " alloc_errors %s", 0 },
	{ 2, ONRAMP_STATS_HORIZON_DROPS, "horizon_drops", " horizon_drops %s", 0 },
	{ 2, ONRAMP_STATS_HORIZON_CAPS, "horizon_caps", "  horizon_caps %s", 0 },
	{ 2, ONRAMP_STATS_BAND0_DROPS, "band0_drops", " band0_drops %s", 0 },
	{ 2, ONRAMP_STATS_BAND1_DROPS, "band1_drops", " band1_drops %s", 0 },
	{ 2, ONRAMP_STATS_BAND2_DROPS, "band2_drops", " band2_drops %s", 0 },
};

static bool is_fq_stat(int attr)
{
	size_t i;

	/* JSON has this one under a name of its own as well. */
	if (attr == ONRAMP_STATS_FLOWS_THROTTLED)
		return !is_json_context();
	for (i = 0; i < ARRAY_SIZE(fq_stats); i++)
		if (fq_stats[i].attr == attr)
			return true;
	return false;
}

static void print_fq_stats(struct rtattr *tb[])
{
	const struct fq_stat *s;
	char text[TC_TEXT];
	int line = 0;

	for (s = fq_stats; s < fq_stats + ARRAY_SIZE(fq_stats); s++) {
		uint64_t value = has_u64(tb[s->attr]) ? get_u64_attr(tb[s->attr]) : 0;

		print_color_u64(PRINT_JSON, COLOR_NONE, s->key, NULL, value);
		if (!value && !(s->flags & ALWAYS))
			continue;
		if (s->line != line)
			print_nl();
		line = s->line;
		if (s->flags & ELAPSED)
			sprint_time64(value, text);
		else
			snprintf(text, sizeof(text), "%" PRIu64, value);
		print_text(s->format, text);
	}
}

/* Of ours text has those that are not 0, four on a line; JSON has all. */
static void print_own_stats(struct rtattr *tb[])
{
	int attr, on_line = 0;
	char format[64];

	for (attr = ONRAMP_STATS_FIRST; attr <= ONRAMP_STATS_MAX; attr++) {
		const char *name = stats[attr].name;
		uint64_t value;

		if (!has_u64(tb[attr]) || is_fq_stat(attr))
			continue;
		value = get_u64_attr(tb[attr]);
		if (!value && !is_json_context())
			continue;
		if (on_line % 4 == 0)
			print_nl();
		snprintf(format, sizeof(format), "%s%s %%%s", on_line % 4 ? ", " : "  ", name,
			 stats[attr].kind == SIGNED ? PRId64 : PRIu64);
		if (stats[attr].kind == SIGNED)
			print_color_s64(PRINT_ANY, COLOR_NONE, name, format, value);
		else
			print_color_u64(PRINT_ANY, COLOR_NONE, name, format, value);
		on_line++;
	}
}

static int onramp_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct rtattr *tb[ONRAMP_STATS_MAX + 1];

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	parse_nest(tb, ONRAMP_STATS_MAX, xstats);
	print_fq_stats(tb);
	print_own_stats(tb);
	return 0;
}

struct qdisc_util onramp_qdisc_util = {
	.id		= "onramp",
	.parse_qopt	= onramp_parse,
	.print_qopt	= onramp_print,
	.print_xstats	= onramp_print_xstats,
};
