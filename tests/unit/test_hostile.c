/* SPDX-License-Identifier: MIT */
/* Traces that no kernel writes: each command answers them, soon, and in bounded memory.
 *
 * A scenario is a stream of events of some size that takes one quantity to where it hurts: TIDs,
 * CPUs, depth of nesting, length of chains, threads that wait for one CPU. Each is reported by
 * every command. In quick runs sizes are small and the sanitizers look; WHYLATE_LONG=1 takes the
 * full ones, each in a process of its own whose time and memory are held to MAX_SECONDS and
 * MAX_MEGABYTES: what takes more grows faster than its input.
 */
#include "feed.h"

#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "commands/commands.h"
#include "report/report.h"

#define MAX_SECONDS 60
#define MAX_MEGABYTES 1500

/* --- scenarios: `n` is their size --------------------------------------------- */

static void forks_and_execs(struct feed *feed, int64_t time, int32_t parent, int32_t child)
{
	struct event event = event_of(feed, time, 0, "sched_process_exec");

	forks(feed, time, 0, parent, child, child);
	event.exec.tid = event.exec.old_tid = child;
	event.exec.filename = "/bin/x";
	send(feed, &event);
}

/* TIDs, CPUs, vectors, IRQs, system calls and times from anywhere in their types. */
static void wild_numbers(struct feed *feed, int n)
{
	static const int64_t numbers[] = {0,         1,         -1,        2,          63,
					  64,        INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX,
					  INT64_MIN, 1000000,   -4095};
	static const char *const names[] = {
		"sched_waking",
		"sched_wakeup_new",
		"sched_migrate_task",
		"sched_process_fork",
		"sched_process_exec",
		"sched_process_exit",
		"sched_process_free",
		"irq_handler_entry",
		"irq_handler_exit",
		"irq_softirq_raise",
		"irq_softirq_entry",
		"irq_softirq_exit",
		"syscall_entry_unknown",
		"syscall_exit_unknown",
		"syscall_entry_openat",
		"syscall_exit_openat",
		"syscall_entry_dup2",
		"syscall_exit_dup2",
		"syscall_entry_close_range",
		"syscall_exit_close_range",
		"syscall_entry_pipe2",
		"syscall_exit_pipe2",
		"syscall_entry_select",
		"syscall_exit_select",
		"syscall_entry_futex",
		"syscall_exit_futex",
		"power_cpu_idle",
		"timer_hrtimer_start",
		"timer_hrtimer_expire_entry",
		"timer_hrtimer_expire_exit",
		"timer_hrtimer_cancel",
		"block_rq_issue",
		"block_bio_queue",
		"block_rq_complete",
		"net_dev_queue",
		"net_if_receive_skb",
		"lttng_statedump_process_state",
		"lttng_statedump_file_descriptor",
		"lttng_statedump_interrupt",
		"lttng_statedump_process_pid_ns",
		"signal_generate",
		"sched_pi_setprio",
		"workqueue_queue_work",
		"workqueue_execute_start",
		"jbd2_start_commit",
		"sched_switch"};
	GRand *random = g_rand_new_with_seed(1);

	for (int i = 0; i < n; i++) {
		struct event event =
			event_of(feed, 0, 0,
				 names[g_rand_int_range(random, 0, G_N_ELEMENTS(names))]);
#define WILD numbers[g_rand_int_range(random, 0, G_N_ELEMENTS(numbers))]
		/* two hours to either side: sums over threads are of 64 bits */
		event.time = g_rand_int_range(random, 0, 50) ? i : WILD / (1 << 20);
		event.cpu = g_rand_int_range(random, 0, 4) ? 0 : (uint32_t) WILD;
		event.has_tid = g_rand_int_range(random, 0, 4) == 0;
		event.tid = (int32_t) WILD;
		switch (event.kind) {
		case EV_SCHED_SWITCH:
			event.sched_switch.prev_comm = event.sched_switch.next_comm = "swapper/0";
			event.sched_switch.prev_tid = (int32_t) WILD;
			event.sched_switch.next_tid = (int32_t) WILD;
			event.sched_switch.prev_state = WILD;
			break;
		case EV_SCHED_WAKING:
		case EV_SCHED_WAKEUP_NEW:
		case EV_SCHED_MIGRATE:
			event.wake.comm = "w";
			event.wake.tid = (int32_t) WILD;
			event.wake.target_cpu = (int32_t) WILD;
			break;
		case EV_PROCESS_FORK:
			event.fork.parent_tid = (int32_t) WILD;
			event.fork.child_tid = (int32_t) WILD;
			event.fork.child_pid = (int32_t) WILD;
			event.fork.child_comm = "c";
			break;
		case EV_PROCESS_EXEC:
			event.exec.tid = (int32_t) WILD;
			event.exec.old_tid = (int32_t) WILD;
			event.exec.filename = "";
			break;
		case EV_PROCESS_EXIT:
		case EV_PROCESS_FREE:
			event.exit.tid = (int32_t) WILD;
			break;
		case EV_IRQ_ENTRY:
		case EV_IRQ_EXIT:
			event.irq.irq = (int32_t) WILD;
			break;
		case EV_SOFTIRQ_RAISE:
		case EV_SOFTIRQ_ENTRY:
		case EV_SOFTIRQ_EXIT:
			event.softirq.vec = (uint32_t) WILD;
			break;
		case EV_CPU_IDLE:
			event.idle.cpu = (int32_t) WILD;
			event.idle.state = WILD;
			break;
		case EV_SYSCALL_ENTRY:
		case EV_SYSCALL_EXIT:
			event.syscall.id = (int32_t) WILD;
			event.syscall.ret = WILD;
			event.syscall.fd = (int32_t) WILD;
			event.syscall.newfd = (int32_t) WILD;
			event.syscall.dfd = (int32_t) WILD;
			event.syscall.pair[0] = (int32_t) WILD;
			event.syscall.pair[1] = (int32_t) WILD;
			event.syscall.op = (int32_t) WILD;
			event.syscall.timeout = WILD;
			event.syscall.filename = "/f";
			break;
		case EV_HRTIMER_START:
		case EV_HRTIMER_EXPIRE_ENTRY:
		case EV_HRTIMER_EXPIRE_EXIT:
		case EV_HRTIMER_CANCEL:
			event.timer.timer = (uint64_t) WILD;
			event.timer.expires = WILD;
			break;
		case EV_BLOCK_ISSUE:
		case EV_BLOCK_BIO:
		case EV_BLOCK_COMPLETE:
			event.block.sector = (uint64_t) WILD;
			event.block.sectors = (uint32_t) WILD;
			event.block.dev = (uint32_t) WILD;
			event.block.tid = (int32_t) WILD;
			break;
		case EV_STATEDUMP_PROCESS:
		case EV_STATEDUMP_PID_NS:
			event.process.name = "dumped";
			event.process.tid = (int32_t) WILD;
			event.process.pid = (int32_t) WILD;
			event.process.ppid = (int32_t) WILD;
			event.process.vtid = (int32_t) WILD;
			event.process.level = (int32_t) WILD;
			event.process.status = (int32_t) WILD;
			event.process.ns = (uint32_t) WILD;
			break;
		case EV_STATEDUMP_FD:
			event.file.pid = (int32_t) WILD;
			event.file.fd = (int32_t) WILD;
			event.file.mode = (uint32_t) WILD;
			event.file.filename = "/f";
			break;
		case EV_STATEDUMP_INTERRUPT:
			event.interrupt.irq = (int32_t) WILD;
			break;
		case EV_SIGNAL_GENERATE:
			event.signal.tid = (int32_t) WILD;
			event.signal.sig = (int32_t) WILD;
			break;
		case EV_PI_SETPRIO:
			event.priority.tid = (int32_t) WILD;
			event.priority.to = (int32_t) WILD;
			break;
		default:
			break;
		}
#undef WILD
		send(feed, &event);
	}
	g_rand_free(random);
}

/* Each event on another CPU, which never switches; then each does. */
static void many_cpus(struct feed *feed, int n)
{
	for (int i = 0; i < n; i++)
		irq(feed, i, (uint32_t) i * 4001u, "irq_handler_entry", 1);
	for (int i = 0; i < n; i++)
		sw(feed, n + i, (uint32_t) i * 4001u, "a", 100 + i, SLEEPS, "b", 100 + i + 1);
}

/* A CPU that never switches: all events wait for its thread to be known. */
static void held_to_the_end(struct feed *feed, int n)
{
	irq(feed, 0, 1, "irq_handler_entry", 1);
	for (int i = 1; i < n; i++)
		sw(feed, i, 0, "a", 10 + i % 7, SLEEPS, "b", 10 + (i + 1) % 7);
}

static void many_threads(struct feed *feed, int n)
{
	sw(feed, 0, 0, "idle", 0, 0, "parent", 1);
	for (int i = 0; i < n; i++) {
		forks(feed, 4 * i + 1, 0, 1, 10 + i, 1);
		wakeup(feed, 4 * i + 2, 0, 10 + i);
		sw(feed, 4 * i + 3, 0, "parent", 1, PREEMPTED, "child", 10 + i);
		sw(feed, 4 * i + 4, 0, "child", 10 + i, SLEEPS, "parent", 1);
	}
}

/* The same TID lives n times. */
static void many_lives(struct feed *feed, int n)
{
	sw(feed, 0, 0, "idle", 0, 0, "parent", 1);
	for (int i = 0; i < n; i++) {
		forks(feed, 4 * i + 1, 0, 1, 10, 10);
		sw(feed, 4 * i + 2, 0, "parent", 1, SLEEPS, "child", 10);
		wakeup(feed, 4 * i + 3, 0, 1);
		sw(feed, 4 * i + 4, 0, "child", 10, DEAD, "parent", 1);
	}
}

/* Each thread forks the next one. */
static void fork_chain(struct feed *feed, int n)
{
	sw(feed, 0, 0, "idle", 0, 0, "first", 1);
	for (int i = 1; i < n; i++) {
		forks_and_execs(feed, 3 * i, i, i + 1);
		sw(feed, 3 * i + 1, 0, "x", i, SLEEPS, "x", i + 1);
	}
}

/* All wait; then the last wakes the one before it, and so on down to the first. */
static void wake_chain(struct feed *feed, int n)
{
	for (int i = 1; i < n; i++)
		sw(feed, i, 0, "t", i, SLEEPS, "t", i + 1);
	for (int i = n; i > 1; i--) {
		waking(feed, 3 * (n - i) + n, 0, i - 1);
		wakeup(feed, 3 * (n - i) + n + 1, 0, i - 1);
		sw(feed, 3 * (n - i) + n + 2, 0, "t", i, SLEEPS, "t", i - 1);
	}
}

/* Two threads wake each other, and wait for each other. */
static void ping_pong(struct feed *feed, int n)
{
	sw(feed, 0, 0, "b", 2, SLEEPS, "a", 1);
	for (int i = 0; i < n; i++) {
		wakeup(feed, 3 * i + 1, 0, 1 + (i + 1) % 2);
		sw(feed, 3 * i + 2, 0, "t", 1 + i % 2, SLEEPS, "t", 1 + (i + 1) % 2);
	}
}

/* A few thousand threads that wake one another at random. */
static void mesh(struct feed *feed, int n)
{
	GRand *random = g_rand_new_with_seed(3);
	int32_t current[2] = {1, 2}, threads = MIN(3000, n / 10 + 10);

	for (int i = 0; i < n; i++) {
		uint32_t cpu = (uint32_t) i % 2;
		int32_t next = g_rand_int_range(random, 3, threads) * 2 + (int32_t) cpu;

		waking(feed, 10 * i, cpu, g_rand_int_range(random, 3, 2 * threads));
		wakeup(feed, 10 * i + 3, cpu, next);
		sw(feed, 10 * i + 5, cpu, "m", current[cpu], SLEEPS, "m", next);
		current[cpu] = next;
	}
	g_rand_free(random);
}

/* Interrupts in interrupts, page faults in page faults, calls without an end. */
static void nesting(struct feed *feed, int n)
{
	static const char *const ways[] = {"irq_handler_entry",
					   "irq_softirq_entry",
					   "x86_irq_vectors_local_timer_entry",
					   "x86_exceptions_page_fault_kernel",
					   "timer_hrtimer_expire_entry",
					   "syscall_entry_read",
					   "fn_f_entry"};

	sw(feed, 0, 0, "idle", 0, 0, "victim", 1);
	for (int i = 0; i < n; i++)
		plain(feed, i + 1, 0, ways[i % (int) G_N_ELEMENTS(ways)]);
	sw(feed, n + 1, 0, "victim", 1, SLEEPS, "other", 2);
	wakeup(feed, n + 2, 0, 1);
	sw(feed, n + 3, 0, "other", 2, SLEEPS, "victim", 1);
	for (int i = 0; i < n; i++)
		plain(feed, n + 4 + i, 0, i % 2 ? "irq_handler_exit" : "fn_f_exit");
	sw(feed, 2 * n + 4, 0, "victim", 1, SLEEPS, "other", 2);
}

/* A function that calls itself, and returns. */
static void recursion(struct feed *feed, int n)
{
	sw(feed, 0, 0, "idle", 0, 0, "victim", 1);
	for (int i = 0; i < n; i++)
		plain(feed, i + 1, 0, "fn_f_entry");
	for (int i = 0; i < n; i++)
		plain(feed, n + i + 1, 0, "fn_f_exit");
	sw(feed, 2 * n + 1, 0, "victim", 1, SLEEPS, "other", 2);
}

static void many_descriptors(struct feed *feed, int n)
{
	sw(feed, 0, 0, "idle", 0, 0, "victim", 1);
	for (int i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("/file/%d", i);
		struct event event = event_of(feed, 4 * i + 1, 0, "syscall_entry_openat");

		event.syscall.filename = name;
		send(feed, &event);
		leave(feed, 4 * i + 2, 0, "openat", i);
		entry(feed, 4 * i + 3, 0, "read", i);
		leave(feed, 4 * i + 4, 0, "read", 1);
	}
	for (int i = 0; i < 300; i++) { /* processes that take a copy each */
		forks(feed, 4 * n + 8 * i, 0, 1, 10 + i, 10 + i);
		sw(feed, 4 * n + 8 * i + 1, 0, "victim", 1, PREEMPTED, "child", 10 + i);
		entry(feed, 4 * n + 8 * i + 2, 0, "close", i);
		leave(feed, 4 * n + 8 * i + 3, 0, "close", 0);
		sw(feed, 4 * n + 8 * i + 4, 0, "child", 10 + i, DEAD, "victim", 1);
	}
}

/* Every thread is ready and one runs, by turns. */
static void many_ready(struct feed *feed, int n)
{
	int32_t threads = MIN(2000, n / 4 + 2);

	sw(feed, 0, 0, "idle", 0, 0, "parent", 1);
	for (int32_t i = 0; i < threads; i++) {
		forks(feed, 2 * i + 1, 0, 1, 10 + i, 10 + i);
		wakeup(feed, 2 * i + 2, 0, 10 + i);
	}
	sw(feed, 10000, 0, "parent", 1, SLEEPS, "r", 10);
	for (int i = 0; i < n; i++)
		sw(feed, 10001 + i, 0, "r", 10 + i % threads, PREEMPTED, "r",
		   10 + (i + 1) % threads);
}

/* Each switch tells another name of the thread; and other files, each with a name of 64 KB. */
static void many_names(struct feed *feed, int n)
{
	g_autofree char *huge = g_strnfill(65536, 'x');

	for (int i = 0; i < n; i++) {
		g_autofree char *name = g_strdup_printf("%d\x1b[2J\"<&'=,\xff", i);

		memcpy(huge, name, MIN(strlen(name), 5));
		sw(feed, 4 * i, 0, "idle", 0, 0, name, 5);
		entry(feed, 4 * i + 1, 0, "read", 3);
		sw(feed, 4 * i + 2, 0, i % 1000 ? name : huge, 5, SLEEPS, "idle", 0);
		wakeup(feed, 4 * i + 3, 0, 5);
	}
}

/* The tracer loses events all the time, on each CPU. */
static void many_gaps(struct feed *feed, int n)
{
	for (int i = 0; i < n; i++) {
		uint32_t cpu = (uint32_t) i % 2;

		sw(feed, 10 * i, cpu, "a", 10 + (int32_t) cpu, SLEEPS, "b", 20 + (int32_t) cpu);
		waking(feed, 10 * i + 2, cpu, 10 + i % 3);
		lost(feed, cpu, 10 * i + 4, 10 * i + 6);
	}
}

static void futex(struct feed *feed, int64_t time, uint64_t uaddr, int32_t op, bool is_entry)
{
	struct event event =
		event_of(feed, time, 0, is_entry ? "syscall_entry_futex" : "syscall_exit_futex");

	event.syscall.uaddr = uaddr;
	event.syscall.op = op;
	event.syscall.val = 2;
	send(feed, &event);
}

/* Everybody waits for a lock, each for another one, and all are let go by one. */
static void many_locks(struct feed *feed, int n)
{
	for (int i = 1; i < n; i++) {
		futex(feed, 4 * i, 8 * (uint64_t) i, 128, true);
		sw(feed, 4 * i + 1, 0, "l", i, SLEEPS, "l", i + 1);
	}
	for (int i = 1; i < n; i++) {
		futex(feed, 4 * n + 4 * i, 8 * (uint64_t) i, 129, true);
		wakeup(feed, 4 * n + 4 * i + 1, 0, i);
		futex(feed, 4 * n + 4 * i + 2, 8 * (uint64_t) i, 129, false);
	}
	for (int i = n; i > 1; i--) {
		sw(feed, 10 * n - 2 * i, 0, "l", i, SLEEPS, "l", i - 1);
		futex(feed, 10 * n - 2 * i + 1, 8 * (uint64_t) i, 128, false);
	}
}

/* All of them wait for the same lock, over and over. */
static void one_lock(struct feed *feed, int n)
{
	int32_t threads = MIN(1000, n / 8 + 2);

	for (int i = 0; i < n; i++) {
		int32_t me = 1 + i % threads, next = 1 + (i + 1) % threads;

		futex(feed, 6 * i, 64, 128, true);
		sw(feed, 6 * i + 1, 0, "l", me, SLEEPS, "l", next);
		futex(feed, 6 * i + 2, 64, 128, false);
		futex(feed, 6 * i + 3, 64, 129, true);
		wakeup(feed, 6 * i + 4, 0, 1 + (i + 2) % threads);
		futex(feed, 6 * i + 5, 64, 129, false);
	}
}

/* Requests that are never completed, and completions of what was never issued. */
static void many_requests(struct feed *feed, int n)
{
	static const char *const names[] = {"block_bio_queue", "block_rq_insert", "block_rq_issue"};

	sw(feed, 0, 0, "idle", 0, 0, "victim", 1);
	for (int i = 0; i < n; i++) {
		struct event event =
			event_of(feed, i + 1, 0, i % 4 == 3 ? "block_rq_complete" : names[i % 4]);

		event.block.dev = 8 << 20;
		event.block.sector = 8 * (uint64_t) (i / 3);
		event.block.sectors = 8;
		event.block.tid = 1;
		send(feed, &event);
	}
}

/* Timers, work items and packets that never end. */
static void never_ending(struct feed *feed, int n)
{
	static const char *const names[] = {"timer_hrtimer_start", "workqueue_queue_work",
					    "net_dev_queue",       "timer_start",
					    "irq_softirq_raise",   "signal_generate"};

	sw(feed, 0, 0, "idle", 0, 0, "victim", 1);
	for (int i = 0; i < n; i++) {
		struct event event = event_of(feed, i + 1, 0, names[i % (int) G_N_ELEMENTS(names)]);

		if (event.kind == EV_HRTIMER_START || event.kind == EV_TIMER_START) {
			event.timer.timer = (uint64_t) i * 64;
			event.timer.expires = i + 1000;
		} else if (event.kind == EV_WORK_QUEUE) {
			event.work.item = (uint64_t) i * 64;
		} else if (event.kind == EV_NET_SEND) {
			event.net.skb = (uint64_t) i * 64;
			event.net.source_port = (uint32_t) i;
		} else if (event.kind == EV_SIGNAL_GENERATE) {
			event.signal.tid = i;
			event.signal.sig = 17;
		}
		send(feed, &event);
	}
}

/* A namespace in a namespace in a namespace …, deeper than the kernel's 32 levels. */
static void many_namespaces(struct feed *feed, int n)
{
	uint64_t words[16];

	sw(feed, 0, 0, "idle", 0, 0, "first", 1);
	for (int i = 1; i < n; i++) {
		struct event event = event_of(feed, 2 * i, 0, "sched_process_fork");

		for (int k = 0; k < 16; k++)
			words[k] = (uint64_t) (i + 1);
		event.fork.parent_tid = event.fork.parent_pid = i;
		event.fork.child_tid = event.fork.child_pid = i + 1;
		event.fork.child_comm = "inner";
		event.fork.parent_ns = (uint32_t) i + 100;
		event.fork.child_ns = (uint32_t) i + 101;
		event.fork.vtids = (struct event_bytes) {(const uint8_t *) words, sizeof words};
		send(feed, &event);
		sw(feed, 2 * i + 1, 0, "inner", i, SLEEPS, "inner", i + 1);
	}
}

/* --- running them ------------------------------------------------------------- */

struct scenario {
	const char *name;
	void (*feed)(struct feed *feed, int n);
	int quick, full;
	const char *thread; /* that the single-thread report is of */
};

static const struct scenario scenarios[] = {
	{"wild-numbers", wild_numbers, 10000, 1000000, "all"},
	{"many-cpus", many_cpus, 1000, 30000, "100"},
	{"held-to-the-end", held_to_the_end, 20000, 2000000, "10"},
	{"many-threads", many_threads, 1000, 200000, "1"},
	{"many-lives", many_lives, 1000, 200000, "1"},
	{"fork-chain", fork_chain, 1000, 200000, "1"},
	{"wake-chain", wake_chain, 300, 10000, "1"},
	{"ping-pong", ping_pong, 3000, 1000000, "1"},
	{"mesh", mesh, 1000, 50000, "10"},
	{"nesting", nesting, 3000, 1000000, "1"},
	{"recursion", recursion, 3000, 1000000, "1"},
	{"many-descriptors", many_descriptors, 1000, 100000, "1"},
	{"many-ready", many_ready, 1000, 100000, "10"},
	{"many-names", many_names, 2000, 200000, "5"},
	{"many-gaps", many_gaps, 2000, 300000, "10"},
	{"many-locks", many_locks, 300, 10000, "1"},
	{"one-lock", one_lock, 500, 20000, "1"},
	{"many-requests", many_requests, 3000, 1000000, "1"},
	{"never-ending", never_ending, 3000, 1000000, "1"},
	{"many-namespaces", many_namespaces, 1000, 1000000, "1"},
};

static const struct ask {
	const char *name;
	const struct command *command;
	enum format format;
	bool all;
} asks[] = {
	{"delay-all", &delay_command, FORMAT_JSON, true},
	{"delay-one", &delay_command, FORMAT_TEXT, false},
	{"overview", &overview_command, FORMAT_TEXT, true},
	{"profile", &profile_command, FORMAT_JSON, true},
	{"requests", &requests_command, FORMAT_JSON, true},
	{"diff", &diff_command, FORMAT_TEXT, true},
	{"export-timeline", &export_command, FORMAT_TEXT, true},
	{"export-stacks", &export_command, FORMAT_TEXT, false},
};

static void set(struct options *options, const char *name, const char *value)
{
	g_assert_true(options_set(options, name, value, NULL));
}

/* States tile a life whatever came. */
static void check_life(const struct session *session, uint32_t index)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	int64_t at = MAX(thread->begin, session->asked.from),
		to = MIN(thread->end, session->asked.to);
	struct spans spans;
	struct span span;

	if (at >= to)
		return;
	spans_begin(&spans, session, index, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		g_assert_cmpint(span.begin, ==, at);
		at = span.end;
	}
	g_assert_cmpint(at, ==, to);
}

static void ask(const struct scenario *scenario, const struct ask *ask, int n)
{
	struct feed *feed = g_new0(struct feed, 1);
	GError *error = NULL;

	command_options(&feed->options, ask->command);
	if (ask->command == &profile_command)
		set(&feed->options, "operation", "*");
	if (ask->command == &diff_command) {
		set(&feed->options, "a", "..");
		set(&feed->options, "b", "..");
	}
	if (ask->command == &export_command)
		set(&feed->options, "as", ask->all ? "perfetto" : "folded");
	feed_start(feed, 2, "6.1.0", 2, 13);
	feed->options.limit = 20;
	feed->options.format = ask->format;
	set(&feed->options, "output", "/dev/null");
	if (ask->command == &delay_command)
		set(&feed->options, "thread", ask->all ? "all" : scenario->thread);
	scenario->feed(feed, n);
	finish(feed);
	for (uint32_t i = 0; i < MIN(feed->session->trace.model.thread_count, 2000); i++)
		check_life(feed->session, i);
	report_write(feed->session, &error);
	g_assert_no_error(error);
	feed_free(feed);
}

/* In a process of its own, which is measured. */
static void ask_measured(const struct scenario *scenario, const struct ask *what)
{
	gint64 begin = g_get_monotonic_time();
	struct rusage usage;
	pid_t child = fork();
	int status;
	double seconds;

	if (child == 0) {
		alarm(2 * MAX_SECONDS);
		ask(scenario, what, scenario->full);
		_exit(0);
	}
	g_assert_cmpint(wait4(child, &status, 0, &usage), ==, child);
	seconds = (double) (g_get_monotonic_time() - begin) / 1e6;
	g_test_message("%s, %s, %d: status %d, %.2f s, %ld MB", scenario->name, what->name,
		       scenario->full, status, seconds, usage.ru_maxrss / 1024);
	if (status || seconds > MAX_SECONDS || usage.ru_maxrss / 1024 > MAX_MEGABYTES)
		g_test_fail();
}

/* In ./check one in three of what each is asked, others after each change (WHYLATE_PART). */
static bool is_taken(const struct scenario *scenario, size_t ask)
{
	const char *part = g_getenv("WHYLATE_PART");

	return !part || (g_str_hash(part) + g_str_hash(scenario->name) + ask) % 3 == 0;
}

static void test_scenario(gconstpointer data)
{
	const struct scenario *scenario = data;

	for (size_t i = 0; i < G_N_ELEMENTS(asks); i++)
		if (g_getenv("WHYLATE_LONG"))
			ask_measured(scenario, &asks[i]);
		else if (is_taken(scenario, i))
			ask(scenario, &asks[i], scenario->quick);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	for (size_t i = 0; i < G_N_ELEMENTS(scenarios); i++) {
		g_autofree char *path = g_strconcat("/hostile/", scenarios[i].name, NULL);

		g_test_add_data_func(path, &scenarios[i], test_scenario);
	}
	return g_test_run();
}
