/* SPDX-License-Identifier: MIT */
/* What all reports begin with, as columns: hosts, what the trace could not tell, the window; and
 * records that several of them have. Names and shapes: interface.md, "JSON".
 */
#include "report/report.h"

#include <string.h>

/* --- hosts ---------------------------------------------------------------------------------- */

static int64_t host_number(const struct report *report, const void *row)
{
	guint number = 0;

	g_ptr_array_find(report->session->trace.model.hosts, row, &number);
	return number;
}

GETTER(double, drift_ppm, struct host, row->clock.line.drift * 1e6);
GETTER(const void *, if_it_drifts, struct host, row->clock.line.drift != 0 ? row : NULL);
GETTER(const void *, if_by_packets, struct host, row->clock.known == CLOCK_PACKETS ? row : NULL);

/* A drift, where one is told, is from `base` on. */
static const struct column drift_columns[] = {
	{"ppm", COLUMN_REAL, .real = drift_ppm},
	{"base", COLUMN_TIME, FIELD(struct host, clock.line.base)},
	{0}};

static const struct column packets_columns[] = {
	{"clock_packets", COLUMN_WHOLE, FIELD(struct host, clock.packets)},
	{"clock_packets_contradicting", COLUMN_WHOLE, FIELD(struct host, clock.contradicting)},
	{0}};

static const char *const clocks_known[] = {"own", "packets", "given", "vcpus"};

/* --- guests ------------------------------------------------------------------------------- */

static const char *const guests_known[] = {"not", "given", "seen", "only", "unclear"};

GETTER(const void *, if_a_guest, struct host, row->guest.known != GUEST_NOT ? row : NULL);
GETTER(const void *, machine_of, struct host,
       is_thread(row->guest.machine)
	       ? model_thread(&report->session->trace.model, row->guest.machine)
	       : NULL);
GETTER(const char *, thread_text, struct thread, session_text(report->session, row->name));
GETTER(int64_t, vcpu_tid, struct cpu,
       is_thread(row->vcpu) ? model_thread(&report->session->trace.model, row->vcpu)->tid : -1);

static const struct column machine_columns[] = {{"host", COLUMN_WHOLE, FIELD(struct thread, host)},
						{"pid", COLUMN_WHOLE, FIELD(struct thread, tid)},
						{"name", COLUMN_TEXT, .text = thread_text},
						{0}};
static const struct column vcpu_columns[] = {
	{"cpu", COLUMN_WHOLE, FIELD(struct cpu, id)},
	{"tid", COLUMN_WHOLE, .number = vcpu_tid, .none = NONE_NEGATIVE},
	{0}};

/* The machine that the host's kernel runs on, if that is traced, and how sure that is. */
static const struct column guest_columns[] = {
	{"machine", COLUMN_OBJECT, .at = machine_of, .columns = machine_columns},
	{"known", COLUMN_TEXT, FIELD(struct host, guest.known), .names = guests_known},
	{"moments", COLUMN_WHOLE, FIELD(struct host, guest.moments)},
	{"outside", COLUMN_WHOLE, FIELD(struct host, guest.outside)},
	{"by_chance", COLUMN_WHOLE, FIELD(struct host, guest.chance)},
	{"vcpus", COLUMN_LIST, FIELD(struct host, cpus), .columns = vcpu_columns},
	{0}};

static const struct column host_columns[] = {
	{"host", COLUMN_WHOLE, .number = host_number},
	{"hostname", COLUMN_TEXT, FIELD(struct host, hostname)},
	{"trace_uuid", COLUMN_TEXT, FIELD(struct host, uuid)},
	{"kernel", COLUMN_TEXT, FIELD(struct host, kernel)},
	{"tracer", COLUMN_TEXT, FIELD(struct host, tracer)},
	{"cpus", COLUMN_WHOLE, FIELD(struct host, cpus)},
	{"begin", COLUMN_TIME, FIELD(struct host, begin)},
	{"end", COLUMN_TIME, FIELD(struct host, end)},
	{"clock_offset", COLUMN_NS, FIELD(struct host, clock.line.offset)},
	{"clock_error", COLUMN_NS, FIELD(struct host, clock.error), .none = NONE_NEGATIVE},
	{"clock_from", COLUMN_TEXT, FIELD(struct host, clock.known), .names = clocks_known},
	{"clock_drift", COLUMN_OBJECT, .at = if_it_drifts, .columns = drift_columns,
	 .absent = true},
	{NULL, COLUMN_OBJECT, .at = if_by_packets, .columns = packets_columns},
	{"guest", COLUMN_OBJECT, .at = if_a_guest, .columns = guest_columns, .absent = true},
	{0}};

GETTER(const void *, hosts_of, void, report->session->trace.model.hosts);

/* --- coverage ------------------------------------------------------------------------------- */

GETTER(int64_t, events_in_gap, struct gap, row->packets ? -1 : row->events);

static const struct column gap_columns[] = {
	{"cpu", COLUMN_WHOLE, FIELD(struct gap, cpu)},
	{"begin", COLUMN_TIME, FIELD(struct gap, begin)},
	{"end", COLUMN_TIME, FIELD(struct gap, end)},
	{"events", COLUMN_WHOLE, .number = events_in_gap, .none = NONE_NEGATIVE},
	{0}};

static guint write_gaps(const struct report *report, const void *row)
{
	const struct session *session = report->session;

	(void) row;
	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		const GArray *gaps = model_host(&session->trace.model, h)->gaps;

		for (guint i = 0; i < gaps->len; i++) {
			const struct gap *gap = &g_array_index(gaps, struct gap, i);

			if (!coverage_tells_gap(session, gap))
				continue;
			json_begin(report->output, NULL, '{', LINES_NOT);
			json_put_whole(report->output, "host", h);
			json_put_members(report, gap_columns, gap);
			json_end(report->output, '}');
		}
	}
	return 0;
}

static const struct column damage_columns[] = {{"file", COLUMN_TEXT, FIELD(struct damage, file)},
					       {"bytes", COLUMN_WHOLE, FIELD(struct damage, bytes)},
					       {"total", COLUMN_WHOLE, FIELD(struct damage, total)},
					       {"what", COLUMN_TEXT, FIELD(struct damage, what)},
					       {0}};

static const void *damages_of(const struct report *report, const void *row)
{
	const GArray *damages = report->session->trace.damages;

	(void) row;
	return damages->len ? damages : NULL;
}

static double rounded(double share)
{
	return (double) (long) (share * 1e4 + 0.5) / 1e4;
}

double share_rounded(int64_t part, int64_t whole)
{
	return whole > 0 ? rounded((double) part / (double) whole) : 0;
}

GETTER(double, unknown_share, void, rounded(coverage_unknown_share(row)));
GETTER(double, softirq_share, void, rounded(coverage_softirq_share(row)));

const struct column coverage_columns[] = {
	{"events", COLUMN_WHOLE, FIELD(struct coverage, events)},
	{"read_from", COLUMN_TIME, FIELD(struct coverage, read_from), .none = NONE_NEGATIVE,
	 .absent = true},
	{"read_until", COLUMN_TIME, FIELD(struct coverage, read_until), .none = NONE_NEGATIVE,
	 .absent = true},
	{"discarded_events", COLUMN_WHOLE, FIELD(struct coverage, discarded_events)},
	{"discarded_packets", COLUMN_WHOLE, FIELD(struct coverage, discarded_packets)},
	{"gaps", COLUMN_LIST, .each = write_gaps},
	{"damage", COLUMN_LIST, .at = damages_of, .columns = damage_columns, .absent = true},
	{"entries_unseen", COLUMN_WHOLE, FIELD(struct coverage, entries_unseen)},
	{"exits_unseen", COLUMN_WHOLE, FIELD(struct coverage, exits_unseen)},
	{"wakeups_unseen", COLUMN_WHOLE, FIELD(struct coverage, wakeups_unseen)},
	{"cpu_unknown_ns", COLUMN_NS, FIELD(struct coverage, cpu_unknown_ns)},
	{"undescribed_threads", COLUMN_WHOLE, FIELD(struct coverage, undescribed_threads)},
	{"unknown_blocked_share", COLUMN_SHARE, .real = unknown_share},
	{"bare_softirq_blocked_share", COLUMN_SHARE, .real = softirq_share},
	{"caution", COLUMN_TEXT, FIELD(struct coverage, caution), .absent = true},
	{"missing", COLUMN_LIST, FIELD(struct coverage, missing), .item = COLUMN_TEXT},
	{0}};

static void write_coverage(const struct report *report, const void *row)
{
	struct coverage coverage;

	(void) row;
	coverage_init(&coverage, report->session);
	json_put_row(report, "coverage", coverage_columns, &coverage);
	coverage_clear(&coverage);
}

void text_coverage_now(const struct session *session, struct output *output)
{
	struct coverage coverage;

	coverage_init(&coverage, session);
	text_coverage(session, &coverage, output);
	coverage_clear(&coverage);
}

/* --- waits ---------------------------------------------------------------------------------- */

static const char *const certainties[] = {"seen", "inferred"};

GETTER(const char *, cause_kind, struct cause, cause_kind_text(row->kind));
GETTER(const char *, cause_label, struct cause, row->label ? row->label : "");

const struct column cause_columns[] = {
	{"certainty", COLUMN_TEXT, FIELD(struct cause, inferred), .names = certainties},
	{"kind", COLUMN_TEXT, .text = cause_kind},
	{"label", COLUMN_TEXT, .text = cause_label},
	{"queued_ns", COLUMN_NS, FIELD(struct cause, queued), .none = NONE_NEGATIVE,
	 .absent = true},
	{"served_ns", COLUMN_NS, FIELD(struct cause, served), .none = NONE_NEGATIVE,
	 .absent = true},
	{0}};

GETTER(const char *, operation, struct block, futex_operation(row->operation));
GETTER(uint32_t, waited_for, struct block, session_resource(report->session, row));
GETTER(bool, is_sleep, struct block,
       g_str_equal(session_text(report->session, waited_for(report, row)), "sleep"));
GETTER(bool, is_no_sleep, struct block, !is_sleep(report, row));
GETTER(const char *, resource_kind_of, struct block,
       resource_kind(session_text(report->session, waited_for(report, row))));
GETTER(const char *, resource_name_of, struct block,
       resource_name(session_text(report->session, waited_for(report, row))));

const struct column wait_resource_columns[] = {
	{"kind", COLUMN_TEXT, .text = resource_kind_of},
	{"name", COLUMN_TEXT, .text = resource_name_of},
	{"fd", COLUMN_WHOLE, FIELD(struct block, fd), .none = NONE_NEGATIVE, .absent = true},
	{"operation", COLUMN_TEXT, .text = operation, .absent = true},
	{"length_ns", COLUMN_NS, FIELD(struct block, timer), .none = NONE_NEGATIVE, .absent = true,
	 .when = is_sleep},
	{"timeout_ns", COLUMN_NS, FIELD(struct block, timer), .none = NONE_NEGATIVE, .absent = true,
	 .when = is_no_sleep},
	{0}};

/* --- the head ------------------------------------------------------------------------------- */

GETTER(const void *, session_of, void, report->session);

static const struct column window_columns[] = {
	{"begin", COLUMN_TIME, FIELD(struct session, asked.from)},
	{"end", COLUMN_TIME, FIELD(struct session, asked.to)},
	{0}};

const struct column report_hosts[] = {{"hosts", COLUMN_LIST, .at = hosts_of,
				       .stored = STORED_POINTERS, .columns = host_columns},
				      {0}};
const struct column report_coverage[] = {{NULL, COLUMN_WRITTEN, .write = write_coverage}, {0}};
const struct column report_window[] = {
	{"window", COLUMN_OBJECT, .at = session_of, .columns = window_columns}, {0}};
const struct column report_head[] = {
	COLUMNS(report_hosts), COLUMNS(report_coverage), COLUMNS(report_window), {0}};

/* --- the answer ----------------------------------------------------------------------------- */

void json_put_answer(struct output *output, GPtrArray *sentences)
{
	json_begin(output, "answer", '[', LINES_NOT);
	for (guint i = 0; i < sentences->len; i++)
		json_put_text(output, NULL, g_ptr_array_index(sentences, i));
	json_end(output, ']');
	g_ptr_array_unref(sentences);
}

void text_answer(struct output *output, GPtrArray *sentences)
{
	for (guint i = 0; i < sentences->len; i++)
		text_wrapped(output, g_ptr_array_index(sentences, i), 0, 2);
	g_ptr_array_unref(sentences);
}

/* --- functions that samples show -------------------------------------------------------------- */

GETTER(const char *, caller_name, struct function_caller, row->function->name);

static const struct column caller_columns[] = {
	{"name", COLUMN_TEXT, .text = caller_name},
	{"samples", COLUMN_WHOLE, FIELD(struct function_caller, samples)},
	{"inferred", COLUMN_WHOLE, FIELD(struct function_caller, inferred), .none = NONE_ZERO,
	 .absent = true},
	{"share", COLUMN_SHARE, FIELD(struct function_caller, share)},
	{"error", COLUMN_SHARE, FIELD(struct function_caller, error), .none = NONE_NEGATIVE},
	{0}};

GETTER(const char *, function_name, struct function_share, row->function->name);
GETTER(const char *, function_file, struct function_share, row->function->file);
GETTER(int64_t, in_kernel, struct function_share, row->function->kernel);

const struct column sampled_columns[] = {
	{"name", COLUMN_TEXT, .text = function_name},
	{"file", COLUMN_TEXT, .text = function_file},
	{"line", COLUMN_WHOLE, FIELD(struct function_share, line), .none = NONE_ZERO},
	{"kernel", COLUMN_BOOL, .number = in_kernel},
	{"samples", COLUMN_WHOLE, FIELD(struct function_share, samples)},
	{"self", COLUMN_WHOLE, FIELD(struct function_share, self)},
	{"inferred", COLUMN_WHOLE, FIELD(struct function_share, inferred), .none = NONE_ZERO,
	 .absent = true},
	{"share", COLUMN_SHARE, FIELD(struct function_share, share)},
	{"error", COLUMN_SHARE, FIELD(struct function_share, error), .none = NONE_NEGATIVE},
	{"ns", COLUMN_NS, FIELD(struct function_share, ns)},
	{"callers", COLUMN_LIST, FIELD(struct function_share, callers), .columns = caller_columns},
	{0}};

/* --- hardware counters ---------------------------------------------------------------------- */

static int64_t counter_of(const struct counters *counters, enum counter which)
{
	return counters_known(counters, which) ? (int64_t) counters->values[which] : -1;
}

GETTER(int64_t, instructions, struct counters, counter_of(row, COUNTER_INSTRUCTIONS));
GETTER(int64_t, cycles, struct counters, counter_of(row, COUNTER_CYCLES));
GETTER(int64_t, cache_misses, struct counters, counter_of(row, COUNTER_CACHE_MISSES));
GETTER(int64_t, branch_misses, struct counters, counter_of(row, COUNTER_BRANCH_MISSES));

const struct column counters_columns[] = {
	{"instructions", COLUMN_WHOLE, .number = instructions, .none = NONE_NEGATIVE},
	{"cycles", COLUMN_WHOLE, .number = cycles, .none = NONE_NEGATIVE},
	{"cache_misses", COLUMN_WHOLE, .number = cache_misses, .none = NONE_NEGATIVE},
	{"branch_misses", COLUMN_WHOLE, .number = branch_misses, .none = NONE_NEGATIVE},
	{"ns", COLUMN_NS, FIELD(struct counters, ns)},
	{"runs", COLUMN_WHOLE, FIELD(struct counters, runs)},
	{0}};

GETTER(const char *, total_name, struct function_total, row->function ? row->function->name : NULL);
GETTER(const char *, total_file, struct function_total, row->function ? row->function->file : NULL);

const struct column function_total_columns[] = {
	{"name", COLUMN_TEXT, .text = total_name},
	{"file", COLUMN_TEXT, .text = total_file},
	{"line", COLUMN_WHOLE, FIELD(struct function_total, line), .none = NONE_ZERO},
	{"samples", COLUMN_WHOLE, FIELD(struct function_total, samples)},
	{"ns", COLUMN_NS, FIELD(struct function_total, ns)},
	{0}};
