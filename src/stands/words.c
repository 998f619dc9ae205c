/* SPDX-License-Identifier: MIT */
/* See words.h. */
#include "stands/words.h"

#include <inttypes.h>
#include <string.h>

#include "path/ending.h"
#include "util/when.h"
#include "waits/state_names.h"

void append_one(GString *text, const struct session *session, uint32_t thread)
{
	g_string_append_printf(text, "%s (%d)%s", session_thread_name(session, thread),
			       model_thread(&session->trace.model, thread)->tid,
			       session_on(session, thread));
}

bool append_call(GString *text, const struct session *session, uint32_t leaf)
{
	switch (PACK_KIND(leaf)) {
	case LEAF_BLOCK_SYSCALL:
	case LEAF_WORK_SYSCALL:
		g_string_append_printf(text, "in %s", session_text(session, PACK_NUMBER(leaf)));
		return true;
	case LEAF_BLOCK_FAULT:
		g_string_append(text, "in a page fault");
		return true;
	default:
		return false;
	}
}

static const struct {
	const char *prefix, *words;
	bool name; /* what stands behind the prefix is told */
} objects[] = {
	{"device:", "", true},
	{"swap:", "swap on ", true},
	{"cpu:quota", "its cgroup's CPU quota", false},
	{"cpu:affinity", "a CPU that it is pinned to", false},
	{"retransmission:", "", true},
	{"delayed-ack:", "", true},
	{"send-queue:", "", true},
	{"queue:", "", true},
	{"socket:unix", "a unix socket", false},
	{"socket:", "", true},
	{"child:", "its child ", true},
	{"work:", "", true},
	{"irq:", "IRQ ", true},
	{"softirq:", "softIRQ ", true},
	{"vector:", "vector ", true},
	{"limit:", "the limit ", true},
	{"eventfd", "an eventfd", false},
	{"timerfd", "a timerfd", false},
	{"epoll", "an epoll descriptor", false},
};

void append_object(GString *text, const struct session *session, uint32_t object, bool lock)
{
	const char *key = session_text(session, object);

	if (lock && g_str_has_prefix(key, "fd:")) {
		g_string_append_printf(text, "the lock of a file whose name was not recorded (%s)",
				       key);
		return;
	}
	if (lock) {
		g_string_append_printf(text, "%s %s",
				       g_str_has_prefix(key, "futex:") ? "the lock" : "the lock of",
				       resource_name(key));
		return;
	}
	if (g_str_has_prefix(key, "device:") &&
	    (g_str_has_prefix(key + 7, "vd") || g_str_has_prefix(key + 7, "sd") ||
	     g_str_has_prefix(key + 7, "nvme") || g_str_has_prefix(key + 7, "dm-")))
		g_string_append(text, "the disk ");
	for (size_t i = 0; i < G_N_ELEMENTS(objects); i++) {
		if (!g_str_has_prefix(key, objects[i].prefix))
			continue;
		g_string_append_printf(text, "%s%s", objects[i].words,
				       objects[i].name ? key + strlen(objects[i].prefix) : "");
		return;
	}
	g_string_append(text,
			g_str_has_prefix(key, "file:") ? resource_name(key) : resource_words(key));
}

void append_done(GString *text, const struct session *session, const struct deed *deed)
{
	const char *call = deed->call ? session_text(session, deed->call) : NULL;
	char length[32];

	when_duration(length, deed->ns);
	switch ((enum did) deed->did) {
	case DID_WORK:
		g_string_append_printf(text, "worked %s", length);
		break;
	case DID_SLEEP:
		g_string_append_printf(text, "slept %s", length);
		if (deed->count > 1)
			g_string_append_printf(text, ", %" PRIu64 " times,", deed->count);
		g_string_append(text, " by its own timer");
		if (call)
			g_string_append_printf(text, " (%s)", call);
		break;
	case DID_READY:
		g_string_append_printf(text, "was kept off the CPU for %s", length);
		break;
	case DID_DEVICE:
	case DID_NETWORK:
		g_string_append_printf(text, "waited %s for ", length);
		append_object(text, session, deed->object, false);
		break;
	case DID_LIMIT:
		g_string_append_printf(text, "was kept back for %s", length);
		break;
	case DID_END:
		append_ending(text, session, deed->thread, false);
		g_string_append_printf(text, ", for %s", length);
		break;
	case DID_RUN:
		g_string_append_printf(text, "ran %s", length);
		break;
	default:
		if (call)
			g_string_append_printf(text, "was in %s for %s", call, length);
		else
			g_string_append_printf(text, "did what is not known for %s", length);
	}
}

guint stem_length(const struct session *session, const char *name)
{
	size_t length = strlen(name);

	if (session->asked.options->anonymiser) /* numbers are all that tells names apart */
		return (guint) length;
	while (length > 1 && g_ascii_isdigit(name[length - 1]))
		length--;
	return (guint) (length > 2 ? length : strlen(name));
}

void append_doer(GString *text, const struct session *session, const struct deed *deed)
{
	if (deed->several)
		g_string_append_printf(text, "%s (several)",
				       session_thread_name(session, deed->thread));
	else
		append_one(text, session, deed->thread);
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
		all += deed->did == did ? deed->ns : 0;
	}
	for (shown = 0; shown < doers->len && shown < max; shown++)
		if (shown && ((struct deed *) doers->pdata[shown])->ns * 10 < all)
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
