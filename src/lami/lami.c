/* SPDX-License-Identifier: MIT */
/* The list of LAMI analyses, their metadata, cells and tables; see lami.h. */
#include "lami/lami.h"

#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "report/report.h"

/* What could not be told comes with every result: it is empty, and left out, of a trace that
 * tells all. */
static const struct lami_table coverage_table = {
	"coverage",
	"What the trace could not tell",
	{{"What", LAMI_STRING, NULL},
	 {"When", LAMI_TIME_RANGE, NULL},
	 {"How many", LAMI_NUMBER, NULL}}};

static const struct lami_analysis analyses[] = {
	{.name = "blocked",
	 .title = "whylate: who waited how long for what",
	 .description = "The waits of threads that are not idle, by state, resource and what ended "
			"them; and who and what others waited for, down the chains of waits.",
	 .tags = {"sched", "top"},
	 .command = "overview",
	 .needs = {EV_SCHED_SWITCH},
	 .tables = {&lami_waits, &lami_imposed},
	 .write = lami_write_blocked},
	{.name = "waits",
	 .title = "whylate: each wait and what ended it",
	 .description = "Every blocked interval of the threads asked for (--thread, --process; "
			"without, of those that are not idle), the longest first, with its cause.",
	 .tags = {"sched", "log"},
	 .command = "delay",
	 .of_threads = true,
	 .needs = {EV_SCHED_SWITCH},
	 .tables = {&lami_each_wait},
	 .write = lami_write_waits},
	{.name = "states",
	 .title = "whylate: Working, Interrupted, Blocked",
	 .description = "Each thread's time in the window, split into states; they sum to it "
			"exactly.",
	 .tags = {"sched", "stats"},
	 .command = "delay",
	 .of_threads = true,
	 .needs = {EV_SCHED_SWITCH},
	 .tables = {&lami_threads, &lami_states},
	 .write = lami_write_states},
	{.name = "path",
	 .title = "whylate: critical path of a thread",
	 .description = "Where the time of one thread (--thread), or the time to an event "
			"(--target), went: step by step through those who kept it waiting.",
	 .tags = {"sched", "log"},
	 .command = "delay",
	 .of_threads = true,
	 .needs = {EV_SCHED_SWITCH},
	 .tables = {&lami_path_threads, &lami_path_kinds, &lami_steps},
	 .write = lami_write_path},
	{.name = "locks",
	 .title = "whylate: locks and who held them",
	 .description = "What waiting each lock cost, who held it meanwhile, convoys, priority "
			"inversion, and threads that wait for each other for ever.",
	 .tags = {"sched", "top"},
	 .command = "overview",
	 .needs = {EV_SYSCALL_ENTRY},
	 .tables = {&lami_locks, &lami_holders, &lami_deadlocks},
	 .write = lami_write_locks},
	{.name = "latencies",
	 .title = "whylate: latencies of operations",
	 .description = "How often and how long: system calls, or what --operation names.",
	 .tags = {"syscall", "stats"},
	 .command = "profile",
	 .operations = "syscall:*",
	 .needs = {EV_SYSCALL_ENTRY},
	 .tables = {&lami_syscalls, &lami_operations},
	 .write = lami_write_latencies},
	{.name = "peaks",
	 .title = "whylate: peaks of latencies and their root causes",
	 .description = "What makes the slow ones slow: the peaks of each operation's latencies, "
			"and what the operations in each spent their time on.",
	 .tags = {"syscall", "stats"},
	 .command = "profile",
	 .operations = "syscall:*",
	 .needs = {EV_SYSCALL_ENTRY},
	 .tables = {&lami_peaks, &lami_roots},
	 .write = lami_write_peaks},
	{.name = "block",
	 .title = "whylate: requests to block devices",
	 .description = "How long requests waited for their device, how long it took for them, and "
			"who asked.",
	 .tags = {"io", "stats"},
	 .command = "profile",
	 .operations = "block-queued:* block-served:*",
	 .needs = {EV_BLOCK_ISSUE, EV_BLOCK_COMPLETE},
	 .tables = {&lami_queued, &lami_served, &lami_block_requests},
	 .write = lami_write_block},
	{.name = "interrupts",
	 .title = "whylate: interrupts and softIRQs",
	 .description = "How often and how long interrupt handlers, vectors, softIRQs and timers' "
			"callbacks ran.",
	 .tags = {"interrupt", "stats"},
	 .command = "profile",
	 .operations = "irq:* softirq:* vector:* hrtimer*",
	 .needs = {EV_IRQ_ENTRY, EV_SOFTIRQ_ENTRY, EV_VECTOR_ENTRY, EV_HRTIMER_EXPIRE_ENTRY},
	 .tables = {&lami_irqs, &lami_softirqs, &lami_vectors, &lami_callbacks},
	 .write = lami_write_interrupts},
	{.name = "requests",
	 .title = "whylate: requests and what they cost",
	 .description = "What servers, or --preset's others, were asked for: how long each took, "
			"its largest cause, and what all of them together spent their time on.",
	 .tags = {"top", "log"},
	 .command = "requests",
	 .needs = {EV_SYSCALL_ENTRY},
	 .tables = {&lami_requests, &lami_causes},
	 .write = lami_write_requests},
};

const struct lami_analysis *lami_nth(guint number)
{
	return number < G_N_ELEMENTS(analyses) ? &analyses[number] : NULL;
}

const struct lami_analysis *lami_find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(analyses); i++)
		if (strcmp(analyses[i].name, name) == 0)
			return &analyses[i];
	return NULL;
}

/* --- metadata ------------------------------------------------------------------------------ */

static const char *const class_names[] = {
	[LAMI_MIXED] = "mixed",
	[LAMI_STRING] = "string",
	[LAMI_NUMBER] = "number",
	[LAMI_RATIO] = "ratio",
	[LAMI_BOOL] = "bool",
	[LAMI_DURATION] = "duration",
	[LAMI_TIME_RANGE] = "time-range",
	[LAMI_PROCESS] = "process",
	[LAMI_SYSCALL] = "syscall",
	[LAMI_IRQ] = "irq",
	[LAMI_DISK] = "disk",
	[LAMI_PATH] = "path"};

static guint column_count(const struct lami_table *table)
{
	guint count = 0;

	while (count < LAMI_COLUMNS && table->columns[count].title)
		count++;
	return count;
}

static void add_class(json_t *classes, const struct lami_table *table)
{
	json_t *columns = json_array();

	for (guint i = 0; i < column_count(table); i++) {
		const struct lami_column *column = &table->columns[i];
		json_t *object = json_pack("{s:s,s:s}", "title", column->title, "class",
					   class_names[column->class]);

		if (column->unit)
			json_object_set_new(object, "unit", json_string(column->unit));
		json_array_append_new(columns, object);
	}
	json_object_set_new(classes, table->name,
			    json_pack("{s:s,s:o}", "title", table->title, "column-descriptions",
				      columns));
}

/* 1.2.3 as the three numbers that LAMI asks for. */
static json_t *version_json(void)
{
	unsigned major = 0, minor = 0, patch = 0;

	sscanf(PACKAGE_VERSION, "%u.%u.%u", &major, &minor, &patch);
	return json_pack("{s:i,s:i,s:i}", "major", (int) major, "minor", (int) minor, "patch",
			 (int) patch);
}

void lami_metadata(const struct lami_analysis *analysis, FILE *file)
{
	json_t *object, *tags = json_array(), *classes = json_object();

	for (guint i = 0; i < G_N_ELEMENTS(analysis->tags) && analysis->tags[i]; i++)
		json_array_append_new(tags, json_string(analysis->tags[i]));
	json_array_append_new(tags, json_string("linux-kernel"));
	json_array_append_new(tags, json_string("whylate"));
	for (guint i = 0; i < G_N_ELEMENTS(analysis->tables) && analysis->tables[i]; i++)
		add_class(classes, analysis->tables[i]);
	add_class(classes, &coverage_table);
	object = json_pack("{s:{s:i,s:i},s:o,s:s,s:[s],s:s,s:o,s:o}", "mi-version", "major", 1,
			   "minor", 0, "version", version_json(), "title", analysis->title,
			   "authors", "whylate", "description", analysis->description, "tags", tags,
			   "table-classes", classes);
	json_dumpf(object, file, JSON_COMPACT);
	fputc('\n', file);
	json_decref(object);
}

void lami_error(const char *message, int code, FILE *file)
{
	json_t *object =
		json_pack("{s:o,s:i}", "error-message", json_text(message), "error-code", code);

	json_dumpf(object, file, JSON_COMPACT);
	fputc('\n', file);
	json_decref(object);
}

/* --- tables -------------------------------------------------------------------------------- */

static void dump(struct lami_report *report, json_t *value)
{
	json_dumpf(value, report->file, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(9));
	json_decref(value);
}

static json_t *time_range_json(int64_t begin, int64_t end)
{
	return json_pack("{s:s,s:{s:s,s:I},s:{s:s,s:I}}", "class", "time-range", "begin", "class",
			 "timestamp", "value", (json_int_t) begin, "end", "class", "timestamp",
			 "value", (json_int_t) end);
}

static void end_row(struct lami_report *report)
{
	if (!report->rows)
		return;
	g_assert(report->cells == column_count(report->table));
	fputc(']', report->file);
}

static void end_table(struct lami_report *report)
{
	end_row(report);
	if (report->rows)
		fputs("]}", report->file);
	report->rows = 0;
}

void lami_begin(struct lami_report *report, const struct lami_table *table)
{
	end_table(report);
	report->table = table;
}

bool lami_row(struct lami_report *report)
{
	uint32_t limit = report->session->asked.options->limit;

	if (limit && report->rows >= limit)
		return false;
	end_row(report);
	if (!report->rows) {
		fputs(report->any ? ",\n{\"time-range\":" : "{\"results\":[\n{\"time-range\":",
		      report->file);
		dump(report,
		     time_range_json(report->session->asked.from, report->session->asked.to));
		fprintf(report->file, ",\"class\":\"%s\",\"data\":[", report->table->name);
		report->any = true;
	}
	fputs(report->rows++ ? ",\n[" : "\n[", report->file);
	report->cells = 0;
	return true;
}

/* A cell of that class; takes `value`. */
static void cell(struct lami_report *report, enum lami_class class, json_t *value)
{
	enum lami_class wanted = report->table->columns[report->cells].class;

	g_assert(report->cells < column_count(report->table) &&
		 (wanted == class || wanted == LAMI_MIXED));
	if (report->cells++)
		fputc(',', report->file);
	dump(report, value);
}

/* In place of a value of any class. */
static void without_value(struct lami_report *report, json_t *value)
{
	cell(report, report->table->columns[report->cells].class, value);
}

void lami_empty(struct lami_report *report)
{
	without_value(report, json_null());
}

void lami_unknown(struct lami_report *report)
{
	without_value(report, json_pack("{s:s}", "class", "unknown"));
}

void lami_string(struct lami_report *report, const char *text)
{
	if (!text)
		lami_empty(report);
	else
		cell(report, LAMI_STRING,
		     json_pack("{s:s,s:o}", "class", "string", "value", json_text(text)));
}

void lami_number(struct lami_report *report, uint64_t number)
{
	cell(report, LAMI_NUMBER,
	     json_pack("{s:s,s:I}", "class", "number", "value", (json_int_t) number));
}

void lami_ratio(struct lami_report *report, int64_t part, int64_t whole)
{
	if (whole <= 0)
		lami_unknown(report);
	else
		cell(report, LAMI_RATIO,
		     json_pack("{s:s,s:f}", "class", "ratio", "value",
			       (double) part / (double) whole));
}

void lami_bool(struct lami_report *report, bool value)
{
	cell(report, LAMI_BOOL, json_pack("{s:s,s:b}", "class", "bool", "value", (int) value));
}

void lami_duration(struct lami_report *report, int64_t ns)
{
	if (ns < 0)
		lami_unknown(report);
	else
		cell(report, LAMI_DURATION,
		     json_pack("{s:s,s:I}", "class", "duration", "value", (json_int_t) ns));
}

void lami_wib(struct lami_report *report, const int64_t *wib)
{
	static const enum wib order[] = {LAMI_WIB_ORDER};

	for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
		lami_duration(report, wib[order[i]]);
}

void lami_time_range(struct lami_report *report, int64_t begin, int64_t end)
{
	cell(report, LAMI_TIME_RANGE, time_range_json(begin, end));
}

void lami_process(struct lami_report *report, uint32_t thread)
{
	const struct session *session = report->session;
	const struct thread *life;
	g_autofree char *name = NULL;
	json_t *object;

	if (!is_thread(thread) || thread >= session->trace.model.thread_count) {
		lami_empty(report);
		return;
	}
	life = model_thread(&session->trace.model, thread);
	name = g_strconcat(session_thread_name(session, thread), session_on(session, thread), NULL);
	object = json_pack("{s:s,s:o}", "class", "process", "name", json_text(name));
	if (life->pid > 0)
		json_object_set_new(object, "pid", json_integer(life->pid));
	json_object_set_new(object, "tid", json_integer(life->tid));
	cell(report, LAMI_PROCESS, object);
}

void lami_syscall(struct lami_report *report, const char *name)
{
	cell(report, LAMI_SYSCALL,
	     json_pack("{s:s,s:o}", "class", "syscall", "name", json_text(name)));
}

void lami_irq(struct lami_report *report, bool hard, uint32_t number, const char *name)
{
	json_t *object = json_pack("{s:s,s:b,s:I}", "class", "irq", "hard", (int) hard, "nr",
				   (json_int_t) number);

	if (name)
		json_object_set_new(object, "name", json_text(name));
	cell(report, LAMI_IRQ, object);
}

void lami_disk(struct lami_report *report, const char *name)
{
	cell(report, LAMI_DISK, json_pack("{s:s,s:o}", "class", "disk", "name", json_text(name)));
}

void lami_resource(struct lami_report *report, uint32_t resource)
{
	const char *key = session_text(report->session, resource), *kind, *name;
	g_autofree char *text = NULL;

	if (!resource || !*key) {
		lami_empty(report);
		return;
	}
	kind = resource_kind(key);
	name = resource_name(key);
	if (strcmp(kind, "file") == 0)
		cell(report, LAMI_PATH,
		     json_pack("{s:s,s:o}", "class", "path", "path", json_text(name)));
	else if (strcmp(kind, "device") == 0)
		lami_disk(report, name);
	else if (strcmp(kind, name) == 0)
		lami_string(report, name);
	else
		lami_string(report, (text = g_strdup_printf("%s:%s", kind, name)));
}

void lami_cause(struct lami_report *report, const struct cause *cause)
{
	lami_string(report, cause_kind_text(cause->kind));
	lami_string(report, cause->label && *cause->label ? cause->label : NULL);
	lami_bool(report, cause->inferred);
}

/* --- results ------------------------------------------------------------------------------- */

static void write_gaps(struct lami_report *report)
{
	const struct session *session = report->session;

	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		const struct host *host = model_host(&session->trace.model, h);

		for (guint i = 0; i < host->gaps->len; i++) {
			const struct gap *gap = &g_array_index(host->gaps, struct gap, i);
			g_autofree char *what = NULL;

			if (gap->end <= session->asked.from || gap->begin >= session->asked.to ||
			    !lami_row(report))
				continue;
			what = g_strdup_printf("events of CPU %u lost%s%s", gap->cpu,
					       session->trace.model.hosts->len > 1 ? " on " : "",
					       session->trace.model.hosts->len > 1
						       ? trace_host_name(&session->trace, h)
						       : "");
			lami_string(report, what);
			lami_time_range(report, gap->begin, gap->end);
			if (gap->events < 0 || gap->packets)
				lami_unknown(report);
			else
				lami_number(report, (uint64_t) gap->events);
		}
	}
}

static void write_words(struct lami_report *report, const char *text)
{
	if (!lami_row(report))
		return;
	lami_string(report, text);
	lami_empty(report);
	lami_empty(report);
}

static void write_coverage(struct lami_report *report)
{
	const struct session *session = report->session;
	struct coverage coverage;

	coverage_init(&coverage, session);
	lami_begin(report, &coverage_table);
	if (session->trace.stopped)
		write_words(report, session->trace.stopped);
	for (guint i = 0; i < session->trace.damages->len; i++) {
		const struct damage *at = &g_array_index(session->trace.damages, struct damage, i);
		g_autofree char *text =
			at->what ? g_strdup_printf("%s is damaged: %s", at->file, at->what)
				 : g_strdup_printf("%s is damaged: %" PRIu64 " of %" PRIu64
						   " bytes could not be read",
						   at->file, at->bytes, at->total);

		write_words(report, text);
	}
	write_gaps(report);
	for (guint i = 0; i < coverage.missing->len; i++)
		write_words(report, g_ptr_array_index(coverage.missing, i));
	coverage_clear(&coverage);
}

bool lami_write(const struct session *session, FILE *file, GError **error)
{
	struct lami_report report = {.session = session, .file = file};

	if (!session->asked.options->lami->write(&report, error))
		return false;
	write_coverage(&report);
	end_table(&report);
	fputs(report.any ? "\n]}\n" : "{\"results\":[]}\n", file);
	return true;
}
