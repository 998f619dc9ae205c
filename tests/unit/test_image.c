/* SPDX-License-Identifier: MIT */
/* What is kept of a session: the file and its checksum, the stores that are mapped from it,
 * and that no content of it is followed out of its bounds when it is taken.
 *
 * That reports come out the same is tests/cache.t's to show, on recorded traces.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/image.h"
#include "run/finish.h"
#include "run/feed.h"
#include "locks.h"

static const struct image_of *of_nothing(void)
{
	static struct image_of of = {.key = {1, 2, 3}};

	if (!of.directories)
		of.directories = g_ptr_array_new();
	return &of;
}

static bool always(void)
{
	return true;
}

static int new_file(void)
{
	int fd = memfd_create("image", MFD_CLOEXEC);

	g_assert_cmpint(fd, >=, 0);
	return fd;
}

static void wait_in_turn(struct feed *feed)
{
	futex(feed, 10, 1, L, WAIT, 2);
	sleeps(feed, 12, 1);
	futex(feed, 20, 2, L, WAIT, 2);
	sleeps(feed, 22, 2);
	wakes(feed, 50, 3, L, 6);
	comes_back(feed, 60, 1);
	done(feed, 65, 1, 0);
	wakes(feed, 90, 1, L, 7);
	comes_back(feed, 99, 2);
	done(feed, 100, 2, 0);
	plain(feed, 110, 0, "other");
}

/* The session of a feed is replaced by what was kept of it. */
static void keep_and_take(struct feed *feed, int fd)
{
	GError *error = NULL;

	g_assert_true(session_gather(feed->session, &error));
	g_assert_true(image_write(&feed->session->trace, of_nothing(), fd, always));
	session_free(feed->session);
	feed->session = session_new(&feed->options);
	g_assert_true(image_load(&feed->session->trace, of_nothing(), fd));
}

/* As test_locks.c, test_in_turn: the same holders, by hand from locks/locks.h. */
static void test_taken(void)
{
	FEED_FROM(four_threads());
	int fd = new_file();

	wait_in_turn(feed);
	keep_and_take(feed, fd);
	g_assert_cmpstr(held(feed, 7, 0), ==, "mutex: 8 22-50, 6 65-90");
	g_assert_cmpstr(states(feed, 6), ==,
			"1 interrupted/wait-cpu, 5 working/user, 10 working/syscall:futex, "
			"12 blocked/syscall:futex, 51 interrupted/wait-cpu, "
			"60 working/syscall:futex, "
			"65 working/user, 90 working/syscall:futex, 92 working/user, 110");
	close(fd);
}

/* Another key, another purpose, a file that is still empty. */
static void test_not_taken(void)
{
	FEED_FROM(four_threads());
	struct image_of other = *of_nothing();
	int fd = new_file(), empty = new_file();

	wait_in_turn(feed);
	keep_and_take(feed, fd);
	session_free(feed->session);
	feed->session = session_new(&feed->options);
	other.key[IMAGE_KEY - 1] ^= 1;
	g_assert_false(image_load(&feed->session->trace, &other, fd));
	g_assert_false(image_load(&feed->session->trace, of_nothing(), empty));
	feed->session->trace.flow.operations_wanted = 1;
	g_assert_false(image_load(&feed->session->trace, of_nothing(), fd));
	session_free(feed->session);
	feed->session = session_new(&feed->options);
	g_assert_true(image_load(&feed->session->trace, of_nothing(), fd));
	close(fd);
	close(empty);
}

/* The sum is made right again after a byte was changed: nothing but the lengths in the
 * file protects the reading of it, and they do. */
static void test_forged(void)
{
	FEED_FROM(four_threads());
	const int bytes = g_getenv("WHYLATE_PART") ? 1000 : 4000; /* others each time */
	struct image_head head;
	int fd = new_file(), taken = 0;
	g_autofree char *rest = NULL;
	size_t size;

	wait_in_turn(feed);
	keep_and_take(feed, fd);
	g_assert_true(image_is_sound(fd, of_nothing()->key, &head));
	size = (size_t) head.size - IMAGE_ALIGN;
	rest = g_malloc(size);
	g_assert_cmpint(pread(fd, rest, size, IMAGE_ALIGN), ==, size);
	for (int i = 0; i < bytes; i++) {
		size_t at = (size_t) g_test_rand_int_range((gint32) (head.rest - IMAGE_ALIGN),
							   (gint32) size);
		char was = rest[at];
		struct session *session = session_new(&feed->options);
		struct digest digest;

		rest[at] = (char) g_test_rand_int();
		digest_init(&digest);
		digest_add(&digest, rest, size);
		head.digest = image_head_digest(&head, &digest);
		g_assert_cmpint(pwrite(fd, &head, sizeof head, 0), ==, sizeof head);
		g_assert_cmpint(pwrite(fd, rest + at, 1, (off_t) (IMAGE_ALIGN + at)), ==, 1);
		taken += image_load(&session->trace, of_nothing(), fd);
		session_free(session);
		rest[at] = was;
		g_assert_cmpint(pwrite(fd, rest + at, 1, (off_t) (IMAGE_ALIGN + at)), ==, 1);
	}
	g_assert_cmpint(taken, >, 0);     /* a time or a name that is another one */
	g_assert_cmpint(taken, <, bytes); /* a length that is too long */
	close(fd);
}

/* Every single bit counts, and every length. */
static void test_digest(void)
{
	uint8_t bytes[100] = {0};
	uint64_t sum = digest_of(bytes, sizeof bytes);

	for (size_t i = 0; i < sizeof bytes * 8; i++) {
		bytes[i / 8] ^= (uint8_t) (1 << i % 8);
		g_assert_cmpuint(digest_of(bytes, sizeof bytes), !=, sum);
		bytes[i / 8] ^= (uint8_t) (1 << i % 8);
	}
	for (size_t i = 0; i < sizeof bytes; i++)
		g_assert_cmpuint(digest_of(bytes, i), !=, sum);
	g_assert_cmpuint(digest_of(bytes, sizeof bytes), ==, sum);
}

/* Records from a file, and more behind them that stay what they are when all that can be
 * read again leaves memory. */
static void test_mapped(void)
{
	enum { COUNT = PAGES_SEGMENT * 2 + 1000 };
	g_autofree uint64_t *numbers = g_new(uint64_t, COUNT);
	int fd = new_file();

	for (uint64_t i = 0; i < COUNT; i++)
		numbers[i] = i * 3;
	g_assert_cmpint(pwrite(fd, numbers, COUNT * sizeof *numbers, 65536), ==,
			COUNT * sizeof *numbers);
	for (int grows = 0; grows < 2; grows++) {
		struct pages pages;

		pages_init(&pages, sizeof *numbers, 0);
		g_assert_true(pages_map(&pages, fd, 65536, COUNT, grows));
		g_assert_cmpuint(pages.used, ==, COUNT);
		for (uint32_t i = COUNT; grows && i < COUNT + 2 * PAGES_SEGMENT; i++) {
			g_assert_cmpuint(pages_reserve(&pages, 1), ==, i);
			*(uint64_t *) pages_at(&pages, i) = i * UINT64_C(3);
		}
		pages_let_go(&pages);
		for (uint32_t i = 0; i < pages.used; i++)
			g_assert_cmpuint(*(uint64_t *) pages_at(&pages, i), ==, i * UINT64_C(3));
		pages_clear(&pages);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/image/taken", test_taken);
	g_test_add_func("/image/not-taken", test_not_taken);
	g_test_add_func("/image/forged", test_forged);
	g_test_add_func("/image/digest", test_digest);
	g_test_add_func("/image/mapped", test_mapped);
	return g_test_run();
}
