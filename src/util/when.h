/* SPDX-License-Identifier: MIT */
/* Points in time as people write them, and times and durations as they read
 * them.
 *
 * Part of util/. Inside the program times are integer nanoseconds; only option parsing and report
 * writers come here, and readers, whose clocks count cycles.
 */
#ifndef WHYLATE_UTIL_WHEN_H
#define WHYLATE_UTIL_WHEN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum when_kind {
	WHEN_NONE,
	WHEN_DATE,     /* [[YYYY-MM-DD ]hh:mm:ss[.n]], on the trace's first day if no date */
	WHEN_ABSOLUTE, /* ns from the clock origin */
	WHEN_FROM_BEGIN, /* +OFFSET: after the trace's begin, or after --from for --to */
	WHEN_FROM_END, /* -OFFSET: before the trace's end */
	WHEN_EVENT,    /* not a time: an event, for event_filter_parse() */
};

struct when {
	enum when_kind kind;
	int64_t ns;    /* time, offset, or time of day for a date without a day */
	int year, month, day; /* 0 if none was given */
};

/* Reads a time. What does not begin like a time is WHEN_EVENT; what does but
 * is none gives false and `error` (WHYLATE_ERROR_USAGE). */
bool when_parse(const char *text, struct when *when, GError **error);

/* A duration such as 500ms, 1.5s, 20us, 1000ns, 2 (seconds), 3m; ns out. */
bool when_parse_duration(const char *text, int64_t *ns, GError **error);

/* The time that `when` means; `first` the trace's first, `last` its last event,
 * `base` what +OFFSET counts from. `utc`: dates are UTC, else local time. */
int64_t when_resolve(const struct when *when, int64_t first, int64_t last, int64_t base, bool utc);

/* "13.6 ms": unit and 3 to 4 significant digits. buffer of 32. */
const char *when_duration(char *buffer, int64_t ns);

/* The same with two digits, or what is before the point: "1.4 ms", "30 ms", "135 ms". */
const char *when_rough(char *buffer, int64_t ns);

/* "[hh:mm:ss.nnnnnnnnn]" as babeltrace2 prints it; with the date in front if
 * `with_date`. buffer of 48. */
const char *when_time(char *buffer, int64_t ns, bool utc, bool with_date);

/* "hh:mm:ss.nnn" with so many decimals, cut off, and "YYYY-MM-DDT" in front if `with_date`: as
 * when_parse() reads it, and a shell takes it as one word. buffer of 48. */
const char *when_pasted(char *buffer, int64_t ns, bool utc, bool with_date, int decimals);

/* What products of times need: 128 bits, which 32-bit processors have by C23's way alone (GCC 14,
 * clang 14). */
#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 int128;
__extension__ typedef unsigned __int128 uint128;
#else
__extension__ typedef _BitInt(128) int128;
__extension__ typedef unsigned _BitInt(128) uint128;
#endif

/* `cycles` at `frequency` Hz after `seconds`. What does not fit 64 bits comes round, as nothing in
 * a trace is to be trusted. */
static inline int64_t clock_ns(int64_t seconds, uint64_t cycles, uint64_t frequency)
{
	uint64_t ns = (uint64_t) seconds * 1000000000;

	if (frequency == 1000000000)
		return (int64_t) (ns + cycles);
	return (int64_t) (ns + cycles / frequency * 1000000000 +
			  (uint64_t) ((uint128) (cycles % frequency) * 1000000000 / frequency));
}

#endif
