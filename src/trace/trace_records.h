/* SPDX-License-Identifier: MIT */
/* What a trace is made of: the root of all tables; see util/records.h. */
#ifndef WHYLATE_TRACE_TRACE_RECORDS_H
#define WHYLATE_TRACE_TRACE_RECORDS_H

#include "util/records.h"

extern const struct record trace_record;

#endif
