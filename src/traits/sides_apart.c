/* SPDX-License-Identifier: MIT */
/* See sides_apart.h. */
#include "traits/sides_apart.h"

#include <stdlib.h>
#include <string.h>

#include "apart/draw.h"
#include "traits/known_of.h"
#include "traits/known_words.h"

#define SAMPLE 1024 /* operations of a kind and a side */
#define BLOCKS_APART 20 /* of time, where the sides follow one another */
#define NO_KIND UINT32_MAX

struct sampled_row {
	uint32_t operation;
	guint side;
	int64_t ns;
	int64_t values[KNOWN_COLUMNS];
};

/* Operations of one kind. */
struct kind {
	uint64_t count[2]; /* of each side */
	uint32_t kept[2];
	uint32_t *operations[2]; /* owned; any of them as likely */
	struct known_fields fields[2]; /* of each session */
	GArray *rows; /* owned; struct sampled_row: of the first side, then of the second */
	GArray *found; /* owned; struct trait */
	uint64_t (*has)[2]; /* owned; by trait and side: that have it */
	struct traits *traits; /* given away */
};

struct comparing {
	const struct sides_asked *asked; /* borrowed */
	struct kind *kinds; /* owned */
	struct file_kinds *files[2]; /* owned; of each store */
	uint64_t random;
};

/* What is to be done with an operation of a kind and a side; `number`: in its store. */
typedef void meet_operation(struct comparing *comparing, struct known_walk *walk, guint kind,
			    guint side, uint32_t number);

static bool same_store(const struct comparing *comparing)
{
	return comparing->asked->session[0] == comparing->asked->session[1];
}

/* Which sides' operations a store has: bits. */
static guint sides_of(const struct comparing *comparing, guint store)
{
	return same_store(comparing) ? 3 : 1u << store;
}

/* `wanted`: columns; 0: nothing is to be known of them. */
static void pass(struct comparing *comparing, uint64_t wanted, meet_operation *meet)
{
	const struct sides_asked *asked = comparing->asked;

	for (guint s = 0; s < (same_store(comparing) ? 1 : 2); s++) {
		const struct session *session = asked->session[s];
		const struct pages *store = &session->trace.timeline.operations;
		struct known_walk *walk =
			wanted ? known_walk_new(session, wanted, comparing->files[s]) : NULL;

		for (uint32_t i = 1; i < store->used; i++) {
			const struct operation *operation = operation_at(store, i);
			guint kind;
			bool met = false;

			pages_pass(store, i);
			kind = asked->kind_of(asked->data, s, operation);
			for (guint side = 0; kind != NO_KIND && side < 2; side++)
				if (sides_of(comparing, s) & 1u << side && !met &&
				    asked->of_side(asked->data, side, operation, i)) {
					meet(comparing, walk, kind, side, i);
					met = true;
				}
			if (walk && kind != NO_KIND && !met)
				known_history(walk, kind + 1, i, NULL);
			if (walk)
				known_pass(walk, i);
			else
				file_kinds_meet(comparing->files[s], i);
		}
		if (walk)
			known_walk_free(walk);
	}
}

/* --- sampling ------------------------------------------------------------------------------- */

/* Any subset of so many is as likely (Vitter's algorithm R). */
static void sample(struct comparing *comparing, struct known_walk *walk, guint number, guint side,
		   uint32_t operation)
{
	struct kind *kind = &comparing->kinds[number];
	uint64_t at = kind->count[side];

	(void) walk;
	if (at >= SAMPLE)
		at = draw(&comparing->random, (guint) MIN(at + 1, UINT32_MAX));
	kind->count[side]++;
	if (at < SAMPLE)
		kind->operations[side][at] = operation;
	kind->kept[side] = (uint32_t) MIN(kind->count[side], SAMPLE);
}

static int ascending(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

	return x < y ? -1 : x > y;
}

static bool is_sampled(const struct kind *kind, guint side, uint32_t operation)
{
	return bsearch(&operation, kind->operations[side], kind->kept[side], sizeof operation,
		       ascending);
}

/* The place of a field of the second session among those of the first. */
static guint own_place(const struct comparing *comparing, struct kind *kind, guint column)
{
	const struct session *const *session = comparing->asked->session;
	struct known_fields *fields = &kind->fields[0];
	uint32_t name = intern_id(session[0]->trace.model.names,
				  session_text(session[1], kind->fields[1].at[column].name));
	guint at = 0;

	while (at < fields->count && fields->at[at].name != name)
		at++;
	if (at == fields->count && at < KNOWN_OWN) {
		fields->at[at].name = name;
		fields->at[at].type = kind->fields[1].at[column].type;
		fields->count++;
	}
	return at;
}

/* Values of the second session in terms of the first. */
static void translate(const struct comparing *comparing, struct kind *kind, int64_t *values)
{
	const struct session *const *session = comparing->asked->session;
	int64_t own[KNOWN_OWN];

	memcpy(own, values, sizeof own);
	for (guint c = 0; c < KNOWN_OWN; c++)
		values[c] = FIELD_NONE;
	for (guint c = 0; c < kind->fields[1].count; c++) {
		guint at = own_place(comparing, kind, c);

		if (at < KNOWN_OWN)
			values[at] = own[c];
	}
	for (guint c = KNOWN_OWN; c < KNOWN_COLUMNS; c++)
		if (known_is_named(c) && values[c] != FIELD_NONE)
			values[c] = intern_id(session[0]->trace.model.names,
					      session_text(session[1], (uint32_t) values[c]));
}

static void values_of(struct comparing *comparing, struct known_walk *walk, guint number,
		      guint side, uint32_t operation, int64_t *values)
{
	struct kind *kind = &comparing->kinds[number];
	bool other = side && !same_store(comparing);
	struct known_history history;

	known_history(walk, number + 1, operation, &history);
	known_values(walk, &kind->fields[other], operation, &history, values);
	if (other)
		translate(comparing, kind, values);
}

static void fill(struct comparing *comparing, struct known_walk *walk, guint number, guint side,
		 uint32_t operation)
{
	struct kind *kind = &comparing->kinds[number];
	const struct session *session = comparing->asked->session[same_store(comparing) ? 0 : side];
	struct sampled_row row = {.operation = operation, .side = side};

	if (!is_sampled(kind, side, operation)) {
		known_history(walk, number + 1, operation, NULL);
		return;
	}
	row.ns = (int64_t) operation_at(&session->trace.timeline.operations, operation)->duration;
	values_of(comparing, walk, number, side, operation, row.values);
	g_array_append_val(kind->rows, row);
}

/* --- searching ------------------------------------------------------------------------------ */

static bool is_left_out(const struct sides_asked *asked, guint column)
{
	static const enum known of_times[] = {KNOWN_WHEN, KNOWN_HOST, KNOWN_NTH, KNOWN_NTH_ON};

	if ((asked->of_requests || asked->separate) && column == KNOWN_OWN + KNOWN_SINCE)
		return true;
	for (size_t i = 0; asked->separate && i < G_N_ELEMENTS(of_times); i++)
		if (column == KNOWN_OWN + of_times[i])
			return true;
	return false;
}

/* Files and devices are the same in another trace; connections, pipes and the like are not. */
static bool is_of_one_trace(const struct sides_asked *asked, guint column, int64_t value)
{
	const char *text;

	if (!asked->separate || column != KNOWN_OWN + KNOWN_OBJECT)
		return false;
	text = session_text(asked->session[0], (uint32_t) value);
	return !g_str_has_prefix(text, "file:") && !g_str_has_prefix(text, "pipe:/") &&
	       !g_str_has_prefix(text, "device:");
}

static struct search_table *table_of(const struct comparing *comparing, const struct kind *kind,
				     guint slow)
{
	const struct sides_asked *asked = comparing->asked;
	struct search_table *table = search_table_new(kind->rows->len, KNOWN_COLUMNS);

	table->blocks = asked->separate ? BLOCKS_APART : 0;
	for (guint i = 0; i < kind->rows->len; i++) {
		const struct sampled_row *row = &g_array_index(kind->rows, struct sampled_row, i);

		table->slow[i] = row->side == slow;
		table->ns[i] = row->ns;
		for (guint c = 0; c < KNOWN_COLUMNS; c++)
			if (row->values[c] != FIELD_NONE && !is_left_out(asked, c) &&
			    !is_of_one_trace(asked, c, row->values[c]))
				search_column(table, c, known_type(&kind->fields[0], c))[i] =
					row->values[c];
	}
	return table;
}

static void search_kind(const struct comparing *comparing, guint number)
{
	struct kind *kind = &comparing->kinds[number];
	struct search_table *table =
		table_of(comparing, kind, comparing->asked->kinds[number].slow);
	struct search_answer answer = search(table, comparing->asked->count);

	kind->traits = traits_new(&answer);
	kind->traits->sampled = table->rows < kind->count[0] + kind->count[1];
	kind->found = answer.traits;
	kind->has = g_malloc0_n(answer.traits->len + 1, sizeof *kind->has);
	search_table_free(table);
}

static bool holds(const struct trait *trait, const int64_t *values)
{
	for (guint i = 0; i < trait->part_count; i++)
		if (!trait_has(&trait->parts[i], values[trait->parts[i].field]))
			return false;
	return true;
}

static void count_values(struct kind *kind, guint side, const int64_t *values)
{
	for (guint i = 0; i < kind->found->len; i++)
		kind->has[i][side] += holds(&g_array_index(kind->found, struct trait, i), values);
}

static void count(struct comparing *comparing, struct known_walk *walk, guint number, guint side,
		  uint32_t operation)
{
	struct kind *kind = &comparing->kinds[number];
	int64_t values[KNOWN_COLUMNS];

	if (!kind->found->len) {
		known_history(walk, number + 1, operation, NULL);
		return;
	}
	values_of(comparing, walk, number, side, operation, values);
	count_values(kind, side, values);
}

/* Of all operations; where the sample is all there is, of that. */
static void count_again(struct comparing *comparing)
{
	bool sampled = false;

	for (guint i = 0; i < comparing->asked->count; i++)
		sampled |= comparing->kinds[i].traits->sampled && comparing->kinds[i].found->len;
	if (sampled) {
		pass(comparing, KNOWN_ALL, count);
		return;
	}
	for (guint i = 0; i < comparing->asked->count; i++) {
		struct kind *kind = &comparing->kinds[i];

		for (guint k = 0; k < kind->rows->len; k++) {
			const struct sampled_row *row =
				&g_array_index(kind->rows, struct sampled_row, k);

			count_values(kind, row->side, row->values);
		}
	}
}

static void tell(const struct comparing *comparing, guint number)
{
	const struct sides_asked *asked = comparing->asked;
	struct kind *kind = &comparing->kinds[number];
	guint slow = asked->kinds[number].slow;
	const char *const who[2] = {asked->name[slow], asked->name[!slow]};

	for (guint i = 0; i < kind->found->len; i++) {
		const struct trait *trait = &g_array_index(kind->found, struct trait, i);
		struct trait_told *told = known_told(asked->session[0], &kind->fields[0], trait);
		struct phrase phrases[2];

		told->in[0] = kind->has[i][slow];
		told->in[1] = kind->count[slow];
		told->out[0] = kind->has[i][!slow];
		told->out[1] = kind->count[!slow];
		told->explained = (int64_t) (trait->explained / MAX(trait->in_all, 1) *
					     (double) kind->count[slow]);
		for (guint k = 0; k < trait->part_count; k++)
			phrases[k] = known_phrase(asked->session[0], asked->kinds[number].operation,
						  &kind->fields[0], &trait->parts[k]);
		told->sentence =
			trait_sentence(phrases, trait->part_count, told->in, told->out, who);
		g_ptr_array_add(kind->traits->told, told);
	}
}

static void kind_clear(struct kind *kind)
{
	for (guint side = 0; side < 2; side++)
		g_free(kind->operations[side]);
	g_array_free(kind->rows, TRUE);
	g_array_free(kind->found, TRUE);
	g_free(kind->has);
}

GPtrArray *sides_apart(const struct sides_asked *asked)
{
	struct comparing comparing = {.asked = asked,
				      .kinds = g_new0(struct kind, asked->count + 1),
				      .random = 1};
	GPtrArray *list = g_ptr_array_new_with_free_func(traits_free);

	for (guint i = 0; i < asked->count; i++) {
		struct kind *kind = &comparing.kinds[i];

		kind->rows = g_array_new(FALSE, FALSE, sizeof(struct sampled_row));
		for (guint side = 0; side < 2; side++)
			kind->operations[side] = g_new(uint32_t, SAMPLE);
	}
	for (guint s = 0; s < 2; s++)
		comparing.files[s] = file_kinds_new(asked->session[s]);
	if (asked->count)
		pass(&comparing, 0, sample);
	for (guint i = 0; i < asked->count; i++)
		for (guint side = 0; side < 2; side++)
			qsort(comparing.kinds[i].operations[side], comparing.kinds[i].kept[side],
			      sizeof(uint32_t), ascending);
	if (asked->count)
		pass(&comparing, KNOWN_ALL, fill);
	for (guint i = 0; i < asked->count; i++)
		search_kind(&comparing, i);
	count_again(&comparing);
	for (guint i = 0; i < asked->count; i++) {
		tell(&comparing, i);
		g_ptr_array_add(list, comparing.kinds[i].traits);
		kind_clear(&comparing.kinds[i]);
	}
	for (guint s = 0; s < 2; s++)
		file_kinds_free(comparing.files[s]);
	g_free(comparing.kinds);
	return list;
}
