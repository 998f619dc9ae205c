/* SPDX-License-Identifier: MIT */
/* See function_words.h. */
#include "samples/function_words.h"

#include <string.h>

#define NAMED_MAX 3     /* functions in a sentence */
#define NAMED_MIN 0.1   /* … of so much of the samples, but for the first */
#define CALLERS_MAX 3
#define CALLER_MOST 0.9 /* of a function's samples: its share need not be told */

static void append_share_of(GString *text, double share, double error)
{
	if (error < 0)
		g_string_append_printf(text, "%.0f %%", 100 * share);
	else
		g_string_append_printf(text, "%.0f ± %.0f %%", 100 * share, MAX(100 * error, 1));
}

void append_function(GString *text, const struct code_function *function, uint32_t line)
{
	const char *base = function->file ? strrchr(function->file, '/') : NULL;

	g_string_append(text, function->name);
	if (function->file && line)
		g_string_append_printf(text, " (%s:%u)", base ? base + 1 : function->file, line);
	else if (function->kernel)
		g_string_append(text, " [kernel]");
}

static void append_callers(GString *text, const struct function_share *share)
{
	const GArray *callers = share->callers;

	for (guint i = 0; i < callers->len && i < CALLERS_MAX; i++) {
		const struct function_caller *caller =
			&g_array_index(callers, struct function_caller, i);
		bool most = caller->samples >= CALLER_MOST * share->self;

		if (i && caller->share < NAMED_MIN)
			break;
		g_string_append_printf(text, "%s%s", i ? " and " : ", called from ",
				       caller->function->name);
		if (most)
			break;
		g_string_append(text, " (");
		append_share_of(text, caller->share, caller->error);
		g_string_append_c(text, ')');
	}
}

void append_functions(GString *text, const struct function_sums *sums)
{
	g_autoptr(GArray) list = NULL;

	if (!function_sums_count(sums))
		return;
	list = function_sums_list(sums, 0);
	for (guint i = 0; i < list->len && i < NAMED_MAX; i++) {
		const struct function_share *share = &g_array_index(list, struct function_share, i);

		if (!share->self || (i && share->self_share < NAMED_MIN))
			break;
		g_string_append(text, i ? "; " : "");
		append_share_of(text, share->self_share, i || share->error < 0 ? -1 : share->error);
		g_string_append(text, " in ");
		append_function(text, share->function, share->line);
		append_callers(text, share);
	}
	g_string_append_printf(text, "; %u sample%s", function_sums_count(sums),
			       function_sums_count(sums) == 1 ? "" : "s");
	if (function_sums_source(sums) > SAMPLE_INTERRUPT)
		g_string_append(text, ", by its own events, not by a clock");
	if (function_sums_cut(sums))
		g_string_append_printf(text, ", %u of whose stacks break off",
				       function_sums_cut(sums));
}
