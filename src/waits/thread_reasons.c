/* SPDX-License-Identifier: MIT */
/* The words of reasons that threads/ finds: sleeps for memory (pressure.c), and cgroups that were
 * frozen, or file systems (stop.c). Part of waits/ (reasons.h). */
#include "waits/reason_words.h"

#include "waits/deliveries.h"
#include "waits/state_names.h"

char *reclaim_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason)
{
	(void) session;
	(void) wait;
	return g_strconcat(
		"put to sleep by the kernel until memory is freed: too little memory, its "
		"cgroup's memory.max, or the host's",
		reason->flags & REASON_INFERRED ? " (inferred)" : NULL, NULL);
}

char *memory_high_label(const struct session *session, const struct wait *wait,
			const struct reason *reason)
{
	GString *label = g_string_new("put to sleep by the kernel: its cgroup");

	(void) wait;
	if (reason->text)
		g_string_append_printf(label, " (%s)", session_text(session, reason->text));
	g_string_append(label, " uses more memory than its memory.high allows (inferred)");
	return g_string_free(label, FALSE);
}

char *frozen_label(const struct session *session, const struct wait *wait,
		   const struct reason *reason)
{
	g_autofree char *who = thread_label(session, reason->thread);

	(void) wait;
	return g_strdup_printf("its cgroup was frozen, until %s wrote to %s", who,
			       resource_name(session_text(session, reason->object)));
}

char *files_frozen_label(const struct session *session, const struct wait *wait,
			 const struct reason *reason)
{
	g_autofree char *who = thread_label(session, reason->thread);
	const char *object = reason->object ? session_text(session, reason->object) : "";

	(void) wait;
	return g_strdup_printf("the file system%s%s was frozen, until %s thawed it",
			       *object ? " of " : "", *object ? resource_name(object) : "", who);
}
