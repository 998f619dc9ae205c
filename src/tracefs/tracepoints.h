/* SPDX-License-Identifier: MIT */
/* Which of the kernel's own tracepoints each preset records, for tracers that know no others.
 *
 * Place: tracefs/. The same events as in record/plan.c, which has them by LTTng's names; what each
 * is for: coverage/needs.c. Patterns, as a kernel has more or fewer of them by its version, its
 * processor and how it was built: what fits nothing is not recorded, and `check` says what that
 * costs.
 */
#ifndef WHYLATE_TRACEFS_TRACEPOINTS_H
#define WHYLATE_TRACEFS_TRACEPOINTS_H

#include <glib.h>
#include <stdbool.h>

/* "SYSTEM:EVENT" of each that the kernel has; free with g_ptr_array_unref(). `root`: of tracefs;
 * who may not look into it gets the patterns. `preset`: enum preset. */
GPtrArray *tracepoints_of(const char *root, int preset, bool network, bool guests);

#endif
