/* SPDX-License-Identifier: MIT */
/* The page's second block of data, as JSON; see page_timeline.c. */
#ifndef WHYLATE_REPORT_PAGE_TIMELINE_H
#define WHYLATE_REPORT_PAGE_TIMELINE_H

#include "report/output.h"
#include "page/page_rows.h"

struct page_parts;

struct page_asked {
	bool timeline;  /* else: only what is not of threads' states, and the command's own */
	bool has_leads; /* the report names who waits led to */
};

void page_timeline(struct page_rows *rows, const struct page_asked *asked,
		   const struct page_parts *parts, struct output *output);

#endif
