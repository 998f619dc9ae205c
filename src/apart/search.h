/* SPDX-License-Identifier: MIT */
/* What tells the slow ones from the others: of all that is known of each, the values or the
 * thresholds that go with being slow.
 *
 *   field        ret       offset    …          a trait is one value of a field (ret = 0), or a
 *   slow    1    0         4096                 side of a threshold (offset >= 4096), or two of
 *   slow    2    0         0                    them together. For each:
 *   other   3    96        0                             has it   has it not
 *   …                                             slow      a         b
 *                                                 others    c         d
 *
 * A trait is told only if
 *   - at least a tenth of the slow ones have it, and 5 of all do;
 *   - Fisher's exact test, one-sided, says so after Holm's correction over all traits that were
 *     tried, at SEARCH_ALPHA divided by the groups that the report asks about;
 *   - neighbours in time are alike: of 1,000 shuffles of the labels, block of time by block of
 *     time, at most two have any trait that goes with them as well (each measured by how widely
 *     the shuffles spread its own count, and not less than chance alone does).
 *   - it explains at least a tenth of the gap between the slow ones and the others;
 *   - it is met more often than what takes longer meets anyway: of what a share q of the shorter
 *     ones met, those that take r times as long meet 1 - (1 - q)^r by chance (FIELD_MET).
 * Traits are ranked by the time of the gap that they explain, never by p: the slow ones' excess of
 * the trait, times how much longer those with it take (Kitagawa's rate effect). Of traits that
 * pick the same operations the first is told; a field whose values are nearly all different has
 * none. What goes with slowness need not cause it.
 *
 * Place: apart/; knows nothing of traces. The same table gives the same answer: random numbers
 * are drawn from a fixed seed. Source: issue of what sets operations apart; Fisher 1922, Holm
 * 1979, Westfall and Young 1993 (maximum statistic), Kitagawa 1955.
 */
#ifndef WHYLATE_APART_SEARCH_H
#define WHYLATE_APART_SEARCH_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define SEARCH_ALPHA 0.01 /* of a report: how often it may claim something where there is nothing */
#define SEARCH_TOLD 3 /* traits at most */
#define SEARCH_ROWS 4096 /* rows at most: of more, the caller takes a sample */
#define FIELD_NONE INT64_MIN /* a value that is not known, or does not apply */

enum field_type {
	FIELD_VALUE, /* a number that only names something */
	FIELD_NUMBER, /* … that has an order; its frequent values are tried, too */
	FIELD_MET, /* what was met on the way, 0: nothing; what takes longer meets more */
};

struct search_field {
	enum field_type type;
	int64_t *values; /* owned; of each row */
};

struct search_table {
	guint rows; /* in the order of time */
	bool *slow; /* owned */
	int64_t *ns; /* owned; how long each took */
	guint blocks; /* of time, for the shuffles; 0: as the labels change. Rows of two recordings,
			 one behind the other, change them once: say how many */
	GArray *fields; /* struct search_field */
};

struct search_table *search_table_new(guint rows, guint fields);
void search_table_free(struct search_table *table);
/* The values of a field, all FIELD_NONE at first. */
int64_t *search_column(struct search_table *table, guint field, enum field_type type);

enum trait_test { TRAIT_IS, TRAIT_FROM, TRAIT_TO }; /* = value, >= value, <= value */
struct trait_part {
	guint field;
	enum trait_test test;
	int64_t value;
};
struct trait {
	struct trait_part parts[2];
	guint part_count; /* 1, or 2: both hold */
	guint in, in_all; /* of the slow ones: that have it, all */
	guint out, out_all;
	double p, ratio; /* Holm's p; risk ratio, 0.5 added */
	double explained; /* ns of the gap between slow and others, all slow ones together */
};

bool trait_has(const struct trait_part *part, int64_t value);

enum search_outcome { SEARCH_FOUND, SEARCH_NOTHING, SEARCH_TOO_FEW };
struct search_answer {
	enum search_outcome outcome;
	guint tried, fields; /* traits, of so many fields */
	GArray *traits; /* owned; struct trait, what explains most first */
};

/* `groups`: how many searches the report makes. Free the answer's traits. */
struct search_answer search(const struct search_table *table, guint groups);

#endif
