/* SPDX-License-Identifier: MIT */
/* What the JSON of all reports has in common; see report.h and interface.md,
 * "JSON": names are fixed, integers are nanoseconds or counts.
 */
#include "report/report.h"

#include <string.h>

#include "config.h"
#include "model/container.h"

static const struct json_watch *watcher;

void json_watch(const struct json_watch *watch)
{
	watcher = watch;
}

void json_saw(uint32_t thread, int64_t begin, int64_t end)
{
	if (watcher)
		watcher->stretch(watcher->data, thread, begin, end);
}

json_t *json_text(const char *text)
{
	g_autofree char *valid = NULL;

	if (!text)
		return json_null();
	if (g_utf8_validate(text, -1, NULL))
		return json_string_nocheck(text);
	valid = g_utf8_make_valid(text, -1);
	return json_string_nocheck(valid);
}

void json_member(FILE *file, const char *key, json_t *value, bool first)
{
	fprintf(file, "%s\"%s\": ", first ? "" : ",\n", key);
	json_dumpf(value, file, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	json_decref(value);
}

void json_open(FILE *file, const char *schema)
{
	fputs("{", file);
	json_member(file, "schema", json_text(schema), true);
	json_member(file, "tool",
		    json_pack("{s:s,s:s}", "name", "whylate", "version", PACKAGE_VERSION), false);
}

/* To the first host's clock; a drift, where one is told, from `base` on. */
static void json_clock(json_t *object, const struct host *host)
{
	static const char *const known[] = {"own", "packets", "given"};
	const struct host_clock *clock = &host->clock;

	json_object_set_new(object, "clock_offset", json_integer(clock->line.offset));
	json_object_set_new(object, "clock_error",
			    clock->error < 0 ? json_null() : json_integer(clock->error));
	json_object_set_new(object, "clock_from", json_string(known[clock->known]));
	if (clock->line.drift != 0)
		json_object_set_new(object, "clock_drift",
				    json_pack("{s:f,s:I}", "ppm", clock->line.drift * 1e6, "base",
					      (json_int_t) clock->line.base));
	if (clock->known == CLOCK_PACKETS) {
		json_object_set_new(object, "clock_packets", json_integer(clock->packets));
		json_object_set_new(object, "clock_packets_contradicting",
				    json_integer(clock->contradicting));
	}
}

json_t *json_hosts(const struct session *session)
{
	json_t *list = json_array();

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);
		json_t *object = json_object();

		json_object_set_new(object, "host", json_integer(i));
		json_object_set_new(object, "hostname", json_text(host->hostname));
		json_object_set_new(object, "trace_uuid", json_text(host->uuid));
		json_object_set_new(object, "kernel", json_text(host->kernel));
		json_object_set_new(object, "tracer", json_text(host->tracer));
		json_object_set_new(object, "cpus", json_integer(host->cpus->len));
		json_object_set_new(object, "begin", json_integer(host->begin));
		json_object_set_new(object, "end", json_integer(host->end));
		json_clock(object, host);
		json_array_append_new(list, object);
	}
	return list;
}

static json_t *json_gaps(const struct session *session)
{
	json_t *list = json_array();

	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		const struct host *host = model_host(&session->trace.model, h);

		for (guint i = 0; i < host->gaps->len; i++) {
			const struct gap *gap = &g_array_index(host->gaps, struct gap, i);

			if (!coverage_tells_gap(session, gap))
				continue;
			json_array_append_new(
				list,
				json_pack("{s:i,s:I,s:I,s:I,s:o}", "host", (int) h, "cpu",
					  (json_int_t) gap->cpu, "begin", (json_int_t) gap->begin,
					  "end", (json_int_t) gap->end, "events",
					  gap->events < 0 || gap->packets
						  ? json_null()
						  : json_integer(gap->events)));
		}
	}
	return list;
}

static json_t *json_damages(const struct session *session)
{
	json_t *list = json_array();

	for (guint i = 0; i < session->trace.damages->len; i++) {
		const struct damage *at = &g_array_index(session->trace.damages, struct damage, i);

		json_array_append_new(
			list, json_pack("{s:o,s:I,s:I,s:o}", "file", json_text(at->file), "bytes",
					(json_int_t) at->bytes, "total", (json_int_t) at->total,
					"what", at->what ? json_text(at->what) : json_null()));
	}
	return list;
}

json_t *json_coverage(const struct session *session, const struct coverage *coverage)
{
	json_t *object = json_object(), *missing = json_array();

	for (guint i = 0; i < coverage->missing->len; i++)
		json_array_append_new(missing, json_text(g_ptr_array_index(coverage->missing, i)));
	json_object_set_new(object, "events", json_integer((json_int_t) coverage->events));
	json_object_set_new(object, "discarded_events",
			    json_integer((json_int_t) coverage->discarded_events));
	json_object_set_new(object, "discarded_packets",
			    json_integer((json_int_t) coverage->discarded_packets));
	json_object_set_new(object, "gaps", json_gaps(session));
	if (session->trace.damages->len)
		json_object_set_new(object, "damage", json_damages(session));
	json_object_set_new(object, "entries_unseen",
			    json_integer((json_int_t) coverage->entries_unseen));
	json_object_set_new(object, "exits_unseen",
			    json_integer((json_int_t) coverage->exits_unseen));
	json_object_set_new(object, "wakeups_unseen",
			    json_integer((json_int_t) coverage->wakeups_unseen));
	json_object_set_new(object, "cpu_unknown_ns", json_integer(coverage->cpu_unknown_ns));
	json_object_set_new(object, "undescribed_threads",
			    json_integer((json_int_t) coverage->undescribed_threads));
	json_object_set_new(
		object, "unknown_blocked_share",
		json_real((double) (long) (coverage_unknown_share(coverage) * 1e4 + 0.5) / 1e4));
	json_object_set_new(
		object, "bare_softirq_blocked_share",
		json_real((double) (long) (coverage_softirq_share(coverage) * 1e4 + 0.5) / 1e4));
	json_object_set_new(object, "missing", missing);
	return object;
}

json_t *json_window(const struct session *session)
{
	return json_pack("{s:I,s:I}", "begin", (json_int_t) session->asked.from, "end",
			 (json_int_t) session->asked.to);
}

/* Innermost PID namespace, and TID and PID in it; nothing for the host's. */
static void json_inner_ids(const struct session *session, const struct thread *thread,
			   json_t *object)
{
	struct ids ids;
	uint32_t number;

	if (!thread_inner_ids(&session->trace.model, thread, &ids))
		return;
	number = thread_place(&session->trace.model, thread)->pid_ns;
	json_object_set_new(object, "pid_ns", number ? json_integer(number) : json_null());
	json_object_set_new(object, "vtid", ids.tid ? json_integer(ids.tid) : json_null());
	json_object_set_new(object, "vpid", ids.pid ? json_integer(ids.pid) : json_null());
}

/* host, tid, pid, name; in a container also what it is there */
json_t *json_thread_head(const struct session *session, uint32_t index)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	json_t *object = json_object();

	if (watcher)
		watcher->thread(watcher->data, index);
	json_object_set_new(object, "host", json_integer(thread->host));
	json_object_set_new(object, "tid", json_integer(thread->tid));
	json_object_set_new(object, "pid",
			    thread->pid < 0 ? json_null() : json_integer(thread->pid));
	json_object_set_new(object, "name", json_text(session_thread_name(session, index)));
	json_inner_ids(session, thread, object);
	return object;
}

json_t *json_cause(const struct cause *cause)
{
	json_t *object = json_object();

	json_object_set_new(object, "certainty",
			    json_string(cause->inferred ? "inferred" : "seen"));
	json_object_set_new(object, "kind", json_string(cause_kind_text(cause->kind)));
	json_object_set_new(object, "label", json_text(cause->label ? cause->label : ""));
	if (cause->queued >= 0)
		json_object_set_new(object, "queued_ns", json_integer(cause->queued));
	if (cause->served >= 0)
		json_object_set_new(object, "served_ns", json_integer(cause->served));
	return object;
}
