/* SPDX-License-Identifier: MIT */
/* What ended a wait for several things in between, and led to nothing, in words.
 *
 * Place: path/, for the verdict. Which ends led to nothing is path/several.h; a wait of the path
 * that is several in one begins before the one of its block.
 */
#ifndef WHYLATE_PATH_ASIDES_H
#define WHYLATE_PATH_ASIDES_H

#include "path/path.h"

/* "; job-c's end in between led to nothing"; nothing where there was no such end. */
void append_asides(GString *text, const struct session *session, const struct through *wait);

#endif
