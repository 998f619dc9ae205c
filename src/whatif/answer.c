/* SPDX-License-Identifier: MIT */
/* See answer.h. */
#include "whatif/answer.h"

#include <string.h>

#include "util/when.h"
#include "waits/state_names.h"
#include "waits/wait.h"
#include "whatif/parts.h"

#define SAID 3           /* parts of what is left */
#define SAID_SHARE 0.05  /* … that are at least so much of it */

static void append_share(GString *text, int64_t ns, int64_t all)
{
	char length[32];

	g_string_append(text, when_duration(length, ns));
	if (all > 0)
		g_string_append_printf(text, " (%.1f %%)", 100.0 * (double) ns / (double) all);
}

/* "53.1 ms (19.0 %) of what is left is x-session (218): user code" */
static char *part_words(const struct session *session, const struct part *part, int64_t left)
{
	g_autofree char *label = leaf_label(session, part->leaf);
	GString *text = g_string_new(NULL);

	append_share(text, part->ns, left);
	g_string_append_printf(text, " of what is left: %s (%d)%s, %s",
			       session_thread_name(session, part->thread),
			       model_thread(&session->trace.model, part->thread)->tid,
			       session_on(session, part->thread), label);
	if (part->resource && strcmp(session_text(session, part->resource), "sleep") != 0)
		g_string_append_printf(text, " on %s",
				       resource_words(session_text(session, part->resource)));
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

static void append_doubt(GString *text, int64_t ns, int64_t left, const char *what)
{
	if (!ns)
		return;
	g_string_append(text, text->len ? "; " : "");
	append_share(text, ns, left);
	g_string_append(text, what);
}

/* What the answer rests on that is not sure; NULL: nothing. */
static char *doubt(const struct what_if *what_if, int64_t left)
{
	const struct doubts *doubts = &what_if->doubts;
	GString *text = g_string_new(NULL);

	append_doubt(
		text, doubts->ready, left,
		" of what is left was ready and kept off the CPU, and may change with the rest");
	append_doubt(text, doubts->anchored, left,
		     " is waits that keep their time of day, as nothing tells what they hang on");
	append_doubt(text, doubts->inferred, left, " is waits whose cause is inferred");
	append_doubt(text, doubts->tries, left,
		     " is tries with pauses and waits given up, which might be fewer or more");
	append_doubt(text, doubts->limits, left,
		     " is kept back by limits, whose allowance grows meanwhile");
	append_doubt(text, doubts->gaps, left, " is waits across lost events");
	if (!text->len) {
		g_string_free(text, TRUE);
		return NULL;
	}
	g_string_prepend(text, "Not sure: ");
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

GPtrArray *answer_verdict(const struct session *session, const struct what_if *what_if,
			  const GArray *path)
{
	GPtrArray *verdict = g_ptr_array_new_with_free_func(g_free);
	GArray *parts = parts_of(session, path);
	int64_t left = what_if->gain.recorded - what_if->gain.saved;
	char *not_sure = doubt(what_if, left);

	g_ptr_array_add(verdict, gain_words(&what_if->gain, NULL));
	for (guint i = 0; i < parts->len && i < SAID; i++) {
		const struct part *part = &g_array_index(parts, struct part, i);

		if ((double) part->ns >= SAID_SHARE * (double) left)
			g_ptr_array_add(verdict, part_words(session, part, left));
	}
	if (not_sure)
		g_ptr_array_add(verdict, not_sure);
	g_ptr_array_add(verdict, replay_limits(what_if->replay));
	g_array_free(parts, TRUE);
	return verdict;
}
