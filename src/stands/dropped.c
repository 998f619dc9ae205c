/* SPDX-License-Identifier: MIT */
/* See dropped.h. */
#include "stands/dropped.h"

#include "objects/calls.h"

#define AFTER_SHARE 0.9

struct drop {
	uint32_t thread;
	int64_t time;
};

/* Its calls that open a file say which one. */
static void look(const struct session *session, uint32_t thread, uint32_t file, struct drop *first)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->trace.begin, session->trace.end + 1);
	while (spans_next(&spans, &span) && span.begin < first->time)
		if (PACK_KIND(span.leaf) == LEAF_WORK_SYSCALL &&
		    span.ref == (file | REF_FOR_WRITING))
			*first = (struct drop) {thread, span.begin};
}

static struct drop first_drop(const struct session *session)
{
	struct drop first = {NO_THREAD, INT64_MAX};
	uint32_t file = intern_known(session->trace.model.names, "file:/proc/sys/vm/drop_caches");

	for (uint32_t i = 0; file && i < session->trace.model.thread_count; i++)
		if (model_thread(&session->trace.model, i)->made_syscall)
			look(session, i, file, &first);
	return first;
}

static bool reads(const struct session *session, uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_BLOCK_FAULT ||
	       (PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL &&
		flow_call_info(&session->trace.flow, PACK_NUMBER(leaf))->moves == MOVES_IN);
}

uint32_t cache_dropped_before(const struct session *session, const struct fact *fact)
{
	const struct chain *chain =
		fact->chains->len ? &g_array_index(fact->chains, struct chain, 0) : NULL;
	int64_t after = 0, all = 0;
	struct drop first;

	if (!chain || !reads(session, chain->leaf))
		return NO_THREAD;
	first = first_drop(session);
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);

		all += part->end - part->begin;
		after += part->begin > first.time ? part->end - part->begin : 0;
	}
	return (double) after >= AFTER_SHARE * (double) all ? first.thread : NO_THREAD;
}
