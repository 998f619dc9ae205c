/* SPDX-License-Identifier: MIT */
/* The page of `whylate batch --index`: one file, no script, nothing from elsewhere; see
 * fleet_page.h.
 *
 * Tables of the limits, the traces, the settings that differ, the findings over all of them and the
 * latencies, in the looks of all pages (share/page/report.css). A trace is linked to its own page,
 * where there is one (--pages), by a way that goes from the index to it; else the command that
 * makes it stands there. Of very many traces the table has those that are not good and those in
 * which most stands out, and says so. Colours follow the reader's scheme, and nothing is said by
 * colour alone. Names of traces and threads are anybody's: all text is escaped.
 */
#include "fleet/fleet_page.h"

#include <inttypes.h>
#include <string.h>

#include "fleet/fleet_charts.h"
#include "limits/judge.h"
#include "page/page.h"
#include "report/report.h"
#include "words/times.h"

#define FINDINGS_SHOWN 25   /* of each list */
#define OPERATIONS_SHOWN 25 /* the others are folded away */
#define TRACES_SHOWN 1000 /* 700 bytes each; a page of 100,000 opens in no browser */

/* How much a trace has to say. */
struct weight {
	json_int_t ns; /* of what stands out most */
	guint place;   /* of batch_each() */
	bool bad;      /* events were lost, a limit is exceeded, it could not be read … */
};

/* A table while it is written. */
struct table {
	FILE *file;               /* borrowed */
	const char *const *names; /* borrowed; its headings; a '#' before those of numbers */
	guint at;                 /* the column that comes next */
};

/* What all tables are written with. */
struct index {
	struct batch *batch;  /* borrowed */
	const json_t *merged; /* borrowed; but for its traces */
	FILE *file;           /* borrowed */
	char *directory;      /* owned; where the index is */
	GHashTable *links; /* trace -> as an attribute has it, both owned; those with a page */
	bool whole;        /* all traces could be read back */
	GArray *weights;   /* owned; struct weight of each trace */
	guint8 *shown;     /* owned; of each trace by place: it has a row */
	guint place;       /* while rows are written */
	struct table table; /* of traces, while its rows are written */
};

/* Escaped, control characters shown; free with g_free(). */
static char *escaped(const char *text)
{
	g_autofree char *safe = text_safe(text ? text : "");
	g_autofree char *valid = g_utf8_make_valid(safe, -1);

	return g_markup_escape_text(valid, -1);
}

/* From a directory to a file, both absolute and without "..", as a link; free with g_free(). */
static char *way_to(const char *directory, const char *path)
{
	g_auto(GStrv) from = g_strsplit(directory, "/", -1), to = g_strsplit(path, "/", -1);
	g_autoptr(GString) way = g_string_new(NULL);
	guint same = 0;

	while (from[same] && to[same] && to[same + 1] && strcmp(from[same], to[same]) == 0)
		same++;
	for (guint i = same; from[i]; i++)
		if (*from[i])
			g_string_append(way, "../");
	for (guint i = same; to[i]; i++) {
		g_autofree char *part = g_uri_escape_string(to[i], NULL, FALSE);

		g_string_append_printf(way, "%s%s", i > same ? "/" : "", part);
	}
	return g_markup_escape_text(way->str, -1);
}

static json_int_t integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static bool is_bad(const json_t *trace)
{
	return integer(trace, "status") || batch_lost_some(trace);
}

static void meet(void *data, const json_t *entry)
{
	struct index *index = data;
	struct weight weight = {integer(json_object_get(entry, "finding"), "ns"),
				index->weights->len, is_bad(entry)};
	const char *page = json_string_value(json_object_get(entry, "page"));
	const char *trace = json_string_value(json_object_get(entry, "trace"));
	g_autofree char *whole = page ? g_canonicalize_filename(page, NULL) : NULL;

	g_array_append_val(index->weights, weight);
	if (page && trace)
		g_hash_table_insert(index->links, g_strdup(trace), way_to(index->directory, whole));
}

/* What is not good, then that in which most stands out. */
static int heaviest(gconstpointer a, gconstpointer b)
{
	const struct weight *x = a, *y = b;

	if (x->bad != y->bad)
		return x->bad ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->place < y->place ? -1 : x->place > y->place;
}

static void choose_shown(struct index *index)
{
	g_array_sort(index->weights, heaviest);
	index->shown = g_new0(guint8, index->weights->len + 1);
	for (guint i = 0; i < index->weights->len && i < TRACES_SHOWN; i++)
		index->shown[g_array_index(index->weights, struct weight, i).place] = 1;
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

/* --- tables --------------------------------------------------------------------------------- */

/* On a narrow screen a row is a paragraph, in which each value has its title before it; the roles
 * keep it a table to those who hear it (as table() of share/page/ui.js has it). */
static void table_begin(struct table *table)
{
	fputs("<div class=\"scroll\"><table role=\"table\"><thead role=\"rowgroup\"><tr "
	      "role=\"row\">",
	      table->file);
	for (guint i = 0; table->names[i]; i++) {
		bool number = *table->names[i] == '#';

		fprintf(table->file, "<th role=\"columnheader\" scope=\"col\"%s>%s</th>",
			number ? " class=\"number\"" : "", table->names[i] + number);
	}
	fputs("</tr></thead><tbody role=\"rowgroup\">\n", table->file);
}

static void table_end(const struct table *table)
{
	fputs("</tbody></table></div>\n", table->file);
}

static void row_begin(struct table *table)
{
	table->at = 0;
	fputs("<tr role=\"row\">", table->file);
}

static void row_end(const struct table *table)
{
	fputs("</tr>\n", table->file);
}

/* The first one says what the row is of; that has no title. */
static void cell_begin(struct table *table, const char *class)
{
	const char *name = table->names[table->at];
	bool number = *name == '#';

	if (!table->at++) {
		fprintf(table->file, "<th scope=\"row\" role=\"rowheader\"%s>", class);
		return;
	}
	fprintf(table->file, "<td role=\"cell\"%s data-title=\"%s\">",
		number ? " class=\"number\"" : class, name + number);
}

static void cell_end(const struct table *table)
{
	fputs(table->at == 1 ? "</th>" : "</td>", table->file);
}

static void marked_cell(struct table *table, const char *class, const char *text)
{
	g_autofree char *safe = escaped(text);

	cell_begin(table, class);
	fputs(safe, table->file);
	cell_end(table);
}

static void cell(struct table *table, const char *text)
{
	marked_cell(table, "", text);
}

static void number(struct table *table, json_int_t value)
{
	char text[32];

	cell(table, count_text(text, (uint64_t) value));
}

static void duration(struct table *table, json_int_t ns)
{
	char text[32];

	cell(table, when_duration(text, ns));
}

static void section_begin(FILE *file, const char *id, const char *title)
{
	fprintf(file, "<section id=\"%s\"><h2>%s</h2>\n", id, title);
}

static void section_end(FILE *file)
{
	fputs("</section>\n", file);
}

/* --- traces --------------------------------------------------------------------------------- */

/* A trace's name, which leads to its page. */
static void trace_name(const struct index *index, const char *trace)
{
	const char *link = g_hash_table_lookup(index->links, trace);
	g_autofree char *safe = escaped(trace);

	fprintf(index->file, link ? "<a href=\"%s\"><code>%s</code></a>" : "%s<code>%s</code>",
		link ? link : "", safe);
}

static const char *link_of(const void *data, const char *trace)
{
	const struct index *index = data;

	return g_hash_table_lookup(index->links, trace);
}

/* Where there is no page: what makes it, of what could be read. */
static void page_command(const struct index *index, const json_t *trace)
{
	const char *name = text_of(trace, "trace");
	g_autofree char *word = g_shell_quote(name), *safe = escaped(word);

	if (g_hash_table_lookup(index->links, name) || !json_object_get(trace, "events"))
		return;
	fprintf(index->file,
		"<details><summary>make its page</summary><code>whylate --format html --output "
		"page.html %s</code></details>",
		safe);
}

/* To the second; what stands behind its first character, a bracket, is shown. */
static void second_text(char when[48], json_int_t ns)
{
	when_time(when, ns, true, true);
	when[MIN(strlen("[YYYY-MM-DD hh:mm:ss"), strlen(when))] = '\0';
}

/* What is to be said of its limits, and what was wrong. */
static GString *notes_of(const json_t *trace)
{
	GString *notes = g_string_new(NULL);
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(trace, "limits"), i, each)
		g_string_append_printf(notes, "%s%s%s%s: %s", notes->len ? "; " : "",
				       text_of(each, "name"), *text_of(each, "name") ? ": " : "",
				       text_of(each, "limit"), text_of(each, "outcome"));
	json_array_foreach(json_object_get(trace, "messages"), i, each)
		g_string_append_printf(notes, "%s%s", notes->len ? "; " : "",
				       json_is_string(each) ? json_string_value(each) : "");
	return notes;
}

static char *finding_line(const json_t *finding)
{
	char sum[32];

	return finding ? g_strdup_printf("%s %s: %s", text_of(finding, "id"),
					 when_duration(sum, integer(finding, "ns")),
					 text_of(finding, "title"))
		       : NULL;
}

static void trace_row(void *data, const json_t *trace)
{
	struct index *index = data;
	struct table *table = &index->table;
	const json_t *window = json_object_get(trace, "window");
	g_autofree char *line = finding_line(json_object_get(trace, "finding"));
	g_autoptr(GString) notes = notes_of(trace);
	char when[48], sum[32];

	if (index->place >= index->weights->len || !index->shown[index->place++])
		return;
	row_begin(table);
	cell_begin(table, "");
	trace_name(index, text_of(trace, "trace"));
	page_command(index, trace);
	cell_end(table);
	marked_cell(table, is_bad(trace) ? " class=\"bad\"" : "", batch_outcome(trace));
	cell(table, text_of(trace, "hostname"));
	if (window)
		second_text(when, integer(window, "begin"));
	cell(table, window ? when + 1 : "");
	cell(table,
	     window ? when_duration(sum, integer(window, "end") - integer(window, "begin")) : "");
	number(table, integer(trace, "events"));
	number(table, integer(trace, "lost_events"));
	cell(table, line);
	cell(table, notes->str);
	row_end(table);
}

static void tell_left(const struct index *index)
{
	guint left = index->weights->len - MIN(TRACES_SHOWN, index->weights->len), bad = 0;

	if (!left)
		return;
	for (guint i = TRACES_SHOWN; i < index->weights->len; i++)
		bad += g_array_index(index->weights, struct weight, i).bad;
	fprintf(index->file, "<p class=\"note\">%u more have no row", left);
	if (bad)
		fprintf(index->file, ", and %u of them are not good", bad);
	fputs(": those in which least stands out. <code>--merged FILE</code> has all.</p>\n",
	      index->file);
}

static void traces(struct index *index)
{
	static const char *const names[] = {"Trace",   "Outcome", "Host",  "#Begin (UTC)",
					    "#Length", "#Events", "#Lost", "What stands out",
					    "Notes",   NULL};

	index->table = (struct table) {index->file, names, 0};
	section_begin(index->file, "traces", "Traces");
	table_begin(&index->table);
	index->whole &= batch_each(index->batch, trace_row, index);
	table_end(&index->table);
	tell_left(index);
	section_end(index->file);
}

static void limits(FILE *file, const json_t *merged)
{
	static const char *const names[] = {
		"Limit", "Over all", "#Value", "Of", "#Traces beyond it", "#Traces not judged",
		"Why",   NULL};
	static const char *const units[] = {"ns", "count", "share"};
	struct table table = {file, names, 0};
	json_t *each;
	size_t i;

	if (!json_array_size(json_object_get(merged, "limits")))
		return;
	section_begin(file, "limits", "Limits over all traces");
	table_begin(&table);
	json_array_foreach(json_object_get(merged, "limits"), i, each)
	{
		bool exceeded = strcmp(text_of(each, "outcome"), "exceeded") == 0;
		const json_t *value = json_object_get(each, "value");
		const char *name = text_of(each, "name");
		g_autofree char *line =
			g_strconcat(name, *name ? ": " : "", text_of(each, "limit"), NULL);
		g_autofree char *safe = escaped(line);
		guint unit = 0;
		char text[32];

		while (unit + 1 < G_N_ELEMENTS(units) &&
		       strcmp(units[unit], text_of(each, "unit")) != 0)
			unit++;
		row_begin(&table);
		cell_begin(&table, "");
		fprintf(file, "<code>%s</code>", safe);
		cell_end(&table);
		marked_cell(&table, exceeded ? " class=\"bad\"" : "", text_of(each, "outcome"));
		cell(&table, json_is_number(value)
				     ? limit_value_text(text, json_number_value(value),
							(enum limit_unit) unit)
				     : "");
		cell(&table, text_of(each, "subject"));
		number(&table, integer(each, "traces_exceeded"));
		number(&table, integer(each, "traces_not_judged"));
		cell(&table, text_of(each, "why"));
		row_end(&table);
	}
	table_end(&table);
	section_end(file);
}

static void seen(struct table *table, const json_t *finding, const char *key)
{
	char when[48];

	second_text(when, integer(finding, key));
	cell(table, json_object_get(finding, key) ? when + 1 : "");
}

static void finding_row(const struct index *index, struct table *table, const json_t *each)
{
	row_begin(table);
	marked_cell(table, " class=\"id\"", text_of(each, "id"));
	cell(table, text_of(each, "title"));
	duration(table, integer(each, "ns"));
	number(table, integer(each, "traces"));
	seen(table, each, "first_seen");
	seen(table, each, "last_seen");
	cell_begin(table, "");
	trace_name(index, text_of(each, "worst_trace"));
	cell_end(table);
	row_end(table);
}

/* Lists of their own: a wait may be in each of them. */
static void findings(const struct index *index, enum finding_group group, const char *id,
		     const char *title, const char *about)
{
	FILE *file = index->file;
	static const char *const names[] = {
		"Id",         "Finding", "#Time", "#Traces", "#First seen (UTC)",
		"#Last seen", "Most in", NULL};
	struct table table = {file, names, 0};
	guint told = 0, left = 0;
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(index->merged, "findings"), i, each)
	{
		if (batch_finding_group(each) != group)
			continue;
		if (told == FINDINGS_SHOWN) {
			left++;
			continue;
		}
		if (!told++) {
			section_begin(file, id, title);
			table_begin(&table);
		}
		finding_row(index, &table, each);
	}
	if (!told)
		return;
	table_end(&table);
	if (left)
		fprintf(file, "<p class=\"note\">%u more, of less time.</p>\n", left);
	fprintf(file,
		"<p class=\"note\">%s <code>whylate explain ID TRACE</code> shows one in "
		"full.</p>\n",
		about);
	section_end(file);
}

static void profile_row(struct table *table, const json_t *profile)
{
	row_begin(table);
	cell(table, text_of(profile, "operation"));
	number(table, integer(profile, "count"));
	duration(table, integer(profile, "sum_ns"));
	duration(table, json_integer_value(json_array_get(json_object_get(profile, "p50_ns"), 1)));
	duration(table, json_integer_value(json_array_get(json_object_get(profile, "p99_ns"), 1)));
	duration(table, integer(profile, "max_ns"));
	row_end(table);
}

static void profiles(FILE *file, const json_t *merged)
{
	static const char *const names[] = {"Operation",   "#Count",   "#Total", "#Median up to",
					    "#99 % up to", "#Longest", NULL};
	struct table table = {file, names, 0};
	json_t *all = json_object_get(merged, "profiles"), *each;
	size_t i, number_of = json_array_size(all);

	section_begin(file, "latencies", "Latencies over all traces");
	table_begin(&table);
	json_array_foreach(all, i, each)
	{
		if (i == OPERATIONS_SHOWN) {
			table_end(&table);
			fprintf(file, "<details><summary>%zu more, of less time</summary>\n",
				number_of - i);
			table_begin(&table);
		}
		profile_row(&table, each);
	}
	table_end(&table);
	fputs(number_of > OPERATIONS_SHOWN ? "</details>\n" : "", file);
	section_end(file);
}

static const json_t *differences_of(const json_t *merged)
{
	return json_object_get(json_object_get(merged, "settings"), "differences");
}

static void settings(FILE *file, const json_t *merged)
{
	static const char *const names[] = {"Setting", "What goes with it", "#Medians differ by",
					    "#p", NULL};
	const json_t *all = json_object_get(merged, "settings");
	const json_t *differences = differences_of(merged);
	struct table table = {file, names, 0};
	json_t *each, *one;
	size_t i, k;

	if (!json_array_size(differences))
		return;
	section_begin(file, "settings", "Settings and inputs that differ");
	table_begin(&table);
	json_array_foreach((json_t *) differences, i, each)
	{
		g_autoptr(GString) list = g_string_new(NULL);
		char p[32] = "";

		json_array_foreach(json_object_get(each, "settings"), k, one)
			g_string_append_printf(list, "%s%s %s", k ? ", " : "", text_of(one, "kind"),
					       text_of(one, "name"));
		if (json_object_get(each, "settings_omitted"))
			g_string_append_printf(list, ", and %" JSON_INTEGER_FORMAT " more",
					       integer(each, "settings_omitted"));
		row_begin(&table);
		cell(&table, list->str);
		cell(&table, *text_of(each, "sentence") ? text_of(each, "sentence")
							: "nothing that was met");
		if (json_object_get(each, "p")) {
			duration(&table, integer(each, "ns"));
			g_snprintf(p, sizeof p, "%.2g",
				   json_number_value(json_object_get(each, "p")));
		} else {
			cell(&table, "");
		}
		cell(&table, p);
		row_end(&table);
	}
	table_end(&table);
	fprintf(file,
		"<p class=\"note\">Of %" JSON_INTEGER_FORMAT
		" traces that have their settings beside them; %" JSON_INTEGER_FORMAT
		" settings more have a value of their own in nearly each. What goes with a cost "
		"need "
		"not cause it: change one, and record again.</p>\n",
		integer(all, "recorded"), integer(all, "names"));
	section_end(file);
}

static const json_t *outliers_told(const json_t *merged)
{
	return json_object_get(json_object_get(merged, "outliers"), "told");
}

static void outliers(const struct index *index)
{
	static const char *const names[] = {"Trace",           "What", "#Time", "#Median",
					    "Few others have", NULL};
	const json_t *told = outliers_told(index->merged);
	FILE *file = index->file;
	struct table table = {file, names, 0};
	json_t *each, *one;
	size_t i, k;

	if (!json_array_size(told))
		return;
	section_begin(file, "far-out", "Traces that are far out");
	table_begin(&table);
	json_array_foreach((json_t *) told, i, each)
	{
		g_autoptr(GString) rare = g_string_new(NULL);

		json_array_foreach(json_object_get(each, "few_others_have"), k, one)
			g_string_append_printf(rare, "%s%s %s = %s", k ? ", " : "",
					       text_of(one, "kind"), text_of(one, "name"),
					       text_of(one, "value"));
		row_begin(&table);
		cell_begin(&table, "");
		trace_name(index, text_of(each, "trace"));
		cell_end(&table);
		cell(&table, text_of(each, "what"));
		duration(&table, integer(each, "ns"));
		duration(&table, integer(each, "median_ns"));
		cell(&table, rare->str);
		row_end(&table);
	}
	table_end(&table);
	fputs("<p class=\"note\">Operations: in the mean. Programs and waits: of each "
	      "second.</p>\n",
	      file);
	section_end(file);
}

static bool has_group(const json_t *merged, enum finding_group group)
{
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(merged, "findings"), i,
			   each) if (batch_finding_group(each) == group) return true;
	return false;
}

/* Links to the parts that are there. */
static void navigation(const struct index *index)
{
	const json_t *merged = index->merged;
	const struct {
		const char *id, *name;
		bool there;
	} parts[] = {
		{"limits", "Limits", json_array_size(json_object_get(merged, "limits")) > 0},
		{"stands-out", "What stands out", has_group(merged, FINDING_STANDS_OUT)},
		{"traces", "Traces", true},
		{"far-out", "Far out", json_array_size(outliers_told(merged)) > 0},
		{"settings", "Settings", json_array_size(differences_of(merged)) > 0},
		{"waited-for", "Waited for", has_group(merged, FINDING_IMPOSED)},
		{"slow", "Slow operations", has_group(merged, FINDING_REST)},
		{"latencies", "Latencies", true},
	};

	fputs("<nav aria-label=\"Parts of the page\">", index->file);
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		if (parts[i].there)
			fprintf(index->file, "<a href=\"#%s\">%s</a>\n", parts[i].id,
				parts[i].name);
	fputs("</nav>", index->file);
}

/* What becomes of the traces, in a sentence (`sum`), and how much they hold. */
static void head(const struct index *index, const char *sum)
{
	char events[32];

	fprintf(index->file,
		"<header><div class=\"title\"><h1>whylate batch</h1>\n<p>%s; %s events</p></div>",
		sum, count_text(events, (uint64_t) integer(index->merged, "events")));
	navigation(index);
	fputs("</header>\n<main>\n", index->file);
}

bool fleet_page_write(struct batch *batch, const json_t *merged, const char *sum, const char *path,
		      FILE *file)
{
	g_autofree char *whole = g_canonicalize_filename(path, NULL);
	struct index index = {
		.batch = batch,
		.merged = merged,
		.file = file,
		.directory = g_path_get_dirname(whole),
		.links = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
		.weights = g_array_new(FALSE, FALSE, sizeof(struct weight))};
	g_autofree char *hash = page_hash(page_looks());

	index.whole = batch_each(batch, meet, &index);
	choose_shown(&index);
	fprintf(file,
		"<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src '%s'; base-uri 'none'; form-action 'none'\">"
		"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		"<meta name=\"color-scheme\" content=\"light dark\">"
		"<meta name=\"referrer\" content=\"no-referrer\"><title>whylate batch: %u "
		"traces</title><style>%s</style></head><body>\n",
		hash, batch_entries_count(batch->entries), page_looks());
	head(&index, sum);
	limits(file, merged);
	index.whole &= fleet_charts(batch, link_of, &index, file);
	findings(&index, FINDING_STANDS_OUT, "stands-out", "What stands out", "The longest first.");
	traces(&index);
	outliers(&index);
	settings(file, merged);
	findings(&index, FINDING_IMPOSED, "waited-for", "Who and what others waited for",
		 "The same waits as above, by whom they were for.");
	findings(&index, FINDING_REST, "slow", "Slow operations and single waits",
		 "The same waits again, by whose they are; own sleeps and shells that wait for "
		 "their programs are among them.");
	profiles(file, merged);
	fputs("</main></body></html>\n", file);
	g_hash_table_destroy(index.links);
	g_array_free(index.weights, TRUE);
	g_free(index.shown);
	g_free(index.directory);
	return index.whole;
}
