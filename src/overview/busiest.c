/* SPDX-License-Identifier: MIT */
/* See busiest.h. */
#include "overview/busiest.h"

#include <string.h>

#include "waits/summary.h"
#include "words/handler.h"
#include "words/names.h"
#include "words/times.h"

#define OF_LIFE 2 /* at least one part in so many that it worked */
#define OF_WINDOW 10 /* … of the window */
#define OF_WORK 10 /* … of its work, to be told */
#define PARTS_MAX 2
#define CALLS_MIN 1000
#define SHORT INT64_C(50000) /* ns */

static const struct thread_total *
busiest(const struct session *session, const struct overview *overview)
{
	g_autofree bool *tracers = session_tracers(session);
	int64_t window = session->asked.to - session->asked.from;
	const struct thread_total *most = NULL;

	for (guint i = 0; i < overview->threads->len; i++) {
		const struct thread_total *at =
			&g_array_index(overview->threads, struct thread_total, i);
		int64_t worked = at->wib[WIB_WORKING];

		if (!at->kernel && !tracers[at->thread] &&
		    worked * OF_LIFE >= at->end - at->begin && worked * OF_WINDOW >= window &&
		    (!most || worked > most->wib[WIB_WORKING]))
			most = at;
	}
	return most;
}

static const struct node *work_of(const struct node *total)
{
	for (guint i = 0; i < total->children->len; i++) {
		const struct node *node = g_ptr_array_index(total->children, i);

		if (strcmp(node->element, "working") == 0)
			return node;
	}
	return NULL;
}

/* To two digits. */
static uint64_t rounded(uint64_t count)
{
	uint64_t unit = 1;

	while (count / unit >= 100)
		unit *= 10;
	return (count + unit / 2) / unit * unit;
}

/* " (409.2 ms of it in its handler of signal 14 (SIGALRM))", of that much own code. */
static void append_handler(GString *text, const struct session *session,
			   const struct thread_total *most, int64_t own)
{
	int64_t ns;
	uint32_t words = handler_most(session, most->thread, most->begin, most->end, &ns);
	char length[32];

	if (words && ns * OF_WORK >= own)
		g_string_append_printf(text, " (%s of it in %s)", when_duration(length, ns),
				       session_text(session, words));
}

/* "417.3 ms in write (about 150,000 calls), 175.7 ms in its own code": of short calls few are cut
 * in two by an interrupt, so that their pieces are about as many. */
static void append_parts(GString *text, const struct session *session,
			 const struct thread_total *most, const struct node *work)
{
	const char *comma = ": ";
	guint told = 0;

	for (guint i = 0; i < work->children->len && told < PARTS_MAX; i++) {
		const struct node *node = g_ptr_array_index(work->children, i);
		bool call = g_str_has_prefix(node->element, "syscall:");
		char length[32], count[32];

		if (node->ns * OF_WORK < work->ns)
			break;
		if (!call && strcmp(node->element, "user") != 0)
			continue;
		g_string_append_printf(text, "%s%s in ", comma, when_duration(length, node->ns));
		g_string_append(text, call ? node->element + strlen("syscall:") : "its own code");
		if (call && node->count >= CALLS_MIN && node->ns < SHORT * (int64_t) node->count)
			g_string_append_printf(text, " (about %s calls)",
					       count_text(count, rounded(node->count)));
		if (!call)
			append_handler(text, session, most, node->ns);
		comma = ", ";
		told++;
	}
}

char *busiest_sentence(const struct session *session, const struct overview *overview,
		       uint32_t *thread)
{
	const struct thread_total *most = busiest(session, overview);
	GString *text;
	struct node *total;
	char length[32];

	if (!most)
		return NULL;
	*thread = most->thread;
	text = g_string_new("Busiest was ");
	append_one(text, session, most->thread);
	g_string_append_printf(text, ", at work for %s (%d %% of its life)",
			       when_duration(length, most->wib[WIB_WORKING]),
			       (int) (100 * most->wib[WIB_WORKING] / (most->end - most->begin)));
	total = summary_new(session, most->thread, most->begin, most->end);
	if (work_of(total))
		append_parts(text, session, most, work_of(total));
	node_free(total);
	g_string_append_c(text, '.');
	return g_string_free(text, FALSE);
}
