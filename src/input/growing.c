/* SPDX-License-Identifier: MIT */
/* See growing.h. */
#include "input/growing.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/cache.h"
#include "input/traces.h"
#include "run/feed.h"
#include "run/finish.h"
#include "util/error.h"

#define EVENTS_AT_ONCE 65536

struct growing {
	struct options options;  /* what they point to is borrowed, but for the cache's place */
	GPtrArray *paths;        /* owned; the one directory of chunks */
	GPtrArray *directories;  /* owned strings: of the chunks' traces */
	struct session *session; /* owned */
	struct reader *reader;   /* owned */
	struct cache *kept;      /* owned; that of the last image, NULL */
};

struct growing *growing_new(const struct options *options, const char *archives)
{
	struct growing *growing = g_new0(struct growing, 1);

	growing->options = *options;
	growing->options.cache = g_strdup(options->cache);
	growing->paths = g_ptr_array_new_with_free_func(g_free);
	g_ptr_array_add(growing->paths, g_strdup(archives));
	growing->directories = g_ptr_array_new_with_free_func(g_free);
	growing->session = session_new(&growing->options);
	/* whatever the next question is about: none of it changes what others find */
	growing->session->trace.flow.exchanges_wanted = true;
	growing->session->trace.flow.resources_wanted = true;
	growing->session->trace.flow.facts_wanted = growing->session->trace.sink.values = true;
	return growing;
}

void growing_free(struct growing *growing)
{
	if (!growing)
		return;
	cache_free(growing->kept);
	reader_free(growing->reader);
	session_free(growing->session);
	g_ptr_array_unref(growing->directories);
	g_ptr_array_unref(growing->paths);
	g_free(growing->options.cache);
	g_free(growing);
}

static bool add(struct growing *growing, const struct found_trace *trace, GError **error)
{
	g_autoptr(GPtrArray) none = g_ptr_array_new();

	if (!growing->reader)
		growing->reader = reader_new(&growing->session->trace.sink, none, error);
	if (!growing->reader)
		return false;
	for (guint i = 0; i < trace->directories->len; i++) {
		const struct trace_directory *directory = trace->directories->pdata[i];

		g_ptr_array_add(growing->directories, g_strdup(directory->path));
	}
	return reader_add_chunk(growing->reader, trace->directories, error);
}

bool growing_add(struct growing *growing, const char *chunk, GError **error)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new(), traces = NULL;

	g_ptr_array_add(paths, (gpointer) chunk);
	traces = traces_find(paths, error);
	if (!traces)
		return false;
	if (traces->len > 1 || ((struct found_trace *) traces->pdata[0])->user_traces) {
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_NO_TRACE,
			    "%s holds more than a kernel trace", chunk);
		return false;
	}
	if (!add(growing, traces->pdata[0], error))
		return false;
	while (reader_run(growing->reader, EVENTS_AT_ONCE, reader_settled(growing->reader)))
		;
	return true;
}

/* --- in the child ------------------------------------------------------------------ */

static void finish_and_keep(struct growing *growing, struct cache *cache)
{
	struct session *session = growing->session;

	timeline_detach(&session->trace.timeline, false);
	reader_end_chunks(growing->reader);
	while (reader_run(growing->reader, EVENTS_AT_ONCE, INT64_MAX))
		;
	reader_tell_damage(growing->reader);
	if (session->trace.events && session_gather(session, NULL))
		cache_keep(cache, session);
}

/* --- in the parent ----------------------------------------------------------------- */

static void wait_until_settled(const struct cache *cache)
{
	gint64 left = cache_settles(cache) / 1000 - g_get_real_time();

	if (left > 0) /* a clock that was set back is no reason to stay */
		g_usleep((gulong) MIN(left, G_USEC_PER_SEC));
}

/* Of all chunks that are there; NULL: nothing is to be kept of them, or not now. */
static struct cache *settled_cache(const struct growing *growing)
{
	struct cache *cache = cache_new(&growing->options, growing->paths);

	if (!cache)
		return NULL;
	wait_until_settled(cache);
	cache_free(cache);
	cache = cache_new(&growing->options, growing->paths);
	if (cache && !cache_is_of(cache, growing->directories))
		g_clear_pointer(&cache, cache_free);
	return cache;
}

void growing_keep(struct growing *growing)
{
	struct cache *cache = settled_cache(growing);
	pid_t pid;

	if (!cache)
		return;
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		finish_and_keep(growing, cache);
		_exit(0); /* it ends with its memory */
	}
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (growing->kept)
		cache_replaced(growing->kept, cache);
	cache_free(growing->kept);
	growing->kept = cache;
}
