/* SPDX-License-Identifier: MIT */
/* What the model's records are made of; see util/records.h. */
#ifndef WHYLATE_MODEL_MODEL_RECORDS_H
#define WHYLATE_MODEL_MODEL_RECORDS_H

#include "model/model.h"
#include "util/records.h"

extern const struct record model_record, host_record, cpu_record, thread_record;

#endif
