/* SPDX-License-Identifier: MIT */
/* See clauses.h. */
#include "stands/clauses.h"

#include <inttypes.h>
#include <string.h>

#include "util/when.h"
#include "waits/causes.h"
#include "words/names.h"

#define FEW_OF 20 /* waits, at least, */
#define FEW_SHARE 0.6 /* … of which few are so much of what was lost: the long ones are the news */
#define PARTS_READ 50000
#define MOST_OF 0.9 /* of the waits in full; of what the sentence speaks of */
#define DEEDS_TOLD 2

/* Its name is its program's: the digits at its end are not its own ("python3"). If what it executes
 * is not known, they are taken for that; not of several that are told apart by them. */
static bool names_program(const struct session *session, uint32_t thread)
{
	const char *program =
		session_text(session, model_thread(&session->trace.model, thread)->program);
	const char *base = strrchr(program, '/');

	return !*program ||
	       g_str_has_prefix(base ? base + 1 : program, session_thread_name(session, thread));
}

void append_victim(GString *text, const struct session *session, const struct fact *fact)
{
	const char *name = session_thread_name(session, fact->victim);
	guint length = !fact->numbered && names_program(session, fact->victim)
			       ? (guint) strlen(name)
			       : stem_length(session, name);

	if (fact->threads < 2)
		append_one(text, session, fact->victim);
	else
		g_string_append_printf(text, "%.*s%s (%u %s)%s", (int) length, name,
				       name[length] ? "N" : "", fact->threads,
				       fact->leaders < fact->threads ? "threads" : "processes",
				       session_on(session, fact->victim));
}

const char *fact_was(const struct fact *fact)
{
	return fact->threads > 1 ? "were" : "was";
}

/* The waits were longer than the time: the rest of them went to something else. */
static bool of_parts(const struct fact *fact)
{
	return fact->longest + (int64_t) (fact->count - 1) * fact->shortest > fact->ns;
}

/* … and that was little. */
static bool is_most_of(const struct fact *fact)
{
	return fact->waits && (double) fact->ns >= MOST_OF * (double) fact->waits;
}

#define AT_ONCE_SHARE 0.8

/* Of several waits of who lost most, one is nearly all of it. */
static bool is_at_once(const struct fact *fact)
{
	int64_t longest = fact->end - fact->begin;

	return fact->count > fact->threads && longest <= fact->most &&
	       (double) longest >= AT_ONCE_SHARE * (double) fact->most;
}

static int longest_first(gconstpointer a, gconstpointer b)
{
	const int64_t *x = a, *y = b;

	return *x > *y ? -1 : *x < *y;
}

/* What each of the victim's waits lost: int64_t, longest first. */
static GArray *lost_in_waits(const struct session *session, const struct fact *fact)
{
	GArray *waits = g_array_new(FALSE, FALSE, sizeof(int64_t));
	int64_t until = INT64_MIN;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		int64_t end = wait_until(session, part->victim, part->begin), none = 0;

		if (end != until)
			g_array_append_val(waits, none);
		until = end;
		g_array_index(waits, int64_t, waits->len - 1) += part->end - part->begin;
	}
	g_array_sort(waits, longest_first);
	return waits;
}

/* ", 4 of them 71 % of it": a tenth at most of many waits that are most of what was lost. */
static void append_few(GString *text, const struct session *session, const struct fact *fact)
{
	g_autoptr(GArray) waits = NULL;
	int64_t sum = 0;
	guint few = 0;

	if (fact->count < FEW_OF || fact->parts->len > PARTS_READ)
		return;
	waits = lost_in_waits(session, fact);
	while (few < waits->len && (double) sum < FEW_SHARE * (double) fact->ns)
		sum += g_array_index(waits, int64_t, few++);
	if ((double) sum < FEW_SHARE * (double) fact->ns || (uint64_t) few * 10 > fact->count)
		return;
	if (few == 1)
		g_string_append(text, ", one");
	else
		g_string_append_printf(text, ", %u", few);
	g_string_append_printf(text, " of them %.0f %% of it",
			       100.0 * (double) sum / (double) fact->ns);
}

void append_amount(GString *text, const struct session *session, const struct fact *fact)
{
	char length[32], most[32];
	double share = 100.0 * (double) fact->most / (double) MAX(fact->life, 1);

	g_string_append(text, when_duration(length, fact->ns));
	if (fact->threads > 1) {
		g_string_append(text, " in all (");
		append_one(text, session, fact->victim);
		g_string_append_printf(text, " most: %s, %.0f %% of its life",
				       when_duration(most, fact->most), share);
		if (is_at_once(fact))
			g_string_append_printf(text, ", %s of it in one wait",
					       when_duration(most, fact->end - fact->begin));
		g_string_append_c(text, ')');
		return;
	}
	g_string_append_printf(text, " (%.0f %% of its life", share);
	if (fact->count > 1) {
		bool parts = of_parts(fact);

		if (parts)
			g_string_append_printf(text, "; %s of %" PRIu64 " waits of ",
					       is_most_of(fact) ? "most" : "part", fact->count);
		else
			g_string_append_printf(text, "; %" PRIu64 " times, ", fact->count);
		append_range(text, fact->shortest, fact->longest);
		g_string_append(text, parts ? "" : " each");
		append_few(text, session, fact);
	}
	g_string_append_c(text, ')');
}

const struct chain *main_chain(const struct fact *fact)
{
	return fact->chains->len ? &g_array_index(fact->chains, struct chain, 0) : NULL;
}

/* ", 72 % of it", where who is told next was waited for so long of it alone. */
static void append_share(GString *text, const struct session *session, const struct fact *fact)
{
	uint32_t told = chain_waits_for(session, main_chain(fact));
	int64_t like = 0, all = 0;

	if (fact->threads > 1 || !is_thread(told))
		return;
	for (guint i = 0; i < fact->chains->len; i++) {
		const struct chain *chain = &g_array_index(fact->chains, struct chain, i);
		uint32_t thread = chain_waits_for(session, chain);

		all += chain->ns;
		if (is_thread(thread) &&
		    strcmp(session_own_name(session, thread), session_own_name(session, told)) == 0)
			like += chain->ns;
	}
	if ((double) like < MOST_OF * (double) all)
		g_string_append_printf(text, ", %.0f %% of it",
				       100.0 * (double) like / (double) all);
}

/* struct naming's. */
static void append_named(GString *text, const void *of, uint32_t thread, uint32_t waiter)
{
	(void) waiter;
	append_one(text, of, thread);
}

void append_waits(GString *text, const struct session *session, const struct fact *fact,
		  guint count, uint32_t last)
{
	g_autoptr(GString) amount = g_string_new(" ");
	struct naming naming = {append_named, session};

	append_victim(text, session, fact);
	append_amount(amount, session, fact);
	if (!count) {
		g_string_append_printf(text, " waited%s", amount->str);
		return;
	}
	append_share(amount, session, fact);
	append_chain(text, session, &naming,
		     &g_array_index(main_chain(fact)->links, struct link, 0), count, last,
		     amount->str);
}

void append_control(GString *text, const struct session *session, const struct fact *fact)
{
	const char *object = session_text(session, fact->object);
	const char *file = strrchr(session_text(session, fact->control), '/');

	/* "/dev/sda" says no more than "disk sda" */
	if (file && !(g_str_has_prefix(object, "device:") &&
		      strcmp(file + 1, object + strlen("device:")) == 0))
		append_on(text, session, fact->control);
}

void append_waits_to_root(GString *text, const struct session *session, const struct fact *fact,
			  bool links_end)
{
	const struct chain *chain = main_chain(fact);
	guint count = chain ? chain->links->len : 0;
	uint32_t leaf = chain ? chain->leaf : 0;
	bool ending = chain && chain->ending;

	if (count && links_end) {
		const struct link *link = &g_array_index(chain->links, struct link, --count);

		leaf = link->leaf;
		ending = link->ending;
		append_waits(text, session, fact, count, link->thread);
	} else {
		append_waits(text, session, fact, count, chain ? chain->last : NO_THREAD);
	}
	g_string_append(text, count ? ", which waited " : " ");
	if (chain)
		append_in(text, session, leaf, ending);
	if (!count && chain) {
		g_string_truncate(text, text->len - 1);
		append_control(text, session, fact);
		g_string_append_c(text, ' ');
	}
	g_string_append(text, "for ");
}

/* What is worth a word of what was done meanwhile. */
static bool tells(const struct fact *fact, const struct deed *deed)
{
	return deed->did != DID_RUN && deed->did != DID_LIMIT && deed->thread != fact->victim &&
	       (deed->did != DID_OTHER || deed->call);
}

/* Works by their call, interrupts by what they are. */
static bool is_same(const struct lost_part *part, const struct deed *deed, bool works)
{
	return part->did == deed->did && part->name == deed->name &&
	       (works ? part->call == deed->call : part->object == deed->object);
}

uint32_t deed_was_on(const struct fact *fact, const struct deed *deed, bool works)
{
	g_autoptr(GHashTable) sums = g_hash_table_new(NULL, NULL);
	int64_t all = 0, most = 0;
	uint32_t on = 0;

	for (guint i = 0; i < fact->parts->len; i++) {
		const struct lost_part *part = &g_array_index(fact->parts, struct lost_part, i);
		gpointer key = GUINT_TO_POINTER(part->on);
		int64_t ns = part->end - part->begin;

		if (!is_same(part, deed, works))
			continue;
		all += ns;
		if (!part->on)
			continue;
		ns += (int64_t) GPOINTER_TO_SIZE(g_hash_table_lookup(sums, key));
		g_hash_table_insert(sums, key, GSIZE_TO_POINTER(ns));
		if (ns > most) {
			most = ns;
			on = part->on;
		}
	}
	return 2 * most > all ? on : 0;
}

/* ", 1.203 s of it in clone": most of what was worked in several calls, and between. */
static void append_main_call(GString *text, const struct session *session, const struct fact *fact,
			     const struct deed *deed)
{
	char length[32];
	struct times times;

	if (deed->did != DID_WORK || deed->call || 10 * deed->times.ns < fact->ns)
		return;
	for (guint i = 0; i < fact->works->len; i++) {
		const struct deed *work = &g_array_index(fact->works, struct deed, i);

		if (work->name != deed->name)
			continue;
		if (work->call && 2 * work->times.ns >= deed->times.ns) {
			times = fact_times(fact, work, true);
			g_string_append_printf(text, ", %s of it in %s",
					       when_duration(length, times.ns),
					       session_text(session, work->call));
			append_on(text, session, deed_was_on(fact, work, true));
		}
		return; /* most first */
	}
}

void append_deeds(GString *text, const struct session *session, const struct fact *fact,
		  const char *before, uint32_t it)
{
	const struct deed *last = NULL;
	guint told = 0;

	for (guint i = 0; i < fact->deeds->len && told < DEEDS_TOLD + fact->children; i++) {
		const struct deed *deed = &g_array_index(fact->deeds, struct deed, i);
		bool same = last && last->name == deed->name;
		struct deed once = *deed;

		if (!tells(fact, deed))
			continue;
		if ((told || *before == ';') && deed->times.ns * 10 < fact->ns)
			break; /* the first too, where nothing has to be said */
		g_string_append(text, !told ? before : same ? " and " : "; ");
		if (!same && deed->thread == it && !deed->several)
			g_string_append_printf(text, "%s ", session_thread_name(session, it));
		else if (!same) {
			append_doer(text, session, deed);
			g_string_append_c(text, ' ');
		}
		once.times = fact_times(fact, deed, false);
		append_deed(text, session, &once, true, same && last->did == deed->did);
		append_main_call(text, session, fact, deed);
		last = deed;
		told++;
	}
}

/* What is said of tries is said of all pauses between them. */
static bool is_of_all(const struct session *session, const struct fact *fact)
{
	return fact->reasons == 1 && reason_is_try(block_reason(session, fact->told.block));
}

void append_told(GString *text, const struct session *session, const struct fact *fact,
		 const char *before)
{
	struct cause cause;

	if (!fact->told.block)
		return;
	cause = wait_cause(session, &fact->told);
	if (cause.label)
		g_string_append_printf(text, "%s%s", before, cause.label);
	if (cause.label && fact->kind == STAND_FAILURE && fact->reasons > 1)
		g_string_append_printf(text, " (the longest of %u times)", fact->reasons);
	else if (cause.label && fact->count > 1 && !is_of_all(session, fact))
		append_longest(text, fact->told_ns * 2 < fact->longest);
	cause_clear(&cause);
}

const struct reason *told_reason(const struct session *session, const struct fact *fact)
{
	return fact->told.block ? block_reason(session, fact->told.block) : NULL;
}

bool has_chain(const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);

	return chain && chain->links->len;
}

void append_while(GString *text, const struct session *session, const struct fact *fact)
{
	const struct chain *chain = main_chain(fact);
	struct naming naming = {append_named, session};

	g_string_append(text, ", while ");
	append_victim(text, session, fact);
	append_chain(text, session, &naming, &g_array_index(chain->links, struct link, 0),
		     chain->links->len, chain->last, "");
}
