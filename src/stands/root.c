/* SPDX-License-Identifier: MIT */
/* See root.h. */
#include "stands/root.h"
#include "objects/calls.h"

#include <string.h>

#include "contention/holders.h"
#include "event/softirqs.h"
#include "words/ending.h"
#include "path/path_sums.h"
#include "ready/host_span.h"
#include "ready/ready.h"
#include "stands/stuck.h"
#include "waits/causes.h"
#include "waits/idle.h"
#include "waits/reasons.h"
#include "waits/state_names.h"

#define COPIES_MIN INT64_C(1000000) /* ns, in one piece; shares.h has the whole */

static uint32_t key_of(const struct session *session, const char *prefix, const char *name)
{
	g_autofree char *key = g_strconcat(prefix, name, NULL);

	return intern_id(session->trace.model.names, key);
}

/* What a reason is a case of. */
static enum stand_kind kind_of_reason(const struct reason *reason)
{
	static const uint8_t kinds[REASON_KINDS] = {
		[REASON_IO_LIMIT] = STAND_QUOTA,
		[REASON_DEVICE_HOLDS] = STAND_DEVICE,
		[REASON_UNANSWERED] = STAND_TIMEOUT,
		[REASON_UNCONNECTED] = STAND_TIMEOUT,
		[REASON_GIVEN_UP] = STAND_TIMEOUT,
		[REASON_ANSWER] = STAND_FAILURE,
		[REASON_UNENDED] = STAND_TIMEOUT,
		[REASON_UNLOCKED] = STAND_LOCK,
		[REASON_MEMORY_HIGH] = STAND_MEMORY,
		[REASON_RECLAIM] = STAND_MEMORY,
		[REASON_FROZEN] = STAND_STOPPED,
		[REASON_FILES_FROZEN] = STAND_LOCK,
		[REASON_FLUSH] = STAND_DEVICE,
		[REASON_DIRTY] = STAND_DEVICE,
		[REASON_FILE_APPEARS] = STAND_FAILURE,
		[REASON_FILE_GOES] = STAND_LOCK,
		[REASON_LISTENS] = STAND_FAILURE,
		[REASON_INPUT] = STAND_FAILURE,
		[REASON_FAILS] = STAND_FAILURE,
		[REASON_LOCK_TRIED] = STAND_LOCK,
		[REASON_PROCESS_ENDS] = STAND_PROCESS,
		[REASON_READ_LOCKED] = STAND_LOCK,
		[REASON_FUTEX_TIMED] = STAND_LOCK,
		[REASON_RETRANSMISSION] = STAND_RETRANSMISSION,
		[REASON_DELAYED_ACK] = STAND_DELAYED_ACK,
		[REASON_SEND_QUEUE] = STAND_NETWORK};

	if (kinds[reason->kind])
		return kinds[reason->kind];
	switch ((enum cause_kind) reason_info(reason)->cause) { /* one of a kind that is new here */
	case CAUSE_RETRY:
		return STAND_FAILURE;
	case CAUSE_LOCK_OWNER:
		return STAND_LOCK;
	case CAUSE_BLOCK_DEVICE:
		return STAND_DEVICE;
	case CAUSE_THROTTLED:
		return STAND_QUOTA;
	default:
		return STAND_TIMEOUT;
	}
}

/* A disk is one thing, whether it was busy or slow, or pages for it were too many. */
static uint32_t object_of_reason(const struct session *session, const struct reason *reason)
{
	if ((reason->kind == REASON_FLUSH || reason->kind == REASON_DIRTY) && reason->text)
		return key_of(session, "device:", session_text(session, reason->text));
	return reason->object;
}

/* The file that was waited for to go is the waiter's own work: no lock that another had, but
 * something that it had left for the other to take. */
static bool is_left_for_other(const struct session *session, const struct reason *reason,
			      uint32_t waiter)
{
	const uint32_t *process = session->trace.processes.first;

	return reason->kind == REASON_FILE_GOES && is_thread(reason->other) &&
	       process[reason->other] == process[waiter];
}

static void by_reason(const struct session *session, const struct reason *reason, uint32_t waiter,
		      struct root *root)
{
	root->kind = kind_of_reason(reason);
	root->subject = reason->thread;
	if (root->kind == STAND_DEVICE && reason->thread == root->deed.thread)
		root->subject = NO_THREAD; /* its own data */
	root->object = object_of_reason(session, reason);
	root->inferred = reason->flags & REASON_INFERRED;
	if (is_left_for_other(session, reason, waiter)) {
		root->kind = STAND_PROCESS;
		root->object = 0; /* one file after the other */
	}
}

/* Who a link of the chain leads to. */
static uint32_t led_to(const struct path *path, const struct piece *piece, const int32_t *chain,
		       guint links, guint link)
{
	return link + 1 < links ? g_array_index(path->waits, struct through, chain[link + 1]).thread
				: piece->thread;
}

bool reason_says_more(const struct reason *reason)
{
	return reason && !reason_is_transport(reason) && !(reason->flags & REASON_LATE);
}

static bool leaf_is_stop(uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_BLOCK_STOPPED || PACK_KIND(leaf) == LEAF_BLOCK_TRACED;
}

/* Who stopped it, else who let it go on. */
static uint32_t stopper(const struct session *session, const struct block *block, uint32_t waker)
{
	const struct wake_detail *begun =
		block->begun ? detail_at(&session->trace.timeline, block->begun) : NULL;

	return begun && is_thread(begun->thread) ? begun->thread : waker;
}

/* A link that is a wait for a lock, or has a reason that says more than who ended it. */
static bool by_link(const struct session *session, const struct path *path,
		    const struct piece *piece, const int32_t *chain, guint links, guint link,
		    struct root *root)
{
	struct wait wait = through_wait(&g_array_index(path->waits, struct through, chain[link]));
	const struct reason *reason = block_reason(session, wait.block);
	uint32_t last = led_to(path, piece, chain, links, link);

	if (reason_says_more(reason)) {
		by_reason(session, reason, wait.thread, root);
		if (is_thread(root->subject))
			last = root->subject;
	} else if (leaf_is_stop(wait.leaf)) {
		root->kind = STAND_STOPPED;
		root->subject = stopper(session, wait.block, last);
		root->object = 0;
	} else if (wait_is_for_lock(session, &wait)) {
		root->kind = STAND_LOCK;
		root->object = block_waits_for(session, wait.block);
		root->subject = last;
	} else {
		return false;
	}
	root->told = wait;
	root->links = link + 1;
	root->last = last;
	return true;
}

static bool is_sleep(const struct session *session, const struct holder *holder)
{
	return strcmp(session_text(session, holder->resource), "sleep") == 0;
}

/* A wait that nobody is known to have ended otherwise: its holders. */
static void by_open_lock(const struct session *session, const struct wait *wait, struct root *root)
{
	g_autoptr(lock_wait)
		lock = lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	const struct holder *first;

	if (!lock || !lock->holders->len)
		return;
	first = &g_array_index(lock->holders, struct holder, 0);
	if (!is_thread(first->thread) || first->thread == wait->thread)
		return;
	root->kind = STAND_LOCK;
	root->object = block_waits_for(session, wait->block);
	root->subject = first->thread;
	root->inferred = lock->inferred;
	lock_wait_look(session, lock, 1);
	root->deed = (struct deed) {.thread = first->thread,
				    .did = is_sleep(session, first) ? DID_SLEEP : DID_OTHER,
				    .object = is_sleep(session, first) ? 0 : first->resource,
				    .call = PACK_KIND(first->leaf) == LEAF_BLOCK_SYSCALL
						    ? PACK_NUMBER(first->leaf)
						    : 0};
	root->last = first->thread;
}

static enum stand_kind kind_of_hardware(const struct session *session, uint32_t object)
{
	const char *key = session_text(session, object);

	if (g_str_has_prefix(key, "swap:"))
		return STAND_SWAP;
	return g_str_has_prefix(key, "work:softIRQ") ? STAND_SOFTIRQ : STAND_DEVICE;
}

/* For room in a socket's buffer, which its own packets had filled. */
static bool is_for_own_packets(const struct session *session, const struct wait *wait)
{
	const uint32_t *process = session->trace.processes.first;
	const struct wake_detail *detail = wait->woken ? block_detail(session, wait->block) : NULL;
	const struct call_info *call;

	if (!detail || detail->kind != DETAIL_PACKET || !is_thread(detail->thread) ||
	    process[detail->thread] != process[wait->thread] ||
	    PACK_KIND(wait->leaf) != LEAF_BLOCK_SYSCALL)
		return false;
	call = flow_call_info(&session->trace.flow, PACK_NUMBER(wait->leaf));
	return call->moves == MOVES_OUT || call->moves == MOVES_SEND;
}

/* Blocked, and led to nobody. */
static void by_wait(const struct session *session, const struct wait *wait, enum cause_kind cause,
		    bool own, struct root *root)
{
	const struct reason *reason = wait->woken ? block_reason(session, wait->block) : NULL;

	root->told = *wait;
	if (reason && reason->flags & REASON_LATE) { /* an answer that came in the end */
		root->subject = is_thread(reason->thread) ? reason->thread : wait->thread;
		root->kind = is_thread(reason->thread) || !own ? STAND_PROCESS : STAND_KIND_COUNT;
		return;
	}
	if (reason) {
		by_reason(session, reason, wait->thread, root);
		root->deed.did = root->kind == STAND_DEVICE ? DID_DEVICE : DID_LIMIT;
		root->deed.object = root->kind == STAND_DEVICE ? root->object : 0;
		return;
	}
	switch (cause) {
	case CAUSE_TIMER:
		root->deed.did = DID_SLEEP;
		root->subject = wait->thread;
		root->kind = wait_is_without_limit(session, wait) ? STAND_TIMER
			     : own                                ? STAND_KIND_COUNT
								  : STAND_PROCESS;
		break;
	case CAUSE_BLOCK_DEVICE:
	case CAUSE_IRQ:
	case CAUSE_SOFTIRQ:
		root->object = wait_hardware(session, wait);
		root->kind = kind_of_hardware(session, root->object);
		/* of memory that nothing tells what it is (disk/reclaim.h) */
		root->inferred =
			root->kind == STAND_SWAP && !wait->block->resource && !wait->block->fault;
		root->deed.did = DID_DEVICE;
		break;
	case CAUSE_NETWORK:
		root->object = is_for_own_packets(session, wait) ? 0 : wait_hardware(session, wait);
		root->kind = STAND_NETWORK;
		root->deed.did = DID_NETWORK;
		break;
	case CAUSE_STOPPED:
		root->kind = STAND_STOPPED;
		root->subject = stopper(session, wait->block, wait->block->waker);
		break;
	case CAUSE_STILL_BLOCKED:
		by_open_lock(session, wait, root);
		return;
	default:
		root->subject = wait->thread;
		root->kind = own ? STAND_KIND_COUNT : STAND_PROCESS;
	}
	root->deed.object = root->object;
}

/* Ready, and without a CPU. */
static void by_ready(const struct session *session, const struct piece *piece, struct root *root)
{
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	struct ready ready = ready_of(session, piece->thread, &span);

	root->deed.did = DID_READY;
	root->subject = piece->thread;
	switch (ready.kind) {
	case READY_THROTTLED:
		root->deed.did = DID_THROTTLED;
		root->kind = STAND_QUOTA;
		root->object = intern_id(session->trace.model.names, ready_limit_key(&ready));
		root->inferred = true;
		break;
	case READY_BUSY:
	case READY_PINNED:
		root->kind = STAND_CPU;
		root->subject = NO_THREAD;
		root->pinned = ready.kind == READY_PINNED && !span_is_hosts(piece->leaf);
		if (span_is_hosts(piece->leaf))
			root->object = key_of(session, "cpu:", "host");
		else if (model_thread(&session->trace.model, piece->thread)->vcpu)
			root->object = key_of(session, "cpu:", "vcpu"); /* its guest's trouble */
		break;
	case READY_YIELDED: /* a timer of its own, as it were */
	case READY_LOST: /* the lost events are an item themselves */
		root->kind = STAND_KIND_COUNT;
		break;
	default:
		root->kind = STAND_WAKEUP;
		root->subject = NO_THREAD;
	}
}

static void by_interrupt(const struct session *session, const struct piece *piece,
			 struct root *root)
{
	uint32_t number = PACK_NUMBER(piece->leaf);
	char irq[32];

	switch (PACK_KIND(piece->leaf)) {
	case LEAF_INT_SOFTIRQ:
		root->kind = STAND_SOFTIRQ;
		root->object =
			key_of(session,
			       "softirq:", softirq_name(number) ? softirq_name(number) : "?");
		break;
	case LEAF_INT_IRQ:
		root->kind = STAND_INTERRUPT;
		g_snprintf(irq, sizeof irq, "%u", number);
		root->object = key_of(session, "irq:", irq);
		root->deed.object = piece->ref;
		break;
	case LEAF_INT_VECTOR:
		root->kind = STAND_INTERRUPT;
		root->object = key_of(session, "vector:", session_text(session, number));
		break;
	default:
		root->kind = STAND_INTERRUPT;
		root->object = key_of(session, "vector:", "hrtimer");
	}
}

/* Of a guest: what its virtual CPU's thread waited for on the host. */
static void by_hosts_wait(const struct session *session, const struct piece *piece,
			  struct root *root)
{
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref}, outside;
	uint32_t vcpu = host_span(session, piece->thread, &span, &outside);
	struct wait wait;

	root->subject = vcpu;
	root->deed.did = DID_WAIT;
	if (!is_thread(vcpu) || !leaf_is_blocked(outside.leaf))
		return;
	wait = wait_of(session, vcpu, &outside);
	by_wait(session, &wait, wait_cause_kind(session, &wait), false, root);
}

static void by_piece(const struct session *session, const struct piece *piece, bool own,
		     struct root *root)
{
	if (piece->block) {
		struct wait wait = piece_wait(piece);

		by_wait(session, &wait, piece_cause_kind(session, piece), own, root);
	} else if (piece_is_ready(piece)) {
		by_ready(session, piece, root);
	} else if (span_is_hosts(piece->leaf)) {
		by_hosts_wait(session, piece, root);
	} else if (leaf_wib(piece->leaf) == WIB_INTERRUPTED) {
		by_interrupt(session, piece, root);
	} else {
		bool works = leaf_wib(piece->leaf) == WIB_WORKING;

		root->deed.did = !works                                            ? DID_OTHER
				 : is_ending(session, piece->thread, piece->begin) ? DID_END
										   : DID_WORK;
		root->subject = piece->thread;
		root->kind = own ? STAND_KIND_COUNT : STAND_PROCESS;
		if (PACK_KIND(piece->leaf) == LEAF_WORK_USER && piece->ref == REF_RECLAIM)
			root->kind =
				STAND_MEMORY; /* what it needs memory for would not take that */
		if (PACK_KIND(piece->leaf) == LEAF_WORK_SYSCALL && (piece->ref & REF_FOR_WRITING) &&
		    piece->end - piece->begin >= COPIES_MIN) {
			root->kind = STAND_DEVICE; /* opening takes no work, but for a copy */
			root->object = piece->ref & ~REF_FOR_WRITING;
			root->subject = NO_THREAD;
			root->inferred = true;
		}
	}
}

struct root root_of(const struct session *session, const struct path *path,
		    const struct piece *piece, const int32_t *chain, guint links)
{
	struct root root = {.kind = STAND_KIND_COUNT,
			    .subject = NO_THREAD,
			    .last = piece->thread,
			    .links = links,
			    .deed = {.thread = piece->thread, .did = DID_OTHER}};
	enum leaf_kind leaf = PACK_KIND(piece->leaf);

	if (leaf == LEAF_BLOCK_SYSCALL || leaf == LEAF_WORK_SYSCALL)
		root.deed.call = PACK_NUMBER(piece->leaf);
	by_piece(session, piece, !links, &root);
	for (guint link = links; link-- > 0;)
		if (by_link(session, path, piece, chain, links, link, &root))
			break;
	return root;
}
