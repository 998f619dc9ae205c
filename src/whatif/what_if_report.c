/* SPDX-License-Identifier: MIT */
/* A what-if's answer for people, and as JSON; names: interface.md, "Second round". */
#include "whatif/what_if.h"

GETTER(const void *, replay, struct what_if, row->replay);

const struct column what_if_columns[] = {
	{NULL, COLUMN_OBJECT, .at = replay, .columns = replay_columns},
	{"time", COLUMN_TIME, FIELD(struct what_if, time)},
	{NULL, COLUMN_OBJECT, FIELD_HERE(struct what_if, gain), .columns = gain_columns},
	{"ready_ns", COLUMN_NS, FIELD(struct what_if, doubts.ready)},
	{"anchored_ns", COLUMN_NS, FIELD(struct what_if, doubts.anchored)},
	{"inferred_ns", COLUMN_NS, FIELD(struct what_if, doubts.inferred)},
	{"tries_ns", COLUMN_NS, FIELD(struct what_if, doubts.tries)},
	{"limits_ns", COLUMN_NS, FIELD(struct what_if, doubts.limits)},
	{"gaps_ns", COLUMN_NS, FIELD(struct what_if, doubts.gaps)},
	{"verdict", COLUMN_LIST, FIELD(struct what_if, verdict), .item = COLUMN_TEXT},
	{0}};

void what_if_text(const struct what_if *what_if, struct output *output)
{
	replay_heading(what_if->replay, what_if->gain.recorded, output);
	for (guint i = 0; i < what_if->verdict->len; i++)
		text_wrapped(output, g_ptr_array_index(what_if->verdict, i), 2, 2);
}
