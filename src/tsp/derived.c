/* SPDX-License-Identifier: MIT */
/* See derived.h. */
#include "tsp/derived.h"

#include <string.h>

#include "run/choosing.h"

static void row_clear(gpointer data)
{
	g_array_unref(((struct path_row *) data)->pieces);
}

void derived_free(gpointer data)
{
	struct derived *derived = data;

	g_free(derived->id);
	g_free(derived->name);
	g_free(derived->asked);
	path_free(derived->path);
	g_array_unref(derived->rows);
	g_free(derived);
}

struct derived *derived_find(const struct server *server, const char *id)
{
	for (guint i = 0; i < server->derived->len; i++) {
		struct derived *derived = server->derived->pdata[i];

		if (strcmp(derived->id, id) == 0)
			return derived;
	}
	return NULL;
}

const struct path_row *derived_row(const struct derived *derived, uint32_t thread)
{
	for (guint i = 0; i < derived->rows->len; i++)
		if (g_array_index(derived->rows, struct path_row, i).thread == thread)
			return &g_array_index(derived->rows, struct path_row, i);
	return NULL;
}

static int by_share(gconstpointer a, gconstpointer b)
{
	const struct path_row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static GArray *rows_of(const struct path *path)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct path_row));
	g_autoptr(GHashTable) places = g_hash_table_new(NULL, NULL); /* thread -> place, from 1 */

	g_array_set_clear_func(rows, row_clear);
	for (guint i = 0; i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);
		gpointer key = GUINT_TO_POINTER(piece->thread);
		guint place = GPOINTER_TO_UINT(g_hash_table_lookup(places, key));
		struct path_row *row;

		if (!place) {
			struct path_row fresh = {piece->thread, 0,
						 g_array_new(FALSE, FALSE, sizeof(guint))};

			g_array_append_val(rows, fresh);
			place = rows->len;
			g_hash_table_insert(places, key, GUINT_TO_POINTER(place));
		}
		row = &g_array_index(rows, struct path_row, place - 1);
		row->ns += piece->end - piece->begin;
		g_array_append_val(row->pieces, i);
	}
	g_array_sort(rows, by_share);
	return rows;
}

/* The one thread of that name or number: a path ends in one. */
static bool find_thread(struct asking *asking, const char *named, int64_t from, int64_t to,
			uint32_t *thread)
{
	const struct session *session = asking->server->session;
	g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree char *detail = NULL;
	guint count = 0;

	session_threads_named(session, named, false, list);
	for (guint i = 0; i < list->len; i++) {
		uint32_t at = g_array_index(list, uint32_t, i);
		const struct thread *life = model_thread(&session->trace.model, at);

		if (life->begin >= to || life->end <= from)
			continue;
		*thread = at;
		count++;
	}
	if (count == 1)
		return true;
	if (count)
		detail = g_strdup_printf("%u threads are called '%s'; give a TID", count, named);
	else
		detail = g_strdup_printf("no thread is called '%s' then", named);
	asking_refuse(asking, 400, "Invalid query parameters", detail);
	return false;
}

struct derived *derived_new(struct asking *asking, const char *name, const char *thread,
			    int64_t from, int64_t to)
{
	struct server *server = asking->server;
	struct derived *derived;
	uint32_t found;

	if (server->derived->len >= DERIVED_MAX) {
		asking_refuse(asking, 400, "Too many derived outputs", "delete one first");
		return NULL;
	}
	if (!find_thread(asking, thread, from, to, &found))
		return NULL;
	derived = g_new0(struct derived, 1);
	derived->id = g_strdup_printf("critical-path:%u", ++server->made);
	derived->name =
		name ? g_strdup(name)
		     : g_strdup_printf("Critical path of %s", run_name(server->session, found));
	derived->asked = g_strdup(thread);
	derived->thread = found;
	derived->from = from;
	derived->to = to;
	derived->path = path_new(server->session, found, derived->from, derived->to);
	derived->rows = rows_of(derived->path);
	g_ptr_array_add(server->derived, derived);
	return derived;
}
