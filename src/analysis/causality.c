/* The tree of waits; see causality.h.
 *
 *   T  ──────┤ b        blocked          e ├── woken by P at e
 *   P  ──work──┤ blocked ├──work──────────▶    its waits in [b, e), clipped,
 *                                              are the children; the rest is P's share
 */
#include "analysis/causality.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/summary.h"

struct builder {
	const struct session *session;
	uint32_t limit;
	GArray *path; /* threads being explained, outermost first */
};

static void wait_free(gpointer data)
{
	struct wait *wait = data;

	if (wait->children)
		g_ptr_array_free(wait->children, TRUE);
	g_free(wait);
}

bool wait_by_thread(const struct wait *wait)
{
	return wait->woken && wait->block->kind == WAKER_THREAD && is_thread(wait->block->waker);
}

bool block_lead(const struct session *session, const struct block *block, uint32_t thread,
		int64_t begin, int64_t end, struct lead *lead)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->timeline, block->detail) : NULL;
	int64_t sent;

	*lead = (struct lead) {.thread = block->waker, .until = end};
	if (block->kind == WAKER_THREAD)
		return is_thread(block->waker);
	if (!detail || (detail->kind != DETAIL_PACKET && detail->kind != DETAIL_REQUEST))
		return false;
	/* a request is handed over when it is put into the queue */
	sent = detail->begin - (detail->kind == DETAIL_REQUEST ? MAX(detail->queued, 0) : 0);
	*lead = (struct lead) {.thread = detail->thread, .until = MIN(sent, end),
			       .handed_over = true};
	/* what was sent before the wait began held it up only on its way */
	return is_thread(detail->thread) && detail->thread != thread && sent > begin;
}

/* The longest first; among equals the earlier. */
static int by_length(gconstpointer a, gconstpointer b)
{
	const struct wait *x = *(struct wait *const *) a, *y = *(struct wait *const *) b;
	int64_t length_x = x->end - x->begin, length_y = y->end - y->begin;

	if (length_x != length_y)
		return length_x > length_y ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_begin(gconstpointer a, gconstpointer b)
{
	const struct wait *x = *(struct wait *const *) a, *y = *(struct wait *const *) b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static struct wait *wait_new(const struct session *session, uint32_t thread,
			     const struct span *span)
{
	struct wait *wait = g_new0(struct wait, 1);

	wait->thread = thread;
	wait->begin = span->begin;
	wait->end = span->end;
	wait->leaf = span->leaf;
	wait->block = block_at(&session->timeline, span->ref);
	wait->woken = wait->block->kind != WAKER_NONE;
	wait->spans_gap = session_spans_gap(session, thread, span);
	return wait;
}

static void add_share(struct wait *share, const struct span *span)
{
	int64_t *sums[] = {&share->unknown, &share->working, &share->interrupted,
			   &share->blocked};

	*sums[leaf_wib(span->leaf)] += span->end - span->begin;
}

/* Keeps the longest `limit`; returns the length that a further one must pass. */
static int64_t cut(GPtrArray *waits, uint32_t limit)
{
	const struct wait *last;

	g_ptr_array_sort(waits, by_length);
	g_ptr_array_set_size(waits, (gint) limit);
	last = g_ptr_array_index(waits, limit - 1);
	return last->end - last->begin;
}

/* The waits of `thread` in [from, to); adds all its time to `share` if there
 * is one. */
static GPtrArray *collect(const struct builder *builder, uint32_t thread, int64_t from,
			  int64_t to, uint32_t *omitted, struct wait *share)
{
	const struct session *session = builder->session;
	GPtrArray *waits = g_ptr_array_new_with_free_func(wait_free);
	uint32_t limit = builder->limit, found = 0;
	int64_t shortest = -1;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, from, to);
	while (spans_next(&spans, &span)) {
		int64_t length = span.end - span.begin;
		struct wait *wait;

		if (share)
			add_share(share, &span);
		if (!leaf_is_blocked(span.leaf) || length < session->options->min_duration)
			continue;
		found++;
		if (length <= shortest)
			continue;
		wait = wait_new(session, thread, &span);
		if (span.end == to && wait->woken && session_blocked_at(session, thread, to))
			wait->woken = false;
		g_ptr_array_add(waits, wait);
		if (limit && waits->len >= 2 * limit + 16)
			shortest = cut(waits, limit);
	}
	if (limit && waits->len > limit)
		cut(waits, limit);
	*omitted = found - waits->len;
	g_ptr_array_sort(waits, by_begin);
	return waits;
}

static bool on_path(const struct builder *builder, uint32_t thread)
{
	for (guint i = 0; i < builder->path->len; i++)
		if (g_array_index(builder->path, uint32_t, i) == thread)
			return true;
	return false;
}

/* Rule 2: "Walk P's own intervals over [b, e) (clipped), and apply the same
 * rules to each of P's Blocked intervals, one level deeper." */
static void explain(struct builder *builder, struct wait *wait)
{
	uint32_t depth = builder->session->options->depth, waker;
	struct lead lead;

	if (!wait->woken || !block_lead(builder->session, wait->block, wait->thread, wait->begin,
					wait->end, &lead))
		return;
	waker = lead.thread;
	if (waker == wait->thread || on_path(builder, waker)) {
		wait->cycle = !lead.handed_over;
		return;
	}
	if (depth && builder->path->len >= depth)
		return;
	wait->has_share = true;
	wait->lead = lead;
	wait->children = collect(builder, waker, wait->begin, lead.until, &wait->omitted, wait);
	g_array_append_val(builder->path, waker);
	for (guint i = 0; i < wait->children->len; i++)
		explain(builder, g_ptr_array_index(wait->children, i));
	g_array_set_size(builder->path, builder->path->len - 1);
}

GPtrArray *causality_new(const struct session *session, uint32_t thread, int64_t from,
			 int64_t to, uint32_t limit, uint32_t *omitted)
{
	struct builder builder = {session, limit, g_array_new(FALSE, FALSE, sizeof(uint32_t))};
	GPtrArray *waits = collect(&builder, thread, from, to, omitted, NULL);

	g_array_append_val(builder.path, thread);
	for (guint i = 0; i < waits->len; i++)
		explain(&builder, g_ptr_array_index(waits, i));
	g_array_free(builder.path, TRUE);
	return waits;
}

const char *cause_kind_text(enum cause_kind kind)
{
	static const char *const texts[] = {"cpu", "timer", "block-device", "network", "irq",
		"softirq", "process", "child", "signal", "stopped", "wait-cpu", "throttled",
		"still-blocked",
		"unknown"};

	return texts[kind];
}

const char *waker_kind_text(uint8_t kind)
{
	static const char *const texts[] = {"none", "unknown", "thread", "irq", "vector",
					    "softirq", "hrtimer"};

	return texts[kind];
}

const char *waker_why_text(uint8_t why)
{
	static const char *const texts[] = {
		"", "no wake-up was recorded",
		"woken from another CPU, and the trace has no sched_waking to say by whom",
		"woken in the idle loop, by an interrupt that was not recorded",
		"events of the waking CPU were lost", "the waking CPU's thread was not known"};

	return texts[why];
}

static const struct {
	const char *prefix, *kind;
} resource_kinds[] = {
	{"file:", "file"},     {"pipe:", "pipe"},       {"socket:", "socket"},
	{"device:", "device"}, {"lock:", "lock"},
	{"eventfd", "eventfd"}, {"timerfd", "timerfd"}, {"epoll", "epoll"},
	{"futex:", "futex"},   {"sleep", "timer"},      {"child:", "child"},
	{"poll", "poll"},      {"several", "poll"},     {"timeout", "poll"},
	{"signal", "signal"},
};

const char *resource_kind(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(resource_kinds); i++)
		if (g_str_has_prefix(key, resource_kinds[i].prefix))
			return resource_kinds[i].kind;
	return "other";
}

const char *resource_name(const char *key)
{
	const char *colon = strchr(key, ':');

	return colon ? colon + 1 : key;
}

const char *futex_operation(uint8_t operation)
{
	static const char *const names[] = {
		"wait", "wake", "fd", "requeue", "cmp_requeue", "wake_op", "lock_pi", "unlock_pi",
		"trylock_pi", "wait_bitset", "wake_bitset", "wait_requeue_pi", "cmp_requeue_pi",
		"lock_pi2"};

	if (operation == NO_OPERATION)
		return NULL;
	return operation < G_N_ELEMENTS(names) ? names[operation] : "unknown";
}

/* "timer of 30.00 ms, armed by itself in clock_nanosleep" */
static char *timer_label(const struct session *session, const struct wake_detail *detail,
			 uint32_t waiter)
{
	GString *label = g_string_new("timer");
	char length[32];

	if (detail->requested >= 0)
		g_string_append_printf(label, " of %s", when_duration(length, detail->requested));
	if (is_thread(detail->thread)) {
		if (detail->thread == waiter)
			g_string_append(label, " armed by itself");
		else
			g_string_append_printf(
				label, " armed by %s (%d)",
				session_thread_name(session, detail->thread),
				model_thread(&session->model, detail->thread)->tid);
		if (detail->text)
			g_string_append_printf(label, " in %s", session_text(session, detail->text));
	}
	return g_string_free(label, FALSE);
}

static char *request_label(const struct session *session, const struct wake_detail *detail,
			   uint32_t waiter)
{
	GString *label = g_string_new(session_text(session, detail->text));

	if (detail->number == FLUSH_SECTOR)
		g_string_append(label, ", flush of its cache");
	else
		g_string_append_printf(label, ", sector %" PRIu64, detail->number);
	if (detail->sectors)
		g_string_append_printf(label, ", %g KiB", detail->sectors / 2.0);
	if (is_thread(detail->thread) && detail->thread == waiter)
		g_string_append(label, ", issued by itself");
	else if (is_thread(detail->thread))
		g_string_append_printf(label, ", issued by %s (%d)",
				       session_thread_name(session, detail->thread),
				       model_thread(&session->model, detail->thread)->tid);
	return g_string_free(label, FALSE);
}

static char *waker_label(const struct session *session, uint32_t waker)
{
	return g_strdup_printf("%s (%d)", session_thread_name(session, waker),
			       model_thread(&session->model, waker)->tid);
}

/* "packet from 127.0.0.1:5555, sent by app (249)" */
static char *packet_label(const struct session *session, const struct wake_detail *detail)
{
	GString *label = g_string_new("packet");

	if (detail->text)
		g_string_append_printf(label, " from %s", session_text(session, detail->text));
	if (is_thread(detail->thread))
		g_string_append_printf(label, ", sent by %s (%d)",
				       session_thread_name(session, detail->thread),
				       model_thread(&session->model, detail->thread)->tid);
	return g_string_free(label, FALSE);
}

/* "kworker/1:2 (52), doing ata_sff_pio_task queued by sh (220)" */
static char *work_label(const struct session *session, uint32_t worker,
			const struct wake_detail *detail)
{
	g_autofree char *name = waker_label(session, worker), *by = NULL;

	if (is_thread(detail->thread))
		by = waker_label(session, detail->thread);
	return g_strdup_printf("%s, doing %s%s%s", name, session_function(session, detail->text),
			       detail->number && by ? " queued in an interrupt, on behalf of "
			       : detail->number    ? " queued in an interrupt"
			       : by                ? " queued by "
						   : ", by whom it was queued is not known",
			       by ? by : "");
}

/* Rule 3: what is known of the innermost frame. */
static void hardware_cause(const struct session *session, const struct block *block,
			   const struct wake_detail *detail, struct cause *cause)
{
	uint32_t number = PACK_NUMBER(block->context);
	const char *softirq;

	switch (block->kind) {
	case WAKER_HRTIMER:
		cause->kind = CAUSE_TIMER;
		cause->label = g_strdup("timer");
		break;
	case WAKER_VECTOR:
		cause->kind = strcmp(session_text(session, number), "local_timer") == 0
				      ? CAUSE_TIMER
				      : CAUSE_IRQ;
		cause->label = g_strdup_printf("vector %s", session_text(session, number));
		break;
	case WAKER_SOFTIRQ:
		softirq = softirq_name(number);
		cause->kind = detail && detail->kind == DETAIL_PACKET ? CAUSE_NETWORK
			      : number == 2 || number == 3            ? CAUSE_NETWORK
								      : CAUSE_SOFTIRQ;
		cause->label = detail && detail->kind == DETAIL_PACKET
				       ? packet_label(session, detail)
			       : softirq ? g_strdup_printf("softIRQ %s", softirq)
					 : g_strdup("softIRQ");
		break;
	default:
		cause->kind = CAUSE_IRQ;
		cause->label = block->label ? g_strdup(session_text(session, block->label))
					    : g_strdup_printf("IRQ %u", number);
		break;
	}
}

/* A wait cut short by the window: when it ended after all, and by whom. */
static char *later_label(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->model, wait->thread);
	struct span span;
	struct spans spans;
	char length[32];

	if (wait->block->kind == WAKER_NONE)
		return g_strdup("not woken before the trace's end");
	spans_begin(&spans, session, wait->thread, wait->end, thread->end);
	if (!spans_next(&spans, &span))
		return g_strdup("not woken before the window's end");
	return g_strdup_printf("not woken before the window's end, but %s later by %s",
			       when_duration(length, span.end - wait->end),
			       wait->block->kind == WAKER_THREAD && is_thread(wait->block->waker)
				       ? session_thread_name(session, wait->block->waker)
				       : waker_kind_text(wait->block->kind));
}

struct cause wait_cause(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->timeline, block->detail) : NULL;
	const char *resource = session_text(session, session_resource(session, block));
	struct cause cause = {CAUSE_UNKNOWN, NULL, -1, -1};

	if (!wait->woken) {
		cause.kind = CAUSE_STILL_BLOCKED;
		cause.label = later_label(session, wait);
	} else if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE) {
		cause.label = g_strdup(waker_why_text(block->why));
	} else if (detail && detail->kind == DETAIL_TIMER) {
		cause.kind = CAUSE_TIMER;
		cause.label = timer_label(session, detail, wait->thread);
	} else if (detail && detail->kind == DETAIL_REQUEST) {
		cause.kind = CAUSE_BLOCK_DEVICE;
		cause.label = request_label(session, detail, wait->thread);
		cause.queued = detail->queued;
		cause.served = detail->served;
	} else if (block->kind != WAKER_THREAD) {
		hardware_cause(session, block, detail, &cause);
	} else if (!is_thread(block->waker)) {
		cause.label = g_strdup("the waker's thread is not known");
	} else if (PACK_KIND(wait->leaf) == LEAF_BLOCK_STOPPED) {
		cause.kind = CAUSE_STOPPED;
		cause.label = waker_label(session, block->waker);
	} else if (g_str_has_prefix(resource, "child:")) {
		cause.kind = CAUSE_CHILD;
		cause.label = waker_label(session, block->waker);
	} else if (detail && detail->kind == DETAIL_SIGNAL) {
		cause.kind = CAUSE_SIGNAL;
		cause.label = g_strdup_printf("signal %" PRIu64 " from %s (%d)", detail->number,
					      session_thread_name(session, block->waker),
					      model_thread(&session->model, block->waker)->tid);
	} else {
		cause.kind = CAUSE_PROCESS;
		cause.label = detail && detail->kind == DETAIL_WORK
				      ? work_label(session, block->waker, detail)
				      : waker_label(session, block->waker);
	}
	return cause;
}

uint32_t block_waits_for(const struct session *session, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->timeline, block->detail) : NULL;
	uint32_t resource = session_resource(session, block);
	g_autofree char *key = NULL;

	if (detail && detail->kind == DETAIL_REQUEST)
		key = g_strconcat("device:", session_text(session, detail->text), NULL);
	else if (block->kind == WAKER_THREAD && block->same_file)
		key = g_strconcat("lock:", resource_name(session_text(session, resource)), NULL);
	return key ? intern_id(session->model.names, key) : resource;
}

char *cause_words(const struct cause *cause)
{
	static const char *const before[] = {
		[CAUSE_BLOCK_DEVICE] = "block device ", [CAUSE_IRQ] = "interrupt of ",
		[CAUSE_CHILD] = "child "};
	const char *words = cause->kind < G_N_ELEMENTS(before) ? before[cause->kind] : NULL;

	return g_strconcat(words ? words : "", cause->label, NULL);
}

void cause_clear(struct cause *cause)
{
	g_free(cause->label);
	cause->label = NULL;
}
