// SPDX-License-Identifier: GPL-2.0
/*
 * tc's side of the qdisc "onramp": a plugin that tc loads when it is told of that kind.
 *
 * Each setting is a word and a value, in the units that tc has for all qdiscs; the
 * table of them is uapi/onramp.h. Words that fq has as well are spelled like there.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uapi/onramp.h>

#include "tc_abi.h"

#define ARRAY_SIZE(a)		(sizeof(a) / sizeof((a)[0]))

/* Room for all attributes, after what tc has put into the request. */
#define ONRAMP_REQUEST_MAX	2048

enum kind { COUNT, BYTES, RATE, TIME, MASK, BOOL, PPM, WORD, GAUGE, SIGNED };

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
#define ONRAMP_X(NAME, field, KIND, help)				\
	[ONRAMP_STATS_##NAME] = { #field, KIND },
	ONRAMP_STATS
#undef ONRAMP_X
};

/* The words of a setting, NULL after the last one; NULL if it has none. */
static const char *const *words_of(int attr)
{
	static const char *const mode[] = { ONRAMP_MODE_WORDS, NULL };
	static const char *const owd[] = { ONRAMP_OWD_WORDS, NULL };
	static const char *const clock[] = { ONRAMP_CLOCK_WORDS, NULL };

	switch (attr) {
	case TCA_ONRAMP_MODE:	return mode;
	case TCA_ONRAMP_OWD:	return owd;
	case TCA_ONRAMP_CLOCK:	return clock;
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
		[BYTES] = "BYTES",
		[RATE] = "RATE",
		[TIME] = "TIME",
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
	fprintf(stderr,
		"  %-25s %s\n  %-25s %s\n  %-25s %s\n  %-25s %s\n  %-25s %s\n  %-25s %s\n",
		"[no]pacing", params[TCA_ONRAMP_PACING].help,
		"[no]inherit", params[TCA_ONRAMP_INHERIT].help,
		"[no]bound", params[TCA_ONRAMP_BOUND].help,
		"horizon_drop|horizon_cap", "packets beyond the horizon: drop, or send at it",
		"bands 3 priomap P0..P15", "the band, 0 to 2, of each priority",
		"weights W0 W1 W2", "bytes that each band may send per round");
}

/* The command line ------------------------------------------------------- */

/* Say what is wrong, as tc does. */
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

static int parse_value(enum kind kind, const char *text, uint64_t *value)
{
	unsigned int size;
	__u64 rate;
	__s64 time;

	/* tc takes negative ones for large ones, and what is too large for anything. */
	if (*text == '-' || strtod(text, NULL) > INT64_MAX)
		return -1;
	switch (kind) {
	case BYTES:
		if (get_size(&size, text))
			return -1;
		*value = size;
		return 0;
	case RATE:
		if (get_rate64(&rate, text))
			return -1;
		*value = rate;
		return 0;
	case TIME:
		/* Without a unit: microseconds, as for fq. */
		if (get_time64(&time, text) || time < 0)
			return -1;
		if (text[strspn(text, "0123456789.")] == '\0')
			time *= 1000;
		*value = time;
		return 0;
	case PPM:
		return parse_fraction(text, value);
	default:
		return parse_number(text, value);
	}
}

static int put_u64(struct nlmsghdr *n, int attr, uint64_t value)
{
	return addattr_l(n, ONRAMP_REQUEST_MAX, attr, &value, sizeof(value));
}

/* One setting; the limits are the module's to check, it may know others. */
static int parse_param(struct nlmsghdr *n, int attr, const char *word, const char *text)
{
	static const char *const wanted[] = {
		[COUNT] = "a number is wanted",
		[BYTES] = "a size is wanted, such as 3000 or 15k",
		[RATE] = "a rate is wanted, such as 100mbit",
		[TIME] = "a time is wanted, such as 40ms",
		[MASK] = "a bit mask is wanted",
		[PPM] = "a fraction is wanted, such as 0.0625 or 1/16",
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
		snprintf(why, sizeof(why), "one of %s is wanted", list);
		return wrong(word, text, why);
	}
	if (parse_value(params[attr].kind, text, &value))
		return wrong(word, text, attr == TCA_ONRAMP_PEERS ?
			     "near, all or a time is wanted, such as 5ms" :
			     wanted[params[attr].kind]);
	return put_u64(n, attr, value);
}

/* Words of more than one value: how many arguments they take up, or -1. */

static int parse_priomap(struct nlmsghdr *n, int argc, char **argv)
{
	uint8_t bands[ONRAMP_PRIOS];
	int i;

	if (argc < ONRAMP_PRIOS + 1)
		return wrong("priomap", argv[0], "16 bands are wanted, one for each priority");
	for (i = 0; i < ONRAMP_PRIOS; i++) {
		uint64_t band;

		if (parse_number(argv[i + 1], &band) || band > UINT8_MAX)
			return wrong("priomap", argv[i + 1], "a band is wanted, 0 to 2");
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
		return wrong("weights", argv[0], "3 weights are wanted, one for each band");
	for (i = 0; i < ONRAMP_BANDS; i++)
		if (parse_param(n, TCA_ONRAMP_WEIGHT0 + i, "weights", argv[i + 1]))
			return -1;
	return ONRAMP_BANDS + 1;
}

static int parse_bands(int argc, char **argv)
{
	if (argc < 2 || strcmp(argv[1], "3"))
		return wrong("bands", argc < 2 ? "" : argv[1], "there are always 3");
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

static int parse_word(struct nlmsghdr *n, int argc, char **argv)
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
	int attr;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (!strcmp(argv[0], flags[i].word))
			return put_u64(n, flags[i].attr, flags[i].value) ? -1 : 1;
	if (!strcmp(argv[0], "priomap"))
		return parse_priomap(n, argc, argv);
	if (!strcmp(argv[0], "weights"))
		return parse_weights(n, argc, argv);
	if (!strcmp(argv[0], "bands"))
		return parse_bands(argc, argv);
	attr = find_param(argv[0]);
	if (!attr) {
		if (strcmp(argv[0], "help"))
			fprintf(stderr, "onramp: there is no \"%s\"\n", argv[0]);
		explain();
		return -1;
	}
	if (argc < 2)
		return wrong(argv[0], "", "a value is wanted");
	return parse_param(n, attr, argv[0], argv[1]) ? -1 : 2;
}

static int onramp_parse(const struct qdisc_util *qu, int argc, char **argv,
			struct nlmsghdr *n, const char *dev)
{
	uint32_t version = ONRAMP_UAPI_VERSION;
	struct rtattr *nest;
	int used;

	(void)qu;
	(void)dev;
	nest = (struct rtattr *)((char *)n + NLMSG_ALIGN(n->nlmsg_len));
	if (addattr_l(n, ONRAMP_REQUEST_MAX, TCA_OPTIONS | NLA_F_NESTED, NULL, 0) ||
	    addattr_l(n, ONRAMP_REQUEST_MAX, TCA_ONRAMP_VERSION, &version, sizeof(version)))
		return -1;
	for (; argc > 0; argc -= used, argv += used) {
		used = parse_word(n, argc, argv);
		if (used < 0)
			return -1;
	}
	nest->rta_len = (char *)n + NLMSG_ALIGN(n->nlmsg_len) - (char *)nest;
	return 0;
}

/* Output ----------------------------------------------------------------- */

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

/* "word value " for text, "word": number for JSON, where times are ns, rates bytes/s. */
static void print_param(int attr, uint64_t value)
{
	const char *const *words = words_of(attr);
	const struct param *p = &params[attr];
	char format[64], text[TC_TIME_TEXT];

	switch (p->kind) {
	case WORD:
		/* A module to come may have more. */
		if (value > p->max)
			return;
		snprintf(format, sizeof(format), "%s %%s ", p->name);
		print_color_string(PRINT_ANY, COLOR_NONE, p->name, format, words[value]);
		return;
	case PPM:
		print_color_u64(PRINT_JSON, COLOR_NONE, p->name, NULL, value);
		snprintf(text, sizeof(text), "%.6g", value / 1e6);
		snprintf(format, sizeof(format), "%s %%s ", p->name);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, format, text);
		return;
	case RATE:
		snprintf(format, sizeof(format), "%s %%s ", p->name);
		tc_print_rate(PRINT_ANY, p->name, format, value);
		return;
	case TIME:
		print_color_u64(PRINT_JSON, COLOR_NONE, p->name, NULL, value);
		if (attr == TCA_ONRAMP_THRESHOLD && !value) {
			print_color_string(PRINT_FP, COLOR_NONE, NULL, "threshold %s ", "auto");
			return;
		}
		if (attr == TCA_ONRAMP_PEERS && !value) {
			print_color_string(PRINT_FP, COLOR_NONE, NULL, "peers %s ", "all");
			return;
		}
		snprintf(format, sizeof(format), "%s %%s ", p->name);
		print_color_string(PRINT_FP, COLOR_NONE, NULL, format,
				   sprint_time64(value, text));
		return;
	default:
		snprintf(format, sizeof(format), "%s %%" PRIu64 "%s ", p->name,
			 p->kind == BYTES ? "b" : "");
		print_color_u64(PRINT_ANY, COLOR_NONE, p->name, format, value);
	}
}

/* What is off, or never comes to pass, is not worth a word; JSON has it all. */
static bool worth_printing(int attr, uint64_t value)
{
	return is_json_context() ||
	       !(((attr == TCA_ONRAMP_MAXRATE || attr == TCA_ONRAMP_LINE_RATE ||
		   attr == TCA_ONRAMP_CLOCK_ERROR) && !value) ||
		 (attr == TCA_ONRAMP_CE_THRESHOLD && value == params[attr].max));
}

static void print_flags(struct rtattr *tb[])
{
	struct rtattr *pacing = tb[TCA_ONRAMP_PACING], *drop = tb[TCA_ONRAMP_HORIZON_DROP];
	struct rtattr *inherit = tb[TCA_ONRAMP_INHERIT], *bound = tb[TCA_ONRAMP_BOUND];

	if (has_u64(pacing)) {
		print_color_bool(PRINT_JSON, COLOR_NONE, "pacing", NULL, get_u64_attr(pacing));
		if (!get_u64_attr(pacing))
			print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "nopacing");
	}
	if (has_u64(inherit)) {
		print_color_bool(PRINT_JSON, COLOR_NONE, "inherit", NULL,
				 get_u64_attr(inherit));
		if (!get_u64_attr(inherit))
			print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "noinherit");
	}
	if (has_u64(bound)) {
		print_color_bool(PRINT_JSON, COLOR_NONE, "bound", NULL, get_u64_attr(bound));
		if (!get_u64_attr(bound))
			print_color_string(PRINT_FP, COLOR_NONE, NULL, "%s ", "nobound");
	}
	if (has_u64(drop)) {
		print_color_bool(PRINT_JSON, COLOR_NONE, "horizon_drop", NULL,
				 get_u64_attr(drop));
		print_color_string(PRINT_FP, COLOR_NONE, NULL, "horizon_%s ",
				   get_u64_attr(drop) ? "drop" : "cap");
	}
}

static void print_bands(struct rtattr *tb[])
{
	const uint8_t *bands;
	int i;

	print_color_u64(PRINT_ANY, COLOR_NONE, "bands", "bands %" PRIu64 " ", ONRAMP_BANDS);
	if (tb[TCA_ONRAMP_PRIOMAP] && RTA_PAYLOAD(tb[TCA_ONRAMP_PRIOMAP]) >= ONRAMP_PRIOS) {
		bands = RTA_DATA(tb[TCA_ONRAMP_PRIOMAP]);
		open_json_array(PRINT_ANY, is_json_context() ? "priomap" : "priomap ");
		for (i = 0; i < ONRAMP_PRIOS; i++)
			print_color_u64(PRINT_ANY, COLOR_NONE, NULL, "%" PRIu64 " ", bands[i]);
		close_json_array(PRINT_ANY, "");
	}
	open_json_array(PRINT_ANY, is_json_context() ? "weights" : "weights ");
	for (i = 0; i < ONRAMP_BANDS; i++)
		if (has_u64(tb[TCA_ONRAMP_WEIGHT0 + i]))
			print_color_u64(PRINT_ANY, COLOR_NONE, NULL, "%" PRIu64 " ",
					get_u64_attr(tb[TCA_ONRAMP_WEIGHT0 + i]));
	close_json_array(PRINT_ANY, "");
}

static int onramp_print(const struct qdisc_util *qu, FILE *f, struct rtattr *opt)
{
	struct rtattr *tb[TCA_ONRAMP_MAX + 1];
	uint32_t version = 0;
	int attr;

	(void)qu;
	(void)f;
	if (!opt)
		return 0;
	parse_nest(tb, TCA_ONRAMP_MAX, opt);
	if (tb[TCA_ONRAMP_VERSION] && RTA_PAYLOAD(tb[TCA_ONRAMP_VERSION]) >= sizeof(version))
		memcpy(&version, RTA_DATA(tb[TCA_ONRAMP_VERSION]), sizeof(version));
	if (version > ONRAMP_UAPI_VERSION)
		fprintf(stderr, "onramp: the module's interface is version %u, this plugin knows %u: what is newer is not shown\n",
			version, ONRAMP_UAPI_VERSION);
	for (attr = TCA_ONRAMP_FIRST; attr <= TCA_ONRAMP_MAX; attr++)
		if (has_u64(tb[attr]) && params[attr].kind != BOOL &&
		    !strchr(params[attr].name, '[') &&
		    worth_printing(attr, get_u64_attr(tb[attr])))
			print_param(attr, get_u64_attr(tb[attr]));
	print_flags(tb);
	print_bands(tb);
	return 0;
}

/* "band_drops[0]" is of no use as a key. */
static void stat_name(char *name, size_t size, const char *field)
{
	size_t len = strcspn(field, "[");

	if (field[len])
		snprintf(name, size, "%.*s%c", (int)len, field, field[len + 1]);
	else
		snprintf(name, size, "%s", field);
}

static int onramp_print_xstats(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats)
{
	struct rtattr *tb[ONRAMP_STATS_MAX + 1];
	char name[40], format[64];
	int attr, on_line = 0;

	(void)qu;
	(void)f;
	if (!xstats)
		return 0;
	parse_nest(tb, ONRAMP_STATS_MAX, xstats);
	for (attr = ONRAMP_STATS_FIRST; attr <= ONRAMP_STATS_MAX; attr++) {
		uint64_t value;

		if (!has_u64(tb[attr]))
			continue;
		value = get_u64_attr(tb[attr]);
		stat_name(name, sizeof(name), stats[attr].name);
		/* Text is for people, who want to see what there is. */
		if (!value && !is_json_context() && attr != ONRAMP_STATS_FLOWS)
			continue;
		snprintf(format, sizeof(format), "%s%s %%%s", on_line % 4 ? ", " :
			 on_line ? "\n  " : "  ", name,
			 stats[attr].kind == SIGNED ? PRId64 : PRIu64);
		if (stats[attr].kind == SIGNED)
			print_color_s64(PRINT_ANY, COLOR_NONE, name, format, value);
		else
			print_color_u64(PRINT_ANY, COLOR_NONE, name, format, value);
		on_line++;
	}
	return 0;
}

struct qdisc_util onramp_qdisc_util = {
	.id		= "onramp",
	.parse_qopt	= onramp_parse,
	.print_qopt	= onramp_print,
	.print_xstats	= onramp_print_xstats,
};
