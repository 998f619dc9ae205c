/* SPDX-License-Identifier: MIT */
/* Records in an image, by their tables (util/records.h); see image_file.h.
 *
 *   | bytes of the record | what its first owned member leads to | … its second | …
 *
 * The bytes are as in memory, but for members that lead to something or are of this process
 * only: those are 0 there, and keep what they have in a new record when it is taken.
 */
#include "trace/image_file.h"

#include <string.h>

#include "model/model_records.h"

static bool is_kept(const struct field *field)
{
	return field->kind != FIELD_OWN && !field->passing;
}

/* Nothing but its bytes: such records are written many at once. */
static bool is_flat(const struct record *record)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];

		if (field->kind == FIELD_RECORD ? !is_flat(field->record)
						: field_is_owned(field) || field->kind == FIELD_LOG)
			return false;
	}
	return true;
}

/* Members of `to` that lead to something are as in `from`; NULL: they are 0. */
static void set_owned(const struct record *record, void *to, const void *from)
{
	for (size_t i = 0; i < record->count; i++) {
		const struct field *field = &record->fields[i];
		size_t size = field->kind == FIELD_LOG ? sizeof(struct chunks) : field->size;
		size_t place = field->offset;

		if (field->kind == FIELD_RECORD) {
			for (; place < field->offset + field->size; place += field->record->size)
				set_owned(field->record, (char *) to + place,
					  from ? (const char *) from + place : NULL);
		} else if (field_is_owned(field) || field->kind == FIELD_LOG) {
			if (from)
				memcpy((char *) to + place, (const char *) from + place, size);
			else
				memset((char *) to + place, 0, size);
		}
	}
}

/* --- writing --------------------------------------------------------------------- */

/* A path below one of the directories as that one's number and the rest; else whole. */
static void put_path(struct image_out *out, const char *path)
{
	for (guint i = 0; path && i < out->directories->len; i++) {
		const char *directory = g_ptr_array_index(out->directories, i);
		size_t length = strlen(directory);

		if (strncmp(path, directory, length) == 0 &&
		    (path[length] == '/' || !path[length])) {
			image_put_number(out, i + 1);
			image_put_text(out, path + length);
			return;
		}
	}
	image_put_number(out, 0);
	image_put_text(out, path);
}

static void put_array(struct image_out *out, const struct record *record, const GArray *array)
{
	if (is_flat(record)) {
		image_put_array(out, array, record->size);
		return;
	}
	image_put_number(out, array ? array->len : 0);
	for (guint i = 0; array && i < array->len; i++)
		image_put_record(out, record, array->data + i * record->size);
}

static void put_list(struct image_out *out, const struct record *record, const GPtrArray *list)
{
	image_put_number(out, list->len);
	for (guint i = 0; i < list->len; i++)
		image_put_record(out, record, g_ptr_array_index(list, i));
}

static void put_pages(struct image_out *out, const struct field *field, const void *at)
{
	const struct pages *pages = (const void *) ((const char *) at + field->offset);
	uint32_t count = field_in_use(field, at);

	image_put_number(out, count);
	for (uint32_t i = 0; i < count; i++)
		image_put_record(out, field->record, pages_at(pages, i));
}

static void put_texts(struct image_out *out, const GPtrArray *texts)
{
	image_put_number(out, texts->len);
	for (guint i = 0; i < texts->len; i++)
		image_put_text(out, g_ptr_array_index(texts, i));
}

static void put_owned(struct image_out *out, const struct record *record, const void *at);

static void put_member(struct image_out *out, const struct record *record,
		       const struct field *field, const void *at)
{
	const char *member = (const char *) at + field->offset;
	const struct chunks *chunks = (const void *) member;

	switch (field->kind) {
	case FIELD_LOG:
		image_put_words(out, chunks->starts, chunks->count);
		break;
	case FIELD_RECORD:
		for (size_t i = 0; i < field->size; i += field->record->size)
			put_owned(out, field->record, member + i);
		break;
	case FIELD_POINTER: /* a flag first: most are NULL */
		image_put_number(out, field_pointer(member) != NULL);
		if (field_pointer(member))
			image_put_record(out, field->record, field_pointer(member));
		break;
	case FIELD_ARRAY:
		put_array(out, field->record, field_pointer(member));
		break;
	case FIELD_LIST:
		put_list(out, field->record, field_pointer(member));
		break;
	case FIELD_PAGES:
		put_pages(out, field, at);
		break;
	case FIELD_MAP:
		image_put_map(out, (const void *) member);
		break;
	case FIELD_TEXT:
	case FIELD_HOST_NAME:
		image_put_text(out, field_pointer(member));
		break;
	case FIELD_PATH:
	case FIELD_DIRECTORY:
		put_path(out, field_pointer(member));
		break;
	case FIELD_TEXTS:
		put_texts(out, field_pointer(member));
		break;
	case FIELD_CONTAINER:
		image_container(record, field)->put(out, member);
		break;
	default:
		break;
	}
}

static void put_owned(struct image_out *out, const struct record *record, const void *at)
{
	for (size_t i = 0; i < record->count; i++)
		if (is_kept(&record->fields[i]))
			put_member(out, record, &record->fields[i], at);
}

void image_put_record(struct image_out *out, const struct record *record, const void *at)
{
	g_autofree void *copy = g_memdup2(at, record->size);

	set_owned(record, copy, NULL);
	image_put(out, copy, record->size);
	put_owned(out, record, at);
}

/* --- reading --------------------------------------------------------------------- */

static char *take_path(struct image_in *in)
{
	uint32_t number = image_take_count(in, in->directories->len);
	char *path = image_take_text(in), *whole;

	if (!number || !path)
		return path;
	whole = g_strconcat(g_ptr_array_index(in->directories, number - 1), path, NULL);
	g_free(path);
	return whole;
}

/* `text` is owned by the member from now on. */
static void set_text(void *member, char *text)
{
	g_free(field_pointer(member));
	memcpy(member, &text, sizeof text);
}

static void take_chunks(struct image_in *in, struct chunks *chunks, uint8_t store)
{
	g_free(chunks->starts);
	chunks->starts = image_take_words(in, &chunks->count);
	chunks->room = chunks->count;
	for (uint32_t i = 0; i < chunks->count; i++)
		in->failed |= chunks->starts[i] >= timeline_stored(in->timeline, store)->used;
}

/* The host that a record says it is of is there: they come before all others. */
static void check_host(struct image_in *in, const struct record *record, const void *at)
{
	const struct field *first = &record->fields[0];

	if (first->kind == FIELD_HOST)
		in->failed |=
			*(const uint16_t *) (const void *) ((const char *) at + first->offset) >=
			in->hosts;
}

/* As many as there may be of what is left. */
static uint32_t take_count(struct image_in *in, const struct record *record)
{
	return image_take_count(in, in->size / record->size);
}

static void take_array(struct image_in *in, const struct record *record, void *member)
{
	GArray *array = field_pointer(member);
	uint32_t count = take_count(in, record);

	if (!array && count) {
		array = g_array_new(FALSE, FALSE, (guint) record->size);
		memcpy(member, &array, sizeof array);
	}
	if (array)
		g_array_set_size(array, 0);
	if (is_flat(record)) {
		const void *bytes = image_take(in, (uint64_t) count * record->size);

		if (bytes && count)
			g_array_append_vals(array, bytes, count);
		for (uint32_t i = 0; array && i < array->len; i++)
			check_host(in, record, array->data + i * record->size);
		return;
	}
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		g_array_set_size(array, i + 1);
		memset(array->data + i * record->size, 0, record->size);
		image_take_record(in, record, array->data + i * record->size);
	}
}

static void take_pages(struct image_in *in, const struct field *field, void *at)
{
	struct pages *pages = (void *) ((char *) at + field->offset);
	uint32_t *used = (void *) ((char *) at + field->counted_by - 1);
	uint32_t count = take_count(in, field->record);

	for (*used = 0; *used < count && !in->failed;) {
		uint32_t index = pages_reserve(pages, 1);

		*used = index + 1;
		image_take_record(in, field->record, pages_at(pages, index));
	}
}

static void take_owned(struct image_in *in, const struct record *record, void *at);

/* `at`: the record that they are of. */
static void take_made(struct image_in *in, const struct field *field, void *at)
{
	char *member = (char *) at + field->offset;
	uint32_t count =
		field->kind == FIELD_LIST ? take_count(in, field->record) : image_take_count(in, 1);

	if (field->record == &host_record)
		in->hosts = count;
	for (uint32_t i = 0; i < count && !in->failed; i++) {
		void *made = field->record->make(at); /* a list's is in it then */

		if (field->kind == FIELD_POINTER)
			memcpy(member, &made, sizeof made);
		image_take_record(in, field->record, made);
	}
}

static void take_texts(struct image_in *in, GPtrArray *texts)
{
	uint32_t count = image_take_count(in, in->size);

	for (uint32_t i = 0; i < count && !in->failed; i++)
		g_ptr_array_add(texts, image_take_text(in));
}

static void take_member(struct image_in *in, const struct record *record, const struct field *field,
			void *at)
{
	char *member = (char *) at + field->offset;

	switch (field->kind) {
	case FIELD_LOG:
		take_chunks(in, (void *) member, field->store);
		break;
	case FIELD_RECORD:
		for (size_t i = 0; i < field->size; i += field->record->size)
			take_owned(in, field->record, member + i);
		break;
	case FIELD_POINTER:
	case FIELD_LIST:
		take_made(in, field, at);
		break;
	case FIELD_ARRAY:
		take_array(in, field->record, member);
		break;
	case FIELD_PAGES:
		take_pages(in, field, at);
		break;
	case FIELD_MAP:
		image_take_map(in, (void *) member);
		break;
	case FIELD_TEXT:
	case FIELD_HOST_NAME:
		set_text(member, image_take_text(in));
		break;
	case FIELD_PATH:
	case FIELD_DIRECTORY:
		set_text(member, take_path(in));
		break;
	case FIELD_TEXTS:
		take_texts(in, field_pointer(member));
		break;
	case FIELD_CONTAINER:
		image_container(record, field)->take(in, member);
		break;
	default:
		break;
	}
}

static void take_owned(struct image_in *in, const struct record *record, void *at)
{
	for (size_t i = 0; i < record->count; i++)
		if (is_kept(&record->fields[i]))
			take_member(in, record, &record->fields[i], at);
	if (record->taken && !in->failed)
		in->failed |= !record->taken(at);
}

void image_take_record(struct image_in *in, const struct record *record, void *at)
{
	g_autofree void *new = g_memdup2(at, record->size);

	image_take_to(in, at, record->size);
	set_owned(record, at, new);
	check_host(in, record, at);
	take_owned(in, record, at);
}
