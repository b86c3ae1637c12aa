// SPDX-License-Identifier: GPL-2.0
/*
 * timely_ksock: a TCP socket of the kernel that outlives its namespace's tcp_timely
 *
 * Sockets of the kernel, as those of network file systems, hold no reference on their
 * namespace. Their owner closes them in an exit method, and if its module was loaded
 * before tcp_timely, that comes after tcp_timely's. Until then their timers run.
 *
 *	echo ADDRESS PORT >/sys/module/timely_ksock/parameters/connect
 *		open a connection in the writer's namespace, by its default congestion control,
 *		and send
 *	cat /sys/module/timely_ksock/parameters/result
 *		of the last namespace that went with such a socket in it: "timeouts N
 *		changed N", the socket's timeouts after tcp_timely's exit method, and the
 *		bytes that changed meanwhile in memory that was allocated there. Empty
 *		before.
 *
 * The memory is as much as makes it likely that some of it is what the namespace gave
 * back, so that a use of that shows without KASAN as well.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/delay.h>
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/net.h>
#include <linux/nsproxy.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <net/net_namespace.h>
#include <net/netns/generic.h>
#include <net/sock.h>
#include <net/tcp.h>

/* Blocks of each size, bytes, and of each per-CPU size. */
#define KSOCK_BLOCKS	256
static const unsigned int ksock_sizes[] = { 256, 512, 1024 };

/* A rate or a number of events that nobody has. */
#define KSOCK_FILL	0x5a

/* Two timeouts at least, as the first wait is doubled each time. */
#define KSOCK_WAIT_MS	4000

struct ksock_net {
	struct socket *sock;
};

struct ksock_memory {
	u8 *block[ARRAY_SIZE(ksock_sizes)][KSOCK_BLOCKS];
	u8 __percpu *percpu[ARRAY_SIZE(ksock_sizes)][KSOCK_BLOCKS];
};

static unsigned int ksock_net_id __read_mostly;
static DEFINE_MUTEX(ksock_mutex);	/* ksock_result, ksock_net.sock */
static char ksock_result[64];

static struct ksock_memory *ksock_allocate(void)
{
	struct ksock_memory *m = kvzalloc(sizeof(*m), GFP_KERNEL);
	unsigned int i, k;
	int cpu;

	for (i = 0; m && i < ARRAY_SIZE(ksock_sizes); i++) {
		for (k = 0; k < KSOCK_BLOCKS; k++) {
			m->block[i][k] = kmalloc(ksock_sizes[i], GFP_KERNEL_ACCOUNT);
			if (m->block[i][k])
				memset(m->block[i][k], KSOCK_FILL, ksock_sizes[i]);
			m->percpu[i][k] = __alloc_percpu(ksock_sizes[i], sizeof(long));
			if (!m->percpu[i][k])
				continue;
			for_each_possible_cpu(cpu)
				memset(per_cpu_ptr(m->percpu[i][k], cpu), KSOCK_FILL,
				       ksock_sizes[i]);
		}
	}
	return m;
}

static unsigned int ksock_differs(const u8 *p, unsigned int bytes)
{
	unsigned int n = 0;

	while (p && bytes--)
		n += *p++ != KSOCK_FILL;
	return n;
}

/* Free it, and return how many bytes were changed. */
static unsigned int ksock_free(struct ksock_memory *m)
{
	unsigned int i, k, changed = 0;
	int cpu;

	for (i = 0; m && i < ARRAY_SIZE(ksock_sizes); i++) {
		for (k = 0; k < KSOCK_BLOCKS; k++) {
			changed += ksock_differs(m->block[i][k], ksock_sizes[i]);
			kfree(m->block[i][k]);
			if (!m->percpu[i][k])
				continue;
			for_each_possible_cpu(cpu)
				changed += ksock_differs(per_cpu_ptr(m->percpu[i][k], cpu),
							 ksock_sizes[i]);
			free_percpu(m->percpu[i][k]);
		}
	}
	kvfree(m);
	return changed;
}

static int ksock_connect(struct net *net, __be32 address, u16 port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = address,
	};
	struct ksock_net *kn = net_generic(net, ksock_net_id);
	static u8 data[16384];
	struct kvec vec = { .iov_base = data, .iov_len = sizeof(data) };
	struct msghdr msg = { .msg_flags = MSG_DONTWAIT };
	struct socket *sock;
	int err;

	lockdep_assert_held(&ksock_mutex);
	if (kn->sock)
		return -EBUSY;
	err = sock_create_kern(net, AF_INET, SOCK_STREAM, IPPROTO_TCP, &sock);
	if (err)
		return err;
	/* A namespace that is gone waits for no FIN. */
	sock_no_linger(sock->sk);
	/* The type of the address depends on the kernel. */
	err = kernel_connect(sock, (void *)&to, sizeof(to), 0);
	if (err)
		goto release;
	err = kernel_sendmsg(sock, &msg, &vec, 1, sizeof(data));
	if (err < 0)
		goto release;
	kn->sock = sock;
	return 0;

release:
	sock_release(sock);
	return err;
}

static int connect_set(const char *val, const struct kernel_param *kp)
{
	const char *end;
	__be32 address;
	u16 port;
	int err;

	if (!in4_pton(val, -1, (u8 *)&address, ' ', &end))
		return -EINVAL;
	err = kstrtou16(skip_spaces(end), 10, &port);
	if (err)
		return err;
	mutex_lock(&ksock_mutex);
	ksock_result[0] = '\0';
	err = ksock_connect(current->nsproxy->net_ns, address, port);
	mutex_unlock(&ksock_mutex);
	return err;
}

static const struct kernel_param_ops connect_ops = { .set = connect_set };
module_param_cb(connect, &connect_ops, NULL, 0200);

static int result_get(char *buf, const struct kernel_param *kp)
{
	int n;

	mutex_lock(&ksock_mutex);
	n = sysfs_emit(buf, "%s", ksock_result);
	mutex_unlock(&ksock_mutex);
	return n;
}

static const struct kernel_param_ops result_ops = { .get = result_get };
module_param_cb(result, &result_ops, NULL, 0400);

static void __net_exit ksock_net_exit(struct net *net)
{
	struct ksock_net *kn = net_generic(net, ksock_net_id);
	unsigned int before, timeouts, changed;
	struct inet_connection_sock *icsk;
	struct ksock_memory *memory;

	if (!kn->sock)
		return;
	icsk = inet_csk(kn->sock->sk);
	memory = ksock_allocate();
	before = READ_ONCE(icsk->icsk_retransmits);
	msleep(KSOCK_WAIT_MS);
	timeouts = READ_ONCE(icsk->icsk_retransmits) - before;
	changed = ksock_free(memory);
	sock_release(kn->sock);

	mutex_lock(&ksock_mutex);
	scnprintf(ksock_result, sizeof(ksock_result), "timeouts %u changed %u\n",
		  timeouts, changed);
	mutex_unlock(&ksock_mutex);
}

static struct pernet_operations ksock_net_ops = {
	.exit	= ksock_net_exit,
	.id	= &ksock_net_id,
	.size	= sizeof(struct ksock_net),
};

static int __init ksock_init(void)
{
	return register_pernet_subsys(&ksock_net_ops);
}

static void __exit ksock_exit(void)
{
	unregister_pernet_subsys(&ksock_net_ops);
}

module_init(ksock_init);
module_exit(ksock_exit);

MODULE_DESCRIPTION("Test: a kernel socket that outlives tcp_timely's part of its namespace");
MODULE_LICENSE("GPL");
