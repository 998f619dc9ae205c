/* SPDX-License-Identifier: MIT */
/* The Trace Server Protocol's bookmarks. Part of tsp/. They are kept as long as the server runs:
 * it writes no file. */
#include "tsp/asking.h"

#include <string.h>

#define BOOKMARKS_MAX 1000
#define NAME_MAX_BYTES 1000

static void put(struct asking *asking, const struct bookmark *bookmark)
{
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	json_put_text(&asking->out, "uuid", bookmark->uuid);
	json_put_text(&asking->out, "name", bookmark->name);
	json_put_whole(&asking->out, "start", bookmark->begin);
	json_put_whole(&asking->out, "end", bookmark->end);
	json_end(&asking->out, '}');
}

/* Refused where there is none. */
static struct bookmark *find(struct asking *asking)
{
	const GPtrArray *list = asking->server->bookmarks;

	for (guint i = 0; i < list->len; i++) {
		struct bookmark *bookmark = list->pdata[i];

		if (strcmp(bookmark->uuid, asking->given[1]) == 0)
			return bookmark;
	}
	asking_refuse(asking, 404, "Experiment or bookmark not found", NULL);
	return NULL;
}

/* Name and times as asked; false: refused. */
static bool fill(struct asking *asking, struct bookmark *bookmark)
{
	const char *name = json_string_value(parameter(asking, "name"));
	int64_t begin, end;

	if (!name || !*name || strlen(name) > NAME_MAX_BYTES ||
	    !parameter_whole(parameter(asking, "start"), &begin) ||
	    !parameter_whole(parameter(asking, "end"), &end) || begin > end) {
		asking_refuse(asking, 400, "Invalid query parameters",
			      "a bookmark has a name, a start and an end");
		return false;
	}
	g_free(bookmark->name);
	bookmark->name = g_strdup(name);
	bookmark->begin = begin;
	bookmark->end = end;
	return true;
}

void bookmarks_list(struct asking *asking)
{
	json_begin(&asking->out, NULL, '[', LINES_NOT);
	for (guint i = 0; i < asking->server->bookmarks->len; i++)
		put(asking, asking->server->bookmarks->pdata[i]);
	json_end(&asking->out, ']');
}

void bookmark_make(struct asking *asking)
{
	struct server *server = asking->server;
	struct bookmark *bookmark;
	g_autofree char *text = NULL;

	if (server->bookmarks->len >= BOOKMARKS_MAX) {
		asking_refuse(asking, 400, "Too many bookmarks", NULL);
		return;
	}
	bookmark = g_new0(struct bookmark, 1);
	if (!fill(asking, bookmark)) {
		g_free(bookmark);
		return;
	}
	text = g_strdup_printf("bookmark:%s:%u", server->uuid, ++server->made);
	uuid_of(text, bookmark->uuid);
	g_ptr_array_add(server->bookmarks, bookmark);
	put(asking, bookmark);
}

void bookmark_get(struct asking *asking)
{
	const struct bookmark *bookmark = find(asking);

	if (bookmark)
		put(asking, bookmark);
}

void bookmark_change(struct asking *asking)
{
	struct bookmark *bookmark = find(asking);

	if (bookmark && fill(asking, bookmark))
		put(asking, bookmark);
}

void bookmark_remove(struct asking *asking)
{
	struct bookmark *bookmark = find(asking);

	if (!bookmark)
		return;
	put(asking, bookmark);
	g_ptr_array_remove(asking->server->bookmarks, bookmark);
}
