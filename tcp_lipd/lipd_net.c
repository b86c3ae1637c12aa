// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_lipd, per network namespace: net.ipv4.lipd.*, the line rates of the egress
 * devices, and /proc/net/lipd. The life of it is in cc_net.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <net_params_types.h>

#include "lipd.h"

unsigned int lipd_net_id __read_mostly;

/* Sockets of a namespace that is gone use these: the defaults. */
static struct lipd_conf lipd_gone_conf __ro_after_init;

/* The rows of lipd_params.h. */
static const struct net_param lipd_params[LIPD_P_MAX] = {
#define LIPD_PARAM(id, name, min, max, def, unit, what, source) \
	[LIPD_P_##id] = { __stringify(name), unit, min, max, def },
	LIPD_PARAMS
#undef LIPD_PARAM
};

/* Parameters that are one of two words. */
static const char * const lipd_words[LIPD_P_MAX][2] = {
	[LIPD_P_RATES] = {
		[LIPD_RATES_CONTINUOUS]	= "continuous",
		[LIPD_RATES_DISCRETE]	= "discrete",
	},
	[LIPD_P_DEPARTURES] = {
		[LIPD_DEPARTURES_FIXED]	= "fixed",
		[LIPD_DEPARTURES_MOVED]	= "moved",
	},
};

/* Any combination of values that are in their ranges can be used. */
static const char *lipd_conf_build(struct lipd_conf *conf)
{
	const u64 *raw = conf->raw;

	conf->line_rate_bps = raw[LIPD_P_LINE_RATE] * LINE_RATE_MBIT;
	conf->levels = raw[LIPD_P_LEVELS];
	conf->discrete = raw[LIPD_P_RATES] == LIPD_RATES_DISCRETE;
	conf->moved = raw[LIPD_P_DEPARTURES] == LIPD_DEPARTURES_MOVED;
	conf->marks_per_rtt = raw[LIPD_P_MARKS];
	conf->window_packets = raw[LIPD_P_WINDOW];
	conf->segment_bytes = raw[LIPD_P_SEGMENT];
	conf->idle_reset_ns = raw[LIPD_P_IDLE_RESET];
	return NULL;
}

/* Any parameter can be set to any value in its range. */
static const char *lipd_conf_refuse(const struct lipd_conf *old, unsigned int id, u64 value)
{
	return NULL;
}

static const char * const lipd_stat_names[LIPD_STAT_MAX] = {
#define LIPD_STAT(id, name, what) #name,
	LIPD_STATS
#undef LIPD_STAT
};

#define CC_NAME		"lipd"
#define CC_PARAMS	LIPD_P_MAX
#define CC_STATS	LIPD_STAT_MAX
#define cc_net		lipd_net
#define cc_net_id	lipd_net_id
#define cc_conf		lipd_conf
#define cc_stats	lipd_stats
#define cc_params	lipd_params
#define cc_words	lipd_words
#define cc_stat_names	lipd_stat_names
#define cc_gone_conf	lipd_gone_conf
#define cc_conf_build	lipd_conf_build
#define cc_conf_refuse	lipd_conf_refuse
#include <cc_net.h>

/**
 * lipd_dev_get() - the egress device of a flow
 * @ln: namespace of the socket
 * @ifindex: device in that namespace
 *
 * Return: the device with a reference, or NULL if it is not known (any more).
 */
struct line_dev *lipd_dev_get(struct lipd_net *ln, int ifindex)
{
	return line_dev_find(&ln->rates, ifindex);
}

/**
 * lipd_dev_put() - drop the reference of lipd_dev_get()
 * @dev: device
 */
void lipd_dev_put(struct line_dev *dev)
{
	line_dev_drop(dev);
}

/**
 * lipd_net_register() - set up all namespaces, present and future
 *
 * Context: process, may sleep.
 * Return: 0 or a negative errno.
 */
int __init lipd_net_register(void)
{
	cc_conf_defaults(&lipd_gone_conf);
	return cc_net_register();
}

/**
 * lipd_net_unregister() - undo lipd_net_register()
 *
 * Context: process, may sleep; no socket uses the module any more.
 */
void lipd_net_unregister(void)
{
	cc_net_unregister();
}
