/* SPDX-License-Identifier: MIT */
/* The statedump: what the tracer tells of threads, descriptors and devices
 * that were there before.
 *
 * Part of flow/. Not atomic: events go on meanwhile, so what they already
 * showed wins. Source: lttng-events.md section 2; semantics.md, "Evidence".
 */
#include "flow/dump.h"

#include <string.h>

#include "model/files.h"
#include "disk/bios.h"
#include "disk/block_requests.h"
#include "objects/resource.h"
#include "threads/namespaces.h"
#include "threads/states.h"

#define STATUS_WAIT 5 /* S, D or idle sleep; 1 and 2 may be running: no state */
#define TYPE_KERNEL 1

/* Tables are joined by their address, by process before 2.12. A table not met
 * yet is `known`, if that is given, else a new one. */
static struct fd_table *table_of(struct host *host, uint64_t address, int32_t pid,
				 struct fd_table *known)
{
	gint64 key = address ? (gint64) address : pid;
	struct fd_table *table = g_hash_table_lookup(host->tables, &key);

	if (!table) {
		table = known ? fd_table_join(known) : fd_table_new();
		g_hash_table_insert(host->tables, g_memdup2(&key, sizeof key), table);
	}
	return table;
}

/* The thread may have used descriptors before the dump came to it: what is
 * known of them stays. */
static void dump_table(struct host *host, struct thread *thread, const struct event *event)
{
	struct fd_table *table;

	if (!event->process.files && thread->pid <= 0)
		return;
	table = table_of(host, event->process.files, thread->pid, thread->files);
	if (table == thread->files)
		return;
	if (thread->files)
		fd_table_merge(table, thread->files);
	fd_table_leave(&thread->files);
	thread->files = fd_table_join(table);
}

/* The first of the processes above it that have its name one after the other. */
static int32_t family_of(struct flow *flow, const struct thread *thread)
{
	const struct thread *parent =
		is_thread(thread->parent) ? flow_thread(flow, thread->parent) : NULL;

	if (parent && parent->name == thread->name && parent->files && fd_family(parent->files))
		return fd_family(parent->files);
	return thread->tid;
}

void flow_dump_process(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);
	struct thread *thread;

	(void) cpu;
	host->has_statedump = true;
	if (event->process.tid <= 0)
		return;
	thread = flow_thread(flow, thread_findnew(flow, event->host, event->process.tid, NULL));
	if (!thread->name)
		thread_set_name(flow->model, thread, event->process.name, flow->time);
	thread->described = true;
	if (event->process.pid > 0)
		thread->pid = event->process.pid;
	if (event->process.type == TYPE_KERNEL)
		thread->kernel = true;
	if (thread->parent == NO_THREAD && event->process.ppid > 0) {
		uint32_t parent = thread_find(flow, event->host, event->process.ppid);

		thread->parent = parent == IDMAP_NONE ? NO_THREAD : parent;
	}
	dump_table(host, thread, event);
	if (thread->files && thread->pid == thread->tid)
		fd_set_family(thread->files, family_of(flow, thread));
	dump_namespaces(flow, event);
	if (event->process.status == STATUS_WAIT && !thread->evident)
		thread_found_off(flow, thread, THREAD_BLOCKED);
}

void flow_dump_namespaces(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	(void) cpu;
	dump_namespaces(flow, event);
}

/* What was opened by a relative name since the trace began has this absolute one. */
static void learn_cwd(struct flow *flow, struct fd_table *table, uint32_t known, const char *name)
{
	const char *relative = known ? intern_text(flow->names, known) : "";
	size_t length = strlen(name), tail;
	g_autofree char *path = NULL;

	if (*name != '/' || !g_str_has_prefix(relative, "file:") || fd_cwd(table))
		return;
	relative += strlen("file:");
	tail = strlen(relative);
	if (*relative == '/' || !tail || length <= tail || name[length - tail - 1] != '/' ||
	    strcmp(name + length - tail, relative) != 0)
		return;
	path = length - tail == 1 ? g_strdup("/") : g_strndup(name, length - tail - 1);
	fd_set_cwd(table, intern_id(flow->names, path));
}

/* "0001", "pg_wal/0001" and so on: that one of the family has such a file open. */
static void note_endings(struct host *host, const struct fd_table *table, uint32_t key,
			 const char *name)
{
	const char *at = name + strlen(name);

	for (int parts = 0; fd_family(table) && *name == '/' && parts < ENDINGS_MOST; parts++) {
		uint64_t hash;
		uint32_t known;

		while (at > name && at[-1] != '/')
			at--;
		hash = fd_ending_hash(fd_family(table), at);
		known = idmap_get(&host->file_endings, hash);
		idmap_set(&host->file_endings, hash,
			  known == IDMAP_NONE || known == key ? key : ENDING_OF_SEVERAL);
		if (--at <= name)
			break;
	}
}

#define FMODE_LSEEK 0x4 /* include/linux/fs.h */
#define FMODE_PREAD 0x8

/* A file has a name, and what is read there is gone: a FIFO. Before LTTng 2.5 that is not said. */
static bool is_stream(const struct event *event)
{
	return event->file.mode && !(event->file.mode & (FMODE_LSEEK | FMODE_PREAD));
}

void flow_dump_file(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct fd_table *table =
		table_of(flow_host(flow, event), event->file.files, event->file.pid, NULL);

	(void) cpu;
	if (event->file.filename)
		learn_cwd(flow, table, fd_key(table, event->file.fd), event->file.filename);
	if (event->file.filename) {
		uint32_t key = file_key_of_name(flow->names, event->file.filename);

		if (is_stream(event))
			key = fifo_found(flow, flow_host(flow, event), key, false);
		note_endings(flow_host(flow, event), table, key, event->file.filename);
		if (!fd_key(table, event->file.fd))
			fd_rename(table, event->file.fd, key);
	}
}

void flow_dump_interrupt(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	(void) cpu;
	if (event->interrupt.action)
		idmap_set(&flow_host(flow, event)->irq_names, (uint32_t) event->interrupt.irq,
			  intern_id(flow->names, event->interrupt.action));
}

void flow_dump_block_device(struct flow *flow, struct cpu *cpu, const struct event *event)
{
	struct host *host = flow_host(flow, event);

	(void) cpu;
	if (!event->device.name)
		return;
	request_disk_named(flow, host, event->device.dev, event->device.name);
	block_device_named(flow, host, event->device.dev, event->device.name);
}
