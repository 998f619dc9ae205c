/* SPDX-License-Identifier: MIT */
/* Choosing threads by the names that users give them.
 *
 * Place: run/, behind the window. A name that matches nothing is the user's failure, with the
 * nearest thing that exists. Source: interface.md.
 */
#ifndef WHYLATE_RUN_CHOOSING_H
#define WHYLATE_RUN_CHOOSING_H

#include "run/session.h"

/* --host names one of the hosts. */
bool host_exists(const struct session *session, GError **error);
/* --thread, --process, --container: fills session->asked.selected; false: one names nothing. */
bool threads_choose(struct session *session, GError **error);

/* --host: all of them, or this one. */
bool session_wants_host(const struct session *session, const struct host *host);
/* Appends the threads that --thread (or --process) WANTED means and that lived in the window; none
 * is no error. Only after session_finish(). */
void session_threads_named(const struct session *session, const char *wanted, bool process,
			   GArray *list);

/* Where that names no thread of the trace: `before` and the names that are nearest, else "". Of
 * processes those of the threads that lead them. Free with g_free(). */
char *session_nearest_threads(const struct session *session, const char *wanted, bool process,
			      const char *before);

#endif
