// SPDX-License-Identifier: GPL-2.0
/*
 * Unit tests of dcload's pure parts, in KTAP.
 */
#include <arpa/inet.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/netlink.h>
#include <linux/tcp.h>

#include "../dcload.h"
#include "../dist.h"
#include "../hist.h"
#include "../stats.h"
#include "../tstamp.h"
#include "../workload.h"
#include "json.h"
#include "parse.h"

static bool test_failed;

#define CHECK(cond) do {						\
	if (!(cond)) {							\
		printf("# %s:%d: %s\n", __FILE__, __LINE__, #cond);	\
		test_failed = true;					\
	}								\
} while (0)

static bool near(double a, double b, double relative)
{
	return fabs(a - b) <= relative * fabs(b);
}

static void hist_index__buckets_touch(void)
{
	unsigned int i;

	CHECK(hist_lower(0) == 0);
	for (i = 0; i < HIST_BUCKETS - 1; i++) {
		CHECK(hist_upper(i) == hist_lower(i + 1));
		CHECK(hist_index(hist_lower(i)) == i);
		CHECK(hist_index(hist_upper(i) - 1) == i);
	}
	CHECK(hist_upper(HIST_BUCKETS - 1) == 1ULL << HIST_MAX_BITS);
	CHECK(hist_index((1ULL << HIST_MAX_BITS) - 1) == HIST_BUCKETS - 1);
	CHECK(hist_index(1ULL << HIST_MAX_BITS) == HIST_BUCKETS - 1);
	CHECK(hist_index(UINT64_MAX) == HIST_BUCKETS - 1);
}

static void hist_index__error_below_one_percent(void)
{
	uint64_t v;

	for (v = 1; v < 1ULL << HIST_MAX_BITS; v += v / 977 + 1) {
		unsigned int i = hist_index(v);
		double mid = (double)(hist_lower(i) + hist_upper(i) - 1) / 2;

		CHECK(near(mid, (double)v, 0.005));
	}
}

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void hist_quantile__matches_sorting(void)
{
	static const double qs[] = { 0.001, 0.25, 0.5, 0.9, 0.99, 0.999 };
	static uint64_t v[100000];
	struct hist *h = xcalloc(1, sizeof(*h));
	struct rng rng = { .state = 42 };
	double sum = 0;
	size_t i;

	hist_init(h);
	for (i = 0; i < ARRAY_SIZE(v); i++) {
		/* Over nine decades. */
		v[i] = (uint64_t)pow(10, 1 + 9 * (double)rng_below(&rng, 1000000) / 1e6);
		hist_add(h, v[i]);
		sum += (double)v[i];
	}
	qsort(v, ARRAY_SIZE(v), sizeof(v[0]), compare_u64);
	for (i = 0; i < ARRAY_SIZE(qs); i++) {
		size_t rank = (size_t)ceil(qs[i] * (double)ARRAY_SIZE(v));

		CHECK(near(hist_quantile(h, qs[i]), (double)v[rank - 1], 0.01));
	}
	CHECK(hist_quantile(h, 0) == (double)v[0]);
	CHECK(hist_quantile(h, 1) == (double)v[ARRAY_SIZE(v) - 1]);
	CHECK(near(hist_mean(h), sum / (double)ARRAY_SIZE(v), 1e-9));
	free(h);
}

static void hist_quantile__edges(void)
{
	struct hist *h = xcalloc(1, sizeof(*h));

	hist_init(h);
	CHECK(hist_quantile(h, 0.5) == 0);
	CHECK(hist_mean(h) == 0);
	hist_add(h, 100);
	CHECK(hist_quantile(h, 0) == 100);
	CHECK(hist_quantile(h, 0.5) == 100);
	CHECK(hist_quantile(h, 1) == 100);
	hist_add(h, UINT64_MAX);
	CHECK(h->max == UINT64_MAX);
	CHECK(hist_quantile(h, 0.99) == (double)UINT64_MAX);
	free(h);
}

static void jain_index__known_values(void)
{
	static const double same[] = { 5, 5, 5, 5 }, one[] = { 0, 7, 0, 0 };
	static const double mixed[] = { 1, 2, 3 }, zero[] = { 0, 0 };

	CHECK(near(jain_index(same, 4), 1, 1e-12));
	CHECK(near(jain_index(one, 4), 0.25, 1e-12));
	CHECK(near(jain_index(mixed, 3), 36.0 / 42, 1e-12));
	CHECK(isnan(jain_index(zero, 2)));
	CHECK(isnan(jain_index(NULL, 0)));
}

static void rng__same_seed_same_numbers(void)
{
	struct rng a = { .state = 7 }, b = { .state = 7 }, c = { .state = 8 };
	int i, differ = 0;

	for (i = 0; i < 100; i++) {
		uint64_t v = rng_below(&a, 1000);

		CHECK(v < 1000);
		CHECK(v == rng_below(&b, 1000));
		differ += v != rng_below(&c, 1000);
	}
	CHECK(differ > 90);
}

static void parse_u64__range_and_rubbish(void)
{
	static const char *const bad[] = {
		"", " 5", "+5", "-5", "5x", "0x5", "5.0", "18446744073709551616",
		"4", "101",
	};
	uint64_t v = 77;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!parse_u64(bad[i], 5, 100, &v));
	CHECK(v == 77);
	CHECK(parse_u64("5", 5, 100, &v) && v == 5);
	CHECK(parse_u64("100", 5, 100, &v) && v == 100);
	CHECK(parse_u64("18446744073709551615", 0, UINT64_MAX, &v) &&
	      v == UINT64_MAX);
}

static void parse_seconds__fractions(void)
{
	static const char *const bad[] = {
		"", ".", "-1", "1e3", "1s", "inf", "nan", "0x1", "3601", "0.0005",
	};
	uint64_t v = 77;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!parse_seconds(bad[i], 0.001, 3600, &v));
	CHECK(v == 77);
	CHECK(parse_seconds("1", 0, 10, &v) && v == NSEC_PER_SEC);
	CHECK(parse_seconds("0.25", 0, 10, &v) && v == 250 * NSEC_PER_MSEC);
	CHECK(parse_seconds(".5", 0, 10, &v) && v == 500 * NSEC_PER_MSEC);
	CHECK(parse_seconds("3600", 0, 3600, &v) && v == 3600 * NSEC_PER_SEC);
}

static void parse_size__suffixes(void)
{
	uint64_t v = 77;

	CHECK(!parse_size("0", &v));
	CHECK(!parse_size("1T", &v));
	CHECK(!parse_size("K", &v));
	CHECK(!parse_size("1e3", &v));
	CHECK(!parse_size("9007199254740993G", &v));
	CHECK(v == 77);
	CHECK(parse_size("1", &v) && v == 1);
	CHECK(parse_size("64K", &v) && v == 65536);
	CHECK(parse_size("64k", &v) && v == 65536);
	CHECK(parse_size("1.5M", &v) && v == 1572864);
	CHECK(parse_size("2G", &v) && v == 2147483648ULL);
}

static void parse_bitrate__suffixes(void)
{
	uint64_t v = 77;

	CHECK(!parse_bitrate("10m", &v));
	CHECK(!parse_bitrate("0mbit", &v));
	CHECK(v == 77);
	CHECK(parse_bitrate("1000", &v) && v == 1000);
	CHECK(parse_bitrate("8bit", &v) && v == 8);
	CHECK(parse_bitrate("20kbit", &v) && v == 20000);
	CHECK(parse_bitrate("1.5mbit", &v) && v == 1500000);
	CHECK(parse_bitrate("100GBIT", &v) && v == 100000000000ULL);
}

static void parse_endpoint__forms(void)
{
	static const char *const bad[] = {
		"", "host", "1.2.3", "1.2.3.4:", "1.2.3.4:0", "1.2.3.4:65536",
		"[1.2.3.4]:80", "[::1", "[::1]x", "[::1]:", "fe80::1%",
		"fe80::1%name-longer-than-a-device", "1.2.3.4%eth0", "::g",
	};
	struct endpoint ep;
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!parse_endpoint(bad[i], &ep));

	CHECK(parse_endpoint("192.0.2.1", &ep));
	CHECK(ep.family == AF_INET && ep.port == 0);
	CHECK(ep.v4.s_addr == htonl(0xc0000201));
	CHECK(parse_endpoint("192.0.2.1:99", &ep) && ep.port == 99);
	CHECK(parse_endpoint("2001:db8::1", &ep));
	CHECK(ep.family == AF_INET6 && ep.port == 0);
	CHECK(inet_ntop(AF_INET6, &ep.v6, text, sizeof(text)) &&
	      !strcmp(text, "2001:db8::1"));
	CHECK(parse_endpoint("[2001:db8::1]:5001", &ep) && ep.port == 5001);
	CHECK(parse_endpoint("fe80::1%eth0", &ep) && !strcmp(ep.scope, "eth0"));
	CHECK(parse_endpoint("[fe80::1%eth0]:7", &ep) && ep.port == 7 &&
	      !strcmp(ep.scope, "eth0") && !strcmp(ep.text, "fe80::1"));
	CHECK(parse_endpoint("::ffff:192.0.2.1", &ep) && ep.family == AF_INET6);
}

static void parse_list__items(void)
{
	char **items;
	size_t n, i;

	CHECK(!parse_list("", ',', &n));
	CHECK(!parse_list("a,,b", ',', &n));
	CHECK(!parse_list("a,", ',', &n));
	items = parse_list("a,bc,d", ',', &n);
	CHECK(items && n == 3 && !strcmp(items[1], "bc"));
	for (i = 0; items && i < n; i++)
		free(items[i]);
	free(items);
}

static enum rtt_verdict acked(struct rtt_tracker *t, uint32_t id, uint32_t retrans,
			      uint64_t ns, uint64_t *rtt, unsigned int *lost)
{
	struct rtt_event ev = { RTT_EV_ACK, id, { .retrans = retrans }, ns };
	struct rtt_sample sample = { .rtt_ns = *rtt };
	enum rtt_verdict verdict = rtt_acked(t, &ev, &sample, lost);

	*rtt = sample.rtt_ns;
	return verdict;
}

static void transmitted(struct rtt_tracker *t, uint32_t id, uint32_t retrans,
			uint64_t ns)
{
	struct rtt_event ev = { RTT_EV_TX, id, { .retrans = retrans }, ns };

	rtt_transmitted(t, &ev);
}

static void rtt_acked__plain_sample(void)
{
	struct rtt_tracker t = { 0 };
	unsigned int lost;
	uint64_t rtt = 0;

	CHECK(rtt_expect(&t, 999) == 0);
	transmitted(&t, 999, 3, 1000);
	CHECK(acked(&t, 999, 3, 51000, &rtt, &lost) == RTT_VALID);
	CHECK(rtt == 50000 && lost == 0 && t.count == 0);
	CHECK(acked(&t, 999, 3, 51000, &rtt, &lost) == RTT_UNKNOWN);
}

static void rtt_acked__retransmission_excluded(void)
{
	struct rtt_tracker t = { 0 };
	unsigned int lost;
	uint64_t rtt = 0;

	/* The byte itself, sent twice. */
	rtt_expect(&t, 1);
	transmitted(&t, 1, 0, 1000);
	transmitted(&t, 1, 0, 2000);
	CHECK(acked(&t, 1, 0, 3000, &rtt, &lost) == RTT_RETRANS);
	/* Something before it. */
	rtt_expect(&t, 2);
	transmitted(&t, 2, 0, 1000);
	CHECK(acked(&t, 2, 1, 3000, &rtt, &lost) == RTT_RETRANS);
	/* Before it was sent: no harm. */
	rtt_expect(&t, 3);
	transmitted(&t, 3, 1, 1000);
	CHECK(acked(&t, 3, 1, 3000, &rtt, &lost) == RTT_VALID);
	CHECK(rtt == 2000);
}

static void rtt_acked__lost_stamps(void)
{
	struct rtt_tracker t = { 0 };
	unsigned int lost, i;
	uint64_t rtt = 0;

	/* ACK stamps of 1 and 2 never come. */
	for (i = 1; i <= 4; i++) {
		rtt_expect(&t, i);
		transmitted(&t, i, 0, i);
	}
	CHECK(acked(&t, 3, 0, 100, &rtt, &lost) == RTT_VALID);
	CHECK(lost == 2 && t.count == 1 && rtt == 97);
	CHECK(acked(&t, 4, 0, 100, &rtt, &lost) == RTT_VALID && lost == 0);
	/* No transmit stamp; a clock set back. */
	rtt_expect(&t, 5);
	CHECK(acked(&t, 5, 0, 100, &rtt, &lost) == RTT_NO_TX);
	rtt_expect(&t, 6);
	transmitted(&t, 6, 0, 200);
	CHECK(acked(&t, 6, 0, 100, &rtt, &lost) == RTT_UNKNOWN);
}

static void rtt_acked__marks_of_the_round_trip(void)
{
	/* Of two counters one wraps. */
	struct rtt_event sent = { RTT_EV_TX, 9, { 1, UINT32_MAX - 1, 40 }, 1000 };
	struct rtt_event ack = { RTT_EV_ACK, 9, { 1, 5, 43 }, 3000 };
	struct rtt_tracker t = { 0 };
	struct rtt_sample s;
	unsigned int lost;

	rtt_expect(&t, 9);
	rtt_transmitted(&t, &sent);
	CHECK(rtt_acked(&t, &ack, &s, &lost) == RTT_VALID);
	CHECK(s.rtt_ns == 2000 && s.delivered == 7 && s.delivered_ce == 3);
}

static void put_attr(char **at, uint16_t type, const void *value, uint16_t len)
{
	struct nlattr nla = { .nla_len = NLA_HDRLEN + len, .nla_type = type };

	memcpy(*at, &nla, sizeof(nla));
	memcpy(*at + NLA_HDRLEN, value, len);
	*at += NLA_ALIGN(nla.nla_len);
}

static void rtt_read_stats__finds_all(void)
{
	uint32_t retrans = 3, delivered = 1000, delivered_ce = 70;
	struct rtt_stats s = { 9, 9, 9 };
	char attrs[128] = { 0 }, *at = attrs;
	uint64_t busy = 12345678901;
	uint8_t ttl = 63;
	size_t len;

	put_attr(&at, TCP_NLA_BUSY, &busy, sizeof(busy));
	put_attr(&at, TCP_NLA_TOTAL_RETRANS, &retrans, sizeof(retrans));
	put_attr(&at, TCP_NLA_TTL, &ttl, sizeof(ttl));
	put_attr(&at, TCP_NLA_DELIVERED, &delivered, sizeof(delivered));
	len = (size_t)(at - attrs);
	put_attr(&at, TCP_NLA_DELIVERED_CE, &delivered_ce, sizeof(delivered_ce));
	rtt_read_stats(attrs, (size_t)(at - attrs), &s);
	CHECK(s.retrans == 3 && s.delivered == 1000 && s.delivered_ce == 70);
	/* What was cut off is not read. */
	rtt_read_stats(attrs, len + NLA_HDRLEN + 2, &s);
	CHECK(s.retrans == 3 && s.delivered == 1000 && s.delivered_ce == 0);
	rtt_read_stats(attrs, 0, &s);
	CHECK(s.retrans == 0 && s.delivered == 0 && s.delivered_ce == 0);
}

static void rtt_expect__full_forgets_oldest(void)
{
	struct rtt_tracker t = { 0 };
	unsigned int lost, i;
	uint64_t rtt = 0;

	for (i = 0; i < RTT_PENDING; i++) {
		CHECK(rtt_room(&t));
		CHECK(rtt_expect(&t, i) == 0);
	}
	CHECK(!rtt_room(&t));
	CHECK(rtt_expect(&t, RTT_PENDING) == 1);
	CHECK(acked(&t, 0, 0, 1, &rtt, &lost) == RTT_UNKNOWN);
	transmitted(&t, RTT_PENDING, 0, 1);
	CHECK(acked(&t, RTT_PENDING, 0, 5, &rtt, &lost) == RTT_VALID);
	CHECK(lost == RTT_PENDING - 1 && t.count == 0);
}

static void json__written_is_read(void)
{
	struct json_writer w;
	struct json_value *v;
	char text[1024];
	size_t at;
	FILE *f;

	f = fmemopen(text, sizeof(text), "w");
	if (!f)
		die("fmemopen failed");
	json_begin(&w, f);
	json_open(&w, NULL, '{', false);
	json_string(&w, "name", "a\"b\\c\n\x01");
	json_double(&w, "none", NAN);
	json_double(&w, "half", 0.5);
	json_u64(&w, "big", UINT64_MAX);
	json_open(&w, "list", '[', true);
	json_open(&w, NULL, '[', true);
	json_u64(&w, NULL, 1);
	json_u64(&w, NULL, 2);
	json_close(&w, ']');
	json_open(&w, NULL, '{', true);
	json_bool(&w, "yes", true);
	json_close(&w, '}');
	json_close(&w, ']');
	json_open(&w, "empty", '{', false);
	json_close(&w, '}');
	json_close(&w, '}');
	json_finish(&w);
	fclose(f);

	v = json_parse(text, strlen(text), &at);
	CHECK(v);
	if (!v)
		return;
	CHECK(!strcmp(json_path(v, "name")->text, "a\"b\\c\n\x01"));
	CHECK(json_path(v, "none")->type == JSON_NULL);
	CHECK(!strcmp(json_path(v, "half")->text, "0.5"));
	CHECK(!strcmp(json_path(v, "big")->text, "18446744073709551615"));
	CHECK(!strcmp(json_path(v, "list.0.1")->text, "2"));
	CHECK(json_path(v, "list.1.yes")->type == JSON_TRUE);
	CHECK(json_path(v, "empty")->type == JSON_OBJECT);
	CHECK(!json_path(v, "list.2"));
	CHECK(!json_path(v, "nam"));
	CHECK(!json_path(v, "half.x"));
	CHECK(json_path(v, "") == v);
	json_free(v);
}

static void json_parse__rejects(void)
{
	static const char *const bad[] = {
		"", "{", "[1,]", "{\"a\":}", "{\"a\" 1}", "{a:1}", "[1 2]", "01x",
		"tru", "\"abc", "\"\\q\"", "\"\\u12\"", "1.", "-", "[1]]", "\"\\",
		"1e", "{\"a\":1,}",
	};
	char deep[4096];
	size_t i, at;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK(!json_parse(bad[i], strlen(bad[i]), &at));
	memset(deep, '[', sizeof(deep));
	CHECK(!json_parse(deep, sizeof(deep), &at));
}

/* Sizes -------------------------------------------------------------------- */

static const char *const builtin_names[] = {
	"websearch", "fb-hadoop", "googlerpc", "webserver", "cachefollower",
	"hadoop",
};

/*
 * HPCC's two are sums over their knots. The means in Homa's files count ten steps
 * between knots, each at its upper end, so they are a little above ours.
 */
static void dist_mean__as_published(void)
{
	static const double hpcc[] = { 1711250, 120420.75 };
	static const double homa[] = { 440.7907, 62874.27, 692975.6, 127796.6 };
	struct dist d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hpcc); i++) {
		CHECK(dist_builtin(&d, builtin_names[i]));
		CHECK(near(dist_mean(&d), hpcc[i], 1e-9));
	}
	for (i = 0; i < ARRAY_SIZE(homa); i++) {
		CHECK(dist_builtin(&d, builtin_names[2 + i]));
		CHECK(dist_mean(&d) < homa[i] && dist_mean(&d) > 0.95 * homa[i]);
	}
}

static void dist_mean__is_the_integral_of_the_quantiles(void)
{
	const int steps = 2000000;
	struct dist d;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(builtin_names); i++) {
		double sum = 0;
		int k;

		CHECK(dist_builtin(&d, builtin_names[i]));
		for (k = 0; k < steps; k++)
			sum += dist_quantile(&d, (k + 0.5) / steps);
		CHECK(near(dist_mean(&d), sum / steps, 1e-3));
	}
}

static void dist_quantile__hits_the_knots(void)
{
	struct dist d;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(builtin_names); i++) {
		CHECK(dist_builtin(&d, builtin_names[i]));
		CHECK(d.knots[d.n - 1].cumulative == 1);
		for (k = 0; k < d.n; k++) {
			CHECK(near(dist_quantile(&d, d.knots[k].cumulative),
				   d.knots[k].bytes, 1e-9));
			CHECK(!k || d.knots[k].bytes > d.knots[k - 1].bytes);
			CHECK(!k || d.knots[k].cumulative >
				    d.knots[k - 1].cumulative);
		}
	}
}

/*
 * Chi-square over the knots' intervals: with n - 1 degrees of freedom its mean is
 * n - 1 and its variance 2 (n - 1); five standard deviations are never seen.
 */
static void dist_sample__follows_the_distribution(void)
{
	const int samples = 200000;
	struct rng r, same;
	struct dist d;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(builtin_names); i++) {
		double chi2 = 0, freedom = -1, p;
		uint64_t *seen;
		int n;

		CHECK(dist_builtin(&d, builtin_names[i]));
		seen = xcalloc(d.n, sizeof(*seen));
		rng_seed(&r, 7, i, 0);
		same = r;
		for (n = 0; n < samples; n++) {
			double bytes = dist_quantile(&d, rng_uniform(&r));

			CHECK(near((double)dist_sample(&d, &same), bytes,
				   0.5 / bytes + 1e-9) || bytes < 1);
			for (k = 0; bytes > d.knots[k].bytes; k++)
				;
			seen[k]++;
		}
		for (k = 0; k < d.n; k++) {
			p = d.knots[k].cumulative -
			    (k ? d.knots[k - 1].cumulative : 0);
			if (p * samples < 5)
				continue;
			chi2 += pow((double)seen[k] - p * samples, 2) / (p * samples);
			freedom++;
		}
		CHECK(chi2 < freedom + 5 * sqrt(2 * freedom));
		CHECK(chi2 > freedom - 5 * sqrt(2 * freedom));
		free(seen);
	}
}

static void dist_parse__sizes_and_ranges(void)
{
	char err[256];
	struct dist d;
	struct rng r;
	int i;

	CHECK(dist_parse(&d, "2000", err, sizeof(err)));
	rng_seed(&r, 1, 0, 0);
	CHECK(dist_sample(&d, &r) == 2000 && dist_mean(&d) == 2000);
	dist_free(&d);
	CHECK(dist_parse(&d, "16K-128K", err, sizeof(err)));
	CHECK(dist_mean(&d) == 72 * 1024);
	for (i = 0; i < 1000; i++) {
		uint64_t bytes = dist_sample(&d, &r);

		CHECK(bytes >= 16384 && bytes <= 131072);
	}
	dist_free(&d);
	CHECK(dist_parse(&d, "FB_Hadoop", err, sizeof(err)));
	CHECK(!strcmp(d.name, "fb-hadoop"));
	CHECK(!dist_parse(&d, "128K-16K", err, sizeof(err)));
	CHECK(!dist_parse(&d, "webfetch", err, sizeof(err)));
	CHECK(strstr(err, "websearch, fb-hadoop"));
	CHECK(!dist_parse(&d, "/nonexistent/sizes", err, sizeof(err)));
	CHECK(strstr(err, "cannot read /nonexistent/sizes"));
}

static void dist_parse_text__files(void)
{
	static const struct {
		const char *text, *wrong;
	} bad[] = {
		{ "", "last line" },
		{ "100 0.5\n", "last line" },
		{ "100 0.5\n200 0.4\n300 1\n", "line 2: cumulative" },
		{ "100 0.5\n100 1\n", "line 2: sizes" },
		{ "# sizes\n\n100\n", "line 3: expected a size and" },
		{ "100 1 1\n", "line 1: expected a size and" },
		{ "-1 0\n100 1\n", "line 1: a size must" },
		{ "nan 0\n100 1\n", "line 1: a size must" },
		{ "1 -0.5\n100 1\n", "line 1: a probability" },
	};
	char err[256];
	struct dist d;
	size_t i;

	CHECK(dist_parse_text(&d, "# two lines\n100 0.5\n\n300 1 # all\n", err,
			      sizeof(err)));
	CHECK(near(dist_mean(&d), 0.5 * 100 + 0.5 * 200, 1e-12));
	CHECK(dist_quantile(&d, 0.25) == 100 && dist_quantile(&d, 0.75) == 200);
	dist_free(&d);
	CHECK(dist_parse_text(&d, "0 0\n1000 100", err, sizeof(err)));
	CHECK(dist_mean(&d) == 500);
	dist_free(&d);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		CHECK(!dist_parse_text(&d, bad[i].text, err, sizeof(err)));
		CHECK(strstr(err, bad[i].wrong));
	}
}

/* Arrivals ----------------------------------------------------------------- */

/*
 * Of a Poisson process, gaps have the mean asked for and a standard deviation as
 * large, and counts in windows a variance equal to their mean.
 */
static void rng_exponential__arrivals_are_poisson(void)
{
	const int arrivals = 400000, per_window = 20;
	const double mean = 3.5;
	double sum = 0, squares = 0, at = 0, x, y = 0, counts = 0;
	int i, n = 0, windows = 0;
	struct rng r;

	rng_seed(&r, 1, 2, 3);
	for (i = 0; i < arrivals; i++) {
		x = rng_exponential(&r, mean);
		CHECK(x >= 0);
		sum += x;
		squares += x * x;
		for (at += x; at >= mean * per_window; at -= mean * per_window) {
			counts += n;
			y += (double)n * n;
			windows++;
			n = 0;
		}
		n++;
	}
	/* Five standard errors. */
	CHECK(near(sum / arrivals, mean, 5 / sqrt(arrivals)));
	CHECK(near(squares / arrivals, 2 * mean * mean, 5 * sqrt(5.0 / arrivals)));
	x = counts / windows;
	CHECK(near((y / windows - x * x) / x, 1, 5 * sqrt(2.0 / windows)));
}

static void rng_seed__sequences_differ(void)
{
	struct rng a, b;
	int i, same = 0;

	rng_seed(&a, 1, 0, 1);
	rng_seed(&b, 1, 1, 0);
	for (i = 0; i < 1000; i++)
		same += rng_next(&a) == rng_next(&b);
	CHECK(!same);
	rng_seed(&a, 5, 6, 7);
	rng_seed(&b, 5, 6, 7);
	CHECK(rng_next(&a) == rng_next(&b));
}

/* Workloads ---------------------------------------------------------------- */

static void workload_finish__load_is_what_was_asked(void)
{
	const uint64_t link = 10000000000;
	char err[256];
	struct workload w;
	double bytes = 0, ns = 0;
	struct rng r;
	int i;

	CHECK(workload_parse(&w, "poisson:size=websearch,load=0.4", 50, err,
			     sizeof(err)));
	CHECK(workload_finish(&w, link, err, sizeof(err)));
	CHECK(near(w.interval_ns, 1711250 * 8 / 4.0, 1e-9));
	rng_seed(&r, 3, 0, 0);
	for (i = 0; i < 300000; i++) {
		bytes += (double)dist_sample(&w.size, &r);
		ns += rng_exponential(&r, w.interval_ns);
	}
	CHECK(near(bytes * 8 / ns, 4, 0.02));
	CHECK(!workload_finish(&w, 0, err, sizeof(err)));
	CHECK(strstr(err, "--link-rate"));
	workload_free(&w);

	/* 40 answers of 2000 bytes fill 2 % of the client's 10 Gbit/s. */
	CHECK(workload_parse(&w, "incast:fanout=40,size=2000,load=0.02", 50, err,
			     sizeof(err)));
	CHECK(workload_finish(&w, link, err, sizeof(err)));
	CHECK(near(w.interval_ns, 40 * 2000 * 8 / 0.2, 1e-9));
	workload_free(&w);

	/* Four senders share the load of one receiver's link. */
	CHECK(workload_parse(&w, "poisson:size=1000,load=0.5,from=1-4,to=5,at=to",
			     5, err, sizeof(err)));
	CHECK(workload_finish(&w, link, err, sizeof(err)));
	CHECK(near(w.interval_ns, 1000 * 8 / (5 / 4.0), 1e-9));
	workload_free(&w);
}

static void workload_parse__keys(void)
{
	char err[256];
	struct workload w;

	CHECK(workload_parse(&w, "rpc", 3, err, sizeof(err)));
	CHECK(w.request && w.arrivals == ARRIVALS_CLOSED && w.depth == 1);
	CHECK(w.fanout == 1 && w.from.n == 3 && w.n_cc == 1 && !w.cc[0]);
	workload_free(&w);
	CHECK(workload_parse(&w, "rpc:interval=0.001", 3, err, sizeof(err)));
	CHECK(w.arrivals == ARRIVALS_POISSON && w.interval_ns == 1e6);
	workload_free(&w);
	CHECK(workload_parse(&w, "storage:name=disk,from=1-2+4,to=3,cc=bbr+cubic,conn=each,dscp=8,depth=16",
			     4, err, sizeof(err)));
	CHECK(!strcmp(w.name, "disk") && w.from.n == 3 && w.from.host[2] == 3);
	CHECK(w.to.n == 1 && w.to.host[0] == 2 && w.n_cc == 2 && w.each);
	CHECK(!strcmp(w.cc[1], "cubic") && w.dscp == 8 && w.depth == 16);
	CHECK(dist_mean(&w.size) == 72 * 1024);
	workload_free(&w);
	CHECK(workload_parse(&w, "long:depth=2", 2, err, sizeof(err)));
	CHECK(dist_mean(&w.size) == (double)ENDLESS_BYTES);
	workload_free(&w);
}

static void workload_parse__says_what_is_wrong(void)
{
	static const struct {
		const char *spec, *wrong;
	} bad[] = {
		{ "", "unknown kind" },
		{ "bulk", "poisson, incast, rpc, storage or long" },
		{ "poisson:", "an item is empty" },
		{ "poisson:size=1000,,load=1", "an item is empty" },
		{ "poisson:size", "KEY=VALUE" },
		{ "poisson:size=", "KEY=VALUE" },
		{ "poisson:colour=red", "unknown key colour: expected one of name" },
		{ "poisson:load=0.4", "needs a size" },
		{ "poisson:size=big,load=0.4", "websearch" },
		{ "poisson:size=1000", "load=SHARE or interval" },
		{ "poisson:size=1000,load=0", "load=0: expected a share" },
		{ "poisson:size=1000,load=11", "load=11: expected a share" },
		{ "poisson:size=1000,load=0.1,interval=1", "exclude each other" },
		{ "poisson:size=1000,load=0.1,fanout=2", "has no requests" },
		{ "poisson:size=1000,load=0.1,arrivals=often", "poisson, fixed or closed" },
		{ "poisson:size=1000,load=0.1,arrivals=closed", "excludes load" },
		{ "poisson:size=1000,load=0.1,from=0", "from 1 to 4" },
		{ "poisson:size=1000,load=0.1,to=2-5", "from 1 to 4" },
		{ "poisson:size=1000,load=0.1,to=3-2", "from 1 to 4" },
		{ "poisson:size=1000,load=0.1,from=2,to=2", "other hosts" },
		{ "poisson:size=1000,load=0.1,conn=some", "pool or each" },
		{ "poisson:size=1000,load=0.1,conn=each,pool=2", "goes with conn=pool" },
		{ "poisson:size=1000,load=0.1,cc=", "KEY=VALUE" },
		{ "poisson:size=1000,load=0.1,cc=much-too-long-a-name", "1 to 15" },
		{ "poisson:size=1000,load=0.1,dscp=64", "from 0 to 63" },
		{ "poisson:size=1000,load=0.1,start=2,stop=1", "stop must come" },
		{ "incast:size=2000,load=0.1", "needs a fanout" },
		{ "incast:size=2000,load=0.1,fanout=4", "only 3 other hosts" },
		{ "rpc:request=2G", "from 1 to 1G" },
		{ "rpc:depth=0", "from 1 to 65536" },
		{ "long:size=1000", "have no size" },
		{ "long:load=0.5", "never end" },
	};
	char err[256];
	struct workload w;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		*err = '\0';
		CHECK(!workload_parse(&w, bad[i].spec, 4, err, sizeof(err)));
		CHECK(strstr(err, bad[i].wrong));
		if (test_failed) {
			printf("# %s: %s\n", bad[i].spec, err);
			break;
		}
		workload_free(&w);
	}
}

static void workload_pick__others_all_alike(void)
{
	const int rounds = 60000;
	uint16_t servers[MAX_HOSTS];
	int seen[10] = { 0 }, i, k;
	struct workload w;
	struct rng r;
	char err[256];

	CHECK(workload_parse(&w, "incast:size=1,fanout=3,interval=1", 10, err,
			     sizeof(err)));
	rng_seed(&r, 11, 0, 0);
	for (i = 0; i < rounds; i++) {
		CHECK(workload_pick(&w, 4, &r, servers) == 3);
		CHECK(servers[0] != servers[1] && servers[1] != servers[2] &&
		      servers[0] != servers[2]);
		for (k = 0; k < 3; k++)
			seen[servers[k]]++;
	}
	for (i = 0; i < 10; i++)
		CHECK(i == 4 ? !seen[i] : near(seen[i], rounds / 3.0, 0.04));
	workload_free(&w);
}

static void ideal_ns__arithmetic(void)
{
	struct workload w;
	struct ideal ideal;
	char err[256];

	CHECK(ideal_parse(&ideal, "1-2:3:8gbit:20", 3));
	CHECK(ideal.src.n == 2 && ideal.dst.n == 1 && ideal.rtt_ns == 20000);
	CHECK(workload_parse(&w, "poisson:size=1000,load=0.1", 3, err, sizeof(err)));
	CHECK(near(ideal_ns(&ideal, &w, 1000, false), 10000 + 1000, 1e-12));
	CHECK(near(ideal_ns(&ideal, &w, 1000, true), 20000 + 1000, 1e-12));
	w.each = true;
	CHECK(near(ideal_ns(&ideal, &w, 1000, false), 30000 + 1000, 1e-12));
	workload_free(&w);
	CHECK(workload_parse(&w, "rpc:request=500", 3, err, sizeof(err)));
	CHECK(near(ideal_ns(&ideal, &w, 1000, false), 20000 + 1500, 1e-12));
	workload_free(&w);
	free(ideal.src.host);
	free(ideal.dst.host);
	memset(&ideal, 0, sizeof(ideal));
	CHECK(!ideal_parse(&ideal, "1-2:3:8gbit", 3));
	CHECK(!ideal_parse(&ideal, "4:3:8gbit:20", 3));
}

static const struct {
	const char *name;
	void (*run)(void);
} tests[] = {
#define TEST(f)	{ #f, f }
	TEST(hist_index__buckets_touch),
	TEST(hist_index__error_below_one_percent),
	TEST(hist_quantile__matches_sorting),
	TEST(hist_quantile__edges),
	TEST(jain_index__known_values),
	TEST(rng__same_seed_same_numbers),
	TEST(parse_u64__range_and_rubbish),
	TEST(parse_seconds__fractions),
	TEST(parse_size__suffixes),
	TEST(parse_bitrate__suffixes),
	TEST(parse_endpoint__forms),
	TEST(parse_list__items),
	TEST(rtt_acked__plain_sample),
	TEST(rtt_acked__retransmission_excluded),
	TEST(rtt_acked__lost_stamps),
	TEST(rtt_acked__marks_of_the_round_trip),
	TEST(rtt_read_stats__finds_all),
	TEST(rtt_expect__full_forgets_oldest),
	TEST(dist_mean__as_published),
	TEST(dist_mean__is_the_integral_of_the_quantiles),
	TEST(dist_quantile__hits_the_knots),
	TEST(dist_sample__follows_the_distribution),
	TEST(dist_parse__sizes_and_ranges),
	TEST(dist_parse_text__files),
	TEST(rng_exponential__arrivals_are_poisson),
	TEST(rng_seed__sequences_differ),
	TEST(workload_finish__load_is_what_was_asked),
	TEST(workload_parse__keys),
	TEST(workload_parse__says_what_is_wrong),
	TEST(workload_pick__others_all_alike),
	TEST(ideal_ns__arithmetic),
	TEST(json__written_is_read),
	TEST(json_parse__rejects),
};

int main(void)
{
	bool any = false;
	size_t i;

	printf("KTAP version 1\n1..%zu\n", ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		test_failed = false;
		tests[i].run();
		printf("%s %zu %s\n", test_failed ? "not ok" : "ok", i + 1,
		       tests[i].name);
		fflush(stdout);
		any |= test_failed;
	}
	return any;
}
