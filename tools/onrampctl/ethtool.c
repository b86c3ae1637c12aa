// SPDX-License-Identifier: GPL-2.0
/* Settings of a driver, by ethtool's ioctl. */
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "collect.h"

static bool ask(int fd, const char *name, void *command)
{
	struct ifreq ifr;

	memset(&ifr, 0, sizeof(ifr));
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	ifr.ifr_data = command;
	return !ioctl(fd, SIOCETHTOOL, &ifr);
}

/* 0 if it is not known. */
static uint32_t speed_mbit(int fd, const char *name)
{
	/* With room for the masks behind it. */
	union {
		struct ethtool_link_settings s;
		uint32_t room[sizeof(struct ethtool_link_settings) / 4 + 3 * 127];
	} link;
	int8_t words;

	memset(&link, 0, sizeof(link));
	link.s.cmd = ETHTOOL_GLINKSETTINGS;
	/* The first answer is how many words the masks have, negative. */
	if (!ask(fd, name, &link) || link.s.link_mode_masks_nwords >= 0)
		return 0;
	words = -link.s.link_mode_masks_nwords;
	memset(&link, 0, sizeof(link));
	link.s.cmd = ETHTOOL_GLINKSETTINGS;
	link.s.link_mode_masks_nwords = words;
	if (!ask(fd, name, &link) || link.s.speed == (uint32_t)SPEED_UNKNOWN)
		return 0;
	return link.s.speed;
}

/**
 * ethtool_read() - add the settings of a device's driver
 * @dev: facts of the device
 * @name: its name
 */
void ethtool_read(json_t *dev, const char *name)
{
	struct ethtool_coalesce coalesce = { .cmd = ETHTOOL_GCOALESCE };
	struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };
	struct ethtool_drvinfo driver = { .cmd = ETHTOOL_GDRVINFO };
	char clean[sizeof(driver.driver)];
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint32_t speed;

	if (fd < 0)
		return;
	speed = speed_mbit(fd, name);
	if (speed)
		j_set_u64(dev, "speed_mbit", speed);
	if (ask(fd, name, &coalesce))
		j_set(dev, "coalesce",
		      json_pack("{s:I, s:I, s:b}", "rx_us",
				(json_int_t)coalesce.rx_coalesce_usecs, "rx_frames",
				(json_int_t)coalesce.rx_max_coalesced_frames, "adaptive",
				coalesce.use_adaptive_rx_coalesce != 0));
	if (ask(fd, name, &info))
		j_set(dev, "phc", json_integer(info.phc_index));
	if (ask(fd, name, &driver))
		j_set(dev, "driver", json_string(j_clean(clean, sizeof(clean), driver.driver,
							 sizeof(driver.driver))));
	if (ask(fd, name, &flags))
		j_set(dev, "lro", json_boolean(flags.data & ETH_FLAG_LRO));
	close(fd);
}

/**
 * ethtool_phc() - find the clock of a device
 * @name: device
 *
 * Return: N of /dev/ptpN; -1 if it has none, or there is no such device.
 */
int ethtool_phc(const char *name)
{
	struct ethtool_ts_info info = { .cmd = ETHTOOL_GET_TS_INFO };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), phc = -1;

	if (fd < 0)
		return -1;
	if (ask(fd, name, &info))
		phc = info.phc_index;
	close(fd);
	return phc;
}
