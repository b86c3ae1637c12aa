// SPDX-License-Identifier: GPL-2.0
/*
 * The package on this host: files of the modules for the running kernel and for the newest one,
 * what DKMS built, headers, and what the kernel wants of a signature.
 *
 *	package = {
 *		"running": KERNEL, "newest": KERNEL of the same,
 *		"dkms": { "version", "pattern", "log", "key", "enrolled" },
 *		"files": of modules for any kernel, or sources for DKMS, there are some
 *	}
 *	KERNEL = { "release", "modules": { NAME: { "path", "listed", "signed", "signer", "stub" } },
 *		   "headers", "built" }
 *	signatures = { "required", "lockdown", "secure_boot", "keys": [ NAME ] }
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "collect.h"

/* Time in which modinfo and mokutil answer. */
#define ANSWER_NS	(2 * NSEC_PER_SEC)
/* No module of ours is larger. */
#define MODULE_MAX_BYTES (64 << 20)
#define MOK_KEY		"/var/lib/dkms/mok.pub"
/* Behind a module that is signed. */
#define SIGNATURE_MARK	"~Module signature appended~\n"

static bool exists(const struct ctl *ctl, const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", ctl->root, path);
	return !access(full, F_OK);
}

/* The first path that a pattern below the root has, without the root; "" if none. */
static void first_match(const struct ctl *ctl, char *path, size_t size, const char *pattern)
{
	char full[PATH_MAX];
	glob_t g = {};

	*path = '\0';
	snprintf(full, sizeof(full), "%s%s", ctl->root, pattern);
	if (!glob(full, 0, NULL, &g) && g.gl_pathc)
		snprintf(path, size, "%s", g.gl_pathv[0] + strlen(ctl->root));
	globfree(&g);
}

/* A name that people chose, with its spaces; bytes that are not printable ASCII are replaced. */
static json_t *name_json(const char *name)
{
	char clean[128];
	size_t i;

	for (i = 0; i + 1 < sizeof(clean) && name[i]; i++)
		clean[i] = name[i] >= ' ' && name[i] <= '~' ? name[i] : '?';
	clean[i] = '\0';
	return json_string(clean);
}

/* A module's file, if it is not compressed: is there a signature at its end, is it a stub? */
static void read_plain(const struct ctl *ctl, json_t *o, const char *path)
{
	static const char mark[] = SIGNATURE_MARK, stub[] = "onramp_stub=Y";
	const size_t n = sizeof(mark) - 1;
	char full[PATH_MAX], *data = NULL;
	struct stat st;
	int fd;

	snprintf(full, sizeof(full), "%s%s", ctl->root, path);
	fd = open(full, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (!fstat(fd, &st) && st.st_size > 0 && st.st_size < MODULE_MAX_BYTES) {
		size_t size = (size_t)st.st_size;

		data = xcalloc(size, 1);
		if (read(fd, data, size) == (ssize_t)size) {
			j_set(o, "signed", json_boolean(size >= n &&
							!memcmp(data + size - n, mark, n)));
			if (memmem(data, size, stub, sizeof(stub) - 1))
				j_set(o, "stub", json_true());
		}
	}
	free(data);
	close(fd);
}

/* A field of a module's file, as modinfo tells it, or NULL; free() it. */
static char *module_field(const char *path, const char *field)
{
	char *text = program_output((char *[]) { "modinfo", "-F", (char *)field, (char *)path,
						 NULL }, ANSWER_NS);

	if (text)
		text[strcspn(text, "\n")] = '\0';
	if (text && *text)
		return text;
	free(text);
	return NULL;
}

/* Whether a line of modules.dep is about a module's file. */
static bool is_listed(const char *list, const char *name)
{
	size_t len = strlen(name);
	const char *at;

	for (at = strstr(list, name); at; at = strstr(at + 1, name))
		if (at > list && at[-1] == '/' && !strncmp(at + len, ".ko", 3))
			return true;
	return false;
}

/*
 * read_module() - add what is known of the file of a module
 * @ask: modinfo may be run, which takes a while
 */
static void read_module(const struct ctl *ctl, json_t *all, const char *name, const char *path,
			const char *list, bool ask)
{
	size_t len = strlen(path);
	json_t *o = json_object();
	bool plain = len > 3 && !strcmp(path + len - 3, ".ko");
	char *field;

	j_set(o, "path", json_string(path));
	if (list)
		j_set(o, "listed", json_boolean(is_listed(list, name)));
	if (plain)
		read_plain(ctl, o, path);
	if (ask && !*ctl->root && (!plain || j_true(o, "signed"))) {
		field = module_field(path, "signer");
		if (field)
			j_set(o, "signer", name_json(field));
		if (!plain)
			j_set(o, "signed", json_boolean(field));
		free(field);
		field = plain ? NULL : module_field(path, "onramp_stub");
		if (field)
			j_set(o, "stub", json_true());
		free(field);
	}
	j_set(all, name, o);
}

/* A module that is not loaded, or that the kernel took without a signature that it trusts. */
static bool in_doubt(const json_t *facts, const char *name)
{
	const json_t *module = json_object_get(j_get(facts, "modules"), name);
	const char *taint = j_str(module, "taint");

	return !module || (taint && strchr(taint, 'E'));
}

/* What is installed for a kernel; @facts of the running one, or NULL. */
static json_t *read_kernel(const struct ctl *ctl, const char *release, const json_t *facts)
{
	static const char * const dirs[] = { "updates/dkms", "updates", "extra", "weak-updates",
					     "kernel/net/sched" };
	char pattern[PATH_MAX], path[PATH_MAX];
	json_t *o = json_object(), *all = json_object();
	char *listed;
	size_t i, k;

	snprintf(path, sizeof(path), "/lib/modules/%s/modules.dep", release);
	listed = facts_file(ctl, path);
	for (i = 0; ctl_modules[i]; i++)
		for (k = 0; k < ARRAY_SIZE(dirs); k++) {
			snprintf(pattern, sizeof(pattern), "/lib/modules/%s/%s/%s.ko*", release,
				 dirs[k], ctl_modules[i]);
			first_match(ctl, path, sizeof(path), pattern);
			if (!*path)
				continue;
			read_module(ctl, all, ctl_modules[i], path, listed,
				    facts && in_doubt(facts, ctl_modules[i]));
			break;
		}
	free(listed);
	j_set(o, "release", json_string(release));
	j_set(o, "modules", all);
	snprintf(path, sizeof(path), "/lib/modules/%s/build/Makefile", release);
	j_set(o, "headers", json_boolean(exists(ctl, path)));
	snprintf(pattern, sizeof(pattern), "/var/lib/dkms/onramp/*/%s/*/module", release);
	first_match(ctl, path, sizeof(path), pattern);
	j_set(o, "built", json_boolean(*path));
	return o;
}

/* The newest release that has modules, by the order of versions; "" if none can be listed. */
static void newest_release(const struct ctl *ctl, char *release, size_t size)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	*release = '\0';
	snprintf(path, sizeof(path), "%s/lib/modules", ctl->root);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/lib/modules/%s/modules.builtin", entry->d_name);
		if (*entry->d_name == '.' || !exists(ctl, path))
			continue;
		/* A removed kernel leaves a directory; one that can boot has an image. */
		snprintf(path, sizeof(path), "/boot/vmlinuz-%s", entry->d_name);
		if (!exists(ctl, path))
			continue;
		if (strverscmp(entry->d_name, release) > 0)
			snprintf(release, size, "%s", entry->d_name);
	}
	closedir(dir);
}

/* Text between double quotes behind a word, in a file of dkms; NULL if it is not there. */
static char *quoted(char *text, const char *word)
{
	char *at = text ? strstr(text, word) : NULL, *end;

	if (!at)
		return NULL;
	at += strlen(word);
	end = strchr(at, '"');
	if (!end)
		return NULL;
	*end = '\0';
	return at;
}

static void read_dkms(const struct ctl *ctl, json_t *package)
{
	char *const ask[] = { "sh", "-c", "mokutil --test-key " MOK_KEY "; :", NULL };
	char path[PATH_MAX], *text, *pattern, *version;
	json_t *o;

	first_match(ctl, path, sizeof(path), "/var/lib/dkms/onramp/*/source");
	if (!*path)
		return;
	o = json_object();
	version = path + strlen("/var/lib/dkms/onramp/");
	version[strcspn(version, "/")] = '\0';
	j_set(o, "version", json_string(version));
	snprintf(path, sizeof(path), "/var/lib/dkms/onramp/%s/source/dkms.conf",
		 j_str(o, "version"));
	text = facts_file(ctl, path);
	pattern = quoted(text, "\nBUILD_EXCLUSIVE_KERNEL=\"");
	if (pattern)
		j_set(o, "pattern", json_string(pattern));
	free(text);
	snprintf(path, sizeof(path), "/var/lib/dkms/onramp/%s/build/make.log",
		 j_str(o, "version"));
	if (exists(ctl, path))
		j_set(o, "log", json_string(path));
	j_set(o, "key", json_boolean(exists(ctl, MOK_KEY)));
	if (!*ctl->root && exists(ctl, MOK_KEY)) {
		/* Its status is 1 if the key is enrolled. */
		text = program_output(ask, ANSWER_NS);
		if (text && strstr(text, "is already enrolled"))
			j_set(o, "enrolled", json_true());
		else if (text && strstr(text, "is not enrolled"))
			j_set(o, "enrolled", json_false());
		free(text);
	}
	j_set(package, "dkms", o);
}

/* Names of the keys that the kernel has, as far as they can be seen. */
static void read_keys(const struct ctl *ctl, json_t *signatures)
{
	char *text = facts_file(ctl, "/proc/keys"), *line, *end, *name, *colon;
	json_t *list;

	if (!text)
		return;
	list = json_array();
	/* ID flags uses time permissions uid gid "asymmetri" NAME: HEX: X509.rsa HEX [] */
	for (line = strtok_r(text, "\n", &end); line; line = strtok_r(NULL, "\n", &end)) {
		name = strstr(line, " asymmetri ");
		if (!name)
			continue;
		name += strlen(" asymmetri ");
		colon = strstr(name, ": ");
		if (colon)
			*colon = '\0';
		json_array_append_new(list, name_json(name));
	}
	free(text);
	j_set(signatures, "keys", list);
}

static void read_signatures(const struct ctl *ctl, json_t *facts)
{
	static const char * const modes[] = { "none", "integrity", "confidentiality" };
	json_t *o = json_object();
	char path[PATH_MAX], full[PATH_MAX], *text, word[32];
	bool required = false;
	unsigned char efi[5];
	size_t i;
	int fd;

	text = facts_file(ctl, "/sys/module/module/parameters/sig_enforce");
	required |= text && (*text == 'Y' || *text == '1');
	free(text);
	text = facts_file(ctl, "/sys/kernel/security/lockdown");
	for (i = 0; text && i < ARRAY_SIZE(modes); i++) {
		snprintf(word, sizeof(word), "[%s]", modes[i]);
		if (!strstr(text, word))
			continue;
		j_set(o, "lockdown", json_string(modes[i]));
		required |= i > 0;
	}
	free(text);
	j_set(o, "required", json_boolean(required));
	first_match(ctl, path, sizeof(path), "/sys/firmware/efi/efivars/SecureBoot-*");
	if (*path) {
		snprintf(full, sizeof(full), "%s%s", ctl->root, path);
		fd = open(full, O_RDONLY | O_CLOEXEC);
		/* Attributes, 4 bytes, are before the value. */
		if (fd >= 0 && read(fd, efi, sizeof(efi)) == (ssize_t)sizeof(efi))
			j_set(o, "secure_boot", json_boolean(efi[4] == 1));
		if (fd >= 0)
			close(fd);
	}
	read_keys(ctl, o);
	j_set(facts, "signatures", o);
}

/**
 * package_read() - add what is installed, and what the kernel wants of it
 * @ctl: where
 * @facts: with "kernel"; "package" and "signatures" are added
 */
void package_read(const struct ctl *ctl, json_t *facts)
{
	json_t *o = json_object();
	char newest[256], path[PATH_MAX];
	const char *running = j_str(facts, "kernel");

	if (running)
		j_set(o, "running", read_kernel(ctl, running, facts));
	newest_release(ctl, newest, sizeof(newest));
	if (*newest)
		j_set(o, "newest", read_kernel(ctl, newest, NULL));
	read_dkms(ctl, o);
	first_match(ctl, path, sizeof(path), "/usr/src/onramp-*/dkms.conf");
	if (!*path)
		first_match(ctl, path, sizeof(path), "/lib/modules/*/*/sch_onramp.ko*");
	if (!*path)
		first_match(ctl, path, sizeof(path), "/lib/modules/*/updates/dkms/sch_onramp.ko*");
	j_set(o, "files", json_boolean(*path || j_get(o, "dkms")));
	j_set(facts, "package", o);
	read_signatures(ctl, facts);
}
