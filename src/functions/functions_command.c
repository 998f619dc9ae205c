/* SPDX-License-Identifier: MIT */
/* `whylate functions`: where time goes along the calls. */
#include <string.h>

#include "functions/functions_report.h"
#include "run/command.h"
#include "run/common_options.h"
#include "coverage/needs.h"
#include "run/option_values.h"
#include "timeline/operation.h"
#include "tracking/request_list.h"
#include "tracking/request_options.h"

static bool set_threshold(void *into, const struct option *option, const char *value,
			  GError **error)
{
	struct options *asked = into;
	char *end;
	double percent = g_ascii_strtod(value, &end);

	asked->functions.threshold = percent;
	return (end != value && (!*end || strcmp(end, "%") == 0) && percent >= 0 &&
		percent <= 100) ||
	       option_refuse(option, value, error,
			     "must be a number of percent, from 0 (all) to 100");
}

static const char *const metrics[] = {"wall", "cpu", "blocked", "interrupted", NULL};

static const struct option
	metric = {"metric",        "METRIC", METRIC_HELP, option_word, AT(functions.metric),
		  .words = metrics},
	function = {"function", "PATTERN",
		    "only the calls of these functions: the walk begins\nthere", option_text,
		    AT(functions.function)},
	timeline = {"timeline", NULL,
		    "each call from --from to --to, with the interrupts and\nwaits in it",
		    option_switch, AT(functions.timeline)},
	threshold = {"threshold", "NUMBER", THRESHOLD_HELP, .set = set_threshold};

static const struct option *const options[] = {
	&metric,         &function,      &timeline,     REQUEST_LIMIT_OPTIONS, &option_thread,
	&option_process, WINDOW_OPTIONS, &threshold,    &option_kallsyms,      &option_binary_path,
	&option_format,  &option_output, &option_limit, &option_depth,         &option_min_duration,
	&option_force,   LAST_OPTIONS,   NULL};

static bool check(struct options *asked, GError **error)
{
	return request_options_check(asked, error);
}

static void want(const struct options *asked, struct wanted *wanted)
{
	wanted->operations = OPERATIONS_OF_FRAMES | 1u << OPERATION_REACHED | OPERATIONS_BY_HALF;
	wanted->resources = true;
	if (request_options_limit(asked))
		requests_want(asked, wanted);
}

/* Those that it is limited to, one at least; NULL and `error` (usage): there is none. */
static struct user_requests *requests_of(const struct session *session, GError **error)
{
	struct request_scope scope = {session->asked.options->requests.picks, "pick",
				      session->asked.from, session->asked.to};
	struct user_requests *requests;

	if (!request_call_exists(session, error))
		return NULL;
	requests = user_requests_new(session, &scope, error);
	if (!requests || requests->listed->len)
		return requests;
	options_refuse(error,
		       "no request begins and ends in the window, so there is no time of any to "
		       "look at (%s); --preset, or --begin and --end, say that "
		       "something else is a request",
		       user_request_kind(requests));
	user_requests_free(requests);
	return NULL;
}

static void *make(const struct session *session, GError **error)
{
	bool limited = request_options_limit(session->asked.options);
	struct user_requests *requests = limited ? requests_of(session, error) : NULL;
	struct functions *functions;
	struct functions_report *made;

	if (limited && !requests)
		return NULL;
	functions = functions_new(session, requests);
	if (!functions_check(functions, error)) {
		functions_free(functions);
		return NULL;
	}
	made = g_new(struct functions_report, 1);
	*made = (struct functions_report) {functions, stand_outs_new(functions->tree)};
	return made;
}

static void made_free(void *data)
{
	struct functions_report *made = data;

	stand_outs_free(made->found);
	functions_free(made->functions);
	g_free(made);
}

static void text(const void *made, struct output *output)
{
	functions_text(made, output);
}

static void json(const void *made, struct output *output)
{
	functions_json(made, output);
}

static void html(const void *made, struct output *output)
{
	functions_page(made, output);
}

static void csv(const void *made, struct output *output)
{
	functions_csv(made, output);
}

static void folded(const void *data, struct output *output)
{
	const struct functions_report *made = data;

	functions_folded(made->functions, output);
}

const struct command functions_command = {
	.name = "functions",
	.usage = "[OPTIONS] TRACE...",
	.summary = "Where does time go along the calls, in programs and in the kernel?\n"
		   "Walks down from the outermost function into the kernel, and to what it waits "
		   "for.",
	.options = options,
	.check = check,
	.want = want,
	.needs = {.impossible = NEED(SWITCH) | NEED(ALL_THREADS),
		  .degraded = NEEDS_DEGRADED | NEED(SYSCALLS),
		  .poorer = NEEDS_POORER | NEED(FORK) | NEED(CALLSTACK) | NEED(SAMPLES) |
			    NEED(FUNCTIONS) | NEED(VECTOR) | NEED(FAULT)},
	.make = make,
	.free = made_free,
	.writers = {[FORMAT_TEXT] = text,
		    [FORMAT_JSON] = json,
		    [FORMAT_CSV] = csv,
		    [FORMAT_FOLDED] = folded,
		    [FORMAT_HTML] = html},
};
