/* SPDX-License-Identifier: MIT */
/* Measuring a trace for its limits; see measure.h. */
#include "limits/measure.h"

#include <string.h>

#include "latencies/operations.h"
#include "limits/measure_cpu.h"
#include "run/choosing.h"
#include "coverage/coverage.h"
#include "tracking/request_list.h"
#include "waits/idle.h"
#include "waits/summary.h"
#include "util/pattern.h"

static void measure_free(gpointer data)
{
	struct measure *measure = data;

	g_free(measure->subject);
	histogram_clear(&measure->sure);
	histogram_clear(&measure->doubtful);
	g_clear_pointer(&measure->sure_values, g_array_unref);
	g_clear_pointer(&measure->doubtful_values, g_array_unref);
	g_array_free(measure->parts, TRUE);
	g_free(measure);
}

struct measures *measures_empty(void)
{
	struct measures *measures = g_new0(struct measures, 1);

	measures->list = g_ptr_array_new_with_free_func(measure_free);
	return measures;
}

void measures_free(struct measures *measures)
{
	if (!measures)
		return;
	g_ptr_array_free(measures->list, TRUE);
	g_free(measures->lacks);
	g_free(measures);
}

struct measure *measures_find(struct measures *measures, const char *subject)
{
	guint low = 0, high = measures->list->len;
	struct measure *measure;

	while (low < high) {
		guint middle = low + (high - low) / 2;
		int order;

		measure = g_ptr_array_index(measures->list, middle);
		order = strcmp(measure->subject, subject);
		if (order == 0)
			return measure;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	measure = g_new0(struct measure, 1);
	measure->subject = g_strdup(subject);
	histogram_init(&measure->sure);
	histogram_init(&measure->doubtful);
	measure->parts = g_array_new(FALSE, TRUE, sizeof(double));
	measure->thread = NO_THREAD;
	g_ptr_array_insert(measures->list, (gint) low, measure);
	return measure;
}

/* --- what several traces add up to ------------------------------------------ */

/* A duration is that of the slowest trace, or with < of the quickest; the rest adds up. */
static double add_value(double a, double b, const struct limit *limit)
{
	if (limit->bound.function != LIMIT_DURATION)
		return a + b;
	return limit->bound.comparison >= UNDER ? MIN(a, b) : MAX(a, b);
}

void measures_add(struct measures *measures, const struct measures *others,
		  const struct limit *limit)
{
	for (guint i = 0; i < others->list->len; i++) {
		const struct measure *from = g_ptr_array_index(others->list, i);
		guint before = measures->list->len;
		struct measure *to = measures_find(measures, from->subject);

		histogram_add(&to->sure, &from->sure, MEASURE_BUCKETS);
		histogram_add(&to->doubtful, &from->doubtful, MEASURE_BUCKETS);
		to->parts = g_array_set_size(to->parts, MAX(to->parts->len, from->parts->len));
		for (guint p = 0; p < from->parts->len; p++)
			g_array_index(to->parts, double, p) +=
				g_array_index(from->parts, double, p);
		to->whole += from->whole;
		to->unknown += from->unknown;
		to->variance += from->variance;
		to->value = measures->list->len > before ? from->value
							 : add_value(to->value, from->value, limit);
		to->open |= from->open;
	}
	measures->merged = true;
	if (others->lacks && !measures->lacks)
		measures->lacks = g_strdup(others->lacks);
}

/* --- of one trace ---------------------------------------------------------- */

static bool is_selected(const struct session *session, uint32_t thread)
{
	for (guint i = 0; i < session->asked.selected->len; i++)
		if (g_array_index(session->asked.selected, uint32_t, i) == thread)
			return true;
	return !session->asked.selected->len;
}

bool measure_scope_init(struct measure_scope *scope, const struct session *session,
			const struct limit *limit)
{
	const GArray *named = g_ptr_array_index(session->asked.limit_threads, limit->number);

	scope->session = *session;
	scope->options = *session->asked.options;
	scope->session.asked.options = &scope->options;
	scope->operations = g_ptr_array_new();
	if (limit->operation)
		g_ptr_array_add(scope->operations, limit->operation);
	scope->options.profile.operations = scope->operations;
	scope->options.profile.per = PER_NOTHING;
	scope->options.profile.time_lapse = 0;
	scope->options.profile.peak = 0;
	if (limit->requests && *limit->requests)
		scope->options.requests.preset =
			strcmp(limit->requests, "client") == 0 ? PRESET_CLIENT
			: *limit->requests == 's'              ? PRESET_SERVER
							       : PRESET_PROCESS;
	scope->selected = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	for (guint i = 0; i < named->len; i++)
		if (is_selected(session, g_array_index(named, uint32_t, i)))
			g_array_append_val(scope->selected, g_array_index(named, uint32_t, i));
	if (limit->thread || limit->process)
		scope->session.asked.selected = scope->selected;
	return scope->selected->len || !(limit->thread || limit->process);
}

void measure_scope_clear(struct measure_scope *scope)
{
	g_array_free(scope->selected, TRUE);
	g_ptr_array_free(scope->operations, TRUE);
}

static bool wants_values(const struct limit *limit)
{
	bool wants = limit->bound.function == LIMIT_PERCENTILE;

	for (guint i = 0; i < limit->conditions->len; i++)
		wants |= g_array_index(limit->conditions, struct bound, i).function ==
			 LIMIT_PERCENTILE;
	return wants;
}

static void take_latency(struct measure *measure, const struct buckets *buckets, int64_t latency,
			 bool doubtful, bool keep)
{
	GArray **values = doubtful ? &measure->doubtful_values : &measure->sure_values;

	histogram_count(doubtful ? &measure->doubtful : &measure->sure, buckets, latency);
	if (!keep)
		return;
	if (!*values)
		*values = g_array_new(FALSE, FALSE, sizeof(int64_t));
	g_array_append_val(*values, latency);
}

/* The slowest that is sure shows what the limit is about. */
static void take_example(struct measure *measure, uint32_t thread, int64_t begin, int64_t end)
{
	if (measure->thread != NO_THREAD && end - begin <= measure->end - measure->begin)
		return;
	measure->thread = thread;
	measure->begin = begin;
	measure->end = end;
}

/* "nginx (213)", of a process its leader. */
static char *thread_subject(const struct session *session, uint32_t index, bool process)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	uint32_t leader;

	if (process && thread->pid >= 0 && thread->pid != thread->tid) {
		leader = session_thread_at(session, thread->host, thread->pid, thread->begin);
		if (leader != NO_THREAD)
			index = leader;
	}
	return g_strdup_printf("%s (%d)%s", session_thread_name(session, index),
			       process && thread->pid >= 0 ? thread->pid : thread->tid,
			       session_on(session, index));
}

/* The measure of one operation, found again by what it is and whose. */
static struct measure *
of_operation(struct measures *measures, const struct session *session, GHashTable *known,
	     const struct operation *operation, enum limit_per per)
{
	uint32_t whose = per && operation_has_thread(operation) ? operation->thread : NO_THREAD;
	gint64 key = (gint64) ((uint64_t) whose << 32 | operation_what(session, operation));
	struct measure *measure = g_hash_table_lookup(known, &key);
	g_autofree char *name = NULL, *thread = NULL, *subject = NULL;

	if (measure || (per && whose == NO_THREAD))
		return measure;
	name = operation_name(session, operation_what(session, operation));
	if (per)
		thread = thread_subject(session, whose, per == LIMIT_PER_PROCESS);
	subject = g_strconcat(name, per ? ", " : NULL, thread, NULL);
	measure = measures_find(measures, subject);
	g_hash_table_insert(known, g_memdup2(&key, sizeof key), measure);
	return measure;
}

static void measure_operations(struct measures *measures, const struct session *session,
			       const struct limit *limit, const struct buckets *buckets)
{
	g_autoptr(GHashTable)
		known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	const struct pages *store = &session->trace.timeline.operations;
	bool keep = wants_values(limit);
	struct operation_scope scope;

	operation_scope_init(&scope, session);
	for (uint32_t i = 1; i < store->used; i++) {
		const struct operation *operation = operation_at(store, i);
		struct measure *measure;
		bool doubtful;

		pages_pass(store, i);
		if (!operation_in_scope(&scope, operation, i))
			continue;
		measure = of_operation(measures, session, known, operation, limit->per);
		if (!measure)
			continue;
		doubtful = operation_spans_gap(session, operation);
		take_latency(measure, buckets, (int64_t) operation->duration, doubtful, keep);
		if (!doubtful && operation_has_thread(operation))
			take_example(measure, operation->thread, operation->begin,
				     operation_end(operation));
	}
	operation_scope_clear(&scope);
}

static void measure_requests(struct measures *measures, const struct session *session,
			     const struct limit *limit, const struct buckets *buckets)
{
	struct request_scope scope = {NULL, "pick", session->asked.from, session->asked.to};
	g_autoptr(GPtrArray) picks = g_ptr_array_new();
	struct user_requests *requests;
	bool keep = wants_values(limit);

	scope.picks = picks;
	requests = user_requests_new(session, &scope, NULL);
	for (guint i = 0; requests && i < requests->listed->len; i++) {
		const struct user_request *request =
			user_request_at(requests, g_array_index(requests->listed, uint32_t, i));
		struct measure *measure = measures_find(measures, "requests");
		bool doubtful = request->spans_gap || request->unfinished;

		take_latency(measure, buckets, request->end - request->begin, doubtful, keep);
		if (!doubtful)
			take_example(measure, request->last, request->begin, request->end);
	}
	user_requests_free(requests);
}

/* It began before the trace, in a call not seen, and outlasts it: nobody is seen to be delayed. */
static bool is_unseen(const struct session *session, const struct wait *wait)
{
	g_autofree char *key = wait->woken ? NULL : leaf_key(session, wait->leaf);

	return g_strcmp0(key, "blocked/unknown") == 0;
}

bool measure_counts(const struct session *session, uint32_t thread, const struct span *span)
{
	struct wait wait;

	if (!leaf_is_blocked(span->leaf))
		return true;
	wait = wait_of(session, thread, span);
	wait_cut_at(&wait, session, session->asked.to);
	return !wait.block || !(wait_is_at_leisure(session, &wait) || is_unseen(session, &wait));
}

/* The thread with most of it is the example. */
static void take_thread(const struct session *session, uint32_t thread, struct measure *measure,
			double ns)
{
	const struct thread *life = model_thread(&session->trace.model, thread);

	if (measure->thread != NO_THREAD && ns <= measure->value)
		return;
	measure->thread = thread;
	measure->value = ns;
	measure->begin = MAX(life->begin, session->asked.from);
	measure->end = MIN(life->end, session->asked.to);
}

static void sum_states(const struct session *session, uint32_t thread, const struct limit *limit,
		       struct measure *measure)
{
	g_autoptr(GHashTable) keys = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	double longest = measure->parts->len ? g_array_index(measure->parts, double, 0) : 0;
	struct spans spans;
	struct span span;

	g_array_set_size(measure->parts, limit->conditions->len + 1);
	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		gpointer leaf = GUINT_TO_POINTER(span.leaf);
		const char *key = g_hash_table_lookup(keys, leaf);
		double ns = (double) (span.end - span.begin);
		bool counts = measure_counts(session, thread, &span);

		if (!key)
			g_hash_table_insert(keys, leaf,
					    (gpointer) (key = leaf_key(session, span.leaf)));
		measure->whole += ns;
		if (PACK_KIND(span.leaf) == LEAF_UNKNOWN)
			measure->unknown += ns;
		for (guint p = 0; p < measure->parts->len; p++) {
			const struct bound *bound =
				p ? &g_array_index(limit->conditions, struct bound, p - 1)
				  : &limit->bound;

			if (counts && pattern_match(bound->state, key))
				g_array_index(measure->parts, double, p) += ns;
		}
	}
	take_thread(session, thread, measure, g_array_index(measure->parts, double, 0) - longest);
}

static void sum_function(const struct session *session, uint32_t thread, const struct limit *limit,
			 struct measure *measure)
{
	struct function_time time = function_time_of(session, thread, limit->code);

	g_array_set_size(measure->parts, 1);
	g_array_index(measure->parts, double, 0) += time.ns;
	measure->variance += time.variance;
	measure->whole += time.whole;
	measure->unknown += time.unknown;
	take_thread(session, thread, measure, time.ns);
}

static void measure_states(struct measures *measures, const struct session *session,
			   const struct limit *limit)
{
	guint count = session->asked.selected->len ? session->asked.selected->len
						   : session->trace.model.thread_count;

	for (guint i = 0; i < count; i++) {
		uint32_t thread = session->asked.selected->len
					  ? g_array_index(session->asked.selected, uint32_t, i)
					  : i;
		const struct thread *life = model_thread(&session->trace.model, thread);
		g_autofree char *subject = NULL;

		if (MAX(life->begin, session->asked.from) >= MIN(life->end, session->asked.to))
			continue;
		subject = limit->per
				  ? thread_subject(session, thread, limit->per == LIMIT_PER_PROCESS)
				  : g_strdup(limit->thread    ? limit->thread
					     : limit->process ? limit->process
							      : "all threads");
		if (limit->bound.function == LIMIT_CPU)
			sum_function(session, thread, limit, measures_find(measures, subject));
		else
			sum_states(session, thread, limit, measures_find(measures, subject));
	}
}

/* From the first birth to the last death of the threads; without any, the window. */
static void measure_duration(struct measures *measures, const struct session *session,
			     const struct limit *limit)
{
	bool named = limit->thread || limit->process;
	struct measure *measure =
		measures_find(measures, limit->thread                        ? limit->thread
					: limit->process                     ? limit->process
					: session->asked.target != NO_THREAD ? "to the target"
									     : "the window");
	int64_t first = INT64_MAX, last = INT64_MIN;

	measure->begin = session->asked.from;
	measure->end = session->asked.to;
	measure->thread = session->asked.target;
	for (guint i = 0; named && i < session->asked.selected->len; i++) {
		uint32_t thread = g_array_index(session->asked.selected, uint32_t, i);
		const struct thread *life = model_thread(&session->trace.model, thread);

		if (life->begin < first) {
			first = life->begin;
			measure->thread = thread;
			measure->open |= !life->born;
		}
		last = MAX(last, life->end);
	}
	if (named) {
		measure->begin = MAX(first, session->asked.from);
		measure->end = MIN(last, session->asked.to);
		measure->open |= first < session->asked.from || last >= session->asked.to;
	}
	measure->value = (double) (measure->end - measure->begin);
}

static void measure_lost(struct measures *measures, const struct session *session)
{
	struct measure *measure = measures_find(measures, "events");
	struct coverage coverage;

	coverage_init(&coverage, session);
	measure->value = (double) coverage.discarded_events;
	/* how many events were in a packet that is gone is not known: one at least */
	measure->value += (double) coverage.discarded_packets;
	/* nor what was in the damaged part of a file: more may have been lost */
	measure->open = session->trace.damages->len || session->trace.stopped;
	coverage_clear(&coverage);
}

/* Events that the operations named are made of; bits as operations_named(). */
static const char *what_lacks(const struct session *session, const struct limit *limit)
{
	uint32_t kinds = limit->operation ? operations_named(limit->operation) : 0;
	const bool *has = session->trace.kinds;

	if ((limit->requests || kinds == 1u << OPERATION_SYSCALL) &&
	    !(has[EV_SYSCALL_ENTRY] && has[EV_SYSCALL_EXIT]))
		return "system calls were not recorded";
	if ((kinds == 1u << OPERATION_QUEUED || kinds == 1u << OPERATION_SERVED) &&
	    !has[EV_BLOCK_COMPLETE])
		return "block requests were not recorded";
	if (kinds == 1u << OPERATION_IRQ && !has[EV_IRQ_ENTRY])
		return "interrupts were not recorded";
	if (kinds == 1u << OPERATION_SOFTIRQ && !has[EV_SOFTIRQ_ENTRY])
		return "softIRQs were not recorded";
	if (kinds == 1u << OPERATION_VECTOR && !has[EV_VECTOR_ENTRY])
		return "interrupt vectors were not recorded";
	if (kinds == 1u << OPERATION_FAULT && !has[EV_PAGE_FAULT_USER])
		return "page faults were not recorded";
	if (limit->bound.function == LIMIT_CPU && !session->trace.timeline.samples.used)
		return "no call stacks of what ran were recorded (whylate record --samples)";
	if (limit->bound.function != LIMIT_LOST && !has[EV_SCHED_SWITCH])
		return "scheduling was not recorded";
	return NULL;
}

static int ascending(gconstpointer a, gconstpointer b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;

	return x < y ? -1 : x > y;
}

static char *nobody_lived(const struct session *session, const struct limit *limit)
{
	const char *wanted = limit->thread ? limit->thread : limit->process;
	g_autofree char *there =
		session_nearest_threads(session, wanted, !limit->thread, "; the trace has ");

	return g_strdup_printf("no %s '%s' lived in the window%s",
			       limit->thread ? "thread" : "process", wanted, there);
}

struct measures *measures_new(const struct session *session, const struct limit *limit)
{
	struct measures *measures = measures_empty();
	struct measure_scope scope;
	struct buckets buckets;

	buckets_init(&buckets, MEASURE_RESOLUTION);
	measures->lacks = g_strdup(what_lacks(session, limit));
	if (!measure_scope_init(&scope, session, limit)) {
		if (!measures->lacks)
			measures->lacks = nobody_lived(session, limit);
	} else if (limit->bound.function == LIMIT_CPU && measures->lacks) {
		/* a number of nothing would be no answer */
	} else if (limit->bound.function == LIMIT_STATE || limit->bound.function == LIMIT_CPU) {
		measure_states(measures, &scope.session, limit);
	} else if (limit->bound.function == LIMIT_DURATION) {
		measure_duration(measures, &scope.session, limit);
	} else if (limit->bound.function == LIMIT_LOST) {
		measure_lost(measures, &scope.session);
	} else if (limit->requests) {
		measure_requests(measures, &scope.session, limit, &buckets);
	} else {
		measure_operations(measures, &scope.session, limit, &buckets);
	}
	measure_scope_clear(&scope);
	buckets_clear(&buckets);
	for (guint i = 0; i < measures->list->len; i++) {
		struct measure *measure = g_ptr_array_index(measures->list, i);

		if (measure->sure_values)
			g_array_sort(measure->sure_values, ascending);
		if (measure->doubtful_values)
			g_array_sort(measure->doubtful_values, ascending);
	}
	return measures;
}
