/* SPDX-License-Identifier: MIT */
/* Reading what the paths hold; see identity.h.
 *
 * A trace that is copied with its times (cp -a, tar) or moved is the same trace. Its stream
 * files are not read for this; its metadata is, as that holds its UUID.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "input/identity.h"
#include "config.h"
#include "input/traces.h"
#include "util/digest.h"

#define CONTENT_BYTES 4096 /* of each end of a file: packets' headers have their times */
#define CONTENT_DIGITS 32

struct looking {
	struct identity *identity;
	GString *text;      /* all that the key is of */
};

static int64_t changed_at(const struct stat *status)
{
	return status->st_mtim.tv_sec * INT64_C(1000000000) + status->st_mtim.tv_nsec;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* A file that is read, but for its bytes. False: it is gone. */
static bool add_file(struct looking *looking, const char *path, const char *name)
{
	struct stat status;

	if (stat(path, &status) != 0)
		return false;
	if (!S_ISREG(status.st_mode))
		return true;
	g_string_append_printf(looking->text, "%s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
			       name, (gint64) status.st_size, (gint64) changed_at(&status));
	looking->identity->bytes += (uint64_t) status.st_size;
	looking->identity->changed = MAX(looking->identity->changed, changed_at(&status));
	return true;
}

/* All files of a directory but hidden ones, by name. */
static bool add_files(struct looking *looking, const char *directory)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;
	bool ok = true;

	if (!dir)
		return false;
	while ((name = g_dir_read_name(dir)))
		if (*name != '.')
			g_ptr_array_add(names, g_strdup(name));
	g_dir_close(dir);
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i < names->len && ok; i++) {
		g_autofree char *path = g_build_filename(directory, names->pdata[i], NULL);

		ok = add_file(looking, path, names->pdata[i]);
	}
	return ok;
}

/* A file of another tracer, and what /proc said: beside it, or above (foreign/statedump.h). */
static bool add_foreign(struct looking *looking, const char *path)
{
	g_autofree char *directory = g_path_get_dirname(path);
	g_autofree char *name = g_path_get_basename(path);
	g_autofree char *beside = g_build_filename(directory, "statedump.json", NULL);
	g_autofree char *above = g_build_filename(directory, "..", "statedump.json", NULL);

	g_ptr_array_add(looking->identity->directories, g_steal_pointer(&directory));
	if (g_file_test(beside, G_FILE_TEST_IS_REGULAR))
		add_file(looking, beside, "statedump.json");
	else if (g_file_test(above, G_FILE_TEST_IS_REGULAR))
		add_file(looking, above, "statedump.json");
	return add_file(looking, path, name);
}

static bool add_trace(const char *directory, const char *metadata, void *data, GError **error)
{
	struct looking *looking = data;
	g_autofree char *index = g_build_filename(directory, "index", NULL);
	g_autofree char *bytes = NULL;
	gsize size;

	if (!metadata)
		return add_foreign(looking, directory);
	if (!g_file_get_contents(metadata, &bytes, &size, error))
		return false;
	g_string_append_printf(looking->text, "trace %016" G_GINT64_MODIFIER "x\n",
			       (guint64) digest_of(bytes, size));
	g_ptr_array_add(looking->identity->directories, g_strdup(directory));
	return add_files(looking, directory) &&
	       (!g_file_test(index, G_FILE_TEST_IS_DIR) || add_files(looking, index));
}

static bool add_program(GString *text)
{
	struct stat status;

	if (stat("/proc/self/exe", &status) != 0)
		return false;
	g_string_append_printf(text, "whylate %s %" G_GINT64_FORMAT " %" G_GINT64_FORMAT "\n",
			       PACKAGE_VERSION, (gint64) status.st_size,
			       (gint64) changed_at(&status));
	return true;
}

bool identity_find(struct identity *identity, const struct options *options, GPtrArray *paths)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	struct looking looking = {identity, text};
	gsize size = IMAGE_KEY;
	bool ok = add_program(text);

	*identity = (struct identity) {.directories = g_ptr_array_new_with_free_func(g_free)};
	for (guint i = 0; i < options->clock_offsets->len; i++)
		g_string_append_printf(text, "clock-offset %s\n",
				       (char *) options->clock_offsets->pdata[i]);
	for (guint i = 0; i < options->guests->len; i++)
		g_string_append_printf(text, "guest %s\n", (char *) options->guests->pdata[i]);
	for (guint i = 0; i < paths->len && ok; i++) {
		struct stat status;

		g_string_append(text, "path\n");
		ok = stat(paths->pdata[i], &status) == 0 &&
		     traces_search(paths->pdata[i], add_trace, &looking, NULL);
	}
	g_checksum_update(sum, (const guchar *) text->str, (gssize) text->len);
	g_checksum_get_digest(sum, identity->key, &size);
	if (!ok)
		identity_clear(identity);
	return ok;
}

void identity_clear(struct identity *identity)
{
	if (identity->directories)
		g_ptr_array_free(identity->directories, TRUE);
	identity->directories = NULL;
}

/* --- what it is, wherever it lies --------------------------------------------------------- */

/* The name, the size, and both ends. */
static bool add_ends(GChecksum *sum, const char *path, const char *name)
{
	struct stat status;
	bool there = stat(path, &status) == 0;
	FILE *file = there && S_ISREG(status.st_mode) ? fopen(path, "re") : NULL;
	g_autofree char *head = NULL;
	char bytes[CONTENT_BYTES];

	if (!file)
		return there && !S_ISREG(status.st_mode);
	head = g_strdup_printf("%s %" G_GINT64_FORMAT "\n", name, (gint64) status.st_size);
	g_checksum_update(sum, (const guchar *) head, -1);
	for (int end = 0; end < 2; end++) {
		off_t from = end ? MAX(status.st_size - CONTENT_BYTES, 0) : 0;

		if (fseeko(file, from, SEEK_SET) == 0)
			g_checksum_update(sum, (const guchar *) bytes,
					  (gssize) fread(bytes, 1, sizeof bytes, file));
	}
	fclose(file);
	return true;
}

static bool add_content(const char *directory, const char *metadata, void *data, GError **error)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	GDir *dir = metadata ? g_dir_open(directory, 0, error) : NULL; /* it is one of the files */
	const char *name;
	bool ok = metadata ? dir != NULL : add_ends(sum, directory, "");

	while (dir && (name = g_dir_read_name(dir)))
		if (*name != '.')
			g_ptr_array_add(names, g_strdup(name));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i < names->len && ok; i++) {
		g_autofree char *path = g_build_filename(directory, names->pdata[i], NULL);

		ok = add_ends(sum, path, names->pdata[i]);
	}
	g_ptr_array_add(data, g_strdup(g_checksum_get_string(sum)));
	return ok;
}

char *identity_of_content(const char *path)
{
	g_autoptr(GPtrArray) sums = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	bool ok = g_file_test(path, G_FILE_TEST_IS_DIR)
			  ? traces_search(path, add_content, sums, NULL) && sums->len
			  : g_file_test(path, G_FILE_TEST_IS_REGULAR) && add_ends(sum, path, "");

	g_ptr_array_sort(sums, by_name);
	for (guint i = 0; i < sums->len; i++)
		g_checksum_update(sum, sums->pdata[i], -1);
	return ok ? g_strndup(g_checksum_get_string(sum), CONTENT_DIGITS) : NULL;
}
