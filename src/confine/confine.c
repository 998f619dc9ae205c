/* SPDX-License-Identifier: MIT */
/* See confine.h. */
#include "confine/confine.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine/confine_calls.h"
#include "confine/confine_files.h"

struct confine {
	GArray *rules; /* owned; struct files_rule */
};

static struct confine_state now;

static void rule_clear(gpointer rule)
{
	g_free(((struct files_rule *) rule)->path);
}

struct confine *confine_new(void)
{
	struct confine *confine = g_new(struct confine, 1);

	confine->rules = g_array_new(FALSE, FALSE, sizeof(struct files_rule));
	g_array_set_clear_func(confine->rules, rule_clear);
	return confine;
}

void confine_free(struct confine *confine)
{
	if (!confine)
		return;
	g_array_unref(confine->rules);
	g_free(confine);
}

static void add(struct confine *confine, const char *path, uint64_t rights)
{
	struct files_rule rule = {g_strdup(path), rights};

	g_array_append_val(confine->rules, rule);
}

void confine_read(struct confine *confine, const char *path)
{
	add(confine, path, FILES_READ | FILES_LIST);
}

void confine_write(struct confine *confine, const char *path, bool sees)
{
	add(confine, path,
	    FILES_WRITE | FILES_TRUNCATE | FILES_MAKE | FILES_MAKE_DIRECTORY | FILES_REMOVE |
		    FILES_REMOVE_DIRECTORY | (sees ? FILES_READ | FILES_LIST : 0));
}

/* A link stays one: what it points to is replaced. What is no regular file is only opened. */
void confine_make(struct confine *confine, const char *path, bool sees)
{
	g_autofree char *place = realpath(path, NULL);
	g_autofree char *directory = g_path_get_dirname(place ? place : path);
	struct stat status;

	if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
		confine_write(confine, path, sees);
	else
		confine_write(confine, directory, sees);
}

void confine_begin(const struct confine *confine, enum confine_set set)
{
	now.begun = true;
	now.off = g_strcmp0(g_getenv("WHYLATE_SANDBOX"), "off") == 0;
	if (now.off || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return;
	now.files = files_confine(confine ? confine->rules : NULL, set == CONFINE_SERVER);
	now.calls = calls_confine(set);
}

struct confine_state confine_state(void)
{
	return now;
}

struct confine_state confine_offered(void)
{
	return (struct confine_state) {
		.off = g_strcmp0(g_getenv("WHYLATE_SANDBOX"), "off") == 0,
		.files = files_version(),
		.calls = calls_offered(),
	};
}

char *confine_text(const struct confine_state *state)
{
	g_autofree char *files =
		state->files ? g_strdup_printf("files (Landlock %d)", state->files) : NULL;
	const char *calls = state->calls ? "system calls (seccomp)" : NULL;

	if (state->off)
		return g_strdup("the sandbox is off, as WHYLATE_SANDBOX says");
	if (files && calls)
		return g_strdup_printf("the sandbox holds for %s and %s", files, calls);
	if (files)
		return g_strdup_printf("the sandbox holds for %s; this kernel filters no system "
				       "calls (seccomp)",
				       files);
	if (calls)
		return g_strdup_printf("the sandbox holds for %s; this kernel has no Landlock to "
				       "confine files",
				       calls);
	return g_strdup(
		"there is no sandbox: this kernel has neither Landlock nor seccomp filters");
}
