/* SPDX-License-Identifier: MIT */
/* --what-if: the answer to "how much sooner, had that been faster?" for one thread and window.
 *
 * Place: whatif/, between retime.h and the reports. Source: semantics.md, "What if";
 * interface.md, "Second round".
 */
#ifndef WHYLATE_WHATIF_WHAT_IF_H
#define WHYLATE_WHATIF_WHAT_IF_H

#include "report/report.h"
#include "run/option.h"
#include "whatif/answer.h"
#include "whatif/retime.h"

extern const struct option option_what_if;

/* What it takes to be recorded for the rules asked for: calls, for function=; what findings are
 * made of. For a command's want(). */
void what_if_want(const struct options *options, struct wanted *wanted);

/* Of `thread`, over [from, to) of the window; `first`: whose time it was at `from` (an ancestor's,
 * or its own). NULL if a rule picks nothing, or the replay without rules moves anything. */
struct what_if *what_if_new(const struct session *session, uint32_t first, uint32_t thread,
			    int64_t from, int64_t to, GError **error);
void what_if_free(struct what_if *what_if);

extern const struct column what_if_columns[];
void what_if_text(const struct what_if *what_if, struct output *output);

#endif
