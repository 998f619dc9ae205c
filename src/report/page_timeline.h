/* SPDX-License-Identifier: MIT */
/* The page's second block of data, as JSON; see page_timeline.c. */
#ifndef WHYLATE_REPORT_PAGE_TIMELINE_H
#define WHYLATE_REPORT_PAGE_TIMELINE_H

#include "report/output.h"
#include "report/page_rows.h"

struct waiting;

/* `has_leads`: the rows know who waits led to. `waiting`: who waited for whom over all threads;
 * NULL: the page takes it from the report's causality. */
void page_timeline(struct page_rows *rows, bool has_leads, const struct waiting *waiting,
		   struct output *output);

#endif
