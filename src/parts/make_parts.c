/* SPDX-License-Identifier: MIT */
/* See make_parts.h. */
#include "parts/make_parts.h"

#include <pthread.h>

#include "run/command.h"
#include "util/intern.h"

#define THREADS_MAX 64

static _Thread_local bool in_part; /* this thread makes one */

struct parts {
	const struct session *session;
	part_maker *make;
	part_taker *take;     /* NULL: nobody takes them */
	void *data;
	guint count;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t ended;
	guint next;           /* the first one that nobody has begun */
	guint done;           /* all before it have ended */
	guint taken;          /* all before it are taken */
	bool takes;           /* a thread takes one */
	bool *is_done;        /* owned, as is: */
	uint64_t *runs_read;  /* by each */
	uint64_t before;      /* by those PARTS_AHEAD and more before `next` */
};

/* Begins the next part; false: there is none. `runs_read`: by those before. */
static bool begin(struct parts *parts, guint *part, uint64_t *runs_read)
{
	pthread_mutex_lock(&parts->lock);
	while (parts->next < parts->count && parts->next >= parts->taken + PARTS_AHEAD)
		pthread_cond_wait(&parts->ended, &parts->lock);
	*part = parts->next;
	if (*part < parts->count) {
		parts->next++;
		if (*part >= PARTS_AHEAD)
			parts->before += parts->runs_read[*part - PARTS_AHEAD];
		*runs_read = parts->before;
	}
	pthread_mutex_unlock(&parts->lock);
	return *part < parts->count;
}

/* Takes what is there in order, if nobody else does; under the lock, which is let go meanwhile. */
static void take_made(struct parts *parts)
{
	if (!parts->take) {
		parts->taken = parts->done;
		return;
	}
	while (!parts->takes && parts->taken < parts->done) {
		parts->takes = true;
		pthread_mutex_unlock(&parts->lock);
		parts->take(parts->taken, parts->data);
		pthread_mutex_lock(&parts->lock);
		parts->takes = false;
		parts->taken++;
		pthread_cond_broadcast(&parts->ended);
	}
}

static void end(struct parts *parts, guint part, uint64_t runs_read)
{
	pthread_mutex_lock(&parts->lock);
	parts->runs_read[part] = runs_read;
	parts->is_done[part] = true;
	while (parts->done < parts->count && parts->is_done[parts->done])
		parts->done++;
	take_made(parts);
	pthread_cond_broadcast(&parts->ended);
	pthread_mutex_unlock(&parts->lock);
}

/* A thread that makes parts. */
struct worker {
	struct parts *parts; /* borrowed */
	struct session
		*own; /* owned; copied before others begin, as who takes parts uses the session */
	pthread_t thread;
};

static void *work(void *data)
{
	struct worker *worker = data;
	struct parts *parts = worker->parts;
	struct session *own = worker->own;
	uint64_t faults = 0, before = 0, runs_read;
	struct idmap user_names;
	guint part;

	in_part = true;
	own->trace.timeline.chunks_read = 0;
	own->trace.timeline.faults = own->trace.timeline.faults ? &faults : NULL;
	own->found.runs_read = &runs_read;
	own->found.user_names = &user_names;
	idmap_init(&user_names);
	while (begin(parts, &part, &before)) {
		runs_read = before;
		parts->make(own, part, parts->data);
		end(parts, part, runs_read - before);
	}
	in_part = false;
	idmap_clear(&user_names);
	return NULL;
}

static void make_in_threads(struct parts *parts, guint most)
{
	struct worker workers[THREADS_MAX];
	guint begun = 1;

	intern_share(parts->session->trace.model.names, most > 1);
	for (guint i = 0; i < most; i++)
		workers[i] =
			(struct worker) {.parts = parts,
					 .own = g_memdup2(parts->session, sizeof *parts->session)};
	while (begun < most &&
	       pthread_create(&workers[begun].thread, NULL, work, &workers[begun]) == 0)
		begun++;
	work(&workers[0]);
	for (guint i = 1; i < begun; i++)
		pthread_join(workers[i].thread, NULL);
	for (guint i = 0; i < most; i++)
		g_free(workers[i].own);
	intern_share(parts->session->trace.model.names, false);
}

static guint threads_for(const struct session *session, guint count)
{
	const struct options *options = session->asked.options;

	if (session->trace.timeline.samples.used || session->trace.model.images->len ||
	    session->recorded || (!options->jobs && session->trace.events < EVENTS_FOR_THREADS))
		return 1;
	return MIN(MIN(options_jobs(options), count), THREADS_MAX);
}

bool parts_are_beside(const struct session *session, guint count)
{
	return !in_part && threads_for(session, count) > 1;
}

bool parts_in_one(void)
{
	return in_part;
}

void parts_make_and_take(const struct session *session, guint count, part_maker *make,
			 part_taker *take, void *data)
{
	struct parts parts = {
		.session = session,
		.make = make,
		.take = take,
		.data = data,
		.count = count,
		.before = *session->found.runs_read,
		.is_done = g_new0(bool, count),
		.runs_read = g_new0(uint64_t, count),
	};

	if (in_part) {
		for (guint i = 0; i < count; i++) {
			make(session, i, data);
			if (take)
				take(i, data);
		}
	} else {
		pthread_mutex_init(&parts.lock, NULL);
		pthread_cond_init(&parts.ended, NULL);
		make_in_threads(&parts, MAX(threads_for(session, count), 1));
		pthread_mutex_destroy(&parts.lock);
		pthread_cond_destroy(&parts.ended);
		for (guint i = 0; i < count; i++)
			*session->found.runs_read += parts.runs_read[i];
	}
	g_free(parts.is_done);
	g_free(parts.runs_read);
}

void parts_make(const struct session *session, guint count, part_maker *make, void *data)
{
	parts_make_and_take(session, count, make, NULL, data);
}

/* --- sides -------------------------------------------------------------------------- */

struct one_side {
	const struct session *session;
	part_maker *make;
	void *data;
	guint side;
};

static void *make_side(void *data)
{
	const struct one_side *one = data;

	in_part = true;
	one->make(one->session, one->side, one->data);
	in_part = false;
	return NULL;
}

void parts_make_sides(const struct session *const sides[2], part_maker *make, void *data)
{
	struct one_side first = {sides[0], make, data, 0}, second = {sides[1], make, data, 1};
	pthread_t thread;
	bool beside = sides[0] != sides[1] && parts_are_beside(sides[0], 2) &&
		      parts_are_beside(sides[1], 2) &&
		      pthread_create(&thread, NULL, make_side, &second) == 0;

	if (beside) {
		make_side(&first);
		pthread_join(thread, NULL);
		return;
	}
	make(sides[0], 0, data);
	make(sides[1], 1, data);
}
