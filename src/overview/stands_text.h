/* SPDX-License-Identifier: MIT */
/* An item of what stands out in text, and what threads waited for in all. Part of overview/. */
#ifndef WHYLATE_OVERVIEW_STANDS_TEXT_H
#define WHYLATE_OVERVIEW_STANDS_TEXT_H

#include "report/report.h"
#include "stands/stand.h"

#define HANGING 3 /* columns by which the lines of an item after the first are indented */

/* "1  SENTENCE [id]"; `findable`: `explain` knows its id. Returns how many lines it took. */
int stand_lines(const struct stand *item, guint number, bool findable, struct output *output);
/* "Waiting, by what it was for: …"; with `recorded`, of the re-timed run, and how much each was as
 * recorded. */
void waited_text(const struct stands *stands, const struct stands *recorded, struct output *output);

#endif
