/* SPDX-License-Identifier: MIT */
/* Programs and filters of event classes; see classes.h. */
#include "reader/classes.h"

#include <stddef.h>
#include <string.h>

#include "kernel/kernel_events.h"

#define DIRECT_IDS 65536 /* ids looked up by index, and at most … */
#define DIRECT_SPARSE 8  /* … so many for each class: LTTng numbers them from 0 on */
#define AT(member) offsetof(struct event, member)
#define READY_AT(member) offsetof(struct event_ready, member)

struct class_filter {
	int bit;
	const struct event_filter *filter; /* borrowed */
	uint8_t values[VALUES_MAX];        /* of its conditions; UINT8_MAX: no such field */
};

#define TAKE(name, what, at) {name, what, at, NULL, false}
#define INSIDE(name, wishes) {name, TAKE_INSIDE, 0, wishes, false}
#define HEADER(name, member) {name, TAKE_I64, offsetof(struct packet_headers, member), NULL, true}

/* With what tells one TCP segment from others. */
static const struct wish transport_wishes[] = {
	TAKE("source_port", TAKE_I32, AT(net.source_port)),
	TAKE("dest_port", TAKE_I32, AT(net.dest_port)),
	HEADER("seq", seq),
	HEADER("ack_seq", ack_seq),
	HEADER("data_offset", data_offset),
	HEADER("flags", flags),
	HEADER("window_size", window),
	{0}};
static const struct wish network_wishes[] = {
	TAKE("saddr", TAKE_BYTES, AT(net.saddr)),
	TAKE("daddr", TAKE_BYTES, AT(net.daddr)),
	INSIDE("transport_header", transport_wishes),
	HEADER("tot_len", total),
	HEADER("payload_len", total),
	HEADER("ihl", ihl),
	HEADER("id", id),
	{0}};

/* poll's and epoll_wait's lists, epoll_ctl's cookie. */
static const struct wish union_wishes[] = {
	TAKE("u64", TAKE_I64, READY_AT(data)), TAKE("fd", TAKE_I32, READY_AT(fd)), {0}};
static const struct wish ready_wishes[] = {TAKE("fd", TAKE_I32, READY_AT(fd)),
					   TAKE("raw_events", TAKE_I32, READY_AT(events)),
					   INSIDE("data_union", union_wishes),
					   {0}};
static const struct wish cookie_union_wishes[] = {TAKE("u64", TAKE_I64, AT(syscall.data)), {0}};
static const struct wish cookie_wishes[] = {INSIDE("data_union", cookie_union_wishes), {0}};

static struct wish wish_of(const struct event_field *field)
{
	static const uint8_t takes[] = {[FIELD_I32] = TAKE_I32,       [FIELD_I64] = TAKE_I64,
					[FIELD_STRING] = TAKE_STRING, [FIELD_BYTES] = TAKE_BYTES,
					[FIELD_WORDS] = TAKE_WORDS,   [FIELD_PAIR] = TAKE_PAIR,
					[FIELD_READY] = TAKE_READY,   [FIELD_COOKIE] = TAKE_INSIDE,
					[FIELD_PACKET] = TAKE_INSIDE, [FIELD_BOOL] = TAKE_BOOL};
	struct wish wish = {field->name, takes[field->type], field->offset, NULL, false};

	if (field->type == FIELD_READY)
		wish.inside = ready_wishes;
	else if (field->type == FIELD_COOKIE)
		wish.inside = cookie_wishes;
	else if (field->type == FIELD_PACKET)
		wish.inside = network_wishes;
	return wish;
}

static GArray *payload_wishes(const struct record_class *record)
{
	const struct event_class *class = &record->class;
	GArray *wishes = g_array_new(TRUE, TRUE, sizeof(struct wish));

	for (const struct event_field *at = perf_thread_fields(); record->perf && at->name; at++) {
		struct wish wish = wish_of(at);

		g_array_append_val(wishes, wish);
	}
	for (const struct event_field *field = class->fields; field->name; field++) {
		struct wish wish = wish_of(field);

		g_array_append_val(wishes, wish);
	}
	return wishes;
}

/* Contexts that are of the thread; some kinds have more that are of the event. */
static const struct wish common_wishes[] = {TAKE("tid", TAKE_I32, AT(tid)),
					    TAKE("pid", TAKE_I32, AT(pid)),
					    TAKE("callstack_kernel", TAKE_WORDS, AT(callstack)),
					    TAKE("callstack_user", TAKE_WORDS, AT(user_callstack)),
					    {0}};
static const struct wish user_wishes[] = {
	TAKE("vtid", TAKE_I32, AT(tid)), TAKE("vpid", TAKE_I32, AT(pid)), {0}};

static GArray *context_wishes(bool user, uint16_t kind)
{
	GArray *wishes = g_array_new(TRUE, TRUE, sizeof(struct wish));

	for (const struct wish *at = user ? user_wishes : common_wishes; at->name; at++)
		g_array_append_val(wishes, *at);
	for (const struct event_field *at = event_contexts(kind); !user && at->name; at++) {
		struct wish wish = wish_of(at);

		g_array_append_val(wishes, wish);
	}
	return wishes;
}

/* --- filters --------------------------------------------------------------- */

static void append_members(GString *text, const struct type *type, const char *prefix)
{
	for (guint i = 0; type && i < type->members->len; i++)
		g_string_append_printf(text, "%s%s%s", text->len ? ", " : "", prefix,
				       g_array_index(type->members, struct member, i).name);
}

/* Says which conditions such events can fulfil, for the error if none does. */
static void tell_fields(const struct event_sink *sink, unsigned number,
			const struct stream_type *stream, const struct event_type *event)
{
	const GArray *conditions = sink->filters[number]->conditions;
	g_autoptr(GString) fields = g_string_new(NULL);
	uint64_t keys = 0;

	for (guint i = 0; i < conditions->len && i < 64; i++) {
		const struct filter_condition *at =
			&g_array_index(conditions, struct filter_condition, i);
		bool known = at->scope == FILTER_CONTEXT
				     ? type_member(stream->context, at->key) ||
					       type_member(event->context, at->key)
				     : type_member(event->payload, at->key) ||
					       strcmp(at->key, "cpu") == 0;

		keys |= (uint64_t) known << i;
	}
	append_members(fields, event->payload, "");
	append_members(fields, stream->context, "$ctx.");
	append_members(fields, event->context, "$ctx.");
	g_string_append(fields, fields->len ? ", cpu" : "cpu");
	sink->fields(sink->data, number, keys, fields->str);
}

/* Numbers for the values that the filters want: one per condition. */
static void add_filters(const struct event_sink *sink, struct record_class *class,
			const struct stream_type *stream, const struct event_type *event,
			GHashTable *fields, GHashTable *common, GHashTable *own)
{
	guint used = 0;

	for (unsigned i = 0; i < SINK_FILTERS; i++) {
		struct class_filter filter = {.bit = i, .filter = sink->filters[i]};

		if (!filter.filter || !filter_wants_tracepoint(filter.filter, event->name))
			continue;
		tell_fields(sink, i, stream, event);
		memset(filter.values, 0xff, sizeof filter.values);
		for (guint k = 0; k < filter.filter->conditions->len && k < VALUES_MAX; k++) {
			const struct filter_condition *at =
				&g_array_index(filter.filter->conditions, struct filter_condition,
					       k);
			GHashTable *where = at->scope == FILTER_FIELD               ? fields
					    : type_member(stream->context, at->key) ? common
										    : own;
			gpointer known = g_hash_table_lookup(where, at->key);

			if (!known && used == VALUES_MAX)
				continue;
			if (!known) {
				known = GUINT_TO_POINTER(++used);
				g_hash_table_insert(where, at->key, known);
			}
			filter.values[k] = (uint8_t) (GPOINTER_TO_UINT(known) - 1);
		}
		if (!class->filters)
			class->filters = g_array_new(FALSE, FALSE, sizeof filter);
		g_array_append_val(class->filters, filter);
	}
}

/* The same for all fields of a system call that are whole numbers. */
static void add_values(const struct event_sink *sink, struct record_class *class,
		       const struct event_type *event, GHashTable *fields, guint used)
{
	const GArray *members = event->payload ? event->payload->members : NULL;
	g_autoptr(GString) names = g_string_new(NULL);

	if (!sink->values || class->class.ending == ENDING_CALL ||
	    (class->class.kind != EV_SYSCALL_ENTRY && class->class.kind != EV_SYSCALL_EXIT))
		return;
	for (guint i = 0; members && i < members->len && class->value_count < SHAPE_MAX; i++) {
		const struct member *member = &g_array_index(members, struct member, i);
		gpointer known = g_hash_table_lookup(fields, member->name);

		if (member->type->kind != TYPE_INTEGER || (!known && used == VALUES_MAX))
			continue;
		if (!known) {
			known = GUINT_TO_POINTER(++used);
			g_hash_table_insert(fields, member->name, known);
		}
		class->value_places[class->value_count++] = (uint8_t) (GPOINTER_TO_UINT(known) - 1);
		shape_add(names, member->name, member->type->is_signed, member->type->size);
	}
	class->shape = class->value_count ? sink->shape(sink->data, names->str) : 0;
}

static void take_values(const struct record_class *class, struct cursor *cursor,
			struct event *event)
{
	for (guint i = 0; i < class->value_count; i++)
		cursor->numbers[i] = (int64_t) cursor->values[class->value_places[i]].number;
	event->syscall.shape = class->shape;
	event->syscall.value_count = class->value_count;
	event->syscall.values = cursor->numbers;
}

static bool condition_holds(const struct filter_condition *condition, uint8_t number,
			    const struct cursor *cursor, const struct event *event)
{
	const struct field_value *value = number < VALUES_MAX ? &cursor->values[number] : NULL;

	if (value && value->known)
		return value->is_text ? filter_condition_text(condition, value->text)
				      : filter_condition_integer(condition, value->is_signed,
								 value->number);
	return condition->scope == FILTER_FIELD && strcmp(condition->key, "cpu") == 0 &&
	       filter_condition_integer(condition, false, event->cpu);
}

static void apply_filters(const struct record_class *class, const struct cursor *cursor,
			  struct event *event)
{
	for (guint i = 0; i < class->filters->len; i++) {
		const struct class_filter *at =
			&g_array_index(class->filters, struct class_filter, i);
		const GArray *conditions = at->filter->conditions;
		bool holds = true;

		for (guint k = 0; k < conditions->len && holds; k++)
			holds = condition_holds(
				&g_array_index(conditions, struct filter_condition, k),
				k < VALUES_MAX ? at->values[k] : UINT8_MAX, cursor, event);
		if (holds)
			event->matches |= 1u << at->bit;
	}
}

/* --- classes --------------------------------------------------------------- */

/* A probe's event has any name: its payload tells. */
static enum class_origin kernel_origin(const struct type *payload)
{
	if (!payload || !type_member(payload, "ip"))
		return ORIGIN_KERNEL;
	return payload->members->len == 1 ? ORIGIN_PLACE
	       : payload->members->len == 2 && type_member(payload, "parent_ip")
		       ? ORIGIN_PROBE
		       : ORIGIN_KERNEL;
}

/* Nobody asks what such events are: the sink has all but those that a filter names. */
static bool is_passed_over(const struct event_sink *sink, const struct event_type *event)
{
	for (int i = 0; i < SINK_FILTERS && sink->only_matches; i++)
		if (sink->filters[i] && filter_wants_tracepoint(sink->filters[i], event->name))
			return false;
	return sink->only_matches;
}

/* The first record of its class has come. */
static void make_program(const struct class_table *table, struct record_class *class)
{
	const struct event_sink *sink = table->sink;
	const struct stream_type *stream = table->stream;
	const struct event_type *event = class->event;
	g_autoptr(GHashTable) fields = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) common = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GHashTable) own = g_hash_table_new(g_str_hash, g_str_equal);
	g_autoptr(GArray) wishes = NULL, of_context = NULL;
	struct compiler compiler;

	if (is_passed_over(sink, event))
		event_class_pass_over(&class->class);
	class->packet = class->class.kind == EV_NET_SEND || class->class.kind == EV_NET_RECEIVE;
	class->program = program_new();
	class->perf = !table->user && strchr(event->name, ':') &&
		      type_member(event->payload, "perf_tid") &&
		      type_member(event->payload, "perf_pid");
	wishes = payload_wishes(class);
	of_context = context_wishes(table->user, class->class.kind);
	add_filters(sink, class, stream, event, fields, common, own);
	add_values(sink, class, event, fields,
		   g_hash_table_size(fields) + g_hash_table_size(common) + g_hash_table_size(own));
	compiler_init(&compiler, class->program, table->metadata);
	compiler_note(&compiler, stream->context);
	compiler_note(&compiler, event->context);
	compiler_note(&compiler, event->payload);
	compiler.wanted = common;
	compiler_add(&compiler, stream->context, (const struct wish *) of_context->data);
	compiler.wanted = own;
	compiler_add(&compiler, event->context, NULL);
	compiler.wanted = fields;
	compiler_add(&compiler, event->payload, (const struct wish *) wishes->data);
	if (!compiler_end(&compiler))
		g_clear_pointer(&class->program, program_free);
	compiler_clear(&compiler);
	/* else other hands than the program and event_init() put something there */
	if (class->program && !class->packet && !class->class.ending && !class->shape)
		class->touched = program_touches(class->program);
}

static void record_class_free(gpointer data)
{
	struct record_class *class = data;

	if (!class)
		return;
	program_free(class->program);
	program_free(class->skimmed.over);
	program_free(class->passes);
	if (class->filters)
		g_array_free(class->filters, TRUE);
	g_free(class);
}

static bool is_plain(const struct type *type, uint32_t size, uint32_t align)
{
	return type && type->kind == TYPE_INTEGER && type->size == size && type->align <= align &&
	       type->order == ORDER_NATIVE && !type->is_signed;
}

static enum header_form form_of(const struct metadata *metadata, const struct type *header)
{
	const struct type *id = type_member(header, "id"), *choice = type_member(header, "v");
	const struct type *compact = NULL, *clock;

	if (metadata->big_endian != (G_BYTE_ORDER == G_BIG_ENDIAN) || metadata->big_endian ||
	    !header || header->members->len != 2 || header->align != 8 || !id || !choice ||
	    choice->kind != TYPE_VARIANT)
		return HEADER_OTHER;
	for (guint i = 0; i < choice->members->len; i++)
		if (strcmp(g_array_index(choice->members, struct member, i).name, "compact") == 0)
			compact = g_array_index(choice->members, struct member, i).type;
	clock = type_member(compact, "timestamp");
	if (!clock || compact->members->len != 1 || !clock->clocked)
		return HEADER_OTHER;
	if (is_plain(id, 5, 1) && is_plain(clock, 27, 1))
		return HEADER_COMPACT;
	return is_plain(id, 16, 8) && is_plain(clock, 32, 8) ? HEADER_LARGE : HEADER_OTHER;
}

/* Contexts; where each process has its own trace, that says which one it is. */
static void find_ids(struct class_table *table)
{
	const struct type *context = table->stream->context;
	int process = metadata_number(table->metadata, "vpid");

	table->has_tid = type_member(context, table->user ? "vtid" : "tid") != NULL;
	table->has_pid = type_member(context, table->user ? "vpid" : "pid") != NULL;
	table->has_callstacks = !table->user && (type_member(context, "callstack_kernel") ||
						 type_member(context, "callstack_user"));
	if (table->user && !table->has_pid && process > 0) {
		table->has_pid = true;
		table->process = process;
	}
}

struct class_table *class_table_new(const struct event_sink *sink, const struct metadata *metadata,
				    const struct stream_type *stream, bool user)
{
	struct class_table *table = g_new0(struct class_table, 1);
	uint64_t direct = MIN(DIRECT_IDS, 64 + DIRECT_SPARSE * (uint64_t) stream->events->len);
	unsigned hints = 0;

	*table = (struct class_table) {
		.sink = sink, .metadata = metadata, .stream = stream, .user = user};
	pthread_mutex_init(&table->lock, NULL);
	table->by_id = g_ptr_array_new_with_free_func(record_class_free);
	table->far = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, record_class_free);
	table->form = (uint8_t) form_of(metadata, stream->header);
	find_ids(table);
	for (guint i = 0; i < stream->events->len; i++) {
		const struct event_type *event = g_ptr_array_index(stream->events, i);
		struct record_class *class = g_new0(struct record_class, 1);

		class->event = event;
		class->class = sink->declare(sink->data, event->name,
					     user ? ORIGIN_USER : kernel_origin(event->payload));
		hints |= event_abi_hint(event->name);
		if (event->id >= direct) {
			g_hash_table_replace(table->far, g_memdup2(&event->id, sizeof event->id),
					     class);
			continue;
		}
		if (event->id >= table->by_id->len)
			g_ptr_array_set_size(table->by_id, (gint) event->id + 1);
		record_class_free(table->by_id->pdata[event->id]);
		table->by_id->pdata[event->id] = class;
	}
	table->abi = event_abi(hints);
	if (table->abi == ABI_UNKNOWN)
		table->abi = event_abi_of_machine(metadata_text(metadata, "machine"));
	table->calls = numbered_calls_new(sink, table->abi);
	return table;
}

void class_table_free(gpointer data)
{
	struct class_table *table = data;

	g_ptr_array_free(table->by_id, TRUE);
	g_hash_table_destroy(table->far);
	numbered_calls_free(table->calls);
	pthread_mutex_destroy(&table->lock);
	g_free(table);
}

struct program *class_over(const struct class_table *table, const struct record_class *class)
{
	const struct type *parts[] = {table->stream->context, class->event->context,
				      class->event->payload};
	struct program *program = program_new();
	struct compiler compiler;

	compiler_init(&compiler, program, table->metadata);
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		compiler_note(&compiler, parts[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		compiler_add(&compiler, parts[i], NULL);
	if (!compiler_end(&compiler))
		g_clear_pointer(&program, program_free);
	compiler_clear(&compiler);
	return program;
}

static bool meet(struct class_table *table, struct record_class *class)
{
	pthread_mutex_lock(&table->lock);
	if (!g_atomic_int_get(&class->met))
		make_program(table, class);
	g_atomic_int_set(&class->met, 1);
	pthread_mutex_unlock(&table->lock);
	return class->program != NULL;
}

static inline bool is_met(struct class_table *table, struct record_class *class)
{
	return G_LIKELY(g_atomic_int_get(&class->met)) ? class->program != NULL
						       : meet(table, class);
}

bool class_meet(struct class_table *table, struct record_class *class)
{
	return is_met(table, class);
}

bool class_take(struct class_table *table, struct record_class *class, struct cursor *cursor,
		struct event *event)
{
	if (!is_met(table, class))
		return false;
	event_init(event, &class->class, table->abi);
	event->touched = class->touched;
	event->has_tid = table->has_tid || class->perf;
	event->has_pid = table->has_pid || class->perf;
	event->has_callstacks = table->has_callstacks;
	event->channel = (uint16_t) table->stream->id;
	if (table->has_callstacks)
		event->callstack = event->user_callstack = (struct event_bytes) {NULL, 0};
	if (table->process)
		event->pid = table->process;
	if (class->filters)
		memset(cursor->values, 0, sizeof cursor->values);
	if (class->packet)
		cursor->headers = NO_HEADERS;
	cursor->event = event;
	if (!program_run(class->program, cursor))
		return false;
	if (class->packet)
		event_take_tcp(event, &cursor->headers);
	if (class->class.ending)
		event_finish(event, &class->class, table->calls);
	if (class->filters)
		apply_filters(class, cursor, event);
	if (class->shape)
		take_values(class, cursor, event);
	return true;
}

bool class_pass(struct class_table *table, struct record_class *class, struct cursor *cursor)
{
	if (!is_met(table, class))
		return false;
	if (G_UNLIKELY(!g_atomic_pointer_get(&class->passes))) {
		pthread_mutex_lock(&table->lock);
		if (!class->passes)
			g_atomic_pointer_set(&class->passes, class_over(table, class));
		pthread_mutex_unlock(&table->lock);
	}
	return class->passes && program_run(class->passes, cursor);
}
