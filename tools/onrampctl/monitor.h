/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ONRAMPCTL_MONITOR_H
#define ONRAMPCTL_MONITOR_H

#include <stdio.h>

#include "ctl.h"

void monitor_line(FILE *f, const json_t *event);
int cmd_monitor(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_MONITOR_H */
