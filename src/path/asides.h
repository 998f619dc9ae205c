/* SPDX-License-Identifier: MIT */
/* What ended a wait for several things in between, and led to nothing, in words.
 *
 * Place: path/, for the verdict. Which ends led to nothing is path/several.h; a wait of the path
 * that is several in one begins before the one of its block.
 */
#ifndef WHYLATE_PATH_ASIDES_H
#define WHYLATE_PATH_ASIDES_H

#include "path/path.h"

/* "the end of job-c (257)", "a timer and 3 more"; NULL: there was no such end. Free it. */
char *asides_words(const struct session *session, const struct through *wait);

#endif
