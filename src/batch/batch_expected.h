/* SPDX-License-Identifier: MIT */
/* Which traces were expected (`batch --expect`), and which of them have a line.
 *
 * Place: batch/. A trace is there if a line has its name or its content. A sum says what it
 * missed; a sum of sums still does, unless it has it from elsewhere.
 */
#ifndef WHYLATE_BATCH_BATCH_EXPECTED_H
#define WHYLATE_BATCH_BATCH_EXPECTED_H

#include <stdbool.h>

#include "batch/batch_entries.h"

struct batch_expected;

struct batch_expected *batch_expected_new(void);
void batch_expected_free(struct batch_expected *expected);
/* From a file; only these count then. Errors are WHYLATE_ERROR_USAGE. */
bool batch_expected_read(struct batch_expected *expected, const char *path, GError **error);
/* One that a sum missed. */
void batch_expected_add(struct batch_expected *expected, const char *name);
/* There is a line. Returns whether it may count. */
bool batch_expected_meet(struct batch_expected *expected, const char *name,
			 const struct trace_key *key);
/* Those that no line has the name of may have been met by another path: knows them by what lies
 * there. */
void batch_expected_identify(struct batch_expected *expected, char *(*identify)(const char *path));
/* It is counted, by this line or another one. */
void batch_expected_count(struct batch_expected *expected, const char *name,
			  const struct trace_key *key);
/* Names of those that are not there, sorted: a new reference; NULL: nothing was expected. */
json_t *batch_expected_missing(const struct batch_expected *expected);

/* What an identity's text stands for; false: it is none. */
bool trace_key_of_identity(struct trace_key *key, const char *identity);
/* For what is known by its path only. */
void trace_key_of_path(struct trace_key *key, const char *path);

#endif
