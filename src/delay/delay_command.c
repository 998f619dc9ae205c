/* SPDX-License-Identifier: MIT */
/* `whylate delay`: why the target, or a thread, was not there sooner. */
#include "delay/delay.h"
#include "whatif/what_if.h"
#include "findings/findings.h"
#include "imposed/wait_groups.h"
#include "limits/limit_options.h"
#include "page/page.h"
#include "page/page_path.h"
#include "run/command.h"
#include "run/common_options.h"
#include "coverage/needs.h"
#include "run/option_values.h"
#include "contention/contention.h"

#include <string.h>

#define TOGETHER_MAX 100 /* threads that are told of together */

static const struct option option_path = {
	"path", NULL,
	"only the critical path: every step of it, and tables of its times\n(with csv: its steps, "
	"one a row)",
	option_switch, AT(path)};

static const struct option *const options[] = {
	&option_target,   &option_thread,       &option_process,
	WINDOW_OPTIONS,   &option_lead_in,      &option_every,
	&option_kallsyms, &option_binary_path,  &option_settings,
	&option_format,   &option_output,       &option_limit,
	&option_depth,    &option_min_duration, &option_path,
	&option_what_if,  &option_sort,         LIMIT_OPTIONS,
	&option_force,    LAST_OPTIONS,         NULL};

static bool check(struct options *asked, GError **error)
{
	return limits_check(asked, error) &&
	       (asked->target || asked->threads->len || asked->processes->len || asked->container ||
		options_refuse(
			error,
			"delay needs to know what was late: --target 'EVENT [key=value]...' (as in "
			"'sched_process_exec filename=*/sh'), --thread TID|NAME, or --thread all; "
			"whylate overview %s shows what is there",
			asked->trace ? asked->trace : "TRACE"));
}

/* The thread that lineage, path and verdict are of: the target's, or the
 * only one asked for. */
static uint32_t single_thread(const struct session *session)
{
	if (session->asked.target != NO_THREAD)
		return session->asked.target;
	return session->asked.selected->len == 1
		       ? g_array_index(session->asked.selected, uint32_t, 0)
		       : NO_THREAD;
}

/* Those of the list, and then those that were asked for. */
static void add_selected(GArray *list, const struct session *session)
{
	const struct model *model = &session->trace.model;
	g_autofree bool *has = g_new0(bool, model->thread_count + 1);

	for (guint i = 0; i < list->len; i++)
		has[g_array_index(list, struct stretch, i).thread] = true;
	for (guint i = 0; i < session->asked.selected->len; i++) {
		uint32_t thread = g_array_index(session->asked.selected, uint32_t, i);
		const struct thread *life = model_thread(model, thread);
		struct stretch stretch = {thread, MAX(life->begin, session->asked.from),
					  MIN(life->end, session->asked.to)};

		if (!has[thread] && stretch.begin < stretch.end)
			g_array_append_val(list, stretch);
		has[thread] = true;
	}
}

/* Of a target the whole window is of interest, ancestors included; of a
 * thread its life. */
static GPtrArray *verdict_of(const struct session *session, uint32_t thread,
			     const struct path *path, GArray *counts)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	if (session->asked.target != NO_THREAD)
		return verdict_new(session, path, session->asked.from, session->asked.to, counts);
	return verdict_new(session, path, MAX(session->asked.from, life->begin),
			   MIN(session->asked.to, life->end), counts);
}

static bool asks_for_all(const GPtrArray *wanted)
{
	for (guint i = 0; i < wanted->len; i++)
		if (strcmp(g_ptr_array_index(wanted, i), "all") == 0)
			return true;
	return false;
}

/* Of several threads, all together; of a whole trace's it would say nothing, and take as long as
 * to read it. */
static GPtrArray *verdict_of_many(const struct delay *delay, GArray *counts)
{
	if (!delay->threads->len || delay->threads->len > TOGETHER_MAX ||
	    asks_for_all(delay->session->asked.options->threads))
		return g_ptr_array_new_with_free_func(g_free);
	return verdict_of_several(delay->session, delay->threads, counts);
}

/* What each sentence would be worth if what it counts were gone: to the target, or to the ends of
 * the threads' parts of the window. */
static GArray *worths_of(const struct delay *delay, const GArray *counts)
{
	g_autoptr(GArray) ways = g_array_new(FALSE, FALSE, sizeof(struct way));
	bool one = delay->session->asked.target != NO_THREAD;
	const GArray *parts = one ? delay->lineage : delay->threads;

	for (guint i = 0; i < parts->len; i++) {
		const struct stretch *part = &g_array_index(parts, struct stretch, i);
		struct way way = {part->thread, part->thread, part->begin, part->end};

		if (one && i) { /* one ancestor after the other */
			struct way *first = &g_array_index(ways, struct way, 0);

			first->thread = part->thread;
			first->to = part->end;
		} else {
			g_array_append_val(ways, way);
		}
	}
	return worths_new(delay->session, counts, ways);
}

static GArray *locks_of(const struct delay *delay)
{
	g_autoptr(GHashTable) threads = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < delay->threads->len; i++)
		g_hash_table_add(threads,
				 GUINT_TO_POINTER(
					 g_array_index(delay->threads, struct stretch, i).thread));
	return contention_new(delay->session, threads, delay->session->asked.from,
			      delay->session->asked.to);
}

static GArray *findings_of(const struct delay *delay)
{
	GArray *findings = findings_new();
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	GArray *groups;

	for (guint i = 0; i < delay->threads->len; i++)
		g_array_append_val(threads,
				   g_array_index(delay->threads, struct stretch, i).thread);
	groups = wait_groups_new(delay->session, threads);
	findings_add_waits(findings, delay->session, groups, NULL);
	findings_sort(findings);
	g_array_free(groups, TRUE);
	return findings;
}

static void want(const struct options *asked, struct wanted *wanted)
{
	limits_want(asked, wanted);
	what_if_want(asked, wanted);
}

static void delay_free(void *made)
{
	struct delay *delay = made;

	g_array_free(delay->lineage, TRUE);
	path_free(delay->path);
	if (delay->configuration)
		configuration_free(delay->configuration);
	what_if_free(delay->what_if);
	g_array_free(delay->worths, TRUE);
	g_array_free(delay->counts, TRUE);
	g_ptr_array_free(delay->verdict, TRUE);
	g_array_free(delay->threads, TRUE);
	g_array_free(delay->locks, TRUE);
	g_array_free(delay->findings, TRUE);
	g_free(delay);
}

/* --what-if, of the single thread's part of the window. */
static bool what_if_of(struct delay *delay, uint32_t single, GError **error)
{
	const struct stretch *first, *last;
	int64_t end;

	if (single == NO_THREAD || !delay->lineage->len)
		return options_refuse(error, "--what-if is answered for one thread: give --target, "
					     "or a single --thread");
	first = &g_array_index(delay->lineage, struct stretch, 0);
	last = &g_array_index(delay->lineage, struct stretch, delay->lineage->len - 1);
	if (delay->session->asked.target == NO_THREAD)
		first = last;
	end = MIN(last->end, model_thread(&delay->session->trace.model, single)->end);
	delay->what_if =
		what_if_new(delay->session, first->thread, single, first->begin, end, error);
	return delay->what_if;
}

static void *make(const struct session *session, GError **error)
{
	uint32_t single = single_thread(session);
	struct delay *delay = g_new0(struct delay, 1);

	delay->session = session;
	delay->counts = g_array_new(FALSE, FALSE, sizeof(struct counted));
	delay->threads = g_array_new(FALSE, FALSE, sizeof(struct stretch));
	if (single == NO_THREAD) {
		delay->lineage = g_array_new(FALSE, FALSE, sizeof(struct stretch));
	} else {
		delay->lineage =
			lineage_new(session, single, session->asked.from, session->asked.to);
		delay->path = path_new(session, single, session->asked.from, session->asked.to);
		delay->verdict = verdict_of(session, single, delay->path, delay->counts);
	}
	if (session->asked.target != NO_THREAD)
		g_array_append_vals(delay->threads, delay->lineage->data, delay->lineage->len);
	add_selected(delay->threads, session);
	if (!delay->verdict)
		delay->verdict = verdict_of_many(delay, delay->counts);
	delay->worths = worths_of(delay, delay->counts);
	if (session->asked.options->order == BY_WORTH)
		worths_sort(delay->worths, delay->verdict);
	delay->configuration = configuration_of_path(session, delay->path, delay->threads);
	delay->locks = locks_of(delay);
	delay->findings = findings_of(delay);
	if (session->asked.options->what_if->len && !what_if_of(delay, single, error)) {
		delay_free(delay);
		return NULL;
	}
	return delay;
}

static void text(const void *delay, struct output *output)
{
	delay_text(delay, output);
}

static void json(const void *delay, struct output *output)
{
	delay_json(delay, output);
}

static void csv(const void *delay, struct output *output)
{
	delay_csv(delay, output);
}

static void html(const void *made, struct output *output)
{
	struct delay delay = *(const struct delay *) made;
	struct page_parts parts = {.path = delay.path,
				   .counts = delay.counts,
				   .more = delay_page_what_if,
				   .data = &delay};
	g_autoptr(GArray) most = NULL;
	struct page page;

	/* a page may not have room for all threads: then those that did most, in that order */
	if (delay.threads->len > TOGETHER_MAX)
		delay.threads = most = delay_most_active(&delay);
	page_begin(&page, delay.session, output);
	page.has_leads = true;
	page_path_rows(&page.rows, &parts);
	delay_page_rows(&delay, &page.rows);
	delay_json(&delay, &page.json);
	page_end(&page, &parts);
}

const struct command delay_command = {
	.name = "delay",
	.usage = "[OPTIONS] TRACE...",
	.summary = "Why was the target not reached sooner?\n"
		   "Verdict, lineage, state summary and instances, blocking causality, critical "
		   "path.",
	.options = options,
	.check = check,
	.want = want,
	.choose = limits_choose,
	.finish = limits_finish,
	.needs = {.impossible = NEED(SWITCH) | NEED(ALL_THREADS),
		  .degraded = NEEDS_DEGRADED | NEED(FORK) | NEED(SYSCALLS),
		  .poorer = NEEDS_POORER | NEED(SAMPLES) | NEED(VECTOR) | NEED(FAULT)},
	.make = make,
	.free = delay_free,
	.writers = {[FORMAT_TEXT] = text,
		    [FORMAT_JSON] = json,
		    [FORMAT_CSV] = csv,
		    [FORMAT_HTML] = html},
};
