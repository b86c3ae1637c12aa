/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dcload: load generator for datacenter congestion control
 *
 * One process plays many hosts: flows are opened in the network namespaces
 * given with --netns, all served by one epoll loop. The parts:
 *
 *	main.c		subcommands, help
 *	options.c	command line -> struct options, with every range check
 *	parse.c		pure parsers for numbers, sizes, rates, lists, addresses
 *	loop.c		epoll, timers, signals
 *	net.c		sockets, namespaces, TCP_INFO
 *	tstamp.c	RTT samples from the kernel's transmit timestamps
 *	flow.c		one client connection, common to all modes
 *	client.c modes.c result.c
 *			a client run: modes, measured interval, result
 *	server.c	the sink
 *	dist.c		distributions of sizes
 *	workload.c	a mesh's workload: its specification, rates, choices
 *	mesh.c		a mesh run: arrivals, exchanges, measured interval
 *	mesh_conn.c	its connections, both ends
 *	mesh_result.c	its result
 *	report.c	parts of results that both have
 *	hist.c stats.c	log histogram, Jain index
 *	json.c		writer, and the reader behind "dcload get"
 *
 * Units are in the names: _ns, _us, _s are times, _bit_s are bit rates, plain
 * counts of data are bytes. Times are CLOCK_MONOTONIC unless said otherwise.
 */
#ifndef DCLOAD_H
#define DCLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#ifndef DCLOAD_VERSION
#define DCLOAD_VERSION	"unversioned"
#endif

#define NSEC_PER_SEC	1000000000ULL
#define NSEC_PER_MSEC	1000000ULL
#define NSEC_PER_USEC	1000ULL

#define DCLOAD_PORT	5001	/* default TCP port of the server */

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#define __printf(fmt, args)	__attribute__((format(printf, fmt, args)))

/* util.c */
_Noreturn void __printf(1, 2) die(const char *fmt, ...);
void __printf(1, 2) warning(const char *fmt, ...);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);
uint64_t clock_ns(clockid_t id);

static inline uint64_t now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

#endif /* DCLOAD_H */
