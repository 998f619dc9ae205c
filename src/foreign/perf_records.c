/* SPDX-License-Identifier: MIT */
/* Samples, losses, and their order; see perf_records.h. */
#include "foreign/perf_records.h"

#include <string.h>

#define AHEAD 16
#define STACK_MAX 512
#define MISC_MODE 7 /* of misc: where the CPU was */
#define MODE_KERNEL 1
#define MISC_COMM_EXEC (1 << 13)
#define MAPS_MAX 1024 /* of one exec */

#define WORDS_BEFORE                                                                               \
	(SAMPLE_IDENTIFIER | SAMPLE_IP | SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR | SAMPLE_ID |      \
	 SAMPLE_STREAM_ID | SAMPLE_CPU | SAMPLE_PERIOD)

/* Of read_format. */
enum {
	READ_ENABLED = 1 << 0,
	READ_RUNNING = 1 << 1,
	READ_ID = 1 << 2,
	READ_GROUP = 1 << 3,
	READ_LOST = 1 << 4,
};

/* Call chains have these between their parts (PERF_CONTEXT_KERNEL, _USER). */
#define CONTEXT_KERNEL ((uint64_t) -128)
#define CONTEXT_USER ((uint64_t) -512)
#define CONTEXT_FIRST ((uint64_t) -4095)

struct ahead {
	struct bytes record;
	struct perf_stamp stamp;
	uint32_t type;
};

struct perf_stream {
	struct foreign_stream stream;
	struct perf_file *file;         /* borrowed */
	const struct perf_cpu *cpu;     /* borrowed */
	struct record_classes *classes; /* borrowed */
	struct event_class sample, load, build_id;
	guint run;
	uint64_t at;                    /* in that run */
	struct ahead ahead[AHEAD];      /* in order of time */
	guint count;
	struct ahead now;
	uint64_t latest;
	uint64_t kernel[STACK_MAX], user[STACK_MAX];
	struct perf_map map;            /* told last */
	guint told;       /* of the file's, so many */
	bool has_time, id_next;
};

static bool is_told(const struct perf_file *file, uint32_t type)
{
	switch (type) {
	case PERF_SAMPLE:
	case PERF_LOST:
	case PERF_LOST_SAMPLES:
		return true;
	case PERF_COMM:
	case PERF_MMAP:
	case PERF_MMAP2:
		return file->stacks;
	default:
		return false;
	}
}

/* The next record of this CPU in the file that has a time. */
static bool read_ahead(struct perf_stream *stream, struct ahead *ahead)
{
	const struct perf_file *file = stream->file;

	while (stream->run < stream->cpu->runs->len) {
		const struct perf_run *run =
			&g_array_index(stream->cpu->runs, struct perf_run, stream->run);
		struct bytes head;
		uint16_t size;

		if (stream->at >= run->size) {
			stream->run++;
			stream->at = 0;
			continue;
		}
		head = bytes_part(&file->records, run->offset + stream->at, PERF_HEAD);
		ahead->type = bytes_u32(&head);
		bytes_u16(&head);
		size = bytes_u16(&head);
		if (size < PERF_HEAD) { /* the file was changed while it was read */
			stream->at = run->size;
			continue;
		}
		ahead->record = bytes_part(&file->records, run->offset + stream->at, size);
		stream->at += size;
		if (is_told(file, ahead->type) && perf_stamp(file, &ahead->record, &ahead->stamp))
			return true;
	}
	return false;
}

static void fill(struct perf_stream *stream)
{
	while (stream->count < AHEAD) {
		struct ahead ahead;
		guint at = stream->count;

		if (!read_ahead(stream, &ahead))
			return;
		for (; at > 0 && stream->ahead[at - 1].stamp.time > ahead.stamp.time; at--)
			stream->ahead[at] = stream->ahead[at - 1];
		stream->ahead[at] = ahead;
		stream->count++;
	}
}

/* A time that is far from all others is damaged: everything between would be its wait. */
static bool is_off(const struct perf_stream *stream)
{
	const struct ahead *ahead = stream->ahead;
	uint64_t time = ahead[0].stamp.time;

	if (stream->has_time)
		return time > stream->latest && time - stream->latest > JUMP_MAX;
	return stream->count > 2 && ahead[1].stamp.time - time > JUMP_MAX &&
	       ahead[2].stamp.time - ahead[1].stamp.time <= JUMP_MAX;
}

/* Drops what is off. */
static void fill_sound(struct perf_stream *stream)
{
	for (fill(stream); stream->count && is_off(stream); fill(stream)) {
		stream->file->damaged += stream->ahead[0].record.size;
		memmove(stream->ahead, stream->ahead + 1, --stream->count * sizeof *stream->ahead);
	}
}

static int64_t lost_count(const struct ahead *ahead)
{
	struct bytes body = bytes_part(&ahead->record, PERF_HEAD, UINT64_MAX);
	uint64_t count;

	if (ahead->type == PERF_LOST)
		bytes_u64(&body); /* whose */
	count = bytes_u64(&body);
	return count < INT64_MAX ? (int64_t) count : -1;
}

static void next(struct foreign_stream *base)
{
	struct perf_stream *stream = (struct perf_stream *) base;

	for (;;) {
		fill_sound(stream);
		if (!stream->count) {
			base->item = ITEM_END;
			return;
		}
		stream->now = stream->ahead[0];
		memmove(stream->ahead, stream->ahead + 1, --stream->count * sizeof *stream->ahead);
		base->lost_begin = bytes_time(stream->latest, stream->file->offset);
		stream->latest = MAX(stream->latest, stream->now.stamp.time);
		base->time = bytes_time(stream->latest, stream->file->offset);
		if (stream->now.type != PERF_LOST && stream->now.type != PERF_LOST_SAMPLES) {
			base->item = ITEM_EVENT;
			stream->has_time = true;
			return;
		}
		base->lost_count = lost_count(&stream->now);
		if (stream->has_time && base->lost_count) {
			base->item = ITEM_LOST;
			base->lost_end = base->time;
			return;
		}
	}
}

/* --- what is mapped ----------------------------------------------------------------------- */

/* An exec ends (sched_process_exec) when the new program and its loader are mapped; what comes
 * before its end is the old one's. */
static void note_map(struct perf_stream *stream)
{
	struct perf_file *file = stream->file;
	const struct ahead *now = &stream->now;
	gpointer pid = GINT_TO_POINTER(now->stamp.pid);
	struct bytes misc = bytes_part(&now->record, 4, 2);
	struct perf_map map;
	GArray *waiting;

	if (now->type == PERF_COMM) {
		if (file->execs && now->stamp.has_tid && bytes_u16(&misc) & MISC_COMM_EXEC)
			g_hash_table_insert(file->in_exec, pid,
					    g_array_new(FALSE, FALSE, sizeof map));
		return;
	}
	if (!perf_map(file, &now->record, &map))
		return;
	waiting = g_hash_table_lookup(file->in_exec, GINT_TO_POINTER(map.pid));
	if (!waiting)
		g_array_append_val(file->told, map);
	else if (waiting->len < MAPS_MAX)
		g_array_append_val(waiting, map);
}

static void note_exec(struct perf_file *file, int32_t pid)
{
	GArray *waiting = g_hash_table_lookup(file->in_exec, GINT_TO_POINTER(pid));

	if (!waiting)
		return;
	g_array_append_vals(file->told, waiting->data, waiting->len);
	g_hash_table_remove(file->in_exec, GINT_TO_POINTER(pid));
}

static void fill_map(struct event *event, const struct event_class *class,
		     const struct perf_map *map)
{
	event_init(event, class, ABI_UNKNOWN);
	event->has_callstacks = false;
	event->channel = 0;
	event->has_tid = event->has_pid = true;
	event->tid = map->tid;
	event->pid = map->pid;
	event->user.address = map->base;
	event->user.size = map->size;
	event->user.path = map->path;
	event->user.pic = true;
	event->user.build_id = (struct event_bytes) {map->id, map->id_size};
}

/* First the file that is mapped, then its build-id. */
static bool more(struct foreign_stream *base, struct event *event)
{
	struct perf_stream *stream = (struct perf_stream *) base;
	GArray *told = stream->file->told;
	struct perf_map *map = &stream->map;

	if (stream->id_next) {
		stream->id_next = false;
		fill_map(event, &stream->build_id, map);
		return true;
	}
	if (stream->told == told->len) {
		g_array_set_size(told, 0);
		stream->told = 0;
		return false;
	}
	*map = g_array_index(told, struct perf_map, stream->told);
	stream->told++;
	stream->id_next = map->id_size > 0;
	fill_map(event, &stream->load, map);
	return true;
}

void perf_tell_maps(struct perf_file *file, const struct event_sink *sink, uint32_t host,
		    uint32_t cpu, int64_t time)
{
	struct event_class image =
		sink->declare(sink->data, "lttng_ust_statedump:bin_info", ORIGIN_USER);
	struct event_class build_id =
		sink->declare(sink->data, "lttng_ust_statedump:build_id", ORIGIN_USER);
	struct event event = {.time = time, .host = (uint16_t) host, .cpu = cpu};

	for (guint i = 0; i < file->maps->len; i++) {
		uint64_t at = g_array_index(file->maps, uint64_t, i);
		struct bytes head = bytes_part(&file->records, at + 6, 2);
		struct bytes record = bytes_part(&file->records, at, bytes_u16(&head));
		struct perf_map map;

		if (!perf_map(file, &record, &map))
			continue;
		fill_map(&event, &image, &map);
		sink->event(sink->data, &event);
		fill_map(&event, &build_id, &map);
		if (map.id_size)
			sink->event(sink->data, &event);
	}
	g_array_set_size(file->maps, 0);
}

/* --- what a sample says ------------------------------------------------------------------- */

static void pass_read(struct bytes *bytes, uint64_t format)
{
	uint64_t each = 1 + !!(format & READ_ID) + !!(format & READ_LOST);
	uint64_t times = !!(format & READ_ENABLED) + !!(format & READ_RUNNING);
	uint64_t count = format & READ_GROUP ? bytes_u64(bytes) : 1;

	if (count > bytes->size)
		bytes->bad = true;
	else
		bytes_take(bytes, 8 * (times + count * each));
}

static void take_chain(struct perf_stream *stream, struct bytes *bytes, uint32_t mode,
		       struct event *event)
{
	uint64_t count = bytes_u64(bytes);
	bool kernel = mode == MODE_KERNEL;
	uint32_t in_kernel = 0, in_user = 0;

	if (count > bytes->size / 8)
		bytes->bad = true;
	for (uint64_t i = 0; i < count && !bytes->bad; i++) {
		uint64_t address = bytes_u64(bytes);

		if (address >= CONTEXT_FIRST) {
			kernel = address == CONTEXT_KERNEL;
			if (!kernel && address != CONTEXT_USER)
				break; /* a guest's */
		} else if (kernel && in_kernel < STACK_MAX) {
			stream->kernel[in_kernel++] = address;
		} else if (!kernel && in_user < STACK_MAX) {
			stream->user[in_user++] = address;
		}
	}
	event->callstack = (struct event_bytes) {(const uint8_t *) stream->kernel, 8 * in_kernel};
	event->user_callstack = (struct event_bytes) {(const uint8_t *) stream->user, 8 * in_user};
}

/* The stack of one place, where no more was recorded. */
static void take_place(struct perf_stream *stream, uint64_t address, uint32_t mode,
		       struct event *event)
{
	bool kernel = mode == MODE_KERNEL;

	stream->kernel[0] = stream->user[0] = address;
	event->callstack = (struct event_bytes) {(const uint8_t *) stream->kernel, kernel ? 8 : 0};
	event->user_callstack =
		(struct event_bytes) {(const uint8_t *) stream->user, kernel ? 0 : 8};
}

struct body {
	struct bytes chain; /* from its begin on */
	struct record raw;
	uint64_t ip;
	uint32_t mode;
	bool has_chain, has_raw;
};

static bool read_body(struct perf_stream *stream, struct body *body)
{
	const struct perf_attribute *attribute = stream->now.stamp.attribute;
	uint64_t type = attribute->sample_type;
	struct bytes bytes = bytes_part(&stream->now.record, PERF_HEAD, UINT64_MAX);
	struct bytes misc = bytes_part(&stream->now.record, 4, 2);
	uint64_t count;

	*body = (struct body) {.mode = bytes_u16(&misc) & MISC_MODE};
	if (type & SAMPLE_IDENTIFIER)
		bytes_u64(&bytes);
	if (type & SAMPLE_IP)
		body->ip = bytes_u64(&bytes);
	bytes_take(&bytes, 8 * (uint64_t) __builtin_popcountll(
				       type & WORDS_BEFORE & ~(SAMPLE_IDENTIFIER | SAMPLE_IP)));
	if (type & SAMPLE_READ)
		pass_read(&bytes, attribute->read_format);
	if (type & SAMPLE_CALLCHAIN) {
		body->has_chain = true;
		body->chain = bytes;
		count = bytes_u64(&bytes);
		bytes_take(&bytes, 8 * MIN(count, UINT64_MAX / 16));
	}
	if (type & SAMPLE_RAW) {
		body->raw.size = bytes_u32(&bytes);
		body->raw.bytes = bytes_take(&bytes, body->raw.size);
		body->raw.swap = stream->file->swap;
		body->has_raw = body->raw.bytes != NULL;
	}
	return !bytes.bad;
}

static bool take(struct foreign_stream *base, struct event *event)
{
	struct perf_stream *stream = (struct perf_stream *) base;
	const struct perf_stamp *stamp = &stream->now.stamp;
	struct body body;

	if (stream->now.type != PERF_SAMPLE) {
		note_map(stream);
		return false;
	}
	if (!read_body(stream, &body))
		return false;
	if (stamp->attribute->type == PERF_TYPE_TRACEPOINT) {
		if (!body.has_raw || !record_classes_take(stream->classes, &body.raw, event))
			return false;
	} else {
		event_init(event, &stream->sample, ABI_UNKNOWN);
		event->channel = 0;
		event->has_tid = event->has_callstacks = false;
		if (!body.has_chain)
			take_place(stream, body.ip, body.mode, event);
		event->has_callstacks = true;
	}
	if (body.has_chain) {
		take_chain(stream, &body.chain, body.mode, event);
		event->has_callstacks = true;
	}
	event->has_pid = stamp->has_tid && stamp->tid > 0;
	event->has_tid |= stamp->has_tid && stamp->tid >= 0;
	if (stamp->has_tid) {
		event->pid = stamp->pid;
		event->tid = stamp->tid;
	}
	if (event->kind == EV_PROCESS_EXEC && stamp->has_tid)
		note_exec(stream->file, stamp->pid);
	return true;
}

static void text(struct foreign_stream *base, GString *to)
{
	struct perf_stream *stream = (struct perf_stream *) base;
	struct body body;

	if (stream->now.type == PERF_SAMPLE && read_body(stream, &body) && body.has_raw)
		record_classes_text(stream->classes, &body.raw, to);
}

static void stream_free(struct foreign_stream *base)
{
	g_free(base);
}

struct foreign_stream *
perf_stream_new(struct perf_file *file, const struct perf_cpu *cpu, struct record_classes *classes,
		const struct event_class *sample, const struct event_sink *sink)
{
	struct perf_stream *stream = g_new0(struct perf_stream, 1);

	stream->stream = (struct foreign_stream) {
		.cpu = cpu->cpu,
		.item = ITEM_EVENT,
		.next = next,
		.take = take,
		.more = file->stacks ? more : NULL,
		.text = text,
		.free = stream_free};
	stream->file = file;
	stream->cpu = cpu;
	stream->classes = classes;
	stream->sample = *sample;
	if (file->stacks) {
		stream->load = sink->declare(sink->data, "lttng_ust_lib:load", ORIGIN_USER);
		stream->build_id = sink->declare(sink->data, "lttng_ust_lib:build_id", ORIGIN_USER);
	}
	return &stream->stream;
}
