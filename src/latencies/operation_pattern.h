/* SPDX-License-Identifier: MIT */
/* What --operation names: operations by their name, and by what is known of each.
 *
 *   'syscall:getdents64 ret=0'   'syscall:read count>=4096 ret<0'   'syscall:openat ret=ENOENT'
 *    NAME               FIELD OP VALUE, all of them
 *   'syscall:read > function:touch_atime'
 *    OUTER           NAME             inside (operation_path.h)
 *
 * OP is one of = != < <= > >= and & (a bit of VALUE is set); VALUE a whole number, also 0x…, or of
 * `ret` an error's name. Fields are those of the system call's events, what was passed and what
 * came back (timeline/facts.h), and `cpu`.
 *
 * Place: latencies/.
 */
#ifndef WHYLATE_LATENCIES_OPERATION_PATTERN_H
#define WHYLATE_LATENCIES_OPERATION_PATTERN_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum field_test { TEST_IS, TEST_IS_NOT, TEST_LESS, TEST_MOST, TEST_MORE, TEST_LEAST, TEST_BITS };

struct field_condition {
	char *field; /* owned */
	enum field_test test;
	int64_t value;
};

struct operation_pattern {
	char *name; /* owned; may hold * and ? */
	char **outer; /* owned; names of what it is inside of, the outermost first; NULL: any */
	GArray *conditions; /* owned; struct field_condition; NULL: none */
};

/* NULL and an error: a condition is none. */
struct operation_pattern *operation_pattern_new(const char *text, GError **error);
void operation_pattern_free(struct operation_pattern *pattern);
/* The name alone of such a text; free with g_free(). */
char *operation_pattern_name(const char *text);
/* The names in front of it, NULL: none; free with g_strfreev(). */
char **operation_pattern_outer(const char *text);
bool field_condition_holds(const struct field_condition *condition, int64_t value);

#endif
