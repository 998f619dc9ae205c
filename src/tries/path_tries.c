/* SPDX-License-Identifier: MIT */
/* Tries of files, and who made and removed these; see path_tries.h. */
#include "tries/path_tries.h"

#include <string.h>

#include "model/files.h"
#include "objects/calls.h"
#include "tries/call_tries.h"

#define NO_SUCH_FILE 2 /* ENOENT, EEXIST of the traced kernel: the same everywhere */
#define FILE_EXISTS 17
#define O_CREAT_BIT 0100u
#define O_EXCL_BIT 0200u
#define MAKERS 1024 /* names whose maker is remembered; a newer one takes another's place */
#define UNNAMED 8

/* Who made what is there under a name. */
struct maker {
	int64_t time;
	uint32_t path;   /* interned, 0: free */
	uint32_t thread;
	bool certain;    /* else it may have been there: it was opened so that it would be made */
};

/* A file was made or removed, of which the name is not recorded: a socket was bound, or the tracer
 * could not copy the name. */
struct unnamed {
	int64_t time;
	uint32_t thread;
	enum try_kind kind; /* that it may be for */
};

struct path_makers {
	struct maker all[MAKERS];
	struct unnamed unnamed[UNNAMED]; /* the last ones */
	uint32_t unnamed_count;
};

static struct path_makers *makers_of(struct flow *flow)
{
	if (!flow->makers)
		flow->makers = g_new0(struct path_makers, 1);
	return flow->makers;
}

void path_makers_clear(struct flow *flow)
{
	g_free(flow->makers);
	flow->makers = NULL;
}

void path_makers_forget(struct flow *flow, int64_t before)
{
	for (int i = 0; flow->makers && i < MAKERS; i++) {
		struct maker *maker = &flow->makers->all[i];

		if (maker->path && flow_thread(flow, maker->thread)->end <= before)
			maker->path = 0;
	}
	if (flow->makers)
		flow->makers->unnamed_count = 0;
}

/* --- names ------------------------------------------------------------------------- */

static const char *without_dot(const char *path)
{
	while (path[0] == '.' && path[1] == '/')
		path += 2;
	return path;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static uint64_t path_number(const struct flow *flow, uint32_t path)
{
	return g_str_hash(last_part(without_dot(intern_text(flow->names, path))));
}

/* `end` is what `path` ends with, from one of its parts on. */
static bool ends_with(const char *path, const char *end)
{
	size_t length = strlen(path), part = strlen(end);

	return *end != '/' && length > part && path[length - part - 1] == '/' &&
	       strcmp(path + length - part, end) == 0;
}

static bool same_path(const struct flow *flow, uint32_t a, uint32_t b)
{
	const char *x = without_dot(intern_text(flow->names, a));
	const char *y = without_dot(intern_text(flow->names, b));

	return a == b || strcmp(x, y) == 0 || ends_with(x, y) || ends_with(y, x);
}

static bool concerns_path(struct flow *flow, const struct try *try, uint32_t path)
{
	return same_path(flow, try->number, path);
}

/* --- who made and removed ---------------------------------------------------------- */

static struct maker *maker_place(struct flow *flow, uint32_t host, uint32_t path)
{
	uint64_t hash = try_id(host, TRY_GOES, path_number(flow, path));

	return &makers_of(flow)->all[hash % MAKERS];
}

/* Who made what is there under the name; NULL: not seen. */
static const struct maker *maker_of(struct flow *flow, uint32_t host, uint32_t path)
{
	const struct maker *maker;

	if (!flow->makers)
		return NULL;
	maker = maker_place(flow, host, path);
	return maker->path && same_path(flow, maker->path, path) &&
			       flow_thread(flow, maker->thread)->host == host &&
			       flow_thread(flow, maker->thread)->state != THREAD_DEAD
		       ? maker
		       : NULL;
}

static void path_made(struct flow *flow, uint32_t index, uint32_t path, bool alone)
{
	uint32_t host = flow_thread(flow, index)->host;

	if (!path)
		return;
	tries_made(flow, try_id(host, TRY_APPEARS, path_number(flow, path)), index, concerns_path,
		   path, false);
	if (alone || !maker_of(flow, host, path))
		*maker_place(flow, host, path) = (struct maker) {
			.time = flow->time, .path = path, .thread = index, .certain = alone};
}

/* A script makes and removes its lock by short processes (`mkdir`, `rmdir`): whoever started both
 * had it meanwhile. */
static uint32_t had_by(const struct flow *flow, uint32_t maker, uint32_t remover)
{
	const struct thread *made = model_thread(flow->model, maker);
	const struct thread *removed = model_thread(flow->model, remover);

	return maker != remover && made->state == THREAD_DEAD && made->born && removed->born &&
			       made->pid != removed->pid && is_thread(made->parent) &&
			       made->parent == removed->parent
		       ? made->parent
		       : remover;
}

static void path_removed(struct flow *flow, uint32_t index, uint32_t path)
{
	uint32_t host = flow_thread(flow, index)->host, by = index;
	struct maker *maker;

	if (!path)
		return;
	maker = flow->makers ? maker_place(flow, host, path) : NULL;
	if (maker && maker->path && same_path(flow, maker->path, path)) {
		by = had_by(flow, maker->thread, index);
		maker->path = 0;
	}
	tries_made(flow, try_id(host, TRY_GOES, path_number(flow, path)), by, concerns_path, path,
		   false);
}

static void path_unnamed(struct flow *flow, uint32_t index, enum try_kind kind)
{
	struct path_makers *makers;

	if (!tries_any(flow, kind))
		return;
	makers = makers_of(flow);
	makers->unnamed[makers->unnamed_count++ % UNNAMED] =
		(struct unnamed) {flow->time, index, kind};
}

void path_socket_bound(struct flow *flow, uint32_t index)
{
	path_unnamed(flow, index, TRY_APPEARS);
}

/* Who made the difference after the try's last failure: by name; else the only one who did such a
 * thing to a file without one. */
static const struct unnamed *
difference(struct flow *flow, const struct try *try, struct unnamed *known)
{
	const struct unnamed *found = NULL;
	uint32_t host = flow_thread(flow, try->thread)->host;

	*known = (struct unnamed) {try->made, try->maker, try->kind};
	if (try->maker != NO_THREAD)
		return known;
	for (uint32_t i = 0; flow->makers && i < MIN(flow->makers->unnamed_count, UNNAMED); i++) {
		const struct unnamed *at = &flow->makers->unnamed[i];

		if (at->time <= try->last || at->kind != try->kind ||
		    flow_thread(flow, at->thread)->host != host)
			continue;
		if (found && found->thread != at->thread)
			return NULL;
		found = at;
	}
	return found;
}

/* --- tries ------------------------------------------------------------------------- */

static struct try try_of(struct flow *flow, uint32_t index, enum try_kind kind, uint32_t path,
			 int32_t result)
{
	const struct thread *thread = flow_thread(flow, index);

	return (struct try) {.kind = (uint8_t) kind,
			     .id = try_id(thread->host, kind, path_number(flow, path)),
			     .number = path,
			     .call = thread->flow.call.name,
			     .result = result,
			     .target = NO_THREAD,
			     .owner = NO_THREAD};
}

static bool is_own(const struct flow *flow, uint32_t index, uint32_t other)
{
	const struct thread *thread = model_thread(flow->model, index);
	const struct thread *maker = model_thread(flow->model, other);

	return index == other || maker->parent == index ||
	       (thread->pid >= 0 && maker->pid == thread->pid);
}

static void explain(struct flow *flow, struct try *try, enum reason_kind kind, uint32_t thread,
		    int64_t until)
{
	struct reason reason = reason_of_kind(kind);

	reason.thread = thread;
	reason.other = kind == REASON_FILE_GOES ? try->owner : NO_THREAD;
	reason.from = try->since;
	reason.until = until;
	reason.flags = try->maker == NO_THREAD ? REASON_INFERRED : 0;
	try_explained(flow, try, &reason, 0);
}

/* It is still there. Who made it is known to have it, if this was to make one's own. */
static void in_the_way(struct flow *flow, uint32_t index, uint32_t path, int32_t result)
{
	struct try like = try_of(flow, index, TRY_GOES, path, result), *try;
	const struct maker *maker = maker_of(flow, flow_thread(flow, index)->host, path), *holder;

	like.owner = maker ? maker->thread : NO_THREAD;
	try = try_failed(flow, index, &like);
	if (!try || !result)
		return;
	holder = maker && maker->certain ? maker : NULL;
	if (try->maker != NO_THREAD && (!holder || holder->time > try->made))
		/* given up, and another was faster */
		explain(flow, try, REASON_FILE_GOES, try->maker, try->made);
	else if (holder && !is_own(flow, index, holder->thread))
		explain(flow, try, REASON_FILE_GOES, holder->thread, flow->time);
}

static void not_there(struct flow *flow, uint32_t index, uint32_t path)
{
	struct try like = try_of(flow, index, TRY_APPEARS, path, -NO_SUCH_FILE);

	try_failed(flow, index, &like);
}

/* The look after the one that found what was looked for: it goes on looking. */
static bool looks_on(struct flow *flow, uint32_t index, const struct try *like)
{
	struct try *try = try_find(flow, index, like);
	struct pauses pauses;

	if (!try || !try->over)
		return false;
	pauses = try_pauses(flow, index, try->last);
	if (!pauses.count)
		return true;
	if (pauses.naps >= pauses.other)
		try_taken_back(flow, try);
	try_drop(flow, try);
	return true;
}

static void try_over(struct flow *flow, struct try *try)
{
	try->over = true;
	try->last = flow->time;
}

/* The try that has succeeded, as another made the difference: who, and when. Else NULL. */
static struct try *try_passed(struct flow *flow, uint32_t index, const struct try *like,
			      struct unnamed *by)
{
	struct try *try = try_succeeds(flow, index, like);
	const struct unnamed *made;
	struct unnamed known;

	if (!try)
		return NULL;
	made = difference(flow, try, &known);
	if (!made || is_own(flow, index, made->thread)) {
		try_drop(flow, try);
		return NULL;
	}
	*by = *made;
	return try;
}

/* `index`, or a child of it, has found the file. */
static void appeared(struct flow *flow, uint32_t index, uint32_t path)
{
	struct try like = try_of(flow, index, TRY_APPEARS, path, -NO_SUCH_FILE), *try;
	struct unnamed made;

	if (!tries_watch(flow, like.id) || looks_on(flow, index, &like))
		return;
	try = try_passed(flow, index, &like, &made);
	if (!try)
		return;
	explain(flow, try, REASON_FILE_APPEARS, made.thread, made.time);
	try_over(flow, try);
}

static void gone(struct flow *flow, uint32_t index, uint32_t path, int32_t result)
{
	struct try like = try_of(flow, index, TRY_GOES, path, result), *try;
	const struct reason *before;
	struct unnamed made;
	uint32_t thread;

	if (!tries_watch(flow, like.id) || (!result && looks_on(flow, index, &like)))
		return;
	try = try_passed(flow, index, &like, &made);
	if (!try)
		return;
	/* who had it may have let a child remove it */
	before = try->reason ? reason_at(flow->timeline, try->reason) : NULL;
	thread = before && flow_thread(flow, made.thread)->parent == before->thread
			 ? before->thread
			 : made.thread;
	explain(flow, try, REASON_FILE_GOES, thread, made.time);
	if (result)
		try_drop(flow, try);
	else
		try_over(flow, try);
}

/* A child looks for its parent: `until test -e FILE; do sleep 1; done`. */
static void for_parents(struct flow *flow, uint32_t index, uint32_t path,
			void (*look)(struct flow *flow, uint32_t index, uint32_t path))
{
	uint32_t parent = flow_thread(flow, index)->parent;

	look(flow, index, path);
	if (flow_thread(flow, index)->born && is_thread(parent) &&
	    flow_thread(flow, parent)->flow.tries)
		look(flow, parent, path);
}

static void gone_by_look(struct flow *flow, uint32_t index, uint32_t path)
{
	gone(flow, index, path, 0);
}

static void gone_by_making(struct flow *flow, uint32_t index, uint32_t path)
{
	gone(flow, index, path, -FILE_EXISTS);
}

static void looked(struct flow *flow, uint32_t index, uint32_t path, int64_t ret)
{
	if (ret == -NO_SUCH_FILE) {
		for_parents(flow, index, path, gone_by_look);
		not_there(flow, index, path);
	} else if (ret >= 0) {
		for_parents(flow, index, path, appeared);
		in_the_way(flow, index, path, 0);
	}
}

static void opened(struct flow *flow, uint32_t index, uint32_t path, int64_t ret)
{
	uint64_t flags = flow_thread(flow, index)->flow.call.flags;
	bool alone = flags & O_CREAT_BIT && flags & O_EXCL_BIT;

	if (ret == -NO_SUCH_FILE && !(flags & O_CREAT_BIT))
		not_there(flow, index, path);
	else if (ret == -FILE_EXISTS && alone)
		in_the_way(flow, index, path, -FILE_EXISTS);
	else if (ret >= 0 && !(flags & O_CREAT_BIT))
		for_parents(flow, index, path, appeared);
	else if (ret >= 0 && alone)
		for_parents(flow, index, path, gone_by_making);
	if (ret >= 0 && flags & O_CREAT_BIT)
		path_made(flow, index, path, alone);
}

/* … on a name that the tracer did not copy, as its page was not in memory. */
static void made_unnamed(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct call *call = &flow_thread(flow, index)->flow.call;

	switch (flow_call_info(flow, call->name)->tries) {
	case TRIES_OPEN:
		if (ret >= 0 && call->flags & O_CREAT_BIT)
			path_unnamed(flow, index, TRY_APPEARS);
		break;
	case TRIES_MAKE:
	case TRIES_MOVE:
		if (ret == 0)
			path_unnamed(flow, index, TRY_APPEARS);
		break;
	case TRIES_REMOVE:
		if (ret == 0)
			path_unnamed(flow, index, TRY_GOES);
		break;
	default:
		break;
	}
}

void path_call_ended(struct flow *flow, uint32_t index, int64_t ret)
{
	const struct call *call = &flow_thread(flow, index)->flow.call;
	uint32_t made = call->newpath ? call->newpath : call->path;

	if (!made) {
		made_unnamed(flow, index, ret);
		return;
	}
	switch (flow_call_info(flow, call->name)->tries) {
	case TRIES_LOOK:
		looked(flow, index, call->path, ret);
		break;
	case TRIES_OPEN:
		opened(flow, index, call->path, ret);
		break;
	case TRIES_MAKE:
		if (ret == -FILE_EXISTS)
			in_the_way(flow, index, made, -FILE_EXISTS);
		if (ret != 0)
			break;
		for_parents(flow, index, made, gone_by_making);
		path_made(flow, index, made, true);
		break;
	case TRIES_REMOVE:
		if (ret == 0)
			path_removed(flow, index, call->path);
		if (ret == 0 && call->path)
			call_frees_space(flow, index, call->path);
		break;
	case TRIES_MOVE:
		if (ret != 0)
			break;
		path_removed(flow, index, call->path);
		path_made(flow, index, call->newpath, true);
		break;
	default:
		break;
	}
}
