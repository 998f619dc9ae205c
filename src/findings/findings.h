/* SPDX-License-Identifier: MIT */
/* Findings: what stands out in a report, each under a short id that stays.
 *
 * Place: findings/, between the analyses and the reports. An id is made of what a finding is
 * (its kind, the names of thread, call and resource, the kind of its cause; of several hosts read
 * together an answer's host as well: the same program may run on each), never of its place in
 * a list, of a time, or of numbers that the next run has not (TIDs, descriptors, addresses). So
 * the same trace gives the same ids on any machine, the same trouble in another trace mostly too,
 * and what has one id is one finding: its times and counts are added up.
 *
 *   s-…  answer   an item of what stands out in a trace (stands.h)
 *   w-…  wait     threads of one name waited in one call for one resource
 *   i-…  imposer  a thread or a resource that others waited for (waiting.h)
 *   p-…  peak     operations of one latency peak with one root cause (roots.h)
 *   c-…  cause    what requests spent their time on (request_costs.h)
 *
 * A new kind of finding takes a letter of its own, and findings_all() must find it, as `explain`
 * looks there. finding_look_up() gives the thread and the window in which a finding is seen best.
 */
#ifndef WHYLATE_FINDINGS_FINDINGS_H
#define WHYLATE_FINDINGS_FINDINGS_H

#include "report/columns.h"
#include "run/session.h"

struct costs;
struct profiles;
struct stands;
struct waiting;
struct wanted;

#define FINDING_ID 9 /* "w-k3f7qa" and the end */

struct finding {
	char id[FINDING_ID];
	const char *kind;    /* static */
	char *title;         /* owned; for people */
	int64_t ns;          /* of all such, added up */
	uint64_t count;      /* waits, waiters, operations, requests */
	guint threads;       /* that it is seen in */
	bool spans_gap;      /* some of it overlaps lost events */
	uint32_t thread;     /* where it is seen best: NO_THREAD: nowhere */
	int64_t begin, end;  /* … when */
	int64_t largest;     /* … and how much of it that is */
};

/* Lists of struct finding; free with g_array_free(). What is added is in the order of its source
 * until the list is sorted. */
GArray *findings_new(void);
/* `groups`: struct wait_group (wait_groups.h); without those of the threads that `left_out` marks
 * (as session_tracers(); NULL: none). */
void findings_add_waits(GArray *findings, const struct session *session, const GArray *groups,
			const bool *left_out);
void findings_add_imposers(GArray *findings, const struct session *session,
			   const struct waiting *waiting);
/* Items of what stands out, whose ids are set. */
void findings_add_stands(GArray *findings, const struct session *session, struct stands *stands);
void findings_add_profiles(GArray *findings, const struct profiles *profiles);
void findings_add_costs(GArray *findings, const struct costs *costs);
/* These alone, sorted. */
GArray *findings_of_costs(const struct costs *costs);
/* Largest first. */
void findings_sort(GArray *findings);

/* All that this trace has, of every kind that the session recorded what it takes for. Of two with
 * one id the first is the one that the overview has. */
GArray *findings_all(const struct session *session);
/* The finding of that id and where it is seen best: thread, begin, end. False: there is none.
 * `found->title` is owned by the caller. The session must have been made with the id as
 * options->finding, as peaks and causes of requests take more to be recorded. */
bool finding_look_up(const struct session *session, const char *id, struct finding *found);
/* What it takes to be recorded. */
void finding_want(const struct options *options, struct wanted *wanted);
/* It has the form of an id. */
bool finding_is_id(const char *text);

/* findings_report.c: of struct finding; the text says how to have one explained. */
extern const struct column finding_columns[];
void text_findings(const struct session *session, const GArray *findings, struct output *output);

#endif
