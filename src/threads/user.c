/* SPDX-License-Identifier: MIT */
/* Events of user-space traces: functions on the stacks of their threads, and what is loaded.
 *
 *   user function ─► … ─► system call ─► kernel function ─► interrupt
 *   thread->flow.user     flow.call       flow.functions     cpu->frames
 *
 * Part of threads/. User functions lie under system calls, and are "detail below the leaf around
 * it": no state depends on them, nor does anything else that is told of the kernel's trace. So
 * nothing here makes a thread, a CPU or a host, or moves the clock.
 *
 * An entry without its exit: longjmp(), an exception, exit(), or lost events. The exit of a
 * function ends those that were entered inside it. An exit whose function is not open (its
 * thread was in it when the recording began) is dropped. Both are counted.
 *
 * The fast variant's exit does not say of what, so it ends the innermost: after lost events
 * nothing that was open is believed any more.
 *
 * Source: semantics.md, "The control-flow stack of a thread".
 */
#include "threads/user.h"

#include "model/container.h"
#include "model/images.h"

#define DEEP 65536 /* nested functions: more are a stack that nobody leaves, by longjmp() */

static void count_odd(struct flow *flow, enum odd what, uint64_t count)
{
	if (flow->operations_wanted & 1u << OPERATION_USER)
		flow->odd[what] += count;
}

/* --- whose event it is ------------------------------------------------------------ */

/* What the process calls it fits what is known of the thread. */
static bool ids_fit(const struct flow *flow, const struct thread *thread, const struct event *event)
{
	struct ids ids;
	bool inside = thread_inner_ids(flow->model, thread, &ids);

	if (ids.tid != event->tid && !(inside && !ids.tid))
		return false;
	return !event->has_pid || ids.pid <= 0 || ids.pid == event->pid;
}

/* Who the event's CPU runs, if it may be him: he may have been moved between asking for the CPU
 * and the clock. Else who has that TID on the host. */
static struct thread *thread_of(struct flow *flow, const struct event *event, uint32_t *index)
{
	const struct host *host = model_host(flow->model, event->host);
	uint32_t at = idmap_get(&host->cpu_index, event->cpu);
	const struct cpu *cpu = at == IDMAP_NONE ? NULL : g_ptr_array_index(host->cpus, at);
	struct thread *thread;
	struct ids ids;

	*index = cpu && event->time >= cpu->gap_end ? cpu->current : NO_THREAD;
	if (is_thread(*index) &&
	    (!event->has_tid || ids_fit(flow, flow_thread(flow, *index), event)))
		return flow_thread(flow, *index);
	*index = event->has_tid ? thread_find(flow, event->host, event->tid) : NO_THREAD;
	if (!is_thread(*index))
		return NULL;
	thread = flow_thread(flow, *index);
	return thread->state == THREAD_DEAD || thread_inner_ids(flow->model, thread, &ids) ||
			       !ids_fit(flow, thread, event)
		       ? NULL
		       : thread;
}

static struct user_stack *stack_of(struct thread *thread)
{
	if (!thread->flow.user)
		thread->flow.user = user_stack_new();
	return thread->flow.user;
}

/* --- functions ---------------------------------------------------------------------- */

static uint32_t name_of(struct flow *flow, uint64_t address)
{
	return flow_function(flow, &flow->user_addresses, address);
}

static struct user_frame *frame_at(const struct user_stack *stack, guint i)
{
	return &g_array_index(stack->frames, struct user_frame, i);
}

static void enter(struct flow *flow, struct user_stack *stack, const struct event *event)
{
	struct user_frame frame = {.begin = event->time,
				   .address = event->user.address,
				   .call_site = event->user.call_site};

	flow->user.entries++;
	frame.name = name_of(flow, frame.address);
	if (stack->frames->len >= DEEP) {
		flow->user.deep++;
		count_odd(flow, ODD_USER_FUNCTION, stack->frames->len);
		g_array_set_size(stack->frames, 0);
	}
	g_array_append_val(stack->frames, frame);
}

static bool is_left_by(const struct user_frame *frame, const struct event *event)
{
	if (!event->user.address)
		return true;
	return frame->address == event->user.address && frame->call_site == event->user.call_site;
}

static void record(struct flow *flow, struct thread *thread, uint32_t index,
		   const struct user_frame *frame, int64_t end, uint32_t cpu,
		   enum operation_half half)
{
	int64_t begin = frame->inherited ? MAX(frame->begin, thread->begin) : frame->begin;
	struct operation operation = {.begin = begin,
				      .duration = (uint64_t) (end - begin),
				      .cpu = operation_cpu(cpu),
				      .half = frame->inherited ? OPERATION_ENTRY_UNSEEN : half,
				      .what = PACK(OPERATION_USER, frame->name),
				      .thread = index,
				      .off_cpu = thread->flow.left >= frame->begin};

	if (!(flow->operations_wanted & 1u << OPERATION_USER) ||
	    (operation.half && !(flow->operations_wanted & OPERATIONS_BY_HALF)) ||
	    begin == INT64_MIN || end < begin || end - begin > OPERATION_DURATION_MAX)
		return;
	operation_append(&flow->timeline->operations, &thread->flow.operation, &operation);
}

/* It was in the function when the recording began, or went on after a gap. */
static void leave_unseen(struct flow *flow, struct thread *thread, uint32_t index,
			 const struct event *event)
{
	struct user_stack *stack = thread->flow.user;
	struct user_frame frame = {.begin = MAX(thread->begin, stack->from),
				   .address = event->user.address};

	flow->user.entries_unseen++;
	count_odd(flow, ODD_USER_FUNCTION, 1);
	if (!frame.address || stack->frames->len) /* of what, or in which, is not known */
		return;
	frame.name = name_of(flow, frame.address);
	record(flow, thread, index, &frame, event->time, event->cpu, OPERATION_ENTRY_UNSEEN);
}

static void leave(struct flow *flow, struct thread *thread, uint32_t index,
		  const struct event *event)
{
	struct user_stack *stack = thread->flow.user;
	guint inner;

	flow->user.exits++;
	for (guint i = stack->frames->len; i-- > 0;) {
		if (!is_left_by(frame_at(stack, i), event))
			continue;
		inner = stack->frames->len - i - 1;
		flow->user.exits_unseen += inner;
		count_odd(flow, ODD_USER_FUNCTION, inner);
		record(flow, thread, index, frame_at(stack, i), event->time, event->cpu,
		       OPERATION_WHOLE);
		g_array_set_size(stack->frames, i);
		return;
	}
	leave_unseen(flow, thread, index, event);
}

void user_frames_end(struct flow *flow, struct thread *thread, uint32_t index, int64_t end)
{
	struct user_stack *stack = thread->flow.user;

	for (guint i = stack ? stack->frames->len : 0; i-- > 0;)
		record(flow, thread, index, frame_at(stack, i), end, thread->flow.cpu,
		       OPERATION_OPEN);
}

/* Events of the thread may have been lost since its last one. */
static void drop_doubtful_frames(struct flow *flow, struct user_stack *stack,
				 const struct event *event)
{
	const struct host *host = model_host(flow->model, event->host);
	guint kept = stack->frames->len;

	if (!host->user_gaps || !host_user_gap_over(host, stack->seen, event->time))
		return;
	while (kept && !frame_at(stack, kept - 1)->call_site)
		kept--;
	flow->user.dropped += stack->frames->len - kept;
	count_odd(flow, ODD_USER_FUNCTION, stack->frames->len - kept);
	g_array_set_size(stack->frames, kept);
	stack->from = event->time;
}

/* --- what is loaded ------------------------------------------------------------------- */

static void change_image(struct flow *flow, const struct event *event, int32_t pid)
{
	struct loaded_image new = {.from = event->time,
				   .base = event->user.address,
				   .size = event->user.size,
				   .pic = event->user.pic,
				   .pid = pid,
				   .host = event->host};

	switch (event->kind) {
	case EV_USER_IMAGE:
	case EV_USER_LOAD:
		if (!event->user.path)
			return;
		new.path = intern_id(flow->names, event->user.path);
		model_image_loaded(flow->model, &new, event->kind == EV_USER_LOAD);
		break;
	case EV_USER_UNLOAD:
		model_image_unloaded(flow->model, event->host, pid, event->user.address,
				     event->time);
		break;
	default:
		if (event->user.build_id.bytes)
			model_image_build_id(flow->model, event->host, pid, event->user.address,
					     event->user.build_id.bytes,
					     event->user.build_id.count);
		break;
	}
}

/* --- steps ----------------------------------------------------------------------------- */

void user_step(struct flow *flow, const struct event *event)
{
	uint32_t index;
	struct thread *thread;
	struct user_stack *stack;
	struct ids ids;

	if (event->kind == EV_USER_OTHER)
		return;
	thread = thread_of(flow, event, &index);
	if (!thread) {
		flow->user.no_thread++;
		count_odd(flow, ODD_USER_THREAD, 1);
		if (event->kind > EV_USER_EXIT && event->has_pid) /* as the host calls it, then */
			change_image(flow, event, event->pid);
		return;
	}
	stack = stack_of(thread);
	if (event->has_pid && !thread_inner_ids(flow->model, thread, &ids))
		stack->pid = event->pid;
	if (event->kind > EV_USER_EXIT) {
		if (thread_process(thread) != NO_PID)
			change_image(flow, event, thread_process(thread));
		return;
	}
	drop_doubtful_frames(flow, stack, event);
	stack->seen = event->time;
	if (event->kind == EV_USER_ENTRY)
		enter(flow, stack, event);
	else
		leave(flow, thread, index, event);
}

void user_gap_begin(struct flow *flow, const struct event *notice)
{
	struct host *host = model_host(flow->model, notice->host);
	struct gap gap = {.begin = notice->time,
			  .end = notice->lost.end,
			  .cpu = notice->cpu,
			  .events = notice->lost.count};

	if (!host->user_gaps)
		host->user_gaps = g_array_new(FALSE, FALSE, sizeof(struct gap));
	host_add_gap(host->user_gaps, &gap);
	flow->user.lost += gap.events > 0 ? (uint64_t) gap.events : 1;
}

/* A process's first thread goes on in the functions that its parent was in. */
void user_fork(struct flow *flow, struct thread *child, const struct thread *parent)
{
	struct user_stack *stack;

	if (child->pid != child->tid)
		return;
	if (thread_process(parent) != NO_PID)
		model_images_fork(flow->model, child->host, thread_process(parent), child->pid,
				  flow->time);
	if (!parent->flow.user || !parent->flow.user->frames->len)
		return;
	stack = stack_of(child);
	stack->seen = parent->flow.user->seen;
	g_array_append_vals(stack->frames, parent->flow.user->frames->data,
			    parent->flow.user->frames->len);
	for (guint i = 0; i < stack->frames->len; i++)
		frame_at(stack, i)->inherited = true;
}

/* "A successful execve … drops its user function frames." */
void user_exec(struct flow *flow, struct thread *thread, uint32_t index)
{
	user_frames_end(flow, thread, index, flow->time);
	if (thread->flow.user) {
		g_array_set_size(thread->flow.user->frames, 0);
		thread->flow.user->from = flow->time;
	}
	if (thread_process(thread) != NO_PID)
		model_images_exec(flow->model, thread->host, thread_process(thread), flow->time);
}

void user_program(struct flow *flow, const struct thread *thread)
{
	if (flow->has_user_stacks && thread_process(thread) != NO_PID)
		model_image_program(flow->model, thread->host, thread_process(thread),
				    thread->program, flow->time);
}
