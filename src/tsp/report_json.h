/* SPDX-License-Identifier: MIT */
/* A command's own answer, for what is served: as text, or as JSON to take parts from.
 *
 *   what was read ── bears it ──► asked again ──► report ─┐
 *         the trace ── else ───► read again ───► report ──┴─► text
 *
 * Place: tsp/. Only in a process of its own (worker.h): the session is asked another question.
 */
#ifndef WHYLATE_TSP_REPORT_JSON_H
#define WHYLATE_TSP_REPORT_JSON_H

#include "tsp/asking.h"

/* The command with its defaults, and what the server was told of the trace. Free with
 * options_clear(). */
void report_options(const struct server *server, struct options *options,
		    const struct command *command);
/* What the command prints; NULL: it does not, and `trouble` (owned) says why. */
char *report_text(struct server *server, struct options *options, size_t *length, char **trouble);

/* The command's JSON, whole, of a window; `given`: options and values in turn, NULL-ended. NULL:
 * refused. */
json_t *report_json(struct asking *asking, const char *command, const struct times *window,
		    const char *const *given);

#endif
