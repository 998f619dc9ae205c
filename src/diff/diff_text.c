/* SPDX-License-Identifier: MIT */
/* What differs between two sides, for people; see diff/diff.h. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "diff/call_forks.h"
#include "diff/diff.h"
#include "report/report.h"

#define STEPS_SHOWN 4  /* of each side of a divergence */
#define PARTS_SHOWN 4  /* of what a system call's change is made of */
#define LEAST_SHARE 0.005 /* of the larger side: less is not told */

static const struct session *session_of(const struct diff *diff)
{
	return diff->sides[0].session;
}

static guint limit_of(const struct diff *diff, guint count)
{
	guint limit = session_of(diff)->asked.options->limit;

	return limit ? MIN(limit, count) : count;
}

static bool verbose(const struct diff *diff)
{
	return session_of(diff)->asked.options->verbose || !session_of(diff)->asked.options->limit;
}

/* "13.6 ms", "1.5 MB", "312": a value of the metric, with "+" or "-" if `sign`. buffer of 32. */
static const char *value_text(const struct diff *diff, char *buffer, double value, bool sign)
{
	const char *unit = metric_unit(session_of(diff)->asked.options->requests.metric);
	char text[32];

	if (strcmp(unit, "ns") == 0)
		when_duration(text, llround(fabs(value)));
	else if (strcmp(unit, "bytes") == 0)
		g_snprintf(text, sizeof text, "%.1f kB", fabs(value) / 1000);
	else
		g_snprintf(text, sizeof text, "%.1f", fabs(value));
	g_snprintf(buffer, 32, "%s%s", value < 0 ? "-" : sign ? "+" : "", text);
	return buffer;
}

static void head(const struct diff *diff, struct output *output)
{
	char mean[32], difference[32];

	text_hosts(session_of(diff), output);
	if (diff->sides[1].session != session_of(diff))
		text_hosts(diff->sides[1].session, output);
	for (int side = 0; side < 2; side++) {
		const struct side *at = &diff->sides[side];
		guint n = at->requests->listed->len, spanning;
		g_autofree char *label = text_safe(at->label);

		spanning = 0;
		for (guint i = 0; i < n; i++)
			spanning +=
				user_request_at(at->requests,
						g_array_index(at->requests->listed, uint32_t, i))
					->spans_gap;
		fprintf(output->file, "%c: %s: %u %s request%s", 'A' + side, label, n,
			user_request_kind(at->requests), n == 1 ? "" : "s");
		if (spanning)
			fprintf(output->file, " (%u of them span lost events: not to be trusted)",
				spanning);
		if (n)
			fprintf(output->file, ", %s%s",
				value_text(diff, mean, diff->mean[side], false),
				n == 1 ? "" : " each in the mean");
		if (at->costs->not_followed)
			fprintf(output->file, "; the ways of %u were not looked for",
				at->costs->not_followed);
		fputc('\n', output->file);
	}
	if (!diff->alignment && session_of(diff)->asked.options->requests.preset == PRESET_SERVER)
		fputs("--preset process, client or syscall:NAME may find requests on both sides.\n",
		      output->file);
	if (diff->alignment)
		fprintf(output->file, "B less A: %s a request\n",
			value_text(diff, difference, diff->mean[1] - diff->mean[0], true));
}

static void causes(const struct diff *diff, struct output *output)
{
	guint count = limit_of(diff, diff->causes->len), shown = 0, small = 0;
	double least = verbose(diff) ? 0 : LEAST_SHARE * MAX(diff->mean[0], diff->mean[1]);
	bool uncertain = false, marked = false, gap;
	char columns[3][32], of[32];

	if (!diff->causes->len)
		return;
	text_heading(output, "What the difference is made of, in the mean of a request");
	fprintf(output->file, "  %11s %10s %10s  %11s    %-13s %s\n", "DIFFERENCE", "A", "B",
		"IN A, B", "KIND", "CAUSE");
	for (guint i = 0; i < diff->causes->len; i++) {
		const struct difference *at = &g_array_index(diff->causes, struct difference, i);
		double difference = at->mean[1] - at->mean[0];
		g_autofree char *label = text_safe(at->label);
		bool chance = at->error >= 0 && !at->significant;

		if (shown == count || fabs(difference) < least || difference == 0) {
			small++;
			continue;
		}
		shown++;
		uncertain |= chance;
		gap = (at->seen[0] && at->seen[0]->spans_gap) ||
		      (at->seen[1] && at->seen[1]->spans_gap);
		marked |= gap;
		value_text(diff, columns[0], difference, true);
		value_text(diff, columns[1], at->mean[0], false);
		value_text(diff, columns[2], at->mean[1], false);
		g_snprintf(of, sizeof of, "%u, %u", at->requests[0], at->requests[1]);
		fprintf(output->file, "  %*s %*s %*s  %11s %c%c %-13s %s",
			text_width(11, columns[0]), columns[0], text_width(10, columns[1]),
			columns[1], text_width(10, columns[2]), columns[2], of, gap ? '*' : ' ',
			chance ? '?' : ' ', at->kind, label);
		if (at->change)
			fprintf(output->file, " [%s]", change_text(at->change));
		fputc('\n', output->file);
	}
	if (!shown)
		fprintf(output->file, "  Nothing: the causes cost the same on both sides.\n");
	else if (small)
		fprintf(output->file,
			"  [... %u more, smaller or the same; --limit 0 shows all ...]\n", small);
	if (uncertain)
		text_wrapped(output,
			     "?: requests of one side differ as much among themselves, so this "
			     "may be chance. So is marked what only few requests have, "
			     "though it may be why these are slow",
			     2, 5);
	text_gap_note(output, marked);
}

static void steps(const struct diff *diff, const struct divergence *at, int side,
		  struct output *output)
{
	const GArray *list = diff->alignment->steps[side];
	guint count = at->until[side] - at->from[side];
	bool *shown = g_new0(bool, count + 1);
	char ns[32];
	int64_t rest = 0;
	guint left = 0;

	/* the longest, in order of time */
	for (guint n = 0; n < (verbose(diff) ? count : STEPS_SHOWN) && n < count; n++) {
		guint best = count;

		for (guint i = 0; i < count; i++) {
			const struct step *step =
				&g_array_index(list, struct step, at->from[side] + i);
			const struct step *most =
				best < count
					? &g_array_index(list, struct step, at->from[side] + best)
					: NULL;

			if (!shown[i] &&
			    (!most || step->end - step->begin > most->end - most->begin))
				best = i;
		}
		shown[best] = true;
	}
	for (guint i = 0; i < count; i++) {
		const struct step *step = &g_array_index(list, struct step, at->from[side] + i);
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
	g_free(shown);
}

static void divergences(const struct diff *diff, struct output *output)
{
	const struct alignment *alignment = diff->alignment;
	const struct user_request *a, *b;
	g_autoptr(GString) line = g_string_new(NULL);
	guint count, shown = 0;
	double least;
	char ns[32], matched[32];

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
				? " (the medians)"
				: "");
	text_heading(output, line->str);
	for (guint i = 0; i < alignment->divergences->len; i++) {
		const struct divergence *at =
			&g_array_index(alignment->divergences, struct divergence, i);

		if (shown == count || fabs((double) at->difference) < least || !at->difference)
			continue;
		shown++;
		fprintf(output->file, "  %s\n",
			value_text(diff, ns, (double) at->difference, true));
		steps(diff, at, 0, output);
		steps(diff, at, 1, output);
	}
	g_string_printf(line, "%u steps are the same on both, and take %s%s", alignment->matched,
			value_text(diff, matched,
				   (double) (alignment->matched_ns[1] - alignment->matched_ns[0]),
				   true),
			alignment->matched ? " in B" : "");
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

/* "1.033 ms, 1.210 ms"; buffer of 64. */
static void pair_text(char *buffer, const uint32_t *names, const double *values)
{
	char first[32] = "-", second[32] = "-";

	if (names[0])
		when_duration(first, llround(values[0]));
	if (names[1])
		when_duration(second, llround(values[1]));
	g_snprintf(buffer, 64, "%s, %s", first, second);
}

static void calls(const struct diff *diff, struct output *output)
{
	guint count = limit_of(diff, diff->calls->len), shown = 0, same = 0;
	char columns[4][64], distance[32], sum[32];

	if (!diff->calls->len)
		return;
	text_heading(output, diff->sides[0].of_requests
				     ? "System calls made for them whose latencies differ"
				     : "System calls whose latencies differ");
	for (guint i = 0; i < diff->calls->len; i++) {
		const struct call_difference *call =
			&g_array_index(diff->calls, struct call_difference, i);
		int side = call->name[0] ? 0 : 1;
		bool both = call->name[0] && call->name[1];
		g_autofree char *name =
			text_safe(session_text(diff->sides[side].session, call->name[side]));

		if ((both && !call->significant && !verbose(diff)) || shown == count) {
			same++;
			continue;
		}
		if (!shown)
			fprintf(output->file, "  %-16s %15s %21s %21s %11s %8s\n", "", "CALLS A, B",
				"MEDIAN A, B", "MEAN A, B", "SUM B-A", "OCTAVES");
		shown++;
		g_snprintf(distance, sizeof distance, "%.2f", call->distance);
		g_snprintf(columns[0], sizeof columns[0], "%" PRIu64 ", %" PRIu64, call->count[0],
			   call->count[1]);
		pair_text(columns[1], call->name, call->median);
		pair_text(columns[2], call->name, call->mean);
		g_snprintf(columns[3], sizeof columns[3], "%s%s",
			   call->contribution < 0 ? "-" : "+",
			   when_duration(sum, llround(fabs(call->contribution))));
		fprintf(output->file, "  %-16s %15s %*s %*s %*s %8s%s\n", name, columns[0],
			text_width(21, columns[1]), columns[1], text_width(21, columns[2]),
			columns[2], text_width(11, columns[3]), columns[3], both ? distance : "-",
			both && !call->significant ? " (chance)" : "");
		if (both)
			made_of(call, output);
	}
	if (!shown)
		fprintf(output->file, "  None beyond chance, of %u.\n", diff->calls->len);
	else if (same)
		fprintf(output->file,
			"  %u others differ by chance at most, or by less; --limit 0 shows "
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

static void forks(const struct diff *diff, struct output *output)
{
	guint limit = session_of(diff)->asked.options->limit;
	char when[48];

	if (!diff->forks->len)
		return;
	text_heading(output, "Functions called, up to the first difference");
	for (guint i = 0; i < diff->forks->len && (!limit || i < limit); i++) {
		const struct call_fork *fork = &g_array_index(diff->forks, struct call_fork, i);
		g_autoptr(GString) line =
			g_string_new(session_thread_name(diff->sides[0].session, fork->thread[0]));

		if (fork->same) {
			g_string_append_printf(line, ": the same %" PRIu64 " calls", fork->alike);
			text_wrapped(output, line->str, 2, 4);
			continue;
		}
		g_string_append_printf(line, ": %" PRIu64 " calls alike", fork->alike);
		if (fork->last)
			g_string_append_printf(line, ", the last %s", fork->last);
		g_string_append(line, "; then");
		append_stack(line, fork);
		for (int side = 0; side < 2; side++) {
			g_string_append_printf(line, "%s %c", side ? "," : "", 'A' + side);
			if (fork->next[side])
				g_string_append_printf(
					line, " calls %s at %s", fork->next[side],
					when_time(when, fork->at[side],
						  session_of(diff)->asked.options->utc, false));
			else
				g_string_append(line, " calls nothing more");
		}
		text_wrapped(output, line->str, 2, 4);
	}
	if (limit && diff->forks->len > limit)
		fprintf(output->file, "  [... %u more; --limit 0 shows all ...]\n",
			diff->forks->len - limit);
}

void diff_text(const struct diff *diff, struct output *output)
{
	struct coverage coverage;

	head(diff, output);
	causes(diff, output);
	divergences(diff, output);
	forks(diff, output);
	calls(diff, output);
	for (int side = 0; side < 2; side++) {
		if (side && diff->sides[1].session == session_of(diff))
			break;
		if (diff->sides[1].session != session_of(diff))
			fprintf(output->file, "\nOf %c's trace:", 'A' + side);
		coverage_init(&coverage, diff->sides[side].session);
		text_coverage(diff->sides[side].session, &coverage, output);
		coverage_clear(&coverage);
	}
}
