/* SPDX-License-Identifier: MIT */
/* Formats of tracepoints, and what they make of a record; see format.h. */
#include "foreign/format.h"

#include <string.h>

/* --- the text ----------------------------------------------------------------------------- */

static bool number_behind(const char *line, const char *key, uint32_t *number)
{
	const char *at = strstr(line, key);

	if (!at)
		return false;
	*number = (uint32_t) g_ascii_strtoull(at + strlen(key), NULL, 0);
	return true;
}

static bool is_word(char c)
{
	return g_ascii_isalnum(c) || c == '_';
}

/* "char prev_comm[16]", "__data_loc char[] name", "unsigned long args[6]", "void * skbaddr" */
static void declare_place(struct field_place *place, const char *text, size_t length)
{
	g_autofree char *whole = g_strndup(text, length);
	char *end = whole + length, *bracket = strchr(whole, '['), *begin;
	bool away = strstr(whole, "__data_loc") != NULL, relative = strstr(whole, "__rel_loc");
	bool list = bracket && !away && !relative;

	if (list)
		end = bracket;
	while (end > whole && !is_word(end[-1]))
		end--;
	for (begin = end; begin > whole && is_word(begin[-1]);)
		begin--;
	place->name = g_strndup(begin, (gsize) (end - begin));
	*begin = '\0';
	if (away || relative)
		place->form = !strstr(whole, "char") ? FORM_OTHER
			      : relative             ? FORM_AWAY_REL
						     : FORM_AWAY;
	else if (list && strstr(whole, "char"))
		place->form = FORM_TEXT;
	else if (list)
		place->form = FORM_WORDS;
	if (place->form == FORM_WORDS) {
		uint64_t count = g_ascii_strtoull(text + (bracket - whole) + 1, NULL, 10);
		uint64_t item = count ? place->size / count : 0;

		place->item = item == 1 || item == 2 || item == 4 || item == 8 ? (uint8_t) item : 0;
		if (!place->item)
			place->form = FORM_OTHER;
	}
	if (place->form == FORM_INTEGER && place->size != 1 && place->size != 2 &&
	    place->size != 4 && place->size != 8)
		place->form = FORM_OTHER;
}

/* "field:TYPE NAME;	offset:N;	size:N;	signed:N;" */
static void add_place(struct tracepoint *tracepoint, const char *line)
{
	const char *text = strstr(line, "field:"), *end = text ? strchr(text, ';') : NULL;
	struct field_place place = {0};
	uint32_t is_signed = 0;

	if (!end || !number_behind(end, "offset:", &place.offset) ||
	    !number_behind(end, "size:", &place.size) || place.offset > UINT16_MAX ||
	    place.size > UINT16_MAX)
		return;
	number_behind(end, "signed:", &is_signed);
	place.is_signed = is_signed != 0;
	text += strlen("field:");
	declare_place(&place, text, (size_t) (end - text));
	place.common = g_str_has_prefix(place.name, "common_");
	g_array_append_val(tracepoint->places, place);
}

static void place_clear(gpointer place)
{
	g_free(((struct field_place *) place)->name);
}

struct tracepoint *tracepoint_parse(const char *system, const char *text, size_t size)
{
	g_autofree char *copy = g_strndup(text, size);
	g_auto(GStrv) lines = g_strsplit(copy, "\n", -1);
	struct tracepoint *tracepoint = g_new0(struct tracepoint, 1);
	bool has_id = false;

	tracepoint->places = g_array_new(FALSE, FALSE, sizeof(struct field_place));
	g_array_set_clear_func(tracepoint->places, place_clear);
	for (char **line = lines; *line; line++) {
		if (g_str_has_prefix(*line, "print fmt:"))
			break;
		if (g_str_has_prefix(*line, "name: ") && !tracepoint->name)
			tracepoint->name = g_strconcat(system, ":", *line + strlen("name: "), NULL);
		else if (g_str_has_prefix(*line, "ID: "))
			has_id = number_behind(*line, "ID: ", &tracepoint->id);
		else
			add_place(tracepoint, *line);
	}
	if (has_id && tracepoint->name && g_utf8_validate(tracepoint->name, -1, NULL))
		return tracepoint;
	tracepoint_free(tracepoint);
	return NULL;
}

void tracepoint_free(gpointer data)
{
	struct tracepoint *tracepoint = data;

	if (!tracepoint)
		return;
	g_array_free(tracepoint->places, TRUE);
	g_free(tracepoint->name);
	g_free(tracepoint);
}

const struct field_place *tracepoint_place(const struct tracepoint *tracepoint, const char *name)
{
	for (guint i = 0; i < tracepoint->places->len; i++) {
		const struct field_place *place =
			&g_array_index(tracepoint->places, struct field_place, i);

		if (strcmp(place->name, name) == 0)
			return place;
	}
	return NULL;
}

/* --- a record ----------------------------------------------------------------------------- */

static int64_t integer_at(const uint8_t *at, uint32_t size, bool is_signed, bool swap)
{
	switch (size) {
	case 1:
		return is_signed ? (int64_t) (int8_t) *at : *at;
	case 2:
		return is_signed ? (int64_t) (int16_t) bytes_as_u16(at, swap)
				 : (int64_t) bytes_as_u16(at, swap);
	case 4:
		return is_signed ? (int64_t) (int32_t) bytes_as_u32(at, swap)
				 : (int64_t) bytes_as_u32(at, swap);
	default:
		return (int64_t) bytes_as_u64(at, swap);
	}
}

bool place_integer(const struct field_place *place, const struct record *record, int64_t *value)
{
	if (place->form != FORM_INTEGER || (size_t) place->offset + place->size > record->size)
		return false;
	*value = integer_at(record->bytes + place->offset, place->size, place->is_signed,
			    record->swap);
	return true;
}

const char *place_text(const struct field_place *place, const struct record *record, size_t *length)
{
	size_t from = place->offset, size = place->size;
	const char *text, *zero;

	if (from + size > record->size)
		return NULL;
	if (place->form == FORM_AWAY || place->form == FORM_AWAY_REL) {
		uint32_t where;

		if (size != 4)
			return NULL;
		where = bytes_as_u32(record->bytes + from, record->swap);
		from = (where & 0xffff) + (place->form == FORM_AWAY_REL ? from + size : 0);
		size = where >> 16;
		if (from + size > record->size)
			return NULL;
	} else if (place->form != FORM_TEXT) {
		return NULL;
	}
	text = (const char *) record->bytes + from;
	zero = memchr(text, '\0', size);
	*length = zero ? (size_t) (zero - text) : size;
	return text;
}

bool place_item(const struct field_place *place, const struct record *record, uint32_t index,
		int64_t *value)
{
	size_t at = (size_t) index * place->item;

	if (place->form != FORM_WORDS || at + place->item > place->size ||
	    place->offset + at + place->item > record->size)
		return false;
	*value = integer_at(record->bytes + place->offset + at, place->item, place->is_signed,
			    record->swap);
	return true;
}

/* --- all of them -------------------------------------------------------------------------- */

uint32_t formats_word(struct bytes *bytes)
{
	uint32_t word = 8;
	const uint8_t *text;
	uint64_t size;

	bytes_text(bytes); /* "header_page" */
	size = bytes_u64(bytes);
	text = bytes_take(bytes, size);
	if (text) {
		g_autofree char *copy = g_strndup((const char *) text, size);
		const char *commit = strstr(copy, "commit;");
		const char *bytes_of = commit ? strstr(commit, "size:") : NULL;

		if (bytes_of && bytes_of[strlen("size:")] == '4')
			word = 4;
	}
	bytes_text(bytes); /* "header_event" */
	size = bytes_u64(bytes);
	bytes_take(bytes, size);
	return word;
}

void formats_pass_own(struct bytes *bytes)
{
	uint32_t count = bytes_u32(bytes);

	for (uint32_t i = 0; i < count && !bytes->bad; i++) {
		uint64_t size = bytes_u64(bytes);

		bytes_take(bytes, size);
	}
}

static void read_system(struct bytes *bytes, GPtrArray *tracepoints)
{
	const char *system = bytes_text(bytes);
	uint32_t count = bytes_u32(bytes);

	for (uint32_t i = 0; i < count && !bytes->bad; i++) {
		uint64_t size = bytes_u64(bytes);
		const uint8_t *text = bytes_take(bytes, size);
		struct tracepoint *tracepoint =
			text ? tracepoint_parse(system, (const char *) text, size) : NULL;

		if (tracepoint)
			g_ptr_array_add(tracepoints, tracepoint);
	}
}

bool formats_read(struct bytes *bytes, GPtrArray *tracepoints)
{
	uint32_t systems = bytes_u32(bytes);

	for (uint32_t i = 0; i < systems && !bytes->bad; i++)
		read_system(bytes, tracepoints);
	return !bytes->bad;
}
