/* SPDX-License-Identifier: MIT */
/* Requests: what a system was asked for, from when to when, and who worked on it.
 *
 *   server   ──┤read├── … ──┤write├──┤write├── … ──┤read├──
 *                   ▲ begins               ▲ ends      ▲ the next one begins
 *
 * Place: tracking/, behind `whylate requests` and `whylate diff`. Made of the exchanges
 * that flow/ recorded (timeline/exchange.h), and nothing else for the presets server and
 * client; of lives, operations or events that the user names for the others.
 *
 * Two ways to follow a request through the system, as in X-ray (Attariyan, Chow, Flinn,
 * OSDI 2012): `thread` takes the thread that finished it for the one that worked on it
 * from its begin; `flow` follows what was read and written. A thread works on the request
 * whose bytes it read last: a server's first read, an answer, what came through a pipe.
 * What it writes then is that request's, and so is who reads it at the other end. A thread
 * that writes a request's answer without having read anything of it (of a pool) worked on
 * it since another of the request's threads woke it, or else since it was done with what it
 * did before. So each stretch of a thread is of one request at most.
 *
 * A request's path is put together from critical paths of threads (path_extend_back()), each from
 * where bytes were read back to where they were written. So its pieces tile it, and so do all sums
 * made of them (tests/unit/request_invariants.h). Rejected: to follow wake-ups alone (an event
 * loop is woken for one request and works on another), and to take who waits for a lock for who
 * helps (a mutex handed back and forth looks the same as work handed over).
 */
#ifndef WHYLATE_TRACKING_REQUESTS_H
#define WHYLATE_TRACKING_REQUESTS_H

#include "run/session.h"
#include "util/spill.h"

struct exchange_lists;

struct user_request {
	int64_t begin, end;      /* ns */
	uint32_t id;             /* from 1, by begin */
	uint32_t first, last;    /* threads: that took it up, that finished it */
	uint32_t channel;        /* number of its struct channel_end, 0: none */
	uint32_t parent; /* place in the list of the request that it is part of, from 1; 0 */
	uint32_t name; /* syscall: interned; else 0 */
	bool unfinished; /* no answer was seen: it ends with the trace or the connection */
	bool spans_gap; /* events were lost meanwhile, on a host that worked on it */
	bool in_scope; /* begins and ends in the window, of the threads asked for */
};

/* A thread works on a request. */
struct working {
	int64_t begin, end;
	uint32_t thread;
	uint32_t request; /* place in the list, from 1 */
};

/* Where a thread's begin in `working`, and which of them was asked for last. */
struct working_place {
	guint32 first, at;
};

#define REQUESTS_MEMORY ((size_t) 8 << 20) /* bytes, until they spill: 170,000 of them */

struct user_requests {
	const struct user_requests *base; /* borrowed: what is shared is owned by that; NULL */
	const struct session *session; /* borrowed */
	struct pages list; /* owned; struct user_request by begin, end, thread; places from 0 */
	struct pages working; /* owned; struct working by thread, begin; places from 0 */
	struct working_place *places; /* owned; by thread, and one more: user_requests_place() */
	GArray *listed; /* uint32_t: places in the list, from 0, of those that are in scope,
				    part of no other one that is, and picked */
	guint32 *of_exchange; /* of each exchange the request's place, from 1; 0: of … */
	struct spill_block places_of_exchanges; /* owned */
	guint32 *order; /* owned; exchanges in order of time; NULL: as they are stored */
	struct exchange_lists *reads, *writes; /* owned; with bytes, of each thread, of each end */
	guint32 *peers; /* owned; of each end the other one, 0: not traced */
	guint8 *roles; /* owned; of each end: enum channel_role, where it is inferred */
	uint32_t inferred; /* connections of which it is inferred who serves, … */
	/* … and where both ends write, but nothing tells; without the tracer's */
	uint32_t undecided;
	uint32_t unknown_ends; /* connections of which it is not known who serves */
	uint32_t of_tracer; /* left out, as nobody asked for its processes */
	uint32_t omitted; /* not listed, as the options pick others */
	/* Thousands of requests that last as long as the trace would each be as long a way: when
	 * their pieces, and the reads looked at for them, are more than PIECES_AN_EVENT for each
	 * event of the trace (and PIECES_LEAST), the ways of further ones are not known. */
#define PIECES_AN_EVENT 16
#define PIECES_LEAST 200000
	struct {
		uint64_t left; /* pieces */
		uint32_t ways; /* that were not looked for */
		uint64_t faults; /* user_requests_ease() */
		uint32_t read; /* records since it was called */
	} *effort; /* owned: counts while all else is const; a new one for each
				    question: requests_renew_effort() */
	int64_t unassigned_ns; /* time of threads in the window that is of no request, … */
	int64_t unassigned_working_ns; /* … and of that, worked */
};

void user_requests_free(struct user_requests *requests);

/* The same, for a part of a report (parts/make_parts.h) that is made while others read them, too:
 * of its session, and with counts of its own. Borrows all else. */
struct user_requests *
user_requests_in_part(const struct user_requests *requests, const struct session *session);
void user_requests_part_free(struct user_requests *part);

/* By request (places from 1): its place in `listed` from 1, or that of the listed one that it is
 * part of; 0: neither. Free with g_free(). */
guint32 *user_requests_listed_places(const struct user_requests *requests);

static inline struct user_request *
user_request_at(const struct user_requests *requests, guint place)
{
	return pages_at(&requests->list, place);
}

static inline struct working *working_at(const struct user_requests *requests, guint place)
{
	return pages_at(&requests->working, place);
}

/* As timeline_ease(), of the requests and of where their exchanges are, too. */
void user_requests_ease(const struct user_requests *requests);
/* The same, once in so many records that were read (paths and user_request_of() count theirs). */
#define READ_AT_RANDOM 16 /* count as that many: each may have brought in 64 KB */
void user_requests_read(const struct user_requests *requests, uint32_t records);

/* The outermost request that it is part of, itself if of none; places from 1. */
uint32_t user_request_root(const struct user_requests *requests, uint32_t place);
/* "nginx (213), asked by 127.0.0.1:34608"; free with g_free(). */
char *user_request_label(const struct user_requests *requests, const struct user_request *request);
const char *user_request_kind(const struct user_requests *requests);
/* `working` is whole: from now on user_request_of() may be asked. */
void user_requests_place(struct user_requests *requests);
/* guint: places in `places` (uint32_t: in the list, from 0, ascending) in the order of how long
 * each took, of equal ones the first first; free with g_array_free(). */
GArray *requests_by_latency(const struct user_requests *requests, const GArray *places,
			    bool slowest_first);
/* Which request `thread` worked on at `time`, and until when that holds (or, where it is none,
 * until the next one begins); places from 1, 0: none. */
uint32_t user_request_of(const struct user_requests *requests, uint32_t thread, int64_t time,
			 int64_t *until);

#endif
