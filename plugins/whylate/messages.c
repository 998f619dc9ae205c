/* SPDX-License-Identifier: MIT */
/* Messages in, events out; see messages.h.
 *
 *   message ─► same stamp as those waiting? ─ yes ─► waits with them
 *                      └ no ─► those waiting go on in their order; it waits
 *
 * A user-space trace whose clock was measured apart from the kernel's (reader.h) comes that much
 * too late or too early: then all messages wait for as long.
 */
#include "messages.h"

#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "util/when.h"
#include "util/error.h"

#define SWITCH_CONTEXTS 16 /* of event_contexts(EV_SCHED_SWITCH), at most */

/* A stream class: what its event classes are, by their dense ids. */
struct stream_class {
	GPtrArray *classes;      /* owned; struct class_state by id, NULL: not met */
	int64_t tid, pid, callstack, user_callstack; /* index in the common context, -1 */
	int64_t of_switch[SWITCH_CONTEXTS]; /* the same: of event_contexts(), in its order */
	bool ids;                /* any of these is there */
	bool has_callstacks;     /* … of callstack and user_callstack */
	bool user;               /* of a user-space trace */
	int process;             /* … of this one only, 0 */
	enum syscall_abi abi;    /* numbering of native system calls */
	struct numbered_calls *calls; /* owned; of events that say a call's number */
};

struct stream {
	bool kernel, user;       /* neither: it is left alone */
	int64_t shift;           /* ns: user space's time is so much too small */
	uint32_t order;          /* of its trace, as given; host by host */
	const bt_stream *key;    /* borrowed; until its host is told, then NULL */
	bool begun;              /* its first packet was told */
	uint32_t host, cpu;
	bool has_cpu;
	uint64_t class_id, id;
	struct stream_class *class; /* borrowed */
	const bt_message *lost;  /* owned; told before the first packet */
	const bt_trace *trace;   /* borrowed; lives as long as the stream does */
	int64_t end;             /* ns: of its newest packet */
	bool ended;              /* no more will come */
};

/* The clock of the first trace of a host. */
struct first_clock {
	char *uuid; /* owned */
	int64_t offset;
};

struct waiting {
	const bt_message *message; /* owned */
	const struct stream *stream;
	int64_t time;
	uint64_t order;
};

#define RECENT 64
#define HOLD_MAX INT64_C(1000000000) /* ns: messages wait no longer than that */
#define HOLD_BATCH 4096

struct messages {
	const struct event_sink *sink; /* borrowed */
	GArray *clocks;              /* owned; struct first_clock of each host */
	GHashTable *streams;         /* owned; bt_stream -> struct stream */
	GHashTable *stream_classes;  /* owned; bt_stream_class -> struct stream_class */
	GHashTable *channels;        /* owned; "host cpu class" of streams begun */
	GPtrArray *given;            /* owned; the traces' UUIDs or directories, in order */
	GPtrArray *untold;        /* owned; struct stream *: their hosts are not told yet */
	struct {
		const bt_stream *key;
		struct stream *stream;
	} recent[RECENT];            /* by address, to save most look-ups in `streams` */
	struct waiting *waiting;     /* owned array: of one time */
	uint32_t waiting_count, waiting_room;
	uint32_t waiting_look;       /* held: look at so many which can go on */
	int64_t time;                /* the newest one's */
	int64_t hold;                /* ns: all wait for so long; 0: no trace needs it */
	GPtrArray *ended; /* owned; struct stream *: whether the trace goes on without is open */
	uint64_t order;
	unsigned kernel_streams;
	struct scratch scratch;
};

static void stream_class_free(gpointer data)
{
	struct stream_class *class = data;

	g_ptr_array_free(class->classes, TRUE);
	numbered_calls_free(class->calls);
	g_free(class);
}

static void stream_free(gpointer data)
{
	struct stream *stream = data;

	if (stream->lost)
		bt_message_put_ref(stream->lost);
	g_free(stream);
}

static void stream_put(gpointer key)
{
	bt_stream_put_ref(key);
}

static void stream_class_put(gpointer key)
{
	bt_stream_class_put_ref(key);
}

static void first_clock_clear(gpointer data)
{
	g_free(((struct first_clock *) data)->uuid);
}

struct messages *messages_new(const struct event_sink *sink)
{
	struct messages *messages = g_new0(struct messages, 1);

	messages->sink = sink;
	messages->clocks = g_array_new(FALSE, FALSE, sizeof(struct first_clock));
	g_array_set_clear_func(messages->clocks, first_clock_clear);
	messages->streams = g_hash_table_new_full(NULL, NULL, stream_put, stream_free);
	messages->stream_classes =
		g_hash_table_new_full(NULL, NULL, stream_class_put, stream_class_free);
	messages->channels = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	messages->given = g_ptr_array_new_with_free_func(g_free);
	messages->untold = g_ptr_array_new();
	messages->ended = g_ptr_array_new();
	scratch_init(&messages->scratch);
	return messages;
}

void messages_free(struct messages *messages)
{
	if (!messages)
		return;
	for (uint32_t i = 0; i < messages->waiting_count; i++)
		bt_message_put_ref(messages->waiting[i].message);
	g_free(messages->waiting);
	g_hash_table_destroy(messages->streams);
	g_hash_table_destroy(messages->stream_classes);
	g_hash_table_destroy(messages->channels);
	g_array_free(messages->clocks, TRUE);
	g_ptr_array_free(messages->given, TRUE);
	g_ptr_array_free(messages->untold, TRUE);
	g_ptr_array_free(messages->ended, TRUE);
	scratch_clear(&messages->scratch);
	g_free(messages);
}

unsigned messages_kernel_streams(const struct messages *messages)
{
	return messages->kernel_streams;
}

static const char *env_text(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

static int env_number(const bt_trace *trace, const char *name)
{
	const bt_value *value = bt_trace_borrow_environment_entry_value_by_name_const(trace, name);

	return value && bt_value_is_signed_integer(value) ? (int) bt_value_integer_signed_get(value)
							  : 0;
}

static char *uuid_text(bt_uuid uuid)
{
	GString *text = g_string_new(NULL);

	if (!uuid)
		return g_string_free(text, TRUE);
	for (int i = 0; i < 16; i++)
		g_string_append_printf(text, "%s%02x",
				       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
	return g_string_free(text, FALSE);
}

static int64_t clock_offset(const bt_clock_class *clock)
{
	int64_t seconds;
	uint64_t cycles, frequency = bt_clock_class_get_frequency(clock);

	bt_clock_class_get_offset(clock, &seconds, &cycles);
	return clock_ns(seconds, cycles, frequency);
}

/* Tells the sink of all event classes, and finds the syscall numbering. */
static enum syscall_abi
declare_classes(struct messages *messages, const bt_stream_class *class, bool user)
{
	uint64_t count = bt_stream_class_get_event_class_count(class);
	unsigned hints = 0;

	for (uint64_t i = 0; i < count; i++) {
		const bt_event_class *event_class =
			bt_stream_class_borrow_event_class_by_index_const(class, i);
		const char *name = bt_event_class_get_name(event_class);

		if (!name)
			continue;
		declare_class(messages->sink, event_class, user);
		hints |= event_abi_hint(name);
	}
	return event_abi(hints);
}

static bool is_kernel(const bt_trace *trace, const bt_stream_class *class)
{
	const char *domain = env_text(trace, "domain");
	uint64_t count;

	if (domain)
		return strcmp(domain, "kernel") == 0;
	/* an LTTng 2.0 trace says nothing: its events do */
	count = bt_stream_class_get_event_class_count(class);
	for (uint64_t i = 0; i < count; i++) {
		const char *name = bt_event_class_get_name(
			bt_stream_class_borrow_event_class_by_index_const(class, i));

		if (name &&
		    (strcmp(name, "sched_switch") == 0 || strcmp(name, "sched:sched_switch") == 0))
			return true;
	}
	return false;
}

static int64_t context_index(const bt_field_class *context, const char *name)
{
	uint64_t count = context ? bt_field_class_structure_get_member_count(context) : 0;

	for (uint64_t i = 0; i < count; i++)
		if (strcmp(bt_field_class_structure_member_get_name(
				   bt_field_class_structure_borrow_member_by_index_const(context,
											 i)),
			   name) == 0)
			return (int64_t) i;
	return -1;
}

static bool is_user(const bt_trace *trace)
{
	const char *domain = env_text(trace, "domain");

	return domain && strcmp(domain, "ust") == 0;
}

static void find_switch_contexts(struct stream_class *class, const bt_field_class *context)
{
	const struct event_field *fields = event_contexts(EV_SCHED_SWITCH);

	for (guint i = 0; fields[i].name; i++) {
		g_assert(i < SWITCH_CONTEXTS);
		class->of_switch[i] = context_index(context, fields[i].name);
		class->ids |= class->of_switch[i] >= 0;
	}
}

static struct stream_class *stream_class_of(struct messages *messages, const bt_trace *trace,
					    const bt_stream_class *key, bool user)
{
	struct stream_class *class = g_hash_table_lookup(messages->stream_classes, key);
	const bt_field_class *context;

	if (class)
		return class;
	class = g_new0(struct stream_class, 1);
	class->classes = g_ptr_array_new_with_free_func(class_state_free);
	context = bt_stream_class_borrow_event_common_context_field_class_const(key);
	class->user = user;
	class->tid = context_index(context, user ? "vtid" : "tid");
	class->pid = context_index(context, user ? "vpid" : "pid");
	class->callstack = context_index(context, "callstack_kernel");
	class->user_callstack = context_index(context, "callstack_user");
	class->has_callstacks = !user && MAX(class->callstack, class->user_callstack) >= 0;
	find_switch_contexts(class, context);
	class->abi = declare_classes(messages, key, user);
	if (class->abi == ABI_UNKNOWN)
		class->abi = event_abi_of_machine(env_text(trace, "machine"));
	class->calls = numbered_calls_new(messages->sink, class->abi);
	bt_stream_class_get_ref(key);
	g_hash_table_insert(messages->stream_classes, (gpointer) key, class);
	return class;
}

static uint32_t host_of(struct messages *messages, const bt_stream *key, enum syscall_abi abi)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(key);
	const bt_trace *trace = bt_stream_borrow_trace_const(key);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	g_autofree char *trace_uuid = uuid_text(bt_trace_get_uuid(trace));
	g_autofree char *clock_uuid = clock ? uuid_text(bt_clock_class_get_uuid(clock)) : NULL;
	bool perf = g_strcmp0(env_text(trace, "tracer_name"), "perf") == 0;
	struct host_info info = {
		.hostname = env_text(trace, perf ? "host" : "hostname"),
		.trace_uuid = trace_uuid,
		.clock_uuid = clock_uuid,
		.kernel_release = env_text(trace, perf ? "release" : "kernel_release"),
		.tracer = perf ? "perf (converted to CTF)" : NULL,
		.tracer_major = env_number(trace, "tracer_major"),
		.tracer_minor = env_number(trace, "tracer_minor"),
		.tracer_patch = env_number(trace, "tracer_patchlevel"),
		.clock_offset = clock ? clock_offset(clock) : 0,
		.has_clock_offset = clock != NULL,
		.abi = abi};
	uint32_t host;

	host = messages->sink->add_host(messages->sink->data, &info);
	if (host == messages->clocks->len) {
		struct first_clock first = {g_strdup(clock_uuid), info.clock_offset};

		g_array_append_val(messages->clocks, first);
	}
	return host;
}

/* "For equal clock UUIDs compare raw clock values" (lttng-events.md, 3). */
static int64_t shift_of(const struct first_clock *kernel, const bt_clock_class *clock,
			const char *uuid)
{
	if (!clock || !*uuid || g_strcmp0(kernel->uuid, uuid) != 0)
		return 0;
	return kernel->offset - clock_offset(clock);
}

/* A user-space stream's host, when all kernel streams have theirs. */
static void join_host(struct messages *messages, struct stream *stream)
{
	const bt_stream_class *class = bt_stream_borrow_class_const(stream->key);
	const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(class);
	g_autofree char *uuid = clock ? uuid_text(bt_clock_class_get_uuid(clock)) : NULL;

	stream->host = messages->sink->user_host(
		messages->sink->data,
		env_text(bt_stream_borrow_trace_const(stream->key), "hostname"), uuid);
	stream->user = stream->host != UINT32_MAX;
	if (!stream->user)
		return;
	stream->shift = shift_of(&g_array_index(messages->clocks, struct first_clock, stream->host),
				 clock, uuid ? uuid : "");
	messages->hold = MAX(messages->hold, MIN(ABS(stream->shift), HOLD_MAX));
}

/* source.ctf.fs names a stream by its file. */
static void tell_place(struct messages *messages, const bt_stream *key)
{
	const char *name = bt_stream_get_name(key);
	g_autofree char *directory = NULL;

	if (!name || !g_path_is_absolute(name))
		return;
	directory = g_path_get_dirname(name);
	messages->sink->place(messages->sink->data, directory);
}

/* source.ctf.fs names a port "TRACE | CLASS | STREAM", the trace by its UUID or
 * directory; Babeltrace 2.1 puts a UUID as "{namespace: `N`, name: `N`, uid: `UUID`}". */
static void add_given(struct messages *messages, const char *port)
{
	static const char key[] = "uid: `";
	const char *end = strstr(port, " | ");
	const char *uid = *port == '{' ? strstr(port, key) : NULL;
	char *trace;

	if (uid && (!end || uid < end)) {
		port = uid + strlen(key);
		end = strchr(port, '`');
	}
	trace = end ? g_strndup(port, (gsize) (end - port)) : g_strdup(port);
	if (g_ptr_array_find_with_equal_func(messages->given, trace, g_str_equal, NULL))
		g_free(trace);
	else
		g_ptr_array_add(messages->given, trace);
}

/* A source's output that the messages come from. */
struct origin {
	char *component; /* owned; its name, without the number behind */
	int64_t number;  /* … which is this, -1: none */
	uint32_t first;  /* where the first one of that name stands */
	uint32_t place;  /* where it stands itself */
	const char *port; /* borrowed */
};

static void origin_clear(gpointer data)
{
	g_free(((struct origin *) data)->component);
}

/* babeltrace2 names the sources of one kind NAME, NAME-0, NAME-1 in the order given, but connects
 * them in the order of a hash table, which each GQuark made before changes. */
static void add_origin(GArray *origins, const bt_component *component, const char *port)
{
	struct origin origin = {g_strdup(bt_component_get_name(component)), -1, origins->len,
				origins->len, port};
	char *dash = strrchr(origin.component, '-'), *end;

	if (dash && g_ascii_isdigit(dash[1])) {
		origin.number = g_ascii_strtoll(dash + 1, &end, 10);
		if (*end)
			origin.number = -1;
		else
			*dash = 0;
	}
	for (guint i = origins->len; i-- > 0;)
		if (strcmp(g_array_index(origins, struct origin, i).component, origin.component) ==
		    0)
			origin.first = g_array_index(origins, struct origin, i).first;
	g_array_append_val(origins, origin);
}

static int by_name(gconstpointer a, gconstpointer b)
{
	const struct origin *x = a, *y = b;

	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

/* A port's way up to the sources. */
static void add_ports(GArray *origins, const bt_port *input, int depth)
{
	const bt_connection *connection = bt_port_borrow_connection_const(input);
	const bt_component *component;
	const bt_component_filter *filter;
	const bt_port *output;

	if (!connection || depth > 16)
		return;
	output = bt_port_output_as_port_const(bt_connection_borrow_upstream_port_const(connection));
	component = bt_port_borrow_component_const(output);
	if (bt_component_is_source(component)) {
		add_origin(origins, component, bt_port_get_name(output));
	} else if (bt_component_is_filter(component)) {
		filter = (const bt_component_filter *) component;
		for (uint64_t i = 0; i < bt_component_filter_get_input_port_count(filter); i++)
			add_ports(origins,
				  bt_port_input_as_port_const(
					  bt_component_filter_borrow_input_port_by_index_const(
						  filter, i)),
				  depth + 1);
	}
}

void messages_order(struct messages *messages, const bt_port *input)
{
	g_autoptr(GArray) origins = g_array_new(FALSE, FALSE, sizeof(struct origin));

	g_array_set_clear_func(origins, origin_clear);
	add_ports(origins, input, 0);
	g_array_sort(origins, by_name);
	for (guint i = 0; i < origins->len; i++)
		add_given(messages, g_array_index(origins, struct origin, i).port);
}

/* `file` is in `directory`, not in one whose name begins alike. */
static bool is_within(const char *file, const char *directory)
{
	size_t length = strlen(directory);

	return *directory == '/' && strncmp(file, directory, length) == 0 &&
	       (file[length] == '/' || file[length] == 0 || directory[length - 1] == '/');
}

/* The place of a stream's trace in the order given; behind all, if not known. */
static uint32_t order_of(const struct messages *messages, const bt_stream *key)
{
	g_autofree char *uuid = uuid_text(bt_trace_get_uuid(bt_stream_borrow_trace_const(key)));
	const char *name = bt_stream_get_name(key);
	uint32_t i;

	for (i = 0; i < messages->given->len; i++) {
		const char *trace = g_ptr_array_index(messages->given, i);

		if (g_strcmp0(trace, uuid) == 0 || (name && is_within(name, trace)))
			break;
	}
	return i;
}

static int by_order(gconstpointer a, gconstpointer b)
{
	const struct stream *x = *(struct stream *const *) a, *y = *(struct stream *const *) b;

	return x->order < y->order ? -1 : x->order > y->order;
}

/* "Hosts in the order given": all streams begin before the first event, and only
 * then are the hosts told. */
static void tell_hosts(struct messages *messages)
{
	uint32_t apart = UINT32_MAX;

	g_ptr_array_sort(messages->untold, by_order);
	for (guint i = 0; i < messages->untold->len; i++) {
		struct stream *stream = g_ptr_array_index(messages->untold, i);

		if (stream->user)
			continue;
		stream->host = host_of(messages, stream->key, stream->class->abi);
		tell_place(messages, stream->key);
		stream->key = NULL;
	}
	for (guint i = 0; i < messages->untold->len; i++) {
		struct stream *stream = g_ptr_array_index(messages->untold, i);

		if (stream->user) {
			join_host(messages, stream);
			if (!stream->user &&
			    stream->order != apart) { /* streams of a trace lie together */
				messages->sink->leave_user(messages->sink->data);
				apart = stream->order;
			}
		}
		stream->key = NULL;
	}
	g_ptr_array_set_size(messages->untold, 0);
}

static struct stream *stream_of(struct messages *messages, const bt_stream *key)
{
	const bt_stream_class *class;
	guint place = (guint) ((uintptr_t) key >> 4) % RECENT;
	struct stream *stream;

	if (messages->recent[place].key == key)
		return messages->recent[place].stream;
	stream = g_hash_table_lookup(messages->streams, key);
	if (!stream) {
		class = bt_stream_borrow_class_const(key);
		stream = g_new0(struct stream, 1);
		stream->kernel = is_kernel(bt_stream_borrow_trace_const(key), class);
		stream->user = !stream->kernel && is_user(bt_stream_borrow_trace_const(key));
		stream->trace = bt_stream_borrow_trace_const(key);
		stream->end = INT64_MIN;
		stream->class_id = bt_stream_class_get_id(class);
		stream->id = bt_stream_get_id(key);
		messages->kernel_streams += stream->kernel;
		if (stream->kernel || stream->user) {
			stream->class =
				stream_class_of(messages, stream->trace, class, stream->user);
			if (stream->user && stream->class->pid < 0)
				stream->class->process =
					env_number(bt_stream_borrow_trace_const(key), "vpid");
			stream->key = key;
			stream->order = order_of(messages, key);
			g_ptr_array_add(messages->untold, stream);
		}
		bt_stream_get_ref(key);
		g_hash_table_insert(messages->streams, (gpointer) key, stream);
	}
	messages->recent[place].key = key;
	messages->recent[place].stream = stream;
	return stream;
}

static struct class_state *class_of(struct messages *messages, const struct stream *stream,
				    const bt_event_class *event_class)
{
	GPtrArray *classes = stream->class->classes;
	uint64_t id = bt_event_class_get_id(event_class);
	struct class_state *state;

	if (id < classes->len) {
		state = g_ptr_array_index(classes, id);
		if (state)
			return state;
	} else {
		g_ptr_array_set_size(classes, (gint) id + 1);
	}
	state = class_state_new(messages->sink, event_class, stream->user);
	classes->pdata[id] = state;
	return state;
}

static bool context_value(const bt_event *from, int64_t index, int64_t *to)
{
	return index >= 0 && field_integer(bt_field_structure_borrow_member_field_by_index_const(
						   bt_event_borrow_common_context_field_const(from),
						   (uint64_t) index),
					   to);
}

static bool context_integer(const bt_event *from, int64_t index, int32_t *to)
{
	int64_t value;

	if (!context_value(from, index, &value))
		return false;
	*to = (int32_t) value;
	return true;
}

static void context_words(const bt_event *from, int64_t index, struct scratch *scratch,
			  struct event_bytes *to)
{
	if (index >= 0)
		field_words(bt_field_structure_borrow_member_field_by_index_const(
				    bt_event_borrow_common_context_field_const(from),
				    (uint64_t) index),
			    scratch, to);
}

static void callstack_contexts(const struct stream_class *class, const bt_event *from,
			       struct scratch *scratch, struct event *event)
{
	event->callstack = event->user_callstack = (struct event_bytes) {NULL, 0};
	context_words(from, class->callstack, scratch, &event->callstack);
	context_words(from, class->user_callstack, scratch, &event->user_callstack);
}

/* What a switch's contexts say of prev: enough, as every thread switches. */
static void switch_contexts(const struct stream_class *class, const bt_event *from,
			    struct event *event)
{
	const struct event_field *fields = event_contexts(EV_SCHED_SWITCH);

	for (guint i = 0; class->ids && fields[i].name; i++) {
		void *to = (char *) event + fields[i].offset;
		int64_t value;

		if (!context_value(from, class->of_switch[i], &value))
			continue;
		if (fields[i].type == FIELD_I64)
			*(int64_t *) to = value;
		else
			*(int32_t *) to = (int32_t) value;
	}
}

static void send(struct messages *messages, const struct waiting *waiting)
{
	const bt_event *from = bt_message_event_borrow_event_const(waiting->message);
	const struct stream *stream = waiting->stream;
	struct class_state *state = class_of(messages, stream, bt_event_borrow_class_const(from));
	struct event event;

	event.time = waiting->time;
	event.cpu = stream->cpu;
	event.host = (uint16_t) stream->host;
	event_init(&event, &state->class, stream->class->abi);
	event.has_tid = context_integer(from, stream->class->tid, &event.tid);
	event.has_pid = context_integer(from, stream->class->pid, &event.pid);
	if (stream->class->process > 0) {
		event.has_pid = true;
		event.pid = stream->class->process;
	}
	fields_take(state, from, &messages->scratch, &event);
	if (state->perf)
		event.has_tid = event.has_pid = true;
	if (state->class.ending)
		event_finish(&event, &state->class, stream->class->calls);
	event.has_callstacks = stream->class->has_callstacks;
	event.channel = (uint16_t) stream->class_id;
	if (event.has_callstacks)
		callstack_contexts(stream->class, from, &messages->scratch, &event);
	if (event.kind == EV_SCHED_SWITCH)
		switch_contexts(stream->class, from, &event);
	if (state->filters)
		filters_apply(state, from, &event);
	messages->sink->event(messages->sink->data, &event);
	bt_message_put_ref(waiting->message);
}

/* "the lower CPU first (hosts in the order given), on one CPU in stream
 * order, several streams of a CPU (channels) by stream class and stream id" */
static int in_order(const void *a, const void *b)
{
	const struct waiting *x = a, *y = b;
	const struct stream *s = x->stream, *t = y->stream;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	if (s->host != t->host)
		return s->host < t->host ? -1 : 1;
	if (s->user != t->user)
		return t->user ? -1 : 1;
	if (s->cpu != t->cpu)
		return s->cpu < t->cpu ? -1 : 1;
	if (s->user && s->order != t->order)
		return s->order < t->order ? -1 : 1;
	if (s->class_id != t->class_id)
		return s->class_id < t->class_id ? -1 : 1;
	if (s->id != t->id)
		return s->id < t->id ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

static void flush(struct messages *messages)
{
	if (messages->waiting_count > 1)
		qsort(messages->waiting, messages->waiting_count, sizeof *messages->waiting,
		      in_order);
	for (uint32_t i = 0; i < messages->waiting_count; i++)
		send(messages, &messages->waiting[i]);
	messages->waiting_count = 0;
}

/* Those of a time before `until`; what waits is in any order. */
static void flush_until(struct messages *messages, int64_t until)
{
	uint32_t gone = 0;

	if (!messages->waiting_count)
		return;
	qsort(messages->waiting, messages->waiting_count, sizeof *messages->waiting, in_order);
	while (gone < messages->waiting_count && messages->waiting[gone].time < until)
		send(messages, &messages->waiting[gone++]);
	messages->waiting_count -= gone;
	memmove(messages->waiting, messages->waiting + gone,
		messages->waiting_count * sizeof *messages->waiting);
	messages->waiting_look = MAX(HOLD_BATCH, 2 * messages->waiting_count);
}

static void await(struct messages *messages, const struct waiting *waiting)
{
	if (messages->waiting_count == messages->waiting_room) {
		messages->waiting_room = MAX(16, messages->waiting_room * 2);
		messages->waiting =
			g_renew(struct waiting, messages->waiting, messages->waiting_room);
	}
	messages->waiting[messages->waiting_count++] = *waiting;
}

/* Something is told of the stream's trace at `time`: streams of it that ended well before have
 * lost what their CPUs did since. What was held back meanwhile is told before and after. */
static void goes_on(struct messages *messages, const struct stream *stream, int64_t time)
{
	for (guint i = 0; i < messages->ended->len;) {
		const struct stream *ended = g_ptr_array_index(messages->ended, i);
		struct lost_events lost = {.host = ended->host,
					   .cpu = ended->cpu,
					   .begin = ended->end,
					   .end = INT64_MAX,
					   .count = -1};

		if (ended->trace != stream->trace || time - ended->end <= STREAM_ENDS_EARLY) {
			i++;
			continue;
		}
		flush_until(messages, ended->end);
		messages->sink->lose(messages->sink->data, &lost);
		g_ptr_array_remove_index(messages->ended, i);
	}
}

/* Nothing can go on without streams of a trace that has ended. */
static void close_trace(struct messages *messages, const bt_trace *trace)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, messages->streams);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const struct stream *stream = value;

		if (stream->trace == trace && stream->kernel && !stream->ended)
			return;
	}
	for (guint i = messages->ended->len; i-- > 0;)
		if (((struct stream *) g_ptr_array_index(messages->ended, i))->trace == trace)
			g_ptr_array_remove_index(messages->ended, i);
}

static void take_stream_end(struct messages *messages, const bt_message *message)
{
	struct stream *stream =
		stream_of(messages, bt_message_stream_end_borrow_stream_const(message));

	stream->ended = true;
	if (!stream->kernel)
		return;
	if (stream->has_cpu && stream->end != INT64_MIN)
		g_ptr_array_add(messages->ended, stream);
	close_trace(messages, stream->trace);
}

static bool event_time(const bt_message *message, int64_t *time)
{
	const bt_clock_snapshot *clock =
		bt_message_event_borrow_default_clock_snapshot_const(message);

	return bt_clock_snapshot_get_ns_from_origin(clock, time) ==
	       BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;
}

static bool take_event(struct messages *messages, const bt_message *message, GError **error)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	struct waiting waiting = {.message = message, .order = messages->order++};
	int64_t time, hold;

	waiting.stream = stream_of(messages, bt_event_borrow_stream_const(event));
	if (messages->untold->len)
		tell_hosts(messages);
	if (!waiting.stream->kernel && !waiting.stream->user) {
		bt_message_put_ref(message);
		return true;
	}
	if (!event_time(message, &time)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_DAMAGE,
			    "an event's time does not fit 64 bits of nanoseconds");
		bt_message_put_ref(message);
		return false;
	}
	waiting.time = time + waiting.stream->shift;
	if (messages->ended->len)
		goes_on(messages, waiting.stream, time);
	hold = messages->ended->len ? MAX(messages->hold, STREAM_ENDS_EARLY) : messages->hold;
	if (hold && messages->waiting_count >= messages->waiting_look)
		flush_until(messages, time - hold);
	else if (!hold && time != messages->time && messages->waiting_count)
		flush(messages);
	messages->time = time;
	await(messages, &waiting);
	return true;
}

static int64_t snapshot_time(const bt_clock_snapshot *clock, int64_t fallback)
{
	int64_t time;

	return bt_clock_snapshot_get_ns_from_origin(clock, &time) ==
			       BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK
		       ? time
		       : fallback;
}

static const bt_clock_snapshot *lost_packets_clock(const bt_message *message, bool end)
{
	return end ? bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(message)
		   : bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
			     message);
}

static const bt_clock_snapshot *lost_events_clock(const bt_message *message, bool end)
{
	return end ? bt_message_discarded_events_borrow_end_default_clock_snapshot_const(message)
		   : bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
			     message);
}

static void tell_lost(struct messages *messages, const struct stream *stream,
		      const bt_message *message, bool packets)
{
	const bt_stream_class *class;
	uint64_t count = 0;
	bool known, timed;
	int64_t begin = messages->time, end = messages->time;
	struct lost_events lost;

	if (packets) {
		class = bt_stream_borrow_class_const(
			bt_message_discarded_packets_borrow_stream_const(message));
		timed = bt_stream_class_discarded_packets_have_default_clock_snapshots(class);
		known = bt_message_discarded_packets_get_count(message, &count) ==
			BT_PROPERTY_AVAILABILITY_AVAILABLE;
	} else {
		class = bt_stream_borrow_class_const(
			bt_message_discarded_events_borrow_stream_const(message));
		timed = bt_stream_class_discarded_events_have_default_clock_snapshots(class);
		known = bt_message_discarded_events_get_count(message, &count) ==
			BT_PROPERTY_AVAILABILITY_AVAILABLE;
	}
	if (timed) {
		begin = snapshot_time(packets ? lost_packets_clock(message, false)
					      : lost_events_clock(message, false),
				      begin);
		end = snapshot_time(packets ? lost_packets_clock(message, true)
					    : lost_events_clock(message, true),
				    end);
	}
	flush(messages);
	if (messages->untold->len)
		tell_hosts(messages);
	if (!stream->kernel && !stream->user)
		return;
	lost = (struct lost_events) {.host = stream->host,
				     .cpu = stream->cpu,
				     .begin = begin + stream->shift,
				     .end = end + stream->shift,
				     .count = known ? (int64_t) count : -1,
				     .packets = packets,
				     .user = stream->user};
	messages->sink->lose(messages->sink->data, &lost);
}

static void take_lost(struct messages *messages, const bt_message *message, bool packets)
{
	struct stream *stream =
		stream_of(messages,
			  packets ? bt_message_discarded_packets_borrow_stream_const(message)
				  : bt_message_discarded_events_borrow_stream_const(message));

	bool read = stream->kernel || stream->user;

	if (read && stream->has_cpu) {
		tell_lost(messages, stream, message, packets);
	} else if (read && !stream->lost) {
		stream->lost = message; /* until the packet says which CPU */
		return;
	}
	bt_message_put_ref(message);
}

static void take_packet_begin(struct messages *messages, const bt_message *message)
{
	const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(message);
	const bt_stream *key = bt_packet_borrow_stream_const(packet);
	struct stream *stream = stream_of(messages, key);
	const bt_field *context, *cpu;
	g_autofree char *channel = NULL;
	int64_t id, begin = messages->time;

	if ((!stream->kernel && !stream->user) || stream->begun)
		return;
	if (messages->untold->len)
		tell_hosts(messages);
	stream->begun = true;
	context = bt_packet_borrow_context_field_const(packet);
	cpu = context ? bt_field_structure_borrow_member_field_by_name_const(context, "cpu_id")
		      : NULL;
	if (cpu && field_integer(cpu, &id))
		stream->cpu = (uint32_t) id;
	stream->has_cpu = true;
	if (bt_stream_class_packets_have_beginning_default_clock_snapshot(
		    bt_stream_borrow_class_const(key)))
		begin = snapshot_time(
			bt_message_packet_beginning_borrow_default_clock_snapshot_const(message),
			begin);
	/* a later chunk of the same channel does not begin it again */
	channel = g_strdup_printf("%u %u %" G_GUINT64_FORMAT, stream->host, stream->cpu,
				  (guint64) stream->class_id);
	if (stream->kernel && g_hash_table_add(messages->channels, g_steal_pointer(&channel)))
		messages->sink->begin(messages->sink->data, stream->host, stream->cpu, begin);
	if (stream->lost) {
		const bt_message *lost = stream->lost;
		bool packets = bt_message_get_type(lost) == BT_MESSAGE_TYPE_DISCARDED_PACKETS;

		stream->lost = NULL;
		tell_lost(messages, stream, lost, packets);
		bt_message_put_ref(lost);
	}
}

static void take_packet_end(struct messages *messages, const bt_message *message)
{
	const bt_stream *key =
		bt_packet_borrow_stream_const(bt_message_packet_end_borrow_packet_const(message));
	struct stream *stream = stream_of(messages, key);

	if (!stream->kernel || !bt_stream_class_packets_have_end_default_clock_snapshot(
				       bt_stream_borrow_class_const(key)))
		return;
	stream->end =
		snapshot_time(bt_message_packet_end_borrow_default_clock_snapshot_const(message),
			      messages->time);
	goes_on(messages, stream, stream->end);
}

/* A live trace: nothing that is older will come. */
static void take_inactivity(struct messages *messages, const bt_message *message)
{
	int64_t time = snapshot_time(
		bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message),
		messages->time);

	if (time > messages->time)
		flush(messages);
	messages->sink->pass(messages->sink->data, time);
}

bool messages_take(struct messages *messages, bt_message_array_const batch, uint64_t count,
		   GError **error)
{
	bool ok = true;

	for (uint64_t i = 0; i < count; i++) {
		const bt_message *message = batch[i];

		if (!ok) { /* only release the rest */
			bt_message_put_ref(message);
			continue;
		}
		switch (bt_message_get_type(message)) {
		case BT_MESSAGE_TYPE_EVENT:
			ok = take_event(messages, message, error);
			continue; /* its reference went along */
		case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
			take_lost(messages, message, false);
			continue;
		case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
			take_lost(messages, message, true);
			continue;
		case BT_MESSAGE_TYPE_PACKET_BEGINNING:
			take_packet_begin(messages, message);
			break;
		case BT_MESSAGE_TYPE_PACKET_END:
			take_packet_end(messages, message);
			break;
		case BT_MESSAGE_TYPE_STREAM_END:
			take_stream_end(messages, message);
			break;
		case BT_MESSAGE_TYPE_STREAM_BEGINNING:
			stream_of(messages,
				  bt_message_stream_beginning_borrow_stream_const(message));
			break;
		case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
			take_inactivity(messages, message);
			break;
		default:
			break;
		}
		bt_message_put_ref(message);
	}
	return ok;
}

void messages_end(struct messages *messages)
{
	flush(messages);
}

char *messages_library_error(void)
{
	const bt_error *error = bt_current_thread_take_error();
	GString *text = g_string_new(NULL);

	if (!error)
		return g_string_free(text, FALSE);
	if (bt_error_get_cause_count(error)) /* the first is the root cause */
		g_string_append(text, bt_error_cause_get_message(
					      bt_error_borrow_cause_by_index(error, 0)));
	bt_error_release(error);
	for (gsize i = 0; i < text->len; i++)
		if (text->str[i] == '\n')
			text->str[i] = ' ';
	return g_string_free(text, FALSE);
}
