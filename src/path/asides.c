/* SPDX-License-Identifier: MIT */
/* See asides.h. */
#include "path/asides.h"

#include "waits/causes.h"
#include "path/several.h"

/* The waits in one wait of the path whose ends led to nothing: how many, and the longest. */
struct asides {
	unsigned count;
	struct wait longest;
};

static struct asides asides_of(const struct session *session, const struct through *through)
{
	struct asides asides = {0};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, through->thread, through->begin, through->end);
	while (spans_next_off_cpu(&spans, &span)) {
		struct wait wait;

		if (!waits_for_several(session, &span))
			continue;
		wait = wait_of(session, through->thread, &span);
		if (wait.block == through->block || !wait.woken)
			continue;
		if (!asides.count++ ||
		    wait.end - wait.begin > asides.longest.end - asides.longest.begin)
			asides.longest = wait;
	}
	return asides;
}

/* "job-c's end", "a timer", "a packet from 10.0.0.1:80, sent by …" */
static char *end_words(const struct session *session, const struct wait *wait)
{
	struct cause cause;
	struct lead lead;
	char *words;

	if (wait_taker(session, wait) == TAKER_TIMER)
		return g_strdup("a timer");
	if (wait_cause_kind(session, wait) == CAUSE_TIMEOUT)
		return g_strdup("its own time limit");
	if (wait_lead(session, wait, &lead)) {
		bool child = wait_cause_kind(session, wait) == CAUSE_CHILD;

		return g_strdup_printf("%s%s (%d)%s", child ? "the end of " : "what came from ",
				       session_thread_name(session, lead.thread),
				       model_thread(&session->trace.model, lead.thread)->tid,
				       session_on(session, lead.thread));
	}
	cause = wait_cause(session, wait);
	words = g_strdup_printf("what was %s", cause.label ? cause_words(&cause) : "not seen");
	cause_clear(&cause);
	return words;
}

char *asides_words(const struct session *session, const struct through *wait)
{
	struct asides asides = asides_of(session, wait);
	g_autofree char *words = NULL;

	if (!asides.count)
		return NULL;
	words = end_words(session, &asides.longest);
	return asides.count > 1 ? g_strdup_printf("%s and %u more", words, asides.count - 1)
				: g_steal_pointer(&words);
}
