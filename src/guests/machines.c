/* SPDX-License-Identifier: MIT */
/* Finding virtual CPUs' threads; see machines.h. */
#include "guests/machines.h"

#include <string.h>

/* How programs call these threads; "#" stands for the number.
 * Source: QEMU's accel/kvm/kvm-accel-ops.c, and the like of the others. */
static const char *const thread_names[] = {
	"CPU #/KVM",   /* QEMU, -name debug-threads=on; libvirt sets it */
	"fc_vcpu #",   /* Firecracker */
	"vcpu#",       /* Cloud Hypervisor */
	"crosvm_vcpu#",
};

static int32_t number_in(const char *pattern, const char *name)
{
	const char *mark = strchr(pattern, '#');
	size_t before = (size_t) (mark - pattern);
	char *end;
	guint64 number;

	if (strncmp(name, pattern, before) != 0 || !g_ascii_isdigit(name[before]))
		return -1;
	number = g_ascii_strtoull(name + before, &end, 10);
	return number < G_MAXINT32 && strcmp(end, mark + 1) == 0 ? (int32_t) number : -1;
}

int32_t vcpu_number_of(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(thread_names); i++) {
		int32_t number = number_in(thread_names[i], name);

		if (number >= 0)
			return number;
	}
	return -1;
}

static void name_vcpu(const struct model *model, struct thread *thread)
{
	int32_t number = vcpu_number_of(intern_text(model->names, thread->name));

	if (number < 0 || thread->kernel)
		return;
	thread->vcpu = true;
	thread->vcpu_number = number;
}

/* --- what they did for the guest -------------------------------------------------------- */

static bool is_call(uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_WORK_SYSCALL || PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL;
}

/* The known stretch from `pos` on has a call. */
static bool has_call(const struct timeline *timeline, const struct track *track,
		     struct track_pos pos, int64_t end)
{
	struct span span;

	while (track_read(timeline, track, &pos, end, &span)) {
		if (is_call(span.leaf))
			return true;
		if (PACK_KIND(span.leaf) == LEAF_UNKNOWN)
			return false;
	}
	return false;
}

static struct interval *at(struct timeline *timeline, const struct track *track,
			   struct track_pos pos)
{
	int64_t begin;

	pos.slot++;
	return track_step_back(timeline, track, &pos, &begin);
}

/* What is a known stretch's begin was not seen to enter: it may be in the guest. */
enum stretch_in {
	IN_NOTHING, /* its states are not known */
	IN_GUEST,   /* a stretch with no call at all */
	IN_FIRST,   /* before the end of its first call, whose entry was not seen */
	IN_OTHERS,
};

/* Without events of entries: a stretch without calls, and the call that it began in. */
static void mark_work(struct timeline *timeline, struct thread *thread, uint32_t ioctl)
{
	struct track_pos pos = {0, 0}, next = pos;
	enum stretch_in in = IN_NOTHING;
	struct span span;

	while (track_read(timeline, &thread->track, &next, thread->end, &span)) {
		uint32_t kind = PACK_KIND(span.leaf);

		if (kind == LEAF_UNKNOWN)
			in = IN_NOTHING;
		else if (in == IN_NOTHING)
			in = has_call(timeline, &thread->track, pos, thread->end)
				     ? IN_FIRST
				     : IN_GUEST;
		else if (in == IN_FIRST && kind == LEAF_WORK_USER)
			in = IN_OTHERS;
		if ((in == IN_GUEST && kind == LEAF_WORK_USER) ||
		    (in == IN_FIRST && span.leaf == PACK(LEAF_WORK_SYSCALL, ioctl))) {
			struct interval *interval = at(timeline, &thread->track, pos);

			interval->leaf = PACK(LEAF_WORK_GUEST, 0);
			interval->ref = 0;
		}
		pos = next;
	}
}

/* --- whose threads are whose ---------------------------------------------------------------- */

bool is_vhost(const struct model *model, const struct thread *machine, const struct thread *thread)
{
	char name[32];

	if (thread->host != machine->host || machine->pid < 0)
		return false;
	g_snprintf(name, sizeof name, "vhost-%d", machine->pid);
	return strcmp(intern_text(model->names, thread->name), name) == 0;
}

bool machine_has(const struct model *model, const struct thread *machine,
		 const struct thread *thread)
{
	if (thread == machine)
		return true;
	return thread->host == machine->host && machine->pid >= 0 &&
	       (thread->pid == machine->pid || is_vhost(model, machine, thread));
}

/* --- machines ---------------------------------------------------------------------------- */

static struct machine *machine_of(GArray *machines, const struct model *model, uint32_t index)
{
	const struct thread *thread = model_thread(model, index);
	struct machine fresh = {index, thread->host, thread->pid, NULL};

	for (guint i = 0; i < machines->len; i++) {
		struct machine *machine = &g_array_index(machines, struct machine, i);

		if (machine->host == thread->host && thread->pid >= 0 &&
		    machine->pid == thread->pid)
			return machine;
	}
	fresh.vcpus = g_array_new(FALSE, FALSE, sizeof(struct vcpu));
	if (thread->pid >= 0) {
		uint32_t leader =
			idmap_get(&model_host(model, thread->host)->tids, (uint32_t) thread->pid);

		fresh.leader = leader == IDMAP_NONE ? index : leader;
	}
	g_array_append_val(machines, fresh);
	return &g_array_index(machines, struct machine, machines->len - 1);
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const struct vcpu *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

/* Those that no name and no event numbers come in the order in which they were made. */
static void number_vcpus(GArray *vcpus)
{
	for (guint i = 0; i < vcpus->len; i++) {
		struct vcpu *vcpu = &g_array_index(vcpus, struct vcpu, i);

		if (vcpu->number == UINT32_MAX)
			vcpu->number = i;
	}
	g_array_sort(vcpus, by_number);
}

static void machine_clear(gpointer data)
{
	g_array_free(((struct machine *) data)->vcpus, TRUE);
}

GArray *machines_new(struct model *model, struct timeline *timeline, bool entries)
{
	GArray *machines = NULL;

	for (uint32_t i = 0; i < model->thread_count; i++) {
		struct thread *thread = model_thread(model, i);
		struct vcpu vcpu = {i, 0};

		name_vcpu(model, thread);
		if (!thread->vcpu)
			continue;
		if (!entries)
			mark_work(timeline, thread, intern_id(model->names, "ioctl"));
		if (!machines) {
			machines = g_array_new(FALSE, FALSE, sizeof(struct machine));
			g_array_set_clear_func(machines, machine_clear);
		}
		vcpu.number = thread->vcpu_number < 0 ? UINT32_MAX : (uint32_t) thread->vcpu_number;
		g_array_append_val(machine_of(machines, model, i)->vcpus, vcpu);
	}
	for (guint i = 0; machines && i < machines->len; i++)
		number_vcpus(g_array_index(machines, struct machine, i).vcpus);
	return machines;
}

void machines_free(GArray *machines)
{
	if (machines)
		g_array_free(machines, TRUE);
}
