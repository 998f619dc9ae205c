/* SPDX-License-Identifier: MIT */
/* Latency profiles (OSprof): for each operation a histogram of its latencies
 * over logarithmic buckets, its peaks, and how it changes over time.
 *
 * Place: latencies/; reads the store of operations, never the trace. Two
 * passes: one for counts, more for the exact percentiles; memory follows the
 * number of profiles, not of operations. Source: semantics.md, "Latency":
 * the bucket of latency d at resolution r is the largest k with 2^k <= d^r
 * (0 for d = 0); OSprof and DARC as named in roots.h.
 */
#ifndef WHYLATE_LATENCIES_PROFILE_H
#define WHYLATE_LATENCIES_PROFILE_H

#include "latencies/operations.h"
#include "samples/function_sums.h"
#include "util/histogram.h"
#include "util/peaks.h"
#include "timeline/saving.h"

struct part;
struct rhythm;

enum peak_status { PEAK_FOUND, PEAK_DEPTH, PEAK_FEW };
const char *peak_status_text(enum peak_status status);

/* One root-cause path of a peak: a node whose ancestors are all roots. */
struct root {
	const struct part *part; /* borrowed */
	uint64_t maxcount;
	int64_t ns;
	bool own;              /* the node by itself, not by its parts */
	struct saving saving;  /* of the peak's operations, all together, without it */
	struct functions_sampled sampled; /* owned; what ran in it */
};

struct peak {
	struct peak_range range;
	uint64_t count, spans_gap; /* operations; … that overlap lost events */
	int64_t sum, tracers;  /* ns; of it the tracer's own */
	enum peak_status status;
	bool searched;         /* its root causes were asked for */
	struct part *tree;     /* owned */
	GArray *roots;         /* owned; struct root, highest maxcount first */
	struct saving most_saving; /* of roots_most_time() */
	struct functions_sampled most_sampled; /* owned; … of the same */
	bool noted;            /* stretches of parts of its tree are asked for: roots_note() */
	struct rhythm *rhythm; /* owned; rhythms.h; NULL: none found */
};

/* Counts of one segment of time. */
struct lapse {
	int64_t begin;
	uint64_t *counts; /* owned; by bucket; NULL: no operation began there */
};

struct profile {
	char *operation;       /* owned; "syscall:read" */
	char *label;           /* owned; the IRQ's handler, the softIRQ's name; NULL */
	uint32_t what;         /* struct operation's; of a saved one UINT32_MAX */
	enum per per;
	uint32_t thread;       /* of its first operation, NO_THREAD */
	uint32_t split;        /* interned text of `scope`, 0 */
	char *scope;           /* owned; what it is of, for people and files; "" */
	guint place;           /* among those that there were, before they were sorted */
	uint64_t count;
	uint64_t spans_gap;    /* of them: may be no real ones (operation_spans_gap()) */
	int64_t sum, min, max;
	int64_t percentiles[3]; /* 50, 90, 99: nearest rank; -1: not known */
	uint64_t *counts;      /* owned; by bucket */
	GArray *peaks;         /* owned; struct peak */
	GArray *lapses;        /* owned; struct lapse; NULL: not asked for */
};

/* How long operations take where not as long as recorded: in a run that was re-timed. Told of each
 * once when all are counted, with the place of its profile, and then again. */
struct operation_lengths {
	int64_t (*of)(const struct operation *operation, void *data);
	void (*counted)(guint place, const struct operation *operation, void *data);
	void *data;
};

struct profiles {
	const struct session *session; /* borrowed */
	struct buckets buckets;
	GPtrArray *list;       /* owned; struct profile, largest sum first */
	GArray *splits;        /* owned; uint32_t: split by thread + 1; 0: none */
	GPtrArray *by_place;   /* owned list; borrowed struct profile; NULL: it was left out */
	struct pages places;   /* uint32_t by operation: which profile it is of, once looked up */
	GHashTable *index;     /* owned; struct profile by what and split */
	struct operation_scope scope;
	struct profile *recent[SCOPE_RECENT]; /* borrowed; by a hash of their `what` */
	int64_t lapse_step;    /* 0: none */
	const struct operation_lengths *lengths; /* borrowed; NULL: as recorded */
};

/* Counts, finds peaks; the root causes come from roots_search(). Error: a
 * --time-lapse with too many segments. */
struct profiles *profiles_new(const struct session *session, guint resolution, GError **error);
void profiles_free(struct profiles *profiles);
/* The same profiles, in the same order, of the same operations with other lengths, which must last
 * as long; without lapses. */
struct profiles *profiles_of_lengths(const struct profiles *like,
				     const struct operation_lengths *lengths);
/* The profile that the operation counts in, NULL. `number`: its number in the store. */
struct profile *profile_of(struct profiles *profiles, const struct operation *operation,
			   uint32_t number);
/* Finds the peaks anew, from the counts. */
void profile_find_peaks(struct profile *profile, const struct buckets *buckets);
void profile_free(gpointer profile);
/* An empty profile of an operation that this trace does not have. */
struct profile *profile_add(struct profiles *profiles, const char *operation, enum per per,
			    const char *scope);
void profiles_sort(struct profiles *profiles);

/* Earth Mover's Distance between two normalised histograms, in octaves
 * (factors of two): how far, on average, an operation must be moved. Source:
 * DARC 3.4; in one dimension it is the area between the cumulated shares. */
double profile_distance(const uint64_t *a, const uint64_t *b, guint length, guint resolution);

/* How much slower `a` is than `b` on average, in octaves (negative: faster); its
 * amount is the distance where everything moved one way. */
double profile_slower(const uint64_t *a, const uint64_t *b, guint length, guint resolution);

/* What chance makes of that distance where nothing changed, in octaves: twice
 * the area under the standard deviation of the difference between two cumulated
 * shares, sqrt(F(1-F)(1/n + 1/m)), F of both together. A smaller distance tells
 * nothing. */
double profile_noise(const uint64_t *a, const uint64_t *b, guint length, guint resolution);

#endif
