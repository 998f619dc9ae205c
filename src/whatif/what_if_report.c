/* SPDX-License-Identifier: MIT */
/* A what-if's answer for people, and as JSON; names: interface.md, "Second round". */
#include "whatif/best.h"
#include "whatif/what_if.h"

static const struct column best_columns[] = {
	{"rules", COLUMN_LIST, FIELD(struct best, rules), .item = COLUMN_TEXT},
	{"saved_ns", COLUMN_NS, FIELD(struct best, saved)},
	{0}};

static const struct column picked_columns[] = {
	{"count", COLUMN_WHOLE, FIELD(struct what_if, count)},
	{"ns", COLUMN_NS, FIELD(struct what_if, picked)},
	{0}};

const struct column what_if_columns[] = {
	{"rules", COLUMN_LIST, FIELD(struct what_if, rules), .item = COLUMN_TEXT},
	{"picked", COLUMN_OBJECT, .columns = picked_columns},
	{"time", COLUMN_TIME, FIELD(struct what_if, time)},
	{"saved_ns", COLUMN_NS, FIELD(struct what_if, saved)},
	{"saved_from_ns", COLUMN_NS, FIELD(struct what_if, saved_from)},
	{"saved_to_ns", COLUMN_NS, FIELD(struct what_if, saved_to)},
	{"saved_at_most_ns", COLUMN_NS, FIELD(struct what_if, saved_at_most)},
	{"ready_ns", COLUMN_NS, FIELD(struct what_if, doubts.ready)},
	{"anchored_ns", COLUMN_NS, FIELD(struct what_if, doubts.anchored)},
	{"inferred_ns", COLUMN_NS, FIELD(struct what_if, doubts.inferred)},
	{"tries_ns", COLUMN_NS, FIELD(struct what_if, doubts.tries)},
	{"limits_ns", COLUMN_NS, FIELD(struct what_if, doubts.limits)},
	{"gaps_ns", COLUMN_NS, FIELD(struct what_if, doubts.gaps)},
	{"best", COLUMN_LIST, FIELD(struct what_if, best), .columns = best_columns, .absent = true},
	{"verdict", COLUMN_LIST, FIELD(struct what_if, verdict), .item = COLUMN_TEXT},
	{0}};

static void append_rules(GString *text, const GPtrArray *rules)
{
	for (guint i = 0; i < rules->len; i++)
		g_string_append_printf(text, "%s '%s'", i ? " and" : "",
				       (const char *) g_ptr_array_index(rules, i));
}

static void best_text(const struct what_if *what_if, struct output *output)
{
	char length[32];

	text_heading(output, "What would save most, of what was tried");
	for (guint i = 0; i < what_if->best->len; i++) {
		const struct best *best = &g_array_index(what_if->best, struct best, i);
		g_autoptr(GString) line = g_string_new(NULL);

		g_string_append_printf(line,
				       "%s (%.1f %%) sooner:", when_duration(length, best->saved),
				       100.0 * (double) best->saved / (double) what_if->recorded);
		append_rules(line, best->rules);
		if (best->rules->len > 1)
			g_string_append(line, ", together");
		text_wrapped(output, line->str, 2, 2);
	}
	if (!what_if->best->len)
		text_wrapped(output,
			     "Nothing that the critical path was spent on would, if it were gone.",
			     2, 2);
}

void what_if_text(const struct what_if *what_if, struct output *output)
{
	g_autoptr(GString) heading = g_string_new("What if");
	char length[32];

	if (what_if->best)
		best_text(what_if, output);
	append_rules(heading, what_if->rules);
	g_string_append_printf(heading, " (%" G_GUINT64_FORMAT " stretches, %s)", what_if->count,
			       when_duration(length, what_if->picked));
	text_heading(output, heading->str);
	for (guint i = 0; i < what_if->verdict->len; i++)
		text_wrapped(output, g_ptr_array_index(what_if->verdict, i), 2, 2);
}
