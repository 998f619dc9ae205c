/* SPDX-License-Identifier: MIT */
/* The table of talks, and who is found to be at their other ends; see talks.h. */
#include "net/talks.h"

#include <string.h>

#include "model/files.h"
#include "net/packet_time.h"
#include "objects/calls.h"

/* Addresses and flows in one index: hashes of flows have the highest bit clear. */
static uint64_t flow_index(uint64_t flow)
{
	return flow >> 1;
}

static uint64_t local_index(uint32_t local)
{
	return UINT64_C(1) << 63 | local;
}

static void index_remove(struct host *host, uint64_t key, uint32_t number)
{
	if (idmap_get(&host->talk_index, key) == number)
		idmap_remove(&host->talk_index, key);
}

static void unindex(struct host *host, const struct talk *talk)
{
	if (talk->flow)
		index_remove(host, flow_index(talk->flow), talk->number);
	if (talk->local)
		index_remove(host, local_index(talk->local), talk->number);
}

static struct talk *talk_new(struct host *host, enum talk_kind kind, uint32_t remote)
{
	uint32_t number = ++host->talk_count, place = (number - 1) % TALKS_MAX;
	struct talk *talk;

	if (place == host->talks->len)
		g_array_set_size(host->talks, place + 1);
	talk = &g_array_index(host->talks, struct talk, place);
	if (talk->number)
		unindex(host, talk);
	*talk = (struct talk) {.number = number,
			       .kind = (uint8_t) kind,
			       .role = ROLE_UNKNOWN,
			       .remote = remote,
			       .read = INT64_MIN,
			       .queued = INT64_MIN,
			       .asker = NO_THREAD,
			       .peer = NO_THREAD};
	return talk;
}

/* What a descriptor's key says that it is: false: neither socket nor pipe. */
static bool kind_of_key(const char *key, bool is_socket, enum talk_kind *kind)
{
	*kind = g_str_has_prefix(key, "pipe:") ? TALK_PIPE : TALK_STREAM;
	if (*kind == TALK_PIPE)
		return true;
	if (g_str_has_prefix(key, "socket:"))
		return strcmp(key, "socket:netlink") != 0 && strcmp(key, "socket:packet") != 0 &&
		       !g_str_has_prefix(key, "socket:family-");
	return is_socket;
}

struct talk *talk_found(struct flow *flow, struct thread *thread, int32_t fd)
{
	const struct open_file *file = fd < 0 ? NULL : fd_file(thread_files(flow, thread), fd);

	return file && file->talk != FD_NO_TALK
		       ? talk_at(model_host(flow->model, thread->host), file->talk)
		       : NULL;
}

struct talk *talk_of(struct flow *flow, struct thread *thread, int32_t fd, bool is_socket)
{
	struct host *host = model_host(flow->model, thread->host);
	struct fd_table *files = thread_files(flow, thread);
	struct open_file *file = fd < 0 ? NULL : fd_file(files, fd);
	uint32_t key = file ? file->key : 0;
	enum talk_kind kind;
	struct talk *talk;

	if (fd < 0 || (file && file->talk == FD_NO_TALK))
		return NULL;
	talk = file && file->talk ? talk_at(host, file->talk) : NULL;
	if (talk)
		return talk;
	if (!kind_of_key(key ? intern_text(flow->names, key) : "", is_socket, &kind)) {
		if (key)
			file->talk = FD_NO_TALK;
		return NULL;
	}
	if (!file) /* not described: it is known only to be one */
		file = fd_open(files, fd, 0, false);
	talk = talk_new(host, kind, key);
	file->talk = talk->number;
	return talk;
}

struct talk *talk_open(struct flow *flow, struct thread *thread, int32_t fd, enum talk_kind kind)
{
	struct open_file *file = fd < 0 ? NULL : fd_file(thread_files(flow, thread), fd);
	struct talk *talk;

	if (!file)
		return NULL;
	talk = talk_new(model_host(flow->model, thread->host), kind, file->key);
	file->talk = talk->number;
	return talk;
}

struct talk *talk_from(struct host *host, uint32_t local)
{
	return local ? talk_at(host, idmap_get(&host->talk_index, local_index(local))) : NULL;
}

/* Its first packet tells between which addresses it is; each one does where every datagram may
 * go elsewhere. */
static void name_ends(struct flow *flow, struct host *host, struct talk *talk,
		      const struct event *event, uint64_t key)
{
	unindex(host, talk);
	talk->flow = key;
	talk->local = socket_key(flow, &event->net.saddr, event->net.source_port);
	talk->remote = socket_key(flow, &event->net.daddr, event->net.dest_port);
	/* systems give the upper ports to those who ask */
	if (talk->role == ROLE_UNKNOWN && talk->kind == TALK_STREAM)
		talk->role =
			event->net.source_port < event->net.dest_port ? ROLE_SERVER : ROLE_CLIENT;
	if (!event->net.tcp && talk->kind == TALK_STREAM)
		talk->kind = TALK_DATAGRAM; /* it was open before the trace */
	if (talk->role == ROLE_SERVER)
		return; /* nobody looks for it */
	idmap_set(&host->talk_index, flow_index(key), talk->number);
	if (talk->local)
		idmap_set(&host->talk_index, local_index(talk->local), talk->number);
}

/* It sends from the port at which it was asked, in a read since before the trace. */
static bool answers(const struct thread *thread, const struct talk *talk, const struct event *event)
{
	return thread->flow.answers && talk->role == ROLE_CLIENT && !talk->in && !talk->out &&
	       event->net.source_port == thread->flow.heard_port;
}

/* Who asks in a datagram has but this one: what becomes of it is the answer's, too. */
static uint32_t note_question(struct flow *flow, struct talk *talk, const struct event *event)
{
	if (!talk || !talk->outstanding || talk->kind != TALK_DATAGRAM)
		return 0;
	talk->queued = flow->time;
	talk->device = event->net.device ? intern_id(flow->names, event->net.device) : 0;
	talk->left = false;
	return talk->number;
}

uint32_t talk_packet(struct flow *flow, const struct thread *thread, const struct event *event,
		     uint64_t key)
{
	struct host *host = flow_host(flow, event);
	struct talk *talk;

	if (!key || !event->net.source_port || !host->talk_count)
		return 0;
	if (!thread || !thread->flow.call.open || !thread->flow.call.talk) {
		talk = talk_at(host, talk_received(host, key));
	} else {
		talk = talk_at(host, thread->flow.call.talk);
		if (talk && answers(thread, talk, event)) {
			talk->role = ROLE_SERVER;
			talk->outstanding = false;
		}
		if (talk && talk->flow != key && (!talk->flow || talk->kind == TALK_DATAGRAM))
			name_ends(flow, host, talk, event, key);
	}
	if (talk && talk->connecting && talk->flow == key)
		talk->attempts++;
	return thread ? note_question(flow, talk, event) : 0;
}

void talk_left(struct host *host, uint32_t number, int64_t queued)
{
	struct talk *talk = talk_at(host, number);

	if (talk && talk->queued == queued)
		talk->left = true;
}

uint32_t talk_received(const struct host *host, uint64_t key)
{
	uint32_t number =
		host->talk_count ? idmap_get(&host->talk_index, flow_index(key)) : IDMAP_NONE;

	return number == IDMAP_NONE ? 0 : number;
}

uint32_t talk_listener(const struct host *host, uint32_t address)
{
	for (guint i = 0; address && i < G_N_ELEMENTS(host->listeners); i++)
		if (host->listeners[i].address == address)
			return host->listeners[i].thread;
	return NO_THREAD;
}

static void note_listener(struct host *host, uint32_t address, uint32_t thread)
{
	guint at = host->listeners_next % G_N_ELEMENTS(host->listeners);

	for (guint i = 0; i < G_N_ELEMENTS(host->listeners); i++)
		if (host->listeners[i].address == address)
			at = i;
	if (host->listeners[at].address != address)
		host->listeners_next++;
	host->listeners[at] = (struct listener) {address, thread};
}

/* The talk on which the current thread writes or connects right now. */
static uint32_t writes_on(const struct flow *flow, const struct cpu *cpu)
{
	const struct thread *current =
		cpu->depth ? NULL : flow_current(flow, cpu); /* an interrupt's doing is not its */
	const struct call_info *info;

	if (!current || !current->flow.call.open || !current->flow.call.talk)
		return 0;
	info = flow_call_info(flow, current->flow.call.name);
	return info->moves == MOVES_OUT || info->moves == MOVES_SEND || info->moves == MOVES_BOTH ||
			       info->effect == DOES_CONNECT
		       ? current->flow.call.talk
		       : 0;
}

/* It is in a call that waits for what others send; a packet's softIRQ wakes kernel threads too. */
static bool listens(const struct flow *flow, const struct thread *thread)
{
	const struct call_info *info;

	if (!thread->flow.call.open) /* since before the trace */
		return !thread_is_kernel(flow->model, thread);
	info = flow_call_info(flow, thread->flow.call.name);
	return info->moves == MOVES_IN || info->moves == MOVES_RECEIVE || info->wait == WAIT_POLL ||
	       info->wait == WAIT_SELECT || info->wait == WAIT_EPOLL || info->wait == WAIT_RING ||
	       info->wait == WAIT_ACCEPT;
}

void talk_wakes(struct flow *flow, struct cpu *cpu, uint32_t woken)
{
	struct thread *thread = flow_thread(flow, woken);
	struct host *host = model_host(flow->model, thread->host);
	struct talk *talk;
	uint32_t number;

	if (flow_in_gap(flow, cpu))
		return;
	if (cpu->depth && cpu_pending(cpu)->kind == DETAIL_PACKET) {
		number = cpu->heard;
		thread->flow.heard_port = cpu->heard_port;
		if (listens(flow, thread))
			packet_time_wakes(flow, cpu, woken);
	} else {
		number = writes_on(flow, cpu);
	}
	talk = talk_at(host, number);
	if (!talk || talk->role == ROLE_SERVER || woken == talk->asker || !listens(flow, thread))
		return;
	thread->flow.hears = number;
	if (!talk->accepted)
		talk->peer = woken;
	if (talk->remote && talk->flow)
		note_listener(host, talk->remote, woken);
}
