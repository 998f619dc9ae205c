/* SPDX-License-Identifier: MIT */
/* What flow's own records are made of; see util/records.h. */
#ifndef WHYLATE_FLOW_FLOW_RECORDS_H
#define WHYLATE_FLOW_FLOW_RECORDS_H

#include "util/records.h"

extern const struct record flow_record;

#endif
