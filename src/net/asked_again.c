/* SPDX-License-Identifier: MIT */
/* See asked_again.h. */
#include "net/asked_again.h"

#include <string.h>

#include "net/talks.h"
#include "tries/tries.h"

#define ALIKE_MIN 2 /* answers */

/* Where it was asked is known, not only by what kind of socket. */
static bool has_address(const struct flow *flow, uint32_t key)
{
	const char *text = key ? intern_text(flow->names, key) : "";

	return g_str_has_prefix(text, "socket:") && strrchr(text, ':') > text + strlen("socket:");
}

static void explain(struct flow *flow, struct try *try, const struct talk *talk)
{
	struct reason reason = reason_of_kind(REASON_ANSWER);

	reason.flags = REASON_INFERRED;
	reason.other = talk->peer;
	reason.number = try->number;
	reason.amount = talk->in;
	reason.from = reason.until = try->since;
	try_explained(flow, try, &reason, 0);
	try->over = true;
}

/* The thread's tries of the same question there, but for those with this answer. True: one
 * ends by it. */
static bool ends_one(struct flow *flow, uint32_t index, const struct try *like,
		     const struct talk *talk)
{
	bool ends = false;

	for (uint32_t at = flow_thread(flow, index)->flow.tries; at;) {
		struct try *try = &tries_all(flow)[at - 1];

		at = try->next;
		if (try->kind != TRY_ANSWER || try->id != like->id || try->result != like->result)
			continue;
		if (try->over) { /* it asks with a period */
			if (!try_paused(flow, try))
				return true;
			try_taken_back(flow, try);
			try_drop(flow, try);
		} else if (try->number != like->number) {
			ends = try->count >= ALIKE_MIN && try_paused(flow, try);
			if (ends)
				explain(flow, try, talk);
			else
				try_drop(flow, try);
		}
	}
	return ends;
}

void asked_again(struct flow *flow, uint32_t index, struct talk *talk)
{
	const struct thread *thread = flow_thread(flow, index);
	struct try like = {.kind = TRY_ANSWER,
			   .number = talk->in,
			   .object = talk->remote,
			   .call = thread->flow.call.name,
			   .result = (int32_t) talk->out,
			   .target = NO_THREAD};

	if (talk->role != ROLE_CLIENT || talk->kind != TALK_STREAM || !talk->in || !talk->out ||
	    !has_address(flow, talk->remote))
		return;
	like.id = try_id(thread->host, TRY_ANSWER, talk->remote);
	if (!ends_one(flow, index, &like, talk) &&
	    !(thread->born && is_thread(thread->parent) && /* a loop of a shell */
	      ends_one(flow, thread->parent, &like, talk)))
		try_failed(flow, index, &like);
	talk->in = talk->out = 0;
}
