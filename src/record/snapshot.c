/* SPDX-License-Identifier: MIT */
/* A flight recorder's snapshot; see record.h. */
#include "record/record.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "record/folder.h"
#include "record/ftrace.h"
#include "record/lttng.h"
#include "record/maps.h"
#include "record/settings.h"
#include "util/error.h"

#define OURS "whylate-" /* what sessions are called, before the PID */

/* "[1] snapshot-1: file:///tmp/mine (max-size: 0)" */
static char *output_of(const char *session, GError **error)
{
	g_autofree char *of = g_strconcat("--session=", session, NULL), *said = NULL;
	const char *const line[] = {"lttng", "snapshot", "list-output", of, NULL};
	char *begin, *end;

	if (!lttng_run(line, &said, error))
		return NULL;
	begin = strstr(said, "/");
	if (begin && g_str_has_prefix(begin, "///"))
		begin += 2;
	if (!begin) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "session %s writes no snapshots: it was not made with --snapshot",
			    session);
		return NULL;
	}
	end = strstr(begin, " (");
	return end ? g_strndup(begin, (gsize) (end - begin)) : g_strdup(g_strchomp(begin));
}

/* The newest directory below `output`: LTTng numbers and dates its snapshots. */
static char *newest_below(const char *output)
{
	GDir *dir = g_dir_open(output, 0, NULL);
	char *newest = NULL;
	const char *name;
	struct stat status;
	gint64 at = 0;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(output, name, NULL);
		gint64 made;

		if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode))
			continue;
		made = (gint64) status.st_mtim.tv_sec * 1000000000 + status.st_mtim.tv_nsec;
		if (made < at)
			continue;
		at = made;
		g_free(newest);
		newest = g_steal_pointer(&path);
	}
	if (dir)
		g_dir_close(dir);
	return newest ? newest : g_strdup(output);
}

static char *newest_session(GError **error)
{
	g_autoptr(GPtrArray)
		names = lttng_runs(error) ? lttng_sessions("[active snapshot]", error) : NULL;

	if (!names)
		return NULL;
	for (guint i = 0; i < names->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(names, i), OURS))
			return g_strdup(g_ptr_array_index(names, i));
	g_set_error_literal(
		error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
		"no flight recorder that whylate started is running ('whylate record --snapshot' "
		"starts one); --session NAME names another");
	return NULL;
}

/* --samples made a channel of that name. */
static bool has_samples(const char *written)
{
	g_autofree char *pattern = g_build_filename(written, "kernel", "ticks_*", NULL);
	glob_t found;
	bool any = glob(pattern, 0, NULL, &found) == 0;

	globfree(&found);
	return any;
}

/* What is kept beside each. */
static void add_beside(const char *written, bool settings)
{
	folder_add_symbols(written);
	if (settings)
		settings_record(written, NULL);
}

static bool lttng_snapshot(const char *session, bool settings, bool dry_run, char **written,
			   GError **error)
{
	g_autofree char *name = session   ? g_strdup(session)
				: dry_run ? g_strdup("NAME")
					  : newest_session(error);
	g_autofree char *output = NULL;
	g_autoptr(GPtrArray) plan = NULL;
	GError *first = NULL;

	if (!name || (!dry_run && !lttng_runs(error)))
		return false;
	plan = plan_snapshot(name);
	for (guint i = 0; i < plan->len && dry_run; i++) {
		g_autofree char *line = plan_line(g_ptr_array_index(plan, i));

		puts(line);
	}
	if (dry_run)
		return true;
	output = output_of(name, error);
	if (!output)
		return false;
	for (guint i = 0; i < plan->len; i++) /* each, so that it goes on recording */
		lttng_run(g_ptr_array_index(plan, i), NULL, first ? NULL : &first);
	if (first) {
		g_propagate_error(error, first);
		return false;
	}
	*written = newest_below(output);
	add_beside(*written, settings);
	if (has_samples(*written))
		maps_end(maps_begin("", *written));
	return true;
}

bool record_snapshot(const char *session, bool settings, bool dry_run, char **written,
		     GError **error)
{
	GError *failed = NULL;

	if (!dry_run && ftrace_snapshot(session, written, &failed)) {
		add_beside(*written, settings);
		folder_add_copy(*written, "/proc/interrupts", "interrupts");
		folder_add_copy(*written, "/proc/sys/kernel/hostname", "hostname");
		return true;
	}
	if (failed) {
		g_propagate_error(error, failed);
		return false;
	}
	if (lttng_snapshot(session, settings, dry_run, written, error))
		return true;
	if (error && lttng_is_missing(*error)) /* so it is not what would have recorded */
		g_prefix_error(error, "no flight recorder runs ('whylate record --snapshot' starts "
				      "one), and none of LTTng's can: ");
	return false;
}
