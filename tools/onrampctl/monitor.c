// SPDX-License-Identifier: GPL-2.0
/* onrampctl monitor: events of sch_onramp, as they come. */
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netlink/netlink.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "family.h"
#include "monitor.h"

/* Words behind the name of an event. */
static const struct {
	const char *event, *words;
} meanings[] = {
	{ "silent", "no OR-ACK to the last SUBSCRIBEs: no pauses until there is one" },
	{ "heard", "OR-ACKs come" },
	{ "learned", "the delay of the empty path is known: pauses may begin" },
	{ "support_lost", "no packet found the queue empty for 10 s: it may never drain" },
	{ "map_lost", "no valid map of the NIC's clock any more" },
	{ "now", "after lost events: its state" },
};

/**
 * monitor_line() - write an event as a line of text
 * @f: file
 * @event: of family_event(), with "time_ms"
 */
void monitor_line(FILE *f, const json_t *event)
{
	time_t s = (time_t)(j_int_or(event, "time_ms", 0) / 1000);
	const char *name = j_str(event, "event");
	char at[32] = "?", device[IF_NAMESIZE + 16];
	struct tm tm;
	size_t i;

	if (localtime_r(&s, &tm))
		strftime(at, sizeof(at), "%H:%M:%S", &tm);
	fprintf(f, "%s.%03d ", at, (int)(j_int_or(event, "time_ms", 0) % 1000));
	if (j_str(event, "remote")) {
		fprintf(f, "%s -> %s", j_str(event, "local") ? j_str(event, "local") : "?",
			j_str(event, "remote"));
	} else {
		uint32_t ifindex = (uint32_t)j_int_or(event, "ifindex", 0);

		if (!if_indextoname(ifindex, device))
			snprintf(device, sizeof(device), "device %" PRIu32, ifindex);
		fputs(device, f);
	}
	fprintf(f, "  %s", name ? name : "unknown");
	for (i = 0; name && i < ARRAY_SIZE(meanings); i++)
		if (!strcmp(name, meanings[i].event))
			fprintf(f, ": %s", meanings[i].words);
	if (name && !strcmp(name, "now") && j_str(event, "state"))
		fprintf(f, " %s", j_str(event, "state"));
	fputc('\n', f);
}

struct monitor {
	const struct ctl *ctl;
	uint64_t seen;
};

/* One line each, and at once. */
static void put(const struct monitor *m, const json_t *event)
{
	if (m->ctl->json)
		json_dumpf(event, stdout, JSON_COMPACT | JSON_ENSURE_ASCII), putchar('\n');
	else
		monitor_line(stdout, event);
	if (fflush(stdout))
		die_unknown("cannot write to stdout");
}

static void on_event(json_t *event, void *arg)
{
	int64_t mono = (int64_t)now_ns(), at = j_int_or(event, "time_ns", mono);
	struct monitor *m = arg;

	j_set(event, "time_ms", json_integer(((int64_t)clock_ns(CLOCK_REALTIME) - (mono - at)) /
					     (int64_t)NSEC_PER_MSEC));
	put(m, event);
	m->seen++;
	json_decref(event);
}

/* The state of all paths, for a reader that missed changes of it. */
static void on_overrun(struct monitor *m)
{
	json_t *rows = json_array(), *row;
	size_t i;

	warning("events were lost: this host was too slow to read them; the state of all paths follows");
	if (family_dump(FAMILY_PATHS, rows))
		die_unknown("the list of paths cannot be read any more");
	json_array_foreach(rows, i, row) {
		j_set(row, "event", json_string("now"));
		j_set(row, "time_ms", json_integer((json_int_t)(clock_ns(CLOCK_REALTIME) /
								NSEC_PER_MSEC)));
		put(m, row);
	}
	json_decref(rows);
}

/* Time between two looks at whether the module is there, ms: its family belongs to or_port. */
#define MODULE_LOOK_MS	1000

static bool module_there(void)
{
	return !access("/sys/module/sch_onramp", F_OK) || access("/sys/module", F_OK);
}

int cmd_monitor(const struct ctl *ctl, int argc, char **argv)
{
	struct monitor m = { .ctl = ctl };
	struct pollfd fds[2];
	struct nl_sock *sk;
	bool lost = false;
	sigset_t set;
	int err;

	if (argc)
		die_usage("monitor '%s': expected nothing more", argv[0]);
	if (ctl->facts || *ctl->root)
		die_usage("events are not among the facts: use monitor without --facts and --root");
	err = family_listen(&sk);
	if (err == -EPERM)
		die_unknown("events of other users' connections take CAP_NET_ADMIN: run it as root");
	if (err || !module_there())
		die_unknown("no events: sch_onramp is not loaded, or this release of it has none");
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fds[0] = (struct pollfd){ .fd = nl_socket_get_fd(sk), .events = POLLIN };
	fds[1] = (struct pollfd){ .fd = signalfd(-1, &set, SFD_CLOEXEC), .events = POLLIN };
	if (ctl->verbose)
		warning("waiting for events; Ctrl-C ends it");
	while (!ctl->count || m.seen < ctl->count) {
		err = poll(fds, ARRAY_SIZE(fds), MODULE_LOOK_MS);
		if (!err && !module_there())
			die_unknown("the module was unloaded: no more events");
		if (err <= 0)
			continue;
		if (fds[1].revents)
			break;
		err = family_event(sk, on_event, &m);
		if (err == -EOPNOTSUPP)
			die_unknown("the module was unloaded: no more events");
		lost |= err == -ENOBUFS;
		/* Events that still wait are older than a list of now: they come before it. */
		if (lost && poll(fds, 1, 0) <= 0) {
			on_overrun(&m);
			lost = false;
		}
	}
	close(fds[1].fd);
	nl_socket_free(sk);
	return CTL_OK;
}
