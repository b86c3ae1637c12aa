/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of a network namespace, see net_params.h.
 */
#ifndef _NET_PARAMS_TYPES_H
#define _NET_PARAMS_TYPES_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct ctl_table;
struct ctl_table_header;

/* struct net_param - allowed are @min to @max, in @unit, which may be ""; @def is the default */
struct net_param {
	const char	*name;
	const char	*unit;
	u64		min;
	u64		max;
	u64		def;
};

/**
 * struct net_params - a directory
 * @param:	its files, by number
 * @words:	for each of them two words, or two times NULL
 * @count:	how many
 * @get:	the value of a parameter
 * @set:	change it to a value that is in its range; 0 or a negative errno. With @quiet a
 *	refusal is not logged: it was, a moment ago
 * @header:	of the registered directory
 * @table:	its table
 * @lock:	protects @refused
 * @refused:	the last write that was refused: its file, its text's hash, by whom and when
 *
 * @get and @set are called in process context and may sleep.
 */
struct net_params {
	const struct net_param		*param;
	const char * const		(*words)[2];
	unsigned int			count;
	u64 (*get)(struct net_params *params, unsigned int id);
	int (*set)(struct net_params *params, unsigned int id, u64 value, bool quiet);
	struct ctl_table_header		*header;
	struct ctl_table		*table;
	spinlock_t			lock;	/* refused */
	struct {
		unsigned int		id;
		u32			hash;
		pid_t			pid;
		unsigned long		jiffies;
	} refused;
};

#endif /* _NET_PARAMS_TYPES_H */
