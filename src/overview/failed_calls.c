/* SPDX-License-Identifier: MIT */
/* See failed_calls.h. */
#include "overview/failed_calls.h"

#include <inttypes.h>
#include <string.h>

#include "lives/restarts.h"
#include "overview/stands_text.h"
#include "run/choosing.h"
#include "words/names.h"
#include "words/times.h"

#define BROKEN_PIPE (-32) /* EPIPE of the traced kernel */
#define LINE_WORD 4 /* columns that a line has left where the next word is too long: about */

/* --- taken together --------------------------------------------------------------- */

struct gathering {
	const struct session *session;
	const bool *tracers;
	GHashTable *index; /* key -> place in `list` + 1 */
	GHashTable *seen; /* threads and objects that count already */
	GArray *list;
};

static const struct thread *life(const struct session *session, uint32_t thread)
{
	return model_thread(&session->trace.model, thread);
}

/* Whether it is the first of its kind, "thread 12 of 3". */
static bool is_new(struct gathering *all, const char *kind, uint32_t number, guint place)
{
	return g_hash_table_add(all->seen, g_strdup_printf("%s %u of %u", kind, number, place));
}

/* Who reads a pipe may be done; who leaves a connection tells that he will. */
static enum result_trouble trouble_of(const struct session *session, const struct failure *failure)
{
	if (failure->result == BROKEN_PIPE &&
	    g_str_has_prefix(session_text(session, failure->object), "socket:"))
		return TROUBLE_PEER;
	return result_trouble(session_text(session, failure->call), failure->result);
}

static struct failed_calls *group_of(struct gathering *all, const struct failure *failure,
				     guint *place)
{
	const struct session *session = all->session;
	g_autofree char *key =
		g_strdup_printf("%u %u %d %s", life(session, failure->thread)->host, failure->call,
				failure->result, session_thread_name(session, failure->thread));
	guint at = GPOINTER_TO_UINT(g_hash_table_lookup(all->index, key));
	bool is_call = g_str_has_prefix(session_text(session, failure->object), "call:");
	struct failed_calls group = {
		.thread = failure->thread,
		.call = failure->call,
		.object = is_call ? 0 : failure->object,
		.peer = NO_THREAD,
		.result = failure->result,
		.trouble = trouble_of(session, failure),
		.tracer = all->tracers[failure->thread],
		.first = failure->time,
	};

	if (!at) {
		g_array_append_val(all->list, group);
		at = all->list->len;
		g_hash_table_insert(all->index, g_steal_pointer(&key), GUINT_TO_POINTER(at));
	}
	*place = at - 1;
	return &g_array_index(all->list, struct failed_calls, at - 1);
}

static void gather(struct gathering *all, const struct failure *failure)
{
	guint place;
	struct failed_calls *group = group_of(all, failure, &place);

	group->count++;
	group->unasked += failure->unasked;
	group->elsewhere += failure->elsewhere;
	group->last = failure->time;
	group->threads += is_new(all, "thread", failure->thread, place);
	group->objects += is_new(all, "object", failure->object, place);
	if (!is_thread(group->peer))
		group->peer = failure->peer;
}

static int worse_first(const void *one, const void *other)
{
	const struct failed_calls *a = one, *b = other;

	if (a->tracer != b->tracer)
		return a->tracer ? 1 : -1;
	if (a->trouble != b->trouble)
		return a->trouble > b->trouble ? -1 : 1;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return a->first < b->first ? -1 : a->first > b->first;
}

/* --- in words --------------------------------------------------------------------- */

/* "; backend (268), which had the other end, was killed by signal 9 (SIGKILL) from …" */
static void append_peer(GString *text, const struct session *session,
			const struct failed_calls *group)
{
	const struct thread *peer;

	if (!is_thread(group->peer) || group->objects > 1)
		return;
	peer = life(session, group->peer);
	g_string_append(text, "; ");
	append_one(text, session, group->peer);
	if (peer->end > group->last) {
		g_string_append(text, " had the other end");
		return;
	}
	g_string_append(text, ", which had the other end, ");
	append_death(text, session, group->peer);
}

/* Whoever leaves, or closes without a word, once he has his answer. */
static bool is_unasked(const struct failed_calls *group)
{
	return group->trouble == TROUBLE_PEER && group->unasked == group->count;
}

static char *sentence_of(const struct session *session, const struct failed_calls *group)
{
	const char *call = session_text(session, group->call), *name = result_name(group->result);
	const char *limit = result_limit(call, group->result);
	bool utc = session->asked.options->utc;
	GString *text = g_string_new(NULL);
	char time[48];

	append_one(text, session, group->thread);
	if (group->threads > 1)
		g_string_append_printf(text, " and %u more of its name", group->threads - 1);
	g_string_append_printf(text, ": %s", call);
	append_on(text, session, group->object);
	if (group->objects > 1)
		g_string_append_printf(text, " and %u more", group->objects - 1);
	g_string_append(text, " failed");
	if (group->count > 1)
		g_string_append_printf(text, " %" PRIu64 " times", group->count);
	g_string_append_printf(text, " with %s", name);
	if (limit)
		g_string_append_printf(text, " (%s)", limit);
	g_string_append_printf(text, group->count > 1 ? ", from %s" : " at %s",
			       when_time(time, group->first, utc, false));
	if (group->count > 1)
		g_string_append_printf(text, " to %s", when_time(time, group->last, utc, false));
	append_peer(text, session, group);
	if (is_unasked(group))
		g_string_append(text, "; no answer was due");
	if (group->elsewhere == group->count)
		g_string_append_printf(text, "; %s it was connected to another address at once",
				       group->count > 1 ? "each time" : "then");
	else if (group->elsewhere)
		g_string_append_printf(text,
				       "; %" PRIu64 " times it was connected to another address at "
				       "once",
				       group->elsewhere);
	return g_string_free(text, FALSE);
}

GArray *failed_calls_new(const struct session *session)
{
	g_autofree bool *tracers = session_tracers(session);
	g_autoptr(GHashTable) index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct gathering all = {session, tracers, index, seen,
				g_array_new(FALSE, FALSE, sizeof(struct failed_calls))};

	for (guint i = 0; i < session->trace.model.hosts->len; i++) {
		const struct host *host = model_host(&session->trace.model, i);

		if (!session_wants_host(session, host))
			continue;
		for (guint k = 0; k < host->failures->len; k++) {
			const struct failure *failure =
				&g_array_index(host->failures, struct failure, k);

			if (failure->time >= session->asked.from &&
			    failure->time <= session->asked.to)
				gather(&all, failure);
		}
	}
	g_array_sort(all.list, worse_first);
	for (guint i = 0; i < all.list->len; i++) {
		struct failed_calls *group = &g_array_index(all.list, struct failed_calls, i);

		group->sentence = sentence_of(session, group);
	}
	return all.list;
}

uint64_t failed_calls_not_kept(const struct session *session)
{
	uint64_t count = 0;

	for (guint i = 0; i < session->trace.model.hosts->len; i++)
		count += model_host(&session->trace.model, i)->failures_more;
	return count;
}

void failed_calls_free(GArray *list)
{
	for (guint i = 0; i < list->len; i++)
		g_free(g_array_index(list, struct failed_calls, i).sentence);
	g_array_free(list, TRUE);
}

void failed_calls_text(const struct session *session, const GArray *list, guint most,
		       struct output *output)
{
	uint64_t more = failed_calls_not_kept(session);

	for (guint i = 0; i < MIN(list->len, most); i++)
		text_wrapped(output, g_array_index(list, struct failed_calls, i).sentence, 2, 4);
	if (more)
		fprintf(output->file, "  %" PRIu64 " calls more failed so, and were not kept\n",
			more);
}

/* An item, or what nothing explains, names the error. */
static bool is_told(const struct failed_calls *group, const struct stands *stands)
{
	const char *name = result_name(group->result);

	for (guint i = 0; i < stands->items->len; i++)
		if (strstr(g_array_index(stands->items, struct stand, i).sentence, name))
			return true;
	return stands->longest.sentence && strstr(stands->longest.sentence, name);
}

int failed_calls_line(const GArray *list, const struct stands *stands, int room,
		      struct output *output)
{
	int width = MAX(output->width - HANGING - LINE_WORD, 1);

	for (guint i = 0; i < list->len; i++) {
		const struct failed_calls *group = &g_array_index(list, struct failed_calls, i);
		g_autofree char *line = g_strconcat("[failed] ", group->sentence, NULL);

		if (group->tracer || group->trouble < TROUBLE_PEER)
			break;
		if (2 * group->elsewhere > group->count || is_unasked(group) ||
		    is_told(group, stands) || (int) g_utf8_strlen(line, -1) / width + 1 > room)
			continue;
		return text_wrapped_beside(output, line, 0, HANGING, NULL);
	}
	return 0;
}

/* --- as JSON ---------------------------------------------------------------------- */

GETTER(const char *, error_name, struct failed_calls, result_name(row->result));
GETTER(int64_t, host_of, struct failed_calls, life(report->session, row->thread)->host);
GETTER(const void *, if_peer, struct failed_calls, is_thread(row->peer) ? row : NULL);

static const struct column failing_thread[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct failed_calls, thread)}, {0}};
static const struct column failing_peer[] = {
	{NULL, COLUMN_TID_NAME, FIELD(struct failed_calls, peer)}, {0}};

const struct column failed_calls_columns[] = {
	{"host", COLUMN_WHOLE, .number = host_of},
	{"thread", COLUMN_OBJECT, .columns = failing_thread},
	{"threads", COLUMN_WHOLE, FIELD(struct failed_calls, threads)},
	{"call", COLUMN_NAME, FIELD(struct failed_calls, call)},
	{"resource", COLUMN_RESOURCE, FIELD(struct failed_calls, object), .none = NONE_ZERO,
	 .absent = true},
	{"resources", COLUMN_WHOLE, FIELD(struct failed_calls, objects)},
	{"error", COLUMN_TEXT, .text = error_name},
	{"result", COLUMN_WHOLE, FIELD(struct failed_calls, result)},
	{"count", COLUMN_WHOLE, FIELD(struct failed_calls, count)},
	{"unasked", COLUMN_WHOLE, FIELD(struct failed_calls, unasked)},
	{"elsewhere", COLUMN_WHOLE, FIELD(struct failed_calls, elsewhere)},
	{"begin", COLUMN_TIME, FIELD(struct failed_calls, first)},
	{"end", COLUMN_TIME, FIELD(struct failed_calls, last)},
	{"peer", COLUMN_OBJECT, .at = if_peer, .columns = failing_peer},
	{"sentence", COLUMN_TEXT, FIELD(struct failed_calls, sentence)},
	{0}};
