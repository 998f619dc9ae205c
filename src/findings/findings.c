/* SPDX-License-Identifier: MIT */
/* Naming and adding up findings; see findings.h. */
#include "findings/findings.h"

#include <string.h>

#include "tracking/request_costs.h"
#include "tracking/request_list.h"
#include "imposed/wait_groups.h"
#include "latencies/operations.h"
#include "latencies/roots.h"
#include "run/command.h"
#include "stands/stands.h"
#include "words/names.h"
#include "waits/summary.h"
#include "waits/wait.h"
#include "imposed/waiting.h"
#include "util/digest.h"

static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";

#define LETTERS (FINDING_ID - 3)

/* "w-" and 30 bits of a digest of what the finding is made of. */
static void make_id(char *id, char kind, const GString *made_of)
{
	uint64_t digest = digest_of(made_of->str, made_of->len);

	id[0] = kind;
	id[1] = '-';
	for (int i = 0; i < LETTERS; i++)
		id[2 + i] = letters[digest >> (64 - 5 * (i + 1)) & 31];
	id[FINDING_ID - 1] = '\0';
}

/* A part of what an id is made of. */
static void add_part(GString *made_of, const char *text)
{
	g_string_append(made_of, text);
	g_string_append_c(made_of, '\n');
}

/* The resource as far as it is the same in the next run: numbers of pipes and addresses are not. */
static const char *lasting(const char *resource)
{
	static const char *const kept[] = {"file:",  "pipe:/", "device:", "lock:",
					   "child:", "quota",  "idle"};

	for (size_t i = 0; i < G_N_ELEMENTS(kept); i++)
		if (g_str_has_prefix(resource, kept[i]))
			return resource;
	return resource_kind(resource);
}

static void finding_clear(gpointer data)
{
	g_free(((struct finding *) data)->title);
}

GArray *findings_new(void)
{
	GArray *findings = g_array_new(FALSE, TRUE, sizeof(struct finding));

	g_array_set_clear_func(findings, finding_clear);
	return findings;
}

/* Adds `one`, whose title it takes, to the finding of that id. `index`: id -> place. */
static void add_finding(GArray *findings, GHashTable *index, struct finding *one)
{
	gpointer place = g_hash_table_lookup(index, one->id);
	struct finding *to;

	if (!place) {
		g_array_append_vals(findings, one, 1);
		g_hash_table_insert(index, g_strdup(one->id), GUINT_TO_POINTER(findings->len));
		return;
	}
	to = &g_array_index(findings, struct finding, GPOINTER_TO_UINT(place) - 1);
	to->ns += one->ns;
	to->count += one->count;
	to->threads += one->threads;
	to->spans_gap |= one->spans_gap;
	if (one->largest > to->largest) {
		to->largest = one->largest;
		to->thread = one->thread;
		to->begin = one->begin;
		to->end = one->end;
	}
	g_free(one->title);
}

static GHashTable *index_new(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void findings_add_waits(GArray *findings, const struct session *session, const GArray *groups,
			const bool *left_out)
{
	g_autoptr(GHashTable) index = index_new();

	for (guint i = 0; i < groups->len; i++) {
		const struct wait_group *group = &g_array_index(groups, struct wait_group, i);
		const char *resource =
			group->resource ? session_text(session, group->resource) : "";
		const char *cause = cause_kind_text(group->cause.kind);
		const char *name = session_thread_name(session, group->thread);
		g_autofree char *leaf = leaf_key(session, group->leaf);
		g_autoptr(GString) made_of = g_string_new(NULL);
		struct finding one = {.kind = "wait",
				      .ns = group->ns,
				      .count = group->count,
				      .threads = 1,
				      .spans_gap = group->spans_gap,
				      .thread = group->thread,
				      .begin = group->longest_begin,
				      .end = group->longest_end,
				      .largest = group->longest};

		if (left_out && left_out[group->thread])
			continue;
		resource = *resource ? lasting(resource) : resource;
		add_part(made_of, name);
		add_part(made_of, leaf);
		add_part(made_of, resource);
		add_part(made_of, cause);
		make_id(one.id, 'w', made_of);
		one.title = g_strconcat(name, " ", leaf, *resource ? " on " : "", resource,
					"; cause: ", cause, NULL);
		add_finding(findings, index, &one);
	}
}

void findings_add_imposers(GArray *findings, const struct session *session,
			   const struct waiting *waiting)
{
	g_autoptr(GHashTable) index = index_new();

	for (guint i = 0; i < waiting->imposers->len; i++) {
		const struct imposer *imposer =
			&g_array_index(waiting->imposers, struct imposer, i);
		bool thread = imposer->thread != NO_THREAD;
		const char *name = thread ? session_thread_name(session, imposer->thread)
					  : lasting(session_text(session, imposer->resource));
		g_autoptr(GString) made_of = g_string_new(NULL);
		struct finding one = {.kind = "imposer",
				      .ns = imposer->ns,
				      .count = imposer->waiters,
				      .threads = 1,
				      .spans_gap = imposer->spans_gap,
				      .thread = imposer->waiter,
				      .begin = imposer->begin,
				      .end = imposer->end,
				      .largest = imposer->worst};

		add_part(made_of, thread ? "thread" : "resource");
		add_part(made_of, name);
		make_id(one.id, 'i', made_of);
		one.title = g_strconcat("waited for by others: ", name, NULL);
		add_finding(findings, index, &one);
	}
}

/* A name without what tells one of several from the next. */
static void add_stem(GString *made_of, const struct session *session, uint32_t thread)
{
	const char *name = is_thread(thread) ? session_thread_name(session, thread) : "";
	g_autofree char *stem = g_strndup(name, stem_length(session, name));

	add_part(made_of, stem);
}

void findings_add_stands(GArray *findings, const struct session *session, struct stands *stands)
{
	g_autoptr(GHashTable) index = index_new();

	for (guint i = 0; i < stands->items->len; i++) {
		struct stand *item = &g_array_index(stands->items, struct stand, i);
		const struct fact *fact = item->fact;
		g_autoptr(GString) made_of = g_string_new(NULL);
		struct finding one = {.kind = "answer",
				      .ns = fact->ns,
				      .count = fact->count,
				      .threads = fact->threads,
				      .spans_gap = fact->spans_gap,
				      .thread = fact->victim,
				      .begin = fact->begin,
				      .end = fact->end,
				      .largest = fact->longest};

		/* all of the wait, also where it is told of a part */
		if (is_thread(one.thread) && one.end > one.begin)
			one.end = MAX(one.end, MIN(wait_until(session, one.thread, one.end - 1),
						   session->asked.to));

		add_part(made_of, stand_kind_name((enum stand_kind) fact->kind));
		add_stem(made_of, session, fact->victim);
		add_stem(made_of, session, fact->subject);
		add_part(made_of, fact->object ? lasting(session_text(session, fact->object)) : "");
		if (session->trace.model.hosts->len > 1) /* the same program may run on each */
			add_part(made_of, trace_host_name(&session->trace, fact->host));
		make_id(one.id, 's', made_of);
		memcpy(item->id, one.id, sizeof item->id);
		one.title = g_strdup(item->sentence);
		add_finding(findings, index, &one);
	}
}

static char *joined_path(const struct root *root, bool words)
{
	g_autoptr(GPtrArray) path = root_path(root);

	for (guint i = 0; i < path->len && words; i++) {
		char *plain = g_ptr_array_index(path, i);

		path->pdata[i] = part_words(plain);
		g_free(plain);
	}
	if (words && path->len == 2 && part_is_own(root->part)) {
		g_free(path->pdata[1]);
		path->pdata[1] = g_strdup("its own work");
	}
	g_ptr_array_add(path, NULL);
	return g_strjoinv(" > ", (char **) path->pdata);
}

/* A peak is named by its first root: the one that most of its operations have. */
void findings_add_profiles(GArray *findings, const struct profiles *profiles)
{
	g_autoptr(GHashTable) index = index_new();

	for (guint i = 0; i < profiles->list->len; i++) {
		const struct profile *profile = g_ptr_array_index(profiles->list, i);

		for (guint p = 0; p < profile->peaks->len; p++) {
			const struct peak *peak = &g_array_index(profile->peaks, struct peak, p);
			const struct root *root =
				peak->roots && peak->roots->len
					? &g_array_index(peak->roots, struct root, 0)
					: NULL;
			const struct example *at = root ? root_example(root) : NULL;
			g_autoptr(GString) made_of = g_string_new(NULL);
			struct finding one = {.kind = "peak",
					      .ns = peak->sum,
					      .count = peak->count,
					      .threads = 1,
					      .spans_gap = peak->spans_gap > 0,
					      .thread = NO_THREAD};
			g_autofree char *path = root ? joined_path(root, false) : NULL;

			if (!root || strcmp(root->part->node, PART_AT_LEISURE) == 0)
				continue;
			add_part(made_of, profile->operation);
			add_part(made_of, profile->scope);
			add_part(made_of, path);
			make_id(one.id, 'p', made_of);
			one.title = joined_path(root, true);
			if (at->latency >= 0 &&
			    at->thread < profiles->session->trace.model.thread_count) {
				one.thread = at->thread;
				one.begin = at->begin;
				one.end = at->end;
				one.largest = at->end - at->begin;
			}
			add_finding(findings, index, &one);
		}
	}
}

void findings_add_costs(GArray *findings, const struct costs *costs)
{
	g_autoptr(GHashTable) index = index_new();
	const struct session *session = costs->requests->session;

	if (session->asked.options->requests.metric != METRIC_LATENCY)
		return; /* no times */
	for (guint i = 0; i < costs->causes->len; i++) {
		const struct user_cause *cause =
			&g_array_index(costs->causes, struct user_cause, i);
		g_autoptr(GString) made_of = g_string_new(NULL);
		struct finding one = {.kind = "cause",
				      .ns = cause->value,
				      .count = cause->requests,
				      .threads = 1,
				      .spans_gap = cause->spans_gap,
				      .thread = cause->thread,
				      .begin = cause->begin,
				      .end = cause->end,
				      .largest = cause->largest};

		add_part(made_of, user_request_kind(costs->requests));
		add_part(made_of, cause->kind);
		add_part(made_of, cause->label);
		make_id(one.id, 'c', made_of);
		one.title =
			g_strdup_printf("requests (%s): %s%s%s", user_request_kind(costs->requests),
					cause->kind, *cause->label ? " " : "", cause->label);
		add_finding(findings, index, &one);
	}
}

GArray *findings_of_costs(const struct costs *costs)
{
	GArray *findings = findings_new();

	findings_add_costs(findings, costs);
	findings_sort(findings);
	return findings;
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct finding *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->id, y->id);
}

void findings_sort(GArray *findings)
{
	g_array_sort(findings, largest_first);
}

/* The requests of each kind, as `whylate requests --preset KIND` finds them. */
static void add_requests(GArray *findings, const struct session *session)
{
	static const enum request_preset presets[] = {PRESET_SERVER, PRESET_CLIENT, PRESET_PROCESS};
	g_autoptr(GPtrArray) picks = g_ptr_array_new();

	for (size_t i = 0; i < G_N_ELEMENTS(presets) && session->trace.flow.exchanges_wanted; i++) {
		struct options options = *session->asked.options;
		struct session narrowed = *session;
		struct request_scope scope = {picks, "pick", session->asked.from,
					      session->asked.to};
		struct user_requests *requests;
		struct costs *costs;

		options.requests.preset = presets[i];
		narrowed.asked.options = &options;
		requests = user_requests_new(&narrowed, &scope, NULL);
		if (!requests)
			continue;
		costs = costs_new(requests);
		findings_add_costs(findings, costs);
		costs_free(costs);
		user_requests_free(requests);
	}
}

GArray *findings_all(const struct session *session)
{
	GArray *findings = findings_new();
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct overview *overview = overview_new(session);
	struct waiting *waiting = waiting_new(session);
	struct stands *stands;
	struct profiles *profiles =
		session->trace.flow.operations_wanted ? profiles_new(session, 1, NULL) : NULL;
	GArray *groups;

	stands = stands_new(session, waiting);
	findings_add_stands(findings, session, stands);
	stands_free(stands);
	findings_add_waits(findings, session, overview->waits, NULL);
	findings_add_imposers(findings, session, waiting);
	/* the overview leaves out who is idle, and of others what delayed nobody */
	for (uint32_t i = 0; i < session->trace.model.thread_count; i++)
		g_array_append_val(threads, i);
	groups = wait_groups_new(session, threads);
	findings_add_waits(findings, session, groups, NULL);
	g_array_free(groups, TRUE);
	overview_free(overview);
	waiting_free(waiting);
	if (profiles) {
		roots_search(profiles);
		findings_add_profiles(findings, profiles);
	}
	profiles_free(profiles);
	add_requests(findings, session);
	return findings;
}

bool finding_look_up(const struct session *session, const char *id, struct finding *found)
{
	g_autoptr(GArray) findings = findings_all(session);

	for (guint i = 0; i < findings->len; i++) {
		const struct finding *at = &g_array_index(findings, struct finding, i);

		if (strcmp(at->id, id) != 0)
			continue;
		*found = *at;
		found->title = g_strdup(at->title);
		return true;
	}
	return false;
}

void finding_want(const struct options *options, struct wanted *wanted)
{
	if (options->finding && *options->finding == 'p')
		wanted->operations |= operations_wanted(options);
	if (options->finding && *options->finding == 'c')
		wanted->exchanges = true;
}

bool finding_is_id(const char *text)
{
	return strlen(text) == FINDING_ID - 1 && strchr("swipc", *text) && text[1] == '-' &&
	       strspn(text + 2, letters) == LETTERS;
}
