/* SPDX-License-Identifier: MIT */
/* Two requests beside each other: where their ways are the same, and where they part and
 * meet again.
 *
 *   A   ═══ ══ ═╗           ╔═ ═══          matched: the same thread's role at the same
 *               ╠═ ═ ═ ═ ═ ═╣               ═ steps of A only
 *   B   ═══ ══ ═╝           ╚═ ═══
 *
 * Place: tracking/. A step is what follows on a request's path put down to one cause, by
 * threads of one name. Steps are aligned by a longest common subsequence of (thread's name,
 * kind, label); what lies between two matched steps is a divergence. The times of all steps of
 * a side add up to its latency, so the differences of the matched steps and of the divergences
 * add up to that of the two latencies.
 */
#ifndef WHYLATE_TRACKING_ALIGN_H
#define WHYLATE_TRACKING_ALIGN_H

#include "tracking/request_costs.h"
#include "tracking/request_path.h"

struct step {
	uint32_t thread;
	const char *name;    /* borrowed from the costs: of the thread */
	const char *kind;    /* static */
	char *label;         /* owned */
	int64_t begin, end;
};

/* The steps of a request's path, in order of time. Free with g_array_free(). */
GArray *steps_new(const struct costs *costs, const struct user_request *request);

/* Between two matched steps. */
struct divergence {
	guint from[2], until[2]; /* steps of each side: [from, until) */
	int64_t ns[2];
	int64_t difference;      /* ns of the second less that of the first */
};

struct alignment {
	GArray *steps[2];        /* owned; struct step */
	GArray *divergences;     /* struct divergence; largest difference first */
	guint matched;           /* steps */
	int64_t matched_ns[2];   /* … and their time on each side */
	guint left_out[2];       /* steps not aligned, as there are too many: the shortest */
	int64_t left_out_ns[2];
};

struct alignment *alignment_new(const struct costs *a, const struct user_request *request_a,
				const struct costs *b, const struct user_request *request_b);
void alignment_free(struct alignment *alignment);

#endif
