/* SPDX-License-Identifier: MIT */
/* What this process gives up before it reads what somebody else made.
 *
 * Place: confine/, which knows nothing of traces. Two things of the kernel do it: Landlock says
 * which files can be opened (confine/confine_files.c), a seccomp filter which system calls there
 * are (confine/confine_calls.c). Neither can be taken back, and processes that are begun later have
 * them too. A kernel without one of the two is no error: what there is holds, and confine_text()
 * says so.
 *
 *   allowed = confine_new()
 *   confine_read(allowed, "trace")      files at or below it can be read
 *   confine_write(allowed, "out")       … and written, made, removed
 *   confine_begin(allowed, CONFINE_ANALYSIS)
 *
 * A path that is not there when confine_begin() is called allows nothing. What is open already
 * stays open. It is called before there are threads: Landlock holds for the one that calls it.
 * Rejected: a process that reads and one that reports (what is read is gigabytes), namespaces (they
 * need rights, or are off), chroot (needs rights).
 */
#ifndef WHYLATE_CONFINE_CONFINE_H
#define WHYLATE_CONFINE_CONFINE_H

#include <glib.h>
#include <stdbool.h>

#include "confine/sets.h"

struct confine;

struct confine *confine_new(void);
void confine_free(struct confine *confine);

void confine_read(struct confine *confine, const char *path);
/* `sees`: what is there can be read, too. */
void confine_write(struct confine *confine, const char *path, bool sees);
/* The file that will be made or replaced at `path`, beside which its new content is written. */
void confine_make(struct confine *confine, const char *path, bool sees);

/* From here on nothing else can be done. `confine` NULL: files stay as they are but that none can
 * be written. */
void confine_begin(const struct confine *confine, enum confine_set set);

/* What holds for this process, or would. */
struct confine_state {
	bool begun;
	bool off; /* WHYLATE_SANDBOX=off */
	int files; /* version of Landlock; 0: this kernel has none, or does not let us */
	bool calls;
};
/* What was begun. */
struct confine_state confine_state(void);
/* What this kernel offers; changes nothing. */
struct confine_state confine_offered(void);
/* For people, without a full stop. Free with g_free(). */
char *confine_text(const struct confine_state *state);

#endif
