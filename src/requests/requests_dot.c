/* SPDX-License-Identifier: MIT */
/* The lattice of requests' ways as a graph for Graphviz (dot). Shortest ways are drawn in bold;
 * the width of a line is the share of requests that go there. All nodes of forty requests made a
 * drawing 82,000 points wide: the most costly ones are drawn, --depth of them on a way.
 */
#include <inttypes.h>
#include <string.h>

#include "requests/lattice.h"
#include "report/report.h"
#include "requests/requests_columns.h"

#define LONGEST_DRAWN 12 /* nodes on a way, unless --depth says otherwise */

/* Inside double quotes of the dot language. */
static void put_text(FILE *file, const char *text)
{
	g_autofree char *safe = text_safe(text);

	for (const char *p = safe; *p; p++) {
		if (*p == '"' || *p == '\\')
			fputc('\\', file);
		fputc(*p, file);
	}
}

void requests_dot(const struct costs *costs, struct output *output)
{
	guint depth = costs->requests->session->asked.options->depth;
	struct lattice *lattice = lattice_new(costs, depth ? depth : LONGEST_DRAWN);
	FILE *file = output->file;
	char ns[32];

	fputs("digraph requests {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n"
	      "  edge [fontname=\"sans-serif\"];\n",
	      file);
	for (guint i = 0; i < lattice->nodes->len; i++) {
		const struct lattice_node *node =
			&g_array_index(lattice->nodes, struct lattice_node, i);

		fprintf(file, "  n%u [label=\"", i);
		put_text(file, node->label);
		fprintf(file, "\\n%u request%s, %s in the mean\"];\n", node->requests,
			node->requests == 1 ? "" : "s", when_duration(ns, lattice_mean(node)));
	}
	for (guint i = 0; i < lattice->edges->len; i++) {
		const struct lattice_edge *edge =
			&g_array_index(lattice->edges, struct lattice_edge, i);
		g_autofree char *cost =
			edge->cost > 0 ? g_strdup_printf(", +%s", when_duration(ns, edge->cost))
				       : g_strdup("");

		fprintf(file, "  n%u -> n%u [label=\"%u%s\", penwidth=%.1f%s];\n", edge->from,
			edge->to, edge->requests, cost,
			1.0 + 5.0 * edge->requests / MAX(1, lattice->merged->len),
			edge->branch && edge->cost == 0 ? ", style=bold" : "");
	}
	fputs("}\n", file);
	lattice_free(lattice);
}
