// SPDX-License-Identifier: GPL-2.0
/* Checks of onrampctl doctor: modules that are not loaded, or will not be, and the reason. */
#include <inttypes.h>
#include <regex.h>
#include <string.h>

#include "doctor.h"

static const json_t *package(const struct doctor *d, const char *path)
{
	return j_get(j_get(d->now, "package"), path);
}

static bool need_package(struct doctor *d)
{
	if (!need(d, "package", "what is installed"))
		return false;
	if (!package(d, "running")) {
		skip(d, "the release of the kernel is not known");
		return false;
	}
	return true;
}

static bool any_loaded(const struct doctor *d)
{
	return json_object_size(j_get(d->now, "modules")) > 0;
}

/* DKMS leaves a kernel out whose release its pattern does not match. */
static bool left_out(const struct doctor *d, const char *release)
{
	const char *pattern = j_str(d->now, "package/dkms/pattern");
	regex_t regex;
	bool out;

	if (!pattern || regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB))
		return false;
	out = regexec(&regex, release, 0, NULL, 0);
	regfree(&regex);
	return out;
}

struct reason {
	struct text why, action;
};

/* Why a kernel has no modules, and what to do. */
static struct reason no_modules(const struct doctor *d, const json_t *kernel)
{
	const char *release = j_str(kernel, "release"), *log = j_str(d->now, "package/dkms/log");
	const char *version = j_str(d->now, "package/dkms/version");

	if (!release)
		release = "?";
	if (!package(d, "dkms"))
		return (struct reason) {
			text("they were built for another kernel, and DKMS does not know onramp"),
			text("in onramp's sources: make KVER=%s && make KVER=%s install", release,
			     release),
		};
	if (!version)
		version = "VERSION";
	if (left_out(d, release))
		return (struct reason) {
			text("this onramp does not build for that kernel (BUILD_EXCLUSIVE_KERNEL)"),
			text("install a newer onramp; or another pattern in /etc/dkms/onramp.conf"),
		};
	if (!j_true(kernel, "headers"))
		return (struct reason) {
			text("its headers are not installed, so DKMS could not build them"),
			text("apt install linux-headers-%s (dnf install kernel-devel-%s); dkms autoinstall -k %s",
			     release, release, release),
		};
	if (j_true(kernel, "built"))
		return (struct reason) {
			text("DKMS has built them, and not installed them"),
			text("dkms install onramp/%s -k %s", version, release),
		};
	if (log)
		return (struct reason) {
			text("their build failed: %s", log),
			text("look at the end of that file; again: dkms install onramp/%s -k %s",
			     version, release),
		};
	return (struct reason) {
		text("DKMS has not built them for that kernel"),
		text("dkms install onramp/%s -k %s", version, release),
	};
}

/* Modules of the running kernel with a value of a member, for a sentence; of each if it is NULL. */
static struct list which(const struct doctor *d, const char *member, bool value)
{
	struct list l = { "", 0 };
	const json_t *m;
	const char *name;

	json_object_foreach((json_t *)package(d, "running/modules"), name, m)
		if (!member || (j_get(m, member) && j_true(m, member) == value))
			list_add(&l, name);
	return l;
}

void check_module_missing(struct doctor *d)
{
	const json_t *kernel = package(d, "running");
	struct list all, unlisted;
	struct reason r;

	if (!need_package(d) || any_loaded(d))
		return;
	all = which(d, NULL, false);
	unlisted = which(d, "listed", false);
	if (!j_true(d->now, "package/files")) {
		skip(d, "onramp is not installed");
		return;
	}
	if (all.n && !unlisted.n)
		return;
	r = all.n ? (struct reason) {
		text("they are not in modules.dep, so modprobe does not find them"),
		text("depmod"),
	} : no_modules(d, kernel);
	found(d, &(struct found) {
		.subject = j_str(kernel, "release"),
		.evidence = json_pack("{s:O, s:O?}", "kernel", kernel, "dkms",
				      package(d, "dkms")),
		.summary = text("no module of onramp can be loaded into the running kernel, %s",
				j_str(kernel, "release") ? j_str(kernel, "release") : "?").s,
		.why = r.why.s,
		.action = r.action.s,
	});
}

void check_module_stub(struct doctor *d)
{
	const char *release = j_str(d->now, "package/running/release");
	struct list l;

	if (!need_package(d))
		return;
	l = which(d, "stub", true);
	if (l.n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:s}", "modules", l.s),
			.summary = text("%s could not be built for this kernel", l.s).s,
			.why = "an interface of this kernel differs; modprobe says \"Package not installed\"",
			.action = text("see /var/lib/dkms/onramp/%s/%s/*/log/make.log",
				       j_str(d->now, "package/dkms/version") ?
				       j_str(d->now, "package/dkms/version") : "VERSION",
				       release ? release : "KERNEL").s,
		});
}

/*
 * trusted() - tell whether the kernel has the key of a module's signature
 *
 * Return: 1, 0, or -1 if that cannot be seen.
 */
static int trusted(const struct doctor *d, const char *signer)
{
	const json_t *keys = j_get(d->now, "signatures/keys"), *key;
	size_t i;

	if (signer && json_array_size(keys)) {
		json_array_foreach((json_t *)keys, i, key)
			if (json_string_value(key) && !strcmp(json_string_value(key), signer))
				return 1;
		return 0;
	}
	if (j_get(d->now, "package/dkms/enrolled"))
		return j_true(d->now, "package/dkms/enrolled");
	return -1;
}

static const char *signer_of(const struct doctor *d)
{
	const json_t *m;
	const char *name;

	json_object_foreach((json_t *)package(d, "running/modules"), name, m)
		if (j_str(m, "signer"))
			return j_str(m, "signer");
	return NULL;
}

/* How to have the kernel trust the key of a signature. */
static struct text enrolment(const struct doctor *d)
{
	bool dkms = j_true(d->now, "package/dkms/key");

	return text("mokutil --import %s; reboot, and enrol it in the firmware's menu",
		    dkms ? "/var/lib/dkms/mok.pub" : "CERTIFICATE of that key");
}

/* How to have modules signed. */
static struct text signing(const struct doctor *d)
{
	const char *version = j_str(d->now, "package/dkms/version");

	if (!package(d, "dkms"))
		return text("sign them with a key that is enrolled: onramp's guide for operators, Secure Boot");
	return text("apt install openssl; dkms build --force onramp/%s && dkms install --force onramp/%s; mokutil --import /var/lib/dkms/mok.pub",
		    version ? version : "VERSION", version ? version : "VERSION");
}

void check_module_refused(struct doctor *d)
{
	const char *signer = signer_of(d), *lockdown = j_str(d->now, "signatures/lockdown");
	bool boot = j_true(d->now, "signatures/secure_boot");
	struct list plain, with;
	struct text why, action;

	if (!need_package(d) || !need(d, "signatures", "what the kernel wants of signatures") ||
	    any_loaded(d) || !j_true(d->now, "signatures/required"))
		return;
	plain = which(d, "signed", false);
	with = which(d, "signed", true);
	if (plain.n) {
		why = text("it takes signed modules only, and these have no signature: %s",
			   plain.s);
		action = signing(d);
	} else if (with.n && !trusted(d, signer)) {
		why = text("it does not trust the key of their signature (%s)",
			   signer ? signer : "DKMS's");
		action = enrolment(d);
	} else {
		return;
	}
	found(d, &(struct found) {
		.evidence = json_pack("{s:b, s:s?, s:s?, s:b}", "secure_boot", (int)boot,
				      "lockdown", lockdown, "signer", signer, "signed",
				      (int)!plain.n),
		.summary = text("this kernel refuses the modules (%s)", boot ? "Secure Boot" :
				lockdown && strcmp(lockdown, "none") ? "lockdown" :
				"module.sig_enforce").s,
		.why = why.s,
		.action = text("%s%s", action.s, boot ? "" :
			       "; or boot without module.sig_enforce and lockdown").s,
	});
}

void check_module_unsigned(struct doctor *d)
{
	struct list l = { "", 0 }, with = { "", 0 };
	json_t *module, *names;
	const char *name, *signer = signer_of(d);
	char key[64];

	if (!need(d, "modules", "/sys/module"))
		return;
	names = json_array();
	json_object_foreach((json_t *)j_get(d->now, "modules"), name, module) {
		if (!j_str(module, "taint") || !strchr(j_str(module, "taint"), 'E'))
			continue;
		snprintf(key, sizeof(key), "running/modules/%s/signed", name);
		/* The kernel's mark is the same for a signature that it cannot verify. */
		list_add(j_true(package(d, ""), key) ? &with : &l, name);
		json_array_append_new(names, json_string(name));
	}
	if (l.n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:O}", "modules", names),
			.summary = text("%u module%s without a signature: %s", l.n, plural(l.n),
					l.s).s,
			.why = "this kernel takes them; with Secure Boot it would not",
			.action = text("before Secure Boot is turned on: %s", signing(d).s).s,
		});
	else if (with.n)
		found(d, &(struct found) {
			.evidence = json_pack("{s:O, s:s?}", "modules", names, "signer", signer),
			.summary = text("%u module%s signed with a key that this kernel does not trust: %s",
					with.n, plural(with.n), with.s).s,
			.why = "this kernel takes them; with Secure Boot it would not",
			.action = text("before Secure Boot is turned on: %s", enrolment(d).s).s,
		});
	json_decref(names);
}

void check_next_kernel(struct doctor *d)
{
	const char *running = j_str(d->now, "package/running/release");
	const json_t *kernel = package(d, "newest");
	const char *release = j_str(kernel, "release");
	struct reason r;

	if (!need_package(d))
		return;
	if (!release) {
		skip(d, "the installed kernels could not be listed");
		return;
	}
	if ((running && !strcmp(running, release)) || !j_true(d->now, "package/files") ||
	    json_object_size(j_get(kernel, "modules")) || !which(d, NULL, false).n)
		return;
	r = no_modules(d, kernel);
	found(d, &(struct found) {
		.subject = release,
		.evidence = json_pack("{s:O}", "kernel", kernel),
		.summary = text("the newest kernel, %s, has no modules of onramp: after a reboot On-Ramp is off",
				release).s,
		.why = r.why.s,
		.action = r.action.s,
	});
}
