/* SPDX-License-Identifier: MIT */
/* LAMI analyses of threads: their waits, what ended them, who was waited for, states; see
 * lami.h. The figures are those of `whylate overview` (blocked) and `whylate delay` (the others).
 */
#include "imposed/wait_groups.h"
#include "imposed/waiting.h"
#include "lami/lami_analysis.h"
#include "waits/causality.h"
#include "waits/summary.h"

/* --- blocked: sums of waits ---------------------------------------------------------------- */

static const struct column group_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct wait_group, thread), .lami = {"Thread"}},
	{NULL, COLUMN_LEAF, FIELD(struct wait_group, leaf), .lami = {"State"}},
	{NULL, COLUMN_RESOURCE, FIELD(struct wait_group, resource), .lami = {"For"}},
	{NULL, COLUMN_OBJECT, FIELD_HERE(struct wait_group, cause), .columns = lami_cause_columns},
	{NULL, COLUMN_WHOLE, FIELD(struct wait_group, count), .lami = {"Waits", "waits"}},
	{NULL, COLUMN_NS, FIELD(struct wait_group, ns), .lami = {"Time"}},
	{NULL, COLUMN_NS, FIELD(struct wait_group, longest), .lami = {"Longest"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct wait_group, longest_begin, longest_end),
	 .lami = {"Longest wait"}},
	{NULL, COLUMN_BOOL, FIELD(struct wait_group, spans_gap), .lami = {"Spans lost events"}},
	{0}};

static const struct lami_table group_table = {
	"waits", "Waits, by thread, state and what ended them", group_columns, NULL};

GETTER(const void *, if_thread, struct imposer, row->resource ? NULL : row);

/* What a thread did while others waited for it. */
static const struct column meanwhile_columns[] = {
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_WORK]), .lami = {"While it worked"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_CPU]), .lami = {"While it was ready"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_SLEEP]), .lami = {"While it slept"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_DEVICE]),
	 .lami = {"While it waited for a device"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_LIMIT]),
	 .lami = {"While a limit kept it back"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_NETWORK]),
	 .lami = {"While it waited for the network"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_SILENCE]),
	 .lami = {"While it did not answer"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_OTHER]), .lami = {"While it did else"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, by[IMPOSED_RAN]), .lami = {"For the CPU it had"}},
	{0}};

static const struct column imposer_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct imposer, thread), .lami = {"Thread"}},
	{NULL, COLUMN_RESOURCE, FIELD(struct imposer, resource), .lami = {"Resource"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, ns), .lami = {"Others waited"}},
	{NULL, COLUMN_OBJECT, .at = if_thread, .columns = meanwhile_columns},
	{NULL, COLUMN_WHOLE, FIELD(struct imposer, waiters), .lami = {"Waiters", "threads"}},
	{NULL, COLUMN_THREAD, FIELD(struct imposer, waiter), .lami = {"Waited most"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct imposer, begin, end), .lami = {"Its wait"}},
	{NULL, COLUMN_NS, FIELD(struct imposer, worst), .lami = {"Of it"}},
	{NULL, COLUMN_BOOL, FIELD(struct imposer, spans_gap), .lami = {"Spans lost events"}},
	{0}};

static const struct lami_table imposer_table = {"imposed", "Who and what others waited for",
						imposer_columns, NULL};

static bool write_blocked(struct lami_writer *writer, GError **error)
{
	struct overview *overview = overview_new(writer->report.session);
	struct waiting *waiting;

	(void) error;
	lami_rows(writer, &group_table, ROWS(overview->waits));
	overview_free(overview);
	waiting = waiting_new(writer->report.session);
	lami_rows(writer, &imposer_table, ROWS(waiting->imposers));
	waiting_free(waiting);
	return true;
}

const struct lami_analysis lami_blocked = {
	.name = "blocked",
	.title = "whylate: who waited how long for what",
	.description = "The waits of threads that are not idle, by state, resource and what ended "
		       "them; and who and what others waited for, down the chains of waits.",
	.tags = {"sched", "top"},
	.command = "overview",
	.needs = {EV_SCHED_SWITCH},
	.tables = {&group_table, &imposer_table},
	.write = write_blocked};

/* --- waits: each of them ------------------------------------------------------------------- */

struct wait_row {
	const struct wait *wait;
	struct cause cause;
};

GETTER(int64_t, resource_of, struct wait,
       row->block->resource ? session_resource(report->session, row->block) : 0);
GETTER(const void *, if_share, struct wait, row->has_share ? row : NULL);

static const struct column wait_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct wait, thread), .lami = {"Thread"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct wait, begin, end), .lami = {"Wait"}},
	{NULL, COLUMN_LEAF, FIELD(struct wait, leaf), .lami = {"State"}},
	{NULL, COLUMN_RESOURCE, .number = resource_of, .lami = {"For"}},
	{0}};

/* What it led to. */
static const struct column share_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct wait, lead.thread), .lami = {"Led to"}},
	{NULL, COLUMN_NS, FIELD(struct wait, working), .lami = {"Which worked"}},
	{NULL, COLUMN_NS, FIELD(struct wait, interrupted), .lami = {"Was interrupted"}},
	{NULL, COLUMN_NS, FIELD(struct wait, blocked), .lami = {"And waited itself"}},
	{0}};

static const struct column lead_columns[] = {
	{NULL, COLUMN_OBJECT, .at = if_share, .columns = share_columns},
	{NULL, COLUMN_BOOL, FIELD(struct wait, spans_gap), .lami = {"Spans lost events"}},
	{0}};

static const struct column each_wait_columns[] = {
	{NULL, COLUMN_OBJECT, FIELD(struct wait_row, wait), .columns = wait_columns},
	{NULL, COLUMN_OBJECT, FIELD_HERE(struct wait_row, cause), .columns = lami_cause_columns},
	{NULL, COLUMN_OBJECT, FIELD(struct wait_row, wait), .columns = lead_columns},
	{0}};

static const struct lami_table each_wait_table = {"waits", "Each wait, the longest first",
						  each_wait_columns, NULL};

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

static bool write_waits(struct lami_writer *writer, GError **error)
{
	const struct session *session = writer->report.session;
	g_autoptr(GPtrArray)
		lists = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
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
	lami_begin(writer, &each_wait_table);
	for (guint i = 0; i < waits->len && !lami_is_full(writer); i++) {
		const struct wait *wait = g_ptr_array_index(waits, i);
		struct wait_row row = {wait, wait_cause(session, wait)};

		lami_row(writer, &row);
		cause_clear(&row.cause);
	}
	return true;
}

const struct lami_analysis lami_waits = {
	.name = "waits",
	.title = "whylate: each wait and what ended it",
	.description = "Every blocked interval of the threads asked for (--thread, --process; "
		       "without, of those that are not idle), the longest first, with its cause.",
	.tags = {"sched", "log"},
	.command = "delay",
	.of_threads = true,
	.needs = {EV_SCHED_SWITCH},
	.tables = {&each_wait_table},
	.write = write_waits};

/* --- states -------------------------------------------------------------------------------- */

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

static double share_of(const struct life *life, enum wib wib)
{
	return lami_ratio(life->wib[wib], life->end - life->begin);
}

GETTER(double, working_share, struct life, share_of(row, WIB_WORKING));
GETTER(double, interrupted_share, struct life, share_of(row, WIB_INTERRUPTED));
GETTER(double, blocked_share, struct life, share_of(row, WIB_BLOCKED));
GETTER(double, unknown_share, struct life, share_of(row, WIB_UNKNOWN));

static const struct column life_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct life, thread), .lami = {"Thread"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct life, begin, end), .lami = {"Alive in the window"}},
	COLUMNS_WIB(struct life, wib),
	{NULL, COLUMN_SHARE, .real = working_share, .lami = {"Working, share"}},
	{NULL, COLUMN_SHARE, .real = interrupted_share, .lami = {"Interrupted, share"}},
	{NULL, COLUMN_SHARE, .real = blocked_share, .lami = {"Blocked, share"}},
	{NULL, COLUMN_SHARE, .real = unknown_share, .lami = {"Unknown, share"}},
	{0}};

GETTER(double, state_share, struct state, lami_ratio(row->ns, row->whole));

static const struct column state_columns[] = {
	{NULL, COLUMN_THREAD, FIELD(struct state, thread), .lami = {"Thread"}},
	{NULL, COLUMN_TEXT, FIELD(struct state, leaf), .lami = {"State"}},
	{NULL, COLUMN_NS, FIELD(struct state, ns), .lami = {"Time"}},
	{NULL, COLUMN_SHARE, .real = state_share, .lami = {"Share of its life"}},
	{NULL, COLUMN_WHOLE, FIELD(struct state, count), .lami = {"Instances", "intervals"}},
	{NULL, COLUMN_RANGE, FIELD_RANGE(struct state, longest.begin, longest.end),
	 .lami = {"Longest"}},
	{NULL, COLUMN_BOOL, FIELD(struct state, spans_gap), .lami = {"Spans lost events"}},
	{0}};

static const struct lami_table life_table = {"threads", "Threads, by the time they worked",
					     life_columns, NULL};
static const struct lami_table state_table = {"states", "States of threads", state_columns, NULL};

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

static bool write_states(struct lami_writer *writer, GError **error)
{
	const struct session *session = writer->report.session;
	g_autoptr(GArray) lives = g_array_new(FALSE, FALSE, sizeof(struct life));
	g_autoptr(GArray) states = g_array_new(FALSE, FALSE, sizeof(struct state));

	(void) error;
	g_array_set_clear_func(states, state_clear);
	for (guint i = 0; i < session->asked.selected->len; i++)
		take_thread(session, g_array_index(session->asked.selected, uint32_t, i), lives,
			    states);
	g_array_sort(lives, most_work);
	g_array_sort(states, most_time);
	lami_rows(writer, &life_table, ROWS(lives));
	lami_rows(writer, &state_table, ROWS(states));
	return true;
}

const struct lami_analysis lami_states = {
	.name = "states",
	.title = "whylate: Working, Interrupted, Blocked",
	.description = "Each thread's time in the window, split into states; they sum to it "
		       "exactly.",
	.tags = {"sched", "stats"},
	.command = "delay",
	.of_threads = true,
	.needs = {EV_SCHED_SWITCH},
	.tables = {&life_table, &state_table},
	.write = write_states};
