/* SPDX-License-Identifier: GPL-2.0 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM compat_test

#if !defined(_COMPAT_TEST_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _COMPAT_TEST_TRACE_H

#include <linux/tracepoint.h>

TRACE_EVENT(compat_test_name,

	TP_PROTO(const char *name),

	TP_ARGS(name),

	TP_STRUCT__entry(
		__string(name, name)
	),

	TP_fast_assign(
		compat_assign_str(name, name);
	),

	TP_printk("name=%s", __get_str(name))
);

#endif /* _COMPAT_TEST_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE compat_test_trace
#include <trace/define_trace.h>
