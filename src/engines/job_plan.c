/* SPDX-License-Identifier: MIT */
/* See job_plan.h. */
#include "engines/job_plan.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "engines/engines.h"
#include "util/error.h"

#define TASKS_MOST 1000 /* Slurm takes no array of more than 1,001 by default */
#define JOB "whylate-job" /* its directory, if none is named */

static const struct engine_file common_files[] = {
	{"task", true,
	 "#!/bin/sh\n"
	 "# The lines of one task's traces: task NUMBER, from 0 to @LAST@. They are there whole, "
	 "or not\n"
	 "# at all; it may run again, and twice at once.\n"
	 "set -eu\n"
	 "cd @DIRECTORY@\n"
	 "exec \"${WHYLATE:-whylate}\" batch --map --quiet@OPTIONS@ --output \"lines/$1.jsonl\" "
	 "<\"tasks/$1\"\n",
	 NULL},
	{"merge", true,
	 "#!/bin/sh\n"
	 "# What all lines add up to. Its status is the job's; traces without a line are told.\n"
	 "set -eu\n"
	 "cd @DIRECTORY@\n"
	 "set -- lines/*.jsonl\n"
	 "[ -e \"$1\" ] || set -- /dev/null\n"
	 "exec \"${WHYLATE:-whylate}\" batch --merge --expect list --index index.html --output "
	 "sum.json \"$@\"\n",
	 NULL},
	{0}};

/* What is handed on to the tasks: all but what is this process's own. */
static char *options_text(const struct options *options)
{
	static const char *const own[] = {"plan",   "output", "jobs",  "quiet", "merged",
					  "expect", "index",  "merge", "map",   NULL};
	static const char *const paths[] = {"pages", "budget", NULL};
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < options->given->len; i++) {
		const struct given *given = g_ptr_array_index(options->given, i);
		g_autofree char *whole = g_strv_contains(paths, given->name)
						 ? g_canonicalize_filename(given->value, NULL)
						 : g_strdup(given->value);
		g_autofree char *word = g_shell_quote(whole ? whole : "");

		if (g_strv_contains(own, given->name))
			continue;
		g_string_append_printf(text, " --%s%s%s", given->name, whole && *whole ? "=" : "",
				       whole && *whole ? word : "");
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

/* The text with its words filled in; free with g_free(). */
static char *filled(const struct plan *plan, const char *options, const char *text)
{
	g_autofree char *directory = g_shell_quote(plan->directory);
	g_autofree char *last = g_strdup_printf("%u", plan->tasks - 1);
	g_autofree char *tasks = g_strdup_printf("%u", plan->tasks);
	const char *const words[][2] = {{"@DIRECTORY@", directory},
					{"@PLAIN_DIRECTORY@", plan->directory},
					{"@LAST@", last},
					{"@TASKS@", tasks},
					{"@OPTIONS@", options}};
	g_autoptr(GString) all = g_string_new(NULL);

	while (*text) {
		size_t i = 0;

		while (i < G_N_ELEMENTS(words) && !g_str_has_prefix(text, words[i][0]))
			i++;
		if (i < G_N_ELEMENTS(words)) {
			g_string_append(all, words[i][1]);
			text += strlen(words[i][0]);
		} else {
			g_string_append_c(all, *text++);
		}
	}
	return g_string_free(g_steal_pointer(&all), FALSE);
}

static bool output_error(const char *path, GError **error)
{
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot write %s: %s", path,
		    g_strerror(errno));
	return false;
}

static bool write_text(const struct plan *plan, const char *name, const char *text, bool runs,
		       GError **error)
{
	g_autofree char *path = g_build_filename(plan->directory, name, NULL);

	return g_file_set_contents_full(path, text, -1, G_FILE_SET_CONTENTS_CONSISTENT,
					runs ? 0777 : 0666, NULL) ||
	       output_error(path, error);
}

static bool write_files(const struct plan *plan, const struct engine_file *files,
			const char *options, GError **error)
{
	bool ok = true;

	for (; files->name && ok; files++) {
		g_autofree char *text = NULL;

		if (files->text) {
			text = filled(plan, options, files->text);
		} else {
			json_t *json = files->make(plan);
			char *dumped = json_dumps(json, JSON_INDENT(2));

			text = g_strconcat(dumped, "\n", NULL);
			free(dumped);
			json_decref(json);
		}
		ok = write_text(plan, files->name, text, files->runs, error);
	}
	return ok;
}

static bool make_directories(const struct plan *plan, GError **error)
{
	static const char *const names[] = {"tasks", "lines", "log"};
	bool ok = mkdir(plan->directory, 0777) == 0;

	if (!ok && errno == EEXIST) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT,
			    "%s exists already: name a new directory for the job with --output",
			    plan->directory);
		return false;
	}
	if (!ok)
		return output_error(plan->directory, error);
	for (size_t i = 0; i < G_N_ELEMENTS(names) && ok; i++) {
		g_autofree char *path = g_build_filename(plan->directory, names[i], NULL);

		ok = mkdir(path, 0777) == 0 || output_error(path, error);
	}
	return ok;
}

/* Each trace once, as `list` has them (struct: owned strings, path and identity or NULL). */
static void take_traces(const GPtrArray *traces, plan_say *say, plan_identify *identify,
			GPtrArray *paths, GPtrArray *identities)
{
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	for (guint i = 0; i < traces->len; i++) {
		g_autofree char *path = g_canonicalize_filename(traces->pdata[i], NULL);
		g_autofree char *identity = identify(path), *text = NULL;

		if (strpbrk(path, "\r\n")) {
			text = g_strdup_printf("%s: left out, as its name has a line's end", path);
		} else if (identity && g_hash_table_contains(seen, identity)) {
			text = g_strdup_printf("%s: left out, as it is a copy of another one",
					       path);
		} else {
			if (identity)
				g_hash_table_add(seen, identity);
			g_ptr_array_add(paths, g_steal_pointer(&path));
			g_ptr_array_add(identities, g_steal_pointer(&identity));
		}
		if (text && say)
			say(text);
	}
}

static bool write_lists(const struct plan *plan, const GPtrArray *paths,
			const GPtrArray *identities, GError **error)
{
	g_autoptr(GString) list = g_string_new(NULL);
	bool ok = true;

	for (guint task = 0; task < plan->tasks && ok; task++) {
		g_autofree char *name = g_strdup_printf("tasks/%u", task);
		g_autoptr(GString) own = g_string_new(NULL);

		/* neighbours are of one time or host: dealt out, so that tasks are alike */
		for (guint i = task; i < paths->len; i += plan->tasks)
			g_string_append_printf(own, "%s\n", (char *) paths->pdata[i]);
		ok = write_text(plan, name, own->str, false, error);
	}
	for (guint i = 0; i < paths->len; i++)
		if (identities->pdata[i])
			g_string_append_printf(list, "%s\t%s\n", (char *) identities->pdata[i],
					       (char *) paths->pdata[i]);
		else
			g_string_append_printf(list, "%s\n", (char *) paths->pdata[i]);
	return ok && write_text(plan, "list", list->str, false, error);
}

/* The directories of the roots, absolute. */
static void take_roots(const GPtrArray *roots, GPtrArray *whole)
{
	for (guint i = 0; i < roots->len; i++)
		g_ptr_array_add(whole, g_canonicalize_filename(roots->pdata[i], NULL));
	g_ptr_array_add(whole, NULL);
}

bool engines_plan(const struct options *options, const GPtrArray *roots, const GPtrArray *traces,
		  plan_say *say, plan_identify *identify, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free),
			     identities = g_ptr_array_new_with_free_func(g_free),
			     whole = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *directory =
		g_canonicalize_filename(options->output ? options->output : JOB, NULL);
	g_autofree char *given = options_text(options), *told = NULL;
	const struct engine *engine = &engines_known[options->batch.plan - 1];
	struct plan plan = {.directory = directory};

	take_traces(traces, say, identify, paths, identities);
	take_roots(roots, whole);
	plan.roots = (const char *const *) whole->pdata;
	plan.traces = paths->len;
	plan.tasks = MIN(paths->len, TASKS_MOST);
	if (!plan.tasks) {
		g_set_error_literal(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "no trace to plan for");
		return false;
	}
	if (!make_directories(&plan, error) || !write_lists(&plan, paths, identities, error) ||
	    !write_files(&plan, common_files, given, error) ||
	    !write_files(&plan, engine->files, given, error))
		return false;
	told = g_strdup_printf("%u trace%s in %u task%s for %s: %s/README says how to run them",
			       plan.traces, plan.traces == 1 ? "" : "s", plan.tasks,
			       plan.tasks == 1 ? "" : "s", engine->name, directory);
	if (say)
		say(told);
	return true;
}
