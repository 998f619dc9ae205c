/* SPDX-License-Identifier: MIT */
/* Which files this process can open: Landlock, by system calls; see confine.h.
 *
 * Versions differ in what they know; what a kernel does not know it does not refuse. Numbers and
 * structures are the kernel's (include/uapi/linux/landlock.h): headers of old systems lack the new
 * ones.
 */
#ifndef WHYLATE_CONFINE_FILES_H
#define WHYLATE_CONFINE_FILES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define FILES_EXECUTE (UINT64_C(1) << 0)
#define FILES_WRITE (UINT64_C(1) << 1)
#define FILES_READ (UINT64_C(1) << 2)
#define FILES_LIST (UINT64_C(1) << 3)
#define FILES_REMOVE_DIRECTORY (UINT64_C(1) << 4)
#define FILES_REMOVE (UINT64_C(1) << 5)
#define FILES_MAKE_DIRECTORY (UINT64_C(1) << 7)
#define FILES_MAKE (UINT64_C(1) << 8)
#define FILES_TRUNCATE (UINT64_C(1) << 14)

struct files_rule {
	char *path; /* owned */
	uint64_t rights;
};

/* The version that this kernel has, 0: none. */
int files_version(void);
/* Only what the rules (struct files_rule) allow; NULL: all but writing. The process must have no
 * new privileges. Returns the version that holds now, 0: none. */
int files_confine(const GArray *rules, bool network);

#endif
