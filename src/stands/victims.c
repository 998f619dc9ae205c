/* SPDX-License-Identifier: MIT */
/* See victims.h. */
#include "stands/victims.h"

#include <pthread.h>
#include <string.h>

#include "contention/holders.h"
#include "event/softirqs.h"
#include "imposed/waiting.h"
#include "objects/calls.h"
#include "parts/make_parts.h"
#include "ready/cpu_runs.h"
#include "ready/host_span.h"
#include "stands/root.h"
#include "stands/stuck.h"
#include "waits/idle.h"
#include "words/ending.h"
#include "words/handler.h"
#include "words/names.h"

#define THREADS_MAX 256
#define PIECES_MAX 1000000
#define CHAINS_MAX 16 /* of a fact: different ways to its root that are told apart */
#define LINKS_MAX 32     /* of a chain that are told */
#define DEPTH_OF_CHAIN 64
#define LAST_STEPS INT64_C(20000000) /* ns: between a child's end and its parent's going on */

/* What one victim lost. */
struct loss {
	GPtrArray *facts; /* owned, as they are until they are taken */
	int64_t lost, for_children;
	int64_t waited[WAITED_FOR_COUNT];
	guint pieces; /* of its path */
};

/* One thread's path, while it is put down. */
struct putting {
	const struct session *session;
	const struct losses *losses;
	struct loss *loss;
	const struct path *path;
	uint32_t victim;
	int64_t life;
	GHashTable *known;  /* struct fact as a set, by victim and root */
	int8_t *counts;     /* of each of path->waits: -1 not asked yet */
};

static void free_fact(gpointer data)
{
	if (data)
		fact_free(data);
}

/* What comes and goes under one name, but for a number at its end, is one thing. Names are asked
 * for with each piece of each path: they are looked up once. */
static void names_init(struct losses *losses, const struct session *session)
{
	uint32_t count = session->trace.model.thread_count;

	losses->names = g_new(uint32_t, count + 1);
	losses->stems = g_new(uint32_t, count + 1);
	for (uint32_t i = 0; i < count; i++) {
		const char *name = session_thread_name(session, i);
		g_autofree char *stem = g_strndup(name, stem_length(session, name));

		losses->names[i] = intern_id(session->trace.model.names, name);
		losses->stems[i] = session->found.alike
					   ? session->found.alike[i]
					   : intern_id(session->trace.model.names, stem);
	}
}

static void count_children(struct losses *losses, const struct session *session)
{
	const struct model *model = &session->trace.model;

	losses->children = g_new0(uint8_t, model->thread_count + 1);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *at = model_thread(model, i);

		if (at->born && at->pid == at->tid && is_thread(at->parent) &&
		    losses->children[at->parent] < 2)
			losses->children[at->parent]++;
	}
}

static bool kind_is_by_subject(enum stand_kind kind)
{
	switch (kind) {
	case STAND_LOCK:
	case STAND_SWAP:
	case STAND_CPU:
	case STAND_WAKEUP:
	case STAND_MEMORY:
	case STAND_NETWORK:
	case STAND_RETRANSMISSION:
	case STAND_DELAYED_ACK:
	case STAND_INTERRUPT:
	case STAND_SOFTIRQ:
		return false;
	default:
		return true;
	}
}

/* What several calls failed for, as somebody had not done several things yet, is one thing. */
static bool any_object(const struct fact *fact)
{
	return fact->kind == STAND_FAILURE && is_thread(fact->subject);
}

bool facts_have_one_root(const struct fact *a, const struct fact *b)
{
	return a->kind == b->kind && a->host == b->host && a->stuck == b->stuck &&
	       (any_object(a) ? any_object(b) : a->object == b->object) &&
	       (!kind_is_by_subject((enum stand_kind) a->kind) || a->name == b->name);
}

static guint fact_hash(gconstpointer data)
{
	const struct fact *fact = data;

	guint hash = (fact->victim * 31 + fact->kind) * 31 + (any_object(fact) ? 0 : fact->object);

	return kind_is_by_subject((enum stand_kind) fact->kind) ? hash * 31 + fact->name : hash;
}

static gboolean fact_equal(gconstpointer a, gconstpointer b)
{
	const struct fact *x = a, *y = b;

	return x->victim == y->victim && facts_have_one_root(x, y);
}

static bool same_links(const struct chain *chain, const struct link *links, guint count)
{
	if (chain->links->len != count)
		return false;
	for (guint i = 0; i < count; i++) {
		const struct link *at = &g_array_index(chain->links, struct link, i);

		if (at->thread != links[i].thread || at->leaf != links[i].leaf ||
		    at->ending != links[i].ending)
			return false;
	}
	return true;
}

/* The leaf that has more than half of the time is the chain's (Boyer and Moore's majority vote). */
static void add_to_chain(struct chain *chain, uint32_t leaf, int64_t ns)
{
	chain->ns += ns;
	chain->leaf_ns += leaf == chain->leaf ? ns : -ns;
	if (chain->leaf_ns < 0) {
		chain->leaf = leaf;
		chain->leaf_ns = -chain->leaf_ns;
	}
}

/* `span` is the victim's wait. */
static void add_chain(struct putting *putting, struct fact *fact, const int32_t *waits,
		      const struct root *root, const struct piece *piece, const struct span *span)
{
	struct link links[LINKS_MAX];
	struct chain *chain = NULL, fresh;
	guint count = MIN(root->links, LINKS_MAX);

	for (guint i = 0; i < count; i++) {
		const struct through *at =
			&g_array_index(putting->path->waits, struct through, waits[i]);
		struct wait wait = through_wait(at);

		links[i] =
			(struct link) {.thread = at->thread,
				       .leaf = through_leaf(putting->session, at),
				       .resource = control_file(putting->session, at->block),
				       .ending = is_ending(putting->session, at->thread, at->begin),
				       .shared = wait_is_for_share(putting->session, &wait)};
	}
	for (guint i = 0; i < fact->chains->len && !chain; i++) {
		struct chain *at = &g_array_index(fact->chains, struct chain, i);

		if (same_links(at, links, count) && at->last == root->last)
			chain = at;
	}
	if (!chain && fact->chains->len < CHAINS_MAX) {
		fresh = (struct chain) {
			.links = g_array_new(FALSE, FALSE, sizeof(struct link)),
			.last = root->last,
			.leaf = piece->leaf,
			.ending = is_ending(putting->session, piece->thread, piece->begin)};
		g_array_append_vals(fresh.links, links, count);
		g_array_append_val(fact->chains, fresh);
		chain = &g_array_index(fact->chains, struct chain, fact->chains->len - 1);
	}
	for (guint i = 0; i < count && chain; i++) {
		struct link *link = &g_array_index(chain->links, struct link, i);

		link->resource = link->resource == links[i].resource ? link->resource : 0;
		link->shared |= links[i].shared;
	}
	if (!chain)
		return;
	add_to_chain(chain, piece->leaf, piece->end - piece->begin);
	if (span->end - span->begin > chain->end - chain->begin) {
		chain->begin = span->begin;
		chain->end = span->end;
	}
}

struct competing {
	const struct model *model;
	const uint32_t *names; /* of each thread */
	struct fact *fact;
	uint32_t thread;
};

/* What a process that has not executed anything yet is called: as who forked it. 0: it has. */
static uint32_t name_of_fork(const struct model *model, const struct thread *thread, int64_t time)
{
	uint32_t name = thread_name_at(thread, time);

	return thread->pid == thread->tid && thread->born && is_thread(thread->parent) &&
			       name == thread_name_at(model_thread(model, thread->parent),
						      thread->begin)
		       ? name
		       : 0;
}

static void add_competitor(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct competing *competing = data;
	struct deed deed = {.thread = thread, .did = DID_RUN};
	uint32_t forked;

	if (!is_thread(thread) || thread == competing->thread)
		return;
	forked = name_of_fork(competing->model, model_thread(competing->model, thread), begin);
	deed.name = forked ? forked : competing->names[thread];
	deed.pid = model_thread(competing->model, thread)->pid;
	times_add(&deed.times, end - begin, NULL);
	deeds_add(competing->fact->deeds, &deed);
}

static void add_behind(struct putting *putting, struct fact *fact, const int32_t *waits, int64_t ns)
{
	const struct through *first =
		&g_array_index(putting->path->waits, struct through, waits[0]);
	const struct through *next = &g_array_index(putting->path->waits, struct through, waits[1]);
	const uint32_t *stems = putting->losses->stems;
	struct wait wait = through_wait(first);

	if (stems[first->thread] != stems[next->thread])
		return;
	fact->behind += ns;
	fact->turns += wait_is_for_share(putting->session, &wait) ? ns : 0;
}

/* The packet that ended it lay in a CPU's receive queue (net_dev_xmit to net_if_receive_skb), as
 * others ran there, or the softIRQ had other packets to take. */
static void add_backlog(struct putting *putting, struct fact *fact, const struct piece *piece)
{
	const struct session *session = putting->session;
	const struct wake_detail *detail =
		piece->block ? block_detail(session, piece->block) : NULL;
	struct competing competing = {&session->trace.model, putting->losses->names, fact,
				      putting->victim};
	int64_t begin, ns;

	if (!detail || detail->kind != DETAIL_PACKET || !detail->asked)
		return;
	begin = MAX(piece->begin, detail->asked);
	ns = piece->end - begin;
	if (ns <= 0)
		return;
	fact->backlog += ns;
	if (ns > fact->backlog_longest) {
		fact->backlog_longest = ns;
		fact->backlog_cpu = detail->cpu;
	}
	each_run(session, fact->host, detail->cpu, begin, piece->end, add_competitor, &competing);
}

void runners_of_victims(const struct session *session, const struct losses *losses,
			struct fact *fact)
{
	const uint32_t *names = losses->names;
	uint32_t stem = losses->stems[fact->victim];
	guint at = 0;

	while (at < fact->parts->len &&
	       losses->stems[g_array_index(fact->parts, struct lost_part, at).victim] == stem)
		at++;
	if (at == fact->parts->len)
		return; /* nobody else's was added */
	for (guint i = fact->deeds->len; i-- > 0;)
		if (g_array_index(fact->deeds, struct deed, i).did == DID_RUN)
			g_array_remove_index(fact->deeds, i);
	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		struct competing competing = {&session->trace.model, names, fact, part->thread};
		struct spans spans;
		struct span span;

		if (losses->stems[part->victim] != stem)
			continue;
		spans_begin(&spans, session, part->thread, part->begin, part->end);
		while (spans_next(&spans, &span))
			if (leaf_is_ready(span.leaf) || span_is_hosts_ready(span.leaf))
				each_run_beside(session, part->thread, &span, add_competitor,
						&competing);
	}
	deeds_sort(fact->deeds);
}

static bool leads_process(const struct session *session, uint32_t thread)
{
	const struct thread *at = model_thread(&session->trace.model, thread);

	return at->pid == at->tid;
}

static struct fact *fact_of(struct putting *putting, const struct root *root,
			    const struct piece *piece)
{
	const struct session *session = putting->session;
	struct fact key = {.kind = root->kind,
			   .stuck = root->stuck,
			   .host = model_thread(&session->trace.model, piece->thread)->host,
			   .victim = putting->victim,
			   .subject = root->subject,
			   .name = is_thread(root->subject) ? putting->losses->stems[root->subject]
							    : NO_THREAD,
			   .threads = 1,
			   .leaders = leads_process(session, putting->victim),
			   .object = root->object,
			   .life = putting->life,
			   .shortest = INT64_MAX,
			   .last_wait = -1,
			   .last_end = INT64_MIN,
			   .stretch = INT64_MIN};
	struct fact *fact = g_hash_table_lookup(putting->known, &key);

	if (fact)
		return fact;
	fact = fact_new(&key);
	g_hash_table_add(putting->known, fact);
	return fact;
}

/* The victim's wait, or its own piece: from when to when, and in what. */
static struct span victims_span(const struct putting *putting, const struct piece *piece,
				int32_t wait)
{
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};

	if (wait >= 0) {
		const struct through *at =
			&g_array_index(putting->path->waits, struct through, wait);

		span = (struct span) {at->begin, at->end, at->leaf, 0};
	}
	return span;
}

/* What is left of the wait after it was led to somebody. */
static bool is_rest_of(const struct putting *putting, const struct piece *piece, int32_t wait)
{
	return piece->block &&
	       piece->block == g_array_index(putting->path->waits, struct through, wait).block;
}

/* A wait, or a stretch without a CPU, is so long as far as it was seen. */
static void count_length(struct fact *fact, int64_t begin, int64_t end)
{
	fact->length = end - begin;
	if (fact->length <= fact->longest)
		return;
	fact->longest = fact->length;
	fact->begin = begin;
	fact->end = end;
}

static void end_stretch(struct fact *fact)
{
	if (fact->stretch == INT64_MIN)
		return;
	fact->waits += fact->length;
	fact->shortest = MIN(fact->shortest, fact->length);
	fact->stretch = INT64_MIN;
}

static void count_wait(struct putting *putting, struct fact *fact, const struct piece *piece,
		       int32_t wait, const struct span *span)
{
	bool again = wait >= 0 ? fact->last_wait == wait
			       : fact->last_end == piece->begin &&
					 (fact->last_wait < 0 ||
					  is_rest_of(putting, piece, fact->last_wait));

	fact->last_wait = wait;
	fact->last_end = piece->end;
	fact->spans_gap |= session_spans_gap(putting->session, putting->victim, span);
	if (again) {
		/* without a CPU it may be moved from one's queue to another's */
		if (wait < 0 && leaf_is_ready(piece->leaf))
			count_length(fact, fact->stretch, piece->end);
		return;
	}
	end_stretch(fact);
	if (wait >= 0 || leaf_wib(piece->leaf) != WIB_WORKING || !fact->count) /* work goes on */
		fact->count++;
	fact->stretch = span->begin;
	count_length(fact, span->begin, span->end);
}

/* A process that the victim made, or a thread of its process did. */
static bool is_own_child(const struct session *session, uint32_t victim, uint32_t thread)
{
	const struct thread *at = model_thread(&session->trace.model, thread);
	const struct thread *parent = model_thread(&session->trace.model, victim);

	return at->born && is_thread(at->parent) && at->pid == at->tid &&
	       (at->parent == victim ||
		(parent->pid > 0 &&
		 model_thread(&session->trace.model, at->parent)->pid == parent->pid));
}

static void add_holder(struct fact *fact, const struct session *session, const struct root *root,
		       int64_t ns)
{
	const struct reason *reason =
		root->told.block ? block_reason(session, root->told.block) : NULL;
	struct deed deed = {.thread = root->subject, .name = root->subject, .did = DID_OTHER};

	times_add(&deed.times, ns, NULL);
	deeds_add(fact->holders, &deed);
	if (!reason || reason->kind != REASON_READ_LOCKED || !is_thread(reason->other) ||
	    reason->other == root->subject)
		return;
	deed.thread = deed.name = reason->other; /* read beside the one that gave it up last */
	deeds_add(fact->holders, &deed);
}

/* Not of a thread that the kernel ends: what is written then, a core dump, nothing names. */
static void add_file(struct fact *fact, const struct session *session, const struct piece *piece,
		     int64_t ns)
{
	struct deed deed = {.thread = piece->thread,
			    .did = DID_OTHER,
			    .object = piece->block->fault
					      ? piece->block->fault
					      : session_resource(session, piece->block)};

	times_add(&deed.times, ns, NULL);
	if (deed.object && !is_ending(session, piece->thread, piece->begin))
		deeds_add(fact->files, &deed);
}

/* What the device was asked for. */
static void add_request(struct fact *fact, const struct session *session, const struct piece *piece)
{
	const struct wake_detail *request =
		piece->woken ? block_request(session, piece->block) : NULL;
	guint count = fact->requests->len;

	if (request && request->served >= 0 &&
	    (!count ||
	     request != g_array_index(fact->requests, const struct wake_detail *, count - 1)))
		g_array_append_val(fact->requests, request);
}

/* Kept back by the limit of dirty pages. */
static bool is_dirty(const struct session *session, const struct root *root)
{
	const struct reason *reason =
		root->told.block ? block_reason(session, root->told.block) : NULL;

	return reason && reason->kind == REASON_DIRTY;
}

static uint32_t worked_on(const struct piece *piece)
{
	switch (PACK_KIND(piece->leaf)) {
	case LEAF_WORK_SYSCALL:
		return piece->ref & ~REF_FOR_WRITING;
	case LEAF_INT_SOFTIRQ:
		return piece->ref;
	default:
		return 0;
	}
}

static void add_part(struct fact *fact, const struct piece *piece, const struct deed *deed)
{
	struct lost_part part = {.victim = fact->victim,
				 .thread = piece->thread,
				 .begin = piece->begin,
				 .end = piece->end,
				 .name = deed->name,
				 .call = deed->call,
				 .object = deed->object,
				 .on = worked_on(piece),
				 .did = deed->did};
	struct lost_part *last =
		fact->parts->len
			? &g_array_index(fact->parts, struct lost_part, fact->parts->len - 1)
			: NULL;

	if (last && last->thread == part.thread && last->end == part.begin &&
	    last->did == part.did && last->name == part.name && last->call == part.call &&
	    last->object == part.object && last->on == part.on)
		last->end = part.end;
	else
		g_array_append_val(fact->parts, part);
}

/* Own code in a handler of a signal is told apart, as a call is. */
static void add_work(struct fact *fact, const struct session *session, const struct piece *piece,
		     const struct deed *deed)
{
	bool own = PACK_KIND(piece->leaf) == LEAF_WORK_USER;

	for (int64_t at = piece->begin, until = piece->end; at < piece->end; at = until) {
		struct piece part = *piece;
		struct deed work = *deed;

		if (own)
			work.call = handler_words(session, piece->thread, at, &until);
		part.begin = at;
		part.end = until = MIN(until, piece->end);
		work.times = (struct times) {0};
		times_add(&work.times, part.end - part.begin, piece->block);
		add_part(fact, &part, &work);
		work.object = work.call;
		deeds_add(fact->works, &work);
	}
}

static void count_reason(struct fact *fact, const struct reason *reason)
{
	fact->reasons += reason && reason != fact->last_reason;
	fact->last_reason = reason;
}

static struct fact *put_down(struct putting *putting, const struct piece *piece,
			     const int32_t *waits, guint links, struct root *root)
{
	const struct session *session = putting->session;
	int64_t ns = piece->end - piece->begin;
	struct fact *fact = fact_of(putting, root, piece);
	struct deed deed = root->deed;
	int32_t wait = links ? waits[0] : -1;
	/* off the CPU it is for as long, however long the wait is that this is a part of */
	struct span span = victims_span(putting, piece, root->kind == STAND_CPU ? -1 : wait);

	deed.name = is_thread(deed.thread) ? putting->losses->names[deed.thread] : NO_THREAD;
	deed.pid =
		is_thread(deed.thread) ? model_thread(&session->trace.model, deed.thread)->pid : -1;
	times_add(&deed.times, ns, piece->block);
	if (root->told.block)
		count_reason(fact, block_reason(session, root->told.block));
	fact_tell(fact, &root->told, ns, wait_is_after(session, &root->told), root->inferred);
	if (!links)
		add_control(fact, control_file(session, piece->block));
	count_wait(putting, fact, piece, wait, &span);
	if (wait < 0 && leaf_is_ready(piece->leaf))
		span.begin = fact->stretch;
	fact->ns += ns;
	fact->most += ns;
	putting->loss->lost += ns;
	if (deed.did == DID_WORK)
		add_work(fact, session, piece, &deed);
	else
		add_part(fact, piece, &deed);
	add_chain(putting, fact, waits, root, piece, &span);
	deeds_add(fact->deeds, &deed);
	if (root->kind == STAND_LOCK && is_thread(root->subject))
		add_holder(fact, session, root, ns);
	if (piece->block && (root->kind == STAND_DEVICE || root->kind == STAND_SWAP)) {
		if (!putting->losses->tracers[piece->thread])
			add_file(fact, session, piece, ns);
		add_request(fact, session, piece);
	}
	if (links > 1)
		add_behind(putting, fact, waits, ns);
	if (root->kind == STAND_NETWORK)
		add_backlog(putting, fact, piece);
	fact->pinned += root->pinned ? ns : 0;
	fact->dirty += is_dirty(session, root) ? ns : 0;
	if (root->kind == STAND_CPU) {
		struct competing competing = {&session->trace.model, putting->losses->names, fact,
					      piece->thread};

		struct span run = {piece->begin, piece->end, piece->leaf, piece->ref};

		each_run_beside(session, piece->thread, &run, add_competitor, &competing);
	}
	fact->faults += PACK_KIND(piece->leaf) == LEAF_BLOCK_FAULT ? ns : 0;
	return fact;
}

static bool is_on_pipe(const struct session *session, const struct through *wait)
{
	return g_str_has_prefix(session_text(session, wait->block->resource), "pipe:");
}

/* The victim's own wait is one that others imposed: imposed/waiting.h. */
static bool counts(const struct session *session, const struct wait *wait)
{
	struct lead lead;

	if (!wait->woken)
		return !wait_is_idle(session, wait);
	if (wait_lead(session, wait, &lead))
		return wait_counts(session, wait, &lead);
	return !wait_is_idle(session, wait);
}

/* `wait` is the one at that place. */
static bool wait_of_path_counts(struct putting *putting, int32_t at, const struct wait *wait)
{
	if (putting->counts[at] < 0)
		putting->counts[at] = (int8_t) counts(putting->session, wait);
	return putting->counts[at];
}

/* What it waited for itself: the first link of the chain, or the piece. */
static enum waiting_for waited_for(const struct putting *putting, const struct root *root,
				   const int32_t *waits, guint links)
{
	const struct through *first =
		links ? &g_array_index(putting->path->waits, struct through, waits[0]) : NULL;
	struct wait wait;

	if (first) {
		wait = through_wait(first);
		return wait_is_for_lock(putting->session, &wait) ||
				       (root->kind == STAND_LOCK && root->links == 1)
			       ? FOR_LOCK
			       : FOR_THREADS;
	}
	switch (root->kind) {
	case STAND_CPU:
	case STAND_WAKEUP:
		return FOR_CPU;
	case STAND_LOCK:
		return FOR_LOCK;
	case STAND_QUOTA:
		return FOR_LIMIT;
	case STAND_MEMORY:
		return FOR_MEMORY;
	case STAND_DEVICE:
	case STAND_SWAP:
		return FOR_DISK;
	case STAND_NETWORK:
	case STAND_RETRANSMISSION:
	case STAND_DELAYED_ACK:
	case STAND_TIMEOUT:
		return FOR_NETWORK;
	case STAND_INTERRUPT:
	case STAND_SOFTIRQ:
		return FOR_INTERRUPT;
	default:
		return FOR_REST;
	}
}

/* On the way between two, or in a queue before: whoever sent them, a child too. */
static bool is_in_network(uint8_t kind)
{
	return kind == STAND_NETWORK || kind == STAND_RETRANSMISSION || kind == STAND_DELAYED_ACK;
}

/* Between two: no more the one's than the other's. */
static bool is_of_transport(uint8_t kind)
{
	return is_in_network(kind) || kind == STAND_TIMEOUT;
}

/* What it waits for there is a child's end, or what a child prints; not that one takes what it is
 * sent, gives up a lock, or answers over a network: that is another program, whoever began it. */
static bool may_be_for_child(const struct session *session, const struct through *wait)
{
	const struct reason *reason = block_reason(session, wait->block);
	const char *on = session_text(session, reason && reason->kind == REASON_UNANSWERED
						       ? reason->object
						       : session_resource(session, wait->block));
	const struct call_info *call;

	if (g_str_has_prefix(on, "socket:") && !g_str_has_prefix(on, "socket:unix"))
		return false;
	if (PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL) /* in which call is not known */
		return PACK_KIND(wait->leaf) != LEAF_BLOCK_FAULT;
	call = flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf));
	switch (call->wait) {
	case WAIT_CHILD:
	case WAIT_FORK:
	case WAIT_SIGNAL:
	case WAIT_POLL:
	case WAIT_SELECT:
	case WAIT_EPOLL:
		return true;
	default:
		return call->moves == MOVES_IN || call->moves == MOVES_RECEIVE;
	}
}

/* Who waits for the end of a child waits for an own one, as one is that it adopted. */
static bool is_for_own_end(const struct session *session, const struct through *wait)
{
	return PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf))->wait == WAIT_CHILD;
}

/* A pause between two tries, in which a child sleeps, is for who has what is tried. */
static bool leads_elsewhere(const struct session *session, const struct through *wait,
			    uint32_t waiter)
{
	const struct reason *reason = block_reason(session, wait->block);

	return reason_says_more(reason) && is_thread(reason->thread) &&
	       !is_own_child(session, waiter, reason->thread);
}

/* So many links from the victim on are each a wait for an own child: for what its make started,
 * for what that started. */
static guint generations(const struct putting *putting, const struct piece *piece,
			 const int32_t *waits, guint links)
{
	uint32_t parent = putting->victim, child;
	guint count;

	for (count = 0; count < links; count++, parent = child) {
		const struct through *wait =
			&g_array_index(putting->path->waits, struct through, waits[count]);

		child = count + 1 < links ? g_array_index(putting->path->waits, struct through,
							  waits[count + 1])
						    .thread
					  : piece->thread;
		if (leads_elsewhere(putting->session, wait, parent))
			break;
		if (!is_for_own_end(putting->session, wait) &&
		    (!may_be_for_child(putting->session, wait) ||
		     !is_own_child(putting->session, parent, child)))
			break;
	}
	return count;
}

/* The victim's wait is for the end of its child: it ends with that. */
static bool is_for_end(const struct putting *putting, const struct piece *piece,
		       const int32_t *waits, guint links)
{
	const struct through *wait = &g_array_index(putting->path->waits, struct through, waits[0]);
	uint32_t child =
		links > 1 ? g_array_index(putting->path->waits, struct through, waits[1]).thread
			  : piece->thread;
	const struct thread *at = model_thread(&putting->session->trace.model, child);

	return is_thread(wait->block->child) ||
	       (PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
		flow_call_info(&putting->session->trace.flow, PACK_NUMBER(wait->leaf))->wait ==
			WAIT_SIGNAL && /* as a shell and timeout(1) do */
		at->state == THREAD_DEAD &&
		ABS(at->end - wait->end) < LAST_STEPS);
}

/* vfork() only waits until the child has called exec, or ends: what that does before is to be
 * little. */
static bool is_before_exec(const struct putting *putting, const struct piece *piece,
			   const int32_t *waits, guint links)
{
	const struct flow *flow = &putting->session->trace.flow;
	enum leaf_kind leaf = PACK_KIND(piece->leaf);
	const struct through *wait =
		links ? &g_array_index(putting->path->waits, struct through, waits[0]) : NULL;

	return wait && PACK_KIND(wait->leaf) == LEAF_BLOCK_SYSCALL &&
	       flow_call_info(flow, PACK_NUMBER(wait->leaf))->wait == WAIT_FORK &&
	       !((leaf == LEAF_WORK_SYSCALL || leaf == LEAF_BLOCK_SYSCALL) &&
		 flow_call_info(flow, PACK_NUMBER(piece->leaf))->effect == DOES_EXEC);
}

/* A parent's wait for a child that waited for somebody else is the child's story; so is all that
 * who only runs one program waits for it, as timeout(1) does, but for how that ended. And what a
 * shell's sleep(1) sleeps is the shell's own. */
static bool is_childs_story(const struct putting *putting, const struct piece *piece,
			    const int32_t *waits, guint links, guint children,
			    const struct root *root)
{
	if (!children || is_of_transport(root->kind))
		return false;
	return children < links || root->kind != STAND_PROCESS ||
	       (putting->losses->children[putting->victim] < 2 && root->deed.did != DID_END &&
		is_for_end(putting, piece, waits, links)) ||
	       (root->deed.did == DID_SLEEP &&
		strcmp(session_thread_name(putting->session, piece->thread), "sleep") == 0);
}

bool is_service(const struct session *session, uint32_t thread)
{
	const struct thread *at = model_thread(&session->trace.model, thread);

	return !at->born && at->state != THREAD_DEAD && !at->vcpu;
}

/* Who is in the middle waited for a next request: so did the service that waited for it; not if it
 * has something to answer, and that one has what it needs. Anybody else asked for what came then: a
 * mail of another's, or a turn after others; but for what a pipeline's first program brings when it
 * is time to. */
static bool leads_astray(const struct putting *putting, const int32_t *waits, guint links)
{
	bool service = is_service(putting->session, putting->victim);

	for (guint i = 0; i < links; i++) {
		const struct through *at =
			&g_array_index(putting->path->waits, struct through, waits[i]);
		struct wait wait = through_wait(at);

		if (wait_is_in_answer(putting->session, &wait))
			return false;
		if (!i)
			continue;
		if (service ? wait_is_idle(putting->session, &wait)
			    : wait_is_for_source(putting->session, &wait))
			return true;
	}
	return false;
}

/* Packets that it sent itself, over loopback: they are taken in right where it sends. */
static bool is_own_traffic(const struct piece *piece, const struct piece *before)
{
	uint32_t number = PACK_NUMBER(piece->leaf);

	return PACK_KIND(piece->leaf) == LEAF_INT_SOFTIRQ && before &&
	       before->thread == piece->thread && before->end == piece->begin &&
	       PACK_KIND(before->leaf) == LEAF_WORK_SYSCALL &&
	       (number == SOFTIRQ_NET_RX || number == SOFTIRQ_NET_TX);
}

/* What it waited for never came; whoever killed it meanwhile did something else. */
static void put_stuck(struct putting *putting, const struct piece *piece, const int32_t *waits,
		      guint links, const struct wait *wait, enum stuckness stuck)
{
	struct piece part = *piece;
	struct root root = {.kind = STAND_TIMEOUT,
			    .stuck = (uint8_t) stuck,
			    .subject = NO_THREAD,
			    .object = session_resource(putting->session, wait->block),
			    .last = putting->victim,
			    .deed = {.thread = putting->victim, .did = DID_OTHER},
			    .told = *wait};

	part.begin = MAX(part.begin, wait->begin);
	part.end = MIN(part.end, wait->end);
	if (part.begin >= part.end)
		return;
	putting->loss->waited[block_lock(putting->session, wait->block) ? FOR_LOCK : FOR_REST] +=
		part.end - part.begin;
	put_down(putting, &part, waits, links, &root);
}

static void put_piece(struct putting *putting, const struct piece *piece,
		      const struct piece *before)
{
	int32_t waits[DEPTH_OF_CHAIN];
	guint links = 0, children;
	struct root root;
	struct fact *fact;
	struct wait wait;
	enum stuckness stuck;

	for (int32_t at = piece->behalf; at >= 0 && links < DEPTH_OF_CHAIN;
	     at = g_array_index(putting->path->waits, struct through, at).behalf)
		waits[links++] = at;
	for (guint i = 0, j = links; i + 1 < j; i++) {
		int32_t swap = waits[i];

		waits[i] = waits[--j];
		waits[j] = swap;
	}
	wait = links ? through_wait(&g_array_index(putting->path->waits, struct through, waits[0]))
		     : piece_wait(piece);
	stuck = wait_stuck(putting->session, &wait);
	if (stuck) {
		if (stuck != STUCK_IDLE)
			put_stuck(putting, piece, waits, links, &wait, stuck);
		return;
	}
	if (links ? !wait_of_path_counts(putting, waits[0], &wait)
		  : wait.block && !counts(putting->session, &wait))
		return;
	root = root_of(putting->session, putting->path, piece, waits, links);
	if (root.kind == STAND_KIND_COUNT || (!links && is_own_traffic(piece, before)))
		return;
	children = generations(putting, piece, waits, links);
	putting->loss->waited[is_in_network(root.kind) ? FOR_NETWORK
			      : children               ? FOR_CHILDREN
					 : waited_for(putting, &root, waits, links)] +=
		piece->end - piece->begin;
	if (leaf_wib(piece->leaf) != WIB_INTERRUPTED &&
	    is_before_exec(putting, piece, waits, links))
		children = 0;
	if (is_childs_story(putting, piece, waits, links, children, &root) ||
	    leads_astray(putting, waits, links))
		return;
	fact = put_down(putting, piece, waits, links, &root);
	if (children)
		putting->loss->for_children += piece->end - piece->begin;
	if (links && is_on_pipe(putting->session,
				&g_array_index(putting->path->waits, struct through, waits[0])))
		fact->piped += piece->end - piece->begin;
	if (links && children == links)
		fact->child += piece->end - piece->begin;
}

struct candidate_victim {
	uint32_t thread;
	int64_t ns;
};

/* All victims, each a part. */
struct putting_down {
	const struct losses *losses;
	const struct candidate_victim *victims;
	struct loss *of; /* each victim's */
	pthread_mutex_t lock; /* of: */
	GPtrArray *paths; /* owned; struct path, that no part uses now */
};

/* Their room is used again: to ask for it takes as long as to find what comes in. */
static struct path *take_path(struct putting_down *down)
{
	struct path *path = NULL;

	pthread_mutex_lock(&down->lock);
	if (down->paths->len)
		path = g_ptr_array_steal_index(down->paths, down->paths->len - 1);
	pthread_mutex_unlock(&down->lock);
	return path ? path : path_empty();
}

static void give_path(struct putting_down *down, struct path *path)
{
	pthread_mutex_lock(&down->lock);
	g_ptr_array_add(down->paths, path);
	pthread_mutex_unlock(&down->lock);
}

static guint pieces_before(const struct putting_down *down, guint part)
{
	guint pieces = 0;

	for (guint i = 0; i < part; i++)
		pieces += __atomic_load_n(&down->of[i].pieces, __ATOMIC_RELAXED);
	return pieces;
}

static void put_thread(const struct session *session, guint part, void *data)
{
	struct putting_down *down = data;
	uint32_t thread = down->victims[part].thread;
	const struct thread *at = model_thread(&session->trace.model, thread);
	int64_t from = MAX(at->begin, session->asked.from), to = MIN(at->end, session->asked.to);
	g_autoptr(GHashTable) known = g_hash_table_new(fact_hash, fact_equal);
	struct path *path;
	struct putting putting = {.session = session,
				  .losses = down->losses,
				  .loss = &down->of[part],
				  .victim = thread,
				  .life = to - from,
				  .known = known};
	GHashTableIter iter;
	gpointer fact;
	bool gives_way;

	putting.loss->facts = g_ptr_array_new();
	if (pieces_before(down, part) >= PIECES_MAX)
		return;
	putting.path = path = take_path(down);
	path_renew(path, session, thread, from, to);
	__atomic_store_n(&putting.loss->pieces, path->pieces->len, __ATOMIC_RELAXED);
	putting.counts = g_malloc(path->waits->len + 1);
	for (guint i = 0; i < path->waits->len; i++)
		putting.counts[i] = -1;
	for (guint i = 0; i < path->pieces->len; i++)
		put_piece(&putting, &g_array_index(path->pieces, struct piece, i),
			  i ? &g_array_index(path->pieces, struct piece, i - 1) : NULL);
	g_hash_table_iter_init(&iter, known);
	gives_way = g_hash_table_size(known) && thread_gives_way(session, thread);
	while (g_hash_table_iter_next(&iter, &fact, NULL)) {
		end_stretch(fact);
		((struct fact *) fact)->gives_way = gives_way;
		g_ptr_array_add(putting.loss->facts, fact);
	}
	g_free(putting.counts);
	give_path(down, path);
}

static void take_loss(struct losses *losses, struct stands *stands, uint32_t victim,
		      const struct loss *loss)
{
	losses->lost[victim] = loss->lost;
	losses->for_children[victim] = loss->for_children;
	for (guint i = 0; i < WAITED_FOR_COUNT; i++)
		stands->waited[i] += loss->waited[i];
	stands->waiters += loss->facts->len > 0;
	for (guint i = 0; i < loss->facts->len; i++)
		g_ptr_array_add(losses->facts, loss->facts->pdata[i]);
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct candidate_victim *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

void losses_init(struct losses *losses, const struct session *session,
		 const struct waiting *waiting, struct stands *stands)
{
	uint32_t count = session->trace.model.thread_count;
	g_autoptr(GArray) victims = g_array_new(FALSE, FALSE, sizeof(struct candidate_victim));
	struct putting_down down = {.losses = losses};

	losses->facts = g_ptr_array_new_with_free_func(free_fact);
	losses->lost = g_new0(int64_t, count + 1);
	losses->for_children = g_new0(int64_t, count + 1);
	losses->tracers = session_tracers(session);
	names_init(losses, session);
	count_children(losses, session);
	for (uint32_t i = 0; i < count; i++) {
		struct candidate_victim one = {i, g_array_index(waiting->lost, int64_t, i)};

		if (one.ns > 0 && !losses->tracers[i])
			g_array_append_val(victims, one);
	}
	g_array_sort(victims, most_first);
	g_array_set_size(victims, MIN(victims->len, THREADS_MAX));
	down.victims = (const struct candidate_victim *) victims->data;
	down.paths = g_ptr_array_new_with_free_func((GDestroyNotify) path_free);
	pthread_mutex_init(&down.lock, NULL);
	down.of = g_new0(struct loss, victims->len);
	idle_know_all(session);
	parts_make(session, victims->len, put_thread, &down);
	for (guint i = 0, pieces = 0; i < victims->len; pieces += down.of[i++].pieces) {
		if (pieces < PIECES_MAX)
			take_loss(losses, stands, down.victims[i].thread, &down.of[i]);
		else
			g_ptr_array_set_free_func(down.of[i].facts, free_fact);
		g_ptr_array_free(down.of[i].facts, TRUE);
	}
	g_ptr_array_free(down.paths, TRUE);
	pthread_mutex_destroy(&down.lock);
	g_free(down.of);
}

void losses_clear(struct losses *losses)
{
	g_ptr_array_free(losses->facts, TRUE);
	g_free(losses->lost);
	g_free(losses->for_children);
	g_free(losses->children);
	g_free(losses->tracers);
	g_free(losses->names);
	g_free(losses->stems);
}
