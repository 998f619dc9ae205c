/* SPDX-License-Identifier: MIT */
/* Reading statedump.json, and telling it; see statedump.h. */
#include "foreign/statedump.h"

#include <jansson.h>
#include <string.h>

#define FORMAT "whylate-statedump-1"
#define STATUS_UNKNOWN 0 /* as lttng_statedump_process_state has them */
#define STATUS_WAIT 5
#define TYPE_USER 0
#define TYPE_KERNEL 1
#define KTHREADD 2
#define DEPTH_MAX 32 /* PID namespaces in one another */

struct statedump {
	json_t *json;            /* owned; NULL: perf's */
	const struct perf_file *perf; /* borrowed; NULL */
};

struct telling {
	const struct event_sink *sink; /* borrowed */
	uint32_t host, cpu;
	int64_t time;
	bool later;
};

static json_t *load(const char *path, char **trouble)
{
	json_error_t error;
	json_t *json = json_load_file(path, 0, &error);
	const char *format = json_string_value(json_object_get(json, "schema"));

	if (format && strcmp(format, FORMAT) == 0)
		return json;
	if (!json)
		*trouble = g_strdup_printf("%s: line %d: %s", path, error.line, error.text);
	else
		*trouble = g_strdup_printf("%s: \"schema\" is not \"" FORMAT "\"", path);
	json_decref(json);
	return NULL;
}

struct statedump *statedump_open(const char *trace_file, char **trouble)
{
	g_autofree char *directory = g_path_get_dirname(trace_file);
	g_autofree char *beside = g_build_filename(directory, "statedump.json", NULL);
	g_autofree char *above = g_build_filename(directory, "..", "statedump.json", NULL);
	const char *path = g_file_test(beside, G_FILE_TEST_IS_REGULAR)  ? beside
			   : g_file_test(above, G_FILE_TEST_IS_REGULAR) ? above
									: NULL;
	json_t *json = path ? load(path, trouble) : NULL;
	struct statedump *dump;

	if (!json)
		return NULL;
	dump = g_new0(struct statedump, 1);
	dump->json = json;
	return dump;
}

struct statedump *statedump_of_perf(const struct perf_file *file)
{
	struct statedump *dump = file->threads->len ? g_new0(struct statedump, 1) : NULL;

	if (dump)
		dump->perf = file;
	return dump;
}

void statedump_free(struct statedump *dump)
{
	if (!dump)
		return;
	json_decref(dump->json);
	g_free(dump);
}

static const char *text_of(const json_t *object, const char *name)
{
	return json_string_value(json_object_get(object, name));
}

/* -1: not said. */
static int64_t number_of(const json_t *object, const char *name)
{
	const json_t *number = json_object_get(object, name);

	return json_is_integer(number) ? json_integer_value(number) : -1;
}

const char *statedump_host(const struct statedump *dump, const char *member)
{
	return dump ? text_of(json_object_get(dump->json, "host"), member) : NULL;
}

int64_t statedump_time(const struct statedump *dump)
{
	const json_t *begin = json_object_get(dump->json, "begin");
	int64_t time = number_of(begin, "monotonic");

	return time >= 0 ? time : INT64_MIN;
}

bool statedump_offset(const struct statedump *dump, const char *clock, int64_t *offset)
{
	const json_t *begin = dump ? json_object_get(dump->json, "begin") : NULL;
	bool boot = clock && strcmp(clock, "boot") == 0;
	int64_t monotonic = number_of(begin, boot ? "boottime" : "monotonic");
	int64_t realtime = number_of(begin, "realtime");

	if (monotonic < 0 || realtime < 0)
		return false;
	*offset = realtime - monotonic;
	return true;
}

/* --- telling ------------------------------------------------------------------------------ */

/* Makes an event of the kind that LTTng's has which is called so. */
static void begin(const struct telling *telling, const char *name, struct event *event)
{
	const struct event_sink *sink = telling->sink;
	struct event_class class = sink->declare(sink->data, name, ORIGIN_KERNEL);

	event->time = telling->time;
	event->cpu = telling->cpu;
	event->host = (uint16_t) telling->host;
	event_init(event, &class, ABI_UNKNOWN);
	event->has_tid = event->has_pid = event->has_callstacks = false;
	event->channel = 0;
}

static void tell(const struct telling *telling, const struct event *event)
{
	telling->sink->event(telling->sink->data, event);
}

/* One process, and what is to be told of it: one kind of event after the other, as LTTng does. */
typedef void tell_process(const struct telling *telling, struct event *event,
			  const json_t *process);

static void tell_threads(const struct telling *telling, struct event *event, const json_t *process)
{
	const json_t *thread;
	size_t i;

	json_array_foreach(json_object_get(process, "threads"), i, thread)
	{
		const char *state = text_of(thread, "state");
		bool waits = state && *state && strchr("SDI", *state);

		event_reset(event);
		event->process.name = text_of(thread, "name");
		event->process.tid = (int32_t) number_of(thread, "tid");
		event->process.pid = (int32_t) number_of(process, "pid");
		event->process.ppid = (int32_t) number_of(process, "ppid");
		event->process.type =
			json_is_true(json_object_get(process, "kernel")) ? TYPE_KERNEL : TYPE_USER;
		event->process.status = waits && telling->later ? STATUS_WAIT : STATUS_UNKNOWN;
		if (event->process.name && event->process.tid > 0)
			tell(telling, event);
	}
}

static void tell_pid_namespace(const struct telling *telling, struct event *event,
			       const json_t *process)
{
	const json_t *thread, *lead = json_array_get(json_object_get(process, "threads"), 0);
	const json_t *pids = json_object_get(lead, "inner");
	int64_t number = number_of(json_object_get(process, "namespaces"), "pid");
	size_t i;

	json_array_foreach(json_object_get(process, "threads"), i, thread)
	{
		const json_t *tids = json_object_get(thread, "inner");
		size_t depth = json_array_size(tids);

		event_reset(event);
		event->process.tid = (int32_t) number_of(thread, "tid");
		if (number <= 0 || depth > DEPTH_MAX || event->process.tid <= 0)
			continue;
		event->process.ns = (uint32_t) number;
		event->process.level = (int32_t) depth;
		event->process.vtid = event->process.tid;
		event->process.vpid = (int32_t) number_of(process, "pid");
		if (depth) {
			event->process.vtid =
				(int32_t) json_integer_value(json_array_get(tids, depth - 1));
			event->process.vpid =
				(int32_t) json_integer_value(json_array_get(pids, depth - 1));
		}
		tell(telling, event);
	}
}

static void tell_cgroup_namespace(const struct telling *telling, struct event *event,
				  const json_t *process)
{
	int64_t number = number_of(json_object_get(process, "namespaces"), "cgroup");
	const json_t *thread;
	size_t i;

	json_array_foreach(json_object_get(process, "threads"), i, thread)
	{
		event_reset(event);
		event->process.tid = (int32_t) number_of(thread, "tid");
		event->process.ns = (uint32_t) MAX(number, 0);
		if (number > 0 && event->process.tid > 0)
			tell(telling, event);
	}
}

static void tell_files(const struct telling *telling, struct event *event, const json_t *process)
{
	const json_t *file;
	size_t i;

	json_array_foreach(json_object_get(process, "files"), i, file)
	{
		event_reset(event);
		event->file.pid = (int32_t) number_of(process, "pid");
		event->file.fd = (int32_t) number_of(file, "fd");
		event->file.filename = text_of(file, "path");
		if (event->file.filename && event->file.fd >= 0 && event->file.pid > 0)
			tell(telling, event);
	}
}

static void tell_interrupt(const struct telling *telling, struct event *event,
			   const json_t *interrupt)
{
	event_reset(event);
	event->interrupt.irq = (int32_t) number_of(interrupt, "irq");
	event->interrupt.action = text_of(interrupt, "action");
	if (event->interrupt.action && event->interrupt.irq >= 0)
		tell(telling, event);
}

static void tell_device(const struct telling *telling, struct event *event, const json_t *device)
{
	int64_t major = number_of(device, "major"), minor = number_of(device, "minor");

	event_reset(event);
	event->device.dev = (uint32_t) ((uint64_t) major << 20 | (minor & 0xfffff));
	event->device.name = text_of(device, "name");
	if (event->device.name && major >= 0 && minor >= 0)
		tell(telling, event);
}

static void tell_all(const struct telling *telling, const char *name, const json_t *list,
		     tell_process *one)
{
	const json_t *entry;
	struct event event;
	size_t i;

	begin(telling, name, &event);
	json_array_foreach(list, i, entry) one(telling, &event, entry);
}

static void tell_perf(const struct telling *telling, const GArray *threads)
{
	struct event event;

	begin(telling, "lttng_statedump_process_state", &event);
	for (guint i = 0; i < threads->len; i++) {
		const struct perf_thread *thread = &g_array_index(threads, struct perf_thread, i);

		event_reset(&event);
		event.process.name = thread->name;
		event.process.tid = thread->tid;
		event.process.pid = thread->pid;
		event.process.ppid = thread->ppid;
		event.process.type = thread->tid == KTHREADD || thread->ppid == KTHREADD
					     ? TYPE_KERNEL
					     : TYPE_USER;
		if (thread->name && thread->tid > 0)
			tell(telling, &event);
	}
}

void statedump_tell(const struct statedump *dump, const struct event_sink *sink, uint32_t host,
		    uint32_t cpu, int64_t time, bool later)
{
	struct telling telling = {sink, host, cpu, time, later};
	const json_t *processes;

	if (dump->perf) {
		tell_perf(&telling, dump->perf->threads);
		return;
	}
	processes = json_object_get(dump->json, "processes");
	tell_all(&telling, "lttng_statedump_process_state", processes, tell_threads);
	tell_all(&telling, "lttng_statedump_process_pid_ns", processes, tell_pid_namespace);
	tell_all(&telling, "lttng_statedump_process_cgroup_ns", processes, tell_cgroup_namespace);
	tell_all(&telling, "lttng_statedump_file_descriptor", processes, tell_files);
	tell_all(&telling, "lttng_statedump_interrupt", json_object_get(dump->json, "interrupts"),
		 tell_interrupt);
	tell_all(&telling, "lttng_statedump_block_device",
		 json_object_get(dump->json, "block_devices"), tell_device);
}
