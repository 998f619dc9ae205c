/* SPDX-License-Identifier: MIT */
/* The containers of a trace, and the one that --container names.
 *
 * Place: run/, over model/container. A container is here a PID namespace or
 * a cgroup namespace other than the host's. To be in a PID namespace is to be
 * visible there: threads of namespaces nested in it are, too.
 */
#ifndef WHYLATE_RUN_CONTAINERS_H
#define WHYLATE_RUN_CONTAINERS_H

#include "run/session.h"

enum namespace_kind { NAMESPACE_PID, NAMESPACE_CGROUP };

struct container {
	uint16_t host;
	enum namespace_kind kind;
	uint32_t number;
	uint32_t parent;  /* PID: number of the namespace around it, 0: not known */
	uint32_t level;   /* PID: 1 directly in the host's */
	uint32_t first;   /* PID: its process 1, NO_THREAD */
	uint32_t threads; /* that lived in the window */
	GArray *names;    /* owned; uint32_t interned, each once */
};

/* Those with a thread in the window, by host, kind, number. Free with
 * g_array_free(), which frees what is in them. */
GArray *containers_new(const struct session *session);

/* "pid:[4026532201]", as `ls -l /proc/PID/ns` prints it; free with g_free(). */
char *namespace_text(enum namespace_kind kind, uint32_t number);

/* Resolves --container into session->asked.chosen. */
bool container_choose(struct session *session, GError **error);

/* The thread is in the container that was asked for, or none was; `ids` (if not
 * NULL): what it is there, else on the host. */
bool container_has(const struct session *session, uint32_t thread, struct ids *ids);

#endif
