/* SPDX-License-Identifier: MIT */
/* Putting requests' stretches down to causes, and the sums; see request_costs.h. */
#include "tracking/request_costs.h"

#include <string.h>

#include "latencies/operations.h"
#include "tracking/exchange_lists.h"
#include "tracking/request_path.h"
#include "waits/causes.h"
#include "waits/state_names.h"

const char *metric_unit(enum metric metric)
{
	switch (metric) {
	case METRIC_DISK_BYTES:
	case METRIC_NET_BYTES:
		return "bytes";
	case METRIC_CALLS:
		return "calls";
	default:
		return "ns";
	}
}

static void cause_row_clear(gpointer data)
{
	g_free(((struct user_cause *) data)->label);
}

/* --- adding up --------------------------------------------------------------------- */

/* Where a cost is seen. */
struct seen {
	uint32_t thread;
	int64_t begin, end;
};

/* A cause by its kind and label, both borrowed. */
struct cause_key {
	const char *kind, *label;
};

static guint cause_hash(gconstpointer key)
{
	return g_str_hash(((const struct cause_key *) key)->label);
}

static gboolean same_cause(gconstpointer a, gconstpointer b)
{
	const struct cause_key *x = a, *y = b;

	return strcmp(x->label, y->label) == 0 && strcmp(x->kind, y->kind) == 0;
}

static uint32_t cause_place(struct costs *costs, const char *kind, const char *label,
			    const struct seen *seen)
{
	struct cause_key key = {kind, label};
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(costs->index, &key));
	struct user_cause cause = {
		.kind = kind, .first = seen->begin, .first_thread = seen->thread, .largest = -1};

	if (place)
		return place - 1;
	key.label = cause.label = g_strdup(label);
	g_array_append_val(costs->causes, cause);
	g_hash_table_insert(costs->index, g_memdup2(&key, sizeof key),
			    GUINT_TO_POINTER(costs->causes->len));
	return costs->causes->len - 1;
}

/* Returns the cause's place. */
static uint32_t add_cost(struct costs *costs, guint listed, const char *kind, const char *label,
			 enum user_change change, int64_t value, const struct seen *seen)
{
	uint32_t place = cause_place(costs, kind, label, seen), at;
	struct user_cause *cause = &g_array_index(costs->causes, struct user_cause, place);
	uint64_t key = (uint64_t) listed << 32 | place;
	struct cost cost = {.listed = listed, .cause = place};

	at = idmap_get(&costs->places, key);
	if (at == IDMAP_NONE) {
		at = costs->costs->len;
		g_array_append_val(costs->costs, cost);
		idmap_set(&costs->places, key, at);
		cause->requests++;
	}
	g_array_index(costs->costs, struct cost, at).value += value;
	cause->value += value;
	costs->total += value;
	if (change)
		cause->change = change;
	cause->spans_gap |=
		user_request_at(costs->requests,
				g_array_index(costs->requests->listed, uint32_t, listed))
			->spans_gap;
	if (seen->begin < cause->first) {
		cause->first = seen->begin;
		cause->first_thread = seen->thread;
	}
	if (value > cause->largest) {
		cause->largest = value;
		cause->thread = seen->thread;
		cause->begin = seen->begin;
		cause->end = seen->end;
		cause->request = g_array_index(costs->requests->listed, uint32_t, listed);
	}
	return place;
}

/* --- latency ------------------------------------------------------------------------- */

#define STRETCHES_MAX (1 << 20) /* of more none are kept */

/* Pieces of a way that follow each other are one. */
static void put_down(struct costs *costs, uint32_t cause, const struct seen *seen)
{
	struct put_down *last = costs->stretches && costs->stretches->len
					? &g_array_index(costs->stretches, struct put_down,
							 costs->stretches->len - 1)
					: NULL;
	struct put_down stretch = {cause, seen->thread, seen->begin, seen->end};

	if (!costs->stretches)
		return;
	if (last && last->cause == cause && last->thread == seen->thread &&
	    last->end == seen->begin)
		last->end = seen->end;
	else if (costs->stretches->len < STRETCHES_MAX)
		g_array_append_val(costs->stretches, stretch);
	else
		g_clear_pointer(&costs->stretches, g_array_unref);
}

static void add_thread(struct costs *costs, guint listed, guint from, uint32_t thread, int64_t ns)
{
	struct thread_cost cost = {listed, thread, ns};

	for (guint i = from; i < costs->threads->len; i++) {
		struct thread_cost *at = &g_array_index(costs->threads, struct thread_cost, i);

		if (at->thread == thread) {
			at->ns += ns;
			return;
		}
	}
	g_array_append_val(costs->threads, cost);
}

/* The thread of the path did something for another request meanwhile: this one had to
 * wait for that. False: it did not. */
static bool is_of_another(const struct user_requests *requests, uint32_t root,
			  const struct piece *piece, int64_t at, int64_t *until)
{
	uint32_t place = 0;

	*until = piece->end;
	if (piece->behalf < 0 && requests->of_exchange) {
		place = user_request_of(requests, piece->thread, at, until);
		*until = MIN(*until, piece->end);
	}
	/* what was lost may have been the end of that */
	return place && user_request_root(requests, place) != root &&
	       !host_gap_over(
		       model_host(
			       &requests->session->trace.model,
			       model_thread(&requests->session->trace.model, piece->thread)->host),
		       at, *until);
}

const char *piece_part_put_down_to(const struct costs *costs, const struct user_request *request,
				   const struct path *path, const struct piece *piece, int64_t at,
				   int64_t *until, GString *label, enum user_change *change)
{
	struct piece part = *piece;

	*change = CHANGE_NOTHING;
	if (is_of_another(costs->requests, user_request_root(costs->requests, request->id), piece,
			  at, until)) {
		g_string_printf(label, "%s busy with another request",
				thread_names_get(costs->namer->names, piece->thread));
		return "other-request";
	}
	part.begin = at;
	part.end = *until;
	return piece_put_down_to(costs->namer, request, path, &part, label, change);
}

static void add_piece(struct costs *costs, guint listed, const struct user_request *request,
		      const struct path *path, const struct piece *piece, GString *label)
{
	for (int64_t at = piece->begin, until; at < piece->end; at = until) {
		enum user_change change;
		const char *kind = piece_part_put_down_to(costs, request, path, piece, at, &until,
							  label, &change);
		struct seen seen = {piece->thread, at, until};

		put_down(costs,
			 add_cost(costs, listed, kind, label->str, change, until - at, &seen),
			 &seen);
	}
}

static void close_cost(struct costs *costs, const struct cost *cost)
{
	struct user_cause *cause = &g_array_index(costs->causes, struct user_cause, cost->cause);
	const struct user_request *request =
		user_request_at(costs->requests,
				g_array_index(costs->requests->listed, uint32_t, cost->listed));

	cause->squares += (double) cost->value * (double) cost->value;
	if (cause->closed < CAUSE_EXAMPLES)
		cause->ids[cause->closed] = request->id;
	cause->closed++;
	cause->latencies += request->end - request->begin;
	if (costs->is_slow[cost->listed]) {
		cause->slow += cost->value;
		cause->slow_requests++;
	}
}

/* From `from` on the costs are of requests that get no more: their squares are summed, and
 * what no report will name is dropped. */
static void close_requests(struct costs *costs, guint from)
{
	guint kept = from;

	for (guint i = from; i < costs->costs->len; i++) {
		struct cost *cost = &g_array_index(costs->costs, struct cost, i);

		close_cost(costs, cost);
		if (!costs->kept || costs->kept[cost->listed])
			g_array_index(costs->costs, struct cost, kept++) = *cost;
	}
	g_array_set_size(costs->costs, kept);
	idmap_clear(&costs->places);
	idmap_init(&costs->places);
}

struct summing {
	struct costs *costs;
	GString *label;
	struct path_work *work;
};

static void add_way(guint listed, const struct path *path, void *data)
{
	struct summing *summing = data;
	struct costs *costs = summing->costs;
	const struct user_request *request = listed_request(costs, listed);
	guint from = costs->threads->len, first = costs->costs->len;

	for (guint k = 0; k < path->pieces->len; k++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, k);

		add_piece(costs, listed, request, path, piece, summing->label);
		add_thread(costs, listed, from, piece->thread, piece->end - piece->begin);
	}
	path_work_add(summing->work, path);
	close_requests(costs, first);
	if (costs->kept && !costs->kept[listed])
		g_array_set_size(costs->threads, from);
}

static void sum_latency(struct costs *costs)
{
	const struct user_requests *requests = costs->requests;
	struct summing summing = {costs, g_string_new(NULL), path_work_new(requests->session)};

	user_requests_ways(requests, add_way, &summing);
	costs->not_followed = requests->effort->ways;
	costs->functions = path_work_totals(summing.work);
	path_work_free(summing.work);
	g_string_free(summing.label, TRUE);
}

/* --- what threads did while they worked on a request --------------------------------- */

static void sum_states(struct costs *costs, const guint32 *listed, bool working)
{
	const struct user_requests *requests = costs->requests;
	const struct session *session = requests->session;
	GString *label = g_string_new(NULL);
	struct path none = {0};

	for (guint i = 0; i < requests->working.used; i++) {
		const struct working *at = working_at(requests, i);
		struct spans spans;
		struct span span;

		pages_pass(&requests->working, i);
		if (!listed[at->request])
			continue;
		spans_begin(&spans, session, at->thread, at->begin, at->end);
		while (spans_next(&spans, &span)) {
			struct piece piece = {.thread = at->thread,
					      .begin = span.begin,
					      .end = span.end,
					      .leaf = span.leaf,
					      .ref = span.ref,
					      .woken = true,
					      .behalf = -1};
			struct seen seen = {at->thread, span.begin, span.end};
			enum user_change change;
			const char *kind;

			if ((leaf_wib(span.leaf) == WIB_WORKING) != working ||
			    leaf_wib(span.leaf) == WIB_UNKNOWN)
				continue;
			if (leaf_is_blocked(span.leaf)) {
				piece.block = block_at(&session->trace.timeline, span.ref);
				piece.woken = piece.block->kind != WAKER_NONE;
			}
			kind = piece_put_down_to(costs->namer,
						 user_request_at(requests, at->request - 1), &none,
						 &piece, label, &change);
			add_cost(costs, listed[at->request] - 1, kind, label->str, change,
				 span.end - span.begin, &seen);
		}
	}
	g_string_free(label, TRUE);
}

/* "/data.bin, preadv2 on vda": the file first, as it is what a program can change; "/log, fsync on
 * vda, by jbd2/vda-8"; "vda, preadv2" where the file is not known. */
static void disk_label(const struct piece_namer *namer, const struct exchange *exchange,
		       GString *label)
{
	const struct session *session = namer->session;
	const char *disk = disk_name(session, exchange->end), *by;
	const char *call = exchange->call ? session_text(session, exchange->call) : NULL;

	if (exchange->file)
		g_string_printf(label, "%s%s%s on %s",
				resource_name(session_text(session, exchange->file)),
				call ? ", " : "", call ? call : "", disk);
	else
		g_string_printf(label, "%s%s%s", disk, call ? ", " : "", call ? call : "");
	if (!is_thread(exchange->through))
		return;
	by = session_thread_name(session, exchange->through);
	if (g_str_has_prefix(by, "kworker/")) /* any of them may do it */
		by = "a kworker";
	g_string_append_printf(label, ", by %s", by);
}

static void sum_exchanges(struct costs *costs, const guint32 *listed, enum metric metric)
{
	const struct user_requests *requests = costs->requests;
	const struct session *session = requests->session;
	const struct pages *store = &session->trace.timeline.exchanges;
	bool disk = metric != METRIC_NET_BYTES;
	GString *label = g_string_new(NULL);

	for (uint32_t i = 1; i < store->used; i++) {
		const struct exchange *exchange = exchange_at(session, i);
		struct seen seen = {exchange->thread, exchange->begin, exchange->end_time};
		const struct channel_end *end;
		int64_t until, value = exchange->bytes;
		uint32_t place;

		pages_pass(store, i);
		if (disk != (exchange->kind == EXCHANGE_DISK) || !exchange->bytes ||
		    (!disk && exchange->kind != EXCHANGE_READ && exchange->kind != EXCHANGE_WRITE))
			continue;
		place = user_request_of(requests, exchange->thread,
					exchange->kind == EXCHANGE_READ ? exchange->end_time
									: exchange->begin,
					&until);
		if (!place || !listed[place])
			continue;
		if (disk) {
			disk_label(costs->namer, exchange, label);
			if (metric == METRIC_DISK_TIME)
				value = exchange->end_time - exchange->begin;
		} else {
			end = pages_at(&session->trace.timeline.ends, exchange->end);
			if (end->kind != CHANNEL_SOCKET)
				continue;
			g_string_printf(label, "%s %s",
					exchange->kind == EXCHANGE_READ ? "from" : "to",
					resource_name(session_text(
						session, end->remote ? end->remote : end->key)));
		}
		add_cost(costs, listed[place] - 1,
			 cause_kind_text(disk ? CAUSE_BLOCK_DEVICE : CAUSE_NETWORK), label->str,
			 CHANGE_NOTHING, value, &seen);
	}
	g_string_free(label, TRUE);
}

static void sum_calls(struct costs *costs, const guint32 *listed)
{
	const struct user_requests *requests = costs->requests;
	const struct session *session = requests->session;
	const struct pages *store = &session->trace.timeline.operations;

	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		struct seen seen = {operation->thread, operation->begin, operation_end(operation)};
		int64_t until;
		uint32_t place;

		pages_pass(store, i);
		if (PACK_KIND(operation->what) != OPERATION_SYSCALL || operation->half ||
		    !operation_has_thread(operation))
			continue;
		place = user_request_of(requests, operation->thread, operation->begin, &until);
		if (place && listed[place])
			add_cost(costs, listed[place] - 1, "call",
				 session_text(session, PACK_NUMBER(operation->what)),
				 CHANGE_NOTHING, 1, &seen);
	}
}

/* --- all ------------------------------------------------------------------------------ */

#define SPREAD_MAX 2000 /* requests that stand for all */

bool costs_stand_for_all(const struct costs *costs, guint listed)
{
	uint64_t count = costs->requests->listed->len;

	return count <= SPREAD_MAX || !listed ||
	       listed * (uint64_t) SPREAD_MAX / count !=
		       (listed - 1) * (uint64_t) SPREAD_MAX / count;
}

static void find_kept(struct costs *costs, const GArray *order)
{
	const struct options *options = costs->requests->session->asked.options;
	guint limit = options->limit;

	if (limit && options->format == FORMAT_HTML)
		limit = MAX(limit, COSTS_OF_PAGE);
	if (!limit || order->len <= limit)
		return;
	costs->kept = g_new0(guint8, order->len);
	for (guint i = 0; i < limit; i++)
		costs->kept[g_array_index(order, guint, i)] = 1;
	for (guint i = 0; costs->stretches && i < order->len; i++)
		costs->kept[i] |= costs_stand_for_all(costs, i);
}

/* Of the one at that place in `order`. */
static int64_t latency_at(const struct costs *costs, const GArray *order, guint i)
{
	guint listed = g_array_index(order, guint, i);
	const struct user_request *request =
		user_request_at(costs->requests,
				g_array_index(costs->requests->listed, uint32_t, listed));

	user_requests_read(costs->requests, READ_AT_RANDOM);
	return request->end - request->begin;
}

static void find_slow(struct costs *costs, const GArray *order)
{
	double spread;

	costs->is_slow = g_new0(guint8, order->len + 1);
	if (!order->len)
		return;
	spread = SLOW_SPREAD * (double) latency_at(costs, order, order->len / 2);
	for (guint i = 0; i < MAX(order->len / 10, 1); i++) {
		int64_t latency = latency_at(costs, order, i);

		if (i && (double) latency < spread && (double) costs->slow_from >= spread)
			break;
		costs->is_slow[g_array_index(order, guint, i)] = 1;
		costs->slow_from = latency;
		costs->slow_ns += latency;
		costs->slow_count++;
	}
}

static int largest_cause(gconstpointer a, gconstpointer b)
{
	const struct user_cause *x = a, *y = b;
	int kind;

	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	kind = strcmp(x->kind, y->kind);
	return kind ? kind : strcmp(x->label, y->label);
}

static int largest_cost(gconstpointer a, gconstpointer b)
{
	const struct cost *x = a, *y = b;

	if (x->listed != y->listed)
		return x->listed < y->listed ? -1 : 1;
	if (x->value != y->value)
		return x->value > y->value ? -1 : 1;
	return x->cause < y->cause ? -1 : x->cause > y->cause;
}

static int largest_thread(gconstpointer a, gconstpointer b)
{
	const struct thread_cost *x = a, *y = b;

	if (x->listed != y->listed)
		return x->listed < y->listed ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void sort_costs(struct costs *costs)
{
	guint count = costs->causes->len;
	g_autofree uint32_t *place = g_new(uint32_t, count + 1);

	for (guint i = 0; i < count; i++) /* `largest` is not needed any more */
		g_array_index(costs->causes, struct user_cause, i).largest = i;
	g_array_sort(costs->causes, largest_cause);
	for (guint i = 0; i < count; i++)
		place[g_array_index(costs->causes, struct user_cause, i).largest] = i;
	for (guint i = 0; i < costs->costs->len; i++) {
		struct cost *cost = &g_array_index(costs->costs, struct cost, i);

		cost->cause = place[cost->cause];
	}
	for (guint i = 0; costs->stretches && i < costs->stretches->len; i++) {
		struct put_down *stretch = &g_array_index(costs->stretches, struct put_down, i);

		stretch->cause = place[stretch->cause];
	}
	g_array_sort(costs->costs, largest_cost);
	g_array_sort(costs->threads, largest_thread);
}

/* `stretches`: struct put_down, taken; NULL: none are kept. */
static struct costs *costs_of_namer(const struct user_requests *requests, struct piece_namer *namer,
				    GArray *stretches)
{
	struct costs *costs = g_new0(struct costs, 1);
	enum metric metric = requests->session->asked.options->requests.metric;
	g_autofree guint32 *listed = user_requests_listed_places(requests);
	g_autoptr(GArray) order = NULL;

	costs->requests = requests;
	costs->namer = namer;
	costs->stretches = stretches;
	costs->causes = g_array_new(FALSE, FALSE, sizeof(struct user_cause));
	g_array_set_clear_func(costs->causes, cause_row_clear);
	costs->costs = g_array_new(FALSE, FALSE, sizeof(struct cost));
	costs->threads = g_array_new(FALSE, FALSE, sizeof(struct thread_cost));
	costs->index = g_hash_table_new_full(cause_hash, same_cause, g_free, NULL);
	idmap_init(&costs->places);
	order = requests_by_latency(requests, requests->listed, true);
	find_kept(costs, order);
	find_slow(costs, order);
	switch (metric) {
	case METRIC_LATENCY:
		sum_latency(costs);
		break;
	case METRIC_CPU:
	case METRIC_WAIT:
		sum_states(costs, listed, metric == METRIC_CPU);
		break;
	case METRIC_CALLS:
		sum_calls(costs, listed);
		break;
	default:
		sum_exchanges(costs, listed, metric);
		break;
	}
	if (metric != METRIC_LATENCY)
		close_requests(costs, 0);
	sort_costs(costs);
	return costs;
}

struct costs *costs_new_named(const struct user_requests *requests, struct piece_namer *namer)
{
	return costs_of_namer(requests, namer, NULL);
}

struct costs *costs_new(const struct user_requests *requests)
{
	return costs_new_named(requests, piece_namer_new(requests->session, requests));
}

struct costs *costs_new_with_stretches(const struct user_requests *requests)
{
	return costs_of_namer(requests, piece_namer_new(requests->session, requests),
			      g_array_new(FALSE, FALSE, sizeof(struct put_down)));
}

void costs_free(struct costs *costs)
{
	if (!costs)
		return;
	g_array_free(costs->causes, TRUE);
	g_array_free(costs->costs, TRUE);
	g_array_free(costs->threads, TRUE);
	g_clear_pointer(&costs->functions, g_array_unref);
	g_clear_pointer(&costs->stretches, g_array_unref);
	g_hash_table_destroy(costs->index);
	piece_namer_free(costs->namer);
	g_free(costs->kept);
	g_free(costs->is_slow);
	idmap_clear(&costs->places);
	g_free(costs);
}

/* [first, end) of the elements of `list` whose first member, a uint32_t, is `listed`. */
static void range_of(const GArray *list, guint listed, guint *first, guint *end)
{
	guint size = g_array_get_element_size((GArray *) list), low = 0, high = list->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (*(const uint32_t *) (const void *) (list->data + (gsize) middle * size) <
		    listed)
			low = middle + 1;
		else
			high = middle;
	}
	*first = low;
	while (low < list->len &&
	       *(const uint32_t *) (const void *) (list->data + (gsize) low * size) == listed)
		low++;
	*end = low;
}

void costs_of(const struct costs *costs, guint listed, guint *first, guint *end)
{
	range_of(costs->costs, listed, first, end);
}

void thread_costs_of(const struct costs *costs, guint listed, guint *first, guint *end)
{
	range_of(costs->threads, listed, first, end);
}
