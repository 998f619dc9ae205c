/* SPDX-License-Identifier: MIT */
/* The two sides of a diff, and what was found to differ. Place: diff/, what all its files know. */
#ifndef WHYLATE_DIFF_SIDES_H
#define WHYLATE_DIFF_SIDES_H

#include "diff/target.h"
#include "samples/counter_factors.h"
#include "settings/recorded.h"
#include "tracking/align.h"
#include "tracking/request_costs.h"
#include "traits/traits.h"
#include "whatif/retimed_run.h"

struct side {
	const struct session *session; /* borrowed */
	struct user_requests *requests; /* owned; NULL: a target is compared, not requests */
	struct costs *costs;           /* owned; NULL, too */
	char *label;                   /* owned; what it is of, for people */
	int64_t from, to;              /* its window */
	bool of_requests;              /* its system calls are those made for the requests, not
					  all in the window */
};

/* One cause on both sides. */
struct difference {
	const char *kind;     /* static */
	char *label;          /* owned */
	enum user_change change;
	double mean[2];       /* ns (or bytes, calls) a request, of all requests of the side */
	uint32_t requests[2]; /* that it touched */
	double error;         /* of the difference: 99 of 100 would be within, if the requests
				 of each side differ by chance only; < 0: too few to tell */
	bool significant;     /* beyond that */
	const struct user_cause *seen[2]; /* borrowed; NULL: not on that side */
};

/* The latencies of one system call on both sides. */
enum call_part {
	CALL_WORK,      /* of the caller's, in the kernel */
	CALL_OTHERS,    /* others' work that it waited for */
	CALL_PREEMPTED,
	CALL_WAIT_CPU,
	CALL_INTERRUPTS,
	CALL_DEVICE,    /* block devices */
	CALL_NETWORK,
	CALL_TIMER,
	CALL_LOCK,
	CALL_BLOCKED,   /* other waits, and what is not known */
	CALL_PARTS
};

struct call_difference {
	uint32_t name[2];     /* interned, each in its own session; 0: not on that side */
	uint64_t count[2];
	double mean[2];       /* ns */
	double median[2];     /* ns, to 5 % */
	double distance;      /* octaves: earth mover's distance of the two latency profiles */
	double floor;         /* octaves: what chance gives in 99 of 100 cases (bootstrap) */
	bool significant;     /* beyond it, and 0.07 octaves (5 %) or more */
	double contribution;  /* ns: what the side's calls took longer (or shorter) in all: the
				 difference of the sums */
	double parts[2][CALL_PARTS]; /* ns a call: as on the critical path of those looked at, and
					in all the mean */
	uint32_t looked_at[2];
	struct traits *traits; /* owned; of the side whose calls take longer; NULL: not asked */
};

/* A function that samples show, on both sides. */
struct function_difference {
	const char *name, *file; /* borrowed; file NULL: not known */
	const char *caller[2];   /* borrowed; who called it mostly; NULL: not known */
	uint32_t samples[2];     /* in which it was innermost */
	double mean[2];          /* ns a request, or of the way to the target */
	double error;            /* of the difference: what chance allows of so many samples */
	bool significant;        /* beyond that */
};

/* A thread that ran longer or shorter. */
struct counter_difference {
	uint32_t thread[2];
	struct counters side[2]; /* whole runs in the side's window */
	uint8_t factor;  /* enum counted_factor: the largest share of the change has … */
	double share;    /* … this one; more than 1 where others went against it */
	char *label;     /* owned */
	char *sentence;  /* owned */
};

struct diff {
	struct side sides[2];
	struct retimed_run *retimed; /* owned; the second side, with --what-if; else NULL */
	struct thread_match *match; /* which thread of one side is which of the other */
	struct target *target; /* NULL: requests are compared */
	struct target *most;   /* … and there are none on either side: of the thread whose life
				  changed most; NULL: none did, or traces are not compared */
	GArray *causes;       /* struct difference; largest first, whatever its sign */
	GArray *calls;        /* struct call_difference; largest contribution first */
	struct alignment *alignment; /* NULL: no request on one side */
	uint32_t aligned[2];  /* … of which: places in the list */
	GArray *functions;    /* struct function_difference; largest first */
	GPtrArray *counters;  /* struct counter_difference, largest change first; NULL: none */
	struct settings_compared *settings; /* of two traces; else NULL */
	GArray *forks; /* struct call_fork: call_forks.h */
	struct traits *traits; /* of the slower side's requests; NULL: not asked */
	double mean[2]; /* latency a request, of --metric; or the target's time */
};

/* diff_values.c: values for sentences and tables. */
/* "13.6 ms", "1.5 kB", "312": a value of the metric, with "+" or "-" if `sign`; free with
 * g_free(). */
char *diff_value_text(const struct diff *diff, double value, bool sign);
/* It may be chance. */
bool difference_is_chance(const struct difference *at);
bool call_on_both(const struct call_difference *call);

/* The answer that the report begins with (diff_answer.c). Owned sentences; free with
 * g_ptr_array_unref(). */
GPtrArray *diff_answer(const struct diff *diff);

#endif
