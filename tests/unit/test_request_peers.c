/* SPDX-License-Identifier: MIT */
/* Who was asked is named by its address, with who serves there if that was seen; port 53 is a name
 * server's.
 *
 * a waits for an answer in recvfrom from 31 to 60, which its time limit ends; why, the test says.
 */
#include "request_feed.h"

static char *label_of(int port, bool server_seen)
{
	FEED_FROM(feed_requests(PRESET_CLIENT));
	struct user_request request = {0};
	struct path none = {0};
	struct reason reason = reason_of_kind(REASON_UNANSWERED);
	struct piece_namer *namer;
	struct timeline *timeline;
	enum user_change change;
	uint32_t thread, omitted;
	GPtrArray *waits;
	const struct wait *wait;
	struct piece piece;
	GString *label = g_string_new(NULL);
	g_autofree char *object = g_strdup_printf("socket:127.0.0.1:%d", port);

	entry(feed, 30, 0, "recvfrom", 4);
	sw(feed, 31, 0, "a", 5, SLEEPS, "swapper", 0);
	waking(feed, 60, 1, 5);
	sw(feed, 62, 0, "swapper", 0, 0, "a", 5);
	leave(feed, 63, 0, "recvfrom", -11);
	plain(feed, 200, 0, "other");
	thread = life(feed, 5, 0); /* b is 6 */
	timeline = &feed->session->trace.timeline;
	reason.object = intern_id(feed->session->trace.model.names, object);
	if (server_seen)
		reason.thread = life(feed, 6, 0);
	waits = causality_new(feed->session, thread, feed->session->asked.from,
			      feed->session->asked.to, 0, &omitted);
	wait = g_ptr_array_index(waits, 0);
	((struct block *) wait->block)->reason = reason_new(timeline, &reason);
	piece = (struct piece) {.thread = thread,
				.begin = wait->begin,
				.end = wait->end,
				.leaf = wait->leaf,
				.block = wait->block,
				.woken = true,
				.behalf = -1};
	namer = piece_namer_new(feed->session, NULL);
	g_assert_cmpstr(piece_put_down_to(namer, &request, &none, &piece, label, &change), ==,
			"timeout");
	piece_namer_free(namer);
	g_ptr_array_free(waits, TRUE);
	return g_string_free(label, FALSE);
}

static void test_name_server(void)
{
	g_autofree char *seen = label_of(53, true), *unseen = label_of(53, false);

	g_assert_cmpstr(seen, ==, "127.0.0.1:53, a name server (b)");
	g_assert_cmpstr(unseen, ==, "127.0.0.1:53, a name server");
}

static void test_other_port(void)
{
	g_autofree char *seen = label_of(5353, true), *unseen = label_of(8153, false);

	g_assert_cmpstr(seen, ==, "127.0.0.1:5353 (b)");
	g_assert_cmpstr(unseen, ==, "127.0.0.1:8153");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/request-peers/name-server", test_name_server);
	g_test_add_func("/request-peers/other-port", test_other_port);
	return g_test_run();
}
