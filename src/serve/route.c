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
	{"GET", TSP "health", health, false},
	{"GET", TSP "identifier", identifier, false},
	{"GET", TSP "traces", traces_list, false},
	{"POST", TSP "traces", traces_open, false},
	{"GET", TSP "traces/*", trace_get, false},
	{"DELETE", TSP "traces/*", trace_close, false},
	{"GET", TSP "experiments", experiments_list, false},
	{"POST", TSP "experiments", experiments_open, false},
	{"GET", TSP "experiments/*", experiment_get, false},
	{"DELETE", TSP "experiments/*", experiment_close, false},
	{"GET", OF_EXPERIMENT "bookmarks", bookmarks_list, false},
	{"POST", OF_EXPERIMENT "bookmarks", bookmark_make, false},
	{"GET", OF_EXPERIMENT "bookmarks/*", bookmark_get, false},
	{"PUT", OF_EXPERIMENT "bookmarks/*", bookmark_change, false},
	{"DELETE", OF_EXPERIMENT "bookmarks/*", bookmark_remove, false},
	{"GET", OF_EXPERIMENT "outputs", outputs_list, false},
	{"GET", OUTPUTS "markerSets", marker_sets, false},
	{"POST", OUTPUTS "timeGraph/*/tree", graph_tree, false},
	{"POST", OUTPUTS "timeGraph/*/states", graph_states, false},
	{"POST", OUTPUTS "timeGraph/*/arrows", graph_arrows, false},
	{"POST", OUTPUTS "timeGraph/*/tooltip", graph_tooltip, false},
	{"POST", OUTPUTS "XY/*/tree", xy_tree, true},
	{"POST", OUTPUTS "XY/*/xy", xy_values, true},
	{"POST", OUTPUTS "genericXY/*/tree", histogram_tree, true},
	{"POST", OUTPUTS "genericXY/*/xy", histogram_values, true},
	{"POST", OUTPUTS "data/*/tree", data_tree, true},
	{"POST", OUTPUTS "table/*/columns", table_columns, false},
	{"POST", OUTPUTS "table/*/lines", table_lines, false},
	{"GET", OUTPUTS "*", output_get, false},
	{"POST", OUTPUTS "*", output_derive, false},
	{"POST", OUTPUTS "*/style", output_styles, false},
	{"GET", OUTPUTS "*/annotations", annotation_categories, false},
	{"POST", OUTPUTS "*/annotations", annotations_get, true},
	{"GET", OUTPUTS "*/configTypes", output_config_types, false},
	{"GET", OUTPUTS "*/configTypes/*", output_config_type, false},
	{"DELETE", OUTPUTS "*/*", output_remove, false},
	{"GET", TSP "config/types", config_types, false},
	{"GET", TSP "config/types/*", config_none, false},
	{"GET", TSP "config/types/*/configs", config_none, false},
	{"POST", TSP "config/types/*/configs", config_none, false},
	{"GET", TSP "config/types/*/configs/*", config_none, false},
	{"PUT", TSP "config/types/*/configs/*", config_none, false},
	{"DELETE", TSP "config/types/*/configs/*", config_none, false},
	{"GET", "", page_whole, true},
	{"GET", "ask", page_forms, false},
	{"POST", "shown/states", shown_states, false},
	{"POST", "shown/lanes", shown_lanes, true},
	{"POST", "shown/steps", shown_steps, true},
	{"GET", "style.css", page_style, false},
	{"GET", "report/*", page_report, true},
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
