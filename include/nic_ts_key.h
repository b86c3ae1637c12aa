/* SPDX-License-Identifier: GPL-2.0 */
/*
 * struct nic_ts_key as the key of hash tables in which each packet is looked up.
 *
 * For struct rhashtable_params: nic_ts_key_hash() is its hashfn, and an obj_cmpfn is a
 * call of nic_ts_key_differs().
 */
#ifndef _NIC_TS_KEY_H
#define _NIC_TS_KEY_H

#include <linux/bug.h>
#include <linux/jhash.h>
#include <linux/socket.h>

#include "nic_ts_types.h"

/**
 * nic_ts_key_hash() - hash as few words as distinguish connections
 * @data:	struct nic_ts_key
 * @len:	its size
 * @seed:	of the table
 *
 * Context: any.
 */
static __always_inline u32 nic_ts_key_hash(const void *data, u32 len, u32 seed)
{
	const struct nic_ts_key *key = data;
	u32 ports = (__force u32)key->lport << 16 | (__force u32)key->rport;

	if (likely(key->family == AF_INET))
		return jhash_3words((__force u32)key->laddr[0],
				    (__force u32)key->raddr[0], ports, seed);
	return jhash2((const u32 *)key, sizeof(*key) / sizeof(u32), seed);
}

/**
 * nic_ts_key_differs() - return whether two keys are of different connections
 * @a:		one, which may have been written just now
 * @b:		the other
 *
 * IPv4 goes field by field, as the parser has written them: a load wider than the stores
 * before it waits for all of them.
 *
 * Context: any.
 * Return: 0: they are the same.
 */
static __always_inline int nic_ts_key_differs(const struct nic_ts_key *a,
					      const struct nic_ts_key *b)
{
	const u64 *x = (const u64 *)a, *y = (const u64 *)b;

	BUILD_BUG_ON(sizeof(struct nic_ts_key) != 5 * sizeof(u64));
	if (likely(a->family == AF_INET))
		return !!((__force u32)(a->laddr[0] ^ b->laddr[0]) |
			  (__force u32)(a->raddr[0] ^ b->raddr[0]) |
			  (__force u32)(a->lport ^ b->lport) |
			  (__force u32)(a->rport ^ b->rport) | (a->family ^ b->family));
	return !!((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3]) |
		  (x[4] ^ y[4]));
}

#endif /* _NIC_TS_KEY_H */
