// SPDX-License-Identifier: GPL-2.0
/*
 * Pin a program of BPF for tc that gives packets departure times, as the bandwidth managers of
 * networks of pods do: one after the other, each as long after the one before as its bytes take.
 *
 *	tstamp_helper FILE NS_PER_BYTE
 *
 * FILE is on a file system of BPF's.
 */
#define _GNU_SOURCE
#include <linux/pkt_cls.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../lib/bpf.h"

/* When the last packet's bytes have left. */
static int map_create(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = 4;
	attr.value_size = 8;
	attr.max_entries = 1;
	return bpf(BPF_MAP_CREATE, &attr);
}

int main(int argc, char **argv)
{
	union bpf_attr attr;

	if (argc != 3) {
		fputs("usage: tstamp_helper FILE NS_PER_BYTE\n", stderr);
		return 2;
	}
	const struct bpf_insn insns[] = {
		/* r6: the packet, r7: the element of the map */
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 6, .src_reg = 1 },
		{ .code = BPF_ST | BPF_MEM | BPF_W, .dst_reg = 10, .off = -4 },
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD,
		  .imm = map_create() },
		{ },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 2, .src_reg = 10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 2, .imm = -4 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_map_lookup_elem },
		{ .code = BPF_JMP | BPF_JEQ | BPF_K, .dst_reg = 0, .off = 10 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 7, .src_reg = 0 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns },
		/* r1 = max(that, now) */
		{ .code = BPF_LDX | BPF_MEM | BPF_DW, .dst_reg = 1, .src_reg = 7 },
		{ .code = BPF_JMP | BPF_JGE | BPF_X, .dst_reg = 1, .src_reg = 0, .off = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 1, .src_reg = 0 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 6, .src_reg = 1,
		  .off = offsetof(struct __sk_buff, tstamp) },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 6,
		  .off = offsetof(struct __sk_buff, len) },
		{ .code = BPF_ALU64 | BPF_MUL | BPF_K, .dst_reg = 2, .imm = atoi(argv[2]) },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_X, .dst_reg = 1, .src_reg = 2 },
		{ .code = BPF_STX | BPF_MEM | BPF_DW, .dst_reg = 7, .src_reg = 1 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = TC_ACT_OK },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = sizeof(insns) / sizeof(*insns);
	attr.license = (uintptr_t)"GPL";
	int prog = bpf(BPF_PROG_LOAD, &attr);

	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)argv[1];
	attr.bpf_fd = prog;
	bpf(BPF_OBJ_PIN, &attr);
	return 0;
}
