// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: the PTP hardware clock, and hardware stamps of sent packets.
 *
 * The clock's oscillator is CLOCK_MONOTONIC_RAW and an error, so it is one that
 * nobody on the host can steer. Packets are timed on CLOCK_MONOTONIC, like all
 * timers; the two differ by parts per million, which over the little time
 * between a packet and the reading of its stamp is nothing.
 */
#include <linux/ktime.h>
#include <linux/rtnetlink.h>
#include <linux/timekeeping.h>

#include "labnic.h"

/**
 * labnic_raw_from_mono() - CLOCK_MONOTONIC_RAW at an instant
 * @mono_ns: the instant on CLOCK_MONOTONIC, shortly before or after now
 */
u64 labnic_raw_from_mono(u64 mono_ns)
{
	ktime_t mono, raw;

	compat_snapshot_mono(&mono, &raw);
	return ktime_to_ns(raw) + mono_ns - ktime_to_ns(mono);
}

/**
 * labnic_phc_from_raw() - the hardware clock at an instant
 * @priv: the end
 * @raw_ns: the instant on CLOCK_MONOTONIC_RAW
 */
u64 labnic_phc_from_raw(struct labnic_priv *priv, u64 raw_ns)
{
	unsigned long flags;
	u64 ns;

	spin_lock_irqsave(&priv->phc_lock, flags);
	ns = labnic_phc_at(&priv->phc, raw_ns);
	spin_unlock_irqrestore(&priv->phc_lock, flags);
	return ns;
}

static int labnic_adjfine(struct ptp_clock_info *info, long scaled_ppm)
{
	struct labnic_priv *priv = container_of(info, struct labnic_priv, ptp_info);
	unsigned long flags;

	spin_lock_irqsave(&priv->phc_lock, flags);
	labnic_phc_adjust(&priv->phc, ktime_get_raw_ns(), scaled_ppm);
	spin_unlock_irqrestore(&priv->phc_lock, flags);
	return 0;
}

static int labnic_adjtime(struct ptp_clock_info *info, s64 delta)
{
	struct labnic_priv *priv = container_of(info, struct labnic_priv, ptp_info);
	unsigned long flags;

	spin_lock_irqsave(&priv->phc_lock, flags);
	labnic_phc_step(&priv->phc, ktime_get_raw_ns(), delta);
	spin_unlock_irqrestore(&priv->phc_lock, flags);
	return 0;
}

static int labnic_gettimex64(struct ptp_clock_info *info, struct timespec64 *ts,
			     struct ptp_system_timestamp *sts)
{
	struct labnic_priv *priv = container_of(info, struct labnic_priv, ptp_info);
	u64 raw;

	ptp_read_system_prets(sts);
	raw = ktime_get_raw_ns();
	ptp_read_system_postts(sts);
	*ts = ns_to_timespec64(labnic_phc_from_raw(priv, raw));
	return 0;
}

static int labnic_settime64(struct ptp_clock_info *info, const struct timespec64 *ts)
{
	struct labnic_priv *priv = container_of(info, struct labnic_priv, ptp_info);
	u64 ns = timespec64_to_ns(ts);
	unsigned long flags;

	spin_lock_irqsave(&priv->phc_lock, flags);
	labnic_phc_set(&priv->phc, ktime_get_raw_ns(), ns);
	spin_unlock_irqrestore(&priv->phc_lock, flags);
	return 0;
}

/* As PCIe's precision time measurement gives it: all clocks at one instant. */
static int labnic_getcrosststamp(struct ptp_clock_info *info,
				 struct system_device_crosststamp *xts)
{
	struct labnic_priv *priv = container_of(info, struct labnic_priv, ptp_info);

	compat_crosststamp(xts);
	xts->device = ns_to_ktime(labnic_phc_from_raw(priv, ktime_to_ns(xts->sys_monoraw)));
	return 0;
}

static int labnic_ptp_enable(struct ptp_clock_info *info, struct ptp_clock_request *request,
			     int on)
{
	return -EOPNOTSUPP;
}

static const struct ptp_clock_info labnic_ptp_info = {
	.owner		= THIS_MODULE,
	.name		= "labnic",
	.max_adj	= LABNIC_ADJ_MAX_PPB,
	.adjfine	= labnic_adjfine,
	.adjtime	= labnic_adjtime,
	.gettimex64	= labnic_gettimex64,
	.settime64	= labnic_settime64,
	.getcrosststamp	= labnic_getcrosststamp,
	.enable		= labnic_ptp_enable,
};

/* labnic_ptp_init() - start the hardware clock, on CLOCK_MONOTONIC_RAW; return 0 or an error */
int labnic_ptp_init(struct labnic_priv *priv)
{
	u64 raw = ktime_get_raw_ns();

	spin_lock_init(&priv->phc_lock);
	labnic_phc_init(&priv->phc, raw, raw);
	priv->ptp = NULL;
	if (!rtnl_dereference(priv->cfg)->phc)
		return 0;
	priv->ptp_info = labnic_ptp_info;
	priv->ptp = ptp_clock_register(&priv->ptp_info, NULL);
	if (IS_ERR(priv->ptp)) {
		int err = PTR_ERR(priv->ptp);

		priv->ptp = NULL;
		return err;
	}
	return 0;
}

void labnic_ptp_exit(struct labnic_priv *priv)
{
	if (priv->ptp)
		ptp_clock_unregister(priv->ptp);
	priv->ptp = NULL;
}

/* labnic_ptp_index() - N of /dev/ptpN, -1 without a clock */
int labnic_ptp_index(const struct labnic_priv *priv)
{
	return priv->ptp ? ptp_clock_index(priv->ptp) : -1;
}

/* Stamps of sent packets --------------------------------------------------- */

static void labnic_stamp_free(struct labnic_stamps *stamps, struct sk_buff *stamp)
{
	stamps->used--;
	kfree_skb(stamp);
}

/**
 * labnic_stamp_get() - take a slot for the stamp of a packet
 * @priv: the end
 * @skb: the packet; it is marked if it gets one
 * @slots: how many there are
 *
 * The stamp waits with a clone that holds the socket but none of its memory: the
 * packet itself is done when it has left.
 *
 * Return: the clone, NULL if there is no slot or no memory.
 */
struct sk_buff *labnic_stamp_get(struct labnic_priv *priv, struct sk_buff *skb, u32 slots)
{
	struct labnic_stamps *stamps = &priv->stamps;
	struct sk_buff *stamp;

	spin_lock(&stamps->lock);
	if (stamps->used >= slots) {
		spin_unlock(&stamps->lock);
		return NULL;
	}
	stamps->used++;
	spin_unlock(&stamps->lock);
	stamp = skb_clone_sk(skb);
	if (!stamp) {
		spin_lock(&stamps->lock);
		stamps->used--;
		spin_unlock(&stamps->lock);
		return NULL;
	}
	skb_shinfo(skb)->tx_flags |= SKBTX_IN_PROGRESS;
	return stamp;
}

/* labnic_stamp_put() - give slot and clone of an unsent packet back */
void labnic_stamp_put(struct labnic_priv *priv, struct sk_buff *stamp)
{
	spin_lock(&priv->stamps.lock);
	labnic_stamp_free(&priv->stamps, stamp);
	spin_unlock(&priv->stamps.lock);
}

static void labnic_stamp_queue(struct labnic_stamps *stamps, struct sk_buff *stamp)
{
	u64 due_ns = LABNIC_STAMP_CB(stamp)->due_ns;
	struct sk_buff *before = skb_peek_tail(&stamps->queue);

	while (before && LABNIC_STAMP_CB(before)->due_ns > due_ns)
		before = skb_queue_is_first(&stamps->queue, before) ? NULL :
			 skb_queue_prev(&stamps->queue, before);
	if (before)
		__skb_queue_after(&stamps->queue, before, stamp);
	else
		__skb_queue_head(&stamps->queue, stamp);
	hrtimer_start(&stamps->timer,
		      ns_to_ktime(LABNIC_STAMP_CB(skb_peek(&stamps->queue))->due_ns),
		      HRTIMER_MODE_ABS_SOFT);
}

/**
 * labnic_stamp_sent() - the packet of a stamp is on the wire
 * @priv: the end
 * @cfg: its settings
 * @stamp: as labnic_stamp_get() returned it
 * @sfd_ns: time of the stamp, on CLOCK_MONOTONIC
 *
 * A stamp that never comes keeps its slot for as long as the driver would wait
 * for it.
 *
 * Context: tx.lock held.
 */
void labnic_stamp_sent(struct labnic_priv *priv, const struct labnic_config *cfg,
		       struct sk_buff *stamp, u64 sfd_ns)
{
	struct labnic_stamp_cb *cb = LABNIC_STAMP_CB(stamp);
	struct labnic_stamps *stamps = &priv->stamps;
	struct labnic_tx *tx = &priv->tx;
	struct sk_buff *held;

	*cb = (struct labnic_stamp_cb){
		.due_ns = sfd_ns + cfg->tx_stamp_ns,
		.raw_ns = labnic_raw_from_mono(sfd_ns),
	};
	if (labnic_rng_hit(&tx->rng[LABNIC_RNG_STAMP_MISS], cfg->stamp_miss_ppb)) {
		cb->miss = true;
	} else if (labnic_rng_hit(&tx->rng[LABNIC_RNG_STAMP_LATE], cfg->stamp_late_ppb)) {
		cb->due_ns += cfg->stamp_late_ns;
		labnic_count(tx, stamps_late, 1);
	}

	spin_lock(&stamps->lock);
	if (!stamps->running) {
		labnic_stamp_free(stamps, stamp);
		spin_unlock(&stamps->lock);
		return;
	}
	held = stamps->held;
	stamps->held = NULL;
	if (!held && !cb->miss &&
	    labnic_rng_hit(&tx->rng[LABNIC_RNG_STAMP_DISORDER], cfg->stamp_disorder_ppb)) {
		labnic_count(tx, stamps_disordered, 1);
		stamps->held = stamp;
	} else {
		labnic_stamp_queue(stamps, stamp);
	}
	if (held) {
		LABNIC_STAMP_CB(held)->due_ns = cb->due_ns;
		labnic_stamp_queue(stamps, held);
	}
	spin_unlock(&stamps->lock);
}

static enum hrtimer_restart labnic_stamp_timer(struct hrtimer *timer)
{
	struct labnic_priv *priv = container_of(timer, struct labnic_priv, stamps.timer);
	struct labnic_stamps *stamps = &priv->stamps;
	u64 now = ktime_get_ns();
	struct sk_buff_head due;
	struct sk_buff *stamp;
	u32 given = 0, missed = 0;

	__skb_queue_head_init(&due);
	spin_lock(&stamps->lock);
	while ((stamp = skb_peek(&stamps->queue)) && LABNIC_STAMP_CB(stamp)->due_ns <= now) {
		__skb_unlink(stamp, &stamps->queue);
		__skb_queue_tail(&due, stamp);
		stamps->used--;
	}
	if (stamp)
		hrtimer_start(&stamps->timer, ns_to_ktime(LABNIC_STAMP_CB(stamp)->due_ns),
			      HRTIMER_MODE_ABS_SOFT);
	spin_unlock(&stamps->lock);

	while ((stamp = __skb_dequeue(&due))) {
		struct labnic_stamp_cb cb = *LABNIC_STAMP_CB(stamp);

		if (cb.miss) {
			missed++;
		} else {
			struct skb_shared_hwtstamps hwtstamps = {
				.hwtstamp = ns_to_ktime(labnic_phc_from_raw(priv, cb.raw_ns)),
			};

			skb_tstamp_tx(stamp, &hwtstamps);
			given++;
		}
		kfree_skb(stamp);
	}
	spin_lock(&priv->tx.lock);
	u64_stats_update_begin(&priv->tx.syncp);
	priv->tx.stats.stamps += given;
	priv->tx.stats.stamps_missed += missed;
	u64_stats_update_end(&priv->tx.syncp);
	spin_unlock(&priv->tx.lock);
	return HRTIMER_NORESTART;
}

void labnic_stamps_init(struct labnic_priv *priv)
{
	struct labnic_stamps *stamps = &priv->stamps;

	spin_lock_init(&stamps->lock);
	__skb_queue_head_init(&stamps->queue);
	hrtimer_setup(&stamps->timer, labnic_stamp_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
}

void labnic_stamps_start(struct labnic_priv *priv)
{
	spin_lock_bh(&priv->stamps.lock);
	priv->stamps.running = true;
	spin_unlock_bh(&priv->stamps.lock);
}

void labnic_stamps_stop(struct labnic_priv *priv)
{
	struct labnic_stamps *stamps = &priv->stamps;
	struct sk_buff *stamp;

	spin_lock_bh(&stamps->lock);
	stamps->running = false;
	while ((stamp = __skb_dequeue(&stamps->queue)))
		labnic_stamp_free(stamps, stamp);
	if (stamps->held)
		labnic_stamp_free(stamps, stamps->held);
	stamps->held = NULL;
	spin_unlock_bh(&stamps->lock);
	hrtimer_cancel(&stamps->timer);
}

/* Settings, by ioctl or netlink -------------------------------------------- */

int labnic_hwtstamp_get(struct net_device *dev, struct kernel_hwtstamp_config *config)
{
	struct labnic_priv *priv = netdev_priv(dev);

	config->flags = 0;
	config->tx_type = priv->hwtstamp_tx;
	config->rx_filter = priv->hwtstamp_rx;
	return 0;
}

int labnic_hwtstamp_set(struct net_device *dev, struct kernel_hwtstamp_config *config,
			struct netlink_ext_ack *extack)
{
	struct labnic_priv *priv = netdev_priv(dev);

	if (!priv->ptp) {
		NL_SET_ERR_MSG(extack, "the device was made without a hardware clock");
		return -EOPNOTSUPP;
	}
	if (config->tx_type != HWTSTAMP_TX_OFF && config->tx_type != HWTSTAMP_TX_ON) {
		NL_SET_ERR_MSG(extack, "TX timestamps: expected off or on");
		return -ERANGE;
	}
	/* What is asked for is a subset of all packets. */
	if (config->rx_filter != HWTSTAMP_FILTER_NONE)
		config->rx_filter = HWTSTAMP_FILTER_ALL;
	WRITE_ONCE(priv->hwtstamp_tx, config->tx_type);
	WRITE_ONCE(priv->hwtstamp_rx, config->rx_filter);
	return 0;
}
