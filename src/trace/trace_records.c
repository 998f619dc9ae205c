/* SPDX-License-Identifier: MIT */
/* The table of a trace; see util/records.h. */
#include "trace/trace_records.h"

#include "flow/flow_records.h"
#include "model/model_records.h"
#include "timeline/timeline_records.h"
#include "trace/trace.h"
#include "util/record_rows.h"

#define RECORD_TYPE struct damage
RECORD(damage, PATH(file), TEXT(what), NUMBER(bytes), NUMBER(total));
#undef RECORD_TYPE

/* `begin` and `end` are of all hosts together. No image is kept of a trace that was stopped. */
#define RECORD_TYPE struct trace
RECORD(trace, IN_PLACE(model, model), IN_PLACE(timeline, timeline), IN_PLACE(flow, flow),
       OWN(processes), OWN(sink), NUMBER(begin), NUMBER(end), NUMBER(events), NUMBERS(kinds),
       CONTAINER(class_names), NUMBER(has_tids), DIRECTORY(place), CONTAINER(places), OWN(stopped),
       ARRAY(damages, damage), NUMBER(user_traces), NUMBER(user_apart), NUMBER(user_events),
       TEXTS(user_damages), OWN(names_gathered), OWN(operations_gathered), OWN(restored),
       OWN(passed_until), OWN(passed_from));
#undef RECORD_TYPE
