/* SPDX-License-Identifier: MIT */
/* See stuck.h. */
#include "stands/stuck.h"

#include <string.h>

#include "contention/holders.h"
#include "lives/restarts.h"
#include "objects/calls.h"
#include "stands/clauses.h"
#include "waits/idle.h"
#include "words/names.h"

/* Of calls that have no time limit: no timer that ends a wait in one is the program's. */
static bool call_is_without_limit(const struct session *session, const struct wait *wait)
{
	const struct call_info *call =
		flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf));
	const char *on = session_text(session, session_resource(session, wait->block));

	switch (call->effect) {
	case DOES_OPEN:
	case DOES_CLOSE:
	case DOES_FCNTL:
	case DOES_LOAD:
	case DOES_EXEC:
	case DOES_EXIT:
	case DOES_NAMESPACES:
	case DOES_AFFINITY:
	case DOES_POLICY:
	case DOES_MAP:
	case DOES_UNMAP:
	case DOES_REMAP:
	case DOES_BREAK:
		return true;
	default:
		break;
	}
	switch (call->tries) {
	case TRIES_LOOK:
	case TRIES_MAKE:
	case TRIES_REMOVE:
	case TRIES_MOVE:
		return true;
	default:
		break;
	}
	return call->wait == WAIT_FD && call->effect != DOES_CONTROL &&
	       g_str_has_prefix(on, "file:/") && !g_str_has_prefix(on, "file:/dev/");
}

bool wait_is_without_limit(const struct session *session, const struct wait *wait)
{
	return PACK_KIND(wait->leaf) == LEAF_BLOCK_FAULT ||
	       (PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
		call_is_without_limit(session, wait));
}

/* It sends, or connects. */
static bool is_on_way_out(const struct session *session, const struct wait *wait)
{
	uint32_t number = PACK_NUMBER(wait->leaf);
	const struct call_info *call = flow_call_info(&session->trace.flow, number);
	const char *name = session_text(session, number);

	return call->moves == MOVES_OUT || call->moves == MOVES_SEND || call->moves == MOVES_BOTH ||
	       call->wait == WAIT_CONNECT || strcmp(name, "msgsnd") == 0 ||
	       g_str_has_prefix(name, "mq_timedsend");
}

/* It reads what others write to a FIFO, as something came for it elsewhere that it has not
 * answered. Who reads there again waits for what may come. */
static bool is_in_answer(const struct session *session, const struct wait *wait)
{
	const char *on = session_text(session, session_resource(session, wait->block));
	struct wait before;

	return g_str_has_prefix(on, "pipe:/") &&
	       wait_before(session, wait->thread, wait->begin, &before) && before.woken &&
	       before.block->resource != wait->block->resource && wait_owes_answer(session, wait);
}

static bool is_owed(const struct session *session, const struct wait *wait)
{
	return wait_is_without_limit(session, wait) ||
	       (PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
		(is_on_way_out(session, wait) || is_in_answer(session, wait)));
}

/* A mutex that nobody is known to have. */
static bool is_nobodys(const struct session *session, const struct wait *wait)
{
	const struct lock *lock = block_lock(session, wait->block);
	g_autoptr(lock_wait)
		held = lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);

	return lock->kind == LOCK_FUTEX && lock->certain && !(held && held->holders->len);
}

enum stuckness wait_stuck(const struct session *session, const struct wait *wait)
{
	bool open = !wait->woken && wait->block && wait->block->kind == WAKER_NONE;

	if (!open && !wait_is_cut_off(session, wait))
		return STUCK_NOT;
	if (block_reason(session, wait->block))
		return STUCK_NOT;
	if (block_lock(session, wait->block))
		return !open && is_nobodys(session, wait) ? STUCK_KILLED : STUCK_NOT;
	if (is_owed(session, wait))
		return open ? STUCK_OPEN : STUCK_KILLED;
	return open ? STUCK_NOT : STUCK_IDLE;
}

/* In a write to a pipe, or one of a pair of sockets. */
static bool is_writer(const struct session *session, const struct fact *fact)
{
	const char *on;

	if (!fact->stuck || !fact->told.block || !is_on_way_out(session, &fact->told))
		return false;
	on = session_text(session, session_resource(session, fact->told.block));
	return g_str_has_prefix(on, "pipe:") || g_str_has_prefix(on, "socket:pair");
}

static bool is_child_of(const struct session *session, uint32_t child, uint32_t parent)
{
	const struct thread *thread = model_thread(&session->trace.model, child);
	const uint32_t *process = session->trace.processes.first;

	return is_thread(thread->parent) && process[thread->parent] == process[parent];
}

/* Parent and child, or threads of one process, which write to different pipes at one time. */
static bool are_opposite(const struct session *session, const struct fact *one,
			 const struct fact *other)
{
	const struct wait *a = &one->told, *b = &other->told;
	int64_t meanwhile = MIN(a->end, b->end) - MAX(a->begin, b->begin);

	return is_writer(session, one) && is_writer(session, other) &&
	       session_resource(session, a->block) != session_resource(session, b->block) &&
	       (is_child_of(session, a->thread, b->thread) ||
		is_child_of(session, b->thread, a->thread)) &&
	       meanwhile > (MIN(a->end - a->begin, b->end - b->begin)) / 4 * 3;
}

void stuck_opposites(const struct session *session, GArray *items)
{
	for (guint i = 0; i < items->len; i++) {
		struct fact *fact = g_array_index(items, struct stand, i).fact;

		fact->opposite = NO_THREAD;
		for (guint k = 0; k < items->len && fact->stuck; k++) {
			const struct fact *other = g_array_index(items, struct stand, k).fact;

			if (k != i && are_opposite(session, fact, other)) {
				fact->opposite = other->told.thread;
				fact->opposite_on = session_resource(session, other->told.block);
			}
		}
	}
}

static void append_opposite(GString *text, const struct session *session, const struct fact *fact)
{
	if (!is_thread(fact->opposite))
		return;
	g_string_append(text, "; meanwhile ");
	append_one(text, session, fact->opposite);
	if (is_child_of(session, fact->opposite, fact->told.thread))
		g_string_append(text, ", its child,");
	else if (is_child_of(session, fact->told.thread, fact->opposite))
		g_string_append(text, ", its parent,");
	g_string_append(text, " was stuck in a write");
	append_on(text, session, fact->opposite_on);
	g_string_append(text, ": it seems that each waits for the other to read (inferred)");
}

void stuck_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	append_waits(text, session, fact, 0, NO_THREAD);
	g_string_append_c(text, ' ');
	append_in(text, session, fact->told.leaf, false);
	g_string_truncate(text, text->len - 1);
	if (block_lock(session, fact->told.block)) {
		g_string_append(text, " for ");
		append_object(text, session, session_resource(session, fact->told.block), true);
		g_string_append(text, ", whose owner is not known (a free one is taken without a "
				      "call)");
	} else {
		append_on(text, session, session_resource(session, fact->told.block));
	}
	if (fact->stuck == STUCK_OPEN) {
		g_string_append(text, ", and still did when the trace ended");
	} else {
		g_string_append_printf(text, ", until %s ",
				       fact->threads < 2               ? "it"
				       : fact->leaders < fact->threads ? "their process"
								       : "each");
		append_death(text, session, fact->told.thread);
	}
	append_opposite(text, session, fact);
}
