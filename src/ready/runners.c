/* SPDX-License-Identifier: MIT */
/* See runners.h. */
#include "ready/runners.h"

#include <string.h>

#include "ready/affinity.h"
#include "ready/cpu_runs.h"
#include "ready/host_span.h"

#define SHOWN_MAX 3
#define SHARE_MIN 0.01
#define REST_MIN 0.02 /* less that is not told of is not missed */

struct adding {
	const struct session *session;
	struct runners *runners;
	uint32_t rival; /* who ran longest without a break */
	int64_t longest;
};

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct adding *adding = data;
	const char *name = session_thread_name(adding->session, thread);
	int64_t *ns = g_hash_table_lookup(adding->runners->by, name);

	if (!ns) {
		ns = g_new0(int64_t, 1);
		g_hash_table_insert(adding->runners->by, (gpointer) name, ns);
	}
	*ns += end - begin;
	adding->runners->ns += end - begin;
	if (is_thread(thread) && end - begin > adding->longest) {
		adding->longest = end - begin;
		adding->rival = thread;
	}
}

static void add_idle(struct runners *runners, const struct ready *ready)
{
	runners->idle[ready->kind] += ready->idle;
	if (ready->kind == READY_THROTTLED)
		runners->limits |= 1U << ready->limit;
	runners->deepest = MAX(runners->deepest, ready->idle_state + 1);
}

struct ready runners_add_idle(struct runners *runners, const struct session *session,
			      uint32_t thread, const struct span *span)
{
	struct ready ready = ready_of(session, thread, span);

	add_idle(runners, &ready);
	return ready;
}

struct ready runners_add(struct runners *runners, const struct session *session, uint32_t thread,
			 const struct span *span)
{
	struct ready ready = ready_of(session, thread, span);

	runners_add_ready(runners, session, thread, span, &ready);
	return ready;
}

void runners_add_ready(struct runners *runners, const struct session *session, uint32_t thread,
		       const struct span *span, const struct ready *ready)
{
	struct adding adding = {session, runners, NO_THREAD, 0};

	add_idle(runners, ready);
	if (!runners->by)
		runners->by = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	if (span_is_hosts(span->leaf))
		each_run_beside(session, thread, span, add_run, &adding);
	else
		each_run(session, model_thread(&session->trace.model, thread)->host, span->ref,
			 span->begin, span->end, add_run, &adding);
	if (ready->kind == READY_PINNED) {
		runners->pinned += span->end - span->begin;
		runners->free += ready->free;
	}
	if (ready->kind == READY_PINNED && span->end - span->begin > runners->longest) {
		runners->longest = span->end - span->begin;
		runners->worst = *ready;
		runners->rival = adding.rival;
	}
}

void runners_clear(struct runners *runners)
{
	if (runners->by)
		g_hash_table_destroy(runners->by);
	*runners = (struct runners) {0};
}

struct runner {
	const char *name;
	int64_t ns;
};

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct runner *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* What took the most of the time that nobody ran. */
static enum ready_kind main_idle(const struct runners *runners)
{
	enum ready_kind most = READY_BUSY;

	for (int i = 0; i < READY_KINDS; i++)
		if (runners->idle[i] > runners->idle[most])
			most = (enum ready_kind) i;
	return most == READY_PINNED ? READY_BUSY : most;
}

/* Those that ran, and the idle loop, those that ran longest first. */
static GArray *list_of(const struct runners *runners)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct runner));
	GHashTableIter iter;
	gpointer name, ns;

	g_hash_table_iter_init(&iter, runners->by);
	while (g_hash_table_iter_next(&iter, &name, &ns)) {
		struct runner runner = {name, *(int64_t *) ns};

		g_array_append_val(list, runner);
	}
	g_array_sort(list, most_first);
	return list;
}

static bool is_idle(const struct runner *runner)
{
	return strcmp(runner->name, "idle") == 0;
}

static const char *runner_name(const struct runner *runner)
{
	return strcmp(runner->name, "?") == 0 ? "not known" : runner->name;
}

void runners_append(const struct runners *runners, GString *text)
{
	g_autoptr(GArray) list = list_of(runners);

	for (guint i = 0; i < list->len && i < SHOWN_MAX; i++) {
		const struct runner *runner = &g_array_index(list, struct runner, i);
		double share = (double) runner->ns / (double) runners->ns;

		if (i && share < SHARE_MIN)
			break;
		g_string_append_printf(text, "%s%s %.0f %%", i ? ", " : "",
				       is_idle(runner) ? "nobody" : runner_name(runner),
				       100.0 * share);
		if (is_idle(runner)) {
			g_string_append(text, " (");
			runners_append_idle(runners, text);
			g_string_append_c(text, ')');
		}
	}
}

void runners_append_throttled(const struct runners *runners, GString *text)
{
	switch (runners->limits) {
	case 1 << LIMIT_REALTIME:
		g_string_append(text,
				"(inferred: of real-time priority, yet kept off the CPU, as when "
				"the limit of such threads, sched_rt_runtime_us, is used up)");
		break;
	case 1 << LIMIT_DEADLINE:
		g_string_append(text,
				"(inferred: ready, yet kept off the CPU, as when the runtime is "
				"used up that SCHED_DEADLINE gives it in each period)");
		break;
	default:
		g_string_append(text, "(inferred: ready, yet kept off an idle CPU, as when its "
				      "cgroup's quota, or that of real-time threads, is used up)");
		break;
	}
}

/* "it was idle for 14 % of it: between others" */
static void append_was_idle(const struct runners *runners, const struct runner *idle,
			    const char *cpu, GString *text)
{
	double percent = 100.0 * (double) idle->ns / (double) runners->ns;

	g_string_append_printf(text, "%s was idle", cpu);
	if (percent < 99.5)
		g_string_append_printf(text, " for %.0f %% of it", percent);
	g_string_append_printf(text, ": %s", ready_text(main_idle(runners)));
}

void runners_append_brief(const struct runners *runners, const char *cpu, GString *text)
{
	g_autoptr(GArray) list = list_of(runners);
	const struct runner *idle = NULL;
	double told = 0;
	guint shown = 0;

	for (guint i = 0; i < list->len && i < SHOWN_MAX; i++) {
		const struct runner *runner = &g_array_index(list, struct runner, i);
		double share = (double) runner->ns / (double) runners->ns;

		if (i && share < SHARE_MIN)
			break;
		told += share;
		if (is_idle(runner))
			idle = runner;
		else if (shown++)
			g_string_append_printf(text, ", %s %.0f %%", runner_name(runner),
					       100.0 * share);
		else
			g_string_append_printf(text, "on %s ran %s %.0f %%", cpu,
					       runner_name(runner), 100.0 * share);
	}
	if (shown && told < 1 - REST_MIN)
		g_string_append_printf(text, ", others %.0f %%", 100 * (1 - told));
	if (!idle)
		return;
	g_string_append(text, shown ? "; " : "");
	append_was_idle(runners, idle, cpu, text);
}

void runners_append_idle(const struct runners *runners, GString *text)
{
	const char *comma = "";
	char length[32];
	int64_t idle[READY_KINDS];
	int kinds = 0;

	memcpy(idle, runners->idle, sizeof idle);
	idle[READY_BUSY] += idle[READY_PINNED];
	idle[READY_PINNED] = 0;
	for (int i = 0; i < READY_KINDS; i++)
		kinds += idle[i] > 0;
	for (int i = 0; i < READY_KINDS; i++) {
		if (!idle[i])
			continue;
		g_string_append_printf(text, "%s%s", comma, ready_text((enum ready_kind) i));
		if (kinds > 1)
			g_string_append_printf(text, " %s", when_duration(length, idle[i]));
		comma = ", ";
	}
	if (kinds && runners->deepest)
		g_string_append_printf(text, ", C-state %d%s", runners->deepest - 1,
				       kinds > 1 ? " at most" : "");
}

bool runners_append_pinned(const struct runners *runners, const struct session *session,
			   uint32_t thread, GString *text)
{
	struct affinity affinity, rival = {0};
	g_autofree char *words = NULL;

	if (!runners->pinned || 2 * runners->pinned < runners->ns)
		return false;
	affinity = affinity_of(session, thread);
	words = affinity_words(session, thread, &affinity);
	if (is_thread(runners->rival))
		rival = affinity_of(session, runners->rival);
	g_string_append_printf(text, "CPU %u was idle for %.0f %% of it: %s is %s",
			       runners->worst.free_cpu,
			       100.0 * (double) runners->free / (double) runners->pinned,
			       session_thread_name(session, thread), words);
	if (rival.cpus && rival.cpus == affinity.cpus)
		g_string_append_printf(text, ", as is %s (%d)",
				       session_thread_name(session, runners->rival),
				       model_thread(&session->trace.model, runners->rival)->tid);
	return true;
}
