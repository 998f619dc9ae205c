/* SPDX-License-Identifier: MIT */
/* Lists of places by event name; see places.h. */
#include "event/places.h"

static void of_name_clear(gpointer data)
{
	struct places_of_name *of_name = data;

	if (of_name->list)
		g_array_free(of_name->list, TRUE);
	of_name->list = NULL;
}

struct event_places *event_places_new(void)
{
	struct event_places *places = g_new0(struct event_places, 1);

	places->of_names = g_array_new(FALSE, TRUE, sizeof(struct places_of_name));
	g_array_set_clear_func(places->of_names, of_name_clear);
	return places;
}

void event_places_free(struct event_places *places)
{
	if (!places)
		return;
	g_array_free(places->of_names, TRUE);
	g_free(places);
}

struct places_of_name *event_places_of(struct event_places *places, uint32_t name)
{
	if (G_UNLIKELY(name >= places->of_names->len))
		g_array_set_size(places->of_names, name + 1);
	return &g_array_index(places->of_names, struct places_of_name, name);
}

void event_places_note(struct places_of_name *of_name, const struct event_place *place)
{
	if (!of_name->list)
		of_name->list = g_array_new(FALSE, FALSE, sizeof *place);
	if (of_name->list->len == PLACES_MAX) {
		of_name_clear(of_name);
		of_name->many = true;
	} else {
		g_array_append_vals(of_name->list, place, 1);
	}
}
