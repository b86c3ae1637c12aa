// SPDX-License-Identifier: GPL-2.0
/* Tests of onrampctl's pure parts: checks of doctor, files of /proc, muting. */
#include <arpa/inet.h>
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "clock.h"
#include "filter.h"
#include "prom.h"
#include "uapi/onramp.h"
#include "show.h"
#include "top.h"
#include "why.h"
#undef ARRAY_SIZE
#include "ktap.h"

#define NOW_S	1800000000

/* Only main() ends the program; here nothing has a reason to. */
void die_unknown(const char *fmt, ...)
{
	printf("Bail out! it would have ended: %s\n", fmt);
	abort();
}

static uint64_t seed = 20260923;

static uint32_t random_u32(void)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 32);
}

static json_t *load(const char *name)
{
	char path[512];
	json_error_t error;
	json_t *o;

	snprintf(path, sizeof(path), TEST_DIR "/%s", name);
	o = json_load_file(path, 0, &error);
	if (!o) {
		printf("Bail out! %s, line %d: %s\n", path, error.line, error.text);
		exit(1);
	}
	return o;
}

/* JSON merge patch, RFC 7386: null removes. */
static void merge(json_t *to, const json_t *patch)
{
	const char *key;
	json_t *v, *old;

	json_object_foreach((json_t *)patch, key, v) {
		old = json_object_get(to, key);
		if (json_is_null(v)) {
			json_object_del(to, key);
		} else if (json_is_object(v)) {
			if (!json_is_object(old))
				json_object_set_new(to, key, json_object());
			merge(json_object_get(to, key), v);
		} else {
			json_object_set_new(to, key, json_deep_copy(v));
		}
	}
}

static json_t *with(const json_t *healthy, const json_t *fault)
{
	json_t *facts = json_deep_copy(healthy);

	merge(json_object_get(facts, "now"), json_object_get(fault, "now"));
	merge(json_object_get(facts, "before"), json_object_get(fault, "before"));
	return facts;
}

static const char *first_code(const json_t *report)
{
	return json_string_value(json_object_get(json_array_get(json_object_get(report,
							"findings"), 0), "code"));
}

static void healthy_host_has_no_finding(void)
{
	json_t *facts = load("healthy.json"), *report = doctor_run(facts, NULL, NOW_S), *v;
	size_t i;

	json_array_foreach(json_object_get(report, "findings"), i, v)
		printf("# %s\n", j_str(v, "summary"));
	json_array_foreach(json_object_get(report, "skipped"), i, v)
		printf("# %s: %s\n", j_str(v, "code"), j_str(v, "reason"));
	CHECK_EQ(json_array_size(json_object_get(report, "findings")), 0);
	CHECK_EQ(json_array_size(json_object_get(report, "skipped")), 0);
	CHECK_EQ(json_array_size(json_object_get(report, "ok")), doctor_checks());
	CHECK_EQ(doctor_status(report), CTL_OK);
	json_decref(report);
	json_decref(facts);
}

/* A sentence of a finding has that text. */
static bool finding_says(const json_t *f, const char *words)
{
	static const char * const parts[] = { "summary", "why", "do", "severity" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(parts); i++)
		if (strstr(j_str(f, parts[i]) ? j_str(f, parts[i]) : "", words))
			return true;
	return false;
}

static void each_fault_is_named(void)
{
	json_t *healthy = load("healthy.json"), *faults = load("faults.json"), *fault, *f;
	static const char * const names[] = { "note", "warning", "critical" };
	static const int status[] = { CTL_OK, CTL_WARNING, CTL_CRITICAL };
	size_t i, k;

	json_array_foreach(faults, i, fault) {
		json_t *facts = with(healthy, fault), *report = doctor_run(facts, NULL, NOW_S);
		json_t *found = json_object_get(report, "findings");
		const char *code = j_str(fault, "code"), *severity = NULL;

		ktap_row = j_str(fault, "what");
		CHECK(json_array_size(found) > 0);
		json_array_foreach(found, k, f) {
			if (strcmp(j_str(f, "code"), code))
				printf("# %s: %s\n", j_str(f, "code"), j_str(f, "summary"));
			CHECK(!strcmp(j_str(f, "code"), code));
			CHECK(j_str(f, "summary") && j_str(f, "why") && j_str(f, "do"));
			CHECK(json_is_object(json_object_get(f, "evidence")));
			severity = j_str(f, "severity");
			if (j_str(fault, "says"))
				CHECK(finding_says(f, j_str(fault, "says")));
			if (j_str(fault, "lacks"))
				CHECK(!finding_says(f, j_str(fault, "lacks")));
		}
		for (k = 0; severity && k < 3; k++)
			if (!strcmp(severity, names[k]))
				CHECK_EQ(doctor_status(report), status[k]);
		ktap_row = NULL;
		json_decref(report);
		json_decref(facts);
	}
	json_decref(faults);
	json_decref(healthy);
}

static void each_check_has_a_fault(void)
{
	json_t *faults = load("faults.json"), *fault;
	size_t i, k, n;

	for (i = 0; i < doctor_checks(); i++) {
		n = 0;
		json_array_foreach(faults, k, fault)
			n += !strcmp(j_str(fault, "code"), doctor_code(i));
		ktap_row = doctor_code(i);
		CHECK(n > 0);
		for (k = 0; k < i; k++)
			CHECK(strcmp(doctor_code(i), doctor_code(k)));
	}
	ktap_row = NULL;
	json_decref(faults);
}

/* One look only, or anything that an older module does not have: skipped, and no finding. */
static void what_is_missing_is_no_fault(void)
{
	json_t *healthy = load("healthy.json"), *now = json_object_get(healthy, "now"), *v, *left;
	json_t *report;
	const char *key;

	left = json_deep_copy(healthy);
	json_object_set_new(left, "before", json_null());
	report = doctor_run(left, NULL, NOW_S);
	CHECK_EQ(doctor_status(report), CTL_OK);
	CHECK(json_array_size(json_object_get(report, "skipped")) >= 10);
	json_decref(report);
	json_decref(left);

	json_object_foreach(now, key, v) {
		left = json_deep_copy(healthy);
		json_object_del(json_object_get(left, "now"), key);
		report = doctor_run(left, NULL, NOW_S);
		ktap_row = key;
		/* There they are the fault. */
		if (strcmp(key, "modules"))
			CHECK_EQ(json_array_size(json_object_get(report, "findings")), 0);
		json_decref(report);
		json_decref(left);
	}
	ktap_row = NULL;
	json_decref(healthy);
}

static void without_modules_it_is_not_known(void)
{
	json_t *facts = json_pack("{s:{s:s, s:{}}}", "now", "version", "1", "modules");
	json_t *report = doctor_run(facts, NULL, NOW_S);

	CHECK_EQ(doctor_status(report), CTL_UNKNOWN);
	CHECK_EQ(json_array_size(json_object_get(report, "skipped")), doctor_checks());
	json_decref(report);
	json_decref(facts);
}

/* state_is() - what status says of a part; NULL: no code, any reason */
static bool state_is(const json_t *facts, const char *part, const char *state, const char *code,
		     enum ctl_status status, const char *says)
{
	json_t *report = doctor_run(facts, NULL, NOW_S), *out = status_run(facts, report);
	const json_t *p = j_get(j_get(out, "parts"), part);
	bool good = j_is(p, "state", state) && j_true(p, "acting") == !strcmp(state, "acting") &&
		    j_str(p, "reason") && (!says || strstr(j_str(p, "reason"), says)) && (code ?
		    j_is(p, "code", code) : !j_get(p, "code")) && doctor_status(out) == (int)status;

	if (!good)
		json_dumpf(out, stdout, 0);
	json_decref(out);
	json_decref(report);
	return good;
}

/*
 * patched() - healthy facts, with the changes of a row; "quiet": between the two looks no OR-ACK
 * comes, none is sent, and timely gets no RTT. Owned by the caller.
 */
static json_t *patched(const json_t *row)
{
	json_t *facts = load("healthy.json"), *before = json_object_get(facts, "before");
	json_t *now = json_object_get(facts, "now"), *still, *stats;

	if (j_true(row, "quiet")) {
		stats = json_pack("{s:{s:i}}", "stats", "acks", 20000);
		still = json_pack("{s:{s:{s:{s:O, s:O}}}, s:{s:i}, s:{s:i}}", "devices", "eth0",
				  "qdiscs", "1:1", stats, "1:2", stats, "timely", "Completions",
				  1500, "or_acker", "AckSent", 4000);
		merge(before, still);
		json_decref(stats);
		json_decref(still);
	}
	merge(now, json_object_get(row, "now"));
	merge(before, json_object_get(row, "before"));
	return facts;
}

/* What looks like a fault, and is none. */
static void no_fault_is_invented(void)
{
	json_t *rows = load("no_faults.json"), *row, *facts, *report, *v;
	size_t i, k;

	json_array_foreach(rows, i, row) {
		facts = patched(row);
		report = doctor_run(facts, NULL, NOW_S);
		ktap_row = j_str(row, "what");
		json_array_foreach(json_object_get(report, "findings"), k, v)
			printf("# %s: %s\n", j_str(v, "code"), j_str(v, "summary"));
		CHECK_EQ(json_array_size(json_object_get(report, "findings")), 0);
		json_decref(report);
		json_decref(facts);
	}
	ktap_row = NULL;
	CHECK(i >= 10);
	json_decref(rows);
}

static void status_says_which_part_acts(void)
{
	json_t *healthy = load("healthy.json"), *faults = load("faults.json"), *fault, *facts;
	json_t *rows = load("status.json"), *row;
	size_t i, n = 0;

	json_array_foreach(rows, i, row) {
		facts = patched(row);
		ktap_row = j_str(row, "what");
		CHECK(state_is(facts, j_str(row, "part"), j_str(row, "state"), j_str(row, "code"),
			       (enum ctl_status)j_int_or(row, "status", -1), j_str(row, "says")));
		json_decref(facts);
	}
	CHECK(i >= 10);
	json_decref(rows);
	/* Whatever makes On-Ramp act on nothing. */
	json_array_foreach(faults, i, fault) {
		const char *code = j_str(fault, "code");
		bool timely = !strcmp(code, "TIMELY_UNUSED");

		if (!timely && strcmp(code, "NOT_FOLLOWED"))
			continue;
		facts = with(healthy, fault);
		ktap_row = j_str(fault, "what");
		CHECK(state_is(facts, timely ? "timely" : "sender", "inactive", code, CTL_WARNING,
			       NULL));
		json_decref(facts);
		n++;
	}
	ktap_row = NULL;
	CHECK(n >= 10);
	json_decref(faults);
	json_decref(healthy);
}

static void muting_ends(void)
{
	json_t *healthy = load("healthy.json"), *faults = load("faults.json"), *fault, *report;
	json_t *facts, *muted;
	size_t i;

	json_array_foreach(faults, i, fault) {
		facts = with(healthy, fault);
		ktap_row = j_str(fault, "code");
		muted = json_pack("{s:i}", ktap_row, NOW_S + 10);
		report = doctor_run(facts, muted, NOW_S);
		CHECK_EQ(doctor_status(report), json_object_size(j_get(facts, "now/modules")) ?
			 CTL_OK : CTL_UNKNOWN);
		CHECK_EQ(json_array_size(json_object_get(report, "findings")), 0);
		CHECK(json_array_size(json_object_get(report, "muted")) > 0);
		json_decref(report);
		/* At the end it counts again. */
		report = doctor_run(facts, muted, NOW_S + 10);
		CHECK(!strcmp(first_code(report), ktap_row));
		CHECK_EQ(json_array_size(json_object_get(report, "muted")), 0);
		json_decref(report);
		json_decref(muted);
		json_decref(facts);
	}
	ktap_row = NULL;
	json_decref(faults);
	json_decref(healthy);
}

/* A value of another kind, in place of one somewhere inside of @o. */
static void damage(json_t *o)
{
	size_t n = json_is_object(o) ? json_object_size(o) : json_array_size(o), at, i = 0;
	const char *key;
	json_t *v, *other;

	if (!n)
		return;
	at = random_u32() % n;
	switch (random_u32() % 6) {
	case 0:
		other = json_integer((json_int_t)random_u32() << 31);
		break;
	case 1:
		other = json_string("text");
		break;
	case 2:
		other = json_array();
		break;
	case 3:
		other = json_integer(-1);
		break;
	case 4:
		other = json_pack("{s:{s:s}}", "a", "b", "c");
		break;
	default:
		other = json_null();
	}
	if (json_is_array(o)) {
		v = json_array_get(o, at);
		if ((json_is_object(v) || json_is_array(v)) && random_u32() % 4) {
			damage(v);
			json_decref(other);
		} else {
			json_array_set_new(o, at, other);
		}
		return;
	}
	json_object_foreach(o, key, v) {
		if (i++ != at)
			continue;
		if ((json_is_object(v) || json_is_array(v)) && random_u32() % 8) {
			damage(v);
			json_decref(other);
		} else {
			json_object_set_new(o, key, other);
		}
		return;
	}
}

static void damaged_facts_do_no_harm(void)
{
	json_t *healthy = load("healthy.json"), *faults = load("faults.json");
	size_t i, k;

	for (i = 0; i < 3000; i++) {
		json_t *facts = with(healthy, json_array_get(faults, i % json_array_size(faults)));
		json_t *report;

		for (k = 0; k < 1 + i % 20; k++)
			damage(facts);
		report = doctor_run(facts, NULL, NOW_S);
		CHECK(doctor_status(report) >= CTL_OK && doctor_status(report) <= CTL_UNKNOWN);
		json_decref(status_run(facts, report));
		json_decref(report);
		json_decref(facts);
	}
	json_decref(faults);
	json_decref(healthy);
}

static void counters_are_read(void)
{
	json_t *o = text_counters("AckSent 20692\nFlows 4\n\nword none\nthree words here\nlast 7");

	CHECK_EQ(j_int_or(o, "AckSent", -1), 20692);
	CHECK_EQ(j_int_or(o, "Flows", -1), 4);
	CHECK_EQ(j_int_or(o, "last", -1), 7);
	CHECK(j_is(o, "word", "none"));
	CHECK(!json_object_get(o, "three"));
	CHECK_EQ(json_object_size(o), 4);
	json_decref(o);
	o = text_counters("");
	CHECK_EQ(json_object_size(o), 0);
	json_decref(o);
}

static void tables_are_read(void)
{
	/* With a column that is newer than this program, and a line that was cut. */
	json_t *rows = text_table("local remote state heard_ms colour\n"
				  "10.0.0.1 fe80::1%2 silent - red\n"
				  "10.0.0.1 10.0.0.2 asked 17\n"
				  "10.0.0.1 10.0.0.3 subscribed 17 blue\n");

	CHECK_EQ(json_array_size(rows), 2);
	CHECK(j_is(json_array_get(rows, 0), "remote", "fe80::1%2"));
	CHECK(!j_get(json_array_get(rows, 0), "heard_ms"));
	CHECK_EQ(j_int_or(json_array_get(rows, 1), "heard_ms", -1), 17);
	CHECK(j_is(json_array_get(rows, 1), "colour", "blue"));
	json_decref(rows);
}

static void random_files_do_no_harm(void)
{
	static const char some[] = "ab 0123456789-\n\n\t  \xff\xc3%:";
	char text[200];
	size_t i, k, n;

	for (i = 0; i < 20000; i++) {
		n = random_u32() % (sizeof(text) - 1);
		for (k = 0; k < n; k++)
			text[k] = some[random_u32() % (sizeof(some) - 1)];
		text[n] = '\0';
		json_decref(text_counters(text));
		json_decref(text_table(text));
	}
	CHECK(true);
}

static void periods(void)
{
	static const struct row {
		const char *text;
		int64_t s;
	} rows[] = {
		{ "1s", 1 }, { "90m", 5400 }, { "12h", 43200 }, { "7d", 604800 },
		{ "2w", 1209600 }, { "366d", 31622400 }, { "", 0 }, { "d", 0 }, { "7", 0 },
		{ "0d", 0 }, { "-1d", 0 }, { "367d", 0 }, { "7dd", 0 }, { "7 d", 0 },
		{ "99999999999999999999d", 0 }, { "for ever", 0 },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t s = 0;

		ktap_row = rows[i].text;
		CHECK_EQ(mute_period(rows[i].text, &s), rows[i].s != 0);
		CHECK_EQ(s, rows[i].s);
	}
	ktap_row = NULL;
}

static void names_are_cleaned(void)
{
	char out[8];

	CHECK(!strcmp(j_clean(out, sizeof(out), "eth0", 5), "eth0"));
	CHECK(!strcmp(j_clean(out, sizeof(out), "a\"\xff\n\x1b z", 8), "a\"????z"));
	CHECK(!strcmp(j_clean(out, sizeof(out), "longer than that", 17), "longer?"));
	CHECK(!strcmp(j_clean(out, sizeof(out), "not ended", 3), "not"));
	CHECK(!strcmp(j_clean(out, 1, "x", 2), ""));
}

static struct flow flow_of(int family, const char *local, uint16_t lport, const char *remote,
			   uint16_t rport, const char *cc)
{
	struct flow f = { .family = family, .lport = lport, .rport = rport };

	inet_pton(family, local, f.local);
	inet_pton(family, remote, f.remote);
	snprintf(f.cc, sizeof(f.cc), "%s", cc);
	return f;
}

/* The words of ss, each with those of four connections that it is about, as bits. */
static void filters(void)
{
	static const struct row {
		const char *text;
		unsigned int matches;
	} rows[] = {
		{ "src 10.0.1.2", 0x3 }, { "src = 10.0.1.2", 0x3 }, { "src != 10.0.1.2", 0xc },
		{ "dst 10.0.3.9:443", 0x1 }, { "dst 10.0.0.0/8", 0x3 }, { "dst 10.0.3.8/30", 0x1 },
		{ "dst 10.0.3.8/31", 0x1 }, { "dst 10.0.2.0/23", 0x1 }, { "dst 0.0.0.0/0", 0x3 },
		{ "dst 10.0.0.0/8:443", 0x1 }, { "dst :443", 0x5 }, { "dst *:443", 0x5 },
		{ "dst *", 0xf }, { "dst 10.0.3.9:*", 0x1 },
		{ "dst [2001:db8::9]:443", 0x4 }, { "dst [2001:db8::9]", 0x4 },
		{ "dst 2001:db8::9", 0x4 }, { "dst 2001:db8::/32", 0xc },
		{ "dst [2001:db8::]/32:443", 0x4 }, { "dst ::/0", 0xc },
		{ "sport 1001", 0x1 }, { "sport = :1002", 0x2 }, { "sport >= 1003", 0xc },
		{ "sport gt 1003", 0x8 }, { "sport<1003", 0x3 }, { "sport le 1001", 0x1 },
		{ "sport != :1001", 0xe }, { "dport eq 443", 0x5 },
		{ "cc timely", 0x5 }, { "cc != timely", 0xa }, { "cc=cubic", 0x2 },
		{ "cc timely and dport 443", 0x5 }, { "cc timely dport 443", 0x5 },
		{ "cc timely && sport 1001", 0x1 }, { "cc cubic or cc bbr", 0xa },
		{ "cc cubic || cc bbr && sport 1001", 0x2 },
		{ "(cc cubic or cc bbr) sport 1002", 0x2 },
		{ "not cc timely", 0xa }, { "! cc timely", 0xa }, { "!cc timely", 0xa },
		{ "not not cc timely", 0x5 }, { "not (cc timely or cc bbr)", 0x2 },
		{ "not cc timely and cc cubic", 0x2 }, { "((((src 10.0.1.2))))", 0x3 },
	};
	const struct flow flows[] = {
		flow_of(AF_INET, "10.0.1.2", 1001, "10.0.3.9", 443, "timely"),
		flow_of(AF_INET, "10.0.1.2", 1002, "10.7.7.7", 80, "cubic"),
		flow_of(AF_INET6, "2001:db8::2", 1003, "2001:db8::9", 443, "timely"),
		flow_of(AF_INET6, "2001:db8::2", 1004, "2001:db8::7", 80, "bbr"),
	};
	char error[FILTER_ERROR];
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		char *words = (char *)rows[i].text;
		struct filter *f;
		unsigned int got = 0;

		*error = '\0';
		ktap_row = rows[i].text;
		f = filter_parse(1, &words, error);
		if (!f)
			printf("# %s\n", error);
		CHECK(f);
		for (k = 0; f && k < ARRAY_SIZE(flows); k++)
			got |= (unsigned int)filter_match(f, &flows[k]) << k;
		CHECK_EQ(got, rows[i].matches);
		filter_free(f);
	}
	ktap_row = NULL;
	CHECK(filter_match(NULL, &flows[0]));
}

/* Nothing is 0, and nothing has a unit, that is not known. */
static void unknown_is_not_0(void)
{
	struct flow f = flow_of(AF_INET, "10.0.1.2", 1001, "10.0.3.9", 443, "cubic");
	json_t *row, *rate = json_integer(89000000);
	char s[32];

	f.has_info = true;
	row = row_flow(&f);
	CHECK(!j_get(row, "rtt_us"));
	CHECK(!j_get(row, "min_rtt_us"));
	json_decref(row);
	f.info.tcpi_rtt = 70;
	f.info.tcpi_min_rtt = 60;
	row = row_flow(&f);
	CHECK_EQ(j_int_or(row, "rtt_us", 0), 70);
	CHECK_EQ(j_int_or(row, "min_rtt_us", 0), 60);
	json_decref(row);
	CHECK(!strcmp(show_rate(s, sizeof(s), rate), "89Mbit/s"));
	CHECK(!strcmp(show_rate(s, sizeof(s), NULL), "-"));
	json_decref(rate);
}

static void wrong_filters_are_refused(void)
{
	static const char * const rows[] = {
		"", " ", "src", "src 10.0.0", "src 10.0.0.1/33", "src 10.0.0.1:0", "src 10.0.0.1:65536",
		"src > 10.0.0.1", "src 10.0.0.1/", "src [::1", "src [::1]x", "src ::1/129",
		"src :443/8", "src */8", "sport", "sport x", "sport 65536", "sport = = 1", "cc",
		"cc =", "cc > timely", "cc a_name_that_is_too_long", "cc timely )", "( cc timely",
		"not", "and", "cc timely and", "cc timely or", "or cc timely", "state established",
		"src 10.0.0.1 | ", "()", "src exa$mple", "src 10.0.0.1x:0", "src localhost:0",
	};
	char error[FILTER_ERROR], *deep = malloc(4000), *many = malloc(40000);
	char *words;
	struct filter *f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		words = (char *)rows[i];
		ktap_row = rows[i];
		*error = '\0';
		f = filter_parse(1, &words, error);
		CHECK(!f);
		CHECK(strstr(error, "expected") || strstr(error, "too long"));
		filter_free(f);
	}
	ktap_row = NULL;
	memset(deep, '(', 3999);
	deep[3999] = '\0';
	words = deep;
	CHECK(!filter_parse(1, &words, error));
	*many = '\0';
	for (i = 0; i < 1000; i++)
		strcat(many, "cc timely ");
	words = many;
	CHECK(!filter_parse(1, &words, error));
	CHECK(strstr(error, "conditions"));
	free(deep);
	free(many);
}

static void random_filters_do_no_harm(void)
{
	static const char * const words[] = {
		"src", "dst", "sport", "dport", "cc", "not", "and", "or", "(", ")", "!", "=", "!=",
		"<", ">=", "10.0.0.1", "10.0.0.0/8:443", "[::1]:80", "::/0", ":443", "*", "443",
		"timely", "&&", "||", "&", "[", "/", ":", "\xff", "eq",
	};
	const struct flow flow = flow_of(AF_INET, "10.0.1.2", 1001, "10.0.3.9", 443, "timely");
	char error[FILTER_ERROR];
	size_t i, k, n, good = 0;

	for (i = 0; i < 200000; i++) {
		char *argv[12];
		struct filter *f;

		n = 1 + random_u32() % ARRAY_SIZE(argv);
		for (k = 0; k < n; k++)
			argv[k] = (char *)words[random_u32() % ARRAY_SIZE(words)];
		*error = '\0';
		f = filter_parse((int)n, argv, error);
		CHECK(!f == !!*error);
		if (f)
			filter_match(f, &flow);
		good += !!f;
		filter_free(f);
	}
	CHECK(good > 100);
}

static void values_are_written_short(void)
{
	static const struct row {
		double v;
		enum look_as look;
		const char *text;
	} rows[] = {
		{ 0, LOOK_COUNT, "0" }, { 7, LOOK_COUNT, "7" }, { 999, LOOK_COUNT, "999" },
		{ 1000, LOOK_COUNT, "1.0k" }, { 9800, LOOK_COUNT, "9.8k" },
		{ 9960, LOOK_COUNT, "10k" }, { 999999, LOOK_COUNT, "1.0M" },
		{ 10e9, LOOK_RATE, "10G" }, { 3.14e9, LOOK_RATE, "3.1G" },
		{ 74000, LOOK_NS, "74us" }, { 212, LOOK_NS, "212ns" }, { 2.9e6, LOOK_NS, "2.9ms" },
		{ 61e9, LOOK_NS, "61s" }, { 86400e9, LOOK_NS, "86400s" }, { 21, LOOK_US, "21us" },
		{ 90000, LOOK_MS, "90s" }, { 0.61, LOOK_SHARE, "61%" }, { -5, LOOK_COUNT, "-5" },
		{ 1.5, LOOK_COUNT, "1.5" }, { -1500, LOOK_COUNT, "-1.5k" },
	};
	json_t *v;
	char s[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		v = json_real(rows[i].v);
		show_value(s, sizeof(s), v, rows[i].look);
		ktap_row = rows[i].text;
		if (strcmp(s, rows[i].text))
			printf("# got %s\n", s);
		CHECK(!strcmp(s, rows[i].text));
		json_decref(v);
	}
	ktap_row = NULL;
	show_value(s, sizeof(s), NULL, LOOK_NS);
	CHECK(!strcmp(s, "-"));
}

static void rows_of_devices_and_peers(void)
{
	json_t *facts = load("healthy.json"), *now = json_object_get(facts, "now"), *rows, *row;

	rows = rows_devices(now, false);
	CHECK_EQ(json_array_size(rows), 1);
	row = json_array_get(rows, 0);
	CHECK(j_is(row, "device", "eth0") && j_is(row, "mode", "final"));
	CHECK_EQ(j_int_or(row, "onramp_qdiscs", 0), 2);
	CHECK_EQ(j_int_or(row, "pauses", 0), 400);
	CHECK_EQ(j_int_or(row, "delay_p99_ns", 0), 90000);
	CHECK(j_is(row, "stamps_rx", "hardware"));
	json_decref(rows);
	rows = rows_devices(now, true);
	CHECK_EQ(json_array_size(rows), 3);
	json_decref(rows);
	rows = rows_paths(facts);
	CHECK_EQ(json_array_size(rows), 2);
	CHECK(j_is(json_array_get(rows, 0), "remote", "10.0.3.9"));
	CHECK(!j_get(json_array_get(rows, 1), "heard_ms"));
	json_decref(rows);
	rows = rows_clocks(now);
	CHECK_EQ(json_array_size(rows), 2);
	CHECK(j_is(json_array_get(rows, 1), "state", "valid"));
	json_decref(rows);
	rows = rows_counters(facts, "timely", false);
	CHECK_EQ(json_array_size(rows), 2);
	CHECK(json_real_value(json_object_get(json_array_get(rows, 1), "per_s")) == 500);
	json_decref(rows);
	rows = rows_counters(facts, "timely", true);
	CHECK_EQ(json_array_size(rows), 4);
	json_decref(rows);
	json_decref(facts);
}

/* As the netlink family has them. */
static void rows_with_rates(void)
{
	json_t *facts = load("netlink.json"), *before = json_object_get(facts, "before"), *rows;
	const json_t *row;

	/* In another order than before. */
	json_array_insert(json_object_get(before, "peers"), 0,
			  json_array_get(json_object_get(before, "peers"), 1));
	rows = rows_paths(facts);
	row = json_array_get(rows, 0);
	CHECK(json_real_value(j_get(row, "acks_per_s")) == 9800);
	/* Four connections, each paused for 610 ms of a second. */
	CHECK(fabs(json_real_value(j_get(row, "paused_share")) - 0.61) < 1e-9);
	CHECK(j_is(row, "baseline", "supported"));
	CHECK_EQ(j_int_or(row, "delay_p99_ns", 0), 98304);
	row = json_array_get(rows, 1);
	CHECK(!j_get(row, "delay_ns") && !j_get(row, "heard_ms"));
	CHECK(json_real_value(j_get(row, "acks_per_s")) == 0);
	json_decref(rows);
	rows = rows_subscribers(facts);
	CHECK(json_real_value(j_get(json_array_get(rows, 0), "acks_per_s")) == 2000);
	json_decref(rows);
	/* One look has no rates. */
	j_set(facts, "before", json_null());
	rows = rows_paths(facts);
	CHECK_EQ(json_array_size(rows), 2);
	CHECK(!j_get(json_array_get(rows, 0), "acks_per_s"));
	CHECK(!j_get(json_array_get(rows, 0), "paused_share"));
	json_decref(rows);
	json_decref(facts);
}

/* A connection that was looked at; ms of the interval that starts at 0. */
static struct look look_at(unsigned int ms, unsigned int busy_ms, unsigned int rwnd_ms,
			   unsigned int sndbuf_ms, unsigned int paused_ms)
{
	struct look l = {
		.time_ns = ms * NSEC_PER_MSEC, .onramp = true,
		.pauses.paused_ns = paused_ms * NSEC_PER_MSEC,
		.flow = { .has_info = true, .family = AF_INET },
	};

	l.flow.info.tcpi_busy_time = busy_ms * 1000ULL;
	l.flow.info.tcpi_rwnd_limited = rwnd_ms * 1000ULL;
	l.flow.info.tcpi_sndbuf_limited = sndbuf_ms * 1000ULL;
	return l;
}

static double sum_of(const struct why_shares *s)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < WHYS; i++)
		sum += s->of[i];
	return sum;
}

/* Each reason, by numbers that leave no doubt. */
static void reasons_have_shares(void)
{
	static const struct {
		const char *what;
		unsigned int busy, rwnd, sndbuf, paused;
		struct why_samples samples;
		enum why dominant;
		double share;
	} cases[] = {
		{ "no data", 0, 0, 0, 0, { 0 }, WHY_APPLICATION, 1 },
		{ "pauses", 780, 20, 0, 610, { 10, { [WHY_RATE] = 10 } }, WHY_PATH, 0.61 },
		/* A pause of a connection that has nothing to send holds nothing. */
		{ "pauses while idle", 100, 0, 0, 900, { 0 }, WHY_APPLICATION, 0.9 },
		{ "a slow receiver", 1000, 900, 0, 0, { 5, { [WHY_RATE] = 5 } },
		  WHY_RECEIVER, 0.9 },
		{ "a slow receiver, with pauses", 1000, 900, 0, 500, { 5, { [WHY_RATE] = 5 } },
		  WHY_RECEIVER, 0.9 },
		{ "a small buffer", 1000, 0, 700, 0, { 5, { [WHY_RATE] = 5 } }, WHY_BUFFER, 0.7 },
		/* Packets that On-Ramp holds fill it. */
		{ "a buffer full by pauses", 1000, 0, 700, 800, { 5, { [WHY_RATE] = 5 } },
		  WHY_PATH, 0.8 },
		/* Or the qdisc, or a loss. */
		{ "a buffer full by the qdisc", 1000, 0, 700, 0,
		  { 10, { [WHY_QDISC] = 6, [WHY_RATE] = 4 } }, WHY_QDISC, 0.6 },
		{ "a buffer full by a loss", 900, 0, 900, 0, { 5, { [WHY_LOSS] = 5 } },
		  WHY_LOSS, 0.9 },
		{ "a small buffer, and the qdisc", 1000, 0, 700, 0,
		  { 10, { [WHY_QDISC] = 2, [WHY_RATE] = 8 } }, WHY_BUFFER, 0.7 },
		{ "own rate", 1000, 0, 0, 100, { 50, { [WHY_RATE] = 50 } }, WHY_RATE, 0.9 },
		{ "losses", 1000, 0, 0, 0, { 4, { [WHY_LOSS] = 3, [WHY_RATE] = 1 } },
		  WHY_LOSS, 0.75 },
		{ "this host", 800, 0, 0, 0, { 4, { [WHY_QDISC] = 3, [WHY_RATE] = 1 } },
		  WHY_QDISC, 0.6 },
		{ "small requests", 500, 0, 0, 0, { 4, { [WHY_APPLICATION] = 4 } },
		  WHY_APPLICATION, 1 },
		{ "no samples", 1000, 0, 0, 0, { 0 }, WHY_UNKNOWN, 1 },
		/* Clocks of the kernel tick. */
		{ "more than all", 1004, 1004, 1004, 1004, { 0 }, WHY_RECEIVER, 1 },
	};
	struct why_samples none = { 0 };
	struct why_shares s;
	struct look a, b;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		a = look_at(1000, 5000, 3000, 2000, 1000);
		b = look_at(2000, 5000 + cases[i].busy, 3000 + cases[i].rwnd,
			    2000 + cases[i].sndbuf, 1000 + cases[i].paused);
		ktap_row = cases[i].what;
		s = why_shares(&a, &b, &cases[i].samples);
		CHECK(why_dominant(&s) == cases[i].dominant);
		CHECK(fabs(s.of[cases[i].dominant] - cases[i].share) < 1e-9);
		CHECK(fabs(sum_of(&s) - 1) < 1e-9);
	}
	ktap_row = NULL;
	/* Pauses that are not for this user to see. */
	b = look_at(2000, 6000, 3200, 2000, 0);
	b.onramp = false;
	b.hidden = true;
	s = why_shares(&a, &b, &(struct why_samples){ 5, { [WHY_RATE] = 5 } });
	CHECK(why_dominant(&s) == WHY_UNKNOWN && fabs(s.of[WHY_UNKNOWN] - 0.8) < 1e-9);
	/* A kernel that tells nothing, and no time. */
	b.flow.has_info = false;
	s = why_shares(&a, &b, &none);
	CHECK(s.of[WHY_UNKNOWN] == 1);
	s = why_shares(&a, &a, &none);
	CHECK(s.of[WHY_UNKNOWN] == 1);
	/* Counters of a connection that was forgotten begin again. */
	CHECK_EQ(look_grown(5, 7), 2);
	CHECK_EQ(look_grown(500, 7), 7);
}

static void samples_are_counted(void)
{
	struct look l = look_at(1, 1, 0, 0, 0);
	struct why_samples s = { 0 };

	/* Idle, and paused: known without samples. */
	why_sample(&s, &l, true);
	l.flow.info.tcpi_unacked = 10;
	l.flow.info.tcpi_snd_cwnd = 10;
	l.pauses.pause_left_ns = 1;
	why_sample(&s, &l, true);
	CHECK_EQ(s.all, 0);
	l.pauses.pause_left_ns = 0;
	why_sample(&s, &l, false);
	CHECK_EQ(s.of[WHY_RATE], 1);
	why_sample(&s, &l, true);
	CHECK_EQ(s.of[WHY_QDISC], 1);
	l.flow.info.tcpi_snd_cwnd = 11;
	why_sample(&s, &l, false);
	CHECK_EQ(s.of[WHY_APPLICATION], 1);
	l.flow.info.tcpi_notsent_bytes = 1;
	why_sample(&s, &l, false);
	CHECK_EQ(s.of[WHY_RATE], 2);
	/* CWR is no loss. */
	l.flow.info.tcpi_ca_state = 2;
	why_sample(&s, &l, false);
	CHECK_EQ(s.of[WHY_RATE], 3);
	l.flow.info.tcpi_ca_state = 3;
	why_sample(&s, &l, true);
	CHECK_EQ(s.of[WHY_LOSS], 1);
	CHECK_EQ(s.all, 6);
}

/* What waits for a retransmission timer waits for a loss, also before TCP knows of it. */
/* The chronograph of the receiver's window goes on while TCP's timer waits for a lost packet. */
static void a_black_hole_is_no_slow_receiver(void)
{
	struct look a = look_at(0, 0, 0, 0, 0), b = look_at(1000, 1000, 1000, 0, 0);
	struct why_samples s = { 0 };
	struct why_shares shares;
	int i;

	b.flow.info.tcpi_unacked = 10;
	b.flow.info.tcpi_snd_cwnd = 1;
	b.flow.info.tcpi_ca_state = 4;
	b.flow.info.tcpi_retransmits = 5;
	b.flow.info.tcpi_backoff = 5;
	for (i = 0; i < 10; i++)
		why_sample(&s, &b, false);
	shares = why_shares(&a, &b, &s);
	CHECK_EQ(why_dominant(&shares), WHY_LOSS);
	CHECK(shares.of[WHY_LOSS] > 0.99);
	/* A closed window is probed, and not lost. */
	memset(&s, 0, sizeof(s));
	b.flow.info.tcpi_ca_state = 0;
	b.flow.info.tcpi_retransmits = 0;
	b.flow.info.tcpi_probes = 5;
	for (i = 0; i < 10; i++)
		why_sample(&s, &b, false);
	shares = why_shares(&a, &b, &s);
	CHECK_EQ(why_dominant(&shares), WHY_RECEIVER);
	CHECK(shares.of[WHY_RECEIVER] > 0.99);
}

static void a_timeout_is_loss_from_the_last_ack_on(void)
{
	struct look l = look_at(1, 1, 0, 0, 0);
	struct why_samples s = { 0 };

	l.flow.info.tcpi_unacked = 1;
	l.flow.info.tcpi_snd_cwnd = 10;
	l.flow.info.tcpi_bytes_acked = 1000;
	why_sample(&s, &l, false);
	/* An ACK: the one before has waited for that. */
	l.flow.info.tcpi_bytes_acked = 2000;
	why_sample(&s, &l, false);
	why_sample(&s, &l, false);
	l.flow.info.tcpi_snd_cwnd = 1;
	why_sample(&s, &l, false);
	/* The device of this host was the reason. */
	why_sample(&s, &l, true);
	CHECK_EQ(s.of[WHY_APPLICATION], 3);
	CHECK_EQ(s.of[WHY_RATE], 1);
	/* ACKs of later packets tell of a loss at once. */
	l.flow.info.tcpi_ca_state = 3;
	why_sample(&s, &l, false);
	CHECK_EQ(s.of[WHY_LOSS], 1);
	CHECK_EQ(s.of[WHY_APPLICATION], 3);
	/* The timer. */
	l.flow.info.tcpi_ca_state = 4;
	why_sample(&s, &l, false);
	why_sample(&s, &l, false);
	CHECK_EQ(s.of[WHY_LOSS], 6);
	CHECK_EQ(s.of[WHY_APPLICATION], 1);
	CHECK_EQ(s.of[WHY_RATE], 0);
	CHECK_EQ(s.of[WHY_QDISC], 1);
	CHECK_EQ(s.all, 8);
	/* The next loss begins anew. */
	l.flow.info.tcpi_ca_state = 0;
	l.flow.info.tcpi_bytes_acked = 3000;
	why_sample(&s, &l, false);
	CHECK_EQ(s.of[WHY_RATE], 1);
	CHECK_EQ(s.of[WHY_LOSS], 6);
}

static void percents_add_up(void)
{
	struct why_samples samples = { 0 };
	int percent[WHYS], sum;
	struct why_shares s;
	struct look a, b;
	size_t i, k;

	for (i = 0; i < 20000; i++) {
		samples.all = 0;
		for (k = 0; k < WHYS; k++) {
			samples.of[k] = random_u32() % 4 * (random_u32() % 2);
			samples.all += samples.of[k];
		}
		a = look_at(0, 0, 0, 0, 0);
		b = look_at(1 + random_u32() % 1500, random_u32() % 1500, random_u32() % 1500,
			    random_u32() % 1500, random_u32() % 1500);
		s = why_shares(&a, &b, &samples);
		CHECK(fabs(sum_of(&s) - 1) < 1e-9);
		why_percent(&s, percent);
		for (sum = 0, k = 0; k < WHYS; k++) {
			CHECK(fabs(percent[k] - s.of[k] * 100) < 1 + 1e-9);
			sum += percent[k];
		}
		CHECK_EQ(sum, 100);
	}
}

/* Against looking at all of them each time. */
static void the_busiest_are_found(void)
{
	struct table before = { .time_ns = 1000 }, now = { .time_ns = 1000 + NSEC_PER_SEC };
	struct busy out[5];
	struct flow f = { 0 };
	size_t i, k, n, larger;
	double rates[64];
	json_t *row;

	for (k = 0; k < 200; k++) {
		before.n = 0;
		now.n = 0;
		for (i = 0; i < 64; i++) {
			uint32_t sent = random_u32() % 50;

			/* In no order; some are new, some are gone. */
			f.cookie = (i * 37 + k) % 64;
			rates[f.cookie] = -1;
			f.info.tcpi_bytes_sent = 1000;
			if (random_u32() % 8)
				table_add(&before, &f);
			else
				f.info.tcpi_bytes_sent = 0;
			f.info.tcpi_bytes_sent += sent;
			if (random_u32() % 8) {
				table_add(&now, &f);
				rates[f.cookie] = sent;
			}
		}
		table_sort(&before);
		table_sort(&now);
		n = table_busiest(&before, &now, TOP_RATE, out, ARRAY_SIZE(out));
		CHECK_EQ(n, now.n < ARRAY_SIZE(out) ? now.n : ARRAY_SIZE(out));
		for (i = 0; i < n; i++) {
			const struct look *l = out[i].look;

			CHECK(out[i].rate == rates[l->flow.cookie]);
			for (larger = 0, f.cookie = 0; f.cookie < 64; f.cookie++)
				larger += rates[f.cookie] > out[i].rate ||
					  (rates[f.cookie] >= out[i].rate &&
					   f.cookie < l->flow.cookie);
			CHECK_EQ(larger, i);
		}
	}
	CHECK_EQ(table_busiest(&before, &now, TOP_RATE, out, 0), 0);
	/* By its RTT the slowest one is last; of one that is not known, too. */
	for (i = 0; i < now.n; i++)
		now.looks[i].flow.info.tcpi_rtt = (uint32_t)(now.n - i - 1) * 100;
	n = table_busiest(&before, &now, TOP_RTT, out, ARRAY_SIZE(out));
	for (i = 1; i < n; i++)
		CHECK(out[i - 1].look->flow.info.tcpi_rtt > out[i].look->flow.info.tcpi_rtt);
	CHECK(n && out[0].look->flow.info.tcpi_rtt == (now.n - 1) * 100);
	n = table_busiest(&before, &now, TOP_PAUSED, out, ARRAY_SIZE(out));
	CHECK(n && out[0].key < 0);
	free(before.looks);
	free(now.looks);
	{
		struct look a = look_at(1000, 0, 0, 0, 0), b = look_at(2000, 1000, 0, 0, 600);
		struct busy busy = { .look = &b, .before = &a, .rate = 1e6 };

		b.flow.info.tcpi_notsent_bytes = 1;
		row = busy_row(&busy);
		CHECK_EQ(j_int_or(row, "rate_bit_s", 0), 8000000);
		CHECK(json_real_value(j_get(row, "paused_share")) == 0.6);
		CHECK(j_is(row, "held_by", "path"));
		json_decref(row);
		busy.before = NULL;
		row = busy_row(&busy);
		CHECK(!j_get(row, "held_by"));
		json_decref(row);
	}
}

/* The text format of Prometheus, as strictly as promtool takes it. */
struct exposition {
	char name[160], type[16];	/* of the family that is read */
	json_t *families, *series;
	unsigned int samples;
	const char *wrong;		/* NULL: nothing so far */
};

static size_t metric_name(const char *s)
{
	size_t n = 0;

	while (islower((unsigned char)s[n]) || s[n] == '_' || (n && isdigit((unsigned char)s[n])))
		n++;
	return n;
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* {name="value",...}, from @s on; the rest, or NULL if it is none. */
static const char *labels(const char *s)
{
	if (*s != '{')
		return s;
	s++;
	for (;;) {
		size_t n = metric_name(s);

		if (!n || s[n] != '=' || s[n + 1] != '"')
			return NULL;
		for (s += n + 2; *s && *s != '"'; s++)
			if (*s == '\\' && !strchr("\\\"n", *++s))
				return NULL;
		if (!*s)
			return NULL;
		s++;
		if (*s == '}')
			return s + 1;
		if (*s++ != ',')
			return NULL;
	}
}

static void family_line(struct exposition *e, const char *line, bool help)
{
	static const char * const abbreviated[] = {
		"_ns", "_us", "_ms", "_s", "_kb", "_mb", "_sec", "_ns_total", "_us_total",
		"_ms_total", "_s_total", "_bucket", "_count", "_sum",
	};
	size_t n = metric_name(line), i;
	char name[160];

	if (!n || n >= sizeof(name) || line[n] != ' ' || !line[n + 1]) {
		e->wrong = "a comment of another form";
		return;
	}
	memcpy(name, line, n);
	name[n] = '\0';
	if (help) {
		if (json_object_get(e->families, name))
			e->wrong = "a family twice";
		json_object_set_new(e->families, name, json_true());
		memcpy(e->name, name, n + 1);
		*e->type = '\0';
		return;
	}
	if (strcmp(name, e->name) || *e->type)
		e->wrong = "a type that does not follow its help";
	if (strcmp(line + n + 1, "counter") && strcmp(line + n + 1, "gauge"))
		e->wrong = "another type";
	snprintf(e->type, sizeof(e->type), "%.15s", line + n + 1);
	if (ends_in(name, "_total") != !strcmp(e->type, "counter"))
		e->wrong = "a counter without _total, or a gauge with it";
	for (i = 0; i < ARRAY_SIZE(abbreviated); i++)
		if (ends_in(name, abbreviated[i]))
			e->wrong = "a unit that is not a base unit";
	if (strncmp(name, "onramp_", 7))
		e->wrong = "a name without onramp_";
}

static void sample_line(struct exposition *e, const char *line)
{
	size_t n = metric_name(line);
	const char *rest;
	char *key, *end;

	if (n != strlen(e->name) || strncmp(line, e->name, n) || !*e->type) {
		e->wrong = "a sample outside of its family";
		return;
	}
	rest = labels(line + n);
	if (!rest || *rest != ' ') {
		e->wrong = "labels of another form";
		return;
	}
	key = strndup(line, (size_t)(rest - line));
	if (json_object_get(e->series, key))
		e->wrong = "a series twice";
	if (json_object_set_new(e->series, key, json_true()))
		e->wrong = "a series that is not UTF-8";
	free(key);
	strtod(rest + 1, &end);
	if (end == rest + 1 || *end)
		e->wrong = "a value that is no number";
	e->samples++;
}

/* The number of samples; prints and counts what is wrong. */
static unsigned int exposition_of(const json_t *facts, json_t **series)
{
	json_t *report = doctor_run(facts, NULL, NOW_S);
	struct exposition e = { .families = json_object(), .series = json_object() };
	char *text = NULL, *line, *next;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	prom_write(f, facts, report);
	fclose(f);
	CHECK(size && text[size - 1] == '\n');
	for (line = text; line && *line && !e.wrong; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!strncmp(line, "# HELP ", 7))
			family_line(&e, line + 7, true);
		else if (!strncmp(line, "# TYPE ", 7))
			family_line(&e, line + 7, false);
		else
			sample_line(&e, line);
		if (e.wrong)
			printf("# %s: %s\n", e.wrong, line);
	}
	CHECK(!e.wrong);
	free(text);
	json_decref(report);
	json_decref(e.families);
	if (series)
		*series = e.series;
	else
		json_decref(e.series);
	return e.samples;
}

#define NOTE_OF_SPEED	"onramp_doctor_findings{code=\"SPEED_UNKNOWN\",severity=\"note\"}"

static void metrics_are_what_prometheus_reads(void)
{
	static const char * const stats[] = {
#define ONRAMP_X(NAME, name, ...)	#name,
		ONRAMP_STATS
#undef ONRAMP_X
	};
	json_t *facts = load("healthy.json"), *now = json_object_get(facts, "now");
	json_t *qdiscs, *series, *q, *bus;
	unsigned int few, many, per_device = 0;
	const char *key;
	json_t *v;
	char name[32];
	int i;

	few = exposition_of(facts, &series);
	CHECK(few > 80);
	CHECK(json_object_get(series, "onramp_qdisc_pauses_total{device=\"eth0\"}"));
	CHECK(json_object_get(series, "onramp_qdisc_paused_seconds_total{device=\"eth0\"}"));
	CHECK(json_object_get(series, "onramp_path_peers{state=\"silent\"}"));
	CHECK(json_object_get(series, "onramp_net_subscribes_total"));
	CHECK(json_object_get(series, "onramp_acker_ack_limit_cpu_total"));
	CHECK(json_object_get(series, "onramp_acker_subscribers"));
	CHECK(json_object_get(series, "onramp_clock_map_age_seconds{clock=\"phc0\"}"));
	CHECK(json_object_get(series, "onramp_port_forward_guard"));
	CHECK(!json_object_get(series, NOTE_OF_SPEED));
	json_decref(series);

	/* Alerts are not for what is no fault. */
	q = json_object_get(json_object_get(now, "devices"), "eth0");
	v = json_incref(json_object_get(q, "speed_mbit"));
	json_object_del(q, "speed_mbit");
	j_set(q, "driver", json_string("ena"));
	exposition_of(facts, &series);
	CHECK(json_object_get(series, NOTE_OF_SPEED));
	json_decref(series);
	json_object_del(q, "driver");
	json_object_set_new(q, "speed_mbit", v);

	/* All statistics that there are, 64 queues and 1000 peers: as many series. */
	qdiscs = json_object_get(json_object_get(json_object_get(now, "devices"), "eth0"),
				 "qdiscs");
	q = json_object_get(qdiscs, "1:1");
	for (i = 0; i < (int)ARRAY_SIZE(stats); i++)
		j_set(json_object_get(q, "stats"), stats[i], json_integer(1));
	bus = json_object_get(json_object_get(now, "nic_ts"), "eth0");
	for (i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "Counter%d", i);
		j_set(bus, name, json_integer(i));
	}
	few = exposition_of(facts, NULL);
	for (i = 3; i <= 64; i++) {
		snprintf(name, sizeof(name), "1:%x", i);
		json_object_set_new(qdiscs, name, json_deep_copy(q));
	}
	for (i = 0; i < 1000; i++)
		json_array_append_new(json_object_get(now, "peers"),
				      json_pack("{s:s, s:s}", "remote", "x", "state", "asked"));
	many = exposition_of(facts, &series);
	CHECK_EQ(many, few);
	CHECK(json_object_get(series, "onramp_net_forward_yields_total"));
	CHECK(json_object_get(series, "onramp_net_seeds_refused_total"));
	json_object_foreach(series, key, v)
		per_device += !!strstr(key, "device=\"eth0\"");
	printf("# series of a device: %u\n", per_device);
	CHECK(per_device > 80 && per_device <= 200);
	json_decref(series);
	json_decref(facts);
}

static void strange_names_are_escaped(void)
{
	json_t *facts = load("healthy.json"), *now = json_object_get(facts, "now"), *series;
	json_t *devices = json_object_get(now, "devices");

	json_object_set(devices, "a\"b\\c", json_object_get(devices, "eth0"));
	exposition_of(facts, &series);
	CHECK(json_object_get(series,
			      "onramp_qdisc_pauses_total{device=\"a\\\"b\\\\c\"}"));
	json_decref(series);
	json_decref(facts);
}

static void metrics_of_damaged_facts(void)
{
	json_t *healthy = load("healthy.json"), *facts;
	int i, k;

	for (i = 0; i < 300; i++) {
		facts = json_deep_copy(healthy);
		for (k = 0; k < 1 + i % 20; k++)
			damage(facts);
		exposition_of(facts, NULL);
		json_decref(facts);
	}
	json_decref(healthy);
}

static const char tracking[] =
	"7F000001,127.0.0.1,6,1.5,-0.000001356,0,0,0.017,0,0.119,0.000006798,0.00000064,1,Normal\n";

static const char source_list[] =
	"^,*,10.0.0.1,5,-2,377,0,0.000000363,0.000000355,0.000003821\n"
	"#,x,PPS0,0,4,17,4294967295,-0.000100000,-0.0001,0.000200000\n";

/* Of pmc, for a host that follows another one. */
static const char ptp_text[] =
	"sending: GET TIME_STATUS_NP\n"
	"\t4e052a.fffe.3154c5-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP\n"
	"\t\tmaster_offset              -1003\n"
	"\t\tlastGmPhaseChange          0x0000'0000000000000000.0000\n"
	"\t\tgmPresent                  true\n"
	"\t\tgmIdentity                 b68c72.fffe.e384d7\n"
	"\t4e052a.fffe.3154c5-1 seq 1 RESPONSE MANAGEMENT PORT_DATA_SET\n"
	"\t\tportIdentity            4e052a.fffe.3154c5-1\n"
	"\t\tportState               PRE_MASTER\n"
	"\t4e052a.fffe.3154c5-2 seq 1 RESPONSE MANAGEMENT PORT_DATA_SET\n"
	"\t\tportIdentity            4e052a.fffe.3154c5-2\n"
	"\t\tportState               SLAVE\n"
	"\t4e052a.fffe.3154c5-0 seq 2 RESPONSE MANAGEMENT CURRENT_DATA_SET\n"
	"\t\tstepsRemoved     1\n"
	"\t\tmeanPathDelay    2696.0\n";

static void reports_of_chronyc(void)
{
	json_t *o = clock_tracking(tracking), *rows = clock_sources(source_list);

	CHECK(j_is(o, "reference", "127.0.0.1"));
	CHECK_EQ(j_int_or(o, "stratum", 0), 6);
	/* It is to be slowed: it is ahead. */
	CHECK_EQ(j_int_or(o, "offset_ns", 0), 1356);
	CHECK_EQ(j_int_or(o, "error_ns", 0), 1356 + 6798 / 2 + 640);
	CHECK_EQ(j_int_or(o, "frequency_ppb", 0), 17);
	CHECK_EQ(j_int_or(o, "skew_ppb", 0), 119);
	json_decref(o);
	CHECK_EQ(json_array_size(rows), 2);
	o = json_array_get(rows, 0);
	CHECK(j_is(o, "kind", "server") && j_is(o, "state", "selected"));
	CHECK_EQ(j_int_or(o, "answers", 0), 8);
	CHECK_EQ(j_int_or(o, "age_s", -1), 0);
	CHECK(json_real_value(j_get(o, "poll_s")) == 0.25);
	o = json_array_get(rows, 1);
	CHECK(j_is(o, "kind", "refclock") && j_is(o, "state", "falseticker"));
	CHECK_EQ(j_int_or(o, "answers", 0), 4);
	CHECK(!j_get(o, "age_s"));
	CHECK_EQ(j_int_or(o, "offset_ns", 0), -100000);
	json_decref(rows);
	CHECK(!clock_tracking("506 Cannot talk to daemon\n"));
	rows = clock_sources("");
	CHECK_EQ(json_array_size(rows), 0);
	json_decref(rows);
}

static void reports_of_pmc(void)
{
	static const char self[] =
		"\ta-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP\n\t\tgmIdentity a\n"
		"\ta-1 seq 1 RESPONSE MANAGEMENT PORT_DATA_SET\n\t\tportIdentity a-1\n"
		"\t\tportState MASTER\n";
	json_t *o = clock_ptp(ptp_text);

	CHECK(j_is(o, "state", "slave"));
	CHECK(j_is(o, "grandmaster", "b68c72.fffe.e384d7"));
	CHECK_EQ(j_int_or(o, "offset_ns", 0), -1003);
	CHECK_EQ(j_int_or(o, "path_delay_ns", 0), 2696);
	CHECK_EQ(json_array_size(j_get(o, "ports")), 2);
	CHECK(j_is(json_array_get(j_get(o, "ports"), 0), "state", "pre master"));
	json_decref(o);
	o = clock_ptp(self);
	CHECK(j_is(o, "state", "grandmaster"));
	json_decref(o);
	/* Without ptp4l it exits as if all was well. */
	CHECK(!clock_ptp("sending: GET TIME_STATUS_NP\n"));
}

static json_t *found_of(bool synchronised)
{
	json_t *found = json_pack("{s:{s:b, s:i}, s:{s:{s:s, s:i}, s:{s:s}}}", "kernel",
				  "synchronised", synchronised, "max_error_us", 9, "maps",
				  "phc0", "state", "valid", "error_ns", 31, "phc1", "state",
				  "unset");

	j_set(found, "chrony", clock_tracking(tracking));
	j_set(found, "ptp", clock_ptp(ptp_text));
	return found;
}

/* Number of problems, after a change of the facts. */
static size_t problems(json_t *found)
{
	json_t *rows = clock_rows(found), *list = clock_problems(rows, found);
	size_t n = json_array_size(list);

	json_decref(list);
	json_decref(rows);
	return n;
}

static void clocks_have_problems(void)
{
	json_t *found = found_of(true);

	CHECK_EQ(problems(found), 0);
	/* The bound is 5395 ns. */
	j_set(found, "promised_error_ns", json_integer(6000));
	CHECK_EQ(problems(found), 0);
	j_set(found, "promised_error_ns", json_integer(5000));
	CHECK_EQ(problems(found), 1);
	j_set(json_object_get(json_object_get(found, "maps"), "phc0"), "state",
	      json_string("stepped"));
	CHECK_EQ(problems(found), 2);
	j_set(json_object_get(found, "ptp"), "state", json_string("listening"));
	CHECK_EQ(problems(found), 3);
	json_decref(found);
	/* A promise of a clock that nobody sets does not hold. */
	found = found_of(false);
	CHECK_EQ(problems(found), 1);
	j_set(found, "promised_error_ns", json_integer(1000000000));
	CHECK_EQ(problems(found), 2);
	json_decref(found);
}

/* The status of onrampd, a second after it was written. */
static void onrampd_has_states(void)
{
	json_t *facts = load("healthy.json"), *found = found_of(true), *path, *rows, *row;
	json_t *status = json_incref(json_object_get(json_object_get(facts, "now"), "onrampd"));
	int64_t now_ns = j_int_or(status, "time_ns", 0) + 1000000000;

	CHECK(!strcmp(clock_onrampd(status, now_ns), "ready"));
	path = json_array_get(json_object_get(status, "paths"), 0);
	j_set(path, "wanted", json_true());
	CHECK(!strcmp(clock_onrampd(status, now_ns), "telling"));
	j_set(found, "onrampd", json_incref(status));
	j_set(found, "monotonic_ns", json_integer(now_ns));
	rows = clock_rows(found);
	row = json_array_get(rows, json_array_size(rows) - 1);
	CHECK(j_is(row, "clock", "paths") && j_is(row, "set_by", "onrampd"));
	CHECK_EQ(j_int_or(row, "error_ns", 0), 1100);
	CHECK_EQ(j_int_or(row, "age_ns", 0), 1000000000);
	CHECK_EQ(problems(found), 0);
	json_decref(rows);
	j_set(path, "reports", json_false());
	CHECK(!strcmp(clock_onrampd(status, now_ns), "alone"));
	CHECK_EQ(problems(found), 1);
	CHECK(!strcmp(clock_onrampd(status, now_ns + 9000000000), "alone"));
	CHECK(!strcmp(clock_onrampd(status, now_ns + 9000000001), "stopped"));
	json_decref(status);
	json_decref(found);
	json_decref(facts);
}

/* Whether waitsync with these words would end. */
static bool reached(const json_t *found, int argc, char **argv)
{
	json_t *rows = clock_rows(found);
	struct wait_for wanted;
	const json_t *row;
	char error[160];
	bool yes;

	CHECK(clock_wanted(argc, argv, &wanted, error, sizeof(error)));
	yes = clock_reached(rows, &wanted, &row);
	json_decref(rows);
	return yes;
}

#define REACHED(found, ...) \
	reached(found, ARRAY_SIZE(((char *[]){ __VA_ARGS__ })), (char *[]){ __VA_ARGS__ })

static void waiting_ends(void)
{
	static char *wrong[][3] = {
		{ "real" }, { "phc" }, { "phcx" }, { "within" }, { "system", "10us" },
		{ "within", "10" }, { "within", "0ns" }, { "within", "-1us" },
		{ "within", "101s" },
		{ "within", "1.5us" }, { "within", "99999999999999999ns" },
		{ "system", "within", "us" },
	};
	json_t *found = found_of(true), *off = found_of(false);
	struct wait_for wanted;
	char error[160];
	size_t i;
	int n;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		for (n = 0; n < 3 && wrong[i][n]; n++)
			;
		*error = '\0';
		CHECK(!clock_wanted(n, wrong[i], &wanted, error, sizeof(error)));
		CHECK(*error);
	}
	CHECK(clock_wanted(0, NULL, &wanted, error, sizeof(error)));
	CHECK(REACHED(found, "system"));
	CHECK(!REACHED(off, "system"));
	CHECK(REACHED(found, "within", "6us"));
	CHECK(!REACHED(found, "within", "5us"));
	CHECK(REACHED(found, "ptp", "within", "1003ns"));
	CHECK(!REACHED(found, "ptp", "within", "1002ns"));
	CHECK(REACHED(found, "phc0", "within", "31ns"));
	CHECK(!REACHED(found, "phc0", "within", "30ns"));
	CHECK(!REACHED(found, "phc1"));
	CHECK(!REACHED(found, "phc2"));
	json_decref(found);
	json_decref(off);
}

/* Reports of another release, or cut off. */
static void damaged_reports_do_no_harm(void)
{
	static const char * const reports[] = { tracking, source_list, ptp_text };
	char text[2048];
	size_t len, k;
	json_t *o;
	int i;

	for (i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "%s", reports[i % 3]);
		len = strlen(text);
		for (k = random_u32() % 8; k; k--)
			text[random_u32() % len] = (char)random_u32();
		text[random_u32() % (len + 1)] = '\0';
		json_decref(clock_tracking(text));
		json_decref(clock_sources(text));
		o = clock_ptp(text);
		if (o)
			CHECK(j_str(o, "state"));
		json_decref(o);
	}
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(healthy_host_has_no_finding),
		KTAP_CASE(each_fault_is_named),
		KTAP_CASE(each_check_has_a_fault),
		KTAP_CASE(what_is_missing_is_no_fault),
		KTAP_CASE(without_modules_it_is_not_known),
		KTAP_CASE(no_fault_is_invented),
		KTAP_CASE(status_says_which_part_acts),
		KTAP_CASE(muting_ends),
		KTAP_CASE(damaged_facts_do_no_harm),
		KTAP_CASE(counters_are_read),
		KTAP_CASE(tables_are_read),
		KTAP_CASE(random_files_do_no_harm),
		KTAP_CASE(periods),
		KTAP_CASE(names_are_cleaned),
		KTAP_CASE(filters),
		KTAP_CASE(unknown_is_not_0),
		KTAP_CASE(wrong_filters_are_refused),
		KTAP_CASE(random_filters_do_no_harm),
		KTAP_CASE(values_are_written_short),
		KTAP_CASE(rows_of_devices_and_peers),
		KTAP_CASE(rows_with_rates),
		KTAP_CASE(reasons_have_shares),
		KTAP_CASE(samples_are_counted),
		KTAP_CASE(a_black_hole_is_no_slow_receiver),
		KTAP_CASE(a_timeout_is_loss_from_the_last_ack_on),
		KTAP_CASE(percents_add_up),
		KTAP_CASE(the_busiest_are_found),
		KTAP_CASE(metrics_are_what_prometheus_reads),
		KTAP_CASE(strange_names_are_escaped),
		KTAP_CASE(metrics_of_damaged_facts),
		KTAP_CASE(reports_of_chronyc),
		KTAP_CASE(reports_of_pmc),
		KTAP_CASE(clocks_have_problems),
		KTAP_CASE(onrampd_has_states),
		KTAP_CASE(waiting_ends),
		KTAP_CASE(damaged_reports_do_no_harm),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
