/* SPDX-License-Identifier: MIT */
/* What a fuzz target is: one function, called with each input (libFuzzer's, or
 * replay.c's). It returns 0; what is wrong ends the process.
 */
#ifndef WHYLATE_FUZZ_TARGET_H
#define WHYLATE_FUZZ_TARGET_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
