/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Interface of tc for its plugins. iproute2 installs no header of it, and Debian has no
 * package of one, so the declarations that a qdisc needs are here. They are the same in
 * iproute2 5.10 to 7.1, apart from const and from return values that are not used:
 *
 *   - struct qdisc_util was added to at its end only; the linker-visible symbol
 *     KIND_qdisc_util has to be one of these, writable, since tc sets @next.
 *   - The functions are in tc itself. The plugin is linked with -z now: with a tc that
 *     lacks one of them it does not load, and tc says that it does not know the qdisc.
 *   - tc converts and prints numbers with and without units, in text and in JSON; a
 *     plugin must use that, as there is one JSON document for all of tc's output.
 */
#ifndef _ONRAMP_TC_ABI_H
#define _ONRAMP_TC_ABI_H

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct qdisc_util - a qdisc that tc knows
 * @next: tc's
 * @id: kind
 * @parse_qopt: from the command line to the request; -1 if there is an error, that it
 *	has told the user about
 * @print_qopt: settings
 * @print_xstats: the qdisc's own statistics
 * @parse_copt: of classes
 * @print_copt: of classes
 * @has_block: of qdiscs with filter blocks
 */
struct qdisc_util {
	struct qdisc_util *next;
	const char *id;
	int (*parse_qopt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_qopt)(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*print_xstats)(const struct qdisc_util *qu, FILE *f, struct rtattr *xstats);
	int (*parse_copt)(const struct qdisc_util *qu, int argc, char **argv,
			  struct nlmsghdr *n, const char *dev);
	int (*print_copt)(const struct qdisc_util *qu, FILE *f, struct rtattr *opt);
	int (*has_block)(const struct qdisc_util *qu, struct rtattr *opt, bool *has_block);
};

/* enum output_type - JSON only, text only, or whichever is wanted */
enum output_type {
	PRINT_FP = 1,
	PRINT_JSON = 2,
	PRINT_ANY = 4,
};

/* enum color_attr - kind of text, for its colour; tc's last one is for none */
enum color_attr {
	COLOR_IFNAME,
	COLOR_MAC,
	COLOR_INET,
	COLOR_INET6,
	COLOR_OPERSTATE_UP,
	COLOR_OPERSTATE_DOWN,
	COLOR_NONE,
};

/* Netlink: @maxlen is of the whole request; bytes above it are an error, which -1 is. */
int addattr_l(struct nlmsghdr *n, int maxlen, int type, const void *data, int alen);
int parse_rtattr_flags(struct rtattr *tb[], int max, struct rtattr *rta, int len,
		       unsigned short flags);

/*
 * Numbers with units, 0 if they are such: bytes, bytes per second, of those a percentage of
 * the speed of a device, microseconds, nanoseconds.
 */
int get_size(unsigned int *size, const char *str);
int get_rate64(__u64 *rate, const char *str);
int get_percent_rate64(__u64 *rate, const char *str, const char *dev);
int get_time(unsigned int *time, const char *str);
int get_time64(__s64 *time, const char *str);

/* @fmt is for text, @key for JSON; either may be NULL if the type is not both. */
void print_color_u64(enum output_type type, enum color_attr color, const char *key,
		     const char *fmt, uint64_t value);
void print_color_s64(enum output_type type, enum color_attr color, const char *key,
		     const char *fmt, int64_t value);
void print_color_string(enum output_type type, enum color_attr color, const char *key,
			const char *fmt, const char *value);
void print_color_bool(enum output_type type, enum color_attr color, const char *key,
		      const char *fmt, bool value);
void print_color_null(enum output_type type, enum color_attr color, const char *key,
		      const char *fmt, const char *value);
/*
 * iproute2 5.11 and later have the first two, 5.10 has the other two. Those that tc lacks are NULL.
 * A size has 32 bits before 7.0, 64 there: below 2^32 that is the same to 64-bit machines.
 */
#define TC_OPTIONAL		__attribute__((weak))
TC_OPTIONAL void print_color_size(enum output_type type, enum color_attr color, const char *key,
				  const char *fmt, uint64_t value);
TC_OPTIONAL void tc_print_rate(enum output_type type, const char *key, const char *fmt,
			       unsigned long long rate);
TC_OPTIONAL char *sprint_size(__u32 size, char *buf);
TC_OPTIONAL char *sprint_rate(__u64 rate, char *buf);

char *sprint_time(__u32 time, char *buf);
char *sprint_time64(__s64 time, char *buf);
void print_nl(void);
void open_json_array(enum output_type type, const char *delim);
void close_json_array(enum output_type type, const char *delim);
bool is_json_context(void);

/* Longest text of the functions sprint_...(), and its end. */
#define TC_TEXT			64

#endif /* _ONRAMP_TC_ABI_H */
