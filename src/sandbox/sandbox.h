/* SPDX-License-Identifier: MIT */
/* What a command needs of the machine, by what was asked; the rest it gives up (confine/).
 *
 * Traces come from strangers. Before the first byte of one is parsed the command can read the
 * traces, what lies beside them under the names that recordings have, what options name, and the
 * system's own files (/usr); it can write where the output goes, in the cache and in TMPDIR. It can
 * open no socket and start no program. Links in a trace lead nowhere else.
 *
 * Place: sandbox/, for the command alone: as a plugin the process is Babeltrace's.
 * The rules for users: docs/manual.md, "Traces of strangers".
 */
#ifndef WHYLATE_SANDBOX_SANDBOX_H
#define WHYLATE_SANDBOX_SANDBOX_H

#include "confine/confine.h"
#include "run/options.h"

/* Called with all paths of traces, before there are threads; a second call does nothing. `cache`:
 * where images are kept, NULL: nowhere. */
void sandbox_enter(const struct options *options, const GPtrArray *paths, const char *cache,
		   enum confine_set set);

#endif
