// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: /proc/net/onramp_peers
 */
#include <linux/jiffies.h>
#include <linux/seq_file.h>

#include "onramp_net.h"
#include "onramp_proc.h"

/* Return the next peer. While the table grows, some come twice. */
static struct onramp_peer *onramp_peers_walk(struct rhashtable_iter *rht)
{
	struct onramp_peer *peer;

	do {
		peer = rhashtable_walk_next(rht);
	} while (IS_ERR(peer));
	return peer;
}

static void *onramp_peers_start(struct seq_file *seq, loff_t *pos)
	__acquires(RCU)
{
	struct onramp_peers_iter *iter = seq->private;
	void *v = SEQ_START_TOKEN;
	loff_t i;

	rhashtable_walk_enter(&onramp_net(seq_file_net(seq))->peers, &iter->rht);
	rhashtable_walk_start(&iter->rht);
	for (i = 0; i < *pos && v; i++)
		v = onramp_peers_walk(&iter->rht);
	return v;
}

static void *onramp_peers_next(struct seq_file *seq, void *v, loff_t *pos)
{
	struct onramp_peers_iter *iter = seq->private;

	++*pos;
	return onramp_peers_walk(&iter->rht);
}

static void onramp_peers_stop(struct seq_file *seq, void *v)
	__releases(RCU)
{
	struct onramp_peers_iter *iter = seq->private;

	rhashtable_walk_stop(&iter->rht);
	rhashtable_walk_exit(&iter->rht);
}

static void onramp_peers_addr(struct seq_file *seq, const struct or_addrs *addrs, bool remote)
{
	const void *addr = remote ? addrs->raddr : addrs->laddr;

	if (addrs->family == AF_INET)
		seq_printf(seq, "%pI4", addr);
	else
		seq_printf(seq, "%pI6c", addr);
	if (remote && addrs->scope)
		seq_printf(seq, "%%%u", addrs->scope);
	seq_putc(seq, ' ');
}

/* All values are read without a lock. */
static int onramp_peers_show(struct seq_file *seq, void *v)
{
	const struct onramp_peer *peer = v;
	bool answered;
	u32 rtt_us;

	if (v == SEQ_START_TOKEN) {
		seq_puts(seq, "local remote state connections rtt_us unanswered heard_ms\n");
		return 0;
	}
	answered = READ_ONCE(peer->answered);
	rtt_us = READ_ONCE(peer->rtt_us);
	onramp_peers_addr(seq, &peer->addrs, false);
	onramp_peers_addr(seq, &peer->addrs, true);
	seq_printf(seq, "%s %u ", READ_ONCE(peer->silent) ? "silent" :
		   answered ? "subscribed" : "asked", refcount_read(&peer->refs) - 1);
	if (rtt_us == U32_MAX)
		seq_puts(seq, "- ");
	else
		seq_printf(seq, "%u ", rtt_us);
	seq_printf(seq, "%u ", READ_ONCE(peer->tries));
	if (answered)
		seq_printf(seq, "%u\n", jiffies_to_msecs(jiffies - READ_ONCE(peer->heard_at)));
	else
		seq_puts(seq, "-\n");
	return 0;
}

const struct seq_operations onramp_peers_ops = {
	.start	= onramp_peers_start,
	.next	= onramp_peers_next,
	.stop	= onramp_peers_stop,
	.show	= onramp_peers_show,
};
