/* SPDX-License-Identifier: MIT */
/* See follow_find.h. */
#include "batch/follow_find.h"

#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "foreign/foreign.h"

#define DEPTH_MAX 16
#define QUIET_NS INT64_C(2000000000)

/* A trace as it was when it was looked at last. */
struct look {
	uint64_t files, bytes;
	int64_t changed; /* ns since 1970: the newest */
	bool told;
};

struct follow_find {
	GHashTable *looks;   /* owned; path -> struct look */
	follow_found *found; /* of the look that is being taken */
	void *data;
};

struct follow_find *follow_find_new(void)
{
	struct follow_find *find = g_new0(struct follow_find, 1);

	find->looks = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	return find;
}

void follow_find_free(struct follow_find *find)
{
	g_hash_table_destroy(find->looks);
	g_free(find);
}

/* The last number in the name of a chunk, BEGIN-END-NUMBER; -1: none. */
static gint64 chunk_number(const char *path)
{
	const char *last = strrchr(path, '-');
	guint64 number;

	return last && g_ascii_string_to_unsigned(last + 1, 10, 0, G_MAXINT64, &number, NULL)
		       ? (gint64) number
		       : -1;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static gint by_number(gconstpointer a, gconstpointer b)
{
	gint64 x = chunk_number(*(char *const *) a), y = chunk_number(*(char *const *) b);

	return x != y ? (x < y ? -1 : 1) : by_name(a, b);
}

/* Paths of what is in it, without hidden names. */
static GPtrArray *paths_in(const char *directory)
{
	GPtrArray *paths = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(directory, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (*name != '.')
			g_ptr_array_add(paths, g_build_filename(directory, name, NULL));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(paths, by_name);
	return paths;
}

/* BEGIN-NUMBER, as 20261123T182627+0000-1: the chunk that is being written, until it is renamed. */
static bool is_current_chunk(const char *path)
{
	g_autofree char *name = g_path_get_basename(path);
	int length = 0;

	if (strlen(name) < 22 || name[8] != 'T' || (name[15] != '+' && name[15] != '-') ||
	    name[20] != '-')
		return false;
	for (const char *at = name; *at; at++)
		length += g_ascii_isdigit(*at) != 0;
	return length + 3 == (int) strlen(name);
}

static bool is_directory(const char *path)
{
	return g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK);
}

static void add_files(const char *path, int depth, struct look *look)
{
	g_autoptr(GPtrArray) below = NULL;
	struct stat status;

	if (lstat(path, &status) != 0)
		return;
	look->files++;
	look->bytes += S_ISREG(status.st_mode) ? (uint64_t) status.st_size : 0;
	if (!S_ISDIR(status.st_mode)) { /* a directory's own time is that of its renaming */
		look->changed = MAX(look->changed, status.st_ctim.tv_sec * INT64_C(1000000000) +
							   status.st_ctim.tv_nsec);
		return;
	}
	below = paths_in(path);
	for (guint i = 0; i < below->len && depth < DEPTH_MAX; i++)
		add_files(below->pdata[i], depth + 1, look);
}

static struct look *look_of(struct follow_find *find, const char *path)
{
	struct look *look = g_hash_table_lookup(find->looks, path);

	if (!look) {
		look = g_new0(struct look, 1);
		g_hash_table_insert(find->looks, g_strdup(path), look);
	}
	return look;
}

static void take(struct follow_find *find, const char *session, const char *path)
{
	struct look *look = look_of(find, path);

	if (look->told)
		return;
	look->told = true;
	find->found(find->data, session, path);
}

static void take_when_quiet(struct follow_find *find, const char *path)
{
	struct look now = {0}, *look = look_of(find, path);
	int64_t ago;

	if (look->told)
		return;
	add_files(path, 0, &now);
	ago = g_get_real_time() * 1000 - now.changed;
	if (now.files == look->files && now.bytes == look->bytes && now.changed == look->changed &&
	    (ago < 0 || ago >= QUIET_NS)) /* a server's clock may be ahead */
		take(find, NULL, path);
	else
		*look = now;
}

static void take_chunks(struct follow_find *find, const char *archives)
{
	g_autofree char *session = g_path_get_dirname(archives);
	g_autoptr(GPtrArray) chunks = paths_in(archives);

	g_ptr_array_sort(chunks, by_number);
	for (guint i = 0; i < chunks->len; i++)
		if (is_directory(chunks->pdata[i]))
			take(find, session, chunks->pdata[i]);
}

static void search(struct follow_find *find, const char *directory, int depth)
{
	g_autofree char *archives = g_build_filename(directory, "archives", NULL);
	g_autofree char *kernel = g_build_filename(directory, "kernel", NULL);
	g_autofree char *metadata = g_build_filename(directory, "metadata", NULL);
	g_autoptr(GPtrArray) below = NULL;

	if (is_directory(archives)) {
		take_chunks(find, archives);
		return;
	}
	if (is_directory(kernel) || g_file_test(metadata, G_FILE_TEST_IS_REGULAR)) {
		take_when_quiet(find, directory);
		return;
	}
	below = paths_in(directory);
	for (guint i = 0; i < below->len && depth < DEPTH_MAX; i++) {
		const char *path = below->pdata[i];

		if (is_directory(path) && !is_current_chunk(path))
			search(find, path, depth + 1);
		else if (foreign_may_be(path) && foreign_is(path))
			take_when_quiet(find, path);
	}
}

void follow_find_look(struct follow_find *find, const char *root, follow_found *found, void *data)
{
	g_autofree char *name = g_path_get_basename(root);

	find->found = found;
	find->data = data;
	if (strcmp(name, "archives") == 0)
		take_chunks(find, root);
	else
		search(find, root, 0);
}
