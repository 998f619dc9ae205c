/* SPDX-License-Identifier: MIT */
/* The programs and libraries of a trace: where their files are here, and which functions lie at
 * which addresses of them.
 *
 * Place: symbols/, over symbols/binary.h. A trace says which file was loaded (path, build-id) and
 * where. It is sought, and the first one taken that is of that build:
 *
 *   DIR + its path, DIR/its name       each DIR of --binary-path
 *   its name, bin/its name             beside the trace, as far up as kallsyms
 *   its path
 *   .build-id/ab/cdef.debug            in each DIR, DIR/usr/lib/debug, /usr/lib/debug: the debug
 *                                      file alone has the names too
 *
 * Without a build-id in the trace, files are compared by nothing: only those of --binary-path and
 * beside the trace are taken then, with a note.
 */
#ifndef WHYLATE_SYMBOLS_BINARIES_H
#define WHYLATE_SYMBOLS_BINARIES_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/code.h"
#include "symbols/sites.h"

#define BINARIES_AWAKE 8 /* that are kept open in their processes */

enum binary_state {
	BINARY_NAMED,     /* functions have names, or most */
	BINARY_UNCHECKED, /* … but the trace has no build-id to compare */
	BINARY_EXPORTS,   /* only the functions it exports have names */
	BINARY_MISSING,
	BINARY_OTHER,     /* only other builds were found */
	BINARY_STRIPPED,
	BINARY_UNREADABLE,
};

/* One for each binary of which something is to be said. */
struct binary_note {
	const char *path;        /* borrowed; as the trace has it */
	enum binary_state state;
	char *text;              /* owned; whole sentences, with the path */
};

struct binaries;

/* `given`: directories (strings), may be NULL. `beside`: the directory of the trace's files, may
 * be NULL. Nothing is read before it is asked for. */
struct binaries *binaries_new(const GPtrArray *given, const char *beside);
void binaries_free(struct binaries *binaries);

/* What lies `offset` bytes after the load address of the file that was at `path` and had this
 * build-id (length 0: not known). NULL: not known, binaries_notes() says why. Owned by
 * `binaries`. */
const struct code *binaries_code(struct binaries *binaries, const char *path, const uint8_t *id,
				 size_t id_length, uint64_t offset);

/* The name of the function (of the innermost inlined one) at `address` of the file loaded at
 * `base`, or "proxyapp+0x1234". Owned by `binaries`. */
const char *binaries_function(struct binaries *binaries, const char *path, const uint8_t *id,
			      size_t id_length, uint64_t base, uint64_t address);

/* What is before a return address, and where a program must lie: sites.h. SITE_UNKNOWN and
 * FIT_NONE also where there is no such file. */
struct site binaries_site(struct binaries *binaries, const char *path, const uint8_t *id,
			  size_t id_length, uint64_t offset);
struct fit binaries_fit(struct binaries *binaries, const char *path, const uint64_t *ran,
			size_t ran_count, const uint64_t *returns, size_t returns_count);
/* There is a file of it that can be read. */
bool binaries_has(struct binaries *binaries, const char *path, const uint8_t *id, size_t id_length);

/* An address that is in no binary, "0x7f…". Owned by `binaries`. */
const char *binaries_address(struct binaries *binaries, uint64_t address);

/* struct binary_note, by path, of the binaries that were asked for; free with
 * g_ptr_array_free(). */
GPtrArray *binaries_notes(const struct binaries *binaries);

#endif
