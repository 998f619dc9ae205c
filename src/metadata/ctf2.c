/* SPDX-License-Identifier: MIT */
/* Fragments and field classes of CTF 2; see ctf2.h. */
#include "metadata/ctf2.h"

#include <jansson.h>
#include <string.h>

#define SEPARATOR 0x1e
#define DEPTH_MAX 32
#define LENGTH_MAX (INT64_C(1) << 32)

struct reading {
	struct metadata *metadata;
	GHashTable *aliases; /* owned; name -> struct type */
	const char *why;     /* NULL: all is well */
	int depth;
};

static struct type *field_class(struct reading *reading, const json_t *object);

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

static int64_t number(const json_t *object, const char *key, int64_t fallback)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : fallback;
}

static struct type *refuse(struct reading *reading, const char *why)
{
	if (!reading->why)
		reading->why = why;
	return NULL;
}

static bool has_role(const json_t *class, const char *role)
{
	const json_t *roles = json_object_get(class, "roles");

	for (size_t i = 0; i < json_array_size(roles); i++)
		if (g_strcmp0(json_string_value(json_array_get(roles, i)), role) == 0)
			return true;
	return false;
}

/* The name by which the reader knows what has such a role; NULL: none has. */
static const char *name_by_role(const json_t *class)
{
	static const struct {
		const char *role, *name;
	} names[] = {
		{"packet-magic-number", "magic"},
		{"metadata-stream-uuid", "uuid"},
		{"data-stream-class-id", "stream_id"},
		{"data-stream-id", "stream_instance_id"},
		{"packet-total-length", "packet_size"},
		{"packet-content-length", "content_size"},
		{"packet-end-default-clock-timestamp", "timestamp_end"},
		{"discarded-event-record-counter-snapshot", "events_discarded"},
		{"packet-sequence-number", "packet_seq_num"},
		{"event-record-class-id", "id"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		if (has_role(class, names[i].role))
			return names[i].name;
	return NULL;
}

static void set_align(struct reading *reading, struct type *type, int64_t align)
{
	if (align < 1 || align > 65536 || (align & (align - 1)))
		refuse(reading, "an alignment must be a power of two");
	else
		type->align = MAX(type->align, (uint32_t) align);
}

/* [[from, to], …] as ranges of that label. */
static void add_ranges(struct reading *reading, struct type *type, const char *label,
		       const json_t *ranges)
{
	if (!type->ranges)
		type->ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
	for (size_t i = 0; i < json_array_size(ranges); i++) {
		const json_t *pair = json_array_get(ranges, i);
		struct range range;

		if (json_array_size(pair) != 2) {
			refuse(reading, "a range must have two ends");
			return;
		}
		range.label = g_strdup(label);
		range.from = json_integer_value(json_array_get(pair, 0));
		range.to = json_integer_value(json_array_get(pair, 1));
		g_array_append_val(type->ranges, range);
	}
}

static struct type *integer(struct reading *reading, const json_t *object, bool is_signed)
{
	struct type *type = type_new(reading->metadata, TYPE_INTEGER);
	const json_t *mappings = json_object_get(object, "mappings"), *ranges;
	int64_t length = number(object, "length", 0);
	const char *label;

	if (length < 1 || length > 64)
		return refuse(reading, "an integer must have 1 to 64 bits");
	type->size = (uint32_t) length;
	type->is_signed = is_signed;
	type->order =
		strcmp(text(object, "byte-order"), "big-endian") == 0 ? ORDER_BIG : ORDER_LITTLE;
	type->clocked = has_role(object, "default-clock-timestamp") ||
			has_role(object, "packet-end-default-clock-timestamp");
	set_align(reading, type, number(object, "alignment", 1));
	json_object_foreach((json_t *) mappings, label, ranges)
		add_ranges(reading, type, label, ranges);
	return type;
}

/* "…-location": the last part of its path. */
static char *location(const json_t *object, const char *key)
{
	const json_t *path = json_object_get(json_object_get(object, key), "path");
	const char *last = NULL;

	if (json_is_array(json_object_get(object, key)))
		path = json_object_get(object, key);
	for (size_t i = 0; i < json_array_size(path); i++)
		if (json_is_string(json_array_get(path, i)))
			last = json_string_value(json_array_get(path, i));
	return g_strdup(last ? last : "");
}

/* Arrays, and strings and blobs as arrays of bytes. */
static struct type *list(struct reading *reading, const json_t *object, bool dynamic,
			 struct type *element)
{
	struct type *type = type_new(reading->metadata, dynamic ? TYPE_SEQUENCE : TYPE_ARRAY);
	int64_t length = number(object, "length", 0);

	if (!element)
		return NULL;
	if (!dynamic && (length < 0 || length > LENGTH_MAX))
		return refuse(reading, "an array is too long");
	type->length = (uint64_t) length;
	type->element = element;
	type->align = element->align;
	if (dynamic)
		type->tag = location(object, "length-field-location");
	set_align(reading, type, number(object, "minimum-alignment", 1));
	return type;
}

static struct type *byte(struct reading *reading, bool is_text)
{
	struct type *type = type_new(reading->metadata, TYPE_INTEGER);

	type->size = type->align = 8;
	type->text = is_text;
	return type;
}

static struct type *structure(struct reading *reading, const json_t *object)
{
	struct type *type = type_new(reading->metadata, TYPE_STRUCT);
	const json_t *members = json_object_get(object, "member-classes");

	for (size_t i = 0; i < json_array_size(members) && !reading->why; i++) {
		const json_t *member = json_array_get(members, i);
		const json_t *class = json_object_get(member, "field-class");
		const char *name = name_by_role(class);
		struct type *inner = field_class(reading, class);

		if (!name && inner && inner->clocked)
			name = "timestamp_begin";
		if (inner)
			type_add_member(type, g_strdup(name ? name : text(member, "name")), inner);
	}
	set_align(reading, type, number(object, "minimum-alignment", 1));
	return type;
}

static struct type *variant(struct reading *reading, const json_t *object)
{
	struct type *type = type_new(reading->metadata, TYPE_VARIANT);
	const json_t *options = json_object_get(object, "options");

	type->tag = location(object, "selector-field-location");
	for (size_t i = 0; i < json_array_size(options) && !reading->why; i++) {
		const json_t *option = json_array_get(options, i);
		g_autofree char *label = g_strdup_printf("%s", text(option, "name"));
		struct type *inner = field_class(reading, json_object_get(option, "field-class"));

		if (!inner)
			break;
		add_ranges(reading, type, label, json_object_get(option, "selector-field-ranges"));
		type_add_member(type, g_steal_pointer(&label), inner);
	}
	return type;
}

static struct type *floating(struct reading *reading, const json_t *object)
{
	struct type *type = integer(reading, object, false);

	if (type)
		type->kind = TYPE_FLOAT;
	return type;
}

static struct type *of_kind(struct reading *reading, const json_t *object, const char *kind)
{
	struct type *element;

	if (strcmp(kind, "fixed-length-unsigned-integer") == 0 ||
	    strcmp(kind, "fixed-length-boolean") == 0 ||
	    strcmp(kind, "fixed-length-bit-array") == 0 ||
	    strcmp(kind, "fixed-length-bit-map") == 0)
		return integer(reading, object, false);
	if (strcmp(kind, "fixed-length-signed-integer") == 0)
		return integer(reading, object, true);
	if (strcmp(kind, "fixed-length-floating-point-number") == 0)
		return floating(reading, object);
	if (strcmp(kind, "null-terminated-string") == 0)
		return type_new(reading->metadata, TYPE_STRING);
	if (strcmp(kind, "static-length-string") == 0 || strcmp(kind, "dynamic-length-string") == 0)
		return list(reading, object, *kind == 'd', byte(reading, true));
	if (strcmp(kind, "static-length-blob") == 0 || strcmp(kind, "dynamic-length-blob") == 0)
		return list(reading, object, *kind == 'd', byte(reading, false));
	if (strcmp(kind, "static-length-array") == 0 || strcmp(kind, "dynamic-length-array") == 0) {
		element = field_class(reading, json_object_get(object, "element-field-class"));
		return list(reading, object, *kind == 'd', element);
	}
	if (strcmp(kind, "structure") == 0)
		return structure(reading, object);
	if (strcmp(kind, "variant") == 0)
		return variant(reading, object);
	return refuse(reading, "a field class of a kind that LTTng does not write");
}

/* A field class, or the name of one. */
static struct type *field_class(struct reading *reading, const json_t *object)
{
	struct type *type = NULL;

	if (json_is_string(object)) {
		type = g_hash_table_lookup(reading->aliases, json_string_value(object));
		return type ? type : refuse(reading, "a field class that was not declared");
	}
	if (reading->why)
		return NULL;
	if (!json_is_object(object))
		return refuse(reading, "a field class is missing");
	if (++reading->depth > DEPTH_MAX)
		refuse(reading, "field classes are nested too deep");
	else
		type = of_kind(reading, object, text(object, "type"));
	reading->depth--;
	return reading->why ? NULL : type;
}

static struct type *optional_class(struct reading *reading, const json_t *fragment, const char *key)
{
	const json_t *class = json_object_get(fragment, key);

	return class ? field_class(reading, class) : NULL;
}

/* --- fragments --------------------------------------------------------------- */

static char *uuid_text(const json_t *list)
{
	GString *uuid;

	if (json_array_size(list) != 16)
		return NULL;
	uuid = g_string_new(NULL);
	for (size_t i = 0; i < 16; i++)
		g_string_append_printf(
			uuid, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			(unsigned) json_integer_value(json_array_get(list, i)) & 255);
	return g_string_free(uuid, FALSE);
}

static void preamble(struct metadata *metadata, const json_t *fragment)
{
	char *uuid = uuid_text(json_object_get(fragment, "uuid"));

	if (uuid) {
		g_free(metadata->uuid);
		metadata->uuid = uuid;
	}
}

static void trace_class(struct reading *reading, const json_t *fragment)
{
	struct metadata *metadata = reading->metadata;
	const json_t *environment = json_object_get(fragment, "environment"), *value;
	struct type *header = optional_class(reading, fragment, "packet-header-field-class");
	const char *key;

	if (reading->why)
		return;
	metadata->packet_header = header;
	json_object_foreach((json_t *) environment, key, value)
	{
		if (json_is_integer(value)) {
			g_hash_table_add(metadata->numbers, g_strdup(key));
			g_hash_table_replace(metadata->environment, g_strdup(key),
					     g_strdup_printf("%" JSON_INTEGER_FORMAT,
							     json_integer_value(value)));
		} else if (json_is_string(value)) {
			g_hash_table_replace(metadata->environment, g_strdup(key),
					     g_strdup(json_string_value(value)));
		}
	}
}

static void clock_class(struct reading *reading, const json_t *fragment)
{
	const json_t *offset = json_object_get(fragment, "offset-from-origin");
	int64_t frequency = number(fragment, "frequency", 1000000000);
	struct clock_type clock = {.offset_s = number(offset, "seconds", 0),
				   .offset = number(offset, "cycles", 0)};

	if (frequency <= 0) {
		refuse(reading, "a clock without frequency");
		return;
	}
	clock.frequency = (uint64_t) frequency;
	clock.name =
		g_strdup(*text(fragment, "name") ? text(fragment, "name") : text(fragment, "id"));
	clock.uuid = json_is_array(json_object_get(fragment, "uuid"))
			     ? uuid_text(json_object_get(fragment, "uuid"))
			     : g_strdup(json_string_value(json_object_get(fragment, "uid")));
	g_array_append_val(reading->metadata->clocks, clock);
}

static void stream_class(struct reading *reading, const json_t *fragment)
{
	struct type *header = optional_class(reading, fragment, "event-record-header-field-class");
	struct type *packet = optional_class(reading, fragment, "packet-context-field-class");
	struct type *common =
		optional_class(reading, fragment, "event-record-common-context-field-class");
	struct stream_type *stream;

	if (reading->why)
		return;
	stream = metadata_stream(reading->metadata, (uint64_t) number(fragment, "id", 0));
	stream->header = header;
	stream->packet_context = packet;
	stream->context = common;
}

static void event_class(struct reading *reading, const json_t *fragment)
{
	struct type *context = optional_class(reading, fragment, "specific-context-field-class");
	struct type *payload = optional_class(reading, fragment, "payload-field-class");
	struct event_type *event;

	if (reading->why)
		return;
	event = g_new0(struct event_type, 1);
	*event = (struct event_type) {
		.name = g_strdup(text(fragment, "name")),
		.id = (uint64_t) number(fragment, "id", 0),
		.stream_id = (uint64_t) number(fragment, "data-stream-class-id", 0),
		.context = context,
		.payload = payload};
	g_ptr_array_add(metadata_stream(reading->metadata, event->stream_id)->events, event);
}

static void alias(struct reading *reading, const json_t *fragment)
{
	struct type *type = optional_class(reading, fragment, "field-class");

	if (type)
		g_hash_table_replace(reading->aliases, g_strdup(text(fragment, "name")), type);
}

static void fragment(struct reading *reading, const json_t *object)
{
	const char *kind = text(object, "type");

	if (strcmp(kind, "preamble") == 0)
		preamble(reading->metadata, object);
	else if (strcmp(kind, "trace-class") == 0)
		trace_class(reading, object);
	else if (strcmp(kind, "clock-class") == 0)
		clock_class(reading, object);
	else if (strcmp(kind, "data-stream-class") == 0)
		stream_class(reading, object);
	else if (strcmp(kind, "event-record-class") == 0)
		event_class(reading, object);
	else if (strcmp(kind, "field-class-alias") == 0)
		alias(reading, object);
	else
		refuse(reading, "a fragment of unknown type");
}

void ctf2_parse(const char *bytes, size_t length, struct metadata *metadata)
{
	struct reading reading = {.metadata = metadata};
	const char *at = bytes, *end = bytes + length;

	metadata->ctf2 = true;
	reading.aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	while (at < end) {
		const char *next = memchr(at, SEPARATOR, (size_t) (end - at));
		json_t *object;

		next = next ? next : end;
		if (next > at + 1) {
			object = json_loadb(at, (size_t) (next - at), 0, NULL);
			reading.why = object ? NULL : "a fragment that is not JSON";
			reading.depth = 0;
			if (object)
				fragment(&reading, object);
			json_decref(object);
			if (reading.why) {
				metadata->dropped++;
				if (!metadata->trouble)
					metadata->trouble = g_strdup(reading.why);
			}
		}
		at = next + 1;
	}
	g_hash_table_destroy(reading.aliases);
}
