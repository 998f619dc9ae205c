/* SPDX-License-Identifier: MIT */
/* The critical path on the page's rows, and what each sentence of the verdict is of.
 *
 * Place: page/, part of the page's second block (page_timeline.h).
 */
#ifndef WHYLATE_REPORT_PAGE_PATH_H
#define WHYLATE_REPORT_PAGE_PATH_H

#include "report/output.h"
#include "page/page_rows.h"

struct path;
struct packer;
struct waiting;

/* What a page shows besides, each NULL where there is none; borrowed. */
struct page_parts {
	const struct waiting *waiting; /* who waited for whom over all threads; NULL: the page
					  takes it from the report's causality */
	const struct path *path;       /* the critical path */
	const GArray *counts;          /* struct counted: what the verdict's sentences are of */
	/* Members of the command's own, in the page's second block. */
	void (*more)(struct packer *packer, const void *data, struct output *output);
	const void *data; /* … for it */
};

/* Each thread of the path gets a row, before others take the last one. */
void page_path_rows(struct page_rows *rows, const struct page_parts *parts);
/* Members "path", "through" and "sentences", where there is a path or a verdict. */
void page_path(struct packer *packer, const struct page_parts *parts, struct output *output);

#endif
