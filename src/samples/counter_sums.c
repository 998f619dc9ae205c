/* SPDX-License-Identifier: MIT */
/* See counter_sums.h. */
#include "samples/counter_sums.h"

bool counters_known(const struct counters *counters, enum counter which)
{
	return counters->known >> which & 1;
}

/* Of several the counters that all of them have. */
void counters_add(struct counters *to, const struct counters *more)
{
	if (!more->runs)
		return;
	to->known = to->runs ? to->known & more->known : more->known;
	for (guint i = 0; i < COUNTERS; i++)
		to->values[i] = to->known >> i & 1 ? to->values[i] + more->values[i] : 0;
	to->ns += more->ns;
	to->runs += more->runs;
}

uint32_t counters_first(const struct session *session, uint32_t thread, int64_t from)
{
	const struct log *log = &model_thread(&session->trace.model, thread)->counts;

	return log->used ? counted_run_find(&session->trace.timeline.counts, log, from) : 0;
}

struct counters counters_of(const struct session *session, uint32_t thread, uint32_t number,
			    int64_t *begin)
{
	const struct counted_run *run =
		counted_run_at(&session->trace.timeline.counts,
			       &model_thread(&session->trace.model, thread)->counts, number);
	struct counters counters = {.known = run->known, .ns = run->end - run->begin, .runs = 1};

	for (guint i = 0; i < COUNTERS; i++)
		counters.values[i] = run->values[i];
	*begin = run->begin;
	return counters;
}

struct counters counters_in(const struct session *session, uint32_t thread, int64_t begin,
			    int64_t end)
{
	uint32_t used = model_thread(&session->trace.model, thread)->counts.used;
	struct counters counters = {0};

	for (uint32_t i = counters_first(session, thread, begin); i < used; i++) {
		int64_t from;
		struct counters one = counters_of(session, thread, i, &from);

		if (from + one.ns > end)
			break;
		counters_add(&counters, &one);
	}
	return counters;
}

/* --- in words ------------------------------------------------------------------------- */

const char *counter_name(enum counter which)
{
	static const char *const names[COUNTERS] = {"instructions", "cycles", "cache_misses",
						    "branch_misses"};

	return names[which];
}

char *counter_text(char to[32], uint64_t count)
{
	static const char *const units[] = {"", " k", " M", " G", " T", " P", " E"};
	double value = (double) count;
	guint unit = 0;

	for (; value >= 999.5 && unit + 1 < G_N_ELEMENTS(units); unit++)
		value /= 1000;
	g_snprintf(to, 32, "%.*f%s",
		   !unit || value >= 99.95 ? 0
		   : value >= 9.995        ? 1
					   : 2,
		   value, units[unit]);
	return to;
}

static void append_misses(GString *text, const struct counters *counters, enum counter which,
			  const char *what)
{
	uint64_t of = counters->values[COUNTER_INSTRUCTIONS];
	char count[32];

	if (!counters_known(counters, which))
		return;
	g_string_append(text, text->len ? "; " : "");
	if (counters_known(counters, COUNTER_INSTRUCTIONS) && of)
		g_string_append_printf(text, "%.2g %s per 1000 instructions",
				       1000 * (double) counters->values[which] / (double) of, what);
	else
		g_string_append_printf(text, "%s %s", counter_text(count, counters->values[which]),
				       what);
}

void append_counters(GString *text, const struct counters *counters)
{
	uint64_t instructions = counters->values[COUNTER_INSTRUCTIONS];
	uint64_t cycles = counters->values[COUNTER_CYCLES];
	g_autoptr(GString) said = g_string_new(NULL);
	char count[32];

	if (counters_known(counters, COUNTER_INSTRUCTIONS))
		g_string_append_printf(said, "%s instructions", counter_text(count, instructions));
	if (counters_known(counters, COUNTER_CYCLES) && said->len && cycles)
		g_string_append_printf(said, ", %.2f a cycle",
				       (double) instructions / (double) cycles);
	else if (counters_known(counters, COUNTER_CYCLES))
		g_string_append_printf(said, "%s%s cycles", said->len ? ", " : "",
				       counter_text(count, cycles));
	append_misses(said, counters, COUNTER_CACHE_MISSES, "cache misses");
	append_misses(said, counters, COUNTER_BRANCH_MISSES, "mispredicted branches");
	g_string_append(text, said->str);
}
