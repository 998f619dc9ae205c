/* SPDX-License-Identifier: MIT */
/* See runners.h. */
#include "ready/runners.h"

#include <string.h>

#include "ready/cpu_runs.h"

#define SHOWN_MAX 3
#define SHARE_MIN 0.01

struct adding {
	const struct session *session;
	struct runners *runners;
};

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct adding *adding = data;
	const char *name = session_thread_name(adding->session, thread);
	int64_t *ns = g_hash_table_lookup(adding->runners->by, name);

	if (!ns) {
		ns = g_new0(int64_t, 1);
		g_hash_table_insert(adding->runners->by, (gpointer) name, ns);
	}
	*ns += end - begin;
	adding->runners->ns += end - begin;
}

struct ready runners_add_idle(struct runners *runners, const struct session *session,
			      uint32_t thread, const struct span *span)
{
	struct ready ready = ready_of(session, thread, span);

	runners->idle[ready.kind] += ready.idle;
	runners->deepest = MAX(runners->deepest, ready.idle_state + 1);
	return ready;
}

struct ready runners_add(struct runners *runners, const struct session *session, uint32_t thread,
			 const struct span *span)
{
	struct adding adding = {session, runners};
	struct ready ready = runners_add_idle(runners, session, thread, span);

	if (!runners->by)
		runners->by = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	each_run(session, model_thread(&session->trace.model, thread)->host, span->ref, span->begin,
		 span->end, add_run, &adding);
	return ready;
}

void runners_clear(struct runners *runners)
{
	if (runners->by)
		g_hash_table_destroy(runners->by);
	*runners = (struct runners) {0};
}

struct runner {
	const char *name;
	int64_t ns;
};

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct runner *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

void runners_append(const struct runners *runners, GString *text)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct runner));
	GHashTableIter iter;
	gpointer name, ns;

	g_hash_table_iter_init(&iter, runners->by);
	while (g_hash_table_iter_next(&iter, &name, &ns)) {
		struct runner runner = {name, *(int64_t *) ns};

		g_array_append_val(list, runner);
	}
	g_array_sort(list, most_first);
	for (guint i = 0; i < list->len && i < SHOWN_MAX; i++) {
		const struct runner *runner = &g_array_index(list, struct runner, i);
		double share = (double) runner->ns / (double) runners->ns;

		if (i && share < SHARE_MIN)
			break;
		g_string_append_printf(text, "%s%s %.0f %%", i ? ", " : "",
				       strcmp(runner->name, "?") == 0      ? "not known"
				       : strcmp(runner->name, "idle") == 0 ? "nobody"
									   : runner->name,
				       100.0 * share);
		if (strcmp(runner->name, "idle") == 0) {
			g_string_append(text, " (");
			runners_append_idle(runners, text);
			g_string_append_c(text, ')');
		}
	}
	g_array_free(list, TRUE);
}

void runners_append_idle(const struct runners *runners, GString *text)
{
	const char *comma = "";
	char length[32];
	int kinds = 0;

	for (int i = 0; i < READY_KINDS; i++)
		kinds += runners->idle[i] > 0;
	for (int i = 0; i < READY_KINDS; i++) {
		if (!runners->idle[i])
			continue;
		g_string_append_printf(text, "%s%s", comma, ready_text((enum ready_kind) i));
		if (kinds > 1)
			g_string_append_printf(text, " %s",
					       when_duration(length, runners->idle[i]));
		comma = ", ";
	}
	if (kinds && runners->deepest)
		g_string_append_printf(text, ", C-state %d%s", runners->deepest - 1,
				       kinds > 1 ? " at most" : "");
}
