/* SPDX-License-Identifier: MIT */
/* Who and what the trace is about: hosts, CPUs, thread lives, descriptors,
 * names of devices.
 *
 * Place: model/ is filled by flow/ while events pass, in time order, and read
 * by the analyses afterwards. It knows what each thing is called and belongs to;
 * what a thread was doing when is flow's and timeline's business, though the
 * current step of that (struct thread.flow) lies here, beside what it needs,
 * so that an event touches one record.
 *
 * Source: semantics.md, "Who" and "What a CPU runs".
 */
#ifndef WHYLATE_MODEL_MODEL_H
#define WHYLATE_MODEL_MODEL_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/event.h"
#include "event/kinds.h"
#include "model/connections.h"
#include "timeline/timeline.h"
#include "util/corridor.h"
#include "util/idmap.h"
#include "util/intern.h"

#define SOFTIRQS_MAX 10
#define FRAMES_MAX 16 /* interrupt frames on one CPU; more are counted and dropped */

/* How the kernel and tracer write sched_switch.prev_state. */
enum state_encoding {
	STATES_REPORT,  /* kernel >= 4.14 with a tracer that knows it: one bit, 0x100 preempted */
	STATES_RAW_NEW, /* kernel >= 4.14, older tracer: bits of the task's state */
	STATES_RAW_OLD, /* kernel < 4.14 */
};

enum switch_out { OUT_PREEMPTED, OUT_BLOCKED, OUT_STOPPED, OUT_TRACED, OUT_DEAD, OUT_IDLE };

enum thread_state {
	THREAD_UNKNOWN,
	THREAD_RUNNING,
	THREAD_PREEMPTED,
	THREAD_WAIT_CPU,
	THREAD_BLOCKED,
	THREAD_DEAD,
};

/* The item of a work queue that a kernel worker does. */
struct work {
	bool doing;
	bool in_interrupt; /* queued there */
	uint32_t function; /* interned address, 0 */
	uint32_t thread;   /* who queued it, NO_THREAD */
	uint32_t behind;   /* struct wake_detail of what an interrupt queued it for, 0 */
	bool by_timer;     /* a timer's function queued it; delayed work is none */
	uint32_t timer;    /* … interned address of that, 0 */
	int64_t queued;    /* when, 0: not seen */
};

/* What woke a thread: the context of a wake-up event. */
struct waker {
	uint32_t thread, stack, context, label, detail, cpu;
	uint32_t callstack, user_callstack; /* numbers of lists, 0: not recorded */
	uint8_t kind, why;
	bool same_file; /* its call was on the file that the woken one's is on */
	bool to_all;    /* its call wakes all who wait on a futex */
};

/* The system call that a thread is in, with what its effects need. */
struct call {
	bool open;
	bool inherited;     /* of the parent that forked in it */
	uint32_t name;      /* interned */
	uint32_t before;    /* … of the thread's call before this one, 0 */
	int64_t begin;
	uint32_t path;      /* interned file name, 0 */
	uint32_t works_on;  /* ref of its working intervals (timeline.h): a file that it opens,
			       executes or loads; 0 */
	uint32_t newpath;   /* … that it gives to a file */
	uint32_t address;   /* interned "socket:ADDR", 0 */
	int32_t fd, newfd;
	int32_t op;         /* epoll_ctl, futex, fcntl and ioctl cmd, socket family */
	int64_t argument; /* fcntl arg, wait pid, socket type, epoll cookie, timeout, mmap offset */
	uint64_t flags; /* open, clone, pipe2, mmap; futex: address */
	uint64_t start, length; /* mmap, munmap, mremap */
	int64_t timer; /* ns of the last timer armed in this call, -1 */
	uint32_t child; /* thread made by fork inside this call */
	uint32_t waits; /* blocked intervals begun in it */
	bool to_disk; /* it made requests to write: past the page cache, or of its pages */
	bool reads; /* … to read, where writers go first */
	uint32_t lock; /* number of the futex lock it waits for, 0 */
	uint32_t exchange; /* what it writes or connects, a struct exchange; 0 */
	uint32_t end; /* … to or from which struct channel_end */
	uint32_t talk; /* number of the struct talk that it reads, writes, closes or waits for */
	uint64_t flow; /* TCP: key of the way from its socket (connections.h), 0 */
	int64_t came; /* … it got the first bytes on it: when they came; 0 */
};

/* A function of user space that was entered and not left. */
struct user_frame {
	int64_t begin;
	uint64_t address, call_site; /* 0: not said; without a call site its exit says no address */
	uint32_t name; /* interned "0xADDRESS" */
	bool inherited; /* of the process that forked in it: has no latency */
};

/* What is known of a thread by user space's own events. */
struct user_stack {
	GArray *frames; /* owned; struct user_frame, outermost first; those that are open
				   when the thread or the trace ends stay */
	int64_t seen; /* last entry or exit */
	int64_t from; /* since an exec or lost events: before that its frames were others */
	int32_t pid; /* as the kernel's trace may not say it; -1 */
};

/* Where a signal came from. */
enum kill_origin {
	KILL_UNKNOWN,
	KILL_NONE, /* there was none: it ended itself */
	KILL_SENT, /* a thread sent it */
	KILL_MEMORY, /* the kernel: it is out of memory */
};

#define SPIN_NOT_OPEN (-9) /* EBADF, of many descriptors */

/* A thread was in a handler of a signal, up to its sigreturn. */
#define HANDLINGS_MAX 65536
struct handling {
	int64_t begin, end;
	int32_t signal;
	uint32_t sender; /* a thread, NO_THREAD: none, or not known */
};

#define FAILURES_MAX 65536 /* of a host: 2 MB */
/* A call that failed as something is short, broken or gone (tries/failures.h). */
struct failure {
	int64_t time; /* it ended */
	uint32_t thread;
	uint32_t peer; /* who had the other end of what it was on, NO_THREAD */
	uint32_t call; /* interned */
	uint32_t object; /* interned key of what it was on, or "call:" and its name */
	int32_t result; /* -errno of the traced kernel */
	bool unasked; /* on a connection: no answer was due there */
	bool elsewhere; /* connect: it had a connection of another address at once */
};

/* A call that found nothing to do so often without a wait between (tries/asks.h). */
struct spin {
	uint32_t thread;
	uint32_t maker; /* who wrote what it got in the end, NO_THREAD */
	uint32_t call; /* interned */
	uint32_t object; /* interned key of what was asked, 0 */
	int32_t fd; /* … its descriptor */
	int32_t result; /* -11 (EAGAIN), SPIN_NOT_OPEN, or 0: no events */
	uint32_t count;
	int64_t begin, end; /* of the first try, of the last */
};

struct thread {
	int64_t begin, end; /* life, [begin, end); end INT64_MAX while alive */
	int32_t tid, pid; /* pid -1: not known */
	uint16_t host;
	uint8_t state; /* enum thread_state */
	bool born; /* its fork or sched_wakeup_new was seen */
	bool by_fork; /* … and it was the fork; cleared by its wakeup_new */
	bool described; /* by the statedump */
	bool kernel; /* known to be a kernel thread */
	bool of_kthreadd; /* child of kthreadd */
	bool execed;
	bool dumped; /* its process dumped core */
	uint8_t ended_by; /* the signal that it died of, 0: its process's exit */
	uint8_t ended_for; /* enum kill_origin: where that came from */
	bool listens; /* its process: it called listen(); of who leads that */
	uint32_t ended_sender; /* who sent it; NO_THREAD: nobody, or not known */
	int64_t ends_from; /* the kernel ends it since: threads/deaths.h; INT64_MAX: not seen to */
	bool made_syscall;
	bool accepted; /* somebody's connection, and read from it: it serves, maybe */
	bool reads_pipe; /* it has read something from a pipe */
	bool vcpu; /* it runs a guest's virtual CPU: guests/machines.h */
	int32_t vcpu_number; /* … which, -1: not known */
	bool evident; /* something it did was seen */
	bool contained; /* its calls number threads as a PID namespace does that is not known */
	bool settled; /* its begin is: what it follows from may be forgotten */
	bool late; /* first seen after events were lost, or after … */
	int64_t late_after; /* … the end of an earlier life of the TID; INT64_MIN */
	bool backfilled; /* found off CPU: since S at the earliest, see span_next() */
	int64_t backfill_begin; /* … begin of that interval */
	int64_t backfill_end; /* … when it was found: off CPU from then on, whatever S is */
	uint32_t parent; /* thread index, NO_THREAD */
	uint32_t pinned_by; /* who said last on which CPUs it may run; NO_THREAD: not seen */
	bool only_if_idle; /* of policy SCHED_IDLE, as far as was seen; a child inherits it */
	int64_t pinned_at; /* … when; a child inherits both; INT64_MIN */
	uint32_t place; /* in model.places: its namespaces; 0: not known */
	uint32_t name, program; /* interned; newest */
	GArray *names; /* owned; struct name_change, oldest first; NULL: only one */
	int32_t priority; /* the last one that is known, as event.h has it, NO_PRIORITY */
	GArray *handlings; /* owned; struct handling, ascending, the first HANDLINGS_MAX; NULL */
	int64_t name_since;
	struct fd_table *files; /* shared; NULL: not known */
	uint32_t cgroup; /* interned path of the cgroup that it moved itself to, 0: not known */
	bool cgroups; /* it, or who forked it, moved somebody to one */
	struct memory *memory; /* shared; NULL: nothing known; memory.h */

	/* the current step of its control flow; flow/ only */
	struct {
		uint32_t cpu; /* runs or ran there last, NO_CPU */
		uint32_t block; /* struct block of the open blocked interval */
		int64_t since; /* begin of the off-CPU stretch */
		int64_t history; /* begin of the known history */
		int64_t last_call; /* last syscall entry, exit, user fault in it */
		bool has_call; /* … there was one */
		bool in_guest; /* a virtual CPU's thread: the guest runs: flow/syscall.c */
		uint32_t apic; /* … the number of its APIC + 1; 0: not known */
		bool halted; /* … was left as its guest's CPU halted, and had the CPU since */
		bool fault; /* a page-fault frame is open */
		uint64_t fault_address; /* … of that one */
		int64_t reclaims; /* it frees memory since, as events tell; INT64_MIN */
		int64_t reclaimed; /* it freed memory in a page fault last; INT64_MIN */
		bool pressed; /* the kernel made it sleep for the memory it uses */
		int64_t fatal; /* a signal that may end it was sent to it last; INT64_MIN */
		uint8_t fatal_signal;
		bool fatal_delivered; /* … and had its default action */
		uint8_t kill_signal; /* that was sent to it, or its process, last … */
		uint8_t kill_origin; /* … enum kill_origin */
		uint32_t killer; /* … by whom, NO_THREAD */
		int64_t exiting; /* of who leads its process: that called exit_group; INT64_MIN */
		bool wakeup_due; /* sched_wakeup of the seen sched_waking still to come */
		bool remembered; /* sched_waking came while not blocked: `waker` */
		int64_t remembered_at; /* … when; for one whose state was not known */
		bool sigreturn; /* its last entry was a sigreturn */
		bool interruptible; /* a signal could end the wait that began last */
		uint32_t handlers; /* of signals that it is in, … */
		struct handling handling; /* … the outermost, which has not ended */
		int32_t sent_signal; /* the last one for it, 0, … */
		uint32_t sent_signal_by; /* … and who sent it, NO_THREAD: none did */
		int64_t left; /* last switched out; INT64_MIN */
		int64_t unseen_from; /* its last time off CPU that spans a gap: it may have run */
		int64_t unseen_until; /* … there unseen; INT64_MIN: none */
		int64_t woken; /* waits for CPU since, if that was seen; INT64_MIN */
		uint64_t counters[COUNTERS]; /* its own, when it left; NO_COUNTER */
		uint32_t operation; /* newest struct operation of its list, 0 */
		bool answers; /* it has read, in a call since before the trace, and not written */
		uint32_t calls; /* system calls that it has made */
		uint32_t doings; /* … of which so many do more than tell the time, or hand over */
		struct spin spin; /* what it asks without a pause; count 0: nothing */
		uint32_t spin_block; /* … the wait before */
		uint32_t tries; /* its newest struct try, its place + 1; 0: none */
		GArray *functions; /* owned; struct open_frame of kernel functions, NULL */
		bool counted; /* its open call is one of flow->calls_open */
		GByteArray *values; /* owned; of the open call's entry (facts.h), NULL */
		struct user_stack *user; /* owned; NULL: no event of user space was its */
		GArray *woke; /* owned; struct block it ended with no call known, NULL */
		uint32_t asked_by; /* a kernel thread's: who woke it in a call last, */
		uint32_t asked_call; /* … and in which; NO_THREAD */
		uint32_t sent; /* as struct block's, since its wait before */
		int32_t sent_fd; /* … with that */
		int64_t sent_at; /* … when it last began to send */
		int64_t day_expires; /* its last timer by the time of day: when it expires, so, */
		int64_t day_begin; /* … when it was armed: ns, */
		int64_t day_requested; /* … for so long: ns, -1 unknown, */
		uint32_t day_set_by; /* … and who has set the clock since; NO_THREAD */
		uint32_t pause; /* struct reason of the sleep that the kernel is about to make */
		bool commits; /* a journal's thread: it began or ended a commit */
		uint32_t transaction; /* … of that one */
		uint32_t asked; /* number of the talk that it asked something on last, 0 */
		uint32_t hears; /* … that it was woken for, and has not read, 0 */
		uint16_t heard_port; /* the port of the packet that woke it last */
		uint32_t timed_out; /* struct block of its last wait if that timed out, 0 … */
		bool timed_out_asking; /* … it may have been for an answer, */
		bool timed_out_reading; /* … which it read */
		int64_t timed_out_at; /* … when the call returned */
		struct waker waker;
		struct work work;
		struct call call;
	} flow;
	struct track track;
	struct log samples; /* in timeline.samples */
	struct log counts; /* in timeline.counts */
};

struct name_change {
	int64_t time;
	uint32_t name;
};

struct frame {
	uint32_t what; /* PACK of frame_kind */
	uint32_t label; /* interned device name of an IRQ; packets of a softIRQ
			   (net/packet_time.h); 0 */
	uint16_t votes; /* … by which these are more than others */
	uint32_t number; /* of the frames of this CPU, from 1 */
	int64_t begin;
	struct wake_detail pending; /* what was just done in it */
};

struct cpu {
	uint32_t id; /* cpu_id */
	bool seen; /* emitted an event */
	bool named; /* its thread was known once */
	uint32_t awaited; /* its place in flow->unnamed, from 1; 0: not there */
	uint32_t current; /* thread index, IDLE_THREAD, NO_THREAD: not known */
	int32_t priority; /* of who is being switched in, NO_PRIORITY */
	int64_t first_packet; /* last of its streams' first packets; INT64_MIN: none said */
	int64_t unknown_since; /* while current is NO_THREAD */
	int64_t unknown_ns; /* sum of finished stretches */
	int64_t gap_end; /* events until here are inside a gap; INT64_MIN */
	int64_t last_switch; /* INT64_MIN: none */
	int64_t counted_at; /* its last switch with counters of it, INT64_MIN: none … */
	uint64_t counted[COUNTERS]; /* … and what they were, NO_COUNTER */
	bool frames_lost; /* a gap dropped them, and nothing told since that there is none */
	uint32_t depth;
	uint32_t frames_made;
	uint32_t sampled; /* the number of the frame that interrupted the last sample, 0 */
	uint32_t copied_name; /* its last event, but for faults of the kernel: interned, … */
	uint16_t copied_channel; /* … the stream class that it came through */
	int32_t copied_tid; /* … and whom it woke, 0 */
	struct frame frames[FRAMES_MAX];
	struct wake_detail pending; /* the same outside interrupts: leads to nothing */
	uint32_t last_woken; /* thread whose wait this context ended last, NO_THREAD */
	uint8_t sender[16]; /* DETAIL_PACKET: address, named only if somebody is woken */
	uint8_t sender_length; /* 4, 16, or 0: not recorded */
	uint32_t sender_port;
	uint16_t heard_port; /* DETAIL_PACKET: for which port, 0 */
	uint32_t heard; /* DETAIL_PACKET: number of the talk on which it was sent here, 0 */
	struct tcp_arrival arrival; /* … of TCP, more of it */
	int32_t last_raise; /* softIRQ raised last, -1 */
	struct idle_state {
		int64_t begin, end; /* end INT64_MAX: still in it */
		uint8_t state;
	} idles[4]; /* its last ones */
	uint32_t idles_count; /* so many it had */
	int64_t last_ipi; /* last inter-processor interrupt, INT64_MIN */
	struct raised {
		uint32_t thread; /* in whose context; NO_THREAD: an interrupt's, or not known */
		int64_t time;
	} raised[SOFTIRQS_MAX]; /* by number, and not run yet */
	struct raised raiser; /* of the softIRQ that began last */
	bool by_raiser; /* DETAIL_REQUEST: that thread is the device */
	uint32_t vcpu; /* thread of another host that it is the virtual CPU of; NO_THREAD */
	struct log runs; /* in timeline.runs */
	GArray *open; /* owned; struct open_frame, NULL */
	uint32_t operation; /* newest struct operation of its list, 0 */
};

/* What happens there now is, or may be, an interrupt's doing and not its thread's. */
static inline bool cpu_interrupted(const struct cpu *cpu)
{
	return cpu->depth || cpu->frames_lost;
}

/* The frame, or the stretch between two of the thread's calls' ends, in which the CPU is: another
 * one has another number. */
static inline uint64_t cpu_context(const struct cpu *cpu, const struct thread *thread)
{
	if (cpu->depth)
		return (uint64_t) (cpu->id + 1) << 32 | cpu->frames[cpu->depth - 1].number;
	return thread ? (uint64_t) thread->flow.last_call : 0;
}

/* Lost events of one stream, [begin, end). */
struct gap {
	int64_t begin, end;
	int64_t furthest; /* largest end of this and all earlier gaps */
	uint32_t cpu;
	int64_t events; /* -1: not said */
	bool packets; /* whole packets are missing */
	bool to_the_end; /* the CPU's stream ends before the trace does */
};

/* A thread that wants what a request carries: it queued one of its bios. */
struct requester {
	uint32_t thread; /* NO_THREAD: not known */
	uint32_t call; /* interned system call that it was in, 0 */
	uint32_t behalf; /* a kernel thread's: whose work it did, NO_THREAD */
	uint32_t file; /* interned key of the file that the call or page fault is on, 0 */
	uint32_t asked_in; /* the call of who is named by `behalf`, or "page fault"; 0: `call` */
	bool behalf_seen; /* … as its item was seen queued; else inferred */
	int64_t time; /* when */
};

#define REQUESTERS_MAX 4 /* named; more are counted */

enum request_phase {
	REQUEST_FREE,
	REQUEST_WAITING, /* a bio, or a request that was put into the queue */
	REQUEST_ISSUED,
};

/* A block request on its way, or a bio that is still to be part of one. */
struct request {
	int64_t queued; /* first bio or insert: ns, INT64_MIN: not seen */
	int64_t issue; /* ns, INT64_MIN: not seen */
	int64_t requeued; /* the driver gave it back last, INT64_MIN: never */
	int64_t end; /* completed */
	uint64_t key; /* of a completed one: device and sector */
	uint64_t sector; /* of what is not completed yet */
	uint32_t dev; /* the disk */
	uint32_t origin; /* the bio's device, if another: partition, dm; 0 */
	uint32_t sectors; /* of 512 bytes, all; 0: a flush */
	uint32_t left; /* not completed yet */
	uint32_t bios; /* 0: none was recorded */
	uint32_t threads; /* of them: how many different ones; those up to */
	struct requester by[REQUESTERS_MAX]; /* … by the first bio of each; by[0]
				of a request without bios: who inserted or issued it */
	int64_t depth, distance; /* of an issued one: queue_facts.h; -1: not known */
	uint32_t generation, next_free;
	int64_t handed; /* held: let go on; a bio: handed on to the device below; INT64_MIN */
	int64_t arrived; /* a bio: at its device; queued is when it was at the first one above */
	uint32_t below; /* … handed on to which, 0 */
	uint32_t timer; /* held: interned function of that timer, 0 */
	uint8_t phase; /* enum request_phase */
	bool write, meta; /* … meta: of a file system's own data */
	bool held; /* it went on only as a timer had woken a worker for it: held.h */
	bool readahead;
	bool remapped; /* made by a remapping: its own bio event is still to come */
	bool passed_on; /* a bio of a device that hands on to others */
	bool doubtful; /* two at once on one sector: which one is not known */
	bool used; /* slot of the completed ones */
};

/* What a thread wrote into a file, and its disk has not written yet: disk/written.h. */
struct dirtied {
	uint32_t thread, file; /* interned key */
	uint64_t bytes;
	int64_t last; /* written then last */
};

/* Requests that a disk has done for one owner within a short time. */
struct served {
	uint32_t dev;
	uint32_t thread, file; /* whose data; NO_THREAD and 0: not known */
	int64_t begin, end; /* the first and last completion */
	uint64_t bytes;
	int64_t busy; /* ns that the disk was at it */
};

struct disk_end {
	uint32_t dev;
	int64_t end; /* its last completion */
};

/* A packet on its way, the last one of a flow, or an item queued for a worker. */
struct sent {
	uint64_t flow; /* packet: hash of addresses and ports, 0: not recorded */
	int64_t time; /* handed to the device */
	uint32_t thread; /* who sent it, NO_THREAD */
	uint32_t call; /* packet: interned system call that sent it, 0 */
	bool waiting; /* not received yet */
	int64_t left; /* packet: the driver took it, 0; … */
	int64_t given; /* … at the latest: net_dev_xmit, 0 */
	uint64_t context; /* packet: in which it was queued; cpu_context() */
	bool in_interrupt; /* work: an interrupt queued it */
	uint32_t behind; /* … what for: struct wake_detail, 0 */
	bool by_timer; /* … and it was a timer's function, interned */
	uint32_t timer; /* … address, 0 */
	uint32_t talk; /* packet: number of the talk whose last question it is, 0 */
};

#define TALKS_MAX 8192 /* of a host: 0.7 MB */

/* What is said on a socket or pipe that a process has open: net/talks.h. */
struct talk {
	uint32_t number; /* its own; 0: nothing is here */
	uint8_t kind; /* enum talk_kind */
	uint8_t role; /* enum channel_role: who asks is the client */
	bool connecting; /* the connection was asked for, and is not there yet */
	bool outstanding; /* something was asked (written, or that), and nothing was read since */
	bool accepted; /* the other end was, by `peer` */
	bool taken; /* this end was, by accept() */
	uint16_t attempts; /* connecting: packets sent for it */
	uint64_t flow; /* hash of its packets' addresses and ports, 0: none was seen */
	uint32_t local, remote; /* interned "socket:ADDR:PORT", or what it is; 0 */
	int64_t asked; /* what is outstanding, when */
	int64_t read; /* … and when `peer` read it; INT64_MIN: not seen */
	int64_t queued; /* … in a datagram, when its device got it to send; INT64_MIN: not seen */
	uint32_t device; /* … interned name of that, 0 */
	bool left; /* … whose driver took it */
	uint32_t asker; /* … which thread asked */
	uint32_t peer; /* thread that has the other end, as far as was seen; NO_THREAD */
	uint32_t partner; /* number of the other end's talk, 0 */
	uint32_t out, in; /* bytes written to it, and read, modulo 2^32 */
	uint32_t reason; /* struct reason of the waits for the answer that timed out, 0 */
};

/* A disk to which threads wrote as they needed memory in a page fault: they swap there. */
struct swap_disk {
	uint32_t name; /* interned, 0 */
	uint32_t writes;
};

/* Who was seen to take what comes for an address and port. */
struct listener {
	uint32_t address; /* interned "socket:ADDR:PORT", 0 */
	uint32_t thread;
};

/* A datagram that came and was not read yet. */
struct arrival {
	uint32_t from; /* interned "socket:ADDR:PORT" of the sender */
	uint16_t port; /* … its port */
	uint16_t to; /* port that it came for; 0: it was read */
};

/* A signal by which a process was asked to end. */
struct end_signal {
	int64_t time;
	uint32_t sender, target; /* threads */
	int32_t sig;
	bool ignored;
};

/* A signal that stops threads, or tells that one has stopped. */
struct stop {
	int64_t time;
	uint32_t sender, target; /* threads; sender NO_THREAD: an interrupt */
	int32_t sig;
};

enum clock_known {
	CLOCK_OWN, /* taken as it is: the reference, or nothing tells of it */
	CLOCK_PACKETS, /* from packets */
	CLOCK_GIVEN, /* --clock-offset */
	CLOCK_RUNS, /* a guest's: from when its virtual CPUs ran */
};

/* What is known of the machine that a host's kernel runs on: guests/guests.h. */
enum guest_known {
	GUEST_NOT, /* of no traced host, as far as is known */
	GUEST_GIVEN, /* --guest */
	GUEST_SEEN, /* it worked only while that machine's CPUs ran */
	GUEST_ONLY, /* inferred: there is but that one machine, and nothing speaks against it */
	GUEST_UNCLEAR, /* several fit as well */
};

struct guest {
	uint32_t machine; /* thread that leads the machine's process, NO_THREAD */
	uint8_t known; /* enum guest_known */
	bool refined; /* the clock's error is smaller by it than packets made it */
	uint32_t moments; /* so many times at which it worked were compared … */
	uint32_t outside; /* … at so many its virtual CPU did not run */
	uint32_t chance; /* … so many would be expected of another machine */
};

/* How a host's clock relates to the reference, the first host's. */
struct host_clock {
	struct clock_line line;
	int64_t error; /* ns, -1: not known */
	uint8_t known; /* enum clock_known */
	uint16_t group; /* hosts of one group have a common time */
	uint16_t neighbour; /* … CLOCK_PACKETS: the host it was compared with */
	uint32_t packets; /* … that it was compared by */
	uint32_t contradicting; /* … left out, as they contradict the others */
	uint32_t too_early; /* received before they were sent, by more than the error */
};

#define CLOCK_UNKNOWN INT64_MIN

struct host {
	char *hostname, *uuid, *clock_uuid, *kernel, *tracer; /* owned; may be NULL */
	int64_t clock_offset; /* raw clock value + this = time */
	bool has_clock_offset;
	uint32_t clock_set_by; /* who set the time of day last, NO_THREAD: not seen; */
	int64_t clock_set_at; /* … when that call ended */
	int64_t clock_shift; /* ns: the time of day, less the trace's time; CLOCK_UNKNOWN */
	enum state_encoding encoding;
	int64_t raw_preempted; /* STATES_RAW_*: bit of a preempted thread */
	enum syscall_abi abi; /* of its native system calls */
	struct host_clock clock; /* clocks.h; all times here are set right by it */
	struct guest guest; /* … of another traced host */
	int64_t begin, end; /* first and last event */
	bool any; /* an event was seen */
	int64_t known_from; /* S */
	GPtrArray *cpus; /* owned; struct cpu */
	struct idmap cpu_index; /* cpu_id -> index in cpus */
	struct cpu *direct[64]; /* the first ids, without hashing */
	struct idmap tids; /* tid -> newest life */
	GByteArray *forgotten; /* bit i: there was a life of TID i that `tids` does not know */
	int64_t forgotten_by; /* ns: they had ended by then */
	GArray *spins; /* struct spin, as they ended */
	GArray *failures; /* struct failure, as they ended */
	uint64_t failures_more; /* … that were too many to be kept */
	GArray *gaps; /* struct gap, by begin */
	GArray *user_gaps; /* the same, of user-space traces; NULL: none */
	GHashTable *tables; /* file_table_address or pid -> struct fd_table (referenced) */
	struct idmap irq_names; /* irq -> interned action */
	struct idmap disks; /* dev -> interned name */
	struct idmap timers; /* timer address -> index in `armed` */
	GArray *armed; /* struct wake_detail of armed timers */
	struct idmap requests; /* (phase, dev, sector) -> index in `on_way` */
	GArray *on_way; /* struct request */
	uint32_t request_free; /* first free one of them, IDMAP_NONE */
	uint32_t request_count; /* made so far */
	struct idmap whole; /* dev of a partition -> of its disk */
	struct request completed[32]; /* the last ones */
	uint32_t completed_next;
	GArray *dirtied; /* struct dirtied */
	GArray *served; /* struct served; a ring */
	uint32_t served_next; /* place of the next one */
	struct disk_end disk_ends[8];
	uint32_t disk_ends_next;
	struct idmap
		file_endings; /* hash of the end of a file's name and of a family of processes that
				 has it open (files.h) -> interned key; ENDING_OF_SEVERAL */
	struct idmap file_disks; /* interned key of a file, or hash of a directory -> dev */
	struct idmap fifos; /* interned path -> its key, 0: it may be a FIFO: resource.h */
	struct stop stops[16]; /* the last ones */
	uint32_t stops_next;
	GArray *arrivals; /* struct arrival; the last ones */
	uint32_t arrivals_next; /* place of the oldest */
	struct end_signal endings[16]; /* the last ones */
	uint32_t endings_next;
	GArray *talks; /* struct talk; the last ones, each in its place */
	uint32_t talk_count; /* made so far */
	struct idmap talk_index; /* packets' flows, local addresses -> number of the talk */
	struct swap_disk swap_disks[4]; /* the first ones */
	struct listener listeners[32]; /* the last ones */
	uint32_t listeners_next;
	struct listener receivers[32]; /* the last ones; `address`: a key of packet_time.h */
	uint32_t receivers_next;
	struct idmap packets; /* buffer address -> index in `sent` */
	struct idmap writebacks; /* hash of the disk's name -> index in `sent` */
	struct idmap works; /* item's address -> index in `sent` */
	struct idmap flows; /* hash of addresses and ports -> index in `sent` */
	GArray *sent; /* struct sent */
	struct idmap tcp_ways; /* hash of addresses and ports -> 2 * connection + way */
	GArray *tcp; /* struct tcp_connection */
	uint32_t tcp_next; /* place in it to be given next, if it is full */
	GArray *tcp_listeners; /* struct tcp_listener */
	GArray *namespaces; /* struct pid_ns */
	struct idmap namespace_index; /* number -> index in them */
	struct idmap inner_tids; /* PID namespace and TID in it -> newest thread: container.h */
	bool has_statedump;
	bool has_pauses; /* events of writers put to sleep for dirty pages */
	bool has_works; /* events of work queues were seen */
	bool has_xmit; /* … of drivers that take packets */
	uint32_t takers[4]; /* devices whose drivers took some, the first ones; interned, 0 */
	bool has_received; /* … of packets that came */
	uint32_t pipes, pairs; /* numbers given to new pipes and socket pairs */
	uint64_t discarded_events, discarded_packets;
	/* ns: before and after that events were passed over (skim/); INT64_MIN, INT64_MAX: none */
	int64_t passed_until, passed_from;
	int64_t counted_from; /* ns: they, and CPUs' unknown_ns, are of the time since */
};

/* What the CPU's innermost context has just done; a frame around has its own. */
static inline struct wake_detail *cpu_pending(struct cpu *cpu)
{
	return cpu->depth ? &cpu->frames[cpu->depth - 1].pending : &cpu->pending;
}

/* Of the softIRQ that began last there: a thread raised it. */
static inline struct wake_detail cpu_raise_detail(const struct cpu *cpu)
{
	return (struct wake_detail) {.kind = DETAIL_RAISE,
				     .thread = cpu->raiser.thread,
				     .behalf = NO_THREAD,
				     .begin = cpu->raiser.time,
				     .requested = -1,
				     .queued = -1,
				     .served = -1};
}

/* What a thread is called in a PID namespace. */
struct ids {
	int32_t tid, pid; /* 0: not known */
};

struct pid_ns {
	uint32_t number;
	uint32_t parent; /* number, 0: not known or none */
	uint32_t level;
};

/* The namespaces that threads are in; container.h. */
struct place {
	uint32_t pid_ns, cgroup_ns; /* numbers, 0: not known */
	uint32_t level; /* of the PID namespace */
	uint32_t ids; /* those of level 1 and on, in model.ids */
};

/* Programs and libraries in the memory of processes; images.h. */
#define BUILD_ID_MAX 32
#define NO_SPACE UINT32_MAX

struct loaded_image {
	int64_t from; /* INT64_MIN: it was there when first asked for */
	int64_t until; /* unloaded, or its process exec'ed; INT64_MAX: never seen to be */
	uint64_t base, size; /* addresses [base, base + size) of the process */
	uint32_t path; /* interned, as the traced host calls it */
	uint32_t previous; /* in the same space, + 1; 0: none */
	uint8_t build_id[BUILD_ID_MAX];
	uint8_t build_id_length; /* 0: none, or not recorded */
	bool pic; /* addresses in the file begin at 0; else they are the process's own */
	int32_t pid; /* as the host numbers it */
	uint16_t host;
};

struct image_space {
	int64_t from; /* fork or exec; INT64_MIN: before the trace, or not seen */
	int32_t pid;
	uint16_t host;
	uint32_t parent; /* whose images it has besides, as they were at `from`; NO_SPACE */
	uint32_t previous; /* of the same PID before, NO_SPACE */
	uint32_t newest; /* in model.images, + 1; 0: none */
};

struct model {
	struct intern *names; /* owned */
	GPtrArray *hosts; /* owned; struct host */
	struct pages threads; /* struct thread */
	uint32_t thread_count;
	GArray *free_threads; /* uint32_t: numbers below that no thread has any more */
	GArray *places; /* struct place; the first is none */
	GArray *ids; /* struct ids of places in containers */
	struct idmap shared_places; /* PID and cgroup namespace -> places of the host's threads */
	GArray *images; /* struct loaded_image, in order of being told: images.h */
	GArray *image_spaces; /* struct image_space */
	struct idmap space_index; /* host and PID -> the newest of them */
};

void model_init(struct model *model);
void model_clear(struct model *model);

static inline struct host *model_host(const struct model *model, uint32_t index)
{
	return g_ptr_array_index(model->hosts, index);
}

static inline struct thread *model_thread(const struct model *model, uint32_t index)
{
	return pages_at(&model->threads, index);
}

static inline uint16_t
model_operation_host(const struct model *model, const struct operation *operation)
{
	if (operation_has_thread(operation))
		return model_thread(model, operation->thread)->host;
	return (uint16_t) (operation->thread - operation_of_host(0));
}

static inline bool is_thread(uint32_t index)
{
	return index < IDLE_THREAD;
}

struct host *host_new(struct model *model);
/* Sets kernel, tracer and how prev_state is to be read. Versions of 0: not said. */
/* … of a tracer that keeps the kernel's own encodings. */
void host_set_tracer(struct host *host, const char *kernel_release, const char *tracer);
void host_set_versions(struct host *host, const char *kernel_release, int major, int minor,
		       int patch);
/* The CPU of that ID, made if it is met first. */
struct cpu *host_cpu_slowly(struct host *host, uint32_t id);
static inline struct cpu *host_cpu(struct host *host, uint32_t id)
{
	return id < G_N_ELEMENTS(host->direct) && host->direct[id]
		       ? host->direct[id]
		       : host_cpu_slowly(host, id);
}
/* Another one, not to be found by its ID before host_index_cpus(). */
struct cpu *host_add_cpu(struct host *host);
/* Finds all by their IDs; false: two have the same. */
bool host_index_cpus(struct host *host);

/* prev_state as a reason for leaving the CPU. Source: lttng-events.md 1.1. */
enum switch_out host_switch_out(const struct host *host, int64_t prev_state);
/* The state is the idle sleep of kernel threads (report form only). */
bool host_is_idle_sleep(const struct host *host, int64_t prev_state);

/* From when on it is known that the thread is where it was found off the CPU: S, or when it was
 * found, if that was before. */
static inline int64_t thread_backfilled_from(const struct host *host, const struct thread *thread)
{
	return thread->backfilled ? MIN(host->known_from, thread->backfill_end) : host->known_from;
}

/* NULL: the host has no talk of that number (net/talks.h), or it was forgotten. */
struct talk *talk_at(const struct host *host, uint32_t number);
/* The first gap that overlaps [begin, end), or NULL. */
const struct gap *host_gap_over(const struct host *host, int64_t begin, int64_t end);
/* Events of [begin, end) were lost, or passed over: that there was none of a kind says nothing. */
static inline bool host_unseen(const struct host *host, int64_t begin, int64_t end)
{
	return begin < host->passed_until || end > host->passed_from ||
	       (host->gaps->len && host_gap_over(host, begin, end));
}
const struct gap *host_user_gap_over(const struct host *host, int64_t begin, int64_t end);
/* Appends to one of the two lists. */
void host_add_gap(GArray *gaps, const struct gap *gap);
/* The host's end is known: gaps that last until then (end INT64_MAX) end there. */
void host_end_gaps(struct host *host);
/* How long (ns) of [begin, end) some CPU's events were lost. */
int64_t host_lost_in(const struct host *host, int64_t begin, int64_t end);
/* How long all gaps of a CPU are together, ns; UINT32_MAX: of all CPUs. At most INT64_MAX. */
int64_t host_gaps_ns(const struct host *host, uint32_t cpu);
/* The end of the last gap, `time` itself if one is open then, INT64_MIN if there is none. */
int64_t host_last_gap_end(const struct host *host, int64_t time);

/* A new life of `tid`; the mapping moves to it. */
uint32_t thread_new(struct model *model, uint32_t host, int32_t tid, int64_t begin);
/* A life of `tid` is over at `time`, and no record says so: it was forgotten
 * (flow/forget.h), or it goes on under another TID (exec). */
void host_forget(struct host *host, int32_t tid, int64_t time);
bool host_forgot(const struct host *host, int32_t tid);
/* Its process, NO_PID: not known. */
#define NO_PID (-1)
static inline int32_t thread_process(const struct thread *thread)
{
	return thread->pid >= 0 || !thread->flow.user ? thread->pid : thread->flow.user->pid;
}
struct user_stack *user_stack_new(void);
void user_stack_free(struct user_stack *stack);
/* Frees what the thread owns; its record stays. */
void thread_clear(struct thread *thread);
void thread_set_name(struct model *model, struct thread *thread, const char *comm, int64_t time);
/* The newest name up to `time`, else the first one known. "" if none. */
uint32_t thread_name_at(const struct thread *thread, int64_t time);
bool thread_is_kernel(const struct model *model, const struct thread *thread);
bool thread_is_ksoftirqd(const struct model *model, const struct thread *thread);

#endif
