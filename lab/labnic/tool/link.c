// SPDX-License-Identifier: GPL-2.0
/*
 * labnic: links of the test NIC.
 */
#include <inttypes.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "labnic_params.h"
#include "tool.h"

static const struct param params[] = {
#define LABNIC_X(NAME, field, KIND, min, max, def, help) \
	{ #NAME, #field, KIND, IFLA_LABNIC_##NAME, min, max, def, help },
	LABNIC_PARAMS
#undef LABNIC_X
	{ .name = NULL }
};

/* Those that the request under way names: they must be open until it is sent. */
static int named_netns[2];
static unsigned int n_named_netns;

static void put_link_param(struct nl_msg *msg, const char *name, const char *text)
{
	put_param(msg, params, name, text, "labnic params");
}

/* Those that the request under way names: they must be open until it is sent. */
static int named_netns[2];
static unsigned int n_named_netns;

static void put_address(struct nl_msg *msg, const char *text)
{
	unsigned char mac[6];
	int used = 0;

	if (sscanf(text, "%2hhx:%2hhx:%2hhx:%2hhx:%2hhx:%2hhx%n", &mac[0], &mac[1], &mac[2],
		   &mac[3], &mac[4], &mac[5], &used) != 6 || text[used])
		die("address '%s': expected one such as 02:00:00:00:00:01", text);
	MUST(nla_put(msg, IFLA_ADDRESS, sizeof(mac), mac));
}

/*
 * One end of a link to make: NAME, then pairs of words up to "peer" or the end.
 * What any link has comes before its IFLA_LINKINFO, so pairs are walked twice.
 */
static int put_end(struct nl_msg *msg, char **words, int n, bool is_peer,
		   int (*peer)(struct nl_msg *msg, char **words, int n))
{
	static const char * const common[] = { "netns", "address", "mtu", "queues" };
	struct nlattr *info, *data;
	int i, end, netns;
	uint32_t queues;
	size_t j;

	for (end = 1; end < n && strcmp(words[end], "peer"); end += 2)
		if (end + 1 >= n)
			die("%s needs a value", words[end]);
	if (is_peer && end < n)
		die("expected one peer at most");
	if (strlen(words[0]) >= IFNAMSIZ)
		die("the name '%s' is too long", words[0]);
	MUST(nla_put_string(msg, IFLA_IFNAME, words[0]));
	for (i = 1; i < end; i += 2) {
		if (!strcmp(words[i], "netns")) {
			if (n_named_netns == ARRAY_SIZE(named_netns))
				die("netns is given more than once for an end");
			netns = open_netns(words[i + 1]);
			named_netns[n_named_netns++] = netns;
			MUST(nla_put_u32(msg, IFLA_NET_NS_FD, netns));
		} else if (!strcmp(words[i], "address")) {
			put_address(msg, words[i + 1]);
		} else if (!strcmp(words[i], "mtu")) {
			MUST(nla_put_u32(msg, IFLA_MTU, parse_u32("mtu", words[i + 1])));
		} else if (!strcmp(words[i], "queues")) {
			queues = parse_u32("queues", words[i + 1]);
			MUST(nla_put_u32(msg, IFLA_NUM_TX_QUEUES, queues));
			MUST(nla_put_u32(msg, IFLA_NUM_RX_QUEUES, queues));
		}
	}
	info = nla_nest_start(msg, IFLA_LINKINFO);
	MUST(nla_put_string(msg, IFLA_INFO_KIND, "labnic"));
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	for (i = 1; i < end; i += 2) {
		for (j = 0; j < ARRAY_SIZE(common); j++)
			if (!strcmp(words[i], common[j]))
				break;
		if (j == ARRAY_SIZE(common))
			put_link_param(msg, words[i], words[i + 1]);
	}
	if (peer && end < n) {
		if (end + 1 >= n)
			die("peer needs a name");
		peer(msg, words + end + 1, n - end - 1);
	}
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	return 0;
}

static int put_peer(struct nl_msg *msg, char **words, int n)
{
	struct nlattr *nest = nla_nest_start(msg, IFLA_LABNIC_PEER);
	struct ifinfomsg *ifm = nlmsg_reserve(msg, sizeof(*ifm), NLMSG_ALIGNTO);

	if (!nest || !ifm)
		die("the request is too long");
	memset(ifm, 0, sizeof(*ifm));
	put_end(msg, words, n, true, NULL);
	nla_nest_end(msg, nest);
	return 0;
}

static struct nl_msg *new_request(int type, int flags, const char *name)
{
	struct ifinfomsg ifm = { .ifi_family = AF_UNSPEC };

	if (name)
		ifm.ifi_index = index_of(name);
	return new_message(type, flags, &ifm, sizeof(ifm));
}

void command_add(char **words, int n)
{
	struct nl_msg *msg;
	int err;

	if (n < 1)
		die("add needs a name");
	msg = new_request(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
			  NULL);
	put_end(msg, words, n, false, put_peer);
	err = transact(msg, NULL, NULL);
	while (n_named_netns)
		close(named_netns[--n_named_netns]);
	finish(err, "add", words[0]);
}

void command_set(char **words, int n)
{
	struct nlattr *info, *data;
	struct nl_msg *msg;
	int i;

	if (n < 3 || !(n & 1))
		die("set needs a name, and pairs of parameter and value");
	msg = new_request(RTM_NEWLINK, NLM_F_REQUEST | NLM_F_ACK, words[0]);
	info = nla_nest_start(msg, IFLA_LINKINFO);
	MUST(nla_put_string(msg, IFLA_INFO_KIND, "labnic"));
	data = nla_nest_start(msg, IFLA_INFO_DATA);
	for (i = 1; i < n; i += 2)
		put_link_param(msg, words[i], words[i + 1]);
	nla_nest_end(msg, data);
	nla_nest_end(msg, info);
	finish(transact(msg, NULL, NULL), "set", words[0]);
}

static int show_link(struct nl_msg *msg, void *arg)
{
	struct nlattr *tb[IFLA_MAX + 1], *info[IFLA_INFO_MAX + 1];
	struct nlattr *data[IFLA_LABNIC_MAX + 1];
	struct nlmsghdr *head = nlmsg_hdr(msg);
	struct ifinfomsg *ifm = nlmsg_data(head);
	const struct param *p;
	int *shown = arg;

	if (head->nlmsg_type != RTM_NEWLINK ||
	    nlmsg_parse(head, sizeof(*ifm), tb, IFLA_MAX, NULL) || !tb[IFLA_IFNAME] ||
	    !tb[IFLA_LINKINFO] || nla_parse_nested(info, IFLA_INFO_MAX, tb[IFLA_LINKINFO], NULL) ||
	    !info[IFLA_INFO_KIND] || strcmp(nla_get_string(info[IFLA_INFO_KIND]), "labnic") ||
	    !info[IFLA_INFO_DATA] ||
	    nla_parse_nested(data, IFLA_LABNIC_MAX, info[IFLA_INFO_DATA], NULL))
		return NL_SKIP;
	printf("%s  {\n    \"ifname\": \"%s\",\n    \"ifindex\": %d,\n",
	       (*shown)++ ? ",\n" : "", nla_get_string(tb[IFLA_IFNAME]), ifm->ifi_index);
	if (tb[IFLA_LINK])
		printf("    \"peer_ifindex\": %u,\n", nla_get_u32(tb[IFLA_LINK]));
	printf("    \"carrier\": %s,\n",
	       tb[IFLA_CARRIER] && nla_get_u8(tb[IFLA_CARRIER]) ? "true" : "false");
	printf("    \"phc_index\": %" PRId64, get_s64(data[IFLA_LABNIC_PHC_INDEX]));
	for (p = params; p->name; p++) {
		printf(",\n    ");
		print_param(p, get_s64(data[p->attr]));
	}
	printf("\n  }");
	return NL_OK;
}

void command_show(char **words, int n)
{
	struct nl_msg *msg;
	int shown = 0, err;

	if (n > 1)
		die("show takes one name or none");
	/* One device is answered and acknowledged, a dump only finished. */
	msg = new_request(RTM_GETLINK, NLM_F_REQUEST | (n ? NLM_F_ACK : NLM_F_DUMP),
			  n ? words[0] : NULL);
	printf("[\n");
	err = transact(msg, show_link, &shown);
	printf("%s]\n", shown ? "\n" : "");
	finish(err, "show", n ? words[0] : "links");
	if (n && !shown)
		die("'%s' is not a labnic", words[0]);
}

void command_params(void)
{
	list_params(params);
}
