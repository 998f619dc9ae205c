/* SPDX-License-Identifier: MIT */
/* Running the lttng command, and the session daemon it talks to.
 *
 * Place: record/. The command is driven rather than liblttng-ctl linked: its lines can be shown
 * (--dry-run) and typed by hand, and it is there wherever LTTng records. Children are in process
 * groups of their own, so that a Ctrl-C reaches whylate alone, which then cleans up.
 */
#ifndef WHYLATE_RECORD_LTTNG_H
#define WHYLATE_RECORD_LTTNG_H

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Runs one line; `said`: what it wrote, if it is wanted (free with g_free()). False and an error
 * that says why it failed and what to do. */
bool lttng_run(const char *const *arguments, char **said, GError **error);

/* What a line of plan_probes() probes, which the kernel may refuse; NULL: it is no such line. */
const char *lttng_probed(const char *const *line);
/* Runs one; if it fails, that is said, and it is left out. */
void lttng_try(const char *const *line);
/* The error says that there is no LTTng that could record: its programs or the kernel's part. */
bool lttng_is_missing(const GError *error);

/* Names of the sessions in whose line of `lttng list` this stands, the newest first (LTTng's
 * add_session_list() puts it in front); NULL and an error if no daemon answers. Free with
 * g_ptr_array_unref(). */
GPtrArray *lttng_sessions(const char *having, GError **error);

/* A session daemon of our own, in the care of a child of ours. The child ends it when we do,
 * be it by SIGKILL, but not as long as it has other sessions than ours. */
struct lttng_daemon {
	pid_t keeper; /* 0: there was a daemon */
	int alive;    /* closed when we end */
};

/* LTTng is installed and its daemon answers; else an error that says what to do. */
bool lttng_runs(GError **error);
/* It is installed, and may be used; else an error that says what to do. */
bool lttng_may_record(GError **error);
/* Then a session daemon, started if there is none. `session`: the name of ours. */
bool lttng_ready(const char *session, struct lttng_daemon *daemon, GError **error);
/* Ends a daemon that lttng_ready() started; says so if it has other sessions. */
void lttng_end_daemon(struct lttng_daemon *daemon);

#endif
