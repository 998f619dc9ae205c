/* SPDX-License-Identifier: MIT */
/* See sandbox.h. */
#include "sandbox/sandbox.h"

#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "report/output.h"
#include "util/spill.h"

#define LEVELS_UP 3 /* OUT/archives/CHUNK/kernel: what was recorded with it is beside OUT */

/* Directories and files that are the system's, on all systems or some: libraries that are loaded
 * late (Babeltrace's plugins, conversions of characters), zones of time, programs and their debug
 * files, which processors there are. */
static const char *const of_system[] = {
	"/usr",
	"/lib",
	"/lib32",
	"/lib64",
	"/bin",
	"/sbin",
	"/nix/store",
	"/gnu/store",
	"/etc/ld.so.cache",
	"/etc/localtime",
	"/etc/timezone",
	"/dev/urandom",
	"/dev/zero",
	"/sys/devices/system/cpu",
};

/* What is recorded beside a trace, and read (run/finish.c, samples/recorded_maps.c,
 * settings/recorded.c, foreign/statedump.c, symbols/binaries.c). */
static const char *const beside[] = {"kallsyms",       "settings", "maps",
				     "statedump.json", "bin",      ".debug"};

/* Files looked at in a directory that a trace lies in; it may be a home directory. */
#define MOST_LOOKED_AT 2000

static void read_in(struct confine *confine, const char *directory, const char *name)
{
	g_autofree char *path = g_build_filename(directory, name, NULL);

	confine_read(confine, path);
}

static bool is_program(const char *path)
{
	char magic[SELFMAG] = "";
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat about;
	bool is = fd >= 0 && fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
		  read(fd, magic, SELFMAG) == SELFMAG && memcmp(magic, ELFMAG, SELFMAG) == 0;

	if (fd >= 0)
		close(fd);
	return is;
}

/* Programs and their debug files beside a trace: which of them it names is not known before it is
 * read, and the whole directory is not the trace's. */
static void read_programs(struct confine *confine, const char *directory)
{
	GDir *files = g_dir_open(directory, 0, NULL);
	const char *name;

	for (int left = MOST_LOOKED_AT; files && left > 0 && (name = g_dir_read_name(files));) {
		g_autofree char *path = g_build_filename(directory, name, NULL);
		struct stat about;

		if (lstat(path, &about) != 0 || !S_ISREG(about.st_mode))
			continue;
		left--;
		if (is_program(path))
			confine_read(confine, path);
	}
	if (files)
		g_dir_close(files);
}

static void read_trace(struct confine *confine, const char *path)
{
	g_autofree char *at = g_canonicalize_filename(path, NULL);

	confine_read(confine, path);
	for (int level = 0; level < LEVELS_UP; level++) {
		char *above = g_path_get_dirname(at);

		for (size_t i = 0; i < G_N_ELEMENTS(beside); i++)
			read_in(confine, above, beside[i]);
		read_programs(confine, above);
		g_free(at);
		at = above;
	}
}

/* A list as PATH has it. */
static void read_list(struct confine *confine, const char *list)
{
	g_auto(GStrv) places = g_strsplit(list ? list : "", ":", -1);

	for (char **at = places; *at; at++)
		if (**at)
			confine_read(confine, *at);
}

static void read_texts(struct confine *confine, const GPtrArray *paths)
{
	for (guint i = 0; paths && i < paths->len; i++)
		confine_read(confine, paths->pdata[i]);
}

static void read_given(struct confine *confine, const struct options *options)
{
	const char *const files[] = {
		options->kallsyms,       options->anonymise_key, options->profile.compare,
		options->profile.resume, options->batch.expect,
	};

	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		if (files[i])
			confine_read(confine, files[i]);
	read_texts(confine, options->binary_paths);
}

/* LeakSanitizer from clang 19 on reads which leaks are known when it ends. */
static void read_suppressions(struct confine *confine)
{
	const char *options = g_getenv("LSAN_OPTIONS");
	const char *at = options ? strstr(options, "suppressions=") : NULL;
	g_autofree char *path = NULL;

	if (!at)
		return;
	at += strlen("suppressions=");
	path = g_strndup(at, strcspn(at, ":"));
	confine_read(confine, path);
}

static void read_system(struct confine *confine)
{
	g_autofree char *own = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *built = own ? g_path_get_dirname(own) : NULL;
	g_autofree char *plugins =
		g_build_filename(g_get_home_dir(), ".local/lib/babeltrace2/plugins", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(of_system); i++)
		confine_read(confine, of_system[i]);
	confine_read(confine, plugins);
	read_list(confine, g_getenv("BABELTRACE_PLUGIN_PATH"));
	read_list(confine, g_getenv("LD_LIBRARY_PATH"));
	if (built)
		confine_read(confine, built);
	confine_write(confine, "/dev/null", true);
	confine_read(confine, CONFINE_SANITIZED ? "/proc/self" : "/proc/self/statm");
	if (CONFINE_SANITIZED)
		read_suppressions(confine);
}

/* The directory that is there, of those that lead to it: it will be made. */
static void make_directory(struct confine *confine, const char *path)
{
	g_autofree char *at = g_canonicalize_filename(path, NULL);

	while (!g_file_test(at, G_FILE_TEST_EXISTS) && strcmp(at, "/") != 0) {
		char *above = g_path_get_dirname(at);

		g_free(at);
		at = above;
	}
	confine_write(confine, at, true);
}

static void write_given(struct confine *confine, const struct options *options)
{
	const char *const files[] = {
		options->junit,       options->profile.save, options->profile.resume,
		options->batch.index, options->batch.merged,
	};
	const char *const directories[] = {options->batch.pages, options->batch.tables};
	/* several files, or a database, which is read while it is written */
	bool many = options->export.as != EXPORT_NOT_SAID;

	for (size_t i = 0; i < G_N_ELEMENTS(files); i++)
		if (files[i])
			confine_make(confine, files[i], false);
	for (size_t i = 0; i < G_N_ELEMENTS(directories); i++)
		if (directories[i])
			make_directory(confine, directories[i]);
	if (options->output && strcmp(options->output, "-") != 0) {
		confine_make(confine, options->output, many);
		if (many)
			make_directory(confine, options->output);
	}
	confine_write(confine, spill_place(), true);
}

void sandbox_enter(const struct options *options, const GPtrArray *paths, const char *cache,
		   enum confine_set set)
{
	struct confine_state state = confine_state();
	struct confine *confine;
	g_autofree char *text = NULL;

	if (state.begun)
		return;
	if (set == CONFINE_ANALYSIS && options->format == FORMAT_TEXT && !options->no_pager &&
	    !options->output)
		text_expect_pager();
	confine = confine_new();
	tzset();
	read_system(confine);
	for (guint i = 0; i < paths->len; i++)
		read_trace(confine, paths->pdata[i]);
	read_given(confine, options);
	write_given(confine, options);
	if (cache)
		confine_write(confine, cache, true);
	confine_begin(confine, set);
	confine_free(confine);
	state = confine_state();
	text = confine_text(&state);
	if (options->verbose && !options->quiet)
		fprintf(stderr, "whylate: %s\n", text);
}
