/* SPDX-License-Identifier: MIT */
/* See analysis.h. */
#include "drill/analysis.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "drill/reports.h"
#include "record/record.h"
#include "util/error.h"

#define THREADS_MAX 50 /* of a path that are looked into: those that worked most */

static void add(GPtrArray *line, const char *word)
{
	g_ptr_array_add(line, g_strdup(word));
}

static GPtrArray *line_new(const struct analysed *of, const char *command)
{
	GPtrArray *line = g_ptr_array_new_with_free_func(g_free);

	add(line, of->self);
	add(line, command);
	add(line, of->trace);
	if (of->here)
		add(line, "--binary-path=/");
	return line;
}

/* The last thing that it said, without whose word it is. */
static const char *last_line(char *said)
{
	static const char ours[] = "whylate: ";
	char *line = strrchr(g_strchomp(said), '\n');

	line = line ? line + 1 : said;
	return g_str_has_prefix(line, ours) ? line + strlen(ours) : line;
}

static json_t *ask(const struct analysed *of, GPtrArray *line, GError **error)
{
	g_autofree char *out = NULL, *err = NULL;
	g_autoptr(GError) cause = NULL;
	json_error_t trouble;
	json_t *answer = NULL;
	int status;

	add(line, "--format=json");
	add(line, "--limit=0");
	g_ptr_array_add(line, NULL);
	if (g_spawn_sync(NULL, (char **) line->pdata, NULL, G_SPAWN_DEFAULT, record_as_anybody,
			 NULL, &out, &err, &status, &cause) &&
	    g_spawn_check_wait_status(status, &cause))
		answer = json_loads(out, 0, &trouble);
	if (!answer)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_RECORD, "%s cannot be analysed: %s",
			    of->trace,
			    err && *err ? last_line(err)
			    : cause     ? cause->message
					: "no report came");
	return answer;
}

/* `birth`: the window begins with it. */
static void add_target(const struct analysed *of, GPtrArray *line, bool birth)
{
	g_autofree char *name = g_path_get_basename(of->program);
	char text[64];

	if (!of->ended) {
		add(line, "--thread");
		g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, of->tid);
		add(line, text);
		return;
	}
	add(line, "--target");
	if (of->tid) {
		g_snprintf(text, sizeof text, "sched_process_exit tid=%" G_GINT64_FORMAT, of->tid);
		add(line, text);
	} else {
		g_ptr_array_add(line,
				g_strdup_printf("sched_process_exit comm=%.15s nth=last", name));
	}
	if (!birth)
		return;
	add(line, "--from");
	g_snprintf(text, sizeof text, "sched_process_fork child_tid=%" G_GINT64_FORMAT, of->tid);
	add(line, text);
}

static json_t *path_of(const struct analysed *of, bool birth, GError **error)
{
	g_autoptr(GPtrArray) line = line_new(of, "delay");

	add_target(of, line, birth);
	return ask(of, line, error);
}

/* Who became the program last, 0: nobody. It may call itself otherwise by its end. */
static int64_t tid_of_exec(const struct analysed *of)
{
	g_autoptr(GPtrArray) line = line_new(of, "delay");
	g_autofree char *name = g_path_get_basename(of->program);
	json_t *answer;
	int64_t tid;

	add(line, "--target");
	g_ptr_array_add(line, g_strdup_printf("sched_process_exec filename=*/%s nth=last", name));
	answer = ask(of, line, NULL);
	tid = answer ? number_in(json_object_get(answer, "target"), "tid") : 0;
	json_decref(answer);
	return tid;
}

json_t *analysis_path(struct analysed *of, GError **error)
{
	json_t *path, *whole;

	if (!of->tid && of->ended)
		of->tid = tid_of_exec(of);
	if (of->tid)
		return path_of(of, of->ended && !of->snapshot, error);
	path = path_of(of, false, error);
	of->tid = number_in(json_object_get(path, "target"), "tid");
	whole = of->tid ? path_of(of, true, NULL) : NULL; /* a ring may have lost its birth */
	of->snapshot = !whole;
	if (!whole)
		return path;
	json_decref(path);
	return whole;
}

struct worker {
	int64_t tid, ns;
};

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct worker *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->tid < y->tid ? -1 : x->tid > y->tid;
}

static GArray *workers_on(const json_t *path)
{
	GArray *workers = g_array_new(FALSE, FALSE, sizeof(struct worker));
	const json_t *step;
	size_t i;

	json_array_foreach(json_object_get(path, "critical_path"), i, step)
	{
		struct worker worker = {number_in(step, "tid"), number_in(step, "ns")};
		guint k = 0;

		while (k < workers->len &&
		       g_array_index(workers, struct worker, k).tid != worker.tid)
			k++;
		if (k == workers->len)
			g_array_append_val(workers, worker);
		else
			g_array_index(workers, struct worker, k).ns += worker.ns;
	}
	g_array_sort(workers, most_first);
	return workers;
}

json_t *analysis_functions(const struct analysed *of, const json_t *path, int64_t limit,
			   GError **error)
{
	g_autoptr(GPtrArray) line = line_new(of, "functions");
	g_autoptr(GArray) workers = path ? workers_on(path) : NULL;
	char text[32];

	if (!path)
		add(line, "--thread=all");
	for (guint i = 0; workers && i < workers->len && i < THREADS_MAX; i++) {
		const struct worker *worker = &g_array_index(workers, struct worker, i);

		if (i && worker->ns < limit)
			break;
		add(line, "--thread");
		g_snprintf(text, sizeof text, "%" G_GINT64_FORMAT, worker->tid);
		add(line, text);
	}
	return ask(of, line, error);
}

void analysis_tell(const struct analysed *of)
{
	g_autoptr(GPtrArray) line = line_new(of, of->program ? "delay" : "functions");

	if (of->program)
		add_target(of, line, of->ended && !of->snapshot);
	add(line, "--limit=5");
	g_ptr_array_add(line, NULL);
	fflush(stdout);
	g_spawn_sync(NULL, (char **) line->pdata, NULL,
		     G_SPAWN_LEAVE_DESCRIPTORS_OPEN | G_SPAWN_CHILD_INHERITS_STDIN,
		     record_as_anybody, NULL, NULL, NULL, NULL, NULL);
}
