/* SPDX-License-Identifier: MIT */
/* Finding kernel traces, and user-space traces beside them, in what the user named.
 *
 * An LTTng output holds kernel/, ust/…, archives/CHUNK/kernel/, or
 * snapshot-…/kernel/; a trace is any directory with a file `metadata`. Its
 * environment says whether it is a kernel's. Chunks of one trace have its
 * UUID in common.
 *
 * Place: input/.
 */
#ifndef WHYLATE_INPUT_TRACES_H
#define WHYLATE_INPUT_TRACES_H

#include <glib.h>
#include <stdbool.h>

#include "reader/reader.h"

struct found_trace {
	GPtrArray *directories; /* owned; struct trace_directory: several where it was recorded
				   in chunks */
	char *file;             /* owned; of another tracer (foreign.h), there are no directories;
				   NULL */
	char *uuid;             /* owned; NULL: none */
	char *trouble;          /* owned; what is wrong with its metadata, NULL */
	bool lttng, ctf2;
	bool user;              /* of user space; these come behind all kernel traces */
	guint user_traces;      /* of the first one: user-space traces found with them */
	guint user_apart;       /* … that are not of lttng-ust */
};

/* Kernel traces below the paths a user gave (struct found_trace), in the order
 * given, and the user-space traces beside them. WHYLATE_ERROR_NO_TRACE if there is none. */
GPtrArray *traces_find(GPtrArray *paths, GError **error);

/* Calls `visit` for each directory at or below `path` that has a file `metadata`, in order,
 * until that returns false. */
typedef bool trace_visit(const char *directory, const char *metadata, void *data, GError **error);
bool traces_search(const char *path, trace_visit *visit, void *data, GError **error);

#endif
