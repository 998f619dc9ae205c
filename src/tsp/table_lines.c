/* SPDX-License-Identifier: MIT */
/* Columns and lines of the Trace Server Protocol's tables, as they are written and searched. Part
 * of tsp/. */
#include "tsp/outputs.h"

#include <string.h>

#include "util/error.h"

#define TAG_HIGHLIGHT 8
#define EXPRESSION_MAX 1000 /* bytes */
#define STEPS "20000" /* of a cell: PCRE's; a cell has some hundred bytes */

/* --- searches ------------------------------------------------------------------------------- */

bool line_search_init(struct line_search *search, const char *expression, GError **error)
{
	g_autofree char *bounded = NULL;

	*search = (struct line_search) {.text = expression};
	if (!strpbrk(expression, "\\^$.[]|()?*+{}"))
		return true;
	if (strlen(expression) > EXPRESSION_MAX) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "a search expression has %d bytes at most", EXPRESSION_MAX);
		return false;
	}
	/* of several such limits PCRE takes the lowest */
	bounded = g_strconcat("(*LIMIT_MATCH=" STEPS ")(*LIMIT_DEPTH=" STEPS ")", expression, NULL);
	search->regex = g_regex_new(bounded, G_REGEX_RAW | G_REGEX_OPTIMIZE, 0, NULL);
	if (!search->regex) { /* what is wrong is said of the expression itself */
		g_autoptr(GRegex) plain = g_regex_new(expression, G_REGEX_RAW, 0, error);

		if (plain)
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
				    "the search expression cannot be bounded");
	}
	return search->regex != NULL;
}

void line_search_clear(struct line_search *search)
{
	if (search->regex)
		g_regex_unref(search->regex);
	search->regex = NULL;
}

bool line_search_finds(struct line_search *search, const char *cell)
{
	g_autoptr(GError) error = NULL;
	bool found;

	if (!search->regex)
		return !search->text || strstr(cell, search->text);
	found = g_regex_match_full(search->regex, cell, -1, 0, 0, NULL, &error);
	search->gave_up |= error != NULL;
	return found;
}

void asked_lines_clear(struct asked_lines *lines)
{
	for (int i = 0; i < TABLE_COLUMNS; i++)
		line_search_clear(&lines->wanted[i]);
}

bool search_gave_up(struct asking *asking, const struct asked_lines *lines)
{
	for (int i = 0; i < TABLE_COLUMNS; i++)
		if (lines->wanted[i].gave_up) {
			asking_refuse(asking, 400, "Invalid query parameters",
				      "the search expression takes too many steps");
			return true;
		}
	return false;
}

/* --- lines ---------------------------------------------------------------------------------- */

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
