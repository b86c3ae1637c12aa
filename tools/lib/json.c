// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"
#include "json.h"

static void put_string(FILE *f, const char *s)
{
	fputc('"', f);
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20)
			fprintf(f, "\\u%04x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void newline(struct json_writer *w)
{
	unsigned int i;

	fputc('\n', w->f);
	for (i = 0; i < w->depth; i++)
		fputc('\t', w->f);
}

static void item(struct json_writer *w, const char *key)
{
	if (w->filled[w->depth])
		fputs(w->compact ? ", " : ",", w->f);
	if (w->depth && !w->compact)
		newline(w);
	w->filled[w->depth] = true;
	if (key) {
		put_string(w->f, key);
		fputs(": ", w->f);
	}
}

/**
 * json_file_open() - open a result file for writing, or exit
 * @path: path, "-" for standard output
 */
FILE *json_file_open(const char *path)
{
	FILE *f = strcmp(path, "-") ? fopen(path, "we") : stdout;

	if (!f)
		die("cannot write %s: %s", path, strerror(errno));
	return f;
}

/**
 * json_file_close() - finish a result file; exit if it could not be written
 * @f: result of json_file_open()
 * @path: its path
 */
void json_file_close(FILE *f, const char *path)
{
	if (fflush(f) || ferror(f) || (f != stdout && fclose(f)))
		die("cannot write %s: %s", path, strerror(errno));
}

void json_begin(struct json_writer *w, FILE *f)
{
	memset(w, 0, sizeof(*w));
	w->f = f;
}

void json_finish(struct json_writer *w)
{
	fputc('\n', w->f);
}

/**
 * json_open() - begin an object or an array
 * @w: writer
 * @key: name in the object around it, or NULL
 * @bracket: '{' or '['
 * @compact: keep it on one line
 */
void json_open(struct json_writer *w, const char *key, char bracket, bool compact)
{
	item(w, key);
	fputc(bracket, w->f);
	w->depth++;
	if (w->depth >= JSON_MAX_DEPTH)
		die("JSON nested more than %d levels", JSON_MAX_DEPTH);
	w->filled[w->depth] = false;
	if (compact && !w->compact)
		w->compact = w->depth;
}

/**
 * json_close() - end an object or array of json_open()
 * @w: writer
 * @bracket: '}' or ']'
 */
void json_close(struct json_writer *w, char bracket)
{
	bool compact = w->compact, filled = w->filled[w->depth];

	if (w->compact == w->depth)
		w->compact = 0;
	w->depth--;
	if (!compact && filled)
		newline(w);
	fputc(bracket, w->f);
}

void json_string(struct json_writer *w, const char *key, const char *value)
{
	item(w, key);
	put_string(w->f, value);
}

void json_u64(struct json_writer *w, const char *key, uint64_t value)
{
	item(w, key);
	fprintf(w->f, "%" PRIu64, value);
}

/**
 * json_double() - write a number
 * @w: writer
 * @key: name, or NULL
 * @value: number; infinite ones and NAN become null
 */
void json_double(struct json_writer *w, const char *key, double value)
{
	item(w, key);
	if (isfinite(value))
		fprintf(w->f, "%.10g", value);
	else
		fputs("null", w->f);
}

void json_bool(struct json_writer *w, const char *key, bool value)
{
	item(w, key);
	fputs(value ? "true" : "false", w->f);
}

struct parser {
	const char *p;
	const char *end;
};

static void skip_blank(struct parser *ps)
{
	while (ps->p < ps->end && strchr(" \t\r\n", *ps->p) && *ps->p)
		ps->p++;
}

static bool literal(struct parser *ps, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(ps->end - ps->p) < n || memcmp(ps->p, word, n))
		return false;
	ps->p += n;
	return true;
}

static char *put_utf8(char *out, unsigned int c)
{
	if (c < 0x80) {
		*out++ = (char)c;
	} else if (c < 0x800) {
		*out++ = (char)(0xc0 | c >> 6);
		*out++ = (char)(0x80 | (c & 0x3f));
	} else {
		*out++ = (char)(0xe0 | c >> 12);
		*out++ = (char)(0x80 | (c >> 6 & 0x3f));
		*out++ = (char)(0x80 | (c & 0x3f));
	}
	return out;
}

/* Surrogate pairs stay two three-byte sequences: names are never that exotic. */
static bool hex4(struct parser *ps, unsigned int *c)
{
	int i;

	*c = 0;
	for (i = 0; i < 4; i++, ps->p++) {
		if (ps->p == ps->end || !isxdigit((unsigned char)*ps->p))
			return false;
		*c = *c * 16 + (isdigit((unsigned char)*ps->p) ?
				(unsigned int)(*ps->p - '0') :
				(unsigned int)((*ps->p | 0x20) - 'a' + 10));
	}
	return *c != 0;
}

static char *parse_string(struct parser *ps)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *q, *which;
	unsigned int c;
	char *s, *out;

	if (ps->p == ps->end || *ps->p != '"')
		return NULL;
	ps->p++;
	/* A decoded string is never longer than its source. */
	for (q = ps->p; q < ps->end && *q != '"'; q++)
		if (*q == '\\')
			q++;
	if (q >= ps->end)
		return NULL;
	out = xcalloc((size_t)(q - ps->p) + 1, 1);
	s = out;
	while (*ps->p != '"') {
		if ((unsigned char)*ps->p < 0x20)
			goto bad;
		if (*ps->p != '\\') {
			*out++ = *ps->p++;
			continue;
		}
		ps->p++;
		if (*ps->p == 'u') {
			ps->p++;
			if (!hex4(ps, &c))
				goto bad;
			out = put_utf8(out, c);
			continue;
		}
		which = strchr(from, *ps->p);
		if (!which || !*which)
			goto bad;
		*out++ = to[which - from];
		ps->p++;
	}
	ps->p++;
	return s;
bad:
	free(s);
	return NULL;
}

static bool digits(struct parser *ps)
{
	const char *begin = ps->p;

	while (ps->p < ps->end && isdigit((unsigned char)*ps->p))
		ps->p++;
	return ps->p > begin;
}

static bool parse_number(struct parser *ps, struct json_value *v)
{
	const char *begin = ps->p;

	if (*ps->p == '-')
		ps->p++;
	if (!digits(ps))
		return false;
	if (ps->p < ps->end && *ps->p == '.') {
		ps->p++;
		if (!digits(ps))
			return false;
	}
	if (ps->p < ps->end && (*ps->p == 'e' || *ps->p == 'E')) {
		ps->p++;
		if (ps->p < ps->end && (*ps->p == '+' || *ps->p == '-'))
			ps->p++;
		if (!digits(ps))
			return false;
	}
	v->type = JSON_NUMBER;
	v->text = xcalloc((size_t)(ps->p - begin) + 1, 1);
	memcpy(v->text, begin, (size_t)(ps->p - begin));
	return true;
}

static bool parse_value(struct parser *ps, struct json_value *v, int depth);

static bool parse_members(struct parser *ps, struct json_value *v, int depth)
{
	bool object = *ps->p++ == '{';
	struct json_value **tail = &v->child;
	char close = object ? '}' : ']';

	v->type = object ? JSON_OBJECT : JSON_ARRAY;
	skip_blank(ps);
	if (ps->p < ps->end && *ps->p == close) {
		ps->p++;
		return true;
	}
	for (;;) {
		struct json_value *member = xcalloc(1, sizeof(*member));

		*tail = member;
		tail = &member->next;
		skip_blank(ps);
		if (object) {
			member->key = parse_string(ps);
			if (!member->key)
				return false;
			skip_blank(ps);
			if (!literal(ps, ":"))
				return false;
		}
		if (!parse_value(ps, member, depth + 1))
			return false;
		skip_blank(ps);
		if (ps->p == ps->end)
			return false;
		if (*ps->p == close) {
			ps->p++;
			return true;
		}
		if (!literal(ps, ","))
			return false;
	}
}

static bool parse_value(struct parser *ps, struct json_value *v, int depth)
{
	skip_blank(ps);
	if (ps->p == ps->end || depth >= JSON_MAX_DEPTH)
		return false;
	switch (*ps->p) {
	case '{':
	case '[':
		return parse_members(ps, v, depth);
	case '"':
		v->type = JSON_STRING;
		v->text = parse_string(ps);
		return v->text;
	case 't':
		v->type = JSON_TRUE;
		return literal(ps, "true");
	case 'f':
		v->type = JSON_FALSE;
		return literal(ps, "false");
	case 'n':
		return literal(ps, "null");
	default:
		return parse_number(ps, v);
	}
}

/**
 * json_parse() - read one JSON document
 * @text: document, need not end in a NUL
 * @len: its length in bytes
 * @error_at: result: offset of the first byte in error
 *
 * Return: the document's root, to be given to json_free(); NULL on error.
 */
struct json_value *json_parse(const char *text, size_t len, size_t *error_at)
{
	struct parser ps = { .p = text, .end = text + len };
	struct json_value *v = xcalloc(1, sizeof(*v));

	if (parse_value(&ps, v, 0)) {
		skip_blank(&ps);
		if (ps.p == ps.end)
			return v;
	}
	*error_at = (size_t)(ps.p - text);
	json_free(v);
	return NULL;
}

/**
 * json_path() - find a value
 * @v: root
 * @path: names of members and numbers of items (from 0), joined by dots;
 *	empty for the root itself
 *
 * Return: the value, NULL if there is none.
 */
const struct json_value *json_path(const struct json_value *v, const char *path)
{
	while (*path) {
		size_t n = strcspn(path, ".");
		const struct json_value *c;
		unsigned long i = 0, want;

		want = isdigit((unsigned char)*path) ? strtoul(path, NULL, 10) :
						       (unsigned long)-1;
		for (c = v->child; c; c = c->next, i++) {
			if (v->type == JSON_ARRAY ? i == want :
			    strlen(c->key) == n && !memcmp(c->key, path, n))
				break;
		}
		if (!c)
			return NULL;
		v = c;
		path += n;
		if (*path == '.')
			path++;
	}
	return v;
}

/**
 * json_print() - print a value for a script
 * @v: value
 * @f: stream
 *
 * A string is printed without quotes if it is @v itself; arrays and objects are printed on
 * one line, as JSON.
 */
void json_print(const struct json_value *v, FILE *f)
{
	const struct json_value *c;

	switch (v->type) {
	case JSON_NULL:
		fputs("null", f);
		break;
	case JSON_FALSE:
		fputs("false", f);
		break;
	case JSON_TRUE:
		fputs("true", f);
		break;
	case JSON_NUMBER:
	case JSON_STRING:
		fputs(v->text, f);
		break;
	case JSON_ARRAY:
	case JSON_OBJECT:
		fputc(v->type == JSON_ARRAY ? '[' : '{', f);
		for (c = v->child; c; c = c->next) {
			if (c->key) {
				put_string(f, c->key);
				fputc(':', f);
			}
			if (c->type == JSON_STRING)
				put_string(f, c->text);
			else
				json_print(c, f);
			if (c->next)
				fputc(',', f);
		}
		fputc(v->type == JSON_ARRAY ? ']' : '}', f);
		break;
	}
}

void json_free(struct json_value *v)
{
	while (v) {
		struct json_value *next = v->next;

		json_free(v->child);
		free(v->key);
		free(v->text);
		free(v);
		v = next;
	}
}
