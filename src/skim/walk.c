/* SPDX-License-Identifier: MIT */
/* See walk.h. */
#include "skim/walk.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

static void seen_cpu_free(gpointer data)
{
	struct seen_cpu *cpu = data;

	g_ptr_array_free(cpu->streams, TRUE);
	idmap_clear(&cpu->tids);
	g_array_free(cpu->threads, TRUE);
	g_array_free(cpu->pieces, TRUE);
	g_array_free(cpu->episode, TRUE);
	g_array_free(cpu->before, TRUE);
	g_free(cpu);
}

static struct seen_cpu *cpu_of(struct walk *walk, const struct stream *stream)
{
	struct seen_cpu *cpu;

	for (guint i = 0; i < walk->cpus->len; i++) {
		cpu = g_ptr_array_index(walk->cpus, i);
		if (cpu->host == stream->host && cpu->cpu == stream->cpu)
			return cpu;
	}
	cpu = g_new0(struct seen_cpu, 1);
	cpu->host = stream->host;
	cpu->cpu = stream->cpu;
	cpu->streams = g_ptr_array_new();
	cpu->threads = g_array_new(FALSE, TRUE, sizeof(struct seen_thread));
	cpu->pieces = g_array_new(FALSE, FALSE, sizeof(struct piece));
	cpu->episode = g_array_new(FALSE, FALSE, sizeof(struct spot));
	cpu->before = g_array_new(FALSE, FALSE, sizeof(struct spot));
	cpu->current = NOBODY;
	idmap_init(&cpu->tids);
	g_ptr_array_add(walk->cpus, cpu);
	return cpu;
}

uint32_t seen_thread_of(struct seen_cpu *cpu, int32_t tid)
{
	uint32_t number;

	if (tid <= 0)
		return NOBODY;
	number = idmap_get(&cpu->tids, (uint32_t) tid);
	if (number == IDMAP_NONE) {
		struct seen_thread thread = {.tid = tid, .returned = INT64_MIN};

		number = cpu->threads->len;
		g_array_append_val(cpu->threads, thread);
		idmap_set(&cpu->tids, (uint32_t) tid, number);
	}
	return number;
}

void skim_piece(GArray *pieces, const struct spot *spot, enum telling telling)
{
	struct piece piece = {*spot, (uint8_t) telling};

	if (spot->stream)
		g_array_append_val(pieces, piece);
}

void seen_keep(struct seen_cpu *cpu, const struct spot *spot)
{
	if (!cpu->told && cpu->current != NOBODY)
		skim_piece(cpu->pieces, &cpu->last_switch, TELL_ENTER);
	cpu->told |= cpu->current != NOBODY;
	skim_piece(cpu->pieces, spot, TELL_EVENT);
}

void skim_tell_deed(GArray *pieces, const struct deed *deed)
{
	skim_piece(pieces, &deed->entered, TELL_ENTER);
	skim_piece(pieces, &deed->left, TELL_LEAVE);
	skim_piece(pieces, &deed->spot, TELL_EVENT);
}

/* --- who runs, and what he calls ------------------------------------------------------------- */

static void leave(struct deed *deed, const struct spot *spot)
{
	if (!deed->left.stream)
		deed->left = *spot;
}

void seen_switch(struct seen_cpu *cpu, const struct spot *spot, const int32_t tids[2])
{
	uint32_t leaves = seen_thread_of(cpu, tids[0]), enters = seen_thread_of(cpu, tids[1]);

	/* the first switch says who ran until then */
	if (cpu->told || !cpu->last_switch.stream)
		skim_piece(cpu->pieces, spot, TELL_LEAVE);
	if (leaves != NOBODY) {
		struct seen_thread *thread = seen_thread_at(cpu, leaves);

		thread->entered = cpu->last_switch;
		thread->left = *spot;
		leave(&thread->call, spot);
		leave(&thread->timer, spot);
		leave(&thread->fault, spot);
	}
	leave(&cpu->raised, spot);
	cpu->current = enters;
	cpu->last_switch = *spot;
	cpu->told = false;
}

void seen_call(struct seen_cpu *cpu, const struct spot *spot, bool lasts)
{
	struct seen_thread *thread;

	if (cpu->current == NOBODY)
		return;
	thread = seen_thread_at(cpu, cpu->current);
	thread->in_call = true;
	thread->call_lasts = lasts;
	thread->call = (struct deed) {.spot = *spot, .entered = cpu->last_switch};
}

/* --- walking over records -------------------------------------------------------------------- */

static void learn(const struct class_table *table, struct record_class *class)
{
	struct skimmed_class *skimmed = &class->skimmed;

	skimmed->span = (uint8_t) event_span(&class->class, class->event->name);
	skimmed->fixed = program_size(class->program, &skimmed->bits);
	if (skimmed->span == SPAN_SWITCH)
		skimmed->fixed &=
			program_place(class->program, offsetof(struct event, sched_switch.prev_tid),
				      &skimmed->tids[0]) &&
			program_place(class->program, offsetof(struct event, sched_switch.next_tid),
				      &skimmed->tids[1]);
	else if (skimmed->span == SPAN_WAKING)
		skimmed->fixed &= program_place(class->program, offsetof(struct event, wake.tid),
						&skimmed->tids[0]);
	else if (!skimmed->fixed)
		skimmed->over = class_over(table, class);
}

/* The streams of a directory have their classes in common. */
static bool know(struct class_table *table, struct record_class *class)
{
	if (G_LIKELY(g_atomic_int_get(&class->skimmed.known)))
		return true;
	if (!class_meet(table, class))
		return false;
	pthread_mutex_lock(&table->lock);
	if (!g_atomic_int_get(&class->skimmed.known))
		learn(table, class);
	g_atomic_int_set(&class->skimmed.known, 1);
	pthread_mutex_unlock(&table->lock);
	return true;
}

static int32_t tid_at(const struct cursor *cursor, uint64_t behind)
{
	int32_t tid;

	memcpy(&tid, cursor->packet + (cursor->at + behind) / 8, sizeof tid);
	return tid;
}

/* Over the record at the cursor; the threads it names go to `tids`. */
static bool over_record(struct seen_cpu *cpu, struct stream *stream,
			const struct record_class *class, int32_t tids[2])
{
	const struct skimmed_class *skimmed = &class->skimmed;
	struct cursor *cursor = &stream->cursor;

	if (skimmed->fixed && cursor->at % 8 == 0) {
		if (skimmed->bits > cursor->end - cursor->at)
			return false;
		if (skimmed->span == SPAN_SWITCH || skimmed->span == SPAN_WAKING) {
			tids[0] = tid_at(cursor, skimmed->tids[0]);
			tids[1] = tid_at(cursor, skimmed->tids[1]);
		}
		cursor->at += skimmed->bits;
		return true;
	}
	if (skimmed->over)
		return program_run(skimmed->over, cursor);
	if (!stream_take(stream, &cpu->event))
		return false;
	if (skimmed->span == SPAN_SWITCH) {
		tids[0] = cpu->event.sched_switch.prev_tid;
		tids[1] = cpu->event.sched_switch.next_tid;
	} else if (skimmed->span == SPAN_WAKING) {
		tids[0] = cpu->event.wake.tid;
	}
	return true;
}

/* The stream whose next event is the CPU's next, NULL: none before the window; and how long (ns) it
 * has no other beside it. */
static struct stream *next_of(const struct walk *walk, const struct seen_cpu *cpu, int64_t *until)
{
	struct stream *first = NULL;

	*until = walk->until;
	for (guint i = 0; i < cpu->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(cpu->streams, i);
		bool before = !first || stream_before(stream, first);

		if (stream->item == STREAM_END || stream->time >= walk->until)
			continue;
		if (first)
			*until = MIN(*until, before ? first->time : stream->time);
		if (before)
			first = stream;
	}
	return first;
}

static bool over_item(const struct walk *walk, struct seen_cpu *cpu, struct stream *stream)
{
	struct spot *spot = &cpu->last; /* filled there: a copy of it would wait for its parts */
	struct record_class *class;
	int32_t tids[2] = {0, 0};

	if (stream->item == STREAM_BEGINS)
		return true; /* it was told before */
	if (stream->item != STREAM_EVENT || stream->cursor.at > UINT32_MAX ||
	    stream->event_id > UINT32_MAX)
		return false;
	class = class_table_find(stream->table, stream->event_id);
	if (!class || !know(stream->table, class))
		return false;
	spot->time = stream->time;
	spot->packet = stream->next - 1;
	spot->at = (uint32_t) stream->cursor.at;
	spot->id = (uint32_t) stream->event_id;
	spot->stream = stream->number + 1;
	if (!over_record(cpu, stream, class, tids))
		return false;
	if (!cpu->any && class->skimmed.span != SPAN_SWITCH)
		skim_piece(cpu->pieces, spot, TELL_EVENT); /* when the trace begins */
	cpu->any = true;
	walk->over(cpu, (enum event_span) class->skimmed.span, spot, tids);
	return true;
}

static bool over_cpu(const struct walk *walk, struct seen_cpu *cpu)
{
	struct stream *stream;
	int64_t until;

	while ((stream = next_of(walk, cpu, &until)))
		do {
			if (!over_item(walk, cpu, stream))
				return false;
			stream_next(stream);
		} while (stream->item != STREAM_END && stream->time < until);
	return true;
}

/* --- telling --------------------------------------------------------------------------------- */

/* As reader.c merges streams; what one switch tells: who leaves first. */
static int in_order(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct piece *x = a, *y = b;
	GPtrArray *streams = data;
	const struct stream *of_x, *of_y;

	if (x->spot.time != y->spot.time)
		return x->spot.time < y->spot.time ? -1 : 1;
	if (x->spot.stream != y->spot.stream) {
		of_x = g_ptr_array_index(streams, x->spot.stream - 1);
		of_y = g_ptr_array_index(streams, y->spot.stream - 1);
		return stream_rank(of_x, of_y) ? -1 : 1;
	}
	if (x->spot.packet != y->spot.packet)
		return x->spot.packet < y->spot.packet ? -1 : 1;
	if (x->spot.at != y->spot.at)
		return x->spot.at < y->spot.at ? -1 : 1;
	return (int) x->telling - (int) y->telling;
}

static void alone(struct event *event, enum telling telling)
{
	event->touched = 0;
	if (telling == TELL_ENTER) {
		event->sched_switch.prev_tid = 0;
		event->sched_switch.prev_comm = "";
		event->sched_switch.prev_state = 0;
		event->has_callstacks = false;
		event->has_tid = event->has_pid = false;
	} else if (telling == TELL_LEAVE) {
		event->sched_switch.next_tid = 0;
		event->sched_switch.next_comm = "";
	}
}

static bool tell_piece(const struct walk *walk, const struct piece *piece)
{
	struct stream *stream = g_ptr_array_index(walk->streams, piece->spot.stream - 1);
	struct event_place place = {.time = piece->spot.time,
				    .id = piece->spot.id,
				    .at = piece->spot.at,
				    .packet = piece->spot.packet};
	struct event event;

	if (!stream_take_at(stream, &place, &event))
		return false;
	alone(&event, piece->telling);
	walk->sink->event(walk->sink->data, &event);
	return true;
}

static bool same(const struct piece *a, const struct piece *b)
{
	return a->spot.stream == b->spot.stream && a->spot.packet == b->spot.packet &&
	       a->spot.at == b->spot.at && a->telling == b->telling;
}

/* Where the streams are. They copy no packets from here on, so that the copy that each is in is
 * still that when they are back. */
static struct stream *streams_save(const struct walk *walk)
{
	struct stream *saved = g_new(struct stream, walk->streams->len);

	for (guint i = 0; i < walk->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(walk->streams, i);

		saved[i] = *stream;
		stream->copied_max = 0;
	}
	return saved;
}

static void streams_restore(const struct walk *walk, const struct stream *saved)
{
	for (guint i = 0; i < walk->streams->len; i++)
		*(struct stream *) g_ptr_array_index(walk->streams, i) = saved[i];
}

/* The streams are where they were when that is done. */
void skim_tell(struct walk *walk)
{
	g_autofree struct stream *saved = streams_save(walk);
	const struct piece *before = NULL;

	for (guint i = 0; i < walk->cpus->len; i++) {
		const struct seen_cpu *cpu = g_ptr_array_index(walk->cpus, i);

		g_array_append_vals(walk->pieces, cpu->pieces->data, cpu->pieces->len);
	}
	g_array_sort_with_data(walk->pieces, in_order, walk->streams);
	for (guint i = 0; i < walk->pieces->len; i++) {
		const struct piece *piece = &g_array_index(walk->pieces, struct piece, i);

		if (!before || !same(before, piece))
			tell_piece(walk, piece);
		before = piece;
	}
	streams_restore(walk, saved);
}

/* --- the threads that walk ------------------------------------------------------------------- */

/* One thread: CPU by CPU, as long as there are any. */
static void *over_cpus(void *data)
{
	struct walk *walk = data;

	while (!g_atomic_int_get(&walk->failed)) {
		gint next = g_atomic_int_add(&walk->next_cpu, 1);

		if (next >= (gint) walk->cpus->len)
			break;
		if (!over_cpu(walk, g_ptr_array_index(walk->cpus, next)))
			g_atomic_int_set(&walk->failed, 1);
	}
	return NULL;
}

/* This thread does what no other can be had for. */
static void walk_in_threads(struct walk *walk, guint jobs)
{
	guint most = MIN(jobs, walk->cpus->len), begun = 0;
	g_autofree pthread_t *threads = g_new(pthread_t, most);

	while (begun + 1 < most && pthread_create(&threads[begun], NULL, over_cpus, walk) == 0)
		begun++;
	over_cpus(walk);
	for (guint i = 0; i < begun; i++)
		pthread_join(threads[i], NULL);
}

bool skim_walk(struct walk *walk, guint jobs)
{
	g_autofree struct stream *saved = streams_save(walk);
	g_autoptr(GArray) lost = reader_lost_bytes(walk->reader);

	walk_in_threads(walk, jobs);
	if (!walk->failed)
		return true;
	streams_restore(walk, saved);
	reader_lost_bytes_were(walk->reader, lost);
	return false;
}

void skim_init(struct walk *walk, struct reader *reader, int64_t until, over_event *over)
{
	*walk = (struct walk) {.reader = reader,
			       .streams = reader_streams(reader),
			       .sink = reader_sink(reader),
			       .over = over,
			       .until = until,
			       .cpus = g_ptr_array_new_with_free_func(seen_cpu_free),
			       .pieces = g_array_new(FALSE, FALSE, sizeof(struct piece))};
	for (guint i = 0; i < walk->streams->len; i++) {
		struct stream *stream = g_ptr_array_index(walk->streams, i);

		g_ptr_array_add(cpu_of(walk, stream)->streams, stream);
	}
}

void skim_clear(struct walk *walk)
{
	g_ptr_array_free(walk->cpus, TRUE);
	g_array_free(walk->pieces, TRUE);
}
