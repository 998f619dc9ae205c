/* SPDX-License-Identifier: MIT */
/* `whylate export`: threads, states, calls and wake-ups in other tools' formats. */
#include "export/export.h"
#include "findings/findings.h"
#include "run/command.h"
#include "run/common_options.h"
#include "run/option_values.h"
#include "timeline/operation.h"

/* What is recorded for findings makes this one's too. */
static bool set_around(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *asked = into;

	if (!finding_is_id(value))
		return option_refuse(option, value, error,
				     "must be the id of a finding, as reports list them "
				     "(w-k3f7qa)");
	if (!option_text(into, option, value, error))
		return false;
	asked->finding = asked->export.around;
	return true;
}

static bool set_stacks(void *into, const struct option *option, const char *value, GError **error)
{
	struct options *asked = into;

	asked->export.stacks_said = true;
	return option_word(into, option, value, error);
}

static bool set_table(void *into, const struct option *option, const char *value, GError **error)
{
	return option_choose(option, value, option->words, error) >= 0 &&
	       option_text(into, option, value, error);
}

/* in the order of the enums */
static const char *const formats[] = {"perfetto", "trace-event", "folded", "speedscope", "pprof",
				      "csv",      "sqlite",      "ctf",    NULL};
static const char *const stack_kinds[] = {"off-cpu", "waker", "critical-path",
					  "on-cpu",  "all",   NULL};
static const char *const tables[] = {"hosts",    "threads", "intervals", "blocks",       "wakeups",
				     "syscalls", "runs",    "counters",  "counted_runs", NULL};

static const struct option
	as = {"as",
	      "FORMAT",
	      "write this format: perfetto, trace-event, folded,\nspeedscope, pprof, csv, sqlite, "
	      "ctf",
	      option_word,
	      AT(export.as),
	      .words = formats},
	around = {"around",
		  "ID",
		  "ctf: cut around where this finding of a report is seen\nbest, with half its "
		  "length on both sides",
		  set_around,
		  AT(export.around),
		  .terminal = true},
	stacks = {"stacks",
		  "KIND",
		  "folded, pprof: off-cpu (default), waker, critical-path,\non-cpu, all",
		  set_stacks,
		  AT(export.stacks),
		  .words = stack_kinds},
	table = {"table",
		 "NAME",
		 "csv: only this table: hosts, threads, intervals,\nblocks, wakeups, syscalls, "
		 "runs, counters,\ncounted_runs",
		 set_table,
		 AT(export.table),
		 .words = tables};

static const struct option *const options[] = {
	&option_target,
	&as,
	&around,
	&stacks,
	&table,
	&option_thread,
	&option_process,
	WINDOW_OPTIONS,
	&option_kallsyms,
	&option_binary_path,
	&option_output,
	&option_min_duration,
	&option_anonymise,
	&option_anonymise_key,
	&option_utc,
	&option_strict,
	&option_reader,
	&option_cache,
	&option_jobs,
	&option_progress,
	&option_quiet,
	&option_verbose,
	NULL};

/* What belongs to one format, with another one; NULL: nothing. */
static const char *wrong_with_format(const struct options *asked)
{
	const struct export_options *export = &asked->export;
	bool of_stacks = export->as == EXPORT_FOLDED || export->as == EXPORT_PPROF;

	if (export->stacks_said && !of_stacks)
		return "--stacks goes with --as folded or pprof";
	if (export->table && export->as != EXPORT_CSV)
		return "--table goes with --as csv; sqlite has all tables";
	if (export->around && export->as != EXPORT_CTF)
		return "--around goes with --as ctf; 'whylate explain ID TRACE' says when that is";
	if (of_stacks && export->stacks == STACKS_CRITICAL_PATH && !asked->target &&
	    !asked->threads->len && !asked->processes->len)
		return "--stacks critical-path needs to know whose: --target 'EVENT', "
		       "--thread TID|NAME or --process PID|NAME";
	return NULL;
}

/* The same of a cut. */
static const char *wrong_with_cut(const struct options *asked)
{
	if (asked->threads->len || asked->processes->len || asked->container || asked->host ||
	    asked->min_duration)
		return "--as ctf cuts by time only (--from, --to, --last, --target): it takes no "
		       "--thread, --process, --container, --host or --min-duration";
	if (asked->anonymise || asked->anonymise_key)
		return "--anonymise cannot replace names in --as ctf, which has the trace's own "
		       "events";
	if (asked->export.around && (asked->from.kind || asked->to.kind || asked->target))
		return "--around and --from, --to, --last or --target exclude each other: both "
		       "say when";
	if (!asked->output)
		return "--as ctf writes a trace: --output DIRECTORY, which must not exist yet";
	return NULL;
}

static bool check(struct options *asked, GError **error)
{
	const char *wrong;

	if (asked->export.as == EXPORT_NOT_SAID)
		return options_refuse(error,
				      "export needs to know the format: --as FORMAT, one of "
				      "perfetto, trace-event, folded, speedscope, pprof, csv, "
				      "sqlite, ctf");
	wrong = wrong_with_format(asked);
	if (!wrong && asked->export.as == EXPORT_CTF)
		wrong = wrong_with_cut(asked);
	return !wrong || options_refuse(error, "%s", wrong);
}

static void want(const struct options *asked, struct wanted *wanted)
{
	finding_want(asked, wanted);
	wanted->operations |=
		1u << OPERATION_SYSCALL | 1u << OPERATION_FUNCTION | 1u << OPERATION_USER;
	wanted->resources = true;
	wanted->facts |= asked->export.as == EXPORT_CSV || asked->export.as == EXPORT_SQLITE;
}

const struct command export_command = {
	.name = "export",
	.usage = "[OPTIONS] --as FORMAT TRACE...",
	.summary = "Writes threads, states, calls and wake-ups in other tools' formats.\n"
		   "For Perfetto, flame graphs, speedscope, pprof, SQL; or cuts the trace.",
	.options = options,
	.every_thread = true,
	.check = check,
	.want = want,
	.write = export_write,
};
