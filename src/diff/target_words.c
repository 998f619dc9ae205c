/* SPDX-License-Identifier: MIT */
/* See target_words.h. */
#include "diff/target_words.h"

#include <stdlib.h>
#include <string.h>

#include "util/when.h"
#include "waits/state_names.h"

static bool is_sleep(const struct session *session, uint32_t leaf)
{
	const char *call = PACK_KIND(leaf) == LEAF_BLOCK_SYSCALL
				   ? session_text(session, PACK_NUMBER(leaf))
				   : "";

	return strcmp(call, "nanosleep") == 0 || strcmp(call, "clock_nanosleep") == 0;
}

static void append_resource(GString *text, const struct session *session, uint32_t resource)
{
	const char *key = session_text(session, resource);

	if (resource && strcmp(key, "sleep") != 0 && strcmp(key, "poll") != 0)
		g_string_append_printf(text, " on %s", resource_words(key));
}

/* "was blocked in read on pipe:[7] for": stands before how long. */
static void append_what(GString *text, const struct session *session,
			const struct target_part *part)
{
	g_autofree char *label = leaf_label(session, part->leaf);
	uint32_t number = PACK_NUMBER(part->leaf); /* a name's only for some */

	switch (PACK_KIND(part->leaf)) {
	case LEAF_WORK_USER:
		g_string_append(text, "ran its own code for");
		return;
	case LEAF_WORK_KTHREAD:
	case LEAF_WORK_SOFTIRQ:
		g_string_append(text, "worked in the kernel for");
		return;
	case LEAF_WORK_GUEST:
		g_string_append(text, "ran its guest for");
		return;
	case LEAF_WORK_HALTED:
		g_string_append(text, "had the CPU while its guest had halted, for");
		return;
	case LEAF_HOST:
		g_string_append(text,
				"could not go on, as the host did not run its virtual CPU, for");
		return;
	case LEAF_WORK_SYSCALL:
		g_string_append_printf(text, "worked in system call %s for",
				       session_text(session, number));
		return;
	case LEAF_PREEMPTED:
		g_string_append(text, "was preempted for");
		return;
	case LEAF_WAIT_CPU:
		g_string_append(text, part->cause == CAUSE_THROTTLED
					      ? "was throttled (inferred) for"
					      : "was ready but waited for a CPU for");
		return;
	case LEAF_UNKNOWN:
		g_string_append(text, "was in an unknown state for");
		return;
	case LEAF_BLOCK_STOPPED:
	case LEAF_BLOCK_TRACED:
		g_string_append(text, "was stopped for");
		return;
	default:
		break;
	}
	if (is_sleep(session, part->leaf))
		g_string_append(text, "slept");
	else if (PACK_KIND(part->leaf) == LEAF_BLOCK_SYSCALL)
		g_string_append_printf(text, "was blocked in %s", session_text(session, number));
	else if (PACK_KIND(part->leaf) == LEAF_BLOCK_FAULT)
		g_string_append(text, "was blocked in a page fault");
	else if (leaf_is_blocked(part->leaf))
		g_string_append(text, "was blocked");
	else
		g_string_append_printf(text, "was interrupted (%s)", label);
	append_resource(text, session, part->resource);
	if (!is_sleep(session, part->leaf))
		g_string_append(text, " for");
}

/* "799.2 ms in A (40 times, clock_nanosleep)" */
static void append_side(GString *text, const struct session *session,
			const struct target_part *part, int side)
{
	bool sleep = side == part->side && is_sleep(session, part->leaf);
	bool often = part->count[side] > 1 && leaf_is_blocked(part->leaf);
	char ns[32];

	g_string_append_printf(text, "%s in %c", when_duration(ns, part->ns[side]), 'A' + side);
	if (often || sleep)
		g_string_append(text, " (");
	if (often)
		g_string_append_printf(text, "%" G_GUINT64_FORMAT " times", part->count[side]);
	if (sleep)
		g_string_append_printf(text, "%s%s", often ? ", " : "",
				       session_text(session, PACK_NUMBER(part->leaf)));
	if (often || sleep)
		g_string_append_c(text, ')');
}

static const char *sooner_or_later(int64_t difference)
{
	return difference < 0 ? "sooner" : "later";
}

char *part_sentence(const struct thread_match *match, const struct target_part *part)
{
	const struct session *session = match->session[part->side];
	GString *text = g_string_new(part->label);
	int64_t difference = part_difference(part);
	uint32_t waiter = part->waiter[part->side];
	char ns[32];

	g_string_append_c(text, ' ');
	append_what(text, session, part);
	g_string_append_c(text, ' ');
	append_side(text, session, part, 0);
	g_string_append(text, " and ");
	append_side(text, session, part, 1);
	if (difference)
		g_string_append_printf(text, ": %s %s", when_duration(ns, llabs(difference)),
				       sooner_or_later(difference));
	if (part->cause_words[part->side] && !is_sleep(session, part->leaf))
		g_string_append_printf(text, "; %sin %c: %s",
				       part->count[part->side] > 1 ? "the longest " : "",
				       'A' + part->side, part->cause_words[part->side]);
	if (is_thread(waiter)) {
		g_autofree char *who = thread_match_label(match, part->side, waiter);
		g_autofree char *where = leaf_element(session, part->waited_in[part->side]);

		g_string_append_printf(
			text, "; %s waited for it in %s", who,
			g_str_has_prefix(where, "syscall:") ? where + strlen("syscall:") : where);
	}
	if (part->spans_gap)
		g_string_append(text, " [spans lost events: it may not be real]");
	return g_string_free(text, FALSE);
}

char *target_verdict(const struct target *target)
{
	int64_t difference = target_ns(target, 1) - target_ns(target, 0);
	const struct target_part *most = NULL;
	char ns[32];

	for (guint i = 0; i < target->parts->len && !most; i++) {
		const struct target_part *at = &g_array_index(target->parts, struct target_part, i);

		if (part_difference(at) &&
		    (!difference || (part_difference(at) < 0) == (difference < 0)))
			most = at;
	}
	if (!difference)
		return g_strdup_printf("As long in B as in A%s%s", most ? "; most differs: " : "",
				       most ? most->sentence : "");
	return g_strdup_printf("%s %s in B: %s", when_duration(ns, llabs(difference)),
			       sooner_or_later(difference), most ? most->sentence : "");
}
