/* SPDX-License-Identifier: MIT */
/* A replay: the recorded run, re-timed by the rules that were asked for (--what-if), and by what is
 * not sure of it.
 *
 * Place: whatif/, over retime.h, under all that answers --what-if. Rules that are of no use are
 * refused here, in the same words for every command. Source: semantics.md, "What if".
 */
#ifndef WHYLATE_WHATIF_REPLAY_H
#define WHYLATE_WHATIF_REPLAY_H

#include "report/report.h"
#include "whatif/retime.h"

/* What is played, at once. */
enum replayed { AS_RECORDED, CHANGED, FREE, LEAST, MOST, REPLAYS };

struct replay {
	const struct session *session; /* borrowed */
	GPtrArray *texts; /* a reference; the rules */
	GArray *best; /* owned; struct best: what was found by trying; NULL: not asked */
	struct rules *rules; /* owned */
	struct retimed *retimed; /* owned; scenarios: enum replayed */
	GPtrArray *orders; /* owned strings: what might be done in another order */
	int64_t all_busy; /* ns of the window in which all CPUs of a host were busy, */
	double busy_share; /* … of that host's part of it */
	uint64_t cycles; /* waits that end each other, or that somebody ended who waited himself */
	uint64_t count; /* stretches that the rules pick */
	int64_t picked; /* ns of these, as recorded */
};

/* Of the window. `ways` (struct way): what is asked about, of which no rule may pick all that its
 * threads did, and which 'best' makes shorter; not `finds_best`: it is refused, as the report is
 * of no ways in particular. NULL, too, if a rule picks nothing, or the replay without rules
 * moves anything. Free with replay_free(). */
struct replay *replay_new(const struct session *session, const GArray *ways, bool finds_best,
			  GError **error);
void replay_free(struct replay *replay);

/* How much sooner the ways are done; ns, of all of them together, below 0: later. */
struct gain {
	int64_t recorded;
	int64_t saved;
	int64_t from, to; /* … what is not sure leaves room for; `saved` is in it */
	int64_t at_most; /* … had there been a free CPU always */
};

struct gain replay_gain(const struct replay *replay, const GArray *ways);
/* "802.8 ms (73.8 %) sooner than the recorded 1.088 s; up to …."; with `of`: "… shorter than the
 * recorded 1.088 s of OF". Free with g_free(). */
char *gain_words(const struct gain *gain, const char *of);
/* Of struct gain: "saved_ns" … */
extern const struct column gain_columns[];

/* 'best' was asked for. */
bool replay_asks_for_best(const struct options *options);

/* A heading: "What if 'RULE' and 'RULE' (12 stretches, 800 ms)"; above it what 'best' has found, of
 * `recorded` ns in all. */
void replay_heading(const struct replay *replay, int64_t recorded, struct output *output);
/* What all answers of it rest on: what may be otherwise in it, and "Every thread does the same …",
 * what the method leaves out. Sentences; free with g_free(). */
char *replay_limits(const struct replay *replay);

/* Of struct replay: "rules", "picked", "best". */
extern const struct column replay_columns[];

#endif
