/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which connections to show, in the words of ss(8):
 *
 *	src|dst [= | !=] ADDRESS[/LENGTH][:PORT]	also ":PORT" and "*"
 *	sport|dport OPERATOR [:]PORT		= == eq, != ne, > gt, < lt, >= ge, <= le
 *	cc [= | !=] NAME			congestion control
 *	not X, !X, X and Y, X && Y, X Y, X or Y, X || Y, ( X )
 *
 * "not" binds closest, "or" loosest. Addresses are numbers, or the name of a host, which means any
 * of its addresses; ports are numbers.
 */
#ifndef ONRAMPCTL_FILTER_H
#define ONRAMPCTL_FILTER_H

#include "sockets.h"

struct filter;

/* Size of an error of filter_parse(), bytes. */
#define FILTER_ERROR	192

struct addrinfo;

/* Looks a name up, for freeaddrinfo(); NULL: it is unknown. */
extern struct addrinfo *(*filter_lookup)(const char *name);

struct filter *filter_parse(int argc, char **argv, char *error);
bool filter_match(const struct filter *f, const struct flow *flow);
void filter_free(struct filter *f);

#endif /* ONRAMPCTL_FILTER_H */
