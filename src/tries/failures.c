/* SPDX-License-Identifier: MIT */
/* See failures.h. */
#include "tries/failures.h"

#include "event/results.h"
#include "objects/calls.h"
#include "tries/call_tries.h"

#define IN_PROGRESS (-115) /* EINPROGRESS of the traced kernel */
#define ELSEWHERE_MAX (INT64_C(100) * 1000 * 1000) /* ns to the next address */
#define ADDRESSES_MAX 64 /* failures of all threads that are looked back at */

/* The thread is connected: so what it tried just before was one of several addresses. */
static void connected(const struct flow *flow, struct host *host, uint32_t index, uint32_t call)
{
	for (guint i = host->failures->len, looked = 0; i-- > 0 && looked < ADDRESSES_MAX;
	     looked++) {
		struct failure *failure = &g_array_index(host->failures, struct failure, i);

		if (flow->time - failure->time > ELSEWHERE_MAX)
			return;
		if (failure->thread == index && failure->call == call)
			failure->elsewhere = true;
	}
}

void failure_noted(struct flow *flow, uint32_t index, int64_t ret)
{
	struct thread *thread = flow_thread(flow, index);
	const struct call *call = &thread->flow.call;
	struct host *host = model_host(flow->model, thread->host);
	const struct talk *talk;
	struct failure failure = {
		.time = flow->time, .thread = index, .call = call->name, .result = (int32_t) ret};

	if (ret >= 0 || ret == IN_PROGRESS) {
		if (host->failures->len && flow_call_info(flow, call->name)->tries == TRIES_CONNECT)
			connected(flow, host, index, call->name);
		return;
	}
	if (call->inherited ||
	    result_trouble(intern_text(flow->names, call->name), ret) == TROUBLE_NONE)
		return;
	if (host->failures->len >= FAILURES_MAX) {
		host->failures_more++;
		return;
	}
	talk = talk_at(host, call->talk);
	failure.object = call_object(flow, thread);
	failure.peer = talk ? talk->peer : NO_THREAD;
	failure.unasked = talk && !talk->connecting && !talk->outstanding;
	g_array_append_val(host->failures, failure);
}
