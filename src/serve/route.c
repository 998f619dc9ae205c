/* SPDX-License-Identifier: MIT */
/* From a request's path to who answers it; see serve.h. */
#include "serve/route.h"
#include "serve/forms.h"
#include "serve/shown.h"

#include <string.h>

#define TSP "tsp/api/"
#define OF_EXPERIMENT TSP "experiments/*/"
#define OUTPUTS OF_EXPERIMENT "outputs/"

/* Of two that fit the first is taken. */
static const struct route routes[] = {
	{"GET", TSP "health", health, EARLY},
	{"GET", TSP "identifier", identifier, EARLY},
	{"GET", TSP "traces", traces_list, EARLY},
	{"POST", TSP "traces", traces_open, EARLY},
	{"GET", TSP "traces/*", trace_get, EARLY},
	{"DELETE", TSP "traces/*", trace_close, AT_ONCE},
	{"GET", TSP "experiments", experiments_list, EARLY},
	{"POST", TSP "experiments", experiments_open, EARLY},
	{"GET", TSP "experiments/*", experiment_get, EARLY},
	{"DELETE", TSP "experiments/*", experiment_close, AT_ONCE},
	{"GET", OF_EXPERIMENT "bookmarks", bookmarks_list, AT_ONCE},
	{"POST", OF_EXPERIMENT "bookmarks", bookmark_make, AT_ONCE},
	{"GET", OF_EXPERIMENT "bookmarks/*", bookmark_get, AT_ONCE},
	{"PUT", OF_EXPERIMENT "bookmarks/*", bookmark_change, AT_ONCE},
	{"DELETE", OF_EXPERIMENT "bookmarks/*", bookmark_remove, AT_ONCE},
	{"GET", OF_EXPERIMENT "outputs", outputs_list, AT_ONCE},
	{"GET", OUTPUTS "markerSets", marker_sets, AT_ONCE},
	{"POST", OUTPUTS "timeGraph/*/tree", graph_tree, AT_ONCE},
	{"POST", OUTPUTS "timeGraph/*/states", graph_states, AT_ONCE},
	{"POST", OUTPUTS "timeGraph/*/arrows", graph_arrows, AT_ONCE},
	{"POST", OUTPUTS "timeGraph/*/tooltip", graph_tooltip, AT_ONCE},
	{"POST", OUTPUTS "XY/*/tree", xy_tree, APART},
	{"POST", OUTPUTS "XY/*/xy", xy_values, APART},
	{"POST", OUTPUTS "genericXY/*/tree", histogram_tree, APART},
	{"POST", OUTPUTS "genericXY/*/xy", histogram_values, APART},
	{"POST", OUTPUTS "data/*/tree", data_tree, APART},
	{"POST", OUTPUTS "table/*/columns", table_columns, AT_ONCE},
	{"POST", OUTPUTS "table/*/lines", table_lines, APART},
	{"GET", OUTPUTS "*", output_get, AT_ONCE},
	{"POST", OUTPUTS "*", output_derive, AT_ONCE},
	{"POST", OUTPUTS "*/style", output_styles, AT_ONCE},
	{"GET", OUTPUTS "*/annotations", annotation_categories, AT_ONCE},
	{"POST", OUTPUTS "*/annotations", annotations_get, APART},
	{"GET", OUTPUTS "*/configTypes", output_config_types, AT_ONCE},
	{"GET", OUTPUTS "*/configTypes/*", output_config_type, AT_ONCE},
	{"DELETE", OUTPUTS "*/*", output_remove, AT_ONCE},
	{"GET", TSP "config/types", config_types, AT_ONCE},
	{"GET", TSP "config/types/*", config_none, AT_ONCE},
	{"GET", TSP "config/types/*/configs", config_none, AT_ONCE},
	{"POST", TSP "config/types/*/configs", config_none, AT_ONCE},
	{"GET", TSP "config/types/*/configs/*", config_none, AT_ONCE},
	{"PUT", TSP "config/types/*/configs/*", config_none, AT_ONCE},
	{"DELETE", TSP "config/types/*/configs/*", config_none, AT_ONCE},
	{"GET", "", page_whole, APART | EARLY},
	{"GET", "ask", page_forms, AT_ONCE},
	{"POST", "shown/states", shown_states, AT_ONCE},
	{"POST", "shown/lanes", shown_lanes, APART},
	{"POST", "shown/steps", shown_steps, APART},
	{"POST", "shown/search", shown_search, APART},
	{"GET", "style.css", page_style, EARLY},
	{"GET", "report/*", page_report, APART},
};

/* The words of the path are the route's; those that it leaves open are given. */
static bool fits(struct asking *asking, const struct route *route)
{
	g_auto(GStrv) words = g_strsplit(route->path, "/", -1);
	guint count = g_strv_length(words), open = 0;

	if (count != g_strv_length(asking->words))
		return false;
	for (guint i = 0; i < count; i++) {
		if (strcmp(words[i], "*") == 0 && *asking->words[i])
			asking->given[open++] = asking->words[i];
		else if (strcmp(words[i], asking->words[i]) != 0)
			return false;
	}
	return true;
}

/* What a POST or PUT says: an object, "parameters" the most of it. */
static bool take_body(struct asking *asking)
{
	json_error_t error;

	if (strcmp(asking->method, "POST") != 0 && strcmp(asking->method, "PUT") != 0)
		return true;
	asking->content = json_loadb(asking->body ? asking->body : "", asking->body_length,
				     JSON_REJECT_DUPLICATES, &error);
	asking->parameters = json_object_get(asking->content, "parameters");
	if (json_is_object(asking->parameters))
		return true;
	asking_refuse(asking, 400, "Missing query parameters",
		      "the body must be a JSON object with an object \"parameters\"");
	return false;
}

const struct route *route_find(struct asking *asking, const char *path)
{
	static const char *const methods[] = {"GET", "POST", "PUT", "DELETE", NULL};
	const struct route *other = NULL;

	asking->words = g_strsplit(*path == '/' ? path + 1 : path, "/", WORDS_MAX + 1);
	for (size_t i = 0; i < G_N_ELEMENTS(routes); i++) {
		const struct route *route = &routes[i];

		if (!fits(asking, route))
			continue;
		if (strcmp(route->method, asking->method) != 0) {
			other = other ? other : route;
			continue;
		}
		if (g_str_has_prefix(route->path, OF_EXPERIMENT) &&
		    strcmp(asking->given[0], asking->server->uuid) != 0) {
			asking_refuse(asking, 404, "No such experiment", NULL);
			return NULL;
		}
		return take_body(asking) ? route : NULL;
	}
	asking->also = other ? other->method : NULL;
	if (other)
		asking_refuse(asking, 405, "Method not allowed", other->method);
	else
		asking_refuse(asking, g_strv_contains(methods, asking->method) ? 404 : 501,
			      "There is nothing here", NULL);
	return NULL;
}

void route_take(struct asking *asking, const struct route *route)
{
	*asking->server->session->found.runs_read = 0; /* counts in one answer */
	route->handler(asking);
}
