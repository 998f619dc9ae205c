/* SPDX-License-Identifier: MIT */
/* Adding up stacks; see export_stacks.h. */
#include "export/export_stacks.h"

#include <string.h>

#include "path/path.h"
#include "path/path_sums.h"
#include "ready/ready.h"
#include "ready/cpu_runs.h"
#include "waits/summary.h"
#include "symbols/symbols.h"

static void sum_free(gpointer data)
{
	struct stack_sum *sum = data;

	g_bytes_unref(sum->frames);
	g_free(sum);
}

/* --- the stack at hand ---------------------------------------------------------- */

static void push_id(struct stack_sums *sums, uint32_t name)
{
	g_array_append_val(sums->frames, name);
}

static void push(struct stack_sums *sums, const char *text)
{
	push_id(sums, intern_id(sums->walk->session->trace.model.names, text));
}

static void push_thread(struct stack_sums *sums, const struct walk_thread *thread)
{
	const struct walk *walk = sums->walk;
	const struct walk_process *process =
		&g_array_index(walk->processes, struct walk_process, thread->process);
	g_autofree char *name = g_strconcat(session_text(walk->session, process->name),
					    session_on(walk->session, thread->thread), NULL);

	push(sums, name);
	push(sums, session_thread_name(walk->session, thread->thread));
}

/* Adds the stack at hand. */
static void add_stack(struct stack_sums *sums, uint32_t thread, int64_t ns, uint64_t count)
{
	uint32_t of = sums->by_thread ? thread : NO_THREAD;
	guint frames = sums->frames->len;
	g_autoptr(GBytes) key = NULL;
	struct stack_sum *sum;

	push_id(sums, of);
	push_id(sums, sums->cause);
	key = g_bytes_new(sums->frames->data, sums->frames->len * sizeof(uint32_t));
	g_array_set_size(sums->frames, frames);
	sum = g_hash_table_lookup(sums->index, key);
	if (!sum) {
		sum = g_new0(struct stack_sum, 1);
		sum->frames = g_bytes_new_from_bytes(key, 0, frames * sizeof(uint32_t));
		sum->thread = of;
		sum->cause = sums->cause;
		g_ptr_array_add(sums->list, sum);
		g_hash_table_insert(sums->index, g_bytes_ref(key), sum);
	}
	sum->ns += ns;
	sum->count += count;
}

/* --- what it waits in --------------------------------------------------------------- */

static void path_free_each(gpointer data)
{
	if (*(GArray **) data)
		g_array_free(*(GArray **) data, TRUE);
}

/* Where the functions go on that were recorded as such, and are frames already: behind the
 * innermost of them that the call stack names. */
static guint behind_frames(const struct stack_sums *sums, const GArray *path)
{
	const struct walk *walk = sums->walk;

	for (guint f = walk->frames->len; f-- > 0;) {
		const struct walk_frame *frame = &g_array_index(walk->frames, struct walk_frame, f);

		if (PACK_KIND(frame->what) != OPERATION_FUNCTION)
			return 0;
		for (guint i = path->len; i-- > 0;)
			if (g_array_index(path, uint32_t, i) == PACK_NUMBER(frame->what))
				return i + 1;
	}
	return 0;
}

/* The kernel's functions, where the context callstack-kernel was recorded. */
static void push_callpath(struct stack_sums *sums, uint32_t number)
{
	const struct session *session = sums->walk->session;
	GArray **known, *path;
	uint64_t words[CALLSTACK_WORDS];
	guint count, from;

	if (!number)
		return;
	if (number >= sums->callpaths->len)
		g_array_set_size(sums->callpaths, number + 1);
	known = &g_array_index(sums->callpaths, GArray *, number);
	if (!*known) {
		g_autoptr(GPtrArray) names = NULL;

		count = callstack_words(&session->trace.flow.callstacks, number, words);
		names = callpath_new(session->found.symbols, words, count);
		*known = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		for (guint i = 0; i < names->len; i++) {
			uint32_t id =
				intern_id(session->trace.model.names, g_ptr_array_index(names, i));

			g_array_append_val(*known, id);
		}
	}
	path = *known;
	from = behind_frames(sums, path);
	if (from < path->len)
		g_array_append_vals(sums->frames, &g_array_index(path, uint32_t, from),
				    path->len - from);
}

static void push_sampled(struct stack_sums *sums, const struct sample_frame *frame)
{
	const struct code_function *function =
		sample_function(sums->walk->session, frame->function);
	g_autofree char *text = NULL;
	const char *name =
		session_text(sums->walk->session, sample_frame_name(sums->walk->session, frame));

	if (!sums->by_thread || (!function->file && !frame->line)) {
		push(sums, name);
		return;
	}
	text = g_strdup_printf("%s\n%s\n%u", name, function->file ? function->file : "",
			       frame->line);
	push(sums, text);
}

/* Frames are innermost first; the kernel's come before user space's. */
static void push_frames(struct stack_sums *sums, const GArray *frames, bool kernel)
{
	for (guint i = frames->len; i-- > 0;) {
		const struct sample_frame *frame = &g_array_index(frames, struct sample_frame, i);

		if (sample_function(sums->walk->session, frame->function)->kernel == kernel)
			push_sampled(sums, frame);
	}
}

/* The functions of user space in which it fell asleep, where they were recorded. */
static void push_way(struct stack_sums *sums, const struct walk_state *state)
{
	const struct session *session = sums->walk->session;
	const struct sample way = {
		.time = state->begin,
		.user = callpaths_at(&session->trace.flow.callstacks, state->block->callpaths)
				->user,
		.source = SAMPLE_OWN};

	if (way.user)
		push_frames(sums, sample_stack(session, sums->walk->current->thread, &way)->frames,
			    false);
}

/* Process, thread, frames; of what has no system call, what it is instead. */
static void push_base(struct stack_sums *sums, const struct walk_state *state)
{
	const struct walk *walk = sums->walk;
	uint32_t kind = PACK_KIND(state->span.leaf);

	g_array_set_size(sums->frames, 0);
	sums->cause = 0;
	push_thread(sums, walk->current);
	if (state->block && sums->by_user)
		push_way(sums, state);
	for (guint i = 0; i < walk->frames->len; i++)
		push(sums, walk_frame_name(walk->session,
					   &g_array_index(walk->frames, struct walk_frame, i)));
	if (!state->block)
		return;
	if (kind == LEAF_BLOCK_FAULT)
		push(sums, "page fault");
	push_callpath(sums,
		      callpaths_at(&walk->session->trace.flow.callstacks, state->block->callpaths)
			      ->kernel);
	if (kind == LEAF_BLOCK_STOPPED || kind == LEAF_BLOCK_TRACED)
		push(sums,
		     kind == LEAF_BLOCK_STOPPED ? "stopped by a signal" : "stopped by its tracer");
}

/* The kind of cause, and who: of what is the same for many waits. Sectors and times are
 * left out, else hardly any two stacks were equal. */
static void push_cause(struct stack_sums *sums, const struct walk_state *state)
{
	const struct session *session = sums->walk->session;
	const struct block *block = state->block;
	const struct wake_detail *request = block_request(session, block);
	struct cause cause = walk_cause(sums->walk, state);
	g_autoptr(GString) text = g_string_new(cause_kind_text(cause.kind));
	uint32_t waited_for = block_waits_for(session, block);

	if (waited_for)
		push_id(sums, waited_for);
	sums->cause = intern_id(session->trace.model.names, text->str);
	if (cause.kind == CAUSE_BLOCK_DEVICE && request)
		g_string_append_printf(text, " %s", session_text(session, request->text));
	else if (state->woken && block->kind == WAKER_THREAD && is_thread(block->waker))
		g_string_append_printf(text, ", woken by %s",
				       session_thread_name(session, block->waker));
	else if (state->woken && cause.kind == CAUSE_NETWORK && block->detail &&
		 is_thread(detail_at(&session->trace.timeline, block->detail)->thread))
		g_string_append_printf(
			text, ", sent by %s",
			session_thread_name(
				session,
				detail_at(&session->trace.timeline, block->detail)->thread));
	else if (state->woken && block->kind == WAKER_IRQ && block->label)
		g_string_append_printf(text, " %s", session_text(session, block->label));
	if (cause.inferred)
		g_string_append(text, " (inferred)");
	push(sums, text->str);
	cause_clear(&cause);
}

/* --- off the CPU ---------------------------------------------------------------------- */

/* "CPU idle: slow wake-up from idle"; it is looked for only where a CPU was idle. */
static uint32_t idle_frame(struct stack_sums *sums)
{
	const struct session *session = sums->walk->session;
	g_autofree char *text = NULL;
	struct ready ready;

	if (sums->idle)
		return sums->idle;
	ready = ready_of(session, sums->walk->current->thread, &sums->ready);
	if (ready_is_busy(&ready) || ready.kind == READY_IDLE)
		text = g_strdup("CPU idle");
	else
		text = g_strconcat("CPU idle: ", ready_text(ready.kind),
				   ready.kind == READY_THROTTLED ? " (inferred)" : NULL, NULL);
	sums->idle = intern_id(session->trace.model.names, text);
	return sums->idle;
}

static void by_runner(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct stack_sums *sums = data;
	const struct session *session = sums->walk->session;

	if (thread == IDLE_THREAD) {
		push_id(sums, idle_frame(sums));
	} else {
		g_autofree char *by =
			is_thread(thread)
				? g_strconcat("by ", session_thread_name(session, thread), NULL)
				: g_strdup("by an unknown thread");

		push(sums, by);
	}
	add_stack(sums, sums->walk->current->thread, end - begin, end == sums->end);
	g_array_set_size(sums->frames, sums->frames->len - 1);
}

/* Asleep from the window's begin to its end, as most of a system's threads are: that would be
 * most of the picture. Whoever was asked for by name is shown all the same. */
static bool did_nothing(const struct walk *walk, const struct walk_state *state)
{
	const struct options *options = walk->session->asked.options;

	return state->begin <= walk->current->begin && state->end >= walk->current->end &&
	       !options->threads->len && !options->processes->len;
}

static void on_off_cpu(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct stack_sums *sums = data;
	uint32_t thread = walk->current->thread;
	bool preempted = PACK_KIND(state->span.leaf) == LEAF_PREEMPTED;

	if (!leaf_is_off_cpu(state->span.leaf) || did_nothing(walk, state))
		return;
	push_base(sums, state);
	if (state->block) {
		push_cause(sums, state);
		add_stack(sums, thread, state->span.end - state->span.begin,
			  state->span.end == state->end);
		return;
	}
	push(sums, preempted ? "preempted" : "waiting for CPU");
	sums->cause = intern_id(walk->session->trace.model.names, cause_kind_text(CAUSE_WAIT_CPU));
	sums->ready = state->span;
	sums->idle = 0;
	/* it counts as one wait, of who ran at its end */
	sums->end = state->goes_on ? INT64_MAX : state->end;
	each_run(walk->session, model_thread(&walk->session->trace.model, thread)->host,
		 state->span.ref, state->span.begin, state->span.end, by_runner, sums);
}

static void on_waker(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct stack_sums *sums = data;
	const struct block *block = state->block;
	const GArray *stack;

	if (!block || did_nothing(walk, state))
		return;
	push_base(sums, state);
	push(sums, "--");
	if (!state->woken) {
		push(sums, "not woken");
	} else {
		stack = flow_stack(&walk->session->trace.flow, block->waker_stack);
		for (guint i = stack->len; i-- > 0;) {
			uint32_t frame = g_array_index(stack, uint32_t, i);
			g_autofree char *text = NULL;

			if (PACK_KIND(frame) == FRAME_USER || PACK_KIND(frame) == FRAME_IDLE ||
			    PACK_KIND(frame) == FRAME_UNKNOWN)
				continue;
			text = frame_text(walk->session, frame, false);
			push(sums, text);
		}
		push(sums, block->kind == WAKER_UNKNOWN || block->waker == NO_THREAD
				   ? "not known"
				   : session_thread_name(walk->session, block->waker));
	}
	add_stack(sums, walk->current->thread, state->span.end - state->span.begin,
		  state->span.end == state->end);
}

/* --- on the CPU ------------------------------------------------------------------------ */

static void on_cpu(const struct walk *walk, const struct walk_state *state, void *data)
{
	struct stack_sums *sums = data;

	if (leaf_is_off_cpu(state->span.leaf) || leaf_wib(state->span.leaf) == WIB_UNKNOWN)
		return;
	sampled_states_add(&sums->ran, walk->current->thread, &state->span);
}

static void on_all(const struct walk *walk, const struct walk_state *state, void *data)
{
	on_cpu(walk, state, data);
	on_off_cpu(walk, state, data);
}

/* What the state is beside its functions: a system call, an interrupt. */
static void push_state(struct stack_sums *sums, uint32_t leaf)
{
	g_autofree char *key = leaf_key(sums->walk->session, leaf);

	if (PACK_KIND(leaf) == LEAF_WORK_SYSCALL)
		push(sums, session_text(sums->walk->session, PACK_NUMBER(leaf)));
	else if (PACK_KIND(leaf) != LEAF_WORK_USER && PACK_KIND(leaf) != LEAF_WORK_KTHREAD)
		push(sums, key);
}

static void add_state(struct stack_sums *sums, const struct sampled_state *state)
{
	const struct walk *walk = sums->walk;

	sums->cause = intern_id(walk->session->trace.model.names, cause_kind_text(CAUSE_CPU));
	for (guint i = 0; i < state->stacks->len || i == 0; i++) {
		const struct sampled_stack *at =
			state->stacks->len ? &g_array_index(state->stacks, struct sampled_stack, i)
					   : NULL;

		g_array_set_size(sums->frames, 0);
		push_thread(sums, &g_array_index(walk->threads, struct walk_thread,
						 walk->numbers[state->thread] - 1));
		if (at)
			push_frames(sums, at->stack->frames, false);
		push_state(sums, state->leaf);
		if (at)
			push_frames(sums, at->stack->frames, true);
		else
			push(sums, "(no sample)");
		add_stack(sums, state->thread, at ? at->ns : state->ns, at ? at->samples : 0);
	}
}

static void add_sampled(struct stack_sums *sums)
{
	sampled_states_end(&sums->ran);
	for (guint i = 0; i < sums->ran.list->len; i++)
		add_state(sums, g_ptr_array_index(sums->ran.list, i));
}

/* --- along the critical path -------------------------------------------------------------- */

/* The waits that a piece is inside, the outermost first: each with the thread before it. */
static uint32_t push_through(struct stack_sums *sums, const struct path *path, int32_t behalf,
			     uint32_t root)
{
	const struct session *session = sums->walk->session;
	const struct through *wait;
	uint32_t resource, last = root;
	g_autofree char *leaf = NULL, *text = NULL;

	if (behalf < 0)
		return root;
	wait = &g_array_index(path->waits, struct through, behalf);
	last = push_through(sums, path, wait->behalf, root);
	if (wait->thread != last)
		push(sums, session_thread_name(session, wait->thread));
	leaf = leaf_key(session, wait->leaf);
	resource = wait->block ? block_waits_for(session, wait->block) : 0;
	text = g_strconcat(leaf, resource ? " on " : "",
			   resource ? session_text(session, resource) : "", NULL);
	push(sums, text);
	return wait->thread;
}

static void add_piece(struct stack_sums *sums, const struct path *path, const struct piece *piece,
		      uint32_t root)
{
	const struct walk *walk = sums->walk;
	struct walk_thread current = {.thread = piece->thread};
	struct walk_state state = {.span = {piece->begin, piece->end, piece->leaf, piece->ref},
				   .begin = piece->begin,
				   .end = piece->end,
				   .block = piece->block,
				   .woken = piece->woken};
	g_autofree char *leaf = leaf_key(walk->session, piece->leaf);
	guint base = sums->frames->len;

	sums->cause = 0;
	if (push_through(sums, path, piece->behalf, root) != piece->thread || piece->behalf >= 0)
		push(sums, session_thread_name(walk->session, piece->thread));
	push(sums, leaf);
	if (piece->block) {
		sums->walk->current = &current;
		push_cause(sums, &state);
		sums->walk->current = NULL;
	}
	add_stack(sums, root, piece->end - piece->begin, 1);
	g_array_set_size(sums->frames, base);
}

static void add_path(struct stack_sums *sums, uint32_t root, int64_t from, int64_t to)
{
	const struct walk *walk = sums->walk;
	struct path *path;

	if (from >= to)
		return;
	path = path_new(walk->session, root, from, to);
	g_array_set_size(sums->frames, 0);
	if (walk->numbers[root]) {
		push_thread(sums, &g_array_index(walk->threads, struct walk_thread,
						 walk->numbers[root] - 1));
	} else { /* a target that is none of the threads asked for */
		push(sums, session_thread_name(walk->session, root));
		push(sums, session_thread_name(walk->session, root));
	}
	for (guint i = 0; i < path->pieces->len; i++)
		add_piece(sums, path, &g_array_index(path->pieces, struct piece, i), root);
	path_free(path);
}

static void add_paths(struct stack_sums *sums)
{
	const struct walk *walk = sums->walk;
	const struct session *session = walk->session;

	if (session->asked.target != NO_THREAD) {
		add_path(sums, session->asked.target, session->asked.from, session->asked.to);
		return;
	}
	for (guint i = 0; i < walk->threads->len; i++) {
		const struct walk_thread *thread =
			&g_array_index(walk->threads, struct walk_thread, i);

		if (walk->threads->len == 1) { /* as `delay` does it: with its lineage */
			add_path(sums, thread->thread, session->asked.from, session->asked.to);
			return;
		}
		add_path(sums, thread->thread, thread->begin, thread->end);
	}
}

void stack_sums_init(struct stack_sums *sums, struct walk *walk, bool by_thread)
{
	static const struct walk_visitor visitors[] = {[STACKS_OFF_CPU] = {.state = on_off_cpu},
						       [STACKS_WAKER] = {.state = on_waker},
						       [STACKS_ON_CPU] = {.state = on_cpu},
						       [STACKS_ALL] = {.state = on_all}};
	enum stacks kind = walk->session->asked.options->export.stacks;

	*sums = (struct stack_sums) {.walk = walk,
				     .by_thread = by_thread,
				     .by_user = kind == STACKS_ALL};
	sums->list = g_ptr_array_new_with_free_func(sum_free);
	sums->index = g_hash_table_new_full(g_bytes_hash, g_bytes_equal,
					    (GDestroyNotify) g_bytes_unref, NULL);
	sums->frames = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	sums->callpaths = g_array_new(FALSE, TRUE, sizeof(GArray *));
	g_array_set_clear_func(sums->callpaths, path_free_each);
	sampled_states_init(&sums->ran, walk->session);
	if (kind == STACKS_CRITICAL_PATH)
		add_paths(sums);
	else
		walk_all(walk, &visitors[kind], sums);
	add_sampled(sums);
}

void stack_sums_clear(struct stack_sums *sums)
{
	sampled_states_clear(&sums->ran);
	g_hash_table_destroy(sums->index);
	g_ptr_array_free(sums->list, TRUE);
	g_array_free(sums->frames, TRUE);
	g_array_free(sums->callpaths, TRUE);
}
