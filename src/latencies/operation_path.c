/* SPDX-License-Identifier: MIT */
/* See operation_path.h. */
#include "latencies/operation_path.h"

#include "timeline/operation.h"
#include "util/pattern.h"

struct around {
	int64_t begin;
	const char *name; /* borrowed of `names` */
};

/* While the store is read. */
struct reading {
	const struct session *session;
	const struct operation_pattern *pattern;
	struct operations_inside *inside;
	char *(*name)(const struct session *session, uint32_t what);
	GHashTable *names; /* owned; what -> its name (owned) */
	GArray **stacks;   /* owned; by thread: struct around, the outermost first; NULL: none */
};

static const char *name_of(struct reading *reading, const struct operation *operation)
{
	gpointer key = GUINT_TO_POINTER(operation->what);
	char *name = g_hash_table_lookup(reading->names, key);

	if (!name) {
		name = reading->name(reading->session, operation->what);
		g_hash_table_insert(reading->names, key, name);
	}
	return name;
}

/* Its names are around, in their order. */
static bool is_inside(const struct reading *reading, const GArray *stack)
{
	guint left = g_strv_length(reading->pattern->outer);

	for (guint i = stack->len; left && i-- > 0;)
		left -= pattern_match(reading->pattern->outer[left - 1],
				      g_array_index(stack, struct around, i).name);
	return !left;
}

static void read_one(struct reading *reading, const struct operation *operation, uint32_t number)
{
	GArray **stack = &reading->stacks[operation->thread];
	struct around at = {operation->begin, name_of(reading, operation)};
	struct operations_inside *inside = reading->inside;

	if (!*stack)
		*stack = g_array_new(FALSE, FALSE, sizeof at);
	while ((*stack)->len &&
	       g_array_index(*stack, struct around, (*stack)->len - 1).begin > at.begin)
		g_array_set_size(*stack, (*stack)->len - 1);
	if (pattern_match(reading->pattern->name, at.name)) {
		inside->met = true;
		if (is_inside(reading, *stack))
			g_hash_table_add(inside->numbers, GUINT_TO_POINTER(number));
		else if ((*stack)->len)
			g_hash_table_add(inside->around,
					 g_strdup(g_array_index(*stack, struct around,
								(*stack)->len - 1)
							  .name));
	}
	g_array_append_val(*stack, at);
}

struct operations_inside *
operations_inside_new(const struct session *session, const struct operation_pattern *pattern,
		      char *(*name)(const struct session *session, uint32_t what))
{
	const struct pages *store = &session->trace.timeline.operations;
	uint32_t threads = session->trace.model.thread_count;
	struct operations_inside *inside = g_new0(struct operations_inside, 1);
	struct reading reading = {session,
				  pattern,
				  inside,
				  name,
				  g_hash_table_new_full(NULL, NULL, NULL, g_free),
				  g_new0(GArray *, threads + 1)};

	inside->numbers = g_hash_table_new(NULL, NULL);
	inside->around = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	for (uint32_t i = store->used; i-- > 1;) {
		const struct operation *operation = operation_at(store, i);

		if (1u << PACK_KIND(operation->what) & OPERATIONS_OF_FRAMES && !operation->half &&
		    operation_has_thread(operation))
			read_one(&reading, operation, i);
	}
	for (uint32_t i = 0; i < threads; i++)
		if (reading.stacks[i])
			g_array_free(reading.stacks[i], TRUE);
	g_free(reading.stacks);
	g_hash_table_destroy(reading.names);
	return inside;
}

void operations_inside_free(struct operations_inside *inside)
{
	if (!inside)
		return;
	g_hash_table_destroy(inside->numbers);
	g_hash_table_destroy(inside->around);
	g_free(inside);
}
