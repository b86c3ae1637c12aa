// SPDX-License-Identifier: GPL-2.0
/*
 * A receiver of On-Ramp that does what a test tells it to.
 *
 *	acker_helper serve NAMESPACE DEVICE SOCKET	until it is killed
 *	acker_helper SOCKET COMMAND [ARGUMENT...]	prints what the command answers
 *
 * It takes subscriptions of hosts that prove their address, looks at the TCP data that comes
 * in on the device, and answers one packet in so many with an OR-ACK. Commands:
 *
 *	delay US	received so much later than it was
 *	wander US	and besides that, at random, up to so much later (0)
 *	every N		an OR-ACK for each Nth packet (1)
 *	answer 0|1	or none at all
 *	first 0|1	whether it answers before any other process runs, as a receiver in the
 *			kernel does (0)
 *	clock tai|mono	CLOCK_TAI (synchronised), or CLOCK_MONOTONIC (not)
 *	nic 0|1		whether it says that the NIC stamped
 *	others 0|1	whether it says that much data is of hosts without On-Ramp
 *	drain 0|1	whether it has its senders drain the path, all the time
 *	domain N	of the clock
 *	psk N		the last byte of the pre-shared key, whose others are 0; 0: none
 *	doubt 0|1	no cookie is good: each SUBSCRIBE has a CHALLENGE
 *	forget		subscriptions and the secret, as a host that was started again:
 *			the counts of OR-ACKs are behind those before
 *	forge KIND N	N messages that must not count: OR-ACKs like the last good one but for
 *			tag short long version version1 reserved protocol value other
 *			several replay old flow seq late peer; or CHALLENGEs, with the kinds
 *			c-tag c-count c-again c-short
 *	segments old N	N segments of a byte that the host has long received, or so it seems, on the
 *			last connection (IPv4): it acknowledges each
 *	stats		"subscribes N ends N data N acks N reordered N challenges N heard N":
 *			reordered ones came after later ones of their connection; heard is
 *			all SUBSCRIBEs with the right tag
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../lib/netns.h"
#include "or_proto.h"

#define PEERS		64
#define CONNECTIONS	256

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct peer {
	union address from;
	struct or_subscription sub;
	struct or_challenge challenge;	/* the last one */
	u8 key[OR_KEY_LEN];		/* of the last SUBSCRIBE */
	u32 count;			/* of that */
};

struct connection {
	union address from;
	u16 sport, dport;
	u32 to, una;			/* IPv4: this host, and what it acknowledges next */
	u32 count, packets, next;
	int started;
};

static struct peer peers[PEERS];
static struct connection connections[CONNECTIONS];
static unsigned int n_peers, n_connections;
static unsigned long subscribes, ends, data, acks, reordered, challenges, heard;
static siphash_key_t secret = { { 299, 2 } };
static u8 psk;
static int doubt;
static long long delay_ns, wander_ns;
static unsigned long every = 1;
static int answer = 1, tai = 1, nic, others, drain;
static u8 domain;

/* The last good OR-ACK. */
static struct or_ack last;
static const struct peer *last_peer;
static u8 last_msg[OR_ACK_LEN];

static const struct connection *last_connection;

static int udp4, udp6;

/* An address of this host that nobody sends data to. */
#define OTHER		"10.77.1.99"

static void die(const char *what)
{
	fprintf(stderr, "acker_helper: %s: %s\n", what, strerror(errno));
	exit(1);
}

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int same(const union address *a, const union address *b)
{
	if (a->sa.sa_family != b->sa.sa_family)
		return 0;
	if (a->sa.sa_family == AF_INET)
		return a->in.sin_addr.s_addr == b->in.sin_addr.s_addr;
	return !memcmp(&a->in6.sin6_addr, &b->in6.sin6_addr, sizeof(a->in6.sin6_addr));
}

static struct peer *find_peer(const union address *from)
{
	unsigned int i;

	for (i = 0; i < n_peers; i++)
		if (same(&peers[i].from, from))
			return &peers[i];
	return NULL;
}

static struct connection *find_connection(const union address *from, u16 sport, u16 dport)
{
	struct connection *c;
	unsigned int i;

	for (i = 0; i < n_connections; i++) {
		c = &connections[i];
		if (same(&c->from, from) && c->sport == sport && c->dport == dport)
			return c;
	}
	if (n_connections == CONNECTIONS)
		return NULL;
	c = &connections[n_connections++];
	*c = (struct connection) {
		.from = *from, .sport = sport, .dport = dport,
		.count = now_ns(CLOCK_MONOTONIC) / 1000,
	};
	return c;
}

static void send_msg(const struct peer *peer, const u8 *msg, size_t len)
{
	union address to = peer->from;

	if (to.sa.sa_family == AF_INET) {
		to.in.sin_port = htons(OR_PORT);
		sendto(udp4, msg, len, 0, &to.sa, sizeof(to.in));
	} else {
		to.in6.sin6_port = htons(OR_PORT);
		sendto(udp6, msg, len, 0, &to.sa, sizeof(to.in6));
	}
}

/* From another address. */
static void send_other(const struct peer *peer, const u8 *msg, size_t len)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(OR_PORT) };
	union address to = peer->from;
	int fd, one = 1;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	inet_pton(AF_INET, OTHER, &in.sin_addr);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&in, sizeof(in)))
		die(OTHER);
	to.in.sin_port = htons(OR_PORT);
	sendto(fd, msg, len, 0, &to.sa, sizeof(to.in));
	close(fd);
}

/* A datagram, who sent it, and to which of the addresses here: with that, the pair. */
static ssize_t receive(int fd, u8 *buf, size_t size, union address *from, struct or_pair *pair)
{
	struct iovec iov = { .iov_base = buf, .iov_len = size };
	char control[256];
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_name = from,
			      .msg_namelen = sizeof(*from), .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct in6_pktinfo info6;
	struct in_pktinfo info;
	struct cmsghdr *cm;
	ssize_t n;

	n = recvmsg(fd, &msg, 0);
	memset(pair, 0, sizeof(*pair));
	if (from->sa.sa_family == AF_INET)
		memcpy(pair->sender, &from->in.sin_addr, 4);
	else
		memcpy(pair->sender, &from->in6.sin6_addr, 16);
	for (cm = CMSG_FIRSTHDR(&msg); n >= 0 && cm; cm = CMSG_NXTHDR(&msg, cm)) {
		if (cm->cmsg_level == IPPROTO_IP && cm->cmsg_type == IP_PKTINFO) {
			memcpy(&info, CMSG_DATA(cm), sizeof(info));
			memcpy(pair->receiver, &info.ipi_addr, 4);
			pair->version = 4;
		} else if (cm->cmsg_level == IPPROTO_IPV6 && cm->cmsg_type == IPV6_PKTINFO) {
			memcpy(&info6, CMSG_DATA(cm), sizeof(info6));
			memcpy(pair->receiver, &info6.ipi6_addr, 16);
			pair->version = 6;
		}
	}
	return n;
}

static void send_challenge(struct peer *peer, const u8 *key, u32 count, u64 cookie)
{
	u8 msg[OR_CHALLENGE_LEN];

	peer->challenge = (struct or_challenge) { .count = count, .cookie = cookie };
	or_challenge_encode(&peer->challenge, msg);
	or_sign(msg, sizeof(msg), key);
	send_msg(peer, msg, sizeof(msg));
	challenges++;
}

static void on_subscribe(int fd)
{
	u64 now_s = now_ns(CLOCK_MONOTONIC) / 1000000000 + OR_COOKIE_PERIOD_S;
	u8 shared[OR_KEY_LEN] = { [OR_KEY_LEN - 1] = psk };
	union address from = {};
	struct or_subscribe s;
	struct or_pair pair;
	struct peer *peer;
	u8 msg[256], key[OR_KEY_LEN];
	enum or_error error;
	bool proven;
	ssize_t n;

	n = receive(fd, msg, sizeof(msg), &from, &pair);
	if (n < 0 || or_subscribe_decode(msg, n, &s))
		return;
	or_derive(shared, &pair, s.nonce, key);
	if (or_verify(msg, n, key))
		return;
	heard++;
	peer = find_peer(&from);
	if (!peer) {
		if (n_peers == PEERS)
			return;
		peer = &peers[n_peers++];
		*peer = (struct peer) { .from = from };
	}
	memcpy(peer->key, key, OR_KEY_LEN);
	peer->count = s.count;
	proven = !doubt && or_cookie_valid(s.cookie, &secret, &pair, 0, s.nonce, now_s);
	error = or_subscribe_accept(&peer->sub, &s, key, proven, now_s);
	if (error == OR_ERR_COOKIE && s.lifetime_s)
		send_challenge(peer, key, s.count,
			       or_cookie(&secret, &pair, 0, s.nonce,
					 now_s / OR_COOKIE_PERIOD_S));
	if (error)
		return;
	if (s.lifetime_s)
		subscribes++;
	else
		ends++;
}

/* Like the last CHALLENGE, but for one thing. */
static void forge_challenge(const struct peer *peer, const char *kind)
{
	struct or_challenge c = peer->challenge;
	u8 msg[OR_CHALLENGE_LEN];

	c.cookie ^= 1;
	c.count = peer->count;
	if (!strcmp(kind, "c-count"))
		c.count += 1000;
	or_challenge_encode(&c, msg);
	or_sign(msg, sizeof(msg), peer->key);
	if (!strcmp(kind, "c-tag"))
		msg[sizeof(msg) - 1] ^= 1;
	send_msg(peer, msg, sizeof(msg) - !strcmp(kind, "c-short"));
}

static void acknowledge(const struct peer *peer, struct connection *c, u32 seq, u64 age_ns)
{
	struct or_ack ack = {
		.rx_ns = now_ns(tai ? CLOCK_TAI : CLOCK_MONOTONIC) - age_ns + delay_ns +
			 (wander_ns ? random() % wander_ns : 0),
		.seq = seq,
		.count = ++c->count,
		.sport = c->sport,
		.dport = c->dport,
		.packets = c->packets > 255 ? 255 : c->packets,
		.clock_error = tai ? 0 : OR_CLOCK_UNSYNCED,
		.domain = domain,
		.protocol = OR_PROTO_TCP,
		.nic = nic,
		.others = others, .drain = drain,
	};

	c->packets = 0;
	or_ack_encode(&ack, last_msg);
	or_sign(last_msg, sizeof(last_msg), peer->sub.key);
	send_msg(peer, last_msg, sizeof(last_msg));
	last = ack;
	last_peer = peer;
	acks++;
}

/* A packet from its network header on, that arrived @age_ns ago. */
static void on_packet(const u8 *packet, size_t n, u64 age_ns)
{
	const struct ip6_hdr *ip6 = (const void *)packet;
	const struct iphdr *ip = (const void *)packet;
	union address from = {};
	struct connection *c;
	const struct tcphdr *th;
	size_t offset, total;
	struct peer *peer;
	u32 seq;

	if (n >= sizeof(*ip) && ip->version == 4 && ip->protocol == IPPROTO_TCP) {
		from.in.sin_family = AF_INET;
		from.in.sin_addr.s_addr = ip->saddr;
		offset = ip->ihl * 4;
		total = ntohs(ip->tot_len);
	} else if (n >= sizeof(*ip6) && ip->version == 6 && ip6->ip6_nxt == IPPROTO_TCP) {
		from.in6.sin6_family = AF_INET6;
		from.in6.sin6_addr = ip6->ip6_src;
		offset = sizeof(*ip6);
		total = offset + ntohs(ip6->ip6_plen);
	} else {
		return;
	}
	th = (const void *)(packet + offset);
	if (n < offset + sizeof(*th) || total <= offset + th->doff * 4U)
		return;
	data++;
	peer = find_peer(&from);
	c = find_connection(&from, ntohs(th->source), ntohs(th->dest));
	if (!c)
		return;
	if (ip->version == 4)
		c->to = ip->daddr;
	c->una = ntohl(th->ack_seq);
	last_connection = c;
	seq = ntohl(th->seq);
	if (c->started && (s32)(seq - c->next) < 0)
		reordered++;
	c->started = 1;
	c->next = seq + total - offset - th->doff * 4;
	if (!peer || !peer->sub.until_s)
		return;
	c->packets++;
	if (answer && c->packets >= every)
		acknowledge(peer, c, c->next, age_ns);
}

static void on_data(int fd)
{
	static u8 packet[256];
	struct iovec iov = { .iov_base = packet, .iov_len = sizeof(packet) };
	char control[256];
	struct sockaddr_ll from;
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_name = &from,
			      .msg_namelen = sizeof(from), .msg_control = control,
			      .msg_controllen = sizeof(control) };
	struct cmsghdr *cm;
	struct timespec ts;
	u64 age_ns = 0;
	ssize_t n;

	n = recvmsg(fd, &msg, 0);
	if (n <= 0 || from.sll_pkttype != PACKET_HOST)
		return;
	/* On a busy machine this may run long after the packet came. */
	for (cm = CMSG_FIRSTHDR(&msg); cm; cm = CMSG_NXTHDR(&msg, cm)) {
		if (cm->cmsg_level == SOL_SOCKET && cm->cmsg_type == SO_TIMESTAMPNS) {
			memcpy(&ts, CMSG_DATA(cm), sizeof(ts));
			age_ns = now_ns(CLOCK_REALTIME) - ts.tv_sec * 1000000000ULL - ts.tv_nsec;
		}
	}
	on_packet(packet, n, age_ns);
}

/* One that must not count. */
static int forge(const char *kind)
{
	struct or_ack ack = last;
	u8 msg[OR_ACK_LEN + OR_ACK_RECORD_LEN] = {};
	size_t len = OR_ACK_LEN;
	struct connection *c;

	if (!strncmp(kind, "c-", 2)) {
		if (!n_peers)
			return -1;
		forge_challenge(&peers[0], kind);
		return 0;
	}
	if (!last_peer)
		return -1;
	c = find_connection(&last_peer->from, last.sport, last.dport);
	ack.rx_ns += 1000000000;
	ack.count = ++c->count;
	if (!strcmp(kind, "old"))
		ack.count = last.count - 1000;
	else if (!strcmp(kind, "flow"))
		ack.sport ^= 1;
	else if (!strcmp(kind, "seq"))
		ack.seq += 1 << 29;
	else if (!strcmp(kind, "late"))
		ack.rx_ns += 20000000000;
	or_ack_encode(&ack, msg);
	if (!strcmp(kind, "version"))
		msg[0] += 0x10;
	else if (!strcmp(kind, "version1"))
		msg[0] -= 0x10;
	else if (!strcmp(kind, "reserved"))
		msg[2] = OR_CLOCK_LAST + 1;
	else if (!strcmp(kind, "protocol"))
		msg[1] = 5;
	else if (!strcmp(kind, "value"))
		msg[20] = 0;
	else if (!strcmp(kind, "short"))
		len--;
	else if (!strcmp(kind, "long"))
		len++;
	else if (!strcmp(kind, "several"))
		len += OR_ACK_RECORD_LEN;
	if (!strcmp(kind, "other")) {
		msg[1] |= OR_ADDRS_V4 << OR_ADDRS_SHIFT;
		len += 8;
	}
	or_sign(msg, len, last_peer->sub.key);
	if (!strcmp(kind, "tag"))
		msg[OR_ACK_LEN - 1] ^= 1;
	if (!strcmp(kind, "replay"))
		memcpy(msg, last_msg, OR_ACK_LEN);
	if (!strcmp(kind, "peer"))
		send_other(last_peer, msg, len);
	else
		send_msg(last_peer, msg, len);
	return 0;
}

static u32 sum16(const void *data, size_t n)
{
	const u8 *p = data;
	u32 sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += i % 2 ? p[i] : p[i] << 8;
	return sum;
}

/* Segments from before the window of a connection's host. */
static int send_segments(const struct connection *c, long long n)
{
	struct {
		struct tcphdr th;
		u8 data;
	} __attribute__((packed)) segment = {
		.th = {
			.source = htons(c->dport), .dest = htons(c->sport), .doff = 5, .ack = 1,
			.seq = htonl(c->una - (1U << 30)), .ack_seq = htonl(c->next),
		},
	};
	union address to = { .in = { .sin_family = AF_INET, .sin_addr = c->from.in.sin_addr } };
	u32 sum;
	int fd;

	fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP);
	if (fd < 0)
		return -1;
	sum = sum16(&c->to, 4) + sum16(&c->from.in.sin_addr, 4) + IPPROTO_TCP + sizeof(segment) +
	      sum16(&segment, sizeof(segment));
	sum = (sum & 0xffff) + (sum >> 16);
	segment.th.check = htons(~(sum + (sum >> 16)));
	while (n-- > 0)
		if (sendto(fd, &segment, sizeof(segment), 0, &to.sa, sizeof(to.in)) < 0)
			break;
	close(fd);
	return n < 0 ? 0 : -1;
}

/* Subscriptions, the secret of cookies, and that of counts. */
static void forget(void)
{
	unsigned int i;

	secret.key[0]++;
	for (i = 0; i < n_peers; i++)
		peers[i].sub.until_s = 0;
	for (i = 0; i < n_connections; i++)
		connections[i].count -= 1U << 30;
}

/* On a busy CPU it else has its turn when the sender has long forgotten what left. */
static int run_first(int first)
{
	struct sched_param param = { .sched_priority = first ? 1 : 0 };

	return sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &param);
}

static void on_command(int listener)
{
	char line[256] = "", word[32] = "", kind[32] = "", reply[256] = "ok\n";
	long long number = 0;
	int fd, i;

	fd = accept(listener, NULL, NULL);
	if (fd < 0)
		return;
	if (read(fd, line, sizeof(line) - 1) <= 0)
		line[0] = '\0';
	if (sscanf(line, "%31s %31s %lld", word, kind, &number) < 1)
		snprintf(reply, sizeof(reply), "a command is wanted\n");
	if (!strcmp(word, "delay"))
		delay_ns = atoll(kind) * 1000;
	else if (!strcmp(word, "wander"))
		wander_ns = atoll(kind) * 1000;
	else if (!strcmp(word, "every"))
		every = atol(kind);
	else if (!strcmp(word, "answer"))
		answer = atoi(kind);
	else if (!strcmp(word, "first") && run_first(atoi(kind)))
		snprintf(reply, sizeof(reply), "%s\n", strerror(errno));
	else if (!strcmp(word, "clock"))
		tai = !strcmp(kind, "tai");
	else if (!strcmp(word, "nic"))
		nic = atoi(kind);
	else if (!strcmp(word, "others"))
		others = atoi(kind);
	else if (!strcmp(word, "drain"))
		drain = atoi(kind);
	else if (!strcmp(word, "domain"))
		domain = atoi(kind);
	else if (!strcmp(word, "psk"))
		psk = atoi(kind);
	else if (!strcmp(word, "doubt"))
		doubt = atoi(kind);
	else if (!strcmp(word, "forget"))
		forget();
	else if (!strcmp(word, "stats"))
		snprintf(reply, sizeof(reply), "subscribes %lu ends %lu data %lu acks %lu reordered %lu challenges %lu heard %lu\n",
			 subscribes, ends, data, acks, reordered, challenges, heard);
	else if (!strcmp(word, "segments") &&
		 (!last_connection || send_segments(last_connection, number)))
		snprintf(reply, sizeof(reply), "not sent\n");
	else if (!strcmp(word, "forge"))
		for (i = 0; i < number; i++)
			if (forge(kind))
				snprintf(reply, sizeof(reply), "there was no good one yet\n");
	if (write(fd, reply, strlen(reply)) < 0)
		perror("acker_helper: reply");
	close(fd);
}

static struct sockaddr_un unix_address(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	return sun;
}

static int serve(const char *namespace, const char *device, const char *path)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons(OR_PORT) };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6, .sin6_port = htons(OR_PORT) };
	struct sockaddr_un sun = unix_address(path);
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int one = 1, large = 1 << 26, i;
	struct pollfd fds[4];

	/* Who gave a command may be gone before the reply. */
	signal(SIGPIPE, SIG_IGN);
	netns_enter(namespace);
	udp4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (udp4 < 0 || setsockopt(udp4, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    setsockopt(udp4, IPPROTO_IP, IP_PKTINFO, &one, sizeof(one)) ||
	    bind(udp4, (struct sockaddr *)&in, sizeof(in)))
		die("port");
	udp6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (udp6 < 0 || setsockopt(udp6, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) ||
	    setsockopt(udp6, IPPROTO_IPV6, IPV6_RECVPKTINFO, &one, sizeof(one)) ||
	    bind(udp6, (struct sockaddr *)&in6, sizeof(in6)))
		die("port, IPv6");
	/* From its network header on, so that a VLAN's tag is no matter. */
	fds[2].fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ll.sll_ifindex = if_nametoindex(device);
	setsockopt(fds[2].fd, SOL_SOCKET, SO_RCVBUFFORCE, &large, sizeof(large));
	setsockopt(fds[2].fd, SOL_SOCKET, SO_TIMESTAMPNS, &one, sizeof(one));
	if (!ll.sll_ifindex || bind(fds[2].fd, (struct sockaddr *)&ll, sizeof(ll)))
		die(device);
	fds[3].fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	unlink(path);
	if (bind(fds[3].fd, (struct sockaddr *)&sun, sizeof(sun)) || listen(fds[3].fd, 5))
		die(path);
	fds[0].fd = udp4;
	fds[1].fd = udp6;
	for (i = 0; i < 4; i++)
		fds[i].events = POLLIN;
	while (poll(fds, 4, -1) > 0) {
		if (fds[0].revents)
			on_subscribe(udp4);
		if (fds[1].revents)
			on_subscribe(udp6);
		if (fds[2].revents)
			on_data(fds[2].fd);
		if (fds[3].revents)
			on_command(fds[3].fd);
	}
	die("poll");
	return 1;
}

static int command(int argc, char **argv)
{
	struct sockaddr_un sun = unix_address(argv[0]);
	char line[256] = "";
	int fd, i;
	ssize_t n;

	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
		die(argv[0]);
	for (i = 1; i < argc; i++) {
		strncat(line, argv[i], sizeof(line) - strlen(line) - 2);
		strcat(line, " ");
	}
	if (write(fd, line, strlen(line)) < 0)
		die("write");
	n = read(fd, line, sizeof(line));
	if (n <= 0)
		die("read");
	return fwrite(line, 1, n, stdout) != (size_t)n;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "serve"))
		return serve(argv[2], argv[3], argv[4]);
	if (argc >= 3)
		return command(argc - 1, argv + 1);
	fprintf(stderr, "usage: acker_helper serve NAMESPACE DEVICE SOCKET | SOCKET COMMAND...\n");
	return 2;
}
