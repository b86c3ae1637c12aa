/* SPDX-License-Identifier: GPL-2.0 */
#ifndef DCLOAD_REPORT_H
#define DCLOAD_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "hist.h"
#include "json.h"
#include "net.h"

double bit_s(uint64_t bytes, uint64_t ns);
void put_hist(struct json_writer *w, const struct hist *h, double unit,
	      bool buckets);
void put_counters(struct json_writer *w, const char *key,
		  const struct counters *n);

#endif /* DCLOAD_REPORT_H */
