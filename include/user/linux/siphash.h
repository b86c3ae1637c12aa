/* SPDX-License-Identifier: GPL-2.0 */
/*
 * SipHash-2-4 for userspace builds of the pure cores, with the names of the
 * kernel's <linux/siphash.h>, whose own code is used in modules. After Aumasson and
 * Bernstein, "SipHash: a fast short-input PRF", INDOCRYPT 2012.
 */
#ifndef _USER_LINUX_SIPHASH_H
#define _USER_LINUX_SIPHASH_H

#include <string.h>

#include "../core_user.h"

typedef struct {
	u64 key[2];
} siphash_key_t;

static inline u64 siphash_rotl(u64 x, int n)
{
	return x << n | x >> (64 - n);
}

static inline void siphash_rounds(u64 v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotl(v[1], 13) ^ v[0];
		v[3] = siphash_rotl(v[3], 16) ^ v[2];
		v[0] = siphash_rotl(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = siphash_rotl(v[1], 17) ^ v[2];
		v[3] = siphash_rotl(v[3], 21) ^ v[0];
		v[2] = siphash_rotl(v[2], 32);
	}
}

/* The last word has the rest of the bytes, and the length in its top byte. */
static inline u64 siphash(const void *data, size_t len, const siphash_key_t *key)
{
	u64 v[4] = {
		key->key[0] ^ 0x736f6d6570736575ULL,
		key->key[1] ^ 0x646f72616e646f6dULL,
		key->key[0] ^ 0x6c7967656e657261ULL,
		key->key[1] ^ 0x7465646279746573ULL,
	};
	const u8 *p = data;
	size_t i, k;
	u64 m;

	for (i = 0; i <= len / 8; i++) {
		m = i == len / 8 ? (u64)len << 56 : 0;
		for (k = 0; k < 8 && 8 * i + k < len; k++)
			m |= (u64)p[8 * i + k] << (8 * k);
		v[3] ^= m;
		siphash_rounds(v, 2);
		v[0] ^= m;
	}
	v[2] ^= 0xff;
	siphash_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

#endif /* _USER_LINUX_SIPHASH_H */
