/* SPDX-License-Identifier: GPL-2.0 */
/* The program nic_ts, which is also a part of onrampctl. */
#ifndef NIC_TS_PROGRAM_H
#define NIC_TS_PROGRAM_H

/**
 * struct nic_ts_as - how it fails
 * @name:	program, in front of errors
 * @status:	exit status
 */
struct nic_ts_as {
	const char *name;
	int status;
};

extern struct nic_ts_as nic_ts_as;

int nic_ts_main(int argc, char **argv);

#endif /* NIC_TS_PROGRAM_H */
