/* SPDX-License-Identifier: MIT */
/* The calls of threads between two events, as indented text. */
#include <string.h>

#include "functions/call_timeline.h"
#include "functions/functions_report.h"

char *functions_tid_text(const struct functions *functions, uint32_t thread)
{
	int tid = model_thread(&functions->session->trace.model, thread)->tid;
	g_autofree char *same = g_strdup_printf(" (%d)", tid);

	return strstr(thread_names_get(functions->tree->namer->names, thread), same)
		       ? g_strdup("")
		       : g_strdup_printf(" (tid %d)", tid);
}

static void append_what(GString *line, const struct session *session, uint32_t thread,
			const struct rectangle *rectangle)
{
	g_autofree char *name = NULL, *leaf = NULL;
	struct cause cause;
	const char *file;

	if (rectangle_is_call(rectangle)) {
		name = frame_name(session, rectangle->what);
		g_string_append(line, name);
		if (rectangle->half == OPERATION_ENTRY_UNSEEN)
			g_string_append(line, " (begun before)");
		else if (rectangle->half == OPERATION_OPEN)
			g_string_append(line, " (not returned)");
		return;
	}
	cause = rectangle_cause(session, thread, rectangle);
	if (rectangle->kind == RECTANGLE_READY) {
		g_string_append_printf(line, "- %s", cause.label ? cause.label : "ready, no CPU");
	} else {
		uint32_t resource = session_resource(session, block_at(&session->trace.timeline,
								       rectangle->span.ref));

		file = resource ? session_text(session, resource) : "";
		leaf = cause_words(&cause);
		g_string_append_printf(line, "- blocked%s%s%s%s", *file ? " on " : "", file,
				       leaf && *leaf ? ", " : "", leaf ? leaf : "");
		cause_append_times(line, &cause);
	}
	cause_clear(&cause);
}

static void timeline_of(const struct functions *functions, uint32_t thread, struct output *output)
{
	const struct session *session = functions->session;
	GArray *list = call_timeline_new(functions->tree, thread);
	g_autofree char *name = text_safe(thread_names_get(functions->tree->namer->names, thread));
	g_autofree char *tid = functions_tid_text(functions, thread);
	g_autofree char *heading = g_strconcat("Calls of ", name, tid, NULL);
	char when[48], ns[32];

	if (list->len)
		text_heading(output, heading);
	for (guint i = 0; i < list->len; i++) {
		const struct rectangle *at = &g_array_index(list, struct rectangle, i);
		g_autoptr(GString) line = g_string_new(NULL);
		g_autofree char *safe = NULL;

		append_what(line, session, thread, at);
		safe = text_safe(line->str);
		when_duration(ns, at->end - at->begin);
		fprintf(output->file, "%s %*s  %*s%s\n",
			when_time(when, at->begin, session->asked.options->utc, false),
			text_width(10, ns), ns, 2 * (int) MIN(at->depth, 60), "", safe);
		if (i % 4096 == 4095)
			timeline_ease(&session->trace.timeline);
	}
	g_array_free(list, TRUE);
	call_tree_let_go(functions->tree, NO_THREAD);
}

void functions_timeline_text(const struct functions *functions, struct output *output)
{
	const GPtrArray *all = functions->tree->threads;

	for (guint i = 0; i < all->len; i++) {
		const GArray *threads = g_ptr_array_index(all, i);

		for (guint k = 0; threads && k < threads->len; k++)
			timeline_of(functions, g_array_index(threads, uint32_t, k), output);
	}
}
