/* SPDX-License-Identifier: MIT */
/* Directories, streams, and their merge; see reader.h. */
#include "reader/reader.h"

#include <string.h>

#include "reader/outliers.h"
#include "reader/stream.h"
#include "util/error.h"

struct reader {
	const struct event_sink *sink; /* borrowed */
	uint64_t events;         /* handed on */
	int64_t first, now;      /* ns: the first and the newest of the kernel's */
	GPtrArray *directories;  /* owned; struct stream_directory */
	GPtrArray *streams;      /* owned; struct stream */
	struct stream **heap;    /* owned; borrowed streams, the next one first */
	guint count;             /* in the heap */
	bool on_record;          /* reader_next_record() told of the heap's first, */
	uint64_t record_at;      /* … which begins there behind its header */
	guint chunk_from; /* the first of the directories that is of the newest chunk */
	int64_t settled; /* ns: see reader_settled() */
};

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
static void add_file(struct reader *reader, guint first, struct stream_directory *directory,
		     struct stream_file *file)
{
	g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(struct ctf_packet));
	struct stream *stream = NULL;

	g_ptr_array_add(directory->files, file);
	packets_scan(file, directory->metadata, packets);
	for (guint i = 0; i < packets->len; i++) {
		const struct ctf_packet *packet = &g_array_index(packets, struct ctf_packet, i);

		if (!stream || packet->has_instance)
			stream = stream_for(reader, first, packet, !packet->has_instance);
		g_array_append_vals(stream->packets, packet, 1);
		g_ptr_array_add(stream->directories, directory);
	}
}

struct packet_place {
	struct ctf_packet packet;
	gpointer directory;
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
					     stream->directories->pdata[i], i};

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
		stream->directories->pdata[kept++] = place->directory;
	}
	g_array_set_size(packets, kept);
	g_ptr_array_set_size(stream->directories, (gint) kept);
}

void trace_directory_free(gpointer data)
{
	struct trace_directory *directory = data;

	g_free(directory->path);
	metadata_free(directory->metadata);
	g_free(directory);
}

static bool add_directory(struct reader *reader, guint first, struct trace_directory *given,
			  GError **error)
{
	struct stream_directory *directory =
		stream_directory_new(given->path, g_steal_pointer(&given->metadata), given->user);
	g_autoptr(GPtrArray) names = stream_names(given->path, error);

	g_ptr_array_add(reader->directories, directory);
	if (!names)
		return false;
	if (!directory_join_host(directory, reader->sink, reader->directories))
		return true;
	for (guint i = 0; i < names->len; i++) {
		struct stream_file *file = stream_file_open(g_ptr_array_index(names, i), error);

		if (!file)
			return false;
		add_file(reader, first, directory, file);
	}
	return true;
}

/* --- the merge --------------------------------------------------------------- */

static void sift(struct reader *reader, guint at)
{
	struct stream *moved = reader->heap[at];

	for (;;) {
		guint child = 2 * at + 1;

		if (child >= reader->count)
			break;
		if (child + 1 < reader->count &&
		    stream_before(reader->heap[child + 1], reader->heap[child]))
			child++;
		if (!stream_before(reader->heap[child], moved))
			break;
		reader->heap[at] = reader->heap[child];
		at = child;
	}
	reader->heap[at] = moved;
}

/* Of the streams, each at its next item. */
static void order_heap(struct reader *reader)
{
	reader->count = 0;
	for (guint i = 0; i < reader->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(reader->streams, i);

		if (stream->item != STREAM_END)
			reader->heap[reader->count++] = stream;
	}
	for (guint i = reader->count / 2; i-- > 0;)
		sift(reader, i);
}

static void fill_heap(struct reader *reader)
{
	for (guint i = 0; i < reader->streams->len; i++) {
		stream_begin(g_ptr_array_index(reader->streams, i), reader->streams->len);
		stream_next(g_ptr_array_index(reader->streams, i));
	}
	order_heap(reader);
}

/* The CPU of a stream, and whether it is the first of its channel there. */
static void place_stream(struct reader *reader, guint index, guint trace)
{
	struct stream *stream = g_ptr_array_index(reader->streams, index);
	const struct stream_directory *directory = g_ptr_array_index(stream->directories, 0);

	stream->host = directory->host;
	stream->user = directory->user;
	stream->trace = directory->user ? trace : 0; /* a kernel's are told apart by the rest */
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
	const struct stream_directory *directory =
		g_ptr_array_index(reader->directories, reader->directories->len - 1);

	reader->sink->damage_user(reader->sink->data, directory->path, cause->message);
	g_ptr_array_set_size(reader->streams, (gint) first);
	g_error_free(cause);
}

struct reader *reader_new(const struct event_sink *sink, GPtrArray *traces, GError **error)
{
	struct reader *reader = g_new0(struct reader, 1);
	GError *cause = NULL;

	reader->sink = sink;
	reader->first = INT64_MAX;
	reader->directories = g_ptr_array_new_with_free_func(stream_directory_free);
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
	reader->heap = g_new(struct stream *, reader->streams->len + 1);
	fill_heap(reader);
	return reader;
}

void reader_free(struct reader *reader)
{
	if (!reader)
		return;
	g_ptr_array_free(reader->streams, TRUE);
	g_ptr_array_free(reader->directories, TRUE);
	g_free(reader->heap);
	g_free(reader);
}

/* --- chunk after chunk ------------------------------------------------------- */

static struct stream *same_stream(const struct reader *reader, const struct stream *chunk)
{
	for (guint i = 0; i < reader->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(reader->streams, i);

		if (stream != chunk && stream->class_id == chunk->class_id &&
		    stream->id == chunk->id && stream->host == chunk->host)
			return stream;
	}
	return NULL;
}

/* The packets of a chunk behind those of the chunks before it. What would come before them was
 * passed already, and is lost. */
static void join_packets(struct stream *stream, const struct stream *chunk)
{
	for (guint i = 0; i < chunk->packets->len; i++) {
		const struct ctf_packet *packet =
			&g_array_index(chunk->packets, struct ctf_packet, i);
		const struct ctf_packet *last = &g_array_index(stream->packets, struct ctf_packet,
							       stream->packets->len - 1);

		if (packet->begin < last->begin ||
		    (packet->begin == last->begin && packet->sequence == last->sequence)) {
			packet->file->lost += packet->size / 8;
			continue;
		}
		g_array_append_vals(stream->packets, packet, 1);
		g_ptr_array_add(stream->directories, chunk->directories->pdata[i]);
	}
	if (stream->packet) /* the array may have moved */
		stream->packet =
			&g_array_index(stream->packets, struct ctf_packet, stream->next - 1);
}

/* Each of the chunk's streams, from `first` on, goes on with the one that it is of; new ones
 * stay. */
static void join_streams(struct reader *reader, guint first)
{
	for (guint i = first; i < reader->streams->len;) {
		struct stream *chunk = g_ptr_array_index(reader->streams, i);
		struct stream *stream = same_stream(reader, chunk);

		if (!stream) {
			chunk->goes_on = true;
			chunk->number = i++;
			continue;
		}
		join_packets(stream, chunk);
		g_ptr_array_remove_index(reader->streams, i);
	}
}

bool reader_add_chunk(struct reader *reader, GPtrArray *directories, GError **error)
{
	guint first = reader->streams->len;

	reader->chunk_from = reader->directories->len;
	for (guint k = 0; k < directories->len; k++)
		if (!add_directory(reader, first, g_ptr_array_index(directories, k), error)) {
			g_ptr_array_set_size(reader->streams, (gint) first);
			return false;
		}
	finish_streams(reader, first, 0);
	reader->settled = INT64_MAX;
	for (guint i = first; i < reader->streams->len; i++)
		reader->settled = MIN(reader->settled,
				      stream_end_time(g_ptr_array_index(reader->streams, i)));
	join_streams(reader, first);
	reader->heap = g_renew(struct stream *, reader->heap, reader->streams->len + 1);
	for (guint i = 0; i < reader->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(reader->streams, i);

		if (stream->item == STREAM_END || i >= first)
			stream_next(stream);
	}
	order_heap(reader);
	return true;
}

void reader_end_chunks(struct reader *reader)
{
	int64_t until = reader_end(reader);

	for (guint i = 0; i < reader->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(reader->streams, i);

		stream->until = until;
		stream->goes_on = false;
		if (stream->item == STREAM_END)
			stream_next(stream);
	}
	order_heap(reader);
}

int64_t reader_settled(const struct reader *reader)
{
	return reader->settled;
}

/* Packets that have been read, but for the one that is being read and the one before it. */
static void forget_packets(struct stream *stream)
{
	guint count = stream->next > 2 ? stream->next - 2 : 0;

	g_array_remove_range(stream->packets, 0, count);
	g_ptr_array_remove_range(stream->directories, 0, count);
	stream->next -= count;
	if (stream->packet)
		stream->packet =
			&g_array_index(stream->packets, struct ctf_packet, stream->next - 1);
	else
		stream->file = NULL;
}

static bool is_used(const struct reader *reader, const struct stream_directory *directory)
{
	for (guint i = 0; i < reader->streams->len; i++) {
		const struct stream *stream = g_ptr_array_index(reader->streams, i);

		if (stream->directory == directory ||
		    g_ptr_array_find(stream->directories, directory, NULL))
			return true;
	}
	return false;
}

void reader_forget_chunks(struct reader *reader)
{
	for (guint i = 0; i < reader->streams->len; i++)
		forget_packets(g_ptr_array_index(reader->streams, i));
	for (guint i = reader->directories->len; i-- > 0;)
		if (!is_used(reader, g_ptr_array_index(reader->directories, i)))
			g_ptr_array_remove_index(reader->directories, i);
}

void reader_tell_chunk_damage(const struct reader *reader)
{
	for (guint i = reader->chunk_from; i < reader->directories->len; i++)
		directory_tell_damage(g_ptr_array_index(reader->directories, i), reader->sink);
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

/* A later chunk of the same channel does not begin it again. */
static void tell_begin(const struct reader *reader, struct stream *stream)
{
	if (stream->user || begun_before(reader, stream))
		return;
	stream->begun = true;
	reader->sink->begin(reader->sink->data, stream->host, stream->cpu, stream->time);
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
	case STREAM_BEGINS:
		tell_begin(reader, stream);
		break;
	default:
		tell_lost(reader, stream, stream->lost_count);
		break;
	}
}

/* It is before those that follow it in the heap, mostly: events of a CPU come in bursts. */
static inline bool stays_first(const struct reader *reader)
{
	int64_t time = reader->heap[0]->time;

	return (reader->count < 2 || time < reader->heap[1]->time) &&
	       (reader->count < 3 || time < reader->heap[2]->time);
}

/* The heap's first stream goes on. */
static void go_on(struct reader *reader)
{
	stream_next(reader->heap[0]);
	if (reader->heap[0]->item == STREAM_END)
		reader->heap[0] = reader->heap[--reader->count];
	if (reader->count && !stays_first(reader))
		sift(reader, 0);
}

int64_t reader_time(const struct reader *reader)
{
	return reader->count ? reader->heap[0]->time : INT64_MIN;
}

bool reader_run(struct reader *reader, uint64_t count, int64_t until)
{
	struct event event;

	for (; reader->count && reader->heap[0]->time < until && count > 0; count--) {
		tell(reader, reader->heap[0], &event);
		go_on(reader);
	}
	return reader->count && reader->heap[0]->time < until;
}

GPtrArray *reader_streams(const struct reader *reader)
{
	return reader->streams;
}

const struct event_sink *reader_sink(const struct reader *reader)
{
	return reader->sink;
}

bool reader_is_plain(const struct reader *reader)
{
	for (guint i = 0; i < reader->directories->len; i++) {
		const struct stream_directory *directory =
			g_ptr_array_index(reader->directories, i);

		for (guint k = 0; k < directory->tables->len; k++)
			if (((struct class_table *) directory->tables->pdata[k])->has_callstacks)
				return false;
		if (directory->user)
			return false;
	}
	return true;
}

void reader_tell_begins(struct reader *reader, int64_t until)
{
	for (guint i = 0; i < reader->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(reader->streams, i);

		if (stream->item == STREAM_BEGINS && stream->time < until)
			tell_begin(reader, stream);
	}
}

void reader_go_on(struct reader *reader)
{
	order_heap(reader);
}

/* Calls `visit` with each file. */
static void each_file(const struct reader *reader,
		      void (*visit)(struct stream_file *file, guint number, GArray *lost),
		      GArray *lost)
{
	guint number = 0;

	for (guint i = 0; i < reader->directories->len; i++) {
		const struct stream_directory *directory =
			g_ptr_array_index(reader->directories, i);

		for (guint k = 0; k < directory->files->len; k++)
			visit(g_ptr_array_index(directory->files, k), number++, lost);
	}
}

static void note_lost(struct stream_file *file, guint number, GArray *lost)
{
	(void) number;
	g_array_append_val(lost, file->lost);
}

static void set_lost(struct stream_file *file, guint number, GArray *lost)
{
	file->lost = g_array_index(lost, uint64_t, number);
}

GArray *reader_lost_bytes(const struct reader *reader)
{
	GArray *lost = g_array_new(FALSE, FALSE, sizeof(uint64_t));

	each_file(reader, note_lost, lost);
	return lost;
}

void reader_lost_bytes_were(struct reader *reader, GArray *lost)
{
	each_file(reader, set_lost, lost);
}

int64_t reader_begin(struct reader *reader)
{
	int64_t begin = INT64_MAX;

	for (guint i = 0; i < reader->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(reader->streams, i);

		while (stream->item != STREAM_EVENT && stream->item != STREAM_END)
			stream_next(stream);
		if (stream->item == STREAM_EVENT)
			begin = MIN(begin, stream->time);
	}
	reader_seek(reader, INT64_MIN);
	return begin;
}

int64_t reader_end(const struct reader *reader)
{
	int64_t end = INT64_MIN;

	for (guint i = 0; i < reader->streams->len; i++)
		end = MAX(end, stream_end_time(g_ptr_array_index(reader->streams, i)));
	return end;
}

uint64_t reader_bytes(const struct reader *reader)
{
	uint64_t bytes = 0;

	for (guint i = 0; i < reader->directories->len; i++) {
		const struct stream_directory *directory =
			g_ptr_array_index(reader->directories, i);

		for (guint k = 0; k < directory->files->len; k++)
			bytes += ((struct stream_file *) directory->files->pdata[k])->length;
	}
	return bytes;
}

void reader_seek(struct reader *reader, int64_t time)
{
	for (guint i = 0; i < reader->streams->len; i++)
		stream_seek(g_ptr_array_index(reader->streams, i), time);
	reader->on_record = false;
	fill_heap(reader);
}

bool reader_next_record(struct reader *reader, struct reader_record *record)
{
	struct event event;

	if (reader->on_record)
		go_on(reader);
	reader->on_record = false;
	for (; reader->count; go_on(reader)) {
		struct stream *stream = reader->heap[0];

		reader->record_at = stream->cursor.at;
		if (stream->item != STREAM_EVENT || !stream_take(stream, &event))
			continue;
		*record = (struct reader_record) {
			.time = event.time,
			.host = stream->host,
			.cpu = stream->cpu,
			.user = stream->user,
			.name = class_table_find(stream->table, stream->event_id)->event->name};
		reader->on_record = true;
		return true;
	}
	return false;
}

void reader_record_text(const struct reader *reader, GString *text)
{
	if (reader->on_record)
		stream_text(reader->heap[0], reader->record_at, text);
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

void reader_tell_damage(const struct reader *reader)
{
	for (guint i = 0; i < reader->directories->len; i++)
		directory_tell_damage(g_ptr_array_index(reader->directories, i), reader->sink);
}
