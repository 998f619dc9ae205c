/* SPDX-License-Identifier: MIT */
/* What a sum says of each of its traces, beside memory: a sum of 100,000 needs room for their names
 * only.
 *
 * Place: batch/. Entries are JSON texts in a temporary file (util/spill.h), written as they come
 * and read back by the names of their traces.
 */
#ifndef WHYLATE_BATCH_BATCH_ENTRIES_H
#define WHYLATE_BATCH_BATCH_ENTRIES_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define TRACE_KEY 16 /* bytes */

/* By what a trace is known: its content, or its path where that could not be read. */
struct trace_key {
	uint8_t bytes[TRACE_KEY];
};

struct batch_entries;

struct batch_entries *batch_entries_new(void);
void batch_entries_free(struct batch_entries *entries);
void batch_entries_add(struct batch_entries *entries, const char *trace, struct trace_key key,
		       const json_t *entry);
guint batch_entries_count(const struct batch_entries *entries);

/* Calls `take` for each, in order of names; the entry is its own. False: some could not be
 * read back. */
typedef void entry_take(void *data, const struct trace_key *key, json_t *entry);
bool batch_entries_each(struct batch_entries *entries, entry_take *take, void *data);

/* For tables whose keys are of this type. */
guint trace_key_hash(gconstpointer key);
gboolean trace_key_equal(gconstpointer a, gconstpointer b);

#endif
