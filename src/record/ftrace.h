/* SPDX-License-Identifier: MIT */
/* A recording by the kernel's ftrace, in an instance of its own.
 *
 * Place: record/, on top of the room tracefs/. A flight recorder's rings are overwritten, and read
 * when a snapshot is asked for: what has been read is not in them any more.
 */
#ifndef WHYLATE_RECORD_FTRACE_H
#define WHYLATE_RECORD_FTRACE_H

#include "record/plan.h"

/* What sets the instance up and starts it, and what removes it: lists of struct step
 * (tracefs/tracefs.h). `root`: of tracefs. Probes of the kernel's functions are among them as far
 * as it has them; free with g_ptr_array_unref(). */
GPtrArray *ftrace_begin_steps(const struct recording *recording, const char *root);
GPtrArray *ftrace_end_steps(const struct recording *recording, const char *root);
/* The group of this process's probes; free with g_free(). */
char *ftrace_group(void);
/* Lines of kprobes.h's for what a recording has probes for; free with g_ptr_array_unref(). */
GPtrArray *ftrace_probes(const struct recording *recording, const char *root);
/* All probes of a group go. */
void ftrace_remove_probes(const char *root, const char *group);

/* Writes the rings of the flight recorder of that name (NULL: of the newest one) out, into a new
 * directory; free `written` with g_free(). False without an error: there is none. */
bool ftrace_snapshot(const char *session, char **written, GError **error);

#endif
