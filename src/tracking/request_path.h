/* SPDX-License-Identifier: MIT */
/* The way of a request's time, over all threads that it went through.
 *
 * Place: tracking/, of path.h's critical paths.
 */
#ifndef WHYLATE_TRACKING_REQUEST_PATH_H
#define WHYLATE_TRACKING_REQUEST_PATH_H

#include "path/path.h"
#include "tracking/requests.h"

/* The way of its time, from its begin to its end, over all threads that it went through: the
 * critical path, but that it goes on from where bytes were read to where they were written.
 * Its pieces tile the request. Free with path_free(). */
struct path *user_request_path(const struct user_requests *requests,
			       const struct user_request *request);

/* Before the ways of many requests are looked for, one after the other. */
void requests_renew_effort(const struct user_requests *requests);
/* Hands on the ways of the listed requests, in order: each as user_request_path() would find it if
 * it were asked for one after the other, but found beside each other (parts/). `path` is
 * borrowed. */
typedef void way_taker(guint listed, const struct path *path, void *data);
void user_requests_ways(const struct user_requests *requests, way_taker *take, void *data);

#endif
