/* SPDX-License-Identifier: MIT */
/* What the command's Babeltrace graphs have in common: reading for the session
 * (graph.c) and cutting (cut.c). Place: src/cli/.
 */
#ifndef WHYLATE_CLI_GRAPH_H
#define WHYLATE_CLI_GRAPH_H

#include <babeltrace2/babeltrace.h>

#include "cli/cli.h"

/* NULL: it is not installed. Put back with bt_plugin_put_ref(). */
const bt_plugin *graph_plugin(const char *name);
/* A source.ctf.fs of all `directories` (struct trace_directory); `shift`: ns by which its clock is
 * set right. NULL: it could not be made. */
const bt_component_source *graph_add_source(bt_graph *graph, const bt_plugin *ctf,
					    GPtrArray *directories, guint number, int64_t shift);
/* All its outputs to the muxer, which adds an input port whenever its last one is connected. */
bool graph_connect_all(bt_graph *graph, const bt_component_source *source,
		       const bt_component_filter *muxer);

#endif
