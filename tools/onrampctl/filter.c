// SPDX-License-Identifier: GPL-2.0
#include <arpa/inet.h>
#include <ctype.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "parse.h"
#include "util.h"

/* Operators and brackets within each other, so that no expression uses up the stack. */
#define MAX_DEPTH	64
/* Conditions: each and is one deeper, too. */
#define MAX_CONDITIONS	256
/* Longest word of an expression. */
#define MAX_WORD	80

enum op { AND, OR, NOT, ADDRESS, PORT, CC };
enum relation { REL_EQ, REL_NE, REL_GT, REL_LT, REL_GE, REL_LE };

/**
 * struct filter - a condition
 * @op:		which
 * @relation:	of ADDRESS, PORT, CC
 * @remote:	of ADDRESS, PORT: of the other end
 * @family:	of ADDRESS: AF_INET, AF_INET6; 0 for any address
 * @address:	network order
 * @bits:	of it that count
 * @port:	of PORT; of ADDRESS 0 for any
 * @cc:		of CC
 * @a:		operand of AND, OR, NOT
 * @b:		second operand of AND, OR
 */
struct filter {
	enum op op;
	enum relation relation;
	bool remote;
	int family;
	uint8_t address[16];
	unsigned int bits;
	uint16_t port;
	char cc[16];
	struct filter *a, *b;
};

struct parser {
	char **argv;
	int argc, at;
	const char *rest;		/* of argv[at] */
	char word[MAX_WORD];		/* the next one, "" at the end */
	char *error;
	unsigned int depth, conditions;
	bool failed;
};

static struct filter *__printf(2, 3) fail(struct parser *p, const char *fmt, ...)
{
	va_list ap;

	if (!p->failed) {
		va_start(ap, fmt);
		vsnprintf(p->error, FILTER_ERROR, fmt, ap);
		va_end(ap);
	}
	p->failed = true;
	return NULL;
}

/* Signs that are words by themselves, the longest first. */
static size_t sign_length(const char *s)
{
	static const char * const signs[] = {
		"&&", "||", "==", "!=", ">=", "<=", "(", ")", "!", "=", ">", "<", "&", "|",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signs); i++)
		if (!strncmp(s, signs[i], strlen(signs[i])))
			return strlen(signs[i]);
	return 0;
}

static void next(struct parser *p)
{
	size_t n;

	p->word[0] = '\0';
	for (;;) {
		if (!p->rest) {
			if (p->at >= p->argc)
				return;
			p->rest = p->argv[p->at++];
		}
		p->rest += strspn(p->rest, " \t\n");
		if (*p->rest)
			break;
		p->rest = NULL;
	}
	n = sign_length(p->rest);
	if (!n)
		while (p->rest[n] && !isspace((unsigned char)p->rest[n]) &&
		       !sign_length(p->rest + n))
			n++;
	if (n >= sizeof(p->word)) {
		fail(p, "filter: '%.20s...' is too long", p->rest);
		n = sizeof(p->word) - 1;
	}
	memcpy(p->word, p->rest, n);
	p->word[n] = '\0';
	p->rest += n;
}

static bool is(const struct parser *p, const char *a, const char *b)
{
	return !strcmp(p->word, a) || !strcmp(p->word, b);
}

static struct filter *node(enum op op, struct filter *a, struct filter *b)
{
	struct filter *f = xcalloc(1, sizeof(*f));

	f->op = op;
	f->a = a;
	f->b = b;
	return f;
}

/* Read a relation if there is one; equality may be left out. */
static enum relation relation(struct parser *p)
{
	static const struct {
		const char *word;
		enum relation relation;
	} words[] = {
		{ "=", REL_EQ }, { "==", REL_EQ }, { "eq", REL_EQ },
		{ "!=", REL_NE }, { "ne", REL_NE }, { "neq", REL_NE },
		{ ">", REL_GT }, { "gt", REL_GT }, { "<", REL_LT }, { "lt", REL_LT },
		{ ">=", REL_GE }, { "ge", REL_GE }, { "geq", REL_GE },
		{ "<=", REL_LE }, { "le", REL_LE }, { "leq", REL_LE },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcmp(p->word, words[i].word))
			continue;
		next(p);
		return words[i].relation;
	}
	return REL_EQ;
}

/* "10.0.0.0/8:443", "[2001:db8::]/32", "[2001:db8::1]:443", "2001:db8::/32", ":443", "*" */
static bool address(struct filter *f, const char *word)
{
	char host[MAX_WORD], *slash, *port = NULL, *end;
	uint64_t v;

	snprintf(host, sizeof(host), "%s", word);
	if (*host == '[') {
		end = strchr(host, ']');
		if (!end)
			return false;
		port = strchr(end, ':');
		slash = strchr(end, '/');
		if (end[1] && end[1] != ':' && end[1] != '/')
			return false;
		*end = '\0';
		memmove(host, host + 1, strlen(host));
		f->family = AF_INET6;
	} else {
		end = strchr(host, ':');
		/* More than one: an IPv6 address without a port. */
		if (end && strchr(end + 1, ':'))
			f->family = AF_INET6;
		else
			port = end;
		slash = strchr(host, '/');
		if (!f->family && *host != ':' && *host != '*')
			f->family = AF_INET;
	}
	if (port) {
		*port++ = '\0';
		if (strcmp(port, "*") && !parse_u64(port, 1, 65535, &v))
			return false;
		f->port = strcmp(port, "*") ? (uint16_t)v : 0;
	}
	if (slash && (!port || slash < port))
		*slash++ = '\0';
	else
		slash = NULL;
	if (!f->family)
		return !slash && (!*host || !strcmp(host, "*"));
	if (inet_pton(f->family, host, f->address) != 1)
		return false;
	f->bits = f->family == AF_INET ? 32 : 128;
	if (slash) {
		if (!parse_u64(slash, 0, f->bits, &v))
			return false;
		f->bits = (unsigned int)v;
	}
	return true;
}

/* Set by the program; without it names are unknown. */
struct addrinfo *(*filter_lookup)(const char *name);

/* One of the addresses of a host. */
static struct filter *host_address(const struct addrinfo *a, bool remote, uint16_t port)
{
	struct filter *f = node(ADDRESS, NULL, NULL);

	f->remote = remote;
	f->port = port;
	f->family = a->ai_family;
	if (a->ai_family == AF_INET) {
		f->bits = 32;
		memcpy(f->address, &((const struct sockaddr_in *)a->ai_addr)->sin_addr, 4);
	} else {
		f->bits = 128;
		memcpy(f->address, &((const struct sockaddr_in6 *)a->ai_addr)->sin6_addr, 16);
	}
	return f;
}

/*
 * "db1.example.org" or "db1:443": any address of that host. Words that cannot be a name are not
 * looked up. NULL: it is unknown.
 */
static struct filter *host(const char *word, bool remote, enum relation relation)
{
	struct addrinfo *list, *a;
	struct filter *f = NULL, *one;
	char name[MAX_WORD], *colon;
	uint64_t port = 0;
	size_t i;

	snprintf(name, sizeof(name), "%s", word);
	colon = strchr(name, ':');
	if (colon) {
		*colon++ = '\0';
		if (!parse_u64(colon, 1, 65535, &port))
			return NULL;
	}
	for (i = 0; name[i]; i++)
		if (!isalnum((unsigned char)name[i]) && (!i || !strchr("-._", name[i])))
			return NULL;
	if (!name[strspn(name, "0123456789.")])
		return NULL;
	list = filter_lookup ? filter_lookup(name) : NULL;
	if (!list)
		return NULL;
	for (a = list; a; a = a->ai_next) {
		if (a->ai_family != AF_INET && a->ai_family != AF_INET6)
			continue;
		one = host_address(a, remote, (uint16_t)port);
		f = f ? node(OR, f, one) : one;
	}
	freeaddrinfo(list);
	return f && relation == REL_NE ? node(NOT, f, NULL) : f;
}

static struct filter *condition(struct parser *p)
{
	struct filter *named;
	struct filter *f;
	uint64_t v;

	if (++p->conditions > MAX_CONDITIONS)
		return fail(p, "filter: more than %d conditions", MAX_CONDITIONS);
	if (is(p, "src", "dst")) {
		f = node(ADDRESS, NULL, NULL);
		f->remote = *p->word == 'd';
		next(p);
		f->relation = relation(p);
		if (f->relation > REL_NE || !address(f, p->word)) {
			named = f->relation > REL_NE ? NULL : host(p->word, f->remote, f->relation);
			if (!named) {
				fail(p, "filter: address '%s': expected one such as 10.0.0.0/8, 10.0.0.1:443, [2001:db8::1]:443 or :443, or a known host, behind = or != or nothing",
				     p->word);
				goto failed;
			}
			filter_free(f);
			f = named;
		}
	} else if (is(p, "sport", "dport")) {
		f = node(PORT, NULL, NULL);
		f->remote = *p->word == 'd';
		next(p);
		f->relation = relation(p);
		if (!parse_u64(p->word + (*p->word == ':'), 0, 65535, &v)) {
			fail(p, "filter: port '%s': expected a number, 0 to 65535, behind = != > < >= <= or nothing",
			     p->word);
			goto failed;
		}
		f->port = (uint16_t)v;
	} else if (is(p, "cc", "cc")) {
		f = node(CC, NULL, NULL);
		next(p);
		f->relation = relation(p);
		if (f->relation > REL_NE || !*p->word || sign_length(p->word) ||
		    strlen(p->word) >= sizeof(f->cc)) {
			fail(p, "filter: congestion control '%s': expected a name such as timely, behind = or != or nothing",
			     p->word);
			goto failed;
		}
		memcpy(f->cc, p->word, strlen(p->word) + 1);
	} else {
		return fail(p, "filter: '%s': expected src, dst, sport, dport, cc, not or (",
			    *p->word ? p->word : "the end");
	}
	next(p);
	return f;
failed:
	filter_free(f);
	return NULL;
}

static struct filter *either(struct parser *p);

static struct filter *operand(struct parser *p)
{
	struct filter *f;

	if (p->depth >= MAX_DEPTH)
		return fail(p, "filter: more than %d brackets and nots within each other",
			    MAX_DEPTH);
	if (is(p, "not", "!")) {
		next(p);
		p->depth++;
		f = operand(p);
		p->depth--;
		return f ? node(NOT, f, NULL) : NULL;
	}
	if (!is(p, "(", "("))
		return condition(p);
	next(p);
	p->depth++;
	f = either(p);
	p->depth--;
	if (!f)
		return NULL;
	if (!is(p, ")", ")")) {
		filter_free(f);
		return fail(p, "filter: '%s': expected )", *p->word ? p->word : "the end");
	}
	next(p);
	return f;
}

static struct filter *both(struct parser *p)
{
	struct filter *f = operand(p), *g;

	while (f && *p->word && !p->failed && !is(p, "or", "||") && !is(p, "|", ")")) {
		if (is(p, "and", "&&") || is(p, "&", "&"))
			next(p);
		g = operand(p);
		if (!g) {
			filter_free(f);
			return NULL;
		}
		f = node(AND, f, g);
	}
	return f;
}

static struct filter *either(struct parser *p)
{
	struct filter *f = both(p), *g;

	while (f && (is(p, "or", "||") || is(p, "|", "|"))) {
		next(p);
		g = both(p);
		if (!g) {
			filter_free(f);
			return NULL;
		}
		f = node(OR, f, g);
	}
	return f;
}

/**
 * filter_parse() - read an expression
 * @argc: number of words; at least 1
 * @argv: words, of which each may hold several
 * @error: FILTER_ERROR bytes, for the error and the allowed values
 *
 * Return: the filter, for filter_free(); NULL: see @error.
 */
struct filter *filter_parse(int argc, char **argv, char *error)
{
	struct parser p = { .argv = argv, .argc = argc, .error = error };
	struct filter *f;

	next(&p);
	f = either(&p);
	if (f && *p.word)
		fail(&p, "filter: '%s': expected and, or, or the end", p.word);
	if (f && p.failed) {
		filter_free(f);
		f = NULL;
	}
	return f;
}

static bool compare(enum relation relation, unsigned int a, unsigned int b)
{
	switch (relation) {
	case REL_EQ:	return a == b;
	case REL_NE:	return a != b;
	case REL_GT:	return a > b;
	case REL_LT:	return a < b;
	case REL_GE:	return a >= b;
	default:	return a <= b;
	}
}

static bool same_address(const struct filter *f, const struct flow *flow)
{
	const uint8_t *addr = f->remote ? flow->remote : flow->local;
	uint16_t port = f->remote ? flow->rport : flow->lport;
	unsigned int bytes = f->bits / 8, rest = f->bits % 8;

	if (f->port && f->port != port)
		return false;
	if (!f->family)
		return true;
	if (f->family != flow->family || memcmp(addr, f->address, bytes))
		return false;
	return !rest || !((addr[bytes] ^ f->address[bytes]) >> (8 - rest));
}

/**
 * filter_match() - is a connection one of those?
 * @f: filter, NULL for all
 * @flow: connection
 */
bool filter_match(const struct filter *f, const struct flow *flow)
{
	if (!f)
		return true;
	switch (f->op) {
	case AND:
		return filter_match(f->a, flow) && filter_match(f->b, flow);
	case OR:
		return filter_match(f->a, flow) || filter_match(f->b, flow);
	case NOT:
		return !filter_match(f->a, flow);
	case ADDRESS:
		return same_address(f, flow) == (f->relation == REL_EQ);
	case PORT:
		return compare(f->relation, f->remote ? flow->rport : flow->lport, f->port);
	default:
		return !strcmp(flow->cc, f->cc) == (f->relation == REL_EQ);
	}
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	filter_free(f->a);
	filter_free(f->b);
	free(f);
}
