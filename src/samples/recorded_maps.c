/* SPDX-License-Identifier: MIT */
/* See recorded_maps.h. */
#include "samples/recorded_maps.h"

#include <stdlib.h>
#include <string.h>

#include "model/images.h"

#define FORKS_MAX 4 /* a child that ran nothing else has what its parent has */
#define LEVELS_UP 3 /* as for the kernel's symbols: beside the trace is beside OUT */
#define HEAD "# whylate maps 1:"
#define GONE " (deleted)" /* the kernel's, of a file that was replaced since */

struct reading {
	int64_t time;
	const struct loaded_image *program; /* by the trace; NULL: it says nothing */
	int32_t pid;
	guint first, count; /* files */
};

struct mapped {
	GArray *readings; /* owned; struct reading, in order of PID and time */
	GArray *files;    /* owned; struct mapped_file */
	GStringChunk *texts; /* owned */
	bool found;
};

/* The lines of one file that follow each other: from its first byte on. Where that and code share a
 * page of the file (lld, mold), it is mapped twice, and the second time is no new begin. */
struct begun {
	const char *path;
	uint64_t base, end;
};

/* "BEGIN-END PERMISSIONS OFFSET DEVICE INODE   /PATH" */
static void read_line(struct mapped *mapped, const char *line, struct begun *begun)
{
	struct reading *reading =
		&g_array_index(mapped->readings, struct reading, mapped->readings->len - 1);
	const char *path = strchr(line, '/');
	struct mapped_file file = {0};
	char *at = NULL;
	uint64_t offset;
	bool runs;

	file.begin = g_ascii_strtoull(line, &at, 16);
	if (!path || *at != '-')
		return;
	file.end = g_ascii_strtoull(at + 1, &at, 16);
	if (strlen(at) < sizeof " r-xp " || file.end <= file.begin)
		return;
	runs = at[3] == 'x';
	offset = g_ascii_strtoull(at + strlen(" r-xp "), NULL, 16);
	if (!begun->path || strcmp(begun->path, path) != 0 || (!offset && file.begin != begun->end))
		*begun = (struct begun) {path, file.begin - offset, file.end};
	begun->end = file.end;
	if (!runs)
		return;
	file.base = begun->base;
	file.path = g_string_chunk_insert_const(mapped->texts, path);
	g_array_append_val(mapped->files, file);
	reading->count++;
}

/* "process PID TIME" */
static bool read_head(struct mapped *mapped, const struct session *session, const char *line)
{
	g_auto(GStrv) cells = g_strsplit(line, "\t", 4);
	struct reading reading = {.first = mapped->files->len};

	if (g_strv_length(cells) != 3 || strcmp(cells[0], "process") != 0)
		return false;
	reading.pid = atoi(cells[1]);
	reading.time = g_ascii_strtoll(cells[2], NULL, 10);
	reading.program = model_program_at(&session->trace.model, 0, reading.pid, reading.time);
	g_array_append_val(mapped->readings, reading);
	return true;
}

static int by_process(gconstpointer a, gconstpointer b)
{
	const struct reading *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->time < y->time ? -1 : x->time > y->time;
}

static void read_maps(struct mapped *mapped, const struct session *session, const char *file)
{
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	struct begun begun = {0};

	if (!g_file_get_contents(file, &text, NULL, NULL) || !g_str_has_prefix(text, HEAD))
		return;
	mapped->found = true;
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines + 1; *line; line++) {
		if (g_str_has_suffix(*line, GONE))
			(*line)[strlen(*line) - strlen(GONE)] = '\0';
		if (read_head(mapped, session, *line))
			begun.path = NULL;
		else if (mapped->readings->len)
			read_line(mapped, *line, &begun);
	}
	g_array_sort(mapped->readings, by_process);
}

static void *mapped_new(const struct session *session)
{
	struct mapped *mapped = g_new0(struct mapped, 1);
	g_autofree char *directory = g_strdup(session->trace.place);

	mapped->readings = g_array_new(FALSE, FALSE, sizeof(struct reading));
	mapped->files = g_array_new(FALSE, FALSE, sizeof(struct mapped_file));
	mapped->texts = g_string_chunk_new(4096);
	if (session->trace.model.hosts->len > 1) /* of which of them? */
		return mapped;
	for (int level = 0; directory && level <= LEVELS_UP && !mapped->found; level++) {
		g_autofree char *path = g_build_filename(directory, "maps", NULL);
		char *above = g_path_get_dirname(directory);

		if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
			read_maps(mapped, session, path);
		g_free(directory);
		directory = above;
	}
	return mapped;
}

static void mapped_free(void *data)
{
	struct mapped *mapped = data;

	g_array_free(mapped->readings, TRUE);
	g_array_free(mapped->files, TRUE);
	g_string_chunk_free(mapped->texts);
	g_free(mapped);
}

static const struct mapped *mapped_of(const struct session *session)
{
	return (const struct mapped *) session_make_once(session, mapped_new, mapped_free);
}

bool mapped_is_recorded(const struct session *session)
{
	return mapped_of(session)->found;
}

static const struct mapped_file *
file_in(const struct mapped *mapped, const struct reading *reading, uint64_t address)
{
	for (guint i = reading->first; i < reading->first + reading->count; i++) {
		const struct mapped_file *file =
			&g_array_index(mapped->files, struct mapped_file, i);

		if (address >= file->begin && address < file->end)
			return file;
	}
	return NULL;
}

/* A PID is used again: without an exec in the trace only its first thread's life tells. */
static bool is_of(const struct reading *reading, const struct thread *life, int32_t pid,
		  const struct loaded_image *program)
{
	if (program)
		return reading->program == program;
	return !reading->program && reading->pid == pid &&
	       (life->tid != pid || !life->born || reading->time >= life->begin);
}

static const struct mapped_file *
file_at(const struct session *session, const struct thread *life, uint64_t address, int64_t time)
{
	const struct mapped *mapped = mapped_of(session);
	int32_t pid = thread_process(life);
	const struct loaded_image *program =
		mapped->readings->len
			? model_program_at(&session->trace.model, life->host, pid, time)
			: NULL;
	const struct mapped_file *own = NULL, *other = NULL;

	for (guint i = 0; i < mapped->readings->len; i++) {
		const struct reading *reading = &g_array_index(mapped->readings, struct reading, i);
		const struct mapped_file *file;

		if (!is_of(reading, life, pid, program))
			continue;
		if (reading->pid == pid && own && reading->time > time)
			continue; /* one before it has it */
		file = file_in(mapped, reading, address);
		if (file && reading->pid == pid)
			own = file;
		else if (file)
			other = file;
	}
	return own ? own : other;
}

const struct mapped_file *mapped_at(const struct session *session, const struct thread *life,
				    uint64_t address, int64_t time)
{
	const struct mapped_file *file = NULL;

	for (int level = 0; !file && level < FORKS_MAX; level++) {
		file = file_at(session, life, address, time);
		if (life->execed || life->parent == NO_THREAD)
			break;
		life = model_thread(&session->trace.model, life->parent);
	}
	return file;
}
