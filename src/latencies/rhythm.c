/* SPDX-License-Identifier: MIT */
/* See rhythm.h. */
#include "latencies/rhythm.h"

#include <math.h>
#include <string.h>

#include "apart/select.h"

#define SEED UINT64_C(0x9E3779B97F4A7C15)
#define CLUSTER_RATIO 3  /* gaps between clusters are so many times those in them */
#define GAP_LEAST 1000   /* ns: shorter ones count as that */
#define REGULAR 0.12     /* of the period: the mean distance from its multiples */
#define NEAR_PART 20     /* a lag is one part in so many of the gap between occasions at most */
#define EXCEEDING 1      /* so many random ones may be as good */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(0x2545F4914F6CDD1D);
}

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
	return (next_random(state) >> 11) % limit;
}

/* How many random ones it takes to tell. */
static guint trials_for(double chance)
{
	return (guint) ceil((EXCEEDING + 1) / chance);
}

/* Shell's sort, with Ciura's distances, then each 2.25 times the one before: what qsort() costs is
 * its calls of a comparison. */
static void sort_times(int64_t *times, guint count)
{
	static const guint distances[] = {10344842, 4597708, 2043426, 908189, 403640, 179395, 79731,
					  35436,    15749,   7000,    3111,   1383,   614,    301,
					  132,      57,      23,      10,     4,      1};

	for (guint d = 0; d < G_N_ELEMENTS(distances); d++) {
		guint distance = distances[d];

		for (guint i = distance; i < count; i++) {
			int64_t time = times[i];
			guint at = i;

			for (; at >= distance && times[at - distance] > time; at -= distance)
				times[at] = times[at - distance];
			times[at] = time;
		}
	}
}

/* Gaps of one length, but for a factor of two. */
struct drawer {
	int64_t least, most;
	guint count;
};

/* The longest pause inside a cluster: before the largest jump in the sorted gaps that leaves
 * enough clusters; -1: each is one by itself. Nothing is sorted for that: no jump that counts is
 * inside a drawer. */
static int64_t pause_of(const int64_t *times, guint count)
{
	struct drawer drawers[64] = {0};
	double best = CLUSTER_RATIO;
	int64_t pause = -1, before = 0;
	guint below = 0;

	for (guint i = 1; i < count; i++) {
		int64_t gap = MAX(times[i] - times[i - 1], GAP_LEAST);
		struct drawer *drawer = &drawers[63 - __builtin_clzll((uint64_t) gap)];

		drawer->least = drawer->count ? MIN(drawer->least, gap) : gap;
		drawer->most = MAX(drawer->most, gap);
		drawer->count++;
	}
	for (guint i = 0; i < G_N_ELEMENTS(drawers); i++) {
		const struct drawer *drawer = &drawers[i];

		if (!drawer->count)
			continue;
		/* OCCASIONS_MIN - 1 stay above */
		if (below && below + OCCASIONS_MIN <= count &&
		    (double) drawer->least / (double) before > best) {
			best = (double) drawer->least / (double) before;
			pause = before;
		}
		below += drawer->count;
		before = drawer->most;
	}
	return pause;
}

/* The gaps between the first ones of clusters, in order; returns how many. */
static guint occasion_gaps(const int64_t *times, guint count, int64_t *gaps, int64_t *pause)
{
	int64_t first = count ? times[0] : 0;
	guint kept = 0;

	*pause = pause_of(times, count);
	for (guint i = 1; i < count; i++) {
		if (MAX(times[i] - times[i - 1], GAP_LEAST) <= *pause)
			continue;
		gaps[kept++] = times[i] - first;
		first = times[i];
	}
	return kept;
}

guint occasions_keep(int64_t *times, guint count)
{
	int64_t pause = pause_of(times, count), before = 0;
	guint kept = 0;

	for (guint i = 0; i < count; i++) {
		int64_t time = times[i];

		if (!i || MAX(time - before, GAP_LEAST) > pause)
			times[kept++] = time;
		before = time;
	}
	return kept;
}

/* How far gaps are from multiples of their median, in the mean, as a part of it; more than `most`:
 * any such number. */
static double irregularity(const int64_t *gaps, guint count, int64_t median, double most)
{
	double sum = 0, enough = most * count * (1 + 1e-9);

	for (guint i = 0; i < count && sum <= enough; i++) {
		double turns = (double) gaps[i] / (double) median;

		sum += fabs(turns - MAX(round(turns), 1));
	}
	return sum / count;
}

/* Where trials put what they make: each for `count` and one more. */
struct room {
	int64_t *times, *gaps, *sorted; /* owned */
	double *values; /* owned; gaps, of which a double holds 104 days to the ns */
	guint *drawers; /* owned */
};

static void room_init(struct room *room, guint count)
{
	*room = (struct room) {g_new(int64_t, count + 1), g_new(int64_t, count + 1),
			       g_new(int64_t, count + 1), g_new(double, count + 1),
			       g_new(guint, count + 2)};
}

static void room_clear(struct room *room)
{
	g_free(room->times);
	g_free(room->gaps);
	g_free(room->sorted);
	g_free(room->values);
	g_free(room->drawers);
}

static bool is_regular(struct room *room, guint count, double most)
{
	int64_t median;

	for (guint i = 0; i < count; i++)
		room->values[i] = (double) room->gaps[i];
	put_in_place(room->values, count, count / 2);
	median = MAX((int64_t) room->values[count / 2], 1);
	return irregularity(room->gaps, count, median, most) <= most;
}

/* As many of all, picked at random, in order: they are put into as many drawers as there are, and
 * few are in one. */
static void pick_times(const int64_t *all, guint all_count, guint count, struct room *room,
		       uint64_t *state)
{
	memset(room->drawers, 0, sizeof *room->drawers * (count + 2));
	for (guint i = 0; i < count; i++) {
		uint64_t at = random_below(state, all_count);

		room->sorted[i] = (int64_t) at;
		room->drawers[at * count / all_count + 1]++;
	}
	for (guint i = 0; i < count; i++)
		room->drawers[i + 1] += room->drawers[i];
	for (guint i = 0; i < count; i++) {
		uint64_t at = (uint64_t) room->sorted[i];

		room->times[room->drawers[at * count / all_count]++] = all[at];
	}
	for (guint i = 1; i < count; i++) {
		int64_t time = room->times[i];
		guint at = i;

		for (; at && room->times[at - 1] > time; at--)
			room->times[at] = room->times[at - 1];
		room->times[at] = time;
	}
}

/* The gaps of such, clustered anew. */
static guint pick_gaps(const int64_t *all, guint all_count, guint count, struct room *room,
		       uint64_t *state)
{
	int64_t pause;

	pick_times(all, all_count, count, room, state);
	return occasion_gaps(room->times, count, room->gaps, &pause);
}

/* How many of these, which are sorted, are before that one. */
static guint place_of(const int64_t *times, guint count, int64_t time)
{
	guint low = 0, high = count;

	while (low < high) {
		guint middle = (low + high) / 2;

		if (times[middle] < time)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* As many occasions at random, as far from each other as clusters must be. */
static guint place_gaps(const int64_t *all, guint all_count, guint count, int64_t pause,
			struct room *room, uint64_t *state)
{
	int64_t *times = room->times;

	for (guint i = 0; i < count; i++) {
		int64_t time = 0;
		guint at = 0;

		for (int tries = 0; tries < 50; tries++) {
			time = all[random_below(state, all_count)];
			at = place_of(times, i, time);
			if ((!at || time - times[at - 1] > pause) &&
			    (at == i || times[at] - time > pause))
				break;
		}
		memmove(times + at + 1, times + at, sizeof *times * (i - at));
		times[at] = time;
	}
	for (guint i = 1; i < count; i++)
		room->gaps[i - 1] = times[i] - times[i - 1];
	return count - 1;
}

/* The period of the gaps, and how far they are from being multiples of it. */
static double period_of(struct room *room, guint kept, struct period *period)
{
	int64_t *sorted = room->sorted, median;

	memcpy(sorted, room->gaps, sizeof *sorted * kept);
	sort_times(sorted, kept);
	median = MAX(sorted[kept / 2], 1);
	*period = (struct period) {median, sorted[kept / 10], 0, kept + 1, 0};
	for (guint i = 0; i < kept - kept / 10; i++)
		if (round((double) sorted[i] / (double) median) <= 1)
			period->most = sorted[i];
	return irregularity(room->gaps, kept, median, REGULAR);
}

bool period_find(const int64_t *slow, guint count, const int64_t *all, guint all_count,
		 double chance, struct period *period)
{
	guint kept, trials = trials_for(chance), exceeding[2] = {0};
	int64_t pause;
	uint64_t state = SEED;
	struct room room;
	double found;

	room_init(&room, count);
	kept = occasion_gaps(slow, count, room.gaps, &pause);
	found = kept + 1 < OCCASIONS_MIN || all_count < 2 ? INFINITY
							  : period_of(&room, kept, period);
	for (guint i = 0; i < trials && found <= REGULAR; i++) {
		guint n = pick_gaps(all, all_count, count, &room, &state);

		exceeding[0] += n + 1 >= OCCASIONS_MIN && is_regular(&room, n, found);
		n = place_gaps(all, all_count, kept + 1, pause, &room, &state);
		exceeding[1] += is_regular(&room, n, found);
		if (MAX(exceeding[0], exceeding[1]) > EXCEEDING)
			found = INFINITY;
	}
	room_clear(&room);
	period->chance = (1.0 + MAX(exceeding[0], exceeding[1])) / (1.0 + trials);
	return found <= REGULAR;
}

/* --- lags ----------------------------------------------------------------------- */

/* A stream while it is looked at. */
struct searched {
	const struct stream *stream;
	int64_t *gaps; /* owned; sorted, between its begins, around the end */
	double *sums; /* owned; of the gaps before that one */
	guint needed; /* occasions that must be near */
	int64_t near; /* … to be as good as the best */
	double score;
};

/* The part of the time that lies within `ns` behind one of its begins. */
static double coverage(const struct searched *at, int64_t ns, int64_t length)
{
	guint low = 0, high = at->stream->count;

	while (low < high) { /* the first gap that is longer */
		guint middle = (low + high) / 2;

		if (at->gaps[middle] <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return (at->sums[low] + (double) ns * (at->stream->count - low)) / (double) length;
}

static double score_of(const struct searched *at, int64_t ns, int64_t length)
{
	return at->needed * log(MAX(coverage(at, MAX(ns, GAP_LEAST), length), 1e-300));
}

/* How long before an occasion, shifted, the stream's last one began, around the end. */
static int64_t lag_of(const struct stream *stream, int64_t slow, int64_t shift, int64_t from,
		      int64_t length)
{
	int64_t begin = from + (slow - from + shift) % length;
	guint low = 0, high = stream->count;

	while (low < high) { /* the first that begins later */
		guint middle = (low + high) / 2;

		if (stream->begins[middle] <= begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? begin - stream->begins[low - 1]
		   : begin + length - stream->begins[stream->count - 1];
}

/* The lag that the needed share of occasions has at most. */
static int64_t lag_reached(const struct searched *at, int64_t from, int64_t length)
{
	g_autofree int64_t *lags = g_new(int64_t, at->stream->slow_count + 1);

	for (guint i = 0; i < at->stream->slow_count; i++)
		lags[i] = lag_of(at->stream, at->stream->slow[i], 0, from, length);
	sort_times(lags, at->stream->slow_count);
	return lags[at->needed - 1];
}

static void search_begin(struct searched *at, const struct stream *stream, int64_t from,
			 int64_t length)
{
	guint n = stream->count;

	*at = (struct searched) {.stream = stream,
				 .gaps = g_new(int64_t, n),
				 .sums = g_new(double, n + 1),
				 .needed = stream->slow_count - stream->slow_count / 10};
	for (guint i = 0; i < n; i++)
		at->gaps[i] = i ? stream->begins[i] - stream->begins[i - 1]
				: stream->begins[0] + length - stream->begins[n - 1];
	sort_times(at->gaps, n);
	at->sums[0] = 0;
	for (guint i = 0; i < n; i++)
		at->sums[i + 1] = at->sums[i] + (double) at->gaps[i];
	at->score = score_of(at, lag_reached(at, from, length), length);
}

/* How near it would have to be for that score. */
static void set_near(struct searched *at, double score, int64_t length)
{
	int64_t low = 0, high = length;

	while (low < high) {
		int64_t middle = low + (high - low + 1) / 2;

		if (score_of(at, middle, length) <= score)
			low = middle;
		else
			high = middle - 1;
	}
	at->near = score_of(at, 0, length) <= score ? low : -1;
}

/* At this shift, or for operations picked at random (numbers of which are `picked`; NULL: the slow
 * ones), as good as the best is. */
static bool is_as_good(const struct searched *at, const uint64_t *picked, int64_t shift,
		       int64_t from, int64_t length)
{
	const struct stream *stream = at->stream;
	guint missed = 0, may = stream->slow_count - at->needed;

	for (guint i = 0; i < stream->slow_count && missed <= may; i++) {
		int64_t time =
			picked ? stream->all[picked[i] % stream->all_count] : stream->slow[i];

		missed += lag_of(stream, time, shift, from, length) > at->near;
	}
	return missed <= may;
}

static bool any_is_as_good(const struct searched *list, guint count, const uint64_t *picked,
			   int64_t shift, int64_t from, int64_t length)
{
	bool as_good = false;

	for (guint k = 0; k < count && !as_good; k++)
		as_good = list[k].near >= 0 && is_as_good(&list[k], picked, shift, from, length);
	return as_good;
}

static bool is_chance(const struct searched *list, guint count, int64_t from, int64_t length,
		      double chance, struct lag *lag)
{
	guint trials = trials_for(chance), exceeding[2] = {0}, most = 0;
	g_autofree uint64_t *picked = NULL;
	uint64_t state = SEED;

	for (guint k = 0; k < count; k++)
		most = MAX(most, list[k].stream->slow_count);
	picked = g_new(uint64_t, most + 1);
	for (guint i = 0; i < trials && MAX(exceeding[0], exceeding[1]) <= EXCEEDING; i++) {
		int64_t shift = 1 + (int64_t) random_below(&state, (uint64_t) length - 1);

		exceeding[0] += any_is_as_good(list, count, NULL, shift, from, length);
		for (guint k = 0; k < most; k++)
			picked[k] = next_random(&state) >> 11;
		exceeding[1] += any_is_as_good(list, count, picked, 0, from, length);
	}
	lag->chance = (1.0 + MAX(exceeding[0], exceeding[1])) / (1.0 + trials);
	return MAX(exceeding[0], exceeding[1]) > EXCEEDING;
}

/* What is so much of the distance between occasions is no "soon after". */
static bool is_soon(const struct searched *best, const struct lag *lag, int64_t length)
{
	return lag->most <= length / best->stream->slow_count / NEAR_PART;
}

static void fill_lag(const struct searched *best, int64_t from, int64_t length, struct lag *lag)
{
	int64_t reached = lag_reached(best, from, length);

	lag->least = INT64_MAX;
	lag->most = 0;
	lag->hits = 0;
	lag->times = best->stream->slow_count;
	for (guint i = 0; i < best->stream->slow_count; i++) {
		int64_t at = lag_of(best->stream, best->stream->slow[i], 0, from, length);

		if (at > reached)
			continue;
		lag->hits++;
		lag->least = MIN(lag->least, at);
		lag->most = MAX(lag->most, at);
	}
}

bool lag_find(const struct stream *streams, guint count, int64_t from, int64_t to, double chance,
	      struct lag *lag)
{
	g_autofree struct searched *list = g_new(struct searched, count + 1);
	const struct searched *best = NULL;
	guint used = 0;
	bool found = false;

	for (guint i = 0; i < count && to - from > 1; i++) {
		if (streams[i].slow_count < OCCASIONS_MIN || streams[i].count < 2 ||
		    !streams[i].all_count)
			continue;
		search_begin(&list[used++], &streams[i], from, to - from);
	}
	for (guint i = 0; i < used; i++)
		best = !best || list[i].score < best->score ? &list[i] : best;
	if (best) {
		lag->stream = (guint) (best->stream - streams);
		fill_lag(best, from, to - from, lag);
		for (guint i = 0; i < used; i++)
			set_near(&list[i], best->score, to - from);
		found = is_soon(best, lag, to - from) &&
			!is_chance(list, used, from, to - from, chance, lag);
	}
	for (guint i = 0; i < used; i++) {
		g_free(list[i].gaps);
		g_free(list[i].sums);
	}
	return found;
}

void rhythm_free(struct rhythm *rhythm)
{
	if (!rhythm)
		return;
	g_array_free(rhythm->times, TRUE);
	g_free(rhythm->sentence);
	g_free(rhythm);
}
