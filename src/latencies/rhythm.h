/* SPDX-License-Identifier: MIT */
/* Rhythms in when things happen: at equal distances, or soon after something else. Pure numbers.
 *
 *   slow ones        |||            ||             |||            ||            |||
 *   occasions        ^              ^              ^              ^             ^      period
 *   another's        x              x              x              x             x      lag
 *
 * Slow ones come in clusters: the first of each is an occasion. What parts clusters is the largest
 * jump in the sorted gaps.
 *
 * Period: the median gap; how far the gaps are from multiples of it, in the mean, is compared
 * with the same of (a) as many operations picked at random out of all, clustered anew, which
 * guards against all of them being periodic, and (b) as many occasions at random, which guards
 * against few clusters. Lag: how long ago the other's last one began, at nine of ten occasions;
 * the shorter than chance the better, of all others that there are; compared with the shortest of
 * all of them (a maximum statistic) (a) after the occasions were shifted in time by the same random
 * amount, which keeps what is periodic in both, and (b) of as many operations picked at random out
 * of all, as the quick ones may come after the other's, too.
 *
 * The random numbers have a fixed seed. Place: latencies/, below rhythms.h. Source: own; the
 * maximum statistic is Westfall and Young's. Rejected: Rayleigh's test, as a thread that sleeps
 * between its turns drifts, and six turns later no phase is left.
 */
#ifndef WHYLATE_LATENCIES_RHYTHM_H
#define WHYLATE_LATENCIES_RHYTHM_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define OCCASIONS_MIN 5

struct period {
	int64_t ns;          /* the median gap between occasions */
	int64_t least, most; /* of eight in ten gaps, as far as they are one period */
	guint times;         /* occasions */
	double chance;       /* of random ones, so many are as regular */
};

/* Keeps the first of each cluster of these times, which are sorted; returns how many these are. */
guint occasions_keep(int64_t *times, guint count);

/* `slow`, `all`: begins of the slow ones, of all operations, sorted. False: no period that fewer
 * than `chance` of random ones have. */
bool period_find(const int64_t *slow, guint count, const int64_t *all, guint all_count,
		 double chance, struct period *period);

/* Somebody else's operations of one kind. */
struct stream {
	const int64_t *begins; /* borrowed; sorted */
	guint count;
	const int64_t *slow; /* borrowed; the occasions that are to be compared with it */
	guint slow_count;
	const int64_t *all; /* borrowed; as `slow`, of all operations, slow or not */
	guint all_count;
};

struct lag {
	guint stream; /* its place */
	int64_t least, most; /* ns, of those that count */
	guint hits, times; /* so many of the occasions */
	double chance;
};

/* Times are in [from, to). False: none that fewer than `chance` of random ones have. */
bool lag_find(const struct stream *streams, guint count, int64_t from, int64_t to, double chance,
	      struct lag *lag);

/* Both, of a peak of latencies: rhythms.h. */
struct rhythm {
	bool has_period, has_lag;
	struct period period;
	struct lag lag;
	uint32_t thread; /* of the other's name, the first; with has_lag */
	uint32_t what; /* … struct operation's */
	bool bursts; /* … the first of each cluster of these */
	GArray *times; /* owned; int64_t: when it was slow, at most OCCASIONS_KEPT */
	char *sentence; /* owned */
};
#define OCCASIONS_KEPT 200

void rhythm_free(struct rhythm *rhythm);

#endif
