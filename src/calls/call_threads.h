/* SPDX-License-Identifier: MIT */
/* Whose calls are looked at.
 *
 * Place: calls/, for call_tree.h.
 */
#ifndef WHYLATE_CALLS_CALL_THREADS_H
#define WHYLATE_CALLS_CALL_THREADS_H

#include "calls/call_scope.h"

/* Of those with time in the scope: the selected threads, or (none selected) if it is limited to
 * requests all, else those that have functions of user space; if there are none, functions of the
 * kernel; else all that worked but the kernel's and the recorder's: uint32_t. Free with
 * g_array_free(). */
GArray *call_threads_new(const struct session *session, const struct call_scope *scope,
			 bool of_requests);
/* Functions were recorded, of the kernel or of programs: else calls are system calls alone. */
bool calls_are_functions(const struct session *session);

#endif
