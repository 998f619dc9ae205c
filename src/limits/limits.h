/* SPDX-License-Identifier: MIT */
/* Limits: what --fail-if and --budget ask of a trace, as a verdict for other programs.
 *
 *   limit      = [ NAME ": " ] value comparison number [ "if" condition { "and" condition } ]
 *   value      = function [ "(" subject ")" ] [ "per" ( "thread" | "process" ) ]
 *   function   = "p" PERCENT | "min" | "max" | "mean" | "sum" | "count"   of operations, requests
 *              | state [ "/" PATTERN ]                                    of threads
 *              | "cpu"                                               of a function, by samples
 *              | "duration" | "lost"
 *   state      = "working" | "interrupted" | "blocked" | "unknown"
 *   subject    = item { "," item }
 *   item       = OPERATION | "requests" [ ":" KIND ] | "thread=" NAME | "process=" NAME
 *              | "function=" PATTERN
 *   condition  = ( "p" PERCENT | "min" | … | "count" | state ) comparison number
 *   comparison = ">" | ">=" | "<" | "<="
 *   number     = DIGITS [ "." DIGITS ] [ "ns" | "us" | "ms" | "s" | "%" ]
 *
 * A limit states what must not be: it is exceeded when it is true. OPERATION is a pattern for the
 * names of operations.h; each operation that it names is judged by itself, as is each thread or
 * process with `per`, and the worst is shown. A condition is about the same subject; where it
 * does not hold, the limit does not apply (a floor, so that a ratio of few calls does not fail).
 *
 * Place: limits/. limits.c reads the text; measure.h takes from a trace what a limit is about,
 * in sums that several traces add up to; judge.c compares. What lost events make uncertain is
 * taken both ways, and if the verdict differs it is "not judged".
 */
#ifndef WHYLATE_LIMITS_LIMITS_H
#define WHYLATE_LIMITS_LIMITS_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum limit_function {
	LIMIT_PERCENTILE,
	LIMIT_MIN,
	LIMIT_MAX,
	LIMIT_MEAN,
	LIMIT_SUM,
	LIMIT_COUNT,
	LIMIT_STATE,
	LIMIT_CPU,
	LIMIT_DURATION,
	LIMIT_LOST,
};
enum comparison { OVER, OVER_OR_EQUAL, UNDER, UNDER_OR_EQUAL };
enum limit_unit { LIMIT_NS, LIMIT_NUMBER, LIMIT_SHARE };
enum limit_per { LIMIT_PER_OPERATION, LIMIT_PER_THREAD, LIMIT_PER_PROCESS };

/* A function of a subject and what it is compared with. */
struct bound {
	enum limit_function function;
	uint32_t percent;        /* percentile, in hundredths: 9990 is p99.9 */
	char *state;             /* owned; pattern for the keys of leaves: "blocked*"; NULL */
	enum comparison comparison;
	enum limit_unit unit;
	double number;           /* ns, a number, or a share of 1 */
};

struct limit {
	guint number;            /* its place in the options' list */
	char *name;              /* owned; NULL: none was given */
	char *text;              /* owned; without the name */
	struct bound bound;
	char *operation;         /* owned; pattern; NULL */
	char *requests;          /* owned; "", or their kind; NULL: not of requests */
	char *thread, *process;  /* owned; as --thread and --process; NULL: as the command's */
	char *code;              /* owned; LIMIT_CPU: pattern for functions that samples show */
	enum limit_per per;
	GArray *conditions;      /* owned; struct bound */
};

/* NULL: a usage error that says what would be right. Free with limit_free(). */
struct limit *limit_parse(const char *text, GError **error);
void limit_free(gpointer limit);
/* Appends the limits of a budget: a limit a line, '#' begins a comment. Errors name file and
 * line. */
bool limits_read(GPtrArray *limits, const char *path, GError **error);

bool compare(double value, enum comparison comparison, double number);
/* "ns", "count", "share". */
const char *limit_unit_text(enum limit_unit unit);
/* "26.1 ms", "31 %": a value of that unit, for people. Buffer of 32. */
const char *limit_value_text(char *buffer, double value, enum limit_unit unit);

#endif
