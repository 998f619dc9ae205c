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
#define NAME_LEAST 4 /* characters: "ssh" would be in too many */

struct touched {
	GHashTable *costs; /* owned; name -> int64_t (owned), ns */
	GHashTable *files; /* owned; path -> GString (owned): the programs that opened it */
};

static void gstring_free(gpointer text)
{
	g_string_free(text, TRUE);
}

void touched_add_cost(struct touched *touched, const char *name, int64_t ns)
{
	int64_t *sum = g_hash_table_lookup(touched->costs, name);

	if (!sum) {
		sum = g_new0(int64_t, 1);
		g_hash_table_insert(touched->costs, g_strdup(name), sum);
	}
	*sum += ns;
}

void touched_add_file(struct touched *touched, const char *path, const char *program)
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

/* Of one thread, ns each. */
struct sums {
	int64_t all, cpus, disks, network;
};

static void add_wait(struct touched *touched, struct sums *sums, const struct session *session,
		     uint32_t thread, const struct span *span)
{
	struct wait wait = wait_of(session, thread, span);
	const struct wake_detail *request = block_request(session, wait.block);
	int64_t ns = span->end - span->begin;

	if (request) {
		g_autofree char *disk = g_strconcat("waits for the disk ",
						    session_text(session, request->text), NULL);

		touched_add_cost(touched, disk, ns);
		sums->disks += ns;
	} else if (wait_is_at_leisure(session, &wait) ||
		   wait_cause_kind(session, &wait) == CAUSE_TIMER) {
		return;
	} else if (wait_is_networks(session, &wait)) {
		sums->network += ns;
	}
	sums->all += ns;
}

static void add_sum(struct touched *touched, const char *name, int64_t ns)
{
	if (ns)
		touched_add_cost(touched, name, ns);
}

static void add_thread(struct touched *touched, const struct session *session, uint32_t thread)
{
	const char *program = session_thread_name(session, thread);
	struct sums sums = {0};
	uint32_t before = 0;
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		uint32_t kind = PACK_KIND(span.leaf);
		uint32_t file = kind == LEAF_WORK_SYSCALL ? span.ref & ~REF_FOR_WRITING : 0;

		if (leaf_is_blocked(span.leaf)) {
			add_wait(touched, &sums, session, thread, &span);
			continue;
		}
		if (kind == LEAF_PREEMPTED || kind == LEAF_WAIT_CPU)
			sums.cpus += span.end - span.begin;
		if (leaf_wib(span.leaf) != WIB_UNKNOWN)
			sums.all += span.end - span.begin;
		if (file && file != before && g_str_has_prefix(session_text(session, file), ETC))
			touched_add_file(touched, session_text(session, file) + strlen("file:"),
					 program);
		before = file;
	}
	add_sum(touched, program, sums.all);
	add_sum(touched, TOUCHED_ALL, sums.all);
	add_sum(touched, CPUS, sums.cpus);
	add_sum(touched, DISKS, sums.disks);
	add_sum(touched, NETWORK, sums.network);
}

struct touched *touched_empty(void)
{
	struct touched *touched = g_new(struct touched, 1);

	touched->costs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	touched->files = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, gstring_free);
	return touched;
}

struct touched *touched_new(const struct session *session)
{
	struct touched *touched = touched_empty();
	const struct model *model = &session->trace.model;
	g_autofree bool *tracers = session_tracers(session);

	for (uint32_t i = 0; i < model->thread_count; i++)
		if (!tracers[i] && !thread_is_kernel(model, model_thread(model, i))) {
			add_thread(touched, session, i);
			timeline_ease(&session->trace.timeline);
		}
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

void touched_each_cost(const struct touched *touched,
		       void (*each)(void *data, const char *name, int64_t ns), void *data)
{
	GHashTableIter iter;
	gpointer name, ns;

	g_hash_table_iter_init(&iter, touched->costs);
	while (g_hash_table_iter_next(&iter, &name, &ns))
		each(data, name, *(const int64_t *) ns);
}

int64_t touched_cost(const struct touched *touched, const char *what)
{
	const int64_t *sum = g_hash_table_lookup(touched->costs, what);

	return sum ? *sum : 0;
}

const char *touched_name(const struct touched *touched, const char *what)
{
	gpointer name = NULL;

	g_hash_table_lookup_extended(touched->costs, what, &name, NULL);
	return name;
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

/* "redis" and "redis-server", "sshd_config" and "sshd", "mysql" and "mysqld". */
static bool is_named_after(const char *part, const char *program)
{
	size_t stem = strcspn(part, "._-0123456789"), called = strcspn(program, "._-0123456789:/");

	return MIN(stem, called) >= NAME_LEAST && MAX(stem, called) <= MIN(stem, called) + 2 &&
	       strncmp(part, program, MIN(stem, called)) == 0;
}

/* Of the programs that were met, the one with the most time. */
static char *program_named(const struct touched *touched, const char *path)
{
	g_auto(GStrv) parts = g_strsplit(path, "/", -1);
	const char *found = NULL;
	int64_t most = -1;
	GHashTableIter iter;
	gpointer name, ns;

	g_hash_table_iter_init(&iter, touched->costs);
	while (g_hash_table_iter_next(&iter, &name, &ns)) {
		int64_t cost = *(const int64_t *) ns;
		bool fits = false;

		for (char **part = parts; *part; part++)
			fits |= is_named_after(*part, name);
		if (fits && (cost > most || (cost == most && strcmp(name, found) < 0))) {
			found = name;
			most = cost;
		}
	}
	return g_strdup(found);
}

/* By kind and the beginning of its name what a setting touches; NULL: see touched_what(). */
static const struct {
	const char *kind, *name, *what;
} special[] = {{"cpu", "", CPUS},
	       {"cgroup", "", CPUS},
	       {"kernel", "scheduler", CPUS},
	       {"sysctl", "kernel.sched", CPUS},
	       {"network", "", NETWORK},
	       {"sysctl", "net.", NETWORK},
	       {"mount", "", DISKS},
	       {"sysctl", "vm.dirty", DISKS},
	       {"sysctl", "fs.", DISKS},
	       {"block", "", NULL},
	       {"process", "", NULL},
	       {"read", "", NULL}};

bool touched_is_special(const char *kind, const char *name)
{
	bool found = false;

	for (size_t i = 0; i < G_N_ELEMENTS(special); i++)
		found |= strcmp(kind, special[i].kind) == 0 &&
			 g_str_has_prefix(name, special[i].name);
	return found;
}

char *touched_what(const struct touched *touched, const char *kind, const char *name)
{
	char *program = NULL;

	if (strcmp(kind, "file") == 0 || strcmp(kind, "read") == 0) {
		program = program_of(touched, name);
		return program ? program : program_named(touched, name);
	}
	if (strcmp(kind, "process") == 0 || strcmp(kind, "package") == 0)
		return if_met(touched, name);
	if (strcmp(kind, "environment") == 0 && strstr(name, ": ")) { /* "redis-server: GOGC" */
		g_autofree char *of = g_strndup(name, (gsize) (strstr(name, ": ") - name));

		return if_met(touched, of);
	}
	if (strcmp(kind, "block") == 0)
		return disk_of(touched, name);
	for (size_t i = 0; i < G_N_ELEMENTS(special); i++)
		if (strcmp(kind, special[i].kind) == 0 && g_str_has_prefix(name, special[i].name))
			return special[i].what ? if_met(touched, special[i].what) : NULL;
	return NULL;
}
