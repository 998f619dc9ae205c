/* SPDX-License-Identifier: MIT */
/* See costs_touched.h. */
#include "settings/costs_touched.h"

#include <string.h>

#include "waits/causes.h"
#include "waits/idle.h"
#include "waits/state_names.h"

#define CPUS "time ready without a CPU"
#define DISKS "waits for disks"
#define NETWORK "waits for the network"
#define ETC "file:/etc/"

struct touched {
	GHashTable *costs; /* owned; name -> int64_t (owned), ns */
	GHashTable *files; /* owned; path -> GString (owned): the programs that opened it */
};

static void gstring_free(gpointer text)
{
	g_string_free(text, TRUE);
}

static void add_cost(struct touched *touched, const char *name, int64_t ns)
{
	int64_t *sum = g_hash_table_lookup(touched->costs, name);

	if (!sum) {
		sum = g_new0(int64_t, 1);
		g_hash_table_insert(touched->costs, g_strdup(name), sum);
	}
	*sum += ns;
}

static void add_file(struct touched *touched, const char *path, const char *program)
{
	GString *programs = g_hash_table_lookup(touched->files, path);
	g_autofree char *inside = NULL, *both = NULL;

	if (!programs) {
		g_hash_table_insert(touched->files, g_strdup(path), g_string_new(program));
		return;
	}
	inside = g_strconcat(", ", programs->str, ",", NULL);
	both = g_strconcat(", ", program, ",", NULL);
	if (!strstr(inside, both) && programs->len < 200)
		g_string_append_printf(programs, ", %s", program);
}

static void add_wait(struct touched *touched, const struct session *session, uint32_t thread,
		     const struct span *span, const char *program)
{
	struct wait wait = wait_of(session, thread, span);
	const struct wake_detail *request = block_request(session, wait.block);
	int64_t ns = span->end - span->begin;

	if (request) {
		g_autofree char *disk = g_strconcat("waits for the disk ",
						    session_text(session, request->text), NULL);

		add_cost(touched, disk, ns);
		add_cost(touched, DISKS, ns);
	} else if (wait_is_at_leisure(session, &wait) ||
		   wait_cause_kind(session, &wait) == CAUSE_TIMER) {
		return;
	} else if (wait_is_networks(session, &wait)) {
		add_cost(touched, NETWORK, ns);
	}
	add_cost(touched, program, ns);
}

static void add_thread(struct touched *touched, const struct session *session, uint32_t thread)
{
	const char *program = session_thread_name(session, thread);
	uint32_t before = 0;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		uint32_t kind = PACK_KIND(span.leaf);
		uint32_t file = kind == LEAF_WORK_SYSCALL ? span.ref & ~REF_FOR_WRITING : 0;

		if (leaf_is_blocked(span.leaf)) {
			add_wait(touched, session, thread, &span, program);
			continue;
		}
		if (kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU)
			add_cost(touched, CPUS, span.end - span.begin);
		if (leaf_wib(span.leaf) != WIB_UNKNOWN)
			add_cost(touched, program, span.end - span.begin);
		if (file && file != before && g_str_has_prefix(session_text(session, file), ETC))
			add_file(touched, session_text(session, file) + strlen("file:"), program);
		before = file;
	}
}

struct touched *touched_new(const struct session *session)
{
	struct touched *touched = g_new(struct touched, 1);
	const struct model *model = &session->trace.model;
	g_autofree bool *tracers = session_tracers(session);

	touched->costs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	touched->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, gstring_free);
	for (uint32_t i = 0; i < model->thread_count; i++)
		if (!tracers[i] && !thread_is_kernel(model, model_thread(model, i)))
			add_thread(touched, session, i);
	return touched;
}

void touched_free(struct touched *touched)
{
	g_hash_table_destroy(touched->costs);
	g_hash_table_destroy(touched->files);
	g_free(touched);
}

void touched_each_file(const struct touched *touched, GHashTable *table, const char *kind,
		       void (*add)(GHashTable *table, const char *kind, const char *name,
				   const char *value))
{
	GHashTableIter iter;
	gpointer path, programs;

	g_hash_table_iter_init(&iter, touched->files);
	while (g_hash_table_iter_next(&iter, &path, &programs))
		add(table, kind, path, ((GString *) programs)->str);
}

int64_t touched_cost(const struct touched *touched, const char *what)
{
	const int64_t *sum = g_hash_table_lookup(touched->costs, what);

	return sum ? *sum : 0;
}

static char *if_met(const struct touched *touched, const char *what)
{
	return g_hash_table_contains(touched->costs, what) ? g_strdup(what) : NULL;
}

/* Of several programs that opened a file the first one. */
static char *program_of(const struct touched *touched, const char *path)
{
	const GString *programs = g_hash_table_lookup(touched->files, path);

	return programs ? g_strndup(programs->str, strcspn(programs->str, ",")) : NULL;
}

static char *disk_of(const struct touched *touched, const char *name)
{
	g_autofree char *disk = g_strndup(name, strcspn(name, "/"));
	g_autofree char *what = g_strconcat("waits for the disk ", disk, NULL);

	return if_met(touched, what);
}

char *touched_what(const struct touched *touched, const char *kind, const char *name)
{
	if (strcmp(kind, "file") == 0 || strcmp(kind, "read") == 0)
		return program_of(touched, name);
	if (strcmp(kind, "process") == 0)
		return if_met(touched, name);
	if (strcmp(kind, "block") == 0)
		return disk_of(touched, name);
	if (strcmp(kind, "cpu") == 0 || strcmp(kind, "cgroup") == 0 ||
	    g_str_has_prefix(name, "scheduler") || g_str_has_prefix(name, "kernel.sched"))
		return if_met(touched, CPUS);
	if (strcmp(kind, "network") == 0 || g_str_has_prefix(name, "net."))
		return if_met(touched, NETWORK);
	if (strcmp(kind, "mount") == 0 || g_str_has_prefix(name, "vm.dirty") ||
	    g_str_has_prefix(name, "fs."))
		return if_met(touched, DISKS);
	return NULL;
}
