/* SPDX-License-Identifier: MIT */
/* See traces.h. */
#include "input/traces.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "foreign/foreign.h"
#include "metadata/metafile.h"
#include "util/error.h"

#define DEPTH_MAX 12

struct found {
	char *path;     /* owned */
	bool foreign;   /* it is a file of another tracer */
	struct metadata *metadata; /* owned; NULL: given on */
	bool kernel, user, lttng;
	bool described; /* says of which domain it is */
};

static void found_clear(gpointer data)
{
	struct found *found = data;

	g_free(found->path);
	metadata_free(found->metadata);
}

static void found_trace_free(gpointer data)
{
	struct found_trace *trace = data;

	g_ptr_array_free(trace->directories, TRUE);
	g_free(trace->file);
	g_free(trace->uuid);
	g_free(trace->trouble);
	g_free(trace);
}

static bool has_event(const struct metadata *metadata, const char *name)
{
	for (guint i = 0; i < metadata->streams->len; i++) {
		const struct stream_type *stream = g_ptr_array_index(metadata->streams, i);

		for (guint k = 0; k < stream->events->len; k++)
			if (strcmp(((struct event_type *) stream->events->pdata[k])->name, name) ==
			    0)
				return true;
	}
	return false;
}

static bool describe(const char *directory, const char *path, struct found *found, GError **error)
{
	struct metadata *metadata = metadata_read(path, error);
	const char *domain, *tracer;

	if (!metadata)
		return false;
	domain = metadata_text(metadata, "domain");
	tracer = metadata_text(metadata, "tracer_name");
	found->path = g_strdup(directory);
	found->metadata = metadata;
	found->described = domain != NULL;
	/* an LTTng 2.0 trace says nothing: its events do */
	found->kernel = domain ? strcmp(domain, "kernel") == 0
			       : has_event(metadata, "sched_switch") ||
					 has_event(metadata, "sched:sched_switch");
	found->user = domain && strcmp(domain, "ust") == 0;
	found->lttng = tracer ? g_str_has_prefix(tracer, "lttng") : found->kernel;
	return true;
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* describe() of each directory that holds a trace: a struct found in the list. */
static bool note_found(const char *directory, const char *metadata, void *list, GError **error)
{
	struct found found = {0};

	if (!metadata) {
		found.path = g_strdup(directory);
		found.foreign = true;
	} else if (!describe(directory, metadata, &found, error))
		return false;
	g_array_append_val((GArray *) list, found);
	return true;
}

static bool search(const char *directory, int depth, trace_visit *visit, void *data, GError **error)
{
	g_autofree char *metadata = g_build_filename(directory, "metadata", NULL);
	GError *cause = NULL;
	GPtrArray *names;
	const char *name;
	GDir *dir;
	bool ok = true;

	if (g_file_test(metadata, G_FILE_TEST_IS_REGULAR))
		return visit(directory, metadata, data, error);
	dir = g_dir_open(directory, 0, &cause);
	if (!dir) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE, "%s%s", cause->message,
			    g_error_matches(cause, G_FILE_ERROR, G_FILE_ERROR_ACCES)
				    ? ": you may not read this directory; its owner or root may"
				    : "");
		g_error_free(cause);
		return false;
	}
	names = g_ptr_array_new_with_free_func(g_free);
	while ((name = g_dir_read_name(dir)))
		if (*name != '.') /* LTTng's own, while it rotates: .tmp_new_chunk */
			g_ptr_array_add(names, g_build_filename(directory, name, NULL));
	g_dir_close(dir);
	g_ptr_array_sort(names, by_name);
	for (guint i = 0; i < names->len && ok && depth < DEPTH_MAX; i++) {
		const char *path = g_ptr_array_index(names, i);

		if (g_file_test(path, G_FILE_TEST_IS_DIR) &&
		    !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
			ok = search(path, depth + 1, visit, data, error);
		else if (foreign_may_be(path) && foreign_is(path))
			ok = visit(path, NULL, data, error);
	}
	g_ptr_array_free(names, TRUE);
	return ok;
}

bool traces_search(const char *path, trace_visit *visit, void *data, GError **error)
{
	if (g_file_test(path, G_FILE_TEST_IS_REGULAR) && foreign_is(path))
		return visit(path, NULL, data, error);
	return search(path, 0, visit, data, error);
}

static struct found_trace *new_trace(GPtrArray *traces)
{
	struct found_trace *trace = g_new0(struct found_trace, 1);

	trace->directories = g_ptr_array_new_with_free_func(trace_directory_free);
	g_ptr_array_add(traces, trace);
	return trace;
}

static struct found_trace *trace_of(GPtrArray *traces, const struct found *found)
{
	struct found_trace *trace;

	for (guint i = 0; i < traces->len && found->metadata->uuid; i++) {
		trace = g_ptr_array_index(traces, i);
		if (trace->user == found->user &&
		    g_strcmp0(trace->uuid, found->metadata->uuid) == 0)
			return trace;
	}
	trace = new_trace(traces);
	trace->uuid = g_strdup(found->metadata->uuid);
	trace->lttng = true;
	trace->user = found->user;
	return trace;
}

static void add_to_trace(GPtrArray *traces, struct found *found)
{
	struct found_trace *trace = trace_of(traces, found);
	struct trace_directory *directory;

	for (guint i = 0; i < trace->directories->len; i++)
		if (strcmp(((struct trace_directory *) g_ptr_array_index(trace->directories, i))
				   ->path,
			   found->path) == 0)
			return; /* named twice */
	trace->lttng &= found->lttng;
	trace->ctf2 |= found->metadata->ctf2;
	if (!trace->trouble)
		trace->trouble = g_strdup(found->metadata->trouble);
	directory = g_new0(struct trace_directory, 1);
	directory->path = g_strdup(found->path);
	directory->user = found->user;
	directory->metadata = g_steal_pointer(&found->metadata);
	g_ptr_array_add(trace->directories, directory);
}

/* All are of other tracers. */
static bool add_files(GPtrArray *traces, const GArray *list, GError **error)
{
	for (guint i = 0; i < list->len; i++) {
		const struct found *found = &g_array_index(list, struct found, i);

		if (!found->foreign) {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "%s and %s are of two tracers, which cannot be read together",
				    g_array_index(list, struct found, 0).path, found->path);
			return false;
		}
		new_trace(traces)->file = g_strdup(found->path);
	}
	return true;
}

/* The kernel's first: they say which hosts there are. */
static bool add_traces(GPtrArray *traces, GArray *list, GError **error)
{
	guint beside = 0, apart = 0;
	struct found_trace *first;

	for (guint i = 0; i < list->len; i++)
		if (g_array_index(list, struct found, i).foreign)
			return add_files(traces, list, error);
	for (guint i = 0; i < list->len; i++)
		if (g_array_index(list, struct found, i).kernel)
			add_to_trace(traces, &g_array_index(list, struct found, i));
	for (guint i = 0; i < list->len; i++) {
		struct found *found = &g_array_index(list, struct found, i);

		if (found->kernel)
			continue;
		beside++;
		apart += !found->user;
		if (found->user)
			add_to_trace(traces, found);
	}
	first = g_ptr_array_index(traces, 0);
	first->user_traces = beside;
	first->user_apart = apart;
	return true;
}

/* How much a recording tells: LTTng's, ftrace's, perf's, perf's converted. 0: of user space. */
static int fullness(const struct found *found)
{
	if (found->foreign)
		return g_str_has_suffix(found->path, ".data") ? 2 : 3;
	return !found->kernel ? 0 : found->lttng ? 4 : 1;
}

/* Of what one path holds, the fullest recording counts. They are of the same time, as a rule, and
 * would tell the same twice. User space goes with what Babeltrace can read, too. */
static void keep_fullest(GArray *list, guint from)
{
	int fullest = 0;

	for (guint i = from; i < list->len; i++)
		fullest = MAX(fullest, fullness(&g_array_index(list, struct found, i)));
	for (guint i = list->len; i-- > from;) {
		int own = fullness(&g_array_index(list, struct found, i));

		if (own ? own < fullest : fullest == 2 || fullest == 3)
			g_array_remove_index(list, i);
	}
}

/* Why there is no kernel trace in it. */
static void set_nothing(const GArray *list, guint from, const char *path, GError **error)
{
	bool described = false;

	for (guint i = from; i < list->len; i++)
		described |= g_array_index(list, struct found, i).described;
	g_set_error(
		error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
		list->len > from && !described
			? "%s holds no kernel trace: its file 'metadata' is empty or describes "
			  "none"
		: list->len > from
			? "%s holds no kernel trace, only user-space ones; whylate needs "
			  "LTTng's kernel domain (lttng enable-event --kernel …)"
			: "%s is not a trace: no directory in it has a file 'metadata'; give the "
			  "directory that LTTng wrote, a trace.dat, or a perf.data",
		path);
}

static bool search_path(const char *path, GArray *list, GError **error)
{
	guint before = list->len;
	struct stat status;
	bool kernel = false;

	if (stat(path, &status) != 0) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "cannot read the trace %s: %s", path, g_strerror(errno));
		return false;
	}
	if (!S_ISDIR(status.st_mode) && !(S_ISREG(status.st_mode) && foreign_is(path))) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s is not a trace: give the directory that LTTng wrote, a trace.dat, "
			    "or a perf.data",
			    path);
		return false;
	}
	if (!traces_search(path, note_found, list, error))
		return false;
	keep_fullest(list, before);
	for (guint i = before; i < list->len; i++)
		kernel |= g_array_index(list, struct found, i).kernel ||
			  g_array_index(list, struct found, i).foreign;
	if (!kernel)
		set_nothing(list, before, path, error);
	return kernel;
}

GPtrArray *traces_find(GPtrArray *paths, GError **error)
{
	GArray *list = g_array_new(FALSE, TRUE, sizeof(struct found));
	GPtrArray *traces = g_ptr_array_new_with_free_func(found_trace_free);
	bool ok = true;

	g_array_set_clear_func(list, found_clear);
	for (guint i = 0; i < paths->len && ok; i++)
		ok = search_path(g_ptr_array_index(paths, i), list, error);
	if (ok)
		ok = add_traces(traces, list, error);
	g_array_free(list, TRUE);
	if (!ok)
		g_clear_pointer(&traces, g_ptr_array_unref);
	return traces;
}
