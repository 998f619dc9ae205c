/* SPDX-License-Identifier: MIT */
/* Nesting the calls of a thread; see frames.h. */
#include "calls/frames.h"

#include "latencies/busy.h"
#include "latencies/operations.h"
#include "util/pattern.h"

#include "objects/calls.h"

/* What nests where, in the order of the store: each behind what is nested in it. */
struct nesting {
	uint32_t *parent, *size, *depth; /* owned; size: of itself and what is nested */
	guint count;
};

/* Interrupts matter where functions may have been called in them, and where they are shown. */
static bool is_taken(const struct session *session, const struct operation *operation)
{
	uint32_t kind = PACK_KIND(operation->what);

	return kind <= OPERATION_USER || kind == OPERATION_KVM_EXIT ||
	       (kind <= OPERATION_HRTIMER && (session->trace.kinds[EV_FUNCTION_ENTRY] ||
					      session->asked.options->functions.timeline));
}

/* The operations of a list in [from, to), the oldest first; `at`: its newest. */
static GArray *records(const struct session *session, uint32_t at, int64_t from, int64_t to)
{
	const struct pages *store = &session->trace.timeline.operations;
	GArray *list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	uint32_t count = 0;

	while (at) {
		const struct operation *operation = operation_at(store, at);

		if (operation_end(operation) < from)
			break;
		if (operation->begin < to && is_taken(session, operation))
			g_array_append_val(list, at);
		at = operation->previous;
		timeline_ease_now_and_then(&session->trace.timeline, ++count);
	}
	for (guint i = 0; i < list->len / 2; i++) {
		uint32_t *a = &g_array_index(list, uint32_t, i);
		uint32_t *b = &g_array_index(list, uint32_t, list->len - 1 - i), c = *a;

		*a = *b;
		*b = c;
	}
	return list;
}

/* Each takes what began inside it. What began before it and ended inside (the stamps of two
 * sources) is beside it, and it begins behind that; what takes no time has nothing inside. */
static void nest(struct nesting *nesting, struct call_frame *frames)
{
	GArray *roots = g_array_new(FALSE, FALSE, sizeof(uint32_t));

	for (uint32_t i = 0; i < nesting->count; i++) {
		struct call_frame *frame = &frames[i];

		nesting->size[i] = 1;
		nesting->parent[i] = NO_FRAME;
		while (roots->len && frame->end > frame->begin) {
			uint32_t at = g_array_index(roots, uint32_t, roots->len - 1);

			if (frames[at].begin < frame->begin) {
				frame->begin = MIN(frame->end, MAX(frame->begin, frames[at].end));
				break;
			}
			nesting->parent[at] = i;
			nesting->size[i] += nesting->size[at];
			g_array_set_size(roots, roots->len - 1);
		}
		g_array_append_val(roots, i);
	}
	g_array_free(roots, TRUE);
	for (uint32_t i = nesting->count; i-- > 0;)
		nesting->depth[i] =
			nesting->parent[i] == NO_FRAME ? 0 : nesting->depth[nesting->parent[i]] + 1;
}

/* A frame's place by begin: behind all that is left of it, and those around it. */
static uint32_t place_of(const struct nesting *nesting, uint32_t i)
{
	return i + 1 - nesting->size[i] + nesting->depth[i];
}

static void order(const struct nesting *nesting, const struct call_frame *from,
		  struct call_frame *to)
{
	for (uint32_t i = nesting->count; i-- > 0;) {
		uint32_t place = place_of(nesting, i), parent = nesting->parent[i];

		to[place] = from[i];
		to[place].parent = parent == NO_FRAME ? NO_FRAME : place_of(nesting, parent);
		to[place].after = place + nesting->size[i];
	}
	for (uint32_t i = 0; i < nesting->count; i++)
		to[i].in_interrupt = PACK_KIND(to[i].what) > OPERATION_USER ||
				     (to[i].parent != NO_FRAME && to[to[i].parent].in_interrupt);
}

static struct frames *frames_of_list(const struct session *session, uint32_t thread,
				     uint32_t newest, int64_t from, int64_t to)
{
	g_autoptr(GArray) list = records(session, newest, from, to);
	struct frames *frames = g_new0(struct frames, 1);
	struct nesting nesting = {.count = list->len};
	g_autofree struct call_frame *behind = g_new(struct call_frame, list->len + 1);

	for (guint i = 0; i < list->len; i++) {
		const struct operation *operation =
			operation_at(&session->trace.timeline.operations,
				     g_array_index(list, uint32_t, i));

		timeline_ease_now_and_then(&session->trace.timeline, i + 1);

		behind[i] = (struct call_frame) {
			.begin = operation->begin,
			.end = operation_end(operation),
			.what = operation_what(session, operation),
			.half = operation->half,
			.parent = NO_FRAME,
			.ref = PACK_KIND(operation->what) == OPERATION_USER
				       ? PACK_NUMBER(operation->what)
				       : operation->ref};
	}
	nesting.parent = g_new(uint32_t, nesting.count + 1);
	nesting.size = g_new(uint32_t, nesting.count + 1);
	nesting.depth = g_new(uint32_t, nesting.count + 1);
	nest(&nesting, behind);
	frames->thread = thread;
	frames->list = g_array_sized_new(FALSE, FALSE, sizeof *behind, nesting.count);
	g_array_set_size(frames->list, nesting.count);
	order(&nesting, behind, (struct call_frame *) (void *) frames->list->data);
	g_free(nesting.parent);
	g_free(nesting.size);
	g_free(nesting.depth);
	return frames;
}

struct frames *frames_new(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	return frames_of_list(session, thread,
			      model_thread(&session->trace.model, thread)->flow.operation, from,
			      to);
}

struct frames *frames_of_idle(const struct session *session, const struct cpu *cpu, int64_t from,
			      int64_t to)
{
	return frames_of_list(session, IDLE_THREAD, cpu->operation, from, to);
}

struct turns {
	int64_t from, to;
	GArray *list;
};

static void take_turn(void *data, uint32_t thread, int64_t begin, int64_t end, uint32_t ref)
{
	struct turns *turns = data;
	struct call_frame frame = {.begin = begin,
				   .end = end,
				   .what = PACK(OPERATION_BUSY, 0),
				   .half = OPERATION_WHOLE,
				   .parent = NO_FRAME,
				   .after = turns->list->len + 1};

	(void) thread, (void) ref;
	if (begin >= turns->from && end <= turns->to)
		g_array_append_val(turns->list, frame);
}

struct frames *frames_of_turns(const struct session *session, uint32_t thread, int64_t from,
			       int64_t to)
{
	struct frames *frames = g_new0(struct frames, 1);
	struct turns turns = {from, to, g_array_new(FALSE, FALSE, sizeof(struct call_frame))};

	busy_each(session, thread, take_turn, &turns);
	frames->thread = thread;
	frames->list = turns.list;
	return frames;
}

/* The first frame from `low` on that begins at `time` or later; the length of the list: none. */
static uint32_t first_from(const struct frames *frames, uint32_t low, int64_t time)
{
	uint32_t high = frames->list->len;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (frame_of(frames, middle)->begin < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t frames_from(const struct frames *frames, int64_t time)
{
	return first_from(frames, 0, time);
}

void frames_free(struct frames *frames)
{
	if (!frames)
		return;
	g_array_free(frames->list, TRUE);
	g_free(frames);
}

/* The innermost call at `time`, before which the frames in front of `next` begin. */
static uint32_t innermost(const struct frames *frames, uint32_t next, int64_t time, int64_t *until)
{
	uint32_t at = next ? next - 1 : NO_FRAME;

	*until = next < frames->list->len ? frame_of(frames, next)->begin : INT64_MAX;
	for (; at != NO_FRAME; at = frame_of(frames, at)->parent) {
		if (frame_of(frames, at)->end <= time)
			continue;
		*until = MIN(*until, frame_of(frames, at)->end);
		if (!frame_of(frames, at)->in_interrupt)
			break;
	}
	return at;
}

uint32_t frames_at(const struct frames *frames, int64_t time, int64_t *until)
{
	return innermost(frames, first_from(frames, 0, time + 1), time, until);
}

#define FRAMES_NEAR 8 /* looked at one by one before it is searched */

uint32_t frames_on(const struct frames *frames, uint32_t *place, int64_t time, int64_t *until)
{
	uint32_t count = frames->list->len, near = MIN(count, *place + FRAMES_NEAR);

	while (*place < near && frame_of(frames, *place)->begin <= time)
		++*place;
	if (*place == near && near < count)
		*place = first_from(frames, near, time + 1);
	return innermost(frames, *place, time, until);
}

bool frame_waits_for_others(const struct session *session, const struct call_frame *frame)
{
	static const char *const fed[] = {"pipe:",    "socket:", "eventfd",    "timerfd",
					  "signalfd", "inotify", "file:/dev/", NULL};
	const char *on = frame->ref ? session_text(session, frame->ref) : "";
	uint8_t wait;

	if (PACK_KIND(frame->what) != OPERATION_SYSCALL)
		return false;
	for (int i = 0; fed[i]; i++)
		if (*on == *fed[i] && g_str_has_prefix(on, fed[i]))
			return true;
	wait = flow_call_info(&session->trace.flow, PACK_NUMBER(frame->what))->wait;
	return wait != WAIT_DEFAULT && wait != WAIT_FD && wait != WAIT_NOTHING;
}

char *frame_name(const struct session *session, uint32_t what)
{
	uint32_t kind = PACK_KIND(what);

	if (kind == OPERATION_FUNCTION || kind == OPERATION_USER)
		return g_strdup(session_text(session, PACK_NUMBER(what)));
	return operation_name(session, what);
}

static bool is_called(const struct session *session, uint32_t what, const char *pattern)
{
	g_autofree char *name = frame_name(session, what);

	return pattern_match(pattern, name);
}

bool frame_is_wanted(const struct session *session, const struct call_frame *frame)
{
	const char *pattern = session->asked.options->functions.function;

	return !pattern || (frame_is_call(frame) && is_called(session, frame->what, pattern));
}
