/* SPDX-License-Identifier: MIT */
/* What the timeline's records are made of; see util/records.h. */
#ifndef WHYLATE_TIMELINE_TIMELINE_RECORDS_H
#define WHYLATE_TIMELINE_TIMELINE_RECORDS_H

#include "timeline/timeline.h"
#include "util/records.h"

extern const struct record interval_record, block_record, wake_detail_record, reason_record,
	run_record, hold_record, operation_record, fact_place_record, fact_word_record,
	packet_record, exchange_record, channel_end_record;
extern const struct record timeline_record, open_frame_record, callpaths_record, stack_node_record;

/* Of what each store is made. */
extern const struct record *const store_records[TIMELINE_STORES];

#endif
