/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_CLIENT_H
#define DCLOAD_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "dcload.h"
#include "hist.h"
#include "loop.h"
#include "net.h"
#include "options.h"
#include "stats.h"
#include "tstamp.h"

/* RTT samples of a flow, and counters of excluded ones. */
struct rtt_counters {
	uint64_t count;
	double sum_ns;
	uint64_t min_ns;
	uint64_t max_ns;
};

enum flow_state {
	FLOW_IDLE,
	FLOW_CONNECTING,
	FLOW_UP,
};

struct client;

struct flow {
	struct watch watch;
	struct timer timer;		/* start, connect again, pacing of --rate-limit */
	struct client *client;
	const struct netns *ns;
	const struct endpoint *to;
	unsigned int index;
	enum flow_state state;
	bool want_out;			/* EPOLLOUT asked for */
	bool paused;			/* idle phase */
	bool stamp_last;		/* always stamp the byte before limit */
	bool done;			/* of the round */
	uint64_t polled;		/* written, when last found acknowledged by polling */
	uint64_t connect_ns;		/* first attempt of this connection, 0: none */
	uint64_t up_ns;
	uint64_t written;		/* bytes, of this connection */
	uint64_t limit;			/* may write up to here */
	uint64_t next_sample_ns;
	struct rtt_tracker tracker;
	struct rtt_counters rtt;	/* measured interval */
	struct rtt_counters rtt_step;	/* step of the time series */
	struct counters closed;		/* sum over connections closed */
	struct counters base;		/* at the start of the measured interval */
	struct counters end;		/* at its end */
	struct counters step;		/* at the last step of the time series */
	struct tcp_info last;		/* at the end */
	uint16_t local_port;
	char cc[CC_NAME_MAX];
	struct rng rng;
	struct timer on_off;		/* end of its ON or OFF time */
	struct rng on_off_rng;
};

/* Callbacks of a mode; all but name may be NULL. */
struct mode {
	const char *name;
	void (*start)(struct client *c);
	void (*up)(struct flow *f);		/* connected */
	void (*written)(struct flow *f);	/* all that was allowed */
	void (*acked)(struct flow *f, uint32_t id, uint64_t real_ns);
	void (*closed)(struct flow *f);		/* by the peer, in order */
	void (*expired)(struct flow *f);	/* flow's timer, while up */
};

struct client {
	struct loop loop;
	const struct client_options *opt;
	const struct mode *mode;
	struct netns *netns;
	struct flow *flows;
	size_t n_flows;
	size_t n_up;			/* connections made so far */
	char *buf;			/* zeros, one chunk */
	int file;			/* the same, with sendfile */

	struct timer measure_timer;
	struct timer end_timer;
	struct timer step_timer;
	struct timer progress_timer;
	struct timer phase_timer;
	struct timer watchdog;
	uint64_t start_ns;
	uint64_t start_real_ns;		/* CLOCK_REALTIME, with rtt_csv */
	uint64_t base_ns;		/* measured interval */
	uint64_t base_boot_ns;		/* same moment, CLOCK_BOOTTIME */
	uint64_t end_ns;
	uint64_t step_ns;
	uint64_t progress_bytes;
	bool measuring;
	bool failed;
	size_t phase;

	struct hist rtt;		/* ns */
	uint64_t rtt_asked;
	uint64_t rtt_retrans;
	uint64_t rtt_no_tx;
	uint64_t rtt_lost;

	struct {
		uint64_t writes;	/* with MSG_ZEROCOPY */
		uint64_t done;		/* of these, TCP needs the memory no more */
		uint64_t copied;	/* of these, the kernel has copied the data */
		uint64_t refused;	/* and written again without */
	} zerocopy;

	struct hist completion;		/* ns: of a round, or of a cycle */
	struct hist flow_completion;	/* ns: of one flow's part of a round */
	uint64_t round_real_ns;		/* CLOCK_REALTIME, as the stamps */
	size_t round_open;		/* flows not done */
	uint64_t round_last_ns;
	uint64_t rounds;
	uint64_t unstamped;		/* completions seen late, by polling */
	bool round_measured;		/* began in the measured interval */

	uint64_t cycles_started;
	uint64_t cycles_done;
	uint64_t cycles_failed;
	FILE *csv;
	FILE *rtt_csv;
};

extern const struct mode mode_bulk, mode_rounds, mode_churn;

/* flow.c */
void flow_init(struct flow *f, struct client *c, unsigned int index);
void flow_connect(struct flow *f);
void flow_close(struct flow *f, bool abort);
void flow_allow(struct flow *f, uint64_t limit);
void flow_pause(struct flow *f, bool paused);
bool flow_counters(struct flow *f, struct counters *out, struct tcp_info *info);

/* client.c */
int client_run(const struct client_options *o);
void __printf(2, 3) client_fail(struct client *c, const char *fmt, ...);

/* result.c */
void result_csv_open(struct client *c);
void result_csv_step(struct client *c);
void result_rtt_open(struct client *c);
void result_rtt(const struct flow *f, const struct rtt_event *ev,
		const struct rtt_sample *s);
void result_write(struct client *c);

#endif /* DCLOAD_CLIENT_H */
