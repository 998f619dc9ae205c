/* SPDX-License-Identifier: MIT */
/* How sums over many threads call them: threads of one name are one, unless few processes have it.
 *
 * Place: tracking/, for the causes of requests and the tree of calls.
 */
#ifndef WHYLATE_TRACKING_THREAD_NAMES_H
#define WHYLATE_TRACKING_THREAD_NAMES_H

#include "run/session.h"
#include "util/intern.h"

struct thread_names {
	const struct session *session; /* borrowed */
	struct intern *texts; /* owned; of those that were numbered */
	uint32_t *numbers; /* owned; of each thread, 0: not asked for yet */
	GPtrArray *of; /* owned strings: of each thread, NULL: not asked for yet */
	GHashTable *called; /* owned; host and name -> how many processes have it */
};

struct thread_names *thread_names_new(const struct session *session);
void thread_names_free(struct thread_names *names);

/* The thread's name; with its process where up to NAMESAKES_MAX processes have that name, and with
 * its host where there are several. */
#define NAMESAKES_MAX 8
const char *thread_names_get(const struct thread_names *names, uint32_t thread);
/* Small numbers from 1 on, the same where names are the same. */
uint32_t thread_names_number(const struct thread_names *names, uint32_t thread);
/* Processes that have the thread's name, counted up to NAMESAKES_MAX + 1. */
guint thread_names_sharing(const struct thread_names *names, uint32_t thread);
/* It is called so; takes `name`. */
void thread_names_set(struct thread_names *names, uint32_t thread, char *name);

#endif
