/* SPDX-License-Identifier: MIT */
/* A trace's file `metadata`: packets taken off, CTF 1.8 or CTF 2 read.
 *
 * Place: metadata/. Damage costs what it hits: a packet cut short gives what there
 * is of it, bytes that are no packet are passed over to the next one.
 * Source: CTF 1.8.3, section 7.1; CTF 2 (CTF2-SPEC-2.0), section 5.
 */
#ifndef WHYLATE_METADATA_METAFILE_H
#define WHYLATE_METADATA_METAFILE_H

#include "metadata/types.h"

/* NULL and `error` (WHYLATE_ERROR_NO_TRACE) if the file cannot be read. What is
 * wrong with what it says is counted in the result. */
struct metadata *metadata_read(const char *path, GError **error);
/* The same of bytes in memory; never fails. */
struct metadata *metadata_of(const char *bytes, size_t length);

#endif
