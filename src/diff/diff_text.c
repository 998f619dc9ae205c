/* SPDX-License-Identifier: MIT */
/* What differs between two sides, for people; see diff/diff.h. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff/call_forks.h"
#include "diff/diff_columns.h"

#define STEPS_SHOWN 4  /* of each side of a divergence */
#define PARTS_SHOWN 4  /* of what a system call's change is made of */
#define LEAST_SHARE 0.005 /* of the larger side: less is not told */

static const struct session *session_of(const struct diff *diff)
{
	return diff->sides[0].session;
}

/* Traces to tell of: one, if both sides are of it. */
static int sides_told(const struct diff *diff)
{
	return diff->sides[1].session == session_of(diff) || diff->retimed ? 1 : 2;
}

/* Of a re-timed run the hosts are told first; here what it leaves out. */
static void hosts(const struct diff *diff,
		  void (*text)(const struct session *session, struct output *output),
		  struct output *output)
{
	g_autofree char *limits = diff->retimed ? replay_limits(diff->retimed->replay) : NULL;

	for (int side = 0; side < sides_told(diff) && !limits; side++)
		text(diff->sides[side].session, output);
	if (limits)
		text_wrapped(output, limits, 0, 2);
}

static guint limit_of(const struct diff *diff, guint count)
{
	return rows_limited(session_of(diff), count);
}

static bool verbose(const struct diff *diff)
{
	return session_of(diff)->asked.options->verbose || !session_of(diff)->asked.options->limit;
}

static guint count_spanning(const struct side *side)
{
	guint count = 0;

	for (guint i = 0; i < side->requests->listed->len; i++)
		count += user_request_at(side->requests,
					 g_array_index(side->requests->listed, uint32_t, i))
				 ->spans_gap;
	return count;
}

static void side_line(const struct diff *diff, int side, struct output *output)
{
	const struct side *at = &diff->sides[side];
	guint n = at->requests->listed->len, spanning = count_spanning(at);
	g_autofree char *label = text_safe(at->label),
			*mean = diff_value_text(diff, diff->mean[side], false);

	fprintf(output->file, "%c: %s: %u %s request%s", 'A' + side, label, n,
		user_request_kind(at->requests), n == 1 ? "" : "s");
	if (spanning)
		fprintf(output->file, " (%u of them span lost events: not to be trusted)",
			spanning);
	if (n)
		fprintf(output->file, ", %s%s", mean, n == 1 ? "" : " each in the mean");
	if (at->costs->not_followed)
		fprintf(output->file, "; the ways of %u were not looked for",
			at->costs->not_followed);
	fputc('\n', output->file);
}

static void head(const struct diff *diff, struct output *output)
{
	g_autofree char *difference = diff_value_text(diff, diff->mean[1] - diff->mean[0], true);

	text_answer(output, diff_answer(diff));
	fputc('\n', output->file);
	for (int side = 0; side < 2; side++)
		side_line(diff, side, output);
	if (!diff->alignment && session_of(diff)->asked.options->requests.preset == PRESET_SERVER)
		fputs("--preset process, client or syscall:NAME may find requests on both sides.\n",
		      output->file);
	if (!diff->alignment && diff->sides[1].session != session_of(diff))
		fputs("--target EVENT, or one --thread, compares what the ways to it took.\n",
		      output->file);
	if (diff->alignment)
		fprintf(output->file, "B less A: %s a request\n", difference);
	hosts(diff, text_hosts, output);
}

static void causes(const struct report *report, const struct diff *diff)
{
	static const struct text_table table = {.columns = difference_columns};
	guint count = limit_of(diff, diff->causes->len), shown = 0, small = 0;
	double least = verbose(diff) ? 0 : LEAST_SHARE * MAX(diff->mean[0], diff->mean[1]);
	struct output *output = report->output;
	bool uncertain = false, marked = false;

	if (!diff->causes->len)
		return;
	text_heading(output, "What the difference is made of, in the mean of a request");
	text_table_heading(report, &table);
	for (guint i = 0; i < diff->causes->len; i++) {
		const struct difference *at = &g_array_index(diff->causes, struct difference, i);
		double difference = at->mean[1] - at->mean[0];

		if (shown == count || fabs(difference) < least || difference == 0) {
			small++;
			continue;
		}
		shown++;
		uncertain |= difference_is_chance(at);
		marked |= text_table_row(report, &table, at, 0);
	}
	if (!shown)
		fprintf(output->file, "  Nothing: the causes cost the same on both sides.\n");
	else
		text_omitted_of(output, 2, small, ", smaller or the same");
	if (uncertain)
		text_wrapped(output,
			     "?: requests of one side differ as much among themselves, so this may "
			     "be chance; what only few requests have is marked too, though it may "
			     "be why these are slow",
			     2, 5);
	text_gap_note(output, marked);
}

/* Which of `count` steps from `from` on are the longest; free with g_free(). */
static bool *longest_steps(const GArray *steps, guint from, guint count, guint wanted)
{
	const struct step *first = count ? &g_array_index(steps, struct step, from) : NULL;
	bool *chosen = g_new0(bool, count + 1);

	for (guint n = 0; n < MIN(wanted, count); n++) {
		guint best = count;

		for (guint i = 0; i < count; i++)
			if (!chosen[i] &&
			    (best == count ||
			     first[i].end - first[i].begin > first[best].end - first[best].begin))
				best = i;
		chosen[best] = true;
	}
	return chosen;
}

/* The longest, in order of time. */
static void step_lines(const struct diff *diff, const struct divergence *at, int side,
		       struct output *output)
{
	const GArray *steps = diff->alignment->steps[side];
	guint count = at->until[side] - at->from[side], left = 0;
	g_autofree bool *shown =
		longest_steps(steps, at->from[side], count, verbose(diff) ? count : STEPS_SHOWN);
	int64_t rest = 0;
	char ns[32];

	for (guint i = 0; i < count; i++) {
		const struct step *step = &g_array_index(steps, struct step, at->from[side] + i);
		g_autofree char *line = NULL;

		if (!shown[i]) {
			rest += step->end - step->begin;
			left++;
			continue;
		}
		line = g_strdup_printf("%c: %s %s: %s", 'A' + side,
				       when_duration(ns, step->end - step->begin), step->kind,
				       step->label);
		text_wrapped(output, line, 6, 9);
	}
	if (left)
		fprintf(output->file, "      %c: %s in %u shorter step%s\n", 'A' + side,
			when_duration(ns, rest), left, left == 1 ? "" : "s");
}

static void divergences(const struct diff *diff, struct output *output)
{
	const struct alignment *alignment = diff->alignment;
	const struct user_request *a, *b;
	g_autoptr(GString) line = g_string_new(NULL);
	g_autofree char *matched = NULL;
	guint count, shown = 0;
	double least;

	if (!alignment || session_of(diff)->asked.options->requests.metric != METRIC_LATENCY)
		return;
	a = user_request_at(diff->sides[0].requests, diff->aligned[0]);
	b = user_request_at(diff->sides[1].requests, diff->aligned[1]);
	count = limit_of(diff, alignment->divergences->len);
	least = verbose(diff) ? 0
			      : LEAST_SHARE * (double) MAX(a->end - a->begin, b->end - b->begin);
	g_string_printf(line, "Where the ways of A's #%u and B's #%u part%s", a->id, b->id,
			diff->sides[0].requests->listed->len > 1 ||
					diff->sides[1].requests->listed->len > 1
				? diff->retimed ? " (it changes most)" : " (the medians)"
				: "");
	text_heading(output, line->str);
	for (guint i = 0; i < alignment->divergences->len; i++) {
		const struct divergence *at =
			&g_array_index(alignment->divergences, struct divergence, i);
		g_autofree char *ns = diff_value_text(diff, (double) at->difference, true);

		if (shown == count || fabs((double) at->difference) < least || !at->difference)
			continue;
		shown++;
		fprintf(output->file, "  %s\n", ns);
		step_lines(diff, at, 0, output);
		step_lines(diff, at, 1, output);
	}
	matched = diff_value_text(diff,
				  (double) (alignment->matched_ns[1] - alignment->matched_ns[0]),
				  true);
	g_string_printf(line, "%u steps are the same on both, and take %s%s", alignment->matched,
			matched, alignment->matched ? " in B" : "");
	if (shown < alignment->divergences->len)
		g_string_append_printf(line, "; %u other places differ by less",
				       alignment->divergences->len - shown);
	text_wrapped(output, line->str, 2, 4);
}

struct part_change {
	int part;
	double change;
};

static int largest_part(gconstpointer a, gconstpointer b)
{
	double x = fabs(((const struct part_change *) a)->change),
	       y = fabs(((const struct part_change *) b)->change);

	if (x != y)
		return x > y ? -1 : 1;
	return ((const struct part_change *) a)->part - ((const struct part_change *) b)->part;
}

/* "own work in the kernel +1.2 ms, preempted +0.8 ms". */
static void made_of(const struct call_difference *call, struct output *output)
{
	struct part_change changes[CALL_PARTS];
	g_autoptr(GString) line = g_string_new("a call: ");
	char ns[32];
	int shown = 0;

	for (int part = 0; part < CALL_PARTS; part++)
		changes[part] =
			(struct part_change) {part, call->parts[1][part] - call->parts[0][part]};
	qsort(changes, CALL_PARTS, sizeof *changes, largest_part);
	for (int i = 0; i < PARTS_SHOWN && fabs(changes[i].change) >= 1; i++)
		g_string_append_printf(line, "%s%s %s%s", shown++ ? ", " : "",
				       call_part_text((enum call_part) changes[i].part),
				       changes[i].change < 0 ? "-" : "+",
				       when_duration(ns, llround(fabs(changes[i].change))));
	if (shown)
		text_wrapped(output, line->str, 6, 8);
}

static void calls_below(const struct report *report, const void *row)
{
	const struct call_difference *call = row;

	if (call_on_both(call))
		made_of(call, report->output);
	if (call->traits)
		traits_text(call->traits, call->mean[1] >= call->mean[0] ? "B's" : "A's", 6,
			    report->output);
}

static void calls(const struct report *report, const struct diff *diff)
{
	static const struct text_table table = {.columns = call_difference_columns,
						.below = calls_below};
	guint count = limit_of(diff, diff->calls->len), shown = 0, same = 0;
	struct output *output = report->output;

	if (!diff->calls->len)
		return;
	text_heading(output, diff->sides[0].of_requests
				     ? "System calls made for them whose latencies differ"
				     : "System calls whose latencies differ");
	for (guint i = 0; i < diff->calls->len; i++) {
		const struct call_difference *call =
			&g_array_index(diff->calls, struct call_difference, i);

		if ((call_on_both(call) && !call->significant && !verbose(diff)) ||
		    shown == count) {
			same++;
			continue;
		}
		if (!shown++)
			text_table_heading(report, &table);
		text_table_row(report, &table, call, 0);
	}
	if (!shown)
		fprintf(output->file,
			diff->retimed ? "  None, of %u.\n" : "  None beyond chance, of %u.\n",
			diff->calls->len);
	else if (same && diff->retimed)
		fprintf(output->file, "  %u others take as long; --limit 0 shows all\n", same);
	else if (same)
		fprintf(output->file,
			"  %u others differ by no more than chance, or by less; --limit 0 shows "
			"all\n",
			same);
}

/* "in main > parse": where the calls part. */
static void append_stack(GString *line, const struct call_fork *fork)
{
	for (guint i = 0; i < fork->stack->len; i++)
		g_string_append_printf(line, "%s%s", i ? " > " : " in ",
				       (char *) g_ptr_array_index(fork->stack, i));
}

static void fork_line(const struct report *report, const void *row)
{
	const struct session *session = report->session;
	const struct call_fork *fork = row;
	g_autoptr(GString) line = g_string_new(session_thread_name(session, fork->thread[0]));
	char when[48];

	if (fork->same) {
		g_string_append_printf(line, ": the same %" PRIu64 " calls", fork->alike);
		text_wrapped(report->output, line->str, 2, 4);
		return;
	}
	g_string_append_printf(line, ": %" PRIu64 " calls alike", fork->alike);
	if (fork->last)
		g_string_append_printf(line, ", the last %s", fork->last);
	g_string_append(line, "; then");
	append_stack(line, fork);
	for (int side = 0; side < 2; side++) {
		g_string_append_printf(line, "%s %c", side ? "," : "", 'A' + side);
		if (fork->next[side])
			g_string_append_printf(line, " calls %s at %s", fork->next[side],
					       when_time(when, fork->at[side],
							 session->asked.options->utc, false));
		else
			g_string_append(line, " calls nothing more");
	}
	text_wrapped(report->output, line->str, 2, 4);
}

/* --- the ways to a target ----------------------------------------------------------------- */

/* "A: startup-base: 1.093 s from [13:50:09.728037640] to [13:50:10.821315720]" */
static void way_line(const struct diff *diff, int side, struct output *output)
{
	const struct target *target = diff->target;
	bool utc = session_of(diff)->asked.options->utc;
	g_autofree char *label = text_safe(diff->sides[side].label), *line = NULL;
	char ns[32], from[48], to[48];

	line = g_strdup_printf("%c: %s: %s, from %s to %s", 'A' + side, label,
			       when_duration(ns, target_ns(target, side)),
			       when_time(from, target->from[side], utc, false),
			       when_time(to, target->to[side], utc, false));
	text_wrapped(output, line, 0, 3);
}

/* The answer comes first. */
static void target_head(const struct diff *diff, struct output *output)
{
	const struct target *target = diff->target;
	g_autofree char *line = NULL;

	text_wrapped(output, target->verdict, 0, 2);
	if (target->caution)
		text_wrapped(output, target->caution, 0, 2);
	fputc('\n', output->file);
	line = g_strdup_printf("Both from %s to %s", target->begin, target->end);
	text_wrapped(output, line, 0, 2);
	for (int side = 0; side < 2; side++)
		way_line(diff, side, output);
	hosts(diff, text_machines, output);
}

/* The largest, and how much the others make together: so all of it is there. */
static void target_parts(const struct diff *diff, struct output *output)
{
	const GArray *parts = diff->target->parts;
	guint count = limit_of(diff, parts->len), shown = 0;
	double least = verbose(diff) ? 0 : LEAST_SHARE * MAX(diff->mean[0], diff->mean[1]);
	int64_t rest = 0;
	char ns[32];

	text_heading(output, "What the difference is made of, along both critical paths");
	for (guint i = 0; i < parts->len; i++) {
		const struct target_part *part = &g_array_index(parts, struct target_part, i);

		if (shown == count || fabs((double) part_difference(part)) < least) {
			rest += part_difference(part);
			continue;
		}
		shown++;
		text_wrapped(output, part->sentence, 2, 4);
	}
	if (shown < parts->len)
		fprintf(output->file, "  [... %u more, %s %s together; --limit 0 shows all ...]\n",
			parts->len - shown, when_duration(ns, llabs(rest)),
			rest < 0 ? "sooner" : "later");
}

/* Those whose difference is no chance of sampling. */
static void functions(const struct report *report, const struct diff *diff)
{
	static const struct text_table table = {.columns = function_difference_columns};
	guint shown = 0;

	if (!diff->functions->len)
		return;
	text_heading(report->output, "Functions that take longer or shorter, by samples");
	for (guint i = 0; i < diff->functions->len; i++) {
		const struct function_difference *at =
			&g_array_index(diff->functions, struct function_difference, i);

		if (!at->significant || shown == limit_of(diff, diff->functions->len))
			continue;
		if (!shown++)
			text_table_heading(report, &table);
		text_table_row(report, &table, at, 0);
	}
	if (!shown)
		fputs("  None by more than chance allows of so many samples.\n",
		      report->output->file);
}

static void counters(const struct diff *diff, struct output *output)
{
	if (!diff->counters || !diff->counters->len)
		return;
	text_heading(output, "Threads that ran longer or shorter, by hardware counters");
	for (guint i = 0; i < limit_of(diff, diff->counters->len); i++) {
		const struct counter_difference *at = g_ptr_array_index(diff->counters, i);

		text_wrapped(output, at->sentence, 2, 4);
	}
}

static void apart(const struct diff *diff, struct output *output)
{
	bool b_slow = diff->mean[1] >= diff->mean[0];

	if (!diff->traits || (!diff->traits->told->len && diff->traits->outcome != SEARCH_TOO_FEW))
		return;
	text_heading(output, b_slow ? "What sets B's requests apart from A's"
				    : "What sets A's requests apart from B's");
	traits_text(diff->traits, b_slow ? "B's" : "A's", 2, output);
}

void diff_text(const struct diff *diff, struct output *output)
{
	struct report report = {session_of(diff), diff, output};

	if (diff->retimed) {
		text_hosts(session_of(diff), output);
		replay_heading(diff->retimed->replay, 0, output);
	}
	if (diff->target) {
		target_head(diff, output);
		target_parts(diff, output);
	} else {
		head(diff, output);
		apart(diff, output);
		causes(&report, diff);
		divergences(diff, output);
	}
	if (diff->settings)
		settings_text(diff->settings, limit_of(diff, diff->settings->list->len), output);
	if (diff->forks->len)
		text_heading(output, "Functions called, up to the first difference");
	text_lines(&report, ROWS(diff->forks), fork_line);
	functions(&report, diff);
	counters(diff, output);
	calls(&report, diff);
	for (int side = 0; side < sides_told(diff); side++) {
		if (sides_told(diff) > 1)
			fprintf(output->file, "\nOf %c's trace:", 'A' + side);
		text_coverage_now(diff->sides[side].session, output);
	}
}
