/* SPDX-License-Identifier: GPL-2.0 */
/* The system call bpf(), for programs without libbpf. */
#ifndef _KSFT_BPF_H
#define _KSFT_BPF_H

#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* bpf() - do @cmd; the program ends if it fails. Return: a file descriptor, or 0 */
static inline int bpf(int cmd, union bpf_attr *attr)
{
	int fd = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	if (fd < 0) {
		perror("bpf");
		exit(1);
	}
	return fd;
}

#endif
