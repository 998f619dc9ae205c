/* SPDX-License-Identifier: MIT */
/* What programs did because a setting of theirs asks for it, and what it cost.
 *
 *   postgres   ─ waits for psql ─┤ … ├ fsync of pg_wal/… ┤ … ├─ waits for psql ─┤ … ├ fsync …
 *              between            one                        between             two
 *
 * Part of settings/. A known setting (known.h) is said only if the trace shows what it makes the
 * program do, `least` times; with `between`, only as often as the thread waited for that
 * meanwhile, so that a sync at each commit is not taken for a writer's in the background, which
 * answers nobody. Source: X-ray (Attariyan, Chow, Flinn, OSDI 2012), which names settings as
 * causes by following the bytes of configuration files; here a table says what they do.
 *
 * Rejected: to say what a configuration file has in it. The trace does not tell.
 */
#ifndef WHYLATE_SETTINGS_CONFIGURATION_H
#define WHYLATE_SETTINGS_CONFIGURATION_H

#include "path/path.h"
#include "report/columns.h"
#include "settings/known.h"
#include "tracking/requests.h"

/* A known setting that showed. */
struct configuration {
	const struct known_setting *known; /* borrowed */
	uint32_t thread;     /* the one with most of it */
	uint32_t threads;    /* of its name, with it */
	uint32_t call;       /* interned, of the longest */
	uint32_t object;     /* interned key, of the longest, 0 */
	int64_t begin, end;  /* the longest */
	uint64_t count;      /* times; with `between`, each once */
	int64_t ns;          /* in all */
	uint32_t requests, of_requests; /* it was in so many of these; 0, 0: not asked */
	char *sentence;      /* owned */
	int64_t most;        /* ns of `thread`, while it is filled */
};

/* Of a critical path; of requests; of all threads in the window. struct configuration, the most
 * time first, each at least a hundredth (of all threads: a tenth) of the time that it is of; none
 * where names are replaced. */
/* … `threads` (struct stretch): without a path, of these. */
GArray *configuration_of_path(const struct session *session, const struct path *path,
			      const GArray *threads);
GArray *configuration_of_requests(const struct user_requests *requests);
GArray *configuration_of_all(const struct session *session);
void configuration_free(GArray *list);

extern const struct column configuration_columns[];
/* "[configuration] postgres (296) syncs ...": a line each, at most so many. */
void configuration_text(const GArray *list, guint most, int indent, struct output *output);

#endif
