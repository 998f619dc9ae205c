/* SPDX-License-Identifier: MIT */
/* Where requests begin and end: by what was read and written, by processes, calls, events.
 *
 * Part of tracking/ (request_list.h); a function for each --preset.
 */
#ifndef WHYLATE_TRACKING_REQUEST_BOUNDS_H
#define WHYLATE_TRACKING_REQUEST_BOUNDS_H

#include "tracking/requests.h"

/* Fills the list, in order, and what is known of exchanges and the ends of connections. */
void user_requests_find(struct user_requests *requests);

#endif
