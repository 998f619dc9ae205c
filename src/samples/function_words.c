/* SPDX-License-Identifier: MIT */
/* See function_words.h. */
#include "samples/function_words.h"

#include <string.h>

#define NAMED_MAX 3     /* functions in a sentence */
#define NAMED_MIN 0.1   /* … of so much of the samples, but for the first */
#define CALLERS_MAX 3
#define CUT_MIN 5       /* one of so many stacks that break off is worth a word */
#define INTERRUPTS_MIN 20 /* … so many of which one more fell into an interrupt */
#define FEW 5 /* samples: shares of fewer say nothing */
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

static void append_callers(GString *text, const struct function_share *share, bool few)
{
	const GArray *callers = share->callers;

	for (guint i = 0; i < callers->len && i < CALLERS_MAX; i++) {
		const struct function_caller *caller =
			&g_array_index(callers, struct function_caller, i);
		bool most = caller->samples >= CALLER_MOST * share->self;

		if ((i && caller->share < NAMED_MIN) ||
		    strcmp(caller->function->name, UNKNOWN_FUNCTION) == 0)
			break;
		g_string_append_printf(text, "%s%s", i ? " and " : ", called from ",
				       caller->function->name);
		if (most)
			break;
		if (few)
			continue;
		g_string_append(text, " (");
		append_share_of(text, caller->share, caller->error);
		g_string_append_c(text, ')');
	}
}

bool functions_are_few(const struct functions_sampled *sampled)
{
	return sampled->samples < FEW;
}

const char *sampled_whole(uint32_t leaf)
{
	uint32_t kind = PACK_KIND(leaf);

	return kind == LEAF_WORK_USER || kind == LEAF_WORK_KTHREAD ? "its own code" : "that";
}

/* "; 125 samples, 12 of which break off (no frame pointers); 9 more fell into interrupts" */
static void append_samples(GString *text, const struct functions_sampled *sampled)
{
	if (!functions_are_few(sampled))
		g_string_append_printf(text, "; %u samples", sampled->samples);
	if (sampled->source > SAMPLE_INTERRUPT)
		g_string_append(text, ", by its own events, not by a clock");
	if (sampled->cut * CUT_MIN >= sampled->samples)
		g_string_append_printf(text, ", %u of which break%s off (no frame pointers)",
				       sampled->cut, sampled->cut == 1 ? "s" : "");
	if (sampled->in_interrupts * INTERRUPTS_MIN >= sampled->samples)
		g_string_append_printf(text, "; %u more (%.0f %% of all) fell into interrupts",
				       sampled->in_interrupts,
				       100.0 * sampled->in_interrupts /
					       (sampled->samples + sampled->in_interrupts));
}

void append_functions(GString *text, const struct functions_sampled *sampled, const char *whole)
{
	bool few = functions_are_few(sampled);

	if (few)
		g_string_append_printf(text, "%u sample%s", sampled->samples,
				       sampled->samples == 1 ? "" : "s");
	for (guint i = 0; i < (sampled->functions ? sampled->functions->len : 0) && i < NAMED_MAX;
	     i++) {
		const struct function_share *share =
			&g_array_index(sampled->functions, struct function_share, i);

		if (!share->self || (i && share->self_share < NAMED_MIN))
			break;
		g_string_append(text, i ? "; " : few ? ", " : "");
		if (!few)
			append_share_of(text, share->self_share, i ? -1 : share->self_error);
		if (!few && !i)
			g_string_append_printf(text, " of %s", whole);
		g_string_append(text, few ? "in " : " in ");
		append_function(text, share->function, share->line);
		append_callers(text, share, few);
	}
	append_samples(text, sampled);
}
