/* SPDX-License-Identifier: MIT */
/* A what-if's answer for people, and as JSON; names: interface.md, "Second round". */
#include "whatif/what_if.h"

#include "whatif/new_path.h"

GETTER(const void *, replay, struct what_if, row->replay);
GETTER(int64_t, length, struct new_piece, row->end - row->begin);
GETTER(int64_t, resource, struct new_piece,
       leaf_is_blocked(row->span.leaf)
	       ? block_waits_for(report->session,
				 block_at(&report->session->trace.timeline, row->span.ref))
	       : 0);

/* As the recorded path's, in the new times; with when that was. */
static const struct column piece_columns[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct new_piece, thread)},
	{"begin", COLUMN_TIME, FIELD(struct new_piece, begin)},
	{"end", COLUMN_TIME, FIELD(struct new_piece, end)},
	{"ns", COLUMN_NS, .number = length},
	{"leaf", COLUMN_LEAF, FIELD(struct new_piece, span.leaf)},
	{"resource", COLUMN_RESOURCE, .number = resource, .none = NONE_ZERO, .absent = true},
	{"recorded_begin", COLUMN_TIME, FIELD(struct new_piece, span.begin)},
	{"recorded_end", COLUMN_TIME, FIELD(struct new_piece, span.end)},
	{0}};

const struct column what_if_columns[] = {
	{NULL, COLUMN_OBJECT, .at = replay, .columns = replay_columns},
	{"begin", COLUMN_TIME, FIELD(struct what_if, begin)},
	{"time", COLUMN_TIME, FIELD(struct what_if, time)},
	{"recorded_begin", COLUMN_TIME, FIELD(struct what_if, recorded_begin)},
	{"recorded_end", COLUMN_TIME, FIELD(struct what_if, recorded_end)},
	{NULL, COLUMN_OBJECT, FIELD_HERE(struct what_if, gain), .columns = gain_columns},
	{"ready_ns", COLUMN_NS, FIELD(struct what_if, doubts.ready)},
	{"anchored_ns", COLUMN_NS, FIELD(struct what_if, doubts.anchored)},
	{"inferred_ns", COLUMN_NS, FIELD(struct what_if, doubts.inferred)},
	{"tries_ns", COLUMN_NS, FIELD(struct what_if, doubts.tries)},
	{"limits_ns", COLUMN_NS, FIELD(struct what_if, doubts.limits)},
	{"gaps_ns", COLUMN_NS, FIELD(struct what_if, doubts.gaps)},
	{"anchors", COLUMN_WHOLE, FIELD(struct what_if, doubts.anchors)},
	{"verdict", COLUMN_LIST, FIELD(struct what_if, verdict), .item = COLUMN_TEXT},
	{"path", COLUMN_LIST, FIELD(struct what_if, path), .columns = piece_columns},
	{0}};

void what_if_text(const struct what_if *what_if, struct output *output)
{
	replay_heading(what_if->replay, what_if->gain.recorded, output);
	for (guint i = 0; i < what_if->verdict->len; i++)
		text_wrapped(output, g_ptr_array_index(what_if->verdict, i), 2, 2);
}
