/* SPDX-License-Identifier: MIT */
/* libFuzzer target: a trace.dat or a perf.data, with a statedump.json beside it, read whole, and
 * reported.
 *
 *   input: what is asked (1 byte) · bytes of the dump (2) · the dump · the file
 *
 * Which kind of file it is the file says itself. Seeds: foreign_seeds.py.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "foreign/foreign.h"
#include "run/feed.h"
#include "reports.h"
#include "target.h"

enum { OPERATIONS = 1, TARGET = 2, TEXTS = 4, WINDOW = 8 };

static char *directory; /* owned; made when the first input comes */

static void remove_directory(void)
{
	g_rmdir(directory);
	g_free(directory);
}

static char *place(const char *name)
{
	if (!directory) {
		directory = g_dir_make_tmp("whylate-fuzz-XXXXXX", NULL);
		g_assert_nonnull(directory);
		atexit(remove_directory);
	}
	return g_build_filename(directory, name, NULL);
}

static void put_file(const char *path, const uint8_t *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	g_assert_nonnull(file);
	g_assert_cmpuint(fwrite(bytes, 1, size, file), ==, size);
	g_assert_cmpint(fclose(file), ==, 0);
}

static void ask(struct options *options, uint8_t asked)
{
	command_options(options, &profile_command);
	options->limit = 0;
	if (asked & OPERATIONS)
		options_set(options, "operation", "*", NULL);
	if (asked & TARGET)
		options_set(options, "to", "syscall_entry_read fd=3 $ctx.tid=5 nth=last", NULL);
	if (asked & WINDOW)
		options_set(options, "from", "sched_switch next_pid=5 prev_comm=a* cpu=0", NULL);
}

/* Its events as text, in order of time. */
static void show(const struct event_sink *sink, const GPtrArray *paths)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct foreign *foreign = foreign_new(sink, paths, NULL);
	struct foreign_record record;

	while (foreign && foreign_next_record(foreign, &record)) {
		foreign_record_text(foreign, g_string_truncate(text, 0));
		g_assert_true(g_utf8_validate(text->str, (gssize) text->len, NULL));
	}
	foreign_free(foreign);
}

static void look(const GPtrArray *paths, uint8_t asked)
{
	g_autoptr(GError) error = NULL;
	struct options options;
	struct session *session;
	struct foreign *foreign;

	ask(&options, asked);
	session = session_new(&options);
	if (asked & TEXTS)
		show(&session->trace.sink, paths);
	foreign = foreign_new(&session->trace.sink, paths, &error);
	g_assert_true(!foreign == !!error);
	while (foreign && foreign_run(foreign, 1000))
		;
	if (foreign)
		foreign_tell_damage(foreign);
	foreign_free(foreign);
	check_what_was_read(session);
	options_clear(&options);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new();
	g_autofree char *trace = place("trace"), *dump = place("statedump.json");
	size_t length = size < 3 ? 0 : data[1] | (size_t) data[2] << 8;

	if (size < 3)
		return 0;
	length = MIN(length, size - 3);
	put_file(trace, data + 3 + length, size - 3 - length);
	if (length)
		put_file(dump, data + 3, length);
	g_ptr_array_add(paths, trace);
	look(paths, data[0]);
	g_unlink(trace);
	if (length)
		g_unlink(dump);
	return 0;
}
