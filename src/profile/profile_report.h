/* SPDX-License-Identifier: MIT */
/* What a profile report is made of, and its writers.
 *
 * Place: profile/. Its records are described in profile_columns.c. What is about a profile or a
 * peak has struct profile_at as the report's data. */
#ifndef WHYLATE_PROFILE_PROFILE_REPORT_H
#define WHYLATE_PROFILE_PROFILE_REPORT_H

#include "profile/saved.h"
#include "report/report.h"

struct profile_report {
	const struct session *session; /* borrowed */
	struct profiles *profiles;
	struct saved *compared, *resumed;
	GArray *comparison; /* struct compared; NULL: none */
	char *other;        /* owned; how the compared one's threads were others, NULL */
};

/* What a row lies in. */
struct profile_at {
	const struct profiles *profiles;
	const struct profile *profile;
	const struct peak *peak;
};

/* Of struct profile and struct compared: what the tables have of them, too. */
extern const struct column profile_columns[], compared_columns[];

void profile_json(const struct profile_report *made, struct output *output);
void profile_text(const struct profile_report *made, struct output *output);

/* "irq:26 (virtio0-req.1), CPU 1"; free with g_free(). */
char *profile_title(const struct profile *profile);
/* "12 %", "<0.1 %", into 16 bytes. */
const char *profile_percent(char *buffer, int64_t part, int64_t whole);
/* Its histogram, beside the one saved if there is one (`compared` may be NULL). */
void profile_bars(const struct profiles *profiles, const struct profile *profile,
		  const struct saved *compared, struct output *output);
/* What heads the report: a sentence for each of the peaks that took most. */
void profile_answer(const struct profiles *profiles, struct output *output);
GArray *profile_findings(const struct profiles *profiles);
guint comparison_changed(const GArray *comparison);

#endif
