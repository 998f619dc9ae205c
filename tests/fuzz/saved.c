/* SPDX-License-Identifier: MIT */
/* libFuzzer target: any file for --compare and --resume, against a small session.
 *
 *   input: what is asked (2 bytes) · the file
 *
 * FUZZ_SAVE=FILE keeps what --save writes, for seeds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "commands/commands.h"
#include "file.h"
#include "reports.h"
#include "target.h"

#include "../unit/feed.h"

enum { COMPARE = 1, RESUME = 2, FORCE = 4, JSON = 8, SAVE = 16, FINE = 32 };

/* Reads that take 3, 40 or 500 ns, one of them blocked; some of a second kind. */
static struct feed *small_feed(uint8_t asked, uint8_t per, const char *path)
{
	struct feed *feed = g_new0(struct feed, 1);
	struct profile_options *profile = &feed->options.profile;
	int64_t time = 10;

	command_options(&feed->options, &profile_command);
	g_ptr_array_add(profile->operations, g_strdup("*"));
	profile->per = (enum per)(per % 5);
	profile->force = asked & FORCE;
	profile->compare = asked & COMPARE ? g_strdup(path) : NULL;
	profile->resume = asked & RESUME ? g_strdup(path) : NULL;
	profile->save = asked & SAVE ? g_strdup(getenv("FUZZ_SAVE") ?: "/dev/null") : NULL;
	profile->resolution = asked & FINE ? 2 : 0;
	feed_start(feed, 1, "6.1.0", 2, 13);
	feed->options.limit = per & 128 ? 1 : 0;
	sw(feed, 1, 0, "idle", 0, 0, "a", 5);
	for (int i = 0; i < 12; i++) {
		const char *call = i % 4 ? "read" : "write";

		entry(feed, time, 0, call, 3);
		if (i % 3 == 2) {
			sw(feed, time + 10, 0, "a", 5, SLEEPS, "idle", 0);
			irq(feed, time + 300, 0, "irq_handler_entry", 7);
			waking(feed, time + 310, 0, 5);
			irq(feed, time + 320, 0, "irq_handler_exit", 7);
			sw(feed, time + 400, 0, "idle", 0, 0, "a", 5);
		}
		time += i % 3 == 0 ? 3 : i % 3 == 1 ? 40 : 500;
		leave(feed, time, 0, call, 1);
		time += 5;
	}
	finish(feed);
	return feed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t asked = size > 0 ? data[0] : 0, per = size > 1 ? data[1] : 0;
	int fd = file_of(data + MIN(size, 2), size - MIN(size, 2));
	struct feed *feed = small_feed(asked, per, file_path(fd));

	check_report(feed->session, asked & JSON ? FORMAT_JSON : FORMAT_TEXT, false);
	feed_free(feed);
	file_close(fd);
	return 0;
}
