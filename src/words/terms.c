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
};

static const struct term terms[] = {
	{"affinity", "pinned",
	 "Which CPUs a thread may use (sched_setaffinity, taskset, cpusets). A pinned thread waits "
	 "for its CPU even while another one is idle."},
	{"backlog", "listen queue",
	 "Connections that a server has not accepted yet. When it is full, the kernel drops new "
	 "ones, and clients try again after 1, 3, 7 … seconds."},
	{"blocked", "waits",
	 "A thread that is not ready to run: it waits for something. Until when, and for what, is "
	 "what whylate looks for."},
	{"block device", "disk",
	 "A disk or what looks like one (vda, dm-0). 'queued' is how long a request waited before "
	 "it was sent there, 'served' how long the device took."},
	{"C-state", NULL,
	 "How deeply an idle CPU sleeps. The deeper, the longer it takes to wake up for a thread."},
	{"chain", NULL,
	 "Who waits for whom: app waited for db, which waited for the disk. The last one is what "
	 "to "
	 "look at."},
	{"child", NULL,
	 "A process that another one started. Its parent waits for it in wait4 or waitid."},
	{"coverage", NULL,
	 "What the trace could not tell: lost events, events that were not recorded, calls that "
	 "began before the trace. 'whylate check TRACE' says how to record what is missing."},
	{"critical path", NULL,
	 "The way that time took, back from the end: where a thread waited for another, what that "
	 "one did counts instead. What is on it made the end late; what is not did not."},
	{"deadlock", NULL,
	 "Threads that wait for each other in a circle: none of them will go on."},
	{"delayed acknowledgement", "delayed ACK",
	 "TCP confirms data only after up to 40 ms or more when it has nothing to send. With "
	 "Nagle's "
	 "algorithm at the other end, small writes wait for that: TCP_NODELAY there, or one write "
	 "instead of several, helps."},
	{"dirty pages", NULL,
	 "Written data that is in memory only. When there is too much, the kernel puts writers to "
	 "sleep until disks have taken some."},
	{"fsync", NULL,
	 "The call that returns once a file's data is on the disk. On ext4 it may have to write "
	 "what others wrote as well, as the journal is common to all."},
	{"futex", NULL,
	 "What the kernel offers to wait on a word in memory. Mutexes, conditions, semaphores and "
	 "joins are made of it; the trace has the word's address only."},
	{"idle", NULL,
	 "A CPU without work; or a thread that waits for its next request, which delays nobody."},
	{"imposed", "imposer",
	 "Waiting that somebody or something else caused: who held a lock, used a disk or the CPU, "
	 "or was to answer."},
	{"inferred", NULL,
	 "Concluded from what was recorded, not shown by it. Likely, but not certain."},
	{"interrupt", "IRQ",
	 "A device or timer takes the CPU from whoever runs, for a short time."},
	{"io.max", NULL, "A cgroup's limit of bytes or requests a second to a disk."},
	{"jbd2", NULL, "The kernel thread that writes the journal of an ext4 file system."},
	{"kworker", NULL, "A kernel thread that does work for others, which queued it."},
	{"lineage", NULL, "Who started whom, up to the thread that reached the target."},
	{"lock owner", "holder",
	 "The thread that had a lock while others waited for it: what it did meanwhile is what "
	 "they "
	 "waited for."},
	{"lost events", "gap",
	 "The tracer's buffers were full, and events are missing. What happened in between is not "
	 "known; what spans it is marked, as it may not be real."},
	{"lttng-consumerd", NULL,
	 "The tracer's own process, which writes the trace. It takes CPU and disk from others."},
	{"memory.high", NULL,
	 "A cgroup's limit of memory above which the kernel slows its processes down."},
	{"memory.max", NULL,
	 "A cgroup's limit of memory above which its processes have to free some, or are killed."},
	{"mutex", NULL, "A lock that one thread at a time can hold."},
	{"octave", NULL, "A factor of two. Histograms have one bucket for each."},
	{"own code", "user code",
	 "A thread runs its program's instructions, not the kernel's. A profiler such as perf says "
	 "which."},
	{"page fault", NULL,
	 "A thread touched memory that is not there yet: the kernel gets it, from a disk if need "
	 "be."},
	{"peak", NULL,
	 "Operations whose latencies are near each other: a hill in the histogram. Each has causes "
	 "of its own."},
	{"preempted", "kept off the CPU",
	 "A thread that is ready to run, but another one has the CPU."},
	{"priority inversion", NULL,
	 "A thread of high priority waits for a lock whose owner, of low priority, is kept off the "
	 "CPU by one between the two."},
	{"queueing discipline", "qdisc",
	 "Where packets wait before a network device sends them. A shaper (tbf, netem, htb) holds "
	 "them back there on purpose."},
	{"RCU", NULL,
	 "How the kernel waits until nobody uses an old version of its data any more. A thread may "
	 "have to wait for the end of such a grace period."},
	{"read-ahead", NULL, "The kernel reads more of a file than was asked for, beforehand."},
	{"retransmission", NULL,
	 "TCP sends data again that was not confirmed: it was lost, or nobody took it."},
	{"several", NULL,
	 "A call such as poll or epoll_wait that waits for many things at once. What ended it is "
	 "known; whether that was for this thread is not always."},
	{"sleep", "own timer",
	 "A thread that asked to be woken after some time (nanosleep and the like): nobody else is "
	 "the cause."},
	{"softIRQ", NULL,
	 "Work that interrupts leave for a little later, such as handling packets (NET_RX, "
	 "NET_TX), "
	 "timers (TIMER) and finished disk requests (BLOCK)."},
	{"swap", NULL,
	 "Disk that takes pages of memory when there is too little of it. Who needs them again "
	 "waits for the disk."},
	{"system call", "syscall", "A program asks the kernel for something, such as read."},
	{"target", NULL, "The event that was late, given with --target."},
	{"throttled", "quota",
	 "The kernel holds a thread back on purpose: its cgroup has used up its CPU time "
	 "(cpu.max), its disk (io.max) or its memory (memory.high)."},
	{"TID", "PID",
	 "The number of a thread; a process has that of its first thread. Numbers in parentheses "
	 "behind a name are TIDs."},
	{"time limit", "time-out",
	 "A thread waits for something, but no longer than a time that it gave. When that ends the "
	 "wait, what it waited for did not come."},
	{"wake-up", NULL,
	 "What makes a blocked thread ready again. Until it runs, time passes: the CPU may be "
	 "busy, "
	 "asleep, or far away."},
	{"window", NULL, "The part of the trace that is looked at: --from, --to, or a target's."},
};

static bool is_called(const struct term *term, const char *word)
{
	return g_ascii_strcasecmp(term->word, word) == 0 ||
	       (term->also && g_ascii_strcasecmp(term->also, word) == 0);
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

bool term_explain(const char *word, FILE *file)
{
	for (size_t i = 0; i < G_N_ELEMENTS(terms); i++) {
		const struct term *term = &terms[i];
		g_autofree char *text = NULL;

		if (!is_called(term, word))
			continue;
		text = g_strdup_printf("%s%s%s%s: %s", term->word, term->also ? " (" : "",
				       term->also ? term->also : "", term->also ? ")" : "",
				       term->meaning);
		put_wrapped(text, file);
		return true;
	}
	return false;
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
