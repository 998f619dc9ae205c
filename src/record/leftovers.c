/* SPDX-License-Identifier: MIT */
/* See leftovers.h. */
#include "record/leftovers.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/claim.h"
#include "record/folder.h"
#include "record/ftrace.h"
#include "record/lttng.h"
#include "tracefs/tracefs.h"

#define OURS "whylate-" /* what sessions are called, before the PID */
#define GROUP "whylate_" /* … and the groups of their probes */

struct cleaning {
	const char *root; /* of tracefs; NULL: it cannot be had */
	guint removed, stuck;
};

/* "whylate-77" after its prefix. */
static bool is_of_nobody(const char *name, const char *prefix)
{
	char *rest = NULL;
	long pid = g_str_has_prefix(name, prefix) ? strtol(name + strlen(prefix), &rest, 10) : 0;

	return pid > 1 && !*rest && kill((pid_t) pid, 0) != 0 && errno == ESRCH;
}

bool left_behind(const char *session)
{
	return is_of_nobody(session, OURS);
}

static void tell(struct cleaning *cleaning, const char *what, const char *name)
{
	printf("removed: %s %s\n", what, name);
	cleaning->removed++;
}

static void tell_stuck(struct cleaning *cleaning, const char *what, const char *name)
{
	fprintf(stderr, "whylate: %s %s cannot be removed: %s\n", what, name, g_strerror(errno));
	cleaning->stuck++;
}

static void remove_instance(struct cleaning *cleaning, const char *session)
{
	g_autofree char *path = NULL;

	if (!cleaning->root)
		return;
	path = g_build_filename(cleaning->root, TRACEFS_INSTANCES, session, NULL);
	if (!g_file_test(path, G_FILE_TEST_IS_DIR))
		return;
	if (remove(path) == 0)
		tell(cleaning, "ftrace's instance", session);
	else
		tell_stuck(cleaning, "ftrace's instance", session);
}

/* A trace that is whole stays: it was killed later. */
static void remove_output(struct cleaning *cleaning, const struct claim *claim)
{
	g_autofree char *whole = g_build_filename(claim->output, "trace.dat", NULL);

	if (!claim_has_output(claim) || claim->flight || g_file_test(whole, G_FILE_TEST_EXISTS))
		return;
	folder_remove(claim->output);
	tell(cleaning, "directory", claim->output);
}

static void remove_claimed(struct cleaning *cleaning)
{
	g_autoptr(GPtrArray) all = claims();

	for (guint i = 0; i < all->len; i++) {
		struct claim *claim = g_ptr_array_index(all, i);
		guint stuck = cleaning->stuck;

		if (claim->alive)
			continue;
		remove_instance(cleaning, claim->session);
		if (cleaning->root)
			ftrace_remove_probes(cleaning->root, claim->group);
		remove_output(cleaning, claim);
		if (cleaning->stuck == stuck)
			claim_forget(claim);
	}
}

/* Names in a directory that are of nobody; free with g_ptr_array_unref(). */
static GPtrArray *instances_left(const char *root)
{
	g_autofree char *path = g_build_filename(root, TRACEFS_INSTANCES, NULL);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (left_behind(name))
			g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	return names;
}

/* Groups of probes that are of nobody. */
static GPtrArray *groups_left(const char *root)
{
	g_autofree char *text = tracefs_read(root, "kprobe_events", NULL);
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);

	for (char **line = lines; *line; line++) {
		const char *colon = strchr(*line, ':');
		g_autofree char *group =
			colon ? g_strndup(colon + 1, strcspn(colon + 1, "/ ")) : NULL;

		if (group && is_of_nobody(group, GROUP) &&
		    !g_ptr_array_find_with_equal_func(names, group, g_str_equal, NULL))
			g_ptr_array_add(names, g_steal_pointer(&group));
	}
	return names;
}

static void remove_unclaimed(struct cleaning *cleaning)
{
	g_autoptr(GPtrArray) instances = instances_left(cleaning->root), groups = NULL;

	for (guint i = 0; i < instances->len; i++)
		remove_instance(cleaning, g_ptr_array_index(instances, i));
	groups = groups_left(cleaning->root);
	for (guint i = 0; i < groups->len; i++) {
		ftrace_remove_probes(cleaning->root, g_ptr_array_index(groups, i));
		tell(cleaning, "probes", g_ptr_array_index(groups, i));
	}
}

static void remove_sessions(struct cleaning *cleaning)
{
	g_autoptr(GPtrArray) names = lttng_runs(NULL) ? lttng_sessions("", NULL) : NULL;

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		const char *const trigger[] = {"lttng", "remove-trigger", name, NULL};
		const char *const destroy[] = {"lttng", "destroy", name, NULL};

		if (!left_behind(name))
			continue;
		lttng_run(trigger, NULL, NULL); /* few have one */
		if (lttng_run(destroy, NULL, NULL))
			tell(cleaning, "LTTng's session", name);
	}
}

bool leftovers_remove(void)
{
	struct cleaning cleaning = {.root = tracefs_root(NULL)};

	remove_claimed(&cleaning);
	if (cleaning.root)
		remove_unclaimed(&cleaning);
	remove_sessions(&cleaning);
	if (!cleaning.removed && !cleaning.stuck)
		printf("Nothing was left behind.\n");
	return !cleaning.stuck;
}

void leftovers_tell(void)
{
	const char *root = tracefs_root(NULL);
	g_autoptr(GPtrArray) all = claims(), instances = root ? instances_left(root) : NULL;
	bool any = instances && instances->len;

	for (guint i = 0; i < all->len; i++)
		any |= !((struct claim *) g_ptr_array_index(all, i))->alive;
	if (any)
		fprintf(stderr, "whylate: a recording that was killed left something behind; "
				"'whylate record --cleanup' removes it\n");
}
