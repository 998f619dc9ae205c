/* SPDX-License-Identifier: MIT */
/* Leading guests' waits to their hosts; see behind.h. */
#include "guests/behind.h"

#include "guests/machines.h"

#define HELPERS_MAX 64 /* threads of a machine that are looked at */
#define BACK_MAX 256 /* states of each, back from an interrupt */
#define LATE_MIN INT64_C(200000) /* ns: timers come a little late anyway */
#define LATE_OF 2 /* a late one: half of its lateness the virtual CPU did not run */

struct behind {
	const struct model *model;
	struct timeline *timeline;
	const struct host *guest;
	GArray *helpers; /* uint32_t: threads of the machine that run no virtual CPU */
	uint32_t calls[3]; /* interned: by which they send interrupts */
	int64_t error; /* of the clocks, ns */
};

/* --- who sent the interrupt ----------------------------------------------------------------- */

static void find_helpers(struct behind *behind)
{
	const struct thread *machine = model_thread(behind->model, behind->guest->guest.machine);

	for (uint32_t i = 0; i < behind->model->thread_count; i++) {
		const struct thread *thread = model_thread(behind->model, i);

		if (behind->helpers->len < HELPERS_MAX && !thread->vcpu &&
		    machine_has(behind->model, machine, thread))
			g_array_append_val(behind->helpers, i);
	}
}

static bool sends(const struct behind *behind, const struct thread *thread, uint32_t leaf)
{
	if (thread->kernel ||
	    is_vhost(behind->model, model_thread(behind->model, behind->guest->guest.machine),
		     thread))
		return leaf_wib(leaf) == WIB_WORKING;
	if (PACK_KIND(leaf) != LEAF_WORK_SYSCALL)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(behind->calls); i++)
		if (PACK_NUMBER(leaf) == behind->calls[i])
			return true;
	return false;
}

/* The end of the last stretch before `time` in which the thread may have sent it, cut there;
 * INT64_MIN: none since `from`. */
static int64_t sent_at(const struct behind *behind, const struct thread *thread, int64_t from,
		       int64_t time)
{
	struct track_pos pos;
	const struct interval *at;
	struct span span;
	int64_t begin, end = MIN(time, thread->end);

	if (!track_find(behind->timeline, &thread->track, time, &pos))
		return INT64_MIN;
	track_read(behind->timeline, &thread->track, &pos, thread->end, &span);
	if (span.begin > time)
		return INT64_MIN;
	for (int i = 0; i < BACK_MAX; i++) {
		at = track_step_back(behind->timeline, &thread->track, &pos, &begin);
		if (!at || end <= from)
			return INT64_MIN;
		if (begin < time && sends(behind, thread, at->leaf))
			return end;
		end = MIN(end, begin);
	}
	return INT64_MIN;
}

/* --- reasons -------------------------------------------------------------------------------- */

static void served_on_host(const struct behind *behind, struct block *block, uint32_t object,
			   int64_t from, const struct span *span)
{
	struct reason reason = reason_of_kind(REASON_MACHINE);
	int64_t until = from;

	for (guint i = 0; i < behind->helpers->len; i++) {
		uint32_t index = g_array_index(behind->helpers, uint32_t, i);
		int64_t sent = sent_at(behind, model_thread(behind->model, index), from,
				       span->end + behind->error);

		if (sent > until) {
			until = sent;
			reason.thread = index;
		}
	}
	if (!is_thread(reason.thread))
		return;
	reason.flags = REASON_INFERRED;
	reason.object = object;
	reason.from = from;
	reason.until = MIN(until, span->end);
	if (reason.from < reason.until)
		block->reason = reason_new(behind->timeline, &reason);
}

/* How long of [from, to) the thread was off the CPU. */
static int64_t off_in(const struct behind *behind, uint32_t vcpu, int64_t from, int64_t to)
{
	const struct thread *thread = model_thread(behind->model, vcpu);
	struct track_pos pos;
	struct span span;
	int64_t ns = 0;

	if (!track_find(behind->timeline, &thread->track, from, &pos))
		return 0;
	while (track_read(behind->timeline, &thread->track, &pos, thread->end, &span) &&
	       span.begin < to)
		if (leaf_is_off_cpu(span.leaf))
			ns += MAX(MIN(span.end, to) - MAX(span.begin, from), 0);
	return ns;
}

static void came_late(const struct behind *behind, struct block *block,
		      const struct wake_detail *timer, const struct span *span)
{
	struct reason reason = reason_of_kind(REASON_LATE_TIMER);
	int64_t due = timer->begin + timer->requested;
	uint32_t at = idmap_get(&behind->guest->cpu_index, block->cpu), vcpu;

	if (at == IDMAP_NONE || block->cpu == NO_CPU || timer->begin == 0 || timer->requested < 0 ||
	    due < span->begin || span->end - due < LATE_MIN)
		return;
	vcpu = ((struct cpu *) g_ptr_array_index(behind->guest->cpus, at))->vcpu;
	if (!is_thread(vcpu) ||
	    LATE_OF * off_in(behind, vcpu, due, span->end) < span->end - due + behind->error)
		return;
	reason.thread = vcpu;
	reason.flags = REASON_INFERRED;
	reason.from = due;
	reason.until = span->end;
	reason.ns = timer->requested;
	block->reason = reason_new(behind->timeline, &reason);
}

static bool is_virtio(const struct behind *behind, uint32_t label)
{
	return g_str_has_prefix(intern_text(behind->model->names, label), "virtio");
}

static void explain(const struct behind *behind, uint32_t thread, const struct span *span)
{
	struct block *block = block_at(behind->timeline, span->ref);
	const struct wake_detail *detail =
		block->detail ? detail_at(behind->timeline, block->detail) : NULL;
	g_autofree char *key = NULL;

	if (block->reason || block->kind == WAKER_NONE || block->kind == WAKER_UNKNOWN)
		return;
	if (detail && detail->kind == DETAIL_TIMER) {
		came_late(behind, block, detail, span);
	} else if (detail && detail->kind == DETAIL_REQUEST && detail->begin &&
		   (detail->thread == thread || detail->begin <= span->begin) &&
		   block->kind != WAKER_THREAD) {
		key = g_strconcat("device:", intern_text(behind->model->names, detail->text), NULL);
		served_on_host(behind, block, intern_id(behind->model->names, key),
			       MAX(detail->begin, span->begin), span);
	} else if (!detail && block->kind == WAKER_IRQ && is_virtio(behind, block->label)) {
		key = g_strconcat("device:", intern_text(behind->model->names, block->label), NULL);
		served_on_host(behind, block, intern_id(behind->model->names, key), span->begin,
			       span);
	}
}

static void explain_thread(const struct behind *behind, uint32_t index)
{
	const struct thread *thread = model_thread(behind->model, index);
	struct track_pos pos = {0, 0};
	struct span span;

	while (track_read_off_cpu(behind->timeline, &thread->track, &pos, thread->end, &span))
		if (leaf_is_blocked(span.leaf))
			explain(behind, index, &span);
}

static int64_t error_of(const struct model *model, const struct host *guest)
{
	const struct host *host =
		model_host(model, model_thread(model, guest->guest.machine)->host);

	return MAX(guest->clock.error, 0) + MAX(host->clock.error, 0);
}

void behind_apply(const struct model *model, struct timeline *timeline)
{
	static const char *const calls[] = {"write", "ioctl", "writev"};
	struct behind behind = {.model = model, .timeline = timeline};

	for (uint16_t number = 0; number < model->hosts->len; number++) {
		behind.guest = model_host(model, number);
		if (!is_thread(behind.guest->guest.machine))
			continue;
		behind.helpers = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		behind.error = error_of(model, behind.guest);
		for (size_t i = 0; i < G_N_ELEMENTS(calls); i++)
			behind.calls[i] = intern_id(model->names, calls[i]);
		find_helpers(&behind);
		for (uint32_t i = 0; i < model->thread_count; i++)
			if (model_thread(model, i)->host == number)
				explain_thread(&behind, i);
		g_array_free(behind.helpers, TRUE);
	}
}
