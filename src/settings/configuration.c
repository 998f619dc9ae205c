/* SPDX-License-Identifier: MIT */
/* See configuration.h. */
#include "settings/configuration.h"

#include <inttypes.h>
#include <string.h>

#include "parts/make_parts.h"
#include "report/report.h"
#include "settings/doings.h"
#include "util/when.h"
#include "waits/state_names.h"
#include "words/times.h"

#define LEAST_OF_PATH 100 /* one part in so many */
#define LEAST_OF_LIFE 10

/* What a thread did because of settings, each put to the account of its setting. */
struct account {
	const struct session *session;
	GArray *list; /* owned; struct configuration */
};

static struct configuration *entry_of(struct account *account, const struct known_setting *known,
				      uint32_t thread)
{
	const char *name = session_thread_name(account->session, thread);
	struct configuration entry = {.known = known, .thread = thread};

	for (guint i = 0; i < account->list->len; i++) {
		struct configuration *at = &g_array_index(account->list, struct configuration, i);

		if (at->known == known &&
		    strcmp(session_thread_name(account->session, at->thread), name) == 0)
			return at;
	}
	g_array_append_val(account->list, entry);
	return &g_array_index(account->list, struct configuration, account->list->len - 1);
}

/* `ns[i]`: what doing i cost; those below 0 do not count. */
static void add_doings(struct account *account, uint32_t thread, const GArray *doings,
		       const int64_t *ns)
{
	const GPtrArray *all = known_settings(account->session);

	for (guint k = 0; k < all->len; k++) {
		struct configuration sum = {.known = g_ptr_array_index(all, k)}, *to;
		int64_t longest = -1;

		for (guint i = 0; i < doings->len; i++) {
			const struct doing *at = &g_array_index(doings, struct doing, i);

			if (at->known != sum.known || ns[i] < 0)
				continue;
			sum.count += at->first;
			sum.ns += ns[i];
			if (ns[i] <= longest)
				continue;
			longest = ns[i];
			sum.begin = at->begin;
			sum.end = at->end;
			sum.call = at->call;
			sum.object = at->object;
		}
		if (!sum.count)
			continue;
		to = entry_of(account, sum.known, thread);
		to->count += sum.count;
		to->ns += sum.ns;
		to->threads++;
		if (to->threads > 1 && sum.ns <= to->most)
			continue;
		to->most = sum.ns;
		to->thread = thread;
		to->begin = sum.begin;
		to->end = sum.end;
		to->call = sum.call;
		to->object = sum.object;
	}
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct configuration *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return strcmp(x->known->name, y->known->name);
}

static char *sentence_of(const struct session *session, const struct configuration *at)
{
	const struct thread *life = model_thread(&session->trace.model, at->thread);
	const char *key = session_text(session, at->object);
	GString *text = g_string_new(session_thread_name(session, at->thread));
	char ns[32];

	if (at->threads > 1)
		g_string_append_printf(text, " (%u threads, %d most)", at->threads, life->tid);
	else
		g_string_append_printf(text, " (%d)", life->tid);
	g_string_append_printf(text, " %s: ", at->known->does);
	if (at->of_requests)
		g_string_append_printf(text, "in %u of %u requests", at->requests, at->of_requests);
	else
		g_string_append_printf(text, "%" PRIu64 " time%s", at->count,
				       at->count == 1 ? "" : "s");
	g_string_append_printf(text, ", %s in all, in %s", when_duration(ns, at->ns),
			       session_text(session, at->call));
	if (*key)
		g_string_append_printf(text, " on %s", resource_name(key));
	g_string_append_printf(text, ". To change it: %s.", at->known->set);
	return g_string_free(text, FALSE);
}

/* Leaves what is too rare or too short, and words the rest. */
static GArray *finish(struct account *account, int64_t least)
{
	const struct session *session = account->session;
	GArray *list = account->list;

	for (guint i = list->len; i-- > 0;) {
		const struct configuration *at = &g_array_index(list, struct configuration, i);

		if (at->count < at->known->least || at->ns < least)
			g_array_remove_index(list, i);
	}
	g_array_sort(list, most_first);
	for (guint i = 0; i < list->len; i++) {
		struct configuration *at = &g_array_index(list, struct configuration, i);

		at->sentence = sentence_of(session, at);
	}
	return list;
}

static struct account begin_account(const struct session *session)
{
	return (struct account) {session, g_array_new(FALSE, FALSE, sizeof(struct configuration))};
}

void configuration_free(GArray *list)
{
	for (guint i = 0; i < list->len; i++)
		g_free(g_array_index(list, struct configuration, i).sentence);
	g_array_free(list, TRUE);
}

/* --- of a path ------------------------------------------------------------------ */

/* A thread on the path, and what each of its doings took there. */
struct on_path {
	GArray *doings; /* owned; struct doing */
	int64_t *ns; /* owned; of each, -1: not on it */
};

static void on_path_free(gpointer data)
{
	struct on_path *at = data;

	g_array_free(at->doings, TRUE);
	g_free(at->ns);
	g_free(at);
}

static struct on_path *on_path_new(GHashTable *threads, uint32_t thread, GArray *doings)
{
	struct on_path *at = g_new(struct on_path, 1);

	at->doings = doings;
	at->ns = g_new(int64_t, doings->len + 1);
	for (guint i = 0; i < doings->len; i++)
		at->ns[i] = -1;
	g_hash_table_insert(threads, GUINT_TO_POINTER(thread), at);
	return at;
}

static struct on_path *on_path_of(GHashTable *threads, const struct session *session,
				  uint32_t thread)
{
	struct on_path *at = g_hash_table_lookup(threads, GUINT_TO_POINTER(thread));

	return at ? at
		  : on_path_new(threads, thread,
				doings_new(session, thread, session->asked.from,
					   session->asked.to));
}

struct lives_doings {
	const GArray *lives; /* struct stretch */
	GArray **doings; /* of each */
};

static void find_doings(const struct session *session, guint part, void *data)
{
	struct lives_doings *of = data;

	of->doings[part] =
		doings_new(session, g_array_index(of->lives, struct stretch, part).thread,
			   session->asked.from, session->asked.to);
}

static void doings_of_all(GHashTable *threads, const struct session *session, const GArray *lives)
{
	struct lives_doings of = {lives, g_new(GArray *, lives->len)};

	parts_make(session, lives->len, find_doings, &of);
	for (guint i = 0; i < lives->len; i++) {
		uint32_t thread = g_array_index(lives, struct stretch, i).thread;

		if (g_hash_table_contains(threads, GUINT_TO_POINTER(thread)))
			g_array_free(of.doings[i], TRUE);
		else
			on_path_new(threads, thread, of.doings[i]);
	}
	g_free(of.doings);
}

/* The path goes through this stretch of the thread. */
static void pass(GHashTable *threads, const struct session *session, uint32_t thread, int64_t begin,
		 int64_t end)
{
	struct on_path *at;
	guint low = 0, high;

	if (!is_thread(thread))
		return;
	at = on_path_of(threads, session, thread);
	high = at->doings->len;
	while (low < high) { /* the first that ends behind `begin` */
		guint middle = (low + high) / 2;

		if (g_array_index(at->doings, struct doing, middle).end <= begin)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < at->doings->len; low++) {
		const struct doing *doing = &g_array_index(at->doings, struct doing, low);

		if (doing->begin >= end)
			break;
		at->ns[low] = MAX(at->ns[low], 0) + MIN(end, doing->end) - MAX(begin, doing->begin);
	}
}

static int by_number(gconstpointer a, gconstpointer b)
{
	return (a > b) - (a < b);
}

GArray *configuration_of_path(const struct session *session, const struct path *path,
			      const GArray *lives)
{
	struct account account = begin_account(session);
	GHashTable *threads = g_hash_table_new_full(NULL, NULL, NULL, on_path_free);
	GList *order;
	int64_t whole = 0;

	for (guint i = 0; path && i < path->pieces->len; i++) {
		const struct piece *piece = &g_array_index(path->pieces, struct piece, i);

		whole += piece->end - piece->begin;
		pass(threads, session, piece->thread, piece->begin, piece->end);
	}
	for (guint i = 0; path && i < path->waits->len; i++) {
		const struct through *wait = &g_array_index(path->waits, struct through, i);

		pass(threads, session, wait->thread, wait->begin, wait->end);
	}
	if (!path)
		doings_of_all(threads, session, lives);
	for (guint i = 0; !path && i < lives->len; i++) {
		const struct stretch *at = &g_array_index(lives, struct stretch, i);

		whole += at->end - at->begin;
		pass(threads, session, at->thread, at->begin, at->end);
	}
	order = g_list_sort(g_hash_table_get_keys(threads), by_number);
	for (GList *at = order; at; at = at->next) {
		struct on_path *thread = g_hash_table_lookup(threads, at->data);

		add_doings(&account, GPOINTER_TO_UINT(at->data), thread->doings, thread->ns);
	}
	g_list_free(order);
	g_hash_table_destroy(threads);
	return finish(&account, whole / LEAST_OF_PATH);
}

/* --- of requests ---------------------------------------------------------------- */

/* Which requests have a known setting's doings: their places, as keys "known place". */
struct met {
	GHashTable *known_requests; /* owned */
	GHashTable *counts; /* owned; known -> requests */
};

static void meet(struct met *met, const struct known_setting *known, guint32 place)
{
	char *key = g_strdup_printf("%s %u", known->name, place);

	if (g_hash_table_add(met->known_requests, key))
		g_hash_table_insert(
			met->counts, (gpointer) known,
			GUINT_TO_POINTER(
				GPOINTER_TO_UINT(g_hash_table_lookup(met->counts, known)) + 1));
}

static void add_of_requests(struct account *account, const struct user_requests *requests,
			    const guint32 *places, uint32_t thread, struct met *met)
{
	const struct session *session = account->session;
	g_autoptr(GArray)
		doings = doings_new(session, thread, session->asked.from, session->asked.to);
	g_autofree int64_t *ns = g_new(int64_t, doings->len + 1);

	for (guint i = 0; i < doings->len; i++) {
		const struct doing *doing = &g_array_index(doings, struct doing, i);
		int64_t until;
		uint32_t request = user_request_of(requests, thread, doing->begin, &until);
		guint32 place = request ? places[request] : 0;

		ns[i] = place ? doing->end - doing->begin : -1;
		if (place)
			meet(met, doing->known, place);
	}
	add_doings(account, thread, doings, ns);
}

GArray *configuration_of_requests(const struct user_requests *requests)
{
	const struct session *session = requests->session;
	struct account account = begin_account(session);
	g_autofree guint32 *places = user_requests_listed_places(requests);
	struct met met = {g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
			  g_hash_table_new(NULL, NULL)};
	uint32_t before = NO_THREAD, passed = 0;
	int64_t whole = 0;

	for (guint i = 0; i < requests->listed->len; i++) {
		uint32_t place = g_array_index(requests->listed, uint32_t, i);
		const struct user_request *at = user_request_at(requests, place);

		whole += at->end - at->begin;
		pages_pass_to(&requests->list, &passed, place);
	}
	for (guint i = 0; i < requests->working.used; i++) { /* by thread */
		uint32_t thread = working_at(requests, i)->thread;

		pages_pass(&requests->working, i);
		if (thread != before)
			add_of_requests(&account, requests, places, thread, &met);
		before = thread;
	}
	for (guint i = 0; i < account.list->len; i++) {
		struct configuration *at = &g_array_index(account.list, struct configuration, i);

		at->requests = GPOINTER_TO_UINT(g_hash_table_lookup(met.counts, at->known));
		at->of_requests = requests->listed->len;
	}
	g_hash_table_destroy(met.known_requests);
	g_hash_table_destroy(met.counts);
	return finish(&account, whole / LEAST_OF_PATH);
}

/* --- of all threads ------------------------------------------------------------- */

/* What is a tenth of a thread's life, so that what was recorded for long does not hide it. */
static void add_of_thread(struct account *account, uint32_t thread)
{
	const struct session *session = account->session;
	const struct thread *life = model_thread(&session->trace.model, thread);
	int64_t from = MAX(life->begin, session->asked.from),
		to = MIN(life->end, session->asked.to), all = 0;
	g_autoptr(GArray) doings = doings_new(session, thread, from, to);
	g_autofree int64_t *ns = g_new(int64_t, doings->len + 1);

	for (guint i = 0; i < doings->len; i++) {
		const struct doing *at = &g_array_index(doings, struct doing, i);

		ns[i] = at->end - at->begin;
		all += ns[i];
	}
	if (doings->len && all >= (to - from) / LEAST_OF_LIFE)
		add_doings(account, thread, doings, ns);
}

GArray *configuration_of_all(const struct session *session)
{
	struct account account = begin_account(session);
	const struct model *model = &session->trace.model;
	g_autofree bool *tracers = session_tracers(session);

	for (uint32_t i = 0; i < model->thread_count; i++)
		if (!tracers[i] && !thread_is_kernel(model, model_thread(model, i)))
			add_of_thread(&account, i);
	return finish(&account, 0);
}

/* --- as it is said -------------------------------------------------------------- */

GETTER(const char *, name, struct configuration, row->known->name);
GETTER(const char *, does, struct configuration, row->known->does);
GETTER(const char *, set, struct configuration, row->known->set);

const struct column configuration_columns[] = {
	{"name", COLUMN_TEXT, .text = name},
	{"thread", COLUMN_OBJECT,
	 .columns = (const struct column[]) {{NULL, COLUMN_TID_NAME,
					      FIELD(struct configuration, thread)},
					     {0}}},
	{"threads", COLUMN_WHOLE, FIELD(struct configuration, threads)},
	{"does", COLUMN_TEXT, .text = does},
	{"set", COLUMN_TEXT, .text = set},
	{"call", COLUMN_NAME, FIELD(struct configuration, call)},
	{"resource", COLUMN_RESOURCE, FIELD(struct configuration, object)},
	{"count", COLUMN_WHOLE, FIELD(struct configuration, count)},
	{"ns", COLUMN_NS, FIELD(struct configuration, ns)},
	{"requests", COLUMN_WHOLE, FIELD(struct configuration, requests), .none = NONE_ZERO,
	 .absent = true},
	{"of_requests", COLUMN_WHOLE, FIELD(struct configuration, of_requests), .none = NONE_ZERO,
	 .absent = true},
	{"begin", COLUMN_TIME, FIELD(struct configuration, begin)},
	{"end", COLUMN_TIME, FIELD(struct configuration, end)},
	{"sentence", COLUMN_TEXT, FIELD(struct configuration, sentence)},
	{0}};

void configuration_text(const GArray *list, guint most, int indent, struct output *output)
{
	for (guint i = 0; i < MIN(list->len, most); i++) {
		g_autofree char *line =
			g_strconcat("[configuration] ",
				    g_array_index(list, struct configuration, i).sentence, NULL);

		text_wrapped(output, line, indent, indent + 2);
	}
}
