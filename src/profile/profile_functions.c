/* SPDX-License-Identifier: MIT */
/* See profile_functions.h. The time of the peaks' operations is split once more, for the stretches
 * of threads' time that roots are made of. */
#include "profile/profile_functions.h"

#include "samples/function_words.h"

#define ROOTS_MAX UINT8_MAX /* struct part's thing */

/* One of the roots that are looked at. */
struct ran {
	struct peak *peak;
	struct root *root; /* borrowed; NULL: the one that took most time, roots_most_time() */
	struct root most;  /* … that one */
	struct function_sums *sums; /* owned */
	GHashTable *seen;  /* owned; thread and sample (uint64_t): those that are counted */
};

struct search {
	const struct session *session;
	GArray *list; /* struct ran */
};

static const struct root *root_of(const struct ran *ran)
{
	return ran->root ? ran->root : &ran->most;
}

/* A thread was on a CPU, or what interrupted it. */
static bool may_run(const struct root *root)
{
	enum part_kind kind = (enum part_kind) root->part->kind;

	return root->ns > 0 &&
	       (kind == PART_OPERATION || kind == PART_OWN || kind == PART_FUNCTION ||
		kind == PART_INTERRUPT || kind == PART_HRTIMER || kind == PART_LEAF);
}

static void add(GArray *list, struct peak *peak, struct root *root, const struct root *most)
{
	struct ran ran = {.peak = peak, .root = root};

	if (most)
		ran.most = *most;
	if (may_run(root_of(&ran)))
		g_array_append_val(list, ran);
}

static int most_time_first(gconstpointer a, gconstpointer b)
{
	int64_t x = root_of(a)->ns, y = root_of(b)->ns;

	return (x < y) - (x > y);
}

static GArray *roots_that_ran(const struct profiles *profiles)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(struct ran));

	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++) {
			struct peak *peak = &g_array_index(profile->peaks, struct peak, p);
			struct root most;

			for (guint k = 0; peak->roots && k < peak->roots->len; k++)
				add(list, peak, &g_array_index(peak->roots, struct root, k), NULL);
			if (peak->roots && roots_most_time(peak, &most))
				add(list, peak, NULL, &most);
		}
	}
	g_array_sort(list, most_time_first);
	g_array_set_size(list, MIN(list->len, ROOTS_MAX));
	return list;
}

/* Root i is thing i + 1 in the trees. */
static void mark(GArray *list, bool asked)
{
	for (guint i = 0; i < list->len; i++) {
		const struct ran *ran = &g_array_index(list, struct ran, i);
		struct part *part;
		bool all;

		part = root_whole(root_of(ran), &all);
		*(all ? &part->thing : &part->own_thing) = asked ? (uint8_t) (i + 1) : 0;
		ran->peak->noted = asked;
	}
}

static void note(guint thing, uint32_t thread, int64_t begin, int64_t end, bool by_turns,
		 void *data)
{
	const struct search *search = data;
	const struct ran *ran = &g_array_index(search->list, struct ran, thing - 1);
	const struct pages *store = &search->session->trace.timeline.samples;
	const struct log *log = &model_thread(&search->session->trace.model, thread)->samples;

	(void) by_turns;
	for (uint32_t i = log->used ? sample_find(store, log, begin) : 0; i < log->used; i++) {
		const struct sample *sample = sample_at(store, log, i);
		uint64_t key = (uint64_t) thread << 32 | i;

		if (sample->time > end)
			return;
		if (g_hash_table_add(ran->seen, g_memdup2(&key, sizeof key)))
			function_sums_add(ran->sums, thread, sample);
	}
}

static void each(const struct operation *operation, const struct peak *peak, void *data)
{
	(void) operation;
	(void) peak;
	(void) data;
}

static void take(const struct ran *ran)
{
	*(ran->root ? &ran->root->sampled : &ran->peak->most_sampled) =
		function_sums_take(ran->sums, root_of(ran)->ns, true);
	function_sums_free(ran->sums);
	g_hash_table_destroy(ran->seen);
}

void profile_add_functions(struct profiles *profiles)
{
	struct search search = {.session = profiles->session};

	if (!search.session->trace.timeline.samples.used)
		return;
	search.list = roots_that_ran(profiles);
	for (guint i = 0; i < search.list->len; i++) {
		struct ran *ran = &g_array_index(search.list, struct ran, i);

		ran->sums = function_sums_new(search.session);
		ran->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	}
	mark(search.list, true);
	roots_note(profiles, note, each, &search);
	mark(search.list, false);
	for (guint i = 0; i < search.list->len; i++)
		take(&g_array_index(search.list, struct ran, i));
	g_array_free(search.list, TRUE);
}

char *root_functions_words(const struct root *root)
{
	g_autoptr(GString) text = g_string_new("In its samples: ");

	if (functions_are_few(&root->sampled))
		return NULL;
	append_functions(text, &root->sampled, "that work");
	g_string_append_c(text, '.');
	return g_string_free(g_steal_pointer(&text), FALSE);
}
