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
 *
 * Records are made in memory of the maker's own, and taken from such of the taker's: a batch goes
 * from one to the other as a whole, as lines of cache that another processor has arrive many at a
 * time then. (Written record by record, each waited for its line, and the next event's decoding
 * for it: 50 ns an event.)
 */
#include "event/relay.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "event/kinds.h"

#define BATCHES 8
#define BATCH_BYTES (32u << 10)
#define LINE 128 /* bytes: two lines of cache, as processors fetch the next one, too */
#define ALIGNED(size) (((size) + 7) & ~(size_t) 7)
#define TEXT_BYTES(length) (sizeof(uint64_t) + ALIGNED((length) + 1)) /* with its length */
#define TEXTS_MAX 8 /* that an event points to */
#define WORDS ((sizeof(struct event) + 7) / 8)

_Static_assert(sizeof(struct event) % 8 == 0 && WORDS <= 64, "a bit for each word");

/* An event as words. */
union event_words {
	struct event event;
	uint64_t words[WORDS];
};

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

struct relay {
	struct event_sink own;         /* what the reader feeds */
	const struct event_sink *sink; /* borrowed */
	pthread_t thread;
	bool begun;     /* it is there, and all below */
	uint32_t alone; /* so many events are left until then */
	union event_words *empty, *taken_events; /* owned; one of each kind */
	uint64_t texts[EV_KIND_COUNT], lists[EV_KIND_COUNT]; /* bits: words that are pointers */
	uint16_t words[EV_KIND_COUNT]; /* that such an event uses */
	struct batch batches[BATCHES];
	/* the maker's own, and the taker's: in lines of cache that the other does not touch */
	_Alignas(LINE) struct batch making;
	_Alignas(LINE) struct batch taking;
	_Alignas(LINE) pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	uint64_t made, taken; /* batches */
	uint64_t wanted;      /* the maker waits for so many to be taken; 0: it does not */
	bool idle;            /* the taker waits */
	bool over;
	int cpu;              /* where the taker was at the end, -1: not known */
};

/* --- what is copied -------------------------------------------------------------------------- */

struct finding {
	const struct event *event;
	uint64_t texts, lists;
};

static uint64_t bit_of(const struct finding *finding, const void *at)
{
	return UINT64_C(1) << ((const char *) at - (const char *) finding->event) / 8;
}

static void note_text(const char **text, void *data)
{
	struct finding *finding = data;

	finding->texts |= bit_of(finding, text);
}

static void note_list(const void **bytes, size_t size, void *data)
{
	struct finding *finding = data;

	(void) size;
	finding->lists |= bit_of(finding, bytes);
}

static void know_kinds(struct relay *relay)
{
	relay->empty = g_new0(union event_words, EV_KIND_COUNT);
	for (uint16_t kind = 0; kind < EV_KIND_COUNT; kind++) {
		struct event *event = &relay->empty[kind].event;
		struct finding finding = {event, 0, 0};

		event->kind = kind;
		event->has_callstacks = true;
		event_each_pointer(event, note_text, note_list, &finding);
		event->has_callstacks = false;
		event_reset(event);
		g_assert(__builtin_popcountll(finding.texts) <= TEXTS_MAX);
		relay->texts[kind] = finding.texts;
		relay->lists[kind] = finding.lists;
		relay->words[kind] = (uint16_t) ((event_size(kind) + 7) / 8);
	}
	relay->taken_events = g_memdup2(relay->empty, EV_KIND_COUNT * sizeof *relay->empty);
}

/* Bytes of the list whose pointer is that word. */
static size_t list_bytes(const struct event *event, guint word)
{
	switch (word * 8) {
	case offsetof(struct event, syscall.fds):
		return event->syscall.fd_count * sizeof *event->syscall.fds;
	case offsetof(struct event, syscall.values):
		return event->syscall.value_count * sizeof *event->syscall.values;
	default:
		return ((const struct event_bytes *) (const void *) ((const char *) event +
								     (size_t) word * 8))
			->count;
	}
}

/* --- the maker's side ------------------------------------------------------------------------ */

static void batch_reserve(struct batch *batch, size_t room)
{
	if (batch->room < room) {
		batch->room = room;
		batch->bytes = g_realloc(batch->bytes, room);
	}
}

static void batch_copy(struct batch *to, const struct batch *from)
{
	batch_reserve(to, from->used);
	memcpy(to->bytes, from->bytes, from->used);
	to->used = from->used;
}

/* What was made is the taker's; there is room for another batch. */
static void hand_over(struct relay *relay)
{
	batch_copy(&relay->batches[relay->made % BATCHES], &relay->making);
	relay->making.used = 0;
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

/* Room for `size` more bytes in the maker's own batch. */
static struct batch *batch_for(struct relay *relay, size_t size)
{
	struct batch *batch = &relay->making;

	if (batch->used + size > batch->room && batch->used)
		hand_over(relay);
	batch_reserve(batch, size);
	return batch;
}

/* The words of [from, to) that are not as in an empty event. Most are: four at a time. */
static uint64_t changed_words(const uint64_t *words, const uint64_t *empty, guint from, guint to)
{
	uint64_t changed = 0;

	for (; from < to && from + 4 <= WORDS; from += 4) {
		uint64_t a = words[from] ^ empty[from], b = words[from + 1] ^ empty[from + 1],
			 c = words[from + 2] ^ empty[from + 2],
			 d = words[from + 3] ^ empty[from + 3];

		if (a | b | c | d)
			changed |= ((uint64_t) (a != 0) | (uint64_t) (b != 0) << 1 |
				    (uint64_t) (c != 0) << 2 | (uint64_t) (d != 0) << 3)
				   << from;
	}
	for (; from < to; from++)
		changed |= (uint64_t) (words[from] != empty[from]) << from;
	return to < 64 ? changed & ((UINT64_C(1) << to) - 1) : changed;
}

#define HEAD_WORDS (offsetof(struct event, touched) / 8)
#define STACKS_AT (offsetof(struct event, callstack) / 8)
#define ARGUMENTS_AT (offsetof(struct event, sched_switch) / 8)
#define BITS_BELOW(word) ((UINT64_C(1) << (word)) - 1)

/* Of an event's arguments. */
static uint64_t changed_arguments(const struct relay *relay, const union event_words *event)
{
	const uint64_t *empty = relay->empty[event->event.kind].words;
	guint words = relay->words[event->event.kind];
	uint64_t touched = event->event.touched & BITS_BELOW(words) & ~BITS_BELOW(ARGUMENTS_AT);
	uint64_t changed = 0;

	if (!event->event.touched)
		return changed_words(event->words, empty, ARGUMENTS_AT, words);
	for (; touched; touched &= touched - 1) {
		int word = __builtin_ctzll(touched);

		changed |= (uint64_t) (event->words[word] != empty[word]) << word;
	}
#ifdef WHYLATE_CHECKS
	g_assert(changed == changed_words(event->words, empty, ARGUMENTS_AT, words));
#endif
	return changed;
}

static uint64_t changed_in(const struct relay *relay, const union event_words *event)
{
	const uint64_t *empty = relay->empty[event->event.kind].words;
	uint64_t changed = changed_words(event->words, empty, 0, HEAD_WORDS);

	if (event->event.has_callstacks) /* else anything may be in them */
		changed |= changed_words(event->words, empty, STACKS_AT, ARGUMENTS_AT);
	return changed | changed_arguments(relay, event);
}

/* Bytes that the event points to, with what aligns them; an empty event points nowhere. A text may
 * lie in a file that is written meanwhile: it is as long as it is found here. */
static size_t pointed_bytes(const struct relay *relay, const union event_words *event,
			    uint64_t changed, uint64_t *lengths)
{
	uint16_t kind = event->event.kind;
	size_t size = 0;

	for (uint64_t left = changed & relay->lists[kind]; left; left &= left - 1)
		size += ALIGNED(list_bytes(&event->event, (guint) __builtin_ctzll(left)));
	for (uint64_t left = changed & relay->texts[kind]; left; left &= left - 1) {
		*lengths = strlen((const char *) (uintptr_t) event->words[__builtin_ctzll(left)]);
		size += TEXT_BYTES(*lengths);
		lengths++;
	}
	return size;
}

/* A text behind its length. */
static char *put_text(char *to, const char *text, uint64_t length)
{
	memcpy(to, &length, sizeof length);
	memcpy(to + sizeof length, text, length);
	to[sizeof length + length] = 0;
	return to + TEXT_BYTES(length);
}

static void hand_on(struct relay *relay, const struct event *event)
{
	const union event_words *words = (const void *) event;
	uint64_t changed = changed_in(relay, words), lengths[TEXTS_MAX], *length = lengths, *to;
	struct batch *batch =
		batch_for(relay, sizeof(struct record) + sizeof *words +
					 pointed_bytes(relay, words, changed, lengths));
	struct record *record = (void *) (batch->bytes + batch->used);
	char *bytes;

	record->kind = event->kind;
	record->changed = changed;
	to = (void *) (record + 1);
	for (uint64_t left = changed; left; left &= left - 1)
		*to++ = words->words[__builtin_ctzll(left)];
	bytes = (char *) to;
	for (uint64_t left = changed & relay->lists[event->kind]; left; left &= left - 1) {
		guint word = (guint) __builtin_ctzll(left);
		size_t size = list_bytes(event, word);

		memcpy(bytes, (const void *) (uintptr_t) words->words[word], size);
		bytes += ALIGNED(size);
	}
	for (uint64_t left = changed & relay->texts[event->kind]; left; left &= left - 1)
		bytes = put_text(bytes,
				 (const char *) (uintptr_t) words->words[__builtin_ctzll(left)],
				 *length++);
	record->size = (uint32_t) (bytes - (char *) record);
	batch->used += record->size;
}

void relay_wait(struct relay *relay)
{
	if (!relay || !relay->begun)
		return;
	if (relay->making.used)
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
static void lead_pointers(const struct relay *relay, union event_words *event, uint64_t changed,
			  const char *bytes)
{
	uint16_t kind = event->event.kind;

	for (uint64_t left = changed & relay->lists[kind]; left; left &= left - 1) {
		guint word = (guint) __builtin_ctzll(left);

		event->words[word] = (uintptr_t) bytes;
		bytes += ALIGNED(list_bytes(&event->event, word));
	}
	for (uint64_t left = changed & relay->texts[kind]; left; left &= left - 1) {
		uint64_t length;

		memcpy(&length, bytes, sizeof length);
		event->words[__builtin_ctzll(left)] = (uintptr_t) bytes + sizeof length;
		bytes += TEXT_BYTES(length);
	}
}

/* Each kind has its event, which is empty again when one was taken. */
static void take_batch(const struct relay *relay, const struct batch *batch)
{
	size_t used = batch->used;

	for (size_t at = 0; at < used;) {
		const struct record *record = (const void *) (batch->bytes + at);
		union event_words *event = &relay->taken_events[record->kind];
		const uint64_t *empty = relay->empty[record->kind].words;
		const uint64_t *word = (const void *) (record + 1);

		for (uint64_t left = record->changed; left; left &= left - 1)
			event->words[__builtin_ctzll(left)] = *word++;
		lead_pointers(relay, event, record->changed, (const char *) word);
		relay->sink->event(relay->sink->data, &event->event);
		for (uint64_t left = record->changed; left; left &= left - 1)
			event->words[__builtin_ctzll(left)] = empty[__builtin_ctzll(left)];
		at += record->size;
	}
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
		batch_copy(&relay->taking, &relay->batches[relay->taken % BATCHES]);
		take_batch(relay, &relay->taking);
		pthread_mutex_lock(&relay->lock);
		relay->taken++;
		if (relay->wanted && relay->taken >= relay->wanted)
			pthread_cond_broadcast(&relay->changed);
	}
	relay->cpu = sched_getcpu();
	pthread_mutex_unlock(&relay->lock);
	return NULL;
}

/* What was made of the events is in that processor's caches, and will be read here next: of 2.1
 * million events the overview took 0.39 s elsewhere and 0.35 there (medians). Where it may not be
 * asked for, this thread stays where it is. */
static void go_to(int cpu)
{
	cpu_set_t allowed, there;

	if (cpu < 0 || cpu >= CPU_SETSIZE || sched_getaffinity(0, sizeof allowed, &allowed) != 0)
		return;
	CPU_ZERO(&there);
	CPU_SET((size_t) cpu, &there);
	if (sched_setaffinity(0, sizeof there, &there) == 0)
		sched_setaffinity(0, sizeof allowed, &allowed);
}

/* --- the thread ------------------------------------------------------------------------------ */

static void clear(struct relay *relay)
{
	for (int i = 0; i < BATCHES; i++)
		g_free(relay->batches[i].bytes);
	g_free(relay->making.bytes);
	g_free(relay->taking.bytes);
	g_free(relay->empty);
	g_free(relay->taken_events);
	pthread_mutex_destroy(&relay->lock);
	pthread_cond_destroy(&relay->changed);
}

/* False: no thread can be had. */
static bool begin(struct relay *relay)
{
	know_kinds(relay);
	pthread_mutex_init(&relay->lock, NULL);
	pthread_cond_init(&relay->changed, NULL);
	batch_reserve(&relay->making, BATCH_BYTES);
	relay->begun = pthread_create(&relay->thread, NULL, take, relay) == 0;
	if (!relay->begun)
		clear(relay);
	return relay->begun;
}

static void end(struct relay *relay)
{
	relay_wait(relay);
	pthread_mutex_lock(&relay->lock);
	relay->over = true;
	pthread_cond_broadcast(&relay->changed);
	pthread_mutex_unlock(&relay->lock);
	pthread_join(relay->thread, NULL);
	go_to(relay->cpu);
	clear(relay);
}

static void relay_event(void *data, const struct event *event)
{
	struct relay *relay = data;

	if (!relay->begun && !relay->alone && !begin(relay))
		relay->alone = UINT32_MAX;
	if (relay->begun) {
		hand_on(relay, event);
		return;
	}
	relay->alone--;
	relay->sink->event(relay->sink->data, event);
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

static void relay_passed_until(void *data, int64_t time)
{
	const struct event_sink *sink = waited(data);

	sink->passed_until(sink->data, time);
}

static void relay_passed_from(void *data, int64_t time)
{
	const struct event_sink *sink = waited(data);

	sink->passed_from(sink->data, time);
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
	relay->own.passed_until = relay_passed_until;
	relay->own.passed_from = relay_passed_from;
	relay->own.pass = relay_pass;
	relay->own.damage = relay_damage;
	relay->own.damage_user = relay_damage_user;
	relay->own.stop = relay_stop;
}

/* --- its life -------------------------------------------------------------------------------- */

struct relay *relay_new(const struct event_sink *sink, uint32_t alone)
{
	/* a pointer is one of an event's words, which has 64 bits */
	struct relay *relay = sizeof(void *) == 8 ? aligned_alloc(LINE, sizeof *relay) : NULL;

	if (!relay)
		return NULL;
	*relay = (struct relay) {.sink = sink, .alone = alone};
	make_sink(relay);
	return relay;
}

void relay_free(struct relay *relay)
{
	if (relay && relay->begun)
		end(relay);
	free(relay);
}

const struct event_sink *relay_sink(const struct relay *relay)
{
	return &relay->own;
}
