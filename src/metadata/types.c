/* SPDX-License-Identifier: MIT */
/* Making and freeing what metadata describes; see types.h. */
#include "metadata/types.h"

#include <string.h>

static void type_free(gpointer data)
{
	struct type *type = data;

	for (guint i = 0; type->members && i < type->members->len; i++)
		g_free(g_array_index(type->members, struct member, i).name);
	for (guint i = 0; type->ranges && i < type->ranges->len; i++)
		g_free(g_array_index(type->ranges, struct range, i).label);
	if (type->members)
		g_array_free(type->members, TRUE);
	if (type->ranges)
		g_array_free(type->ranges, TRUE);
	g_free(type->tag);
	g_free(type);
}

static void event_type_free(gpointer data)
{
	struct event_type *event = data;

	g_free(event->name);
	g_free(event);
}

static void stream_type_free(gpointer data)
{
	struct stream_type *stream = data;

	g_ptr_array_free(stream->events, TRUE);
	g_free(stream);
}

struct metadata *metadata_new(void)
{
	struct metadata *metadata = g_new0(struct metadata, 1);

	metadata->environment = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	metadata->numbers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	metadata->clocks = g_array_new(FALSE, TRUE, sizeof(struct clock_type));
	metadata->streams = g_ptr_array_new_with_free_func(stream_type_free);
	metadata->types = g_ptr_array_new_with_free_func(type_free);
	return metadata;
}

void metadata_free(struct metadata *metadata)
{
	if (!metadata)
		return;
	for (guint i = 0; i < metadata->clocks->len; i++) {
		g_free(g_array_index(metadata->clocks, struct clock_type, i).name);
		g_free(g_array_index(metadata->clocks, struct clock_type, i).uuid);
	}
	g_array_free(metadata->clocks, TRUE);
	g_hash_table_destroy(metadata->environment);
	g_hash_table_destroy(metadata->numbers);
	g_ptr_array_free(metadata->streams, TRUE);
	g_ptr_array_free(metadata->types, TRUE);
	g_free(metadata->uuid);
	g_free(metadata->trouble);
	g_free(metadata);
}

struct type *type_new(struct metadata *metadata, enum type_kind kind)
{
	struct type *type = g_new0(struct type, 1);

	type->kind = (uint8_t) kind;
	type->align = kind == TYPE_STRING ? 8 : 1;
	if (kind == TYPE_STRUCT || kind == TYPE_VARIANT)
		type->members = g_array_new(FALSE, FALSE, sizeof(struct member));
	g_ptr_array_add(metadata->types, type);
	return type;
}

void type_add_member(struct type *type, char *name, struct type *member)
{
	struct member added = {name, member};

	/* a variant's options are aligned when one is chosen */
	if (type->kind == TYPE_STRUCT)
		type->align = MAX(type->align, member->align);
	g_array_append_val(type->members, added);
}

struct stream_type *metadata_stream(struct metadata *metadata, uint64_t id)
{
	struct stream_type *stream;

	for (guint i = 0; i < metadata->streams->len; i++) {
		stream = g_ptr_array_index(metadata->streams, i);
		if (stream->id == id)
			return stream;
	}
	stream = g_new0(struct stream_type, 1);
	stream->id = id;
	stream->events = g_ptr_array_new_with_free_func(event_type_free);
	g_ptr_array_add(metadata->streams, stream);
	return stream;
}

struct type *type_member(const struct type *type, const char *name)
{
	for (guint i = 0; type && type->kind == TYPE_STRUCT && i < type->members->len; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);

		if (strcmp(member->name, name) == 0)
			return member->type;
	}
	return NULL;
}

const char *metadata_text(const struct metadata *metadata, const char *name)
{
	return g_hash_table_contains(metadata->numbers, name)
		       ? NULL
		       : g_hash_table_lookup(metadata->environment, name);
}

int metadata_number(const struct metadata *metadata, const char *name)
{
	return g_hash_table_contains(metadata->numbers, name)
		       ? (int) g_ascii_strtoll(g_hash_table_lookup(metadata->environment, name),
					       NULL, 10)
		       : 0;
}
