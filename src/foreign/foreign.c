/* SPDX-License-Identifier: MIT */
/* Files, hosts, and the merge; see foreign.h. */
#include "foreign/foreign.h"

#include <string.h>

#include "foreign/ftrace_file.h"
#include "foreign/ring_pages.h"
#include "foreign/perf_file.h"
#include "foreign/perf_records.h"
#include "foreign/statedump.h"
#include "util/error.h"

struct source {
	char *path;                   /* owned */
	struct ftrace_file *ftrace;   /* owned; NULL: perf's */
	struct perf_file *perf;       /* owned; NULL: ftrace's */
	struct record_classes *classes; /* owned */
	struct pages_damage damage;
	struct statedump *dump;       /* owned; NULL: none, or told */
	char *dump_trouble;           /* owned; NULL */
	int64_t offset;               /* ns: of the clock, to the time of day */
	uint32_t host;
	bool began, dated;            /* … is known */
};

struct foreign {
	const struct event_sink *sink;  /* borrowed */
	GPtrArray *sources;             /* owned; struct source */
	GPtrArray *streams;             /* owned; struct foreign_stream */
	struct foreign_stream **heap;   /* owned; the next one first */
	guint count;                    /* in the heap */
	int64_t first, now;             /* ns */
	uint64_t events;
	uint64_t bytes;                 /* of all files: how long it may take */
	GByteArray *noted; /* owned; by name: the sink knows that its places are not */
	bool on_record;
};

static void source_free(gpointer data)
{
	struct source *source = data;

	record_classes_free(source->classes);
	statedump_free(source->dump);
	ftrace_file_free(source->ftrace);
	perf_file_free(source->perf);
	g_free(source->dump_trouble);
	g_free(source->path);
	g_free(source);
}

static void stream_free(gpointer data)
{
	struct foreign_stream *stream = data;

	stream->free(stream);
}

bool foreign_is(const char *path)
{
	return ftrace_file_is(path) || perf_file_is(path);
}

bool foreign_may_be(const char *name)
{
	return g_str_has_suffix(name, ".dat") || g_str_has_suffix(name, ".data") ||
	       g_str_has_suffix(name, "/data"); /* of perf record --threads */
}

/* --- hosts -------------------------------------------------------------------------------- */

/* A clock that is no time, or whose units nobody knows. */
static bool clock_serves(const struct ftrace_file *file, GError **error)
{
	const char *clock = file->clock ? file->clock : "";

	if (strcmp(clock, "counter") == 0 || strcmp(clock, "uptime") == 0)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s was recorded with the clock '%s', which tells no durations; record "
			    "with: trace-cmd record -C mono …",
			    file->path, clock);
	else if (!file->cycle_multiplier &&
		 (strcmp(clock, "x86-tsc") == 0 || strcmp(clock, "ppc-tb") == 0))
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s was recorded with the clock '%s' and does not say how long its "
			    "cycles are; record with: trace-cmd record -C mono …",
			    file->path, clock);
	else
		return true;
	return false;
}

static char *tracer_of(const struct source *source, bool dated)
{
	const char *clock = source->ftrace ? source->ftrace->clock : NULL;
	const char *undated = dated || g_strcmp0(clock, "tai") == 0
				      ? ""
				      : ", times count from the machine's start";

	if (source->perf)
		return g_strdup_printf("perf%s%s%s", source->perf->version ? " " : "",
				       source->perf->version ? source->perf->version : "", undated);
	/* its CPUs' times are not the same, and cannot be made so */
	if (g_strcmp0(clock, "local") == 0)
		return g_strconcat("ftrace (trace-cmd), clock local: times of two CPUs may differ",
				   undated, NULL);
	return g_strconcat("ftrace (trace-cmd)", undated, NULL);
}

static void add_host(struct foreign *foreign, struct source *source)
{
	const struct event_sink *sink = foreign->sink;
	const struct ftrace_file *ftrace = source->ftrace;
	const struct perf_file *perf = source->perf;
	const char *name = ftrace ? ftrace->hostname : perf->hostname;
	const char *kernel = ftrace ? ftrace->kernel : perf->kernel;
	const char *machine = ftrace ? ftrace->machine : perf->machine;
	const char *boot = statedump_host(source->dump, "boot_id");
	bool dated = ftrace ? ftrace->dated : perf->dated;
	g_autofree char *directory = g_path_get_dirname(source->path);
	g_autofree char *tracer = NULL;
	struct host_info info;

	if (!dated)
		dated = statedump_offset(source->dump, ftrace ? ftrace->clock : NULL,
					 &source->offset);
	machine = machine ? machine : statedump_host(source->dump, "machine");
	tracer = tracer_of(source, dated);
	info = (struct host_info) {
		.hostname = name ? name : statedump_host(source->dump, "name"),
		.clock_uuid = boot,
		.kernel_release = kernel ? kernel : statedump_host(source->dump, "release"),
		.tracer = tracer,
		.clock_offset = source->offset,
		.has_clock_offset = dated,
		.abi = event_abi_of_machine(machine ? machine : "x86_64")};
	source->dated = dated;
	source->host = sink->add_host(sink->data, &info);
	sink->place(sink->data, directory);
	source->classes = record_classes_new(sink, info.abi);
}

/* --- streams ------------------------------------------------------------------------------ */

static void add_stream(struct foreign *foreign, const struct source *source,
		       struct foreign_stream *stream)
{
	stream->host = source->host;
	stream->order = foreign->streams->len;
	g_ptr_array_add(foreign->streams, stream);
}

static void take_formats(struct source *source, GPtrArray *tracepoints)
{
	for (guint i = 0; i < tracepoints->len; i++)
		record_classes_add(source->classes,
				   g_steal_pointer(&g_ptr_array_index(tracepoints, i)));
}

static void add_ftrace(struct foreign *foreign, struct source *source)
{
	const struct ftrace_file *file = source->ftrace;

	foreign->bytes += mapped_length(file->file);
	if (!file->dated)
		source->ftrace->offset =
			bytes_time((uint64_t) MAX(source->offset, 0), file->offset);
	take_formats(source, file->tracepoints);
	record_classes_declare(source->classes, NULL);
	for (guint i = 0; i < file->buffers->len; i++) {
		const struct trace_buffer *buffer =
			&g_array_index(file->buffers, struct trace_buffer, i);

		for (guint k = 0; k < buffer->cpus->len; k++)
			add_stream(foreign, source,
				   pages_stream_new(file, buffer,
						    &g_array_index(buffer->cpus, struct cpu_data,
								   k),
						    source->classes, &source->damage));
	}
}

static void add_perf(struct foreign *foreign, struct source *source)
{
	struct perf_file *file = source->perf;
	const struct event_sink *sink = foreign->sink;
	g_autoptr(GHashTable) wanted = g_hash_table_new(NULL, NULL);
	struct event_class sample = {0};

	foreign->bytes += mapped_length(file->file);
	file->offset = file->dated ? file->offset : source->offset;
	take_formats(source, file->tracepoints);
	for (guint i = 0; i < file->attributes->len; i++) {
		const struct perf_attribute *attribute =
			&g_array_index(file->attributes, struct perf_attribute, i);

		if (attribute->type == PERF_TYPE_TRACEPOINT)
			g_hash_table_add(wanted, GUINT_TO_POINTER((guint) attribute->config));
		else if (perf_samples(attribute) && !sample.name)
			sample = sink->declare(sink->data, "perf_sample", ORIGIN_KERNEL);
	}
	record_classes_declare(source->classes, wanted);
	file->execs = record_classes_has(source->classes, "sched:sched_process_exec", wanted);
	for (guint i = 0; i < file->cpus->len; i++)
		add_stream(foreign, source,
			   perf_stream_new(file, file->cpus->pdata[i], source->classes, &sample,
					   sink));
}

/* What two tracers recorded of one machine is the same twice; without a time of day two machines'
 * times are not of one line. */
static bool fits_others(const struct foreign *foreign, const struct source *source, GError **error)
{
	for (guint i = 0; i < foreign->sources->len; i++) {
		const struct source *other = foreign->sources->pdata[i];

		if (other->host == source->host && !other->ftrace != !source->ftrace)
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				    "%s and %s are of two tracers, which cannot be read together",
				    other->path, source->path);
		else if (other->dated != source->dated)
			g_set_error(
				error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
				"%s and %s cannot be read together: only one of them says what "
				"time of day its times are; record both with whylate record, or "
				"trace-cmd record --date",
				other->path, source->path);
		else
			continue;
		return false;
	}
	return true;
}

static bool add_file(struct foreign *foreign, const char *path, GError **error)
{
	struct source *source = g_new0(struct source, 1);

	g_ptr_array_add(foreign->sources, source);
	source->path = g_strdup(path);
	if (ftrace_file_is(path))
		source->ftrace = ftrace_file_open(path, error);
	else
		source->perf = perf_file_open(path, error);
	if (!source->ftrace && !source->perf)
		return false;
	if (source->ftrace && !clock_serves(source->ftrace, error))
		return false;
	source->dump = statedump_open(path, &source->dump_trouble);
	add_host(foreign, source);
	if (!fits_others(foreign, source, error))
		return false;
	if (!source->dump && source->perf)
		source->dump = statedump_of_perf(source->perf);
	if (source->ftrace)
		add_ftrace(foreign, source);
	else
		add_perf(foreign, source);
	return true;
}

/* --- the merge ---------------------------------------------------------------------------- */

/* "the lower CPU first (hosts in the order given)" */
static bool earlier(const struct foreign_stream *a, const struct foreign_stream *b)
{
	if (a->time != b->time)
		return a->time < b->time;
	if (a->host != b->host)
		return a->host < b->host;
	if (a->cpu != b->cpu)
		return a->cpu < b->cpu;
	return a->order < b->order;
}

static void sift(struct foreign *foreign, guint at)
{
	struct foreign_stream *moved = foreign->heap[at];

	for (;;) {
		guint child = 2 * at + 1;

		if (child >= foreign->count)
			break;
		if (child + 1 < foreign->count &&
		    earlier(foreign->heap[child + 1], foreign->heap[child]))
			child++;
		if (!earlier(foreign->heap[child], moved))
			break;
		foreign->heap[at] = foreign->heap[child];
		at = child;
	}
	foreign->heap[at] = moved;
}

static void fill_heap(struct foreign *foreign)
{
	foreign->heap = g_new(struct foreign_stream *, foreign->streams->len + 1);
	for (guint i = 0; i < foreign->streams->len; i++) {
		struct foreign_stream *stream = foreign->streams->pdata[i];

		stream->next(stream);
		if (stream->item != ITEM_END)
			foreign->heap[foreign->count++] = stream;
	}
	for (guint i = foreign->count / 2; i-- > 0;)
		sift(foreign, i);
	if (foreign->count)
		foreign->first = foreign->now = foreign->heap[0]->time;
}

static void go_on(struct foreign *foreign)
{
	struct foreign_stream *stream = foreign->heap[0];

	stream->next(stream);
	if (stream->item == ITEM_END)
		foreign->heap[0] = foreign->heap[--foreign->count];
	if (foreign->count)
		sift(foreign, 0);
}

struct foreign *foreign_new(const struct event_sink *sink, const GPtrArray *paths, GError **error)
{
	struct foreign *foreign = g_new0(struct foreign, 1);
	bool ok = true;

	foreign->sink = sink;
	foreign->noted = g_byte_array_new();
	foreign->sources = g_ptr_array_new_with_free_func(source_free);
	foreign->streams = g_ptr_array_new_with_free_func(stream_free);
	for (guint i = 0; i < paths->len && ok; i++)
		ok = add_file(foreign, paths->pdata[i], error);
	if (!ok) {
		foreign_free(foreign);
		return NULL;
	}
	fill_heap(foreign);
	return foreign;
}

void foreign_free(struct foreign *foreign)
{
	if (!foreign)
		return;
	g_ptr_array_free(foreign->streams, TRUE);
	g_ptr_array_free(foreign->sources, TRUE);
	g_byte_array_free(foreign->noted, TRUE);
	g_free(foreign->heap);
	g_free(foreign);
}

/* --- telling ------------------------------------------------------------------------------ */

/* A later file of the same CPU does not begin it again. */
static bool begun_before(const struct foreign *foreign, const struct foreign_stream *stream)
{
	for (guint i = 0; i < foreign->streams->len; i++) {
		const struct foreign_stream *other = foreign->streams->pdata[i];

		if (other->begun && other->host == stream->host && other->cpu == stream->cpu)
			return true;
	}
	return false;
}

static void tell_begin(const struct foreign *foreign, struct foreign_stream *stream)
{
	bool before = begun_before(foreign, stream);

	stream->begun = true;
	if (!before)
		foreign->sink->begin(foreign->sink->data, stream->host, stream->cpu, stream->time);
}

/* Once the threads are known whose it is. */
static void tell_maps(const struct foreign *foreign, const struct source *source,
		      const struct foreign_stream *stream)
{
	if (source->perf && source->perf->stacks && source->perf->maps->len)
		perf_tell_maps(source->perf, foreign->sink, stream->host, stream->cpu,
			       stream->time);
}

/* What /proc said goes before the first event that is not older. */
static void tell_dumps(const struct foreign *foreign, const struct foreign_stream *stream)
{
	for (guint i = 0; i < foreign->sources->len; i++) {
		struct source *source = foreign->sources->pdata[i];
		bool later = source->began;
		int64_t time;

		if (source->host != stream->host)
			continue;
		source->began = true;
		if (!source->dump) {
			tell_maps(foreign, source, stream);
			continue;
		}
		time = statedump_time(source->dump);
		if (time != INT64_MIN && bytes_time((uint64_t) time, source->offset) > stream->time)
			continue;
		statedump_tell(source->dump, foreign->sink, stream->host, stream->cpu, stream->time,
			       later);
		g_clear_pointer(&source->dump, statedump_free);
		tell_maps(foreign, source, stream);
	}
}

static void tell_lost(const struct foreign *foreign, const struct foreign_stream *stream)
{
	struct lost_events lost = {.host = stream->host,
				   .cpu = stream->cpu,
				   .begin = stream->lost_begin,
				   .end = stream->lost_end,
				   .count = stream->lost_count};

	foreign->sink->lose(foreign->sink->data, &lost);
}

/* Where events lie is not noted: who wants one goes through all. */
static void note_name(struct foreign *foreign, uint32_t name)
{
	guint before = foreign->noted->len;

	if (name >= before) {
		g_byte_array_set_size(foreign->noted, name + 1);
		memset(foreign->noted->data + before, 0, name + 1 - before);
	}
	if (!foreign->noted->data[name])
		event_places_of(foreign->sink->places, name)->many = true;
	foreign->noted->data[name] = 1;
}

static void hand_on(struct foreign *foreign, const struct event *event)
{
	foreign->now = event->time;
	if (foreign->sink->places)
		note_name(foreign, event->name);
	foreign->sink->event(foreign->sink->data, event);
}

static void tell_event(struct foreign *foreign, struct foreign_stream *stream)
{
	struct event event;

	event.time = stream->time;
	event.host = (uint16_t) stream->host;
	event.cpu = stream->cpu;
	if (stream->take(stream, &event)) {
		foreign->events++;
		hand_on(foreign, &event);
	}
	while (stream->more && stream->more(stream, &event))
		hand_on(foreign, &event);
}

bool foreign_run(struct foreign *foreign, uint64_t count)
{
	for (; foreign->count && count > 0; count--) {
		struct foreign_stream *stream = foreign->heap[0];

		if (!stream->begun)
			tell_begin(foreign, stream);
		tell_dumps(foreign, stream);
		if (stream->item == ITEM_LOST)
			tell_lost(foreign, stream);
		else
			tell_event(foreign, stream);
		go_on(foreign);
	}
	return foreign->count > 0;
}

/* A record has some 50 bytes; a guess is enough. */
double foreign_done(const struct foreign *foreign)
{
	double all = (double) foreign->bytes / 50;

	return !foreign->count ? 1 : CLAMP((double) foreign->events / (all + 1), 0, 0.99);
}

void foreign_tell_damage(const struct foreign *foreign)
{
	const struct event_sink *sink = foreign->sink;

	for (guint i = 0; i < foreign->sources->len; i++) {
		const struct source *source = foreign->sources->pdata[i];
		uint64_t bytes = source->perf ? source->perf->damaged : source->damage.bytes;
		uint64_t total = source->perf ? source->perf->records.size : source->damage.total;
		const char *trouble =
			source->perf ? source->perf->trouble : source->ftrace->trouble;

		if (bytes || trouble)
			sink->damage(sink->data, source->path, bytes, total, trouble);
		if (source->dump_trouble)
			sink->damage(sink->data, source->path, 0, total, source->dump_trouble);
	}
}

/* --- records ------------------------------------------------------------------------------ */

bool foreign_next_record(struct foreign *foreign, struct foreign_record *record)
{
	if (foreign->on_record)
		go_on(foreign);
	foreign->on_record = false;
	for (; foreign->count; go_on(foreign)) {
		struct foreign_stream *stream = foreign->heap[0];
		struct event event;

		event.cpu = stream->cpu;
		if (stream->item != ITEM_EVENT || !stream->take(stream, &event))
			continue;
		*record = (struct foreign_record) {stream->time, stream->host, stream->cpu,
						   event.name};
		foreign->on_record = true;
		return true;
	}
	return false;
}

void foreign_record_text(const struct foreign *foreign, GString *text)
{
	if (foreign->on_record)
		foreign->heap[0]->text(foreign->heap[0], text);
}
