/* SPDX-License-Identifier: MIT */
/* What a piece of a request's path is put down to: a kind, and a label that is the same where
 * many requests wait for the same.
 *
 * Place: tracking/, for the costs of requests and the tree of calls. A wait for a lock is the
 * lock's, whatever its owner did with it meanwhile; else the kind is the piece's own
 * (path_sums.h), and cause_info() says what its label is made of.
 */
#ifndef WHYLATE_TRACKING_PIECE_CAUSE_H
#define WHYLATE_TRACKING_PIECE_CAUSE_H

#include "path/path.h"
#include "tracking/requests.h"
#include "tracking/thread_names.h"
#include "util/idmap.h"

/* What users can change about a cause. */
enum user_change {
	CHANGE_NOTHING,
	CHANGE_CONFIGURATION, /* a file under /etc, or one that the process read before its
				 first request */
	CHANGE_INPUT,         /* what came, or did not come, over the request's connection */
};

struct piece_namer {
	const struct session *session; /* borrowed */
	struct thread_names *names; /* owned */
	struct idmap ends; /* host and key of a socket that has an inode -> its end */
	GHashTable *early; /* owned; process and file -> it is read at start-up */
	GHashTable *leaves; /* owned; leaf -> leaf_key() (owned) */
	GHashTable *services; /* owned; address (borrowed) -> who reads there: thread + 1 */
	GArray *ran, *ran_of; /* owned; int64_t ns by number of a name; of which it is not 0 */
	bool of_requests;  /* what many threads of one name do is one cause */
};

/* `requests`: whose causes are told; NULL: of no requests. */
struct piece_namer *piece_namer_new(const struct session *session,
				    const struct user_requests *requests);
void piece_namer_free(struct piece_namer *namer);

/* "mutex 0xa563c8, held by lock-0 (216)", by who held the lock longest that `block`, a wait of
 * `thread` over [begin, end), is for; of requests, which threads serve by turns, "held by app" or
 * "held by another thread of app". False: it is for none, or nobody is known to have held it. */
bool lock_holder_label(const struct piece_namer *namer, const struct block *block, uint32_t thread,
		       int64_t begin, int64_t end, GString *label);

/* What a piece of a request's path is put down to: its kind (static), and its label into
 * `label`. */
const char *piece_put_down_to(const struct piece_namer *namer, const struct user_request *request,
			      const struct path *path, const struct piece *piece, GString *label,
			      enum user_change *change);

const char *change_text(enum user_change change); /* NULL: nothing */

#endif
