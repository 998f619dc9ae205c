/* SPDX-License-Identifier: MIT */
/* The words of the transport's reasons; see reason_words.h. */
#include "waits/reason_words.h"

#include <string.h>

#include "waits/deliveries.h"

/* Who wrote the bytes: the waiter itself, where the reason names nobody. */
static char *writer(const struct session *session, const struct wait *wait,
		    const struct reason *reason)
{
	return thread_label(session, is_thread(reason->thread) ? reason->thread : wait->thread);
}

/* Who is at the other end, as far as that is known. */
static char *reader(const struct session *session, const struct wait *wait,
		    const struct reason *reason)
{
	const char *key = strchr(session_text(session, reason->object), ':');
	uint32_t thread = is_thread(reason->thread) ? wait->thread : reason->other;

	if (is_thread(thread))
		return thread_label(session, thread);
	return g_strdup_printf("the peer%s%s", key ? " at " : "", key ? key + 1 : "");
}

/* "127.0.0.1:80" of "retransmission:127.0.0.1:80" */
static const char *service(const struct session *session, const struct reason *reason)
{
	const char *text = session_text(session, reason->object);
	const char *colon = strchr(text, ':');

	return colon ? colon + 1 : text;
}

static char *syn_words(const struct session *session, const struct reason *reason)
{
	const char *where = service(session, reason);
	g_autofree char *listener =
		is_thread(reason->other) ? thread_label(session, reason->other) : NULL;
	char length[32];

	when_duration(length, reason->ns);
	if (reason->flags & REASON_UNSENT && reason->text)
		return g_strdup_printf(
			"the queueing discipline of %s dropped the SYN to %s, which was "
			"sent again %s later%s",
			session_text(session, reason->text), where, length,
			reason->count > 1 ? " for the last time" : "");
	if (!(reason->flags & REASON_CAME))
		return g_strdup_printf("%s did not answer the SYN, which was sent again %s later%s "
				       "(the trace cannot tell where it was lost)",
				       where, length,
				       reason->count > 1 ? " for the last time" : "");
	if (reason->flags & REASON_AWAITED)
		return g_strdup_printf(
			"no answer to the SYN to %s, which had come to the host and was sent "
			"again %s later%s: %s waited for connections, so something before it "
			"dropped the SYN, as a firewall does (inferred)",
			where, length, reason->count > 1 ? " for the last time" : "",
			listener ? listener : "who listens there");
	return g_strdup_printf("%s%s%s%s dropped the SYN, which was sent again %s later%s: its "
			       "listen queue was full, as it accepts too slowly (inferred)",
			       listener ? listener : "", listener ? ", which listens on " : "",
			       where, listener ? "," : "", length,
			       reason->count > 1 ? " for the last time" : "");
}

static void append_where(GString *text, const struct session *session, const struct reason *reason)
{
	if (reason->amount && !(reason->flags & REASON_UNSENT))
		g_string_append(text, "they were lost between these hosts");
	else if (reason->flags & REASON_NEEDLESS)
		g_string_append(text,
				"needlessly: they had arrived, their acknowledgement had not");
	else if (reason->flags & REASON_CAME)
		g_string_append(text,
				"they had come to the host, whose kernel did not take them (a "
				"full accept queue or buffer; inferred)");
	else if (reason->flags & REASON_UNSENT && reason->text)
		g_string_append_printf(text, "the queueing discipline of %s dropped them",
				       session_text(session, reason->text));
	else
		g_string_append(text, "the trace cannot tell where they were lost");
}

char *again_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason)
{
	static const char *const how[] = {
		[TRANSPORT_TIMEOUT] = "by TCP's retransmission time-out",
		[TRANSPORT_FAST] = "when acknowledgements showed the hole (fast retransmission)",
		[TRANSPORT_PROBE] = "by TCP's loss probe"};
	g_autofree char *from = writer(session, wait, reason);
	g_autofree char *to = reader(session, wait, reason);
	GString *text;
	char length[32], longest[32];

	if (reason->result == TRANSPORT_SYN)
		return syn_words(session, reason);
	when_duration(length, reason->ns);
	if (reason->result == TRANSPORT_EARLY)
		return g_strdup_printf("%s sent again what was lost on the way to this host: bytes "
				       "behind it had come %s before",
				       service(session, reason), length);
	if (reason->result == TRANSPORT_BUFFER)
		return g_strdup_printf("the send buffer was full for %s of what %s had not "
				       "acknowledged, as some of it was lost and sent again",
				       length, to);
	text = g_string_new(NULL);
	g_string_append_printf(text, "bytes from %s to %s were sent again after %s", from, to,
			       length);
	if (reason->count > 1)
		g_string_append_printf(text, " (%u times, the longest time between was %s)",
				       reason->count,
				       when_duration(longest, (int64_t) reason->number));
	g_string_append_printf(text, " %s; ",
			       (size_t) reason->result < G_N_ELEMENTS(how) ? how[reason->result]
									   : "");
	append_where(text, session, reason);
	return g_string_free(text, FALSE);
}

char *delayed_label(const struct session *session, const struct wait *wait,
		    const struct reason *reason)
{
	g_autofree char *from = writer(session, wait, reason);
	g_autofree char *to = reader(session, wait, reason);
	char held[32], delay[32];

	if (reason->result == TRANSPORT_BUFFER)
		return g_strdup_printf("the send buffer was full until the kernel of %s "
				       "acknowledged, which it delayed by %s",
				       to, when_duration(delay, (int64_t) reason->number));
	return g_strdup_printf(
		"%s writes in small pieces without TCP_NODELAY, so TCP (Nagle) kept the last one "
		"%s until the one before was acknowledged, which the kernel of %s delayed by %s",
		from, when_duration(held, reason->ns), to,
		when_duration(delay, (int64_t) reason->number));
}

char *queue_label(const struct session *session, const struct wait *wait,
		  const struct reason *reason)
{
	g_autofree char *from = writer(session, wait, reason);
	g_autofree char *to = reader(session, wait, reason);
	char length[32];

	when_duration(length, reason->ns);
	switch (reason->result) {
	case TRANSPORT_DEVICE:
		return g_strdup_printf("packets were %s in the queueing discipline of %s%s", length,
				       reason->text ? session_text(session, reason->text)
						    : "a device",
				       reason->flags & REASON_INFERRED
					       ? " or on their way (net_dev_xmit not recorded)"
					       : " (its shaper; net_dev_queue to net_dev_xmit)");
	case TRANSPORT_NAGLE:
		return g_strdup_printf("%s writes in small pieces without TCP_NODELAY, so TCP "
				       "(Nagle) kept the last one %s until %s acknowledged the one "
				       "before",
				       from, length, to);
	case TRANSPORT_WINDOW:
		return g_strdup_printf("%s did not read: its receive window was closed for %s "
				       "(rwnd_limited)",
				       is_thread(reason->thread) ? from : to, length);
	case TRANSPORT_CORK:
		return g_strdup_printf("%s had TCP wait for more (MSG_MORE, TCP_CORK), for %s",
				       from, length);
	case TRANSPORT_BUFFER:
		return g_strdup_printf(
			"the send buffer was full for %s of what %s had not "
			"acknowledged (sndbuf_limited; the trace cannot tell what kept that)",
			length, to);
	default:
		return g_strdup_printf("bytes of %s were %s in its send queue, until "
				       "acknowledgements came (the congestion window's or the "
				       "peer's: the trace cannot tell)",
				       from, length);
	}
}
