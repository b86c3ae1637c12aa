// SPDX-License-Identifier: GPL-2.0
/*
 * Files of /proc as JSON. Those of a newer module may have more lines or columns, those of an
 * older one fewer: only their form is checked, and lines of another form are left out.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctl.h"

/* A word as a number if it is one, null if it is "-", otherwise as text. */
static json_t *text_value(const char *word, size_t n)
{
	char digits[32];
	long long v;
	char *end;

	if (n == 1 && *word == '-')
		return json_null();
	if (n < sizeof(digits) && (isdigit((unsigned char)*word) || (n > 1 && *word == '-'))) {
		memcpy(digits, word, n);
		digits[n] = '\0';
		errno = 0;
		v = strtoll(digits, &end, 10);
		if (!*end && !errno)
			return json_integer(v);
	}
	return json_stringn(word, n);
}

/**
 * text_counters() - read lines of "Name value"
 * @text: the file
 *
 * Return: an object, owned by the caller. Lines of another form are left out.
 */
json_t *text_counters(const char *text)
{
	json_t *o = json_object();

	while (*text) {
		size_t line = strcspn(text, "\n"), n = strcspn(text, " \t\n");
		const char *value = text + n + strspn(text + n, " \t");
		size_t len = strcspn(value, " \t\n");
		char key[64];
		json_t *v;

		if (n && n < sizeof(key) && n < line && len && value + len == text + line) {
			memcpy(key, text, n);
			key[n] = '\0';
			v = text_value(value, len);
			/* Text that is no UTF-8 has no value, and its key may be none either. */
			if (v && json_object_set_new(o, key, v))
				v = NULL;
		}
		text += line + (text[line] == '\n');
	}
	return o;
}

/**
 * text_table() - read a table whose first line has the names of its columns
 * @text: the file; columns are separated by blanks
 *
 * Return: an array of objects, owned by the caller. Lines with fewer or more columns than
 * the first are left out.
 */
json_t *text_table(const char *text)
{
	json_t *rows = json_array(), *row;
	char names[32][32];
	size_t columns = 0;
	bool first = true;

	while (*text) {
		size_t line = strcspn(text, "\n"), column = 0;
		const char *end = text + line;
		bool good = true;

		row = json_object();
		while (text < end) {
			size_t n;

			text += strspn(text, " \t");
			n = strcspn(text, " \t\n");
			if (!n)
				break;
			if (first && (column >= ARRAY_SIZE(names) || n >= sizeof(names[0]))) {
				good = false;
			} else if (first) {
				memcpy(names[column], text, n);
				names[column][n] = '\0';
			} else if (column < columns) {
				json_t *v = text_value(text, n);

				if (!v || json_object_set_new(row, names[column], v))
					good = false;
			}
			column++;
			text += n;
		}
		text = end + (*end == '\n');
		if (first)
			columns = good ? column : 0;
		if (first || !good || column != columns || !columns)
			json_decref(row);
		else
			json_array_append_new(rows, row);
		first = false;
	}
	return rows;
}
