/* SPDX-License-Identifier: MIT */
/* See reaches.h. */
#include "calls/reaches.h"

#include "symbols/code.h"

struct collecting {
	const struct call_tree *tree;
	GArray *list;     /* struct reached */
	GPtrArray *apart; /* GArray of int64_t: beside it, times between two */
};

static struct reached *find(struct collecting *to, uint32_t root, uint32_t what, GArray **apart)
{
	struct reached fresh = {.root = root, .what = what, .first = INT64_MAX, .last = INT64_MIN};
	guint i = 0;

	while (i < to->list->len && (g_array_index(to->list, struct reached, i).root != root ||
				     g_array_index(to->list, struct reached, i).what != what))
		i++;
	if (i == to->list->len) {
		g_array_append_val(to->list, fresh);
		g_ptr_array_add(to->apart, g_array_new(FALSE, FALSE, sizeof(int64_t)));
	}
	*apart = g_ptr_array_index(to->apart, i);
	return &g_array_index(to->list, struct reached, i);
}

/* From the newest record to the oldest. */
static void add_thread(struct collecting *to, uint32_t root, uint32_t index)
{
	const struct session *session = to->tree->session;
	const struct thread *thread = model_thread(&session->trace.model, index);
	struct idmap later; /* when it was entered next */
	g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(int64_t));

	idmap_init(&later);
	for (uint32_t at = thread->flow.operation; at;) {
		const struct operation *operation =
			operation_at(&session->trace.timeline.operations, at);
		struct reached *reached;
		uint32_t next;
		GArray *apart;

		at = operation->previous;
		if (PACK_KIND(operation->what) != OPERATION_REACHED ||
		    !call_scope_has(&to->tree->scope, index, operation->begin))
			continue;
		reached = find(to, root, operation->what, &apart);
		next = idmap_get(&later, operation->what);
		if (next != IDMAP_NONE) {
			int64_t ns = g_array_index(times, int64_t, next) - operation->begin;

			g_array_append_val(apart, ns);
			g_array_index(times, int64_t, next) = operation->begin;
		} else {
			idmap_set(&later, operation->what, times->len);
			g_array_append_val(times, operation->begin);
		}
		reached->count++;
		reached->first = MIN(reached->first, operation->begin);
		reached->last = MAX(reached->last, operation->begin);
	}
	idmap_clear(&later);
}

static int shortest_first(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct reached *x = a, *y = b;

	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

GArray *reaches_new(const struct call_tree *tree)
{
	struct collecting to = {tree, g_array_new(FALSE, FALSE, sizeof(struct reached)),
				g_ptr_array_new_with_free_func((GDestroyNotify) g_array_unref)};

	for (guint i = 0; tree->session->trace.kinds[EV_FUNCTION_REACHED] && i < tree->roots->len;
	     i++) {
		uint32_t root = g_array_index(tree->roots, uint32_t, i);
		const GArray *threads = g_ptr_array_index(tree->threads, root);

		for (guint k = 0; threads && k < threads->len; k++)
			add_thread(&to, root, g_array_index(threads, uint32_t, k));
	}
	for (guint i = 0; i < to.list->len; i++) {
		struct reached *reached = &g_array_index(to.list, struct reached, i);
		GArray *apart = g_ptr_array_index(to.apart, i);

		g_array_sort(apart, shortest_first);
		if (!apart->len)
			continue;
		reached->shortest = g_array_index(apart, int64_t, 0);
		reached->median = g_array_index(apart, int64_t, (apart->len - 1) / 2);
		reached->longest = g_array_index(apart, int64_t, apart->len - 1);
	}
	g_ptr_array_free(to.apart, TRUE);
	g_array_sort(to.list, most_first);
	return to.list;
}

char *reached_text(const struct session *session, uint32_t what)
{
	return code_demangle(session_text(session, PACK_NUMBER(what)));
}
