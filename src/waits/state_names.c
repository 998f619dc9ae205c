/* SPDX-License-Identifier: MIT */
/* See state_names.h. */
#include "waits/state_names.h"

#include <string.h>

#include "event/softirqs.h"
#include "util/idmap.h"

/* Second element of the path of each leaf, where it has no number. */
static const char *const leaf_elements[] = {
	[LEAF_WORK_USER] = "user",
	[LEAF_WORK_KTHREAD] = "kthread",
	[LEAF_WORK_GUEST] = "guest",
	[LEAF_WORK_HALTED] = "halted",
	[LEAF_INT_HRTIMER] = "hrtimer",
	[LEAF_PREEMPTED] = "preempted",
	[LEAF_WAIT_CPU] = "wait-cpu",
	[LEAF_BLOCK_STOPPED] = "stopped",
	[LEAF_BLOCK_TRACED] = "traced",
	[LEAF_BLOCK_KTHREAD] = "kthread",
	[LEAF_BLOCK_FAULT] = "trap:page_fault",
	[LEAF_BLOCK_OTHER] = "trap:other",
	[LEAF_BLOCK_UNKNOWN] = "unknown"};

static const char *const leaf_labels[] = {
	[LEAF_WORK_USER] = "User code",
	[LEAF_WORK_KTHREAD] = "Kernel thread",
	[LEAF_WORK_GUEST] = "Guest (its virtual CPU)",
	[LEAF_WORK_HALTED] = "Guest halted: KVM polls, and prepares to sleep",
	[LEAF_INT_HRTIMER] = "High-resolution timer",
	[LEAF_PREEMPTED] = "Preempted",
	[LEAF_WAIT_CPU] = "Waiting for CPU after blocking",
	[LEAF_BLOCK_STOPPED] = "Stopped by a signal",
	[LEAF_BLOCK_TRACED] = "Stopped by its tracer",
	[LEAF_BLOCK_KTHREAD] = "Kernel thread",
	[LEAF_BLOCK_FAULT] = "Page fault",
	[LEAF_BLOCK_OTHER] = "Another trap, or on the way to user mode",
	[LEAF_BLOCK_UNKNOWN] = "Not known in what"};

static const char *const host_elements[HOST_TAKEN] = {"host:preempted", "host:blocked",
						      "host:throttled"};
static const char *const host_labels[HOST_TAKEN] = {
	"Virtual CPU off: the host ran others", "Virtual CPU off: its thread waited on the host",
	"Virtual CPU off: throttled on the host"};

char *leaf_element(const struct session *session, uint32_t leaf)
{
	uint32_t number = PACK_NUMBER(leaf);

	switch (PACK_KIND(leaf)) {
	case LEAF_WORK_SYSCALL:
	case LEAF_BLOCK_SYSCALL:
		return g_strconcat("syscall:", session_text(session, number), NULL);
	case LEAF_INT_VECTOR:
		return g_strconcat("vector:", session_text(session, number), NULL);
	case LEAF_INT_IRQ:
		return g_strdup_printf("irq:%u", number);
	case LEAF_HOST:
		return g_strdup(host_elements[number]);
	case LEAF_INT_SOFTIRQ:
	case LEAF_WORK_SOFTIRQ:
		return g_strdup_printf("softirq:%u", number);
	default:
		return g_strdup(leaf_elements[PACK_KIND(leaf)]);
	}
}

static const char *const wib_elements[] = {"unknown", "working", "interrupted", "blocked"};
static const char *const wib_labels[] = {"Unknown", "Working", "Interrupted", "Blocked"};

const char *wib_key(enum wib wib)
{
	return wib_elements[wib];
}

const char *wib_label(enum wib wib)
{
	return wib_labels[wib];
}

char *leaf_key(const struct session *session, uint32_t leaf)
{
	g_autofree char *element = NULL;

	if (PACK_KIND(leaf) == LEAF_UNKNOWN)
		return g_strdup("unknown");
	element = leaf_element(session, leaf);
	return g_strconcat(wib_elements[leaf_wib(leaf)], "/", element, NULL);
}

/* The device of an IRQ, unless it is another one on another host; IDMAP_NONE. */
static uint32_t irq_name(const struct session *session, uint32_t number)
{
	uint32_t found = IDMAP_NONE;

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		uint32_t name = idmap_get(&model_host(&session->trace.model, i)->irq_names, number);

		if (found != IDMAP_NONE && name != IDMAP_NONE && name != found)
			return IDMAP_NONE;
		found = name == IDMAP_NONE ? found : name;
	}
	return found;
}

char *leaf_label(const struct session *session, uint32_t leaf)
{
	uint32_t number = PACK_NUMBER(leaf), name;
	const char *softirq;

	switch (PACK_KIND(leaf)) {
	case LEAF_UNKNOWN:
		return g_strdup("Unknown");
	case LEAF_WORK_SYSCALL:
	case LEAF_BLOCK_SYSCALL:
		return g_strconcat("System call ", session_text(session, number), NULL);
	case LEAF_INT_VECTOR:
		return g_strconcat("Vector ", session_text(session, number), NULL);
	case LEAF_HOST:
		return g_strdup(host_labels[number]);
	case LEAF_INT_IRQ:
		name = irq_name(session, number);
		return name == IDMAP_NONE ? g_strdup_printf("IRQ %u", number)
					  : g_strdup_printf("IRQ %u [%s]", number,
							    session_text(session, name));
	case LEAF_INT_SOFTIRQ:
	case LEAF_WORK_SOFTIRQ:
		softirq = softirq_name(number);
		return softirq ? g_strdup_printf("SoftIRQ %u [%s]", number, softirq)
			       : g_strdup_printf("SoftIRQ %u", number);
	default:
		return g_strdup(leaf_labels[PACK_KIND(leaf)]);
	}
}

char *frame_text(const struct session *session, uint32_t frame, bool kernel)
{
	uint32_t number = PACK_NUMBER(frame);

	switch (PACK_KIND(frame)) {
	case FRAME_USER:
		return g_strdup(kernel ? "kthread" : "user");
	case FRAME_IDLE:
		return g_strdup("idle");
	case FRAME_SYSCALL:
		return g_strconcat("syscall:", session_text(session, number), NULL);
	case FRAME_FAULT:
		return g_strdup("trap:page_fault");
	case FRAME_IRQ:
		return g_strdup_printf("irq:%u", number);
	case FRAME_VECTOR:
		return g_strconcat("vector:", session_text(session, number), NULL);
	case FRAME_SOFTIRQ:
		return number == PACK_MASK ? g_strdup("softirq")
					   : g_strdup_printf("softirq:%u", number);
	case FRAME_HRTIMER:
		return g_strdup("hrtimer");
	default:
		return g_strdup("unknown");
	}
}

char *leaf_kind_key(const struct session *session, uint32_t leaf)
{
	char *key = leaf_key(session, leaf), *colon = strchr(key, ':');

	if (colon && PACK_KIND(leaf) != LEAF_BLOCK_FAULT && PACK_KIND(leaf) != LEAF_BLOCK_OTHER)
		*colon = 0;
	return key;
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
	{"file:", "file"},      {"pipe:", "pipe"},       {"socket:", "socket"},
	{"device:", "device"},  {"lock:", "lock"},       {"eventfd", "eventfd"},
	{"timerfd", "timerfd"}, {"epoll", "epoll"},      {"futex:", "futex"},
	{"sleep", "timer"},     {"child:", "child"},     {"poll", "poll"},
	{"several", "poll"},    {"timeout", "poll"},     {"signal", "signal"},
	{"cpu:", "cpu"},        {"work:", "work"},       {"heap", "memory"},
	{"stack", "memory"},    {"anonymous", "memory"}, {"swap", "memory"},
	{"loader", "memory"},
};

const char *resource_kind(const char *key)
{
	for (size_t i = 0; i < G_N_ELEMENTS(resource_kinds); i++)
		if (g_str_has_prefix(key, resource_kinds[i].prefix))
			return resource_kinds[i].kind;
	return "other";
}

const char *resource_words(const char *key)
{
	static const struct {
		const char *key, *words;
	} memory[] = {{"heap", "its heap"},
		      {"stack", "its stack"},
		      {"anonymous", "anonymous memory"},
		      {"swap", "memory that had been swapped out"},
		      {"loader", "the dynamic loader"}};

	for (size_t i = 0; i < G_N_ELEMENTS(memory); i++)
		if (strcmp(key, memory[i].key) == 0)
			return memory[i].words;
	if (strcmp(key, "socket:accepted") == 0)
		return "an accepted connection";
	return key;
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

	if (operation == NO_OPERATION || operation == IDLE_OPERATION)
		return NULL;
	return operation < G_N_ELEMENTS(names) ? names[operation] : "unknown";
}

/* Who takes such packets, or sends them; NO_THREAD. */
static uint32_t receiver_of(const struct host *host, uint32_t key)
{
	for (guint i = 0; i < G_N_ELEMENTS(host->receivers); i++)
		if (host->receivers[i].address == key)
			return host->receivers[i].thread;
	return NO_THREAD;
}

bool is_of_packets(const struct session *session, uint32_t ref)
{
	return ref && g_str_has_prefix(session_text(session, ref), "packets:");
}

char *packet_words(const struct session *session, uint32_t thread, uint32_t ref)
{
	const struct model *model = &session->trace.model;
	const char *text = ref ? session_text(session, ref) : "", *to;
	uint32_t receiver;
	GString *words;

	if (!is_of_packets(session, ref))
		return NULL;
	text = resource_name(text);
	to = strstr(text, ":to-");
	words = g_string_new(NULL);
	if (g_str_has_prefix(text, "sent-on-"))
		g_string_printf(words, "sending packets on %s", text + strlen("sent-on-"));
	else if (g_str_has_prefix(text, "came-on-"))
		g_string_printf(words, "for packets that came on %s", text + strlen("came-on-"));
	else if (to)
		g_string_printf(words, "for packets from %.*s to port %s", (int) (to - text), text,
				to + strlen(":to-"));
	else
		g_string_printf(words, "for packets from %s", text);
	receiver = receiver_of(model_host(model, model_thread(model, thread)->host), ref);
	if (is_thread(receiver))
		g_string_append_printf(words, " %s %s (%d)", to || *text == 's' ? "of" : "to",
				       session_thread_name(session, receiver),
				       model_thread(model, receiver)->tid);
	return g_string_free(words, FALSE);
}
