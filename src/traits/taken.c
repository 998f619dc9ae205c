/* SPDX-License-Identifier: MIT */
/* See taken.h. */
#include "traits/taken.h"

#include <string.h>

#include "ready/cpu_runs.h"
#include "ready/ready.h"
#include "waits/state_names.h"

#define INTERRUPTED "interrupted/" /* before an interrupt's name among the states */
#define INTERRUPTED_SHARE 10 /* of its time: less is not worth a word, and long ones meet more */
#define TAKERS 8 /* that are told apart: further ones do not count */

struct takers {
	guint count;
	uint32_t thread[TAKERS]; /* or what interrupted: leaf */
	int64_t ns[TAKERS];
};

static void add_time(struct takers *takers, uint32_t thread, int64_t ns)
{
	guint at = 0;

	while (at < takers->count && takers->thread[at] != thread)
		at++;
	if (at == TAKERS)
		return;
	if (at == takers->count) {
		takers->thread[at] = thread;
		takers->ns[at] = 0;
		takers->count++;
	}
	takers->ns[at] += ns;
}

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	if (is_thread(thread))
		add_time(data, thread, end - begin);
}

static bool is_ready(const struct span *span)
{
	return PACK_KIND(span->leaf) == LEAF_PREEMPTED || PACK_KIND(span->leaf) == LEAF_WAIT_CPU;
}

uint32_t cpu_taker(const struct session *session, const struct operation *operation)
{
	struct takers takers = {0};
	uint32_t taker = NO_THREAD;
	int64_t most = 0;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, operation->thread, operation->begin, operation_end(operation));
	while (spans_next_off_cpu(&spans, &span))
		if (is_ready(&span))
			each_run_beside(session, operation->thread, &span, add_run, &takers);
	for (guint i = 0; i < takers.count; i++)
		if (takers.ns[i] > most && takers.thread[i] != operation->thread) {
			most = takers.ns[i];
			taker = takers.thread[i];
		}
	return taker;
}

int idle_state_before(const struct session *session, const struct operation *operation)
{
	struct spans spans;
	struct span span;
	int state = -1;

	spans_begin(&spans, session, operation->thread, operation->begin, operation_end(operation));
	while (spans_next_off_cpu(&spans, &span))
		if (PACK_KIND(span.leaf) == LEAF_WAIT_CPU)
			state = ready_of(session, operation->thread, &span).idle_state;
	return state;
}

uint32_t interrupter(const struct session *session, const struct operation *operation)
{
	struct takers takers = {0};
	g_autofree char *key = NULL;
	int64_t most = 0;
	uint32_t leaf = 0;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, operation->thread, operation->begin, operation_end(operation));
	while (spans_next(&spans, &span))
		if (leaf_wib(span.leaf) == WIB_INTERRUPTED && !leaf_is_off_cpu(span.leaf))
			add_time(&takers, span.leaf, span.end - span.begin);
	for (guint i = 0; i < takers.count; i++)
		if (takers.ns[i] > most) {
			most = takers.ns[i];
			leaf = takers.thread[i];
		}
	if (!leaf || most * INTERRUPTED_SHARE < (int64_t) operation->duration)
		return 0;
	key = leaf_key(session, leaf);
	return intern_id(session->trace.model.names,
			 g_str_has_prefix(key, INTERRUPTED) ? key + strlen(INTERRUPTED) : key);
}
