/* SPDX-License-Identifier: MIT */
/* The list of LAMI analyses, their metadata, and what the trace could not tell; see lami.h. */
#include "lami/lami.h"

#include <inttypes.h>
#include <string.h>

#include "config.h"
#include "coverage/coverage.h"

static const struct lami_analysis *const analyses[] = {
	&lami_blocked,   &lami_waits, &lami_states, &lami_path,       &lami_locks,
	&lami_latencies, &lami_peaks, &lami_block,  &lami_interrupts, &lami_requests};

const struct lami_analysis *lami_nth(guint number)
{
	return number < G_N_ELEMENTS(analyses) ? analyses[number] : NULL;
}

const struct lami_analysis *lami_find(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(analyses); i++)
		if (strcmp(analyses[i]->name, name) == 0)
			return analyses[i];
	return NULL;
}

/* --- coverage ------------------------------------------------------------------------------- */

struct untold {
	const char *what;
	const struct gap *gap; /* NULL: it has no time */
};

GETTER(int64_t, lost_events, struct gap, row->packets ? -1 : row->events);

static const struct column gap_columns[] = {
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct gap, begin, end), .lami = {"When"}},
	{NULL, COLUMN_WHOLE, .number = lost_events, .none = NONE_NEGATIVE,
	 .lami = {"How many", .unknown = true}},
	{0}};

static const struct column coverage_cells[] = {
	{NULL, COLUMN_TEXT, FIELD(struct untold, what), .lami = {"What"}},
	{NULL, COLUMN_OBJECT, FIELD(struct untold, gap), .columns = gap_columns},
	{0}};

/* What could not be told comes with every result: it is empty, and left out, of a trace that
 * tells all. */
static const struct lami_table coverage_table = {"coverage", "What the trace could not tell",
						 coverage_cells, NULL};

static void write_untold(struct lami_writer *writer, const char *what, const struct gap *gap)
{
	struct untold untold = {what, gap};

	lami_row(writer, &untold);
}

static void write_gaps(struct lami_writer *writer, guint number)
{
	const struct session *session = writer->report.session;
	const struct host *host = model_host(&session->trace.model, number);
	bool several = session->trace.model.hosts->len > 1;

	for (guint i = 0; i < host->gaps->len; i++) {
		const struct gap *gap = &g_array_index(host->gaps, struct gap, i);
		g_autofree char *what = NULL;

		if (gap->end <= session->asked.from || gap->begin >= session->asked.to)
			continue;
		what = g_strdup_printf("events of CPU %u lost%s%s", gap->cpu, several ? " on " : "",
				       several ? trace_host_name(&session->trace, number) : "");
		write_untold(writer, what, gap);
	}
}

static void write_coverage(struct lami_writer *writer)
{
	const struct session *session = writer->report.session;
	struct coverage coverage;

	coverage_init(&coverage, session);
	lami_begin(writer, &coverage_table);
	if (session->trace.stopped)
		write_untold(writer, session->trace.stopped, NULL);
	for (guint i = 0; i < session->trace.damages->len; i++) {
		const struct damage *at = &g_array_index(session->trace.damages, struct damage, i);
		g_autofree char *text =
			at->what ? g_strdup_printf("%s is damaged: %s", at->file, at->what)
				 : g_strdup_printf("%s is damaged: %" PRIu64 " of %" PRIu64
						   " bytes could not be read",
						   at->file, at->bytes, at->total);

		write_untold(writer, text, NULL);
	}
	for (guint h = 0; h < session->trace.model.hosts->len; h++)
		write_gaps(writer, h);
	for (guint i = 0; i < coverage.missing->len; i++)
		write_untold(writer, g_ptr_array_index(coverage.missing, i), NULL);
	coverage_clear(&coverage);
}

/* --- objects -------------------------------------------------------------------------------- */

static void put_texts(struct output *output, const char *const *texts, guint count)
{
	for (guint i = 0; i < count && texts[i]; i++)
		json_put_text(output, NULL, texts[i]);
}

static void put_version(struct output *output, const char *key, const char *version, int parts)
{
	static const char *const names[] = {"major", "minor", "patch"};
	unsigned numbers[3] = {0};

	sscanf(version, "%u.%u.%u", &numbers[0], &numbers[1], &numbers[2]);
	json_begin(output, key, '{', LINES_NOT);
	for (int i = 0; i < parts; i++)
		json_put_whole(output, names[i], numbers[i]);
	json_end(output, '}');
}

void lami_metadata(const struct lami_analysis *analysis, FILE *file)
{
	static const char *const authors[] = {"whylate"}, *const tags[] = {"linux-kernel",
									   "whylate"};
	struct output output = {.file = file, .json.compact = true};
	struct report report = {NULL, NULL, &output};

	json_begin(&output, NULL, '{', LINES_NOT);
	put_version(&output, "mi-version", "1.0", 2);
	put_version(&output, "version", PACKAGE_VERSION, 3);
	json_put_text(&output, "title", analysis->title);
	json_begin(&output, "authors", '[', LINES_NOT);
	put_texts(&output, authors, G_N_ELEMENTS(authors));
	json_end(&output, ']');
	json_put_text(&output, "description", analysis->description);
	json_begin(&output, "tags", '[', LINES_NOT);
	put_texts(&output, analysis->tags, G_N_ELEMENTS(analysis->tags));
	put_texts(&output, tags, G_N_ELEMENTS(tags));
	json_end(&output, ']');
	json_begin(&output, "table-classes", '{', LINES_NOT);
	for (guint i = 0; i < G_N_ELEMENTS(analysis->tables) && analysis->tables[i]; i++)
		lami_describe(&report, analysis->tables[i]);
	lami_describe(&report, &coverage_table);
	json_end(&output, '}');
	json_end(&output, '}');
	fputc('\n', file);
}

void lami_error(const char *message, int code, FILE *file)
{
	struct output output = {.file = file, .json.compact = true};

	json_begin(&output, NULL, '{', LINES_NOT);
	json_put_text(&output, "error-message", message);
	json_put_whole(&output, "error-code", code);
	json_end(&output, '}');
	fputc('\n', file);
}

bool lami_write(const struct session *session, FILE *file, GError **error)
{
	struct output output = {.file = file, .json.compact = true};
	struct lami_writer writer = {.report = {session, NULL, &output}};

	if (!session->asked.options->lami->write(&writer, error))
		return false;
	write_coverage(&writer);
	lami_end(&writer);
	return true;
}
