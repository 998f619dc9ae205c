/* SPDX-License-Identifier: MIT */
/* Columns and lines of the Trace Server Protocol's tables, as they are written. Part of tsp/. */
#include "tsp/outputs.h"

#define TAG_HIGHLIGHT 8

void table_put_columns(struct asking *asking, const struct table_column *list)
{
	model_begin(asking);
	json_begin(&asking->out, "model", '[', LINES_NOT);
	for (int i = 0; i < TABLE_COLUMNS; i++) {
		json_begin(&asking->out, NULL, '{', LINES_NOT);
		json_put_whole(&asking->out, "id", i);
		json_put_text(&asking->out, "name", list[i].name);
		json_put_text(&asking->out, "description", list[i].description);
		json_put_text(&asking->out, "type", list[i].type);
		json_end(&asking->out, '}');
	}
	json_end(&asking->out, ']');
	model_end(asking);
}

void table_put_line(struct asking *asking, const struct asked_lines *lines, int64_t index,
		    char *const *cells, bool matches)
{
	struct output *out = &asking->out;

	json_begin(out, NULL, '{', LINES_NOT);
	json_put_whole(out, "index", index);
	json_begin(out, "cells", '[', LINES_NOT);
	for (guint i = 0; i < lines->ids_count; i++) {
		json_begin(out, NULL, '{', LINES_NOT);
		json_put_text(out, "content", cells[lines->ids[i]] ? cells[lines->ids[i]] : "");
		json_end(out, '}');
	}
	json_end(out, ']');
	json_put_whole(out, "tags", matches ? TAG_HIGHLIGHT : 0);
	json_end(out, '}');
}

void table_begin(struct asking *asking, const struct asked_lines *lines, int64_t low, int64_t size)
{
	struct output *out = &asking->out;

	model_begin(asking);
	json_begin(out, "model", '{', LINES_NOT);
	json_put_whole(out, "lowIndex", low);
	json_put_whole(out, "size", size);
	json_begin(out, "columnIds", '[', LINES_NOT);
	for (guint i = 0; i < lines->ids_count; i++)
		json_put_whole(out, NULL, lines->ids[i]);
	json_end(out, ']');
	json_begin(out, "lines", '[', LINES_NOT);
}

void table_end(struct asking *asking)
{
	json_end(&asking->out, ']');
	json_end(&asking->out, '}');
	model_end(asking);
}
