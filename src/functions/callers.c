/* SPDX-License-Identifier: MIT */
/* See callers.h. */
#include "functions/callers.h"

#include <string.h>

static char *path_above(const struct session *session, const struct frames *frames, uint32_t place)
{
	GString *path = g_string_new(NULL);

	for (uint32_t at = frame_of(frames, place)->parent; at != NO_FRAME;
	     at = frame_of(frames, at)->parent) {
		g_autofree char *name = frame_name(session, frame_of(frames, at)->what);

		if (frame_of(frames, at)->in_interrupt)
			continue;
		if (path->len)
			g_string_prepend(path, " > ");
		g_string_prepend(path, name);
	}
	return g_string_free(path, FALSE);
}

static bool is_inside_wanted(const struct session *session, const struct frames *frames,
			     uint32_t place)
{
	for (uint32_t at = frame_of(frames, place)->parent; at != NO_FRAME;
	     at = frame_of(frames, at)->parent)
		if (frame_is_wanted(session, frame_of(frames, at)))
			return true;
	return false;
}

static struct caller *caller_of(struct functions *functions, GHashTable *index, uint32_t root,
				const struct frames *frames, uint32_t place)
{
	uint32_t what = frame_of(frames, place)->what;
	g_autofree char *path = path_above(functions->session, frames, place);
	g_autofree char *key = g_strdup_printf("%u %u %s", root, what, path);
	gpointer known = g_hash_table_lookup(index, key);
	struct caller caller = {.root = root, .what = what};

	if (!known) {
		caller.path = g_steal_pointer(&path);
		g_array_append_val(functions->callers, caller);
		known = GUINT_TO_POINTER(functions->callers->len);
		g_hash_table_insert(index, g_steal_pointer(&key), known);
	}
	return &g_array_index(functions->callers, struct caller, GPOINTER_TO_UINT(known) - 1);
}

static void add_callers(struct functions *functions, GHashTable *index, uint32_t root,
			uint32_t thread)
{
	const struct session *session = functions->session;
	const struct frames *frames = call_tree_frames(functions->tree, thread);
	const struct call_scope *scope = &functions->tree->scope;
	struct spans spans;
	struct span span;

	for (uint32_t i = 0; i < frames->list->len; i++) {
		const struct call_frame *frame = frame_of(frames, i);
		const struct call_slice *slices;
		struct caller *caller;
		guint count;

		if (frame->in_interrupt || !frame_is_wanted(session, frame) ||
		    is_inside_wanted(session, frames, i) ||
		    !call_scope_meets(scope, thread, frame->begin, frame->end))
			continue;
		caller = caller_of(functions, index, root, frames, i);
		caller->calls +=
			frame_is_counted(frame) && call_scope_has(scope, thread, frame->begin);
		slices = call_scope_slices(scope, thread, frame->begin, &count);
		for (guint k = 0; k < count && slices[k].begin < frame->end; k++) {
			spans_begin(&spans, session, thread, MAX(frame->begin, slices[k].begin),
				    MIN(frame->end, slices[k].end));
			while (spans_next(&spans, &span))
				caller->times[leaf_wib(span.leaf)] += span.end - span.begin;
		}
	}
}

static int most_called_first(gconstpointer a, gconstpointer b, gpointer session)
{
	const struct caller *x = a, *y = b;
	int64_t first = function_metric_of(session, x->times);
	int64_t second = function_metric_of(session, y->times);

	if (first != second)
		return first > second ? -1 : 1;
	return strcmp(x->path, y->path);
}

void caller_clear(gpointer data)
{
	g_free(((struct caller *) data)->path);
}

void callers_add(struct functions *functions)
{
	g_autoptr(GHashTable) index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	if (!functions->session->asked.options->functions.function)
		return;
	for (guint i = 0; i < functions->tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(functions->tree->threads, i);

		for (guint k = 0; threads && k < threads->len; k++) {
			add_callers(functions, index, i, g_array_index(threads, uint32_t, k));
			call_tree_let_go(functions->tree, NO_THREAD);
		}
	}
	g_array_sort_with_data(functions->callers, most_called_first,
			       (gpointer) functions->session);
}

/* --- in interrupts ------------------------------------------------------------------------ */

static struct interrupt_call *
interrupt_call_of(struct functions *functions, uint32_t interrupt, uint32_t what)
{
	struct interrupt_call call = {.interrupt = interrupt, .what = what};

	for (guint i = 0; i < functions->in_interrupts->len; i++) {
		struct interrupt_call *at =
			&g_array_index(functions->in_interrupts, struct interrupt_call, i);

		if (at->interrupt == interrupt && at->what == what)
			return at;
	}
	g_array_append_val(functions->in_interrupts, call);
	return &g_array_index(functions->in_interrupts, struct interrupt_call,
			      functions->in_interrupts->len - 1);
}

/* The interrupt that a function was called in, UINT32_MAX: none. */
static uint32_t interrupt_around(const struct frames *frames, uint32_t place)
{
	for (; place != NO_FRAME; place = frame_of(frames, place)->parent)
		if (!frame_is_call(frame_of(frames, place)))
			return frame_of(frames, place)->what;
	return UINT32_MAX;
}

static bool is_inside_same(const struct frames *frames, uint32_t place)
{
	uint32_t what = frame_of(frames, place)->what;

	for (uint32_t at = frame_of(frames, place)->parent; at != NO_FRAME;
	     at = frame_of(frames, at)->parent)
		if (frame_of(frames, at)->what == what)
			return true;
	return false;
}

static void add_interrupt_calls(struct functions *functions, const struct frames *frames, bool idle)
{
	const struct session *session = functions->session;

	for (uint32_t i = 0; i < frames->list->len; i++) {
		const struct call_frame *frame = frame_of(frames, i);
		int64_t ns =
			MIN(frame->end, session->asked.to) - MAX(frame->begin, session->asked.from);
		struct interrupt_call *call;
		uint32_t above = frame->parent;

		if (!(idle || frame->in_interrupt) || PACK_KIND(frame->what) != OPERATION_FUNCTION)
			continue;
		call = interrupt_call_of(functions, interrupt_around(frames, i), frame->what);
		call->calls++;
		call->own += ns;
		call->all += is_inside_same(frames, i) ? 0 : ns;
		while (above != NO_FRAME && !frame_is_call(frame_of(frames, above)))
			above = frame_of(frames, above)->parent;
		if (above != NO_FRAME && (idle || frame_of(frames, above)->in_interrupt))
			interrupt_call_of(functions, interrupt_around(frames, above),
					  frame_of(frames, above)->what)
				->own -= ns;
	}
}

static int most_time_first(gconstpointer a, gconstpointer b)
{
	const struct interrupt_call *x = a, *y = b;

	if (x->own != y->own)
		return x->own > y->own ? -1 : 1;
	return x->what < y->what ? -1 : x->what > y->what;
}

void interrupt_calls_add(struct functions *functions)
{
	const struct session *session = functions->session;
	struct frames *frames;

	if (!session->trace.kinds[EV_FUNCTION_ENTRY] ||
	    session->asked.options->functions.function || functions->requests)
		return;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++) {
		frames = frames_new(session, i, session->asked.from, session->asked.to);
		add_interrupt_calls(functions, frames, false);
		frames_free(frames);
	}
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		for (guint k = 0; k < host->cpus->len; k++) {
			frames = frames_of_idle(session, g_ptr_array_index(host->cpus, k),
						session->asked.from, session->asked.to);
			add_interrupt_calls(functions, frames, true);
			frames_free(frames);
		}
	}
	g_array_sort(functions->in_interrupts, most_time_first);
}
