/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the commands of the tool share: values with units, and netlink.
 */
#ifndef _LABNIC_TOOL_H
#define _LABNIC_TOOL_H

#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* Units of parameters: see labnic_params.h and labq_params.h. */
enum kind { BIT, NS, US, COUNT, BYTES, PPB, SNS, RATIO, BOOL, DIST, FACTOR };

struct param {
	const char *name;		/* as it is typed, in upper case */
	const char *field;		/* the same with its unit, as it is shown */
	enum kind kind;
	int attr;
	int64_t min, max, def;
	const char *help;
};

/* A table of parameters ends with a name of NULL. */

#define MUST(call)	do { if ((call) < 0) die("the request is too long"); } while (0)

/* param.c */
void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
uint32_t parse_u32(const char *what, const char *text);
void put_param(struct nl_msg *msg, const struct param *params, const char *name,
	       const char *text, const char *list);
void print_param(const struct param *p, int64_t value);
void list_params(const struct param *params);

/* netlink.c */
int open_netns(const char *name);
void enter_netns(const char *name);
int transact(struct nl_msg *msg, nl_recvmsg_msg_cb_t valid, void *arg);
void finish(int err, const char *what, const char *name);
struct nl_msg *new_message(int type, int flags, const void *body, size_t size);
unsigned int index_of(const char *name);
int64_t get_s64(struct nlattr *attr);

/* link.c, labq.c */
void command_add(char **words, int n);
void command_set(char **words, int n);
void command_show(char **words, int n);
void command_params(void);
void command_labq(char **words, int n);

#endif /* _LABNIC_TOOL_H */
