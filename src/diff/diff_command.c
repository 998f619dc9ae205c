/* SPDX-License-Identifier: MIT */
/* `whylate diff`: what differs between two groups of requests, windows or traces, or on the ways
 * to a target in two traces. */
#include <string.h>

#include "diff/diff_columns.h"
#include "latencies/operations.h"
#include "run/command.h"
#include "run/common_options.h"
#include "coverage/needs.h"
#include "run/option_values.h"
#include "timeline/operation.h"
#include "tracking/request_filter.h"
#include "tracking/request_options.h"
#include "whatif/what_if.h"

static bool set_side(void *into, const struct option *option, const char *value, GError **error)
{
	bool window = strstr(value, "..") && !(*value == 'p' && g_ascii_isdigit(value[1]));

	return (window || pick_check(option->name, value, error)) &&
	       option_text(into, option, value, error);
}

static bool set_percentile(void *into, const struct option *option, const char *value,
			   GError **error)
{
	return percentile_check(option->name, value, error) &&
	       option_text(into, option, value, error);
}

static const struct option
	option_a = {"a", "WHAT",
		    "one side: requests as in --pick of 'requests', or a\nwindow FROM..TO",
		    set_side, AT(requests.a)},
	option_b = {"b", "WHAT", "the other side, the same", set_side, AT(requests.b)},
	option_slow_fast = {"slow-fast", "PERCENTILE",
			    "the requests above this percentile (p90) against the\nothers",
			    set_percentile, AT(requests.slow_fast)};

static const struct option *const options[] = {
	&option_target,
	REQUEST_OPTIONS,
	&option_a,
	&option_b,
	&option_slow_fast,
	&option_thread,
	&option_process,
	WINDOW_OPTIONS,
	&option_kallsyms,
	&option_binary_path,
	&option_format,
	&option_output,
	&option_limit,
	&option_force,
	&option_what_if,
	LAST_OPTIONS,
	NULL};

/* Two sides; of two traces, all of each is what nothing is said of. A target is of two traces. */
static bool check(struct options *asked, GError **error)
{
	const struct request_options *requests = &asked->requests;

	if (!request_options_check(asked, error))
		return false;
	if (asked->target && request_options_said(asked))
		return options_refuse(error,
				      "--target compares the ways to one event in two traces; "
				      "requests (--preset, --begin, --end, --metric, --a, --b, "
				      "--slow-fast) are compared without it");
	if (asked->what_if->len && (requests->a || requests->b || requests->slow_fast))
		return options_exclude("--what-if",
				       requests->slow_fast ? "--slow-fast"
				       : requests->a       ? "--a"
							   : "--b",
				       "it compares all with itself, re-timed", error);
	return !requests->slow_fast || !(requests->a || requests->b) ||
	       options_exclude("--slow-fast", requests->a ? "--a" : "--b", "it names both sides",
			       error);
}

static void want(const struct options *asked, struct wanted *wanted)
{
	what_if_want(asked, wanted);
	wanted->exchanges = true;
	wanted->resources = wanted->facts = true; /* of what sets the sides apart */
	/* calls for call_forks.h */
	wanted->operations |= 1u << OPERATION_SYSCALL | 1u << OPERATION_USER |
			      1u << OPERATION_BUSY | OPERATIONS_BY_HALF;
}

static void *make(const struct session *session, GError **error)
{
	return diff_new(session, session->asked.other, error);
}

static void report_free(void *diff)
{
	diff_free(diff);
}

static void text(const void *diff, struct output *output)
{
	diff_text(diff, output);
}

static void json(const void *diff, struct output *output)
{
	diff_json(diff, output);
}

static void html(const void *diff, struct output *output)
{
	diff_page(diff, output);
}

const struct command diff_command = {
	.name = "diff",
	.usage = "[OPTIONS] TRACE [TRACE]",
	.summary = "What differs between two requests, groups, windows or traces?\n"
		   "Ranks causes, steps and system calls by what they add to the difference; with\n"
		   "--target, or one --thread, of two traces what made it later in the second.",
	.options = options,
	.check = check,
	.two_traces = true,
	.want = want,
	.needs = {.impossible = NEED(SWITCH) |
				NEED(ALL_THREADS), /* two runs can be compared by their functions */
		  .degraded = NEEDS_DEGRADED | NEED(SYSCALLS) | NEED(FORK),
		  .poorer = NEEDS_POORER | NEED(SAMPLES) | NEED(VECTOR) | NEED(FAULT)},
	.finish = operations_add_waits,
	.make = make,
	.free = report_free,
	.writers = {[FORMAT_TEXT] = text, [FORMAT_JSON] = json, [FORMAT_HTML] = html},
};
