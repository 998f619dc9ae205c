/* SPDX-License-Identifier: MIT */
/* Which operations are inside which: 'syscall:read > function:touch_atime'.
 *
 *   thread   ├──────── syscall:read ───────────────┤  ├ syscall:stat ──────────┤
 *              ├ function:touch_atime ┤                 ├ function:touch_atime ┤
 *                 is inside                               is not
 *
 * Place: latencies/. Frames nest, and a record is written when its frame ends: read backwards, what
 * contains an operation comes before it. What a name in front has need not be right around it:
 * anything may be between. Source: DARC's filter by call path.
 */
#ifndef WHYLATE_LATENCIES_OPERATION_PATH_H
#define WHYLATE_LATENCIES_OPERATION_PATH_H

#include "latencies/operation_pattern.h"
#include "run/session.h"

/* Of one pattern with names in front. */
struct operations_inside {
	GHashTable *numbers; /* owned; of the operations that are inside: a set */
	GHashTable *around; /* owned; names (owned) of what is right around operations of its name:
				a set */
	bool met; /* there is one of its name */
};

/* `name`: of what an operation does; free with g_free(). */
struct operations_inside *
operations_inside_new(const struct session *session, const struct operation_pattern *pattern,
		      char *(*name)(const struct session *session, uint32_t what));
void operations_inside_free(struct operations_inside *inside);

#endif
