/* SPDX-License-Identifier: MIT */
/* Functions for other programs: rows of CSV, and folded stacks. */
#include <inttypes.h>

#include "functions/functions.h"
#include "functions/functions_report.h"

static const char *const states[] = {"unknown", "working", "interrupted", "blocked"};

void functions_csv(const struct functions *functions, struct output *output)
{
	FILE *file = output->file;

	fputs("kind,function,place,calls,open,working_ns,interrupted_ns,blocked_ns,unknown_ns,"
	      "own_working_ns,own_interrupted_ns,own_blocked_ns,own_unknown_ns\r\n",
	      file);
	for (guint i = 0; i < functions->rows->len; i++) {
		const struct function_row *row =
			&g_array_index(functions->rows, struct function_row, i);
		struct call_node node = {.kind = row->kind, .what = row->what};
		static const int order[] = {WIB_WORKING, WIB_INTERRUPTED, WIB_BLOCKED, WIB_UNKNOWN};

		fprintf(file, "%s,", call_node_kind_text(&node));
		csv_cell(file, row->name);
		fputc(',', file);
		csv_cell(file, row->place ? row->place : "");
		fprintf(file, ",%" PRIu64 ",%" PRIu64, row->calls, row->open);
		for (size_t k = 0; k < G_N_ELEMENTS(order); k++)
			fprintf(file, ",%" PRId64, row->all[order[k]]);
		for (size_t k = 0; k < G_N_ELEMENTS(order); k++)
			fprintf(file, ",%" PRId64, row->own[order[k]]);
		fputs("\r\n", file);
	}
}

/* A frame's name without what separates frames and their sums. */
static void append_frame(GString *stack, const char *name)
{
	g_autofree char *safe = text_safe(name);

	if (stack->len)
		g_string_append_c(stack, ';');
	for (const char *p = safe; *p; p++)
		g_string_append_c(stack, *p == ';' ? ':' : *p);
}

/* "thread;main;syscall:read;[blocked] 1234": of each call its own time, in ns. */
static void fold(const struct functions *functions, uint32_t place, GString *stack, FILE *file)
{
	const struct call_tree *tree = functions->tree;
	const struct call_node *node = call_node_at(tree, place);
	enum function_metric metric = functions->session->asked.options->functions.metric;
	static const int wanted[] = {[BY_CPU] = WIB_WORKING,
				     [BY_BLOCKED] = WIB_BLOCKED,
				     [BY_INTERRUPTED] = WIB_INTERRUPTED};
	gsize length = stack->len;
	g_autofree char *name = call_node_name(tree, place);

	append_frame(stack, name);
	for (int k = 0; k < 4; k++) {
		if (!node->own[k] || (metric != BY_WALL && k != wanted[metric]))
			continue;
		fputs(stack->str, file);
		if (k != WIB_WORKING)
			fprintf(file, ";[%s]", states[k]);
		fprintf(file, " %" PRId64 "\n", node->own[k]);
	}
	for (guint i = 0; i < node->children->len; i++)
		fold(functions, g_array_index(node->children, uint32_t, i), stack, file);
	g_string_truncate(stack, length);
}

void functions_folded(const struct functions *functions, struct output *output)
{
	const GArray *roots = functions->tree->roots;
	GString *stack = g_string_new(NULL);

	for (guint i = 0; i < roots->len; i++)
		fold(functions, g_array_index(roots, uint32_t, i), stack, output->file);
	g_string_free(stack, TRUE);
}
