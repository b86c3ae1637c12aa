// SPDX-License-Identifier: GPL-2.0
/*
 * onramp: /proc/net/onramp_peers
 */
/* Before seq_file_net.h, which takes netns_tracker for known in RHEL 9.3. */
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/seq_file_net.h>

#include "onramp_event.h"
#include "onramp_proc.h"

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

static void onramp_peers_line(struct seq_file *seq, const struct onramp_peer *peer)
{
	static const char *const states[] = {
		[ONRAMP_PATH_ASKED] = "asked", [ONRAMP_PATH_SUBSCRIBED] = "subscribed",
		[ONRAMP_PATH_SILENT] = "silent",
	};
	struct onramp_peer_now now;

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
}

/* onramp_peers_show() - write the file; again from the start if it is longer than the buffer */
int onramp_peers_show(struct seq_file *seq, void *v)
{
	struct rhashtable_iter iter;
	struct onramp_peer *peer;

	seq_puts(seq, "local remote state connections rtt_us unanswered heard_ms\n");
	rhashtable_walk_enter(&onramp_net(seq_file_single_net(seq))->peers, &iter);
	rhashtable_walk_start(&iter);
	while (!seq_has_overflowed(seq) && (peer = onramp_walk_next(&iter))) {
		/* The table grows: some come twice. */
		if (!IS_ERR(peer))
			onramp_peers_line(seq, peer);
	}
	rhashtable_walk_stop(&iter);
	rhashtable_walk_exit(&iter);
	return 0;
}
