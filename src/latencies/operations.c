/* SPDX-License-Identifier: MIT */
/* Names, scope and waits; see operations.h. */
#include "latencies/operations.h"
#include "run/choosing.h"

#include <stdlib.h>
#include <string.h>

#include "event/softirqs.h"
#include "latencies/busy.h"
#include "waits/causes.h"
#include "waits/state_names.h"
#include "util/error.h"
#include "util/pattern.h"
#include "model/images.h"

static const char *const kind_names[OPERATION_KINDS] = {
	"syscall", "function",  "function",     "irq",          "vector",   "softirq",
	"hrtimer", "kvm-exit",  "block-queued", "block-served", "wait-cpu", "blocked",
	"trap",    "guest-irq", "busy",         "reached"};

static char *callback_name(const struct session *session, uint32_t number)
{
	const char *function = session_function(session, number);

	return *function ? g_strconcat("hrtimer:", function, NULL) : g_strdup("hrtimer");
}

const char *disk_name(const struct session *session, uint32_t device)
{
	const char *text = session_text(session, device);
	char *minor;
	uint32_t dev = (uint32_t) strtoul(text, &minor, 10) << 20, name;

	dev |= *minor == ':' ? (uint32_t) strtoul(minor + 1, NULL, 10) : 0;
	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		name = idmap_get(&model_host(&session->trace.model, i)->disks, dev);
		if (name != IDMAP_NONE)
			return session_text(session, name);
	}
	return text;
}

static uint32_t device_key(const struct session *session, const char *device)
{
	g_autofree char *key = NULL;

	if (!*device)
		return 0;
	key = g_strconcat("device:", device, NULL);
	return intern_id(session->trace.model.names, key);
}

char *operation_name(const struct session *session, uint32_t what)
{
	uint32_t kind = PACK_KIND(what), number = PACK_NUMBER(what);

	switch (kind) {
	case OPERATION_IRQ:
	case OPERATION_SOFTIRQ:
	case OPERATION_GUEST_IRQ:
		return g_strdup_printf("%s:%u", kind_names[kind], number);
	case OPERATION_HRTIMER:
		return callback_name(session, number);
	case OPERATION_KVM_EXIT:
		return g_strdup(session_text(session, number));
	case OPERATION_WAIT_CPU:
	case OPERATION_BUSY:
		return g_strdup(kind_names[kind]);
	case OPERATION_BLOCKED:
		return g_strconcat("blocked:", cause_kind_text((enum cause_kind) number), NULL);
	case OPERATION_FAULT:
		return number ? g_strconcat("trap:page_fault on ", session_text(session, number),
					    NULL)
			      : g_strdup("trap:page_fault");
	case OPERATION_QUEUED:
	case OPERATION_SERVED:
		return g_strconcat(kind_names[kind], ":", disk_name(session, number), NULL);
	default:
		return g_strconcat(kind_names[kind], ":", session_text(session, number), NULL);
	}
}

/* By image and address, as reading the names takes long. */
static uint32_t user_name(const struct session *session, const struct thread *thread,
			  uint32_t number, int64_t time)
{
	const char *text = session_text(session, number);
	uint64_t address = g_ascii_strtoull(text, NULL, 16);
	int32_t pid = thread_process(thread);
	const struct loaded_image *image =
		model_image_at(&session->trace.model, thread->host, pid, address, time);
	uint64_t key = (uint64_t) (image ? model_image_number(&session->trace.model, image) : 0)
			       << PACK_BITS |
		       number;
	uint32_t name = idmap_get(session->found.user_names, key);

	if (name != IDMAP_NONE)
		return name;
	name = intern_id(session->trace.model.names,
			 session_user_function(session, thread->host, pid, address, time));
	idmap_set(session->found.user_names, key, name);
	return name;
}

uint32_t operation_what(const struct session *session, const struct operation *operation)
{
	if (PACK_KIND(operation->what) != OPERATION_USER || !operation_has_thread(operation))
		return operation->what;
	return PACK(OPERATION_USER,
		    user_name(session, model_thread(&session->trace.model, operation->thread),
			      PACK_NUMBER(operation->what), operation->begin));
}

/* What Linux has them for: arch/x86/include/asm/irq_vectors.h. */
static const char *guest_irq_label(uint32_t vector)
{
	switch (vector) {
	case 0xec:
		return "Linux: local_timer";
	case 0xf6:
		return "Linux: irq_work";
	case 0xfb:
		return "Linux: call_function_single";
	case 0xfc:
		return "Linux: call_function";
	case 0xfd:
		return "Linux: reschedule";
	default:
		return NULL;
	}
}

char *operation_label(const struct session *session, const struct operation *operation)
{
	switch (PACK_KIND(operation->what)) {
	case OPERATION_IRQ:
		return operation->ref ? g_strdup(session_text(session, operation->ref)) : NULL;
	case OPERATION_SOFTIRQ:
		return g_strdup(softirq_name(PACK_NUMBER(operation->what)));
	case OPERATION_GUEST_IRQ:
		return g_strdup(guest_irq_label(PACK_NUMBER(operation->what)));
	default:
		return NULL;
	}
}

uint32_t operation_resource(const struct session *session, const struct operation *operation)
{
	switch (PACK_KIND(operation->what)) {
	case OPERATION_SYSCALL:
		return operation->ref;
	case OPERATION_IRQ:
		return device_key(session, session_text(session, operation->ref));
	case OPERATION_QUEUED:
	case OPERATION_SERVED:
		return device_key(session, disk_name(session, PACK_NUMBER(operation->what)));
	case OPERATION_BLOCKED:
	case OPERATION_FAULT:
	case OPERATION_BUSY:
		return block_waits_for(session, block_at(&session->trace.timeline, operation->ref));
	default:
		return 0;
	}
}

static bool may_be(const char *pattern, enum operation_kind kind)
{
	/* the part before the colon is compared as a pattern of its own */
	g_autofree char *head = g_strndup(pattern, strcspn(pattern, ":"));

	return pattern_match(head, kind_names[kind]);
}

static uint32_t kinds_of(const char *pattern)
{
	uint32_t named = 0;

	for (int kind = 0; kind < OPERATION_TIMED; kind++)
		if (may_be(pattern, (enum operation_kind) kind))
			named |= 1u << kind;
	return named;
}

uint32_t operations_named(const char *text)
{
	g_autofree char *pattern = operation_pattern_name(text);
	g_auto(GStrv) outer = operation_pattern_outer(text);
	uint32_t named = kinds_of(pattern);

	for (guint i = 0; outer && outer[i]; i++)
		named |= kinds_of(outer[i]);
	return named;
}

/* What is inside, or has something inside, is a frame. */
static bool path_check(const char *text, GError **error)
{
	g_auto(GStrv) outer = operation_pattern_outer(text);
	g_autofree char *name = operation_pattern_name(text);
	const char *wrong = NULL;

	for (guint i = 0; outer && outer[i] && !wrong; i++)
		wrong = kinds_of(outer[i]) & OPERATIONS_OF_FRAMES ? NULL : outer[i];
	if (outer && !wrong && !(kinds_of(name) & OPERATIONS_OF_FRAMES))
		wrong = name;
	if (wrong)
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--operation '%s': '%s' is not inside others, nor has any inside: "
			    "syscall:, function:, irq:, vector:, softirq: and hrtimer are",
			    text, wrong);
	return !wrong;
}

bool operation_pattern_check(const char *text, GError **error)
{
	struct operation_pattern *parsed = operation_pattern_new(text, error);
	g_autofree char *pattern = parsed ? g_strdup(parsed->name) : NULL;

	operation_pattern_free(parsed);
	if (!pattern || !path_check(text, error))
		return false;
	if (kinds_of(pattern))
		return true;
	g_set_error(
		error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		"--operation '%s': must begin with syscall:, function:, irq:, vector:, softirq:, "
		"hrtimer, kvm-exit:, guest-irq:, block-queued:, block-served:, wait-cpu, "
		"blocked:, trap: or busy, or with *",
		pattern);
	return false;
}

static bool kind_wanted(const struct session *session, enum operation_kind kind)
{
	return session->trace.flow.operations_wanted & 1u << kind;
}

/* Turns that nobody asked for are of single threads, and of those alone that have something to
 * tell: what is saved, compared or split otherwise has none. */
bool turns_unasked(const struct options *options)
{
	const struct profile_options *asked = &options->profile;

	return !asked->operations->len && asked->per == PER_NOTHING && !asked->save &&
	       !asked->resume && !asked->compare;
}

static bool may_be_wanted(const struct options *options, enum operation_kind kind)
{
	const GPtrArray *patterns = options->profile.operations;

	for (guint i = 0; i < patterns->len; i++)
		if (operations_named(g_ptr_array_index(patterns, i)) & 1u << kind)
			return true;
	return !patterns->len &&
	       (kind == OPERATION_SYSCALL || (kind == OPERATION_BUSY && turns_unasked(options)));
}

uint32_t operations_wanted(const struct options *options)
{
	uint32_t wanted = 0;

	for (int kind = 0; kind < OPERATION_TIMED; kind++)
		if (may_be_wanted(options, (enum operation_kind) kind))
			wanted |= 1u << kind;
	return wanted;
}

static void add_wait(struct session *session, uint32_t what, uint32_t thread,
		     const struct span *span, uint32_t cpu)
{
	struct operation operation = {.begin = span->begin,
				      .what = what,
				      .thread = thread,
				      .duration = (uint64_t) (span->end - span->begin),
				      .cpu = operation_cpu(cpu),
				      .off_cpu = true,
				      .ref = span->ref};
	uint32_t none = 0;

	if (span->end - span->begin <= OPERATION_DURATION_MAX)
		operation_append(&session->trace.timeline.operations, &none, &operation);
}

/* A wait with both ends seen: its begin was not made up, and it was ended. */
static void add_blocked(struct session *session, uint32_t thread, const struct span *span)
{
	struct wait wait = wait_of(session, thread, span);

	if (!wait.woken)
		return;
	if (PACK_KIND(span->leaf) == LEAF_BLOCK_FAULT && kind_wanted(session, OPERATION_FAULT))
		add_wait(session, PACK(OPERATION_FAULT, 0), thread, span, wait.block->cpu);
	if (kind_wanted(session, OPERATION_BLOCKED))
		add_wait(session, PACK(OPERATION_BLOCKED, wait_cause_kind(session, &wait)), thread,
			 span, wait.block->cpu);
}

static void add_thread(struct session *session, uint32_t index)
{
	const struct thread *thread = model_thread(&session->trace.model, index);
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, index, INT64_MIN, INT64_MAX);
	while (spans_next_off_cpu(&spans, &span))
		if (leaf_is_blocked(span.leaf) && span.begin != spans.known &&
		    !(thread->backfilled && span.begin == thread->backfill_begin))
			add_blocked(session, index, &span);
}

void operations_add_waits(struct session *session)
{
	if (kind_wanted(session, OPERATION_BUSY))
		busy_add(session);
	if (!kind_wanted(session, OPERATION_BLOCKED) && !kind_wanted(session, OPERATION_FAULT))
		return;
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		add_thread(session, i);
}

static void free_pattern(gpointer pattern)
{
	operation_pattern_free(pattern);
}

static void free_inside(gpointer inside)
{
	operations_inside_free(inside);
}

bool operations_have_conditions(const struct options *options)
{
	const GPtrArray *patterns = options->profile.operations;

	for (guint i = 0; i < patterns->len; i++) {
		struct operation_pattern *pattern =
			operation_pattern_new(g_ptr_array_index(patterns, i), NULL);
		bool has = pattern && pattern->conditions;

		operation_pattern_free(pattern);
		if (has)
			return true;
	}
	return false;
}

void operation_scope_init(struct operation_scope *scope, const struct session *session)
{
	const GPtrArray *texts = session->asked.options->profile.operations;

	*scope = (struct operation_scope) {.session = session,
					   .wanted = g_hash_table_new(NULL, NULL),
					   .patterns = g_ptr_array_new_with_free_func(free_pattern),
					   .inside = g_ptr_array_new_with_free_func(free_inside)};
	for (guint i = 0; i < texts->len; i++) {
		struct operation_pattern *pattern =
			operation_pattern_new(g_ptr_array_index(texts, i), NULL);

		g_ptr_array_add(scope->patterns, pattern);
		g_ptr_array_add(scope->inside,
				pattern && pattern->outer
					? operations_inside_new(session, pattern, operation_name)
					: NULL);
	}
	if (operations_have_conditions(session->asked.options)) {
		scope->fields_met = g_hash_table_new(NULL, NULL);
		scope->shapes = shapes_new(session);
	}
	if (!session->asked.selected->len)
		return;
	scope->threads = g_new0(guint8, session->trace.model.thread_count + 1);
	for (guint i = 0; i < session->asked.selected->len; i++)
		scope->threads[g_array_index(session->asked.selected, uint32_t, i)] = 1;
}

void operation_scope_clear(struct operation_scope *scope)
{
	g_hash_table_destroy(scope->wanted);
	g_ptr_array_free(scope->patterns, TRUE);
	g_ptr_array_free(scope->inside, TRUE);
	if (scope->fields_met)
		g_hash_table_destroy(scope->fields_met);
	shapes_free(scope->shapes);
	g_free(scope->threads);
}

/* What is asked of operations of one name. */
enum { WANTED_NOT = 1, WANTED, WANTED_BY_FIELDS };

static guint name_wanted(const struct operation_scope *scope, uint32_t what)
{
	const struct session *session = scope->session;
	g_autofree char *name = NULL;
	guint wanted = WANTED_NOT;

	if (!scope->patterns->len)
		return PACK_KIND(what) == OPERATION_SYSCALL ||
				       (PACK_KIND(what) == OPERATION_BUSY &&
					turns_unasked(session->asked.options))
			       ? WANTED
			       : WANTED_NOT;
	name = operation_name(session, what);
	for (guint i = 0; i < scope->patterns->len; i++) {
		const struct operation_pattern *pattern = g_ptr_array_index(scope->patterns, i);

		if (!pattern_match(pattern->name, name))
			continue;
		if (!pattern->conditions && !pattern->outer)
			return WANTED;
		wanted = WANTED_BY_FIELDS;
	}
	return wanted;
}

static bool condition_met(const struct operation_scope *scope,
			  const struct field_condition *condition,
			  const struct operation *operation, const struct operation_fields *fields)
{
	const struct operation_field *field =
		operation_field(fields,
				intern_id(scope->session->trace.model.names, condition->field));

	if (field)
		return field_condition_holds(condition, field->value);
	return strcmp(condition->field, "cpu") == 0 && operation->cpu != OPERATION_CPU_UNKNOWN &&
	       field_condition_holds(condition, operation->cpu);
}

/* Some pattern of that name has no condition that is not met, and has it inside. */
static bool fields_wanted(const struct operation_scope *scope, const struct operation *operation,
			  uint32_t number)
{
	g_autofree char *name =
		operation_name(scope->session, operation_what(scope->session, operation));
	struct operation_fields fields;

	if (scope->shapes)
		operation_fields(scope->shapes, number, &fields);
	for (uint32_t i = 0; scope->shapes && i < fields.count; i++)
		g_hash_table_add(scope->fields_met, GUINT_TO_POINTER(fields.at[i].name));
	for (guint i = 0; i < scope->patterns->len; i++) {
		const struct operation_pattern *pattern = g_ptr_array_index(scope->patterns, i);
		const struct operations_inside *inside = g_ptr_array_index(scope->inside, i);
		bool met = (pattern->conditions || inside) && pattern_match(pattern->name, name) &&
			   (!inside ||
			    g_hash_table_contains(inside->numbers, GUINT_TO_POINTER(number)));

		for (guint k = 0; met && pattern->conditions && k < pattern->conditions->len; k++)
			met = condition_met(scope,
					    &g_array_index(pattern->conditions,
							   struct field_condition, k),
					    operation, &fields);
		if (met)
			return true;
	}
	return false;
}

/* Something is inside what it is to be inside of. */
static bool paths_check(const struct operation_scope *scope, GError **error)
{
	for (guint i = 0; i < scope->inside->len; i++) {
		const struct operations_inside *inside = g_ptr_array_index(scope->inside, i);
		const struct operation_pattern *pattern = g_ptr_array_index(scope->patterns, i);
		struct nearest nearest = {0};
		g_autofree char *near = NULL;
		GHashTableIter iter;
		gpointer name;

		if (!inside || !inside->met || g_hash_table_size(inside->numbers))
			continue; /* none of its name: there is another word for that */
		nearest.wanted = pattern->outer[g_strv_length(pattern->outer) - 1];
		g_hash_table_iter_init(&iter, inside->around);
		while (g_hash_table_iter_next(&iter, &name, NULL))
			nearest_offer(&nearest, name);
		near = nearest_list(&nearest, "; right around these are ");
		g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
			    "--operation '%s': none of these is inside %s%s", pattern->name,
			    nearest.wanted, near);
		return false;
	}
	return true;
}

bool operation_scope_check(const struct operation_scope *scope, GError **error)
{
	const struct session *session = scope->session;

	if (!paths_check(scope, error))
		return false;
	if (!scope->fields_met || !g_hash_table_size(scope->fields_met))
		return true; /* no operation of that name: there is another word for that */
	for (guint i = 0; i < scope->patterns->len; i++) {
		const struct operation_pattern *pattern = g_ptr_array_index(scope->patterns, i);

		for (guint k = 0; pattern->conditions && k < pattern->conditions->len; k++) {
			const char *field =
				g_array_index(pattern->conditions, struct field_condition, k).field;
			uint32_t known = intern_id(session->trace.model.names, field);
			struct nearest nearest = {.wanted = field};
			g_autofree char *near = NULL;
			GHashTableIter iter;
			gpointer name;

			if (strcmp(field, "cpu") == 0 ||
			    g_hash_table_contains(scope->fields_met, GUINT_TO_POINTER(known)))
				continue;
			nearest_offer(&nearest, "cpu");
			g_hash_table_iter_init(&iter, scope->fields_met);
			while (g_hash_table_iter_next(&iter, &name, NULL))
				nearest_offer(&nearest,
					      session_text(session, GPOINTER_TO_UINT(name)));
			near = nearest_list(&nearest, "; they have ");
			g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
				    "--operation '%s': these operations have no field '%s'%s",
				    pattern->name, field, near);
			return false;
		}
	}
	return true;
}

static bool resource_matches(const struct session *session, uint32_t resource)
{
	const char *pattern = session->asked.options->profile.resource;
	const char *key = session_text(session, resource);

	return pattern_match(pattern, key) || pattern_match(pattern, resource_name(key));
}

/* On that resource itself, or a wait in it was for that: a read of a file
 * that waited for the device. */
static bool resource_wanted(const struct session *session, const struct operation *operation)
{
	struct spans spans;
	struct span span;

	if (resource_matches(session, operation_resource(session, operation)))
		return true;
	if (PACK_KIND(operation->what) == OPERATION_FAULT)
		return resource_matches(session,
					session_resource(session, block_at(&session->trace.timeline,
									   operation->ref)));
	if (PACK_KIND(operation->what) > OPERATION_USER || !operation->off_cpu)
		return false;
	spans_begin(&spans, session, operation->thread, operation->begin, operation_end(operation));
	while (spans_next(&spans, &span))
		if (leaf_is_blocked(span.leaf) &&
		    resource_matches(session,
				     block_waits_for(session,
						     block_at(&session->trace.timeline, span.ref))))
			return true;
	return false;
}

static void offer_resource(struct nearest *nearest, const struct session *session,
			   uint32_t resource)
{
	const char *key = session_text(session, resource);

	if (*key)
		nearest_offer(nearest, key);
}

char *operations_near_resources(const struct session *session)
{
	const struct pages *store = &session->trace.timeline.operations;
	struct nearest nearest = {.wanted = session->asked.options->profile.resource};

	for (uint32_t i = 1; i < store->used; i++)
		offer_resource(&nearest, session,
			       operation_resource(session, operation_at(store, i)));
	return nearest_list(&nearest, "; they are on ");
}

static guint wanted_of(struct operation_scope *scope, uint32_t what)
{
	guint place = (what ^ what >> PACK_BITS) % SCOPE_RECENT;
	gpointer key = GUINT_TO_POINTER(what + 1);
	guint wanted = scope->recent[place].wanted;

	if (wanted && scope->recent[place].what == what)
		return wanted;
	wanted = GPOINTER_TO_UINT(g_hash_table_lookup(scope->wanted, key));
	if (!wanted) {
		wanted = name_wanted(scope, what);
		g_hash_table_insert(scope->wanted, key, GUINT_TO_POINTER(wanted));
	}
	scope->recent[place].what = what;
	scope->recent[place].wanted = wanted;
	return wanted;
}

bool operation_may_stop(const struct session *session, const struct operation *operation)
{
	const struct model *model = &session->trace.model;

	return operation->off_cpu ||
	       (operation_has_thread(operation) &&
		is_thread(
			model_host(model, model_operation_host(model, operation))->guest.machine));
}

bool operation_spans_gap(const struct session *session, const struct operation *operation)
{
	const struct host *host =
		model_host(&session->trace.model,
			   model_operation_host(&session->trace.model, operation));
	int64_t end = operation_end(operation);
	int kind = PACK_KIND(operation->what);

	/* what ends a turn depends on who turned to whom first, at any time */
	if (kind == OPERATION_BUSY)
		return host_gap_over(host, session->trace.begin, session->trace.end);
	if (kind == OPERATION_USER && host_user_gap_over(host, operation->begin, end))
		return true;
	return (operation->off_cpu || kind == OPERATION_QUEUED || kind == OPERATION_SERVED) &&
	       host_gap_over(host, operation->begin, end);
}

bool operation_in_scope(struct operation_scope *scope, const struct operation *operation,
			uint32_t number)
{
	const struct session *session = scope->session;
	guint wanted = wanted_of(scope, operation_what(session, operation));

	if (wanted == WANTED_NOT || operation->begin < session->asked.from ||
	    operation_end(operation) > session->asked.to)
		return false;
	if (scope->threads &&
	    (!operation_has_thread(operation) || !scope->threads[operation->thread]))
		return false;
	if (session->asked.options->host &&
	    !session_wants_host(session,
				model_host(&session->trace.model,
					   model_operation_host(&session->trace.model, operation))))
		return false;
	if (session->asked.options->profile.resource && !resource_wanted(session, operation))
		return false;
	return wanted == WANTED || fields_wanted(scope, operation, number);
}

GPtrArray *operations_available(const struct operation_scope *scope)
{
	static const char *const patterns[OPERATION_TIMED] = {
		"syscall:*", "function:*", "function:*",      "irq:*",          "vector:*",
		"softirq:*", "hrtimer*",   "kvm-exit:*",      "block-queued:*", "block-served:*",
		"wait-cpu",  "blocked:*",  "trap:page_fault", "guest-irq:*",    "busy"};
	const bool *kinds = scope->session->trace.kinds;
	GPtrArray *list = g_ptr_array_new();
	uint32_t seen = 0;
	GHashTableIter iter;
	gpointer key;

	g_hash_table_iter_init(&iter, scope->wanted);
	while (g_hash_table_iter_next(&iter, &key, NULL))
		seen |= 1u << PACK_KIND(GPOINTER_TO_UINT(key) - 1);
	if (seen & 1u << OPERATION_USER) /* one name for both kinds */
		seen = (seen | 1u << OPERATION_FUNCTION) & ~(1u << OPERATION_USER);
	/* these are recorded only if they are asked for */
	seen |= kinds[EV_SCHED_SWITCH]
			? 1u << OPERATION_WAIT_CPU | 1u << OPERATION_BLOCKED | 1u << OPERATION_BUSY
			: 0;
	seen |= kinds[EV_KVM_EXIT] ? 1u << OPERATION_KVM_EXIT : 0;
	seen |= kinds[EV_KVM_IRQ_INJECTED] ? 1u << OPERATION_GUEST_IRQ : 0;
	seen |= kinds[EV_PAGE_FAULT_USER] ? 1u << OPERATION_FAULT : 0;
	for (int kind = 0; kind < OPERATION_TIMED; kind++)
		if (seen & 1u << kind)
			g_ptr_array_add(list, (gpointer) patterns[kind]);
	return list;
}
