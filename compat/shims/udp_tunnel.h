/* SPDX-License-Identifier: GPL-2.0 */
/*
 * UDP sockets of the kernel:
 *  - 6.7, and in later stable releases of 6.1: udp_tunnel_encap_enable() is given the sock. Use
 *    compat_udp_tunnel_encap_enable(), whose argument is that.
 */
#ifndef _ONRAMP_COMPAT_UDP_TUNNEL_H
#define _ONRAMP_COMPAT_UDP_TUNNEL_H

#ifdef COMPAT_ENCAP_ENABLE_HAS_SOCK
#define compat_udp_tunnel_encap_enable(sk)	udp_tunnel_encap_enable(sk)
#else
#define compat_udp_tunnel_encap_enable(sk)	udp_tunnel_encap_enable((sk)->sk_socket)
#endif

#endif /* _ONRAMP_COMPAT_UDP_TUNNEL_H */
