/* SPDX-License-Identifier: MIT */
/* What /proc said when a trace without a statedump of its own was recorded: the file
 * statedump.json beside it (whylate record writes it), and perf's own list of threads.
 *
 * Place: foreign/. It is told as LTTng's statedump is, so nobody above knows the difference.
 * Source: docs/statedump.md.
 */
#ifndef WHYLATE_FOREIGN_STATEDUMP_H
#define WHYLATE_FOREIGN_STATEDUMP_H

#include "event/sink.h"
#include "foreign/perf_file.h"

struct statedump;

/* Beside the file, or in the directory above; NULL: there is none. What is wrong with it is told
 * in `trouble` (to free), which is NULL else. */
struct statedump *statedump_open(const char *trace_file, char **trouble);
/* From perf's list. */
struct statedump *statedump_of_perf(const struct perf_file *file);
void statedump_free(struct statedump *dump);

/* What it says of the host: "name", "release", "machine", "boot_id"; NULL: nothing. */
const char *statedump_host(const struct statedump *dump, const char *member);
/* When it was made, by the trace's clock; INT64_MIN: before all else. */
int64_t statedump_time(const struct statedump *dump);
/* Time of day less the trace's clock, by its name (NULL: monotonic); false: not said. */
bool statedump_offset(const struct statedump *dump, const char *clock, int64_t *offset);

/* Feeds it to the sink, as if recorded at that time on that CPU. `later`: events that came before
 * have shown what threads do. */
void statedump_tell(const struct statedump *dump, const struct event_sink *sink, uint32_t host,
		    uint32_t cpu, int64_t time, bool later);

#endif
