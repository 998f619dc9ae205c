/* SPDX-License-Identifier: MIT */
/* Which traces the user named: the key of what is kept of them; cache.h says what is in it.
 *
 * Place: input/.
 */
#ifndef WHYLATE_INPUT_IDENTITY_H
#define WHYLATE_INPUT_IDENTITY_H

#include "run/options.h"
#include "trace/image.h"

struct identity {
	uint8_t key[IMAGE_KEY];
	GPtrArray *directories; /* owned strings: those of traces */
	uint64_t bytes;         /* of all stream files */
	int64_t changed;        /* ns since 1970: the newest of them */
};

/* What the paths hold now. False: it cannot be said. */
bool identity_find(struct identity *identity, const struct options *options, GPtrArray *paths);
void identity_clear(struct identity *identity);

/* The same for copies of a trace, wherever they lie and whoever reads them: of names, sizes and
 * both ends of its files, in hexadecimal digits. A UUID would not do: all snapshots of a session
 * have the same one, and the same sizes once buffers are full. NULL: there is nothing that can be
 * read. Free with g_free(). */
char *identity_of_content(const char *path);

#endif
