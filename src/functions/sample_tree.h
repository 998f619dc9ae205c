/* SPDX-License-Identifier: MIT */
/* Functions as samples show them, as a tree beside that of traced calls: who called whom, and how
 * much of the time was below.
 *
 *   main ─ load_theme ─┬─ render_glyphs ─ spin
 *                      └─ parse_config ─ spin
 *
 * Part of functions/. Each root of the call tree (calls/call_tree.h) has one. Sampled are the
 * threads of a root in the time that is looked at; what ran in a state without samples is its
 * `unsampled` time. Nothing is counted, as calls are: how often a function was called samples do
 * not tell.
 */
#ifndef WHYLATE_FUNCTIONS_SAMPLE_TREE_H
#define WHYLATE_FUNCTIONS_SAMPLE_TREE_H

#include "calls/call_scope.h"
#include "samples/function_sums.h"
#include "samples/sampled_states.h"

struct sample_node {
	const struct code_function *function; /* borrowed; NULL: the root */
	uint32_t leaf; /* of the kernel's: the state that it ran in; else 0 */
	uint32_t samples, self; /* with it on the stack; innermost */
	uint32_t inferred; /* … that have no frame of it: the call there names it */
	int64_t ns, self_ns;
	GPtrArray *children; /* owned; struct sample_node, largest first */
};

struct sample_tree {
	uint32_t thread;     /* the first of its threads */
	int64_t unsampled;   /* ns that they worked without a sample */
	struct sample_node *root; /* owned */
};

/* Of threads (uint32_t); NULL: they have no samples. */
struct sample_tree *sample_tree_new(const struct session *session, const struct call_scope *scope,
				    const GArray *threads);
void sample_tree_free(void *tree);
/* What samples show of these threads' time in one state ("working/syscall:read") alone. */
struct functions_sampled
sampled_in_state(const struct session *session, const struct call_scope *scope,
		 const GArray *threads, const char *state);

#endif
