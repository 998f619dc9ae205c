/* SPDX-License-Identifier: MIT */
/* LAMI tables of operations: latencies, their peaks and root causes, block devices,
 * interrupts; see lami.h. The figures are those of `whylate profile`.
 */
#include "lami/lami.h"

#include <string.h>

#include "latencies/roots.h"
#include "report/report.h"

/* The columns of latencies; `WHAT` is what they are of, `UNIT` what is counted. */
#define LATENCIES(WHAT, UNIT)                                                                      \
	{                                                                                          \
		WHAT, {"Count", LAMI_NUMBER, UNIT}, {"Total", LAMI_DURATION, NULL},                \
			{"Minimum", LAMI_DURATION, NULL}, {"Mean", LAMI_DURATION, NULL},           \
			{"50 % up to", LAMI_DURATION, NULL}, {"90 % up to", LAMI_DURATION, NULL},  \
			{"99 % up to", LAMI_DURATION, NULL}, {"Maximum", LAMI_DURATION, NULL},     \
			{"Peaks", LAMI_NUMBER, "peaks"},                                           \
		{                                                                                  \
			"Span lost events", LAMI_NUMBER, UNIT                                      \
		}                                                                                  \
	}
#define COLUMN(...) {__VA_ARGS__}

const struct lami_table lami_syscalls = {"syscalls", "Latencies of system calls",
					 LATENCIES(COLUMN("System call", LAMI_SYSCALL, NULL),
						   "calls")};
const struct lami_table lami_operations = {
	"operations", "Latencies of other operations",
	LATENCIES(COLUMN("Operation", LAMI_STRING, NULL), "operations")};
const struct lami_table lami_queued = {"queued", "Requests waiting for their device",
				       LATENCIES(COLUMN("Disk", LAMI_DISK, NULL), "requests")};
const struct lami_table lami_served = {"served", "Requests served by their device",
				       LATENCIES(COLUMN("Disk", LAMI_DISK, NULL), "requests")};
const struct lami_table lami_irqs = {"irqs", "Interrupt handlers",
				     LATENCIES(COLUMN("IRQ", LAMI_IRQ, NULL), "interrupts")};
const struct lami_table lami_softirqs = {"softirqs", "SoftIRQs",
					 LATENCIES(COLUMN("SoftIRQ", LAMI_IRQ, NULL), "softIRQs")};
const struct lami_table lami_vectors = {"vectors", "Interrupt vectors",
					LATENCIES(COLUMN("Vector", LAMI_STRING, NULL),
						  "interrupts")};
const struct lami_table lami_callbacks = {"callbacks", "Callbacks of high-resolution timers",
					  LATENCIES(COLUMN("Callback", LAMI_STRING, NULL),
						    "calls")};

/* What is behind the colon of "irq:25". */
static const char *detail_of(const struct profile *profile)
{
	const char *colon = strchr(profile->operation, ':');

	return colon ? colon + 1 : profile->operation;
}

static void write_latencies(struct lami_report *report, const struct profile *profile)
{
	lami_number(report, profile->count);
	lami_duration(report, profile->sum);
	lami_duration(report, profile->min);
	lami_duration(report, (profile->sum + (int64_t) profile->count / 2) /
				      (int64_t) MAX(profile->count, 1));
	for (int i = 0; i < 3; i++)
		lami_duration(report, profile->percentiles[i]);
	lami_duration(report, profile->max);
	lami_number(report, profile->peaks->len);
	lami_number(report, profile->spans_gap);
}

static void write_name(struct lami_report *report, const struct profile *profile, guint kind)
{
	const char *detail = detail_of(profile);

	if (report->table == &lami_syscalls)
		lami_syscall(report, detail);
	else if (report->table == &lami_queued || report->table == &lami_served)
		lami_disk(report, detail);
	else if (kind == OPERATION_IRQ || kind == OPERATION_SOFTIRQ)
		lami_irq(report, kind == OPERATION_IRQ, PACK_NUMBER(profile->what), profile->label);
	else
		lami_string(report,
			    report->table == &lami_operations ? profile->operation : detail);
}

/* The profiles of some kinds of operations (bits), the largest sum first. */
static void write_kinds(struct lami_report *report, const struct profiles *profiles,
			const struct lami_table *table, uint32_t kinds)
{
	lami_begin(report, table);
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);
		guint kind = PACK_KIND(profile->what);

		if (!(kinds >> kind & 1) || !profile->count)
			continue;
		if (!lami_row(report))
			break;
		write_name(report, profile, kind);
		write_latencies(report, profile);
	}
}

static struct profiles *profiles_of(const struct lami_report *report, GError **error)
{
	guint resolution = report->session->asked.options->profile.resolution;

	return profiles_new(report->session, resolution ? resolution : 1, error);
}

bool lami_write_latencies(struct lami_report *report, GError **error)
{
	struct profiles *profiles = profiles_of(report, error);

	if (!profiles)
		return false;
	write_kinds(report, profiles, &lami_syscalls, 1u << OPERATION_SYSCALL);
	write_kinds(report, profiles, &lami_operations, ~(1u << OPERATION_SYSCALL));
	profiles_free(profiles);
	return true;
}

bool lami_write_interrupts(struct lami_report *report, GError **error)
{
	struct profiles *profiles = profiles_of(report, error);

	if (!profiles)
		return false;
	write_kinds(report, profiles, &lami_irqs, 1u << OPERATION_IRQ);
	write_kinds(report, profiles, &lami_softirqs, 1u << OPERATION_SOFTIRQ);
	write_kinds(report, profiles, &lami_vectors, 1u << OPERATION_VECTOR);
	write_kinds(report, profiles, &lami_callbacks, 1u << OPERATION_HRTIMER);
	profiles_free(profiles);
	return true;
}

/* --- peaks --------------------------------------------------------------------------------- */

const struct lami_table lami_peaks = {
	"peaks",
	"Peaks of latencies",
	{{"Operation", LAMI_STRING, NULL},
	 {"Peak", LAMI_NUMBER, NULL},
	 {"From", LAMI_DURATION, NULL},
	 {"To below", LAMI_DURATION, NULL},
	 {"Operations", LAMI_NUMBER, "operations"},
	 {"Share of them", LAMI_RATIO, NULL},
	 {"Time", LAMI_DURATION, NULL},
	 {"Share of time", LAMI_RATIO, NULL},
	 {"Search for root causes", LAMI_STRING, NULL},
	 {"Span lost events", LAMI_NUMBER, "operations"}}};

const struct lami_table lami_roots = {
	"root-causes",
	"Root causes of the peaks",
	{{"Operation", LAMI_STRING, NULL},
	 {"Peak", LAMI_NUMBER, NULL},
	 {"Path", LAMI_STRING, NULL},
	 {"Among the largest parts of", LAMI_NUMBER, "operations"},
	 {"Share of the peak's operations", LAMI_RATIO, NULL},
	 {"Time", LAMI_DURATION, NULL},
	 {"Share of the peak's time", LAMI_RATIO, NULL},
	 {"Example", LAMI_PROCESS, NULL},
	 {"Example, when", LAMI_TIME_RANGE, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

static void write_peak(struct lami_report *report, const struct profiles *profiles,
		       const struct profile *profile, guint number)
{
	const struct peak *peak = &g_array_index(profile->peaks, struct peak, number);
	int64_t below = profiles->buckets.from[peak->range.last + 1];

	lami_string(report, profile->operation);
	lami_number(report, number + 1);
	lami_duration(report, profiles->buckets.from[peak->range.first]);
	lami_duration(report, below == INT64_MAX ? -1 : below);
	lami_number(report, peak->count);
	lami_ratio(report, (int64_t) peak->count, (int64_t) profile->count);
	lami_duration(report, peak->sum);
	lami_ratio(report, peak->sum, profile->sum);
	lami_string(report, peak->roots ? peak_status_text(peak->status) : NULL);
	lami_number(report, peak->spans_gap);
}

static char *path_text(const struct root *root)
{
	g_autoptr(GPtrArray) nodes = root_path(root);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < nodes->len; i++)
		g_string_append_printf(text, "%s%s", i ? " > " : "",
				       (char *) g_ptr_array_index(nodes, i));
	return g_string_free(text, FALSE);
}

static void write_root(struct lami_report *report, const struct profile *profile, guint number,
		       const struct root *root)
{
	const struct peak *peak = &g_array_index(profile->peaks, struct peak, number);
	const struct example *example = root->own ? &root->part->own_example : &root->part->example;
	g_autofree char *path = path_text(root);

	lami_string(report, profile->operation);
	lami_number(report, number + 1);
	lami_string(report, path);
	lami_number(report, root->maxcount);
	lami_ratio(report, (int64_t) root->maxcount, (int64_t) peak->count);
	lami_duration(report, root->ns);
	lami_ratio(report, root->ns, peak->sum);
	lami_process(report, example->latency < 0 ? NO_THREAD : example->thread);
	if (example->latency < 0)
		lami_empty(report);
	else
		lami_time_range(report, example->begin, example->end);
	lami_bool(report, root->part->spans_gap);
}

static void write_peaks(struct lami_report *report, const struct profiles *profiles)
{
	lami_begin(report, &lami_peaks);
	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++)
			if (lami_row(report))
				write_peak(report, profiles, profile, p);
	}
}

static void write_roots(struct lami_report *report, const struct profile *profile)
{
	for (guint p = 0; p < profile->peaks->len; p++) {
		const struct peak *peak = &g_array_index(profile->peaks, struct peak, p);
		struct root most;

		for (guint i = 0; peak->roots && i < peak->roots->len && lami_row(report); i++)
			write_root(report, profile, p, &g_array_index(peak->roots, struct root, i));
		if (peak->roots && roots_most_time(peak, &most) && lami_row(report))
			write_root(report, profile, p, &most);
	}
}

bool lami_write_peaks(struct lami_report *report, GError **error)
{
	struct profiles *profiles = profiles_of(report, error);

	if (!profiles)
		return false;
	roots_search(profiles);
	write_peaks(report, profiles);
	lami_begin(report, &lami_roots);
	for (guint i = 0; i < profiles->list->len; i++)
		write_roots(report, g_ptr_array_index(profiles->list, i));
	profiles_free(profiles);
	return true;
}

/* --- block devices ------------------------------------------------------------------------- */

const struct lami_table lami_block_requests = {
	"requests",
	"Each request, the longest first",
	{{"Disk", LAMI_DISK, NULL},
	 {"Asked by", LAMI_PROCESS, NULL},
	 {"In", LAMI_SYSCALL, NULL},
	 {"Request", LAMI_TIME_RANGE, NULL},
	 {"Queued", LAMI_DURATION, NULL},
	 {"Served", LAMI_DURATION, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

/* One request: its way in the queue ends where the device's begins. */
struct way {
	uint32_t device, thread, call;
	int64_t begin, issue, end;
	bool queue_known, spans_gap;
};

static guint way_hash(gconstpointer key)
{
	const struct way *way = key;
	uint64_t hash = ((uint64_t) way->issue ^ (uint64_t) way->device << 40 ^ way->thread) *
			UINT64_C(0x9e3779b97f4a7c15);

	return (guint) (hash >> 32);
}

static gboolean way_equal(gconstpointer a, gconstpointer b)
{
	const struct way *x = a, *y = b;

	return x->issue == y->issue && x->device == y->device && x->thread == y->thread;
}

static int longest_way(gconstpointer a, gconstpointer b)
{
	const struct way *x = a, *y = b;

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
		struct way *way, *other;

		pages_pass(store, i);
		if (PACK_KIND(at->what) != OPERATION_QUEUED || !operation_in_scope(scope, at))
			continue;
		way = g_new0(struct way, 1);
		*way = (struct way) {.device = PACK_NUMBER(at->what),
				     .thread = at->thread,
				     .begin = at->begin,
				     .issue = operation_end(at),
				     .queue_known = true};
		other = g_hash_table_lookup(queues, way);
		if (other) {
			other->queue_known = false;
			g_free(way);
		} else {
			g_hash_table_add(queues, way);
		}
	}
}

static GArray *ways_of(struct operation_scope *scope, const struct pages *store, GHashTable *queues)
{
	GArray *ways = g_array_new(FALSE, FALSE, sizeof(struct way));

	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *at = operation_at(store, i);
		struct way way = {.device = PACK_NUMBER(at->what),
				  .thread = at->thread,
				  .call = at->ref,
				  .begin = at->begin,
				  .issue = at->begin,
				  .end = operation_end(at),
				  .spans_gap = operation_spans_gap(scope->session, at)};
		const struct way *queue;

		pages_pass(store, i);
		if (PACK_KIND(at->what) != OPERATION_SERVED || !operation_in_scope(scope, at))
			continue;
		queue = g_hash_table_lookup(queues, &way);
		if (queue && queue->queue_known) {
			way.begin = queue->begin;
			way.queue_known = true;
		}
		g_array_append_val(ways, way);
	}
	g_array_sort(ways, longest_way);
	return ways;
}

static void write_ways(struct lami_report *report, const GArray *ways)
{
	lami_begin(report, &lami_block_requests);
	for (guint i = 0; i < ways->len && lami_row(report); i++) {
		const struct way *way = &g_array_index(ways, struct way, i);

		lami_disk(report, disk_name(report->session, way->device));
		lami_process(report, way->thread);
		if (way->call)
			lami_syscall(report, session_text(report->session, way->call));
		else
			lami_empty(report);
		lami_time_range(report, way->begin, way->end);
		lami_duration(report, way->queue_known ? way->issue - way->begin : -1);
		lami_duration(report, way->end - way->issue);
		lami_bool(report, way->spans_gap);
	}
}

bool lami_write_block(struct lami_report *report, GError **error)
{
	struct profiles *profiles = profiles_of(report, error);
	const struct pages *store = &report->session->trace.timeline.operations;
	g_autoptr(GHashTable) queues = NULL;
	struct operation_scope scope;
	GArray *ways;

	if (!profiles)
		return false;
	write_kinds(report, profiles, &lami_queued, 1u << OPERATION_QUEUED);
	write_kinds(report, profiles, &lami_served, 1u << OPERATION_SERVED);
	profiles_free(profiles);
	queues = g_hash_table_new_full(way_hash, way_equal, g_free, NULL);
	operation_scope_init(&scope, report->session);
	find_queues(&scope, store, queues);
	ways = ways_of(&scope, store, queues);
	write_ways(report, ways);
	g_array_free(ways, TRUE);
	operation_scope_clear(&scope);
	return true;
}
