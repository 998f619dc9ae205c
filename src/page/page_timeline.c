/* SPDX-License-Identifier: MIT */
/* The page's second block of data: the timeline of each thread that the report names, and who
 * waited for whom.
 *
 * Place: page/, called by page.c when the report's JSON is written, which has told what it names.
 * The states themselves are packed by page_cells.c. Times of day are text, as JavaScript's numbers
 * hold 53 bits; all else counts from the window's begin.
 */
#include <inttypes.h>
#include <time.h>

#include "coverage/bearing.h"
#include "page/levels.h"
#include "imposed/waiting.h"
#include "page/page_cells.h"
#include "page/page_path.h"
#include "page/page_samples.h"
#include "page/page_timeline.h"
#include "run/command.h"
#include "waits/causality.h"

#define EXPLAINED_MAX 64 /* examples and waits whose causes are looked for here */
#define EDGES_MAX 120

static void mention_waits(struct page_rows *rows, const GPtrArray *waits)
{
	for (guint i = 0; waits && i < waits->len; i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);

		if (!wait->has_share)
			continue;
		page_rows_mention(rows, wait->lead.thread, wait->lead.from, wait->lead.until);
		mention_waits(rows, wait->children);
	}
}

/* Of examples that a report gives without whom their waits led to, the page looks for them, so
 * that the timeline beside an example has who ended its waits. */
static void explain_mentions(struct page_rows *rows)
{
	guint count = MIN(rows->mentions->len, EXPLAINED_MAX);

	for (guint i = 0; i < count && !session_interrupted(rows->session); i++) {
		struct mention at = g_array_index(rows->mentions, struct mention, i);
		uint32_t omitted;
		GPtrArray *waits =
			causality_new(rows->session, at.thread, at.begin, at.end, 10, &omitted);

		mention_waits(rows, waits);
		g_ptr_array_free(waits, TRUE);
	}
}

GETTER(int64_t, row_from, uint32_t,
       row_stretch(report->data, *row).begin - report->session->asked.from);
GETTER(int64_t, row_to, uint32_t,
       row_stretch(report->data, *row).end - report->session->asked.from);
GETTER(int64_t, row_kernel, uint32_t,
       thread_is_kernel(&report->session->trace.model,
			model_thread(&report->session->trace.model, *row)));

/* Of a thread, uint32_t. */
static const struct column row_columns[] = {{NULL, COLUMN_THREAD, ROW_NUMBER},
					    {"from", COLUMN_NS, .number = row_from},
					    {"to", COLUMN_NS, .number = row_to},
					    {"kernel", COLUMN_BOOL, .number = row_kernel},
					    {0}};

static void put_edges(struct packer *packer, const struct waiting *waiting, struct output *output)
{
	const struct page_rows *rows = packer->rows;

	json_begin(output, "edges", '[', LINES_NOT);
	for (guint i = 0; waiting->edges && i < waiting->edges->len && i < EDGES_MAX; i++) {
		const struct waited_for *edge =
			&g_array_index(waiting->edges, struct waited_for, i);
		guint from = page_row_number(rows, edge->waiter);
		guint to = page_row_number(rows, edge->lead);

		if (!from || !to)
			continue;
		json_begin(output, NULL, '[', LINES_NOT);
		json_put_whole(output, NULL, from - 1);
		json_put_whole(output, NULL, to - 1);
		json_put_whole(output, NULL, edge->ns);
		json_put_whole(output, NULL, (int64_t) edge->count);
		json_put_whole(output, NULL,
			       text_number(packer, edge->resource ? session_text(rows->session,
										 edge->resource)
								  : ""));
		json_end(output, ']');
	}
	json_end(output, ']');
}

/* The clock on the wall at that time, relative to UTC: seconds. */
static int64_t utc_offset(const struct session *session, int64_t ns)
{
	time_t seconds = (time_t) (ns / 1000000000);
	struct tm tm;

	if (session->asked.options->utc || !localtime_r(&seconds, &tm))
		return 0;
	return tm.tm_gmtoff;
}

/* What the page's commands are made of (commandFor() in share/page/data.js): the words before and
 * behind thread and window, which are chosen there, as suggested_words() puts them; between which
 * times a window lies, and whether one clock shows them all. Nothing where the trace does not bear
 * the answer. */
static void put_command(const struct session *session, struct output *output)
{
	const struct trace *trace = &session->trace;
	const struct command *const *all = session->asked.options->commands;
	const struct command *delay = all ? command_find(all, "delay") : NULL;
	g_autoptr(GPtrArray) words = NULL;
	g_autofree char *before = NULL, *after = NULL;
	char time[24];

	if (delay && !trace_bears_command(session, delay))
		return;
	words = suggested_words(
		session,
		&(struct suggestion) {.command = "delay", .from = trace->begin, .to = trace->end});
	g_ptr_array_add(words, NULL);
	after = g_strjoinv(" ", (char **) words->pdata + 3);
	g_clear_pointer(&words->pdata[3], g_free);
	before = g_strjoinv(" ", (char **) words->pdata);
	json_begin(output, "command", '{', LINES_NOT);
	json_put_text(output, "before", before);
	json_put_text(output, "after", after);
	g_snprintf(time, sizeof time, "%" PRId64, trace->begin);
	json_put_text(output, "from", time);
	g_snprintf(time, sizeof time, "%" PRId64, trace->end);
	json_put_text(output, "to", time);
	json_put_bool(output, "one_clock",
		      utc_offset(session, trace->begin) == utc_offset(session, trace->end));
	json_end(output, '}');
}

static void mention_edges(struct page_rows *rows, const struct waiting *waiting)
{
	for (guint i = 0; waiting->edges && i < waiting->edges->len && i < EDGES_MAX; i++) {
		const struct waited_for *edge =
			&g_array_index(waiting->edges, struct waited_for, i);

		page_rows_add(rows, edge->waiter);
		page_rows_add(rows, edge->lead);
	}
}

/* How the page asks for more: where, of which threads, and whose critical path it has. */
static void put_served(const struct page_rows *rows, const struct page_parts *parts,
		       struct output *output)
{
	const struct session *session = rows->session;

	json_put_text(output, "served", session->asked.options->served);
	json_begin(output, "threads", '[', LINES_NOT);
	for (guint i = 0; i < rows->threads->len; i++)
		json_put_whole(output, NULL, g_array_index(rows->threads, uint32_t, i));
	json_end(output, ']');
	if (parts->path)
		json_put_whole(output, "path_of",
			       session->asked.target != NO_THREAD
				       ? session->asked.target
				       : g_array_index(session->asked.selected, uint32_t, 0));
}

static void put_timeline(struct packer *packer, struct page_rows *rows,
			 const struct page_parts *parts, struct output *output)
{
	struct report report = {rows->session, rows, output};

	json_put_rows(&report, "rows", row_columns, ROWS(rows->threads));
	json_put_whole(output, "rows_omitted", (int64_t) rows->threads_omitted);
	if (rows->session->asked.options->served)
		put_served(rows, parts, output);
	if (!write_levels(packer, output))
		write_mentions(packer, output);
	if (parts->waiting)
		put_edges(packer, parts->waiting, output);
	page_path(packer, parts, output);
	page_samples(rows, output);
	lanes_write(&packer->lanes, LANES_MAX, output);
}

void page_timeline(struct page_rows *rows, const struct page_asked *asked,
		   const struct page_parts *parts, struct output *output)
{
	const struct session *session = rows->session;
	struct packer packer;
	char base[24];

	packer_init(&packer, rows);
	if (session->asked.options->served)
		packer.lanes.parts = LANE_PARTS_SERVED;
	if (asked->timeline && !asked->has_leads)
		explain_mentions(rows);
	if (parts->waiting)
		mention_edges(rows, parts->waiting);
	page_rows_settle(rows);
	g_snprintf(base, sizeof base, "%" PRId64, session->asked.from);
	json_begin(output, NULL, '{', LINES_BETWEEN);
	json_put_text(output, "base", base);
	json_put_whole(output, "length_ns", session->asked.to - session->asked.from);
	json_put_whole(output, "utc_offset_s", utc_offset(session, session->asked.from));
	put_command(session, output);
	if (asked->timeline)
		put_timeline(&packer, rows, parts, output);
	if (parts->more)
		parts->more(&packer, parts->data, output);
	write_texts(&packer, output);
	json_end(output, '}');
	fputc('\n', output->file);
	packer_clear(&packer);
}
