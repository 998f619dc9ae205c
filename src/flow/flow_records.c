/* SPDX-License-Identifier: MIT */
/* The tables of what is kept while events pass. */
#include "flow/flow_records.h"

#include "locks/locks.h"
#include "timeline/timeline_records.h"
#include "util/record_rows.h"

#define RECORD_TYPE struct call_stat
RECORD(call_stat, NUMBER(count), NUMBER(spans_gap), NUMBER(total), NUMBER(longest),
       NUMBERS(buckets));
#undef RECORD_TYPE

#define RECORD_TYPE struct user_counts
RECORD(user_counts, NUMBER(entries), NUMBER(exits), NUMBER(entries_unseen), NUMBER(exits_unseen),
       NUMBER(dropped), NUMBER(no_thread), NUMBER(deep), NUMBER(lost));
#undef RECORD_TYPE

/* What is wanted is this run's to say. `time` is of whatever host the last event came from. */
#define RECORD_TYPE struct flow
RECORD(flow, OWN(model), OWN(timeline), OWN(names), CONTAINER(stacks), OWN(stack_numbers),
       OWN(call_info), OWN(call_table), OWN(senders), ARRAY(call_stats, call_stat), MAP(callbacks),
       MAP(work_functions), ARRAY(locks, lock), OWN(free_locks), OWN(lock_index),
       NUMBER(inode_locks), NUMBER(pi_locks), ARRAY(callstacks.nodes, stack_node),
       OWN(callstacks.children), OWN(callstacks.lists), ARRAY(callstacks.paths, callpaths),
       OWN(callstacks.path_numbers), NUMBERS(ipis), OWN(operations_wanted), OWN(resources_wanted),
       OWN(facts_wanted), OWN(calls_open), OWN(entry_shape), OWN(disk_index), OWN(disk_queues),
       OWN(guest_irqs), OWN(guest_irqs_due), OWN(guest_processes), OWN(guest_hosts),
       OWN(exchanges_wanted), OWN(first_reads), OWN(peer_ends), OWN(end_index),
       NUMBER(has_guest_entries), NUMBER(has_waking), NUMBER(has_bios), NUMBER(has_callstacks),
       NUMBER(has_wait_stacks), NUMBER(has_user_stacks), OWN(has_copies), NUMBERS(odd),
       NUMBER(switches), NUMBER(strange_switches), OWN(odd_read), OWN(passes_over),
       IN_PLACE(user, user_counts), OWN(user_addresses), OWN(tries), OWN(packet_keys), OWN(makers),
       NUMBER(time), OWN(steps), OWN(held), OWN(held_user), OWN(unnamed), OWN(held_limit));
#undef RECORD_TYPE
