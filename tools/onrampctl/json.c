// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "ctl.h"

/**
 * j_get() - return a value inside of objects
 * @o: outermost object, or NULL
 * @path: keys, separated by slashes; at most 63 characters each
 *
 * Return: the value, borrowed; NULL if it is not there, or is null.
 */
const json_t *j_get(const json_t *o, const char *path)
{
	char key[64];

	while (o && *path) {
		size_t n = strcspn(path, "/");

		if (n >= sizeof(key))
			return NULL;
		memcpy(key, path, n);
		key[n] = '\0';
		o = json_object_get(o, key);
		path += n + (path[n] == '/');
	}
	return json_is_null(o) ? NULL : o;
}

/**
 * j_int() - return a whole number, or a string of digits as one
 * @o: outermost object, or NULL
 * @path: as for j_get()
 * @out: result, untouched if there is none
 *
 * Return: true if it is there.
 */
bool j_int(const json_t *o, const char *path, int64_t *out)
{
	const json_t *v = j_get(o, path);

	if (json_is_integer(v))
		*out = json_integer_value(v);
	else if (json_is_boolean(v))
		*out = json_is_true(v);
	else
		return false;
	return true;
}

int64_t j_int_or(const json_t *o, const char *path, int64_t other)
{
	j_int(o, path, &other);
	return other;
}

const char *j_str(const json_t *o, const char *path)
{
	return json_string_value(j_get(o, path));
}

bool j_is(const json_t *o, const char *path, const char *text)
{
	const char *s = j_str(o, path);

	return s && !strcmp(s, text);
}

bool j_true(const json_t *o, const char *path)
{
	return json_is_true(j_get(o, path));
}

/**
 * j_set() - set a member of an object
 * @o: object
 * @key: name
 * @value: taken over; NULL is no memory, or text that is not UTF-8: shown as null
 */
void j_set(json_t *o, const char *key, json_t *value)
{
	if (!value)
		value = json_null();
	if (json_object_set_new(o, key, value))
		die_unknown("out of memory");
}

/* jansson has no larger integers; no counter comes near. */
void j_set_u64(json_t *o, const char *key, uint64_t value)
{
	j_set(o, key, json_integer(value > INT64_MAX ? INT64_MAX : (int64_t)value));
}

void j_print(const json_t *o)
{
	if (json_dumpf(o, stdout, JSON_INDENT(2) | JSON_ENSURE_ASCII) || putchar('\n') == EOF ||
	    fflush(stdout))
		die_unknown("cannot write to stdout");
}

/**
 * j_clean() - make a name of the kernel's fit for JSON
 * @out: room for @size bytes, the terminating one included
 * @size: of @out, at least 1
 * @name: name in the kernel; that of a device may have any bytes
 * @len: of it, the terminating byte included if there is one
 *
 * Return: @out, with a question mark for each byte that is not printable ASCII.
 */
const char *j_clean(char *out, size_t size, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i + 1 < size && i < len && name[i]; i++)
		out[i] = name[i] > ' ' && name[i] <= '~' ? name[i] : '?';
	out[i] = '\0';
	return out;
}
