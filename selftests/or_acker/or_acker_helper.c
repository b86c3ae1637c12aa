// SPDX-License-Identifier: GPL-2.0
/*
 * Plays the sender of data for the tests of or_acker: SUBSCRIBEs, good and bad ones,
 * from a raw socket, since or_port has the port; and checks the OR-ACKs that come.
 *
 *	or_acker_helper subscribe FROM TO [OPTION]...	and answers a CHALLENGE; prints
 *			"challenged" if there was one
 *	or_acker_helper listen FROM TO [OPTION]...	until SIGTERM; then prints
 *	or_acker_helper forge FROM TO KIND TIMES [OPTION]...
 *	or_acker_helper spoof NET TO TIMES [OPTION]...	from many addresses of a /16
 *	or_acker_helper many NET TO TIMES [OPTION]...	the same, and answers CHALLENGEs
 *	or_acker_helper data FROM TO TIMES	TCP segments of no connection
 *	or_acker_helper blind FROM TO SPORT DPORT TIMES	TCP segments of a connection, with
 *						any sequence numbers
 *	or_acker_helper turn FROM TO SPORT DPORT SEQ	eight TCP segments of a connection from
 *						SEQ on, and then one of SPORT + 1 which goes
 *						on where they end
 *	or_acker_helper sink ADDRESS PORT	reads what comes over TCP
 *	or_acker_helper send FROM TO PORT BYTES [OPTION]...	over TCP, and waits
 *						until they are acknowledged, a minute at most
 *	or_acker_helper socket ADDRESS REMOTE LPORT RPORT COUNT SEQ	connections to the
 *						ports from RPORT on, without a handshake,
 *						which expect SEQ; has them until it is killed
 *	or_acker_helper as UID COMMAND...	runs it as a user without privileges
 *	or_acker_helper hold ADDRESS [PORT]	has the port, as any program might; prints what
 *						comes, a line each
 *
 * Options: lifetime=S (60) count=N (1) caps=N (1) nonce=N (1) key=N (the nonce)
 * cookie=N (0) answer=0|1 (1) psk=N (0: none) as=ADDRESS (FROM), that tags are for,
 * sport=N (299) opts=0|1 (0), an IPv6 header of options before UDP's. A nonce is named by a number,
 * and so is a pre-shared key: its last byte, all others are 0. For send: chunk=BYTES (65536)
 * tos=N (0) flows=N (1) wait=0|1 (0), for each chunk to be acknowledged before the next; rate=N
 * (none), bytes/s of a flow.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <grp.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>
#include <netinet/udp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "or_proto.h"

#define FLOWS		4096
#define SEND_MAX_S	60
#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

static struct sockaddr_storage from, to, as;
static socklen_t addrlen;
static int sock;
static unsigned long lifetime = 60, count = 1, caps = 1, nonce = 1, key = -1UL;
static unsigned long cookie, answer = 1, psk, source = OR_PORT, opts;
static unsigned long chunk = 65536, tos_field, send_flows = 1, wait_each, rate = -1UL;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* A link-local address is followed by % and its device. */
static void parse_addr(const char *text, struct sockaddr_storage *addr)
{
	char host[INET6_ADDRSTRLEN + 1] = "";
	const char *dev = strchr(text, '%');
	struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)addr;
	struct sockaddr_in *sin = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	if (dev && dev - text < INET6_ADDRSTRLEN)
		text = memcpy(host, text, dev - text);
	if (inet_pton(AF_INET, text, &sin->sin_addr) == 1) {
		sin->sin_family = AF_INET;
		addrlen = sizeof(*sin);
	} else if (inet_pton(AF_INET6, text, &sin6->sin6_addr) == 1) {
		sin6->sin6_family = AF_INET6;
		if (dev)
			sin6->sin6_scope_id = if_nametoindex(dev + 1);
		addrlen = sizeof(*sin6);
	} else {
		fprintf(stderr, "or_acker_helper: '%s' is no address\n", text);
		exit(2);
	}
}

static void parse_options(char **argv)
{
	static const struct {
		const char *name;
		unsigned long *value;
	} options[] = {
		{ "lifetime=", &lifetime }, { "count=", &count }, { "caps=", &caps },
		{ "nonce=", &nonce }, { "key=", &key }, { "chunk=", &chunk },
		{ "tos=", &tos_field }, { "flows=", &send_flows },
		{ "wait=", &wait_each }, { "cookie=", &cookie }, { "answer=", &answer },
		{ "psk=", &psk }, { "sport=", &source }, { "opts=", &opts },
		{ "rate=", &rate },
	};
	size_t i;

	for (; *argv; argv++) {
		if (!strncmp(*argv, "as=", 3)) {
			parse_addr(*argv + 3, &as);
			continue;
		}
		for (i = 0; i < ARRAY_SIZE(options); i++) {
			size_t n = strlen(options[i].name);

			if (!strncmp(*argv, options[i].name, n)) {
				*options[i].value = strtoul(*argv + n, NULL, 0);
				break;
			}
		}
		if (i == ARRAY_SIZE(options)) {
			fprintf(stderr, "or_acker_helper: what is '%s'?\n", *argv);
			exit(2);
		}
	}
	if (key == -1UL)
		key = nonce;
}

static void nonce_of(unsigned long n, u8 bytes[OR_NONCE_LEN])
{
	int i;

	for (i = 0; i < OR_NONCE_LEN; i++)
		bytes[i] = i < 8 ? n >> 8 * i : n * 167 + i * 13;
	/* Number 0 is the key of mode all. */
	if (!n)
		memset(bytes, 0, OR_NONCE_LEN);
}

static void put_addr(u8 *to, const struct sockaddr_storage *addr)
{
	if (addr->ss_family == AF_INET)
		memcpy(to, &((const struct sockaddr_in *)addr)->sin_addr, 4);
	else
		memcpy(to, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
}

/* Of a nonce's number, between the two addresses. */
static void key_of(unsigned long n, u8 bytes[OR_KEY_LEN])
{
	struct or_pair pair = { .version = from.ss_family == AF_INET ? 4 : 6 };
	u8 shared[OR_KEY_LEN] = { [OR_KEY_LEN - 1] = psk }, k[OR_NONCE_LEN];

	put_addr(pair.sender, as.ss_family ? &as : &from);
	put_addr(pair.receiver, &to);
	nonce_of(n, k);
	or_derive(shared, &pair, k, bytes);
}

static void make_subscribe(u8 *msg)
{
	struct or_subscribe s = { .count = count, .lifetime_s = lifetime, .caps = caps,
				  .cookie = cookie };
	u8 k[OR_KEY_LEN];

	nonce_of(nonce, s.nonce);
	key_of(key, k);
	or_subscribe_encode(&s, msg);
	or_sign(msg, OR_SUBSCRIBE_LEN, k);
}

static void open_socket(void)
{
	int offset = offsetof(struct udphdr, check);

	sock = socket(from.ss_family, SOCK_RAW, IPPROTO_UDP);
	if (sock < 0)
		die("socket");
	if (from.ss_family == AF_INET6 &&
	    setsockopt(sock, IPPROTO_IPV6, IPV6_CHECKSUM, &offset, sizeof(offset)))
		die("IPV6_CHECKSUM");
	if (bind(sock, (struct sockaddr *)&from, addrlen))
		die("bind");
}

/* Destination options of a PadN alone. */
static void open_opts(void)
{
	u8 header[8] = { 0, 0, 1, 4 };

	if (setsockopt(sock, IPPROTO_IPV6, IPV6_DSTOPTS, header, sizeof(header)))
		die("IPV6_DSTOPTS");
}

static void send_payload(const u8 *msg, int len, int sport)
{
	u8 packet[2048] = { 0 };
	struct udphdr *uh = (struct udphdr *)packet;

	/* The checksum is optional over IPv4. */
	uh->source = htons(sport);
	uh->dest = htons(OR_PORT);
	uh->len = htons(sizeof(*uh) + len);
	memcpy(packet + sizeof(*uh), msg, len);
	while (sendto(sock, packet, sizeof(*uh) + len, 0, (struct sockaddr *)&to,
		      addrlen) < 0)
		if (errno != ENOBUFS && errno != EAGAIN && errno != EINTR)
			die("sendto");
}

/* The UDP payload of what raw socket @fd gets, from @peer; NULL: it is none of the port. */
static const u8 *receive(int fd, u8 *buf, size_t size, struct sockaddr_storage *peer, int *len)
{
	socklen_t n = sizeof(*peer);
	const struct udphdr *uh;
	int off = 0;

	*len = recvfrom(fd, buf, size, 0, (struct sockaddr *)peer, &n);
	if (*len < 0)
		return NULL;
	if (peer->ss_family == AF_INET)
		off = (buf[0] & 15) * 4;
	uh = (const struct udphdr *)(buf + off);
	*len -= off + (int)sizeof(*uh);
	if (*len < 0 || uh->dest != htons(OR_PORT) || uh->source != htons(OR_PORT))
		return NULL;
	return buf + off + sizeof(*uh);
}

static void receive_timeout(long us)
{
	struct timeval timeout = { .tv_sec = us / 1000000, .tv_usec = us % 1000000 };

	setsockopt(sock, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
}

/* One SUBSCRIBE; and one with the cookie, if the receiver asks for it within a second. */
static void subscribe(void)
{
	struct sockaddr_storage peer;
	u8 msg[OR_SUBSCRIBE_LEN], buf[2048], k[OR_KEY_LEN];
	struct or_challenge c;
	const u8 *got;
	int len, i;

	key_of(key, k);
	make_subscribe(msg);
	if (opts)
		open_opts();
	send_payload(msg, OR_SUBSCRIBE_LEN, source);
	receive_timeout(10000);
	for (i = 0; answer && i < 100; i++) {
		got = receive(sock, buf, sizeof(buf), &peer, &len);
		if (!got || or_challenge_decode(got, len, &c) || c.count != count ||
		    or_verify(got, OR_CHALLENGE_LEN, k))
			continue;
		printf("challenged\n");
		cookie = c.cookie;
		make_subscribe(msg);
		send_payload(msg, OR_SUBSCRIBE_LEN, source);
		return;
	}
}

static void forge(const char *kind, long times)
{
	int len = OR_SUBSCRIBE_LEN, sport = OR_PORT;
	u8 good[OR_SUBSCRIBE_LEN], msg[1400];
	u8 k[OR_KEY_LEN];
	long i;

	for (i = 0; i < times; i++) {
		make_subscribe(good);
		key_of(key, k);
		memset(msg, 0, sizeof(msg));
		memcpy(msg, good, sizeof(good));
		if (!strcmp(kind, "short")) {
			len = 1 + i % (OR_SUBSCRIBE_LEN - 1);
		} else if (!strcmp(kind, "long")) {
			len = OR_SUBSCRIBE_LEN + 1 + i % 1300;
		} else if (!strcmp(kind, "empty")) {
			len = 0;
		} else if (!strcmp(kind, "version")) {
			msg[0] = (3 + i % 13) << 4 | OR_TYPE_SUBSCRIBE;
		} else if (!strcmp(kind, "version1")) {
			/* As it was there: 36 bytes. */
			msg[0] = 1 << 4 | OR_TYPE_SUBSCRIBE;
			len = 36;
		} else if (!strcmp(kind, "type")) {
			msg[0] = OR_VERSION << 4 | ((4 + i % 13) & 15);
		} else if (!strcmp(kind, "reserved")) {
			msg[1 + 6 * (i % 2)] = 1;
			or_sign(msg, len, k);
		} else if (!strcmp(kind, "other")) {
			/* About other addresses: they are before the tag. */
			msg[1] = 1 << OR_ADDRS_SHIFT;
			len = OR_SUBSCRIBE_LEN + 8;
			or_sign(msg, len, k);
		} else if (!strcmp(kind, "value")) {
			or_put(msg + 24, 0, 4);
			or_sign(msg, len, k);
		} else if (!strcmp(kind, "tag")) {
			msg[len - OR_TAG_LEN + i % 8] ^= 1 << i % 7;
		} else if (!strcmp(kind, "nonce")) {
			/* Right by itself, but it is another's, and without a cookie. */
			nonce = 1000 + i;
			key = nonce;
			make_subscribe(msg);
		} else if (!strcmp(kind, "cookie")) {
			nonce = 1000 + i;
			key = nonce;
			cookie = 1 + i * 0x9e3779b97f4a7c15UL;
			make_subscribe(msg);
		} else if (!strcmp(kind, "end")) {
			/* Somebody else's subscription. */
			nonce = 1000 + i;
			key = nonce;
			lifetime = 0;
			make_subscribe(msg);
		} else if (!strcmp(kind, "port")) {
			sport = 512 + i % 40000;
		} else if (!strcmp(kind, "ack")) {
			struct or_ack a = {
				.protocol = OR_PROTO_TCP, .packets = 1, .sport = 1,
				.dport = 1, .clock_error = OR_CLOCK_UNSYNCED,
				.count = i, .rx_ns = i,
			};

			len = OR_ACK_LEN;
			or_ack_encode(&a, msg);
			or_sign(msg, len, k);
		} else if (!strcmp(kind, "replay")) {
			;	/* as it is, again and again */
		} else {
			fprintf(stderr, "or_acker_helper: no kind '%s'\n", kind);
			exit(2);
		}
		send_payload(msg, len, sport);
	}
}

/* A SUBSCRIBE from @from, whichever that is. */
static void send_from(int fd)
{
	struct {
		struct iphdr ip;
		struct udphdr udp;
		u8 msg[OR_SUBSCRIBE_LEN];
	} packet = {};

	packet.ip.version = 4;
	packet.ip.ihl = 5;
	packet.ip.ttl = 64;
	packet.ip.protocol = IPPROTO_UDP;
	packet.ip.saddr = ((struct sockaddr_in *)&from)->sin_addr.s_addr;
	packet.ip.daddr = ((struct sockaddr_in *)&to)->sin_addr.s_addr;
	packet.udp.source = htons(OR_PORT);
	packet.udp.dest = htons(OR_PORT);
	packet.udp.len = htons(sizeof(packet.udp) + OR_SUBSCRIBE_LEN);
	make_subscribe(packet.msg);
	while (sendto(fd, &packet, sizeof(packet), 0, (struct sockaddr *)&to, addrlen) < 0)
		if (errno != ENOBUFS && errno != EAGAIN)
			die("sendto");
}

/* Take all CHALLENGEs that have come, and answer them from where they went to. */
static void answer_all(int fd, int flags)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&from;
	u8 buf[2048], k[OR_KEY_LEN];
	const struct iphdr *ip = (const void *)buf;
	struct or_challenge c;
	const u8 *msg;
	int len, off;

	while ((len = recv(sock, buf, sizeof(buf), flags)) > 0) {
		off = ip->ihl * 4 + sizeof(struct udphdr);
		msg = buf + off;
		in->sin_addr.s_addr = ip->daddr;
		key_of(key, k);
		if (len < off || or_challenge_decode(msg, len - off, &c) ||
		    or_verify(msg, OR_CHALLENGE_LEN, k))
			continue;
		cookie = c.cookie;
		send_from(fd);
		cookie = 0;
	}
}

/* SUBSCRIBEs that are right, from many addresses. @owns: these are this host's. */
static void spoof(const char *net, long times, bool owns)
{
	int one = 1, size = 1 << 24, fd;
	in_addr_t base;
	long i;

	parse_addr(net, &from);
	base = ((struct sockaddr_in *)&from)->sin_addr.s_addr;
	fd = socket(AF_INET, SOCK_RAW, IPPROTO_RAW);
	if (fd < 0 || setsockopt(fd, IPPROTO_IP, IP_HDRINCL, &one, sizeof(one)))
		die("socket");
	sock = socket(AF_INET, SOCK_RAW, IPPROTO_UDP);
	if (sock < 0)
		die("socket");
	setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	for (i = 0; i < times; i++) {
		((struct sockaddr_in *)&from)->sin_addr.s_addr = base | htonl(1 + i % 65000);
		send_from(fd);
		if (owns)
			answer_all(fd, MSG_DONTWAIT);
	}
	receive_timeout(1000000);
	if (owns)
		answer_all(fd, 0);
}

/* TCP segments of 1000 bytes, from a raw socket. */
static void open_tcp(void)
{
	int offset = offsetof(struct tcphdr, check);

	close(sock);
	sock = socket(from.ss_family, SOCK_RAW, IPPROTO_TCP);
	if (sock < 0 || bind(sock, (struct sockaddr *)&from, addrlen))
		die("socket");
	if (from.ss_family == AF_INET6 &&
	    setsockopt(sock, IPPROTO_IPV6, IPV6_CHECKSUM, &offset, sizeof(offset)))
		die("IPV6_CHECKSUM");
}

static void send_segment(int sport, int dport, u32 seq)
{
	u8 packet[sizeof(struct tcphdr) + 1000] = { 0 };
	struct tcphdr *th = (struct tcphdr *)packet;

	th->source = htons(sport);
	th->dest = htons(dport);
	th->seq = htonl(seq);
	th->doff = 5;
	th->ack = 1;
	th->window = htons(1000);
	while (sendto(sock, packet, sizeof(packet), 0, (struct sockaddr *)&to, addrlen) < 0)
		if (errno != ENOBUFS && errno != EAGAIN)
			die("sendto");
}

/*
 * Segments with data from FROM: of connections that do not exist, or of the one with the
 * given ports, with sequence numbers that go once around.
 */
static void data(long times, int sport, int dport)
{
	long i;

	open_tcp();
	for (i = 0; i < times; i++)
		send_segment(sport ?: 1024 + i % 60000, dport,
			     sport ? (u32)(i * (0x100000000LL / times)) : (u32)i);
}

static void turn(int sport, int dport, u32 seq)
{
	int i;

	open_tcp();
	for (i = 0; i < 9; i++)
		send_segment(sport + (i == 8), dport, seq + 1000 * i);
}

static void set_port(struct sockaddr_storage *addr, int port)
{
	if (addr->ss_family == AF_INET)
		((struct sockaddr_in *)addr)->sin_port = htons(port);
	else
		((struct sockaddr_in6 *)addr)->sin6_port = htons(port);
}

static void sink(int port)
{
	static u8 buf[1 << 18];
	int one = 1, fd;

	signal(SIGCHLD, SIG_IGN);
	set_port(&to, port);
	sock = socket(to.ss_family, SOCK_STREAM, 0);
	if (sock < 0 || setsockopt(sock, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(sock, (struct sockaddr *)&to, addrlen) || listen(sock, 100))
		die("sink");
	while ((fd = accept(sock, NULL, NULL)) >= 0) {
		if (fork()) {
			close(fd);
			continue;
		}
		while (read(fd, buf, sizeof(buf)) > 0)
			;
		exit(0);
	}
	die("accept");
}

static void acknowledged(int fd)
{
	int left;

	while (!ioctl(fd, SIOCOUTQ, &left) && left)
		usleep(500);
}

static void send_tcp(int port, long bytes)
{
	static u8 buf[1 << 20];
	int fd[64], one = 1, tos = tos_field;
	unsigned long i, n;
	long left;

	if (send_flows > ARRAY_SIZE(fd) || chunk > sizeof(buf)) {
		fprintf(stderr, "or_acker_helper: too many flows or bytes\n");
		exit(2);
	}
	set_port(&to, port);
	for (i = 0; i < send_flows; i++) {
		fd[i] = socket(to.ss_family, SOCK_STREAM, 0);
		if (fd[i] < 0 ||
		    setsockopt(fd[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) ||
		    setsockopt(fd[i], to.ss_family == AF_INET ? IPPROTO_IP : IPPROTO_IPV6,
			       to.ss_family == AF_INET ? IP_TOS : IPV6_TCLASS, &tos,
			       sizeof(tos)) ||
		    setsockopt(fd[i], SOL_SOCKET, SO_MAX_PACING_RATE, &rate, sizeof(rate)) ||
		    bind(fd[i], (struct sockaddr *)&from, addrlen) ||
		    connect(fd[i], (struct sockaddr *)&to, addrlen))
			die("connect");
	}
	for (left = bytes; left > 0; left -= n) {
		n = (unsigned long)left < chunk ? (unsigned long)left : chunk;
		for (i = 0; i < send_flows; i++)
			if (write(fd[i], buf, n) != (ssize_t)n)
				die("write");
		for (i = 0; wait_each && i < send_flows; i++)
			acknowledged(fd[i]);
	}
	for (i = 0; i < send_flows; i++)
		acknowledged(fd[i]);
}

static void hold(int port)
{
	u8 buf[2048];
	ssize_t n;

	set_port(&to, port);
	sock = socket(to.ss_family, SOCK_DGRAM, 0);
	if (sock < 0 || bind(sock, (struct sockaddr *)&to, addrlen))
		die("bind");
	setlinebuf(stdout);
	for (;;) {
		n = recv(sock, buf, sizeof(buf), 0);
		printf("%zd bytes\n", n);
	}
}

static void run_as(int uid, char **argv)
{
	if (setgroups(0, NULL) || setgid(uid) || setuid(uid))
		die("setuid");
	execvp(argv[0], argv);
	die(argv[0]);
}

/* SIGTERM is blocked, and waits. */
static bool ended(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGTERM);
}

struct flow {
	u16 sport, dport;
	struct or_replay replay;
	u64 rx_ns;
	u32 first, last;
	unsigned long acks;
	u8 domain;
};

static struct flow *find_flow(struct flow *flows, const struct or_ack *a)
{
	int i;

	for (i = 0; i < FLOWS && flows[i].sport; i++)
		if (flows[i].sport == a->sport && flows[i].dport == a->dport)
			return &flows[i];
	if (i == FLOWS)
		return NULL;
	flows[i].sport = a->sport;
	flows[i].dport = a->dport;
	return &flows[i];
}

static void listen_acks(void)
{
	unsigned long others = 0, drains = 0;
	unsigned long acks = 0, packets = 0, bad = 0, tags = 0, replays = 0, backward = 0;
	unsigned long nflows = 0, domains = 0, gaps = 0, most = 0, synced = 0;
	static struct flow flows[FLOWS];
	sigset_t set;
	unsigned int hold_max = 0, tos = 0, size = 1 << 22;
	u8 k[OR_KEY_LEN];
	int i;

	key_of(nonce, k);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	receive_timeout(100000);
	setsockopt(sock, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size));
	while (!ended()) {
		struct sockaddr_storage peer;
		struct flow *f;
		struct or_ack a;
		const u8 *msg;
		u8 buf[2048];
		int len;

		msg = receive(sock, buf, sizeof(buf), &peer, &len);
		if (!msg || (from.ss_family == AF_INET &&
			     ((struct sockaddr_in *)&peer)->sin_addr.s_addr !=
			     ((struct sockaddr_in *)&to)->sin_addr.s_addr))
			continue;
		/* Of the loopback, our own; and what another program here has to answer. */
		if (len && (msg[0] == (OR_VERSION << 4 | OR_TYPE_SUBSCRIBE) ||
			    msg[0] == (OR_VERSION << 4 | OR_TYPE_CHALLENGE)))
			continue;
		if (from.ss_family == AF_INET)
			tos = buf[1];
		if (or_ack_decode(msg, len, &a)) {
			bad++;
			continue;
		}
		if (or_verify(msg, OR_ACK_LEN, k)) {
			tags++;
			continue;
		}
		f = find_flow(flows, &a);
		if (!f || or_replay_accept(&f->replay, a.count)) {
			replays++;
			continue;
		}
		/* Two CPUs of the receiver can send out of order. */
		if (!f->acks++) {
			f->first = a.count;
			f->last = a.count - 1;
			f->domain = a.domain;
		}
		if ((s32)(a.count - f->first) < 0)
			f->first = a.count;
		if (f->domain != a.domain)
			domains++;
		if ((s32)(a.count - f->last) > 0) {
			if (f->domain == a.domain && a.rx_ns < f->rx_ns)
				backward++;
			f->last = a.count;
			f->rx_ns = a.rx_ns;
			f->domain = a.domain;
		}
		if (a.hold_ns > hold_max)
			hold_max = a.hold_ns;
		if (a.clock_error != OR_CLOCK_UNSYNCED)
			synced++;
		acks++;
		packets += a.packets;
		most += a.packets == 255;
		others += a.others;
		drains += a.drain;
	}
	for (i = 0; i < FLOWS && flows[i].sport; i++) {
		gaps += flows[i].last - flows[i].first + 1 - flows[i].acks;
		nflows++;
	}
	printf("acks %lu\npackets %lu\nflows %lu\n", acks, packets, nflows);
	printf("bad %lu\nbad_tag %lu\nreplays %lu\n", bad, tags, replays);
	printf("others %lu\ndrains %lu\n", others, drains);
	printf("backward %lu\ndomains %lu\ngaps %lu\n", backward, domains, gaps);
	/* Of the first two flows. */
	printf("rx_ns %llu\ncount0 %u\ncount1 %u\n", (unsigned long long)flows[0].rx_ns,
	       flows[0].first, flows[1].first);
	printf("hold_max_ns %u\ntos %u\nmost %lu\nsynced %lu\n",
	       hold_max, tos, most, synced);
}

static void socket_set(int fd, int name, int value)
{
	if (setsockopt(fd, IPPROTO_TCP, name, &value, sizeof(value)))
		die("TCP_REPAIR");
}

static void sockets(int lport, int rport, int count, unsigned int seq)
{
	int one = 1, fd, i;

	set_port(&from, lport);
	for (i = 0; i < count; i++) {
		set_port(&to, rport + i);
		fd = socket(from.ss_family, SOCK_STREAM, 0);
		if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)))
			die("socket");
		socket_set(fd, TCP_REPAIR, 1);
		socket_set(fd, TCP_REPAIR_QUEUE, 1 /* TCP_RECV_QUEUE */);
		socket_set(fd, TCP_QUEUE_SEQ, seq);
		if (bind(fd, (struct sockaddr *)&from, addrlen) ||
		    connect(fd, (struct sockaddr *)&to, addrlen))
			die("connect");
	}
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	if (argc < 3 || (argc < 4 && strcmp(argv[1], "hold"))) {
		fprintf(stderr, "see the head of or_acker_helper.c\n");
		return 2;
	}
	if (!strcmp(argv[1], "as"))
		run_as(atoi(argv[2]), argv + 3);
	if (!strcmp(argv[1], "hold")) {
		parse_addr(argv[2], &to);
		hold(argc > 3 ? atoi(argv[3]) : OR_PORT);
	} else if (!strcmp(argv[1], "sink")) {
		parse_addr(argv[2], &to);
		sink(atoi(argv[3]));
	}
	parse_addr(argv[3], &to);
	if ((!strcmp(argv[1], "spoof") || !strcmp(argv[1], "many")) && argc > 4) {
		parse_options(argv + 5);
		spoof(argv[2], strtol(argv[4], NULL, 0), !strcmp(argv[1], "many"));
		return 0;
	}
	parse_addr(argv[2], &from);
	if (!strcmp(argv[1], "send") && argc > 5) {
		parse_options(argv + 6);
		/* Not timeout(1), which is one more process each time. */
		alarm(SEND_MAX_S);
		send_tcp(atoi(argv[4]), strtol(argv[5], NULL, 0));
		return 0;
	}
	if (!strcmp(argv[1], "socket") && argc > 7)
		sockets(atoi(argv[4]), atoi(argv[5]), atoi(argv[6]), strtoul(argv[7], NULL, 0));
	open_socket();
	if (!strcmp(argv[1], "subscribe")) {
		parse_options(argv + 4);
		subscribe();
	} else if (!strcmp(argv[1], "listen")) {
		parse_options(argv + 4);
		listen_acks();
	} else if (!strcmp(argv[1], "data") && argc > 4) {
		data(strtol(argv[4], NULL, 0), 0, 9);
	} else if (!strcmp(argv[1], "blind") && argc > 6) {
		data(strtol(argv[6], NULL, 0), atoi(argv[4]), atoi(argv[5]));
	} else if (!strcmp(argv[1], "turn") && argc > 6) {
		turn(atoi(argv[4]), atoi(argv[5]), strtoul(argv[6], NULL, 0));
	} else if (!strcmp(argv[1], "forge") && argc > 5) {
		parse_options(argv + 6);
		forge(argv[4], strtol(argv[5], NULL, 0));
	} else {
		fprintf(stderr, "see the head of or_acker_helper.c\n");
		return 2;
	}
	return 0;
}
