/* SPDX-License-Identifier: MIT */
/* The page of the whole trace, and what pages ask for when they are zoomed in on
 * (page/page_served.h).
 *
 * Part of serve/. Times are text, as JavaScript's numbers hold 53 bits; threads are numbers that
 * the page has from here. States are answered at once, as they follow what is shown; lanes, paths
 * and searches are of all rows, or of the whole window, and are made in a process of their own.
 */
#include "serve/shown.h"

#include <string.h>

#include "page/page_served.h"
#include "serve/forms.h"
#include "tsp/report_json.h"

#define THREADS_MAX 1024
#define WORD_MAX 200

/* The page's window is all of the trace. */
void page_whole(struct asking *asking)
{
	struct session *session = asking->server->session;
	const char *before = session->asked.options->served;

	if (asking->server->reading) {
		page_reading(asking);
		return;
	}
	asking->type = "text/html; charset=utf-8";
	session->asked.options->served = "";
	page_trace(session, &asking->out);
	session->asked.options->served = before;
}

static bool take_time(const struct asking *asking, const char *name, int64_t *time)
{
	const char *text = json_string_value(parameter(asking, name));

	return text && g_ascii_string_to_signed(text, 10, G_MININT64, G_MAXINT64, time, NULL);
}

static bool take_threads(const struct asking *asking, GArray *threads)
{
	const json_t *given = parameter(asking, "threads");
	int64_t thread;

	if (json_array_size(given) > THREADS_MAX)
		return false;
	for (size_t i = 0; i < json_array_size(given); i++) {
		uint32_t number;

		if (!parameter_whole(json_array_get(given, i), &thread) || thread < 0 ||
		    thread >= asking->server->session->trace.model.thread_count)
			return false;
		number = (uint32_t) thread;
		g_array_append_val(threads, number);
	}
	return true;
}

/* What is shown lies in the page's window, and that in the trace. */
static bool take_part(struct asking *asking, struct shown_part *part, GArray *threads)
{
	const struct session *session = asking->server->session;
	json_t *tolerance = parameter(asking, "tolerance");

	*part = (struct shown_part) {.threads = threads,
				     .word = json_string_value(parameter(asking, "text"))};
	if (take_time(asking, "base", &part->base) && take_time(asking, "end", &part->end) &&
	    take_time(asking, "from", &part->from) && take_time(asking, "to", &part->to) &&
	    session->asked.from <= part->base && part->base <= part->from &&
	    part->from < part->to && part->to <= part->end && part->end <= session->asked.to &&
	    (!tolerance ||
	     (parameter_whole(tolerance, &part->tolerance) && part->tolerance >= 0)) &&
	    take_threads(asking, threads))
		return true;
	asking_refuse(asking, 400, "Missing query parameters",
		      "base, end, from and to must be times in order, threads numbers of threads");
	return false;
}

static void answer(struct asking *asking,
		   void (*put)(const struct session *session, const struct shown_part *part,
			       struct output *output))
{
	g_autoptr(GArray) threads = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	struct session *session = asking->server->session;
	struct shown_part part;

	if (!take_part(asking, &part, threads))
		return;
	json_begin(&asking->out, NULL, '{', LINES_NOT);
	put(session, &part, &asking->out);
	json_end(&asking->out, '}');
	timeline_let_go(&session->trace.timeline);
}

void shown_states(struct asking *asking)
{
	answer(asking, page_states);
}

void shown_lanes(struct asking *asking)
{
	answer(asking, page_lanes);
}

static void put_steps(const struct session *session, const struct shown_part *part,
		      struct output *output)
{
	page_steps(session, part, g_array_index(part->threads, uint32_t, 0), output);
}

void shown_steps(struct asking *asking)
{
	if (json_array_size(parameter(asking, "threads")) == 1)
		answer(asking, put_steps);
	else
		asking_refuse(asking, 400, "Missing query parameters",
			      "threads must be the one whose path it is");
}

void shown_search(struct asking *asking)
{
	const char *word = json_string_value(parameter(asking, "text"));

	if (word && *word && strlen(word) <= WORD_MAX)
		answer(asking, page_search);
	else
		asking_refuse(asking, 400, "Missing query parameters",
			      "text must be what is searched, of 200 bytes at most");
}
