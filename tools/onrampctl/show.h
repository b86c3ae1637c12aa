/* SPDX-License-Identifier: GPL-2.0 */
/*
 * onrampctl show: rows from facts, written as JSON, or as a table.
 */
#ifndef ONRAMPCTL_SHOW_H
#define ONRAMPCTL_SHOW_H

#include "ctl.h"
#include "sockets.h"

/* Format of a row's value in a table. */
enum look_as {
	LOOK_TEXT,
	LOOK_COUNT,	/* 9.8k */
	LOOK_NS,	/* 74us */
	LOOK_US,
	LOOK_MS,
	LOOK_RATE,	/* bit/s, 3.1G */
	LOOK_SHARE,	/* 0 to 1, 61% */
};

/**
 * struct column - of a table
 * @title:	its head
 * @key:	of the value in a row; "-" if it is not there
 * @look:	how it is written
 */
struct column {
	const char *title, *key;
	enum look_as look;
};

void show_value(char *s, size_t size, const json_t *v, enum look_as look);
const char *show_rate(char *s, size_t size, const json_t *v);
size_t show_fitting(const json_t *rows, const struct column *columns, size_t n, size_t least,
		    size_t gap, size_t room);
void names_put(json_t *rows);
void show_table(const json_t *rows, const struct column *columns, size_t n);

/* Rows, owned by the caller. */
json_t *rows_devices(const json_t *facts, bool all);
json_t *rows_paths(const json_t *facts);
json_t *rows_subscribers(const json_t *facts);
json_t *rows_clocks(const json_t *facts);
json_t *rows_counters(const json_t *facts, const char *file, bool all);
json_t *row_flow(const struct flow *f);

int cmd_show(const struct ctl *ctl, int argc, char **argv);

#endif /* ONRAMPCTL_SHOW_H */
