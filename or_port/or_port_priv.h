/* SPDX-License-Identifier: GPL-2.0 */
/*
 * or_port: shared by its files.
 */
#ifndef _OR_PORT_PRIV_H
#define _OR_PORT_PRIV_H

#include <linux/init.h>
#include <linux/types.h>

struct net;
struct sk_buff;

/* or_port_main.c */
bool or_port_is_open(const struct net *net);
int or_port_put_stats(struct sk_buff *msg, struct net *net);
void or_port_count_forward(const struct net *net);

/* or_port_guard.c */
int or_port_guard_register(struct net *net);
void or_port_guard_unregister(struct net *net);

/* or_path.c */
int or_path_init(void);
void or_path_exit(void);

/* or_port_genl.c */
int or_genl_init(void);
void or_genl_exit(void);

#endif /* _OR_PORT_PRIV_H */
