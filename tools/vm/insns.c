// SPDX-License-Identifier: GPL-2.0
/*
 * A plugin of QEMU's that counts how often each instruction of a guest ran: `tools/vm/run --insns`.
 * At the end it writes a line for each block of instructions without a jump:
 *
 *	ADDRESS INSTRUCTIONS TIMES
 *
 * with the address of the first one in hexadecimal, 16 digits. tools/vm/insns sums them by symbol.
 */
#include <inttypes.h>
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

/* All that were ever translated. One thread runs all vCPUs: --icount. */
static struct block *blocks;

static void runs(unsigned int vcpu, void *block)
{
	((struct block *)block)->times++;
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
}

static void end(qemu_plugin_id_t id, void *file)
{
	const struct block *b;

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

	if (argc != 1 || strncmp(argv[0], "out=", 4)) {
		fprintf(stderr, "insns: out=FILE is missing\n");
		return -1;
	}
	file = fopen(argv[0] + 4, "w");
	if (!file) {
		perror(argv[0] + 4);
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, end, file);
	return 0;
}
