/* SPDX-License-Identifier: MIT */
/* The LAMI analysis of what makes slow operations slow: the peaks of latencies, and their root
 * causes; see lami.h. The figures are those of `whylate profile`.
 */
#include "lami/lami_latencies.h"
#include "latencies/roots.h"
#include "report/report.h"

/* A peak, and one of its root causes. `data` is struct profiles. */
struct peak_row {
	const char *operation;
	guint number; /* of the operation's peaks, from 1 */
	const struct profile *profile;
	const struct peak *peak;
	const struct root *root; /* NULL: it is the peak's row */
};

/* From this bucket on; the last one is open. */
static int64_t bucket_begin(const struct report *report, guint bucket)
{
	int64_t from = ((const struct profiles *) report->data)->buckets.from[bucket];

	return from == INT64_MAX ? -1 : from;
}

static char *path_text(const struct root *root)
{
	g_autoptr(GPtrArray) nodes = root_path(root);

	g_ptr_array_add(nodes, NULL);
	return g_strjoinv(" > ", (char **) nodes->pdata);
}

static const struct column name_columns[] = {
	{NULL, COLUMN_TEXT, FIELD(struct peak_row, operation), .lami = {"Operation"}},
	{NULL, COLUMN_WHOLE, FIELD(struct peak_row, number), .lami = {"Peak"}},
	{0}};

GETTER(int64_t, begin, struct peak_row, bucket_begin(report, row->peak->range.first));
GETTER(int64_t, below, struct peak_row, bucket_begin(report, row->peak->range.last + 1));
GETTER(int64_t, count, struct peak_row, (int64_t) row->peak->count);
GETTER(double, count_share, struct peak_row,
       lami_ratio((int64_t) row->peak->count, (int64_t) row->profile->count));
GETTER(int64_t, sum, struct peak_row, row->peak->sum);
GETTER(double, sum_share, struct peak_row, lami_ratio(row->peak->sum, row->profile->sum));
GETTER(const char *, search, struct peak_row,
       row->peak->roots ? peak_status_text(row->peak->status) : NULL);
GETTER(int64_t, spans_gap, struct peak_row, (int64_t) row->peak->spans_gap);

static const struct column peak_columns[] = {
	COLUMNS(name_columns),
	{NULL, COLUMN_NS, .number = begin, .lami = {"From"}},
	{NULL, COLUMN_NS, .number = below, .lami = {"To below"}},
	{NULL, COLUMN_WHOLE, .number = count, .lami = {"Operations", "operations"}},
	{NULL, COLUMN_SHARE, .real = count_share, .lami = {"Share of them"}},
	{NULL, COLUMN_NS, .number = sum, .lami = {"Time"}},
	{NULL, COLUMN_SHARE, .real = sum_share, .lami = {"Share of time"}},
	{NULL, COLUMN_TEXT, .text = search, .lami = {"Search for root causes"}},
	{NULL, COLUMN_WHOLE, .number = spans_gap, .lami = {"Span lost events", "operations"}},
	{0}};

GETTER(char *, path, struct peak_row, path_text(row->root));
GETTER(int64_t, maxcount, struct peak_row, (int64_t) row->root->maxcount);
GETTER(double, maxcount_share, struct peak_row,
       lami_ratio((int64_t) row->root->maxcount, (int64_t) row->peak->count));
GETTER(int64_t, root_ns, struct peak_row, row->root->ns);
GETTER(double, root_share, struct peak_row, lami_ratio(row->root->ns, row->peak->sum));
GETTER(const void *, example, struct peak_row,
       root_example(row->root)->latency < 0 ? NULL : root_example(row->root));
GETTER(int64_t, root_spans_gap, struct peak_row, row->root->part->spans_gap);

static const struct column example_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct example, thread), .lami = {"Example"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct example, begin, end), .lami = {"Example, when"}},
	{0}};

static const struct column root_columns[] = {
	COLUMNS(name_columns),
	{NULL, COLUMN_TEXT, .owned = path, .lami = {"Path"}},
	{NULL, COLUMN_WHOLE, .number = maxcount,
	 .lami = {"Among the largest parts of", "operations"}},
	{NULL, COLUMN_SHARE, .real = maxcount_share, .lami = {"Share of the peak's operations"}},
	{NULL, COLUMN_NS, .number = root_ns, .lami = {"Time"}},
	{NULL, COLUMN_SHARE, .real = root_share, .lami = {"Share of the peak's time"}},
	{NULL, COLUMN_OBJECT, .at = example, .columns = example_columns},
	{NULL, COLUMN_BOOL, .number = root_spans_gap, .lami = {"Spans lost events"}},
	{0}};

static const struct lami_table peak_table = {"peaks", "Peaks of latencies", peak_columns, NULL};
static const struct lami_table root_table = {"root-causes", "Root causes of the peaks",
					     root_columns, NULL};

static void write_peak(struct lami_writer *writer, struct peak_row *row)
{
	lami_row(writer, row);
}

static void write_roots(struct lami_writer *writer, struct peak_row *row)
{
	const GArray *roots = row->peak->roots;
	struct root most;

	for (guint i = 0; roots && i < roots->len; i++) {
		row->root = &g_array_index(roots, struct root, i);
		lami_row(writer, row);
	}
	if (roots && roots_most_time(row->peak, &most)) {
		row->root = &most;
		lami_row(writer, row);
	}
}

static void write_table(struct lami_writer *writer, const struct lami_table *table,
			void (*write)(struct lami_writer *writer, struct peak_row *row))
{
	const struct profiles *profiles = writer->report.data;

	lami_begin(writer, table);
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len && !lami_is_full(writer); p++) {
			struct peak_row row = {profile->operation, p + 1, profile,
					       &g_array_index(profile->peaks, struct peak, p),
					       NULL};

			write(writer, &row);
		}
	}
}

static bool write_peaks(struct lami_writer *writer, GError **error)
{
	struct profiles *profiles = lami_profiles(writer, error);

	if (!profiles)
		return false;
	roots_search(profiles);
	writer->report.data = profiles;
	write_table(writer, &peak_table, write_peak);
	write_table(writer, &root_table, write_roots);
	writer->report.data = NULL;
	profiles_free(profiles);
	return true;
}

const struct lami_analysis lami_peaks = {
	.name = "peaks",
	.title = "whylate: peaks of latencies and their root causes",
	.description = "What makes the slow ones slow: the peaks of each operation's latencies, "
		       "and what the operations in each spent their time on.",
	.tags = {"syscall", "stats"},
	.command = "profile",
	.operations = "syscall:*",
	.needs = {EV_SYSCALL_ENTRY},
	.tables = {&peak_table, &root_table},
	.write = write_peaks};
