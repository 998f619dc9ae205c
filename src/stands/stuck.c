/* SPDX-License-Identifier: MIT */
/* See stuck.h. */
#include "stands/stuck.h"

#include <string.h>

#include "contention/holders.h"
#include "lives/restarts.h"
#include "objects/calls.h"
#include "stands/clauses.h"
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
	       g_str_has_prefix(on, "file:") && !g_str_has_prefix(on, "file:/dev/");
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

static bool is_owed(const struct session *session, const struct wait *wait)
{
	return wait_is_without_limit(session, wait) ||
	       (PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL && is_on_way_out(session, wait));
}

enum stuckness wait_stuck(const struct session *session, const struct wait *wait)
{
	bool open = !wait->woken && wait->block && wait->block->kind == WAKER_NONE;

	if (!open && !(wait->woken && wait_is_cut_off(session, wait)))
		return STUCK_NOT;
	if (block_reason(session, wait->block) || block_lock(session, wait->block))
		return STUCK_NOT;
	if (is_owed(session, wait))
		return open ? STUCK_OPEN : STUCK_KILLED;
	return open ? STUCK_NOT : STUCK_IDLE;
}

void stuck_sentence(GString *text, const struct session *session, const struct fact *fact)
{
	append_waits(text, session, fact, 0, NO_THREAD);
	g_string_append_c(text, ' ');
	append_in(text, session, fact->told.leaf);
	g_string_truncate(text, text->len - 1);
	append_on(text, session, session_resource(session, fact->told.block));
	if (fact->stuck == STUCK_OPEN) {
		g_string_append(text, ", and still did when the trace ended");
		return;
	}
	g_string_append(text, ", until it ");
	append_death(text, session, fact->told.thread);
}
