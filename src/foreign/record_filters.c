/* SPDX-License-Identifier: MIT */
/* Filters over records; see record_filters.h. */
#include "foreign/record_filters.h"

#include <string.h>

struct source {
	enum { FROM_NOWHERE, FROM_PLACE, FROM_EVENT, FROM_REGISTER, FROM_CPU, FROM_TID } from;
	const struct field_place *place;
	const struct event_field *field;
	uint32_t reg;
};

struct one_filter {
	unsigned bit;
	const struct event_filter *filter; /* borrowed */
	GArray *sources; /* owned; struct source of its conditions */
};

struct record_filters {
	GArray *list; /* owned; struct one_filter */
};

static void one_clear(gpointer data)
{
	g_array_free(((struct one_filter *) data)->sources, TRUE);
}

/* The field of that name is filled from the tracepoint. */
static bool is_taken(const struct event_field *field, const struct event_class *class,
		     const struct tracepoint *tracepoint)
{
	for (const struct event_field *at = class->fields; at->name; at++)
		if (at->offset == field->offset && tracepoint_place(tracepoint, at->name))
			return true;
	return false;
}

static struct source source_of(const struct filter_condition *condition,
			       const struct event_class *class, const struct tracepoint *tracepoint,
			       const struct numbered_call *call)
{
	const char *key = condition->key;
	struct source source = {FROM_NOWHERE, NULL, NULL, 0};

	if (condition->scope == FILTER_CONTEXT) {
		source.from = strcmp(key, "tid") == 0 ? FROM_TID : FROM_NOWHERE;
		return source;
	}
	for (uint32_t i = 0; call && call->arguments[i].name && class->kind == EV_SYSCALL_ENTRY;
	     i++)
		if (strcmp(call->arguments[i].name, key) == 0) {
			source.from = FROM_REGISTER;
			source.reg = i;
			return source;
		}
	source.field = event_field_named(class->kind, key);
	source.place = tracepoint_place(tracepoint, key);
	/* where the tracepoint calls something else by LTTng's name, LTTng's meaning wins */
	if (source.field && is_taken(source.field, class, tracepoint))
		source.from = FROM_EVENT;
	else if (source.place)
		source.from = FROM_PLACE;
	else if (strcmp(key, "cpu") == 0)
		source.from = FROM_CPU;
	return source;
}

static void tell(const struct event_sink *sink, unsigned bit, const GArray *sources,
		 const struct tracepoint *tracepoint, const struct numbered_call *call)
{
	g_autoptr(GString) names = g_string_new(NULL);
	uint64_t known = 0;

	for (guint i = 0; i < sources->len && i < 64; i++)
		if (g_array_index(sources, struct source, i).from != FROM_NOWHERE)
			known |= UINT64_C(1) << i;
	for (guint i = 0; !call && i < tracepoint->places->len; i++) {
		const struct field_place *place =
			&g_array_index(tracepoint->places, struct field_place, i);

		if (!place->common)
			g_string_append_printf(names, "%s, ", place->name);
	}
	for (uint32_t i = 0; call && call->arguments[i].name; i++)
		g_string_append_printf(names, "%s, ", call->arguments[i].name);
	g_string_append(names, "$ctx.tid, cpu");
	sink->fields(sink->data, bit, known, names->str);
}

struct record_filters *
record_filters_new(const struct event_sink *sink, const char *name, const struct event_class *class,
		   const struct tracepoint *tracepoint, const struct numbered_call *call)
{
	struct record_filters *filters = NULL;

	for (unsigned i = 0; i < SINK_FILTERS; i++) {
		struct one_filter one = {.bit = i, .filter = sink->filters[i]};
		const GArray *conditions = one.filter ? one.filter->conditions : NULL;

		if (!one.filter || (!event_filter_wants(one.filter, name) &&
				    !event_filter_wants(one.filter, tracepoint->name)))
			continue;
		one.sources = g_array_new(FALSE, FALSE, sizeof(struct source));
		for (guint k = 0; k < conditions->len; k++) {
			struct source source =
				source_of(&g_array_index(conditions, struct filter_condition, k),
					  class, tracepoint, call);

			g_array_append_val(one.sources, source);
		}
		tell(sink, i, one.sources, tracepoint, call);
		if (!filters) {
			filters = g_new0(struct record_filters, 1);
			filters->list = g_array_new(FALSE, FALSE, sizeof one);
			g_array_set_clear_func(filters->list, one_clear);
		}
		g_array_append_val(filters->list, one);
	}
	return filters;
}

void record_filters_free(struct record_filters *filters)
{
	if (!filters)
		return;
	g_array_free(filters->list, TRUE);
	g_free(filters);
}

static bool of_event(const struct filter_condition *condition, const struct event_field *field,
		     const struct event *event)
{
	const void *at = (const char *) event + field->offset;
	const char *text;

	switch ((enum event_field_type) field->type) {
	case FIELD_STRING:
		text = *(const char *const *) at;
		return text && filter_condition_text(condition, text);
	case FIELD_I32:
		return filter_condition_integer(condition, true,
						(uint64_t) (int64_t) *(const int32_t *) at);
	case FIELD_I64:
		return filter_condition_integer(condition, true, *(const uint64_t *) at);
	case FIELD_BOOL:
		return filter_condition_integer(condition, false, *(const bool *) at);
	default:
		return false;
	}
}

static bool of_place(const struct filter_condition *condition, const struct field_place *place,
		     const struct record *record)
{
	size_t length;
	const char *text = place_text(place, record, &length);
	int64_t value;

	if (text) {
		g_autofree char *copy = g_strndup(text, length);

		return filter_condition_text(condition, copy);
	}
	return place_integer(place, record, &value) &&
	       filter_condition_integer(condition, place->is_signed, (uint64_t) value);
}

static bool holds(const struct filter_condition *condition, const struct source *source,
		  const struct record *record, const int64_t *registers, const struct event *event)
{
	switch (source->from) {
	case FROM_PLACE:
		return of_place(condition, source->place, record);
	case FROM_EVENT:
		return of_event(condition, source->field, event);
	case FROM_REGISTER:
		return registers &&
		       filter_condition_integer(condition, true, (uint64_t) registers[source->reg]);
	case FROM_CPU:
		return filter_condition_integer(condition, false, event->cpu);
	case FROM_TID:
		return event->has_tid &&
		       filter_condition_integer(condition, true, (uint64_t) event->tid);
	default:
		return false;
	}
}

void record_filters_apply(const struct record_filters *filters, const struct record *record,
			  const int64_t *registers, struct event *event)
{
	for (guint i = 0; i < filters->list->len; i++) {
		const struct one_filter *one = &g_array_index(filters->list, struct one_filter, i);
		bool all = true;

		for (guint k = 0; k < one->sources->len && all; k++)
			all = holds(&g_array_index(one->filter->conditions, struct filter_condition,
						   k),
				    &g_array_index(one->sources, struct source, k), record,
				    registers, event);
		if (all)
			event->matches |= 1u << one->bit;
	}
}
