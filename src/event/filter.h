/* SPDX-License-Identifier: MIT */
/* An event named by the user: 'EVENT [key=value]... [nth=N|last]'.
 *
 * Place: event/. Options are parsed to it; a reader evaluates it on the classes
 * whose name matches, as only the reader can see all fields; run/
 * counts matches for nth. Values and EVENT may hold * and ?.
 */
#ifndef WHYLATE_EVENT_FILTER_H
#define WHYLATE_EVENT_FILTER_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FILTER_LAST INT64_MAX

struct nearest;

enum filter_scope {
	FILTER_FIELD,   /* a payload field; `cpu` if there is no such field */
	FILTER_CONTEXT, /* $ctx.NAME */
};

struct filter_condition {
	enum filter_scope scope;
	char *key;     /* owned */
	char *value;   /* owned; may be a pattern */
	bool numeric;  /* value is one whole number: `number` */
	bool negative;
	uint64_t number; /* two's complement */
	uint64_t *captured; /* owned; the value of the event compared last, texts by their hash;
			       NULL: `value` is to be met. event_filter_capture() */
	struct nearest *unmet; /* owned; the texts that did not meet it; NULL: a number */
};

struct event_filter {
	char *text;       /* owned; as the user gave it */
	char *event;      /* owned; name or pattern */
	GArray *conditions; /* owned; struct filter_condition */
	int64_t nth;      /* 1 for the first, FILTER_LAST */
};

/* Parses a filter; NULL and `error` (WHYLATE_ERROR_USAGE) if it is none. */
struct event_filter *event_filter_parse(const char *text, GError **error);
void event_filter_free(struct event_filter *filter);

/* Conditions `key=$NAME` are met by any value, which is kept for whoever gets the event next.
 * Their names, sorted; free with g_ptr_array_free(). */
GPtrArray *event_filter_capture(struct event_filter *filter);
/* What was captured under the name; it must be one of the filter's. */
uint64_t event_filter_captured(const struct event_filter *filter, const char *name);

bool event_filter_wants(const struct event_filter *filter, const char *event_name);
bool filter_condition_text(const struct filter_condition *condition, const char *text);
bool filter_condition_integer(const struct filter_condition *condition, bool is_signed,
			      uint64_t value);

#endif
