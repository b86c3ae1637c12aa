/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LABNET_BATCH_H
#define LABNET_BATCH_H

#include <netlink/msg.h>

struct batch *batch_open(const char *where);
struct nl_msg *batch_new(int type, int flags, const void *head, size_t size);
void batch_add(struct batch *b, struct nl_msg *msg, const char *what, const char *which);
void batch_close(struct batch *b);

/* A request has room for all that this program puts into one. */
#define MUST(call)	do { if ((call) < 0) die("a netlink request is too long"); } while (0)

#endif /* LABNET_BATCH_H */
