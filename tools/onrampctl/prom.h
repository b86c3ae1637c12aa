/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ONRAMPCTL_PROM_H
#define ONRAMPCTL_PROM_H

#include <stdio.h>

#include "ctl.h"

void prom_write(FILE *f, const json_t *facts, const json_t *report);
int cmd_prometheus(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_PROM_H */
