/* SPDX-License-Identifier: MIT */
/* Values of a diff, for sentences and tables; see sides.h. */
#include "diff/sides.h"

#include <math.h>
#include <string.h>

#include "util/when.h"

char *diff_value_text(const struct diff *diff, double value, bool sign)
{
	enum metric metric = diff->sides[0].session->asked.options->requests.metric;
	const char *unit = metric_unit(metric), *before = value < 0 ? "-" : sign ? "+" : "";
	char ns[32];

	if (strcmp(unit, "ns") == 0)
		return g_strconcat(before, when_duration(ns, llround(fabs(value))), NULL);
	if (strcmp(unit, "bytes") == 0)
		return g_strdup_printf("%s%.1f kB", before, fabs(value) / 1000);
	return g_strdup_printf("%s%.1f", before, fabs(value));
}

bool difference_is_chance(const struct difference *at)
{
	return at->error >= 0 && !at->significant;
}

bool call_on_both(const struct call_difference *call)
{
	return call->name[0] && call->name[1];
}
