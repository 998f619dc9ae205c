/* SPDX-License-Identifier: MIT */
/* Functions for other programs: folded stacks. */
#include <inttypes.h>

#include "functions/functions_report.h"

static const char *const states[] = {"unknown", "working", "interrupted", "blocked"};

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
