// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: /proc/net/onramp_peers
 */
#include <linux/seq_file.h>

#include "onramp_event.h"
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

static int onramp_peers_show(struct seq_file *seq, void *v)
{
	static const char *const states[] = {
		[ONRAMP_PATH_ASKED] = "asked", [ONRAMP_PATH_SUBSCRIBED] = "subscribed",
		[ONRAMP_PATH_SILENT] = "silent",
	};
	const struct onramp_peer *peer = v;
	struct onramp_peer_now now;

	if (v == SEQ_START_TOKEN) {
		seq_puts(seq, "local remote state connections rtt_us unanswered heard_ms\n");
		return 0;
	}
	onramp_peer_read(peer, &now);
	onramp_peers_addr(seq, &peer->addrs, false);
	onramp_peers_addr(seq, &peer->addrs, true);
	seq_printf(seq, "%s %u ", states[now.state], now.connections);
	if (now.rtt_us == U32_MAX)
		seq_puts(seq, "- ");
	else
		seq_printf(seq, "%u ", now.rtt_us);
	seq_printf(seq, "%u ", now.unanswered);
	if (now.answered)
		seq_printf(seq, "%u\n", now.heard_ms);
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
