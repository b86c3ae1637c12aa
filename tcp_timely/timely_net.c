// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_timely, per network namespace: net.ipv4.timely.*, the line rates of the
 * egress devices with their active flows, and /proc/net/timely. The life of it is in cc_net.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <net/tcp.h>

#include <net_params_types.h>

#include "timely.h"

unsigned int timely_net_id __read_mostly;

/* Sockets of a namespace that is gone use these: the defaults, and no bus. */
static struct timely_conf timely_gone_conf __ro_after_init;

/* The rows of timely_params.h. */
static const struct net_param timely_params[TIMELY_P_MAX] = {
#define TIMELY_PARAM(id, name, min, max, def, unit, what, source) \
	[TIMELY_P_##id] = { __stringify(name), unit, min, max, def },
	TIMELY_PARAMS
#undef TIMELY_PARAM
};

/* Parameters that are one of two words. */
static const char * const timely_words[TIMELY_P_MAX][2] = {
	[TIMELY_P_PROFILE] = {
		[TIMELY_PROFILE_AUTO]	= "auto",
		[TIMELY_PROFILE_PAPER]	= "paper",
	},
	[TIMELY_P_MODE] = {
		[TIMELY_MODE_ORIGINAL]	= "original",
		[TIMELY_MODE_PATCHED]	= "patched",
	},
	[TIMELY_P_RTT_SOURCE] = {
		[TIMELY_RTT_AUTO]	= "auto",
		[TIMELY_RTT_TCP]	= "tcp",
	},
	[TIMELY_P_SIGNAL] = {
		[TIMELY_SIGNAL_RTT]	= "rtt",
		[TIMELY_SIGNAL_OWD]	= "owd",
	},
	[TIMELY_P_PACING] = {
		[TIMELY_PACING_QDISC]	= "qdisc",
		[TIMELY_PACING_TCP]	= "tcp",
	},
};

/* Parameters that profile auto computes. */
static const unsigned long timely_by_rule =
	BIT(TIMELY_P_MODE) | BIT(TIMELY_P_T_LOW) | BIT(TIMELY_P_T_HIGH) | BIT(TIMELY_P_MIN_RTT) |
	BIT(TIMELY_P_DELTA) | BIT(TIMELY_P_MIN_RATE) | BIT(TIMELY_P_ALPHA) | BIT(TIMELY_P_BETA) |
	BIT(TIMELY_P_BETA_PATCHED) | BIT(TIMELY_P_HAI_THRESH) | BIT(TIMELY_P_HAI_FACTOR) |
	BIT(TIMELY_P_IDLE_RESTART);

/*
 * Derive the parameters from conf->raw, whose values are in their ranges. Returns NULL, or
 * the reason why the combination cannot be used.
 */
static const char *timely_conf_build(struct timely_conf *conf)
{
	struct timely_params *p = &conf->core;
	const u64 *raw = conf->raw;

	conf->profile = raw[TIMELY_P_PROFILE];
	p->mode = raw[TIMELY_P_MODE];
	p->hai_thresh = raw[TIMELY_P_HAI_THRESH];
	p->hai_factor = raw[TIMELY_P_HAI_FACTOR];
	p->app_limited_percent = raw[TIMELY_P_APP_LIMITED];
	p->segment_bytes = raw[TIMELY_P_SEGMENT];
	p->t_low_ns = timely_t_low_ns(raw[TIMELY_P_T_LOW], p->segment_bytes);
	p->t_high_ns = raw[TIMELY_P_T_HIGH];
	p->min_rtt_ns = raw[TIMELY_P_MIN_RTT];
	p->rtt_floor_ns = raw[TIMELY_P_RTT_FLOOR];
	p->delta_q = timely_bps_to_rate(raw[TIMELY_P_DELTA] * LINE_RATE_MBIT / 1000);
	p->min_rate_q = timely_bps_to_rate(raw[TIMELY_P_MIN_RATE] * LINE_RATE_MBIT / 1000);
	p->alpha = timely_permille(raw[TIMELY_P_ALPHA]);
	p->beta = timely_permille(raw[TIMELY_P_BETA]);
	p->beta_patched = timely_permille(raw[TIMELY_P_BETA_PATCHED]);
	p->loss_beta = timely_permille(raw[TIMELY_P_LOSS_BETA]);
	conf->line_rate_bps = raw[TIMELY_P_LINE_RATE] * LINE_RATE_MBIT;
	conf->max_outstanding = raw[TIMELY_P_MAX_OUTSTANDING];
	conf->idle_restart_ns = raw[TIMELY_P_IDLE_RESTART];
	conf->rx_wait_ns = raw[TIMELY_P_RX_WAIT];
	conf->rtt_source = raw[TIMELY_P_RTT_SOURCE];
	conf->signal = raw[TIMELY_P_SIGNAL];
	conf->pacing = raw[TIMELY_P_PACING];

	if (p->t_low_ns > p->t_high_ns)
		return "t_low_ns, scaled by segment_bytes / 16384, must not exceed t_high_ns";
	if (p->rtt_floor_ns > p->t_high_ns)
		return "rtt_floor_ns must not exceed t_high_ns";
	if (p->mode == TIMELY_MODE_PATCHED && p->t_low_ns < 1000)
		return "mode patched divides by t_low_ns, which must be at least 1000";
	if (conf->line_rate_bps &&
	    raw[TIMELY_P_MIN_RATE] > raw[TIMELY_P_LINE_RATE] * 1000)
		return "min_rate_kbit must not exceed line_rate_mbit";
	if (conf->max_outstanding && conf->max_outstanding < 2 * p->segment_bytes)
		return "max_outstanding_bytes must be 0 or at least two segments";
	if (!conf->max_outstanding &&
	    timely_outstanding(conf->line_rate_bps, p->t_high_ns) > TIMELY_MAX_OUTSTANDING)
		return "line_rate_mbit x 2 t_high_ns is above 1 GB: set max_outstanding_bytes";
	return NULL;
}

/* A value that would have no effect is worse than a refusal. */
static const char *timely_conf_refuse(const struct timely_conf *old, unsigned int id, u64 value)
{
	if (old->profile == TIMELY_PROFILE_AUTO && (timely_by_rule & BIT(id)) &&
	    value != old->raw[id])
		return "profile auto computes it; set profile to paper first";
	return NULL;
}

static const char * const timely_stat_names[TIMELY_STAT_MAX] = {
#define TIMELY_STAT(id, name) #name,
	TIMELY_STATS
#undef TIMELY_STAT
};

#define CC_NAME		"timely"
#define CC_PARAMS	TIMELY_P_MAX
#define CC_STATS	TIMELY_STAT_MAX
#define cc_net		timely_net
#define cc_net_id	timely_net_id
#define cc_conf		timely_conf
#define cc_stats	timely_stats
#define cc_params	timely_params
#define cc_words	timely_words
#define cc_stat_names	timely_stat_names
#define cc_gone_conf	timely_gone_conf
#define cc_conf_build	timely_conf_build
#define cc_conf_refuse	timely_conf_refuse
#include <cc_net.h>

/* timely_dev_get() - return the egress device of a flow, with a reference, or NULL */
struct line_dev *timely_dev_get(struct timely_net *tn, int ifindex)
{
	return line_dev_find(&tn->rates, ifindex);
}

/* timely_dev_put() - drop the reference of timely_dev_get() */
void timely_dev_put(struct line_dev *dev)
{
	line_dev_drop(dev);
}

/* timely_net_register() - set up all namespaces, present and future; 0 or an error; may sleep */
int __init timely_net_register(void)
{
	const char *why;

	why = cc_conf_defaults(&timely_gone_conf);
	if (WARN_ONCE(why, "defaults refused: %s", why))
		return -EINVAL;
	timely_gone_conf.rtt_source = TIMELY_RTT_TCP;
	return cc_net_register();
}

/* timely_net_unregister() - undo that; no socket uses the module any more; may sleep */
void timely_net_unregister(void)
{
	cc_net_unregister();
}
