// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: report.h, probe.h, cluster.h and baseline_core.h fed with any messages of hosts
 * that have the key, between paths of a kernel.
 *
 * The first bytes are the paths, then each message has a host and its bytes. What is left is a file
 * of floors; or PROBEs and ECHOs, if the first byte is 255. What must hold, whatever comes:
 *
 *	- a message or file that is read is written the same
 *	- no ECHO is sent but for two PROBEs
 *	- a new seed is below the baseline of the kernel
 *	- a reply has no more lines than it may
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core_user.h"

#include "cluster.h"
#include "fuzz.h"

#define PEERS	4
#define NOW_NS	1000000000000LL
#define LATER_NS (NOW_NS + 2900000000LL)
#define SESSION	77

static struct cluster c;

static void addr_of(unsigned int i, u8 *addr)
{
	memset(addr, 0, 16);
	addr[0] = 0xfc;
	addr[15] = (u8)(i + 1);
}

static void paths(const u8 *data)
{
	unsigned int i;

	memset(&c, 0, sizeof(c));
	cluster_begin(&c);
	for (i = 1; i <= PEERS; i++) {
		struct cluster_path p = {
			.known = data[i] & 1, .state = data[i] >> 1 & 7, .domain = (u8)i,
			.at_ns = NOW_NS - data[0] * 1000000LL, .slope = (int8_t)data[5] * 5000,
			.baseline_ns = (int8_t)data[i] * 100000LL, .error_ns = data[6] * 100,
			.payload = data[7] * 8, .rate_mbit = 10000, .least_ns = data[8] * -1000LL,
		};

		addr_of(0, p.local);
		addr_of(i, p.remote);
		REQUIRE(cluster_path(&c, &p));
	}
	if (data[9] & 1)
		cluster_own_clock(&c, 9, (int8_t)data[9] * 1000000LL);
	cluster_end(&c);
}

static void message(unsigned int from, const u8 *bytes)
{
	struct cluster_host *host;
	u8 addr[16], again[REPORT_LEN] = { 0 };
	struct report r, same;
	u8 msg[REPORT_LEN];

	memcpy(msg, bytes, REPORT_LEN);
	if (!report_decode(msg, REPORT_LEN, &r))
		return;
	REQUIRE(r.n <= REPORT_LINES);
	report_encode(&r, again);
	REQUIRE(report_decode(again, REPORT_LEN, &same));
	REQUIRE(same.session == r.session && same.count == r.count && same.n == r.n);
	REQUIRE(!r.n || !memcmp(&same.line[r.n - 1].addr, &r.line[r.n - 1].addr, 16));
	addr_of(1 + from % PEERS, addr);
	host = cluster_find(&c, addr);
	REQUIRE(host);
	cluster_report(host, &r, SESSION, from % 3 ? 1 : REPORT_HOPS_UNKNOWN, NOW_NS);
}

static void file(const u8 *data, size_t size)
{
	char text[REPORT_LEN + 1], again[FLOORS_TEXT];
	struct floors same;

	memcpy(text, data, size);
	text[size] = 0;
	if (floors_parse(text, 1000, 1000000, &c.floors))
		return;
	floors_print(&c.floors, 1000, 1000000, again);
	REQUIRE(!floors_parse(again, 1000, 1000000, &same));
	REQUIRE(same.n <= c.floors.n);
	REQUIRE(same.n < c.floors.n || !same.n ||
		!memcmp(&same.floor[0].ns, &c.floors.floor[0].ns, sizeof(same.floor[0].ns)));
}

/* Each has a byte that says which host, and whether a pair to it is sent before. */
static void probes(const u8 *data, size_t size)
{
	unsigned int heard[PEERS] = { 0 }, echoes[PEERS] = { 0 }, n = 0;

	for (; size > PROBE_SIGNED; data += PROBE_SIGNED + 1, size -= PROBE_SIGNED + 1, n++) {
		struct probe_way *w = &c.host[data[0] % PEERS].probe;
		struct probe p, out = { .session = SESSION }, same;
		u8 msg[PROBE_LEN] = { 0 }, again[PROBE_LEN] = { 0 };
		s64 now = LATER_NS - 2000000000LL + n * 30000000LL;
		bool valid = false;

		if (data[0] & 4) {
			probe_send(w, &out, 5);
			probe_left(w, out.count, 0, now);
			probe_left(w, out.count, 1, now + (data[0] >> 3) * 200);
		}
		memcpy(msg, data + 1, PROBE_SIGNED);
		if (!probe_decode(msg, probe_len(msg[5]), &p))
			continue;
		probe_encode(&p, again);
		REQUIRE(probe_decode(again, probe_len(p.kind), &same));
		REQUIRE(same.count == p.count && same.time_ns[1] == p.time_ns[1]);
		if (p.kind == PROBE_ECHO) {
			probe_echoed(w, &p, 1000, SESSION);
			continue;
		}
		if (probe_heard(w, &p, 1000, SESSION, now, 5, &out, &valid))
			REQUIRE(out.kind == PROBE_ECHO && valid);
		heard[data[0] % PEERS] += valid;
		echoes[data[0] % PEERS] += out.kind == PROBE_ECHO && valid &&
					   p.kind == PROBE_SECOND;
		REQUIRE(2 * echoes[data[0] % PEERS] <= heard[data[0] % PEERS]);
	}
}

static void seeds(void)
{
	struct report r = { .count = 1 };
	unsigned int i;

	cluster_solve(&c, LATER_NS);
	REQUIRE(c.n_lines <= BASELINE_LINES);
	for (i = 0; i < CLUSTER_HOSTS; i++) {
		const struct cluster_host *h = &c.host[i];
		const struct cluster_seed *s = &h->seed;

		REQUIRE(h->seen || !s->known);
		if (!s->known)
			continue;
		REQUIRE(s->error_ns >= 0);
		REQUIRE(!s->wanted || h->path.state == CLUSTER_SEEDED ||
			s->value_ns < cluster_at(h->path.baseline_ns, h->path.slope,
						 LATER_NS - h->path.at_ns));
	}
	cluster_fill(&c, &c.host[0], NOW_NS, r.count, &r);
	REQUIRE(r.n <= REPORT_LINES && (c.clocked || !r.n));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	size_t at = 10;

	if (size < at)
		return 0;
	paths(data);
	if (data[0] == 255) {
		probes(data + at, size - at);
		seeds();
		return 0;
	}
	/* The MAC is not looked at here. */
	for (; size - at > REPORT_SIGNED; at += REPORT_SIGNED + 1) {
		u8 msg[REPORT_LEN] = { 0 };

		memcpy(msg, data + at + 1, REPORT_SIGNED);
		message(data[at], msg);
	}
	file(data + at, size - at);
	seeds();
	return 0;
}
