// SPDX-License-Identifier: GPL-2.0
/* Names in place of addresses and ports in tables, as ss -r has them. */
#include <netdb.h>
#include <netinet/in.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "show.h"

/* Addresses, with ports or not, and their names: each is asked for once. */
static json_t *known;

/* The name of "10.0.3.9", "fd00::9", "10.0.3.9:443" or "[fd00::9]:443"; itself if it has none. */
static json_t *name_of(const char *text)
{
	char copy[INET6_ADDRSTRLEN + 16], host[NI_MAXHOST], service[NI_MAXSERV], both[1100];
	char *address = copy, *port = NULL, *end;
	struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV }, *info;
	int err;

	snprintf(copy, sizeof(copy), "%s", text);
	end = strrchr(copy, ']');
	if (*copy == '[' && end) {
		address++;
		*end++ = '\0';
		port = *end == ':' ? end + 1 : NULL;
	} else if (strchr(copy, ':') && strchr(copy, ':') == strrchr(copy, ':')) {
		port = strchr(copy, ':');
		*port++ = '\0';
	}
	if (getaddrinfo(address, port, &hints, &info))
		return json_string(text);
	err = getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof(host), service,
			  sizeof(service), 0);
	freeaddrinfo(info);
	if (err)
		return json_string(text);
	if (!port)
		return json_string(host);
	snprintf(both, sizeof(both), strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, service);
	return json_string(both);
}

/**
 * names_put() - replace addresses in rows for a table
 * @rows: array of objects
 */
void names_put(json_t *rows)
{
	static const char * const keys[] = { "local", "remote", "from", "to" };
	json_t *row, *name;
	const char *text;
	size_t i, k;

	if (!known)
		known = json_object();
	json_array_foreach(rows, i, row)
		for (k = 0; k < ARRAY_SIZE(keys); k++) {
			text = j_str(row, keys[k]);
			if (!text)
				continue;
			name = json_object_get(known, text);
			if (!name) {
				j_set(known, text, name_of(text));
				name = json_object_get(known, text);
			}
			j_set(row, keys[k], json_incref(name));
		}
}
