/* SPDX-License-Identifier: MIT */
/* See operation_fields.h. */
#include "latencies/operation_fields.h"

#include <string.h>

struct member {
	uint32_t name;
	bool wide;
};

#define RECENT 32
#define NAME_BIT(name) (UINT64_C(1) << (name) % 64)

struct shapes {
	const struct session *session; /* borrowed */
	struct {
		uint32_t shape;
		const GArray *members; /* borrowed */
	} recent[RECENT]; /* those met last, by a hash */
	GHashTable *members; /* owned; shape -> GArray of struct member */
};

static void free_members(gpointer members)
{
	g_array_free(members, TRUE);
}

bool operation_field_is_derived(const char *name)
{
	return strcmp(name, "began_cpu") == 0 || strcmp(name, "in_flight") == 0;
}

struct shapes *shapes_new(const struct session *session)
{
	struct shapes *shapes = g_new0(struct shapes, 1);

	shapes->session = session;
	shapes->members = g_hash_table_new_full(NULL, NULL, NULL, free_members);
	return shapes;
}

void shapes_free(struct shapes *shapes)
{
	if (!shapes)
		return;
	g_hash_table_destroy(shapes->members);
	g_free(shapes);
}

static GArray *members_new(struct shapes *shapes, uint32_t shape)
{
	GArray *members = g_array_new(FALSE, FALSE, sizeof(struct member));
	g_auto(GStrv) words = g_strsplit(session_text(shapes->session, shape), " ", -1);

	for (guint i = 0; words[i]; i++) {
		size_t length = strlen(words[i]);
		struct member member = {.wide = g_str_has_suffix(words[i], "*")};

		words[i][length - member.wide] = 0;
		member.name = intern_id(shapes->session->trace.model.names, words[i]);
		g_array_append_val(members, member);
	}
	g_hash_table_insert(shapes->members, GUINT_TO_POINTER(shape), members);
	return members;
}

static const GArray *members_of(struct shapes *shapes, uint32_t shape)
{
	guint place = shape % RECENT;

	if (shapes->recent[place].shape != shape) {
		const GArray *members =
			g_hash_table_lookup(shapes->members, GUINT_TO_POINTER(shape));

		shapes->recent[place].shape = shape;
		shapes->recent[place].members = members ? members : members_new(shapes, shape);
	}
	return shapes->recent[place].members;
}

bool operation_fields(struct shapes *shapes, uint32_t operation, struct operation_fields *fields)
{
	const GArray *members = NULL;
	struct facts facts;
	uint32_t shape = 0;
	uint64_t met = 0; /* bits: a hash of the names so far; most names are met once */

	fields->count = 0;
	if (!facts_of(&shapes->session->trace.timeline, operation, &facts))
		return false;
	for (uint32_t i = 0; i < facts.count; i++) {
		const struct fact_value *fact = &facts.at[i];
		const struct member *member;

		if (fact->shape != shape)
			members = members_of(shapes, shape = fact->shape);
		if (fact->member >= members->len)
			continue;
		member = &g_array_index(members, struct member, fact->member);
		if (!(met & NAME_BIT(member->name)) || !operation_field(fields, member->name))
			fields->at[fields->count++] =
				(struct operation_field) {member->name, member->wide, fact->value};
		met |= NAME_BIT(member->name);
	}
	return fields->count;
}

const struct operation_field *operation_field(const struct operation_fields *fields, uint32_t name)
{
	for (uint32_t i = 0; i < fields->count; i++)
		if (fields->at[i].name == name)
			return &fields->at[i];
	return NULL;
}

#define PICKS_KEPT 128
#define PICKS_FIELDS 4 /* of a picker with more none are kept */

/* What was picked of some facts. */
struct picks {
	uint32_t place; /* facts_place(); 0: unused */
	uint32_t has, wide; /* bits */
	int64_t values[PICKS_FIELDS];
};

struct field_picker {
	struct shapes *shapes; /* borrowed */
	guint count;
	uint32_t all; /* bits */
	uint32_t names[PICKED_MAX];
	GHashTable *slots; /* owned; shape -> struct fact_slots, owned */
	struct {
		uint32_t shape;
		const struct fact_slots *slots; /* borrowed */
	} recent[RECENT]; /* those met last, by a hash */
	struct picks kept[PICKS_KEPT]; /* … of facts met last */
};

struct field_picker *field_picker_new(struct shapes *shapes, const uint32_t *names, guint count)
{
	struct field_picker *picker = g_new0(struct field_picker, 1);

	picker->shapes = shapes;
	picker->count = MIN(count, PICKED_MAX);
	picker->all = picker->count ? UINT32_MAX >> (PICKED_MAX - picker->count) : 0;
	memcpy(picker->names, names, picker->count * sizeof *names);
	picker->slots = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	return picker;
}

void field_picker_free(struct field_picker *picker)
{
	if (!picker)
		return;
	g_hash_table_destroy(picker->slots);
	g_free(picker);
}

static struct fact_slots *slots_new(struct field_picker *picker, uint32_t shape)
{
	const GArray *members = members_of(picker->shapes, shape);
	struct fact_slots *slots = g_new0(struct fact_slots, 1);

	for (guint i = 0; i < MIN(members->len, FACTS_MAX); i++) {
		const struct member *member = &g_array_index(members, struct member, i);

		for (guint k = 0; k < picker->count; k++)
			if (picker->names[k] == member->name && !slots->bit[i]) {
				slots->bit[i] = 1u << k;
				slots->wide |= member->wide ? 1u << k : 0;
				slots->count = i + 1;
			}
	}
	g_hash_table_insert(picker->slots, GUINT_TO_POINTER(shape), slots);
	return slots;
}

static const struct fact_slots *slots_of(void *data, uint32_t shape)
{
	struct field_picker *picker = data;
	guint place = shape % RECENT;

	if (picker->recent[place].shape != shape || !picker->recent[place].slots) {
		const struct fact_slots *slots =
			g_hash_table_lookup(picker->slots, GUINT_TO_POINTER(shape));

		picker->recent[place].shape = shape;
		picker->recent[place].slots = slots ? slots : slots_new(picker, shape);
	}
	return picker->recent[place].slots;
}

uint32_t pick_fields(struct field_picker *picker, uint32_t operation, int64_t *values,
		     uint32_t *wide)
{
	const struct timeline *timeline = &picker->shapes->session->trace.timeline;
	uint32_t place = facts_place(timeline, operation);
	struct picks *kept = &picker->kept[place % PICKS_KEPT];

	if (picker->count > PICKS_FIELDS || !place)
		return facts_pick(timeline, operation, picker->all, slots_of, picker, values, wide);
	if (kept->place != place) {
		kept->place = place;
		kept->has = facts_pick(timeline, operation, picker->all, slots_of, picker,
				       kept->values, &kept->wide);
	}
	memcpy(values, kept->values, picker->count * sizeof *values);
	*wide = kept->wide;
	return kept->has;
}
