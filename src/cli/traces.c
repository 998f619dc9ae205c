/* Finding kernel traces in what the user named; see cli.h.
 *
 * An LTTng output holds kernel/, ust/…, archives/CHUNK/kernel/, or
 * snapshot-…/kernel/; a trace is any directory with a file `metadata`. Its
 * environment says whether it is a kernel's. Chunks of one trace have its
 * UUID in common.
 */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "util/error.h"

#define PACKET_MAGIC 0x75D11D57u
#define PACKET_HEADER 37 /* bytes of a metadata packet's header, CTF 1.8 section 7.1 */
#define CTF2_SEPARATOR 0x1e /* a JSON text sequence (RFC 7464) begins with it */
#define DEPTH_MAX 12

struct found {
	char *path;    /* owned */
	char *uuid;    /* owned; NULL: none */
	bool kernel;
	bool described; /* says of which domain it is */
};

static void found_clear(gpointer data)
{
	struct found *found = data;

	g_free(found->path);
	g_free(found->uuid);
}

static uint32_t word(const char *bytes, bool swap)
{
	uint32_t value;

	memcpy(&value, bytes, sizeof value);
	return swap ? GUINT32_SWAP_LE_BE(value) : value;
}

/* The text of a metadata file, without its packets' headers; NULL if its last
 * packet is cut short, on which Babeltrace 2.0 would read for ever. */
static GString *metadata_text(const char *bytes, gsize length)
{
	GString *text = g_string_new(NULL);
	gsize at = 0;

	if (length < PACKET_HEADER ||
	    (word(bytes, false) != PACKET_MAGIC && word(bytes, true) != PACKET_MAGIC))
		return g_string_append_len(text, bytes, (gssize) length);
	while (at + PACKET_HEADER <= length) {
		bool swap = word(bytes + at, false) != PACKET_MAGIC;
		gsize content = word(bytes + at + 24, swap) / 8;
		gsize packet = word(bytes + at + 28, swap) / 8;

		if (content < PACKET_HEADER || packet < content || packet > length - at)
			break;
		g_string_append_len(text, bytes + at + PACKET_HEADER,
				    (gssize) (content - PACKET_HEADER));
		at += packet;
	}
	if (at == length)
		return text;
	g_string_free(text, TRUE);
	return NULL;
}

/* The value behind `name = "`, or NULL. */
static char *value_of(const char *text, const char *name)
{
	g_autofree char *pattern = g_strdup_printf("\\b%s\\s*=\\s*\"([^\"]*)\"", name);
	g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_RAW, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;

	return g_regex_match(regex, text, 0, &match) ? g_match_info_fetch(match, 1) : NULL;
}

static bool describe(const char *directory, const char *metadata, struct found *found,
		     GError **error)
{
	g_autofree char *bytes = NULL, *domain = NULL;
	gsize length;
	GError *cause = NULL;
	GString *text;

	if (!g_file_get_contents(metadata, &bytes, &length, &cause)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "cannot read the trace's metadata: %s", cause->message);
		g_error_free(cause);
		return false;
	}
	if (length && bytes[0] == CTF2_SEPARATOR) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s is a CTF 2 trace, and whylate reads CTF 1.8: record with 'lttng "
			    "create --trace-format=ctf-1.8', or set "
			    "LTTNG_SESSIOND_DEFAULT_TRACE_FORMAT=ctf-1.8",
			    directory);
		return false;
	}
	text = metadata_text(bytes, length);
	if (!text) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s is damaged: it ends in the middle of a packet; copy the trace "
			    "again, or take the metadata of another recording of that session",
			    metadata);
		return false;
	}
	domain = value_of(text->str, "domain");
	found->path = g_strdup(directory);
	found->uuid = value_of(text->str, "uuid");
	found->described = domain != NULL;
	found->kernel = domain ? strcmp(domain, "kernel") == 0
			       : strstr(text->str, "sched_switch") != NULL;
	g_string_free(text, TRUE);
	return true;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

static bool search(const char *directory, int depth, GArray *list, GError **error)
{
	g_autofree char *metadata = g_build_filename(directory, "metadata", NULL);
	GError *cause = NULL;
	GPtrArray *names;
	const char *name;
	GDir *dir;
	bool ok = true;

	if (g_file_test(metadata, G_FILE_TEST_IS_REGULAR)) {
		struct found found = {0};

		if (!describe(directory, metadata, &found, error))
			return false;
		g_array_append_val(list, found);
		return true;
	}
	dir = g_dir_open(directory, 0, &cause);
	if (!dir) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE, "%s", cause->message);
		g_error_free(cause);
		return false;
	}
	names = g_ptr_array_new_with_free_func(g_free);
	while ((name = g_dir_read_name(dir)))
		g_ptr_array_add(names, g_build_filename(directory, name, NULL));
	g_dir_close(dir);
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i < names->len && ok && depth < DEPTH_MAX; i++) {
		const char *path = g_ptr_array_index(names, i);

		if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
		    !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
			ok = search(path, depth + 1, list, error);
	}
	g_ptr_array_free(names, TRUE);
	return ok;
}

static void add_to_group(GPtrArray *traces, GPtrArray *uuids, const struct found *found)
{
	GPtrArray *group = NULL;

	for (guint i = 0; i < traces->len && found->uuid; i++)
		if (g_strcmp0(g_ptr_array_index(uuids, i), found->uuid) == 0)
			group = g_ptr_array_index(traces, i);
	if (!group) {
		group = g_ptr_array_new_with_free_func(g_free);
		g_ptr_array_add(traces, group);
		g_ptr_array_add(uuids, found->uuid);
	}
	for (guint i = 0; i < group->len; i++)
		if (strcmp(g_ptr_array_index(group, i), found->path) == 0)
			return; /* named twice */
	g_ptr_array_add(group, g_strdup(found->path));
}

static bool search_path(const char *path, GArray *list, GError **error)
{
	guint before = list->len;
	struct stat status;
	bool kernel = false, described = false;

	if (stat(path, &status) != 0) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE, "cannot read the trace %s: %s", path,
			    g_strerror(errno));
		return false;
	}
	if (!S_ISDIR(status.st_mode)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s is no trace: give the directory that LTTng wrote", path);
		return false;
	}
	if (!search(path, 0, list, error))
		return false;
	for (guint i = before; i < list->len; i++) {
		kernel |= g_array_index(list, struct found, i).kernel;
		described |= g_array_index(list, struct found, i).described;
	}
	if (kernel)
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
		    list->len > before && !described
			    ? "%s holds no kernel trace: its file 'metadata' is empty or describes "
			      "none"
		    : list->len > before
			    ? "%s holds no kernel trace, only user-space ones; whylate needs "
			      "LTTng's kernel domain (lttng enable-event --kernel …)"
			    : "%s is no trace: no directory in it has a file 'metadata'; give the "
			      "directory that LTTng wrote",
		    path);
	return false;
}

GPtrArray *traces_find(GPtrArray *paths, GError **error)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(struct found));
	GPtrArray *traces = g_ptr_array_new_with_free_func((GDestroyNotify) g_ptr_array_unref);
	GPtrArray *uuids = g_ptr_array_new(); /* borrowed from `list`, one per trace */
	bool ok = true;

	g_array_set_clear_func(list, found_clear);
	for (guint i = 0; i < paths->len && ok; i++)
		ok = search_path(g_ptr_array_index(paths, i), list, error);
	for (guint i = 0; i < list->len && ok; i++) {
		const struct found *found = &g_array_index(list, struct found, i);

		if (found->kernel) /* user-space traces are left alone */
			add_to_group(traces, uuids, found);
	}
	g_array_free(list, TRUE);
	g_ptr_array_free(uuids, TRUE);
	if (!ok)
		g_clear_pointer(&traces, g_ptr_array_unref);
	return traces;
}
