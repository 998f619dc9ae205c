/* SPDX-License-Identifier: MIT */
/* `whylate batch`: what is asked of many traces; see batch_parts.h. Each trace's report is its
 * line; who begins a process for each, and adds the lines up, is cli/batch_run.c.
 */
#include "batch/batch_parts.h"
#include "latencies/operation_option.h"
#include "latencies/operations.h"
#include "limits/limit_options.h"
#include "run/command.h"
#include "run/common_options.h"
#include "run/option_values.h"

static const char *const engines[] = {"slurm", "parallel", "k8s", NULL};

static const char *const formats[] = {"text", "json", NULL};

static const struct option
	format = {"format",
		  "FORMAT",
		  "text (default in a terminal): what the traces add up to;\njson (default "
		  "elsewhere): a line for each",
		  option_word,
		  AT(batch.format),
		  .words = formats,
		  .least = BATCH_TEXT,
		  .terminal = true},
	jobs = {"jobs",
		"N",
		"analyse so many traces at once (default: as many as\nthere are cores; with --map "
		"1)",
		option_number,
		AT(batch.jobs),
		.least = 1,
		.most = 1024,
		.terminal = true},
	map = {"map",
	       NULL,
	       "a line for each trace that is named, on standard input\nif none is; no directory "
	       "is searched",
	       option_switch,
	       AT(batch.map),
	       .terminal = true},
	merge = {"merge",
		 NULL,
		 "read such lines from files or standard input, and write\nwhat they add up to",
		 option_switch,
		 AT(batch.merge),
		 .terminal = true},
	follow = {"follow",
		  NULL,
		  "report what comes to the directories, until a signal ends\nit: each chunk of a "
		  "session that is rotated, each snapshot",
		  option_switch,
		  AT(batch.follow),
		  .terminal = true},
	merged = {"merged",    "FILE",           "write what all lines add up to, too",
		  option_file, AT(batch.merged), .terminal = true},
	plan = {"plan",
		"ENGINE",
		"write the files of a job that does this on many machines\n(slurm, parallel, k8s) "
		"into the new directory --output",
		option_word,
		AT(batch.plan),
		.words = engines,
		.least = PLAN_SLURM,
		.terminal = true},
	expect = {"expect",
		  "LIST",
		  "only these traces count, a path a line; those that have no\nline are missing",
		  option_file,
		  AT(batch.expect),
		  .terminal = true},
	cache = {"cache",
		 "WHERE",
		 "with --follow: keep what was read of each session for further\nquestions; a new "
		 "chunk is added to it (off, auto, a directory)",
		 options_set_cache,
		 AT(cache),
		 .words = (const char *const[]) {"off", "auto", NULL},
		 .terminal = true},
	index_page = {"index",     "FILE",          "write a page (HTML) that lists the traces",
		      option_file, AT(batch.index), .terminal = true},
	tables =
		{"tables",
		 "DIRECTORY",
		 "write traces, findings and latencies as CSV and SQLite\ninto this directory, too",
		 option_file,
		 AT(batch.tables),
		 .terminal = true},
	pages = {"pages",
		 "DIRECTORY",
		 "write the page of each trace (overview --format html) into\nthis directory, too; "
		 "--index links them",
		 option_file,
		 AT(batch.pages),
		 .terminal = true};

static const struct option *const options[] = {
	&option_operation,
	&option_thread,
	&option_process,
	&option_host,
	&option_container,
	&option_from,
	&option_to,
	&option_last,
	&format,
	&option_output,
	&option_limit,
	&option_fail_if,
	&option_budget,
	&jobs,
	&follow,
	&map,
	&merge,
	&merged,
	&expect,
	&plan,
	&index_page,
	&pages,
	&tables,
	&cache,
	&option_anonymise,
	&option_anonymise_key,
	&option_utc,
	&option_strict,
	&option_reader,
	&option_quiet,
	NULL};

static void init(struct options *asked)
{
	asked->format = FORMAT_JSON;
	asked->depth = 8;
	asked->cache = g_strdup("off");
}

static bool check(struct options *asked, GError **error)
{
	struct batch_options *batch = &asked->batch;

	/* numbers are of one trace: the second one's would be others */
	if (asked->anonymise && !asked->anonymise_key)
		return options_refuse(error,
				      "batch --anonymise: needs --anonymise-key FILE, so that "
				      "names are replaced consistently across traces");
	if (batch->format == BATCH_TEXT && (batch->map || batch->plan))
		return options_exclude("--format text", batch->map ? "--map" : "--plan",
				       "nothing is added up", error);
	if (batch->map && batch->merge)
		return options_exclude("--map", "--merge", "they are the two halves", error);
	if (batch->tables && (batch->map || batch->plan))
		return options_exclude("--tables", batch->map ? "--map" : "--plan",
				       "it belongs to where lines are merged", error);
	if (batch->map && (batch->index || batch->merged || batch->expect))
		return options_exclude("--map",
				       batch->index    ? "--index"
				       : batch->merged ? "--merged"
						       : "--expect",
				       "it belongs to where lines are merged", error);
	if (batch->plan && (batch->map || batch->merge || batch->merged || batch->index ||
			    batch->expect || asked->anonymise))
		return options_exclude("--plan",
				       batch->map      ? "--map"
				       : batch->merge  ? "--merge"
				       : batch->merged ? "--merged"
				       : batch->index  ? "--index"
				       : batch->expect ? "--expect"
						       : "--anonymise",
				       "the job does that, or cannot", error);
	if (batch->follow && (batch->map || batch->merge || batch->plan || batch->pages))
		return options_exclude("--follow",
				       batch->map     ? "--map"
				       : batch->merge ? "--merge"
				       : batch->plan  ? "--plan"
						      : "--pages",
				       "what comes is reported here, and once", error);
	if (batch->follow && (asked->from.kind != WHEN_NONE || asked->to.kind != WHEN_NONE))
		return options_exclude("--follow",
				       asked->from.kind != WHEN_NONE ? "--from" : "--to",
				       "what comes is reported whole", error);
	if (!batch->follow && g_strcmp0(asked->cache, "off") != 0)
		return options_refuse(error, "batch --cache: belongs to --follow, which keeps what "
					     "it read of a session");
	if (batch->expect && asked->anonymise)
		return options_exclude("--expect", "--anonymise", "lines have other names then",
				       error);
	if (batch->merge && batch->pages)
		return options_exclude("--merge", "--pages", "pages are made when traces are read",
				       error);
	asked->standard_input = batch->map || batch->merge;
	return operations_check(asked, error);
}

static void want(const struct options *asked, struct wanted *wanted)
{
	operations_want(asked, wanted);
	limits_want(asked, wanted);
}

static void line(const void *session, struct output *output)
{
	batch_line_write(session, output);
}

const struct command batch_command = {
	.name = "batch",
	.usage = "[OPTIONS] DIR...",
	.summary = "Analyses all traces below directories, and adds them up.\n"
		   "One JSON line each, in parallel; goes on past those that cannot be read.",
	.options = options,
	.init = init,
	.check = check,
	.want = want,
	.choose = limits_choose,
	.finish = operations_add_waits,
	.writers = {[FORMAT_JSON] = line},
};
