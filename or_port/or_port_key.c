// SPDX-License-Identifier: GPL-2.0
/*
 * or_port, the keys of a namespace
 *
 * net.or_port.key is the pre-shared key, if hosts have one, for both users of the port.
 * net.or_port.fabric_key is the key of congestion notifications from switches. While a namespace
 * has one, it has the port.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/hex.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysctl.h>

#include <or_port.h>

#include "or_port_priv.h"

static void or_port_key_get(struct or_port_net *pn, const u8 *from, u8 *key)
{
	unsigned int seq;

	do {
		seq = read_seqbegin(&pn->key_lock);
		memcpy(key, from, OR_KEY_LEN);
	} while (read_seqretry(&pn->key_lock, seq));
}

static void or_port_key_set(struct or_port_net *pn, u8 *to, const u8 *key)
{
	write_seqlock_bh(&pn->key_lock);
	memcpy(to, key, OR_KEY_LEN);
	write_sequnlock_bh(&pn->key_lock);
}

/* or_port_key() - copy the pre-shared key of a namespace, OR_KEY_LEN bytes, or 0 without one */
void or_port_key(const struct net *net, u8 *key)
{
	struct or_port_net *pn = or_port_net(net);

	or_port_key_get(pn, pn->key, key);
}
EXPORT_SYMBOL_GPL(or_port_key);

/**
 * or_port_fabric_key() - copy the key of CNPs, of a namespace
 * @net:	namespace
 * @key:	OR_KEY_LEN bytes, written; all 0 without a key
 *
 * While there is one, the namespace has the port.
 *
 * Context: any.
 * Return: whether there is one.
 */
bool or_port_fabric_key(const struct net *net, u8 *key)
{
	struct or_port_net *pn = or_port_net(net);

	or_port_key_get(pn, pn->fabric, key);
	return memchr_inv(key, 0, OR_KEY_LEN);
}
EXPORT_SYMBOL_GPL(or_port_fabric_key);

/* The port is open while there is a key. */
static int or_port_fabric_set(struct or_port_net *pn, const u8 *key)
{
	bool wanted = memchr_inv(key, 0, OR_KEY_LEN);
	int err = 0;

	mutex_lock(&pn->fabric_set);
	if (wanted && !pn->fabric_open)
		err = or_port_open(pn->net);
	if (!err) {
		or_port_key_set(pn, pn->fabric, key);
		if (!wanted && pn->fabric_open)
			or_port_close(pn->net);
		pn->fabric_open = wanted;
	}
	mutex_unlock(&pn->fabric_set);
	return err;
}

/* "none", or 32 hexadecimal digits that are not all 0. */
static int or_port_key_parse(const char *name, char *text, u8 *key)
{
	text = strim(text);
	memset(key, 0, OR_KEY_LEN);
	if (!strcmp(text, "none"))
		return 0;
	if (strlen(text) == 2 * OR_KEY_LEN && !hex2bin(key, text, OR_KEY_LEN) &&
	    memchr_inv(key, 0, OR_KEY_LEN))
		return 0;
	/* Do not log the text: it may be most of a key. */
	pr_info_ratelimited("%s: expected 32 hexadecimal digits, not all 0, or none\n", name);
	return -EINVAL;
}

/* A key can be set, and not be read: only whether there is one. */
static int or_port_key_handler(const struct ctl_table *ctl, int write, void *buffer,
			       size_t *lenp, loff_t *ppos)
{
	struct or_port_net *pn = ctl->extra1;
	bool fabric = ctl->extra2;
	char text[2 * OR_KEY_LEN + 8] = "";
	struct ctl_table tmp = {
		.procname	= ctl->procname,
		.data		= text,
		.maxlen		= sizeof(text),
		.mode		= ctl->mode,
	};
	u8 key[OR_KEY_LEN];
	int err;

	if (!write) {
		or_port_key_get(pn, fabric ? pn->fabric : pn->key, key);
		strscpy(text, memchr_inv(key, 0, sizeof(key)) ? "set" : "none",
			sizeof(text));
		memzero_explicit(key, sizeof(key));
		return proc_dostring(&tmp, write, buffer, lenp, ppos);
	}
	if (!*lenp || *lenp >= sizeof(text) || *ppos || memchr(buffer, '\0', *lenp))
		return -EINVAL;
	memcpy(text, buffer, *lenp);
	err = or_port_key_parse(ctl->procname, text, key);
	if (!err && fabric)
		err = or_port_fabric_set(pn, key);
	else if (!err)
		or_port_key_set(pn, pn->key, key);
	if (!err)
		*ppos += *lenp;
	memzero_explicit(text, sizeof(text));
	memzero_explicit(key, sizeof(key));
	return err;
}

COMPAT_PROC_HANDLER(or_port_key_handler);

/* or_port_sysctl_register() - make net.or_port; 0 or -ENOMEM */
int or_port_sysctl_register(struct or_port_net *pn)
{
	static const char * const names[] = { "key", "fabric_key" };
	struct ctl_table *table;
	unsigned int i;

	/* The last entry stays empty for kernels that look for it. */
	table = kcalloc(ARRAY_SIZE(names) + 1, sizeof(*table), GFP_KERNEL_ACCOUNT);
	if (!table)
		return -ENOMEM;
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		table[i].procname = names[i];
		table[i].mode = 0600;
		table[i].proc_handler = compat_proc_handler(or_port_key_handler);
		table[i].extra1 = pn;
		/* Of the fabric? */
		table[i].extra2 = i ? pn : NULL;
	}
	pn->header = register_net_sysctl_sz(pn->net, "net/or_port", table, ARRAY_SIZE(names));
	if (!pn->header) {
		kfree(table);
		return -ENOMEM;
	}
	pn->table = table;
	return 0;
}

/* or_port_sysctl_unregister() - undo it; no key can be set any more */
void or_port_sysctl_unregister(struct or_port_net *pn)
{
	unregister_net_sysctl_table(pn->header);
	kfree(pn->table);
}
