/* SPDX-License-Identifier: MIT */
/* The delay report as JSON; names and shape: interface.md. */
#include "report/report.h"

#include <inttypes.h>

static json_t *stack_json(const struct session *session, uint32_t stack, bool kernel)
{
	const GArray *frames = flow_stack(&session->trace.flow, stack);
	json_t *list = json_array();

	for (guint i = 0; i < frames->len; i++) {
		g_autofree char *text =
			frame_text(session, g_array_index(frames, uint32_t, i), kernel);

		json_array_append_new(list, json_text(text));
	}
	return list;
}

static bool is_kernel(const struct session *session, uint32_t thread)
{
	return is_thread(thread) &&
	       thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, thread));
}

/* The innermost frame of the waker; a thread in user code is "thread". */
static char *context_text(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;

	if (!wait->woken || block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE)
		return g_strdup("unknown");
	if (block->kind == WAKER_THREAD && PACK_KIND(block->context) != FRAME_SYSCALL)
		return g_strdup("thread");
	return frame_text(session, block->context, false);
}

static json_t *woken_by_json(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	uint8_t kind = wait->woken ? block->kind : WAKER_NONE;
	json_t *object = json_object();
	g_autofree char *context = context_text(session, wait);
	bool thread = wait->woken && (is_thread(block->waker) || block->waker == IDLE_THREAD);

	json_object_set_new(object, "kind", json_string(waker_kind_text(kind)));
	json_object_set_new(object, "host",
			    json_integer(model_thread(&session->trace.model, wait->thread)->host));
	json_object_set_new(
		object, "tid",
		!thread ? json_null()
			: json_integer(block->waker == IDLE_THREAD
					       ? 0
					       : model_thread(&session->trace.model, block->waker)
							 ->tid));
	json_object_set_new(object, "name",
			    thread ? json_text(session_thread_name(session, block->waker))
				   : json_null());
	json_object_set_new(object, "context", json_text(context));
	json_object_set_new(object, "label", json_text(session_text(session, block->label)));
	json_object_set_new(object, "stack",
			    wait->woken ? stack_json(session, block->waker_stack,
						     is_kernel(session, block->waker))
					: json_array());
	return object;
}

static json_t *messenger_json(const struct session *session, const char *kind, const char *label,
			      uint32_t thread, int64_t time)
{
	json_t *object = json_object();
	bool known = is_thread(thread);

	json_object_set_new(object, "kind", json_string(kind));
	json_object_set_new(object, "label", json_text(label));
	json_object_set_new(object, "host",
			    json_integer(known ? model_thread(&session->trace.model, thread)->host
					       : 0));
	json_object_set_new(object, "tid",
			    known ? json_integer(model_thread(&session->trace.model, thread)->tid)
				  : json_null());
	json_object_set_new(object, "name",
			    known ? json_text(session_thread_name(session, thread)) : json_null());
	json_object_set_new(object, "time", json_integer(time));
	return object;
}

/* A packet from another host: how long its way was, as far as the clocks tell. */
static void way_json(json_t *object, const struct wake_detail *detail)
{
	if (!packet_from_outside(detail))
		return;
	json_object_set_new(object, "network_ns", json_integer(detail->served));
	json_object_set_new(object, "clock_error_ns",
			    detail->queued < 0 ? json_null() : json_integer(detail->queued));
	json_object_set_new(object, "undecidable", json_boolean(packet_is_undecidable(detail)));
}

static const char *messenger_kind(const struct wake_detail *detail)
{
	return detail->kind == DETAIL_PACKET    ? "packet"
	       : detail->kind == DETAIL_REQUEST ? "request"
						: "softirq";
}

/* The worker's item, and the request or packet that it was queued for. */
static json_t *worker_via(const struct session *session, const struct wait *wait,
			  const struct wake_detail *work)
{
	const struct wake_detail *behind =
		work->behind ? detail_at(&session->trace.timeline, work->behind) : NULL;
	json_t *list = json_array();

	if (behind && behind->kind != DETAIL_TIMER)
		json_array_append_new(
			list, messenger_json(session, messenger_kind(behind),
					     session_text(session, behind->text), behind->thread,
					     behind->asked ? behind->asked : behind->begin));
	json_array_append_new(
		list, messenger_json(session, "work", session_function(session, work->text),
				     behind ? wait->block->waker : work->thread, work->begin));
	return list;
}

/* What carried it, from the thread that sent, issued or queued it on to who was
 * woken; NULL: nothing did. */
static json_t *via_json(const struct session *session, const struct wait *wait)
{
	const struct block *block = wait->block;
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;
	g_autofree char *context = frame_text(session, block->context, false);
	bool raise = detail && detail->kind == DETAIL_RAISE;
	json_t *list, *messenger;

	if (detail && detail->kind == DETAIL_WORK && (is_thread(detail->thread) || detail->behind))
		return worker_via(session, wait, detail);
	if (!(wait->has_share && wait->lead.handed_over))
		return NULL;
	list = json_array();
	messenger = messenger_json(session, messenger_kind(detail),
				   raise ? context : session_text(session, detail->text),
				   detail->thread, wait->lead.until);
	way_json(messenger, detail);
	json_array_append_new(list, messenger);
	if (block->kind == WAKER_SOFTIRQ && !raise)
		json_array_append_new(list, messenger_json(session, "softirq", context,
							   block->waker, wait->end));
	return list;
}

static json_t *waits_json(const struct session *session, GPtrArray *waits);

static json_t *wait_json(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct cause cause = wait_cause(session, wait);
	json_t *object = json_object(), *share, *via, *lock;
	g_autofree char *leaf = leaf_key(session, wait->leaf);

	json_saw(wait->thread, wait->begin, wait->end);
	json_object_set_new(object, "host", json_integer(thread->host));
	json_object_set_new(object, "tid", json_integer(thread->tid));
	json_object_set_new(object, "name", json_text(session_thread_name(session, wait->thread)));
	json_object_set_new(object, "begin", json_integer(wait->begin));
	json_object_set_new(object, "end", json_integer(wait->end));
	json_object_set_new(object, "ns", json_integer(wait->end - wait->begin));
	json_object_set_new(object, "spans_gap", json_boolean(wait->spans_gap));
	json_object_set_new(object, "leaf", json_text(leaf));
	json_object_set_new(object, "stack",
			    stack_json(session, wait->block->stack,
				       is_kernel(session, wait->thread)));
	if (wait->block->resource)
		json_object_set_new(object, "resource", json_wait_resource(session, wait->block));
	json_object_set_new(object, "woken_by", woken_by_json(session, wait));
	json_object_set_new(object, "cause", json_cause(&cause));
	cause_clear(&cause);
	if (wait->cycle)
		json_object_set_new(object, "cycle", json_true());
	lock = json_lock(session, wait);
	if (lock)
		json_object_set_new(object, "lock", lock);
	via = via_json(session, wait);
	if (via)
		json_object_set_new(object, "via", via);
	if (!wait->has_share)
		return object;
	share = json_thread_head(session, wait->lead.thread);
	json_saw(wait->lead.thread, wait->lead.from, wait->lead.until);
	json_object_del(share, "pid");
	json_object_del(share, "pid_ns");
	json_object_del(share, "vtid");
	json_object_del(share, "vpid");
	json_object_set_new(share, "working_ns", json_integer(wait->working));
	json_object_set_new(share, "interrupted_ns", json_integer(wait->interrupted));
	json_object_set_new(share, "blocked_ns", json_integer(wait->blocked));
	json_object_set_new(share, "unknown_ns", json_integer(wait->unknown));
	json_object_set_new(object, "share", share);
	json_object_set_new(object, "children", waits_json(session, wait->children));
	if (wait->omitted)
		json_object_set_new(object, "children_omitted", json_integer(wait->omitted));
	return object;
}

static json_t *waits_json(const struct session *session, GPtrArray *waits)
{
	json_t *list = json_array();

	for (guint i = 0; i < waits->len; i++)
		json_array_append_new(list, wait_json(session, g_ptr_array_index(waits, i)));
	return list;
}

static json_t *node_path(const struct node *node)
{
	json_t *list;

	if (!node->parent)
		return json_array();
	list = node_path(node->parent);
	json_array_append_new(list, json_text(node->element));
	return list;
}

static json_t *node_json(const struct node *node)
{
	json_t *object = json_object(), *children = json_array();
	g_autofree char *key = node_key(node);

	json_object_set_new(object, "id", json_integer(node->id));
	json_object_set_new(object, "key", json_text(key));
	json_object_set_new(object, "path", node_path(node));
	json_object_set_new(object, "label", json_text(node->label));
	json_object_set_new(object, "ns", json_integer(node->ns));
	json_object_set_new(object, "count", json_integer((json_int_t) node->count));
	json_object_set_new(object, "spans_gap", json_boolean(node->spans_gap));
	for (guint i = 0; i < node->children->len; i++)
		json_array_append_new(children, node_json(g_ptr_array_index(node->children, i)));
	json_object_set_new(object, "children", children);
	return object;
}

static void instances_json(const struct node *node, json_t *object)
{
	json_t *list = json_array();
	char key[32];

	for (guint i = 0; i < node->instances->len; i++) {
		const struct instance *at = &g_array_index(node->instances, struct instance, i);
		json_t *instance = json_object();

		json_object_set_new(instance, "begin", json_integer(at->begin));
		json_object_set_new(instance, "end", json_integer(at->end));
		json_object_set_new(instance, "ns", json_integer(at->end - at->begin));
		if (at->spans_gap)
			json_object_set_new(instance, "spans_gap", json_true());
		json_array_append_new(list, instance);
	}
	g_snprintf(key, sizeof key, "%u", node->id);
	json_object_set_new(object, key, list);
	if (node->count > node->instances->len) {
		g_snprintf(key, sizeof key, "%u_omitted", node->id);
		json_object_set_new(object, key,
				    json_integer(
					    (json_int_t) (node->count - node->instances->len)));
	}
	for (guint i = 0; i < node->children->len; i++)
		instances_json(g_ptr_array_index(node->children, i), object);
}

static json_t *thread_json(const struct session *session, const struct stretch *stretch)
{
	json_t *object = json_thread_head(session, stretch->thread);
	json_t *instances = json_object();
	struct node *summary = summary_new(session, stretch->thread, stretch->begin, stretch->end);
	uint32_t omitted;
	GPtrArray *waits = causality_new(session, stretch->thread, stretch->begin, stretch->end,
					 session->asked.options->limit, &omitted);

	json_object_set_new(object, "begin", json_integer(stretch->begin));
	json_object_set_new(object, "end", json_integer(stretch->end));
	json_object_set_new(object, "summary", node_json(summary));
	instances_json(summary, instances);
	json_object_set_new(object, "instances", instances);
	json_object_set_new(object, "causality", waits_json(session, waits));
	if (omitted)
		json_object_set_new(object, "causality_omitted", json_integer(omitted));
	node_free(summary);
	g_ptr_array_free(waits, TRUE);
	return object;
}

static json_t *target_json(const struct session *session)
{
	const struct match *match = &session->asked.matches[MATCH_TARGET];
	const struct thread *thread;
	json_t *object;

	if (session->asked.target == NO_THREAD)
		return json_null();
	thread = model_thread(&session->trace.model, session->asked.target);
	object = json_object();
	json_object_set_new(object, "event", json_text(session_text(session, match->event)));
	json_object_set_new(object, "time", json_integer(match->time));
	json_object_set_new(object, "host", json_integer(thread->host));
	json_object_set_new(object, "tid", json_integer(thread->tid));
	json_object_set_new(object, "name",
			    json_text(session_thread_name(session, session->asked.target)));
	return object;
}

static json_t *lineage_json(const struct delay *delay)
{
	json_t *list = json_array();

	for (guint i = 0; i < delay->lineage->len; i++) {
		const struct stretch *at = &g_array_index(delay->lineage, struct stretch, i);
		json_t *object = json_thread_head(delay->session, at->thread);

		json_object_set_new(object, "begin", json_integer(at->begin));
		json_object_set_new(object, "end", json_integer(at->end));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *piece_json(const struct session *session, const struct piece *piece)
{
	const struct thread *thread = model_thread(&session->trace.model, piece->thread);
	g_autofree char *leaf = leaf_key(session, piece->leaf);
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	struct cause cause;
	json_t *object = json_object();

	json_object_set_new(object, "host", json_integer(thread->host));
	json_object_set_new(object, "tid", json_integer(thread->tid));
	json_object_set_new(object, "name", json_text(session_thread_name(session, piece->thread)));
	json_object_set_new(object, "begin", json_integer(piece->begin));
	json_object_set_new(object, "end", json_integer(piece->end));
	json_object_set_new(object, "ns", json_integer(piece->end - piece->begin));
	json_object_set_new(object, "leaf", json_text(leaf));
	if (session_spans_gap(session, piece->thread, &span))
		json_object_set_new(object, "spans_gap", json_true());
	if (piece->block && piece->block->resource)
		json_object_set_new(object, "resource", json_wait_resource(session, piece->block));
	cause = piece_cause(session, piece);
	if (piece->block || cause.kind == CAUSE_WAIT_CPU || cause.kind == CAUSE_THROTTLED)
		json_object_set_new(object, "cause", json_cause(&cause));
	cause_clear(&cause);
	return object;
}

static json_t *verdict_json(const struct delay *delay)
{
	json_t *list = json_array();

	for (guint i = 0; i < delay->verdict->len; i++)
		json_array_append_new(list, json_text(g_ptr_array_index(delay->verdict, i)));
	return list;
}

/* A list whose values are written as they are made, one a line. */
static void list_begin(FILE *file, const char *key)
{
	fprintf(file, ",\n\"%s\": [", key);
}

static void list_value(FILE *file, json_t *value, bool first)
{
	fputs(first ? "\n" : ",\n", file);
	json_dumpf(value, file, JSON_REAL_PRECISION(6));
	json_decref(value);
}

void delay_json(const struct delay *delay, struct output *output)
{
	const struct session *session = delay->session;
	FILE *file = output->file;

	json_open(file, "whylate-delay-1");
	json_member(file, "hosts", json_hosts(session), false);
	json_member(file, "coverage", json_coverage(session, &delay->coverage), false);
	json_member(file, "window", json_window(session), false);
	json_limits(session, file);
	json_findings(session, delay->findings, session->asked.options->limit, file);
	json_member(file, "target", target_json(session), false);
	json_member(file, "verdict", verdict_json(delay), false);
	json_member(file, "lineage", lineage_json(delay), false);
	json_locks(file, session, delay->locks);
	list_begin(file, "threads");
	for (guint i = 0; i < delay->threads->len; i++)
		list_value(file,
			   thread_json(session, &g_array_index(delay->threads, struct stretch, i)),
			   i == 0);
	fputs("]", file);
	list_begin(file, "critical_path");
	for (guint i = 0; delay->path && i < delay->path->pieces->len; i++)
		list_value(file,
			   piece_json(session,
				      &g_array_index(delay->path->pieces, struct piece, i)),
			   i == 0);
	fputs("]", file);
	json_member(file, "critical_path_totals", path_totals_json(delay), false);
	fputs("}\n", file);
}
