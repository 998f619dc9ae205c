/* SPDX-License-Identifier: MIT */
/* See fleet_charts.h. Each picture has rows (hosts, causes, operations), and a mark for each trace
 * at the time at which it begins, below the row's name:
 *
 *   web-1
 *       ●   ●      ■  ●            ● good   ■ something is wrong with it
 *   web-2
 *    ●      ●  ●
 *   ├── time ─────────────────►
 *
 * Places are shares of the width, heights and letters pixels: on a narrow screen the picture is as
 * wide as that, and its words are as large as on a wide one.
 *
 * A row has COLUMNS places; of traces that fall on one the largest is drawn, and how many they are
 * is told. So a page of 100,000 traces is no larger than one of a thousand, and what is far out is
 * seen. Two passes over the traces: which rows there are, then who falls where.
 */
#include "fleet/fleet_charts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "report/report.h"

#define COLUMNS_MAX 240
#define ROWS_MAX 24
#define LATENCIES_MAX 8
#define NAME_HEIGHT 18
#define ROW_HEIGHT 40
#define STRIP_HEIGHT 72

enum chart_kind { CHART_HOSTS, CHART_CAUSES, CHART_LATENCIES, CHARTS };

/* A trace on its place. */
struct chart_mark {
	json_int_t ns; /* how large it is */
	json_int_t longest; /* of a latency */
	guint traces; /* that fall there */
	bool bad;
	char *trace, *words; /* owned */
};

struct row {
	char *name; /* owned */
	json_int_t traces, ns;
	json_int_t least, most; /* of marks */
	struct chart_mark *marks; /* owned; COLUMNS_MAX; NULL until it is drawn */
};

struct charts {
	json_int_t first, last; /* begins of traces */
	guint times;
	GHashTable *rows[CHARTS]; /* name -> struct row, owned */
	GPtrArray *drawn[CHARTS]; /* borrowed; those that are drawn */
	bool marking;
};

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_int_t integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void row_free(gpointer data)
{
	struct row *row = data;

	for (guint i = 0; row->marks && i < COLUMNS_MAX; i++) {
		g_free(row->marks[i].trace);
		g_free(row->marks[i].words);
	}
	g_free(row->marks);
	g_free(row->name);
	g_free(row);
}

/* --- what falls where ------------------------------------------------------------------------ */

static guint column_of(const struct charts *charts, json_int_t time)
{
	double length = MAX((double) (charts->last - charts->first), 1);

	return (guint) ((double) (time - charts->first) / length * (COLUMNS_MAX - 1));
}

static void put_mark(const struct charts *charts, struct row *row, const json_t *trace,
		     const struct chart_mark *one)
{
	struct chart_mark *mark =
		&row->marks[column_of(charts, integer(json_object_get(trace, "window"), "begin"))];
	guint traces = mark->traces + 1;
	bool bad = mark->bad || one->bad;

	row->least = row->least ? MIN(row->least, one->ns) : one->ns;
	row->most = MAX(row->most, MAX(one->ns, one->longest));
	if (mark->traces == 0 || one->ns > mark->ns || (one->bad && !mark->bad)) {
		g_free(mark->trace);
		g_free(mark->words);
		*mark = *one;
		mark->trace = g_strdup(text_of(trace, "trace"));
		mark->words = g_strdup(one->words);
	}
	mark->traces = traces;
	mark->bad = bad;
}

/* In the first pass it counts, in the second it is marked if its row is drawn. */
static void add(struct charts *charts, enum chart_kind kind, const char *name, const json_t *trace,
		const struct chart_mark *mark)
{
	struct row *row = g_hash_table_lookup(charts->rows[kind], name);

	if (charts->marking) {
		if (row && row->marks)
			put_mark(charts, row, trace, mark);
		return;
	}
	if (!row) {
		row = g_new0(struct row, 1);
		row->name = g_strdup(name);
		g_hash_table_insert(charts->rows[kind], row->name, row);
	}
	row->traces++;
	row->ns = mark->ns > INT64_MAX - row->ns ? INT64_MAX : row->ns + mark->ns;
}

/* "Device: ledger (265) waited …" is a Device. */
static char *cause_of(const json_t *finding)
{
	const char *title = text_of(finding, "title"), *end = strchr(title, ':');

	if (strcmp(text_of(finding, "kind"), "answer") != 0)
		return g_strdup("nothing stands out");
	return end && end - title < 40 ? g_strndup(title, (gsize) (end - title))
				       : g_strdup("other");
}

static void add_latencies(struct charts *charts, const json_t *trace)
{
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(trace, "latencies"), i, each)
	{
		json_int_t count = MAX(integer(each, "count"), 1);
		struct chart_mark mark = {.ns = integer(each, "sum_ns") / count,
					  .longest = integer(each, "max_ns")};
		char mean[32], longest[32];
		g_autofree char *words =
			g_strdup_printf("%" JSON_INTEGER_FORMAT " operations, mean %s, longest %s",
					count, when_duration(mean, mark.ns),
					when_duration(longest, mark.longest));

		mark.words = words;
		add(charts, CHART_LATENCIES, text_of(each, "operation"), trace, &mark);
	}
}

static void add_trace(void *data, const json_t *trace)
{
	struct charts *charts = data;
	const json_t *window = json_object_get(trace, "window"),
		     *finding = json_object_get(trace, "finding");
	json_int_t begin = integer(window, "begin");
	const char *host = text_of(trace, "hostname");
	g_autofree char *cause = cause_of(finding), *words = NULL;
	struct chart_mark mark = {.ns = integer(finding, "ns"),
				  .bad = integer(trace, "status") || batch_lost_some(trace)};

	if (!window)
		return;
	if (!charts->marking) {
		charts->first = charts->times ? MIN(charts->first, begin) : begin;
		charts->last = charts->times++ ? MAX(charts->last, begin) : begin;
	}
	words = g_strdup_printf("%s; %s", batch_outcome(trace), text_of(finding, "title"));
	mark.words = words;
	add(charts, CHART_HOSTS, *host ? host : "unknown host", trace, &mark);
	if (strcmp(text_of(finding, "kind"), "answer") != 0)
		mark.ns = 0; /* the longest wait there is nobody's trouble */
	add(charts, CHART_CAUSES, cause, trace, &mark);
	add_latencies(charts, trace);
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct row *x = *(struct row *const *) a, *y = *(struct row *const *) b;

	if (x->traces != y->traces)
		return x->traces > y->traces ? -1 : 1;
	return x->ns != y->ns ? (x->ns > y->ns ? -1 : 1) : strcmp(x->name, y->name);
}

static void choose_rows(struct charts *charts)
{
	for (int kind = 0; kind < CHARTS; kind++) {
		GPtrArray *rows = charts->drawn[kind];
		guint most = kind == CHART_LATENCIES ? LATENCIES_MAX : ROWS_MAX;
		GHashTableIter iter;
		gpointer row;

		g_hash_table_iter_init(&iter, charts->rows[kind]);
		while (g_hash_table_iter_next(&iter, NULL, &row))
			g_ptr_array_add(rows, row);
		g_ptr_array_sort(rows, most_first);
		g_ptr_array_set_size(rows, (gint) MIN(rows->len, most));
		for (guint i = 0; i < rows->len; i++)
			((struct row *) rows->pdata[i])->marks =
				g_new0(struct chart_mark, COLUMNS_MAX);
	}
}

/* --- drawing --------------------------------------------------------------------------------- */

struct drawing {
	const struct charts *charts;
	fleet_link *link;
	const void *data;
	FILE *file;
};

static char *escaped(const char *text)
{
	g_autofree char *safe = text_safe(text);
	g_autofree char *valid = g_utf8_make_valid(safe, -1);

	return g_markup_escape_text(valid, -1);
}

/* In percent of the width. */
static double x_of(guint column)
{
	return 1.5 + (double) column / (COLUMNS_MAX - 1) * 97;
}

/* Of its row: 0 at the least, 1 at the most, on a logarithmic scale. */
static double share_of(const struct row *row, json_int_t ns)
{
	double least = log((double) MAX(row->least, 1)), most = log((double) MAX(row->most, 1));

	return most > least ? CLAMP((log((double) MAX(ns, 1)) - least) / (most - least), 0, 1) : 1;
}

/* Of a strip: where that long is. */
static double y_of(const struct row *row, double top, json_int_t ns)
{
	return top + NAME_HEIGHT + 4 + (STRIP_HEIGHT - NAME_HEIGHT - 10) * (1 - share_of(row, ns));
}

/* What is wrong is a square: not told by colour alone. */
static void draw_mark(const struct drawing *drawing, const struct row *row, guint column,
		      double top, bool strip)
{
	const struct chart_mark *mark = &row->marks[column];
	const char *link = drawing->link(drawing->data, mark->trace);
	g_autofree char *trace = escaped(mark->trace), *words = escaped(mark->words);
	FILE *file = drawing->file;
	double x = x_of(column), size = strip ? 3.5 : 3 + 5 * share_of(row, mark->ns);
	double y = strip ? y_of(row, top, mark->ns) : top + (NAME_HEIGHT + ROW_HEIGHT) / 2.0;

	if (link)
		fprintf(file, "<a href=\"%s\">", link);
	fprintf(file, "<g><title>%s: %s", trace, words);
	if (mark->traces > 1)
		fprintf(file, "; the largest of %u traces then", mark->traces);
	fputs("</title>", file);
	if (strip && mark->longest > mark->ns)
		fprintf(file,
			"<line class=\"longest\" x1=\"%.1f%%\" x2=\"%.1f%%\" y1=\"%.1f\" "
			"y2=\"%.1f\"/>",
			x, x, y_of(row, top, mark->longest), y);
	if (mark->bad)
		fprintf(file,
			"<rect class=\"f-blocked\" x=\"%.1f%%\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\" transform=\"translate(%.1f)\"/>",
			x, y - size, 2 * size, 2 * size, -size);
	else
		fprintf(file, "<circle class=\"f-user\" cx=\"%.1f%%\" cy=\"%.1f\" r=\"%.1f\"/>", x,
			y, size);
	fputs(link ? "</g></a>\n" : "</g>\n", file);
}

static void draw_row(const struct drawing *drawing, const struct row *row, double top, bool strip)
{
	double height = strip ? STRIP_HEIGHT : ROW_HEIGHT;
	g_autofree char *name = escaped(row->name);
	FILE *file = drawing->file;
	char least[32], most[32];

	fprintf(file,
		"<line class=\"grid\" x1=\"0\" x2=\"100%%\" y1=\"%.1f\" y2=\"%.1f\"/>"
		"<text class=\"small\" x=\"0\" y=\"%.1f\"><tspan class=\"strong\">%s</tspan>",
		top + height, top + height, top + 15, name);
	if (strip)
		fprintf(file, "<tspan dx=\"8\">%s to %s</tspan>", when_duration(least, row->least),
			when_duration(most, row->most));
	fputs("</text>", file);
	for (guint column = 0; column < COLUMNS_MAX; column++)
		if (row->marks[column].traces)
			draw_mark(drawing, row, column, top, strip);
}

static void draw_time(const struct drawing *drawing, double y)
{
	const struct charts *charts = drawing->charts;

	for (int i = 0; i < 4; i++) {
		char when[48];
		json_int_t time = charts->first + (charts->last - charts->first) / 3 * i;

		when_time(when, time, true, true);
		when[MIN(strlen("[YYYY-MM-DD hh:mm:ss"), strlen(when))] = '\0';
		fprintf(drawing->file,
			"<text class=\"small%s\" x=\"%.1f%%\" y=\"%.1f\" "
			"text-anchor=\"%s\">%s</text>",
			i == 0 || i == 3 ? "" : " between", /* room for two on a narrow screen */
			i == 0   ? 0
			: i == 3 ? 100
				 : x_of((guint) (i * (COLUMNS_MAX - 1) / 3)),
			y,
			i == 0   ? "start"
			: i == 3 ? "end"
				 : "middle",
			when + 1);
	}
}

static void draw(const struct drawing *drawing, enum chart_kind kind)
{
	static const struct {
		const char *id, *title, *about;
	} words[CHARTS] = {
		[CHART_HOSTS] = {"hosts", "Hosts over time",
				 "A mark for each trace where it begins, the larger the longer "
				 "what stands out there took; a square: events were lost, a limit "
				 "is exceeded, or it is not whole."},
		[CHART_CAUSES] = {"causes", "What stood out over time",
				  "By the first word of what stands out most in a trace."},
		[CHART_LATENCIES] = {"means", "Latencies over time",
				     "The mean in each trace, and a line up to the longest; each "
				     "operation on a logarithmic scale of its own."},
	};
	const GPtrArray *rows = drawing->charts->drawn[kind];
	guint left = g_hash_table_size(drawing->charts->rows[kind]) - rows->len;
	bool strip = kind == CHART_LATENCIES;
	double height = rows->len * (strip ? STRIP_HEIGHT : ROW_HEIGHT);
	FILE *file = drawing->file;

	if (!rows->len)
		return;
	fprintf(file,
		"<section id=\"%s\"><h2>%s</h2>\n<p class=\"about\">%s Times are UTC.</p>\n"
		"<svg class=\"fleet\" height=\"%.0f\" role=\"group\" aria-label=\"%s; the "
		"table of traces says the same\">\n",
		words[kind].id, words[kind].title, words[kind].about, height + 24,
		words[kind].title);
	for (guint i = 0; i < rows->len; i++)
		draw_row(drawing, rows->pdata[i], i * (strip ? STRIP_HEIGHT : ROW_HEIGHT), strip);
	draw_time(drawing, height + 17);
	fputs("</svg>\n", file);
	if (left)
		fprintf(file,
			"<p class=\"note\">%u more have no row: those with most traces do.</p>\n",
			left);
	fputs("</section>\n", file);
}

bool fleet_charts(struct batch *batch, fleet_link *link, const void *data, FILE *file)
{
	struct charts charts = {0};
	struct drawing drawing = {&charts, link, data, file};
	bool whole;

	for (int kind = 0; kind < CHARTS; kind++) {
		charts.rows[kind] = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, row_free);
		charts.drawn[kind] = g_ptr_array_new();
	}
	whole = batch_each(batch, add_trace, &charts);
	if (charts.times > 1) {
		choose_rows(&charts);
		charts.marking = true;
		whole &= batch_each(batch, add_trace, &charts);
		for (int kind = 0; kind < CHARTS; kind++)
			draw(&drawing, (enum chart_kind) kind);
	}
	for (int kind = 0; kind < CHARTS; kind++) {
		g_hash_table_destroy(charts.rows[kind]);
		g_ptr_array_free(charts.drawn[kind], TRUE);
	}
	return whole;
}
