/* SPDX-License-Identifier: MIT */
/* See maps.h. */
#include "record/maps.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#define READ_TIMES 2

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_REALTIME, &time);
	return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

/* "BEGIN-END PERMISSIONS OFFSET DEVICE INODE   /PATH" */
static bool is_told(const char *line)
{
	g_auto(GStrv) words = g_strsplit(line, " ", 4);

	return g_strv_length(words) == 4 && strchr(line, '/') &&
	       (strchr(words[1], 'x') || words[2][strspn(words[2], "0")] == '\0');
}

/* Kernel threads have nothing mapped. */
static void put_process(struct maps *maps, const char *pid)
{
	g_autofree char *path = g_strconcat(maps->root, "/proc/", pid, "/maps", NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(path, &text, NULL, NULL) || !*text)
		return;
	fprintf(maps->file, "process\t%s\t%" PRId64 "\n", pid, now());
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines; *line; line++)
		if (is_told(*line))
			fprintf(maps->file, "%s\n", *line);
}

/* How often it was read by now. */
static guint look_at(struct maps *maps, const char *pid)
{
	guint times = GPOINTER_TO_UINT(g_hash_table_lookup(maps->known, pid));

	if (times == READ_TIMES)
		return times;
	put_process(maps, pid);
	return times + 1;
}

void maps_look(struct maps *maps)
{
	g_autofree char *path = g_strconcat(maps->root, "/proc", NULL);
	GDir *dir = g_dir_open(path, 0, NULL);
	GHashTable *seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_ascii_isdigit(*name))
			g_hash_table_insert(seen, g_strdup(name),
					    GUINT_TO_POINTER(look_at(maps, name)));
	if (dir)
		g_dir_close(dir);
	g_hash_table_destroy(maps->known); /* a PID that is gone may be another's later */
	maps->known = seen;
}

struct maps *maps_begin(const char *root, const char *directory)
{
	g_autofree char *path = g_build_filename(directory, "maps", NULL);
	FILE *file = fopen(path, "w");
	struct maps *maps;

	if (!file)
		return NULL;
	maps = g_new(struct maps, 1);
	*maps = (struct maps) {root, file,
			       g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
	fprintf(file, "# whylate maps 1: process, PID, TIME; lines of its /proc/PID/maps (man "
		      "whylate-record)\n");
	maps_look(maps);
	return maps;
}

void maps_end(struct maps *maps)
{
	if (!maps)
		return;
	fclose(maps->file); /* a full disk: what was written can be read */
	g_hash_table_destroy(maps->known);
	g_free(maps);
}
