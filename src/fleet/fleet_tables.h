/* SPDX-License-Identifier: MIT */
/* What many traces add up to as tables, --tables. Place: fleet/. */
#ifndef WHYLATE_FLEET_FLEET_TABLES_H
#define WHYLATE_FLEET_FLEET_TABLES_H

#include "batch/batch_parts.h"

/* Files in `directory`, which is made. */
bool fleet_tables_write(struct batch *batch, const json_t *merged, const char *directory,
			GError **error);

#endif
