/* SPDX-License-Identifier: MIT */
/* What takes long, in a process of its own: a copy of the server's at that time, so that it needs
 * no reading, can ask the session another question, and can be ended.
 *
 *   server ──┬──────── answers others ─────────┬── sends it
 *            └ fork ─ worker ─ analysis ─ file ┘
 *
 * Place: serve/. What it writes goes to a file without a name.
 */
#ifndef WHYLATE_SERVE_WORKER_H
#define WHYLATE_SERVE_WORKER_H

#include "serve/route.h"

/* An answer, as it is kept and sent. */
struct answer {
	unsigned status;
	char *type;    /* owned */
	GBytes *bytes; /* owned */
};

void answer_clear(struct answer *answer);
/* The bytes are the same. */
struct answer answer_copy(const struct answer *answer);
/* Of what was asked and answered here; asking_end() is done. */
struct answer answer_of(struct asking *asking);

struct worker {
	pid_t pid; /* 0: it is over */
	int file;
};

/* False: none could be begun. */
bool worker_begin(struct worker *worker, struct asking *asking, const struct route *route);
/* It has ended, as waitpid() said: what it answered. */
struct answer worker_answer(struct worker *worker, int status);
/* Ends it, and waits for that. */
void worker_kill(struct worker *worker);

#endif
