/* SPDX-License-Identifier: MIT */
/* Reading and writing of times and durations; see when.h. */
#include "util/when.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/error.h"

#define SECOND INT64_C(1000000000)

/* Reads digits[.digits] at *text as integer nanoseconds of that many seconds
 * `scale` ns each; exact, up to 9 decimals. False if there is no number or
 * it does not fit. */
static bool read_decimal(const char **text, int64_t scale, int64_t *ns)
{
	const char *p = *text;
	int64_t whole = 0, part = 0, place = scale;

	if (!g_ascii_isdigit(*p))
		return false;
	for (; g_ascii_isdigit(*p); p++) {
		if (whole > (INT64_MAX / scale - 10) / 10)
			return false;
		whole = whole * 10 + (*p - '0');
	}
	if (*p == '.') {
		for (p++; g_ascii_isdigit(*p); p++) {
			place /= 10;
			part += place * (*p - '0');
		}
	}
	*ns = whole * scale + part;
	*text = p;
	return true;
}

static const struct {
	const char *suffix;
	int64_t ns;
} units[] = {
	{"ns", 1},     {"us", 1000},       {"µs", 1000},         {"ms", 1000000},
	{"s", SECOND}, {"m", 60 * SECOND}, {"min", 60 * SECOND}, {"h", 3600 * SECOND},
	{"", SECOND},
};

static bool parse_with_unit(const char *text, int64_t *ns)
{
	size_t digits = strspn(text, "0123456789.");

	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (strcmp(text + digits, units[i].suffix) == 0) {
			const char *p = text;

			return read_decimal(&p, units[i].ns, ns) && p == text + digits;
		}
	return false;
}

bool when_parse_duration(const char *text, int64_t *ns, GError **error)
{
	if (parse_with_unit(text, ns))
		return true;
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "'%s' is not a duration: a number with ns, us, ms, s (or nothing, for "
		    "seconds), m or h, as in 500ms",
		    text);
	return false;
}

static bool parse_clock(const char *text, struct when *when)
{
	int hours, minutes, used = 0;
	const char *p;
	int64_t seconds;

	if (sscanf(text, "%4d-%2d-%2d%n", &when->year, &when->month, &when->day, &used) == 3) {
		if (when->month < 1 || when->month > 12 || when->day < 1 || when->day > 31)
			return false;
		if (text[used] != ' ' && text[used] != 'T')
			return false;
		text += used + 1;
	} else {
		when->year = when->month = when->day = 0;
	}
	used = 0;
	if (sscanf(text, "%2d:%2d:%n", &hours, &minutes, &used) != 2 || !used)
		return false;
	p = text + used;
	if (!read_decimal(&p, SECOND, &seconds) || *p || strpbrk(text, "+-") || hours > 24 ||
	    minutes > 59 || seconds >= 61 * SECOND)
		return false;
	when->kind = WHEN_DATE;
	when->ns = (hours * INT64_C(3600) + minutes * 60) * SECOND + seconds;
	return true;
}

bool when_parse(const char *text, struct when *when, GError **error)
{
	const char *p = text;

	memset(when, 0, sizeof *when);
	if ((*text == '+' || *text == '-') && g_ascii_isdigit(text[1])) {
		when->kind = *text == '+' ? WHEN_FROM_BEGIN : WHEN_FROM_END;
		return when_parse_duration(text + 1, &when->ns, error);
	}
	if (*text == '[') { /* as babeltrace2 prints it */
		size_t length = strlen(text);
		g_autofree char *inner = NULL;

		if (text[length - 1] == ']') {
			inner = g_strndup(text + 1, length - 2);
			if (parse_clock(inner, when))
				return true;
		}
	} else if (!g_ascii_isdigit(*text)) {
		when->kind = WHEN_EVENT;
		return true;
	} else if (parse_clock(text, when)) {
		return true;
	} else {
		when->kind = WHEN_ABSOLUTE;
		if (g_str_has_suffix(text, "ns")) {
			if (read_decimal(&p, 1, &when->ns) && strcmp(p, "ns") == 0)
				return true;
		} else if (read_decimal(&p, SECOND, &when->ns) && !*p) {
			return true;
		}
	}
	g_set_error(error, WHYLATE_ERROR, WHYLATE_ERROR_USAGE,
		    "'%s' is not a time: use hh:mm:ss[.nnnnnnnnn], 'YYYY-MM-DD hh:mm:ss', "
		    "SECONDS[.nnnnnnnnn], NANOSECONDSns, +OFFSET or -OFFSET (as in +250ms), or an "
		    "event",
		    text);
	return false;
}

static void split(int64_t ns, bool utc, struct tm *tm, int64_t *rest)
{
	time_t seconds = (time_t) (ns / SECOND);

	*rest = ns % SECOND;
	if (*rest < 0) {
		*rest += SECOND;
		seconds--;
	}
	if (utc)
		gmtime_r(&seconds, tm);
	else
		localtime_r(&seconds, tm);
}

/* What does not fit is after, or before, everything. */
static int64_t sum(int64_t a, int64_t b)
{
	int64_t result;

	if (__builtin_add_overflow(a, b, &result))
		return b > 0 ? INT64_MAX : INT64_MIN;
	return result;
}

static int64_t join(struct tm *tm, bool utc)
{
	int64_t seconds, ns;

	tm->tm_isdst = -1;
	seconds = utc ? timegm(tm) : mktime(tm);
	if (seconds == -1 && tm->tm_year < 69) /* or a time_t of 32 bits has no room for it */
		return INT64_MIN;
	if (seconds == -1 && tm->tm_year > 70)
		return INT64_MAX;
	if (__builtin_mul_overflow(seconds, SECOND, &ns))
		return seconds > 0 ? INT64_MAX : INT64_MIN;
	return ns;
}

int64_t when_resolve(const struct when *when, int64_t first, int64_t last, int64_t base, bool utc)
{
	struct tm tm;
	int64_t rest;

	switch (when->kind) {
	case WHEN_ABSOLUTE:
		return when->ns;
	case WHEN_FROM_BEGIN:
		return sum(base, when->ns);
	case WHEN_FROM_END:
		return sum(last, -when->ns);
	case WHEN_DATE:
		split(first, utc, &tm, &rest);
		if (when->year) {
			tm.tm_year = when->year - 1900;
			tm.tm_mon = when->month - 1;
			tm.tm_mday = when->day;
		}
		/* the clock's own hands, so that a change of summer time counts */
		tm.tm_hour = (int) (when->ns / (3600 * SECOND));
		tm.tm_min = (int) (when->ns / (60 * SECOND) % 60);
		tm.tm_sec = (int) (when->ns / SECOND % 60);
		return sum(join(&tm, utc), when->ns % SECOND);
	default:
		return first;
	}
}

/* With a decimal for each of `limits` (three of them) that the number is below; in the largest unit
 * of which it is `least` or more. */
static const char *duration(char *buffer, int64_t ns, const double *limits, double least)
{
	static const struct {
		const char *unit;
		double ns;
	} scales[] = {{"s", 1e9}, {"ms", 1e6}, {"µs", 1e3}};
	uint64_t size = ns < 0 ? (uint64_t) 0 - (uint64_t) ns : (uint64_t) ns;

	for (size_t i = 0; i < G_N_ELEMENTS(scales); i++) {
		double value = (double) size / scales[i].ns;

		if (value >= least) {
			int decimals =
				(value < limits[0]) + (value < limits[1]) + (value < limits[2]);

			snprintf(buffer, 32, "%s%.*f %s", ns < 0 ? "-" : "", decimals, value,
				 scales[i].unit);
			return buffer;
		}
	}
	snprintf(buffer, 32, "%" PRId64 " ns", ns);
	return buffer;
}

const char *when_duration(char *buffer, int64_t ns)
{
	static const double limits[] = {999.5, 99.95, 9.995};

	return duration(buffer, ns, limits, 0.9995);
}

const char *when_rough(char *buffer, int64_t ns)
{
	static const double limits[] = {9.95, 0, 0};

	return duration(buffer, ns, limits, 0.9995);
}

const char *when_time(char *buffer, int64_t ns, bool utc, bool with_date)
{
	struct tm tm;
	int64_t rest;
	size_t used;

	split(ns, utc, &tm, &rest);
	used = strftime(buffer, 48, with_date ? "[%Y-%m-%d %H:%M:%S" : "[%H:%M:%S", &tm);
	snprintf(buffer + used, 48 - used, ".%09" PRId64 "]", rest);
	return buffer;
}

const char *when_pasted(char *buffer, int64_t ns, bool utc, bool with_date, int decimals)
{
	struct tm tm;
	int64_t rest;
	size_t used;

	split(ns, utc, &tm, &rest);
	used = strftime(buffer, 48, with_date ? "%Y-%m-%dT%H:%M:%S" : "%H:%M:%S", &tm);
	snprintf(buffer + used, 48 - used, ".%09" PRId64, rest);
	buffer[used + 1 + (size_t) decimals] = '\0';
	return buffer;
}
