/* SPDX-License-Identifier: MIT */
/* The sockets of a network namespace, of /proc/PID/net.
 *
 * Place: statedump/, part of proc_dump.h. A descriptor tells its socket's inode alone; these tables
 * tell who is at both its ends.
 */
#ifndef WHYLATE_STATEDUMP_PROC_SOCKETS_H
#define WHYLATE_STATEDUMP_PROC_SOCKETS_H

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

/* Calls `each` for each socket in the namespace of that process, with an object that becomes
 * its. */
void sockets_of(const char *root, const char *pid, void (*each)(void *data, json_t *socket),
		void *data);

#endif
