/* SPDX-License-Identifier: MIT */
/* The words of guests/'s reasons; see reason_words.h. */
#include "waits/reason_words.h"

#include "util/when.h"
#include "waits/deliveries.h"
#include "waits/state_names.h"

char *machine_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason)
{
	const struct wake_detail *request = block_request(session, wait->block);
	g_autofree char *who = thread_label(session, reason->thread), *label = NULL;
	bool inferred;

	if (!request)
		return g_strdup_printf("%s, which %s is on the host",
				       resource_name(session_text(session, reason->object)), who);
	label = request_label(session, wait, request, &inferred);
	return g_strdup_printf("%s; on the host by %s", label, who);
}

char *late_timer_label(const struct session *session, const struct wait *wait,
		       const struct reason *reason)
{
	g_autofree char *who = thread_label(session, reason->thread);
	char length[32], late[32];

	return g_strdup_printf("timer of %s, which came %s late, as the host did not run %s",
			       when_duration(length, reason->ns),
			       when_duration(late, wait->end - reason->from), who);
}
