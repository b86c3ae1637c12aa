// SPDX-License-Identifier: GPL-2.0
/* onrampctl prometheus */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "prom.h"

/* Replace a file at once: readers see the old one or the new one. */
static void write_whole(const char *path, const json_t *facts, const json_t *report)
{
	char *tmp;
	FILE *f;
	int fd;

	/* Collectors read names that end in .prom, not in this. */
	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		die_unknown("out of memory");
	fd = mkstemp(tmp);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f)
		die_unknown("cannot write %s: %s", path, strerror(errno));
	prom_write(f, facts, report);
	if (ferror(f) || fchmod(fd, 0644) || fclose(f) || rename(tmp, path)) {
		int err = errno;

		unlink(tmp);
		die_unknown("cannot write %s: %s", path, strerror(err));
	}
	free(tmp);
}

/* Longest request that is read, and the time that a client has for it, s. */
#define REQUEST_MAX	8192
#define REQUEST_S	10

/* The status for a request on stdin: 200, or an error of HTTP. */
static int read_request(void)
{
	char request[REQUEST_MAX + 1];
	size_t used = 0, target;
	ssize_t got;

	/* A client that is slower ends this program. */
	alarm(REQUEST_S);
	do {
		got = read(STDIN_FILENO, request + used, REQUEST_MAX - used);
		if (got <= 0)
			return 400;
		used += (size_t)got;
		request[used] = '\0';
	} while (!strstr(request, "\r\n\r\n") && !strstr(request, "\n\n") && used < REQUEST_MAX);
	alarm(0);
	if (used == REQUEST_MAX)
		return 431;
	if (strncmp(request, "GET ", 4))
		return 405;
	target = strcspn(request + 4, " ?\r\n");
	return target == 8 && !strncmp(request + 4, "/metrics", 8) ? 200 : 404;
}

static void put_response(int status, const char *type, const char *body, size_t size)
{
	static const struct {
		int status;
		const char *reason;
	} reasons[] = {
		{ 200, "OK" }, { 400, "Bad Request" }, { 404, "Not Found" },
		{ 405, "Method Not Allowed" }, { 431, "Request Header Fields Too Large" },
		{ 503, "Service Unavailable" },
	};
	const char *reason = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(reasons); i++)
		if (reasons[i].status == status)
			reason = reasons[i].reason;
	printf("HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n",
	       status, reason, type, size);
	fwrite(body, 1, size, stdout);
}

/* One request, as systemd hands it over with Accept=yes. */
static int serve(const struct ctl *ctl)
{
	static const char gone[] = "no module of onramp is loaded\n";
	static const char other[] = "expected GET /metrics\n";
	int status = read_request();
	json_t *facts = NULL, *muted, *report;
	int64_t now_s;
	char *body = NULL;
	size_t size = 0;
	FILE *f;

	if (status == 200) {
		facts = facts_twice(ctl);
		if (!json_object_size(j_get(facts, "now/modules")))
			status = 503;
	}
	if (status == 200) {
		now_s = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
		muted = mute_read(ctl->state, now_s);
		report = doctor_run(facts, muted, now_s);
		f = open_memstream(&body, &size);
		if (!f)
			die_unknown("out of memory");
		prom_write(f, facts, report);
		if (fclose(f))
			die_unknown("out of memory");
		put_response(200, "text/plain; version=0.0.4; charset=utf-8", body, size);
		free(body);
		json_decref(report);
		json_decref(muted);
	} else {
		put_response(status, "text/plain; charset=utf-8", status == 503 ? gone : other,
			     strlen(status == 503 ? gone : other));
	}
	json_decref(facts);
	if (fflush(stdout) || ferror(stdout))
		die_unknown("cannot write the response");
	return CTL_OK;
}

int cmd_prometheus(const struct ctl *ctl, int argc, char **argv)
{
	int64_t now_s = (int64_t)(clock_ns(CLOCK_REALTIME) / NSEC_PER_SEC);
	json_t *facts, *muted, *report;

	if (argc)
		die_usage("prometheus '%s': expected nothing more", argv[0]);
	if (ctl->json)
		die_usage("prometheus has a format of its own: use it without --json");
	if (ctl->http && ctl->output)
		die_usage("--http writes to its client: use it without --output");
	if (ctl->http)
		return serve(ctl);
	facts = facts_twice(ctl);
	if (!json_object_size(j_get(facts, "now/modules")))
		die_unknown("no module of onramp is loaded: there is nothing to write");
	muted = mute_read(ctl->state, now_s);
	report = doctor_run(facts, muted, now_s);
	if (ctl->output)
		write_whole(ctl->output, facts, report);
	else
		prom_write(stdout, facts, report);
	if (fflush(stdout) || ferror(stdout))
		die_unknown("cannot write to stdout");
	json_decref(report);
	json_decref(muted);
	json_decref(facts);
	return CTL_OK;
}
