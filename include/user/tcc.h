/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Builtins of gcc that the cores' tests use and tcc lacks, for "mutate". They have one thread.
 */
#ifndef _USER_TCC_H
#define _USER_TCC_H

#define __ATOMIC_RELAXED	0
#define __atomic_load_n(p, order)	(*(p))
#define __atomic_store_n(p, val, order)	(*(p) = (val))

#define __sync_val_compare_and_swap(p, old, val) ({			\
	__typeof__(p) _p = (p);						\
	__typeof__(*_p) _was = *_p;					\
									\
	if (_was == (old))						\
		*_p = (val);						\
	_was;								\
})

/* The zero bits above the highest that is set; x must not be 0. */
static inline int __builtin_clzll(unsigned long long x)
{
	int zeros = 0;

	while (!(x >> 63)) {
		x <<= 1;
		zeros++;
	}
	return zeros;
}

#endif /* _USER_TCC_H */
