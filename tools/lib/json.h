/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_JSON_H
#define TOOLS_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_MAX_DEPTH	64

/*
 * Writer. A NULL key is for the outermost value and for items of arrays. An
 * array opened with "compact" is written on one line.
 */
struct json_writer {
	FILE *f;
	unsigned int depth;
	unsigned int compact;		/* depth at which it began, 0: none */
	bool filled[JSON_MAX_DEPTH];	/* level has an item already */
};

FILE *json_file_open(const char *path);
void json_file_close(FILE *f, const char *path);
void json_begin(struct json_writer *w, FILE *f);
void json_finish(struct json_writer *w);
void json_open(struct json_writer *w, const char *key, char bracket, bool compact);
void json_close(struct json_writer *w, char bracket);
void json_string(struct json_writer *w, const char *key, const char *value);
void json_u64(struct json_writer *w, const char *key, uint64_t value);
void json_double(struct json_writer *w, const char *key, double value);
void json_bool(struct json_writer *w, const char *key, bool value);

/* Reader. */
enum json_type {
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

struct json_value {
	enum json_type type;
	char *key;			/* of a member of an object */
	char *text;			/* number as written, string decoded */
	struct json_value *child;	/* of arrays and objects */
	struct json_value *next;	/* sibling */
};

struct json_value *json_parse(const char *text, size_t len, size_t *error_at);
const struct json_value *json_path(const struct json_value *v, const char *path);
void json_print(const struct json_value *v, FILE *f);
void json_free(struct json_value *v);

#endif /* TOOLS_JSON_H */
