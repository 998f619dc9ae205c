/* SPDX-License-Identifier: MIT */
/* Perfetto's own format: a stream of TracePackets (protobuf), for ui.perfetto.dev
 * and trace_processor.
 *
 * Part of export/. One track a thread: system calls and functions are slices, the
 * thread's states are slices in them; one track a CPU: who ran. A wake-up is an
 * instant on the waker's track (on its CPU's, if no exported thread was current
 * there) and an arrow to the slice "Ready" that begins with it:
 *
 *   waker   ├ write ──────|wakes b|─┤
 *                             ╰──flow──╮
 *   woken   ├ read ├ Blocked: pipe ───┤├ Ready ┤├ Working ┤
 *
 * Packets need not be in order of time between tracks: the importer sorts them.
 * Samples of what ran are perf's (PerfSample): those that share out the time of the thread's
 * states. The CPU that took one is not kept, so none is named.
 *
 * All names are interned in the one packet sequence; times are ns, and a clock
 * snapshot says that they are those of the trace's clock origin (UTC).
 *
 * Source: protos/perfetto/trace/{trace_packet,clock_snapshot}.proto,
 * interned_data/interned_data.proto, track_event/{track_event,track_descriptor,
 * process_descriptor,thread_descriptor,debug_annotation}.proto,
 * profiling/{profile_common,profile_packet}.proto ("Bottom frame first"), and "Writing
 * TrackEvent Protos Synthetically".
 */
#include "export/export_formats.h"
#include "export/export_names.h"

#include "export/protobuf.h"
#include "samples/sample_moments.h"

enum { TRACE_PACKET = 1 };
enum {
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_FLAGS = 13,
	PACKET_TRACK = 60,
	PACKET_SAMPLE = 66,
};
enum { FLAGS_CLEARED = 1, FLAGS_NEEDS_STATE = 2 };
enum { CLOCKS = 1, CLOCKS_PRIMARY = 2, CLOCK_ID = 1, CLOCK_TIME = 2 };
enum { CLOCK_REALTIME_ID = 1, CLOCK_BOOTTIME_ID = 6 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_CATEGORY = 3,
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
	EVENT_FLOW = 47,
	EVENT_FLOW_END = 48,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { ANNOTATION_NAME = 1, ANNOTATION_INT = 4, ANNOTATION_TEXT = 6 };
enum interned {
	INTERNED_CATEGORIES = 1,
	INTERNED_NAMES = 2,
	INTERNED_KEYS = 3,
	INTERNED_FUNCTIONS = 5,
	INTERNED_FRAMES = 6,
	INTERNED_STACKS = 7,
	INTERNED_PATHS = 17,
	INTERNED_SOURCES = 18,
	INTERNED_MAPPINGS = 19,
};
#define INTERNED_KINDS 20
enum { INTERNED_ID = 1, INTERNED_TEXT = 2 };
enum { MAPPING_PATH = 7 };
enum { FRAME_FUNCTION = 2, FRAME_MAPPING = 3, FRAME_ADDRESS = 4, FRAME_SOURCE = 5, FRAME_LINE = 6 };
enum { STACK_FRAME = 2 };
enum { SAMPLE_PID = 2, SAMPLE_TID = 3, SAMPLE_STACK = 4, SAMPLE_MODE = 5 };
enum { MODE_KERNEL = 1, MODE_USER = 2 };

/* Which kind of track a UUID is of. */
enum track_kind { TRACK_OF_PROCESS = 1, TRACK_OF_THREAD, TRACK_OF_CPU, TRACK_OF_CPUS };

struct writer {
	const struct walk *walk; /* borrowed */
	FILE *file;
	struct state_names states;
	GHashTable *interned[INTERNED_KINDS]; /* owned; by enum interned: text -> its number */
	GHashTable *frames; /* owned; a sample's frame (uint64_t) -> its number */
	GHashTable *stacks; /* owned; struct sample_stack -> its number */
	struct sample_moments moments; /* of the thread at hand */
	struct proto packet, event, sub, fresh; /* fresh: interned by the event at hand */
	uint32_t flow_due;       /* wake-up that ends at the next state, 0: none */
	int64_t flow_time;
};

static uint64_t uuid(enum track_kind kind, uint64_t number)
{
	return (uint64_t) kind << 56 | number;
}

static void put_packet(struct writer *writer)
{
	struct proto head = {0};

	proto_uint(&writer->packet, PACKET_SEQUENCE, 1);
	proto_varint(&head, TRACE_PACKET << 3 | 2);
	proto_varint(&head, writer->packet.used);
	fwrite(head.bytes, 1, head.used, writer->file);
	fwrite(writer->packet.bytes, 1, writer->packet.used, writer->file);
	proto_clear(&head);
	proto_begin(&writer->packet);
}

/* --- who ------------------------------------------------------------------ */

static void put_clock(struct writer *writer, unsigned id)
{
	proto_begin(&writer->sub);
	proto_uint(&writer->sub, CLOCK_ID, id);
	proto_uint(&writer->sub, CLOCK_TIME, (uint64_t) writer->walk->session->trace.begin);
	proto_message(&writer->event, CLOCKS, &writer->sub);
}

/* Events are by BOOTTIME, which is what importers take by default. */
static void put_start(struct writer *writer)
{
	proto_begin(&writer->event);
	put_clock(writer, CLOCK_BOOTTIME_ID);
	put_clock(writer, CLOCK_REALTIME_ID);
	proto_uint(&writer->event, CLOCKS_PRIMARY, CLOCK_BOOTTIME_ID);
	proto_uint(&writer->packet, PACKET_TIMESTAMP,
		   (uint64_t) writer->walk->session->trace.begin);
	proto_message(&writer->packet, PACKET_CLOCK_SNAPSHOT, &writer->event);
	proto_uint(&writer->packet, PACKET_FLAGS, FLAGS_CLEARED);
	put_packet(writer);
}

static void put_track(struct writer *writer, uint64_t id, uint64_t parent, const char *name)
{
	proto_begin(&writer->event);
	proto_uint(&writer->event, TRACK_UUID, id);
	if (parent)
		proto_uint(&writer->event, TRACK_PARENT, parent);
	if (name)
		proto_text(&writer->event, TRACK_NAME, name);
}

static void end_track(struct writer *writer)
{
	proto_message(&writer->packet, PACKET_TRACK, &writer->event);
	put_packet(writer);
}

static void put_cpus(struct writer *writer)
{
	const struct session *session = writer->walk->session;
	bool several = session->trace.model.hosts->len > 1;

	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		const struct host *host = model_host(&session->trace.model, h);
		g_autofree char *name =
			several ? g_strconcat("CPUs of ", trace_host_name(&session->trace, h), NULL)
				: g_strdup("CPUs");

		put_track(writer, uuid(TRACK_OF_CPUS, h), 0, name);
		end_track(writer);
		for (guint i = 0; i < host->cpus->len; i++) {
			const struct cpu *cpu = g_ptr_array_index(host->cpus, i);
			g_autofree char *of = g_strdup_printf("CPU %u", cpu->id);

			put_track(writer, uuid(TRACK_OF_CPU, (uint64_t) h << 32 | cpu->id),
				  uuid(TRACK_OF_CPUS, h), of);
			end_track(writer);
		}
	}
}

static void put_process(struct writer *writer, guint index)
{
	const struct session *session = writer->walk->session;
	const struct walk_process *process =
		&g_array_index(writer->walk->processes, struct walk_process, index);
	bool several = session->trace.model.hosts->len > 1;
	g_autofree char *name =
		g_strconcat(session_text(session, process->name), several ? " on " : "",
			    several ? trace_host_name(&session->trace, process->host) : "", NULL);

	proto_begin(&writer->sub);
	proto_uint(&writer->sub, PROCESS_PID,
		   (uint64_t) walk_unique_id(process->host, process->pid));
	proto_text(&writer->sub, PROCESS_NAME, name);
	put_track(writer, uuid(TRACK_OF_PROCESS, index + 1), 0, NULL);
	proto_message(&writer->event, TRACK_PROCESS, &writer->sub);
	end_track(writer);
}

static void put_thread(struct writer *writer, const struct walk_thread *thread)
{
	const struct session *session = writer->walk->session;
	const struct walk_process *process =
		&g_array_index(writer->walk->processes, struct walk_process, thread->process);
	int32_t tid = model_thread(&session->trace.model, thread->thread)->tid;

	proto_begin(&writer->sub);
	proto_uint(&writer->sub, THREAD_PID,
		   (uint64_t) walk_unique_id(process->host, process->pid));
	proto_uint(&writer->sub, THREAD_TID, (uint64_t) walk_unique_id(process->host, tid));
	proto_text(&writer->sub, THREAD_NAME, session_thread_name(session, thread->thread));
	put_track(writer, uuid(TRACK_OF_THREAD, thread->number),
		  uuid(TRACK_OF_PROCESS, thread->process + 1), NULL);
	proto_message(&writer->event, TRACK_THREAD, &writer->sub);
	end_track(writer);
}

/* --- what ------------------------------------------------------------------- */

/* The number of a text; if it is new, the packet brings it. */
static uint64_t interned(struct writer *writer, enum interned kind, const char *text)
{
	GHashTable *table = writer->interned[kind];
	struct proto entry = {0};
	guint number;

	if (!table)
		table = writer->interned[kind] =
			g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	number = GPOINTER_TO_UINT(g_hash_table_lookup(table, text));
	if (number)
		return number;
	number = g_hash_table_size(table) + 1;
	g_hash_table_insert(table, g_strdup(text), GUINT_TO_POINTER(number));
	proto_uint(&entry, INTERNED_ID, number);
	proto_text(&entry, INTERNED_TEXT, text);
	proto_message(&writer->fresh, kind, &entry);
	proto_clear(&entry);
	return number;
}

static void event_begin(struct writer *writer, unsigned type, uint64_t track)
{
	proto_begin(&writer->fresh);
	proto_begin(&writer->event);
	proto_uint(&writer->event, EVENT_TYPE, type);
	proto_uint(&writer->event, EVENT_TRACK, track);
}

static void event_named(struct writer *writer, const char *category, const char *name)
{
	proto_uint(&writer->event, EVENT_CATEGORY, interned(writer, INTERNED_CATEGORIES, category));
	proto_uint(&writer->event, EVENT_NAME, interned(writer, INTERNED_NAMES, name));
}

static void annotate(struct writer *writer, const char *key, const char *text)
{
	proto_begin(&writer->sub);
	proto_uint(&writer->sub, ANNOTATION_NAME, interned(writer, INTERNED_KEYS, key));
	proto_text(&writer->sub, ANNOTATION_TEXT, text);
	proto_message(&writer->event, EVENT_ANNOTATION, &writer->sub);
}

static void annotate_number(struct writer *writer, const char *key, int64_t number)
{
	proto_begin(&writer->sub);
	proto_uint(&writer->sub, ANNOTATION_NAME, interned(writer, INTERNED_KEYS, key));
	proto_uint(&writer->sub, ANNOTATION_INT, (uint64_t) number);
	proto_message(&writer->event, EVENT_ANNOTATION, &writer->sub);
}

static void event_end(struct writer *writer, int64_t time)
{
	proto_uint(&writer->packet, PACKET_TIMESTAMP, (uint64_t) time);
	proto_uint(&writer->packet, PACKET_FLAGS, FLAGS_NEEDS_STATE);
	if (writer->fresh.used)
		proto_message(&writer->packet, PACKET_INTERNED, &writer->fresh);
	proto_message(&writer->packet, PACKET_TRACK_EVENT, &writer->event);
	put_packet(writer);
}

static void slice_end(struct writer *writer, uint64_t track, int64_t time)
{
	event_begin(writer, TYPE_END, track);
	event_end(writer, time);
}

static void on_run(const struct walk *walk, uint16_t host, uint32_t cpu, int64_t begin, int64_t end,
		   uint32_t thread, void *data)
{
	struct writer *writer = data;
	uint64_t track = uuid(TRACK_OF_CPU, (uint64_t) host << 32 | cpu);

	event_begin(writer, TYPE_BEGIN, track);
	event_named(writer, thread == IDLE_THREAD ? "idle" : "cpu",
		    run_name(walk->session, thread));
	if (is_thread(thread)) {
		const struct thread *life = model_thread(&walk->session->trace.model, thread);

		annotate_number(writer, "tid", life->tid);
		if (thread_process(life) >= 0)
			annotate_number(writer, "pid", thread_process(life));
	}
	event_end(writer, begin);
	slice_end(writer, track, end);
}

static uint64_t track_of_current(const struct walk *walk)
{
	return uuid(TRACK_OF_THREAD, walk->current->number);
}

static void on_enter(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	struct writer *writer = data;

	event_begin(writer, TYPE_BEGIN, track_of_current(walk));
	event_named(writer, walk_frame_kind(frame), walk_frame_name(walk->session, frame));
	if (frame->resource)
		annotate(writer, "on", session_text(walk->session, frame->resource));
	if (frame->entered == NOT_SEEN)
		annotate(writer, "entry", "not seen");
	if (frame->left == NOT_SEEN)
		annotate(writer, "exit", "not seen");
	event_end(writer, frame->begin);
}

static void on_leave(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	slice_end(data, track_of_current(walk), frame->end);
}

/* An arrow for which the state that it leads to is not written: --min-duration, or the window's
 * end. It ends in an instant. */
static void end_flow(struct writer *writer, const struct walk *walk)
{
	if (!writer->flow_due)
		return;
	event_begin(writer, TYPE_INSTANT, track_of_current(walk));
	event_named(writer, "wakeup", "woken");
	proto_fixed64(&writer->event, EVENT_FLOW_END, writer->flow_due);
	event_end(writer, writer->flow_time);
	writer->flow_due = 0;
}

static void on_state(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct writer *writer = data;
	uint32_t name = state_name(&writer->states, state);

	if (writer->flow_time != state->span.begin)
		end_flow(writer, walk);
	event_begin(writer, TYPE_BEGIN, track_of_current(walk));
	event_named(writer, state_category(state), session_text(walk->session, name));
	if (state->block) {
		struct cause cause = walk_cause(walk, state);
		g_autofree char *words = cause_words(&cause);

		annotate(writer, "cause", cause_kind_text(cause.kind));
		annotate(writer, "certainty", cause.inferred ? "inferred" : "seen");
		annotate(writer, "why", words);
		cause_clear(&cause);
	}
	if (state->spans_gap)
		annotate(writer, "lost events", "it may not be real");
	if (writer->flow_due)
		proto_fixed64(&writer->event, EVENT_FLOW_END, writer->flow_due);
	writer->flow_due = 0;
	event_end(writer, state->span.begin);
	slice_end(writer, track_of_current(walk), state->span.end);
	if (!leaf_is_off_cpu(state->span.leaf) && leaf_wib(state->span.leaf) != WIB_UNKNOWN)
		sample_moments_add(&writer->moments, &state->span);
}

/* The instant where the arrow begins. */
static void put_waker(struct writer *writer, const struct walk *walk, const struct walk_wake *wake)
{
	uint64_t track = wake->waker ? uuid(TRACK_OF_THREAD, wake->waker)
				     : uuid(TRACK_OF_CPU, (uint64_t) wake->host << 32 | wake->cpu);
	g_autofree char *context = wake_context(walk->session, wake->block);
	g_autofree char *name =
		g_strconcat("wakes ", run_name(walk->session, walk->current->thread), NULL);

	event_begin(writer, TYPE_INSTANT, track);
	event_named(writer, "wakeup", name);
	annotate(writer, "in", context);
	if (!wake->waker)
		annotate(writer, "current", run_name(walk->session, wake->block->waker));
	proto_fixed64(&writer->event, EVENT_FLOW, wake->number);
	event_end(writer, wake->time);
}

static void on_wake(const struct walk *walk, const struct walk_wake *wake, void *data)
{
	struct writer *writer = data;

	end_flow(writer, walk);
	if (!walk_wake_is_known(wake))
		return;
	put_waker(writer, walk, wake);
	writer->flow_due = wake->number;
	writer->flow_time = wake->time;
}

/* --- samples ---------------------------------------------------------------- */

/* A file whose code ran. It has the number of its path. */
static uint64_t mapping_number(struct writer *writer, const char *path)
{
	GHashTable *known = writer->interned[INTERNED_PATHS];
	bool fresh = !known || !g_hash_table_contains(known, path);
	uint64_t number = interned(writer, INTERNED_PATHS, path);

	if (fresh) {
		proto_begin(&writer->sub);
		proto_uint(&writer->sub, INTERNED_ID, number);
		proto_uint(&writer->sub, MAPPING_PATH, number);
		proto_message(&writer->fresh, INTERNED_MAPPINGS, &writer->sub);
	}
	return number;
}

static uint64_t frame_number(struct writer *writer, const struct sample_frame *frame)
{
	const struct code_function *function =
		sample_function(writer->walk->session, frame->function);
	uint64_t key =
		(uint64_t) frame->function << 33 | (uint64_t) frame->inferred << 32 | frame->line;
	uint64_t name, mapping, source = 0;
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(writer->frames, &key));

	if (number)
		return number;
	number = g_hash_table_size(writer->frames) + 1;
	g_hash_table_insert(writer->frames, g_memdup2(&key, sizeof key), GUINT_TO_POINTER(number));
	name = interned(writer, INTERNED_FUNCTIONS,
			session_text(writer->walk->session,
				     sample_frame_name(writer->walk->session, frame)));
	mapping = mapping_number(writer, function->kernel   ? "[kernel]"
					 : function->binary ? function->binary
							    : UNKNOWN_FUNCTION);
	if (function->file)
		source = interned(writer, INTERNED_SOURCES, function->file);
	proto_begin(&writer->sub);
	proto_uint(&writer->sub, INTERNED_ID, number);
	proto_uint(&writer->sub, FRAME_FUNCTION, name);
	proto_uint(&writer->sub, FRAME_MAPPING, mapping);
	proto_uint(&writer->sub, FRAME_ADDRESS, 0); /* it has a name: nobody looks it up */
	if (source)
		proto_uint(&writer->sub, FRAME_SOURCE, source);
	if (source && frame->line)
		proto_uint(&writer->sub, FRAME_LINE, frame->line);
	proto_message(&writer->fresh, INTERNED_FRAMES, &writer->sub);
	return number;
}

static uint64_t stack_number(struct writer *writer, const struct sample_stack *stack)
{
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(writer->stacks, stack));
	struct proto entry = {0};

	if (number)
		return number;
	number = g_hash_table_size(writer->stacks) + 1;
	g_hash_table_insert(writer->stacks, (gpointer) stack, GUINT_TO_POINTER(number));
	proto_uint(&entry, INTERNED_ID, number);
	for (guint i = stack->frames->len; i-- > 0;)
		proto_uint(&entry, STACK_FRAME,
			   frame_number(writer,
					&g_array_index(stack->frames, struct sample_frame, i)));
	proto_message(&writer->fresh, INTERNED_STACKS, &entry);
	proto_clear(&entry);
	return number;
}

static void put_sample(struct writer *writer, const struct walk_thread *thread,
		       const struct sample_moment *moment)
{
	const struct session *session = writer->walk->session;
	const struct walk_process *process =
		&g_array_index(writer->walk->processes, struct walk_process, thread->process);
	int32_t tid = model_thread(&session->trace.model, thread->thread)->tid;
	uint32_t innermost = g_array_index(moment->stack->frames, struct sample_frame, 0).function;

	proto_begin(&writer->fresh);
	proto_begin(&writer->event);
	proto_uint(&writer->event, SAMPLE_PID,
		   (uint64_t) walk_unique_id(process->host, process->pid));
	proto_uint(&writer->event, SAMPLE_TID, (uint64_t) walk_unique_id(process->host, tid));
	proto_uint(&writer->event, SAMPLE_STACK, stack_number(writer, moment->stack));
	proto_uint(&writer->event, SAMPLE_MODE,
		   sample_function(session, innermost)->kernel ? MODE_KERNEL : MODE_USER);
	proto_uint(&writer->packet, PACKET_TIMESTAMP, (uint64_t) moment->time);
	proto_uint(&writer->packet, PACKET_FLAGS, FLAGS_NEEDS_STATE);
	if (writer->fresh.used)
		proto_message(&writer->packet, PACKET_INTERNED, &writer->fresh);
	proto_message(&writer->packet, PACKET_SAMPLE, &writer->event);
	put_packet(writer);
}

static void on_thread_begin(const struct walk *walk, const struct walk_thread *thread, void *data)
{
	sample_moments_init(&((struct writer *) data)->moments, walk->session, thread->thread);
}

static void on_thread_end(const struct walk *walk, const struct walk_thread *thread, void *data)
{
	struct writer *writer = data;

	end_flow(writer, walk);
	sample_moments_end(&writer->moments);
	for (guint i = 0; i < writer->moments.list->len; i++) {
		const struct sample_moment *moment =
			&g_array_index(writer->moments.list, struct sample_moment, i);

		if (moment->stack)
			put_sample(writer, thread, moment);
	}
	sample_moments_clear(&writer->moments);
}

bool export_perfetto(struct walk *walk, FILE *file, GError **error)
{
	static const struct walk_visitor visitor = {
		.run = on_run,
		.thread_begin = on_thread_begin,
		.enter = on_enter,
		.state = on_state,
		.wake = on_wake,
		.leave = on_leave,
		.thread_end = on_thread_end};
	struct writer writer = {.walk = walk, .file = file};

	(void) error;
	state_names_init(&writer.states, walk->session);
	writer.frames = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	writer.stacks = g_hash_table_new(NULL, NULL);
	put_start(&writer);
	put_cpus(&writer);
	for (guint i = 0; i < walk->processes->len; i++)
		put_process(&writer, i);
	for (guint i = 0; i < walk->threads->len; i++)
		put_thread(&writer, &g_array_index(walk->threads, struct walk_thread, i));
	walk_all(walk, &visitor, &writer);
	for (int i = 0; i < INTERNED_KINDS; i++)
		g_clear_pointer(&writer.interned[i], g_hash_table_destroy);
	g_hash_table_destroy(writer.frames);
	g_hash_table_destroy(writer.stacks);
	state_names_clear(&writer.states);
	proto_clear(&writer.packet);
	proto_clear(&writer.event);
	proto_clear(&writer.sub);
	proto_clear(&writer.fresh);
	return true;
}
