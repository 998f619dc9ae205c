/* SPDX-License-Identifier: MIT */
/* The answer in sentences; see sides.h. */
#include "diff/sides.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff_calls.h"
#include "diff/sides.h"
#include "util/when.h"
#include "waits/cause_kinds.h"

#define CAUSES_TOLD 3
#define LEAST_OF_DIFFERENCE 0.1 /* that a cause makes; the largest always is told */
#define CALLS_TOLD 2
#define PARTS_TOLD 2

static void add_most(const struct diff *diff, GPtrArray *answer)
{
	const struct target *most = diff->most;
	g_autofree char *label = NULL;
	char a[32], b[32];

	if (!most)
		return;
	label = thread_match_label(diff->match, 0, most->thread[0]);
	g_ptr_array_add(answer,
			g_strdup_printf("Of the threads of both runs the life of %s changed most: "
					"%s in A, %s in B.",
					label, when_duration(a, target_ns(most, 0)),
					when_duration(b, target_ns(most, 1))));
	g_ptr_array_add(answer, g_strdup_printf("%s.", most->verdict));
}

/* --- requests -------------------------------------------------------------------------------- */

static bool is_time(const struct diff *diff)
{
	return g_strcmp0(metric_unit(diff->sides[0].session->asked.options->requests.metric),
			 "ns") == 0;
}

static char *requests_sentence(const struct diff *diff)
{
	double change = diff->mean[1] - diff->mean[0];
	guint n[2] = {diff->sides[0].requests->listed->len, diff->sides[1].requests->listed->len};
	bool one = n[0] == 1 && n[1] == 1;
	g_autofree char *a = diff_value_text(diff, diff->mean[0], false),
			*b = diff_value_text(diff, diff->mean[1], false),
			*by = diff_value_text(diff, fabs(change), false);
	const char *more = is_time(diff) ? "longer" : "more";
	const char *less = is_time(diff) ? "shorter" : "less";

	if (change == 0)
		return g_strdup_printf("%s as long in B as in A: %s.",
				       one ? "The request took" : "A request took", a);
	return g_strdup_printf("%s %s in A and %s in B%s: %s %s.",
			       one ? "The request took" : "A request took", a, b,
			       one ? "" : ", in the mean", by, change > 0 ? more : less);
}

/* "55.72 ms waiting for a disk (vda, preadv2 of /x), in 4 of A's 32 and 4 of B's 8". */
static void append_cause(GString *text, const struct diff *diff, const struct difference *at)
{
	g_autofree char *by = diff_value_text(diff, fabs(at->mean[1] - at->mean[0]), false);
	guint n[2] = {diff->sides[0].requests->listed->len, diff->sides[1].requests->listed->len};

	g_string_append_printf(text, "%s %s (%s)", by, time_words(at->kind), at->label);
	if (n[0] > 1 || n[1] > 1)
		g_string_append_printf(text, ", in %u of A's %u and %u of B's %u", at->requests[0],
				       n[0], at->requests[1], n[1]);
	if (difference_is_chance(at))
		g_string_append(text, ", which may be chance");
}

/* The causes that made it so: those that changed the other way are in the list. */
static void add_requests(const struct diff *diff, GPtrArray *answer)
{
	double change = diff->mean[1] - diff->mean[0];
	g_autoptr(GString) text = g_string_new("Of that: ");
	guint told = 0;

	if (!diff->alignment)
		return;
	g_ptr_array_add(answer, requests_sentence(diff));
	for (guint i = 0; i < diff->causes->len && told < CAUSES_TOLD; i++) {
		const struct difference *at = &g_array_index(diff->causes, struct difference, i);
		double part = at->mean[1] - at->mean[0];

		if (part * change <= 0)
			continue;
		if (told && fabs(part) < LEAST_OF_DIFFERENCE * fabs(change))
			break;
		if (told++)
			g_string_append(text, "; ");
		append_cause(text, diff, at);
	}
	g_string_append_c(text, '.');
	if (told)
		g_ptr_array_add(answer, g_string_free(g_steal_pointer(&text), FALSE));
}

/* --- system calls ---------------------------------------------------------------------------- */

static const char *call_name(const struct diff *diff, const struct call_difference *call)
{
	int side = call->name[0] ? 0 : 1;

	return session_text(diff->sides[side].session, call->name[side]);
}

/* The part that changed most but for `other`, the same way as all; -1: none. */
static int largest_part(const struct call_difference *call, int other)
{
	double change = call->mean[1] - call->mean[0];
	int best = -1;

	for (int part = 0; part < CALL_PARTS; part++) {
		double by = call->parts[1][part] - call->parts[0][part];

		if (part != other && by * change > 0 &&
		    fabs(by) >= LEAST_OF_DIFFERENCE * fabs(change) &&
		    (best < 0 || fabs(by) > fabs(call->parts[1][best] - call->parts[0][best])))
			best = part;
	}
	return best;
}

static char *call_sentence(const struct diff *diff, const struct call_difference *call)
{
	const char *name = call_name(diff, call);
	bool turn = g_str_has_prefix(name, DIFF_TURN);
	GString *text = g_string_new(turn ? "A turn of " : "");
	char a[32], b[32], by[32];

	g_string_append_printf(
		text, "%s took %s%s in A and %s in B (%" PRIu64 " and %" PRIu64 " %s)",
		turn ? name + strlen(DIFF_TURN) : name, when_duration(a, llround(call->mean[0])),
		turn ? "" : " a call", when_duration(b, llround(call->mean[1])), call->count[0],
		call->count[1], turn ? "turns" : "calls");
	for (int i = 0, part = -1; i < PARTS_TOLD; i++) {
		double change;

		part = largest_part(call, part);
		if (part < 0)
			break;
		change = call->parts[1][part] - call->parts[0][part];
		g_string_append_printf(text, "%s %s %s%s", i ? "," : ":",
				       call_part_text((enum call_part) part),
				       change < 0 ? "-" : "+",
				       when_duration(by, llround(fabs(change))));
	}
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}

/* Those whose latency changed beyond chance, where nothing better is known. */
static void add_calls(const struct diff *diff, GPtrArray *answer)
{
	guint told = 0;

	for (guint i = 0; i < diff->calls->len && told < CALLS_TOLD; i++) {
		const struct call_difference *call =
			&g_array_index(diff->calls, struct call_difference, i);

		if (!call_on_both(call) || !call->significant)
			continue;
		g_ptr_array_add(answer, call_sentence(diff, call));
		told++;
	}
}

/* "What goes with B's requests: 9 of B's 9 were asked by reportcli; of A's 30 none were." */
static void add_apart(const struct diff *diff, GPtrArray *answer)
{
	if (!diff->traits || !diff->traits->told->len)
		return;
	g_ptr_array_add(answer,
			g_strdup_printf("What goes with %s requests: %s.",
					diff->mean[1] >= diff->mean[0] ? "B's" : "A's",
					((const struct trait_told *) diff->traits->told->pdata[0])
						->sentence));
}

GPtrArray *diff_answer(const struct diff *diff)
{
	GPtrArray *answer = g_ptr_array_new_with_free_func(g_free);

	if (diff->target) {
		g_ptr_array_add(answer, g_strdup(diff->target->verdict));
		return answer;
	}
	add_requests(diff, answer);
	add_apart(diff, answer);
	add_most(diff, answer);
	if (!answer->len)
		add_calls(diff, answer);
	if (!answer->len)
		g_ptr_array_add(answer,
				g_strdup("Nothing differs beyond chance: no thread lived "
					 "much longer in one, no system call took longer."));
	return answer;
}
