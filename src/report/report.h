/* SPDX-License-Identifier: MIT */
/* Reports: results of analyses as text, JSON and CSV.
 *
 * Place: the last step of the data's way. A report asks the analyses for one
 * part after the other, writes it and drops it, so that memory follows the
 * largest part. The same input gives the same bytes.
 */
#ifndef WHYLATE_REPORT_REPORT_H
#define WHYLATE_REPORT_REPORT_H

#include "waits/causality.h"
#include "coverage/coverage.h"
#include "path/path.h"
#include "path/path_sums.h"
#include "latencies/profile.h"
#include "run/session.h"
#include "run/command.h"
#include "waits/summary.h"
#include "report/columns.h"
#include "report/output.h"

/* head.c: what all reports begin with, as columns of any row: hosts, coverage, window, or one of
 * them. */
extern const struct column report_head[], report_hosts[], report_coverage[], report_window[];
/* Of struct coverage. */
extern const struct column coverage_columns[];
/* The sentences that a report begins with, owned strings; freed: member "answer"; for people. */
void json_put_answer(struct output *output, GPtrArray *sentences);
void text_answer(struct output *output, GPtrArray *sentences);
/* Of a part, with four decimals; of a whole of 0, 0. */
double share_rounded(int64_t part, int64_t whole);
/* The last part of most reports. */
void text_coverage_now(const struct session *session, struct output *output);

/* Of struct cause; of struct block: what was waited for, with its descriptor, futex operation,
 * timer. */
extern const struct column cause_columns[], wait_resource_columns[];

/* Of struct function_share, struct function_total. */
extern const struct column sampled_columns[], function_total_columns[], counters_columns[];

/* lock_json.c: member "lock" of a wait, who held it; none if it was for no lock. */
void json_put_lock(const struct report *report, const struct wait *wait);
/* Of struct contention; member "deadlocks" of any row. */
extern const struct column contention_columns[], report_deadlocks[];

/* lock_text.c: the same for people; lock_text() a line of one wait. */
void lock_text(const struct session *session, const struct wait *wait, struct output *output,
	       int indent);
void locks_text(const struct report *report, const GArray *locks);
void deadlocks_text(const struct session *session, struct output *output);

/* text.c: the same for people. Control characters are shown as \xNN. */
/* For %*s: the width in bytes that makes `text` so many columns wide. */
int text_width(int columns, const char *text);
/* As printf() writes it, in a fifth of its time; returns where in `buffer` it begins. */
#define TEXT_DECIMAL 21
const char *text_decimal(char buffer[TEXT_DECIMAL], int64_t number);
/* Nothing but ASCII that is seen, and spaces. */
bool text_is_plain(const char *text);
char *text_safe(const char *text); /* free with g_free() */
void text_heading(struct output *output, const char *heading);
/* What a * beside a row means, if there is one. */
void text_gap_note(const struct output *output, bool marked);
/* A line for each host. */
void text_machines(const struct session *session, struct output *output);
/* The same, and the window if it is not all of the trace. */
void text_hosts(const struct session *session, struct output *output);
/* Appends what is known of a host's clock, where there are several. */
void text_clock(GString *line, const struct session *session, const struct host *host);
/* "; guest of hypervisor: qemu-system-x86 (265), CPU 0 is CPU 0/KVM (277) (…)"; nothing if it is
 * none. */
void text_guest(GString *line, const struct session *session, const struct host *host);
void text_coverage(const struct session *session, const struct coverage *coverage,
		   struct output *output);
/* Columns that a text takes. */
int text_columns(const char *text);
/* suggestion_text.c: a command that can be pasted, in several lines if it is long. False: the
 * trace cannot bear its answer, and nothing was written. */
bool text_suggestion(const struct session *session, const struct suggestion *suggestion, int indent,
		     struct output *output);
/* A command line that is there as text, of words without blanks; the same way. */
void text_command(struct output *output, const char *line, int indent);
/* "  left      right": a word, and beside it from that column on, or below it where the terminal is
 * narrow, what it means. */
void text_described(struct output *output, int column, const char *left, const char *right);
void text_wrapped(struct output *output, const char *text, int indent, int hanging);
/* The same, with what stands at the right of the last line, or of one more (NULL: nothing);
 * returns how many lines that is. */
int text_wrapped_beside(struct output *output, const char *text, int indent, int hanging,
			const char *right);

#endif
