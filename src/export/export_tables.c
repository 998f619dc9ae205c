/* SPDX-License-Identifier: MIT */
/* Rows of the tables; see export_tables.h. */
#include "export/export_tables.h"

#include <inttypes.h>

#include "event/results.h"
#include "latencies/operations.h"
#include "waits/summary.h"
#include "symbols/symbols.h"
#include "export/export_names.h"
#include "ready/runners.h"
#include "report/report.h"
#include "samples/counter_sums.h"
#include "waits/state_names.h"
#include "whatif/hinge.h"

#define KEY "INTEGER PRIMARY KEY"
#define INT "INTEGER NOT NULL"
#define MAYBE "INTEGER"
#define TEXT "TEXT NOT NULL"
#define THREAD "INTEGER NOT NULL REFERENCES threads"

static const struct export_column hosts[] = {{"host", KEY},          {"hostname", "TEXT"},
					     {"kernel", "TEXT"},     {"tracer", "TEXT"},
					     {"cpus", INT},          {"begin", INT},
					     {"end", INT},           {"clock_offset", INT},
					     {"clock_error", MAYBE}, {0}};
static const struct export_column threads[] = {
	{"thread", KEY},
	{"host", "INTEGER NOT NULL REFERENCES hosts"},
	{"tid", INT},
	{"pid", MAYBE},
	{"name", TEXT},
	{"process", TEXT},
	{"kernel", INT},
	{"parent", "INTEGER REFERENCES threads"},
	{"begin", INT},
	{"end", INT},
	{0}};
static const struct export_column intervals[] = {
	{"interval", KEY},  {"thread", THREAD},
	{"begin", INT},     {"end", INT},
	{"ns", INT},        {"state", TEXT},
	{"leaf", TEXT},     {"cpu", MAYBE},
	{"object", "TEXT"}, {"block", "INTEGER REFERENCES blocks"},
	{"spans_gap", INT}, {0}};
static const struct export_column blocks[] = {
	{"block", KEY},        {"thread", THREAD},
	{"begin", INT},        {"end", INT},
	{"ns", INT},           {"leaf", TEXT},
	{"resource", "TEXT"},  {"fd", MAYBE},
	{"cause", TEXT},       {"certainty", TEXT},
	{"label", "TEXT"},     {"wakeup", "INTEGER REFERENCES wakeups"},
	{"callstack", "TEXT"}, {"spans_gap", INT},
	{"hinge", TEXT},       {"hinge_thread", "INTEGER REFERENCES threads"},
	{"hinge_time", MAYBE}, {0}};
static const struct export_column wakeups[] = {
	{"wakeup", KEY},
	{"time", INT},
	{"woken", THREAD},
	{"block", "INTEGER REFERENCES blocks"},
	{"kind", TEXT},
	{"context", TEXT},
	{"waker", "INTEGER REFERENCES threads"},
	{"waker_tid", MAYBE},
	{"waker_name", "TEXT"},
	{"cpu", MAYBE},
	{0}};
static const struct export_column syscalls[] = {
	{"syscall", KEY},      {"thread", THREAD},
	{"name", TEXT},        {"begin", INT},
	{"end", INT},          {"ns", MAYBE},
	{"resource", "TEXT"},  {"cpu", MAYBE},
	{"entry_seen", INT},   {"exit_seen", INT},
	{"return", MAYBE},     {"error", "TEXT"},
	{"arguments", "TEXT"}, {0}};

static const struct export_column runs[] = {
	{"run", KEY},
	{"host", "INTEGER NOT NULL REFERENCES hosts"},
	{"cpu", INT},
	{"begin", INT},
	{"end", INT},
	{"ns", INT},
	{"thread", "INTEGER REFERENCES threads"},
	{0}};
static const struct export_column counters[] = {
	{"thread", THREAD}, {"counter", TEXT}, {"count", INT}, {"runs", INT}, {"ns", INT}, {0}};
static const struct export_column counted_runs[] = {
	{"counted_run", KEY},
	{"thread", THREAD},
	{"begin", INT},
	{"end", INT},
	{"ns", INT},
	{"instructions", MAYBE},
	{"cycles", MAYBE},
	{"cache_misses", MAYBE},
	{"branch_misses", MAYBE},
	{0}};

const struct table_spec table_specs[TABLE_COUNT] = {
	[TABLE_HOSTS] = {"hosts", hosts},
	[TABLE_THREADS] = {"threads", threads},
	[TABLE_INTERVALS] = {"intervals", intervals},
	[TABLE_BLOCKS] = {"blocks", blocks},
	[TABLE_WAKEUPS] = {"wakeups", wakeups},
	[TABLE_SYSCALLS] = {"syscalls", syscalls},
	[TABLE_RUNS] = {"runs", runs},
	[TABLE_COUNTERS] = {"counters", counters},
	[TABLE_COUNTED_RUNS] = {"counted_runs", counted_runs}};

struct writer {
	const struct walk *walk;       /* borrowed */
	const struct row_sink *sink;   /* borrowed */
	int64_t intervals, blocks, syscalls, runs, counted_runs; /* rows so far */
	GHashTable *leaves;            /* owned; leaf -> its interned key */
	struct shapes *shapes;         /* owned; of calls' fields */
	GHashTable *callpaths;         /* owned; number of call stack -> interned "a;b;c" */
};

static bool wanted(const struct writer *writer, enum table table)
{
	return writer->sink->wanted & 1u << table;
}

static bool wanted_counts(const struct writer *writer)
{
	return wanted(writer, TABLE_COUNTERS) || wanted(writer, TABLE_COUNTED_RUNS);
}

static void integer(const struct writer *writer, enum table table, int64_t value)
{
	writer->sink->integer(table, value, writer->sink->data);
}

static void text(const struct writer *writer, enum table table, const char *value)
{
	writer->sink->text(table, value, writer->sink->data);
}

/* A number, or no value. */
static void number(const struct writer *writer, enum table table, int64_t value, bool known)
{
	if (known)
		writer->sink->integer(table, value, writer->sink->data);
	else
		writer->sink->none(table, writer->sink->data);
}

static void end(const struct writer *writer, enum table table)
{
	writer->sink->end(table, writer->sink->data);
}

static void times(const struct writer *writer, enum table table, int64_t from, int64_t to)
{
	integer(writer, table, from);
	integer(writer, table, to);
	integer(writer, table, to - from);
}

/* An interned text, or no value for 0. */
static void interned(const struct writer *writer, enum table table, uint32_t id)
{
	text(writer, table, id ? session_text(writer->walk->session, id) : NULL);
}

static void host_rows(const struct writer *writer)
{
	const struct model *model = &writer->walk->session->trace.model;

	for (guint i = 0; i < model->hosts->len && wanted(writer, TABLE_HOSTS); i++) {
		const struct host *host = model_host(model, i);

		integer(writer, TABLE_HOSTS, i);
		text(writer, TABLE_HOSTS, host->hostname);
		text(writer, TABLE_HOSTS, host->kernel);
		text(writer, TABLE_HOSTS, host->tracer);
		integer(writer, TABLE_HOSTS, host->cpus->len);
		integer(writer, TABLE_HOSTS, host->begin);
		integer(writer, TABLE_HOSTS, host->end);
		integer(writer, TABLE_HOSTS, host->clock.line.offset);
		number(writer, TABLE_HOSTS, host->clock.error, host->clock.error >= 0);
		end(writer, TABLE_HOSTS);
	}
}

static void thread_rows(const struct writer *writer)
{
	const struct walk *walk = writer->walk;
	const struct session *session = walk->session;

	for (guint i = 0; i < walk->threads->len && wanted(writer, TABLE_THREADS); i++) {
		const struct walk_thread *thread =
			&g_array_index(walk->threads, struct walk_thread, i);
		const struct thread *life = model_thread(&session->trace.model, thread->thread);
		uint32_t parent = is_thread(life->parent) ? walk->numbers[life->parent] : 0;

		integer(writer, TABLE_THREADS, thread->number);
		integer(writer, TABLE_THREADS, life->host);
		integer(writer, TABLE_THREADS, life->tid);
		number(writer, TABLE_THREADS, thread_process(life), thread_process(life) >= 0);
		text(writer, TABLE_THREADS, session_thread_name(session, thread->thread));
		interned(writer, TABLE_THREADS,
			 g_array_index(walk->processes, struct walk_process, thread->process).name);
		integer(writer, TABLE_THREADS, thread_is_kernel(&session->trace.model, life));
		number(writer, TABLE_THREADS, parent, parent != 0);
		integer(writer, TABLE_THREADS, thread->begin);
		integer(writer, TABLE_THREADS, thread->end);
		end(writer, TABLE_THREADS);
	}
}

static uint32_t leaf_text(struct writer *writer, uint32_t leaf)
{
	gpointer key = GUINT_TO_POINTER(leaf);
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(writer->leaves, key));

	if (!known) {
		g_autofree char *name = leaf_key(writer->walk->session, leaf);

		known = intern_id(writer->walk->session->trace.model.names, name);
		g_hash_table_insert(writer->leaves, key, GUINT_TO_POINTER(known));
	}
	return known;
}

/* The kernel's functions from the outermost in, with semicolons between; 0: none recorded. */
static uint32_t callpath(struct writer *writer, uint32_t callstack)
{
	const struct session *session = writer->walk->session;
	gpointer key = GUINT_TO_POINTER(callstack);
	guint known = GPOINTER_TO_UINT(g_hash_table_lookup(writer->callpaths, key)), count;
	g_autoptr(GPtrArray) names = NULL;
	g_autofree char *joined = NULL;
	uint64_t words[CALLSTACK_WORDS];

	if (!callstack || known)
		return known;
	count = callstack_words(&session->trace.flow.callstacks, callstack, words);
	names = callpath_new(session->found.symbols, words, count);
	g_ptr_array_add(names, NULL);
	joined = g_strjoinv(";", (char **) names->pdata);
	known = intern_id(session->trace.model.names, joined);
	g_hash_table_insert(writer->callpaths, key, GUINT_TO_POINTER(known));
	return known;
}

/* Who ran instead, or why nobody did; the device that interrupted; NULL. Free with g_free(). */
static char *interval_on(const struct session *session, uint32_t thread, const struct span *span)
{
	struct runners runners = {0};
	GString *words;

	switch (PACK_KIND(span->leaf)) {
	case LEAF_INT_IRQ:
		return span->ref ? g_strdup(session_text(session, span->ref)) : NULL;
	case LEAF_INT_SOFTIRQ:
	case LEAF_WORK_SOFTIRQ:
		return packet_words(session, thread, span->ref);
	case LEAF_PREEMPTED:
	case LEAF_WAIT_CPU:
		words = g_string_new(NULL);
		runners_add(&runners, session, thread, span);
		runners_append(&runners, words);
		runners_clear(&runners);
		return g_string_free(words, FALSE);
	default:
		return NULL;
	}
}

/* The state as people say it: ready is a state of its own in viewers, and so it is here. */
static void interval_row(struct writer *writer, const struct walk_state *state)
{
	uint32_t kind = PACK_KIND(state->span.leaf);
	bool ready = kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU;
	g_autofree char *on = NULL;

	writer->intervals++;
	if (!wanted(writer, TABLE_INTERVALS))
		return;
	on = interval_on(writer->walk->session, writer->walk->current->thread, &state->span);
	integer(writer, TABLE_INTERVALS, writer->intervals);
	integer(writer, TABLE_INTERVALS, writer->walk->current->number);
	times(writer, TABLE_INTERVALS, state->span.begin, state->span.end);
	text(writer, TABLE_INTERVALS, state_category(state));
	interned(writer, TABLE_INTERVALS, leaf_text(writer, state->span.leaf));
	number(writer, TABLE_INTERVALS, state->span.ref, ready && state->span.ref != NO_CPU);
	text(writer, TABLE_INTERVALS, on);
	number(writer, TABLE_INTERVALS, writer->blocks + 1, state->block != NULL);
	integer(writer, TABLE_INTERVALS, state->spans_gap);
	end(writer, TABLE_INTERVALS);
}

/* What the end of the wait moves with, for whoever re-times the run himself. */
static void hinge_cells(const struct writer *writer, const struct walk_state *state)
{
	static const char *const names[] = {
		[KEEPS_LENGTH] = "length", [KEEPS_TIME] = "time", [FOLLOWS] = "thread"};
	const struct walk *walk = writer->walk;
	struct span span = state->span;
	struct wait wait;
	struct hinge hinge;

	span.begin = state->begin;
	wait = wait_of(walk->session, walk->current->thread, &span);
	hinge = hinge_of(walk->session, &wait, &span);
	text(writer, TABLE_BLOCKS, names[hinge.kind]);
	number(writer, TABLE_BLOCKS, hinge.kind == FOLLOWS ? walk->numbers[hinge.thread] : 0,
	       hinge.kind == FOLLOWS && walk->numbers[hinge.thread]);
	number(writer, TABLE_BLOCKS, hinge.time, hinge.kind == FOLLOWS);
}

static void block_row(struct writer *writer, const struct walk_state *state)
{
	const struct walk *walk = writer->walk;
	const struct block *block = state->block;
	struct cause cause;

	writer->blocks++;
	if (!wanted(writer, TABLE_BLOCKS))
		return;
	cause = walk_cause(walk, state);
	integer(writer, TABLE_BLOCKS, writer->blocks);
	integer(writer, TABLE_BLOCKS, walk->current->number);
	times(writer, TABLE_BLOCKS, state->begin, state->end);
	interned(writer, TABLE_BLOCKS, leaf_text(writer, state->span.leaf));
	interned(writer, TABLE_BLOCKS, block_waits_for(walk->session, block));
	number(writer, TABLE_BLOCKS, block->fd, block->fd >= 0);
	text(writer, TABLE_BLOCKS, cause_kind_text(cause.kind));
	text(writer, TABLE_BLOCKS, cause.inferred ? "inferred" : "seen");
	text(writer, TABLE_BLOCKS, cause.label);
	number(writer, TABLE_BLOCKS, walk->wakes + 1, state->woken);
	interned(writer, TABLE_BLOCKS,
		 callpath(writer,
			  callpaths_at(&walk->session->trace.flow.callstacks, block->callpaths)
				  ->kernel));
	integer(writer, TABLE_BLOCKS, state->spans_gap);
	hinge_cells(writer, state);
	end(writer, TABLE_BLOCKS);
	cause_clear(&cause);
}

static void on_state(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct writer *writer = data;

	(void) walk;
	interval_row(writer, state);
	if (state->block && state->span.end == state->end) /* its last piece */
		block_row(writer, state);
}

static void on_run(const struct walk *walk, uint16_t host, uint32_t cpu, int64_t begin,
		   int64_t until, uint32_t thread, void *data)
{
	struct writer *writer = data;
	uint32_t of = is_thread(thread) ? walk->numbers[thread] : 0;

	if (!wanted(writer, TABLE_RUNS))
		return;
	integer(writer, TABLE_RUNS, ++writer->runs);
	integer(writer, TABLE_RUNS, host);
	integer(writer, TABLE_RUNS, cpu);
	times(writer, TABLE_RUNS, begin, until);
	number(writer, TABLE_RUNS, of, of != 0);
	end(writer, TABLE_RUNS);
}

static void on_wake(const struct walk *walk, const struct walk_wake *wake, void *data)
{
	const struct writer *writer = data;
	const struct block *block = wake->block;
	bool known = block->kind != WAKER_UNKNOWN && block->kind != WAKER_NONE &&
		     (is_thread(block->waker) || block->waker == IDLE_THREAD);
	g_autofree char *context = NULL;

	if (!wanted(writer, TABLE_WAKEUPS))
		return;
	context = wake_context(walk->session, block);
	integer(writer, TABLE_WAKEUPS, wake->number);
	integer(writer, TABLE_WAKEUPS, wake->time);
	integer(writer, TABLE_WAKEUPS, wake->woken);
	integer(writer, TABLE_WAKEUPS, writer->blocks);
	text(writer, TABLE_WAKEUPS, waker_kind_text(block->kind));
	text(writer, TABLE_WAKEUPS, context);
	number(writer, TABLE_WAKEUPS, wake->waker, wake->waker != 0);
	number(writer, TABLE_WAKEUPS,
	       known && block->waker != IDLE_THREAD
		       ? model_thread(&walk->session->trace.model, block->waker)->tid
		       : 0,
	       known);
	text(writer, TABLE_WAKEUPS,
	     known ? session_thread_name(walk->session, block->waker) : NULL);
	number(writer, TABLE_WAKEUPS, wake->cpu, wake->cpu != NO_CPU);
	end(writer, TABLE_WAKEUPS);
}

/* {"fd":3,"count":4096}: all of them but what it returned. */
static char *arguments_text(const struct session *session, const struct operation_fields *fields)
{
	GString *json = g_string_new("{");

	for (uint32_t i = 0; i < fields->count; i++) {
		const struct operation_field *field = &fields->at[i];
		const char *name = session_text(session, field->name);
		char digits[TEXT_DECIMAL];

		if (strcmp(name, "ret") == 0 || operation_field_is_derived(name))
			continue;
		g_string_append(json, json->len > 1 ? ",\"" : "\"");
		g_string_append(json, name);
		g_string_append(json, "\":");
		if (field->wide)
			g_string_append_printf(json, "%" PRIu64, (uint64_t) field->value);
		else
			g_string_append(json, text_decimal(digits, field->value));
	}
	return g_string_free(g_string_append_c(json, '}'), FALSE);
}

/* What it was passed and returned, if that is known. */
static void fields_row(const struct writer *writer, const struct walk_frame *frame)
{
	const struct session *session = writer->walk->session;
	const struct operation_field *ret = NULL;
	struct operation_fields fields = {0};
	g_autofree char *arguments = NULL;

	if (frame->operation && operation_fields(writer->shapes, frame->operation, &fields)) {
		ret = operation_field(&fields, intern_id(session->trace.model.names, "ret"));
		arguments = arguments_text(session, &fields);
	}
	number(writer, TABLE_SYSCALLS, ret ? ret->value : 0, ret);
	text(writer, TABLE_SYSCALLS, ret ? result_name(ret->value) : NULL);
	text(writer, TABLE_SYSCALLS, arguments);
}

static void on_leave(const struct walk *walk, const struct walk_frame *frame, void *data)
{
	struct writer *writer = data;
	bool entered = frame->entered != NOT_SEEN, left = frame->left != NOT_SEEN;
	int64_t from = entered ? frame->entered : frame->begin;
	int64_t to = left ? frame->left : frame->end;

	if (PACK_KIND(frame->what) != OPERATION_SYSCALL || !wanted(writer, TABLE_SYSCALLS))
		return;
	integer(writer, TABLE_SYSCALLS, ++writer->syscalls);
	integer(writer, TABLE_SYSCALLS, walk->current->number);
	text(writer, TABLE_SYSCALLS, walk_frame_name(walk->session, frame));
	integer(writer, TABLE_SYSCALLS, from);
	integer(writer, TABLE_SYSCALLS, to);
	number(writer, TABLE_SYSCALLS, to - from, entered && left);
	interned(writer, TABLE_SYSCALLS, frame->resource);
	number(writer, TABLE_SYSCALLS, frame->cpu, frame->cpu != NO_CPU);
	integer(writer, TABLE_SYSCALLS, entered);
	integer(writer, TABLE_SYSCALLS, left);
	fields_row(writer, frame);
	end(writer, TABLE_SYSCALLS);
}

/* What the runs of the window come to: a row for each counter that any of them has. */
static void counter_rows(const struct writer *writer, const struct walk_thread *thread,
			 const struct counters sums[COUNTERS])
{
	for (guint i = 0; i < COUNTERS && wanted(writer, TABLE_COUNTERS); i++) {
		if (!sums[i].runs)
			continue;
		integer(writer, TABLE_COUNTERS, thread->number);
		text(writer, TABLE_COUNTERS, counter_name((enum counter) i));
		integer(writer, TABLE_COUNTERS, (int64_t) sums[i].values[i]);
		integer(writer, TABLE_COUNTERS, sums[i].runs);
		integer(writer, TABLE_COUNTERS, sums[i].ns);
		end(writer, TABLE_COUNTERS);
	}
}

static void counted_run_row(struct writer *writer, const struct walk_thread *thread,
			    const struct counters *run, int64_t begin)
{
	writer->counted_runs++;
	if (!wanted(writer, TABLE_COUNTED_RUNS))
		return;
	integer(writer, TABLE_COUNTED_RUNS, writer->counted_runs);
	integer(writer, TABLE_COUNTED_RUNS, thread->number);
	times(writer, TABLE_COUNTED_RUNS, begin, begin + run->ns);
	for (guint i = 0; i < COUNTERS; i++)
		number(writer, TABLE_COUNTED_RUNS, (int64_t) run->values[i],
		       counters_known(run, (enum counter) i));
	end(writer, TABLE_COUNTED_RUNS);
}

/* Hardware counters, of whole runs only: see samples/counter_sums.h. */
static void counted_rows(struct writer *writer, const struct walk_thread *thread)
{
	const struct session *session = writer->walk->session;
	const struct log *log = &model_thread(&session->trace.model, thread->thread)->counts;
	struct counters sums[COUNTERS] = {0};

	for (uint32_t i = counters_first(session, thread->thread, session->asked.from);
	     i < log->used; i++) {
		int64_t begin;
		struct counters run = counters_of(session, thread->thread, i, &begin);

		if (begin + run.ns > session->asked.to)
			break;
		counted_run_row(writer, thread, &run, begin);
		for (guint k = 0; k < COUNTERS; k++)
			if (counters_known(&run, (enum counter) k))
				counters_add(&sums[k], &run);
	}
	counter_rows(writer, thread, sums);
}

void tables_write(struct walk *walk, const struct row_sink *sink)
{
	static const struct walk_visitor visitor = {
		.run = on_run, .state = on_state, .wake = on_wake, .leave = on_leave};
	struct writer writer = {.walk = walk,
				.sink = sink,
				.leaves = g_hash_table_new(NULL, NULL),
				.shapes = shapes_new(walk->session),
				.callpaths = g_hash_table_new(NULL, NULL)};

	host_rows(&writer);
	thread_rows(&writer);
	if (sink->wanted & ~(1u << TABLE_HOSTS | 1u << TABLE_THREADS | 1u << TABLE_COUNTERS |
			     1u << TABLE_COUNTED_RUNS))
		walk_all(walk, &visitor, &writer);
	for (guint i = 0; i < walk->threads->len && wanted_counts(&writer); i++)
		counted_rows(&writer, &g_array_index(walk->threads, struct walk_thread, i));
	g_hash_table_destroy(writer.leaves);
	shapes_free(writer.shapes);
	g_hash_table_destroy(writer.callpaths);
}
