/* SPDX-License-Identifier: MIT */
/* What ran on CPUs, and where threads fell asleep, as recorded call stacks show it: for the page's
 * flame graph.
 *
 * Place: page/, part of the page's second block (page_timeline.h), over samples/sampled_states.h.
 */
#ifndef WHYLATE_PAGE_PAGE_SAMPLES_H
#define WHYLATE_PAGE_PAGE_SAMPLES_H

#include "page/page_rows.h"
#include "report/output.h"

/* Member "samples", where threads that have a row have any stacks. */
void page_samples(const struct page_rows *rows, struct output *output);

#endif
