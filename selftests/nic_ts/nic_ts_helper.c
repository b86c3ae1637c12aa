// SPDX-License-Identifier: GPL-2.0
/*
 * Frames for the tests of nic_ts, sent from a packet socket of this namespace:
 *
 *	nic_ts_helper inject DEVICE TIMES	of each kind; prints how the bus
 *						should count them
 *	nic_ts_helper noise DEVICE TIMES	random bytes behind an EtherType
 *	nic_ts_helper syn DEVICE MAC SRC DST PORT TIMES
 *						SYNs from ports and hosts near SRC
 *	nic_ts_helper acks DEVICE MAC SRC DST SPORT DPORT TIMES
 *						ACKs of one connection, as by a host that
 *						does not know its sequence numbers: what
 *						they acknowledge is spread evenly
 *	nic_ts_helper stream DEVICE DST PORT SPORT CC
 *						a connection bound to DEVICE and to its
 *						own port, with little to send, for ever
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <linux/types.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_FRAME	256

struct frame {
	__u8 b[MAX_FRAME];
	int len;
};

static int sock;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void put(struct frame *f, const void *bytes, int len)
{
	memcpy(f->b + f->len, bytes, len);
	f->len += len;
}

static void put16(struct frame *f, unsigned int value)
{
	__u8 b[2] = { value >> 8, value };

	put(f, b, 2);
}

static void put32(struct frame *f, __u32 value)
{
	put16(f, value >> 16);
	put16(f, value & 0xffff);
}

/* To everybody, from nobody. */
static void ether(struct frame *f, unsigned int type)
{
	static const __u8 to[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const __u8 from[6] = { 2, 0, 0, 0, 0, 9 };

	f->len = 0;
	put(f, to, 6);
	put(f, from, 6);
	put16(f, type);
}

static void tag(struct frame *f, unsigned int id, unsigned int type)
{
	put16(f, id);
	put16(f, type);
}

static __u16 csum(const __u8 *b, int len, __u32 sum)
{
	for (; len > 1; b += 2, len -= 2)
		sum += b[0] << 8 | b[1];
	if (len)
		sum += b[0] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return ~sum;
}

/* @extra: bytes of options and payload to come; addresses nobody has. */
static void ipv4(struct frame *f, unsigned int version_ihl, int extra,
		 unsigned int frag, unsigned int proto)
{
	int at = f->len;
	__u16 sum;

	put16(f, version_ihl << 8);
	put16(f, 20 + extra);
	put16(f, 0);
	put16(f, frag);
	put16(f, 64 << 8 | proto);
	put16(f, 0);
	put32(f, 0xcb007101);	/* 203.0.113.1 */
	put32(f, 0xcb007102);
	sum = csum(f->b + at, 20, 0);
	f->b[at + 10] = sum >> 8;
	f->b[at + 11] = sum;
}

static void ipv6(struct frame *f, unsigned int version, int payload, unsigned int next)
{
	put16(f, version << 12);
	put16(f, 0);
	put16(f, payload);
	put16(f, next << 8 | 64);
	put32(f, 0x20010db8);
	put32(f, 0);
	put32(f, 0);
	put32(f, 1);
	put32(f, 0x20010db8);
	put32(f, 0);
	put32(f, 0);
	put32(f, 2);
}

static void tcp(struct frame *f, unsigned int doff, unsigned int flags)
{
	put16(f, 1234);
	put16(f, 80);
	put32(f, 1000);
	put32(f, 2000);
	put16(f, doff << 12 | flags);
	put16(f, 100);
	put32(f, 0);
}

/* An extension header of @words words of 8 bytes. */
static void extension(struct frame *f, unsigned int next, int words, unsigned int fourth)
{
	static const __u8 none[MAX_FRAME];

	put16(f, next << 8 | (words - 1));
	put16(f, fourth);
	put(f, none, 8 * words - 4);
}

static void zeros(struct frame *f, int len)
{
	static const __u8 none[MAX_FRAME];

	put(f, none, len);
}

/* Kind @n into @f; returns the name of its counter, NULL behind the last one. */
static const char *kind(struct frame *f, int n)
{
	int i;

	switch (n) {
	case 0:
		ether(f, 0x0800);
		ipv4(f, 0x45, 20, 0, 6);
		tcp(f, 5, 0x10);
		return "ParsedTcp";
	case 1:	/* IP options */
		ether(f, 0x0800);
		ipv4(f, 0x4f, 60, 0, 6);
		zeros(f, 40);
		tcp(f, 5, 0x10);
		return "ParsedTcp";
	case 2:	/* do not fragment, TCP options, trailing bytes */
		ether(f, 0x0800);
		ipv4(f, 0x45, 40, 0x4000, 6);
		tcp(f, 10, 0x10);
		zeros(f, 30);
		return "ParsedTcp";
	case 3:
		ether(f, 0x86dd);
		ipv6(f, 6, 20, 6);
		tcp(f, 5, 0x10);
		return "ParsedTcp";
	case 4:	/* four extension headers */
		ether(f, 0x86dd);
		ipv6(f, 6, 56, 0);
		extension(f, 60, 1, 0);
		extension(f, 43, 1, 0);
		extension(f, 60, 1, 0);
		extension(f, 6, 1, 0);
		tcp(f, 5, 0x10);
		zeros(f, 4);
		return "ParsedTcp";
	case 5:
		ether(f, 0x8100);
		tag(f, 10, 0x0800);
		ipv4(f, 0x45, 20, 0, 6);
		tcp(f, 5, 0x10);
		return "ParsedTcp";
	case 6:
		ether(f, 0x88a8);
		tag(f, 10, 0x8100);
		tag(f, 20, 0x86dd);
		ipv6(f, 6, 20, 6);
		tcp(f, 5, 0x10);
		return "ParsedTcp";
	case 7:	/* a third tag */
		ether(f, 0x88a8);
		tag(f, 10, 0x8100);
		tag(f, 20, 0x8100);
		tag(f, 30, 0x0800);
		ipv4(f, 0x45, 20, 0, 6);
		tcp(f, 5, 0x10);
		return "SkipTooDeep";
	case 8:	/* a fifth extension header */
		ether(f, 0x86dd);
		ipv6(f, 6, 60, 0);
		for (i = 0; i < 4; i++)
			extension(f, 60, 1, 0);
		extension(f, 6, 1, 0);
		tcp(f, 5, 0x10);
		return "SkipTooDeep";
	case 9:
		ether(f, 0x0806);
		zeros(f, 28);
		return "SkipNotIp";
	case 10:
		ether(f, 0x0800);
		ipv4(f, 0x45, 8, 0, 17);
		zeros(f, 8);
		return "SkipNotTcp";
	case 11:
		ether(f, 0x86dd);
		ipv6(f, 6, 8, 58);
		zeros(f, 8);
		return "SkipNotTcp";
	case 12:	/* first fragment */
		ether(f, 0x0800);
		ipv4(f, 0x45, 20, 0x2000, 6);
		tcp(f, 5, 0x10);
		return "SkipFragment";
	case 13:	/* last fragment */
		ether(f, 0x0800);
		ipv4(f, 0x45, 20, 0x0010, 6);
		tcp(f, 5, 0x10);
		return "SkipFragment";
	case 14:
		ether(f, 0x86dd);
		ipv6(f, 6, 28, 44);
		extension(f, 6, 1, 1);
		tcp(f, 5, 0x10);
		return "SkipFragment";
	case 15:	/* GRE */
		ether(f, 0x0800);
		ipv4(f, 0x45, 24, 0, 47);
		zeros(f, 24);
		return "SkipEncapsulated";
	case 16:	/* ESP */
		ether(f, 0x86dd);
		ipv6(f, 6, 24, 50);
		zeros(f, 24);
		return "SkipEncapsulated";
	case 17:	/* MPLS */
		ether(f, 0x8847);
		zeros(f, 44);
		return "SkipEncapsulated";
	case 18:	/* routed on to somewhere else */
		ether(f, 0x86dd);
		ipv6(f, 6, 44, 43);
		extension(f, 6, 3, 1);
		tcp(f, 5, 0x10);
		return "SkipEncapsulated";
	case 19:	/* says it is longer than it is */
		ether(f, 0x0800);
		ipv4(f, 0x45, 1000, 0, 6);
		tcp(f, 5, 0x10);
		return "SkipTruncated";
	case 20:
		ether(f, 0x86dd);
		ipv6(f, 6, 1000, 6);
		tcp(f, 5, 0x10);
		return "SkipTruncated";
	case 21:	/* ends within the IP header */
		ether(f, 0x0800);
		ipv4(f, 0x45, 20, 0, 6);
		f->len -= 10;
		return "SkipTruncated";
	case 22:	/* within a tag */
		ether(f, 0x8100);
		zeros(f, 2);
		return "SkipTruncated";
	case 23:	/* IHL of 4 words */
		ether(f, 0x0800);
		ipv4(f, 0x44, 20, 0, 6);
		tcp(f, 5, 0x10);
		return "SkipMalformed";
	case 24:	/* version 6 as IPv4 */
		ether(f, 0x0800);
		ipv4(f, 0x65, 20, 0, 6);
		tcp(f, 5, 0x10);
		return "SkipMalformed";
	case 25:	/* version 4 as IPv6 */
		ether(f, 0x86dd);
		ipv6(f, 4, 20, 6);
		tcp(f, 5, 0x10);
		return "SkipMalformed";
	case 26:	/* TCP header of 4 words */
		ether(f, 0x0800);
		ipv4(f, 0x45, 20, 0, 6);
		tcp(f, 4, 0x10);
		return "SkipMalformed";
	case 27:	/* TCP header longer than the packet */
		ether(f, 0x0800);
		ipv4(f, 0x45, 20, 0, 6);
		tcp(f, 15, 0x10);
		return "SkipMalformed";
	case 28:	/* no room for TCP */
		ether(f, 0x0800);
		ipv4(f, 0x45, 10, 0, 6);
		zeros(f, 10);
		return "SkipMalformed";
	case 29:	/* total length 0, without GSO */
		ether(f, 0x0800);
		ipv4(f, 0x45, -20, 0, 6);
		tcp(f, 5, 0x10);
		return "SkipMalformed";
	case 30:	/* extension header longer than the packet */
		ether(f, 0x86dd);
		ipv6(f, 6, 8, 60);
		f->b[f->len] = 6;
		f->b[f->len + 1] = 200;
		f->len += 8;
		return "SkipMalformed";
	case 31:
		ether(f, 0x88f7);
		zeros(f, 44);
		return "SkipPtp";
	case 32:	/* from and to the port of event messages */
		ether(f, 0x0800);
		ipv4(f, 0x45, 52, 0, 17);
		put16(f, 319);
		put16(f, 319);
		zeros(f, 48);
		return "SkipPtp";
	default:
		return NULL;
	}
}

static void open_socket(const char *device, struct sockaddr_ll *to)
{
	memset(to, 0, sizeof(*to));
	to->sll_family = AF_PACKET;
	to->sll_ifindex = if_nametoindex(device);
	if (!to->sll_ifindex)
		die(device);
	sock = socket(AF_PACKET, SOCK_RAW, 0);
	if (sock < 0)
		die("socket");
}

static void send_frame(const struct frame *f, struct sockaddr_ll *to)
{
	to->sll_protocol = htons(f->b[12] << 8 | f->b[13]);
	if (sendto(sock, f->b, f->len, 0, (struct sockaddr *)to, sizeof(*to)) != f->len)
		die("sendto");
}

static int inject(struct sockaddr_ll *to, int times)
{
	static const char * const names[] = {
		"ParsedTcp", "SkipNotIp", "SkipNotTcp", "SkipEncapsulated",
		"SkipFragment", "SkipTruncated", "SkipMalformed", "SkipTooDeep",
		"SkipPtp",
	};
	int sent[9] = {}, i, n, j;
	const char *name;
	struct frame f;

	for (i = 0; i < times; i++) {
		memset(&f, 0, sizeof(f));
		for (n = 0; (name = kind(&f, n)); n++) {
			send_frame(&f, to);
			for (j = 0; j < 9; j++)
				sent[j] += !strcmp(name, names[j]);
		}
	}
	for (j = 0; j < 9; j++)
		printf("%s %d\n", names[j], sent[j]);
	return 0;
}

static int noise(struct sockaddr_ll *to, int times)
{
	static const unsigned int types[] = { 0x0800, 0x86dd, 0x8100, 0x88a8 };
	struct frame f;
	int i;

	srandom(1);
	while (times--) {
		ether(&f, types[random() % 4]);
		f.len += random() % (MAX_FRAME - 14);
		for (i = 14; i < f.len; i++)
			f.b[i] = random();
		/* Half of them get past the first look. */
		if (f.len > 24 && times & 1) {
			f.b[14] = f.b[13] ? 0x60 : 0x45;
			f.b[20] = 6;
			f.b[23] = 6;
		}
		send_frame(&f, to);
	}
	return 0;
}

/* One TCP packet without payload. */
static int bare_tcp(struct frame *f, const char *mac, __u32 src, __u32 dst, int sport, int dport,
		    __u32 seq, __u32 ack, unsigned int flags)
{
	int at;
	__u16 sum;

	ether(f, 0x0800);
	if (sscanf(mac, "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", f->b, f->b + 1, f->b + 2,
		   f->b + 3, f->b + 4, f->b + 5) != 6)
		return 2;
	at = f->len;
	ipv4(f, 0x45, 20, 0, 6);
	memcpy(f->b + at + 12, &(__u32){ htonl(src) }, 4);
	memcpy(f->b + at + 16, &(__u32){ htonl(dst) }, 4);
	memset(f->b + at + 10, 0, 2);
	sum = csum(f->b + at, 20, 0);
	f->b[at + 10] = sum >> 8;
	f->b[at + 11] = sum;
	at = f->len;
	put16(f, sport);
	put16(f, dport);
	put32(f, seq);
	put32(f, ack);
	put16(f, 5 << 12 | flags);
	put16(f, 1000);
	put32(f, 0);
	sum = csum(f->b + at, 20, (src >> 16) + (src & 0xffff) + (dst >> 16) +
				  (dst & 0xffff) + 6 + 20);
	f->b[at + 16] = sum >> 8;
	f->b[at + 17] = sum;
	return 0;
}

static int syn(struct sockaddr_ll *to, char **argv)
{
	__u32 src = ntohl(inet_addr(argv[1])), dst = ntohl(inet_addr(argv[2]));
	int port = atoi(argv[3]), times = atoi(argv[4]), i;
	struct frame f;

	for (i = 0; i < times; i++) {
		if (bare_tcp(&f, argv[0], src + i % 200, dst, 1024 + i % 60000, port, i, 0, 2))
			return 2;
		send_frame(&f, to);
	}
	return 0;
}

static int acks(struct sockaddr_ll *to, char **argv)
{
	__u32 src = ntohl(inet_addr(argv[1])), dst = ntohl(inet_addr(argv[2]));
	int sport = atoi(argv[3]), dport = atoi(argv[4]), times = atoi(argv[5]), i;
	struct frame f;

	for (i = 0; i < times; i++) {
		if (bare_tcp(&f, argv[0], src, dst, sport, dport, 0,
			     (__u32)(((__u64)i << 32) / times), 0x10))
			return 2;
		send_frame(&f, to);
	}
	return 0;
}

static int stream(const char *device, char **argv)
{
	struct sockaddr_in to = { .sin_family = AF_INET }, from = { .sin_family = AF_INET };
	static char data[3000];
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;

	to.sin_addr.s_addr = inet_addr(argv[0]);
	to.sin_port = htons(atoi(argv[1]));
	from.sin_port = htons(atoi(argv[2]));
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, strlen(device)) ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, argv[3], strlen(argv[3])) ||
	    bind(fd, (struct sockaddr *)&from, sizeof(from)) ||
	    connect(fd, (struct sockaddr *)&to, sizeof(to)))
		die("stream");
	while (send(fd, data, sizeof(data), MSG_NOSIGNAL) >= 0)
		usleep(20000);
	die("send");
	return 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_ll to;

	if (argc < 4) {
		fputs("usage: nic_ts_helper inject|noise|syn|acks|stream DEVICE ARG...\n", stderr);
		return 2;
	}
	if (!strcmp(argv[1], "stream") && argc == 7)
		return stream(argv[2], argv + 3);
	open_socket(argv[2], &to);
	if (!strcmp(argv[1], "inject"))
		return inject(&to, atoi(argv[3]));
	if (!strcmp(argv[1], "noise"))
		return noise(&to, atoi(argv[3]));
	if (!strcmp(argv[1], "syn") && argc == 8)
		return syn(&to, argv + 3);
	if (!strcmp(argv[1], "acks") && argc == 9)
		return acks(&to, argv + 3);
	return 2;
}
