/* SPDX-License-Identifier: MIT */
/* The image of a session that goes on: each chunk is added when it is there, none is read twice.
 *
 *   chunk      |····· 0 ·····|····· 1 ·····|···
 *   this       ├──── 0 ────┤├───── 1 ─────┤        up to where the first CPU's ends: kept as it is
 *   a child                  ├─┤           ├─┤     the rest, the end of all lives ─► the cache
 *
 * The image is that of a run that reads all chunks at once (input/cache.h), so that the next
 * question about the session is answered from it. What is not the same for sure is not kept: chunks
 * out of order, one that cannot be read, user-space traces.
 *
 * Rejected: to go on from the image itself. It holds what was recorded, and not the half of the
 * state that is of use only while events pass.
 *
 * Place: input/, for whoever follows a session, in a process of its own.
 */
#ifndef WHYLATE_INPUT_GROWING_H
#define WHYLATE_INPUT_GROWING_H

#include <glib.h>
#include <stdbool.h>

#include "run/options.h"

struct growing;

/* `archives`: the directory of the chunks. Of the options, what they lead to is borrowed. */
struct growing *growing_new(const struct options *options, const char *archives);
void growing_free(struct growing *growing);

/* Reads the next chunk. False and an error: there will be no image of this session; free it. */
bool growing_add(struct growing *growing, const char *chunk, GError **error);
/* Keeps the image of what was added, if that is all there is. Waits a second at most, for files
 * that were just written. */
void growing_keep(struct growing *growing);

#endif
