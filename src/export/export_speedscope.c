/* SPDX-License-Identifier: MIT */
/* speedscope's file format: one evented profile for each thread, in which
 * system calls, functions and states are frames.
 *
 * Part of export/. Times are ns from the trace's begin. The frames that the
 * events name by number are known only at the end, so they come last in the
 * file; a JSON object has no order. Source: file-format-spec.ts of speedscope
 * 1.x ("every opened frame must have a corresponding close, balanced"; `at` in
 * non-decreasing order).
 */
#include "export/export_formats.h"
#include "export/export_names.h"

#include <inttypes.h>

#include "config.h"

struct writer {
	const struct walk *walk; /* borrowed */
	FILE *file;
	struct state_names states;
	GHashTable *numbers;     /* owned; interned name -> number, from 1 */
	GArray *names;           /* owned; uint32_t interned, by number - 1 */
	uint64_t events;         /* of the thread at hand */
	uint64_t most;           /* … of the busiest one so far, … */
	uint32_t busiest;        /* … and its place in the file */
	bool *tracers; /* owned; by thread: the recorder's own, which nobody looks for */
};

static uint32_t number_of(struct writer *writer, uint32_t name)
{
	gpointer key = GUINT_TO_POINTER(name);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(writer->numbers, key));

	if (!number) {
		g_array_append_val(writer->names, name);
		number = writer->names->len;
		g_hash_table_insert(writer->numbers, key, GUINT_TO_POINTER(number));
	}
	return number - 1;
}

static void event(struct writer *writer, char type, uint32_t name, int64_t time)
{
	fprintf(writer->file, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}",
		writer->events++ ? ",\n" : "\n", type, number_of(writer, name),
		time - writer->walk->session->trace.begin);
}

static void on_thread_begin(const struct walk *walk, const struct walk_thread *thread, void *data)
{
	struct writer *writer = data;
	const struct session *session = walk->session;
	const struct walk_process *process =
		&g_array_index(walk->processes, struct walk_process, thread->process);
	g_autofree char *name = g_strdup_printf(
		"%s (%d)%s, process %s (%d)", session_thread_name(session, thread->thread),
		model_thread(&session->trace.model, thread->thread)->tid,
		session_on(session, thread->thread), session_text(session, process->name),
		process->pid);

	fprintf(writer->file, "%s\n{\"type\":\"evented\",\"name\":", thread->number > 1 ? "," : "");
	export_json_text(writer->file, name);
	fprintf(writer->file,
		",\"unit\":\"nanoseconds\",\"startValue\":%" PRId64 ",\"endValue\":%" PRId64
		",\"events\":[",
		thread->begin - session->trace.begin, thread->end - session->trace.begin);
	writer->events = 0;
}

static void on_enter(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	(void) walk;
	event(data, 'O', PACK_NUMBER(frame->what), frame->begin);
}

static void on_leave(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	(void) walk;
	event(data, 'C', PACK_NUMBER(frame->what), frame->end);
}

static void on_state(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct writer *writer = data;
	uint32_t name = state_name(&writer->states, state);

	(void) walk;
	event(writer, 'O', name, state->span.begin);
	event(writer, 'C', name, state->span.end);
}

static void on_thread_end(const struct walk *walk, const struct walk_thread *thread, void *data)
{
	struct writer *writer = data;

	(void) walk;
	fputs("]}", writer->file);
	if (writer->events <= writer->most || writer->tracers[thread->thread])
		return;
	writer->most = writer->events;
	writer->busiest = thread->number - 1;
}

bool export_speedscope(struct walk *walk, FILE *file, GError **error)
{
	static const struct walk_visitor visitor = {.thread_begin = on_thread_begin,
						    .enter = on_enter,
						    .state = on_state,
						    .leave = on_leave,
						    .thread_end = on_thread_end};
	struct writer writer = {.walk = walk,
				.file = file,
				.numbers = g_hash_table_new(NULL, NULL),
				.names = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
				.tracers = session_tracers(walk->session)};

	(void) error;
	state_names_init(&writer.states, walk->session);
	fprintf(file,
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\":\"whylate %s\",\n\"name\":",
		PACKAGE_VERSION);
	export_json_text(file, trace_host_name(&walk->session->trace, 0));
	fputs(",\n\"profiles\":[", file);
	walk_all(walk, &visitor, &writer);
	/* what is shown first: most of a system's threads sleep */
	fprintf(file, "\n],\n\"activeProfileIndex\":%" PRIu32 ",\n\"shared\":{\"frames\":[",
		writer.busiest);
	for (guint i = 0; i < writer.names->len; i++) {
		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", file);
		export_json_text(file, session_text(walk->session,
						    g_array_index(writer.names, uint32_t, i)));
		fputc('}', file);
	}
	fputs("]}}\n", file);
	g_hash_table_destroy(writer.numbers);
	g_array_free(writer.names, TRUE);
	g_free(writer.tracers);
	state_names_clear(&writer.states);
	return true;
}
