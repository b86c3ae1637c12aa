/* SPDX-License-Identifier: GPL-2.0 */
#ifndef ONRAMPCTL_TRACE_H
#define ONRAMPCTL_TRACE_H

#include <stdio.h>

#include "look.h"

void trace_head(FILE *f);
void trace_line(FILE *f, uint64_t begin_ns, const struct look *a, const struct look *b);
void trace_plot(FILE *f, const char *csv);
int cmd_trace(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_TRACE_H */
