/* SPDX-License-Identifier: MIT */
/* Files, clock, host and damage of a directory; see directory.h. */
#include "reader/directory.h"

#include <string.h>

#include "util/error.h"

static const struct clock_type *clock_of(const struct stream_directory *directory)
{
	const GArray *clocks = directory->metadata->clocks; /* LTTng has one */

	return clocks->len ? &g_array_index(clocks, struct clock_type, 0) : NULL;
}

static const char *clock_uuid(const struct stream_directory *directory)
{
	const struct clock_type *clock = clock_of(directory);

	return clock ? clock->uuid : NULL;
}

static void set_clock(struct stream_directory *directory)
{
	const struct clock_type *clock = clock_of(directory);
	int major = metadata_number(directory->metadata, "tracer_major");
	int minor = metadata_number(directory->metadata, "tracer_minor");

	directory->frequency = clock ? clock->frequency : 1000000000;
	directory->offset_cycles = clock ? clock->offset : 0;
	directory->offset_s = clock ? clock->offset_s : 0;
	/* lttng-modules before 2.11 may put an event's time just past its packet's end */
	directory->slack =
		major < 2 || (major == 2 && minor < 11) ? directory->frequency / 1000 : 0;
}

struct stream_directory *
stream_directory_new(const char *path, struct metadata *metadata, bool user)
{
	struct stream_directory *directory = g_new0(struct stream_directory, 1);

	directory->path = g_strdup(path);
	directory->user = user;
	directory->metadata = metadata;
	directory->files = g_ptr_array_new_with_free_func(stream_file_free);
	directory->tables = g_ptr_array_new_with_free_func(class_table_free);
	set_clock(directory);
	pthread_mutex_init(&directory->lock, NULL);
	return directory;
}

void stream_directory_free(gpointer data)
{
	struct stream_directory *directory = data;

	g_ptr_array_free(directory->tables, TRUE);
	g_ptr_array_free(directory->files, TRUE);
	metadata_free(directory->metadata);
	pthread_mutex_destroy(&directory->lock);
	g_free(directory->path);
	g_free(directory);
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

GPtrArray *stream_names(const char *directory, GError **error)
{
	g_autoptr(GError) cause = NULL;
	g_autoptr(GDir) dir = g_dir_open(directory, 0, &cause);
	GPtrArray *names;
	const char *name;

	if (!dir) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE, "%s", cause->message);
		return NULL;
	}
	names = g_ptr_array_new_with_free_func(g_free);
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(directory, name, NULL);

		if (*name != '.' && strcmp(name, "metadata") != 0 &&
		    g_file_test(path, G_FILE_TEST_IS_REGULAR))
			g_ptr_array_add(names, g_steal_pointer(&path));
	}
	g_ptr_array_sort(names, by_name);
	return names;
}

/* --- its host -------------------------------------------------------------- */

static enum syscall_abi
declare_classes(struct stream_directory *directory, const struct event_sink *sink)
{
	const GPtrArray *streams = directory->metadata->streams;
	enum syscall_abi abi = ABI_UNKNOWN;

	for (guint i = 0; i < streams->len; i++) {
		struct class_table *table =
			class_table_new(sink, directory->metadata, g_ptr_array_index(streams, i),
					directory->user);

		g_ptr_array_add(directory->tables, table);
		if (abi == ABI_UNKNOWN)
			abi = table->abi;
	}
	return abi;
}

static void add_host(struct stream_directory *directory, const struct event_sink *sink)
{
	const struct metadata *metadata = directory->metadata;
	const struct clock_type *clock = clock_of(directory);
	const char *tracer = metadata_text(metadata, "tracer_name");
	bool perf = g_strcmp0(tracer, "perf") == 0; /* perf data convert has other names */
	struct host_info info = {
		.hostname = metadata_text(metadata, perf ? "host" : "hostname"),
		.trace_uuid = metadata->uuid,
		.clock_uuid = clock_uuid(directory),
		.kernel_release = metadata_text(metadata, perf ? "release" : "kernel_release"),
		.tracer = perf ? "perf (converted to CTF)" : NULL,
		.tracer_major = metadata_number(metadata, "tracer_major"),
		.tracer_minor = metadata_number(metadata, "tracer_minor"),
		.tracer_patch = metadata_number(metadata, "tracer_patchlevel"),
		.clock_offset = clock ? clock_type_offset(clock) : 0,
		.has_clock_offset = clock != NULL,
		.abi = declare_classes(directory, sink)};

	directory->host = sink->add_host(sink->data, &info);
	sink->place(sink->data, directory->path);
}

/* "For equal clock UUIDs compare raw clock values" (lttng-events.md, 3). */
static void take_kernel_clock(struct stream_directory *directory, const GPtrArray *others)
{
	for (guint i = 0; i < others->len; i++) {
		const struct stream_directory *kernel = g_ptr_array_index(others, i);

		if (kernel->user || kernel->host != directory->host || !clock_uuid(directory) ||
		    g_strcmp0(clock_uuid(kernel), clock_uuid(directory)) != 0 ||
		    kernel->frequency != directory->frequency)
			continue;
		directory->offset_s = kernel->offset_s;
		directory->offset_cycles = kernel->offset_cycles;
		return;
	}
}

bool directory_join_host(struct stream_directory *directory, const struct event_sink *sink,
			 const GPtrArray *others)
{
	if (!directory->user) {
		add_host(directory, sink);
		return true;
	}
	directory->host =
		sink->user_host(sink->data, metadata_text(directory->metadata, "hostname"),
				clock_uuid(directory));
	if (directory->host == UINT32_MAX) {
		sink->leave_user(sink->data);
		return false;
	}
	take_kernel_clock(directory, others);
	declare_classes(directory, sink);
	return true;
}

/* --- its damage ------------------------------------------------------------ */

bool directory_is_growing(struct stream_directory *directory, const struct stream_file *file)
{
	bool growing;

	pthread_mutex_lock(&directory->lock);
	for (guint i = 0; i < directory->files->len && !directory->growth_asked; i++)
		directory->growing |=
			stream_file_changed(g_ptr_array_index(directory->files, i)) > 0;
	directory->growth_asked = true;
	growing = directory->growing = directory->growing || stream_file_changed(file) > 0;
	pthread_mutex_unlock(&directory->lock);
	return growing;
}

/* Why bytes of it could not be read, if the reason is not in the bytes. */
static const char *trouble_of(const struct stream_file *file)
{
	if (stream_file_changed(file) < 0)
		return "it became shorter while it was read";
	if (mapped_gone(file->mapped, 0, file->length))
		return "a disk or server failed while it was read";
	return file->cut ? "it is cut short: what followed is lost, and how much that was is not "
			   "known"
			 : NULL;
}

/* In one line for each directory. */
static void tell_user_damage(const struct stream_directory *directory,
			     const struct event_sink *sink)
{
	uint64_t lost = 0, total = 0;
	const char *trouble = directory->metadata->trouble;
	g_autoptr(GString) what = g_string_new(NULL);

	for (guint i = 0; i < directory->files->len; i++) {
		const struct stream_file *file = g_ptr_array_index(directory->files, i);

		lost += file->lost;
		total += file->length;
		trouble = trouble ? trouble : trouble_of(file);
	}
	if (!trouble && directory->growing)
		trouble = "it was still being written";
	if (lost)
		g_string_append_printf(what,
				       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
				       " bytes could not be read",
				       lost, total);
	if (trouble)
		g_string_append_printf(what, "%s%s", lost ? "; " : "", trouble);
	if (what->len)
		sink->damage_user(sink->data, directory->path, what->str);
}

static void tell_damage(const struct stream_directory *directory, const struct event_sink *sink)
{
	if (directory->metadata->dropped) {
		g_autofree char *path = g_build_filename(directory->path, "metadata", NULL);

		sink->damage(sink->data, path, 0, 0, directory->metadata->trouble);
	}
	for (guint i = 0; i < directory->files->len; i++) {
		const struct stream_file *file = g_ptr_array_index(directory->files, i);
		const char *trouble = trouble_of(file);

		if (file->lost || trouble)
			sink->damage(sink->data, file->path, file->lost, file->length, trouble);
	}
	if (directory->growing)
		sink->stop(sink->data, "it was still being written; stop the tracing session, or "
				       "take a snapshot, and read that");
}

void directory_tell_damage(const struct stream_directory *directory, const struct event_sink *sink)
{
	if (directory->user)
		tell_user_damage(directory, sink);
	else
		tell_damage(directory, sink);
}
