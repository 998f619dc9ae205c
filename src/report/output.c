/* See output.h. */
#include "report/output.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

static bool fail(const char *path, int code, GError **error)
{
	const char *advice = code == ENOSPC || code == EDQUOT ? "; make room, or write elsewhere"
			     : code == EACCES || code == ENOENT || code == ENOTDIR
				     ? "; choose a place that exists and that you may write to"
				     : "";

	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_OUTPUT, "cannot write %s: %s%s",
		    path ? path : "to standard output", g_strerror(code), advice);
	return false;
}

static int terminal_width(int fd)
{
	struct winsize size;

	if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40)
		return size.ws_col;
	return 80;
}

/* One thread writes: the stream need not be locked for every piece. */
static bool ready(struct output *output)
{
	__fsetlocking(output->file, FSETLOCKING_BYCALLER);
	return true;
}

bool output_open(struct output *output, const char *path, GError **error)
{
	struct stat status;
	int fd;

	*output = (struct output) {.width = 80};
	if (!path || strcmp(path, "-") == 0) {
		output->file = stdout;
		output->width = terminal_width(STDOUT_FILENO);
		return ready(output);
	}
	output->path = g_strdup(path);
	if (g_stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
		output->file = g_fopen(path, "we");
		return output->file ? ready(output) : fail(path, errno, error);
	}
	output->temporary = g_strconcat(path, ".XXXXXX", NULL);
	fd = g_mkstemp_full(output->temporary, O_WRONLY | O_CLOEXEC, 0666);
	if (fd < 0) {
		int code = errno;

		g_clear_pointer(&output->temporary, g_free);
		return fail(path, code, error);
	}
	output->file = fdopen(fd, "w");
	return ready(output);
}

bool output_commit(struct output *output, GError **error)
{
	bool written = fflush(output->file) == 0 && !ferror(output->file);
	int code = errno;

	if (output->file != stdout) {
		if (fclose(output->file) != 0 && written) {
			written = false;
			code = errno;
		}
		output->file = NULL;
	}
	if (!written)
		return fail(output->path, code ? code : EIO, error);
	if (output->temporary) {
		if (g_rename(output->temporary, output->path) != 0)
			return fail(output->path, errno, error);
		g_clear_pointer(&output->temporary, g_free);
	}
	return true;
}

void output_clear(struct output *output)
{
	if (output->file && output->file != stdout)
		fclose(output->file);
	if (output->temporary)
		g_unlink(output->temporary);
	g_free(output->temporary);
	g_free(output->path);
	*output = (struct output) {0};
}
