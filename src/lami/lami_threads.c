/* SPDX-License-Identifier: MIT */
/* LAMI tables of threads: their waits, what ended them, who was waited for, states; see
 * lami.h. The figures are those of `whylate overview` (blocked) and `whylate delay` (the others).
 */
#include "lami/lami.h"

#include "imposed/wait_groups.h"
#include "waits/causality.h"
#include "waits/summary.h"
#include "imposed/waiting.h"

/* --- blocked: sums of waits ---------------------------------------------------------------- */

const struct lami_table lami_waits = {
	"waits",
	"Waits, by thread, state and what ended them",
	{{"Thread", LAMI_PROCESS, NULL},
	 {"State", LAMI_STRING, NULL},
	 {"For", LAMI_MIXED, NULL},
	 LAMI_CAUSE_COLUMNS,
	 {"Waits", LAMI_NUMBER, "waits"},
	 {"Time", LAMI_DURATION, NULL},
	 {"Longest", LAMI_DURATION, NULL},
	 {"Longest wait", LAMI_TIME_RANGE, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

const struct lami_table lami_imposed = {
	"imposed",
	"Who and what others waited for",
	{{"Thread", LAMI_PROCESS, NULL},
	 {"Resource", LAMI_MIXED, NULL},
	 {"Others waited", LAMI_DURATION, NULL},
	 {"While it worked", LAMI_DURATION, NULL},
	 {"While it was ready", LAMI_DURATION, NULL},
	 {"While it slept", LAMI_DURATION, NULL},
	 {"While it waited for a device", LAMI_DURATION, NULL},
	 {"While it did else", LAMI_DURATION, NULL},
	 {"For the CPU it had", LAMI_DURATION, NULL},
	 {"Waiters", LAMI_NUMBER, "threads"},
	 {"Waited most", LAMI_PROCESS, NULL},
	 {"Its wait", LAMI_TIME_RANGE, NULL},
	 {"Of it", LAMI_DURATION, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

static void write_imposed(struct lami_report *report)
{
	struct waiting *waiting = waiting_new(report->session);

	lami_begin(report, &lami_imposed);
	for (guint i = 0; i < waiting->imposers->len; i++) {
		const struct imposer *at = &g_array_index(waiting->imposers, struct imposer, i);

		if (!lami_row(report))
			break;
		lami_process(report, at->thread);
		lami_resource(report, at->resource);
		lami_duration(report, at->ns);
		for (int kind = 0; kind < IMPOSED_KINDS; kind++) {
			static const enum imposed order[IMPOSED_KINDS] = {
				IMPOSED_WORK,   IMPOSED_CPU,   IMPOSED_SLEEP,
				IMPOSED_DEVICE, IMPOSED_OTHER, IMPOSED_RAN};

			if (at->resource)
				lami_empty(report);
			else
				lami_duration(report, at->by[order[kind]]);
		}
		lami_number(report, at->waiters);
		lami_process(report, at->waiter);
		lami_time_range(report, at->begin, at->end);
		lami_duration(report, at->worst);
		lami_bool(report, at->spans_gap);
	}
	waiting_free(waiting);
}

bool lami_write_blocked(struct lami_report *report, GError **error)
{
	struct overview *overview = overview_new(report->session);

	(void) error;
	lami_begin(report, &lami_waits);
	for (guint i = 0; i < overview->waits->len; i++) {
		const struct wait_group *at = &g_array_index(overview->waits, struct wait_group, i);
		g_autofree char *leaf = leaf_key(report->session, at->leaf);

		if (!lami_row(report))
			break;
		lami_process(report, at->thread);
		lami_string(report, leaf);
		lami_resource(report, at->resource);
		lami_cause(report, &at->cause);
		lami_number(report, at->count);
		lami_duration(report, at->ns);
		lami_duration(report, at->longest);
		lami_time_range(report, at->longest_begin, at->longest_end);
		lami_bool(report, at->spans_gap);
	}
	overview_free(overview);
	write_imposed(report);
	return true;
}

/* --- waits: each of them ------------------------------------------------------------------- */

const struct lami_table lami_each_wait = {
	"waits",
	"Each wait, the longest first",
	{{"Thread", LAMI_PROCESS, NULL},
	 {"Wait", LAMI_TIME_RANGE, NULL},
	 {"State", LAMI_STRING, NULL},
	 {"For", LAMI_MIXED, NULL},
	 LAMI_CAUSE_COLUMNS,
	 {"Led to", LAMI_PROCESS, NULL},
	 {"Which worked", LAMI_DURATION, NULL},
	 {"Was interrupted", LAMI_DURATION, NULL},
	 {"And waited itself", LAMI_DURATION, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

static int longest_wait(gconstpointer a, gconstpointer b)
{
	const struct wait *x = *(const struct wait *const *) a;
	const struct wait *y = *(const struct wait *const *) b;

	if (x->end - x->begin != y->end - y->begin)
		return x->end - x->begin > y->end - y->begin ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void write_wait(struct lami_report *report, const struct wait *wait)
{
	struct cause cause = wait_cause(report->session, wait);
	g_autofree char *leaf = leaf_key(report->session, wait->leaf);

	lami_process(report, wait->thread);
	lami_time_range(report, wait->begin, wait->end);
	lami_string(report, leaf);
	lami_resource(report,
		      wait->block->resource ? session_resource(report->session, wait->block) : 0);
	lami_cause(report, &cause);
	cause_clear(&cause);
	lami_process(report, wait->has_share ? wait->lead.thread : NO_THREAD);
	for (int i = 0; i < 3; i++) {
		const int64_t share[] = {wait->working, wait->interrupted, wait->blocked};

		if (wait->has_share)
			lami_duration(report, share[i]);
		else
			lami_empty(report);
	}
	lami_bool(report, wait->spans_gap);
}

/* Those asked for; if none are, all but the idle ones. */
static GArray *threads_that_wait(const struct session *session)
{
	GArray *threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct overview *overview;

	if (!session->asked.options->assumed) {
		g_array_append_vals(threads, session->asked.selected->data,
				    session->asked.selected->len);
		return threads;
	}
	overview = overview_new(session);
	for (guint i = 0; i < overview->threads->len; i++)
		g_array_append_val(threads,
				   g_array_index(overview->threads, struct thread_total, i).thread);
	overview_free(overview);
	return threads;
}

bool lami_write_waits(struct lami_report *report, GError **error)
{
	const struct session *session = report->session;
	GPtrArray *lists = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
	g_autoptr(GPtrArray) waits = g_ptr_array_new();
	g_autoptr(GArray) threads = threads_that_wait(session);

	(void) error;
	for (guint i = 0; i < threads->len; i++) {
		uint32_t omitted;
		GPtrArray *list = causality_new(session, g_array_index(threads, uint32_t, i),
						session->asked.from, session->asked.to,
						session->asked.options->limit, &omitted);

		g_ptr_array_add(lists, list);
		for (guint k = 0; k < list->len; k++)
			g_ptr_array_add(waits, g_ptr_array_index(list, k));
	}
	g_ptr_array_sort(waits, longest_wait);
	lami_begin(report, &lami_each_wait);
	for (guint i = 0; i < waits->len && lami_row(report); i++)
		write_wait(report, g_ptr_array_index(waits, i));
	g_ptr_array_free(lists, TRUE);
	return true;
}

/* --- states -------------------------------------------------------------------------------- */

const struct lami_table lami_threads = {
	"threads",
	"Threads, by the time they worked",
	{{"Thread", LAMI_PROCESS, NULL},
	 {"Alive in the window", LAMI_TIME_RANGE, NULL},
	 LAMI_WIB_COLUMNS,
	 {"Working, share", LAMI_RATIO, NULL},
	 {"Interrupted, share", LAMI_RATIO, NULL},
	 {"Blocked, share", LAMI_RATIO, NULL},
	 {"Unknown, share", LAMI_RATIO, NULL}}};

const struct lami_table lami_states = {
	"states",
	"States of threads",
	{{"Thread", LAMI_PROCESS, NULL},
	 {"State", LAMI_STRING, NULL},
	 {"Time", LAMI_DURATION, NULL},
	 {"Share of its life", LAMI_RATIO, NULL},
	 {"Instances", LAMI_NUMBER, "intervals"},
	 {"Longest", LAMI_TIME_RANGE, NULL},
	 {"Spans lost events", LAMI_BOOL, NULL}}};

/* One thread's sums, and one leaf of one thread. */
struct life {
	uint32_t thread;
	int64_t begin, end;
	int64_t wib[4];
};

struct state {
	uint32_t thread;
	int64_t worked; /* all of that thread, which come together */
	char *leaf; /* owned */
	int64_t ns, whole;
	uint64_t count;
	struct instance longest;
	bool spans_gap;
};

static void state_clear(gpointer data)
{
	g_free(((struct state *) data)->leaf);
}

static int most_work(gconstpointer a, gconstpointer b)
{
	const struct life *x = a, *y = b;

	if (x->wib[WIB_WORKING] != y->wib[WIB_WORKING])
		return x->wib[WIB_WORKING] > y->wib[WIB_WORKING] ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int most_time(gconstpointer a, gconstpointer b)
{
	const struct state *x = a, *y = b;

	if (x->worked != y->worked)
		return x->worked > y->worked ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return g_strcmp0(x->leaf, y->leaf);
}

static void take_leaf(const struct node *node, const struct life *life, GArray *states)
{
	struct state state = {.thread = life->thread,
			      .worked = life->wib[WIB_WORKING],
			      .leaf = node_key(node),
			      .ns = node->ns,
			      .whole = life->end - life->begin,
			      .count = node->count,
			      .spans_gap = node->spans_gap};

	if (node->instances->len)
		state.longest = g_array_index(node->instances, struct instance, 0);
	g_array_append_val(states, state);
}

/* The first level of the tree is Working, Interrupted, Blocked, Unknown; the second, leaves. */
static void take_leaves(const struct node *wib, const struct life *life, GArray *states)
{
	if (!wib->children->len)
		take_leaf(wib, life, states);
	for (guint i = 0; i < wib->children->len; i++)
		take_leaf(g_ptr_array_index(wib->children, i), life, states);
}

static void take_thread(const struct session *session, uint32_t thread, GArray *lives,
			GArray *states)
{
	static const char *const elements[] = {[WIB_UNKNOWN] = "unknown",
					       [WIB_WORKING] = "working",
					       [WIB_INTERRUPTED] = "interrupted",
					       [WIB_BLOCKED] = "blocked"};
	const struct thread *known = model_thread(&session->trace.model, thread);
	struct life life = {thread,
			    MAX(known->begin, session->asked.from),
			    MIN(known->end, session->asked.to),
			    {0}};
	struct node *total = summary_new(session, thread, life.begin, life.end);

	for (guint i = 0; i < total->children->len; i++) {
		const struct node *wib = g_ptr_array_index(total->children, i);

		for (size_t k = 0; k < G_N_ELEMENTS(elements); k++)
			if (g_strcmp0(elements[k], wib->element) == 0)
				life.wib[k] = wib->ns;
	}
	for (guint i = 0; i < total->children->len; i++)
		take_leaves(g_ptr_array_index(total->children, i), &life, states);
	g_array_append_val(lives, life);
	node_free(total);
}

static void write_lives(struct lami_report *report, const GArray *lives)
{
	static const enum wib order[] = {LAMI_WIB_ORDER};

	lami_begin(report, &lami_threads);
	for (guint i = 0; i < lives->len && lami_row(report); i++) {
		const struct life *at = &g_array_index(lives, struct life, i);

		lami_process(report, at->thread);
		lami_time_range(report, at->begin, at->end);
		lami_wib(report, at->wib);
		for (size_t k = 0; k < G_N_ELEMENTS(order); k++)
			lami_ratio(report, at->wib[order[k]], at->end - at->begin);
	}
}

static void write_states(struct lami_report *report, const GArray *states)
{
	lami_begin(report, &lami_states);
	for (guint i = 0; i < states->len && lami_row(report); i++) {
		const struct state *at = &g_array_index(states, struct state, i);

		lami_process(report, at->thread);
		lami_string(report, at->leaf);
		lami_duration(report, at->ns);
		lami_ratio(report, at->ns, at->whole);
		lami_number(report, at->count);
		lami_time_range(report, at->longest.begin, at->longest.end);
		lami_bool(report, at->spans_gap);
	}
}

bool lami_write_states(struct lami_report *report, GError **error)
{
	const struct session *session = report->session;
	g_autoptr(GArray) lives = g_array_new(FALSE, FALSE, sizeof(struct life));
	g_autoptr(GArray) states = g_array_new(FALSE, FALSE, sizeof(struct state));

	(void) error;
	g_array_set_clear_func(states, state_clear);
	for (guint i = 0; i < session->asked.selected->len; i++) {
		uint32_t thread = g_array_index(session->asked.selected, uint32_t, i);

		take_thread(session, thread, lives, states);
	}
	g_array_sort(lives, most_work);
	g_array_sort(states, most_time);
	write_lives(report, lives);
	write_states(report, states);
	return true;
}
