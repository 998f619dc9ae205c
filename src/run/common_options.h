/* SPDX-License-Identifier: MIT */
/* The rows of options that several commands have; those of one are in its room.
 *
 * Place: run/. What two questions share and needs more than run/ has stands in the room of that:
 * latencies/operation_option.c, tracking/request_options.c, limits/limit_options.c.
 */
#ifndef WHYLATE_RUN_COMMON_OPTIONS_H
#define WHYLATE_RUN_COMMON_OPTIONS_H

#include "run/option.h"

extern const struct option option_target, option_thread, option_process;
extern const struct option option_host, option_container, option_clock_offset, option_guest,
	option_from, option_to, option_last, option_every, option_lead_in;
extern const struct option option_kallsyms, option_binary_path, option_format, option_output,
	option_limit, option_depth, option_min_duration;
extern const struct option option_anonymise, option_anonymise_key, option_utc, option_strict,
	option_force, option_color, option_no_pager, option_glossary, option_reader, option_cache,
	option_jobs, option_progress, option_quiet, option_verbose;

/* The setter of option_cache, for a command that keeps something else. */
bool options_set_cache(void *into, const struct option *option, const char *value, GError **error);

/* What part of the trace a report is of. */
#define WINDOW_OPTIONS                                                                             \
	&option_host, &option_container, &option_clock_offset, &option_guest, &option_from,        \
		&option_to, &option_last
/* What all reports end with. */
#define LAST_OPTIONS                                                                               \
	&option_anonymise, &option_anonymise_key, &option_utc, &option_strict, &option_color,      \
		&option_no_pager, &option_glossary, &option_reader, &option_cache, &option_jobs,   \
		&option_progress, &option_quiet, &option_verbose

/* What an option of several commands means in each: its rows share the words. */
#define METRIC_HELP                                                                                \
	"requests, diff: what they cost, latency (default),\ncpu, wait, disk-bytes, disk-time, "   \
	"net-bytes, calls;\nfunctions: which time, wall (default), cpu, blocked,\ninterrupted"
#define THRESHOLD_HELP                                                                             \
	"profile: octaves from which behaviour counts as\nchanged (default 0.25); functions: "     \
	"percent of the time\nfrom which a function is a bottleneck (default 25)"
#define DEPTH_HELP                                                                                 \
	"levels of causes (default: profile 8, delay 0: all);\nrequests: of the tree of their "    \
	"ways (default 0: all;\nwith dot: steps on a way, default 12); functions: of\nnested "     \
	"calls in a --timeline (default 0:\nall)"

#define OPTION_NUMBER_MAX 1000000000

#endif
