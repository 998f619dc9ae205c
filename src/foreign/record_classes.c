/* SPDX-License-Identifier: MIT */
/* Kinds of records; see record_classes.h. */
#include "foreign/record_classes.h"

#include <stddef.h>
#include <string.h>

#include "foreign/record_filters.h"

#define DIRECT_NUMBERS 65536 /* common_type has 16 bits */
#define TEXTS 4              /* of one record that are not ended by a zero, at most */
#define TEXT_MAX 512

struct taking {
	const struct field_place *place;       /* borrowed from the tracepoint */
	const struct event_field *field; /* static */
};

/* Records of a call with one number: they have their own name, and registers with names. */
struct call_use {
	const struct numbered_call *call; /* borrowed; NULL: the number has no name */
	struct record_filters *filters;   /* owned; NULL: none */
	uint32_t shape, value_count;
};

struct record_class {
	struct tracepoint *tracepoint; /* owned */
	struct event_class class;
	const struct field_place *pid;       /* common_pid, NULL */
	GArray *takings;               /* owned; struct taking */
	struct record_filters *filters; /* owned; NULL: none */
	GHashTable *uses;              /* owned; struct call_use by number; ENDING_CALL only */
	const struct field_place *values[SHAPE_MAX];
	uint32_t shape, value_count;
	bool declared, made;
	bool is_call;                  /* syscalls:sys_enter_NAME, sys_exit_NAME */
	bool is_peer;                  /* whylate_…:peer_address */
};

/* What a thread's open call was given, or got, that its other records do not say. */
struct open_call {
	int32_t tid;
	int32_t dfd;
	struct event_syscall peer; /* family 0: nothing was told */
};
#define OPEN_CALLS 1024

struct record_classes {
	const struct event_sink *sink; /* borrowed */
	enum syscall_abi abi;
	GPtrArray *by_number;          /* owned; struct record_class, NULL */
	struct numbered_calls *calls;  /* owned */
	guint count;
	bool has_numbered;             /* one of raw_syscalls has come: those of syscalls: tell
					  the same once more */
	struct open_call *open;        /* owned; OPEN_CALLS, by TID: a later thread's takes the
					  place of another's with the same remainder */
	int64_t registers[CALL_ARGUMENTS], numbers[SHAPE_MAX];
	char texts[TEXTS][TEXT_MAX];
	guint texts_used;
};

static void use_free(gpointer data)
{
	struct call_use *use = data;

	record_filters_free(use->filters);
	g_free(use);
}

static void record_class_free(gpointer data)
{
	struct record_class *class = data;

	if (!class)
		return;
	tracepoint_free(class->tracepoint);
	g_array_free(class->takings, TRUE);
	record_filters_free(class->filters);
	if (class->uses)
		g_hash_table_destroy(class->uses);
	g_free(class);
}

struct record_classes *record_classes_new(const struct event_sink *sink, enum syscall_abi abi)
{
	struct record_classes *classes = g_new0(struct record_classes, 1);

	classes->sink = sink;
	classes->abi = abi;
	classes->by_number = g_ptr_array_new_with_free_func(record_class_free);
	classes->calls = numbered_calls_new(sink, abi);
	classes->open = g_new0(struct open_call, OPEN_CALLS);
	return classes;
}

void record_classes_free(struct record_classes *classes)
{
	if (!classes)
		return;
	g_ptr_array_free(classes->by_number, TRUE);
	numbered_calls_free(classes->calls);
	g_free(classes->open);
	g_free(classes);
}

void record_classes_add(struct record_classes *classes, struct tracepoint *tracepoint)
{
	struct record_class *class;

	if (tracepoint->id >= DIRECT_NUMBERS || (tracepoint->id < classes->by_number->len &&
						 classes->by_number->pdata[tracepoint->id])) {
		tracepoint_free(tracepoint);
		return;
	}
	class = g_new0(struct record_class, 1);
	class->tracepoint = tracepoint;
	class->takings = g_array_new(FALSE, FALSE, sizeof(struct taking));
	class->pid = tracepoint_place(tracepoint, "common_pid");
	if (tracepoint->id >= classes->by_number->len)
		g_ptr_array_set_size(classes->by_number, (gint) tracepoint->id + 1);
	classes->by_number->pdata[tracepoint->id] = class;
	classes->count++;
}

guint record_classes_count(const struct record_classes *classes)
{
	return classes->count;
}

static void declare(struct record_classes *classes, struct record_class *class)
{
	const struct event_sink *sink = classes->sink;

	const char *name = class->tracepoint->name;
	bool own = g_str_has_prefix(name, OWN_PROBES);
	g_autofree char *plain = own ? tracepoint_name(name) : NULL;

	class->declared = true;
	class->is_peer = own && strcmp(plain, "call_peer_address") == 0;
	if (own && !g_str_has_prefix(plain, "call_")) /* record --functions */
		class->class = sink->declare(sink->data, plain, ORIGIN_PROBE);
	else
		class->class = sink->declare(sink->data, name, ORIGIN_KERNEL);
	class->is_call = g_str_has_prefix(class->tracepoint->name, "syscalls:");
	if (class->class.ending == ENDING_CALL)
		class->uses = g_hash_table_new_full(NULL, NULL, NULL, use_free);
}

void record_classes_declare(struct record_classes *classes, GHashTable *wanted)
{
	for (guint i = 0; i < classes->by_number->len; i++) {
		struct record_class *class = classes->by_number->pdata[i];

		if (class && !class->declared &&
		    (!wanted || g_hash_table_contains(wanted, GUINT_TO_POINTER(i))))
			declare(classes, class);
	}
}

bool record_classes_has(const struct record_classes *classes, const char *name, GHashTable *wanted)
{
	for (guint i = 0; i < classes->by_number->len; i++) {
		const struct record_class *class = classes->by_number->pdata[i];

		if (class && strcmp(class->tracepoint->name, name) == 0)
			return g_hash_table_contains(wanted, GUINT_TO_POINTER(i));
	}
	return false;
}

/* --- what is taken of them ---------------------------------------------------------------- */

static bool fits(const struct field_place *place, const struct event_field *field)
{
	switch ((enum event_field_type) field->type) {
	case FIELD_I32:
	case FIELD_I64:
	case FIELD_BOOL:
		return place->form == FORM_INTEGER;
	case FIELD_STRING:
		return place->form == FORM_TEXT || place->form == FORM_AWAY ||
		       place->form == FORM_AWAY_REL;
	case FIELD_WORDS:
		return place->form == FORM_WORDS &&
		       field->offset == offsetof(struct event, syscall.registers);
	default:
		return false;
	}
}

static void make_values(struct record_classes *classes, struct record_class *class)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < class->tracepoint->places->len; i++) {
		const struct field_place *place =
			&g_array_index(class->tracepoint->places, struct field_place, i);

		if (place->form != FORM_INTEGER || place->common ||
		    class->value_count == SHAPE_MAX || strcmp(place->name, "__syscall_nr") == 0 ||
		    strcmp(place->name, "nr") == 0)
			continue;
		shape_add(names, place->name, place->is_signed, 8 * place->size);
		class->values[class->value_count++] = place;
	}
	class->shape =
		class->value_count ? classes->sink->shape(classes->sink->data, names->str) : 0;
}

/* The first record of its kind has come. */
static void make(struct record_classes *classes, struct record_class *class)
{
	g_autofree char *name = tracepoint_name(class->tracepoint->name);

	if (!class->declared)
		declare(classes, class);
	class->made = true;
	for (const struct event_field *at = class->is_peer ? address_fields() : class->class.fields;
	     at->name; at++) {
		const struct field_place *place = tracepoint_place(class->tracepoint, at->name);
		struct taking taking = {place, at};

		if (place && fits(place, at))
			g_array_append_val(class->takings, taking);
	}
	if (class->class.ending == ENDING_CALL)
		return;
	class->filters =
		record_filters_new(classes->sink, name, &class->class, class->tracepoint, NULL);
	if (classes->sink->values && class->is_call)
		make_values(classes, class);
}

static const char *ended_text(struct record_classes *classes, const struct field_place *place,
			      const struct record *record)
{
	size_t length;
	const char *text = place_text(place, record, &length);
	char *copy;

	if (!text || text + length < (const char *) record->bytes + record->size)
		if (!text || text[length] == '\0')
			return text;
	if (classes->texts_used == TEXTS)
		return NULL;
	copy = classes->texts[classes->texts_used++];
	length = MIN(length, TEXT_MAX - 1);
	memcpy(copy, text, length);
	copy[length] = '\0';
	return copy;
}

static void take_words(struct record_classes *classes, const struct field_place *place,
		       const struct record *record, struct event_bytes *to)
{
	uint32_t count = 0;

	while (count < CALL_ARGUMENTS &&
	       place_item(place, record, count, &classes->registers[count]))
		count++;
	to->bytes = (const uint8_t *) classes->registers;
	to->count = count * (uint32_t) sizeof *classes->registers;
}

static bool take_fields(struct record_classes *classes, const struct record_class *class,
			const struct record *record, struct event *event)
{
	classes->texts_used = 0;
	for (guint i = 0; i < class->takings->len; i++) {
		const struct taking *taking = &g_array_index(class->takings, struct taking, i);
		char *to = (char *) event + taking->field->offset;
		int64_t value;

		switch (taking->field->type) {
		case FIELD_STRING:
			*(const char **) (void *) to = ended_text(classes, taking->place, record);
			break;
		case FIELD_WORDS:
			take_words(classes, taking->place, record,
				   (struct event_bytes *) (void *) to);
			break;
		default:
			if (!place_integer(taking->place, record, &value))
				return false;
			event_store(event, taking->field, value);
		}
	}
	return true;
}

/* --- calls by number ---------------------------------------------------------------------- */

static struct call_use *use_of(struct record_classes *classes, struct record_class *class,
			       int64_t number)
{
	gpointer key = GUINT_TO_POINTER((guint) number);
	struct call_use *use = g_hash_table_lookup(class->uses, key);
	bool entry = class->class.kind == EV_SYSCALL_ENTRY;
	g_autoptr(GString) names = NULL;

	if (use)
		return use;
	use = g_new0(struct call_use, 1);
	g_hash_table_insert(class->uses, key, use);
	use->call = numbered_call(classes->calls, number);
	if (!use->call)
		return use;
	use->filters = record_filters_new(classes->sink,
					  entry ? use->call->entry_name : use->call->exit_name,
					  &class->class, class->tracepoint, use->call);
	names = g_string_new(NULL);
	for (uint32_t i = 0; entry && use->call->arguments[i].name; i++) {
		shape_add(names, use->call->arguments[i].name, !use->call->arguments[i].address,
			  64);
		use->value_count++;
	}
	if (!entry) {
		shape_add(names, "ret", true, 64);
		use->value_count = 1;
	}
	if (classes->sink->values && use->value_count)
		use->shape = classes->sink->shape(classes->sink->data, names->str);
	return use;
}

static struct open_call *open_call(struct record_classes *classes, int32_t tid)
{
	return &classes->open[(uint32_t) tid % OPEN_CALLS];
}

/* Whose address the call was told goes with its exit. */
static void note_call(struct record_classes *classes, struct event *event)
{
	struct open_call *open = open_call(classes, event->tid);

	if (!event->has_tid)
		return;
	if (event->kind == EV_SYSCALL_ENTRY) {
		open->tid = event->tid;
		open->dfd = event->syscall.dfd;
		open->peer.family = 0;
	} else if (open->tid == event->tid && open->peer.family) {
		event->syscall.family = open->peer.family;
		event->syscall.port = open->peer.port;
		event->syscall.v4 = open->peer.v4;
		event->syscall.v6 = open->peer.v6;
	}
}

/* False: it is no name that can be placed. */
static bool note_told(struct record_classes *classes, const struct record *record,
		      struct event *event)
{
	const struct open_call *open = open_call(classes, event->tid);

	if (record->swap) /* bytes of an address, as another machine's numbers */
		event->syscall.v4.count = event->syscall.v6.count = 0;
	if (!event->has_tid || open->tid != event->tid)
		return event->syscall.filename && *event->syscall.filename == '/';
	event->syscall.dfd = open->dfd;
	return true;
}

/* The address that a call gives back: kept for its exit. */
static void note_peer(struct record_classes *classes, const struct record *record,
		      struct event *event)
{
	struct open_call *open = open_call(classes, event->tid);

	if (event->has_tid && open->tid == event->tid && !record->swap) {
		open->peer = event->syscall;
		event_finish_address(&open->peer);
	}
	event->kind = EV_OTHER;
}

static void finish_numbered(struct record_classes *classes, struct record_class *class,
			    const struct record *record, struct event *event)
{
	int32_t number = event->syscall.id;
	struct call_use *use = number >= 0 ? use_of(classes, class, number) : NULL;
	bool entry = class->class.kind == EV_SYSCALL_ENTRY;

	classes->has_numbered = true;
	event_finish(event, &class->class, classes->calls);
	note_call(classes, event);
	if (!use)
		return;
	if (use->filters)
		record_filters_apply(use->filters, record, classes->registers, event);
	if (!use->shape)
		return;
	for (uint32_t i = 0; i < use->value_count; i++)
		classes->numbers[i] = entry ? classes->registers[i] : event->syscall.ret;
	event->syscall.shape = use->shape;
	event->syscall.value_count = use->value_count;
	event->syscall.values = classes->numbers;
}

static void take_values(struct record_classes *classes, const struct record_class *class,
			const struct record *record, struct event *event)
{
	for (uint32_t i = 0; i < class->value_count; i++)
		if (!place_integer(class->values[i], record, &classes->numbers[i]))
			return;
	event->syscall.shape = class->shape;
	event->syscall.value_count = class->value_count;
	event->syscall.values = classes->numbers;
}

static struct record_class *class_of(struct record_classes *classes, const struct record *record)
{
	uint16_t number;

	if (record->size < sizeof number)
		return NULL;
	number = bytes_as_u16(record->bytes, record->swap);
	return number < classes->by_number->len ? classes->by_number->pdata[number] : NULL;
}

bool record_classes_take(struct record_classes *classes, const struct record *record,
			 struct event *event)
{
	struct record_class *class = class_of(classes, record);
	int64_t pid = -1;

	if (!class)
		return false;
	if (G_UNLIKELY(!class->made))
		make(classes, class);
	event_init(event, &class->class, classes->abi);
	event->has_pid = event->has_callstacks = false;
	event->channel = 0;
	event->has_tid = class->pid && place_integer(class->pid, record, &pid);
	event->tid = (int32_t) pid;
	if (class->is_peer) {
		event->kind = EV_CALL_TOLD;
		event_reset(event);
	}
	if (!take_fields(classes, class, record, event))
		return false;
	if (class->is_peer) {
		note_peer(classes, record, event);
		return true;
	}
	if (class->class.ending == ENDING_CALL) {
		finish_numbered(classes, class, record, event);
		return true;
	}
	event_finish(event, &class->class, NULL);
	if (event->kind == EV_CALL_TOLD && !note_told(classes, record, event))
		event->kind = EV_OTHER;
	if (class->filters)
		record_filters_apply(class->filters, record, NULL, event);
	if (class->shape)
		take_values(classes, class, record, event);
	if (class->is_call && classes->has_numbered)
		event->kind = EV_OTHER;
	return true;
}

/* --- as text ------------------------------------------------------------------------------ */

static void append_place(GString *text, const struct field_place *place,
			 const struct record *record)
{
	size_t length;
	const char *words = place_text(place, record, &length);
	int64_t value;

	if (words) {
		g_autofree char *copy = g_utf8_make_valid(words, (gssize) length);

		g_string_append_printf(text, "\"%s\"", copy);
	} else if (place_integer(place, record, &value)) {
		g_string_append_printf(text,
				       place->is_signed || place->size < 8
					       ? "%" G_GINT64_FORMAT
					       : "0x%" G_GINT64_MODIFIER "X",
				       (gint64) value);
	} else {
		g_string_append(text, "[");
		for (uint32_t i = 0; place_item(place, record, i, &value); i++)
			g_string_append_printf(text, "%s0x%" G_GINT64_MODIFIER "X", i ? ", " : "",
					       (guint64) value);
		g_string_append(text, "]");
	}
}

void record_classes_text(struct record_classes *classes, const struct record *record, GString *text)
{
	const struct record_class *class = class_of(classes, record);
	bool first = true;

	for (guint i = 0; class && i < class->tracepoint->places->len; i++) {
		const struct field_place *place =
			&g_array_index(class->tracepoint->places, struct field_place, i);

		if (place->common)
			continue;
		g_string_append_printf(text, "%s%s = ", first ? "" : ", ", place->name);
		append_place(text, place, record);
		first = false;
	}
}
