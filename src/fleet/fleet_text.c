/* SPDX-License-Identifier: MIT */
/* The sum of `whylate batch` for people who read a terminal; see fleet_text.h. What it has is of
 * the merged line (batch_merge.c), and says how much of that it leaves out.
 *
 * Findings come in three lists, as one wait may be in each: what stands out in a trace, who and
 * what others waited for, and slow operations and single waits. Rejected: one list by time, in
 * which shells that wait for their programs come first, and the same wait three times.
 */
#include "fleet/fleet_text.h"

#include <inttypes.h>
#include <string.h>

#include "report/report.h"

#define NAME_WIDTH 44 /* of a trace's name; of a longer one its end */

/* What the lists are written with. */
struct text {
	struct output *output; /* borrowed */
	uint32_t limit;        /* entries of a list; UINT32_MAX: all */
	uint32_t told;
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

/* Nothing that a terminal would obey; the end of what is too long. Free with g_free(). */
static char *name_shown(const char *name)
{
	g_autofree char *safe = text_safe(name);
	glong length = g_utf8_strlen(safe, -1);

	if (length <= NAME_WIDTH)
		return g_steal_pointer(&safe);
	return g_strconcat("…", g_utf8_offset_to_pointer(safe, length - NAME_WIDTH + 1), NULL);
}

/* The begin of what is too long: the whole stands below, or `explain` has it. */
static char *head_shown(const char *line, int room)
{
	g_autofree char *safe = text_safe(line), *head = NULL;

	if (g_utf8_strlen(safe, -1) <= room)
		return g_steal_pointer(&safe);
	head = g_utf8_substring(safe, 0, room - 1);
	return g_strconcat(head, "…", NULL);
}

static void say_left(const struct text *text, json_int_t left, const char *what)
{
	if (left > 0)
		fprintf(text->output->file, "  %" JSON_INTEGER_FORMAT " more %s (--limit 0: all)\n",
			left, what);
}

/* --- traces ---------------------------------------------------------------------------------- */

/* Name and outcome, below them what stands out there, or what was wrong. */
static void trace_line(void *data, const json_t *trace)
{
	struct text *text = data;
	FILE *file = text->output->file;
	const json_t *window = json_object_get(trace, "window");
	const json_t *finding = json_object_get(trace, "finding");
	const json_t *message = json_array_get(json_object_get(trace, "messages"), 0);
	g_autofree char *name = name_shown(text_of(trace, "trace")),
			*host = text_safe(text_of(trace, "hostname"));
	char sum[32] = "";

	if (text->told++ >= text->limit)
		return;
	if (window)
		when_duration(sum, integer(window, "end") - integer(window, "begin"));
	fprintf(file, "  %s: %s%s%s%s%s\n", name, batch_outcome(trace), *host ? ", host " : "",
		host, *sum ? ", " : "", sum);
	if (integer(trace, "status") && message) {
		g_autofree char *safe = text_safe(json_string_value(message));

		text_wrapped(text->output, safe, 6, 6);
	} else if (finding) {
		g_autofree char *line = g_strdup_printf("%s %s: %s", text_of(finding, "id"),
							when_duration(sum, integer(finding, "ns")),
							text_of(finding, "title"));
		g_autofree char *shown = head_shown(line, text->output->width - 6);

		fprintf(file, "      %s\n", shown);
	}
}

void batch_text_trace(const json_t *line, struct output *output)
{
	struct text text = {output, UINT32_MAX, 0};
	json_t *entry = batch_entry_of(line);

	trace_line(&text, entry);
	json_decref(entry);
}

/* --- findings -------------------------------------------------------------------------------- */

static void finding_line(const struct text *text, const json_t *finding)
{
	json_int_t traces = integer(finding, "traces");
	g_autofree char *title = text_safe(text_of(finding, "title")),
			*worst = text_safe(text_of(finding, "worst_trace")), *line = NULL;
	char sum[32];

	line = g_strdup_printf("%s %s in %" JSON_INTEGER_FORMAT " trace%s: %s%s%s",
			       text_of(finding, "id"), when_duration(sum, integer(finding, "ns")),
			       traces, traces == 1 ? "" : "s", title,
			       traces > 1 ? "; most in " : "; ", worst);
	text_wrapped(text->output, line, 2, 6);
}

/* Those of the group that `kind` is of. */
static void finding_list(const struct text *text, const json_t *merged, enum finding_group group,
			 const char *title)
{
	json_int_t found = 0;
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(merged, "findings"), i, each)
	{
		if (batch_finding_group(each) != group)
			continue;
		if (!found)
			fprintf(text->output->file, "\n%s\n", title);
		if (found++ < text->limit)
			finding_line(text, each);
	}
	say_left(text, found - text->limit, "findings");
}

/* --- latencies ------------------------------------------------------------------------------- */

static const char *upper(char to[32], const json_t *profile, const char *key)
{
	return when_duration(to,
			     json_integer_value(json_array_get(json_object_get(profile, key), 1)));
}

static void latencies(const struct text *text, const json_t *merged)
{
	const json_t *profiles = json_object_get(merged, "profiles");
	FILE *file = text->output->file;
	char sum[32], half[32], most[32], longest[32];
	json_t *each;
	size_t i;

	if (!json_array_size(profiles))
		return;
	fprintf(file, "\nLatencies over all traces\n  %-28s %10s %10s %10s %10s %10s\n",
		"Operation", "Count", "Total", "Half up to", "99 % up to", "Longest");
	json_array_foreach((json_t *) profiles, i, each)
	{
		g_autofree char *name = text_safe(text_of(each, "operation"));

		if (i == text->limit)
			break;
		fprintf(file, "  %-28s %10" JSON_INTEGER_FORMAT " %10s %10s %10s %10s\n", name,
			integer(each, "count"), when_duration(sum, integer(each, "sum_ns")),
			upper(half, each, "p50_ns"), upper(most, each, "p99_ns"),
			when_duration(longest, integer(each, "max_ns")));
	}
	say_left(text, (json_int_t) json_array_size(profiles) - text->limit, "operations");
}

/* --- all of it ------------------------------------------------------------------------------- */

static void limits(const struct text *text, const json_t *merged)
{
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(merged, "limits"), i, each)
	{
		const char *name = text_of(each, "name");
		g_autofree char *line = g_strdup_printf(
			"%s%s%s: %s over all; %" JSON_INTEGER_FORMAT
			" traces beyond it, %" JSON_INTEGER_FORMAT " not judged",
			name, *name ? ": " : "", text_of(each, "limit"), text_of(each, "outcome"),
			integer(each, "traces_exceeded"), integer(each, "traces_not_judged"));
		g_autofree char *safe = text_safe(line);

		if (!i)
			fputs("\nLimits\n", text->output->file);
		text_wrapped(text->output, safe, 2, 6);
	}
}

static void outliers(const struct text *text, const json_t *merged)
{
	json_t *each;
	size_t i;

	json_array_foreach(json_object_get(json_object_get(merged, "outliers"), "told"), i, each)
	{
		g_autofree char *safe = text_safe(text_of(each, "sentence"));

		if (i == text->limit)
			break;
		if (!i)
			fputs("\nTraces that are far out\n", text->output->file);
		text_wrapped(text->output, safe, 2, 6);
	}
}

bool batch_text_write(struct batch *batch, const json_t *merged, const char *sum, uint32_t limit,
		      struct output *output)
{
	struct text text = {output, limit ? limit : UINT32_MAX, 0};
	bool whole;

	text_wrapped(output, sum, 0, 2);
	fputs("\nTraces, and what stands out in each, else what others waited for most\n",
	      output->file);
	whole = batch_each(batch, trace_line, &text);
	say_left(&text, (json_int_t) text.told - text.limit, "traces");
	limits(&text, merged);
	finding_list(&text, merged, FINDING_STANDS_OUT, "What stands out");
	finding_list(&text, merged, FINDING_IMPOSED,
		     "Who and what others waited for (the same waits, by whom they were for)");
	finding_list(&text, merged, FINDING_REST,
		     "Slow operations and single waits (the same waits, by whose they are)");
	outliers(&text, merged);
	latencies(&text, merged);
	fputs("\nwhylate explain ID TRACE shows a finding in full; --index FILE and --merged FILE\n"
	      "have all of it.\n",
	      output->file);
	return whole;
}
