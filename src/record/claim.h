/* SPDX-License-Identifier: MIT */
/* What a recording made outside its own process, written down while it lasts; so that somebody
 * else can tell what is to be removed if it is killed, and where its flight recorder writes to.
 *
 *   /run/whylate/whylate-77   session, group, output, …   ◄── locked (flock) by whom it is of
 *
 * Place: record/. A claim that nobody has locked is of a recording that was killed: a PID may be
 * another's meanwhile, a lock cannot. Of who is not root they are below $XDG_RUNTIME_DIR.
 */
#ifndef WHYLATE_RECORD_CLAIM_H
#define WHYLATE_RECORD_CLAIM_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

struct claim {
	char *path;       /* owned; of the file */
	char *session, *group, *output; /* owned; "" where there is none */
	uint64_t device, inode;         /* of `output`, as it was made; 0 */
	bool flight;                    /* a flight recorder's */
	bool alive;       /* of those that are read: somebody has it locked */
	int64_t made;                   /* ns since 1970 */
	int file;
};

/* Fails where there is one of that name. The directory `output` must be there. */
struct claim *claim_make(const char *session, const char *group, const char *output, bool flight,
			 GError **error);
/* All that was claimed is undone. */
void claim_end(struct claim *claim);

/* Those there are, the newest first; a dead one's is locked by us then, as long as it is held. Free
 * with g_ptr_array_unref(). */
GPtrArray *claims(void);
/* A dead one's is removed. */
void claim_forget(struct claim *claim);
/* Its output is still the directory that was made then. */
bool claim_has_output(const struct claim *claim);

#endif
