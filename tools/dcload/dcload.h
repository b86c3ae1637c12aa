/* SPDX-License-Identifier: GPL-2.0 */
/*
 * dcload: load generator for datacenter congestion control
 *
 * One process plays many hosts: flows are opened in the network namespaces
 * given with --netns, all served by one epoll loop. The parts:
 *
 *	main.c		subcommands, help
 *	options.c	command line -> struct options, with every range check
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
 *
 * Units are in the names: _ns, _us, _s are times, _bit_s are bit rates, plain
 * counts of data are bytes. Times are CLOCK_MONOTONIC unless said otherwise.
 */
#ifndef DCLOAD_H
#define DCLOAD_H

#include "util.h"

#ifndef DCLOAD_VERSION
#define DCLOAD_VERSION	"unversioned"
#endif

#define DCLOAD_PORT	5001	/* default TCP port of the server */

#endif /* DCLOAD_H */
