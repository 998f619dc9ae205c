/* SPDX-License-Identifier: MIT */
/* See rule_miss.h. */
#include "rules/rule_miss.h"

#include <string.h>

#include "calls/frames.h"
#include "contention/holders.h"
#include "ready/ready.h"
#include "samples/sample_stacks.h"
#include "util/pattern.h"
#include "util/when.h"
#include "waits/causes.h"
#include "waits/state_names.h"

/* What there is of one kind: whether the pattern fits any of it, and what is near. */
struct search {
	const struct session *session;
	const char *pattern;
	struct nearest nearest;
	bool fits;
};

static void offer(struct search *search, const char *text)
{
	if (!*text)
		return;
	search->fits |= pattern_match(search->pattern, text);
	nearest_offer(&search->nearest, text);
}

/* "no thread fits thread=Xorgg; it has 'Xorg', …"; NULL if something fits. */
static char *missed(struct search *search, const char *what, const char *there_are)
{
	g_autofree char *before = g_strdup_printf("; %s ", there_are);
	g_autofree char *near = nearest_list(&search->nearest, before);

	if (search->fits)
		return NULL;
	return g_strdup_printf("%s%s", what, *near ? near : "");
}

static struct search search_for(const struct session *session, const char *pattern)
{
	return (struct search) {session, pattern, {.wanted = pattern}, false};
}

static char *of_threads(const struct session *session, const char *pattern, bool process)
{
	struct search search = search_for(session, pattern);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		const struct thread *thread = model_thread(&session->trace.model, i);

		if (thread->begin < session->asked.to && thread->end > session->asked.from &&
		    (!process || thread->pid == thread->tid))
			offer(&search, session_thread_name(session, i));
	}
	return missed(&search, process ? "no such process" : "no such thread", "there are");
}

static char *of_hosts(const struct session *session, const char *pattern)
{
	struct search search = search_for(session, pattern);

	for (uint32_t i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		offer(&search, host->hostname ? host->hostname : "");
	}
	return missed(&search, "no such host", "there are");
}

static void offer_leaf(struct search *search, uint32_t thread, const struct span *span)
{
	g_autofree char *key = leaf_key(search->session, span->leaf);

	(void) thread;
	offer(search, key);
}

static void offer_resource(struct search *search, uint32_t thread, const struct span *span)
{
	(void) thread;
	if (leaf_is_blocked(span->leaf))
		offer(search,
		      session_text(search->session,
				   block_waits_for(search->session,
						   block_at(&search->session->trace.timeline,
							    span->ref))));
}

static void offer_cause(struct search *search, uint32_t thread, const struct span *span)
{
	struct wait wait;

	if (leaf_is_blocked(span->leaf)) {
		wait = wait_of(search->session, thread, span);
		offer(search, cause_kind_text(wait_cause_kind(search->session, &wait)));
	} else if (leaf_is_off_cpu(span->leaf)) {
		offer(search, cause_kind_text(CAUSE_WAIT_CPU));
	}
}

/* Of all stretches of the threads. */
static char *
of_spans(const struct session *session, const bool *may, const char *pattern,
	 void (*visit)(struct search *search, uint32_t thread, const struct span *span),
	 const char *what)
{
	struct search search = search_for(session, pattern);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		struct spans spans;
		struct span span;

		if (!may[i])
			continue;
		spans_begin(&spans, session, i, session->asked.from, session->asked.to);
		while (spans_next(&spans, &span))
			visit(&search, i, &span);
	}
	return missed(&search, what, "there is");
}

static char *of_locks(const struct session *session, const char *pattern)
{
	const GArray *locks = session->trace.flow.locks;
	struct search search = search_for(session, pattern);

	for (guint i = 0; i < locks->len; i++) {
		const struct lock *lock = &g_array_index(locks, struct lock, i);

		if (!lock->free && lock_is_one(lock))
			offer(&search, session_text(session, lock->resource));
	}
	return missed(&search, "no lock of that name is known to have been held", "there is");
}

static void offer_sampled(struct search *search, uint32_t thread)
{
	const struct session *session = search->session;
	const struct log *log = &model_thread(&session->trace.model, thread)->samples;

	for (uint32_t i = 0; i < log->used; i++) {
		const struct sample *sample = sample_at(&session->trace.timeline.samples, log, i);
		const struct sample_stack *stack = sample_stack(session, thread, sample);

		for (guint k = 0; k < stack->frames->len; k++)
			offer(search,
			      sample_function(
				      session,
				      g_array_index(stack->frames, struct sample_frame, k).function)
				      ->name);
	}
}

static char *of_calls(const struct session *session, const bool *may, const char *pattern)
{
	struct search search = search_for(session, pattern);

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		struct frames *frames =
			may[i] ? frames_new(session, i, session->asked.from, session->asked.to)
			       : NULL;

		for (guint k = 0; frames && k < frames->list->len; k++) {
			const struct call_frame *frame = frame_of(frames, k);
			g_autofree char *name =
				frame_is_call(frame) ? frame_name(session, frame->what) : NULL;

			if (name)
				offer(&search, name);
		}
		if (frames)
			frames_free(frames);
		if (may[i])
			offer_sampled(&search, i);
	}
	return missed(&search, "no function of that name was recorded", "there is");
}

char *rule_miss(const struct session *session, const struct rule *rule, const bool *may)
{
	char *const *value = rule->value;
	char *words = NULL;
	bool any = false;

	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		any |= may[i];
	if (value[SELECT_HOST])
		words = of_hosts(session, value[SELECT_HOST]);
	if (!words && !any && value[SELECT_THREAD])
		words = of_threads(session, value[SELECT_THREAD], false);
	if (!words && !any && value[SELECT_PROCESS])
		words = of_threads(session, value[SELECT_PROCESS], true);
	if (!words && !any)
		words = g_strdup("there is such a thread, but none that the report is of "
				 "(--host, --container)");
	if (!words && value[SELECT_LEAF])
		words = of_spans(session, may, value[SELECT_LEAF], offer_leaf, "no such state");
	if (!words && value[SELECT_ON])
		words = of_spans(session, may, value[SELECT_ON], offer_resource,
				 "nothing waited for that");
	if (!words && value[SELECT_CAUSE])
		words = of_spans(session, may, value[SELECT_CAUSE], offer_cause,
				 "no wait has such a cause");
	if (!words && value[SELECT_HOLDS])
		words = of_locks(session, value[SELECT_HOLDS]);
	if (!words && value[SELECT_FUNCTION])
		words = of_calls(session, may, value[SELECT_FUNCTION]);
	if (!words && value[SELECT_FINDING])
		words = g_strdup_printf("there is no finding %s with stretches in the window; "
					"'whylate overview' lists them",
					value[SELECT_FINDING]);
	return words ? words : g_strdup("each of its selectors fits something, but not together");
}
