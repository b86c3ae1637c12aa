// SPDX-License-Identifier: GPL-2.0
/* Colours of a terminal. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"

static bool coloured;

/**
 * term_init() - decide whether output has colours
 * @when: "always", "never", or "auto": on a terminal that has them, unless NO_COLOR is set
 *
 * Return: false if @when is none of these.
 */
bool term_init(const char *when)
{
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");

	if (!strcmp(when, "always"))
		coloured = true;
	else if (!strcmp(when, "never"))
		coloured = false;
	else if (!strcmp(when, "auto"))
		coloured = isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb") &&
			   !(none && *none);
	else
		return false;
	return true;
}

/**
 * term() - return what begins a style on stdout; empty without colours
 * @style: TERM_PLAIN ends it
 */
const char *term(enum term_style style)
{
	static const char * const begin[] = {
		[TERM_PLAIN] = "\033[0m",
		[TERM_TITLE] = "\033[1m",
		[TERM_CRITICAL] = "\033[1;31m",
		[TERM_WARNING] = "\033[33m",
		[TERM_NOTE] = "\033[36m",
	};

	return coloured ? begin[style] : "";
}
