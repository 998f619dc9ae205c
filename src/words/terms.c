/* SPDX-License-Identifier: MIT */
/* The terms; see terms.h. In the order of the alphabet. */
#include "words/terms.h"

#include <string.h>

#include "util/pattern.h"

#define COLUMNS 80

struct term {
	const char *word;
	const char *also; /* another name, or a short form; NULL */
	const char *meaning;
	bool jargon; /* the kernel's: explained where it is met first */
};

static const struct term terms[] = {
	{"affinity", "pinned",
	 "Which CPUs a thread may use (sched_setaffinity, taskset, cpusets). A pinned thread waits "
	 "for its CPU even while another one is idle.",
	 false},
	{"backlog", "listen queue",
	 "Connections that a server has not accepted yet. When it is full, the kernel drops new "
	 "ones, and clients try again after 1, 3, 7 … seconds.",
	 false},
	{"blocked", "waits",
	 "A thread that is not ready to run: it waits for something. Until when, and for what, is "
	 "what whylate looks for.",
	 false},
	{"block device", "disk",
	 "A disk or what looks like one (vda, dm-0). 'queued' is how long a request waited before "
	 "it was sent there, 'served' how long the device took.",
	 false},
	{"C-state", NULL,
	 "How deeply an idle CPU sleeps. The deeper, the longer it takes to wake up for a thread.",
	 false},
	{"chain", NULL,
	 "Who waits for whom: app waited for db, which waited for the disk. The last one is what "
	 "to "
	 "look at.",
	 false},
	{"child", NULL,
	 "A process that another one started. Its parent waits for it in wait4 or waitid.", false},
	{"convoy", NULL,
	 "A lock that goes from one waiter to the next without becoming free: all of them go at "
	 "its pace, long after what began it.",
	 false},
	{"coverage", NULL,
	 "What the trace could not tell: lost events, events that were not recorded, calls that "
	 "began before the trace. 'whylate check TRACE' says how to record what is missing.",
	 false},
	{"critical path", NULL,
	 "The way that time took, back from the end: where a thread waited for another, what that "
	 "one did counts instead. What is on it made the end late; what is not did not.",
	 false},
	{"deadlock", NULL, "Threads that wait for each other in a circle: none of them will go on.",
	 false},
	{"delayed acknowledgement", "delayed ACK",
	 "TCP confirms data only after up to 40 ms or more when it has nothing to send. With "
	 "Nagle's "
	 "algorithm at the other end, small writes wait for that: TCP_NODELAY there, or one write "
	 "instead of several, helps.",
	 true},
	{"dirty pages", NULL,
	 "Written data that is in memory only. When there is too much, the kernel puts writers to "
	 "sleep until disks have taken some.",
	 true},
	{"fsync", NULL,
	 "The call that returns once a file's data is on the disk. On ext4 it may have to write "
	 "what others wrote as well, as the journal is common to all.",
	 true},
	{"futex", NULL,
	 "The call behind mutexes, conditions, semaphores and joins: a thread waits on a word in "
	 "memory. The trace has the word's address only.",
	 true},
	{"guest", "virtual machine",
	 "A kernel that runs on virtual CPUs, each a thread of a process (qemu) of its host. Give "
	 "both traces, recorded at the same time: what the host took from the guest is told then.",
	 false},
	{"idle", NULL,
	 "A CPU without work; or a thread that waits for its next request, which delays nobody.",
	 false},
	{"imposed", "imposer",
	 "Waiting that somebody or something else caused: who held a lock, used a disk or the CPU, "
	 "or was to answer.",
	 false},
	{"inferred", NULL,
	 "Concluded from what was recorded, not shown by it. Likely, but not certain.", false},
	{"interrupt", "IRQ", "A device or timer takes the CPU from whoever runs, for a short time.",
	 true},
	{"io.max", NULL, "A cgroup's limit of bytes or requests a second to a disk.", true},
	{"jbd2", NULL, "The kernel thread that writes the journal of an ext4 file system.", true},
	{"kworker", NULL, "A kernel thread that does work for others, which queued it.", true},
	{"lineage", NULL, "Who started whom, up to the thread that reached the target.", false},
	{"lock owner", "holder",
	 "The thread that had a lock while others waited for it: what it did meanwhile is what "
	 "they "
	 "waited for.",
	 false},
	{"lost events", "gap",
	 "The tracer's buffers were full, and events are missing. What happened in between is not "
	 "known; what spans it is marked, as it may not be real.",
	 false},
	{"lttng-consumerd", NULL,
	 "The tracer's own process, which writes the trace. It takes CPU and disk from others.",
	 false},
	{"memory.high", NULL,
	 "A cgroup's limit of memory above which the kernel slows its processes down.", true},
	{"memory.max", NULL,
	 "A cgroup's limit of memory above which its processes have to free some, or are killed.",
	 true},
	{"mutex", NULL, "A lock that one thread at a time can hold.", false},
	{"Nagle", "TCP_NODELAY",
	 "TCP's rule to send no small packet while an earlier one is not confirmed. TCP_NODELAY "
	 "turns it off.",
	 true},
	{"octave", NULL, "A factor of two. Histograms have one bucket for each.", false},
	{"other-request", "another request's turn",
	 "A server's thread worked for another request meanwhile: this one stood in line for it.",
	 false},
	{"own code", "user code",
	 "A thread runs its program's instructions, not the kernel's. A profiler such as perf says "
	 "which.",
	 false},
	{"page fault", NULL,
	 "A thread touched memory that is not there yet: the kernel gets it, if need be from a "
	 "disk, or from a program that serves it (userfaultfd).",
	 true},
	{"peak", NULL,
	 "Operations whose latencies are near each other: a hill in the histogram. Each has causes "
	 "of its own.",
	 false},
	{"preempted", "kept off the CPU",
	 "A thread that is ready to run, but another one has the CPU.", false},
	{"priority inversion", NULL,
	 "A thread of high priority waits for a lock whose owner, of low priority, is kept off the "
	 "CPU by one between the two.",
	 true},
	{"queueing discipline", "qdisc",
	 "Where packets wait before a network device sends them. A shaper (tbf, netem, htb) holds "
	 "them back there on purpose.",
	 true},
	{"RCU", NULL,
	 "How the kernel waits until nobody uses an old version of its data any more. A thread may "
	 "have to wait for the end of such a grace period.",
	 true},
	{"read-ahead", NULL, "The kernel reads more of a file than was asked for, beforehand.",
	 false},
	{"retransmission", NULL,
	 "TCP sends data again that was not confirmed: it was lost, or nobody took it.", true},
	{"sample", "call stack",
	 "What a thread's functions were at one moment, recorded many times a second. Functions "
	 "that are in many samples ran long; the more samples, the surer.",
	 false},
	{"several", NULL,
	 "A call such as poll or epoll_wait that waits for many things at once. What ended it is "
	 "known; whether that was for this thread is not always.",
	 false},
	{"sleep", "own timer",
	 "A thread that asked to be woken after some time (nanosleep and the like): nobody else is "
	 "the cause.",
	 false},
	{"softIRQ", NULL,
	 "Work that interrupts leave for a little later, such as handling packets (NET_RX, "
	 "NET_TX), "
	 "timers (TIMER) and finished disk requests (BLOCK).",
	 true},
	{"host:preempted", "host:blocked",
	 "States of a guest's thread whose virtual CPU the host did not run: others ran instead, "
	 "or "
	 "the virtual CPU's thread itself waited on the host. See steal.",
	 false},
	{"steal", "stolen time",
	 "Time in which the host of a virtual machine did not run it. The guest's own trace does "
	 "not show it: its threads seem to work, or to be interrupted, for longer. The host's "
	 "trace, given with the guest's, tells who ran instead.",
	 true},
	{"swap", NULL,
	 "Disk that takes pages of memory when there is too little of it. Who needs them again "
	 "waits for the disk.",
	 true},
	{"SYN", NULL,
	 "The first packet of a TCP connection. A server whose queue of unaccepted connections is "
	 "full drops it, and the client sends it again a second or more later.",
	 true},
	{"system call", "syscall", "A program asks the kernel for something, such as read.", false},
	{"target", NULL, "The event that was late, given with --target.", false},
	{"throttled", "quota",
	 "The kernel holds a thread back on purpose: its cgroup has used up its CPU time "
	 "(cpu.max), its disk (io.max) or its memory (memory.high), or real-time threads have "
	 "used up theirs (sched_rt_runtime_us, SCHED_DEADLINE).",
	 true},
	{"TID", "PID",
	 "The number of a thread; a process has that of its first thread. Numbers in parentheses "
	 "behind a name are TIDs.",
	 false},
	{"time limit", "time-out",
	 "A thread waits for something, but no longer than a time that it gave. When that ends the "
	 "wait, what it waited for did not come.",
	 false},
	{"wake-up", NULL,
	 "What makes a blocked thread ready again. Until it runs, time passes: its CPU is busy "
	 "with "
	 "another; or sleeps, and takes long to come back (slow wake-up: see C-state); or the "
	 "wake-up comes from another CPU, by an interrupt that takes time to arrive (remote "
	 "wake-up).",
	 false},
	{"window", NULL, "The part of the trace that is looked at: --from, --to, or a target's.",
	 false},
	{"without it", "worth",
	 "How much sooner all would be done, had that taken no time, and all else as long as it "
	 "did, in the recorded order. Often less than it took: something else takes as long.",
	 false},
};

/* What reports say in tables and JSON: kinds of causes (waits/cause_kinds.h), of states, of what
 * stands out. The same as a term, or explained here: such common words are no terms of a text. */
static const struct {
	const char *word, *term, *meaning;
} names[] = {
	{"bottleneck", NULL,
	 "What others waited for, directly or through others. Of several that waited at the same "
	 "time each one's time counts, so shares of bottlenecks overlap: they do not add up to "
	 "100 %."},
	{"cpu", "ready", NULL},
	{"delayed-ack", "delayed acknowledgement", NULL},
	{"device", "block device", NULL},
	{"failure", "retry", NULL},
	{"guest-irq", NULL,
	 "An interrupt of a guest, by its vector: from when the guest was to have it until its "
	 "virtual CPU took it. What that did meanwhile is why the interrupt was late."},
	{"halted", NULL,
	 "A virtual CPU that has nothing to do and waits for an interrupt. working/halted: the "
	 "thread that runs it still has a CPU of the host, as KVM polls before it lets it sleep."},
	{"host", "steal", NULL},
	{"host:throttled", "host:preempted", NULL},
	{"hrtimer", "interrupt", NULL},
	{"interrupted", NULL,
	 "A thread that could work, but did not: preempted, without a CPU, or a device's interrupt "
	 "ran instead of it."},
	{"irq", "interrupt", NULL},
	{"kvm", "guest", NULL},
	{"kvm-exit", NULL,
	 "Why KVM left a guest, and what it did until it entered it again: hlt (it has nothing to "
	 "do), msr, io, ept_violation (memory), external_interrupt (of the host)."},
	{"lock", "lock owner", NULL},
	{"memory", "memory.high", NULL},
	{"network", NULL,
	 "Packets from another host, or on their way between threads of this one."},
	{"not known", "unknown", NULL},
	{"process", "other threads", NULL},
	{"other threads", NULL,
	 "What a thread waited for was done by another one, of its process or another: it woke "
	 "it."},
	{"remote wake-up", "wake-up", NULL},
	{"slow wake-up", "wake-up", NULL},
	{"slow wake-up from idle", "wake-up", NULL},
	{"vcpu", "guest", NULL},
	{"queue", "queueing discipline", NULL},
	{"ready", NULL,
	 "A thread that could run, but has no CPU: others run on it (wait-cpu), or its limit keeps "
	 "it back."},
	{"retry", NULL,
	 "A call failed, and the program waited until it tried again: it waited for whatever made "
	 "it fail."},
	{"send-queue", "queueing discipline", NULL},
	{"signal", NULL,
	 "What a process is sent by another one, or by the kernel (kill, SIGCHLD)."},
	{"still-blocked", "blocked", NULL},
	{"stopped", NULL,
	 "A thread that a signal (SIGSTOP) or a debugger keeps from running, until it is "
	 "continued."},
	{"timeout", "time limit", NULL},
	{"timer", "sleep", NULL},
	{"trap", "page fault", NULL},
	{"unknown", NULL,
	 "The trace does not tell: an event was lost or not recorded, or what began was before the "
	 "trace."},
	{"vector", "interrupt", NULL},
	{"vhost", "guest", NULL},
	{"virtual CPU", "guest", NULL},
	{"wait-cpu", "ready", NULL},
	{"waiting", "blocked", NULL},
	{"working", NULL,
	 "A thread that runs on a CPU: in its own code (user), in the kernel for it (syscall, "
	 "trap), "
	 "or as a virtual CPU in its guest (guest), or while that has halted (halted)."},
};

/* The same but for cases, and for '-' and '_' in place of blanks. */
static bool is_same(const char *a, const char *b)
{
	while (*a && *b) {
		char x = *a == '-' || *a == '_' ? ' ' : g_ascii_tolower(*a);
		char y = *b == '-' || *b == '_' ? ' ' : g_ascii_tolower(*b);

		if (x != y)
			return false;
		a++;
		b++;
	}
	return *a == *b;
}

static bool is_called(const struct term *term, const char *word)
{
	return is_same(term->word, word) || (term->also && is_same(term->also, word));
}

/* "futex: What the kernel offers to wait on …"; not `whole`: its first sentence. */
static char *term_text(const struct term *term, bool whole)
{
	const char *end = strstr(term->meaning, ". ");
	size_t length = whole || !end ? strlen(term->meaning) : (size_t) (end - term->meaning) + 1;

	return g_strdup_printf("%s%s%s%s: %.*s", term->word, term->also ? " (" : "",
			       term->also ? term->also : "", term->also ? ")" : "", (int) length,
			       term->meaning);
}

/* In lines of at most COLUMNS, where the words allow it. */
static void put_wrapped(const char *text, FILE *file)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	glong column = 0;

	for (guint i = 0; words[i]; i++) {
		glong length = g_utf8_strlen(words[i], -1);
		bool fits = column + 1 + length <= COLUMNS;

		if (i)
			fputs(fits ? " " : "\n  ", file);
		column = (!i ? 0 : fits ? column + 1 : 2) + length;
		fputs(words[i], file);
	}
	fputc('\n', file);
}

static bool explain_name(const char **word, FILE *file)
{
	for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *text = NULL;

		if (!is_same(names[i].word, *word))
			continue;
		if (!names[i].meaning) {
			*word = names[i].term; /* a term, or a row of its own */
			return explain_name(word, file);
		}
		text = g_strdup_printf("%s: %s", *word, names[i].meaning);
		put_wrapped(text, file);
		return true;
	}
	return false;
}

static bool explain_word(const char *word, FILE *file)
{
	if (explain_name(&word, file))
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(terms); i++) {
		g_autofree char *text = NULL;

		if (!is_called(&terms[i], word))
			continue;
		text = term_text(&terms[i], true);
		put_wrapped(text, file);
		return true;
	}
	return false;
}

/* A state as reports print it, "interrupted/host:preempted", "blocked/syscall:read", is explained
 * by what it has last that is a term. */
bool term_explain(const char *word, FILE *file)
{
	static const char *const firsts[] = {"working", "interrupted", "blocked", NULL};
	g_auto(GStrv) parts = g_strsplit(word, "/", -1);

	if (explain_word(word, file))
		return true;
	if (!parts[0] || !g_strv_contains(firsts, parts[0]))
		return false;
	for (guint i = g_strv_length(parts); i > 0; i--) {
		g_auto(GStrv) kinds = g_strsplit(parts[i - 1], ":", 2);

		if (*parts[i - 1] &&
		    (explain_word(parts[i - 1], file) || explain_word(kinds[0], file)))
			return true;
	}
	return false;
}

/* --- those that a text has ------------------------------------------------------------ */

static bool in_word(char c)
{
	return g_ascii_isalnum(c) || c == '_' || c == '-';
}

/* Where the word stands in the text by itself, or with an s; NULL: nowhere. */
static const char *word_in(const char *text, const char *word)
{
	size_t length = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word)) {
		const char *end = at + length + (at[length] == 's');

		if ((at == text || (!in_word(at[-1]) && at[-1] != '/')) && !in_word(*end))
			return at;
	}
	return NULL;
}

static const char *term_in(const char *text, const struct term *term)
{
	const char *at = word_in(text, term->word);

	return at || !term->also ? at : word_in(text, term->also);
}

struct met {
	const struct term *term;
	const char *at;
};

static int first_met(gconstpointer a, gconstpointer b)
{
	const struct met *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

GPtrArray *terms_met(const char *text, bool all)
{
	GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GArray) met = g_array_new(FALSE, FALSE, sizeof(struct met));

	for (size_t i = 0; i < G_N_ELEMENTS(terms); i++) {
		struct met one = {&terms[i], term_in(text, &terms[i])};

		if (one.at && (all || terms[i].jargon))
			g_array_append_val(met, one);
	}
	g_array_sort(met, first_met);
	for (guint i = 0; i < met->len; i++)
		g_ptr_array_add(list, term_text(g_array_index(met, struct met, i).term, all));
	return list;
}

char *term_nearest(const char *word)
{
	struct nearest nearest = {.wanted = word};

	for (size_t i = 0; i < G_N_ELEMENTS(terms); i++) {
		nearest_offer(&nearest, terms[i].word);
		if (terms[i].also)
			nearest_offer(&nearest, terms[i].also);
	}
	return nearest_words(&nearest, "; the nearest one is ");
}
