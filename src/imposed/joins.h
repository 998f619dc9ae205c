/* SPDX-License-Identifier: MIT */
/* Waits of a launcher for what it started: they only say how long that ran, which its own waits
 * say better.
 *
 *   launcher  ─fork a─fork b─┤ wait4 a    ├┤ wait4 b  ├─ exits
 *   make      ─fork a─┤ wait4 a     ├─fork b─┤ wait4 b ├─ exits       none
 *
 * Place: imposed/. A launcher starts two or more, and nobody once a child has ended, and writes to
 * no pipe or socket after such a wait; of threads that it made the same is asked of each wait. Nor
 * does it tell more of one thread if all that is left to do is to exit.
 */
#ifndef WHYLATE_IMPOSED_JOINS_H
#define WHYLATE_IMPOSED_JOINS_H

#include "waits/wait.h"

bool wait_is_join(const struct session *session, const struct wait *wait, const struct lead *lead);

#endif
