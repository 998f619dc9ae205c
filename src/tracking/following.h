/* SPDX-License-Identifier: MIT */
/* Who works on which request, from when to when.
 *
 * Part of tracking/ (request_list.h); what is passed on how: requests.h.
 */
#ifndef WHYLATE_TRACKING_FOLLOWING_H
#define WHYLATE_TRACKING_FOLLOWING_H

#include "tracking/requests.h"

/* Fills parents, `of_exchange` and `working`. */
void user_requests_follow(struct user_requests *requests);

#endif
