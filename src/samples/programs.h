/* SPDX-License-Identifier: MIT */
/* Where the code of recorded call stacks is: which file an address of a process is in, and how far
 * from where that was loaded.
 *
 * Part of samples/. Libraries are where their mmap() put them, or lttng-ust says they are
 * (model/images.h). Where the program itself lies, and what a process had mapped before the
 * trace began, is in no event: `record --samples` keeps it beside the trace (recorded_maps.h).
 * Without that the program's place is fitted (symbols/sites.h) to what all samples of that
 * program have, once it is asked for.
 */
#ifndef WHYLATE_SAMPLES_PROGRAMS_H
#define WHYLATE_SAMPLES_PROGRAMS_H

#include "run/session.h"

/* A place in a file. */
struct code_place {
	const char *path; /* NULL: not known */
	const uint8_t *id;
	size_t id_length;
	uint64_t offset; /* from where it was loaded */
};

struct code_place code_place_at(const struct session *session, const struct thread *life,
				uint64_t address, int64_t time);

/* Sentences (owned) on the files of what was asked for: programs whose place was fitted, or could
 * not be, files that were not found, the kernel's symbols. Empty without samples. */
GPtrArray *program_notes(const struct session *session);

#endif
