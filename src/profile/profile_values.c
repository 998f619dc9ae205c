/* SPDX-License-Identifier: MIT */
/* What all that is told of a profile has in common: what it is of, its counts, shares. */
#include "profile/profile_report.h"

char *profile_title(const struct profile *profile)
{
	return g_strconcat(profile->operation, profile->label ? " (" : "",
			   profile->label ? profile->label : "", profile->label ? ")" : "",
			   *profile->scope ? ", " : "", profile->scope, NULL);
}

const char *profile_percent(char *buffer, int64_t part, int64_t whole)
{
	double share = whole > 0 ? 100.0 * (double) part / (double) whole : 0;

	if (share > 0 && share < 0.05)
		g_strlcpy(buffer, "<0.1 %", 16);
	else
		g_snprintf(buffer, 16, share > 0 && share < 0.95 ? "%.1f %%" : "%.0f %%", share);
	return buffer;
}

/* --- JSON ---------------------------------------------------------------------------------- */

guint profile_put_buckets(const struct report *report, const struct buckets *buckets,
			  const uint64_t *counts)
{
	for (guint b = 0; b < buckets->count; b++) {
		if (!counts[b])
			continue;
		json_begin(report->output, NULL, '{', LINES_NOT);
		json_put_whole(report->output, "bucket", b);
		json_put_whole(report->output, "from_ns", buckets->from[b]);
		json_put_whole(report->output, "to_ns", buckets->from[b + 1]);
		json_put_whole(report->output, "count", (int64_t) counts[b]);
		json_end(report->output, '}');
	}
	return 0;
}

/* The one member of `scope`. */
void profile_put_scope(const struct report *report, enum per per, const char *scope)
{
	static const char *const keys[] = {"", "thread", "process", "resource", "cpu"};

	if (per != PER_NOTHING)
		json_put_text(report->output, keys[per], scope);
}

static void write_scope(const struct report *report, const void *row)
{
	const struct profile *profile = row;

	profile_put_scope(report, profile->per, profile->scope);
}

const struct column profile_scope_columns[] = {{NULL, COLUMN_WRITTEN, .write = write_scope}, {0}};
