/* SPDX-License-Identifier: MIT */
/* See best.h. */
#include "whatif/best.h"

#include <string.h>

#include "waits/state_names.h"
#include "whatif/new_path.h"
#include "whatif/parts.h"

#define FIRST_MAX 6      /* things that the path was spent on, … */
#define TRIED_MAX 10     /* … with those that limit next */
#define LEAST_SHARE 0.01 /* of the way: what takes less is not tried */
#define MUCH_MORE 1.25   /* two together, than both alone add up to */
#define PARTS_MAX 256 /* kinds of pieces of a path that are looked at, longest first */
#define SHOWN 5

G_STATIC_ASSERT(1 + TRIED_MAX + TRIED_MAX * (TRIED_MAX - 1) / 2 <= SCENARIOS_MAX);

static void best_clear(gpointer best)
{
	g_ptr_array_unref(((struct best *) best)->rules);
}

/* A word of a rule, quoted where a shell would need it, too. */
static void append_word(GString *text, const char *name, const char *value)
{
	g_autofree char *quoted = g_shell_quote(value);

	g_string_append_printf(text, "%s%s=%s", text->len ? " " : "", name,
			       strpbrk(value, " '\"\\#$`") ? quoted : value);
}

/* By its name, as siblings do the same; by its number only where the name would be taken for one,
 * or for a pattern. */
static void append_thread(GString *text, const struct session *session, uint32_t index)
{
	const char *name = session_thread_name(session, index);
	g_autofree char *tid =
		g_strdup_printf("%d", model_thread(&session->trace.model, index)->tid);

	append_word(text, "thread", g_ascii_isdigit(*name) || strpbrk(name, "*?") ? tid : name);
}

static char *rule_words(const struct session *session, const struct part *part)
{
	const struct model *model = &session->trace.model;
	const struct thread *thread = model_thread(model, part->thread);
	const char *host = model_host(model, thread->host)->hostname;
	g_autofree char *key = leaf_key(session, part->leaf);
	GString *text = g_string_new(NULL);

	append_thread(text, session, part->thread);
	if (model->hosts->len > 1 && host)
		append_word(text, "host", host);
	append_word(text, "leaf", key);
	if (part->resource)
		append_word(text, "on", session_text(session, part->resource));
	g_string_append(text, ": 0");
	return g_string_free(text, FALSE);
}

/* A rule, and what it picks of a path. */
struct likely {
	char *rule; /* owned */
	int64_t ns;
};

static void choice_clear(gpointer choice)
{
	g_free(((struct likely *) choice)->rule);
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct likely *x = a, *y = b;

	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->rule, y->rule);
}

static void add_choice(GArray *list, char *rule, int64_t ns)
{
	struct likely one = {rule, ns};

	for (guint i = 0; i < list->len; i++) {
		struct likely *like = &g_array_index(list, struct likely, i);

		if (strcmp(like->rule, rule) == 0) {
			like->ns += ns;
			g_free(rule);
			return;
		}
	}
	g_array_append_val(list, one);
}

/* Where to save, and how much there is. */
struct ways {
	GArray *list; /* struct way, WAYS_MAX at most */
	int64_t ns;   /* of all of them */
};

static int longest_way_first(gconstpointer a, gconstpointer b)
{
	const struct way *x = a, *y = b;
	int64_t ns_x = x->to - x->from, ns_y = y->to - y->from;

	if (ns_x != ns_y)
		return ns_x > ns_y ? -1 : 1;
	return x->from != y->from ? (x->from < y->from ? -1 : 1)
				  : (int) (x->thread > y->thread) - (int) (x->thread < y->thread);
}

static struct ways ways_of(const GArray *all)
{
	struct ways ways = {g_array_new(FALSE, FALSE, sizeof(struct way)), 0};

	g_array_append_vals(ways.list, all->data, all->len);
	g_array_sort(ways.list, longest_way_first);
	g_array_set_size(ways.list, MIN(all->len, WAYS_MAX));
	for (guint i = 0; i < ways.list->len; i++) {
		const struct way *way = &g_array_index(ways.list, struct way, i);

		ways.ns += way->to - way->from;
	}
	return ways;
}

/* What the paths in that scenario were spent on, longest first. */
static GArray *choices_of(const struct session *session, const struct retimed *retimed,
			  guint scenario, const struct ways *ways)
{
	GArray *pieces = g_array_new(FALSE, FALSE, sizeof(struct new_piece)), *parts;
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct likely));

	g_array_set_clear_func(list, choice_clear);
	for (guint i = 0; i < ways->list->len; i++) {
		const struct way *way = &g_array_index(ways->list, struct way, i);
		GArray *path =
			new_path(session, retimed, scenario, way->thread,
				 retimed_at(retimed, scenario, way->first, way->from), way->to);

		g_array_append_vals(pieces, path->data, path->len);
		g_array_free(path, TRUE);
	}
	parts = parts_of(session, pieces);
	for (guint i = 0; i < parts->len && list->len < PARTS_MAX; i++) {
		const struct part *part = &g_array_index(parts, struct part, i);

		if (PACK_KIND(part->leaf) != LEAF_UNKNOWN)
			add_choice(list, rule_words(session, part), part->ns);
	}
	g_array_free(parts, TRUE);
	g_array_free(pieces, TRUE);
	g_array_sort(list, longest_first);
	return list;
}

static bool is_tried(const GPtrArray *tried, const char *rule)
{
	for (guint i = 0; i < tried->len; i++)
		if (strcmp(g_ptr_array_index(tried, i), rule) == 0)
			return true;
	return false;
}

/* The largest that are not tried yet, up to `most` in all. */
static void add_largest(GPtrArray *tried, guint most, const struct session *session,
			const struct retimed *retimed, guint scenario, const struct ways *ways)
{
	g_autoptr(GArray) list = choices_of(session, retimed, scenario, ways);

	for (guint i = 0; i < list->len && tried->len < most; i++) {
		const struct likely *one = &g_array_index(list, struct likely, i);

		if ((double) one->ns >= LEAST_SHARE * (double) ways->ns &&
		    !is_tried(tried, one->rule))
			g_ptr_array_add(tried, g_strdup(one->rule));
	}
}

static struct retimed *play(const struct session *session, struct rules *rules,
			    const struct scenario *scenarios, guint count, const struct ways *ways)
{
	return retime_ways(session, rules, scenarios, count, ways->list, session->asked.from,
			   session->asked.to);
}

/* What the path was spent on, and what limits next. */
static GPtrArray *things_to_try(const struct session *session, const struct ways *ways)
{
	GPtrArray *tried = g_ptr_array_new_with_free_func(g_free);
	struct scenario scenarios[FIRST_MAX] = {0};
	struct rules *rules = rules_new(session, NULL, 0);
	struct retimed *retimed = play(session, rules, scenarios, 1, ways);
	guint first;

	add_largest(tried, FIRST_MAX, session, retimed, 0, ways);
	retimed_free(retimed);
	rules_free(rules);
	first = tried->len;
	if (!first)
		return tried;
	rules = rules_new(session, (const char *const *) tried->pdata, first);
	for (guint i = 0; i < first; i++)
		scenarios[i].rules = UINT64_C(1) << i;
	retimed = play(session, rules, scenarios, first, ways);
	for (guint i = 0; i < first; i++)
		add_largest(tried, MIN(tried->len + 2, TRIED_MAX), session, retimed, i, ways);
	retimed_free(retimed);
	rules_free(rules);
	return tried;
}

static void add_best(GArray *list, const GPtrArray *tried, guint a, guint b, int64_t saved)
{
	struct best best = {g_ptr_array_new_with_free_func(g_free), saved};

	g_ptr_array_add(best.rules, g_strdup(g_ptr_array_index(tried, a)));
	if (a != b)
		g_ptr_array_add(best.rules, g_strdup(g_ptr_array_index(tried, b)));
	g_array_append_val(list, best);
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct best *x = a, *y = b;

	if (x->saved != y->saved)
		return x->saved > y->saved ? -1 : 1;
	if (x->rules->len != y->rules->len)
		return x->rules->len < y->rules->len ? -1 : 1;
	return strcmp(g_ptr_array_index(x->rules, 0), g_ptr_array_index(y->rules, 0));
}

static int64_t saved_in(const struct retimed *retimed, guint scenario, const struct ways *ways)
{
	int64_t saved = 0;

	for (guint i = 0; i < ways->list->len; i++)
		saved +=
			retimed_saved(retimed, scenario, &g_array_index(ways->list, struct way, i));
	return saved;
}

/* Scenario i is the thing i alone; then each two, in order. */
static void judge(GArray *list, const GPtrArray *tried, const struct retimed *retimed,
		  const struct ways *ways)
{
	guint scenario = tried->len;
	int64_t alone[TRIED_MAX];

	for (guint i = 0; i < tried->len; i++) {
		alone[i] = saved_in(retimed, i, ways);
		if (alone[i] > 0)
			add_best(list, tried, i, i, alone[i]);
	}
	for (guint i = 0; i < tried->len; i++)
		for (guint k = i + 1; k < tried->len; k++) {
			int64_t both = saved_in(retimed, scenario++, ways);

			if ((double) both > MUCH_MORE * (double) (alone[i] + alone[k]) &&
			    (double) both > LEAST_SHARE * (double) ways->ns)
				add_best(list, tried, i, k, both);
		}
}

static GArray *find(const struct session *session, const struct ways *ways)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct best));
	g_autoptr(GPtrArray) tried = things_to_try(session, ways);
	struct scenario scenarios[SCENARIOS_MAX] = {0};
	guint count = tried->len;
	struct retimed *retimed;
	struct rules *rules;

	g_array_set_clear_func(list, best_clear);
	if (!tried->len)
		return list;
	for (guint i = 0; i < tried->len; i++)
		scenarios[i].rules = UINT64_C(1) << i;
	for (guint i = 0; i < tried->len; i++)
		for (guint k = i + 1; k < tried->len; k++)
			scenarios[count++].rules = UINT64_C(1) << i | UINT64_C(1) << k;
	rules = rules_new(session, (const char *const *) tried->pdata, tried->len);
	retimed = play(session, rules, scenarios, count, ways);
	judge(list, tried, retimed, ways);
	retimed_free(retimed);
	rules_free(rules);
	g_array_sort(list, most_first);
	if (list->len > SHOWN)
		g_array_set_size(list, SHOWN);
	return list;
}

GArray *best_find(const struct session *session, const GArray *ways)
{
	struct ways longest = ways_of(ways);
	GArray *list = find(session, &longest);

	g_array_free(longest.list, TRUE);
	return list;
}
