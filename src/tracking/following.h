/* SPDX-License-Identifier: MIT */
/* Who works on which request, from when to when.
 *
 * Part of tracking/ (request_list.h); what is passed on how: requests.h. Until when, where nobody
 * answers: below.
 */
#ifndef WHYLATE_TRACKING_FOLLOWING_H
#define WHYLATE_TRACKING_FOLLOWING_H

#include "tracking/requests.h"

/* Fills parents, `of_exchange` and `working`. */
void user_requests_follow(struct user_requests *requests);

/* When requests end that nobody answers:
 *
 *   a  ──┤reads R├── works ──┤ ends                       R ends here, unfinished: b has the
 *   b  ── its process's other thread ─────────────        connection too, but never touched it
 *
 *   a  ──┤reads R├── works ──┤ ends
 *   b  ──────┤reads on / is given R├──────────── …        b has taken it over: R goes on
 *
 * A request without an answer ends with its connection (request_bounds.h), with its process, and
 * with the last of those threads of the process that worked on it: who is dead answers nobody, and
 * time after that is nobody's. Who merely could have taken it over has not. Threads of other
 * processes do not keep it: what they were given of it (a line for a log) asks for no answer. */
/* Before they are followed: with their processes. */
void requests_end_with_processes(struct user_requests *requests);
/* When it is known who worked on them: with their threads. */
void requests_end_with_threads(struct user_requests *requests);

#endif
