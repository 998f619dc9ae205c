/* SPDX-License-Identifier: MIT */
/* A lane for each bottleneck: who ran on a CPU, who held a lock, how many requests a device served
 * at once, and how many threads waited for a device, a lock or another resource, over the window in
 * equal parts.
 *
 * Place: page/, part of the page's second block (page_timeline.h). Waits are added while the rows
 * are packed, so they are those of the threads that have a row, and of these the imposed ones.
 */
#ifndef WHYLATE_PAGE_PAGE_LANES_H
#define WHYLATE_PAGE_PAGE_LANES_H

#include "page/page_rows.h"
#include "report/output.h"

#define LANE_PARTS 1200 /* on a page */
#define LANE_PARTS_SERVED 4800 /* … that is served: a part of it needs no answer */
#define LANES_MAX 8 /* of resources, on a page: those with most waiting */

struct lanes {
	const struct page_rows *rows; /* borrowed */
	int64_t from, to; /* what is divided into parts: the window */
	guint parts; /* LANE_PARTS, unless it is set before something is added */
	GHashTable *resources; /* interned key -> int64_t[parts], owned: ns of waiting */
	GHashTable *requests; /* numbers of struct wake_detail that are in `devices` */
	GHashTable *devices; /* host and interned name -> the same, owned: ns that requests which
				somebody waited for were served */
	GHashTable *interrupts; /* leaf -> the same, owned: ns that threads were kept by it */
};

void lanes_init(struct lanes *lanes, const struct page_rows *rows);
void lanes_clear(struct lanes *lanes);
/* Somebody waited for `resource` (an interned key; 0: of none) over [begin, end). */
void lanes_add(struct lanes *lanes, uint32_t resource, int64_t begin, int64_t end);
/* Whom `thread` waited for was ended by what struct wake_detail `detail` says (0: nothing): if that
 * is a block request, it was at its device until it was complete. */
void lanes_add_request(struct lanes *lanes, uint32_t thread, uint32_t detail);
/* … was interrupted, as `leaf` says. */
void lanes_add_interrupt(struct lanes *lanes, uint32_t leaf, int64_t begin, int64_t end);
/* Finds what all lanes need, which is then kept: for who writes them again and again, each time in
 * another process. */
void lanes_prepare(const struct session *session);
/* Member "lanes": of so many resources, half as many locks' holders and interrupts, and of CPUs. */
void lanes_write(const struct lanes *lanes, guint most, struct output *output);

#endif
