/* SPDX-License-Identifier: MIT */
/* Mappings of processes, by their system calls; see mappings.h. */
#include "objects/mappings.h"

#include <string.h>

#include "model/container.h"
#include "model/files.h"
#include "model/images.h"
#include "model/memory.h"

/* linux/mman.h */
#define WRITABLE_BIT 2
#define EXECUTABLE_BIT 4
#define SHARED_BIT UINT64_C(1)
#define ANONYMOUS_BIT UINT64_C(0x20)
#define STACK_BIT UINT64_C(0x20000)

static const char *const area_keys[] = {
	[AREA_ANONYMOUS] = "anonymous",
	[AREA_STACK] = "stack",
	[AREA_HEAP] = "heap",
	[AREA_LOADER] = "loader",
};

/* The threads of one process share one unless known otherwise. */
static struct memory *thread_memory(struct flow *flow, struct thread *thread)
{
	struct thread *leader;
	uint32_t index;

	if (thread->memory)
		return thread->memory;
	index = thread->pid > 0 && thread->pid != thread->tid
			? thread_find(flow, thread->host, thread->pid)
			: IDMAP_NONE;
	leader = index == IDMAP_NONE ? NULL : flow_thread(flow, index);
	if (leader && leader->state != THREAD_DEAD && leader->pid == thread->pid)
		thread->memory = memory_join(thread_memory(flow, leader));
	else
		thread->memory = memory_new();
	return thread->memory;
}

/* What mmap has mapped: a file if its descriptor is known as one. */
static struct area_is mapped(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint32_t key;

	if (call->flags & ANONYMOUS_BIT)
		return (struct area_is) {call->flags & STACK_BIT ? AREA_STACK : AREA_ANONYMOUS};
	key = fd_key(thread_files(flow, thread), call->fd);
	if (!key || !g_str_has_prefix(intern_text(flow->names, key), "file:"))
		return (struct area_is) {AREA_UNKNOWN};
	return (struct area_is) {AREA_FILE, key,
				 call->flags & SHARED_BIT && call->op & WRITABLE_BIT};
}

/* A library, for those who name its functions: it begins where its first piece, from the file's
 * begin on, was mapped; the loader maps the others over that (glibc's elf/dl-map-segments.h). */
static void map_library(struct flow *flow, struct thread *thread, uint64_t begin,
			struct area_is what)
{
	const struct call *call = &thread->flow.call;
	struct loaded_image image = {.from = flow->time,
				     .pic = true,
				     .pid = thread_process(thread),
				     .host = thread->host};
	uint64_t end;

	if (!(call->op & EXECUTABLE_BIT) || what.kind != AREA_FILE || image.pid == NO_PID)
		return;
	if (!memory_file_at(thread_memory(flow, thread), begin, what.key, &image.base, &end)) {
		image.base = begin - (uint64_t) call->argument;
		end = begin + call->length;
	}
	image.size = end - image.base;
	image.path = intern_id(flow->names, intern_text(flow->names, what.key) + strlen("file:"));
	model_image_loaded(flow->model, &image, true);
}

void mapping_changed(struct flow *flow, struct thread *thread, int64_t ret)
{
	const struct call *call = &thread->flow.call;
	struct memory *memory = thread_memory(flow, thread);
	struct area_is what;

	switch (flow_call_info(flow, call->name)->effect) {
	case DOES_MAP:
		what = mapped(flow, thread);
		if (flow->has_user_stacks)
			map_library(flow, thread, (uint64_t) ret, what);
		memory_map(memory, (uint64_t) ret, call->length, what);
		break;
	case DOES_UNMAP:
		memory_unmap(memory, call->start, call->length);
		break;
	case DOES_REMAP:
		memory_move(memory, call->start, call->length, (uint64_t) ret,
			    (uint64_t) call->argument);
		break;
	default:
		memory_set_break(memory, (uint64_t) ret);
		break;
	}
}

void mappings_fork(struct flow *flow, struct thread *child, struct thread *parent, bool shared)
{
	struct memory *memory = thread_memory(flow, parent);

	memory_leave(&child->memory);
	child->memory = shared ? memory_join(memory) : memory_copy(memory);
}

void mappings_exec(struct flow *flow, struct thread *thread, bool named)
{
	memory_leave(&thread->memory);
	thread->memory = memory_of_program(
		named ? key_format(flow, "file:%s", intern_text(flow->names, thread->program)) : 0);
}

uint32_t mapping_key(struct flow *flow, struct thread *thread, uint64_t address)
{
	struct area_is area = memory_at(thread_memory(flow, thread), address);

	if (area.kind == AREA_FILE)
		return area.key;
	return area.kind ? intern_id(flow->names, area_keys[area.kind]) : 0;
}

uint32_t mapping_written(struct flow *flow, struct thread *thread, uint64_t address)
{
	struct area_is area = memory_at(thread_memory(flow, thread), address);

	return area.kind == AREA_FILE && area.written ? area.key : 0;
}

bool mapping_is_anonymous(struct flow *flow, uint32_t key)
{
	const char *text = intern_text(flow->names, key);

	return key && (strcmp(text, area_keys[AREA_ANONYMOUS]) == 0 ||
		       strcmp(text, area_keys[AREA_STACK]) == 0 ||
		       strcmp(text, area_keys[AREA_HEAP]) == 0);
}
