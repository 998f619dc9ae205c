/* SPDX-License-Identifier: MIT */
/* See distance.h: Levenshtein, one row at a time. */
#include "util/distance.h"

#include <glib.h>
#include <string.h>

unsigned text_distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b);
	g_autofree unsigned *row = g_new(unsigned, m + 1);

	for (size_t j = 0; j <= m; j++)
		row[j] = (unsigned) j;
	for (size_t i = 1; i <= n; i++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned) i;
		for (size_t j = 1; j <= m; j++) {
			unsigned cost = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = MIN(cost, MIN(row[j], row[j - 1]) + 1);
		}
	}
	return row[m];
}
