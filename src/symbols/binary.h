/* SPDX-License-Identifier: MIT */
/* A program or library that may be hostile, and what lies at its addresses.
 *
 * Part of symbols/. code.h says what is known of an address, and from where. Here that is asked of
 * a child process (confined.h), since elfutils is not made for files that want to break it: a
 * file on which it crashes or hangs is one that cannot be read. Answers are kept, so a child is
 * asked once for each address.
 */
#ifndef WHYLATE_SYMBOLS_BINARY_H
#define WHYLATE_SYMBOLS_BINARY_H

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/code.h"
#include "symbols/sites.h"

#define BINARY_TIMEOUT 30000 /* ms for an answer: gigabytes of DWARF take some seconds */
#define BINARY_ADDRESSES_MAX 500000 /* that are looked up in one; nothing is known of more */

struct binary;

/* Opens it, as code_open() does; never NULL. `debug` as there. */
struct binary *binary_open(const char *path, const uint8_t *id, size_t id_length,
			   const char *debug);
void binary_free(struct binary *binary);

/* Whether it can answer; not any more after an address at which reading it went wrong. */
bool binary_is_open(const struct binary *binary);
/* CODE_UNREADABLE also when elfutils failed on it, at whatever address. */
enum code_trouble binary_trouble(const struct binary *binary);
/* The same for people, "is empty"; NULL: no trouble. */
const char *binary_why(const struct binary *binary);
const char *binary_path(const struct binary *binary);

/* Owned by `binary`; NULL: nothing is known of it. */
const struct code *binary_at(struct binary *binary, uint64_t address);

/* What is before a return address: site_before(). */
struct site binary_site(struct binary *binary, uint64_t address);
/* Where the program must lie: fit_base(). At most FIT_ADDRESSES of each kind are looked at. */
struct fit binary_fit(struct binary *binary, const uint64_t *ran, size_t ran_count,
		      const uint64_t *returns, size_t returns_count);

/* Ends the child until there is another question. */
void binary_rest(struct binary *binary);
/* There is a child. */
bool binary_is_awake(const struct binary *binary);

#endif
