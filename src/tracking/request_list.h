/* SPDX-License-Identifier: MIT */
/* The requests of a trace that are asked for: found, followed, in scope, picked.
 *
 * Place: tracking/, over request_bounds.h, following.h and request_filter.h.
 */
#ifndef WHYLATE_TRACKING_REQUEST_LIST_H
#define WHYLATE_TRACKING_REQUEST_LIST_H

#include "tracking/request_filter.h"

/* The requests that the session's options and `scope` ask for. NULL and `error` (usage): a
 * request that is picked does not exist. Free with user_requests_free(). */
struct user_requests *
user_requests_new(const struct session *session, const struct request_scope *scope, GError **error);
/* Others of the same requests: by other picks, in the same window. `base` must outlive it. */
struct user_requests *user_requests_repick(const struct user_requests *base,
					   const struct request_scope *scope, GError **error);

/* The same requests in a run that was re-timed, whose session has the same threads and exchanges:
 * each begins and ends when its threads get there. `base` must last as long. */
typedef int64_t moved_time(const void *data, uint32_t thread, int64_t time);
struct user_requests *
user_requests_moved(const struct user_requests *base, const struct session *session,
		    moved_time *moved, const void *data);

#endif
