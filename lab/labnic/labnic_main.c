// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: a network interface for tests that behaves like hardware
 *
 * Two of them make a link. They are created together like a veth pair, and can move between
 * namespaces. Frames have the times of a real NIC and a real wire, on CLOCK_MONOTONIC, to the
 * nanosecond; the rest is the ordinary stack. In virtual time the results are exact and repeat.
 * On an emulated or loaded machine events are late, but their order and the times of frames stay
 * right.
 *
 * Sending:
 *
 *	post(packet):				the stack, through a qdisc
 *	  software stamp, BQL
 *	  packet.ready = now + host jitter
 *	  to the ring of its queue; stop the queue if that is full
 *
 *	wire, whenever it becomes free:
 *	  a pause frame, if there is one to send: see below
 *	  queue = the one that could start first; of several, the next in turn;
 *	    none whose first packet is of a paused priority
 *	  frame = packet, or its next TSO or USO segment
 *	  start = max(wire free, packet.ready, the segment's pacing)
 *	  end   = start + (preamble + frame + FCS) / rate
 *	  lost, corrupted, late, twice: if the random numbers say so
 *	  to the other end: it arrives at end + delay
 *	  wire free = end + gap / rate
 *	  last frame of the packet: the packet is done at end, and its hardware
 *	    stamp is of the end of the start-of-frame delimiter
 *
 *	done(packet): at end + tx_usecs of the first of them, or with the tx_frames'th:
 *	  BQL; free it, which tells its socket; run the queue again
 *
 * Receiving:
 *
 *	arrive(frame):
 *	  hardware stamp
 *	  to the ring of the queue that its flow hashes to, or dropped if that is full
 *	  no interrupt is under way: one at arrival + rx_usecs, or when the
 *	    rx_frames'th frame arrives, and in either case some latency later
 *
 *	interrupt: schedule NAPI, which empties the ring into GRO; then look again
 *
 * Priority flow control, for ports of switches (labq) and their neighbours:
 *
 *	set(priorities):			the switch, by way of labnic_pfc.h
 *	  a pause frame of 64 bytes waits for the frame on the wire and for no
 *	    other; its serialisation and the propagation delay later it arrives
 *
 *	pause frame arrives:
 *	  the frame on the wire is finished; no other of these priorities starts
 *	  posted packets fill the ring up to BQL's limit, and then the qdisc
 *
 * A packet's priority is its class selector or PCP, see labnic_skb_prio(). A TX queue is a FIFO: a
 * paused packet holds up all packets behind it, of any priority. Qdiscs may call
 * labnic_pfc_paused() to avoid that.
 *
 * Credits, for ports of switches with input buffers (labq) and their neighbours:
 *
 *	set(slots):				the switch, by way of labnic_pfc.h
 *	  a frame takes a slot of its priority when its transmission begins, and waits
 *	    for one if none is free
 *	  frames that the switch has not claimed free theirs at once
 *
 *	return(time):				the switch: a slot is free from then on
 *	  the other end knows after the propagation delay
 *
 * With `cut_through` an end passes a frame on before it has all of it. All links of such a switch
 * need the same rate.
 *
 * Simpler than hardware:
 *  - Credits take no bandwidth. A slot holds any frame.
 *  - A pause lasts until a frame ends it. In IEEE 802.1Qbb each frame has a time (up to 65535
 *    times 512 bit times), and the switch renews the pause before that ends. So here renewals take
 *    no bandwidth, pause frames must not get lost and do not, and a pause does not end by itself
 *    if the switch is stuck.
 *  - A pause frame takes effect on its arrival, where 802.1Qbb allows some time.
 *  - A lone TX queue sends up to tx_burst bytes of a segmented packet in one go;
 *    a packet posted to another queue meanwhile waits for the end of that.
 *  - Completions of sent packets are not moderated, and cost no interrupt. A pure
 *    ACK of TCP's, which counts as 2 bytes, is given back to its socket when posted.
 *  - Checksums left to the NIC are not written into frames: the receiver takes
 *    them for good, as between veths. A corrupted frame gets its checksum first.
 *  - A NIC receives any destination address, as if it were promiscuous; the stack drops packets
 *    for others.
 *  - The RX ring counts packets, not buffers. Moderation counts from the first
 *    packet that waits.
 *  - Taking a link down loses the frames on the wire; taking an end down loses the packets that it
 *    has not sent or received yet.
 *
 * Attributes, with ranges and units: labnic_params.h. Locks: labnic.h.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>
#include <net/rtnetlink.h>

#include <onramp_version.h>

#include "labnic.h"

#define DRV_NAME	"labnic"

static struct rtnl_link_ops labnic_link_ops;

/* Devices made since the module was loaded; under RTNL. */
static u32 labnic_made;

/* Settings ----------------------------------------------------------------- */

static const struct labnic_config labnic_defaults = {
#define LABNIC_X(NAME, field, KIND, min, max, def, help)	.field = def,
	LABNIC_PARAMS
#undef LABNIC_X
};

static const struct {
	u16 offset;
	s64 min, max;
	const char *complaint;
} labnic_params[IFLA_LABNIC_MAX + 1] = {
#define LABNIC_X(NAME, field, KIND, min, max, def, help)		\
	[IFLA_LABNIC_##NAME] = {					\
		offsetof(struct labnic_config, field), min, max,	\
		#field " must be " #min " to " #max,			\
	},
	LABNIC_PARAMS
#undef LABNIC_X
};

/* The setting that an attribute is for. */
static s64 *labnic_config_value(struct labnic_config *cfg, int attr)
{
	return (void *)cfg + labnic_params[attr].offset;
}

static int labnic_config_check(const struct labnic_config *cfg,
			       struct netlink_ext_ack *extack)
{
	int attr;

	for (attr = IFLA_LABNIC_FIRST; attr <= IFLA_LABNIC_MAX; attr++) {
		s64 value = *labnic_config_value((struct labnic_config *)cfg, attr);

		if (value >= labnic_params[attr].min && value <= labnic_params[attr].max)
			continue;
		/* NL_SET_ERR_MSG() takes literals only. */
		if (extack)
			extack->_msg = labnic_params[attr].complaint;
		return -ERANGE;
	}
	return 0;
}

static void labnic_config_parse(struct labnic_config *cfg, struct nlattr *data[])
{
	int attr;

	if (!data)
		return;
	for (attr = IFLA_LABNIC_FIRST; attr <= IFLA_LABNIC_MAX; attr++)
		if (data[attr])
			*labnic_config_value(cfg, attr) = nla_get_s64(data[attr]);
}

/**
 * labnic_config_set() - replace all settings
 * @priv: the end
 * @cfg: the new ones
 * @extack: says what is wrong with them
 *
 * Context: RTNL.
 * Return: 0, or an error and nothing has changed.
 */
int labnic_config_set(struct labnic_priv *priv, const struct labnic_config *cfg,
		      struct netlink_ext_ack *extack)
{
	struct labnic_config *old = rtnl_dereference(priv->cfg), *new;
	int err;

	err = labnic_config_check(cfg, extack);
	if (err)
		return err;
	if (old && old->phc != cfg->phc) {
		NL_SET_ERR_MSG(extack, "phc can be chosen only when the link is made");
		return -EBUSY;
	}
	if (!IS_ENABLED(CONFIG_BQL) && cfg->tx_limit_bytes != labnic_defaults.tx_limit_bytes) {
		NL_SET_ERR_MSG(extack, "tx_limit needs a kernel with CONFIG_BQL");
		return -EOPNOTSUPP;
	}
	new = kmemdup(cfg, sizeof(*cfg), GFP_KERNEL);
	if (!new)
		return -ENOMEM;
	rcu_assign_pointer(priv->cfg, new);
	if (old)
		kfree_rcu(old, rcu);
	return 0;
}

static void labnic_seed(struct labnic_priv *priv)
{
	u64 seed = rtnl_dereference(priv->cfg)->seed ?: priv->id;

	labnic_tx_seed(priv, seed);
	labnic_rx_seed(priv, seed);
}

/* The clock of a new device. */
static void labnic_clock_start(struct labnic_priv *priv)
{
	const struct labnic_config *cfg = rtnl_dereference(priv->cfg);
	u64 raw = ktime_get_raw_ns();

	spin_lock_irq(&priv->phc_lock);
	labnic_phc_init(&priv->phc, raw, raw + cfg->phc_offset_ns);
	labnic_phc_set_drift(&priv->phc, raw, cfg->phc_drift_ppb, cfg->phc_drift_ppb_s);
	spin_unlock_irq(&priv->phc_lock);
}

/* Side effects of changed settings. */
static void labnic_config_act(struct labnic_priv *priv, struct nlattr *data[])
{
	const struct labnic_config *cfg = rtnl_dereference(priv->cfg);
	u64 raw = ktime_get_raw_ns();

	if (data[IFLA_LABNIC_TX_LIMIT])
		labnic_tx_limit(priv);
	if (data[IFLA_LABNIC_SEED])
		labnic_seed(priv);
	spin_lock_irq(&priv->phc_lock);
	if (data[IFLA_LABNIC_PHC_OFFSET])
		labnic_phc_set(&priv->phc, raw, raw + cfg->phc_offset_ns);
	if (data[IFLA_LABNIC_PHC_DRIFT] || data[IFLA_LABNIC_PHC_DRIFT_CHANGE])
		labnic_phc_set_drift(&priv->phc, raw, cfg->phc_drift_ppb,
				     cfg->phc_drift_ppb_s);
	spin_unlock_irq(&priv->phc_lock);
}

/* The link is up if both ends are, and both are plugged in. */
static void labnic_update_link(struct labnic_priv *priv, struct net_device *peer)
{
	struct labnic_priv *other;
	bool up;

	ASSERT_RTNL();
	if (!peer) {
		WRITE_ONCE(priv->link_up, false);
		netif_carrier_off(priv->dev);
		return;
	}
	other = netdev_priv(peer);
	up = netif_running(priv->dev) && netif_running(peer) &&
	     rtnl_dereference(priv->cfg)->link && rtnl_dereference(other->cfg)->link;
	if (up == priv->link_up && up == other->link_up)
		return;
	WRITE_ONCE(priv->link_up, up);
	WRITE_ONCE(other->link_up, up);
	if (up) {
		netif_carrier_on(priv->dev);
		netif_carrier_on(peer);
	} else {
		netif_carrier_off(priv->dev);
		netif_carrier_off(peer);
		labnic_rx_cut(priv);
		labnic_rx_cut(other);
	}
	labnic_pfc_link(priv);
	labnic_pfc_link(other);
}

/* Device ------------------------------------------------------------------- */

static int labnic_open(struct net_device *dev)
{
	struct labnic_priv *priv = netdev_priv(dev);

	labnic_rx_start(priv);
	labnic_pfc_start(priv);
	labnic_stamps_start(priv);
	labnic_tx_start(priv);
	labnic_update_link(priv, rtnl_dereference(priv->peer));
	return 0;
}

static int labnic_stop(struct net_device *dev)
{
	struct labnic_priv *priv = netdev_priv(dev);

	labnic_update_link(priv, rtnl_dereference(priv->peer));
	labnic_pfc_stop(priv);
	labnic_credit_stop(priv);
	labnic_tx_stop(priv);
	labnic_stamps_stop(priv);
	labnic_rx_stop(priv);
	return 0;
}

static void labnic_free(struct net_device *dev)
{
	struct labnic_priv *priv = netdev_priv(dev);

	kvfree(priv->txqs);
	kvfree(priv->rxqs);
	kfree(rcu_dereference_protected(priv->cfg, true));
}

static int labnic_init(struct net_device *dev)
{
	struct labnic_priv *priv = netdev_priv(dev);
	int err;

	priv->dev = dev;
	priv->id = ++labnic_made;
	err = labnic_config_set(priv, priv->initial, NULL);
	priv->initial = NULL;
	if (err)
		return err;
	priv->txqs = kvcalloc(dev->num_tx_queues, sizeof(*priv->txqs), GFP_KERNEL);
	priv->rxqs = kvcalloc(dev->num_rx_queues, sizeof(*priv->rxqs), GFP_KERNEL);
	if (!priv->txqs || !priv->rxqs) {
		labnic_free(dev);
		return -ENOMEM;
	}
	err = labnic_ptp_init(priv);
	if (err) {
		labnic_free(dev);
		return err;
	}
	labnic_tx_init(priv);
	labnic_tx_limit(priv);
	labnic_pfc_init(priv);
	labnic_credit_init(priv);
	labnic_stamps_init(priv);
	labnic_rx_init(priv);
	labnic_seed(priv);
	return 0;
}

static void labnic_uninit(struct net_device *dev)
{
	struct labnic_priv *priv = netdev_priv(dev);
	unsigned int i;

	labnic_ptp_exit(priv);
	/* The memory goes in labnic_free(), after a grace period. */
	for (i = 0; i < dev->num_rx_queues; i++)
		__netif_napi_del(&priv->rxqs[i].napi);
}

static void labnic_get_stats64(struct net_device *dev, struct rtnl_link_stats64 *stats)
{
	struct labnic_priv *priv = netdev_priv(dev);
	unsigned int i, start;

	for (i = 0; i < dev->num_tx_queues; i++) {
		const struct labnic_txq *q = &priv->txqs[i];
		struct labnic_txq_stats s;

		do {
			start = u64_stats_fetch_begin(&q->syncp);
			s = q->stats;
		} while (u64_stats_fetch_retry(&q->syncp, start));
		stats->tx_packets += s.packets;
		stats->tx_bytes += s.bytes;
		stats->tx_carrier_errors += s.no_carrier;
		stats->tx_errors += s.no_carrier;
		stats->tx_dropped += s.errors;
	}
	for (i = 0; i < dev->num_rx_queues; i++) {
		const struct labnic_rxq *q = &priv->rxqs[i];
		struct labnic_rxq_stats s;

		do {
			start = u64_stats_fetch_begin(&q->syncp);
			s = q->stats;
		} while (u64_stats_fetch_retry(&q->syncp, start));
		stats->rx_packets += s.packets;
		stats->rx_bytes += s.bytes;
		stats->rx_missed_errors += s.ring_full;
		stats->rx_length_errors += s.too_long;
		stats->rx_crc_errors += s.bad_fcs;
		stats->rx_errors += s.too_long + s.bad_fcs;
	}
}

static int labnic_get_iflink(const struct net_device *dev)
{
	const struct labnic_priv *priv = netdev_priv(dev);
	const struct net_device *peer;
	int iflink;

	rcu_read_lock();
	peer = rcu_dereference(priv->peer);
	iflink = peer ? READ_ONCE(peer->ifindex) : 0;
	rcu_read_unlock();
	return iflink;
}

COMPAT_NDO_HWTSTAMP(labnic_hwtstamp_get, labnic_hwtstamp_set);

static const struct net_device_ops labnic_netdev_ops = {
	.ndo_init		= labnic_init,
	.ndo_uninit		= labnic_uninit,
	.ndo_open		= labnic_open,
	.ndo_stop		= labnic_stop,
	.ndo_start_xmit		= labnic_start_xmit,
	.ndo_get_stats64	= labnic_get_stats64,
	.ndo_get_iflink		= labnic_get_iflink,
	.ndo_set_mac_address	= eth_mac_addr,
	.ndo_validate_addr	= eth_validate_addr,
	compat_ndo_hwtstamp(labnic_hwtstamp_get, labnic_hwtstamp_set),
};

/* labnic_is() - whether a device is one of these */
bool labnic_is(const struct net_device *dev)
{
	return dev->netdev_ops == &labnic_netdev_ops;
}
EXPORT_SYMBOL_GPL(labnic_is);

#define LABNIC_FEATURES	(NETIF_F_SG | NETIF_F_FRAGLIST | NETIF_F_HIGHDMA | \
			 NETIF_F_HW_CSUM | NETIF_F_RXCSUM | \
			 NETIF_F_GSO_SOFTWARE | NETIF_F_GSO_ENCAP_ALL | \
			 NETIF_F_GSO_UDP_L4)
#define LABNIC_VLAN_FEATURES \
			(NETIF_F_HW_VLAN_CTAG_TX | NETIF_F_HW_VLAN_CTAG_RX | \
			 NETIF_F_HW_VLAN_STAG_TX | NETIF_F_HW_VLAN_STAG_RX)

/* Parent of all of them: a NIC is found on a bus, and qdiscs look for that. */
static struct device *labnic_bus;

static void labnic_setup(struct net_device *dev)
{
	ether_setup(dev);
	SET_NETDEV_DEV(dev, labnic_bus);
	dev->netdev_ops = &labnic_netdev_ops;
	dev->ethtool_ops = &labnic_ethtool_ops;
	dev->needs_free_netdev = true;
	dev->priv_destructor = labnic_free;
	/* The ring keeps its packets in a list. */
	dev->priv_flags &= ~IFF_TX_SKB_SHARING;
	dev->priv_flags |= IFF_LIVE_ADDR_CHANGE | IFF_DISABLE_NETPOLL;
	dev->max_mtu = ETH_MAX_MTU;
	dev->hw_features = LABNIC_FEATURES | LABNIC_VLAN_FEATURES;
	dev->features |= dev->hw_features;
	/* It can be turned on, as in many NICs, and merges nothing. */
	dev->hw_features |= NETIF_F_LRO;
	dev->vlan_features = LABNIC_FEATURES;
	dev->hw_enc_features = LABNIC_FEATURES;
}

/* Rtnetlink ---------------------------------------------------------------- */

static const struct nla_policy labnic_policy[IFLA_LABNIC_MAX + 1] = {
	[IFLA_LABNIC_PEER]	= { .len = sizeof(struct ifinfomsg) },
	[IFLA_LABNIC_PHC_INDEX]	= { .type = NLA_REJECT },
#define LABNIC_X(NAME, ...)						\
	[IFLA_LABNIC_##NAME] = { .type = NLA_S64 },
	LABNIC_PARAMS
#undef LABNIC_X
};

static int labnic_validate(struct nlattr *tb[], struct nlattr *data[],
			   struct netlink_ext_ack *extack)
{
	struct labnic_config cfg = labnic_defaults;

	if (tb[IFLA_ADDRESS] && (nla_len(tb[IFLA_ADDRESS]) != ETH_ALEN ||
				 !is_valid_ether_addr(nla_data(tb[IFLA_ADDRESS])))) {
		NL_SET_ERR_MSG_ATTR(extack, tb[IFLA_ADDRESS],
				    "the address must be a unicast Ethernet address");
		return -EADDRNOTAVAIL;
	}
	labnic_config_parse(&cfg, data);
	return labnic_config_check(&cfg, extack);
}

/* The other end's own IFLA_INFO_DATA, if there is any. */
static int labnic_peer_data(struct nlattr *tb[], struct nlattr *data[],
			    struct netlink_ext_ack *extack)
{
	struct nlattr *info[IFLA_INFO_MAX + 1];
	int err;

	memset(data, 0, sizeof(*data) * (IFLA_LABNIC_MAX + 1));
	if (!tb[IFLA_LINKINFO])
		return 0;
	err = nla_parse_nested_deprecated(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL,
					  extack);
	if (err || !info[IFLA_INFO_DATA])
		return err;
	err = nla_parse_nested_deprecated(data, IFLA_LABNIC_MAX, info[IFLA_INFO_DATA],
					  labnic_policy, extack);
	if (err)
		return err;
	if (data[IFLA_LABNIC_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_LABNIC_PEER],
				    "the other end cannot have another end");
		return -EINVAL;
	}
	return 0;
}

/* Addresses that repeat from run to run, and differ from device to device. */
static void labnic_set_address(struct net_device *dev)
{
	u64 bits = labnic_mix(labnic_made + 1);
	u8 addr[ETH_ALEN];

	memcpy(addr, &bits, ETH_ALEN);
	addr[0] = (addr[0] & ~1) | 2;
	eth_hw_addr_set(dev, addr);
	dev->addr_assign_type = NET_ADDR_RANDOM;
}

static int labnic_register(struct net_device *dev, struct nlattr *tb[],
			   const struct labnic_config *cfg)
{
	struct labnic_priv *priv = netdev_priv(dev);
	int err;

	if (!tb[IFLA_ADDRESS])
		labnic_set_address(dev);
	priv->initial = cfg;
	err = register_netdevice(dev);
	if (err)
		return err;
	netif_carrier_off(dev);
	labnic_clock_start(priv);
	return 0;
}

/**
 * struct labnic_request - settings of both ends of a new link
 * @cfg: settings of this end
 * @peer_cfg: and of the other one
 * @tb: attributes of the other one
 * @data: and of its kind
 */
struct labnic_request {
	struct labnic_config cfg;
	struct labnic_config peer_cfg;
	struct nlattr *tb[IFLA_MAX + 1];
	struct nlattr *data[IFLA_LABNIC_MAX + 1];
};

static int labnic_request_parse(struct labnic_request *req, struct nlattr *data[],
				struct netlink_ext_ack *extack)
{
	int err;

	req->cfg = labnic_defaults;
	labnic_config_parse(&req->cfg, data);
	req->peer_cfg = req->cfg;
	if (req->cfg.seed && req->cfg.seed < S64_MAX)
		req->peer_cfg.seed++;
	if (!data || !data[IFLA_LABNIC_PEER])
		return 0;
	err = rtnl_nla_parse_ifinfomsg(req->tb, data[IFLA_LABNIC_PEER], extack);
	if (err)
		return err;
	err = labnic_peer_data(req->tb, req->data, extack);
	if (err)
		return err;
	err = labnic_validate(req->tb, req->data, extack);
	if (err)
		return err;
	labnic_config_parse(&req->peer_cfg, req->data);
	return 0;
}

/* Create and register the other end of @dev. Returns it, or an error as a pointer. */
static struct net_device *labnic_peer_create(struct net_device *dev,
					     struct rtnl_newlink_params *params,
					     struct labnic_request *req,
					     struct netlink_ext_ack *extack)
{
	unsigned char name_assign = NET_NAME_ENUM;
	char name[IFNAMSIZ] = DRV_NAME "%d";
	struct nlattr **data = params->data;
	struct ifinfomsg *ifm = NULL;
	struct net_device *peer;
	int err;

	if (data && data[IFLA_LABNIC_PEER])
		ifm = nla_data(data[IFLA_LABNIC_PEER]);
	if (req->tb[IFLA_IFNAME]) {
		nla_strscpy(name, req->tb[IFLA_IFNAME], IFNAMSIZ);
		name_assign = NET_NAME_USER;
	}
	peer = rtnl_create_link(rtnl_newlink_peer_net(params), name, name_assign,
				&labnic_link_ops, req->tb, extack);
	if (IS_ERR(peer))
		return peer;
	if (ifm && dev->ifindex)
		peer->ifindex = ifm->ifi_index;
	err = labnic_register(peer, req->tb, &req->peer_cfg);
	if (err) {
		free_netdev(peer);
		return ERR_PTR(err);
	}
	err = rtnl_configure_link(peer, ifm, 0, NULL);
	if (err) {
		unregister_netdevice(peer);
		return ERR_PTR(err);
	}
	return peer;
}

static int labnic_newlink(struct net_device *dev, struct rtnl_newlink_params *params,
			  struct netlink_ext_ack *extack)
{
	struct nlattr **tb = params->tb;
	struct labnic_request *req;
	struct labnic_priv *priv;
	struct net_device *peer;
	int err;

	req = kzalloc(sizeof(*req), GFP_KERNEL);
	if (!req)
		return -ENOMEM;
	err = labnic_request_parse(req, params->data, extack);
	if (err)
		goto free_request;
	peer = labnic_peer_create(dev, params, req, extack);
	if (IS_ERR(peer)) {
		err = PTR_ERR(peer);
		goto free_request;
	}

	if (!tb[IFLA_IFNAME])
		strscpy(dev->name, DRV_NAME "%d", IFNAMSIZ);
	err = labnic_register(dev, tb, &req->cfg);
	if (err) {
		unregister_netdevice(peer);
		goto free_request;
	}
	priv = netdev_priv(dev);
	rcu_assign_pointer(priv->peer, peer);
	priv = netdev_priv(peer);
	rcu_assign_pointer(priv->peer, dev);
free_request:
	kfree(req);
	return err;
}

COMPAT_RTNL_NEWLINK(labnic_newlink, IFLA_LABNIC_PEER);

static int labnic_changelink(struct net_device *dev, struct nlattr *tb[],
			     struct nlattr *data[], struct netlink_ext_ack *extack)
{
	struct labnic_priv *priv = netdev_priv(dev);
	struct labnic_config cfg = *rtnl_dereference(priv->cfg);
	int err;

	if (!data)
		return 0;
	if (data[IFLA_LABNIC_PEER]) {
		NL_SET_ERR_MSG_ATTR(extack, data[IFLA_LABNIC_PEER],
				    "each end is changed by itself");
		return -EINVAL;
	}
	labnic_config_parse(&cfg, data);
	err = labnic_config_set(priv, &cfg, extack);
	if (err)
		return err;
	labnic_config_act(priv, data);
	labnic_update_link(priv, rtnl_dereference(priv->peer));
	return 0;
}

static void labnic_dellink(struct net_device *dev, struct list_head *head)
{
	struct labnic_priv *priv = netdev_priv(dev), *other;
	struct net_device *peer = rtnl_dereference(priv->peer);

	/*
	 * Neither is freed before a grace period has passed, so who has found the
	 * other end can go on to use it.
	 */
	RCU_INIT_POINTER(priv->peer, NULL);
	unregister_netdevice_queue(dev, head);
	if (peer) {
		other = netdev_priv(peer);
		RCU_INIT_POINTER(other->peer, NULL);
		unregister_netdevice_queue(peer, head);
	}
}

static size_t labnic_get_size(const struct net_device *dev)
{
	return nla_total_size_64bit(sizeof(s64)) * IFLA_LABNIC_MAX;
}

static int labnic_fill_info(struct sk_buff *skb, const struct net_device *dev)
{
	const struct labnic_priv *priv = netdev_priv(dev);
	struct labnic_config cfg = *rtnl_dereference(priv->cfg);
	int attr;

	if (nla_put_s64(skb, IFLA_LABNIC_PHC_INDEX, labnic_ptp_index(priv),
			IFLA_LABNIC_PAD))
		return -EMSGSIZE;
	for (attr = IFLA_LABNIC_FIRST; attr <= IFLA_LABNIC_MAX; attr++)
		if (nla_put_s64(skb, attr, *labnic_config_value(&cfg, attr), IFLA_LABNIC_PAD))
			return -EMSGSIZE;
	return 0;
}

static struct net *labnic_get_link_net(const struct net_device *dev)
{
	const struct labnic_priv *priv = netdev_priv(dev);
	struct net_device *peer = rtnl_dereference(priv->peer);

	return dev_net(peer ?: dev);
}

static struct rtnl_link_ops labnic_link_ops __read_mostly = {
	.kind		= DRV_NAME,
	.priv_size	= sizeof(struct labnic_priv),
	.setup		= labnic_setup,
	.maxtype	= IFLA_LABNIC_MAX,
	.policy		= labnic_policy,
	.validate	= labnic_validate,
	compat_rtnl_newlink(labnic_newlink, IFLA_LABNIC_PEER),
	.changelink	= labnic_changelink,
	.dellink	= labnic_dellink,
	.get_size	= labnic_get_size,
	.fill_info	= labnic_fill_info,
	.get_link_net	= labnic_get_link_net,
};

static int __init labnic_module_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct labnic_tx_cb) > sizeof_field(struct sk_buff, cb));
	BUILD_BUG_ON(sizeof(struct labnic_rx_cb) > sizeof_field(struct sk_buff, cb));
	BUILD_BUG_ON(sizeof(struct labnic_stamp_cb) > sizeof_field(struct sk_buff, cb));
	labnic_bus = root_device_register(DRV_NAME);
	if (IS_ERR(labnic_bus))
		return PTR_ERR(labnic_bus);
	err = rtnl_link_register(&labnic_link_ops);
	if (err)
		root_device_unregister(labnic_bus);
	return err;
}

static void __exit labnic_module_exit(void)
{
	rtnl_link_unregister(&labnic_link_ops);
	root_device_unregister(labnic_bus);
}

module_init(labnic_module_init);
module_exit(labnic_module_exit);

MODULE_ALIAS_RTNL_LINK(DRV_NAME);
MODULE_AUTHOR("The onramp authors");
MODULE_DESCRIPTION("Network interface for tests, with the times of real hardware");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
