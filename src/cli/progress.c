/* SPDX-License-Identifier: MIT */
/* How far reading has come, for who waits; see cli.h. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "foreign/source.h"
#include "util/when.h"

#define SHOWN_EACH 16384 /* events */

void progress_begin(struct progress *progress, struct session *session)
{
	const struct options *options = session->asked.options;

	*progress = (struct progress) {.session = session,
				       .next = SHOWN_EACH,
				       .lines = options->progress_lines,
				       .began = g_get_monotonic_time(),
				       .shown = options->progress == CHOICE_ALWAYS ||
						(options->progress == CHOICE_AUTO &&
						 !options->quiet && isatty(STDERR_FILENO))};
}

/* "43 %, 2 s left", as far as that is known; through Babeltrace only how far in the trace it is. */
static void show_line(struct progress *progress)
{
	const struct session *session = progress->session;
	double passed = (double) (g_get_monotonic_time() - progress->began) / G_USEC_PER_SEC;
	char time[48];

	if (progress->done > 0.01)
		fprintf(stderr, "\rwhylate: reading, %.0f %%, %.0f s left \033[K",
			100.0 * progress->done, passed / progress->done - passed);
	else
		fprintf(stderr, "\rwhylate: %" PRIu64 " events, at %s \033[K",
			session->trace.events,
			when_time(time, session->trace.flow.time, session->asked.options->utc,
				  false));
}

void progress_show(struct progress *progress)
{
	const struct session *session = progress->session;
	const struct options *options = session->asked.options;

	if (!progress->shown && !progress->lines && !options->reading)
		return;
	relay_wait(progress->relay);
	if (session->trace.events < progress->next)
		return;
	progress->next = session->trace.events + SHOWN_EACH;
	if (progress->source)
		progress->done = MAX(progress->done, source_done(progress->source));
	if (options->reading &&
	    !options->reading(progress->session, progress->done, options->reading_data))
		progress->session->asked.stretches.done = true;
	if (progress->lines) {
		/* reading is most of it; there is more to do behind it */
		printf("%.3f %" PRIu64 " events read\n", 0.9 * progress->done,
		       session->trace.events);
		fflush(stdout);
		return;
	}
	if (progress->shown)
		show_line(progress);
}

void progress_end(const struct progress *progress)
{
	if (progress->shown && progress->session->trace.events >= SHOWN_EACH)
		fputs("\r\033[K", stderr);
	if (progress->lines) {
		printf("0.900 %" PRIu64 " events read, analysing\n",
		       progress->session->trace.events);
		fflush(stdout);
	}
}
