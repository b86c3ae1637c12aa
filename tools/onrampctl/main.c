// SPDX-License-Identifier: GPL-2.0
/* onrampctl: show the state of On-Ramp and TIMELY on this host, and its faults. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "filter.h"
#include "monitor.h"
#include "nic_ts.h"
#include "parse.h"
#include "prom.h"
#include "show.h"
#include "top.h"
#include "trace.h"
#include "why.h"

#define STATE_FILE	"/var/lib/onramp/muted.json"

/**
 * die_unknown() - print an error, one sentence, and exit with status 3
 * @fmt: printf format, without trailing newline
 */
void die_unknown(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vdie(CTL_UNKNOWN, fmt, ap);
}

static int cmd_doctor(const struct ctl *ctl, int argc, char **argv);
static int cmd_facts(const struct ctl *ctl, int argc, char **argv);
static int cmd_status(const struct ctl *ctl, int argc, char **argv);

static const struct {
	const char *name;
	int (*run)(const struct ctl *ctl, int argc, char **argv);
	const char *words, *what;
} commands[] = {
	{ "doctor", cmd_doctor, "[mute CODE PERIOD | unmute CODE | codes]",
	  "look for what is wrong, and say what to do" },
	{ "status", cmd_status, "", "say whether TIMELY and On-Ramp act, and if not, why" },
	{ "show", cmd_show,
	  "devices | paths | flows [FILTER] | subscribers | timely [flows [FILTER]] | clocks",
	  "show a table of them" },
	{ "clock", cmd_clock, "status | sources | feed CLOCK | waitsync [CLOCK] [within ERROR]",
	  "show the daemons that set the clocks, feed maps of NICs' clocks, wait for a good one" },
	{ "monitor", cmd_monitor, "", "write events of paths and devices as they come" },
	{ "why", cmd_why, "FLOW", "show the limits of a connection, as shares of the time" },
	{ "top", cmd_top, "[FILTER]", "show the busiest connections, again and again" },
	{ "trace", cmd_trace, "FLOW",
	  "write the state of one connection over time, as CSV, and its plot" },
	{ "prometheus", cmd_prometheus, "", "write metrics for Prometheus" },
	{ "facts", cmd_facts, "", "write the facts that doctor uses, as JSON" },
};

/* Options, and the commands that they are for; NULL: all. */
static const struct {
	const char *of, *text;
} option_help[] = {
	{ NULL, "  -j, --json		write JSON\n" },
	{ NULL, "  -n, --netns NAME	look at this network namespace of ip-netns(8)\n" },
	{ NULL, "  -v, --verbose		write more\n" },
	{ NULL,
	  "  -i, --interval S	time between two looks, 0 to 3600 (default: 1; trace: 0.01)\n" },
	{ "show top", "  -r, --resolve		show, top: names of hosts and ports in tables\n" },
	{ "prometheus trace",
	  "  -o, --output FILE	prometheus: replace this file at once; trace: write this\n"
	  "			file, and FILE.gp for gnuplot\n" },
	{ "monitor top clock",
	  "      --count N		end after N events (monitor), screens (top) or maps\n"
	  "			(clock feed)\n" },
	{ "top", "      --sort KEY	top: rate (default), rtt, queue, paused or retrans\n" },
	{ "trace", "      --duration S	trace: length, 0.001 to 86400 (default: 10)\n" },
	{ "clock",
	  "      --timeout S	clock waitsync: give up after this time, 0.1 to 86400 (default:\n"
	  "			never)\n" },
	{ "prometheus",
	  "      --http		prometheus: answer one HTTP request on stdin, for systemd\n" },
	{ NULL,
	  "      --facts FILE	read facts that 'onrampctl facts' wrote, not this host's\n" },
	{ NULL, "      --root DIR	read /proc and /sys below DIR, and nothing else\n" },
	{ "doctor status prometheus",
	  "      --state FILE	muted checks (default: " STATE_FILE ")\n" },
	{ NULL,
	  "      --color WHEN	always, never, or auto (default): on a terminal, unless\n"
	  "			NO_COLOR is set\n" },
	{ NULL, "  -h, --help		print this text; behind a command: its own\n" },
	{ NULL, "  -V, --version		print the version\n" },
};

static const char filter_help[] =
	"\n"
	"FILTER and FLOW are conditions on connections, in the words of ss(8):\n"
	"\tsrc|dst [= | !=] ADDRESS[/LENGTH][:PORT]   or the name of a host, or :PORT\n"
	"\tsport|dport [= | != | > | < | >= | <=] PORT\n"
	"\tcc [= | !=] NAME                           congestion control\n"
	"\tnot, and, or, ( )\n"
	"such as: dst 10.0.3.9:443 and cc timely\n";

static const char top_help[] =
	"\n"
	"Keys: q ends it; r, t, d, p and x sort by rate, RTT, queue, paused and retransmissions.\n";

/* Is @word one of the @words, which have blanks between them? */
static bool among(const char *words, const char *word)
{
	size_t n = strlen(word);
	const char *at = words;

	while ((at = strstr(at, word))) {
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
			return true;
		at += n;
	}
	return false;
}

/* The help of a command, or of all of them. */
static void print_help(FILE *f, const char *command)
{
	bool filters = !command;
	size_t i;

	if (!command)
		fputs("usage: onrampctl [OPTION]... COMMAND\n\n", f);
	for (i = 0; i < ARRAY_SIZE(commands); i++) {
		if (command && strcmp(command, commands[i].name))
			continue;
		fprintf(f, "%s%s%s%s\n\t%s\n", command ? "usage: onrampctl [OPTION]... " : "  ",
			commands[i].name, *commands[i].words ? " " : "", commands[i].words,
			commands[i].what);
		filters |= strstr(commands[i].words, "FILTER") || strstr(commands[i].words, "FLOW");
	}
	if (!command)
		fputs("  help [COMMAND]\n\tprint this text, or that of a command\n", f);
	fputc('\n', f);
	for (i = 0; i < ARRAY_SIZE(option_help); i++)
		if (!command || !option_help[i].of || among(option_help[i].of, command))
			fputs(option_help[i].text, f);
	if (filters)
		fputs(filter_help, f);
	if (command && !strcmp(command, "top"))
		fputs(top_help, f);
	fputs(command ? "" : "\nWords of commands may be shortened while they are unique.\n", f);
	fputs("\nExit status: 0 all is well, 1 warning, 2 critical, 3 unknown, 255 wrong arguments.\n",
	      f);
}

/**
 * word_among() - find a word that may be shortened
 * @what: of what it is a word, for the error
 * @word: as typed
 * @names: the words
 * @n: number of them
 *
 * Return: its index, @n if none begins so. Exits if several do.
 */
size_t word_among(const char *what, const char *word, const char * const *names, size_t n)
{
	size_t i, found = n;

	for (i = 0; i < n; i++)
		if (!strcmp(word, names[i]))
			return i;
	for (i = 0; i < n && *word; i++) {
		if (strncmp(word, names[i], strlen(word)))
			continue;
		if (found < n)
			die_usage("%s '%s' is ambiguous: %s or %s", what, word, names[found],
				  names[i]);
		found = i;
	}
	return found;
}

/* The index of a command; exits if there is none. */
static size_t command_named(const char *word)
{
	const char *names[ARRAY_SIZE(commands)];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i].name;
	i = word_among("command", word, names, ARRAY_SIZE(commands));
	if (i == ARRAY_SIZE(commands))
		die_usage("unknown command '%s': 'onrampctl --help' lists them", word);
	return i;
}

/* Return the name of a check in capitals. Exits if no check has it. */
static const char *check_named(const char *name)
{
	size_t i;

	for (i = 0; i < doctor_checks(); i++)
		if (!strcasecmp(name, doctor_code(i)))
			return doctor_code(i);
	die_usage("unknown check '%s': 'onrampctl doctor codes' lists them", name);
}

static int mute(const struct ctl *ctl, int argc, char **argv, int64_t now_s)
{
	bool on = !strcmp(argv[0], "mute");
	int64_t period_s = 0;
	const char *code;
	json_t *muted;

	if (argc != (on ? 3 : 2))
		die_usage("expected 'doctor %s'", on ? "mute CODE PERIOD" : "unmute CODE");
	code = check_named(argv[1]);
	if (on && !mute_period(argv[2], &period_s))
		die_usage("period '%s': expected a number and s, m, h, d or w, such as 7d; at most a year",
			  argv[2]);
	muted = mute_read(ctl->state, now_s);
	if (on)
		j_set(muted, code, json_integer(now_s + period_s));
	else
		json_object_del(muted, code);
	mute_write(ctl->state, muted);
	json_decref(muted);
	return CTL_OK;
}

static int codes(const struct ctl *ctl)
{
	json_t *list = json_array();
	size_t i;

	for (i = 0; i < doctor_checks(); i++) {
		if (!ctl->json)
			printf("%-18s %-8s %s\n", doctor_code(i), doctor_severity(i),
			       doctor_title(i));
		json_array_append_new(list, json_pack("{s:s, s:s, s:s}", "code", doctor_code(i),
						      "severity", doctor_severity(i), "what",
						      doctor_title(i)));
	}
	if (ctl->json)
		j_print(list);
	json_decref(list);
	return CTL_OK;
}

/* What doctor finds at @now_s, less what is muted; @found: the facts that it looked at. */
static json_t *examine(const struct ctl *ctl, int64_t now_s, json_t **found)
{
	json_t *muted, *report;

	*found = facts_twice(ctl);
	muted = mute_read(ctl->state, now_s);
	report = doctor_run(*found, muted, now_s);
	json_decref(muted);
	return report;
}

static int cmd_doctor(const struct ctl *ctl, int argc, char **argv)
{
	int64_t now_s = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
	json_t *found, *report;
	int status;

	if (argc && (!strcmp(argv[0], "mute") || !strcmp(argv[0], "unmute")))
		return mute(ctl, argc, argv, now_s);
	if (argc == 1 && !strcmp(argv[0], "codes"))
		return codes(ctl);
	if (argc)
		die_usage("doctor '%s': expected mute, unmute, codes, or nothing", argv[0]);
	report = examine(ctl, now_s, &found);
	if (ctl->json)
		j_print(report);
	else
		report_text(report, ctl->verbose);
	status = doctor_status(report);
	json_decref(report);
	json_decref(found);
	return status;
}

static int cmd_status(const struct ctl *ctl, int argc, char **argv)
{
	int64_t now_s = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
	json_t *found, *report, *parts;
	int status;

	if (argc)
		die_usage("status '%s': expected nothing", argv[0]);
	report = examine(ctl, now_s, &found);
	parts = status_run(found, report);
	if (ctl->json)
		j_print(parts);
	else
		status_text(parts, ctl->verbose);
	status = doctor_status(parts);
	json_decref(parts);
	json_decref(report);
	json_decref(found);
	return status;
}

static int cmd_facts(const struct ctl *ctl, int argc, char **argv)
{
	json_t *found;

	if (argc)
		die_usage("facts '%s': expected nothing", argv[0]);
	found = facts_twice(ctl);
	j_print(found);
	json_decref(found);
	return CTL_OK;
}

/* As `ip netns exec` does: /sys is of a namespace, too. */
static void join_netns(const char *name)
{
	char path[256];
	int fd;

	if (!*name || strchr(name, '/') ||
	    snprintf(path, sizeof(path), "/run/netns/%s", name) >= (int)sizeof(path))
		die_usage("network namespace '%s': expected a name of 'ip netns list'", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die_unknown("unknown network namespace '%s': 'ip netns list' shows all",
			    name);
	if (setns(fd, CLONE_NEWNET))
		die_unknown("cannot enter the network namespace '%s': %s", name, strerror(errno));
	close(fd);
	if (unshare(CLONE_NEWNS) || mount("", "/", "none", MS_SLAVE | MS_REC, NULL))
		die_unknown("cannot enter the network namespace '%s': %s", name, strerror(errno));
	/* If it cannot be mounted, facts that only /sys has are left out. */
	if (!umount2("/sys", MNT_DETACH))
		mount(name, "/sys", "sysfs", 0, NULL);
}

/* Options without a letter. */
enum { FACTS = 256, ROOT, STATE, COUNT, DURATION, HTTP, TIMEOUT, COLOR, SORT };

static const struct option options[] = {
	{ "json", no_argument, NULL, 'j' },
	{ "netns", required_argument, NULL, 'n' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "resolve", no_argument, NULL, 'r' },
	{ "interval", required_argument, NULL, 'i' },
	{ "output", required_argument, NULL, 'o' },
	{ "count", required_argument, NULL, COUNT },
	{ "sort", required_argument, NULL, SORT },
	{ "duration", required_argument, NULL, DURATION },
	{ "timeout", required_argument, NULL, TIMEOUT },
	{ "color", required_argument, NULL, COLOR },
	{ "facts", required_argument, NULL, FACTS },
	{ "http", no_argument, NULL, HTTP },
	{ "root", required_argument, NULL, ROOT },
	{ "state", required_argument, NULL, STATE },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{}
};

/* Read a time from @min_s to @max_s seconds. Exits if it is not one. */
static void read_seconds(const char *name, double min_s, double max_s, uint64_t *ns)
{
	if (!parse_seconds(optarg, min_s, max_s, ns))
		die_usage("%s '%s': expected seconds, %g to %g", name, optarg, min_s, max_s);
}

/* Read the value of option @c, a number or a time. Exits if it is not one. */
static void read_number(int c, struct ctl *ctl)
{
	switch (c) {
	case 'i':
		read_seconds("interval", 0, 3600, &ctl->interval_ns);
		ctl->interval_set = true;
		break;
	case COUNT:
		if (!parse_u64(optarg, 1, UINT64_MAX, &ctl->count))
			die_usage("count '%s': expected a number, at least 1", optarg);
		break;
	case DURATION:
		read_seconds("duration", 0.001, 86400, &ctl->duration_ns);
		break;
	case TIMEOUT:
		read_seconds("timeout", 0.1, 86400, &ctl->timeout_ns);
		break;
	}
}

static struct addrinfo *lookup(const char *name)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list;

	return getaddrinfo(name, NULL, &hints, &list) ? NULL : list;
}

/* Read the options into @ctl. Returns -1, or the status with which to exit. */
static int read_options(int argc, char **argv, struct ctl *ctl)
{
	bool help = false;
	int c;

	while ((c = getopt_long(argc, argv, "jn:rvi:o:Vh", options, NULL)) != -1)
		switch (c) {
		case 'j':
			ctl->json = true;
			break;
		case 'n':
			ctl->netns = optarg;
			break;
		case 'v':
			ctl->verbose = true;
			break;
		case 'r':
			ctl->resolve = true;
			break;
		case 'o':
			ctl->output = optarg;
			break;
		case 'i':
		case COUNT:
		case DURATION:
		case TIMEOUT:
			read_number(c, ctl);
			break;
		case COLOR:
			if (!term_init(optarg))
				die_usage("color '%s': expected always, never or auto", optarg);
			break;
		case SORT:
			ctl->sort = optarg;
			break;
		case FACTS:
			ctl->facts = optarg;
			break;
		case HTTP:
			ctl->http = true;
			break;
		case ROOT:
			ctl->root = optarg;
			break;
		case STATE:
			ctl->state = optarg;
			break;
		case 'V':
			puts("onrampctl " ONRAMPCTL_VERSION);
			return CTL_OK;
		case 'h':
			help = true;
			break;
		default:
			fputs("'onrampctl --help' shows what is allowed\n", stderr);
			return EXIT_USAGE;
		}
	/* help, help COMMAND, COMMAND -h */
	if (optind < argc && !strcmp(argv[optind], "help")) {
		help = true;
		optind++;
	}
	if (help) {
		print_help(stdout, optind < argc ? commands[command_named(argv[optind])].name :
			   NULL);
		return CTL_OK;
	}
	if (optind < argc)
		return -1;
	print_help(stderr, NULL);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	struct ctl ctl = {
		.root = "", .state = STATE_FILE, .interval_ns = NSEC_PER_SEC,
		.duration_ns = 10 * NSEC_PER_SEC,
	};
	const char *name = strrchr(argv[0] ? argv[0] : "", '/');
	int status;
	size_t i;

	/* A link to this program. */
	if (!strcmp(name ? name + 1 : argv[0] ? argv[0] : "", "nic_ts"))
		return nic_ts_main(argc, argv);
	term_init("auto");
	filter_lookup = lookup;
	status = read_options(argc, argv, &ctl);
	if (status >= 0)
		return status;
	i = command_named(argv[optind]);
	if (ctl.netns && (ctl.facts || *ctl.root))
		die_usage("a network namespace is of this host: use --netns without --facts and --root");
	if (ctl.netns)
		join_netns(ctl.netns);
	return commands[i].run(&ctl, argc - optind - 1, argv + optind + 1);
}
