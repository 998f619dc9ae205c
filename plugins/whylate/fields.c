/* SPDX-License-Identifier: MIT */
/* Fields of Babeltrace events by resolved positions; see fields.h. */
#include "fields.h"

#include <string.h>

#define LIST_MAX 65536 /* elements of one list; a page holds far fewer */

void scratch_init(struct scratch *scratch)
{
	scratch->used = 0;
	scratch->ready = g_array_new(FALSE, FALSE, sizeof(struct event_ready));
}

void scratch_clear(struct scratch *scratch)
{
	g_array_free(scratch->ready, TRUE);
}

static bool is_signed(bt_field_class_type type)
{
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);
}

static bool is_unsigned(bt_field_class_type type)
{
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER);
}

static bool is_array(bt_field_class_type type)
{
	return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY);
}

/* Does the field have the form that the core expects under that name? A
 * field of another form (pipe's list where dup has a number) is left out. */
static bool fits(enum event_field_type wanted, bt_field_class_type type)
{
	switch (wanted) {
	case FIELD_I32:
	case FIELD_I64:
	case FIELD_BOOL:
		return is_signed(type) || is_unsigned(type);
	case FIELD_STRING:
		return type == BT_FIELD_CLASS_TYPE_STRING;
	case FIELD_BYTES:
	case FIELD_WORDS:
	case FIELD_PAIR:
	case FIELD_READY:
		return is_array(type);
	case FIELD_COOKIE:
		return type == BT_FIELD_CLASS_TYPE_STRUCTURE;
	case FIELD_PACKET:
		return bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT);
	}
	return false;
}

static bool member_index(const bt_field_class *structure, const char *name, uint64_t *index,
			 bt_field_class_type *type)
{
	uint64_t count = bt_field_class_structure_get_member_count(structure);

	for (uint64_t i = 0; i < count; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(structure, i);

		if (strcmp(bt_field_class_structure_member_get_name(member), name) == 0) {
			*index = i;
			*type = bt_field_class_get_type(
				bt_field_class_structure_member_borrow_field_class_const(member));
			return true;
		}
	}
	return false;
}

static void resolve_fields(struct class_state *state, const bt_event_class *event_class,
			   const struct event_field *fields)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(event_class);

	for (const struct event_field *field = fields; payload && field->name; field++) {
		struct field_step step = {.type = field->type, .offset = field->offset};
		bt_field_class_type type;

		if (!member_index(payload, field->name, &step.index, &type) ||
		    !fits((enum event_field_type) field->type, type))
			continue;
		step.is_signed = is_signed(type);
		g_array_append_val(state->steps, step);
	}
}

static bool has_member(const bt_field_class *structure, const char *name)
{
	bt_field_class_type type;
	uint64_t index;

	return structure && member_index(structure, name, &index, &type);
}

/* A probe's event has any name: its payload tells. */
static enum class_origin kernel_origin(const bt_event_class *event_class)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(event_class);
	uint64_t count = payload ? bt_field_class_structure_get_member_count(payload) : 0;

	if (!payload || !has_member(payload, "ip"))
		return ORIGIN_KERNEL;
	return count == 1 ? ORIGIN_PLACE
	       : count == 2 && has_member(payload, "parent_ip")
		       ? ORIGIN_PROBE
		       : ORIGIN_KERNEL;
}

static bool is_perf(const bt_event_class *event_class)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(event_class);

	return has_member(payload, "perf_tid") && has_member(payload, "perf_pid");
}

static void append_members(GString *text, const bt_field_class *structure, const char *prefix)
{
	uint64_t count = structure ? bt_field_class_structure_get_member_count(structure) : 0;

	for (uint64_t i = 0; i < count; i++)
		g_string_append_printf(
			text, "%s%s%s", text->len ? ", " : "", prefix,
			bt_field_class_structure_member_get_name(
				bt_field_class_structure_borrow_member_by_index_const(structure,
										      i)));
}

/* Says which conditions such events can fulfil, for the error if none does. */
static void tell_fields(const struct event_sink *sink, unsigned number,
			const bt_event_class *event_class)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(event_class);
	const bt_field_class *specific =
		bt_event_class_borrow_specific_context_field_class_const(event_class);
	const bt_field_class *common =
		bt_stream_class_borrow_event_common_context_field_class_const(
			bt_event_class_borrow_stream_class_const(event_class));
	const GArray *conditions = sink->filters[number]->conditions;
	g_autoptr(GString) fields = g_string_new(NULL);
	uint64_t keys = 0;

	for (guint i = 0; i < conditions->len && i < 64; i++) {
		const struct filter_condition *at =
			&g_array_index(conditions, struct filter_condition, i);
		bool known = at->scope == FILTER_CONTEXT
				     ? has_member(common, at->key) || has_member(specific, at->key)
				     : has_member(payload, at->key) || strcmp(at->key, "cpu") == 0;

		keys |= (uint64_t) known << i;
	}
	append_members(fields, payload, "");
	append_members(fields, common, "$ctx.");
	append_members(fields, specific, "$ctx.");
	g_string_append(fields, fields->len ? ", cpu" : "cpu");
	sink->fields(sink->data, number, keys, fields->str);
}

static void resolve_filters(const struct event_sink *sink, struct class_state *state,
			    const char *name, const bt_event_class *event_class)
{
	for (unsigned i = 0; i < SINK_FILTERS; i++) {
		struct class_filter filter = {i, sink->filters[i]};

		if (!filter.filter || !filter_wants_tracepoint(filter.filter, name))
			continue;
		if (!state->filters)
			state->filters = g_array_new(FALSE, FALSE, sizeof filter);
		g_array_append_val(state->filters, filter);
		tell_fields(sink, i, event_class);
	}
}

struct event_class declare_class(const struct event_sink *sink, const bt_event_class *event_class,
				 bool user)
{
	const char *name = bt_event_class_get_name(event_class);

	return sink->declare(sink->data, name ? name : "",
			     user ? ORIGIN_USER : kernel_origin(event_class));
}

/* All fields of a system call that are whole numbers. */
static void resolve_values(const struct event_sink *sink, struct class_state *state,
			   const bt_event_class *event_class)
{
	const bt_field_class *payload =
		bt_event_class_borrow_payload_field_class_const(event_class);
	uint64_t count = payload ? bt_field_class_structure_get_member_count(payload) : 0;
	g_autoptr(GString) names = g_string_new(NULL);

	if (!sink->values || state->class.ending == ENDING_CALL ||
	    (state->class.kind != EV_SYSCALL_ENTRY && state->class.kind != EV_SYSCALL_EXIT))
		return;
	state->values = g_array_new(FALSE, FALSE, sizeof(struct field_step));
	for (uint64_t i = 0; i < count && state->values->len < SHAPE_MAX; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(payload, i);
		const bt_field_class *class =
			bt_field_class_structure_member_borrow_field_class_const(member);
		bt_field_class_type type = bt_field_class_get_type(class);
		struct field_step step = {.index = i, .is_signed = is_signed(type)};

		if (!is_signed(type) && !is_unsigned(type))
			continue;
		g_array_append_val(state->values, step);
		shape_add(names, bt_field_class_structure_member_get_name(member), step.is_signed,
			  (unsigned) bt_field_class_integer_get_field_value_range(class));
	}
	state->shape = state->values->len ? sink->shape(sink->data, names->str) : 0;
}

struct class_state *class_state_new(const struct event_sink *sink,
				    const bt_event_class *event_class, bool user)
{
	struct class_state *state = g_new0(struct class_state, 1);
	const char *name = bt_event_class_get_name(event_class);

	state->class = declare_class(sink, event_class, user);
	state->steps = g_array_new(FALSE, FALSE, sizeof(struct field_step));
	resolve_fields(state, event_class, state->class.fields);
	state->perf = !user && name && strchr(name, ':') && is_perf(event_class);
	if (state->perf)
		resolve_fields(state, event_class, perf_thread_fields());
	resolve_filters(sink, state, name ? name : "", event_class);
	resolve_values(sink, state, event_class);
	return state;
}

void class_state_free(gpointer data)
{
	struct class_state *state = data;

	if (!state)
		return;
	g_array_free(state->steps, TRUE);
	if (state->filters)
		g_array_free(state->filters, TRUE);
	if (state->values)
		g_array_free(state->values, TRUE);
	g_free(state->packet);
	g_free(state);
}

bool field_integer(const bt_field *field, int64_t *value)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (is_signed(type))
		*value = bt_field_integer_signed_get_value(field);
	else if (is_unsigned(type))
		*value = (int64_t) bt_field_integer_unsigned_get_value(field);
	else
		return false;
	return true;
}

/* Babeltrace 2.0.4 leaves an earlier event's text in an empty string. */
static const char *string_value(const bt_field *field)
{
	return bt_field_string_get_length(field) ? bt_field_string_get_value(field) : "";
}

static uint64_t list_length(const bt_field *field)
{
	return MIN(bt_field_array_get_length(field), (uint64_t) LIST_MAX);
}

static const bt_field *element(const bt_field *list, uint64_t i)
{
	return bt_field_array_borrow_element_field_by_index_const(list, i);
}

static const bt_field *member(const bt_field *structure, const char *name)
{
	if (!structure || bt_field_get_class_type(structure) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return NULL;
	return bt_field_structure_borrow_member_field_by_name_const(structure, name);
}

static int64_t member_integer(const bt_field *structure, const char *name, int64_t fallback)
{
	const bt_field *field = member(structure, name);
	int64_t value;

	return field && field_integer(field, &value) ? value : fallback;
}

/* The bytes go to the scratch room; a list that does not fit is longer than
 * any that the tracer writes, and left out. */
static void take_bytes(const bt_field *list, struct scratch *scratch, struct event_bytes *to)
{
	uint64_t length = list_length(list);
	uint8_t *bytes = scratch->bytes + scratch->used;
	int64_t value;

	if (scratch->used + length > SCRATCH_BYTES)
		return;
	for (uint64_t i = 0; i < length; i++) {
		if (!field_integer(element(list, i), &value))
			return;
		bytes[i] = (uint8_t) value;
	}
	scratch->used += (uint32_t) length;
	to->bytes = bytes;
	to->count = (uint32_t) length;
}

void field_words(const bt_field *list, struct scratch *scratch, struct event_bytes *to)
{
	uint32_t at = (scratch->used + 7) & ~7u;
	uint64_t length;
	int64_t value;

	if (!is_array(bt_field_get_class_type(list)))
		return;
	length = list_length(list);
	if (at + 8 * length > SCRATCH_BYTES)
		return;
	for (uint64_t i = 0; i < length; i++) {
		if (!field_integer(element(list, i), &value))
			return;
		memcpy(scratch->bytes + at + 8 * i, &value, sizeof value);
	}
	scratch->used = at + (uint32_t) (8 * length);
	to->bytes = scratch->bytes + at;
	to->count = (uint32_t) (8 * length);
}

static void take_pair(const bt_field *list, int32_t *to)
{
	int64_t value;

	for (uint64_t i = 0; i < 2 && i < list_length(list); i++)
		if (field_integer(element(list, i), &value))
			to[i] = (int32_t) value;
}

static void take_ready(const bt_field *list, struct scratch *scratch, struct event *event)
{
	uint64_t length = list_length(list);

	g_array_set_size(scratch->ready, 0);
	for (uint64_t i = 0; i < length; i++) {
		const bt_field *at = element(list, i), *cookie = member(at, "data_union");
		struct event_ready ready = {
			.data = (uint64_t) member_integer(cookie, "u64", 0),
			.fd = (int32_t) member_integer(cookie ? cookie : at, "fd", -1),
			.events = (uint32_t) member_integer(at, "raw_events", 0)};

		g_array_append_val(scratch->ready, ready);
	}
	event->syscall.fds = (const struct event_ready *) scratch->ready->data;
	event->syscall.fd_count = scratch->ready->len;
}

/* Addresses: four or sixteen bytes, or eight 16-bit words. */
static void take_address(const bt_field *list, struct scratch *scratch, struct event_bytes *to)
{
	uint8_t *bytes = scratch->bytes + scratch->used;
	int64_t value;

	if (!is_array(bt_field_get_class_type(list)))
		return;
	if (list_length(list) != 8) {
		take_bytes(list, scratch, to);
		return;
	}
	if (scratch->used + 16 > SCRATCH_BYTES)
		return;
	for (uint64_t i = 0; i < 8; i++) {
		if (!field_integer(element(list, i), &value))
			return;
		bytes[2 * i] = (uint8_t) (value >> 8);
		bytes[2 * i + 1] = (uint8_t) value;
	}
	scratch->used += 16;
	to->bytes = bytes;
	to->count = 16;
}

static int64_t index_of(const bt_field *structure, const char *name)
{
	const bt_field_class *class = bt_field_borrow_class_const(structure);
	bt_field_class_type type;
	uint64_t index;

	if (bt_field_get_class_type(structure) != BT_FIELD_CLASS_TYPE_STRUCTURE)
		return -1;
	return member_index(class, name, &index, &type) ? (int64_t) index : -1;
}

static const struct header_layout *layout_of(struct header_layout *layout, const bt_field *header)
{
	if (!layout->known) {
		layout->known = true;
		layout->saddr = index_of(header, "saddr");
		layout->daddr = index_of(header, "daddr");
		layout->transport = index_of(header, "transport_header");
		layout->source_port = index_of(header, "source_port");
		layout->dest_port = index_of(header, "dest_port");
		layout->length = index_of(header, "tot_len");
		if (layout->length < 0)
			layout->length = index_of(header, "payload_len");
		layout->ihl = index_of(header, "ihl");
		layout->id = index_of(header, "id");
		layout->seq = index_of(header, "seq");
		layout->ack_seq = index_of(header, "ack_seq");
		layout->data_offset = index_of(header, "data_offset");
		layout->flags = index_of(header, "flags");
		layout->window = index_of(header, "window_size");
	}
	return layout;
}

static const bt_field *at_index(const bt_field *structure, int64_t index)
{
	return bt_field_structure_borrow_member_field_by_index_const(structure, (uint64_t) index);
}

/* The variant's option and its number; NULL if there are more than expected. */
static const bt_field *option(const bt_field *variant, uint64_t *number)
{
	if (!bt_field_class_type_is(bt_field_get_class_type(variant), BT_FIELD_CLASS_TYPE_VARIANT))
		return NULL;
	*number = bt_field_variant_get_selected_option_index(variant);
	return *number < HEADER_OPTIONS
		       ? bt_field_variant_borrow_selected_option_field_const(variant)
		       : NULL;
}

static int64_t header_integer(const bt_field *header, int64_t index)
{
	int64_t value;

	return index >= 0 && field_integer(at_index(header, index), &value) ? value : -1;
}

static void take_tcp(const struct header_layout *ip, const bt_field *header,
		     const struct header_layout *tcp, const bt_field *transport,
		     struct event *event)
{
	struct packet_headers headers = {
		.total = header_integer(header, ip->length),
		.ihl = header_integer(header, ip->ihl),
		.id = header_integer(header, ip->id),
		.seq = header_integer(transport, tcp->seq),
		.ack_seq = header_integer(transport, tcp->ack_seq),
		.data_offset = header_integer(transport, tcp->data_offset),
		.flags = header_integer(transport, tcp->flags),
		.window = header_integer(transport, tcp->window)};

	event_take_tcp(event, &headers);
}

static void take_packet(struct class_state *state, const bt_field *variant, struct scratch *scratch,
			struct event *event)
{
	const struct header_layout *layout, *ip;
	const bt_field *header, *transport;
	uint64_t network, number;
	int64_t port;

	if (!state->packet)
		state->packet = g_new0(struct packet_layout, 1);
	header = option(variant, &network);
	if (!header)
		return;
	layout = ip = layout_of(&state->packet->network[network], header);
	if (layout->saddr >= 0)
		take_address(at_index(header, layout->saddr), scratch, &event->net.saddr);
	if (layout->daddr >= 0)
		take_address(at_index(header, layout->daddr), scratch, &event->net.daddr);
	transport = layout->transport >= 0 ? option(at_index(header, layout->transport), &number)
					   : NULL;
	if (!transport)
		return;
	layout = layout_of(&state->packet->transport[network][number], transport);
	if (layout->source_port >= 0 &&
	    field_integer(at_index(transport, layout->source_port), &port))
		event->net.source_port = (uint32_t) port;
	if (layout->dest_port >= 0 && field_integer(at_index(transport, layout->dest_port), &port))
		event->net.dest_port = (uint32_t) port;
	take_tcp(ip, header, layout, transport, event);
}

static int64_t integer(const struct field_step *step, const bt_field *field)
{
	return step->is_signed ? bt_field_integer_signed_get_value(field)
			       : (int64_t) bt_field_integer_unsigned_get_value(field);
}

static void take_values(const struct class_state *state, const bt_field *payload,
			struct scratch *scratch, struct event *event)
{
	for (guint i = 0; i < state->values->len; i++) {
		const struct field_step *step = &g_array_index(state->values, struct field_step, i);

		scratch->numbers[i] =
			integer(step, bt_field_structure_borrow_member_field_by_index_const(
					      payload, step->index));
	}
	event->syscall.shape = state->shape;
	event->syscall.value_count = state->values->len;
	event->syscall.values = scratch->numbers;
}

void fields_take(struct class_state *state, const bt_event *from, struct scratch *scratch,
		 struct event *event)
{
	const bt_field *payload =
		state->steps->len ? bt_event_borrow_payload_field_const(from) : NULL;
	const struct field_step *step = (const struct field_step *) state->steps->data;

	scratch->used = 0;
	for (guint i = 0; i < state->steps->len; i++, step++) {
		const bt_field *field =
			bt_field_structure_borrow_member_field_by_index_const(payload, step->index);
		char *to = (char *) event + step->offset;

		switch ((enum event_field_type) step->type) {
		case FIELD_I32:
			*(int32_t *) to = (int32_t) integer(step, field);
			break;
		case FIELD_I64:
			*(int64_t *) to = integer(step, field);
			break;
		case FIELD_BOOL:
			*(bool *) to = integer(step, field) != 0;
			break;
		case FIELD_STRING:
			*(const char **) to = string_value(field);
			break;
		case FIELD_BYTES:
			take_bytes(field, scratch, (struct event_bytes *) to);
			break;
		case FIELD_WORDS:
			field_words(field, scratch, (struct event_bytes *) to);
			break;
		case FIELD_PAIR:
			take_pair(field, (int32_t *) to);
			break;
		case FIELD_READY:
			take_ready(field, scratch, event);
			break;
		case FIELD_COOKIE:
			*(uint64_t *) to =
				(uint64_t) member_integer(member(field, "data_union"), "u64", 0);
			break;
		case FIELD_PACKET:
			take_packet(state, field, scratch, event);
			break;
		}
	}
	if (state->shape)
		take_values(state, bt_event_borrow_payload_field_const(from), scratch, event);
}

static bool field_matches(const bt_field *field, const struct filter_condition *condition)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (type == BT_FIELD_CLASS_TYPE_STRING)
		return filter_condition_text(condition, string_value(field));
	if (is_signed(type))
		return filter_condition_integer(
			condition, true, (uint64_t) bt_field_integer_signed_get_value(field));
	if (is_unsigned(type))
		return filter_condition_integer(condition, false,
						bt_field_integer_unsigned_get_value(field));
	return false;
}

static bool condition_holds(const bt_event *from, const struct filter_condition *condition,
			    const struct event *event)
{
	const bt_field *field;

	if (condition->scope == FILTER_CONTEXT) {
		field = member(bt_event_borrow_common_context_field_const(from), condition->key);
		if (!field)
			field = member(bt_event_borrow_specific_context_field_const(from),
				       condition->key);
		return field && field_matches(field, condition);
	}
	field = member(bt_event_borrow_payload_field_const(from), condition->key);
	if (field)
		return field_matches(field, condition);
	return strcmp(condition->key, "cpu") == 0 &&
	       filter_condition_integer(condition, false, event->cpu);
}

void filters_apply(const struct class_state *state, const bt_event *from, struct event *event)
{
	for (guint i = 0; i < state->filters->len; i++) {
		const struct class_filter *at =
			&g_array_index(state->filters, struct class_filter, i);
		bool holds = true;

		for (guint c = 0; c < at->filter->conditions->len && holds; c++)
			holds = condition_holds(from,
						&g_array_index(at->filter->conditions,
							       struct filter_condition, c),
						event);
		if (holds)
			event->matches |= 1u << at->bit;
	}
}
