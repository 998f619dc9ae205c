/* Charging waits, and leading each down its chain; see waiting.h. */
#include "analysis/waiting.h"

#include "analysis/ready.h"
#include "analysis/summary.h"

#include <string.h>

#define WAITS_MAX 1000  /* followed of one thread */
#define DEPTH_MAX 24    /* threads in a chain */
#define STEPS_MAX 20000000 /* intervals read in all */

/* The wait that is being led down. */
struct charge {
	uint32_t waiter;
	int64_t begin, end;
	bool spans_gap;
};

struct charger {
	const struct session *session;
	struct waiting *waiting;
	struct contacts contacts;
	struct idmap threads;   /* thread -> index in imposers */
	struct idmap resources; /* host and interned key -> index in imposers */
	struct idmap pairs;     /* imposer and waiter: met already */
	struct charge charge;
	GArray *parts;          /* struct part: of the wait at hand */
	GArray *directs;        /* struct direct */
	uint32_t path[DEPTH_MAX];
	guint depth;
	uint64_t steps;
};

/* What the wait at hand owes an imposer so far; most waits have few. */
struct part {
	uint32_t imposer;
	int64_t ns;
};

/* The thread; or the resource, if there is one, of the thread's host. */
static uint32_t imposer_of(struct charger *charger, uint32_t thread, uint32_t resource)
{
	uint16_t host = model_thread(&charger->session->model, thread)->host;
	struct idmap *map = resource ? &charger->resources : &charger->threads;
	uint64_t key = resource ? (uint64_t) host << 32 | resource : thread;
	uint32_t index = idmap_get(map, key);
	struct imposer fresh = {.thread = resource ? NO_THREAD : thread, .resource = resource,
				.host = host, .waiter = NO_THREAD};

	if (index != IDMAP_NONE)
		return index;
	index = charger->waiting->imposers->len;
	idmap_set(map, key, index);
	g_array_append_val(charger->waiting->imposers, fresh);
	return index;
}

static struct imposer *owe(struct charger *charger, uint32_t index, int64_t ns)
{
	struct imposer *imposer = &g_array_index(charger->waiting->imposers, struct imposer, index);
	struct part fresh = {index, ns};

	imposer->ns += ns;
	for (guint i = 0; i < charger->parts->len; i++)
		if (g_array_index(charger->parts, struct part, i).imposer == index) {
			g_array_index(charger->parts, struct part, i).ns += ns;
			return imposer;
		}
	g_array_append_val(charger->parts, fresh);
	return imposer;
}

static void owe_thread(struct charger *charger, uint32_t thread, enum imposed kind, int64_t ns)
{
	if (ns <= 0)
		return;
	owe(charger, imposer_of(charger, thread, 0), ns)->by[kind] += ns;
	charger->waiting->by_threads += ns;
}

static void owe_resource(struct charger *charger, uint32_t thread, uint32_t resource, int64_t ns)
{
	if (resource && ns > 0)
		owe(charger, imposer_of(charger, thread, resource), ns);
}

static uint32_t intern_key(const struct charger *charger, const char *prefix, const char *name)
{
	g_autofree char *key = g_strconcat(prefix, name, NULL);

	return intern_id(charger->session->model.names, key);
}

/* The device, peer or interrupt that ended a wait which led to nobody. */
static uint32_t hardware(const struct charger *charger, const struct block *block)
{
	const struct session *session = charger->session;
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->timeline, block->detail) : NULL;
	g_autofree char *frame = NULL;

	if (detail && detail->kind == DETAIL_REQUEST)
		return intern_key(charger, "device:", session_text(session, detail->text));
	if (detail && detail->kind == DETAIL_PACKET)
		return intern_key(charger, "socket:",
				  detail->text ? session_text(session, detail->text) : "network");
	if (block->kind == WAKER_IRQ && block->label)
		return intern_key(charger, "device:", session_text(session, block->label));
	if (block->kind == WAKER_SOFTIRQ && softirq_name(PACK_NUMBER(block->context)))
		return intern_key(charger, "work:softIRQ ",
				  softirq_name(PACK_NUMBER(block->context)));
	frame = frame_text(session, block->context, false);
	return intern_key(charger, "work:", frame);
}

static bool is_timer(const struct charger *charger, const struct block *block)
{
	const struct wake_detail *detail =
		block->detail ? detail_at(&charger->session->timeline, block->detail) : NULL;

	return block->kind == WAKER_HRTIMER || (detail && detail->kind == DETAIL_TIMER);
}

static bool on_path(const struct charger *charger, uint32_t thread)
{
	for (guint i = 0; i < charger->depth; i++)
		if (charger->path[i] == thread)
			return true;
	return false;
}

static void lead_down(struct charger *charger, uint32_t thread, int64_t from, int64_t to);

/* A wait of `thread` meanwhile that nobody ended, or none that can be followed. */
static void chain_ends(struct charger *charger, uint32_t thread, const struct block *block,
		       int64_t ns)
{
	if (is_timer(charger, block)) {
		owe_thread(charger, thread, IMPOSED_SLEEP, ns);
	} else if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE ||
		   block->kind == WAKER_THREAD) {
		owe_thread(charger, thread, IMPOSED_OTHER, ns);
	} else {
		owe_thread(charger, thread, IMPOSED_DEVICE, ns);
		owe_resource(charger, thread, hardware(charger, block), ns);
	}
}

static void blocked_meanwhile(struct charger *charger, uint32_t thread, const struct span *span)
{
	const struct block *block = block_at(&charger->session->timeline, span->ref);
	struct lead lead;

	if (!block_lead(charger->session, block, thread, span->begin, span->end, &lead) ||
	    on_path(charger, lead.thread) || charger->depth == DEPTH_MAX) {
		chain_ends(charger, thread, block, span->end - span->begin);
		return;
	}
	lead_down(charger, lead.thread, span->begin, lead.until);
	if (lead.until < span->end) { /* the messenger's */
		owe_thread(charger, thread, IMPOSED_DEVICE, span->end - lead.until);
		owe_resource(charger, thread, hardware(charger, block), span->end - lead.until);
	}
}

/* Before the thread's birth its parent, unless that is who waits. */
static void before_birth(struct charger *charger, uint32_t thread, int64_t from, int64_t to)
{
	uint32_t parent = model_thread(&charger->session->model, thread)->parent;

	if (is_thread(parent) && !on_path(charger, parent) && charger->depth < DEPTH_MAX)
		lead_down(charger, parent, from, to);
	else
		owe_thread(charger, thread, IMPOSED_OTHER, to - from);
}

/* [from, to) of the wait at hand is what `thread` did then, or who it waited for. */
static void lead_down(struct charger *charger, uint32_t thread, int64_t from, int64_t to)
{
	struct spans spans;
	struct span span;
	int64_t at = from;
	uint32_t index;

	if (from >= to)
		return;
	charger->path[charger->depth++] = thread;
	index = imposer_of(charger, thread, 0);
	g_array_index(charger->waiting->imposers, struct imposer, index).through += to - from;
	spans_begin(&spans, charger->session, thread, from, to);
	while (spans_next(&spans, &span)) {
		int64_t ns = span.end - span.begin;

		charger->steps++;
		if (span.begin > at)
			before_birth(charger, thread, at, span.begin);
		at = span.end;
		if (leaf_is_blocked(span.leaf))
			blocked_meanwhile(charger, thread, &span);
		else if (leaf_is_off_cpu(span.leaf))
			owe_thread(charger, thread, IMPOSED_CPU, ns);
		else
			owe_thread(charger, thread,
				   leaf_wib(span.leaf) == WIB_UNKNOWN ? IMPOSED_OTHER : IMPOSED_WORK,
				   ns);
	}
	if (at < to && at == from && model_thread(&charger->session->model, thread)->begin >= to)
		before_birth(charger, thread, at, to);
	else
		owe_thread(charger, thread, IMPOSED_OTHER, to - at); /* it was over */
	charger->depth--;
}

/* The wait at hand is led down: who lost most to whom, and how many did. */
static void settle(struct charger *charger)
{
	for (guint i = 0; i < charger->parts->len; i++) {
		const struct part *part = &g_array_index(charger->parts, struct part, i);
		struct imposer *imposer =
			&g_array_index(charger->waiting->imposers, struct imposer, part->imposer);
		uint64_t pair = (uint64_t) part->imposer << 32 | charger->charge.waiter;

		if (part->ns > imposer->worst) {
			imposer->worst = part->ns;
			imposer->waiter = charger->charge.waiter;
			imposer->begin = charger->charge.begin;
			imposer->end = charger->charge.end;
		}
		imposer->spans_gap |= charger->charge.spans_gap;
		if (idmap_get(&charger->pairs, pair) == IDMAP_NONE) {
			idmap_set(&charger->pairs, pair, 0);
			imposer->waiters++;
		}
	}
	g_array_set_size(charger->parts, 0);
}

/* Of a wait that led to nobody: imposed by hardware, or not imposed. */
static void charge_hardware(struct charger *charger, uint32_t thread, const struct span *span,
			    const struct block *block)
{
	struct waiting *waiting = charger->waiting;
	int64_t ns = span->end - span->begin;

	if (block->kind == WAKER_NONE)
		waiting->open += ns;
	else if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_THREAD)
		waiting->unknown += ns;
	else if (is_timer(charger, block))
		waiting->own += ns;
	else if (contacts_idle_hardware(charger->session, thread, span->leaf, block))
		waiting->idle += ns;
	else {
		waiting->imposed += ns;
		owe_resource(charger, thread, hardware(charger, block), ns);
	}
}

/* The wait is led down its chain. */
static void charge_wait(struct charger *charger, uint32_t thread, const struct span *span)
{
	const struct session *session = charger->session;
	const struct block *block = block_at(&session->timeline, span->ref);
	struct direct direct = {.waiter = thread, .ns = span->end - span->begin,
				.host = model_thread(&session->model, thread)->host};
	struct lead lead;

	block_lead(session, block, thread, span->begin, span->end, &lead);
	charger->waiting->imposed += direct.ns;
	direct.lead = lead.thread;
	direct.resource = block_waits_for(session, block);
	g_array_append_val(charger->directs, direct);
	if (wait_is_for_lock(session, thread, span->leaf, block))
		owe_resource(charger, thread, direct.resource, direct.ns);
	charger->path[0] = thread;
	charger->depth = 1;
	lead_down(charger, lead.thread, span->begin, lead.until);
	charger->depth = 0;
	if (lead.until < span->end)
		owe_resource(charger, thread, hardware(charger, block), span->end - lead.until);
}

static void charge_run(int64_t begin, int64_t end, uint32_t thread, void *data)
{
	struct charger *charger = data;

	if (is_thread(thread) && thread != charger->charge.waiter) {
		owe_thread(charger, thread, IMPOSED_RAN, end - begin);
		charger->waiting->imposed += end - begin;
	} else if (thread != IDLE_THREAD) {
		charger->waiting->unknown += end - begin;
	}
}

/* Ready without a CPU: who ran there, or why the CPU idled. */
static void charge_ready(struct charger *charger, uint32_t thread, const struct span *span)
{
	const struct session *session = charger->session;
	struct ready ready = ready_of(session, thread, span);
	const char *why = ready.kind == READY_THROTTLED ? "cpu:quota" : "cpu:idle";

	charger->waiting->imposed += ready.idle;
	if (ready.idle)
		owe_resource(charger, thread, intern_id(session->model.names, why), ready.idle);
	each_run(session, model_thread(&session->model, thread)->host, span->ref, span->begin,
		 span->end, charge_run, charger);
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

/* A wait that a thread ended, to be led down; the others are charged at once. */
static bool leads_on(struct charger *charger, uint32_t thread, const struct span *span)
{
	const struct session *session = charger->session;
	const struct block *block = block_at(&session->timeline, span->ref);
	int64_t ns = span->end - span->begin;
	struct lead lead;

	if (span->end == session->to && session_blocked_at(session, thread, session->to)) {
		charger->waiting->open += ns;
		return false;
	}
	if (!block_lead(session, block, thread, span->begin, span->end, &lead) ||
	    lead.thread == thread) {
		charge_hardware(charger, thread, span, block);
		return false;
	}
	if (PACK_KIND(span->leaf) == LEAF_BLOCK_UNKNOWN) { /* in what, was before the trace */
		charger->waiting->unknown += ns;
		return false;
	}
	if (is_thread(block->child) && !model_thread(&session->model, thread)->born) {
		charger->waiting->children += ns;
		return false;
	}
	if (contacts_idle(&charger->contacts, thread, span->leaf, block, lead.thread)) {
		charger->waiting->idle += ns;
		return false;
	}
	return true;
}

/* Charges all but the waits to be led down, and gives the longest of these; some
 * more are collected before the list is cut. */
static GArray *waits_of(struct charger *charger, uint32_t thread)
{
	const struct session *session = charger->session;
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct span));
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->from, session->to);
	while (spans_next(&spans, &span)) {
		if (!leaf_is_off_cpu(span.leaf))
			continue;
		charger->charge = (struct charge) {thread, span.begin, span.end,
						   session_spans_gap(session, thread, &span)};
		if (!leaf_is_blocked(span.leaf))
			charge_ready(charger, thread, &span);
		else if (leads_on(charger, thread, &span))
			g_array_append_val(list, span);
		settle(charger);
		if (list->len == 4 * WAITS_MAX) {
			g_array_sort(list, longest);
			leave_out(charger->waiting, list, WAITS_MAX);
		}
	}
	g_array_sort(list, longest);
	leave_out(charger->waiting, list, WAITS_MAX);
	return list;
}

static void charge_thread(struct charger *charger, uint32_t thread)
{
	GArray *list = waits_of(charger, thread);

	for (guint i = 0; i < list->len; i++) {
		const struct span *span = &g_array_index(list, struct span, i);

		if (charger->steps > STEPS_MAX) {
			leave_out(charger->waiting, list, i);
			break;
		}
		charger->charge = (struct charge) {thread, span->begin, span->end,
						   session_spans_gap(charger->session, thread,
								     span)};
		charge_wait(charger, thread, span);
		settle(charger);
	}
	g_array_free(list, TRUE);
}

/* The recorder's own processes, by the names of their threads: what they wait for
 * is the price of the trace. One flag a thread, owned by the caller. */
static bool *tracers_of(const struct charger *charger)
{
	const struct session *session = charger->session;
	const uint32_t *process = charger->contacts.process;
	uint32_t count = session->model.thread_count;
	bool *tracers = g_new0(bool, count + 1);

	for (uint32_t i = 0; i < count; i++) {
		const struct thread *thread = model_thread(&session->model, i);
		const char *program = session_text(session, thread->program);
		const char *base = strrchr(program, '/');
		const char *names[] = {session_thread_name(session, i), base ? base + 1 : program};

		for (size_t k = 0; k < G_N_ELEMENTS(names); k++)
			tracers[process[i]] |= g_str_has_prefix(names[k], "lttng-") ||
					       strcmp(names[k], "lttng") == 0;
	}
	for (uint32_t i = 0; i < count; i++)
		tracers[i] = tracers[process[i]];
	return tracers;
}

/* Sums apart what the waits of a thread of the tracer come to. */
static void charge_tracer(struct charger *charger, uint32_t thread)
{
	const struct session *session = charger->session;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->from, session->to);
	while (spans_next(&spans, &span))
		if (leaf_is_off_cpu(span.leaf))
			charger->waiting->tracer += span.end - span.begin;
}

/* --host: only the waits of its threads, whoever imposed them. */
static bool is_asked_for(const struct session *session, uint32_t thread)
{
	uint16_t host = model_thread(&session->model, thread)->host;

	return !session->options->host ||
	       g_strcmp0(session->options->host,
			 model_host(&session->model, host)->hostname) == 0;
}

static int most_imposing(gconstpointer a, gconstpointer b)
{
	const struct imposer *x = a, *y = b;

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

struct waiting *waiting_new(const struct session *session)
{
	struct waiting *waiting = g_new0(struct waiting, 1);
	struct charger charger = {.session = session, .waiting = waiting};
	bool *tracers;

	waiting->imposers = g_array_new(FALSE, FALSE, sizeof(struct imposer));
	waiting->knots = g_array_new(FALSE, FALSE, sizeof(struct knot));
	g_array_set_clear_func(waiting->knots, knot_clear);
	charger.parts = g_array_new(FALSE, FALSE, sizeof(struct part));
	charger.directs = g_array_new(FALSE, FALSE, sizeof(struct direct));
	idmap_init(&charger.threads);
	idmap_init(&charger.resources);
	idmap_init(&charger.pairs);
	contacts_init(&charger.contacts, session);
	tracers = tracers_of(&charger);
	for (uint32_t i = 0; i < session->model.thread_count; i++)
		if (!is_asked_for(session, i) ||
		    thread_is_kernel(&session->model, model_thread(&session->model, i)))
			continue;
		else if (tracers[i])
			charge_tracer(&charger, i);
		else
			charge_thread(&charger, i);
	knots_find(waiting, charger.directs, session->model.thread_count);
	g_array_sort(waiting->imposers, most_imposing);
	g_free(tracers);
	contacts_clear(&charger.contacts);
	idmap_clear(&charger.threads);
	idmap_clear(&charger.resources);
	idmap_clear(&charger.pairs);
	g_array_free(charger.parts, TRUE);
	g_array_free(charger.directs, TRUE);
	return waiting;
}

void waiting_free(struct waiting *waiting)
{
	g_array_free(waiting->imposers, TRUE);
	g_array_free(waiting->knots, TRUE);
	g_free(waiting);
}

const char *imposed_text(enum imposed kind)
{
	static const char *const texts[IMPOSED_KINDS] = {
		[IMPOSED_WORK] = "worked", [IMPOSED_CPU] = "waited for a CPU",
		[IMPOSED_SLEEP] = "slept", [IMPOSED_DEVICE] = "waited for a device",
		[IMPOSED_OTHER] = "did what is not known",
		[IMPOSED_RAN] = "ran where they were ready to"};

	return texts[kind];
}
