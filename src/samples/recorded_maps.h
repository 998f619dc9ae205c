/* SPDX-License-Identifier: MIT */
/* What processes had mapped, as `whylate record --samples` reads it from /proc/PID/maps and keeps
 * it beside the trace in the file `maps` (record/maps.h says what it looks like).
 *
 * Part of samples/. A reading is of one execution: of who runs the same program, by the trace's
 * execs and forks, at the sample's time. Of several the nearest before counts, else the first
 * after. A process without a reading has that of one that runs the same execution: a fork has what
 * its parent has.
 */
#ifndef WHYLATE_SAMPLES_RECORDED_MAPS_H
#define WHYLATE_SAMPLES_RECORDED_MAPS_H

#include "run/session.h"

struct mapped_file {
	uint64_t begin, end; /* that can be run, [begin, end) */
	uint64_t base;       /* where the file's first byte is */
	const char *path;    /* owned by the readings */
};

/* NULL: not known. */
const struct mapped_file *mapped_at(const struct session *session, const struct thread *life,
				    uint64_t address, int64_t time);
/* There is such a file beside the trace. */
bool mapped_is_recorded(const struct session *session);

#endif
