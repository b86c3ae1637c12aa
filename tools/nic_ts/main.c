// SPDX-License-Identifier: GPL-2.0
/* nic_ts by itself, for guests that have no onrampctl. */
#include "nic_ts.h"

int main(int argc, char **argv)
{
	return nic_ts_main(argc, argv);
}
