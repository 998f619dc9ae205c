/* SPDX-License-Identifier: MIT */
/* What a profile report is made of, and its writers.
 *
 * Place: profile/. Its records are described in profile_columns.c. What is about a profile or a
 * peak has struct profile_at as the report's data. */
#ifndef WHYLATE_PROFILE_PROFILE_REPORT_H
#define WHYLATE_PROFILE_PROFILE_REPORT_H

#include "profile/saved.h"
#include "report/report.h"
#include "traits/peaks_apart.h"

struct profile_what_if;

struct profile_report {
	const struct session *session; /* borrowed */
	struct profiles *profiles;
	struct peaks_apart *apart; /* owned; NULL: other recordings have a part in it */
	struct saved *compared, *resumed;
	GArray *comparison; /* struct compared; NULL: none */
	struct profile_what_if *what_if; /* owned; NULL: nobody asked */
	char *other;        /* owned; how the compared one's threads were others, NULL */
};

/* What a row lies in. */
struct profile_at {
	const struct profiles *profiles;
	const struct peaks_apart *apart;
	const struct saved *compared; /* NULL: with none, or not what is saved */
	const struct profile *profile;
	const struct peak *peak;
};

/* Of struct profile and struct compared: what the tables have of them, too. */
extern const struct column profile_columns[], compared_columns[];
/* What a profile is of: a member of JSON. */
void profile_put_scope(const struct report *report, enum per per, const char *scope);
/* Of struct profile: the same. */
extern const struct column profile_scope_columns[];
/* The counts of its buckets, as items of a list of JSON. */
guint profile_put_buckets(const struct report *report, const struct buckets *buckets,
			  const uint64_t *counts);

void profile_json(const struct profile_report *made, struct output *output);
void profile_text(const struct profile_report *made, struct output *output);

/* "irq:26 (virtio0-req.1), CPU 1"; free with g_free(). */
char *profile_title(const struct profile *profile);
/* "12 %", "<0.1 %", into 16 bytes. */
const char *profile_percent(char *buffer, int64_t part, int64_t whole);
/* Another histogram of the same operation. */
struct beside {
	const uint64_t *counts;   /* borrowed; by bucket; NULL: there is none */
	const char *column, *key; /* "SAVED", "(bars: now # | saved =)" */
};
/* Its histogram, and the other one. */
void profile_bars(const struct profiles *profiles, const struct profile *profile,
		  const struct beside *beside, struct output *output);
/* Of a peak that took much of the time. */
struct profile_sentence {
	guint profile; /* its place in the list, from 0 on */
	guint peak;    /* its number, from 1 on */
	char *text;    /* owned */
};
/* What heads the report: struct profile_sentence, for each of the peaks that took most. Free with
 * g_array_unref(). */
GArray *profile_sentences(const struct profiles *profiles, const struct peaks_apart *apart);
/* The same as text. */
void profile_answer(const struct profiles *profiles, const struct peaks_apart *apart,
		    struct output *output);
GArray *profile_findings(const struct profiles *profiles);
guint comparison_changed(const GArray *comparison);

#endif
