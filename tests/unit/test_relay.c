/* SPDX-License-Identifier: MIT */
/* What a sink hears through a relay (event/relay.h) is what it was told, in that order.
 *
 * Expected values: the events are made by a rule from their number, twice: when they are handed on,
 * from memory that is overwritten at once, and when they are heard.
 */
#include <glib.h>
#include <string.h>

#include "event/kinds.h"
#include "event/relay.h"

#define EVENTS 60000

struct heard {
	uint64_t events, begun, lost;
};

/* Texts and lists of one event, of lengths that vary with its number; some are longer than a
 * batch. */
struct contents {
	GPtrArray *texts, *lists; /* owned */
	uint64_t number;
	guint made;
};

static void free_bytes(gpointer bytes)
{
	g_byte_array_free(bytes, TRUE);
}

static guint length_of(uint64_t number, guint which)
{
	return number % 9973 == 17 && which == 0 ? 200000
						 : (guint) ((number * 7 + which * 13) % 40);
}

static void make_text(const char **text, void *data)
{
	struct contents *contents = data;
	guint length = length_of(contents->number, contents->made++);
	char *made;

	if (length % 5 == 3) { /* the event has none */
		*text = NULL;
		return;
	}
	made = g_strnfill(length, (char) ('a' + contents->number % 26));
	g_ptr_array_add(contents->texts, made);
	*text = made;
}

static void list_set(const void **bytes, struct contents *contents, uint32_t *count, guint unit)
{
	GByteArray *made = g_byte_array_new();
	guint length = length_of(contents->number, contents->made++) / unit;

	g_byte_array_set_size(made, length * unit + 1); /* some memory even of no elements */
	memset(made->data, (int) (contents->number & 0xff), made->len);
	g_ptr_array_add(contents->lists, made);
	*bytes = made->data;
	*count = length;
}

static void make_list(const void **bytes, size_t size, void *data)
{
	struct event_bytes *list = (void *) bytes;

	(void) size;
	list_set((const void **) &list->bytes, data, &list->count, 1);
}

/* Which words of its arguments an event has other than an empty one, and some more. */
static uint64_t touched_by(const struct event *event)
{
	struct event empty;
	uint64_t touched = 0;

	memcpy(&empty, event, sizeof empty);
	event_reset(&empty);
	for (size_t at = offsetof(struct event, sched_switch); at < event_size(event->kind);
	     at += 8)
		if (memcmp((const char *) event + at, (const char *) &empty + at, 8) != 0)
			touched |= UINT64_C(1) << at / 8;
	return touched | UINT64_C(1) << event->time % 64;
}

/* Event number `number`: what it points to is in `contents`. */
static void make(struct event *event, struct contents *contents, uint64_t number)
{
	memset(event, 0x5a, sizeof *event); /* what a kind does not use may be anything */
	contents->number = number;
	contents->made = 0;
	event->time = (int64_t) number;
	event->kind = (uint16_t) (number * 31 % EV_KIND_COUNT);
	event->cpu = number % 5;
	event->has_callstacks = number % 3 == 0;
	event->tid = (int32_t) (number % 1000);
	event_reset(event);
	if (event->kind == EV_SYSCALL_ENTRY || event->kind == EV_SYSCALL_EXIT) {
		event->syscall.ret = (int64_t) number - 40000;
		event->syscall.fd = (int32_t) (number % 70) - 1;
		make_text(&event->syscall.filename, contents);
		make_list((const void **) &event->syscall.v4.bytes, 0, contents);
		list_set((const void **) &event->syscall.fds, contents, &event->syscall.fd_count,
			 sizeof *event->syscall.fds);
		list_set((const void **) &event->syscall.values, contents,
			 &event->syscall.value_count, sizeof *event->syscall.values);
	} else {
		event->has_callstacks = false;
		event_each_pointer(event, make_text, make_list, contents);
		event->has_callstacks = number % 3 == 0;
	}
	if (event->has_callstacks) {
		make_list((const void **) &event->callstack.bytes, 0, contents);
		event->user_callstack = (struct event_bytes) {NULL, 0};
	}
	event->touched = number % 2 ? 0 : touched_by(event);
}

static struct contents contents_new(void)
{
	return (struct contents) {g_ptr_array_new_with_free_func(g_free),
				  g_ptr_array_new_with_free_func(free_bytes), 0, 0};
}

static void contents_clear(struct contents *contents)
{
	for (guint i = 0; i < contents->texts->len; i++) {
		char *text = contents->texts->pdata[i];

		memset(text, '#', strlen(text));
	}
	for (guint i = 0; i < contents->lists->len; i++) {
		GByteArray *list = contents->lists->pdata[i];

		memset(list->data, '#', list->len);
	}
	g_ptr_array_free(contents->texts, TRUE);
	g_ptr_array_free(contents->lists, TRUE);
}

/* --- comparing ------------------------------------------------------------------------------- */

struct pointers {
	const void *at[32];
	size_t sizes[32];
	guint count;
};

static void note_text(const char **text, void *data)
{
	struct pointers *pointers = data;

	pointers->sizes[pointers->count] = *text ? strlen(*text) : 0;
	pointers->at[pointers->count++] = *text;
	*text = NULL;
}

static void note_list(const void **bytes, size_t size, void *data)
{
	struct pointers *pointers = data;

	pointers->sizes[pointers->count] = size;
	pointers->at[pointers->count++] = *bytes;
	*bytes = NULL;
}

static void same_event(const struct event *heard, const struct event *told)
{
	struct event a, b;
	struct pointers of_a = {.count = 0}, of_b = {.count = 0};
	size_t arguments = offsetof(struct event, sched_switch);

	memcpy(&a, heard, event_size(heard->kind));
	memcpy(&b, told, event_size(told->kind));
	event_each_pointer(&a, note_text, note_list, &of_a);
	event_each_pointer(&b, note_text, note_list, &of_b);
	g_assert_cmpint(a.time, ==, b.time);
	g_assert_cmpuint(a.kind, ==, b.kind);
	g_assert_cmpuint(a.cpu, ==, b.cpu);
	g_assert_cmpint(a.tid, ==, b.tid);
	g_assert_cmpuint(a.has_callstacks, ==, b.has_callstacks);
	g_assert_cmpmem((const char *) &a + arguments, event_size(a.kind) - arguments,
			(const char *) &b + arguments, event_size(b.kind) - arguments);
	g_assert_cmpuint(of_a.count, ==, of_b.count);
	for (guint i = 0; i < of_a.count; i++) {
		g_assert_cmpint(of_a.at[i] == NULL, ==, of_b.at[i] == NULL);
		if (of_a.at[i])
			g_assert_cmpmem(of_a.at[i], of_a.sizes[i], of_b.at[i], of_b.sizes[i]);
	}
}

static void hear_event(void *data, const struct event *event)
{
	struct contents contents = contents_new();
	struct heard *heard = data;
	struct event told;

	make(&told, &contents, heard->events++);
	same_event(event, &told);
	contents_clear(&contents);
}

static void hear_begin(void *data, uint32_t host, uint32_t cpu, int64_t time)
{
	struct heard *heard = data;

	g_assert_cmpuint(host, ==, 1);
	g_assert_cmpuint(cpu, ==, 2);
	g_assert_cmpint(time, ==, (int64_t) heard->events);
	heard->begun++;
}

static void hear_lost(void *data, const struct lost_events *lost)
{
	struct heard *heard = data;

	g_assert_cmpint(lost->begin, ==, (int64_t) heard->events);
	heard->lost++;
}

static uint32_t hear_shape(void *data, const char *names)
{
	g_assert_cmpstr(names, ==, "fd buf*");
	return (uint32_t) ((struct heard *) data)->events;
}

/* Events of every kind; between them, now and then, what is no event, told at its place. */
static void order(uint32_t alone)
{
	struct heard heard = {0, 0, 0};
	struct event_sink sink = {.data = &heard,
				  .event = hear_event,
				  .begin = hear_begin,
				  .lose = hear_lost,
				  .shape = hear_shape};
	struct relay *relay = relay_new(&sink, alone);
	const struct event_sink *own = relay_sink(relay);

	for (uint64_t i = 0; i < EVENTS; i++) {
		struct contents contents = contents_new();
		struct event event;

		make(&event, &contents, i);
		if (i % 4999 == 5)
			own->begin(own->data, 1, 2, (int64_t) i);
		if (i % 7919 == 3)
			own->lose(own->data, &(struct lost_events) {.begin = (int64_t) i});
		if (i == 777)
			g_assert_cmpuint(own->shape(own->data, "fd buf*"), ==, 777);
		own->event(own->data, &event);
		contents_clear(&contents);
	}
	relay_wait(relay);
	g_assert_cmpuint(heard.events, ==, EVENTS);
	g_assert_cmpuint(heard.begun, ==, (EVENTS - 5 + 4998) / 4999);
	g_assert_cmpuint(heard.lost, ==, (EVENTS - 3 + 7918) / 7919);
	relay_free(relay);
}

static void test_order(void)
{
	order(0);
}

/* The first ones are taken by who reads them. */
static void test_alone(void)
{
	order(1);
	order(EVENTS / 2);
	order(EVENTS);
}

/* Nothing was handed on; and what was is taken before the relay goes. */
static void test_end(void)
{
	struct heard heard = {0, 0, 0};
	struct event_sink sink = {.data = &heard, .event = hear_event};
	struct relay *relay = relay_new(&sink, 0);
	struct contents contents = contents_new();
	struct event event;

	relay_wait(relay);
	relay_free(relay);
	g_assert_cmpuint(heard.events, ==, 0);
	relay = relay_new(&sink, 0);
	make(&event, &contents, 0);
	relay_sink(relay)->event(relay_sink(relay)->data, &event);
	relay_free(relay);
	g_assert_cmpuint(heard.events, ==, 1);
	contents_clear(&contents);
	relay_wait(NULL);
	relay_free(NULL);
}

/* Processors of 32 bits have none: events are taken by who reads them. */
static void test_none(void)
{
	struct event_sink sink = {.event = hear_event};

	g_assert_null(relay_new(&sink, 0));
	relay_free(NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	if (sizeof(void *) < 8) {
		g_test_add_func("/relay/none", test_none);
		return g_test_run();
	}
	g_test_add_func("/relay/order", test_order);
	g_test_add_func("/relay/alone", test_alone);
	g_test_add_func("/relay/end", test_end);
	return g_test_run();
}
