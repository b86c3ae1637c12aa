// SPDX-License-Identifier: GPL-2.0
/*
 * labnet: networks of hosts and switches over the test NIC, from a few lines of text
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "labnet.h"

static void usage(FILE *to)
{
	fputs("labnet COMMAND TOPOLOGY ...              TOPOLOGY is a file, '-' is stdin\n\n"
	      "  up TOPOLOGY [json FILE] [hosts FILE]  make it, and describe it\n"
	      "  json TOPOLOGY                         describe it only\n"
	      "  port TOPOLOGY SWITCH HOST             ports of SWITCH that lead to HOST\n"
	      "  check TOPOLOGY [pairs N] [flows N]    of one that is up, without other traffic:\n"
	      "                                        times of packets, use of equal paths\n"
	      "  rtt TOPOLOGY A B [BYTES [ANSWER]]     ns, of IP packets, queues being empty\n"
	      "\nThe text has one statement a line, # begins a comment, a value of several\n"
	      "words is put in quotes:\n\n"
	      "  host NAME [nic \"PARAMETER VALUE...\"] [qdisc \"QDISC...\"] [queues N]\n"
	      "  switch NAME [nic ...] [queue PACKETS | labq \"PARAMETER VALUE...\"]\n"
	      "  link A B [rate 10gbit] [delay 1us] [mtu 1500] [a \"PARAMETER VALUE...\"] [b ...]\n"
	      "  default host|switch|link OPTION VALUE...\n"
	      "  seed N\n\n"
	      "nic, a and b are parameters of labnic, see 'labnic params'. A host has one\n"
	      "link, its device is eth0; a switch's ports are named after its neighbours.\n",
	      to);
}

static struct topo *read_topo(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	char error[256];
	struct topo *t;

	if (!f)
		die("%s: %s", path, strerror(errno));
	t = topo_read(f, error, sizeof(error));
	if (!t)
		die("%s: %s", path, error);
	if (f != stdin)
		fclose(f);
	return t;
}

static unsigned int node_index(const struct topo *t, const char *name)
{
	const struct node *node = topo_find(t, name);

	if (!node)
		die("the topology has no '%s'", name);
	return (unsigned int)(node - t->nodes);
}

static unsigned int packet_size(const char *text)
{
	uint64_t bytes;

	if (!parse_u64(text, 1, MAX_MTU, &bytes))
		die("the size of a packet must be 1 to %d bytes, not '%s'", MAX_MTU, text);
	return (unsigned int)bytes;
}

static void command_up(const struct topo *t, char **words, int n)
{
	const char *json = NULL, *hosts = NULL;
	int i;

	for (i = 0; i + 1 < n; i += 2) {
		if (!strcmp(words[i], "json"))
			json = words[i + 1];
		else if (!strcmp(words[i], "hosts"))
			hosts = words[i + 1];
		else
			break;
	}
	if (i < n)
		die("up takes json FILE and hosts FILE, not '%s'", words[i]);
	topo_make(t);
	if (json)
		describe_json(t, json);
	if (hosts)
		describe_hosts(t, hosts);
}

static bool command_check(const struct topo *t, char **words, int n)
{
	uint64_t pairs = 1000, flows = 256;
	int i;

	for (i = 0; i + 1 < n; i += 2)
		if (!(!strcmp(words[i], "pairs") &&
		      parse_u64(words[i + 1], 1, UINT32_MAX, &pairs)) &&
		    !(!strcmp(words[i], "flows") && parse_u64(words[i + 1], 1, 30000, &flows)))
			break;
	if (i < n)
		die("check takes pairs N, and flows N up to 30000, not '%s'", words[i]);
	return topo_check(t, (unsigned int)pairs, (unsigned int)flows);
}

static void command_port(const struct topo *t, char **words)
{
	unsigned int at = node_index(t, words[0]), to = node_index(t, words[1]), i, n;
	unsigned int *ports = xcalloc(t->nodes[at].n_ports + 1, sizeof(*ports));
	struct paths *p = paths_new(t);

	paths_find(t, to, MIN_MTU, p);
	n = paths_next(t, p, at, ports);
	for (i = 0; i < n; i++)
		puts(t->nodes[at].ports[ports[i]].dev);
	if (!n)
		die("'%s' has no port that leads to '%s'", words[0], words[1]);
}

static void command_rtt(const struct topo *t, char **words, int n)
{
	unsigned int bytes = n > 2 ? packet_size(words[2]) : 1500;
	unsigned int answer = n > 3 ? packet_size(words[3]) : ACK_BYTES;
	unsigned int a = node_index(t, words[0]), b = node_index(t, words[1]);

	printf("%" PRIu64 "\n", base_rtt_ns(t, a, b, bytes, answer));
}

int main(int argc, char **argv)
{
	const struct topo *t;
	bool good = true;

	if (argc == 2 && (!strcmp(argv[1], "help") || !strcmp(argv[1], "--help"))) {
		usage(stdout);
		return 0;
	}
	if (argc < 3) {
		usage(stderr);
		return 1;
	}
	t = read_topo(argv[2]);
	argv += 3;
	argc -= 3;
	if (!strcmp(argv[-2], "up"))
		command_up(t, argv, argc);
	else if (!strcmp(argv[-2], "json") && argc == 0)
		describe_json(t, "-");
	else if (!strcmp(argv[-2], "port") && argc == 2)
		command_port(t, argv);
	else if (!strcmp(argv[-2], "check"))
		good = command_check(t, argv, argc);
	else if (!strcmp(argv[-2], "rtt") && argc >= 2 && argc <= 4)
		command_rtt(t, argv, argc);
	else
		die("unknown command, or wrong words for it: see 'labnet help'");
	return fflush(stdout) || !good ? 1 : 0;
}
