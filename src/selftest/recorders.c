/* SPDX-License-Identifier: MIT */
/* Which tracers could record here; see selftest.h. Nothing is started that would stay. */
#include "selftest/selftest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/lttng.h"
#include "tracefs/tracefs.h"

#define MODULE "lttng-tracer"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static void add_recorder(struct selftest *test, const char *name, bool works, char *says)
{
	selftest_add(test, name, works ? PART_WORKS : PART_WITHOUT, says);
	g_array_index(test->parts, struct part, test->parts->len - 1).records = true;
}

/* What a program says first, NULL: it is not there, or fails. */
static char *first_line_of(const char *const *words)
{
	g_autofree char *said = NULL;
	int status;

	if (!g_spawn_sync(NULL, (char **) words, NULL,
			  G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &said, NULL,
			  &status, NULL) ||
	    status != 0)
		return NULL;
	return g_strndup(said, strcspn(said, "\n"));
}

static bool has_module(void)
{
	const char *const words[] = {"/sbin/modprobe", "-n", "-q", MODULE, NULL};
	int status;

	return g_file_test("/sys/module/lttng_tracer", G_FILE_TEST_EXISTS) ||
	       (g_spawn_sync(NULL, (char **) words, NULL,
			     G_SPAWN_STDOUT_TO_DEV_NULL | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
			     NULL, NULL, &status, NULL) &&
		status == 0);
}

static void look_at_lttng(struct selftest *test)
{
	const char *const words[] = {"lttng", "--version", NULL};
	g_autoptr(GError) error = NULL;
	g_autofree char *version = NULL;

	if (!lttng_may_record(&error)) {
		add_recorder(test, "lttng", false, g_strdup(error->message));
		return;
	}
	version = first_line_of(words);
	if (!version)
		add_recorder(test, "lttng", false, g_strdup("'lttng --version' fails"));
	else if (!has_module())
		add_recorder(test, "lttng", false,
			     g_strdup_printf("%s; this kernel has no module " MODULE
					     ": as root 'apt-get install lttng-modules-dkms "
					     "linux-headers-$(uname -r)'",
					     version));
	else
		add_recorder(test, "lttng", true, g_steal_pointer(&version));
}

static void look_at_ftrace(struct selftest *test)
{
	g_autoptr(GError) error = NULL;
	const char *root = tracefs_root(&error);

	add_recorder(test, "ftrace", root != NULL, g_strdup(root ? root : error->message));
}

static void look_at_perf(struct selftest *test)
{
	const char *const words[] = {"perf", "--version", NULL};
	g_autofree char *version = first_line_of(words);
	g_autofree char *paranoid = NULL;

	if (!version)
		add_recorder(test, "perf", false,
			     g_strdup("there is no perf for this kernel: as root 'apt-get install "
				      "linux-perf' (Ubuntu: linux-tools-$(uname -r))"));
	else if (geteuid() != 0 &&
		 (!g_file_get_contents(PARANOID, &paranoid, NULL, NULL) || atoi(paranoid) > -1))
		add_recorder(test, "perf", false,
			     g_strdup_printf("%s; recording needs root, or "
					     "kernel.perf_event_paranoid -1",
					     version));
	else
		add_recorder(test, "perf", true, g_steal_pointer(&version));
}

void look_at_recorders(struct selftest *test)
{
	look_at_lttng(test);
	look_at_ftrace(test);
	look_at_perf(test);
}
