// SPDX-License-Identifier: GPL-2.0
/* One connection, looked at again and again, and the queue of its device. */
#include <errno.h>
#include <time.h>

#include "collect.h"
#include "filter.h"
#include "look.h"

struct finding {
	const struct filter *filter;
	struct flow best;
	uint64_t most;
	unsigned int n;
};

/* The one that has most to do: data now, or else most that was ever sent. */
static void on_match(const struct flow *f, void *arg)
{
	bool busy = f->info.tcpi_unacked || f->info.tcpi_notsent_bytes;
	uint64_t weight = f->info.tcpi_bytes_sent + (busy ? 1ULL << 62 : 0);
	struct finding *s = arg;

	if (!filter_match(s->filter, f))
		return;
	if (!s->n++ || weight > s->most) {
		s->best = *f;
		s->most = weight;
	}
}

static void look_pauses(struct look *l)
{
	struct flow_key key = flow_key(&l->flow);
	int err = family_pauses_of(&key, &l->pauses);

	l->onramp = !err;
	l->hidden = err == -EPERM;
}

/**
 * look_first() - find a connection, and look at it; exits if there is none
 * @ctl: command line
 * @argc: number of words of its filter
 * @argv: the words; if several connections match, it is the busiest
 */
struct look look_first(const struct ctl *ctl, int argc, char **argv)
{
	struct finding found = { 0 };
	struct filter *filter;
	struct look l = { 0 };
	char error[FILTER_ERROR];

	if (ctl->facts || *ctl->root)
		die_usage("connections are not among the facts: use it without --facts and --root");
	if (!argc)
		die_usage("expected a connection, such as dst 10.0.3.9:443; see FILTERS in onrampctl(8)");
	filter = filter_parse(argc, argv, error);
	if (!filter)
		die_usage("%s", error);
	found.filter = filter;
	if (sockets_each(on_match, &found))
		die_unknown("the kernel does not tell about connections: modprobe tcp_diag");
	filter_free(filter);
	if (!found.n)
		die_unknown("unknown connection: 'onrampctl show flows' lists all");
	if (found.n > 1)
		warning("%u connections match: this is the busiest one", found.n);
	l.time_ns = now_ns();
	l.flow = found.best;
	look_pauses(&l);
	return l;
}

/**
 * look_again() - look at the same connection now
 * @l: connection; unchanged if it is closed
 *
 * Return: false if it is closed.
 */
bool look_again(struct look *l)
{
	struct look next = *l;

	if (sockets_again(&next.flow) || !next.flow.has_info)
		return false;
	next.time_ns = now_ns();
	/* What was not there at first may come, but it is no secret then. */
	if (!l->hidden)
		look_pauses(&next);
	*l = next;
	return true;
}

/**
 * look_device() - tell which device a connection leaves by
 * @l: look at it
 *
 * Return: its index; 0 if it is not known.
 */
uint32_t look_device(const struct look *l)
{
	if (l->onramp && l->pauses.ifindex)
		return l->pauses.ifindex;
	if (l->flow.ifindex)
		return l->flow.ifindex;
	return backlog_route(l->flow.family, l->flow.remote);
}

/* look_sleep() - wait; a signal that is handled ends it */
void look_sleep(uint64_t ns)
{
	struct timespec ts = {
		.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC),
	};

	nanosleep(&ts, NULL);
}
