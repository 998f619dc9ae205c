/* SPDX-License-Identifier: MIT */
/* What a reader feeds: the interface between those that read traces (reader/, the plugin's
 * messages) and those that keep what was read (trace/, and run/ before it).
 *
 *   reader ── add_host(), declare() ──► sink      first: hosts, then the classes of events
 *          ── begin(), event(), lose() ─►         then, in order of time, what happened
 *          ── damage(), stop() ─────────►         at last: what could not be read
 *          ◄── filters, places, … ──────          what the sink asks for, as plain members
 *
 * Place: event/. A reader knows nothing above it; whoever wants its events fills such a
 * structure. It is one call through a pointer for each event.
 *
 * Events come in order of time, with the tie rule of semantics.md (equal stamps: lower CPU
 * first, and so on).
 */
#ifndef WHYLATE_EVENT_SINK_H
#define WHYLATE_EVENT_SINK_H

#include <glib.h>

#include "event/event.h"
#include "event/filter.h"
#include "event/kinds.h"
#include "event/places.h"

#define SINK_FILTERS 5 /* so many events can be asked for */
#define SHAPE_MAX 12 /* fields of a system call whose values are taken: the first ones */

/* What a trace's environment says; all may be NULL or 0. Borrowed. */
struct host_info {
	const char *hostname, *trace_uuid, *clock_uuid, *kernel_release;
	int tracer_major, tracer_minor, tracer_patch; /* lttng-modules' */
	const char *tracer; /* another one; NULL: LTTng */
	int64_t clock_offset;
	bool has_clock_offset;
	enum syscall_abi abi;
};

/* Where a class of events was declared: its payload may tell more than its name. */
enum class_origin {
	ORIGIN_KERNEL,
	ORIGIN_PROBE, /* the kernel; the payload is just `ip` and `parent_ip` */
	ORIGIN_PLACE, /* the kernel; the payload is just `ip`: a kprobe, a uprobe */
	ORIGIN_USER,  /* a user-space trace */
};

/* A kernel stream's last packet ends so long (ns) before another stream of its trace does: what
 * the CPU did since was not written, as when the disk was full. A session that is stopped flushes
 * all CPUs' buffers, one after the other: within 33 ms in all traces that were looked at, the
 * oldest tracer's too. */
#define STREAM_ENDS_EARLY INT64_C(100000000)

/* Events, or whole packets of them, that the tracer threw away. */
struct lost_events {
	uint32_t host, cpu;
	int64_t begin, end; /* ns; end INT64_MAX: of all that is left of the trace */
	int64_t count;      /* -1: not said */
	bool packets;
	bool user;          /* of a user-space trace */
};

struct event_sink {
	void *data; /* borrowed; first argument of all functions */

	/* --- what the sink asks for --- */
	/* Bit i of an event's `matches` is to say whether filter i matches it; NULL: none.
	 * Borrowed. */
	const struct event_filter *filters[SINK_FILTERS];
	bool only_matches; /* of other events only that they happened is of use */
	/* Of system calls all fields that are whole numbers are wanted, under a number that shape()
	 * gives for their names: "fd buf* count", with a * behind those that may be addresses. */
	bool values;
	uint32_t (*shape)(void *data, const char *names);
	struct event_places *places; /* borrowed; noted here, if the reader can; NULL: not */

	/* --- what the reader tells --- */
	/* The host's index; traces of one host (hostname and clock UUID) share it. */
	uint32_t (*add_host)(void *data, const struct host_info *info);
	/* The host that a user-space trace belongs to, UINT32_MAX: none that is traced. Call it
	 * when all hosts are known. */
	uint32_t (*user_host)(void *data, const char *hostname, const char *clock_uuid);
	/* A user-space trace is of no host. */
	void (*leave_user)(void *data);
	/* The trace's files lie in `directory`: other things beside it may be used. */
	void (*place)(void *data, const char *directory);
	/* A trace declares such events; returns what they are. */
	struct event_class (*declare)(void *data, const char *event_name, enum class_origin origin);
	/* Events that filter `filter` names have come: which of its conditions they have fields
	 * for (bits), and the names of their fields. */
	void (*fields)(void *data, unsigned filter, uint64_t conditions, const char *names);

	/* The first packet of a CPU's stream. */
	void (*begin)(void *data, uint32_t host, uint32_t cpu, int64_t time);
	void (*event)(void *data, const struct event *event);
	void (*lose)(void *data, const struct lost_events *lost);
	/* Of what came before `time` only that was told which says how things are then; told before
	 * the next event. */
	void (*passed_until)(void *data, int64_t time);
	/* Of what comes from `time` on only that will be told which says how waits ended. */
	void (*passed_from)(void *data, int64_t time);
	/* A live trace: no event before `time` is left to come. */
	void (*pass)(void *data, int64_t time);

	/* A file of the trace is damaged: `bytes` of `total` could not be read as events. `what`
	 * says why, for people; NULL: the bytes do. */
	void (*damage)(void *data, const char *file, uint64_t bytes, uint64_t total,
		       const char *what);
	/* Something is wrong with a user-space trace; `what` is for people. */
	void (*damage_user)(void *data, const char *path, const char *what);
	/* Reading ended before the trace did. */
	void (*stop)(void *data, const char *why);
};

#endif
