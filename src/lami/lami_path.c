/* SPDX-License-Identifier: MIT */
/* The LAMI analysis of the critical path of one thread, or to a target: its steps, and what they
 * add up to; see lami.h. The figures are those of `whylate delay`.
 */
#include "lami/lami_analysis.h"
#include "path/path.h"
#include "path/path_sums.h"
#include "util/error.h"
#include "waits/summary.h"

/* --- what the steps add up to: `data` is struct path_totals ---------------------------------- */

GETTER(double, share, struct total,
       lami_ratio(row->ns, ((const struct path_totals *) report->data)->ns));
GETTER(char *, state, struct total, leaf_kind_key(report->session, row->leaf));
GETTER(const char *, cause, struct total, cause_kind_text(row->cause));

static const struct column time_columns[] = {
	{NULL, COLUMN_NS, FIELD(struct total, ns), .lami = {"Time"}},
	{NULL, COLUMN_SHARE, .real = share, .lami = {"Share"}},
	{0}};

static const struct column count_columns[] = {
	{NULL, COLUMN_WHOLE, FIELD(struct total, count), .lami = {"Steps", "steps"}}, {0}};

static const struct column thread_total_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct total, thread), .lami = {"Thread"}},
	COLUMNS(time_columns),
	COLUMNS_WIB(struct total, wib),
	COLUMNS(count_columns),
	{0}};

static const struct column kind_total_columns[] = {
	{NULL, COLUMN_TEXT, .owned = state, .lami = {"State"}},
	{NULL, COLUMN_TEXT, .text = cause, .lami = {"Cause"}},
	COLUMNS(time_columns),
	COLUMNS(count_columns),
	{0}};

static const struct lami_table thread_table = {"threads", "The critical path, by thread",
					       thread_total_columns, NULL};
static const struct lami_table kind_table = {"kinds", "The critical path, by state and cause",
					     kind_total_columns, NULL};

static void write_totals(struct lami_writer *writer, const struct path *path)
{
	struct path_totals totals;

	path_totals_init(&totals, writer->report.session, path);
	writer->report.data = &totals;
	lami_rows(writer, &thread_table, ROWS(totals.threads));
	lami_rows(writer, &kind_table, ROWS(totals.kinds));
	writer->report.data = NULL;
	path_totals_clear(&totals);
}

/* --- steps ---------------------------------------------------------------------------------- */

struct step {
	const struct piece *piece;
	struct cause cause;
};

static bool piece_spans_gap(const struct session *session, const struct piece *piece)
{
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};

	return session_spans_gap(session, piece->thread, &span);
}

GETTER(int64_t, resource, struct piece,
       row->block && row->block->resource ? session_resource(report->session, row->block) : 0);
GETTER(int64_t, spans_gap, struct step, piece_spans_gap(report->session, row->piece));
GETTER(const void *, if_waited, struct step,
       row->piece->block || leaf_is_off_cpu(row->piece->leaf) ? &row->cause : NULL);

static const struct column piece_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct piece, thread), .lami = {"Thread"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct piece, begin, end), .lami = {"Step"}},
	{NULL, COLUMN_LEAF, FIELD(struct piece, leaf), .lami = {"State"}},
	{NULL, COLUMN_RESOURCE, .number = resource, .lami = {"For"}},
	{0}};

static const struct column step_columns[] = {
	{NULL, COLUMN_OBJECT, FIELD(struct step, piece), .columns = piece_columns},
	{NULL, COLUMN_OBJECT, .at = if_waited, .columns = lami_cause_columns},
	{NULL, COLUMN_BOOL, .number = spans_gap, .lami = {"Spans lost events"}},
	{0}};

static const struct lami_table step_table = {"steps", "Steps of the critical path", step_columns,
					     NULL};

static void write_steps(struct lami_writer *writer, const struct path *path)
{
	lami_begin(writer, &step_table);
	for (guint i = 0; i < path->pieces->len && !lami_is_full(writer); i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		struct step step = {piece, piece_cause(writer->report.session, piece)};

		lami_row(writer, &step);
		cause_clear(&step.cause);
	}
}

static bool write_path(struct lami_writer *writer, GError **error)
{
	const struct session *session = writer->report.session;
	uint32_t thread = session->asked.target;
	struct path *path;

	if (thread == NO_THREAD && session->asked.selected->len == 1)
		thread = g_array_index(session->asked.selected, uint32_t, 0);
	if (thread == NO_THREAD) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "the critical path is of one thread, and %u are asked for: --thread "
			    "TID|NAME names it, or --target 'EVENT [key=value]...'",
			    session->asked.selected->len);
		return false;
	}
	path = path_new(session, thread, session->asked.from, session->asked.to);
	write_totals(writer, path);
	write_steps(writer, path);
	path_free(path);
	return true;
}

const struct lami_analysis lami_path = {
	.name = "path",
	.title = "whylate: critical path of a thread",
	.description = "Where the time of one thread (--thread), or the time to an event "
		       "(--target), went: step by step through those who kept it waiting.",
	.tags = {"sched", "log"},
	.command = "delay",
	.of_threads = true,
	.needs = {EV_SCHED_SWITCH},
	.tables = {&thread_table, &kind_table, &step_table},
	.write = write_path};
