/* SPDX-License-Identifier: MIT */
/* The words of waits that ended at the waiter's own time limit; see reason_words.h. */
#include "waits/reason_words.h"

#include <signal.h>
#include <string.h>

#include "waits/deliveries.h"
#include "event/results.h"
#include "event/signals.h"
#include "waits/state_names.h"

/* The limit may be kept by several waits: then each one's is no more than its part. */
static bool is_part(const struct wait *wait, const struct reason *reason)
{
	return reason->begin && !(reason->flags & REASON_LATE) &&
	       reason->until - reason->begin > 2 * (wait->end - wait->begin);
}

/* "its own time limit of 400.0 ms: " */
static GString *limit_begins(const struct wait *wait, const struct reason *reason)
{
	GString *label = g_string_new(NULL);
	char length[32];
	int64_t limit = wait->block->timer;

	if (reason->kind == REASON_UNCONNECTED && reason->result) {
		g_string_append(label, "TCP's time limit (ETIMEDOUT): ");
		return label;
	}
	if (is_part(wait, reason)) {
		g_string_printf(label, "its own time limit, %s in all, kept by several waits: ",
				when_duration(length, reason->until - reason->begin));
		return label;
	}
	g_string_printf(label, "its own time limit of %s: ",
			when_duration(length, limit >= 0 ? limit : wait->end - wait->begin));
	return label;
}

/* "127.0.0.1:8101", "a unix socket" */
static void append_object(GString *label, const struct session *session,
			  const struct reason *reason)
{
	const char *key = session_text(session, reason->object);

	if (strcmp(key, "socket:unix") == 0)
		g_string_append(label, "a unix socket");
	else if (!reason->object || strcmp(key, "socket:inet") == 0 ||
		 strcmp(key, "socket:inet6") == 0)
		g_string_append(label, "a peer whose address was not recorded");
	else
		g_string_append(label, g_str_has_prefix(key, "socket:") ? resource_name(key) : key);
}

/* " (hungapp (234), which read the question 276 µs after it was sent and has been in accept4
 * since)" */
static void append_peer(GString *label, const struct session *session, const struct reason *reason)
{
	g_autofree char *peer =
		is_thread(reason->thread) ? thread_label(session, reason->thread) : NULL;
	char length[32];
	gsize begun;

	if (reason->flags & REASON_OWN) {
		g_autofree char *own = thread_label(session, reason->other);

		g_string_append_printf(label, ", where %s listens itself,", own);
		return;
	}
	if (!peer)
		return;
	g_string_append_printf(label, " (%s", peer);
	begun = label->len;
	if (reason->kind == REASON_UNCONNECTED)
		g_string_append(label, " listens there");
	else if (reason->ns >= 0 && reason->kind != REASON_GIVEN_UP)
		g_string_append_printf(label, ", which read the question %s after it was sent",
				       when_duration(length, MAX(reason->ns, 0)));
	else if (reason->flags & REASON_ACCEPTED)
		g_string_append(label, ", which accepted the connection and has not read");
	if (reason->call)
		g_string_append_printf(label, "%s has been in %s since",
				       reason->ns >= 0      ? " and"
				       : label->len > begun ? ", and"
							    : ", which",
				       session_text(session, reason->call));
	g_string_append_c(label, ')');
}

/* The waiter has another thread ask. */
static void append_asker(GString *label, const struct session *session, const struct wait *wait,
			 const struct reason *reason)
{
	g_autofree char *asker = NULL;

	if (!is_thread(reason->other) || reason->other == wait->thread)
		return;
	asker = thread_label(session, reason->other);
	g_string_append_printf(label, ", asked by %s", asker);
}

char *unanswered_label(const struct session *session, const struct wait *wait,
		       const struct reason *reason)
{
	GString *label = limit_begins(wait, reason);

	append_object(label, session, reason);
	append_peer(label, session, reason);
	g_string_append(label,
			reason->flags & REASON_LATE ? " had not answered yet" : " did not answer");
	if (reason->flags & REASON_UNSENT)
		g_string_append_printf(label,
				       ", as the queueing discipline of %s dropped the question",
				       session_text(session, reason->text));
	append_asker(label, session, wait, reason);
	return g_string_free(label, FALSE);
}

char *unconnected_label(const struct session *session, const struct wait *wait,
			const struct reason *reason)
{
	bool unreachable = result_is_unreachable(reason->result);
	GString *label = unreachable ? g_string_new("the error ") : limit_begins(wait, reason);
	char length[32];

	if (unreachable) {
		g_string_append_printf(label, "%s: no host was found at ",
				       result_name(reason->result));
		append_object(label, session, reason);
		g_string_append(label, " (ARP unanswered, or a router said so)");
		return g_string_free(label, FALSE);
	}
	append_object(label, session, reason);
	append_peer(label, session, reason);
	g_string_append_printf(label, reason->flags & REASON_LATE
					      ? " had not answered the attempt to connect yet"
					      : " did not answer the attempt to connect");
	if (reason->count > 1)
		g_string_append_printf(label, ", sent %u times", reason->count);
	if (!(reason->flags & REASON_LATE) && !is_part(wait, reason))
		g_string_append_printf(label, " in %s",
				       when_duration(length, reason->until - reason->begin));
	append_asker(label, session, wait, reason);
	return g_string_free(label, FALSE);
}

char *given_up_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason)
{
	GString *label = g_string_new("TCP's time limit (ETIMEDOUT): ");
	char length[32];

	(void) wait;
	append_object(label, session, reason);
	append_peer(label, session, reason);
	if (reason->number)
		g_string_append(label, " did not acknowledge what was sent");
	else
		g_string_append(label, " did not answer keep-alive probes");
	if (!reason->number && reason->count)
		g_string_append_printf(
			label, reason->result ? " (%u sent: none came there)" : " (%u sent)",
			reason->count);
	if (reason->ns >= 0)
		g_string_append_printf(label, "; its last packet had come %s before TCP gave up",
				       when_duration(length, reason->ns));
	return g_string_free(label, FALSE);
}

char *unended_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason)
{
	g_autofree char *target = thread_label(session, reason->thread);
	GString *label = limit_begins(wait, reason);

	g_string_append_printf(label, "%s did not end", target);
	if (reason->count) {
		g_string_append(label, " after ");
		append_signal(label, reason->count);
		if (reason->flags & REASON_IGNORED)
			g_string_append(label, ", which it ignores");
	}
	g_string_append(label, reason->result == SIGKILL ? ", and was killed by " : ", and got ");
	append_signal(label, (uint64_t) reason->result);
	return g_string_free(label, FALSE);
}

char *unlocked_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason)
{
	g_autofree char *holder = thread_label(session, reason->thread);
	GString *label = limit_begins(wait, reason);

	g_string_append_printf(label, "%s held the lock of %s", holder,
			       session_text(session, reason->object));
	return g_string_free(label, FALSE);
}
