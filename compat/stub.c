// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for a module that could not be built for this kernel, where DKMS would otherwise
 * install none of the others. Loading it fails, and says why.
 */
#include <linux/errno.h>
#include <linux/init.h>
#include <linux/module.h>
#include <linux/printk.h>

#include <onramp_version.h>

static int __init stub_init(void)
{
	pr_err("%s: could not be built for this kernel: see /var/lib/dkms/onramp/%s/*/*/log/make.log\n",
	       KBUILD_MODNAME, ONRAMP_VERSION);
	return -ENOPKG;
}
module_init(stub_init);

MODULE_DESCRIPTION("Stub of a module of onramp that could not be built for this kernel");
MODULE_INFO(onramp_stub, "Y");
MODULE_VERSION(ONRAMP_VERSION);
MODULE_LICENSE("GPL");
