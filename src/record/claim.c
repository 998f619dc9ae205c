/* SPDX-License-Identifier: MIT */
/* See claim.h. */
#include "record/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/error.h"

#define OF_ROOT "/run/whylate"
#define KEYS "recording"

static char *directory(void)
{
	return geteuid() == 0 ? g_strdup(OF_ROOT)
			      : g_build_filename(g_get_user_runtime_dir(), "whylate", NULL);
}

static void claim_free(gpointer data)
{
	struct claim *claim = data;

	if (claim->file >= 0)
		close(claim->file);
	g_free(claim->path);
	g_free(claim->session);
	g_free(claim->group);
	g_free(claim->output);
	g_free(claim);
}

static char *text_of(const struct claim *claim)
{
	g_autoptr(GKeyFile) keys = g_key_file_new();

	g_key_file_set_string(keys, KEYS, "session", claim->session);
	g_key_file_set_string(keys, KEYS, "group", claim->group);
	g_key_file_set_string(keys, KEYS, "output", claim->output);
	g_key_file_set_uint64(keys, KEYS, "device", claim->device);
	g_key_file_set_uint64(keys, KEYS, "inode", claim->inode);
	g_key_file_set_boolean(keys, KEYS, "flight", claim->flight);
	g_key_file_set_int64(keys, KEYS, "made", claim->made);
	return g_key_file_to_data(keys, NULL, NULL);
}

static bool write_claim(struct claim *claim)
{
	g_autofree char *text = text_of(claim), *first = NULL;
	g_autofree char *name = g_path_get_basename(claim->path), *dir = directory();
	size_t length = strlen(text);
	bool ok;

	/* with another name until it is locked: else it would look like a dead one's */
	first = g_strconcat(dir, "/.", name, NULL);
	if (g_mkdir_with_parents(dir, 0755) != 0)
		return false;
	claim->file = open(first, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	ok = claim->file >= 0 && flock(claim->file, LOCK_EX | LOCK_NB) == 0 &&
	     write(claim->file, text, length) == (ssize_t) length &&
	     link(first, claim->path) == 0; /* fails if it is there */
	unlink(first);
	return ok;
}

struct claim *claim_make(const char *session, const char *group, const char *output, bool flight,
			 GError **error)
{
	struct claim *claim = g_new0(struct claim, 1);
	g_autofree char *dir = directory();
	struct stat status = {0};

	stat(output, &status);
	*claim = (struct claim) {.path = g_build_filename(dir, session, NULL),
				 .session = g_strdup(session),
				 .group = g_strdup(group),
				 .output = g_strdup(output),
				 .device = status.st_dev,
				 .inode = status.st_ino,
				 .flight = flight,
				 .alive = true,
				 .made = g_get_real_time() * 1000,
				 .file = -1};
	if (write_claim(claim))
		return claim;
	if (errno == EEXIST)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD,
			    "there is a recording called %s: name this one with --session, or, if "
			    "that was killed, 'whylate record --cleanup'",
			    session);
	else
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "cannot write %s: %s",
			    claim->path, g_strerror(errno));
	claim_free(claim);
	return NULL;
}

void claim_end(struct claim *claim)
{
	unlink(claim->path);
	claim_free(claim);
}

void claim_forget(struct claim *claim)
{
	unlink(claim->path);
}

static struct claim *read_claim(const char *path)
{
	g_autoptr(GKeyFile) keys = g_key_file_new();
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct claim *claim;

	if (file < 0 || !g_key_file_load_from_file(keys, path, G_KEY_FILE_NONE, NULL)) {
		if (file >= 0)
			close(file);
		return NULL;
	}
	claim = g_new0(struct claim, 1);
	*claim = (struct claim) {.path = g_strdup(path),
				 .session = g_key_file_get_string(keys, KEYS, "session", NULL),
				 .group = g_key_file_get_string(keys, KEYS, "group", NULL),
				 .output = g_key_file_get_string(keys, KEYS, "output", NULL),
				 .device = g_key_file_get_uint64(keys, KEYS, "device", NULL),
				 .inode = g_key_file_get_uint64(keys, KEYS, "inode", NULL),
				 .flight = g_key_file_get_boolean(keys, KEYS, "flight", NULL),
				 .made = g_key_file_get_int64(keys, KEYS, "made", NULL),
				 .file = file};
	claim->alive = flock(file, LOCK_EX | LOCK_NB) != 0;
	if (claim->session && claim->group && claim->output)
		return claim;
	claim_free(claim);
	return NULL;
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
	const struct claim *one = *(struct claim *const *) a, *other = *(struct claim *const *) b;

	return (one->made < other->made) - (one->made > other->made);
}

GPtrArray *claims(void)
{
	g_autofree char *path = directory();
	GPtrArray *found = g_ptr_array_new_with_free_func(claim_free);
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *at = g_build_filename(path, name, NULL);
		struct claim *claim = *name == '.' ? NULL : read_claim(at);

		if (claim)
			g_ptr_array_add(found, claim);
	}
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(found, newest_first);
	return found;
}

bool claim_has_output(const struct claim *claim)
{
	struct stat status;

	return stat(claim->output, &status) == 0 && S_ISDIR(status.st_mode) &&
	       status.st_dev == claim->device && status.st_ino == claim->inode;
}
