/* SPDX-License-Identifier: MIT */
/* See field_text.h. */
#include "metadata/field_text.h"

#include <stdint.h>
#include <string.h>

#define TEXT_MAX 4096
#define ELEMENTS_MAX 64
#define NESTED_MAX 16

/* An integer that lengths and variants may go by. */
struct known {
	const char *name; /* borrowed */
	const struct type *type;
	uint64_t value;
};

struct walk {
	struct field_place place;
	GString *text;
	GArray *known; /* struct known */
	guint depth;
};

static bool put_field(struct walk *walk, const char *name, const struct type *type);

static void align(struct walk *walk, uint32_t bits)
{
	uint64_t unit = MAX(bits, 1);

	walk->place.at = (walk->place.at + unit - 1) / unit * unit;
}

static bool take_bits(struct walk *walk, const struct type *type, uint64_t *value)
{
	const uint8_t *packet = walk->place.packet;
	bool big = type->order == ORDER_BIG ||
		   (type->order == ORDER_NATIVE && walk->place.big_endian);
	uint64_t bits = 0, first;

	align(walk, type->align);
	if (!type->size || type->size > 64 || walk->place.at > walk->place.end ||
	    type->size > walk->place.end - walk->place.at)
		return false;
	first = walk->place.at / 8;
	if (walk->place.at % 8 == 0 && type->size % 8 == 0) {
		for (uint32_t i = 0, bytes = type->size / 8; i < bytes; i++)
			bits |= (uint64_t) packet[first + (big ? bytes - 1 - i : i)] << (8 * i);
		walk->place.at += type->size;
		*value = bits;
		return true;
	}
	for (uint32_t i = 0; i < type->size; i++) { /* the lowest bit first, or the highest */
		uint64_t at = walk->place.at + i;
		uint64_t bit = packet[at / 8] >> (big ? 7 - at % 8 : at % 8) & 1;

		bits = big ? bits << 1 | bit : bits | bit << i;
	}
	walk->place.at += type->size;
	*value = bits;
	return true;
}

static int64_t with_sign(const struct type *type, uint64_t value)
{
	uint64_t top = UINT64_C(1) << (type->size - 1);

	return type->is_signed ? (int64_t) ((value ^ top) - top) : (int64_t) value;
}

static void put_quoted(struct walk *walk, const char *bytes, size_t length)
{
	g_string_append_c(walk->text, '"');
	if (g_utf8_validate(bytes, (gssize) length, NULL)) {
		g_string_append_len(walk->text, bytes, (gssize) length);
	} else {
		g_autofree char *valid = g_utf8_make_valid(bytes, (gssize) length);

		g_string_append(walk->text, valid);
	}
	g_string_append_c(walk->text, '"');
}

/* Without printf(), as a search formats every number of a trace. */
static void put_number(struct walk *walk, int64_t value, bool is_signed)
{
	bool below = is_signed && value < 0;
	uint64_t rest = below ? 0 - (uint64_t) value : (uint64_t) value;
	char digits[24], *at = digits + sizeof digits;

	do {
		*--at = (char) ('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (below)
		*--at = '-';
	g_string_append_len(walk->text, at, digits + sizeof digits - at);
}

static bool put_integer(struct walk *walk, const char *name, const struct type *type)
{
	struct known known = {name, type, 0};
	int64_t value;

	if (!take_bits(walk, type, &known.value))
		return false;
	value = with_sign(type, known.value);
	known.value = (uint64_t) value;
	if (name)
		g_array_append_val(walk->known, known);
	for (guint i = 0; type->ranges && i < type->ranges->len; i++) {
		const struct range *range = &g_array_index(type->ranges, struct range, i);

		if (value >= range->from && value <= range->to) {
			g_string_append_printf(walk->text, "%s ", range->label);
			break;
		}
	}
	put_number(walk, value, type->is_signed);
	return true;
}

static bool put_float(struct walk *walk, const struct type *type)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];
	uint64_t bits;
	uint32_t half;
	double value;
	float small;

	if (!take_bits(walk, type, &bits) || (type->size != 32 && type->size != 64))
		return false;
	half = (uint32_t) bits;
	memcpy(&small, &half, sizeof small);
	memcpy(&value, &bits, sizeof value);
	g_string_append(walk->text, g_ascii_dtostr(text, sizeof text,
						   type->size == 32 ? (double) small : value));
	return true;
}

static bool put_string(struct walk *walk)
{
	const char *begin;
	const void *nul;
	size_t left;

	align(walk, 8);
	if (walk->place.at >= walk->place.end)
		return false;
	begin = (const char *) walk->place.packet + walk->place.at / 8;
	left = (size_t) ((walk->place.end - walk->place.at) / 8);
	nul = memchr(begin, 0, left);
	if (!nul)
		return false;
	put_quoted(walk, begin, (size_t) ((const char *) nul - begin));
	walk->place.at += 8 * (uint64_t) ((const char *) nul - begin + 1);
	return true;
}

static const char *without_dash(const char *name)
{
	return *name == '_' ? name + 1 : name;
}

/* The one met last of that name, whatever scope it is said to be of. */
static const struct known *find_known(const struct walk *walk, const char *tag)
{
	const char *dot = tag ? strrchr(tag, '.') : NULL;
	const char *name = dot ? dot + 1 : tag;

	for (guint i = name ? walk->known->len : 0; i-- > 0;) {
		const struct known *known = &g_array_index(walk->known, struct known, i);

		if (strcmp(known->name, name) == 0 || strcmp(known->name, without_dash(name)) == 0)
			return known;
	}
	return NULL;
}

/* Characters that lie side by side. */
static bool put_characters(struct walk *walk, const struct type *element, uint64_t length)
{
	const char *begin;

	align(walk, element->align);
	if (walk->place.at > walk->place.end || length > (walk->place.end - walk->place.at) / 8)
		return false;
	begin = (const char *) walk->place.packet + walk->place.at / 8;
	put_quoted(walk, begin, strnlen(begin, length));
	walk->place.at += 8 * length;
	return true;
}

static bool put_list(struct walk *walk, const struct type *type)
{
	const struct type *element = type->element;
	const struct known *counted =
		type->kind == TYPE_SEQUENCE ? find_known(walk, type->tag) : NULL;
	uint64_t length = counted ? counted->value : type->length;
	gsize cut = 0;

	if ((type->kind == TYPE_SEQUENCE && !counted) || length > walk->place.end)
		return false;
	align(walk, type->align);
	if (element->kind == TYPE_INTEGER && element->text && element->size == 8)
		return put_characters(walk, element, length);
	g_string_append_c(walk->text, '[');
	for (uint64_t i = 0; i < length; i++) {
		uint64_t at = walk->place.at;

		if (i == ELEMENTS_MAX)
			cut = walk->text->len;
		g_string_append(walk->text, i ? ", " : "");
		if (!put_field(walk, NULL, element))
			return false;
		if (walk->place.at == at) /* of no size: all alike */
			break;
	}
	if (cut) {
		g_string_truncate(walk->text, cut);
		g_string_append(walk->text, ", …");
	}
	g_string_append_c(walk->text, ']');
	return true;
}

static bool put_members(struct walk *walk, const struct type *type)
{
	align(walk, type->align);
	for (guint i = 0; i < type->members->len; i++) {
		const struct member *member = &g_array_index(type->members, struct member, i);

		g_string_append(walk->text, i ? ", " : "");
		g_string_append(walk->text, member->name);
		g_string_append_c(walk->text, '=');
		if (!put_field(walk, member->name, member->type))
			return false;
	}
	return true;
}

/* The option that a range of these fits. */
static const struct type *option_of(const struct type *variant, const GArray *ranges, int64_t value)
{
	for (guint i = 0; ranges && i < ranges->len; i++) {
		const struct range *range = &g_array_index(ranges, struct range, i);

		if (value < range->from || value > range->to)
			continue;
		for (guint k = 0; k < variant->members->len; k++) {
			const struct member *member =
				&g_array_index(variant->members, struct member, k);

			if (strcmp(without_dash(member->name), without_dash(range->label)) == 0)
				return member->type;
		}
	}
	return NULL;
}

static bool put_variant(struct walk *walk, const struct type *type)
{
	const struct known *tag = find_known(walk, type->tag);
	const struct type *option =
		tag ? option_of(type, type->ranges ? type->ranges : tag->type->ranges,
				(int64_t) tag->value)
		    : NULL;

	return option && put_field(walk, NULL, option);
}

static bool put_of_kind(struct walk *walk, const char *name, const struct type *type)
{
	bool fits;

	switch ((enum type_kind) type->kind) {
	case TYPE_INTEGER:
		return put_integer(walk, name, type);
	case TYPE_FLOAT:
		return put_float(walk, type);
	case TYPE_STRING:
		return put_string(walk);
	case TYPE_ARRAY:
	case TYPE_SEQUENCE:
		return put_list(walk, type);
	case TYPE_VARIANT:
		return put_variant(walk, type);
	default:
		g_string_append_c(walk->text, '{');
		fits = put_members(walk, type);
		g_string_append_c(walk->text, '}');
		return fits;
	}
}

static bool put_field(struct walk *walk, const char *name, const struct type *type)
{
	bool fits = walk->depth < NESTED_MAX && walk->text->len < TEXT_MAX * ELEMENTS_MAX;

	walk->depth++;
	fits = fits && put_of_kind(walk, name, type);
	walk->depth--;
	return fits;
}

void fields_text(struct field_place place, const struct type *const *structs, guint count,
		 GString *text)
{
	struct walk walk = {place, text, g_array_new(FALSE, FALSE, sizeof(struct known)), 0};
	gsize begin = text->len;
	bool fits = true;

	for (guint i = 0; i < count && fits; i++) {
		if (!structs[i] || structs[i]->kind != TYPE_STRUCT)
			continue;
		if (text->len > begin && structs[i]->members->len)
			g_string_append(text, ", ");
		fits = put_members(&walk, structs[i]);
	}
	if (text->len - begin > TEXT_MAX) {
		g_string_truncate(
			text, begin + (gsize) (g_utf8_find_prev_char(text->str + begin,
								     text->str + begin + TEXT_MAX) -
					       (text->str + begin)));
		fits = false;
	}
	if (!fits)
		g_string_append(text, "…");
	g_array_unref(walk.known);
}
