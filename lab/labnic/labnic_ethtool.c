// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: operations of ethtool.
 */
#include <linux/ethtool.h>
#include <linux/math64.h>
#include <linux/rtnetlink.h>

#include <onramp_version.h>

#include "labnic.h"

/* Counters: one name and one u64 each, in the order of the structures. */
#define LABNIC_X(field)		#field,
static const char * const labnic_txq_names[] = { LABNIC_TXQ_STATS };
static const char * const labnic_wire_names[] = { LABNIC_WIRE_STATS };
static const char * const labnic_rxq_names[] = { LABNIC_RXQ_STATS };
#undef LABNIC_X

static_assert(sizeof(struct labnic_txq_stats) == ARRAY_SIZE(labnic_txq_names) * sizeof(u64));
static_assert(sizeof(struct labnic_wire_stats) == ARRAY_SIZE(labnic_wire_names) * sizeof(u64));
static_assert(sizeof(struct labnic_rxq_stats) == ARRAY_SIZE(labnic_rxq_names) * sizeof(u64));

static int labnic_get_sset_count(struct net_device *dev, int sset)
{
	if (sset != ETH_SS_STATS)
		return -EOPNOTSUPP;
	return ARRAY_SIZE(labnic_wire_names) + LABNIC_PRIOS +
	       dev->num_tx_queues * ARRAY_SIZE(labnic_txq_names) +
	       dev->num_rx_queues * ARRAY_SIZE(labnic_rxq_names);
}

static void labnic_get_strings(struct net_device *dev, u32 sset, u8 *data)
{
	unsigned int i, j;

	if (sset != ETH_SS_STATS)
		return;
	for (j = 0; j < ARRAY_SIZE(labnic_wire_names); j++)
		ethtool_sprintf(&data, "wire_%s", labnic_wire_names[j]);
	for (i = 0; i < LABNIC_PRIOS; i++)
		ethtool_sprintf(&data, "wire_paused%u_ns", i);
	for (i = 0; i < dev->num_tx_queues; i++)
		for (j = 0; j < ARRAY_SIZE(labnic_txq_names); j++)
			ethtool_sprintf(&data, "tx%u_%s", i, labnic_txq_names[j]);
	for (i = 0; i < dev->num_rx_queues; i++)
		for (j = 0; j < ARRAY_SIZE(labnic_rxq_names); j++)
			ethtool_sprintf(&data, "rx%u_%s", i, labnic_rxq_names[j]);
}

/* A consistent copy of the counters of a queue or wire. */
#define labnic_stats_read(owner, data) do {				\
	typeof(owner) _owner = (owner);					\
	typeof(_owner->stats) _stats;					\
	unsigned int _start;						\
									\
	do {								\
		_start = u64_stats_fetch_begin(&_owner->syncp);		\
		_stats = _owner->stats;					\
	} while (u64_stats_fetch_retry(&_owner->syncp, _start));	\
	memcpy(data, &_stats, sizeof(_stats));				\
} while (0)

static void labnic_get_stats(struct net_device *dev, struct ethtool_stats *stats, u64 *data)
{
	struct labnic_priv *priv = netdev_priv(dev);
	unsigned int i;

	labnic_stats_read(&priv->tx, data);
	data += ARRAY_SIZE(labnic_wire_names);
	labnic_pfc_read(priv, data);
	data += LABNIC_PRIOS;
	for (i = 0; i < dev->num_tx_queues; i++, data += ARRAY_SIZE(labnic_txq_names))
		labnic_stats_read(&priv->txqs[i], data);
	for (i = 0; i < dev->num_rx_queues; i++, data += ARRAY_SIZE(labnic_rxq_names))
		labnic_stats_read(&priv->rxqs[i], data);
}

static void labnic_get_drvinfo(struct net_device *dev, struct ethtool_drvinfo *info)
{
	strscpy(info->driver, KBUILD_MODNAME, sizeof(info->driver));
	strscpy(info->version, ONRAMP_VERSION, sizeof(info->version));
}

static int labnic_get_link_ksettings(struct net_device *dev,
				     struct ethtool_link_ksettings *settings)
{
	struct labnic_priv *priv = netdev_priv(dev);
	u64 rate_bit = rtnl_dereference(priv->cfg)->rate_bit;
	u32 rest;
	u64 mbit = div_u64_rem(rate_bit, 1000000, &rest);

	ethtool_link_ksettings_zero_link_mode(settings, supported);
	settings->base.duplex = DUPLEX_FULL;
	settings->base.port = PORT_OTHER;
	settings->base.autoneg = AUTONEG_DISABLE;
	/* A speed is in whole Mbit/s; the last value is "unknown". */
	settings->base.speed = rest || mbit >= INT_MAX ? SPEED_UNKNOWN : mbit;
	return 0;
}

static void labnic_get_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				 struct kernel_ethtool_ringparam *kernel_ring,
				 struct netlink_ext_ack *extack)
{
	struct labnic_priv *priv = netdev_priv(dev);
	const struct labnic_config *cfg = rtnl_dereference(priv->cfg);

	ring->tx_max_pending = 32768;
	ring->rx_max_pending = 32768;
	ring->tx_pending = cfg->tx_ring;
	ring->rx_pending = cfg->rx_ring;
}

static int labnic_set_ringparam(struct net_device *dev, struct ethtool_ringparam *ring,
				struct kernel_ethtool_ringparam *kernel_ring,
				struct netlink_ext_ack *extack)
{
	struct labnic_priv *priv = netdev_priv(dev);
	struct labnic_config cfg = *rtnl_dereference(priv->cfg);

	cfg.tx_ring = ring->tx_pending;
	cfg.rx_ring = ring->rx_pending;
	return labnic_config_set(priv, &cfg, extack);
}

static int labnic_get_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
			       struct kernel_ethtool_coalesce *kernel_coalesce,
			       struct netlink_ext_ack *extack)
{
	struct labnic_priv *priv = netdev_priv(dev);
	const struct labnic_config *cfg = rtnl_dereference(priv->cfg);

	coalesce->rx_coalesce_usecs = cfg->rx_usecs;
	coalesce->rx_max_coalesced_frames = cfg->rx_frames;
	/* Some NICs wait, and do not say so. */
	if (!cfg->tx_usecs_told)
		return 0;
	coalesce->tx_coalesce_usecs = cfg->tx_usecs;
	coalesce->tx_max_coalesced_frames = cfg->tx_frames;
	return 0;
}

static int labnic_set_coalesce(struct net_device *dev, struct ethtool_coalesce *coalesce,
			       struct kernel_ethtool_coalesce *kernel_coalesce,
			       struct netlink_ext_ack *extack)
{
	struct labnic_priv *priv = netdev_priv(dev);
	struct labnic_config cfg = *rtnl_dereference(priv->cfg);

	cfg.rx_usecs = coalesce->rx_coalesce_usecs;
	cfg.rx_frames = coalesce->rx_max_coalesced_frames;
	if (!cfg.tx_usecs_told)
		return labnic_config_set(priv, &cfg, extack);
	cfg.tx_usecs = coalesce->tx_coalesce_usecs;
	cfg.tx_frames = coalesce->tx_max_coalesced_frames;
	return labnic_config_set(priv, &cfg, extack);
}

static void labnic_get_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	channels->max_rx = dev->num_rx_queues;
	channels->max_tx = dev->num_tx_queues;
	channels->rx_count = dev->real_num_rx_queues;
	channels->tx_count = dev->real_num_tx_queues;
}

static int labnic_set_channels(struct net_device *dev, struct ethtool_channels *channels)
{
	unsigned int rx = dev->real_num_rx_queues;
	int err;

	err = netif_set_real_num_rx_queues(dev, channels->rx_count);
	if (err)
		return err;
	err = netif_set_real_num_tx_queues(dev, channels->tx_count);
	if (err)
		netif_set_real_num_rx_queues(dev, rx);
	return err;
}

static int labnic_get_ts_info(struct net_device *dev, struct kernel_ethtool_ts_info *info)
{
	struct labnic_priv *priv = netdev_priv(dev);

	info->so_timestamping = SOF_TIMESTAMPING_TX_SOFTWARE |
				SOF_TIMESTAMPING_RX_SOFTWARE |
				SOF_TIMESTAMPING_SOFTWARE;
	info->phc_index = labnic_ptp_index(priv);
	if (!priv->ptp)
		return 0;
	info->so_timestamping |= SOF_TIMESTAMPING_TX_HARDWARE |
				 SOF_TIMESTAMPING_RX_HARDWARE |
				 SOF_TIMESTAMPING_RAW_HARDWARE;
	info->tx_types = BIT(HWTSTAMP_TX_OFF) | BIT(HWTSTAMP_TX_ON);
	info->rx_filters = BIT(HWTSTAMP_FILTER_NONE) | BIT(HWTSTAMP_FILTER_ALL);
	return 0;
}

const struct ethtool_ops labnic_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS |
				     ETHTOOL_COALESCE_RX_MAX_FRAMES |
				     ETHTOOL_COALESCE_TX_USECS |
				     ETHTOOL_COALESCE_TX_MAX_FRAMES,
	.get_drvinfo		= labnic_get_drvinfo,
	.get_link		= ethtool_op_get_link,
	.get_link_ksettings	= labnic_get_link_ksettings,
	.get_ringparam		= labnic_get_ringparam,
	.set_ringparam		= labnic_set_ringparam,
	.get_coalesce		= labnic_get_coalesce,
	.set_coalesce		= labnic_set_coalesce,
	.get_channels		= labnic_get_channels,
	.set_channels		= labnic_set_channels,
	.get_ts_info		= labnic_get_ts_info,
	.get_sset_count		= labnic_get_sset_count,
	.get_strings		= labnic_get_strings,
	.get_ethtool_stats	= labnic_get_stats,
};
