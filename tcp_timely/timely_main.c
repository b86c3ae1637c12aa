// SPDX-License-Identifier: GPL-2.0
/*
 * tcp_timely: loading and unloading.
 */
#include <linux/module.h>

#include <onramp_version.h>

#include "timely.h"

static int __init timely_module_init(void)
{
	int err;

	err = timely_net_register();
	if (err)
		return err;
	err = timely_genl_register();
	if (err)
		goto unregister_net;
	err = timely_tcp_register();
	if (err)
		goto unregister_genl;
	return 0;

unregister_genl:
	timely_genl_unregister();
unregister_net:
	timely_net_unregister();
	return err;
}

static void __exit timely_module_exit(void)
{
	timely_tcp_unregister();
	timely_genl_unregister();
	timely_net_unregister();
}

/* Built in, after or_port. */
late_initcall_sync(timely_module_init);
module_exit(timely_module_exit);

MODULE_DESCRIPTION("TIMELY: RTT-gradient congestion control");
MODULE_AUTHOR("The onramp authors");
MODULE_LICENSE("GPL");
MODULE_VERSION(ONRAMP_VERSION);
