/* SPDX-License-Identifier: MIT */
/* What served pages ask for; see shown.c. Place: serve/. */
#ifndef WHYLATE_SERVE_SHOWN_H
#define WHYLATE_SERVE_SHOWN_H

#include "tsp/asking.h"

serve_handler page_whole, shown_states, shown_lanes, shown_steps, shown_search;

#endif
