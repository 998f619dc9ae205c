/* SPDX-License-Identifier: MIT */
/* The file `maps` of a small system that is made for this, and what is read of it: which file an
 * address of a process is in. Expectations follow from the lines below and from record/maps.h and
 * samples/recorded_maps.h.
 */
#include "record/maps.h"

#include <glib/gstdio.h>

#include "feed.h"
#include "samples/recorded_maps.h"

#define SHOP                                                                                       \
	"555500000000-555500001000 r--p 00000000 fe:00 11  /srv/shop\n"                            \
	"555500001000-555500003000 r-xp 00001000 fe:00 11  /srv/shop\n"                            \
	"555500003000-555500004000 rw-p 00003000 fe:00 11  /srv/shop\n"
#define HEAP "555500010000-555500020000 rw-p 00000000 00:00 0 [heap]\n"
#define LEAF                                                                                       \
	"7f0000000000-7f0000001000 r--p 00000000 fe:00 12  /srv/lib leaf.so (deleted)\n"           \
	"7f0000001000-7f0000002000 r-xp 00001000 fe:00 12  /srv/lib leaf.so (deleted)\n"

static void put_process(const char *root, const char *pid, const char *maps)
{
	g_autofree char *dir = g_strconcat(root, "/proc/", pid, NULL);
	g_autofree char *file = g_strconcat(dir, "/maps", NULL);

	g_assert_cmpint(g_mkdir_with_parents(dir, 0755), ==, 0);
	g_assert_true(g_file_set_contents(file, maps, -1, NULL));
}

/* "PID:LINES ", in the order of the file. */
static char *processes(const char *root)
{
	g_autofree char *path = g_strconcat(root, "/maps", NULL), *text = NULL;
	g_auto(GStrv) lines = NULL;
	GString *said = g_string_new(NULL);
	int count = -1;

	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	lines = g_strsplit(text, "\n", -1);
	for (char **line = lines + 1; *line; line++) {
		g_auto(GStrv) cells = g_strsplit(*line, "\t", 3);
		bool head = g_str_has_prefix(*line, "process\t");

		if ((head || !**line) && count >= 0)
			g_string_append_printf(said, "%d ", count);
		if (head)
			g_string_append_printf(said, "%s:", cells[1]);
		count = head ? 0 : count + 1;
	}
	return g_string_free(said, FALSE);
}

/* Of the shop's file two lines (its begin, and what runs), of the library's two; the kernel's
 * thread has none. It is read twice, however often it is looked at. When the PID is another's,
 * that is read again. */
static void test_looks(void)
{
	g_autofree char *root = g_dir_make_tmp("maps-XXXXXX", NULL), *said = NULL;
	g_autofree char *here = g_strconcat(root, "/proc/7", NULL);
	g_autofree char *there = g_strconcat(root, "/proc/gone", NULL);
	struct maps *maps;

	put_process(root, "7", SHOP HEAP LEAF);
	put_process(root, "2", "");
	maps = maps_begin(root, root);
	g_assert_nonnull(maps);
	for (int i = 0; i < 3; i++)
		maps_look(maps);
	g_assert_cmpint(g_rename(here, there), ==, 0);
	maps_look(maps);
	g_assert_cmpint(g_rename(there, here), ==, 0);
	put_process(root, "7", SHOP);
	maps_look(maps);
	maps_end(maps);
	said = processes(root);
	g_assert_cmpstr(said, ==, "7:4 7:4 7:2 ");
}

static const char *file_of(struct feed *feed, int32_t tid, uint64_t address, int64_t time)
{
	const struct thread *thread = model_thread(&feed->session->trace.model, life(feed, tid, 0));
	const struct mapped_file *file = mapped_at(feed->session, thread, address, time);
	char *text = file ? g_strdup_printf("%s+%x", file->path, (unsigned) (address - file->base))
			  : g_strdup("-");

	g_ptr_array_add(feed->texts, text);
	return text;
}

/* Process 7 was read at 100 and at 300 (then its library lay elsewhere); 8 is its child, forked at
 * 200 and never read; 9 was born at 250, but its PID was another's at 100. */
static void test_found(void)
{
	FEED(1);
	g_autofree char *root = g_dir_make_tmp("maps-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(root, "maps", NULL);
	static const char text[] =
		"# whylate maps 1: …\n"
		"process\t7\t100\n" SHOP LEAF "process\t9\t100\n" SHOP "process\t7\t300\n" SHOP
		"7f0000101000-7f0000102000 r-xp 00001000 fe:00 12  /srv/lib leaf.so\n";

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	g_free(feed->session->trace.place);
	feed->session->trace.place = g_build_filename(root, "kernel", NULL);
	forks(feed, 5, 0, 1, 7, 7);
	sw(feed, 10, 0, "idle", 0, 0, "shop", 7);
	forks(feed, 200, 0, 7, 8, 8);
	forks(feed, 250, 0, 7, 9, 9);
	sw(feed, 260, 0, "shop", 7, SLEEPS, "shop", 8);
	sw(feed, 270, 0, "shop", 8, SLEEPS, "shop", 9);
	plain(feed, 400, 0, "other");
	finish(feed);
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x555500001234), 50), ==, "/srv/shop+1234");
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x7f0000001020), 150), ==,
			"/srv/lib leaf.so+1020");
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x7f0000101020), 350), ==,
			"/srv/lib leaf.so+1020");
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x555500003010), 150), ==, "-"); /* its data */
	g_assert_cmpstr(file_of(feed, 8, UINT64_C(0x555500002000), 265), ==, "/srv/shop+2000");
	g_assert_true(mapped_is_recorded(feed->session));
}

/* lld puts the file's head and its code into one page, which is mapped twice: its first byte is
 * where the first of them is. Mapped again elsewhere, it begins anew. */
static void test_shared_page(void)
{
	FEED(1);
	g_autofree char *root = g_dir_make_tmp("maps-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(root, "maps", NULL);
	static const char text[] =
		"# whylate maps 1: …\n"
		"process\t7\t100\n"
		"560000000000-560000001000 r--p 00000000 fe:00 14  /srv/lld\n"
		"560000001000-560000002000 r-xp 00000000 fe:00 14  /srv/lld\n"
		"570000000000-570000001000 r-xp 00000000 fe:00 14  /srv/lld\n";

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	g_free(feed->session->trace.place);
	feed->session->trace.place = g_build_filename(root, "kernel", NULL);
	forks(feed, 5, 0, 1, 7, 7);
	sw(feed, 10, 0, "idle", 0, 0, "lld", 7);
	plain(feed, 400, 0, "other");
	finish(feed);
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x560000001890), 150), ==, "/srv/lld+1890");
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x570000000890), 150), ==, "/srv/lld+890");
}

/* After an exec nothing that was read before is of it; what was read after it is, also by a child
 * of that program. */
static void test_exec(void)
{
	FEED(1);
	g_autofree char *root = g_dir_make_tmp("maps-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(root, "maps", NULL);
	struct event exec;
	static const char text[] = "# whylate maps 1: …\n"
				   "process\t7\t100\n" SHOP "process\t7\t300\n"
				   "555600001000-555600002000 r-xp 00001000 fe:00 13  /srv/new\n";

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	g_free(feed->session->trace.place);
	feed->session->trace.place = g_strdup(root);
	feed->session->trace.flow.has_user_stacks = true; /* programs are noted for these alone */
	forks(feed, 5, 0, 1, 7, 7);
	sw(feed, 10, 0, "idle", 0, 0, "shop", 7);
	exec = event_of(feed, 200, 0, "sched_process_exec");
	exec.exec.tid = exec.exec.old_tid = 7;
	exec.exec.filename = "/srv/new";
	send(feed, &exec);
	forks(feed, 320, 0, 7, 8, 8);
	sw(feed, 330, 0, "new", 7, SLEEPS, "new", 8);
	plain(feed, 400, 0, "other");
	finish(feed);
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x555500001234), 150), ==, "/srv/shop+1234");
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x555500001234), 250), ==, "-");
	g_assert_cmpstr(file_of(feed, 7, UINT64_C(0x555600001234), 250), ==, "/srv/new+1234");
	g_assert_cmpstr(file_of(feed, 8, UINT64_C(0x555600001234), 335), ==, "/srv/new+1234");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/maps/looks", test_looks);
	g_test_add_func("/maps/found", test_found);
	g_test_add_func("/maps/shared-page", test_shared_page);
	g_test_add_func("/maps/exec", test_exec);
	return g_test_run();
}
