/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the congestion controls of this directory share: how a rate and a window reach TCP, and the
 * module around a law. A law is NAME_init(), NAME_set_state() and NAME_cong_control().
 */
#ifndef _RIVAL_H
#define _RIVAL_H

#include <linux/module.h>
#include <net/tcp.h>

#include "cc_sock.h"

/* Packets that the stack sends in one go: a batch is a delay of its own, which no law has. */
#define RIVAL_SEGMENT	4

/* rival_pace() - send at @bps, bytes/s on the wire; socket lock */
static inline void rival_pace(struct sock *sk, u64 bps)
{
	cc_bound_segment(sk, RIVAL_SEGMENT);
	WRITE_ONCE(sk->sk_pacing_rate, clamp_t(u64, bps, 1, READ_ONCE(sk->sk_max_pacing_rate)));
}

/* rival_cwnd() - the window is the law's alone: TCP's answer to loss leaves it */
static inline u32 rival_cwnd(struct sock *sk)
{
	return max_t(u32, tcp_snd_cwnd(tcp_sk(sk)), 2);
}

/* RIVAL_MODULE() - the module of the law @law with the state struct @law in a socket */
#define RIVAL_MODULE(law, description)					\
COMPAT_CONG_CONTROL(law##_cong_control);				\
									\
static struct tcp_congestion_ops law##_ops __read_mostly = {		\
	.name		= #law,						\
	.owner		= THIS_MODULE,					\
	.flags		= TCP_CONG_NON_RESTRICTED,			\
	.init		= law##_init,					\
	.ssthresh	= rival_cwnd,					\
	.undo_cwnd	= rival_cwnd,					\
	.set_state	= law##_set_state,				\
	.cong_control	= compat_cong_control(law##_cong_control),	\
};									\
									\
static int __init law##_module_init(void)				\
{									\
	BUILD_BUG_ON(sizeof(struct law) > ICSK_CA_PRIV_SIZE);		\
	return tcp_register_congestion_control(&law##_ops);		\
}									\
									\
static void __exit law##_module_exit(void)				\
{									\
	tcp_unregister_congestion_control(&law##_ops);			\
}									\
									\
module_init(law##_module_init);						\
module_exit(law##_module_exit);						\
MODULE_DESCRIPTION(description);					\
MODULE_LICENSE("GPL")

#endif /* _RIVAL_H */
