/* SPDX-License-Identifier: MIT */
/* Which time of a thread its calls are looked at in: its life in the window or, limited to
 * requests, what of it the thread worked on one of them.
 *
 *   thread      ──idle──┤ request 3 ├┤ request 4 ├──idle──┤ request 7 ├──
 *   slices              ├───────────────────────┤         ├───────────┤
 *
 * Place: calls/, for call_tree.h and what is found along the calls. Whose time is whose:
 * tracking/requests.h; a request that is part of a chosen one counts as that.
 */
#ifndef WHYLATE_CALLS_CALL_SCOPE_H
#define WHYLATE_CALLS_CALL_SCOPE_H

#include "tracking/requests.h"

struct call_slice {
	int64_t begin, end;
};

struct call_scope {
	GArray *slices; /* struct call_slice by thread, begin; none meets the next one */
	guint *first; /* owned; by thread: its place there, the next thread's is its end */
};

/* `requests`: those listed are what it is limited to; NULL: to nothing. */
void call_scope_init(struct call_scope *scope, const struct session *session,
		     const struct user_requests *requests);
void call_scope_clear(struct call_scope *scope);

/* The thread's slices that end after `from`. */
const struct call_slice *
call_scope_slices(const struct call_scope *scope, uint32_t thread, int64_t from, guint *count);
/* `time` lies in one. */
bool call_scope_has(const struct call_scope *scope, uint32_t thread, int64_t time);
/* Some of [from, to) does. */
bool call_scope_meets(const struct call_scope *scope, uint32_t thread, int64_t from, int64_t to);
/* What they are together. */
int64_t call_scope_ns(const struct call_scope *scope, uint32_t thread);

#endif
