/* SPDX-License-Identifier: MIT */
/* What was recorded: all that comes of reading, whoever asks for what.
 *
 * Place: trace/, over flow/, which works out from events who did what when. It is a sink
 * (event/sink.h): a reader feeds it. When all has been read, trace_gather() (gather.h) ends all
 * lives and brings the hosts to one time; from then on nothing of it is changed any more, but for
 * new names and operations behind those that there are then. An image (image.h) keeps it.
 */
#ifndef WHYLATE_TRACE_TRACE_H
#define WHYLATE_TRACE_TRACE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "event/sink.h"
#include "flow/flow.h"
#include "model/model.h"
#include "timeline/timeline.h"
#include "trace/processes.h"

/* A damaged file of the trace. */
struct damage {
	char *file;            /* owned; path */
	char *what;            /* owned; for people, NULL: bytes say it */
	uint64_t bytes, total; /* could not be read, of so many */
};

struct trace {
	/* Of the readers. What an event or a filter's fields mean is for whoever asks to say
	 * (run/): `event`, `fields` and `pass` are not set here. */
	struct event_sink sink;
	struct model model;
	struct timeline timeline;
	struct flow flow;
	struct processes processes;
	int64_t begin, end;          /* first and last event of all hosts */
	uint64_t events;
	/* Of a window's trace: before that (ns) only what lasts was read, after that only how
	 * waits ended (skim/); INT64_MIN, INT64_MAX: all was. */
	int64_t passed_until, passed_from;
	bool kinds[EV_KIND_COUNT];   /* declared by some trace */
	GHashTable *class_names;     /* owned; event names declared (set) */
	bool has_tids;               /* … with the context tid */
	char *place;                 /* owned; directory of the first trace's files, NULL */
	struct event_places *places; /* owned; where rare events are; NULL: not asked for */

	char *stopped;               /* owned; why reading ended early, NULL */
	GArray *damages;             /* owned; struct damage: what could not be read */
	guint user_traces;           /* user-space traces found beside */
	guint user_apart; /* … of them are not read: of no host whose kernel trace is */
	uint64_t user_events; /* of those that are; nothing else counts them */
	GPtrArray *user_damages; /* owned; what is wrong with them, for people */

	/* trace_gather(); what it leaves is not changed any more, but for new names and
	 * operations behind those that there are then */
	uint32_t names_gathered, operations_gathered; /* 0 names: not done */
	bool restored; /* that was taken from an image (image.h): events that are
					fed now are only compared with the filters */
};

/* All events of the recording were read, or are in the image. */
static inline bool trace_is_whole(const struct trace *trace)
{
	return trace->passed_until == INT64_MIN && trace->passed_from == INT64_MAX;
}

void trace_init(struct trace *trace);
void trace_clear(struct trace *trace);

/* Where rare events are is to be noted. */
void trace_note_places(struct trace *trace);

/* Two of these can be subtracted. The clocks of traces are at 2^60 to 2^61: it is damage. */
#define TIME_MAX ((INT64_C(1) << 62) - 1)
static inline int64_t trace_time(int64_t time)
{
	return CLAMP(time, -TIME_MAX, TIME_MAX);
}

/* Keeps an event, unless the trace was restored; its time is as trace_time() gives it. */
static inline void trace_event(struct trace *trace, const struct event *event)
{
	if (G_UNLIKELY(trace->restored))
		return;
	if (G_UNLIKELY(event_is_user(event))) {
		trace->user_events++;
		flow_user_event(&trace->flow, event);
	} else {
		trace->events++;
		flow_event(&trace->flow, event);
	}
}

/* Forgets what was recorded for a profile, and shows in other reports by being there. */
void trace_forget_operations(struct trace *trace);

/* For people; with its number where another has the same name. */
const char *trace_host_name(const struct trace *trace, uint32_t index);

#endif
