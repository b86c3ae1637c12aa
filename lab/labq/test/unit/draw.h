/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random numbers of a test, the same each time.
 */
#ifndef _DRAW_H
#define _DRAW_H

#include "user/core_user.h"

static u64 seed;

/* draw() - return a number from 0 to @below - 1; a test sets @seed before its first */
static u32 draw(u32 below)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (u32)(seed >> 33) % below;
}

#endif /* _DRAW_H */
