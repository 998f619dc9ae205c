/* SPDX-License-Identifier: MIT */
/* Pictures of many traces over time: hosts, causes, latencies. Place: fleet/, for fleet_page.c. */
#ifndef WHYLATE_FLEET_FLEET_CHARTS_H
#define WHYLATE_FLEET_FLEET_CHARTS_H

#include "batch/batch_parts.h"

/* The address of a trace's page, as an attribute has it; NULL: it has none. Borrowed. */
typedef const char *fleet_link(const void *data, const char *trace);

/* Sections of HTML; nothing where no two traces have a time. False as batch_each(). */
bool fleet_charts(struct batch *batch, fleet_link *link, const void *data, FILE *file);

#endif
