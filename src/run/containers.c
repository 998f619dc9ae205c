/* SPDX-License-Identifier: MIT */
/* Which containers there are, and --container; see containers.h. */
#include "run/containers.h"

#include <string.h>

#include "util/error.h"
#include "util/pattern.h"
#include "model/container.h"

#define NAMES_LISTED 12 /* in an error message */

/* One namespace of one host: what --container names, an element of chosen. */
struct chosen {
	uint16_t host;
	enum namespace_kind kind;
	uint32_t number;
};

char *namespace_text(enum namespace_kind kind, uint32_t number)
{
	return g_strdup_printf("%s:[%u]", kind == NAMESPACE_PID ? "pid" : "cgroup", number);
}

static int by_host_kind_number(gconstpointer a, gconstpointer b)
{
	const struct container *x = a, *y = b;

	if (x->host != y->host)
		return x->host < y->host ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

/* The list's index by host, kind and number. */
static uint64_t key_of(uint16_t host, enum namespace_kind kind, uint32_t number)
{
	return (uint64_t) host << 33 | (uint64_t) kind << 32 | number;
}

struct collector {
	const struct session *session;
	GArray *list;        /* struct container */
	struct idmap index;  /* key_of() -> place in it */
	struct idmap named;  /* set: place in it << 32 | name */
};

static struct container *findnew(struct collector *collector, uint16_t host,
				 enum namespace_kind kind, uint32_t number)
{
	uint64_t key = key_of(host, kind, number);
	uint32_t at = idmap_get(&collector->index, key);
	struct container fresh = {.host = host, .kind = kind, .number = number, .first = NO_THREAD};

	if (at == IDMAP_NONE) {
		at = collector->list->len;
		fresh.names = g_array_new(FALSE, FALSE, sizeof(uint32_t));
		g_array_append_val(collector->list, fresh);
		idmap_set(&collector->index, key, at);
	}
	return &g_array_index(collector->list, struct container, at);
}

static void count(struct collector *collector, struct container *container, uint32_t index)
{
	const struct thread *thread = model_thread(&collector->session->trace.model, index);
	uint64_t place = (uint64_t) (container - (struct container *) collector->list->data);

	container->threads++;
	if (idmap_add(&collector->named, place << 32 | thread->name) && thread->name)
		g_array_append_val(container->names, thread->name);
}

static void add_pid_namespaces(struct collector *collector, uint32_t index)
{
	const struct model *model = &collector->session->trace.model;
	const struct thread *thread = model_thread(model, index);
	const struct place *place = thread_place(model, thread);
	const struct pid_ns *ns;
	struct ids ids;

	for (uint32_t number = place->pid_ns; number; number = ns->parent) {
		struct container *container;

		ns = pid_ns_find(model, thread->host, number);
		if (!ns || ns->level == 0)
			break;
		container = findnew(collector, thread->host, NAMESPACE_PID, number);
		container->level = ns->level;
		container->parent = ns->parent;
		count(collector, container, index);
		if (thread_ids_at(model, thread, ns->level, &ids) && ids.tid == 1)
			container->first = index; /* the newest, if there were several */
	}
}

static void clear(void *data)
{
	g_array_free(((struct container *) data)->names, TRUE);
}

GArray *containers_new(const struct session *session)
{
	const struct model *model = &session->trace.model;
	struct collector collector = {
		session, g_array_new(FALSE, FALSE, sizeof(struct container)), {0}, {0}};

	g_array_set_clear_func(collector.list, clear); /* however it is freed */
	idmap_init(&collector.index);
	idmap_init(&collector.named);
	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);
		const struct place *place = thread_place(model, thread);

		if (!place ||
		    MAX(thread->begin, session->asked.from) >= MIN(thread->end, session->asked.to))
			continue;
		add_pid_namespaces(&collector, i);
		if (place->cgroup_ns && place->cgroup_ns != HOST_CGROUP_NS)
			count(&collector,
			      findnew(&collector, thread->host, NAMESPACE_CGROUP, place->cgroup_ns),
			      i);
	}
	g_array_sort(collector.list, by_host_kind_number);
	idmap_clear(&collector.index);
	idmap_clear(&collector.named);
	return collector.list;
}

static void choose(struct session *session, uint16_t host, enum namespace_kind kind,
		   uint32_t number)
{
	struct chosen chosen = {host, kind, number};

	g_array_append_val(session->asked.chosen, chosen);
}

/* "4026532201", "pid:[4026532201]", "cgroup:[4026532202]" */
static void choose_number(struct session *session, const char *wanted)
{
	bool pid = g_str_has_prefix(wanted, "pid:["), cgroup = g_str_has_prefix(wanted, "cgroup:[");
	g_autofree char *digits = g_strdup(pid || cgroup ? strchr(wanted, '[') + 1 : wanted);
	size_t length = strlen(digits);
	guint64 number;

	if (pid || cgroup) {
		if (!length || digits[length - 1] != ']')
			return;
		digits[length - 1] = 0;
	}
	if (!g_ascii_string_to_unsigned(digits, 10, 1, UINT32_MAX, &number, NULL))
		return;
	for (guint h = 0; h < session->trace.model.hosts->len; h++) {
		if (!cgroup && pid_ns_find(&session->trace.model, h, (uint32_t) number))
			choose(session, (uint16_t) h, NAMESPACE_PID, (uint32_t) number);
		for (guint i = 1; !pid && i < session->trace.model.places->len; i++)
			if (g_array_index(session->trace.model.places, struct place, i).cgroup_ns ==
			    number) {
				choose(session, (uint16_t) h, NAMESPACE_CGROUP, (uint32_t) number);
				break;
			}
	}
}

/* A process of the host: the container that it is in; docker and podman tell the
 * PID of a container's first process. */
static bool choose_process(struct session *session, const char *wanted, GError **error)
{
	gint64 pid;

	if (!g_ascii_string_to_signed(wanted, 10, 1, INT32_MAX, &pid, NULL))
		return true;
	for (uint32_t i = session->trace.model.thread_count; i-- > 0;) {
		const struct thread *thread = model_thread(&session->trace.model, i);
		const struct place *place = thread_place(&session->trace.model, thread);

		if (thread->tid != pid || !place)
			continue;
		if (place->level && place->pid_ns)
			choose(session, thread->host, NAMESPACE_PID, place->pid_ns);
		else if (place->cgroup_ns && place->cgroup_ns != HOST_CGROUP_NS)
			choose(session, thread->host, NAMESPACE_CGROUP, place->cgroup_ns);
		else {
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
				    "--container '%s': %s (%d) is in no container that the trace "
				    "tells of",
				    wanted, session_thread_name(session, i), thread->tid);
			return false;
		}
		return true;
	}
	return true;
}

/* By the name or program of the first process. */
static void choose_name(struct session *session, const GArray *containers, const char *wanted)
{
	for (guint i = 0; i < containers->len; i++) {
		const struct container *at = &g_array_index(containers, struct container, i);
		const char *program, *base;

		if (at->first == NO_THREAD)
			continue;
		program = session_text(session,
				       model_thread(&session->trace.model, at->first)->program);
		base = strrchr(program, '/');
		if (pattern_match(wanted, session_thread_name(session, at->first)) ||
		    (*program && pattern_match(wanted, base ? base + 1 : program)))
			choose(session, at->host, at->kind, at->number);
	}
}

/* What somebody may have meant by `wanted`. */
struct meant {
	const struct container *container;
	const char *first; /* the name of its first process, "" */
	char *number;      /* owned */
	unsigned distance;
};

static void meant_clear(gpointer data)
{
	g_free(((struct meant *) data)->number);
}

/* Among equals in the list's order. */
static int by_distance(gconstpointer a, gconstpointer b)
{
	const struct meant *x = a, *y = b;

	if (x->distance != y->distance)
		return x->distance < y->distance ? -1 : 1;
	return x->container < y->container ? -1 : x->container > y->container;
}

static GArray *meant_new(const struct session *session, const GArray *containers,
			 const char *wanted)
{
	GArray *list = g_array_new(FALSE, FALSE, sizeof(struct meant));

	g_array_set_clear_func(list, meant_clear);
	for (guint i = 0; i < containers->len; i++) {
		const struct container *at = &g_array_index(containers, struct container, i);
		struct meant candidate = {
			.container = at,
			.first = at->first == NO_THREAD ? ""
							: session_thread_name(session, at->first),
			.number = namespace_text(at->kind, at->number)};

		candidate.distance = meant_distance(wanted, candidate.number);
		if (*candidate.first)
			candidate.distance =
				MIN(candidate.distance, meant_distance(wanted, candidate.first));
		g_array_append_val(list, candidate);
	}
	g_array_sort(list, by_distance);
	return list;
}

/* What there is instead, nearest first. */
static bool none_such(const struct session *session, const GArray *containers, const char *wanted,
		      GError **error)
{
	g_autoptr(GString) list = g_string_new(NULL);
	g_autoptr(GArray) candidates = meant_new(session, containers, wanted);

	for (guint i = 0; i < candidates->len && i < NAMES_LISTED; i++) {
		const struct meant *at = &g_array_index(candidates, struct meant, i);

		g_string_append_printf(list, "%s%s", i ? ", " : "", at->number);
		if (*at->first)
			g_string_append_printf(list, " (%s)", at->first);
	}
	if (containers->len > NAMES_LISTED)
		g_string_append_printf(list, " and %u more", containers->len - NAMES_LISTED);
	if (containers->len)
		g_set_error(
			error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			"--container '%s': the trace has no such PID or cgroup namespace, first "
			"process, or process of a container; it has %s",
			wanted, list->str);
	else
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--container '%s': the trace tells of no container: %s", wanted,
			    session->trace.model.places->len > 1
				    ? "all threads whose namespaces it tells are in the host's"
				    : "it has neither a statedump nor forks that say who is in "
				      "which namespace");
	return false;
}

bool container_choose(struct session *session, GError **error)
{
	const char *wanted = session->asked.options->container;
	GArray *containers;
	bool ok;

	if (!wanted)
		return true;
	session->asked.chosen = g_array_new(FALSE, FALSE, sizeof(struct chosen));
	containers = containers_new(session);
	choose_number(session, wanted);
	ok = session->asked.chosen->len || choose_process(session, wanted, error);
	if (ok && !session->asked.chosen->len)
		choose_name(session, containers, wanted);
	if (ok && !session->asked.chosen->len)
		ok = none_such(session, containers, wanted, error);
	g_array_free(containers, TRUE);
	return ok;
}

bool container_has(const struct session *session, uint32_t index, struct ids *ids)
{
	const struct model *model = &session->trace.model;
	const struct thread *thread = model_thread(model, index);
	const struct place *place = thread_place(model, thread);

	if (!session->asked.chosen) {
		if (ids)
			*ids = (struct ids) {thread->tid, thread->pid};
		return true;
	}
	for (guint i = 0; place && i < session->asked.chosen->len; i++) {
		const struct chosen *at = &g_array_index(session->asked.chosen, struct chosen, i);

		if (at->host != thread->host)
			continue;
		if (at->kind == NAMESPACE_PID && thread_in_pid_ns(model, thread, at->number, ids))
			return true;
		if (at->kind == NAMESPACE_CGROUP && place->cgroup_ns == at->number) {
			if (ids)
				thread_inner_ids(model, thread, ids);
			return true;
		}
	}
	return false;
}
