/* SPDX-License-Identifier: MIT */
/* Declarations of types; see tsdl_types.h. */
#include "metadata/tsdl_types.h"

#include <string.h>

#define DEPTH_MAX 32
#define LENGTH_MAX (UINT64_C(1) << 32)
#define ALIGN_MAX 65536

static bool is_true(const char *value)
{
	return g_ascii_strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

uint8_t tsdl_order(const char *value)
{
	if (strcmp(value, "be") == 0 || strcmp(value, "network") == 0)
		return ORDER_BIG;
	return strcmp(value, "le") == 0 ? ORDER_LITTLE : ORDER_NATIVE;
}

static void set_align(struct parser *parser, struct type *type, uint64_t align)
{
	if (align == 0 || align > ALIGN_MAX || (align & (align - 1)))
		tsdl_refuse(parser, "an alignment must be a power of two");
	else
		type->align = (uint32_t) align;
}

static void set_integer(struct parser *parser, struct type *type, const char *name,
			const char *value)
{
	uint64_t number = g_ascii_strtoull(value, NULL, 10);

	if (strcmp(name, "size") == 0) {
		if (number == 0 || number > 64)
			tsdl_refuse(parser, "an integer must have 1 to 64 bits");
		else
			type->size = (uint32_t) number;
	} else if (strcmp(name, "align") == 0) {
		set_align(parser, type, number);
	} else if (strcmp(name, "signed") == 0) {
		type->is_signed = is_true(value);
	} else if (strcmp(name, "byte_order") == 0) {
		type->order = tsdl_order(value);
	} else if (strcmp(name, "encoding") == 0) {
		type->text = g_ascii_strcasecmp(value, "none") != 0;
	} else if (strcmp(name, "map") == 0) {
		type->clocked = g_str_has_prefix(value, "clock.");
	} else if (strcmp(name, "exp_dig") == 0 || strcmp(name, "mant_dig") == 0) {
		type->size += (uint32_t) MIN(number, 64u); /* floating_point: both parts */
	}
}

/* "{ name = value; … }" of integer, floating_point, string. What is behind it, NULL: refused. */
static const char *properties(struct parser *parser, struct type *type)
{
	bool align_given = false;
	const char *behind;

	if (!tsdl_expect(parser, "{"))
		return NULL;
	while (!parser->why && !tsdl_is_mark(parser, "}")) {
		g_autofree char *name = tsdl_take_name(parser), *value = NULL;
		bool number;

		if (!name || !tsdl_expect(parser, "="))
			return NULL;
		value = tsdl_take_value(parser, &number);
		align_given |= strcmp(name, "align") == 0;
		set_integer(parser, type, name, value);
		tsdl_expect(parser, ";");
	}
	behind = parser->at;
	tsdl_take(parser, "}");
	if (!align_given && type->kind != TYPE_STRING)
		type->align = type->size % 8 == 0 ? 8 : 1;
	return parser->why ? NULL : behind;
}

/* --- types ----------------------------------------------------------------- */

static struct type *number(struct parser *parser, enum type_kind kind, const char **behind)
{
	struct type *type = type_new(parser->metadata, kind);

	tsdl_next(parser);
	*behind = properties(parser, type);
	if (!parser->why && type->size == 0)
		tsdl_refuse(parser, "it has no size");
	return type;
}

/* Up to the first '}', with that; NULL: there is none, or no such text can be told from others. */
static char *up_to_brace(const struct parser *parser)
{
	size_t length = (size_t) (parser->end - parser->at);
	const char *brace = memchr(parser->at, '}', length);

	if (!brace || memchr(parser->at, 0, (size_t) (brace - parser->at)))
		return NULL;
	return g_strndup(parser->at, (gsize) (brace + 1 - parser->at));
}

/* The same words mean the same type: tracers write a handful of them thousands of times, which is
 * most of their metadata. */
static struct type *integer(struct parser *parser)
{
	g_autofree char *text = up_to_brace(parser);
	struct type *type = text ? g_hash_table_lookup(parser->integers, text) : NULL;
	const char *begin = parser->at, *behind;

	if (type) {
		parser->at += strlen(text);
		tsdl_next(parser);
		return type;
	}
	type = number(parser, TYPE_INTEGER, &behind);
	/* a brace within a comment is not its end */
	if (!parser->why && text && behind == begin + strlen(text))
		g_hash_table_insert(parser->integers, g_steal_pointer(&text), type);
	return type;
}

static struct type *string(struct parser *parser)
{
	struct type *type = type_new(parser->metadata, TYPE_STRING);

	tsdl_next(parser);
	if (tsdl_is_mark(parser, "{"))
		properties(parser, type);
	type->align = 8;
	return type;
}

static void ranges(struct parser *parser, struct type *type)
{
	int64_t value = 0;

	while (!parser->why && !tsdl_is_mark(parser, "}")) {
		struct range range = {.from = value, .to = value};

		if (parser->token != NAME && parser->token != STRING) {
			tsdl_refuse(parser, "a label expected");
			return;
		}
		range.label = g_strdup(parser->text->str);
		tsdl_next(parser);
		if (tsdl_take(parser, "="))
			range.from = range.to = tsdl_take_signed(parser);
		if (tsdl_take(parser, "..."))
			range.to = tsdl_take_signed(parser);
		g_array_append_val(type->ranges, range);
		value = (int64_t) ((uint64_t) range.to + 1);
		if (!tsdl_take(parser, ","))
			break;
	}
	tsdl_expect(parser, "}");
}

/* The named type "KIND name", or NULL. */
static struct type *named(const struct parser *parser, const char *kind, const char *name)
{
	g_autofree char *key = g_strdup_printf("%s %s", kind, name);

	return g_hash_table_lookup(parser->aliases, key);
}

static void name_type(struct parser *parser, const char *kind, const char *name, struct type *type)
{
	g_hash_table_replace(parser->aliases, g_strdup_printf("%s %s", kind, name), type);
}

static struct type *enumeration(struct parser *parser)
{
	g_autofree char *name = NULL;
	struct type *container = NULL, *type;

	tsdl_next(parser);
	if (parser->token == NAME)
		name = tsdl_take_name(parser);
	if (tsdl_take(parser, ":"))
		container = tsdl_type(parser);
	if (!tsdl_is_mark(parser, "{") && name && !container) {
		type = named(parser, "enum", name);
		if (!type)
			tsdl_refuse(parser, "an enum that was not declared");
		return type;
	}
	if (!container)
		container = g_hash_table_lookup(parser->aliases, "int");
	if (!container || container->kind != TYPE_INTEGER) {
		tsdl_refuse(parser, "an enum needs an integer type");
		return NULL;
	}
	type = type_new(parser->metadata, TYPE_INTEGER);
	type->order = container->order;
	type->is_signed = container->is_signed;
	type->size = container->size;
	type->align = container->align;
	type->ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
	if (tsdl_expect(parser, "{"))
		ranges(parser, type);
	if (name)
		name_type(parser, "enum", name, type);
	return type;
}

/* "{ members }" of a struct or variant. */
static void members(struct parser *parser, struct type *type)
{
	if (!tsdl_expect(parser, "{"))
		return;
	while (!parser->why && !tsdl_is_mark(parser, "}"))
		tsdl_declaration(parser, type);
	tsdl_expect(parser, "}");
}

static struct type *structure(struct parser *parser)
{
	g_autofree char *name = NULL;
	struct type *type;

	tsdl_next(parser);
	if (parser->token == NAME && !tsdl_is(parser, NAME, "align"))
		name = tsdl_take_name(parser);
	if (name && !tsdl_is_mark(parser, "{")) {
		type = named(parser, "struct", name);
		if (!type)
			tsdl_refuse(parser, "a struct that was not declared");
		return type;
	}
	type = type_new(parser->metadata, TYPE_STRUCT);
	members(parser, type);
	if (tsdl_is(parser, NAME, "align")) {
		uint32_t own = type->align;

		tsdl_next(parser);
		if (tsdl_expect(parser, "("))
			set_align(parser, type, (uint64_t) tsdl_take_signed(parser));
		tsdl_expect(parser, ")");
		type->align = MAX(type->align, own);
	}
	if (name)
		name_type(parser, "struct", name, type);
	return type;
}

/* A declared variant used with a tag: the same options, chosen by that. */
static struct type *variant_of(struct parser *parser, const struct type *declared)
{
	struct type *type = type_new(parser->metadata, TYPE_VARIANT);

	for (guint i = 0; i < declared->members->len; i++) {
		const struct member *member = &g_array_index(declared->members, struct member, i);

		type_add_member(type, g_strdup(member->name), member->type);
	}
	return type;
}

static struct type *variant(struct parser *parser)
{
	g_autofree char *name = NULL, *tag = NULL;
	struct type *type;

	tsdl_next(parser);
	if (parser->token == NAME)
		name = tsdl_take_name(parser);
	if (tsdl_take(parser, "<")) {
		tag = tsdl_plain(tsdl_take_path(parser));
		tsdl_expect(parser, ">");
	}
	if (name && !tsdl_is_mark(parser, "{")) {
		type = named(parser, "variant", name);
		if (!type) {
			tsdl_refuse(parser, "a variant that was not declared");
			return NULL;
		}
		type = variant_of(parser, type);
	} else {
		type = type_new(parser->metadata, TYPE_VARIANT);
		members(parser, type);
		if (name)
			name_type(parser, "variant", name, type);
	}
	type->tag = g_steal_pointer(&tag);
	return type;
}

static bool is_c_word(const struct parser *parser)
{
	static const char *const words[] = {"unsigned", "signed", "long",   "short", "char",
					    "int",      "float",  "double", "_Bool", "const"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (tsdl_is(parser, NAME, words[i]))
			return true;
	return false;
}

/* "unsigned long", "uint8_t": what a typealias has named. */
static struct type *alias(struct parser *parser)
{
	g_autoptr(GString) name = g_string_new(NULL);
	g_autofree char *why = NULL;
	struct type *type;

	if (is_c_word(parser)) {
		while (is_c_word(parser)) {
			g_string_append_printf(name, "%s%s", name->len ? " " : "",
					       parser->text->str);
			tsdl_next(parser);
		}
	} else if (parser->token == NAME) {
		g_string_append(name, parser->text->str);
		tsdl_next(parser);
	}
	type = g_hash_table_lookup(parser->aliases, name->str);
	if (!type) {
		why = g_strdup_printf("type '%s' was not declared", name->str);
		tsdl_refuse(parser, why);
	}
	return type;
}

struct type *tsdl_type(struct parser *parser)
{
	struct type *type = NULL;
	const char *behind;

	if (parser->why)
		return NULL;
	if (++parser->depth > DEPTH_MAX)
		tsdl_refuse(parser, "types are nested too deep");
	else if (tsdl_is(parser, NAME, "integer"))
		type = integer(parser);
	else if (tsdl_is(parser, NAME, "floating_point"))
		type = number(parser, TYPE_FLOAT, &behind);
	else if (tsdl_is(parser, NAME, "string"))
		type = string(parser);
	else if (tsdl_is(parser, NAME, "enum"))
		type = enumeration(parser);
	else if (tsdl_is(parser, NAME, "struct"))
		type = structure(parser);
	else if (tsdl_is(parser, NAME, "variant"))
		type = variant(parser);
	else
		type = alias(parser);
	parser->depth--;
	return parser->why ? NULL : type;
}

/* "[3]", "[len]", outermost first: arrays and sequences of `type`. */
static struct type *dimensions(struct parser *parser, struct type *type)
{
	struct type *list, *inner;

	if (parser->why || !tsdl_take(parser, "["))
		return type;
	if (parser->token == NUMBER) {
		list = type_new(parser->metadata, TYPE_ARRAY);
		list->length = parser->number;
		if (list->length > LENGTH_MAX)
			tsdl_refuse(parser, "an array is too long");
		tsdl_next(parser);
	} else {
		list = type_new(parser->metadata, TYPE_SEQUENCE);
		list->tag = tsdl_plain(tsdl_take_path(parser));
	}
	tsdl_expect(parser, "]");
	if (++parser->depth > DEPTH_MAX)
		tsdl_refuse(parser, "an array has too many dimensions");
	inner = dimensions(parser, type);
	parser->depth--;
	if (parser->why)
		return NULL;
	list->element = inner;
	list->align = inner->align;
	return list;
}

/* The words of a new type's name: "unsigned long", "struct x". */
static void new_alias(struct parser *parser, struct type *type)
{
	g_autoptr(GString) name = g_string_new(NULL);

	while (!parser->why && parser->token == NAME) {
		g_string_append_printf(name, "%s%s", name->len ? " " : "", parser->text->str);
		tsdl_next(parser);
	}
	tsdl_expect(parser, ";");
	if (!parser->why && type)
		g_hash_table_replace(parser->aliases, g_strdup(name->str), type);
}

static void typealias(struct parser *parser)
{
	struct type *type;

	tsdl_next(parser);
	type = tsdl_type(parser);
	if (tsdl_expect(parser, ":="))
		new_alias(parser, type);
}

static void typedefinition(struct parser *parser)
{
	struct type *type;

	tsdl_next(parser);
	type = tsdl_type(parser);
	new_alias(parser, type);
}

void tsdl_declaration(struct parser *parser, struct type *into)
{
	struct type *type;
	char *name;

	if (tsdl_is(parser, NAME, "typealias")) {
		typealias(parser);
		return;
	}
	if (tsdl_is(parser, NAME, "typedef")) {
		typedefinition(parser);
		return;
	}
	type = tsdl_type(parser);
	if (tsdl_take(parser, ";") || parser->why)
		return;
	name = tsdl_plain(tsdl_take_name(parser));
	type = dimensions(parser, type);
	tsdl_expect(parser, ";");
	if (parser->why || !into)
		g_free(name);
	else
		type_add_member(into, name, type);
}

bool tsdl_begins_type(const struct parser *parser)
{
	static const char *const words[] = {"typealias", "typedef", "struct", "enum", "variant"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (tsdl_is(parser, NAME, words[i]))
			return true;
	return false;
}
