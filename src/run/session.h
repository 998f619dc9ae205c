/* SPDX-License-Identifier: MIT */
/* One run: what was recorded, what is asked of it, and what came out.
 *
 * Place: run/, the hub between the readers and the reports. A reader feeds session->trace.sink
 * (event/sink.h); when it is done, session_finish() resolves what is asked. Nothing here or above
 * can tell which reader it was.
 */
#ifndef WHYLATE_RUN_SESSION_H
#define WHYLATE_RUN_SESSION_H

#include <glib.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "run/options.h"
#include "trace/trace.h"

struct binaries;
struct code;
struct symbols;

/* An event that a filter matches, of one of several hosts. */
struct candidate {
	int64_t time;
	uint16_t host;
	uint32_t cpu;
	int32_t tid;    /* as in struct match */
	bool user;      /* … too */
	uint32_t event;
};

/* Which event of the trace an option named. */
struct match {
	const struct event_filter *filter; /* borrowed; NULL: not asked for */
	int64_t seen;   /* matches so far */
	bool met;       /* an event of that name came */
	uint64_t keys;  /* bit i: condition i names a field that such events have */
	char *fields;   /* owned; the fields they have, for people */
	bool found;
	int64_t time;
	uint16_t host;
	uint32_t cpu;
	int32_t tid;    /* subject, 0: the thread current on cpu then */
	bool user;      /* … it is a process's own number: a container's, if it is in one */
	uint32_t event; /* interned name */
	/* several hosts, whose clocks are brought together later: */
	GArray *candidates; /* owned; struct candidate, of each as many as may be it */
	GArray *of_host;    /* owned; uint32_t: matches of each; nth=last: its place, from 1 */
};

enum match_index { MATCH_TARGET, MATCH_FROM, MATCH_TO, MATCH_BEGIN, MATCH_END, MATCH_COUNT };

/* An event that --begin or --end names. */
struct boundary {
	int64_t time;
	uint16_t host;
	bool end;
	uint32_t cpu;
	int32_t tid;    /* as in struct match */
	bool user;      /* … too */
	uint64_t key;   /* of what was captured, 0: nothing is */
};

struct session;

/* --every: see stretches.h. */
struct stretches {
	int64_t every;      /* ns, 0: one report at the end */
	int64_t next;       /* an event from here on ends the current one; INT64_MAX: none */
	int64_t begin, end; /* the current one: ns, [begin, end) */
	int64_t from, to;   /* only what is between them is reported; INT64_MIN, INT64_MAX */
	bool begun;         /* the first event came */
	bool done;          /* `to` is over, or `error` came: nothing more is wanted */
	bool live;          /* time goes by without events too */
	uint32_t reported;  /* so many reports */
	uint64_t kept;      /* records left when something was forgotten last */
	char *refused;      /* owned; why the first one without a report had none, NULL */
	GError *error;      /* owned; a report could not be written, NULL */
	/* Makes one report of [from, to); false and an error if it cannot. */
	bool (*report)(struct session *session, int64_t from, int64_t to, void *data,
		       GError **error);
	void *data;         /* borrowed */
};

/* What is asked of it. */
struct question {
	struct options *options; /* borrowed */
	struct match matches[MATCH_COUNT];
	GArray *boundaries; /* owned; struct boundary, in order of time */
	struct stretches stretches; /* --every */
	struct session *other; /* borrowed; diff: of the second trace, finished; NULL */
	guint beside; /* so many sessions are read at the same time; 0: one */

	/* Asked now and then while a report is made, where the program and not a signal ends it:
	 * from true on all threads read as empty, and no report is written. NULL: never. */
	bool (*interrupted)(void *data);
	void *interrupted_data; /* borrowed */

	/* session_finish() */
	bool of_stretch; /* from and to are set: they are a stretch's */
	int64_t from, to; /* window */
	uint32_t target; /* thread, NO_THREAD */
	GArray *selected; /* uint32_t threads asked for, in order */
	GArray *chosen; /* owned; of --container: containers.c; NULL: not asked */
	GPtrArray *limit_threads; /* owned; GArray of uint32_t, of each limit: the threads that it
					names, found before names are replaced; NULL before */
};

/* Kept by session_make_once(); `lock`: of several threads one makes. */
struct makings {
	pthread_mutex_t lock; /* recursive */
	struct made *first; /* owned */
};

struct made {
	struct made *next; /* owned */
	void *(*make)(const struct session *session);
	void *data;
	GDestroyNotify free;
};

/* What came out, and what it takes to put it in words. */
struct results {
	uint32_t *alike; /* owned; of each thread the first one whose name is the same but for a
			    number at its end; NULL: names are not hidden, and tell */
	uint32_t *thread_names; /* owned; interned, of each thread in the window; NULL before */
	struct symbols *symbols; /* owned; of the traced kernel, NULL: none */
	struct binaries *binaries; /* owned; of traced programs; NULL before */
	struct idmap *user_names; /* owned; image and address of a user function -> interned name */
	struct makings *made; /* owned; what session_make_once() has made */
	GPtrArray *judged; /* owned; struct judgement, of each limit: limits.h; NULL before */
	/* Runs of CPUs read for who ran while others were ready. With N threads ready at once that
	 * is N times what there is: beyond RUNS_READ_MAX (a quarter of a minute; of 16 million
	 * events 10^7 are read) it is not looked up, and not known. */
#define RUNS_READ_MAX UINT64_C(300000000)
	uint64_t *runs_read; /* owned; counts in reports, to which all else is const */
};

/* Of a run that was re-timed (whatif/retimed_run.h): what it cannot tell by itself, as who ran on a
 * CPU meanwhile, is what was recorded. */
struct recorded {
	const struct session *session;
	/* What was recorded of `span` of `thread`. */
	struct span (*span)(const void *data, uint32_t thread, const struct span *span);
	const void *data;
};

struct session {
	struct trace trace; /* first: its sink's data are the session */
	struct question asked;
	struct results found;
	const struct recorded *recorded; /* borrowed; NULL: it is what was recorded */
};

/* An event came, in whatever stretch. */
static inline bool session_has_events(const struct session *session)
{
	return session->trace.events || session->asked.stretches.begun;
}
/* What is asked depends on user space's events. */
bool session_uses_user(const struct session *session);
/* What `make` makes of the session, made when it is first asked for and then kept until the
 * session's end, when `free` takes it. It must not keep the session that it is made of: that may be
 * a thread's own copy for a while (parts/). */
typedef void *session_maker(const struct session *session);
const void *session_make_once(const struct session *session, session_maker *make,
			      GDestroyNotify free);
bool session_interrupted(const struct session *session);

/* Reading of a thread's states as they are reported: [from, to) only, leaves
 * of kernel threads and ksoftirqd named so, nothing claimed before S. */
struct spans {
	const struct session *session;
	const struct thread *thread;
	struct track_pos pos;
	int64_t from, to;
	int64_t known; /* S of the thread's host, or when it was found off CPU if that was before */
	struct span rest; /* second half of a span cut at S */
	bool has_rest, kernel, ksoftirqd;
};

void spans_begin(struct spans *spans, const struct session *session, uint32_t thread, int64_t from,
		 int64_t to);
bool spans_next(struct spans *spans, struct span *span);
/* The same, of those off the CPU only, which is much quicker than to look at all. */
bool spans_next_off_cpu(struct spans *spans, struct span *span);

/* " on HOST" where there are several hosts, else "". */
const char *session_on(const struct session *session, uint32_t thread);
/* How much of a name is left without the number at its end; all of one that is little more. */
guint name_stem(const char *name);
/* Two threads have one name but for the number at its end; true names, where names are hidden. */
bool session_names_alike(const struct session *session, uint32_t one, uint32_t other);
/* Name in the window, "?" if none is known; of a traced guest's machine "guest web's CPU 0/KVM". */
const char *session_thread_name(const struct session *session, uint32_t thread);
/* … without whose machine it is. */
const char *session_own_name(const struct session *session, uint32_t thread);
const char *session_text(const struct session *session, uint32_t interned);
/* The function at an interned address, "0x…": its name if symbols know it. */
const char *session_function(const struct session *session, uint32_t address);
/* The function at an address of a process: its name, "proxyapp+0x1234" where its binary does not
 * tell, "0x7f…" where no binary is known to be; session->found.binaries says why (binaries.h). */
const char *session_user_function(const struct session *session, uint16_t host, int32_t pid,
				  uint64_t address, int64_t time);
/* Its source line, and the calls inlined there; NULL: not known. */
const struct code *session_user_code(const struct session *session, uint16_t host, int32_t pid,
				     uint64_t address, int64_t time);
/* The interned key of what a wait waited for, 0: not known. */
uint32_t session_resource(const struct session *session, const struct block *block);
/* The stretch overlaps a hole in the trace while the thread was off CPU. */
bool session_spans_gap(const struct session *session, uint32_t thread, const struct span *span);
/* The thread is blocked at `time`: a wait that ends there only as it was cut
 * goes on. */
bool session_blocked_at(const struct session *session, uint32_t thread, int64_t time);
/* The recorder's own processes (lttng, lttng-*), by the names of their threads: a flag for
 * each thread; free with g_free(). */
bool *session_tracers(const struct session *session);
/* The thread that a matching event is about: `tid`, or if that is 0 who the CPU ran; `user`: as
 * in struct match. */
uint32_t session_event_thread(const struct session *session, uint16_t host, uint32_t cpu,
			      int32_t tid, bool user, int64_t time);
/* The life of `tid` at `time`, NO_THREAD. */
uint32_t session_thread_at(const struct session *session, uint16_t host, int32_t tid, int64_t time);

#endif
