/* SPDX-License-Identifier: MIT */
/* From a tracepoint's record to an event: what each kind of record is, and where in it the fields
 * are that are wanted.
 *
 * Place: foreign/, used by the readers of trace.dat and of perf.data, which find the records, their
 * times and CPUs. What is looked up by name is looked up once for each kind.
 */
#ifndef WHYLATE_FOREIGN_RECORD_CLASSES_H
#define WHYLATE_FOREIGN_RECORD_CLASSES_H

#include "kernel/kernel_events.h"
#include "foreign/format.h"

struct record_classes;

/* Records of one recorded system; `sink` is borrowed. `words`: bytes of a long. */
struct record_classes *record_classes_new(const struct event_sink *sink, enum syscall_abi abi);
void record_classes_free(struct record_classes *classes);

/* Such records may come; takes the tracepoint, or frees it if its number is known. */
void record_classes_add(struct record_classes *classes, struct tracepoint *tracepoint);
/* Tells the sink of those; `wanted` NULL: of all, else of those with these numbers. */
void record_classes_declare(struct record_classes *classes, GHashTable *wanted);
/* One of those is called so. */
bool record_classes_has(const struct record_classes *classes, const char *name, GHashTable *wanted);
guint record_classes_count(const struct record_classes *classes);

/* Fills all of `event` but time, host and CPU, which filters ask for and is set before. Texts are
 * the record's, or good until the next record. False: the record is of no known kind, or too
 * short. */
bool record_classes_take(struct record_classes *classes, const struct record *record,
			 struct event *event);

/* Name of what record_classes_take() took, and its fields, as text. */
void record_classes_text(struct record_classes *classes, const struct record *record,
			 GString *text);

#endif
