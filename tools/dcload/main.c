// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "dcload.h"
#include "json.h"
#include "mesh.h"
#include "options.h"
#include "server.h"

static char *read_all(const char *path, size_t *len)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "re") : stdin;
	size_t size = 0, n = 0;
	char *text = NULL;

	if (!f)
		die("cannot read %s: %s", path, strerror(errno));
	do {
		if (n == size) {
			size = size ? 2 * size : 65536;
			text = xrealloc(text, size, 1);
		}
		n += fread(text + n, 1, size - n, f);
	} while (!feof(f) && !ferror(f));
	if (ferror(f))
		die("cannot read %s: %s", path, strerror(errno));
	if (f != stdin)
		fclose(f);
	*len = n;
	return text;
}

static int print_values(int argc, char **argv)
{
	struct json_value *root;
	size_t len, at;
	char *text;
	int i;

	if (argc < 3)
		die_usage("get: a file and at least one path are needed; see dcload --help");
	text = read_all(argv[1], &len);
	root = json_parse(text, len, &at);
	if (!root)
		die("%s: not JSON at byte %zu", argv[1], at);
	for (i = 2; i < argc; i++) {
		const struct json_value *v = json_path(root, argv[i]);

		if (!v || v->type == JSON_NULL)
			die("%s: %s is %s", argv[1], argv[i],
			    v ? "null" : "missing");
		json_print(v, stdout);
		putchar('\n');
	}
	json_free(root);
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	struct client_options co;
	struct server_options so;
	struct mesh_options mo;
	const char *command;

	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	command = argv[1];
	if (!strcmp(command, "client")) {
		client_options_parse(&co, argc - 1, argv + 1);
		return client_run(&co);
	}
	if (!strcmp(command, "server")) {
		server_options_parse(&so, argc - 1, argv + 1);
		return server_run(&so);
	}
	if (!strcmp(command, "mesh")) {
		mesh_options_parse(&mo, argc - 1, argv + 1);
		return mesh_run(&mo);
	}
	if (!strcmp(command, "get"))
		return print_values(argc - 1, argv + 1);
	if (!strcmp(command, "-V") || !strcmp(command, "--version")) {
		printf("dcload %s\n", DCLOAD_VERSION);
		return 0;
	}
	if (!strcmp(command, "-h") || !strcmp(command, "--help")) {
		usage(stdout);
		return 0;
	}
	die_usage("unknown command %s: expected client, server, mesh or get", command);
}
