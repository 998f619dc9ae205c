/* See runners.h. */
#include "analysis/runners.h"

#include <string.h>

#include "analysis/summary.h"

#define SHOWN_MAX 3
#define SHARE_MIN 0.01

struct adding {
	const struct session *session;
	struct runners *runners;
};

static void add(int64_t begin, int64_t end, uint32_t thread, void *data)
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

void runners_add(struct runners *runners, const struct session *session, uint16_t host,
		 const struct span *span)
{
	struct adding adding = {session, runners};

	if (!runners->by)
		runners->by = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	each_run(session, host, span->ref, span->begin, span->end, add, &adding);
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
	}
	g_array_free(list, TRUE);
}

double runners_idle(const struct runners *runners)
{
	const int64_t *ns = runners->by ? g_hash_table_lookup(runners->by, "idle") : NULL;

	return ns ? (double) *ns / (double) runners->ns : 0.0;
}

#define THROTTLED_MIN INT64_C(1000000) /* ns */
#define THROTTLED_IDLE 0.9

struct idling {
	int64_t idle;
	bool any, began_idle;
};

static void idled(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct idling *idling = data;

	if (!idling->any)
		idling->began_idle = thread == IDLE_THREAD;
	idling->any = true;
	if (thread == IDLE_THREAD)
		idling->idle += end - begin;
}

bool span_is_throttled(const struct session *session, uint16_t host, const struct span *span)
{
	struct idling idling = {0};
	int64_t length = span->end - span->begin;

	if (PACK_KIND(span->leaf) != LEAF_PREEMPTED || length < THROTTLED_MIN)
		return false;
	each_run(session, host, span->ref, span->begin, span->end, idled, &idling);
	return idling.began_idle && (double) idling.idle >= THROTTLED_IDLE * (double) length;
}
