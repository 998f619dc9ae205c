/* SPDX-License-Identifier: MIT */
/* The page's second block of data, as JSON; see page_timeline.c. */
#ifndef WHYLATE_REPORT_PAGE_TIMELINE_H
#define WHYLATE_REPORT_PAGE_TIMELINE_H

#include "report/output.h"
#include "page/page_rows.h"

struct page_parts;

/* `has_leads`: the rows know who waits led to. */
void page_timeline(struct page_rows *rows, bool has_leads, const struct page_parts *parts,
		   struct output *output);

#endif
