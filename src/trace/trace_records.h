/* SPDX-License-Identifier: MIT */
/* What a trace is made of: the root of all tables; see util/record.h. */
#ifndef WHYLATE_TRACE_TRACE_RECORDS_H
#define WHYLATE_TRACE_TRACE_RECORDS_H

#include "util/record.h"

extern const struct record trace_record;

#endif
