/* SPDX-License-Identifier: MIT */
/* speedscope's file format: one evented profile for each thread, in which
 * system calls, functions and states are frames; behind it, where the thread has
 * samples, a sampled one of what ran, whose weights are the time that each stands for.
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
#include "samples/sample_moments.h"
#include "waits/state_names.h"

/* One of the frames that profiles name by number. */
struct shared_frame {
	uint32_t name;    /* interned */
	const char *file; /* borrowed; NULL: not known */
};

struct writer {
	const struct walk *walk; /* borrowed */
	FILE *file;
	struct state_names states;
	GHashTable *numbers;     /* owned; interned name -> number, from 1 */
	GHashTable *functions;   /* owned; sampled function + 1 -> the same */
	GArray *frames;          /* owned; struct shared_frame, by number - 1 */
	struct sample_moments moments; /* of the thread at hand */
	uint32_t profiles;       /* written so far */
	uint64_t events;         /* of the thread at hand */
	uint64_t most;           /* … of the busiest one so far, … */
	uint32_t busiest;        /* … and its place in the file */
	bool *tracers; /* owned; by thread: the recorder's own, which nobody looks for */
};

static uint32_t number_in(struct writer *writer, GHashTable *numbers, uint32_t id,
			  struct shared_frame frame)
{
	gpointer key = GUINT_TO_POINTER(id);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(numbers, key));

	if (!number) {
		g_array_append_val(writer->frames, frame);
		number = writer->frames->len;
		g_hash_table_insert(numbers, key, GUINT_TO_POINTER(number));
	}
	return number - 1;
}

static uint32_t number_of(struct writer *writer, uint32_t name)
{
	return number_in(writer, writer->numbers, name, (struct shared_frame) {name, NULL});
}

static void event(struct writer *writer, char type, uint32_t name, int64_t time)
{
	fprintf(writer->file, "%s{\"type\":\"%c\",\"frame\":%" PRIu32 ",\"at\":%" PRId64 "}",
		writer->events++ ? ",\n" : "\n", type, number_of(writer, name),
		time - writer->walk->session->trace.begin);
}

/* "copier (273), process sampled (273)" */
static char *profile_name(const struct walk *walk, const struct walk_thread *thread)
{
	const struct session *session = walk->session;
	const struct walk_process *process =
		&g_array_index(walk->processes, struct walk_process, thread->process);

	return g_strdup_printf("%s (%d)%s, process %s (%d)",
			       session_thread_name(session, thread->thread),
			       model_thread(&session->trace.model, thread->thread)->tid,
			       session_on(session, thread->thread),
			       session_text(session, process->name), process->pid);
}

static void begin_profile(struct writer *writer, const char *type, const char *name, int64_t begin,
			  int64_t end)
{
	fprintf(writer->file, "%s\n{\"type\":\"%s\",\"name\":", writer->profiles++ ? "," : "",
		type);
	export_json_text(writer->file, name);
	fprintf(writer->file,
		",\"unit\":\"nanoseconds\",\"startValue\":%" PRId64 ",\"endValue\":%" PRId64, begin,
		end);
}

static void on_thread_begin(const struct walk *walk, const struct walk_thread *thread, void *data)
{
	struct writer *writer = data;
	g_autofree char *name = profile_name(walk, thread);

	begin_profile(writer, "evented", name, thread->begin - walk->session->trace.begin,
		      thread->end - walk->session->trace.begin);
	fputs(",\"events\":[", writer->file);
	writer->events = 0;
	sample_moments_init(&writer->moments, walk->session, thread->thread);
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
	if (!leaf_is_off_cpu(state->span.leaf) && leaf_wib(state->span.leaf) != WIB_UNKNOWN)
		sample_moments_add(&writer->moments, &state->span);
}

static void push_frames(struct writer *writer, GArray *stack, const GArray *frames, bool kernel)
{
	const struct session *session = writer->walk->session;

	for (guint i = frames->len; i-- > 0;) {
		const struct sample_frame *at = &g_array_index(frames, struct sample_frame, i);
		const struct code_function *of = sample_function(session, at->function);
		struct shared_frame frame = {sample_frame_name(session, at), of->file};
		uint32_t number;

		if (of->kernel != kernel)
			continue;
		number = number_in(writer, writer->functions, 2 * at->function + at->inferred + 1,
				   frame);
		g_array_append_val(stack, number);
	}
}

/* Outermost first: user space's functions, the state, which says in which call, the kernel's. */
static void put_stack(struct writer *writer, const struct sample_moment *moment)
{
	const struct session *session = writer->walk->session;
	g_autofree char *key = leaf_key(session, moment->leaf);
	uint32_t state = number_of(writer, intern_id(session->trace.model.names, key));
	GArray *stack = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	if (moment->stack)
		push_frames(writer, stack, moment->stack->frames, false);
	g_array_append_val(stack, state);
	if (moment->stack) {
		push_frames(writer, stack, moment->stack->frames, true);
	} else {
		uint32_t none =
			number_of(writer, intern_id(session->trace.model.names, "(no sample)"));

		g_array_append_val(stack, none);
	}
	for (guint i = 0; i < stack->len; i++)
		fprintf(writer->file, "%s%" PRIu32, i ? "," : "[",
			g_array_index(stack, uint32_t, i));
	fputc(']', writer->file);
	g_array_free(stack, TRUE);
}

/* What ran on the thread, if samples tell. */
static void put_sampled(struct writer *writer, const struct walk_thread *thread)
{
	const GArray *list = writer->moments.list;
	g_autofree char *of = NULL, *name = NULL;
	int64_t sum = 0;

	if (!list->len || !g_array_index(list, struct sample_moment, 0).stack)
		return;
	of = profile_name(writer->walk, thread);
	name = g_strconcat(of, ": samples of what ran", NULL);
	for (guint i = 0; i < list->len; i++)
		sum += g_array_index(list, struct sample_moment, i).ns;
	begin_profile(writer, "sampled", name, 0, sum);
	fputs(",\"samples\":[", writer->file);
	for (guint i = 0; i < list->len; i++) {
		fputs(i ? ",\n" : "\n", writer->file);
		put_stack(writer, &g_array_index(list, struct sample_moment, i));
	}
	fputs("],\"weights\":[", writer->file);
	for (guint i = 0; i < list->len; i++)
		fprintf(writer->file, "%s%" PRId64, i ? "," : "",
			g_array_index(list, struct sample_moment, i).ns);
	fputs("]}", writer->file);
}

static void on_thread_end(const struct walk *walk, const struct walk_thread *thread, void *data)
{
	struct writer *writer = data;

	(void) walk;
	fputs("]}", writer->file);
	if (writer->events > writer->most && !writer->tracers[thread->thread]) {
		writer->most = writer->events;
		writer->busiest = writer->profiles - 1;
	}
	sample_moments_end(&writer->moments);
	put_sampled(writer, thread);
	sample_moments_clear(&writer->moments);
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
				.functions = g_hash_table_new(NULL, NULL),
				.frames = g_array_new(FALSE, FALSE, sizeof(struct shared_frame)),
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
	for (guint i = 0; i < writer.frames->len; i++) {
		const struct shared_frame *frame =
			&g_array_index(writer.frames, struct shared_frame, i);

		fputs(i ? ",\n{\"name\":" : "\n{\"name\":", file);
		export_json_text(file, session_text(walk->session, frame->name));
		if (frame->file) {
			fputs(",\"file\":", file);
			export_json_text(file, frame->file);
		}
		fputc('}', file);
	}
	fputs("]}}\n", file);
	g_hash_table_destroy(writer.numbers);
	g_hash_table_destroy(writer.functions);
	g_array_free(writer.frames, TRUE);
	g_free(writer.tracers);
	state_names_clear(&writer.states);
	return true;
}
