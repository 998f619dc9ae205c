/* SPDX-License-Identifier: MIT */
/* The tables of locks' records; see util/records.h. */
#include "locks/locks.h"
#include "timeline/timeline_records.h"
#include "util/record_rows.h"

#define RECORD_TYPE struct boost
RECORD(boost, TIME(time), THREAD(thread), NUMBER(from), NUMBER(to));
#undef RECORD_TYPE

#define RECORD_TYPE struct reader
RECORD(reader, THREAD(thread));
#undef RECORD_TYPE

#define RECORD_TYPE struct lock
RECORD(lock, HOST(host), NUMBER(kind), NUMBER(free), NUMBER(certain), NUMBER(counts), NUMBER(pid),
       NUMBER(read), NUMBER(readers_count), IN_PLACE_COUNTED(readers, reader, readers_count),
       NAME(resource), NUMBER(turns), NUMBER(crowd), NUMBER(longest), NUMBER(longest_shared),
       TIME(released), THREAD(releaser), TIME(touched), LOG(holds, STORE_HOLDS),
       LOG(waits, STORE_HOLDS), ARRAY(open, hold), ARRAY(boosts, boost));
#undef RECORD_TYPE
