/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_REPORT_H
#define DCLOAD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "hist.h"
#include "json.h"
#include "net.h"

void put_head(struct json_writer *w, const char *tool);
void put_interval(struct json_writer *w, double start_s, uint64_t start_boot_ns,
		  uint64_t took_ns);
double bit_s(uint64_t bytes, uint64_t ns);
void put_hist(struct json_writer *w, const struct hist *h, double unit,
	      bool buckets);
void put_counters(struct json_writer *w, const char *key,
		  const struct counters *n);

#endif /* DCLOAD_REPORT_H */
