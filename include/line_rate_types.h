/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The egress devices of a network namespace with their line rates: line_rate.h.
 */
#ifndef _LINE_RATE_TYPES_H
#define _LINE_RATE_TYPES_H

#include <linux/build_bug.h>
#include <linux/cache.h>
#include <linux/compiler.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/refcount.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include <line_shown.h>

/*
 * Line rate of a device that reports none (virtio without a configured speed,
 * tunnels, loopback), Mbit/s: that of the NICs of TIMELY's paper.
 */
#define LINE_RATE_DEFAULT_MBIT	10000U

/* Highest line rate that a device is believed to have, Mbit/s. */
#define LINE_RATE_MAX_MBIT	1600000U

/* A user that wants to know changes by ethtool has devices asked again after that, jiffies. */
#define LINE_RATE_ASK		HZ

/* Mbit/s to bytes/s. */
#define LINE_RATE_MBIT		125000ULL

struct net;

/**
 * struct line_dev - an egress device as the flows of one namespace see it
 * @line_mbit:	speed from ethtool, Mbit/s; 0: unknown. Written by the speed
 *		work, read locklessly
 * @rx_wait_us:	how long its NIC waits before an interrupt for a packet, us; see
 *		dev_get_waits(). Like @line_mbit
 * @tx_wait_us:	the same for a sent one
 * @shown_mbit:	line rate, Mbit/s, that flows have shown it to have; 0: none. Read and written
 *		locklessly
 * @wired:	a wire limits it, and its speed is that wire's. Like @line_mbit
 * @software:	software makes it, and all that is below it. Like @line_mbit
 * @ifindex:	fixed
 * @rcu:	looked up under RCU
 * @shown:	what flows that only the line rate limits have sent
 * @active:	the user's: flows with data in flight or waiting to be sent
 * @ref:	one for line_rates.devs, one per flow that points here
 *
 * Every ACK reads @line_mbit, every burst writes @active: they are on two cache lines.
 */
struct line_dev {
	u32		line_mbit;
	u32		rx_wait_us;
	u32		tx_wait_us;
	u32		shown_mbit;
	bool		wired;
	bool		software;
	int		ifindex;
	struct rcu_head	rcu;

	atomic_t	active ____cacheline_aligned_in_smp;
	struct line_shown shown;
	refcount_t	ref;
};

static_assert(!IS_ENABLED(CONFIG_SMP) ||
	      offsetof(struct line_dev, active) / SMP_CACHE_BYTES >
	      offsetof(struct line_dev, line_mbit) / SMP_CACHE_BYTES);

/**
 * struct line_rates - the devices of a namespace
 * @devs:	struct line_dev by ifindex; written under RTNL
 * @work:	asks every device; needs RTNL, so not in place
 * @asked:	when it last did, jiffies
 * @gone:	the namespace goes, or the module does: no more work, see line_rates_stop()
 * @net:	the namespace, for @work
 */
struct line_rates {
	struct xarray		devs;
	struct work_struct	work;
	unsigned long		asked;
	bool			gone;
	struct net		*net;
};

/**
 * line_rate_bps() - line rate of a flow, bytes/s
 * @dev: its egress device, or NULL: unknown
 * @set_bps: configured line rate, bytes/s; 0: the device's, or the default
 */
static inline u64 line_rate_bps(const struct line_dev *dev, u64 set_bps)
{
	u32 mbit = 0;

	if (set_bps)
		return set_bps;
	/* The speed work writes it under RTNL only. */
	if (dev)
		mbit = READ_ONCE(dev->line_mbit);
	return (mbit ?: LINE_RATE_DEFAULT_MBIT) * LINE_RATE_MBIT;
}

/* line_dev_mbit() - line rate of a device or what flows have shown it to have, Mbit/s */
static inline u32 line_dev_mbit(const struct line_dev *dev)
{
	return max(READ_ONCE(dev->line_mbit) ?: LINE_RATE_DEFAULT_MBIT,
		   READ_ONCE(dev->shown_mbit));
}

/**
 * line_rate_shown_bps() - as line_rate_bps(), or what flows have shown a device to have
 * @dev: egress device, or NULL: unknown
 * @set_bps: configured line rate, bytes/s; 0: the device's, or the default
 */
static inline u64 line_rate_shown_bps(const struct line_dev *dev, u64 set_bps)
{
	return set_bps || !dev ? line_rate_bps(dev, set_bps) :
				 line_dev_mbit(dev) * LINE_RATE_MBIT;
}

/**
 * line_dev_show() - nothing but the line rate limits a flow, which sees no queue
 * @dev: its egress device
 * @cap_bps: its largest rate at that line rate, bytes/s
 * @now_ns: time
 * @elapsed_ns: since it looked before
 * @bytes: payload that it has sent since then
 *
 * Context: any.
 * Return: the higher line rate, Mbit/s; 0 if it stays.
 */
static inline u32 line_dev_show(struct line_dev *dev, u64 cap_bps, u64 now_ns,
				u64 elapsed_ns, u32 bytes)
{
	u32 mbit;

	if (READ_ONCE(dev->wired) ||
	    !line_shown_add(&dev->shown, cap_bps, now_ns, elapsed_ns, bytes))
		return 0;
	mbit = line_shown_rise(line_dev_mbit(dev), LINE_RATE_MAX_MBIT);
	WRITE_ONCE(dev->shown_mbit, mbit);
	return mbit;
}

/* line_tx_wait_us() - how long the NIC of @dev, which may be NULL, keeps sent packets, us */
static inline u32 line_tx_wait_us(const struct line_dev *dev)
{
	return dev ? READ_ONCE(dev->tx_wait_us) : 0;
}

/** line_rate_unknown() - is the line rate of a flow the default? See line_rate_bps() */
static inline bool line_rate_unknown(const struct line_dev *dev, u64 set_bps)
{
	return !set_bps && !(dev && READ_ONCE(dev->line_mbit));
}

#endif /* _LINE_RATE_TYPES_H */
