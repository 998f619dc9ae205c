/* SPDX-License-Identifier: MIT */
/* Operations as they end: system calls, functions, interrupts, requests.
 *
 * Part of objects/; does nothing unless `flow->operations_wanted` has a bit. Keeps its own
 * stacks of open frames, as functions are no frames of the control flow that
 * states are made from: "a function frame is detail below the leaf around it".
 *
 *   thread->flow.functions   functions entered outside interrupts
 *   cpu->open                interrupts, and functions entered in them or in
 *                            the idle loop
 *
 * An operation is recorded when both its ends were seen; a frame whose exit
 * was not seen is dropped with the one around it. Source: semantics.md, "The
 * control-flow stack of a thread", "Latency".
 */
#include "objects/operation_log.h"

#include "objects/exchanges.h"
#include "timeline/facts.h"
#include "objects/resource.h"

#define OPEN_MAX 128 /* nested frames; recursion deeper than that is counted */

/* A stack that is full is given up, so that no exit finds an older frame of its
 * name: what is still to come is seen from both its ends, or counted. */
static void push(struct flow *flow, const struct cpu *cpu, GArray **stack, uint32_t what,
		 uint32_t ref)
{
	struct open_frame frame = {flow->time, what, ref, cpu->current};

	if (!*stack)
		*stack = g_array_new(FALSE, FALSE, sizeof frame);
	if ((*stack)->len >= OPEN_MAX) {
		flow->odd[ODD_FRAMES_DEEP]++;
		g_array_set_size(*stack, 0);
	}
	g_array_append_val(*stack, frame);
}

static void drop(GArray *stack)
{
	if (stack)
		g_array_set_size(stack, 0);
}

/* Takes the innermost frame that is `what` (of that kind, if `any`), and what
 * was entered inside it and never left. False if there is none. */
static bool pop(struct flow *flow, GArray *stack, uint32_t what, bool any, struct open_frame *frame)
{
	for (guint i = stack ? stack->len : 0; i-- > 0;) {
		*frame = g_array_index(stack, struct open_frame, i);
		if (any ? PACK_KIND(frame->what) != PACK_KIND(what) : frame->what != what)
			continue;
		for (guint k = i + 1; k < stack->len; k++)
			flow->odd[ODD_FUNCTION] +=
				PACK_KIND(g_array_index(stack, struct open_frame, k).what) ==
				OPERATION_FUNCTION;
		g_array_set_size(stack, i);
		return true;
	}
	return false;
}

/* The list it counts for: the current thread's, or the CPU's; also where
 * another thread was current at its begin, as after lost events. */
static void record(struct flow *flow, struct cpu *cpu, uint16_t host,
		   const struct open_frame *frame)
{
	struct thread *thread = frame->thread == cpu->current ? flow_current(flow, cpu) : NULL;
	int64_t duration = flow->time - frame->begin;
	struct operation operation = {.begin = frame->begin,
				      .duration = (uint64_t) duration,
				      .cpu = operation_cpu(cpu->id),
				      .what = frame->what,
				      .ref = frame->ref,
				      .thread = thread ? cpu->current : operation_of_host(host)};

	if (duration > OPERATION_DURATION_MAX)
		return;
	operation.off_cpu = thread && thread->flow.left >= frame->begin;
	operation_append(&flow->timeline->operations,
			 thread ? &thread->flow.operation : &cpu->operation, &operation);
}

static void record_half(struct flow *flow, struct thread *thread, uint32_t index,
			const struct open_frame *frame, int64_t end, enum operation_half half)
{
	int64_t begin = MAX(frame->begin, thread->begin);
	struct operation operation = {.begin = begin,
				      .duration = (uint64_t) (end - begin),
				      .half = half,
				      .cpu = operation_cpu(thread->flow.cpu),
				      .what = frame->what,
				      .ref = frame->ref,
				      .thread = index,
				      .off_cpu = thread->flow.left >= begin};

	if (begin != INT64_MIN && end >= begin && end - begin <= OPERATION_DURATION_MAX)
		operation_append(&flow->timeline->operations, &thread->flow.operation, &operation);
}

static uint32_t operation_of(struct flow *flow, const struct event *event)
{
	uint64_t callback;

	switch (event->kind) {
	case EV_IRQ_ENTRY:
	case EV_IRQ_EXIT:
		return PACK(OPERATION_IRQ, event->irq.irq);
	case EV_SOFTIRQ_ENTRY:
	case EV_SOFTIRQ_EXIT:
		return PACK(OPERATION_SOFTIRQ, event->softirq.vec);
	case EV_VECTOR_ENTRY:
	case EV_VECTOR_EXIT:
		return PACK(OPERATION_VECTOR, event->vector.name);
	default:
		callback = event->timer.function; /* 0: not said */
		return PACK(OPERATION_HRTIMER,
			    callback ? flow_function(flow, &flow->callbacks, callback) : 0);
	}
}

void operation_interrupt_entry(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	g_assert(cpu->depth > 0);
	if (flow->operations_wanted)
		push(flow, cpu, &cpu->open, operation_of(flow, event),
		     cpu->frames[cpu->depth - 1].label);
}

void operation_interrupt_exit(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct open_frame frame;
	bool any = event->kind == EV_HRTIMER_EXPIRE_EXIT; /* says no callback */

	if (flow->operations_wanted &&
	    pop(flow, cpu->open, any ? PACK(OPERATION_HRTIMER, 0) : operation_of(flow, event), any,
		&frame))
		record(flow, cpu, event->host, &frame);
}

void operation_function(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	uint32_t what = PACK(OPERATION_FUNCTION, event->function.name);
	struct open_frame frame;
	GArray **stack;

	if (!flow->operations_wanted || flow_in_gap(flow, cpu))
		return;
	stack = cpu->depth || !thread ? &cpu->open : &thread->flow.functions;
	if (event->kind == EV_FUNCTION_ENTRY)
		push(flow, cpu, stack, what, 0);
	else if (pop(flow, *stack, what, false, &frame))
		record(flow, cpu, event->host, &frame);
	else
		flow->odd[ODD_FUNCTION]++;
}

void operation_guest_exit(struct flow *flow, struct cpu *cpu, uint32_t name)
{
	struct thread *thread = flow_current(flow, cpu);

	if (thread && flow->operations_wanted & 1u << OPERATION_KVM_EXIT)
		push(flow, cpu, &thread->flow.functions, PACK(OPERATION_KVM_EXIT, name), 0);
}

void operation_guest_entry(struct flow *flow, struct cpu *cpu)
{
	struct thread *thread = flow_current(flow, cpu);
	struct open_frame frame;

	if (thread && thread->flow.functions && flow->operations_wanted &&
	    pop(flow, thread->flow.functions, PACK(OPERATION_KVM_EXIT, 0), true, &frame))
		record(flow, cpu, thread->host, &frame);
}

void operation_reached(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct thread *thread = flow_current(flow, cpu);
	struct operation operation = {.begin = flow->time,
				      .cpu = operation_cpu(cpu->id),
				      .what = PACK(OPERATION_REACHED, event->function.name),
				      .thread = cpu->current};

	if (thread && !flow_in_gap(flow, cpu) && flow->operations_wanted & 1u << OPERATION_REACHED)
		operation_append(&flow->timeline->operations, &thread->flow.operation, &operation);
}

static uint64_t calls_key(const struct thread *thread)
{
	return (uint64_t) thread->host << 32 | thread->flow.call.name;
}

/* How many others are in the same call. */
static uint32_t begin_counting(struct flow *flow, struct thread *thread)
{
	uint32_t others = idmap_get(&flow->calls_open, calls_key(thread));

	others = others == IDMAP_NONE ? 0 : others;
	idmap_set(&flow->calls_open, calls_key(thread), others + 1);
	thread->flow.counted = true;
	return others;
}

static void end_counting(struct flow *flow, struct thread *thread)
{
	uint32_t count;

	if (!thread->flow.counted)
		return;
	count = idmap_get(&flow->calls_open, calls_key(thread));
	if (count != IDMAP_NONE && count > 0)
		idmap_set(&flow->calls_open, calls_key(thread), count - 1);
	thread->flow.counted = false;
}

/* A kernel function does not outlive the system call that it was called in;
 * nor is one open when a call begins. */
void operation_syscall_entry(struct flow *flow, struct thread *thread)
{
	end_counting(flow, thread);
	if (thread->flow.functions) {
		flow->odd[ODD_FUNCTION] += thread->flow.functions->len;
		drop(thread->flow.functions);
	}
}

void operation_values(struct flow *flow, const struct cpu *cpu, struct thread *thread,
		      const struct event_syscall *args)
{
	int64_t known[2];

	if (!flow->facts_wanted)
		return;
	if (!flow->entry_shape)
		flow->entry_shape = intern_id(flow->names, "began_cpu in_flight");
	known[0] = cpu->id;
	known[1] = begin_counting(flow, thread);
	if (!thread->flow.values)
		thread->flow.values = g_byte_array_new();
	thread->flow.values->len = 0;
	if (args->shape)
		facts_put(thread->flow.values, args->shape, args->values, args->value_count);
	facts_put(thread->flow.values, flow->entry_shape, known, G_N_ELEMENTS(known));
}

/* Of the call that was recorded last. */
static void record_values(struct flow *flow, struct thread *thread, uint32_t before,
			  const struct event_syscall *args)
{
	if (!flow->facts_wanted || !thread->flow.values || thread->flow.operation == before)
		return;
	if (args->shape)
		facts_put(thread->flow.values, args->shape, args->values, args->value_count);
	facts_append(flow->timeline, thread->flow.operation, thread->flow.values);
}

void operation_syscall_exit(struct flow *flow, struct cpu *cpu, struct thread *thread,
			    const struct event_syscall *args)
{
	struct open_frame frame = {thread->flow.call.begin,
				   PACK(OPERATION_SYSCALL, thread->flow.call.name), 0,
				   cpu->current};
	uint32_t before = thread->flow.operation;
	int32_t fd;

	if (!flow->operations_wanted)
		return;
	operation_syscall_entry(flow, thread);
	if (thread->flow.call.inherited) { /* "an inherited frame has no latency" */
		if (flow->operations_wanted & OPERATIONS_BY_HALF)
			record_half(flow, thread, cpu->current, &frame, flow->time,
				    OPERATION_ENTRY_UNSEEN);
		return;
	}
	if (flow->resources_wanted)
		frame.ref = call_resource(flow, thread, &fd);
	record(flow, cpu, thread->host, &frame);
	record_values(flow, thread, before, args);
}

/* Of the operation that was recorded last. */
static void request_values(struct flow *flow, const struct request *request)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	int64_t said[] = {request->sectors, request->write, request->readahead, request->meta};

	facts_put(bytes, intern_id(flow->names, "sectors write readahead meta"), said,
		  G_N_ELEMENTS(said));
	if (request->depth >= 0)
		facts_put(bytes, intern_id(flow->names, "depth"), &request->depth, 1);
	if (request->distance >= 0)
		facts_put(bytes, intern_id(flow->names, "distance"), &request->distance, 1);
	facts_append(flow->timeline, flow->timeline->operations.used - 1, bytes);
}

static void request_part(struct flow *flow, const struct request *request, uint32_t what,
			 int64_t begin, int64_t end, uint16_t host, uint32_t cpu)
{
	struct operation operation = {
		.begin = begin,
		.cpu = operation_cpu(cpu),
		.what = what,
		.ref = request->by[0].call,
		.thread = is_thread(request->by[0].thread) ? request->by[0].thread
							   : operation_of_host(host)};
	uint32_t none = 0;

	if (begin == INT64_MIN || end - begin > OPERATION_DURATION_MAX)
		return;
	operation.duration = (uint64_t) (end - begin);
	operation_append(&flow->timeline->operations, &none, &operation);
	if (flow->facts_wanted)
		request_values(flow, request);
}

/* By number: the statedump may name the disk later. */
static uint32_t device_number(struct flow *flow, uint32_t dev)
{
	char text[32];

	g_snprintf(text, sizeof text, "%u:%u", dev >> 20, dev & 0xfffff);
	return intern_id(flow->names, text);
}

void operation_queued(struct flow *flow, const struct cpu *cpu, uint16_t host,
		      const struct request *request)
{
	int64_t begin = request->requeued != INT64_MIN ? request->requeued : request->queued;

	if (flow->operations_wanted)
		request_part(flow, request,
			     PACK(OPERATION_QUEUED, device_number(flow, request->dev)), begin,
			     request->issue, host, cpu->id);
}

void operation_served(struct flow *flow, const struct cpu *cpu, uint16_t host,
		      const struct request *request, uint32_t written_back)
{
	if (flow->exchanges_wanted && !request->doubtful)
		exchange_disk(flow, request, written_back);
	if (flow->operations_wanted && !request->doubtful)
		request_part(flow, request,
			     PACK(OPERATION_SERVED, device_number(flow, request->dev)),
			     request->issue, request->end, host, cpu->id);
}

/* "Waiting for CPU from that time until it is switched in." */
void operation_wait_cpu(struct flow *flow, const struct cpu *cpu, struct thread *thread,
			uint32_t index)
{
	struct operation operation = {.begin = thread->flow.woken,
				      .cpu = operation_cpu(cpu->id),
				      .what = PACK(OPERATION_WAIT_CPU, 0),
				      .thread = index,
				      .ref = cpu->id,
				      .off_cpu = true};
	uint32_t none = 0;

	if ((flow->operations_wanted & 1u << OPERATION_WAIT_CPU) &&
	    thread->flow.woken != INT64_MIN &&
	    flow->time - thread->flow.woken <= OPERATION_DURATION_MAX) {
		operation.duration = (uint64_t) (flow->time - thread->flow.woken);
		operation_append(&flow->timeline->operations, &none, &operation);
	}
	thread->flow.woken = INT64_MIN;
}

void operations_drop_cpu(struct cpu *cpu)
{
	drop(cpu->open);
}

void operations_drop_thread(struct flow *flow, struct thread *thread)
{
	end_counting(flow, thread);
	drop(thread->flow.functions);
}

void operation_frames_end(struct flow *flow, struct thread *thread, uint32_t index, int64_t end)
{
	const struct call *call = &thread->flow.call;
	GArray *functions = thread->flow.functions;
	struct open_frame frame = {call->begin, PACK(OPERATION_SYSCALL, call->name), 0, index};
	int32_t fd;

	if (!(flow->operations_wanted & OPERATIONS_BY_HALF))
		return;
	for (guint i = functions ? functions->len : 0; i-- > 0;)
		record_half(flow, thread, index, &g_array_index(functions, struct open_frame, i),
			    end, OPERATION_OPEN);
	if (!call->open)
		return;
	if (flow->resources_wanted)
		frame.ref = call_resource(flow, thread, &fd);
	record_half(flow, thread, index, &frame, end, OPERATION_OPEN);
}
