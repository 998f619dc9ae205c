/* SPDX-License-Identifier: MIT */
/* What heads the profile report: a sentence for each of the peaks that took most time. Of what
 * nobody asked for by name, waits for a next request, sleeps and the tracer's calls take none. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "latencies/roots.h"
#include "profile/peak_words.h"
#include "profile/profile_report.h"
#include "words/times.h"

#define SENTENCES_MAX 5
#define TOLD_MIN 0.25 /* of a peak that nobody asked for: it was not all at leisure */

/* A peak, and whose it is. */
struct peak_at {
	const struct profile *profile;
	const struct peak *peak;
	int64_t ns; /* of its time: what somebody or something took */
	guint place, number; /* of the profile in the list, of the peak in it from 1 on */
};

/* Nothing took that time: waits for a next request, sleeps, a time limit's whole length; a
 * parent's wait for its child, whose own operations tell it. */
static bool is_no_story(const struct part *wait, const struct part *end)
{
	return strcmp(end->node, PART_AT_LEISURE) == 0 ||
	       strcmp(wait->node, "blocked/sleep") == 0 ||
	       strcmp(wait->node, "blocked/child") == 0 ||
	       (strcmp(wait->node, "blocked/signal") == 0 && g_str_has_prefix(end->node, "timer"));
}

static int64_t at_leisure(const struct part *wait)
{
	int64_t ns = 0;

	for (guint i = 0; i < wait->children->len; i++) {
		const struct part *end = g_ptr_array_index(wait->children, i);

		ns += is_no_story(wait, end) ? end->ns : 0;
	}
	return ns;
}

static int64_t all_at_leisure(const struct peak *peak)
{
	int64_t ns = 0;

	for (guint i = 0; i < peak->tree->children->len; i++)
		ns += at_leisure(g_ptr_array_index(peak->tree->children, i));
	return ns;
}

static int most_time_first(gconstpointer a, gconstpointer b)
{
	const struct peak_at *x = a, *y = b;

	return (x->ns < y->ns) - (x->ns > y->ns);
}

/* What is told of a part: of a wait of the operation itself not what took nothing. */
static int64_t told(const struct peak *peak, const struct part *part, bool named)
{
	return part->ns - (part->parent == peak->tree && !named ? at_leisure(part) : 0);
}

/* What took most of the peak's time, as deep as one part of it has half of the part above. */
static const struct part *main_part(const struct peak *peak, bool named)
{
	const struct part *at = peak->tree;

	for (const struct part *next = at; next;) {
		next = NULL;
		for (guint i = 0; i < at->children->len; i++) {
			const struct part *child = g_ptr_array_index(at->children, i);

			if (!named && at->parent == peak->tree && is_no_story(at, child))
				continue;
			if (!next || told(peak, child, named) > told(peak, next, named))
				next = child;
		}
		if (next && at != peak->tree && told(peak, next, named) * 2 < told(peak, at, named))
			break;
		at = next ? next : at;
	}
	return at;
}

/* "syscall:recvfrom: 38 of 7176 operations took 2.1 to 43 ms each, 70 % of the time; for 66 % of
 * that they waited for db." */
static char *peak_sentence(const struct profiles *profiles, const struct peak_at *at, bool named,
			   const struct traits *traits)
{
	const struct peak *peak = at->peak;
	const struct part *part = main_part(peak, named);
	g_autofree char *title = profile_title(at->profile);
	GString *line = g_string_new(title);
	char time[16], share[16];

	g_string_append(line, ": ");
	if (peak->count < at->profile->count)
		g_string_append_printf(line, "%" PRIu64 " of ", peak->count);
	g_string_append_printf(line, "%" PRIu64 " %s took ", at->profile->count,
			       at->profile->count == 1 ? "operation" : "operations");
	append_range(line, MAX(profiles->buckets.from[peak->range.first], at->profile->min),
		     MIN(profiles->buckets.from[peak->range.last + 1], at->profile->max));
	g_string_append_printf(line, "%s, %s of the time; for %s of that %s ",
			       peak->count > 1 ? " each" : "",
			       profile_percent(time, peak->sum, at->profile->sum),
			       profile_percent(share, told(peak, part, named), peak->sum),
			       peak->count > 1 ? "they" : "it");
	append_way(line, peak, part);
	g_string_append_c(line, '.');
	if (traits && traits->told->len)
		g_string_append_printf(
			line, " What goes with it: %s.",
			((struct trait_told *) g_ptr_array_index(traits->told, 0))->sentence);
	return g_string_free(line, FALSE);
}

static void sentence_clear(void *data)
{
	g_free(((struct profile_sentence *) data)->text);
}

/* One sentence for each peak whose causes are looked for, those with the most time that was not
 * spent at leisure, nor by the tracer. */
GArray *profile_sentences(const struct profiles *profiles, const struct peaks_apart *apart)
{
	GArray *sentences = g_array_new(FALSE, FALSE, sizeof(struct profile_sentence));
	g_autoptr(GArray) peaks = g_array_new(FALSE, FALSE, sizeof(struct peak_at));
	bool named = profiles->session->asked.options->profile.operations->len > 0;

	g_array_set_clear_func(sentences, sentence_clear);
	for (guint i = 0; i < profiles->list->len; i++) {
		struct peak_at at = {.profile = g_ptr_array_index(profiles->list, i), .place = i};

		for (guint k = 0; k < at.profile->peaks->len; k++) {
			at.peak = &g_array_index(at.profile->peaks, struct peak, k);
			at.number = k + 1;
			if (!at.peak->roots || !at.peak->roots->len)
				continue;
			at.ns = at.peak->sum - at.peak->tracers - all_at_leisure(at.peak);
			if (named || (double) at.ns >= TOLD_MIN * (double) at.peak->sum)
				g_array_append_val(peaks, at);
		}
	}
	g_array_sort(peaks, most_time_first);
	for (guint i = 0; i < MIN(peaks->len, SENTENCES_MAX); i++) {
		const struct peak_at *at = &g_array_index(peaks, struct peak_at, i);
		struct profile_sentence sentence = {at->place, at->number,
						    peak_sentence(profiles, at, named,
								  peak_traits(apart, at->peak))};

		g_array_append_val(sentences, sentence);
	}
	return sentences;
}

void profile_answer(const struct profiles *profiles, const struct peaks_apart *apart,
		    struct output *output)
{
	g_autoptr(GArray) sentences = profile_sentences(profiles, apart);

	if (sentences->len)
		text_heading(output, "What took the time: one sentence a peak of latencies");
	for (guint i = 0; i < sentences->len; i++)
		text_wrapped(output, g_array_index(sentences, struct profile_sentence, i).text, 2,
			     2);
}
