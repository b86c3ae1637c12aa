/* SPDX-License-Identifier: GPL-2.0 */
#include_next <linux/socket.h>
#include <arpa/inet.h>
#include <sys/socket.h>
