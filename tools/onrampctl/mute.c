// SPDX-License-Identifier: GPL-2.0
/*
 * Muted checks, in a file: { "COALESCE": { "until_s": 1800000000 } }, seconds since 1970. Each
 * has an end, after which it counts again by itself.
 */
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctl.h"
#include "parse.h"

/* Longest time that a check may be muted, s: a year. */
#define MUTE_MAX_S	(366 * 86400LL)

/**
 * mute_period() - read a time such as 90m, 12h, 7d, 2w
 * @text: a number and a unit
 * @out_s: result in seconds, 1 to a year
 *
 * Return: true if it is one.
 */
bool mute_period(const char *text, int64_t *out_s)
{
	static const struct { char unit; int64_t s; } units[] = {
		{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 },
	};
	size_t n = strlen(text), i;
	char digits[16];
	uint64_t v;

	if (n < 2 || n > sizeof(digits))
		return false;
	memcpy(digits, text, n - 1);
	digits[n - 1] = '\0';
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (units[i].unit != text[n - 1])
			continue;
		if (!parse_u64(digits, 1, (uint64_t)(MUTE_MAX_S / units[i].s), &v))
			return false;
		*out_s = (int64_t)v * units[i].s;
		return true;
	}
	return false;
}

/**
 * mute_read() - read the file
 * @path: may be missing: nothing is muted
 * @now_s: seconds since 1970; entries that ended before are left out
 *
 * Return: code -> seconds since 1970, owned by the caller.
 */
json_t *mute_read(const char *path, int64_t now_s)
{
	json_t *muted = json_object(), *file, *entry;
	json_error_t error;
	const char *code;
	int64_t until;
	FILE *f;

	f = fopen(path, "re");
	if (!f && (errno == ENOENT || errno == ENOTDIR))
		return muted;
	if (!f) {
		warning("cannot read %s, nothing is muted: %s", path, strerror(errno));
		return muted;
	}
	file = json_loadf(f, 0, &error);
	fclose(f);
	if (!json_is_object(file)) {
		warning("%s is damaged, nothing is muted: %s", path,
			file ? "expected an object" : error.text);
		json_decref(file);
		return muted;
	}
	json_object_foreach(file, code, entry)
		if (j_int(entry, "until_s", &until) && until > now_s)
			j_set(muted, code, json_integer(until));
	json_decref(file);
	return muted;
}

/* mkdir -p */
static void make_dirs(char *path)
{
	char *p;

	for (p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	mkdir(path, 0755);
}

/**
 * mute_write() - write the file, all of it or nothing
 * @path: its directory is made
 * @muted: code -> seconds since 1970
 */
void mute_write(const char *path, const json_t *muted)
{
	json_t *file = json_object(), *until;
	char *dir = xstrdup(path), *tmp;
	const char *code;
	int fd;

	json_object_foreach((json_t *)muted, code, until)
		j_set(file, code, json_pack("{s:O}", "until_s", until));
	make_dirs(dirname(dir));
	free(dir);
	if (asprintf(&tmp, "%s.XXXXXX", path) < 0)
		die_unknown("out of memory");
	fd = mkstemp(tmp);
	if (fd < 0 || fchmod(fd, 0644) ||
	    json_dumpfd(file, fd, JSON_INDENT(2) | JSON_SORT_KEYS) || write(fd, "\n", 1) != 1 ||
	    fsync(fd) || close(fd) || rename(tmp, path)) {
		int err = errno;

		if (fd >= 0)
			unlink(tmp);
		die_unknown("cannot write %s: %s", path, strerror(err));
	}
	free(tmp);
	json_decref(file);
}
