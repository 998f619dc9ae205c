/* SPDX-License-Identifier: MIT */
/* Interrupts of each CPU and block devices, as rows: what ran when, and how many requests a device
 * had at once.
 *
 *   requests   ├──────┤
 *                 ├───────┤  ├──┤
 *   depth      1  2   1   0  1  0
 *
 * Part of tsp/. Made of the operations that were recorded (timeline/operation.h), so that what
 * lasts adds up to what `profile` has of "irq:*" and "block-served:*". Made once, when somebody
 * asks; four bytes an operation, 16 more for each end of a request.
 */
#include "tsp/outputs.h"

#include "latencies/operations.h"

static void row_free(gpointer data)
{
	struct resource_row *row = data;

	g_free(row->name);
	g_array_unref(row->operations);
	if (row->depths)
		g_array_unref(row->depths);
	g_free(row);
}

/* Rows while they are found. */
struct found_rows {
	const struct session *session;
	GPtrArray *list;
	GHashTable *by_key; /* owned; int64_t, owned -> borrowed row */
};

static bool is_row(uint32_t what)
{
	switch (PACK_KIND(what)) {
	case OPERATION_IRQ:
	case OPERATION_VECTOR:
	case OPERATION_SOFTIRQ:
	case OPERATION_SERVED:
		return true;
	default:
		return false;
	}
}

static char *row_name(const struct session *session, const struct operation *operation)
{
	g_autofree char *name = NULL, *label = NULL;

	if (PACK_KIND(operation->what) == OPERATION_SERVED)
		return g_strdup(disk_name(session, PACK_NUMBER(operation->what)));
	name = operation_name(session, operation->what);
	label = operation_label(session, operation);
	return label ? g_strconcat(name, " ", label, NULL) : g_steal_pointer(&name);
}

static struct resource_row *row_for(struct found_rows *rows, const struct operation *operation)
{
	bool device = PACK_KIND(operation->what) == OPERATION_SERVED;
	uint16_t host = model_operation_host(&rows->session->trace.model, operation);
	uint32_t cpu = device ? 0 : (uint32_t) operation->cpu;
	gint64 key = (gint64) ((uint64_t) host << 48 | (uint64_t) cpu << 32 | operation->what);
	struct resource_row *row = g_hash_table_lookup(rows->by_key, &key);

	if (row)
		return row;
	row = g_new0(struct resource_row, 1);
	row->host = host;
	row->cpu = cpu;
	row->what = operation->what;
	row->name = row_name(rows->session, operation);
	row->operations = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	if (device)
		row->depths = g_array_new(FALSE, FALSE, sizeof(struct depth));
	g_hash_table_insert(rows->by_key, g_memdup2(&key, sizeof key), row);
	g_ptr_array_add(rows->list, row);
	return row;
}

const struct operation *
resource_operation(const struct session *session, const struct resource_row *row, guint i)
{
	return operation_at(&session->trace.timeline.operations,
			    g_array_index(row->operations, uint32_t, i));
}

/* --- order ----------------------------------------------------------------------------------- */

static int by_place(gconstpointer a, gconstpointer b)
{
	const struct resource_row *x = *(const struct resource_row *const *) a;
	const struct resource_row *y = *(const struct resource_row *const *) b;

	if (row_is_device(x) != row_is_device(y))
		return row_is_device(x) ? 1 : -1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

static int by_begin(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct pages *operations = data;
	const struct operation *x = operation_at(operations, *(const uint32_t *) a);
	const struct operation *y = operation_at(operations, *(const uint32_t *) b);

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_time(gconstpointer a, gconstpointer b)
{
	const struct depth *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

/* From what begins and ends to how many there are. */
static void add_up(GArray *depths)
{
	int64_t requests = 0;
	guint kept = 0;

	g_array_sort(depths, by_time);
	for (guint i = 0; i < depths->len; i++) {
		struct depth depth = g_array_index(depths, struct depth, i);

		requests += depth.requests;
		if (i + 1 < depths->len &&
		    g_array_index(depths, struct depth, i + 1).time == depth.time)
			continue;
		depth.requests = requests;
		if (!kept ? requests
			  : g_array_index(depths, struct depth, kept - 1).requests != requests)
			g_array_index(depths, struct depth, kept++) = depth;
	}
	g_array_set_size(depths, kept);
}

static void finish(const struct session *session, struct resource_row *row)
{
	struct pages *operations = (struct pages *) &session->trace.timeline.operations;

	g_array_sort_with_data(row->operations, by_begin, operations);
	if (!row->depths)
		return;
	for (guint i = 0; i < row->operations->len; i++) {
		const struct operation *one = resource_operation(session, row, i);
		struct depth ends[] = {{one->begin, 1}, {operation_end(one), -1}};

		g_array_append_vals(row->depths, ends, G_N_ELEMENTS(ends));
	}
	add_up(row->depths);
}

const GPtrArray *resource_rows(struct server *server)
{
	const struct session *session = server->session;
	const struct pages *operations = &session->trace.timeline.operations;
	struct found_rows rows = {session, NULL, NULL};

	if (server->resources)
		return server->resources;
	rows.list = g_ptr_array_new_with_free_func(row_free);
	rows.by_key = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (uint32_t i = 1; i < operations->used; i++) {
		const struct operation *operation = operation_at(operations, i);

		if (is_row(operation->what) && operation->half == OPERATION_WHOLE)
			g_array_append_val(row_for(&rows, operation)->operations, i);
	}
	g_hash_table_destroy(rows.by_key);
	for (guint i = 0; i < rows.list->len; i++)
		finish(session, rows.list->pdata[i]);
	g_ptr_array_sort(rows.list, by_place);
	timeline_let_go(&session->trace.timeline);
	server->resources = rows.list;
	return rows.list;
}

guint depth_find(const struct resource_row *row, int64_t time)
{
	guint low = 0, high = row->depths->len;

	while (low < high) { /* the first that begins after it */
		guint middle = low + (high - low) / 2;

		if (g_array_index(row->depths, struct depth, middle).time <= time)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : low;
}
