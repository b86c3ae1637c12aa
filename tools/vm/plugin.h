/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What insns.c needs of the interface of QEMU's plugins. Debian does not package the header that
 * QEMU has for it.
 */
#ifndef _VM_PLUGIN_H
#define _VM_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_insn;
struct qemu_plugin_tb;
struct qemu_info;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
					   void (*translated)(qemu_plugin_id_t id,
							      struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*runs)(unsigned int vcpu, void *block),
					  int no_registers, void *block);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
				      void (*touches)(unsigned int vcpu, uint32_t info,
						      uint64_t address, void *data),
				      int no_registers, int read_or_write, void *data);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
				    void (*end)(qemu_plugin_id_t id, void *file), void *file);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info *info, int argc, char **argv);

#endif /* _VM_PLUGIN_H */
