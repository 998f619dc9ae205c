/* SPDX-License-Identifier: MIT */
/* Requests as a page for browsers. Place: requests/. */
#ifndef WHYLATE_REQUESTS_REQUESTS_PAGE_H
#define WHYLATE_REQUESTS_REQUESTS_PAGE_H

#include "requests/requests_columns.h"

void requests_page(const struct requests_report *made, struct output *output);

#endif
