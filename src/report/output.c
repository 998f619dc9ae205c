/* SPDX-License-Identifier: MIT */
/* See output.h.
 *
 * A file has no name until all of it is written (O_TMPFILE), so that nothing is left behind
 * however the program ends. Where the file system or /proc cannot do that it is NAME.XXXXXX, which
 * output_abandon() removes from a handler of signals.
 */
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

#define WIDTH_MIN 40
#define WIDTH_MAX 200 /* longer lines are hard to read */
#define OURS_MAX 12 /* a report and a saved search, or the tables of an export, of two sinks */

/* Names to remove if the program is ended; the strings are the outputs'. */
static _Atomic(char *) ours[OURS_MAX];
static _Atomic(char *) made;

void output_made(char *directory)
{
	atomic_store(&made, directory);
}

void output_abandon(void)
{
	for (int i = 0; i < OURS_MAX; i++) {
		const char *name = atomic_load(&ours[i]);

		if (name)
			unlink(name);
	}
	if (atomic_load(&made))
		rmdir(atomic_load(&made)); /* if it is empty */
}

static void replace_ours(char *from, char *to)
{
	for (int i = 0; i < OURS_MAX; i++) {
		char *expected = from;

		if (atomic_compare_exchange_strong(&ours[i], &expected, to))
			return;
	}
}

static bool set_output_error(const char *path, int code, GError **error)
{
	const char *advice = code == ENOSPC || code == EDQUOT ? "; make room, or write elsewhere"
			     : code == EACCES || code == ENOENT || code == ENOTDIR || code == EROFS
				     ? "; choose a place that exists and that you may write to"
			     : code == EFBIG ? "; it is over the limit on files' size (ulimit -f)"
					     : "";

	if (code == EPIPE && !path) { /* who read it has enough: nothing is to be told */
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "%s", "");
		return false;
	}
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot write %s: %s%s",
		    path ? path : "to standard output", g_strerror(code), advice);
	return false;
}

static int terminal_width(int fd)
{
	struct winsize size;

	if (!isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) != 0 || !size.ws_col)
		return 80;
	return CLAMP(size.ws_col, WIDTH_MIN, WIDTH_MAX);
}

/* One thread writes: the stream need not be locked for every piece. A file that gets too large
 * is an error of write(), in programs too that did not think of SIGXFSZ. */
static bool ready(struct output *output)
{
	struct sigaction now;

	__fsetlocking(output->file, FSETLOCKING_BYCALLER);
	if (sigaction(SIGXFSZ, NULL, &now) == 0 && now.sa_handler == SIG_DFL) {
		signal(SIGXFSZ, SIG_IGN);
		output->ignores_size = true;
	}
	return true;
}

/* A file without a name in the directory of `place`, which can be given one; -1. */
static int open_unnamed(const char *place, mode_t mode)
{
	g_autofree char *directory = g_path_get_dirname(place);
	g_autofree char *link = NULL;
	int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);

	if (fd < 0)
		return -1;
	link = g_strdup_printf("/proc/self/fd/%d", fd);
	if (access(link, F_OK) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Opens what will be the regular file output->place. */
static int open_new(struct output *output, mode_t mode)
{
	int fd = open_unnamed(output->place, mode);

	if (fd >= 0)
		return fd;
	output->temporary = g_strconcat(output->place, ".XXXXXX", NULL);
	fd = g_mkstemp_full(output->temporary, O_WRONLY | O_CLOEXEC, (int) mode);
	if (fd < 0)
		g_clear_pointer(&output->temporary, g_free);
	else
		replace_ours(NULL, output->temporary);
	return fd;
}

bool output_open(struct output *output, const char *path, GError **error)
{
	bool exists;
	struct stat status;
	int fd;

	*output = (struct output) {.width = 80};
	if (!path || strcmp(path, "-") == 0) {
		output->file = stdout;
		output->width = terminal_width(STDOUT_FILENO);
		output->terminal = isatty(STDOUT_FILENO);
		return ready(output);
	}
	output->path = g_strdup(path);
	exists = stat(path, &status) == 0;
	if (exists && !S_ISREG(status.st_mode)) {
		output->file = g_fopen(path, "we");
		return output->file ? ready(output) : set_output_error(path, errno, error);
	}
	if (exists && access(path, W_OK) != 0)
		return set_output_error(path, errno, error);
	/* a symbolic link stays one */
	output->place = exists ? realpath(path, NULL) : strdup(path);
	fd = output->place ? open_new(output, exists ? status.st_mode & 0777 : 0666) : -1;
	if (fd < 0)
		return set_output_error(path, errno, error);
	if (exists) /* as it was, whatever the mask */
		fchmod(fd, status.st_mode & 0777);
	output->file = fdopen(fd, "w");
	return ready(output);
}

/* Gives an unnamed file a name beside its place; where there is nothing yet, its own. */
static bool name_it(struct output *output)
{
	g_autofree char *link = g_strdup_printf("/proc/self/fd/%d", fileno(output->file));

	if (linkat(AT_FDCWD, link, AT_FDCWD, output->place, AT_SYMLINK_FOLLOW) == 0)
		return true;
	if (errno != EEXIST)
		return false;
	for (int i = 0; i < 100; i++) {
		output->temporary =
			g_strdup_printf("%s.%06x", output->place, g_random_int() & 0xffffff);
		replace_ours(NULL, output->temporary);
		if (linkat(AT_FDCWD, link, AT_FDCWD, output->temporary, AT_SYMLINK_FOLLOW) == 0)
			return true;
		replace_ours(output->temporary, NULL);
		g_clear_pointer(&output->temporary, g_free);
		if (errno != EEXIST)
			return false;
	}
	return false;
}

static void forget_temporary(struct output *output)
{
	replace_ours(output->temporary, NULL);
	g_clear_pointer(&output->temporary, g_free);
}

/* All has been written; gives the file its name. */
static bool publish(struct output *output)
{
	int code = 0;

	if (output->place && !output->temporary && !name_it(output))
		code = errno;
	if (fclose(output->file) != 0 && !code)
		code = errno;
	output->file = NULL;
	if (!code && output->temporary) {
		if (g_rename(output->temporary, output->place) == 0)
			forget_temporary(output);
		else
			code = errno;
	}
	errno = code;
	return !code;
}

int output_trouble(FILE *file)
{
	errno = 0;
	if (fflush(file) == 0 && !ferror(file))
		return 0;
	if (!errno) { /* it failed some time ago: once more, to learn why */
		clearerr(file);
		fputc('\n', file);
		fflush(file);
	}
	return errno ? errno : EIO;
}

void output_begin(struct output *output, FILE *file, const char *path)
{
	*output = (struct output) {.file = file,
				   .path = g_strdup(path),
				   .width = terminal_width(fileno(file))};
	ready(output);
}

bool output_flush(struct output *output, GError **error)
{
	int code = output_trouble(output->file);

	return !code || set_output_error(output->path, code, error);
}

bool output_commit(struct output *output, GError **error)
{
	if (!output_flush(output, error))
		return false;
	if (output->file != stdout && !publish(output))
		return set_output_error(output->path, errno, error);
	return true;
}

void output_clear(struct output *output)
{
	if (output->file && output->file != stdout)
		fclose(output->file);
	if (output->temporary) {
		g_unlink(output->temporary);
		forget_temporary(output);
	}
	if (output->ignores_size)
		signal(SIGXFSZ, SIG_DFL);
	free(output->place);
	g_free(output->path);
	*output = (struct output) {0};
}
