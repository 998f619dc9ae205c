/* SPDX-License-Identifier: MIT */
/* What an image holds that no table of records can describe: containers of containers, and of
 * numbers; see image_file.h. A row CONTAINER that is not listed here ends the program.
 */
#include "trace/image_file.h"

#include "event/places.h"
#include "flow/flow_records.h"
#include "trace/trace_records.h"

/* --- struct flow: stacks, from 1 on: the first is the empty one ------------------------ */

static void put_stacks(struct image_out *out, const void *member)
{
	const GPtrArray *stacks = field_pointer(member);

	image_put_number(out, stacks->len);
	for (guint i = 1; i < stacks->len; i++)
		image_put_array(out, g_ptr_array_index(stacks, i), sizeof(uint32_t));
}

static void take_stacks(struct image_in *in, void *member)
{
	GPtrArray *stacks = field_pointer(member);
	uint32_t count = image_take_count(in, in->size);

	for (uint32_t i = 1; i < count && !in->failed; i++) {
		GArray *stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));

		image_take_array(in, stack, sizeof(uint32_t));
		g_ptr_array_add(stacks, stack);
	}
}

/* --- struct trace: declared classes, as a set of names ------------------------------------- */

static void put_classes(struct image_out *out, const void *member)
{
	g_autoptr(GList) names = g_hash_table_get_keys(field_pointer(member));

	image_put_number(out, g_list_length(names));
	for (GList *at = names; at; at = at->next)
		image_put_number(out, GPOINTER_TO_UINT(at->data));
}

static void take_classes(struct image_in *in, void *member)
{
	GHashTable *names = field_pointer(member);
	uint32_t count = image_take_count(in, in->size);

	for (uint32_t i = 0; i < count && !in->failed; i++)
		g_hash_table_add(names, GUINT_TO_POINTER(image_take_count(in, in->names - 1)));
}

/* --- struct trace: places of rare events, by name ------------------------------------------- */

/* Only what there are places of, or too many. */
static void put_places(struct image_out *out, const void *member)
{
	const struct event_places *places = field_pointer(member);

	image_put_number(out, places != NULL);
	for (guint i = 0; places && i < places->of_names->len; i++) {
		const struct places_of_name *of_name =
			&g_array_index(places->of_names, struct places_of_name, i);

		if (!of_name->list && !of_name->many)
			continue;
		image_put_number(out, i);
		image_put_number(out, of_name->many);
		image_put_array(out, of_name->list, sizeof(struct event_place));
	}
	image_put_number(out, UINT32_MAX);
}

static void take_places(struct image_in *in, void *member)
{
	struct event_places **places = member;
	uint32_t name;

	if (image_take_number(in))
		*places = event_places_new();
	while ((name = image_take_count(in, UINT32_MAX)) < in->names && !in->failed && *places) {
		struct places_of_name *of_name = event_places_of(*places, name);

		in->failed |= of_name->list != NULL;
		if (in->failed)
			return;
		of_name->many = image_take_number(in);
		of_name->list = g_array_new(FALSE, FALSE, sizeof(struct event_place));
		image_take_array(in, of_name->list, sizeof(struct event_place));
	}
}

/* --- all ------------------------------------------------------------------------------------ */

const struct image_container *
image_container(const struct record *record, const struct field *field)
{
	static const struct image_container containers[] = {
		{&flow_record, "stacks", put_stacks, take_stacks},
		{&trace_record, "class_names", put_classes, take_classes},
		{&trace_record, "places", put_places, take_places},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(containers); i++)
		if (containers[i].record == record &&
		    g_str_equal(containers[i].member, field->name))
			return &containers[i];
	g_error("no container is known that is %s.%s", record->name, field->name);
}
