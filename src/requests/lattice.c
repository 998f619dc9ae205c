/* SPDX-License-Identifier: MIT */
/* Merging the ways of many requests; see lattice.h. */
#include "requests/lattice.h"

#include <math.h>
#include <string.h>

#define LEAST_SHARE 0.01 /* of all requests' time: a cause that has less is no node */

/* A node while the lattice is built: in a list in the order that all paths follow. */
struct lattice_place {
	uint32_t key;      /* number of its label, 0: begin or end */
	int64_t ns;
	guint requests;
	struct lattice_place *next;
	guint number;      /* position, when all are there */
};

/* One request's way through it. */
struct visit {
	struct lattice_place *place;
	int64_t ns;
};

struct builder {
	const struct costs *costs;
	struct lattice *lattice;
	GHashTable *keys;    /* label -> number from 1 */
	GPtrArray *labels;   /* borrowed from keys; by number */
	GHashTable *minor;   /* "kind label" of causes that are no nodes */
	struct lattice_place *begin, *end;
	GPtrArray *ways;     /* owned; GArray of struct visit, for each merged request */
	guint count;         /* places */
};

static void find_minor(struct builder *builder)
{
	const struct costs *costs = builder->costs;

	for (guint i = 0; i < costs->causes->len; i++) {
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, i);

		if ((double) cause->value < LEAST_SHARE * (double) costs->total)
			g_hash_table_add(builder->minor,
					 g_strdup_printf("%s %s", cause->kind, cause->label));
	}
}

static uint32_t key_of(struct builder *builder, const struct step *step)
{
	/* most labels of causes name the thread already */
	bool named = g_str_has_prefix(step->label, step->name);
	char *label = g_strdup_printf("%s%s%s: %s", named ? "" : step->name, named ? "" : ", ",
				      step->kind, step->label);
	guint number = GPOINTER_TO_UINT(g_hash_table_lookup(builder->keys, label));

	if (number) {
		g_free(label);
		return number;
	}
	g_ptr_array_add(builder->labels, label);
	number = builder->labels->len;
	g_hash_table_insert(builder->keys, label, GUINT_TO_POINTER(number));
	return number;
}

struct key_step {
	uint32_t key;
	int64_t ns;
};

/* The steps that become nodes, with the time of those after them that do not; the first is
 * the begin. */
static GArray *stops_of(struct builder *builder, const struct user_request *request)
{
	GArray *steps = steps_new(builder->costs, request),
	       *stops = g_array_new(FALSE, FALSE, sizeof(struct key_step));
	struct key_step first = {0, 0};

	g_array_append_val(stops, first);
	for (guint i = 0; i < steps->len; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		g_autofree char *cause = g_strdup_printf("%s %s", step->kind, step->label);
		struct key_step *last = &g_array_index(stops, struct key_step, stops->len - 1),
				stop;

		stop = (struct key_step) {0, step->end - step->begin};
		if (!g_hash_table_contains(builder->minor, cause))
			stop.key = key_of(builder, step);
		if (!stop.key || stop.key == last->key || stops->len == LATTICE_STEPS_MAX)
			last->ns += stop.ns;
		else
			g_array_append_val(stops, stop);
	}
	g_array_free(steps, TRUE);
	return stops;
}

static struct lattice_place *
place_after(struct builder *builder, struct lattice_place *before, uint32_t key)
{
	struct lattice_place *place = g_new0(struct lattice_place, 1);

	place->key = key;
	place->next = before->next;
	before->next = place;
	builder->count++;
	return place;
}

static void visit(GArray *way, struct lattice_place *place, int64_t ns)
{
	struct visit fresh = {place, ns};

	if (way->len && g_array_index(way, struct visit, way->len - 1).place == place) {
		g_array_index(way, struct visit, way->len - 1).ns += ns;
	} else {
		g_array_append_val(way, fresh);
		place->requests++;
	}
	place->ns += ns;
}

/* Aligns the stops with the places there are, and puts the others in between. */
static void merge(struct builder *builder, const GArray *stops)
{
	guint n = stops->len, m = 0, j = 0;
	g_autofree struct lattice_place **places =
		g_new(struct lattice_place *, builder->count + 1);
	g_autofree uint16_t *rest = NULL;
	GArray *way = g_array_new(FALSE, FALSE, sizeof(struct visit));
	struct lattice_place *last = builder->begin;

	for (struct lattice_place *at = builder->begin->next; at != builder->end; at = at->next)
		places[m++] = at;
	rest = g_new0(uint16_t, (gsize) (n + 1) * (m + 1));
#define REST(i, j) rest[(gsize) (i) * (m + 1) + (j)]
#define KEY(i) g_array_index(stops, struct key_step, i).key
	for (guint i = n; i-- > 1;)
		for (guint k = m; k-- > 0;)
			REST(i, k) = KEY(i) == places[k]->key ? (uint16_t) (REST(i + 1, k + 1) + 1)
							      : MAX(REST(i + 1, k), REST(i, k + 1));
	visit(way, builder->begin, g_array_index(stops, struct key_step, 0).ns);
	for (guint i = 1; i < n; i++) {
		int64_t ns = g_array_index(stops, struct key_step, i).ns;

		while (j < m && KEY(i) != places[j]->key && REST(i, j + 1) >= REST(i + 1, j) &&
		       REST(i, j + 1) > 0)
			j++;
		if (j < m && KEY(i) == places[j]->key) {
			last = places[j++];
			visit(way, last, ns);
		} else if (builder->count < LATTICE_NODES_MAX) {
			last = place_after(builder, last, KEY(i));
			visit(way, last, ns);
		} else {
			visit(way, last, ns);
		}
	}
#undef KEY
#undef REST
	visit(way, builder->end, 0);
	g_ptr_array_add(builder->ways, way);
}

static void number_nodes(struct builder *builder)
{
	struct lattice *lattice = builder->lattice;
	guint number = 0;

	for (struct lattice_place *at = builder->begin; at; at = at->next) {
		struct lattice_node node = {.ns = at->ns, .requests = at->requests};

		node.label = g_strdup(
			at == builder->begin ? "begin"
			: at == builder->end ? "end"
					     : g_ptr_array_index(builder->labels, at->key - 1));
		at->number = number++;
		g_array_append_val(lattice->nodes, node);
	}
}

/* --- edges ------------------------------------------------------------------------ */

/* One request's going from a node to the next. */
struct passage {
	guint from, to, request;
};

static int by_edge(gconstpointer a, gconstpointer b)
{
	const struct passage *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return x->request < y->request ? -1 : x->request > y->request;
}

static GArray *passages_of(const struct builder *builder)
{
	GArray *passages = g_array_new(FALSE, FALSE, sizeof(struct passage));

	for (guint r = 0; r < builder->ways->len; r++) {
		const GArray *way = g_ptr_array_index(builder->ways, r);

		for (guint i = 0; i + 1 < way->len; i++) {
			struct passage passage = {
				g_array_index(way, struct visit, i).place->number,
				g_array_index(way, struct visit, i + 1).place->number, r};

			g_array_append_val(passages, passage);
		}
	}
	g_array_sort(passages, by_edge);
	return passages;
}

static void find_edges(struct lattice *lattice, const GArray *passages)
{
	for (guint i = 0; i < passages->len; i++) {
		const struct passage *at = &g_array_index(passages, struct passage, i);
		struct lattice_edge *last =
			lattice->edges->len ? &g_array_index(lattice->edges, struct lattice_edge,
							     lattice->edges->len - 1)
					    : NULL;
		struct lattice_edge edge = {.from = at->from, .to = at->to, .requests = 1};

		if (last && last->from == at->from && last->to == at->to) {
			last->requests++;
			continue;
		}
		if (last && last->from == at->from)
			edge.branch = last->branch = true;
		g_array_append_val(lattice->edges, edge);
	}
}

/* Edges lead to later nodes only, so what is left of the way is known from the end. */
static void find_costs(struct lattice *lattice)
{
	for (guint i = 0; i < lattice->nodes->len; i++)
		g_array_index(lattice->nodes, struct lattice_node, i).rest = INT64_MAX;
	g_array_index(lattice->nodes, struct lattice_node, lattice->nodes->len - 1).rest = 0;
	for (guint i = lattice->edges->len; i-- > 0;) {
		struct lattice_edge *edge = &g_array_index(lattice->edges, struct lattice_edge, i);
		struct lattice_node *from = &g_array_index(lattice->nodes, struct lattice_node,
							   edge->from),
				    *to = &g_array_index(lattice->nodes, struct lattice_node,
							 edge->to);

		edge->cost = lattice_mean(to) + to->rest;
		from->rest = MIN(from->rest, edge->cost);
	}
	for (guint i = 0; i < lattice->edges->len; i++) {
		struct lattice_edge *edge = &g_array_index(lattice->edges, struct lattice_edge, i);

		edge->cost -= g_array_index(lattice->nodes, struct lattice_node, edge->from).rest;
	}
}

/* --- conditions --------------------------------------------------------------------- */

static int64_t latency_of(const struct builder *builder, guint request)
{
	const struct user_requests *requests = builder->costs->requests;
	uint32_t listed = g_array_index(builder->lattice->merged, uint32_t, request);
	const struct user_request *at =
		user_request_at(requests, g_array_index(requests->listed, uint32_t, listed));

	return at->end - at->begin;
}

static void find_conditions(struct builder *builder, const GArray *passages)
{
	struct lattice *lattice = builder->lattice;
	g_autoptr(GHashTable) sets = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
							   (GDestroyNotify) g_bytes_unref, NULL);
	guint next = 0;

	for (guint i = 0; i < lattice->edges->len; i++) {
		struct lattice_edge *edge = &g_array_index(lattice->edges, struct lattice_edge, i);
		g_autofree guint *numbers = g_new(guint, edge->requests);
		struct condition fresh = {0};
		GBytes *set;
		guint place;

		for (guint k = 0; k < edge->requests; k++)
			numbers[k] = g_array_index(passages, struct passage, next++).request;
		if (!edge->branch || edge->requests == builder->ways->len)
			continue;
		set = g_bytes_new(numbers, edge->requests * sizeof *numbers);
		place = GPOINTER_TO_UINT(g_hash_table_lookup(sets, set));
		if (!place) {
			fresh.requests = g_array_new(FALSE, FALSE, sizeof(guint));
			fresh.edges = g_array_new(FALSE, FALSE, sizeof(guint));
			g_array_append_vals(fresh.requests, numbers, edge->requests);
			g_array_append_val(lattice->conditions, fresh);
			place = lattice->conditions->len;
			g_hash_table_insert(sets, g_bytes_ref(set), GUINT_TO_POINTER(place));
		}
		g_bytes_unref(set);
		edge->condition = place;
		g_array_append_val(
			g_array_index(lattice->conditions, struct condition, place - 1).edges, i);
		g_array_index(lattice->conditions, struct condition, place - 1).cost += edge->cost;
	}
}

static void find_means(struct builder *builder)
{
	struct lattice *lattice = builder->lattice;
	guint n = builder->ways->len;
	double all = 0;

	for (guint r = 0; r < n; r++)
		all += (double) latency_of(builder, r);
	for (guint i = 0; i < lattice->conditions->len; i++) {
		struct condition *at = &g_array_index(lattice->conditions, struct condition, i);
		double sum = 0;

		for (guint k = 0; k < at->requests->len; k++)
			sum += (double) latency_of(builder, g_array_index(at->requests, guint, k));
		at->mean[1] = sum / at->requests->len;
		at->mean[0] = n > at->requests->len ? (all - sum) / (n - at->requests->len) : 0;
	}
}

static gint costliest_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const GArray *edges = data;
	guint x = *(const guint *) a, y = *(const guint *) b;
	int64_t cost_x = g_array_index(edges, struct lattice_edge, x).cost,
		cost_y = g_array_index(edges, struct lattice_edge, y).cost;

	if (cost_x != cost_y)
		return cost_x > cost_y ? -1 : 1;
	return x < y ? -1 : x > y;
}

static double weight(const struct condition *condition)
{
	return (double) condition->cost * condition->requests->len;
}

static int heaviest_first(gconstpointer a, gconstpointer b)
{
	const struct condition *x = a, *y = b;

	if (weight(x) != weight(y))
		return weight(x) > weight(y) ? -1 : 1;
	return g_array_index(x->edges, guint, 0) < g_array_index(y->edges, guint, 0) ? -1 : 1;
}

static void sort_conditions(struct lattice *lattice)
{
	for (guint i = 0; i < lattice->conditions->len; i++)
		g_array_sort_with_data(
			g_array_index(lattice->conditions, struct condition, i).edges,
			costliest_first, lattice->edges);
	g_array_sort(lattice->conditions, heaviest_first);
	for (guint i = 0; i < lattice->conditions->len; i++) {
		const struct condition *at =
			&g_array_index(lattice->conditions, struct condition, i);

		for (guint k = 0; k < at->edges->len; k++)
			g_array_index(lattice->edges, struct lattice_edge,
				      g_array_index(at->edges, guint, k))
				.condition = i + 1;
	}
}

/* --- fewer nodes ---------------------------------------------------------------------- */

static int most_time(gconstpointer a, gconstpointer b)
{
	const struct lattice_place *x = *(struct lattice_place *const *) a,
				   *y = *(struct lattice_place *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* One way's nodes below `count` (ranks are kept in place->number) one after the other: what is the
 * longest chain to each is put into `chains`. Whether any got longer. */
static bool lengthen(const GArray *way, guint count, guint *chains)
{
	guint before = 0;
	bool longer = false;

	for (guint i = 0; i < way->len; i++) {
		guint rank = g_array_index(way, struct visit, i).place->number;

		if (rank >= count)
			continue;
		if (chains[rank] <= before) {
			chains[rank] = before + 1;
			longer = true;
		}
		before = chains[rank];
	}
	return longer;
}

/* Whether no chain of nodes below `count` has more than `longest`, over all ways together. */
static bool is_short(const struct builder *builder, guint count, guint longest)
{
	g_autofree guint *chains = g_new0(guint, builder->count + 2);
	bool longer = true;

	while (longer) {
		longer = false;
		for (guint r = 0; r < builder->ways->len; r++)
			longer |= lengthen(g_ptr_array_index(builder->ways, r), count, chains);
		for (guint i = 0; i < MIN(count, builder->count + 2); i++)
			if (chains[i] > longest)
				return false;
	}
	return true;
}

/* A way through the places that are kept only. */
static void shorten(GArray *way, guint count)
{
	guint kept = 0;

	for (guint i = 0; i < way->len; i++) {
		struct visit at = g_array_index(way, struct visit, i);

		if (at.place->number < count) {
			g_array_index(way, struct visit, kept++) = at;
			at.place->requests++;
		} else { /* the first, the begin, is kept */
			g_array_index(way, struct visit, kept - 1).ns += at.ns;
		}
	}
	g_array_set_size(way, kept);
	for (guint i = 0; i < way->len; i++)
		g_array_index(way, struct visit, i).place->ns +=
			g_array_index(way, struct visit, i).ns;
}

static void keep_costliest(struct builder *builder, guint longest)
{
	g_autoptr(GPtrArray) places = g_ptr_array_new();
	guint low = 0, high;

	for (struct lattice_place *at = builder->begin->next; at != builder->end; at = at->next) {
		at->number = places->len;
		g_ptr_array_add(places, at);
	}
	g_ptr_array_sort(places, most_time);
	for (guint i = 0; i < places->len; i++)
		((struct lattice_place *) g_ptr_array_index(places, i))->number = i + 2;
	builder->begin->number = 0;
	builder->end->number = 1;
	for (high = places->len + 2; low < high;) { /* the most that are not too long */
		guint middle = (low + high + 1) / 2;

		if (is_short(builder, middle, longest))
			low = middle;
		else
			high = middle - 1;
	}
	low = MAX(low, 2);
	for (struct lattice_place *at = builder->begin; at; at = at->next) {
		at->ns = 0;
		at->requests = 0;
	}
	for (guint r = 0; r < builder->ways->len; r++)
		shorten(g_ptr_array_index(builder->ways, r), low);
	for (struct lattice_place *at = builder->begin; at->next;) {
		struct lattice_place *next = at->next;

		if (next->number < low) {
			at = next;
			continue;
		}
		at->next = next->next;
		builder->count--;
		g_free(next);
	}
}

/* --- all ------------------------------------------------------------------------------ */

static void node_clear(gpointer data)
{
	g_free(((struct lattice_node *) data)->label);
}

static void condition_clear(gpointer data)
{
	struct condition *condition = data;

	g_array_free(condition->requests, TRUE);
	g_array_free(condition->edges, TRUE);
}

static void merge_all(struct builder *builder)
{
	const struct user_requests *requests = builder->costs->requests;
	guint n = requests->listed->len,
	      step = (n + LATTICE_REQUESTS_MAX - 1) / LATTICE_REQUESTS_MAX;

	requests_renew_effort(requests);
	for (uint32_t i = 0; i < n; i += step) {
		GArray *stops =
			stops_of(builder, user_request_at(requests, g_array_index(requests->listed,
										  uint32_t, i)));

		g_array_append_val(builder->lattice->merged, i);
		merge(builder, stops);
		g_array_free(stops, TRUE);
	}
}

static void builder_clear(struct builder *builder)
{
	for (struct lattice_place *at = builder->begin, *next; at; at = next) {
		next = at->next;
		g_free(at);
	}
	for (guint i = 0; i < builder->ways->len; i++)
		g_array_free(g_ptr_array_index(builder->ways, i), TRUE);
	g_ptr_array_free(builder->ways, TRUE);
	g_ptr_array_free(builder->labels, TRUE);
	g_hash_table_destroy(builder->keys);
	g_hash_table_destroy(builder->minor);
}

struct lattice *lattice_new(const struct costs *costs, guint longest)
{
	struct lattice *lattice = g_new0(struct lattice, 1);
	struct builder builder = {
		.costs = costs,
		.lattice = lattice,
		.keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.labels = g_ptr_array_new(),
		.ways = g_ptr_array_new(),
		.minor = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
		.begin = g_new0(struct lattice_place, 1),
		.end = g_new0(struct lattice_place, 1)};
	GArray *passages;

	lattice->costs = costs;
	builder.begin->next = builder.end;
	lattice->nodes = g_array_new(FALSE, FALSE, sizeof(struct lattice_node));
	g_array_set_clear_func(lattice->nodes, node_clear);
	lattice->edges = g_array_new(FALSE, FALSE, sizeof(struct lattice_edge));
	lattice->conditions = g_array_new(FALSE, FALSE, sizeof(struct condition));
	g_array_set_clear_func(lattice->conditions, condition_clear);
	lattice->merged = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	find_minor(&builder);
	if (costs->requests->listed->len)
		merge_all(&builder);
	if (longest && longest < builder.count + 2)
		keep_costliest(&builder, longest);
	number_nodes(&builder);
	passages = passages_of(&builder);
	find_edges(lattice, passages);
	find_costs(lattice);
	find_conditions(&builder, passages);
	find_means(&builder);
	sort_conditions(lattice);
	g_array_free(passages, TRUE);
	builder_clear(&builder);
	return lattice;
}

void lattice_free(struct lattice *lattice)
{
	g_array_free(lattice->nodes, TRUE);
	g_array_free(lattice->edges, TRUE);
	g_array_free(lattice->conditions, TRUE);
	g_array_free(lattice->merged, TRUE);
	g_free(lattice);
}
