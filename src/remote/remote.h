/* SPDX-License-Identifier: MIT */
/* Recording in guests while their host is recorded, by a command for each that reaches it.
 *
 *   host    begin: COMMAND LINE ─► "records" ─► (record.c) ─► standard input closed ─► tar -x
 *   guest          LINE: whylate record -- cat                 cat ends … tar -c
 *
 * LINE is one more argument of COMMAND, for the guest's shell, as `ssh web` takes it. One
 * connection each, for all: a guest's recording ends when its standard input does, however that
 * came, and its shell removes what it wrote there. Rejected: a command to begin and one to end;
 * what the first leaves stays when this one is killed.
 *
 * Place: remote/, beside record/. Uses no trace.
 */
#ifndef WHYLATE_REMOTE_REMOTE_H
#define WHYLATE_REMOTE_REMOTE_H

#include "record/plan.h"

struct remotes;

/* Below the output's directory: where the guests' traces are. */
#define REMOTE_FOLDER "guests"

/* What each guest's shell gets; free with g_free(). */
char *remote_line(const struct recording *recording);

/* All record when this returns. `guests`: strings "NAME=COMMAND", borrowed. NULL and `error`
 * (WHYLATE_ERROR_RECORD): one does not, and no other goes on. */
struct remotes *remotes_begin(const struct recording *recording, const GPtrArray *guests,
			      GError **error);

/* Ends their recordings, and unpacks what they recorded into `output`/guests/NAME. Says of each
 * what went wrong, on standard error. False: a trace is missing or not whole. Once. */
bool remotes_end(struct remotes *remotes, const char *output);

/* Ends them, if that was not done; frees. */
void remotes_free(struct remotes *remotes);

#endif
