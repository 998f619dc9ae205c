/* SPDX-License-Identifier: MIT */
/* Work that several processors share.
 *
 * Place: jobs/, below all that has such work: the walk over what a window passes over, the
 * analyses of a report (session_make_all()). Nothing here knows what is done.
 */
#ifndef WHYLATE_JOBS_JOBS_H
#define WHYLATE_JOBS_JOBS_H

#include <glib.h>

/* Does the part `index` of the work; several threads call it at a time, each with another index. */
typedef void job_part(void *data, guint index);

/* Does all parts, [0, count), each once, in up to `threads` threads, of which the caller's is one,
 * and returns when they are done. They are begun in the order of their numbers. The caller's thread
 * does what no other can be had for. */
void jobs_do(guint count, guint threads, job_part *part, void *data);

#endif
