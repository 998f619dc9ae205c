/* SPDX-License-Identifier: MIT */
/* LAMI tables of the critical path of one thread, or to a target: its steps, and what they add
 * up to; see lami.h. The figures are those of `whylate delay`.
 */
#include "lami/lami.h"

#include "waits/causality.h"
#include "path/path.h"
#include "path/path_sums.h"
#include "waits/summary.h"
#include "util/error.h"

const struct lami_table lami_steps = {
	"steps",
	"Steps of the critical path",
	{{"Thread", LAMI_PROCESS, NULL},
	 {"Step", LAMI_TIME_RANGE, NULL},
	 {"State", LAMI_STRING, NULL},
	 {"For", LAMI_MIXED, NULL},
	 LAMI_CAUSE_COLUMNS,
	 {"Spans lost events", LAMI_BOOL, NULL}}};

static void write_step(struct lami_report *report, const struct piece *piece)
{
	const struct session *session = report->session;
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	g_autofree char *leaf = leaf_key(session, piece->leaf);
	struct cause cause = piece_cause(session, piece);

	lami_process(report, piece->thread);
	lami_time_range(report, piece->begin, piece->end);
	lami_string(report, leaf);
	lami_resource(report, piece->block && piece->block->resource
				      ? session_resource(session, piece->block)
				      : 0);
	if (piece->block || cause.kind == CAUSE_WAIT_CPU || cause.kind == CAUSE_THROTTLED) {
		lami_cause(report, &cause);
	} else {
		for (int i = 0; i < 3; i++)
			lami_empty(report);
	}
	lami_bool(report, session_spans_gap(session, piece->thread, &span));
	cause_clear(&cause);
}

const struct lami_table lami_path_threads = {
	"threads",
	"The critical path, by thread",
	{{"Thread", LAMI_PROCESS, NULL},
	 {"Time", LAMI_DURATION, NULL},
	 {"Share", LAMI_RATIO, NULL},
	 LAMI_WIB_COLUMNS,
	 {"Steps", LAMI_NUMBER, "steps"}}};

const struct lami_table lami_path_kinds = {
	"kinds",
	"The critical path, by state and cause",
	{{"State", LAMI_STRING, NULL},
	 {"Cause", LAMI_STRING, NULL},
	 {"Time", LAMI_DURATION, NULL},
	 {"Share", LAMI_RATIO, NULL},
	 {"Steps", LAMI_NUMBER, "steps"}}};

static void write_totals(struct lami_report *report, const struct path *path)
{
	struct path_totals totals;

	path_totals_init(&totals, report->session, path);
	lami_begin(report, &lami_path_threads);
	for (guint i = 0; i < totals.threads->len && lami_row(report); i++) {
		const struct total *at = &g_array_index(totals.threads, struct total, i);

		lami_process(report, at->thread);
		lami_duration(report, at->ns);
		lami_ratio(report, at->ns, totals.ns);
		lami_wib(report, at->wib);
		lami_number(report, at->count);
	}
	lami_begin(report, &lami_path_kinds);
	for (guint i = 0; i < totals.kinds->len && lami_row(report); i++) {
		const struct total *at = &g_array_index(totals.kinds, struct total, i);
		g_autofree char *leaf = leaf_kind_key(report->session, at->leaf);

		lami_string(report, leaf);
		lami_string(report, cause_kind_text(at->cause));
		lami_duration(report, at->ns);
		lami_ratio(report, at->ns, totals.ns);
		lami_number(report, at->count);
	}
	path_totals_clear(&totals);
}

bool lami_write_path(struct lami_report *report, GError **error)
{
	const struct session *session = report->session;
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
	write_totals(report, path);
	lami_begin(report, &lami_steps);
	for (guint i = 0; i < path->pieces->len && lami_row(report); i++)
		write_step(report, &g_array_index(path->pieces, struct piece, i));
	path_free(path);
	return true;
}
