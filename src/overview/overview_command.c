/* SPDX-License-Identifier: MIT */
/* `whylate overview`: what is in a trace, and who waited for what. */
#include "findings/findings.h"
#include "limits/limit_options.h"
#include "overview/failed_calls.h"
#include "overview/overview.h"
#include "overview/overview_what_if.h"
#include "parts/make_parts.h"
#include "waits/idle.h"
#include "page/page.h"
#include "run/command.h"
#include "run/common_options.h"
#include "run/option_values.h"
#include "coverage/needs.h"
#include "contention/contention.h"
#include "whatif/what_if.h"
#include "whatif/worth.h"

static const struct option option_full = {
	"full", NULL, "the whole report, not only what stands out", option_switch, AT(full)};

static const struct option *const options[] = {
	&option_full,     &option_sort,   &option_what_if,  WINDOW_OPTIONS,
	&option_lead_in,  &option_every,  &option_kallsyms, &option_binary_path,
	&option_settings, &option_format, &option_output,   &option_limit,
	LIMIT_OPTIONS,    &option_force,  LAST_OPTIONS,     NULL};

static bool check(struct options *asked, GError **error)
{
	if (asked->what_if->len && asked->every)
		return options_exclude("--what-if", "--every",
				       "a run is re-timed once all of it has been read", error);
	return limits_check(asked, error);
}

static void want(const struct options *asked, struct wanted *wanted)
{
	limits_want(asked, wanted);
	what_if_want(asked, wanted);
}

static void report_free(void *data)
{
	struct overview_report *made = data;

	overview_what_if_free(made->what_if);
	g_array_free(made->findings, TRUE);
	configuration_free(made->configuration);
	failed_calls_free(made->failed);
	stands_free(made->stands);
	waiting_free(made->waiting);
	g_array_free(made->locks, TRUE);
	overview_free(made->overview);
	g_free(made);
}

static void make_part(const struct session *session, guint part, void *data)
{
	struct overview_report *made = data;

	switch (part) {
	case 0:
		made->locks = contention_new(session, NULL, session->asked.from, session->asked.to);
		made->waiting = waiting_new(session);
		return;
	case 1:
		made->overview = overview_new(session);
		return;
	default:
		made->configuration = configuration_of_all(session);
		made->failed = failed_calls_new(session);
	}
}

static void *make(const struct session *session, GError **error)
{
	struct overview_report *made = g_new0(struct overview_report, 1);
	g_autofree bool *tracers = session_tracers(session); /* nobody's trouble */

	made->session = session;
	idle_know_all(session);
	parts_make(session, 3, make_part, made);
	made->stands = stands_new(session, made->waiting);
	made->findings = findings_new();
	findings_add_stands(made->findings, session, made->stands);
	findings_add_waits(made->findings, session, made->overview->waits, tracers);
	findings_add_imposers(made->findings, session, made->waiting);
	findings_sort(made->findings);
	stands_add_worth(session, made->stands);
	if (session->asked.options->order == BY_WORTH)
		stands_sort_by_worth(made->stands);
	if (session->asked.options->what_if->len &&
	    !(made->what_if = overview_what_if_new(session, made->stands, error)))
		g_clear_pointer(&made, report_free);
	return made;
}

static void text(const void *data, struct output *output)
{
	const struct overview_report *made = data;

	if (made->session->asked.options->full)
		overview_text(made, output);
	else
		first_screen_text(made, output);
}

static void json(const void *made, struct output *output)
{
	overview_json(made, output);
}

static void html(const void *data, struct output *output)
{
	const struct overview_report *made = data;
	struct page page;
	GArray *pieces;

	page_begin(&page, made->session, output);
	overview_json(made, &page.json);
	pieces = stands_pieces(made->session, made->stands, page.rows.threads);
	page_end(&page, &(struct page_parts) {.waiting = made->waiting, .counts = pieces});
	g_array_free(pieces, TRUE);
}

const struct command overview_command = {
	.name = "overview",
	.usage = "[OPTIONS] TRACE...",
	.summary = "What stands out in this trace: who waited most, and for what?",
	.options = options,
	.check = check,
	.want = want,
	.choose = limits_choose,
	.finish = limits_finish,
	.needs = {.impossible = NEED(SWITCH) | NEED(ALL_THREADS),
		  .degraded = NEEDS_DEGRADED | NEED(SYSCALLS),
		  .poorer = NEEDS_POORER | NEED(FORK) | NEED(VECTOR) | NEED(FAULT)},
	.make = make,
	.free = report_free,
	.writers = {[FORMAT_TEXT] = text, [FORMAT_JSON] = json, [FORMAT_HTML] = html},
};
