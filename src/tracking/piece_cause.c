/* SPDX-License-Identifier: MIT */
/* What a piece of a request's path is put down to; see request_costs.h. */
#include "tracking/request_costs.h"

#include <string.h>

#include "event/softirqs.h"
#include "path/path_sums.h"
#include "waits/cpu_runs.h"
#include "waits/holders.h"
#include "waits/ready.h"
#include "waits/state_names.h"

static const struct channel_end *end_at(const struct session *session, uint32_t number)
{
	return pages_at(&session->trace.timeline.ends, number);
}

/* The outermost wait for a lock on the way to the piece, or the piece itself. */
static bool lock_on_way(const struct session *session, const struct path *path,
			const struct piece *piece, struct through *wait)
{
	bool found = false;
	const struct through *at;

	if (piece->block && piece->woken && block_lock(session, piece->block)) {
		*wait = (struct through) {piece->thread, piece->block, piece->leaf,
					  piece->begin,  piece->end,   -1};
		found = true;
	}
	for (int32_t i = piece->behalf; i >= 0; i = at->behalf) {
		at = &g_array_index(path->waits, struct through, i);
		if (at->block && block_lock(session, at->block)) {
			*wait = *at;
			found = true;
		}
	}
	return found;
}

bool lock_holder_label(const struct costs *costs, const struct block *block, uint32_t thread,
		       int64_t begin, int64_t end, GString *label)
{
	const struct session *session = costs->requests->session;
	g_autoptr(lock_wait) lock = lock_wait_new(session, block, thread, begin, end);
	uint32_t resource = session_resource(session, block);

	if (!lock)
		return false;
	g_string_printf(label, "%s %s, held by %s", lock_kind_text(lock->lock),
			resource_name(session_text(session, resource)),
			cost_name(costs, g_array_index(lock->holders, struct holder, 0).thread));
	return true;
}

static bool is_kernel(const struct session *session, uint32_t thread)
{
	return thread_is_kernel(&session->trace.model, model_thread(&session->trace.model, thread));
}

/* The wait that the piece is part of and that a program made: its own if its thread is no
 * kernel thread, else the innermost on the way to it; NULL: its own. */
static const struct through *
program_wait(const struct session *session, const struct path *path, const struct piece *piece)
{
	const struct through *at = NULL;

	if (!is_kernel(session, piece->thread))
		return NULL;
	for (int32_t i = piece->behalf; i >= 0; i = at->behalf) {
		at = &g_array_index(path->waits, struct through, i);
		if (!is_kernel(session, at->thread))
			return at;
	}
	return at;
}

/* "preadv2 of /in/data": the call that the piece is part of, and its file. */
static void append_operation(const struct session *session, const struct through *wait,
			     const struct piece *piece, GString *label)
{
	uint32_t leaf = wait ? wait->leaf : piece->leaf;
	const struct block *block = wait ? wait->block : piece->block;
	uint32_t resource = block ? session_resource(session, block) : 0;
	const char *key = resource ? session_text(session, resource) : "";
	g_autofree char *text = leaf_key(session, leaf);
	const char *call = strchr(text, ':');

	g_string_append(label, call ? call + 1 : text);
	if (g_str_has_prefix(key, "file:"))
		g_string_append_printf(label, " of %s", resource_name(key));
}

/* The file that the piece is about, 0: none. */
static uint32_t file_of(const struct session *session, const struct through *wait,
			const struct piece *piece)
{
	const struct block *block = wait ? wait->block : piece->block;
	uint32_t resource = block ? session_resource(session, block) : 0;

	return resource && g_str_has_prefix(session_text(session, resource), "file:")
		       ? resource
		       : 0;
}

static enum change change_of_file(const struct costs *costs, uint32_t thread, uint32_t file)
{
	const struct session *session = costs->requests->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	g_autofree char *key = NULL;

	if (!file)
		return CHANGE_NOTHING;
	if (g_str_has_prefix(session_text(session, file), "file:/etc/"))
		return CHANGE_CONFIGURATION;
	key = g_strdup_printf("%u %d %u", life->host, life->pid, file);
	return g_hash_table_contains(costs->early, key) ? CHANGE_CONFIGURATION : CHANGE_NOTHING;
}

/* It waits for its own connection: for more of the question, or for room to answer. */
static bool is_own_connection(const struct session *session, const struct user_request *request,
			      const struct piece *piece)
{
	uint32_t resource;
	const struct channel_end *end;

	if (session->asked.options->requests.preset != PRESET_SERVER || !request->channel ||
	    piece->behalf >= 0)
		return false;
	resource = session_resource(session, piece->block);
	end = end_at(session, request->channel);
	return resource && (resource == end->key || resource == end->remote);
}

struct most {
	const struct costs *costs;
	GHashTable *by; /* name (borrowed from the costs) -> ns */
	const char *name;
	int64_t ns;
};

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct most *most = data;
	const char *name;
	int64_t ns;

	if (thread == IDLE_THREAD)
		return;
	name = cost_name(most->costs, thread);
	ns = GPOINTER_TO_SIZE(g_hash_table_lookup(most->by, name)) + (end - begin);
	g_hash_table_insert(most->by, (gpointer) name, GSIZE_TO_POINTER(ns));
	if (ns > most->ns) {
		most->ns = ns;
		most->name = name;
	}
}

/* "CPU taken by hog-0": by whom most of the time; or why it was idle. */
static const char *charge_cpu(const struct costs *costs, const struct piece *piece, GString *label)
{
	const struct session *session = costs->requests->session;
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	struct ready ready = ready_of(session, piece->thread, &span);
	struct most most = {costs, g_hash_table_new(g_str_hash, g_str_equal), "?", 0};

	if (ready.kind == READY_BUSY) {
		each_run(session, model_thread(&session->trace.model, piece->thread)->host,
			 piece->ref, piece->begin, piece->end, add_run, &most);
		g_string_printf(label, "CPU taken by %s",
				strcmp(most.name, "?") == 0 ? "somebody, not known" : most.name);
	} else {
		g_string_printf(label, "CPU idle: %s", ready_text(ready.kind));
	}
	g_hash_table_destroy(most.by);
	return cause_kind_text(ready.kind == READY_THROTTLED ? CAUSE_THROTTLED : CAUSE_WAIT_CPU);
}

/* Who is at the other end, where packets told; else what the descriptor is. */
static const char *peer_name(const struct costs *costs, uint32_t thread, uint32_t resource)
{
	const struct session *session = costs->requests->session;
	uint64_t key =
		(uint64_t) model_thread(&session->trace.model, thread)->host << 32 | resource;
	uint32_t number = idmap_get(&costs->ends, key);
	uint32_t remote = number == IDMAP_NONE ? 0 : end_at(session, number)->remote;

	if (!remote && g_str_has_prefix(session_text(session, resource), "fd:"))
		return session_text(session, resource); /* "fd:4": no more is known */
	return resource_name(session_text(session, remote ? remote : resource));
}

static const char *charge_blocked(const struct costs *costs, const struct user_request *request,
				  const struct path *path, const struct piece *piece,
				  GString *label, enum change *change)
{
	const struct session *session = costs->requests->session;
	enum cause_kind kind = piece_cause_kind(session, piece);
	const struct through *wait = program_wait(session, path, piece);
	const struct wake_detail *packet = block_detail(session, piece->block);
	const struct wake_detail *disk = block_request(session, piece->block);
	uint32_t resource = session_resource(session, piece->block);
	const char *name = cost_name(costs, piece->thread);

	switch (cause_info(kind)->naming) {
	case NAMED_BY_DEVICE:
		g_string_printf(label, "%s, ", disk ? session_text(session, disk->text) : "?");
		append_operation(session, wait, piece, label);
		*change = change_of_file(costs, wait ? wait->thread : piece->thread,
					 file_of(session, wait, piece));
		break;
	case NAMED_BY_PEER:
		g_string_assign(label,
				resource ? peer_name(costs, piece->thread, resource) : "a peer");
		if (packet && packet->kind == DETAIL_PACKET && !is_thread(packet->thread))
			g_string_append(label, ", sender not traced");
		break;
	case NAMED_BY_OPERATION:
		g_string_printf(label, "%s in ", name);
		append_operation(session, NULL, piece, label);
		break;
	case NAMED_BY_WAKER:
		g_string_assign(label, cost_name(costs, piece->block->waker));
		break;
	case NAMED_BY_INTERRUPT:
		g_string_printf(label, "%s",
				piece->block->label ? session_text(session, piece->block->label)
						    : name);
		break;
	}
	if (is_own_connection(session, request, piece))
		*change = CHANGE_INPUT;
	return cause_kind_text(kind);
}

const char *piece_charged_to(const struct costs *costs, const struct user_request *request,
			     const struct path *path, const struct piece *piece, GString *label,
			     enum change *change)
{
	const struct session *session = costs->requests->session;
	g_autofree char *text = NULL;
	struct through lock;
	uint32_t kind = PACK_KIND(piece->leaf);

	*change = CHANGE_NOTHING;
	if (lock_on_way(session, path, piece, &lock) &&
	    lock_holder_label(costs, lock.block, lock.thread, lock.begin, lock.end, label))
		return cause_kind_text(CAUSE_LOCK_OWNER);
	if (piece->block)
		return charge_blocked(costs, request, path, piece, label, change);
	if (kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU)
		return charge_cpu(costs, piece, label);
	text = leaf_key(session, piece->leaf);
	switch (leaf_wib(piece->leaf)) {
	case WIB_WORKING:
		g_string_printf(label, "%s, ", cost_name(costs, piece->thread));
		g_string_append(label, kind == LEAF_WORK_USER      ? "user code"
				       : kind == LEAF_WORK_KTHREAD ? "kernel"
								   : strchr(text, '/') + 1);
		return cause_kind_text(CAUSE_CPU);
	case WIB_INTERRUPTED:
		g_string_assign(label, strchr(text, '/') ? strchr(text, '/') + 1 : text);
		if (kind == LEAF_INT_IRQ && piece->ref)
			g_string_append_printf(label, " (%s)", session_text(session, piece->ref));
		if (kind == LEAF_INT_SOFTIRQ)
			g_string_append_printf(label, " (%s)",
					       softirq_name(PACK_NUMBER(piece->leaf)));
		return cause_kind_text(kind == LEAF_INT_SOFTIRQ ? CAUSE_SOFTIRQ : CAUSE_IRQ);
	default:
		g_string_printf(label, "%s, not known", cost_name(costs, piece->thread));
		return cause_kind_text(CAUSE_UNKNOWN);
	}
}
