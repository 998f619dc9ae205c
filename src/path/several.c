/* SPDX-License-Identifier: MIT */
/* Which ends of waits led to nothing; see several.h.
 *
 *   W  ─┤ earlier [b, e) ├─ does what? ─┤ later [b', e') ├─ does what counts
 *                        e ············ b'
 *   X  ── who ended the later one: did W wake it, or make it, in [e, b')?
 */
#include "path/several.h"

#include <string.h>

#include "objects/calls.h"

#define SHORT_PART 4 /* W's work in between is short if less than a fourth of the whole */
#define LIMIT_ROUNDED INT64_C(2000000) /* ns: time limits of poll are in ms */
#define DEPTH_MAX 8
#define STEPS_MAX 200 /* waits and births looked at in between */

enum verdict { A_STEP, LED_TO_NOTHING, UNDECIDED };

static bool is_idle_worker(const struct session *session, const struct span *span)
{
	return PACK_KIND(span->leaf) != LEAF_BLOCK_SYSCALL && leaf_is_blocked(span->leaf) &&
	       block_at(&session->trace.timeline, span->ref)->operation == IDLE_OPERATION;
}

bool waits_for_several(const struct session *session, const struct span *span)
{
	const char *name;

	if (PACK_KIND(span->leaf) != LEAF_BLOCK_SYSCALL)
		return is_idle_worker(session, span);
	switch (flow_call_info(&session->trace.flow, PACK_NUMBER(span->leaf))->wait) {
	case WAIT_POLL:
	case WAIT_SELECT:
	case WAIT_EPOLL:
	case WAIT_RING:
	case WAIT_CHILD:
	case WAIT_SIGNAL:
		return true;
	case WAIT_DEFAULT:
		name = session_text(session, PACK_NUMBER(span->leaf));
		return strcmp(name, "io_getevents") == 0 || strcmp(name, "io_pgetevents") == 0;
	default:
		return false;
	}
}

bool several_needed(const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	return life->state == THREAD_DEAD && life->end <= session->asked.to;
}

/* --- what came of what W did in [from, to) --------------------------------------------- */

struct search {
	const struct session *session;
	uint32_t doer; /* W */
	int64_t from;
	unsigned steps;
	bool unknown;  /* something on the way was not seen */
};

static bool came_of(struct search *search, uint32_t thread, int64_t to, unsigned depth);

static bool wait_came_of(struct search *search, uint32_t thread, const struct span *span,
			 unsigned depth)
{
	struct wait wait = wait_of(search->session, thread, span);
	struct lead lead;

	if (!wait_lead(search->session, &wait, &lead)) {
		search->unknown |= wait.block->kind == WAKER_UNKNOWN;
		return false;
	}
	return came_of(search, lead.thread, span->end, depth + 1) ||
	       (is_thread(lead.first) && came_of(search, lead.first, span->end, depth + 1));
}

/* What `thread` did up to `to` came of what the doer did since `from`. */
static bool came_of(struct search *search, uint32_t thread, int64_t to, unsigned depth)
{
	const struct thread *life = model_thread(&search->session->trace.model, thread);
	struct spans spans;
	struct span span;

	if (thread == search->doer)
		return true;
	if (depth > DEPTH_MAX || ++search->steps > STEPS_MAX) {
		search->unknown = true;
		return false;
	}
	if (life->born && life->begin >= search->from && life->begin <= to &&
	    is_thread(life->parent) && came_of(search, life->parent, life->begin, depth + 1))
		return true;
	spans_begin(&spans, search->session, thread, search->from, to);
	while (spans_next_off_cpu(&spans, &span))
		if (leaf_is_blocked(span.leaf) && wait_came_of(search, thread, &span, depth))
			return true;
	return false;
}

/* Each moment of [from, to) the thread was blocked, or not there yet. */
static bool was_away(const struct session *session, uint32_t thread, int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, from, to);
	while (spans_next(&spans, &span))
		if (!leaf_is_blocked(span.leaf))
			return false;
	return true;
}

/* --- one end --------------------------------------------------------------------------- */

/* What the thread did between two waits. */
struct between {
	int64_t from, to, working;
	uint32_t sent; /* as in struct block, of all of it, … */
	int32_t fd;    /* … and by which descriptor; -1: not known, or several */
};

static void note_sent(const struct session *session, struct between *between, uint32_t ref)
{
	const struct block *block = block_at(&session->trace.timeline, ref);

	if (!block->sent)
		return;
	between->fd = !between->sent || between->fd == block->sent_fd ? block->sent_fd : -1;
	between->sent = between->sent && between->sent != block->sent
				? intern_id(session->trace.model.names, "several")
				: block->sent;
}

/* Between the end of `earlier` and the begin of `next`. */
static struct between between_of(const struct session *session, uint32_t thread,
				 const struct span *earlier, const struct span *next)
{
	struct between between = {.from = earlier->end, .to = next->begin};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, between.from, between.to);
	while (spans_next(&spans, &span)) {
		if (leaf_wib(span.leaf) == WIB_WORKING)
			between.working += span.end - span.begin;
		else if (leaf_is_blocked(span.leaf))
			note_sent(session, &between, span.ref);
	}
	note_sent(session, &between, next->ref);
	return between;
}

static bool is_several(const struct session *session, uint32_t key)
{
	return strcmp(session_text(session, key), "several") == 0;
}

/* A connection of which no peer is known, as accept() was not asked for it. */
static bool is_of_nobody(const struct session *session, uint32_t key)
{
	static const char *const keys[] = {"socket:inet", "socket:inet6", "socket:unix"};

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (strcmp(session_text(session, key), keys[i]) == 0)
			return true;
	return false;
}

/* It wrote in between to what that wait was on; connections without a known peer are told apart by
 * their descriptors. */
static bool went_to(const struct session *session, const struct between *between,
		    const struct block *block)
{
	return between->sent == block->resource &&
	       (between->fd == block->fd || between->fd < 0 || block->fd < 0 ||
		!is_of_nobody(session, between->sent));
}

/* The wait's end answers what was written in between. */
static bool answers(const struct session *session, const struct between *between,
		    const struct block *block)
{
	return between->sent &&
	       (went_to(session, between, block) || is_several(session, between->sent) ||
		is_several(session, block->resource));
}

/* It was an answer to a client, by its port (such as systems give by themselves): no other's. */
static bool is_for_client(const struct session *session, uint32_t key)
{
	const char *text = session_text(session, key), *port = strrchr(text, ':');

	return g_str_has_prefix(text, "socket:") && port != text + strlen("socket") &&
	       g_ascii_strtoull(port + 1, NULL, 10) >= PORT_GIVEN;
}

/* It went to where the earlier wait had heard from: an answer to who ended that, and he is of
 * another process than `by`. */
static bool is_for_asker(const struct session *session, const struct between *between,
			 const struct wait *before, uint32_t by)
{
	const uint32_t *process = session->trace.processes.first;
	struct lead lead;

	return went_to(session, between, before->block) && wait_lead(session, before, &lead) &&
	       is_thread(lead.thread) && process[lead.thread] != process[by];
}

/* Both waits had the same time limit, which ended the second. */
static bool has_same_limit(const struct wait *before, const struct wait *wait)
{
	int64_t timer = before->block->timer;
	int64_t off = before->begin + timer - wait->end;

	return timer > 0 && ABS(off) < MAX(LIMIT_ROUNDED, timer / 50);
}

/* What no thread ended: it was under way already, or what was done in between began it. */
static enum verdict judge_hardware(const struct session *session, const struct between *between,
				   const struct wait *before, const struct wait *wait)
{
	const struct wake_detail *detail = block_detail(session, wait->block);
	const struct wake_detail *request = block_request(session, wait->block);

	if (request)
		return request->begin && request->begin < between->from ? LED_TO_NOTHING : A_STEP;
	if (wait_taker(session, wait) == TAKER_TIMER)
		return (detail && detail->begin && detail->begin < between->from) ||
				       has_same_limit(before, wait)
			       ? LED_TO_NOTHING
			       : A_STEP;
	if (detail && detail->kind == DETAIL_PACKET)
		return between->sent ? UNDECIDED : LED_TO_NOTHING;
	return UNDECIDED;
}

static bool is_for_child(const struct session *session, const struct span *span)
{
	return PACK_KIND(span->leaf) == LEAF_BLOCK_SYSCALL &&
	       flow_call_info(&session->trace.flow, PACK_NUMBER(span->leaf))->wait == WAIT_CHILD;
}

/* Waits that are one: where the first begins, the one whose end is a step. */
struct joined {
	guint place; /* of the last in the spans, UINT_MAX: none yet */
	bool open; /* … which is cut where the spans end */
	struct span first, last;
};

/* `earlier` ended: did that lead to nothing but that the thread waited on? */
static enum verdict judge(const struct session *session, uint32_t thread,
			  const struct span *earlier, const struct joined *rest)
{
	struct wait before = wait_of(session, thread, earlier);
	struct wait wait = wait_of(session, thread, &rest->last);
	struct between between = between_of(session, thread, earlier, &rest->first);
	struct search search = {.session = session, .doer = thread, .from = between.from};
	bool for_child = is_for_child(session, &rest->last);
	struct lead lead;

	wait.begin = rest->first.begin;
	if (!wait.woken || !before.woken || wait_is_explained(session, &before) ||
	    wait_is_explained(session, &wait) || wait_is_suspended(session, &wait))
		return A_STEP;
	if (host_unseen(model_host(&session->trace.model,
				   model_thread(&session->trace.model, thread)->host),
			between.from, between.to) ||
	    (SHORT_PART * between.working > wait.end - before.begin &&
	     !is_idle_worker(session, earlier))) /* that one may do a lot for others */
		return UNDECIDED;
	if (!for_child && answers(session, &between, wait.block))
		return A_STEP;
	if (!wait_lead(session, &wait, &lead))
		return judge_hardware(session, &between, &before, &wait);
	if (came_of(&search, lead.thread, between.to, 0) ||
	    (is_thread(lead.first) && came_of(&search, lead.first, between.to, 0)))
		return A_STEP;
	/* it may have read, without waiting for it, what was written to another place */
	if (search.unknown ||
	    (between.sent && !for_child && !is_for_client(session, between.sent) &&
	     !is_for_asker(session, &between, &before, lead.thread) &&
	     !was_away(session, lead.thread, between.from, between.to)))
		return UNDECIDED;
	return LED_TO_NOTHING;
}

/* Who goes on living is there for others too: what else than a child's end, or a timer after
 * which nothing was written, led to nothing is not known. */
static bool may_be_nothing(const struct session *session, uint32_t thread,
			   const struct span *earlier, const struct joined *rest)
{
	struct wait wait = wait_of(session, thread, earlier);
	struct between between;

	if (is_for_child(session, earlier))
		return true;
	if (wait_taker(session, &wait) != TAKER_TIMER)
		return false;
	between = between_of(session, thread, earlier, &rest->first);
	return !between.sent;
}

/* --- all of a thread's ----------------------------------------------------------------- */

/* Calls `take` for each wait that led to nothing, from the last to the first: it, and the one
 * that it is joined to, by their places in `spans`. */
static int64_t each_led_to_nothing(const struct session *session, uint32_t thread, GArray *spans,
				   bool needed,
				   void (*take)(GArray *spans, guint earlier, guint last))
{
	struct joined rest = {.place = UINT_MAX};
	int64_t undecided = INT64_MIN;

	for (guint i = spans->len; i-- > 0;) {
		struct span at = g_array_index(spans, struct span, i);
		enum verdict verdict = A_STEP;

		if (!waits_for_several(session, &at))
			continue;
		if (rest.place != UINT_MAX && !rest.open &&
		    (needed || may_be_nothing(session, thread, &at, &rest)))
			verdict = judge(session, thread, &at, &rest);
		if (verdict == UNDECIDED && !is_idle_worker(session, &at))
			undecided = MAX(undecided, at.end);
		if (verdict == LED_TO_NOTHING) {
			take(spans, i, rest.place);
			rest.first = at;
		} else {
			rest = (struct joined) {i,
						i + 1 == spans->len &&
							session_blocked_at(session, thread, at.end),
						at, at};
		}
	}
	return undecided;
}

/* The later one begins where the earlier did; what is between is taken out at the end. */
static void join(GArray *spans, guint earlier, guint last)
{
	g_array_index(spans, struct span, last).begin =
		g_array_index(spans, struct span, earlier).begin;
}

int64_t several_join(const struct session *session, uint32_t thread, GArray *spans, bool needed)
{
	int64_t undecided = each_led_to_nothing(session, thread, spans, needed, join);
	guint kept = spans->len;

	for (guint i = spans->len; i-- > 0;) {
		struct span at = g_array_index(spans, struct span, i);

		if (kept == spans->len || at.begin < g_array_index(spans, struct span, kept).begin)
			g_array_index(spans, struct span, --kept) = at;
	}
	g_array_remove_range(spans, 0, kept);
	return undecided;
}

static void redirect(GArray *spans, guint earlier, guint last)
{
	g_array_index(spans, struct span, earlier).ref =
		g_array_index(spans, struct span, last).ref;
}

int64_t several_redirect(const struct session *session, uint32_t thread, GArray *spans, bool needed)
{
	return each_led_to_nothing(session, thread, spans, needed, redirect);
}
