/* SPDX-License-Identifier: GPL-2.0 */
/* Nothing but what net/tcp.h here has. */
#include <net/tcp.h>
