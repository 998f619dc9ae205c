/* SPDX-License-Identifier: MIT */
/* What the pieces of a critical path are put down to, and their sums: by
 * thread, by resource, by kind.
 *
 * Place: path/, between path.h and the reports. Each list of sums tiles the
 * window as the pieces do: its times add up to the path's length exactly.
 * Source: interface.md, "JSON" (critical_path), kinds of causes.
 */
#ifndef WHYLATE_PATH_PATH_SUMS_H
#define WHYLATE_PATH_PATH_SUMS_H

#include "path/function_totals.h"
#include "path/path.h"
#include "waits/causes.h"

/* Blocked: what ended the wait; ready but off the CPU: who ran there meanwhile, or
 * why nobody did; working: kind cpu, no label. Clear with cause_clear(). */
struct cause piece_cause(const struct session *session, const struct piece *piece);
/* Its kind alone, which takes a small part of the time. */
enum cause_kind piece_cause_kind(const struct session *session, const struct piece *piece);
/* Ready, but without a CPU. */
bool piece_is_ready(const struct piece *piece);

/* What a piece was spent on, as an interned key: what a wait was for
 * (block_waits_for()), else "cpu:running", "cpu:waiting", "cpu:interrupts", or
 * "unknown". */
uint32_t piece_resource(const struct session *session, const struct piece *piece);

struct total {
	uint32_t thread;      /* by thread */
	uint32_t resource;    /* by resource: interned key */
	uint32_t leaf;        /* by kind: a leaf of that kind */
	enum cause_kind cause; /* by kind */
	uint64_t count;       /* pieces */
	int64_t ns;
	int64_t wib[4];       /* by enum wib */
};

struct path_totals {
	GArray *threads, *resources, *kinds; /* struct total, largest first */
	GArray *functions; /* struct function_total, largest first: of what it worked */
	int64_t ns;
};

void path_totals_init(struct path_totals *totals, const struct session *session,
		      const struct path *path);
void path_totals_clear(struct path_totals *totals);

#endif
