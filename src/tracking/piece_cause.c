/* SPDX-License-Identifier: MIT */
/* What a piece of a request's path is put down to; see piece_cause.h. */
#include "tracking/piece_cause.h"

#include <string.h>

#include "event/softirqs.h"
#include "path/path_sums.h"
#include "tracking/exchange_lists.h"
#include "ready/cpu_runs.h"
#include "ready/host_span.h"
#include "contention/holders.h"
#include "ready/ready.h"
#include "waits/state_names.h"

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

static char *holder_name(const struct piece_namer *namer, uint32_t holder, uint32_t waiter)
{
	const char *name = thread_names_get(namer->names, holder);

	if (!namer->of_requests)
		return lock_holder_name(namer->session, holder);
	return g_strconcat(strcmp(name, thread_names_get(namer->names, waiter)) == 0
				   ? "another thread of "
				   : "",
			   name, NULL);
}

bool lock_holder_label(const struct piece_namer *namer, const struct block *block, uint32_t thread,
		       int64_t begin, int64_t end, GString *label)
{
	const struct session *session = namer->session;
	g_autoptr(lock_wait) lock = lock_wait_new(session, block, thread, begin, end);
	uint32_t resource = session_resource(session, block);
	g_autofree char *name = NULL;

	if (!lock)
		return false;
	name = holder_name(namer, g_array_index(lock->holders, struct holder, 0).thread, thread);
	g_string_printf(label, "%s %s, held by %s", lock_kind_text(lock->lock),
			resource_name(session_text(session, resource)), name);
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

/* leaf_key(), made once. */
static const char *leaf_text(const struct piece_namer *namer, uint32_t leaf)
{
	char *text = g_hash_table_lookup(namer->leaves, GUINT_TO_POINTER(leaf));

	if (!text) {
		text = leaf_key(namer->session, leaf);
		g_hash_table_insert(namer->leaves, GUINT_TO_POINTER(leaf), text);
	}
	return text;
}

/* There are hundreds of thousands of labels, and printf is dear. */
static void append_all(GString *label, const char *before, const char *text, const char *behind)
{
	g_string_append(label, before);
	g_string_append(label, text);
	g_string_append(label, behind);
}

/* "preadv2 of /in/data": the call that the piece is part of, and its file. */
static void append_operation(const struct piece_namer *namer, const struct through *wait,
			     const struct piece *piece, GString *label)
{
	const struct session *session = namer->session;
	uint32_t leaf = wait ? wait->leaf : piece->leaf;
	const struct block *block = wait ? wait->block : piece->block;
	uint32_t resource = block ? session_resource(session, block) : 0;
	const char *key = resource ? session_text(session, resource) : "";
	const char *text = leaf_text(namer, leaf), *call = strchr(text, ':');

	g_string_append(label, call ? call + 1 : text);
	if (g_str_has_prefix(key, "file:"))
		append_all(label, " of ", resource_name(key), "");
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

static enum user_change change_of_file(const struct piece_namer *namer, uint32_t thread,
				       uint32_t file)
{
	const struct session *session = namer->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	g_autofree char *key = NULL;

	if (!file)
		return CHANGE_NOTHING;
	if (g_str_has_prefix(session_text(session, file), "file:/etc/"))
		return CHANGE_CONFIGURATION;
	key = g_strdup_printf("%u %d %u", life->host, life->pid, file);
	return g_hash_table_contains(namer->early, key) ? CHANGE_CONFIGURATION : CHANGE_NOTHING;
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

/* Threads of which name ran most. */
struct most {
	const struct piece_namer *namer;
	const char *name; /* NULL: nobody ran */
	int64_t ns;
};

static void add_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct most *most = data;
	GArray *ran = most->namer->ran;
	uint32_t number;
	int64_t *ns;

	if (thread == IDLE_THREAD)
		return;
	number = thread_names_number(most->namer->names, thread);
	if (number >= ran->len)
		g_array_set_size(ran, number + 1);
	ns = &g_array_index(ran, int64_t, number);
	if (!*ns)
		g_array_append_val(most->namer->ran_of, number);
	*ns += end - begin;
	if (*ns > most->ns) {
		most->ns = *ns;
		most->name = thread_names_get(most->namer->names, thread);
	}
}

/* "hog-0": who had the CPU most of the span while the piece's thread was ready; NULL: nobody. */
static const char *who_ran_most(const struct piece_namer *namer, const struct piece *piece,
				const struct span *span)
{
	struct most most = {.namer = namer};

	each_run_beside(namer->session, piece->thread, span, add_run, &most);
	for (guint i = 0; i < namer->ran_of->len; i++)
		g_array_index(namer->ran, int64_t, g_array_index(namer->ran_of, uint32_t, i)) = 0;
	g_array_set_size(namer->ran_of, 0);
	return !most.name || strcmp(most.name, "?") != 0 ? most.name : "somebody, not known";
}

/* "CPU taken by hog-0": by whom most of the time; or why it was idle. */
static const char *ready_label_of(const struct piece_namer *namer, const struct piece *piece,
				  GString *label)
{
	const struct session *session = namer->session;
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	struct ready ready = ready_of(session, piece->thread, &span);
	const char *most = NULL;

	if (ready_is_busy(&ready)) {
		most = who_ran_most(namer, piece, &span);
		g_string_assign(label, "CPU taken by ");
		g_string_append(label, most ? most : "somebody, not known");
	} else {
		g_string_printf(label, "CPU idle: %s", ready_text(ready.kind));
	}
	return cause_kind_text(ready_cause_kind(ready.kind));
}

/* "CPU 0/KVM off the CPU, on it hosthog": what the host did with a guest's virtual CPU. */
static const char *host_label_of(const struct piece_namer *namer, const struct piece *piece,
				 GString *label)
{
	const struct session *session = namer->session;
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref}, outside;
	uint32_t vcpu = host_span(session, piece->thread, &span, &outside);
	const char *most = NULL;

	if (is_thread(vcpu))
		g_string_printf(label, "%s ", thread_names_get(namer->names, vcpu));
	else
		g_string_assign(label, "its virtual CPU ");
	if (PACK_NUMBER(piece->leaf) == HOST_BLOCKED)
		g_string_append(label, "waited");
	else if (PACK_NUMBER(piece->leaf) == HOST_THROTTLED)
		g_string_append(label, "throttled");
	else
		g_string_append(label, "off the CPU");
	if (PACK_NUMBER(piece->leaf) == HOST_PREEMPTED)
		most = who_ran_most(namer, piece, &span);
	if (most)
		append_all(label, ", on it ", most, "");
	return cause_kind_text(CAUSE_HOST);
}

#define MANY_ENDS 0 /* of connections to several: their descriptors are called the same */

/* Who is at the other end, where packets told: those of the connection, or the one that ended the
 * wait; else what the descriptor is. */
static const char *peer_name(const struct piece_namer *namer, uint32_t thread, uint32_t resource,
			     const struct wake_detail *packet)
{
	const struct session *session = namer->session;
	uint64_t key =
		(uint64_t) model_thread(&session->trace.model, thread)->host << 32 | resource;
	uint32_t number = idmap_get(&namer->ends, key);
	uint32_t remote =
		number == IDMAP_NONE || number == MANY_ENDS ? 0 : end_at(session, number)->remote;

	if (!remote && packet && packet->kind == DETAIL_PACKET && packet->text)
		return session_text(session, packet->text);
	if (!remote && g_str_has_prefix(session_text(session, resource), "fd:"))
		return session_text(session, resource); /* "fd:4": no more is known */
	return resource_name(session_text(session, remote ? remote : resource));
}

/* "127.0.0.1:53, a name server (dnsmasq)": who was asked, and who serves there, if that was seen;
 * `reason` knows it best. */
static void append_peer(const struct piece_namer *namer, const struct piece *piece,
			const struct reason *reason, bool traced, GString *label)
{
	const struct session *session = namer->session;
	uint32_t server = reason ? reason->thread : NO_THREAD, known;
	uint32_t resource = session_resource(session, piece->block);
	const char *peer = NULL;

	if (reason && reason->object &&
	    g_str_has_prefix(session_text(session, reason->object), "socket:"))
		peer = resource_name(session_text(session, reason->object));
	else if (reason ? !is_thread(server) && reason->object : resource != 0)
		peer = peer_name(namer, piece->thread, reason ? reason->object : resource,
				 reason ? NULL : block_detail(session, piece->block));
	if (!peer) {
		g_string_assign(label, is_thread(server) ? thread_names_get(namer->names, server)
							 : "a peer");
		return;
	}
	g_string_assign(label, peer);
	if (g_str_has_suffix(peer, ":53"))
		g_string_append(label, ", a name server");
	known = traced ? GPOINTER_TO_UINT(g_hash_table_lookup(namer->services, peer)) : 0;
	if (!is_thread(server) && known)
		server = known - 1;
	if (is_thread(server))
		append_all(label, " (", thread_names_get(namer->names, server), ")");
}

/* Who is answerable by the wait's reason, else what it was for. */
static void append_reason(const struct piece_namer *namer, const struct reason *reason,
			  GString *label)
{
	if (reason && is_thread(reason->thread))
		g_string_assign(label, thread_names_get(namer->names, reason->thread));
	else
		g_string_assign(label, reason && reason->object
					       ? session_text(namer->session, reason->object)
					       : "?");
}

static const char *wait_named(const struct piece_namer *namer, const struct user_request *request,
			      const struct path *path, const struct piece *piece, GString *label,
			      enum user_change *change)
{
	const struct session *session = namer->session;
	enum cause_kind kind = piece_cause_kind(session, piece);
	const struct through *wait = program_wait(session, path, piece);
	const struct wake_detail *packet = block_detail(session, piece->block);
	const struct wake_detail *disk = block_request(session, piece->block);
	const struct reason *reason = block_reason(session, piece->block);
	const char *name = thread_names_get(namer->names, piece->thread);
	bool traced;

	switch (cause_info(kind)->naming) {
	case NAMED_BY_DEVICE:
		g_string_assign(label, disk ? session_text(session, disk->text) : "?");
		g_string_append(label, ", ");
		append_operation(namer, wait, piece, label);
		*change = change_of_file(namer, wait ? wait->thread : piece->thread,
					 file_of(session, wait, piece));
		break;
	case NAMED_BY_PEER:
		if (reason && reason->kind == REASON_SEND_QUEUE &&
		    reason->result == TRANSPORT_DEVICE && reason->text) {
			g_string_printf(label, "queueing discipline (shaper) of %s",
					session_text(session, reason->text));
			break; /* not whose packets: they were kept back */
		}
		traced = !packet || packet->kind != DETAIL_PACKET || is_thread(packet->thread);
		append_peer(namer, piece, reason, traced, label);
		if (!traced)
			g_string_append(label, ", sender not traced");
		break;
	case NAMED_BY_OPERATION:
		g_string_assign(label, name);
		g_string_append(label, " in ");
		append_operation(namer, NULL, piece, label);
		break;
	case NAMED_BY_WAKER:
		g_string_assign(label, thread_names_get(namer->names, piece->block->waker));
		break;
	case NAMED_BY_REASON:
		append_reason(namer, block_reason(session, piece->block), label);
		break;
	case NAMED_BY_INTERRUPT:
		g_string_assign(label, piece->block->label
					       ? session_text(session, piece->block->label)
					       : name);
		break;
	}
	if (is_own_connection(session, request, piece))
		*change = CHANGE_INPUT;
	return cause_kind_text(kind);
}

const char *piece_put_down_to(const struct piece_namer *namer, const struct user_request *request,
			      const struct path *path, const struct piece *piece, GString *label,
			      enum user_change *change)
{
	const struct session *session = namer->session;
	const char *text, *softirq;
	struct through lock;
	uint32_t kind = PACK_KIND(piece->leaf);

	*change = CHANGE_NOTHING;
	if (lock_on_way(session, path, piece, &lock) &&
	    lock_holder_label(namer, lock.block, lock.thread, lock.begin, lock.end, label))
		return cause_kind_text(CAUSE_LOCK_OWNER);
	if (piece->block)
		return wait_named(namer, request, path, piece, label, change);
	if (kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU)
		return ready_label_of(namer, piece, label);
	if (kind == LEAF_HOST)
		return host_label_of(namer, piece, label);
	text = leaf_text(namer, piece->leaf);
	switch (leaf_wib(piece->leaf)) {
	case WIB_WORKING:
		g_string_assign(label, thread_names_get(namer->names, piece->thread));
		g_string_append(label, ", ");
		g_string_append(label, kind == LEAF_WORK_USER      ? "user code"
				       : kind == LEAF_WORK_KTHREAD ? "kernel"
								   : strchr(text, '/') + 1);
		return cause_kind_text(CAUSE_CPU);
	case WIB_INTERRUPTED:
		g_string_assign(label, strchr(text, '/') ? strchr(text, '/') + 1 : text);
		if (kind == LEAF_INT_IRQ && piece->ref)
			append_all(label, " (", session_text(session, piece->ref), ")");
		softirq = kind == LEAF_INT_SOFTIRQ ? softirq_name(PACK_NUMBER(piece->leaf)) : NULL;
		if (softirq)
			append_all(label, " (", softirq, ")");
		return cause_kind_text(kind == LEAF_INT_SOFTIRQ ? CAUSE_SOFTIRQ : CAUSE_IRQ);
	default:
		g_string_printf(
			label, "%s, %s", thread_names_get(namer->names, piece->thread),
			piece->begin >= model_thread(&session->trace.model, piece->thread)->end
				? "which had ended"
				: "not known");
		return cause_kind_text(CAUSE_UNKNOWN);
	}
}

/* --- all ------------------------------------------------------------------------------ */

static void find_ends(struct piece_namer *namer)
{
	const struct pages *store = &namer->session->trace.timeline.ends;

	for (uint32_t i = 1; i < store->used; i++) {
		const struct channel_end *end = pages_at(store, i);

		uint64_t key = (uint64_t) end->host << 32 | end->key;
		uint32_t other;

		if (!end->remote || end->key == end->remote)
			continue;
		other = idmap_get(&namer->ends, key);
		if (other != IDMAP_NONE && end_at(namer->session, other)->remote != end->remote)
			idmap_set(&namer->ends, key, MANY_ENDS);
		else if (other == IDMAP_NONE)
			idmap_set(&namer->ends, key, i);
	}
}

/* Who reads what is asked at an address. Connections of which an end is not known tell nothing. */
static void find_services(struct piece_namer *namer, const struct user_requests *requests)
{
	const struct session *session = namer->session;
	const struct pages *ends = &session->trace.timeline.ends;
	g_autofree uint32_t *readers = g_new0(uint32_t, ends->used); /* thread + 1 */

	for (uint32_t i = 1; i < session->trace.timeline.exchanges.used; i++) {
		const struct exchange *exchange = exchange_at(session, i);

		pages_pass(&session->trace.timeline.exchanges, i);
		if (exchange->kind == EXCHANGE_READ && exchange->bytes)
			readers[exchange->end] = exchange->thread + 1;
	}
	for (uint32_t i = 1; i < ends->used; i++) {
		const struct channel_end *end = pages_at(ends, i);
		uint32_t peer = requests->peers ? requests->peers[i] : 0;

		if (peer && peer != i && end->remote && readers[peer] &&
		    (end->role == ROLE_CLIENT ||
		     (end->local_port && end->local_port > end->remote_port)))
			g_hash_table_insert(namer->services,
					    (gpointer) resource_name(
						    session_text(session, end->remote)),
					    GUINT_TO_POINTER(readers[peer]));
	}
}

/* "Files read at start-up": before the process took up its first request. */
static void find_early_files(struct piece_namer *namer, const struct user_requests *requests)
{
	const struct session *session = requests->session;
	g_autoptr(GHashTable)
		first = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);

	for (guint i = 0; i < requests->list.used; i++) { /* by begin */
		const struct user_request *request = user_request_at(requests, i);
		const struct thread *thread = model_thread(&session->trace.model, request->first);
		int64_t key = (int64_t) thread->host << 32 | (uint32_t) thread->pid;

		pages_pass(&requests->list, i);
		if (!g_hash_table_contains(first, &key))
			g_hash_table_insert(first, g_memdup2(&key, sizeof key),
					    g_memdup2(&request->begin, sizeof request->begin));
	}
	for (uint32_t i = 1; i < session->trace.timeline.exchanges.used; i++) {
		const struct exchange *exchange = exchange_at(session, i);
		const struct thread *thread;
		const int64_t *begin;
		int64_t key;

		pages_pass(&session->trace.timeline.exchanges, i);
		if (exchange->kind != EXCHANGE_FILE)
			continue;
		thread = model_thread(&session->trace.model, exchange->thread);
		key = (int64_t) thread->host << 32 | (uint32_t) thread->pid;
		begin = g_hash_table_lookup(first, &key);
		if (begin && exchange->end_time < *begin)
			g_hash_table_add(namer->early, g_strdup_printf("%u %d %u", thread->host,
								       thread->pid, exchange->end));
	}
}

struct piece_namer *piece_namer_new(const struct session *session,
				    const struct user_requests *requests)
{
	struct piece_namer *namer = g_new0(struct piece_namer, 1);

	namer->session = session;
	namer->names = thread_names_new(session);
	namer->early = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	namer->leaves = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	idmap_init(&namer->ends);
	namer->services = g_hash_table_new(g_str_hash, g_str_equal);
	namer->ran = g_array_new(FALSE, TRUE, sizeof(int64_t));
	namer->ran_of = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	namer->of_requests = requests != NULL;
	if (requests) {
		find_ends(namer);
		find_services(namer, requests);
		find_early_files(namer, requests);
	}
	return namer;
}

void piece_namer_free(struct piece_namer *namer)
{
	thread_names_free(namer->names);
	g_hash_table_destroy(namer->early);
	g_hash_table_destroy(namer->leaves);
	g_hash_table_destroy(namer->services);
	g_array_free(namer->ran, TRUE);
	g_array_free(namer->ran_of, TRUE);
	idmap_clear(&namer->ends);
	g_free(namer);
}

const char *change_text(enum user_change change)
{
	static const char *const texts[] = {NULL, "configuration", "input"};

	return texts[change];
}
