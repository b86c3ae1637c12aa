/* SPDX-License-Identifier: GPL-2.0 */
#ifndef TOOLS_EXIT_H
#define TOOLS_EXIT_H

/* Exit status of every program for wrong arguments, as ip, tc and ss have it. */
#define EXIT_USAGE	255

#endif /* TOOLS_EXIT_H */
