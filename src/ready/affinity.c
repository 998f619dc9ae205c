/* SPDX-License-Identifier: MIT */
/* Judging who is pinned; see affinity.h. */
#include "ready/affinity.h"

#include <pthread.h>

#include "ready/idling.h"
#include "util/when.h"

#define CPUS_MAX 64      /* of a host; with more it is not looked at */
#define WAIT_MIN INT64_C(1000000) /* ns: until then a CPU may go on to be found */
#define WAITS_MAX 200    /* looked at of one thread */
/* Waits for its CPUs while another was idle: so many, or so much, are no chance. */
#define CALLED_WAITS 3
#define CALLED_NS INT64_C(50000000)
#define INFERRED_WAITS 5
#define INFERRED_NS INT64_C(100000000)

struct judged {
	pthread_mutex_t lock;     /* of what is being made known */
	bool *known;              /* owned; of each thread */
	struct affinity *affinity; /* owned; the same */
};

static void judged_free(gpointer data)
{
	struct judged *judged = data;

	pthread_mutex_destroy(&judged->lock);
	g_free(judged->known);
	g_free(judged->affinity);
	g_free(judged);
}

static void *judged_new(const struct session *session)
{
	struct judged *judged = g_new(struct judged, 1);

	pthread_mutex_init(&judged->lock, NULL);
	judged->known = g_new0(bool, session->trace.model.thread_count + 1);
	judged->affinity = g_new0(struct affinity, session->trace.model.thread_count + 1);
	return judged;
}

/* The CPU's place among its host's; CPUS_MAX: none. */
static uint32_t place_of_cpu(const struct session *session, uint16_t host, uint32_t cpu)
{
	uint32_t index =
		cpu == NO_CPU ? IDMAP_NONE
			      : idmap_get(&model_host(&session->trace.model, host)->cpu_index, cpu);

	return index >= CPUS_MAX ? CPUS_MAX : index;
}

uint32_t free_cpu(const struct session *session, uint16_t host_index, uint64_t but,
		  const struct span *span, int64_t *free)
{
	const struct host *host = model_host(&session->trace.model, host_index);
	uint32_t best = NO_CPU;

	*free = 0;
	for (guint i = 0; i < host->cpus->len && i < CPUS_MAX; i++) {
		const struct cpu *cpu = g_ptr_array_index(host->cpus, i);
		struct idling idling;

		if (!cpu || but & UINT64_C(1) << i)
			continue;
		idling = idling_of_cpu(session, host_index, cpu->id, span->begin, span->end);
		if (idling.idle > *free) {
			*free = idling.idle;
			best = cpu->id;
		}
	}
	return best;
}

static bool is_ready(uint32_t leaf)
{
	return PACK_KIND(leaf) == LEAF_PREEMPTED || PACK_KIND(leaf) == LEAF_WAIT_CPU;
}

/* The CPUs in whose queues it was, as a set; `one`: that there are several is all that counts. */
static uint64_t cpus_used(const struct session *session, uint32_t thread, int64_t from, bool one)
{
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	struct spans spans;
	struct span span;
	uint64_t used = 0;

	spans_begin(&spans, session, thread, from, session->trace.end + 1);
	while (!(one && used & (used - 1)) && spans_next_off_cpu(&spans, &span)) {
		uint32_t place =
			is_ready(span.leaf) ? place_of_cpu(session, host, span.ref) : CPUS_MAX;

		if (place < CPUS_MAX)
			used |= UINT64_C(1) << place;
	}
	return used;
}

/* It waited for these CPUs, with others there that were idle, so often and so long. */
static bool lost_much(const struct session *session, uint32_t thread,
		      const struct affinity *affinity, int64_t from)
{
	uint16_t host = model_thread(&session->trace.model, thread)->host;
	unsigned looked_at = 0, count = 0;
	int64_t lost = 0, free;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, from, session->trace.end + 1);
	while (looked_at < WAITS_MAX && spans_next_off_cpu(&spans, &span)) {
		if (!is_ready(span.leaf) || span.end - span.begin < WAIT_MIN)
			continue;
		looked_at++;
		free_cpu(session, host, affinity->cpus, &span, &free);
		if ((double) free < IDLE_SHARE * (double) (span.end - span.begin))
			continue;
		count++;
		lost += span.end - span.begin;
	}
	return affinity->inferred ? count >= INFERRED_WAITS && lost >= INFERRED_NS
				  : count >= CALLED_WAITS || lost >= CALLED_NS;
}

static struct affinity judge(const struct session *session, uint32_t thread)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	const struct host *host = model_host(&session->trace.model, life->host);
	struct affinity affinity = {.by = life->pinned_by,
				    .since = life->pinned_at,
				    .inferred = life->pinned_at == INT64_MIN};
	static const struct affinity none = {.by = NO_THREAD, .since = INT64_MIN};
	int64_t from = MAX(life->begin, life->pinned_at);

	if (host->cpus->len < 2 || host->cpus->len > CPUS_MAX ||
	    thread_is_kernel(&session->trace.model, life))
		return none;
	affinity.cpus = cpus_used(session, thread, from, affinity.inferred);
	if (affinity.inferred && (affinity.cpus & (affinity.cpus - 1)))
		return none;
	return affinity.cpus && lost_much(session, thread, &affinity, from) ? affinity : none;
}

struct affinity affinity_of(const struct session *session, uint32_t thread)
{
	struct judged *judged =
		(struct judged *) session_make_once(session, judged_new, judged_free);
	bool *known = &judged->known[thread];
	struct affinity affinity;

	if (__atomic_load_n(known, __ATOMIC_ACQUIRE))
		return judged->affinity[thread];
	affinity = judge(session, thread); /* by several at once at times: the same */
	pthread_mutex_lock(&judged->lock);
	if (!*known)
		judged->affinity[thread] = affinity;
	__atomic_store_n(known, true, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&judged->lock);
	return judged->affinity[thread];
}

static void append_cpus(GString *text, const struct session *session, uint16_t host, uint64_t cpus)
{
	const char *comma = cpus & (cpus - 1) ? "CPUs " : "CPU ";

	for (guint i = 0; i < CPUS_MAX; i++)
		if (cpus & UINT64_C(1) << i) {
			const struct cpu *cpu =
				g_ptr_array_index(model_host(&session->trace.model, host)->cpus, i);

			g_string_append_printf(text, "%s%u", comma, cpu->id);
			comma = ", ";
		}
}

char *affinity_words(const struct session *session, uint32_t thread,
		     const struct affinity *affinity)
{
	const struct thread *life = model_thread(&session->trace.model, thread);
	GString *text = g_string_new("pinned to ");
	char when[48];

	append_cpus(text, session, life->host, affinity->cpus);
	if (affinity->inferred) {
		g_string_append(text, " (inferred: it never ran on another)");
		return g_string_free(text, FALSE);
	}
	if (affinity->by == thread)
		g_string_append(text, " by itself");
	else if (is_thread(affinity->by))
		g_string_append_printf(text, " by %s (%d)",
				       session_thread_name(session, affinity->by),
				       model_thread(&session->trace.model, affinity->by)->tid);
	g_string_append_printf(text, " (sched_setaffinity at %s)",
			       when_time(when, affinity->since, session->asked.options->utc,
					 false));
	return g_string_free(text, FALSE);
}
