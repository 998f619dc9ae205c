/* SPDX-License-Identifier: MIT */
/* Critical paths that clients asked for: derived outputs of "critical-path".
 *
 * Place: tsp/. Each is worked out once, as `whylate delay --thread` does it, and kept.
 */
#ifndef WHYLATE_TSP_DERIVED_H
#define WHYLATE_TSP_DERIVED_H

#include "path/path.h"
#include "tsp/asking.h"

#define DERIVED_MAX 64

/* A thread of the path. */
struct path_row {
	uint32_t thread;
	int64_t ns;     /* its share */
	GArray *pieces; /* owned; guint: places in path->pieces, in order */
};

struct derived {
	char *id;       /* owned; "critical-path:1" */
	char *name;     /* owned */
	char *asked;    /* owned; the thread as the client named it */
	uint32_t thread;
	int64_t from, to;
	struct path *path; /* owned */
	GArray *rows;   /* owned; struct path_row, the largest share first */
};

void derived_free(gpointer derived);
/* NULL: there is none of that name. */
struct derived *derived_find(const struct server *server, const char *id);
const struct path_row *derived_row(const struct derived *derived, uint32_t thread);
/* NULL: refused. */
struct derived *derived_new(struct asking *asking, const char *name, const char *thread,
			    int64_t from, int64_t to);

#endif
