/* SPDX-License-Identifier: MIT */
/* The words of disk/'s reasons; see disk_reasons.h. */
#include "waits/disk_reasons.h"

#include <string.h>

#include "waits/deliveries.h"
#include "waits/state_names.h"

/* The timer's function is that of the kernel's block/blk-throttle.c. */
#define THROTTLE_TIMER "throtl_pending_timer_fn"

/* The kernel's name of the timer's function; NULL: not recorded, or no symbols know it. */
static const char *timer_function(const struct session *session, const struct reason *reason)
{
	const char *name = reason->call ? session_function(session, reason->call) : "";

	return *name && !g_str_has_prefix(name, "0x") ? name : NULL;
}

char *io_limit_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason)
{
	const char *disk = session_text(session, reason->text);
	const char *function = timer_function(session, reason);
	bool kernel = thread_is_kernel(&session->trace.model,
				       model_thread(&session->trace.model, wait->thread));
	GString *label = g_string_new(NULL);
	char held[32], took[32];

	when_duration(held, CLAMP(reason->begin - wait->begin, 0, wait->end - wait->begin));
	g_string_append_printf(label, "kept back for %s ", held);
	if (function && strcmp(function, THROTTLE_TIMER) != 0)
		g_string_append_printf(label, "before it went to %s, by the timer of %s", disk,
				       function);
	else
		g_string_append_printf(label, "by the limit io.max of %s cgroup for %s (%s)",
				       kernel ? "a" : "its", disk,
				       function ? function
						: "inferred: a timer let the request go to the "
						  "device");
	g_string_append_printf(label, "; %s itself took %s", disk, when_duration(took, reason->ns));
	return g_string_free(label, FALSE);
}

char *device_holds_label(const struct session *session, const struct wait *wait,
			 const struct reason *reason)
{
	const struct wake_detail *request = block_request(session, wait->block);
	const char *function = timer_function(session, reason);
	bool inferred;
	g_autofree char *label = request_label(session, wait, request, &inferred);

	return g_strdup_printf("%s; %s kept it back by a timer of its own%s%s%s, before %s had it",
			       label, resource_name(session_text(session, reason->object)),
			       function ? " (" : "", function ? function : "", function ? ")" : "",
			       session_text(session, reason->text));
}
