/* SPDX-License-Identifier: MIT */
/* What a wait is put down to, in a word and a label; see causality.h. */
#include "waits/causality.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

#include "waits/deadlocks.h"
#include "waits/deliveries.h"
#include "waits/holders.h"
#include "waits/summary.h"

const char *cause_kind_text(enum cause_kind kind)
{
	static const char *const texts[] = {
		"cpu",       "timer",         "block-device", "network",    "irq",     "softirq",
		"process",   "child",         "signal",       "lock-owner", "stopped", "wait-cpu",
		"throttled", "still-blocked", "deadlock",     "unknown"};

	return texts[kind];
}

const char *waker_kind_text(uint8_t kind)
{
	static const char *const texts[] = {"none",   "unknown", "thread", "irq",
					    "vector", "softirq", "hrtimer"};

	return texts[kind];
}

const char *waker_why_text(uint8_t why)
{
	static const char *const texts[] = {
		"",
		"no wake-up was recorded",
		"woken from another CPU, and the trace has no sched_waking to say by whom",
		"woken in the idle loop, by an interrupt that was not recorded",
		"events of the waking CPU were lost",
		"the waking CPU's thread was not known",
		"its time limit: the call returned at it, and the interrupt was not recorded"};

	return texts[why];
}

static const struct {
	const char *prefix, *kind;
} resource_kinds[] = {
	{"file:", "file"},   {"pipe:", "pipe"},      {"socket:", "socket"},  {"device:", "device"},
	{"lock:", "lock"},   {"eventfd", "eventfd"}, {"timerfd", "timerfd"}, {"epoll", "epoll"},
	{"futex:", "futex"}, {"sleep", "timer"},     {"child:", "child"},    {"poll", "poll"},
	{"several", "poll"}, {"timeout", "poll"},    {"signal", "signal"},   {"cpu:", "cpu"},
	{"work:", "work"},
};

const char *resource_kind(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(resource_kinds); i++)
		if (g_str_has_prefix(key, resource_kinds[i].prefix))
			return resource_kinds[i].kind;
	return "other";
}

const char *resource_name(const char *key)
{
	const char *colon = strchr(key, ':');

	return colon ? colon + 1 : key;
}

const char *futex_operation(uint8_t operation)
{
	static const char *const names[] = {"wait",           "wake",        "fd",
					    "requeue",        "cmp_requeue", "wake_op",
					    "lock_pi",        "unlock_pi",   "trylock_pi",
					    "wait_bitset",    "wake_bitset", "wait_requeue_pi",
					    "cmp_requeue_pi", "lock_pi2"};

	if (operation == NO_OPERATION)
		return NULL;
	return operation < G_N_ELEMENTS(names) ? names[operation] : "unknown";
}

/* "timer of 30.00 ms, armed by itself in clock_nanosleep" */
static char *timer_label(const struct session *session, const struct wake_detail *detail,
			 uint32_t waiter)
{
	GString *label = g_string_new("timer");
	char length[32];

	if (detail->requested >= 0)
		g_string_append_printf(label, " of %s", when_duration(length, detail->requested));
	if (is_thread(detail->thread)) {
		if (detail->thread == waiter)
			g_string_append(label, " armed by itself");
		else
			g_string_append_printf(
				label, " armed by %s (%d)%s",
				session_thread_name(session, detail->thread),
				model_thread(&session->trace.model, detail->thread)->tid,
				session_on(session, detail->thread));
		if (detail->text)
			g_string_append_printf(label, " in %s",
					       session_text(session, detail->text));
	} else if (detail->requested < 0) {
		g_string_append(label, ", not seen when it was armed");
	}
	return g_string_free(label, FALSE);
}

/* "packet from 10.0.0.1:5555, sent by app (249) on server in sendto" */
static char *packet_label(const struct session *session, const struct wake_detail *detail)
{
	GString *label = g_string_new("packet");

	if (detail->text)
		g_string_append_printf(label, " from %s", session_text(session, detail->text));
	else
		g_string_append(label, " of which no addresses were recorded");
	if (is_thread(detail->thread))
		g_string_append_printf(label, ", sent by %s (%d)%s",
				       session_thread_name(session, detail->thread),
				       model_thread(&session->trace.model, detail->thread)->tid,
				       session_on(session, detail->thread));
	if (is_thread(detail->thread) && detail->call)
		g_string_append_printf(label, " in %s", session_text(session, detail->call));
	return g_string_free(label, FALSE);
}

/* Rule 3: what is known of the innermost frame. */
static void hardware_cause(const struct session *session, const struct wait *wait,
			   const struct wake_detail *detail, struct cause *cause)
{
	const struct block *block = wait->block;
	uint32_t number = PACK_NUMBER(block->context);

	switch (block->kind) {
	case WAKER_HRTIMER:
		cause->kind = CAUSE_TIMER;
		cause->label = g_strdup("timer, not seen when it was armed");
		break;
	case WAKER_VECTOR:
		cause->kind = strcmp(session_text(session, number), "local_timer") == 0
				      ? CAUSE_TIMER
				      : CAUSE_IRQ;
		cause->label = g_strdup_printf("vector %s", session_text(session, number));
		break;
	case WAKER_SOFTIRQ:
		if (!detail || detail->kind != DETAIL_PACKET) {
			softirq_cause(session, wait, detail, cause);
			break;
		}
		cause->kind = CAUSE_NETWORK;
		cause->label = packet_label(session, detail);
		break;
	default:
		cause->kind = CAUSE_IRQ;
		cause->label = block->label ? g_strdup(session_text(session, block->label))
					    : g_strdup_printf("IRQ %u", number);
		break;
	}
}

/* A wait cut short by the window: when it ended after all, and by whom. */
static char *later_label(const struct session *session, const struct wait *wait)
{
	const struct thread *thread = model_thread(&session->trace.model, wait->thread);
	struct span span;
	struct spans spans;
	char length[32];

	if (wait->block->kind == WAKER_NONE)
		return g_strdup(session->asked.options->every ? "not woken before the stretch's end"
							      : "not woken before the trace's end");
	spans_begin(&spans, session, wait->thread, wait->end, thread->end);
	if (!spans_next(&spans, &span))
		return g_strdup("not woken before the window's end");
	return g_strdup_printf("not woken before the window's end, but %s later by %s",
			       when_duration(length, span.end - wait->end),
			       wait->block->kind == WAKER_THREAD && is_thread(wait->block->waker)
				       ? session_thread_name(session, wait->block->waker)
				       : waker_kind_text(wait->block->kind));
}

/* A wait that has no end: who has the lock, who else is stuck. */
static void still_blocked(const struct session *session, const struct wait *wait,
			  const struct lock_wait *lock, struct cause *cause)
{
	const struct deadlock *deadlock =
		wait->block->kind == WAKER_NONE ? deadlock_of(session, wait->thread) : NULL;
	g_autofree char *later = later_label(session, wait), *words = NULL;

	cause->kind = CAUSE_STILL_BLOCKED;
	if (deadlock) {
		words = deadlock_words(session, deadlock);
		cause->kind = CAUSE_DEADLOCK;
		cause->inferred = !deadlock->proved;
		cause->label =
			g_strconcat(deadlock->proved ? "deadlock: " : "suspected deadlock: ", words,
				    deadlock->proved ? NULL
						     : ", and nobody was seen to "
						       "give one of these up",
				    NULL);
	} else if (lock) {
		words = lock_wait_words(session, lock);
		cause->inferred = lock->inferred;
		cause->label = g_strconcat(later, ": ", words, NULL);
	} else {
		cause->label = g_steal_pointer(&later);
	}
}

/* The child that ended, or what of it: a process ends with its last thread. */
static char *child_label(const struct session *session, const struct block *block)
{
	const struct thread *waker = model_thread(&session->trace.model, block->waker);
	g_autofree char *last = thread_label(session, block->waker), *child = NULL;

	if (!is_thread(block->child) || block->child == block->waker ||
	    waker->pid != model_thread(&session->trace.model, block->child)->tid)
		return g_steal_pointer(&last);
	child = thread_label(session, block->child);
	return g_strdup_printf("%s, by its thread %s", child, last);
}

/* The names that programs have for them; those of x86, ARM and most others. */
static const char *signal_name(uint64_t number)
{
	static const char *const names[] = {
		"",         "SIGHUP",  "SIGINT",    "SIGQUIT", "SIGILL",  "SIGTRAP",   "SIGABRT",
		"SIGBUS",   "SIGFPE",  "SIGKILL",   "SIGUSR1", "SIGSEGV", "SIGUSR2",   "SIGPIPE",
		"SIGALRM",  "SIGTERM", "SIGSTKFLT", "SIGCHLD", "SIGCONT", "SIGSTOP",   "SIGTSTP",
		"SIGTTIN",  "SIGTTOU", "SIGURG",    "SIGXCPU", "SIGXFSZ", "SIGVTALRM", "SIGPROF",
		"SIGWINCH", "SIGIO",   "SIGPWR",    "SIGSYS"};

	return number < G_N_ELEMENTS(names) ? names[number] : "";
}

static void append_signal(GString *label, uint64_t number)
{
	const char *name = signal_name(number);

	g_string_append_printf(label, "signal %" PRIu64, number);
	if (*name)
		g_string_append_printf(label, " (%s)", name);
}

/* "signal 10 (SIGUSR1) from signaller (226)" */
static char *signal_label(const struct session *session, const struct block *block, uint64_t number)
{
	g_autofree char *waker = thread_label(session, block->waker);
	GString *label = g_string_new(NULL);

	append_signal(label, number);
	g_string_append_printf(label, " from %s", waker);
	return g_string_free(label, FALSE);
}

/* What the waker did in it: "feeder (220) in write on pipe:#3". */
static void append_call(const struct session *session, const struct block *block,
			struct cause *cause)
{
	g_autofree char *who = cause->label;

	cause->label =
		g_strdup_printf("%s in %s%s%s", who,
				session_text(session, PACK_NUMBER(block->context)),
				block->label ? " on " : "", session_text(session, block->label));
}

/* "by stopper (224), signal 19 (SIGSTOP); continued by stopper (224), …": who stopped
 * it, by flow/stop.c, and who ended that. */
static char *stopped_label(const struct session *session, const struct wait *wait,
			   const struct wake_detail *detail)
{
	const struct block *block = wait->block;
	const struct wake_detail *begun =
		block->begun ? detail_at(&session->trace.timeline, block->begun) : NULL;
	bool traced = PACK_KIND(wait->leaf) == LEAF_BLOCK_TRACED;
	g_autofree char *by = NULL, *end = NULL;
	GString *label;

	if (begun && is_thread(begun->thread))
		by = thread_label(session, begun->thread);
	label = g_string_new(NULL);
	g_string_append_printf(label, "by %s",
			       by       ? by
			       : traced ? "its tracer"
					: "whom is not known");
	if (begun && !traced) {
		g_string_append(label, ", ");
		append_signal(label, begun->number);
	}
	if (!wait->woken) {
		end = later_label(session, wait);
		g_string_append_printf(label, "; %s", end);
		return g_string_free(label, FALSE);
	}
	end = is_thread(block->waker) ? thread_label(session, block->waker) : NULL;
	g_string_append_printf(label, "; %s by %s",
			       detail && detail->kind == DETAIL_SIGNAL && detail->number == SIGKILL
				       ? "killed"
				       : "continued",
			       end ? end : "whom is not known");
	if (detail && detail->kind == DETAIL_SIGNAL) {
		g_string_append(label, ", ");
		append_signal(label, detail->number);
	}
	return g_string_free(label, FALSE);
}

struct cause wait_cause(const struct session *session, const struct wait *wait)
{
	struct lock_wait *lock =
		lock_wait_new(session, wait->block, wait->thread, wait->begin, wait->end);
	const struct block *block = wait->block;
	const struct wake_detail *detail =
		block->detail ? detail_at(&session->trace.timeline, block->detail) : NULL;
	const struct wake_detail *request = block_request(session, block);
	const char *resource = session_text(session, session_resource(session, block));
	struct cause cause = {.kind = CAUSE_UNKNOWN, .queued = -1, .served = -1};
	bool stopped = PACK_KIND(wait->leaf) == LEAF_BLOCK_STOPPED ||
		       PACK_KIND(wait->leaf) == LEAF_BLOCK_TRACED;

	if (!wait->woken) {
		if (stopped) {
			cause.kind = CAUSE_STILL_BLOCKED;
			cause.label = stopped_label(session, wait, detail);
		} else {
			still_blocked(session, wait, lock, &cause);
		}
	} else if (block->kind == WAKER_UNKNOWN || block->kind == WAKER_NONE) {
		cause.inferred = block->why == WHY_TIME_LIMIT;
		cause.kind = cause.inferred ? CAUSE_TIMER : CAUSE_UNKNOWN;
		cause.label = g_strdup(waker_why_text(block->why));
	} else if (detail && detail->kind == DETAIL_TIMER) {
		cause.kind = CAUSE_TIMER;
		cause.label = timer_label(session, detail, wait->thread);
	} else if (request) {
		request_cause(session, wait, request, &cause);
	} else if (block->kind != WAKER_THREAD) {
		hardware_cause(session, wait, detail, &cause);
	} else if (!is_thread(block->waker)) {
		cause.label = g_strdup("the waker's thread is not known");
	} else if (stopped) {
		cause.kind = CAUSE_STOPPED;
		cause.label = stopped_label(session, wait, detail);
	} else if (g_str_has_prefix(resource, "child:")) {
		cause.kind = CAUSE_CHILD;
		cause.label = child_label(session, block);
	} else if (detail && detail->kind == DETAIL_SIGNAL) {
		cause.kind = CAUSE_SIGNAL;
		cause.label = signal_label(session, block, detail->number);
	} else if (lock) {
		cause.kind = CAUSE_LOCK_OWNER;
		cause.inferred = lock->inferred;
		cause.label = lock_wait_words(session, lock);
	} else {
		process_cause(session, wait, detail, &cause);
	}
	if (cause.kind == CAUSE_PROCESS && PACK_KIND(block->context) == FRAME_SYSCALL)
		append_call(session, block, &cause);
	lock_wait_free(lock);
	return cause;
}

uint32_t block_waits_for(const struct session *session, const struct block *block)
{
	const struct wake_detail *request = block_request(session, block);
	uint32_t resource = session_resource(session, block);
	g_autofree char *key = NULL;

	if (request)
		key = g_strconcat("device:", session_text(session, request->text), NULL);
	else if (block->kind == WAKER_THREAD && block->same_file)
		key = g_strconcat("lock:", resource_name(session_text(session, resource)), NULL);
	return key ? intern_id(session->trace.model.names, key) : resource;
}

char *cause_words(const struct cause *cause)
{
	static const char *const before[] = {
		[CAUSE_BLOCK_DEVICE] = "ended by block device ",
		[CAUSE_IRQ] = "ended by interrupt of ",
		[CAUSE_CHILD] = "ended by child ",
		[CAUSE_LOCK_OWNER] = "the lock was ",
		[CAUSE_STOPPED] = "",
		[CAUSE_WAIT_CPU] = "",
		[CAUSE_THROTTLED] = "",
		[CAUSE_STILL_BLOCKED] = "",
		[CAUSE_DEADLOCK] = "",
		[CAUSE_UNKNOWN] = "what ended it is unknown: "};

	return g_strconcat(
		before[cause->kind] ? before[cause->kind] : "ended by ", cause->label,
		cause->kind == CAUSE_LOCK_OWNER && cause->inferred ? " (inferred)" : NULL, NULL);
}

void cause_append_times(GString *text, const struct cause *cause)
{
	char length[32];

	if (cause->queued >= 0)
		g_string_append_printf(text, ", queued %s", when_duration(length, cause->queued));
	else if (cause->served >= 0)
		g_string_append(text, ", queue time not recorded");
	if (cause->served >= 0)
		g_string_append_printf(text, ", served %s", when_duration(length, cause->served));
}

void cause_clear(struct cause *cause)
{
	g_free(cause->label);
	cause->label = NULL;
}
