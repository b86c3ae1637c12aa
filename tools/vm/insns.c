// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's that counts how often each instruction of a guest ran: `tools/vm/run --insns`.
 * At the end it writes a line for each block of instructions without a jump:
 *
 *	ADDRESS INSTRUCTIONS TIMES
 *
 * with the address of the first one in hexadecimal, 16 digits. tools/vm/insns sums them by symbol.
 *
 * With misses=FILE it counts, too, which instructions of the kernel found no line in two caches,
 * the second of which is asked for what the first has not: `tools/vm/run --misses`. Both forget the
 * line that was used longest ago. Addresses are those of the kernel, in which its memory is in one
 * piece. Code is not in these caches, nor is what a prefetch brings: the instruction that needs it
 * counts. Lines of FILE:
 *
 *	ADDRESS FIRST SECOND
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

/* QEMU takes versions from one on that depends on its own. */
EXPORTED int qemu_plugin_version = API;

struct block {
	uint64_t	address;
	size_t		insns;
	uint64_t	times;
	struct block	*next;
};

/* An instruction of the kernel. */
struct insn {
	uint64_t	address;
	uint64_t	misses[2];
	struct insn	*next;
};

/* Where the kernel begins, its memory, and modules. */
#define KERNEL		(1ULL << 63)

/* Of a machine's CPU: 48 KB in 64 sets of 12 lines, and 2 MB in 2048 of 16. */
static struct cache {
	unsigned int	sets;
	unsigned int	ways;
	uint64_t	*line;		/* each set: that which was used last first */
} caches[2] = { { .sets = 64, .ways = 12 }, { .sets = 2048, .ways = 16 } };

static struct insn *insns;
static FILE *misses;

/* All that were ever translated. One thread runs all vCPUs: --icount. */
static struct block *blocks;

static void runs(unsigned int vcpu, void *block)
{
	((struct block *)block)->times++;
}

/* Return whether a cache has the line, which it then has. */
static bool cache_has(struct cache *c, uint64_t line)
{
	uint64_t *set = &c->line[line % c->sets * c->ways];
	unsigned int i = 0;

	while (i < c->ways - 1 && set[i] != line)
		i++;
	bool has = set[i] == line;

	memmove(set + 1, set, i * sizeof(*set));
	set[0] = line;
	return has;
}

static void touches(unsigned int vcpu, uint32_t info, uint64_t address, void *insn)
{
	unsigned int i;

	for (i = 0; i < 2 && !cache_has(&caches[i], address >> 6); i++)
		((struct insn *)insn)->misses[i]++;
}

static void translated_insns(struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *of = qemu_plugin_tb_get_insn(tb, i);
		struct insn *insn = calloc(1, sizeof(*insn));

		if (!insn) {
			perror("insns");
			exit(1);
		}
		insn->address = qemu_plugin_insn_vaddr(of);
		insn->next = insns;
		insns = insn;
		qemu_plugin_register_vcpu_mem_cb(of, touches, 0, 3, insn);
	}
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	struct block *b = malloc(sizeof(*b));

	if (!b) {
		perror("insns");
		exit(1);
	}
	*b = (struct block) {
		.address = qemu_plugin_tb_vaddr(tb),
		.insns = qemu_plugin_tb_n_insns(tb),
		.next = blocks,
	};
	blocks = b;
	qemu_plugin_register_vcpu_tb_exec_cb(tb, runs, 0, b);
	if (misses && b->address >= KERNEL)
		translated_insns(tb);
}

static void end(qemu_plugin_id_t id, void *file)
{
	const struct insn *insn;
	const struct block *b;

	for (insn = insns; insn; insn = insn->next)
		if (insn->misses[0])
			fprintf(misses, "%016" PRIx64 " %" PRIu64 " %" PRIu64 "\n", insn->address,
				insn->misses[0], insn->misses[1]);
	if (misses && fclose(misses))
		perror("insns");
	for (b = blocks; b; b = b->next)
		if (b->times)
			fprintf(file, "%016" PRIx64 " %zu %" PRIu64 "\n", b->address, b->insns,
				b->times);
	if (fclose(file))
		perror("insns");
}

EXPORTED int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc,
				 char **argv)
{
	FILE *file;
	int i;

	if (argc < 1 || argc > 2 || strncmp(argv[0], "out=", 4) ||
	    (argc > 1 && strncmp(argv[1], "misses=", 7))) {
		fprintf(stderr, "insns: expected out=FILE, or out=FILE,misses=FILE\n");
		return -1;
	}
	file = fopen(argv[0] + 4, "w");
	if (!file) {
		perror(argv[0] + 4);
		return -1;
	}
	if (argc > 1) {
		misses = fopen(argv[1] + 7, "w");
		for (i = 0; i < 2; i++)
			caches[i].line = calloc(caches[i].sets * caches[i].ways, sizeof(uint64_t));
		if (!misses || !caches[0].line || !caches[1].line) {
			perror(argv[1] + 7);
			return -1;
		}
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, end, file);
	return 0;
}
