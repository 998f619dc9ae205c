/* SPDX-License-Identifier: MIT */
/* See file_kinds.h. */
#include "traits/file_kinds.h"

#include <string.h>

/* What a call shows that succeeds. */
enum shows {
	SHOWS_UNASKED, /* not looked up yet */
	SHOWS_NOTHING,
	SHOWS_DIRECTORY,
	SHOWS_REGULAR,
};

struct file_kinds {
	const struct session *session; /* borrowed */
	struct shapes *shapes; /* owned */
	struct field_picker *ret; /* owned */
	GArray *calls; /* owned; guint8: enum shows by interned name */
	GArray *shown; /* owned; guint8: enum shows by interned object */
};

struct file_kinds *file_kinds_new(const struct session *session)
{
	struct file_kinds *kinds = g_new0(struct file_kinds, 1);
	uint32_t ret = intern_id(session->trace.model.names, "ret");

	kinds->session = session;
	kinds->shapes = shapes_new(session);
	kinds->ret = field_picker_new(kinds->shapes, &ret, 1);
	kinds->calls = g_array_new(FALSE, TRUE, sizeof(guint8));
	kinds->shown = g_array_new(FALSE, TRUE, sizeof(guint8));
	return kinds;
}

void file_kinds_free(struct file_kinds *kinds)
{
	field_picker_free(kinds->ret);
	shapes_free(kinds->shapes);
	g_array_free(kinds->calls, TRUE);
	g_array_free(kinds->shown, TRUE);
	g_free(kinds);
}

static enum shows shows_of(const char *call)
{
	static const char directory[] = " getdents getdents64 fchdir ",
			  regular[] = " pread64 pwrite64 preadv pwritev preadv2 pwritev2 "
				      "ftruncate ftruncate64 fallocate copy_file_range ";
	g_autofree char *word = g_strconcat(" ", call, " ", NULL);

	return strstr(directory, word) ? SHOWS_DIRECTORY
	       : strstr(regular, word) ? SHOWS_REGULAR
				       : SHOWS_NOTHING;
}

static guint8 *of_name(GArray *list, uint32_t name)
{
	if (name >= list->len)
		g_array_set_size(list, name + 1);
	return &g_array_index(list, guint8, name);
}

void file_kinds_meet(struct file_kinds *kinds, uint32_t number)
{
	const struct operation *operation =
		operation_at(&kinds->session->trace.timeline.operations, number);
	guint8 *shows, *shown;
	int64_t ret;
	uint32_t wide;

	if (PACK_KIND(operation->what) != OPERATION_SYSCALL || !operation->ref || operation->half)
		return;
	shows = of_name(kinds->calls, PACK_NUMBER(operation->what));
	if (!*shows)
		*shows = (guint8) shows_of(
			session_text(kinds->session, PACK_NUMBER(operation->what)));
	if (*shows == SHOWS_NOTHING)
		return;
	shown = of_name(kinds->shown, operation->ref);
	if (!*shown && pick_fields(kinds->ret, number, &ret, &wide) && ret >= 0)
		*shown = *shows;
}

static const char *kind_by_name(const char *path)
{
	static const char *const no_devices[] = {"/dev/shm/", "/dev/mqueue/", "/dev/hugepages/"};

	for (size_t i = 0; i < G_N_ELEMENTS(no_devices); i++)
		if (g_str_has_prefix(path, no_devices[i]))
			return NULL;
	return g_str_has_prefix(path, "/proc/")  ? "proc"
	       : g_str_has_prefix(path, "/sys/") ? "sys"
	       : g_str_has_prefix(path, "/dev/") ? "device"
						 : NULL;
}

uint32_t file_kind(const struct file_kinds *kinds, uint32_t object)
{
	const char *key = session_text(kinds->session, object), *kind;
	enum shows shown = object < kinds->shown->len
				   ? (enum shows) g_array_index(kinds->shown, guint8, object)
				   : SHOWS_UNASKED;

	if (!object || !g_str_has_prefix(key, "file:"))
		return 0;
	kind = shown == SHOWS_DIRECTORY ? "directory" : kind_by_name(key + strlen("file:"));
	if (!kind && shown == SHOWS_REGULAR)
		kind = "regular file";
	return kind ? intern_id(kinds->session->trace.model.names, kind) : 0;
}
