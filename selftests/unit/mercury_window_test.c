// SPDX-License-Identifier: GPL-2.0
/*
 * mercury_window.h: windows and their times by hand, and against double precision.
 */
#include <string.h>

#include "ktap.h"
#include "mercury_window.h"

static struct mercury_window w;

static void notify__holds_for_its_time(void)
{
	memset(&w, 0, sizeof(w));
	CHECK(!mercury_pass(&w, 1000000000));
	mercury_notify(&w, 30000, 55);
	CHECK_EQ(w.bytes, 30000);
	CHECK(!mercury_pass(&w, 54999));
	CHECK_EQ(w.bytes, 30000);
	CHECK(mercury_pass(&w, 1));
	CHECK_EQ(w.bytes, 0);
	/* It ends once. */
	CHECK(!mercury_pass(&w, 1000000));
}

static void notify__begins_anew(void)
{
	memset(&w, 0, sizeof(w));
	mercury_notify(&w, 30000, 55);
	CHECK(!mercury_pass(&w, 50000));
	mercury_notify(&w, 60000, 55);
	CHECK_EQ(w.bytes, 60000);
	CHECK(!mercury_pass(&w, 54999));
	mercury_notify(&w, 20000, 10);
	CHECK_EQ(w.bytes, 20000);
	CHECK(mercury_pass(&w, 10000));
}

/* Nothing that comes can make it 0, or last longer than a second. */
static void notify__bounds(void)
{
	memset(&w, 0, sizeof(w));
	mercury_notify(&w, 0, 1);
	CHECK_EQ(w.bytes, 1);
	mercury_notify(&w, 0xffffffffU, 0xffffffffU);
	CHECK_EQ(w.bytes, 0xffffffffU);
	CHECK(!mercury_pass(&w, 999999999));
	CHECK(mercury_pass(&w, 1));
	mercury_notify(&w, 1, 1000000);
	CHECK(mercury_pass(&w, 1ULL << 32));
	mercury_notify(&w, 1, 0);
	CHECK(mercury_pass(&w, 0));
}

static void packets__of_the_wire(void)
{
	w = (struct mercury_window){ .bytes = 30000, .hold_ns = 1 };
	CHECK_EQ(mercury_packets(&w, 1538), 19);
	w.bytes = 1538 * 19;
	CHECK_EQ(mercury_packets(&w, 1538), 19);
	w.bytes--;
	CHECK_EQ(mercury_packets(&w, 1538), 18);
	w.bytes = 1537;
	CHECK_EQ(mercury_packets(&w, 1538), 1);
	w.bytes = 0xffffffffU;
	CHECK_EQ(mercury_packets(&w, 1), 0xffffffffU);
}

/* 40 Gbit/s and 24 us: 120000 bytes, 78.02 packets. */
static void initial__rate_times_rtt(void)
{
	CHECK_EQ(mercury_initial(5000000000ULL, 24000, 1538, 0), 79);
	CHECK_EQ(mercury_initial(5000000000ULL, 24000, 1538, 10), 99);
	CHECK_EQ(mercury_initial(5000000000ULL, 24000, 1500, 0), 80);
	CHECK_EQ(mercury_initial(5000000000ULL, 24001, 1500, 0), 81);
	CHECK_EQ(mercury_initial(1000, 1, 1538, 0), 1);
	CHECK_EQ(mercury_initial((1ULL << 38) - 1, 1000000000, 1, 0), 0x7fffffff);
	CHECK_EQ(mercury_initial((1ULL << 38) - 1, 1000000000, 10000, 0), 27487791);
}

static void initial__as_a_product(void)
{
	u64 rate;
	u32 ns;

	for (rate = 1000; rate < 1ULL << 38; rate = rate * 3 + 1) {
		for (ns = 1; ns < 1000000000; ns = ns * 5 / 2 + 1) {
			double bytes = (double)rate * ns / 1e9;
			double got = mercury_initial(rate, ns, 64, 0) * 64.0;

			if (bytes > 1e11)
				continue;
			/* Two divisions round down, by a byte each; one up, by a packet. */
			CHECK(got > bytes - 2 && got < bytes + 64.0001);
		}
	}
}

int main(void)
{
	static const struct ktap_case cases[] = {
		KTAP_CASE(notify__holds_for_its_time),
		KTAP_CASE(notify__begins_anew),
		KTAP_CASE(notify__bounds),
		KTAP_CASE(packets__of_the_wire),
		KTAP_CASE(initial__rate_times_rtt),
		KTAP_CASE(initial__as_a_product),
	};

	return ktap_run(cases, ARRAY_SIZE(cases));
}
