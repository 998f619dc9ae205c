/* SPDX-License-Identifier: MIT */
/* The traces below a directory, each to be analysed by itself; see batch_find.h.
 *
 *   SESSION/kernel/metadata                      SESSION, with SESSION/ust/… beside
 *   SESSION/archives/CHUNK/kernel/metadata       SESSION: chunks are one recording
 *   SESSION/snapshot-N-…/kernel/metadata         each snapshot by itself
 *   DIR/metadata                                 DIR: any other CTF trace
 *   DIR/trace.dat, DIR/perf.data                 DIR; several of a form in it: each by itself
 */
#include "batch/batch_find.h"

#include <stdbool.h>
#include <string.h>

#include "foreign/foreign.h"

#define DEPTH_MAX 16

static bool is_called(const char *path, const char *name)
{
	g_autofree char *base = g_path_get_basename(path);

	return strcmp(base, name) == 0;
}

static bool has_files(const char *directory)
{
	GDir *dir = g_dir_open(directory, 0, NULL);
	bool found = false;
	const char *name;

	while (dir && !found && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		found = g_file_test(path, G_FILE_TEST_IS_REGULAR);
	}
	if (dir)
		g_dir_close(dir);
	return found;
}

/* The directory that is one trace to the user, but nothing above `root`. */
static char *unit_of(const char *directory, const char *root)
{
	const char *user = strstr(directory + strlen(root), "/ust/");
	char *unit = user ? g_strndup(directory, (gsize) (user - directory))
		     : is_called(directory, "kernel") ? g_path_get_dirname(directory)
						      : g_strdup(directory);
	g_autofree char *above = g_path_get_dirname(unit);

	if (is_called(above, "archives")) {
		g_free(unit);
		unit = g_path_get_dirname(above);
	}
	if (strlen(unit) < strlen(root)) {
		g_free(unit);
		unit = g_strdup(root);
	}
	return unit;
}

static void add_unit(GPtrArray *traces, char *unit)
{
	for (guint i = 0; i < traces->len; i++)
		if (strcmp(traces->pdata[i], unit) == 0) {
			g_free(unit);
			return;
		}
	g_ptr_array_add(traces, unit);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Files of other tracers in a directory that holds no LTTng trace. */
static void add_foreign(GPtrArray *traces, const GPtrArray *below, const char *directory)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new();
	guint ftrace = 0;

	for (guint i = 0; i < below->len; i++)
		if (foreign_may_be(below->pdata[i]) && foreign_is(below->pdata[i])) {
			g_ptr_array_add(files, below->pdata[i]);
			ftrace += g_str_has_suffix(below->pdata[i], ".dat");
		}
	if (files->len && ftrace <= 1 && files->len - ftrace <= 1)
		add_unit(traces, g_strdup(directory));
	else
		for (guint i = 0; i < files->len; i++)
			add_unit(traces, g_strdup(files->pdata[i]));
}

static void search(GPtrArray *traces, const char *directory, const char *root, int depth)
{
	g_autofree char *metadata = g_build_filename(directory, "metadata", NULL);
	g_autoptr(GPtrArray) below = g_ptr_array_new_with_free_func(g_free);
	const char *name;
	GDir *dir;

	/* a kernel trace whose metadata is gone is one that is broken */
	if (g_file_test(metadata, G_FILE_TEST_IS_REGULAR) ||
	    (is_called(directory, "kernel") && has_files(directory))) {
		add_unit(traces, unit_of(directory, root));
		return;
	}
	dir = depth < DEPTH_MAX ? g_dir_open(directory, 0, NULL) : NULL;
	while (dir && (name = g_dir_read_name(dir)))
		if (*name != '.') /* LTTng's own, while it rotates: .tmp_new_chunk */
			g_ptr_array_add(below, g_build_filename(directory, name, NULL));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(below, by_name);
	add_foreign(traces, below, directory);
	for (guint i = 0; i < below->len; i++)
		if (g_file_test(below->pdata[i], G_FILE_TEST_IS_DIR) &&
		    !g_file_test(below->pdata[i], G_FILE_TEST_IS_SYMLINK))
			search(traces, below->pdata[i], root, depth + 1);
}

void batch_find(GPtrArray *traces, const char *path)
{
	g_autofree char *root = g_strdup(path);
	guint before = traces->len;

	for (size_t length = strlen(root); length > 1 && root[length - 1] == '/';)
		root[--length] = '\0';
	if (g_file_test(root, G_FILE_TEST_IS_REGULAR) && foreign_is(root))
		add_unit(traces, g_strdup(root));
	else
		search(traces, root, root, 0);
	if (traces->len == before)
		add_unit(traces, g_steal_pointer(&root));
}
