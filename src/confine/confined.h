/* SPDX-License-Identifier: MIT */
/* A function that is run in a child process, since it may crash or hang there.
 *
 * Part of confine/, for libraries that read files without being made for hostile
 * ones (libdw: symbols/binary.h). The child has the state as fork() copies it, can read files and
 * answer, and nothing else (CONFINE_CHILD), also where its parent is Babeltrace; it takes
 * CONFINED_BYTES besides at most, and ends with its parent. What comes back is to be read with the
 * same distrust as the file.
 *
 * Each binary has its own child, 8 at a time: a file on which it crashes, or is silent for 30 s,
 * cannot be read, and the report says so. No server is asked for debug files. What remains: the
 * child can read what its parent can, and a file made for it may make its own answers wrong.
 * Rejected: limits on sizes (libdw hangs on small files), one child for all files (a crash would
 * spoil another file's answer), libstdc++'s demangler (no Rust, and one more shared library).
 */
#ifndef WHYLATE_CONFINE_CONFINED_H
#define WHYLATE_CONFINE_CONFINED_H

#include <glib.h>
#include <stdint.h>

#define CONFINED_BYTES (UINT64_C(2) << 30) /* of memory, above what the parent has */
#define CONFINED_MESSAGE 65536             /* the longest question or answer, bytes */

enum confined_end {
	CONFINED_ANSWERED,
	CONFINED_CRASHED, /* or ended by itself: confined_why() */
	CONFINED_SLOW,    /* it was killed */
	CONFINED_NONE,    /* there can be no child: confined_why() */
};

/* Answers in the child: `data` is its own copy of what the parent had when it first asked. */
typedef void (*confined_serve)(void *data, const void *question, size_t length, GByteArray *answer);

struct confined;

/* `data` is borrowed; nothing is started before the first question. */
struct confined *confined_new(confined_serve serve, void *data);
void confined_free(struct confined *confined);

/* Asks, and waits for as many milliseconds at most. A child that has not answered is gone, and
 * so is what it knew: the next question starts another one. `answer` is emptied first. */
enum confined_end confined_ask(struct confined *confined, const void *question, size_t length,
			       GByteArray *answer, int timeout);
/* Ends the child, as if it had crashed. */
void confined_stop(struct confined *confined);
/* What became of the last question that had no answer, for people. */
const char *confined_why(const struct confined *confined);

#endif
