/* SPDX-License-Identifier: MIT */
/* What an input says, for people: FUZZ_SHOW=1 fuzz_events INPUT prints its events. */
#ifndef WHYLATE_FUZZ_SHOW_H
#define WHYLATE_FUZZ_SHOW_H

#include <inttypes.h>
#include <stdio.h>

#include "event_code.h"

static inline void show_field(const struct event_field *field, const struct event *event)
{
	const void *at = (const char *) event + field->offset;
	const struct event_bytes *list = at;

	fprintf(stderr, " %s=", field->name);
	if (field->type == FIELD_STRING)
		fprintf(stderr, "'%.40s'", *(const char *const *) at ?: "NULL");
	else if (field->type == FIELD_I32)
		fprintf(stderr, "%" PRId32, *(const int32_t *) at);
	else if (field->type == FIELD_I64 || field->type == FIELD_COOKIE)
		fprintf(stderr, "%" PRId64, *(const int64_t *) at);
	else if (field->type == FIELD_BYTES || field->type == FIELD_WORDS)
		fprintf(stderr, "(%" PRIu32 " bytes)", list->count);
	else if (field->type == FIELD_READY)
		fprintf(stderr, "(%" PRIu32 " of them)", event->syscall.fd_count);
	else if (field->type == FIELD_PAIR)
		fprintf(stderr, "%" PRId32 " %" PRId32, ((const int32_t *) at)[0],
			((const int32_t *) at)[1]);
	else
		fprintf(stderr, "%d", *(const uint8_t *) at);
}

static inline void show_event(const char *name, const struct event_class *class,
			      const struct event *event)
{
	struct event unset = event_start(class);

	fprintf(stderr, "%" PRId64 " host %u CPU %" PRIu32 " %s", event->time, event->host,
		event->cpu, name);
	if (event->has_tid)
		fprintf(stderr, " $ctx.tid=%" PRId32, event->tid);
	if (event->has_pid)
		fprintf(stderr, " $ctx.pid=%" PRId32, event->pid);
	for (int i = 0; field_at(class, i); i++)
		if (field_is_set(field_at(class, i), event, &unset))
			show_field(field_at(class, i), event);
	fputc('\n', stderr);
}

#endif
