// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_dcqcn, per network namespace: net.ipv4.dcqcn.*, the line rates of the egress
 * devices, and /proc/net/dcqcn. The life of it is in cc_net.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <net_params_types.h>

#include "dcqcn.h"

unsigned int dcqcn_net_id __read_mostly;

/* Sockets of a namespace that is gone use these: the defaults. */
static struct dcqcn_conf dcqcn_gone_conf __ro_after_init;

/* The rows of dcqcn_params.h. */
static const struct net_param dcqcn_params[DCQCN_P_MAX] = {
#define DCQCN_PARAM(id, name, min, max, def, unit, what, source) \
	[DCQCN_P_##id] = { __stringify(name), unit, min, max, def },
	DCQCN_PARAMS
#undef DCQCN_PARAM
};

/* All are numbers: no words. */
static const char * const dcqcn_words[DCQCN_P_MAX][2];

/* Any combination of values that are in their ranges can be used. */
static const char *dcqcn_conf_build(struct dcqcn_conf *conf)
{
	const u64 *raw = conf->raw;

	conf->line_rate_bps = raw[DCQCN_P_LINE_RATE] * LINE_RATE_MBIT;
	conf->window_packets = raw[DCQCN_P_WINDOW];
	conf->base_rtt_ns = raw[DCQCN_P_BASE_RTT];
	conf->segment_bytes = raw[DCQCN_P_SEGMENT];
	conf->params = (struct dcqcn_params) {
		.min_bps = raw[DCQCN_P_MIN_RATE] * LINE_RATE_MBIT / 1000,
		.ai_bps = raw[DCQCN_P_AI] * LINE_RATE_MBIT,
		.hai_bps = raw[DCQCN_P_HAI] * LINE_RATE_MBIT,
		.cnp_ns = raw[DCQCN_P_CNP],
		.alpha_ns = raw[DCQCN_P_ALPHA],
		.timer_ns = raw[DCQCN_P_TIMER],
		.bytes = raw[DCQCN_P_BYTES],
		.g_shift = raw[DCQCN_P_G],
		.stages = raw[DCQCN_P_STAGES],
	};
	return NULL;
}

/* Any parameter can be set to any value in its range. */
static const char *dcqcn_conf_refuse(const struct dcqcn_conf *old, unsigned int id, u64 value)
{
	return NULL;
}

static const char * const dcqcn_stat_names[DCQCN_STAT_MAX] = {
#define DCQCN_STAT(id, name, what) #name,
	DCQCN_STATS
#undef DCQCN_STAT
};

#define CC_NAME		"dcqcn"
#define CC_PARAMS	DCQCN_P_MAX
#define CC_STATS	DCQCN_STAT_MAX
#define cc_net		dcqcn_net
#define cc_net_id	dcqcn_net_id
#define cc_conf		dcqcn_conf
#define cc_stats	dcqcn_stats
#define cc_params	dcqcn_params
#define cc_words	dcqcn_words
#define cc_stat_names	dcqcn_stat_names
#define cc_gone_conf	dcqcn_gone_conf
#define cc_conf_build	dcqcn_conf_build
#define cc_conf_refuse	dcqcn_conf_refuse
#define cc_more_init	dcqcn_cnp_net_init
#define cc_more_exit	dcqcn_cnp_net_exit
#include <cc_net.h>

/**
 * dcqcn_dev_get() - the egress device of a flow
 * @dn: namespace of the socket
 * @ifindex: device in that namespace
 *
 * Return: the device with a reference, or NULL if it is not known (any more).
 */
struct line_dev *dcqcn_dev_get(struct dcqcn_net *dn, int ifindex)
{
	return line_dev_find(&dn->rates, ifindex);
}

/**
 * dcqcn_dev_put() - drop the reference of dcqcn_dev_get()
 * @dev: device
 */
void dcqcn_dev_put(struct line_dev *dev)
{
	line_dev_drop(dev);
}

/**
 * dcqcn_net_register() - set up all namespaces, present and future
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int __init dcqcn_net_register(void)
{
	cc_conf_defaults(&dcqcn_gone_conf);
	return cc_net_register();
}

/**
 * dcqcn_net_unregister() - undo dcqcn_net_register()
 *
 * Context: process, may sleep; no socket uses the module any more.
 */
void dcqcn_net_unregister(void)
{
	cc_net_unregister();
}
