/* SPDX-License-Identifier: MIT */
/* Profiles and searches of an earlier run, from the JSON that --save wrote:
 * compared with this trace's, or gone on with.
 *
 * Place: profile/. Source: DARC, section 3.4 (resuming; Earth Mover's
 * Distance between the old profile and the new one).
 */
#ifndef WHYLATE_PROFILE_SAVED_H
#define WHYLATE_PROFILE_SAVED_H

#include <jansson.h>

#include "latencies/profile.h"

struct saved;

/* Errors are WHYLATE_ERROR_USAGE, with the option's name in them. */
struct saved *saved_new(const char *option, const char *path, GError **error);
void saved_free(struct saved *saved);
/* Refuses where its profiles were made otherwise than the options ask. */
bool saved_check_options(const struct saved *saved, const struct options *options, GError **error);
guint saved_resolution(const struct saved *saved);
/* What --thread and the like left of the trace, as text; free with g_free(). */
char *saved_filters(const struct options *options);
/* What to say where that was another when the file was saved; NULL: the same.
 * Free with g_free(). */
char *saved_other_filters(const struct saved *saved, const struct options *options);
/* The recordings in `saved` (may be NULL) and this one: a new reference. */
json_t *saved_recordings(const struct saved *saved, const struct session *session);

/* One operation here and there. */
struct compared {
	const char *operation, *scope; /* borrowed from profiles or saved */
	enum per per;
	double distance, noise;        /* octaves; -1: only one of them has it */
	double slower;                 /* … here than there, on average */
	uint64_t count, saved_count;
	bool changed;                  /* distance above the threshold and the noise */
};

/* struct compared: what changed, then the others, largest distance first, then
 * what only one side has. The file's resolution must be `profiles`'. */
GArray *saved_compare(const struct saved *saved, const struct profiles *profiles);

/* The saved counts of that profile, by bucket, into `counts`; false: it has none. */
bool saved_counts(const struct saved *saved, const struct profile *profile, uint64_t *counts,
		  guint length);

/* Makes `profiles` continue the saved searches: their counts and trees are
 * added, their peaks kept. Call before roots_search(). Refuses where an
 * operation's behaviour changed, unless forced. */
bool saved_resume(const struct saved *saved, struct profiles *profiles, GError **error);

#endif
