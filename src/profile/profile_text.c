/* SPDX-License-Identifier: MIT */
/* The profile report for people; see latencies/profile.h and roots.h. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "latencies/rhythm.h"
#include "latencies/roots.h"
#include "profile/profile_functions.h"
#include "profile/profile_report.h"
#include "profile/profile_what_if.h"
#include "profile/profile_worth.h"
#include "findings/findings.h"

#define DETAILED 5      /* operations shown in full when none was named */
#define SMALL_SHARE 0.005
#define RESOURCES_SHOWN 3

static guint limit_of(const struct profiles *profiles, guint count)
{
	return rows_limited(profiles->session, count);
}

static const char *operations_word(uint64_t count)
{
	return count == 1 ? "operation" : "operations";
}

/* --- root causes ---------------------------------------------------------------------------- */

/* What the last element of a path says, for people. */
static char *root_meaning(const struct root *root)
{
	const struct part *part = root->part;
	GString *text = g_string_new(NULL);

	if (root->own)
		g_string_append(text, g_str_has_prefix(part->node, "b")
					      ? "besides its parts"
					      : "itself, besides what it called");
	else if (g_str_has_prefix(part->node, "blocked/lock:"))
		g_string_append(text, "inferred: a lock in the kernel that the waker's call on the "
				      "same file held");
	else if (strcmp(part->node, "idle") == 0)
		g_string_append(text, "nobody ran there: the time it took to wake up");
	else if (part->label)
		g_string_append(text, part->label);
	if ((root->own || part_is_own(part)) && part->loops)
		g_string_append_printf(text,
				       "%sin %" PRIu64 " of them many smaller parts that add up",
				       text->len ? "; " : "", part->loops);
	if (part->cut)
		g_string_append_printf(text, "%smore below: raise --depth", text->len ? "; " : "");
	if (part->spans_gap)
		g_string_append_printf(text, "%ssome spans lost events: it may not be real",
				       text->len ? "; " : "");
	return g_string_free(text, FALSE);
}

/* "blocked on file: /a 60 %, /b 20 % and 38 others", for each wait of the path. */
static void resource_lines(const struct root *root, struct output *output)
{
	g_autoptr(GString) line = g_string_new(NULL);
	char share[16];

	for (const struct part *part = root->part; part; part = part->parent) {
		g_autofree char *name = NULL;
		guint shown = 0;

		if (!part->resources || strchr(part->node, ':') ||
		    !strchr(g_array_index(part->resources, struct part_resource, 0).key, ':'))
			continue;
		name = part_words(part->node);
		g_string_printf(line, "%s:", name);
		for (; shown < part->resources->len && shown < RESOURCES_SHOWN; shown++) {
			const struct part_resource *at =
				&g_array_index(part->resources, struct part_resource, shown);

			g_string_append_printf(line, "%s %s", shown ? "," : "",
					       resource_name(at->key));
			if (part->resources->len > 1)
				g_string_append_printf(line, " %s",
						       profile_percent(share, at->ns, part->ns));
		}
		if (shown < part->resources->len)
			g_string_append_printf(line, " and %u more", part->resources->len - shown);
		text_wrapped(output, line->str, 8, 2);
	}
}

static void example_line(const struct session *session, const struct root *root,
			 struct output *output)
{
	const struct example *example = root_example(root);
	g_autoptr(GString) line = g_string_new("e.g. ");
	char when[48], length[32], part[32];

	if (example->latency < 0)
		return;
	if (example->thread < session->trace.model.thread_count)
		g_string_append_printf(line, "%s (%d)%s, ",
				       session_thread_name(session, example->thread),
				       model_thread(&session->trace.model, example->thread)->tid,
				       session_on(session, example->thread));
	g_string_append_printf(line, "%s from %s",
			       when_duration(length, example->end - example->begin),
			       when_time(when, example->begin, session->asked.options->utc, false));
	if (example->latency != example->end - example->begin)
		g_string_append_printf(line, ", %s of it this",
				       when_duration(part, example->latency));
	text_wrapped(output, line->str, 8, 2);
	if (example->thread < session->trace.model.thread_count)
		text_suggestion(session,
				&(struct suggestion) {.command = "delay",
						      .thread = &example->thread,
						      .from = example->begin,
						      .to = example->end},
				10, output);
}

/* "blocked on file > waiting for CPU": what the operations' time went to. */
static char *root_words(const struct root *root)
{
	g_autoptr(GPtrArray) path = root_path(root);

	for (guint i = 0; i < path->len; i++) {
		char *plain = g_ptr_array_index(path, i);

		path->pdata[i] = i == 1 && part_is_own(root->part) ? g_strdup("its own work")
								   : part_words(plain);
		g_free(plain);
	}
	g_ptr_array_add(path, NULL);
	return g_strjoinv(" > ", (char **) path->pdata);
}

/* `before`: the first words of the line, "". */
static void root_lines(const struct session *session, const struct peak *peak,
		       const struct root *root, const char *before, struct output *output)
{
	g_autofree char *joined = root_words(root), *meaning = root_meaning(root);
	g_autofree char *worth = root_worth_words(root);
	g_autofree char *functions = root_functions_words(root);
	g_autoptr(GString) line = g_string_new(NULL);
	char share[16];

	g_string_append_printf(line, "%s%" PRIu64 " of %" PRIu64 ", %s of the time: %s", before,
			       root->maxcount, peak->count,
			       profile_percent(share, root->ns, peak->sum), joined);
	if (*meaning)
		g_string_append_printf(line, " (%s)", meaning);
	if (worth)
		g_string_append_printf(line, ". %s", worth);
	text_wrapped(output, line->str, 6, 4);
	resource_lines(root, output);
	if (functions)
		text_wrapped(output, functions, 8, 2);
	example_line(session, root, output);
}

static int most_time(gconstpointer a, gconstpointer b)
{
	const struct part *x = *(struct part *const *) a, *y = *(struct part *const *) b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->node, y->node);
}

/* How the make-up changes from bucket to bucket, where there is more than one
 * part to it. */
static void make_up(const struct profiles *profiles, const struct peak *peak, struct output *output)
{
	g_autoptr(GPtrArray) parts = g_ptr_array_new();
	guint columns;
	char from[32], share[16];

	for (guint i = 0; i < peak->tree->children->len; i++) {
		struct part *part = g_ptr_array_index(peak->tree->children, i);

		if ((double) part->ns >= SMALL_SHARE * (double) peak->sum)
			g_ptr_array_add(parts, part);
	}
	if (parts->len < 2)
		return;
	g_ptr_array_sort(parts, most_time);
	columns = MIN(MIN(parts->len, (guint) MAX((output->width - 25) / 8, 4)), 26);
	fprintf(output->file, "      Time by bucket:\n");
	for (guint i = 0; i < columns; i++) {
		const struct part *part = g_ptr_array_index(parts, i);
		g_autofree char *name =
			part_is_own(part) ? g_strdup("its own work") : part_words(part->node);
		g_autofree char *safe = text_safe(name);

		fprintf(output->file, "        (%c) ", 'a' + (int) i);
		if (part->functions && part->functions->len > 1)
			fprintf(output->file, "%s() ... ",
				(char *) g_ptr_array_index(part->functions,
							   part->functions->len / 2));
		fprintf(output->file, "%s\n", safe);
	}
	fprintf(output->file, "        %6s %10s", "BUCKET", "FROM");
	for (guint i = 0; i < columns; i++)
		fprintf(output->file, "     (%c)", 'a' + (int) i);
	fputc('\n', output->file);
	for (guint b = peak->range.first; b <= peak->range.last; b++) {
		int64_t all = peak->tree->by_bucket[b - peak->range.first];

		if (!all)
			continue;
		fprintf(output->file, "        %6u %10s", b,
			when_duration(from, profiles->buckets.from[b]));
		for (guint i = 0; i < columns; i++)
			fprintf(output->file, " %7s",
				profile_percent(share,
						((struct part *) g_ptr_array_index(parts, i))
							->by_bucket[b - peak->range.first],
						all));
		fputc('\n', output->file);
	}
}

/* --- peaks ---------------------------------------------------------------------------------- */

/* How much of the peak's time the paths are about. */
static double explained(const struct peak *peak)
{
	int64_t ns = 0;

	for (guint i = 0; i < peak->roots->len; i++)
		ns += g_array_index(peak->roots, struct root, i).ns;
	return peak->sum > 0 ? (double) ns / (double) peak->sum : 1;
}

static void peak_lines(const struct profiles *profiles, const struct profile *profile, guint number,
		       const struct peaks_apart *apart, struct output *output)
{
	const struct session *session = profiles->session;
	const struct peak *peak = &g_array_index(profile->peaks, struct peak, number - 1);
	guint shown = limit_of(profiles, peak->roots->len);
	g_autoptr(GString) line = g_string_new(NULL);
	char from[32], to[32], calls[16], time[16];
	struct root most;

	g_string_append_printf(
		line,
		"Peak %u, buckets %u to %u (%s to %s), highest at %u: %" PRIu64
		" %s (%s), %s of the time; %s",
		number, peak->range.first, peak->range.last,
		when_duration(from, profiles->buckets.from[peak->range.first]),
		when_duration(to, profiles->buckets.from[peak->range.last + 1]), peak->range.mode,
		peak->count, operations_word(peak->count),
		profile_percent(calls, (int64_t) peak->count, (int64_t) profile->count),
		profile_percent(time, peak->sum, profile->sum), peak_status_text(peak->status));
	if (explained(peak) < 0.9)
		g_string_append_printf(line, ", for %.0f %% of the time", 100 * explained(peak));
	if (peak->spans_gap)
		g_string_append_printf(line, "; %" PRIu64 " span lost events: they may not be real",
				       peak->spans_gap);
	text_wrapped(output, line->str, 2, 4);
	if (peak->rhythm) {
		g_string_printf(line, "Rhythm: %s", peak->rhythm->sentence);
		text_wrapped(output, line->str, 6, 4);
	}
	for (guint i = 0; i < shown; i++)
		root_lines(session, peak, &g_array_index(peak->roots, struct root, i), "", output);
	text_omitted_of(output, 6, peak->roots->len - shown, "");
	if (roots_most_time(peak, &most))
		root_lines(session, peak, &most, "More time than any of these: ", output);
	if (peak_traits(apart, peak))
		traits_text(peak_traits(apart, peak), "it", 6, output);
	make_up(profiles, peak, output);
}

static guint first_bucket(const struct profiles *profiles, const struct profile *profile)
{
	guint bucket = 0;

	while (bucket + 1 < profiles->buckets.count && !profile->counts[bucket])
		bucket++;
	return bucket;
}

static guint last_bucket(const struct profiles *profiles, const struct profile *profile)
{
	guint bucket = profiles->buckets.count - 1;

	while (bucket && !profile->counts[bucket])
		bucket--;
	return bucket;
}

/* One line a segment, one column a bucket; the darker, the more. */
static void heat(const struct profiles *profiles, const struct profile *profile,
		 struct output *output)
{
	static const char shades[] = ".:-=+*#%@";
	guint first = first_bucket(profiles, profile), last = last_bucket(profiles, profile);
	uint64_t most = 1;
	char from[48];

	for (guint i = 0; i < profile->lapses->len; i++) {
		const struct lapse *lapse = &g_array_index(profile->lapses, struct lapse, i);

		for (guint b = first; lapse->counts && b <= last; b++)
			most = MAX(most, lapse->counts[b]);
	}
	fprintf(output->file,
		"  Over time, by when they began; buckets %u to %u; . is 1, @ up to %" PRIu64 "\n",
		first, last, most);
	fprintf(output->file, "  %20s  ", "");
	for (guint b = first; b <= last; b++)
		fprintf(output->file, "%u", b % 10);
	fputc('\n', output->file);
	for (guint i = 0; i < profile->lapses->len; i++) {
		const struct lapse *lapse = &g_array_index(profile->lapses, struct lapse, i);
		uint64_t calls = 0;

		fprintf(output->file, "  %20s |",
			when_time(from,
				  profiles->session->asked.from +
					  (int64_t) i * profiles->lapse_step,
				  profiles->session->asked.options->utc, false));
		for (guint b = first; b <= last; b++) {
			uint64_t count = lapse->counts ? lapse->counts[b] : 0;
			double level = log((double) MAX(count, 1)) / log((double) MAX(most, 2));

			calls += count;
			fputc(count ? shades[(int) lround(level * (sizeof shades - 2))] : ' ',
			      output->file);
		}
		fprintf(output->file, "| %" PRIu64 "\n", calls);
	}
}

/* What the latencies follow, over all operations. */
static void correlation_lines(const struct profile_report *made, const struct profile *profile,
			      struct output *output)
{
	const GPtrArray *list = profile_correlations(made->apart, profile);

	for (guint i = 0; list && i < list->len; i++) {
		const struct correlation *at = g_ptr_array_index(list, i);
		g_autofree char *line = g_strdup_printf("Latency by %s (%" PRIu64 " operations)",
							at->sentence, at->count);

		text_wrapped(output, line, 2, 4);
	}
}

/* The saved one, or the re-timed one; into `there`. */
static struct beside beside_of(const struct profile_report *made, const struct profile *profile,
			       uint64_t *there)
{
	const struct profile *then = profile_then(made->what_if, profile);

	if (then)
		return (struct beside) {then->counts, "THEN", "(bars: recorded # | then =)"};
	return (struct beside) {made->compared && saved_counts(made->compared, profile, there,
							       made->profiles->buckets.count)
					? there
					: NULL,
				"SAVED", "(bars: now # | saved =)"};
}

static void details(const struct profile_report *made, const struct profile *profile,
		    struct output *output)
{
	const struct profiles *profiles = made->profiles;
	g_autofree uint64_t *there = g_new0(uint64_t, profiles->buckets.count);
	struct beside beside = beside_of(made, profile, there);
	g_autofree char *heading = profile_title(profile);
	g_autoptr(GString) line = g_string_new(NULL);
	char texts[6][32];

	text_heading(output, heading);
	g_string_append_printf(line, "%" PRIu64 " %s, %s in all, from %s to %s", profile->count,
			       operations_word(profile->count),
			       when_duration(texts[0], profile->sum),
			       when_duration(texts[1], profile->min),
			       when_duration(texts[2], profile->max));
	if (profile->percentiles[0] >= 0)
		g_string_append_printf(line, "; half up to %s, 90 %% up to %s, 99 %% up to %s",
				       when_duration(texts[3], profile->percentiles[0]),
				       when_duration(texts[4], profile->percentiles[1]),
				       when_duration(texts[5], profile->percentiles[2]));
	if (profile->spans_gap)
		g_string_append_printf(line, "; %" PRIu64 " span%s lost events: %s may not be real",
				       profile->spans_gap, profile->spans_gap == 1 ? "s" : "",
				       profile->spans_gap == 1 ? "it" : "they");
	text_wrapped(output, line->str, 2, 2);
	profile_bars(profiles, profile, &beside, output);
	for (guint i = 0; i < profile->peaks->len; i++)
		if (g_array_index(profile->peaks, struct peak, i).roots)
			peak_lines(profiles, profile, i + 1, made->apart, output);
	correlation_lines(made, profile, output);
	if (profile->lapses)
		heat(profiles, profile, output);
}

/* --- the report ----------------------------------------------------------------------------- */

static void comparison(const struct profile_report *made, const struct report *report)
{
	static const struct text_table table = {.columns = compared_columns, .in_bytes = true};
	double threshold = made->session->asked.options->profile.threshold;
	struct output *output = report->output;
	guint changed = comparison_changed(made->comparison);

	text_heading(output, "Distance to the saved profiles");
	if (made->other) {
		g_autofree char *line = g_strconcat("Note: ", made->other, NULL);

		text_wrapped(output, line, 2, 4);
	}
	if (changed)
		fprintf(output->file,
			"  WARNING: %u operation%s changed: distance above %.2f octaves "
			"(--threshold) and above noise\n",
			changed, changed == 1 ? "" : "s", threshold);
	else
		fprintf(output->file,
			"  No operation's distance is above %.2f octaves (--threshold) and above "
			"noise\n",
			threshold);
	text_table(report, &table, ROWS(made->comparison));
}

/* What else there is to profile. */
static void other_operations(const struct profiles *profiles, struct output *output)
{
	g_autoptr(GPtrArray) list = operations_available(&profiles->scope);
	g_autoptr(GString) line = g_string_new(NULL);

	g_ptr_array_add(list, NULL);
	for (guint i = 0; g_ptr_array_index(list, i); i++)
		g_string_append_printf(line, "%s%s", i ? ", " : "Operations in this trace: ",
				       (char *) g_ptr_array_index(list, i));
	g_string_append(line, " (--operation PATTERN)");
	text_wrapped(output, line->str, 2, 2);
}

/* Those that were named, or have more than one peak; with rules, that change. */
static bool is_detailed(const struct profile_report *made, const struct profile *profile)
{
	return made->session->asked.options->profile.operations->len ||
	       (made->what_if ? profile_then(made->what_if, profile) != NULL
			      : profile->peaks->len >= 2);
}

static void detailed(const struct profile_report *made, struct output *output)
{
	const struct profiles *profiles = made->profiles;
	const struct options *options = profiles->session->asked.options;
	bool named = options->profile.operations->len > 0;
	guint most = !options->limit ? UINT_MAX : named ? options->limit : DETAILED, shown = 0;

	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		if (is_detailed(made, profile) && shown++ < most)
			details(made, profile, output);
	}
	if (shown > most)
		fputc('\n', output->file);
	text_omitted_of(output, 0, shown - MIN(shown, most),
			named           ? ""
			: made->what_if ? " that change"
					: " with more than one peak");
}

void profile_text(const struct profile_report *made, struct output *output)
{
	static const struct text_table table = {
		.columns = profile_columns, .in_bytes = true, .note_first = true};
	const struct options *options = made->session->asked.options;
	const struct profiles *profiles = made->profiles;
	struct profile_at at = {profiles, made->apart, NULL, NULL};
	struct report report = {made->session, &at, output};
	g_autoptr(GArray) findings = profile_findings(profiles);

	text_hosts(made->session, output);
	if (options->profile.resume) {
		g_autofree char *line = g_strdup_printf("Resumed from %s: counts and causes are of "
							"the recordings in it and of this one",
							options->profile.resume);

		text_wrapped(output, line, 0, 2);
	}
	if (made->comparison)
		comparison(made, &report);
	if (made->what_if)
		profile_what_if_text(made->what_if, &report);
	profile_answer(profiles, made->apart, output);
	text_heading(output, "Operations, by time spent in them");
	text_table(&report, &table, ROWS(profiles->list));
	if (!profiles->list->len)
		text_wrapped(output, "Nothing in the window matches.", 2, 2);
	if (!options->profile.operations->len || !profiles->list->len)
		other_operations(profiles, output);
	detailed(made, output);
	text_findings(made->session, findings, output);
	text_coverage_now(made->session, output);
}
