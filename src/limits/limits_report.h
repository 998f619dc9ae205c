/* SPDX-License-Identifier: MIT */
/* What became of the limits (--fail-if, --budget), written: for people, in JSON, for build
 * servers.
 *
 * Place: limits/, above report/.
 */
#ifndef WHYLATE_LIMITS_LIMITS_REPORT_H
#define WHYLATE_LIMITS_LIMITS_REPORT_H

#include "limits/judge.h"
#include "report/columns.h"

/* Nothing if nothing was asked. */
void limits_text(const struct session *session, struct output *output);
/* Member "limits", of any row; struct judgement. */
extern const struct column report_limits[], judgement_columns[];
/* A sentence: "p99(syscall:fsync) > 20ms: 26.1 ms of syscall:fsync"; free with g_free(). */
char *judgement_text(const struct judgement *judgement);
/* --junit: the same as a file for build servers. */
bool junit_write(const struct session *session, GError **error);

#endif
