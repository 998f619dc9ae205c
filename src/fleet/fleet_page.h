/* SPDX-License-Identifier: MIT */
/* The page of many traces, --index. Place: fleet/. */
#ifndef WHYLATE_FLEET_FLEET_PAGE_H
#define WHYLATE_FLEET_FLEET_PAGE_H

#include "batch/batch_parts.h"

/* `sum`: what becomes of the traces, in a sentence. Links to pages of traces are relative to its
 * place, `path`. False as batch_each(). */
bool fleet_page_write(struct batch *batch, const json_t *merged, const char *sum, const char *path,
		      FILE *file);

#endif
