/* SPDX-License-Identifier: MIT */
/* The ways of many requests as one tree: the critical paths of all, laid over each other.
 *
 *   40 requests
 *   └ nginx                           what its thread did itself, and …
 *     └ app                           … what others did that the bytes went through
 *       ├ cpu: app, user code
 *       └ syscall:fsync of /applog    a wait, and what it was led to
 *         └ jbd2/vda-8
 *           └ block-device: vda, fsync of /applog
 *
 * Place: requests/. Children's times add up to their parent's. A node's percentiles are over
 * the requests that came through it: of the time that each spent there in all.
 */
#ifndef WHYLATE_REQUESTS_PATH_TREE_H
#define WHYLATE_REQUESTS_PATH_TREE_H

#include "tracking/request_costs.h"
#include "tracking/request_path.h"

struct tree_node {
	char *label;         /* owned */
	int64_t ns;          /* of all requests */
	GPtrArray *children; /* owned; struct tree_node, largest first */
	GArray *values;      /* owned; int64_t: of each request that came through, ascending */
	uint32_t last;       /* … while it is built: the request added last, from 1 */
};

#define TREE_REQUESTS_MAX 20000

/* Of all listed `requests`, those of the costs or their copy for a part (parts/make_parts.h); of
 * more than TREE_REQUESTS_MAX, of evenly spread ones. Never NULL; free with tree_free(). */
struct tree_node *tree_new(const struct costs *costs, const struct user_requests *requests);
void tree_free(struct tree_node *node);

/* The nearest-rank percentile, ns. */
int64_t tree_percentile(const struct tree_node *node, unsigned percent);

#endif
