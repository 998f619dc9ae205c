/* SPDX-License-Identifier: MIT */
/* See kin.h. */
#include "diff/kin.h"

#include <string.h>

#include "event/event.h"

#define SCORED_MAX 250000 /* pairs of equals; of more, only their order is looked at */
#define ANCESTORS_MAX 16  /* that are compared */
#define LIKENESS 4   /* steps between nothing and all in common */

/* How alike two must be. */
enum alike { SAME_NAME, SAME_PROGRAM, SAME_BUT_NUMBERS };

/* One of `a` that may be one of `b`. */
struct chance {
	uint32_t a, b;
	uint32_t apart; /* places in the orders of their equals */
	uint8_t ancestors, program, contacts, siblings;
	bool same_tid;
};

struct matcher {
	const struct kindred *kindred;
	GArray **children[2]; /* owned; uint32_t, by begin, of each thread; last: of nobody */
	guint *place[2];      /* owned; of each thread among these */
	GQueue settled;       /* of `a`, matched: their children come next */
};

static const struct kin *kin_of(const struct matcher *matcher, int side, uint32_t at)
{
	return &matcher->kindred->of[side][at];
}

static uint32_t partner_of(const struct matcher *matcher, int side, uint32_t at)
{
	return matcher->kindred->partner[side][at];
}

static void settle(struct matcher *matcher, uint32_t a, uint32_t b)
{
	matcher->kindred->partner[0][a] = b;
	matcher->kindred->partner[1][b] = a;
	g_queue_push_tail(&matcher->settled, GUINT_TO_POINTER(a));
}

/* --- equals --------------------------------------------------------------------------- */

/* What both must have in common, as a key; NULL: it cannot be told by that. */
static char *key_of(const struct kin *kin, enum alike alike)
{
	GString *key;

	if ((alike == SAME_PROGRAM && !(kin->leads && *kin->program)) ||
	    (alike == SAME_BUT_NUMBERS && kin->leads && !kin->kernel) ||
	    (alike != SAME_PROGRAM && !*kin->name))
		return NULL;
	key = g_string_new(NULL);
	g_string_printf(key, "%u %d%d ", kin->host, kin->kernel, kin->leads);
	for (const char *at = kin->name; alike != SAME_PROGRAM && *at; at++)
		if (alike == SAME_NAME || !g_ascii_isdigit(*at))
			g_string_append_c(key, *at);
		else if (at == kin->name || !g_ascii_isdigit(at[-1]))
			g_string_append_c(key, '0');
	if (alike == SAME_PROGRAM)
		g_string_append(key, kin->program);
	return g_string_free(key, FALSE);
}

/* How much of what either talks to both do. */
static uint8_t likeness(const GArray *a, const GArray *b)
{
	guint i = 0, k = 0, common = 0, all;

	if (!a || !b)
		return a == b ? LIKENESS : 0;
	while (i < a->len && k < b->len) {
		uint32_t x = g_array_index(a, uint32_t, i), y = g_array_index(b, uint32_t, k);

		common += x == y;
		i += x <= y;
		k += y <= x;
	}
	all = a->len + b->len - common;
	return all ? (uint8_t) (common * LIKENESS / all) : LIKENESS;
}

/* Ancestors in a row that are one, or have one name. */
static uint8_t common_ancestors(const struct matcher *matcher, uint32_t a, uint32_t b)
{
	uint8_t count = 0;

	while (count < ANCESTORS_MAX) {
		a = kin_of(matcher, 0, a)->parent;
		b = kin_of(matcher, 1, b)->parent;
		if (a == NO_THREAD || b == NO_THREAD)
			return count;
		if (partner_of(matcher, 0, a) == b)
			return ANCESTORS_MAX;
		if (strcmp(kin_of(matcher, 0, a)->name, kin_of(matcher, 1, b)->name) != 0)
			return count;
		count++;
	}
	return count;
}

/* The name of who was created before it (-1) or after it (1); "": nobody was. */
static const char *sibling_name(const struct matcher *matcher, int side, uint32_t at, int step)
{
	uint32_t parent = kin_of(matcher, side, at)->parent;
	guint place = matcher->place[side][at];
	const GArray *all =
		matcher->children[side]
				 [parent == NO_THREAD ? matcher->kindred->count[side] : parent];

	if ((step < 0 && place == 0) || (step > 0 && place + 1 >= all->len))
		return "";
	return kin_of(matcher, side, g_array_index(all, uint32_t, place + (guint) step))->name;
}

static uint8_t common_siblings(const struct matcher *matcher, uint32_t a, uint32_t b)
{
	uint8_t count = 0;

	for (int step = -1; step <= 1; step += 2)
		count += strcmp(sibling_name(matcher, 0, a, step),
				sibling_name(matcher, 1, b, step)) == 0;
	return count;
}

/* 2: one program, 1: not known of one of them. */
static uint8_t common_program(const struct kin *a, const struct kin *b)
{
	if (!*a->program || !*b->program)
		return 1;
	return strcmp(a->program, b->program) == 0 ? 2 : 0;
}

static int best_first(gconstpointer a, gconstpointer b)
{
	const struct chance *x = a, *y = b;

	if (x->ancestors != y->ancestors)
		return x->ancestors > y->ancestors ? -1 : 1;
	if (x->program != y->program)
		return x->program > y->program ? -1 : 1;
	if (x->contacts != y->contacts)
		return x->contacts > y->contacts ? -1 : 1;
	if (x->siblings != y->siblings)
		return x->siblings > y->siblings ? -1 : 1;
	if (x->apart != y->apart)
		return x->apart < y->apart ? -1 : 1;
	if (x->same_tid != y->same_tid)
		return x->same_tid ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	return x->b < y->b ? -1 : x->b > y->b;
}

/* Any of `a` may be any of `b`. */
static void match_equals(struct matcher *matcher, const GArray *a, const GArray *b)
{
	GArray *chances;

	if ((uint64_t) a->len * b->len > SCORED_MAX || (a->len == 1 && b->len == 1)) {
		for (guint i = 0; i < MIN(a->len, b->len); i++)
			settle(matcher, g_array_index(a, uint32_t, i),
			       g_array_index(b, uint32_t, i));
		return;
	}
	chances = g_array_new(FALSE, FALSE, sizeof(struct chance));
	for (guint i = 0; i < a->len; i++)
		for (guint k = 0; k < b->len; k++) {
			uint32_t x = g_array_index(a, uint32_t, i);
			uint32_t y = g_array_index(b, uint32_t, k);
			const struct kin *of_a = kin_of(matcher, 0, x),
					 *of_b = kin_of(matcher, 1, y);
			struct chance chance = {
				.a = x,
				.b = y,
				.apart = i > k ? i - k : k - i,
				.ancestors = common_ancestors(matcher, x, y),
				.program = common_program(of_a, of_b),
				.contacts = likeness(of_a->contacts, of_b->contacts),
				.siblings = common_siblings(matcher, x, y),
				.same_tid = of_a->tid == of_b->tid};

			g_array_append_val(chances, chance);
		}
	g_array_sort(chances, best_first);
	for (guint i = 0; i < chances->len; i++) {
		const struct chance *at = &g_array_index(chances, struct chance, i);

		if (partner_of(matcher, 0, at->a) == NO_THREAD &&
		    partner_of(matcher, 1, at->b) == NO_THREAD)
			settle(matcher, at->a, at->b);
	}
	g_array_free(chances, TRUE);
}

char *kin_lasting(const char *key)
{
	GString *text = g_string_new(NULL);

	while (*key) {
		char *end = (char *) key + 1;
		bool bracket = text->len && text->str[text->len - 1] == '[';
		guint64 number = 0;

		if (g_ascii_isdigit(*key))
			number = g_ascii_strtoull(key, &end, 10);
		/* given ports are others in another run, as inodes and PIDs are */
		if (number >= PORT_GIVEN || (bracket && *end == ']' && number))
			g_string_append_c(text, '*');
		else
			g_string_append_len(text, key, end - key);
		key = end;
	}
	return g_string_free(text, FALSE);
}

/* --- families --------------------------------------------------------------------------- */

/* Those without a partner, by key. */
static GHashTable *by_key(const struct matcher *matcher, int side, const GArray *list,
			  enum alike alike)
{
	GHashTable *found = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
						  (GDestroyNotify) g_array_unref);

	for (guint i = 0; i < list->len; i++) {
		uint32_t at = g_array_index(list, uint32_t, i);
		char *key = partner_of(matcher, side, at) == NO_THREAD
				    ? key_of(kin_of(matcher, side, at), alike)
				    : NULL;
		GArray *of_key;

		if (!key)
			continue;
		of_key = g_hash_table_lookup(found, key);
		if (!of_key) {
			of_key = g_array_new(FALSE, FALSE, sizeof(uint32_t));
			g_hash_table_insert(found, g_strdup(key), of_key);
		}
		g_array_append_val(of_key, at);
		g_free(key);
	}
	return found;
}

static void match_lists(struct matcher *matcher, const GArray *a, const GArray *b, enum alike alike)
{
	g_autoptr(GHashTable) of_a = NULL, of_b = NULL;
	g_autoptr(GList) keys = NULL;

	if (!a->len || !b->len)
		return;
	of_a = by_key(matcher, 0, a, alike);
	of_b = by_key(matcher, 1, b, alike);
	keys = g_list_sort(g_hash_table_get_keys(of_a), (GCompareFunc) strcmp);
	for (const GList *at = keys; at; at = at->next) {
		const GArray *equals = g_hash_table_lookup(of_b, at->data);

		if (equals)
			match_equals(matcher, g_hash_table_lookup(of_a, at->data), equals);
	}
}

static void match_families(struct matcher *matcher, const GArray *a, const GArray *b)
{
	for (enum alike alike = SAME_NAME; alike <= SAME_BUT_NUMBERS; alike++)
		match_lists(matcher, a, b, alike);
}

static void match_settled(struct matcher *matcher)
{
	while (!g_queue_is_empty(&matcher->settled)) {
		uint32_t a = GPOINTER_TO_UINT(g_queue_pop_head(&matcher->settled));

		match_families(matcher, matcher->children[0][a],
			       matcher->children[1][partner_of(matcher, 0, a)]);
	}
}

/* Up from two that are one by what was asked: so are their parents, as long as they have one
 * name. */
static void match_ancestors(struct matcher *matcher, uint32_t a)
{
	uint32_t b = partner_of(matcher, 0, a);

	for (;;) {
		g_queue_push_tail(&matcher->settled, GUINT_TO_POINTER(a));
		a = kin_of(matcher, 0, a)->parent;
		b = kin_of(matcher, 1, b)->parent;
		if (a == NO_THREAD || b == NO_THREAD || partner_of(matcher, 0, a) != NO_THREAD ||
		    partner_of(matcher, 1, b) != NO_THREAD ||
		    strcmp(kin_of(matcher, 0, a)->name, kin_of(matcher, 1, b)->name) != 0)
			return;
		matcher->kindred->partner[0][a] = b;
		matcher->kindred->partner[1][b] = a;
	}
}

static gint by_begin(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct kin *of = data, *x = &of[*(const uint32_t *) a],
			 *y = &of[*(const uint32_t *) b];

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return *(const uint32_t *) a < *(const uint32_t *) b ? -1 : 1;
}

static void find_families(struct matcher *matcher, int side)
{
	const struct kin *of = matcher->kindred->of[side];
	guint count = matcher->kindred->count[side];
	GArray **children = g_new(GArray *, count + 1);

	matcher->children[side] = children;
	matcher->place[side] = g_new(guint, count + 1);
	for (guint i = 0; i <= count; i++)
		children[i] = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		g_array_append_val(children[of[i].parent == NO_THREAD ? count : of[i].parent], i);
	for (guint i = 0; i <= count; i++) {
		g_array_sort_with_data(children[i], by_begin, (gpointer) of);
		for (guint k = 0; k < children[i]->len; k++)
			matcher->place[side][g_array_index(children[i], uint32_t, k)] = k;
	}
}

static GArray *everybody(const struct kindred *kindred, int side)
{
	GArray *all = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < kindred->count[side]; i++)
		g_array_append_val(all, i);
	g_array_sort_with_data(all, by_begin, (gpointer) kindred->of[side]);
	return all;
}

void kin_match(const struct kindred *kindred)
{
	struct matcher matcher = {.kindred = kindred, .settled = G_QUEUE_INIT};
	g_autoptr(GArray) of_a = everybody(kindred, 0), of_b = everybody(kindred, 1);

	for (int side = 0; side < 2; side++)
		find_families(&matcher, side);
	for (uint32_t a = 0; a < kindred->count[0]; a++)
		if (kindred->partner[0][a] != NO_THREAD)
			match_ancestors(&matcher, a);
	match_settled(&matcher);
	match_families(&matcher, matcher.children[0][kindred->count[0]],
		       matcher.children[1][kindred->count[1]]);
	match_settled(&matcher);
	match_lists(&matcher, of_a, of_b, SAME_NAME);
	match_settled(&matcher);
	for (int side = 0; side < 2; side++) {
		for (guint i = 0; i <= kindred->count[side]; i++)
			g_array_free(matcher.children[side][i], TRUE);
		g_free(matcher.children[side]);
		g_free(matcher.place[side]);
	}
}
