/* SPDX-License-Identifier: MIT */
/* A profile as bars on a logarithmic axis, a run of empty buckets as one line; the saved one that
 * it is compared with, or the re-timed one (--what-if), beside it:
 *
 *   BUCKET       FROM      COUNT      SAVED PEAK  bars: now, and | saved
 *       20     1.0 ms        120        400    1  ###########    | ====================
 *
 * Two bars are as long as the logarithms of their counts, each by its own highest: shapes are
 * compared, as the distance does, not how many there were.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "profile/profile_report.h"

struct side {
	const uint64_t *counts; /* borrowed; by bucket; NULL: there is none */
	uint64_t most;
};

static uint64_t count_of(const struct side *side, guint bucket)
{
	return side->counts ? side->counts[bucket] : 0;
}

/* Which peak a bucket is in, 0: none. */
static guint peak_number(const struct profile *profile, guint bucket)
{
	for (guint i = 0; i < profile->peaks->len; i++) {
		const struct peak *peak = &g_array_index(profile->peaks, struct peak, i);

		if (bucket >= peak->range.first && bucket <= peak->range.last)
			return i + 1;
	}
	return 0;
}

static void bar(const struct side *side, guint bucket, int room, char mark, bool padded,
		struct output *output)
{
	uint64_t count = count_of(side, bucket);
	int length = count ? 1 + (int) lround((room - 1) * log((double) count) /
					      log((double) MAX(side->most, 2)))
			   : 0;

	for (int i = 0; i < length; i++)
		fputc(mark, output->file);
	for (int i = length; padded && i < room; i++)
		fputc(' ', output->file);
}

static void line(const struct profiles *profiles, const struct profile *profile, guint bucket,
		 const struct side *now, const struct side *saved, struct output *output)
{
	int room = MAX(output->width - 43, 8);
	guint peak = peak_number(profile, bucket);
	char from[32];

	fprintf(output->file, "  %6u %10s %10" PRIu64, bucket,
		when_duration(from, profiles->buckets.from[bucket]), now->counts[bucket]);
	if (saved->counts) {
		room = MAX((output->width - 57) / 2, 8);
		fprintf(output->file, " %10" PRIu64, saved->counts[bucket]);
	}
	if (peak && now->counts[bucket])
		fprintf(output->file, " %4u  ", peak);
	else if (now->counts[bucket] || saved->counts)
		fprintf(output->file, " %4s  ", ""); /* resumed: in none of the peaks */
	bar(now, bucket, room, '#', saved->counts != NULL, output);
	if (saved->counts) {
		fputs(count_of(saved, bucket) ? " | " : " |", output->file);
		bar(saved, bucket, room, '=', false, output);
	}
	fputc('\n', output->file);
}

static bool is_empty(const struct side *now, const struct side *saved, guint bucket)
{
	return !count_of(now, bucket) && !count_of(saved, bucket);
}

void profile_bars(const struct profiles *profiles, const struct profile *profile,
		  const struct beside *beside, struct output *output)
{
	guint count = profiles->buckets.count, first = 0, last = count - 1;
	struct side now = {profile->counts, 1}, saved = {beside->counts, 1};

	while (first + 1 < count && is_empty(&now, &saved, first))
		first++;
	while (last && is_empty(&now, &saved, last))
		last--;
	for (guint b = first; b <= last; b++) {
		now.most = MAX(now.most, count_of(&now, b));
		saved.most = MAX(saved.most, count_of(&saved, b));
	}
	if (saved.counts)
		fprintf(output->file, "  %6s %10s %10s %10s %4s  %s\n", "BUCKET", "FROM", "COUNT",
			beside->column, "PEAK", beside->key);
	else
		fprintf(output->file, "  %6s %10s %10s %4s  %s\n", "BUCKET", "FROM", "COUNT",
			"PEAK", "(bars: logarithm of the count)");
	for (guint b = first, skipped = 0; b <= last; b++) {
		skipped = is_empty(&now, &saved, b) ? skipped + 1 : 0;
		if (!skipped)
			line(profiles, profile, b, &now, &saved, output);
		else if (skipped == 2)
			fprintf(output->file, "  %6s\n", "...");
		else if (skipped == 1 && !is_empty(&now, &saved, b + 1))
			line(profiles, profile, b, &now, &saved, output);
	}
}
