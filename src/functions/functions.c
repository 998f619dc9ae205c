/* SPDX-License-Identifier: MIT */
/* The answers made of a tree of calls; see functions.h. */
#include "functions/functions.h"

#include <string.h>

#include "waits/causality.h"
#include "waits/deadlocks.h"
#include "path/path.h"
#include "symbols/symbols.h"
#include "objects/calls.h"
#include "util/error.h"

#define CALLED_TOLD 12 /* functions, in an error */

/* --- by function ------------------------------------------------------------------------ */

struct row_key {
	uint32_t what;
	uint8_t kind;
};

static guint key_hash(gconstpointer data)
{
	const struct row_key *key = data;

	return key->what * 2654435761u + key->kind;
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
	const struct row_key *x = a, *y = b;

	return x->what == y->what && x->kind == y->kind;
}

static void row_clear(gpointer data)
{
	struct function_row *row = data;

	g_free(row->name);
	g_free(row->place);
}

/* "proxy.c:120", as the binary's debugging information has it; NULL. */
static char *source_of(const struct session *session, const struct call_node *node)
{
	const struct thread *thread = model_thread(&session->trace.model, node->thread);
	uint64_t address = g_ascii_strtoull(session_text(session, node->ref), NULL, 16);
	const struct code *code;
	const struct code_frame *frame;

	if (node->kind != NODE_CALL || PACK_KIND(node->what) != OPERATION_USER || !node->ref)
		return NULL;
	code = session_user_code(session, thread->host, thread_process(thread), address, node->at);
	if (!code || !code->frames->len)
		return NULL;
	frame = &g_array_index(code->frames, struct code_frame, 0);
	if (!frame->file)
		return NULL;
	return frame->line ? g_strdup_printf("%s:%u", frame->file, frame->line)
			   : g_strdup(frame->file);
}

static struct function_row *row_of(struct functions *functions, GHashTable *index, uint32_t place)
{
	const struct call_node *node = call_node_at(functions->tree, place);
	struct row_key key = {node->kind == NODE_THREADS ? 0 : node->what, node->kind};
	gpointer known = g_hash_table_lookup(index, &key);
	struct function_row row = {.kind = node->kind, .what = key.what};

	if (!known) {
		row.name = node->kind == NODE_THREADS ? g_strdup("(outside of any call)")
						      : call_node_name(functions->tree, place);
		row.place = source_of(functions->session, node);
		g_array_append_val(functions->rows, row);
		known = GUINT_TO_POINTER(functions->rows->len);
		g_hash_table_insert(index, g_memdup2(&key, sizeof key), known);
	}
	return &g_array_index(functions->rows, struct function_row, GPOINTER_TO_UINT(known) - 1);
}

/* A call of the same function is around it. */
static bool is_inside_itself(const struct functions *functions, const struct call_node *node)
{
	for (uint32_t at = node->parent; at != NO_NODE;
	     at = call_node_at(functions->tree, at)->parent) {
		const struct call_node *above = call_node_at(functions->tree, at);

		if (above->kind == node->kind && above->what == node->what)
			return true;
	}
	return false;
}

static int most_own_first(gconstpointer a, gconstpointer b, gpointer data)
{
	const struct function_row *x = a, *y = b;
	int64_t first = function_metric_of(data, x->own), second = function_metric_of(data, y->own);

	if (first != second)
		return first > second ? -1 : 1;
	first = function_metric_of(data, x->all);
	second = function_metric_of(data, y->all);
	if (first != second)
		return first > second ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void add_rows(struct functions *functions)
{
	GHashTable *index = g_hash_table_new_full(key_hash, key_equal, g_free, NULL);

	for (uint32_t i = 0; i < functions->tree->nodes->len; i++) {
		const struct call_node *node = call_node_at(functions->tree, i);
		struct function_row *row;
		bool inside;

		if (node->elsewhere || node->kind == NODE_CAUSE)
			continue;
		row = row_of(functions, index, i);
		inside = is_inside_itself(functions, node);
		row->calls += node->calls;
		row->open += node->open;
		for (int k = 0; k < 4; k++) {
			row->own[k] += node->own[k];
			functions->total[k] += node->own[k];
			if (!inside)
				row->all[k] +=
					node->kind == NODE_THREADS ? node->own[k] : node->all[k];
		}
	}
	g_hash_table_destroy(index);
	g_array_sort_with_data(functions->rows, most_own_first, (gpointer) functions->session);
}

static bool is_user_function(const struct call_node *node)
{
	return node->kind == NODE_CALL && PACK_KIND(node->what) == OPERATION_USER;
}

/* Of a root's outermost functions of user space; 0: none were recorded. */
static int64_t outermost_time(const struct functions *functions, uint32_t root)
{
	const struct session *session = functions->session;
	const struct call_node *node = call_node_at(functions->tree, root);
	int64_t outermost = 0;

	for (guint i = 0; i < node->children->len; i++) {
		const struct call_node *child =
			call_node_at(functions->tree, g_array_index(node->children, uint32_t, i));

		if (is_user_function(child))
			outermost += function_metric_of(session, child->all);
	}
	return outermost;
}

int64_t functions_scope(const struct functions *functions, uint32_t root)
{
	int64_t outermost = outermost_time(functions, root);

	return outermost ? outermost
			 : function_metric_of(functions->session,
					      call_node_at(functions->tree, root)->all);
}

int64_t functions_node_time(const struct functions *functions, uint32_t place)
{
	const struct call_node *node = call_node_at(functions->tree, place);
	enum function_metric metric = functions->session->asked.options->functions.metric;

	if (!node->elsewhere)
		return function_metric_of(functions->session, node->all);
	if (metric != BY_WALL && metric != BY_BLOCKED)
		return 0;
	return node->all[0] + node->all[1] + node->all[2] + node->all[3];
}

bool functions_is_bottleneck(const struct functions *functions, uint32_t root, uint32_t node)
{
	const struct options *options = functions->session->asked.options;
	const struct call_node *at = call_node_at(functions->tree, node);
	int64_t whole = functions_scope(functions, root);
	int64_t part = functions_node_time(functions, node);

	if (at->parent == root && !is_user_function(at) && outermost_time(functions, root))
		return false;
	return part > 0 && (double) part * 100 >= options->functions.threshold * (double) whole;
}

/* --- calls that did not return ------------------------------------------------------------- */

static void unreturned_clear(gpointer data)
{
	g_array_free(((struct unreturned *) data)->frames, TRUE);
}

/* Threads wait at leisure in some calls: for others to turn to them. For a futex they wait because
 * another has it. */
static bool is_leisure(const struct session *session, const struct call_frame *frame)
{
	return frame_waits_for_others(session, frame) &&
	       flow_call_info(&session->trace.flow, PACK_NUMBER(frame->what))->wait != WAIT_FUTEX;
}

/* No call of that kind that returned took as long. */
static bool is_longest(const struct functions *functions, const struct call_frame *frame)
{
	const int64_t *longest =
		g_hash_table_lookup(functions->tree->longest, GUINT_TO_POINTER(frame->what));

	return !longest || *longest < frame->end - frame->begin;
}

/* Who holds the lock that the thread waits for, as call_tree_cause() would say it of a wait that
 * has ended, or who is in a deadlock with it; 0: it is no lock, or that is not known. */
static uint32_t holder_at_end(struct functions *functions, uint32_t thread, const struct span *span)
{
	const struct session *session = functions->session;
	const struct block *block = block_at(&session->trace.timeline, span->ref);
	const struct deadlock *deadlock = deadlock_of(session, thread);
	enum cause_kind kind = deadlock ? CAUSE_DEADLOCK : CAUSE_LOCK_OWNER;
	g_autofree char *members = deadlock ? deadlock_words(session, deadlock) : NULL;
	g_autoptr(GString) label = g_string_new(members);

	if (!deadlock && !lock_holder_label(functions->tree->namer, block, thread, span->begin,
					    span->end, label))
		return 0;
	g_string_prepend(label, ": ");
	g_string_prepend(label, cause_kind_text(kind));
	return intern_id(session->trace.model.names, label->str);
}

/* What the thread waits for at the end of its life; 0: it does not wait. */
static uint32_t cause_at_end(struct functions *functions, uint32_t thread)
{
	const struct session *session = functions->session;
	int64_t end = model_thread(&session->trace.model, thread)->end;
	uint32_t cause = 0;
	struct path *path;
	struct spans spans;
	struct span span, last = {.begin = end};

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span))
		if (span.end == end && leaf_is_blocked(span.leaf))
			last = span;
	if (last.begin == end)
		return 0;
	cause = holder_at_end(functions, thread, &last);
	if (cause)
		return cause;
	path = path_new(session, thread, last.begin, end);
	if (path->pieces->len)
		cause = call_tree_cause(functions->tree, path,
					&g_array_index(path->pieces, struct piece,
						       path->pieces->len - 1));
	path_free(path);
	return cause;
}

static void add_unreturned(struct functions *functions, uint32_t thread)
{
	const struct session *session = functions->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	const struct frames *frames = call_tree_frames(functions->tree, thread);
	struct unreturned found = {.thread = thread};
	bool functions_open = false;
	const struct call_frame *inner;

	found.frames = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (uint32_t i = 0; i < frames->list->len; i++)
		if (frame_of(frames, i)->half == OPERATION_OPEN &&
		    frame_of(frames, i)->end == life->end && !frame_of(frames, i)->in_interrupt) {
			g_array_append_val(found.frames, i);
			functions_open |= PACK_KIND(frame_of(frames, i)->what) != OPERATION_SYSCALL;
		}
	if (!found.frames->len || session->asked.to < life->end) {
		unreturned_clear(&found);
		return;
	}
	inner = frame_of(frames, g_array_index(found.frames, uint32_t, found.frames->len - 1));
	found.since = inner->begin;
	found.died = life->state == THREAD_DEAD;
	found.strange = !found.died && !is_leisure(session, inner) && is_longest(functions, inner);
	if (!found.strange && (found.died || !functions_open)) {
		unreturned_clear(&found);
		return;
	}
	found.cause = cause_at_end(functions, thread);
	g_array_append_val(functions->unreturned, found);
}

/* The longest first: by their innermost calls. */
static int longest_open_first(gconstpointer a, gconstpointer b)
{
	const struct unreturned *x = a, *y = b;

	if (x->since != y->since)
		return x->since < y->since ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static void add_all_unreturned(struct functions *functions)
{
	for (guint i = 0; i < functions->tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(functions->tree->threads, i);

		for (guint k = 0; threads && k < threads->len; k++) {
			add_unreturned(functions, g_array_index(threads, uint32_t, k));
			call_tree_let_go(functions->tree, NO_THREAD);
		}
	}
	g_array_sort(functions->unreturned, longest_open_first);
}

/* --- waits by call stack ---------------------------------------------------------------------- */

static bool is_same_way(const struct wait_stack *a, const struct wait_stack *b)
{
	return a->root == b->root && a->leaf == b->leaf && a->kernel == b->kernel &&
	       a->user == b->user;
}

static void add_wait(struct functions *functions, GHashTable *index, uint32_t root, uint32_t thread,
		     const struct span *span)
{
	const struct session *session = functions->session;
	const struct block *block = block_at(&session->trace.timeline, span->ref);
	const struct callpaths *paths =
		callpaths_at(&session->trace.flow.callstacks, block->callpaths);
	int64_t ns = span->end - span->begin;
	struct wait_stack wait = {root, span->leaf, paths->kernel, paths->user, 0,
				  0,    -1,         thread,        span->begin, block};
	uint64_t key = ((uint64_t) (span->leaf * 2654435761u ^ root) << 32) ^
		       (paths->kernel * 40503u + paths->user);
	gpointer known;
	struct wait_stack *at;

	if (!paths->kernel && !paths->user)
		return;
	known = g_hash_table_lookup(index, &key);
	if (!known || !is_same_way(&g_array_index(functions->waits, struct wait_stack,
						  GPOINTER_TO_UINT(known) - 1),
				   &wait)) {
		g_array_append_val(functions->waits, wait);
		known = GUINT_TO_POINTER(functions->waits->len);
		g_hash_table_insert(index, g_memdup2(&key, sizeof key), known);
	}
	at = &g_array_index(functions->waits, struct wait_stack, GPOINTER_TO_UINT(known) - 1);
	at->count++;
	at->ns += ns;
	if (ns > at->longest) {
		at->longest = ns;
		at->thread = thread;
		at->begin = span->begin;
		at->block = block;
	}
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct wait_stack *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void add_waits(struct functions *functions)
{
	const struct session *session = functions->session;
	GHashTable *index;

	if (session->trace.flow.callstacks.paths->len <= 1)
		return;
	index = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	for (guint i = 0; i < functions->tree->threads->len; i++) {
		const GArray *threads = g_ptr_array_index(functions->tree->threads, i);

		for (guint k = 0; threads && k < threads->len; k++) {
			uint32_t thread = g_array_index(threads, uint32_t, k);
			struct spans spans;
			struct span span;

			spans_begin(&spans, session, thread, session->asked.from,
				    session->asked.to);
			while (spans_next_off_cpu(&spans, &span))
				if (leaf_is_blocked(span.leaf))
					add_wait(functions, index, i, thread, &span);
		}
	}
	g_hash_table_destroy(index);
	g_array_sort(functions->waits, longest_first);
}

GPtrArray *user_callpath_new(const struct session *session, uint32_t thread, int64_t time,
			     uint32_t number)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	GPtrArray *path = g_ptr_array_new_with_free_func(g_free);
	const uint64_t *words;
	guint count;

	words = callstack_words(&session->trace.flow.callstacks, number, &count);
	if (count && words[count - 1] == UINT64_MAX) /* cut by the tracer */
		count--;
	for (guint i = count;
	     i-- > 0;) /* return addresses but the innermost: the call is before it */
		g_ptr_array_add(path,
				g_strdup(session_user_function(session, life->host,
							       thread_process(life),
							       i ? words[i] - 1 : words[i], time)));
	return path;
}

/* --- callers --------------------------------------------------------------------------------- */

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
	struct spans spans;
	struct span span;

	for (uint32_t i = 0; i < frames->list->len; i++) {
		const struct call_frame *frame = frame_of(frames, i);
		struct caller *caller;

		if (frame->in_interrupt || !frame_is_wanted(session, frame) ||
		    is_inside_wanted(session, frames, i))
			continue;
		caller = caller_of(functions, index, root, frames, i);
		caller->calls += frame_is_counted(frame) && frame->begin >= session->asked.from;
		spans_begin(&spans, session, thread, MAX(frame->begin, session->asked.from),
			    MIN(frame->end, session->asked.to));
		while (spans_next(&spans, &span))
			caller->times[leaf_wib(span.leaf)] += span.end - span.begin;
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

static void caller_clear(gpointer data)
{
	g_free(((struct caller *) data)->path);
}

static void add_all_callers(struct functions *functions)
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

/* --- in interrupts ------------------------------------------------------------------------------
 * */

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

static void add_all_interrupt_calls(struct functions *functions)
{
	const struct session *session = functions->session;
	struct frames *frames;

	if (!session->trace.kinds[EV_FUNCTION_ENTRY] || session->asked.options->functions.function)
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

GPtrArray *waker_callpath_new(const struct session *session, uint32_t number)
{
	guint count, first = 0;
	const uint64_t *words = callstack_words(&session->trace.flow.callstacks, number, &count);
	GPtrArray *path = callpath_new(session->found.symbols, words, count);

	for (guint i = 0; i < path->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(path, i), "asm_common_interrupt") ||
		    g_str_has_prefix(g_ptr_array_index(path, i), "asm_sysvec_"))
			first = i + 1;
	if (first)
		g_ptr_array_remove_range(path, 0, first);
	return path;
}

/* --- all
 * ----------------------------------------------------------------------------------------- */

struct functions *functions_new(const struct session *session)
{
	struct functions *functions = g_new0(struct functions, 1);

	functions->session = session;
	functions->tree = call_tree_new(session);
	functions->rows = g_array_new(FALSE, FALSE, sizeof(struct function_row));
	g_array_set_clear_func(functions->rows, row_clear);
	functions->unreturned = g_array_new(FALSE, FALSE, sizeof(struct unreturned));
	g_array_set_clear_func(functions->unreturned, unreturned_clear);
	functions->waits = g_array_new(FALSE, FALSE, sizeof(struct wait_stack));
	add_rows(functions);
	add_all_unreturned(functions);
	add_waits(functions);
	functions->callers = g_array_new(FALSE, FALSE, sizeof(struct caller));
	g_array_set_clear_func(functions->callers, caller_clear);
	add_all_callers(functions);
	functions->in_interrupts = g_array_new(FALSE, FALSE, sizeof(struct interrupt_call));
	add_all_interrupt_calls(functions);
	functions->notes = binaries_notes(session->found.binaries);
	return functions;
}

static int by_kind_and_name(gconstpointer a, gconstpointer b, gpointer session)
{
	uint32_t x = GPOINTER_TO_UINT(a), y = GPOINTER_TO_UINT(b);
	static const int order[] = {
		[OPERATION_USER] = 0, [OPERATION_FUNCTION] = 1, [OPERATION_SYSCALL] = 2};
	int kinds = order[PACK_KIND(x)] - order[PACK_KIND(y)];

	return kinds ? kinds
		     : strcmp(session_text(session, PACK_NUMBER(x)),
			      session_text(session, PACK_NUMBER(y)));
}

/* Some of those that are called, functions first. */
static char *functions_called(const struct functions *functions)
{
	g_autoptr(GList)
		all = g_list_sort_with_data(g_hash_table_get_keys(functions->tree->longest),
					    by_kind_and_name, (gpointer) functions->session);
	GString *line = g_string_new(NULL);
	guint told = 0;

	for (const GList *at = all; at && told < CALLED_TOLD; at = at->next, told++) {
		g_autofree char *name = frame_name(functions->session, GPOINTER_TO_UINT(at->data));

		g_string_append_printf(line, "%s%s", told ? ", " : "", name);
	}
	return g_string_free(line, FALSE);
}

bool functions_check(const struct functions *functions, GError **error)
{
	const char *wanted = functions->session->asked.options->functions.function;
	g_autofree char *called = NULL;
	const char *unnamed = NULL;

	for (guint i = 0; i < functions->rows->len; i++)
		if (g_array_index(functions->rows, struct function_row, i).kind == NODE_CALL)
			return true;
	if (!wanted)
		return true;
	called = functions_called(functions);
	for (guint i = 0; i < functions->notes->len; i++) {
		const struct binary_note *note = g_ptr_array_index(functions->notes, i);

		if (note->state != BINARY_NAMED && note->state != BINARY_UNCHECKED)
			unnamed = note->path;
	}
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "--function '%s': no such function is called by these threads in the "
		    "window%s%s%s%s%s",
		    wanted, *called ? "; there are, among others, " : "", called,
		    unnamed ? " (the functions of " : "", unnamed ? unnamed : "",
		    unnamed ? " have no names: --binary-path DIR says where it is)" : "");
	return false;
}

void functions_free(struct functions *functions)
{
	call_tree_free(functions->tree);
	g_array_free(functions->rows, TRUE);
	g_array_free(functions->unreturned, TRUE);
	g_array_free(functions->waits, TRUE);
	g_array_free(functions->callers, TRUE);
	g_array_free(functions->in_interrupts, TRUE);
	g_ptr_array_free(functions->notes, TRUE);
	g_free(functions);
}
