// SPDX-License-Identifier: GPL-2.0
/*
 * or_port: forward delays, from the module that knows them to those that use them
 */
#include <linux/export.h>
#include <linux/rcupdate.h>

#include <or_delay.h>

/* Of sch_onramp, the one module that has some. */
static or_delay_fn __rcu *or_delay_source;

/* or_delay_register() - begin to tell delays by a function, of one module; process context */
void or_delay_register(or_delay_fn *fn)
{
	rcu_assign_pointer(or_delay_source, fn);
}
EXPORT_SYMBOL_GPL(or_delay_register);

/* or_delay_unregister() - undo or_delay_register(): no call of its function goes on; sleeps */
void or_delay_unregister(void)
{
	RCU_INIT_POINTER(or_delay_source, NULL);
	synchronize_rcu();
}
EXPORT_SYMBOL_GPL(or_delay_unregister);

/**
 * or_delay() - write the newest delay of a connection
 * @sk: a TCP socket
 * @now_ns: CLOCK_MONOTONIC, ns
 * @delay: written if true
 *
 * Context: any but hard interrupts.
 * Return: whether any is known.
 */
bool or_delay(const struct sock *sk, u64 now_ns, struct or_delay *delay)
{
	or_delay_fn *fn;
	bool known;

	rcu_read_lock();
	fn = rcu_dereference(or_delay_source);
	known = fn && fn(sk, now_ns, delay);
	rcu_read_unlock();
	return known;
}
EXPORT_SYMBOL_GPL(or_delay);
