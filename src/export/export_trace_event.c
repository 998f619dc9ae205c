/* SPDX-License-Identifier: MIT */
/* The Trace Event Format (JSON) of chrome://tracing, Perfetto and Trace Compass.
 *
 * Part of export/. The same content as export_perfetto.c: begin and end (ph B, E)
 * of frames, states and the runs of CPUs, which are the threads of a process
 * "CPUs"; a wake-up is a slice of no length (ph X) on the waker's thread, or its
 * CPU, with the begin of an arrow (ph s), which ends (ph f) where the woken thread is
 * ready. `ts` is in µs with three decimals, from the trace's begin, as doubles do not
 * hold ns since 1970; otherData says when that was.
 *
 * No complete events (ph X) for what has a length: states follow each other
 * without a gap, and readers that add ts and dur as doubles take every second one to
 * begin before the last has ended, and so for nested in it.
 *
 * Source: "Trace Event Format" (Google, 2016).
 */
#include "export/export_formats.h"
#include "export/export_names.h"

#include <inttypes.h>

#include "config.h"
#include "report/report.h"

struct writer {
	const struct walk *walk; /* borrowed */
	FILE *file;
	struct state_names states;
	bool any;
};

#define CPUS_PID 0 /* nobody else has it: TID 0 is the idle thread */

static int64_t pid_of(const struct walk *walk, const struct walk_thread *thread)
{
	const struct walk_process *process =
		&g_array_index(walk->processes, struct walk_process, thread->process);

	return walk_unique_id(process->host, process->pid);
}

static int64_t tid_of(const struct walk *walk, const struct walk_thread *thread)
{
	const struct thread *life = model_thread(&walk->session->trace.model, thread->thread);

	return walk_unique_id(life->host, life->tid);
}

static void put_number(FILE *file, const char *before, int64_t number)
{
	char digits[TEXT_DECIMAL];

	fputs(before, file);
	fputs(text_decimal(digits, number), file);
}

static void begin_event(struct writer *writer, char phase, int64_t pid, int64_t tid)
{
	fputs(writer->any ? ",\n{\"ph\":\"" : "\n{\"ph\":\"", writer->file);
	fputc(phase, writer->file);
	put_number(writer->file, "\",\"pid\":", pid);
	put_number(writer->file, ",\"tid\":", tid);
	writer->any = true;
}

static void put_text(struct writer *writer, const char *key, const char *text)
{
	fputs(",\"", writer->file);
	fputs(key, writer->file);
	fputs("\":", writer->file);
	export_json_text(writer->file, text);
}

static void put_time(struct writer *writer, int64_t time)
{
	int64_t ns = time - writer->walk->session->trace.begin, rest = ns % 1000;

	put_number(writer->file, ",\"ts\":", ns / 1000); /* in µs */
	put_number(writer->file, rest < 10 ? ".00" : rest < 100 ? ".0" : ".", rest);
}

/* Its arguments, if any, and a brace are still to come. */
static void slice_begin(struct writer *writer, char phase, int64_t pid, int64_t tid,
			const char *category, const char *name, int64_t time)
{
	begin_event(writer, phase, pid, tid);
	put_text(writer, "cat", category);
	put_text(writer, "name", name);
	put_time(writer, time);
}

/* The name is not needed, but some readers find what ends by it; and some keep only the arguments
 * of ends, so these are the begin's. They and a brace are still to come. */
static void slice_end(struct writer *writer, int64_t pid, int64_t tid, const char *name,
		      int64_t time)
{
	begin_event(writer, 'E', pid, tid);
	put_text(writer, "name", name);
	put_time(writer, time);
}

static void arrow(struct writer *writer, char phase, int64_t pid, int64_t tid, uint32_t number,
		  int64_t time)
{
	begin_event(writer, phase, pid, tid);
	fprintf(writer->file, ",\"cat\":\"wakeup\",\"name\":\"wakeup\",\"id\":%" PRIu32, number);
	put_time(writer, time);
	fputs(phase == 'f' ? ",\"bp\":\"e\"}" : "}", writer->file);
}

/* "process_name", "thread_name" */
static void metadata(struct writer *writer, const char *what, int64_t pid, int64_t tid,
		     const char *name)
{
	begin_event(writer, 'M', pid, tid);
	put_text(writer, "name", what);
	fputs(",\"args\":{\"name\":", writer->file);
	export_json_text(writer->file, name);
	fputs("}}", writer->file);
}

static void put_names(struct writer *writer)
{
	const struct walk *walk = writer->walk;
	const struct session *session = walk->session;
	bool several = session->trace.model.hosts->len > 1;

	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		const struct host *host = model_host(&session->trace.model, h);
		int64_t pid = walk_unique_id((uint16_t) h, CPUS_PID);
		g_autofree char *name =
			g_strconcat("CPUs", several ? " of " : "",
				    several ? trace_host_name(&session->trace, h) : "", NULL);

		metadata(writer, "process_name", pid, pid, name);
		for (guint i = 0; i < host->cpus->len; i++) {
			const struct cpu *cpu = g_ptr_array_index(host->cpus, i);
			g_autofree char *of = g_strdup_printf("CPU %u", cpu->id);

			metadata(writer, "thread_name", pid, pid + cpu->id, of);
		}
	}
	for (guint i = 0; i < walk->processes->len; i++) {
		const struct walk_process *process =
			&g_array_index(walk->processes, struct walk_process, i);
		int64_t pid = walk_unique_id(process->host, process->pid);
		g_autofree char *name =
			g_strconcat(session_text(session, process->name), several ? " on " : "",
				    several ? trace_host_name(&session->trace, process->host) : "",
				    NULL);

		metadata(writer, "process_name", pid, pid, name);
	}
	for (guint i = 0; i < walk->threads->len; i++) {
		const struct walk_thread *thread =
			&g_array_index(walk->threads, struct walk_thread, i);

		metadata(writer, "thread_name", pid_of(walk, thread), tid_of(walk, thread),
			 session_thread_name(session, thread->thread));
	}
}

static void put_run_arguments(struct writer *writer, uint32_t thread)
{
	if (is_thread(thread))
		fprintf(writer->file, ",\"args\":{\"tid\":%d}",
			model_thread(&writer->walk->session->trace.model, thread)->tid);
	fputc('}', writer->file);
}

static void on_run(const struct walk *walk, uint16_t host, uint32_t cpu, int64_t begin, int64_t end,
		   uint32_t thread, void *data)
{
	struct writer *writer = data;
	int64_t pid = walk_unique_id(host, CPUS_PID);

	slice_begin(writer, 'B', pid, pid + cpu, thread == IDLE_THREAD ? "idle" : "cpu",
		    run_name(walk->session, thread), begin);
	put_run_arguments(writer, thread);
	slice_end(writer, pid, pid + cpu, run_name(walk->session, thread), end);
	put_run_arguments(writer, thread);
}

static void put_frame_arguments(struct writer *writer, const struct walk_frame *frame)
{
	const char *between = ",\"args\":{";

	if (frame->resource) {
		fputs(",\"args\":{\"on\":", writer->file);
		export_json_text(writer->file,
				 session_text(writer->walk->session, frame->resource));
		between = ",";
	}
	if (frame->entered == NOT_SEEN) {
		fprintf(writer->file, "%s\"entry\":\"not seen\"", between);
		between = ",";
	}
	if (frame->left == NOT_SEEN) {
		fprintf(writer->file, "%s\"exit\":\"not seen\"", between);
		between = ",";
	}
	fputs(between[1] ? "}" : "}}", writer->file);
}

static void on_enter(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	struct writer *writer = data;

	slice_begin(writer, 'B', pid_of(walk, walk->current), tid_of(walk, walk->current),
		    walk_frame_kind(frame), walk_frame_name(walk->session, frame), frame->begin);
	put_frame_arguments(writer, frame);
}

static void on_leave(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	struct writer *writer = data;

	slice_end(writer, pid_of(walk, walk->current), tid_of(walk, walk->current),
		  walk_frame_name(walk->session, frame), frame->end);
	put_frame_arguments(writer, frame);
}

/* What a wait was for, in both of its events. */
static char *cause_arguments(const struct walk *walk, const struct walk_state *state)
{
	struct cause cause = walk_cause(walk, state);
	g_autofree char *words = cause_words(&cause), *why = export_json_quoted(words),
			*text = NULL;

	text = g_strdup_printf(",\"args\":{\"cause\":\"%s\",\"certainty\":\"%s\",\"why\":%s%s}",
			       cause_kind_text(cause.kind), cause.inferred ? "inferred" : "seen",
			       why,
			       state->spans_gap ? ",\"lost events\":\"it may not be real\"" : "");
	cause_clear(&cause);
	return g_steal_pointer(&text);
}

static void on_state(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct writer *writer = data;
	const char *name = session_text(walk->session, state_name(&writer->states, state));
	int64_t pid = pid_of(walk, walk->current), tid = tid_of(walk, walk->current);
	g_autofree char *arguments =
		state->block       ? cause_arguments(walk, state)
		: state->spans_gap ? g_strdup(",\"args\":{\"lost events\":\"it may not be real\"}")
				   : g_strdup("");

	slice_begin(writer, 'B', pid, tid, state_category(state), name, state->span.begin);
	fprintf(writer->file, "%s}", arguments);
	slice_end(writer, pid, tid, name, state->span.end);
	fprintf(writer->file, "%s}", arguments);
}

static void on_wake(const struct walk *walk, const struct walk_wake *wake, void *data)
{
	struct writer *writer = data;
	const struct walk_thread *waker =
		wake->waker ? &g_array_index(walk->threads, struct walk_thread, wake->waker - 1)
			    : NULL;
	int64_t cpus = walk_unique_id(wake->host, CPUS_PID);
	int64_t pid = waker ? pid_of(walk, waker) : cpus;
	int64_t tid = waker ? tid_of(walk, waker) : cpus + wake->cpu;
	g_autofree char *context = wake_context(walk->session, wake->block);
	g_autofree char *name =
		g_strconcat("wakes ", run_name(walk->session, walk->current->thread), NULL);

	if (!walk_wake_is_known(wake))
		return;
	slice_begin(writer, 'X', pid, tid, "wakeup", name, wake->time);
	fputs(",\"dur\":0,\"args\":{\"in\":", writer->file);
	export_json_text(writer->file, context);
	if (!waker) {
		fputs(",\"current\":", writer->file);
		export_json_text(writer->file, run_name(walk->session, wake->block->waker));
	}
	fputs("}}", writer->file);
	arrow(writer, 's', pid, tid, wake->number, wake->time);
	arrow(writer, 'f', pid_of(walk, walk->current), tid_of(walk, walk->current), wake->number,
	      wake->time);
}

bool export_trace_event(struct walk *walk, FILE *file, GError **error)
{
	static const struct walk_visitor visitor = {.run = on_run,
						    .enter = on_enter,
						    .state = on_state,
						    .wake = on_wake,
						    .leave = on_leave};
	struct writer writer = {.walk = walk, .file = file};

	(void) error;
	state_names_init(&writer.states, walk->session);
	fputs("{\"traceEvents\":[", file);
	put_names(&writer);
	walk_all(walk, &visitor, &writer);
	fprintf(file,
		"\n],\n\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"tool\":\"whylate %s\","
		"\"begin_ns\":\"%" PRId64 "\"}}\n",
		PACKAGE_VERSION, walk->session->trace.begin);
	state_names_clear(&writer.states);
	return true;
}
