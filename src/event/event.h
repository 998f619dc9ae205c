/* SPDX-License-Identifier: MIT */
/* struct event: one trace event as the core sees it.
 *
 * Place in the data's way: the plugin's message reader fills it (a reader of
 * LTTng's own packets can fill the same record), everything from model/ on
 * only reads it. Facts only: nothing here is derived from other events.
 *
 * Times are nanoseconds from the trace's clock origin. Strings and arrays are
 * borrowed from the reader and valid during the call that hands the event on.
 * Which member of the union is set depends on `kind`; a field that the traced
 * kernel's tracer does not have keeps the default that event_init() gives (kinds.h).
 */
#ifndef WHYLATE_EVENT_EVENT_H
#define WHYLATE_EVENT_EVENT_H

#include <stdbool.h>
#include <stdint.h>

enum event_kind {
	EV_OTHER, /* anything else: only that its CPU's thread was running */
	EV_SCHED_SWITCH,
	EV_SCHED_WAKING,
	EV_SCHED_WAKEUP,
	EV_SCHED_WAKEUP_NEW,
	EV_SCHED_MIGRATE,
	EV_PROCESS_FORK,
	EV_PROCESS_EXEC,
	EV_PROCESS_EXIT,
	EV_PROCESS_FREE,
	EV_IRQ_ENTRY,
	EV_IRQ_EXIT,
	EV_SOFTIRQ_RAISE,
	EV_SOFTIRQ_ENTRY,
	EV_SOFTIRQ_EXIT,
	EV_VECTOR_ENTRY,
	EV_VECTOR_EXIT,
	EV_PAGE_FAULT_USER,
	EV_PAGE_FAULT_KERNEL,
	EV_HRTIMER_START,
	EV_HRTIMER_EXPIRE_ENTRY,
	EV_HRTIMER_EXPIRE_EXIT,
	EV_HRTIMER_CANCEL,
	EV_TIMER_START,
	EV_TIMER_EXPIRE_ENTRY,
	EV_TIMER_EXPIRE_EXIT,
	EV_BLOCK_INSERT,
	EV_BLOCK_ISSUE,
	EV_BLOCK_REQUEUE,
	EV_BLOCK_COMPLETE,
	EV_BLOCK_BIO,          /* block_bio_queue */
	EV_BLOCK_BIO_MERGED,   /* the same bio again: backmerge, frontmerge, getrq */
	EV_BLOCK_BIO_COMPLETE, /* of a device without requests */
	EV_BLOCK_REMAP,        /* of a bio or a request to another device */
	EV_BLOCK_SPLIT,
	EV_WORK_QUEUE,
	EV_WORK_START,
	EV_WORK_END,
	EV_CPU_IDLE,
	EV_WRITEBACK_QUEUE,
	EV_WRITEBACK_EXEC,
	EV_WRITEBACK_END, /* writeback_pages_written */
	EV_DIRTY_PAUSE,   /* writeback_balance_dirty_pages */
	EV_KVM_ENTRY, /* kvm_x86_entry: the thread enters a guest */
	EV_KVM_EXIT,
	EV_KVM_WAKEUP, /* kvm_vcpu_wakeup: a halt of the virtual CPU is over */
	EV_KVM_IRQ_DUE, /* kvm_apic_accept_irq: a virtual CPU is to have an interrupt */
	EV_KVM_IRQ_INJECTED, /* kvm_inj_virq: the thread's guest has it */
	EV_KVM_IRQ_ENDED, /* kvm_eoi: … has done with it */
	EV_RECLAIM_BEGIN, /* mm_vmscan_direct_reclaim_begin, … of a memory cgroup */
	EV_RECLAIM_END,
	EV_JOURNAL_START, /* jbd2_start_commit */
	EV_JOURNAL_END,
	EV_NET_SEND,
	EV_NET_XMIT, /* the driver took it */
	EV_NET_RECEIVE,
	EV_SIGNAL_GENERATE,
	EV_SIGNAL_DELIVER,
	EV_PI_SETPRIO,
	EV_SAMPLE, /* a clock's or a counter's: what the CPU was at, as call stacks */
	EV_SYSCALL_ENTRY,
	EV_SYSCALL_EXIT,
	EV_CALL_TOLD, /* of a probe: what an address leads to that the open call was given */
	EV_FUNCTION_ENTRY, /* of a dynamic probe */
	EV_FUNCTION_EXIT,
	EV_FUNCTION_REACHED, /* of a probe that tells entries only */
	EV_STATEDUMP_PROCESS,
	EV_STATEDUMP_PID_NS,
	EV_STATEDUMP_CGROUP_NS,
	EV_STATEDUMP_FD,
	EV_STATEDUMP_INTERRUPT,
	EV_STATEDUMP_BLOCK_DEVICE,
	EV_NOTICE_LOST, /* no event: the place of lost ones in a queue */
	/* of user-space traces; from here on event_is_user() */
	EV_USER_OTHER, /* a marker: only filters ask for it */
	EV_USER_ENTRY, /* of a function */
	EV_USER_EXIT,
	EV_USER_IMAGE, /* a program or library that is loaded */
	EV_USER_LOAD,  /* … from now on */
	EV_USER_UNLOAD,
	EV_USER_BUILD_ID,
	EV_NOTICE_USER_LOST,
	EV_KIND_COUNT
};

#define NO_PRIORITY INT32_MAX /* not recorded */

/* Hardware counters: contexts perf:cpu:NAME and perf:thread:NAME. */
enum counter {
	COUNTER_INSTRUCTIONS,
	COUNTER_CYCLES,
	COUNTER_CACHE_MISSES,
	COUNTER_BRANCH_MISSES,
	COUNTERS
};
#define NO_COUNTER UINT64_MAX /* not recorded */
#define FAULT_WRITE 2 /* page fault: a write (x86's error code) */
#define IDLE_LEFT INT64_C(0xffffffff) /* power_cpu_idle: the CPU idles no more */

#define WAITID_PID 1 /* linux/wait.h: P_PID, else all children, a group, a descriptor */

/* One descriptor in the list of poll(2) or epoll_wait(2). */
struct event_ready {
	uint64_t data;   /* epoll: the caller's cookie */
	int32_t fd;      /* poll: the descriptor; epoll: low half of the cookie */
	uint32_t events; /* POLL* bits */
};

struct event_bytes {
	const uint8_t *bytes; /* NULL where the event has no such list */
	uint32_t count;
};

struct event_syscall {
	uint32_t name;  /* interned; "" where the event does not say (exit_syscall) */
	uint8_t number_table; /* unknown number: which table `id` is of, enum syscall_abi */
	int32_t id;     /* number of a system call without a name, else -1 */
	int64_t ret;
	int32_t fd, dfd, newfd,
		epfd; /* -1 where there is none; dfd -100: the cwd; newfd: newname's */
	int32_t op;       /* epoll_ctl, futex, mmap: prot; kill: signal; exit: code; policy */
	int32_t cmd;      /* fcntl */
	int64_t arg;      /* fcntl; mmap: offset in the file */
	uint64_t flags;   /* open, clone, pipe2, socket type …; wait4: options */
	int32_t family, type;
	uint32_t port;    /* host byte order */
	int64_t timeout;  /* poll, epoll_wait: ms, -1 for none */
	int64_t upid;     /* wait4, waitid, kill, sched_setaffinity, sched_setscheduler */
	int32_t which;    /* waitid: what upid is; WAITID_PID where the call does not say */
	uint64_t uaddr;   /* futex */
	uint32_t val;     /* futex: what the word was expected to hold */
	uint64_t data;    /* epoll_ctl: the cookie */
	const char *filename; /* NULL where the event has none; rename, link: the old one */
	const char *newname;  /* rename, link, symlink */
	uint64_t start, length, new_length; /* mmap, munmap, mremap */
	struct event_bytes v4, v6; /* address bytes, network order */
	struct event_bytes readfds, writefds, exceptfds; /* select bitmaps */
	struct event_bytes registers; /* 64-bit words; of a reader only, until event_finish() */
	int32_t pair[2];  /* pipe, socketpair; -1 */
	const struct event_ready *fds; /* NULL where the event has no such list */
	uint32_t fd_count;
	/* all fields that are whole numbers, where the sink asks for them (sink.h) */
	uint32_t shape;  /* interned: their names; 0: not taken */
	uint32_t value_count;
	const int64_t *values;
	int32_t watched; /* poll: its descriptors; select: above the highest one; -1: not said */
	bool fds_cut;     /* the tracer cut the list at one page */
};

/* From this port on systems give one by themselves to who opens a connection (Linux and IANA). */
#define PORT_GIVEN 32768

struct event {
	_Alignas(8) /* on 32-bit processors, too: relay.c hands it on in words */
		int64_t time; /* ns from the clock origin */
	uint32_t cpu;     /* cpu_id of the packet context */
	uint16_t host;    /* as the sink numbers them */
	uint16_t kind;    /* enum event_kind */
	uint32_t name;    /* interned event name */
	uint32_t matches; /* bit i: filter i of the sink matches */
	bool has_tid; /* contexts tid, pid; of user space: vtid, vpid, as the process sees itself */
	bool has_pid;
	bool has_callstacks; /* contexts callstack_kernel, callstack_user: the next two are set */
	uint16_t channel; /* its stream class: one event may be recorded through several */
	int32_t tid, pid;
	uint64_t touched; /* bits: which of its 64-bit words can be other than an empty event's, of
			     its arguments; 0: any. Who changes these later makes it 0. */
	/* 64-bit addresses, innermost first, of who runs there; of a switch prev. */
	struct event_bytes callstack, user_callstack;
	union {
		struct {
			const char *prev_comm, *next_comm;
			int32_t prev_tid, next_tid;
			int32_t next_prio; /* nice 0: 20, real-time n: -1 - n; NO_PRIORITY */
			int32_t prev_prio; /* the same */
			int64_t prev_state;
			int32_t vtid, vpid; /* contexts: prev's; 0: not there */
			uint32_t pid_ns, cgroup_ns;
			/* NO_COUNTER: not there */
			uint64_t cpu_counters[COUNTERS], thread_counters[COUNTERS];
		} sched_switch;
		struct {
			const char *comm;
			int32_t tid, target_cpu;
		} wake; /* waking, wakeup, wakeup_new, migrate (target_cpu: dest) */
		struct {
			const char *child_comm;
			int32_t parent_tid, parent_pid, child_tid, child_pid; /* pid -1: not said */
			struct event_bytes
				vtids; /* 64-bit words: the child's TIDs, the host's first */
			uint32_t parent_ns, child_ns; /* numbers of PID namespaces, 0: not said */
		} fork;
		struct {
			const char *filename;
			int32_t tid, old_tid;
		} exec;
		struct {
			const char *comm;
			int32_t tid;
		} exit; /* exit, free */
		struct {
			uint64_t address;
			int32_t error; /* the processor's error code; FAULT_WRITE */
		} fault;
		struct {
			const char *name; /* driver's action; entry only */
			int32_t irq;
		} irq;
		struct {
			uint32_t vec;
		} softirq;
		struct {
			uint32_t name; /* interned: local_timer, reschedule, … */
		} vector;
		struct {
			uint32_t name; /* interned: of the kernel function's probe */
		} function;
		struct {
			uint64_t timer; /* kernel address */
			int64_t expires; /* hrtimer: ns of the raw clock; 0: only `latest` said */
			uint64_t function; /* address of its callback, 0: not said */
			int64_t latest; /* … with the slack: so late it may be, 0: not said */
		} timer;
		struct {
			int64_t end; /* of the gap that begins at the notice's time */
			int64_t count; /* events lost, -1: not said */
			bool packets; /* whole packets */
		} lost; /* notices */
		struct {
			uint64_t sector;
			uint64_t other; /* remap: the old sector; split: the second part's */
			uint32_t dev; /* major << 20 | minor */
			uint32_t other_dev; /* remap: the old one */
			uint32_t sectors; /* of 512 bytes */
			uint32_t rwbs; /* bits: lttng-events.md 1.4 */
			const char *letters; /* the same; of a reader only, until event_finish() */
			int32_t tid; /* -1: not said */
		} block;
		struct {
			struct event_bytes saddr, daddr; /* 4 or 16 bytes; none: not recorded */
			uint32_t source_port, dest_port; /* 0: none; PORT_GIVEN */
			uint64_t skb; /* kernel address of the packet's buffer */
			const char *device; /* NULL: not said */
			int32_t rc; /* xmit: 0: taken; 0x10: busy, it is tried again */
			bool tcp; /* the rest is said */
			uint16_t flags; /* FIN 1, SYN 2, RST 4, PSH 8, ACK 16 … */
			uint16_t id; /* of the IPv4 header, else 0 */
			uint32_t seq, ack_seq;
			uint32_t length; /* bytes of payload */
			int32_t window; /* as the header has it, not scaled; -1: not said */
			uint8_t options; /* 32-bit words of TCP options */
		} net;
		struct {
			uint64_t item; /* kernel address */
			uint64_t function; /* what it does; 0: not said */
		} work;
		struct {
			int32_t vcpu; /* -1: not said */
			int64_t reason; /* of an exit: by `isa`; -1: not said */
			int32_t isa; /* enum kvm_isa */
			int64_t cause; /* arm64: class of the exception, if reason is a trap; -1 */
			int32_t vector; /* of an interrupt of the guest's; -1: not said */
			int32_t apic; /* … whose it is; -1 */
		} kvm;
		struct {
			const char *name; /* of the disk: "MAJOR:MINOR" */
		} writeback;
		struct {
			const char *bdi; /* the disk: "MAJOR:MINOR" */
			uint64_t limit, dirty; /* pages */
			int64_t pause; /* ms that the thread is to sleep */
		} dirty;
		struct {
			uint32_t transaction;
		} journal;
		struct {
			int32_t sig, tid;
			int32_t code; /* generate: why; of SIGCHLD CLD_… */
			int32_t result; /* generate: 1 if it is ignored */
			uint64_t handler; /* deliver: 0 for the default action */
		} signal;
		struct {
			int32_t tid, from, to; /* as next_prio */
		} priority;
		struct {
			int64_t state; /* depth of the idle state, IDLE_LEFT */
			int32_t cpu; /* the one that idles; -1: the event's */
		} idle;
		struct {
			const char *name;
			uint64_t files; /* file_table_address, 0 before 2.12 */
			int32_t tid, pid, ppid, type, status;
			int32_t vtid, vpid, level; /* in a PID namespace; level -1: not said */
			uint32_t ns; /* number of the PID or cgroup namespace, 0: not said */
		} process; /* process state, PID and cgroup namespace */
		struct {
			const char *filename;
			uint64_t files; /* file_table_address, 0 before 2.12 */
			int32_t pid, fd;
			uint32_t mode; /* FMODE_*: what can be done; 0: not said */
		} file;
		struct {
			const char *action;
			int32_t irq;
		} interrupt;
		struct {
			const char *name;
			uint32_t dev;
		} device;
		struct {
			uint64_t address; /* of the function, 0: not said; of the image's begin */
			uint64_t call_site; /* 0: not said */
			uint64_t size;
			const char *path;
			struct event_bytes build_id;
			bool pic;
		} user;
		struct event_syscall syscall;
	};
};

static inline bool event_is_user(const struct event *event)
{
	return event->kind >= EV_USER_OTHER;
}

/* Gives all arguments of `event`, of whatever kind it is, their defaults. */
void event_reset(struct event *event);

#endif
