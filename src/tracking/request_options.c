/* SPDX-License-Identifier: MIT */
/* See request_options.h. */
#include "tracking/request_options.h"

#include <string.h>

#include "run/common_options.h"
#include "run/option_values.h"
#include "run/session.h"
#include "timeline/operation.h"
#include "tracking/request_filter.h"
#include "util/pattern.h"

/* "syscall:NAME": the operations that it means are named as those of a profile. */
static bool set_preset(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;
	bool known = g_str_has_prefix(value, "syscall:") && value[strlen("syscall:")];
	int chosen = PRESET_SYSCALL;

	for (int i = 0; !known && i < PRESET_SYSCALL; i++)
		if (strcmp(option->words[i], value) == 0) {
			known = true;
			chosen = i;
		}
	if (!known)
		return option_refuse(option, value, error,
				     "must be one of server, client, process, or syscall:NAME");
	options->requests.preset = (enum request_preset) chosen;
	options->requests.preset_said = true;
	g_ptr_array_set_size(options->profile.operations, 0);
	if (chosen == PRESET_SYSCALL)
		g_ptr_array_add(options->profile.operations, g_strdup(value));
	return true;
}

static bool set_boundary(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *options = into;

	options->requests.preset = PRESET_EVENTS;
	return option_event(into, option, value, error);
}

static bool add_pick(void *into, const struct option *option, const char *value, GError **error)
{
	return pick_check(option->name, value, error) && option_texts(into, option, value, error);
}

/* in the order of the enums */
static const char *const presets[] = {"server", "client", "process", "syscall:", NULL};
static const char *const follows[] = {"flow", "thread", NULL};
static const char *const metrics[] = {"latency",   "cpu",       "wait",  "disk-bytes",
				      "disk-time", "net-bytes", "calls", NULL};

const struct option option_preset = {
	"preset", "KIND", "what is a request: server (default), client, process,\nsyscall:NAME",
	.set = set_preset, .words = presets};
const struct option option_begin = {
	"begin", "EVENT",
	"a request begins at this event: 'NAME [KEY=VALUE]...';\na value $NAME captures: its "
	"--end is the next with the\nsame values; without any, of the same thread",
	set_boundary, AT(requests.begin)};
const struct option option_end = {"end", "EVENT", "… and ends at this one, written the same way",
				  set_boundary, AT(requests.end)};
const struct option option_follow = {
	"follow",
	"HOW",
	"flow (default): by what was read and written; thread:\nthe one that finished it worked "
	"on it from its begin",
	option_word,
	AT(requests.follow),
	.words = follows};
const struct option option_request_metric = {
	"metric", "METRIC", METRIC_HELP, option_word, AT(requests.metric), .words = metrics};

const struct option option_pick = {
	"pick",
	"WHICH",
	"only these requests: a number, a pattern for labels,\np90 (the slowest tenth), p10..p50, "
	"peak:N; may be\nrepeated",
	add_pick,
	AT(requests.picks),
	.repeatable = true};

/* Both filters capture the same names, each once. */
static bool captures_fit(const GPtrArray *of_begin, const GPtrArray *of_end)
{
	bool same = of_begin->len == of_end->len;

	for (guint i = 0; same && i < of_end->len; i++)
		same = strcmp(g_ptr_array_index(of_end, i), g_ptr_array_index(of_begin, i)) == 0 &&
		       (!i || strcmp(g_ptr_array_index(of_end, i - 1),
				     g_ptr_array_index(of_end, i)) != 0);
	return same;
}

bool request_options_check(struct options *options, GError **error)
{
	struct request_options *requests = &options->requests;
	struct event_filter *begin = requests->begin, *end = requests->end;
	g_autoptr(GPtrArray) of_end = NULL;

	if (!begin && !end)
		return true;
	if (!begin || !end)
		return options_refuse(error,
				      "--begin EVENT and --end EVENT go together: %s is missing",
				      begin ? "--end" : "--begin");
	if (requests->preset_said)
		return options_exclude("--begin", "--preset", "both say what a request is", error);
	if (begin->nth != 1 || end->nth != 1)
		return options_refuse(error,
				      "--%s '%s': nth has no meaning here, every such event counts",
				      begin->nth != 1 ? "begin" : "end",
				      (begin->nth != 1 ? begin : end)->text);
	if (requests->captures)
		g_ptr_array_free(requests->captures, TRUE);
	requests->captures = event_filter_capture(begin);
	of_end = event_filter_capture(end);
	return captures_fit(requests->captures, of_end) ||
	       options_refuse(error,
			      "--begin '%s' and --end '%s': both must capture the same $NAMEs, "
			      "each once: they say which end is of which begin",
			      begin->text, end->text);
}

bool request_options_said(const struct options *options)
{
	const struct request_options *requests = &options->requests;

	return requests->preset_said || requests->begin || requests->end || requests->a ||
	       requests->b || requests->slow_fast || requests->metric != METRIC_LATENCY;
}

bool request_options_limit(const struct options *options)
{
	const struct option *const rows[] = {REQUEST_LIMIT_OPTIONS};

	for (guint i = 0; i < options->given->len; i++)
		for (size_t k = 0; k < G_N_ELEMENTS(rows); k++)
			if (strcmp(((struct given *) options->given->pdata[i])->name,
				   rows[k]->name) == 0)
				return true;
	return false;
}

bool request_call_exists(const struct session *session, GError **error)
{
	const GPtrArray *patterns = session->asked.options->profile.operations;
	const char *pattern = patterns->len ? g_ptr_array_index(patterns, 0) : "";
	struct nearest nearest = {.wanted = pattern};
	g_autofree char *near = NULL;
	bool any = false;

	if (session->asked.options->requests.preset != PRESET_SYSCALL || !*pattern)
		return true;
	for (guint i = 0; i < session->trace.flow.call_stats->len && !any; i++) {
		g_autofree char *name = g_strconcat("syscall:", session_text(session, i), NULL);

		if (!g_array_index(session->trace.flow.call_stats, struct call_stat, i).count)
			continue;
		nearest_offer(&nearest, name);
		any = pattern_match(pattern, name);
	}
	near = nearest_list(&nearest, "; it has ");
	return any ||
	       options_refuse(error, "--preset '%s': the trace has no such call%s", pattern, near);
}

void requests_want(const struct options *options, struct wanted *wanted)
{
	wanted->exchanges = true;
	if (options->requests.preset == PRESET_SYSCALL || options->requests.metric == METRIC_CALLS)
		wanted->operations |= 1u << OPERATION_SYSCALL;
}
