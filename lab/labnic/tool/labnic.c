// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: make, change and show links of the test NIC, and buffers of switches.
 *
 * iproute2 knows neither the attributes of these kinds nor their units. It sets
 * the rest, such as names, addresses, and up or down, except for the settings that a
 * link is made with. The parameters come from the table that the module is
 * built from.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tool.h"

#define MAX_WORDS	256

static void usage(FILE *to)
{
	fputs("labnic [-n NETNS] COMMAND\n\n"
	      "  add NAME [END] [PARAMETER VALUE]... [peer NAME [END] [PARAMETER VALUE]...]\n"
	      "        make a link; the other end has the same parameters unless given its own\n"
	      "  set NAME PARAMETER VALUE...   change one end, all at once or not at all\n"
	      "  show [NAME]                   as JSON\n"
	      "  params                        list parameters: units, range, default\n"
	      "  labq add dev DEV [PARAMETER VALUE]...   make a device a port of a switch: all\n"
	      "        with a labq in a network namespace share one buffer\n"
	      "  labq set dev DEV PARAMETER VALUE...\n"
	      "  labq show [dev DEV]           settings and statistics as JSON\n"
	      "  labq reset dev DEV            statistics start anew\n"
	      "  labq params                   list parameters\n"
	      "  batch FILE                    one command a line, which may begin with\n"
	      "        -n NETNS; # comments; '-' is stdin\n\n"
	      "END: [netns NETNS] [address MAC] [mtu BYTES] [queues N]\n", to);
}

/* The network namespace of all commands that name none; NULL: the process's own. */
static const char *base;

static void run_in(const char *netns, char **words, int n);

static void command_batch(const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "r") : stdin;
	char *words[MAX_WORDS], line[8192], *word, *rest;
	int n;

	if (!file)
		die("%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "#\n")] = '\0';
		n = 0;
		for (word = strtok_r(line, " \t", &rest); word && n < MAX_WORDS;
		     word = strtok_r(NULL, " \t", &rest))
			words[n++] = word;
		if (n == MAX_WORDS)
			die("a line has more than %d words", MAX_WORDS - 1);
		if (n)
			run_in(base, words, n);
	}
	if (file != stdin)
		fclose(file);
}

static void run(char **words, int n)
{
	if (!strcmp(words[0], "add"))
		command_add(words + 1, n - 1);
	else if (!strcmp(words[0], "set"))
		command_set(words + 1, n - 1);
	else if (!strcmp(words[0], "show"))
		command_show(words + 1, n - 1);
	else if (!strcmp(words[0], "params") && n == 1)
		command_params();
	else if (!strcmp(words[0], "labq"))
		command_labq(words + 1, n - 1);
	else if (!strcmp(words[0], "batch") && n == 2)
		command_batch(words[1]);
	else
		die("unknown command '%s': see 'labnic help'", words[0]);
}

/* One command, in the network namespace of the whole unless it names another. */
static void run_in(const char *netns, char **words, int n)
{
	if (n > 1 && !strcmp(words[0], "-n")) {
		netns = words[1];
		words += 2;
		n -= 2;
	}
	if (!n)
		die("no command given: see 'labnic help'");
	enter_netns(netns);
	run(words, n);
}

int main(int argc, char **argv)
{
	int at = 1;

	if (argc > 2 && !strcmp(argv[1], "-n")) {
		base = argv[2];
		at = 3;
	}
	if (at >= argc) {
		usage(stderr);
		return 1;
	}
	if (!strcmp(argv[at], "help") || !strcmp(argv[at], "--help")) {
		usage(stdout);
		return 0;
	}
	run_in(base, argv + at, argc - at);
	return fflush(stdout) ? 1 : 0;
}
