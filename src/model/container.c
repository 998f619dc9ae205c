/* SPDX-License-Identifier: MIT */
/* PID and cgroup namespaces; see container.h. */
#include "model/container.h"

#include "model/model.h"

/* Index 0 of model.places is no place. */
static struct place *place_of(const struct model *model, const struct thread *thread)
{
	return thread->place ? &g_array_index(model->places, struct place, thread->place) : NULL;
}

const struct place *thread_place(const struct model *model, const struct thread *thread)
{
	return place_of(model, thread);
}

static struct ids *ids_at(const struct model *model, const struct place *place, uint32_t level)
{
	return &g_array_index(model->ids, struct ids, place->ids + level - 1);
}

const struct pid_ns *pid_ns_find(const struct model *model, uint32_t host, uint32_t number)
{
	const struct host *at = model_host(model, host);
	uint32_t index = number ? idmap_get(&at->namespace_index, number) : IDMAP_NONE;

	return index == IDMAP_NONE ? NULL : &g_array_index(at->namespaces, struct pid_ns, index);
}

static void pid_ns_add(struct model *model, const struct thread *thread, uint32_t number,
		       uint32_t level)
{
	struct pid_ns fresh = {.number = number, .level = level};
	struct host *host = model_host(model, thread->host);

	if (!number || pid_ns_find(model, thread->host, number))
		return;
	idmap_set(&host->namespace_index, number, host->namespaces->len);
	g_array_append_val(host->namespaces, fresh);
}

/* `parent` is the namespace around `number`. Numbers are used again, perhaps at another
 * level: only one level up is a parent, so that no way up comes back. */
static void pid_ns_set_parent(struct model *model, const struct thread *thread, uint32_t number,
			      uint32_t parent)
{
	struct pid_ns *inner = (struct pid_ns *) pid_ns_find(model, thread->host, number);
	const struct pid_ns *outer = pid_ns_find(model, thread->host, parent);

	if (inner && outer && !inner->parent && inner->level == outer->level + 1)
		inner->parent = parent;
}

/* The number of the namespace at `level` that the thread is visible in, 0. */
static uint32_t number_at(const struct model *model, const struct thread *thread,
			  const struct place *place, uint32_t level)
{
	uint32_t number = place->pid_ns;

	for (uint32_t at = place->level; at > level && number; at--) {
		const struct pid_ns *inner = pid_ns_find(model, thread->host, number);

		number = inner ? inner->parent : 0;
	}
	return number;
}

bool thread_in_pid_ns(const struct model *model, const struct thread *thread, uint32_t number,
		      struct ids *ids)
{
	const struct place *place = place_of(model, thread);
	const struct pid_ns *wanted = pid_ns_find(model, thread->host, number);

	if (!place || !wanted || place->level < wanted->level ||
	    number_at(model, thread, place, wanted->level) != number)
		return false;
	return !ids || thread_ids_at(model, thread, wanted->level, ids);
}

/* --- by number --------------------------------------------------------------------- */

#define BY_PARENT (UINT64_C(1) << 31) /* no TID's: the namespace is that of a process's children */

static uint64_t number_key(uint32_t pid_ns, int32_t tid)
{
	return (uint64_t) pid_ns << 32 | (uint32_t) tid;
}

static uint64_t child_key(const struct thread *caller, int32_t tid)
{
	return (uint64_t) (uint32_t) caller->pid << 32 | BY_PARENT | (uint32_t) tid;
}

void thread_index_ids(struct model *model, uint32_t index)
{
	const struct thread *thread = model_thread(model, index);
	const struct place *place = place_of(model, thread);

	for (uint32_t level = place ? place->level : 0; level > 0; level--) {
		uint32_t number = number_at(model, thread, place, level);
		int32_t tid = ids_at(model, place, level)->tid;

		if (number && tid > 0)
			idmap_set(&model_host(model, thread->host)->inner_tids,
				  number_key(number, tid), index);
	}
}

/* A thread that is gone leaves its entries: the number of its record may be another's since. */
static bool thread_still_numbered(const struct model *model, uint64_t key, uint32_t index)
{
	const struct thread *thread = model_thread(model, index);
	struct ids ids;

	if (key & BY_PARENT)
		return is_thread(thread->parent) &&
		       key == child_key(model_thread(model, thread->parent),
					(int32_t) (key & INT32_MAX));
	return thread_in_pid_ns(model, thread, (uint32_t) (key >> 32), &ids) &&
	       ids.tid == (int32_t) (uint32_t) key;
}

uint32_t thread_by_number(const struct model *model, const struct thread *caller, int32_t number)
{
	const struct host *host = model_host(model, caller->host);
	const struct place *place = place_of(model, caller);
	uint64_t key;
	uint32_t index;

	if (number <= 0)
		return NO_THREAD;
	if (!caller->contained && (!place || place->level == 0)) {
		index = idmap_get(&host->tids, (uint32_t) number);
		return index == IDMAP_NONE ? NO_THREAD : index;
	}
	key = place && place->level && place->pid_ns ? number_key(place->pid_ns, number)
						     : child_key(caller, number);
	index = idmap_get(&host->inner_tids, key);
	return index != IDMAP_NONE && thread_still_numbered(model, key, index) ? index : NO_THREAD;
}

void thread_numbered(struct model *model, struct thread *caller, int32_t number, uint32_t index)
{
	const struct place *place = place_of(model, caller);

	if (place && place->pid_ns)
		return; /* its namespace is known, and the fork has told the child's number */
	if (!caller->contained && number == model_thread(model, index)->tid)
		return;
	caller->contained = true;
	idmap_set(&model_host(model, caller->host)->inner_tids, child_key(caller, number), index);
}

bool thread_ids_at(const struct model *model, const struct thread *thread, uint32_t level,
		   struct ids *ids)
{
	const struct place *place = place_of(model, thread);

	*ids = (struct ids) {thread->tid, thread->pid};
	if (level == 0)
		return true;
	if (!place || place->level < level)
		return false;
	*ids = *ids_at(model, place, level);
	return true;
}

bool thread_inner_ids(const struct model *model, const struct thread *thread, struct ids *ids)
{
	const struct place *place = place_of(model, thread);

	return thread_ids_at(model, thread, place ? place->level : 0, ids) && place && place->level;
}

/* The place that threads of the host share. */
static uint32_t shared_place(struct model *model, uint32_t pid_ns, uint32_t cgroup_ns)
{
	uint64_t key = (uint64_t) pid_ns << 32 | cgroup_ns;
	uint32_t index = idmap_get(&model->shared_places, key);
	struct place place = {.pid_ns = pid_ns, .cgroup_ns = cgroup_ns};

	if (index != IDMAP_NONE)
		return index;
	index = model->places->len;
	g_array_append_val(model->places, place);
	idmap_set(&model->shared_places, key, index);
	return index;
}

/* A place of the thread's own, `level` deep; ids known before stay. */
static struct place *own_place(struct model *model, struct thread *thread, uint32_t level)
{
	const struct place *old = place_of(model, thread);
	struct place place = {.cgroup_ns = old ? old->cgroup_ns : 0,
			      .level = level,
			      .ids = model->ids->len};

	g_array_set_size(model->ids, model->ids->len + level);
	for (uint32_t i = 1; old && i <= MIN(level, old->level); i++)
		*ids_at(model, &place, i) = *ids_at(model, old, i);
	thread->place = model->places->len;
	g_array_append_val(model->places, place);
	return place_of(model, thread);
}

void thread_set_ids(struct model *model, struct thread *thread, uint32_t level, uint32_t number,
		    struct ids ids)
{
	struct place *place = place_of(model, thread);

	if (level > MAX_PID_NS_LEVEL)
		return; /* damaged */
	pid_ns_add(model, thread, number, level);
	if (level == 0 && (!place || place->level == 0)) {
		thread->place = shared_place(model, number || !place ? number : place->pid_ns,
					     place ? place->cgroup_ns : 0);
		return;
	}
	if (!place || place->level < level)
		place = own_place(model, thread, level);
	if (place->level > level)
		pid_ns_set_parent(model, thread, number_at(model, thread, place, level + 1),
				  number);
	else if (number)
		place->pid_ns = number;
	if (level)
		*ids_at(model, place, level) = ids;
}

void thread_set_cgroup_ns(struct model *model, struct thread *thread, uint32_t number)
{
	struct place *place = place_of(model, thread);

	if (!place || place->level == 0)
		thread->place = shared_place(model, place ? place->pid_ns : 0, number);
	else
		place->cgroup_ns = number;
}

void thread_share_place(struct model *model, struct thread *child, const struct thread *parent)
{
	const struct place *from = place_of(model, parent);
	struct place *place;
	uint32_t pid_ns, cgroup_ns;

	child->place = parent->place;
	if (!from || from->level == 0)
		return;
	pid_ns = from->pid_ns;
	cgroup_ns = from->cgroup_ns;
	child->place = 0;
	place = own_place(model, child, from->level);
	place->pid_ns = pid_ns;
	place->cgroup_ns = cgroup_ns;
}

void thread_takes_lead(struct model *model, const struct thread *thread)
{
	const struct place *place = place_of(model, thread);

	for (uint32_t level = 1; place && level <= place->level; level++)
		ids_at(model, place, level)->tid = ids_at(model, place, level)->pid;
}
