// SPDX-License-Identifier: GPL-2.0
/*
 * Every header whose interfaces compat/probes.txt asks about. It is only ever
 * preprocessed, by the target kernel's own build system with its own options.
 */
#include <linux/ethtool.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/preempt.h>
#include <linux/rbtree.h>
#include <linux/sysctl.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include <net/dst.h>
#include <net/genetlink.h>
#include <net/inet_hashtables.h>
#include <net/net_namespace.h>
#include <net/sch_generic.h>
#include <net/sock.h>
#include <net/tcp.h>
#include <net/udp_tunnel.h>

#if __has_include("net/netdev_lock.h")
#include <net/netdev_lock.h>
#endif

#if __has_include("trace/stages/stage6_event_callback.h")
#include <trace/stages/stage6_event_callback.h>
#endif
