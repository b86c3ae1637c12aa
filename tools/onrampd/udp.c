// SPDX-License-Identifier: GPL-2.0
/*
 * Times of departure are those of the kernel's software, when a packet is handed to the device:
 * many NICs have one register for their own, which ptp4l needs. Times of arrival are those of
 * software, and of a NIC that stamps all packets.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

/* They use struct timespec of <time.h>. */
#include <linux/errqueue.h>
#include <linux/net_tstamp.h>

#include "util.h"

#include "udp.h"

static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

/*
 * A change of CLOCK_REALTIME that is larger is a step, ns, as readings have noise; it is slewed by
 * less than 1 in this. A message may have waited in the socket for this time, ns.
 */
#define STEP_NS		5000
#define SLEW		1000
#define WAITED_NS	100000000LL

/* What the socket reports; which packets have a time of departure each of them says. */
#define STAMPS	(SOF_TIMESTAMPING_SOFTWARE | SOF_TIMESTAMPING_RX_SOFTWARE | \
		 SOF_TIMESTAMPING_RAW_HARDWARE | SOF_TIMESTAMPING_RX_HARDWARE | \
		 SOF_TIMESTAMPING_OPT_TSONLY)

bool udp_is_v4(const uint8_t *addr)
{
	return !memcmp(addr, mapped, sizeof(mapped));
}

/* udp_address() - read an address, mapped if it is IPv4; false: it is none, or of all hosts */
bool udp_address(const char *text, uint8_t *addr)
{
	static const uint8_t none[16];

	if (inet_pton(AF_INET6, text, addr) == 1)
		return memcmp(addr, none, 16);
	memcpy(addr, mapped, sizeof(mapped));
	return inet_pton(AF_INET, text, addr + 12) == 1 && memcmp(addr + 12, none, 4);
}

/* udp_utc_ns() - return CLOCK_REALTIME less CLOCK_MONOTONIC, by the quickest of three readings */
int64_t udp_utc_ns(void)
{
	int64_t best_ns = INT64_MAX, utc_ns = 0;
	unsigned int i;

	for (i = 0; i < 3; i++) {
		int64_t before = (int64_t)clock_ns(CLOCK_MONOTONIC);
		int64_t utc = (int64_t)clock_ns(CLOCK_REALTIME);
		int64_t took_ns = (int64_t)clock_ns(CLOCK_MONOTONIC) - before;

		if (took_ns >= best_ns)
			continue;
		best_ns = took_ns;
		utc_ns = utc - before - took_ns / 2;
	}
	return utc_ns;
}

/* A time of the kernel, by CLOCK_REALTIME, as one of CLOCK_MONOTONIC; 0: none. */
static int64_t stamp_ns(const struct scm_timestamping *stamps)
{
	static int64_t last_utc_ns, last_ns, until_ns;
	const struct timespec *ts = &stamps->ts[0];
	int64_t now = (int64_t)now_ns(), utc_ns = udp_utc_ns();
	int64_t moved_ns = utc_ns - last_utc_ns, most_ns = STEP_NS + (now - last_ns) / SLEW;

	/* CLOCK_REALTIME was set: times of before that are off by as much. */
	if (moved_ns > most_ns || moved_ns < -most_ns)
		until_ns = now + WAITED_NS;
	last_utc_ns = utc_ns;
	last_ns = now;
	if (!ts->tv_sec || now < until_ns)
		return 0;
	return ts->tv_sec * (int64_t)NSEC_PER_SEC + ts->tv_nsec - utc_ns;
}

static bool set(int fd, int level, int option, int value)
{
	return !setsockopt(fd, level, option, &value, sizeof(value));
}

/* udp_count_again() - let the next packet with a time of departure have number 0 */
bool udp_count_again(int fd)
{
	return set(fd, SOL_SOCKET, SO_TIMESTAMPING, STAMPS) &&
	       set(fd, SOL_SOCKET, SO_TIMESTAMPING, STAMPS | SOF_TIMESTAMPING_OPT_ID);
}

/* udp_open() - return a socket; -1: there is no IPv6 */
int udp_open(int family, uint16_t port)
{
	int fd = socket(family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_in any4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 any6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };

	if (fd < 0 && family == AF_INET6)
		return -1;
	if (fd < 0)
		die("UDP socket: %s", strerror(errno));
	if (!(family == AF_INET ?
	      set(fd, IPPROTO_IP, IP_PKTINFO, 1) && set(fd, IPPROTO_IP, IP_RECVTTL, 1) &&
	      set(fd, IPPROTO_IP, IP_TTL, UDP_TTL) :
	      set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
	      set(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) &&
	      set(fd, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) &&
	      set(fd, IPPROTO_IPV6, IPV6_UNICAST_HOPS, UDP_TTL)) || !udp_count_again(fd))
		die("UDP socket: %s", strerror(errno));
	if (bind(fd, family == AF_INET ? (struct sockaddr *)&any4 : (struct sockaddr *)&any6,
		 family == AF_INET ? sizeof(any4) : sizeof(any6)))
		die("UDP port %u: %s", port, strerror(errno));
	return fd;
}

static struct cmsghdr *put(struct msghdr *hdr, struct cmsghdr *cmsg, int level, int type,
			   const void *data, size_t len)
{
	cmsg->cmsg_level = level;
	cmsg->cmsg_type = type;
	cmsg->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(cmsg), data, len);
	hdr->msg_controllen += CMSG_SPACE(len);
	return (struct cmsghdr *)((char *)cmsg + CMSG_SPACE(len));
}

/**
 * udp_send() - send a message
 * @fd: socket of the addresses' family
 * @port: to which
 * @ends: from where to where
 * @msg: bytes
 * @len: how many
 * @stamp: udp_left() tells when it leaves
 */
bool udp_send(int fd, uint16_t port, const struct udp_ends *ends, const void *msg, size_t len,
	      bool stamp)
{
	struct sockaddr_in to4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 to6 = {
		.sin6_family = AF_INET6, .sin6_port = htons(port), .sin6_scope_id = ends->scope,
	};
	union {
		char space[CMSG_SPACE(sizeof(struct in6_pktinfo)) + CMSG_SPACE(sizeof(uint32_t))];
		struct cmsghdr align;
	} control = { .space = { 0 } };
	struct iovec iov = { (void *)msg, len };
	bool v4 = udp_is_v4(ends->to);
	struct msghdr hdr = {
		.msg_name = v4 ? (void *)&to4 : (void *)&to6,
		.msg_namelen = v4 ? sizeof(to4) : sizeof(to6),
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control,
	};
	struct cmsghdr *cmsg = &control.align;
	uint32_t flags = SOF_TIMESTAMPING_TX_SOFTWARE;

	if (v4) {
		struct in_pktinfo info = { .ipi_ifindex = 0 };

		memcpy(&to4.sin_addr, ends->to + 12, 4);
		memcpy(&info.ipi_spec_dst, ends->from + 12, 4);
		cmsg = put(&hdr, cmsg, IPPROTO_IP, IP_PKTINFO, &info, sizeof(info));
	} else {
		struct in6_pktinfo info = { .ipi6_ifindex = 0 };

		memcpy(&to6.sin6_addr, ends->to, 16);
		memcpy(&info.ipi6_addr, ends->from, 16);
		cmsg = put(&hdr, cmsg, IPPROTO_IPV6, IPV6_PKTINFO, &info, sizeof(info));
	}
	if (stamp)
		put(&hdr, cmsg, SOL_SOCKET, SO_TIMESTAMPING, &flags, sizeof(flags));
	return sendmsg(fd, &hdr, MSG_DONTWAIT) == (ssize_t)len;
}

/**
 * udp_left() - read from the error queue when a packet left
 * @fd: socket
 * @id: its number, of those with a time of departure
 * @left_ns: CLOCK_MONOTONIC; 0: that was something else
 *
 * Return: false if the queue is empty.
 */
bool udp_left(int fd, uint32_t *id, int64_t *left_ns)
{
	char control[512] __attribute__((aligned(8)));
	struct msghdr hdr = { .msg_control = control, .msg_controllen = sizeof(control) };
	struct cmsghdr *cmsg;
	bool numbered = false;
	int64_t ns = 0;

	*left_ns = 0;
	if (recvmsg(fd, &hdr, MSG_ERRQUEUE | MSG_DONTWAIT) < 0)
		return false;
	for (cmsg = CMSG_FIRSTHDR(&hdr); cmsg; cmsg = CMSG_NXTHDR(&hdr, cmsg)) {
		struct sock_extended_err err;
		struct scm_timestamping stamps;

		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_TIMESTAMPING) {
			memcpy(&stamps, CMSG_DATA(cmsg), sizeof(stamps));
			ns = stamp_ns(&stamps);
		} else if ((cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_RECVERR) ||
			   (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_RECVERR)) {
			memcpy(&err, CMSG_DATA(cmsg), sizeof(err));
			numbered = err.ee_errno == ENOMSG &&
				   err.ee_origin == SO_EE_ORIGIN_TIMESTAMPING &&
				   err.ee_info == SCM_TSTAMP_SND;
			*id = err.ee_data;
		}
	}
	if (numbered)
		*left_ns = ns;
	return true;
}

/**
 * udp_receive() - read a message
 * @fd: socket
 * @msg: bytes
 * @size: room for them
 * @ends: addresses, hops, and when it arrived
 *
 * Return: its length; below 0: there is none, or it has no addresses.
 */
long udp_receive(int fd, void *msg, size_t size, struct udp_ends *ends)
{
	struct sockaddr_in6 name;
	char control[512] __attribute__((aligned(8)));
	struct iovec iov = { msg, size };
	struct msghdr hdr = {
		.msg_name = &name, .msg_namelen = sizeof(name), .msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t len = recvmsg(fd, &hdr, MSG_DONTWAIT);
	const struct sockaddr_in *name4 = (const struct sockaddr_in *)&name;
	struct cmsghdr *cmsg;
	bool has_to = false;
	int ttl = 0;

	if (len < 0)
		return -1;
	ends->arrived_ns = 0;
	ends->phc_ns = 0;
	ends->scope = 0;
	for (cmsg = CMSG_FIRSTHDR(&hdr); cmsg; cmsg = CMSG_NXTHDR(&hdr, cmsg)) {
		const void *data = CMSG_DATA(cmsg);
		struct scm_timestamping stamps;

		if (cmsg->cmsg_level == SOL_SOCKET && cmsg->cmsg_type == SCM_TIMESTAMPING) {
			memcpy(&stamps, data, sizeof(stamps));
			ends->arrived_ns = stamp_ns(&stamps);
			ends->phc_ns = stamps.ts[2].tv_sec * (int64_t)NSEC_PER_SEC +
				       stamps.ts[2].tv_nsec;
		} else if (cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_PKTINFO) {
			memcpy(ends->to, mapped, 12);
			memcpy(ends->to + 12, &((const struct in_pktinfo *)data)->ipi_addr, 4);
			has_to = true;
		} else if (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_PKTINFO) {
			memcpy(ends->to, &((const struct in6_pktinfo *)data)->ipi6_addr, 16);
			has_to = true;
		} else if ((cmsg->cmsg_level == IPPROTO_IP && cmsg->cmsg_type == IP_TTL) ||
			   (cmsg->cmsg_level == IPPROTO_IPV6 && cmsg->cmsg_type == IPV6_HOPLIMIT)) {
			memcpy(&ttl, data, sizeof(ttl));
		}
	}
	ends->hops = ttl > 0 && ttl <= UDP_TTL ? (uint8_t)(UDP_TTL - ttl) : UDP_HOPS_UNKNOWN;
	if (name4->sin_family == AF_INET) {
		memcpy(ends->from, mapped, 12);
		memcpy(ends->from + 12, &name4->sin_addr, 4);
	} else {
		memcpy(ends->from, &name.sin6_addr, 16);
	}
	return has_to ? len : -1;
}
