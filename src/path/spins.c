/* SPDX-License-Identifier: MIT */
/* See spins.h. */
#include "path/spins.h"

#include "path/path.h"
#include "util/when.h"
#include "words/names.h"
#include "words/times.h"

#define CALLS_MIN 16    /* in a row */
#define OTHERS_MAX 64   /* threads of the process that are looked at */

/* Calls in a row. */
struct row {
	int64_t begin, end; /* of the first call, of the last one */
	int64_t in, between, since; /* ns in the calls; between them; since the last one */
	uint64_t calls;
	bool in_call;
};

static void add_row(struct spinning *spinning, const struct row *row)
{
	int64_t ns = row->end - row->begin;

	spinning->ns += ns;
	spinning->calls += row->calls;
	spinning->shortest = spinning->times++ ? MIN(spinning->shortest, ns) : ns;
	if (ns <= spinning->longest)
		return;
	spinning->longest = ns;
	spinning->begin = row->begin;
	spinning->end = row->end;
}

static void row_ends(struct spinning *spinning, GArray *stretches, struct row *row, uint32_t thread)
{
	struct stretch stretch = {thread, row->begin, row->end};

	if (row->calls >= CALLS_MIN && row->between <= 2 * row->in) {
		g_array_append_val(stretches, stretch);
		add_row(spinning, row);
	}
	*row = (struct row) {0};
}

static void row_goes_on(struct row *row, const struct span *span)
{
	if (!row->calls)
		row->begin = span->begin;
	row->calls += !row->in_call;
	row->in_call = true;
	row->in += span->end - span->begin;
	row->between += row->since;
	row->since = 0;
	row->end = span->end;
}

static void find_stretches(const struct session *session, uint32_t thread, uint32_t leaf,
			   struct spinning *spinning, GArray *stretches)
{
	struct row row = {0};
	struct spans spans;
	struct span span;

	spans_begin(&spans, session, thread, session->asked.from, session->asked.to);
	while (spans_next(&spans, &span)) {
		if (span.leaf == leaf) {
			row_goes_on(&row, &span);
			continue;
		}
		if (leaf_wib(span.leaf) == WIB_INTERRUPTED)
			continue; /* others had the CPU, for which it is there */
		row.in_call = false;
		row.since += span.end - span.begin;
		if (leaf_wib(span.leaf) != WIB_WORKING || row.since > 2 * row.in)
			row_ends(spinning, stretches, &row, thread);
	}
	row_ends(spinning, stretches, &row, thread);
}

/* How long the thread ran in the stretches, or was kept from that. */
static int64_t time_in(const struct session *session, uint32_t thread, const GArray *stretches,
		       bool (*counts)(uint32_t leaf))
{
	const struct stretch *at = &g_array_index(stretches, struct stretch, 0);
	const struct stretch *end = at + stretches->len;
	struct spans spans;
	struct span span;
	int64_t ns = 0;

	spans_begin(&spans, session, thread, at->begin, end[-1].end);
	while (at < end && spans_next(&spans, &span)) {
		if (!counts(span.leaf))
			continue;
		while (at < end && at->end <= span.begin)
			at++;
		for (const struct stretch *in = at; in < end && in->begin < span.end; in++)
			ns += MIN(in->end, span.end) - MAX(in->begin, span.begin);
	}
	return ns;
}

static bool is_work(uint32_t leaf)
{
	return leaf_wib(leaf) == WIB_WORKING;
}

static bool spins(const struct session *session, uint32_t thread, uint32_t leaf)
{
	g_autoptr(GArray) stretches = g_array_new(FALSE, FALSE, sizeof(struct stretch));
	struct spinning spinning = {0};

	find_stretches(session, thread, leaf, &spinning, stretches);
	return spinning.times > 0;
}

static void find_who_could_not(const struct session *session, uint32_t other, uint32_t leaf,
			       const GArray *stretches, struct spinning *spinning)
{
	int64_t ns = time_in(session, other, stretches, leaf_is_ready);

	if (2 * ns < spinning->ns || ns <= spinning->off || spins(session, other, leaf))
		return;
	spinning->off = ns;
	spinning->kept = other;
}

static void find_who_ran(const struct session *session, uint32_t thread, uint32_t leaf,
			 const GArray *stretches, struct spinning *spinning)
{
	uint32_t count;
	const uint32_t *threads = process_before(&session->trace.processes, &session->trace.model,
						 thread, session->asked.to, &count);

	for (uint32_t i = 0; i < MIN(count, OTHERS_MAX); i++) {
		int64_t ns;

		if (threads[i] == thread)
			continue;
		ns = time_in(session, threads[i], stretches, is_work);
		if (ns > spinning->ran) {
			spinning->ran = ns;
			spinning->most = threads[i];
		}
		find_who_could_not(session, threads[i], leaf, stretches, spinning);
	}
}

struct spinning spinning_of(const struct session *session, uint32_t thread, uint32_t leaf)
{
	g_autoptr(GArray) stretches = g_array_new(FALSE, FALSE, sizeof(struct stretch));
	struct spinning spinning = {.most = NO_THREAD, .kept = NO_THREAD};

	find_stretches(session, thread, leaf, &spinning, stretches);
	if (spinning.times)
		find_who_ran(session, thread, leaf, stretches, &spinning);
	return spinning;
}

void append_who_spun_for(GString *text, const struct session *session,
			 const struct spinning *spinning)
{
	bool kept = is_thread(spinning->kept);
	char length[32];

	if (!kept && !is_thread(spinning->most))
		return;
	g_string_append(text, "; of its process ");
	append_one(text, session, kept ? spinning->kept : spinning->most);
	if (kept)
		g_string_append_printf(text,
				       " was ready meanwhile, but kept off the CPU for %s: most "
				       "likely it has what is waited for",
				       when_duration(length, spinning->off));
	else
		g_string_append_printf(text, " ran most meanwhile, %s",
				       when_duration(length, spinning->ran));
}

void append_spinning(GString *text, const struct session *session, uint32_t thread, uint32_t leaf)
{
	struct spinning spinning = spinning_of(session, thread, leaf);
	char length[32];

	if (!spinning.times)
		return;
	g_string_append_printf(
		text,
		" %" G_GUINT64_FORMAT " times with next to nothing between, %s in all: it spins "
		"until another thread does something in memory (inferred), which no event shows",
		spinning.calls, when_duration(length, spinning.ns));
	append_who_spun_for(text, session, &spinning);
}

void append_asking(GString *text, const struct session *session, uint32_t thread, int64_t least)
{
	const struct host *host = model_host(&session->trace.model,
					     model_thread(&session->trace.model, thread)->host);
	const struct spin *longest = NULL;
	char length[32], times[32];
	uint64_t count = 0;
	int64_t ns = 0;

	for (guint i = 0; i < host->spins->len; i++) {
		const struct spin *spin = &g_array_index(host->spins, struct spin, i);
		int64_t begin = MAX(spin->begin, session->asked.from);
		int64_t end = MIN(spin->end, session->asked.to);

		if (spin->thread != thread || begin >= end)
			continue;
		count += spin->count;
		ns += end - begin;
		if (!longest || spin->end - spin->begin > longest->end - longest->begin)
			longest = spin;
	}
	if (!longest || ns < least)
		return;
	if (longest->result == SPIN_NOT_OPEN) {
		g_string_append_printf(
			text, ": %s failed %s times (EBADF: descriptors that are not open) in %s",
			session_text(session, longest->call), count_text(times, count),
			when_duration(length, ns));
		return;
	}
	g_string_append_printf(text, ", asking without a pause: %s found nothing %s times%s in %s",
			       session_text(session, longest->call), count_text(times, count),
			       longest->result ? " (EAGAIN)" : "", when_duration(length, ns));
	if (is_thread(longest->maker))
		g_string_append_printf(text, ", until %s (%d) wrote",
				       session_thread_name(session, longest->maker),
				       model_thread(&session->trace.model, longest->maker)->tid);
}
