/* SPDX-License-Identifier: MIT */
/* Two windows, two paths, and their parts; see target.h. */
#include "diff/target.h"

#include <stdlib.h>
#include <string.h>

#include "diff/kin.h"
#include "diff/target_words.h"
#include "run/option_values.h"
#include "waits/state_names.h"

#define LEAST_CHANGE 0.1 /* of the longer life */

static const struct thread *life_of(const struct thread_match *match, int side, uint32_t thread)
{
	return model_thread(&match->session[side]->trace.model, thread);
}

bool target_threads(const struct session *a, const struct session *b, uint32_t threads[2])
{
	const struct session *of[2] = {a, b};

	for (int side = 0; side < 2; side++) {
		threads[side] = of[side]->asked.target;
		if (threads[side] == NO_THREAD && of[side]->asked.selected->len == 1)
			threads[side] = g_array_index(of[side]->asked.selected, uint32_t, 0);
	}
	return is_thread(threads[0]) && is_thread(threads[1]);
}

/* All of its life was seen: -1 if not. */
static int64_t whole_life(const struct thread_match *match, int side, uint32_t thread)
{
	const struct session *session = match->session[side];
	const struct thread *life = model_thread(&session->trace.model, thread);

	return life->born && !life->kernel && life->state == THREAD_DEAD &&
			       life->end <= session->asked.to && life->begin >= session->asked.from
		       ? life->end - life->begin
		       : -1;
}

bool target_changed_most(const struct thread_match *match, uint32_t threads[2])
{
	g_autofree bool *tracers = session_tracers(match->session[0]);
	guint count = match->session[0]->trace.model.threads.used;
	int64_t most = 0;

	for (uint32_t a = 0; a < count; a++) {
		uint32_t b = thread_match_partner(match, 0, a);
		int64_t ns[2], change;

		if (tracers[a] || !is_thread(b))
			continue;
		ns[0] = whole_life(match, 0, a);
		ns[1] = whole_life(match, 1, b);
		change = llabs(ns[1] - ns[0]);
		if (ns[0] < 0 || ns[1] < 0 || change <= most ||
		    (double) change < LEAST_CHANGE * (double) MAX(ns[0], ns[1]))
			continue;
		most = change;
		threads[0] = a;
		threads[1] = b;
	}
	return most > 0;
}

/* --- windows -------------------------------------------------------------------------------- */

/* The oldest ancestor of A's that was created in both traces, and its like on B's lineage. */
static bool common_ancestor(const struct thread_match *match, const uint32_t threads[2],
			    uint32_t found[2])
{
	uint32_t a = threads[0];
	bool any = false;

	while (is_thread(a) && life_of(match, 0, a)->born) {
		for (uint32_t b = threads[1]; is_thread(b) && life_of(match, 1, b)->born;
		     b = life_of(match, 1, b)->parent)
			if (thread_match_partner(match, 0, a) == b) {
				found[0] = a;
				found[1] = b;
				any = true;
			}
		a = life_of(match, 0, a)->parent;
	}
	return any;
}

/* An event's window begins where it is asked to, a thread's with its birth if that is in it. */
static void find_begin(struct target *target, const struct thread_match *match, bool event)
{
	uint32_t root[2] = {target->thread[0], target->thread[1]};
	bool born = event ? common_ancestor(match, target->thread, root)
			  : life_of(match, 0, root[0])->born && life_of(match, 1, root[1])->born;
	bool asked = match->session[0]->asked.options->from.kind != WHEN_NONE, by_birth[2];
	g_autofree char *label = thread_match_label(match, 0, root[0]);

	for (int side = 0; side < 2; side++) {
		int64_t from = match->session[side]->asked.from;
		int64_t birth = life_of(match, side, root[side])->begin;

		by_birth[side] = born && (!asked || (!event && birth >= from));
		target->from[side] = by_birth[side] ? birth : from;
		if (!event)
			target->from[side] = MAX(target->from[side], birth);
	}
	if (by_birth[0] && by_birth[1]) {
		target->begin = g_strconcat("the birth of ", label, NULL);
	} else if (by_birth[0] || by_birth[1]) {
		target->begin =
			g_strdup("the window's begin, or the thread's birth if that is in it");
		target->caution = g_strdup_printf(
			"The thread was created in %c's window only: the two times need not be "
			"alike",
			by_birth[0] ? 'A' : 'B');
	} else if (asked) {
		target->begin = g_strdup("the window's begin");
	} else {
		target->begin = g_strdup("the recording's begin");
		target->caution = g_strdup(
			event ? "No ancestor of the target was created in both recordings: each is "
				"timed from its recording's begin, and these need not be alike; "
				"--from EVENT names a begin that is"
			      : "The thread was not created in both recordings: each is timed "
				"from where it is seen first, and these need not be alike; --from "
				"EVENT names a begin that is");
	}
}

static void find_end(struct target *target, const struct thread_match *match, bool event)
{
	bool over[2];

	for (int side = 0; side < 2; side++) {
		const struct session *session = match->session[side];
		int64_t end = life_of(match, side, target->thread[side])->end;

		target->to[side] = event ? session->asked.to : MIN(session->asked.to, end);
		over[side] = end <= session->asked.to;
	}
	if (event) {
		const struct match *at = &match->session[0]->asked.matches[MATCH_TARGET];
		g_autofree char *label = thread_match_label(match, 0, target->thread[0]);

		target->end = g_strdup_printf("%s of %s",
					      session_text(match->session[0], at->event), label);
		return;
	}
	target->end = g_strdup(over[0] && over[1] ? "its end" : "the window's end");
	if (over[0] != over[1] && !target->caution)
		target->caution =
			g_strdup_printf("The thread ended in %c only: the other is timed to its "
					"window's end",
					over[0] ? 'A' : 'B');
}

/* --- parts ------------------------------------------------------------------------------------ */

static void part_clear(gpointer data)
{
	struct target_part *part = data;

	g_free(part->cause_words[0]);
	g_free(part->cause_words[1]);
	g_free(part->label);
	g_free(part->sentence);
}

/* What all of the thread's parts are told by: its number in A, or as only B has it in B; of a
 * family all are one, but for the target itself. */
static char *thread_key(const struct target *target, const struct thread_match *match, int side,
			uint32_t thread, bool *many)
{
	uint32_t partner = thread_match_partner(match, side, thread);
	char *family =
		thread == target->thread[side] ? NULL : thread_match_family(match, side, thread);

	*many = family != NULL;
	if (family)
		return family;
	if (side && is_thread(thread) && partner == NO_THREAD)
		return g_strdup_printf("B %u", thread);
	return g_strdup_printf("A %u", side && is_thread(thread) ? partner : thread);
}

/* What tells a part from the others, alike in both runs. */
static char *part_key(const struct session *session, const struct piece *piece, const char *thread,
		      uint32_t resource, enum cause_kind cause)
{
	g_autofree char *leaf = leaf_key(session, piece->leaf);
	g_autofree char *lasting = kin_lasting(session_text(session, resource));

	return g_strdup_printf("%s\n%s\n%s\n%s", thread, leaf, lasting, cause_kind_text(cause));
}

static struct target_part *part_of(struct target *target, GHashTable *index, char *key)
{
	guint place = GPOINTER_TO_UINT(g_hash_table_lookup(index, key));
	struct target_part fresh = {.thread = {NO_THREAD, NO_THREAD},
				    .longest = {-1, -1},
				    .waiter = {NO_THREAD, NO_THREAD}};

	if (place) {
		g_free(key);
		return &g_array_index(target->parts, struct target_part, place - 1);
	}
	g_array_append_val(target->parts, fresh);
	g_hash_table_insert(index, key, GUINT_TO_POINTER(target->parts->len));
	return &g_array_index(target->parts, struct target_part, target->parts->len - 1);
}

/* The longest piece tells for its part what ended it and who waited for it. */
static void tell_by(struct target_part *part, const struct session *session, int side,
		    const struct path *path, const struct piece *piece)
{
	struct cause cause = piece_cause(session, piece);
	GString *words = NULL;

	if (piece->block && cause.label) {
		g_autofree char *said = cause_words(&cause);

		words = g_string_new(said);
		cause_append_times(words, &cause);
	} else if (cause.label) {
		words = g_string_new(cause.label);
	}
	g_free(part->cause_words[side]);
	part->cause_words[side] = words ? g_string_free(words, FALSE) : NULL;
	cause_clear(&cause);
	part->waiter[side] = NO_THREAD;
	if (piece->behalf >= 0) {
		const struct through *wait =
			&g_array_index(path->waits, struct through, piece->behalf);

		part->waiter[side] = wait->thread;
		part->waited_in[side] = wait->leaf;
	}
}

static void add_piece(struct target *target, const struct thread_match *match, GHashTable *index,
		      int side, const struct path *path, const struct piece *piece)
{
	const struct session *session = match->session[side];
	uint32_t resource = piece->block ? session_resource(session, piece->block) : 0;
	enum cause_kind cause = piece_cause_kind(session, piece);
	struct span span = {piece->begin, piece->end, piece->leaf, piece->ref};
	int64_t ns = piece->end - piece->begin;
	bool many;
	g_autofree char *thread = thread_key(target, match, side, piece->thread, &many);
	struct target_part *part =
		part_of(target, index, part_key(session, piece, thread, resource, cause));

	if (ns > part->longest[side]) {
		part->longest[side] = ns;
		tell_by(part, session, side, path, piece);
		part->seen_resource[side] = resource;
		part->thread[side] = piece->thread;
		part->seen_leaf[side] = piece->leaf;
	}
	part->many = many;
	part->cause = cause;
	part->ns[side] += ns;
	part->count[side]++;
	part->spans_gap |= session_spans_gap(session, piece->thread, &span);
}

static void add_side(struct target *target, const struct thread_match *match, GHashTable *index,
		     int side)
{
	struct path *path = path_new(match->session[side], target->thread[side], target->from[side],
				     target->to[side]);

	for (guint i = 0; i < path->pieces->len; i++)
		add_piece(target, match, index, side, path,
			  &g_array_index(path->pieces, struct piece, i));
	target->functions[side] = function_totals_new(match->session[side], path);
	path_free(path);
}

static void finish_part(struct target_part *part, const struct thread_match *match)
{
	part->side = part->ns[1] > part->ns[0];
	part->leaf = part->seen_leaf[part->side];
	part->resource = part->seen_resource[part->side];
	part->label =
		(part->many ? thread_match_family_label
			    : thread_match_label)(match, part->side, part->thread[part->side]);
	for (int side = 0; side < 2; side++)
		if (part->many)
			part->thread[side] = NO_THREAD;
		else if (part->thread[side] == NO_THREAD)
			part->thread[side] =
				thread_match_partner(match, !side, part->thread[!side]);
	part->sentence = part_sentence(match, part);
}

static int largest_first(gconstpointer a, gconstpointer b)
{
	const struct target_part *x = a, *y = b;
	int64_t size_x = llabs(part_difference(x)), size_y = llabs(part_difference(y));

	if (size_x != size_y)
		return size_x > size_y ? -1 : 1;
	if (x->ns[0] + x->ns[1] != y->ns[0] + y->ns[1])
		return x->ns[0] + x->ns[1] > y->ns[0] + y->ns[1] ? -1 : 1;
	return strcmp(x->sentence, y->sentence);
}

/* --- all -------------------------------------------------------------------------------------- */

struct target *target_new(const struct thread_match *match, const uint32_t threads[2],
			  GError **error)
{
	g_autoptr(GHashTable) index = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	struct target *target = g_new0(struct target, 1);
	bool event = match->session[0]->asked.target != NO_THREAD;

	target->parts = g_array_new(FALSE, FALSE, sizeof(struct target_part));
	g_array_set_clear_func(target->parts, part_clear);
	memcpy(target->thread, threads, sizeof target->thread);
	find_begin(target, match, event);
	find_end(target, match, event);
	for (int side = 0; side < 2; side++) {
		if (target->from[side] >= target->to[side]) {
			options_refuse(error, "%c's target came as its window began (%s)",
				       'A' + side, target->begin);
			target_free(target);
			return NULL;
		}
		add_side(target, match, index, side);
	}
	for (guint i = 0; i < target->parts->len; i++)
		finish_part(&g_array_index(target->parts, struct target_part, i), match);
	g_array_sort(target->parts, largest_first);
	target->verdict = target_verdict(target);
	return target;
}

void target_free(struct target *target)
{
	if (!target)
		return;
	g_array_free(target->parts, TRUE);
	for (int side = 0; side < 2; side++)
		g_clear_pointer(&target->functions[side], g_array_unref);
	g_free(target->begin);
	g_free(target->end);
	g_free(target->caution);
	g_free(target->verdict);
	g_free(target);
}
