/* SPDX-License-Identifier: MIT */
/* Functions that samples show, for people: "61 ± 9 % of its own code in burn (work.c:29), called
 * from load_theme". One function's share differs from report to report, as they are of different
 * things: so each says of what, in the same words everywhere.
 *
 * Part of samples/.
 */
#ifndef WHYLATE_SAMPLES_FUNCTION_WORDS_H
#define WHYLATE_SAMPLES_FUNCTION_WORDS_H

#include "samples/function_sums.h"

/* What the shares of a state's samples are of: "its own code", "that". */
const char *sampled_whole(uint32_t leaf);
/* Those that ran most, with who called them, as shares of `whole`; nothing without samples. */
void append_functions(GString *text, const struct functions_sampled *sampled, const char *whole);
/* So few that shares of them say nothing; or none. */
bool functions_are_few(const struct functions_sampled *sampled);
/* "burn (work.c:29)", "clear_page_erms [kernel]" */
void append_function(GString *text, const struct code_function *function, uint32_t line);

#endif
