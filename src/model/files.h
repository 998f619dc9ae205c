/* SPDX-License-Identifier: MIT */
/* File descriptors: which open file, pipe, socket … a number means in which
 * thread.
 *
 * Place: model/. flow/ tells of system calls that succeeded and of the
 * statedump; when a thread blocks, flow/ asks what its descriptor is. A
 * table is shared by threads made with CLONE_FILES; a forked copy shares its
 * store until one side changes it. A descriptor nobody described is unknown.
 *
 * A file is named by its key as reports show it: "file:/etc/hosts",
 * "pipe:[12]", "socket:10.0.0.1:80", "eventfd", "timerfd", "epoll".
 */
#ifndef WHYLATE_MODEL_FILES_H
#define WHYLATE_MODEL_FILES_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/intern.h"

struct fd_table;

#define FD_NO_CHANNEL UINT32_MAX /* asked for: it is no connection's end */
#define FD_NO_TALK UINT32_MAX    /* … neither socket nor pipe */

/* An open file description: shared by dup and fork. */
struct open_file {
	int refs;
	uint32_t key;        /* interned */
	uint32_t channel;    /* number of the struct channel_end, 0: not asked for yet */
	uint32_t talk;       /* number of the struct talk, 0: not asked for yet */
	bool listens;        /* a socket: listen() was called */
	uint64_t flow;       /* TCP: key of the way from here (connections.h), 0: not known */
	GHashTable *cookies; /* owned; epoll: cookie -> fd; NULL */
};

struct fd_table *fd_table_new(void);
struct fd_table *fd_table_join(struct fd_table *table); /* one more owner */
void fd_table_leave(struct fd_table **table);           /* one less; sets NULL */
void fd_table_release(gpointer table);                  /* the same, as GDestroyNotify */
struct fd_table *fd_table_copy(struct fd_table *table);
/* What `from` knows and `into` does not, `into` learns; also the number of a socket's end that
 * only `into` has a name for. */
void fd_table_merge(struct fd_table *into, struct fd_table *from);

/* A new open file under `fd`, replacing what was there. */
struct open_file *fd_open(struct fd_table *table, int32_t fd, uint32_t key, bool cloexec);
/* `to` means the same open file as `from` (unknown if that is). */
void fd_dup(struct fd_table *table, int32_t from, int32_t to, bool cloexec);
void fd_close(struct fd_table *table, int32_t fd);
void fd_close_range(struct fd_table *table, uint32_t first, uint32_t last);
void fd_set_cloexec(struct fd_table *table, int32_t fd, bool cloexec);
void fd_exec(struct fd_table *table); /* closes what is close-on-exec */
/* Names the open file under `fd` anew (connect): all its descriptors follow. */
void fd_rename(struct fd_table *table, int32_t fd, uint32_t key);

/* What `fd` is, NULL if nothing is known of it; a NULL table knows nothing. Good until the table
 * changes. */
struct open_file *fd_file(struct fd_table *table, int32_t fd);
/* The same, if no other descriptor that is known of means it: who closes this one closes it. */
struct open_file *fd_last(struct fd_table *table, int32_t fd);
/* Calls `visit` for each such one of the table. */
void fd_each_last(struct fd_table *table, void (*visit)(const struct open_file *file, void *data),
		  void *data);
/* Its key, 0 if that is not known. */
uint32_t fd_key(struct fd_table *table, int32_t fd);
/* A family: a process and its children, theirs and so on, that run the same program and were
 * there before the trace, as a server and its workers; they are mostly in one directory. Its
 * number is the TID of the first; 0: none. Lost with an exec. */
void fd_set_family(struct fd_table *table, int32_t family);
int32_t fd_family(const struct fd_table *table);
/* Of the last parts of a file's name that one of them has open. */
#define ENDINGS_MOST 3 /* parts */
#define ENDING_OF_SEVERAL (UINT32_MAX - 1)
uint64_t fd_ending_hash(int32_t family, const char *name);
/* The current directory of the processes that have the table: interned path, 0: not known. */
void fd_set_cwd(struct fd_table *table, uint32_t path);
uint32_t fd_cwd(const struct fd_table *table);
/* The key of the only open file whose absolute name ends with the relative `name`; 0: there is
 * none, or there are several. */
uint32_t fd_named_so(struct fd_table *table, const struct intern *names, const char *name);

/* Calls `visit` with each descriptor that was registered with the epoll `epfd`, `max` at most. */
void fd_epoll_each(struct fd_table *table, int32_t epfd, guint max,
		   void (*visit)(int32_t fd, void *data), void *data);
/* No other descriptor means the same open file. */
bool fd_is_last(struct fd_table *table, int32_t fd);

/* epoll_ctl: the cookie of `fd` in the epoll `epfd`. */
void fd_epoll_set(struct fd_table *table, int32_t epfd, uint64_t cookie, int32_t fd);
/* The descriptor registered with that cookie, -1 if not known. */
int32_t fd_epoll_get(struct fd_table *table, int32_t epfd, uint64_t cookie);

/* The key of a statedump file name: "pipe:[7]", "anon_inode:[eventfd]", paths. */
uint32_t file_key_of_name(struct intern *names, const char *name);

#endif
