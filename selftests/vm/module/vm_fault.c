// SPDX-License-Identifier: GPL-2.0
/*
 * Faults on demand, to test that the VM runner sees each of them. A word
 * written to /sys/module/vm_fault/parameters/inject chooses one:
 *
 *	warn	WARN(), taints and goes on
 *	lockdep	the headline of a lockdep report; distribution kernels have none
 *	race	KCSAN's reports about this module, and about what it called
 *	others	one about the kernel alone, and the stack of a forced failure
 *	trace	a stack
 *	oops	write through a null pointer
 *	bug	BUG()
 *	spin	every CPU waits with interrupts off, for ever
 *	pin	takes a reference on this module that nobody gives back
 *	leave	a /proc directory stays when the module goes
 *	end	ends QEMU as the runner's init does after its verdict
 *
 * It is a congestion control as well, Reno, so that sockets hold it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/bug.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/proc_fs.h>
#include <linux/stop_machine.h>
#include <linux/string.h>
#include <net/tcp.h>

/* As in tools/vm/init.c. */
#define DEBUG_EXIT_PORT		0xf4
#define DEBUG_EXIT_OK		42

static int spin(void *unused)
{
	for (;;) {
#ifdef CONFIG_X86
		/* What is emulated takes no CPU of the host. */
		native_halt();
#else
		cpu_relax();
#endif
	}
	return 0;
}

/* As KCSAN reports it: a function of the kernel, and two lines of a stack below it. */
static void race_in(const char *function, const char *caller, const char *below)
{
	pr_err("BUG: KCSAN: data-race in tcp_ack / %s\n", function);
	pr_err("write to 0xffff888100000000 of 8 bytes by task 1 on cpu 0:\n");
	pr_err(" %s+0x10/0x20\n", function);
	pr_err("%s\n", caller);
	pr_err("%s\n", below);
	pr_err("Reported by Kernel Concurrency Sanitizer on:\n");
}

static int inject_set(const char *val, const struct kernel_param *kp)
{
	int *nowhere = NULL;

	/* Or the compiler would see the null. */
	OPTIMIZER_HIDE_VAR(nowhere);
	pr_info("asked to inject: %s", val);
	if (sysfs_streq(val, "warn")) {
		WARN(1, "injected\n");
	} else if (sysfs_streq(val, "lockdep")) {
		pr_warn("possible circular locking dependency detected (injected)\n");
	} else if (sysfs_streq(val, "race")) {
		pr_err("BUG: KCSAN: data-race in tcp_ack / inject [vm_fault]\n");
		race_in("rb_erase", " rb_erase_init+0x10/0x20",
			" inject+0x10/0x20 [vm_fault]");
	} else if (sysfs_streq(val, "others")) {
		race_in("tcp_sendmsg", " inet_sendmsg+0x10/0x20", " __sys_sendto+0x10/0x20");
		race_in("hrtimer_active", " asm_sysvec_apic_timer_interrupt+0x10/0x20",
			" inject+0x10/0x20 [vm_fault]");
		pr_notice("FAULT_INJECTION: forcing a failure.\n");
		dump_stack();
	} else if (sysfs_streq(val, "trace")) {
		dump_stack();
	} else if (sysfs_streq(val, "oops")) {
		*nowhere = 1;
	} else if (sysfs_streq(val, "bug")) {
		BUG();
	} else if (sysfs_streq(val, "spin")) {
		stop_machine(spin, NULL, cpu_online_mask);
	} else if (sysfs_streq(val, "pin")) {
		__module_get(THIS_MODULE);
	} else if (sysfs_streq(val, "leave")) {
		if (!proc_mkdir(KBUILD_MODNAME, NULL))
			return -ENOMEM;
	} else if (sysfs_streq(val, "end")) {
		outb(DEBUG_EXIT_OK, DEBUG_EXIT_PORT);
	} else {
		return -EINVAL;
	}
	return 0;
}

static const struct kernel_param_ops inject_ops = {
	.set = inject_set,
};

module_param_cb(inject, &inject_ops, NULL, 0200);
MODULE_PARM_DESC(inject, "fault to inject: warn, lockdep, race, others, trace, oops, bug, spin, pin, leave or end");

static struct tcp_congestion_ops vm_fault_reno = {
	.name		= KBUILD_MODNAME,
	.owner		= THIS_MODULE,
	.flags		= TCP_CONG_NON_RESTRICTED,
	.ssthresh	= tcp_reno_ssthresh,
	.cong_avoid	= tcp_reno_cong_avoid,
	.undo_cwnd	= tcp_reno_undo_cwnd,
};

static int __init vm_fault_init(void)
{
	return tcp_register_congestion_control(&vm_fault_reno);
}

static void __exit vm_fault_exit(void)
{
	tcp_unregister_congestion_control(&vm_fault_reno);
}

module_init(vm_fault_init);
module_exit(vm_fault_exit);
MODULE_DESCRIPTION("Faults on demand for the tests of the VM runner");
MODULE_LICENSE("GPL");
