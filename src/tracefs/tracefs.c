/* SPDX-License-Identifier: MIT */
/* See tracefs.h. */
#include "tracefs/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

#define VARIABLE "WHYLATE_TRACEFS"
#define LOCKDOWN "/sys/kernel/security/lockdown"
#define READ_AT_ONCE 65536

static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

const char *tracefs_usual(void)
{
	const char *named = g_getenv(VARIABLE);

	return named ? named : usual[0];
}

static bool set_error(GError **error, const char *text)
{
	g_set_error_literal(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, text);
	return false;
}

/* "none integrity [confidentiality]" */
static bool is_locked_down(void)
{
	g_autofree char *text = NULL;

	return g_file_get_contents(LOCKDOWN, &text, NULL, NULL) &&
	       strstr(text, "[confidentiality]");
}

/* Why nothing can be made there. */
static bool explain(int number, const char *root, GError **error)
{
	if (is_locked_down())
		return set_error(error, "the kernel is locked down (" LOCKDOWN
					" says confidentiality), which forbids all tracing: boot "
					"with lockdown=integrity, or without secure boot");
	if (geteuid() != 0)
		return set_error(error, "ftrace needs root: sudo whylate record …");
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
		    "ftrace cannot be used: %s/" TRACEFS_INSTANCES " cannot be written (%s); in a "
		    "container record on its host",
		    root, g_strerror(number));
	return false;
}

static bool has_instances(const char *root)
{
	g_autofree char *path = g_build_filename(root, TRACEFS_INSTANCES, NULL);

	return g_file_test(path, G_FILE_TEST_IS_DIR);
}

static const char *mounted_at(void)
{
	const char *named = g_getenv(VARIABLE);

	if (named)
		return has_instances(named) ? named : NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(usual); i++)
		if (has_instances(usual[i]))
			return usual[i];
	return NULL;
}

const char *tracefs_root(GError **error)
{
	const char *root = mounted_at();
	g_autofree char *instances = NULL;

	if (!root && geteuid() != 0) /* who is not root does not see into it */
		return explain(EACCES, usual[0], error), NULL;
	if (!root) {
		if (is_locked_down())
			explain(EPERM, usual[0], error);
		else
			set_error(error, "the kernel's ftrace is not there: as root 'mount -t "
					 "tracefs nodev /sys/kernel/tracing'; if that fails, the "
					 "kernel was built without CONFIG_FTRACE");
		return NULL;
	}
	instances = g_build_filename(root, TRACEFS_INSTANCES, NULL);
	if (access(instances, W_OK | X_OK) != 0)
		return explain(errno, root, error), NULL;
	return root;
}

static void step_free(gpointer data)
{
	struct step *step = data;

	g_free(step->path);
	g_free(step->text);
	g_free(step);
}

GPtrArray *tracefs_steps(void)
{
	return g_ptr_array_new_with_free_func(step_free);
}

void tracefs_add_step(GPtrArray *steps, enum step_kind kind, bool tries, char *path, char *text)
{
	struct step *step = g_new(struct step, 1);

	*step = (struct step) {kind, tries, path, text};
	g_ptr_array_add(steps, step);
}

/* In one write: the kernel takes each as a command. */
static int write_text(const char *path, const struct step *step)
{
	bool append = step->kind == STEP_APPEND;
	int file = open(path, O_WRONLY | O_CLOEXEC | (append ? O_APPEND : O_TRUNC)), number = 0;
	size_t length = strlen(step->text);

	if (file < 0)
		return errno;
	if (write(file, step->text, length) != (ssize_t) length)
		number = errno ? errno : EIO;
	close(file);
	return number;
}

static int run_step(const char *path, const struct step *step)
{
	switch (step->kind) {
	case STEP_MAKE:
		return mkdir(path, 0750) == 0 ? 0 : errno;
	case STEP_REMOVE:
		return rmdir(path) == 0 ? 0 : errno;
	default:
		return write_text(path, step);
	}
}

bool tracefs_run_step(const char *root, const struct step *step, GError **error)
{
	g_autofree char *path = g_build_filename(root, step->path, NULL);
	int number = run_step(path, step);

	if (number == 0 || step->tries)
		return true;
	if (number == ENOMEM || number == ENOSPC)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "the kernel has no memory for ftrace's rings: a smaller --preset");
	else
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "ftrace: the kernel does not take '%s' in %s: %s",
			    step->text ? step->text : "this directory", path, g_strerror(number));
	return false;
}

char *tracefs_step_line(const char *root, const struct step *step)
{
	g_autofree char *path = g_build_filename(root, step->path, NULL);
	g_autofree char *text = step->text ? g_shell_quote(step->text) : NULL;

	switch (step->kind) {
	case STEP_MAKE:
		return g_strconcat("mkdir ", path, NULL);
	case STEP_REMOVE:
		return g_strconcat("rmdir ", path, NULL);
	default:
		return g_strconcat("echo ", text, step->kind == STEP_APPEND ? " >>" : " >", path,
				   NULL);
	}
}

char *tracefs_read(const char *root, const char *path, gsize *length)
{
	g_autofree char *full = g_build_filename(root, path, NULL);
	int file = open(full, O_RDONLY | O_CLOEXEC);
	GByteArray *all;
	ssize_t got;

	if (file < 0)
		return NULL;
	all = g_byte_array_new();
	do {
		guint at = all->len;

		g_byte_array_set_size(all, at + READ_AT_ONCE);
		got = read(file, all->data + at, READ_AT_ONCE);
		g_byte_array_set_size(all, at + (guint) MAX(got, 0));
	} while (got > 0 || (got < 0 && errno == EINTR));
	close(file);
	if (length)
		*length = all->len;
	g_byte_array_append(all, (const guint8 *) "", 1);
	return (char *) g_byte_array_free(all, FALSE);
}
