/* SPDX-License-Identifier: MIT */
/* Interned stacks of frames; see stacks.h. */
#include "state/stacks.h"

#include <string.h>

static guint stack_hash(gconstpointer key)
{
	const GArray *stack = key;
	guint hash = 2166136261u;

	for (guint i = 0; i < stack->len; i++)
		hash = (hash ^ g_array_index(stack, uint32_t, i)) * 16777619u;
	return hash;
}

static gboolean stack_equal(gconstpointer a, gconstpointer b)
{
	const GArray *x = a, *y = b;

	return x->len == y->len &&
	       (x->len == 0 || memcmp(x->data, y->data, x->len * sizeof(uint32_t)) == 0);
}

static void stack_free(gpointer stack)
{
	g_array_free(stack, TRUE);
}

static uint32_t intern_stack(struct flow *flow, const uint32_t *frames, guint count)
{
	GArray key = {(char *) frames, count}; /* only looked at */
	gpointer number;
	GArray *stack;

	if (g_hash_table_lookup_extended(flow->stack_numbers, &key, NULL, &number))
		return GPOINTER_TO_UINT(number);
	stack = g_array_sized_new(FALSE, FALSE, sizeof *frames, count);
	g_array_append_vals(stack, frames, count);
	g_hash_table_insert(flow->stack_numbers, stack, GUINT_TO_POINTER(flow->stacks->len));
	g_ptr_array_add(flow->stacks, stack);
	return flow->stacks->len - 1;
}

const GArray *flow_stack(const struct flow *flow, uint32_t number)
{
	g_assert(number < flow->stacks->len);
	return g_ptr_array_index(flow->stacks, number);
}

static guint thread_frames(const struct thread *thread, uint32_t *frames)
{
	guint count = 0;

	frames[count++] = PACK(FRAME_USER, 0);
	if (thread->flow.call.open)
		frames[count++] = PACK(FRAME_SYSCALL, thread->flow.call.name);
	if (thread->flow.fault)
		frames[count++] = PACK(FRAME_FAULT, 0);
	return count;
}

uint32_t flow_thread_stack(struct flow *flow, const struct thread *thread)
{
	uint32_t frames[3];

	return intern_stack(flow, frames, thread_frames(thread, frames));
}

uint32_t flow_cpu_stack(struct flow *flow, const struct cpu *cpu)
{
	uint32_t frames[3 + FRAMES_MAX];
	guint count = 0;

	if (is_thread(cpu->current))
		count = thread_frames(flow_thread(flow, cpu->current), frames);
	else
		frames[count++] = PACK(cpu->current == IDLE_THREAD ? FRAME_IDLE : FRAME_UNKNOWN, 0);
	for (uint32_t i = 0; i < cpu->depth; i++)
		frames[count++] = cpu->frames[i].what;
	return intern_stack(flow, frames, count);
}

void stacks_init(struct flow *flow)
{
	flow->stacks = g_ptr_array_new_with_free_func(stack_free);
	flow->stack_numbers = g_hash_table_new(stack_hash, stack_equal);
	intern_stack(flow, NULL, 0);
}

void stacks_clear(struct flow *flow)
{
	g_hash_table_destroy(flow->stack_numbers);
	g_ptr_array_free(flow->stacks, TRUE);
}
