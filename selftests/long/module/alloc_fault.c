// SPDX-License-Identifier: GPL-2.0
/*
 * alloc_fault: each place where modules need memory is without it, once
 *
 * It answers for should_failslab(), the kernel's hook for failed allocations of slabs, and
 * for what has none: the allocator of per-CPU memory, and kvmalloc(), which takes whole pages for
 * what no slab has room for. A place is the calls from there up to
 * the innermost function of a module under test, each by its name and offset: it is the same
 * after the module has been loaded anew. An interrupt's allocations are not those of the code
 * that it came upon.
 *
 *	modprobe alloc_fault modules=or_port,or_acker
 *	cd /sys/module/alloc_fault/parameters
 *	echo 1 >phase		each place may fail again
 *	echo 1 >begin		count how often a place is reached from here on; after each
 *				load of a module
 *	echo 1 >skip		places fail when they are reached the second time (0: the first)
 *	echo 5 >times		so often in a phase (1)
 *	echo 9 >every		and then at each ninth time (1)
 *	echo 1 >active		until 0 is written
 *	cat failures		of all phases together
 *	cat /sys/kernel/debug/alloc_fault	FAILED REACHED CALLS, a line for each place
 *
 * For x86-64 with frame pointers, which need no tables that are built when code is loaded.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/debugfs.h>
#include <linux/gfp.h>
#include <linux/jhash.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#if !IS_ENABLED(CONFIG_X86_64) || !IS_ENABLED(CONFIG_FRAME_POINTER)
#error "alloc_fault needs x86-64 and frame pointers"
#endif

/* Calls of a place that are looked at, from the allocator on. */
#define ALLOC_FAULT_DEPTH	24
#define ALLOC_FAULT_PLACES	512
#define ALLOC_FAULT_TEXT	1024

/* By addresses, which are quicker than names: a power of two. */
#define ALLOC_FAULT_CACHED	1024

/**
 * struct alloc_fault_place - calls that lead from a module to an allocator
 * @reached:	how often, in all
 * @now:	since "begin"
 * @failed:	how often, in all
 * @phase:	since "phase"
 * @spared:	never fails, see alloc_fault_spared()
 * @text:	the calls, innermost first
 */
struct alloc_fault_place {
	unsigned int	reached;
	unsigned int	now;
	unsigned int	failed;
	unsigned int	phase;
	bool		spared;
	char		text[ALLOC_FAULT_TEXT];
};

static struct alloc_fault_place places[ALLOC_FAULT_PLACES];
static unsigned int nplaces, failures, lost;

/* Hash of the addresses, and 1 + index of the place. */
static struct {
	u32		hash;
	unsigned int	place;
} cached[ALLOC_FAULT_CACHED];

/*
 * Of all above. A probe runs like an NMI: lockdep would think that it comes upon holders, which
 * have interrupts off and allocate nothing.
 */
static arch_spinlock_t lock = __ARCH_SPIN_LOCK_UNLOCKED;

static char modules[256];
module_param_string(modules, modules, sizeof(modules), 0400);
MODULE_PARM_DESC(modules, "names of those under test, with commas between");

static unsigned int skip;
module_param(skip, uint, 0600);
MODULE_PARM_DESC(skip, "times that a place has memory first");

static unsigned int times = 1;
module_param(times, uint, 0600);
MODULE_PARM_DESC(times, "times that a place fails in a phase");

static unsigned int every = 1;
module_param(every, uint, 0600);
MODULE_PARM_DESC(every, "a place fails at each so manyeth time");

module_param(failures, uint, 0400);
MODULE_PARM_DESC(failures, "allocations that failed");

module_param(lost, uint, 0400);
MODULE_PARM_DESC(lost, "allocations in places for which there was no room");

/*
 * What a debug kernel notes down for itself, and does without if it cannot; and where Linux
 * leaks the name of a cache whose directory in sysfs cannot be made, as of 6.12.
 */
static bool alloc_fault_spared(const char *text)
{
	return strstr(text, "kmemleak_") || strstr(text, "debug_object") ||
	       strstr(text, "ref_tracker_") || strstr(text, "sysfs_slab_add");
}

/* "name+0x1/0x2 [module]": is it one of those under test? */
static bool alloc_fault_ours(const char *call)
{
	const char *name = strrchr(call, '['), *found;
	size_t len;

	if (!name)
		return false;
	name++;
	len = strcspn(name, "]");
	for (found = modules; *found; found += strcspn(found, ","), found += *found == ',')
		if (!strncmp(found, name, len) && (found[len] == ',' || !found[len]))
			return true;
	return false;
}

/*
 * The calls of a probed function, innermost first. Returns how many lead to the innermost in
 * a module under test, or 0: there is none.
 */
static unsigned int alloc_fault_calls(const struct pt_regs *regs, unsigned long *call)
{
	unsigned long fp = regs->bp, last = regs->sp, next;
	char text[KSYM_SYMBOL_LEN];
	unsigned int n;

	if (get_kernel_nofault(call[0], (unsigned long *)regs->sp))
		return 0;
	for (n = 1; ; n++) {
		/* This module's own calls are none. */
		if (call[n - 1] >= MODULES_VADDR && call[n - 1] < MODULES_END) {
			snprintf(text, sizeof(text), "%pB", (void *)call[n - 1]);
			if (alloc_fault_ours(text))
				return n;
		}
		/* At an interrupt, and where the stack begins, it is no address of a frame. */
		if (n == ALLOC_FAULT_DEPTH || fp % sizeof(fp) || fp <= last ||
		    fp - last > THREAD_SIZE)
			return 0;
		if (get_kernel_nofault(call[n], (unsigned long *)fp + 1) ||
		    get_kernel_nofault(next, (unsigned long *)fp))
			return 0;
		last = fp;
		fp = next;
	}
}

static struct alloc_fault_place *alloc_fault_named(const unsigned long *call, unsigned int n)
{
	static char text[ALLOC_FAULT_TEXT];
	unsigned int i, len = 0;

	for (i = 0; i < n; i++)
		len += scnprintf(text + len, sizeof(text) - len, "%s%pB", i ? " < " : "",
				 (void *)call[i]);
	for (i = 0; i < nplaces; i++)
		if (!strcmp(places[i].text, text))
			return &places[i];
	if (nplaces == ALLOC_FAULT_PLACES) {
		lost++;
		return NULL;
	}
	places[nplaces].spared = alloc_fault_spared(text);
	memcpy(places[nplaces].text, text, len + 1);
	return &places[nplaces++];
}

static struct alloc_fault_place *alloc_fault_place(const unsigned long *call, unsigned int n)
{
	u32 hash = jhash(call, n * sizeof(*call), 0);
	struct alloc_fault_place *place;
	unsigned int i = hash % ALLOC_FAULT_CACHED;

	if (cached[i].place && cached[i].hash == hash)
		return &places[cached[i].place - 1];
	place = alloc_fault_named(call, n);
	if (place) {
		cached[i].hash = hash;
		cached[i].place = place - places + 1;
	}
	return place;
}

/* Is there no memory for the caller of a probed function? */
static bool alloc_fault_now(const struct pt_regs *regs)
{
	unsigned long call[ALLOC_FAULT_DEPTH], flags;
	struct alloc_fault_place *place;
	bool fails = false;
	unsigned int n;

	n = alloc_fault_calls(regs, call);
	if (!n)
		return false;
	local_irq_save(flags);
	arch_spin_lock(&lock);
	place = alloc_fault_place(call, n);
	if (place) {
		place->reached++;
		place->now++;
		fails = !place->spared && place->now > skip && place->phase < times &&
			place->now % every == 0;
	}
	if (fails) {
		place->phase++;
		place->failed++;
		failures++;
		/* The runner of the VM knows it by this. The kernel may show a stack then. */
		pr_info("FAULT_INJECTION: forcing a failure: %s\n", place->text);
	}
	arch_spin_unlock(&lock);
	local_irq_restore(flags);
	return fails;
}

/* Have the probed function return @value at once. */
static int alloc_fault_return(struct pt_regs *regs, unsigned long value)
{
	regs->ax = value;
	regs->ip = *(unsigned long *)regs->sp;
	regs->sp += sizeof(unsigned long);
	return 1;
}

/* should_failslab(struct kmem_cache *, gfp_t) */
static int alloc_fault_slab(struct kprobe *probe, struct pt_regs *regs)
{
	if ((gfp_t)regs->si & __GFP_NOFAIL || !alloc_fault_now(regs))
		return 0;
	return alloc_fault_return(regs, -ENOMEM);
}

/* pcpu_alloc_noprof(size_t, size_t, bool, gfp_t) */
static int alloc_fault_percpu(struct kprobe *probe, struct pt_regs *regs)
{
	return alloc_fault_now(regs) ? alloc_fault_return(regs, 0) : 0;
}

/* __kvmalloc_node_noprof(size_t, [kmem_buckets *,] gfp_t, int) */
static int alloc_fault_kvmalloc(struct kprobe *probe, struct pt_regs *regs)
{
	gfp_t gfp = IS_ENABLED(CONFIG_SLAB_BUCKETS) ? regs->dx : regs->si;

	if (gfp & __GFP_NOFAIL || !alloc_fault_now(regs))
		return 0;
	return alloc_fault_return(regs, 0);
}

/* A probe that has one is not turned into a jump, which would go on in the function. */
static void alloc_fault_post(struct kprobe *probe, struct pt_regs *regs, unsigned long flags)
{
}

static struct kprobe slab_probe = {
	.symbol_name	= "should_failslab",
	.pre_handler	= alloc_fault_slab,
	.post_handler	= alloc_fault_post,
	.flags		= KPROBE_FLAG_DISABLED,
};

static struct kprobe percpu_probe = {
	.symbol_name	= "pcpu_alloc_noprof",
	.pre_handler	= alloc_fault_percpu,
	.post_handler	= alloc_fault_post,
	.flags		= KPROBE_FLAG_DISABLED,
};

static struct kprobe kvmalloc_probe = {
	.symbol_name	= "__kvmalloc_node_noprof",
	.pre_handler	= alloc_fault_kvmalloc,
	.post_handler	= alloc_fault_post,
	.flags		= KPROBE_FLAG_DISABLED,
};

static struct kprobe *probes[] = { &slab_probe, &percpu_probe, &kvmalloc_probe };

/* Parameters and debugfs --------------------------------------------------- */

static int active_set(const char *val, const struct kernel_param *kp)
{
	unsigned int i;
	bool on;
	int err;

	err = kstrtobool(val, &on);
	for (i = 0; !err && i < ARRAY_SIZE(probes); i++)
		err = on ? enable_kprobe(probes[i]) : disable_kprobe(probes[i]);
	return err;
}

static const struct kernel_param_ops active_ops = { .set = active_set };
module_param_cb(active, &active_ops, NULL, 0200);
MODULE_PARM_DESC(active, "allocations fail");

static int begin_set(const char *val, const struct kernel_param *kp)
{
	bool phase = !strcmp(kp->name, "phase");
	unsigned long flags;
	unsigned int i;

	local_irq_save(flags);
	arch_spin_lock(&lock);
	for (i = 0; i < nplaces; i++) {
		places[i].now = 0;
		if (phase)
			places[i].phase = 0;
	}
	/* Modules may be anywhere by now. */
	memset(cached, 0, sizeof(cached));
	arch_spin_unlock(&lock);
	local_irq_restore(flags);
	return 0;
}

static const struct kernel_param_ops begin_ops = { .set = begin_set };
module_param_cb(begin, &begin_ops, NULL, 0200);
MODULE_PARM_DESC(begin, "count from here on");
module_param_cb(phase, &begin_ops, NULL, 0200);
MODULE_PARM_DESC(phase, "each place may fail again");

static int places_show(struct seq_file *seq, void *v)
{
	unsigned int i;

	/* A place that is there stays as it is, but for its numbers. */
	for (i = 0; i < READ_ONCE(nplaces); i++)
		if (!places[i].spared)
			seq_printf(seq, "%u %u %s\n", READ_ONCE(places[i].failed),
				   READ_ONCE(places[i].reached), places[i].text);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(places);

static struct dentry *places_file;

static int __init alloc_fault_init(void)
{
	int err;

	err = register_kprobes(probes, ARRAY_SIZE(probes));
	if (err)
		return err;
	places_file = debugfs_create_file(KBUILD_MODNAME, 0400, NULL, NULL, &places_fops);
	return 0;
}

static void __exit alloc_fault_exit(void)
{
	debugfs_remove(places_file);
	unregister_kprobes(probes, ARRAY_SIZE(probes));
}

module_init(alloc_fault_init);
module_exit(alloc_fault_exit);

MODULE_DESCRIPTION("Failed allocations, for the long tests");
MODULE_LICENSE("GPL");
