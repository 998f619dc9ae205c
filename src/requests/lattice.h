/* SPDX-License-Identifier: MIT */
/* The ways of many requests as a lattice: where they are the same they are one, and where
 * they part there is a branch, with what it costs to take it.
 *
 *            ┌─► preadv2: vda ─► preadv2: vda ─┐   8 requests, +110 ms
 *   read ─► app ───────────────────────────────► write
 *            └─► fsync: vda ───────────────────┘   8 requests, +50 ms
 *
 * A drawing of it is readable with fewer nodes: then the most costly ones stay, as many as leave no
 * chain longer than `longest`; the time of others is counted at the node before.
 *
 * Place: requests/. A node is a step of requests' paths (align.h) by its key. Paths are merged
 * greedily, one after the other: each is aligned with the nodes there are by a longest common
 * subsequence, and what is not among them is put in. Nodes keep an order that all paths
 * follow, so the lattice has no circles. Steps of causes that take less than 1 % of all the
 * requests' time are no nodes: their time is counted at the node before them.
 *
 * What a branch costs: the shortest way on from where it begins if it is taken, less the
 * shortest way of all, by mean costs of nodes. Branches that the same requests take, and no
 * others, are one condition. Source: the multi-request summaries of X-ray (Attariyan, Chow,
 * Flinn, OSDI 2012), section 4.4.
 */
#ifndef WHYLATE_REQUESTS_LATTICE_H
#define WHYLATE_REQUESTS_LATTICE_H

#include "tracking/align.h"

#define LATTICE_REQUESTS_MAX 500 /* of more, evenly spread ones are merged */
#define LATTICE_NODES_MAX 600    /* more steps are counted at the node before, … */
#define LATTICE_STEPS_MAX 1000   /* … as are more of one request */

struct lattice_node {
	char *label; /* owned; "app, cpu: user code"; the first is the begin, the last the end */
	int64_t ns; /* over all requests that come through */
	guint requests;
	int64_t rest; /* ns: the shortest way on from here to the end, by mean costs */
};

struct lattice_edge {
	guint from, to; /* nodes */
	guint requests;
	int64_t cost; /* ns: of taking it at `from`, see above; 0 where there is no choice */
	bool branch; /* there are others from there */
	guint condition; /* place in conditions, from 1; 0: all requests come through */
};

/* Requests that take some branches, which no others take. */
struct condition {
	GArray *requests; /* owned; guint: places in `merged` */
	GArray *edges; /* owned; guint: of its branches, the costliest first */
	int64_t cost; /* ns: of all its branches together */
	double mean[2]; /* latency of the other requests, of these: ns */
};

struct lattice {
	const struct costs *costs; /* borrowed; of these requests */
	GArray *nodes; /* struct lattice_node, in their order */
	GArray *edges; /* struct lattice_edge by from, to */
	GArray *conditions; /* struct condition; largest difference of all its requests first */
	GArray *merged; /* uint32_t: places in requests->listed of the requests in it */
};

/* `longest`: nodes one after the other, at most; 0: any. */
struct lattice *lattice_new(const struct costs *costs, guint longest);
void lattice_free(struct lattice *lattice);
static inline int64_t lattice_mean(const struct lattice_node *node)
{
	return node->requests ? node->ns / node->requests : 0;
}

#endif
