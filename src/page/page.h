/* SPDX-License-Identifier: MIT */
/* The report as a page for browsers: one file that needs nothing besides, --format html.
 *
 * Place: page/. The page is a template (share/page/, built into the program), the
 * report's JSON as --format json writes it, by the same code, and a second block of data
 * for what JSON does not tell: the timeline of every thread that the report names, in
 * levels of detail (page/levels.h), and who waited for whom.
 *
 *   report.html ─ head, style ─┬─ "report": JSON, escaped ─┬─ "timeline" ─┬─ scripts
 *                  page_begin()│    the report's writer     │  page_end() ─┘
 *
 * Which threads and which times are of interest is what the report's JSON names, in its
 * order: struct json_watch tells the page while the JSON is written.
 *
 * Whatever the JSON says, the page has, and nothing is worked out twice. The browser never sees
 * intervals one by one: of each row there are levels of detail, each 4 times finer, in which what
 * is shorter than a tolerance is merged into its shares. The finest level of at most 360 KB is
 * kept, and exact states around what the report speaks of. The report ends its long lists where it
 * has REPORT_BYTES (page.c), so that a page of any trace stays below 3 MB, and says what they leave
 * out. The level whose cells are a pixel wide
 * is drawn. Times travel as text and are made relative to the window before they are parsed:
 * nanoseconds since 1970 do not fit a JavaScript number. The policy in the page's head names style
 * and script by their hashes, and no `<` is in the data. The scripts are one file to the browser,
 * so they share names.
 *
 * Rejected: a GResource (libgio takes 2 ms of each start; in `babeltrace2` its types take quarks,
 * and connecting traces follows the order of quarks), uPlot (50 KB for bars that SVG can draw),
 * compressed data (nobody could read the report in it), elements instead of a canvas.
 */
#ifndef WHYLATE_REPORT_PAGE_H
#define WHYLATE_REPORT_PAGE_H

#include "report/output.h"
#include "page/page_path.h"
#include "page/page_rows.h"

struct page {
	struct page_rows rows;   /* what the report names */
	FILE *file;              /* borrowed; what the page is written to */
	struct output json;      /* where the report's writer writes to */
	bool has_leads;          /* the report names who waits led to */
	size_t written;          /* bytes of the report */
	struct json_watch watch;
};

/* As a content security policy names a style or a script: "sha256-…"; free with g_free(). */
char *page_hash(const char *text);

/* Static: the style that all pages have. */
const char *page_looks(void);

/* Everything up to the report's JSON; write that to page->json, then end it. */
void page_begin(struct page *page, const struct session *session, struct output *output);
void page_end(struct page *page, const struct page_parts *parts);

#endif
