// SPDX-License-Identifier: GPL-2.0
/* A terminal: its colours and its width. */
#include <stdbool.h>
#include <stdio.h>
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

/**
 * term_size() - the size of the terminal
 *
 * Return: its size; all of it 0 if stdout is none, or if it does not say.
 */
struct winsize term_size(void)
{
	struct winsize size = { 0 };

	if (isatty(STDOUT_FILENO))
		ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return size;
}

/**
 * term_fold() - write text, and go on in new lines where the terminal ends
 * @text: text of one line; @indent columns are in front of it
 * @indent: columns of blanks in front of each new line
 *
 * A word that is longer than a line is left whole.
 */
void term_fold(const char *text, size_t indent)
{
	size_t columns = term_size().ws_col, used = indent, len;

	/* So narrow a terminal is better off with its own line ends. */
	if (columns < indent + 20) {
		puts(text);
		return;
	}
	while (*text) {
		len = strcspn(text, " ");
		if (used > indent && used + 1 + len > columns) {
			printf("\n%*s", (int)indent, "");
			used = indent;
		} else if (used > indent) {
			putchar(' ');
			used++;
		}
		printf("%.*s", (int)len, text);
		used += len;
		text += len;
		text += strspn(text, " ");
	}
	putchar('\n');
}
