/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Parameters of a network namespace, as a directory of sysctls: each is a number within a
 * range, or one of two words, whose value is its index.
 *
 * Values of any width are text here. A refused value changes nothing, and the kernel's log
 * names the values that are allowed.
 *
 * Included by the one file of a module that has such a directory.
 */
#ifndef _NET_PARAMS_H
#define _NET_PARAMS_H

#include <linux/jhash.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/sysctl.h>
#include <net/net_namespace.h>

#include <net_params_types.h>

/* Characters of the largest value: a u64 has 20, a word fewer. With '\n' and '\0'. */
#define NET_PARAM_TEXT	32

/* sysctl(8) of procps 4 repeats a write that fails, at once. */
#define NET_PARAMS_AGAIN	(HZ / 10)

/* Return whether this thread's write of @hash was just refused, and was logged. */
static bool net_params_again(struct net_params *params, unsigned int id, u32 hash)
{
	bool again;

	spin_lock(&params->lock);
	again = params->refused.pid == current->pid && params->refused.id == id &&
		params->refused.hash == hash &&
		time_before(jiffies, params->refused.jiffies + NET_PARAMS_AGAIN);
	spin_unlock(&params->lock);
	return again;
}

static void net_params_refuse(struct net_params *params, unsigned int id, u32 hash)
{
	spin_lock(&params->lock);
	params->refused.id = id;
	params->refused.hash = hash;
	params->refused.pid = current->pid;
	params->refused.jiffies = jiffies;
	spin_unlock(&params->lock);
}

static int net_param_parse(const struct net_params *params, unsigned int id, char *text,
			   u64 *value, bool quiet)
{
	const struct net_param *param = &params->param[id];
	const char * const *words = params->words[id];
	int err;

	text = strim(text);
	if (words[0]) {
		err = match_string(words, 2, text);
		if (err >= 0) {
			*value = err;
			return 0;
		}
		if (!quiet)
			pr_info_ratelimited("%s '%*pE': expected %s or %s\n", param->name,
					    (int)strlen(text), text, words[0], words[1]);
		return -EINVAL;
	}
	err = kstrtou64(text, 10, value);
	if (!err && *value >= param->min && *value <= param->max)
		return 0;
	if (!quiet)
		pr_info_ratelimited("%s '%*pE': expected %llu to %llu%s%s\n", param->name,
				    (int)strlen(text), text, param->min, param->max,
				    param->unit[0] ? ", in " : "", param->unit);
	return -EINVAL;
}

/*
 * proc_dostring() would take the first line of a write and drop the rest, so it only
 * reads. A value is written in one go, from the start.
 */
static int net_params_handler(const struct ctl_table *ctl, int write, void *buffer,
			      size_t *lenp, loff_t *ppos)
{
	unsigned int id = (unsigned long)ctl->extra2;
	struct net_params *params = ctl->extra1;
	char text[NET_PARAM_TEXT] = "";
	struct ctl_table tmp = {
		.procname	= ctl->procname,
		.data		= text,
		.maxlen		= sizeof(text),
		.mode		= ctl->mode,
	};
	bool quiet;
	u64 value;
	u32 hash;
	int err;

	if (!write) {
		value = params->get(params, id);
		if (params->words[id][0])
			strscpy(text, params->words[id][value], sizeof(text));
		else
			snprintf(text, sizeof(text), "%llu", value);
		return proc_dostring(&tmp, write, buffer, lenp, ppos);
	}
	if (!*lenp || *lenp >= sizeof(text) || *ppos || memchr(buffer, '\0', *lenp))
		return -EINVAL;
	memcpy(text, buffer, *lenp);
	hash = jhash(text, *lenp, 0);
	quiet = net_params_again(params, id, hash);
	err = net_param_parse(params, id, text, &value, quiet);
	if (!err)
		err = params->set(params, id, value, quiet);
	if (!err)
		*ppos += *lenp;
	else
		net_params_refuse(params, id, hash);
	return err;
}

COMPAT_PROC_HANDLER(net_params_handler);

/**
 * net_params_register() - make the directory
 * @params:	all above @header is set, the rest is 0; stays where it is
 * @net:	namespace
 * @path:	below /proc/sys
 *
 * Context: process, may sleep.
 * Return: 0 or -ENOMEM.
 */
static int net_params_register(struct net_params *params, struct net *net,
			       const char *path)
{
	struct ctl_table *table;
	unsigned int i;

	/* The last entry stays empty for kernels that look for it. */
	table = kcalloc(params->count + 1, sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < params->count; i++) {
		table[i].procname = params->param[i].name;
		table[i].mode = 0644;
		table[i].proc_handler = compat_proc_handler(net_params_handler);
		table[i].extra1 = params;
		table[i].extra2 = (void *)(unsigned long)i;
	}
	spin_lock_init(&params->lock);
	params->header = register_net_sysctl_sz(net, path, table, params->count);
	if (!params->header) {
		kfree(table);
		return -ENOMEM;
	}
	params->table = table;
	return 0;
}

/* net_params_unregister() - undo net_params_register(). Process context, may sleep. */
static void net_params_unregister(struct net_params *params)
{
	unregister_net_sysctl_table(params->header);
	kfree(params->table);
}

#endif /* _NET_PARAMS_H */
