/* SPDX-License-Identifier: MIT */
/* Reasons: what a wait was for, where the event that ended it does not tell.
 *
 *   T ── try fails ──┤ sleeps ├── try fails ──┤ sleeps ├── try succeeds ──
 *   P ── has what T wants ──────────────────── gives it up ──
 *
 * A timer ended both sleeps; that they were for P is known only when the try succeeds. So a
 * reason is a record of its own, which whoever finds it (objects/, while events pass) writes
 * into the blocks of the waits concerned, in waits that are over as well. Several waits may
 * share one.
 *
 * Place: timeline/, beside the details of wake-ups. What a kind means as a cause, in words, and
 * for who is led to, is waits/reasons.c. A block without one means what its wake-up tells.
 */
#ifndef WHYLATE_TIMELINE_REASON_H
#define WHYLATE_TIMELINE_REASON_H

#include <stdbool.h>
#include <stdint.h>

enum reason_kind {
	REASON_NONE, /* none: one that may still prove to be one */
	/* A request was kept back by a limit of the waiter's cgroup (io.max) until a timer let it
	 * go on. object: the limit; text: the device; call: the timer's function; ns: what the
	 * device then took. */
	REASON_IO_LIMIT,
	/* A device without requests of its own (a device-mapper target) kept a bio until a timer
	 * let it go on. object: the device; text: the one below; call: the timer's function; ns:
	 * what the one below then took. */
	REASON_DEVICE_HOLDS,
	/* net/questions.h, of waits that the waiter's own time limit ended: `thread` has the other
	 * end of what was asked on, `object`; `other` asked at `begin`, which was read `ns` later
	 * (-1: not seen); `thread` is in `call` since */
	REASON_UNANSWERED,
	/* the same of an attempt to connect: `count` packets were sent; `result`: the error by
	 * which the kernel's limit ended it, else 0 */
	REASON_UNCONNECTED,
	/* net/given_up.h: TCP gave the connection to `object` up, of which `thread` has the other
	 * end. ns: since a packet had come, or -1; count: unanswered probes seen; result: 1: none
	 * of them came to the peer, as packets before did; number: it had unacknowledged bytes */
	REASON_GIVEN_UP,
	/* threads/endings.h: `thread` did not end, though `other` sent it the signal `count` at
	 * `begin` (0: none); then it got the signal `result` */
	REASON_UNENDED,
	REASON_UNLOCKED, /* `thread` held the lock of `object` until the waiter gave up */
	/* The kernel made the waiter, `thread`, sleep for `ns`, as its cgroup (`text`, 0: not
	 * known) uses more memory than its limit `object` allows. */
	REASON_MEMORY_HIGH,
	REASON_RECLAIM, /* the same, until memory is freed: it frees some itself */
	REASON_FROZEN, /* its cgroup was frozen, until `thread` wrote to the file `object` */
	/* its file system was frozen, until `thread` thawed it, by its file `object`, 0 */
	REASON_FILES_FROZEN,
	/* The disk that the wait was for was busy with data of `thread`, which he had written into
	 * the file `call` (a key; 0: he made the requests himself); or with those of the waiter
	 * himself, `other`. object: the disk; text: its name; ns: how long it was; amount: bytes;
	 * number: those of all. With a thread, `other` is who comes next, and `count` so many. */
	REASON_FLUSH,
	/* The kernel put a writer to sleep as too many pages of the disk `text` were dirty. object:
	 * the limit; thread: who had written most of them, into the file `call` (a key), `amount`
	 * bytes; `other`, count: as above; number: the limit in bytes, 0: not known; result: what
	 * the disk did last, KiB/s. */
	REASON_DIRTY,
	/* Tries with pauses between (tries/tries.h): `call` on `object` gave `result`, `count`
	 * times since `begin`; the longest pause was `ns`. `thread` made the difference at
	 * `until`. */
	REASON_FILE_APPEARS, /* made the file */
	REASON_FILE_GOES, /* had it, and removed it; `other` made it */
	REASON_LISTENS, /* listens there */
	REASON_INPUT, /* wrote what was to be read */
	REASON_LOCK_TRIED, /* held the lock */
	REASON_FAILS, /* nobody is known to have */
	REASON_PROCESS_ENDS, /* ended: it was asked whether it is still there */
	/* net/asked_again.h: what was asked at `object` (`result` bytes, each time on a connection
	 * of its own) was answered by `other` with `number` bytes, `count` times; then with
	 * `amount`. Nobody is known to have made the difference. */
	REASON_ANSWER,
	/* The wait was to write under a lock that several read: `thread` was the last to give it
	 * up, `other` has it at other times, as have `count` in all that are known. */
	REASON_READ_LOCKED,
	REASON_FUTEX_TIMED, /* woke the waiter in the end: its timed waits had expired before */
	/* What TCP did with bytes that `thread` wrote in `call` at `begin` and that the wait was
	 * for; NO_THREAD: that the waiter wrote itself, or whose writer is not known. `result` is
	 * an enum transport_how, `ns` how long that took, `other` who is at the other end,
	 * `object` the connection's service or the device's queue, `text` the device. */
	/* sent again `count` times; amount: 1: lost between two traced hosts */
	REASON_RETRANSMISSION,
	REASON_DELAYED_ACK, /* `number`: ns by which the acknowledgement was put off */
	REASON_SEND_QUEUE, /* kept in a queue: the socket's, or the device's */
	/* guests/behind.h. A device of the guest's machine, `object`, did what the wait was for;
	 * `thread` of the machine's process told the guest that it was done. */
	REASON_MACHINE,
	/* A timer was due at `from`, after `ns`, and came when the wait ended: the host did not run
	 * the virtual CPU of `thread`. */
	REASON_LATE_TIMER,
	REASON_KINDS
};

enum transport_how {
	/* sent again */
	TRANSPORT_TIMEOUT, /* when nothing had been acknowledged for long */
	TRANSPORT_FAST, /* when acknowledgements told of a hole */
	TRANSPORT_PROBE, /* by a loss probe's timer */
	TRANSPORT_SYN, /* a connection's first packet; `other`: who listens */
	TRANSPORT_EARLY, /* what came behind it had come before: the peer sent it again */
	/* kept */
	TRANSPORT_NAGLE,
	TRANSPORT_WINDOW, /* the receive window of `thread` was closed */
	TRANSPORT_CORK,
	TRANSPORT_ACKS, /* sent when acknowledgements came */
	TRANSPORT_BUFFER, /* the send buffer was full of what was not acknowledged */
	TRANSPORT_DEVICE, /* in the device's queue */
};

enum reason_flags {
	REASON_INFERRED = 1, /* concluded: not shown by events */
	REASON_ENDS = 2, /* nobody else is answerable, whoever ended it: it is led no further */
	REASON_LATE = 4, /* the answer came in the end */
	REASON_ACCEPTED = 8, /* the other end accepted the connection */
	REASON_IGNORED = 16, /* … ignores the signal */
	REASON_AWAITED = 16, /* a SYN that came: who listens waited for one meanwhile */
	REASON_NEEDLESS = 32, /* sent again: it had been acknowledged */
	REASON_OWN = 32, /* a question: who asks listens there itself */
	REASON_READS = 32, /* a lock: to read, behind one who waits to write, and goes first */
	/* sent again, or a question: it had never left the queue of the device `text` */
	REASON_UNSENT = 64,
	REASON_CAME = 128, /* sent again: it had come to the host, and was not acknowledged */
};

/* Members mean what the comment of the kind says; these are what they are for. */
struct reason {
	uint8_t kind; /* enum reason_kind */
	uint8_t flags; /* enum reason_flags */
	uint16_t count; /* tries, packets, processes */
	uint32_t thread; /* who is answerable, NO_THREAD */
	uint32_t other; /* a second one, NO_THREAD */
	uint32_t object; /* interned key of what was waited for ("file:/x", "socket:…"), 0 */
	uint32_t call; /* interned system call, 0 */
	uint32_t text; /* interned, 0 */
	int32_t result; /* what the call returned */
	/* What `thread` did in [from, until) made the wait as long as it was, and is followed;
	 * from = until: it is named, and nothing is followed. ns, host's clock. */
	int64_t from, until;
	int64_t begin; /* ns, host's clock; 0: none */
	int64_t ns; /* a length; -1: not known */
	uint64_t number;
	uint64_t amount; /* bytes */
};

/* What TCP did between two threads: only the time after the bytes were written is put down to
 * it, the rest is a wait as any other. */
static inline bool reason_is_transport(const struct reason *reason)
{
	return reason->kind >= REASON_RETRANSMISSION && reason->kind <= REASON_SEND_QUEUE;
}

/* What a guest waited for on its host. */
static inline bool reason_is_of_guest(const struct reason *reason)
{
	return reason->kind == REASON_MACHINE || reason->kind == REASON_LATE_TIMER;
}

/* Only what came after `from` is put down to it: before that the thread slept by its timer. */
static inline bool reason_is_late_timer(const struct reason *reason)
{
	return reason->kind == REASON_LATE_TIMER;
}

/* The wait was a pause between two tries (tries/tries.h). */
static inline bool reason_is_try(const struct reason *reason)
{
	return reason->kind >= REASON_FILE_APPEARS && reason->kind <= REASON_FUTEX_TIMED;
}

#endif
