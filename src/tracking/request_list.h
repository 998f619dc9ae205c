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

#endif
