/* SPDX-License-Identifier: MIT */
/* What differs between two sides, as JSON (whylate-diff-1). */
#include <math.h>
#include <string.h>

#include "diff/call_forks.h"
#include "diff/diff.h"
#include "report/report.h"

static json_t *number(double value)
{
	return json_integer((json_int_t) llround(value));
}

static json_t *side_json(const struct diff *diff, int side)
{
	const struct side *at = &diff->sides[side];
	json_t *object = json_object(), *ids = json_array();

	for (guint i = 0; i < at->requests->listed->len; i++)
		json_array_append_new(
			ids,
			json_integer(
				user_request_at(at->requests,
						g_array_index(at->requests->listed, uint32_t, i))
					->id));
	json_object_set_new(object, "label", json_text(at->label));
	json_object_set_new(object, "hosts", json_hosts(at->session));
	json_object_set_new(object, "window",
			    json_pack("{s:I,s:I}", "begin", (json_int_t) at->from, "end",
				      (json_int_t) at->to));
	json_object_set_new(object, "requests", ids);
	json_object_set_new(object, "mean", number(diff->mean[side]));
	return object;
}

static json_t *example_json(const struct side *side, const struct user_cause *cause)
{
	json_t *object;

	if (!cause)
		return json_null();
	object = json_thread_head(side->session, cause->thread);
	json_object_set_new(object, "begin", json_integer(cause->begin));
	json_object_set_new(object, "end", json_integer(cause->end));
	json_object_set_new(object, "request",
			    json_integer(user_request_at(side->requests, cause->request)->id));
	return object;
}

static json_t *causes_json(const struct diff *diff)
{
	json_t *list = json_array();
	double whole = diff->mean[1] - diff->mean[0];

	for (guint i = 0; i < diff->causes->len; i++) {
		const struct difference *at = &g_array_index(diff->causes, struct difference, i);
		double difference = at->mean[1] - at->mean[0];
		json_t *object = json_pack("{s:s,s:o,s:o,s:o,s:o,s:i,s:i}", "kind", at->kind,
					   "label", json_text(at->label), "a", number(at->mean[0]),
					   "b", number(at->mean[1]), "difference",
					   number(difference), "a_requests", (int) at->requests[0],
					   "b_requests", (int) at->requests[1]);

		json_object_set_new(object, "share",
				    whole != 0 ? json_real(difference / whole) : json_null());
		json_object_set_new(object, "error",
				    at->error < 0 ? json_null() : number(at->error));
		json_object_set_new(object, "significant",
				    at->error < 0 ? json_null() : json_boolean(at->significant));
		json_object_set_new(object, "user_can_change",
				    change_text(at->change) ? json_string(change_text(at->change))
							    : json_null());
		json_object_set_new(object, "spans_gap",
				    json_boolean((at->seen[0] && at->seen[0]->spans_gap) ||
						 (at->seen[1] && at->seen[1]->spans_gap)));
		json_object_set_new(object, "a_example",
				    example_json(&diff->sides[0], at->seen[0]));
		json_object_set_new(object, "b_example",
				    example_json(&diff->sides[1], at->seen[1]));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *steps_json(const struct side *side, const GArray *steps, guint from, guint until)
{
	json_t *list = json_array();

	for (guint i = from; i < until; i++) {
		const struct step *step = &g_array_index(steps, struct step, i);
		json_t *object = json_thread_head(side->session, step->thread);

		json_object_set_new(object, "begin", json_integer(step->begin));
		json_object_set_new(object, "end", json_integer(step->end));
		json_object_set_new(object, "ns", json_integer(step->end - step->begin));
		json_object_set_new(object, "kind", json_string(step->kind));
		json_object_set_new(object, "label", json_text(step->label));
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *alignment_json(const struct diff *diff)
{
	static const char *const names[] = {"a_steps", "b_steps"};
	const struct alignment *alignment = diff->alignment;
	guint limit = diff->sides[0].session->asked.options->limit, count;
	json_t *object, *list;

	if (!alignment)
		return json_null();
	object = json_pack(
		"{s:I,s:I,s:I,s:I,s:I,s:I,s:I}", "a",
		(json_int_t) user_request_at(diff->sides[0].requests, diff->aligned[0])->id, "b",
		(json_int_t) user_request_at(diff->sides[1].requests, diff->aligned[1])->id,
		"matched", (json_int_t) alignment->matched, "a_matched_ns",
		(json_int_t) alignment->matched_ns[0], "b_matched_ns",
		(json_int_t) alignment->matched_ns[1], "a_left_out_ns",
		(json_int_t) alignment->left_out_ns[0], "b_left_out_ns",
		(json_int_t) alignment->left_out_ns[1]);
	list = json_array();
	count = limit ? MIN(limit, alignment->divergences->len) : alignment->divergences->len;
	for (guint i = 0; i < count; i++) {
		const struct divergence *at =
			&g_array_index(alignment->divergences, struct divergence, i);
		json_t *divergence = json_pack("{s:I,s:I,s:I}", "a_ns", (json_int_t) at->ns[0],
					       "b_ns", (json_int_t) at->ns[1], "difference",
					       (json_int_t) at->difference);

		for (int side = 0; side < 2; side++)
			json_object_set_new(divergence, names[side],
					    steps_json(&diff->sides[side], alignment->steps[side],
						       at->from[side], at->until[side]));
		json_array_append_new(list, divergence);
	}
	json_object_set_new(object, "divergences", list);
	if (count < alignment->divergences->len)
		json_object_set_new(object, "divergences_omitted",
				    json_integer(alignment->divergences->len - count));
	return object;
}

static json_t *parts_json(const struct call_difference *call)
{
	json_t *list = json_array();

	for (int part = 0; part < CALL_PARTS; part++)
		if (call->parts[0][part] > 0 || call->parts[1][part] > 0)
			json_array_append_new(
				list,
				json_pack("{s:s,s:o,s:o,s:o}", "what",
					  call_part_text((enum call_part) part), "a",
					  number(call->parts[0][part]), "b",
					  number(call->parts[1][part]), "difference",
					  number(call->parts[1][part] - call->parts[0][part])));
	return list;
}

static json_t *calls_json(const struct diff *diff, guint *omitted)
{
	guint limit = diff->sides[0].session->asked.options->limit;
	guint count = limit ? MIN(limit, diff->calls->len) : diff->calls->len;
	json_t *list = json_array();

	for (guint i = 0; i < count; i++) {
		const struct call_difference *call =
			&g_array_index(diff->calls, struct call_difference, i);
		int side = call->name[0] ? 0 : 1;
		bool both = call->name[0] && call->name[1];
		json_t *object = json_pack(
			"{s:o,s:I,s:I,s:o,s:o,s:o}", "name",
			json_text(session_text(diff->sides[side].session, call->name[side])),
			"a_count", (json_int_t) call->count[0], "b_count",
			(json_int_t) call->count[1], "a_mean", number(call->mean[0]), "b_mean",
			number(call->mean[1]), "contribution", number(call->contribution));

		json_object_set_new(object, "a_median", number(call->median[0]));
		json_object_set_new(object, "b_median", number(call->median[1]));
		json_object_set_new(object, "distance",
				    both ? json_real(call->distance) : json_null());
		json_object_set_new(object, "floor", both ? json_real(call->floor) : json_null());
		json_object_set_new(object, "significant",
				    both ? json_boolean(call->significant) : json_null());
		json_object_set_new(object, "a_looked_at", json_integer(call->looked_at[0]));
		json_object_set_new(object, "b_looked_at", json_integer(call->looked_at[1]));
		json_object_set_new(object, "made_of", parts_json(call));
		json_array_append_new(list, object);
	}
	*omitted = diff->calls->len - count;
	return list;
}

static json_t *next_json(const struct call_fork *fork, int side)
{
	return fork->next[side] ? json_pack("{s:o,s:I}", "name", json_text(fork->next[side]),
					    "time", (json_int_t) fork->at[side])
				: json_null();
}

static json_t *forks_json(const struct diff *diff, guint *omitted)
{
	guint limit = diff->sides[0].session->asked.options->limit;
	guint count = limit ? MIN(limit, diff->forks->len) : diff->forks->len;
	json_t *list = json_array();

	for (guint i = 0; i < count; i++) {
		const struct call_fork *fork = &g_array_index(diff->forks, struct call_fork, i);
		json_t *stack = json_array();

		for (guint k = 0; k < fork->stack->len; k++)
			json_array_append_new(stack, json_text(g_ptr_array_index(fork->stack, k)));
		json_array_append_new(
			list,
			json_pack("{s:o,s:o,s:I,s:I,s:I,s:b,s:o,s:o,s:o}", "a",
				  json_thread_head(diff->sides[0].session, fork->thread[0]), "b",
				  json_thread_head(diff->sides[1].session, fork->thread[1]),
				  "a_calls", (json_int_t) fork->calls[0], "b_calls",
				  (json_int_t) fork->calls[1], "alike", (json_int_t) fork->alike,
				  "same", fork->same, "stack", stack, "a_next", next_json(fork, 0),
				  "b_next", next_json(fork, 1)));
	}
	*omitted = diff->forks->len - count;
	return list;
}

void diff_json(const struct diff *diff, struct output *output)
{
	const struct session *session = diff->sides[0].session;
	enum metric metric = session->asked.options->requests.metric;
	struct coverage coverage;
	guint omitted;

	json_open(output->file, "whylate-diff-1");
	coverage_init(&coverage, session);
	json_member(output->file, "coverage", json_coverage(session, &coverage), false);
	coverage_clear(&coverage);
	coverage_init(&coverage, diff->sides[1].session);
	json_member(output->file, "b_coverage",
		    diff->sides[1].session == session
			    ? json_null()
			    : json_coverage(diff->sides[1].session, &coverage),
		    false);
	coverage_clear(&coverage);
	json_member(output->file, "unit", json_string(metric_unit(metric)), false);
	json_member(output->file, "a", side_json(diff, 0), false);
	json_member(output->file, "b", side_json(diff, 1), false);
	json_member(output->file, "difference", number(diff->mean[1] - diff->mean[0]), false);
	json_member(output->file, "causes", causes_json(diff), false);
	json_member(output->file, "alignment", alignment_json(diff), false);
	json_member(output->file, "calls", calls_json(diff, &omitted), false);
	if (omitted)
		json_member(output->file, "calls_omitted", json_integer(omitted), false);
	json_member(output->file, "call_sequences", forks_json(diff, &omitted), false);
	if (omitted)
		json_member(output->file, "call_sequences_omitted", json_integer(omitted), false);
	fputs("}\n", output->file);
}
