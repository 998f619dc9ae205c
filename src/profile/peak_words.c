/* SPDX-License-Identifier: MIT */
/* See peak_words.h. */
#include "profile/peak_words.h"

#include <string.h>

#include "latencies/root_tree.h"
#include "latencies/roots.h"
#include "waits/state_names.h"

/* "the disk vda", "a futex", "/data.bin": of a kind of resource alone, "a socket". */
static void append_resource(GString *text, const char *key)
{
	if (g_str_has_prefix(key, "device:"))
		g_string_append_printf(text, "%s%s",
				       g_str_has_prefix(key + 7, "dm-") || strchr("vsnh", key[7])
					       ? "the disk "
					       : "device ",
				       key + 7);
	else if (g_str_has_prefix(key, "lock:"))
		g_string_append_printf(text, "the lock of %s", key + strlen("lock:"));
	else if (strchr(key, ':'))
		g_string_append(text, resource_name(key));
	else
		g_string_append_printf(text, "%s %s", strchr("aeiou", *key) ? "an" : "a", key);
}

/* "waited for db", "slept by a timer", "waited for the disk vda". */
static void append_blocked(GString *text, const struct part *part, const struct part *below)
{
	const char *key = part->node + strlen("blocked/");

	if (below && below->kind == PART_BY)
		g_string_append_printf(text, "waited for %s", below->node + strlen("by:"));
	else if (below && below->kind == PART_IDLE)
		g_string_append(text, "waited for a next request");
	else if (strcmp(key, "sleep") == 0)
		g_string_append(text, "slept by a timer");
	else if (below && below->kind == PART_ENDED && g_str_has_prefix(below->node, "timer"))
		g_string_append(text, "waited until a timer went off");
	else {
		g_string_append(text, "waited for ");
		append_resource(text, key);
	}
	if (below && below->kind == PART_QUEUED)
		g_string_append(text, ", queued before others");
}

/* `one`: one operation, or a thread below. */
static void append_part(GString *text, const struct part *part, const struct part *below, bool one)
{
	const char *was = one ? "was" : "were";
	g_autofree char *words = part_words(part->node);

	if (part->kind == PART_BLOCKED)
		append_blocked(text, part, below);
	else if (part_is_own(part) || strcmp(part->node, "working/user") == 0)
		g_string_append(text, !part_is_own(part) ? "ran its own code"
				      : one              ? "did its own work"
							 : "did their own work");
	else if (strcmp(part->node, "interrupted/preempted") == 0 ||
		 strcmp(part->node, "interrupted/wait-cpu") == 0)
		g_string_append_printf(text, "%s ready to run but kept off the CPU", was);
	else if (strcmp(part->node, "working/guest") == 0)
		g_string_append_printf(text, "ran %s guest", one ? "its" : "their");
	else if (strcmp(part->node, "working/halted") == 0)
		g_string_append_printf(text, "had the CPU while %s guest had halted",
				       one ? "its" : "their");
	else if (g_str_has_prefix(part->node, "working/syscall:"))
		g_string_append_printf(text, "worked in %s",
				       part->node + strlen("working/syscall:"));
	else if (g_str_has_prefix(part->node, "function:"))
		g_string_append_printf(text, "%s in %s", was, words);
	else if (g_str_has_prefix(part->node, "interrupted/"))
		g_string_append_printf(text, "%s interrupted by %s", was, words);
	else
		g_string_append_printf(text, "spent it on %s", words);
}

void append_way(GString *text, const struct peak *peak, const struct part *last)
{
	g_autoptr(GPtrArray) way = g_ptr_array_new();

	for (const struct part *at = last; at && at != peak->tree; at = at->parent)
		g_ptr_array_insert(way, 0, (gpointer) at);
	for (guint i = 0; i < way->len; i++) {
		const struct part *part = way->pdata[i];
		const struct part *below = i + 1 < way->len ? way->pdata[i + 1] : NULL;

		if (part->kind == PART_BY && i)
			continue; /* the wait above has told of it */
		if (part->kind == PART_BY) { /* of an operation that is the wait itself */
			g_string_append_printf(text, "waited for %s", part->node + strlen("by:"));
			if (!below)
				return;
			g_string_append(text, ", which ");
			continue;
		}
		append_part(text, part, below, i || peak->count == 1);
		if (!below || below->kind != PART_BY || i + 2 >= way->len)
			return; /* what is below it says how, not who */
		g_string_append(text, ", which ");
	}
}
