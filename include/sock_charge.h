/* SPDX-License-Identifier: GPL-2.0 */
/* Memory for a connection, charged to the cgroup of its socket. */
#ifndef _SOCK_CHARGE_H
#define _SOCK_CHARGE_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <net/request_sock.h>
#include <net/sock.h>
#include <net/tcp_states.h>

/**
 * sock_charged_zalloc() - allocate an object of a cache, charged to the cgroup of a socket
 * @cache: the cache
 * @sk: a full socket or a request socket, or NULL: nobody is charged
 *
 * A child has the cgroup of its listener before it is accepted. The memory is not GFP_ATOMIC, which
 * succeeds beyond the limit of a cgroup: a connection without it works without On-Ramp.
 *
 * Context: any; who calls it need not be of that cgroup.
 * Return: zeroed memory, or NULL.
 */
static inline void *sock_charged_zalloc(struct kmem_cache *cache, struct sock *sk)
{
	gfp_t gfp = GFP_NOWAIT | __GFP_NOWARN;
#if defined(CONFIG_MEMCG) && defined(CONFIG_SOCK_CGROUP_DATA) && compat_active_memcg
	struct cgroup_subsys_state *css;
	struct mem_cgroup *old;
	void *object;

	if (sk && sk->sk_state == TCP_NEW_SYN_RECV)
		sk = inet_reqsk(sk)->rsk_listener;
	if (sk) {
		css = cgroup_get_e_css(sock_cgroup_ptr(&sk->sk_cgrp_data), &memory_cgrp_subsys);
		old = set_active_memcg(mem_cgroup_from_css(css));
		object = kmem_cache_zalloc(cache, gfp | __GFP_ACCOUNT);
		set_active_memcg(old);
		css_put(css);
		return object;
	}
#endif
	return kmem_cache_zalloc(cache, gfp);
}

#endif /* _SOCK_CHARGE_H */
