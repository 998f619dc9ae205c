/* SPDX-License-Identifier: MIT */
/* `whylate requests`: which requests there were, what each cost, and why. */
#include "limits/limit_options.h"
#include "parts/make_parts.h"
#include "timeline/operation.h"
#include "report/report.h"
#include "run/command.h"
#include "run/common_options.h"
#include "coverage/needs.h"
#include "run/option_values.h"
#include "tracking/request_costs.h"
#include "tracking/request_list.h"
#include "tracking/request_options.h"
#include "requests/path_tree.h"
#include "requests/requests_columns.h"
#include "requests/requests_page.h"
#include "requests/requests_worth.h"
#include "whatif/what_if.h"

static const struct option *const options[] = {
	REQUEST_OPTIONS,     &option_pick,     &option_thread,
	&option_process,     WINDOW_OPTIONS,   &option_kallsyms,
	&option_binary_path, &option_settings, &option_format,
	&option_output,      &option_limit,    &option_depth,
	LIMIT_OPTIONS,       &option_what_if,  &option_sort,
	&option_force,       LAST_OPTIONS,     NULL};

static bool check(struct options *asked, GError **error)
{
	return request_options_check(asked, error) && limits_check(asked, error);
}

static void want(const struct options *asked, struct wanted *wanted)
{
	requests_want(asked, wanted);
	if (asked->requests.metric == METRIC_LATENCY) { /* what was touched for them */
		wanted->operations |= 1u << OPERATION_SYSCALL;
		wanted->resources = true;
	}
	limits_want(asked, wanted);
	what_if_want(asked, wanted);
}

static void report_free(void *made)
{
	struct requests_report *report = made;

	configuration_free(report->configuration);
	costs_free(report->costs);
	user_requests_free(report->requests);
	requests_what_if_free(report->what_if);
	requests_apart_free(report->apart);
	if (report->tree)
		tree_free(report->tree);
	g_free(report);
}

enum { WORTH, APART, TREE, PARTS };

/* JSON, and that of a page, has one; text not of one request. */
static bool has_tree(const struct requests_report *report)
{
	const struct options *asked = report->requests->session->asked.options;

	return asked->requests.metric == METRIC_LATENCY &&
	       (asked->format == FORMAT_JSON || asked->format == FORMAT_HTML ||
		(asked->format == FORMAT_TEXT && report->requests->listed->len > 1));
}

/* What takes longest, beside each other: none changes what another one looks at. */
static void make_part(const struct session *session, guint part, void *data)
{
	struct requests_report *report = data;
	struct user_requests *own = user_requests_in_part(report->requests, session);

	if (part == WORTH) {
		report->costs->requests = own;
		requests_add_worth(report->costs);
		report->costs->requests = report->requests;
	} else if (part == APART && session->asked.options->requests.metric == METRIC_LATENCY) {
		report->apart = requests_apart_new(own);
	} else if (part == TREE && has_tree(report)) {
		report->tree = tree_new(report->costs, own);
	}
	user_requests_ease(own);
	user_requests_part_free(own);
}

static void *make(const struct session *session, GError **error)
{
	struct request_scope scope = {session->asked.options->requests.picks, "pick",
				      session->asked.from, session->asked.to};
	struct user_requests *requests = user_requests_new(session, &scope, error);
	struct requests_report *report;

	if (!requests)
		return NULL;
	if (!request_call_exists(session, error)) {
		user_requests_free(requests);
		return NULL;
	}
	report = g_new0(struct requests_report, 1);
	report->requests = requests;
	report->costs = costs_new_with_stretches(requests);
	report->configuration = configuration_of_requests(requests);
	user_requests_ease(requests);
	parts_make(session, PARTS, make_part, report);
	if (session->asked.options->what_if->len) {
		report->what_if = requests_what_if_new(requests, error);
		if (!report->what_if)
			g_clear_pointer(&report, report_free);
	}
	return report;
}

static void text(const void *made, struct output *output)
{
	requests_text(made, output);
}

static void json(const void *made, struct output *output)
{
	requests_json(made, output);
}

static void csv(const void *made, struct output *output)
{
	requests_csv(made, output);
}

static void dot(const void *made, struct output *output)
{
	const struct requests_report *report = made;

	requests_dot(report->costs, output);
}

static void html(const void *made, struct output *output)
{
	requests_page(made, output);
}

const struct command requests_command = {
	.name = "requests",
	.usage = "[OPTIONS] TRACE...",
	.summary = "Which requests were there, what did each cost, and why?\n"
		   "Follows them from thread to thread by what was read and written.",
	.options = options,
	.check = check,
	.want = want,
	.choose = limits_choose,
	.finish = limits_finish,
	.needs = {.impossible = NEED(SWITCH) | NEED(ALL_THREADS) | NEED(SYSCALLS),
		  .degraded = NEEDS_DEGRADED | NEED(FORK),
		  .poorer = NEEDS_POORER | NEED(SAMPLES) | NEED(VECTOR) | NEED(FAULT)},
	.make = make,
	.free = report_free,
	.writers = {[FORMAT_TEXT] = text,
		    [FORMAT_JSON] = json,
		    [FORMAT_CSV] = csv,
		    [FORMAT_DOT] = dot,
		    [FORMAT_HTML] = html},
};
