/* SPDX-License-Identifier: MIT */
/* The tables of the timeline's records. */
#include "timeline/timeline_records.h"

#include "timeline/callstack.h"
#include "timeline/holds.h"
#include "timeline/counts.h"
#include "timeline/sample.h"
#include "util/record_rows.h"

/* Stored packed (timeline.c): the times of a chunk from its base on. Who walks a track reads
 * `ref` by the leaf: of a blocked interval it is a struct block. */
#define RECORD_TYPE struct interval
RECORD(interval, NUMBER(delta), NUMBER(leaf), NUMBER(ref));
#undef RECORD_TYPE

#define RECORD_TYPE struct block
RECORD(block, NUMBER(stack), NAME(resource), NAME(fault), THREAD(child), NUMBER(fd), THREAD(waker),
       NUMBER(waker_stack), NUMBER(context), NAME(label), REF(detail, STORE_DETAILS), NUMBER(cpu),
       NUMBER(kind), NUMBER(why), NUMBER(operation), BITS_AFTER(operation, 1),
       REF(lock, STORE_LOCKS), REF(reason, STORE_REASONS), NAME(sent), NUMBER(sent_fd),
       NUMBER(sent_ago), NUMBER(callpaths), NUMBER(timer), REF(begun, STORE_DETAILS),
       BITS_AFTER(begun, 4));
#undef RECORD_TYPE

#define RECORD_TYPE struct wake_detail
RECORD(wake_detail, NUMBER(kind), NUMBER(flags), NUMBER(threads), THREAD(thread), NAME(text),
       NAME(call), THREAD(behalf), NAME(origin), REF(reason, STORE_REASONS),
       REF_WHEN(behind, STORE_DETAILS, kind, DETAIL_WORK), /* or `completed` */
       NUMBER(bios), NUMBER(sectors), TIME_OR_0(begin), TIME_OR_0(asked), NUMBER(requested),
       NUMBER(queued), /* or `clock_error`, `slack` */
       NUMBER(served), /* or `way` */
       NUMBER(number), /* or */ REF_WHEN(packet, STORE_PACKETS, kind, DETAIL_PACKET));
#undef RECORD_TYPE

#define RECORD_TYPE struct reason
RECORD(reason, NUMBER(kind), NUMBER(flags), NUMBER(count), THREAD(thread), THREAD(other),
       NAME(object), NAME(call), NAME(text), NUMBER(result), TIME(from), TIME(until),
       TIME_OR_0(begin), NUMBER(ns), NUMBER(number), NUMBER(amount));
#undef RECORD_TYPE

#define RECORD_TYPE struct run
RECORD(run, TIME(begin), THREAD(thread), NUMBER(priority));
#undef RECORD_TYPE

#define RECORD_TYPE struct hold
RECORD(hold, TIME(begin), TIME(end), THREAD(thread), BITS_AFTER(thread, 4));
#undef RECORD_TYPE

/* Its thread may stand for a host. Its length is moved by hand (trace/shift.c). A wait's `ref`
 * is a struct block; waits are there only once a report is made, when nothing is forgotten. */
#define RECORD_TYPE struct operation
RECORD(operation, TIME(begin), BITS_AFTER(begin, 8), NUMBER(what), THREAD(thread), NUMBER(ref),
       REF(previous, STORE_OPERATIONS));
#undef RECORD_TYPE

/* Kept with their operations by hand (flow/forget.c). */
#define RECORD_TYPE struct fact_place
RECORD(fact_place, NUMBER(at));
#undef RECORD_TYPE

#define RECORD_TYPE struct fact_word
RECORD(fact_word, NUMBER(bytes));
#undef RECORD_TYPE

/* Its times stay its host's: clocks are told from them (trace/pairs.h). */
#define RECORD_TYPE struct packet
RECORD(packet, HOST(host), NUMBER(time), NUMBER(handed), NUMBER(flow), NUMBER(seq), NUMBER(ack_seq),
       NUMBER(length), THREAD(thread), NAME(call), NUMBER(again), NAME(service), NAME(dropped_by),
       NUMBER(first), NUMBER(gap), NUMBER(how), NUMBER(flags), NUMBER(id), NUMBER(received));
#undef RECORD_TYPE

#define RECORD_TYPE struct exchange
RECORD(exchange, TIME(begin), TIME(end_time), TIME_OR_0(came), THREAD(thread), REF(end, STORE_ENDS),
       NAME(call), NUMBER(bytes), NAME(file), THREAD(through), NUMBER(kind), NUMBER(failed));
#undef RECORD_TYPE

#define RECORD_TYPE struct channel_end
RECORD(channel_end, HOST(host), TIME(opened), NAME(key), NAME(local), NAME(remote),
       NUMBER(local_port), NUMBER(remote_port), NUMBER(kind), NUMBER(role), NUMBER(datagrams),
       NUMBER(unnamed), NUMBER(fd));
#undef RECORD_TYPE

#define RECORD_TYPE struct open_frame
RECORD(open_frame, TIME(begin), NUMBER(what), NUMBER(ref), THREAD(thread));
#undef RECORD_TYPE

#define RECORD_TYPE struct callpaths
RECORD(callpaths, NUMBER(kernel), NUMBER(user), NUMBER(waker_kernel), NUMBER(waker_user));
#undef RECORD_TYPE

#define RECORD_TYPE struct stack_node
RECORD(stack_node, NUMBER(address), NUMBER(parent), NUMBER(depth));
#undef RECORD_TYPE

#define RECORD_TYPE struct sample
RECORD(sample, TIME(time), NUMBER(kernel), BITS_AFTER(kernel, 4));
#undef RECORD_TYPE

#define RECORD_TYPE struct counted_run
RECORD(counted_run, TIME(begin), TIME(end), NUMBERS(values), NUMBER(known));
#undef RECORD_TYPE

const struct record *const store_records[] = {
	[STORE_INTERVALS] = &interval_record,
	[STORE_BLOCKS] = &block_record,
	[STORE_DETAILS] = &wake_detail_record,
	[STORE_REASONS] = &reason_record,
	[STORE_RUNS] = &run_record,
	[STORE_HOLDS] = &hold_record,
	[STORE_OPERATIONS] = &operation_record,
	[STORE_FACT_PLACES] = &fact_place_record,
	[STORE_FACTS] = &fact_word_record,
	[STORE_PACKETS] = &packet_record,
	[STORE_EXCHANGES] = &exchange_record,
	[STORE_ENDS] = &channel_end_record,
	[STORE_SAMPLES] = &sample_record,
	[STORE_COUNTS] = &counted_run_record,
};

/* What logs and other records lead to is walked from there; the rest in order. */
#define RECORD_TYPE struct timeline
RECORD(timeline, OWN(intervals), OWN(blocks), OWN(details), OWN(reasons), OWN(runs), OWN(holds),
       STORED(operations, operation), OWN(fact_places), OWN(facts), OWN(facts_recent),
       STORED(packets, packet), STORED(exchanges, exchange), STORED(ends, channel_end),
       OWN(samples), OWN(counts), OWN(memory), OWN(chunks_read), OWN(run_hints), OWN(faults));
#undef RECORD_TYPE
