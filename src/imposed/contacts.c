/* SPDX-License-Identifier: MIT */
/* First contacts; see contacts.h. */
#include "imposed/contacts.h"

#include <string.h>

#include "contention/holders.h"
#include "waits/cause_kinds.h"
#include "waits/reasons.h"

/* Whose side an id is: both are threads of one process, or the first, or the
 * second, stands for all of its process. */
enum side { SIDE_THREADS, SIDE_FROM_PROCESS, SIDE_TO_PROCESS };

static uint64_t key_of(enum side side, uint32_t from, uint32_t to)
{
	return (uint64_t) side << 62 | (uint64_t) from << 31 | to;
}

static int64_t first_of(const struct contacts *contacts, uint64_t key)
{
	uint32_t place = idmap_get(&contacts->places, key);

	return place == IDMAP_NONE ? INT64_MAX : g_array_index(contacts->first, int64_t, place);
}

static void note_key(struct contacts *contacts, uint64_t key, int64_t time)
{
	uint32_t place = idmap_get(&contacts->places, key);

	if (place != IDMAP_NONE) {
		int64_t *first = &g_array_index(contacts->first, int64_t, place);

		*first = MIN(*first, time);
		return;
	}
	idmap_set(&contacts->places, key, contacts->first->len);
	g_array_append_val(contacts->first, time);
}

static void note(struct contacts *contacts, uint32_t from, uint32_t to, int64_t time)
{
	uint32_t a = contacts->process[from], b = contacts->process[to];

	if (a == b) {
		note_key(contacts, key_of(SIDE_THREADS, from, to), time);
		return;
	}
	note_key(contacts, key_of(SIDE_FROM_PROCESS, a, to), time);
	note_key(contacts, key_of(SIDE_TO_PROCESS, from, b), time);
}

static void note_waits(struct contacts *contacts, uint32_t thread)
{
	const struct session *session = contacts->session;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->trace.begin, session->trace.end + 1);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait wait;
		struct lead lead;

		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(session, thread, &span);
		if (wait_lead(session, &wait, &lead) && lead.thread != thread)
			note(contacts, lead.thread, thread, span.end);
	}
}

void contacts_init(struct contacts *contacts, const struct session *session)
{
	*contacts =
		(struct contacts) {.session = session, .process = session->trace.processes.first};
	contacts->first = g_array_new(FALSE, FALSE, sizeof(int64_t));
	idmap_init(&contacts->places);
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (thread->born && is_thread(thread->parent))
			note(contacts, thread->parent, i, thread->begin);
		note_waits(contacts, i);
	}
}

void contacts_clear(struct contacts *contacts)
{
	idmap_clear(&contacts->places);
	g_array_free(contacts->first, TRUE);
}

bool wait_is_for_lock(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const struct reason *reason = block_reason(session, block);
	const char *call;

	if (reason && reason_info(reason)->cause == CAUSE_LOCK_OWNER)
		return true;
	if (block_lock(session, block) || (block->kind == WAKER_THREAD && block->same_file))
		return true;
	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL)
		return false;
	call = session_text(session, PACK_NUMBER(wait->leaf));
	return strcmp(call, "flock") == 0 || g_str_has_prefix(call, "fcntl");
}

bool wait_is_for_message(const struct session *session, const struct wait *wait)
{
	const char *key;

	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL || is_thread(wait->block->child) ||
	    block_request(session, wait->block) || wait_is_for_lock(session, wait))
		return false;
	key = session_text(session, wait->block->resource);
	if (g_str_has_prefix(key, "file:"))
		return g_str_has_prefix(key, "file:/dev/") ||
		       g_str_has_prefix(key, "file:anon_inode:");
	return strcmp(key, "sleep") != 0 && !g_str_has_prefix(key, "child:");
}

/* The call of an event loop, in which servers wait for whoever comes. */
static bool is_event_loop(const struct session *session, uint32_t leaf)
{
	static const char *const calls[] = {"epoll_",  "poll",       "ppoll", "select",
					    "pselect", "_newselect", "accept"};
	const char *call = session_text(session, PACK_NUMBER(leaf));

	for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
		if (g_str_has_prefix(call, calls[i]))
			return true;
	return false;
}

/* A port that systems give by themselves to who opens a connection (Linux and IANA). */
#define PORT_GIVEN 32768

enum asker { ASKER_UNKNOWN, ASKER_WAITER, ASKER_SENDER };

/* Who opened the connection that the packet came on, by its sender's port. */
static enum asker packet_asker(const struct session *session, const struct block *block)
{
	const struct wake_detail *detail = block_detail(session, block);
	const char *port;

	if (!detail || detail->kind != DETAIL_PACKET)
		return ASKER_UNKNOWN;
	port = strrchr(session_text(session, detail->text), ':');
	if (!port)
		return ASKER_UNKNOWN;
	return g_ascii_strtoull(port + 1, NULL, 10) >= PORT_GIVEN ? ASKER_SENDER : ASKER_WAITER;
}

bool contacts_idle_hardware(const struct session *session, const struct wait *wait)
{
	enum asker asker = packet_asker(session, wait->block);

	if (!wait_is_for_message(session, wait))
		return false;
	return asker == ASKER_SENDER ||
	       (asker == ASKER_UNKNOWN &&
		(!wait->block->detail || is_event_loop(session, wait->leaf)));
}

bool contacts_idle(const struct contacts *contacts, const struct wait *wait, uint32_t by)
{
	const struct session *session = contacts->session;
	uint32_t thread = wait->thread;
	uint32_t own = contacts->process[thread], other = contacts->process[by];
	enum asker asker = packet_asker(session, wait->block);
	int64_t asked, served;

	if (!wait_is_for_message(session, wait))
		return false;
	if (asker != ASKER_UNKNOWN)
		return asker == ASKER_SENDER;
	if (own == other) {
		asked = first_of(contacts, key_of(SIDE_THREADS, by, thread));
		served = first_of(contacts, key_of(SIDE_THREADS, thread, by));
	} else if (!model_thread(&session->trace.model, thread)->born &&
		   !model_thread(&session->trace.model, by)->born &&
		   is_event_loop(session, wait->leaf)) {
		return true; /* who began was before the trace */
	} else {
		asked = first_of(contacts, key_of(SIDE_FROM_PROCESS, other, thread));
		served = first_of(contacts, key_of(SIDE_TO_PROCESS, thread, other));
	}
	return asked < served;
}
