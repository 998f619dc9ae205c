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

/* All that recording needs: the command, the right to use it, a session daemon (started if there
 * is none; its PID in `daemon`, else 0). */
bool lttng_ready(pid_t *daemon, GError **error);
/* Ends a daemon that lttng_ready() started. */
void lttng_end_daemon(pid_t daemon);

#endif
