/* SPDX-License-Identifier: MIT */
/* See trace_dat.h. Numbers are in the byte order of this machine, which the file says. */
#include "tracefs/trace_dat.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tracefs/tracefs.h"
#include "util/error.h"

#define MAGIC "\027\010\104tracing"
#define COPY_AT_ONCE (1 << 20)
#define HEAD (1 << 20) /* more than the formats of all events take */
#define RESERVED (5 * HEAD)

/* trace-cmd's enum of options, whose numbers are in the files */
enum {
	OPTION_DONE = 0,
	OPTION_CPU_STATISTICS = 2,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
	OPTION_CPU_COUNT = 8
};

struct writer {
	const char *root, *instance; /* borrowed */
	FILE *file;
	bool ok;
};

static void put(struct writer *writer, const void *data, gsize size)
{
	writer->ok = writer->ok && fwrite(data, 1, size, writer->file) == size;
}

static void put16(struct writer *writer, guint16 number)
{
	put(writer, &number, sizeof number);
}

static void put32(struct writer *writer, guint32 number)
{
	put(writer, &number, sizeof number);
}

static void put64(struct writer *writer, guint64 number)
{
	put(writer, &number, sizeof number);
}

/* A file of tracefs after its size; one that is not there has none. */
static void put_file(struct writer *writer, const char *path)
{
	gsize length = 0;
	g_autofree char *text = tracefs_read(writer->root, path, &length);

	put64(writer, length);
	put(writer, text ? text : "", length);
}

static gint by_text(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* Names of the directories in one; free with g_ptr_array_unref(). */
static GPtrArray *directories(const char *root, const char *path)
{
	g_autofree char *full = g_build_filename(root, path, NULL);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(full, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *format = g_build_filename(full, name, "format", NULL);

		if (g_file_test(format, G_FILE_TEST_EXISTS))
			g_ptr_array_add(names, g_strdup(name));
	}
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(names, by_text);
	return names;
}

static void put_format(struct writer *writer, const char *system, const char *event)
{
	g_autofree char *path = g_build_filename("events", system, event, "format", NULL);

	put_file(writer, path);
}

/* Those of ftrace itself, which has no system's name before it. */
static void put_own_formats(struct writer *writer)
{
	g_autoptr(GPtrArray) names = directories(writer->root, "events/ftrace");

	put32(writer, names->len);
	for (guint i = 0; i < names->len; i++)
		put_format(writer, "ftrace", g_ptr_array_index(names, i));
}

/* The events that are recorded: "SYSTEM:EVENT" each, in order. */
static GPtrArray *enabled(const struct writer *writer)
{
	g_autofree char *path = g_build_filename(writer->instance, "set_event", NULL);
	g_autofree char *text = tracefs_read(writer->root, path, NULL);
	g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
	GPtrArray *events = g_ptr_array_new_with_free_func(g_free);

	for (char **line = lines; *line; line++)
		if (strchr(*line, ':'))
			g_ptr_array_add(events, g_strdup(*line));
	g_ptr_array_sort(events, by_text);
	return events;
}

static gsize system_length(const char *event)
{
	return strcspn(event, ":") + 1;
}

static bool same_system(const char *event, const char *other)
{
	return strncmp(event, other, system_length(event)) == 0;
}

static void put_formats(struct writer *writer)
{
	g_autoptr(GPtrArray) events = enabled(writer);
	guint systems = 0;

	for (guint i = 0; i < events->len; i++)
		systems += i == 0 || !same_system(events->pdata[i - 1], events->pdata[i]);
	put32(writer, systems);
	for (guint i = 0, end; i < events->len; i = end) {
		const char *first = g_ptr_array_index(events, i);
		g_autofree char *system = g_strndup(first, system_length(first) - 1);

		for (end = i + 1; end < events->len && same_system(first, events->pdata[end]);)
			end++;
		put(writer, system, strlen(system) + 1);
		put32(writer, end - i);
		for (; i < end; i++)
			put_format(writer, system, strchr(events->pdata[i], ':') + 1);
	}
}

static void put_head(struct writer *writer)
{
	const guint8 order = G_BYTE_ORDER == G_BIG_ENDIAN, word = sizeof(long);
	gsize length = 0;
	g_autofree char *formats = tracefs_read(writer->root, "printk_formats", &length);

	put(writer, MAGIC, strlen(MAGIC));
	put(writer, "6", 2);
	put(writer, &order, 1);
	put(writer, &word, 1);
	put32(writer, (guint32) sysconf(_SC_PAGESIZE));
	put(writer, "header_page", 12);
	put_file(writer, "events/header_page");
	put(writer, "header_event", 13);
	put_file(writer, "events/header_event");
	put_own_formats(writer);
	put_formats(writer);
	put32(writer, 0); /* symbols */
	put32(writer, (guint32) length);
	put(writer, formats ? formats : "", length);
	put_file(writer, "saved_cmdlines");
}

static void put_option(struct writer *writer, guint16 option, const char *data, gsize size)
{
	put16(writer, option);
	put32(writer, (guint32) size);
	put(writer, data, size);
}

static void put_statistics(struct writer *writer, guint cpu)
{
	g_autofree char *path = g_strdup_printf("%s/per_cpu/cpu%u/stats", writer->instance, cpu);
	g_autofree char *said = tracefs_read(writer->root, path, NULL);
	g_autofree char *text = g_strdup_printf("CPU: %u\n%s", cpu, said ? said : "");

	put_option(writer, OPTION_CPU_STATISTICS, text, strlen(text) + 1);
}

static void put_options(struct writer *writer, const struct rings *rings, guint cpus)
{
	g_autofree char *path = g_build_filename(writer->instance, "trace_clock", NULL);
	g_autofree char *clock = tracefs_read(writer->root, path, NULL), *text = NULL;
	struct utsname system;

	put(writer, "options  ", 10);
	for (guint i = 0; i < rings_count(rings); i++)
		put_statistics(writer, rings_cpu(rings, i));
	if (clock)
		put_option(writer, OPTION_CLOCK, clock, strlen(clock) + 1);
	if (uname(&system) == 0) {
		text = g_strjoin(" ", system.sysname, system.nodename, system.release,
				 system.machine, NULL);
		put_option(writer, OPTION_UNAME, text, strlen(text) + 1);
	}
	put_option(writer, OPTION_CPU_COUNT, (const char *) &cpus, sizeof cpus);
	put16(writer, OPTION_DONE);
}

static void put_padding(struct writer *writer, long at, long to)
{
	for (; at < to; at++)
		put(writer, "", 1);
}

/* What has been read is given back to the disk before it is written: it may be full. */
static void copy_ring(struct writer *writer, const char *path)
{
	g_autofree char *data = g_malloc(COPY_AT_ONCE);
	int from = open(path, O_RDWR | O_CLOEXEC);
	ssize_t got = 1;

	for (off_t at = 0; from >= 0 && writer->ok && got > 0; at += got) {
		got = pread(from, data, COPY_AT_ONCE, at);
		if (got > 0)
			fallocate(from, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, got);
		put(writer, data, (gsize) MAX(got, 0));
	}
	writer->ok = writer->ok && from >= 0 && got == 0;
	if (from >= 0)
		close(from);
}

static guint64 size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (guint64) status.st_size : 0;
}

/* A CPU that has no ring (it was never there) has no data. */
static void put_rings(struct writer *writer, const struct rings *rings, guint cpus)
{
	long page = sysconf(_SC_PAGESIZE);
	long head = ftell(writer->file) + 10 + (long) cpus * 16;
	guint64 at = (guint64) ((head + page - 1) / page * page);
	guint64 first = at;

	put(writer, "flyrecord", 10);
	for (guint cpu = 0, i = 0; cpu < cpus; cpu++) {
		bool here = i < rings_count(rings) && rings_cpu(rings, i) == cpu;
		g_autofree char *path = here ? rings_file(rings, i++) : NULL;
		guint64 size = path ? size_of(path) : 0;

		put64(writer, at);
		put64(writer, size);
		at += size;
	}
	put_padding(writer, head, (long) first);
	for (guint i = 0; i < rings_count(rings); i++) {
		g_autofree char *path = rings_file(rings, i);

		copy_ring(writer, path);
		unlink(path);
	}
}

static char *unfinished_of(const char *path)
{
	return g_strconcat(path, ".part", NULL);
}

void trace_dat_reserve(const char *path)
{
	g_autofree char *unfinished = unfinished_of(path);
	int file = open(unfinished, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	if (file < 0)
		return;
	fallocate(file, 0, 0, RESERVED); /* not every file system can */
	close(file);
}

void trace_dat_release(const char *path)
{
	g_autofree char *unfinished = unfinished_of(path);

	int file = open(unfinished, O_WRONLY | O_CLOEXEC);

	if (file < 0)
		return;
	fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HEAD, RESERVED - HEAD);
	close(file);
}

static bool finish(struct writer *writer)
{
	bool ok = fflush(writer->file) == 0 && writer->ok;

	ok = ftruncate(fileno(writer->file), ftello(writer->file)) == 0 && ok;
	return fclose(writer->file) == 0 && ok;
}

bool trace_dat_write(const char *root, const char *instance, const struct rings *rings,
		     const char *path, GError **error)
{
	g_autofree char *unfinished = unfinished_of(path);
	guint count = rings_count(rings), cpus = count ? rings_cpu(rings, count - 1) + 1 : 0;
	int file = open(unfinished, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	struct writer writer = {root, instance, file < 0 ? NULL : fdopen(file, "w"), true};

	if (writer.file) {
		put_head(&writer);
		put32(&writer, cpus);
		put_options(&writer, rings, cpus);
		put_rings(&writer, rings, cpus);
		writer.ok = finish(&writer);
	}
	if (writer.file && writer.ok && rename(unfinished, path) == 0)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "cannot write %s: %s", path,
		    g_strerror(errno));
	unlink(unfinished);
	return false;
}
