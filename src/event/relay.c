/* SPDX-License-Identifier: MIT */
/* Batches of copied events between two threads; see relay.h.
 *
 * A batch is a piece of memory with records one behind the other:
 *
 *   size, kind | which words | word word … | bytes that pointers lead to
 *
 * of an event those words that are not as an empty event of its kind has them, 40 to 80 bytes as a
 * rule. The ring's indices count on for ever; a batch is its maker's from `taken + BATCHES` on, its
 * taker's below `made`. POSIX's locks, not GLib's: ThreadSanitizer knows them.
 */
#include "event/relay.h"

#include <pthread.h>
#include <string.h>

#include "event/kinds.h"

#define BATCHES 8
#define BATCH_BYTES (32u << 10)
#define ALIGNED(size) (((size) + 7) & ~(size_t) 7)
#define WORDS ((sizeof(struct event) + 7) / 8)

_Static_assert(sizeof(struct event) % 8 == 0 && WORDS <= 64, "a bit for each word");

/* An event as words. */
union event_words {
	struct event event;
	uint64_t words[WORDS];
};

#define PIECES_MAX 16 /* that an event of any kind points to */

struct batch {
	char *bytes; /* owned */
	size_t room, used;
};

/* A record's head. */
struct record {
	uint32_t size; /* of all of it */
	uint16_t kind; /* of the event */
	uint64_t changed; /* a bit for each of its words that follows */
};

/* Where a kind of events has a pointer; a list's count lies where list_bytes() says. */
struct pointer_place {
	uint16_t offset;
	bool is_text, is_stack;
};

struct relay {
	struct event_sink own;         /* what the reader feeds */
	const struct event_sink *sink; /* borrowed */
	pthread_t thread;
	GArray *pointers[EV_KIND_COUNT]; /* owned; struct pointer_place */
	union event_words *empty; /* owned; one of each kind */
	uint16_t words[EV_KIND_COUNT]; /* that such an event uses */
	struct batch batches[BATCHES];
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	uint64_t made, taken; /* batches */
	uint64_t wanted;      /* the maker waits for so many to be taken; 0: it does not */
	bool idle;            /* the taker waits */
	bool over;
};

/* --- what is copied -------------------------------------------------------------------------- */

struct finding {
	const struct event *event;
	GArray *places;
};

static void note_place(struct finding *finding, const void *at, bool is_text)
{
	uint16_t offset = (uint16_t) ((const char *) at - (const char *) finding->event);
	struct pointer_place place = {
		.offset = offset,
		.is_text = is_text,
		.is_stack = offset == offsetof(struct event, callstack.bytes) ||
			    offset == offsetof(struct event, user_callstack.bytes)};

	for (guint i = 0; i < finding->places->len; i++)
		if (g_array_index(finding->places, struct pointer_place, i).offset == place.offset)
			return;
	g_array_append_val(finding->places, place);
}

static void note_text(const char **text, void *finding)
{
	note_place(finding, text, true);
}

static void note_bytes(const void **bytes, size_t size, void *finding)
{
	(void) size;
	note_place(finding, bytes, false);
}

static void know_kinds(struct relay *relay)
{
	relay->empty = g_new0(union event_words, EV_KIND_COUNT);
	for (uint16_t kind = 0; kind < EV_KIND_COUNT; kind++) {
		struct event *event = &relay->empty[kind].event;
		struct finding finding = {event,
					  g_array_new(FALSE, FALSE, sizeof(struct pointer_place))};

		event->kind = kind;
		event->has_callstacks = true;
		event_each_pointer(event, note_text, note_bytes, &finding);
		event->has_callstacks = false;
		event_reset(event);
		g_assert(finding.places->len <= PIECES_MAX);
		relay->pointers[kind] = finding.places;
		relay->words[kind] = (uint16_t) ((event_size(kind) + 7) / 8);
	}
}

static size_t list_bytes(const struct event *event, uint16_t offset)
{
	switch (offset) {
	case offsetof(struct event, syscall.fds):
		return event->syscall.fd_count * sizeof *event->syscall.fds;
	case offsetof(struct event, syscall.values):
		return event->syscall.value_count * sizeof *event->syscall.values;
	default:
		return ((const struct event_bytes *) (const void *) ((const char *) event + offset))
			->count;
	}
}

/* One thing that an event points to. */
struct piece {
	const void *from;
	size_t size;
	uint16_t offset; /* of the pointer */
	bool is_text;
};

/* What the event points to; with `moved`, that lies there now, one behind the other. */
static guint find_pieces(const struct relay *relay, const struct event *event, const char *moved,
			 struct piece *pieces)
{
	const GArray *places = relay->pointers[event->kind];
	guint count = 0;

	for (guint i = 0; i < places->len; i++) {
		const struct pointer_place *place = &g_array_index(places, struct pointer_place, i);
		struct piece *piece = &pieces[count];

		memcpy(&piece->from, (const char *) event + place->offset, sizeof piece->from);
		if (!piece->from || (place->is_stack && !event->has_callstacks))
			continue;
		if (moved)
			piece->from = moved;
		piece->offset = place->offset;
		piece->is_text = place->is_text;
		piece->size =
			place->is_text ? strlen(piece->from) + 1 : list_bytes(event, place->offset);
		moved += moved ? ALIGNED(piece->size) : 0;
		count++;
	}
	return count;
}

/* --- the maker's side ------------------------------------------------------------------------ */

/* The batch at hand is the taker's; there is room for another. */
static void hand_over(struct relay *relay)
{
	pthread_mutex_lock(&relay->lock);
	relay->made++;
	if (relay->idle)
		pthread_cond_broadcast(&relay->changed);
	/* it goes on when half of them are free: each wake-up costs microseconds */
	if (relay->made - relay->taken == BATCHES) {
		relay->wanted = relay->made - BATCHES / 2;
		while (relay->taken < relay->wanted)
			pthread_cond_wait(&relay->changed, &relay->lock);
		relay->wanted = 0;
	}
	pthread_mutex_unlock(&relay->lock);
}

/* A batch with room for `size` more bytes. */
static struct batch *batch_for(struct relay *relay, size_t size)
{
	struct batch *batch = &relay->batches[relay->made % BATCHES];

	if (batch->used + size > batch->room && batch->used) {
		hand_over(relay);
		batch = &relay->batches[relay->made % BATCHES];
	}
	if (size > batch->room) {
		batch->room = size;
		batch->bytes = g_realloc(batch->bytes, size);
	}
	return batch;
}

/* The words of [from, to) that are not as in an empty event go to `to_words`; how many. */
static guint put_words(const struct relay *relay, const union event_words *event, guint from,
		       guint to, uint64_t *to_words, uint64_t *changed)
{
	const uint64_t *empty = relay->empty[event->event.kind].words;
	guint count = 0;

	for (guint i = from; i < to; i++) {
		to_words[count] = event->words[i];
		count += event->words[i] != empty[i];
		*changed |= (uint64_t) (event->words[i] != empty[i]) << i;
	}
	return count;
}

#define STACKS_AT (offsetof(struct event, callstack) / 8)
#define ARGUMENTS_AT (offsetof(struct event, sched_switch) / 8)

static void relay_event(void *data, const struct event *event)
{
	const union event_words *words = (const void *) event;
	struct relay *relay = data;
	struct piece pieces[PIECES_MAX];
	guint pointed = find_pieces(relay, event, NULL, pieces), count;
	size_t size = sizeof(struct record) + sizeof(union event_words);
	struct batch *batch;
	struct record *record;
	char *to;

	for (guint i = 0; i < pointed; i++)
		size += sizeof(uint64_t) + ALIGNED(pieces[i].size);
	batch = batch_for(relay, size);
	record = (void *) (batch->bytes + batch->used);
	*record = (struct record) {.kind = event->kind};
	to = (char *) (record + 1);
	count = put_words(relay, words, 0, STACKS_AT, (uint64_t *) (void *) to, &record->changed);
	/* else there is anything in them */
	if (event->has_callstacks)
		count += put_words(relay, words, STACKS_AT, ARGUMENTS_AT,
				   (uint64_t *) (void *) to + count, &record->changed);
	count += put_words(relay, words, ARGUMENTS_AT, relay->words[event->kind],
			   (uint64_t *) (void *) to + count, &record->changed);
	to += count * sizeof(uint64_t);
	for (guint i = 0; i < pointed; i++) {
		memcpy(to, pieces[i].from, pieces[i].size);
		if (pieces[i].is_text) /* in a file that is written while it is read */
			to[pieces[i].size - 1] = 0;
		to += ALIGNED(pieces[i].size);
	}
	record->size = (uint32_t) (to - (char *) record);
	batch->used += record->size;
}

void relay_wait(struct relay *relay)
{
	if (!relay)
		return;
	if (relay->batches[relay->made % BATCHES].used)
		hand_over(relay);
	pthread_mutex_lock(&relay->lock);
	relay->wanted = relay->made;
	while (relay->taken < relay->wanted)
		pthread_cond_wait(&relay->changed, &relay->lock);
	relay->wanted = 0;
	pthread_mutex_unlock(&relay->lock);
}

/* --- the taker's side ------------------------------------------------------------------------ */

/* To where the bytes are now, in the order in which they were put there. */
static void lead_pointers(const struct relay *relay, struct event *event, const char *bytes)
{
	struct piece pieces[PIECES_MAX];
	guint count = find_pieces(relay, event, bytes, pieces);

	for (guint i = 0; i < count; i++)
		memcpy((char *) event + pieces[i].offset, &pieces[i].from, sizeof pieces[i].from);
}

static void take_batch(const struct relay *relay, struct batch *batch)
{
	union event_words event;

	for (size_t at = 0; at < batch->used;) {
		const struct record *record = (const void *) (batch->bytes + at);
		const uint64_t *word = (const void *) (record + 1);

		memcpy(&event, &relay->empty[record->kind],
		       relay->words[record->kind] * sizeof *word);
		for (uint64_t left = record->changed; left; left &= left - 1)
			event.words[__builtin_ctzll(left)] = *word++;
		lead_pointers(relay, &event.event, (const char *) word);
		relay->sink->event(relay->sink->data, &event.event);
		at += record->size;
	}
	batch->used = 0;
}

static void *take(void *data)
{
	struct relay *relay = data;

	pthread_mutex_lock(&relay->lock);
	for (;;) {
		while (relay->taken == relay->made && !relay->over) {
			relay->idle = true;
			pthread_cond_wait(&relay->changed, &relay->lock);
			relay->idle = false;
		}
		if (relay->taken == relay->made)
			break;
		pthread_mutex_unlock(&relay->lock);
		take_batch(relay, &relay->batches[relay->taken % BATCHES]);
		pthread_mutex_lock(&relay->lock);
		relay->taken++;
		if (relay->wanted && relay->taken >= relay->wanted)
			pthread_cond_broadcast(&relay->changed);
	}
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* --- what else a reader tells: rare, and told when the taker has nothing to do ---------------- */

static const struct event_sink *waited(void *data)
{
	relay_wait(data);
	return ((struct relay *) data)->sink;
}

static uint32_t relay_shape(void *data, const char *names)
{
	const struct event_sink *sink = waited(data);

	return sink->shape(sink->data, names);
}

static uint32_t relay_add_host(void *data, const struct host_info *info)
{
	const struct event_sink *sink = waited(data);

	return sink->add_host(sink->data, info);
}

static uint32_t relay_user_host(void *data, const char *hostname, const char *clock_uuid)
{
	const struct event_sink *sink = waited(data);

	return sink->user_host(sink->data, hostname, clock_uuid);
}

static void relay_leave_user(void *data)
{
	const struct event_sink *sink = waited(data);

	sink->leave_user(sink->data);
}

static void relay_place(void *data, const char *directory)
{
	const struct event_sink *sink = waited(data);

	sink->place(sink->data, directory);
}

static struct event_class relay_declare(void *data, const char *name, enum class_origin origin)
{
	const struct event_sink *sink = waited(data);

	return sink->declare(sink->data, name, origin);
}

static void relay_fields(void *data, unsigned filter, uint64_t conditions, const char *names)
{
	const struct event_sink *sink = waited(data);

	sink->fields(sink->data, filter, conditions, names);
}

static void relay_begin(void *data, uint32_t host, uint32_t cpu, int64_t time)
{
	const struct event_sink *sink = waited(data);

	sink->begin(sink->data, host, cpu, time);
}

static void relay_lose(void *data, const struct lost_events *lost)
{
	const struct event_sink *sink = waited(data);

	sink->lose(sink->data, lost);
}

static void relay_pass(void *data, int64_t time)
{
	const struct event_sink *sink = waited(data);

	sink->pass(sink->data, time);
}

static void relay_damage(void *data, const char *file, uint64_t bytes, uint64_t total,
			 const char *what)
{
	const struct event_sink *sink = waited(data);

	sink->damage(sink->data, file, bytes, total, what);
}

static void relay_damage_user(void *data, const char *path, const char *what)
{
	const struct event_sink *sink = waited(data);

	sink->damage_user(sink->data, path, what);
}

static void relay_stop(void *data, const char *why)
{
	const struct event_sink *sink = waited(data);

	sink->stop(sink->data, why);
}

static void make_sink(struct relay *relay)
{
	relay->own = *relay->sink;
	relay->own.data = relay;
	relay->own.shape = relay_shape;
	relay->own.add_host = relay_add_host;
	relay->own.user_host = relay_user_host;
	relay->own.leave_user = relay_leave_user;
	relay->own.place = relay_place;
	relay->own.declare = relay_declare;
	relay->own.fields = relay_fields;
	relay->own.begin = relay_begin;
	relay->own.event = relay_event;
	relay->own.lose = relay_lose;
	relay->own.pass = relay_pass;
	relay->own.damage = relay_damage;
	relay->own.damage_user = relay_damage_user;
	relay->own.stop = relay_stop;
}

/* --- its life -------------------------------------------------------------------------------- */

static void clear(struct relay *relay)
{
	for (int i = 0; i < BATCHES; i++)
		g_free(relay->batches[i].bytes);
	for (int kind = 0; kind < EV_KIND_COUNT; kind++)
		g_array_free(relay->pointers[kind], TRUE);
	g_free(relay->empty);
	pthread_mutex_destroy(&relay->lock);
	pthread_cond_destroy(&relay->changed);
	g_free(relay);
}

struct relay *relay_new(const struct event_sink *sink)
{
	struct relay *relay = g_new0(struct relay, 1);

	relay->sink = sink;
	make_sink(relay);
	know_kinds(relay);
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	for (int i = 0; i < BATCHES; i++) {
		relay->batches[i].room = BATCH_BYTES;
		relay->batches[i].bytes = g_malloc(BATCH_BYTES);
	}
	if (pthread_create(&relay->thread, NULL, take, relay) == 0)
		return relay;
	clear(relay);
	return NULL;
}

void relay_free(struct relay *relay)
{
	if (!relay)
		return;
	relay_wait(relay);
	pthread_mutex_lock(&relay->lock);
	relay->over = true;
	pthread_cond_broadcast(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
	clear(relay);
}

const struct event_sink *relay_sink(const struct relay *relay)
{
	return &relay->own;
}
