/* SPDX-License-Identifier: MIT */
/* Comparing measures with limits; see judge.h.
 *
 * A value is a stretch [low, high]: of one trace a point, of several a percentile is known up to
 * its bucket. It is taken twice, with what is doubtful (operations over lost events, unknown time)
 * and without. Only if all four ends are on one side of the limit is that the verdict.
 */
#include "limits/judge.h"

#include "limits/judge_cause.h"

#include <math.h>
#include <string.h>

struct value {
	bool any;
	double low, high;
};

/* The latency of rank `rank` (from 1) of both lists together. */
static int64_t value_at(const GArray *a, const GArray *b, uint64_t rank)
{
	guint i = 0, k = 0;
	int64_t value = 0;

	if (!b || !b->len || !a || !a->len)
		return g_array_index(a && a->len ? a : b, int64_t, rank - 1);
	for (; rank; rank--) {
		bool first = k >= b->len || (i < a->len && g_array_index(a, int64_t, i) <=
								   g_array_index(b, int64_t, k));

		value = first ? g_array_index(a, int64_t, i) : g_array_index(b, int64_t, k);
		i += first;
		k += !first;
	}
	return value;
}

/* The bucket that has the rank, narrowed by the least and the longest of all. */
static struct value bucket_at(const struct histogram *of, uint64_t rank)
{
	struct value value = {true, 0, 0};
	guint bucket = 0;

	while (bucket + 1 < MEASURE_BUCKETS && rank > of->counts[bucket])
		rank -= of->counts[bucket++];
	value.low = (double) MAX(bucket_from(MEASURE_RESOLUTION, bucket), of->min);
	value.high = (double) MIN(bucket_from(MEASURE_RESOLUTION, bucket + 1) - 1, of->max);
	return value;
}

/* Nearest rank, as in profiles. */
static struct value percentile(const struct measure *measure, const struct histogram *all,
			       bool doubtful, uint32_t percent)
{
	uint64_t rank = MAX((all->count * percent + 9999) / 10000, 1);
	double exact;

	if (!measure->sure_values && !measure->doubtful_values)
		return bucket_at(all, rank);
	exact = (double) value_at(measure->sure_values, doubtful ? measure->doubtful_values : NULL,
				  rank);
	return (struct value) {true, exact, exact};
}

static struct value of_latencies(const struct measure *measure, const struct bound *bound,
				 bool doubtful)
{
	struct histogram all = {.min = INT64_MAX, .max = INT64_MIN};
	struct value value = {0};
	double exact = 0;

	histogram_add(&all, &measure->sure, MEASURE_BUCKETS);
	if (doubtful)
		histogram_add(&all, &measure->doubtful, MEASURE_BUCKETS);
	value.any = all.count || bound->function == LIMIT_COUNT || bound->function == LIMIT_SUM;
	if (bound->function == LIMIT_PERCENTILE && value.any) {
		value = percentile(measure, &all, doubtful, bound->percent);
	} else if (value.any) {
		exact = bound->function == LIMIT_MIN    ? (double) all.min
			: bound->function == LIMIT_MAX  ? (double) all.max
			: bound->function == LIMIT_SUM  ? (double) all.sum
			: bound->function == LIMIT_MEAN ? (double) all.sum / (double) all.count
							: (double) all.count;
		value.low = value.high = exact;
	}
	g_free(all.counts);
	return value;
}

/* Unknown time may have been of any state but the one that is called unknown. */
static struct value of_states(const struct measure *measure, const struct bound *bound, guint part,
			      bool doubtful)
{
	double ns = part < measure->parts->len ? g_array_index(measure->parts, double, part) : 0;
	struct value value = {measure->whole > 0 || bound->unit == LIMIT_NS, 0, 0};

	if (doubtful && !g_str_has_prefix(bound->state, "unknown"))
		ns += measure->unknown;
	value.low = value.high =
		bound->unit == LIMIT_SHARE && measure->whole > 0 ? ns / measure->whole : ns;
	return value;
}

/* Samples tell it to what chance allows; work without samples may have been in it. */
static struct value of_function(const struct measure *measure, const struct bound *bound,
				bool doubtful)
{
	double ns = measure->parts->len ? g_array_index(measure->parts, double, 0) : 0;
	double error = sqrt(measure->variance);
	double scale = bound->unit == LIMIT_SHARE && measure->whole > 0 ? measure->whole : 1;
	struct value value = {measure->whole > 0 || bound->unit == LIMIT_NS, ns, ns};

	value.low = MAX(ns - error, 0) / scale;
	value.high = (ns + error + (doubtful ? measure->unknown : 0)) / scale;
	return value;
}

/* `part`: 0 the limit, else the number of its condition. */
static struct value value_of(const struct measure *measure, const struct bound *bound, guint part,
			     bool doubtful)
{
	if (bound->function == LIMIT_STATE)
		return of_states(measure, bound, part, doubtful);
	if (bound->function == LIMIT_CPU)
		return of_function(measure, bound, doubtful);
	if (bound->function == LIMIT_DURATION || bound->function == LIMIT_LOST)
		return (struct value) {true, measure->value, measure->value};
	return of_latencies(measure, bound, doubtful);
}

static bool holds(const struct bound *bound, double value)
{
	return compare(value, bound->comparison, bound->number);
}

/* Its conditions hold, judged by all that is known of it. */
static bool applies(const struct limit *limit, const struct measure *measure)
{
	for (guint i = 0; i < limit->conditions->len; i++) {
		const struct bound *bound = &g_array_index(limit->conditions, struct bound, i);
		struct value value = value_of(measure, bound, i + 1, true);

		if (!value.any || !holds(bound, value.low))
			return false;
	}
	return true;
}

/* What is open may be longer than was seen. */
static bool is_open(const struct limit *limit, const struct measure *measure)
{
	return measure->open &&
	       (limit->bound.function == LIMIT_DURATION || limit->bound.function == LIMIT_LOST);
}

static enum outcome outcome_of(const struct limit *limit, const struct measure *measure)
{
	const struct bound *bound = &limit->bound;
	struct value sure, all;
	int exceeding;

	if (!applies(limit, measure))
		return OUTCOME_NOT_APPLIED;
	sure = value_of(measure, bound, 0, false);
	all = value_of(measure, bound, 0, true);
	if (!all.any)
		return OUTCOME_NOT_JUDGED;
	if (!sure.any) /* all of it overlaps lost events */
		return holds(bound, all.low) || holds(bound, all.high)
			       ? OUTCOME_NOT_JUDGED
			       : OUTCOME_KEPT;
	exceeding = holds(bound, sure.low) + holds(bound, sure.high) + holds(bound, all.low) +
		    holds(bound, all.high);
	if (is_open(limit, measure) && exceeding != (bound->comparison < UNDER ? 4 : 0))
		return OUTCOME_NOT_JUDGED;
	return exceeding == 4 ? OUTCOME_EXCEEDED : exceeding ? OUTCOME_NOT_JUDGED : OUTCOME_KEPT;
}

/* Exceeded is worse than not judged, that than kept; then the value nearer to the limit, or
 * farther beyond. */
static bool is_worse(const struct judgement *than, enum outcome outcome, const struct value *value)
{
	static const int rank[] = {[OUTCOME_NOT_APPLIED] = 0,
				   [OUTCOME_KEPT] = 1,
				   [OUTCOME_NOT_JUDGED] = 2,
				   [OUTCOME_EXCEEDED] = 3};

	if (!than->subject || rank[outcome] != rank[than->outcome])
		return !than->subject || rank[outcome] > rank[than->outcome];
	return than->limit->bound.comparison >= UNDER ? value->low < than->low
						      : value->high > than->high;
}

static void take(struct judgement *judgement, const struct measure *measure)
{
	enum outcome outcome = outcome_of(judgement->limit, measure);
	bool sure = outcome == OUTCOME_EXCEEDED;
	struct value value = value_of(measure, &judgement->limit->bound, 0, !sure);

	if (!sure && judgement->limit->bound.function == LIMIT_STATE) /* with and without */
		value.low = value_of(measure, &judgement->limit->bound, 0, false).low;
	judgement->subjects++;
	judgement->exceeded += sure;
	if (!is_worse(judgement, outcome, &value))
		return;
	g_free(judgement->subject);
	judgement->subject = g_strdup(measure->subject);
	judgement->outcome = outcome;
	judgement->measured = value.any;
	judgement->low = value.low;
	judgement->high = value.high;
	judgement->thread = measure->thread;
	judgement->begin = measure->begin;
	judgement->end = measure->end;
}

static char *why_not(const struct judgement *judgement)
{
	const struct limit *limit = judgement->limit;
	struct measure *of =
		judgement->subject ? measures_find(judgement->measures, judgement->subject) : NULL;

	if (judgement->outcome == OUTCOME_NOT_APPLIED)
		return g_strdup_printf("'%s' does not hold",
				       strstr(limit->text, " if ") + strlen(" if "));
	if (judgement->outcome != OUTCOME_NOT_JUDGED)
		return NULL;
	if (judgement->measures->lacks)
		return g_strdup(judgement->measures->lacks);
	if (!judgement->measured)
		return g_strdup(limit->requests    ? "there was no request"
				: limit->operation ? "there was no such operation"
						   : "there was no such thread");
	if (of && is_open(limit, of) && limit->bound.function == LIMIT_LOST)
		return g_strdup("the trace is damaged, and how much was lost there is not known");
	if (of && is_open(limit, of))
		return g_strdup("it began before the window or went on after it");
	if (of && limit->bound.function == LIMIT_CPU)
		return g_strdup("so few samples do not tell on which side of the limit it is");
	if (of && limit->bound.function == LIMIT_STATE)
		return g_strdup("what the threads did is unknown for too much of their time");
	if (of && of->doubtful.count)
		return g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT
				       " overlap lost "
				       "events or were not seen to end, and decide it",
				       of->doubtful.count, of->doubtful.count + of->sure.count);
	return g_strdup("the limit lies inside the bucket of latencies that holds the value");
}

struct judgement *judgement_new(const struct limit *limit, struct measures *measures)
{
	struct judgement *judgement = g_new0(struct judgement, 1);
	bool counts = limit->bound.function == LIMIT_COUNT || limit->bound.function == LIMIT_SUM;

	judgement->limit = limit;
	judgement->measures = measures;
	judgement->thread = NO_THREAD;
	judgement->outcome = OUTCOME_NOT_JUDGED;
	/* nothing of that kind: none is a number too, unless it could not have been seen */
	if (!measures->list->len && !measures->lacks && (counts || limit->conditions->len))
		measures_find(measures, limit->requests    ? "requests"
					: limit->operation ? limit->operation
							   : "threads");
	for (guint i = 0; i < measures->list->len; i++)
		take(judgement, g_ptr_array_index(measures->list, i));
	judgement->why = why_not(judgement);
	return judgement;
}

GPtrArray *judgements_new(const struct session *session)
{
	const GPtrArray *limits = session->asked.options->limits;
	GPtrArray *judged = g_ptr_array_new_with_free_func(judgement_free);

	for (guint i = 0; i < limits->len; i++) {
		const struct limit *limit = g_ptr_array_index(limits, i);
		struct judgement *judgement = judgement_new(limit, measures_new(session, limit));

		if (judgement->outcome == OUTCOME_EXCEEDED)
			judgement->cause = judgement_cause(session, judgement);
		g_ptr_array_add(judged, judgement);
	}
	return judged;
}

void judgement_free(gpointer data)
{
	struct judgement *judgement = data;

	g_free(judgement->subject);
	g_free(judgement->why);
	g_free(judgement->cause);
	measures_free(judgement->measures);
	g_free(judgement);
}

const char *outcome_text(enum outcome outcome)
{
	static const char *const texts[] = {"kept", "exceeded", "not-applied", "not-judged"};

	return texts[outcome];
}

int judgements_status(const GPtrArray *judged)
{
	int status = 0;

	for (guint i = 0; judged && i < judged->len; i++) {
		const struct judgement *at = g_ptr_array_index(judged, i);

		if (at->outcome == OUTCOME_EXCEEDED)
			return 1;
		if (at->outcome == OUTCOME_NOT_JUDGED)
			status = 4;
	}
	return status;
}
