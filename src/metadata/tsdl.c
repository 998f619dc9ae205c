/* SPDX-License-Identifier: MIT */
/* A recursive-descent parser over a lexer; see tsdl.h.
 *
 *   text ─ next() ─► token ─ declaration() ─► types, by name in `aliases`
 *                          └ block() ───────► trace, env, clock, stream, event
 *
 * The first thing that does not fit sets `why`; everything returns at once then,
 * and tsdl_parse() goes on behind the block. Nesting is limited, numbers are
 * bounded where they are used.
 */
#include "metadata/tsdl.h"

#include <string.h>

#define DEPTH_MAX 32
#define LENGTH_MAX (UINT64_C(1) << 32)
#define ALIGN_MAX 65536

enum token { END, NAME, NUMBER, STRING, MARK };

struct parser {
	const char *begin, *at, *end;
	enum token token;
	GString *text;        /* NAME, STRING: the token's; MARK: "{", ":=", "..." */
	uint64_t number;
	int depth;
	char *why;            /* owned; NULL: all is well */
	GHashTable *aliases;  /* owned keys; "uint8_t", "struct packet_context" -> struct type */
	struct metadata *metadata;
};

static void fail(struct parser *parser, const char *why)
{
	guint line = 1;

	if (parser->why)
		return;
	for (const char *at = parser->begin; at < parser->at; at++)
		line += *at == '\n';
	parser->why = g_strdup_printf("line %u: %s", line, why);
}

static bool starts(const struct parser *parser, const char *text)
{
	size_t length = strlen(text);

	return (size_t) (parser->end - parser->at) >= length &&
	       memcmp(parser->at, text, length) == 0;
}

static void skip_blanks(struct parser *parser)
{
	while (parser->at < parser->end) {
		if (g_ascii_isspace(*parser->at)) {
			parser->at++;
		} else if (starts(parser, "//")) {
			while (parser->at < parser->end && *parser->at != '\n')
				parser->at++;
		} else if (starts(parser, "/*")) {
			parser->at += 2;
			while (parser->at < parser->end && !starts(parser, "*/"))
				parser->at++;
			parser->at = MIN(parser->at + 2, parser->end);
		} else {
			return;
		}
	}
}

static bool is_name(char c)
{
	return g_ascii_isalnum(c) || c == '_' || c == '$';
}

static void next_string(struct parser *parser)
{
	parser->token = STRING;
	for (parser->at++; parser->at < parser->end && *parser->at != '"'; parser->at++) {
		if (*parser->at == '\\' && parser->at + 1 < parser->end)
			parser->at++;
		g_string_append_c(parser->text, *parser->at);
	}
	if (parser->at == parser->end)
		fail(parser, "a string has no end");
	else
		parser->at++;
}

static void next_number(struct parser *parser)
{
	char digits[72];
	char *end = NULL;
	size_t length = 0;

	while (parser->at < parser->end && is_name(*parser->at) && length < sizeof digits - 1)
		digits[length++] = *parser->at++;
	digits[length] = 0;
	parser->token = NUMBER;
	parser->number = g_ascii_strtoull(digits, &end, 0);
	g_string_append(parser->text, digits);
	if (*end && strspn(end, "uUlL") != strlen(end))
		fail(parser, "this is no number");
}

static void next(struct parser *parser)
{
	static const char *const marks[] = {":=", "...", "->"};

	g_string_truncate(parser->text, 0);
	skip_blanks(parser);
	if (parser->at >= parser->end) {
		parser->token = END;
		return;
	}
	if (*parser->at == '"') {
		next_string(parser);
		return;
	}
	if (g_ascii_isdigit(*parser->at)) {
		next_number(parser);
		return;
	}
	if (is_name(*parser->at)) {
		parser->token = NAME;
		while (parser->at < parser->end && is_name(*parser->at))
			g_string_append_c(parser->text, *parser->at++);
		return;
	}
	parser->token = MARK;
	for (size_t i = 0; i < G_N_ELEMENTS(marks); i++)
		if (starts(parser, marks[i])) {
			g_string_append(parser->text, marks[i]);
			parser->at += strlen(marks[i]);
			return;
		}
	g_string_append_c(parser->text, *parser->at++);
}

static bool is(const struct parser *parser, enum token token, const char *text)
{
	return parser->token == token && strcmp(parser->text->str, text) == 0;
}

static bool is_mark(const struct parser *parser, const char *text)
{
	return is(parser, MARK, text);
}

/* Takes the mark if it is there. */
static bool take(struct parser *parser, const char *text)
{
	if (parser->why || !is_mark(parser, text))
		return false;
	next(parser);
	return true;
}

static bool expect(struct parser *parser, const char *text)
{
	g_autofree char *why = NULL;

	if (take(parser, text))
		return true;
	why = g_strdup_printf("'%s' expected", text);
	fail(parser, why);
	return false;
}

static char *take_name(struct parser *parser)
{
	char *name;

	if (parser->token != NAME) {
		fail(parser, "a name expected");
		return NULL;
	}
	name = g_strdup(parser->text->str);
	next(parser);
	return name;
}

/* "stream.event.header" -> its last part. */
static char *take_path(struct parser *parser)
{
	char *name = take_name(parser);

	while (name && is_mark(parser, ".")) {
		next(parser);
		g_free(name);
		name = take_name(parser);
	}
	return name;
}

/* CTF 1.8 puts one '_' before names that might be reserved words. */
static char *plain(char *name)
{
	if (name && name[0] == '_')
		memmove(name, name + 1, strlen(name));
	return name;
}

static int64_t take_signed(struct parser *parser)
{
	bool negative = take(parser, "-");
	int64_t number = (int64_t) parser->number;

	if (parser->token != NUMBER) {
		fail(parser, "a number expected");
		return 0;
	}
	next(parser);
	return negative ? (int64_t) (0 - (uint64_t) number) : number;
}

/* --- properties: "name = value;" ---------------------------------------- */

/* A value as text; `number` says whether it is one. */
static char *take_value(struct parser *parser, bool *number)
{
	GString *text = g_string_new(NULL);

	*number = parser->token == NUMBER || is_mark(parser, "-");
	if (*number) {
		g_string_printf(text, "%" G_GINT64_FORMAT, take_signed(parser));
		return g_string_free(text, FALSE);
	}
	if (parser->token == STRING) {
		g_string_append(text, parser->text->str);
		next(parser);
		return g_string_free(text, FALSE);
	}
	while (!parser->why && (parser->token == NAME || is_mark(parser, "."))) {
		g_string_append(text, parser->text->str);
		next(parser);
	}
	if (!text->len)
		fail(parser, "a value expected");
	return g_string_free(text, FALSE);
}

static bool is_true(const char *value)
{
	return g_ascii_strcasecmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

static uint8_t order_of(const char *value)
{
	if (strcmp(value, "be") == 0 || strcmp(value, "network") == 0)
		return ORDER_BIG;
	return strcmp(value, "le") == 0 ? ORDER_LITTLE : ORDER_NATIVE;
}

static void set_align(struct parser *parser, struct type *type, uint64_t align)
{
	if (align == 0 || align > ALIGN_MAX || (align & (align - 1)))
		fail(parser, "an alignment must be a power of two");
	else
		type->align = (uint32_t) align;
}

static void set_integer(struct parser *parser, struct type *type, const char *name,
			const char *value)
{
	uint64_t number = g_ascii_strtoull(value, NULL, 10);

	if (strcmp(name, "size") == 0) {
		if (number == 0 || number > 64)
			fail(parser, "an integer must have 1 to 64 bits");
		else
			type->size = (uint32_t) number;
	} else if (strcmp(name, "align") == 0) {
		set_align(parser, type, number);
	} else if (strcmp(name, "signed") == 0) {
		type->is_signed = is_true(value);
	} else if (strcmp(name, "byte_order") == 0) {
		type->order = order_of(value);
	} else if (strcmp(name, "encoding") == 0) {
		type->text = g_ascii_strcasecmp(value, "none") != 0;
	} else if (strcmp(name, "map") == 0) {
		type->clocked = g_str_has_prefix(value, "clock.");
	} else if (strcmp(name, "exp_dig") == 0 || strcmp(name, "mant_dig") == 0) {
		type->size += (uint32_t) MIN(number, 64u); /* floating_point: both parts */
	}
}

/* "{ name = value; … }" of integer, floating_point, string. */
static void properties(struct parser *parser, struct type *type)
{
	bool align_given = false;

	if (!expect(parser, "{"))
		return;
	while (!parser->why && !is_mark(parser, "}")) {
		g_autofree char *name = take_name(parser), *value = NULL;
		bool number;

		if (!name || !expect(parser, "="))
			return;
		value = take_value(parser, &number);
		align_given |= strcmp(name, "align") == 0;
		set_integer(parser, type, name, value);
		expect(parser, ";");
	}
	take(parser, "}");
	if (!align_given && type->kind != TYPE_STRING)
		type->align = type->size % 8 == 0 ? 8 : 1;
}

/* --- types ----------------------------------------------------------------- */

static struct type *type_specifier(struct parser *parser);
static void declaration(struct parser *parser, struct type *into);

static struct type *integer(struct parser *parser, enum type_kind kind)
{
	struct type *type = type_new(parser->metadata, kind);

	next(parser);
	properties(parser, type);
	if (!parser->why && type->size == 0)
		fail(parser, "it has no size");
	return type;
}

static struct type *string(struct parser *parser)
{
	struct type *type = type_new(parser->metadata, TYPE_STRING);

	next(parser);
	if (is_mark(parser, "{"))
		properties(parser, type);
	type->align = 8;
	return type;
}

static void ranges(struct parser *parser, struct type *type)
{
	int64_t value = 0;

	while (!parser->why && !is_mark(parser, "}")) {
		struct range range = {.from = value, .to = value};

		if (parser->token != NAME && parser->token != STRING) {
			fail(parser, "a label expected");
			return;
		}
		range.label = g_strdup(parser->text->str);
		next(parser);
		if (take(parser, "="))
			range.from = range.to = take_signed(parser);
		if (take(parser, "..."))
			range.to = take_signed(parser);
		g_array_append_val(type->ranges, range);
		value = (int64_t) ((uint64_t) range.to + 1);
		if (!take(parser, ","))
			break;
	}
	expect(parser, "}");
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

	next(parser);
	if (parser->token == NAME)
		name = take_name(parser);
	if (take(parser, ":"))
		container = type_specifier(parser);
	if (!is_mark(parser, "{") && name && !container) {
		type = named(parser, "enum", name);
		if (!type)
			fail(parser, "an enum that was not declared");
		return type;
	}
	if (!container)
		container = g_hash_table_lookup(parser->aliases, "int");
	if (!container || container->kind != TYPE_INTEGER) {
		fail(parser, "an enum needs an integer type");
		return NULL;
	}
	type = type_new(parser->metadata, TYPE_INTEGER);
	type->order = container->order;
	type->is_signed = container->is_signed;
	type->size = container->size;
	type->align = container->align;
	type->ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
	if (expect(parser, "{"))
		ranges(parser, type);
	if (name)
		name_type(parser, "enum", name, type);
	return type;
}

/* "{ members }" of a struct or variant. */
static void members(struct parser *parser, struct type *type)
{
	if (!expect(parser, "{"))
		return;
	while (!parser->why && !is_mark(parser, "}"))
		declaration(parser, type);
	expect(parser, "}");
}

static struct type *structure(struct parser *parser)
{
	g_autofree char *name = NULL;
	struct type *type;

	next(parser);
	if (parser->token == NAME && !is(parser, NAME, "align"))
		name = take_name(parser);
	if (name && !is_mark(parser, "{")) {
		type = named(parser, "struct", name);
		if (!type)
			fail(parser, "a struct that was not declared");
		return type;
	}
	type = type_new(parser->metadata, TYPE_STRUCT);
	members(parser, type);
	if (is(parser, NAME, "align")) {
		uint32_t own = type->align;

		next(parser);
		if (expect(parser, "("))
			set_align(parser, type, (uint64_t) take_signed(parser));
		expect(parser, ")");
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

	next(parser);
	if (parser->token == NAME)
		name = take_name(parser);
	if (take(parser, "<")) {
		tag = plain(take_path(parser));
		expect(parser, ">");
	}
	if (name && !is_mark(parser, "{")) {
		type = named(parser, "variant", name);
		if (!type) {
			fail(parser, "a variant that was not declared");
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
		if (is(parser, NAME, words[i]))
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
			next(parser);
		}
	} else if (parser->token == NAME) {
		g_string_append(name, parser->text->str);
		next(parser);
	}
	type = g_hash_table_lookup(parser->aliases, name->str);
	if (!type) {
		why = g_strdup_printf("type '%s' was not declared", name->str);
		fail(parser, why);
	}
	return type;
}

static struct type *type_specifier(struct parser *parser)
{
	struct type *type = NULL;

	if (parser->why)
		return NULL;
	if (++parser->depth > DEPTH_MAX)
		fail(parser, "types are nested too deep");
	else if (is(parser, NAME, "integer"))
		type = integer(parser, TYPE_INTEGER);
	else if (is(parser, NAME, "floating_point"))
		type = integer(parser, TYPE_FLOAT);
	else if (is(parser, NAME, "string"))
		type = string(parser);
	else if (is(parser, NAME, "enum"))
		type = enumeration(parser);
	else if (is(parser, NAME, "struct"))
		type = structure(parser);
	else if (is(parser, NAME, "variant"))
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

	if (parser->why || !take(parser, "["))
		return type;
	if (parser->token == NUMBER) {
		list = type_new(parser->metadata, TYPE_ARRAY);
		list->length = parser->number;
		if (list->length > LENGTH_MAX)
			fail(parser, "an array is too long");
		next(parser);
	} else {
		list = type_new(parser->metadata, TYPE_SEQUENCE);
		list->tag = plain(take_path(parser));
	}
	expect(parser, "]");
	if (++parser->depth > DEPTH_MAX)
		fail(parser, "an array has too many dimensions");
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
		next(parser);
	}
	expect(parser, ";");
	if (!parser->why && type)
		g_hash_table_replace(parser->aliases, g_strdup(name->str), type);
}

static void typealias(struct parser *parser)
{
	struct type *type;

	next(parser);
	type = type_specifier(parser);
	if (expect(parser, ":="))
		new_alias(parser, type);
}

static void typedefinition(struct parser *parser)
{
	struct type *type;

	next(parser);
	type = type_specifier(parser);
	new_alias(parser, type);
}

/* "TYPE name[…];", or the declaration of a type; `into` may be NULL. */
static void declaration(struct parser *parser, struct type *into)
{
	struct type *type;
	char *name;

	if (is(parser, NAME, "typealias")) {
		typealias(parser);
		return;
	}
	if (is(parser, NAME, "typedef")) {
		typedefinition(parser);
		return;
	}
	type = type_specifier(parser);
	if (take(parser, ";") || parser->why)
		return;
	name = plain(take_name(parser));
	type = dimensions(parser, type);
	expect(parser, ";");
	if (parser->why || !into)
		g_free(name);
	else
		type_add_member(into, name, type);
}

/* --- blocks ---------------------------------------------------------------- */

/* What a block says: "name = value" or "name := type". */
struct entry {
	const char *name, *value; /* value NULL: a type */
	bool number;
	struct type *type;
};

struct block {
	struct parser *parser;
	struct stream_type *stream;
	struct event_type *event;
	struct clock_type clock;
	uint64_t id;
	struct type *header, *packet_context, *context;
};

static void trace_entry(struct block *block, const struct entry *entry)
{
	struct metadata *metadata = block->parser->metadata;

	if (strcmp(entry->name, "packet.header") == 0 && entry->type)
		metadata->packet_header = entry->type;
	else if (strcmp(entry->name, "byte_order") == 0 && entry->value) {
		metadata->has_byte_order = true;
		metadata->big_endian = order_of(entry->value) == ORDER_BIG;
	} else if (strcmp(entry->name, "uuid") == 0 && entry->value) {
		g_free(metadata->uuid);
		metadata->uuid = g_strdup(entry->value);
	}
}

static void env_entry(struct block *block, const struct entry *entry)
{
	struct metadata *metadata = block->parser->metadata;

	if (!entry->value)
		return;
	g_hash_table_replace(metadata->environment, g_strdup(entry->name), g_strdup(entry->value));
	if (entry->number)
		g_hash_table_add(metadata->numbers, g_strdup(entry->name));
}

static void clock_entry(struct block *block, const struct entry *entry)
{
	struct clock_type *clock = &block->clock;

	if (!entry->value)
		return;
	if (strcmp(entry->name, "name") == 0) {
		g_free(clock->name);
		clock->name = g_strdup(entry->value);
	} else if (strcmp(entry->name, "uuid") == 0) {
		g_free(clock->uuid);
		clock->uuid = g_strdup(entry->value);
	} else if (strcmp(entry->name, "freq") == 0) {
		clock->frequency = g_ascii_strtoull(entry->value, NULL, 10);
	} else if (strcmp(entry->name, "offset_s") == 0) {
		clock->offset_s = g_ascii_strtoll(entry->value, NULL, 10);
	} else if (strcmp(entry->name, "offset") == 0) {
		clock->offset = g_ascii_strtoll(entry->value, NULL, 10);
	}
}

static void stream_entry(struct block *block, const struct entry *entry)
{
	if (strcmp(entry->name, "id") == 0 && entry->value)
		block->id = g_ascii_strtoull(entry->value, NULL, 10);
	else if (strcmp(entry->name, "event.header") == 0)
		block->header = entry->type;
	else if (strcmp(entry->name, "packet.context") == 0)
		block->packet_context = entry->type;
	else if (strcmp(entry->name, "event.context") == 0)
		block->context = entry->type;
}

static void event_entry(struct block *block, const struct entry *entry)
{
	struct event_type *event = block->event;

	if (strcmp(entry->name, "name") == 0 && entry->value) {
		g_free(event->name);
		event->name = g_strdup(entry->value);
	} else if (strcmp(entry->name, "id") == 0 && entry->value) {
		event->id = g_ascii_strtoull(entry->value, NULL, 10);
	} else if (strcmp(entry->name, "stream_id") == 0 && entry->value) {
		event->stream_id = g_ascii_strtoull(entry->value, NULL, 10);
	} else if (strcmp(entry->name, "fields") == 0) {
		event->payload = entry->type;
	} else if (strcmp(entry->name, "context") == 0) {
		event->context = entry->type;
	}
}

static void other_entry(struct block *block, const struct entry *entry)
{
	(void) block;
	(void) entry;
}

static bool begins_type(const struct parser *parser)
{
	static const char *const words[] = {"typealias", "typedef", "struct", "enum", "variant"};

	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (is(parser, NAME, words[i]))
			return true;
	return false;
}

/* "packet.header", "model.emf.uri" */
static char *entry_name(struct parser *parser)
{
	GString *name = g_string_new(NULL);

	while (!parser->why && (parser->token == NAME || is_mark(parser, "."))) {
		g_string_append(name, parser->text->str);
		next(parser);
	}
	if (!name->len)
		fail(parser, "a name expected");
	return g_string_free(name, FALSE);
}

static void entries(struct block *block,
		    void (*take_entry)(struct block *block, const struct entry *entry))
{
	struct parser *parser = block->parser;

	next(parser);
	if (!expect(parser, "{"))
		return;
	while (!parser->why && !is_mark(parser, "}")) {
		g_autofree char *name = NULL, *value = NULL;
		struct entry entry = {0};

		if (begins_type(parser)) {
			declaration(parser, NULL);
			continue;
		}
		name = entry_name(parser);
		if (take(parser, ":=")) {
			entry.type = type_specifier(parser);
		} else if (expect(parser, "=")) {
			value = take_value(parser, &entry.number);
		}
		expect(parser, ";");
		entry.name = name;
		entry.value = value;
		if (!parser->why)
			take_entry(block, &entry);
	}
	expect(parser, "}");
	expect(parser, ";");
}

static void clock_block(struct parser *parser)
{
	struct block block = {.parser = parser, .clock = {.frequency = 1000000000}};

	entries(&block, clock_entry);
	if (parser->why || block.clock.frequency == 0) {
		fail(parser, "a clock without frequency");
		g_free(block.clock.name);
		g_free(block.clock.uuid);
		return;
	}
	g_array_append_val(parser->metadata->clocks, block.clock);
}

static void stream_block(struct parser *parser)
{
	struct block block = {.parser = parser};
	struct stream_type *stream;

	entries(&block, stream_entry);
	if (parser->why)
		return;
	stream = metadata_stream(parser->metadata, block.id);
	stream->header = block.header;
	stream->packet_context = block.packet_context;
	stream->context = block.context;
}

static void event_block(struct parser *parser)
{
	struct event_type *event = g_new0(struct event_type, 1);
	struct block block = {.parser = parser, .event = event};

	entries(&block, event_entry);
	if (parser->why) {
		g_free(event->name);
		g_free(event);
		return;
	}
	if (!event->name)
		event->name = g_strdup("");
	g_ptr_array_add(metadata_stream(parser->metadata, event->stream_id)->events, event);
}

static void top_level(struct parser *parser)
{
	struct block block = {.parser = parser};

	if (is(parser, NAME, "trace"))
		entries(&block, trace_entry);
	else if (is(parser, NAME, "env"))
		entries(&block, env_entry);
	else if (is(parser, NAME, "clock"))
		clock_block(parser);
	else if (is(parser, NAME, "stream"))
		stream_block(parser);
	else if (is(parser, NAME, "event"))
		event_block(parser);
	else if (is(parser, NAME, "callsite"))
		entries(&block, other_entry);
	else if (begins_type(parser))
		declaration(parser, NULL);
	else if (!take(parser, ";"))
		fail(parser, "none of trace, env, clock, stream, event");
}

/* Behind the block that begins at `from`: blocks end with "};" at a line's begin,
 * and no other line begins so. */
static void skip_block(struct parser *parser, const char *from)
{
	const char *at = g_strstr_len(from, parser->end - from, "\n}");

	parser->at = at ? at + 2 : parser->end;
	while (parser->at < parser->end && (*parser->at == ';' || *parser->at == ' '))
		parser->at++;
}

void tsdl_parse(const char *text, size_t length, struct metadata *metadata)
{
	struct parser parser = {.begin = text,
				.at = text,
				.end = text + length,
				.text = g_string_new(NULL),
				.metadata = metadata};
	const char *begin;

	parser.aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (;;) {
		begin = parser.at;
		next(&parser);
		if (parser.token == END && !parser.why)
			break;
		while (!parser.why && parser.token != END) {
			begin = MAX(begin, parser.at - parser.text->len);
			top_level(&parser);
		}
		if (!parser.why)
			break;
		metadata->dropped++;
		if (!metadata->trouble)
			metadata->trouble = g_steal_pointer(&parser.why);
		g_clear_pointer(&parser.why, g_free);
		parser.depth = 0;
		skip_block(&parser, begin);
	}
	g_hash_table_destroy(parser.aliases);
	g_string_free(parser.text, TRUE);
}
