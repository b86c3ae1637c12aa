// SPDX-License-Identifier: GPL-2.0
/*
 * A program of XDP below a device's other users, in generic mode: passes all.
 *
 *	xdp_helper NAMESPACE DEVICE
 *
 * Runs until it is ended, and the program goes with it.
 */
#define _GNU_SOURCE
#include <linux/if_link.h>
#include <net/if.h>
#include <stdint.h>
#include <string.h>

#include "../lib/bpf.h"
#include "../lib/netns.h"

int main(int argc, char **argv)
{
	const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr load, link;

	if (argc != 3) {
		fputs("usage: xdp_helper NAMESPACE DEVICE\n", stderr);
		return 2;
	}
	netns_enter(argv[1]);
	memset(&load, 0, sizeof(load));
	load.prog_type = BPF_PROG_TYPE_XDP;
	load.insns = (uintptr_t)pass;
	load.insn_cnt = sizeof(pass) / sizeof(*pass);
	load.license = (uintptr_t)"GPL";
	memset(&link, 0, sizeof(link));
	link.link_create.prog_fd = bpf(BPF_PROG_LOAD, &load);
	link.link_create.target_ifindex = if_nametoindex(argv[2]);
	link.link_create.attach_type = BPF_XDP;
	link.link_create.flags = XDP_FLAGS_SKB_MODE;
	bpf(BPF_LINK_CREATE, &link);
	for (;;)
		pause();
}
