/* SPDX-License-Identifier: MIT */
/* What recordings left that were killed by SIGKILL, or with their machine's power: sessions of
 * LTTng, instances and probes of ftrace, directories that have no whole trace.
 *
 * Place: record/. Only what a claim (claim.h) that nobody has locked says is ours, or what is
 * called after a PID that nobody has. The kernel itself refuses to remove an instance that is in
 * use.
 */
#ifndef WHYLATE_RECORD_LEFTOVERS_H
#define WHYLATE_RECORD_LEFTOVERS_H

#include <glib.h>
#include <stdbool.h>

/* That is what such a session is called, "whylate-PID", and nobody has that PID. */
bool left_behind(const char *session);
/* Removes all of it, and tells what; false: some of it could not be. */
bool leftovers_remove(void);
/* Tells that there is something, on standard error. */
void leftovers_tell(void);

#endif
