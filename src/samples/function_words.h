/* SPDX-License-Identifier: MIT */
/* Functions that samples show, for people: "61 ± 9 % in burn (work.c:29), called from load_theme".
 *
 * Part of samples/.
 */
#ifndef WHYLATE_SAMPLES_FUNCTION_WORDS_H
#define WHYLATE_SAMPLES_FUNCTION_WORDS_H

#include "samples/function_sums.h"

/* Those that ran most, with who called them; nothing without samples. */
void append_functions(GString *text, const struct functions_sampled *sampled);
/* So few that shares of them say nothing; or none. */
bool functions_are_few(const struct functions_sampled *sampled);
/* "burn (work.c:29)", "clear_page_erms [kernel]" */
void append_function(GString *text, const struct code_function *function, uint32_t line);

#endif
