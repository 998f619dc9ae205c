/* SPDX-License-Identifier: MIT */
/* Choosing and writing a report; see report.h. */
#include "report/report.h"

#include "waits/contention.h"
#include "tracking/request_costs.h"
#include "diff/diff.h"
#include "findings/findings.h"
#include "limits/judge.h"
#include "imposed/wait_groups.h"

#include <string.h>
#include <unistd.h>

#include "functions/functions.h"
#include "latencies/roots.h"
#include "profile/saved.h"
#include "functions/stand_outs.h"
#include "imposed/waiting.h"
#include "export/export.h"
#include "functions/functions_report.h"
#include "lami/lami.h"
#include "report/page.h"
#include "util/error.h"

static bool wants_color(const struct options *options, const struct output *output)
{
	const char *no_color = g_getenv("NO_COLOR");

	if (options->color != CHOICE_AUTO)
		return options->color == CHOICE_ALWAYS;
	return output->file == stdout && isatty(STDOUT_FILENO) && !(no_color && *no_color);
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

static void add_stretch(GArray *list, const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	struct stretch stretch = {thread, MAX(life->begin, session->asked.from),
				  MIN(life->end, session->asked.to)};

	for (guint i = 0; i < list->len; i++)
		if (g_array_index(list, struct stretch, i).thread == thread)
			return;
	if (stretch.begin < stretch.end)
		g_array_append_val(list, stretch);
}

/* Of a target the whole window is of interest, ancestors included; of a
 * thread its life. */
static GPtrArray *verdict_of(const struct session *session, uint32_t thread,
			     const struct path *path)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	if (session->asked.target != NO_THREAD)
		return verdict_new(session, path, session->asked.from, session->asked.to);
	return verdict_new(session, path, MAX(session->asked.from, life->begin),
			   MIN(session->asked.to, life->end));
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

static void delay_init(struct delay *delay, const struct session *session)
{
	uint32_t single = single_thread(session);

	*delay = (struct delay) {.session = session};
	coverage_init(&delay->coverage, session);
	delay->threads = g_array_new(FALSE, FALSE, sizeof(struct stretch));
	if (single == NO_THREAD) {
		delay->lineage = g_array_new(FALSE, FALSE, sizeof(struct stretch));
		delay->verdict = g_ptr_array_new_with_free_func(g_free);
	} else {
		delay->lineage =
			lineage_new(session, single, session->asked.from, session->asked.to);
		delay->path = path_new(session, single, session->asked.from, session->asked.to);
		delay->verdict = verdict_of(session, single, delay->path);
	}
	if (session->asked.target != NO_THREAD)
		g_array_append_vals(delay->threads, delay->lineage->data, delay->lineage->len);
	for (guint i = 0; i < session->asked.selected->len; i++)
		add_stretch(delay->threads, session,
			    g_array_index(session->asked.selected, uint32_t, i));
	delay->locks = locks_of(delay);
	delay->findings = findings_of(delay);
}

static void delay_clear(struct delay *delay)
{
	coverage_clear(&delay->coverage);
	g_array_free(delay->lineage, TRUE);
	path_free(delay->path);
	g_ptr_array_free(delay->verdict, TRUE);
	g_array_free(delay->threads, TRUE);
	g_array_free(delay->locks, TRUE);
	g_array_free(delay->findings, TRUE);
}

void delay_write(const struct session *session, struct output *output)
{
	struct delay delay;
	struct page page;

	delay_init(&delay, session);
	switch (session->asked.options->format) {
	case FORMAT_JSON:
		delay_json(&delay, output);
		break;
	case FORMAT_CSV:
		delay_csv(&delay, output);
		break;
	case FORMAT_HTML:
		page_begin(&page, session, output);
		delay_json(&delay, &page.json);
		page_end(&page, NULL);
		break;
	default:
		delay_text(&delay, output);
		break;
	}
	delay_clear(&delay);
}

/* What a profile report is made of. Everything that can be refused is, before
 * anything is written. */
struct profile_report {
	struct profiles *profiles;
	struct saved *compared, *resumed;
	GArray *comparison;
};

static bool profile_init(struct profile_report *report, const struct session *session,
			 GError **error)
{
	const struct profile_options *options = &session->asked.options->profile;
	guint resolution = options->resolution ? options->resolution : 1;

	*report = (struct profile_report) {0};
	if (options->compare && !(report->compared = saved_new("compare", options->compare, error)))
		return false;
	if (options->resume && !(report->resumed = saved_new("resume", options->resume, error)))
		return false;
	/* buckets can be compared only where they are the same */
	if (report->compared &&
	    !saved_check_options(report->compared, session->asked.options, error))
		return false;
	if (report->resumed && !saved_check_options(report->resumed, session->asked.options, error))
		return false;
	if (report->compared)
		resolution = saved_resolution(report->compared);
	if (report->resumed)
		resolution = saved_resolution(report->resumed);
	if (report->compared && saved_resolution(report->compared) != resolution) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--compare %s: its resolution is %u, that of --resume's file %u",
			    options->compare, saved_resolution(report->compared), resolution);
		return false;
	}
	report->profiles = profiles_new(session, resolution, error);
	if (!report->profiles)
		return false;
	if (report->compared)
		report->comparison = saved_compare(report->compared, report->profiles);
	if (report->resumed && !saved_resume(report->resumed, report->profiles, error))
		return false;
	roots_search(report->profiles);
	return true;
}

static void profile_clear(struct profile_report *report)
{
	if (report->comparison)
		g_array_free(report->comparison, TRUE);
	profiles_free(report->profiles);
	saved_free(report->compared);
	saved_free(report->resumed);
}

static bool save(const struct profile_report *report, const char *path, GError **error)
{
	struct output output;
	bool ok;

	if (!path)
		return true;
	ok = output_open(&output, path, error);
	if (ok && !session_interrupted(report->profiles->session)) {
		profile_json_write(report->profiles, NULL, report->resumed, true, output.file);
		ok = output_commit(&output, error);
	}
	output_clear(&output);
	return ok;
}

static void write_profile_page(const struct profile_report *report, const struct session *session,
			       struct output *output)
{
	struct page page;

	page_begin(&page, session, output);
	profile_json_write(report->profiles, report->comparison, report->resumed, false,
			   page.json.file);
	page_end(&page, NULL);
}

static bool write_profile(const struct session *session, struct output *output, GError **error)
{
	struct profile_report report;
	bool ok = profile_init(&report, session, error) &&
		  save(&report, session->asked.options->profile.save, error);

	g_autofree char *other =
		ok && report.compared ? saved_other_filters(report.compared, session->asked.options)
				      : NULL;

	if (ok && session->asked.options->format == FORMAT_JSON)
		profile_json_write(report.profiles, report.comparison, report.resumed, false,
				   output->file);
	else if (ok && session->asked.options->format == FORMAT_HTML)
		write_profile_page(&report, session, output);
	else if (ok)
		profile_text_write(report.profiles, report.comparison, other, output);
	profile_clear(&report);
	return ok;
}

static bool write_requests(const struct session *session, struct output *output, GError **error)
{
	struct request_scope scope = {session->asked.options->requests.picks, "pick",
				      session->asked.from, session->asked.to};
	struct user_requests *requests = user_requests_new(session, &scope, error);
	struct costs *costs;

	if (!requests)
		return false;
	costs = costs_new(requests);
	if (session->asked.options->format == FORMAT_JSON)
		requests_json(costs, output);
	else if (session->asked.options->format == FORMAT_CSV)
		requests_csv(costs, output);
	else if (session->asked.options->format == FORMAT_DOT)
		requests_dot(costs, output);
	else
		requests_text(costs, output);
	costs_free(costs);
	user_requests_free(requests);
	return true;
}

static bool write_functions(const struct session *session, struct output *output, GError **error)
{
	struct functions *functions = functions_new(session);
	struct stand_outs *found;

	if (!functions_check(functions, error)) {
		functions_free(functions);
		return false;
	}
	found = stand_outs_new(functions->tree);
	if (session->asked.options->format == FORMAT_JSON)
		functions_json(functions, found, output);
	else if (session->asked.options->format == FORMAT_CSV)
		functions_csv(functions, output);
	else if (session->asked.options->format == FORMAT_FOLDED)
		functions_folded(functions, output);
	else
		functions_text(functions, found, output);
	stand_outs_free(found);
	functions_free(functions);
	return true;
}

static bool write_diff(const struct session *session, struct output *output, GError **error)
{
	struct diff *diff = diff_new(session, session->asked.other, error);

	if (!diff)
		return false;
	if (session->asked.options->format == FORMAT_JSON)
		diff_json(diff, output);
	else
		diff_text(diff, output);
	diff_free(diff);
	return true;
}

static void write_overview(const struct session *session, struct output *output)
{
	struct waiting *waiting;
	struct page page;

	if (session->asked.options->format == FORMAT_TEXT) {
		overview_text(session, output);
		return;
	}
	waiting = waiting_new(session);
	if (session->asked.options->format == FORMAT_HTML) {
		page_begin(&page, session, output);
		overview_json(session, waiting, &page.json);
		page_end(&page, waiting);
	} else {
		overview_json(session, waiting, output);
	}
	waiting_free(waiting);
}

bool report_write_to(const struct session *session, struct output *output, GError **error)
{
	const struct options *options = session->asked.options;

	output->color = options->format == FORMAT_TEXT && wants_color(options, output);
	if (options->lami)
		return lami_write(session, output->file, error);
	if (options->command == COMMAND_EXPORT)
		return export_write_to(session, output, error);
	if (options->format == FORMAT_TEXT)
		limits_text(session, output);
	if (options->command == COMMAND_DELAY)
		delay_write(session, output);
	else if (options->command == COMMAND_EXPLAIN)
		return explain_write(session, output, error);
	else if (options->command == COMMAND_BATCH)
		return batch_line_write(session, output);
	else if (options->command == COMMAND_PROFILE)
		return write_profile(session, output, error);
	else if (options->command == COMMAND_REQUESTS)
		return write_requests(session, output, error);
	else if (options->command == COMMAND_DIFF)
		return write_diff(session, output, error);
	else if (options->command == COMMAND_FUNCTIONS)
		return write_functions(session, output, error);
	else if (options->command == COMMAND_CHECK && options->format == FORMAT_JSON)
		check_json(session, output);
	else if (options->command == COMMAND_CHECK)
		check_text(session, output);
	else
		write_overview(session, output);
	return true;
}

bool report_write(const struct session *session, GError **error)
{
	struct output output;
	bool ok;

	if (session->asked.options->command == COMMAND_EXPORT)
		return export_write(session, error);
	ok = output_open(&output, session->asked.options->output, error) &&
	     report_write_to(session, &output, error) && !session_interrupted(session) &&
	     output_commit(&output, error);

	output_clear(&output);
	return ok;
}

bool report_end(struct session *session, GError **error)
{
	if (session->asked.options->every)
		return stretches_end(session, error);
	if (!session_finish(session, error))
		return false;
	if (session->asked.options->limits->len)
		session->found.judged = judgements_new(session);
	return report_write(session, error) && junit_write(session, error);
}
