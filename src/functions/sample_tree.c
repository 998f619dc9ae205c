/* SPDX-License-Identifier: MIT */
/* See sample_tree.h. */
#include "functions/sample_tree.h"

#include <string.h>

#include "waits/state_names.h"

static void node_clear(void *data)
{
	struct sample_node *node = data;

	g_ptr_array_free(node->children, TRUE);
	g_free(node);
}

static struct sample_node *node_new(const struct code_function *function, uint32_t leaf)
{
	struct sample_node *node = g_new0(struct sample_node, 1);

	node->function = function;
	node->leaf = leaf;
	node->children = g_ptr_array_new_with_free_func(node_clear);
	return node;
}

static struct sample_node *child_of(struct sample_node *node, const struct code_function *function,
				    uint32_t leaf)
{
	struct sample_node *child;

	for (guint i = 0; i < node->children->len; i++) {
		child = g_ptr_array_index(node->children, i);
		if (child->function == function && child->leaf == leaf)
			return child;
	}
	child = node_new(function, leaf);
	g_ptr_array_add(node->children, child);
	return child;
}

/* Frames are innermost first, the kernel's before user space's. */
static void add_stack(const struct session *session, struct sample_node *root,
		      const struct sampled_stack *stack, uint32_t leaf)
{
	const GArray *frames = stack->stack->frames;
	struct sample_node *node = root;

	node->samples += stack->samples;
	node->ns += stack->ns;
	for (guint i = frames->len; i-- > 0;) {
		const struct sample_frame *frame = &g_array_index(frames, struct sample_frame, i);
		const struct code_function *function = sample_function(session, frame->function);

		node = child_of(node, function, function->kernel ? leaf : 0);
		node->samples += stack->samples;
		node->inferred += frame->inferred ? stack->samples : 0;
		node->ns += stack->ns;
	}
	node->self += stack->samples;
	node->self_ns += stack->ns;
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct sample_node *x = *(struct sample_node *const *) a;
	const struct sample_node *y = *(struct sample_node *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->function->name, y->function->name);
}

static void sort(struct sample_node *node)
{
	g_ptr_array_sort(node->children, largest_first);
	for (guint i = 0; i < node->children->len; i++)
		sort(g_ptr_array_index(node->children, i));
}

static void add_thread(struct sampled_states *states, const struct call_scope *scope,
		       uint32_t thread)
{
	guint count;
	const struct call_slice *slices = call_scope_slices(scope, thread, INT64_MIN, &count);

	for (guint i = 0; i < count; i++)
		sampled_states_add_work(states, thread, slices[i].begin, slices[i].end);
}

struct sample_tree *sample_tree_new(const struct session *session, const struct call_scope *scope,
				    const GArray *threads)
{
	struct sample_tree *tree = g_new0(struct sample_tree, 1);
	struct sampled_states states;

	tree->root = node_new(NULL, 0);
	tree->thread = g_array_index(threads, uint32_t, 0);
	sampled_states_init(&states, session);
	for (guint i = 0; i < threads->len; i++)
		add_thread(&states, scope, g_array_index(threads, uint32_t, i));
	sampled_states_end(&states);
	for (guint i = 0; i < states.list->len; i++) {
		const struct sampled_state *state = g_ptr_array_index(states.list, i);

		for (guint k = 0; k < state->stacks->len; k++)
			add_stack(session, tree->root,
				  &g_array_index(state->stacks, struct sampled_stack, k),
				  state->leaf);
		tree->unsampled += state->stacks->len ? 0 : state->ns;
	}
	sampled_states_clear(&states);
	sort(tree->root);
	if (tree->root->samples)
		return tree;
	sample_tree_free(tree);
	return NULL;
}

struct functions_sampled
sampled_in_state(const struct session *session, const struct call_scope *scope,
		 const GArray *threads, const char *state)
{
	struct function_sums *sums = function_sums_new(session);
	struct functions_sampled sampled;
	uint32_t found = 0; /* the state's leaf; 0 is none of work */
	int64_t ns = 0;

	for (guint i = 0; i < threads->len; i++) {
		uint32_t thread = g_array_index(threads, uint32_t, i);
		guint count;
		const struct call_slice *slices =
			call_scope_slices(scope, thread, INT64_MIN, &count);
		struct spans spans;
		struct span span;

		for (guint k = 0; k < count; k++) {
			spans_begin(&spans, session, thread, slices[k].begin, slices[k].end);
			while (spans_next(&spans, &span)) {
				if (leaf_wib(span.leaf) != WIB_WORKING)
					continue;
				if (!found) {
					g_autofree char *key = leaf_key(session, span.leaf);

					found = strcmp(key, state) == 0 ? span.leaf : 0;
				}
				if (span.leaf != found)
					continue;
				ns += span.end - span.begin;
				function_sums_add_all(sums, thread, span.begin, span.end);
			}
		}
	}
	sampled = function_sums_take(sums, ns, true);
	function_sums_free(sums);
	return sampled;
}

void sample_tree_free(void *data)
{
	struct sample_tree *tree = data;

	node_clear(tree->root);
	g_free(tree);
}
