/* SPDX-License-Identifier: MIT */
/* Blocking causality: what each wait was ended by, and what that thread was
 * waiting for meanwhile, down to hardware, a timer, or work.
 *
 * Place: waits/. A wait is one blocked interval, clipped to the window or
 * to the wait above it (wait.h). Source: semantics.md, "Blocking causality",
 * rules 2 to 4.
 */
#ifndef WHYLATE_WAITS_CAUSALITY_H
#define WHYLATE_WAITS_CAUSALITY_H

#include "waits/causes.h"

/* Levels at most, whatever is asked for: each is one of recursion here, and of nesting in
 * the reports, whose readers have limits (Python's json: 1,000). */
#define LEVELS_MAX 256

/* The waits of `thread` in [from, to), by begin; where there are more than
 * `limit` (0: no limit) in one list, the longest, and the rest counted in
 * `omitted`. */
GPtrArray *causality_new(const struct session *session, uint32_t thread, int64_t from, int64_t to,
			 uint32_t limit, uint32_t *omitted);

#endif
