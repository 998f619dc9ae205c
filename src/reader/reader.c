/* SPDX-License-Identifier: MIT */
/* Directories, streams, and their merge; see reader.h. */
#include "reader/reader.h"

#include <string.h>
#include <sys/stat.h>

#include "reader/outliers.h"
#include "reader/stream.h"
#include "util/error.h"

struct reader {
	const struct event_sink *sink; /* borrowed */
	uint64_t events;         /* handed on */
	int64_t first, now;      /* ns: the first and the newest of the kernel's */
	GPtrArray *parts;        /* owned; struct part */
	GPtrArray *streams;      /* owned; struct stream */
	struct stream **heap;    /* owned; borrowed streams, the next one first */
	guint count;             /* in the heap */
};

static void part_free(gpointer data)
{
	struct part *part = data;

	if (part->tables)
		g_ptr_array_free(part->tables, TRUE);
	g_ptr_array_free(part->files, TRUE);
	metadata_free(part->metadata);
	g_free(part->path);
	g_free(part);
}

/* The clock that the streams' times are of: LTTng has one. */
static void set_clock(struct part *part)
{
	const struct clock_type *clock =
		part->metadata->clocks->len
			? &g_array_index(part->metadata->clocks, struct clock_type, 0)
			: NULL;

	part->frequency = clock ? clock->frequency : 1000000000;
	part->offset_cycles = clock ? clock->offset : 0;
	part->offset_s = clock ? clock->offset_s : 0;
	part->offset =
		(int64_t) ((uint64_t) part->offset_s * 1000000000 + (uint64_t) part->offset_cycles);
}

/* lttng-modules before 2.11 may put an event's time just past its packet's end. */
static void set_slack(struct part *part)
{
	int major = metadata_number(part->metadata, "tracer_major");
	int minor = metadata_number(part->metadata, "tracer_minor");

	part->slack = major < 2 || (major == 2 && minor < 11) ? part->frequency / 1000 : 0;
}

static int64_t clock_offset(const struct part *part)
{
	uint64_t cycles = (uint64_t) part->offset_cycles;

	if (part->frequency == 1000000000)
		return part->offset;
	return (int64_t) ((uint64_t) part->offset_s * 1000000000 +
			  cycles / part->frequency * 1000000000 +
			  (uint64_t) ((double) (cycles % part->frequency) * 1e9 /
				      (double) part->frequency));
}

static gint by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(char *const *) a, *(char *const *) b);
}

/* All files but the metadata, hidden ones and folders (index/); NULL and an error. */
static GPtrArray *stream_names(const char *directory, GError **error)
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

static struct stream *stream_for(struct reader *reader, guint first,
				 const struct ctf_packet *packet, bool own)
{
	struct stream *stream;

	for (guint i = first; i < reader->streams->len && !own; i++) {
		stream = g_ptr_array_index(reader->streams, i);
		if (stream->class_id == packet->stream_id && stream->id == packet->instance)
			return stream;
	}
	stream = stream_new();
	stream->class_id = packet->stream_id;
	stream->id = packet->has_instance ? packet->instance : reader->streams->len - first;
	g_ptr_array_add(reader->streams, stream);
	return stream;
}

/* The packets of one file go to the streams that they are of: one, as a rule. */
static void add_file(struct reader *reader, guint first, struct part *part,
		     struct stream_file *file)
{
	g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(struct ctf_packet));
	struct stream *stream = NULL;

	g_ptr_array_add(part->files, file);
	packets_scan(file, part->metadata, packets);
	for (guint i = 0; i < packets->len; i++) {
		const struct ctf_packet *packet = &g_array_index(packets, struct ctf_packet, i);

		if (!stream || packet->has_instance)
			stream = stream_for(reader, first, packet, !packet->has_instance);
		g_array_append_vals(stream->packets, packet, 1);
		g_ptr_array_add(stream->parts, part);
	}
}

struct packet_place {
	struct ctf_packet packet;
	gpointer part;
	guint number;
};

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct packet_place *x = a, *y = b;

	if (x->packet.begin != y->packet.begin)
		return x->packet.begin < y->packet.begin ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* Chunks may be given in any order, and snapshots overlap: packets by time, each once. */
static void sort_packets(struct stream *stream)
{
	GArray *packets = stream->packets;
	g_autoptr(GArray)
		places = g_array_sized_new(FALSE, FALSE, sizeof(struct packet_place), packets->len);
	guint kept = 0;

	for (guint i = 0; i < packets->len; i++) {
		struct packet_place place = {g_array_index(packets, struct ctf_packet, i),
					     stream->parts->pdata[i], i};

		g_array_append_val(places, place);
	}
	g_array_sort(places, by_begin);
	for (guint i = 0; i < places->len; i++) {
		const struct packet_place *place = &g_array_index(places, struct packet_place, i);
		const struct ctf_packet *at = &place->packet;
		const struct ctf_packet *last =
			kept ? &g_array_index(packets, struct ctf_packet, kept - 1) : NULL;

		if (last && at->has_sequence && at->sequence == last->sequence &&
		    at->begin == last->begin && at->end == last->end)
			continue;
		g_array_index(packets, struct ctf_packet, kept) = *at;
		stream->parts->pdata[kept++] = place->part;
	}
	g_array_set_size(packets, kept);
	g_ptr_array_set_size(stream->parts, (gint) kept);
}

static enum syscall_abi add_classes(struct reader *reader, struct part *part)
{
	enum syscall_abi abi = ABI_UNKNOWN;

	for (guint i = 0; i < part->metadata->streams->len; i++) {
		struct class_table *table =
			class_table_new(reader->sink, part->metadata,
					g_ptr_array_index(part->metadata->streams, i), part->user);

		g_ptr_array_add(part->tables, table);
		if (abi == ABI_UNKNOWN)
			abi = table->abi;
	}
	return abi;
}

static void add_host(struct reader *reader, struct part *part)
{
	const struct metadata *metadata = part->metadata;
	struct host_info info = {
		.hostname = metadata_text(metadata, "hostname"),
		.trace_uuid = metadata->uuid,
		.clock_uuid = metadata->clocks->len
				      ? g_array_index(metadata->clocks, struct clock_type, 0).uuid
				      : NULL,
		.kernel_release = metadata_text(metadata, "kernel_release"),
		.tracer_major = metadata_number(metadata, "tracer_major"),
		.tracer_minor = metadata_number(metadata, "tracer_minor"),
		.tracer_patch = metadata_number(metadata, "tracer_patchlevel"),
		.clock_offset = clock_offset(part),
		.has_clock_offset = metadata->clocks->len > 0,
		.abi = add_classes(reader, part)};

	part->host = reader->sink->add_host(reader->sink->data, &info);
	reader->sink->place(reader->sink->data, part->path);
}

static const char *clock_uuid(const struct part *part)
{
	const GArray *clocks = part->metadata->clocks;

	return clocks->len ? g_array_index(clocks, struct clock_type, 0).uuid : NULL;
}

/* "For equal clock UUIDs compare raw clock values" (lttng-events.md, 3). */
static void take_kernel_clock(struct reader *reader, struct part *part)
{
	for (guint i = 0; i < reader->parts->len; i++) {
		const struct part *kernel = g_ptr_array_index(reader->parts, i);

		if (kernel->user || kernel->host != part->host || !clock_uuid(part) ||
		    g_strcmp0(clock_uuid(kernel), clock_uuid(part)) != 0 ||
		    kernel->frequency != part->frequency)
			continue;
		part->offset = kernel->offset;
		part->offset_s = kernel->offset_s;
		part->offset_cycles = kernel->offset_cycles;
		return;
	}
}

/* False: it is of no host whose kernel was traced. */
static bool join_host(struct reader *reader, struct part *part)
{
	part->host = reader->sink->user_host(
		reader->sink->data, metadata_text(part->metadata, "hostname"), clock_uuid(part));
	if (part->host == UINT32_MAX) {
		reader->sink->leave_user(reader->sink->data);
		return false;
	}
	take_kernel_clock(reader, part);
	add_classes(reader, part);
	return true;
}

void trace_directory_free(gpointer data)
{
	struct trace_directory *directory = data;

	g_free(directory->path);
	metadata_free(directory->metadata);
	g_free(directory);
}

static bool add_directory(struct reader *reader, guint first, struct trace_directory *directory,
			  GError **error)
{
	struct part *part = g_new0(struct part, 1);
	g_autoptr(GPtrArray) names = NULL;

	part->path = g_strdup(directory->path);
	part->user = directory->user;
	part->metadata = g_steal_pointer(&directory->metadata);
	part->files = g_ptr_array_new_with_free_func(stream_file_free);
	part->tables = g_ptr_array_new_with_free_func(class_table_free);
	g_ptr_array_add(reader->parts, part);
	names = stream_names(directory->path, error);
	if (!names)
		return false;
	set_clock(part);
	set_slack(part);
	if (!part->user)
		add_host(reader, part);
	else if (!join_host(reader, part))
		return true;
	for (guint i = 0; i < names->len; i++) {
		struct stream_file *file = stream_file_open(g_ptr_array_index(names, i), error);

		if (!file)
			return false;
		add_file(reader, first, part, file);
	}
	return true;
}

/* --- the merge --------------------------------------------------------------- */

/* "the lower CPU first (hosts in the order given), … by stream class and stream id" */
static bool earlier(const struct stream *a, const struct stream *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->host != b->host)
		return a->host < b->host;
	if (a->user != b->user)
		return b->user;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	if (a->trace != b->trace)
		return a->trace < b->trace;
	if (a->class_id != b->class_id)
		return a->class_id < b->class_id;
	return a->id < b->id;
}

static void sift(struct reader *reader, guint at)
{
	struct stream *moved = reader->heap[at];

	for (;;) {
		guint child = 2 * at + 1;

		if (child >= reader->count)
			break;
		if (child + 1 < reader->count &&
		    earlier(reader->heap[child + 1], reader->heap[child]))
			child++;
		if (!earlier(reader->heap[child], moved))
			break;
		reader->heap[at] = reader->heap[child];
		at = child;
	}
	reader->heap[at] = moved;
}

static void fill_heap(struct reader *reader)
{
	reader->heap = g_new(struct stream *, reader->streams->len + 1);
	for (guint i = 0; i < reader->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(reader->streams, i);

		stream_next(stream);
		if (stream->item != STREAM_END)
			reader->heap[reader->count++] = stream;
	}
	for (guint i = reader->count / 2; i-- > 0;)
		sift(reader, i);
}

/* The CPU of a stream, and whether it is the first of its channel there. */
static void place_stream(struct reader *reader, guint index, guint trace)
{
	struct stream *stream = g_ptr_array_index(reader->streams, index);
	const struct part *part = g_ptr_array_index(stream->parts, 0);

	stream->host = part->host;
	stream->user = part->user;
	stream->trace = part->user ? trace : 0; /* a kernel's are told apart by the rest */
	stream->cpu = g_array_index(stream->packets, struct ctf_packet, 0).cpu;
	stream->number = index;
}

/* The streams of one trace, from `first` on, are complete. */
static void finish_streams(struct reader *reader, guint first, guint trace)
{
	int64_t until = INT64_MIN;

	streams_drop_far(reader->streams, first);
	for (guint i = first; i < reader->streams->len; i++) {
		sort_packets(g_ptr_array_index(reader->streams, i));
		place_stream(reader, i, trace);
		until = MAX(until, stream_end_time(g_ptr_array_index(reader->streams, i)));
	}
	for (guint i = first; i < reader->streams->len; i++)
		((struct stream *) g_ptr_array_index(reader->streams, i))->until = until;
}

char *reader_check_user(const GPtrArray *directories)
{
	char *trouble = NULL;

	for (guint i = 0; i < directories->len && !trouble; i++) {
		const struct trace_directory *directory = g_ptr_array_index(directories, i);
		g_autoptr(GError) error = NULL;
		g_autoptr(GPtrArray) names = stream_names(directory->path, &error);

		for (guint k = 0; names && k < names->len && !error; k++) {
			g_autoptr(GArray)
				packets = g_array_new(FALSE, FALSE, sizeof(struct ctf_packet));
			struct stream_file *file = stream_file_open(names->pdata[k], &error);

			if (!file)
				break;
			packets_scan(file, directory->metadata, packets);
			if (file->lost || file->cut)
				trouble = g_strdup_printf("%s is damaged", file->path);
			stream_file_free(file);
		}
		if (error && !trouble)
			trouble = g_strdup(error->message);
	}
	return trouble;
}

/* One that cannot be read is no reason to refuse the kernel's. */
static void leave_out(struct reader *reader, guint first, GError *cause)
{
	const struct part *part = g_ptr_array_index(reader->parts, reader->parts->len - 1);

	reader->sink->damage_user(reader->sink->data, part->path, cause->message);
	g_ptr_array_set_size(reader->streams, (gint) first);
	g_error_free(cause);
}

struct reader *reader_new(const struct event_sink *sink, GPtrArray *traces, GError **error)
{
	struct reader *reader = g_new0(struct reader, 1);
	GError *cause = NULL;

	reader->sink = sink;
	reader->first = INT64_MAX;
	reader->parts = g_ptr_array_new_with_free_func(part_free);
	reader->streams = g_ptr_array_new_with_free_func(stream_free);
	for (guint i = 0; i < traces->len && !cause; i++) {
		GPtrArray *directories = g_ptr_array_index(traces, i);
		guint first = reader->streams->len;

		for (guint k = 0; k < directories->len && !cause; k++)
			add_directory(reader, first, g_ptr_array_index(directories, k), &cause);
		if (cause && directories->len &&
		    ((struct trace_directory *) g_ptr_array_index(directories, 0))->user)
			leave_out(reader, first, g_steal_pointer(&cause));
		else
			finish_streams(reader, first, i);
	}
	if (cause) {
		g_propagate_error(error, cause);
		reader_free(reader);
		return NULL;
	}
	fill_heap(reader);
	return reader;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	g_ptr_array_free(reader->streams, TRUE);
	g_ptr_array_free(reader->parts, TRUE);
	g_free(reader->heap);
	g_free(reader);
}

static bool begun_before(const struct reader *reader, const struct stream *stream)
{
	for (guint i = 0; i < reader->streams->len; i++) {
		const struct stream *other = g_ptr_array_index(reader->streams, i);

		if (other->begun && other->host == stream->host && other->cpu == stream->cpu &&
		    other->class_id == stream->class_id)
			return true;
	}
	return false;
}

/* Notes where the event is that was just taken at `at`, if such ones are rare. */
static void note_place(const struct reader *reader, const struct event *event,
		       const struct stream *stream, uint64_t at)
{
	struct places_of_name *of_name = event_places_of(reader->sink->places, event->name);
	struct event_place place;

	if (of_name->many)
		return;
	place = stream_place(stream, at);
	place.number = reader->events;
	event_places_note(of_name, &place);
}

static void tell_lost(const struct reader *reader, const struct stream *stream, int64_t count)
{
	struct lost_events lost = {.host = stream->host,
				   .cpu = stream->cpu,
				   .begin = stream->lost_begin,
				   .end = stream->lost_end,
				   .count = count,
				   .packets = stream->item == STREAM_LOST_PACKETS,
				   .user = stream->user};

	reader->sink->lose(reader->sink->data, &lost);
}

static void tell_event(struct reader *reader, const struct stream *stream,
		       const struct event *event, uint64_t at)
{
	const struct event_sink *sink = reader->sink;

	if (sink->places)
		note_place(reader, event, stream, at);
	if (!stream->user) {
		reader->first = MIN(reader->first, event->time);
		reader->now = event->time;
	}
	reader->events++;
	sink->event(sink->data, event);
}

static void tell(struct reader *reader, struct stream *stream, struct event *event)
{
	uint64_t at = stream->cursor.at;

	switch (stream->item) {
	case STREAM_EVENT:
		if (stream_take(stream, event))
			tell_event(reader, stream, event, at);
		else
			tell_lost(reader, stream, -1);
		break;
	case STREAM_BEGINS: /* a later chunk of the same channel does not begin it again */
		if (stream->user || begun_before(reader, stream))
			break;
		stream->begun = true;
		reader->sink->begin(reader->sink->data, stream->host, stream->cpu, stream->time);
		break;
	default:
		tell_lost(reader, stream, stream->lost_count);
		break;
	}
}

bool reader_run(struct reader *reader, uint64_t count)
{
	struct event event;

	for (; reader->count && count > 0; count--) {
		struct stream *stream = reader->heap[0];

		tell(reader, stream, &event);
		stream_next(stream);
		if (stream->item == STREAM_END)
			reader->heap[0] = reader->heap[--reader->count];
		if (reader->count)
			sift(reader, 0);
	}
	return reader->count > 0;
}

double reader_done(const struct reader *reader)
{
	int64_t end = INT64_MIN;

	for (guint i = 0; i < reader->streams->len; i++) {
		const struct stream *stream = g_ptr_array_index(reader->streams, i);

		if (!stream->user)
			end = MAX(end, stream->until);
	}
	return reader->count == 0 ? 1
	       : end <= reader->first
		       ? 0
		       : CLAMP((double) (reader->now - reader->first) /
				       (double) (end - reader->first),
			       0, 1);
}

bool reader_take_at(struct reader *reader, const struct event_place *place, GError **error)
{
	struct event event;

	if (place->stream >= reader->streams->len ||
	    !stream_take_at(g_ptr_array_index(reader->streams, place->stream), place, &event)) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "the trace was changed while it was read");
		return false;
	}
	reader->sink->event(reader->sink->data, &event);
	return true;
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
static void tell_user_damage(const struct event_sink *sink, const struct part *part)
{
	uint64_t lost = 0, total = 0;
	const char *trouble = part->metadata->trouble;
	g_autoptr(GString) what = g_string_new(NULL);

	for (guint i = 0; i < part->files->len; i++) {
		const struct stream_file *file = g_ptr_array_index(part->files, i);

		lost += file->lost;
		total += file->length;
		trouble = trouble ? trouble : trouble_of(file);
	}
	if (!trouble && part->growing)
		trouble = "it was still being written";
	if (lost)
		g_string_append_printf(what,
				       "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
				       " bytes could not be read",
				       lost, total);
	if (trouble)
		g_string_append_printf(what, "%s%s", lost ? "; " : "", trouble);
	if (what->len)
		sink->damage_user(sink->data, part->path, what->str);
}

void reader_tell_damage(const struct reader *reader)
{
	const struct event_sink *sink = reader->sink;

	for (guint i = 0; i < reader->parts->len; i++) {
		const struct part *part = g_ptr_array_index(reader->parts, i);

		if (part->user) {
			tell_user_damage(sink, part);
			continue;
		}
		if (part->metadata->dropped) {
			g_autofree char *path = g_build_filename(part->path, "metadata", NULL);

			sink->damage(sink->data, path, 0, 0, part->metadata->trouble);
		}
		for (guint k = 0; k < part->files->len; k++) {
			const struct stream_file *file = g_ptr_array_index(part->files, k);

			const char *trouble = trouble_of(file);

			if (file->lost || trouble)
				sink->damage(sink->data, file->path, file->lost, file->length,
					     trouble);
		}
		if (part->growing)
			sink->stop(sink->data,
				   "it was still being written; stop the tracing session, or "
				   "take a snapshot, and read that");
	}
}
