/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_SERVER_H
#define DCLOAD_SERVER_H

struct server_options;

int server_run(const struct server_options *o);

#endif /* DCLOAD_SERVER_H */
