/* SPDX-License-Identifier: MIT */
/* What `whylate batch` adds up to, as text: what a terminal gets unless JSON is asked for.
 *
 * Place: fleet/. */
#ifndef WHYLATE_FLEET_FLEET_TEXT_H
#define WHYLATE_FLEET_FLEET_TEXT_H

#include "batch/batch_parts.h"

/* `sum`: how many traces there are, and what became of them; `limit`: entries of a list, 0: all.
 * False as batch_each(). */
bool batch_text_write(struct batch *batch, const json_t *merged, const char *sum, uint32_t limit,
		      struct output *output);
/* One trace's part of it, from its line. */
void batch_text_trace(const json_t *line, struct output *output);

#endif
