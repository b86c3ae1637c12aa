// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcload.h"
#include "net.h"
#include "options.h"

#define MAX_FLOWS	65536

enum {
	OPT_BIND = 256, OPT_CC, OPT_CHUNK, OPT_CHURN, OPT_CONNECT_TIMEOUT,
	OPT_CSV, OPT_DSCP, OPT_DURATION, OPT_FLOWS, OPT_HELP, OPT_IDLE,
	OPT_INTERVAL, OPT_JSON, OPT_LOWAT, OPT_NETNS, OPT_PARALLEL, OPT_PORT,
	OPT_PROGRESS, OPT_RATE_LIMIT, OPT_RTT_ORIGIN, OPT_RTT_SAMPLE, OPT_SEED,
	OPT_SIZE, OPT_START_GAP, OPT_TO, OPT_WARMUP, OPT_CONNECT_FIRST,
};

/**
 * usage() - print the help text
 * @f: where to
 */
void usage(FILE *f)
{
	fputs("Usage: dcload server [OPTION...]\n"
"       dcload client --to ADDR[:PORT][,...] --duration S [OPTION...]\n"
"       dcload get FILE PATH...\n"
"       dcload --help | --version\n"
"\n"
"Load generator for congestion control. Addresses are numeric; IPv6 with a port\n"
"is written [ADDR]:PORT. Sizes take K, M, G (powers of 1024), bit rates kbit,\n"
"mbit, gbit (powers of 1000). Times in seconds take a fraction.\n"
"\n"
"server: accept connections and discard what they bring, until SIGINT or SIGTERM\n"
"  --bind ADDR           listen on this address only (default: all, IPv4 and IPv6)\n"
"  --port P              1..65535 (default 5001)\n"
"  --netns NAME          listen in this network namespace (a path if it has a /)\n"
"  --cc NAME             congestion control of accepted connections: DCTCP's\n"
"                        receiver must run dctcp to echo the marks it gets\n"
"  --rcvlowat BYTES      wake up for so much at a time, 1..16M (default 64K)\n"
"  --json FILE           result when it ends, - for standard output\n"
"  --progress            one line a second on standard error\n"
"\n"
"client: long flows, or incast rounds with --size, or short ones with --flow-churn\n"
"  --to ADDR[:PORT],...  receivers\n"
"  --port P              port of receivers given without one (default 5001)\n"
"  --netns NAME,...      sending hosts. Flow i is sent from namespace i mod n; to\n"
"                        receiver (i / n) mod m\n"
"  --flows N             1..65536 (default 1)\n"
"  --duration S          length of the measured interval, 0.01..86400\n"
"  --warmup S            time before it, 0..3600 (default 0)\n"
"  --start-gap MS        flow i starts i times this later, 0..60000 (default 0)\n"
"  --connect-first       all connections are made at once, before any load; only\n"
"                        the data starts at the gap\n"
"  --connect-timeout S   how long a refused connection is tried again, 0..60\n"
"                        (default 5)\n"
"  --cc NAME             congestion control; it is an error if a flow gets another\n"
"  --rate-limit BITRATE  each flow's application offers no more than this\n"
"  --idle S1:S2[:...]    send for S1, idle for S2, send for S3 ...; then over again\n"
"  --size BYTES          rounds: every flow sends this; the next round begins when\n"
"                        all of it is acknowledged\n"
"  --flow-churn N        N cycles of connect, send --size (default 16K), close\n"
"  --parallel P          cycles under way at once, 1..65536 (default 1)\n"
"  --chunk BYTES         size of one write, 1..16M (default 64K); at most one RTT\n"
"                        sample per write\n"
"  --rtt-sample-us U     mean time between a flow's RTT samples, 10..10000000, 0\n"
"                        for none (default 1000); jittered by half\n"
"  --rtt-origin WHERE    driver (default) or qdisc: where the RTT begins\n"
"  --interval-ms I       step of the time series, 1..60000 (default 100, with --csv)\n"
"  --dscp D              0..63\n"
"  --seed S              of the sampling jitter (default 1)\n"
"  --json FILE           result, - for standard output\n"
"  --csv FILE            time series\n"
"  --progress            one line a second on standard error (default on a terminal)\n"
"\n"
"get: print values of a JSON file, one a line; fails if one is missing or null\n"
"  PATH                  names and numbers joined by dots: flows.0.goodput_bit_s\n"
"\n"
"Exit status: 0 done (also when interrupted: the result covers what ran), 1 failed.\n",
	      f);
}

static uint64_t need_u64(const char *option, uint64_t min, uint64_t max)
{
	uint64_t v = 0;

	if (!parse_u64(optarg, min, max, &v))
		die("--%s %s: a whole number from %llu to %llu is needed",
		    option, optarg, (unsigned long long)min,
		    (unsigned long long)max);
	return v;
}

static uint64_t need_seconds(const char *option, double min, double max)
{
	uint64_t v = 0;

	if (!parse_seconds(optarg, min, max, &v))
		die("--%s %s: a number of seconds from %g to %g is needed",
		    option, optarg, min, max);
	return v;
}

static uint64_t need_ms(const char *option, double max)
{
	uint64_t v = 0;

	if (!parse_seconds(optarg, 0, max, &v))
		die("--%s %s: a number of milliseconds from 0 to %g is needed",
		    option, optarg, max);
	return v / 1000;
}

static uint64_t need_size(const char *option, uint64_t max)
{
	uint64_t v = 0;

	if (!parse_size(optarg, &v) || v > max)
		die("--%s %s: a number of bytes from 1 to %llu is needed, K, M and G may follow",
		    option, optarg, (unsigned long long)max);
	return v;
}

static const char *need_cc(void)
{
	size_t len = strlen(optarg);

	if (!len || len >= CC_NAME_MAX)
		die("--cc %s: a name of 1 to %d characters is needed", optarg,
		    CC_NAME_MAX - 1);
	return optarg;
}

static struct endpoint *need_endpoints(size_t *n)
{
	char **items = parse_list(optarg, ',', n);
	struct endpoint *ep;
	size_t i;

	if (!items)
		die("--to %s: an address is empty", optarg);
	ep = xcalloc(*n, sizeof(*ep));
	for (i = 0; i < *n; i++) {
		if (!parse_endpoint(items[i], &ep[i]))
			die("--to %s: a numeric address is needed, such as 192.0.2.1, 192.0.2.1:5001 or [2001:db8::1]:5001",
			    items[i]);
		free(items[i]);
	}
	free(items);
	return ep;
}

static uint64_t *need_phases(size_t *n)
{
	char **items = parse_list(optarg, ':', n);
	uint64_t *ns;
	size_t i;

	if (!items || *n < 2)
		die("--idle %s: at least two times in seconds are needed, such as 1:0.5",
		    optarg);
	ns = xcalloc(*n, sizeof(*ns));
	for (i = 0; i < *n; i++) {
		if (!parse_seconds(items[i], 0.001, 3600, &ns[i]))
			die("--idle %s: %s is not a number of seconds from 0.001 to 3600",
			    optarg, items[i]);
		free(items[i]);
	}
	free(items);
	return ns;
}

static void no_arguments(int argc, char **argv)
{
	if (optind < argc)
		die("unexpected argument %s; see dcload --help", argv[optind]);
}

static const struct option client_longopts[] = {
	{ "cc", required_argument, NULL, OPT_CC },
	{ "chunk", required_argument, NULL, OPT_CHUNK },
	{ "connect-timeout", required_argument, NULL, OPT_CONNECT_TIMEOUT },
	{ "csv", required_argument, NULL, OPT_CSV },
	{ "dscp", required_argument, NULL, OPT_DSCP },
	{ "duration", required_argument, NULL, OPT_DURATION },
	{ "flow-churn", required_argument, NULL, OPT_CHURN },
	{ "flows", required_argument, NULL, OPT_FLOWS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "idle", required_argument, NULL, OPT_IDLE },
	{ "interval-ms", required_argument, NULL, OPT_INTERVAL },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "netns", required_argument, NULL, OPT_NETNS },
	{ "parallel", required_argument, NULL, OPT_PARALLEL },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "rate-limit", required_argument, NULL, OPT_RATE_LIMIT },
	{ "rtt-origin", required_argument, NULL, OPT_RTT_ORIGIN },
	{ "rtt-sample-us", required_argument, NULL, OPT_RTT_SAMPLE },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "start-gap", required_argument, NULL, OPT_START_GAP },
	{ "connect-first", no_argument, NULL, OPT_CONNECT_FIRST },
	{ "to", required_argument, NULL, OPT_TO },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ NULL, 0, NULL, 0 },
};

static void client_check(struct client_options *o, bool flows_given,
			 bool parallel_given)
{
	if (!o->n_to)
		die("client: --to ADDR is needed; see dcload --help");
	if (o->churn) {
		o->mode = MODE_CHURN;
		if (flows_given)
			die("--flow-churn goes with --parallel, not with --flows");
		if (o->n_phases || o->rate_limit_bit_s || o->warmup_ns ||
		    o->start_gap_ns)
			die("--flow-churn excludes --idle, --rate-limit, --warmup and --start-gap");
		if (!o->size)
			o->size = 16384;
	} else {
		if (parallel_given)
			die("--parallel goes with --flow-churn only");
		if (!o->duration_ns)
			die("client: --duration S is needed; see dcload --help");
		if (o->size) {
			o->mode = MODE_ROUNDS;
			if (o->n_phases || o->rate_limit_bit_s || o->start_gap_ns)
				die("--size excludes --idle, --rate-limit and --start-gap");
		}
	}
	if (o->connect_first && o->mode != MODE_BULK)
		die("--connect-first goes with long flows only");
	if (o->csv && !o->interval_ns)
		o->interval_ns = 100 * NSEC_PER_MSEC;
	if (o->interval_ns && !o->csv)
		die("--interval-ms goes with --csv FILE");
}

/**
 * client_options_parse() - read the command line of "dcload client", or exit
 * @o: result
 * @argc: number of arguments
 * @argv: arguments, from "client" on
 */
void client_options_parse(struct client_options *o, int argc, char **argv)
{
	bool flows_given = false, parallel_given = false;
	int c;

	memset(o, 0, sizeof(*o));
	o->flows = 1;
	o->port = DCLOAD_PORT;
	o->connect_timeout_ns = 5 * NSEC_PER_SEC;
	o->chunk = 65536;
	o->rtt_sample_ns = NSEC_PER_MSEC;
	o->seed = 1;
	o->dscp = -1;
	o->progress = isatty(STDERR_FILENO);
	o->netns = xcalloc(1, sizeof(*o->netns));
	o->n_netns = 1;

	while ((c = getopt_long(argc, argv, "", client_longopts, NULL)) != -1) {
		switch (c) {
		case OPT_TO:
			o->to = need_endpoints(&o->n_to);
			break;
		case OPT_NETNS:
			o->netns = parse_list(optarg, ',', &o->n_netns);
			if (!o->netns)
				die("--netns %s: a name is empty", optarg);
			break;
		case OPT_PORT:
			o->port = need_u64("port", 1, 65535);
			break;
		case OPT_FLOWS:
			o->flows = need_u64("flows", 1, MAX_FLOWS);
			flows_given = true;
			break;
		case OPT_PARALLEL:
			o->flows = need_u64("parallel", 1, MAX_FLOWS);
			parallel_given = true;
			break;
		case OPT_CHURN:
			o->churn = need_u64("flow-churn", 1, 1000000000);
			break;
		case OPT_DURATION:
			o->duration_ns = need_seconds("duration", 0.01, 86400);
			break;
		case OPT_WARMUP:
			o->warmup_ns = need_seconds("warmup", 0, 3600);
			break;
		case OPT_START_GAP:
			o->start_gap_ns = need_ms("start-gap", 60000);
			break;
		case OPT_CONNECT_FIRST:
			o->connect_first = true;
			break;
		case OPT_CONNECT_TIMEOUT:
			o->connect_timeout_ns = need_seconds("connect-timeout",
							     0, 60);
			break;
		case OPT_CC:
			o->cc = need_cc();
			break;
		case OPT_RATE_LIMIT:
			if (!parse_bitrate(optarg, &o->rate_limit_bit_s) ||
			    o->rate_limit_bit_s < 1000)
				die("--rate-limit %s: a rate of at least 1kbit is needed, such as 20mbit",
				    optarg);
			break;
		case OPT_IDLE:
			o->phases_ns = need_phases(&o->n_phases);
			break;
		case OPT_SIZE:
			o->size = need_size("size", 1ULL << 30);
			break;
		case OPT_CHUNK:
			o->chunk = need_size("chunk", 16 << 20);
			break;
		case OPT_RTT_SAMPLE:
			if (!strcmp(optarg, "0"))
				o->rtt_sample_ns = 0;
			else
				o->rtt_sample_ns = NSEC_PER_USEC *
					need_u64("rtt-sample-us", 10, 10000000);
			break;
		case OPT_RTT_ORIGIN:
			o->rtt_from_qdisc = !strcmp(optarg, "qdisc");
			if (!o->rtt_from_qdisc && strcmp(optarg, "driver"))
				die("--rtt-origin %s: driver or qdisc is needed",
				    optarg);
			break;
		case OPT_INTERVAL:
			o->interval_ns = NSEC_PER_MSEC *
					 need_u64("interval-ms", 1, 60000);
			break;
		case OPT_DSCP:
			o->dscp = (int)need_u64("dscp", 0, 63);
			break;
		case OPT_SEED:
			o->seed = need_u64("seed", 0, UINT64_MAX);
			break;
		case OPT_JSON:
			o->json = optarg;
			break;
		case OPT_CSV:
			o->csv = optarg;
			break;
		case OPT_PROGRESS:
			o->progress = true;
			break;
		case OPT_HELP:
			usage(stdout);
			exit(0);
		default:
			exit(1);
		}
	}
	no_arguments(argc, argv);
	client_check(o, flows_given, parallel_given);
}

static const struct option server_longopts[] = {
	{ "bind", required_argument, NULL, OPT_BIND },
	{ "cc", required_argument, NULL, OPT_CC },
	{ "help", no_argument, NULL, OPT_HELP },
	{ "json", required_argument, NULL, OPT_JSON },
	{ "netns", required_argument, NULL, OPT_NETNS },
	{ "port", required_argument, NULL, OPT_PORT },
	{ "progress", no_argument, NULL, OPT_PROGRESS },
	{ "rcvlowat", required_argument, NULL, OPT_LOWAT },
	{ NULL, 0, NULL, 0 },
};

/**
 * server_options_parse() - read the command line of "dcload server", or exit
 * @o: result
 * @argc: number of arguments
 * @argv: arguments, from "server" on
 */
void server_options_parse(struct server_options *o, int argc, char **argv)
{
	int c;

	memset(o, 0, sizeof(*o));
	o->port = DCLOAD_PORT;
	o->lowat = 65536;

	while ((c = getopt_long(argc, argv, "", server_longopts, NULL)) != -1) {
		switch (c) {
		case OPT_BIND:
			if (!parse_endpoint(optarg, &o->bind) || o->bind.port)
				die("--bind %s: a numeric address without port is needed",
				    optarg);
			break;
		case OPT_PORT:
			o->port = need_u64("port", 1, 65535);
			break;
		case OPT_NETNS:
			o->netns = optarg;
			break;
		case OPT_CC:
			o->cc = need_cc();
			break;
		case OPT_LOWAT:
			o->lowat = need_size("rcvlowat", 16 << 20);
			break;
		case OPT_JSON:
			o->json = optarg;
			break;
		case OPT_PROGRESS:
			o->progress = true;
			break;
		case OPT_HELP:
			usage(stdout);
			exit(0);
		default:
			exit(1);
		}
	}
	no_arguments(argc, argv);
}
