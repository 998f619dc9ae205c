/* SPDX-License-Identifier: MIT */
/* Which waits count, and as what; see waiting.h. Their way down: wait_chain.c. */
#include "imposed/waiting.h"
#include "run/choosing.h"

#include "imposed/joins.h"
#include "imposed/wait_chain.h"
#include "contention/holders.h"
#include "ready/cpu_runs.h"
#include "ready/host_span.h"
#include "ready/ready.h"
#include "waits/idle.h"
#include "path/several.h"

#define WAITS_MAX 1000  /* followed of one thread */
#define KNOT_PART 1000 /* of the window: if less was imposed in all, nothing is stuck */
#define BATCH 4096 /* times off the CPU looked at together, for waits that are one (several.h) */
#define RUNS_MAX 20000000 /* runs of CPUs read in all: a second or two; traces need 10^3 to 10^6 */
#define STEPS_MAX 2000000 /* intervals read in all: about a second; traces need 10^4 to 10^5 */

static void count_imposed(struct account *account, int64_t ns)
{
	account->waiting->imposed += ns;
	g_array_index(account->waiting->lost, int64_t, account->wait.waiter) += ns;
}

/* Of a wait that led to nobody: imposed by hardware, or not imposed. */
static void account_hardware(struct account *account, const struct wait *wait)
{
	const struct session *session = account->session;
	struct waiting *waiting = account->waiting;
	enum wait_taker taker = wait_taker(session, wait);
	int64_t ns = wait->end - wait->begin;

	if (taker == TAKER_TIMER)
		waiting->own += ns;
	else if (taker == TAKER_UNKNOWN)
		waiting->unknown += ns;
	else if (wait_is_idle(session, wait))
		waiting->idle += ns;
	else {
		count_imposed(account, ns);
		impose_by_named(account, wait);
		impose_by_wait(account, wait, ns);
	}
}

/* The wait is led down its chain. */
static void account_wait(struct account *account, uint32_t thread, const struct span *span)
{
	const struct session *session = account->session;
	struct wait wait = wait_of(session, thread, span);
	struct direct direct = {.waiter = thread,
				.begin = span->begin,
				.ns = span->end - span->begin,
				.host = model_thread(&session->trace.model, thread)->host};
	const struct reason *reason;
	struct lead lead;
	int64_t rest;

	wait_lead(session, &wait, &lead);
	count_imposed(account, direct.ns);
	direct.lead = lead.thread;
	direct.resource = block_waits_for(session, wait.block);
	direct.lock = wait_is_for_lock(session, &wait);
	g_array_append_val(account->directs, direct);
	if (direct.lock)
		impose_by_resource(account, thread, direct.resource, direct.ns);
	account->path[0] = thread;
	account->depth = 1;
	rest = lead_follow(account, &wait, &lead);
	account->depth = 0;
	reason = block_reason(session, wait.block);
	if (reason && reason->kind == REASON_LISTENS)
		rest = direct.ns; /* the service as a whole, whoever was to start it each time */
	if (rest)
		impose_by_wait(account, &wait, rest);
}

static void account_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct account *account = data;

	account->runs++;
	if (is_thread(thread) && thread != account->wait.waiter) {
		impose_by_thread(account, thread, IMPOSED_RAN, end - begin);
		count_imposed(account, end - begin);
	} else if (thread != IDLE_THREAD) {
		account->waiting->unknown += end - begin;
	}
}

/* Ready without a CPU: who ran there, or why the CPU idled. */
static void account_ready(struct account *account, uint32_t thread, const struct span *span)
{
	const struct session *session = account->session;
	struct ready ready = ready_of(session, thread, span);
	const char *why = ready.kind == READY_THROTTLED ? ready_limit_key(&ready) : "cpu:idle";
	struct span outside;
	/* whose CPU, quota, affinity it is: of a guest, that of its virtual CPU's thread */
	uint32_t whose =
		span_is_hosts(span->leaf) ? host_span(session, thread, span, &outside) : thread;

	if (ready.kind == READY_YIELDED)
		return; /* as a timer of its own */
	if (ready.kind == READY_LOST) {
		account->waiting->unknown += span->end - span->begin;
		return;
	}
	count_imposed(account, ready.idle);
	if (!is_thread(whose))
		whose = thread;
	if (ready.idle)
		impose_by_resource(account, whose, intern_id(session->trace.model.names, why),
				   ready.idle);
	if (ready.kind == READY_THROTTLED && ready.limit != LIMIT_QUOTA)
		return; /* who ran there did not keep it off */
	if (ready.kind == READY_PINNED)
		impose_by_resource(account, whose,
				   intern_id(session->trace.model.names, "cpu:affinity"),
				   ready.free);
	each_run_beside(session, thread, span, account_run, account);
}

/* Of a guest: what its virtual CPU's thread waited for on the host, or who ended that. */
static void account_hosts(struct account *account, uint32_t thread, const struct span *span)
{
	const struct session *session = account->session;
	struct span outside;
	uint32_t vcpu = host_span(session, thread, span, &outside);
	int64_t ns = span->end - span->begin;
	struct wait wait;
	struct lead lead;

	if (!is_thread(vcpu) || !leaf_is_blocked(outside.leaf)) {
		account->waiting->unknown += ns;
		return;
	}
	wait = wait_of(session, vcpu, &outside);
	if (wait_lead(session, &wait, &lead)) {
		count_imposed(account, ns);
		impose_by_thread(account, lead.thread, IMPOSED_WORK, ns);
	} else {
		account_hardware(account, &wait);
	}
}

static int longest(gconstpointer a, gconstpointer b)
{
	const struct span *x = a, *y = b;
	int64_t length_x = x->end - x->begin, length_y = y->end - y->begin;

	if (length_x != length_y)
		return length_x > length_y ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static void leave_out(struct waiting *waiting, GArray *list, guint from)
{
	for (guint i = from; i < list->len; i++) {
		const struct span *span = &g_array_index(list, struct span, i);

		waiting->left_out += span->end - span->begin;
		waiting->left_out_count++;
	}
	g_array_set_size(list, MIN(from, list->len));
}

/* A wait for a lock that is not over: what its holders did meanwhile, as far as they
 * are known. */
static int64_t account_holders(struct account *account, const struct wait *wait)
{
	const struct session *session = account->session;
	uint32_t thread = wait->thread;
	g_autoptr(lock_wait)
		lock = lock_wait_new(session, wait->block, thread, wait->begin, wait->end);
	struct direct direct = {.waiter = thread,
				.lock = true,
				.resource = block_waits_for(session, wait->block),
				.host = model_thread(&session->trace.model, thread)->host};
	int64_t until = wait->begin, held = 0;

	account->path[0] = thread;
	account->depth = 1;
	for (guint i = 0; lock && i < lock->holdings->len; i++) {
		const struct holding *at = &g_array_index(lock->holdings, struct holding, i);
		int64_t begin = MAX(at->begin, until); /* a shared lock has several at once */

		if (!is_thread(at->thread) || at->thread == thread || begin >= at->end)
			continue;
		lead_down(account, at->thread, begin, at->end);
		until = at->end;
		held += at->end - begin;
		direct.lead = at->thread;
		direct.begin = begin;
		direct.ns = at->end - begin;
		g_array_append_val(account->directs, direct);
	}
	account->depth = 0;
	impose_by_resource(account, thread, direct.resource, held);
	count_imposed(account, held);
	return held;
}

/* It only says how long what the thread started ran. */
static bool is_of_parent(const struct session *session, const struct wait *wait,
			 const struct lead *lead)
{
	return (is_thread(wait->block->child) &&
		!model_thread(&session->trace.model, wait->thread)->born) ||
	       wait_is_join(session, wait, lead);
}

bool wait_counts(const struct session *session, const struct wait *wait, const struct lead *lead)
{
	return (wait_is_explained(session, wait) || !is_of_parent(session, wait, lead)) &&
	       !wait_is_by_exit(session, wait) && !wait_is_idle(session, wait);
}

bool wait_is_imposed(const struct session *session, uint32_t thread, const struct span *span)
{
	struct wait wait = wait_of(session, thread, span);
	struct lead lead;

	wait_cut_at(&wait, session, session->asked.to);
	if (!wait.woken)
		return wait_is_for_lock(session, &wait) && !wait_is_idle(session, &wait);
	if (!wait_lead(session, &wait, &lead) || lead.thread == thread)
		return wait_taker(session, &wait) == TAKER_HARDWARE &&
		       !wait_is_idle(session, &wait);
	return PACK_KIND(span->leaf) != LEAF_BLOCK_UNKNOWN && wait_counts(session, &wait, &lead);
}

/* A wait that a thread ended, to be led down; the others are accounted for at once. */
static bool leads_on(struct account *account, uint32_t thread, const struct span *span)
{
	const struct session *session = account->session;
	struct wait wait = wait_of(session, thread, span);
	int64_t ns = span->end - span->begin;
	struct lead lead;

	wait_cut_at(&wait, session, session->asked.to);
	if (!wait.woken && wait_is_idle(session, &wait)) {
		account->waiting->idle += ns;
		return false;
	}
	if (!wait.woken) {
		ns -= account_holders(account, &wait);
		*(wait_taker(session, &wait) == TAKER_TIMER ? &account->waiting->own
							    : &account->waiting->open) += ns;
		return false;
	}
	if (!wait_lead(session, &wait, &lead) || lead.thread == thread) {
		account_hardware(account, &wait);
		return false;
	}
	if (PACK_KIND(span->leaf) == LEAF_BLOCK_UNKNOWN) { /* in what, was before the trace */
		account->waiting->unknown += ns;
		return false;
	}
	if (wait_counts(session, &wait, &lead))
		return true;
	*(is_of_parent(session, &wait, &lead) ? &account->waiting->children
					      : &account->waiting->idle) += ns;
	return false;
}

static void leave_out_ready(struct waiting *waiting, const struct span *span)
{
	waiting->left_out += span->end - span->begin;
	waiting->left_out_count++;
}

/* Up to when its timer was due the thread slept of its own accord: that part is taken off. */
static struct span late_part(struct account *account, const struct span *span)
{
	const struct session *session = account->session;
	const struct reason *reason =
		leaf_is_blocked(span->leaf)
			? block_reason(session, block_at(&session->trace.timeline, span->ref))
			: NULL;
	struct span late = *span;

	if (reason && reason_is_late_timer(reason) && reason->from > span->begin &&
	    reason->from < span->end) {
		account->waiting->own += reason->from - span->begin;
		late.begin = reason->from;
	}
	return late;
}

/* Charges a time off the CPU, or puts it into `list`, as a wait to be led down. */
static void account_off_cpu(struct account *account, uint32_t thread, const struct span *span,
			    uint64_t runs, GArray *list)
{
	account->wait = (struct led_wait) {thread, span->begin, span->end,
					   session_spans_gap(account->session, thread, span)};
	if (!leaf_is_blocked(span->leaf) && account->runs >= runs)
		leave_out_ready(account->waiting, span);
	else if (span_is_hosts(span->leaf) && !span_is_hosts_ready(span->leaf))
		account_hosts(account, thread, span);
	else if (!leaf_is_blocked(span->leaf))
		account_ready(account, thread, span);
	else if (leads_on(account, thread, span))
		g_array_append_vals(list, span, 1);
	account_wait_ends(account);
	if (list->len == 4 * WAITS_MAX) {
		g_array_sort(list, longest);
		leave_out(account->waiting, list, WAITS_MAX);
	}
}

/* Charges all but the waits to be led down, and gives the longest of these; some
 * more are collected before the list is cut. Who ran while the thread was ready is not
 * asked beyond a total of `runs`: with N threads ready at once that is N times what ran. */
static GArray *waits_of(struct account *account, uint32_t thread, uint64_t runs)
{
	const struct session *session = account->session;
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct span));
	g_autoptr(GArray) batch = g_array_new(FALSE, FALSE, sizeof(struct span));
	struct spans spans;
	struct span span;
	bool more;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	do {
		more = spans_next_off_cpu(&spans, &span);
		if (more)
			g_array_append_val(batch, span);
		if (more && batch->len < BATCH)
			continue;
		several_redirect(session, thread, batch, several_needed(session, thread));
		for (guint i = 0; i < batch->len; i++) {
			span = late_part(account, &g_array_index(batch, struct span, i));
			account_off_cpu(account, thread, &span, runs, list);
		}
		g_array_set_size(batch, 0);
	} while (more);
	g_array_sort(list, longest);
	leave_out(account->waiting, list, WAITS_MAX);
	return list;
}

/* Follows the waits of `thread`, the longest first and one at least, up to a total of
 * `steps` and `runs`. */
static void account_thread(struct account *account, uint32_t thread, uint64_t steps, uint64_t runs)
{
	GArray *list = waits_of(account, thread, runs);

	for (guint i = 0; i < list->len; i++) {
		const struct span *span = &g_array_index(list, struct span, i);

		if (account->steps > (i ? steps : STEPS_MAX)) {
			leave_out(account->waiting, list, i);
			break;
		}
		account->wait =
			(struct led_wait) {thread, span->begin, span->end,
					   session_spans_gap(account->session, thread, span)};
		account_wait(account, thread, span);
		account_wait_ends(account);
	}
	g_array_free(list, TRUE);
}

/* Sums apart what the waits of a thread of the tracer come to. */
static void account_tracer(struct account *account, uint32_t thread)
{
	const struct session *session = account->session;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next_off_cpu(&spans, &span))
		account->waiting->tracer += span.end - span.begin;
}

/* --host: only the waits of its threads, whoever imposed them. */
static bool is_asked_for(const struct session *session, uint32_t thread)
{
	uint16_t host = model_thread(&session->trace.model, thread)->host;

	return session_wants_host(session, model_host(&session->trace.model, host));
}

/* What a thread may use of the steps, relative to others: by how much it did, as far
 * as its followed waits can come from that. */
static uint64_t weight_of(const struct session *session, uint32_t thread)
{
	return 1 + MIN(model_thread(&session->trace.model, thread)->track.chunks.count, 64);
}

/* How many of at most `max` steps, of which `made` were made, may have been after the waits of
 * `thread`: its share of those that the threads before it have left, `weights` being the sum
 * from it on. Threads come in no order of importance, so none may use up what others need. */
static uint64_t share_of(const struct account *account, uint64_t made, uint64_t max,
			 uint32_t thread, uint64_t weights)
{
	uint64_t left = made < max ? max - made : 0;

	return made + left * weight_of(account->session, thread) / weights;
}

static void account_share(struct account *account, uint32_t thread, uint64_t weights)
{
	account_thread(account, thread,
		       share_of(account, account->steps, STEPS_MAX, thread, weights),
		       share_of(account, account->runs, RUNS_MAX, thread, weights));
}

/* Kernel threads' waits delay nobody by themselves; see is_asked_for(). */
static bool counts(const struct session *session, uint32_t thread)
{
	return is_asked_for(session, thread) &&
	       !thread_is_kernel(&session->trace.model,
				 model_thread(&session->trace.model, thread));
}

/* `shared`: each thread has its share of the steps; else who comes first may use them,
 * and it is given up where they do not suffice: false. */
static bool account_all(struct account *account, bool shared)
{
	const struct session *session = account->session;
	uint32_t count = session->trace.model.thread_count;
	g_autofree bool *tracers = session_tracers(account->session);
	uint64_t weights = 0;

	for (uint32_t i = 0; i < count; i++)
		weights += counts(session, i) && !tracers[i] ? weight_of(session, i) : 0;
	for (uint32_t i = 0; i < count; i++) {
		if (!counts(session, i))
			continue;
		if (tracers[i]) {
			account_tracer(account, i);
			continue;
		}
		if (shared)
			account_share(account, i, weights);
		else
			account_thread(account, i, STEPS_MAX, RUNS_MAX);
		weights -= weight_of(session, i);
		if (!shared && (account->steps > STEPS_MAX || account->runs > RUNS_MAX))
			return false;
	}
	return true;
}

static void mark_tracers(struct waiting *waiting, const struct session *session)
{
	g_autofree bool *tracers = session_tracers(session);

	for (guint i = 0; i < waiting->imposers->len; i++) {
		struct imposer *at = &g_array_index(waiting->imposers, struct imposer, i);

		at->tracer = at->thread != NO_THREAD && tracers[at->thread];
	}
}

static int most_imposing(gconstpointer a, gconstpointer b)
{
	const struct imposer *x = a, *y = b;

	if (!x->ns != !y->ns) /* see drop_idle_imposers() */
		return !x->ns - !y->ns;
	if (x->tracer != y->tracer)
		return x->tracer - y->tracer;
	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	return x->resource < y->resource ? -1 : x->resource > y->resource;
}

static void knot_clear(gpointer data)
{
	g_array_free(((struct knot *) data)->threads, TRUE);
}

/* Those over which waits were only led to others impose nothing, and no wait lost
 * anything to them: at the list's end, as it is sorted. */
static void drop_idle_imposers(GArray *imposers)
{
	guint count = imposers->len;

	while (count && !g_array_index(imposers, struct imposer, count - 1).ns)
		count--;
	g_array_set_size(imposers, count);
}

/* NULL: too many steps; see account_all(). */
static struct waiting *waiting_of(const struct session *session, bool shared)
{
	struct waiting *waiting = g_new0(struct waiting, 1);
	struct account account;
	bool done;

	waiting->imposers = g_array_new(FALSE, FALSE, sizeof(struct imposer));
	waiting->knots = g_array_new(FALSE, FALSE, sizeof(struct knot));
	waiting->lost = g_array_new(FALSE, TRUE, sizeof(int64_t));
	g_array_set_size(waiting->lost, session->trace.model.thread_count);
	g_array_set_clear_func(waiting->knots, knot_clear);
	account_init(&account, session, waiting);
	done = account_all(&account, shared);
	mark_tracers(waiting, session);
	if (done && waiting->imposed >= (session->asked.to - session->asked.from) / KNOT_PART)
		knots_find(waiting, account.directs, session->trace.model.thread_count);
	if (done && session->asked.options->format == FORMAT_HTML)
		waiting->edges = edges_new(account.directs);
	account_clear(&account);
	if (!done) {
		waiting_free(waiting);
		return NULL;
	}
	g_array_sort(waiting->imposers, most_imposing);
	drop_idle_imposers(waiting->imposers);
	return waiting;
}

struct waiting *waiting_new(const struct session *session)
{
	struct waiting *waiting = waiting_of(session, false);

	return waiting ? waiting : waiting_of(session, true);
}

void waiting_free(struct waiting *waiting)
{
	g_array_free(waiting->imposers, TRUE);
	g_array_free(waiting->knots, TRUE);
	g_array_free(waiting->lost, TRUE);
	if (waiting->edges)
		g_array_free(waiting->edges, TRUE);
	g_free(waiting);
}

const char *imposed_text(enum imposed kind)
{
	static const char *const texts[IMPOSED_KINDS] = {
		[IMPOSED_WORK] = "worked",
		[IMPOSED_CPU] = "waited for a CPU",
		[IMPOSED_SLEEP] = "slept",
		[IMPOSED_DEVICE] = "waited for a device",
		[IMPOSED_LIMIT] = "was kept back by a limit",
		[IMPOSED_NETWORK] = "waited for the network",
		[IMPOSED_SILENCE] = "did not answer or end in time",
		[IMPOSED_OTHER] = "was in an unknown state, or not followed",
		[IMPOSED_RAN] = "kept them off the CPU",
		[IMPOSED_IN_WAY] = "had its data in their way"};

	return texts[kind];
}
