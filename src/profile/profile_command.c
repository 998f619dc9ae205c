/* SPDX-License-Identifier: MIT */
/* `whylate profile`: how long operations take, and what makes the slow ones slow. */
#include "latencies/operation_option.h"
#include "latencies/operations.h"
#include "latencies/rhythms.h"
#include "latencies/roots.h"
#include "limits/limit_options.h"
#include "parts/make_parts.h"
#include "profile/profile_functions.h"
#include "profile/profile_report.h"
#include "profile/profile_what_if.h"
#include "profile/profile_worth.h"
#include "page/page.h"
#include "run/command.h"
#include "run/common_options.h"
#include "coverage/needs.h"
#include "run/option_values.h"
#include "util/error.h"
#include "whatif/what_if.h"
#include "whatif/worth.h"

/* --- what is asked --------------------------------------------------------- */

static bool set_step(void *into, const struct option *option, const char *value, GError **error)
{
	const struct options *asked = into;

	return option_duration(into, option, value, error) &&
	       (asked->profile.time_lapse > 0 ||
		option_refuse(option, value, error, "must be longer than 0"));
}

static bool set_threshold(void *into, const struct option *option, const char *value,
			  GError **error)
{
	struct options *asked = into;
	char *end = NULL;
	double number = g_ascii_strtod(value, &end);

	if (end == value || *end || !(number > 0 && number <= 64))
		return option_refuse(option, value, error,
				     "must be a number above 0, at most 64: octaves (factors of "
				     "two)");
	asked->profile.threshold = number;
	return true;
}

static const char *const pers[] = {"thread", "process", "resource", "cpu", NULL};

/* in the order of --help, common ones between */
static const struct option
	resource = {"resource", "PATTERN",
		    "only operations on this file, device, …, or that waited for it:\n'/etc/*', "
		    "'device:vda'",
		    option_text, AT(profile.resource)},
	per = {"per",
	       "WHAT",
	       "a profile for each thread, process, resource or cpu",
	       option_word,
	       AT(profile.per),
	       .words = pers,
	       .least = PER_THREAD},
	resolution = {"resolution",
		      "R",
		      "buckets per factor of two, 1 to 16 (default 1)",
		      option_number,
		      AT(profile.resolution),
		      .least = 1,
		      .most = 16},
	peak = {"peak",
		"N",
		"root causes of peak N only (default: each)",
		option_number,
		AT(profile.peak),
		.least = 1,
		.most = 1000},
	maxcount = {"maxcount-percentage",
		    "P",
		    "parts with P % of the highest maxcount are roots (default 20)",
		    option_number,
		    AT(profile.maxcount_percentage),
		    .least = 1,
		    .most = 100},
	min_operations = {"min-operations",
			  "N",
			  "a peak of fewer operations is too small to judge (default 3)",
			  option_number,
			  AT(profile.min_operations),
			  .least = 1,
			  .most = OPTION_NUMBER_MAX},
	time_lapse = {"time-lapse", "STEP", "the profile of each STEP of time", set_step,
		      AT(profile.time_lapse)},
	save_to = {"save", "FILE",
		   "write profiles and searches to FILE, for --compare and --resume", option_file,
		   AT(profile.save)},
	compare = {"compare", "FILE",
		   "distance of each operation's latencies to those saved in FILE", option_text,
		   AT(profile.compare)},
	threshold = {"threshold", "NUMBER", THRESHOLD_HELP, .set = set_threshold},
	resume = {"resume", "FILE", "add this trace's operations to the searches saved in FILE",
		  option_text, AT(profile.resume)},
	force = {"force", NULL, "resume although the behaviour changed", option_switch,
		 AT(profile.force)},
	depth = {"depth", "N", DEPTH_HELP, option_number, AT(depth), .most = 64};

static const struct option *const options[] = {
	&option_operation,
	&option_thread,
	&option_process,
	&resource,
	&per,
	WINDOW_OPTIONS,
	&option_every,
	&resolution,
	&peak,
	&maxcount,
	&min_operations,
	&time_lapse,
	&save_to,
	&compare,
	&threshold,
	&resume,
	&force,
	&option_kallsyms,
	&option_binary_path,
	&option_format,
	&option_output,
	&option_limit,
	&depth,
	&option_what_if,
	&option_sort,
	LIMIT_OPTIONS,
	LAST_OPTIONS,
	NULL};

static void init(struct options *asked)
{
	asked->depth = 8;
}

static bool check(struct options *asked, GError **error)
{
	const struct profile_options *profile = &asked->profile;

	if (!limits_check(asked, error) || !operations_check(asked, error))
		return false;
	if (profile->peak && (profile->save || profile->resume))
		return options_exclude(profile->save ? "--save" : "--resume", "--peak",
				       "a saved search is of every peak", error);
	if (asked->what_if->len && (profile->compare || profile->resume))
		return options_exclude("--what-if", profile->compare ? "--compare" : "--resume",
				       "it compares this trace with its re-timed self", error);
	return !profile->force || profile->resume ||
	       options_refuse(error, "--force goes with --resume FILE");
}

static void want(const struct options *asked, struct wanted *wanted)
{
	operations_want(asked, wanted);
	limits_want(asked, wanted);
	what_if_want(asked, wanted);
	wanted->resources = wanted->facts = true; /* of what sets peaks apart */
}

/* --- what is shown --------------------------------------------------------- */

/* Everything that can be refused is, before anything is written. */
/* The profiles, as a part has them: with the session that is its own. Nothing is looked up any more
 * that is not kept. */
static struct profiles of_part(const struct profile_report *report, const struct session *session)
{
	struct profiles profiles = *report->profiles;

	profiles.session = profiles.scope.session = session;
	return profiles;
}

static void search_part(const struct session *session, guint part, void *data)
{
	struct profile_report *report = data;
	struct profiles profiles = of_part(report, session);

	if (part == 0)
		roots_go_on(&profiles);
	else
		report->apart = peaks_apart_new(&profiles);
}

/* What takes the roots to be known. Of these two, as of those above, one asks for idle waits. */
static void search_on_part(const struct session *session, guint part, void *data)
{
	struct profiles profiles = of_part(data, session);

	if (part == 1) {
		rhythms_search(&profiles);
		return;
	}
	profile_add_functions(&profiles);
	profile_add_worth(&profiles);
}

static bool profile_init(struct profile_report *report, const struct session *session,
			 GError **error)
{
	const struct profile_options *asked = &session->asked.options->profile;
	guint buckets = asked->resolution ? asked->resolution : 1;

	if (asked->compare && !(report->compared = saved_new("compare", asked->compare, error)))
		return false;
	if (asked->resume && !(report->resumed = saved_new("resume", asked->resume, error)))
		return false;
	/* buckets can be compared only where they are the same */
	if (report->compared &&
	    !saved_check_options(report->compared, session->asked.options, error))
		return false;
	if (report->resumed && !saved_check_options(report->resumed, session->asked.options, error))
		return false;
	if (report->compared)
		buckets = saved_resolution(report->compared);
	if (report->resumed)
		buckets = saved_resolution(report->resumed);
	if (report->compared && saved_resolution(report->compared) != buckets) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--compare %s: its resolution is %u, that of --resume's file %u",
			    asked->compare, saved_resolution(report->compared), buckets);
		return false;
	}
	report->profiles = profiles_new(session, buckets, error);
	if (!report->profiles)
		return false;
	if (report->compared)
		report->comparison = saved_compare(report->compared, report->profiles);
	if (report->resumed && !saved_resume(report->resumed, report->profiles, error))
		return false;
	if (session->asked.options->what_if->len &&
	    !(report->what_if = profile_what_if_new(report->profiles, error)))
		return false;
	roots_begin(report->profiles);
	if (asked->resume) {
		roots_go_on(report->profiles);
	} else {
		parts_make(session, 2, search_part, report);
		parts_make(session, 2, search_on_part, report);
	}
	return true;
}

static void report_free(void *made)
{
	struct profile_report *report = made;

	if (report->comparison)
		g_array_free(report->comparison, TRUE);
	profile_what_if_free(report->what_if);
	peaks_apart_free(report->apart);
	profiles_free(report->profiles);
	saved_free(report->compared);
	saved_free(report->resumed);
	g_free(report->other);
	g_free(report);
}

static bool save(const struct profile_report *report, const char *path, GError **error)
{
	struct output output;
	bool ok;

	if (!path)
		return true;
	ok = output_open(&output, path, error);
	if (ok && !session_interrupted(report->profiles->session)) {
		output.json.whole = true; /* for --resume */
		profile_json(report, &output);
		ok = output_commit(&output, error);
	}
	output_clear(&output);
	return ok;
}

static void *make(const struct session *session, GError **error)
{
	struct profile_report *report = g_new0(struct profile_report, 1);

	report->session = session;
	if (!profile_init(report, session, error) ||
	    !save(report, session->asked.options->profile.save, error)) {
		report_free(report);
		return NULL;
	}
	if (report->compared)
		report->other = saved_other_filters(report->compared, session->asked.options);
	return report;
}

static void text(const void *made, struct output *output)
{
	profile_text(made, output);
}

static void json(const void *made, struct output *output)
{
	profile_json(made, output);
}

static void html(const void *made, struct output *output)
{
	const struct profile_report *report = made;
	struct page page;

	page_begin(&page, report->session, output);
	json(report, &page.json);
	page_end(&page, &(struct page_parts) {0});
}

const struct command profile_command = {
	.name = "profile",
	.usage = "[OPTIONS] TRACE...",
	.summary = "How long do operations take, and what makes the slow ones slow?\n"
		   "Latency profiles, their peaks, and the root causes of each peak.",
	.options = options,
	.init = init,
	.check = check,
	.want = want,
	.choose = limits_choose,
	.finish = operations_add_waits,
	.needs = {.degraded = NEEDS_DEGRADED | NEED(SWITCH) | NEED(ALL_THREADS) | NEED(SYSCALLS),
		  .poorer = NEEDS_POORER | NEED(FORK) | NEED(CALLSTACK) | NEED(VECTOR) |
			    NEED(FAULT)},
	.make = make,
	.free = report_free,
	.writers = {[FORMAT_TEXT] = text, [FORMAT_JSON] = json, [FORMAT_HTML] = html},
};
