/* SPDX-License-Identifier: MIT */
/* See page_samples.h. Waits have the stack that was recorded at the switch from the thread (the
 * contexts callstack-kernel and callstack-user). As JSON:
 *
 *   functions  [name, 1: of the kernel]
 *   nodes      [node of the caller or -1, function,       stacks, outermost first, as one tree
 *               1: inferred]
 *   of         [row, time, node, samples, ns]             equal ones of one part of the window
 *                                                         together; of more than SAMPLES_MAX that
 *                                                         part is longer
 *   part_ns    how long that is; 0: times are exact
 *   waits      [row, begin, node]                         where it fell asleep; the longest
 *
 * A thread's time in a state is shared out by its samples in their order, so that those of a state
 * add up to its time, to the ns, as in the tree of `functions`.
 */
#include "page/page_samples.h"

#include <string.h>

#include "report/columns.h"
#include "samples/sampled_states.h"
#include "util/when.h"

#define SAMPLES_MAX 4000 /* rows of "of" */
#define NODES_MAX 6000
#define WAITS_MAX 4000 /* rows of "waits" */
#define PARTS_MOST 4096 /* of the window, if times are not exact */

struct seen {
	guint row;
	int64_t time;
	guint node;
	uint32_t samples;
	int64_t ns;
};

struct slept {
	guint row;
	int64_t begin, ns;
	uint32_t thread, callpaths;
};

/* How much of a state's time was given to samples. */
struct shared {
	uint64_t samples;
	int64_t ns;
};

struct node {
	int64_t caller; /* -1: none */
	uint32_t function;
	uint32_t inferred; /* 1: it has no frame of its own */
};

struct sampling {
	const struct page_rows *rows;
	struct sampled_states states;
	struct shared *shared; /* of each of states.list */
	GHashTable *stacks;    /* struct sample_stack -> node + 1 */
	GHashTable *index;     /* caller and function -> node + 1 */
	GArray *nodes;         /* struct node */
	GArray *functions;     /* uint32_t: sample_function() */
	GHashTable *numbers;   /* … -> place + 1 */
	GArray *seen;          /* struct seen */
	GArray *slept;         /* struct slept */
	uint64_t omitted;      /* samples: too many different stacks */
};

/* --- stacks as one tree ----------------------------------------------------------------------- */

static guint function_place(struct sampling *sampling, uint32_t function)
{
	gpointer known = g_hash_table_lookup(sampling->numbers, GUINT_TO_POINTER(function));

	if (!known) {
		g_array_append_val(sampling->functions, function);
		known = GUINT_TO_POINTER(sampling->functions->len);
		g_hash_table_insert(sampling->numbers, GUINT_TO_POINTER(function), known);
	}
	return GPOINTER_TO_UINT(known) - 1;
}

/* -1: there are too many. */
static int64_t node_below(struct sampling *sampling, int64_t caller,
			  const struct sample_frame *frame)
{
	struct node node = {caller, function_place(sampling, frame->function), frame->inferred};
	int64_t key = (caller + 1) << 33 | (int64_t) node.inferred << 32 | node.function;
	gpointer known = g_hash_table_lookup(sampling->index, &key);

	if (!known) {
		if (sampling->nodes->len >= NODES_MAX)
			return -1;
		g_array_append_val(sampling->nodes, node);
		known = GUINT_TO_POINTER(sampling->nodes->len);
		g_hash_table_insert(sampling->index, g_memdup2(&key, sizeof key), known);
	}
	return GPOINTER_TO_UINT(known) - 1;
}

/* Without the `inner` innermost functions. */
static int64_t node_of(struct sampling *sampling, const struct sample_stack *stack, guint inner)
{
	gpointer known = inner ? NULL : g_hash_table_lookup(sampling->stacks, stack);
	int64_t node = -1;

	if (known)
		return GPOINTER_TO_UINT(known) - 1;
	for (guint i = stack->frames->len; i-- > inner;) {
		node = node_below(sampling, node,
				  &g_array_index(stack->frames, struct sample_frame, i));
		if (node < 0)
			return -1;
	}
	if (node < 0)
		return -1;
	if (!inner)
		g_hash_table_insert(sampling->stacks, (gpointer) stack, GUINT_TO_POINTER(node + 1));
	return node;
}

/* --- samples -------------------------------------------------------------------------------- */

static void each_working(struct sampling *sampling, guint row,
			 void (*visit)(struct sampling *sampling, guint row, uint32_t thread,
				       const struct span *span))
{
	const struct session *session = sampling->rows->session;
	uint32_t thread = g_array_index(sampling->rows->threads, uint32_t, row);
	struct spans spans;
	struct span span;

	if (!model_thread(&session->trace.model, thread)->samples.used)
		return;
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span))
		if (leaf_wib(span.leaf) == WIB_WORKING)
			visit(sampling, row, thread, &span);
}

static void add_to_state(struct sampling *sampling, guint row, uint32_t thread,
			 const struct span *span)
{
	(void) row;
	sampled_states_add(&sampling->states, thread, span);
}

static void add_seen(struct sampling *sampling, guint row, int64_t time, guint place,
		     const struct sample_stack *stack)
{
	const struct sampled_state *state = g_ptr_array_index(sampling->states.list, place);
	struct shared *shared = &sampling->shared[place];
	int64_t node = node_of(sampling, stack, 0), until;
	struct seen seen = {row, time - sampling->rows->session->asked.from, (guint) node, 1, 0};

	shared->samples++;
	until = (int64_t) ((int128) state->ns * (int128) shared->samples / state->samples);
	seen.ns = until - shared->ns;
	shared->ns = until;
	if (node < 0)
		sampling->omitted++;
	else
		g_array_append_val(sampling->seen, seen);
}

/* Those that the state's time is shared out by. */
static void add_samples(struct sampling *sampling, guint row, uint32_t thread,
			const struct span *span)
{
	const struct session *session = sampling->rows->session;
	const struct pages *store = &session->trace.timeline.samples;
	const struct log *log = &model_thread(&session->trace.model, thread)->samples;
	uint64_t key = (uint64_t) thread << 32 | span->leaf;
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(sampling->states.index, &key)) - 1;
	const struct sampled_state *state = g_ptr_array_index(sampling->states.list, place);

	for (uint32_t i = sample_find(store, log, span->begin); i < log->used; i++) {
		const struct sample *sample = sample_at(store, log, i);
		const struct sample_stack *stack;

		if (sample->time > span->end)
			break;
		if (sample->source != state->source)
			continue;
		stack = sample_stack(session, thread, sample);
		if (stack->frames->len)
			add_seen(sampling, row, sample->time, place, stack);
	}
}

/* --- waits ------------------------------------------------------------------------------------ */

static void add_waits_of(struct sampling *sampling, guint row)
{
	const struct session *session = sampling->rows->session;
	uint32_t thread = g_array_index(sampling->rows->threads, uint32_t, row);
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span)) {
		struct slept slept = {row, span.begin, span.end - span.begin, thread, 0};

		if (leaf_is_blocked(span.leaf))
			slept.callpaths = block_at(&session->trace.timeline, span.ref)->callpaths;
		if (slept.callpaths)
			g_array_append_val(sampling->slept, slept);
	}
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const struct slept *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->row < y->row ? -1 : x->row > y->row;
}

static void find_waits(struct sampling *sampling)
{
	const struct session *session = sampling->rows->session;

	if (session->trace.flow.callstacks.paths->len <= 1)
		return;
	for (guint i = 0; i < sampling->rows->threads->len && !session_interrupted(session); i++)
		add_waits_of(sampling, i);
	g_array_sort(sampling->slept, longest_first);
	if (sampling->slept->len > WAITS_MAX)
		g_array_set_size(sampling->slept, WAITS_MAX);
}

/* Functions of the switch itself, which all waits end in. */
static guint switch_functions(const struct sampling *sampling, const struct sample_stack *stack)
{
	guint count = 0;

	for (; count < stack->frames->len; count++) {
		const struct code_function *function = sample_function(
			sampling->rows->session,
			g_array_index(stack->frames, struct sample_frame, count).function);

		if (!function->kernel || (strcmp(function->name, "__schedule") != 0 &&
					  strcmp(function->name, "schedule") != 0))
			break;
	}
	return count;
}

/* The node of where it fell asleep; -1: no stack was recorded, or there are too many. */
static int64_t node_of_wait(struct sampling *sampling, const struct slept *slept)
{
	const struct session *session = sampling->rows->session;
	const struct callpaths *paths =
		callpaths_at(&session->trace.flow.callstacks, slept->callpaths);
	const struct sample at = {.time = slept->begin,
				  .kernel = paths->kernel,
				  .user = paths->user,
				  .source = SAMPLE_OWN};

	const struct sample_stack *stack;

	if (!paths->kernel && !paths->user)
		return -1;
	stack = sample_stack(session, slept->thread, &at);
	return node_of(sampling, stack, switch_functions(sampling, stack));
}

/* --- together, where they are many ------------------------------------------------------------ */

static int by_part(gconstpointer a, gconstpointer b)
{
	const struct seen *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->node < y->node ? -1 : x->node > y->node;
}

/* Times become those of the parts' begins, and what is then equal one. */
static void merge(GArray *seen, int64_t part)
{
	guint kept = 0;

	for (guint i = 0; part && i < seen->len; i++) {
		struct seen *at = &g_array_index(seen, struct seen, i);

		at->time -= at->time % part;
	}
	g_array_sort(seen, by_part);
	for (guint i = 0; i < seen->len; i++) {
		const struct seen *at = &g_array_index(seen, struct seen, i);
		struct seen *last = kept ? &g_array_index(seen, struct seen, kept - 1) : NULL;

		if (last && by_part(last, at) == 0) {
			last->samples += at->samples;
			last->ns += at->ns;
		} else {
			g_array_index(seen, struct seen, kept++) = *at;
		}
	}
	g_array_set_size(seen, kept);
}

static int64_t merge_as_needed(struct sampling *sampling)
{
	int64_t length = sampling->rows->session->asked.to - sampling->rows->session->asked.from;
	int64_t part = 0;

	merge(sampling->seen, part);
	while (sampling->seen->len > SAMPLES_MAX && part <= length) {
		part = part ? part * 2 : length / PARTS_MOST + 1;
		merge(sampling->seen, part);
	}
	for (; sampling->seen->len > SAMPLES_MAX;
	     g_array_set_size(sampling->seen, sampling->seen->len - 1))
		sampling->omitted +=
			g_array_index(sampling->seen, struct seen, sampling->seen->len - 1).samples;
	return part;
}

/* --- writing -------------------------------------------------------------------------------- */

static void put_numbers(struct output *output, const int64_t *numbers, guint count)
{
	json_begin(output, NULL, '[', LINES_NOT);
	for (guint i = 0; i < count; i++)
		json_put_whole(output, NULL, numbers[i]);
	json_end(output, ']');
}

static void put_functions(const struct sampling *sampling, struct output *output)
{
	json_begin(output, "functions", '[', LINES_NOT);
	for (guint i = 0; i < sampling->functions->len; i++) {
		const struct code_function *function =
			sample_function(sampling->rows->session,
					g_array_index(sampling->functions, uint32_t, i));

		json_begin(output, NULL, '[', LINES_NOT);
		json_put_text(output, NULL, function->name);
		json_put_whole(output, NULL, function->kernel);
		json_end(output, ']');
	}
	json_end(output, ']');
}

static void put_waits(struct sampling *sampling, struct output *output)
{
	json_begin(output, "waits", '[', LINES_NOT);
	for (guint i = 0; i < sampling->slept->len; i++) {
		const struct slept *slept = &g_array_index(sampling->slept, struct slept, i);
		int64_t node = node_of_wait(sampling, slept);

		if (node >= 0)
			put_numbers(output,
				    (int64_t[]) {slept->row,
						 slept->begin - sampling->rows->session->asked.from,
						 node},
				    3);
	}
	json_end(output, ']');
}

static void put_all(struct sampling *sampling, struct output *output)
{
	json_begin(output, "samples", '{', LINES_BETWEEN);
	put_waits(sampling, output);
	json_put_whole(output, "part_ns", merge_as_needed(sampling));
	json_put_whole(output, "omitted", (int64_t) sampling->omitted);
	put_functions(sampling, output);
	json_begin(output, "nodes", '[', LINES_NOT);
	for (guint i = 0; i < sampling->nodes->len; i++) {
		const struct node *node = &g_array_index(sampling->nodes, struct node, i);

		put_numbers(output, (int64_t[]) {node->caller, node->function, node->inferred}, 3);
	}
	json_end(output, ']');
	json_begin(output, "of", '[', LINES_NOT);
	for (guint i = 0; i < sampling->seen->len; i++) {
		const struct seen *at = &g_array_index(sampling->seen, struct seen, i);

		put_numbers(output, (int64_t[]) {at->row, at->time, at->node, at->samples, at->ns},
			    5);
	}
	json_end(output, ']');
	json_end(output, '}');
}

void page_samples(const struct page_rows *rows, struct output *output)
{
	struct sampling sampling = {.rows = rows};

	sampled_states_init(&sampling.states, rows->session);
	for (guint i = 0; i < rows->threads->len && !session_interrupted(rows->session); i++)
		each_working(&sampling, i, add_to_state);
	sampling.shared = g_new0(struct shared, sampling.states.list->len + 1);
	sampling.stacks = g_hash_table_new(NULL, NULL);
	sampling.index = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	sampling.nodes = g_array_new(FALSE, FALSE, sizeof(struct node));
	sampling.functions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	sampling.numbers = g_hash_table_new(NULL, NULL);
	sampling.seen = g_array_new(FALSE, FALSE, sizeof(struct seen));
	sampling.slept = g_array_new(FALSE, FALSE, sizeof(struct slept));
	for (guint i = 0; i < rows->threads->len && !session_interrupted(rows->session); i++)
		each_working(&sampling, i, add_samples);
	find_waits(&sampling);
	if (sampling.seen->len || sampling.omitted || sampling.slept->len)
		put_all(&sampling, output);
	g_array_free(sampling.slept, TRUE);
	g_array_free(sampling.seen, TRUE);
	g_hash_table_destroy(sampling.numbers);
	g_array_free(sampling.functions, TRUE);
	g_array_free(sampling.nodes, TRUE);
	g_hash_table_destroy(sampling.index);
	g_hash_table_destroy(sampling.stacks);
	g_free(sampling.shared);
	sampled_states_clear(&sampling.states);
}
