/* SPDX-License-Identifier: MIT */
/* Pages for browsers; see forms.c. Place: serve/. */
#ifndef WHYLATE_SERVE_FORMS_H
#define WHYLATE_SERVE_FORMS_H

#include "tsp/asking.h"

serve_handler page_forms, page_reading, page_style, page_report;

#endif
