/* SPDX-License-Identifier: MIT */
/* See offline.h. */
#include "ready/offline.h"

#include <stdlib.h>
#include <string.h>

#define STOPPER "migration/" /* … and its CPU's number */
#define LEAST INT64_C(30000000) /* ns: a stopper's own work is much shorter */
#define BEFORE INT64_C(1000000000) /* ns: the hotplug thread's part */

/* The kernel's thread of that name on the host; NO_THREAD. */
static uint32_t find_thread(const struct session *session, uint16_t host, const char *kind,
			    uint32_t cpu)
{
	const struct model *model = &session->trace.model;
	char name[32];

	g_snprintf(name, sizeof name, "%s/%u", kind, cpu);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);

		if (thread->host == host && thread_is_kernel(model, thread) &&
		    strcmp(session_own_name(session, i), name) == 0)
			return i;
	}
	return NO_THREAD;
}

/* The hotplug thread worked before `time`. */
static bool was_plugged(const struct session *session, uint32_t plugger, int64_t time)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, plugger, time - BEFORE, time);
	while (spans_next(&spans, &span))
		if (leaf_wib(span.leaf) == WIB_WORKING)
			return true;
	return false;
}

/* The thread waited for what it had written to the CPU's file. */
static bool wrote(const struct session *session, uint32_t thread, const char *file, int64_t time)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, time - BEFORE, time);
	while (spans_next_off_cpu(&spans, &span)) {
		const struct block *block =
			leaf_is_blocked(span.leaf) ? block_at(&session->trace.timeline, span.ref)
						   : NULL;

		if (block && g_str_has_suffix(session_text(session, block->resource), file))
			return true;
	}
	return false;
}

/* Who took it offline at `time`. */
static uint32_t who_wrote(const struct session *session, uint16_t host, uint32_t cpu, int64_t time)
{
	char file[32];

	g_snprintf(file, sizeof file, "/cpu%u/online", cpu);
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		if (model_thread(&session->trace.model, i)->host == host &&
		    wrote(session, i, file, time))
			return i;
	return NO_THREAD;
}

/* `stopper`: the CPU's stopper thread. */
static void add_cpu(const struct session *session, uint32_t stopper, uint32_t cpu, GArray *list)
{
	const struct thread *thread = model_thread(&session->trace.model, stopper);
	struct offline offline = {.host = thread->host, .cpu = cpu};
	uint32_t plugger = NO_THREAD;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, stopper, session->trace.begin, session->trace.end);
	while (spans_next(&spans, &span)) {
		if (leaf_wib(span.leaf) != WIB_WORKING || span.end - span.begin < LEAST)
			continue;
		if (!is_thread(plugger))
			plugger = find_thread(session, thread->host, "cpuhp", cpu);
		if (!is_thread(plugger) || !was_plugged(session, plugger, span.begin))
			continue;
		offline.by = who_wrote(session, thread->host, cpu, span.begin);
		offline.begin = span.begin;
		offline.end = span.end;
		g_array_append_val(list, offline);
	}
}

static void *offline_new(const struct session *session)
{
	const struct model *model = &session->trace.model;
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct offline));

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const char *name = session_own_name(session, i);

		if (g_str_has_prefix(name, STOPPER) &&
		    thread_is_kernel(model, model_thread(model, i)))
			add_cpu(session, i, (uint32_t) strtoul(name + strlen(STOPPER), NULL, 10),
				list);
	}
	return list;
}

const GArray *offline_times(const struct session *session)
{
	return session_make_once(session, offline_new, (GDestroyNotify) g_array_unref);
}

bool was_offline(const GArray *times, uint16_t host, uint32_t cpu, int64_t from, int64_t to)
{
	for (guint i = 0; i < times->len; i++) {
		const struct offline *at = &g_array_index(times, struct offline, i);

		if (at->host == host && at->cpu == cpu && at->begin < to && from < at->end)
			return true;
	}
	return false;
}
