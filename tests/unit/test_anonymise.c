/* SPDX-License-Identifier: MIT */
/* What stands for a text: by the rules of anonymise.h, one by one. Numbers are given in order of
 * asking, so they are known here.
 */
#include "run/anonymise.h"

#include <string.h>
#include <unistd.h>

/* In this order, by one anonymiser without a key; NULL: it stays. */
static void test_keys(void)
{
	static const struct {
		const char *text, *instead;
	} keys[] = {
		{"file:/etc/nginx/nginx.conf", "file:/etc/name-1/name-2"},
		{"file:/var/log/nginx", "file:/var/name-3/name-1"},
		{"/usr/sbin/nginx", "/usr/name-4/name-1"},
		{"file:/proc/123/maps", "file:/proc/123/name-5"},
		{"file:relative/etc", "file:name-6/name-7"}, /* not at the top */
		{"file:/usr/bin/lttng-sessiond", "file:/usr/name-8/lttng-sessiond"},
		{"file:anon_inode:[eventpoll]", NULL},
		{"lock:/applock", "lock:/name-9"},
		{"socket:10.0.0.1:80", "socket:addr-1:80"},
		{"10.0.0.1:8080", "addr-1:8080"},
		{"10.0.0.1", "addr-1"},
		{"socket:[2001:db8::1]:443", "socket:addr-2:443"},
		{"2001:db8::1", "addr-2"},
		{"socket:127.0.0.1:80", NULL},
		{"socket:[::1]:80", NULL},
		{"socket:0.0.0.0:80", NULL},
		{"socket:[4711]", NULL},
		{"socket:pair#3", NULL},
		{"socket:unix", NULL},
		{"pipe:#1", NULL},
		{"futex:0x7f00", NULL},
		{"device:vda", NULL},
		{"child:make", "child:thread-1"},
		{"child:any", NULL},
		{"read", NULL},
		{"0xffff", NULL},
		{"254:0", NULL},
	};
	struct anonymiser *anonymiser = anonymiser_new(NULL, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
		g_autofree char *instead = anonymous_key(anonymiser, keys[i].text);

		g_assert_cmpstr(instead, ==, keys[i].instead);
	}
	/* kinds have numbers of their own; again is the same */
	g_assert_cmpstr(anonymous_text(anonymiser, ANONYMOUS_THREAD, "nginx"), ==, "thread-2");
	g_assert_cmpstr(anonymous_text(anonymiser, ANONYMOUS_THREAD, "make"), ==, "thread-1");
	g_assert_cmpstr(anonymous_text(anonymiser, ANONYMOUS_HOST, "nginx"), ==, "host-1");
	anonymiser_free(anonymiser);
}

static char *key_file(const char *secret)
{
	char *path = NULL;
	int fd = g_file_open_tmp("whylate-key-XXXXXX", &path, NULL);

	g_assert_cmpint(write(fd, secret, strlen(secret)), ==, (ssize_t) strlen(secret));
	close(fd);
	return path;
}

/* A secret decides: the same everywhere, not that of another; an empty one is none. */
static void test_secret(void)
{
	g_autofree char *one = key_file("one"), *two = key_file("two"), *none = key_file("");
	struct anonymiser *a = anonymiser_new(one, NULL), *b = anonymiser_new(one, NULL);
	struct anonymiser *c = anonymiser_new(two, NULL);
	g_autoptr(GError) error = NULL;

	anonymous_text(a, ANONYMOUS_THREAD, "something before");
	g_assert_cmpstr(anonymous_text(a, ANONYMOUS_THREAD, "nginx"), ==,
			anonymous_text(b, ANONYMOUS_THREAD, "nginx"));
	g_assert_cmpstr(anonymous_text(a, ANONYMOUS_THREAD, "nginx"), !=,
			anonymous_text(c, ANONYMOUS_THREAD, "nginx"));
	g_assert_cmpstr(anonymous_text(a, ANONYMOUS_THREAD, "nginx"), !=,
			anonymous_text(a, ANONYMOUS_THREAD, "nginy"));
	g_assert_null(anonymiser_new(none, &error));
	g_assert_nonnull(error);
	anonymiser_free(a);
	anonymiser_free(b);
	anonymiser_free(c);
	unlink(one);
	unlink(two);
	unlink(none);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/anonymise/keys", test_keys);
	g_test_add_func("/anonymise/secret", test_secret);
	return g_test_run();
}
