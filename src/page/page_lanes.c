/* SPDX-License-Identifier: MIT */
/* See page_lanes.h. In JSON a lane of waiting has, of each part, its mean number of waiting
 * threads, or of requests in flight, in 16ths ("waiting"); a CPU's or a lock's lane how much of 255
 * it was busy or held ("busy") and the row of who ran there or held it most, counted from 1, 0: one
 * without a row ("who"). Of a lock that several hold at once, to read, who took it first is told
 * until he gives it up, as the protocol's time graph has it (tsp/graph_cpus.c).
 */
#include "page/page_lanes.h"

#include <string.h>

#include "contention/holders.h"
#include "latencies/operations.h"
#include "ready/cpu_runs.h"
#include "report/columns.h"
#include "waits/state_names.h"

#define CPU_LANES_MAX 16
#define SIXTEENTHS 16
#define WAITS_LATER 64

static GHashTable *parts_table(void)
{
	return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
}

void lanes_init(struct lanes *lanes, const struct page_rows *rows)
{
	lanes->rows = rows;
	lanes->parts = LANE_PARTS;
	lanes->from = rows->from;
	lanes->to = rows->to;
	lanes->resources = parts_table();
	lanes->requests = g_hash_table_new(NULL, NULL);
	lanes->devices = parts_table();
	lanes->interrupts = parts_table();
}

void lanes_clear(struct lanes *lanes)
{
	g_hash_table_destroy(lanes->resources);
	g_hash_table_destroy(lanes->requests);
	g_hash_table_destroy(lanes->devices);
	g_hash_table_destroy(lanes->interrupts);
}

static int64_t part_begin(const struct lanes *lanes, guint part)
{
	int64_t length = lanes->to - lanes->from;

	return lanes->from + length / lanes->parts * part +
	       length % lanes->parts * part / lanes->parts;
}

static guint part_of(const struct lanes *lanes, int64_t time)
{
	double length = (double) (lanes->to - lanes->from);
	double at = (double) (time - lanes->from) / length * lanes->parts;
	guint part = at > 0 ? MIN((guint) at, lanes->parts - 1) : 0;

	while (part && part_begin(lanes, part) > time)
		part--;
	while (part + 1 < lanes->parts && part_begin(lanes, part + 1) <= time)
		part++;
	return part;
}

static int64_t part_end(const struct lanes *lanes, guint part)
{
	return part + 1 == lanes->parts ? lanes->to : part_begin(lanes, part + 1);
}

/* ns of [begin, end) that are in it. */
static int64_t in_part(const struct lanes *lanes, guint part, int64_t begin, int64_t end)
{
	return MAX(MIN(end, part_end(lanes, part)) - MAX(begin, part_begin(lanes, part)), 0);
}

static void add_to(const struct lanes *lanes, GHashTable *table, uint64_t key, int64_t begin,
		   int64_t end)
{
	int64_t *parts;

	begin = MAX(begin, lanes->from);
	end = MIN(end, lanes->to);
	if (begin >= end)
		return;
	parts = g_hash_table_lookup(table, &key);
	if (!parts) {
		parts = g_new0(int64_t, lanes->parts);
		g_hash_table_insert(table, g_memdup2(&key, sizeof key), parts);
	}
	for (guint part = part_of(lanes, begin);
	     part < lanes->parts && part_begin(lanes, part) < end; part++)
		parts[part] += in_part(lanes, part, begin, end);
}

void lanes_add(struct lanes *lanes, uint32_t resource, int64_t begin, int64_t end)
{
	if (resource)
		add_to(lanes, lanes->resources, resource, begin, end);
}

/* Names of hosts' devices: the upper half is the host's number. */
#define DEVICE(host, name) ((uint64_t) (host) << 32 | (name))

void lanes_add_request(struct lanes *lanes, uint32_t thread, uint32_t detail)
{
	const struct session *session = lanes->rows->session;
	const struct wake_detail *request =
		detail ? detail_at(&session->trace.timeline, detail) : NULL;

	if (request && request->kind == DETAIL_REQUEST && request->begin && request->served > 0 &&
	    !(request->flags & DETAIL_DOUBTFUL) &&
	    g_hash_table_add(lanes->requests, GUINT_TO_POINTER(detail)))
		add_to(lanes, lanes->devices,
		       DEVICE(model_thread(&session->trace.model, thread)->host, request->text),
		       request->begin, request->begin + request->served);
}

void lanes_add_interrupt(struct lanes *lanes, uint32_t leaf, int64_t begin, int64_t end)
{
	add_to(lanes, lanes->interrupts, leaf, begin, end);
}

/* --- resources ------------------------------------------------------------------------------ */

struct ranked {
	uint64_t resource; /* what it was added under */
	const int64_t *parts;
	int64_t ns;
};

static int most_waiting(gconstpointer a, gconstpointer b)
{
	const struct ranked *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

static GArray *ranked_new(const struct lanes *lanes, GHashTable *table)
{
	GArray *ranked = g_array_new(FALSE, FALSE, sizeof(struct ranked));
	GHashTableIter iter;
	gpointer key, parts;

	g_hash_table_iter_init(&iter, table);
	while (g_hash_table_iter_next(&iter, &key, &parts)) {
		struct ranked one = {.resource = *(const uint64_t *) key, .parts = parts};

		for (guint i = 0; i < lanes->parts; i++)
			one.ns += one.parts[i];
		g_array_append_val(ranked, one);
	}
	g_array_sort(ranked, most_waiting);
	return ranked;
}

/* `kind`: what is counted where it is not threads that wait; NULL. */
static void put_lane(const struct lanes *lanes, const struct ranked *one, const char *name,
		     const char *kind, struct output *output)
{
	json_begin(output, NULL, '{', LINES_NOT);
	json_put_text(output, "name", name);
	if (kind)
		json_put_bool(output, kind, true);
	json_put_whole(output, "ns", one->ns);
	json_begin(output, "waiting", '[', LINES_NOT);
	for (guint i = 0; i < lanes->parts; i++) {
		int64_t length = part_end(lanes, i) - part_begin(lanes, i);
		double mean = length ? (double) one->parts[i] / (double) length : 0;

		/* what is not nothing is seen */
		json_put_whole(output, NULL,
			       one->parts[i] ? MAX((int64_t) (mean * SIXTEENTHS + 0.5), 1) : 0);
	}
	json_end(output, ']');
	json_end(output, '}');
}

static void put_waiting(const struct lanes *lanes, guint most, struct output *output)
{
	g_autoptr(GArray) ranked = ranked_new(lanes, lanes->resources);

	for (guint i = 0; i < ranked->len && i < most; i++) {
		const struct ranked *one = &g_array_index(ranked, struct ranked, i);

		put_lane(lanes, one, session_text(lanes->rows->session, (uint32_t) one->resource),
			 NULL, output);
	}
}

/* Named as states are, without what all have in common, and as people call it: "softirq:3
 * (NET_RX)". Free with g_free(). */
static char *interrupt_name(const struct session *session, uint32_t leaf)
{
	g_autofree char *key = leaf_key(session, leaf), *label = leaf_label(session, leaf);
	const char *name = strchr(key, '/'), *words = strchr(label, '['), *end = strchr(label, ']');

	name = name ? name + 1 : key;
	return words && end > words
		       ? g_strdup_printf("%s (%.*s)", name, (int) (end - words - 1), words + 1)
		       : g_strdup(name);
}

static void put_interrupts(const struct lanes *lanes, guint most, struct output *output)
{
	g_autoptr(GArray) ranked = ranked_new(lanes, lanes->interrupts);

	for (guint i = 0; i < ranked->len && i < most; i++) {
		const struct ranked *one = &g_array_index(ranked, struct ranked, i);
		g_autofree char *name =
			interrupt_name(lanes->rows->session, (uint32_t) one->resource);

		put_lane(lanes, one, name, "interrupt", output);
	}
}

/* Where requests were not kept as operations: those that somebody waited for. */
static void put_waited_depths(const struct lanes *lanes, guint most, struct output *output)
{
	const struct session *session = lanes->rows->session;
	bool several = session->trace.model.hosts->len > 1;
	g_autoptr(GArray) ranked = ranked_new(lanes, lanes->devices);

	for (guint i = 0; i < ranked->len && i < most; i++) {
		const struct ranked *one = &g_array_index(ranked, struct ranked, i);
		uint16_t host = (uint16_t) (one->resource >> 32);
		g_autofree char *name =
			g_strdup_printf("requests at %s%s%s, waited for",
					session_text(session, (uint32_t) one->resource),
					several ? " on " : "",
					several ? trace_host_name(&session->trace, host) : "");

		put_lane(lanes, one, name, "depth", output);
	}
}

static void *served_new(const struct session *session)
{
	const struct pages *store = &session->trace.timeline.operations;
	GArray *served = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 1; i < store->used; i++) {
		pages_pass(store, i);
		if (PACK_KIND(operation_at(store, i)->what) == OPERATION_SERVED)
			g_array_append_val(served, i);
	}
	return served;
}

static void served_free(gpointer data)
{
	g_array_free(data, TRUE);
}

/* uint32_t: the operations that are requests in a device. */
static const GArray *served_of(const struct session *session)
{
	return session_make_once(session, served_new, served_free);
}

void lanes_prepare(const struct session *session)
{
	served_of(session);
}

/* How many requests each device of a host served at once, where requests were recorded: for
 * commands that speak of operations. */
static void put_depths(const struct lanes *lanes, uint16_t host, guint most, struct output *output)
{
	const struct session *session = lanes->rows->session;
	const struct pages *store = &session->trace.timeline.operations;
	const GArray *served = served_of(session);
	bool several = session->trace.model.hosts->len > 1;
	g_autoptr(GHashTable) devices = parts_table();
	g_autoptr(GArray) ranked = NULL;

	for (guint i = 0; i < served->len; i++) {
		const struct operation *at =
			operation_at(store, g_array_index(served, uint32_t, i));

		if (model_operation_host(&session->trace.model, at) == host)
			add_to(lanes, devices, PACK_NUMBER(at->what), at->begin, operation_end(at));
	}
	ranked = ranked_new(lanes, devices);
	for (guint i = 0; i < ranked->len && i < most; i++) {
		const struct ranked *one = &g_array_index(ranked, struct ranked, i);
		g_autofree char *name =
			g_strdup_printf("requests at %s%s%s",
					disk_name(session, (uint32_t) one->resource),
					several ? " on " : "",
					several ? trace_host_name(&session->trace, host) : "");

		put_lane(lanes, one, name, "depth", output);
	}
}

/* --- CPUs and locks ------------------------------------------------------------------------- */

struct busy_lane {
	const struct lanes *lanes;
	int64_t *busy, *most; /* owned; of each part, ns */
	guint *who; /* owned */
	int64_t *sums; /* owned; of each thread, ns in the part … */
	guint *parts;  /* owned; … which is this, counted from 1 */
};

static void add_in_part(struct busy_lane *lane, guint part, uint32_t thread, int64_t ns)
{
	int64_t sum = ns;

	if (lane->parts[thread] == part + 1)
		sum += lane->sums[thread];
	lane->parts[thread] = part + 1;
	lane->sums[thread] = sum;
	lane->busy[part] += ns;
	if (sum > lane->most[part]) {
		lane->most[part] = sum;
		lane->who[part] = page_row_number(lane->lanes->rows, thread);
	}
}

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct busy_lane *lane = data;

	if (!is_thread(thread) || begin >= end)
		return;
	for (guint part = part_of(lane->lanes, begin);
	     part < lane->lanes->parts && part_begin(lane->lanes, part) < end; part++)
		add_in_part(lane, part, thread, in_part(lane->lanes, part, begin, end));
}

static struct busy_lane *busy_lane_new(const struct lanes *lanes)
{
	struct busy_lane *lane = g_new0(struct busy_lane, 1);
	uint32_t threads = lanes->rows->session->trace.model.thread_count;

	lane->lanes = lanes;
	lane->busy = g_new0(int64_t, lanes->parts);
	lane->most = g_new0(int64_t, lanes->parts);
	lane->who = g_new0(guint, lanes->parts);
	lane->sums = g_new0(int64_t, threads);
	lane->parts = g_new0(guint, threads);
	return lane;
}

static void busy_lane_free(struct busy_lane *lane)
{
	g_free(lane->sums);
	g_free(lane->parts);
	g_free(lane->busy);
	g_free(lane->most);
	g_free(lane->who);
	g_free(lane);
}

static void put_busy(const struct busy_lane *lane, const char *name, uint16_t host, bool held,
		     struct output *output)
{
	const struct lanes *lanes = lane->lanes;

	json_begin(output, NULL, '{', LINES_NOT);
	json_put_text(output, "name", name);
	json_put_whole(output, "host", host);
	if (held)
		json_put_bool(output, "held", true);
	json_begin(output, "busy", '[', LINES_NOT);
	for (guint i = 0; i < lanes->parts; i++) {
		int64_t length = MAX(part_end(lanes, i) - part_begin(lanes, i), 1);

		json_put_whole(output, NULL,
			       (int64_t) ((double) lane->busy[i] / (double) length * 255 + 0.5));
	}
	json_end(output, ']');
	json_begin(output, "who", '[', LINES_NOT);
	for (guint i = 0; i < lanes->parts; i++)
		json_put_whole(output, NULL, lane->who[i]);
	json_end(output, ']');
	json_end(output, '}');
}

static void put_cpu(const struct lanes *lanes, uint16_t host, uint32_t cpu, struct output *output)
{
	const struct session *session = lanes->rows->session;
	struct busy_lane *lane = busy_lane_new(lanes);
	g_autofree char *name = g_strdup_printf("cpu:%u", cpu);

	each_run(session, host, cpu, lanes->from, lanes->to, add_run, lane);
	if (*session->found.runs_read < RUNS_READ_MAX) /* not all of them: better none */
		put_busy(lane, name, host, false, output);
	busy_lane_free(lane);
}

/* --- locks ---------------------------------------------------------------------------------- */

/* ns that threads waited for it in the lanes' time. */
static int64_t lock_waited_ns(const struct lanes *lanes, const struct lock *lock)
{
	const struct pages *store = &lanes->rows->session->trace.timeline.holds;
	int64_t sum = 0;

	for (uint32_t i = hold_find(store, &lock->waits, lanes->from); i < lock->waits.used; i++) {
		const struct hold *wait = hold_at(store, &lock->waits, i);

		sum += MAX(MIN(wait->end, lanes->to) - MAX(wait->begin, lanes->from), 0);
	}
	return sum;
}

/* Since when somebody waited for the lock in [begin, end), at `begin` at the soonest; `end`: nobody
 * is known to have. Waits are in the order of their ends: of those that ended after `end` a few are
 * looked at. */
static int64_t waited_since(const struct lanes *lanes, const struct lock *lock, int64_t begin,
			    int64_t end)
{
	const struct pages *store = &lanes->rows->session->trace.timeline.holds;
	int64_t since = end;
	guint later = 0;

	for (uint32_t i = hold_find(store, &lock->waits, begin);
	     i < lock->waits.used && later < WAITS_LATER && since > begin; i++) {
		const struct hold *wait = hold_at(store, &lock->waits, i);

		since = MIN(since, MAX(wait->begin, begin));
		later += wait->end >= end;
	}
	return since;
}

/* A hold whose begin was not seen is one from when somebody waited for it. */
static void add_holding(const struct lanes *lanes, const struct lock *lock, const struct hold *hold,
			GArray *holdings)
{
	struct holding known = hold_clipped(lanes->rows->session, lock, hold);

	known.begin = MAX(known.begin, lanes->from);
	known.end = MIN(known.end, lanes->to);
	if (!known.taken && known.begin < known.end)
		known.begin = waited_since(lanes, lock, known.begin, known.end);
	if (known.begin < known.end)
		g_array_append_val(holdings, known);
}

static int taken_first(gconstpointer a, gconstpointer b)
{
	const struct holding *x = a, *y = b;

	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static GArray *holdings_new(const struct lanes *lanes, const struct lock *lock)
{
	const struct pages *store = &lanes->rows->session->trace.timeline.holds;
	GArray *holdings = g_array_new(FALSE, FALSE, sizeof(struct holding));

	for (uint32_t i = hold_find(store, &lock->holds, lanes->from); i < lock->holds.used; i++)
		add_holding(lanes, lock, hold_at(store, &lock->holds, i), holdings);
	for (guint i = 0; lock->open && i < lock->open->len; i++)
		add_holding(lanes, lock, &g_array_index(lock->open, struct hold, i), holdings);
	g_array_sort(holdings, taken_first);
	return holdings;
}

static void put_lock(const struct lanes *lanes, const struct lock *lock, struct output *output)
{
	const struct session *session = lanes->rows->session;
	const char *resource = session_text(session, lock->resource);
	g_autoptr(GArray) holdings = holdings_new(lanes, lock);
	g_autofree char *name =
		lock->pid >= 0 ? g_strdup_printf("%s of process %d", resource, lock->pid)
			       : g_strdup(resource);
	struct busy_lane *lane = busy_lane_new(lanes);
	int64_t until = INT64_MIN;

	for (guint i = 0; i < holdings->len; i++) {
		const struct holding *one = &g_array_index(holdings, struct holding, i);

		add_run(MAX(one->begin, until), one->end, one->thread, lane);
		until = MAX(until, one->end);
	}
	if (holdings->len)
		put_busy(lane, name, lock->host, true, output);
	busy_lane_free(lane);
}

/* Those that were waited for longest, and of whom somebody is known to have held them. */
static void put_locks(const struct lanes *lanes, guint most, struct output *output)
{
	const struct flow *flow = &lanes->rows->session->trace.flow;
	g_autoptr(GArray) ranked = g_array_new(FALSE, FALSE, sizeof(struct ranked));

	for (guint i = 1; i <= flow->locks->len; i++) {
		const struct lock *lock = lock_at(flow, i);
		struct ranked one = {.resource = i};

		if (lock->free || !lock_is_one(lock))
			continue;
		one.ns = lock_waited_ns(lanes, lock);
		if (one.ns)
			g_array_append_val(ranked, one);
	}
	g_array_sort(ranked, most_waiting);
	for (guint i = 0; i < ranked->len && i < most; i++)
		put_lock(lanes,
			 lock_at(flow, (guint) g_array_index(ranked, struct ranked, i).resource),
			 output);
}

void lanes_write(const struct lanes *lanes, guint most, struct output *output)
{
	const struct session *session = lanes->rows->session;
	guint cpus = 0;

	json_begin(output, "lanes", '[', LINES_EACH);
	put_waiting(lanes, most, output);
	if (!session->trace.flow.operations_wanted)
		put_waited_depths(lanes, most / 2, output);
	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		put_depths(lanes, (uint16_t) i, most / 2, output);
	put_locks(lanes, most / 2, output);
	put_interrupts(lanes, most / 2, output);
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, (uint16_t) i);

		for (guint n = 0; n < host->cpus->len && cpus < CPU_LANES_MAX; n++, cpus++) {
			const struct cpu *cpu = g_ptr_array_index(host->cpus, n);

			put_cpu(lanes, (uint16_t) i, cpu->id, output);
		}
	}
	json_end(output, ']');
}
