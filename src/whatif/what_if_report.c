/* SPDX-License-Identifier: MIT */
/* A what-if's answer for people, and as JSON; names: interface.md, "Second round". */
#include "whatif/what_if.h"

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
	{"gaps_ns", COLUMN_NS, FIELD(struct what_if, doubts.gaps)},
	{"verdict", COLUMN_LIST, FIELD(struct what_if, verdict), .item = COLUMN_TEXT},
	{0}};

void what_if_text(const struct what_if *what_if, struct output *output)
{
	g_autoptr(GString) heading = g_string_new("What if");
	char length[32];

	for (guint i = 0; i < what_if->rules->len; i++)
		g_string_append_printf(heading, "%s '%s'", i ? " and" : "",
				       (const char *) g_ptr_array_index(what_if->rules, i));
	g_string_append_printf(heading, " (%" G_GUINT64_FORMAT " stretches, %s)", what_if->count,
			       when_duration(length, what_if->picked));
	text_heading(output, heading->str);
	for (guint i = 0; i < what_if->verdict->len; i++)
		text_wrapped(output, g_ptr_array_index(what_if->verdict, i), 2, 2);
}
