// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts, clocks: their maps to CLOCK_MONOTONIC, and the events that end a map.
 *
 *	userspace --map--> clock --(valid, not too old)--> host time, error
 *	                     ^     <-------- and back ---------
 *	   step, suspend, device gone: no map, and another epoch
 *
 * An epoch is a time during which the clock did not jump. Each hardware stamp
 * carries the clock's epoch, and stamps of two epochs are not subtracted.
 */
#include <linux/slab.h>
#include <linux/suspend.h>

#include "nic_ts_priv.h"
#include "nic_ts_trace.h"

/**
 * struct nic_ts_clock_map - an immutable map in use
 * @map:	the map
 * @epoch:	stamps of this epoch it is for
 * @rcu:	readers are on the packet path
 */
struct nic_ts_clock_map {
	struct nic_ts_map	map;
	u16			epoch;
	struct rcu_head		rcu;
};

/**
 * struct nic_ts_clock - a clock
 * @map:	NULL: there is no valid one; replaced under @lock
 * @lock:	serialises changes; taken in softirq
 * @epoch:	written under @lock, read locklessly
 * @state:	why there is no map; the same
 */
struct nic_ts_clock {
	struct nic_ts_clock_map __rcu *map;
	spinlock_t		lock;	/* changes */
	u16			epoch;
	u8			state;
};

/* CLOCK_MONOTONIC_RAW, CLOCK_REALTIME, then the NICs'. */
#define NIC_TS_HOST_CLOCKS	2

static struct nic_ts_clock nic_ts_clocks[NIC_TS_HOST_CLOCKS + NIC_TS_DOMAIN_PHC_MAX + 1];

static struct nic_ts_clock *nic_ts_clock(u32 domain)
{
	if (domain == NIC_TS_DOMAIN_RAW || domain == NIC_TS_DOMAIN_REAL)
		return &nic_ts_clocks[domain - NIC_TS_DOMAIN_RAW];
	if (domain >= NIC_TS_DOMAIN_PHC0 &&
	    domain <= NIC_TS_DOMAIN_PHC(NIC_TS_DOMAIN_PHC_MAX))
		return &nic_ts_clocks[NIC_TS_HOST_CLOCKS + domain - NIC_TS_DOMAIN_PHC0];
	return NULL;
}

/* nic_ts_clock_known() - return whether a clock can have a map */
bool nic_ts_clock_known(u32 domain)
{
	return nic_ts_clock(domain);
}

/* End the map; with a jump, end the epoch as well. */
static bool nic_ts_clock_end(struct nic_ts_clock *clock,
			     enum nic_ts_clock_state why)
{
	struct nic_ts_clock_map *old;

	lockdep_assert_held(&clock->lock);
	old = rcu_dereference_protected(clock->map, lockdep_is_held(&clock->lock));
	RCU_INIT_POINTER(clock->map, NULL);
	/* Read locklessly with each hardware stamp. */
	if (why != NIC_TS_CLOCK_WITHDRAWN)
		WRITE_ONCE(clock->epoch, clock->epoch + 1);
	if (!old)
		return false;
	clock->state = why;
	kfree_rcu(old, rcu);
	return true;
}

/**
 * nic_ts_clock_set() - give a clock its map
 * @domain:	the clock
 * @map:	made by nic_ts_map_init()
 *
 * One that contradicts the map in use by more than both may be wrong means that
 * a clock jumped, and begins another epoch.
 *
 * Context: process.
 * Return: 0, -EINVAL: no such clock, -ENOMEM.
 */
int nic_ts_clock_set(u32 domain, const struct nic_ts_map *map)
{
	struct nic_ts_clock *clock = nic_ts_clock(domain);
	struct nic_ts_clock_map *new, *old;
	bool stepped;

	if (!clock)
		return -EINVAL;
	new = kmalloc(sizeof(*new), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	new->map = *map;

	spin_lock_bh(&clock->lock);
	old = rcu_dereference_protected(clock->map, lockdep_is_held(&clock->lock));
	stepped = old && !nic_ts_map_agrees(&old->map, map);
	if (stepped)
		nic_ts_clock_end(clock, NIC_TS_CLOCK_STEPPED);
	else if (old)
		kfree_rcu(old, rcu);
	new->epoch = clock->epoch;
	rcu_assign_pointer(clock->map, new);
	clock->state = NIC_TS_CLOCK_VALID;
	spin_unlock_bh(&clock->lock);

	if (stepped)
		trace_nic_ts_clock(domain, NIC_TS_CLOCK_STEPPED);
	trace_nic_ts_clock(domain, NIC_TS_CLOCK_VALID);
	return 0;
}

/**
 * nic_ts_clock_invalidate() - invalidate the map
 * @domain:	the clock
 * @why:	NIC_TS_CLOCK_WITHDRAWN: the clock is as it was; others: stamps from
 *		before are of another time
 *
 * Context: any but hard interrupt.
 * Return: 0, -EINVAL: no such clock, -ENODATA: there was no map.
 */
int nic_ts_clock_invalidate(u32 domain, enum nic_ts_clock_state why)
{
	struct nic_ts_clock *clock = nic_ts_clock(domain);
	bool had;

	if (!clock)
		return -EINVAL;
	spin_lock_bh(&clock->lock);
	had = nic_ts_clock_end(clock, why);
	spin_unlock_bh(&clock->lock);
	trace_nic_ts_clock(domain, why);
	return had ? 0 : -ENODATA;
}

/* nic_ts_clock_epoch() - return the epoch that a timestamp of the clock carries; any context */
u16 nic_ts_clock_epoch(u32 domain)
{
	struct nic_ts_clock *clock = nic_ts_clock(domain);

	return clock ? READ_ONCE(clock->epoch) : 0;
}

/**
 * nic_ts_clock_to_host() - apply the map
 * @domain:	the clock
 * @epoch:	of the stamp
 * @ns:		the stamp
 * @host_ns:	CLOCK_MONOTONIC
 * @error_ns:	how wrong it can be
 *
 * Context: any.
 * Return: 0, -ENODATA: no valid map.
 */
int nic_ts_clock_to_host(u32 domain, u16 epoch, u64 ns, u64 *host_ns,
			 u32 *error_ns)
{
	struct nic_ts_clock *clock = nic_ts_clock(domain);
	const struct nic_ts_clock_map *map;
	int err = -ENODATA;

	if (domain == NIC_TS_DOMAIN_MONO) {
		*host_ns = ns;
		*error_ns = 0;
		return 0;
	}
	if (!clock)
		return -ENODATA;
	rcu_read_lock();
	map = rcu_dereference(clock->map);
	if (map && map->epoch == epoch &&
	    nic_ts_map_apply(&map->map, ns, host_ns, error_ns))
		err = 0;
	rcu_read_unlock();
	return err;
}

/**
 * nic_ts_clock_from_host() - apply the map backwards
 * @domain:	the clock
 * @host_ns:	CLOCK_MONOTONIC
 * @stamp:	time of the clock then, at its present rate, with domain and epoch
 * @error_ns:	how wrong it can be
 *
 * Context: any.
 * Return: 0, -ENODATA: no valid map.
 */
int nic_ts_clock_from_host(u32 domain, u64 host_ns, struct nic_ts_stamp *stamp, u32 *error_ns)
{
	struct nic_ts_clock *clock = nic_ts_clock(domain);
	const struct nic_ts_clock_map *map;
	int err = -ENODATA;

	if (!clock)
		return -ENODATA;
	rcu_read_lock();
	map = rcu_dereference(clock->map);
	if (map && nic_ts_map_invert(&map->map, host_ns, &stamp->hw_ns, error_ns)) {
		stamp->hw_domain = domain;
		stamp->hw_epoch = map->epoch;
		err = 0;
	}
	rcu_read_unlock();
	return err;
}

/**
 * nic_ts_clock_show() - report the map, for userspace
 * @domain:	a known clock
 * @map:	a copy, with NIC_TS_CLOCK_VALID and _EXPIRED
 *
 * Context: any but hard interrupt.
 */
enum nic_ts_clock_state nic_ts_clock_show(u32 domain, struct nic_ts_map *map)
{
	struct nic_ts_clock *clock = nic_ts_clock(domain);
	const struct nic_ts_clock_map *cur;
	enum nic_ts_clock_state state;
	u64 now_ns = ktime_get_ns();

	spin_lock_bh(&clock->lock);
	cur = rcu_dereference_protected(clock->map, lockdep_is_held(&clock->lock));
	state = clock->state;
	if (cur) {
		*map = cur->map;
		if (now_ns > map->ref_host_ns &&
		    now_ns - map->ref_host_ns > map->max_age_ns)
			state = NIC_TS_CLOCK_EXPIRED;
	}
	spin_unlock_bh(&clock->lock);
	return state;
}

/**
 * nic_ts_clock_check() - check whether a hardware timestamp is believable
 * @nd:		device that it is from
 * @hw_ns:	stamp
 * @after_ns:	it was made after this, CLOCK_MONOTONIC; 0: that is not known
 * @now_ns:	and before this
 * @last_ns:	last one believed of its queue, 0: none
 * @epoch:	of the timestamp
 *
 * With a valid map, a stamp from the future, or from before the packet was
 * handed over, tells at once that the clock jumped; else a row of stamps that
 * contradict earlier ones does.
 *
 * Context: BH disabled.
 */
enum nic_ts_hw_verdict nic_ts_clock_check(struct nic_ts_dev *nd, u64 hw_ns,
					  u64 after_ns, u64 now_ns, u64 last_ns,
					  u16 *epoch)
{
	struct nic_ts_dev_cpu *cpu = this_cpu_ptr(nd->cpu);
	enum nic_ts_hw_verdict verdict;
	u64 host_ns, slack_ns;
	bool stepped = false;
	u32 error_ns;

	*epoch = nic_ts_clock_epoch(nd->domain);
	/* Another CPU has seen it jump. */
	if (cpu->epoch != *epoch) {
		cpu->epoch = *epoch;
		cpu->track.host_ns = 0;
		last_ns = 0;
	}
	verdict = nic_ts_track_seen(&cpu->track, hw_ns, now_ns, last_ns, &stepped);
	if (verdict == NIC_TS_HW_OK && !stepped &&
	    !nic_ts_clock_to_host(nd->domain, *epoch, hw_ns, &host_ns, &error_ns)) {
		slack_ns = (u64)error_ns + NIC_TS_TRACK_SLACK_NS;
		if (host_ns > now_ns + slack_ns || host_ns + slack_ns < after_ns)
			stepped = true;
	}
	if (!stepped)
		return verdict;

	nic_ts_clock_invalidate(nd->domain, NIC_TS_CLOCK_STEPPED);
	nic_ts_dev_count(nd, NIC_TS_DEV_STEPS);
	*epoch = nic_ts_clock_epoch(nd->domain);
	cpu->epoch = *epoch;
	cpu->track.low = now_ns - hw_ns;
	cpu->track.host_ns = now_ns;
	return NIC_TS_HW_OK;
}

/* The host's clock stood still, the NIC's did not. */
static int nic_ts_pm_event(struct notifier_block *nb, unsigned long event,
			   void *ptr)
{
	u32 n;

	switch (event) {
	case PM_POST_SUSPEND:
	case PM_POST_HIBERNATION:
	case PM_POST_RESTORE:
		nic_ts_clock_invalidate(NIC_TS_DOMAIN_RAW, NIC_TS_CLOCK_SUSPENDED);
		nic_ts_clock_invalidate(NIC_TS_DOMAIN_REAL, NIC_TS_CLOCK_SUSPENDED);
		for (n = 0; n <= NIC_TS_DOMAIN_PHC_MAX; n++)
			nic_ts_clock_invalidate(NIC_TS_DOMAIN_PHC(n),
						NIC_TS_CLOCK_SUSPENDED);
	}
	return NOTIFY_DONE;
}

static struct notifier_block nic_ts_pm_nb = {
	.notifier_call = nic_ts_pm_event,
};

/** nic_ts_clock_init() - begin without any map */
int __init nic_ts_clock_init(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(nic_ts_clocks); i++)
		spin_lock_init(&nic_ts_clocks[i].lock);
	return register_pm_notifier(&nic_ts_pm_nb);
}

/** nic_ts_clock_exit() - free all maps; they have no more readers */
void nic_ts_clock_exit(void)
{
	int i;

	unregister_pm_notifier(&nic_ts_pm_nb);
	for (i = 0; i < ARRAY_SIZE(nic_ts_clocks); i++)
		kfree(rcu_dereference_protected(nic_ts_clocks[i].map, true));
}
