/* SPDX-License-Identifier: MIT */
/* What the critical path is made of when it is written: its steps, and their sums. Each of the
 * three lists of sums adds up to the window.
 */
#include "delay/delay.h"

#include "path/path_sums.h"

#define PAGE_STEPS 3000

/* --- steps ---------------------------------------------------------------------------------- */

struct step_row {
	struct piece piece; /* a copy */
	struct cause cause;
	struct functions_sampled sampled; /* of what worked */
};

static int64_t spans_gap(const struct report *report, const void *row)
{
	const struct piece *piece = &((const struct step_row *) row)->piece;
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};

	return session_spans_gap(report->session, piece->thread, &span);
}

static const void *if_caused(const struct report *report, const void *data)
{
	const struct step_row *row = data;

	(void) report;
	return row->piece.block || leaf_is_off_cpu(row->piece.leaf) ? &row->cause : NULL;
}

GETTER(int64_t, length, struct step_row, row->piece.end - row->piece.begin);
GETTER(const void *, if_resource, struct step_row,
       row->piece.block && row->piece.block->resource ? row->piece.block : NULL);
GETTER(const char *, resource_key, struct step_row,
       session_text(report->session, piece_resource(report->session, &row->piece)));
GETTER(const char *, cause_kind, struct step_row, cause_kind_text(row->cause.kind));
GETTER(const char *, cause_label, struct step_row, row->cause.label ? row->cause.label : "");

GETTER(int64_t, samples, struct step_row, row->sampled.samples);
GETTER(GArray *, functions, struct step_row,
       row->sampled.functions ? g_array_ref(row->sampled.functions) : NULL);

static const struct column step_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct step_row, piece.thread)},
	{"begin", COLUMN_TIME, FIELD(struct step_row, piece.begin), .csv = {6}},
	{"end", COLUMN_TIME, FIELD(struct step_row, piece.end), .csv = {7}},
	{"ns", COLUMN_NS, .number = length, .csv = {8}},
	{"leaf", COLUMN_LEAF, FIELD(struct step_row, piece.leaf), .csv = {2}},
	{"spans_gap", COLUMN_BOOL, .number = spans_gap, .none = NONE_ZERO, .absent = true},
	{"samples", COLUMN_WHOLE, .number = samples, .none = NONE_ZERO, .absent = true},
	{"functions", COLUMN_LIST, .array = functions, .columns = sampled_columns, .absent = true},
	{"resource", COLUMN_OBJECT, .at = if_resource, .columns = wait_resource_columns,
	 .absent = true},
	{"cause", COLUMN_OBJECT, .at = if_caused, .columns = cause_columns, .absent = true},
	{NULL, COLUMN_TEXT, .text = resource_key, .csv = {3, "resource"}},
	{NULL, COLUMN_TEXT, .text = cause_kind, .csv = {4, "kind"}},
	{NULL, COLUMN_TEXT, .text = cause_label, .csv = {5, "cause"}},
	{NULL, COLUMN_BOOL, .number = spans_gap, .csv = {9, "spans_gap"}},
	{0}};
static const struct column step_csv_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct step_row, piece.thread), .csv = {1}},
	COLUMNS(step_columns),
	{0}};

/* Steps shorter than `least` are left out; returns how many. */
static guint each_step(const struct report *report, const struct path *path, int64_t least,
		       void (*write)(const struct report *report, const struct step_row *row))
{
	guint omitted = 0;

	for (guint i = 0; path && i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		struct step_row row = {.piece = *piece};

		if (piece->end - piece->begin < least) {
			omitted++;
			continue;
		}
		row.cause = piece_cause(report->session, piece);
		if (leaf_wib(piece->leaf) == WIB_WORKING)
			row.sampled = sampled_in(report->session, piece->thread, piece->begin,
						 piece->end, true);
		write(report, &row);
		sampled_clear(&row.sampled);
		cause_clear(&row.cause);
	}
	return omitted;
}

static void put_step(const struct report *report, const struct step_row *row)
{
	json_put_row(report, NULL, step_columns, row);
}

static int longest(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x == y ? 0 : x > y ? -1 : 1;
}

/* A page has the longest steps. */
static int64_t least_shown(const struct path *path)
{
	g_autoptr(GArray) lengths = g_array_new(FALSE, FALSE, sizeof(int64_t));

	if (!path || path->pieces->len <= PAGE_STEPS)
		return 0;
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		int64_t ns = piece->end - piece->begin;

		g_array_append_val(lengths, ns);
	}
	g_array_sort(lengths, longest);
	return g_array_index(lengths, int64_t, PAGE_STEPS - 1);
}

static guint put_steps(const struct report *report, const void *row)
{
	const struct path *path = ((const struct delay *) row)->path;

	return each_step(report, path, report->output->watch ? least_shown(path) : 0, put_step);
}

const struct column critical_path_columns[] = {
	{"critical_path", COLUMN_LIST, .each = put_steps, .lines = LINES_EACH}, {0}};

static void put_csv_step(const struct report *report, const struct step_row *row)
{
	csv_row(report, step_csv_columns, row);
}

void path_steps_csv(const struct report *report, const struct path *path)
{
	if (!report->output->continued)
		csv_heading(report, step_csv_columns);
	each_step(report, path, 0, put_csv_step);
}

/* --- sums ----------------------------------------------------------------------------------- */

char *thread_sum_label(const struct report *report, const void *row)
{
	uint32_t thread = ((const struct total *) row)->thread;

	return g_strdup_printf("%s (%d)%s", session_thread_name(report->session, thread),
			       model_thread(&report->session->trace.model, thread)->tid,
			       session_on(report->session, thread));
}

char *resource_sum_label(const struct report *report, const void *row)
{
	const char *key = session_text(report->session, ((const struct total *) row)->resource);

	if (g_str_equal(key, "cpu:running"))
		return g_strdup("the CPU, running");
	if (g_str_equal(key, "cpu:waiting"))
		return g_strdup("a CPU, waiting for it");
	if (g_str_equal(key, "cpu:interrupts"))
		return g_strdup("interrupts");
	if (g_str_equal(key, "unknown"))
		return g_strdup("what is not known");
	return g_strdup(key);
}

/* "blocked/syscall: process"; working and unknown say it all by themselves. */
char *kind_sum_label(const struct report *report, const void *row)
{
	const struct total *total = row;
	g_autofree char *leaf = leaf_kind_key(report->session, total->leaf);

	if (!leaf_is_blocked(total->leaf) && total->cause != CAUSE_THROTTLED)
		return g_steal_pointer(&leaf);
	return g_strconcat(leaf, ": ", cause_kind_text(total->cause), NULL);
}

static char *thread_and_unknown(const struct report *report, const void *row)
{
	const struct total *total = row;
	g_autofree char *label = thread_sum_label(report, row);
	char length[32];

	if (!total->wib[WIB_UNKNOWN])
		return g_steal_pointer(&label);
	return g_strdup_printf("%s, unknown %s", label,
			       when_duration(length, total->wib[WIB_UNKNOWN]));
}

GETTER(int64_t, whole, void, ((const struct path_totals *) report->data)->ns);
GETTER(double, share, struct total,
       whole(report, row) ? (double) row->ns / (double) whole(report, row) : 0);
GETTER(char *, leaf_kind, struct total, leaf_kind_key(report->session, row->leaf));
GETTER(const char *, kind, struct total, cause_kind_text(row->cause));

static const struct column sum_columns[] = {
	{"ns", COLUMN_NS, FIELD(struct total, ns), .table = {1, "TIME", 10}},
	{"count", COLUMN_WHOLE, FIELD(struct total, count), .table = {3, "STEPS", 7}},
	{NULL, COLUMN_SHARE, .real = share, .table = {2, "SHARE", 6}},
	{0}};

const struct column thread_sum_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct total, thread)},
	COLUMNS(sum_columns),
	{"unknown_ns", COLUMN_NS, FIELD(struct total, wib[WIB_UNKNOWN])},
	{"working_ns", COLUMN_NS, FIELD(struct total, wib[WIB_WORKING]),
	 .table = {4, "WORKING", 10}},
	{"interrupted_ns", COLUMN_NS, FIELD(struct total, wib[WIB_INTERRUPTED]),
	 .table = {5, "INTERRUPTED", 11}},
	{"blocked_ns", COLUMN_NS, FIELD(struct total, wib[WIB_BLOCKED]),
	 .table = {6, "BLOCKED", 10}},
	{NULL, COLUMN_TEXT, .owned = thread_and_unknown, .table = {7, "THREAD", 0, "  "}},
	{0}};

const struct column resource_sum_columns[] = {
	COLUMNS(sum_columns),
	{"resource", COLUMN_RESOURCE, FIELD(struct total, resource)},
	{NULL, COLUMN_TEXT, .owned = resource_sum_label, .table = {4, "WHAT IT WENT TO", 0, "  "}},
	{0}};

const struct column kind_sum_columns[] = {
	COLUMNS(sum_columns),
	{"leaf", COLUMN_TEXT, .owned = leaf_kind},
	{"kind", COLUMN_TEXT, .text = kind},
	{NULL, COLUMN_TEXT, .owned = kind_sum_label, .table = {4, "KIND", 0, "  "}},
	{0}};

GETTER(GArray *, functions_of, struct path_totals,
       row->functions && row->functions->len ? g_array_ref(row->functions) : NULL);

const struct column path_totals_columns[] = {
	{"by_thread", COLUMN_LIST, FIELD(struct path_totals, threads),
	 .columns = thread_sum_columns},
	{"by_resource", COLUMN_LIST, FIELD(struct path_totals, resources),
	 .columns = resource_sum_columns},
	{"by_kind", COLUMN_LIST, FIELD(struct path_totals, kinds), .columns = kind_sum_columns},
	{"by_function", COLUMN_LIST, .array = functions_of, .columns = function_total_columns,
	 .absent = true},
	{0}};
