/* SPDX-License-Identifier: MIT */
/* A trace that is read without Babeltrace, whoever recorded it: LTTng's packets (reader/), or
 * another tracer's files (foreign/).
 *
 * Place: foreign/, for cli/. The functions are reader.h's; files of other tracers are gone through
 * from their begin where a reader would seek.
 */
#ifndef WHYLATE_FOREIGN_SOURCE_H
#define WHYLATE_FOREIGN_SOURCE_H

#include "foreign/foreign.h"
#include "reader/reader.h"

struct source;

/* Either `files` of other tracers (paths), if there are any, or LTTng's `directories` (GPtrArrays
 * of struct trace_directory). NULL and an error if they cannot be read. */
struct source *source_new(const struct event_sink *sink, GPtrArray *directories,
			  const GPtrArray *files, GError **error);
void source_free(struct source *source);

/* Of other tracers' files all is handed on, whatever `until` is. */
bool source_run(struct source *source, uint64_t count, int64_t until);
/* The reader of LTTng's packets, borrowed; NULL: another tracer's files are read. */
struct reader *source_reader(const struct source *source);
double source_done(const struct source *source);
void source_tell_damage(const struct source *source);
bool source_take_at(struct source *source, const struct event_place *place, GError **error);

struct source_record {
	int64_t time; /* ns */
	uint32_t host, cpu;
	const char *name; /* borrowed */
};
struct intern;
void source_seek(struct source *source, int64_t time);
/* Some before the time sought may come, too. */
bool source_next_record(struct source *source, const struct intern *names,
			struct source_record *record);
void source_record_text(const struct source *source, GString *text);

#endif
