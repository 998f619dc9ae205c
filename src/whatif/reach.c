/* SPDX-License-Identifier: MIT */
/* See reach.h. */
#include "whatif/reach.h"

struct reached {
	struct spans spans; /* from the window's begin on; once `read` is not INT64_MIN */
	struct hinge *hinges; /* owned; of its waits, by time */
	uint32_t count, room;
	int64_t wanted; /* up to here it matters */
	int64_t read;   /* … and has been read */
	bool listed;    /* among those to be read on */
};

struct reach {
	const struct session *session;
	int64_t from, to;
	struct reached *threads; /* owned; of each */
	GArray *listed; /* uint32_t */
	uint64_t waits;
};

uint32_t reach_parent(const struct session *session, uint32_t thread, int64_t from)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	return life->born && life->begin >= from && is_thread(life->parent) &&
			       life->parent != thread
		       ? life->parent
		       : NO_THREAD;
}

static void want(struct reach *reach, uint32_t thread, int64_t time)
{
	struct reached *reached = &reach->threads[thread];

	if (!is_thread(thread) || time <= reached->wanted)
		return;
	reached->wanted = time;
	if (!reached->listed)
		g_array_append_val(reach->listed, thread);
	reached->listed = true;
}

static void add_hinge(struct reached *reached, struct hinge hinge)
{
	if (reached->count == reached->room) {
		reached->room = reached->room ? 2 * reached->room : 16;
		reached->hinges = g_renew(struct hinge, reached->hinges, reached->room);
	}
	reached->hinges[reached->count++] = hinge;
}

static void begin(struct reach *reach, uint32_t thread)
{
	const struct thread *life = model_thread(&reach->session->trace.model, thread);
	struct reached *reached = &reach->threads[thread];
	uint32_t parent = reach_parent(reach->session, thread, reach->from);

	reached->read = MAX(life->begin, reach->from);
	if (track_empty(&life->track) || reached->read >= MIN(life->end, reach->to))
		reached->read = INT64_MAX;
	else
		spans_begin(&reached->spans, reach->session, thread, reached->read,
			    MIN(life->end, reach->to));
	if (parent != NO_THREAD && reached->wanted >= life->begin)
		want(reach, parent, life->begin);
}

/* The thread is read as far as it matters. */
static void read_on(struct reach *reach, uint32_t thread)
{
	struct reached *reached = &reach->threads[thread];
	struct span span;

	if (reached->read == INT64_MIN)
		begin(reach, thread);
	while (reached->read < reached->wanted && spans_next_off_cpu(&reached->spans, &span)) {
		struct wait wait;
		struct hinge hinge;

		reached->read = span.end;
		if (!leaf_is_blocked(span.leaf))
			continue;
		wait = wait_of(reach->session, thread, &span);
		hinge = hinge_of(reach->session, &wait, &span);
		add_hinge(reached, hinge);
		reach->waits++;
		if (hinge.kind == FOLLOWS)
			want(reach, hinge.thread, hinge.time);
	}
}

struct reach *reach_new(const struct session *session, const GArray *ways, int64_t from, int64_t to)
{
	uint32_t count = session->trace.model.thread_count;
	struct reach *reach;

	if (!ways->len)
		return NULL;
	reach = g_new0(struct reach, 1);
	reach->session = session;
	reach->from = from;
	reach->to = to;
	reach->threads = g_new0(struct reached, count + 1);
	reach->listed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		reach->threads[i].wanted = reach->threads[i].read = INT64_MIN;
	for (guint i = 0; i < ways->len; i++) {
		const struct way *way = &g_array_index(ways, struct way, i);

		want(reach, way->first, way->from);
		want(reach, way->thread, way->to);
	}
	while (reach->listed->len && !session_interrupted(session)) {
		uint32_t thread = g_array_index(reach->listed, uint32_t, reach->listed->len - 1);

		g_array_set_size(reach->listed, reach->listed->len - 1);
		reach->threads[thread].listed = false;
		read_on(reach, thread);
	}
	return reach;
}

void reach_free(struct reach *reach)
{
	if (!reach)
		return;
	for (uint32_t i = 0; i < reach->session->trace.model.thread_count; i++)
		g_free(reach->threads[i].hinges);
	g_array_free(reach->listed, TRUE);
	g_free(reach->threads);
	g_free(reach);
}

int64_t reach_until(const struct reach *reach, uint32_t thread)
{
	return reach->threads[thread].wanted;
}

struct hinge reach_hinge(const struct reach *reach, uint32_t thread, uint32_t index)
{
	const struct reached *reached = &reach->threads[thread];

	return index < reached->count
		       ? reached->hinges[index]
		       : (struct hinge) {.kind = KEEPS_LENGTH,
					 .thread = NO_THREAD,
					 .since = INT64_MIN};
}

uint64_t reach_waits(const struct reach *reach)
{
	return reach->waits;
}
