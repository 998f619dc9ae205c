/* SPDX-License-Identifier: MIT */
/* A 64-bit checksum that keeps up with memory: whether a file is as it was written.
 *
 * Part of util/. Four lanes, each a chain of steps that can be undone: bytes changed in one
 * word always change its lane. It finds damage, not forgery: who may write the file can
 * make the sum as well.
 */
#ifndef WHYLATE_UTIL_DIGEST_H
#define WHYLATE_UTIL_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#define DIGEST_UNIT 32 /* bytes */

struct digest {
	uint64_t lanes[4];
};

void digest_init(struct digest *digest);
/* `size` in whole units. */
void digest_add(struct digest *digest, const void *bytes, size_t size);
uint64_t digest_end(const struct digest *digest);
/* All of that at once, of any size. */
uint64_t digest_of(const void *bytes, size_t size);

#endif
