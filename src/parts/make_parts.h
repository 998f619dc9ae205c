/* SPDX-License-Identifier: MIT */
/* Parts of a report that are made beside each other, on as many processors as --jobs allows.
 *
 *   parts_make(session, 3, make, data)     this thread    make(own, 0) ─► make(own, 2) ─┐
 *                                          another one    make(own, 1) ────────────────┴─► returns
 *
 * Place: between run/ and the analyses, which take the session as it is, and change nothing that
 * others see. What they share besides has a lock (names: intern.h; session_make_once()), or is a
 * guess where to begin looking (timeline.h: hints). What they count, each has for itself: `own` is
 * the session with such counts. Where programs' functions may be looked up (samples, loaded
 * programs), which a child does for one at a time, and of a run that was re-timed, which looks up
 * the recorded one, parts are made one after the other.
 * Invariant: what comes out does not depend on how many threads there are, or who is first: a part
 * writes to a place of its own, and who asked puts them together in order; numbers of names made
 * meanwhile are compared only for being equal.
 * Rejected: processes, as their results would have to be sent, and names they make have numbers of
 * their own; a thread for each kind of analysis: they take unequally long.
 */
#ifndef WHYLATE_PARTS_MAKE_PARTS_H
#define WHYLATE_PARTS_MAKE_PARTS_H

#include "run/session.h"

/* A part is begun when all have ended, and been taken, that are so many and more before it. */
#define PARTS_AHEAD 8

/* `part`: counted from 0. `session` is its thread's own, until it returns. */
typedef void part_maker(const struct session *session, guint part, void *data);

/* So many would be, of that session: else each has less to itself for nothing. */
bool parts_are_beside(const struct session *session, guint count);
/* Returns when all are made. Within a part, and with one processor, they are made one after the
 * other. Not from what session_make_once() makes: parts may wait for that. */
void parts_make(const struct session *session, guint count, part_maker *make, void *data);
/* The same; each is taken when it and all before it are made, one after the other, in order, while
 * others are made. What takes may change what it alone knows, and use the session that was given
 * here. At most PARTS_AHEAD wait to be taken. */
typedef void part_taker(guint part, void *data);
void parts_make_and_take(const struct session *session, guint count, part_maker *make,
			 part_taker *take, void *data);
/* This thread makes a part: what it has for itself is one of several. */
bool parts_in_one(void);

/* Part 0 of the first session and part 1 of the second, beside each other where they are two. Each
 * is given the session itself, which nobody else looks at meanwhile: what it makes may keep it, and
 * must not look at the other one. */
void parts_make_sides(const struct session *const sides[2], part_maker *make, void *data);

#endif
