/* SPDX-License-Identifier: MIT */
/* Tries that are about who is at the other end; see peer_tries.h. */
#include "tries/peer_tries.h"

#include <string.h>

#include "model/files.h"
#include "objects/calls.h"

#define NO_SUCH_FILE 2 /* ENOENT, EAGAIN, ECONNREFUSED, EINPROGRESS of the traced kernel */
#define TRY_AGAIN 11
#define REFUSED 111
#define IN_PROGRESS 115

enum family { FAMILY_OF_FILES, FAMILY_OF_ADDRESSES };

static enum family family_of(const struct flow *flow, uint32_t key)
{
	return strcmp(intern_text(flow->names, key), "socket:unix") == 0
		       ? FAMILY_OF_FILES
		       : FAMILY_OF_ADDRESSES;
}

static uint32_t socket_of(struct flow *flow, uint32_t index)
{
	struct thread *thread = flow_thread(flow, index);

	return fd_key(thread_files(flow, thread), thread->flow.call.fd);
}

bool socket_is_unix(struct flow *flow, uint32_t index)
{
	return family_of(flow, socket_of(flow, index)) == FAMILY_OF_FILES;
}

static void explain(struct flow *flow, struct try *try, enum reason_kind kind)
{
	struct reason reason = reason_of_kind(kind);

	reason.thread = is_thread(try->maker) ? try->maker : NO_THREAD;
	reason.from = try->since;
	reason.until = is_thread(try->maker) ? try->made : try->since;
	try_explained(flow, try, &reason, 0);
}

static bool same_process(const struct flow *flow, uint32_t a, uint32_t b)
{
	const struct thread *x = model_thread(flow->model, a), *y = model_thread(flow->model, b);

	return a == b || (x->pid >= 0 && x->pid == y->pid);
}

static void connected(struct flow *flow, uint32_t index, const struct try *like)
{
	struct try *try = try_succeeds(flow, index, like);

	if (!try)
		return;
	if (!is_thread(try->maker) || !same_process(flow, index, try->maker))
		explain(flow, try, REASON_LISTENS);
	try_drop(flow, try);
}

void peer_connected(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct thread *thread = flow_thread(flow, index);
	uint32_t object =
		thread->flow.call.address ? thread->flow.call.address : socket_of(flow, index);
	struct try like = {.kind = TRY_LISTENER,
			   .id = try_id(thread->host, TRY_LISTENER, family_of(flow, object)),
			   .number = object,
			   .object = object,
			   .call = thread->flow.call.name,
			   .result = ret == -NO_SUCH_FILE ? -NO_SUCH_FILE : -REFUSED,
			   .target = NO_THREAD};

	if (!object)
		return;
	if (ret == -REFUSED || ret == -NO_SUCH_FILE) {
		try_failed(flow, index, &like);
		return;
	}
	if ((ret != 0 && ret != -IN_PROGRESS) || !tries_any(flow, TRY_LISTENER))
		return;
	connected(flow, index, &like);
	if (thread->born && is_thread(thread->parent) &&
	    flow_thread(flow, thread->parent)->flow.tries)
		connected(flow, thread->parent, &like);
}

void peer_listens(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct thread *thread = flow_thread(flow, index);
	uint32_t host = thread->host;
	uint32_t leader = thread->pid > 0 ? thread_find(flow, host, thread->pid) : IDMAP_NONE;

	if (ret == 0) {
		struct open_file *file =
			fd_file(thread_files(flow, flow_thread(flow, index)), thread->flow.call.fd);

		flow_thread(flow, leader == IDMAP_NONE ? index : leader)->listens = true;
		if (file)
			file->listens = true;
	}
	if (ret == 0 && tries_any(flow, TRY_LISTENER))
		tries_made(flow,
			   try_id(host, TRY_LISTENER, family_of(flow, socket_of(flow, index))),
			   index, NULL, 0, true);
}

static bool is_shared(const char *key)
{
	return g_str_has_prefix(key, "pipe:") || g_str_has_prefix(key, "socket:pair#") ||
	       g_str_has_prefix(key, "file:");
}

static struct try try_of_input(struct flow *flow, uint32_t index, uint32_t object)
{
	const struct thread *thread = flow_thread(flow, index);

	return (struct try) {.kind = TRY_INPUT,
			     .id = try_id(thread->host, TRY_INPUT, object),
			     .number = object,
			     .object = object,
			     .call = thread->flow.call.name,
			     .result = -TRY_AGAIN,
			     .target = NO_THREAD};
}

uint32_t peer_input_maker(struct flow *flow, uint32_t index, uint32_t object)
{
	struct try like = try_of_input(flow, index, object);
	const struct try *try =
		object && tries_any(flow, TRY_INPUT) ? try_find(flow, index, &like) : NULL;

	return try && is_thread(try->maker) ? try->maker : NO_THREAD;
}

void peer_read(struct flow *flow, uint32_t index, int64_t ret)
{
	uint32_t object;
	struct try like, *try;

	if (ret != -TRY_AGAIN && (ret <= 0 || !tries_any(flow, TRY_INPUT)))
		return;
	object = socket_of(flow, index);
	if (!object || !is_shared(intern_text(flow->names, object)))
		return;
	like = try_of_input(flow, index, object);
	if (ret == -TRY_AGAIN) {
		try_failed(flow, index, &like);
		return;
	}
	try = try_succeeds(flow, index, &like);
	if (!try)
		return;
	if (try->maker != NO_THREAD && try->count > 1)
		explain(flow, try, REASON_INPUT);
	try_drop(flow, try);
}

void peer_written(struct flow *flow, uint32_t index, int64_t ret)
{
	uint32_t object;

	if (ret <= 0 || !tries_any(flow, TRY_INPUT))
		return;
	object = socket_of(flow, index);
	if (object)
		tries_made(flow, try_id(flow_thread(flow, index)->host, TRY_INPUT, object), index,
			   NULL, 0, false);
}
