/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What include/cc_sock.h uses of the kernel's sockets, for cc_sock_test.c: fields of the same
 * names, and a clock that the test sets.
 */
#ifndef _USER_NET_TCP_H
#define _USER_NET_TCP_H

#include "../core_user.h"

#define NSEC_PER_USEC	1000L
#define USEC_PER_SEC	1000000L
#define USEC_PER_MSEC	1000L
#define MSEC_PER_SEC	1000L

#define DIV_ROUND_UP(n, d)	({ u32 _d = (d); ((n) + _d - 1) / _d; })

#define min(a, b)	min_t(typeof(a), a, b)

#define cmpxchg(at, old, new)	__sync_val_compare_and_swap(at, old, new)

struct list_head {
	struct list_head *next, *prev;
};

/* There are none but those of packets. */
#define list_for_each_entry_reverse(pos, head, member)				\
	for (const struct list_head *_head = (head), *_at = _head->prev;		\
	     (pos) = (void *)((char *)_at - offsetof(struct sk_buff, member)),	\
	     _at != _head; _at = _at->prev)

struct refcount {
	int refs;
};

struct net_device {
	int ifindex;
	u32 gso_max_segs;
};

struct dst_entry {
	struct net_device *dev;
};

struct sock {
	u32 sk_gso_max_segs;
	int sk_pacing_status;
	u8 sk_pacing_shift;
	unsigned long sk_pacing_rate;
	struct refcount sk_wmem_alloc;
	struct dst_entry *dst;
	bool can_gso;
};

enum { SK_PACING_NONE, SK_PACING_NEEDED, SK_PACING_FQ };
enum { TCP_CA_Open, TCP_CA_Disorder, TCP_CA_CWR, TCP_CA_Recovery, TCP_CA_Loss };

/* A timer that waits, or not; how often it was cancelled and set; does cancelling succeed? */
struct hrtimer {
	u64 expires_ns;
	int waits, cancelled, set, cancels;
};

enum { HRTIMER_MODE_ABS_PINNED_SOFT };

#define hrtimer_is_queued(t)		((t)->waits)
#define hrtimer_get_expires(t)		((t)->expires_ns)
#define ktime_to_ns(t)			(t)
#define ns_to_ktime(t)			(t)

static inline int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	timer->cancelled++;
	return timer->cancels;
}

static inline void hrtimer_start(struct hrtimer *timer, u64 expires_ns, int mode)
{
	(void)mode;
	timer->set++;
	timer->expires_ns = expires_ns;
}

struct sk_buff {
	u64 skb_mstamp_ns;
	u32 len;
	struct list_head tcp_tsorted_anchor;
};

struct inet_connection_sock_af_ops {
	u16 net_header_len;
};

struct inet_connection_sock {
	struct sock sk;
	const struct inet_connection_sock_af_ops *icsk_af_ops;
	u8 icsk_ca_state;
};

struct tcp_sock {
	struct inet_connection_sock icsk;
	u16 tcp_header_len;
	u32 mss_cache, srtt_us, snd_cwnd, snd_ssthresh, packets_out;
	u64 tcp_wstamp_ns, tcp_clock_cache;
	struct hrtimer pacing_timer;
	struct list_head tsorted_sent_queue;
	struct {
		u64 mstamp;
		u32 rtt_us;
	} rack;
};

struct rate_sample {
	long rtt_us;
};

#define TCP_INIT_CWND	10

static inline void sk_pacing_shift_update(struct sock *sk, int shift)
{
	sk->sk_pacing_shift = shift;
}

#define tcp_sk(sk)	((struct tcp_sock *)(sk))
#define inet_csk(sk)	((struct inet_connection_sock *)(sk))

/* Of the test: each moves the time on. */
u64 tcp_clock_ns(void);
int refcount_read(const struct refcount *r);

static inline void rcu_read_lock(void)
{
}

static inline void rcu_read_unlock(void)
{
}

static inline struct dst_entry *__sk_dst_get(const struct sock *sk)
{
	return sk->dst;
}

static inline struct net_device *dst_dev_rcu(const struct dst_entry *dst)
{
	return dst->dev;
}

static inline bool sk_can_gso(const struct sock *sk)
{
	return sk->can_gso;
}

static inline u32 tcp_snd_cwnd(const struct tcp_sock *tp)
{
	return tp->snd_cwnd;
}

static inline void tcp_snd_cwnd_set(struct tcp_sock *tp, u32 packets)
{
	tp->snd_cwnd = packets;
}

#endif /* _USER_NET_TCP_H */
