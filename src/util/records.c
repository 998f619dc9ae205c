/* SPDX-License-Identifier: MIT */
/* Walking over records by their tables; see records.h. */
#include "util/records.h"

#include <glib.h>
#include <string.h>

#include "util/pages.h"

uint32_t field_in_use(const struct field *field, const void *at)
{
	uint32_t most = field->kind == FIELD_RECORD ? field->size / (uint32_t) field->record->size
						    : UINT32_MAX;
	uint32_t count = most;

	if (field->counted_by)
		memcpy(&count, (const char *) at + field->counted_by - 1, sizeof count);
	return MIN(count, most);
}

void *field_pointer(const void *member)
{
	void *pointer;

	memcpy(&pointer, member, sizeof pointer);
	return pointer;
}

bool field_is_owned(const struct field *field)
{
	return field->kind > FIELD_RECORD;
}

/* The walk wants members of such records, or of those that they own. */
static bool is_of_use(const struct walk *walk, const struct record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];

		if (walk->kinds & 1u << field->kind ||
		    (field->record && is_of_use(walk, field->record)))
			return true;
	}
	return false;
}

static void walk_list(struct walk *walk, const struct field *field, const void *member)
{
	const GPtrArray *list = field_pointer(member);
	guint count = list && is_of_use(walk, field->record) ? list->len : 0;

	for (guint i = 0; i < count; i++)
		record_walk(walk, field->record, g_ptr_array_index(list, i));
}

static void walk_array(struct walk *walk, const struct field *field, const void *member)
{
	const GArray *array = field_pointer(member);
	guint count = array && is_of_use(walk, field->record) ? array->len : 0;

	for (guint i = 0; i < count; i++)
		record_walk(walk, field->record, array->data + i * field->record->size);
}

static void walk_pages(struct walk *walk, const struct field *field, const void *at)
{
	const struct pages *pages = (const void *) ((const char *) at + field->offset);
	uint32_t count = field->counted_by ? field_in_use(field, at) : pages->used;

	if (!is_of_use(walk, field->record))
		return;
	for (uint32_t i = field->counted_by ? 0 : 1; i < count; i++) {
		pages_pass(pages, i);
		record_walk(walk, field->record, pages_at(pages, i));
	}
}

static bool is_wanted(const struct walk *walk, const struct field *field, const void *at)
{
	return (walk->kinds & 1u << field->kind) &&
	       (!field->when || ((const uint8_t *) at)[field->when - 1] == field->when_is);
}

void record_walk(struct walk *walk, const struct record *record, void *at)
{
	if (walk->enter && !walk->enter(walk, record, at))
		return;
	for (const struct field *field = record->fields; field < record->fields + record->count;
	     field++) {
		char *member = (char *) at + field->offset;

		switch (field->kind) {
		case FIELD_NUMBER:
			break;
		case FIELD_RECORD:
			for (uint32_t i = 0, used = field_in_use(field, at); i < used; i++)
				record_walk(walk, field->record, member + i * field->record->size);
			break;
		case FIELD_POINTER:
			if (field_pointer(member))
				record_walk(walk, field->record, field_pointer(member));
			break;
		case FIELD_ARRAY:
			walk_array(walk, field, member);
			break;
		case FIELD_LIST:
			walk_list(walk, field, member);
			break;
		case FIELD_PAGES:
			walk_pages(walk, field, at);
			break;
		default:
			if (is_wanted(walk, field, at))
				walk->visit(walk, field, member);
		}
	}
}
