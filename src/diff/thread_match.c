/* SPDX-License-Identifier: MIT */
/* See thread_match.h. */
#include "diff/thread_match.h"

#include <string.h>

#include "diff/kin.h"
#include "timeline/exchange.h"
#include "util/idmap.h"

/* --- what is known ------------------------------------------------------------------------ */

static void add_contact(struct kin *kin, uint32_t hash)
{
	guint place = 0;

	if (!kin->contacts)
		kin->contacts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	while (place < kin->contacts->len && g_array_index(kin->contacts, uint32_t, place) < hash)
		place++;
	if (place == kin->contacts->len || g_array_index(kin->contacts, uint32_t, place) != hash)
		g_array_insert_val(kin->contacts, place, hash);
}

static void find_contacts(const struct session *session, struct kin *all)
{
	const struct pages *store = &session->trace.timeline.exchanges;
	struct idmap known; /* set: thread << 32 | key */

	idmap_init(&known);
	for (uint32_t i = 1; i < store->used; i++) {
		const struct exchange *exchange = pages_at(store, i);
		uint32_t key = exchange->end;

		pages_pass(store, i);
		if (!is_thread(exchange->thread))
			continue;
		if (exchange->kind != EXCHANGE_FILE && exchange->kind != EXCHANGE_DISK) {
			const struct channel_end *end =
				pages_at(&session->trace.timeline.ends, exchange->end);

			key = end->remote ? end->remote : end->unnamed ? 0 : end->key;
		}
		if (key && idmap_add(&known, (uint64_t) exchange->thread << 32 | key)) {
			g_autofree char *lasting = kin_lasting(session_text(session, key));

			add_contact(&all[exchange->thread], g_str_hash(lasting));
		}
	}
	idmap_clear(&known);
}

/* One host is the other run's one; of several the one of that name. */
static uint32_t host_number(const struct session *session, const struct session *first, guint host)
{
	const GPtrArray *hosts = first->trace.model.hosts;

	if (session == first || (session->trace.model.hosts->len == 1 && hosts->len == 1))
		return host;
	for (guint i = 0; i < hosts->len; i++)
		if (g_strcmp0(model_host(&first->trace.model, i)->hostname,
			      model_host(&session->trace.model, host)->hostname) == 0)
			return i;
	return hosts->len + host;
}

static struct kin *kin_new(const struct session *session, const struct session *first)
{
	const struct model *model = &session->trace.model;
	struct kin *all = g_new0(struct kin, model->thread_count + 1);

	for (uint32_t i = 0; i < model->thread_count; i++) {
		const struct thread *thread = model_thread(model, i);
		const char *program = session_text(session, thread->program);
		const char *base = strrchr(program, '/');

		all[i] = (struct kin) {.host = host_number(session, first, thread->host),
				       .name = session_text(session, thread->name),
				       .program = base ? base + 1 : program,
				       .kernel = thread_is_kernel(model, thread),
				       .leads = thread->pid < 0 || thread->pid == thread->tid,
				       .parent = is_thread(thread->parent) && thread->parent != i
							 ? thread->parent
							 : NO_THREAD,
				       .begin = thread->begin,
				       .tid = thread->tid};
	}
	find_contacts(session, all);
	return all;
}

static void kin_free(struct kin *all, guint count)
{
	for (guint i = 0; i < count; i++)
		if (all[i].contacts)
			g_array_free(all[i].contacts, TRUE);
	g_free(all);
}

/* --- families --------------------------------------------------------------------------------- */

uint32_t thread_match_partner(const struct thread_match *match, int side, uint32_t thread)
{
	return is_thread(thread) ? match->partner[side][thread] : NO_THREAD;
}

/* Both as places: [side] `thread`, and its partner. */
static void pair_of(const struct thread_match *match, int side, uint32_t thread, uint32_t pair[2])
{
	pair[side] = thread;
	pair[!side] = thread_match_partner(match, side, thread);
}

/* Without its numbers: A's name, which may be another in B's window. */
static const char *pair_name(const struct thread_match *match, const uint32_t pair[2], int *of)
{
	*of = is_thread(pair[0]) ? 0 : 1;
	return session_thread_name(match->session[*of], pair[*of]);
}

/* Of the same name and of one parent; NULL: the parent was not seen. */
static char *family_of(const struct thread_match *match, int side, uint32_t thread)
{
	uint32_t parent = model_thread(&match->session[side]->trace.model, thread)->parent, pair[2];
	const char *name;
	int of;

	if (!is_thread(parent))
		return NULL;
	pair_of(match, side, thread, pair);
	name = pair_name(match, pair, &of);
	pair_of(match, side, parent, pair);
	return g_strdup_printf("%s%u %s", is_thread(pair[0]) ? "" : "B",
			       is_thread(pair[0]) ? pair[0] : pair[1], name);
}

struct siblings {
	guint count[2];
};

static void count_siblings(struct thread_match *match)
{
	match->siblings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	for (int side = 0; side < 2; side++)
		for (uint32_t i = 0; i < match->session[side]->trace.model.thread_count; i++) {
			char *family = family_of(match, side, i);
			struct siblings *siblings =
				family ? g_hash_table_lookup(match->siblings, family) : NULL;

			if (family && !siblings) {
				siblings = g_new0(struct siblings, 1);
				g_hash_table_insert(match->siblings, g_strdup(family), siblings);
			}
			if (siblings)
				siblings->count[side]++;
			g_free(family);
		}
}

char *thread_match_family(const struct thread_match *match, int side, uint32_t thread)
{
	char *family = match->siblings && is_thread(thread) ? family_of(match, side, thread) : NULL;
	const struct siblings *siblings =
		family ? g_hash_table_lookup(match->siblings, family) : NULL;

	if (siblings && MAX(siblings->count[0], siblings->count[1]) > SIBLINGS_MAX)
		return family;
	g_free(family);
	return NULL;
}

/* --- names ---------------------------------------------------------------------------------- */

/* " (249 in A, 254 in B)" of the two numbers, each 0 if it is not there. */
static void append_numbers(GString *text, const int32_t numbers[2])
{
	if (numbers[0] && numbers[0] == numbers[1])
		g_string_append_printf(text, " (%d)", numbers[0]);
	else if (numbers[0] && numbers[1])
		g_string_append_printf(text, " (%d in A, %d in B)", numbers[0], numbers[1]);
	else if (numbers[0] || numbers[1])
		g_string_append_printf(text, " (%d in %c)", numbers[0] ? numbers[0] : numbers[1],
				       numbers[0] ? 'A' : 'B');
}

char *thread_match_label(const struct thread_match *match, int side, uint32_t thread)
{
	GString *text = g_string_new(NULL);
	int32_t numbers[2] = {0, 0};
	uint32_t pair[2];
	int of;

	if (!is_thread(thread))
		return g_string_free(
			g_string_append(text, session_thread_name(match->session[side], thread)),
			FALSE);
	pair_of(match, side, thread, pair);
	g_string_append(text, pair_name(match, pair, &of));
	for (int i = 0; i < 2; i++)
		if (is_thread(pair[i]))
			numbers[i] = model_thread(&match->session[i]->trace.model, pair[i])->tid;
	append_numbers(text, numbers);
	g_string_append(text, session_on(match->session[of], pair[of]));
	return g_string_free(text, FALSE);
}

char *thread_match_family_label(const struct thread_match *match, int side, uint32_t thread)
{
	uint32_t parent = model_thread(&match->session[side]->trace.model, thread)->parent, pair[2];
	g_autofree char *above = thread_match_label(match, side, parent);
	int of;

	pair_of(match, side, thread, pair);
	return g_strdup_printf("%s (all that %s created)", pair_name(match, pair, &of), above);
}

/* The PID of the thread's process if that has to be said, 0: it has not. */
static int32_t process_number(const struct session *session, uint32_t thread)
{
	int32_t pid = is_thread(thread) ? model_thread(&session->trace.model,
						       session->trace.processes.first[thread])
						  ->pid
					: 0;

	return MAX(pid, 0);
}

static char *process_label(const struct thread_match *match, int side, uint32_t thread)
{
	const struct session *session = match->session[side];
	uint32_t process = session->trace.processes.first[thread], pair[2], processes[2];
	GString *text = g_string_new(NULL);
	int32_t numbers[2];
	guint most = 0;
	int of;

	pair_of(match, side, thread, pair);
	pair_of(match, side, process, processes);
	g_string_append(text, pair_name(match, pair, &of));
	for (int i = 0; i < 2; i++) {
		numbers[i] = process_number(match->session[i], processes[i]);
		if (is_thread(pair[i]))
			most = MAX(most, thread_names_sharing(match->names[i], pair[i]));
	}
	if (most > 1 && most <= NAMESAKES_MAX)
		append_numbers(text, numbers);
	g_string_append(text, session_on(match->session[of], pair[of]));
	return g_string_free(text, FALSE);
}

static GPtrArray *process_labels(const struct thread_match *match, int side)
{
	GPtrArray *labels = g_ptr_array_new_with_free_func(g_free);

	for (uint32_t i = 0; i < match->session[side]->trace.model.thread_count; i++)
		g_ptr_array_add(labels, process_label(match, side, i));
	return labels;
}

void thread_match_name(const struct thread_match *match, int side, struct thread_names *names)
{
	for (guint i = 0; match->called[side] && i < match->called[side]->len; i++)
		thread_names_set(names, i, g_strdup(g_ptr_array_index(match->called[side], i)));
}

/* --- pairs ---------------------------------------------------------------------------------- */

struct thread_match *thread_match_new(const struct session *a, const struct session *b,
				      const uint32_t pinned[2])
{
	struct thread_match *match = g_new0(struct thread_match, 1);
	const struct session *of[2] = {a, b};
	struct kin *kin[2] = {NULL, NULL};
	struct kindred kindred;

	for (int side = 0; side < 2; side++) {
		guint count = of[side]->trace.model.thread_count;

		match->session[side] = of[side];
		match->names[side] = thread_names_new(of[side]);
		match->partner[side] = g_new(uint32_t, count + 1);
		kindred.partner[side] = match->partner[side];
		kindred.count[side] = count;
		for (guint i = 0; i < count; i++)
			match->partner[side][i] = a == b ? i : NO_THREAD;
	}
	if (a == b)
		return match;
	for (int side = 0; side < 2; side++) {
		kindred.of[side] = kin[side] = kin_new(of[side], a);
		if (is_thread(pinned[0]) && is_thread(pinned[1]))
			match->partner[side][pinned[side]] = pinned[!side];
	}
	kin_match(&kindred);
	for (int side = 0; side < 2; side++)
		kin_free(kin[side], kindred.count[side]);
	count_siblings(match);
	for (int side = 0; side < 2; side++)
		match->called[side] = process_labels(match, side);
	return match;
}

void thread_match_free(struct thread_match *match)
{
	if (!match)
		return;
	if (match->siblings)
		g_hash_table_destroy(match->siblings);
	for (int side = 0; side < 2; side++) {
		g_free(match->partner[side]);
		thread_names_free(match->names[side]);
		if (match->called[side])
			g_ptr_array_unref(match->called[side]);
	}
	g_free(match);
}
