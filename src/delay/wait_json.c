/* SPDX-License-Identifier: MIT */
/* A wait as JSON: what ended it, what carried that, who had the lock meanwhile, and the waits of
 * the thread that it led to. Names and shape: interface.md.
 */
#include "delay/delay.h"

#include "waits/deliveries.h"

static void put_stack(const struct report *report, uint32_t stack, bool kernel)
{
	const GArray *frames = flow_stack(&report->session->trace.flow, stack);

	for (guint i = 0; i < frames->len; i++) {
		g_autofree char *text =
			frame_text(report->session, g_array_index(frames, uint32_t, i), kernel);

		json_put_text(report->output, NULL, text);
	}
}

/* --- what ended it -------------------------------------------------------------------------- */

/* The innermost frame of the waker; a thread in user code is "thread". */
static char *context_text(const struct report *report, const void *row)
{
	const struct wait *wait = row;
	const struct block *block = wait->block;

	if (!wait->woken || block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE)
		return g_strdup("unknown");
	if (block->kind == WAKER_THREAD && PACK_KIND(block->context) != FRAME_SYSCALL)
		return g_strdup("thread");
	return frame_text(report->session, block->context, false);
}

static guint put_waker_stack(const struct report *report, const void *row)
{
	const struct wait *wait = row;

	if (wait->woken)
		put_stack(report, wait->block->waker_stack,
			  is_kernel_thread(report->session, wait->block->waker));
	return 0;
}

static const struct thread *life_of(const struct report *report, uint32_t thread)
{
	return model_thread(&report->session->trace.model, thread);
}

static bool is_by_thread(const struct wait *wait)
{
	return wait->woken && (is_thread(wait->block->waker) || wait->block->waker == IDLE_THREAD);
}

static int64_t waker_tid(const struct report *report, const void *row)
{
	const struct wait *wait = row;

	if (!is_by_thread(wait))
		return -1;
	return wait->block->waker == IDLE_THREAD ? 0 : life_of(report, wait->block->waker)->tid;
}

GETTER(const char *, waker_kind, struct wait,
       waker_kind_text(row->woken ? row->block->kind : WAKER_NONE));
GETTER(int64_t, wait_host, struct wait, life_of(report, row->thread)->host);
GETTER(const char *, waker_name, struct wait,
       is_by_thread(row) ? session_thread_name(report->session, row->block->waker) : NULL);
GETTER(const char *, waker_label, struct wait, session_text(report->session, row->block->label));

static const struct column woken_by_columns[] = {
	{"kind", COLUMN_TEXT, .text = waker_kind},
	{"host", COLUMN_WHOLE, .number = wait_host},
	{"tid", COLUMN_WHOLE, .number = waker_tid, .none = NONE_NEGATIVE},
	{"name", COLUMN_TEXT, .text = waker_name},
	{"context", COLUMN_TEXT, .owned = context_text},
	{"label", COLUMN_TEXT, .text = waker_label},
	{"stack", COLUMN_LIST, .each = put_waker_stack},
	{0}};

/* --- what carried it ------------------------------------------------------------------------ */

struct messenger {
	const char *kind, *label;
	uint32_t thread; /* NO_THREAD: not known */
	int64_t time;
	const struct wake_detail *packet; /* from another host, NULL */
};

GETTER(int64_t, messenger_host, struct messenger,
       is_thread(row->thread) ? life_of(report, row->thread)->host : 0);
GETTER(int64_t, messenger_tid, struct messenger,
       is_thread(row->thread) ? life_of(report, row->thread)->tid : INT64_MIN);
GETTER(const char *, messenger_name, struct messenger,
       is_thread(row->thread) ? session_thread_name(report->session, row->thread) : NULL);
GETTER(int64_t, is_undecidable, struct wake_detail, packet_is_undecidable(row));

/* How long a packet's way was, as far as the clocks tell. */
static const struct column packet_columns[] = {
	{"network_ns", COLUMN_NS, FIELD(struct wake_detail, way)},
	{"clock_error_ns", COLUMN_NS, FIELD(struct wake_detail, clock_error),
	 .none = NONE_NEGATIVE},
	{"undecidable", COLUMN_BOOL, .number = is_undecidable},
	{0}};

static const struct column messenger_columns[] = {
	{"kind", COLUMN_TEXT, FIELD(struct messenger, kind)},
	{"label", COLUMN_TEXT, FIELD(struct messenger, label)},
	{"host", COLUMN_WHOLE, .number = messenger_host},
	{"tid", COLUMN_WHOLE, .number = messenger_tid, .none = NONE_LOWEST},
	{"name", COLUMN_TEXT, .text = messenger_name},
	{"time", COLUMN_TIME, FIELD(struct messenger, time)},
	{NULL, COLUMN_OBJECT, FIELD(struct messenger, packet), .columns = packet_columns},
	{0}};

static const char *messenger_kind(const struct wake_detail *detail)
{
	return detail->kind == DETAIL_PACKET    ? "packet"
	       : detail->kind == DETAIL_REQUEST ? "request"
						: "softirq";
}

/* The worker's item, and the request or packet that it was queued for. */
static guint worker_via(const struct session *session, const struct wait *wait,
			const struct wake_detail *work, struct messenger *via)
{
	const struct wake_detail *cause =
		work->behind ? detail_at(&session->trace.timeline, work->behind) : NULL;
	guint count = 0;

	if (cause && cause->kind != DETAIL_TIMER)
		via[count++] =
			(struct messenger) {messenger_kind(cause),
					    session_text(session, cause->text), cause->thread,
					    cause->asked ? cause->asked : cause->begin, NULL};
	via[count++] =
		(struct messenger) {"work", session_function(session, work->text),
				    cause ? wait->block->waker : work->thread, work->begin, NULL};
	return count;
}

/* What carried it, from the thread that sent, issued or queued it on to who was woken: at most
 * two; no member: nothing did. */
static void put_via(const struct report *report, const void *row)
{
	const struct session *session = report->session;
	const struct wait *wait = row;
	const struct block *block = wait->block;
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;
	g_autofree char *context = frame_text(session, block->context, false);
	bool raise = detail && detail->kind == DETAIL_RAISE;
	struct messenger via[2];
	guint count = 0;

	if (detail && detail->kind == DETAIL_WORK &&
	    (is_thread(detail->thread) || detail->behind)) {
		count = worker_via(session, wait, detail, via);
	} else if (wait->has_share && wait->lead.handed_over && !block_reason(session, block)) {
		via[count++] =
			(struct messenger) {messenger_kind(detail),
					    raise ? context : session_text(session, detail->text),
					    detail->thread, wait->lead.until,
					    packet_from_outside(detail) ? detail : NULL};
		if (block->kind == WAKER_SOFTIRQ && !raise)
			via[count++] = (struct messenger) {"softirq", context, block->waker,
							   wait->end, NULL};
	}
	if (!count)
		return;
	json_begin(report->output, "via", '[', LINES_NOT);
	for (guint i = 0; i < count; i++)
		json_put_row(report, NULL, messenger_columns, &via[i]);
	json_end(report->output, ']');
}

/* --- the wait ------------------------------------------------------------------------------- */

static void tell_wait(const struct report *report, const void *row)
{
	const struct wait *wait = row;

	json_tell_stretch(report, wait->thread, wait->begin, wait->end);
}

static void tell_share(const struct report *report, const void *row)
{
	const struct wait *wait = row;

	json_tell_thread(report, wait->lead.thread);
	json_tell_stretch(report, wait->lead.thread, wait->lead.from, wait->lead.until);
}

static guint put_own_stack(const struct report *report, const void *row)
{
	const struct wait *wait = row;

	put_stack(report, wait->block->stack, is_kernel_thread(report->session, wait->thread));
	return 0;
}

static void put_cause(const struct report *report, const void *row)
{
	struct cause cause = wait_cause(report->session, row);

	json_put_row(report, "cause", cause_columns, &cause);
	cause_clear(&cause);
}

static void put_lock(const struct report *report, const void *row)
{
	json_put_lock(report, row);
}

GETTER(int64_t, fault_key, struct wait, row->block->fault);
GETTER(int64_t, length, struct wait, row->end - row->begin);
GETTER(const void *, if_resource, struct wait, row->block->resource ? row->block : NULL);
GETTER(bool, has_share, struct wait, row->has_share);

/* Of the thread that it led to. */
static const struct column share_columns[] = {
	{NULL, COLUMN_WRITTEN, .write = tell_share},
	{NULL, COLUMN_TID_NAME, FIELD(struct wait, lead.thread)},
	{"begin", COLUMN_TIME, FIELD(struct wait, lead.from)},
	{"end", COLUMN_TIME, FIELD(struct wait, lead.until)},
	{"working_ns", COLUMN_NS, FIELD(struct wait, working)},
	{"interrupted_ns", COLUMN_NS, FIELD(struct wait, interrupted)},
	{"blocked_ns", COLUMN_NS, FIELD(struct wait, blocked)},
	{"unknown_ns", COLUMN_NS, FIELD(struct wait, unknown)},
	{0}};

const struct column wait_columns[] = {
	{NULL, COLUMN_WRITTEN, .write = tell_wait},
	{NULL, COLUMN_TID_NAME, FIELD(struct wait, thread)},
	{"begin", COLUMN_TIME, FIELD(struct wait, begin)},
	{"end", COLUMN_TIME, FIELD(struct wait, end)},
	{"ns", COLUMN_NS, .number = length},
	{"spans_gap", COLUMN_BOOL, FIELD(struct wait, spans_gap)},
	{"leaf", COLUMN_LEAF, FIELD(struct wait, leaf)},
	{"stack", COLUMN_LIST, .each = put_own_stack},
	{"resource", COLUMN_OBJECT, .at = if_resource, .columns = wait_resource_columns,
	 .absent = true},
	{"fault", COLUMN_RESOURCE, .number = fault_key, .none = NONE_ZERO, .absent = true},
	{"woken_by", COLUMN_OBJECT, .columns = woken_by_columns},
	{NULL, COLUMN_WRITTEN, .write = put_cause},
	{"cycle", COLUMN_BOOL, FIELD(struct wait, cycle), .none = NONE_ZERO, .absent = true},
	{NULL, COLUMN_WRITTEN, .write = put_lock},
	{NULL, COLUMN_WRITTEN, .write = put_via},
	{"share", COLUMN_OBJECT, .columns = share_columns, .when = has_share},
	{"children", COLUMN_LIST, FIELD(struct wait, children), .when = has_share},
	{"children_omitted", COLUMN_WHOLE, FIELD(struct wait, omitted), .none = NONE_ZERO,
	 .absent = true, .when = has_share},
	{0}};
