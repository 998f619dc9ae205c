/* SPDX-License-Identifier: MIT */
/* Profiles of events as literals. */
#ifndef WHYLATE_TESTS_PROFILE_FEED_H
#define WHYLATE_TESTS_PROFILE_FEED_H

#include "commands/commands.h"
#include "feed.h"
#include "latencies/roots.h"

static inline void set(struct feed *feed, const char *name, const char *value)
{
	GError *error = NULL;

	options_set(&feed->options, name, value, &error);
	g_assert_no_error(error);
}

/* A feed of a profile of `operation`. */
static inline struct feed *profile_feed(int cpus, const char *operation)
{
	struct feed *feed = g_new0(struct feed, 1);

	command_options(&feed->options, &profile_command);
	set(feed, "operation", operation);
	return feed_start(feed, cpus, "6.1.0", 2, 13);
}

static inline struct profiles *profiles_of(struct feed *feed)
{
	GError *error = NULL;
	struct profiles *profiles;

	finish(feed);
	profiles = profiles_new(feed->session, 1, &error);
	g_assert_no_error(error);
	roots_search(profiles);
	return profiles;
}

#endif
