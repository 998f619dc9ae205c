/* SPDX-License-Identifier: MIT */
/* The blocks of the metadata; see tsdl.h.
 *
 *   text ─ tsdl_next() ─► token ─ tsdl_declaration() ─► types, by name in `aliases`
 *                          └ top_level() ────────► trace, env, clock, stream, event
 *
 * The first thing that does not fit sets `why`; everything returns at once then,
 * and tsdl_parse() goes on behind the block. Nesting is limited, numbers are
 * bounded where they are used.
 */
#include "metadata/tsdl.h"

#include <string.h>

#include "metadata/tsdl_types.h"

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
		metadata->big_endian = tsdl_order(entry->value) == ORDER_BIG;
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

/* "packet.header", "model.emf.uri" */
static char *entry_name(struct parser *parser)
{
	GString *name = g_string_new(NULL);

	while (!parser->why && (parser->token == NAME || tsdl_is_mark(parser, "."))) {
		g_string_append(name, parser->text->str);
		tsdl_next(parser);
	}
	if (!name->len)
		tsdl_refuse(parser, "a name expected");
	return g_string_free(name, FALSE);
}

static void entries(struct block *block,
		    void (*take_entry)(struct block *block, const struct entry *entry))
{
	struct parser *parser = block->parser;

	tsdl_next(parser);
	if (!tsdl_expect(parser, "{"))
		return;
	while (!parser->why && !tsdl_is_mark(parser, "}")) {
		g_autofree char *name = NULL, *value = NULL;
		struct entry entry = {0};

		if (tsdl_begins_type(parser)) {
			tsdl_declaration(parser, NULL);
			continue;
		}
		name = entry_name(parser);
		if (tsdl_take(parser, ":=")) {
			entry.type = tsdl_type(parser);
		} else if (tsdl_expect(parser, "=")) {
			value = tsdl_take_value(parser, &entry.number);
		}
		tsdl_expect(parser, ";");
		entry.name = name;
		entry.value = value;
		if (!parser->why)
			take_entry(block, &entry);
	}
	tsdl_expect(parser, "}");
	tsdl_expect(parser, ";");
}

static void clock_block(struct parser *parser)
{
	struct block block = {.parser = parser, .clock = {.frequency = 1000000000}};

	entries(&block, clock_entry);
	if (parser->why || block.clock.frequency == 0) {
		tsdl_refuse(parser, "a clock without frequency");
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

	if (tsdl_is(parser, NAME, "trace"))
		entries(&block, trace_entry);
	else if (tsdl_is(parser, NAME, "env"))
		entries(&block, env_entry);
	else if (tsdl_is(parser, NAME, "clock"))
		clock_block(parser);
	else if (tsdl_is(parser, NAME, "stream"))
		stream_block(parser);
	else if (tsdl_is(parser, NAME, "event"))
		event_block(parser);
	else if (tsdl_is(parser, NAME, "callsite"))
		entries(&block, other_entry);
	else if (tsdl_begins_type(parser))
		tsdl_declaration(parser, NULL);
	else if (!tsdl_take(parser, ";"))
		tsdl_refuse(parser, "none of trace, env, clock, stream, event");
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
	parser.integers = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (;;) {
		begin = parser.at;
		tsdl_next(&parser);
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
	g_hash_table_destroy(parser.integers);
	g_hash_table_destroy(parser.aliases);
	g_string_free(parser.text, TRUE);
}
