/* SPDX-License-Identifier: MIT */
/* The metadata of CTF 2: a sequence of JSON texts.
 *
 * Place: metadata/. Fields with a role get the name that CTF 1.8 gives them, so that
 * what reads packets and headers needs to know one set of names. A fragment that
 * cannot be understood is dropped and counted.
 * Source: CTF2-SPEC-2.0, section 5 (metadata stream); RFC 7464 (JSON text sequences).
 */
#ifndef WHYLATE_METADATA_CTF2_H
#define WHYLATE_METADATA_CTF2_H

#include "metadata/types.h"

/* Adds what `bytes` declare. */
void ctf2_parse(const char *bytes, size_t length, struct metadata *metadata);

#endif
