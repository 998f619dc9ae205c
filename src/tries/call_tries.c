/* SPDX-License-Identifier: MIT */
/* See call_tries.h. */
#include "tries/call_tries.h"

#include <string.h>

#include "model/files.h"
#include "objects/calls.h"

#define FAILURES_MIN 2 /* one failure and a pause may be chance */
#define SHORTAGE_MIN 3 /* … of what goes on failing */

/* Of the traced kernel. */
enum {
	IO_ERROR = 5,
	AGAIN = 11,
	OUT_OF_MEMORY = 12,
	BUSY = 16,
	TABLE_OVERFLOW = 23,
	TOO_MANY_FILES = 24,
	TEXT_BUSY = 26,
	DISK_FULL = 28,
	LOCKS_OUT = 37,
	NOT_EMPTY = 39,
	ADDRESS_IN_USE = 98,
	ADDRESS_NOT_AVAILABLE = 99,
	NETWORK_DOWN = 100,
	NETWORK_UNREACHABLE = 101,
	CONNECTION_ABORTED = 103,
	CONNECTION_RESET = 104,
	NO_BUFFERS = 105,
	HOST_DOWN = 112,
	HOST_UNREACHABLE = 113,
	STALE = 116,
	OVER_QUOTA = 122,
};

/* It may go well a little later. */
static bool may_pass(const struct flow *flow, const struct call *call, int64_t ret)
{
	switch (ret) {
	case -IO_ERROR:
	case -OUT_OF_MEMORY:
	case -BUSY:
	case -TABLE_OVERFLOW:
	case -TOO_MANY_FILES:
	case -TEXT_BUSY:
	case -DISK_FULL:
	case -LOCKS_OUT:
	case -NOT_EMPTY:
	case -ADDRESS_IN_USE:
	case -ADDRESS_NOT_AVAILABLE:
	case -NETWORK_DOWN:
	case -NETWORK_UNREACHABLE:
	case -CONNECTION_ABORTED:
	case -CONNECTION_RESET:
	case -NO_BUFFERS:
	case -HOST_DOWN:
	case -HOST_UNREACHABLE:
	case -STALE:
	case -OVER_QUOTA:
		return true;
	case -AGAIN: /* of others it means that there is nothing yet */
		return flow_call_info(flow, call->name)->effect == DOES_FORK;
	default:
		return false;
	}
}

/* There are not enough of something: nobody looks whether a port is free once a second. */
static bool is_shortage(int64_t ret)
{
	return ret == -AGAIN || ret == -OUT_OF_MEMORY || ret == -TABLE_OVERFLOW ||
	       ret == -TOO_MANY_FILES || ret == -LOCKS_OUT || ret == -ADDRESS_NOT_AVAILABLE ||
	       ret == -NO_BUFFERS;
}

/* --- who gives it up ------------------------------------------------------------------------- */

static bool frees(const struct flow *flow, const struct try *try, const void *data)
{
	const struct open_file *file = data;
	const char *object = intern_text(flow->names, try->object);
	const char *key = intern_text(flow->names, file->key);
	size_t length = strlen(object);

	switch (try->result) {
	case -ADDRESS_IN_USE:
		return file->listens;
	case -BUSY:
		return g_str_has_prefix(object, "file:/") && strncmp(key, object, length) == 0 &&
		       key[length] == '/';
	default:
		return false;
	}
}

void call_releases(struct flow *flow, uint32_t index, const struct open_file *file)
{
	tries_made_all(flow, TRY_FAILS, index, file->key, frees, file);
}

static bool is_full(const struct try *try)
{
	return try->result == -DISK_FULL || try->result == -OVER_QUOTA;
}

/* Both are below the same directory of the root: most file systems are mounted there. */
static bool may_share_disk(const struct flow *flow, const struct try *try, const void *data)
{
	const char *object = intern_text(flow->names, try->object), *path = data, *end;

	if (!is_full(try) || !g_str_has_prefix(object, "file:/") || path[0] != '/')
		return false;
	object += strlen("file:");
	end = strchr(path + 1, '/');
	return end && strncmp(object, path, (size_t) (end - path + 1)) == 0;
}

void call_frees_space(struct flow *flow, uint32_t index, uint32_t path)
{
	if (tries_any(flow, TRY_FAILS))
		tries_made_all(flow, TRY_FAILS, index, path, may_share_disk,
			       intern_text(flow->names, path));
}

/* --- tries ----------------------------------------------------------------------------------- */

static void explain(struct flow *flow, struct try *try, bool passed)
{
	struct reason reason = reason_of_kind(REASON_FAILS);

	reason.number = passed;
	reason.from = reason.until = try->since;
	if (passed && is_thread(try->maker)) {
		reason.thread = try->maker;
		reason.text =
			is_full(try)
				? key_format(flow, "file:%s", intern_text(flow->names, try->by))
				: try->by;
		reason.until = try->made;
		reason.flags = REASON_INFERRED;
	}
	try_explained(flow, try, &reason, 0);
}

uint32_t call_object(struct flow *flow, struct thread *thread)
{
	const struct call *call = &thread->flow.call;
	uint32_t key;

	if (call->address)
		return call->address;
	if (call->path)
		return key_format(flow, "file:%s", intern_text(flow->names, call->path));
	key = fd_key(thread_files(flow, thread), call->fd);
	return key ? key : key_format(flow, "call:%s", intern_text(flow->names, call->name));
}

/* The call and its object, as one number. */
static uint32_t number_of(const struct call *call, uint32_t object)
{
	return object ^ call->name * UINT32_C(0x9E3779B1);
}

static void failed(struct flow *flow, uint32_t index, int64_t ret)
{
	struct thread *thread = flow_thread(flow, index);
	const struct call *call = &thread->flow.call;
	uint32_t object = call_object(flow, thread);
	uint32_t number = number_of(call, object);
	struct try like = {.kind = TRY_FAILS,
			   .id = try_id(thread->host, TRY_FAILS, number),
			   .number = number,
			   .object = object,
			   .call = call->name,
			   .result = (int32_t) ret,
			   .target = NO_THREAD};
	struct try *try = try_failed(flow, index, &like);

	if (try && is_shortage(ret) && try->count >= SHORTAGE_MIN)
		explain(flow, try, false);
}

static void went_well(struct flow *flow, uint32_t index)
{
	struct thread *thread = flow_thread(flow, index);
	const struct call *call = &thread->flow.call;
	uint32_t number = number_of(call, call_object(flow, thread));

	for (uint32_t at = thread->flow.tries; at;) {
		struct try *try = &tries_all(flow)[at - 1];

		at = try->next;
		if (try->kind != TRY_FAILS || try->number != number || try->call != call->name)
			continue;
		if (try_succeeds(flow, index, try) != try) /* drops it */
			return;
		if (try->count >= FAILURES_MIN)
			explain(flow, try, true);
		try_drop(flow, try);
		return;
	}
}

void call_tried(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct thread *thread = flow_thread(flow, index);

	if (thread->flow.call.inherited)
		return;
	if (ret < 0 && may_pass(flow, &thread->flow.call, ret))
		failed(flow, index, ret);
	else if (ret >= 0 && thread->flow.tries && tries_any(flow, TRY_FAILS))
		went_well(flow, index);
}
