/* SPDX-License-Identifier: MIT */
/* The words of disk/'s reasons; see reason_words.h. */
#include "waits/reason_words.h"

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

/* "548 KiB", "3.7 MiB" */
static const char *size_text(char text[32], uint64_t bytes)
{
	if (bytes < 1 << 20)
		g_snprintf(text, 32, "%.3g KiB", (double) bytes / 1024);
	else
		g_snprintf(text, 32, "%.1f MiB", (double) bytes / (1 << 20));
	return text;
}

/* "of bulkcopy (266), who had written it to /big (inferred), beside dd (260) and 2 others" */
static char *owners_text(const struct session *session, const struct wait *wait,
			 const struct reason *reason)
{
	g_autofree char *by = thread_label(session, reason->thread), *second = NULL;
	const char *who = reason->thread == wait->thread ? "its own" : by;
	GString *text = g_string_new(who == by ? "of " : NULL);

	g_string_append(text, who);
	if (reason->call)
		g_string_append_printf(text, ", written to %s (inferred)",
				       resource_name(session_text(session, reason->call)));
	if (reason->count < 2 || !is_thread(reason->other))
		return g_string_free(text, FALSE);
	second = thread_label(session, reason->other);
	g_string_append_printf(text, ", beside %s", second);
	if (reason->count > 2)
		g_string_append_printf(text, " and %u other%s", reason->count - 2,
				       reason->count > 3 ? "s" : "");
	return g_string_free(text, FALSE);
}

char *flush_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason)
{
	const struct wake_detail *request = block_request(session, wait->block);
	const char *disk = session_text(session, reason->text);
	bool inferred;
	g_autofree char *label = request_label(session, wait, request, &inferred), *by = NULL;
	char busy[32], size[32];

	when_duration(busy, reason->ns);
	size_text(size, reason->amount);
	by = is_thread(reason->thread) ? owners_text(session, wait, reason)
				       : thread_label(session, reason->other);
	if (is_thread(reason->thread))
		return g_strdup_printf("%s; meanwhile %s was busy for %s with %s %s", label, disk,
				       busy, size, by);
	return g_strdup_printf("%s; %s did hardly anything else meanwhile: %s for %s of %s", label,
			       disk, busy, size, by);
}

char *dirty_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason)
{
	const char *disk = session_text(session, reason->text);
	GString *label = g_string_new("kept back by the kernel as dirty pages reached their limit");
	g_autofree char *by = NULL;
	char size[32];

	if (reason->number)
		g_string_append_printf(label, " of %s", size_text(size, reason->number));
	else
		g_string_append(label, " (inferred)");
	if (is_thread(reason->thread)) {
		by = owners_text(session, wait, reason);
		g_string_append_printf(label, ", with %s %s", size_text(size, reason->amount), by);
	}
	g_string_append_printf(label, "; %s does %s a second", disk,
			       size_text(size, (uint64_t) reason->result << 10));
	return g_string_free(label, FALSE);
}
