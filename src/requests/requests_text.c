/* SPDX-License-Identifier: MIT */
/* Requests and their costs for people; see tracking/request_costs.h. */
#include <string.h>

#include "requests/path_tree.h"
#include "requests/requests_answer.h"
#include "requests/requests_columns.h"
#include "requests/requests_worth.h"
#include "tracking/align.h"
#include "run/anonymise.h"
#include "findings/findings.h"

#define FUNCTIONS_NAMED 4 /* of those that samples show */

#define CONFIGURATION_SHOWN 3
#define CAUSES_SHOWN 3 /* of each request in the list */
#define CAUSE_AT 33 /* columns before what a cause is worth: under its kind */

static const struct costs *costs_of_report(const struct report *report)
{
	return report->data;
}

static void head(const struct requests_report *made, const GArray *order, struct output *output)
{
	const struct costs *costs = made->costs;
	g_autofree char *remarks = requests_remarks(costs, order->len);

	text_answer(output, requests_answer(costs, order, made->apart));
	if (costs->functions && costs->functions->len) {
		g_autoptr(GString) line = g_string_new("By function, of all their work: ");

		append_function_totals(line, costs->functions, function_totals_ns(costs->functions),
				       FUNCTIONS_NAMED);
		text_wrapped(output, line->str, 0, 2);
	}
	if (*remarks)
		text_wrapped(output, remarks, 0, 2);
}

static void example_line(const struct report *report, const void *row)
{
	const struct user_cause *cause = &((const struct charge *) row)->cause;
	char when[48];

	if (report->session->asked.options->verbose)
		fprintf(report->output->file, "  %44s most in request %u at %s\n", "",
			user_request_at(costs_of_report(report)->requests, cause->request)->id,
			when_time(when, cause->begin, report->session->asked.options->utc, false));
}

/* Under a cause: what it would be worth if it were gone, and an example. */
static void cause_lines(const struct report *report, const void *row)
{
	const struct charge *charge = row;
	g_autofree char *worth = cause_worth_words(report->data, &charge->cause);

	if (worth)
		text_wrapped(report->output, worth, CAUSE_AT, 2);
	example_line(report, row);
}

static void summary(const struct report *report)
{
	static const char *const headings[] = {
		"Where the time went, all requests together",
		"Processor time spent on them, by who worked",
		"Time their threads waited, by what for",
		"Bytes moved to and from disks",
		"Time their block requests took in the devices",
		"Bytes moved over the network",
		"System calls made for them"};
	static const struct text_table table = {.columns = charge_columns, .below = cause_lines};
	const struct costs *costs = report->data;
	enum metric metric = metric_of(costs);
	g_autoptr(GArray) charges = charges_new(costs);

	text_heading(report->output, costs->requests->listed->len == 1 && metric == METRIC_LATENCY
					     ? "Where its time went"
					     : headings[metric]);
	text_table(report, &table, ROWS(charges));
	for (guint i = 0; i < charges->len; i++)
		if (g_array_index(charges, struct charge, i).saving.known) {
			text_wrapped(report->output,
				     "\"Without it\" takes all else as it was, in the recorded "
				     "order; --sort worth puts what is worth most first.",
				     2, 2);
			break;
		}
}

static void append_causes(const struct costs *costs, guint listed, GString *line)
{
	g_autoptr(GArray) charges = charges_of_request(costs, listed);

	for (guint i = 0; i < charges->len && i < CAUSES_SHOWN; i++) {
		const struct charge *at = &g_array_index(charges, struct charge, i);
		g_autofree char *value = metric_value_text(metric_of(costs), at->value);

		g_autofree char *saved = saving_words(&at->saving, at->value);

		g_string_append_printf(line, "%s%s %s (%s%s%s)", i ? "; " : "", value,
				       at->cause.label, at->cause.kind,
				       saved ? "; without it " : "", saved ? saved : "");
	}
}

static void request_lines(const struct report *report, const void *row)
{
	const struct costs *costs = report->data;
	const struct user_request *request = listed_request(costs, *(const guint *) row);
	g_autofree char *label = user_request_label(costs->requests, request);
	g_autoptr(GString) line = g_string_new(NULL);
	char when[48], ns[32];

	g_string_printf(line, "#%u %s %s%s %s%s", request->id,
			when_time(when, request->begin, report->session->asked.options->utc, false),
			when_duration(ns, request->end - request->begin),
			request->spans_gap ? "*" : "", label,
			request->unfinished ? ", unfinished" : "");
	text_wrapped(report->output, line->str, 2, 4);
	g_string_truncate(line, 0);
	append_causes(costs, *(const guint *) row, line);
	if (line->len)
		text_wrapped(report->output, line->str, 6, 8);
}

static void list(const struct report *report, const GArray *order)
{
	bool marked = false;

	text_heading(report->output,
		     order->len == 1 ? "The request"
				     : "The slowest first, each with its largest causes");
	text_lines(report, ROWS(order), request_lines);
	for (guint i = 0; i < rows_limited(report->session, order->len); i++)
		marked |= listed_request(report->data, g_array_index(order, guint, i))->spans_gap;
	text_gap_note(report->output, marked);
}

/* --- groups ------------------------------------------------------------------------- */

/* Those about which there is something to tell. */
static void groups(const struct requests_apart *apart, struct output *output)
{
	bool any = false;

	for (guint i = 0; apart && i < apart->groups->len; i++) {
		const struct request_group *at =
			&g_array_index(apart->groups, struct request_group, i);
		g_autofree char *title = NULL;

		if (!at->traits->told->len)
			continue;
		if (!any)
			text_heading(output, "What sets some of them apart from the others");
		any = true;
		title = request_group_title(at);
		text_wrapped(output, title, 2, 4);
		traits_text(at->traits, "it", 4, output);
	}
	if (any && apart->spread)
		text_wrapped(output, "Of evenly spread requests, as there are so many.", 2, 4);
}

/* --- one request ------------------------------------------------------------------- */

/* Steps too short to matter are told as one line. */
static void print_way(const struct costs *costs, const struct user_request *request,
		      struct output *output)
{
	const struct session *session = costs->requests->session;
	GArray *steps;
	int64_t least = session->asked.options->limit ? (request->end - request->begin) / 200 : 0,
		skipped = 0;
	guint count = 0;
	char offset[32], ns[32];

	requests_renew_effort(costs->requests);
	steps = steps_new(costs, request);
	text_heading(output, "Its way, from its begin to its end");
	fprintf(output->file, "  %10s %10s  %-20s %s\n", "AFTER", "FOR", "THREAD", "DOING");
	for (guint i = 0; i <= steps->len; i++) {
		const struct step *step =
			i < steps->len ? &g_array_index(steps, struct step, i) : NULL;
		g_autofree char *label = step ? text_safe(step->label) : NULL, *name = NULL,
				*who = NULL;

		if (step && step->end - step->begin < least) {
			skipped += step->end - step->begin;
			count++;
			continue;
		}
		if (count)
			fprintf(output->file, "  %10s %*s  (%u short step%s)\n", "",
				text_width(10, when_duration(ns, skipped)), ns, count,
				count == 1 ? "" : "s");
		skipped = count = 0;
		if (!step)
			break;
		who = g_strdup_printf("%s (%d)%s", session_thread_name(session, step->thread),
				      model_thread(&session->trace.model, step->thread)->tid,
				      session_on(session, step->thread));
		name = text_safe(who);
		when_duration(offset, step->begin - request->begin);
		when_duration(ns, step->end - step->begin);
		fprintf(output->file, "  %*s %*s  %-20s %s: %s\n", text_width(10, offset), offset,
			text_width(10, ns), ns, name, step->kind, label);
	}
	g_array_free(steps, TRUE);
}

static void inner(const struct user_requests *requests, uint32_t place, int indent,
		  struct output *output)
{
	char when[48], ns[32];

	for (guint i = place; i < requests->list.used; i++) {
		const struct user_request *request = user_request_at(requests, i);
		g_autofree char *label = NULL, *line = NULL;

		if (request->begin > user_request_at(requests, place - 1)->end)
			break;
		if (request->parent != place)
			continue;
		label = user_request_label(requests, request);
		line = g_strdup_printf("inside it: #%u %s %s %s", request->id,
				       when_time(when, request->begin,
						 requests->session->asked.options->utc, false),
				       when_duration(ns, request->end - request->begin), label);
		text_wrapped(output, line, indent, indent + 2);
		if (indent < 32)
			inner(requests, i + 1, indent + 2, output);
	}
}

/* --- many requests ------------------------------------------------------------------ */

static const struct text_table tree_table = {.columns = tree_columns};

/* Nodes of at least `least` ns. */
static void tree_lines(const struct report *report, const struct tree_node *node, int64_t least,
		       int level)
{
	guint depth = report->session->asked.options->depth;

	text_table_row(report, &tree_table, node, level);
	if (depth && (guint) level >= depth)
		return;
	for (guint i = 0; i < node->children->len; i++) {
		const struct tree_node *child = g_ptr_array_index(node->children, i);

		if (child->ns >= least)
			tree_lines(report, child, least, level + 1);
	}
}

/* Nodes of at least 1 % of all the time. */
static void tree(const struct report *report, const struct tree_node *root)
{
	guint count = costs_of_report(report)->requests->listed->len;

	text_heading(report->output,
		     "All their ways as one tree: time of a request that came through");
	text_table_heading(report, &tree_table);
	tree_lines(report, root, report->session->asked.options->limit ? root->ns / 100 : 0, 0);
	if (root->values->len < count)
		fprintf(report->output->file, "  Of %u requests, %u evenly spread ones.\n", count,
			root->values->len);
}

/* The slowest that is sure, and the slow ones against the others. */
static void next_commands(const struct costs *costs, const GArray *order, struct output *output)
{
	const struct user_requests *requests = costs->requests;
	const struct session *session = requests->session;
	g_autofree char *number = NULL;

	if (order->len < 2)
		return;
	text_heading(output, "Next");
	for (guint i = 0; i < order->len && !number; i++) {
		const struct user_request *at =
			listed_request(costs, g_array_index(order, guint, i));

		if (!at->spans_gap)
			number = g_strdup_printf("%u", at->id);
	}
	if (number)
		text_suggestion(session,
				&(struct suggestion) {.command = "requests",
						      .asked = true,
						      .option = "pick",
						      .value = number,
						      .why = "the slowest, step by step"},
				2, output);
	if (order->len >= 10)
		text_suggestion(session,
				&(struct suggestion) {.command = "diff",
						      .asked = true,
						      .option = "slow-fast",
						      .value = "p90",
						      .why = "what the slow ones have that "
							     "others have not"},
				2, output);
}

void requests_text(const struct requests_report *made, struct output *output)
{
	const struct costs *costs = made->costs;
	const struct user_requests *requests = costs->requests;
	struct report report = {requests->session, costs, output};
	g_autoptr(GArray) order = requests_by_latency(requests, requests->listed, true);
	g_autoptr(GArray) findings = findings_of_costs(costs);
	char working[32];

	text_hosts(report.session, output);
	head(made, order, output);
	configuration_text(made->configuration, CONFIGURATION_SHOWN, 0, output);
	if (made->what_if)
		requests_what_if_text(made->what_if, output);
	if (order->len) {
		groups(made->apart, output);
		summary(&report);
		if (metric_of(costs) == METRIC_LATENCY || order->len == 1)
			list(&report, order);
	}
	if (order->len > 1 && metric_of(costs) == METRIC_LATENCY) {
		tree(&report, made->tree);
		requests_contrasts(costs, output);
	}
	if (order->len == 1) {
		uint32_t place = g_array_index(requests->listed, uint32_t, 0);

		inner(requests, place + 1, 4, output);
		if (metric_of(costs) == METRIC_LATENCY)
			print_way(costs, user_request_at(requests, place), output);
	}
	fprintf(output->file, "\nOf no request: %s of work of threads in the window\n",
		when_duration(working, requests->unassigned_working_ns));
	text_findings(report.session, findings, output);
	next_commands(costs, order, output);
	text_coverage_now(report.session, output);
}
