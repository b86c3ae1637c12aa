// SPDX-License-Identifier: GPL-2.0
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dcload.h"
#include "net.h"
#include "options.h"
#include "workload.h"

#define MAX_FLOWS	65536

/* Format of an option's argument. */
enum arg {
	ARG_NONE,		/* a bool becomes true */
	ARG_U64,		/* whole number from min to max, times unit */
	ARG_SECONDS,		/* with fraction, min and max in ns */
	ARG_MS,			/* with fraction, from 0, max in ns */
	ARG_SIZE,		/* bytes from 1 to max */
	ARG_BITRATE,		/* bit/s from min */
	ARG_TEXT,
	ARG_OTHER,		/* by read() */
};

struct option_row {
	const char *name;
	enum arg arg;
	size_t offset;		/* in the options' struct */
	uint64_t min, max;
	uint64_t unit;
	void (*read)(void *options);
};

#define ROW(type, member, label, kind, ...) \
	{ .name = label, .arg = kind, .offset = offsetof(struct type, member), \
	  __VA_ARGS__ }
#define RANGE(from, to)		.min = (from), .max = (to), .unit = 1
#define OTHER(label, function)	{ .name = label, .arg = ARG_OTHER, .read = function }

/* Options of each subcommand that uses the network. */
#define COMMON_ROWS(type) \
	ROW(type, json, "json", ARG_TEXT), \
	ROW(type, port, "port", ARG_U64, RANGE(1, 65535)), \
	ROW(type, progress, "progress", ARG_NONE)

static const char intro_help[] =
"Usage: dcload server [OPTION...]\n"
"       dcload client --to ADDR[:PORT][,...] --duration S [OPTION...]\n"
"       dcload mesh --hosts ADDR,... --workload SPEC... --duration S [OPTION...]\n"
"       dcload get FILE PATH...\n"
"       dcload --help | --version\n"
"\n"
"Load generator for congestion control. Addresses are numeric; IPv6 with a port\n"
"is written [ADDR]:PORT. Sizes take K, M, G (powers of 1024), bit rates kbit,\n"
"mbit, gbit (powers of 1000). Times in seconds take a fraction.\n"
"\n";

static const char server_help[] =
"server: accept connections and discard received data, until SIGINT or SIGTERM\n"
"  --bind ADDR           listen on this address only (default: all, IPv4 and IPv6)\n"
"  --port P              1..65535 (default 5001)\n"
"  --netns NAME          listen in this network namespace (a path if it has a /)\n"
"  --cc NAME             congestion control of accepted connections: DCTCP's\n"
"                        receiver must run dctcp to echo the marks it gets\n"
"  --rcvlowat BYTES      wake up when this much has arrived, 1..16M (default 64K)\n"
"  --json FILE           result when it ends, - for standard output\n"
"  --progress            one line a second on standard error\n"
"\n";

static const char client_help[] =
"client: long flows, or incast rounds with --size, or short ones with --flow-churn\n"
"  --to ADDR[:PORT],...  receivers\n"
"  --port P              port of receivers given without one (default 5001)\n"
"  --netns NAME,...      sending hosts. Flow i is sent from namespace i mod n; to\n"
"                        receiver (i / n) mod m\n"
"  --flows N             1..65536 (default 1)\n"
"  --duration S          length of the measured interval, 0.01..86400\n"
"  --warmup S            time before it, 0..3600 (default 0)\n"
"  --start-gap MS        flow i starts i times this later, 0..60000 (default 0)\n"
"  --connect-first       make all connections at once, before any load; only the\n"
"                        data starts at the gap\n"
"  --connect-timeout S   how long a refused connection is tried again, 0..60\n"
"                        (default 5)\n"
"  --cc NAME             congestion control; a flow that gets another is an error\n"
"  --rate-limit BITRATE  each flow's application offers no more than this\n"
"  --idle S1:S2[:...]    send for S1, idle for S2, send for S3 ...; then over again\n"
"  --on-off ON:OFF       each flow sends for a random time, then idles for one, over and\n"
"                        over: exponential, with these means in seconds. Of the data\n"
"                        written when it stops, a --chunk at most is not sent yet\n"
"  --on-cc NAME          before each ON time, change to this congestion control and back\n"
"                        to --cc, which so begins anew\n"
"  --size BYTES          rounds: every flow sends this; the next round begins when\n"
"                        all flows' data is acknowledged\n"
"  --flow-churn N        N cycles of connect, send --size (default 16K), close\n"
"  --parallel P          cycles under way at once, 1..65536 (default 1)\n"
"  --chunk BYTES         size of one write, 1..16M (default 64K); at most one RTT\n"
"                        sample per write\n"
"  --zerocopy            write with MSG_ZEROCOPY; a write for which the socket has no\n"
"                        room (net.core.optmem_max) is copied\n"
"  --sendfile            write with sendfile(2), from a file in memory\n"
"  --ktls                the kernel encrypts (TLS 1.2, AES-GCM-128, a fixed key): needs\n"
"                        its module tls. These two: long flows, no RTT samples; goodput\n"
"                        counts bytes of TCP, which are TLS's records\n"
"  --rtt-sample-us U     mean time between a flow's RTT samples, 10..10000000, 0\n"
"                        for none (default 1000); jittered by half\n"
"  --rtt-origin WHERE    driver (default) or qdisc: where the RTT begins\n"
"  --interval-ms I       step of the time series, 1..60000 (default 100, with --csv)\n"
"  --dscp D              0..63\n"
"  --seed S              of the sampling jitter (default 1)\n"
"  --json FILE           result, - for standard output\n"
"  --csv FILE            time series\n"
"  --rtt-csv FILE        a line for each RTT sample of the measured interval: time of the\n"
"                        ACK, flow, RTT, packets delivered in this round trip, and how\n"
"                        many of them had a CE mark\n"
"  --progress            one line a second on standard error (default on a terminal)\n"
"\n";

static const char mesh_help[] =
"mesh: many hosts that send to each other, several workloads at once; dcload(1) has\n"
"the details\n"
"  --hosts ADDR,...      all hosts; their numbers begin with 1\n"
"  --netns NAME,...      as many: this process plays all hosts, each from its\n"
"                        namespace\n"
"  --self N              this process is host N, the others are elsewhere, with the\n"
"                        same options otherwise; without it, it plays all hosts\n"
"  --start-at T          load begins at this time, in seconds since 1970\n"
"  --workload SPEC       KIND[:KEY=VALUE,...]; may be repeated, up to 32 times\n"
"        poisson         flows from host to host; size and load (or interval) needed\n"
"        incast          requests to fanout= servers at once, each answers with size=\n"
"        rpc             request and response, closed loop\n"
"        storage         reads of 16 to 128 KB, closed loop of depth 8\n"
"        long            flows without end, depth= from each host\n"
"     keys: name, size (bytes, MIN-MAX, a file's path, or websearch, fb-hadoop,\n"
"     googlerpc, webserver, cachefollower, hadoop), load (share of the link rate),\n"
"     interval (s), arrivals (poisson, fixed, closed), depth, fanout, request (bytes),\n"
"     at (from, to), from, to (all, 1-4+9), conn (pool, each), pool (size), cc (A+B in\n"
"     turn), dscp, count, start, stop (s)\n"
"  --link-rate BITRATE   rate of a host's link, of which a load is a share\n"
"  --ideal-rtt-us U      slowdown is relative to this RTT, and\n"
"  --ideal-rate BITRATE  this rate of payload (default: the link rate)\n"
"  --ideal S:D:RATE:U    the same for flows between hosts S and D; the first that\n"
"                        fits is taken\n"
"  --bins SIZE,...       upper bounds of size bins (default 10000,1000000)\n"
"  --duration S          length of the measured interval, 0.0001..86400\n"
"  --warmup S            time before it, 0..3600 (default 0)\n"
"  --drain S             how long to wait for flows to end, 0..3600 (default 1)\n"
"  --connect-first       connect every pair of a pool before the load begins\n"
"  --max-pending N       exchanges under way before it fails (default 1000000)\n"
"  --chunk BYTES         size of one write (default 1M)\n"
"  --rcvlowat BYTES      wake up when this much, or the flow's rest, has arrived\n"
"                        (default 1M)\n"
"  --flows-csv FILE      one line for each flow\n"
"  --csv FILE            time series of flows under way, each --interval-ms I, of\n"
"                        --csv-min-size BYTES (default 1) or more\n"
"  --port (one for each workload and congestion control, counted up), --json,\n"
"  --seed, --connect-timeout, --progress as above\n"
"\n";

static const char get_help[] =
"get: print values of a JSON file, one a line; fails if one is missing or null\n"
"  PATH                  names and numbers joined by dots: flows.0.goodput_bit_s\n"
"\n";

static const char status_help[] =
"Exit status: 0 done (also when interrupted: the result ends there), 1 failed.\n";

/**
 * usage() - print the help text
 * @f: where to
 */
void usage(FILE *f)
{
	fputs(intro_help, f);
	fputs(server_help, f);
	fputs(client_help, f);
	fputs(mesh_help, f);
	fputs(get_help, f);
	fputs(status_help, f);
}

static uint64_t need_u64(const char *option, uint64_t min, uint64_t max)
{
	uint64_t v = 0;

	if (!parse_u64(optarg, min, max, &v))
		die_usage("--%s %s: expected a whole number from %llu to %llu",
			  option, optarg, (unsigned long long)min,
			  (unsigned long long)max);
	return v;
}

static uint64_t need_seconds(const char *option, double min, double max)
{
	uint64_t v = 0;

	if (!parse_seconds(optarg, min, max, &v))
		die_usage("--%s %s: expected a number of seconds from %g to %g",
			  option, optarg, min, max);
	return v;
}

static uint64_t need_ms(const char *option, double max)
{
	uint64_t v = 0;

	if (!parse_seconds(optarg, 0, max, &v))
		die_usage("--%s %s: expected a number of milliseconds from 0 to %g",
			  option, optarg, max);
	return v / 1000;
}

static uint64_t need_size(const char *option, uint64_t max)
{
	uint64_t v = 0;

	if (!parse_size(optarg, &v) || v > max)
		die_usage("--%s %s: expected a number of bytes from 1 to %llu, with K, M or G or without",
			  option, optarg, (unsigned long long)max);
	return v;
}

static uint64_t need_bitrate(const char *option, uint64_t min)
{
	uint64_t v = 0;

	if (!parse_bitrate(optarg, &v) || v < min)
		die_usage("--%s %s: expected a rate of at least %llu bit/s, such as 20mbit",
			  option, optarg, (unsigned long long)min);
	return v;
}

static const char *need_cc(void)
{
	size_t len = strlen(optarg);

	if (!len || len >= CC_NAME_MAX)
		die_usage("--cc %s: expected a name of 1 to %d characters", optarg,
			  CC_NAME_MAX - 1);
	return optarg;
}

static struct endpoint *need_endpoints(const char *option, size_t *n)
{
	char **items = parse_list(optarg, ',', n);
	struct endpoint *ep;
	size_t i;

	if (!items)
		die_usage("--%s %s: an address is empty", option, optarg);
	ep = xcalloc(*n, sizeof(*ep));
	for (i = 0; i < *n; i++) {
		if (!parse_endpoint(items[i], &ep[i]))
			die_usage("--%s %s: expected a numeric address, such as 192.0.2.1, 192.0.2.1:5001 or [2001:db8::1]:5001",
				  option, items[i]);
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
		die_usage("--idle %s: expected at least two times in seconds, such as 1:0.5",
			  optarg);
	ns = xcalloc(*n, sizeof(*ns));
	for (i = 0; i < *n; i++) {
		if (!parse_seconds(items[i], 0.001, 3600, &ns[i]))
			die_usage("--idle %s: %s is not a number of seconds from 0.001 to 3600",
				  optarg, items[i]);
		free(items[i]);
	}
	free(items);
	return ns;
}

static char **need_names(const char *option, size_t *n)
{
	char **names = parse_list(optarg, ',', n);

	if (!names)
		die_usage("--%s %s: a name is empty", option, optarg);
	return names;
}

static void option_read(const struct option_row *row, void *options)
{
	void *at = (char *)options + row->offset;

	switch (row->arg) {
	case ARG_NONE:
		*(bool *)at = true;
		break;
	case ARG_U64:
		*(uint64_t *)at = row->unit * need_u64(row->name, row->min, row->max);
		break;
	case ARG_SECONDS:
		*(uint64_t *)at = need_seconds(row->name, (double)row->min / 1e9,
					       (double)row->max / 1e9);
		break;
	case ARG_MS:
		*(uint64_t *)at = need_ms(row->name, (double)row->max / 1e6);
		break;
	case ARG_SIZE:
		*(uint64_t *)at = need_size(row->name, row->max);
		break;
	case ARG_BITRATE:
		*(uint64_t *)at = need_bitrate(row->name, row->min);
		break;
	case ARG_TEXT:
		*(const char **)at = optarg;
		break;
	case ARG_OTHER:
		row->read(options);
		break;
	}
}

/* Read the command line by a table; every table has --help. */
static void options_read(const struct option_row *rows, size_t n, void *options,
			 int argc, char **argv)
{
	struct option *longopts = xcalloc(n + 2, sizeof(*longopts));
	const int first = 256, help = first + (int)n;
	size_t i;
	int c;

	for (i = 0; i < n; i++)
		longopts[i] = (struct option){
			rows[i].name,
			rows[i].arg == ARG_NONE ? no_argument : required_argument,
			NULL, first + (int)i,
		};
	longopts[n] = (struct option){ "help", no_argument, NULL, help };

	while ((c = getopt_long(argc, argv, "h", longopts, NULL)) != -1) {
		if (c == help || c == 'h') {
			usage(stdout);
			exit(0);
		}
		if (c < first)
			exit(EXIT_USAGE);
		option_read(&rows[c - first], options);
	}
	free(longopts);
	if (optind < argc)
		die_usage("unexpected argument %s; see dcload --help", argv[optind]);
}

static void read_client_to(void *options)
{
	struct client_options *o = options;

	o->to = need_endpoints("to", &o->n_to);
}

static void read_client_netns(void *options)
{
	struct client_options *o = options;

	o->netns = need_names("netns", &o->n_netns);
}

static void read_flows(void *options)
{
	struct client_options *o = options;

	o->flows = need_u64("flows", 1, MAX_FLOWS);
	o->flows_given = true;
}

static void read_parallel(void *options)
{
	struct client_options *o = options;

	o->flows = need_u64("parallel", 1, MAX_FLOWS);
	o->parallel_given = true;
}

static void read_client_cc(void *options)
{
	struct client_options *o = options;

	o->cc = need_cc();
}

static void read_idle(void *options)
{
	struct client_options *o = options;

	o->phases_ns = need_phases(&o->n_phases);
}

static void read_on_off(void *options)
{
	struct client_options *o = options;
	char **items;
	size_t n;

	items = parse_list(optarg, ':', &n);
	if (!items || n != 2 || !parse_seconds(items[0], 0.00001, 3600, &o->on_ns) ||
	    !parse_seconds(items[1], 0.00001, 3600, &o->off_ns))
		die_usage("--on-off %s: expected two numbers of seconds from 0.00001 to 3600, such as 0.001:0.001",
			  optarg);
	free(items[0]);
	free(items[1]);
	free(items);
}

static void read_on_cc(void *options)
{
	struct client_options *o = options;

	o->on_cc = need_cc();
}

static void read_rtt_sample(void *options)
{
	struct client_options *o = options;

	o->rtt_sample_ns = strcmp(optarg, "0") ? NSEC_PER_USEC *
		need_u64("rtt-sample-us", 10, 10000000) : 0;
}

static void read_rtt_origin(void *options)
{
	struct client_options *o = options;

	o->rtt_from_qdisc = !strcmp(optarg, "qdisc");
	if (!o->rtt_from_qdisc && strcmp(optarg, "driver"))
		die_usage("--rtt-origin %s: expected driver or qdisc", optarg);
}

static void read_dscp(void *options)
{
	struct client_options *o = options;

	o->dscp = (int)need_u64("dscp", 0, 63);
}

#define DAY_NS		(86400 * NSEC_PER_SEC)
#define HOUR_NS		(3600 * NSEC_PER_SEC)
#define MINUTE_NS	(60 * NSEC_PER_SEC)
#define CHUNK_MAX	(16 << 20)

static const struct option_row client_rows[] = {
	COMMON_ROWS(client_options),
	OTHER("to", read_client_to),
	OTHER("netns", read_client_netns),
	OTHER("flows", read_flows),
	OTHER("parallel", read_parallel),
	OTHER("cc", read_client_cc),
	OTHER("idle", read_idle),
	OTHER("on-off", read_on_off),
	OTHER("on-cc", read_on_cc),
	OTHER("rtt-sample-us", read_rtt_sample),
	OTHER("rtt-origin", read_rtt_origin),
	OTHER("dscp", read_dscp),
	ROW(client_options, churn, "flow-churn", ARG_U64, RANGE(1, 1000000000)),
	ROW(client_options, duration_ns, "duration", ARG_SECONDS,
	    RANGE(10 * NSEC_PER_MSEC, DAY_NS)),
	ROW(client_options, warmup_ns, "warmup", ARG_SECONDS, RANGE(0, HOUR_NS)),
	ROW(client_options, start_gap_ns, "start-gap", ARG_MS, RANGE(0, MINUTE_NS)),
	ROW(client_options, connect_first, "connect-first", ARG_NONE),
	ROW(client_options, connect_timeout_ns, "connect-timeout", ARG_SECONDS,
	    RANGE(0, MINUTE_NS)),
	ROW(client_options, rate_limit_bit_s, "rate-limit", ARG_BITRATE,
	    RANGE(1000, 0)),
	ROW(client_options, size, "size", ARG_SIZE, RANGE(1, 1ULL << 30)),
	ROW(client_options, chunk, "chunk", ARG_SIZE, RANGE(1, CHUNK_MAX)),
	ROW(client_options, interval_ns, "interval-ms", ARG_U64, .min = 1,
	    .max = 60000, .unit = NSEC_PER_MSEC),
	ROW(client_options, seed, "seed", ARG_U64, RANGE(0, UINT64_MAX)),
	ROW(client_options, zerocopy, "zerocopy", ARG_NONE),
	ROW(client_options, sendfile, "sendfile", ARG_NONE),
	ROW(client_options, ktls, "ktls", ARG_NONE),
	ROW(client_options, csv, "csv", ARG_TEXT),
	ROW(client_options, rtt_csv, "rtt-csv", ARG_TEXT),
};

static void client_check(struct client_options *o)
{
	if (!o->n_to)
		die_usage("client: --to ADDR is needed; see dcload --help");
	if (o->churn) {
		o->mode = MODE_CHURN;
		if (o->flows_given)
			die_usage("--flow-churn goes with --parallel, not with --flows");
		if (o->n_phases || o->rate_limit_bit_s || o->warmup_ns ||
		    o->start_gap_ns)
			die_usage("--flow-churn excludes --idle, --rate-limit, --warmup and --start-gap");
		if (!o->size)
			o->size = 16384;
	} else {
		if (o->parallel_given)
			die_usage("--parallel goes with --flow-churn only");
		if (!o->duration_ns)
			die_usage("client: --duration S is needed; see dcload --help");
		if (o->size) {
			o->mode = MODE_ROUNDS;
			if (o->n_phases || o->rate_limit_bit_s || o->start_gap_ns)
				die_usage("--size excludes --idle, --rate-limit and --start-gap");
		}
	}
	if (o->on_ns && (o->mode != MODE_BULK || o->n_phases || o->rate_limit_bit_s))
		die_usage("--on-off goes with long flows only, without --idle and --rate-limit");
	if (o->on_cc && (!o->on_ns || !o->cc))
		die_usage("--on-cc goes with --on-off and --cc");
	if (o->connect_first && o->mode != MODE_BULK)
		die_usage("--connect-first goes with long flows only");
	if (o->zerocopy && (o->sendfile || o->ktls))
		die_usage("--zerocopy excludes --sendfile and --ktls");
	if (o->sendfile || o->ktls) {
		if (o->mode != MODE_BULK)
			die_usage("--sendfile and --ktls go with long flows only");
		/* Neither passes on a request for timestamps. */
		o->rtt_sample_ns = 0;
	}
	if (o->csv && !o->interval_ns)
		o->interval_ns = 100 * NSEC_PER_MSEC;
	if (o->interval_ns && !o->csv)
		die_usage("--interval-ms goes with --csv FILE");
	if (o->rtt_csv && !o->rtt_sample_ns)
		die_usage("--rtt-csv FILE needs RTT samples: --rtt-sample-us of 10 or more");
}

/**
 * client_options_parse() - read the command line of "dcload client", or exit
 * @o: result
 * @argc: number of arguments
 * @argv: arguments, from "client" on
 */
void client_options_parse(struct client_options *o, int argc, char **argv)
{
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
	options_read(client_rows, ARRAY_SIZE(client_rows), o, argc, argv);
	client_check(o);
}

static void read_bind(void *options)
{
	struct server_options *o = options;

	if (!parse_endpoint(optarg, &o->bind) || o->bind.port)
		die_usage("--bind %s: expected a numeric address without port", optarg);
}

static void read_server_cc(void *options)
{
	struct server_options *o = options;

	o->cc = need_cc();
}

static const struct option_row server_rows[] = {
	COMMON_ROWS(server_options),
	OTHER("bind", read_bind),
	OTHER("cc", read_server_cc),
	ROW(server_options, netns, "netns", ARG_TEXT),
	ROW(server_options, lowat, "rcvlowat", ARG_SIZE, RANGE(1, CHUNK_MAX)),
};

/**
 * server_options_parse() - read the command line of "dcload server", or exit
 * @o: result
 * @argc: number of arguments
 * @argv: arguments, from "server" on
 */
void server_options_parse(struct server_options *o, int argc, char **argv)
{
	memset(o, 0, sizeof(*o));
	o->port = DCLOAD_PORT;
	o->lowat = 65536;
	options_read(server_rows, ARRAY_SIZE(server_rows), o, argc, argv);
}

static void read_hosts(void *options)
{
	struct mesh_options *o = options;

	o->hosts = need_endpoints("hosts", &o->n_hosts);
}

static void read_mesh_netns(void *options)
{
	struct mesh_options *o = options;

	o->netns = need_names("netns", &o->n_netns);
}

static void read_workload(void *options)
{
	struct mesh_options *o = options;

	if (o->n_workloads == MAX_WORKLOADS)
		die_usage("--workload: %d are allowed", MAX_WORKLOADS);
	o->specs[o->n_workloads++] = optarg;
}

static void read_ideal(void *options)
{
	struct mesh_options *o = options;

	if (o->n_ideals == MAX_IDEALS)
		die_usage("--ideal: %d are allowed", MAX_IDEALS);
	o->ideal_specs[o->n_ideals++] = optarg;
}

static void read_ideal_rtt(void *options)
{
	struct mesh_options *o = options;
	uint64_t us_e9 = 0;

	if (!parse_seconds(optarg, 0, 1e7, &us_e9))
		die_usage("--ideal-rtt-us %s: expected a number of microseconds from 0 to 10000000",
			  optarg);
	o->ideal_rtt_ns = (double)us_e9 / 1e6;
	o->ideal_rtt_given = true;
}

static void read_bins(void *options)
{
	struct mesh_options *o = options;
	size_t i;
	char **items = parse_list(optarg, ',', &o->n_bins);
	bool ok = items && o->n_bins < MAX_BINS;

	for (i = 0; items && i < o->n_bins; i++) {
		ok = ok && parse_size(items[i], &o->bins[i]) &&
		     (!i || o->bins[i] > o->bins[i - 1]);
		free(items[i]);
	}
	free(items);
	if (!ok)
		die_usage("--bins %s: expected up to %d rising sizes, such as 10000,1000000",
			  optarg, MAX_BINS - 1);
}

static void read_start_at(void *options)
{
	struct mesh_options *o = options;

	if (!parse_seconds(optarg, 0, 1e10, &o->start_at_ns))
		die_usage("--start-at %s: expected seconds since 1970", optarg);
}

static const struct option_row mesh_rows[] = {
	COMMON_ROWS(mesh_options),
	OTHER("hosts", read_hosts),
	OTHER("netns", read_mesh_netns),
	OTHER("workload", read_workload),
	OTHER("ideal", read_ideal),
	OTHER("ideal-rtt-us", read_ideal_rtt),
	OTHER("bins", read_bins),
	OTHER("start-at", read_start_at),
	ROW(mesh_options, self, "self", ARG_U64, RANGE(1, MAX_HOSTS)),
	ROW(mesh_options, link_bit_s, "link-rate", ARG_BITRATE, RANGE(1000, 0)),
	ROW(mesh_options, ideal_bit_s, "ideal-rate", ARG_BITRATE, RANGE(1000, 0)),
	ROW(mesh_options, duration_ns, "duration", ARG_SECONDS,
	    RANGE(100 * NSEC_PER_USEC, DAY_NS)),
	ROW(mesh_options, warmup_ns, "warmup", ARG_SECONDS, RANGE(0, HOUR_NS)),
	ROW(mesh_options, drain_ns, "drain", ARG_SECONDS, RANGE(0, HOUR_NS)),
	ROW(mesh_options, connect_first, "connect-first", ARG_NONE),
	ROW(mesh_options, connect_timeout_ns, "connect-timeout", ARG_SECONDS,
	    RANGE(0, MINUTE_NS)),
	ROW(mesh_options, max_pending, "max-pending", ARG_U64,
	    RANGE(1, 100000000)),
	ROW(mesh_options, chunk, "chunk", ARG_SIZE, RANGE(1, CHUNK_MAX)),
	ROW(mesh_options, lowat, "rcvlowat", ARG_SIZE, RANGE(1, CHUNK_MAX)),
	ROW(mesh_options, interval_ns, "interval-ms", ARG_U64, .min = 1,
	    .max = 60000, .unit = NSEC_PER_MSEC),
	ROW(mesh_options, csv_min_bytes, "csv-min-size", ARG_SIZE,
	    RANGE(1, 1ULL << 40)),
	ROW(mesh_options, seed, "seed", ARG_U64, RANGE(0, UINT64_MAX)),
	ROW(mesh_options, csv, "csv", ARG_TEXT),
	ROW(mesh_options, flows_csv, "flows-csv", ARG_TEXT),
};

static void parse_workloads(struct mesh_options *o)
{
	char err[512];
	size_t i;

	o->workloads = xcalloc(o->n_workloads, sizeof(*o->workloads));
	for (i = 0; i < o->n_workloads; i++) {
		struct workload *w = &o->workloads[i];

		if (!workload_parse(w, o->specs[i], o->n_hosts, err, sizeof(err)) ||
		    !workload_finish(w, o->link_bit_s, err, sizeof(err)))
			die_usage("--workload %s: %s", o->specs[i], err);
	}
}

/* The pairs without an --ideal of their own come last. */
static void parse_ideals(struct mesh_options *o)
{
	struct ideal *last;
	size_t i;

	o->ideals = xcalloc(o->n_ideals + 1, sizeof(*o->ideals));
	for (i = 0; i < o->n_ideals; i++)
		if (!ideal_parse(&o->ideals[i], o->ideal_specs[i], o->n_hosts))
			die_usage("--ideal %s: expected SRC:DST:RATE:RTT_US, SRC and DST hosts from 1 to %zu, such as 1-4:5+6:9.4gbit:20 or all:all:10gbit:12.5",
				  o->ideal_specs[i], o->n_hosts);
	if (!o->ideal_rtt_given)
		return;
	if (!o->ideal_bit_s)
		die_usage("--ideal-rtt-us needs --ideal-rate or --link-rate");
	last = &o->ideals[o->n_ideals++];
	host_set_parse(&last->src, "all", o->n_hosts);
	host_set_parse(&last->dst, "all", o->n_hosts);
	last->bit_s = (double)o->ideal_bit_s;
	last->rtt_ns = o->ideal_rtt_ns;
}

static void mesh_check(struct mesh_options *o)
{
	if (!o->n_hosts)
		die_usage("mesh: --hosts ADDR,... is needed; see dcload --help");
	if (o->n_hosts < 2 || o->n_hosts > MAX_HOSTS)
		die_usage("--hosts: expected 2 to %d addresses, not %zu", MAX_HOSTS,
			  o->n_hosts);
	if (!o->n_workloads)
		die_usage("mesh: --workload SPEC is needed; see dcload --help");
	if (!o->duration_ns)
		die_usage("mesh: --duration S is needed; see dcload --help");
	if (o->self > o->n_hosts)
		die_usage("--self %llu: expected a host from 1 to %zu",
			  (unsigned long long)o->self, o->n_hosts);
	if (o->n_netns && o->self ? o->n_netns != 1 :
	    o->n_netns && o->n_netns != o->n_hosts)
		die_usage("--netns: expected %zu names, one for each host of this process, not %zu",
			  o->self ? (size_t)1 : o->n_hosts, o->n_netns);
	if (!o->ideal_bit_s)
		o->ideal_bit_s = o->link_bit_s;
	if (o->csv && !o->interval_ns)
		o->interval_ns = 100 * NSEC_PER_MSEC;
	if (o->interval_ns && !o->csv)
		die_usage("--interval-ms goes with --csv FILE");
	parse_workloads(o);
	parse_ideals(o);
}

/**
 * mesh_options_parse() - read the command line of "dcload mesh", or exit
 * @o: result
 * @argc: number of arguments
 * @argv: arguments, from "mesh" on
 */
void mesh_options_parse(struct mesh_options *o, int argc, char **argv)
{
	memset(o, 0, sizeof(*o));
	o->port = DCLOAD_PORT;
	o->connect_timeout_ns = 5 * NSEC_PER_SEC;
	o->drain_ns = NSEC_PER_SEC;
	o->max_pending = 1000000;
	o->chunk = 1 << 20;
	o->lowat = 1 << 20;
	o->seed = 1;
	o->bins[0] = 10000;
	o->bins[1] = 1000000;
	o->n_bins = 2;
	o->progress = isatty(STDERR_FILENO);
	options_read(mesh_rows, ARRAY_SIZE(mesh_rows), o, argc, argv);
	mesh_check(o);
}
