/* SPDX-License-Identifier: MIT */
/* The LAMI analysis of block devices: how long requests waited for their device, how long it took
 * for them, and each request; see lami.h. The sums are those of `whylate profile`.
 */
#include "lami/lami_latencies.h"
#include "latencies/operations.h"

static const struct column disk_columns[] = {
	{NULL, COLUMN_TEXT, .text = lami_operation_detail, .lami = {"Disk", .class = LAMI_DISK}},
	COLUMNS(lami_latency_columns),
	{0}};

static const struct lami_table queued_table = {"queued", "Requests waiting for their device",
					       disk_columns, "requests"};
static const struct lami_table served_table = {"served", "Requests served by their device",
					       disk_columns, "requests"};

/* One request: its request in the queue ends where the device's begins. */
struct block_request {
	uint32_t device, thread, call;
	int64_t begin, end, issue;
	bool queue_known, spans_gap;
};

static guint request_hash(gconstpointer key)
{
	const struct block_request *request = key;
	uint64_t hash =
		((uint64_t) request->issue ^ (uint64_t) request->device << 40 ^ request->thread) *
		UINT64_C(0x9e3779b97f4a7c15);

	return (guint) (hash >> 32);
}

static gboolean request_equal(gconstpointer a, gconstpointer b)
{
	const struct block_request *x = a, *y = b;

	return x->issue == y->issue && x->device == y->device && x->thread == y->thread;
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct block_request *x = a, *y = b;

	if (x->end - x->begin != y->end - y->begin)
		return x->end - x->begin > y->end - y->begin ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->device != y->device ? (x->device < y->device ? -1 : 1)
				      : (x->thread < y->thread ? -1 : x->thread > y->thread);
}

/* Two requests of one thread to one disk that were issued at the same time cannot be told
 * apart: the queue of neither is known then. */
static void find_queues(struct operation_scope *scope, const struct pages *store,
			GHashTable *queues)
{
	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *at = operation_at(store, i);
		struct block_request *request, *other;

		pages_pass(store, i);
		if (PACK_KIND(at->what) != OPERATION_QUEUED || !operation_in_scope(scope, at, i))
			continue;
		request = g_new0(struct block_request, 1);
		*request = (struct block_request) {.device = PACK_NUMBER(at->what),
						   .thread = at->thread,
						   .begin = at->begin,
						   .issue = operation_end(at),
						   .queue_known = true};
		other = g_hash_table_lookup(queues, request);
		if (other) {
			other->queue_known = false;
			g_free(request);
		} else {
			g_hash_table_add(queues, request);
		}
	}
}

static GArray *requests_of(struct operation_scope *scope, const struct pages *store,
			   GHashTable *queues)
{
	GArray *requests = g_array_new(FALSE, FALSE, sizeof(struct block_request));

	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *at = operation_at(store, i);
		struct block_request request = {
			.device = PACK_NUMBER(at->what),
			.thread = at->thread,
			.call = at->ref,
			.begin = at->begin,
			.issue = at->begin,
			.end = operation_end(at),
			.spans_gap = operation_spans_gap(scope->session, at)};
		const struct block_request *queue;

		pages_pass(store, i);
		if (PACK_KIND(at->what) != OPERATION_SERVED || !operation_in_scope(scope, at, i))
			continue;
		queue = g_hash_table_lookup(queues, &request);
		if (queue && queue->queue_known) {
			request.begin = queue->begin;
			request.queue_known = true;
		}
		g_array_append_val(requests, request);
	}
	g_array_sort(requests, longest_first);
	return requests;
}

GETTER(const char *, disk, struct block_request, disk_name(report->session, row->device));
GETTER(int64_t, queued, struct block_request, row->queue_known ? row->issue - row->begin : -1);
GETTER(int64_t, served, struct block_request, row->end - row->issue);

static const struct column request_columns[] = {
	{NULL, COLUMN_TEXT, .text = disk, .lami = {"Disk", .class = LAMI_DISK}},
	{NULL, COLUMN_THREAD, FIELD(struct block_request, thread), .lami = {"Asked by"}},
	{NULL, COLUMN_NAME, FIELD(struct block_request, call), .none = NONE_ZERO,
	 .lami = {"In", .class = LAMI_SYSCALL}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct block_request, begin, end), .lami = {"Request"}},
	{NULL, COLUMN_NS, .number = queued, .lami = {"Queued"}},
	{NULL, COLUMN_NS, .number = served, .lami = {"Served"}},
	{NULL, COLUMN_BOOL, FIELD(struct block_request, spans_gap), .lami = {"Spans lost events"}},
	{0}};

static const struct lami_table request_table = {"requests", "Each request, the longest first",
						request_columns, NULL};

static bool write_block(struct lami_writer *writer, GError **error)
{
	struct profiles *profiles = lami_profiles(writer, error);
	const struct pages *store = &writer->report.session->trace.timeline.operations;
	g_autoptr(GHashTable) queues = NULL;
	g_autoptr(GArray) requests = NULL;
	struct operation_scope scope;

	if (!profiles)
		return false;
	lami_kinds(writer, profiles, &queued_table, 1u << OPERATION_QUEUED);
	lami_kinds(writer, profiles, &served_table, 1u << OPERATION_SERVED);
	profiles_free(profiles);
	queues = g_hash_table_new_full(request_hash, request_equal, g_free, NULL);
	operation_scope_init(&scope, writer->report.session);
	find_queues(&scope, store, queues);
	requests = requests_of(&scope, store, queues);
	lami_rows(writer, &request_table, ROWS(requests));
	operation_scope_clear(&scope);
	return true;
}

const struct lami_analysis lami_block = {
	.name = "block",
	.title = "whylate: requests to block devices",
	.description = "How long requests waited for their device, how long it took for them, and "
		       "who asked.",
	.tags = {"io", "stats"},
	.command = "profile",
	.operations = "block-queued:* block-served:*",
	.needs = {EV_BLOCK_ISSUE, EV_BLOCK_COMPLETE},
	.tables = {&queued_table, &served_table, &request_table},
	.write = write_block};
