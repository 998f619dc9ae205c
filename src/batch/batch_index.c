/* SPDX-License-Identifier: MIT */
/* The page of `whylate batch --index`: one file, no script, nothing from elsewhere; see
 * batch_parts.h.
 *
 * Tables of the limits, the traces, the settings that differ, the findings over all of them and the
 * latencies. Colours follow the reader's scheme, and nothing is said by colour alone. Names of
 * traces and threads are anybody's: all text is escaped.
 */
#include "batch/batch_parts.h"

#include <inttypes.h>
#include <string.h>

#include "page/page.h"
#include "report/report.h"

#define FINDINGS_SHOWN 50

static const char style[] =
	":root{color-scheme:light dark}"
	"body{font:15px/1.45 system-ui,sans-serif;margin:2em auto;padding:0 1em;max-width:110em}"
	"table{border-collapse:collapse;width:100%;margin:.5em 0 2em}"
	"th,td{text-align:left;padding:.25em .7em;border-bottom:1px solid #8884;vertical-align:top}"
	"th{position:sticky;top:0;background:Canvas}"
	".n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}"
	"th code{display:inline-block;min-width:14em}"
	".bad{font-weight:bold;color:light-dark(#a00,#f88)}code{font-size:.92em;overflow-wrap:"
	"anywhere}"
	"@media print{th{position:static}}";

/* Escaped, control characters shown; free with g_free(). */
static char *escaped(const char *text)
{
	g_autofree char *safe = text_safe(text ? text : "");
	g_autofree char *valid = g_utf8_make_valid(safe, -1);

	return g_markup_escape_text(valid, -1);
}

static void cell(FILE *file, const char *kind, const char *text)
{
	g_autofree char *safe = escaped(text);

	fprintf(file, "<td%s>%s</td>", kind, safe);
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static json_int_t integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void number(FILE *file, json_int_t value)
{
	fprintf(file, "<td class=\"n\">%" JSON_INTEGER_FORMAT "</td>", value);
}

static void duration(FILE *file, json_int_t ns)
{
	char text[32];

	cell(file, " class=\"n\"", when_duration(text, ns));
}

/* A row of headings; those that begin with '#' are of numbers. */
static void headings(FILE *file, const char *title, const char *const *names)
{
	fprintf(file, "<h2>%s</h2>\n<table><thead><tr>", title);
	for (; *names; names++)
		fprintf(file, "<th scope=\"col\"%s>%s</th>", **names == '#' ? " class=\"n\"" : "",
			*names + (**names == '#'));
	fputs("</tr></thead><tbody>\n", file);
}

/* Of status 4: what could not be read, what could not be judged, or both. */
static const char *trouble_text(const json_t *trace)
{
	static const struct {
		const char *name, *text;
	} words[] = {{"no-answer", "no answer"},
		     {"not-whole", "not whole"},
		     {"limit-not-judged", "a limit not judged"}};
	const json_t *trouble = json_object_get(trace, "trouble");
	const char *first = json_string_value(json_array_get(trouble, 0));

	if (json_array_size(trouble) > 1)
		return "not whole, and a limit not judged";
	for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
		if (g_strcmp0(first, words[i].name) == 0)
			return words[i].text;
	return "not whole, or a limit not judged"; /* a line of an older version */
}

static const char *status_text(const json_t *trace)
{
	switch (integer(trace, "status")) {
	case 0:
		return batch_lost_some(trace) ? "read, but events were lost" : "good";
	case 1:
		return "a limit is exceeded";
	case 2:
		return "not as asked for";
	case 3:
		return "could not be read";
	case 4:
		return trouble_text(trace);
	default:
		return "the analysis failed";
	}
}

static void trace_row(FILE *file, const json_t *trace)
{
	const json_t *window = json_object_get(trace, "window");
	const json_t *finding = json_object_get(trace, "finding");
	g_autofree char *path = escaped(text_of(trace, "trace"));
	g_autoptr(GString) notes = g_string_new(NULL);
	json_t *each;
	char when[48], sum[32];
	size_t i;

	json_array_foreach(json_object_get(trace, "limits"), i, each)
		g_string_append_printf(notes, "%s%s%s%s: %s", notes->len ? "; " : "",
				       text_of(each, "name"), *text_of(each, "name") ? ": " : "",
				       text_of(each, "limit"), text_of(each, "outcome"));
	json_array_foreach(json_object_get(trace, "messages"), i, each)
		g_string_append_printf(notes, "%s%s", notes->len ? "; " : "",
				       json_is_string(each) ? json_string_value(each) : "");
	fprintf(file, "<tr><th scope=\"row\"><code>%s</code></th>", path);
	cell(file, integer(trace, "status") || batch_lost_some(trace) ? " class=\"bad\"" : "",
	     status_text(trace));
	cell(file, "", text_of(trace, "hostname"));
	if (window) { /* to the second, without brackets */
		when_time(when, integer(window, "begin"), true, true);
		when[MIN(strlen("[YYYY-MM-DD hh:mm:ss"), strlen(when))] = '\0';
	}
	cell(file, " class=\"n\"", window ? when + 1 : "");
	cell(file, " class=\"n\"",
	     window ? when_duration(sum, integer(window, "end") - integer(window, "begin")) : "");
	number(file, integer(trace, "events"));
	number(file, integer(trace, "lost_events"));
	if (finding) {
		g_autofree char *line = g_strdup_printf("%s %s: %s", text_of(finding, "id"),
							when_duration(sum, integer(finding, "ns")),
							text_of(finding, "title"));

		cell(file, "", line);
	} else {
		fputs("<td></td>", file);
	}
	cell(file, "", notes->str);
	fputs("</tr>\n", file);
}

static void traces(FILE *file, const json_t *merged)
{
	static const char *const names[] = {"Trace",   "Outcome", "Host",  "#Begin (UTC)",
					    "#Length", "#Events", "#Lost", "Most waited for",
					    "Notes",   NULL};
	json_t *each;
	size_t i;

	headings(file, "Traces", names);
	json_array_foreach(json_object_get(merged, "traces"), i, each) trace_row(file, each);
	fputs("</tbody></table>\n", file);
}

static void limits(FILE *file, const json_t *merged)
{
	static const char *const names[] = {
		"Limit", "Over all", "#Value", "Of", "#Traces beyond it", "#Traces not judged",
		"Why",   NULL};
	static const char *const units[] = {"ns", "count", "share"};
	json_t *each;
	size_t i;

	if (!json_array_size(json_object_get(merged, "limits")))
		return;
	headings(file, "Limits over all traces", names);
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
		fprintf(file, "<tr><th scope=\"row\"><code>%s</code></th>", safe);
		cell(file, exceeded ? " class=\"bad\"" : "", text_of(each, "outcome"));
		cell(file, " class=\"n\"",
		     json_is_number(value) ? limit_value_text(text, json_number_value(value),
							      (enum limit_unit) unit)
					   : "");
		cell(file, "", text_of(each, "subject"));
		number(file, integer(each, "traces_exceeded"));
		number(file, integer(each, "traces_not_judged"));
		cell(file, "", text_of(each, "why"));
		fputs("</tr>\n", file);
	}
	fputs("</tbody></table>\n", file);
}

static void findings(FILE *file, const json_t *merged)
{
	static const char *const names[] = {"Id", "Finding", "#Time", "#Traces", "Most in", NULL};
	json_t *each;
	size_t i;

	headings(file, "Findings over all traces", names);
	json_array_foreach(json_object_get(merged, "findings"), i, each)
	{
		if (i == FINDINGS_SHOWN)
			break;
		fputs("<tr>", file);
		cell(file, "", text_of(each, "id"));
		cell(file, "", text_of(each, "title"));
		duration(file, integer(each, "ns"));
		number(file, integer(each, "traces"));
		cell(file, "", text_of(each, "worst_trace"));
		fputs("</tr>\n", file);
	}
	fputs("</tbody></table>\n<p>whylate explain ID TRACE shows one in full.</p>\n", file);
}

static void profiles(FILE *file, const json_t *merged)
{
	static const char *const names[] = {"Operation",   "#Count",   "#Total", "#Median up to",
					    "#99 % up to", "#Longest", NULL};
	json_t *each;
	size_t i;

	headings(file, "Latencies over all traces", names);
	json_array_foreach(json_object_get(merged, "profiles"), i, each)
	{
		fputs("<tr>", file);
		cell(file, "", text_of(each, "operation"));
		number(file, integer(each, "count"));
		duration(file, integer(each, "sum_ns"));
		duration(file,
			 json_integer_value(json_array_get(json_object_get(each, "p50_ns"), 1)));
		duration(file,
			 json_integer_value(json_array_get(json_object_get(each, "p99_ns"), 1)));
		duration(file, integer(each, "max_ns"));
		fputs("</tr>\n", file);
	}
	fputs("</tbody></table>\n", file);
}

static void settings(FILE *file, const json_t *merged)
{
	static const char *const names[] = {"Setting", "What goes with it", "#Medians differ by",
					    "#p", NULL};
	const json_t *all = json_object_get(merged, "settings");
	json_t *each, *one;
	size_t i, k;

	if (!json_array_size(json_object_get(all, "differences")))
		return;
	headings(file, "Settings and inputs that differ", names);
	json_array_foreach(json_object_get(all, "differences"), i, each)
	{
		g_autoptr(GString) list = g_string_new(NULL);
		char p[32] = "";

		json_array_foreach(json_object_get(each, "settings"), k, one)
			g_string_append_printf(list, "%s%s %s", k ? ", " : "", text_of(one, "kind"),
					       text_of(one, "name"));
		if (json_object_get(each, "settings_omitted"))
			g_string_append_printf(list, ", and %" JSON_INTEGER_FORMAT " more",
					       integer(each, "settings_omitted"));
		fputs("<tr>", file);
		cell(file, "", list->str);
		cell(file, "",
		     *text_of(each, "sentence") ? text_of(each, "sentence")
						: "nothing that was met");
		if (json_object_get(each, "p")) {
			duration(file, integer(each, "ns"));
			g_snprintf(p, sizeof p, "%.2g",
				   json_number_value(json_object_get(each, "p")));
		} else {
			fputs("<td></td>", file);
		}
		cell(file, " class=\"n\"", p);
		fputs("</tr>\n", file);
	}
	fprintf(file,
		"</tbody></table>\n<p>Of %" JSON_INTEGER_FORMAT
		" traces that have their settings beside them; %" JSON_INTEGER_FORMAT
		" settings more have a value of their own in nearly each. What goes with a cost "
		"need "
		"not cause it: change one, and record again.</p>\n",
		integer(all, "recorded"), integer(all, "names"));
}

void batch_index_write(const json_t *merged, FILE *file)
{
	const json_t *statuses = json_object_get(merged, "statuses");
	size_t all = json_array_size(json_object_get(merged, "traces"));
	json_int_t lost = batch_lossy(merged);
	g_autofree char *hash = page_hash(style);

	fprintf(file,
		"<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
		"style-src '%s'; base-uri 'none'; form-action 'none'\">"
		"<meta name=\"viewport\" content=\"width=device-width\"><title>whylate batch: %zu "
		"traces</title><style>%s</style></head><body>\n<h1>%zu "
		"traces</h1>\n<p>%" JSON_INTEGER_FORMAT " events; %" JSON_INTEGER_FORMAT
		" traces are good; %" JSON_INTEGER_FORMAT " lost events, %" JSON_INTEGER_FORMAT
		" are beyond a limit, %" JSON_INTEGER_FORMAT
		" are not whole or not judged, %" JSON_INTEGER_FORMAT
		" could not be read or asked.</p>\n",
		hash, all, style, all, integer(merged, "events"), integer(statuses, "0") - lost,
		lost, integer(statuses, "1"), integer(statuses, "4"),
		integer(statuses, "2") + integer(statuses, "3"));
	limits(file, merged);
	traces(file, merged);
	settings(file, merged);
	findings(file, merged);
	profiles(file, merged);
	fputs("</body></html>\n", file);
}
