/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Mercury, the sender: the window that a switch gives a flow. Pure functions on integers.
 *
 * A switch sends a congestion notification (CNP) with a window to a flow of a congested port. To
 * the flow it is a CNP of DCQCN, and the window limits its bytes in flight:
 *
 *	CNP:			DCQCN's cut (dcqcn_core.h); window = that of the CNP
 *	no CNP for its hold time: window = C * base RTT, as at the beginning
 *
 * Source: He et al., "Mercury", Journal of Cloud Computing 13:72, 2024, algorithm 2 as its text
 * describes it.
 *
 * Where the paper is silent, here:
 *  - "When congestion disappears, the sender no longer receives CNP": after the time that the CNP
 *    itself says. Each CNP has the time begin anew, also one that cuts no rate, since it comes
 *    too soon after another one.
 *  - The window is of bytes on the wire, as the line rate is. A flow has one packet at least.
 *  - A packet in flight may be of a group that leaves in one go, so some packets are added to
 *    C * base RTT, see mercury_initial().
 *
 * Nothing in this file depends on the kernel but fixed-size integers and divisions: it is
 * compiled into the module and the unit tests.
 */
#ifndef _MERCURY_WINDOW_H
#define _MERCURY_WINDOW_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/types.h>

/* Longest time that a window holds, us: 1 s, as OR_CNP_HOLD_MAX_US. */
#define MERCURY_MAX_HOLD_US	1000000U

/**
 * struct mercury_window - the window of a switch
 * @bytes:	on the wire; 0: none, or its time is over
 * @hold_ns:	how much longer it holds
 *
 * The caller serialises all access (in a module: the socket lock).
 */
struct mercury_window {
	u32	bytes;
	u32	hold_ns;
};

/**
 * mercury_notify() - a CNP came
 * @w: window
 * @bytes: of the CNP; 0 counts as 1
 * @hold_us: of the CNP, up to %MERCURY_MAX_HOLD_US
 */
static inline void mercury_notify(struct mercury_window *w, u32 bytes, u32 hold_us)
{
	w->bytes = max_t(u32, bytes, 1);
	w->hold_ns = min_t(u32, hold_us, MERCURY_MAX_HOLD_US) * 1000;
}

/**
 * mercury_pass() - time went on
 * @w: window
 * @elapsed_ns: since the last call, or since the CNP
 *
 * Return: whether that ended a window.
 */
static inline bool mercury_pass(struct mercury_window *w, u64 elapsed_ns)
{
	if (!w->bytes)
		return false;
	if (elapsed_ns < w->hold_ns) {
		w->hold_ns -= (u32)elapsed_ns;
		return false;
	}
	w->bytes = 0;
	w->hold_ns = 0;
	return true;
}

/**
 * mercury_packets() - packets that a window is
 * @w: window, not over
 * @frame: bytes of a full packet on the wire, 1 or more
 *
 * Return: packets, rounded down, 1 or more.
 */
static inline u32 mercury_packets(const struct mercury_window *w, u32 frame)
{
	return max_t(u32, w->bytes / frame, 1);
}

/**
 * mercury_initial() - the window of a flow that no switch gave one
 * @line_bps: C, bytes/s on the wire, below 2^38
 * @rtt_ns: base RTT, up to 1 s
 * @frame: bytes of a full packet on the wire, 1 or more
 * @burst: packets that leave in one go
 *
 * The first of them is acknowledged while the others are still on their way. The next go needs
 * room for all of its packets. So the window is two goes more than C * base RTT.
 *
 * No product exceeds 2^59.
 *
 * Return: packets, 1 or more.
 */
static inline u32 mercury_initial(u64 line_bps, u32 rtt_ns, u32 frame, u32 burst)
{
	/* Units of 2^10 ns, of which a second has 976562.5; and the rest. */
	u64 bytes = div_u64(2 * line_bps * (rtt_ns >> 10), 1953125);
	u64 packets;

	bytes += div_u64(line_bps * (rtt_ns & 1023), 1000000000U);
	packets = div_u64(bytes + frame - 1, frame) + 2 * burst;
	return (u32)clamp_t(u64, packets, 1, S32_MAX);
}

#endif /* _MERCURY_WINDOW_H */
