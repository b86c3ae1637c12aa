// SPDX-License-Identifier: GPL-2.0
/*
 * What the model of the wire costs when several CPUs send by one device: threads that do the steps
 * of onramp_to_wire() on one word, as the queues of a device do, beside some other work.
 *
 *	wire [MILLIONS]	packets of a thread, by default 5
 *
 * Of all packets, 0, 1/10 or all have a record. A line for one thread, and one for as many as
 * there are CPUs. Columns, ns of a packet but for the last one:
 *
 *	1	a word for each thread
 *	2	one word, each packet told of at once
 *	3	one word, packets without a record owed (onramp_fifo.h)
 *	4	steps of the third on the word, per packet
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "onramp_fifo.h"

#define LINE_BPS	50000000000ULL	/* 400 Gbit/s */
#define DATA_BYTES	1514
#define ACK_BYTES	66
#define THREADS_MAX	256

enum kind { KIND_OWN, KIND_AT_ONCE, KIND_OWED, KINDS };

/* The model of a device, on a line of its own. */
struct word {
	u64 end_q;
	u64 unused[31];
};

static struct word words[THREADS_MAX];

struct thread {
	pthread_t id;
	struct onramp_fifo_part part;
	u64 steps;
	u64 ns;
	u32 cpu;
	u32 sink;
	u64 unused[32];
};

static struct thread threads[THREADS_MAX];
static pthread_barrier_t barrier;
static enum kind kind;
static u32 records_of_10, nthreads;
static u64 packets;
static const u32 shares[3] = { 0, 1, 10 };

/* CPU time of this thread: other processes of the machine do not count. */
static u64 clock_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static void to_wire(struct thread *t, u64 *word, u64 time_q, u64 now)
{
	u64 end_q = __atomic_load_n(word, __ATOMIC_RELAXED), start_q;

	do {
		start_q = onramp_fifo_part_start(&t->part, end_q, now);
	} while (!__atomic_compare_exchange_n(word, &end_q, start_q + time_q, false,
					      __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
	onramp_fifo_settle(&t->part, start_q + time_q);
	t->steps++;
}

static void *run(void *arg)
{
	struct thread *t = arg;
	u64 *word = &words[kind == KIND_OWN ? t->cpu : 0].end_q;
	u64 byte_ns = onramp_byte_time(LINE_BPS, 1, 1), i, now = 1000000;
	u64 data_q = onramp_fifo_time(byte_ns, onramp_fifo_bytes(DATA_BYTES, 1));
	u64 ack_q = onramp_fifo_time(byte_ns, onramp_fifo_bytes(ACK_BYTES, 1));
	u32 max_q = onramp_fifo_owed_max(nthreads), work = 1, n, tenth = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(t->cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	pthread_barrier_wait(&barrier);
	t->ns = clock_ns();
	for (i = 0; i < packets; i++) {
		bool record = tenth < records_of_10;

		tenth = tenth == 9 ? 0 : tenth + 1;
		/* The rest of a packet: some multiplications, one after the other. */
		for (n = 0; n < 24; n++)
			work = work * 1664525 + 1013904223;
		now += 30;
		if (record)
			to_wire(t, word, data_q, now);
		else if (kind != KIND_OWED)
			to_wire(t, word, ack_q, now);
		else if (!onramp_fifo_owe(&t->part, ack_q, max_q, now))
			to_wire(t, word, 0, now);
	}
	t->ns = clock_ns() - t->ns;
	t->sink = work;
	return NULL;
}

static double measure(enum kind which, double *steps)
{
	u64 ns = 0, sum = 0;
	u32 i;

	kind = which;
	pthread_barrier_init(&barrier, NULL, nthreads + 1);
	for (i = 0; i < nthreads; i++) {
		words[i].end_q = 0;
		threads[i] = (struct thread) { .cpu = i };
		if (pthread_create(&threads[i].id, NULL, run, &threads[i]))
			exit(1);
	}
	pthread_barrier_wait(&barrier);
	for (i = 0; i < nthreads; i++)
		pthread_join(threads[i].id, NULL);
	pthread_barrier_destroy(&barrier);
	for (i = 0; i < nthreads; i++) {
		sum += threads[i].steps;
		ns += threads[i].ns;
	}
	*steps = (double)sum / packets / nthreads;
	return (double)ns / packets / nthreads;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	u32 cpus = sysconf(_SC_NPROCESSORS_ONLN), turns = 9, turn, n;
	double ns[KINDS][16], steps[KINDS];

	packets = 1000000 * (argc > 1 ? strtoul(argv[1], NULL, 0) : 5);
	cpus = cpus > THREADS_MAX ? THREADS_MAX : cpus;
	printf("threads records own,ns at-once,ns owed,ns steps/packet\n");
	for (nthreads = 1; ; nthreads = cpus) {
		for (n = 0; n < 3; n++) {
			records_of_10 = shares[n];
			for (turn = 0; turn < turns; turn++)
				for (u32 k = 0; k < KINDS; k++)
					ns[k][turn] = measure(k, &steps[k]);
			for (u32 k = 0; k < KINDS; k++)
				qsort(ns[k], turns, sizeof(ns[k][0]), compare);
			printf("%u %u/10 %.1f %.1f %.1f %.3f\n", nthreads, records_of_10,
			       ns[KIND_OWN][turns / 2], ns[KIND_AT_ONCE][turns / 2],
			       ns[KIND_OWED][turns / 2], steps[KIND_OWED]);
		}
		if (nthreads == cpus)
			break;
	}
	return 0;
}
