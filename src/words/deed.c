/* SPDX-License-Identifier: MIT */
/* See deed.h. */
#include "words/deed.h"

#include "objects/calls.h"
#include "util/when.h"
#include "words/ending.h"
#include "words/names.h"

/* --- lists of them ------------------------------------------------------------------- */

void deeds_add(GArray *deeds, const struct deed *deed)
{
	for (guint i = 0; i < deeds->len; i++) {
		struct deed *at = &g_array_index(deeds, struct deed, i);

		if (at->name == deed->name && at->did == deed->did && at->object == deed->object &&
		    (at->did != DID_SLEEP || at->call == deed->call)) {
			at->several |= deed->several || at->thread != deed->thread;
			at->processes |= deed->processes ||
					 (at->pid >= 0 && deed->pid >= 0 && at->pid != deed->pid);
			at->call = at->call == deed->call ? at->call : 0;
			times_merge(&at->times, &deed->times);
			return;
		}
	}
	g_array_append_vals(deeds, deed, 1);
}

static int most_first(gconstpointer a, gconstpointer b)
{
	const struct deed *x = a, *y = b;

	if (x->times.ns != y->times.ns)
		return x->times.ns > y->times.ns ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->did - y->did;
}

void deeds_sort(GArray *deeds)
{
	g_array_sort(deeds, most_first);
}

/* --- in words ------------------------------------------------------------------------ */

static void append_waited(GString *text, const struct session *session, const struct deed *deed,
			  bool sum)
{
	bool thing = deed->did == DID_DEVICE || deed->did == DID_NETWORK;
	const char *comma = deed->times.count > 1 ? "," : "";

	g_string_append(text, deed->did == DID_STOP ? "was stopped" : "waited");
	append_times(text, &deed->times, sum);
	if (deed->call && !thing) {
		g_string_append_printf(text, "%s in %s", comma, session_text(session, deed->call));
		append_on(text, session, deed->object);
	}
	if (thing) {
		g_string_append_printf(text, "%s for ", comma);
		append_object(text, session, deed->object, false);
	}
}

/* "was" of one, "were" of several. */
static const char *was(const struct deed *deed)
{
	return deed->several ? "were" : "was";
}

bool deed_is_time_limit(const struct session *session, const struct deed *deed)
{
	const char *call = deed->call ? session_text(session, deed->call) : "";

	return deed->did == DID_SLEEP && (strstr(call, "futex") || call_awaits_signal(call));
}

static void append_slept(GString *text, const struct session *session, const struct deed *deed,
			 bool sum)
{
	bool limit = deed_is_time_limit(session, deed);

	g_string_append(text, limit ? "waited" : "slept");
	append_times(text, &deed->times, sum);
	g_string_append_printf(text, "%s %s %s own %s", deed->times.count > 1 ? "," : "",
			       limit ? "until" : "by", deed->several ? "their" : "its",
			       limit ? "time limit" : "timer");
	if (deed->call)
		g_string_append_printf(text, " (%s)", session_text(session, deed->call));
}

static void append_end(GString *text, const struct session *session, const struct deed *deed,
		       bool sum)
{
	char length[32];

	g_string_append_printf(text, "%s ", was(deed));
	append_ending(text, session, deed->thread, deed->blocked);
	if (sum)
		g_string_append_printf(text, " (%s)", when_duration(length, deed->times.ns));
}

static void append_plain(GString *text, const char *verb, const struct deed *deed, bool sum)
{
	g_string_append(text, verb);
	if (sum)
		append_for(text, deed->times.ns);
}

void append_deed(GString *text, const struct session *session, const struct deed *deed, bool sum,
		 bool goes_on)
{
	switch ((enum did) deed->did) {
	case DID_WORK:
		append_plain(text, goes_on ? "" : "worked", deed, sum);
		if (deed->call)
			g_string_append_printf(text, " in %s", session_text(session, deed->call));
		break;
	case DID_OWN_CODE:
		append_plain(text, "ran its own code", deed, sum);
		break;
	case DID_KERNEL:
		append_plain(text, "worked in the kernel", deed, sum);
		break;
	case DID_GUEST:
		append_plain(text, "ran its guest", deed, sum);
		break;
	case DID_HALTED:
		append_plain(text, "had the CPU while its guest had halted", deed, sum);
		break;
	case DID_HOST:
		append_plain(text, "could not go on", deed, sum);
		break;
	case DID_SLEEP:
		append_slept(text, session, deed, sum);
		break;
	case DID_READY:
		g_string_append_printf(text, "%s ready to run but kept off the CPU", was(deed));
		if (sum)
			append_for(text, deed->times.ns);
		break;
	case DID_THROTTLED:
		g_string_append_printf(text, "%s throttled", was(deed));
		append_times(text, &deed->times, sum);
		break;
	case DID_LIMIT:
		g_string_append_printf(text, "%s kept back", was(deed));
		append_times(text, &deed->times, sum);
		break;
	case DID_RUN:
		append_plain(text, "ran", deed, sum);
		break;
	case DID_END:
		append_end(text, session, deed, sum);
		break;
	case DID_INTERRUPTED:
		append_plain(text, goes_on ? "" : "was interrupted", deed, sum);
		break;
	case DID_OTHER:
		if (!deed->call) {
			append_plain(text, "was in an unknown state", deed, sum);
			break;
		}
		/* fallthrough */
	default:
		append_waited(text, session, deed, sum);
	}
}

void append_doer(GString *text, const struct session *session, const struct deed *deed)
{
	/* who ran, as it was called then */
	const char *name = deed->did == DID_RUN ? session_text(session, deed->name)
						: session_thread_name(session, deed->thread);

	if (deed->several)
		g_string_append_printf(text, "%s (several %s)", name,
				       deed->processes ? "processes" : "threads");
	else
		g_string_append_printf(text, "%s (%d)", name,
				       model_thread(&session->trace.model, deed->thread)->tid);
	g_string_append(text, session_on(session, deed->thread));
}

void append_doers(GString *text, const struct session *session, const GArray *deeds, enum did did,
		  guint max)
{
	g_autoptr(GPtrArray) doers = g_ptr_array_new();
	int64_t all = 0;
	guint shown;

	for (guint i = 0; i < deeds->len; i++) {
		struct deed *deed = &g_array_index(deeds, struct deed, i);

		if (deed->did == did)
			g_ptr_array_add(doers, deed);
		all += deed->did == did ? deed->times.ns : 0;
	}
	for (shown = 0; shown < doers->len && shown < max; shown++)
		if (shown && ((struct deed *) doers->pdata[shown])->times.ns * 10 < all)
			break;
	for (guint i = 0; i < shown; i++) {
		g_string_append(text, !i                                    ? ""
				      : i + 1 < shown || doers->len > shown ? ", "
									    : " and ");
		append_doer(text, session, doers->pdata[i]);
	}
	if (doers->len > shown && shown)
		g_string_append_printf(text, " and %u other%s", doers->len - shown,
				       doers->len - shown == 1 ? "" : "s");
}
