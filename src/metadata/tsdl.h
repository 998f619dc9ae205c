/* SPDX-License-Identifier: MIT */
/* The metadata language of CTF 1.8 (TSDL), as LTTng and others write it.
 *
 * Place: metadata/. Text in, struct metadata out. A block that cannot be understood
 * is dropped, counted, and what follows is read on: an event class less is worth
 * more than no trace. Source: CTF 1.8.3, section 7 and appendix A.
 */
#ifndef WHYLATE_METADATA_TSDL_H
#define WHYLATE_METADATA_TSDL_H

#include "metadata/types.h"

/* Adds what `text` (`length` bytes, any) declares. */
void tsdl_parse(const char *text, size_t length, struct metadata *metadata);

#endif
