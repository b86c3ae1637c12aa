// SPDX-License-Identifier: GPL-2.0
/* onrampctl doctor: onrampd, by the status that it writes. */
#include <inttypes.h>

#include "clock.h"
#include "doctor.h"

/* Messages sent in all, from which on it is a finding that no host answers. */
#define SENT_ENOUGH	5

/* The status of a daemon that runs. */
static const json_t *need_onrampd(struct doctor *d)
{
	const json_t *status = j_get(d->now, "onrampd");

	if (!status) {
		skip(d, "onrampd does not run");
		return NULL;
	}
	if (!j_true(status, "key")) {
		skip(d, "onrampd has no key, and exchanges nothing");
		return NULL;
	}
	return status;
}

void check_onrampd_stopped(struct doctor *d)
{
	const json_t *status = j_get(d->now, "onrampd");
	int64_t now_ns = num_or(d->now, "monotonic_ns", 0), at_ns;

	if (!status) {
		skip(d, "onrampd does not run");
		return;
	}
	at_ns = num_or(status, "time_ns", 0);
	if (now_ns - at_ns <= CLOCK_ONRAMPD_NS)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:I}", "age_ns", (json_int_t)(now_ns - at_ns)),
		.summary = text("onrampd has done nothing for %" PRId64 " s",
				(now_ns - at_ns) / 1000000000).s,
		.why = "it was killed, or hangs; the kernel has forgotten what it told",
		.action = "systemctl restart onrampd; journalctl -u onrampd",
	});
}

void check_onrampd_key(struct doctor *d)
{
	int64_t n;

	if (!need_onrampd(d) || !need_two(d))
		return;
	n = grown(d, "onrampd/counters/forged");
	if (n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:I}", "forged", (json_int_t)n),
			.summary = text("%" PRId64 " message%s of other daemons with another key",
					n, plural(n)).s,
			.why = "keys differ, addresses are translated on the way, or somebody forges",
			.action = "copy /etc/onramp/onrampd.key to all hosts; restart onrampd",
		});
}

void check_onrampd_alone(struct doctor *d)
{
	const json_t *status = need_onrampd(d), *path;
	struct list hosts = { "", 0 };
	size_t i;

	if (!status || !need_two(d))
		return;
	json_array_foreach((json_t *)j_get(status, "paths"), i, path) {
		if (j_true(path, "reports"))
			return;
		list_add(&hosts, j_str(path, "remote"));
	}
	if (!hosts.n || grown(d, "onrampd/counters/forged") ||
	    num_or(status, "counters/sent", 0) < SENT_ENOUGH)
		return;
	found(d, &(struct found) {
		.evidence = json_pack("{s:i, s:I}", "hosts", (int)hosts.n, "sent",
				      num_or(status, "counters/sent", 0)),
		.summary = text("no other onrampd answers: %s", hosts.s).s,
		.why = "it does not run there, or a filter drops its UDP port",
		.action = "there: systemctl status onrampd; open UDP port 2990 both ways",
	});
}

void check_onrampd_refuted(struct doctor *d)
{
	const json_t *status = need_onrampd(d), *path;
	struct list hosts = { "", 0 };
	size_t i;

	if (!status)
		return;
	json_array_foreach((json_t *)j_get(status, "paths"), i, path)
		if (j_true(path, "refuted"))
			list_add(&hosts, j_str(path, "remote"));
	if (hosts.n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:i}", "hosts", (int)hosts.n),
			.summary = text("OR-ACKs contradict what %u host%s say%s: %s", hosts.n,
					plural(hosts.n), hosts.n == 1 ? "s" : "", hosts.s).s,
			.why = "its clock was set a moment ago, or it lies; nothing that it says is used",
			.action = "if it stays: restart onrampd there, or take the key from it",
		});
}
