/* SPDX-License-Identifier: MIT */
/* What a round learned, for people. Part of drill/. */
#ifndef WHYLATE_DRILL_TOLD_H
#define WHYLATE_DRILL_TOLD_H

#include <stdio.h>

#include "drill/choose.h"

/* Round `round`, of the recording in `trace`; each line begins with `mark` ("" or "# "). */
void drill_tell_round(guint round, const char *trace, const struct drill_choice *choice,
		      int64_t limit, const char *mark);
/* Why it is over after so many rounds. */
void drill_tell_end(guint rounds, const struct drill_choice *choice, int64_t limit,
		    const char *mark);

#endif
