/* SPDX-License-Identifier: MIT */
/* A walk over all times of a trace; see shift.h. */
#include "trace/shift.h"

#include "model/model_records.h"
#include "timeline/timeline_records.h"
#include "trace/trace_records.h"

struct shift {
	struct walk walk; /* must be first */
	struct trace *trace;
	const struct clock_line *line; /* of whose times these are; NULL: they stay */
	/* Bits, by number: records that several may lead to, and that were met; owned. NULL: of
	 * a store that is walked in order. */
	uint8_t *met[TIMELINE_STORES];
};

/* NULL: the host's clock is right. */
static const struct clock_line *host_line(const struct host *host)
{
	const struct clock_line *line = &host->clock.line;

	return line->offset != 0 || line->drift != 0 ? line : NULL;
}

static const struct clock_line *line_of(const struct trace *trace, uint32_t host)
{
	return host_line(model_host(&trace->model, host));
}

/* INT64_MIN and INT64_MAX stand for no time. */
static void move(const struct clock_line *line, int64_t *time)
{
	if (line && *time != INT64_MIN && *time != INT64_MAX)
		*time = clock_line_at(line, *time);
}

static void move_operation(const struct clock_line *line, struct operation *operation)
{
	int64_t end = operation_end(operation);

	move(line, &operation->begin);
	move(line, &end);
	operation->duration = (uint64_t) (end - operation->begin);
}

static bool enter(struct walk *walk, const struct record *record, void *at)
{
	struct shift *shift = (struct shift *) walk;
	const struct model *model = &shift->trace->model;

	if (record == &host_record) {
		shift->line = host_line(at);
	} else if (record == &exchange_record) {
		const struct exchange *exchange = at;

		shift->line = line_of(shift->trace, model_thread(model, exchange->thread)->host);
	} else if (record == &operation_record) {
		move_operation(line_of(shift->trace, model_operation_host(model, at)), at);
		return false;
	}
	return true;
}

/* Once: several threads' waits may have ended by one. */
static void follow(struct shift *shift, enum store store, uint32_t number)
{
	uint8_t *met = store < TIMELINE_STORES ? shift->met[store] : NULL;
	uint8_t bit = (uint8_t) (1u << number % 8);

	if (!number || !met || met[number / 8] & bit)
		return;
	met[number / 8] |= bit;
	record_walk(&shift->walk, store_records[store],
		    pages_at(timeline_store(&shift->trace->timeline, store), number));
}

static void move_track(struct shift *shift, struct track *track)
{
	struct timeline *timeline = &shift->trace->timeline;
	struct track_pos pos = {0, 0};
	struct span span;

	while (track_read(timeline, track, &pos, INT64_MAX, &span))
		if (leaf_is_blocked(span.leaf))
			follow(shift, STORE_BLOCKS, span.ref);
	track_move(timeline, track, shift->line);
}

static void move_log(struct shift *shift, enum store store, const struct log *log)
{
	for (uint32_t i = 0; i < log->used; i++)
		record_walk(&shift->walk, store_records[store],
			    log_at(timeline_store(&shift->trace->timeline, store), log,
				   timeline_stores[store].per_chunk, i));
}

static void visit(struct walk *walk, const struct field *field, void *at)
{
	struct shift *shift = (struct shift *) walk;

	if (field->kind == FIELD_HOST)
		shift->line = line_of(shift->trace, *(const uint16_t *) at);
	if (!shift->line)
		return;
	switch (field->kind) {
	case FIELD_TIME:
		move(shift->line, at);
		break;
	case FIELD_TIME_OR_0:
		if (*(const int64_t *) at)
			move(shift->line, at);
		break;
	case FIELD_REF:
		follow(shift, field->store, *(const uint32_t *) at);
		break;
	case FIELD_LOG:
		if (field->store == STORE_INTERVALS)
			move_track(shift, at);
		else
			move_log(shift, field->store, at);
		break;
	default:
		break;
	}
}

void trace_shift(struct trace *trace)
{
	struct shift shift = {.walk = {.kinds = 1u << FIELD_TIME | 1u << FIELD_TIME_OR_0 |
						1u << FIELD_HOST | 1u << FIELD_REF |
						1u << FIELD_LOG,
				       .enter = enter,
				       .visit = visit},
			      .trace = trace};
	bool any = false;

	for (guint i = 0; i < trace->model.hosts->len; i++)
		any |= line_of(trace, i) != NULL;
	if (!any)
		return;
	shift.met[STORE_BLOCKS] = g_malloc0(trace->timeline.blocks.used / 8 + 1);
	shift.met[STORE_DETAILS] = g_malloc0(trace->timeline.details.used / 8 + 1);
	shift.met[STORE_REASONS] = g_malloc0(trace->timeline.reasons.used / 8 + 1);
	record_walk(&shift.walk, &trace_record, trace);
	g_free(shift.met[STORE_BLOCKS]);
	g_free(shift.met[STORE_DETAILS]);
	g_free(shift.met[STORE_REASONS]);
}
