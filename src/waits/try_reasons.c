/* SPDX-License-Identifier: MIT */
/* The words of tries; see reason_words.h. */
#include "waits/reason_words.h"

#include <inttypes.h>

#include "event/results.h"
#include "util/when.h"
#include "lives/restarts.h"
#include "waits/state_names.h"

/* "schemainit (261)" */
static void append_thread(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

/* "connect failed 9 times with ECONNREFUSED, about every 80 ms" */
static void append_tries(GString *text, const struct session *session, const struct reason *reason)
{
	const char *name = result_name(reason->result);
	char length[32];

	g_string_append(text, session_text(session, reason->call));
	if (name)
		g_string_append_printf(text, " failed %u time%s with %s", reason->count,
				       reason->count == 1 ? "" : "s", name);
	else
		g_string_append_printf(text, " said so %u time%s", reason->count,
				       reason->count == 1 ? "" : "s");
	g_string_append_printf(text, ", pauses of up to %s", when_duration(length, reason->ns));
}

static char *object_words(const struct session *session, const struct reason *reason)
{
	const char *key = session_text(session, reason->object);

	if (g_str_has_prefix(key, "fd:"))
		return g_strdup_printf("a file whose name was not recorded (%s)", key);
	if (g_str_has_prefix(key, "pipe:"))
		return g_strdup_printf("pipe %s", resource_name(key));
	if (strcmp(key, "socket:unix") == 0) /* where it leads was not recorded */
		return g_strdup("a Unix socket");
	if (strcmp(key, "socket:inet") == 0 || strcmp(key, "socket:inet6") == 0)
		return g_strdup("an Internet socket");
	if (strcmp(key, "socket:accepted") == 0)
		return g_strdup(resource_words(key));
	/* by its inode: of an address and port there are colons */
	if (g_str_has_prefix(key, "socket:[") && !strchr(key + strlen("socket:"), ':'))
		return g_strdup_printf("socket %s", resource_name(key));
	return g_strdup(resource_name(key));
}

static void append_until(GString *text, const struct session *session, const struct reason *reason)
{
	g_autofree char *object = object_words(session, reason);

	switch (reason->kind) {
	case REASON_FILE_APPEARS:
		g_string_append_printf(text, "no %s until ", object);
		append_thread(text, session, reason->thread);
		g_string_append(text, " made it");
		break;
	case REASON_FILE_GOES:
		g_string_append_printf(text, "%s was in the way until ", object);
		append_thread(text, session, reason->thread);
		g_string_append(text, " removed it");
		break;
	case REASON_LISTENS:
		g_string_append_printf(text, "nobody listened at %s", object);
		if (!is_thread(reason->thread))
			break;
		g_string_append(text, " until ");
		append_thread(text, session, reason->thread);
		g_string_append(text, " did");
		append_restart(text, session, reason->thread, reason->begin);
		break;
	case REASON_INPUT:
		g_string_append_printf(text, "nothing to read from %s until ", object);
		append_thread(text, session, reason->thread);
		g_string_append(text, " wrote");
		break;
	default:
		append_thread(text, session, reason->thread);
		g_string_append(text, " had not ended");
		break;
	}
}

/* ENOSPC, EDQUOT of the traced kernel. */
static bool is_full(int64_t result)
{
	return result == -28 || result == -122;
}

/* ", until oldapi (259) closed the socket that it listened at (inferred)" */
static void append_gave_up(GString *text, const struct session *session,
			   const struct reason *reason)
{
	const char *key = session_text(session, reason->text);

	g_string_append(text, ", until ");
	append_thread(text, session, reason->thread);
	g_string_append(text, is_full(reason->result) ? " removed " : " closed ");
	if (g_str_has_prefix(key, "socket:"))
		g_string_append(text, "the socket that it listened at");
	else
		g_string_append(text, resource_name(key));
	g_string_append(text, " (inferred)");
}

/* "write on /run/full/app.log failed 18 times with ENOSPC (no space left), then succeeded"; "…, and
 * never succeeded": where something is short (tries/call_tries.h). */
static void append_failures(GString *text, const struct session *session,
			    const struct reason *reason)
{
	g_autofree char *object = object_words(session, reason);
	const char *call = session_text(session, reason->call);
	const char *name = result_name(reason->result), *limit = result_limit(call, reason->result);

	g_string_append(text, call);
	if (!g_str_has_prefix(session_text(session, reason->object), "call:"))
		g_string_append_printf(text, " on %s", object);
	g_string_append_printf(text, " failed %u times", reason->count);
	if (name)
		g_string_append_printf(text, " with %s", name);
	if (limit)
		g_string_append_printf(text, " (%s)", limit);
	if (is_thread(reason->thread))
		append_gave_up(text, session, reason);
	else
		g_string_append(text,
				reason->number ? ", then succeeded" : ", and never succeeded");
}

char *try_fails_label(const struct session *session, const struct wait *wait,
		      const struct reason *reason)
{
	GString *text = g_string_new(NULL);
	char length[32];

	(void) wait;
	append_failures(text, session, reason);
	g_string_append_printf(text, "; pauses of up to %s", when_duration(length, reason->ns));
	return g_string_free(text, FALSE);
}

static void append_after(GString *text, const struct session *session, const struct reason *reason)
{
	static const char *const did[REASON_KINDS] = {[REASON_FILE_APPEARS] = "made",
						      [REASON_FILE_GOES] = "removed",
						      [REASON_LISTENS] = "listened at",
						      [REASON_INPUT] = "written to"};
	g_autofree char *object = object_words(session, reason);

	switch (reason->kind) {
	case REASON_PROCESS_ENDS:
		append_thread(text, session, reason->thread);
		g_string_append(text, " had ended");
		break;
	case REASON_LOCK_TRIED:
		g_string_append(text, "given up by ");
		append_thread(text, session, reason->thread);
		break;
	default:
		g_string_append_printf(text, "%s was %s already by ", object, did[reason->kind]);
		append_thread(text, session, reason->thread);
		break;
	}
	g_string_append(text, ", but the next try was due only after the pause");
}

char *try_label(const struct session *session, const struct wait *wait, const struct reason *reason)
{
	GString *text = g_string_new(NULL);

	if (wait_is_after(session, wait))
		append_after(text, session, reason);
	else
		append_until(text, session, reason);
	g_string_append(text, "; ");
	append_tries(text, session, reason);
	return g_string_free(text, FALSE);
}

char *try_lock_label(const struct session *session, const struct wait *wait,
		     const struct reason *reason)
{
	GString *text = g_string_new(NULL);

	if (wait_is_after(session, wait)) {
		append_after(text, session, reason);
	} else {
		g_string_append(text, "held by ");
		append_thread(text, session, reason->thread);
	}
	g_string_append(text, "; ");
	append_tries(text, session, reason);
	return g_string_free(text, FALSE);
}

static void append_other_readers(GString *text, const struct session *session,
				 const struct reason *reason)
{
	if (!is_thread(reason->other)) {
		g_string_append(text, "perhaps others");
		return;
	}
	append_thread(text, session, reason->other);
	if (reason->count > 2)
		g_string_append_printf(text, ", %u more", reason->count - 2u);
}

char *read_locked_label(const struct session *session, const struct wait *wait,
			const struct reason *reason)
{
	GString *text = g_string_new("read-locked, last by ");

	(void) wait;
	append_thread(text, session, reason->thread);
	g_string_append(text, "; by turns or at once also by ");
	append_other_readers(text, session, reason);
	g_string_append(text, "; how long each had it is not recorded");
	return g_string_free(text, FALSE);
}

/* "2 times alike (130 bytes), then otherwise (126 bytes)" */
static void append_answers(GString *text, const struct reason *reason)
{
	g_string_append_printf(text,
			       "%u times alike (%" G_GUINT64_FORMAT
			       " bytes), then otherwise (%" G_GUINT64_FORMAT " bytes)",
			       reason->count, reason->number, reason->amount);
}

char *answer_label(const struct session *session, const struct wait *wait,
		   const struct reason *reason)
{
	g_autofree char *object = object_words(session, reason);
	GString *text = g_string_new(NULL);
	char length[32];

	(void) wait;
	g_string_append_printf(text, "%s was asked the same again (%d bytes)", object,
			       reason->result);
	if (is_thread(reason->other)) {
		g_string_append(text, "; ");
		append_thread(text, session, reason->other);
	}
	g_string_append(text, is_thread(reason->other) ? " answered " : " and answered ");
	append_answers(text, reason);
	g_string_append_printf(text,
			       ", pauses of up to %s (inferred: what was said is not recorded)",
			       when_duration(length, reason->ns));
	return g_string_free(text, FALSE);
}

char *try_futex_label(const struct session *session, const struct wait *wait,
		      const struct reason *reason)
{
	GString *text = g_string_new("kept by ");
	char length[32];

	(void) wait;
	append_thread(text, session, reason->thread);
	g_string_append_printf(text,
			       ", who gave it up in the end; %u timed wait%s for it expired%s "
			       "after %s",
			       reason->count, reason->count == 1 ? "" : "s",
			       reason->count == 1 ? "" : ", the longest",
			       when_duration(length, reason->ns));
	return g_string_free(text, FALSE);
}

char *reason_clause(const struct session *session, const struct reason *reason)
{
	g_autofree char *object = object_words(session, reason);
	const char *call = session_text(session, reason->call);
	GString *more;
	char length[32];

	switch (reason->kind) {
	case REASON_FILE_APPEARS:
		return g_strdup_printf(", trying %s again until there was %s", call, object);
	case REASON_FILE_GOES:
		return g_strdup_printf(", trying %s again until %s was gone", call, object);
	case REASON_LISTENS:
		more = g_string_new(NULL);
		g_string_append_printf(more, ", trying %s again until somebody listened at %s",
				       call, object);
		append_restart(more, session, reason->thread, reason->begin);
		return g_string_free(more, FALSE);
	case REASON_INPUT:
		return g_strdup_printf(", trying %s again until %s had something to read", call,
				       object);
	case REASON_FAILS:
		more = g_string_new(", between tries: ");
		append_failures(more, session, reason);
		return g_string_free(more, FALSE);
	case REASON_LOCK_TRIED:
		return g_strdup_printf(", trying %s again for the lock of %s", call, object);
	case REASON_FILES_FROZEN:
		return g_strdup(", while the file system was frozen");
	case REASON_PROCESS_ENDS:
		return g_strdup_printf(", asking again and again with %s whether it had ended",
				       call);
	case REASON_ANSWER:
		more = g_string_new(NULL);
		g_string_append_printf(more,
				       ", pausing between alike questions to %s (%d bytes each), "
				       "which ",
				       object, reason->result);
		if (is_thread(reason->other))
			append_thread(more, session, reason->other);
		else
			g_string_append(more, "it");
		g_string_append(more, " answered ");
		append_answers(more, reason);
		g_string_append(more, ", as who is not ready yet or busy does (inferred: what was "
				      "said is not recorded)");
		return g_string_free(more, FALSE);
	case REASON_READ_LOCKED:
		more = g_string_new(
			reason->flags & REASON_READS
				? ", to read, behind one who waits to write, under a lock"
				: ", to write under a lock");
		g_string_append(more,
				" that others read by turns or at once: last this one, also ");
		append_other_readers(more, session, reason);
		g_string_append(more, " (inferred)");
		return g_string_free(more, FALSE);
	case REASON_FUTEX_TIMED:
		return g_strdup_printf(
			", in timed waits (up to %s, all expired) until it was woken",
			when_duration(length, reason->ns));
	case REASON_SEND_QUEUE:
		return reason->result == TRANSPORT_WINDOW
			       ? g_strdup_printf(
					 ", whose receive window was closed for %s, as it did not "
					 "read (rwnd_limited)",
					 when_duration(length, reason->ns))
			       : NULL;
	default:
		return NULL;
	}
}
