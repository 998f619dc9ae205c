/* SPDX-License-Identifier: MIT */
/* Reports: results of analyses as text, JSON and CSV.
 *
 * Place: the last step of the data's way. A report asks the analyses for one
 * part after the other, writes it and drops it, so that memory follows the
 * largest part. The same input gives the same bytes.
 */
#ifndef WHYLATE_REPORT_REPORT_H
#define WHYLATE_REPORT_REPORT_H

#include <jansson.h>

#include "waits/causality.h"
#include "run/coverage.h"
#include "path/path.h"
#include "path/path_sums.h"
#include "latencies/profile.h"
#include "run/session.h"
#include "waits/summary.h"
#include "report/columns.h"
#include "report/output.h"

/* What a delay report is made of, computed once. */
struct delay {
	const struct session *session; /* borrowed */
	struct coverage coverage;
	GArray *lineage;       /* struct stretch; empty without a single thread */
	struct path *path;     /* NULL without a single thread */
	GPtrArray *verdict;    /* strings */
	GArray *locks;         /* struct contention: that the reported threads waited for */
	GArray *findings;      /* struct finding: of these threads' waits */
	GArray *threads;       /* struct stretch: each thread and its part of the window */
};

void delay_json(const struct delay *delay, struct output *output);
void delay_text(const struct delay *delay, struct output *output);
/* path_json.c, path_text.c: the critical path's sums, and its steps one by one. */
json_t *path_totals_json(const struct delay *delay);
void path_totals_text(const struct delay *delay, struct output *output);
void path_steps_text(const struct delay *delay, struct output *output);
void delay_csv(const struct delay *delay, struct output *output);
struct saved;

/* Profiles, and the comparison with saved ones (struct compared; NULL: none);
 * `resumed`: the file that they continue, NULL. `other_filters`: what to say if
 * the compared one was of other threads, NULL.
 * `whole`: nothing is left out, as --save needs it. */
void profile_json_write(const struct profiles *profiles, const GArray *comparison,
			const struct saved *resumed, bool whole, FILE *file);
void profile_text_write(const struct profiles *profiles, const GArray *comparison,
			const char *other_filters, struct output *output);
const char *peak_status_text(enum peak_status status);
/* waiting_json.c, waiting_text.c: what threads and resources impose on others. */
struct waiting;
void waiting_json(const struct session *session, const struct waiting *waiting, FILE *file);
void waiting_text(const struct session *session, const struct waiting *waiting,
		  struct output *output);
struct costs;
struct user_requests;
/* Requests and what they cost. */
void requests_json(const struct costs *costs, struct output *output);
void requests_text(const struct costs *costs, struct output *output);
void requests_dot(const struct costs *costs, struct output *output);
void requests_csv(const struct costs *costs, struct output *output);
struct diff;
void diff_json(const struct diff *diff, struct output *output);
void diff_text(const struct diff *diff, struct output *output);
void check_json(const struct session *session, struct output *output);
void check_text(const struct session *session, struct output *output);
void overview_json(const struct session *session, const struct waiting *waiting,
		   struct output *output);
void overview_text(const struct session *session, struct output *output);

void json_watch(const struct json_watch *watch); /* borrowed; NULL: nobody any more */
/* To the watcher, if there is one. */
void json_saw(uint32_t thread, int64_t begin, int64_t end);

/* limits.c: what was asked of the trace by --fail-if and --budget; nothing if nothing was. */
void limits_text(const struct session *session, struct output *output);
/* Member "limits", of any row; struct judgement. */
extern const struct column report_limits[], judgement_columns[];
/* Member "limits"; one of them alone. */
void json_limits(const struct session *session, FILE *file);
struct judgement;
json_t *json_judgement(const struct session *session, const struct judgement *judgement);
/* A sentence: "p99(syscall:fsync) > 20ms: 26.1 ms of syscall:fsync"; free with g_free(). */
char *judgement_text(const struct judgement *judgement);
/* --junit: the same as a file for build servers. */
bool junit_write(const struct session *session, GError **error);

/* findings.c: struct finding with their ids; the text says how to have one explained. */
extern const struct column finding_columns[];
void text_findings(const struct session *session, const GArray *findings, struct output *output);
/* `limit`: so many of them, 0: all. */
void json_findings(const struct session *session, const GArray *findings, uint32_t limit,
		   FILE *file);
struct finding;
json_t *json_finding(const struct session *session, const struct finding *finding);

/* head.c: what all reports begin with, as columns of any row: hosts, coverage, window, or one of
 * them. */
extern const struct column report_head[], report_hosts[], report_coverage[], report_window[];
/* Of struct coverage. */
extern const struct column coverage_columns[];
/* Of a part, with four decimals; of a whole of 0, 0. */
double share_rounded(int64_t part, int64_t whole);
/* The last part of most reports. */
void text_coverage_now(const struct session *session, struct output *output);

/* json.c: parts that all reports share. Values are new references. */
json_t *json_text(const char *text); /* any bytes; made valid UTF-8 */
json_t *json_hosts(const struct session *session);
json_t *json_coverage(const struct session *session, const struct coverage *coverage);
json_t *json_window(const struct session *session);
json_t *json_thread_head(const struct session *session, uint32_t thread);
/* `"key": value` with a comma before it unless it is the first; takes `value`. */
void json_member(FILE *file, const char *key, json_t *value, bool first);
/* Opens the object: schema and tool. */
void json_open(FILE *file, const char *schema);
json_t *json_cause(const struct cause *cause);
json_t *json_resource(const struct session *session, uint32_t resource);
/* The resource of one wait: with its descriptor, futex operation, timer. */
json_t *json_wait_resource(const struct session *session, const struct block *block);

/* lock_json.c: who held the lock that was waited for; NULL: no lock. */
json_t *json_lock(const struct session *session, const struct wait *wait);
/* Members "locks" (of struct contention) and "deadlocks". */
void json_locks(FILE *file, const struct session *session, const GArray *locks);
void json_deadlocks(FILE *file, const struct session *session);

/* lock_text.c: the same for people; lock_text() a line of one wait. */
void lock_text(const struct session *session, const struct wait *wait, struct output *output,
	       int indent);
void locks_text(const struct session *session, const GArray *locks, struct output *output);
void deadlocks_text(const struct session *session, struct output *output);

/* text.c: the same for people. Control characters are shown as \xNN. */
/* For %*s: the width in bytes that makes `text` so many columns wide. */
int text_width(int columns, const char *text);
char *text_safe(const char *text);
void text_heading(struct output *output, const char *heading);
/* What a * beside a row means, if there is one. */
void text_gap_note(const struct output *output, bool marked);
/* A line for each host, and the window if it is not all of the trace. */
void text_hosts(const struct session *session, struct output *output);
/* What --thread TID needs beside it where there are several hosts: " --host
 * NAME", else "". Free with g_free(). */
char *text_host_option(const struct session *session, uint32_t thread);
/* Appends what is known of a host's clock, where there are several. */
void text_clock(GString *line, const struct session *session, const struct host *host);
void text_coverage(const struct session *session, const struct coverage *coverage,
		   struct output *output);
void text_wrapped(struct output *output, const char *text, int indent, int hanging);

#endif
