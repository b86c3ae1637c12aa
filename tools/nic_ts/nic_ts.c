// SPDX-License-Identifier: GPL-2.0
/*
 * nic_ts - show and set the timestamp bus of this network namespace
 *
 * The generic netlink family is described in include/uapi/nic_ts.h. The
 * output is a list of objects: with -j a JSON array, else one "name value" a line
 * and an empty line between objects.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/ptp_clock.h>
#include <net/if.h>
#include <netlink/genl/ctrl.h>
#include <netlink/genl/genl.h>
#include <netlink/netlink.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "uapi/nic_ts.h"

#include "../lib/exit.h"
#include "nic_ts.h"

#define NSEC_PER_SEC	1000000000LL

/* Readings of a clock, of which the quickest is taken. */
#define FEED_SAMPLES	9

/*
 * Growth of the error bound, 10^-9. For a measured rate: 1 ppm, the drift of an ordinary
 * crystal within seconds, plus the uncertainty of the two readings. For an unknown rate:
 * 200 ppm, the worst that Ethernet allows for both clocks together.
 */
#define FEED_DRIFT_PPB		1000
#define FEED_DRIFT_UNKNOWN_PPB	200000

struct nic_ts_as nic_ts_as = { "nic_ts", 1 };

static bool json;
static unsigned int objects;
static struct nl_sock *sock;
static int family;

static __attribute__((noreturn, format(printf, 2, 0))) void fail(int status, const char *fmt,
								 va_list ap)
{
	fprintf(stderr, "%s: ", nic_ts_as.name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
	exit(status);
}

static __attribute__((noreturn, format(printf, 1, 2))) void die(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(nic_ts_as.status, fmt, ap);
}

/* What is wrong with the words. */
static __attribute__((noreturn, format(printf, 1, 2))) void die_words(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fail(EXIT_USAGE, fmt, ap);
}

static __attribute__((noreturn)) void usage(int status)
{
	fputs("usage: nic_ts [-j] devices|flows|clocks|stats\n"
	      "       nic_ts device NAME [hw on|off] [tx-slots N]\n"
	      "       nic_ts clock CLOCK set ref-clock NS ref-host NS error NS\n"
	      "                    [rate PPT] [drift PPB] [max-age NS]\n"
	      "       nic_ts clock CLOCK feed [count N] [interval MS]\n"
	      "       nic_ts clock CLOCK del\n"
	      "       nic_ts --help|--version\n"
	      "\n"
	      "CLOCK is phcN for /dev/ptpN, raw for CLOCK_MONOTONIC_RAW or real for\n"
	      "CLOCK_REALTIME. A map converts its times to CLOCK_MONOTONIC; feed measures\n"
	      "one of phcN each interval, N times, or until a signal. -j writes JSON.\n",
	      status ? stderr : stdout);
	exit(status);
}

/* Showing ------------------------------------------------------------------ */

static const char * const source_names[] = { "none", "stack", "driver", "hardware" };
static const char * const state_names[] = {
	"unset", "valid", "expired", "stepped", "suspended", "vanished", "withdrawn",
};

static bool first;

static void put_name(const char *name)
{
	if (json)
		printf("%s\n    \"%s\": ", first ? "" : ",", name);
	else
		printf("%s ", name);
	first = false;
}

static void put_string(const char *name, const char *value)
{
	put_name(name);
	if (!json) {
		printf("%s\n", value);
		return;
	}
	/* Names of devices may hold any bytes but blanks and slashes; UTF-8 they need not be. */
	putchar('"');
	for (; *value; value++) {
		unsigned char c = (unsigned char)*value;

		if (c == '"' || c == '\\')
			putchar('\\');
		if (c < ' ')
			printf("\\u%04x", c);
		else
			putchar(c > '~' ? '?' : c);
	}
	putchar('"');
}

static void put_signed(const char *name, int64_t value)
{
	put_name(name);
	printf("%" PRId64 "%s", value, json ? "" : "\n");
}

static void put_unsigned(const char *name, uint64_t value)
{
	put_name(name);
	printf("%" PRIu64 "%s", value, json ? "" : "\n");
}

static void put_word(const char *name, const char * const *words, size_t count,
		     unsigned int value)
{
	put_string(name, value < count ? words[value] : "unknown");
}

static void put_domain(uint32_t domain)
{
	char text[16];

	if (domain >= NIC_TS_DOMAIN_PHC0)
		snprintf(text, sizeof(text), "phc%u", domain - NIC_TS_DOMAIN_PHC0);
	else
		snprintf(text, sizeof(text), "%s", domain == NIC_TS_DOMAIN_REAL ?
			 "real" : domain == NIC_TS_DOMAIN_RAW ? "raw" : "mono");
	put_string("clock", text);
}

static void put_address(const char *name, struct nlattr *a)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(nla_len(a) == 4 ? AF_INET : AF_INET6, nla_data(a), text, sizeof(text));
	put_string(name, text);
}

static void put_stats(struct nlattr *stats)
{
	struct nlattr *a, *tb[NIC_TS_A_MAX + 1];
	int rest;

	nla_for_each_nested(a, stats, rest) {
		if (nla_parse_nested(tb, NIC_TS_A_MAX, a, NULL) ||
		    !tb[NIC_TS_A_STAT_NAME] || !tb[NIC_TS_A_STAT_VALUE])
			continue;
		put_unsigned(nla_get_string(tb[NIC_TS_A_STAT_NAME]),
			     nla_get_u64(tb[NIC_TS_A_STAT_VALUE]));
	}
}

/* Attributes that are a number, by type: name and width in the message. */
static const struct {
	const char *name;
	enum { U32, U64, S64, PORT } width;
} numbers[NIC_TS_A_MAX + 1] = {
	[NIC_TS_A_REF_CLOCK_NS]	= { "ref_clock_ns", U64 },
	[NIC_TS_A_REF_HOST_NS]	= { "ref_host_ns", U64 },
	[NIC_TS_A_RATE_PPT]	= { "rate_ppt", S64 },
	[NIC_TS_A_ERROR_NS]	= { "error_ns", U32 },
	[NIC_TS_A_DRIFT_PPB]	= { "drift_ppb", U32 },
	[NIC_TS_A_MAX_AGE_NS]	= { "max_age_ns", U64 },
	[NIC_TS_A_AGE_NS]	= { "age_ns", U64 },
	[NIC_TS_A_IFINDEX]	= { "ifindex", U32 },
	[NIC_TS_A_PHC]		= { "phc", U32 },
	[NIC_TS_A_USERS]	= { "users", U32 },
	[NIC_TS_A_TX_SLOTS]	= { "tx_slots", U32 },
	[NIC_TS_A_LPORT]	= { "local_port", PORT },
	[NIC_TS_A_RPORT]	= { "remote_port", PORT },
	[NIC_TS_A_TX_RECORDS]	= { "tx_records", U32 },
	[NIC_TS_A_ACKS]		= { "acks", U32 },
	[NIC_TS_A_IDLE_NS]	= { "idle_ns", U64 },
	[NIC_TS_A_PAUSE_NS]	= { "cum_pause_ns", U64 },
};

static void put_number(const char *name, int width, struct nlattr *a)
{
	switch (width) {
	case U32:
		return put_unsigned(name, nla_get_u32(a));
	case U64:
		return put_unsigned(name, nla_get_u64(a));
	case S64:
		return put_signed(name, nla_get_s64(a));
	case PORT:
		return put_unsigned(name, ntohs(nla_get_u16(a)));
	}
}

static void put_attr(struct nlattr *a)
{
	static const char * const switches[] = { "off", "on" };
	int type = nla_type(a);

	switch (type) {
	case NIC_TS_A_DOMAIN:
		return put_domain(nla_get_u32(a));
	case NIC_TS_A_CLOCK_STATE:
		return put_word("state", state_names,
				sizeof(state_names) / sizeof(*state_names), nla_get_u8(a));
	case NIC_TS_A_IFNAME:
		return put_string("device", nla_get_string(a));
	case NIC_TS_A_HW:
		return put_word("hw", switches, 2, nla_get_u8(a));
	case NIC_TS_A_RX_SOURCE:
		return put_word("rx_source", source_names, 4, nla_get_u8(a));
	case NIC_TS_A_TX_SOURCE:
		return put_word("tx_source", source_names, 4, nla_get_u8(a));
	case NIC_TS_A_STATS:
		return put_stats(a);
	case NIC_TS_A_LOCAL:
		return put_address("local", a);
	case NIC_TS_A_REMOTE:
		return put_address("remote", a);
	}
	if (type <= NIC_TS_A_MAX && numbers[type].name)
		put_number(numbers[type].name, numbers[type].width, a);
}

static int show_object(struct nl_msg *msg, void *arg)
{
	struct genlmsghdr *hdr = genlmsg_hdr(nlmsg_hdr(msg));
	struct nlattr *a;
	int rest;

	(void)arg;
	if (json)
		printf("%s\n  {", objects ? "," : "");
	else if (objects)
		putchar('\n');
	first = true;
	nla_for_each_attr(a, genlmsg_attrdata(hdr, 0), genlmsg_attrlen(hdr, 0), rest)
		put_attr(a);
	if (json)
		printf("\n  }");
	objects++;
	return NL_OK;
}

/* Talking ------------------------------------------------------------------ */

/* Exit with the kernel's reason for a refused request, or with errno's text. */
static int on_error(struct sockaddr_nl *who, struct nlmsgerr *e, void *arg)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)e - 1;
	int skip = sizeof(*e), rest;
	struct nlattr *a;

	(void)who;
	(void)arg;
	/* The request is echoed whole, unless it is capped. */
	if (!(hdr->nlmsg_flags & NLM_F_CAPPED))
		skip += e->msg.nlmsg_len - sizeof(e->msg);
	if (hdr->nlmsg_flags & NLM_F_ACK_TLVS) {
		a = (struct nlattr *)((char *)e + NLMSG_ALIGN(skip));
		rest = hdr->nlmsg_len - NLMSG_HDRLEN - NLMSG_ALIGN(skip);
		a = nla_find(a, rest, 1 /* NLMSGERR_ATTR_MSG */);
		if (a)
			die("%s", nla_get_string(a));
	}
	die("the kernel refused the request: %s", strerror(-e->error));
}

/* Once the words are right. */
static void open_family(void)
{
	int one = 1;

	if (sock)
		return;
	sock = nl_socket_alloc();
	if (!sock || genl_connect(sock))
		die("this kernel has no generic netlink");
	/* SOL_NETLINK, NETLINK_EXT_ACK */
	setsockopt(nl_socket_get_fd(sock), 270, 11, &one, sizeof(one));
	family = genl_ctrl_resolve(sock, NIC_TS_GENL_NAME);
	if (family < 0)
		die("the module nic_ts is not loaded");
	nl_socket_modify_cb(sock, NL_CB_VALID, NL_CB_CUSTOM, show_object, NULL);
	nl_socket_modify_err_cb(sock, NL_CB_CUSTOM, on_error, NULL);
}

static struct nl_msg *request(int cmd, int flags)
{
	struct nl_msg *msg = nlmsg_alloc();

	if (!msg || !genlmsg_put(msg, NL_AUTO_PORT, NL_AUTO_SEQ, 0, 0, flags, cmd,
				 NIC_TS_GENL_VERSION))
		die("no memory");
	return msg;
}

static void talk(struct nl_msg *msg)
{
	int err;

	open_family();
	nlmsg_hdr(msg)->nlmsg_type = family;
	err = nl_send_auto(sock, msg);
	nlmsg_free(msg);
	if (err >= 0)
		err = nl_recvmsgs_default(sock);
	if (err < 0)
		die("%s", nl_geterror(err));
}

static int show(int cmd, char **argv)
{
	if (*argv)
		die_words("unexpected word '%s'", *argv);
	open_family();
	if (json)
		putchar('[');
	talk(request(cmd, NLM_F_DUMP));
	if (json)
		printf("%s]\n", objects ? "\n" : "");
	return 0;
}

/* Setting ------------------------------------------------------------------ */

static int64_t parse_s64(const char *what, const char *text)
{
	int64_t value;
	char *end;

	if (!text)
		die_words("%s: expected a number", what);
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end)
		die_words("%s '%s': expected a number", what, text);
	return value;
}

static uint32_t parse_u32(const char *what, const char *text)
{
	int64_t value = parse_s64(what, text);

	if (value < 0 || value > UINT32_MAX)
		die_words("%s '%s': expected 0 to 4294967295", what, text);
	return value;
}

static int device_command(char **argv)
{
	struct nl_msg *msg = request(NIC_TS_CMD_DEV_SET, NLM_F_ACK);
	unsigned int ifindex = *argv ? if_nametoindex(*argv) : 0;

	if (!*argv)
		usage(EXIT_USAGE);
	if (!ifindex)
		die("unknown device '%s' in this namespace", *argv);
	nla_put_u32(msg, NIC_TS_A_IFINDEX, ifindex);
	for (argv++; *argv; argv += 2) {
		if (!strcmp(*argv, "hw") && !(argv[1] && (!strcmp(argv[1], "on") ||
							  !strcmp(argv[1], "off"))))
			die_words("hw '%s': expected on or off", argv[1] ? argv[1] : "");
		if (!strcmp(*argv, "hw"))
			nla_put_u8(msg, NIC_TS_A_HW, !strcmp(argv[1], "on"));
		else if (!strcmp(*argv, "tx-slots"))
			nla_put_u32(msg, NIC_TS_A_TX_SLOTS, parse_u32(*argv, argv[1]));
		else
			die_words("unknown word '%s': expected hw or tx-slots", *argv);
	}
	talk(msg);
	return 0;
}

static uint32_t clock_domain(const char *name)
{
	uint32_t n;

	if (!strcmp(name, "raw"))
		return NIC_TS_DOMAIN_RAW;
	if (!strcmp(name, "real"))
		return NIC_TS_DOMAIN_REAL;
	if (strncmp(name, "phc", 3))
		die_words("unknown clock '%s': expected raw, real or phcN", name);
	n = parse_u32("phc", name + 3);
	if (n > NIC_TS_DOMAIN_PHC_MAX)
		die_words("clock '%s': expected phc0 to phc%d", name, NIC_TS_DOMAIN_PHC_MAX);
	return NIC_TS_DOMAIN_PHC(n);
}

static int clock_set(uint32_t domain, char **argv)
{
	struct nl_msg *msg = request(NIC_TS_CMD_CLOCK_SET, NLM_F_ACK);

	nla_put_u32(msg, NIC_TS_A_DOMAIN, domain);
	for (; *argv; argv += 2) {
		if (!strcmp(*argv, "ref-clock"))
			nla_put_u64(msg, NIC_TS_A_REF_CLOCK_NS, parse_s64(*argv, argv[1]));
		else if (!strcmp(*argv, "ref-host"))
			nla_put_u64(msg, NIC_TS_A_REF_HOST_NS, parse_s64(*argv, argv[1]));
		else if (!strcmp(*argv, "error"))
			nla_put_u32(msg, NIC_TS_A_ERROR_NS, parse_u32(*argv, argv[1]));
		else if (!strcmp(*argv, "rate"))
			nla_put_s64(msg, NIC_TS_A_RATE_PPT, parse_s64(*argv, argv[1]));
		else if (!strcmp(*argv, "drift"))
			nla_put_u32(msg, NIC_TS_A_DRIFT_PPB, parse_u32(*argv, argv[1]));
		else if (!strcmp(*argv, "max-age"))
			nla_put_u64(msg, NIC_TS_A_MAX_AGE_NS, parse_s64(*argv, argv[1]));
		else
			die_words("unknown word '%s': expected ref-clock, ref-host, error, rate, drift or max-age",
				  *argv);
	}
	talk(msg);
	return 0;
}

/* Feeding ------------------------------------------------------------------ */

struct reading {
	int64_t clock_ns;
	int64_t host_ns;
	int64_t error_ns;
};

static int64_t now_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int64_t ptp_ns(const struct ptp_clock_time *t)
{
	return t->sec * NSEC_PER_SEC + t->nsec;
}

/* CLOCK_MONOTONIC less CLOCK_REALTIME, and half of how long that took to read. */
static int64_t mono_less_real(int64_t *error_ns)
{
	int64_t before, real, after, offset = 0;
	int i;

	*error_ns = INT64_MAX;
	for (i = 0; i < FEED_SAMPLES; i++) {
		before = now_ns(CLOCK_MONOTONIC);
		real = now_ns(CLOCK_REALTIME);
		after = now_ns(CLOCK_MONOTONIC);
		if ((after - before + 1) / 2 >= *error_ns)
			continue;
		*error_ns = (after - before + 1) / 2;
		offset = before + (after - before) / 2 - real;
	}
	return offset;
}

/* The quickest of some readings between two of CLOCK_REALTIME. */
static void read_clock(int fd, struct reading *r)
{
	struct ptp_sys_offset_extended req = { .n_samples = FEED_SAMPLES };
	int64_t before, after, host_error_ns;
	unsigned int i;

	if (ioctl(fd, PTP_SYS_OFFSET_EXTENDED, &req))
		die("the clock cannot be read together with the host's: %s",
		    strerror(errno));
	r->error_ns = INT64_MAX;
	for (i = 0; i < req.n_samples; i++) {
		before = ptp_ns(&req.ts[i][0]);
		after = ptp_ns(&req.ts[i][2]);
		if (after < before || (after - before + 1) / 2 >= r->error_ns)
			continue;
		r->error_ns = (after - before + 1) / 2;
		r->host_ns = before + (after - before) / 2;
		r->clock_ns = ptp_ns(&req.ts[i][1]);
	}
	if (r->error_ns == INT64_MAX)
		die("CLOCK_REALTIME ran backwards while the clock was read");
	r->host_ns += mono_less_real(&host_error_ns);
	r->error_ns += host_error_ns;
}

static void feed_one(uint32_t domain, const struct reading *r,
		     const struct reading *last, int64_t interval_ns)
{
	struct nl_msg *msg = request(NIC_TS_CMD_CLOCK_SET, NLM_F_ACK);
	double rate_ppt = 0, drift_ppb = FEED_DRIFT_UNKNOWN_PPB, elapsed_ns, open_ppb;

	if (last && r->clock_ns > last->clock_ns) {
		elapsed_ns = r->clock_ns - last->clock_ns;
		rate_ppt = 1e12 * ((r->host_ns - last->host_ns) / elapsed_ns - 1);
		open_ppb = 1e9 * (r->error_ns + last->error_ns) / elapsed_ns;
		drift_ppb = FEED_DRIFT_PPB + open_ppb;
		/* A jump; the kernel is to see it from the readings. Or no better. */
		if (rate_ppt > 5e8 || rate_ppt < -5e8 || drift_ppb > FEED_DRIFT_UNKNOWN_PPB) {
			rate_ppt = 0;
			drift_ppb = FEED_DRIFT_UNKNOWN_PPB;
		}
	}
	nla_put_u32(msg, NIC_TS_A_DOMAIN, domain);
	nla_put_u64(msg, NIC_TS_A_REF_CLOCK_NS, r->clock_ns);
	nla_put_u64(msg, NIC_TS_A_REF_HOST_NS, r->host_ns);
	nla_put_s64(msg, NIC_TS_A_RATE_PPT, (int64_t)rate_ppt);
	nla_put_u32(msg, NIC_TS_A_ERROR_NS, r->error_ns);
	nla_put_u32(msg, NIC_TS_A_DRIFT_PPB, (uint32_t)drift_ppb);
	/* Some rounds may fail. */
	nla_put_u64(msg, NIC_TS_A_MAX_AGE_NS, 10 * interval_ns);
	talk(msg);
}

static int clock_feed(uint32_t domain, char **argv)
{
	int64_t count = 0, interval_ms = 1000, i;
	struct reading r, last;
	char path[32];
	int fd;

	for (; *argv; argv += 2) {
		if (!strcmp(*argv, "count"))
			count = parse_s64(*argv, argv[1]);
		else if (!strcmp(*argv, "interval"))
			interval_ms = parse_s64(*argv, argv[1]);
		else
			die_words("unknown word '%s': expected count or interval", *argv);
	}
	if (count < 0)
		die_words("count: expected 0, for no end, or more");
	if (interval_ms < 1 || interval_ms > 60000)
		die_words("interval: expected 1 to 60000 ms");
	if (domain < NIC_TS_DOMAIN_PHC0)
		die_words("feed: expected a clock phcN");
	open_family();
	snprintf(path, sizeof(path), "/dev/ptp%u", domain - NIC_TS_DOMAIN_PHC0);
	fd = open(path, O_RDWR);
	if (fd < 0)
		die("%s: %s", path, strerror(errno));
	for (i = 0; !count || i < count; i++) {
		if (i)
			usleep(interval_ms * 1000);
		read_clock(fd, &r);
		feed_one(domain, &r, i ? &last : NULL, interval_ms * 1000000);
		last = r;
	}
	close(fd);
	return 0;
}

static int clock_command(char **argv)
{
	struct nl_msg *msg;
	uint32_t domain;

	if (!argv[0] || !argv[1])
		usage(EXIT_USAGE);
	domain = clock_domain(argv[0]);
	if (!strcmp(argv[1], "set"))
		return clock_set(domain, argv + 2);
	if (!strcmp(argv[1], "feed"))
		return clock_feed(domain, argv + 2);
	if (strcmp(argv[1], "del") || argv[2])
		usage(EXIT_USAGE);
	msg = request(NIC_TS_CMD_CLOCK_DEL, NLM_F_ACK);
	nla_put_u32(msg, NIC_TS_A_DOMAIN, domain);
	talk(msg);
	return 0;
}

/**
 * nic_ts_main() - run the program
 * @argc: unused
 * @argv: its name, and its words up to a NULL
 *
 * Return: exit status. It exits by itself if the words are wrong, or the kernel refuses.
 */
int nic_ts_main(int argc, char **argv)
{
	(void)argc;
	argv++;
	if (*argv && (!strcmp(*argv, "-h") || !strcmp(*argv, "--help")))
		usage(0);
	if (*argv && (!strcmp(*argv, "-V") || !strcmp(*argv, "--version"))) {
		puts("nic_ts " NIC_TS_VERSION);
		return 0;
	}
	if (*argv && !strcmp(*argv, "-j")) {
		json = true;
		argv++;
	}
	if (!*argv)
		usage(EXIT_USAGE);
	if (!strcmp(*argv, "devices"))
		return show(NIC_TS_CMD_DEV_GET, argv + 1);
	if (!strcmp(*argv, "flows"))
		return show(NIC_TS_CMD_FLOW_GET, argv + 1);
	if (!strcmp(*argv, "clocks"))
		return show(NIC_TS_CMD_CLOCK_GET, argv + 1);
	if (!strcmp(*argv, "stats"))
		return show(NIC_TS_CMD_STATS_GET, argv + 1);
	if (!strcmp(*argv, "device"))
		return device_command(argv + 1);
	if (!strcmp(*argv, "clock"))
		return clock_command(argv + 1);
	usage(EXIT_USAGE);
}
