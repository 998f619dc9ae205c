/* SPDX-License-Identifier: MIT */
/* First contacts, and what is a wait for a request; see idle.h. */
#include "waits/idle.h"

#include <string.h>

#include "contention/holders.h"
#include "objects/calls.h"
#include "parts/make_parts.h"
#include "threads/stop.h"
#include "util/idmap.h"
#include "waits/cause_kinds.h"
#include "waits/reasons.h"

enum contact {
	TURNED, /* the first of two ids turned to the second */
	PIPED, /* … through a pipe */
	FED, /* … as the second read from it */
	WRITTEN, /* process and what it waits on: it wrote there */
	HEARD, /* … such a wait ended */
	WRITTEN_LAST, /* … it wrote there last, and none after it */
	HEARD_SINCE, /* thread and what it waits on: … since it wrote there itself */
	GAVE, /* thread and what another waited on: it ended that wait */
	SHARED, /* process and what it waits on: a lock that others read under */
	PACED, /* of a thread: it rested somewhere else than on a futex, the second time */
	CONTACTS
};

/* When that was first, by two ids. */
struct notes {
	const uint32_t *process; /* borrowed; of each thread: the first of its process */
	struct idmap places[CONTACTS]; /* -> index in `first` */
	GArray *first; /* owned; struct first */
};

struct first {
	uint64_t key;
	int64_t time;
	enum contact contact;
};

/* Who turned to whom first, as far as it was asked for: of two processes the waits of both tell. It
 * outlives the session that asked first: that may be a copy of another window (limits/). */
struct contacts {
	struct notes notes;
	bool *read; /* owned; of a process' first thread: all its waits were noted */
};

static const struct call_info *call_of(const struct session *session, const struct wait *wait)
{
	return flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf));
}

/* Whose side an id is: both are threads of one process, or the first, or the
 * second, stands for all of its process; or the second is what the first waited at, until a call
 * woke all who did. */
enum side { SIDE_THREADS, SIDE_FROM_PROCESS, SIDE_TO_PROCESS, SIDE_AT };

static uint64_t key_of(enum side side, uint32_t from, uint32_t to)
{
	return (uint64_t) side << 62 | (uint64_t) from << 31 | to;
}

static void notes_init(struct notes *notes, const uint32_t *process)
{
	notes->process = process;
	notes->first = g_array_new(FALSE, FALSE, sizeof(struct first));
	for (enum contact i = 0; i < CONTACTS; i++)
		idmap_init(&notes->places[i]);
}

static void notes_clear(struct notes *notes)
{
	for (enum contact i = 0; i < CONTACTS; i++)
		idmap_clear(&notes->places[i]);
	g_array_free(notes->first, TRUE);
}

static int64_t first_of(const struct notes *notes, enum contact contact, uint64_t key)
{
	uint32_t place = idmap_get(&notes->places[contact], key);

	return place == IDMAP_NONE ? INT64_MAX
				   : g_array_index(notes->first, struct first, place).time;
}

static void note_key(struct notes *notes, enum contact contact, uint64_t key, int64_t time)
{
	uint32_t place = idmap_get(&notes->places[contact], key);
	struct first fresh = {key, time, contact};

	if (place != IDMAP_NONE) {
		struct first *first = &g_array_index(notes->first, struct first, place);

		first->time = MIN(first->time, time);
		return;
	}
	idmap_set(&notes->places[contact], key, notes->first->len);
	g_array_append_val(notes->first, fresh);
}

/* The last such time: what note_key() has is the first. */
static void note_last(struct notes *notes, enum contact contact, uint64_t key, int64_t time)
{
	uint32_t place = idmap_get(&notes->places[contact], key);
	struct first *last;

	note_key(notes, contact, key, time);
	if (place == IDMAP_NONE)
		return;
	last = &g_array_index(notes->first, struct first, place);
	last->time = MAX(last->time, time);
}

/* A thread has written to what it had heard from: since then it has not. */
static void forget_heard(struct notes *notes, uint32_t thread, uint32_t resource)
{
	uint32_t place = idmap_get(&notes->places[HEARD_SINCE], key_of(SIDE_AT, thread, resource));

	if (place != IDMAP_NONE)
		g_array_index(notes->first, struct first, place).time = INT64_MAX;
}

static void note(struct notes *notes, enum contact contact, uint32_t from, uint32_t to,
		 int64_t time)
{
	uint32_t a = notes->process[from], b = notes->process[to];

	if (a == b) {
		note_key(notes, contact, key_of(SIDE_THREADS, from, to), time);
		return;
	}
	note_key(notes, contact, key_of(SIDE_FROM_PROCESS, a, to), time);
	note_key(notes, contact, key_of(SIDE_TO_PROCESS, from, b), time);
}

/* It wrote to the connection that it then waits for; or into a pipe, and reads from another. */
static bool is_answered(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;

	if (!block->sent)
		return false;
	return block->sent == block->resource ||
	       (PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
		call_of(session, wait)->moves == MOVES_IN &&
		g_str_has_prefix(session_text(session, block->sent), "pipe:") &&
		g_str_has_prefix(session_text(session, block->resource), "pipe:"));
}

static bool is_on_pipe(const struct session *session, const struct wait *wait)
{
	return g_str_has_prefix(session_text(session, wait->block->resource), "pipe:");
}

/* Whether it writes to what it hears from. */
static void note_place(struct notes *notes, const struct session *session, const struct wait *wait)
{
	uint32_t process = notes->process[wait->thread];
	const struct block *block = wait->block;
	const struct reason *reason = block_reason(session, block);

	if (block->sent) { /* "several": any */
		note_key(notes, WRITTEN, key_of(SIDE_AT, process, block->sent), wait->begin);
		note_last(notes, WRITTEN_LAST, key_of(SIDE_AT, process, block->sent), wait->begin);
		forget_heard(notes, wait->thread, block->sent);
	}
	if (reason && reason->kind == REASON_READ_LOCKED)
		note_key(notes, SHARED, key_of(SIDE_AT, process, block->resource), wait->begin);
	if (block->resource && PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	    call_of(session, wait)->wait != WAIT_CONNECT) {
		note_key(notes, HEARD, key_of(SIDE_AT, process, block->resource), wait->end);
		note_key(notes, HEARD_SINCE, key_of(SIDE_AT, wait->thread, block->resource),
			 wait->end);
	}
}

/* The call of an event loop, in which servers wait for whoever comes. */
static bool is_event_loop(const struct session *session, const struct wait *wait)
{
	return wait_is_for_whichever(session, wait->leaf);
}

static bool is_on_eventfd(const struct session *session, const struct wait *wait)
{
	return strcmp(session_text(session, wait->block->resource), "eventfd") == 0;
}

/* A place to which a thread returns when it has nothing to do: its own timer, or where others turn
 * to it; but for a futex, and an eventfd, which may be semaphores. */
static bool is_rest(const struct session *session, const struct wait *wait)
{
	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL)
		return false;
	switch (call_of(session, wait)->wait) {
	case WAIT_SLEEP:
		return true;
	case WAIT_FD:
		return (call_of(session, wait)->moves == MOVES_IN ||
			call_of(session, wait)->moves == MOVES_RECEIVE) &&
		       !is_on_eventfd(session, wait) &&
		       !g_str_has_prefix(session_text(session, wait->block->resource), "file:/");
	default:
		return is_event_loop(session, wait);
	}
}

static bool is_in_futex(const struct session *session, const struct wait *wait)
{
	return PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       call_of(session, wait)->wait == WAIT_FUTEX;
}

/* Of what others change: they speak to the kernel. */
static bool is_told_by_kernel(const struct session *session, const struct wait *wait)
{
	return g_str_has_prefix(session_text(session, wait->block->resource), "socket:netlink");
}

static void note_waits(struct notes *notes, const struct session *session, uint32_t thread)
{
	unsigned rests = 0;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->trace.begin, session->trace.end + 1);
	while (spans_next_off_cpu(&spans, &span)) {
		enum contact contact;
		struct wait wait;
		struct lead lead;

		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(session, thread, &span);
		note_place(notes, session, &wait);
		if (is_rest(session, &wait) && ++rests == 2)
			note_key(notes, PACED, key_of(SIDE_THREADS, thread, thread), span.begin);
		if (wait.block->to_all)
			note_key(notes, TURNED, key_of(SIDE_AT, thread, wait.block->resource),
				 span.end);
		if (!wait_lead(session, &wait, &lead) || lead.thread == thread ||
		    block_reason(session, wait.block) || is_told_by_kernel(session, &wait))
			continue; /* what it tried itself, nobody turned to it for */
		if (is_in_futex(session, &wait))
			note_key(notes, GAVE, key_of(SIDE_AT, lead.thread, wait.block->resource),
				 span.end);
		contact = is_on_pipe(session, &wait) ? PIPED : TURNED;
		note(notes, contact, lead.thread, thread, span.end);
		if (contact == PIPED && PACK_KIND(span.leaf) == LEAF_BLOCK_SYSCALL &&
		    call_of(session, &wait)->moves == MOVES_IN)
			note(notes, FED, lead.thread, thread, span.end);
		if (is_answered(session, &wait)) /* so it had turned to that one before */
			note(notes, contact, thread, lead.thread, span.begin);
	}
}

/* All births are noted at once. */
static void *contacts_new(const struct session *session)
{
	const struct model *model = &session->trace.model;
	struct contacts *contacts = g_new(struct contacts, 1);

	notes_init(&contacts->notes, session->trace.processes.first);
	contacts->read = g_new0(bool, model->thread_count);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);

		if (thread->born && is_thread(thread->parent))
			note(&contacts->notes, TURNED, thread->parent, i, thread->begin);
	}
	return contacts;
}

static void contacts_free(gpointer data)
{
	struct contacts *contacts = data;

	notes_clear(&contacts->notes);
	g_free(contacts->read);
	g_free(contacts);
}

static struct contacts *contacts_made(const struct session *session)
{
	return (struct contacts *) session_make_once(session, contacts_new, contacts_free);
}

/* The waits of all threads of a process, by its first one, up to the trace's end. */
static void read_process(struct contacts *contacts, const struct session *session, uint32_t process)
{
	const struct processes *processes = &session->trace.processes;
	const uint32_t *threads = processes->threads + processes->place[process];

	if (contacts->read[process])
		return;
	contacts->read[process] = true;
	for (uint32_t i = 0; i < processes->count[process]; i++)
		note_waits(&contacts->notes, session, threads[i]);
}

#define PARTS_OF_ALL 256

/* All threads whose processes were not asked for, in parts of as many each. */
struct knowing {
	GArray *threads; /* owned; uint32_t */
	struct notes notes[PARTS_OF_ALL];
};

static void note_part(const struct session *session, guint part, void *data)
{
	struct knowing *knowing = data;
	guint count = knowing->threads->len, parts = MIN(count, PARTS_OF_ALL);
	guint end = (guint) ((uint64_t) count * (part + 1) / parts);

	notes_init(&knowing->notes[part], session->trace.processes.first);
	for (guint i = (guint) ((uint64_t) count * part / parts); i < end; i++)
		note_waits(&knowing->notes[part], session,
			   g_array_index(knowing->threads, uint32_t, i));
}

void idle_know_all(const struct session *session)
{
	struct contacts *contacts = contacts_made(session);
	uint32_t count = session->trace.model.thread_count;
	struct knowing *knowing = g_new(struct knowing, 1);
	guint parts;

	knowing->threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		if (!contacts->read[contacts->notes.process[i]])
			g_array_append_val(knowing->threads, i);
	if (knowing->threads->len)
		memset(contacts->read, true, count);
	parts = MIN(knowing->threads->len, PARTS_OF_ALL);
	parts_make(session, parts, note_part, knowing);
	for (guint i = 0; i < parts; i++) {
		const GArray *list = knowing->notes[i].first;

		for (guint k = 0; k < list->len; k++) {
			const struct first *at = &g_array_index(list, struct first, k);

			if (at->contact == WRITTEN_LAST)
				note_last(&contacts->notes, WRITTEN_LAST, at->key, at->time);
			else
				note_key(&contacts->notes, at->contact, at->key, at->time);
		}
		notes_clear(&knowing->notes[i]);
	}
	g_array_free(knowing->threads, TRUE);
	g_free(knowing);
}

/* Both ways between the two: what the waits of their processes tell. */
bool idle_know_for(const struct session *session, guint threads)
{
	bool pays = threads > 1 && threads >= session->trace.model.thread_count / 4;

	if (pays)
		idle_know_all(session);
	return pays;
}

static const struct notes *notes_of(const struct session *session, uint32_t one, uint32_t other)
{
	struct contacts *contacts = contacts_made(session);

	read_process(contacts, session, contacts->notes.process[one]);
	read_process(contacts, session, contacts->notes.process[other]);
	return &contacts->notes;
}

bool wait_is_for_lock(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const struct reason *reason = block_reason(session, block);
	uint8_t effect;

	if (reason && reason_info(reason)->cause == CAUSE_LOCK_OWNER)
		return true;
	if (block_lock(session, block) || (block->kind == WAKER_THREAD && block->same_file))
		return true;
	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL)
		return false;
	effect = call_of(session, wait)->effect;
	return effect == DOES_FLOCK || effect == DOES_FCNTL;
}

/* What it reads carries what others send: no file, no block device. */
static bool carries_messages(const char *key)
{
	static const char *const kinds[] = {
		"socket:",
		"pipe:",
		"fd:",
		"eventfd",
		"file:signalfd",
		"file:inotify",
		"file:anon_inode:",
		"file:/dev/tty",
		"file:/dev/pts/",
		"file:/dev/ptmx",
		"file:/dev/console",
		"file:/dev/input/",
		"file:/dev/kmsg",
		"file:/dev/fuse",
		"file:/dev/net/",
		"file:/dev/hidraw",
		"file:/proc/kmsg",
		"file:/dev/binder"};

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (g_str_has_prefix(key, kinds[i]))
			return true;
	return false;
}

/* What other waits tell, anywhere in the trace, counts only in a question about all of it: of a
 * window the rest need not be read, and the answer is to be the same. */
static bool asks_for_all(const struct session *session)
{
	return session->asked.from <= session->trace.begin &&
	       session->asked.to >= session->trace.end;
}

static int64_t first_at(const struct notes *notes, enum contact contact, uint32_t process,
			uint32_t resource)
{
	return first_of(notes, contact, key_of(SIDE_AT, process, resource));
}

/* Its process does, there or where there is more than one place. */
static bool writes_there(const struct session *session, const struct wait *wait, uint32_t resource)
{
	uint32_t process = session->trace.processes.first[wait->thread];
	uint32_t several = intern_id(session->trace.model.names, "several");
	const struct notes *notes = notes_of(session, wait->thread, wait->thread);

	return first_at(notes, WRITTEN, process, resource) != INT64_MAX ||
	       first_at(notes, WRITTEN, process, several) != INT64_MAX;
}

/* When each of two turned to the other first, INT64_MAX: not at all. Whoever says through a pipe
 * that he is ready asks for nothing: for a wait on something else that counts only where nothing
 * but pipes is between the two. */
struct turns {
	int64_t asked, served;
};

static struct turns turns_of(const struct notes *notes, enum contact contact, uint32_t thread,
			     uint32_t by)
{
	uint32_t own = notes->process[thread], other = notes->process[by];

	if (own == other)
		return (struct turns) {first_of(notes, contact, key_of(SIDE_THREADS, by, thread)),
				       first_of(notes, contact, key_of(SIDE_THREADS, thread, by))};
	return (struct turns) {first_of(notes, contact, key_of(SIDE_FROM_PROCESS, other, thread)),
			       first_of(notes, contact, key_of(SIDE_TO_PROCESS, thread, other))};
}

#define NEXT_MAX 4096 /* stretches off the CPU */

/* The first of the thread's waits after that one that is in the same call. */
static bool next_in_call(const struct session *session, const struct wait *wait, struct wait *next)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, wait->thread, wait->end, thread->end);
	for (unsigned i = 0; i < NEXT_MAX && spans_next_off_cpu(&spans, &span); i++) {
		if (span.leaf != wait->leaf || span.begin < wait->end)
			continue;
		*next = wait_of(session, wait->thread, &span);
		return true;
	}
	return false;
}

static bool same_wakes(const struct wait *wait, const struct wait *next)
{
	return wait_by_thread(wait) && next->block->kind == WAKER_THREAD &&
	       next->block->waker == wait->block->waker;
}

/* Through pipes who ended the wait gets nothing from its process. */
static bool asks_not_back(const struct session *session, const struct wait *wait)
{
	uint32_t by = wait->block->waker;

	return turns_of(notes_of(session, wait->thread, by), PIPED, wait->thread, by).served ==
	       INT64_MAX;
}

/* Its call began before the trace: what it read from is not known. It came over a network, whose
 * ports tell who asks; or through the pipe that who ended the wait was writing to; or from where
 * the thread reads next, and nobody can be asked there, or is: the same thread writes there again,
 * and its process never does. */
static bool carried_message(const struct session *session, const struct wait *wait)
{
	const struct wake_detail *detail = block_detail(session, wait->block);
	struct wait next;
	const char *key;

	if (wait->block->resource)
		return false;
	if (detail && detail->kind == DETAIL_PACKET)
		return true;
	if (!asks_for_all(session))
		return false;
	if (wait_by_thread(wait) &&
	    g_str_has_prefix(session_text(session, wait->block->label), "pipe:"))
		return asks_not_back(session, wait);
	if (!next_in_call(session, wait, &next))
		return false;
	key = session_text(session, next.block->resource);
	if (g_str_has_prefix(key, "pipe:"))
		return same_wakes(wait, &next) && asks_not_back(session, wait);
	if (g_str_has_prefix(key, "socket:"))
		return same_wakes(wait, &next) &&
		       !writes_there(session, wait, next.block->resource);
	return g_str_has_prefix(key, "file:") && carries_messages(key);
}

/* A wait that could be one for a request: in a call that takes what others send. */
static bool is_for_message(const struct session *session, const struct wait *wait)
{
	const struct call_info *call;
	const char *key, *name;

	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL || is_thread(wait->block->child) ||
	    wait_is_for_lock(session, wait) || wait_is_for_memory(session, wait))
		return false;
	key = session_text(session, wait->block->resource);
	call = call_of(session, wait);
	switch (call->wait) {
	case WAIT_POLL:
	case WAIT_SELECT:
	case WAIT_EPOLL:
	case WAIT_RING:
	case WAIT_ACCEPT:
	case WAIT_FUTEX:
	case WAIT_SIGNAL:
		return true;
	case WAIT_FD:
	case WAIT_DEFAULT:
		break;
	default:
		return false;
	}
	if (call->moves == MOVES_IN || call->moves == MOVES_RECEIVE)
		return carries_messages(key) || carried_message(session, wait);
	if (call->moves == MOVES_BOTH) /* splice: in from a connection, to a pipe of its own */
		return g_str_has_prefix(key, "socket:");
	if (call->effect == DOES_OPEN) /* of a FIFO, until the other one opens it */
		return g_str_has_prefix(key, "pipe:");
	name = session_text(session, PACK_NUMBER(wait->leaf));
	return strcmp(name, "msgrcv") == 0 || g_str_has_prefix(name, "mq_timedreceive") ||
	       (strcmp(name, "ioctl") == 0 && (g_str_has_prefix(key, "file:/dev/binder") ||
					       g_str_has_prefix(key, "file:anon_inode:seccomp")));
}

/* For each wait: strtoull() takes five times as long. */
static bool is_given(const char *port)
{
	uint32_t number = 0;

	for (; g_ascii_isdigit(*port) && number < PORT_GIVEN; port++)
		number = number * 10 + (uint32_t) (*port - '0');
	return number >= PORT_GIVEN;
}

enum asker { ASKER_UNKNOWN, ASKER_WAITER, ASKER_SENDER };

/* Who opened the connection that the packet came on, by its sender's port. */
static enum asker packet_asker(const struct session *session, const struct block *block)
{
	const struct wake_detail *detail = block_detail(session, block);
	const char *port;

	if (!detail || detail->kind != DETAIL_PACKET || detail->flags & DETAIL_CHOSEN_PORTS)
		return ASKER_UNKNOWN;
	port = strrchr(session_text(session, detail->text), ':');
	if (!port)
		return ASKER_UNKNOWN;
	return is_given(port + 1) ? ASKER_SENDER : ASKER_WAITER;
}

/* What ended it led to no thread: a packet from somewhere else, a device's input. */
/* What comes there may well be what it reads from a disk. */
static bool is_on_ring(const struct session *session, const struct wait *wait)
{
	return call_of(session, wait)->wait == WAIT_RING;
}

static bool is_idle_hardware(const struct session *session, const struct wait *wait)
{
	enum asker asker = packet_asker(session, wait->block);

	return asker == ASKER_SENDER ||
	       (asker == ASKER_UNKNOWN && !block_request(session, wait->block) &&
		!is_on_ring(session, wait) &&
		(!wait->block->detail || is_event_loop(session, wait)));
}

/* A kernel's thread asks nobody for anything; but over some comes what devices send, or what is
 * asked of one: a program serves a network block device. */
static bool brings_nothing(const struct session *session, const struct wait *wait, uint32_t by)
{
	static const char *const asks[] = {"file:/dev/", "socket:pair", "socket:unix"};
	const char *key = session_text(session, wait->block->resource);

	if ((is_event_loop(session, wait) && !is_on_ring(session, wait)) ||
	    !thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, by)))
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(asks); i++)
		if (g_str_has_prefix(key, asks[i]))
			return false;
	return true;
}

/* Of a read from a pipeline: standard input, or what bash names /dev/fd/63 and below. */
static bool is_pipelines(int32_t fd)
{
	return fd == 0 || (fd >= 60 && fd <= 63);
}

/* Both processes write there: what comes is a token, for which they take turns. */
static bool is_for_token(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct notes *notes;
	uint32_t own;

	if (!is_on_pipe(session, wait) || call_of(session, wait)->moves != MOVES_IN)
		return false;
	notes = notes_of(session, wait->thread, by);
	own = notes->process[wait->thread];
	if (own == notes->process[by])
		return false;
	/* the last that it wrote, without a wait after it, is in no wait's record */
	return (asks_for_all(session) &&
		model_thread(&session->trace.model, wait->thread)->flow.sent ==
			wait->block->resource) ||
	       first_of(notes, WRITTEN, key_of(SIDE_AT, own, wait->block->resource)) != INT64_MAX;
}

/* What another wait there tells: a lock that others read under. */
static bool is_shared_lock(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct notes *notes;

	if (call_of(session, wait)->wait != WAIT_FUTEX || !asks_for_all(session))
		return false;
	notes = notes_of(session, wait->thread, by);
	return first_of(notes, SHARED,
			key_of(SIDE_AT, notes->process[wait->thread], wait->block->resource)) !=
	       INT64_MAX;
}

/* It had written to a pipe that who ended the wait reads, and not for the first time, as who says
 * that it is ready: for what that did then, it waited, wherever it was told of it. */
static bool asked_by_pipe(const struct session *session, const struct wait *wait, uint32_t by)
{
	uint8_t moves = call_of(session, wait)->moves;
	uint32_t sent = wait->block->sent;
	const struct notes *notes;

	if (!sent || is_on_pipe(session, wait) || (moves != MOVES_IN && moves != MOVES_RECEIVE) ||
	    !g_str_has_prefix(session_text(session, sent), "pipe:"))
		return false;
	notes = notes_of(session, wait->thread, by);
	return notes->process[wait->thread] != notes->process[by] &&
	       first_of(notes, WRITTEN, key_of(SIDE_AT, notes->process[wait->thread], sent)) <
		       wait->begin &&
	       first_of(notes, HEARD, key_of(SIDE_AT, notes->process[by], sent)) < wait->end;
}

#define KIN_MAX 16 /* from a process to who it descends from */

/* The pipe of its own children is at its end, as the last one that had it, or theirs, ends: it has
 * waited for that, and not for what may come. */
static bool is_for_end(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct model *model = &session->trace.model;
	const uint32_t *process = session->trace.processes.first;
	uint32_t at = process[by];

	if (!is_on_pipe(session, wait) || call_of(session, wait)->moves != MOVES_IN ||
	    model_thread(model, by)->end - wait->end >= KILL_STEPS)
		return false;
	for (unsigned i = 0; i < KIN_MAX; i++) {
		const struct thread *thread = model_thread(model, at);

		if (!thread->born || !is_thread(thread->parent))
			return false;
		at = process[thread->parent];
		if (at == process[wait->thread])
			return true;
	}
	return false;
}

/* Two programs of one pipeline, as a shell starts them: what comes through the pipe is the work of
 * both, and no request. Of two that read what the other one writes, one asks and one answers. */
static bool in_pipeline(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct thread *reader = model_thread(&session->trace.model, wait->thread);
	const struct thread *writer = model_thread(&session->trace.model, by);
	const struct notes *notes;

	if (!is_on_pipe(session, wait) || call_of(session, wait)->moves != MOVES_IN ||
	    !is_pipelines(wait->block->fd) || !reader->born || !writer->born ||
	    !is_thread(reader->parent) || reader->parent != writer->parent ||
	    reader->pid == writer->pid)
		return false;
	notes = notes_of(session, wait->thread, by);
	return turns_of(notes, FED, wait->thread, by).served == INT64_MAX;
}

/* Threads with one name and a number were made for the same. Of those whose names are the very
 * same, as nobody gave any, one may hand out what the others do; not if it waits where they do. */
static bool do_the_same(const struct session *session, const struct wait *wait, uint32_t by)
{
	const char *one = session_thread_name(session, wait->thread);
	const char *other = session_thread_name(session, by);
	const struct notes *notes;

	if (strcmp(one, other) == 0) {
		notes = notes_of(session, wait->thread, by);
		return first_of(notes, TURNED, key_of(SIDE_AT, by, wait->block->resource)) !=
		       INT64_MAX;
	}
	return session_names_alike(session, wait->thread, by);
}

/* Threads that one thread made for the same, and who wakes the others all at once: the last one at
 * a barrier. They have waited for its work, whoever is last each time. */
static bool is_at_barrier(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct thread *one = model_thread(&session->trace.model, wait->thread);
	const struct thread *other = model_thread(&session->trace.model, by);

	return wait->block->to_all && call_of(session, wait)->wait == WAIT_FUTEX &&
	       one->parent == other->parent && one->pid == other->pid && one->tid != one->pid &&
	       other->tid != other->pid && do_the_same(session, wait, by);
}

static bool turned_first(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct notes *notes = notes_of(session, wait->thread, by);
	struct turns turns = turns_of(notes, TURNED, wait->thread, by);
	struct turns piped = turns_of(notes, PIPED, wait->thread, by);

	if (!is_on_pipe(session, wait) && MIN(turns.asked, turns.served) < INT64_MAX)
		return turns.asked < turns.served;
	return MIN(turns.asked, piped.asked) < MIN(turns.served, piped.served);
}

#define BACK_MAX 8 /* waits */

/* It has connected to somebody who sends as there is something, and has never asked: once it was
 * greeted, it waits for what may come. Of a process from before the trace nobody knows. */
static bool is_subscribed(const struct session *session, const struct wait *wait, uint32_t by)
{
	uint32_t process = session->trace.processes.first[wait->thread];
	uint32_t resource = wait->block->resource;
	const struct notes *notes;

	if (!resource || !model_thread(&session->trace.model, process)->born)
		return false;
	notes = notes_of(session, wait->thread, by);
	return first_at(notes, HEARD, process, resource) < wait->end &&
	       !writes_there(session, wait, resource);
}

/* All that it asked there had been answered before: something had come since it, or any of its
 * process, wrote there last. */
static bool has_asked_nothing(const struct session *session, const struct wait *wait, uint32_t by)
{
	uint32_t process = session->trace.processes.first[wait->thread];
	uint32_t resource = wait->block->resource, several;
	const struct notes *notes;
	int64_t heard, places[2];

	if (!resource)
		return false;
	notes = notes_of(session, wait->thread, by);
	several = intern_id(session->trace.model.names, "several");
	heard = first_at(notes, HEARD_SINCE, wait->thread, resource);
	places[0] = first_at(notes, WRITTEN_LAST, process, resource);
	places[1] = first_at(notes, WRITTEN_LAST, process, several);
	for (size_t i = 0; i < G_N_ELEMENTS(places); i++)
		if (places[i] != INT64_MAX && places[i] >= heard)
			return false;
	return heard < wait->end;
}

/* … for this wait: it has written nothing since something came there. */
static bool has_its_answer(const struct session *session, const struct wait *wait)
{
	struct wait at = *wait, before;
	struct lead lead;

	for (unsigned i = 0; asks_for_all(session) && i < BACK_MAX; i++, at = before) {
		if (at.block->sent || !wait_before(session, wait->thread, at.begin, &before))
			return false;
		if (before.block->resource == wait->block->resource &&
		    wait_lead(session, &before, &lead) && lead.thread != wait->thread)
			return true;
	}
	return false;
}

/* Who sent it had slept last, meanwhile, by its own timer, an event loop's too: until it was time
 * to send. A part of an answer, of which the first has come, takes something else to make. */
static bool sender_was_at_rest(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct thread *sender = model_thread(&session->trace.model, by);
	struct span span, last = {0};
	struct spans spans;
	struct wait before;

	spans_begin(&spans, session, by, MAX(wait->begin, sender->begin), wait->end);
	while (spans_next_off_cpu(&spans, &span))
		if (leaf_is_blocked(span.leaf) && span.end < wait->end)
			last = span;
	if (!last.end || PACK_KIND(last.leaf) != LEAF_BLOCK_SYSCALL)
		return false;
	before = wait_of(session, by, &last);
	return before.woken && !block_reason(session, before.block) &&
	       (call_of(session, &before)->wait == WAIT_SLEEP || is_event_loop(session, &before)) &&
	       wait_taker(session, &before) == TAKER_TIMER;
}

/* A futex, or an eventfd, of several processes: of a queue, at which its consumer rests; or a lock
 * (semaphores in shared memory are, in most databases), for who has a pace of his own, or rests
 * elsewhere. */
static bool rests_elsewhere(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct notes *notes = notes_of(session, wait->thread, by);

	return first_of(notes, PACED, key_of(SIDE_THREADS, wait->thread, wait->thread)) !=
	       INT64_MAX;
}

/* Who watches that something comes in time, as a supervisor for signs of life; it has asked for
 * nothing that it has not heard yet. */
static bool is_watching(const struct session *session, const struct wait *wait, uint32_t by)
{
	const uint32_t *process = session->trace.processes.first;

	return is_event_loop(session, wait) && wait->block->timer >= 0 &&
	       process[by] != process[wait->thread] &&
	       (has_asked_nothing(session, wait, by) || has_its_answer(session, wait));
}

/* Since its wait before this one it has written, to a file, or to somebody. */
static bool has_written(const struct session *session, const struct wait *wait)
{
	struct wait before;
	struct spans spans;
	struct span span;

	if (!wait_before(session, wait->thread, wait->begin, &before))
		return false;
	spans_begin(&spans, session, wait->thread, before.end, wait->begin);
	while (spans_next(&spans, &span)) {
		uint8_t moves = MOVES_NOTHING;

		if (PACK_KIND(span.leaf) == LEAF_WORK_SYSCALL)
			moves = flow_call_info(&session->trace.flow, PACK_NUMBER(span.leaf))->moves;
		if (moves == MOVES_OUT || moves == MOVES_SEND)
			return true;
	}
	return false;
}

/* It passes on each message that comes through a pipe, as a logger, and has heard there before:
 * who writes them, though it made him itself, answers nothing. */
static bool is_on_stream(const struct session *session, const struct wait *wait, uint32_t by)
{
	const uint32_t *process = session->trace.processes.first;
	const struct notes *notes;

	if (!is_on_pipe(session, wait) || call_of(session, wait)->moves != MOVES_IN ||
	    process[by] == process[wait->thread])
		return false;
	notes = notes_of(session, wait->thread, by);
	return first_at(notes, HEARD, process[wait->thread], wait->block->resource) < wait->end &&
	       has_written(session, wait);
}

/* The first program of a pipeline has a pace of its own (it sleeps again and again, and reads from
 * no pipe): what it brings is not due before. So has a program that another one watches, or that
 * has news for another one. */
static bool is_at_source_pace(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct notes *notes;

	if (!asks_for_all(session) ||
	    (!in_pipeline(session, wait, by) && !is_watching(session, wait, by) &&
	     !is_on_stream(session, wait, by)) ||
	    !sender_was_at_rest(session, wait, by))
		return false;
	notes = notes_of(session, wait->thread, by);
	return first_of(notes, PACED, key_of(SIDE_THREADS, by, by)) != INT64_MAX &&
	       !model_thread(&session->trace.model, by)->reads_pipe;
}

#define SHARERS_MIN 3 /* two that wait for each other hand something over */
#define SHARERS_LOOKED_AT 64

static bool several_wait_there(const struct session *session, const struct notes *notes,
			       const struct wait *wait)
{
	const struct processes *processes = &session->trace.processes;
	uint32_t process = notes->process[wait->thread];
	const uint32_t *threads = processes->threads + processes->place[process];
	unsigned count = 0;

	for (uint32_t i = 0; i < MIN(processes->count[process], SHARERS_LOOKED_AT); i++)
		count += first_at(notes, HEARD_SINCE, threads[i], wait->block->resource) !=
			 INT64_MAX;
	return count >= SHARERS_MIN;
}

/* A condition of one process, at which both wait by turns, or of which the waiter wakes others:
 * what is short goes round (connections of a pool), for who rests elsewhere. */
static bool is_for_share(const struct session *session, const struct wait *wait, uint32_t by)
{
	const struct notes *notes;
	uint32_t resource = wait->block->resource;

	if (call_of(session, wait)->wait != WAIT_FUTEX || !resource || !asks_for_all(session) ||
	    !rests_elsewhere(session, wait, by))
		return false;
	notes = notes_of(session, wait->thread, by);
	return (first_at(notes, GAVE, wait->thread, resource) != INT64_MAX ||
		first_at(notes, HEARD_SINCE, by, resource) != INT64_MAX) &&
	       several_wait_there(session, notes, wait);
}

/* Of the thread's time in [begin, end) it was at rest: it slept, or waited for a next request. */
static int64_t time_at_rest(const struct session *session, uint32_t thread, int64_t begin,
			    int64_t end)
{
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	spans_begin(&spans, session, thread, begin, end);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait wait;

		if (PACK_KIND(span.leaf) != LEAF_BLOCK_SYSCALL)
			continue;
		wait = wait_of(session, thread, &span);
		if (!is_in_futex(session, &wait) &&
		    (call_of(session, &wait)->wait == WAIT_SLEEP || wait_is_idle(session, &wait)))
			ns += span.end - span.begin;
	}
	return ns;
}

/* The word of a condition of glibc, and the other one: they take turns. */
static bool has_waited_there(const struct session *session, const struct notes *notes,
			     uint32_t thread, uint32_t resource)
{
	const char *key = session_text(session, resource);
	g_autofree char *other = NULL;

	if (!g_str_has_prefix(key, "futex:0x"))
		return true;
	other = g_strdup_printf("futex:0x%" G_GINT64_MODIFIER "x",
				g_ascii_strtoull(key + strlen("futex:"), NULL, 16) ^ 4);
	return first_at(notes, HEARD_SINCE, thread, resource) != INT64_MAX ||
	       first_at(notes, HEARD_SINCE, thread, intern_id(session->trace.model.names, other)) !=
		       INT64_MAX;
}

/* Timed waits at a queue, until who fills it has something: it was at rest itself meanwhile, never
 * waits there, as one does for a lock, and was never asked by the waiter. */
static bool is_at_queue(const struct session *session, const struct wait *wait)
{
	const struct reason *reason = block_reason(session, wait->block);
	const struct notes *notes;

	if (reason->kind != REASON_FUTEX_TIMED || !is_in_futex(session, wait) ||
	    !is_thread(reason->thread) || reason->thread == wait->thread || !asks_for_all(session))
		return false;
	notes = notes_of(session, wait->thread, reason->thread);
	return turns_of(notes, TURNED, wait->thread, reason->thread).served == INT64_MAX &&
	       !has_waited_there(session, notes, reason->thread, wait->block->resource) &&
	       3 * time_at_rest(session, reason->thread, wait->begin, wait->end) >=
		       2 * (wait->end - wait->begin);
}

/* … where requests come from outside, as far as the process goes. */
static bool is_at_source(const struct session *session, const struct wait *wait)
{
	return is_for_message(session, wait) && !is_in_futex(session, wait);
}

/* Something came for it, and it has not written anything since. */
static bool owes_an_answer(const struct session *session, const struct wait *wait)
{
	struct wait at = *wait, before;

	for (unsigned i = 0; i < BACK_MAX; i++, at = before) {
		if (at.block->sent || !wait_before(session, wait->thread, at.begin, &before))
			return false;
		if (before.woken && is_at_source(session, &before))
			return true;
	}
	return true;
}

bool wait_owes_answer(const struct session *session, const struct wait *wait)
{
	return asks_for_all(session) && owes_an_answer(session, wait);
}

/* … and writes, before it waits again. */
static bool answers_then(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, wait->thread, wait->end, thread->end);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait next;

		if (!leaf_is_blocked(span.leaf) || span.begin < wait->end)
			continue;
		next = wait_of(session, wait->thread, &span);
		if (is_at_source(session, &next))
			return next.block->sent != 0;
	}
	return false;
}

/* … of the thread `by`. */
static bool is_let_go_on(const struct session *session, const struct wait *wait, uint32_t by)
{
	const uint32_t *process = session->trace.processes.first;

	return process[by] != process[wait->thread] && wait_is_by_signal(session, wait) &&
	       wait_owes_answer(session, wait) && answers_then(session, wait);
}

static bool is_asked_by(const struct session *session, const struct wait *wait, uint32_t by)
{
	const uint32_t *process = session->trace.processes.first;
	uint32_t thread = wait->thread;
	uint32_t own = process[thread], other = process[by];
	enum asker asker = packet_asker(session, wait->block);

	if (asker != ASKER_UNKNOWN)
		return asker == ASKER_SENDER || is_subscribed(session, wait, by) ||
		       (is_event_loop(session, wait) &&
			(has_asked_nothing(session, wait, by) || has_its_answer(session, wait)) &&
			sender_was_at_rest(session, wait, by));
	if (is_at_source_pace(session, wait, by))
		return true;
	if (brings_nothing(session, wait, by) || in_pipeline(session, wait, by) ||
	    is_for_token(session, wait, by) || is_for_end(session, wait, by) ||
	    asked_by_pipe(session, wait, by) || is_at_barrier(session, wait, by) ||
	    is_shared_lock(session, wait, by) || is_let_go_on(session, wait, by))
		return false;
	if (own == other && model_thread(&session->trace.model, by)->vcpu &&
	    !model_thread(&session->trace.model, thread)->vcpu)
		return true; /* a machine's threads are there for what its guest asks for */
	if ((own != other &&
	     (call_of(session, wait)->wait == WAIT_FUTEX || is_on_eventfd(session, wait)) &&
	     rests_elsewhere(session, wait, by)) ||
	    (own == other && is_for_share(session, wait, by)))
		return false;
	if (own != other && !model_thread(&session->trace.model, thread)->born &&
	    !model_thread(&session->trace.model, by)->born && is_event_loop(session, wait))
		return true; /* who began was before the trace */
	return turned_first(session, wait, by);
}

/* A virtual CPU's thread sleeps as its guest has halted: that has nothing to do until something
 * comes. */
static bool is_halted(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct track_pos pos;
	struct span before;

	return thread->vcpu && PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       track_find(&session->trace.timeline, &thread->track, wait->begin - 1, &pos) &&
	       track_read(&session->trace.timeline, &thread->track, &pos, thread->end, &before) &&
	       PACK_KIND(before.leaf) == LEAF_WORK_HALTED;
}

/* Nothing came: who froze its cgroup has woken it, and the kernel begins the call again when it is
 * thawed (threads/stop.h). */
static bool is_cut_short(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;

	return block->kind == WAKER_THREAD && block->label &&
	       key_freezes(session_text(session, block->label)) &&
	       PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL && !wait_is_for_lock(session, wait);
}

/* What comes there is typed, or a program's that types. */
static bool is_at_terminal(const struct session *session, const struct wait *wait)
{
	return PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       call_of(session, wait)->moves == MOVES_IN &&
	       key_is_terminal(session_text(session, wait->block->resource));
}

#define TURNS_MAX 64 /* of others, in one wait */

/* By their name, but for a number; or as one thread of their process made both. */
static bool are_alike(const struct session *session, uint32_t one, uint32_t other)
{
	const struct thread *first = model_thread(&session->trace.model, one);
	const struct thread *second = model_thread(&session->trace.model, other);

	return (first->pid == second->pid && first->born && second->born &&
		first->parent == second->parent && first->host == second->host) ||
	       session_names_alike(session, one, other);
}

/* Threads that are there for the same take turns at waiting for the next request, and a lock, or a
 * condition, says whose turn it is (a server's accept mutex; a leader and his followers). Who waits
 * for his turn is as idle as who has it; but not if somebody waits for what it does: the holder of
 * that lock may have let one client wait for another (a transaction that is left open).
 *
 *   A  ─lock─┤ accept ············├─work, answer─┤ lock ···········├
 *   B  ─┤ lock ····················├─ accept ·····················─├─work
 */
static bool is_turn_to_rest(const struct session *session, const struct wait *wait, uint32_t by)
{
	int64_t idle = 0, until = wait->end, from = wait->end, seen;
	struct wait rest, turn;

	if ((!wait_is_for_lock(session, wait) && !is_in_futex(session, wait)) ||
	    owes_an_answer(session, wait))
		return false;
	for (unsigned i = 0; i < TURNS_MAX && are_alike(session, wait->thread, by) &&
			     wait_before(session, by, until, &rest);
	     i++) {
		bool none_came = !rest.woken && !wait->woken;

		if (!is_at_source(session, &rest) || !(none_came || wait_is_idle(session, &rest)))
			break;
		from = MAX(rest.begin, wait->begin);
		idle += MAX(rest.end - from, 0);
		if (rest.begin <= wait->begin || !wait_before(session, by, rest.begin, &turn) ||
		    !wait_by_thread(&turn) ||
		    (!wait_is_for_lock(session, &turn) && !is_in_futex(session, &turn)))
			break;
		until = turn.end;
		by = turn.block->waker;
	}
	/* who took it without a wait is not known to have had it before */
	seen = wait->end - from;
	return 3 * idle >= 2 * seen && 3 * seen >= wait->end - wait->begin;
}

/* The trace ends before its turn has come. */
static bool is_turn_to_come(const struct session *session, const struct wait *wait)
{
	g_autoptr(lock_wait) held = NULL;
	const struct holding *last;

	if (wait_is_explained(session, wait) || !block_lock(session, wait->block))
		return false;
	held = lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	if (!held || !held->holdings->len)
		return false;
	last = &g_array_index(held->holdings, struct holding, held->holdings->len - 1);
	return last->end == wait->end && is_turn_to_rest(session, wait, last->thread);
}

/* Who took something of what it writes, so that there was room, and when he did. */
static uint32_t made_room(const struct session *session, const struct wait *wait, int64_t *time)
{
	const struct reason *reason = block_reason(session, wait->block);

	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL)
		return NO_THREAD;
	switch (call_of(session, wait)->moves) {
	case MOVES_OUT:
	case MOVES_SEND:
	case MOVES_BOTH:
		break;
	default:
		return NO_THREAD;
	}
	if (reason && reason->kind == REASON_SEND_QUEUE && reason->result == TRANSPORT_WINDOW) {
		*time = CLAMP(reason->until, wait->begin, wait->end);
		return reason->thread;
	}
	*time = wait->end;
	return wait_by_thread(wait) && !wait_is_explained(session, wait)
		       ? wait->block->waker
		       : NO_THREAD;
}

/* It is ahead of who takes what it writes, who sleeps until times of its own: it waits for room, as
 * is meant (a player that shows 25 pictures a second). Not if it has something to answer. */
static bool is_ahead(const struct session *session, const struct wait *wait)
{
	const struct wake_detail *timer;
	struct wait rest;
	int64_t time;
	uint32_t by = made_room(session, wait, &time);

	if (!is_thread(by) || by == wait->thread || !wait_before(session, by, time, &rest) ||
	    !rest.woken || PACK_KIND(rest.leaf) != LEAF_BLOCK_SYSCALL ||
	    call_of(session, &rest)->wait != WAIT_SLEEP)
		return false;
	timer = block_detail(session, rest.block);
	return timer && timer->kind == DETAIL_TIMER && (timer->flags & DETAIL_DEADLINE) &&
	       !is_thread(timer->behalf) && !owes_an_answer(session, wait);
}

bool wait_is_idle(const struct session *session, const struct wait *wait)
{
	struct lead lead;

	if (!wait->woken)
		return is_turn_to_come(session, wait);
	if (is_ahead(session, wait))
		return true;
	if (wait_is_explained(session, wait))
		return is_at_queue(session, wait);
	if (is_at_terminal(session, wait))
		return !wait_is_suspended(session, wait);
	if (wait_by_thread(wait) && is_turn_to_rest(session, wait, wait->block->waker))
		return true;
	if (is_cut_short(session, wait))
		return true;
	if (is_halted(session, wait))
		return true;
	if (!is_for_message(session, wait) || wait_is_suspended(session, wait))
		return false;
	if (wait_lead(session, wait, &lead) && lead.thread != wait->thread)
		return is_asked_by(session, wait, lead.thread);
	return wait_taker(session, wait) == TAKER_HARDWARE && is_idle_hardware(session, wait);
}

bool wait_is_at_leisure(const struct session *session, const struct wait *wait)
{
	if (wait_is_idle(session, wait))
		return true;
	return !wait_is_explained(session, wait) && PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       is_event_loop(session, wait) &&
	       (!wait->woken || wait_taker(session, wait) == TAKER_TIMER);
}

bool wait_is_for_source(const struct session *session, const struct wait *wait)
{
	struct lead lead;

	return wait->woken && is_on_pipe(session, wait) && !wait_is_explained(session, wait) &&
	       is_for_message(session, wait) && wait_lead(session, wait, &lead) &&
	       lead.thread != wait->thread && is_at_source_pace(session, wait, lead.thread);
}

bool wait_is_for_share(const struct session *session, const struct wait *wait)
{
	const uint32_t *process = session->trace.processes.first;
	struct lead lead;

	return wait->woken && is_in_futex(session, wait) && !wait->block->to_all &&
	       !wait_is_for_lock(session, wait) && wait_lead(session, wait, &lead) &&
	       lead.thread != wait->thread && process[lead.thread] == process[wait->thread] &&
	       is_for_share(session, wait, lead.thread);
}

bool wait_is_in_answer(const struct session *session, const struct wait *wait)
{
	return wait_by_thread(wait) &&
	       (is_let_go_on(session, wait, wait->block->waker) ||
		(wait_is_for_lock(session, wait) && wait_owes_answer(session, wait)));
}
